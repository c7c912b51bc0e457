// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Objects: handles, locks, dependency edges, zombies, tear-down.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/cgroup_rdma.h>
#include <linux/kmemleak.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "../device.h"
#include "../trace.h"
#include "txn.h"
#include "uobj.h"

static void uobj_free(struct kref *ref)
{
	struct xv_uobj *obj = container_of(ref, struct xv_uobj, ref);
	struct xv_file *file = obj->file;

	if (obj->type->ops->free)
		obj->type->ops->free(obj);
	kfree_rcu(obj, rcu);
	xv_file_put(file);
}

/**
 * xv_uobj_put - drop a reference
 * @obj: the object
 *
 * Context: may sleep, unless somebody else is known to hold one too.
 */
void xv_uobj_put(struct xv_uobj *obj)
{
	kref_put(&obj->ref, uobj_free);
}

/**
 * xv_uobj_lookup - find a live object and hold its memory
 * @file: the file
 * @handle: the handle, as the user gave it
 *
 * Return: the object with a reference, or NULL.
 */
struct xv_uobj *xv_uobj_lookup(struct xv_file *file, u32 handle)
{
	struct xv_uobj *obj;

	rcu_read_lock();
	obj = xa_load(&file->objs, handle);
	if (obj && (!xv_uobj_is_live(obj) || !kref_get_unless_zero(&obj->ref)))
		obj = NULL;
	rcu_read_unlock();
	return obj;
}

bool xv_uobj_try_read(struct xv_uobj *obj)
{
	return atomic_inc_unless_negative(&obj->usecnt);
}

bool xv_uobj_try_write(struct xv_uobj *obj)
{
	return atomic_cmpxchg(&obj->usecnt, 0, -1) == 0;
}

void xv_uobj_unlock_read(struct xv_uobj *obj)
{
	atomic_dec(&obj->usecnt);
}

void xv_uobj_unlock_write(struct xv_uobj *obj)
{
	atomic_set_release(&obj->usecnt, 0);
}

static int charge_rdma_cgroup(struct xv_call *call, struct xv_opx *op,
			      struct xv_uobj *obj)
{
	int ret = 0;

#ifdef CONFIG_CGROUP_RDMA
	ret = rdmacg_try_charge(&obj->cg, &call->ibdev->cg_device,
				RDMACG_RESOURCE_HCA_OBJECT);
#endif
	return ret ? xv_fail_raw(call, op, XV_R_RDMA_CGROUP, ret) : 0;
}

static void uncharge_rdma_cgroup(struct xv_uobj *obj)
{
#ifdef CONFIG_CGROUP_RDMA
	if (obj->cg)
		rdmacg_uncharge(obj->cg, &obj->file->dev->ibdev->cg_device,
				RDMACG_RESOURCE_HCA_OBJECT);
#endif
	obj->cg = NULL;
}

/**
 * xv_uobj_reserve - get phase of a new object
 * @call: the call
 * @op: the operation that makes it; gets the object in @op->obj
 *
 * The object is write-locked and its handle is taken, but answers nobody. The
 * call has a reference, since an event queue can be closed as soon as it is
 * published.
 *
 * Return: 0 or what xv_fail() returned.
 */
