// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * qp: queue pair. Changes of state are in qp_state.c, posting in data/send.c
 * and data/recv.c.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include "../core/txn.h"
#include "../data/data.h"
#include "conn.h"
#include "objects.h"
#include "pd.h"
#include "qp.h"
#include "qp_state.h"

static const u16 qp_event_kinds[XV_QP_NUM_EVENTS] = {
	XV_EV_QP_FATAL, XV_EV_QP_REQUEST_ERROR, XV_EV_QP_ACCESS_ERROR,
	XV_EV_COMM_ESTABLISHED, XV_EV_QP_LAST_WQE, XV_EV_QP_SQ_DRAINED,
	XV_EV_QP_PATH_MIGRATED, XV_EV_QP_PATH_ERROR, XV_EV_ROOM,
};

static void qp_event(struct ib_event *event, void *context)
{
	struct xv_qp *qp = context;

	switch (event->event) {
	case IB_EVENT_QP_FATAL:
		xv_qp_failed(qp, 0);
		xv_event_raise(&qp->events, XV_EV_QP_FATAL);
		break;
	case IB_EVENT_QP_REQ_ERR:
		xv_qp_failed(qp, 0);
		xv_event_raise(&qp->events, XV_EV_QP_REQUEST_ERROR);
		break;
	case IB_EVENT_QP_ACCESS_ERR:
		xv_qp_failed(qp, 0);
		xv_event_raise(&qp->events, XV_EV_QP_ACCESS_ERROR);
		break;
	case IB_EVENT_QP_LAST_WQE_REACHED:
		xv_event_raise(&qp->events, XV_EV_QP_LAST_WQE);
		break;
	case IB_EVENT_SQ_DRAINED:
		xv_event_raise(&qp->events, XV_EV_QP_SQ_DRAINED);
		break;
	case IB_EVENT_PATH_MIG:
		xv_event_raise(&qp->events, XV_EV_QP_PATH_MIGRATED);
		break;
	case IB_EVENT_PATH_MIG_ERR:
		xv_event_raise(&qp->events, XV_EV_QP_PATH_ERROR);
		break;
	case IB_EVENT_COMM_EST:
		/*
		 * A hint that not all drivers give. Without a connection the
		 * first receive decides, see data/reap.c.
		 */
		if (READ_ONCE(qp->conn))
			xv_conn_comm_est(qp);
		break;
	default:
		break;
	}
}

/* ---- create ---- */

static int qp_read_caps(struct xv_call *call, struct xv_opx *op,
			struct xv_qp *qp)
{
	struct ib_device_attr *attrs = &call->ibdev->attrs;

	if (qp->srq && xv_value(op, XV_GRP_CAPS, XV_CAPS_RECV_WR, 0))
		return xv_fail(call, op, XV_GRP_CAPS, XV_CAPS_RECV_WR,
			       XV_R_HAS_SRQ, 0);
	if (qp->srq && xv_slot(op, XV_GRP_CAPS, XV_CAPS_RECV_SGE))
		return xv_fail(call, op, XV_GRP_CAPS, XV_CAPS_RECV_SGE,
			       XV_R_HAS_SRQ, 0);
	qp->sq.depth = xv_value(op, XV_GRP_CAPS, XV_CAPS_SEND_WR, 0);
	qp->rq.depth = xv_value(op, XV_GRP_CAPS, XV_CAPS_RECV_WR, 0);
	qp->send_sge = xv_value(op, XV_GRP_CAPS, XV_CAPS_SEND_SGE, 1);
	qp->recv_sge = qp->srq ? 0 : xv_value(op, XV_GRP_CAPS,
					      XV_CAPS_RECV_SGE, 1);
	if (qp->sq.depth > attrs->max_qp_wr)
		return xv_fail(call, op, XV_GRP_CAPS, XV_CAPS_SEND_WR,
			       XV_R_RANGE, attrs->max_qp_wr);
	if (qp->rq.depth > attrs->max_qp_wr)
		return xv_fail(call, op, XV_GRP_CAPS, XV_CAPS_RECV_WR,
			       XV_R_RANGE, attrs->max_qp_wr);
	if (qp->send_sge > attrs->max_send_sge)
		return xv_fail(call, op, XV_GRP_CAPS, XV_CAPS_SEND_SGE,
			       XV_R_RANGE, attrs->max_send_sge);
	if (qp->recv_sge > attrs->max_recv_sge)
		return xv_fail(call, op, XV_GRP_CAPS, XV_CAPS_RECV_SGE,
			       XV_R_RANGE, attrs->max_recv_sge);
	return 0;
}

