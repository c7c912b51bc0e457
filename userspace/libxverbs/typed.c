// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Attributes of typed calls. Errors stay in the transaction.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib.h"
#include "txn.h"

int xv_tx_op(struct xv_tx *tx, unsigned int object, unsigned int method)
{
	return xv_msg_op(tx, object, method);
}

void xv_tx_val(struct xv_tx *tx, unsigned int group, unsigned int id,
	       unsigned int len, uint64_t val)
{
	xv_msg_attr(tx, group, id, len, 0, val);
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
	off = xv_msg_attr(tx, XV_GRP_OBJECT, XV_OBJECT_HANDLE, sizeof(uint32_t), 0,
			  0);
	if (xv_msg_fix(tx, kind, off, obj, 0, sizeof(uint32_t)))
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
		xv_msg_attr(tx, group, id, sizeof(uint32_t), 0, handle);
	else if (obj->tx == tx)
		xv_msg_attr(tx, group, id, sizeof(uint32_t), XV_ATTR_F_FROM_OP,
			    obj->op);
	else
		xv_tx_refuse(tx, XV_R_REFERENCE, group, id);
}

void xv_tx_after(struct xv_tx *tx, enum xv_fix_kind kind, struct xv_obj *obj,
		 uint64_t data)
{
	if (!tx->broken)
		xv_msg_fix(tx, kind, 0, obj, data, 0);
}

void xv_tx_out(struct xv_tx *tx, unsigned int group, unsigned int id,
	       void *buf, unsigned int len)
{
	long off = xv_msg_attr(tx, group, id, len, 0, (uintptr_t)buf);

	xv_msg_fix(tx, XV_FIX_SAVE, off, NULL, (uintptr_t)buf, len);
}

/* An input buffer that the caller may forget at once. */
void *xv_tx_copy(struct xv_tx *tx, unsigned int group, unsigned int id,
		 const void *buf, size_t len)
{
	struct xv_chunk *chunk = tx->chunks;
	size_t room = (len + 7) & ~(size_t)7;
	uint8_t *mem;

	if (len > USHRT_MAX) {
		xv_msg_fail(tx, -E2BIG);
		return NULL;
	}
	if (!chunk || chunk->size - chunk->used < room) {
		size_t size = room > 960 ? room : 960;

		chunk = malloc(sizeof(*chunk) + size);
		if (!chunk) {
			xv_msg_fail(tx, -ENOMEM);
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
		xv_msg_attr(tx, group, id, len, 0, (uintptr_t)mem);
	} else {
		uint64_t data = 0;

		memcpy(&data, buf, len);
		xv_msg_attr(tx, group, id, len, 0, data);
	}
	return mem;
}

void xv_tx_fail(struct xv_tx *tx, int err)
{
	xv_msg_fail(tx, err);
}

void xv_tx_refuse(struct xv_tx *tx, unsigned int reason, unsigned int group,
		  unsigned int attr)
{
	xv_msg_refuse(tx, -EINVAL, reason, group, attr);
}

int xv_tx_end(struct xv_tx *tx)
{
	int ret = tx->broken;

	if (!tx->now)
		return ret;
	return xv_txn_commit(tx, NULL);
}
