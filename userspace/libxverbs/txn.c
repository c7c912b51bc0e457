// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Transactions: begun, filled by others, sent by one ioctl.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib.h"
#include "txn.h"

/* Lock conflicts: 4 tries at once, then pauses from 10 us to 5 ms. */
#define RETRY_MAX	20
#define RETRY_YIELDS	4
#define RETRY_FIRST_NS	10000L
#define RETRY_PAUSE_NS	5000000L

XV_PUBLIC int xv_txn_begin(struct xv_ctx *ctx, unsigned int flags,
			   struct xv_tx **tx_out)
{
	XV_KEEP_ERRNO;
	struct xv_tx *tx;
	int ret;

	if (flags & ~(XV_TXN_F_BATCH | XV_TXN_NOW))
		return -EINVAL;
	tx = malloc(sizeof(*tx));
	if (!tx)
		return -ENOMEM;
	ret = xv_tx_init(tx, ctx, flags);
	if (ret)
		free(tx);
	else
		*tx_out = tx;
	return ret;
}

XV_PUBLIC void xv_txn_free(struct xv_tx *tx)
{
	XV_KEEP_ERRNO;

	if (!tx)
		return;
	xv_tx_exit(tx);
	free(tx);
}

XV_PUBLIC void xv_txn_reset(struct xv_tx *tx)
{
	XV_KEEP_ERRNO;

	xv_msg_abort(tx);
	xv_msg_forget(tx);
}

XV_PUBLIC const struct xv_error *xv_txn_error(const struct xv_tx *tx)
{
	return &tx->err;
}

XV_PUBLIC unsigned int xv_txn_num_ops(const struct xv_tx *tx)
{
	return tx->done ? 0 : tx->num_ops;
}

static void back_off(unsigned int try)
{
	struct timespec pause = {};
	unsigned int shift;

	if (try < RETRY_YIELDS) {
		sched_yield();
		return;
	}
	shift = try - RETRY_YIELDS;
	pause.tv_nsec = RETRY_PAUSE_NS;
	if (shift < 10 && RETRY_FIRST_NS << shift < RETRY_PAUSE_NS)
		pause.tv_nsec = RETRY_FIRST_NS << shift;
	nanosleep(&pause, NULL);
}

/* A refused call may have written to outputs. */
static void restore_outputs(struct xv_tx *tx)
{
	unsigned int i;

	for (i = 0; i < tx->num_fixes; i++) {
		const struct xv_fix *fix = &tx->fixes[i];
		struct xv_attr *attr;

		if (!fix->attr)
			continue;
		attr = (struct xv_attr *)(tx->buf + fix->attr);
		attr->len = fix->len;
		attr->data = fix->data;
	}
}

static int send_message(struct xv_tx *tx)
{
	unsigned int try;
	int ret;

	xv_msg_header(tx);
	for (try = 0;; try++) {
		memset(&tx->err, 0, sizeof(tx->err));
		ret = xv_ctx_ioctl(tx->ctx, XV_IOC_TXN, tx->buf);
		if (ret != -EBUSY || tx->err.reason != XV_R_LOCK_CONFLICT ||
		    try == RETRY_MAX)
			return ret;
		back_off(try);
		restore_outputs(tx);
	}
}

static int map_cq(struct xv_cq *cq)
{
	const struct xv_cq_info *info = &cq->info;
	uint64_t need = sizeof(*cq->ring) +
			(uint64_t)info->entries * sizeof(*cq->wcs);
	uint8_t *mem;
	int ret;

	if (!info->entries || info->entries & (info->entries - 1) ||
	    info->area.length < need)
		return -EPROTO;
	ret = xv_ctx_map(cq->obj.ctx, &info->area, &mem);
	if (ret)
		return ret;
	cq->ring = (struct xv_cq_ring *)mem;
	cq->wcs = (struct xv_wc *)(cq->ring + 1);
	cq->mask = info->entries - 1;
	cq->head = 0;
	return 0;
}

