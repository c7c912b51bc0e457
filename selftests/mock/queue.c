// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Work requests, completions and events of the mock device.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Requests wait until a test completes them, in whatever order it likes. A
 * completion of a queue pair that was destroyed stays where it is, with its
 * stale pointer, as on the software devices.
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "mock.h"

struct mock_name {
	const char *name;
	int value;
};

static const struct mock_name statuses[] = {
	{ "SUCCESS", IB_WC_SUCCESS },
	{ "LOC_LEN_ERR", IB_WC_LOC_LEN_ERR },
	{ "LOC_QP_OP_ERR", IB_WC_LOC_QP_OP_ERR },
	{ "LOC_EEC_OP_ERR", IB_WC_LOC_EEC_OP_ERR },
	{ "LOC_PROT_ERR", IB_WC_LOC_PROT_ERR },
	{ "WR_FLUSH_ERR", IB_WC_WR_FLUSH_ERR },
	{ "MW_BIND_ERR", IB_WC_MW_BIND_ERR },
	{ "BAD_RESP_ERR", IB_WC_BAD_RESP_ERR },
	{ "LOC_ACCESS_ERR", IB_WC_LOC_ACCESS_ERR },
	{ "REM_INV_REQ_ERR", IB_WC_REM_INV_REQ_ERR },
	{ "REM_ACCESS_ERR", IB_WC_REM_ACCESS_ERR },
	{ "REM_OP_ERR", IB_WC_REM_OP_ERR },
	{ "RETRY_EXC_ERR", IB_WC_RETRY_EXC_ERR },
	{ "RNR_RETRY_EXC_ERR", IB_WC_RNR_RETRY_EXC_ERR },
	{ "REM_ABORT_ERR", IB_WC_REM_ABORT_ERR },
	{ "FATAL_ERR", IB_WC_FATAL_ERR },
	{ "RESP_TIMEOUT_ERR", IB_WC_RESP_TIMEOUT_ERR },
	{ "GENERAL_ERR", IB_WC_GENERAL_ERR },
};

static const struct mock_name events[] = {
	{ "CQ_ERR", IB_EVENT_CQ_ERR },
	{ "QP_FATAL", IB_EVENT_QP_FATAL },
	{ "QP_REQ_ERR", IB_EVENT_QP_REQ_ERR },
	{ "QP_ACCESS_ERR", IB_EVENT_QP_ACCESS_ERR },
	{ "COMM_EST", IB_EVENT_COMM_EST },
	{ "SQ_DRAINED", IB_EVENT_SQ_DRAINED },
	{ "PATH_MIG", IB_EVENT_PATH_MIG },
	{ "PATH_MIG_ERR", IB_EVENT_PATH_MIG_ERR },
	{ "DEVICE_FATAL", IB_EVENT_DEVICE_FATAL },
	{ "PORT_ACTIVE", IB_EVENT_PORT_ACTIVE },
	{ "PORT_ERR", IB_EVENT_PORT_ERR },
	{ "LID_CHANGE", IB_EVENT_LID_CHANGE },
	{ "PKEY_CHANGE", IB_EVENT_PKEY_CHANGE },
	{ "SM_CHANGE", IB_EVENT_SM_CHANGE },
	{ "SRQ_ERR", IB_EVENT_SRQ_ERR },
	{ "SRQ_LIMIT", IB_EVENT_SRQ_LIMIT_REACHED },
	{ "LAST_WQE", IB_EVENT_QP_LAST_WQE_REACHED },
	{ "CLIENT_REREGISTER", IB_EVENT_CLIENT_REREGISTER },
	{ "GID_CHANGE", IB_EVENT_GID_CHANGE },
};

static int name_value(const struct mock_name *names, u32 num, const char *name)
{
	u32 i;

	for (i = 0; i < num; i++)
		if (!strcmp(names[i].name, name))
			return names[i].value;
	return -EINVAL;
}

/* ---- lists ---- */

void mock_queue_init(struct mock_queue *q, u32 max, u32 max_sge)
{
	INIT_LIST_HEAD(&q->wrs);
	q->num = 0;
	q->max = max;
	q->max_sge = max_sge;
}

static void drop_list(struct list_head *list)
{
	struct mock_wr *wr, *next;

	list_for_each_entry_safe(wr, next, list, link) {
		list_del(&wr->link);
		kfree(wr);
	}
}

