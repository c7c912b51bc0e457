// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reaping: completions from the driver to the user's ring.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Who reaps: the caller of ENTER, or the CQ's work item when an event queue
 * wants to know or when the kernel itself has to. Both hold the CQ mutex, which
 * covers polling, translating and publishing.
 *
 * A queue pair is found by its handle in wr_id. What wc->qp points to is never
 * looked at, since software devices leave entries of destroyed queue pairs
 * behind; how the queue pair of an SRQ's receive is found stands in srq.c.
 */
#include "../core/txn.h"
#include "../objects/conn.h"
#include "reap.h"

#define XV_POLL_BATCH	16

/**
 * struct xv_reaper - one pass
 * @cq: the CQ, its mutex held
 * @room: free entries of the user's ring; its index is read once
 */
struct xv_reaper {
	struct xv_cq *cq;
	u32 room;
};

/**
 * xv_cq_ready - completions that lie in the user's ring
 * @cq: the CQ
 *
 * The user's index is not trusted: the answer is at most the size of the ring.
 *
 * Return: their number.
 */
u32 xv_cq_ready(const struct xv_cq *cq)
{
	/* Pairs with put_ring(): the user, too, sees what is counted here. */
	u32 used = smp_load_acquire(&cq->tail) - READ_ONCE(cq->ring->head);

	return min(used, cq->mask + 1);
}

static void reaper_begin(struct xv_reaper *r, struct xv_cq *cq)
{
	lockdep_assert_held(&cq->lock);
	r->cq = cq;
	r->room = cq->mask + 1 - xv_cq_ready(cq);
}

static void reaper_end(struct xv_reaper *r)
{
	struct xv_cq *cq = r->cq;

	if (cq->overflow && !cq->held_num) {
		cq->overflow = false;
		/*
		 * A user who finds the ring empty and the flag clear believes
		 * that there is nothing: the index must be visible before.
		 */
		smp_store_release(&cq->ring->flags, 0);
	}
}

/**
 * xv_queue_set_done - slots up to here are free
 * @q: the queue, the mutex of its CQ held
 * @qp: its queue pair
 * @done: counts the entries that have ended
 */
void xv_queue_set_done(struct xv_queue *q, struct xv_qp *qp, u32 done)
{
	WRITE_ONCE(q->done, done);
	/* The completion is in the ring before its slot is free. */
	smp_store_release(q->shared_done, done);
	if (!q->recv)
		xv_qp_check_room_locked(qp);
}

static void put_ring(struct xv_reaper *r, const struct xv_wc *wc)
{
	struct xv_cq *cq = r->cq;
	u32 tail = cq->tail;

	cq->entries[tail & cq->mask] = *wc;
	/* The entry is written before the user sees the index. */
	smp_store_release(&cq->ring->tail, tail + 1);
	/* Pairs with xv_cq_ready(), which others call meanwhile. */
	smp_store_release(&cq->tail, tail + 1);
	r->room--;
}

static bool is_new(const struct xv_qp *qp)
{
	return READ_ONCE(qp->uobj.state) == XV_S_NEW;
}

/*
 * A completion must not name a handle that does not answer yet, nor overtake
 * the event that tells of its connection.
 */
static bool must_wait(const struct xv_qp *qp)
{
	return is_new(qp) || READ_ONCE(qp->hold_recvs);
}

/*
 * Hand a completion to the user, or hold it until there is room and its queue
 * pair is published. There is always room to hold it: a slot becomes free only
 * when its completion lies in the ring, and the depths of all queues together
 * fit the array. Returns where it is held, or NULL.
 */
