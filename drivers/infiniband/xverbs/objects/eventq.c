// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * eventq: a file descriptor that delivers events. The machinery is in
 * core/event.c, since all other objects raise events there.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include "../core/event.h"
#include "../core/txn.h"
#include "objects.h"

XV_DEFINE_OBJECT_GROUP(new_object, XV_K_NEW, XV_OBJ_EVENTQ);

static const struct xv_group_use create_groups[] = {
	{ .group = &new_object, .required = true },
};

static const struct xv_method_spec eventq_methods[] = {
	{ .id = XV_M_CREATE, .name = "create", .class = XV_C_CREATE,
	  .groups = create_groups, .num_groups = ARRAY_SIZE(create_groups) },
};

static const struct xv_type_ops eventq_ops = {
	.size = sizeof(struct xv_eventq),
	.fd = true,
	.reserve = xv_eventq_reserve,
	.unreserve = xv_eventq_unreserve,
	.lookup = xv_eventq_lookup,
	.publish = xv_eventq_publish,
	.unpublish = xv_eventq_unpublish,
};

const struct xv_type xv_type_eventq = {
	.id = XV_OBJ_EVENTQ, .name = "eventq",
	.methods = eventq_methods, .num_methods = ARRAY_SIZE(eventq_methods),
	.ops = &eventq_ops,
};
