// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * listener: waits for connection requests at an address of the device.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * A request that came is an id of its own. It waits in one of the slots that
 * were made with the listener, so there is a bound and nothing to allocate when
 * one comes; with all slots taken the peer is refused at once. The user knows a
 * request by its token, {generation, slot}: accept and reject name it.
 *
 * Who destroys the id of a request: whoever takes it out of its slot, under the
 * lock. Its handler, if the peer gives up, which has the core do it; an accept,
 * which makes it a connection's; a reject; or the destroy of the listener. A
 * claim keeps the handler from it.
 */
#include <linux/slab.h>
#include <net/ipv6.h>
#include <rdma/ib_cm.h>
#include "../trace.h"
#include "cm.h"
#include "objects.h"

/* What iWARP holds between TCP and a request; InfiniBand ignores it. */
#define XV_LISTEN_BACKLOG	128U

/* Numbers are those of the tracepoint. */
enum xv_request_state {
	XV_REQ_FREE,
	XV_REQ_PENDING,		/* the user can name it */
	XV_REQ_CLAIMED,		/* a transaction is about to accept it */
};

/**
 * struct xv_request - a slot for a connection request
 * @cm: context of @id
 * @listener: whose it is
 * @node: the event that tells of it
 * @id: the request; NULL if there is none, or none any more. As all below
 *	under xv_listener.lock
 * @state: enum xv_request_state
 * @lost: the peer has given up while it was claimed
 * @gen: changes when the slot is freed
 * @rd_atomic: reads and atomics that we may have outstanding
 * @dest_rd_atomic: reads and atomics that the peer will have outstanding
 * @qp_num: its QP number
 * @local: our address
 * @remote: its address
 * @data: its private data
 */
struct xv_request {
	struct xv_cm cm;
	struct xv_listener *listener;
	struct xv_evnode *node;
	struct rdma_cm_id *id;
	u8 state;
	bool lost;
	u32 gen;
	u8 rd_atomic;
	u8 dest_rd_atomic;
	u32 qp_num;
	struct sockaddr_storage local;
	struct sockaddr_storage remote;
	struct xv_cm_data data;
};

/**
 * struct xv_listener - a listener
 * @uobj: the object
 * @cm: context of @id
 * @id: id of the connection manager
 * @lock: protects the slots; inside of the handler mutex of an id, outside of
 *	xv_eventq.lock
 * @dead: no request is taken any more; under @lock
 * @backlog: number of @slots
 * @slots: the slots
 * @refused: requests for which there was no slot; under @lock
 * @events: its events
 * @nodes: one for each slot
 */
struct xv_listener {
	struct xv_uobj uobj;
	struct xv_cm cm;
	struct rdma_cm_id *id;
	spinlock_t lock;	/* see above */
	bool dead;
	u32 backlog;
	struct xv_request *slots;
	u32 refused;
	struct xv_evsource events;
	struct xv_evnode *nodes;
};

static struct xv_listener *to_listener(struct xv_uobj *obj)
{
	return container_of(obj, struct xv_listener, uobj);
}

/* ---- slots ---- */

static u64 token_of(const struct xv_request *req)
{
	return (u64)req->gen << 32 | (u32)(req - req->listener->slots);
}

static void set_request_state(struct xv_request *req, u8 state)
{
	struct xv_listener *l = req->listener;

	lockdep_assert_held(&l->lock);
	if (req->state != state)
		trace_xv_request_state(&l->uobj, token_of(req), req->state,
				       state);
	req->state = state;
}

static struct xv_request *find_request(struct xv_listener *l, u64 token)
{
	u32 slot = token;
	struct xv_request *req;

	lockdep_assert_held(&l->lock);
	if (slot >= l->backlog)
		return NULL;
	req = &l->slots[slot];
	if (req->state != XV_REQ_PENDING || token_of(req) != token)
		return NULL;
	return req;
}

static void free_slot(struct xv_request *req)
{
	lockdep_assert_held(&req->listener->lock);
	set_request_state(req, XV_REQ_FREE);
	req->gen++;
	req->id = NULL;
	req->lost = false;
	xv_event_cancel(req->node);
}

/**
 * xv_request_claim - a transaction wants to accept a request
 * @listener: the listener, locked by the transaction
 * @token: which request
 *
 * Return: the request, which the transaction takes or unclaims; NULL if there
 * is no such request (any more).
 */
