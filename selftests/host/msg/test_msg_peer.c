// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A peer that does not keep the rules, and memory that is not there.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <stdlib.h>

#include "sim.h"

#define SMALL	XVM_OPTS(xvm_channel_opts, .fragment = 256, .window = 4, \
			 .slots = 8, .max_message = 1000)

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

/* ---- frames that are wrong ---------------------------------------------- */

static uint8_t bytes[2048];

static size_t frame(struct xvw_frame f, uint32_t data_len)
{
	size_t len = xvw_put(bytes, &f);

	memset(bytes + len, 0x5a, data_len);
	return len + data_len;
}

#define FRAME(data_len, ...) \
	frame((struct xvw_frame){ __VA_ARGS__ }, data_len)

static size_t hello(struct xvw_hello h, uint8_t flags)
{
	return FRAME(0, .type = XVW_HELLO, .flags = flags, .hello = h);
}

#define HELLO(flags, ...) \
	hello((struct xvw_hello){ .version = 1, .version_min = 1, \
	      .fragment = 256, .window = 6, .max_message = 1000, \
	      ##__VA_ARGS__ }, flags)

/* B gets what lies in bytes, and ends for that reason alone. */
static void must_end(size_t len, enum xvw_fault fault)
{
	int err = fault == XVW_FAULT_VERSION ? -EPROTONOSUPPORT : -EPROTO;
	uint64_t start = sim.now;
	struct xvm_info info;

	sim_num_malloc = 0;
	sim_inject(B, bytes, len);
	/* Nothing is allocated ahead of the check. */
	assert_int_equal(sim_num_malloc, 0);
	sim_run();
	sim_advance(1000);
	assert_int_equal(sim.app[B].num_closed, 1);
	assert_int_equal(sim.app[B].err, err);
	info = sim_info(B);
	assert_int_equal(info.fault, fault);
	assert_int_equal(info.err, -err);
	assert_int_equal(sim_count(B).faults[fault], 1);
	assert_true(sim.now - start <= 2000);
}

/* The same, and A is told what was wrong, if A is there to listen. */
static void refused(size_t len, enum xvw_fault fault)
{
	must_end(len, fault);
	assert_int_equal(sim.app[A].num_closed, 1);
	assert_int_equal(sim_info(A).peer_fault, fault);
	assert_int_equal(sim.app[A].err, fault == XVW_FAULT_VERSION ?
			 -EPROTONOSUPPORT : -EPROTO);
	sim_end();
	sim_begin(1);
}

static void open_both(void)
{
	sim_open(SMALL, SMALL);
}

static void wrong_lengths(void **state)
{
	static const uint32_t len[] = {
		1001, 0x7fffffff, 0x80000000, 0xffffffff,
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(len) / sizeof(len[0]); i++) {
		open_both();
		refused(FRAME(100, .type = XVW_DATA, .flags = XVW_F_FIRST,
			      .arg = len[i]), XVW_FAULT_LENGTH);
	}
	open_both();
	refused(FRAME(100, .type = XVW_DATA, .flags = XVW_F_FIRST, .arg = 99),
		XVW_FAULT_EXCESS);
	open_both();
	refused(FRAME(0, .type = XVW_DATA, .flags = XVW_F_FIRST, .arg = 1),
		XVW_FAULT_EMPTY);
	for (i = 0; i < XVW_HEADER_LEN; i++) {
		open_both();
		refused(i, XVW_FAULT_SIZE);
	}
	open_both();
	refused(FRAME(241, .type = XVW_DATA, .flags = XVW_F_FIRST,
		      .arg = 241), XVW_FAULT_FRAGMENT);
}

static void wrong_frames(void **state)
{
	(void)state;
	open_both();
	refused(FRAME(0, .type = 0), XVW_FAULT_TYPE);
	open_both();
	refused(FRAME(0, .type = 77), XVW_FAULT_TYPE);
	open_both();
	refused(FRAME(1, .type = XVW_DATA, .flags = 3, .arg = 1),
		XVW_FAULT_FLAGS);
	open_both();
	refused(FRAME(0, .type = XVW_GRANT, .seq = 1), XVW_FAULT_RESERVED);
}

static void wrong_sequence(void **state)
{
	(void)state;
	open_both();
	refused(FRAME(5, .type = XVW_DATA, .flags = XVW_F_FIRST, .seq = 1,
		      .arg = 5), XVW_FAULT_SEQ);
	open_both();
	refused(FRAME(5, .type = XVW_DATA, .flags = XVW_F_FIRST,
		      .seq = UINT32_MAX, .arg = 5), XVW_FAULT_SEQ);
	open_both();
	/* A later piece of nothing. */
	refused(FRAME(5, .type = XVW_DATA, .arg = 5), XVW_FAULT_OFFSET);
	open_both();
	refused(FRAME(0, .type = XVW_BYE, .seq = 1), XVW_FAULT_SEQ);
}

/* B has 100 of 300 bytes. */
static void open_partial(void)
{
	open_both();
	sim_inject(B, bytes, FRAME(100, .type = XVW_DATA, .flags = XVW_F_FIRST,
				   .arg = 300));
	assert_true(sim_ch(B)->rx_partial);
}

static void wrong_pieces(void **state)
{
	(void)state;
	open_partial();
	refused(FRAME(50, .type = XVW_DATA, .arg = 99), XVW_FAULT_OFFSET);
	open_partial();
	refused(FRAME(50, .type = XVW_DATA, .arg = 101), XVW_FAULT_OFFSET);
	open_partial();
	refused(FRAME(201, .type = XVW_DATA, .arg = 100), XVW_FAULT_OFFSET);
	open_partial();
	refused(FRAME(50, .type = XVW_DATA, .seq = 1, .arg = 100),
		XVW_FAULT_SEQ);
	open_partial();
	refused(FRAME(50, .type = XVW_DATA, .flags = XVW_F_FIRST, .arg = 50),
		XVW_FAULT_OFFSET);
	open_partial();
	refused(FRAME(0, .type = XVW_BYE), XVW_FAULT_STATE);
	open_partial();
	refused(FRAME(0, .type = XVW_DATA, .arg = 100), XVW_FAULT_EMPTY);
}

static void wrong_credits(void **state)
{
	unsigned int i;

	(void)state;
	open_both();
	refused(FRAME(0, .type = XVW_GRANT, .credits = 1), XVW_FAULT_CREDIT);
	open_both();
	refused(FRAME(0, .type = XVW_GRANT, .credits = 0xffff),
		XVW_FAULT_CREDIT);
	open_both();
	sim_ch(B)->credits -= 2;
	refused(FRAME(0, .type = XVW_GRANT, .credits = 3), XVW_FAULT_CREDIT);
	/* A window of four and a reserve of two: the fifth is too much. */
	open_both();
	xvm_chan_begin(sim_ch(B));
	for (i = 0; i < 4; i++) {
		xvm_chan_frame(sim_ch(B), bytes,
			       FRAME(100, .type = XVW_DATA,
				     .flags = i ? 0 : XVW_F_FIRST,
				     .arg = i ? 100 * i : 1000));
		assert_int_equal(sim_ch(B)->fault, 0);
	}
	assert_int_equal(sim_ch(B)->allowance, 2);
	sim_ch(B)->depth = 0;
	sim_ch(A)->credits -= 4;
	refused(FRAME(100, .type = XVW_DATA, .arg = 400), XVW_FAULT_OVERRUN);
	/* None at all. */
	open_both();
	sim_ch(B)->allowance = 0;
	refused(FRAME(0, .type = XVW_GRANT), XVW_FAULT_OVERRUN);
	/* The last one for a frame that brings nothing. */
	open_both();
	sim_ch(B)->allowance = 1;
	refused(FRAME(0, .type = XVW_GRANT), XVW_FAULT_OVERRUN);
}

static void wrong_acks(void **state)
{
	(void)state;
	open_both();
	refused(FRAME(0, .type = XVW_GRANT, .ack = 1), XVW_FAULT_ACK);
	open_both();
	refused(FRAME(0, .type = XVW_GRANT, .ack = UINT32_MAX),
		XVW_FAULT_ACK);
	open_both();
	assert_int_equal(sim_send(B, 10), 0);
	sim_run();
	refused(FRAME(0, .type = XVW_GRANT, .ack = 0), XVW_FAULT_ACK);
}

static void after_bye(void **state)
{
	static const struct {
		enum xvw_type type;
		uint8_t flags;
	} frames[] = { { XVW_DATA, XVW_F_FIRST }, { XVW_BYE, 0 } };
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		open_both();
		/* So that it does not end by itself. */
		assert_int_equal(sim_send(B, 10), 0);
		sim_inject(B, bytes, FRAME(0, .type = XVW_BYE));
		assert_int_equal(sim_info(B).state, XVM_CLOSING);
		must_end(FRAME(0, .type = frames[i].type,
			       .flags = frames[i].flags), XVW_FAULT_STATE);
		sim_end();
		sim_begin(1);
	}
}

/* What B thinks of a first frame. */
static void greeting(size_t len, enum xvw_fault fault)
{
	assert_int_equal(sim_make(B, SMALL), 0);
	sim.link[B].up = true;
	sim_poll(B, 1);
	must_end(len, fault);
	assert_int_equal(sim.app[B].num_established, 0);
	sim_end();
	sim_begin(1);
}

static void wrong_hello(void **state)
{
	(void)state;
	greeting(FRAME(1, .type = XVW_DATA, .flags = XVW_F_FIRST, .arg = 1),
		 XVW_FAULT_STATE);
	greeting(FRAME(0, .type = XVW_GRANT), XVW_FAULT_STATE);
	greeting(FRAME(0, .type = XVW_BYE), XVW_FAULT_STATE);
	greeting(FRAME(0, .type = XVW_ERROR, .arg = 1), XVW_FAULT_STATE);
	greeting(HELLO(XVW_F_ANSWER), XVW_FAULT_ROLE);
	greeting(HELLO(0, .version = 2, .version_min = 2),
		 XVW_FAULT_VERSION);
	greeting(HELLO(0, .version = 0, .version_min = 0),
		 XVW_FAULT_VERSION);
	greeting(HELLO(0, .version = 255, .version_min = 255),
		 XVW_FAULT_VERSION);
	greeting(HELLO(0, .window = 3), XVW_FAULT_LIMIT);
	greeting(HELLO(0, .window = 0), XVW_FAULT_LIMIT);
	greeting(HELLO(0, .fragment = 127), XVW_FAULT_LIMIT);
	greeting(HELLO(0, .max_message = 0), XVW_FAULT_LIMIT);
	greeting((HELLO(0), bytes[16] = 0, (size_t)XVW_HELLO_LEN),
		 XVW_FAULT_MAGIC);
	greeting((HELLO(0), memcpy(bytes + 16, "SMVX", 4),
		  (size_t)XVW_HELLO_LEN), XVW_FAULT_ORDER);
	/* A second one. */
	open_both();
	refused(HELLO(0), XVW_FAULT_STATE);
	open_both();
	refused(HELLO(XVW_F_ANSWER), XVW_FAULT_STATE);
}

/* Newer than we are, and able to speak as we do. */
static void newer_peer(void **state)
{
	(void)state;
	assert_int_equal(sim_make(B, SMALL), 0);
	sim.link[B].up = true;
	sim_poll(B, 1);
	sim_inject(B, bytes, HELLO(0, .version = 255));
	assert_int_equal(sim_info(B).state, XVM_OPEN);
	assert_int_equal(sim_info(B).version, 1);
}

static void told_by_peer(void **state)
{
	static const struct {
		uint32_t arg;
		int err;
	} said[] = {
		{ XVW_FAULT_LENGTH, -EPROTO },
		{ XVW_FAULT_VERSION, -EPROTONOSUPPORT },
		{ XVW_FAULT_MEMORY, -ENOMEM },
		{ 0xffffffff, -EPROTO },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		sim_begin(1);
		open_both();
		assert_int_equal(sim_send(B, 10), 0);
		sim_inject(B, bytes, FRAME(0, .type = XVW_ERROR,
					   .arg = said[i].arg));
		sim_run();
		assert_int_equal(sim.app[B].err, said[i].err);
		assert_int_equal(sim.app[B].first_err, said[i].err);
		assert_int_equal(sim_info(B).peer_fault, said[i].arg);
		assert_int_equal(sim_info(B).fault, 0);
		sim_end();
	}
	sim_begin(1);
	open_both();
	refused(FRAME(0, .type = XVW_ERROR), XVW_FAULT_CODE);
}

/* Nobody is there to take the ERROR: the end comes all the same. */
static void nobody_listens(void **state)
{
	(void)state;
	open_both();
	sim_inject(B, bytes, FRAME(0, .type = 77));
	assert_int_equal(sim_info(B).state, XVM_ENDING);
	assert_int_equal(sim.app[B].num_closed, 0);
	/* Nothing is taken any more. */
	sim_inject(B, bytes, FRAME(1, .type = XVW_DATA, .flags = XVW_F_FIRST,
				   .arg = 1));
	assert_int_equal(sim.app[B].num_received, 0);
	sim.now += 1000;
	sim.link[B].wake_now = true;
	sim_time(B);
	sim_poll(B, 1);
	assert_int_equal(sim.app[B].err, -EPROTO);
}

/* A conversation, with one frame of it changed by chance. */
static void mutate(struct sim_post *p)
{
	unsigned int n = 1 + sim_random(3);

	while (n--) {
		unsigned int at = sim_random(4) ? sim_random(XVW_HEADER_LEN) :
						  sim_random(p->len);

		switch (sim_random(3)) {
		case 0:
			p->bytes[at] ^= 1 << sim_random(8);
			break;
		case 1:
			p->bytes[at] = sim_random(3) - 1;
			break;
		case 2:
			p->bytes[at] = sim_random(256);
			break;
		}
	}
}

static unsigned int ignored_received;

static void any_received(struct xvm_channel *ch, const void *msg, size_t len,
			 void *user)
{
	const uint8_t *p = msg;
	unsigned int sum = 0;
	size_t i;

	(void)ch;
	(void)user;
	for (i = 0; i < len; i++)
		sum += p[i];
	ignored_received += sum + 1;
}

static void any_sent(struct xvm_channel *ch, void *context, int err,
		     void *user)
{
	(void)ch;
	(void)context;
	(void)err;
	((struct sim_app *)user)->num_done++;
}

static void any_closed(struct xvm_channel *ch, int err, void *user)
{
	struct sim_app *app = user;

	(void)ch;
	assert_int_equal(app->num_done, app->num_sent);
	app->num_closed++;
	app->err = err;
}

static void mutations(void **state)
{
	unsigned int seed, i, ended = 0;

	(void)state;
	for (seed = 0; seed < 20000; seed++) {
		int at;

		sim_begin(seed);
		sim_make(A, SMALL);
		sim_make(B, SMALL);
		for (i = 0; i < 2; i++) {
			sim_ch(i)->ops.received = any_received;
			sim_ch(i)->ops.sent = any_sent;
			sim_ch(i)->ops.closed = any_closed;
		}
		sim_send(A, 10);
		sim_send(A, 700);
		sim_send(B, 300);
		sim_connect();
		at = sim_random(20);
		for (i = 0; i < 60; i++) {
			int side = sim_random(2);
			struct sim_post *p = sim.link[side].arrived.first;

			if (p && !at--)
				mutate(p);
			sim_poll(side, 1);
			/* The check of the rules is not for this. */
			side = sim_random(2);
			sim.credits[side] = 100;
			if (sim.link[!side].recvs)
				sim_wire(side);
		}
		sim_advance(30000);
		for (i = 0; i < 2; i++) {
			ended += sim.app[i].num_closed;
			if (!sim.app[i].num_closed)
				assert_int_equal(sim_info(i).state, XVM_OPEN);
		}
		sim_end();
	}
	assert_true(ended > 10000);
	assert_true(ignored_received);
	sim_begin(1);
}

/* ---- memory ---------------------------------------------------------------- */

/* Returns 0 when it went through, else what it was refused with. */
static int exchange(void)
{
	unsigned int i;
	uint64_t key;
	void *buf;
	int ret;

	ret = sim_make(A, SMALL);
	if (!ret)
		ret = sim_make(B, SMALL);
	if (ret)
		return ret;
	for (i = 0; i < 3; i++) {
		ret = sim_send(A, 500);
		if (ret)
			assert_int_equal(ret, -ENOMEM);
	}
	sim_connect();
	sim_run();
	if (!sim.app[A].num_closed) {
		ret = xvm_alloc_send_buf(sim_ch(A), 900, &buf, &key);
		if (ret)
			assert_int_equal(ret, -ENOMEM);
		else
			assert_int_equal(xvm_cancel_send_buf(sim_ch(A), key),
					 0);
		ret = xvm_fc_open_create(sim_ch(A), &buf, NULL, NULL);
		assert_int_equal(ret, -EINVAL);
		sim_send(B, 800);
		xvm_shutdown(sim_ch(A), 0);
	}
	sim_run();
	return 0;
}

/* The n-th allocation fails, for each n. */
static void every_allocation(void **state)
{
	unsigned int n, refusals = 0, ends = 0, good = 0;

	(void)state;
	for (n = 1;; n++) {
		int ret;

		sim_begin(1);
		sim_fail_malloc = n;
		ret = exchange();
		if (sim_num_malloc < n) {
			assert_int_equal(ret, 0);
			sim_end();
			break;
		}
		if (ret) {
			assert_int_equal(ret, -ENOMEM);
			refusals++;
		} else if (sim.app[A].err) {
			/* A message could not be put together. */
			assert_int_equal(sim.app[A].err, -ENOMEM);
			assert_int_equal(sim.app[B].err, -ENOMEM);
			assert_int_equal(sim_info(A).fault +
					 sim_info(A).peer_fault,
					 XVW_FAULT_MEMORY);
			ends++;
		} else {
			assert_int_equal(sim.app[A].num_good,
					 sim.app[A].num_sent);
			assert_int_equal(sim.app[B].err, 0);
			good++;
		}
		sim_end();
	}
	assert_int_equal(refusals, 6);
	assert_true(ends >= 4);
	assert_true(good >= 3);
	sim_begin(1);
}

static int never(void *data)
{
	(void)data;
	assert_true(false);
	return 0;
}

static void no_memory_for_fc(void **state)
{
	void *handle = (void *)1;

	(void)state;
	open_both();
	sim_num_malloc = 0;
	sim_fail_malloc = 1;
	assert_int_equal(xvm_fc_open_create(sim_ch(A), &handle, never, NULL),
			 -ENOMEM);
	assert_ptr_equal(handle, (void *)1);
	sim_run();
}

#define T(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(wrong_lengths),
		T(wrong_frames),
		T(wrong_sequence),
		T(wrong_pieces),
		T(wrong_credits),
		T(wrong_acks),
		T(after_bye),
		T(wrong_hello),
		T(newer_peer),
		T(told_by_peer),
		T(nobody_listens),
		T(mutations),
		T(every_allocation),
		T(no_memory_for_fc),
	};

	return cmocka_run_group_tests_name("msg_peer", tests, NULL, NULL);
}
