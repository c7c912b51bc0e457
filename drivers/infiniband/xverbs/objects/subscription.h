/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * subscription: events of the device and its ports.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_OBJECTS_SUBSCRIPTION_H
#define _XV_OBJECTS_SUBSCRIPTION_H

#include "../core/event.h"

/**
 * struct xv_subscription - what makes events of the device come to a queue
 * @uobj: the object
 * @link: in xv_dev.subs; under xv_dev.subs_lock
 * @events: the events
 * @nodes: one node for each kind, of those of a port one for each port
 */
struct xv_subscription {
	struct xv_uobj uobj;
	struct list_head link;
	struct xv_evsource events;
	struct xv_evnode *nodes;
};

static inline struct xv_subscription *xv_to_subscription(struct xv_uobj *obj)
{
	return container_of(obj, struct xv_subscription, uobj);
}

#endif /* _XV_OBJECTS_SUBSCRIPTION_H */
