// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mcast: membership of a queue pair in a multicast group.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * It has two halves. The device delivers datagrams of the group to the queue
 * pair (attach); and the network delivers them to the device (join). On RoCE v2
 * the second half is that of IP: the interface is a member of the IP group, so
 * switches forward it and the stack takes it. This is done through a socket, as
 * any program may do it, which needs no privilege there and none here.
 *
 * A queue pair can not go while it is in a group: an edge says so, and drivers
 * refuse it too.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <net/net_namespace.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "../core/txn.h"
#include "mcast.h"
#include "objects.h"
#include "qp.h"

#define MCAST_LID_MIN	0xc000
#define MCAST_LID_MAX	0xfffe

/* ---- the network's half ---- */

/*
 * The interface of a GID and its namespace, held. A device can have GIDs of
 * several namespaces: of another one nothing is joined.
 *
 * Return: 0 or enum xv_reason.
 */
static u16 gid_net(struct xv_mcast *mcast, const struct ib_gid_attr *attr,
		   u32 *ifindex)
{
	struct net_device *netdev;
	u16 reason = XV_R_NO_GID;

	rcu_read_lock();
	netdev = rcu_dereference(attr->ndev);
	if (netdev && !net_eq(dev_net(netdev), mcast->uobj.file->net)) {
		reason = XV_R_PERMISSION;
	} else if (netdev) {
		*ifindex = netdev->ifindex;
		mcast->net = maybe_get_net(dev_net(netdev));
		reason = mcast->net ? 0 : XV_R_NO_GID;
	}
	rcu_read_unlock();
	return reason;
}

static int join_ip(struct xv_mcast *mcast, u32 ifindex)
{
	const struct in6_addr *addr = (void *)mcast->info.gid;
	struct ip_mreqn mreq = {};
	struct ipv6_mreq mreq6 = {};
	struct socket *sock;
	bool v4 = ipv6_addr_v4mapped(addr);
	int ret;

	ret = sock_create_kern(mcast->net, v4 ? AF_INET : AF_INET6, SOCK_DGRAM,
			       IPPROTO_UDP, &sock);
	if (ret == -EAFNOSUPPORT)
		return -EOPNOTSUPP;
	if (ret)
		return ret;
	if (v4) {
		mreq.imr_multiaddr.s_addr = addr->s6_addr32[3];
		mreq.imr_ifindex = ifindex;
		ret = sock->ops->setsockopt(sock, SOL_IP, IP_ADD_MEMBERSHIP,
					    KERNEL_SOCKPTR(&mreq),
					    sizeof(mreq));
	} else {
		mreq6.ipv6mr_multiaddr = *addr;
		mreq6.ipv6mr_ifindex = ifindex;
		ret = sock->ops->setsockopt(sock, SOL_IPV6, IPV6_ADD_MEMBERSHIP,
					    KERNEL_SOCKPTR(&mreq6),
					    sizeof(mreq6));
	}
	if (ret) {
		sock_release(sock);
		return ret;
	}
	mcast->sock = sock;
	mcast->info.netdev_index = ifindex;
	return 0;
}

static void leave(struct xv_mcast *mcast)
{
	if (mcast->sock)
		sock_release(mcast->sock);
	mcast->sock = NULL;
	if (mcast->net)
		put_net(mcast->net);
	mcast->net = NULL;
}

static int join(struct xv_call *call, struct xv_opx *op,
		struct xv_mcast *mcast)
{
	struct xv_mcast_info *info = &mcast->info;
	const struct ib_gid_attr *sgid;
	u32 ifindex = 0;
	u16 reason = 0;
	bool is_ip;
	int ret;

	/* The subnet manager's half is not written: nothing to try it with. */
	if (!rdma_protocol_roce(call->ibdev, info->port))
		return xv_fail(call, op, XV_GRP_PARAMS, XV_PARAMS_JOIN,
			       XV_R_CAPABILITY, 0);
	sgid = rdma_get_gid_attr(call->ibdev, info->port, info->sgid_index);
	if (IS_ERR(sgid))
		return xv_fail(call, op, XV_GRP_PATH, XV_PATH_SGID_INDEX,
			       XV_R_NO_GID, 0);
	is_ip = sgid->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP;
	if (is_ip)
		reason = gid_net(mcast, sgid, &ifindex);
	rdma_put_gid_attr(sgid);
	/* RoCE v1 is not IP: the device's filter is all there is. */
	if (!is_ip)
		return 0;
	if (reason)
		return xv_fail(call, op, XV_GRP_PATH, XV_PATH_SGID_INDEX,
			       reason, 0);
	ret = join_ip(mcast, ifindex);
	/* What sockets say if there is no memory. */
	if (ret == -ENOBUFS || ret == -ENFILE)
		ret = -ENOMEM;
	return ret ? xv_fail_driver(call, op, ret) : 0;
}

