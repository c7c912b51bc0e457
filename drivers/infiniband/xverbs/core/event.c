// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Event queues and what puts events there.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/pagemap.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "../trace.h"
#include "event.h"
#include "txn.h"

static const struct xv_attr_spec events_attrs[] = {
	{ .id = XV_EVENTS_QUEUE, .name = "queue", .kind = XV_K_READ,
	  .type = XV_OBJ_EVENTQ, .required = true },
	{ .id = XV_EVENTS_COOKIE, .name = "cookie", .kind = XV_K_U64,
	  .max = U64_MAX },
	{ .id = XV_EVENTS_MASK, .name = "mask", .kind = XV_K_U64,
	  .max = U64_MAX },
};

/* The group that every object which raises events takes at its creation. */
const struct xv_group_spec xv_group_events = {
	.id = XV_GRP_EVENTS, .name = "events",
	.attrs = events_attrs, .num_attrs = ARRAY_SIZE(events_attrs),
};

static struct xv_eventq *to_eventq(struct xv_uobj *obj)
{
	return container_of(obj, struct xv_eventq, uobj);
}

/* ---- sources ---- */

/**
 * xv_evsource_init - attach a new object to the event queue of its operation
 * @src: the source, zeroed
 * @op: the operation, whose method has the group "events"
 * @obj: the new object; muted until xv_evsource_unmute()
 * @nodes: a node for each kind of event
 * @types: the kinds, enum xv_event_type
 * @num: number of @nodes and @types
 *
 * Without that group in the operation the source has no queue, and raising
 * does nothing.
 */
void xv_evsource_init(struct xv_evsource *src, const struct xv_opx *op,
		      struct xv_uobj *obj, struct xv_evnode *nodes,
		      const u16 *types, u32 num)
{
	const struct xv_slot *slot = xv_slot(op, XV_GRP_EVENTS, XV_EVENTS_QUEUE);
	u32 i;

	src->obj = obj;
	src->muted = true;
	src->num = num;
	src->nodes = nodes;
	src->cookie = xv_value(op, XV_GRP_EVENTS, XV_EVENTS_COOKIE, 0);
	src->mask = xv_value(op, XV_GRP_EVENTS, XV_EVENTS_MASK, U64_MAX);
	for (i = 0; i < num; i++) {
		INIT_LIST_HEAD(&nodes[i].link);
		nodes[i].source = src;
		nodes[i].type = types[i];
		nodes[i].cookie = src->cookie;
	}
	if (!slot)
		return;
	src->q = to_eventq(slot->obj);
	xv_uobj_get(slot->obj);
}

static void queue_node(struct xv_eventq *q, struct xv_evnode *node)
{
	lockdep_assert_held(&q->lock);
	if (q->closed || !list_empty(&node->link))
		return;
	list_add_tail(&node->link, &q->nodes);
	wake_up_interruptible_poll(&q->wait, EPOLLIN | EPOLLRDNORM);
}

static void raise_node(struct xv_evnode *node, u64 cookie, u64 data)
{
	struct xv_evsource *src = node->source;

	lockdep_assert_held(&src->q->lock);
	if (src->stopped)
		return;
	if (node->count != U32_MAX)
		node->count++;
	node->cookie = cookie;
	node->data = data;
	if (!src->muted)
		queue_node(src->q, node);
}

/* Has the user asked for that kind? */
static bool wanted(const struct xv_evsource *src, u16 type)
{
	return src->mask >> type & 1;
}

static void raise(struct xv_evsource *src, u16 type, u64 cookie, u64 data)
{
	struct xv_eventq *q = src->q;
	unsigned long flags;
	u32 i;

	if (!q || !wanted(src, type))
		return;
	spin_lock_irqsave(&q->lock, flags);
	for (i = 0; i < src->num; i++) {
		if (src->nodes[i].type != type)
			continue;
		raise_node(&src->nodes[i], cookie, data);
		break;
	}
	spin_unlock_irqrestore(&q->lock, flags);
	trace_xv_event(src->obj, type);
}

/**
 * xv_event_raise - raise an event
 * @src: the source
 * @type: enum xv_event_type, one of the source's kinds
 *
 * Context: any.
 */
void xv_event_raise(struct xv_evsource *src, u16 type)
{
	raise(src, type, src->cookie, 0);
}

/**
 * xv_event_raise_data - raise an event that tells something
 * @src: the source
 * @type: enum xv_event_type, one of the source's kinds
 * @data: &xv_event.data; of equal events the last one's
 *
 * Context: any.
 */
void xv_event_raise_data(struct xv_evsource *src, u16 type, u64 data)
{
	raise(src, type, src->cookie, data);
}

/**
 * xv_event_raise_as - raise an event with a cookie of its own
 * @src: the source
 * @type: enum xv_event_type, one of the source's kinds
 * @cookie: &xv_event.cookie; of equal events the last one's
 *
 * Context: any.
 */
