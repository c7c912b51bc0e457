/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * pd: protection domain.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_OBJECTS_PD_H
#define _XV_OBJECTS_PD_H

#include "../core/uobj.h"

/**
 * struct xv_pd - a protection domain
 * @uobj: the object
 * @ibpd: the hardware object
 */
struct xv_pd {
	struct xv_uobj uobj;
	struct ib_pd *ibpd;
};

static inline struct xv_pd *xv_to_pd(struct xv_uobj *obj)
{
	return container_of(obj, struct xv_pd, uobj);
}

#endif /* _XV_OBJECTS_PD_H */
