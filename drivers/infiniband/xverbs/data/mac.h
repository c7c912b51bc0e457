/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Link addresses of remote GIDs.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_DATA_MAC_H
#define _XV_DATA_MAC_H

#include <linux/if_ether.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#define XV_MAC_SLOTS	64	/* a power of two */

struct xv_dev;

/**
 * struct xv_mac - one known address
 * @valid: the rest is
 * @port: port of the device
 * @sgid_index: entry of its GID table; stands for network namespace and VLAN
 * @dgid: the remote GID
 * @mac: its link address
 */
struct xv_mac {
	bool valid;
	u32 port;
	u32 sgid_index;
	union ib_gid dgid;
	u8 mac[ETH_ALEN];
};

/**
 * struct xv_mac_cache - what a device has resolved
 * @lock: protects the rest; any context
 * @epoch: counts the times that all was dropped
 * @slots: by hash of the key
 */
struct xv_mac_cache {
	spinlock_t lock;
	u32 epoch;
	struct xv_mac slots[XV_MAC_SLOTS];
};

void xv_mac_init(struct xv_mac_cache *cache);
void xv_mac_drop(struct xv_mac_cache *cache);
int xv_mac_resolve(struct xv_mac_cache *cache, struct ib_pd *pd,
		   struct rdma_ah_attr *ah);

#endif /* _XV_DATA_MAC_H */
