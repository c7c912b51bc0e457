// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reaping: completions from the driver to the user's ring.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Who reaps: the caller of ENTER, or the CQ's work item when an event queue
 * wants to know or when the kernel itself has to. Both hold the CQ mutex, which
 * covers polling, translating and publishing. The driver's completion handler,
 * which may be called with locks of the driver held, only wakes and queues.
 *
 * A queue pair is found by its handle in wr_id. What wc->qp points to is never
 * looked at, since software devices leave entries of destroyed queue pairs
 * behind; how the queue pair of an SRQ's receive is found stands in srq.c.
 */
#include <linux/sched.h>
#include "../core/txn.h"
#include "../objects/conn.h"
#include "../trace.h"
#include "data.h"

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

/* For a reason of its own: the CQ mutex is held. */
static void queue_auto(struct xv_queue *q, u8 why, bool on)
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

/* Does the watch for free slots end now, one way or the other? */
static void check_room(struct xv_qp *qp)
{
	struct xv_room room = qp->room;

	lockdep_assert_held(&qp->sq.cq->lock);
	if (!room.slots)
		return;
	if (xv_qp_can_send(qp) && xv_queue_free(&qp->sq) >= room.slots)
		xv_event_raise_as(&qp->events, XV_EV_ROOM, room.cookie);
	else if (xv_qp_state(qp) != XV_QPS_ERR)
		return;
	qp->room.slots = 0;
	queue_auto(&qp->sq, XV_AUTO_ROOM, false);
}

static void set_done(struct xv_queue *q, struct xv_qp *qp, u32 done)
{
	WRITE_ONCE(q->done, done);
	/* The completion is in the ring before its slot is free. */
	smp_store_release(q->shared_done, done);
	if (!q->recv)
		check_room(qp);
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

/* What came on a connection that was never established did not come. */
static void cut_receive(const struct xv_qp *qp, struct xv_wc *wc)
{
	if (!(wc->flags & XV_WC_RECV) || !READ_ONCE(qp->cut))
		return;
	wc->status = XV_WC_FLUSH_ERR;
	wc->flags = XV_WC_RECV;
	wc->byte_len = 0;
	wc->imm_data = 0;
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
			cut_receive(qp, &held->wc);
			put_ring(r, &held->wc);
		}
		if (held->srq) {
			xv_srq_free_slot(held->srq, held->done);
		} else if (q) {
			q->held--;
			set_done(q, qp, q->held ? held->done : q->polled);
		}
		cq->held_first = (cq->held_first + 1) % cq->cqe;
		cq->held_num--;
	}
}

static u8 wc_status(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_SUCCESS:
		return XV_WC_SUCCESS;
	case IB_WC_LOC_LEN_ERR:
		return XV_WC_LOC_LEN_ERR;
	case IB_WC_LOC_QP_OP_ERR:
		return XV_WC_LOC_QP_OP_ERR;
	case IB_WC_LOC_PROT_ERR:
		return XV_WC_LOC_PROT_ERR;
	case IB_WC_WR_FLUSH_ERR:
		return XV_WC_FLUSH_ERR;
	case IB_WC_REM_INV_REQ_ERR:
		return XV_WC_REM_INV_REQ_ERR;
	case IB_WC_REM_ACCESS_ERR:
		return XV_WC_REM_ACCESS_ERR;
	case IB_WC_REM_OP_ERR:
		return XV_WC_REM_OP_ERR;
	case IB_WC_RETRY_EXC_ERR:
		return XV_WC_RETRY_EXC_ERR;
	case IB_WC_RNR_RETRY_EXC_ERR:
		return XV_WC_RNR_RETRY_EXC_ERR;
	default:
		return XV_WC_GENERAL_ERR;
	}
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

static u8 net_type(const struct ib_wc *ibwc)
{
	if (!(ibwc->wc_flags & IB_WC_WITH_NETWORK_HDR_TYPE))
		return 0;
	switch (ibwc->network_hdr_type) {
	case RDMA_NETWORK_ROCE_V1:
		return XV_GID_ROCE_V1;
	case RDMA_NETWORK_IPV4:
		return XV_NET_IPV4;
	case RDMA_NETWORK_IPV6:
		return XV_NET_IPV6;
	default:
		return 0;
	}
}

static void fill_datagram(struct xv_wc *wc, const struct ib_wc *ibwc)
{
	wc->src_qp = ibwc->src_qp;
	wc->slid = ibwc->slid;
	wc->sl = ibwc->sl;
	wc->net_type = net_type(ibwc);
	if (ibwc->wc_flags & IB_WC_GRH)
		wc->flags |= XV_WC_GRH;
}

