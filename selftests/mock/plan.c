// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What is to become of calls: they fail, they sleep, they are counted.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/string.h>
#include "mock.h"

/* How long a call that may not sleep holds its processor at most. */
#define MOCK_STALL_MS	10000

const char *const mock_verb_names[MOCK_NUM_VERBS] = {
	[MOCK_ALLOC_PD] = "alloc_pd",
	[MOCK_DEALLOC_PD] = "dealloc_pd",
	[MOCK_CREATE_CQ] = "create_cq",
	[MOCK_MODIFY_CQ] = "modify_cq",
	[MOCK_DESTROY_CQ] = "destroy_cq",
	[MOCK_REQ_NOTIFY_CQ] = "req_notify_cq",
	[MOCK_POLL_CQ] = "poll_cq",
	[MOCK_CREATE_QP] = "create_qp",
	[MOCK_MODIFY_QP] = "modify_qp",
	[MOCK_QUERY_QP] = "query_qp",
	[MOCK_DESTROY_QP] = "destroy_qp",
	[MOCK_CREATE_SRQ] = "create_srq",
	[MOCK_MODIFY_SRQ] = "modify_srq",
	[MOCK_QUERY_SRQ] = "query_srq",
	[MOCK_DESTROY_SRQ] = "destroy_srq",
	[MOCK_CREATE_AH] = "create_ah",
	[MOCK_DESTROY_AH] = "destroy_ah",
	[MOCK_GET_DMA_MR] = "get_dma_mr",
	[MOCK_REG_USER_MR] = "reg_user_mr",
	[MOCK_DEREG_MR] = "dereg_mr",
	[MOCK_POST_SEND] = "post_send",
	[MOCK_POST_RECV] = "post_recv",
	[MOCK_POST_SRQ_RECV] = "post_srq_recv",
	[MOCK_ATTACH_MCAST] = "attach_mcast",
	[MOCK_DETACH_MCAST] = "detach_mcast",
	[MOCK_QUERY_PORT] = "query_port",
	[MOCK_QUERY_GID] = "query_gid",
	[MOCK_QUERY_PKEY] = "query_pkey",
};

/**
 * mock_error - a user of the device has done what it must not
 * @fmt: what
 *
 * Context: any.
 */
void mock_error(const char *fmt, ...)
{
	va_list args;

	atomic_inc(&mock.errors);
	va_start(args, fmt);
	/* Readers may see half of a text; it is for people. */
	vscnprintf(mock.last_error, sizeof(mock.last_error), fmt, args);
	va_end(args);
	pr_notice("misuse: %s\n", mock.last_error);
}

void mock_plans_init(void)
{
	int i;

	for (i = 0; i < MOCK_NUM_VERBS; i++) {
		spin_lock_init(&mock.plans[i].lock);
		init_waitqueue_head(&mock.plans[i].wait);
	}
}

static bool window_hit(struct mock_window *w)
{
	if (!w->count)
		return false;
	if (w->skip) {
		w->skip--;
		return false;
	}
	if (w->count != MOCK_FOREVER)
		w->count--;
	return true;
}

static bool is_destroy(enum mock_verb verb)
{
	switch (verb) {
	case MOCK_DEALLOC_PD:
	case MOCK_DESTROY_CQ:
	case MOCK_DESTROY_QP:
	case MOCK_DESTROY_SRQ:
	case MOCK_DESTROY_AH:
	case MOCK_DEREG_MR:
	case MOCK_DETACH_MCAST:
		return true;
	default:
		return false;
	}
}

/* Callers have bottom halves off, or are inside an RCU section. */
static bool is_atomic(enum mock_verb verb)
{
	return verb == MOCK_POST_SEND;
}

static void stall(struct mock_plan *plan, u32 wakes)
{
	ktime_t end = ktime_add_ms(ktime_get(), MOCK_STALL_MS);

	while (READ_ONCE(plan->wakes) == wakes && ktime_before(ktime_get(), end))
		udelay(5);
}

