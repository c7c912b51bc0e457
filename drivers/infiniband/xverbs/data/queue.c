// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queues: their share of a CQ, from attaching to release.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include "../objects/conn.h"
#include "reap.h"

/**
 * xv_queue_set_auto - as xv_queue_auto_reap(), and nobody is woken
 * @q: the queue, the mutex of its CQ held
 * @why: XV_AUTO_*
 * @on: yes or no
 */
void xv_queue_set_auto(struct xv_queue *q, u8 why, bool on)
{
	struct xv_cq *cq = q->cq;
	bool before = q->auto_reap;

	lockdep_assert_held(&cq->lock);
	if (on)
		q->auto_reap |= why;
	else
		q->auto_reap &= ~why;
	if (before != !!q->auto_reap)
		WRITE_ONCE(cq->auto_reap, cq->auto_reap + (before ? -1 : 1));
}

/**
 * xv_queue_attach - reserve room for all completions of a queue
 * @q: the queue
 *
 * Return: 0, or -ENOSPC if the CQ could overrun.
 */
int xv_queue_attach(struct xv_queue *q)
{
	struct xv_cq *cq = q->cq;
	int ret = 0;

	mutex_lock(&cq->lock);
	if (cq->attached + q->depth > cq->cqe) {
		ret = -ENOSPC;
	} else {
		cq->attached += q->depth;
		cq->recv_depth += q->recv ? q->depth : 0;
		q->attached = true;
	}
	mutex_unlock(&cq->lock);
	return ret;
}

/* Something that others stood behind has gone, or may go now. */
static bool move_on(struct xv_cq *cq)
{
	u32 tail = cq->tail;

	if (cq->overflow)
		xv_cq_reap(cq);
	return cq->tail != tail;
}

/**
 * xv_queue_failed - its queue pair has failed: what completes now are errors
 * @q: the queue
 *
 * Context: may sleep.
 */
void xv_queue_failed(struct xv_queue *q)
{
	struct xv_cq *cq = q->cq;
	bool news;

	mutex_lock(&cq->lock);
	news = q->attached && !q->failed;
	if (news) {
		q->failed = true;
		cq->num_failed++;
	}
	mutex_unlock(&cq->lock);
	/* Who waits for errors has not asked the driver for all of these. */
	if (news)
		xv_cq_kick(cq);
}

static void forget_failure(struct xv_queue *q)
{
	lockdep_assert_held(&q->cq->lock);
	if (q->failed)
		q->cq->num_failed--;
	q->failed = false;
}

/**
 * xv_queue_detach - completions of the queue are dropped from now on
 * @q: the queue
 * @qp: its queue pair
 */
void xv_queue_detach(struct xv_queue *q, struct xv_qp *qp)
{
	struct xv_cq *cq = q->cq;
	bool moved;

	mutex_lock(&cq->lock);
	xv_cq_reap(cq);
	q->attached = false;
	if (q->recv && qp->srq)
		xv_srq_remove_qp(qp);
	xv_queue_set_auto(q, XV_AUTO_RTR | XV_AUTO_CONN | XV_AUTO_ROOM, false);
	if (!q->recv)
		qp->room.slots = 0;
	xv_queue_drop_held(q, qp);
	moved = move_on(cq);
	mutex_unlock(&cq->lock);
	if (moved)
		xv_cq_kick(cq);
}

/**
 * xv_queue_release - give back the room of a queue
 * @q: a detached queue whose hardware is gone
 *
 * The driver may have left completions behind: they are polled out before the
 * room is given to somebody else.
 */
void xv_queue_release(struct xv_queue *q)
{
	mutex_lock(&q->cq->lock);
	xv_cq_reap(q->cq);
	q->cq->attached -= q->depth;
	q->cq->recv_depth -= q->recv ? q->depth : 0;
	forget_failure(q);
	mutex_unlock(&q->cq->lock);
}

/**
 * xv_queue_drain - have all posted entries ended?
 * @q: the queue, in a state in which they all end soon
 *
 * Return: true if they have.
 */
bool xv_queue_drain(struct xv_queue *q)
{
	bool done;

	mutex_lock(&q->cq->lock);
	xv_cq_reap(q->cq);
	done = q->polled == q->posted;
	mutex_unlock(&q->cq->lock);
	return done;
}

/**
 * xv_queue_restart - forget all entries
 * @q: the queue; its driver has forgotten them, and the generation is a new one
 * @qp: its queue pair, with the ring mutex held
 */
void xv_queue_restart(struct xv_queue *q, struct xv_qp *qp)
{
	mutex_lock(&q->cq->lock);
	/* What the driver has left of them takes no room from the next ones. */
	xv_cq_reap(q->cq);
	forget_failure(q);
	if (q->recv && qp->srq) {
		/* Receives of an SRQ that have ended belong to the user. */
		xv_srq_restart(qp);
		goto out_unlock;
	}
	xv_queue_drop_held(q, qp);
	q->posted = q->taken;
	q->polled = q->taken;
	q->ours = 0;
	q->unsignaled = 0;
	xv_queue_set_done(q, qp, q->taken);
out_unlock:
	mutex_unlock(&q->cq->lock);
}

/**
 * xv_queue_auto_reap - does the kernel have to reap of its own accord?
 * @q: the queue
 * @why: XV_AUTO_*
 * @on: yes or no
 *
 * Context: may sleep.
 */
void xv_queue_auto_reap(struct xv_queue *q, u8 why, bool on)
{
	mutex_lock(&q->cq->lock);
	xv_queue_set_auto(q, why, on);
	mutex_unlock(&q->cq->lock);
	if (on)
		xv_cq_kick(q->cq);
}

/**
 * xv_qp_queue_work - let a work item post or flush early sends
 * @qp: the queue pair
 *
 * Context: any.
 */
void xv_qp_queue_work(struct xv_qp *qp)
{
	if (READ_ONCE(qp->dead) || !kref_get_unless_zero(&qp->uobj.ref))
		return;
	if (!queue_work(xv_wq, &qp->work))
		xv_uobj_put(&qp->uobj);
}

/**
 * xv_qp_failed - the driver has moved a queue pair to ERR
 * @qp: the queue pair
 * @status: enum xv_wc_status of the completion that tells it; 0: an event does
 *
 * Sends that wait in the ring end now, by a work item, since the caller may
 * hold the CQ mutex or be in any context; and so does the connection.
 */
void xv_qp_failed(struct xv_qp *qp, u8 status)
{
	if (READ_ONCE(qp->failed))
		return;
	xv_qp_note_failed(qp);
	xv_qp_queue_work(qp);
	if (READ_ONCE(qp->conn))
		xv_conn_failed(qp, status);
}

static void let_go(struct xv_cq *cq)
{
	bool moved;

	mutex_lock(&cq->lock);
	moved = move_on(cq);
	mutex_unlock(&cq->lock);
	if (moved)
		xv_cq_kick(cq);
}

/**
 * xv_qp_let_go - let go of the completions that were held
 * @qp: the queue pair, which was published or whose connection is established
 *
 * Context: may sleep.
 */
void xv_qp_let_go(struct xv_qp *qp)
{
	let_go(qp->sq.cq);
	if (qp->rq.cq != qp->sq.cq)
		let_go(qp->rq.cq);
}
