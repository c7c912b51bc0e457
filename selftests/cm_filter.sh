# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash
#
# Counts the messages of the connection manager that a machine gets over RoCE v2, and drops some;
# and a place to meet for two machines.  Sourced.
#
# A packet: UDP (8 bytes), BTH (12) with the QP number at 5, DETH (8), MAD with the attribute at 16.

# cm_filter [MESSAGE[-once]]...: which to drop, of req rej rep rtu dreq drep and data, which is all to
# other queue pairs; once: the first one only; counters begin at 0
cm_filter()
{
	local line name drop once

	cm_open
	{
		echo 'table inet cm {'
		echo 'chain in { type filter hook input priority 0; policy accept;'
		for line in req:0x0010 rej:0x0012 rep:0x0013 rtu:0x0014 dreq:0x0015 drep:0x0016 data; do
			name=${line%:*} drop='' once=''
			case " $* " in
			*" $name "*) drop=drop ;;
			*" $name-once "*) once=1 ;;
			esac
			case $name in
			data) line='@th,104,24 != 0x000001' ;;
			*) line="@th,104,24 0x000001 @th,352,16 ${line#*:}" ;;
			esac
			echo "udp dport 4791 $line counter $drop comment \"$name\""
			# the counter of the rule begins at 0
			[ -z "$once" ] ||
				echo "udp dport 4791 $line numgen inc mod 1000000 == 0 drop"
		done
		echo '}'
		echo '}'
	} | nft -f -
}

# all packets pass, uncounted
cm_open()
{
	nft delete table inet cm 2>/dev/null
	return 0
}

# cm_count MESSAGE: how many came
cm_count()
{
	nft list chain inet cm in | sed -n "s/.* packets \([0-9]*\) .*comment \"$1\".*/\1/p"
}

# cm_wait MESSAGE COUNT SECONDS: until so many came
cm_wait()
{
	local end

	end=$(($(date +%s) + $3))
	until [ "$(cm_count "$1")" -ge "$2" ]; do
		[ "$(date +%s)" -lt $end ] || return 1
		sleep 0.1
	done
}

# meet ROUND: each machine waits for the other
meet()
{
	local tries=600

	if [ "$XV_NODE" = b ]; then
		timeout 120 nc -l -p $((9000 + $1)) </dev/null >/dev/null
		return
	fi
	until nc 10.9.0.2 $((9000 + $1)) </dev/null >/dev/null 2>&1; do
		[ $tries -gt 0 ] || return 1
		tries=$((tries - 1))
		sleep 0.2
	done
}
