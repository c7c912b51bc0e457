// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Transactions: the message is built in one buffer and sent by one ioctl.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib.h"
#include "txn.h"

#define FIRST_SIZE	1024
#define MAX_SIZE	(4 * XV_MAX_BYTES)

/* Lock conflicts: 4 tries at once, then pauses from 10 us to 5 ms. */
#define RETRY_MAX	20
#define RETRY_YIELDS	4
#define RETRY_FIRST_NS	10000L
#define RETRY_PAUSE_NS	5000000L

static void tx_forget(struct xv_tx *tx)
{
	struct xv_chunk *chunk;

	while ((chunk = tx->chunks)) {
		tx->chunks = chunk->next;
		free(chunk);
	}
	tx->len = sizeof(struct xv_txn);
	tx->op = 0;
	tx->num_ops = 0;
	tx->num_fixes = 0;
	tx->broken = 0;
	tx->done = false;
}

/* The objects that would have been made are not; the others are unchanged. */
static void tx_abort(struct xv_tx *tx)
{
	unsigned int i;

	for (i = 0; i < tx->num_fixes; i++) {
		struct xv_obj *obj = tx->fixes[i].obj;

		if (obj && obj->tx == tx) {
			obj->tx = NULL;
			obj->op = XV_NOT_PENDING;
		}
	}
	tx->num_fixes = 0;
	tx->done = true;
}

int xv_tx_init(struct xv_tx *tx, struct xv_ctx *ctx, unsigned int flags)
{
	memset(tx, 0, sizeof(*tx));
	tx->buf = calloc(1, FIRST_SIZE);
	if (!tx->buf)
		return -ENOMEM;
	tx->size = FIRST_SIZE;
	tx->ctx = ctx;
	tx->now = flags & XV_TXN_NOW;
	tx->flags = flags & ~XV_TXN_NOW;
	tx_forget(tx);
	return 0;
}

void xv_tx_exit(struct xv_tx *tx)
{
	tx_abort(tx);
	tx_forget(tx);
	free(tx->fixes);
	free(tx->buf);
}

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

	tx_abort(tx);
	tx_forget(tx);
}

XV_PUBLIC const struct xv_error *xv_txn_error(const struct xv_tx *tx)
{
	return &tx->err;
}

XV_PUBLIC unsigned int xv_txn_num_ops(const struct xv_tx *tx)
{
	return tx->done ? 0 : tx->num_ops;
}

/* The first failure stays, with a record as the kernel would write it. */
static int tx_refuse(struct xv_tx *tx, int err, unsigned int reason,
		     unsigned int group, unsigned int attr)
{
	if (tx->broken)
		return err;
	tx->broken = err;
	memset(&tx->refused, 0, sizeof(tx->refused));
	tx->refused.err = -err;
	tx->refused.op = tx->num_ops ? tx->num_ops - 1 : XV_NO_OP;
	tx->refused.reason = reason;
	tx->refused.group = group;
	tx->refused.attr = attr;
	return err;
}

static int tx_fail(struct xv_tx *tx, int err)
{
	return tx_refuse(tx, err, err == -E2BIG ? XV_R_TOO_BIG : XV_R_NONE, 0,
			 0);
}

/* Room for @len more bytes, cleared; returns their offset or an error. */
static long tx_append(struct xv_tx *tx, size_t len)
{
	size_t need = tx->len + len;
	size_t off = tx->len;
	uint8_t *buf;

	if (need > MAX_SIZE)
		return tx_fail(tx, -E2BIG);
	if (need > tx->size) {
		buf = realloc(tx->buf, 2 * need);
		if (!buf)
			return tx_fail(tx, -ENOMEM);
		tx->buf = buf;
		tx->size = 2 * need;
	}
	memset(tx->buf + off, 0, len);
	tx->len = need;
	return (long)off;
}