static struct xv_held *put_or_hold(struct xv_reaper *r, const struct xv_qp *qp,
				   const struct xv_wc *wc)
{
	struct xv_cq *cq = r->cq;
	struct xv_held *held;

	/* Its transaction has failed: nobody knows this queue pair. */
	if (is_new(qp) && READ_ONCE(qp->dead))
		return NULL;
	if (r->room && !cq->held_num && !must_wait(qp)) {
		put_ring(r, wc);
		return NULL;
	}
	held = &cq->held[(cq->held_first + cq->held_num) % cq->cqe];
	held->wc = *wc;
	held->gen = qp->gen;
	cq->held_num++;
	cq->overflow = true;
	WRITE_ONCE(cq->ring->flags, XV_CQ_OVERFLOW);
	return held;
}

static void emit(struct xv_reaper *r, struct xv_queue *q, struct xv_qp *qp,
		 const struct xv_wc *wc)
{
	struct xv_held *held = put_or_hold(r, qp, wc);

	if (!held)
		return;
	held->srq = NULL;
	held->done = q->polled;
	q->held++;
}

static void emit_shared(struct xv_reaper *r, struct xv_srq *srq, u16 slot,
			const struct xv_qp *qp, const struct xv_wc *wc)
{
	struct xv_held *held = put_or_hold(r, qp, wc);

	if (held) {
		held->srq = srq;
		held->done = slot;
	} else {
		xv_srq_free_slot(srq, slot);
	}
}

/*
 * The queue pair behind a completion. It stays as long as the CQ mutex is
 * held: taking it away needs the mutex to clear @attached.
 */
static struct xv_queue *find_queue(struct xv_cq *cq, u32 handle, bool recv,
				   struct xv_qp **qpp)
{
	struct xv_queue *q = NULL;
	struct xv_uobj *obj;
	struct xv_qp *qp;

	rcu_read_lock();
	obj = xa_load(&cq->uobj.file->objs, handle);
	if (obj && obj->type->id == XV_OBJ_QP) {
		qp = xv_to_qp(obj);
		q = recv ? &qp->rq : &qp->sq;
		if (q->cq != cq || !q->attached)
			q = NULL;
		*qpp = qp;
	}
	rcu_read_unlock();
	return q;
}

/*
 * What is held goes first. A queue pair that is not found has been reset, or
 * could not be destroyed: its completions are dropped. To receives of an SRQ a
 * reset means nothing.
 */
static void move_held(struct xv_reaper *r)
{
	struct xv_cq *cq = r->cq;
	struct xv_queue *q;
	struct xv_qp *qp;

	while (cq->held_num && r->room) {
		struct xv_held *held = &cq->held[cq->held_first];

		q = find_queue(cq, held->wc.qp, held->wc.flags & XV_WC_RECV,
			       &qp);
		if (q && !held->srq && qp->gen != held->gen)
			q = NULL;
		if (q && must_wait(qp))
			break;
		if (q) {
			xv_wc_cut(qp, &held->wc);
			put_ring(r, &held->wc);
		}
		if (held->srq) {
			xv_srq_free_slot(held->srq, held->done);
		} else if (q) {
			q->held--;
			xv_queue_set_done(q, qp, q->held ? held->done : q->polled);
		}
		cq->held_first = (cq->held_first + 1) % cq->cqe;
		cq->held_num--;
	}
}

/**
 * xv_queue_drop_held - nobody wants the completions that are held
 * @q: the queue, the mutex of its CQ held
 * @qp: its queue pair
 */
void xv_queue_drop_held(struct xv_queue *q, struct xv_qp *qp)
{
	struct xv_cq *cq = q->cq;
	u32 from, to = 0;

	for (from = 0; from < cq->held_num; from++) {
		u32 src = (cq->held_first + from) % cq->cqe;
		u32 dst = (cq->held_first + to) % cq->cqe;

		if (cq->held[src].wc.qp == qp->uobj.handle &&
		    !(cq->held[src].wc.flags & XV_WC_RECV) == !q->recv) {
			if (cq->held[src].srq)
				xv_srq_free_slot(cq->held[src].srq,
						 cq->held[src].done);
			continue;
		}
		cq->held[dst] = cq->held[src];
		to++;
	}
	cq->held_num = to;
	q->held = 0;
}

