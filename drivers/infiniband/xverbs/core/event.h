/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Event queues and what puts events there.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Queueing an event cannot fail: the source embeds a node for each kind of
 * event that it can raise, and equal events which nobody has read are counted
 * in that node.
 */
#ifndef _XV_CORE_EVENT_H
#define _XV_CORE_EVENT_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include "uobj.h"

/**
 * struct xv_eventq - an event queue, a file descriptor
 * @uobj: the object
 * @lock: protects all below; taken in any context
 * @nodes: nodes with events, oldest first
 * @wait: readers and pollers
 * @closed: the descriptor was closed; sources may still hold the memory
 * @eof: the device file was closed: no more events
 * @removed: the device is gone
 * @told: the event of that was read
 * @filp: the file, until it is published
 * @fd: its descriptor, until it is published
 */
struct xv_eventq {
	struct xv_uobj uobj;
	spinlock_t lock;	/* see the lock order in uobj.h */
	struct list_head nodes;
	wait_queue_head_t wait;
	bool closed;
	bool eof;
	bool removed;
	bool told;
	struct file *filp;
	int fd;
};

/**
 * struct xv_evnode - one kind of event of one source
 * @link: in xv_eventq.nodes if there is one to read
 * @source: the source
 * @type: enum xv_event_type
 * @count: how many
 * @cookie: what the event carries; the source's unless it was raised with
 *	another one
 * @data: &xv_event.data
 */
struct xv_evnode {
	struct list_head link;
	struct xv_evsource *source;
	u16 type;
	u32 count;
	u64 cookie;
	u64 data;
};

/**
 * struct xv_evsource - an object that can raise events
 * @q: the queue, its memory held; NULL if the object has none
 * @obj: the object
 * @cookie: the user's cookie
 * @mask: kinds of events that the user wants, by enum xv_event_type
 * @muted: the object is not published yet: events wait in their nodes
 * @stopped: the object was unpublished: no more events
 * @num: number of @nodes
 * @nodes: a node for each kind
 */
struct xv_evsource {
	struct xv_eventq *q;
	struct xv_uobj *obj;
	u64 cookie;
	u64 mask;
	bool muted;
	bool stopped;
	u32 num;
	struct xv_evnode *nodes;
};

void xv_evsource_init(struct xv_evsource *src, const struct xv_opx *op,
		      struct xv_uobj *obj, struct xv_evnode *nodes,
		      const u16 *types, u32 num);
void xv_evsource_unmute(struct xv_evsource *src);
void xv_evsource_stop(struct xv_evsource *src);
void xv_evsource_free(struct xv_evsource *src);
void xv_event_raise(struct xv_evsource *src, u16 type);
void xv_event_raise_data(struct xv_evsource *src, u16 type, u64 data);
void xv_event_raise_as(struct xv_evsource *src, u16 type, u64 cookie);
void xv_event_raise_node(struct xv_evnode *node, u64 data);
void xv_event_cancel(struct xv_evnode *node);

int xv_eventq_reserve(struct xv_call *call, struct xv_opx *op,
		      struct xv_uobj *obj);
void xv_eventq_unreserve(struct xv_uobj *obj);
struct xv_uobj *xv_eventq_lookup(struct xv_file *file, u64 fd);
void xv_eventq_publish(struct xv_uobj *obj);
void xv_eventq_unpublish(struct xv_uobj *obj, enum xv_why why);

extern const struct xv_group_spec xv_group_events;

#endif /* _XV_CORE_EVENT_H */
