// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * qp: changes of state, and the attributes that come with them.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * The core trusts whoever modifies a kernel QP: a port number that is too large
 * indexes its tables, and an address without a link address sends to nowhere.
 * So everything is checked here first, and what the driver then refuses is a
 * failure of the driver.
 */
#include <linux/bottom_half.h>
#include <linux/capability.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include "../data/data.h"
#include "../trace.h"
#include "address.h"
#include "conn.h"
#include "pd.h"
#include "qp_state.h"

/* How long posted entries may take to end after the queue pair has failed. */
#define XV_DRAIN_MS	1000

static const struct xv_attr_spec address_attrs[] = {
	{ .id = XV_ADDRESS_QPN, .name = "qpn", .kind = XV_K_U32,
	  .min = 1, .max = 0xffffff, .required = true },
	{ .id = XV_ADDRESS_GID, .name = "gid", .kind = XV_K_IN,
	  .min = 16, .max = 16 },
	{ .id = XV_ADDRESS_LID, .name = "lid", .kind = XV_K_U32,
	  .max = 0xffff },
	{ .id = XV_ADDRESS_PSN, .name = "psn", .kind = XV_K_U32,
	  .max = 0xffffff, .required = true },
};

/* The group of all methods that take a queue pair to RTR. */
const struct xv_group_spec xv_group_address = {
	.id = XV_GRP_ADDRESS, .name = "address",
	.attrs = address_attrs, .num_attrs = ARRAY_SIZE(address_attrs),
};

static const struct xv_attr_spec path_attrs[] = {
	{ .id = XV_PATH_PORT, .name = "port", .kind = XV_K_U32,
	  .min = 1, .max = 255 },
	{ .id = XV_PATH_SGID_INDEX, .name = "sgid_index", .kind = XV_K_U32,
	  .max = 255 },
	{ .id = XV_PATH_PKEY_INDEX, .name = "pkey_index", .kind = XV_K_U32,
	  .max = 0xffff },
	{ .id = XV_PATH_MTU, .name = "mtu", .kind = XV_K_U32,
	  .min = 256, .max = 4096 },
	{ .id = XV_PATH_SL, .name = "sl", .kind = XV_K_U32, .max = 15 },
	{ .id = XV_PATH_TRAFFIC_CLASS, .name = "traffic_class",
	  .kind = XV_K_U32, .max = 255 },
	{ .id = XV_PATH_FLOW_LABEL, .name = "flow_label", .kind = XV_K_U32,
	  .max = 0xfffff },
	{ .id = XV_PATH_HOP_LIMIT, .name = "hop_limit", .kind = XV_K_U32,
	  .min = 1, .max = 255 },
	{ .id = XV_PATH_TIMEOUT, .name = "timeout", .kind = XV_K_U32,
	  .max = 31 },
	{ .id = XV_PATH_RETRY_CNT, .name = "retry_cnt", .kind = XV_K_U32,
	  .max = 7 },
	{ .id = XV_PATH_RNR_RETRY, .name = "rnr_retry", .kind = XV_K_U32,
	  .max = 7 },
	{ .id = XV_PATH_MIN_RNR_TIMER, .name = "min_rnr_timer",
	  .kind = XV_K_U32, .max = 31 },
	{ .id = XV_PATH_RD_ATOMIC, .name = "rd_atomic", .kind = XV_K_U32,
	  .max = 255 },
	{ .id = XV_PATH_DEST_RD_ATOMIC, .name = "dest_rd_atomic",
	  .kind = XV_K_U32, .max = 255 },
	{ .id = XV_PATH_SQ_PSN, .name = "sq_psn", .kind = XV_K_U32,
	  .max = 0xffffff },
	{ .id = XV_PATH_QKEY, .name = "qkey", .kind = XV_K_U32,
	  .max = U32_MAX },
};

/* The group of all methods that change the state of a queue pair. */
const struct xv_group_spec xv_group_path = {
	.id = XV_GRP_PATH, .name = "path",
	.attrs = path_attrs, .num_attrs = ARRAY_SIZE(path_attrs),
};

/**
 * xv_qp_set_state - the state has changed
 * @qp: the queue pair, with the ring mutex held
 * @state: enum xv_qp_state
 */
