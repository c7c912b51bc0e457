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
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "lib.h"

#define NODE_DIR	"/dev/infiniband/"

/* The kernel's messages are no longer than this. */
#define REPLY_BYTES	32768

struct devices {
	struct xv_device *list;
	unsigned int num;
	unsigned int max;
};

struct request {
	struct nlmsghdr head;
	uint8_t attrs[64];
};

typedef int (*take_fn)(const struct nlattr *const *tb, void *arg);

static const void *data_of(const struct nlattr *a)
{
	return (const uint8_t *)a + NLA_HDRLEN;
}

static uint32_t get_u32(const struct nlattr *a)
{
	uint32_t v = 0;

	if (a->nla_len >= NLA_HDRLEN + sizeof(v))
		memcpy(&v, data_of(a), sizeof(v));
	return v;
}

static uint64_t get_u64(const struct nlattr *a)
{
	uint64_t v = 0;

	if (a->nla_len >= NLA_HDRLEN + sizeof(v))
		memcpy(&v, data_of(a), sizeof(v));
	return v;
}

/* With its terminating 0, or "". */
static const char *get_string(const struct nlattr *a)
{
	return memchr(data_of(a), 0, a->nla_len - NLA_HDRLEN) ? data_of(a) : "";
}

static void put(struct request *req, uint16_t type, const void *data,
		size_t len)
{
	struct nlattr a = { .nla_len = NLA_HDRLEN + len, .nla_type = type };
	uint8_t *p = (uint8_t *)req + NLMSG_ALIGN(req->head.nlmsg_len);

	memcpy(p, &a, sizeof(a));
	memcpy(p + NLA_HDRLEN, data, len);
	req->head.nlmsg_len = NLMSG_ALIGN(req->head.nlmsg_len) +
			      NLA_ALIGN(a.nla_len);
}

static int add_device(const struct nlattr *const *tb, void *arg)
{
	struct devices *devs = arg;
	struct xv_device *dev;

	if (!tb[RDMA_NLDEV_ATTR_DEV_INDEX] || !tb[RDMA_NLDEV_ATTR_DEV_NAME])
		return 0;
	if (devs->num == devs->max) {
		devs->max = devs->max ? 2 * devs->max : 8;
		dev = realloc(devs->list, devs->max * sizeof(*dev));
		if (!dev)
			return -ENOMEM;
		devs->list = dev;
	}
	dev = &devs->list[devs->num++];
	memset(dev, 0, sizeof(*dev));
	dev->index = get_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
	snprintf(dev->name, sizeof(dev->name), "%s",
		 get_string(tb[RDMA_NLDEV_ATTR_DEV_NAME]));
	return 0;
}

static int set_node(const struct nlattr *const *tb, void *arg)
{
	struct xv_device *dev = arg;
	const char *name;

	if (!tb[RDMA_NLDEV_ATTR_CHARDEV] || !tb[RDMA_NLDEV_ATTR_CHARDEV_NAME])
		return 0;
	name = get_string(tb[RDMA_NLDEV_ATTR_CHARDEV_NAME]);
	/* It becomes part of a path. */
	if (!*name || strchr(name, '/') || strlen(name) > 64)
		return 0;
	dev->rdev = get_u64(tb[RDMA_NLDEV_ATTR_CHARDEV]);
	if (tb[RDMA_NLDEV_ATTR_CHARDEV_ABI])
		dev->abi_version = get_u64(tb[RDMA_NLDEV_ATTR_CHARDEV_ABI]);
	snprintf(dev->node, sizeof(dev->node), NODE_DIR "%s", name);
	return 0;
}

/* One message of an answer. Returns 1 if it was the last one. */
static int take(const struct nlmsghdr *h, take_fn fn, void *arg)
{
	const struct nlattr *tb[RDMA_NLDEV_ATTR_MAX] = {};
	size_t pos = NLMSG_HDRLEN;
	int err, ret;

	if (h->nlmsg_flags & NLM_F_DUMP_INTR)
		return -EAGAIN;
	if (h->nlmsg_type == NLMSG_DONE)
		return 1;
	if (h->nlmsg_type == NLMSG_ERROR) {
		if (h->nlmsg_len < NLMSG_HDRLEN + sizeof(err))
			return -EIO;
		memcpy(&err, (const uint8_t *)h + NLMSG_HDRLEN, sizeof(err));
		return err ? err : 1;
	}
	while (pos + NLA_HDRLEN <= h->nlmsg_len) {
		const struct nlattr *a = (const void *)((const uint8_t *)h + pos);
		unsigned int type = a->nla_type & NLA_TYPE_MASK;

		if (a->nla_len < NLA_HDRLEN || pos + a->nla_len > h->nlmsg_len)
			return -EIO;
		if (type < RDMA_NLDEV_ATTR_MAX)
			tb[type] = a;
		pos += NLA_ALIGN(a->nla_len);
	}
	ret = fn(tb, arg);
	return ret ? ret : !(h->nlmsg_flags & NLM_F_MULTI);
}