int xv_uobj_reserve(struct xv_call *call, struct xv_opx *op)
{
	const struct xv_type_ops *ops = op->type->ops;
	struct xv_file *file = call->file;
	struct xv_uobj *obj;
	u32 i;
	int ret;

	if (xv_fault(XV_FAULT_GET))
		return xv_fail(call, op, 0, 0, XV_R_MEMORY, 0);
	obj = kzalloc(ops->size, XV_GFP);
	if (!obj)
		return xv_fail(call, op, 0, 0, XV_R_MEMORY, 0);
	/* One for its existence and one for the call. */
	kref_init(&obj->ref);
	kref_get(&obj->ref);
	atomic_set(&obj->usecnt, -1);
	obj->type = op->type;
	obj->file = file;
	kref_get(&file->ref);
	INIT_LIST_HEAD(&obj->children);
	obj->num_edges = ops->num_edges;
	obj->edges = (void *)obj + ops->edges;
	for (i = 0; i < obj->num_edges; i++)
		obj->edges[i].child = obj;

	/* Event queues are no resource of the device and may outlive it. */
	if (!ops->fd) {
		ret = charge_rdma_cgroup(call, op, obj);
		if (ret)
			goto err_free;
	}
	if (ops->reserve) {
		ret = ops->reserve(call, op, obj);
		if (ret)
			goto err_uncharge;
	} else {
		ret = xa_alloc_cyclic(&file->objs, &obj->handle, obj,
				      XA_LIMIT(1, S32_MAX), &file->next_handle,
				      XV_GFP);
		if (ret < 0) {
			ret = xv_fail(call, op, 0, 0, ret == -EBUSY ?
				      XV_R_FILES : XV_R_MEMORY, 0);
			goto err_uncharge;
		}
	}
	spin_lock(&file->graph);
	obj->seq = file->next_seq++;
	list_add_tail(&obj->all, &file->objects);
	file->counts[obj->type->id]++;
	spin_unlock(&file->graph);
	op->obj = obj;
	return 0;

err_uncharge:
	uncharge_rdma_cgroup(obj);
err_free:
	kfree(obj);
	xv_file_put(file);
	return ret;
}

/* Out of all lists; the caller has nothing left but its reference. */
static void uobj_forget(struct xv_uobj *obj)
{
	struct xv_file *file = obj->file;
	u32 i;

	spin_lock(&file->graph);
	for (i = 0; i < obj->num_edges; i++) {
		if (!obj->edges[i].parent)
			continue;
		list_del(&obj->edges[i].link);
		obj->edges[i].parent->num_children--;
		obj->edges[i].parent = NULL;
	}
	list_del(&obj->all);
	file->counts[obj->type->id]--;
	obj->state = XV_S_DYING;
	spin_unlock(&file->graph);
	if (obj->handle)
		xa_erase(&file->objs, obj->handle);
	uncharge_rdma_cgroup(obj);
	xv_uobj_put(obj);
}

/**
 * xv_uobj_unreserve - undo xv_uobj_reserve()
 * @obj: an object whose hardware does not exist
 */
void xv_uobj_unreserve(struct xv_uobj *obj)
{
	if (obj->type->ops->unreserve)
		obj->type->ops->unreserve(obj);
	uobj_forget(obj);
}

/**
 * xv_uobj_link - make an object depend on another
 * @obj: the new, still unpublished object
 * @edge: which of its edges to use
 * @parent: an object that this call has locked or makes
 */
void xv_uobj_link(struct xv_uobj *obj, u32 edge, struct xv_uobj *parent)
{
	struct xv_file *file = obj->file;

	spin_lock(&file->graph);
	obj->edges[edge].parent = parent;
	list_add_tail(&obj->edges[edge].link, &parent->children);
	parent->num_children++;
	spin_unlock(&file->graph);
}

/**
 * xv_uobj_num_children - how many objects depend on this one
 * @obj: the object
 *
 * Return: the number of edges that end there.
 */
u32 xv_uobj_num_children(struct xv_uobj *obj)
{
	/* A look from outside: it may change as soon as it was taken. */
	return READ_ONCE(obj->num_children);
}

/**
 * xv_uobj_outside_child - a dependent which does not belong to a destroy set
 * @obj: a write-locked member of the set
 * @call: the call that destroys the set
 *
 * The answer stays true while @obj is write-locked, since a new dependent
 * would need to read-lock it.
 *
 * Return: such a dependent with a reference, or NULL.
 */
struct xv_uobj *xv_uobj_outside_child(struct xv_uobj *obj, struct xv_call *call)
{
	struct xv_uobj *found = NULL;
	struct xv_edge *edge;

	spin_lock(&obj->file->graph);
	list_for_each_entry(edge, &obj->children, link) {
		if (edge->child->set != call) {
			found = edge->child;
			xv_uobj_get(found);
			break;
		}
	}
	spin_unlock(&obj->file->graph);
	return found;
}

/**
 * xv_uobj_publish - the object's handle answers from now on
 * @obj: a new object, write-locked
 */
void xv_uobj_publish(struct xv_uobj *obj)
{
	/* What lookups find is complete (pairs with xv_uobj_is_live()). */
	smp_store_release(&obj->state, XV_S_LIVE);
	if (obj->type->ops->publish)
		obj->type->ops->publish(obj);
}

