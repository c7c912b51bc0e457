// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ENTER: submit, then reap, then wait, in one call.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * No object lock is taken: objects are looked up under RCU and held by a
 * reference, so traffic never stands in the way of a destroy. A sleeper holds
 * nothing else, and is woken when its CQ goes.
 */
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "../device.h"
#include "data.h"

#define XV_FEW_QPS	4

/**
 * struct xv_entry - an ENTER while it is executed
 * @file: the file
 * @arg: the argument, read once
 * @user: where it lies
 * @qps: its array, read once; results are written here first
 * @few: the array, if it is short
 * @cq: the CQ, held; NULL if none was named
 * @taken: entries consumed
 * @asked: entries that were to be consumed
 * @err: the first errno of a queue pair, positive
 * @watch: what to wait for
 * @deadline: when to stop waiting
 */
struct xv_entry {
	struct xv_file *file;
	struct xv_enter arg;
	struct xv_enter __user *user;
	struct xv_enter_qp *qps;
	struct xv_enter_qp few[XV_FEW_QPS];
	struct xv_cq *cq;
	u64 taken;
	u64 asked;
	int err;
	enum xv_watch watch;
	ktime_t deadline;
};

static int check_args(const struct xv_enter *arg)
{
	if (arg->flags & ~(XV_ENTER_F_ARM | XV_ENTER_F_SOLICITED) ||
	    arg->reserved)
		return -EINVAL;
	if (arg->num_qps > XV_MAX_ENTER_QPS)
		return -E2BIG;
	if (!arg->cq && (arg->min_complete || arg->flags))
		return -EINVAL;
	return 0;
}

static int read_qps(struct xv_entry *e)
{
	void __user *user = u64_to_user_ptr(e->arg.qps);
	size_t size = e->arg.num_qps * sizeof(*e->qps);
	struct mem_cgroup *memcg;
	u32 i;

	e->qps = e->few;
	if (!e->arg.num_qps)
		return 0;
	if (e->arg.num_qps > XV_FEW_QPS) {
		memcg = set_active_memcg(e->file->memcg);
		e->qps = kvmalloc(size, XV_GFP);
		set_active_memcg(memcg);
		if (!e->qps)
			return -ENOMEM;
	}
	if (copy_from_user(e->qps, user, size))
		return -EFAULT;
	for (i = 0; i < e->arg.num_qps; i++) {
		struct xv_enter_qp *qp = &e->qps[i];

		if (qp->flags & 0xffff)
			return -EINVAL;
		qp->sends_taken = 0;
		qp->recvs_taken = 0;
		qp->err = 0;
		qp->reason = 0;
		e->asked += (u64)qp->num_send + qp->num_recv;
	}
	/* A place for results that can not be written is found before work is done. */
	return copy_to_user(user, e->qps, size) ? -EFAULT : 0;
}

static int find_cq(struct xv_entry *e)
{
	struct xv_uobj *obj;

	if (!e->arg.cq)
		return 0;
	obj = xv_uobj_lookup(e->file, e->arg.cq);
	if (!obj)
		return -ENOENT;
	if (obj->type->id != XV_OBJ_CQ) {
		xv_uobj_put(obj);
		return -EINVAL;
	}
	e->cq = xv_to_cq(obj);
	return e->arg.min_complete > e->cq->cqe ? -EINVAL : 0;
}

static void submit_one(struct xv_entry *e, struct xv_enter_qp *what)
{
	struct xv_uobj *obj = xv_uobj_lookup(e->file, what->qp);

	if (!obj) {
		what->err = ENOENT;
		what->reason = XV_R_NO_HANDLE;
	} else if (obj->type->id == XV_OBJ_QP) {
		xv_qp_submit(xv_to_qp(obj), what);
	} else if (obj->type->id == XV_OBJ_SRQ) {
		xv_srq_submit(xv_to_srq(obj), what);
	} else {
		what->err = EINVAL;
		what->reason = XV_R_TYPE;
	}
	if (obj)
		xv_uobj_put(obj);
	e->taken += (u64)what->sends_taken + what->recvs_taken;
	if (what->err && !e->err)
		e->err = what->err;
}

/* Tells whether the caller may sleep until the CQ is notified. */
static int reap_and_arm(struct xv_entry *e, bool sleep, bool *idle)
{
	struct xv_cq *cq = e->cq;
	int missed = 0;

	mutex_lock(&cq->lock);
	xv_cq_reap(cq);
	if (e->arg.flags & XV_ENTER_F_ARM) {
		xv_cq_want_event(cq, e->watch);
		e->arg.flags &= ~XV_ENTER_F_ARM;
	}
	xv_cq_settle(cq);
	if (sleep && xv_cq_ready(cq) < e->arg.min_complete)
		missed = xv_cq_arm(cq, e->watch);
	mutex_unlock(&cq->lock);
	*idle = !missed;
	/* Nobody would wake the caller. */
	return missed < 0 ? -EIO : 0;
}

