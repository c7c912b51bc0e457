/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mcast: membership of a queue pair in a multicast group.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_OBJECTS_MCAST_H
#define _XV_OBJECTS_MCAST_H

#include "../core/uobj.h"

struct net;
struct socket;

/**
 * struct xv_mcast - a membership
 * @uobj: the object
 * @edges: to the queue pair
 * @sock: the socket through which the network interface is in the IP group, or
 *	NULL; closing it leaves the group
 * @net: its network namespace, held, or NULL
 * @info: what the user asks for
 */
struct xv_mcast {
	struct xv_uobj uobj;
	struct xv_edge edges[1];
	struct socket *sock;
	struct net *net;
	struct xv_mcast_info info;
};

static inline struct xv_mcast *xv_to_mcast(struct xv_uobj *obj)
{
	return container_of(obj, struct xv_mcast, uobj);
}

#endif /* _XV_OBJECTS_MCAST_H */
