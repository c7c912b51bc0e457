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