static int queue_alloc(struct xv_queue *q, struct xv_cq *cq, u32 *shared_done)
{
	u32 entries = q->depth ? roundup_pow_of_two(q->depth) : 0;

	q->cq = cq;
	q->shared_done = shared_done;
	if (!entries)
		return 0;
	q->mask = entries - 1;
	q->slots = kvcalloc(entries, sizeof(*q->slots), XV_GFP);
	return q->slots ? 0 : -ENOMEM;
}

static u32 ring_entries(const struct xv_queue *q)
{
	return q->depth ? q->mask + 1 : 0;
}

static int qp_alloc_rings(struct xv_file *file, struct xv_qp *qp,
			  struct xv_cq *send_cq, struct xv_cq *recv_cq)
{
	u32 sends = roundup_pow_of_two(qp->sq.depth);
	u32 recvs = qp->rq.depth ? roundup_pow_of_two(qp->rq.depth) : 0;

	if (xv_chunk_alloc(file, sizeof(*qp->ring) +
			   sends * sizeof(*qp->sends) +
			   recvs * sizeof(*qp->recvs), &qp->chunk))
		return -ENOMEM;
	qp->ring = qp->chunk.mem;
	qp->sends = qp->chunk.mem + sizeof(*qp->ring);
	qp->recvs = (void *)(qp->sends + sends);
	memset(qp->ring, 0, sizeof(*qp->ring));
	qp->ring->state = XV_QPS_RESET;
	qp->rq.recv = true;
	if (queue_alloc(&qp->sq, send_cq, &qp->ring->sends_done) ||
	    queue_alloc(&qp->rq, recv_cq, &qp->ring->recvs_done))
		return -ENOMEM;
	return 0;
}

static int qp_attach(struct xv_call *call, struct xv_opx *op, struct xv_qp *qp)
{
	int ret;

	if (xv_queue_attach(&qp->sq))
		return xv_fail_obj(call, op, XV_GRP_CAPS, XV_CAPS_SEND_WR,
				   XV_R_CQ_SPACE, &qp->sq.cq->uobj);
	if (xv_queue_attach(&qp->rq)) {
		ret = xv_fail_obj(call, op, XV_GRP_CAPS, XV_CAPS_RECV_WR,
				  XV_R_CQ_SPACE, &qp->rq.cq->uobj);
		goto err_send;
	}
	if (!qp->srq)
		return 0;
	ret = xv_srq_attach(qp);
	if (!ret)
		return 0;
	if (ret == -ENOSPC)
		ret = xv_fail_obj(call, op, XV_GRP_OBJECT, XV_OBJECT_SRQ,
				  XV_R_CQ_SPACE, &qp->rq.cq->uobj);
	else
		ret = xv_fail(call, op, 0, 0, XV_R_MEMORY, 0);
	xv_queue_detach(&qp->rq, qp);
	xv_queue_release(&qp->rq);
err_send:
	xv_queue_detach(&qp->sq, qp);
	xv_queue_release(&qp->sq);
	return ret;
}

/* The room in the CQs, once the hardware is gone. */
static void qp_release(struct xv_qp *qp)
{
	xv_queue_release(&qp->sq);
	xv_queue_release(&qp->rq);
	if (qp->srq)
		xv_srq_release(qp);
}

static void qp_unattach(struct xv_qp *qp)
{
	xv_queue_detach(&qp->sq, qp);
	xv_queue_detach(&qp->rq, qp);
	qp_release(qp);
}

static int qp_events(struct xv_opx *op, struct xv_qp *qp)
{
	if (xv_slot(op, XV_GRP_EVENTS, XV_EVENTS_QUEUE)) {
		qp->nodes = kcalloc(XV_QP_NUM_EVENTS, sizeof(*qp->nodes),
				    XV_GFP);
		if (!qp->nodes)
			return -ENOMEM;
	}
	xv_evsource_init(&qp->events, op, &qp->uobj, qp->nodes, qp_event_kinds,
			 qp->nodes ? XV_QP_NUM_EVENTS : 0);
	return 0;
}

