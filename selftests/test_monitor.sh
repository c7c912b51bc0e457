#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash
#
# "xverbs monitor" prints events of devices as they come, and ends when it was told to.  Works on a
# device of its own.
#
# Copyright (c) 2026 The xverbs authors

# shellcheck source=ktap.sh
. ./ktap.sh

dev=xvmon0
netdev=xvm0
limit=$((20 * ${XV_FACTOR:-1}))
command -v xverbs >/dev/null || ktap_skip_all "the tool is not installed"
out=$(mktemp)
err=$(mktemp)

trap 'rdma link delete $dev; ip link delete $netdev; rm -f "$out" "$err"' EXIT

wait_for()
{
	local tries=$((100 * ${XV_FACTOR:-1}))

	until "$@"; do
		[ $tries -gt 0 ] || return 1
		tries=$((tries - 1))
		sleep 0.1
	done
}

# monitor ARGUMENTS: in the background, and it has subscribed
monitor()
{
	: >"$out"
	timeout $limit xverbs "$@" >"$out" 2>"$err" &
	pid=$!
	wait_for sh -c 'cat /proc/[0-9]*/fdinfo/* 2>/dev/null | grep -q "^xverbs-subscription:.*[1-9]"'
}

# ended STATUS NAME
ended()
{
	wait $pid
	[ $? -eq "$1" ]
	ktap_result $? "$2"
	sed 's/^/# /' "$out" "$err"
}

# address add|del
address()
{
	ip addr "$1" 10.79.0.9/24 dev $netdev
}

ip link add $netdev type veth peer name xvm1
ip addr add 10.79.0.1/24 dev $netdev
ip link set xvm1 up
ip link set $netdev up
rdma link add $dev type rxe netdev $netdev
wait_for grep -q ACTIVE /sys/class/infiniband/$dev/ports/1/state
ip -6 addr flush dev $netdev
sleep 0.2

ktap_plan 12

monitor monitor $dev --count 1 --timeout $limit
address add
ended 0 "a count"
grep -qx "$dev: port 1: GID table changed\(, [0-9]* times\)\?" "$out" &&
	[ "$(wc -l <"$out")" -eq 1 ]
ktap_result $? "an address came"

monitor -j monitor $dev -c 1
address del
ended 0 "a count, JSON"
grep -qx "{\"device\":\"$dev\",\"event\":\"gid_change\",\"type\":26,\"port\":1,\"count\":[0-9]*}" "$out"
ktap_result $? "an address went, JSON"

monitor monitor --json
ip link set $netdev down
wait_for grep -q "\"device\":\"$dev\",\"event\":\"port_error\"" "$out"
ktap_result $? "of all devices: the port is down, as it comes"
ip link set $netdev up
wait_for grep -q "\"device\":\"$dev\",\"event\":\"port_active\"" "$out"
ktap_result $? "the port is up"
kill -INT "$(pidof xverbs)"
ended 0 "a signal ends it"

xverbs monitor $dev --timeout 0 >"$out" && [ ! -s "$out" ]
ktap_result $? "no time"
xverbs monitor $dev --timeout 1 --count 1 >"$out" 2>&1
[ $? -eq 1 ]
ktap_result $? "less than were asked for"

bad=0
for args in '--count 0' '--count x' '--timeout -1' '--timeout 1x' '--count' '--what' "$dev other"; do
	# shellcheck disable=SC2086 # several words
	timeout $limit xverbs monitor $args >"$out" 2>&1
	[ $? -eq 2 ] || { bad=1; echo "# $args"; }
done
ktap_result $bad "wrong usage"
xverbs monitor nosuchdevice >"$out" 2>&1
[ $? -eq 1 ] && grep -q nosuchdevice "$out"
ktap_result $? "no such device"

monitor monitor $dev
rdma link delete $dev
wait $pid && tail -n 1 "$out" | grep -qx "$dev: device removed"
ktap_result $? "the device goes"
sed 's/^/# /' "$out" "$err"

ktap_finish
