// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ah: address handle, a destination of datagrams.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include "../core/txn.h"
#include "address.h"
#include "ah.h"
#include "objects.h"
#include "pd.h"

/* As rdma_network_type in the completion of a datagram; 0 is "not told". */
static void wc_to_ib(const struct xv_wc *wc, struct ib_wc *ibwc)
{
	if (wc->flags & XV_WC_GRH)
		ibwc->wc_flags |= IB_WC_GRH;
	ibwc->slid = wc->slid;
	ibwc->sl = wc->sl;
	switch (wc->net_type) {
	case XV_GID_ROCE_V1:
		ibwc->network_hdr_type = RDMA_NETWORK_ROCE_V1;
		ibwc->wc_flags |= IB_WC_WITH_NETWORK_HDR_TYPE;
		break;
	case XV_NET_IPV4:
		ibwc->network_hdr_type = RDMA_NETWORK_IPV4;
		ibwc->wc_flags |= IB_WC_WITH_NETWORK_HDR_TYPE;
		break;
	case XV_NET_IPV6:
		ibwc->network_hdr_type = RDMA_NETWORK_IPV6;
		ibwc->wc_flags |= IB_WC_WITH_NETWORK_HDR_TYPE;
		break;
	}
}

/* The sender of a datagram, from what was received. */
static int ah_from_wc(struct xv_call *call, struct xv_opx *op, u32 port,
		      struct rdma_ah_attr *attr)
{
	const struct xv_slot *slot = xv_slot(op, XV_GRP_PARAMS, XV_PARAMS_WC);
	const struct xv_ah_wc *from = slot->buf;
	struct ib_wc ibwc = {};
	int raw;
	int ret;

	wc_to_ib(&from->wc, &ibwc);
	raw = ib_init_ah_attr_from_wc(call->ibdev, port, &ibwc,
				      (const struct ib_grh *)from->grh, attr);
	if (!raw)
		return 0;
	if (raw == -ENOMEM)
		return xv_fail_driver(call, op, raw);
	/* The bytes are the user's: whatever is wrong with them is too. */
	ret = xv_fail(call, op, XV_GRP_PARAMS, XV_PARAMS_WC,
		      raw == -ETIMEDOUT || raw == -EHOSTUNREACH ||
		      raw == -ENETUNREACH ? XV_R_UNREACHABLE : XV_R_RANGE, 0);
	call->error.raw = -raw;
	return ret;
}

static void ah_set_info(struct xv_ah *ah, const struct rdma_ah_attr *attr)
{
	struct xv_ah_info *info = &ah->info;

	info->port = attr->port_num;
	info->sl = attr->sl;
	info->pd = ah->edges[0].parent->handle;
	if (attr->type == RDMA_AH_ATTR_TYPE_IB)
		info->lid = attr->ib.dlid;
	if (!(attr->ah_flags & IB_AH_GRH))
		return;
	memcpy(info->gid, attr->grh.dgid.raw, sizeof(info->gid));
	info->sgid_index = attr->grh.sgid_index;
	info->flow_label = attr->grh.flow_label;
	info->hop_limit = attr->grh.hop_limit;
	info->traffic_class = attr->grh.traffic_class;
}

