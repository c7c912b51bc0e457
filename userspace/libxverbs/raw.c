// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Raw calls: operations and attributes by number.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <stdlib.h>
#include <string.h>

#include "lib.h"
#include "txn.h"

XV_PUBLIC int xv_txn_op(struct xv_tx *tx, unsigned int object,
			unsigned int method)
{
	XV_KEEP_ERRNO;

	return xv_msg_op(tx, object, method);
}

XV_PUBLIC int xv_txn_attr(struct xv_tx *tx, unsigned int group,
			  unsigned int id, unsigned int len,
			  unsigned int flags, uint64_t data)
{
	XV_KEEP_ERRNO;
	long off = xv_msg_attr(tx, group, id, len, flags, data);

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
	long off = xv_msg_attr(tx, group, id, sizeof(uint32_t), 0, 0);

	return xv_msg_fix(tx, XV_FIX_SAVE, off, NULL, 0, sizeof(uint32_t));
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
	long off = xv_msg_attr(tx, group, id, len, 0, (uintptr_t)buf);

	return xv_msg_fix(tx, XV_FIX_SAVE, off, NULL, (uintptr_t)buf, len);
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

XV_PUBLIC struct xv_txn *xv_txn_wire(struct xv_tx *tx, size_t *len)
{
	if (len)
		*len = tx->len;
	return xv_msg_header(tx);
}

XV_PUBLIC int xv_txn_raw(struct xv_ctx *ctx, void *wire)
{
	XV_KEEP_ERRNO;

	return xv_ctx_ioctl(ctx, XV_IOC_TXN, wire);
}
