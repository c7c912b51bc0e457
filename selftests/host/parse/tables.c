// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tables for the tests of the parser.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/kernel.h>

#include "tables.h"

#define GROUP(_name, _id, _text, ...)					\
static const struct xv_attr_spec _name##_attrs[] = { __VA_ARGS__ };	\
static const struct xv_group_spec _name = {				\
	.id = _id, .name = _text, .attrs = _name##_attrs,		\
	.num_attrs = ARRAY_SIZE(_name##_attrs),				\
}

#define HANDLE(_kind, _type)						\
	{ .id = A_HANDLE, .name = "handle", .kind = _kind,		\
	  .type = _type, .required = true }

GROUP(pd_new, XV_GRP_OBJECT, "object", HANDLE(XV_K_NEW, XV_OBJ_PD));
GROUP(pd_destroy, XV_GRP_OBJECT, "object", HANDLE(XV_K_DESTROY, XV_OBJ_PD));
GROUP(pd_read, XV_GRP_OBJECT, "object", HANDLE(XV_K_READ, XV_OBJ_PD));
GROUP(qp_new, XV_GRP_OBJECT, "object", HANDLE(XV_K_NEW, XV_OBJ_QP),
	{ .id = A_PD, .name = "pd", .kind = XV_K_READ, .type = XV_OBJ_PD,
	  .required = true },
	{ .id = A_PD_OPT, .name = "other_pd", .kind = XV_K_READ,
	  .type = XV_OBJ_PD });
GROUP(qp_destroy, XV_GRP_OBJECT, "object", HANDLE(XV_K_DESTROY, XV_OBJ_QP));
GROUP(qp_write, XV_GRP_OBJECT, "object", HANDLE(XV_K_WRITE, XV_OBJ_QP));
GROUP(caps, G_CAPS, "caps",
	{ .id = A_U32, .name = "u32", .kind = XV_K_U32, .min = 1, .max = 1024,
	  .required = true },
	{ .id = A_U32_OPT, .name = "u32_opt", .kind = XV_K_U32, .max = 10 },
	{ .id = A_U64, .name = "u64", .kind = XV_K_U64, .min = 5,
	  .max = 1ULL << 40 });
GROUP(access, G_ACCESS, "access",
	{ .id = A_BITS, .name = "bits", .kind = XV_K_BITS, .max = 0xf,
	  .required = true });
GROUP(one, G_ONE, "one",
	{ .id = A_ONE, .name = "one", .kind = XV_K_U32, .max = U32_MAX });
GROUP(other, G_OTHER, "other",
	{ .id = A_ENUM, .name = "enum", .kind = XV_K_ENUM, .max = 0x26 });
GROUP(params, G_PARAMS, "params",
	{ .id = A_STRUCT, .name = "struct", .kind = XV_K_IN, .min = 16,
	  .max = 32 },
	{ .id = A_ARRAY, .name = "array", .kind = XV_K_IN, .min = 64,
	  .max = 640, .step = 64 },
	{ .id = A_SMALL, .name = "small", .kind = XV_K_IN, .min = 2,
	  .max = 8 });
GROUP(result, G_RESULT, "result",
	{ .id = A_INFO, .name = "info", .kind = XV_K_OUT, .max = 64,
	  .required = true });

#define USES(_name, ...)						\
static const struct xv_group_use _name[] = { __VA_ARGS__ }

USES(query_uses, { .group = &params }, { .group = &result, .required = true });
USES(pd_create_uses, { .group = &pd_new, .required = true });
USES(pd_destroy_uses, { .group = &pd_destroy, .required = true });
USES(pd_query_uses, { .group = &pd_read, .required = true },
	{ .group = &result, .required = true });
USES(qp_create_uses, { .group = &qp_new, .required = true },
	{ .group = &caps, .required = true }, { .group = &access },
	{ .group = &one, .one_of = true }, { .group = &other, .one_of = true },
	{ .group = &params }, { .group = &result });
USES(qp_destroy_uses, { .group = &qp_destroy, .required = true });
USES(qp_modify_uses, { .group = &qp_write, .required = true },
	{ .group = &access });
USES(qp_post_uses, { .group = &qp_write, .required = true },
	{ .group = &params, .required = true });

#define METHOD(_id, _name, _class, _uses)				\
	{ .id = _id, .name = _name, .class = _class, .groups = _uses,	\
	  .num_groups = ARRAY_SIZE(_uses) }

static const struct xv_method_spec device_methods[] = {
	METHOD(XV_M_QUERY, "query", XV_C_QUERY, query_uses),
};

static const struct xv_method_spec pd_methods[] = {
	METHOD(XV_M_CREATE, "create", XV_C_CREATE, pd_create_uses),
	METHOD(XV_M_DESTROY, "destroy", XV_C_DESTROY, pd_destroy_uses),
	METHOD(XV_M_QUERY, "query", XV_C_QUERY, pd_query_uses),
};

static const struct xv_method_spec qp_methods[] = {
	METHOD(XV_M_CREATE, "create", XV_C_CREATE, qp_create_uses),
	METHOD(XV_M_DESTROY, "destroy", XV_C_DESTROY, qp_destroy_uses),
	METHOD(XV_M_MODIFY, "modify", XV_C_MODIFY, qp_modify_uses),
	METHOD(XV_M_CONNECT, "start", XV_C_START, qp_modify_uses),
	METHOD(XV_M_POST_RECV, "post", XV_C_POST, qp_post_uses),
};

#define TYPE(_var, _id, _name, _methods)				\
static const struct xv_type _var = {					\
	.id = _id, .name = _name, .methods = _methods,			\
	.num_methods = ARRAY_SIZE(_methods),				\
}

TYPE(device_type, XV_OBJ_DEVICE, "device", device_methods);
TYPE(pd_type, XV_OBJ_PD, "pd", pd_methods);
TYPE(qp_type, XV_OBJ_QP, "qp", qp_methods);

static const struct xv_type *const types[] = {
	&device_type, &pd_type, &qp_type,
};

/* Known and not offered. */
static const struct xv_refused refused[] = {
	{ .object = XV_OBJ_PD, .method = XV_M_CONNECT, .name = "method" },
	{ .object = XV_OBJ_QP, .method = XV_M_CREATE, .group = G_CAPS,
	  .attr = A_REFUSED, .name = "attribute" },
	{ .object = XV_OBJ_QP, .method = XV_M_MODIFY, .group = G_CAPS,
	  .attr = A_U32, .name = "attribute of a group" },
	{ .object = XV_OBJ_QP, .method = XV_M_CREATE, .group = G_ACCESS,
	  .attr = A_BITS, .values = 0x20, .name = "flag" },
	{ .object = XV_OBJ_QP, .method = XV_M_CREATE, .group = G_ACCESS,
	  .attr = A_BITS, .values = 0x40, .name = "another flag" },
	{ .object = XV_OBJ_QP, .method = XV_M_CREATE, .group = G_OTHER,
	  .attr = A_ENUM, .values = 1ULL << 4 | 1ULL << 63, .name = "values" },
	{ .object = XV_OBJ_QP, .values = 1ULL << 3, .name = "opcode" },
};

const struct xv_spec test_spec = { ARRAY_SIZE(types), types, refused,
				   ARRAY_SIZE(refused) };
