// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Objects of the mock device. What its users do in the wrong order, or leave
 * behind, is counted.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/module.h>
#include <linux/slab.h>
#include "mock.h"

/* A new object, which depends on others: their counts of users. */
static void obj_add(enum mock_kind kind, struct mock_obj *obj, u32 *parent,
		    u32 *parent2, u32 *parent3)
{
	spin_lock_irq(&mock.lock);
	obj->users = 0;
	list_add_tail(&obj->link, &mock.objs[kind]);
	mock.num[kind]++;
	if (parent)
		++*parent;
	if (parent2)
		++*parent2;
	if (parent3)
		++*parent3;
	spin_unlock_irq(&mock.lock);
}

/* With the lock held. */
static void obj_del(enum mock_kind kind, struct mock_obj *obj, const char *what)
{
	lockdep_assert_held(&mock.lock);
	if (obj->users)
		mock_error("%s destroyed with %u users", what, obj->users);
	list_del(&obj->link);
	mock.num[kind]--;
}

/* ---- protection domains ---- */

static int alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	int ret = mock_call(MOCK_ALLOC_PD);

	if (!ret)
		obj_add(MOCK_PD, &to_pd(ibpd)->obj, NULL, NULL, NULL);
	return ret;
}

static int dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	int ret = mock_call(MOCK_DEALLOC_PD);

	if (ret)
		return ret;
	spin_lock_irq(&mock.lock);
	obj_del(MOCK_PD, &to_pd(ibpd)->obj, "pd");
	spin_unlock_irq(&mock.lock);
	return 0;
}

/* ---- memory regions: nothing is pinned, nothing is ever touched ---- */

static struct ib_mr *new_mr(struct ib_pd *ibpd, u64 iova, u64 length, bool dma)
{
	struct mock_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	enum mock_kind kind = dma ? MOCK_DMA_MR : MOCK_MR;

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->pd = to_pd(ibpd);
	mr->iova = iova;
	mr->length = length;
	mr->dma = dma;
	spin_lock_irq(&mock.lock);
	mr->ibmr.lkey = mock.next_key;
	mr->ibmr.rkey = mock.next_key++;
	spin_unlock_irq(&mock.lock);
	obj_add(kind, &mr->obj, &mr->pd->obj.users, NULL, NULL);
	return &mr->ibmr;
}

static struct ib_mr *get_dma_mr(struct ib_pd *ibpd, int access)
{
	int ret = mock_call(MOCK_GET_DMA_MR);

	return ret ? ERR_PTR(ret) : new_mr(ibpd, 0, U64_MAX, true);
}

static struct ib_mr *reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length,
				 u64 iova, int access, MOCK_MR_ARGS)
{
	int ret = mock_call(MOCK_REG_USER_MR);

	if (udata)
		mock_error("memory region with udata");
	return ret ? ERR_PTR(ret) : new_mr(ibpd, iova, length, false);
}

static int dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct mock_mr *mr = container_of(ibmr, struct mock_mr, ibmr);
	/* The core takes the success of its own region's end for granted. */
	int ret = mr->dma ? 0 : mock_call(MOCK_DEREG_MR);

	if (ret)
		return ret;
	spin_lock_irq(&mock.lock);
	obj_del(mr->dma ? MOCK_DMA_MR : MOCK_MR, &mr->obj, "mr");
	mr->pd->obj.users--;
	spin_unlock_irq(&mock.lock);
	kfree(mr);
	return 0;
}

/* ---- address handles ---- */

static int create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *attr,
		     struct ib_udata *udata)
{
	struct mock_ah *ah = container_of(ibah, struct mock_ah, ibah);
	int ret = mock_call(MOCK_CREATE_AH);

	if (ret)
		return ret;
	ah->pd = to_pd(ibah->pd);
	obj_add(MOCK_AH, &ah->obj, &ah->pd->obj.users, NULL, NULL);
	return 0;
}

static int destroy_ah(struct ib_ah *ibah, u32 flags)
{
	struct mock_ah *ah = container_of(ibah, struct mock_ah, ibah);
	int ret = mock_call(MOCK_DESTROY_AH);

	if (ret)
		return ret;
	spin_lock_irq(&mock.lock);
	obj_del(MOCK_AH, &ah->obj, "ah");
	ah->pd->obj.users--;
	spin_unlock_irq(&mock.lock);
	return 0;
}

/* ---- completion queues ---- */

