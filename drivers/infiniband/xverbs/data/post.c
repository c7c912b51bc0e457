// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Posting: entries of the user's rings to work requests of the driver.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Entries lie in memory that the program can change at any time: each is copied
 * once, and only the copy is looked at. Users name pieces of memory by the
 * handle of a region; the keys are ours. They are values, read under RCU: a
 * region that is destroyed meanwhile makes the driver refuse its key.
 */
#include <linux/bottom_half.h>
#include <linux/delay.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "../core/txn.h"
#include "../objects/ah.h"
#include "../objects/conn.h"
#include "../objects/mr.h"
#include "../objects/objects.h"
#include "data.h"
#include "post.h"

/* Bytes of a chain, see XV_CHAIN. */
#define XV_CHAIN_BYTES	(256U << 10)

/* siw answers ENOTCONN while a state change is under way. */
#define XV_POST_TRIES	100

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

/* ---- checking ---- */

static struct xv_mr *find_mr(struct xv_call *call, struct xv_file *file,
			     u32 handle)
{
	struct xv_uobj *obj;

	if (call && handle & XV_SGE_FROM_OP) {
		const struct xv_opx *op;
		u32 index = handle & ~XV_SGE_FROM_OP;

		if (index >= call->parsed.num_ops)
			return NULL;
		op = &call->parsed.ops[index];
		if (!op->obj || !op->obj->hw || op->type->id != XV_OBJ_MR ||
		    op->method->class != XV_C_CREATE)
			return NULL;
		return xv_to_mr(op->obj);
	}
	obj = xv_uobj_peek(file, handle, XV_OBJ_MR);
	return obj ? xv_to_mr(obj) : NULL;
}

static u16 build_sge(struct xv_call *call, const struct xv_uobj *pd,
		     const struct xv_sge *sge, u32 need, struct ib_sge *out)
{
	struct xv_mr *mr = find_mr(call, pd->file, sge->mr);

	if (!mr)
		return XV_R_NO_HANDLE;
	if (READ_ONCE(mr->edges[0].parent) != pd)
		return XV_R_MISMATCH;
	if (sge->length > mr->length || sge->offset > mr->length - sge->length)
		return XV_R_RANGE;
	if (need & ~mr->access)
		return XV_R_ACCESS;
	out->addr = mr->iova + sge->offset;
	out->length = sge->length;
	out->lkey = mr->lkey;
	return 0;
}

/* Pieces without bytes are left out: to some hardware they mean 2 GiB. */
static u16 build_sges(struct xv_call *call, const struct xv_uobj *pd,
		      const struct xv_sge *sges, u32 num, u32 need,
		      struct ib_sge *out, int *num_out, u64 *bytes)
{
	u16 reason;
	u32 i;

	*num_out = 0;
	*bytes = 0;
	for (i = 0; i < num; i++) {
		reason = build_sge(call, pd, &sges[i], need, &out[*num_out]);
		if (reason)
			return reason;
		if (!sges[i].length)
			continue;
		*bytes += sges[i].length;
		++*num_out;
	}
	/* One message carries 2 GiB at most (InfiniBand volume 1, 9.7). */
	return *bytes > 1ULL << 31 ? XV_R_LENGTH : 0;
}

static u16 build_inline(struct xv_qp *qp, const struct xv_send *e,
			struct xv_send_wr *w)
{
	if (!qp->can_inline)
		return XV_R_CAPABILITY;
	if (e->num_sge || e->inline_len > XV_MAX_INLINE)
		return XV_R_LENGTH;
	/* The driver copies from this address while it posts. */
	memcpy(w->data, e->inline_data, e->inline_len);
	w->sge[0].addr = (uintptr_t)w->data;
	w->sge[0].length = e->inline_len;
	w->sge[0].lkey = 0;
	w->wr.num_sge = e->inline_len ? 1 : 0;
	/* siw refuses nothing as inline, and its slot stays taken. */
	if (e->inline_len)
		w->wr.send_flags |= IB_SEND_INLINE;
	return 0;
}

