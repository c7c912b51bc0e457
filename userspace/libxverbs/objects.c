// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Typed calls: one operation each. No value is checked here; the kernel does
 * it, and tells what is wrong better than a second check could.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "put.h"

int xv_get_opts(void *opts, size_t size, const void *user)
{
	uint32_t user_size;
	const uint8_t *tail;
	size_t i;

	if (!user)
		return XV_R_MISSING;
	memcpy(&user_size, user, sizeof(user_size));
	if (user_size < sizeof(user_size))
		return XV_R_LENGTH;
	tail = user;
	for (i = size; i < user_size; i++)
		if (tail[i])
			return XV_R_TAIL;
	memset(opts, 0, size);
	memcpy(opts, user, user_size < size ? user_size : size);
	return 0;
}

/* A GID of zeros is none. */
static void put_gid(struct xv_tx *tx, const uint8_t *gid)
{
	static const uint8_t no_gid[16];

	if (memcmp(gid, no_gid, sizeof(no_gid)))
		xv_tx_copy(tx, XV_GRP_ADDRESS, XV_ADDRESS_GID, gid,
			   sizeof(no_gid));
}

/* ------------------------------------------------------------------------
 * device
 */

XV_PUBLIC int xv_device_query(struct xv_tx *tx, struct xv_device_info *info)
{
	XV_KEEP_ERRNO;

	xv_tx_op(tx, XV_OBJ_DEVICE, XV_M_QUERY);
	put_info(tx, info, sizeof(*info));
	return xv_tx_end(tx);
}

XV_PUBLIC int xv_device_query_port(struct xv_tx *tx, unsigned int port,
				   struct xv_port_info *info)
{
	XV_KEEP_ERRNO;

	xv_tx_op(tx, XV_OBJ_DEVICE, XV_M_QUERY_PORT);
	put_u32(tx, XV_GRP_PARAMS, XV_PARAMS_PORT, port);
	put_info(tx, info, sizeof(*info));
	return xv_tx_end(tx);
}

XV_PUBLIC int xv_device_query_gid(struct xv_tx *tx, unsigned int port,
				  unsigned int index, struct xv_gid_info *info)
{
	XV_KEEP_ERRNO;

	xv_tx_op(tx, XV_OBJ_DEVICE, XV_M_QUERY_GID);
	put_u32(tx, XV_GRP_PARAMS, XV_PARAMS_PORT, port);
	put_u32(tx, XV_GRP_PARAMS, XV_PARAMS_INDEX, index);
	put_info(tx, info, sizeof(*info));
	return xv_tx_end(tx);
}

XV_PUBLIC int xv_device_describe(struct xv_tx *tx, void *buf, unsigned int len)
{
	XV_KEEP_ERRNO;

	xv_tx_op(tx, XV_OBJ_DEVICE, XV_M_DESCRIBE);
	put_info(tx, buf, len);
	return xv_tx_end(tx);
}

/* ------------------------------------------------------------------------
 * eventq
 */

XV_PUBLIC int xv_eventq_create(struct xv_tx *tx, struct xv_eventq *eq)
{
	XV_KEEP_ERRNO;

	xv_tx_op(tx, XV_OBJ_EVENTQ, XV_M_CREATE);
	if (eq->open)
		xv_tx_refuse(tx, XV_R_DUPLICATE, XV_GRP_OBJECT,
			     XV_OBJECT_HANDLE);
	xv_tx_new(tx, XV_FIX_EVENTQ, &eq->obj);
	return xv_tx_end(tx);
}

XV_PUBLIC void xv_eventq_close(struct xv_eventq *eq)
{
	XV_KEEP_ERRNO;

	if (!eq->open)
		return;
	close(eq->fd);
	eq->open = 0;
}

/* ------------------------------------------------------------------------
 * pd
 */