/* ---- the device's half ---- */

/*
 * Drivers take a second attach for a success and count one, so that the second
 * detach would fail. With the ring mutex: nobody else attaches meanwhile.
 */
static bool find_same(struct xv_qp *qp, const struct xv_mcast *mcast,
		      u32 *handle)
{
	struct xv_edge *edge;
	bool found = false;

	lockdep_assert_held(&qp->lock);
	spin_lock(&qp->uobj.file->graph);
	list_for_each_entry(edge, &qp->uobj.children, link) {
		struct xv_uobj *child = edge->child;

		if (child->type->id != XV_OBJ_MCAST || !child->hw)
			continue;
		if (memcmp(xv_to_mcast(child)->info.gid, mcast->info.gid,
			   sizeof(mcast->info.gid)))
			continue;
		found = true;
		/* A zombie is still in the group, and has no name. */
		*handle = child->state == XV_S_ZOMBIE ? 0 : child->handle;
	}
	spin_unlock(&qp->uobj.file->graph);
	return found;
}

static int attach(struct xv_call *call, struct xv_opx *op, struct xv_qp *qp,
		  struct xv_mcast *mcast)
{
	union ib_gid gid;
	u32 same;
	int ret;

	if (find_same(qp, mcast, &same)) {
		ret = xv_fail(call, op, XV_GRP_ADDRESS, XV_ADDRESS_GID,
			      XV_R_ATTACHED, 0);
		call->error.object = XV_OBJ_MCAST;
		call->error.handle = same;
		return ret;
	}
	memcpy(gid.raw, mcast->info.gid, sizeof(gid.raw));
	ret = ib_attach_mcast(qp->ibqp, &gid, mcast->info.lid);
	if (ret)
		return xv_fail_driver(call, op, ret);
	op->obj->hw = true;
	xv_uobj_link(op->obj, 0, &qp->uobj);
	return 0;
}

static int check_group(struct xv_call *call, struct xv_opx *op,
		       const struct xv_qp *qp, const struct xv_mcast *mcast)
{
	u32 lid = mcast->info.lid;

	if (!call->ibdev->ops.attach_mcast || !call->ibdev->ops.detach_mcast)
		return xv_fail(call, op, 0, 0, XV_R_CAPABILITY, 0);
	if (qp->type != XV_QPT_UD)
		return xv_fail_obj(call, op, XV_GRP_OBJECT, XV_OBJECT_QP,
				   XV_R_MISMATCH, &qp->uobj);
	if (rdma_port_get_link_layer(call->ibdev, mcast->info.port) !=
	    IB_LINK_LAYER_INFINIBAND)
		return 0;
	if (lid < MCAST_LID_MIN)
		return xv_fail(call, op, XV_GRP_ADDRESS, XV_ADDRESS_LID,
			       XV_R_RANGE, MCAST_LID_MIN);
	if (lid > MCAST_LID_MAX)
		return xv_fail(call, op, XV_GRP_ADDRESS, XV_ADDRESS_LID,
			       XV_R_RANGE, MCAST_LID_MAX);
	return 0;
}

static int mcast_check(struct xv_call *call, struct xv_opx *op)
{
	const struct xv_slot *slot = xv_slot(op, XV_GRP_ADDRESS, XV_ADDRESS_GID);

	/* No limit is broken: it is no group at all. */
	if (!rdma_is_multicast_addr(slot->buf))
		return xv_fail(call, op, XV_GRP_ADDRESS, XV_ADDRESS_GID,
			       XV_R_RANGE, 0);
	return 0;
}

static int mcast_create(struct xv_call *call, struct xv_opx *op)
{
	const struct xv_slot *slot = xv_slot(op, XV_GRP_ADDRESS, XV_ADDRESS_GID);
	struct xv_qp *qp = xv_to_qp(xv_handle(op, XV_OBJECT_QP));
	struct xv_mcast *mcast = xv_to_mcast(op->obj);
	struct xv_mcast_info *info = &mcast->info;
	int ret;

	memcpy(info->gid, slot->buf, sizeof(info->gid));
	info->qp = qp->uobj.handle;
	info->join = xv_value(op, XV_GRP_PARAMS, XV_PARAMS_JOIN, XV_MCAST_JOIN);
	info->lid = xv_value(op, XV_GRP_ADDRESS, XV_ADDRESS_LID, 0);
	info->sgid_index = xv_value(op, XV_GRP_PATH, XV_PATH_SGID_INDEX, 0);
	/* Who changes the port has the object lock for writing. */
	info->port = qp->port;
	ret = check_group(call, op, qp, mcast);
	if (ret)
		return ret;
	/* What was joined is left when the memory goes. */
	if (info->join == XV_MCAST_JOIN) {
		ret = join(call, op, mcast);
		if (ret)
			return ret;
	}
	mutex_lock(&qp->lock);
	ret = attach(call, op, qp, mcast);
	mutex_unlock(&qp->lock);
	return ret ? ret : xv_result(call, op, info, sizeof(*info));
}