void xv_qp_set_state(struct xv_qp *qp, u8 state)
{
	lockdep_assert_held(&qp->lock);
	trace_xv_qp_state(&qp->uobj, qp->state, state);
	WRITE_ONCE(qp->state, state);
	WRITE_ONCE(qp->ring->state, state);
	/* Pairs with xv_qp_note_failed(). */
	smp_mb();
	if (READ_ONCE(qp->failed))
		WRITE_ONCE(qp->ring->state, XV_QPS_ERR);
	if (state == XV_QPS_ERR) {
		xv_queue_failed(&qp->sq);
		xv_queue_failed(&qp->rq);
	}
	/* In RTR a receive must be seen even if nobody calls ENTER. */
	xv_queue_auto_reap(&qp->rq, XV_AUTO_RTR,
			   state == XV_QPS_RTR && qp->events.q);
}

static int driver_modify(struct xv_call *call, struct xv_opx *op,
			 struct xv_qp *qp, struct ib_qp_attr *attr, int mask)
{
	int ret = ib_modify_qp(qp->ibqp, attr, mask | IB_QP_STATE);

	return ret ? xv_fail_driver(call, op, ret) : 0;
}

static u64 path_value(const struct xv_opx *op, u16 id, u64 absent)
{
	return xv_value(op, XV_GRP_PATH, id, absent);
}

/* ---- INIT ---- */

/**
 * struct xv_init_values - what INIT sets
 * @port: port of the device
 * @pkey_index: entry of its P_Key table
 * @access: XV_ACCESS_*
 * @qkey: Q_Key, for UD
 */
struct xv_init_values {
	u32 port;
	u32 pkey_index;
	u32 access;
	u32 qkey;
};

static int check_init(struct xv_call *call, struct xv_opx *op,
		      struct xv_qp *qp, struct xv_init_values *v)
{
	struct ib_port_attr port_attr;
	int ret;

	v->port = path_value(op, XV_PATH_PORT, qp->port);
	v->pkey_index = path_value(op, XV_PATH_PKEY_INDEX, qp->pkey_index);
	v->access = xv_value(op, XV_GRP_ACCESS, XV_ACCESS_FLAGS, qp->access);
	v->qkey = path_value(op, XV_PATH_QKEY, qp->qkey);
	if (v->qkey & XV_QKEY_PRIVILEGED && v->qkey != qp->qkey &&
	    !ns_capable(current->nsproxy->net_ns->user_ns, CAP_NET_RAW))
		return xv_fail(call, op, XV_GRP_PATH, XV_PATH_QKEY,
			       XV_R_PERMISSION, 0);
	if (!rdma_is_port_valid(call->ibdev, v->port))
		return xv_fail(call, op, XV_GRP_PATH, XV_PATH_PORT, XV_R_RANGE,
			       call->ibdev->phys_port_cnt);
	ret = ib_query_port(call->ibdev, v->port, &port_attr);
	if (ret)
		return xv_fail_driver(call, op, ret);
	/* iWARP has none, and a table without entries. */
	if (rdma_ib_or_roce(call->ibdev, v->port) &&
	    v->pkey_index >= port_attr.pkey_tbl_len)
		return xv_fail(call, op, XV_GRP_PATH, XV_PATH_PKEY_INDEX,
			       XV_R_RANGE, port_attr.pkey_tbl_len - 1);
	return 0;
}

static int to_init(struct xv_call *call, struct xv_opx *op, struct xv_qp *qp,
		   const struct xv_init_values *v)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	int mask = IB_QP_PORT | IB_QP_PKEY_INDEX;
	int ret;

	attr.port_num = v->port;
	attr.pkey_index = v->pkey_index;
	if (v->access & XV_ACCESS_REMOTE_WRITE)
		attr.qp_access_flags |= IB_ACCESS_REMOTE_WRITE;
	if (v->access & XV_ACCESS_REMOTE_READ)
		attr.qp_access_flags |= IB_ACCESS_REMOTE_READ;
	if (v->access & XV_ACCESS_REMOTE_ATOMIC)
		attr.qp_access_flags |= IB_ACCESS_REMOTE_ATOMIC;
	attr.qkey = v->qkey;
	mask |= qp->type == XV_QPT_UD ? IB_QP_QKEY : IB_QP_ACCESS_FLAGS;
	ret = driver_modify(call, op, qp, &attr, mask);
	if (ret)
		return ret;
	qp->port = v->port;
	qp->qkey = v->qkey;
	qp->pkey_index = v->pkey_index;
	qp->access = v->access;
	xv_qp_set_state(qp, XV_QPS_INIT);
	return 0;
}

/**
 * xv_qp_init - RESET to INIT
 * @call: the call
 * @op: an operation with the groups path and access
 * @qp: the queue pair, with the ring mutex held
 *
 * Return: 0 or what xv_fail() returned.
 */
int xv_qp_init(struct xv_call *call, struct xv_opx *op, struct xv_qp *qp)
{
	struct xv_init_values v;
	int ret;

	ret = check_init(call, op, qp, &v);
	return ret ? ret : to_init(call, op, qp, &v);
}

