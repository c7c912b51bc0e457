// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Channels over a simulated transport: messages, queue, credits, close, time.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <stdlib.h>
#include <sys/uio.h>

#include "sim.h"

#define F	XVM_MIN_FRAGMENT
#define H	XVW_HEADER_LEN
#define SMALL(...) XVM_OPTS(xvm_channel_opts, .fragment = F, .window = 4, \
			    .slots = 8, .max_message = 5000, ##__VA_ARGS__)

static int setup(void **state)
{
	(void)state;
	sim_begin(1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sim_end();
	return 0;
}

/* ---- options and greeting ---------------------------------------------- */

static void options(void **state)
{
	static const struct xvm_channel_opts bad[] = {
		{ .size = 3 },
		{ .size = sizeof(*bad), .flags = 4 },
		{ .size = sizeof(*bad), .reserved = 1 },
		{ .size = sizeof(*bad), .fragment = XVM_MIN_FRAGMENT - 16 },
		{ .size = sizeof(*bad), .fragment = XVM_MIN_FRAGMENT + 8 },
		{ .size = sizeof(*bad), .fragment = XVM_MAX_FRAGMENT + 16 },
		{ .size = sizeof(*bad), .window = 1 },
		{ .size = sizeof(*bad), .window = XVM_MAX_WINDOW + 1 },
		{ .size = sizeof(*bad), .slots = 3 },
		{ .size = sizeof(*bad), .slots = XVM_MAX_SLOTS + 1 },
		{ .size = sizeof(*bad), .max_message = XVM_MAX_MESSAGE + 1 },
		{ .size = sizeof(*bad), .queue_messages = 1U << 31 },
		{ .size = sizeof(*bad), .send_bufs = XVM_MAX_SEND_BUFS + 1 },
		{ .size = sizeof(*bad), .send_bufs = 1,
		  .flags = XVM_F_NO_SEND_BUFS },
		{ .size = sizeof(*bad), .max_message = 2, .queue_bytes = 1 },
		{ .size = sizeof(*bad), .keepalive_ms = 99 },
		{ .size = sizeof(*bad), .keepalive_ms = XVM_MAX_MS + 1 },
		{ .size = sizeof(*bad), .linger_ms = XVM_MAX_MS + 1 },
		{ .size = sizeof(*bad), .establish_ms = XVM_MAX_MS + 1 },
	};
	struct {
		struct xvm_channel_opts known;
		uint64_t later;
	} longer = { .known.size = sizeof(longer), .later = 0 };
	struct xvm_channel_opts cfg;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(xvm_get_channel_opts(&cfg, &bad[i]), -EINVAL);
	assert_int_equal(xvm_get_channel_opts(&cfg, NULL), 0);
	assert_int_equal(cfg.fragment, XVM_FRAGMENT);
	assert_int_equal(cfg.window, XVM_WINDOW);
	assert_int_equal(cfg.slots, XVM_SLOTS);
	assert_int_equal(cfg.max_message, XVM_MESSAGE);
	assert_int_equal(cfg.queue_messages, XVM_QUEUE_MESSAGES);
	assert_int_equal(cfg.queue_bytes, 4 * XVM_MESSAGE);
	assert_int_equal(cfg.send_bufs, XVM_SEND_BUFS);
	assert_int_equal(cfg.keepalive_ms, XVM_KEEPALIVE_MS);
	assert_int_equal(cfg.linger_ms, XVM_LINGER_MS);
	assert_int_equal(cfg.establish_ms, XVM_ESTABLISH_MS);
	assert_int_equal(xvm_get_channel_opts(&cfg, &longer.known), 0);
	longer.later = 1;
	assert_int_equal(xvm_get_channel_opts(&cfg, &longer.known), -EINVAL);
	assert_int_equal(xvm_get_channel_opts(&cfg, XVM_OPTS(xvm_channel_opts,
			 .flags = XVM_F_NO_SEND_BUFS)), 0);
	assert_int_equal(cfg.send_bufs, 0);
}

/* The smaller of both counts, and both know it. */
static void negotiated(void **state)
{
	struct xvm_info a, b;

	(void)state;
	sim_open(XVM_OPTS(xvm_channel_opts, .fragment = 256, .window = 5,
			  .max_message = 1000),
		 XVM_OPTS(xvm_channel_opts, .fragment = 512, .window = 7,
			  .max_message = 3000));
	a = sim_info(A);
	b = sim_info(B);
	assert_int_equal(a.state, XVM_OPEN);
	assert_int_equal(a.version, 1);
	assert_int_equal(b.version, 1);
	assert_int_equal(a.max_message, 1000);
	assert_int_equal(b.max_message, 1000);
	assert_int_equal(a.fragment, 256);
	assert_int_equal(a.peer_fragment, 512);
	assert_int_equal(b.peer_fragment, 256);
	assert_int_equal(a.peer_window, 7);
	assert_int_equal(b.peer_window, 5);
	assert_int_equal(a.credits, 9);
	assert_int_equal(b.credits, 7);
	assert_int_equal(sim_send(B, 1001), -EMSGSIZE);
	assert_int_equal(sim_send(B, 1000), 0);
	assert_int_equal(sim_send(A, 1000), 0);
	sim_run();
	sim_check_quiet();
}

/* The passive side says nothing before it was spoken to. */
static void active_speaks_first(void **state)
{
	(void)state;
	assert_int_equal(sim_make(A, SMALL()), 0);
	assert_int_equal(sim_make(B, SMALL()), 0);
	assert_int_equal(sim_send(B, 10), 0);
	sim_connect();
	while (sim_poll(B, 1) || sim_time(B))
		;
	assert_null(sim.link[B].ready.first);
	assert_null(sim.link[B].wire.first);
	assert_int_equal(sim_info(B).state, XVM_GREETING);
	assert_int_equal(sim_count(B).early, 1);
	sim_run();
	sim_check_quiet();
	assert_int_equal(sim.app[A].num_received, 1);
}

/* A frame may be seen before the word that the connection is there. */
static void frame_before_up(void **state)
{
	(void)state;
	assert_int_equal(sim_make(A, SMALL()), 0);
	assert_int_equal(sim_make(B, SMALL()), 0);
	sim_connect();
	sim.link[B].up_told = true;
	sim_run();
	assert_int_equal(sim.app[A].num_established, 1);
	assert_int_equal(sim.app[B].num_established, 1);
}

/* ---- messages ---------------------------------------------------------- */

static void sizes_with(uint32_t frag_a, uint32_t frag_b)
{
	const uint32_t len[] = {
		0, 1, 3, 4, 5, F - H - 1, F - H, F - H + 1, F - 1, F, F + 1,
		2 * F - 1, 2 * F, 2 * F + 1, 7 * (F - H), 7 * (F - H) + 1,
		255, 256, 257, 4999, 5000,
	};
	unsigned int i, j;

	sim_begin(frag_a + frag_b);
	sim_open(SMALL(.fragment = frag_a), SMALL(.fragment = frag_b));
	/* Each behind each other: no cut is special. */
	for (i = 0; i < sizeof(len) / sizeof(len[0]); i++)
		for (j = 0; j < sizeof(len) / sizeof(len[0]); j++) {
			assert_int_equal(sim_send(A, len[i]), 0);
			assert_int_equal(sim_send(A, len[j]), 0);
			assert_int_equal(sim_send(B, len[j]), 0);
			sim_run();
		}
	sim_check_quiet();
	assert_int_equal(sim_send(A, 5001), -EMSGSIZE);
	sim_end();
}

static void sizes(void **state)
{
	(void)state;
	sizes_with(F, F);
	sizes_with(F, 256);
	sizes_with(4096, F);
	sizes_with(8192, 8192);
	sim_begin(1);
}

/* Nothing of a message that is too long goes anywhere. */
static void too_long(void **state)
{
	struct iovec iov[2] = {
		{ (void *)1, SIZE_MAX - 10 }, { (void *)1, 20 },
	};
	unsigned int moves;

	(void)state;
	sim_open(SMALL(), SMALL());
	moves = sim.moves;
	assert_int_equal(sim_send(A, 5001), -EMSGSIZE);
	assert_int_equal(xvm_sendv(sim_ch(A), iov, 2, NULL), -EMSGSIZE);
	assert_int_equal(xvm_sendv(sim_ch(A), iov, 1, NULL), -EMSGSIZE);
	assert_int_equal(xvm_send(sim_ch(A), NULL, 1, NULL), -EINVAL);
	assert_int_equal(xvm_sendv(sim_ch(A), NULL, 1, NULL), -EINVAL);
	iov[0] = (struct iovec){ NULL, 1 };
	assert_int_equal(xvm_sendv(sim_ch(A), iov, 1, NULL), -EINVAL);
	sim_run();
	assert_int_equal(sim.moves, moves);
	assert_int_equal(sim_send(A, 5000), 0);
	sim_run();
	sim_check_quiet();
}

static void many_pieces(void **state)
{
	struct iovec iov[300];
	uint8_t buf[300];
	unsigned int i;

	(void)state;
	sim_open(SMALL(), SMALL());
	sim_fill(buf, A, 0, 300);
	for (i = 0; i < 300; i++)
		iov[i] = (struct iovec){ buf + i, 1 };
	assert_int_equal(xvm_sendv(sim_ch(A), iov, 300, (void *)1), 0);
	sim.app[A].len[sim.app[A].num_sent++] = 300;
	/* And none: a message of no bytes. */
	assert_int_equal(xvm_sendv(sim_ch(A), NULL, 0, (void *)2), 0);
	sim.app[A].len[sim.app[A].num_sent++] = 0;
	sim_run();
	sim_check_quiet();
}

/* Both flood, windows from the smallest on; credits and order hold. */
static void traffic(unsigned int seed, uint32_t window_a, uint32_t window_b,
		    uint32_t slots)
{
	unsigned int i, left[2] = { 300, 300 };

	sim_begin(seed);
	sim_open(SMALL(.window = window_a, .slots = slots,
		       .queue_messages = 20),
		 SMALL(.window = window_b, .slots = slots));
	while (left[A] || left[B]) {
		int side = sim_random(2);

		if (left[side] && !sim_send(side, sim_random(8) ?
					    sim_random(200) :
					    sim_random(3000)))
			left[side]--;
		for (i = sim_random(6); i; i--) {
			side = sim_random(2);
			sim_wire(side);
			sim_poll(sim_random(2), 1 + sim_random(3));
		}
	}
	sim_run();
	sim_check_quiet();
	assert_int_equal(sim.app[A].num_received, 300);
	assert_int_equal(sim.app[B].num_received, 300);
	sim_end();
}

static void both_ways(void **state)
{
	unsigned int seed;

	(void)state;
	for (seed = 1; seed <= 20; seed++) {
		traffic(seed, 2, 2, 4);
		traffic(seed, 2, 1024, 8);
		traffic(seed, 64, 3, 4);
		traffic(seed, 5, 8, 32);
	}
	sim_begin(1);
}

/* Credits come back although nothing is said the other way. */
static void one_way(void **state)
{
	unsigned int i;

	(void)state;
	sim_open(SMALL(.window = 2), SMALL(.window = 2));
	for (i = 0; i < 4000; i++) {
		while (sim_send(A, i % 150))
			sim_run();
		if (!sim_random(50))
			sim_run();
	}
	sim_run();
	sim_check_quiet();
	assert_int_equal(sim.app[B].num_received, 4000);
}

/* Two that have nothing to say fall silent. */
static void silence(void **state)
{
	unsigned int i, moves;

	(void)state;
	sim_open(SMALL(.window = 2, .flags = XVM_F_NO_KEEPALIVE),
		 SMALL(.window = 2, .flags = XVM_F_NO_KEEPALIVE));
	for (i = 0; i < 100; i++) {
		assert_int_equal(sim_send(i % 3 == 1, 500), 0);
		sim_run();
	}
	sim_check_quiet();
	moves = sim.moves;
	sim_advance(1000000);
	assert_int_equal(sim.moves, moves);
}

static void numbers_wrap(void **state)
{
	unsigned int i;
	int side;

	(void)state;
	sim_open(SMALL(), SMALL());
	for (side = 0; side < 2; side++) {
		struct xvm_channel *ch = sim_ch(side);

		ch->tx_seq = UINT32_MAX - 5;
		ch->acked = UINT32_MAX - 5;
		ch->rx_seq = UINT32_MAX - 5;
		ch->head = UINT32_MAX - 10;
		ch->next = ch->head;
		ch->tail = ch->head;
		ch->posted = UINT32_MAX - 7;
		ch->done = UINT32_MAX - 7;
		ch->signaled = UINT32_MAX - 7;
		sim.link[side].num_done = UINT32_MAX - 7;
		sim.link[side].num_told = UINT32_MAX - 7;
	}
	for (i = 0; i < 50; i++) {
		assert_int_equal(sim_send(A, i * 20), 0);
		assert_int_equal(sim_send(B, i * 10), 0);
		if (i % 3)
			sim_run();
	}
	sim_run();
	sim_check_quiet();
	assert_true(sim_ch(A)->tx_seq < 100);
	assert_true(sim_ch(A)->posted < 10000);
}

/* An answer is seen before the word that one's own send is done. */
static void answer_first(struct sim_app *app, const void *msg, size_t len)
{
	(void)msg;
	if (app->side == B)
		assert_int_equal(sim_send(B, len), 0);
}

static void answer_before_done(void **state)
{
	uint64_t key;
	void *buf;

	(void)state;
	sim_open(SMALL(), SMALL());
	sim.app[B].on_received = answer_first;
	assert_int_equal(xvm_alloc_send_buf(sim_ch(A), 20, &buf, &key), 0);
	sim_fill(buf, A, 0, 20);
	assert_int_equal(xvm_send_buf(sim_ch(A), key, 20, (void *)1), 0);
	sim.app[A].len[sim.app[A].num_sent++] = 20;
	sim_wire(A);
	sim.link[A].num_told--;		/* the device is late */
	sim_poll(B, 10);
	sim_wire(B);
	sim_poll(A, 10);
	assert_int_equal(sim.app[A].num_received, 1);
	/* The memory may still be read by the device. */
	assert_int_equal(sim.app[A].num_done, 0);
	assert_int_equal(sim_info(A).send_bufs, 1);
	sim.link[A].num_told++;
	sim_poll(A, 10);
	assert_int_equal(sim.app[A].num_good, 1);
	assert_int_equal(sim_info(A).send_bufs, 0);
	sim_run();
	sim_check_quiet();
}

/* ---- credits ------------------------------------------------------------ */

/* Neither side reads: data stop with two credits left, on both sides. */
static void flood(void)
{
	unsigned int i;

	for (i = 0; i < 100; i++) {
		sim_send(A, 100);
		sim_send(B, 100);
		while (sim_wire(A) || sim_wire(B))
			;
		/* Slots come back; frames are not looked at. */
		sim_poll(A, 0);
		sim_poll(B, 0);
	}
}

static void reserve(void **state)
{
	(void)state;
	sim_open(SMALL(.queue_messages = 16, .slots = 16),
		 SMALL(.queue_messages = 16, .slots = 16));
	flood();
	assert_int_equal(sim_info(A).credits, 2);
	assert_int_equal(sim_info(B).credits, 2);
	assert_int_equal(sim_info(A).queued, 16);
	assert_int_equal(sim_send(A, 1), -EAGAIN);
	assert_int_equal(sim_count(A).credit_stalls, 1);
	/* One reads one message: the grant and the word that it came pass. */
	assert_true(sim_poll(B, 1));
	assert_int_equal(sim_info(B).credits, 1);
	assert_true(sim_wire(B));
	assert_true(sim_poll(A, 5));
	assert_int_equal(sim.app[A].num_good, 1);
	sim_run();
	sim_check_quiet();
	assert_true(sim_count(A).grants + sim_count(B).grants > 0);
}

/* The last credit is for a frame that brings some. */
static void last_credit(void **state)
{
	struct xvm_channel *b;

	(void)state;
	sim_open(SMALL(), SMALL());
	b = sim_ch(B);
	/* A reads nothing: B uses up what it has for control. */
	assert_int_equal(sim_send(A, 1), 0);
	while (sim_wire(A))
		;
	b->credits = 1;
	b->owed = 0;
	b->ack_due = true;
	xvm_chan_begin(b);
	xvm_tx_control(b);
	assert_int_equal(b->credits, 1);
	assert_null(sim.link[B].ready.first);
	b->owed = 1;
	b->allowance--;
	xvm_tx_control(b);
	assert_int_equal(b->credits, 0);
	assert_non_null(sim.link[B].ready.first);
	b->ack_due = true;
	b->owed = 1;
	xvm_tx_control(b);
	assert_null(sim.link[B].ready.first->next);
	sim.link[B].polling = true;
	xvm_chan_end(b);
	sim.link[B].polling = false;
}

/* A peer that does not read: memory is bounded, nothing is lost. */
static void slow_reader(void **state)
{
	struct xvm_counters c;
	unsigned int i, taken = 0;

	(void)state;
	sim_open(SMALL(.queue_messages = 10, .queue_bytes = 6000), SMALL());
	for (i = 0; i < 2000; i++) {
		taken += !sim_send(A, 900);
		sim_wire(A);
		sim_wire(B);
		sim_poll(A, 1);
		if (i % 10 == 0)
			sim_poll(B, 1);
	}
	c = sim_count(A);
	assert_true(c.eagain > 100);
	assert_true(c.queue_peak <= 10);
	assert_true(c.queue_peak_bytes <= 6000);
	sim_run();
	sim_check_quiet();
	assert_int_equal(sim.app[B].num_received, taken);
}

/* ---- the queue ----------------------------------------------------------- */

static void queue_of_messages(void **state)
{
	unsigned int i;

	(void)state;
	sim_open(SMALL(.queue_messages = 5), SMALL());
	for (i = 0; i < 5; i++) {
		assert_int_equal(xvm_send_ok(sim_ch(A)), 1);
		assert_int_equal(sim_send(A, 10), 0);
	}
	/* It is not known to be full before somebody was refused. */
	assert_int_equal(xvm_send_ok(sim_ch(A)), 1);
	for (i = 0; i < 3; i++)
		assert_int_equal(sim_send(A, 0), -EAGAIN);
	assert_int_equal(xvm_send_ok(sim_ch(A)), 0);
	assert_int_equal(sim_info(A).queued, 5);
	assert_int_equal(sim_count(A).eagain, 3);
	sim_run();
	assert_int_equal(xvm_send_ok(sim_ch(A)), 1);
	sim_check_quiet();
	assert_int_equal(sim.app[B].num_received, 5);
}

static void queue_of_bytes(void **state)
{
	(void)state;
	sim_open(SMALL(.queue_bytes = 5000), SMALL());
	assert_int_equal(sim_send(A, 3000), 0);
	assert_int_equal(sim_send(A, 2001), -EAGAIN);
	assert_int_equal(sim_send(A, 2000), 0);
	assert_int_equal(sim_send(A, 1), -EAGAIN);
	assert_int_equal(sim_send(A, 0), 0);
	assert_int_equal(sim_info(A).queued_bytes, 5000);
	sim_run();
	sim_check_quiet();
	assert_int_equal(sim_count(A).queue_peak_bytes, 5000);
}

/* What was accepted early arrives first, in order. */
static void early(void **state)
{
	unsigned int i;

	(void)state;
	assert_int_equal(sim_make(A, SMALL(.queue_messages = 50)), 0);
	assert_int_equal(sim_make(B, SMALL(.queue_messages = 50)), 0);
	for (i = 0; i < 50; i++) {
		assert_int_equal(sim_send(A, i * 5), 0);
		assert_int_equal(sim_send(B, i * 7), 0);
	}
	assert_int_equal(sim_send(A, 1), -EAGAIN);
	sim_connect();
	while (sim.app[A].num_received < 10) {
		sim_wire(sim_random(2));
		sim_poll(sim_random(2), 1);
	}
	sim_send(A, 1000);
	sim_run();
	sim_check_quiet();
	assert_int_equal(sim_count(A).early, 50);
}

static void early_then(int err)
{
	unsigned int i;

	sim_begin(err);
	assert_int_equal(sim_make(A, SMALL()), 0);
	for (i = 0; i < 20; i++)
		assert_int_equal(sim_send(A, i * 50), 0);
	sim_cut(err);
	sim_run();
	assert_int_equal(sim.app[A].num_established, 0);
	assert_int_equal(sim.app[A].num_closed, 1);
	assert_int_equal(sim.app[A].err, -err);
	assert_int_equal(sim.app[A].first_err, -err);
	assert_int_equal(sim.app[A].num_done, 20);
	assert_int_equal(sim.app[A].num_good, 0);
	assert_int_equal(sim_info(A).err, err);
	assert_int_equal(sim_info(A).undelivered, 20);
	assert_int_equal(sim_send(A, 1), -ENOTCONN);
	sim_end();
}

static void early_then_refused(void **state)
{
	(void)state;
	early_then(ECONNREFUSED);
	early_then(ETIMEDOUT);
	sim_begin(1);
}

/* Longer than the peer takes, which was not known. */
static void early_too_long(void **state)
{
	(void)state;
	sim.limit = 100;
	assert_int_equal(sim_make(A, SMALL()), 0);
	assert_int_equal(sim_make(B, SMALL(.max_message = 100)), 0);
	assert_int_equal(sim_send(A, 100), 0);
	assert_int_equal(sim_send(A, 101), 0);
	assert_int_equal(sim_send(A, 5000), 0);
	assert_int_equal(sim_send(A, 99), 0);
	assert_int_equal(sim_send(A, 400), 0);
	sim_connect();
	sim_run();
	assert_int_equal(sim.app[B].num_received, 2);
	assert_int_equal(sim.app[A].num_done, 5);
	assert_int_equal(sim.app[A].num_good, 2);
	assert_int_equal(sim_send(A, 101), -EMSGSIZE);
	assert_int_equal(sim_info(A).queued_bytes, 0);
	assert_int_equal(sim_send(A, 50), 0);
	sim_run();
	assert_int_equal(sim.app[B].num_received, 3);
}

/* ---- send buffers --------------------------------------------------------- */

static int send_from_buf(int side, uint32_t room, uint32_t len)
{
	struct sim_app *app = &sim.app[side];
	uint64_t key;
	void *buf;
	int ret;

	ret = xvm_alloc_send_buf(sim_ch(side), room, &buf, &key);
	if (ret)
		return ret;
	assert_int_equal((uintptr_t)buf % 16, 0);
	sim_fill(buf, side, app->num_sent, len);
	ret = xvm_send_buf(sim_ch(side), key, len,
			   (void *)(uintptr_t)(app->num_sent + 1));
	if (ret)
		assert_int_equal(xvm_cancel_send_buf(sim_ch(side), key), 0);
	else
		app->len[app->num_sent++] = len;
	return ret;
}

static void bufs(void **state)
{
	unsigned int i;

	(void)state;
	sim_open(SMALL(.send_bufs = 4), SMALL(.send_bufs = 4));
	for (i = 0; i < 200; i++) {
		uint32_t len = sim_random(300);

		while (send_from_buf(A, len + sim_random(20), len))
			sim_run();
		while (sim_send(A, sim_random(30)))
			sim_run();
		while (send_from_buf(B, 5000, sim_random(5000)))
			sim_run();
	}
	sim_run();
	sim_check_quiet();
	assert_true(sim_count(A).in_place > 0);
	assert_int_equal(sim_count(B).in_place, 0);
	assert_int_equal(sim_info(A).send_bufs, 0);
	assert_int_equal(sim_info(B).send_bufs, 0);
}

static void bufs_early(void **state)
{
	(void)state;
	assert_int_equal(sim_make(A, SMALL()), 0);
	assert_int_equal(sim_make(B, SMALL(.fragment = 256)), 0);
	assert_int_equal(send_from_buf(A, 50, 50), 0);
	/* Fits our fragment and not theirs: two frames from one buffer. */
	assert_int_equal(send_from_buf(B, 240, 240), 0);
	sim_connect();
	sim_run();
	sim_check_quiet();
	assert_int_equal(sim_count(B).in_place, 1);
}

static void buf_misuse(void **state)
{
	uint64_t key, old, big;
	void *buf, *again;

	(void)state;
	sim_open(SMALL(.send_bufs = 1), SMALL());
	assert_int_equal(xvm_alloc_send_buf(sim_ch(A), 10, NULL, &key),
			 -EINVAL);
	assert_int_equal(xvm_alloc_send_buf(sim_ch(A), 10, &buf, NULL),
			 -EINVAL);
	assert_int_equal(xvm_alloc_send_buf(sim_ch(A), 5001, &buf, &key),
			 -EMSGSIZE);
	assert_int_equal(xvm_alloc_send_buf(sim_ch(A), 10, &buf, &key), 0);
	assert_int_equal(xvm_alloc_send_buf(sim_ch(A), 10, &again, &old),
			 -EAGAIN);
	/* More than it has, none, another one's. */
	assert_int_equal(xvm_send_buf(sim_ch(A), key, 11, NULL), -EINVAL);
	assert_int_equal(xvm_send_buf(sim_ch(A), 0, 1, NULL), -EINVAL);
	assert_int_equal(xvm_send_buf(sim_ch(A), key + 1, 1, NULL), -EINVAL);
	assert_int_equal(xvm_send_buf(sim_ch(B), key + 1, 1, NULL), -EINVAL);
	assert_int_equal(xvm_cancel_send_buf(sim_ch(A), ~0ULL), -EINVAL);
	/* Given back twice. */
	assert_int_equal(xvm_cancel_send_buf(sim_ch(A), key), 0);
	assert_int_equal(xvm_cancel_send_buf(sim_ch(A), key), -EINVAL);
	assert_int_equal(xvm_send_buf(sim_ch(A), key, 1, NULL), -EINVAL);
	/* Sent twice; given back after it was sent. */
	old = key;
	assert_int_equal(xvm_alloc_send_buf(sim_ch(A), 10, &buf, &key), 0);
	assert_true(key != old);
	sim_fill(buf, A, 0, 10);
	assert_int_equal(xvm_send_buf(sim_ch(A), key, 10, (void *)1), 0);
	sim.app[A].len[sim.app[A].num_sent++] = 10;
	assert_int_equal(xvm_send_buf(sim_ch(A), key, 10, NULL), -EINVAL);
	assert_int_equal(xvm_cancel_send_buf(sim_ch(A), key), -EINVAL);
	sim_run();
	sim_check_quiet();
	assert_int_equal(xvm_send_buf(sim_ch(A), key, 10, NULL), -EINVAL);
	assert_int_equal(xvm_cancel_send_buf(sim_ch(A), key), -EINVAL);
	/* One that is left over goes with the channel. */
	assert_int_equal(xvm_alloc_send_buf(sim_ch(A), 4000, &buf, &big), 0);
}

static void buf_cycles(void **state)
{
	unsigned int i;
	uint64_t key;
	void *buf;

	(void)state;
	sim_open(SMALL(), SMALL());
	sim_ch(A)->bufs[0].generation = UINT32_MAX - 10;
	for (i = 0; i < 1000000; i++) {
		assert_int_equal(xvm_alloc_send_buf(sim_ch(A), 50, &buf, &key),
				 0);
		assert_true(key >> 32);
		assert_int_equal(xvm_cancel_send_buf(sim_ch(A), key), 0);
	}
	assert_int_equal(sim_info(A).send_bufs, 0);
}

/* The queue is full: the buffer stays the caller's. */
static void buf_again(void **state)
{
	uint64_t key;
	void *buf;

	(void)state;
	sim_open(SMALL(.queue_messages = 1), SMALL());
	assert_int_equal(sim_send(A, 5), 0);
	assert_int_equal(xvm_alloc_send_buf(sim_ch(A), 10, &buf, &key), 0);
	sim_fill(buf, A, 1, 10);
	assert_int_equal(xvm_send_buf(sim_ch(A), key, 10, (void *)2), -EAGAIN);
	sim_run();
	assert_int_equal(xvm_send_buf(sim_ch(A), key, 10, (void *)2), 0);
	sim.app[A].len[sim.app[A].num_sent++] = 10;
	sim_run();
	sim_check_quiet();
}

/* ---- the end --------------------------------------------------------------- */

static void closed_well(void)
{
	int side;

	for (side = 0; side < 2; side++) {
		assert_int_equal(sim.app[side].num_closed, 1);
		assert_int_equal(sim.app[side].err, 0);
		assert_int_equal(sim.app[side].num_good,
				 sim.app[side].num_sent);
		assert_int_equal(sim.app[!side].num_received,
				 sim.app[side].num_sent);
		assert_int_equal(sim_info(side).state, XVM_CLOSED);
	}
}

/* Closed by one or by both, with messages under way in both directions. */
static void close_cleanly(void **state)
{
	unsigned int seed, i;

	(void)state;
	for (seed = 0; seed < 300; seed++) {
		sim_begin(seed);
		sim_open(SMALL(.window = 2 + seed % 5), SMALL());
		for (i = sim_random(30); i; i--)
			sim_send(sim_random(2), sim_random(1000));
		for (i = sim_random(30); i; i--) {
			sim_wire(sim_random(2));
			sim_poll(sim_random(2), 1);
		}
		if (seed % 3 != 1)
			assert_int_equal(xvm_shutdown(sim_ch(A), 0), 0);
		if (seed % 3 != 0)
			assert_int_equal(xvm_shutdown(sim_ch(B), 0), 0);
		if (seed % 3 != 1)
			assert_int_equal(sim_send(A, 1), -ESHUTDOWN);
		sim_run();
		closed_well();
		assert_int_equal(sim_send(A, 1), -ENOTCONN);
		assert_int_equal(sim_send(B, 1), -ENOTCONN);
		sim_end();
	}
	sim_begin(1);
}

static void closing_peer_takes_no_more(void **state)
{
	(void)state;
	sim_open(SMALL(), SMALL());
	assert_int_equal(sim_send(A, 100), 0);
	assert_int_equal(xvm_shutdown(sim_ch(A), 0), 0);
	assert_int_equal(xvm_shutdown(sim_ch(A), 0), -EALREADY);
	assert_int_equal(xvm_shutdown(sim_ch(B), XVM_MAX_MS + 1), -EINVAL);
	while (!sim_ch(B)->bye_got) {
		sim_time(A);
		sim_wire(A);
		sim_poll(B, 1);
		sim_wire(B);
		sim_poll(A, 1);
	}
	assert_int_equal(sim_info(B).state, XVM_CLOSING);
	assert_int_equal(sim_send(B, 1), -ESHUTDOWN);
	sim_run();
	closed_well();
	assert_int_equal(xvm_shutdown(sim_ch(A), 0), -ENOTCONN);
	assert_int_equal(xvm_abort(sim_ch(A)), 0);
	sim_run();
	assert_int_equal(sim.app[A].err, 0);
}

static void close_before_open(void **state)
{
	(void)state;
	/* Nothing to deliver: at once. */
	assert_int_equal(sim_make(A, SMALL()), 0);
	assert_int_equal(xvm_shutdown(sim_ch(A), 0), 0);
	sim_run();
	assert_int_equal(sim.app[A].num_closed, 1);
	assert_int_equal(sim.app[A].err, 0);
	sim_end();
	/* Something: it is delivered first. */
	sim_begin(2);
	assert_int_equal(sim_make(A, SMALL()), 0);
	assert_int_equal(sim_make(B, SMALL()), 0);
	assert_int_equal(sim_send(A, 1000), 0);
	assert_int_equal(sim_send(B, 1000), 0);
	assert_int_equal(xvm_shutdown(sim_ch(A), 0), 0);
	sim_connect();
	sim_run();
	closed_well();
}

/* The peer's program sleeps: the close takes no longer than was said. */
static void linger(void **state)
{
	unsigned int i;

	(void)state;
	sim_open(SMALL(), SMALL());
	for (i = 0; i < 20; i++)
		assert_int_equal(sim_send(A, 100), 0);
	assert_int_equal(xvm_shutdown(sim_ch(A), 700), 0);
	for (i = 0; i < 699; i++) {
		sim.now++;
		sim.link[A].wake_now = true;
		sim_time(A);
		sim_wire(A);
		sim_poll(A, 9);
	}
	assert_int_equal(sim.app[A].num_closed, 0);
	sim.now += 2;
	sim.link[A].wake_now = true;
	sim_time(A);
	sim_poll(A, 9);
	assert_int_equal(sim.app[A].num_closed, 1);
	assert_int_equal(sim.app[A].err, -ETIMEDOUT);
	assert_int_equal(sim_info(A).undelivered, 20);
	/* What has arrived is still given to the other program. */
	sim_run();
	assert_true(sim.app[B].num_received > 0);
	assert_int_equal(sim.app[B].err, -ECONNRESET);
}

/* Who is asked to close does not wait for ever either. */
static void linger_of_peer(void **state)
{
	(void)state;
	sim_open(SMALL(), SMALL(.linger_ms = 700));
	assert_int_equal(sim_send(B, 10), 0);
	assert_int_equal(xvm_shutdown(sim_ch(A), 5000), 0);
	sim_time(A);
	while (sim_wire(A))
		;
	/* From now on A is asleep: it does not take the message. */
	sim_poll(B, 9);
	assert_int_equal(sim_info(B).state, XVM_CLOSING);
	sim.now += 699;
	sim.link[B].wake_now = true;
	sim_time(B);
	assert_int_equal(sim_info(B).state, XVM_CLOSING);
	sim.now += 2;
	sim.link[B].wake_now = true;
	sim_time(B);
	sim_poll(B, 9);
	assert_int_equal(sim.app[B].err, -ETIMEDOUT);
	assert_int_equal(sim.app[B].first_err, -ETIMEDOUT);
}

/* Acknowledged, then cut before our device has noticed: it was delivered. */
static void acknowledged_and_cut(void **state)
{
	(void)state;
	sim_open(SMALL(), SMALL());
	assert_int_equal(send_from_buf(A, 20, 20), 0);
	assert_int_equal(sim_send(A, 30), 0);
	sim_wire(A);
	sim.link[A].num_told--;
	sim_poll(B, 1);
	sim_wire(B);
	sim_poll(A, 1);
	assert_int_equal(sim.app[A].num_done, 0);
	sim_cut(ECONNRESET);
	sim_run();
	assert_int_equal(sim.app[A].num_good, 1);
	assert_int_equal(sim.app[A].first_err, -ECONNRESET);
}

static void abort_it(void **state)
{
	(void)state;
	sim_open(SMALL(), SMALL());
	assert_int_equal(sim_send(A, 1000), 0);
	assert_int_equal(sim_send(B, 1000), 0);
	assert_int_equal(xvm_abort(sim_ch(A)), 0);
	/* Not from inside the call. */
	assert_int_equal(sim.app[A].num_closed, 0);
	assert_int_equal(sim_send(A, 1), -ENOTCONN);
	sim_run();
	assert_int_equal(sim.app[A].err, -ECANCELED);
	assert_int_equal(sim.app[A].first_err, -ECANCELED);
	assert_int_equal(sim.app[B].err, -ECONNRESET);
	assert_int_equal(sim.app[B].first_err, -ECONNRESET);
}

/* A post fails in the middle of a message: that is the end of the channel. */
static void post_fails(void **state)
{
	int n;

	(void)state;
	/* The first message is one frame, the second nine. */
	for (n = 0; n < 10; n++) {
		sim_begin(n);
		sim_open(SMALL(), SMALL());
		sim.link[A].fail_post = n;
		assert_int_equal(sim_send(A, 10), 0);
		if (n)
			assert_int_equal(sim_send(A, 1000), 0);
		sim_run();
		assert_int_equal(sim.app[A].num_closed, 1);
		assert_int_equal(sim.app[A].err, -EIO);
		assert_int_equal(sim.app[B].err, -ECONNRESET);
		sim_end();
	}
	sim_begin(1);
}

/* ---- every cut --------------------------------------------------------------- */

static void scenario(unsigned int kind)
{
	unsigned int i;

	sim_make(A, SMALL(.window = 2 + kind % 3, .send_bufs = 2));
	sim_make(B, SMALL(.window = 3, .slots = 4));
	for (i = 0; i < 6; i++) {
		sim_send(A, i * 90);
		sim_send(B, i * 60);
	}
	sim_connect();
	for (i = 0; i < 12; i++) {
		sim_send(i % 2, i * 45);
		if (sim_ch(B))
			send_from_buf(B, 100, 80);
		sim_wire(sim_random(2));
		sim_poll(sim_random(2), 2);
	}
	xvm_shutdown(sim_ch(kind % 2), 0);
	sim_run();
}

/* What the programs check themselves holds wherever the connection is cut. */
static void every_cut(void **state)
{
	unsigned int kind, at;

	(void)state;
	for (kind = 0; kind < 6; kind++) {
		for (at = 1;; at++) {
			bool whole;

			sim_begin(kind);
			sim.cut_at = at;
			scenario(kind);
			whole = sim.moves < at;
			assert_int_equal(sim.app[A].num_closed, 1);
			assert_int_equal(sim.app[B].num_closed, 1);
			assert_int_equal(sim.app[A].num_done,
					 sim.app[A].num_sent);
			assert_int_equal(sim.app[B].num_done,
					 sim.app[B].num_sent);
			if (whole)
				closed_well();
			/* The last word may be lost, and nobody minds. */
			else if (sim.app[A].err && sim.app[B].err)
				assert_int_equal(sim.app[A].err, -ETIMEDOUT);
			sim_end();
			if (whole)
				break;
		}
		assert_true(at > 40);
	}
	sim_begin(1);
}

/* ---- time ---------------------------------------------------------------------- */

static void not_established(void **state)
{
	(void)state;
	assert_int_equal(sim_make(A, SMALL(.establish_ms = 3000)), 0);
	assert_int_equal(sim_send(A, 10), 0);
	sim_advance(2999);
	assert_int_equal(sim.app[A].num_closed, 0);
	sim_advance(2);
	assert_int_equal(sim.app[A].err, -ETIMEDOUT);
	assert_int_equal(sim.app[A].first_err, -ETIMEDOUT);
}

static void no_hello(void **state)
{
	(void)state;
	assert_int_equal(sim_make(B, SMALL(.establish_ms = 3000)), 0);
	sim.link[B].up = true;
	sim_advance(2999);
	assert_int_equal(sim_info(B).state, XVM_GREETING);
	sim_advance(2);
	assert_int_equal(sim.app[B].err, -ETIMEDOUT);
}

static void keepalive(void **state)
{
	struct xvm_counters c;

	(void)state;
	sim_open(SMALL(.keepalive_ms = 4000), SMALL(.keepalive_ms = 4000));
	sim_advance(600000);
	assert_int_equal(sim_info(A).state, XVM_OPEN);
	c = sim_count(A);
	/* One a second, as is said. */
	assert_in_range(c.keepalives, 590, 601);
	assert_int_equal(c.frames_out, 1);
	assert_int_equal(sim_send(A, 10), 0);
	sim_run();
	sim_check_quiet();
}

static void no_keepalive(void **state)
{
	(void)state;
	sim_open(SMALL(.flags = XVM_F_NO_KEEPALIVE),
		 SMALL(.flags = XVM_F_NO_KEEPALIVE));
	sim_advance(600000);
	assert_int_equal(sim_count(A).keepalives, 0);
	assert_int_equal(xvm_chan_deadline(sim_ch(A)), 0);
	assert_int_equal(sim_info(A).state, XVM_OPEN);
}

/* The clock goes on, A lives, nothing moves on the wire. */
static uint64_t time_to_death(void)
{
	uint64_t start = sim.now;

	while (!sim.app[A].num_closed) {
		sim.now += 10;
		sim.link[A].wake_at = xvm_chan_deadline(sim_ch(A));
		sim_time(A);
		sim_poll(A, 9);
		assert_true(sim.now - start < 60000);
	}
	return sim.now - start;
}

/* The peer's machine is gone: idle, with data under way, without credits. */
static void dead_peer(void **state)
{
	unsigned int i, kind;

	(void)state;
	for (kind = 0; kind < 3; kind++) {
		sim_begin(kind);
		sim_open(SMALL(.keepalive_ms = 4000), SMALL());
		if (kind == 1)
			assert_int_equal(sim_send(A, 100), 0);
		if (kind == 2) {
			for (i = 0; i < 50; i++) {
				sim_send(A, 100);
				while (sim_wire(A))
					;
				sim_poll(A, 9);
			}
			assert_int_equal(sim_info(A).credits, 2);
		}
		sim_poll(A, 9);
		assert_true(time_to_death() <= 4020);
		assert_int_equal(sim.app[A].err, -ETIMEDOUT);
		sim_end();
	}
	sim_begin(1);
}

/* The peer's program sleeps for a minute, its device does not. */
static void sleeping_peer(void **state)
{
	unsigned int i, taken = 0;

	(void)state;
	sim_open(SMALL(.keepalive_ms = 1000), SMALL(.keepalive_ms = 1000));
	for (i = 0; i < 6000; i++) {
		taken += !sim_send(A, 300);
		sim.now += 10;
		sim.link[A].wake_at = xvm_chan_deadline(sim_ch(A));
		sim_time(A);
		sim_wire(A);
		sim_poll(A, 9);
	}
	assert_int_equal(sim_info(A).state, XVM_OPEN);
	assert_true(sim_count(A).keepalives > 100);
	assert_true(sim_count(A).eagain > 5000);
	/* It wakes, finds its own deadlines long past, and goes on. */
	sim_run();
	sim_check_quiet();
	assert_int_equal(sim.app[B].num_received, taken);
	assert_true(sim_count(A).credit_stall_ms > 50000);
}

/* ---- from inside callbacks ------------------------------------------------------ */

enum deed { DESTROY, ABORT, SHUTDOWN, SEND, DESTROY_PEER, NUM_DEEDS };
static enum deed deed;
static unsigned int deed_at;
static int fc_deed(void *data);
static void *fc_handle;

static void do_deed(struct sim_app *app)
{
	if (deed_at-- != 1)
		return;
	switch (deed) {
	case DESTROY:
		xvm_destroy(sim_ch(app->side));
		break;
	case ABORT:
		xvm_abort(sim_ch(app->side));
		break;
	case SHUTDOWN:
		xvm_shutdown(sim_ch(app->side), 0);
		break;
	case SEND:
		sim_send(app->side, 700);
		xvm_fc_open_create(sim_ch(app->side), &fc_handle, fc_deed,
				   app);
		break;
	case DESTROY_PEER:
		if (sim_ch(!app->side) && !sim.link[!app->side].polling)
			xvm_destroy(sim_ch(!app->side));
		break;
	default:
		break;
	}
}

/* The message stays readable although the channel is destroyed. */
static void deed_received(struct sim_app *app, const void *msg, size_t len)
{
	uint8_t sum = 0;
	size_t i;

	do_deed(app);
	for (i = 0; i < len; i++)
		sum += ((const uint8_t *)msg)[i];
	assert_true(sum + 1);
}

static void deed_sent(struct sim_app *app, int err)
{
	(void)err;
	do_deed(app);
}

static int fc_deed(void *data)
{
	struct sim_app *app = data;

	if (!sim_send(app->side, 10))
		do_deed(app);
	return 0;
}

static void one_deed(unsigned int where, int side, unsigned int seed)
{
	struct sim_app *app = &sim.app[side];
	unsigned int i;

	sim_begin(seed);
	deed_at = 1 + seed % 7;
	switch (where) {
	case 0:
		app->on_established = do_deed;
		deed_at = 1;
		break;
	case 1:
		app->on_received = deed_received;
		break;
	case 2:
		app->on_sent = deed_sent;
		break;
	case 3:
		app->on_closed = do_deed;
		deed_at = 1;
		break;
	}
	sim_make(A, SMALL());
	sim_make(B, SMALL());
	if (where == 4) {
		deed_at = 1;
		xvm_fc_open_create(sim_ch(side), &fc_handle, fc_deed, app);
	}
	for (i = 0; i < 10; i++) {
		sim_send(A, 40 * i);
		sim_send(B, 40 * i);
	}
	sim_connect();
	sim_run();
	if (sim_ch(A))
		xvm_shutdown(sim_ch(A), 0);
	else if (sim_ch(B))
		xvm_shutdown(sim_ch(B), 0);
	sim_run();
	/* Who was not destroyed was told the end. */
	if (sim_ch(A))
		assert_int_equal(sim.app[A].num_closed, 1);
	if (sim_ch(B))
		assert_int_equal(sim.app[B].num_closed, 1);
	sim_end();
}

static void inside_callbacks(void **state)
{
	unsigned int where, seed;

	(void)state;
	for (deed = 0; deed < NUM_DEEDS; deed++)
		for (where = 0; where < 5; where++)
			for (seed = 0; seed < 28; seed++)
				one_deed(where, seed & 1, seed);
	sim_begin(1);
}

static void destroy_any_time(void **state)
{
	unsigned int seed, i;

	(void)state;
	xvm_destroy(NULL);
	for (seed = 0; seed < 400; seed++) {
		sim_begin(seed);
		sim_make(A, SMALL());
		sim_make(B, SMALL());
		for (i = sim_random(10); i; i--)
			sim_send(A, sim_random(500));
		sim_connect();
		for (i = sim_random(100); i; i--) {
			sim_wire(sim_random(2));
			sim_poll(sim_random(2), 1);
		}
		xvm_destroy(sim_ch(seed & 1));
		sim_run();
		assert_int_equal(sim.app[!(seed & 1)].num_closed, 1);
		sim_end();
	}
	sim_begin(1);
}

/* ---- questions -------------------------------------------------------------------- */

static void questions(void **state)
{
	struct xvm_info info = { .size = sizeof(info) - 4 };
	struct xvm_counters c = { .size = 0 };
	unsigned int i;

	(void)state;
	sim_open(SMALL(), SMALL());
	assert_int_equal(xvm_query(sim_ch(A), &info), -EINVAL);
	assert_int_equal(xvm_get_counters(sim_ch(A), &c), -EINVAL);
	assert_int_equal(sim_send(A, 1000), 0);
	assert_int_equal(sim_send(A, 0), 0);
	sim_run();
	c = sim_count(A);
	assert_int_equal(c.messages_out, 2);
	assert_int_equal(c.bytes_out, 1000);
	assert_true(c.frames_out >= 1 + 9 + 1);
	c = sim_count(B);
	assert_int_equal(c.messages_in, 2);
	assert_int_equal(c.bytes_in, 1000);
	for (i = XVM_CONNECTING; i <= XVM_CLOSED; i++)
		assert_string_not_equal(xvm_state_name(i), "unknown");
	assert_string_equal(xvm_state_name(0), "unknown");
	assert_string_equal(xvm_state_name(XVM_CLOSED + 1), "unknown");
	assert_string_equal(xvm_fault_name(18), "length");
}

#define T(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(options),
		T(negotiated),
		T(active_speaks_first),
		T(frame_before_up),
		T(sizes),
		T(too_long),
		T(many_pieces),
		T(both_ways),
		T(one_way),
		T(silence),
		T(numbers_wrap),
		T(answer_before_done),
		T(reserve),
		T(last_credit),
		T(slow_reader),
		T(queue_of_messages),
		T(queue_of_bytes),
		T(early),
		T(early_then_refused),
		T(early_too_long),
		T(bufs),
		T(bufs_early),
		T(buf_misuse),
		T(buf_cycles),
		T(buf_again),
		T(close_cleanly),
		T(closing_peer_takes_no_more),
		T(close_before_open),
		T(linger),
		T(linger_of_peer),
		T(acknowledged_and_cut),
		T(abort_it),
		T(post_fails),
		T(every_cut),
		T(not_established),
		T(no_hello),
		T(keepalive),
		T(no_keepalive),
		T(dead_peer),
		T(sleeping_peer),
		T(inside_callbacks),
		T(destroy_any_time),
		T(questions),
	};

	return cmocka_run_group_tests_name("msg_chan", tests, NULL, NULL);
}