static int map_qp(struct xv_qp *qp)
{
	const struct xv_qp_info *info = &qp->info;
	uint64_t need = sizeof(*qp->ring) +
			(uint64_t)info->send_entries * sizeof(*qp->sends) +
			(uint64_t)info->recv_entries * sizeof(*qp->recvs);
	uint8_t *mem;
	int ret;

	if (!info->send_entries ||
	    info->send_entries & (info->send_entries - 1) ||
	    info->recv_entries & (info->recv_entries - 1) ||
	    info->area.length < need)
		return -EPROTO;
	ret = xv_ctx_map(qp->obj.ctx, &info->area, &mem);
	if (ret)
		return ret;
	qp->ring = (struct xv_qp_ring *)mem;
	qp->sends = (struct xv_send *)(qp->ring + 1);
	qp->recvs = (struct xv_recv *)(qp->sends + info->send_entries);
	qp->send_mask = info->send_entries - 1;
	qp->recv_mask = info->recv_entries ? info->recv_entries - 1 : 0;
	qp->send_wr = info->send_wr;
	qp->recv_wr = info->recv_wr;
	qp->send_tail = 0;
	qp->send_taken = 0;
	qp->recv_tail = 0;
	qp->recv_taken = 0;
	return 0;
}

static int map_srq(struct xv_srq *srq)
{
	const struct xv_srq_info *info = &srq->info;
	uint64_t need = sizeof(*srq->ring) +
			(uint64_t)info->recv_entries * sizeof(*srq->recvs);
	uint8_t *mem;
	int ret;

	if (!info->recv_entries ||
	    info->recv_entries & (info->recv_entries - 1) ||
	    info->area.length < need)
		return -EPROTO;
	ret = xv_ctx_map(srq->obj.ctx, &info->area, &mem);
	if (ret)
		return ret;
	srq->ring = (struct xv_srq_ring *)mem;
	srq->recvs = (struct xv_recv *)(srq->ring + 1);
	srq->recv_mask = info->recv_entries - 1;
	srq->recv_wr = info->recv_wr;
	srq->recv_tail = 0;
	srq->recv_taken = 0;
	return 0;
}

static int fix_up(struct xv_tx *tx, const struct xv_fix *fix)
{
	struct xv_obj *obj = fix->obj;
	uint64_t data = 0;

	if (fix->attr)
		data = ((struct xv_attr *)(tx->buf + fix->attr))->data;

	switch (fix->kind) {
	case XV_FIX_SAVE:
		break;
	case XV_FIX_EVENTQ: {
		struct xv_eventq *eq = (struct xv_eventq *)obj;

		obj->tx = NULL;
		eq->fd = (int)data;
		eq->open = 1;
		break;
	}
	case XV_FIX_PD:
	case XV_FIX_MR:
	case XV_FIX_AH:
	case XV_FIX_LISTENER:
	case XV_FIX_CONN:
	case XV_FIX_MCAST:
	case XV_FIX_SUBSCRIPTION:
		obj->tx = NULL;
		obj->handle = data;
		break;
	case XV_FIX_CQ:
		obj->tx = NULL;
		obj->handle = data;
		return map_cq((struct xv_cq *)obj);
	case XV_FIX_QP:
		obj->tx = NULL;
		obj->handle = data;
		return map_qp((struct xv_qp *)obj);
	case XV_FIX_FIRST_RECVS: {
		struct xv_qp *qp = (struct xv_qp *)obj;

		/* They are the first entries of the ring, though not in it. */
		qp->recv_tail += fix->data;
		qp->recv_taken += fix->data;
		break;
	}
	case XV_FIX_SRQ:
		obj->tx = NULL;
		obj->handle = data;
		return map_srq((struct xv_srq *)obj);
	case XV_FIX_SRQ_RECVS: {
		struct xv_srq *srq = (struct xv_srq *)obj;

		srq->recv_tail += fix->data;
		srq->recv_taken += fix->data;
		break;
	}
	case XV_FIX_SRQ_GONE:
		((struct xv_srq *)obj)->ring = NULL;
		obj->handle = 0;
		break;
	case XV_FIX_QP_GONE: {
		struct xv_qp *qp = (struct xv_qp *)obj;

		xv_cq_forget_qp(qp->send_cq, obj->handle);
		if (qp->recv_cq != qp->send_cq)
			xv_cq_forget_qp(qp->recv_cq, obj->handle);
		qp->ring = NULL;
		obj->handle = 0;
		break;
	}
	case XV_FIX_CQ_GONE:
		xv_cq_clear((struct xv_cq *)obj);
		obj->handle = 0;
		break;
	case XV_FIX_GONE:
		obj->handle = 0;
		break;
	}
	return 0;
}

