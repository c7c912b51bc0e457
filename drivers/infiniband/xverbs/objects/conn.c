// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * conn: connection, an id of the connection manager bound to a queue pair.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * The id does not know the queue pair (id->qp is NULL): it has no device until
 * its address is resolved, while the queue pair exists from the start. So the
 * states of the queue pair are ours, see qp_cm.c.
 *
 *	active		RESOLVING -> CONNECTING -> ESTABLISHED -> ENDED
 *	passive		             ACCEPTING  -> ESTABLISHED -> ENDED
 *
 * and from every state to ENDED. Who does what:
 *
 *	handler		events of the id: notes what is to be done
 *	step		work item: does it. The only one, besides destroy, that
 *			calls the connection manager; some transports connect
 *			blocking, and the manager's own queue is one for all
 *	end		work item: takes the queue pair to ERR, ends what is
 *			outstanding, then raises the one terminal event. Does
 *			not wait for a step that blocks
 *	timer		ends what was not established in time
 *	reaper		of the CQ: the first successful receive establishes
 *
 * The states are in conn_state.c, handler and steps in conn_step.c.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>
#include "../data/data.h"
#include "conn.h"
#include "objects.h"
#include "qp_state.h"

static const u16 conn_event_kinds[XV_CONN_NUM_EVENTS] = {
	XV_EV_ESTABLISHED, XV_EV_CONNECT_FAILED, XV_EV_DISCONNECTED,
};

static struct xv_conn *to_conn(struct xv_uobj *obj)
{
	return container_of(obj, struct xv_conn, uobj);
}

/**
 * xv_conn_of - the connection of a queue pair
 * @qp: the queue pair
 *
 * Return: its handle, 0 if there is none.
 */
u32 xv_conn_of(struct xv_qp *qp)
{
	u32 handle;

	/* Who destroys it does not lock the queue pair. */
	spin_lock_irq(&qp->conn_lock);
	handle = qp->conn ? qp->conn->uobj.handle : 0;
	spin_unlock_irq(&qp->conn_lock);
	return handle;
}

/**
 * xv_conn_check_none - the states of a queue pair are its connection's
 * @call: the call
 * @op: the operation that wants to change the state
 * @attr: the handle attribute that names the queue pair
 * @qp: the queue pair
 *
 * Return: 0 or what xv_fail() returned.
 */
int xv_conn_check_none(struct xv_call *call, struct xv_opx *op, u16 attr,
		       struct xv_qp *qp)
{
	u32 handle = xv_conn_of(qp);
	int ret;

	if (!handle)
		return 0;
	ret = xv_fail(call, op, XV_GRP_OBJECT, attr, XV_R_DEPENDENT, 0);
	call->error.object = XV_OBJ_CONN;
	call->error.handle = handle;
	return ret;
}

static int conn_check(struct xv_call *call, struct xv_opx *op)
{
	const struct xv_slot *data = xv_slot(op, XV_GRP_PARAMS,
					     XV_PARAMS_PRIVATE_DATA);
	int ret;

	ret = xv_cm_check_addr(call, op, XV_ADDRESS_DST);
	if (!ret)
		ret = xv_cm_check_addr(call, op, XV_ADDRESS_SRC);
	if (ret)
		return ret;
	/* A request carries less than a reply. */
	if (data && data->len > XV_CM_REQ_BYTES &&
	    xv_slot(op, XV_GRP_ADDRESS, XV_ADDRESS_DST))
		return xv_fail(call, op, XV_GRP_PARAMS, XV_PARAMS_PRIVATE_DATA,
			       XV_R_LENGTH, XV_CM_REQ_BYTES);
	return 0;
}

static int path_option(const struct xv_opx *op, u16 id)
{
	const struct xv_slot *slot = xv_slot(op, XV_GRP_PATH, id);

	return slot ? (int)slot->data : -1;
}

static int read_depth(struct xv_call *call, struct xv_opx *op, u16 id,
		      int device_max, u8 *out)
{
	u32 max = clamp(device_max, 0, 255);
	u64 value = xv_value(op, XV_GRP_PATH, id,
			     min_t(u32, max, XV_MAX_RD_ATOMIC));

	if (value > max)
		return xv_fail(call, op, XV_GRP_PATH, id, XV_R_RANGE, max);
	*out = value;
	return 0;
}

