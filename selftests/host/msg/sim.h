/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Two channels over a simulated transport, one step at a time.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * A frame that was handed over lies on the wire until sim_wire() moves it to the
 * other side, where it takes a receive: there must be one, always. sim_poll()
 * gives what has arrived to the channel, and tells of posts that are done. So a
 * test can stop, cut, or let happen anything at any time.
 *
 * Each side has a program that checks what it is told: messages whole, once and
 * in order; an answer for each that it has sent, in order; nothing after the
 * end.
 */
#ifndef _XV_MSG_SIM_H
#define _XV_MSG_SIM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "chan.h"

enum { A, B };		/* A is active */

/* A frame, or a probe: then len is 0. */
struct sim_post {
	struct sim_post *next;
	bool signaled;
	size_t len;
	uint8_t bytes[];
};

struct sim_queue {
	struct sim_post *first;
	struct sim_post **last;
	unsigned int num;
};

struct xvm_link {
	struct xvm_channel *ch;
	int side;
	uint8_t *slots;
	uint8_t *pool;
	struct sim_queue ready;		/* posted, not handed over */
	struct sim_queue wire;
	struct sim_queue arrived;	/* in receives of this side */
	int recvs;			/* posted and empty */
	uint32_t num_done;		/* posts that the device has done */
	uint32_t num_told;		/* signaled ones the channel may know of */
	bool up;
	bool up_told;
	bool cut;			/* the end is due, after what has arrived */
	int cut_err;
	bool gone;
	bool polling;
	int fail_post;			/* so many more posts, then -EIO; -1 */
	uint64_t wake_at;
	bool wake_now;
};

#define SIM_MAX	4096

/* What the program of one side does and has seen. */
struct sim_app {
	unsigned int side;
	unsigned int num_sent;		/* accepted */
	uint32_t len[SIM_MAX];
	unsigned int num_done;		/* answered */
	unsigned int num_good;
	int first_err;
	unsigned int num_received;
	unsigned int next_index;	/* of the message to come */
	unsigned int num_established;
	unsigned int num_closed;
	int err;
	/* called at the end of the callback of that name, if not NULL */
	void (*on_established)(struct sim_app *app);
	void (*on_received)(struct sim_app *app, const void *msg, size_t len);
	void (*on_sent)(struct sim_app *app, int err);
	void (*on_closed)(struct sim_app *app);
};

struct sim {
	struct xvm_link link[2];
	struct sim_app app[2];
	uint64_t now;
	unsigned int moves;		/* frames that were moved */
	unsigned int cut_at;		/* cut instead of this move; 0: never */
	unsigned int rnd;
	/* Longer ones are accepted early and never sent. */
	uint32_t limit;
	/* What each side may send, counted apart from the library. */
	unsigned int credits[2];
};

extern struct sim sim;

/* Allocations of the library: the one that fails, counted from 1; 0: none. */
extern unsigned int sim_fail_malloc;
extern unsigned int sim_num_malloc;
extern int sim_live_mallocs;

void sim_begin(unsigned int seed);
/* Free all; nothing of the library may be left. */
void sim_end(void);
/* Make one side's channel; 0 or what the library says. */
int sim_make(int side, const struct xvm_channel_opts *opts);
/* Both channels, connected, and the HELLOs exchanged. */
void sim_open(const struct xvm_channel_opts *a,
	      const struct xvm_channel_opts *b);
/* The connection is there. */
void sim_connect(void);

/* Each returns whether there was anything to do. */
bool sim_wire(int side);
bool sim_poll(int side, unsigned int budget);
bool sim_time(int side);
/* Until nothing is left to do, in an order by chance. */
void sim_run(void);
/* The clock goes on; passes that are due are made. */
void sim_advance(uint64_t ms);
/* Both see the end, with this cause. What is on the wire is lost. */
void sim_cut(int err);

unsigned int sim_random(unsigned int n);

struct xvm_channel *sim_ch(int side);
/* Send a message that the other side knows how to check. */
int sim_send(int side, uint32_t len);
void sim_fill(void *buf, unsigned int side, unsigned int index, uint32_t len);
/* A frame out of nowhere. */
void sim_inject(int side, const void *frame, size_t len);
struct xvm_info sim_info(int side);
struct xvm_counters sim_count(int side);
/* All messages were delivered, both ends know, and nobody owes anything. */
void sim_check_quiet(void);

#endif
