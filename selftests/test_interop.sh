#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash
#
# xv_pingpong and rdma-core's ibv_rc_pingpong, ibv_uc_pingpong and ibv_ud_pingpong understand each
# other, in both roles, and every message arrives as it was sent.
#
# Copyright (c) 2026 The xverbs authors

# shellcheck source=ktap.sh
. ./ktap.sh
# shellcheck source=pingpong.sh
. ./pingpong.sh

port=18600

if ! command -v ibv_rc_pingpong >/dev/null; then
	ktap_skip_all "no ibv_rc_pingpong"
fi

# run_program PROGRAM TYPE [HOST]
run_program()
{
	local program=$1 type=$2

	shift 2
	# a datagram is one packet
	case $type in
	ud) set -- -s 1024 "$@" ;;
	*) set -- -s 4096 -m 1024 "$@" ;;
	esac
	set -- -d $dev -g "$gid" -n "$iters" -c -p $port "$@"
	case $program in
	xv) timeout "$limit" "xv_${type}_pingpong" "$@" ;;
	ibv) timeout "$limit" "ibv_${type}_pingpong" "$@" ;;
	esac
}

cd "$(mktemp -d)" || exit 1

ktap_plan 14

gid=$(gid_index)
ktap_result $? "a RoCE v2 GID"

# by netlink: once without a name, once with
xv_hello | grep -q hello && xv_hello $dev "$gid" | grep -q hello
ktap_result $? discovery

for type in rc uc ud; do
	pair xv xv $type
	ktap_result $? "$type: itself"
	pair ibv xv $type
	ktap_result $? "$type: client of the stock program"
	pair xv ibv $type
	ktap_result $? "$type: server of the stock program"
	pair ibv ibv $type
	ktap_result $? "$type: the stock program with itself, beside us"
done

ktap_finish