static int read_params(struct xv_call *call, struct xv_opx *op,
		       struct xv_conn *conn)
{
	const struct xv_slot *data = xv_slot(op, XV_GRP_PARAMS,
					     XV_PARAMS_PRIVATE_DATA);
	struct ib_device_attr *attrs = &call->ibdev->attrs;
	struct rdma_conn_param *param = &conn->param;
	int ret;

	xv_cm_read_addr(op, XV_ADDRESS_DST, &conn->dst);
	xv_cm_read_addr(op, XV_ADDRESS_SRC, &conn->src);
	conn->establish_ms = xv_value(op, XV_GRP_PARAMS,
				      XV_PARAMS_ESTABLISH_MS, XV_ESTABLISH_MS);
	conn->reuse = xv_value(op, XV_GRP_PARAMS, XV_PARAMS_REUSE, 0);
	conn->tos = path_option(op, XV_PATH_TRAFFIC_CLASS);
	conn->ack_timeout = path_option(op, XV_PATH_TIMEOUT);
	conn->min_rnr_timer = xv_value(op, XV_GRP_PATH, XV_PATH_MIN_RNR_TIMER,
				       XV_MIN_RNR_TIMER);
	param->retry_count = xv_value(op, XV_GRP_PATH, XV_PATH_RETRY_CNT, 7);
	param->rnr_retry_count = xv_value(op, XV_GRP_PATH, XV_PATH_RNR_RETRY, 7);
	param->flow_control = 1;
	param->qp_num = conn->qp->ibqp->qp_num;
	ret = read_depth(call, op, XV_PATH_RD_ATOMIC,
			 attrs->max_qp_init_rd_atom, &param->initiator_depth);
	if (!ret)
		ret = read_depth(call, op, XV_PATH_DEST_RD_ATOMIC,
				 attrs->max_qp_rd_atom,
				 &param->responder_resources);
	if (ret)
		return ret;
	if (data)
		xv_cm_save(&conn->ours, data->buf, data->len);
	param->private_data = conn->ours.len ? conn->ours.data : NULL;
	param->private_data_len = conn->ours.len;
	return 0;
}

/* From here to its end the states of the queue pair are the connection's. */
static int bind_qp(struct xv_call *call, struct xv_opx *op, struct xv_conn *conn)
{
	struct xv_qp *qp = conn->qp;
	u8 state;
	int ret;

	ret = xv_conn_check_none(call, op, XV_OBJECT_QP, qp);
	if (ret)
		return ret;
	mutex_lock(&qp->lock);
	state = xv_qp_state(qp);
	if (qp->type != XV_QPT_RC)
		ret = xv_fail(call, op, XV_GRP_OBJECT, XV_OBJECT_QP,
			      XV_R_CAPABILITY, 0);
	else if (state != XV_QPS_INIT)
		ret = xv_fail(call, op, XV_GRP_OBJECT, XV_OBJECT_QP,
			      XV_R_STATE, state);
	if (ret)
		goto out_unlock;
	spin_lock_irq(&qp->conn_lock);
	qp->conn = conn;
	WRITE_ONCE(qp->hold_sends, true);
	WRITE_ONCE(qp->hold_recvs, true);
	spin_unlock_irq(&qp->conn_lock);
	xv_uobj_link(&conn->uobj, 0, &qp->uobj);
out_unlock:
	mutex_unlock(&qp->lock);
	return ret;
}

static void unbind_qp(struct xv_conn *conn)
{
	struct xv_qp *qp = conn->qp;

	spin_lock_irq(&qp->conn_lock);
	qp->conn = NULL;
	WRITE_ONCE(qp->hold_sends, false);
	WRITE_ONCE(qp->hold_recvs, false);
	spin_unlock_irq(&qp->conn_lock);
}

static int make_id(struct xv_call *call, struct xv_opx *op, struct xv_conn *conn)
{
	struct rdma_cm_id *id = xv_conn_new_id(conn);

	if (IS_ERR(id))
		return xv_fail_driver(call, op, PTR_ERR(id));
	conn->id = id;
	conn->bound = conn->src.ss_family;
	return conn->bound ? xv_cm_bind(call, op, id, &conn->src) : 0;
}

static int claim_request(struct xv_call *call, struct xv_opx *op,
			 struct xv_conn *conn, struct xv_uobj *listener)
{
	u64 token = xv_value(op, XV_GRP_REQUEST, XV_REQUEST_TOKEN, 0);
	struct rdma_conn_param *param = &conn->param;
	u8 rd_atomic, dest_rd_atomic;

