// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * device: the RDMA device of the file; asked, never made.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include "../core/txn.h"
#include "../device.h"
#include "objects.h"
#include "srq.h"

static int device_query(struct xv_call *call, struct xv_opx *op)
{
	const struct ib_device_attr *attrs = &call->ibdev->attrs;
	struct ib_device *ibdev = call->ibdev;
	struct xv_file *file = call->file;
	struct xv_device_info *info;
	int ret;

	info = kzalloc(sizeof(*info), XV_GFP);
	if (!info)
		return xv_fail(call, op, 0, 0, XV_R_MEMORY, 0);
	info->abi_version = XV_ABI_VERSION;
	if (attrs->atomic_cap != IB_ATOMIC_NONE)
		info->flags |= XV_DEVICE_F_ATOMICS;
	if (!rdma_ib_or_roce(ibdev, rdma_start_port(ibdev)))
		info->flags |= XV_DEVICE_F_IWARP;
	strscpy(info->name, dev_name(&ibdev->dev), sizeof(info->name));
	info->driver_id = ibdev->ops.driver_id;
	info->num_ports = ibdev->phys_port_cnt;
	info->num_comp_vectors = ibdev->num_comp_vectors;
	info->max_qp_wr = min_t(u32, attrs->max_qp_wr, XV_MAX_QP_WR);
	info->max_cqe = min_t(u32, attrs->max_cqe, XV_MAX_CQE);
	info->max_send_sge = min_t(u32, attrs->max_send_sge, XV_MAX_SEND_SGE);
	info->max_recv_sge = min_t(u32, attrs->max_recv_sge, XV_MAX_RECV_SGE);
	info->max_inline = XV_MAX_INLINE;
	info->max_rd_atomic = clamp(attrs->max_qp_init_rd_atom, 0, 255);
	info->max_dest_rd_atomic = clamp(attrs->max_qp_rd_atom, 0, 255);
	info->max_mr_size = attrs->max_mr_size;
	info->node_guid = (__force u64)ibdev->node_guid;
	info->budget = XV_FILE_BUDGET;
	info->budget_used = atomic64_read(&file->budget);
	spin_lock(&file->graph);
	memcpy(info->objects, file->counts, sizeof(info->objects));
	spin_unlock(&file->graph);
	if (xv_srq_possible(ibdev)) {
		info->max_srq_wr = min_t(u32, attrs->max_srq_wr, XV_MAX_SRQ_WR);
		info->max_srq_sge = min_t(u32, attrs->max_srq_sge,
					  XV_MAX_RECV_SGE);
	}
	ret = xv_result(call, op, info, sizeof(*info));
	kfree(info);
	return ret;
}

static u32 netdev_index(struct ib_device *ibdev, u32 port)
{
	struct net_device *netdev;
	u32 index;

	if (!ibdev->ops.get_netdev)
		return 0;
	netdev = ibdev->ops.get_netdev(ibdev, port);
	if (!netdev)
		return 0;
	index = netdev->ifindex;
	dev_put(netdev);
	return index;
}

static int check_port(struct xv_call *call, struct xv_opx *op, u32 *port)
{
	*port = xv_value(op, XV_GRP_PARAMS, XV_PARAMS_PORT, 0);
	if (rdma_is_port_valid(call->ibdev, *port))
		return 0;
	return xv_fail(call, op, XV_GRP_PARAMS, XV_PARAMS_PORT, XV_R_RANGE,
		       call->ibdev->phys_port_cnt);
}

static int device_query_port(struct xv_call *call, struct xv_opx *op)
{
	struct xv_port_info info = {};
	struct ib_port_attr attr;
	u32 port;
	int ret;

	ret = check_port(call, op, &port);
	if (ret)
		return ret;
	ret = ib_query_port(call->ibdev, port, &attr);
	if (ret)
		return xv_fail_driver(call, op, ret);
	info.state = attr.state;
	info.link_layer = rdma_port_get_link_layer(call->ibdev, port);
	info.max_mtu = ib_mtu_enum_to_int(attr.max_mtu);
	info.active_mtu = ib_mtu_enum_to_int(attr.active_mtu);
	info.lid = attr.lid;
	info.gid_entries = attr.gid_tbl_len;
	info.pkey_entries = attr.pkey_tbl_len;
	info.netdev_index = netdev_index(call->ibdev, port);
	return xv_result(call, op, &info, sizeof(info));
}

static u32 gid_type(enum ib_gid_type type)
{
	switch (type) {
	case IB_GID_TYPE_IB:
		return XV_GID_IB;
	case IB_GID_TYPE_ROCE:
		return XV_GID_ROCE_V1;
	default:
		return XV_GID_ROCE_V2;
	}
}

static u32 gid_netdev(const struct ib_gid_attr *attr)
{
	struct net_device *netdev;
	u32 index = 0;

	rcu_read_lock();
	netdev = rcu_dereference(attr->ndev);
	if (netdev)
		index = netdev->ifindex;
	rcu_read_unlock();
	return index;
}