static int create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		     MOCK_CQ_ARGS *args)
{
	struct mock_cq *cq = to_cq(ibcq);
	int ret = mock_call(MOCK_CREATE_CQ);

	if (ret)
		return ret;
	if (!attr->cqe || attr->cqe > 2048 || attr->comp_vector >= 2)
		mock_error("cqe %u vector %u", attr->cqe, attr->comp_vector);
	ibcq->cqe = attr->cqe;
	INIT_LIST_HEAD(&cq->wcs);
	obj_add(MOCK_CQ, &cq->obj, NULL, NULL, NULL);
	return 0;
}

/* It is told, and that is all: completions notify at once. */
static int modify_cq(struct ib_cq *ibcq, u16 count, u16 period)
{
	struct mock_cq *cq = to_cq(ibcq);
	int ret = mock_call(MOCK_MODIFY_CQ);

	if (ret)
		return ret;
	spin_lock_irq(&mock.lock);
	cq->count = count;
	cq->period = period;
	spin_unlock_irq(&mock.lock);
	return 0;
}

static int destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	int ret = mock_call(MOCK_DESTROY_CQ);

	if (ret)
		return ret;
	spin_lock_irq(&mock.lock);
	obj_del(MOCK_CQ, &to_cq(ibcq)->obj, "cq");
	mock_cq_drop(to_cq(ibcq));
	spin_unlock_irq(&mock.lock);
	return 0;
}

/* ---- shared receive queues ---- */

static int create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *attr,
		      struct ib_udata *udata)
{
	struct mock_srq *srq = to_srq(ibsrq);
	int ret = mock_call(MOCK_CREATE_SRQ);

	if (ret)
		return ret;
	srq->pd = to_pd(ibsrq->pd);
	srq->limit = attr->attr.srq_limit;
	mock_queue_init(&srq->rq, attr->attr.max_wr, attr->attr.max_sge);
	obj_add(MOCK_SRQ, &srq->obj, &srq->pd->obj.users, NULL, NULL);
	return 0;
}

static int modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		      enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	int ret = mock_call(MOCK_MODIFY_SRQ);

	if (ret)
		return ret;
	/* There is no resizing. */
	if (mask & IB_SRQ_MAX_WR)
		return -EINVAL;
	if (mask & IB_SRQ_LIMIT)
		to_srq(ibsrq)->limit = attr->srq_limit;
	return 0;
}

static int query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct mock_srq *srq = to_srq(ibsrq);
	int ret = mock_call(MOCK_QUERY_SRQ);

	if (ret)
		return ret;
	attr->max_wr = srq->rq.max;
	attr->max_sge = srq->rq.max_sge;
	attr->srq_limit = srq->limit;
	return 0;
}

static int destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct mock_srq *srq = to_srq(ibsrq);
	int ret = mock_call(MOCK_DESTROY_SRQ);

	if (ret)
		return ret;
	spin_lock_irq(&mock.lock);
	obj_del(MOCK_SRQ, &srq->obj, "srq");
	srq->pd->obj.users--;
	mock_queue_drop(&srq->rq);
	spin_unlock_irq(&mock.lock);
	return 0;
}

/* ---- queue pairs ---- */

static int create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
		     struct ib_udata *udata)
{
	struct mock_qp *qp = to_qp(ibqp);
	int ret = mock_call(MOCK_CREATE_QP);

	if (ret)
		return ret;
	if (attr->cap.max_send_wr > 512 || attr->cap.max_recv_wr > 512 ||
	    attr->cap.max_send_sge > 3 || attr->cap.max_recv_sge > 2)
		mock_error("capabilities of a queue pair");
	/* There is no inline data. */
	attr->cap.max_inline_data = 0;
	qp->pd = to_pd(ibqp->pd);
	qp->send_cq = to_cq(attr->send_cq);
	qp->recv_cq = to_cq(attr->recv_cq);
	qp->srq = attr->srq ? to_srq(attr->srq) : NULL;
	qp->state = IB_QPS_RESET;
	qp->sig_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	mock_queue_init(&qp->sq, attr->cap.max_send_wr, attr->cap.max_send_sge);
	mock_queue_init(&qp->rq, attr->cap.max_recv_wr, attr->cap.max_recv_sge);
	spin_lock_irq(&mock.lock);
	ibqp->qp_num = mock.next_qpn++;
	qp->pd->obj.users++;
	if (qp->srq)
		qp->srq->obj.users++;
	spin_unlock_irq(&mock.lock);
	obj_add(MOCK_QP, &qp->obj, &qp->send_cq->obj.users,
		&qp->recv_cq->obj.users, NULL);
	return 0;
}