/* ---- RTR ---- */

static int mtu_to_ib(u32 bytes)
{
	switch (bytes) {
	case 256:
		return IB_MTU_256;
	case 512:
		return IB_MTU_512;
	case 1024:
		return IB_MTU_1024;
	case 2048:
		return IB_MTU_2048;
	case 4096:
		return IB_MTU_4096;
	}
	return 0;
}

static int fill_mtu(struct xv_call *call, struct xv_opx *op,
		    const struct xv_qp *qp, u32 port_num,
		    struct ib_qp_attr *attr, bool to_self)
{
	struct ib_port_attr port;
	enum ib_mtu max;
	int ret;

	ret = ib_query_port(call->ibdev, port_num, &port);
	if (ret)
		return xv_fail_driver(call, op, ret);
	/* Devices drop longer datagrams without a word: there is no more. */
	max = qp->type == XV_QPT_UD ? port.active_mtu : port.max_mtu;
	attr->path_mtu = to_self ? port.max_mtu : port.active_mtu;
	if (xv_slot(op, XV_GRP_PATH, XV_PATH_MTU))
		attr->path_mtu = mtu_to_ib(path_value(op, XV_PATH_MTU, 0));
	if (!attr->path_mtu || attr->path_mtu > max)
		return xv_fail(call, op, XV_GRP_PATH, XV_PATH_MTU, XV_R_RANGE,
			       ib_mtu_enum_to_int(max));
	return 0;
}

static int fill_address(struct xv_call *call, struct xv_opx *op,
			struct xv_qp *qp, u32 port, struct ib_qp_attr *attr)
{
	bool to_self;
	int ret;

	ret = xv_address_fill(call, op, xv_to_pd(xv_qp_pd(qp))->ibpd, port,
			      &attr->ah_attr, &to_self);
	return ret ? ret : fill_mtu(call, op, qp, port, attr, to_self);
}

static int fill_rd_atomic(struct xv_call *call, struct xv_opx *op, u16 id,
			  int device_max, u8 *out)
{
	u32 max = clamp(device_max, 0, 255);
	u32 value = path_value(op, id, min_t(u32, max, XV_MAX_RD_ATOMIC));

	if (value > max)
		return xv_fail(call, op, XV_GRP_PATH, id, XV_R_RANGE, max);
	*out = value;
	return 0;
}

static int fill_rtr(struct xv_call *call, struct xv_opx *op, struct xv_qp *qp,
		    u32 port, struct ib_qp_attr *attr)
{
	int ret;

	*attr = (struct ib_qp_attr){ .qp_state = IB_QPS_RTR };
	if (qp->type == XV_QPT_UD)
		return fill_mtu(call, op, qp, port, attr, false);
	ret = fill_address(call, op, qp, port, attr);
	if (ret)
		return ret;
	attr->dest_qp_num = xv_value(op, XV_GRP_ADDRESS, XV_ADDRESS_QPN, 0);
	attr->rq_psn = xv_value(op, XV_GRP_ADDRESS, XV_ADDRESS_PSN, 0);
	attr->min_rnr_timer = path_value(op, XV_PATH_MIN_RNR_TIMER,
					 XV_MIN_RNR_TIMER);
	return fill_rd_atomic(call, op, XV_PATH_DEST_RD_ATOMIC,
			      call->ibdev->attrs.max_qp_rd_atom,
			      &attr->max_dest_rd_atomic);
}

static int to_rtr(struct xv_call *call, struct xv_opx *op, struct xv_qp *qp,
		  struct ib_qp_attr *attr)
{
	int mask = 0;
	int ret;

	if (qp->type != XV_QPT_UD)
		mask = IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
		       IB_QP_RQ_PSN;
	if (qp->type == XV_QPT_RC)
		mask |= IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
	ret = driver_modify(call, op, qp, attr, mask);
	if (ret)
		return ret;
	qp->path_mtu = ib_mtu_enum_to_int(attr->path_mtu);
	xv_qp_set_state(qp, XV_QPS_RTR);
	return 0;
}

/* ---- RTS ---- */

static int fill_rts(struct xv_call *call, struct xv_opx *op, struct xv_qp *qp,
		    struct ib_qp_attr *attr)
{
	*attr = (struct ib_qp_attr){ .qp_state = IB_QPS_RTS };
	attr->timeout = path_value(op, XV_PATH_TIMEOUT, 14);
	attr->retry_cnt = path_value(op, XV_PATH_RETRY_CNT, 7);
	attr->rnr_retry = path_value(op, XV_PATH_RNR_RETRY, 7);
	attr->sq_psn = path_value(op, XV_PATH_SQ_PSN, qp->sq_psn);
	return fill_rd_atomic(call, op, XV_PATH_RD_ATOMIC,
			      call->ibdev->attrs.max_qp_init_rd_atom,
			      &attr->max_rd_atomic);
}