/* Opcodes that a type of queue pair has (InfiniBand volume 1, table 45). */
static bool type_has_opcode(u8 type, u8 opcode)
{
	switch (opcode) {
	case XV_WR_SEND:
	case XV_WR_SEND_WITH_IMM:
		return true;
	case XV_WR_RDMA_WRITE:
	case XV_WR_RDMA_WRITE_WITH_IMM:
		return type != XV_QPT_UD;
	default:
		return type == XV_QPT_RC;
	}
}

/* Where a datagram goes. The caller's RCU section keeps the address handle. */
static u16 build_datagram(struct xv_qp *qp, const struct xv_send *e,
			  struct xv_send_wr *w)
{
	struct xv_uobj *obj;
	struct xv_ah *ah;

	if (qp->type != XV_QPT_UD)
		return e->ah || e->remote_qpn || e->remote_qkey ?
		       XV_R_RESERVED : 0;
	obj = xv_uobj_peek(qp->uobj.file, e->ah, XV_OBJ_AH);
	if (!obj)
		return XV_R_NO_HANDLE;
	ah = xv_to_ah(obj);
	if (READ_ONCE(ah->edges[0].parent) != xv_qp_pd(qp) ||
	    ah->info.port != qp->port)
		return XV_R_MISMATCH;
	if (e->remote_qpn > 0xffffff)
		return XV_R_RANGE;
	w->ud.ah = ah->ibah;
	w->ud.remote_qpn = e->remote_qpn;
	/* Not left to the driver: rxe would send it, and it is privileged. */
	w->ud.remote_qkey = e->remote_qkey & XV_QKEY_PRIVILEGED ?
			    qp->qkey : e->remote_qkey;
	return 0;
}

/* iWARP has no immediate data and no atomics (RFC 5040). */
static bool iwarp_has_opcode(u8 opcode)
{
	return opcode == XV_WR_SEND || opcode == XV_WR_RDMA_WRITE ||
	       opcode == XV_WR_RDMA_READ;
}

static bool is_atomic(u8 opcode)
{
	return opcode == XV_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == XV_WR_ATOMIC_FETCH_AND_ADD;
}

/* What comes back is written to the pieces. */
static bool is_fetch(u8 opcode)
{
	return opcode == XV_WR_RDMA_READ || is_atomic(opcode);
}

static u16 build_opcode(const struct xv_qp *qp, const struct xv_send *e,
			struct xv_send_wr *w, u32 *need)
{
	*need = is_fetch(e->opcode) ? XV_ACCESS_LOCAL_WRITE : 0;
	if (e->opcode < 64 && XV_REFUSED_OPCODES >> e->opcode & 1)
		return XV_R_NOT_OFFERED;
	if (!type_has_opcode(qp->type, e->opcode))
		return XV_R_RANGE;
	switch (e->opcode) {
	case XV_WR_SEND:
		w->wr.opcode = IB_WR_SEND;
		break;
	case XV_WR_SEND_WITH_IMM:
		w->wr.opcode = IB_WR_SEND_WITH_IMM;
		w->wr.ex.imm_data = (__force __be32)e->imm_data;
		break;
	case XV_WR_RDMA_WRITE_WITH_IMM:
		w->wr.ex.imm_data = (__force __be32)e->imm_data;
		fallthrough;
	case XV_WR_RDMA_WRITE:
	case XV_WR_RDMA_READ:
		w->wr.opcode = e->opcode == XV_WR_RDMA_READ ? IB_WR_RDMA_READ :
			       e->opcode == XV_WR_RDMA_WRITE ? IB_WR_RDMA_WRITE :
			       IB_WR_RDMA_WRITE_WITH_IMM;
		w->rdma.remote_addr = e->remote_addr;
		w->rdma.rkey = e->rkey;
		break;
	case XV_WR_ATOMIC_CMP_AND_SWP:
	case XV_WR_ATOMIC_FETCH_AND_ADD:
		w->wr.opcode = e->opcode == XV_WR_ATOMIC_CMP_AND_SWP ?
			       IB_WR_ATOMIC_CMP_AND_SWP :
			       IB_WR_ATOMIC_FETCH_AND_ADD;
		w->atomic.remote_addr = e->remote_addr;
		w->atomic.rkey = e->rkey;
		w->atomic.compare_add = e->compare_add;
		w->atomic.swap = e->swap;
		break;
	default:
		return XV_R_RANGE;
	}
	/* What siw refuses takes its slot of the send queue for ever. */
	return qp->iwarp && !iwarp_has_opcode(e->opcode) ? XV_R_CAPABILITY : 0;
}

