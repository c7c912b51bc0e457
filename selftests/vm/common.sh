# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2034
#
# What the host side of the VM harness shares; sourced.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${XDG_CACHE_HOME:-${HOME:-/var}/.cache}/xverbs

die()
{
	echo "${0##*/}: $*" >&2
	exit 1
}

# hash of standard input, short enough for a file name
digest()
{
	sha256sum | cut -c1-16
}

# Does KVM run kernel image $1?  A device node says little: where virtual machines are nested it may
# be there and the guest never get as far as its first line.  So it is tried, once for each boot of
# this machine: without a root file system a kernel gives up in a second or two, which ends QEMU.
# XV_KVM=yes or no saves the trial.
have_kvm()
{
	local known

	case ${XV_KVM-} in
	yes) return 0 ;;
	no) return 1 ;;
	esac
	[ -c /dev/kvm ] && { : <>/dev/kvm; } 2>/dev/null || return 1
	mkdir -p "$cache"
	known=$cache/kvm-$(cat /proc/sys/kernel/random/boot_id)
	(
		flock 4
		[ ! -s "$known" ] || exit 0
		rm -f "$cache"/kvm-*-*
		if timeout 20 qemu-system-x86_64 -accel kvm -cpu max -m 512M -nodefaults \
			-display none -monitor none -no-reboot -kernel "$1" \
			-append "panic=-1 root=none" >/dev/null 2>&1 </dev/null; then
			echo yes >"$known"
		else
			echo "vm: /dev/kvm is there, but runs no guest: emulating" >&2
			echo no >"$known"
		fi
	) 4>"$cache/kvm.lock"
	[ "$(cat "$known")" = yes ]
}

# the image of release $1 is in the cache, installed, or known to apt
image_reachable()
{
	compgen -G "$cache/kernel-$1_*" >/dev/null ||
		{ [ -r "/boot/vmlinuz-$1" ] && [ -d "/lib/modules/$1/kernel" ]; } ||
		apt-cache show "linux-image-$1" "linux-image-$1-unsigned" 2>/dev/null |
			grep '^Package:' >/dev/null
}

# the newest release of kernel version $1 whose headers are installed and whose image can be had
stock_release()
{
	local dir release

	for dir in "/usr/src/linux-headers-$1."*-amd64; do
		case $dir in
		*-cloud-amd64 | *-rt-amd64 | *-common*) ;;
		*) [ ! -e "$dir/include/generated/utsrelease.h" ] ||
			echo "${dir#/usr/src/linux-headers-}" ;;
		esac
	done | sort -rV | while read -r release; do
		! image_reachable "$release" || { echo "$release"; break; }
	done
}