/*
 * The kernel has made everything, but this process has no room for the rings:
 * take back what was made, so that an error still means that nothing is there.
 */
static void undo_creates(struct xv_tx *tx)
{
	struct xv_tx undo;
	unsigned int i;

	if (xv_tx_init(&undo, tx->ctx, 0))
		return;
	for (i = 0; i < tx->num_fixes; i++) {
		const struct xv_fix *fix = &tx->fixes[i];
		unsigned int object;

		switch (fix->kind) {
		case XV_FIX_PD:
			object = XV_OBJ_PD;
			break;
		case XV_FIX_MR:
			object = XV_OBJ_MR;
			break;
		case XV_FIX_AH:
			object = XV_OBJ_AH;
			break;
		case XV_FIX_LISTENER:
			object = XV_OBJ_LISTENER;
			break;
		case XV_FIX_CONN:
			object = XV_OBJ_CONN;
			break;
		case XV_FIX_MCAST:
			object = XV_OBJ_MCAST;
			break;
		case XV_FIX_SUBSCRIPTION:
			object = XV_OBJ_SUBSCRIPTION;
			break;
		case XV_FIX_CQ:
			object = XV_OBJ_CQ;
			xv_cq_clear((struct xv_cq *)fix->obj);
			break;
		case XV_FIX_QP:
			object = XV_OBJ_QP;
			((struct xv_qp *)fix->obj)->ring = NULL;
			break;
		case XV_FIX_SRQ:
			object = XV_OBJ_SRQ;
			((struct xv_srq *)fix->obj)->ring = NULL;
			break;
		case XV_FIX_EVENTQ: {
			struct xv_eventq *eq = (struct xv_eventq *)fix->obj;

			close(eq->fd);
			eq->open = 0;
			continue;
		}
		default:
			continue;
		}
		xv_msg_op(&undo, object, XV_M_DESTROY);
		xv_msg_attr(&undo, XV_GRP_OBJECT, XV_OBJECT_HANDLE,
			    sizeof(uint32_t), 0, fix->obj->handle);
		fix->obj->handle = 0;
	}
	if (undo.num_ops && !undo.broken)
		send_message(&undo);
	xv_tx_exit(&undo);
}

static int commit(struct xv_tx *tx)
{
	unsigned int i;
	int ret, err = 0;

	if (tx->done)
		return -EINVAL;
	if (tx->broken)
		return tx->broken;
	if (!tx->num_ops)
		return -EINVAL;

	ret = send_message(tx);
	if (ret < 0)
		return ret;
	for (i = 0; i < tx->num_fixes; i++) {
		int e = fix_up(tx, &tx->fixes[i]);

		if (e && !err)
			err = e;
	}
	if (err) {
		undo_creates(tx);
		return err;
	}
	return ret;
}

XV_PUBLIC int xv_txn_commit(struct xv_tx *tx, struct xv_error *err)
{
	XV_KEEP_ERRNO;
	int ret;

	if (tx->done || tx->broken || !tx->num_ops)
		memset(&tx->err, 0, sizeof(tx->err));
	if (tx->done || (!tx->broken && !tx->num_ops)) {
		/* Nothing to do is an error, as the kernel sees it too. */
		tx->err.err = EINVAL;
		tx->err.op = XV_NO_OP;
		tx->err.reason = XV_R_RANGE;
		tx->err.detail = 1;
	} else if (tx->broken) {
		tx->err = tx->refused;
	}
	ret = commit(tx);
	if (ret < 0 && tx->err.err != -ret) {
		/* Not from the kernel, or it could not write the record. */
		memset(&tx->err, 0, sizeof(tx->err));
		tx->err.err = -ret;
		tx->err.op = XV_NO_OP;
	}
	xv_msg_abort(tx);
	if (err)
		*err = tx->err;
	return ret;
}