static void qp_info(struct xv_qp *qp, struct xv_qp_info *info)
{
	xv_chunk_info(&qp->chunk, &info->area);
	info->send_entries = ring_entries(&qp->sq);
	info->recv_entries = ring_entries(&qp->rq);
	info->send_wr = qp->sq.depth;
	info->recv_wr = qp->rq.depth;
	info->send_sge = qp->send_sge;
	info->recv_sge = qp->recv_sge;
	info->qp_num = qp->ibqp->qp_num;
	info->type = qp->type;
	info->pd = xv_qp_pd(qp)->handle;
	info->send_cq = qp->sq.cq->uobj.handle;
	info->recv_cq = qp->rq.cq->uobj.handle;
	info->srq = qp->srq ? qp->srq->uobj.handle : 0;
	info->restrack_id = qp->ibqp->res.id;
	mutex_lock(&qp->lock);
	info->state = xv_qp_state(qp);
	info->generation = qp->gen;
	info->sq_psn = qp->sq_psn;
	info->sends_outstanding = qp->sq.taken - READ_ONCE(qp->sq.done);
	info->recvs_outstanding = qp->rq.taken - READ_ONCE(qp->rq.done);
	info->sends_early = qp->sq.taken - qp->sq.posted;
	info->path_mtu = qp->path_mtu;
	info->access = qp->access;
	mutex_unlock(&qp->lock);
}

static enum ib_qp_type ib_qp_type(u8 type)
{
	switch (type) {
	case XV_QPT_UC:
		return IB_QPT_UC;
	case XV_QPT_UD:
		return IB_QPT_UD;
	default:
		return IB_QPT_RC;
	}
}

static struct ib_qp *qp_create_hw(struct xv_call *call, struct xv_qp *qp)
{
	struct ib_qp_init_attr attr = {
		.event_handler = qp_event,
		.qp_context = qp,
		.send_cq = qp->sq.cq->ibcq,
		.recv_cq = qp->rq.cq->ibcq,
		.srq = qp->srq ? qp->srq->ibsrq : NULL,
		.cap = {
			.max_send_wr = qp->sq.depth,
			.max_recv_wr = qp->rq.depth,
			.max_send_sge = qp->send_sge,
			.max_recv_sge = qp->recv_sge,
			.max_inline_data = XV_MAX_INLINE,
		},
		/* We decide for each request whether the driver completes it. */
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = ib_qp_type(qp->type),
	};
	struct ib_qp *ibqp;

	qp->iwarp = rdma_protocol_iwarp(call->ibdev, 1);
	ibqp = ib_create_qp(xv_to_pd(xv_qp_pd(qp))->ibpd, &attr);
	if (!IS_ERR(ibqp))
		qp->can_inline = attr.cap.max_inline_data >= XV_MAX_INLINE;
	return ibqp;
}

static int qp_find_srq(struct xv_call *call, struct xv_opx *op,
		       struct xv_qp *qp)
{
	struct xv_uobj *srq = xv_handle(op, XV_OBJECT_SRQ);

	if (!srq)
		return 0;
	qp->srq = xv_to_srq(srq);
	/* Verbs allow another PD; but rxe looks memory up in the queue pair's. */
	if (xv_srq_pd(qp->srq) != xv_handle(op, XV_OBJECT_PD))
		return xv_fail_obj(call, op, XV_GRP_OBJECT, XV_OBJECT_SRQ,
				   XV_R_MISMATCH, srq);
	return 0;
}