/**
 * xv_uobj_unpublish - the object's handle answers no more
 * @obj: a live object, write-locked
 * @why: why it goes
 */
void xv_uobj_unpublish(struct xv_uobj *obj, enum xv_why why)
{
	if (why != XV_WHY_REMOVE) {
		spin_lock(&obj->file->graph);
		obj->state = XV_S_DYING;
		spin_unlock(&obj->file->graph);
	}
	if (obj->type->ops->unpublish)
		obj->type->ops->unpublish(obj, why);
}

/* Destroy the hardware object, unless a zombie still needs it. */
static int uobj_destroy_hw(struct xv_uobj *obj, enum xv_why why)
{
	int ret = 0;

	if (!obj->hw)
		return 0;
	spin_lock(&obj->file->graph);
	if (why == XV_WHY_REMOVE) {
		struct xv_edge *edge;

		/* Children stay in the graph: only their hardware is gone. */
		list_for_each_entry(edge, &obj->children, link)
			if (edge->child->hw)
				ret = -EBUSY;
	} else if (!list_empty(&obj->children)) {
		ret = -EBUSY;
	}
	spin_unlock(&obj->file->graph);
	if (!ret)
		ret = xv_fault_destroy();
	if (!ret)
		ret = obj->type->ops->destroy(obj, why);
	trace_xv_destroy(obj, why, ret);
	if (!ret)
		obj->hw = false;
	return ret;
}

static void uobj_make_zombie(struct xv_uobj *obj)
{
	struct xv_file *file = obj->file;

	if (obj->state == XV_S_ZOMBIE)
		return;
	/* All this first: once it is in the list another call may free it. */
	if (obj->handle)
		xa_erase(&file->objs, obj->handle);
	atomic_inc(&file->dev->num_zombies);
	spin_lock(&file->graph);
	obj->state = XV_S_ZOMBIE;
	/* The call that failed to destroy it ends; it is in no set any more. */
	obj->set = NULL;
	list_move_tail(&obj->all, &file->zombies);
	spin_unlock(&file->graph);
}

/**
 * xv_uobj_kill - destroy an object that nobody can reach any more
 * @obj: the object: write-locked and unpublished, or never published
 * @why: why it goes
 *
 * Children come before parents. If the driver refuses, or if a child has
 * become a zombie, the object becomes a zombie itself.
 *
 * Context: may sleep, for as long as the driver waits.
 */
void xv_uobj_kill(struct xv_uobj *obj, enum xv_why why)
{
	bool zombie = obj->state == XV_S_ZOMBIE;
	struct xv_dev *dev = obj->file->dev;

	if (uobj_destroy_hw(obj, why)) {
		uobj_make_zombie(obj);
		return;
	}
	if (zombie) {
		/* The handle went when it became one, and may be in use. */
		obj->handle = 0;
		atomic_dec(&dev->num_zombies);
	}
	uobj_forget(obj);
}

/**
 * xv_file_charge - charge rings of the driver to the file's budget
 * @file: the file
 * @bytes: estimate of the memory that the driver takes
 *
 * Return: 0, or -ENOMEM if the budget does not allow it.
 */
int xv_file_charge(struct xv_file *file, u64 bytes)
{
	if (atomic64_add_return(bytes, &file->budget) <= XV_FILE_BUDGET)
		return 0;
	atomic64_sub(bytes, &file->budget);
	return -ENOMEM;
}

void xv_file_uncharge(struct xv_file *file, u64 bytes)
{
	atomic64_sub(bytes, &file->budget);
}

static void file_free(struct kref *ref)
{
	struct xv_file *file = container_of(ref, struct xv_file, ref);

	file->free(file);
}

void xv_file_put(struct xv_file *file)
{
	kref_put(&file->ref, file_free);
}

bool xv_file_has_zombies(struct xv_file *file)
{
	bool has;

	spin_lock(&file->graph);
	has = !list_empty(&file->zombies);
	spin_unlock(&file->graph);
	return has;
}

/* The newest object that the walk has not seen; parents come after children. */
static struct xv_uobj *older_object(struct xv_file *file, struct xv_uobj *obj)
{
	struct list_head *pos;