XV_PUBLIC int xv_pd_create(struct xv_tx *tx, struct xv_pd *pd)
{
	XV_KEEP_ERRNO;

	xv_tx_op(tx, XV_OBJ_PD, XV_M_CREATE);
	xv_tx_new(tx, XV_FIX_PD, &pd->obj);
	return xv_tx_end(tx);
}

XV_PUBLIC int xv_pd_query(struct xv_tx *tx, struct xv_pd *pd,
			  struct xv_pd_info *info)
{
	XV_KEEP_ERRNO;

	return query(tx, XV_OBJ_PD, &pd->obj, info, sizeof(*info));
}

XV_PUBLIC int xv_pd_destroy(struct xv_tx *tx, struct xv_pd *pd)
{
	XV_KEEP_ERRNO;

	return destroy(tx, XV_OBJ_PD, &pd->obj, XV_FIX_GONE);
}

/* ------------------------------------------------------------------------
 * mr
 */

XV_PUBLIC int xv_mr_create(struct xv_tx *tx, struct xv_mr *mr,
			   const struct xv_mr_opts *opts)
{
	XV_KEEP_ERRNO;
	struct xv_mr_opts o;

	xv_tx_op(tx, XV_OBJ_MR, XV_M_CREATE);
	if (refuse(tx, xv_get_opts(&o, sizeof(o), opts)) ||
	    missing(tx, o.pd, XV_OBJECT_PD))
		return xv_tx_end(tx);
	xv_tx_new(tx, XV_FIX_MR, &mr->obj);
	xv_tx_ref(tx, XV_GRP_OBJECT, XV_OBJECT_PD, &o.pd->obj,
		  o.pd->obj.handle);
	put_u32(tx, XV_GRP_ACCESS, XV_ACCESS_FLAGS, o.access);
	put_u64(tx, XV_GRP_PARAMS, XV_PARAMS_ADDR, (uintptr_t)o.addr);
	put_u64(tx, XV_GRP_PARAMS, XV_PARAMS_LENGTH, o.length);
	if (o.iova)
		put_u64(tx, XV_GRP_PARAMS, XV_PARAMS_IOVA, o.iova);
	put_info(tx, &mr->info, sizeof(mr->info));
	/* xv_sge_at() needs it before the commit. */
	if (mr->obj.tx == tx)
		mr->info.addr = (uintptr_t)o.addr;
	return xv_tx_end(tx);
}

XV_PUBLIC int xv_mr_query(struct xv_tx *tx, struct xv_mr *mr,
			  struct xv_mr_info *info)
{
	XV_KEEP_ERRNO;

	return query(tx, XV_OBJ_MR, &mr->obj, info, sizeof(*info));
}

XV_PUBLIC int xv_mr_destroy(struct xv_tx *tx, struct xv_mr *mr)
{
	XV_KEEP_ERRNO;

	return destroy(tx, XV_OBJ_MR, &mr->obj, XV_FIX_GONE);
}

/* ------------------------------------------------------------------------
 * cq
 */

XV_PUBLIC int xv_cq_create(struct xv_tx *tx, struct xv_cq *cq,
			   const struct xv_cq_opts *opts)
{
	XV_KEEP_ERRNO;
	struct xv_cq_opts o;

	xv_tx_op(tx, XV_OBJ_CQ, XV_M_CREATE);
	if (refuse(tx, xv_get_opts(&o, sizeof(o), opts)) ||
	    refuse(tx, o.reserved ? XV_R_RESERVED : 0))
		return xv_tx_end(tx);
	xv_tx_new(tx, XV_FIX_CQ, &cq->obj);
	put_events(tx, o.eventq, o.cookie, o.event_mask);
	put_u32(tx, XV_GRP_CAPS, XV_CAPS_CQE, o.cqe);
	put_u32_if(tx, XV_GRP_CAPS, XV_CAPS_COMP_VECTOR, o.comp_vector);
	put_info(tx, &cq->info, sizeof(cq->info));
	return xv_tx_end(tx);
}

