// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * srq: shared receive queue. What is taken from it by whom is in data/srq.c.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include "../core/txn.h"
#include "../data/data.h"
#include "objects.h"
#include "pd.h"
#include "qp.h"
#include "srq.h"

static void srq_event(struct ib_event *event, void *context)
{
	struct xv_srq *srq = context;

	switch (event->event) {
	case IB_EVENT_SRQ_LIMIT_REACHED:
		WRITE_ONCE(srq->limit, 0);
		xv_event_raise(&srq->events, XV_EV_SRQ_LIMIT);
		break;
	case IB_EVENT_SRQ_ERR:
		xv_event_raise(&srq->events, XV_EV_SRQ_ERROR);
		break;
	default:
		break;
	}
}

/* ---- create ---- */

static int check_limit(struct xv_call *call, struct xv_opx *op,
		       const struct xv_srq *srq)
{
	if (xv_value(op, XV_GRP_PARAMS, XV_PARAMS_LIMIT, 0) <= srq->depth)
		return 0;
	return xv_fail(call, op, XV_GRP_PARAMS, XV_PARAMS_LIMIT, XV_R_RANGE,
		       srq->depth);
}

static int srq_read_caps(struct xv_call *call, struct xv_opx *op,
			 struct xv_srq *srq)
{
	struct ib_device_attr *attrs = &call->ibdev->attrs;

	if (!xv_srq_possible(call->ibdev))
		return xv_fail(call, op, 0, 0, XV_R_CAPABILITY, 0);
	srq->depth = xv_value(op, XV_GRP_CAPS, XV_CAPS_RECV_WR, 0);
	srq->sge = xv_value(op, XV_GRP_CAPS, XV_CAPS_RECV_SGE, 1);
	if (srq->depth > attrs->max_srq_wr)
		return xv_fail(call, op, XV_GRP_CAPS, XV_CAPS_RECV_WR,
			       XV_R_RANGE, attrs->max_srq_wr);
	if (srq->sge > attrs->max_srq_sge)
		return xv_fail(call, op, XV_GRP_CAPS, XV_CAPS_RECV_SGE,
			       XV_R_RANGE, attrs->max_srq_sge);
	return check_limit(call, op, srq);
}

static int srq_alloc_ring(struct xv_file *file, struct xv_srq *srq)
{
	u32 entries = roundup_pow_of_two(srq->depth);

	srq->slots = kvcalloc(srq->depth, sizeof(*srq->slots),
			      XV_GFP);
	if (!srq->slots)
		return -ENOMEM;
	if (xv_chunk_alloc(file, sizeof(*srq->ring) +
			   entries * sizeof(*srq->recvs), &srq->chunk))
		return -ENOMEM;
	srq->mask = entries - 1;
	srq->ring = srq->chunk.mem;
	srq->recvs = srq->chunk.mem + sizeof(*srq->ring);
	memset(srq->ring, 0, sizeof(*srq->ring));
	return 0;
}

static void srq_info(struct xv_srq *srq, struct xv_srq_info *info)
{
	xv_chunk_info(&srq->chunk, &info->area);
	info->recv_entries = srq->mask + 1;
	info->recv_wr = srq->depth;
	info->recv_sge = srq->sge;
	info->limit = READ_ONCE(srq->limit);
	mutex_lock(&srq->lock);
	info->recvs_outstanding = srq->taken - READ_ONCE(srq->done);
	mutex_unlock(&srq->lock);
	info->pd = xv_srq_pd(srq)->handle;
	info->num_qps = xv_uobj_num_children(&srq->uobj);
	info->restrack_id = srq->ibsrq->res.id;
}

static struct ib_srq *srq_create_hw(struct xv_srq *srq, struct ib_pd *ibpd)
{
	struct ib_srq_init_attr attr = {
		.event_handler = srq_event,
		.srq_context = srq,
		.attr = {
			.max_wr = srq->depth,
			.max_sge = srq->sge,
		},
		.srq_type = IB_SRQT_BASIC,
	};

	return ib_create_srq(ibpd, &attr);
}

