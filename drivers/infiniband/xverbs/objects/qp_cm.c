// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * qp: the changes of state that a connection brings with it.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * The connection manager knows path, numbers and timers, but not the queue pair
 * (see conn.c). What the peer may do is never its business: it would grant
 * nothing before the request is there and everything afterwards.
 */
#include "../data/data.h"
#include "cm.h"
#include "qp_state.h"

static int ib_access(u32 access)
{
	return (access & XV_ACCESS_REMOTE_WRITE ? IB_ACCESS_REMOTE_WRITE : 0) |
	       (access & XV_ACCESS_REMOTE_READ ? IB_ACCESS_REMOTE_READ : 0) |
	       (access & XV_ACCESS_REMOTE_ATOMIC ? IB_ACCESS_REMOTE_ATOMIC : 0);
}

/* The driver goes to a state with what the connection manager says of it. */
static int go(struct xv_qp *qp, struct rdma_cm_id *id, struct ib_qp_attr *attr)
{
	int mask;
	int ret;

	ret = rdma_init_qp_attr(id, attr, &mask);
	if (ret)
		return ret;
	attr->qp_access_flags = ib_access(qp->access);
	return ib_modify_qp(qp->ibqp, attr, mask);
}

/**
 * xv_qp_cm_init - INIT once more: port and P_Key are known now
 * @qp: the queue pair, in INIT, with the ring mutex held
 * @id: its connection's id, with a device
 *
 * Return: 0 or a negative errno of the core or the driver.
 */
int xv_qp_cm_init(struct xv_qp *qp, struct rdma_cm_id *id)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	int ret;

	lockdep_assert_held(&qp->lock);
	/* On iWARP the provider does all this when it connects. */
	if (qp->iwarp)
		return 0;
	ret = go(qp, id, &attr);
	if (ret)
		return ret;
	qp->port = attr.port_num;
	qp->pkey_index = attr.pkey_index;
	return 0;
}

/**
 * xv_qp_cm_connect - INIT to RTS
 * @qp: the queue pair, with the ring mutex held
 * @id: its connection's id, which knows the peer
 *
 * Return: 0 or a negative errno of the core or the driver.
 */
int xv_qp_cm_connect(struct xv_qp *qp, struct rdma_cm_id *id)
{
	struct ib_qp_attr rtr = { .qp_state = IB_QPS_RTR };
	struct ib_qp_attr rts = { .qp_state = IB_QPS_RTS };
	int ret;

	lockdep_assert_held(&qp->lock);
	if (!qp->iwarp) {
		ret = go(qp, id, &rtr);
		if (ret)
			return ret;
		qp->path_mtu = ib_mtu_enum_to_int(rtr.path_mtu);
	}
	xv_qp_set_state(qp, XV_QPS_RTR);
	if (!qp->iwarp) {
		ret = go(qp, id, &rts);
		if (ret)
			return ret;
		qp->sq_psn = rts.sq_psn;
	}
	xv_qp_set_state(qp, XV_QPS_RTS);
	return 0;
}
