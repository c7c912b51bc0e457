// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Shared receive queues: posting, and who has taken what.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Queue pairs end receives in any order. So a receive has a slot from a list of
 * free ones, and its completion names slot and SRQ. It does not name the queue
 * pair. That is found by the address which the driver gives, and which is only
 * compared: a queue pair is taken out of the CQ's tree before the driver
 * destroys it, and one with the same address is put there only after the CQ was
 * polled out.
 *
 * A CQ keeps room for the whole depth of an SRQ, once, however many queue pairs
 * bring it.
 *
 * A driver may lose a receive: rxe does since Linux 6.4, if a message is cut off.
 * Receives are taken in the order in which they were posted, and each queue pair
 * ends those that it took in that order. So a receive is lost if each queue pair
 * has ended a later one, or came after that; see find_lost().
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include "../core/txn.h"
#include "data.h"
#include "post.h"

/**
 * struct xv_srq_use - queue pairs with the same SRQ and the same receive CQ
 * @node: in xv_cq.srqs; under the CQ mutex
 * @link: in xv_srq.uses; under the ring mutex
 * @cq: the CQ
 * @srq: the SRQ
 * @num_qps: how many; under both
 */
struct xv_srq_use {
	struct rb_node node;
	struct list_head link;
	struct xv_cq *cq;
	struct xv_srq *srq;
	u32 num_qps;
};

/* ---- slots ---- */

/**
 * xv_srq_init - before the first use
 * @srq: the SRQ, with its slots allocated
 */
void xv_srq_init(struct xv_srq *srq)
{
	u32 i;

	mutex_init(&srq->lock);
	spin_lock_init(&srq->slots_lock);
	INIT_LIST_HEAD(&srq->uses);
	INIT_LIST_HEAD(&srq->qps);
	for (i = 0; i < srq->depth; i++)
		srq->slots[i].next = i + 1;
}

static u16 take_slot(struct xv_srq *srq, u64 wr_id)
{
	struct xv_srq_slot *slot;
	u16 index;

	spin_lock(&srq->slots_lock);
	index = srq->free;
	slot = &srq->slots[index];
	srq->free = slot->next;
	slot->wr_id = wr_id;
	slot->order = ++srq->last_order;
	slot->state = XV_SLOT_POSTED;
	slot->gen++;
	spin_unlock(&srq->slots_lock);
	return index;
}

static void put_slot(struct xv_srq *srq, u16 index)
{
	lockdep_assert_held(&srq->slots_lock);
	srq->slots[index].state = XV_SLOT_FREE;
	srq->slots[index].next = srq->free;
	srq->free = index;
}

static void end_slot(struct xv_srq *srq, u16 index)
{
	put_slot(srq, index);
	WRITE_ONCE(srq->done, srq->done + 1);
	/* The completion is in the ring before its slot is free. */
	smp_store_release(&srq->ring->recvs_done, srq->done);
}

/**
 * xv_srq_free_slot - a receive has ended, and the user sees it if he is to
 * @srq: the SRQ
 * @index: slot of the receive
 */
void xv_srq_free_slot(struct xv_srq *srq, u16 index)
{
	spin_lock(&srq->slots_lock);
	end_slot(srq, index);
	spin_unlock(&srq->slots_lock);
}

/**
 * xv_srq_end - a completion names a receive
 * @srq: the SRQ
 * @wr_id: of the device
 * @qp: the queue pair, or NULL if it is unknown
 * @user_wr_id: is set to the user's
 *
 * The slot stays taken until xv_srq_free_slot().
 *
 * Return: false if there is no such receive.
 */
bool xv_srq_end(struct xv_srq *srq, u64 wr_id, struct xv_qp *qp,
		u64 *user_wr_id)
{
	u16 index = wr_id & (XV_WRID_RECV - 1);
	u16 gen = wr_id >> 16;
	struct xv_srq_slot *slot;
	bool found;

	if (index >= srq->depth)
		return false;
	spin_lock(&srq->slots_lock);
	slot = &srq->slots[index];
	found = slot->state == XV_SLOT_POSTED && slot->gen == gen;
	if (found) {
		slot->state = XV_SLOT_ENDED;
		*user_wr_id = slot->wr_id;
		srq->max_order = max(srq->max_order, slot->order);
		if (qp)
			qp->recv_order = max(qp->recv_order, slot->order);
	}
	spin_unlock(&srq->slots_lock);
	return found;
}