static int mcast_destroy(struct xv_uobj *obj, enum xv_why why)
{
	struct xv_mcast *mcast = xv_to_mcast(obj);
	struct xv_qp *qp = xv_to_qp(mcast->edges[0].parent);
	union ib_gid gid;
	int ret;

	memcpy(gid.raw, mcast->info.gid, sizeof(gid.raw));
	ret = ib_detach_mcast(qp->ibqp, &gid, mcast->info.lid);
	if (ret)
		return ret;
	leave(mcast);
	return 0;
}

static void mcast_free(struct xv_uobj *obj)
{
	leave(xv_to_mcast(obj));
}

static int mcast_query(struct xv_call *call, struct xv_opx *op)
{
	struct xv_mcast *mcast = xv_to_mcast(op->obj);

	return xv_result(call, op, &mcast->info, sizeof(mcast->info));
}

static const struct xv_attr_spec new_object_attrs[] = {
	{ .id = XV_OBJECT_HANDLE, .name = "handle", .kind = XV_K_NEW,
	  .type = XV_OBJ_MCAST, .required = true },
	{ .id = XV_OBJECT_QP, .name = "qp", .kind = XV_K_READ,
	  .type = XV_OBJ_QP, .required = true },
};

static const struct xv_attr_spec address_attrs[] = {
	{ .id = XV_ADDRESS_GID, .name = "gid", .kind = XV_K_IN,
	  .min = 16, .max = 16, .required = true },
	{ .id = XV_ADDRESS_LID, .name = "lid", .kind = XV_K_U32,
	  .max = 0xffff },
};

static const struct xv_attr_spec path_attrs[] = {
	{ .id = XV_PATH_SGID_INDEX, .name = "sgid_index", .kind = XV_K_U32,
	  .max = 255 },
};

static const struct xv_attr_spec params_attrs[] = {
	{ .id = XV_PARAMS_JOIN, .name = "join", .kind = XV_K_ENUM,
	  .max = 1ULL << XV_MCAST_JOIN | 1ULL << XV_MCAST_ATTACH },
};

XV_DEFINE_GROUP(new_object, XV_GRP_OBJECT, "object");
XV_DEFINE_OBJECT_GROUP(destroy_object, XV_K_DESTROY, XV_OBJ_MCAST);
XV_DEFINE_OBJECT_GROUP(read_object, XV_K_READ, XV_OBJ_MCAST);
XV_DEFINE_GROUP(address, XV_GRP_ADDRESS, "address");
XV_DEFINE_GROUP(path, XV_GRP_PATH, "path");
XV_DEFINE_GROUP(params, XV_GRP_PARAMS, "params");
XV_DEFINE_RESULT_GROUP(result, struct xv_mcast_info);

static const struct xv_group_use create_groups[] = {
	{ .group = &new_object, .required = true },
	{ .group = &address, .required = true },
	{ .group = &path },
	{ .group = &params },
	{ .group = &result },
};

static const struct xv_group_use destroy_groups[] = {
	{ .group = &destroy_object, .required = true },
};

static const struct xv_group_use query_groups[] = {
	{ .group = &read_object, .required = true },
	{ .group = &result, .required = true },
};

static const struct xv_method_spec mcast_methods[] = {
	{ .id = XV_M_CREATE, .name = "create", .class = XV_C_CREATE,
	  .groups = create_groups, .num_groups = ARRAY_SIZE(create_groups),
	  .check = mcast_check, .make = mcast_create },
	{ .id = XV_M_DESTROY, .name = "destroy", .class = XV_C_DESTROY,
	  .groups = destroy_groups, .num_groups = ARRAY_SIZE(destroy_groups) },
	{ .id = XV_M_QUERY, .name = "query", .class = XV_C_QUERY,
	  .groups = query_groups, .num_groups = ARRAY_SIZE(query_groups),
	  .make = mcast_query },
};

static const struct xv_type_ops mcast_ops = {
	.size = sizeof(struct xv_mcast),
	.edges = offsetof(struct xv_mcast, edges),
	.num_edges = 1,
	.destroy = mcast_destroy,
	.free = mcast_free,
};

const struct xv_type xv_type_mcast = {
	.id = XV_OBJ_MCAST, .name = "mcast",
	.methods = mcast_methods, .num_methods = ARRAY_SIZE(mcast_methods),
	.ops = &mcast_ops,
};