static void fill_recv(struct xv_wc *wc, const struct xv_qp *qp,
		      const struct ib_wc *ibwc)
{
	wc->flags = XV_WC_RECV;
	if (ibwc->status != IB_WC_SUCCESS)
		return;
	if (ibwc->wc_flags & IB_WC_WITH_IMM) {
		wc->flags |= XV_WC_WITH_IMM;
		wc->imm_data = (__force u32)ibwc->ex.imm_data;
	}
	if (ibwc->opcode == IB_WC_RECV_RDMA_WITH_IMM)
		wc->flags |= XV_WC_RDMA;
	if (qp->type == XV_QPT_UD)
		fill_datagram(wc, ibwc);
	cut_receive(qp, wc);
}

static void fill_wc(struct xv_wc *wc, u64 wr_id, const struct xv_qp *qp,
		    const struct ib_wc *ibwc)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = wr_id;
	wc->qp = qp->uobj.handle;
	wc->status = wc_status(ibwc->status);
	/* Of an error only status and vendor_err are valid. */
	if (ibwc->status == IB_WC_SUCCESS)
		wc->byte_len = ibwc->byte_len;
	else
		wc->vendor_err = ibwc->vendor_err;
}

static void emit_driver(struct xv_reaper *r, struct xv_queue *q,
			struct xv_qp *qp, const struct xv_shadow *shadow,
			const struct ib_wc *ibwc)
{
	struct xv_wc wc;

	fill_wc(&wc, shadow->wr_id, qp, ibwc);
	if (q->recv)
		fill_recv(&wc, qp, ibwc);
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
		set_done(q, qp, q->polled);
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
		xv_qp_failed(qp, wc_status(ibwc->status));
	else if (ibwc->status == IB_WC_SUCCESS)
		note_receive(qp);
	fill_wc(&wc, wr_id, qp, ibwc);
	fill_recv(&wc, qp, ibwc);
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
		xv_qp_failed(qp, wc_status(ibwc->status));
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

/* ---- queues ---- */

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

static void drop_held(struct xv_queue *q, struct xv_qp *qp)
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
	queue_auto(q, XV_AUTO_RTR | XV_AUTO_CONN | XV_AUTO_ROOM, false);
	if (!q->recv)
		qp->room.slots = 0;
	drop_held(q, qp);
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
	drop_held(q, qp);
	q->posted = q->taken;
	q->polled = q->taken;
	q->ours = 0;
	q->unsignaled = 0;
	set_done(q, qp, q->taken);
out_unlock:
	mutex_unlock(&q->cq->lock);
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

/* ---- queue pairs ---- */

/* Early sends are posted or flushed by a work item; the caller is anywhere. */
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
	queue_auto(q, why, on);
	mutex_unlock(&q->cq->lock);
	if (on)
		xv_cq_kick(q->cq);
}

/**
 * xv_qp_watch_room - tell when slots of the send queue are free
 * @qp: the queue pair
 * @slots: so many, at most its depth; 0 cancels
 * @cookie: of the event
 *
 * At once if they are, and the queue pair can send. One watch a queue pair:
 * a later one replaces it.
 *
 * Context: may sleep.
 * Return: 0 or the reason why not.
 */
u16 xv_qp_watch_room(struct xv_qp *qp, u32 slots, u64 cookie)
{
	struct xv_cq *cq = qp->sq.cq;

	if (slots > qp->sq.depth)
		return XV_R_RANGE;
	if (!qp->events.q)
		return XV_R_NO_EVENTQ;
	if (slots && xv_qp_state(qp) == XV_QPS_ERR)
		return XV_R_STATE;
	mutex_lock(&cq->lock);
	qp->room.slots = slots;
	qp->room.cookie = cookie;
	queue_auto(&qp->sq, XV_AUTO_ROOM, slots);
	if (slots) {
		/* What has ended already frees slots without a notification. */
		xv_cq_reap(cq);
		check_room(qp);
		xv_cq_settle(cq);
	}
	mutex_unlock(&cq->lock);
	return 0;
}

/**
 * xv_qp_check_room - the state has changed: can it send, has it failed?
 * @qp: the queue pair
 *
 * Context: may sleep.
 */
void xv_qp_check_room(struct xv_qp *qp)
{
	if (!READ_ONCE(qp->room.slots))
		return;
	mutex_lock(&qp->sq.cq->lock);
	check_room(qp);
	mutex_unlock(&qp->sq.cq->lock);
}