/*
 * Receives that no queue pair can have: all have ended a later one. Without
 * queue pairs, those before one that is known to have been taken.
 */
static void find_lost(struct xv_srq *srq)
{
	struct xv_qp *qp;
	u64 order;
	u32 i;

	lockdep_assert_held(&srq->lock);
	spin_lock(&srq->slots_lock);
	order = srq->max_order;
	list_for_each_entry(qp, &srq->qps, srq_link)
		order = min(order, qp->recv_order);
	for (i = 0; i < srq->depth; i++)
		if (srq->slots[i].state == XV_SLOT_POSTED &&
		    srq->slots[i].order < order)
			end_slot(srq, i);
	spin_unlock(&srq->slots_lock);
}

/* ---- posting ---- */

static u64 device_wr_id(const struct xv_srq *srq, u16 index)
{
	return (u64)srq->uobj.handle << 32 | (u32)srq->slots[index].gen << 16 |
	       XV_WRID_RECV | index;
}

/* Build a chain, from the ring or from @from, until an entry is bad. */
static u32 build_chain(struct xv_call *call, struct xv_srq *srq,
		       union xv_scratch *scratch, const struct xv_recv *from,
		       u32 max, u16 *reason)
{
	struct xv_recv entry;
	u16 index;
	u32 n;

	for (n = 0; n < max && n < XV_CHAIN; n++) {
		struct xv_recv_wr *w = &scratch->recvs[n];

		if (from)
			entry = from[n];
		else
			memcpy(&entry, &srq->recvs[(srq->taken + n) & srq->mask],
			       sizeof(entry));
		/* Nothing may be fetched again. */
		barrier();
		*reason = xv_build_recv(call, xv_srq_pd(srq), srq->sge, &entry,
					w);
		if (*reason)
			break;
		index = take_slot(srq, entry.wr_id);
		w->wr.wr_id = device_wr_id(srq, index);
		if (n)
			scratch->recvs[n - 1].wr.next = &w->wr;
	}
	return n;
}

/* What the driver did not take is as if it had never been looked at. */
static void take_back(struct xv_srq *srq, union xv_scratch *scratch, u32 from,
		      u32 to)
{
	spin_lock(&srq->slots_lock);
	while (to > from) {
		to--;
		put_slot(srq, scratch->recvs[to].wr.wr_id & (XV_WRID_RECV - 1));
		srq->last_order--;
	}
	spin_unlock(&srq->slots_lock);
}

static u32 post_chain(struct xv_call *call, struct xv_srq *srq,
		      union xv_scratch *scratch, const struct xv_recv *from,
		      u32 max, u16 *reason)
{
	const struct ib_recv_wr *bad = &scratch->recvs[0].wr;
	u32 n, taken;
	int ret;

	rcu_read_lock();
	n = build_chain(call, srq, scratch, from, max, reason);
	rcu_read_unlock();
	if (!n)
		return 0;
	/* A completion may come before the call returns. */
	srq->taken += n;
	ret = ib_post_srq_recv(srq->ibsrq, bad, &bad);
	if (!ret)
		return n;
	taken = container_of(bad, struct xv_recv_wr, wr) - scratch->recvs;
	srq->taken -= n - taken;
	take_back(srq, scratch, taken, n);
	*reason = XV_R_DRIVER;
	if (call)
		call->error.raw = -ret;
	return taken;
}

static u32 post_recvs(struct xv_call *call, struct xv_srq *srq,
		      union xv_scratch *scratch, const struct xv_recv *from,
		      u32 max, u16 *reason)
{
	u32 done = 0;

	lockdep_assert_held(&srq->lock);
	*reason = 0;
	while (done < max && !*reason) {
		done += post_chain(call, srq, scratch,
				   from ? from + done : NULL, max - done,
				   reason);
		cond_resched();
	}
	return done;
}

/**
 * xv_srq_post_first - post the first receives
 * @call: the call
 * @srq: an SRQ made in this call
 * @recvs: the entries, in kernel memory
 * @num: how many
 * @done: is set to how many were posted
 *
 * Return: 0 or the reason why the next one was not; for %XV_R_DRIVER
 * &xv_error.raw of the call is what the driver answered.
 */
