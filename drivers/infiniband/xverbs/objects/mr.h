/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mr: memory region.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_OBJECTS_MR_H
#define _XV_OBJECTS_MR_H

#include "../core/uobj.h"

struct xv_pd;

/**
 * struct xv_mr - a memory region
 * @uobj: the object
 * @edges: to the PD
 * @ibmr: the hardware object
 * @addr: user address of the first byte
 * @length: its length in bytes
 * @iova: address by which keys name the first byte
 * @access: XV_ACCESS_*
 * @lkey: local key: never leaves the kernel
 *
 * The data path reads a published region under RCU, without a lock: all fields
 * are constant from publication on, and a key that was destroyed meanwhile is
 * refused by the driver.
 */
struct xv_mr {
	struct xv_uobj uobj;
	struct xv_edge edges[1];
	struct ib_mr *ibmr;
	u64 addr;
	u64 length;
	u64 iova;
	u32 access;
	u32 lkey;
};

static inline struct xv_mr *xv_to_mr(struct xv_uobj *obj)
{
	return container_of(obj, struct xv_mr, uobj);
}

/* Children of a PD name it by their first edge. */
static inline struct xv_uobj *xv_mr_pd(const struct xv_mr *mr)
{
	return mr->edges[0].parent;
}

#endif /* _XV_OBJECTS_MR_H */