	spin_lock(&file->graph);
	pos = obj ? obj->all.prev : file->objects.prev;
	obj = pos == &file->objects ? NULL :
	      list_entry(pos, struct xv_uobj, all);
	spin_unlock(&file->graph);
	return obj;
}

/* Zombies stand in the order in which they failed: children come first. */
static struct xv_uobj *next_zombie(struct xv_file *file, struct xv_uobj *obj)
{
	struct list_head *pos;

	spin_lock(&file->graph);
	pos = obj ? obj->all.next : file->zombies.next;
	obj = pos == &file->zombies ? NULL :
	      list_entry(pos, struct xv_uobj, all);
	spin_unlock(&file->graph);
	return obj;
}

static void retry_zombies(struct xv_file *file)
{
	struct xv_uobj *obj;
	struct xv_uobj *next;

	lockdep_assert_held(&file->teardown);
	for (obj = next_zombie(file, NULL); obj; obj = next) {
		next = next_zombie(file, obj);
		xv_uobj_kill(obj, XV_WHY_CLOSE);
		cond_resched();
	}
}

/**
 * xv_file_close - destroy everything on a file that nobody uses any more
 * @file: the file
 *
 * Event queues are told, but go only when their own descriptor is closed.
 *
 * Context: no call of the file is running; the device is there, or removal
 * has been here before. May sleep.
 */
void xv_file_close(struct xv_file *file)
{
	struct xv_uobj *obj;
	struct xv_uobj *next;

	mutex_lock(&file->teardown);
	retry_zombies(file);
	for (obj = older_object(file, NULL); obj; obj = next) {
		next = older_object(file, obj);
		xv_uobj_unpublish(obj, XV_WHY_CLOSE);
		if (!obj->type->ops->fd)
			xv_uobj_kill(obj, XV_WHY_CLOSE);
		/* There may be any number. */
		cond_resched();
	}
	mutex_unlock(&file->teardown);
}

/* Objects of all devices that were given up at removal. */
atomic_t xv_num_leaked = ATOMIC_INIT(0);

/* What the driver does not destroy now is leaked for good, with our code. */
static void destroy_or_leak(struct xv_uobj *obj)
{
	struct xv_dev *dev = obj->file->dev;
	bool leak = uobj_destroy_hw(obj, XV_WHY_REMOVE);

	uncharge_rdma_cgroup(obj);
	if (!leak)
		return;
	atomic_inc(&xv_num_leaked);
	/* The driver may still call us, and with this object. */
	__module_get(THIS_MODULE);
	xv_uobj_get(obj);
	kmemleak_not_leak(obj);
	pr_err_ratelimited("%s: the driver does not destroy a %s: leaked\n",
			   dev_name(&dev->dev), obj->type->name);
}

/* After removal nobody may call the driver, whatever became of the hardware. */
static void forget_hw(struct xv_file *file)
{
	struct xv_uobj *obj;

	spin_lock(&file->graph);
	list_for_each_entry(obj, &file->zombies, all)
		obj->hw = false;
	list_for_each_entry(obj, &file->objects, all)
		obj->hw = false;
	spin_unlock(&file->graph);
}

/**
 * xv_file_remove - destroy the hardware of everything on a file
 * @file: the file
 *
 * The objects stay, so that the user can destroy their handles; but for
 * zombies, which nobody can name.
 *
 * Context: no call of the file is running, except those that saw the device
 * gone; they wait for @file->teardown. May sleep.
 */
void xv_file_remove(struct xv_file *file)
{
	struct xv_uobj *obj;

	mutex_lock(&file->teardown);
	for (obj = next_zombie(file, NULL); obj; obj = next_zombie(file, obj))
		destroy_or_leak(obj);
	for (obj = older_object(file, NULL); obj;
	     obj = older_object(file, obj)) {
		xv_uobj_unpublish(obj, XV_WHY_REMOVE);
		destroy_or_leak(obj);
		cond_resched();
	}
	forget_hw(file);
	retry_zombies(file);
	file->gone = true;
	mutex_unlock(&file->teardown);
}

/**
 * xv_file_retry_zombies - ask the driver once more
 * @file: the file
 *
 * Context: the device is there. May sleep.
 */
void xv_file_retry_zombies(struct xv_file *file)
{
	mutex_lock(&file->teardown);
	retry_zombies(file);
	mutex_unlock(&file->teardown);
}