XV_PUBLIC int xv_cq_moderate(struct xv_tx *tx, struct xv_cq *cq,
			     unsigned int count, unsigned int period)
{
	XV_KEEP_ERRNO;

	xv_tx_op(tx, XV_OBJ_CQ, XV_M_MODIFY);
	put_self(tx, &cq->obj);
	put_u32(tx, XV_GRP_PARAMS, XV_PARAMS_CQ_COUNT, count);
	put_u32(tx, XV_GRP_PARAMS, XV_PARAMS_CQ_PERIOD, period);
	return xv_tx_end(tx);
}

XV_PUBLIC int xv_cq_query(struct xv_tx *tx, struct xv_cq *cq,
			  struct xv_cq_info *info)
{
	XV_KEEP_ERRNO;

	return query(tx, XV_OBJ_CQ, &cq->obj, info, sizeof(*info));
}

XV_PUBLIC int xv_cq_destroy(struct xv_tx *tx, struct xv_cq *cq)
{
	XV_KEEP_ERRNO;

	return destroy(tx, XV_OBJ_CQ, &cq->obj, XV_FIX_CQ_GONE);
}

/* ------------------------------------------------------------------------
 * qp
 */

static void put_address(struct xv_tx *tx, const struct xv_qp_attr *a)
{
	if (!a->qpn)
		return;
	put_u32(tx, XV_GRP_ADDRESS, XV_ADDRESS_QPN, a->qpn);
	put_gid(tx, a->gid);
	put_u32_if(tx, XV_GRP_ADDRESS, XV_ADDRESS_LID, a->lid);
	put_u32(tx, XV_GRP_ADDRESS, XV_ADDRESS_PSN, a->psn);
}

#define PATH(id, field)	{ id, offsetof(struct xv_qp_attr, field) }

static void put_path(struct xv_tx *tx, const struct xv_qp_attr *a)
{
	static const struct {
		uint16_t id;
		uint16_t offset;
	} fields[] = {
		PATH(XV_PATH_PORT, port),
		PATH(XV_PATH_SGID_INDEX, sgid_index),
		PATH(XV_PATH_PKEY_INDEX, pkey_index),
		PATH(XV_PATH_MTU, path_mtu),
		PATH(XV_PATH_SL, sl),
		PATH(XV_PATH_TRAFFIC_CLASS, traffic_class),
		PATH(XV_PATH_FLOW_LABEL, flow_label),
		PATH(XV_PATH_HOP_LIMIT, hop_limit),
		PATH(XV_PATH_TIMEOUT, timeout),
		PATH(XV_PATH_RETRY_CNT, retry_cnt),
		PATH(XV_PATH_RNR_RETRY, rnr_retry),
		PATH(XV_PATH_MIN_RNR_TIMER, min_rnr_timer),
		PATH(XV_PATH_RD_ATOMIC, rd_atomic),
		PATH(XV_PATH_DEST_RD_ATOMIC, dest_rd_atomic),
		PATH(XV_PATH_SQ_PSN, sq_psn),
		PATH(XV_PATH_QKEY, qkey),
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		uint32_t val;

		memcpy(&val, (const uint8_t *)a + fields[i].offset,
		       sizeof(val));
		if (val || a->zero & XV_ZERO_PATH(fields[i].id))
			put_u32(tx, XV_GRP_PATH, fields[i].id, val);
	}
}