static int ah_create(struct xv_call *call, struct xv_opx *op)
{
	struct xv_uobj *pd = xv_handle(op, XV_OBJECT_PD);
	u32 port = xv_value(op, XV_GRP_PATH, XV_PATH_PORT, 1);
	struct ib_pd *ibpd = xv_to_pd(pd)->ibpd;
	struct xv_ah *ah = xv_to_ah(op->obj);
	struct rdma_ah_attr attr = {};
	bool from_wc = xv_slot(op, XV_GRP_PARAMS, XV_PARAMS_WC);
	struct ib_ah *ibah;
	bool to_self;
	int ret;

	if (!rdma_is_port_valid(call->ibdev, port))
		return xv_fail(call, op, XV_GRP_PATH, XV_PATH_PORT, XV_R_RANGE,
			       call->ibdev->phys_port_cnt);
	if (!rdma_cap_ib_sa(call->ibdev, port) &&
	    !rdma_protocol_roce(call->ibdev, port))
		return xv_fail(call, op, 0, 0, XV_R_CAPABILITY, 0);
	if (from_wc)
		ret = ah_from_wc(call, op, port, &attr);
	else
		ret = xv_address_fill(call, op, ibpd, port, &attr, &to_self);
	if (ret)
		return ret;
	ibah = rdma_create_ah(ibpd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	if (!IS_ERR(ibah)) {
		ah->ibah = ibah;
		op->obj->hw = true;
		xv_uobj_link(op->obj, 0, pd);
		ah_set_info(ah, &attr);
	}
	if (from_wc)
		rdma_destroy_ah_attr(&attr);
	if (IS_ERR(ibah))
		return xv_fail_driver(call, op, PTR_ERR(ibah));
	return xv_result(call, op, &ah->info, sizeof(ah->info));
}

static int ah_destroy(struct xv_uobj *obj, enum xv_why why)
{
	return rdma_destroy_ah_user(xv_to_ah(obj)->ibah,
				    RDMA_DESTROY_AH_SLEEPABLE, NULL);
}

static int ah_query(struct xv_call *call, struct xv_opx *op)
{
	struct xv_ah *ah = xv_to_ah(op->obj);

	return xv_result(call, op, &ah->info, sizeof(ah->info));
}

static const struct xv_attr_spec new_object_attrs[] = {
	{ .id = XV_OBJECT_HANDLE, .name = "handle", .kind = XV_K_NEW,
	  .type = XV_OBJ_AH, .required = true },
	{ .id = XV_OBJECT_PD, .name = "pd", .kind = XV_K_READ,
	  .type = XV_OBJ_PD, .required = true },
};

static const struct xv_attr_spec address_attrs[] = {
	{ .id = XV_ADDRESS_GID, .name = "gid", .kind = XV_K_IN,
	  .min = 16, .max = 16 },
	{ .id = XV_ADDRESS_LID, .name = "lid", .kind = XV_K_U32,
	  .max = 0xffff },
};

static const struct xv_attr_spec path_attrs[] = {
	{ .id = XV_PATH_PORT, .name = "port", .kind = XV_K_U32,
	  .min = 1, .max = 255 },
	{ .id = XV_PATH_SGID_INDEX, .name = "sgid_index", .kind = XV_K_U32,
	  .max = 255 },
	{ .id = XV_PATH_SL, .name = "sl", .kind = XV_K_U32, .max = 15 },
	{ .id = XV_PATH_TRAFFIC_CLASS, .name = "traffic_class",
	  .kind = XV_K_U32, .max = 255 },
	{ .id = XV_PATH_FLOW_LABEL, .name = "flow_label", .kind = XV_K_U32,
	  .max = 0xfffff },
	{ .id = XV_PATH_HOP_LIMIT, .name = "hop_limit", .kind = XV_K_U32,
	  .min = 1, .max = 255 },
};

static const struct xv_attr_spec params_attrs[] = {
	{ .id = XV_PARAMS_WC, .name = "wc", .kind = XV_K_IN,
	  .min = sizeof(struct xv_ah_wc), .max = sizeof(struct xv_ah_wc),
	  .required = true },
};

XV_DEFINE_GROUP(new_object, XV_GRP_OBJECT, "object");
XV_DEFINE_OBJECT_GROUP(destroy_object, XV_K_DESTROY, XV_OBJ_AH);
XV_DEFINE_OBJECT_GROUP(read_object, XV_K_READ, XV_OBJ_AH);
XV_DEFINE_GROUP(address, XV_GRP_ADDRESS, "address");
XV_DEFINE_GROUP(path, XV_GRP_PATH, "path");
XV_DEFINE_GROUP(params, XV_GRP_PARAMS, "params");
XV_DEFINE_RESULT_GROUP(result, struct xv_ah_info);

static const struct xv_group_use create_groups[] = {
	{ .group = &new_object, .required = true },
	{ .group = &address, .one_of = true },
	{ .group = &path },
	{ .group = &params, .one_of = true },
	{ .group = &result },
};

static const struct xv_group_use destroy_groups[] = {
	{ .group = &destroy_object, .required = true },
};

static const struct xv_group_use query_groups[] = {
	{ .group = &read_object, .required = true },
	{ .group = &result, .required = true },
};

static const struct xv_method_spec ah_methods[] = {
	{ .id = XV_M_CREATE, .name = "create", .class = XV_C_CREATE,
	  .groups = create_groups, .num_groups = ARRAY_SIZE(create_groups),
	  .make = ah_create },
	{ .id = XV_M_DESTROY, .name = "destroy", .class = XV_C_DESTROY,
	  .groups = destroy_groups, .num_groups = ARRAY_SIZE(destroy_groups) },
	{ .id = XV_M_QUERY, .name = "query", .class = XV_C_QUERY,
	  .groups = query_groups, .num_groups = ARRAY_SIZE(query_groups),
	  .make = ah_query },
};

static const struct xv_type_ops ah_ops = {
	.size = sizeof(struct xv_ah),
	.edges = offsetof(struct xv_ah, edges),
	.num_edges = 1,
	.grace = true,
	.destroy = ah_destroy,
};

const struct xv_type xv_type_ah = {
	.id = XV_OBJ_AH, .name = "ah",
	.methods = ah_methods, .num_methods = ARRAY_SIZE(ah_methods),
	.ops = &ah_ops,
};
