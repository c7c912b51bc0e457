// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Discovery: which RDMA devices there are and which node belongs to each. The
 * kernel tells both by netlink; nothing is searched for in /sys or /dev.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <rdma/rdma_netlink.h>

#include "lib.h"

#define NODE_DIR	"/dev/infiniband/"

struct devices {
	struct xv_device *list;
	unsigned int num;
	unsigned int max;
	int err;
};

/* libnl speaks in numbers of its own. */
static int nl_errno(int err)
{
	switch (-err) {
	case 0:
		return 0;
	case NLE_NOMEM:
		return -ENOMEM;
	case NLE_PERM:
	case NLE_NOACCESS:
		return -EPERM;
	case NLE_OBJ_NOTFOUND:
	case NLE_NODEV:
		return -ENODEV;
	/* no RDMA netlink: then there is no device */
	case NLE_AF_NOSUPPORT:
	case NLE_PROTO_MISMATCH:
	case NLE_OPNOTSUPP:
		return -ENODEV;
	case NLE_INTR:
		return -EINTR;
	case NLE_AGAIN:
	case NLE_DUMP_INTR:
		return -EAGAIN;
	default:
		return -EIO;
	}
}

static int parse(struct nl_msg *msg, struct nlattr **tb)
{
	return nlmsg_parse(nlmsg_hdr(msg), 0, tb, RDMA_NLDEV_ATTR_MAX - 1,
			   NULL);
}

static int add_device(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
	struct devices *devs = arg;
	struct xv_device *dev;

	if (parse(msg, tb) < 0 || !tb[RDMA_NLDEV_ATTR_DEV_INDEX] ||
	    !tb[RDMA_NLDEV_ATTR_DEV_NAME])
		return NL_OK;
	if (devs->num == devs->max) {
		devs->max = devs->max ? 2 * devs->max : 8;
		dev = realloc(devs->list, devs->max * sizeof(*dev));
		if (!dev) {
			devs->err = -ENOMEM;
			return NL_STOP;
		}
		devs->list = dev;
	}
	dev = &devs->list[devs->num++];
	memset(dev, 0, sizeof(*dev));
	dev->index = nla_get_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
	snprintf(dev->name, sizeof(dev->name), "%s",
		 nla_get_string(tb[RDMA_NLDEV_ATTR_DEV_NAME]));
	return NL_OK;
}

static int set_node(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
	struct xv_device *dev = arg;
	const char *name;

	if (parse(msg, tb) < 0 || !tb[RDMA_NLDEV_ATTR_CHARDEV] ||
	    !tb[RDMA_NLDEV_ATTR_CHARDEV_NAME])
		return NL_OK;
	name = nla_get_string(tb[RDMA_NLDEV_ATTR_CHARDEV_NAME]);
	/* It becomes part of a path. */
	if (strchr(name, '/') || strlen(name) > 64)
		return NL_OK;
	dev->rdev = nla_get_u64(tb[RDMA_NLDEV_ATTR_CHARDEV]);
	if (tb[RDMA_NLDEV_ATTR_CHARDEV_ABI])
		dev->abi_version =
			nla_get_u64(tb[RDMA_NLDEV_ATTR_CHARDEV_ABI]);
	snprintf(dev->node, sizeof(dev->node), NODE_DIR "%s", name);
	return NL_OK;
}

static int ask(struct nl_sock *sock, unsigned int cmd, int flags,
	       const struct xv_device *dev,
	       int (*fn)(struct nl_msg *msg, void *arg), void *arg)
{
	struct nl_msg *msg;
	int ret;

	msg = nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, cmd), flags);
	if (!msg)
		return -ENOMEM;
	ret = 0;
	if (dev) {
		ret = nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, dev->index);
		if (!ret)
			ret = nla_put_string(msg,
					     RDMA_NLDEV_ATTR_CHARDEV_TYPE,
					     "xverbs");
	}
	if (!ret)
		ret = nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, fn,
					  arg);
	if (!ret) {
		ret = nl_send_auto(sock, msg);
		if (ret >= 0)
			ret = nl_recvmsgs_default(sock);
	}
	nlmsg_free(msg);
	return ret < 0 ? nl_errno(ret) : 0;
}

XV_PUBLIC int xv_device_list(struct xv_device **list, unsigned int *num)
{
	XV_KEEP_ERRNO;
	struct devices devs = {};
	struct nl_sock *sock;
	unsigned int i, n = 0;
	int ret;

	sock = nl_socket_alloc();
	if (!sock)
		return -ENOMEM;
	nl_socket_disable_auto_ack(sock);
	nl_socket_disable_seq_check(sock);
	ret = nl_errno(nl_connect(sock, NETLINK_RDMA));
	if (ret)
		goto out;
	ret = ask(sock, RDMA_NLDEV_CMD_GET, NLM_F_DUMP, NULL, add_device,
		  &devs);
	if (!ret)
		ret = devs.err;
	if (ret)
		goto out;

	/* A device without a node, or one just removed, is left out. */
	for (i = 0; i < devs.num; i++) {
		struct xv_device *dev = &devs.list[i];

		if (!ask(sock, RDMA_NLDEV_CMD_GET_CHARDEV, 0, dev, set_node,
			 dev) && dev->node[0])
			devs.list[n++] = *dev;
	}
	*list = devs.list;
	*num = n;
	devs.list = NULL;
out:
	free(devs.list);
	nl_socket_free(sock);
	return ret;
}

XV_PUBLIC void xv_device_list_free(struct xv_device *list)
{
	XV_KEEP_ERRNO;

	free(list);
}
