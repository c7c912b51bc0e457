#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash
#
# The programs of README.md and of the tutorial do what is said there.  selftests/demo shows the
# other examples.

# shellcheck source=ktap.sh
. ./ktap.sh

dev=rxe0
netdev=$(cat /sys/class/infiniband/$dev/ports/1/gid_attrs/ndevs/0 2>/dev/null)
[ -n "$netdev" ] || ktap_skip_all "there is no $dev"
command -v xv_echo >/dev/null || ktap_skip_all "the examples are not installed"
out=$(mktemp)
trap 'rm -f "$out"' EXIT

wait_for()
{
	local tries=$((100 * ${XV_FACTOR:-1}))

	until "$@"; do
		[ $tries -gt 0 ] || return 1
		tries=$((tries - 1))
		sleep 0.1
	done
}

objects_gone()
{
	[ -z "$(cat /sys/kernel/debug/xverbs/*/objects)" ]
}

port_active()
{
	grep -q ACTIVE "/sys/class/infiniband/$dev/ports/1/state" 2>/dev/null
}

ktap_plan 9

xv_hello >"$out" && grep -qx 'hello, world' "$out"
ktap_result $? "xv_hello"

xv_echo >"$out" && grep -qx 'echo: hello' "$out"
ktap_result $? "xv_echo"

xv_echo $dev 255 >"$out" 2>&1
[ $? -eq 1 ] && grep -q 'operation 0 (device.query_gid): \|connect): ' "$out"
ktap_result $? "xv_echo says what was wrong"

addr=$(ip -4 -o addr show dev "$netdev" | sed -n 's,.*inet \([0-9.]*\)/.*,\1,p' | head -n 1)
xvm_echo -s "$addr" 7200 >"$out" 2>&1 &
pid=$!
wait_for grep -qx ready "$out"
[ "$(printf 'one\ntwo\n' | xvm_echo "$addr" 7200)" = "$(printf 'one\ntwo')" ] &&
	wait_for grep -qx 'client gone: closed' "$out"
ktap_result $? "xvm_echo"
kill -TERM $pid
wait $pid
ktap_result $? "xvm_echo, the server"

objects_gone
ktap_result $? "nothing is left"

xv_echo $dev 0 wait >"$out" 2>&1 &
pid=$!
wait_for grep -q 'waiting for the device' "$out"
ktap_result $? "xv_echo waits"
rdma link delete $dev
wait $pid
ktap_result $? "xv_echo cleans up after the device is gone"
sed 's/^/# /' "$out"

rdma link add $dev type rxe netdev "$netdev"
wait_for port_active
ktap_result $? "the device is back"

ktap_finish
