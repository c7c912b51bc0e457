#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash
#
# What an ordinary user can do: in the group of the node everything but what needs a privilege,
# outside of it nothing.  The node gets the rights that the udev rule gives it.

cd "$(dirname "$0")" || exit 1
# shellcheck source=ktap.sh
. ./ktap.sh

# test_mr gives up root by itself, to see what limits do
programs="test_abi test_cq test_describe test_eventq test_qp test_txn test_uc"

command -v setpriv >/dev/null || ktap_skip_all "needs setpriv"
[ "$(id -u)" = 0 ] || ktap_skip_all "needs root, which gives its rights up"
group=$(sed -n 's/^rdma:[^:]*:\([0-9]*\):.*/\1/p' /etc/group)
[ -n "$group" ] || ktap_skip_all "needs the group rdma"

# as GROUP COMMAND...: user 1000 with this group as the only other one, and no capability
as()
{
	local groups=$1

	shift
	setpriv --reuid=1000 --regid=1000 --groups="$groups" --bounding-set=-all -- "$@"
}

# shellcheck disable=SC2086 # a list
set -- $programs
ktap_plan $(($# + 4))

node=$(echo /dev/infiniband/xverbs*)
old=$(stat -c '%a %u:%g' "${node%% *}")
chown root:rdma "$node" && chmod 0660 "$node"
ktap_result $? "rights of the node"

out=$(as 1000 xverbs dev rxe0 2>&1)
echo "$out" | grep -q 'Permission denied'
ktap_result $? "outside of the group"

as "$group" xv_hello rxe0 >/dev/null
ktap_result $? "the first program"
out=$(as "$group" xverbs dev rxe0 2>&1)
echo "$out" | grep -q 'port 1: active'
ktap_result $? "xverbs dev"

for p; do
	out=$(as "$group" "./$p" 2>&1)
	status=$?
	[ $status = 0 ] || echo "$out" | grep -v '^ok' | sed 's/^/# /'
	ktap_result $status "$p"
done

chmod "${old%% *}" "$node" && chown "${old##* }" "$node"
ktap_finish
