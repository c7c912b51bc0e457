// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Receives of a queue pair's own: from the ring, or from the call that makes
 * it, to the driver. Those of an SRQ are in srq.c.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/delay.h>
#include "../core/txn.h"
#include "post.h"

static int driver_post_recv(struct xv_qp *qp, const struct ib_recv_wr *first,
			    const struct ib_recv_wr **bad, u32 tries)
{
	int ret;

	do {
		*bad = first;
		ret = ib_post_recv(qp->ibqp, first, bad);
		first = *bad;
		if (ret != -ENOTCONN)
			break;
		usleep_range(20, 50);
	} while (--tries);
	return ret;
}

/* Post receives, from the ring or from @from. */
static u32 post_recvs(struct xv_call *call, struct xv_qp *qp,
		      union xv_scratch *scratch, const struct xv_recv *from,
		      u32 max, u16 *reason)
{
	struct xv_queue *q = &qp->rq;
	struct xv_recv entry;
	u32 done = 0;
	int ret;

	*reason = 0;
	while (done < max && !*reason) {
		const struct ib_recv_wr *bad;
		u32 n;

		rcu_read_lock();
		for (n = 0; n < XV_CHAIN && done + n < max; n++) {
			struct xv_recv_wr *w = &scratch->recvs[n];
			u32 number = q->posted + n;
			struct xv_shadow *shadow = &q->slots[number & q->mask];

			if (from)
				entry = from[done + n];
			else
				memcpy(&entry, &qp->recvs[number & q->mask],
				       sizeof(entry));
			/* Nothing may be fetched again. */
			barrier();
			*reason = xv_build_recv(call, xv_qp_pd(qp),
						qp->recv_sge, &entry, w);
			if (*reason)
				break;
			shadow->wr_id = entry.wr_id;
			shadow->opcode = 0;
			shadow->flags = XV_SHADOW_TELL;
			w->wr.wr_id = xv_post_wr_id(qp, q, number);
			if (n)
				scratch->recvs[n - 1].wr.next = &w->wr;
		}
		rcu_read_unlock();
		if (!n)
			break;
		WRITE_ONCE(q->posted, q->posted + n);
		/* Nobody changes the state of a queue pair that is new. */
		ret = driver_post_recv(qp, &scratch->recvs[0].wr, &bad,
				       call ? 1 : XV_POST_TRIES);
		if (ret) {
			u32 taken = container_of(bad, struct xv_recv_wr, wr) -
				    scratch->recvs;

			WRITE_ONCE(q->posted, q->posted - (n - taken));
			n = taken;
			*reason = XV_R_DRIVER;
			if (call)
				call->error.raw = -ret;
		}
		done += n;
		q->taken = q->posted;
		cond_resched();
	}
	return done;
}

/**
 * xv_qp_post_first - post the first receives
 * @call: the call
 * @qp: a queue pair made in this call, in INIT
 * @recvs: the entries, in kernel memory
 * @num: how many
 * @done: is set to how many were posted
 *
 * Return: 0 or the reason why the next one was not; for %XV_R_DRIVER
 * &xv_error.raw of the call is what the driver answered.
 */
u16 xv_qp_post_first(struct xv_call *call, struct xv_qp *qp,
		     const struct xv_recv *recvs, u32 num, u32 *done)
{
	union xv_scratch *scratch;
	u16 reason;

	*done = 0;
	if (num > xv_queue_free(&qp->rq))
		return XV_R_QUEUE_FULL;
	scratch = xv_scratch_get(call->file, XV_GFP);
	if (!scratch)
		return XV_R_MEMORY;
	mutex_lock(&qp->lock);
	*done = post_recvs(call, qp, scratch, recvs, num, &reason);
	mutex_unlock(&qp->lock);
	xv_scratch_put(call->file, scratch);
	return reason;
}

/**
 * xv_qp_submit_recvs - consume entries of the receive ring
 * @qp: the queue pair, with the ring mutex held
 * @scratch: room for a chain
 * @what: how many; how many were is filled in
 *
 * Return: 0 or the reason why it were not all.
 */
u16 xv_qp_submit_recvs(struct xv_qp *qp, union xv_scratch *scratch,
		       struct xv_enter_qp *what)
{
	struct xv_queue *q = &qp->rq;
	u16 reason = 0;
	u32 max, i;

	if (qp->srq)
		return XV_R_HAS_SRQ;
	if (what->num_recv > xv_queue_free(q))
		xv_cq_reap_now(q->cq);
	max = min(what->num_recv, xv_queue_free(q));
	switch (xv_qp_state(qp)) {
	case XV_QPS_RESET:
		return XV_R_STATE;
	case XV_QPS_ERR:
		for (i = 0; i < max; i++) {
			u64 wr_id = READ_ONCE(qp->recvs[q->taken++ & q->mask].wr_id);

			xv_queue_complete(q, qp, wr_id, 0, XV_WC_FLUSH_ERR);
		}
		what->recvs_taken = max;
		break;
	default:
		what->recvs_taken = post_recvs(NULL, qp, scratch, NULL, max,
					       &reason);
	}
	if (!reason && what->recvs_taken < what->num_recv)
		reason = XV_R_QUEUE_FULL;
	return reason;
}