static int qp_create(struct xv_call *call, struct xv_opx *op)
{
	struct xv_uobj *send_cq = xv_handle(op, XV_OBJECT_SEND_CQ);
	struct xv_uobj *recv_cq = xv_handle(op, XV_OBJECT_RECV_CQ);
	struct xv_qp *qp = xv_to_qp(op->obj);
	struct xv_qp_info info = {};
	struct ib_qp *ibqp;
	int ret;

	if (!recv_cq)
		recv_cq = send_cq;
	mutex_init(&qp->lock);
	spin_lock_init(&qp->conn_lock);
	INIT_WORK(&qp->work, xv_qp_work);
	qp->type = xv_value(op, XV_GRP_PARAMS, XV_PARAMS_QP_TYPE, XV_QPT_RC);
	qp->sig_all = xv_value(op, XV_GRP_PARAMS, XV_PARAMS_SQ_SIG_ALL, 0);
	qp->state = XV_QPS_RESET;
	qp->port = 1;
	qp->gen = get_random_u32();
	qp->sq_psn = get_random_u32() & 0xffffff;
	ret = qp_find_srq(call, op, qp);
	if (ret)
		return ret;
	ret = qp_read_caps(call, op, qp);
	if (ret)
		return ret;
	if (qp_events(op, qp) ||
	    qp_alloc_rings(call->file, qp, xv_to_cq(send_cq), xv_to_cq(recv_cq)))
		return xv_fail(call, op, 0, 0, XV_R_MEMORY, 0);
	qp->ring->generation = qp->gen;
	qp->budget = (u64)(qp->sq.depth + qp->rq.depth) * XV_WQE_BYTES;
	if (xv_file_charge(call->file, qp->budget)) {
		qp->budget = 0;
		return xv_fail(call, op, XV_GRP_CAPS, 0, XV_R_BUDGET, 0);
	}
	ret = qp_attach(call, op, qp);
	if (ret)
		return ret;
	xv_uobj_link(op->obj, XV_QP_EDGE_PD, xv_handle(op, XV_OBJECT_PD));
	xv_uobj_link(op->obj, XV_QP_EDGE_SEND_CQ, send_cq);
	xv_uobj_link(op->obj, XV_QP_EDGE_RECV_CQ, recv_cq);
	if (qp->srq)
		xv_uobj_link(op->obj, XV_QP_EDGE_SRQ, &qp->srq->uobj);
	ibqp = qp_create_hw(call, qp);
	if (IS_ERR(ibqp)) {
		qp_unattach(qp);
		return xv_fail_driver(call, op, PTR_ERR(ibqp));
	}
	qp->ibqp = ibqp;
	op->obj->hw = true;
	if (qp->srq)
		xv_srq_add_qp(qp);
	mutex_lock(&qp->lock);
	ret = xv_qp_init(call, op, qp);
	mutex_unlock(&qp->lock);
	if (ret)
		return ret;
	qp_info(qp, &info);
	return xv_result(call, op, &info, sizeof(info));
}

/* A new queue pair whose peer is known goes all the way. */
static int qp_create_last(struct xv_call *call, struct xv_opx *op)
{
	struct xv_qp *qp = xv_to_qp(op->obj);
	int ret;

	if (!xv_slot(op, XV_GRP_ADDRESS, XV_ADDRESS_QPN))
		return 0;
	mutex_lock(&qp->lock);
	ret = xv_qp_connect(call, op, qp);
	mutex_unlock(&qp->lock);
	return ret;
}

static void qp_create_commit(struct xv_call *call, struct xv_opx *op)
{
	if (xv_slot(op, XV_GRP_ADDRESS, XV_ADDRESS_QPN))
		xv_qp_let_go(xv_to_qp(op->obj));
}

/* ---- first receives ---- */

/**
 * xv_fail_first_recvs - fill the error record: a first receive was not posted
 * @call: the call
 * @op: the operation, of a queue pair or SRQ
 * @reason: enum xv_reason; for %XV_R_DRIVER &xv_error.raw is set already
 * @done: how many were posted before
 *
 * Return: the errno, negative.
 */
int xv_fail_first_recvs(struct xv_call *call, struct xv_opx *op, u16 reason,
			u32 done)
{
	int ret;

	if (reason == XV_R_DRIVER)
		ret = xv_fail_driver(call, op, -call->error.raw);
	else
		ret = xv_fail(call, op, 0, 0, reason, 0);
	call->error.group = XV_GRP_PARAMS;
	call->error.attr = XV_PARAMS_RECVS;
	call->error.detail = done;
	call->error.object = op->obj->type->id;
	call->error.handle = op->obj->handle;
	return ret;
}