/* An entry that was never posted: it ends in its place, as we decided. */
static void emit_ours(struct xv_reaper *r, struct xv_queue *q, struct xv_qp *qp,
		      const struct xv_shadow *shadow)
{
	struct xv_wc wc = {
		.wr_id = shadow->wr_id,
		.qp = qp->uobj.handle,
		.status = shadow->status,
		.opcode = shadow->opcode,
		.flags = q->recv ? XV_WC_RECV : 0,
	};

	q->ours--;
	if (shadow->status != XV_WC_SUCCESS)
		WRITE_ONCE(r->cq->hit, true);
	emit(r, q, qp, &wc);
}

static void emit_driver(struct xv_reaper *r, struct xv_queue *q,
			struct xv_qp *qp, const struct xv_shadow *shadow,
			const struct ib_wc *ibwc)
{
	struct xv_wc wc;

	xv_wc_fill(&wc, shadow->wr_id, qp, ibwc);
	if (q->recv)
		xv_wc_fill_recv(&wc, qp, ibwc);
	else
		wc.opcode = shadow->opcode;
	emit(r, q, qp, &wc);
}

static void follow_ours(struct xv_reaper *r, struct xv_queue *q,
			struct xv_qp *qp)
{
	while (q->ours && q->polled != READ_ONCE(q->posted)) {
		struct xv_shadow *shadow = &q->slots[q->polled & q->mask];

		if (!(shadow->flags & XV_SHADOW_OURS))
			break;
		q->polled++;
		emit_ours(r, q, qp, shadow);
	}
	if (!q->held)
		xv_queue_set_done(q, qp, q->polled);
}

/*
 * A successful receive before RTS or establishment: the peer is there, whoever
 * says so later.
 */
static void note_receive(struct xv_qp *qp)
{
	u8 state = READ_ONCE(qp->state);

	if (READ_ONCE(qp->conn)) {
		if (READ_ONCE(qp->hold_recvs) || READ_ONCE(qp->hold_sends))
			xv_conn_received(qp);
		return;
	}
	/* The driver is in RTR a moment before we say so. */
	if ((state != XV_QPS_INIT && state != XV_QPS_RTR) || qp->comm_est)
		return;
	qp->comm_est = true;
	xv_event_raise(&qp->events, XV_EV_COMM_ESTABLISHED);
}

/*
 * What a receive of an SRQ ended with: has that failed the queue pair? With an
 * unreliable one a message that does not fit ends a receive as an error, and
 * nothing else: it can not be put back.
 */
static bool fails_qp(const struct xv_qp *qp, enum ib_wc_status status)
{
	if (qp->type == XV_QPT_RC)
		return status != IB_WC_SUCCESS;
	return status != IB_WC_SUCCESS && status != IB_WC_REM_INV_REQ_ERR &&
	       status != IB_WC_REM_ACCESS_ERR;
}

static void reap_shared(struct xv_reaper *r, struct xv_srq *srq,
			const struct ib_wc *ibwc)
{
	struct xv_qp *qp = xv_srq_find_qp(r->cq, ibwc->qp);
	u16 slot = ibwc->wr_id & (XV_WRID_RECV - 1);
	struct xv_wc wc;
	u64 wr_id;

	if (qp && qp->srq != srq)
		qp = NULL;
	if (!xv_srq_end(srq, ibwc->wr_id, qp, &wr_id))
		return;
	r->cq->found = true;
	/* The queue pair is being destroyed. */
	if (!qp) {
		xv_srq_free_slot(srq, slot);
		return;
	}
	if (fails_qp(qp, ibwc->status))
		xv_qp_failed(qp, xv_wc_status(ibwc->status));
	else if (ibwc->status == IB_WC_SUCCESS)
		note_receive(qp);
	xv_wc_fill(&wc, wr_id, qp, ibwc);
	xv_wc_fill_recv(&wc, qp, ibwc);
	emit_shared(r, srq, slot, qp, &wc);
}

