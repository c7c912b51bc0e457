// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * xvmock: the module, and the device with its ports.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/etherdevice.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/ib_mad.h>
#include <rdma/iw_cm.h>
#include "mock.h"

MODULE_AUTHOR("The xverbs authors");
MODULE_DESCRIPTION("RDMA device for tests of xverbs");
MODULE_LICENSE("Dual BSD/GPL");
/* Taints the kernel as test modules do: this is no device for work. */
MODULE_INFO(test, "Y");

static unsigned int driver_id = RDMA_DRIVER_RXE;
module_param(driver_id, uint, 0644);
MODULE_PARM_DESC(driver_id,
		 "The driver that the device says to have, enum rdma_driver_id; at the next plug");

static char *link = "ib";
module_param(link, charp, 0444);
MODULE_PARM_DESC(link,
		 "Link layer: ib, iwarp, iwarp:NETDEV, or the name of a netdev, for RoCE");

static bool plug = true;
module_param(plug, bool, 0444);
MODULE_PARM_DESC(plug, "Plug the device at once");

struct mock mock = {
	.flush = true,
	.next_qpn = 0x100,
	.next_key = 0x1000,
};

static bool is_iwarp(void)
{
	return !strncmp(link, "iwarp", 5);
}

/* With connections: on a netdev, which has the addresses. */
static bool has_cm(void)
{
	return is_iwarp() && link[5] == ':';
}

static bool is_roce(void)
{
	return !is_iwarp() && strcmp(link, "ib");
}

static u8 mock_mac[ETH_ALEN];

/* ---- ports ---- */

/* Of RoCE there are as many as the netdev has addresses. */
static int num_gids(void)
{
	return is_iwarp() ? 1 : is_roce() ? 32 : MOCK_GIDS;
}

enum rdma_link_layer mock_link_layer(struct ib_device *ibdev, u32 port)
{
	return is_iwarp() || is_roce() ? IB_LINK_LAYER_ETHERNET :
					 IB_LINK_LAYER_INFINIBAND;
}

int mock_port_immutable(struct ib_device *ibdev, u32 port,
			struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = num_gids();
	/* Without management: there would be nobody to answer it. */
	if (is_iwarp()) {
		immutable->pkey_tbl_len = 1;
		immutable->core_cap_flags = has_cm() ?
			RDMA_CORE_PORT_IWARP : RDMA_CORE_CAP_PROT_IWARP;
		return 0;
	}
	immutable->pkey_tbl_len = MOCK_PKEYS;
	immutable->core_cap_flags = is_roce() ?
		RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP :
		RDMA_CORE_CAP_PROT_IB | RDMA_CORE_CAP_IB_SA;
	return 0;
}

/* Small on purpose: limits of a device are to be met. */
int mock_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		      struct ib_udata *udata)
{
	memset(attr, 0, sizeof(*attr));
	attr->max_mr_size = 1 << 24;
	attr->page_size_cap = PAGE_SIZE;
	attr->max_qp = 4096;
	attr->max_qp_wr = 512;
	attr->max_send_sge = 3;
	attr->max_recv_sge = 2;
	attr->max_sge_rd = 3;
	attr->max_cq = 4096;
	attr->max_cqe = 2048;
	attr->max_mr = 4096;
	attr->max_pd = 4096;
	attr->max_qp_rd_atom = 4;
	attr->max_qp_init_rd_atom = 4;
	attr->atomic_cap = IB_ATOMIC_NONE;
	attr->max_ah = 4096;
	attr->max_srq = 1024;
	attr->max_srq_wr = 512;
	attr->max_srq_sge = 2;
	attr->max_mcast_grp = 64;
	attr->max_mcast_qp_attach = 16;
	attr->max_total_mcast_qp_attach = 1024;
	attr->max_pkeys = MOCK_PKEYS;
	return 0;
}

int mock_query_port(struct ib_device *ibdev, u32 port,
		    struct ib_port_attr *attr)
{
	int ret = mock_call(MOCK_QUERY_PORT);

	if (ret)
		return ret;
	attr->state = IB_PORT_ACTIVE;
	attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = IB_MTU_2048;
	attr->gid_tbl_len = num_gids();
	attr->pkey_tbl_len = is_iwarp() ? 1 : MOCK_PKEYS;
	attr->max_msg_sz = 1 << 30;
	attr->lid = is_iwarp() || is_roce() ? 0 : 0x10 + port;
	attr->sm_lid = 1;
	attr->active_width = IB_WIDTH_1X;
	attr->active_speed = IB_SPEED_SDR;
	return 0;
}

/* The last entry is empty. Not called for RoCE: the core has its own table. */
int mock_query_gid(struct ib_device *ibdev, u32 port, int index,
		   union ib_gid *gid)
{
	int ret = mock_call(MOCK_QUERY_GID);