static int tx_op(struct xv_tx *tx, unsigned int object, unsigned int method)
{
	struct xv_op *op;
	long off;

	if (tx->done)
		tx_forget(tx);
	off = tx_append(tx, sizeof(*op));
	if (off < 0)
		return (int)off;
	op = (struct xv_op *)(tx->buf + off);
	op->object = object;
	op->method = method;
	tx->op = off;
	return tx->num_ops++;
}

/* Returns the offset of the attribute, or an error. */
static long tx_attr(struct xv_tx *tx, unsigned int group, unsigned int id,
		    unsigned int len, unsigned int flags, uint64_t data)
{
	struct xv_attr *attr;
	struct xv_op *op;
	long off;

	if (tx->done || !tx->op)
		return tx_fail(tx, -EINVAL);
	if (len > USHRT_MAX)
		return tx_fail(tx, -E2BIG);
	op = (struct xv_op *)(tx->buf + tx->op);
	if (op->num_attrs == USHRT_MAX)
		return tx_fail(tx, -E2BIG);
	off = tx_append(tx, sizeof(*attr));
	if (off < 0)
		return off;
	op = (struct xv_op *)(tx->buf + tx->op);
	op->num_attrs++;
	attr = (struct xv_attr *)(tx->buf + off);
	attr->group = group;
	attr->id = id;
	attr->len = len;
	attr->flags = flags;
	attr->data = data;
	return off;
}

static int tx_fix(struct xv_tx *tx, enum xv_fix_kind kind, long off,
		  struct xv_obj *obj, uint64_t data, unsigned int len)
{
	struct xv_fix *fix;

	if (off < 0)
		return (int)off;
	if (tx->num_fixes == tx->max_fixes) {
		unsigned int max = tx->max_fixes ? 2 * tx->max_fixes : 16;

		fix = realloc(tx->fixes, max * sizeof(*fix));
		if (!fix)
			return tx_fail(tx, -ENOMEM);
		tx->fixes = fix;
		tx->max_fixes = max;
	}
	fix = &tx->fixes[tx->num_fixes++];
	fix->kind = kind;
	fix->attr = off;
	fix->obj = obj;
	fix->data = data;
	fix->len = len;
	return 0;
}

/* ------------------------------------------------------------------------
 * For the typed calls. Errors stay in the transaction.
 */

int xv_tx_op(struct xv_tx *tx, unsigned int object, unsigned int method)
{
	return tx_op(tx, object, method);
}

void xv_tx_val(struct xv_tx *tx, unsigned int group, unsigned int id,
	       unsigned int len, uint64_t val)
{
	tx_attr(tx, group, id, len, 0, val);
}

void xv_tx_new(struct xv_tx *tx, enum xv_fix_kind kind, struct xv_obj *obj)
{
	unsigned int op = tx->num_ops - 1;
	long off;

	if (tx->broken)
		return;
	/* An object that lives, or that is being made, is not made again. */
	if (obj->handle || obj->tx) {
		xv_tx_refuse(tx, XV_R_DUPLICATE, XV_GRP_OBJECT,
			     XV_OBJECT_HANDLE);
		return;
	}
	off = tx_attr(tx, XV_GRP_OBJECT, XV_OBJECT_HANDLE, sizeof(uint32_t), 0,
		      0);
	if (tx_fix(tx, kind, off, obj, 0, sizeof(uint32_t)))
		return;
	obj->ctx = tx->ctx;
	obj->tx = tx;
	obj->op = op;
}

/* An object by its handle, or by the operation that will make it. */
void xv_tx_ref(struct xv_tx *tx, unsigned int group, unsigned int id,
	       const struct xv_obj *obj, uint32_t handle)
{
	if (!obj->tx)
		tx_attr(tx, group, id, sizeof(uint32_t), 0, handle);
	else if (obj->tx == tx)
		tx_attr(tx, group, id, sizeof(uint32_t), XV_ATTR_F_FROM_OP,
			obj->op);
	else
		xv_tx_refuse(tx, XV_R_REFERENCE, group, id);
}

void xv_tx_after(struct xv_tx *tx, enum xv_fix_kind kind, struct xv_obj *obj,
		 uint64_t data)
{
	if (!tx->broken)
		tx_fix(tx, kind, 0, obj, data, 0);
}