/* Check one entry, which is our own copy, and make a work request of it. */
static u16 build_send(struct xv_qp *qp, const struct xv_send *e,
		      struct xv_send_wr *w, u64 *bytes)
{
	u16 reason;
	u32 need;

	memset(w, 0, offsetof(struct xv_send_wr, sge));
	if (e->flags & ~(XV_SEND_SIGNALED | XV_SEND_FENCE | XV_SEND_SOLICITED |
			 XV_SEND_INLINE))
		return XV_R_FLAGS;
	if (e->reserved)
		return XV_R_RESERVED;
	reason = build_opcode(qp, e, w, &need);
	if (reason)
		return reason;
	reason = build_datagram(qp, e, w);
	if (reason)
		return reason;
	w->wr.sg_list = w->sge;
	if (e->flags & XV_SEND_FENCE)
		w->wr.send_flags |= IB_SEND_FENCE;
	if (e->flags & XV_SEND_SOLICITED)
		w->wr.send_flags |= IB_SEND_SOLICITED;
	if (e->flags & XV_SEND_INLINE) {
		if (need)
			return XV_R_FLAGS;
		*bytes = e->inline_len;
		return build_inline(qp, e, w);
	}
	if (e->inline_len || e->num_sge > qp->send_sge)
		return XV_R_LENGTH;
	reason = build_sges(NULL, xv_qp_pd(qp), e->sge, e->num_sge, need,
			    w->sge, &w->wr.num_sge, bytes);
	if (reason)
		return reason;
	/* The device would drop it and call that a success. */
	if (qp->type == XV_QPT_UD && *bytes > qp->path_mtu)
		return XV_R_LENGTH;
	/* One piece of memory takes what is read (RFC 5040, 5.3). */
	if (qp->iwarp && e->opcode == XV_WR_RDMA_READ && w->wr.num_sge != 1)
		return XV_R_LENGTH;
	if (!is_atomic(e->opcode))
		return 0;
	if (w->wr.num_sge != 1 || *bytes != 8)
		return XV_R_LENGTH;
	return e->remote_addr & 7 ? XV_R_RANGE : 0;
}

/**
 * xv_build_recv - check one receive and make a work request of it
 * @call: the call whose operations the pieces may name, or NULL
 * @pd: protection domain of the queue
 * @max_sge: pieces that the queue allows
 * @e: the entry, our own copy
 * @w: is filled, but for its wr_id
 *
 * Context: RCU read section, which keeps the regions until it is posted.
 * Return: 0 or enum xv_reason.
 */
u16 xv_build_recv(struct xv_call *call, const struct xv_uobj *pd, u32 max_sge,
		  const struct xv_recv *e, struct xv_recv_wr *w)
{
	u64 bytes;

	if (e->reserved)
		return XV_R_RESERVED;
	if (e->num_sge > max_sge)
		return XV_R_LENGTH;
	w->wr.next = NULL;
	w->wr.sg_list = w->sge;
	return build_sges(call, pd, e->sge, e->num_sge, XV_ACCESS_LOCAL_WRITE,
			  w->sge, &w->wr.num_sge, &bytes);
}

static u64 device_wr_id(const struct xv_qp *qp, const struct xv_queue *q,
			u32 number)
{
	return (u64)qp->uobj.handle << 32 | (u32)qp->gen << 16 |
	       (q->recv ? XV_WRID_RECV : 0) | (number & q->mask);
}

