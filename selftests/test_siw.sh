#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash
#
# Connections on iWARP: the programs of the other connection tests once more, on a siw device of their
# own, and ping and message with the stock programs in both roles.
#
# Copyright (c) 2026 The xverbs authors

# shellcheck source=ktap.sh
. ./ktap.sh

dev=siw0
link=siwv0
XV_ADDRESS=10.77.0.1
XV_ADDRESS6=fd00:77::1
XV_DEVICE=$dev
export XV_ADDRESS XV_ADDRESS6 XV_DEVICE

port=7600
limit=$((20 * ${XV_FACTOR:-1}))
here=$(pwd)
tmp=$(mktemp -d)

[ -d /sys/module/siw ] || modprobe siw 2>/dev/null || ktap_skip_all "no siw"
command -v rping >/dev/null || ktap_skip_all "no rping"

tear_down()
{
	tc qdisc del dev lo root 2>/dev/null
	[ ! -e "/sys/class/infiniband/$dev" ] || rdma link delete "$dev"
	ip link delete "$link" 2>/dev/null
	rm -rf "$tmp"
}

port_active()
{
	grep -q ACTIVE "/sys/class/infiniband/$dev/ports/1/state" 2>/dev/null
}

# wait_for COMMAND...
wait_for()
{
	local end

	end=$(($(date +%s) + limit))
	until "$@"; do
		[ "$(date +%s)" -lt $end ] || return 1
		sleep 0.1
	done
}

set_up()
{
	echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
	ip link add $link mtu 4500 type veth peer name siwv1 mtu 4500 &&
		ip addr add $XV_ADDRESS/24 dev $link &&
		ip addr add $XV_ADDRESS6/64 dev $link nodad &&
		ip link set $link up && ip link set siwv1 up &&
		rdma link add $dev type siw netdev $link && wait_for port_active
}

listens()
{
	rdma resource show cm_id | grep -q "state LISTEN .*:$port "
}

# show FILE...
show()
{
	local f

	for f; do sed "s/^/# $f: /" "$f" | cut -c 1-120 | tail -n 20; done
}

# pair SERVER CLIENT: start both, one command line each; both must end well
pair()
{
	local server status=0

	port=$((port + 1))
	# shellcheck disable=SC2086 # command lines
	timeout $limit $1 -p $port >server.out 2>&1 &
	server=$!
	wait_for listens || status=1
	# shellcheck disable=SC2086
	timeout $limit $2 -p $port >client.out 2>&1 || status=1
	if ! wait $server; then
		# see test_interop_cm.sh
		grep -q 'rdma_get_cm_event: Bad file descriptor' server.out || status=1
	fi
	[ $status = 0 ] || show server.out client.out
	return $status
}

# ping SERVER CLIENT
ping()
{
	local ours="xv_rping -D $dev" server=$1 client=$2

	[ "$server" = rping ] || server=$ours
	[ "$client" = rping ] || client=$ours
	pair "$server -s -a $XV_ADDRESS -v" "$client -c -a $XV_ADDRESS -C 10 -v -V" || return
	sed -n 's/^ping data: rdma-ping-\([0-9]*\): .*/\1/p' client.out >got
	if ! seq 0 9 | cmp -s - got || grep -q mismatch client.out; then
		show client.out
		return 1
	fi
}

# each PROGRAM: all its results as our own
each()
{
	local line

	while IFS= read -r line; do
		case $line in
		'ok '*'# SKIP'*) ktap_skip "$1: $(name_of "$line")" "${line##*SKIP }" ;;
		'ok '*) ktap_result 0 "$1: $(name_of "$line")" ;;
		'not ok '*) ktap_result 1 "$1: $(name_of "$line")" ;;
		'#'*) echo "$line" ;;
		esac
	done <"$1.out"
}

# name_of RESULT: without status, number and directive
name_of()
{
	echo "$1" | sed 's/^\(not \)\{0,1\}ok [0-9]* *//; s/ *# SKIP.*//'
}

objects_gone()
{
	[ -z "$(cat /sys/kernel/debug/xverbs/*/objects)" ]
}

trap tear_down EXIT
cd "$tmp" || exit 1

set_up
up=$?
programs='test_conn test_conn_many'
results=0
for p in $programs; do
	[ $up = 0 ] || break
	"$here/$p" >"$p".out 2>&1
	n=$(grep -c '^\(not \)\{0,1\}ok ' "$p".out)
	# none is a failure of its own
	[ "$n" -gt 0 ] || echo "not ok 1 says nothing" >>"$p".out
	results=$((results + (n ? n : 1)))
done

ktap_plan $((8 + results))

[ $up = 0 ]
ktap_result $? "$dev on $link"
for p in $programs; do
	[ ! -e "$p".out ] || each "$p"
done
ping xv_rping xv_rping
ktap_result $? "ping: itself"
ping rping xv_rping
ktap_result $? "ping: client of the stock program"
ping xv_rping rping
ktap_result $? "ping: server of the stock program"
pair "xv_rdma_server $XV_ADDRESS $dev" "xv_rdma_client -s $XV_ADDRESS $dev"
ktap_result $? "message: itself"
pair rdma_server "xv_rdma_client -s $XV_ADDRESS $dev"
ktap_result $? "message: client of the stock program"
pair "xv_rdma_server $XV_ADDRESS $dev" "rdma_client -s $XV_ADDRESS"
ktap_result $? "message: server of the stock program"
objects_gone
ktap_result $? "nothing is left"

ktap_finish