	conn->request = xv_request_claim(listener, token);
	if (!conn->request)
		return xv_fail(call, op, XV_GRP_REQUEST, XV_REQUEST_TOKEN,
			       XV_R_NO_REQUEST, 0);
	/* Both sides must agree, and the peer has said what it can. */
	xv_request_limits(conn->request, &rd_atomic, &dest_rd_atomic);
	param->initiator_depth = min(param->initiator_depth, rd_atomic);
	param->responder_resources = min(param->responder_resources,
					 dest_rd_atomic);
	return 0;
}

static int conn_create(struct xv_call *call, struct xv_opx *op)
{
	const struct xv_slot *listener = xv_slot(op, XV_GRP_REQUEST,
						 XV_REQUEST_LISTENER);
	struct xv_conn *conn = to_conn(op->obj);
	int ret;

	conn->qp = xv_to_qp(xv_handle(op, XV_OBJECT_QP));
	conn->cm.handler = xv_conn_event;
	conn->passive = listener;
	conn->iwarp = !rdma_ib_or_roce(call->ibdev, 1);
	INIT_WORK(&conn->step, xv_conn_step_work);
	INIT_WORK(&conn->end, xv_conn_end_work);
	INIT_DELAYED_WORK(&conn->timer, xv_conn_timer_work);
	xv_evsource_init(&conn->events, op, op->obj, conn->nodes,
			 conn_event_kinds, XV_CONN_NUM_EVENTS);
	ret = read_params(call, op, conn);
	if (!ret)
		ret = bind_qp(call, op, conn);
	if (ret)
		return ret;
	/* Now there is something to undo. */
	op->obj->hw = true;
	if (listener)
		return claim_request(call, op, conn, listener->obj);
	return make_id(call, op, conn);
}

static void start_passive(struct xv_conn *conn)
{
	struct xv_request *req = conn->request;
	struct xv_cm_data data = {};
	struct rdma_cm_id *id;

	conn->request = NULL;
	id = xv_request_take(req, &conn->cm, &data);
	if (id && !conn->iwarp)
		rdma_set_min_rnr_timer(id, conn->min_rnr_timer);
	spin_lock_irq(&conn->qp->conn_lock);
	conn->id = id;
	conn->theirs = data;
	conn->started = true;
	xv_conn_set_state(conn, XV_CONN_ACCEPTING);
	/* The peer may have lost patience since. */
	if (id)
		xv_conn_add_todo(conn, XV_TODO_ACCEPT);
	else
		xv_conn_end_locked(conn, -ECONNRESET, 0);
	spin_unlock_irq(&conn->qp->conn_lock);
}

static void start_active(struct xv_conn *conn)
{
	spin_lock_irq(&conn->qp->conn_lock);
	conn->started = true;
	xv_conn_set_state(conn, XV_CONN_RESOLVING);
	xv_conn_add_todo(conn, XV_TODO_ADDR);
	spin_unlock_irq(&conn->qp->conn_lock);
}

static void conn_commit(struct xv_call *call, struct xv_opx *op)
{
	struct xv_conn *conn = to_conn(op->obj);

	xv_queue_auto_reap(&conn->qp->rq, XV_AUTO_CONN, true);
	xv_uobj_get(op->obj);
	queue_delayed_work(xv_wq, &conn->timer,
			   msecs_to_jiffies(conn->establish_ms));
	if (conn->passive)
		start_passive(conn);
	else
		start_active(conn);
}

static void conn_unpublish(struct xv_uobj *obj, enum xv_why why)
{
	struct xv_conn *conn = to_conn(obj);

	if (why != XV_WHY_REMOVE)
		xv_evsource_stop(&conn->events);
	spin_lock_irq(&conn->qp->conn_lock);
	conn->dead = true;
	spin_unlock_irq(&conn->qp->conn_lock);
}

static void stop_items(struct xv_conn *conn)
{
	spin_lock_irq(&conn->qp->conn_lock);
	conn->dead = true;
	spin_unlock_irq(&conn->qp->conn_lock);
	if (cancel_delayed_work_sync(&conn->timer))
		xv_uobj_put(&conn->uobj);
	if (cancel_work_sync(&conn->step))
		xv_uobj_put(&conn->uobj);
	if (cancel_work_sync(&conn->end))
		xv_uobj_put(&conn->uobj);
}