XV_PUBLIC int xv_qp_create(struct xv_tx *tx, struct xv_qp *qp,
			   const struct xv_qp_opts *opts)
{
	XV_KEEP_ERRNO;
	struct xv_qp_attr attr = {};
	struct xv_qp_opts o;

	xv_tx_op(tx, XV_OBJ_QP, XV_M_CREATE);
	if (refuse(tx, xv_get_opts(&o, sizeof(o), opts)) ||
	    missing(tx, o.pd, XV_OBJECT_PD) ||
	    missing(tx, o.send_cq, XV_OBJECT_SEND_CQ))
		return xv_tx_end(tx);
	if (o.connect &&
	    (refuse(tx, xv_get_opts(&attr, sizeof(attr), o.connect)) ||
	     refuse(tx, attr.state ? XV_R_RESERVED : 0)))
		return xv_tx_end(tx);
	xv_tx_new(tx, XV_FIX_QP, &qp->obj);
	xv_tx_ref(tx, XV_GRP_OBJECT, XV_OBJECT_PD, &o.pd->obj,
		  o.pd->obj.handle);
	xv_tx_ref(tx, XV_GRP_OBJECT, XV_OBJECT_SEND_CQ, &o.send_cq->obj,
		  o.send_cq->obj.handle);
	if (o.recv_cq)
		xv_tx_ref(tx, XV_GRP_OBJECT, XV_OBJECT_RECV_CQ,
			  &o.recv_cq->obj, o.recv_cq->obj.handle);
	if (o.srq)
		xv_tx_ref(tx, XV_GRP_OBJECT, XV_OBJECT_SRQ, &o.srq->obj,
			  o.srq->obj.handle);
	put_events(tx, o.eventq, o.cookie, o.event_mask);
	put_u32(tx, XV_GRP_CAPS, XV_CAPS_SEND_WR, o.send_wr);
	put_u32(tx, XV_GRP_CAPS, XV_CAPS_RECV_WR, o.recv_wr);
	put_u32_if(tx, XV_GRP_CAPS, XV_CAPS_SEND_SGE, o.send_sge);
	put_u32_if(tx, XV_GRP_CAPS, XV_CAPS_RECV_SGE, o.recv_sge);
	put_u32_if(tx, XV_GRP_ACCESS, XV_ACCESS_FLAGS, o.access);
	if (!o.connect) {
		attr.port = o.port;
		attr.pkey_index = o.pkey_index;
	}
	put_address(tx, &attr);
	put_path(tx, &attr);
	put_u32_if(tx, XV_GRP_PARAMS, XV_PARAMS_QP_TYPE, o.type);
	put_u32_if(tx, XV_GRP_PARAMS, XV_PARAMS_SQ_SIG_ALL, o.sq_sig_all);
	put_info(tx, &qp->info, sizeof(qp->info));
	if (qp->obj.tx == tx) {
		qp->send_cq = o.send_cq;
		qp->recv_cq = o.recv_cq ? o.recv_cq : o.send_cq;
	}
	return xv_tx_end(tx);
}

static int first_recvs(struct xv_tx *tx, unsigned int object,
		       struct xv_obj *obj, const struct xv_recv *recvs,
		       unsigned int n, enum xv_fix_kind kind)
{
	xv_tx_op(tx, object, XV_M_POST_RECV);
	put_self(tx, obj);
	xv_tx_copy(tx, XV_GRP_PARAMS, XV_PARAMS_RECVS, recvs,
		   (size_t)n * sizeof(*recvs));
	xv_tx_after(tx, kind, obj, n);
	return xv_tx_end(tx);
}

XV_PUBLIC int xv_qp_post_recv(struct xv_tx *tx, struct xv_qp *qp,
			      const struct xv_recv *recvs, unsigned int n)
{
	XV_KEEP_ERRNO;

	return first_recvs(tx, XV_OBJ_QP, &qp->obj, recvs, n,
			   XV_FIX_FIRST_RECVS);
}

static int change(struct xv_tx *tx, unsigned int method, struct xv_qp *qp,
		  const struct xv_qp_attr *attr)
{
	struct xv_qp_attr a;

	xv_tx_op(tx, XV_OBJ_QP, method);
	if (refuse(tx, xv_get_opts(&a, sizeof(a), attr)))
		return xv_tx_end(tx);
	put_self(tx, &qp->obj);
	if (a.access || a.zero & XV_ZERO_ACCESS)
		put_u32(tx, XV_GRP_ACCESS, XV_ACCESS_FLAGS, a.access);
	put_address(tx, &a);
	put_path(tx, &a);
	if (method == XV_M_MODIFY)
		put_u32_if(tx, XV_GRP_PARAMS, XV_PARAMS_STATE, a.state);
	return xv_tx_end(tx);
}