void xv_event_raise_as(struct xv_evsource *src, u16 type, u64 cookie)
{
	raise(src, type, cookie, 0);
}

/**
 * xv_event_raise_node - raise one of several events of the same kind
 * @node: the node of that one
 * @data: &xv_event.data
 *
 * Context: any.
 */
void xv_event_raise_node(struct xv_evnode *node, u64 data)
{
	struct xv_evsource *src = node->source;
	unsigned long flags;

	if (!src->q || !wanted(src, node->type))
		return;
	spin_lock_irqsave(&src->q->lock, flags);
	raise_node(node, src->cookie, data);
	spin_unlock_irqrestore(&src->q->lock, flags);
	trace_xv_event(src->obj, node->type);
}

/**
 * xv_event_cancel - what the event told is not so any more
 * @node: the node; if its event was not read yet it never will be
 *
 * Context: any.
 */
void xv_event_cancel(struct xv_evnode *node)
{
	struct xv_evsource *src = node->source;
	unsigned long flags;

	if (!src->q)
		return;
	spin_lock_irqsave(&src->q->lock, flags);
	node->count = 0;
	list_del_init(&node->link);
	spin_unlock_irqrestore(&src->q->lock, flags);
}

/**
 * xv_evsource_unmute - the object is published: events may be read
 * @src: the source
 *
 * Context: atomic.
 */
void xv_evsource_unmute(struct xv_evsource *src)
{
	unsigned long flags;
	u32 i;

	if (!src->q)
		return;
	spin_lock_irqsave(&src->q->lock, flags);
	src->muted = false;
	for (i = 0; i < src->num; i++)
		if (src->nodes[i].count)
			queue_node(src->q, &src->nodes[i]);
	spin_unlock_irqrestore(&src->q->lock, flags);
}

/**
 * xv_evsource_stop - no read that starts from now on sees an event of it
 * @src: the source
 *
 * Context: atomic.
 */
void xv_evsource_stop(struct xv_evsource *src)
{
	unsigned long flags;
	u32 i;

	if (!src->q)
		return;
	spin_lock_irqsave(&src->q->lock, flags);
	src->stopped = true;
	for (i = 0; i < src->num; i++)
		list_del_init(&src->nodes[i].link);
	spin_unlock_irqrestore(&src->q->lock, flags);
}

/**
 * xv_evsource_free - let go of the queue
 * @src: a source that was stopped or never published
 *
 * Context: any.
 */
void xv_evsource_free(struct xv_evsource *src)
{
	if (src->q)
		xv_uobj_put(&src->q->uobj);
	src->q = NULL;
}

/* ---- the file ---- */

static bool readable(struct xv_eventq *q)
{
	return !list_empty(&q->nodes) || q->removed || q->eof;
}

/*
 * Take one event out, if it can be copied with page faults off: an event that
 * was taken out and not delivered would be lost.
 *
 * Return: the bytes copied; 0 at the end of all events; -EAGAIN if there is
 * none; -EFAULT if the page has to be made present; -ENODEV.
 */
static ssize_t read_one(struct xv_eventq *q, char __user *buf)
{
	struct xv_event ev = {};
	struct xv_evnode *node;
	ssize_t ret = sizeof(ev);

	spin_lock_irq(&q->lock);
	node = list_first_entry_or_null(&q->nodes, struct xv_evnode, link);
	if (node) {
		ev.cookie = node->cookie;
		ev.data = node->data;
		ev.type = node->type;
		ev.object = node->source->obj->type->id;
		ev.handle = node->source->obj->handle;
		ev.count = node->count;
	} else if (q->removed && !q->told) {
		ev.type = XV_EV_DEVICE_REMOVED;
		ev.object = XV_OBJ_DEVICE;
		ev.count = 1;
	} else {
		ret = q->removed ? -ENODEV : q->eof ? 0 : -EAGAIN;
		goto out_unlock;
	}
	if (copy_to_user_nofault(buf, &ev, sizeof(ev))) {
		ret = -EFAULT;
		goto out_unlock;
	}
	if (node) {
		node->count = 0;
		list_del_init(&node->link);
	} else {
		q->told = true;
	}
out_unlock:
	spin_unlock_irq(&q->lock);
	return ret;
}

static ssize_t eventq_read(struct file *filp, char __user *buf, size_t len,
			   loff_t *pos)
{
	struct xv_eventq *q = filp->private_data;
	size_t done = 0;
	ssize_t ret;

	if (len < sizeof(struct xv_event))
		return -EINVAL;
	while (len - done >= sizeof(struct xv_event)) {
		ret = read_one(q, buf + done);
		if (ret > 0) {
			done += ret;
			continue;
		}
		if (ret == -EFAULT &&
		    !fault_in_safe_writeable(buf + done,
					     sizeof(struct xv_event))) {
			if (fatal_signal_pending(current))
				return done ? done : -EINTR;
			continue;
		}
		if (done || ret != -EAGAIN || filp->f_flags & O_NONBLOCK)
			return done ? done : ret;
		if (wait_event_interruptible(q->wait, readable(q)))
			return -ERESTARTSYS;
	}
	return done;
}