void xv_tx_out(struct xv_tx *tx, unsigned int group, unsigned int id,
	       void *buf, unsigned int len)
{
	long off = tx_attr(tx, group, id, len, 0, (uintptr_t)buf);

	tx_fix(tx, XV_FIX_SAVE, off, NULL, (uintptr_t)buf, len);
}

/* An input buffer that the caller may forget at once. */
void *xv_tx_copy(struct xv_tx *tx, unsigned int group, unsigned int id,
		 const void *buf, size_t len)
{
	struct xv_chunk *chunk = tx->chunks;
	size_t room = (len + 7) & ~(size_t)7;
	uint8_t *mem;

	if (len > USHRT_MAX) {
		tx_fail(tx, -E2BIG);
		return NULL;
	}
	if (!chunk || chunk->size - chunk->used < room) {
		size_t size = room > 960 ? room : 960;

		chunk = malloc(sizeof(*chunk) + size);
		if (!chunk) {
			tx_fail(tx, -ENOMEM);
			return NULL;
		}
		chunk->size = size;
		chunk->used = 0;
		chunk->next = tx->chunks;
		tx->chunks = chunk;
	}
	mem = (uint8_t *)chunk->mem + chunk->used;
	chunk->used += room;
	memcpy(mem, buf, len);
	if (len > 8) {
		tx_attr(tx, group, id, len, 0, (uintptr_t)mem);
	} else {
		uint64_t data = 0;

		memcpy(&data, buf, len);
		tx_attr(tx, group, id, len, 0, data);
	}
	return mem;
}

void xv_tx_fail(struct xv_tx *tx, int err)
{
	tx_fail(tx, err);
}

void xv_tx_refuse(struct xv_tx *tx, unsigned int reason, unsigned int group,
		  unsigned int attr)
{
	tx_refuse(tx, -EINVAL, reason, group, attr);
}

int xv_tx_end(struct xv_tx *tx)
{
	int ret = tx->broken;

	if (!tx->now)
		return ret;
	return xv_txn_commit(tx, NULL);
}

/* ------------------------------------------------------------------------
 * Raw
 */

XV_PUBLIC int xv_txn_op(struct xv_tx *tx, unsigned int object,
			unsigned int method)
{
	XV_KEEP_ERRNO;

	return tx_op(tx, object, method);
}

XV_PUBLIC int xv_txn_attr(struct xv_tx *tx, unsigned int group,
			  unsigned int id, unsigned int len,
			  unsigned int flags, uint64_t data)
{
	XV_KEEP_ERRNO;
	long off = tx_attr(tx, group, id, len, flags, data);

	return off < 0 ? (int)off : 0;
}

XV_PUBLIC int xv_txn_attr_u32(struct xv_tx *tx, unsigned int group,
			      unsigned int id, uint32_t val)
{
	return xv_txn_attr(tx, group, id, sizeof(val), 0, val);
}

XV_PUBLIC int xv_txn_attr_u64(struct xv_tx *tx, unsigned int group,
			      unsigned int id, uint64_t val)
{
	return xv_txn_attr(tx, group, id, sizeof(val), 0, val);
}

XV_PUBLIC int xv_txn_attr_handle(struct xv_tx *tx, unsigned int group,
				 unsigned int id, uint32_t handle)
{
	return xv_txn_attr(tx, group, id, sizeof(handle), 0, handle);
}

XV_PUBLIC int xv_txn_attr_ref(struct xv_tx *tx, unsigned int group,
			      unsigned int id, unsigned int op)
{
	return xv_txn_attr(tx, group, id, sizeof(uint32_t), XV_ATTR_F_FROM_OP,
			   op);
}

XV_PUBLIC int xv_txn_attr_new(struct xv_tx *tx, unsigned int group,
			      unsigned int id)
{
	XV_KEEP_ERRNO;
	long off = tx_attr(tx, group, id, sizeof(uint32_t), 0, 0);

	return tx_fix(tx, XV_FIX_SAVE, off, NULL, 0, sizeof(uint32_t));
}

