// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Functions that are called when the queue is open.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <stdlib.h>

#include "sim.h"

#define NUM	8
#define SMALL	XVM_OPTS(xvm_channel_opts, .fragment = 128, .window = 4, \
			 .slots = 8, .max_message = 1000, \
			 .queue_messages = 8)

/* One registration and what its function does. */
struct reg {
	void *handle;
	unsigned int id;
	unsigned int calls;
	int ret;			/* returned when nothing else is said */
	unsigned int want;		/* messages to send; EAGAIN: -1 */
	void (*inside)(struct reg *r);
};

static struct reg regs[NUM];
static unsigned int calls[1000];	/* who was called, in order */
static unsigned int num_calls;

static int setup(void **state)
{
	unsigned int i;

	(void)state;
	sim_begin(1);
	memset(regs, 0, sizeof(regs));
	for (i = 0; i < NUM; i++)
		regs[i].id = i;
	num_calls = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sim_end();
	return 0;
}

static int opened(void *data)
{
	struct reg *r = data;

	/* From a dispatch, and never when it is known to be full. */
	assert_true(sim.link[A].polling);
	assert_int_equal(xvm_send_ok(sim_ch(A)), 1);
	r->calls++;
	assert_true(num_calls < 1000);
	calls[num_calls++] = r->id;
	if (r->inside)
		r->inside(r);
	for (; r->want; r->want--) {
		int ret = sim_send(A, 20);

		if (ret == -EAGAIN)
			return -1;
		assert_int_equal(ret, 0);
	}
	return r->ret;
}

static void create(unsigned int i)
{
	assert_int_equal(xvm_fc_open_create(sim_ch(A), &regs[i].handle, opened,
					    &regs[i]), 0);
	assert_non_null(regs[i].handle);
}

static void destroy(unsigned int i)
{
	assert_int_equal(xvm_fc_open_destroy(sim_ch(A), &regs[i].handle), 0);
	assert_null(regs[i].handle);
}

static void open_both(void)
{
	sim_open(SMALL, SMALL);
}

static void fill(void)
{
	while (!sim_send(A, 20))
		;
	assert_int_equal(xvm_send_ok(sim_ch(A)), 0);
}

static void called(unsigned int n, ...)
{
	unsigned int i;
	va_list ap;

	assert_int_equal(num_calls, n);
	va_start(ap, n);
	for (i = 0; i < n; i++)
		assert_int_equal(calls[i], va_arg(ap, unsigned int));
	va_end(ap);
	num_calls = 0;
}

/* F1, F2: made when it is open it is called, and not from inside create. */
static void when_open(void **state)
{
	(void)state;
	open_both();
	create(0);
	called(0);
	assert_true(sim.link[A].wake_now);
	sim_run();
	called(1, 0);
	sim_send(A, 10);
	sim_run();
	called(0);
}

/* Before it is established messages are taken, too. */
static void when_not_established(void **state)
{
	(void)state;
	assert_int_equal(sim_make(A, SMALL), 0);
	create(0);
	regs[0].want = 9;
	create(1);
	sim_run();
	called(1, 0);
	assert_int_equal(sim_make(B, SMALL), 0);
	sim_connect();
	sim_run();
	called(2, 0, 1);
	sim_check_quiet();
}

static void when_full(void **state)
{
	(void)state;
	open_both();
	fill();
	create(0);
	create(1);
	assert_false(sim.link[A].wake_now);
	sim_time(A);
	sim_poll(A, 1);
	called(0);
	sim_run();
	called(2, 0, 1);
	sim_check_quiet();
}

/* F8: not before half of it is free. */
static void low_water(void **state)
{
	(void)state;
	open_both();
	fill();
	create(0);
	while (!regs[0].calls) {
		uint32_t queued = sim_info(A).queued;

		sim_wire(A);
		sim_poll(B, 1);
		sim_wire(B);
		sim_poll(A, 1);
		if (regs[0].calls)
			assert_true(sim_info(A).queued <= 4);
		else
			assert_true(queued > 4);
	}
	assert_true(sim_info(A).queued >= 3);
}

static void low_water_bytes(void **state)
{
	unsigned int i;

	(void)state;
	sim_open(XVM_OPTS(xvm_channel_opts, .fragment = 128, .window = 4,
			  .max_message = 1000, .queue_bytes = 1000), SMALL);
	for (i = 0; i < 10; i++)
		assert_int_equal(sim_send(A, 100), 0);
	assert_int_equal(sim_send(A, 100), -EAGAIN);
	create(0);
	for (;;) {
		sim_wire(A);
		sim_poll(B, 1);
		sim_wire(B);
		sim_poll(A, 1);
		if (regs[0].calls)
			break;
		assert_true(sim_info(A).queued_bytes > 500);
	}
	assert_in_range(sim_info(A).queued_bytes, 400, 500);
}