void mock_queue_drop(struct mock_queue *q)
{
	lockdep_assert_held(&mock.lock);
	drop_list(&q->wrs);
	q->num = 0;
}

void mock_cq_drop(struct mock_cq *cq)
{
	lockdep_assert_held(&mock.lock);
	drop_list(&cq->wcs);
	cq->num = 0;
}

static struct mock_qp *find_qp(u32 qpn)
{
	struct mock_qp *qp;

	list_for_each_entry(qp, &mock.objs[MOCK_QP], obj.link)
		if (qp->ibqp.qp_num == qpn)
			return qp;
	return NULL;
}

static struct mock_cq *find_cq(u32 id)
{
	struct mock_cq *cq;

	list_for_each_entry(cq, &mock.objs[MOCK_CQ], obj.link)
		if (cq->ibcq.res.id == id)
			return cq;
	return NULL;
}

static struct mock_srq *find_srq(u32 id)
{
	struct mock_srq *srq;

	list_for_each_entry(srq, &mock.objs[MOCK_SRQ], obj.link)
		if (srq->ibsrq.res.id == id)
			return srq;
	return NULL;
}

static bool is_key(const struct mock_pd *pd, const struct ib_sge *sge)
{
	struct mock_mr *mr;

	list_for_each_entry(mr, &mock.objs[MOCK_MR], obj.link)
		if (mr->ibmr.lkey == sge->lkey)
			return mr->pd == pd && sge->addr >= mr->iova &&
			       sge->length <= mr->length &&
			       sge->addr - mr->iova <= mr->length - sge->length;
	return false;
}

/* ---- completions ---- */

static void cq_add(struct mock_cq *cq, struct mock_wr *wr, bool solicited)
{
	if (cq->num == cq->ibcq.cqe) {
		mock_error("completion queue overrun");
		kfree(wr);
		return;
	}
	list_add_tail(&wr->link, &cq->wcs);
	cq->num++;
	if (!cq->armed || (cq->solicited && !solicited &&
			   wr->wc.status == IB_WC_SUCCESS))
		return;
	cq->armed = false;
	cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
}

/* Of an error only wr_id, status, qp and vendor_err mean something. */
static void spoil(struct ib_wc *wc)
{
	wc->opcode = 0x7f;
	wc->byte_len = 0xdeadbeef;
	wc->wc_flags = IB_WC_WITH_IMM | IB_WC_GRH;
	wc->ex.imm_data = (__force __be32)0xdeadbeef;
	wc->src_qp = 0xdeadbe;
	wc->vendor_err = 0x77;
}

static void queue_end(struct mock_queue *q, struct mock_wr *wr,
		      struct mock_cq *cq, struct mock_qp *qp,
		      enum ib_wc_status status, bool solicited)
{
	list_del(&wr->link);
	q->num--;
	wr->wc.qp = &qp->ibqp;
	wr->wc.status = status;
	if (status != IB_WC_SUCCESS)
		spoil(&wr->wc);
	cq_add(cq, wr, solicited);
}

/**
 * mock_qp_flush - everything outstanding ends as flushed, in order
 * @qp: the queue pair
 *
 * Context: with the lock held.
 */
void mock_qp_flush(struct mock_qp *qp)
{
	struct mock_wr *wr, *next;

	lockdep_assert_held(&mock.lock);
	list_for_each_entry_safe(wr, next, &qp->sq.wrs, link)
		queue_end(&qp->sq, wr, qp->send_cq, qp, IB_WC_WR_FLUSH_ERR,
			  false);
	list_for_each_entry_safe(wr, next, &qp->rq.wrs, link)
		queue_end(&qp->rq, wr, qp->recv_cq, qp, IB_WC_WR_FLUSH_ERR,
			  false);
}

static void qp_fail(struct mock_qp *qp)
{
	qp->state = IB_QPS_ERR;
	if (mock.flush)
		mock_qp_flush(qp);
}

static enum ib_wc_opcode send_opcode(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return IB_WC_RDMA_WRITE;
	case IB_WR_RDMA_READ:
		return IB_WC_RDMA_READ;
	case IB_WR_ATOMIC_CMP_AND_SWP:
		return IB_WC_COMP_SWAP;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return IB_WC_FETCH_ADD;
	default:
		return IB_WC_SEND;
	}
}

