#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The module is loaded, says who it is, and can be taken out and put in again.

# shellcheck source=ktap.sh
. ./ktap.sh

ktap_plan 4

ko=/lib/modules/$(uname -r)/updates/xverbs.ko

[ -d /sys/module/xverbs ]
ktap_result $? loaded

modinfo -F license "$ko" | grep -q GPL
ktap_result $? license

rmmod xverbs
ktap_result $? rmmod

insmod "$ko"
ktap_result $? insmod

ktap_finish