XV_PUBLIC int xv_qp_connect(struct xv_tx *tx, struct xv_qp *qp,
			    const struct xv_qp_attr *attr)
{
	XV_KEEP_ERRNO;

	return change(tx, XV_M_CONNECT, qp, attr);
}

XV_PUBLIC int xv_qp_modify(struct xv_tx *tx, struct xv_qp *qp,
			   const struct xv_qp_attr *attr)
{
	XV_KEEP_ERRNO;

	return change(tx, XV_M_MODIFY, qp, attr);
}

XV_PUBLIC int xv_qp_query(struct xv_tx *tx, struct xv_qp *qp,
			  struct xv_qp_info *info)
{
	XV_KEEP_ERRNO;

	return query(tx, XV_OBJ_QP, &qp->obj, info, sizeof(*info));
}

XV_PUBLIC int xv_qp_destroy(struct xv_tx *tx, struct xv_qp *qp)
{
	XV_KEEP_ERRNO;
	int ret = 0;

	xv_tx_op(tx, XV_OBJ_QP, XV_M_DESTROY);
	put_self(tx, &qp->obj);
	/* The commit must not fail for want of memory. */
	if (qp->send_cq)
		ret = xv_cq_reserve_dead(qp->send_cq);
	if (!ret && qp->recv_cq && qp->recv_cq != qp->send_cq)
		ret = xv_cq_reserve_dead(qp->recv_cq);
	if (ret)
		xv_tx_fail(tx, ret);
	xv_tx_after(tx, XV_FIX_QP_GONE, &qp->obj, 0);
	return xv_tx_end(tx);
}

/* ------------------------------------------------------------------------
 * ah
 */

static void put_new_ah(struct xv_tx *tx, struct xv_ah *ah,
		       const struct xv_pd *pd)
{
	if (missing(tx, pd, XV_OBJECT_PD))
		return;
	xv_tx_new(tx, XV_FIX_AH, &ah->obj);
	xv_tx_ref(tx, XV_GRP_OBJECT, XV_OBJECT_PD, &pd->obj, pd->obj.handle);
}

XV_PUBLIC int xv_ah_create(struct xv_tx *tx, struct xv_ah *ah,
			   const struct xv_ah_opts *opts)
{
	XV_KEEP_ERRNO;
	struct xv_ah_opts o;

	xv_tx_op(tx, XV_OBJ_AH, XV_M_CREATE);
	if (refuse(tx, xv_get_opts(&o, sizeof(o), opts)) ||
	    refuse(tx, o.reserved ? XV_R_RESERVED : 0))
		return xv_tx_end(tx);
	put_new_ah(tx, ah, o.pd);
	put_gid(tx, o.gid);
	put_u32_if(tx, XV_GRP_ADDRESS, XV_ADDRESS_LID, o.lid);
	put_u32_if(tx, XV_GRP_PATH, XV_PATH_PORT, o.port);
	put_u32_if(tx, XV_GRP_PATH, XV_PATH_SGID_INDEX, o.sgid_index);
	put_u32_if(tx, XV_GRP_PATH, XV_PATH_SL, o.sl);
	put_u32_if(tx, XV_GRP_PATH, XV_PATH_TRAFFIC_CLASS, o.traffic_class);
	put_u32_if(tx, XV_GRP_PATH, XV_PATH_FLOW_LABEL, o.flow_label);
	put_u32_if(tx, XV_GRP_PATH, XV_PATH_HOP_LIMIT, o.hop_limit);
	put_info(tx, &ah->info, sizeof(ah->info));
	return xv_tx_end(tx);
}

