#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash
#
# Connections with the stock programs of rdmacm-utils at the other end, in both roles: xv_rping and
# rping, xv_rdma_server and rdma_client, xv_rdma_client and rdma_server.
#
# Copyright (c) 2026 The xverbs authors

# shellcheck source=ktap.sh
. ./ktap.sh

# from counts.h, where all counts are
count=$(sed -n 's/^[[:space:]]*X(INTEROP_PINGS,[[:space:]]*\(.*\)).*/\1/p' counts.h | tr -d ' \t')
case ${XV_MODE:-check} in
long) pings=${count##*,} ;;
debug) pings=${count#*,} pings=${pings%,*} ;;
*) pings=${count%%,*} ;;
esac
limit=$((20 * ${XV_FACTOR:-1}))
dev=rxe0
port=7300

if ! command -v rping >/dev/null || ! command -v rdma_server >/dev/null; then
	ktap_skip_all "no rping"
fi

# address FAMILY: of the device's network interface
address()
{
	ip -o -"$1" addr show dev "$netdev" scope global | sed -n 's|.* inet6\{0,1\} \([^/]*\)/.*|\1|p' |
		head -n 1
}

# wait until somebody listens at a port
listening()
{
	local end

	end=$(($(date +%s) + limit))
	until rdma resource show cm_id | grep -q "state LISTEN .*:$1 "; do
		[ "$(date +%s)" -lt $end ] || return 1
		sleep 0.1
	done
}

# run PROGRAM OUTPUT ARGUMENT...
run()
{
	local program=$1 out=$2 status

	shift 2
	timeout "$limit" "$program" "$@" >"$out" 2>&1
	status=$?
	# The stock program closes its channel while a thread of it still reads there, and then ends
	# with the status of that.
	if [ "$program" = rping ] && grep -q 'rdma_get_cm_event: Bad file descriptor' "$out"; then
		status=0
	fi
	return $status
}

# show FILE...
show()
{
	local f

	for f; do sed "s/^/# $f: /" "$f"; done
}

# good OUTPUT: of a client, all pings came back, in order, and as they were
good()
{
	sed -n 's/^ping data: rdma-ping-\([0-9]*\): .*/\1/p' "$1" >got
	seq 0 $((pings - 1)) | cmp -s - got && ! grep -q mismatch "$1"
}

# begun OUTPUT: wait until a client has its first ping
begun()
{
	local end

	end=$(($(date +%s) + limit))
	until grep -q '^ping data: ' "$1"; do
		[ "$(date +%s)" -lt $end ] || return 1
		sleep 0.1
	done
}

# ping SERVER CLIENT ADDRESS SIZE
ping()
{
	local server status=0

	port=$((port + 1))
	run "$1" server.out -s -a "$3" -p $port -S "$4" -v &
	server=$!
	listening $port || status=1
	run "$2" client.out -c -a "$3" -p $port -S "$4" -C "$pings" -v -V || status=1
	wait $server || status=1
	good client.out || status=1
	grep -q "^server ping data: rdma-ping-$((pings - 1)): " server.out || status=1
	[ $status = 0 ] || show server.out client.out | cut -c 1-100 | tail -n 20
	return $status
}

# many SERVER: a persistent one, and two clients of each kind at once.
#
# The stock server (of rdma-core 44) notes one request for its main thread.  One that comes before
# that has looked takes the place of the other, which nobody answers.  So its clients come one by
# one; what they do then they do at once.
many()
{
	local server p clients='' n=0 status=0

	port=$((port + 1))
	"$1" -s -a "$ipv4" -p $port -P >server.out 2>&1 &
	server=$!
	listening $port || status=1
	for p in xv_rping rping xv_rping rping; do
		n=$((n + 1))
		run $p many$n.out -c -a "$ipv4" -p $port -C "$pings" -v -V &
		clients="$clients $!"
		[ "$1" = xv_rping ] || begun many$n.out || status=1
	done
	for p in $clients; do
		wait "$p" || status=1
	done
	for n in 1 2 3 4; do
		good many$n.out || status=1
	done
	kill -0 $server || status=1
	kill $server
	wait $server
	[ $status = 0 ] || show server.out many?.out | cut -c 1-100 | tail -n 20
	return $status
}

# message SERVER CLIENT: 16 bytes there and back
message()
{
	local server status=0

	port=$((port + 1))
	if [ "$1" = xv_rdma_server ]; then
		run "$1" server.out -p $port "$ipv4" &
	else
		run "$1" server.out -p $port &
	fi
	server=$!
	listening $port || status=1
	run "$2" client.out -s "$ipv4" -p $port || status=1
	wait $server || status=1
	# what the stock programs send is zeros, and they say nothing of what they get
	[ "$1-$2" != xv_rdma_server-xv_rdma_client ] || {
		grep -qx 'received: from the client.*' server.out &&
		grep -qx 'received: from the server.*' client.out
	} || status=1
	[ $status = 0 ] || show server.out client.out
	return $status
}

# ends STATUS PROGRAM...
ends()
{
	local want=$1 status

	shift
	timeout "$limit" "$@" >out 2>&1
	status=$?
	[ $status = "$want" ] || { show out; echo "# exit status $status, not $want"; return 1; }
}

objects_gone()
{
	[ -z "$(cat /sys/kernel/debug/xverbs/*/objects)" ]
}

cd "$(mktemp -d)" || exit 1
netdev=$(cat /sys/class/infiniband/$dev/ports/1/gid_attrs/ndevs/0)
ipv4=$(address 4)
ipv6=$(address 6)

ktap_plan 17

[ -n "$ipv4" ] && [ -n "$ipv6" ]
ktap_result $? "addresses of $dev"

ping xv_rping xv_rping "$ipv4" 64
ktap_result $? "ping: itself"
ping rping xv_rping "$ipv4" 64
ktap_result $? "ping: client of the stock program"
ping xv_rping rping "$ipv4" 64
ktap_result $? "ping: server of the stock program"
ping rping rping "$ipv4" 64
ktap_result $? "ping: the stock program with itself, beside us"
ping rping xv_rping "$ipv6" 65535
ktap_result $? "ping: client of the stock program, IPv6, large"
ping xv_rping rping "$ipv6" 65535
ktap_result $? "ping: server of the stock program, IPv6, large"
ping xv_rping xv_rping "$ipv6" 23
ktap_result $? "ping: itself, IPv6, small"

many xv_rping
ktap_result $? "persistent server of four clients"
many rping
ktap_result $? "four clients of the persistent stock server"

message xv_rdma_server xv_rdma_client
ktap_result $? "message: itself"
message rdma_server xv_rdma_client
ktap_result $? "message: client of the stock program"
message xv_rdma_server rdma_client
ktap_result $? "message: server of the stock program"

ends 1 xv_rping -c -a "$ipv4" -p 7299 -C 1 && grep -q 'Connection refused' out
ktap_result $? "nobody listens"
ends 1 xv_rdma_client -s "$ipv4" -p 7299 && grep -q 'Connection refused' out
ktap_result $? "nobody listens for a message"
ends 2 xv_rping -c && ends 2 xv_rping -s -S 22 && ends 2 xv_rping -c -a "$ipv4" -S 65536 &&
	ends 2 xv_rdma_server && ends 2 xv_rdma_client -x && ends 0 xv_rping -h
ktap_result $? "wrong usage"
objects_gone
ktap_result $? "nothing is left"

ktap_finish
