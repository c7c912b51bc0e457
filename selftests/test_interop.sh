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

# from counts.h, where all counts are
count=$(sed -n 's/^[[:space:]]*X(INTEROP_ITERS,[[:space:]]*\(.*\)).*/\1/p' counts.h | tr -d ' \t')
case ${XV_MODE:-check} in
long) iters=${count##*,} ;;
debug) iters=${count#*,} iters=${iters%,*} ;;
*) iters=${count%%,*} ;;
esac
limit=$((20 * ${XV_FACTOR:-1}))
dev=rxe0
port=18600

if ! command -v ibv_rc_pingpong >/dev/null; then
	ktap_skip_all "no ibv_rc_pingpong"
fi

# index of a RoCE v2 GID with an IPv4 address
gid_index()
{
	local dir=/sys/class/infiniband/$dev/ports/1 i=0

	while [ -e "$dir/gids/$i" ]; do
		if grep -q '^0000:0000:0000:0000:0000:ffff' "$dir/gids/$i" &&
			grep -q 'RoCE v2' "$dir/gid_attrs/types/$i" 2>/dev/null; then
			echo $i
			return
		fi
		i=$((i + 1))
	done
	return 1
}

# wait until somebody listens on a port
listening()
{
	local end hex

	hex=$(printf ':%04X 0*:0000 0A' "$1")
	end=$(($(date +%s) + limit))
	until cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q "$hex"; do
		[ "$(date +%s)" -lt $end ] || return 1
		sleep 0.05
	done
}

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
	xv) timeout "$limit" xv_pingpong -T "$type" "$@" ;;
	ibv) timeout "$limit" "ibv_${type}_pingpong" "$@" ;;
	esac
}

# pair SERVER CLIENT TYPE
pair()
{
	local server status=0

	port=$((port + 1))
	run_program "$1" "$3" >server.out 2>&1 &
	server=$!
	listening $port || status=1
	run_program "$2" "$3" 127.0.0.1 >client.out 2>&1 || status=1
	wait $server || status=1
	# the stock programs say so and exit with 0
	! grep -q 'invalid data' server.out client.out || status=1
	[ $status = 0 ] || sed 's/^/# /' server.out client.out
	return $status
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
