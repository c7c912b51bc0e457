#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The module is loaded, says who it is, shows what it does, and can be taken out and put in again: by
# hand and by the kernel when somebody asks for its node.

# shellcheck source=ktap.sh
. ./ktap.sh

ktap_plan 12

installed=/lib/modules/$(uname -r)/updates/xverbs.ko
ko=${XVERBS_KO:-$installed}
tracing=/sys/kernel/tracing
# not always the first: a device that was removed while somebody had it open keeps its number
node=$(grep -lx rxe0 /sys/class/xverbs/*/ibdev)
node=$(basename "${node%/ibdev}")

[ -d /sys/module/xverbs ]
ktap_result $? loaded

modinfo -F license "$ko" | grep -q GPL
ktap_result $? license

modinfo -F alias "$ko" | grep -q '^rdma-client-xverbs$'
ktap_result $? "alias for the core's request"

[ "$(cat "/sys/class/xverbs/$node/ibdev")" = rxe0 ] &&
	[ "$(cat "/sys/class/xverbs/$node/abi_version")" = 1 ]
ktap_result $? "sysfs tells device and ABI"

[ "$(stat -c %a "/dev/infiniband/$node")" = 600 ]
ktap_result $? "the node is for root"

exec 3<"/dev/infiniband/$node"
grep -q "^xverbs-device:	$node\$" /proc/$$/fdinfo/3 && grep -q '^xverbs-qp:	0$' /proc/$$/fdinfo/3
ktap_result $? fdinfo

grep -q "^pid $$ .*zombies 0 .*qp 0" "/sys/kernel/debug/xverbs/$node/objects"
ktap_result $? "debugfs shows the open file"
exec 3<&-
! grep -q "^pid $$ " "/sys/kernel/debug/xverbs/$node/objects"
ktap_result $? "and no more when it is closed"

# A node of tracefs is not mounted by all kernels of their own accord.
[ -d $tracing/events ] || mount -t tracefs none $tracing
echo 1 >$tracing/events/xverbs/enable
xv_hello >/dev/null
echo 0 >$tracing/events/xverbs/enable
grep -q 'xv_make: op=[0-9]* pd.create' $tracing/trace &&
	grep -q 'xv_commit: op=[0-9]* qp.create' $tracing/trace &&
	grep -q 'xv_qp_state: qp=' $tracing/trace &&
	grep -q 'xv_destroy: .* why=close ret=0' $tracing/trace
ktap_result $? tracepoints

rmmod xverbs
ktap_result $? rmmod

insmod "$ko"
ktap_result $? insmod

if [ -e "$installed" ]; then
	rmmod xverbs
	depmod
	# The library asks the RDMA core for the node; the core asks for the module.
	xverbs dev >/dev/null && [ -d /sys/module/xverbs ]
	ktap_result $? "loaded on demand"
	[ -d /sys/module/xverbs ] || insmod "$ko"
else
	ktap_skip "loaded on demand" "xverbs.ko is not installed"
fi

ktap_finish
