/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Objects: handles, locks, dependency edges, zombies, tear-down.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Life of an object:
 *
 *	NEW	reserved by a transaction, write-locked, found by nobody
 *	LIVE	published; its handle answers
 *	DYING	unpublished for good; being destroyed, or already gone
 *	ZOMBIE	the driver refused to destroy it: no handle, keeps its parents
 *
 * Lock order, outermost first:
 *
 *	xv_dev.srcu		read: a whole call, except where it sleeps for
 *				the user; removal waits for it
 *	xv_file.teardown	tear-down of one file; after removal: any call
 *	xv_uobj.usecnt		try only, ascending handles; never waited for
 *	locks of the data path	data/data.h
 *	xv_file.graph (spin)	states, edges, lists of objects
 *	xv_eventq.lock (spin, irq)
 *
 * Nobody ever waits for an object lock, hence there is no hold-and-wait and no
 * deadlock; taking them in ascending order means that of two calls which want
 * the same objects at least one gets them all.
 */
#ifndef _XV_CORE_UOBJ_H
#define _XV_CORE_UOBJ_H

#include <linux/atomic.h>
#include <linux/gfp.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include "spec.h"

struct mem_cgroup;
struct net;
struct rdma_cgroup;
struct seq_file;
struct xv_areas;

/* Types are numbered below this; struct xv_device_info has room for as many. */
#define XV_NUM_TYPES	16

enum xv_uobj_state {
	XV_S_NEW,
	XV_S_LIVE,
	XV_S_DYING,
	XV_S_ZOMBIE,
};

enum xv_why {
	XV_WHY_ABORT,	/* its transaction failed */
	XV_WHY_DESTROY,	/* the user asked */
	XV_WHY_CLOSE,	/* the file was closed */
	XV_WHY_REMOVE,	/* the device goes away */
};

/**
 * struct xv_edge - "child depends on parent", embedded in the child
 * @parent: the object depended on; NULL if the edge is not used
 * @child: the dependent object
 * @link: in the parent's list of children; under xv_file.graph
 */
struct xv_edge {
	struct xv_uobj *parent;
	struct xv_uobj *child;
	struct list_head link;
};

/**
 * struct xv_uobj - what all objects have in common; first member of each
 * @ref: holds the memory; freed after an RCU grace period
 * @usecnt: the object lock: n readers, or -1 for the one writer
 * @state: enum xv_uobj_state; changed under xv_file.graph
 * @hw: its hardware object exists
 * @handle: its name; 0 for event queues
 * @seq: order of creation on its file
 * @type: its type
 * @file: the file that it lives on; held, since a work item or an event queue
 *	may have the last reference
 * @all: in xv_file.objects or xv_file.zombies; under xv_file.graph
 * @children: edges of the objects that depend on it; under xv_file.graph
 * @num_children: number of @children
 * @edges: its own edges to parents, in the type's struct
 * @num_edges: number of @edges
 * @cg: rdma cgroup that was charged
 * @set: the transaction that destroys it, during that transaction
 * @rcu: for the deferred free
 */
struct xv_uobj {
	struct kref ref;
	atomic_t usecnt;
	u8 state;
	bool hw;
	u8 num_edges;
	u32 handle;
	u64 seq;
	const struct xv_type *type;
	struct xv_file *file;
	struct list_head all;
	struct list_head children;
	u32 num_children;
	struct xv_edge *edges;
	struct rdma_cgroup *cg;
	union {
		struct xv_call *set;
		struct rcu_head rcu;
	};
};

/**
 * struct xv_type_ops - how the framework handles objects of a type
 * @size: bytes of the type's struct, which begins with its struct xv_uobj
 * @edges: offset of its array of edges
 * @num_edges: number of them
 * @fd: objects are file descriptors (they take part in no locking)
 * @grace: others use pointers to it inside RCU read sections: after it was
 *	unpublished wait for one grace period before @destroy
 * @reserve: get phase of a file descriptor; see core/event.c
 * @unreserve: undo @reserve
 * @lookup: find the object behind the user's value; returns it with a
 *	reference, or NULL
 * @can_destroy: after all locks are held: may it go? Returns 0 or what
 *	xv_fail() returned
 * @destroy: destroy the hardware object and all that hangs on it. Returns 0,
 *	or the driver's error: then the object is as before, but for being out
 *	of reach, and @destroy may be called again. Must not fail for
 *	objects whose hardware was never made
 * @publish: the object becomes visible; unmute its event sources. Atomic
 * @unpublish: the object went out of sight: stop its events and wake who
 *	sleeps on it; on %XV_WHY_REMOVE events already queued stay. May sleep
 * @free: drop what only the memory holds; may sleep
 */
struct xv_type_ops {
	size_t size;
	size_t edges;
	u8 num_edges;
	bool fd;
	bool grace;
	int (*reserve)(struct xv_call *call, struct xv_opx *op,
		       struct xv_uobj *obj);
	void (*unreserve)(struct xv_uobj *obj);
	struct xv_uobj *(*lookup)(struct xv_file *file, u64 value);
	int (*can_destroy)(struct xv_call *call, struct xv_opx *op,
			   struct xv_uobj *obj);
	int (*destroy)(struct xv_uobj *obj, enum xv_why why);
	void (*publish)(struct xv_uobj *obj);
	void (*unpublish)(struct xv_uobj *obj, enum xv_why why);
	void (*free)(struct xv_uobj *obj);
};