u16 xv_srq_post_first(struct xv_call *call, struct xv_srq *srq,
		      const struct xv_recv *recvs, u32 num, u32 *done)
{
	union xv_scratch *scratch;
	u16 reason = XV_R_QUEUE_FULL;

	*done = 0;
	scratch = xv_scratch_get(call->file, XV_GFP);
	if (!scratch)
		return XV_R_MEMORY;
	mutex_lock(&srq->lock);
	if (num <= xv_srq_free(srq))
		*done = post_recvs(call, srq, scratch, recvs, num, &reason);
	mutex_unlock(&srq->lock);
	xv_scratch_put(call->file, scratch);
	return reason;
}

/* Slots come back by reaping, wherever the receives end. */
static void reap_all(struct xv_srq *srq)
{
	struct xv_srq_use *use;

	lockdep_assert_held(&srq->lock);
	list_for_each_entry(use, &srq->uses, link) {
		mutex_lock(&use->cq->lock);
		xv_cq_reap(use->cq);
		mutex_unlock(&use->cq->lock);
		cond_resched();
	}
}

static u16 submit(struct xv_srq *srq, union xv_scratch *scratch,
		  struct xv_enter_qp *what)
{
	u16 reason;

	lockdep_assert_held(&srq->lock);
	if (srq->dead)
		return XV_R_NO_HANDLE;
	if (what->num_send)
		return XV_R_TYPE;
	/* Room is a matter of sends. */
	if (what->flags)
		return XV_R_FLAGS;
	if (what->num_recv > xv_srq_free(srq))
		reap_all(srq);
	if (what->num_recv > xv_srq_free(srq))
		find_lost(srq);
	what->recvs_taken = post_recvs(NULL, srq, scratch, NULL,
				       min(what->num_recv, xv_srq_free(srq)),
				       &reason);
	if (!reason && what->recvs_taken < what->num_recv)
		reason = XV_R_QUEUE_FULL;
	return reason;
}

/**
 * xv_srq_submit - consume entries of the ring
 * @srq: the SRQ
 * @what: how many; the results are filled in
 *
 * Context: may sleep; the device is held.
 */
void xv_srq_submit(struct xv_srq *srq, struct xv_enter_qp *what)
{
	struct xv_file *file = srq->uobj.file;
	union xv_scratch *scratch = xv_scratch_get(file, XV_GFP);
	u16 reason = XV_R_MEMORY;

	if (scratch) {
		mutex_lock(&srq->lock);
		reason = submit(srq, scratch, what);
		mutex_unlock(&srq->lock);
		xv_scratch_put(file, scratch);
	}
	what->reason = reason;
	what->err = reason ? xv_reason_errno(reason) : 0;
}

/* ---- queue pairs ---- */

static int cmp_use(const void *key, const struct rb_node *node)
{
	u32 handle = *(const u32 *)key;
	u32 other = rb_entry(node, struct xv_srq_use, node)->srq->uobj.handle;

	return handle < other ? -1 : handle > other;
}

static bool use_less(struct rb_node *node, const struct rb_node *other)
{
	return cmp_use(&rb_entry(node, struct xv_srq_use, node)->srq->uobj.handle,
		       other) < 0;
}

static int cmp_qp(const void *key, const struct rb_node *node)
{
	const struct ib_qp *other = rb_entry(node, struct xv_qp,
					     srq_node)->ibqp;

	return (uintptr_t)key < (uintptr_t)other ? -1 :
	       (uintptr_t)key > (uintptr_t)other;
}

static bool qp_less(struct rb_node *node, const struct rb_node *other)
{
	return cmp_qp(rb_entry(node, struct xv_qp, srq_node)->ibqp, other) < 0;
}

static struct xv_srq_use *find_use(struct xv_cq *cq, u32 handle)
{
	struct rb_node *node = rb_find(&handle, &cq->srqs, cmp_use);

	lockdep_assert_held(&cq->lock);
	return rb_entry_safe(node, struct xv_srq_use, node);
}

/**
 * xv_srq_of_cq - the SRQ behind a completion
 * @cq: the CQ, its mutex held
 * @handle: a handle
 *
 * It stays as long as the mutex is held: a queue pair depends on it.
 *
 * Return: the SRQ; NULL if no queue pair brings such a one here.
 */
struct xv_srq *xv_srq_of_cq(struct xv_cq *cq, u32 handle)
{
	struct xv_srq_use *use;

	if (RB_EMPTY_ROOT(&cq->srqs))
		return NULL;
	use = find_use(cq, handle);
	return use ? use->srq : NULL;
}

/**
 * xv_srq_find_qp - the queue pair behind a completion of an SRQ
 * @cq: the CQ, its mutex held
 * @ibqp: what the driver says, which may be gone: only the address is used
 *
 * Return: the queue pair or NULL.
 */
