// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Notifications: what is asked of the driver, and who is woken by it.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * The driver's completion handler may be called with locks of the driver held:
 * it only wakes and queues. The CQ's work item reaps if nobody is in ENTER, or
 * nobody who would tell the event queue.
 */
#include <linux/sched.h>
#include "../core/txn.h"
#include "reap.h"

/**
 * xv_cq_arm - ask the driver for a notification
 * @cq: the CQ, its mutex held
 * @what: of what
 *
 * Return: 0; positive if completions came meanwhile, and may not be notified;
 * or what the driver answered, negative: it will not notify.
 */
int xv_cq_arm(struct xv_cq *cq, enum xv_watch what)
{
	lockdep_assert_held(&cq->lock);
	if (!cq->ibcq)
		return 0;
	/*
	 * rxe does not notify the errors of sends, nor from 6.5 on those of
	 * receives, as the specification has it: where there are only sends, or
	 * errors, we look at each completion ourselves. And what somebody else
	 * has asked for is not taken back.
	 */
	if (!cq->recv_depth || cq->num_failed ||
	    atomic_read(&cq->armed) == XV_WATCH_ANY)
		what = XV_WATCH_ANY;
	atomic_set(&cq->armed, what);
	cq->was_armed = true;
	return ib_req_notify_cq(cq->ibcq, (what == XV_WATCH_ANY ?
					   IB_CQ_NEXT_COMP : IB_CQ_SOLICITED) |
				IB_CQ_REPORT_MISSED_EVENTS);
}

/**
 * xv_cq_want_event - the user arms it for an event
 * @cq: the CQ, its mutex held
 * @what: for what; if it is armed for more already, that stays
 */
void xv_cq_want_event(struct xv_cq *cq, enum xv_watch what)
{
	lockdep_assert_held(&cq->lock);
	if (what <= cq->want_event)
		return;
	WRITE_ONCE(cq->hit, false);
	WRITE_ONCE(cq->want_event, what);
}

static void queue_reap(struct xv_cq *cq)
{
	/* The work item has its own reference, dropped when it has run. */
	if (!READ_ONCE(cq->want_event) && !READ_ONCE(cq->auto_reap))
		return;
	if (READ_ONCE(cq->dead) || !kref_get_unless_zero(&cq->uobj.ref))
		return;
	if (!queue_work(xv_wq, &cq->work))
		xv_uobj_put(&cq->uobj);
}

/**
 * xv_cq_settle - what is to be done after reaping
 * @cq: the CQ, its mutex held
 *
 * Raises the completion event if it was asked for, and arms the CQ if somebody
 * who does not call ENTER depends on it. What came meanwhile and may not be
 * notified is left to the work item.
 */
void xv_cq_settle(struct xv_cq *cq)
{
	enum xv_watch watch;

	lockdep_assert_held(&cq->lock);
	if (xv_cq_ready(cq) && (cq->want_event == XV_WATCH_ANY ||
				(cq->want_event && READ_ONCE(cq->hit)))) {
		WRITE_ONCE(cq->want_event, XV_WATCH_NOTHING);
		xv_event_raise(&cq->events, XV_EV_COMPLETION);
	}
	watch = cq->auto_reap ? XV_WATCH_ANY : cq->want_event;
	if (watch && xv_cq_arm(cq, watch) > 0)
		queue_reap(cq);
}

/**
 * xv_cq_handler - the driver's notification
 * @ibcq: the hardware object
 * @context: our CQ
 *
 * Context: any; with locks of the driver held: calls no verb.
 */
void xv_cq_handler(struct ib_cq *ibcq, void *context)
{
	struct xv_cq *cq = context;

	if (atomic_xchg(&cq->armed, XV_WATCH_NOTHING) == XV_WATCH_SOLICITED)
		WRITE_ONCE(cq->hit, true);
	xv_cq_kick(cq);
}

/**
 * xv_cq_kick - somebody should look at the CQ
 * @cq: the CQ
 *
 * Context: any.
 */
void xv_cq_kick(struct xv_cq *cq)
{
	atomic_inc(&cq->seq);
	if (wq_has_sleeper(&cq->wait))
		wake_up_all(&cq->wait);
	queue_reap(cq);
}

/**
 * xv_cq_work - reap when nobody else does
 * @work: the work item
 */
void xv_cq_work(struct work_struct *work)
{
	struct xv_cq *cq = container_of(work, struct xv_cq, work);

	mutex_lock(&cq->lock);
	cq->found = false;
	xv_cq_reap(cq);
	/*
	 * Notified of any, it may be a solicited one; what an ENTER has reaped
	 * its caller knows of.
	 */
	if (cq->found)
		WRITE_ONCE(cq->hit, true);
	xv_cq_settle(cq);
	mutex_unlock(&cq->lock);
	xv_uobj_put(&cq->uobj);
}
