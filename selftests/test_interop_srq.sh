#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash
#
# xv_srq_pingpong and rdma-core's ibv_srq_pingpong understand each other, in both roles.  The stock
# program receives all messages in one buffer, so only our own can look at what has arrived.
#
# Copyright (c) 2026 The xverbs authors

# shellcheck source=ktap.sh
. ./ktap.sh
# shellcheck source=pingpong.sh
. ./pingpong.sh
port=18700

if ! command -v ibv_srq_pingpong >/dev/null; then
	ktap_skip_all "no ibv_srq_pingpong"
fi

# run_program PROGRAM QUEUE-PAIRS [HOST]
run_program()
{
	local program=$1 num=$2

	shift 2
	set -- -d $dev -g "$gid" -n "$iters" -p $port -q "$num" -s 4096 -m 1024 "$@"
	case $program in
	xv) timeout "$limit" xv_srq_pingpong "$@" ;;
	xv-c) timeout "$limit" xv_srq_pingpong -c "$@" ;;
	ibv) timeout "$limit" ibv_srq_pingpong "$@" ;;
	esac
}

cd "$(mktemp -d)" || exit 1

ktap_plan 6

gid=$(gid_index)
ktap_result $? "a RoCE v2 GID"

pair xv-c xv-c 16
ktap_result $? "itself, with content"
# which takes more than one transaction
pair xv-c xv-c 100
ktap_result $? "itself, with many queue pairs"
pair ibv xv 16
ktap_result $? "client of the stock program"
pair xv ibv 16
ktap_result $? "server of the stock program"
pair ibv ibv 16
ktap_result $? "the stock program with itself, beside us"

ktap_finish