struct xv_request *xv_request_claim(struct xv_uobj *listener, u64 token)
{
	struct xv_listener *l = to_listener(listener);
	struct xv_request *req;

	spin_lock(&l->lock);
	req = find_request(l, token);
	if (req)
		set_request_state(req, XV_REQ_CLAIMED);
	spin_unlock(&l->lock);
	return req;
}

/**
 * xv_request_unclaim - the transaction has failed
 * @req: a claimed request
 *
 * Context: may sleep, while a handler of the id runs.
 */
void xv_request_unclaim(struct xv_request *req)
{
	struct xv_listener *l = req->listener;
	struct rdma_cm_id *id = NULL;

	spin_lock(&l->lock);
	if (req->lost) {
		id = req->id;
		free_slot(req);
	} else {
		set_request_state(req, XV_REQ_PENDING);
	}
	spin_unlock(&l->lock);
	if (id)
		rdma_destroy_id(id);
}

/**
 * xv_request_take - make a request a connection's
 * @req: a claimed request
 * @cm: the new context of its id
 * @data: gets the private data of the peer
 *
 * Context: may sleep, while a handler of the id runs.
 * Return: the id, or NULL if the peer has given up.
 */
struct rdma_cm_id *xv_request_take(struct xv_request *req, struct xv_cm *cm,
				   struct xv_cm_data *data)
{
	struct xv_listener *l = req->listener;
	/* Who has claimed it owns its id: not even its handler destroys it. */
	struct rdma_cm_id *id = req->id;
	bool lost;

	rdma_lock_handler(id);
	/* From here on events are the connection's. */
	id->context = cm;
	spin_lock(&l->lock);
	*data = req->data;
	lost = req->lost;
	free_slot(req);
	spin_unlock(&l->lock);
	rdma_unlock_handler(id);
	if (!lost)
		return id;
	rdma_destroy_id(id);
	return NULL;
}

/**
 * xv_request_limits - what the peer can do
 * @req: a claimed request
 * @rd_atomic: is set to the reads and atomics that it answers at a time
 * @dest_rd_atomic: is set to those that it has outstanding
 */
void xv_request_limits(const struct xv_request *req, u8 *rd_atomic,
		       u8 *dest_rd_atomic)
{
	*rd_atomic = req->rd_atomic;
	*dest_rd_atomic = req->dest_rd_atomic;
}

/* ---- events of the connection manager ---- */

/* The peer of a request that waits gives up. */
static int request_event(struct xv_cm *cm, struct rdma_cm_id *id,
			 struct rdma_cm_event *event)
{
	struct xv_request *req = container_of(cm, struct xv_request, cm);
	struct xv_listener *l = req->listener;
	int destroy = 0;

	/* Ours is removed after we have destroyed what is on it. */
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
		return 0;
	spin_lock(&l->lock);
	if (req->id == id) {
		if (req->state == XV_REQ_CLAIMED) {
			req->lost = true;
		} else {
			free_slot(req);
			destroy = 1;
		}
	}
	spin_unlock(&l->lock);
	return destroy;
}

static struct xv_request *free_request(struct xv_listener *l)
{
	u32 i;

	for (i = 0; i < l->backlog && !l->dead; i++)
		if (l->slots[i].state == XV_REQ_FREE)
			return &l->slots[i];
	return NULL;
}

static void fill_request(struct xv_request *req, struct rdma_cm_id *id,
			 const struct rdma_conn_param *param)
{
	set_request_state(req, XV_REQ_PENDING);
	req->id = id;
	id->context = &req->cm;
	/* The connection manager tells it from our point of view already. */
	req->rd_atomic = param->initiator_depth;
	req->dest_rd_atomic = param->responder_resources;
	req->qp_num = param->qp_num;
	req->local = id->route.addr.src_addr;
	req->remote = id->route.addr.dst_addr;
	xv_cm_save(&req->data, param->private_data, param->private_data_len);
}

static int listener_event(struct xv_cm *cm, struct rdma_cm_id *id,
			  struct rdma_cm_event *event)
{
	struct xv_listener *l = container_of(cm, struct xv_listener, cm);
	struct xv_request *req;

	/* A listening id has no other event that matters. */
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return 0;
	spin_lock(&l->lock);
	req = free_request(l);
	if (req) {
		fill_request(req, id, &event->param.conn);
		xv_event_raise_node(req->node, token_of(req));
	} else {
		l->refused++;
	}
	spin_unlock(&l->lock);
	/* Not taken: the core refuses the peer and destroys the id. */
	return req ? 0 : 1;
}