struct xv_qp *xv_srq_find_qp(struct xv_cq *cq, const struct ib_qp *ibqp)
{
	struct rb_node *node = rb_find(ibqp, &cq->srq_qps, cmp_qp);

	lockdep_assert_held(&cq->lock);
	return rb_entry_safe(node, struct xv_qp, srq_node);
}

/* The use of this CQ by the SRQ of @qp: that of others, or a new one. */
static int join_use(struct xv_qp *qp, struct xv_srq_use **new)
{
	struct xv_srq *srq = qp->srq;
	struct xv_cq *cq = qp->rq.cq;
	struct xv_srq_use *use = find_use(cq, srq->uobj.handle);

	if (!use) {
		if (cq->attached + srq->depth > cq->cqe)
			return -ENOSPC;
		cq->attached += srq->depth;
		cq->recv_depth += srq->depth;
		use = *new;
		*new = NULL;
		use->cq = cq;
		use->srq = srq;
		rb_add(&use->node, &cq->srqs, use_less);
		list_add_tail(&use->link, &srq->uses);
	}
	use->num_qps++;
	qp->srq_use = use;
	return 0;
}

/**
 * xv_srq_attach - reserve room for what a queue pair may take from its SRQ
 * @qp: the queue pair, without hardware yet
 *
 * Return: 0, -ENOMEM, or -ENOSPC if the receive CQ could overrun.
 */
int xv_srq_attach(struct xv_qp *qp)
{
	struct xv_srq *srq = qp->srq;
	struct xv_srq_use *use;
	int ret;

	RB_CLEAR_NODE(&qp->srq_node);
	use = kzalloc(sizeof(*use), XV_GFP);
	if (!use)
		return -ENOMEM;
	mutex_lock(&srq->lock);
	mutex_lock(&qp->rq.cq->lock);
	ret = join_use(qp, &use);
	mutex_unlock(&qp->rq.cq->lock);
	if (!ret) {
		list_add_tail(&qp->srq_link, &srq->qps);
		xv_srq_restart(qp);
	}
	mutex_unlock(&srq->lock);
	kfree(use);
	return ret;
}

/**
 * xv_srq_restart - a queue pair has nothing of what was taken so far
 * @qp: the queue pair, new or after RESET
 */
void xv_srq_restart(struct xv_qp *qp)
{
	spin_lock(&qp->srq->slots_lock);
	qp->recv_order = qp->srq->max_order;
	spin_unlock(&qp->srq->slots_lock);
}

/**
 * xv_srq_add_qp - completions of the queue pair are looked at from now on
 * @qp: the queue pair, whose hardware is new
 */
void xv_srq_add_qp(struct xv_qp *qp)
{
	struct xv_cq *cq = qp->rq.cq;

	mutex_lock(&cq->lock);
	/* One that had this address before may have left completions. */
	xv_cq_reap(cq);
	rb_add(&qp->srq_node, &cq->srq_qps, qp_less);
	mutex_unlock(&cq->lock);
}

/**
 * xv_srq_remove_qp - completions of the queue pair are dropped from now on
 * @qp: the queue pair, with the mutex of its receive CQ held
 *
 * Their slots become free all the same.
 */
void xv_srq_remove_qp(struct xv_qp *qp)
{
	lockdep_assert_held(&qp->rq.cq->lock);
	if (RB_EMPTY_NODE(&qp->srq_node))
		return;
	rb_erase(&qp->srq_node, &qp->rq.cq->srq_qps);
	RB_CLEAR_NODE(&qp->srq_node);
}

/**
 * xv_srq_release - undo xv_srq_attach()
 * @qp: a queue pair whose hardware is gone, and whose CQ was polled out
 */
void xv_srq_release(struct xv_qp *qp)
{
	struct xv_srq_use *use = qp->srq_use;
	struct xv_srq *srq = qp->srq;
	struct xv_cq *cq = qp->rq.cq;
	bool last;

	mutex_lock(&srq->lock);
	list_del(&qp->srq_link);
	mutex_lock(&cq->lock);
	last = !--use->num_qps;
	if (last) {
		cq->attached -= srq->depth;
		cq->recv_depth -= srq->depth;
		rb_erase(&use->node, &cq->srqs);
		list_del(&use->link);
	}
	mutex_unlock(&cq->lock);
	mutex_unlock(&srq->lock);
	if (last)
		kfree(use);
}
