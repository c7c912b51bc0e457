// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * pd: protection domain.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include "../core/txn.h"
#include "objects.h"
#include "pd.h"

static int pd_create(struct xv_call *call, struct xv_opx *op)
{
	struct xv_pd *pd = xv_to_pd(op->obj);
	struct ib_pd *ibpd;

	ibpd = ib_alloc_pd(call->ibdev, 0);
	if (IS_ERR(ibpd))
		return xv_fail_driver(call, op, PTR_ERR(ibpd));
	pd->ibpd = ibpd;
	op->obj->hw = true;
	return 0;
}

static int pd_destroy(struct xv_uobj *obj, enum xv_why why)
{
	return ib_dealloc_pd_user(xv_to_pd(obj)->ibpd, NULL);
}

static int pd_query(struct xv_call *call, struct xv_opx *op)
{
	struct xv_uobj *obj = op->obj;
	struct xv_pd_info info = {
		.restrack_id = xv_to_pd(obj)->ibpd->res.id,
		.num_dependents = xv_uobj_num_children(obj),
	};

	return xv_result(call, op, &info, sizeof(info));
}

XV_DEFINE_OBJECT_GROUP(new_object, XV_K_NEW, XV_OBJ_PD);
XV_DEFINE_OBJECT_GROUP(destroy_object, XV_K_DESTROY, XV_OBJ_PD);
XV_DEFINE_OBJECT_GROUP(read_object, XV_K_READ, XV_OBJ_PD);
XV_DEFINE_RESULT_GROUP(result, struct xv_pd_info);

static const struct xv_group_use create_groups[] = {
	{ .group = &new_object, .required = true },
};

static const struct xv_group_use destroy_groups[] = {
	{ .group = &destroy_object, .required = true },
};

static const struct xv_group_use query_groups[] = {
	{ .group = &read_object, .required = true },
	{ .group = &result, .required = true },
};

static const struct xv_method_spec pd_methods[] = {
	{ .id = XV_M_CREATE, .name = "create", .class = XV_C_CREATE,
	  .groups = create_groups, .num_groups = ARRAY_SIZE(create_groups),
	  .make = pd_create },
	{ .id = XV_M_DESTROY, .name = "destroy", .class = XV_C_DESTROY,
	  .groups = destroy_groups, .num_groups = ARRAY_SIZE(destroy_groups) },
	{ .id = XV_M_QUERY, .name = "query", .class = XV_C_QUERY,
	  .groups = query_groups, .num_groups = ARRAY_SIZE(query_groups),
	  .make = pd_query },
};

static const struct xv_type_ops pd_ops = {
	.size = sizeof(struct xv_pd),
	.destroy = pd_destroy,
};

const struct xv_type xv_type_pd = {
	.id = XV_OBJ_PD, .name = "pd",
	.methods = pd_methods, .num_methods = ARRAY_SIZE(pd_methods),
	.ops = &pd_ops,
};