static __poll_t eventq_poll(struct file *filp, poll_table *wait)
{
	struct xv_eventq *q = filp->private_data;
	__poll_t mask = 0;

	poll_wait(filp, &q->wait, wait);
	spin_lock_irq(&q->lock);
	if (!list_empty(&q->nodes) || (q->removed && !q->told))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (q->removed || q->eof)
		mask |= EPOLLHUP;
	spin_unlock_irq(&q->lock);
	return mask;
}

static int eventq_release(struct inode *inode, struct file *filp)
{
	struct xv_eventq *q = filp->private_data;
	struct xv_evnode *node, *next;
	struct xv_file *file;

	/* A transaction that failed: the object is gone already. */
	if (!q)
		return 0;
	file = q->uobj.file;
	kref_get(&file->ref);
	mutex_lock(&file->teardown);
	spin_lock_irq(&q->lock);
	q->closed = true;
	list_for_each_entry_safe(node, next, &q->nodes, link)
		list_del_init(&node->link);
	spin_unlock_irq(&q->lock);
	xv_uobj_kill(&q->uobj, XV_WHY_CLOSE);
	mutex_unlock(&file->teardown);
	xv_file_put(file);
	return 0;
}

static const struct file_operations xv_eventq_fops = {
	.owner = THIS_MODULE,
	.read = eventq_read,
	.poll = eventq_poll,
	.release = eventq_release,
	.llseek = noop_llseek,
};

/* ---- the object ---- */

/**
 * xv_eventq_reserve - get phase: descriptor and file, both not installed
 * @call: the call
 * @op: the operation
 * @obj: the new object
 *
 * Return: 0 or what xv_fail() returned.
 */
int xv_eventq_reserve(struct xv_call *call, struct xv_opx *op,
		      struct xv_uobj *obj)
{
	struct xv_eventq *q = to_eventq(obj);
	struct xv_slot *slot = xv_slot(op, XV_GRP_OBJECT, XV_OBJECT_HANDLE);

	spin_lock_init(&q->lock);
	INIT_LIST_HEAD(&q->nodes);
	init_waitqueue_head(&q->wait);
	q->fd = get_unused_fd_flags(O_CLOEXEC);
	if (q->fd < 0)
		return xv_fail_raw(call, op, XV_R_FILES, q->fd);
	/* No private data until commit: a release before has nothing to do. */
	q->filp = anon_inode_getfile("[xverbs-eventq]", &xv_eventq_fops, NULL,
				     O_RDONLY | O_CLOEXEC);
	if (IS_ERR(q->filp)) {
		put_unused_fd(q->fd);
		return xv_fail_raw(call, op, PTR_ERR(q->filp) == -ENFILE ?
				   XV_R_FILES : XV_R_MEMORY,
				   PTR_ERR(q->filp));
	}
	slot->data = q->fd;
	return 0;
}

/**
 * xv_eventq_unreserve - undo xv_eventq_reserve()
 * @obj: the object, never published
 */
void xv_eventq_unreserve(struct xv_uobj *obj)
{
	struct xv_eventq *q = to_eventq(obj);

	put_unused_fd(q->fd);
	fput(q->filp);
}

/**
 * xv_eventq_lookup - the event queue behind a descriptor
 * @file: the device file that it must belong to
 * @fd: the descriptor, as the user gave it
 *
 * Return: the object with a reference, or NULL.
 */
struct xv_uobj *xv_eventq_lookup(struct xv_file *file, u64 fd)
{
	struct xv_eventq *q;
	struct file *filp;

	filp = fget(fd);
	if (!filp)
		return NULL;
	q = filp->f_op == &xv_eventq_fops ? filp->private_data : NULL;
	if (q && q->uobj.file == file)
		xv_uobj_get(&q->uobj);
	else
		q = NULL;
	fput(filp);
	return q ? &q->uobj : NULL;
}

void xv_eventq_publish(struct xv_uobj *obj)
{
	struct xv_eventq *q = to_eventq(obj);

	q->filp->private_data = q;
	fd_install(q->fd, q->filp);
}

void xv_eventq_unpublish(struct xv_uobj *obj, enum xv_why why)
{
	struct xv_eventq *q = to_eventq(obj);

	spin_lock_irq(&q->lock);
	if (why == XV_WHY_REMOVE)
		q->removed = true;
	else
		q->eof = true;
	wake_up_interruptible_poll(&q->wait, EPOLLIN | EPOLLHUP);
	spin_unlock_irq(&q->lock);
}