/* F3, F4: the oldest first; -1 stops; the same one goes on; 0 is gone. */
static void order(void **state)
{
	unsigned int i;

	(void)state;
	open_both();
	for (i = 0; i < 4; i++)
		create(i);
	regs[1].want = 25;
	sim_run();
	assert_int_equal(calls[0], 0);
	for (i = 1; i < num_calls - 2; i++)
		assert_int_equal(calls[i], 1);
	assert_true(i >= 4);
	assert_int_equal(calls[num_calls - 2], 2);
	assert_int_equal(calls[num_calls - 1], 3);
	assert_int_equal(regs[0].calls, 1);
	sim_check_quiet();
	assert_int_equal(sim.app[B].num_received, 25);
	num_calls = 0;
	fill();
	sim_run();
	called(0);
	for (i = 0; i < 4; i++)
		destroy(i);
}

/* Any other value is 0. */
static void other_values(void **state)
{
	(void)state;
	open_both();
	regs[0].ret = 1;
	regs[1].ret = -2;
	create(0);
	create(1);
	sim_run();
	sim_advance(1000);
	called(2, 0, 1);
}

/* F5: one made inside waits for the next pass. */
static void make_another(struct reg *r)
{
	if (r->id < 3) {
		create(r->id + 1);
		assert_int_equal(num_calls, r->id + 1);
	}
}

static uint64_t pass_of[NUM];

static void note_pass(struct reg *r)
{
	pass_of[r->id] = sim_ch(A)->fc_pass;
	make_another(r);
}

static void made_inside(void **state)
{
	unsigned int i;

	(void)state;
	open_both();
	for (i = 0; i < 4; i++)
		regs[i].inside = note_pass;
	create(0);
	sim_run();
	called(4, 0, 1, 2, 3);
	for (i = 1; i < 4; i++)
		assert_true(pass_of[i] > pass_of[i - 1]);
}

/* F6: who says that it is full although it is not does not starve others. */
static void liar(void **state)
{
	unsigned int i;

	(void)state;
	open_both();
	regs[0].ret = -1;
	create(0);
	create(1);
	for (i = 0; i < 20; i++)
		sim_advance(10);
	assert_int_equal(regs[1].calls, 1);
	for (i = 0; i < 8; i++)
		assert_int_equal(calls[i], 0);
	assert_int_equal(calls[8], 1);
	/* It does not keep the processor busy either. */
	assert_in_range(regs[0].calls, 18, 22);
	regs[0].ret = 0;
	sim_advance(20);
	i = regs[0].calls;
	sim_advance(1000);
	assert_int_equal(regs[0].calls, i);
}

/* Who really was full eight times keeps its place. */
static void full_eight_times(void **state)
{
	(void)state;
	open_both();
	create(0);
	create(1);
	regs[0].want = 100;
	sim_run();
	assert_true(regs[0].calls > 10);
	assert_int_equal(calls[num_calls - 1], 1);
	assert_int_equal(regs[1].calls, 1);
	sim_check_quiet();
}

/* F7: destroyed from inside: itself, the next one, the one before. */
static void destroy_self(struct reg *r)
{
	destroy(r->id);
}

static void destroy_next(struct reg *r)
{
	destroy(r->id + 1);
}

static void destroy_previous(struct reg *r)
{
	destroy(r->id - 1);
}

/* It is done and gone: that does not end another one. */
static void destroy_self_and_done(void **state)
{
	(void)state;
	open_both();
	regs[0].inside = destroy_self;
	create(0);
	create(1);
	create(2);
	sim_run();
	called(3, 0, 1, 2);
}

static void destroy_inside(void **state)
{
	(void)state;
	open_both();
	regs[0].inside = destroy_self;
	regs[0].ret = -1;
	regs[1].inside = destroy_next;
	regs[4].inside = destroy_previous;
	create(0);
	create(1);
	create(2);
	create(3);
	create(4);
	sim_run();
	/* It stopped the pass and is not there any more. */
	assert_int_equal(calls[0], 0);
	assert_int_equal(regs[0].calls, 1);
	sim_send(A, 1);
	sim_run();
	sim_advance(50);
	called(4, 0, 1, 3, 4);
	assert_int_equal(regs[2].calls, 0);
}

static void all_next(struct reg *r)
{
	unsigned int i;

	for (i = r->id + 1; i < NUM; i++)
		destroy(i);
}

static void destroy_all_next(void **state)
{
	unsigned int i;

	(void)state;
	open_both();
	regs[0].inside = all_next;
	for (i = 0; i < NUM; i++)
		create(i);
	sim_run();
	called(1, 0);
}