static int conn_destroy(struct xv_uobj *obj, enum xv_why why)
{
	struct xv_conn *conn = to_conn(obj);
	struct xv_qp *qp = conn->qp;

	if (conn->request)
		xv_request_unclaim(conn->request);
	conn->request = NULL;
	stop_items(conn);
	xv_queue_auto_reap(&qp->rq, XV_AUTO_CONN, false);
	if (!conn->started) {
		xv_conn_drop_id(conn);
		unbind_qp(conn);
		return 0;
	}
	/* Nothing is established any more, whatever comes now. */
	spin_lock_irq(&qp->conn_lock);
	if (conn->state != XV_CONN_ESTABLISHED && !conn->was_up)
		WRITE_ONCE(qp->cut, true);
	xv_conn_set_state(conn, XV_CONN_ENDED);
	spin_unlock_irq(&qp->conn_lock);
	mutex_lock(&qp->lock);
	if (xv_qp_to_err(qp))
		xv_qp_note_failed(qp);
	mutex_unlock(&qp->lock);
	/* The peer is told; on iWARP it has been. */
	if (conn->id && !conn->iwarp)
		rdma_disconnect(conn->id);
	xv_conn_drop_id(conn);
	unbind_qp(conn);
	mutex_lock(&qp->lock);
	xv_qp_let_go(qp);
	xv_qp_drain(qp);
	xv_qp_early(qp);
	mutex_unlock(&qp->lock);
	return 0;
}

static void conn_publish(struct xv_uobj *obj)
{
	xv_evsource_unmute(&to_conn(obj)->events);
}

static void conn_free(struct xv_uobj *obj)
{
	xv_evsource_free(&to_conn(obj)->events);
}

static int conn_query(struct xv_call *call, struct xv_opx *op)
{
	struct xv_conn *conn = to_conn(op->obj);
	struct xv_conn_info info = {
		.qp = conn->qp->uobj.handle,
		.retry_cnt = conn->param.retry_count,
		.rnr_retry = conn->param.rnr_retry_count,
	};

	if (conn->passive)
		info.flags |= XV_CONN_F_PASSIVE;
	if (conn->iwarp)
		info.flags |= XV_CONN_F_IWARP;
	mutex_lock(&conn->qp->lock);
	info.path_mtu = conn->qp->path_mtu;
	info.sends_early = conn->qp->sq.taken - conn->qp->sq.posted;
	mutex_unlock(&conn->qp->lock);
	spin_lock_irq(&conn->qp->conn_lock);
	info.state = conn->state;
	info.cause = conn->cause;
	info.err = conn->err;
	info.raw = conn->raw;
	info.rd_atomic = conn->param.initiator_depth;
	info.dest_rd_atomic = conn->param.responder_resources;
	info.private_len = conn->theirs.len;
	memcpy(info.private_data, conn->theirs.data, conn->theirs.len);
	if (conn->id)
		xv_conn_keep_addresses(conn);
	xv_cm_write_addr(&conn->src, info.local);
	xv_cm_write_addr(&conn->dst, info.remote);
	spin_unlock_irq(&conn->qp->conn_lock);
	return xv_result(call, op, &info, sizeof(info));
}

static void conn_disconnect(struct xv_call *call, struct xv_opx *op)
{
	xv_conn_end(to_conn(op->obj), 0, 0);
}

static const struct xv_attr_spec new_object_attrs[] = {
	{ .id = XV_OBJECT_HANDLE, .name = "handle", .kind = XV_K_NEW,
	  .type = XV_OBJ_CONN, .required = true },
	{ .id = XV_OBJECT_QP, .name = "qp", .kind = XV_K_WRITE,
	  .type = XV_OBJ_QP, .required = true },
};

static const struct xv_attr_spec address_attrs[] = {
	{ .id = XV_ADDRESS_DST, .name = "dst", .kind = XV_K_IN,
	  .min = XV_ADDR_IPV4_BYTES, .max = XV_ADDR_BYTES, .required = true },
	{ .id = XV_ADDRESS_SRC, .name = "src", .kind = XV_K_IN,
	  .min = XV_ADDR_IPV4_BYTES, .max = XV_ADDR_BYTES },
};

