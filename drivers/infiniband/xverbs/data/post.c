// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Posting: what sends and receives share, and ENTER's way to both.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "../core/txn.h"
#include "post.h"

static_assert(sizeof(union xv_scratch) <= PAGE_SIZE);

/**
 * xv_scratch_get - room for one chain
 * @file: the file, which keeps one spare, so that ENTER seldom allocates
 * @gfp: flags of the allocation
 *
 * Return: it, or NULL without memory.
 */
union xv_scratch *xv_scratch_get(struct xv_file *file, gfp_t gfp)
{
	union xv_scratch *scratch = xchg(&file->scratch, NULL);
	struct mem_cgroup *memcg;

	if (scratch)
		return scratch;
	/* Whoever calls, a work item included. */
	memcg = set_active_memcg(file->memcg);
	scratch = kmalloc(sizeof(*scratch), gfp);
	set_active_memcg(memcg);
	return scratch;
}

/**
 * xv_scratch_put - give it back
 * @file: the file
 * @scratch: what xv_scratch_get() returned
 */
void xv_scratch_put(struct xv_file *file, union xv_scratch *scratch)
{
	if (cmpxchg(&file->scratch, NULL, scratch))
		kfree(scratch);
}

/**
 * xv_cq_reap_now - reap for a queue that is full
 * @cq: its CQ
 *
 * Context: may sleep.
 */
void xv_cq_reap_now(struct xv_cq *cq)
{
	mutex_lock(&cq->lock);
	xv_cq_reap(cq);
	mutex_unlock(&cq->lock);
}

/**
 * xv_qp_submit - consume entries of a queue pair's rings
 * @qp: the queue pair
 * @what: how many; the results are filled in
 *
 * Context: may sleep; the device is held.
 */
void xv_qp_submit(struct xv_qp *qp, struct xv_enter_qp *what)
{
	struct xv_file *file = qp->uobj.file;
	union xv_scratch *scratch = xv_scratch_get(file, XV_GFP);
	u16 reason = XV_R_MEMORY;

	if (!scratch)
		goto out_reason;
	mutex_lock(&qp->lock);
	reason = XV_R_NO_HANDLE;
	if (qp->dead)
		goto out_unlock;
	reason = 0;
	if (what->num_recv)
		reason = xv_qp_submit_recvs(qp, scratch, what);
	if (what->num_send && (!reason || reason == XV_R_QUEUE_FULL)) {
		u16 send_reason = xv_qp_submit_sends(qp, scratch, what);

		if (!reason)
			reason = send_reason;
	}
	if (what->flags && (!reason || reason == XV_R_QUEUE_FULL)) {
		u16 room_reason;

		room_reason = xv_qp_watch_room(qp, XV_ENTER_QP_ROOM_SLOTS(what->flags),
					       0);
		if (!reason)
			reason = room_reason;
	}
out_unlock:
	mutex_unlock(&qp->lock);
	xv_scratch_put(file, scratch);
out_reason:
	what->reason = reason;
	what->err = reason ? xv_reason_errno(reason) : 0;
}
