#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash
#
# Each change of state of connections and of requests at a listener is traced, once.
#
# Copyright (c) 2026 The xverbs authors

# shellcheck source=ktap.sh
. ./ktap.sh

tracing=/sys/kernel/tracing
dev=rxe0
port=7650
limit=$((20 * ${XV_FACTOR:-1}))

[ -d $tracing/events ] || mount -t tracefs none $tracing
[ -d $tracing/events/xverbs ] || ktap_skip_all "no tracepoints of xverbs"
netdev=$(cat /sys/class/infiniband/$dev/ports/1/gid_attrs/ndevs/0)
addr=$(ip -o -4 addr show dev "$netdev" scope global | sed -n 's|.* inet \([^/]*\)/.*|\1|p' | head -n 1)
tmp=$(mktemp -d)
trap 'echo 0 >$tracing/events/xverbs/enable; rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1

trace_begin()
{
	echo 0 >$tracing/events/xverbs/enable
	echo >$tracing/trace
	echo 1 >$tracing/events/xverbs/enable
}

trace_end()
{
	echo 0 >$tracing/events/xverbs/enable
	cat $tracing/trace >trace
}

# story EVENT: its changes of state in the order of time, one line for each object; who is who does
# not matter
story()
{
	sed -n "s/.* $1: \([a-z]*=[0-9]*\) \(token=[^ ]* \)\{0,1\}\([0-9]*\) -> \([0-9]*\).*/\1 \3>\4/p" trace |
		awk '{ s[$1] = s[$1] " " $2 } END { for (o in s) print substr(s[o], 2) }' | sort
}

# is FILE LINE...: it consists of these lines
is()
{
	local file=$1

	shift
	printf '%s\n' "$@" | cmp -s - "$file" || { sed 's/^/# /' "$file"; return 1; }
}

listening()
{
	local end

	end=$(($(date +%s) + limit))
	until rdma resource show cm_id | grep -q "state LISTEN .*:$port "; do
		[ "$(date +%s)" -lt $end ] || return 1
		sleep 0.1
	done
}

ktap_plan 5

trace_begin
timeout $limit xv_rping -s -a "$addr" -p $port >server.out 2>&1 &
server=$!
listening && timeout $limit xv_rping -c -a "$addr" -p $port -C 2 >client.out 2>&1 && wait $server
ktap_result $? "a connection"
trace_end
# resolving 1, connecting 2, accepting 3, established 4, ended 5
story xv_conn_state >states
is states '0>1 1>2 2>4 4>5' '0>3 3>4 4>5'
ktap_result $? "its states"
# free 0, waiting 1, being accepted 2
story xv_request_state >states
is states '0>1 1>2 2>0'
ktap_result $? "the states of its request"
grep -q 'xv_conn_cm: conn=[0-9]* event=[0-9]* status=0' trace &&
	[ "$(grep -c 'xv_event: .* type=13$' trace)" = 2 ] &&
	[ "$(grep -c 'xv_event: .* type=15$' trace)" = 2 ]
ktap_result $? "its events"

trace_begin
timeout $limit xv_rping -c -a "$addr" -p 7649 -C 1 >client.out 2>&1
trace_end
story xv_conn_state >states
is states '0>1 1>2 2>5' && grep -q 'xv_conn_state: .* 2 -> 5 err=111$' trace
ktap_result $? "one that nobody takes"

ktap_finish
