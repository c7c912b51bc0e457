# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash
#
# KTAP for tests written in shell; sourced.

ktap_seen=0
ktap_bad=0

# ktap_plan COUNT
ktap_plan()
{
	echo "TAP version 13"
	echo "1..$1"
}

# ktap_result STATUS NAME: 0 is a success
ktap_result()
{
	ktap_seen=$((ktap_seen + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $ktap_seen $2"
	else
		echo "not ok $ktap_seen $2"
		ktap_bad=1
	fi
}

# ktap_skip NAME REASON
ktap_skip()
{
	ktap_seen=$((ktap_seen + 1))
	echo "ok $ktap_seen $1 # SKIP $2"
}

# ktap_skip_all REASON: instead of a plan; does not return
ktap_skip_all()
{
	echo "TAP version 13"
	echo "1..0 # SKIP $1"
	exit 4
}

ktap_finish()
{
	exit $ktap_bad
}