static int qp_post_recv(struct xv_call *call, struct xv_opx *op)
{
	const struct xv_slot *slot = xv_slot(op, XV_GRP_PARAMS, XV_PARAMS_RECVS);
	u32 num = slot->len / sizeof(struct xv_recv);
	struct xv_qp *qp = xv_to_qp(op->obj);
	u16 reason;
	u32 done;

	if (qp->srq)
		return xv_fail(call, op, XV_GRP_PARAMS, XV_PARAMS_RECVS,
			       XV_R_HAS_SRQ, 0);
	if (num > xv_queue_free(&qp->rq))
		return xv_fail(call, op, XV_GRP_PARAMS, XV_PARAMS_RECVS,
			       XV_R_LENGTH, xv_queue_free(&qp->rq) *
			       sizeof(struct xv_recv));
	reason = xv_qp_post_first(call, qp, slot->buf, num, &done);
	return reason ? xv_fail_first_recvs(call, op, reason, done) : 0;
}

/* ---- destroy ---- */

/* Are there entries that the driver still has to end? */
static bool qp_is_busy(const struct xv_qp *qp)
{
	if (qp->state == XV_QPS_RESET || !qp->sq.attached)
		return false;
	/* What it takes from its SRQ from now on would be lost to the others. */
	if (qp->srq)
		return true;
	return qp->sq.polled != qp->sq.posted || qp->rq.polled != qp->rq.posted;
}

static int qp_destroy(struct xv_uobj *obj, enum xv_why why)
{
	struct xv_qp *qp = xv_to_qp(obj);
	int ret;

	mutex_lock(&qp->lock);
	WRITE_ONCE(qp->dead, true);
	mutex_unlock(&qp->lock);
	if (cancel_work_sync(&qp->work))
		xv_uobj_put(obj);
	mutex_lock(&qp->lock);
	if (qp_is_busy(qp) && !xv_qp_to_err(qp))
		xv_qp_drain(qp);
	mutex_unlock(&qp->lock);
	xv_queue_detach(&qp->sq, qp);
	xv_queue_detach(&qp->rq, qp);
	ret = ib_destroy_qp_user(qp->ibqp, NULL);
	if (ret)
		return ret;
	qp_release(qp);
	return 0;
}

static void qp_publish(struct xv_uobj *obj)
{
	xv_evsource_unmute(&xv_to_qp(obj)->events);
}

static void qp_unpublish(struct xv_uobj *obj, enum xv_why why)
{
	struct xv_qp *qp = xv_to_qp(obj);

	if (why != XV_WHY_REMOVE)
		xv_evsource_stop(&qp->events);
	mutex_lock(&qp->lock);
	WRITE_ONCE(qp->dead, true);
	mutex_unlock(&qp->lock);
}

static void qp_free(struct xv_uobj *obj)
{
	struct xv_qp *qp = xv_to_qp(obj);

	xv_evsource_free(&qp->events);
	kfree(qp->nodes);
	xv_chunk_free(obj->file, &qp->chunk);
	xv_file_uncharge(obj->file, qp->budget);
	kvfree(qp->sq.slots);
	kvfree(qp->rq.slots);
}

/* A driver may fail a queue pair, for what its peer did, and tell nobody. */
static void qp_ask_driver(struct xv_qp *qp)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr = {};

	if (ib_query_qp(qp->ibqp, &attr, IB_QP_STATE, &init))
		return;
	if (attr.qp_state == IB_QPS_ERR || attr.qp_state == IB_QPS_SQE)
		xv_qp_failed(qp, 0);
}

static int qp_query(struct xv_call *call, struct xv_opx *op)
{
	struct xv_qp_info info = {};

	qp_ask_driver(xv_to_qp(op->obj));
	qp_info(xv_to_qp(op->obj), &info);
	return xv_result(call, op, &info, sizeof(info));
}

/* ---- modify and connect ---- */

static int qp_connect_last(struct xv_call *call, struct xv_opx *op)
{
	struct xv_qp *qp = xv_to_qp(op->obj);
	int ret;

	mutex_lock(&qp->lock);
	ret = xv_qp_connect(call, op, qp);
	mutex_unlock(&qp->lock);
	return ret;
}

/* ---- room ---- */

static int qp_watch_room(struct xv_call *call, struct xv_opx *op)
{
	u32 slots = xv_value(op, XV_GRP_PARAMS, XV_PARAMS_SLOTS, 0);
	struct xv_qp *qp = xv_to_qp(op->obj);
	u16 reason;

	reason = xv_qp_watch_room(qp, slots, xv_value(op, XV_GRP_PARAMS,
						      XV_PARAMS_COOKIE, 0));
	return reason ? xv_fail(call, op, XV_GRP_PARAMS, XV_PARAMS_SLOTS,
				reason, qp->sq.depth) : 0;
}

