// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The message of a transaction: one buffer, which grows as operations are added.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib.h"
#include "txn.h"

#define FIRST_SIZE	1024
#define MAX_SIZE	(4 * XV_MAX_BYTES)

void xv_msg_forget(struct xv_tx *tx)
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
void xv_msg_abort(struct xv_tx *tx)
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
	xv_msg_forget(tx);
	return 0;
}

void xv_tx_exit(struct xv_tx *tx)
{
	xv_msg_abort(tx);
	xv_msg_forget(tx);
	free(tx->fixes);
	free(tx->buf);
}

/* The first failure stays, with a record as the kernel would write it. */
int xv_msg_refuse(struct xv_tx *tx, int err, unsigned int reason,
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

int xv_msg_fail(struct xv_tx *tx, int err)
{
	return xv_msg_refuse(tx, err, err == -E2BIG ? XV_R_TOO_BIG : XV_R_NONE, 0,
			     0);
}

/* Room for @len more bytes, cleared; returns their offset or an error. */
static long msg_append(struct xv_tx *tx, size_t len)
{
	size_t need = tx->len + len;
	size_t off = tx->len;
	uint8_t *buf;

	if (need > MAX_SIZE)
		return xv_msg_fail(tx, -E2BIG);
	if (need > tx->size) {
		buf = realloc(tx->buf, 2 * need);
		if (!buf)
			return xv_msg_fail(tx, -ENOMEM);
		tx->buf = buf;
		tx->size = 2 * need;
	}
	memset(tx->buf + off, 0, len);
	tx->len = need;
	return (long)off;
}

int xv_msg_op(struct xv_tx *tx, unsigned int object, unsigned int method)
{
	struct xv_op *op;
	long off;

	if (tx->done)
		xv_msg_forget(tx);
	off = msg_append(tx, sizeof(*op));
	if (off < 0)
		return (int)off;
	op = (struct xv_op *)(tx->buf + off);
	op->object = object;
	op->method = method;
	tx->op = off;
	return tx->num_ops++;
}

/* Returns the offset of the attribute, or an error. */
long xv_msg_attr(struct xv_tx *tx, unsigned int group, unsigned int id,
		 unsigned int len, unsigned int flags, uint64_t data)
{
	struct xv_attr *attr;
	struct xv_op *op;
	long off;

	if (tx->done || !tx->op)
		return xv_msg_fail(tx, -EINVAL);
	if (len > USHRT_MAX)
		return xv_msg_fail(tx, -E2BIG);
	op = (struct xv_op *)(tx->buf + tx->op);
	if (op->num_attrs == USHRT_MAX)
		return xv_msg_fail(tx, -E2BIG);
	off = msg_append(tx, sizeof(*attr));
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

int xv_msg_fix(struct xv_tx *tx, enum xv_fix_kind kind, long off,
	       struct xv_obj *obj, uint64_t data, unsigned int len)
{
	struct xv_fix *fix;

	if (off < 0)
		return (int)off;
	if (tx->num_fixes == tx->max_fixes) {
		unsigned int max = tx->max_fixes ? 2 * tx->max_fixes : 16;

		fix = realloc(tx->fixes, max * sizeof(*fix));
		if (!fix)
			return xv_msg_fail(tx, -ENOMEM);
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

struct xv_txn *xv_msg_header(struct xv_tx *tx)
{
	struct xv_txn *txn = (struct xv_txn *)tx->buf;

	memset(txn, 0, sizeof(*txn));
	txn->length = tx->len;
	txn->num_ops = tx->num_ops;
	txn->flags = tx->flags;
	txn->error_ptr = (uintptr_t)&tx->err;
	return txn;
}
