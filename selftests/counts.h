/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How often things are tried: the one place for it.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Three counts each, chosen by the environment variable XV_MODE: "check" on
 * kernels as distributions build them, "debug" on the debug kernel, which is
 * many times slower, and "long" by hand.
 */
#ifndef _XV_COUNTS_H
#define _XV_COUNTS_H

/*		NAME			check	debug	long */
#define XVT_COUNTS(X) \
	X(TXN_HANDLES,			200,	50,	10000) \
	X(TXN_RACE_DESTROY,		1000,	30,	20000) \
	X(TXN_RACE_MIXED,		1000,	60,	50000) \
	X(MR_CYCLES,			50,	20,	10000) \
	X(DATA_STREAM,			2000,	60,	100000) \
	X(DATA_WAKEUPS,			1500,	50,	100000) \
	X(DATA_SLEEPERS,		400,	30,	50000) \
	X(DATA_DESTROY_SLEEPER,		20,	5,	2000) \
	X(DATA_MUTATOR,			2000,	60,	100000) \
	X(UD_FUZZ,			200,	100,	40000) \
	X(UD_RACE,			200,	40,	20000) \
	X(SRQ_ROUNDS,			200,	20,	20000) \
	X(SRQ_CUTS,			6,	2,	500) \
	X(SRQ_CYCLES,			20,	5,	1000) \
	X(SRQ_TRAFFIC,			3,	1,	500) \
	X(MCAST_RACE,			200,	40,	20000) \
	X(EVENTS_RACE,			200,	40,	20000) \
	X(QP_CYCLES,			20,	5,	1000) \
	X(EVENT_ARM_RACE,		1000,	40,	50000) \
	X(LIFE_CYCLES,			300,	20,	10000) \
	X(LIFE_OPENS,			100,	20,	10000) \
	X(LIFE_KILLS,			10,	2,	500) \
	X(RACE_CLOSES,			1000,	300,	20000) \
	X(RACE_SRQ,			200,	20,	20000) \
	X(STRESS_MS,			6000,	10000,	600000) \
	X(MODEL_ROUNDS,			6,	3,	150) \
	X(MODEL_OPS,			400,	100,	1000) \
	X(FUZZ_MS,			8000,	40000,	480000) \
	X(MANY_OBJECTS,			20000,	4000,	100000) \
	X(UNPLUG_ROUNDS,		1,	1,	20) \
	X(FAIL_NTH_MAX,			1000,	1000,	5000) \
	X(FAIL_PAIRS_STEP,		1,	4,	1) \
	X(CONN_BURST,			100,	12,	100) \
	X(CONN_ROOM,			500,	20,	100000) \
	X(CONN_FIRST,			20,	4,	1000) \
	X(CONN_CYCLES,			100,	6,	10000) \
	X(CONN_DISCONNECT,		30,	3,	1000) \
	X(CONN_ANY_TIME,		60,	6,	2000) \
	X(MSG_CYCLES,			20,	3,	10000) \
	X(MSG_ROUNDS,			200,	10,	100000) \
	X(MOCK_ERRNOS,			40,	24,	133) \
	X(INTEROP_ITERS,		1000,	50,	10000) \
	X(INTEROP_PINGS,		20,	10,	1000)

#endif /* _XV_COUNTS_H */