XV_PUBLIC int xv_ah_create_from_wc(struct xv_tx *tx, struct xv_ah *ah,
				   struct xv_pd *pd, unsigned int port,
				   const struct xv_wc *wc, const void *grh)
{
	XV_KEEP_ERRNO;
	struct xv_ah_wc from = { .wc = *wc };

	if (grh)
		memcpy(from.grh, grh, sizeof(from.grh));
	xv_tx_op(tx, XV_OBJ_AH, XV_M_CREATE);
	put_new_ah(tx, ah, pd);
	put_u32_if(tx, XV_GRP_PATH, XV_PATH_PORT, port);
	xv_tx_copy(tx, XV_GRP_PARAMS, XV_PARAMS_WC, &from, sizeof(from));
	put_info(tx, &ah->info, sizeof(ah->info));
	return xv_tx_end(tx);
}

XV_PUBLIC int xv_ah_query(struct xv_tx *tx, struct xv_ah *ah,
			  struct xv_ah_info *info)
{
	XV_KEEP_ERRNO;

	return query(tx, XV_OBJ_AH, &ah->obj, info, sizeof(*info));
}

XV_PUBLIC int xv_ah_destroy(struct xv_tx *tx, struct xv_ah *ah)
{
	XV_KEEP_ERRNO;

	return destroy(tx, XV_OBJ_AH, &ah->obj, XV_FIX_GONE);
}

/* ------------------------------------------------------------------------
 * srq
 */

XV_PUBLIC int xv_srq_create(struct xv_tx *tx, struct xv_srq *srq,
			    const struct xv_srq_opts *opts)
{
	XV_KEEP_ERRNO;
	struct xv_srq_opts o;

	xv_tx_op(tx, XV_OBJ_SRQ, XV_M_CREATE);
	if (refuse(tx, xv_get_opts(&o, sizeof(o), opts)) ||
	    missing(tx, o.pd, XV_OBJECT_PD))
		return xv_tx_end(tx);
	xv_tx_new(tx, XV_FIX_SRQ, &srq->obj);
	xv_tx_ref(tx, XV_GRP_OBJECT, XV_OBJECT_PD, &o.pd->obj,
		  o.pd->obj.handle);
	put_events(tx, o.eventq, o.cookie, 0);
	put_u32(tx, XV_GRP_CAPS, XV_CAPS_RECV_WR, o.recv_wr);
	put_u32_if(tx, XV_GRP_CAPS, XV_CAPS_RECV_SGE, o.recv_sge);
	put_u32_if(tx, XV_GRP_PARAMS, XV_PARAMS_LIMIT, o.limit);
	put_info(tx, &srq->info, sizeof(srq->info));
	return xv_tx_end(tx);
}

XV_PUBLIC int xv_srq_post_recv(struct xv_tx *tx, struct xv_srq *srq,
			       const struct xv_recv *recvs, unsigned int n)
{
	XV_KEEP_ERRNO;

	return first_recvs(tx, XV_OBJ_SRQ, &srq->obj, recvs, n,
			   XV_FIX_SRQ_RECVS);
}

XV_PUBLIC int xv_srq_modify(struct xv_tx *tx, struct xv_srq *srq,
			    uint32_t limit)
{
	XV_KEEP_ERRNO;

	xv_tx_op(tx, XV_OBJ_SRQ, XV_M_MODIFY);
	put_self(tx, &srq->obj);
	put_u32(tx, XV_GRP_PARAMS, XV_PARAMS_LIMIT, limit);
	return xv_tx_end(tx);
}

XV_PUBLIC int xv_srq_query(struct xv_tx *tx, struct xv_srq *srq,
			   struct xv_srq_info *info)
{
	XV_KEEP_ERRNO;

	return query(tx, XV_OBJ_SRQ, &srq->obj, info, sizeof(*info));
}

XV_PUBLIC int xv_srq_destroy(struct xv_tx *tx, struct xv_srq *srq)
{
	XV_KEEP_ERRNO;

	return destroy(tx, XV_OBJ_SRQ, &srq->obj, XV_FIX_SRQ_GONE);
}

