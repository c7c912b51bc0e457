// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sends: from the ring to the driver; and those that come early, which wait in
 * the ring.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/bottom_half.h>
#include <linux/delay.h>
#include "../core/txn.h"
#include "../objects/conn.h"
#include "post.h"

/* Bytes of a chain, see XV_CHAIN. */
#define XV_CHAIN_BYTES	(256U << 10)

static void copy_send(struct xv_send *e, const struct xv_qp *qp, u32 number)
{
	memcpy(e, &qp->sends[number & qp->sq.mask], sizeof(*e));
	/* The copy is what counts: nothing may be fetched again. */
	barrier();
}

/*
 * Build a chain from entry number @q->posted on. Stops before an entry that is
 * bad, which @reason then tells.
 */
static u32 build_sends(struct xv_qp *qp, union xv_scratch *scratch, u32 max,
		       u16 *reason, struct xv_send *entry)
{
	struct xv_queue *q = &qp->sq;
	u64 total = 0;
	u32 n;

	*reason = 0;
	rcu_read_lock();
	for (n = 0; n < max && n < XV_CHAIN && total < XV_CHAIN_BYTES; n++) {
		struct xv_send_wr *w = &scratch->sends[n];
		struct xv_shadow *shadow;
		u64 bytes = 0;

		copy_send(entry, qp, q->posted + n);
		*reason = xv_build_send(qp, entry, w, &bytes);
		if (*reason)
			break;
		total += bytes;
		shadow = &q->slots[(q->posted + n) & q->mask];
		shadow->wr_id = entry->wr_id;
		shadow->opcode = entry->opcode;
		shadow->flags = entry->flags & XV_SEND_SIGNALED || qp->sig_all ?
				XV_SHADOW_TELL : 0;
		w->wr.wr_id = xv_post_wr_id(qp, q, q->posted + n);
		/* Slots must come back even if the user wants to see none. */
		if (shadow->flags || ++q->unsignaled >= DIV_ROUND_UP(q->depth, 2))
			w->wr.send_flags |= IB_SEND_SIGNALED;
		if (w->wr.send_flags & IB_SEND_SIGNALED)
			q->unsignaled = 0;
		if (n)
			scratch->sends[n - 1].wr.next = &w->wr;
	}
	rcu_read_unlock();
	return n;
}

static int driver_post_send(struct xv_qp *qp, const struct ib_send_wr *first,
			    const struct ib_send_wr **bad)
{
	u32 tries = XV_POST_TRIES;
	int ret;

	do {
		*bad = first;
		local_bh_disable();
		ret = ib_post_send(qp->ibqp, first, bad);
		local_bh_enable();
		first = *bad;
		if (ret != -ENOTCONN || qp->type != XV_QPT_RC)
			break;
		usleep_range(20, 50);
	} while (--tries);
	return ret;
}

/* Give a chain to the driver; tells how many it took. */
static u32 post_send_chain(struct xv_qp *qp, union xv_scratch *scratch, u32 n)
{
	struct xv_queue *q = &qp->sq;
	const struct ib_send_wr *bad;
	u32 taken = n;

	/* A completion may come before the call returns. */
	WRITE_ONCE(q->posted, q->posted + n);
	if (driver_post_send(qp, &scratch->sends[0].wr, &bad)) {
		taken = container_of(bad, struct xv_send_wr, wr) -
			scratch->sends;
		WRITE_ONCE(q->posted, q->posted - (n - taken));
	}
	return taken;
}

/* Build and post a chain of the next @max entries at most, as post_sends(). */
static u32 post_sends_once(struct xv_qp *qp, union xv_scratch *scratch, u32 max,
			   u16 *reason, struct xv_send *entry)
{
	u32 n = build_sends(qp, scratch, max, reason, entry);
	u32 taken;

	if (!n)
		return 0;
	/*
	 * The last of a chain tells that its slots are free: whether another
	 * chain follows is not known yet.
	 */
	scratch->sends[n - 1].wr.send_flags |= IB_SEND_SIGNALED;
	qp->sq.unsignaled = 0;
	taken = post_send_chain(qp, scratch, n);
	if (taken < n) {
		/* That one was not taken, so the next one tells. */
		qp->sq.unsignaled = qp->sq.depth;
		*reason = XV_R_DRIVER;
		copy_send(entry, qp, qp->sq.posted);
	}
	return taken;
}

/* The driver gets pointers to address handles, which RCU keeps. */
static u32 post_datagrams_once(struct xv_qp *qp, union xv_scratch *scratch,
			       u32 max, u16 *reason, struct xv_send *entry)
{
	u32 taken;

	rcu_read_lock();
	taken = post_sends_once(qp, scratch, max, reason, entry);
	rcu_read_unlock();
	return taken;
}

/*
 * Post up to @max entries. Returns how many were posted; fewer if one is bad
 * or the driver stops, as @reason then tells; @entry is a bad one's copy.
 */
static u32 post_sends(struct xv_qp *qp, union xv_scratch *scratch, u32 max,
		      u16 *reason, struct xv_send *entry)
{
	u32 done = 0;

	do {
		if (qp->type == XV_QPT_UD)
			done += post_datagrams_once(qp, scratch, max - done,
						    reason, entry);
		else
			done += post_sends_once(qp, scratch, max - done,
						reason, entry);
		cond_resched();
	} while (!*reason && done < max);
	return done;
}

/**
 * xv_qp_flush_early - end the entries that waited for RTS
 * @qp: the queue pair, with the ring mutex held, in ERR
 */
