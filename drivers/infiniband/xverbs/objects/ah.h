/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * ah: address handle.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_OBJECTS_AH_H
#define _XV_OBJECTS_AH_H

#include "../core/uobj.h"

/**
 * struct xv_ah - an address handle
 * @uobj: the object
 * @edges: to the PD
 * @ibah: the hardware object. Posting hands the pointer to the driver inside an
 *	RCU read section; destroying waits for one grace period first
 * @info: what the user asks for
 */
struct xv_ah {
	struct xv_uobj uobj;
	struct xv_edge edges[1];
	struct ib_ah *ibah;
	struct xv_ah_info info;
};

static inline struct xv_ah *xv_to_ah(struct xv_uobj *obj)
{
	return container_of(obj, struct xv_ah, uobj);
}

#endif /* _XV_OBJECTS_AH_H */