static int receive(int sock, uint8_t *buf, uint32_t seq, take_fn fn, void *arg)
{
	for (;;) {
		ssize_t len = recv(sock, buf, REPLY_BYTES, MSG_TRUNC);
		size_t pos = 0;

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return -errno;
		if (len > REPLY_BYTES)
			return -EIO;
		while (pos + NLMSG_HDRLEN <= (size_t)len) {
			const struct nlmsghdr *h = (const void *)(buf + pos);
			int ret;

			if (h->nlmsg_len < NLMSG_HDRLEN ||
			    h->nlmsg_len > (size_t)len - pos)
				return -EIO;
			/* Of a question that was given up. */
			ret = h->nlmsg_seq == seq ? take(h, fn, arg) : 0;
			if (ret)
				return ret > 0 ? 0 : ret;
			pos += NLMSG_ALIGN(h->nlmsg_len);
		}
	}
}

static int ask(int sock, uint8_t *buf, uint32_t seq, unsigned int cmd,
	       const struct xv_device *dev, take_fn fn, void *arg)
{
	static const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	static const char type[] = "xverbs";
	struct request req = {
		.head.nlmsg_len = NLMSG_HDRLEN,
		.head.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, cmd),
		.head.nlmsg_flags = NLM_F_REQUEST | (dev ? 0 : NLM_F_DUMP),
		.head.nlmsg_seq = seq,
	};

	if (dev) {
		put(&req, RDMA_NLDEV_ATTR_DEV_INDEX, &dev->index,
		    sizeof(dev->index));
		put(&req, RDMA_NLDEV_ATTR_CHARDEV_TYPE, type, sizeof(type));
	}
	if (sendto(sock, &req, req.head.nlmsg_len, 0,
		   (const struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		return -errno;
	return receive(sock, buf, seq, fn, arg);
}

/* What netlink can answer, in few words. */
static int known_errno(int err)
{
	switch (-err) {
	case 0:
	case ENOMEM:
	case EMFILE:
	case ENFILE:
	case EPERM:
	case EINTR:
	case EAGAIN:
		return err;
	case EACCES:
		return -EPERM;
	/* no RDMA netlink: then there is no device */
	case EPROTONOSUPPORT:
	case EAFNOSUPPORT:
	case EOPNOTSUPP:
	case ECONNREFUSED:
	case ENODEV:
	case ENOENT:
		return -ENODEV;
	default:
		return -EIO;
	}
}

XV_PUBLIC int xv_device_list(struct xv_device **list, unsigned int *num)
{
	XV_KEEP_ERRNO;
	struct devices devs = {};
	unsigned int i, n = 0;
	uint8_t *buf;
	int ret, sock;

	buf = malloc(REPLY_BYTES);
	if (!buf)
		return -ENOMEM;
	sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	if (sock < 0) {
		ret = known_errno(-errno);
		goto out_free;
	}
	ret = ask(sock, buf, 1, RDMA_NLDEV_CMD_GET, NULL, add_device, &devs);
	ret = known_errno(ret);
	if (ret)
		goto out_close;

	/* A device without a node, or one just removed, is left out. */
	for (i = 0; i < devs.num; i++) {
		struct xv_device *dev = &devs.list[i];

		if (!ask(sock, buf, i + 2, RDMA_NLDEV_CMD_GET_CHARDEV, dev,
			 set_node, dev) && dev->node[0])
			devs.list[n++] = *dev;
	}
	*list = devs.list;
	*num = n;
	devs.list = NULL;
out_close:
	close(sock);
out_free:
	free(devs.list);
	free(buf);
	return ret;
}

XV_PUBLIC void xv_device_list_free(struct xv_device *list)
{
	XV_KEEP_ERRNO;

	free(list);
}