static int srq_create(struct xv_call *call, struct xv_opx *op)
{
	static const u16 kinds[XV_SRQ_NUM_EVENTS] = {
		XV_EV_SRQ_LIMIT, XV_EV_SRQ_ERROR,
	};
	struct xv_uobj *pd = xv_handle(op, XV_OBJECT_PD);
	struct xv_srq *srq = xv_to_srq(op->obj);
	struct xv_srq_info info = {};
	struct ib_srq *ibsrq;
	int ret;

	xv_evsource_init(&srq->events, op, op->obj, srq->nodes, kinds,
			 ARRAY_SIZE(kinds));
	ret = srq_read_caps(call, op, srq);
	if (ret)
		return ret;
	if (srq_alloc_ring(call->file, srq))
		return xv_fail(call, op, 0, 0, XV_R_MEMORY, 0);
	xv_srq_init(srq);
	srq->budget = (u64)srq->depth * XV_WQE_BYTES;
	if (xv_file_charge(call->file, srq->budget)) {
		srq->budget = 0;
		return xv_fail(call, op, XV_GRP_CAPS, XV_CAPS_RECV_WR,
			       XV_R_BUDGET, 0);
	}
	ibsrq = srq_create_hw(srq, xv_to_pd(pd)->ibpd);
	if (IS_ERR(ibsrq))
		return xv_fail_driver(call, op, PTR_ERR(ibsrq));
	srq->ibsrq = ibsrq;
	op->obj->hw = true;
	xv_uobj_link(op->obj, 0, pd);
	srq->limit = xv_value(op, XV_GRP_PARAMS, XV_PARAMS_LIMIT, 0);
	srq_info(srq, &info);
	return xv_result(call, op, &info, sizeof(info));
}

static int arm_limit(struct xv_call *call, struct xv_opx *op)
{
	struct ib_srq_attr attr = {
		.srq_limit = xv_value(op, XV_GRP_PARAMS, XV_PARAMS_LIMIT, 0),
	};
	struct xv_srq *srq = xv_to_srq(op->obj);
	u32 old = srq->limit;
	int ret;

	/* Before it is armed: the event clears it again. */
	WRITE_ONCE(srq->limit, attr.srq_limit);
	ret = ib_modify_srq(srq->ibsrq, &attr, IB_SRQ_LIMIT);
	if (!ret)
		return 0;
	WRITE_ONCE(srq->limit, old);
	return xv_fail_driver(call, op, ret);
}

/* Not before the first receives are there: some hardware looks at once. */
static int srq_create_last(struct xv_call *call, struct xv_opx *op)
{
	if (!xv_value(op, XV_GRP_PARAMS, XV_PARAMS_LIMIT, 0))
		return 0;
	return arm_limit(call, op);
}

/* ---- the other methods ---- */

static int srq_post_recv(struct xv_call *call, struct xv_opx *op)
{
	const struct xv_slot *slot = xv_slot(op, XV_GRP_PARAMS, XV_PARAMS_RECVS);
	u32 num = slot->len / sizeof(struct xv_recv);
	struct xv_srq *srq = xv_to_srq(op->obj);
	u16 reason;
	u32 done;

	if (num > xv_srq_free(srq))
		return xv_fail(call, op, XV_GRP_PARAMS, XV_PARAMS_RECVS,
			       XV_R_LENGTH, xv_srq_free(srq) *
			       sizeof(struct xv_recv));
	reason = xv_srq_post_first(call, srq, slot->buf, num, &done);
	return reason ? xv_fail_first_recvs(call, op, reason, done) : 0;
}

static int srq_modify(struct xv_call *call, struct xv_opx *op)
{
	int ret = check_limit(call, op, xv_to_srq(op->obj));

	return ret ? ret : arm_limit(call, op);
}

static int srq_query(struct xv_call *call, struct xv_opx *op)
{
	struct xv_srq_info info = {};

	srq_info(xv_to_srq(op->obj), &info);
	return xv_result(call, op, &info, sizeof(info));
}

/* ---- life ---- */

static int srq_destroy(struct xv_uobj *obj, enum xv_why why)
{
	return ib_destroy_srq_user(xv_to_srq(obj)->ibsrq, NULL);
}

static void srq_publish(struct xv_uobj *obj)
{
	xv_evsource_unmute(&xv_to_srq(obj)->events);
}

static void srq_unpublish(struct xv_uobj *obj, enum xv_why why)
{
	struct xv_srq *srq = xv_to_srq(obj);

	if (why != XV_WHY_REMOVE)
		xv_evsource_stop(&srq->events);
	/* Who posts has the mutex: after this nobody does. */
	mutex_lock(&srq->lock);
	srq->dead = true;
	mutex_unlock(&srq->lock);
}

static void srq_free(struct xv_uobj *obj)
{
	struct xv_srq *srq = xv_to_srq(obj);

	xv_evsource_free(&srq->events);
	xv_chunk_free(obj->file, &srq->chunk);
	xv_file_uncharge(obj->file, srq->budget);
	kvfree(srq->slots);
}

/* ---- tables ---- */

