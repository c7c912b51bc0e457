/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libxverbs: attributes of typed calls, and the operations that all objects
 * have.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_PUT_H
#define _XV_PUT_H

#include <string.h>

#include "txn.h"

static inline bool refuse(struct xv_tx *tx, int reason)
{
	if (reason)
		xv_tx_refuse(tx, reason, 0, 0);
	return reason;
}

static inline bool missing(struct xv_tx *tx, const void *obj, unsigned int id)
{
	if (!obj)
		xv_tx_refuse(tx, XV_R_MISSING, XV_GRP_OBJECT, id);
	return !obj;
}

static inline void put_u32(struct xv_tx *tx, unsigned int group, unsigned int id,
		    uint32_t val)
{
	xv_tx_val(tx, group, id, sizeof(val), val);
}

static inline void put_u32_if(struct xv_tx *tx, unsigned int group, unsigned int id,
		       uint32_t val)
{
	if (val)
		put_u32(tx, group, id, val);
}

static inline void put_u64(struct xv_tx *tx, unsigned int group, unsigned int id,
		    uint64_t val)
{
	xv_tx_val(tx, group, id, sizeof(val), val);
}

static inline void put_info(struct xv_tx *tx, void *info, unsigned int len)
{
	xv_tx_out(tx, XV_GRP_RESULT, XV_RESULT_INFO, info, len);
}

static inline void put_self(struct xv_tx *tx, const struct xv_obj *obj)
{
	xv_tx_ref(tx, XV_GRP_OBJECT, XV_OBJECT_HANDLE, obj, obj->handle);
}

static inline void put_events(struct xv_tx *tx, const struct xv_eventq *eq,
		       uint64_t cookie, uint64_t mask)
{
	if (!eq) {
		/* Without a queue there is nobody to see a cookie. */
		if (cookie || mask)
			xv_tx_refuse(tx, XV_R_MISSING, XV_GRP_EVENTS,
				     XV_EVENTS_QUEUE);
		return;
	}
	xv_tx_ref(tx, XV_GRP_EVENTS, XV_EVENTS_QUEUE, &eq->obj,
		  eq->open ? (uint32_t)eq->fd : UINT32_MAX);
	if (cookie)
		put_u64(tx, XV_GRP_EVENTS, XV_EVENTS_COOKIE, cookie);
	if (mask)
		put_u64(tx, XV_GRP_EVENTS, XV_EVENTS_MASK, mask);
}

static inline int destroy(struct xv_tx *tx, unsigned int object, struct xv_obj *obj,
		   enum xv_fix_kind kind)
{
	xv_tx_op(tx, object, XV_M_DESTROY);
	put_self(tx, obj);
	xv_tx_after(tx, kind, obj, 0);
	return xv_tx_end(tx);
}

static inline int query(struct xv_tx *tx, unsigned int object,
		 const struct xv_obj *obj, void *info, unsigned int len)
{
	xv_tx_op(tx, object, XV_M_QUERY);
	put_self(tx, obj);
	put_info(tx, info, len);
	return xv_tx_end(tx);
}

#endif /* _XV_PUT_H */
