// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * xverbs dev: devices, their nodes and limits.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <errno.h>
#include <string.h>
#include <xverbs.h>
#include "tool.h"

static const char *const port_states[] = {
	[XV_PORT_DOWN] = "down",
	[XV_PORT_INIT] = "init",
	[XV_PORT_ARMED] = "armed",
	[XV_PORT_ACTIVE] = "active",
};

static const char *port_state(unsigned int state)
{
	return state < 5 && port_states[state] ? port_states[state] : "unknown";
}

static const char *link_layer(unsigned int link)
{
	return link == XV_LINK_INFINIBAND ? "infiniband" :
	       link == XV_LINK_ETHERNET ? "ethernet" : "unknown";
}

static void show_port(struct xv_ctx *ctx, unsigned int port,
		      struct json_object *list)
{
	struct xv_port_info info;
	struct json_object *o;

	if (xv_device_query_port(xv_now(ctx), port, &info))
		return;
	if (!json) {
		printf("    port %u: %s, %s, mtu %u of %u, %u GIDs\n", port,
		       port_state(info.state), link_layer(info.link_layer),
		       info.active_mtu, info.max_mtu, info.gid_entries);
		return;
	}
	o = json_object_new_object();
	put_num(o, "port", port);
	put_str(o, "state", port_state(info.state));
	put_str(o, "link_layer", link_layer(info.link_layer));
	put_num(o, "active_mtu", info.active_mtu);
	put_num(o, "max_mtu", info.max_mtu);
	put_num(o, "lid", info.lid);
	put_num(o, "gid_entries", info.gid_entries);
	put_num(o, "netdev_index", info.netdev_index);
	json_object_array_add(list, o);
}

/* A device that may not be opened is still listed. */
static void show_device(const struct xv_device *dev, struct json_object *list)
{
	struct json_object *o = NULL, *ports = NULL;
	struct xv_device_info info;
	struct xv_ctx *ctx;
	unsigned int i;
	int ret;

	if (json) {
		o = json_object_new_object();
		json_object_array_add(list, o);
		put_str(o, "name", dev->name);
		put_str(o, "node", dev->node);
		put_num(o, "abi_version", dev->abi_version);
	} else {
		printf("%s: node %s, abi %u\n", dev->name, dev->node,
		       dev->abi_version);
	}
	ret = xv_open(dev->name, 0, &ctx);
	if (ret) {
		if (json)
			put_str(o, "error", strerror(-ret));
		else
			printf("    not opened: %s%s\n", strerror(-ret),
			       ret == -EACCES ? ": be in group rdma or root" : "");
		return;
	}
	ret = xv_device_query(xv_now(ctx), &info);
	if (!ret && json) {
		put_num(o, "max_qp_wr", info.max_qp_wr);
		put_num(o, "max_cqe", info.max_cqe);
		put_num(o, "max_send_sge", info.max_send_sge);
		put_num(o, "max_recv_sge", info.max_recv_sge);
		put_num(o, "max_srq_wr", info.max_srq_wr);
		put_num(o, "max_srq_sge", info.max_srq_sge);
		put_num(o, "max_inline", info.max_inline);
		put_num(o, "max_rd_atomic", info.max_rd_atomic);
		put_num(o, "max_mr_size", info.max_mr_size);
		put_num(o, "num_comp_vectors", info.num_comp_vectors);
		put_num(o, "ring_budget", info.budget);
		json_object_object_add(o, "atomics", json_object_new_boolean(
				       info.flags & XV_DEVICE_F_ATOMICS));
		ports = put_list(o, "ports");
	} else if (!ret) {
		printf("    queues %u deep, shared ones %u, completions %u, pieces %u/%u, inline %u%s\n",
		       info.max_qp_wr, info.max_srq_wr, info.max_cqe,
		       info.max_send_sge, info.max_recv_sge, info.max_inline,
		       info.flags & XV_DEVICE_F_ATOMICS ? ", atomics" : "");
	}
	for (i = 1; !ret && i <= info.num_ports; i++)
		show_port(ctx, i, ports);
	xv_close(ctx);
}

int cmd_dev(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	struct json_object *list = NULL;
	struct xv_device *devs;
	unsigned int num, i, shown = 0;
	int ret;

	ret = xv_device_list(&devs, &num);
	if (ret)
		return ret == -ENODEV ? fail_open(name, ret) :
					fail("list of devices", ret);
	if (!num && !name && !json) {
		xv_device_list_free(devs);
		return fail_open(NULL, -ENODEV);
	}
	if (json)
		list = json_object_new_array();
	for (i = 0; i < num; i++) {
		if (name && strcmp(name, devs[i].name))
			continue;
		show_device(&devs[i], list);
		shown++;
	}
	xv_device_list_free(devs);
	if (json)
		print_json(list);
	return name && !shown ? fail(name, -ENODEV) : 0;
}