static int to_rts(struct xv_call *call, struct xv_opx *op, struct xv_qp *qp,
		  struct ib_qp_attr *attr)
{
	int mask = IB_QP_SQ_PSN;
	int ret;

	if (qp->type == XV_QPT_RC)
		mask |= IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			IB_QP_MAX_QP_RD_ATOMIC;
	ret = driver_modify(call, op, qp, attr, mask);
	if (ret)
		return ret;
	qp->sq_psn = attr->sq_psn;
	xv_qp_set_state(qp, XV_QPS_RTS);
	return 0;
}

/* ---- ERR and RESET ---- */

/**
 * xv_qp_to_err - fail a queue pair: everything outstanding ends as flushed
 * @qp: the queue pair, with the ring mutex held
 *
 * Return: 0 or what the driver answered.
 */
int xv_qp_to_err(struct xv_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	int ret;

	ret = ib_modify_qp(qp->ibqp, &attr, IB_QP_STATE);
	if (ret)
		return ret;
	xv_qp_set_state(qp, XV_QPS_ERR);
	return 0;
}

/**
 * xv_qp_drain - wait until all posted entries have ended
 * @qp: a queue pair in ERR, with the ring mutex held
 *
 * Bounded: what a driver forgets is dropped by its generation.
 */
void xv_qp_drain(struct xv_qp *qp)
{
	unsigned long end = jiffies + msecs_to_jiffies(XV_DRAIN_MS);
	bool sends, recvs;

	for (;;) {
		/* rxe may do it in tasklets of this CPU: they need not wait. */
		local_bh_disable();
		local_bh_enable();
		sends = xv_queue_drain(&qp->sq);
		recvs = xv_queue_drain(&qp->rq);
		if ((sends && recvs) || time_after(jiffies, end))
			return;
		usleep_range(50, 200);
	}
}

/* RESET of a live queue pair races with its traffic in rxe: end that first. */
static int to_reset(struct xv_call *call, struct xv_opx *op, struct xv_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };
	int ret;

	if (qp->state != XV_QPS_RESET && qp->state != XV_QPS_ERR) {
		ret = xv_qp_to_err(qp);
		if (ret)
			return xv_fail_driver(call, op, ret);
	}
	xv_qp_drain(qp);
	ret = driver_modify(call, op, qp, &attr, 0);
	if (ret) {
		/* It is in ERR now, where nothing waits. */
		xv_qp_flush_early(qp);
		return ret;
	}
	qp->gen++;
	WRITE_ONCE(qp->ring->generation, qp->gen);
	qp->comm_est = false;
	WRITE_ONCE(qp->cut, false);
	qp->path_mtu = 0;
	qp->sq_psn = get_random_u32() & 0xffffff;
	xv_queue_restart(&qp->sq, qp);
	xv_queue_restart(&qp->rq, qp);
	/* From here on no reaper looks at an error of the old generation. */
	WRITE_ONCE(qp->failed, false);
	xv_qp_set_state(qp, XV_QPS_RESET);
	return 0;
}

/* ---- methods ---- */

/**
 * xv_qp_check_connect - what can be said of an address without the device
 * @call: the call
 * @op: an operation with the groups address and path
 *
 * Return: 0 or what xv_fail() returned.
 */
int xv_qp_check_connect(struct xv_call *call, struct xv_opx *op)
{
	const struct xv_slot *mtu = xv_slot(op, XV_GRP_PATH, XV_PATH_MTU);

	/* No limit is broken: it is none of the five. */
	if (mtu && !mtu_to_ib(mtu->data))
		return xv_fail(call, op, XV_GRP_PATH, XV_PATH_MTU, XV_R_RANGE,
			       0);
	return 0;
}

static int check_bare(struct xv_call *call, struct xv_opx *op,
		      struct xv_qp *qp)
{
	bool has_address = xv_slot(op, XV_GRP_ADDRESS, XV_ADDRESS_QPN);

	/* On iWARP only the connection manager can connect. */
	if (!rdma_ib_or_roce(call->ibdev, qp->port))
		return xv_fail(call, op, 0, 0, XV_R_CAPABILITY, 0);
	/* A datagram has its address with it. */
	if (qp->type == XV_QPT_UD && has_address)
		return xv_fail(call, op, XV_GRP_ADDRESS, 0, XV_R_MISMATCH, 0);
	if (qp->type != XV_QPT_UD && !has_address)
		return xv_fail(call, op, XV_GRP_ADDRESS, 0, XV_R_MISSING, 0);
	return 0;
}

