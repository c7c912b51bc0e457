# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash disable=SC2034
#
# What the tests of interoperability share; sourced.  They define run_program PROGRAM TYPE [HOST],
# which runs a client of HOST, or a server, at port $port.
#
# Copyright (c) 2026 The xverbs authors

# from counts.h, where all counts are
count=$(sed -n 's/^[[:space:]]*X(INTEROP_ITERS,[[:space:]]*\(.*\)).*/\1/p' counts.h | tr -d ' \t')
case ${XV_MODE:-check} in
long) iters=${count##*,} ;;
debug) iters=${count#*,} iters=${iters%,*} ;;
*) iters=${count%%,*} ;;
esac
limit=$((20 * ${XV_FACTOR:-1}))
dev=rxe0

# index of a RoCE v2 GID with an IPv4 address
gid_index()
{
	local dir=/sys/class/infiniband/$dev/ports/1 i=0

	while [ -e "$dir/gids/$i" ]; do
		if grep -q '^0000:0000:0000:0000:0000:ffff' "$dir/gids/$i" &&
			grep -q 'RoCE v2' "$dir/gid_attrs/types/$i" 2>/dev/null; then
			echo $i
			return
		fi
		i=$((i + 1))
	done
	return 1
}

# wait until somebody listens on a port
listening()
{
	local end hex

	hex=$(printf ':%04X 0*:0000 0A' "$1")
	end=$(($(date +%s) + limit))
	until cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q "$hex"; do
		[ "$(date +%s)" -lt $end ] || return 1
		sleep 0.05
	done
}

# pair SERVER CLIENT TYPE
pair()
{
	local server status=0

	port=$((port + 1))
	run_program "$1" "$3" >server.out 2>&1 &
	server=$!
	listening $port || status=1
	run_program "$2" "$3" 127.0.0.1 >client.out 2>&1 || status=1
	wait $server || status=1
	# the stock programs say so and exit with 0
	! grep -q 'invalid data' server.out client.out || status=1
	[ $status = 0 ] || sed 's/^/# /' server.out client.out
	return $status
}
