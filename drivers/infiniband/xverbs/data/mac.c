// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Link addresses of remote GIDs.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * For a kernel QP nobody resolves the destination's MAC address; with a zero
 * one rxe sends to nowhere. The core resolves it for an address handle, which
 * costs a trip through a work queue; so what was found is kept until a
 * neighbour or a GID changes.
 */
#include <linux/jhash.h>
#include <linux/string.h>
#include "mac.h"

void xv_mac_init(struct xv_mac_cache *cache)
{
	spin_lock_init(&cache->lock);
}

/**
 * xv_mac_drop - forget everything
 * @cache: the cache
 *
 * Context: any.
 */
void xv_mac_drop(struct xv_mac_cache *cache)
{
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&cache->lock, flags);
	cache->epoch++;
	for (i = 0; i < XV_MAC_SLOTS; i++)
		cache->slots[i].valid = false;
	spin_unlock_irqrestore(&cache->lock, flags);
}

static struct xv_mac *mac_slot(struct xv_mac_cache *cache,
			       const struct rdma_ah_attr *ah)
{
	u32 hash = jhash(ah->grh.dgid.raw, sizeof(ah->grh.dgid.raw),
			 ah->port_num << 16 | ah->grh.sgid_index);

	return &cache->slots[hash & (XV_MAC_SLOTS - 1)];
}

static bool mac_matches(const struct xv_mac *slot, const struct rdma_ah_attr *ah)
{
	return slot->valid && slot->port == ah->port_num &&
	       slot->sgid_index == ah->grh.sgid_index &&
	       !memcmp(&slot->dgid, &ah->grh.dgid, sizeof(slot->dgid));
}

/**
 * xv_mac_resolve - fill in the destination's link address
 * @cache: the cache
 * @pd: a PD of the device
 * @ah: the address; its MAC is filled in. On a link that is not Ethernet
 *	nothing is done
 *
 * Context: may sleep, for as long as neighbour discovery takes (1 s).
 * Return: 0 or what the core answered.
 */
int xv_mac_resolve(struct xv_mac_cache *cache, struct ib_pd *pd,
		   struct rdma_ah_attr *ah)
{
	struct rdma_ah_attr copy = *ah;
	struct xv_mac *slot = mac_slot(cache, ah);
	struct ib_ah *ibah;
	bool found = false;
	u32 epoch;

	if (ah->type != RDMA_AH_ATTR_TYPE_ROCE)
		return 0;
	spin_lock_irq(&cache->lock);
	epoch = cache->epoch;
	if (mac_matches(slot, ah)) {
		memcpy(ah->roce.dmac, slot->mac, ETH_ALEN);
		found = true;
	}
	spin_unlock_irq(&cache->lock);
	if (found)
		return 0;

	ibah = rdma_create_user_ah(pd, &copy, NULL);
	if (IS_ERR(ibah))
		return PTR_ERR(ibah);
	rdma_destroy_ah_user(ibah, RDMA_DESTROY_AH_SLEEPABLE, NULL);
	memcpy(ah->roce.dmac, copy.roce.dmac, ETH_ALEN);

	spin_lock_irq(&cache->lock);
	/* If something changed meanwhile the answer may be old: do not keep it. */
	if (epoch == cache->epoch) {
		slot->port = ah->port_num;
		slot->sgid_index = ah->grh.sgid_index;
		slot->dgid = ah->grh.dgid;
		memcpy(slot->mac, ah->roce.dmac, ETH_ALEN);
		slot->valid = true;
	}
	spin_unlock_irq(&cache->lock);
	return 0;
}
