// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * subscription: events of the device and its ports.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * There is one handler for each device, and it tells all who have subscribed.
 * An object of its own, and not a property of the file or of the event queue,
 * so that there can be several with different cookies, and so that the end of
 * one is a destroy like others: no event of it is read after that.
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include "../core/txn.h"
#include "../device.h"
#include "objects.h"
#include "subscription.h"

static const struct {
	u16 type;
	enum ib_event_type event;
} port_kinds[] = {
	{ XV_EV_PORT_ACTIVE, IB_EVENT_PORT_ACTIVE },
	{ XV_EV_PORT_ERROR, IB_EVENT_PORT_ERR },
	{ XV_EV_LID_CHANGE, IB_EVENT_LID_CHANGE },
	{ XV_EV_PKEY_CHANGE, IB_EVENT_PKEY_CHANGE },
	{ XV_EV_SM_CHANGE, IB_EVENT_SM_CHANGE },
	{ XV_EV_CLIENT_REREGISTER, IB_EVENT_CLIENT_REREGISTER },
	{ XV_EV_GID_CHANGE, IB_EVENT_GID_CHANGE },
};

#define NUM_PORT_KINDS	ARRAY_SIZE(port_kinds)

static u16 event_type(const struct ib_event *event, u64 *port)
{
	u32 i;

	*port = 0;
	if (event->event == IB_EVENT_DEVICE_FATAL)
		return XV_EV_DEVICE_FATAL;
	for (i = 0; i < NUM_PORT_KINDS; i++) {
		if (port_kinds[i].event != event->event)
			continue;
		*port = event->element.port_num;
		return port_kinds[i].type;
	}
	return 0;
}

/**
 * xv_subscriptions_raise - tell all who have subscribed
 * @dev: the device
 * @event: what the core says
 *
 * Context: the core's event handler: may sleep; removal of the device waits.
 */
void xv_subscriptions_raise(struct xv_dev *dev, const struct ib_event *event)
{
	struct xv_subscription *sub;
	u64 port;
	u16 type = event_type(event, &port);
	u32 i;

	if (!type)
		return;
	mutex_lock(&dev->subs_lock);
	list_for_each_entry(sub, &dev->subs, link) {
		for (i = 0; i < sub->events.num; i++)
			if (sub->nodes[i].type == type &&
			    sub->nodes[i].data == port)
				xv_event_raise_node(&sub->nodes[i], port);
		/* There may be as many as one likes. */
		cond_resched();
	}
	mutex_unlock(&dev->subs_lock);
}

static u32 put_port(struct xv_evnode *nodes, u16 *types, u32 n, u32 port)
{
	u32 i;

	for (i = 0; i < NUM_PORT_KINDS; i++, n++) {
		types[n] = port_kinds[i].type;
		nodes[n].data = port;
	}
	return n;
}

static int subscription_create(struct xv_call *call, struct xv_opx *op)
{
	struct xv_subscription *sub = xv_to_subscription(op->obj);
	u32 port = xv_value(op, XV_GRP_PARAMS, XV_PARAMS_PORT, 0);
	struct ib_device *ibdev = call->ibdev;
	struct xv_dev *dev = call->file->dev;
	u32 ports = port ? 1 : ibdev->phys_port_cnt;
	u32 max = ports * NUM_PORT_KINDS + 1;
	u16 *types;
	u32 n = 0;
	u32 i;

	if (port && !rdma_is_port_valid(ibdev, port))
		return xv_fail(call, op, XV_GRP_PARAMS, XV_PARAMS_PORT,
			       XV_R_RANGE, ibdev->phys_port_cnt);
	types = kmalloc_array(max, sizeof(*types), XV_GFP);
	sub->nodes = kvcalloc(max, sizeof(*sub->nodes), XV_GFP);
	if (!types || !sub->nodes) {
		kfree(types);
		return xv_fail(call, op, 0, 0, XV_R_MEMORY, 0);
	}
	types[n++] = XV_EV_DEVICE_FATAL;
	if (port) {
		n = put_port(sub->nodes, types, n, port);
	} else {
		rdma_for_each_port(ibdev, i)
			n = put_port(sub->nodes, types, n, i);
	}
	xv_evsource_init(&sub->events, op, op->obj, sub->nodes, types, n);
	kfree(types);
	/* What comes from now on waits until the object is published. */
	mutex_lock(&dev->subs_lock);
	list_add_tail(&sub->link, &dev->subs);
	mutex_unlock(&dev->subs_lock);
	op->obj->hw = true;
	return 0;
}

static int subscription_destroy(struct xv_uobj *obj, enum xv_why why)
{
	struct xv_subscription *sub = xv_to_subscription(obj);
	struct xv_dev *dev = obj->file->dev;

	mutex_lock(&dev->subs_lock);
	list_del(&sub->link);
	mutex_unlock(&dev->subs_lock);
	return 0;
}

static void subscription_publish(struct xv_uobj *obj)
{
	xv_evsource_unmute(&xv_to_subscription(obj)->events);
}

static void subscription_unpublish(struct xv_uobj *obj, enum xv_why why)
{
	if (why != XV_WHY_REMOVE)
		xv_evsource_stop(&xv_to_subscription(obj)->events);
}

static void subscription_free(struct xv_uobj *obj)
{
	struct xv_subscription *sub = xv_to_subscription(obj);

	xv_evsource_free(&sub->events);
	kvfree(sub->nodes);
}

static const struct xv_attr_spec params_attrs[] = {
	{ .id = XV_PARAMS_PORT, .name = "port", .kind = XV_K_U32,
	  .min = 1, .max = 255 },
};

XV_DEFINE_OBJECT_GROUP(new_object, XV_K_NEW, XV_OBJ_SUBSCRIPTION);
XV_DEFINE_OBJECT_GROUP(destroy_object, XV_K_DESTROY, XV_OBJ_SUBSCRIPTION);
XV_DEFINE_GROUP(params, XV_GRP_PARAMS, "params");

static const struct xv_group_use create_groups[] = {
	{ .group = &new_object, .required = true },
	{ .group = &xv_group_events, .required = true },
	{ .group = &params },
};

static const struct xv_group_use destroy_groups[] = {
	{ .group = &destroy_object, .required = true },
};

static const struct xv_method_spec subscription_methods[] = {
	{ .id = XV_M_CREATE, .name = "create", .class = XV_C_CREATE,
	  .groups = create_groups, .num_groups = ARRAY_SIZE(create_groups),
	  .make = subscription_create },
	{ .id = XV_M_DESTROY, .name = "destroy", .class = XV_C_DESTROY,
	  .groups = destroy_groups, .num_groups = ARRAY_SIZE(destroy_groups) },
};

static const struct xv_type_ops subscription_ops = {
	.size = sizeof(struct xv_subscription),
	.destroy = subscription_destroy,
	.publish = subscription_publish,
	.unpublish = subscription_unpublish,
	.free = subscription_free,
};

const struct xv_type xv_type_subscription = {
	.id = XV_OBJ_SUBSCRIPTION, .name = "subscription",
	.methods = subscription_methods,
	.num_methods = ARRAY_SIZE(subscription_methods),
	.ops = &subscription_ops,
};