/* With the lock held. Any state may follow ERR by the driver's own will. */
static int qp_set_state(struct mock_qp *qp, struct ib_qp_attr *attr, int mask)
{
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : qp->state;

	if (!ib_modify_qp_is_ok(qp->state, next, qp->ibqp.qp_type, mask)) {
		if (qp->state != IB_QPS_ERR)
			mock_error("modify from %d to %d mask %x", qp->state,
				   next, mask);
		return -EINVAL;
	}
	if (mask & IB_QP_PORT &&
	    (!attr->port_num || attr->port_num > MOCK_PORTS))
		mock_error("port %u", attr->port_num);
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index >= MOCK_PKEYS)
		mock_error("pkey index %u", attr->pkey_index);
	qp->state = next;
	if (next == IB_QPS_RESET) {
		mock_queue_drop(&qp->sq);
		mock_queue_drop(&qp->rq);
	} else if (next == IB_QPS_ERR && mock.flush) {
		mock_qp_flush(qp);
	}
	return 0;
}

static int modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		     struct ib_udata *udata)
{
	int ret = mock_call(MOCK_MODIFY_QP);

	if (ret)
		return ret;
	spin_lock_irq(&mock.lock);
	ret = qp_set_state(to_qp(ibqp), attr, mask);
	spin_unlock_irq(&mock.lock);
	if (!ret && mask & IB_QP_STATE && attr->qp_state == IB_QPS_ERR)
		mock_cm_down(to_qp(ibqp));
	return ret;
}

/**
 * mock_get_qp - a queue pair by its number
 * @ibdev: the device
 * @qpn: the number
 *
 * Return: it, or NULL.
 */
struct ib_qp *mock_get_qp(struct ib_device *ibdev, int qpn)
{
	struct ib_qp *found = NULL;
	struct mock_qp *qp;
	unsigned long flags;

	spin_lock_irqsave(&mock.lock, flags);
	list_for_each_entry(qp, &mock.objs[MOCK_QP], obj.link)
		if (qp->ibqp.qp_num == qpn)
			found = &qp->ibqp;
	spin_unlock_irqrestore(&mock.lock, flags);
	return found;
}

/**
 * mock_qp_up - a connection takes its queue pair to RTS
 * @qp: the queue pair
 */
void mock_qp_up(struct mock_qp *qp)
{
	spin_lock_irq(&mock.lock);
	if (qp->state == IB_QPS_INIT)
		qp->state = IB_QPS_RTS;
	spin_unlock_irq(&mock.lock);
}

static void count_ref(struct ib_qp *ibqp, int by)
{
	unsigned long flags;

	spin_lock_irqsave(&mock.lock, flags);
	to_qp(ibqp)->cm_refs += by;
	spin_unlock_irqrestore(&mock.lock, flags);
}

static void iw_add_ref(struct ib_qp *ibqp)
{
	count_ref(ibqp, 1);
}

static void iw_rem_ref(struct ib_qp *ibqp)
{
	count_ref(ibqp, -1);
}

static int query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_qp_init_attr *init)
{
	struct mock_qp *qp = to_qp(ibqp);
	int ret = mock_call(MOCK_QUERY_QP);

	if (ret)
		return ret;
	attr->qp_state = READ_ONCE(qp->state);
	attr->cur_qp_state = attr->qp_state;
	attr->cap.max_send_wr = qp->sq.max;
	attr->cap.max_recv_wr = qp->rq.max;
	init->cap = attr->cap;
	return 0;
}

static int destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct mock_qp *qp = to_qp(ibqp);
	int ret = mock_call(MOCK_DESTROY_QP);

	if (ret)
		return ret;
	mock_cm_down(qp);
	spin_lock_irq(&mock.lock);
	if (qp->cm_refs)
		mock_error("qp destroyed, connection manager has %u references",
			   qp->cm_refs);
	if (qp->num_mcast)
		mock_error("qp destroyed in %u multicast groups", qp->num_mcast);
	if (mock.flush_at_destroy)
		mock_qp_flush(qp);
	obj_del(MOCK_QP, &qp->obj, "qp");
	mock_queue_drop(&qp->sq);
	mock_queue_drop(&qp->rq);
	qp->pd->obj.users--;
	if (qp->srq)
		qp->srq->obj.users--;
	qp->send_cq->obj.users--;
	qp->recv_cq->obj.users--;
	spin_unlock_irq(&mock.lock);
	return 0;
}