/**
 * struct xv_file - an open device file
 * @ref: the open file, and the memory of each object
 * @free: frees it with all that it owns
 * @dev: its device; held
 * @link: in xv_dev.files; a closed file stays there while it has zombies
 * @closed: released by its last user; under xv_dev.files_lock
 * @teardown: held while objects are torn down, and by calls after removal
 * @gone: the device was removed and the objects' hardware is destroyed
 * @graph: protects states, edges and lists of objects
 * @objs: handle to object
 * @next_handle: for cyclic allocation, so that no handle is reused soon
 * @next_seq: for xv_uobj.seq; under @graph
 * @objects: all objects but zombies, parents before children; under @graph
 * @zombies: objects which the driver refused to destroy, children before
 *	parents; under @graph
 * @counts: objects by type; under @graph
 * @budget: bytes of driver rings in use
 * @net: network namespace of the opener; held
 * @areas: ring areas, see data/area.c
 * @scratch: one spare buffer for building work requests, see data/post.c
 * @memcg: memory cgroup of the opener
 * @cg: rdma cgroup charged for the file
 * @pid: of the opener, for people
 * @comm: of the opener, for people
 */
struct xv_file {
	struct kref ref;
	void (*free)(struct xv_file *file);
	struct xv_dev *dev;
	struct list_head link;
	struct mutex teardown;	/* see the lock order above */
	bool closed;
	bool gone;
	spinlock_t graph;	/* see the lock order above */
	struct xarray objs;
	u32 next_handle;
	u64 next_seq;
	struct list_head objects;
	struct list_head zombies;
	u32 counts[XV_NUM_TYPES];
	atomic64_t budget;
	struct net *net;
	struct xv_areas *areas;
	void *scratch;
	struct mem_cgroup *memcg;
	struct rdma_cgroup *cg;
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

/*
 * For all memory that a program can make us take: it counts in the memory cgroup
 * of the opener, and its limit is ENOMEM to that program; without RETRY_MAYFAIL
 * the cgroup would have one of its processes killed instead.
 */
#define XV_GFP	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* A file's budget for rings of the driver, in bytes. */
#define XV_FILE_BUDGET	(512ULL << 20)

/* What a driver is taken to need for one work request, for that budget. */
#define XV_WQE_BYTES	256

/* ---- for the types ---- */

struct xv_uobj *xv_uobj_lookup(struct xv_file *file, u32 handle);
void xv_uobj_put(struct xv_uobj *obj);
void xv_uobj_link(struct xv_uobj *obj, u32 edge, struct xv_uobj *parent);
u32 xv_uobj_num_children(struct xv_uobj *obj);
int xv_file_charge(struct xv_file *file, u64 bytes);
void xv_file_uncharge(struct xv_file *file, u64 bytes);

static inline void xv_uobj_get(struct xv_uobj *obj)
{
	kref_get(&obj->ref);
}

/* Live objects only; a published object is fully built (pairs with publish). */
static inline bool xv_uobj_is_live(const struct xv_uobj *obj)
{
	/* Pairs with xv_uobj_publish(). */
	return smp_load_acquire(&obj->state) == XV_S_LIVE;
}

/**
 * xv_uobj_peek - find a live object of a type
 * @file: the file
 * @handle: the handle, as the user gave it
 * @type: enum xv_object
 *
 * Context: RCU read section; the result is valid inside it.
 * Return: the object or NULL.
 */
static inline struct xv_uobj *xv_uobj_peek(struct xv_file *file, u32 handle,
					   u16 type)
{
	struct xv_uobj *obj = xa_load(&file->objs, handle);

	if (!obj || !xv_uobj_is_live(obj) || obj->type->id != type)
		return NULL;
	return obj;
}

/* ---- for transactions ---- */

bool xv_uobj_try_read(struct xv_uobj *obj);
bool xv_uobj_try_write(struct xv_uobj *obj);
void xv_uobj_unlock_read(struct xv_uobj *obj);
void xv_uobj_unlock_write(struct xv_uobj *obj);

int xv_uobj_reserve(struct xv_call *call, struct xv_opx *op);
void xv_uobj_unreserve(struct xv_uobj *obj);
void xv_uobj_publish(struct xv_uobj *obj);
void xv_uobj_unpublish(struct xv_uobj *obj, enum xv_why why);
void xv_uobj_kill(struct xv_uobj *obj, enum xv_why why);
struct xv_uobj *xv_uobj_outside_child(struct xv_uobj *obj, struct xv_call *call);

/* ---- for files and devices ---- */

void xv_file_put(struct xv_file *file);
void xv_file_close(struct xv_file *file);
void xv_file_remove(struct xv_file *file);
void xv_file_retry_zombies(struct xv_file *file);
bool xv_file_has_zombies(struct xv_file *file);

extern atomic_t xv_num_leaked;

#endif /* _XV_CORE_UOBJ_H */
