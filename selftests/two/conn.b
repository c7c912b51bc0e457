#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source-path=SCRIPTDIR/..
#
# Machine b of two: who is connected to.
# shellcheck source=../ktap.sh
. /tests/ktap.sh
# shellcheck source=../cm_filter.sh
. /tests/cm_filter.sh

limit=$((30 * ${XV_FACTOR:-1}))
# for a message that comes once more after 4.3 s
est=$((10 * ${XV_FACTOR:-1}))
[ "${XV_MODE:-check}" != long ] || limit=$((limit + 90))
round=0

cd "$(mktemp -d)" || exit 1

# server NAME PROGRAM ARGUMENT...: begin a round; -p PORT is added
server()
{
	local end

	name=$1
	shift
	round=$((round + 1))
	port=$((7400 + round))
	timeout $limit "$@" -p $port >out 2>&1 &
	pid=$!
	end=$(($(date +%s) + limit))
	until rdma resource show cm_id | grep -q "state LISTEN .*:$port "; do
		[ "$(date +%s)" -lt $end ] || break
		sleep 0.1
	done
	meet $round
}

# finish STATUS: of a round
finish()
{
	[ "$1" -eq 0 ] || { cut -c 1-100 out | tail -n 30 | sed 's/^/# /'; nft list ruleset | sed 's/^/# /'; }
	ktap_result "$1" "$name"
	cm_open
}

# until the server ends by itself; see test_interop_cm.sh for the stock program's status
served()
{
	local status

	wait $pid
	status=$?
	! grep -q 'rdma_get_cm_event: Bad file descriptor' out || status=0
	return $status
}

established_by()
{
	[ "$(grep -c '^established by' out)" = 1 ] && grep -q "^established by $1" out
}

objects_gone()
{
	[ -z "$(cat /sys/kernel/debug/xverbs/*/objects)" ]
}

ktap_plan 13

server "our server" xv_rping -s -a 10.9.0.2
served
finish $?
server "our server, IPv6" xv_rping -s -a ::0
served
finish $?
server "our server of a stock client" xv_rping -s -a 10.9.0.2
served
finish $?
server "stock server of our client" rping -s -a 10.9.0.2
served
finish $?
server "stock server of our client of messages" rdma_server
served
finish $?
server "our server of a stock client of messages" xv_rdma_server 10.9.0.2
served
finish $?

cm_filter rtu
server "no RTU arrives: data establishes" xv_rping -s -a 10.9.0.2 -d -t $est
# it ends in the midst of a ping
wait $pid
established_by data && [ "$(cm_count rtu)" -ge 1 ]
finish $?

cm_filter rtu data
server "neither RTU nor data arrive for a while" xv_rping -s -a 10.9.0.2 -d -t $est
cm_wait rtu 2 $limit && ! grep -q '^established by' out
status=$?
cm_filter rtu
served && [ $status = 0 ] && established_by data
finish $?

cm_filter rtu-once
server "the first RTU is lost" xv_rping -s -a 10.9.0.2 -d
served && [ "$(grep -c '^established by' out)" = 1 ] && [ "$(cm_count rtu)" -ge 1 ]
finish $?

cm_filter
server "all is sent twice, and late" xv_rping -s -a 10.9.0.2 -d -t $est
meet $((100 + round))
[ "$(grep -c '^established by' out)" = 1 ] && [ "$(cm_count rtu)" -ge 2 ]
status=$?
kill $pid 2>/dev/null
wait $pid
finish $status

server "the first REP is lost" xv_rping -s -a 10.9.0.2 -d -t $est
served && [ "$(grep -c '^established by' out)" = 1 ]
finish $?

cm_filter dreq
server "no DREQ arrives: it stays, and goes when it is told to" xv_rping -s -a 10.9.0.2 -d
cm_wait dreq 1 $limit && sleep 1 && kill -0 $pid && ! grep -q 'DISCONNECT' out
status=$?
start=$(date +%s)
kill $pid
wait $pid
[ $status = 0 ] && objects_gone && [ $(($(date +%s) - start)) -le $((3 * ${XV_FACTOR:-1})) ]
finish $?

server "loss and delay" xv_rping -s -a 10.9.0.2 -v -t $est
meet $((100 + round))
grep -q '^server ping data: rdma-ping-19: ' out
status=$?
kill $pid 2>/dev/null
wait $pid
finish $status

ktap_finish