static void destroy_twice(void **state)
{
	void *handle = NULL, *stale;

	(void)state;
	open_both();
	assert_int_equal(xvm_fc_open_destroy(sim_ch(A), NULL), -EINVAL);
	assert_int_equal(xvm_fc_open_destroy(sim_ch(A), &handle), 0);
	assert_int_equal(xvm_fc_open_create(sim_ch(A), NULL, opened, NULL),
			 -EINVAL);
	assert_int_equal(xvm_fc_open_create(sim_ch(A), &handle, NULL, NULL),
			 -EINVAL);
	create(0);
	stale = regs[0].handle;
	destroy(0);
	destroy(0);
	sim_run();
	called(0);
	/* A handle that has done its work hits nobody else. */
	create(1);
	sim_run();
	create(2);
	handle = regs[1].handle;
	assert_int_equal(xvm_fc_open_destroy(sim_ch(A), &handle), 0);
	assert_int_equal(xvm_fc_open_destroy(sim_ch(A), &stale), 0);
	sim_run();
	called(2, 1, 2);
}

/* Another function of the program may destroy the channel itself. */
static void kill_channel(struct reg *r)
{
	(void)r;
	xvm_destroy(sim_ch(A));
}

static int opened_last(void *data)
{
	struct reg *r = data;

	r->calls++;
	kill_channel(r);
	return -1;
}

static void destroy_channel(void **state)
{
	(void)state;
	open_both();
	create(1);
	destroy(1);
	xvm_fc_open_create(sim_ch(A), &regs[0].handle, opened_last, &regs[0]);
	create(1);
	sim_run();
	assert_null(sim_ch(A));
	assert_int_equal(regs[0].calls, 1);
	called(0);
}

/* F9: nobody is called when it closes or has ended. */
static void after_the_end(void **state)
{
	(void)state;
	open_both();
	fill();
	create(0);
	create(1);
	assert_int_equal(xvm_shutdown(sim_ch(A), 0), 0);
	assert_int_equal(xvm_fc_open_create(sim_ch(A), &regs[2].handle, opened,
					    &regs[2]), -ESHUTDOWN);
	sim_run();
	assert_int_equal(sim.app[A].num_closed, 1);
	called(0);
	destroy(0);
	assert_int_equal(xvm_fc_open_create(sim_ch(A), &regs[2].handle, opened,
					    &regs[2]), -ENOTCONN);
}

/* A queue that is full because of its send buffers opens with them. */
static void buffers(void **state)
{
	uint64_t keys[4];
	unsigned int i;
	uint64_t key;
	void *buf;

	(void)state;
	sim_open(XVM_OPTS(xvm_channel_opts, .fragment = 128, .send_bufs = 4),
		 SMALL);
	for (i = 0; i < 4; i++)
		assert_int_equal(xvm_alloc_send_buf(sim_ch(A), 10, &buf,
						    &keys[i]), 0);
	assert_int_equal(xvm_alloc_send_buf(sim_ch(A), 10, &buf, &key),
			 -EAGAIN);
	create(0);
	sim_run();
	called(0);
	assert_int_equal(xvm_cancel_send_buf(sim_ch(A), keys[0]), 0);
	sim_run();
	called(0);
	assert_int_equal(xvm_cancel_send_buf(sim_ch(A), keys[1]), 0);
	assert_true(sim.link[A].wake_now);
	sim_run();
	called(1, 0);
}

/* A message of more than half of the queue's bytes. */
static void big_one(struct reg *r)
{
	int ret = sim_send(A, 900);

	r->ret = ret == -EAGAIN ? -1 : 0;
}

static void big_message(void **state)
{
	unsigned int i;

	(void)state;
	sim_open(XVM_OPTS(xvm_channel_opts, .fragment = 128, .window = 2,
			  .max_message = 1000, .queue_bytes = 1000), SMALL);
	for (i = 0; i < 5; i++)
		assert_int_equal(sim_send(A, 200), 0);
	assert_int_equal(sim_send(A, 900), -EAGAIN);
	regs[0].inside = big_one;
	create(0);
	sim_run();
	assert_int_equal(sim.app[B].num_received, 6);
	sim_check_quiet();
}

static void cycles(void **state)
{
	unsigned int i;

	(void)state;
	open_both();
	for (i = 0; i < 1000000; i++) {
		create(0);
		destroy(0);
	}
	sim_run();
	called(0);
}

#define T(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(when_open),
		T(when_not_established),
		T(when_full),
		T(low_water),
		T(order),
		T(other_values),
		T(made_inside),
		T(liar),
		T(full_eight_times),
		T(destroy_self_and_done),
		T(destroy_inside),
		T(low_water_bytes),
		T(destroy_all_next),
		T(destroy_twice),
		T(destroy_channel),
		T(after_the_end),
		T(buffers),
		T(big_message),
		T(cycles),
	};

	return cmocka_run_group_tests_name("msg_fc", tests, NULL, NULL);
}
