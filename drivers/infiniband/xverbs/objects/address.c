// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Addresses, as queue pairs and address handles have them.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <rdma/ib_cache.h>
#include "../device.h"
#include "address.h"

static u64 path_value(const struct xv_opx *op, u16 id, u64 absent)
{
	return xv_value(op, XV_GRP_PATH, id, absent);
}

static int fill_gids(struct xv_call *call, struct xv_opx *op, u32 port,
		     struct rdma_ah_attr *ah, bool *to_self)
{
	const struct xv_slot *slot = xv_slot(op, XV_GRP_ADDRESS, XV_ADDRESS_GID);
	u32 index = path_value(op, XV_PATH_SGID_INDEX, 0);
	const struct ib_gid_attr *sgid;

	*to_self = false;
	if (!slot) {
		if (rdma_protocol_roce(call->ibdev, port))
			return xv_fail(call, op, XV_GRP_ADDRESS,
				       XV_ADDRESS_GID, XV_R_MISSING, 0);
		return 0;
	}
	sgid = rdma_get_gid_attr(call->ibdev, port, index);
	if (IS_ERR(sgid))
		return xv_fail(call, op, XV_GRP_PATH, XV_PATH_SGID_INDEX,
			       XV_R_NO_GID, 0);
	rdma_ah_set_grh(ah, NULL, path_value(op, XV_PATH_FLOW_LABEL, 0), index,
			path_value(op, XV_PATH_HOP_LIMIT, 64),
			path_value(op, XV_PATH_TRAFFIC_CLASS, 0));
	rdma_ah_set_dgid_raw(ah, slot->buf);
	*to_self = !memcmp(&sgid->gid, slot->buf, sizeof(sgid->gid));
	rdma_put_gid_attr(sgid);
	return 0;
}

/**
 * xv_address_fill - address of an operation in the words of the core
 * @call: the call
 * @op: an operation with the groups address and path
 * @pd: a PD of the device
 * @port: port of the device, a valid one
 * @ah: is filled, zeroed before; on Ethernet the link address too
 * @to_self: is set to whether the remote GID is the one that we send from
 *
 * Context: may sleep, for as long as neighbour discovery takes.
 * Return: 0 or what xv_fail() returned.
 */
int xv_address_fill(struct xv_call *call, struct xv_opx *op, struct ib_pd *pd,
		    u32 port, struct rdma_ah_attr *ah, bool *to_self)
{
	int raw;
	int ret;

	ah->type = rdma_ah_find_type(call->ibdev, port);
	rdma_ah_set_port_num(ah, port);
	rdma_ah_set_sl(ah, path_value(op, XV_PATH_SL, 0));
	if (ah->type == RDMA_AH_ATTR_TYPE_IB)
		rdma_ah_set_dlid(ah, xv_value(op, XV_GRP_ADDRESS,
					      XV_ADDRESS_LID, 0));
	ret = fill_gids(call, op, port, ah, to_self);
	if (ret)
		return ret;
	raw = xv_mac_resolve(&call->file->dev->macs, pd, ah);
	if (!raw)
		return 0;
	if (raw == -ENOMEM)
		return xv_fail_driver(call, op, raw);
	ret = xv_fail(call, op, XV_GRP_ADDRESS, XV_ADDRESS_GID,
		      XV_R_UNREACHABLE, 0);
	call->error.raw = -raw;
	return ret;
}
