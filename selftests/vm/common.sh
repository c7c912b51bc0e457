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

# KVM that can really be opened, not just a device node
have_kvm()
{
	[ -c /dev/kvm ] && { : <>/dev/kvm; } 2>/dev/null
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