/*
 * Complete a request. A send that nobody wants to know of ends silently, and
 * so do such ones before it, as on hardware.
 */
static void complete_send(struct mock_qp *qp, struct mock_wr *wr,
			  enum ib_wc_status status)
{
	struct mock_wr *before, *next;

	list_for_each_entry_safe(before, next, &qp->sq.wrs, link) {
		if (before == wr)
			break;
		if (before->flags & IB_SEND_SIGNALED)
			continue;
		list_del(&before->link);
		qp->sq.num--;
		kfree(before);
	}
	if (status == IB_WC_SUCCESS && !(wr->flags & IB_SEND_SIGNALED)) {
		list_del(&wr->link);
		qp->sq.num--;
		kfree(wr);
		return;
	}
	queue_end(&qp->sq, wr, qp->send_cq, qp, status, false);
}

static void complete_recv(struct mock_qp *qp, struct mock_queue *q,
			  struct mock_wr *wr, enum ib_wc_status status,
			  u32 bytes, u32 flags, u32 opcode)
{
	struct ib_wc *wc = &wr->wc;

	wc->opcode = opcode;
	wc->byte_len = bytes;
	wc->wc_flags = flags;
	wc->ex.imm_data = cpu_to_be32(0x12345678);
	wc->src_qp = 17;
	wc->slid = 0x13;
	wc->sl = 3;
	wc->port_num = 1;
	queue_end(q, wr, qp->recv_cq, qp, status, true);
}

static struct mock_wr *nth(struct mock_queue *q, u32 index)
{
	struct mock_wr *wr;

	list_for_each_entry(wr, &q->wrs, link)
		if (!index--)
			return wr;
	return NULL;
}

/**
 * mock_complete - a test completes a request
 * @text: "send|recv QPN INDEX STATUS [BYTES [WC_FLAGS [OPCODE]]]"; the index
 *	counts what is outstanding, the oldest first; of a shared receive queue
 *	if the queue pair has one
 *
 * Return: 0 or a negative errno.
 */
int mock_complete(const char *text)
{
	u32 qpn, index, bytes = 0, wc_flags = 0, opcode = IB_WC_RECV;
	char side[8], name[32];
	struct mock_queue *q;
	struct mock_wr *wr;
	struct mock_qp *qp;
	int ret = -ENOENT;
	int status;

	if (sscanf(text, "%7s %u %u %31s %u %x %u", side, &qpn, &index, name,
		   &bytes, &wc_flags, &opcode) < 4)
		return -EINVAL;
	status = name_value(statuses, ARRAY_SIZE(statuses), name);
	if (status < 0)
		return status;
	spin_lock_irq(&mock.lock);
	qp = find_qp(qpn);
	if (!qp)
		goto out_unlock;
	q = !strcmp(side, "send") ? &qp->sq : qp->srq ? &qp->srq->rq : &qp->rq;
	wr = nth(q, index);
	if (!wr)
		goto out_unlock;
	ret = 0;
	if (q == &qp->sq)
		complete_send(qp, wr, status);
	else
		complete_recv(qp, q, wr, status, bytes, wc_flags, opcode);
	if (status != IB_WC_SUCCESS)
		qp_fail(qp);
out_unlock:
	spin_unlock_irq(&mock.lock);
	return ret;
}

/**
 * mock_inject - a test puts any completion into a CQ
 * @text: "CQ WR_ID STATUS [BYTES [OPCODE]]"; the CQ by the core's number, the
 *	wr_id in hexadecimal
 *
 * Its pointer to the queue pair leads nowhere.
 *
 * Return: 0 or a negative errno.
 */