static int attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	int ret = mock_call(MOCK_ATTACH_MCAST);

	if (ret)
		return ret;
	spin_lock_irq(&mock.lock);
	to_qp(ibqp)->num_mcast++;
	spin_unlock_irq(&mock.lock);
	return 0;
}

static int detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	int ret = mock_call(MOCK_DETACH_MCAST);

	if (ret)
		return ret;
	spin_lock_irq(&mock.lock);
	if (to_qp(ibqp)->num_mcast)
		to_qp(ibqp)->num_mcast--;
	else
		mock_error("detach without attach");
	spin_unlock_irq(&mock.lock);
	return 0;
}

/* ---- what was left ---- */

static void clean_one(enum mock_kind kind, struct mock_obj *obj)
{
	switch (kind) {
	case MOCK_AH:
		rdma_destroy_ah_user(&container_of(obj, struct mock_ah, obj)->ibah,
				     RDMA_DESTROY_AH_SLEEPABLE, NULL);
		break;
	case MOCK_MR:
		ib_dereg_mr_user(&container_of(obj, struct mock_mr, obj)->ibmr,
				 NULL);
		break;
	case MOCK_QP:
		ib_destroy_qp_user(&container_of(obj, struct mock_qp, obj)->ibqp,
				   NULL);
		break;
	case MOCK_SRQ:
		ib_destroy_srq_user(&container_of(obj, struct mock_srq, obj)->ibsrq,
				    NULL);
		break;
	case MOCK_CQ:
		ib_destroy_cq_user(&container_of(obj, struct mock_cq, obj)->ibcq,
				   NULL);
		break;
	default:
		ib_dealloc_pd_user(&container_of(obj, struct mock_pd, obj)->ibpd,
				   NULL);
	}
}

/**
 * mock_clean - destroy what the device's users have left behind
 *
 * They are gone and can not know. The core would complain about each.
 */
void mock_clean(void)
{
	int kind;

	/* Who depends on others goes before them. */
	for (kind = MOCK_NUM_KINDS - 1; kind >= 0; kind--) {
		/* Each goes with its PD. */
		if (kind == MOCK_DMA_MR)
			continue;
		while (!list_empty(&mock.objs[kind])) {
			mock.leaked++;
			clean_one(kind, list_first_entry(&mock.objs[kind],
							 struct mock_obj, link));
		}
	}
}

const struct ib_device_ops mock_ops = {
	.owner = THIS_MODULE,
	.uverbs_abi_ver = 1,

	.alloc_pd = alloc_pd,
	.attach_mcast = attach_mcast,
	.create_ah = create_ah,
	.create_cq = create_cq,
	.create_qp = create_qp,
	.create_srq = create_srq,
	.create_user_ah = create_ah,
	.dealloc_pd = dealloc_pd,
	.dereg_mr = dereg_mr,
	.destroy_ah = destroy_ah,
	.destroy_cq = destroy_cq,
	.destroy_qp = destroy_qp,
	.destroy_srq = destroy_srq,
	.detach_mcast = detach_mcast,
	.get_dma_mr = get_dma_mr,
	.get_link_layer = mock_link_layer,
	.get_port_immutable = mock_port_immutable,
	.iw_accept = mock_iw_accept,
	.iw_add_ref = iw_add_ref,
	.iw_connect = mock_iw_connect,
	.iw_create_listen = mock_iw_create_listen,
	.iw_destroy_listen = mock_iw_destroy_listen,
	.iw_get_qp = mock_get_qp,
	.iw_reject = mock_iw_reject,
	.iw_rem_ref = iw_rem_ref,
	.modify_cq = modify_cq,
	.modify_qp = modify_qp,
	.modify_srq = modify_srq,
	.poll_cq = mock_poll_cq,
	.post_recv = mock_post_recv,
	.post_send = mock_post_send,
	.post_srq_recv = mock_post_srq_recv,
	.query_device = mock_query_device,
	.query_gid = mock_query_gid,
	.query_pkey = mock_query_pkey,
	.query_port = mock_query_port,
	.query_qp = query_qp,
	.query_srq = query_srq,
	.reg_user_mr = reg_user_mr,
	.req_notify_cq = mock_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_ah, mock_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, mock_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_pd, mock_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, mock_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, mock_srq, ibsrq),
};