/* ---- tables ---- */

static const struct xv_attr_spec new_object_attrs[] = {
	{ .id = XV_OBJECT_HANDLE, .name = "handle", .kind = XV_K_NEW,
	  .type = XV_OBJ_QP, .required = true },
	{ .id = XV_OBJECT_PD, .name = "pd", .kind = XV_K_READ,
	  .type = XV_OBJ_PD, .required = true },
	{ .id = XV_OBJECT_SEND_CQ, .name = "send_cq", .kind = XV_K_READ,
	  .type = XV_OBJ_CQ, .required = true },
	{ .id = XV_OBJECT_RECV_CQ, .name = "recv_cq", .kind = XV_K_READ,
	  .type = XV_OBJ_CQ },
	{ .id = XV_OBJECT_SRQ, .name = "srq", .kind = XV_K_READ,
	  .type = XV_OBJ_SRQ },
};

static const struct xv_attr_spec caps_attrs[] = {
	{ .id = XV_CAPS_SEND_WR, .name = "send_wr", .kind = XV_K_U32,
	  .min = 1, .max = XV_MAX_QP_WR, .required = true },
	{ .id = XV_CAPS_RECV_WR, .name = "recv_wr", .kind = XV_K_U32,
	  .max = XV_MAX_QP_WR, .required = true },
	{ .id = XV_CAPS_SEND_SGE, .name = "send_sge", .kind = XV_K_U32,
	  .min = 1, .max = XV_MAX_SEND_SGE },
	{ .id = XV_CAPS_RECV_SGE, .name = "recv_sge", .kind = XV_K_U32,
	  .min = 1, .max = XV_MAX_RECV_SGE },
};

static const struct xv_attr_spec access_attrs[] = {
	{ .id = XV_ACCESS_FLAGS, .name = "flags", .kind = XV_K_BITS,
	  .max = XV_ACCESS_REMOTE_WRITE | XV_ACCESS_REMOTE_READ |
		 XV_ACCESS_REMOTE_ATOMIC },
};

static const struct xv_attr_spec create_params_attrs[] = {
	{ .id = XV_PARAMS_QP_TYPE, .name = "qp_type", .kind = XV_K_ENUM,
	  .max = 1ULL << XV_QPT_RC | 1ULL << XV_QPT_UC | 1ULL << XV_QPT_UD },
	{ .id = XV_PARAMS_SQ_SIG_ALL, .name = "sq_sig_all", .kind = XV_K_U32,
	  .max = 1 },
};

static const struct xv_attr_spec modify_params_attrs[] = {
	{ .id = XV_PARAMS_STATE, .name = "state", .kind = XV_K_ENUM,
	  .max = 1ULL << XV_QPS_RESET | 1ULL << XV_QPS_INIT |
		 1ULL << XV_QPS_RTR | 1ULL << XV_QPS_RTS | 1ULL << XV_QPS_ERR,
	  .required = true },
};

static const struct xv_attr_spec recv_params_attrs[] = {
	{ .id = XV_PARAMS_RECVS, .name = "recvs", .kind = XV_K_IN,
	  .min = sizeof(struct xv_recv), .step = sizeof(struct xv_recv),
	  .max = XV_MAX_BYTES - sizeof(struct xv_recv), .required = true },
};

static const struct xv_attr_spec room_params_attrs[] = {
	{ .id = XV_PARAMS_SLOTS, .name = "slots", .kind = XV_K_U32,
	  .max = XV_MAX_QP_WR, .required = true },
	{ .id = XV_PARAMS_COOKIE, .name = "cookie", .kind = XV_K_U64,
	  .max = U64_MAX },
};