/* ------------------------------------------------------------------------
 * mcast
 */

XV_PUBLIC int xv_mcast_gid(const struct sockaddr *addr, uint8_t *gid)
{
	const struct sockaddr_in6 *in6 = (const void *)addr;
	const struct sockaddr_in *in = (const void *)addr;

	switch (addr->sa_family) {
	case AF_INET:
		if (!IN_MULTICAST(ntohl(in->sin_addr.s_addr)))
			return -EINVAL;
		memset(gid, 0, 10);
		memset(gid + 10, 0xff, 2);
		memcpy(gid + 12, &in->sin_addr, 4);
		return 0;
	case AF_INET6:
		if (!IN6_IS_ADDR_MULTICAST(&in6->sin6_addr))
			return -EINVAL;
		memcpy(gid, &in6->sin6_addr, 16);
		return 0;
	}
	return -EAFNOSUPPORT;
}

XV_PUBLIC int xv_mcast_create(struct xv_tx *tx, struct xv_mcast *mcast,
			      const struct xv_mcast_opts *opts)
{
	XV_KEEP_ERRNO;
	struct xv_mcast_opts o;

	xv_tx_op(tx, XV_OBJ_MCAST, XV_M_CREATE);
	if (refuse(tx, xv_get_opts(&o, sizeof(o), opts)) ||
	    refuse(tx, o.reserved ? XV_R_RESERVED : 0) ||
	    missing(tx, o.qp, XV_OBJECT_QP))
		return xv_tx_end(tx);
	xv_tx_new(tx, XV_FIX_MCAST, &mcast->obj);
	xv_tx_ref(tx, XV_GRP_OBJECT, XV_OBJECT_QP, &o.qp->obj,
		  o.qp->obj.handle);
	put_gid(tx, o.gid);
	put_u32_if(tx, XV_GRP_ADDRESS, XV_ADDRESS_LID, o.lid);
	put_u32_if(tx, XV_GRP_PATH, XV_PATH_SGID_INDEX, o.sgid_index);
	put_u32_if(tx, XV_GRP_PARAMS, XV_PARAMS_JOIN, o.join);
	put_info(tx, &mcast->info, sizeof(mcast->info));
	return xv_tx_end(tx);
}

XV_PUBLIC int xv_mcast_query(struct xv_tx *tx, struct xv_mcast *mcast,
			     struct xv_mcast_info *info)
{
	XV_KEEP_ERRNO;

	return query(tx, XV_OBJ_MCAST, &mcast->obj, info, sizeof(*info));
}

XV_PUBLIC int xv_mcast_destroy(struct xv_tx *tx, struct xv_mcast *mcast)
{
	XV_KEEP_ERRNO;

	return destroy(tx, XV_OBJ_MCAST, &mcast->obj, XV_FIX_GONE);
}

/* ------------------------------------------------------------------------
 * subscription
 */

XV_PUBLIC int xv_subscription_create(struct xv_tx *tx,
				     struct xv_subscription *sub,
				     const struct xv_subscription_opts *opts)
{
	XV_KEEP_ERRNO;
	struct xv_subscription_opts o;

	xv_tx_op(tx, XV_OBJ_SUBSCRIPTION, XV_M_CREATE);
	if (refuse(tx, xv_get_opts(&o, sizeof(o), opts)))
		return xv_tx_end(tx);
	xv_tx_new(tx, XV_FIX_SUBSCRIPTION, &sub->obj);
	put_events(tx, o.eventq, o.cookie, o.event_mask);
	put_u32_if(tx, XV_GRP_PARAMS, XV_PARAMS_PORT, o.port);
	return xv_tx_end(tx);
}

XV_PUBLIC int xv_subscription_destroy(struct xv_tx *tx,
				      struct xv_subscription *sub)
{
	XV_KEEP_ERRNO;

	return destroy(tx, XV_OBJ_SUBSCRIPTION, &sub->obj, XV_FIX_GONE);
}