	if (ret)
		return ret;
	memset(gid, 0, sizeof(*gid));
	/* An address is looked up by the link address of its netdev. */
	if (has_cm()) {
		memcpy(gid->raw, mock_mac, ETH_ALEN);
		return 0;
	}
	if (index == MOCK_GIDS - 1)
		return 0;
	gid->raw[0] = 0xfe;
	gid->raw[1] = 0x80;
	gid->raw[8] = 2;
	gid->raw[14] = port;
	gid->raw[15] = index + 1;
	return 0;
}

int mock_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	int ret = mock_call(MOCK_QUERY_PKEY);

	if (ret)
		return ret;
	if (index >= MOCK_PKEYS)
		return -EINVAL;
	*pkey = index ? 0x8000 + index : IB_DEFAULT_PKEY_FULL;
	return 0;
}

/* ---- plug ---- */

/* A device keeps its name until its memory is freed. */
static void dealloc_last(void)
{
	if (mock.dev)
		ib_dealloc_device(&mock.dev->ibdev);
	mock.dev = NULL;
}

static int set_netdev(struct ib_device *ibdev)
{
	struct net_device *netdev;
	int ret;

	if (!is_roce() && !is_iwarp())
		return 0;
	/* The core asks the netdev of an iWARP port for its state. */
	netdev = dev_get_by_name(&init_net, is_roce() ? link :
				 has_cm() ? link + 6 : "lo");
	if (!netdev)
		return -ENODEV;
	memcpy(mock_mac, netdev->dev_addr, ETH_ALEN);
	if (has_cm()) {
		strscpy(ibdev->iw_ifname, netdev->name,
			sizeof(ibdev->iw_ifname));
		ibdev->iw_driver_flags = IW_F_NO_PORT_MAP;
	}
	ret = ib_device_set_netdev(ibdev, netdev, 1);
	dev_put(netdev);
	return ret;
}

static int plug_in(void)
{
	struct ib_device *ibdev;
	int ret;

	dealloc_last();
	mock.dev = ib_alloc_device(mock_dev, ibdev);
	if (!mock.dev)
		return -ENOMEM;
	ibdev = &mock.dev->ibdev;
	ibdev->node_type = is_iwarp() ? RDMA_NODE_RNIC : RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = is_roce() || is_iwarp() ? 1 : MOCK_PORTS;
	ibdev->num_comp_vectors = 2;
	ibdev->node_guid = cpu_to_be64(0x0200c0fffe000001ULL);
	strscpy(ibdev->node_desc, "xvmock", sizeof(ibdev->node_desc));
	ib_set_device_ops(ibdev, &mock_ops);
	ibdev->ops.driver_id = driver_id;
	ret = set_netdev(ibdev);
	if (ret)
		goto err_dealloc;
	mock.gone = false;
	mock.relent = false;
	ret = ib_register_device(ibdev, "xvmock%d", NULL);
	if (ret)
		goto err_dealloc;
	WRITE_ONCE(mock.plugged, true);
	return 0;

err_dealloc:
	WRITE_ONCE(mock.gone, true);
	dealloc_last();
	return ret;
}

static void unplug(void)
{
	WRITE_ONCE(mock.relent, !mock.stubborn);
	ib_unregister_device(&mock.dev->ibdev);
	WRITE_ONCE(mock.gone, true);
	WRITE_ONCE(mock.plugged, false);
	WRITE_ONCE(mock.cleaning, true);
	mock_clean();
	WRITE_ONCE(mock.cleaning, false);
}

/**
 * mock_plug - the device comes or goes
 * @on: which of both
 *
 * Context: may sleep, for as long as the device's users do not let it go.
 * Return: 0 or a negative errno.
 */
int mock_plug(bool on)
{
	int ret = 0;

	mutex_lock(&mock.plug);
	if (on && !mock.plugged)
		ret = plug_in();
	else if (!on && mock.plugged)
		unplug();
	mutex_unlock(&mock.plug);
	return ret;
}

static int __init mock_init(void)
{
	int ret;
	int i;

	spin_lock_init(&mock.lock);
	mutex_init(&mock.plug);
	for (i = 0; i < MOCK_NUM_KINDS; i++)
		INIT_LIST_HEAD(&mock.objs[i]);
	mock_plans_init();
	if (plug) {
		ret = mock_plug(true);
		if (ret)
			return ret;
	}
	mock_control_init();
	return 0;
}

static void __exit mock_exit(void)
{
	mock_control_exit();
	mock.stubborn = false;
	mock_wake_all();
	mock_plug(false);
	dealloc_last();
}

module_init(mock_init);
module_exit(mock_exit);