int mock_inject(const char *text)
{
	u32 id, bytes = 0, opcode = IB_WC_RECV;
	unsigned long long wr_id;
	struct mock_wr *wr;
	struct mock_cq *cq;
	int ret = -ENOENT;
	char name[32];
	int status;

	if (sscanf(text, "%u %llx %31s %u %u", &id, &wr_id, name, &bytes,
		   &opcode) < 3)
		return -EINVAL;
	status = name_value(statuses, ARRAY_SIZE(statuses), name);
	if (status < 0)
		return status;
	wr = kzalloc(sizeof(*wr), GFP_KERNEL);
	if (!wr)
		return -ENOMEM;
	wr->wc.wr_id = wr_id;
	wr->wc.status = status;
	wr->wc.byte_len = bytes;
	wr->wc.opcode = opcode;
	wr->wc.qp = (void *)8UL;
	spin_lock_irq(&mock.lock);
	cq = find_cq(id);
	if (cq) {
		cq_add(cq, wr, true);
		ret = 0;
	}
	spin_unlock_irq(&mock.lock);
	if (ret)
		kfree(wr);
	return ret;
}

int mock_poll_cq(struct ib_cq *ibcq, int max, struct ib_wc *wcs)
{
	struct mock_cq *cq = to_cq(ibcq);
	int ret = mock_call(MOCK_POLL_CQ);
	struct mock_wr *wr, *next;
	unsigned long flags;
	int n = 0;

	if (ret)
		return ret;
	spin_lock_irqsave(&mock.lock, flags);
	list_for_each_entry_safe(wr, next, &cq->wcs, link) {
		if (n == max)
			break;
		wcs[n++] = wr->wc;
		list_del(&wr->link);
		cq->num--;
		kfree(wr);
	}
	spin_unlock_irqrestore(&mock.lock, flags);
	return n;
}

int mock_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct mock_cq *cq = to_cq(ibcq);
	int ret = mock_call(MOCK_REQ_NOTIFY_CQ);
	unsigned long irq;

	if (ret)
		return ret;
	spin_lock_irqsave(&mock.lock, irq);
	cq->armed = true;
	cq->solicited = (flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED;
	if (flags & IB_CQ_REPORT_MISSED_EVENTS)
		ret = cq->num > 0;
	spin_unlock_irqrestore(&mock.lock, irq);
	return ret;
}

/* ---- posting ---- */

static struct mock_wr *new_wr(const struct mock_pd *pd, struct mock_queue *q,
			      u64 wr_id, const struct ib_sge *sges, int num)
{
	struct mock_wr *wr;
	int i;

	if (q->num == q->max) {
		mock_error("queue overrun");
		return NULL;
	}
	if (num > q->max_sge) {
		mock_error("%d pieces", num);
		return NULL;
	}
	wr = kzalloc(sizeof(*wr), GFP_ATOMIC);
	if (!wr)
		return NULL;
	wr->wc.wr_id = wr_id;
	for (i = 0; i < num; i++) {
		if (!is_key(pd, &sges[i]))
			mock_error("key %x", sges[i].lkey);
		wr->bytes += sges[i].length;
	}
	list_add_tail(&wr->link, &q->wrs);
	q->num++;
	mock.posted++;
	return wr;
}

static int post_one_send(struct mock_qp *qp, const struct ib_send_wr *wr)
{
	struct mock_wr *new;

	if (qp->state != IB_QPS_RTS && qp->state != IB_QPS_ERR) {
		mock_error("send posted in state %d", qp->state);
		return -EINVAL;
	}
	if (qp->ibqp.qp_type == IB_QPT_UD && ud_wr(wr)->ah->pd != qp->ibqp.pd)
		mock_error("address handle of another pd");
	if (wr->send_flags & IB_SEND_INLINE)
		mock_error("inline data");
	new = new_wr(qp->pd, &qp->sq, wr->wr_id, wr->sg_list, wr->num_sge);
	if (!new)
		return -ENOMEM;
	new->flags = wr->send_flags;
	if (qp->sig_all)
		new->flags |= IB_SEND_SIGNALED;
	new->wc.opcode = send_opcode(wr->opcode);
	new->wc.byte_len = new->bytes;
	if (qp->state == IB_QPS_ERR && mock.flush)
		mock_qp_flush(qp);
	else if (qp->state == IB_QPS_RTS && mock.auto_send)
		complete_send(qp, new, IB_WC_SUCCESS);
	return 0;
}

int mock_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad)
{
	unsigned long flags;
	int ret = 0;

	for (; wr && !ret; wr = wr->next) {
		*bad = wr;
		ret = mock_call(MOCK_POST_SEND);
		if (ret)
			break;
		spin_lock_irqsave(&mock.lock, flags);
		ret = post_one_send(to_qp(ibqp), wr);
		spin_unlock_irqrestore(&mock.lock, flags);
	}
	return ret;
}