static const struct xv_attr_spec path_attrs[] = {
	{ .id = XV_PATH_TRAFFIC_CLASS, .name = "traffic_class",
	  .kind = XV_K_U32, .max = 255 },
	{ .id = XV_PATH_TIMEOUT, .name = "timeout", .kind = XV_K_U32,
	  .max = 31 },
	{ .id = XV_PATH_RETRY_CNT, .name = "retry_cnt", .kind = XV_K_U32,
	  .max = 7 },
	{ .id = XV_PATH_RNR_RETRY, .name = "rnr_retry", .kind = XV_K_U32,
	  .max = 7 },
	{ .id = XV_PATH_MIN_RNR_TIMER, .name = "min_rnr_timer",
	  .kind = XV_K_U32, .max = 31 },
	{ .id = XV_PATH_RD_ATOMIC, .name = "rd_atomic", .kind = XV_K_U32,
	  .max = 255 },
	{ .id = XV_PATH_DEST_RD_ATOMIC, .name = "dest_rd_atomic",
	  .kind = XV_K_U32, .max = 255 },
};

static const struct xv_attr_spec params_attrs[] = {
	{ .id = XV_PARAMS_PRIVATE_DATA, .name = "private_data",
	  .kind = XV_K_IN, .min = 1, .max = XV_CM_REP_BYTES, .step = 1 },
	{ .id = XV_PARAMS_ESTABLISH_MS, .name = "establish_ms",
	  .kind = XV_K_U32, .min = 1, .max = XV_MAX_ESTABLISH_MS },
	{ .id = XV_PARAMS_REUSE, .name = "reuse", .kind = XV_K_U32, .max = 1 },
};

static const struct xv_attr_spec request_attrs[] = {
	{ .id = XV_REQUEST_LISTENER, .name = "listener", .kind = XV_K_READ,
	  .type = XV_OBJ_LISTENER, .required = true },
	{ .id = XV_REQUEST_TOKEN, .name = "token", .kind = XV_K_U64,
	  .max = U64_MAX, .required = true },
};

XV_DEFINE_GROUP(new_object, XV_GRP_OBJECT, "object");
XV_DEFINE_OBJECT_GROUP(destroy_object, XV_K_DESTROY, XV_OBJ_CONN);
XV_DEFINE_OBJECT_GROUP(read_object, XV_K_READ, XV_OBJ_CONN);
XV_DEFINE_OBJECT_GROUP(write_object, XV_K_WRITE, XV_OBJ_CONN);
XV_DEFINE_GROUP(address, XV_GRP_ADDRESS, "address");
XV_DEFINE_GROUP(path, XV_GRP_PATH, "path");
XV_DEFINE_GROUP(params, XV_GRP_PARAMS, "params");
XV_DEFINE_GROUP(request, XV_GRP_REQUEST, "request");
XV_DEFINE_RESULT_GROUP(result, struct xv_conn_info);

static const struct xv_group_use create_groups[] = {
	{ .group = &new_object, .required = true },
	{ .group = &xv_group_events, .required = true },
	{ .group = &address, .one_of = true },
	{ .group = &path },
	{ .group = &params },
	{ .group = &request, .one_of = true },
};

static const struct xv_group_use destroy_groups[] = {
	{ .group = &destroy_object, .required = true },
};

static const struct xv_group_use query_groups[] = {
	{ .group = &read_object, .required = true },
	{ .group = &result, .required = true },
};

static const struct xv_group_use disconnect_groups[] = {
	{ .group = &write_object, .required = true },
};

static const struct xv_method_spec conn_methods[] = {
	{ .id = XV_M_CREATE, .name = "create", .class = XV_C_CREATE,
	  .groups = create_groups, .num_groups = ARRAY_SIZE(create_groups),
	  .check = conn_check, .make = conn_create, .commit = conn_commit },
	{ .id = XV_M_DESTROY, .name = "destroy", .class = XV_C_DESTROY,
	  .groups = destroy_groups, .num_groups = ARRAY_SIZE(destroy_groups) },
	{ .id = XV_M_QUERY, .name = "query", .class = XV_C_QUERY,
	  .groups = query_groups, .num_groups = ARRAY_SIZE(query_groups),
	  .make = conn_query },
	{ .id = XV_M_DISCONNECT, .name = "disconnect", .class = XV_C_START,
	  .groups = disconnect_groups,
	  .num_groups = ARRAY_SIZE(disconnect_groups),
	  .commit = conn_disconnect },
};

static const struct xv_type_ops conn_ops = {
	.size = sizeof(struct xv_conn),
	.edges = offsetof(struct xv_conn, edges),
	.num_edges = 1,
	.destroy = conn_destroy,
	.publish = conn_publish,
	.unpublish = conn_unpublish,
	.free = conn_free,
};

const struct xv_type xv_type_conn = {
	.id = XV_OBJ_CONN, .name = "conn",
	.methods = conn_methods, .num_methods = ARRAY_SIZE(conn_methods),
	.ops = &conn_ops,
};