XV_PUBLIC int xv_txn_attr_in(struct xv_tx *tx, unsigned int group,
			     unsigned int id, const void *buf, unsigned int len)
{
	uint64_t data = 0;

	if (len > sizeof(data))
		data = (uintptr_t)buf;
	else if (len)
		memcpy(&data, buf, len);
	return xv_txn_attr(tx, group, id, len, 0, data);
}

XV_PUBLIC int xv_txn_attr_out(struct xv_tx *tx, unsigned int group,
			      unsigned int id, void *buf, unsigned int len)
{
	XV_KEEP_ERRNO;
	long off = tx_attr(tx, group, id, len, 0, (uintptr_t)buf);

	return tx_fix(tx, XV_FIX_SAVE, off, NULL, (uintptr_t)buf, len);
}

const struct xv_op *xv_tx_find_op(const struct xv_tx *tx, unsigned int n)
{
	const struct xv_op *op;
	size_t off = sizeof(struct xv_txn);

	if (n >= tx->num_ops)
		return NULL;
	for (;;) {
		op = (const struct xv_op *)(tx->buf + off);
		if (!n--)
			return op;
		off += sizeof(*op) + op->num_attrs * sizeof(struct xv_attr);
	}
}

XV_PUBLIC int xv_txn_get(const struct xv_tx *tx, unsigned int n,
			 unsigned int group, unsigned int id,
			 struct xv_attr *attr)
{
	const struct xv_op *op = xv_tx_find_op(tx, n);
	const struct xv_attr *a;
	unsigned int i;

	if (!op)
		return -ENOENT;
	a = (const struct xv_attr *)(op + 1);
	for (i = 0; i < op->num_attrs; i++) {
		if (a[i].group == group && a[i].id == id) {
			*attr = a[i];
			return 0;
		}
	}
	return -ENOENT;
}

static struct xv_txn *tx_header(struct xv_tx *tx)
{
	struct xv_txn *txn = (struct xv_txn *)tx->buf;

	memset(txn, 0, sizeof(*txn));
	txn->length = tx->len;
	txn->num_ops = tx->num_ops;
	txn->flags = tx->flags;
	txn->error_ptr = (uintptr_t)&tx->err;
	return txn;
}

XV_PUBLIC struct xv_txn *xv_txn_wire(struct xv_tx *tx, size_t *len)
{
	if (len)
		*len = tx->len;
	return tx_header(tx);
}

XV_PUBLIC int xv_txn_raw(struct xv_ctx *ctx, void *wire)
{
	XV_KEEP_ERRNO;

	return xv_ctx_ioctl(ctx, XV_IOC_TXN, wire);
}

/* ------------------------------------------------------------------------
 * Commit
 */

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

static int tx_ioctl(struct xv_tx *tx)
{
	unsigned int try;
	int ret;

	tx_header(tx);
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
		tx_op(&undo, object, XV_M_DESTROY);
		tx_attr(&undo, XV_GRP_OBJECT, XV_OBJECT_HANDLE,
			sizeof(uint32_t), 0, fix->obj->handle);
		fix->obj->handle = 0;
	}
	if (undo.num_ops && !undo.broken)
		tx_ioctl(&undo);
	xv_tx_exit(&undo);
}

static int tx_commit(struct xv_tx *tx)
{
	unsigned int i;
	int ret, err = 0;

	if (tx->done)
		return -EINVAL;
	if (tx->broken)
		return tx->broken;
	if (!tx->num_ops)
		return -EINVAL;

	ret = tx_ioctl(tx);
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
	ret = tx_commit(tx);
	if (ret < 0 && tx->err.err != -ret) {
		/* Not from the kernel, or it could not write the record. */
		memset(&tx->err, 0, sizeof(tx->err));
		tx->err.err = -ret;
		tx->err.op = XV_NO_OP;
	}
	tx_abort(tx);
	if (err)
		*err = tx->err;
	return ret;
}