XV_DEFINE_GROUP(new_object, XV_GRP_OBJECT, "object");
XV_DEFINE_OBJECT_GROUP(destroy_object, XV_K_DESTROY, XV_OBJ_QP);
XV_DEFINE_OBJECT_GROUP(read_object, XV_K_READ, XV_OBJ_QP);
XV_DEFINE_OBJECT_GROUP(write_object, XV_K_WRITE, XV_OBJ_QP);
XV_DEFINE_GROUP(caps, XV_GRP_CAPS, "caps");
XV_DEFINE_GROUP(access, XV_GRP_ACCESS, "access");
XV_DEFINE_GROUP(create_params, XV_GRP_PARAMS, "params");
XV_DEFINE_GROUP(modify_params, XV_GRP_PARAMS, "params");
XV_DEFINE_GROUP(recv_params, XV_GRP_PARAMS, "params");
XV_DEFINE_GROUP(room_params, XV_GRP_PARAMS, "params");
XV_DEFINE_RESULT_GROUP(result, struct xv_qp_info);

static const struct xv_group_use create_groups[] = {
	{ .group = &new_object, .required = true },
	{ .group = &xv_group_events },
	{ .group = &caps, .required = true },
	{ .group = &access },
	{ .group = &xv_group_address },
	{ .group = &xv_group_path },
	{ .group = &create_params },
	{ .group = &result, .required = true },
};

static const struct xv_group_use destroy_groups[] = {
	{ .group = &destroy_object, .required = true },
};

static const struct xv_group_use query_groups[] = {
	{ .group = &read_object, .required = true },
	{ .group = &result, .required = true },
};

static const struct xv_group_use modify_groups[] = {
	{ .group = &write_object, .required = true },
	{ .group = &access },
	{ .group = &xv_group_address },
	{ .group = &xv_group_path },
	{ .group = &modify_params, .required = true },
};

static const struct xv_group_use connect_groups[] = {
	{ .group = &write_object, .required = true },
	{ .group = &access },
	{ .group = &xv_group_address },
	{ .group = &xv_group_path },
};

static const struct xv_group_use recv_groups[] = {
	{ .group = &write_object, .required = true },
	{ .group = &recv_params, .required = true },
};

static const struct xv_group_use room_groups[] = {
	{ .group = &write_object, .required = true },
	{ .group = &room_params, .required = true },
};

static const struct xv_method_spec qp_methods[] = {
	{ .id = XV_M_CREATE, .name = "create", .class = XV_C_CREATE,
	  .groups = create_groups, .num_groups = ARRAY_SIZE(create_groups),
	  .check = xv_qp_check_connect, .make = qp_create,
	  .last = qp_create_last, .commit = qp_create_commit },
	{ .id = XV_M_DESTROY, .name = "destroy", .class = XV_C_DESTROY,
	  .groups = destroy_groups, .num_groups = ARRAY_SIZE(destroy_groups) },
	{ .id = XV_M_QUERY, .name = "query", .class = XV_C_QUERY,
	  .groups = query_groups, .num_groups = ARRAY_SIZE(query_groups),
	  .make = qp_query },
	{ .id = XV_M_MODIFY, .name = "modify", .class = XV_C_MODIFY,
	  .groups = modify_groups, .num_groups = ARRAY_SIZE(modify_groups),
	  .check = xv_qp_check_connect, .last = xv_qp_modify,
	  .commit = xv_qp_settle },
	{ .id = XV_M_CONNECT, .name = "connect", .class = XV_C_MODIFY,
	  .groups = connect_groups, .num_groups = ARRAY_SIZE(connect_groups),
	  .check = xv_qp_check_connect, .last = qp_connect_last,
	  .commit = xv_qp_settle },
	{ .id = XV_M_POST_RECV, .name = "post_recv", .class = XV_C_POST,
	  .groups = recv_groups, .num_groups = ARRAY_SIZE(recv_groups),
	  .make = qp_post_recv },
	{ .id = XV_M_WATCH_ROOM, .name = "watch_room", .class = XV_C_MODIFY,
	  .groups = room_groups, .num_groups = ARRAY_SIZE(room_groups),
	  .last = qp_watch_room },
};

static const struct xv_type_ops qp_ops = {
	.size = sizeof(struct xv_qp),
	.edges = offsetof(struct xv_qp, edges),
	.num_edges = XV_QP_NUM_EDGES,
	.destroy = qp_destroy,
	.publish = qp_publish,
	.unpublish = qp_unpublish,
	.free = qp_free,
};

const struct xv_type xv_type_qp = {
	.id = XV_OBJ_QP, .name = "qp",
	.methods = qp_methods, .num_methods = ARRAY_SIZE(qp_methods),
	.ops = &qp_ops,
};
