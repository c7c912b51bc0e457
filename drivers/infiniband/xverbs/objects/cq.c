// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * cq: completion queue. How completions get into it is in data/reap.c.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include "../core/txn.h"
#include "../data/data.h"
#include "cq.h"
#include "objects.h"

/* What a driver is taken to need for one completion, for the file's budget. */
#define XV_CQE_BYTES	64

static void cq_event(struct ib_event *event, void *context)
{
	struct xv_cq *cq = context;

	if (event->event == IB_EVENT_CQ_ERR)
		xv_event_raise(&cq->events, XV_EV_CQ_ERROR);
}

static void cq_info(struct xv_cq *cq, struct xv_cq_info *info)
{
	xv_chunk_info(&cq->chunk, &info->area);
	info->entries = cq->mask + 1;
	info->cqe = cq->cqe;
	mutex_lock(&cq->lock);
	info->attached = cq->attached;
	mutex_unlock(&cq->lock);
	info->comp_vector = cq->comp_vector;
	info->restrack_id = cq->ibcq->res.id;
}

static int cq_alloc_rings(struct xv_file *file, struct xv_cq *cq)
{
	u32 entries = roundup_pow_of_two(cq->cqe);

	cq->held = kvmalloc_array(cq->cqe, sizeof(*cq->held),
				  XV_GFP);
	if (!cq->held)
		return -ENOMEM;
	if (xv_chunk_alloc(file, sizeof(*cq->ring) +
			   entries * sizeof(*cq->entries), &cq->chunk))
		return -ENOMEM;
	cq->mask = entries - 1;
	cq->ring = cq->chunk.mem;
	cq->entries = cq->chunk.mem + sizeof(*cq->ring);
	memset(cq->ring, 0, sizeof(*cq->ring));
	return 0;
}

static int cq_create(struct xv_call *call, struct xv_opx *op)
{
	static const u16 kinds[XV_CQ_NUM_EVENTS] = {
		XV_EV_COMPLETION, XV_EV_CQ_ERROR,
	};
	struct xv_cq *cq = xv_to_cq(op->obj);
	struct ib_device *ibdev = call->ibdev;
	struct ib_cq_init_attr attr = {};
	struct xv_cq_info info = {};
	struct ib_cq *ibcq;

	mutex_init(&cq->lock);
	init_waitqueue_head(&cq->wait);
	cq->srqs = RB_ROOT;
	cq->srq_qps = RB_ROOT;
	INIT_WORK(&cq->work, xv_cq_work);
	xv_evsource_init(&cq->events, op, op->obj, cq->nodes, kinds,
			 ARRAY_SIZE(kinds));
	cq->cqe = xv_value(op, XV_GRP_CAPS, XV_CAPS_CQE, 0);
	cq->comp_vector = xv_value(op, XV_GRP_CAPS, XV_CAPS_COMP_VECTOR, 0);
	if (cq->cqe > ibdev->attrs.max_cqe)
		return xv_fail(call, op, XV_GRP_CAPS, XV_CAPS_CQE, XV_R_RANGE,
			       ibdev->attrs.max_cqe);
	if (cq->comp_vector >= ibdev->num_comp_vectors)
		return xv_fail(call, op, XV_GRP_CAPS, XV_CAPS_COMP_VECTOR,
			       XV_R_RANGE, ibdev->num_comp_vectors - 1);
	if (cq_alloc_rings(call->file, cq))
		return xv_fail(call, op, 0, 0, XV_R_MEMORY, 0);
	if (xv_file_charge(call->file, (u64)cq->cqe * XV_CQE_BYTES))
		return xv_fail(call, op, XV_GRP_CAPS, XV_CAPS_CQE, XV_R_BUDGET,
			       0);
	attr.cqe = cq->cqe;
	attr.comp_vector = cq->comp_vector;
	ibcq = ib_create_cq(ibdev, xv_cq_handler, cq_event, cq, &attr);
	if (IS_ERR(ibcq)) {
		xv_file_uncharge(call->file, (u64)cq->cqe * XV_CQE_BYTES);
		return xv_fail_driver(call, op, PTR_ERR(ibcq));
	}
	cq->ibcq = ibcq;
	op->obj->hw = true;
	cq_info(cq, &info);
	return xv_result(call, op, &info, sizeof(info));
}

static int cq_destroy(struct xv_uobj *obj, enum xv_why why)
{
	struct xv_cq *cq = xv_to_cq(obj);
	struct ib_cq *ibcq = cq->ibcq;
	int ret;

	WRITE_ONCE(cq->dead, true);
	/* A notification that is on its way uses the driver's memory. */
	if (cq->was_armed)
		xv_cq_barrier();
	if (cancel_work_sync(&cq->work))
		xv_uobj_put(obj);
	mutex_lock(&cq->lock);
	cq->ibcq = NULL;
	mutex_unlock(&cq->lock);
	ret = ib_destroy_cq_user(ibcq, NULL);
	if (ret) {
		cq->ibcq = ibcq;
		return ret;
	}
	xv_file_uncharge(obj->file, (u64)cq->cqe * XV_CQE_BYTES);
	return 0;
}