/* ---- create ---- */

static int listener_check(struct xv_call *call, struct xv_opx *op)
{
	return xv_cm_check_addr(call, op, XV_ADDRESS_SRC);
}

static bool is_wildcard(const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET)
		return !((const struct sockaddr_in *)addr)->sin_addr.s_addr;
	return ipv6_addr_any(&((const struct sockaddr_in6 *)addr)->sin6_addr);
}

static int alloc_slots(struct xv_listener *l, struct xv_opx *op, u16 *kinds)
{
	u32 i;

	l->slots = kvcalloc(l->backlog, sizeof(*l->slots), XV_GFP);
	l->nodes = kvcalloc(l->backlog, sizeof(*l->nodes), XV_GFP);
	if (!l->slots || !l->nodes)
		return -ENOMEM;
	for (i = 0; i < l->backlog; i++)
		kinds[i] = XV_EV_CONNECT_REQUEST;
	xv_evsource_init(&l->events, op, &l->uobj, l->nodes, kinds, l->backlog);
	for (i = 0; i < l->backlog; i++) {
		l->slots[i].cm.handler = request_event;
		l->slots[i].listener = l;
		l->slots[i].node = &l->nodes[i];
	}
	return 0;
}

static int make_slots(struct xv_listener *l, struct xv_opx *op)
{
	u16 *kinds = kvcalloc(l->backlog, sizeof(*kinds), XV_GFP);
	int ret;

	if (!kinds)
		return -ENOMEM;
	ret = alloc_slots(l, op, kinds);
	kvfree(kinds);
	return ret;
}

static void fill_info(struct xv_listener *l, struct xv_listener_info *info)
{
	u32 i;

	xv_cm_write_addr(&l->id->route.addr.src_addr, info->local);
	info->backlog = l->backlog;
	spin_lock(&l->lock);
	info->refused = l->refused;
	for (i = 0; i < l->backlog; i++)
		info->pending += l->slots[i].state != XV_REQ_FREE;
	spin_unlock(&l->lock);
}

static int listener_create(struct xv_call *call, struct xv_opx *op)
{
	struct xv_listener *l = to_listener(op->obj);
	struct xv_listener_info info = {};
	struct sockaddr_storage addr;
	struct rdma_cm_id *id;
	int ret;

	spin_lock_init(&l->lock);
	l->cm.handler = listener_event;
	l->backlog = xv_value(op, XV_GRP_PARAMS, XV_PARAMS_BACKLOG, XV_BACKLOG);
	if (make_slots(l, op))
		return xv_fail(call, op, 0, 0, XV_R_MEMORY, 0);
	xv_cm_read_addr(op, XV_ADDRESS_SRC, &addr);
	/* It would listen on every device, and we have one. */
	if (is_wildcard(&addr))
		return xv_fail(call, op, XV_GRP_ADDRESS, XV_ADDRESS_SRC,
			       XV_R_CAPABILITY, 0);
	id = xv_cm_id_new(call->file, &l->cm);
	if (IS_ERR(id))
		return xv_fail_driver(call, op, PTR_ERR(id));
	l->id = id;
	op->obj->hw = true;
	if (xv_value(op, XV_GRP_PARAMS, XV_PARAMS_REUSE, 0))
		rdma_set_reuseaddr(id, 1);
	ret = xv_cm_bind(call, op, id, &addr);
	if (ret)
		return ret;
	fill_info(l, &info);
	return xv_result(call, op, &info, sizeof(info));
}

static int listener_listen(struct xv_call *call, struct xv_opx *op)
{
	struct xv_listener *l = to_listener(op->obj);
	int ret;

	/* The slots are the bound. siw loses peers for whom it has no room. */
	ret = rdma_listen(l->id, max(l->backlog, XV_LISTEN_BACKLOG));
	return ret ? xv_cm_fail_bind(call, op, ret) : 0;
}

/* ---- destroy ---- */

static void listener_publish(struct xv_uobj *obj)
{
	xv_evsource_unmute(&to_listener(obj)->events);
}

