/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * All types of objects.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_OBJECTS_H
#define _XV_OBJECTS_H

#include <linux/bits.h>
#include "../core/spec.h"

extern const struct xv_type xv_type_device;
extern const struct xv_type xv_type_eventq;
extern const struct xv_type xv_type_pd;
extern const struct xv_type xv_type_mr;
extern const struct xv_type xv_type_cq;
extern const struct xv_type xv_type_qp;
extern const struct xv_type xv_type_ah;
extern const struct xv_type xv_type_srq;
extern const struct xv_type xv_type_listener;
extern const struct xv_type xv_type_conn;
extern const struct xv_type xv_type_mcast;
extern const struct xv_type xv_type_subscription;

struct ib_event;
struct xv_dev;

void xv_subscriptions_raise(struct xv_dev *dev, const struct ib_event *event);

/* refused.c */
#define XV_NUM_REFUSED	9
extern const struct xv_refused xv_refused[XV_NUM_REFUSED];

/* Opcodes that are known and not offered; post.c refuses them. */
#define XV_REFUSED_OPCODES	(BIT_ULL(XV_WR_FLUSH) | \
				 BIT_ULL(XV_WR_ATOMIC_WRITE) | \
				 BIT_ULL(XV_WR_BIND_MW))

#endif /* _XV_OBJECTS_H */
