#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source-path=SCRIPTDIR/..
#
# Machine b of two: the server of each round.
# shellcheck source=../ktap.sh
. /tests/ktap.sh

ktap_plan 3

server()
{
	local name=$1

	shift
	if timeout 120 "$@" >/tmp/out 2>&1 && ! grep -q invalid /tmp/out; then
		ktap_result 0 "$name"
	else
		sed 's/^/# /' /tmp/out
		ktap_result 1 "$name"
	fi
}

server "server of our client" xv_pingpong -p 18601 -g 1 -n 200 -c
server "stock server of our client" ibv_rc_pingpong -p 18602 -g 1 -n 200 -c
server "server of a stock client" xv_pingpong -p 18603 -g 1 -n 200 -c

ktap_finish