static void reap_one(struct xv_reaper *r, const struct ib_wc *ibwc)
{
	u16 slot = ibwc->wr_id & (XV_WRID_RECV - 1);
	bool recv = ibwc->wr_id & XV_WRID_RECV;
	struct xv_shadow *shadow;
	struct xv_srq *srq;
	struct xv_queue *q;
	struct xv_qp *qp;
	u32 n;

	srq = recv ? xv_srq_of_cq(r->cq, ibwc->wr_id >> 32) : NULL;
	if (srq) {
		reap_shared(r, srq, ibwc);
		return;
	}
	q = find_queue(r->cq, ibwc->wr_id >> 32, recv, &qp);
	if (!q || qp->gen != (u16)(ibwc->wr_id >> 16))
		return;
	/* Queues complete in order: entries before it have ended well. */
	n = ((slot - q->polled) & q->mask) + 1;
	if (n > READ_ONCE(q->posted) - q->polled)
		return;
	if (recv || ibwc->status != IB_WC_SUCCESS)
		r->cq->found = true;
	if (ibwc->status != IB_WC_SUCCESS)
		xv_qp_failed(qp, xv_wc_status(ibwc->status));
	else if (recv)
		note_receive(qp);
	while (n--) {
		shadow = &q->slots[q->polled & q->mask];
		q->polled++;
		if (shadow->flags & XV_SHADOW_OURS)
			emit_ours(r, q, qp, shadow);
		else if (!n && (shadow->flags & XV_SHADOW_TELL ||
				ibwc->status != IB_WC_SUCCESS))
			emit_driver(r, q, qp, shadow, ibwc);
	}
	follow_ours(r, q, qp);
}

/**
 * xv_cq_reap - move completions from the driver to the user's ring
 * @cq: the CQ, its mutex held
 *
 * Bounded by the depth of the CQ, so that an endless stream of completions
 * does not keep the caller for ever.
 *
 * Context: may sleep.
 */
void xv_cq_reap(struct xv_cq *cq)
{
	struct ib_wc wcs[XV_POLL_BATCH];
	struct xv_reaper r;
	u32 polled = 0;
	int n, i;

	reaper_begin(&r, cq);
	if (cq->held_num)
		move_held(&r);
	if (!cq->ibcq)
		goto out_end;
	do {
		n = ib_poll_cq(cq->ibcq, XV_POLL_BATCH, wcs);
		for (i = 0; i < n; i++)
			reap_one(&r, &wcs[i]);
		polled += XV_POLL_BATCH;
	} while (n == XV_POLL_BATCH && polled < cq->cqe);
out_end:
	reaper_end(&r);
}

/**
 * xv_queue_complete - end the next entry without the driver
 * @q: the queue
 * @qp: its queue pair, with the ring mutex held
 * @wr_id: the user's
 * @opcode: the user's
 * @status: enum xv_wc_status
 *
 * The completion appears in its place, after those of all earlier entries.
 */
void xv_queue_complete(struct xv_queue *q, struct xv_qp *qp, u64 wr_id,
		       u8 opcode, u8 status)
{
	struct xv_cq *cq = q->cq;
	struct xv_shadow *shadow;
	struct xv_reaper r;

	mutex_lock(&cq->lock);
	reaper_begin(&r, cq);
	shadow = &q->slots[q->posted & q->mask];
	shadow->wr_id = wr_id;
	shadow->opcode = opcode;
	shadow->status = status;
	shadow->flags = XV_SHADOW_TELL | XV_SHADOW_OURS;
	q->ours++;
	WRITE_ONCE(q->posted, q->posted + 1);
	follow_ours(&r, q, qp);
	reaper_end(&r);
	mutex_unlock(&cq->lock);
	xv_cq_kick(cq);
}