/**
 * mock_call - a verb begins
 * @verb: which
 *
 * Context: that of the verb. May sleep if a test said so.
 * Return: 0, or the errno, negative, with which it is to fail.
 */
int mock_call(enum mock_verb verb)
{
	struct mock_plan *plan = &mock.plans[verb];
	unsigned long flags;
	bool fail, sleep;
	u32 wakes;
	int err;

	atomic_inc(&plan->calls);
	if (READ_ONCE(mock.cleaning))
		return 0;
	if (READ_ONCE(mock.gone)) {
		atomic_inc(&mock.late);
		mock_error("%s after removal", mock_verb_names[verb]);
		return -ENODEV;
	}
	spin_lock_irqsave(&plan->lock, flags);
	sleep = window_hit(&plan->sleep);
	wakes = plan->wakes;
	fail = window_hit(&plan->fail);
	err = plan->err;
	spin_unlock_irqrestore(&plan->lock, flags);
	if (sleep) {
		atomic_inc(&plan->sleeping);
		if (is_atomic(verb))
			stall(plan, wakes);
		else
			wait_event(plan->wait, READ_ONCE(plan->wakes) != wakes);
		atomic_dec(&plan->sleeping);
	}
	if (!fail || (READ_ONCE(mock.relent) && is_destroy(verb)))
		return 0;
	atomic_inc(&plan->failed);
	return -err;
}

static void wake(struct mock_plan *plan)
{
	spin_lock_irq(&plan->lock);
	plan->sleep = (struct mock_window){};
	WRITE_ONCE(plan->wakes, plan->wakes + 1);
	spin_unlock_irq(&plan->lock);
	wake_up_all(&plan->wait);
}

/* The device is about to go for good: nobody may be kept. */
void mock_wake_all(void)
{
	int i;

	for (i = 0; i < MOCK_NUM_VERBS; i++)
		wake(&mock.plans[i]);
}

/**
 * mock_plan_reset - no call fails or sleeps any more; counts begin again
 * @verb: of which verb
 */
void mock_plan_reset(enum mock_verb verb)
{
	struct mock_plan *plan = &mock.plans[verb];

	spin_lock_irq(&plan->lock);
	plan->fail = (struct mock_window){};
	spin_unlock_irq(&plan->lock);
	wake(plan);
	atomic_set(&plan->calls, 0);
	atomic_set(&plan->failed, 0);
}

/**
 * mock_plan_write - a test says what is to happen
 * @verb: to calls of which verb
 * @text: what
 *
 * Return: 0 or a negative errno.
 */
int mock_plan_write(enum mock_verb verb, const char *text)
{
	struct mock_plan *plan = &mock.plans[verb];
	struct mock_window w = { .count = 1 };
	char word[8];
	int err = 0;
	int n;

	n = sscanf(text, "%7s", word);
	if (n != 1)
		return -EINVAL;
	if (!strcmp(word, "wake")) {
		wake(plan);
		return 0;
	}
	if (!strcmp(word, "reset")) {
		mock_plan_reset(verb);
		return 0;
	}
	if (!strcmp(word, "fail")) {
		n = sscanf(text, "fail %d %u %u", &err, &w.count, &w.skip);
		if (n < 1 || err < 1 || err > MAX_ERRNO)
			return -EINVAL;
	} else if (!strcmp(word, "sleep")) {
		n = sscanf(text, "sleep %u %u", &w.count, &w.skip);
		if (n < 0)
			return -EINVAL;
	} else {
		return -EINVAL;
	}
	if (!w.count)
		w.count = MOCK_FOREVER;
	spin_lock_irq(&plan->lock);
	if (err) {
		plan->fail = w;
		plan->err = err;
	} else {
		plan->sleep = w;
	}
	spin_unlock_irq(&plan->lock);
	return 0;
}