int mock_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad)
{
	struct mock_qp *qp = to_qp(ibqp);
	unsigned long flags;
	int ret = 0;

	for (; wr && !ret; wr = wr->next) {
		*bad = wr;
		ret = mock_call(MOCK_POST_RECV);
		if (ret)
			break;
		spin_lock_irqsave(&mock.lock, flags);
		if (qp->srq || qp->state == IB_QPS_RESET)
			mock_error("receive posted in state %d", qp->state);
		if (!new_wr(qp->pd, &qp->rq, wr->wr_id, wr->sg_list,
			    wr->num_sge))
			ret = -ENOMEM;
		else if (qp->state == IB_QPS_ERR && mock.flush)
			mock_qp_flush(qp);
		spin_unlock_irqrestore(&mock.lock, flags);
	}
	return ret;
}

int mock_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad)
{
	struct mock_srq *srq = to_srq(ibsrq);
	unsigned long flags;
	int ret = 0;

	for (; wr && !ret; wr = wr->next) {
		*bad = wr;
		ret = mock_call(MOCK_POST_SRQ_RECV);
		if (ret)
			break;
		spin_lock_irqsave(&mock.lock, flags);
		if (!new_wr(srq->pd, &srq->rq, wr->wr_id, wr->sg_list,
			    wr->num_sge))
			ret = -ENOMEM;
		spin_unlock_irqrestore(&mock.lock, flags);
	}
	return ret;
}

/* ---- events ---- */

static int object_event(const char *what, u32 id, struct ib_event *ev)
{
	struct mock_srq *srq;
	struct mock_cq *cq;
	struct mock_qp *qp;

	lockdep_assert_held(&mock.lock);
	if (!strcmp(what, "qp")) {
		qp = find_qp(id);
		if (!qp)
			return -ENOENT;
		ev->element.qp = &qp->ibqp;
		if (ev->event == IB_EVENT_QP_FATAL ||
		    ev->event == IB_EVENT_QP_REQ_ERR ||
		    ev->event == IB_EVENT_QP_ACCESS_ERR)
			qp_fail(qp);
		qp->ibqp.event_handler(ev, qp->ibqp.qp_context);
		return 0;
	}
	if (!strcmp(what, "cq")) {
		cq = find_cq(id);
		if (!cq)
			return -ENOENT;
		ev->element.cq = &cq->ibcq;
		if (cq->ibcq.event_handler)
			cq->ibcq.event_handler(ev, cq->ibcq.cq_context);
		return 0;
	}
	srq = find_srq(id);
	if (!srq)
		return -ENOENT;
	ev->element.srq = &srq->ibsrq;
	if (srq->ibsrq.event_handler)
		srq->ibsrq.event_handler(ev, srq->ibsrq.srq_context);
	return 0;
}

/**
 * mock_event - a test raises an event
 * @text: "qp QPN NAME", "cq ID NAME", "srq ID NAME", "port NUMBER NAME" or
 *	"device 0 NAME"
 *
 * Return: 0 or a negative errno.
 */
int mock_event(const char *text)
{
	struct ib_event ev = {};
	char what[8], name[32];
	u32 id;
	int ret;

	if (sscanf(text, "%7s %u %31s", what, &id, name) != 3)
		return -EINVAL;
	ret = name_value(events, ARRAY_SIZE(events), name);
	if (ret < 0)
		return ret;
	ev.event = ret;
	if (!strcmp(what, "port") || !strcmp(what, "device")) {
		mutex_lock(&mock.plug);
		ret = -ENODEV;
		if (mock.plugged) {
			ev.device = &mock.dev->ibdev;
			ev.element.port_num = id;
			ib_dispatch_event(&ev);
			ret = 0;
		}
		mutex_unlock(&mock.plug);
		return ret;
	}
	if (strcmp(what, "qp") && strcmp(what, "cq") && strcmp(what, "srq"))
		return -EINVAL;
	spin_lock_irq(&mock.lock);
	/* Objects live no longer than it. */
	if (mock.dev)
		ev.device = &mock.dev->ibdev;
	ret = object_event(what, id, &ev);
	spin_unlock_irq(&mock.lock);
	return ret;
}
