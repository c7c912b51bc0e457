/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * srq: shared receive queue.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_OBJECTS_SRQ_H
#define _XV_OBJECTS_SRQ_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include "../core/event.h"
#include "../data/area.h"

#define XV_SRQ_NUM_EVENTS	2

enum xv_srq_slot_state {
	XV_SLOT_FREE,
	XV_SLOT_POSTED,		/* the driver has it */
	XV_SLOT_ENDED,		/* its completion waits in xv_cq.held */
};

/**
 * struct xv_srq_slot - what we keep of a receive until it has ended
 * @wr_id: the user's
 * @order: receives are posted, and so taken, in this order
 * @gen: changes with each use: no late completion ends another receive
 * @next: the next free slot
 * @state: enum xv_srq_slot_state
 */
struct xv_srq_slot {
	u64 wr_id;
	u64 order;
	u16 gen;
	u16 next;
	u8 state;
};

/**
 * struct xv_srq - a shared receive queue
 * @uobj: the object
 * @edges: to the PD
 * @ibsrq: the hardware object
 * @lock: the ring mutex: consuming entries; see the lock order in cq.h
 * @chunk: its part of an area
 * @ring: head of the ring
 * @recvs: the ring
 * @mask: entries - 1
 * @depth: receives outstanding at most
 * @sge: pieces of a receive, as asked for
 * @limit: as armed, 0 if it is not
 * @dead: unpublished; under @lock
 * @taken: entries consumed; under @lock
 * @uses: a struct xv_srq_use for each CQ where receives end; under @lock
 * @qps: queue pairs that take from it; under @lock
 * @slots_lock: protects what follows
 * @slots: one for each receive that may be outstanding
 * @free: the first free one
 * @done: receives whose slot is free again
 * @last_order: of the receive posted last
 * @max_order: the latest that is known to have been taken
 * @budget: bytes charged to the file's budget
 * @events: its events
 * @nodes: one node for each kind
 */
struct xv_srq {
	struct xv_uobj uobj;
	struct xv_edge edges[1];
	struct ib_srq *ibsrq;
	struct mutex lock;	/* see the lock order in cq.h */
	struct xv_chunk chunk;
	struct xv_srq_ring *ring;
	struct xv_recv *recvs;
	u32 mask;
	u32 depth;
	u32 sge;
	u32 limit;
	bool dead;
	u32 taken;
	struct list_head uses;
	struct list_head qps;
	spinlock_t slots_lock;	/* see the lock order in cq.h */
	struct xv_srq_slot *slots;
	u16 free;
	u32 done;
	u64 last_order;
	u64 max_order;
	u64 budget;
	struct xv_evsource events;
	struct xv_evnode nodes[XV_SRQ_NUM_EVENTS];
};

static inline struct xv_srq *xv_to_srq(struct xv_uobj *obj)
{
	return container_of(obj, struct xv_srq, uobj);
}

static inline struct xv_uobj *xv_srq_pd(const struct xv_srq *srq)
{
	return srq->edges[0].parent;
}

/* Can the device do it at all? */
static inline bool xv_srq_possible(const struct ib_device *ibdev)
{
	return ibdev->ops.create_srq && ibdev->ops.post_srq_recv &&
	       ibdev->ops.modify_srq && ibdev->attrs.max_srq > 0;
}

static inline u32 xv_srq_free(const struct xv_srq *srq)
{
	return srq->depth - (srq->taken - READ_ONCE(srq->done));
}

#endif /* _XV_OBJECTS_SRQ_H */
