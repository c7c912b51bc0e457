/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * cq: completion queue.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_OBJECTS_CQ_H
#define _XV_OBJECTS_CQ_H

#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "../core/event.h"
#include "../data/area.h"

struct xv_srq;

/**
 * struct xv_held - a completion for which the ring had no room
 * @wc: the completion
 * @srq: the receive is one of this SRQ; held by the queue pair
 * @done: what the queue's count of free slots becomes when it lies in the ring;
 *	of an SRQ: the slot which becomes free then
 * @gen: generation of the queue pair
 */
struct xv_held {
	struct xv_wc wc;
	struct xv_srq *srq;
	u32 done;
	u16 gen;
};

#define XV_CQ_NUM_EVENTS	2

/* What a CQ is watched for; the larger one comprises the smaller one. */
enum xv_watch {
	XV_WATCH_NOTHING,
	XV_WATCH_SOLICITED,	/* solicited receives, and errors */
	XV_WATCH_ANY,
};

/**
 * struct xv_cq - a completion queue
 * @uobj: the object
 * @ibcq: the hardware object
 * @lock: the CQ mutex: one reaper at a time; protects all below but what says
 *	otherwise. Lock order of the data path, outermost first: the handler mutex
 *	of a connection manager id, xv_qp.lock or xv_srq.lock (ring
 *	mutex), xv_cq.lock, xv_srq.slots_lock (spin) or xv_qp.conn_lock (spin,
 *	irq), xv_eventq.lock (spin, irq). One of a kind at a time
 * @chunk: its part of an area
 * @ring: head of the ring
 * @entries: the ring
 * @mask: entries - 1
 * @cqe: depth as asked for
 * @attached: sum of the depths of all attached queues, at most @cqe
 * @srqs: SRQs of the queue pairs that receive here, by handle; see data/srq.c
 * @srq_qps: these queue pairs, by the address of their hardware object
 * @tail: completions put into the ring; the shared copy is never read back
 * @held: completions that did not fit, or whose queue pair is not published
 *	yet, and those that came after them; @cqe of them at most
 * @held_first: the oldest of @held
 * @held_num: how many there are
 * @overflow: the user's flag of that name is set
 * @recv_depth: of @attached, what belongs to receives
 * @num_failed: attached queues whose queue pair has failed
 * @want_event: what the user armed it for, enum xv_watch; read by the
 *	completion handler
 * @armed: what the driver was asked to notify and has not yet, enum xv_watch
 * @hit: what the user armed it for has come, if that is %XV_WATCH_SOLICITED.
 *	Completions do not tell: it follows from the driver's notification
 * @found: the pass of the work item saw a receive or an error
 * @auto_reap: queues for which the kernel reaps by itself; likewise
 * @was_armed: at least once
 * @dead: unpublished: nobody waits and nothing is queued any more
 * @seq: counts notifications, so that no sleeper misses one
 * @wait: sleepers in ENTER
 * @work: reaps when nobody else does
 * @events: its events
 * @nodes: one node for each kind
 * @comp_vector: completion vector
 */
struct xv_cq {
	struct xv_uobj uobj;
	struct ib_cq *ibcq;
	struct mutex lock;	/* see the lock order above */
	struct xv_chunk chunk;
	struct xv_cq_ring *ring;
	struct xv_wc *entries;
	u32 mask;
	u32 cqe;
	u32 attached;
	struct rb_root srqs;
	struct rb_root srq_qps;
	u32 recv_depth;
	u32 num_failed;
	u32 tail;
	struct xv_held *held;
	u32 held_first;
	u32 held_num;
	bool overflow;
	u8 want_event;
	atomic_t armed;
	bool hit;
	bool found;
	bool was_armed;
	bool dead;
	u32 auto_reap;
	atomic_t seq;
	wait_queue_head_t wait;
	struct work_struct work;
	struct xv_evsource events;
	struct xv_evnode nodes[XV_CQ_NUM_EVENTS];
	u32 comp_vector;
};

static inline struct xv_cq *xv_to_cq(struct xv_uobj *obj)
{
	return container_of(obj, struct xv_cq, uobj);
}

#endif /* _XV_OBJECTS_CQ_H */
