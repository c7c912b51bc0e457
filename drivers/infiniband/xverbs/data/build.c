// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Building: an entry of a user's ring, checked, to a work request of the driver.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Entries lie in memory that the program can change at any time: each is copied
 * once, and only the copy is looked at. Users name pieces of memory by the
 * handle of a region; the keys are ours. They are values, read under RCU: a
 * region that is destroyed meanwhile makes the driver refuse its key.
 */
#include "../core/txn.h"
#include "../objects/ah.h"
#include "../objects/mr.h"
#include "../objects/objects.h"
#include "post.h"

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

/**
 * xv_build_send - check one send and make a work request of it
 * @qp: the queue pair
 * @e: the entry, our own copy
 * @w: is filled, but for its wr_id and whether it is signaled
 * @bytes: is set to the length of its data
 *
 * Context: RCU read section, which keeps regions and address handles until it
 * is posted.
 * Return: 0 or enum xv_reason.
 */
u16 xv_build_send(struct xv_qp *qp, const struct xv_send *e,
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
 * xv_build_blames_piece - is it a piece of memory that is at fault?
 * @qp: the queue pair
 * @e: the entry, our own copy
 * @reason: what xv_build_send() said of it; some reasons are shared
 *
 * Context: any that may take an RCU read lock.
 * Return: true if so.
 */
bool xv_build_blames_piece(struct xv_qp *qp, const struct xv_send *e,
			   u16 reason)
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
