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

/* Opcodes that are known and not offered; data/build.c refuses them. */
#define XV_REFUSED_OPCODES	(BIT_ULL(XV_WR_FLUSH) | \
				 BIT_ULL(XV_WR_ATOMIC_WRITE) | \
				 BIT_ULL(XV_WR_BIND_MW))

/*
 * Parts of the tables. XV_DEFINE_GROUP: a group whose attributes are in
 * NAME_attrs. XV_DEFINE_OBJECT_GROUP: the group of methods that name an object
 * and nothing else; what is done to it is its kind. XV_DEFINE_RESULT_GROUP: the
 * group of methods that return a structure.
 */
#define XV_DEFINE_GROUP(_name, _id, _text)				\
static const struct xv_group_spec _name = {				\
	.id = _id, .name = _text,					\
	.attrs = _name##_attrs, .num_attrs = ARRAY_SIZE(_name##_attrs),	\
}

#define XV_DEFINE_OBJECT_GROUP(_name, _kind, _type)			\
static const struct xv_attr_spec _name##_attrs[] = {			\
	{ .id = XV_OBJECT_HANDLE, .name = "handle", .kind = _kind,	\
	  .type = _type, .required = true },				\
};									\
XV_DEFINE_GROUP(_name, XV_GRP_OBJECT, "object")

#define XV_DEFINE_RESULT_GROUP(_name, _struct)				\
static const struct xv_attr_spec _name##_attrs[] = {			\
	{ .id = XV_RESULT_INFO, .name = "info", .kind = XV_K_OUT,	\
	  .max = sizeof(_struct), .required = true },			\
};									\
XV_DEFINE_GROUP(_name, XV_GRP_RESULT, "result")

#endif /* _XV_OBJECTS_H */