static void listener_unpublish(struct xv_uobj *obj, enum xv_why why)
{
	struct xv_listener *l = to_listener(obj);

	if (why != XV_WHY_REMOVE)
		xv_evsource_stop(&l->events);
	spin_lock(&l->lock);
	l->dead = true;
	spin_unlock(&l->lock);
}

static struct rdma_cm_id *take_pending(struct xv_listener *l, u32 slot)
{
	struct rdma_cm_id *id;

	spin_lock(&l->lock);
	id = l->slots[slot].id;
	free_slot(&l->slots[slot]);
	spin_unlock(&l->lock);
	return id;
}

static int listener_destroy(struct xv_uobj *obj, enum xv_why why)
{
	struct xv_listener *l = to_listener(obj);
	struct rdma_cm_id *id;
	u32 i;

	/* Waits for a request that comes in just now; later there are none. */
	rdma_destroy_id(l->id);
	l->id = NULL;
	for (i = 0; i < l->backlog; i++) {
		id = take_pending(l, i);
		/* The peer is refused by this. */
		if (id)
			rdma_destroy_id(id);
	}
	return 0;
}

static void listener_free(struct xv_uobj *obj)
{
	struct xv_listener *l = to_listener(obj);

	xv_evsource_free(&l->events);
	kvfree(l->nodes);
	kvfree(l->slots);
}

/* ---- query and reject ---- */

static int listener_query(struct xv_call *call, struct xv_opx *op)
{
	struct xv_listener_info info = {};

	fill_info(to_listener(op->obj), &info);
	return xv_result(call, op, &info, sizeof(info));
}

static int listener_query_request(struct xv_call *call, struct xv_opx *op)
{
	u64 token = xv_value(op, XV_GRP_REQUEST, XV_REQUEST_TOKEN, 0);
	struct xv_listener *l = to_listener(op->obj);
	struct xv_request_info info = {};
	struct xv_request *req;

	spin_lock(&l->lock);
	req = find_request(l, token);
	if (req) {
		info.token = token;
		info.qp_num = req->qp_num;
		info.rd_atomic = req->rd_atomic;
		info.dest_rd_atomic = req->dest_rd_atomic;
		xv_cm_write_addr(&req->local, info.local);
		xv_cm_write_addr(&req->remote, info.remote);
		info.private_len = req->data.len;
		memcpy(info.private_data, req->data.data, req->data.len);
	}
	spin_unlock(&l->lock);
	if (!req)
		return xv_fail(call, op, XV_GRP_REQUEST, XV_REQUEST_TOKEN,
			       XV_R_NO_REQUEST, 0);
	return xv_result(call, op, &info, sizeof(info));
}

/* The listener is write-locked: nobody else claims the request meanwhile. */
static int listener_check_reject(struct xv_call *call, struct xv_opx *op)
{
	u64 token = xv_value(op, XV_GRP_REQUEST, XV_REQUEST_TOKEN, 0);
	struct xv_listener *l = to_listener(op->obj);
	bool found;

	spin_lock(&l->lock);
	found = find_request(l, token);
	spin_unlock(&l->lock);
	if (!found)
		return xv_fail(call, op, XV_GRP_REQUEST, XV_REQUEST_TOKEN,
			       XV_R_NO_REQUEST, 0);
	return 0;
}

static void listener_reject(struct xv_call *call, struct xv_opx *op)
{
	const struct xv_slot *data = xv_slot(op, XV_GRP_PARAMS,
					     XV_PARAMS_PRIVATE_DATA);
	u64 token = xv_value(op, XV_GRP_REQUEST, XV_REQUEST_TOKEN, 0);
	struct xv_listener *l = to_listener(op->obj);
	struct rdma_cm_id *id = NULL;
	struct xv_request *req;

	spin_lock(&l->lock);
	req = find_request(l, token);
	if (req) {
		id = req->id;
		free_slot(req);
	}
	spin_unlock(&l->lock);
	/* The peer has given up by itself. */
	if (!id)
		return;
	rdma_reject(id, data ? data->buf : NULL, data ? data->len : 0,
		    IB_CM_REJ_CONSUMER_DEFINED);
	rdma_destroy_id(id);
}

/* ---- tables ---- */

static const struct xv_attr_spec address_attrs[] = {
	{ .id = XV_ADDRESS_SRC, .name = "src", .kind = XV_K_IN,
	  .min = XV_ADDR_IPV4_BYTES, .max = XV_ADDR_BYTES, .required = true },
};

