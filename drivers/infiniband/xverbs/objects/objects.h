/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * All types of objects.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_OBJECTS_H
#define _XV_OBJECTS_H

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

#endif /* _XV_OBJECTS_H */