void xv_qp_flush_early(struct xv_qp *qp)
{
	struct xv_queue *q = &qp->sq;
	struct xv_send entry;

	lockdep_assert_held(&qp->lock);
	while (q->posted != q->taken) {
		copy_send(&entry, qp, q->posted);
		xv_queue_complete(q, qp, entry.wr_id, entry.opcode,
				  XV_WC_FLUSH_ERR);
		cond_resched();
	}
}

static u8 early_status(struct xv_qp *qp, const struct xv_send *e, u16 reason)
{
	if (reason == XV_R_DRIVER)
		return XV_WC_GENERAL_ERR;
	return xv_build_blames_piece(qp, e, reason) ? XV_WC_LOC_PROT_ERR :
					     XV_WC_LOC_QP_OP_ERR;
}

static void fail_early(struct xv_qp *qp, u16 reason,
		       const struct xv_send *entry)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	u8 status = early_status(qp, entry, reason);

	xv_queue_complete(&qp->sq, qp, entry->wr_id, entry->opcode, status);
	/* As on hardware: a bad request ends a reliable connection. */
	xv_qp_note_failed(qp);
	/* Before ERR, of which siw tells as if the peer had gone. */
	if (READ_ONCE(qp->conn))
		xv_conn_failed(qp, status);
	ib_modify_qp(qp->ibqp, &attr, IB_QP_STATE);
	xv_qp_flush_early(qp);
}

static void post_early(struct xv_qp *qp, union xv_scratch *scratch)
{
	struct xv_queue *q = &qp->sq;
	struct xv_send entry;
	u16 reason = 0;

	if (q->posted == q->taken)
		return;
	post_sends(qp, scratch, q->taken - q->posted, &reason, &entry);
	if (reason)
		fail_early(qp, reason, &entry);
}

/**
 * xv_qp_post_early - post the entries that waited for RTS
 * @qp: the queue pair, with the ring mutex held, in RTS
 *
 * They go before any later one. A bad one ends with an error in its place, and
 * the queue pair with it.
 */
void xv_qp_post_early(struct xv_qp *qp)
{
	union xv_scratch *scratch;

	lockdep_assert_held(&qp->lock);
	if (qp->sq.posted == qp->sq.taken)
		return;
	/* Commit may not fail, and this is one page. */
	scratch = xv_scratch_get(qp->uobj.file,
				 GFP_KERNEL_ACCOUNT | __GFP_NOFAIL);
	post_early(qp, scratch);
	xv_scratch_put(qp->uobj.file, scratch);
}

/**
 * xv_qp_early - the state has changed: what becomes of the early sends, and who
 *	has to know?
 * @qp: the queue pair, with the ring mutex held
 */
void xv_qp_early(struct xv_qp *qp)
{
	if (xv_qp_can_send(qp))
		xv_qp_post_early(qp);
	if (xv_qp_state(qp) == XV_QPS_ERR) {
		xv_qp_flush_early(qp);
		xv_queue_failed(&qp->sq);
		xv_queue_failed(&qp->rq);
	}
	xv_qp_check_room(qp);
}

/**
 * xv_qp_work - xv_qp_early() for those who can not
 * @work: the work item
 */
void xv_qp_work(struct work_struct *work)
{
	struct xv_qp *qp = container_of(work, struct xv_qp, work);

	mutex_lock(&qp->lock);
	if (!qp->dead)
		xv_qp_early(qp);
	mutex_unlock(&qp->lock);
	xv_uobj_put(&qp->uobj);
}

/*
 * Slots are taken before anything is posted: a reaper looks for room without
 * the ring mutex, and must not count those as free.
 */
static void take(struct xv_queue *q, u32 num)
{
	WRITE_ONCE(q->taken, q->taken + num);
}

/**
 * xv_qp_submit_sends - consume entries of the send ring
 * @qp: the queue pair, with the ring mutex held
 * @scratch: room for a chain
 * @what: how many; how many were is filled in
 *
 * Return: 0 or the reason why it were not all.
 */
u16 xv_qp_submit_sends(struct xv_qp *qp, union xv_scratch *scratch,
		       struct xv_enter_qp *what)
{
	struct xv_queue *q = &qp->sq;
	struct xv_send entry;
	u16 reason = 0;
	u32 max, i;

	if (what->num_send > xv_queue_free(q))
		xv_cq_reap_now(q->cq);
	max = min(what->num_send, xv_queue_free(q));
	switch (xv_qp_state(qp)) {
	case XV_QPS_RESET:
		return XV_R_STATE;
	case XV_QPS_INIT:
	case XV_QPS_RTR:
		take(q, max);
		what->sends_taken = max;
		break;
	case XV_QPS_RTS:
		if (READ_ONCE(qp->hold_sends)) {
			take(q, max);
			what->sends_taken = max;
			break;
		}
		post_early(qp, scratch);
		if (xv_qp_state(qp) == XV_QPS_RTS) {
			take(q, max);
			what->sends_taken = post_sends(qp, scratch, max,
						       &reason, &entry);
			if (what->sends_taken < max) {
				take(q, what->sends_taken - max);
				xv_qp_check_room(qp);
			}
			break;
		}
		fallthrough;
	default:
		xv_qp_flush_early(qp);
		for (i = 0; i < max; i++) {
			copy_send(&entry, qp, q->taken);
			take(q, 1);
			xv_queue_complete(q, qp, entry.wr_id, entry.opcode,
					  XV_WC_FLUSH_ERR);
		}
		what->sends_taken = max;
	}
	if (!reason && what->sends_taken < what->num_send)
		reason = XV_R_QUEUE_FULL;
	return reason;
}