static bool is_gone(const struct xv_entry *e)
{
	return READ_ONCE(e->file->dev->gone);
}

/* With the device held: everything but sleeping. */
static int work_once(struct xv_entry *e, bool submit, bool sleep, bool *idle)
{
	int ret = 0;
	int idx;
	u32 i;

	*idle = true;
	if (!xv_dev_enter(e->file->dev, &idx)) {
		xv_dev_exit(e->file->dev, idx);
		return -ENODEV;
	}
	for (i = 0; submit && i < e->arg.num_qps; i++) {
		if (fatal_signal_pending(current))
			break;
		submit_one(e, &e->qps[i]);
		cond_resched();
	}
	if (e->cq)
		ret = reap_and_arm(e, sleep && !e->err, idle);
	xv_dev_exit(e->file->dev, idx);
	return ret;
}

static ktime_t time_left(const struct xv_entry *e)
{
	if (e->arg.timeout_ns < 0)
		return KTIME_MAX;
	return ktime_sub(e->deadline, ktime_get());
}

static int sleep_on_cq(struct xv_entry *e, int seq, ktime_t left)
{
	struct xv_cq *cq = e->cq;

	return wait_event_interruptible_hrtimeout(cq->wait,
						  atomic_read(&cq->seq) != seq ||
						  READ_ONCE(cq->dead) ||
						  is_gone(e), left);
}

static int submit_reap_wait(struct xv_entry *e)
{
	bool may_sleep = e->arg.min_complete && e->arg.timeout_ns;
	bool submit = true;
	bool late = false;
	ktime_t left;
	bool idle;
	int ret;

	if (e->arg.timeout_ns > 0)
		e->deadline = ktime_add_safe(ktime_get(), e->arg.timeout_ns);
	for (;;) {
		int seq = e->cq ? atomic_read(&e->cq->seq) : 0;

		ret = work_once(e, submit, may_sleep && !late, &idle);
		if (ret)
			return ret;
		submit = false;
		/* Who was stopped by an error wants to know at once. */
		if (e->err || !e->cq ||
		    xv_cq_ready(e->cq) >= e->arg.min_complete)
			return 0;
		if (!may_sleep || late)
			return -ETIME;
		if (READ_ONCE(e->cq->dead))
			return is_gone(e) ? -ENODEV : -ENOENT;
		if (signal_pending(current))
			return -EINTR;
		/* Also if there is always more that nobody wants to see. */
		left = time_left(e);
		if (left <= 0)
			return -ETIME;
		if (!idle) {
			cond_resched();
			continue;
		}
		ret = sleep_on_cq(e, seq, left);
		if (ret && ret != -ETIME)
			return -EINTR;
		/* What nobody was woken for is still to be counted. */
		late = ret;
		if (late && e->watch == XV_WATCH_ANY)
			return ret;
	}
}

static int write_results(struct xv_entry *e)
{
	void __user *user = u64_to_user_ptr(e->arg.qps);

	if (put_user(e->arg.num_complete, &e->user->num_complete))
		return -EFAULT;
	if (e->arg.num_qps &&
	    copy_to_user(user, e->qps, e->arg.num_qps * sizeof(*e->qps)))
		return -EFAULT;
	return 0;
}

/**
 * xv_enter - the data path
 * @file: the file
 * @user: the argument in user memory
 *
 * Context: process; may sleep.
 * Return: see struct xv_enter.
 */
int xv_enter(struct xv_file *file, struct xv_enter __user *user)
{
	struct xv_entry e = { .file = file, .user = user };
	int ret;

	if (copy_from_user(&e.arg, user, sizeof(e.arg)))
		return -EFAULT;
	ret = check_args(&e.arg);
	if (ret)
		return ret;
	e.watch = e.arg.flags & XV_ENTER_F_SOLICITED ? XV_WATCH_SOLICITED :
						       XV_WATCH_ANY;
	if (put_user(0, &user->num_complete))
		return -EFAULT;
	ret = read_qps(&e);
	if (ret)
		goto out_qps;
	if (is_gone(&e)) {
		ret = -ENODEV;
		goto out_qps;
	}
	ret = find_cq(&e);
	if (ret)
		goto out_cq;
	ret = submit_reap_wait(&e);
	if (e.cq)
		e.arg.num_complete = xv_cq_ready(e.cq);
	if (e.taken || e.arg.num_complete)
		ret = 0;
	else if (!ret)
		ret = -e.err;
	if (write_results(&e) && !ret)
		ret = -EFAULT;
out_cq:
	if (e.cq)
		xv_uobj_put(&e.cq->uobj);
out_qps:
	if (e.qps != e.few)
		kvfree(e.qps);
	return ret;
}