static int device_query_gid(struct xv_call *call, struct xv_opx *op)
{
	u32 index = xv_value(op, XV_GRP_PARAMS, XV_PARAMS_INDEX, 0);
	const struct ib_gid_attr *attr;
	struct xv_gid_info info = {};
	struct ib_port_attr port_attr;
	u32 port;
	int ret;

	ret = check_port(call, op, &port);
	if (ret)
		return ret;
	ret = ib_query_port(call->ibdev, port, &port_attr);
	if (ret)
		return xv_fail_driver(call, op, ret);
	if (index >= port_attr.gid_tbl_len)
		return xv_fail(call, op, XV_GRP_PARAMS, XV_PARAMS_INDEX,
			       XV_R_RANGE, port_attr.gid_tbl_len - 1);
	attr = rdma_get_gid_attr(call->ibdev, port, index);
	if (!IS_ERR(attr)) {
		memcpy(info.gid, attr->gid.raw, sizeof(info.gid));
		info.type = gid_type(attr->gid_type);
		info.netdev_index = gid_netdev(attr);
		rdma_put_gid_attr(attr);
	}
	return xv_result(call, op, &info, sizeof(info));
}

static int device_describe(struct xv_call *call, struct xv_opx *op)
{
	u32 num = xv_spec_describe(&xv_spec, NULL, 0);
	struct xv_describe *head;

	head = xv_result_alloc(call, op, sizeof(*head) +
			       num * sizeof(struct xv_desc));
	if (!head)
		return -call->error.err;
	head->abi_version = XV_ABI_VERSION;
	head->header_size = sizeof(*head);
	head->desc_size = sizeof(struct xv_desc);
	head->num_descs = num;
	head->max_ops = XV_MAX_OPS;
	head->max_attrs = XV_MAX_ATTRS;
	head->max_bytes = XV_MAX_BYTES;
	head->max_enter_qps = XV_MAX_ENTER_QPS;
	xv_spec_describe(&xv_spec, (struct xv_desc *)(head + 1), num);
	return 0;
}

static const struct xv_attr_spec describe_result_attrs[] = {
	{ .id = XV_RESULT_INFO, .name = "info", .kind = XV_K_OUT,
	  .required = true },
};

static const struct xv_attr_spec port_params_attrs[] = {
	{ .id = XV_PARAMS_PORT, .name = "port", .kind = XV_K_U32,
	  .min = 1, .max = 255, .required = true },
};

static const struct xv_attr_spec gid_params_attrs[] = {
	{ .id = XV_PARAMS_PORT, .name = "port", .kind = XV_K_U32,
	  .min = 1, .max = 255, .required = true },
	{ .id = XV_PARAMS_INDEX, .name = "index", .kind = XV_K_U32,
	  .max = 0xffff, .required = true },
};

XV_DEFINE_RESULT_GROUP(query_result, struct xv_device_info);
XV_DEFINE_RESULT_GROUP(port_result, struct xv_port_info);
XV_DEFINE_RESULT_GROUP(gid_result, struct xv_gid_info);
XV_DEFINE_GROUP(describe_result, XV_GRP_RESULT, "result");
XV_DEFINE_GROUP(port_params, XV_GRP_PARAMS, "params");
XV_DEFINE_GROUP(gid_params, XV_GRP_PARAMS, "params");

static const struct xv_group_use query_groups[] = {
	{ .group = &query_result, .required = true },
};

static const struct xv_group_use describe_groups[] = {
	{ .group = &describe_result, .required = true },
};

static const struct xv_group_use port_groups[] = {
	{ .group = &port_params, .required = true },
	{ .group = &port_result, .required = true },
};

static const struct xv_group_use gid_groups[] = {
	{ .group = &gid_params, .required = true },
	{ .group = &gid_result, .required = true },
};

static const struct xv_method_spec device_methods[] = {
	{ .id = XV_M_QUERY, .name = "query", .class = XV_C_QUERY,
	  .groups = query_groups, .num_groups = ARRAY_SIZE(query_groups),
	  .make = device_query },
	{ .id = XV_M_DESCRIBE, .name = "describe", .class = XV_C_QUERY,
	  .groups = describe_groups, .num_groups = ARRAY_SIZE(describe_groups),
	  .make = device_describe },
	{ .id = XV_M_QUERY_PORT, .name = "query_port", .class = XV_C_QUERY,
	  .groups = port_groups, .num_groups = ARRAY_SIZE(port_groups),
	  .make = device_query_port },
	{ .id = XV_M_QUERY_GID, .name = "query_gid", .class = XV_C_QUERY,
	  .groups = gid_groups, .num_groups = ARRAY_SIZE(gid_groups),
	  .make = device_query_gid },
};

const struct xv_type xv_type_device = {
	.id = XV_OBJ_DEVICE, .name = "device",
	.methods = device_methods, .num_methods = ARRAY_SIZE(device_methods),
};