/* ---- sends ---- */

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
		*reason = build_send(qp, entry, w, &bytes);
		if (*reason)
			break;
		total += bytes;
		shadow = &q->slots[(q->posted + n) & q->mask];
		shadow->wr_id = entry->wr_id;
		shadow->opcode = entry->opcode;
		shadow->flags = entry->flags & XV_SEND_SIGNALED || qp->sig_all ?
				XV_SHADOW_TELL : 0;
		w->wr.wr_id = device_wr_id(qp, q, q->posted + n);
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

/* These reasons are shared: is it a piece of memory that is at fault? */
static bool is_bad_piece(struct xv_qp *qp, const struct xv_send *e, u16 reason)
{
	u32 need = is_fetch(e->opcode) ? XV_ACCESS_LOCAL_WRITE : 0;
	struct ib_sge sge;
	bool bad = false;
	u32 i;

	if (reason != XV_R_NO_HANDLE && reason != XV_R_MISMATCH &&
	    reason != XV_R_RANGE && reason != XV_R_ACCESS)
		return false;
	if (!type_has_opcode(qp->type, e->opcode) || e->num_sge > qp->send_sge)
		return false;
	rcu_read_lock();
	for (i = 0; i < e->num_sge && !bad; i++)
		bad = build_sge(NULL, xv_qp_pd(qp), &e->sge[i], need, &sge);
	rcu_read_unlock();
	return bad;
}

static u8 early_status(struct xv_qp *qp, const struct xv_send *e, u16 reason)
{
	if (reason == XV_R_DRIVER)
		return XV_WC_GENERAL_ERR;
	return is_bad_piece(qp, e, reason) ? XV_WC_LOC_PROT_ERR :
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

static void reap_once(struct xv_cq *cq)
{
	mutex_lock(&cq->lock);
	xv_cq_reap(cq);
	mutex_unlock(&cq->lock);
}

static u16 submit_sends(struct xv_qp *qp, union xv_scratch *scratch,
			struct xv_enter_qp *what)
{
	struct xv_queue *q = &qp->sq;
	struct xv_send entry;
	u16 reason = 0;
	u32 max, i;

	if (what->num_send > xv_queue_free(q))
		reap_once(q->cq);
	max = min(what->num_send, xv_queue_free(q));
	switch (xv_qp_state(qp)) {
	case XV_QPS_RESET:
		return XV_R_STATE;
	case XV_QPS_INIT:
	case XV_QPS_RTR:
		q->taken += max;
		what->sends_taken = max;
		break;
	case XV_QPS_RTS:
		if (READ_ONCE(qp->hold_sends)) {
			q->taken += max;
			what->sends_taken = max;
			break;
		}
		post_early(qp, scratch);
		if (xv_qp_state(qp) == XV_QPS_RTS) {
			what->sends_taken = post_sends(qp, scratch, max,
						       &reason, &entry);
			q->taken += what->sends_taken;
			break;
		}
		fallthrough;
	default:
		xv_qp_flush_early(qp);
		for (i = 0; i < max; i++) {
			copy_send(&entry, qp, q->taken++);
			xv_queue_complete(q, qp, entry.wr_id, entry.opcode,
					  XV_WC_FLUSH_ERR);
		}
		what->sends_taken = max;
	}
	if (!reason && what->sends_taken < what->num_send)
		reason = XV_R_QUEUE_FULL;
	return reason;
}

/* ---- receives ---- */

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
			w->wr.wr_id = device_wr_id(qp, q, number);
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

static u16 submit_recvs(struct xv_qp *qp, union xv_scratch *scratch,
			struct xv_enter_qp *what)
{
	struct xv_queue *q = &qp->rq;
	u16 reason = 0;
	u32 max, i;

	if (qp->srq)
		return XV_R_HAS_SRQ;
	if (what->num_recv > xv_queue_free(q))
		reap_once(q->cq);
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
		reason = submit_recvs(qp, scratch, what);
	if (what->num_send && (!reason || reason == XV_R_QUEUE_FULL)) {
		u16 send_reason = submit_sends(qp, scratch, what);

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