static void cq_publish(struct xv_uobj *obj)
{
	xv_evsource_unmute(&xv_to_cq(obj)->events);
}

static void cq_unpublish(struct xv_uobj *obj, enum xv_why why)
{
	struct xv_cq *cq = xv_to_cq(obj);

	if (why != XV_WHY_REMOVE)
		xv_evsource_stop(&cq->events);
	WRITE_ONCE(cq->dead, true);
	wake_up_all(&cq->wait);
}

static void cq_free(struct xv_uobj *obj)
{
	struct xv_cq *cq = xv_to_cq(obj);

	xv_evsource_free(&cq->events);
	xv_chunk_free(obj->file, &cq->chunk);
	kvfree(cq->held);
}

static int cq_query(struct xv_call *call, struct xv_opx *op)
{
	struct xv_cq_info info = {};

	cq_info(xv_to_cq(op->obj), &info);
	return xv_result(call, op, &info, sizeof(info));
}

/* The last step of cq.modify: how many completions make a notification. */
static int cq_moderate(struct xv_call *call, struct xv_opx *op)
{
	struct xv_cq *cq = xv_to_cq(op->obj);
	int ret;

	ret = rdma_set_cq_moderation(cq->ibcq,
				     xv_value(op, XV_GRP_PARAMS,
					      XV_PARAMS_CQ_COUNT, 0),
				     xv_value(op, XV_GRP_PARAMS,
					      XV_PARAMS_CQ_PERIOD, 0));
	return ret ? xv_fail_driver(call, op, ret) : 0;
}

static const struct xv_attr_spec caps_attrs[] = {
	{ .id = XV_CAPS_CQE, .name = "cqe", .kind = XV_K_U32,
	  .min = 1, .max = XV_MAX_CQE, .required = true },
	{ .id = XV_CAPS_COMP_VECTOR, .name = "comp_vector", .kind = XV_K_U32,
	  .max = S32_MAX },
};

static const struct xv_attr_spec params_attrs[] = {
	{ .id = XV_PARAMS_CQ_COUNT, .name = "cq_count", .kind = XV_K_U32,
	  .max = U16_MAX, .required = true },
	{ .id = XV_PARAMS_CQ_PERIOD, .name = "cq_period", .kind = XV_K_U32,
	  .max = U16_MAX, .required = true },
};

XV_DEFINE_OBJECT_GROUP(new_object, XV_K_NEW, XV_OBJ_CQ);
XV_DEFINE_OBJECT_GROUP(destroy_object, XV_K_DESTROY, XV_OBJ_CQ);
XV_DEFINE_OBJECT_GROUP(read_object, XV_K_READ, XV_OBJ_CQ);
XV_DEFINE_OBJECT_GROUP(write_object, XV_K_WRITE, XV_OBJ_CQ);
XV_DEFINE_GROUP(params, XV_GRP_PARAMS, "params");
XV_DEFINE_GROUP(caps, XV_GRP_CAPS, "caps");
XV_DEFINE_RESULT_GROUP(result, struct xv_cq_info);

static const struct xv_group_use create_groups[] = {
	{ .group = &new_object, .required = true },
	{ .group = &xv_group_events },
	{ .group = &caps, .required = true },
	{ .group = &result, .required = true },
};

static const struct xv_group_use destroy_groups[] = {
	{ .group = &destroy_object, .required = true },
};

static const struct xv_group_use query_groups[] = {
	{ .group = &read_object, .required = true },
	{ .group = &result, .required = true },
};

static const struct xv_group_use modify_groups[] = {
	{ .group = &write_object, .required = true },
	{ .group = &params, .required = true },
};

static const struct xv_method_spec cq_methods[] = {
	{ .id = XV_M_CREATE, .name = "create", .class = XV_C_CREATE,
	  .groups = create_groups, .num_groups = ARRAY_SIZE(create_groups),
	  .make = cq_create },
	{ .id = XV_M_DESTROY, .name = "destroy", .class = XV_C_DESTROY,
	  .groups = destroy_groups, .num_groups = ARRAY_SIZE(destroy_groups) },
	{ .id = XV_M_QUERY, .name = "query", .class = XV_C_QUERY,
	  .groups = query_groups, .num_groups = ARRAY_SIZE(query_groups),
	  .make = cq_query },
	{ .id = XV_M_MODIFY, .name = "modify", .class = XV_C_MODIFY,
	  .groups = modify_groups, .num_groups = ARRAY_SIZE(modify_groups),
	  .last = cq_moderate },
};

static const struct xv_type_ops cq_ops = {
	.size = sizeof(struct xv_cq),
	.destroy = cq_destroy,
	.publish = cq_publish,
	.unpublish = cq_unpublish,
	.free = cq_free,
};

const struct xv_type xv_type_cq = {
	.id = XV_OBJ_CQ, .name = "cq",
	.methods = cq_methods, .num_methods = ARRAY_SIZE(cq_methods),
	.ops = &cq_ops,
};