/**
 * xv_qp_connect - RESET or INIT to RTS
 * @call: the call
 * @op: an operation with the groups address and path
 * @qp: the queue pair, with the ring mutex held
 *
 * A request that is refused changes nothing. If the driver fails half way the
 * queue pair is in ERR.
 *
 * Return: 0 or what xv_fail() returned.
 */
int xv_qp_connect(struct xv_call *call, struct xv_opx *op, struct xv_qp *qp)
{
	struct ib_qp_attr rtr, rts;
	struct xv_init_values v;
	u8 state = xv_qp_state(qp);
	int ret;

	ret = xv_conn_check_none(call, op, XV_OBJECT_HANDLE, qp);
	if (ret)
		return ret;
	if (state != XV_QPS_RESET && state != XV_QPS_INIT)
		return xv_fail(call, op, 0, 0, XV_R_STATE, state);
	ret = check_bare(call, op, qp);
	if (ret)
		return ret;
	/* All that can be wrong is found before anything is changed. */
	ret = check_init(call, op, qp, &v);
	if (ret)
		return ret;
	ret = fill_rtr(call, op, qp, v.port, &rtr);
	if (ret)
		return ret;
	ret = fill_rts(call, op, qp, &rts);
	if (ret)
		return ret;
	/* INIT to INIT: port, P_Key and rights are set there, nowhere else. */
	if (state == XV_QPS_RESET || v.port != qp->port ||
	    v.pkey_index != qp->pkey_index || v.access != qp->access ||
	    v.qkey != qp->qkey) {
		ret = to_init(call, op, qp, &v);
		if (ret)
			return ret;
	}
	ret = to_rtr(call, op, qp, &rtr);
	if (!ret)
		ret = to_rts(call, op, qp, &rts);
	if (ret && !xv_qp_to_err(qp))
		xv_qp_flush_early(qp);
	return ret;
}

static int modify(struct xv_call *call, struct xv_opx *op, struct xv_qp *qp)
{
	u32 to = xv_value(op, XV_GRP_PARAMS, XV_PARAMS_STATE, 0);
	u8 from = xv_qp_state(qp);
	struct ib_qp_attr attr;
	int ret;

	ret = xv_conn_check_none(call, op, XV_OBJECT_HANDLE, qp);
	if (ret)
		return ret;
	switch (to) {
	case XV_QPS_RESET:
		/* siw says yes, and stays where it is. */
		if (qp->iwarp)
			return xv_fail(call, op, XV_GRP_PARAMS, XV_PARAMS_STATE,
				       XV_R_CAPABILITY, 0);
		return to_reset(call, op, qp);
	case XV_QPS_INIT:
		if (from != XV_QPS_RESET && from != XV_QPS_INIT)
			break;
		return xv_qp_init(call, op, qp);
	case XV_QPS_RTR:
		if (from != XV_QPS_INIT)
			break;
		ret = check_bare(call, op, qp);
		if (!ret)
			ret = fill_rtr(call, op, qp, qp->port, &attr);
		return ret ? ret : to_rtr(call, op, qp, &attr);
	case XV_QPS_RTS:
		if (from != XV_QPS_RTR)
			break;
		ret = fill_rts(call, op, qp, &attr);
		return ret ? ret : to_rts(call, op, qp, &attr);
	case XV_QPS_ERR:
		if (from == XV_QPS_RESET)
			break;
		ret = xv_qp_to_err(qp);
		return ret ? xv_fail_driver(call, op, ret) : 0;
	}
	return xv_fail(call, op, XV_GRP_PARAMS, XV_PARAMS_STATE, XV_R_STATE,
		       from);
}

/**
 * xv_qp_modify - the last step of qp.modify
 * @call: the call
 * @op: the operation
 *
 * Return: 0 or what xv_fail() returned.
 */
int xv_qp_modify(struct xv_call *call, struct xv_opx *op)
{
	struct xv_qp *qp = xv_to_qp(op->obj);
	int ret;

	mutex_lock(&qp->lock);
	ret = modify(call, op, qp);
	mutex_unlock(&qp->lock);
	return ret;
}

/**
 * xv_qp_settle - commit of a change of state: the early sends
 * @call: the call
 * @op: the operation
 */
void xv_qp_settle(struct xv_call *call, struct xv_opx *op)
{
	struct xv_qp *qp = xv_to_qp(op->obj);

	mutex_lock(&qp->lock);
	xv_qp_early(qp);
	mutex_unlock(&qp->lock);
}