static const struct xv_attr_spec new_object_attrs[] = {
	{ .id = XV_OBJECT_HANDLE, .name = "handle", .kind = XV_K_NEW,
	  .type = XV_OBJ_SRQ, .required = true },
	{ .id = XV_OBJECT_PD, .name = "pd", .kind = XV_K_READ,
	  .type = XV_OBJ_PD, .required = true },
};

static const struct xv_attr_spec caps_attrs[] = {
	{ .id = XV_CAPS_RECV_WR, .name = "recv_wr", .kind = XV_K_U32,
	  .min = 1, .max = XV_MAX_SRQ_WR, .required = true },
	{ .id = XV_CAPS_RECV_SGE, .name = "recv_sge", .kind = XV_K_U32,
	  .min = 1, .max = XV_MAX_RECV_SGE },
};

static const struct xv_attr_spec create_params_attrs[] = {
	{ .id = XV_PARAMS_LIMIT, .name = "limit", .kind = XV_K_U32,
	  .max = XV_MAX_SRQ_WR },
};

static const struct xv_attr_spec modify_params_attrs[] = {
	{ .id = XV_PARAMS_LIMIT, .name = "limit", .kind = XV_K_U32,
	  .max = XV_MAX_SRQ_WR, .required = true },
};

static const struct xv_attr_spec recv_params_attrs[] = {
	{ .id = XV_PARAMS_RECVS, .name = "recvs", .kind = XV_K_IN,
	  .min = sizeof(struct xv_recv), .step = sizeof(struct xv_recv),
	  .max = XV_MAX_BYTES - sizeof(struct xv_recv), .required = true },
};

XV_DEFINE_GROUP(new_object, XV_GRP_OBJECT, "object");
XV_DEFINE_OBJECT_GROUP(destroy_object, XV_K_DESTROY, XV_OBJ_SRQ);
XV_DEFINE_OBJECT_GROUP(read_object, XV_K_READ, XV_OBJ_SRQ);
XV_DEFINE_OBJECT_GROUP(write_object, XV_K_WRITE, XV_OBJ_SRQ);
XV_DEFINE_GROUP(caps, XV_GRP_CAPS, "caps");
XV_DEFINE_GROUP(create_params, XV_GRP_PARAMS, "params");
XV_DEFINE_GROUP(modify_params, XV_GRP_PARAMS, "params");
XV_DEFINE_GROUP(recv_params, XV_GRP_PARAMS, "params");
XV_DEFINE_RESULT_GROUP(result, struct xv_srq_info);

static const struct xv_group_use create_groups[] = {
	{ .group = &new_object, .required = true },
	{ .group = &xv_group_events },
	{ .group = &caps, .required = true },
	{ .group = &create_params },
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
	{ .group = &modify_params, .required = true },
};

static const struct xv_group_use recv_groups[] = {
	{ .group = &write_object, .required = true },
	{ .group = &recv_params, .required = true },
};

static const struct xv_method_spec srq_methods[] = {
	{ .id = XV_M_CREATE, .name = "create", .class = XV_C_CREATE,
	  .groups = create_groups, .num_groups = ARRAY_SIZE(create_groups),
	  .make = srq_create, .last = srq_create_last },
	{ .id = XV_M_DESTROY, .name = "destroy", .class = XV_C_DESTROY,
	  .groups = destroy_groups, .num_groups = ARRAY_SIZE(destroy_groups) },
	{ .id = XV_M_QUERY, .name = "query", .class = XV_C_QUERY,
	  .groups = query_groups, .num_groups = ARRAY_SIZE(query_groups),
	  .make = srq_query },
	{ .id = XV_M_MODIFY, .name = "modify", .class = XV_C_MODIFY,
	  .groups = modify_groups, .num_groups = ARRAY_SIZE(modify_groups),
	  .last = srq_modify },
	{ .id = XV_M_POST_RECV, .name = "post_recv", .class = XV_C_POST,
	  .groups = recv_groups, .num_groups = ARRAY_SIZE(recv_groups),
	  .make = srq_post_recv },
};

static const struct xv_type_ops srq_ops = {
	.size = sizeof(struct xv_srq),
	.edges = offsetof(struct xv_srq, edges),
	.num_edges = 1,
	.destroy = srq_destroy,
	.publish = srq_publish,
	.unpublish = srq_unpublish,
	.free = srq_free,
};

const struct xv_type xv_type_srq = {
	.id = XV_OBJ_SRQ, .name = "srq",
	.methods = srq_methods, .num_methods = ARRAY_SIZE(srq_methods),
	.ops = &srq_ops,
};