static const struct xv_attr_spec create_params_attrs[] = {
	{ .id = XV_PARAMS_REUSE, .name = "reuse", .kind = XV_K_U32, .max = 1 },
	{ .id = XV_PARAMS_BACKLOG, .name = "backlog", .kind = XV_K_U32,
	  .min = 1, .max = XV_MAX_BACKLOG },
};

static const struct xv_attr_spec reject_params_attrs[] = {
	{ .id = XV_PARAMS_PRIVATE_DATA, .name = "private_data",
	  .kind = XV_K_IN, .min = 1, .max = XV_CM_REJ_BYTES, .step = 1 },
};

static const struct xv_attr_spec request_attrs[] = {
	{ .id = XV_REQUEST_TOKEN, .name = "token", .kind = XV_K_U64,
	  .max = U64_MAX, .required = true },
};

XV_DEFINE_OBJECT_GROUP(new_object, XV_K_NEW, XV_OBJ_LISTENER);
XV_DEFINE_OBJECT_GROUP(destroy_object, XV_K_DESTROY, XV_OBJ_LISTENER);
XV_DEFINE_OBJECT_GROUP(read_object, XV_K_READ, XV_OBJ_LISTENER);
XV_DEFINE_OBJECT_GROUP(write_object, XV_K_WRITE, XV_OBJ_LISTENER);
XV_DEFINE_GROUP(address, XV_GRP_ADDRESS, "address");
XV_DEFINE_GROUP(create_params, XV_GRP_PARAMS, "params");
XV_DEFINE_GROUP(reject_params, XV_GRP_PARAMS, "params");
XV_DEFINE_GROUP(request, XV_GRP_REQUEST, "request");
XV_DEFINE_RESULT_GROUP(result, struct xv_listener_info);
XV_DEFINE_RESULT_GROUP(request_result, struct xv_request_info);

static const struct xv_group_use create_groups[] = {
	{ .group = &new_object, .required = true },
	{ .group = &xv_group_events, .required = true },
	{ .group = &address, .required = true },
	{ .group = &create_params },
	{ .group = &result },
};

static const struct xv_group_use destroy_groups[] = {
	{ .group = &destroy_object, .required = true },
};

static const struct xv_group_use query_groups[] = {
	{ .group = &read_object, .required = true },
	{ .group = &result, .required = true },
};

static const struct xv_group_use query_request_groups[] = {
	{ .group = &read_object, .required = true },
	{ .group = &request_result, .required = true },
	{ .group = &request, .required = true },
};

static const struct xv_group_use reject_groups[] = {
	{ .group = &write_object, .required = true },
	{ .group = &reject_params },
	{ .group = &request, .required = true },
};

static const struct xv_method_spec listener_methods[] = {
	{ .id = XV_M_CREATE, .name = "create", .class = XV_C_CREATE,
	  .groups = create_groups, .num_groups = ARRAY_SIZE(create_groups),
	  .check = listener_check, .make = listener_create,
	  .last = listener_listen },
	{ .id = XV_M_DESTROY, .name = "destroy", .class = XV_C_DESTROY,
	  .groups = destroy_groups, .num_groups = ARRAY_SIZE(destroy_groups) },
	{ .id = XV_M_QUERY, .name = "query", .class = XV_C_QUERY,
	  .groups = query_groups, .num_groups = ARRAY_SIZE(query_groups),
	  .make = listener_query },
	{ .id = XV_M_QUERY_REQUEST, .name = "query_request",
	  .class = XV_C_QUERY, .groups = query_request_groups,
	  .num_groups = ARRAY_SIZE(query_request_groups),
	  .make = listener_query_request },
	{ .id = XV_M_REJECT, .name = "reject", .class = XV_C_START,
	  .groups = reject_groups, .num_groups = ARRAY_SIZE(reject_groups),
	  .make = listener_check_reject, .commit = listener_reject },
};

static const struct xv_type_ops listener_ops = {
	.size = sizeof(struct xv_listener),
	.edges = sizeof(struct xv_listener),
	.destroy = listener_destroy,
	.publish = listener_publish,
	.unpublish = listener_unpublish,
	.free = listener_free,
};

const struct xv_type xv_type_listener = {
	.id = XV_OBJ_LISTENER, .name = "listener",
	.methods = listener_methods, .num_methods = ARRAY_SIZE(listener_methods),
	.ops = &listener_ops,
};
