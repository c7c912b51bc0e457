// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A connection and the connection manager: its events, and the steps that they
 * lead to.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/delay.h>
#include <rdma/ib_cm.h>
#include "../data/data.h"
#include "../trace.h"
#include "conn.h"
#include "qp_state.h"

/* How much later it is tried again. */
#define XV_AGAIN_MS	200

/* What the connection manager said, in the words of sockets. */
static int cm_errno(int raw)
{
	switch (raw) {
	case -ENOMEM:
	case -EADDRINUSE:
	case -EADDRNOTAVAIL:
	case -ENETUNREACH:
	case -EHOSTUNREACH:
	case -ECONNREFUSED:
	case -ECONNRESET:
	case -ETIMEDOUT:
	case -EACCES:
		return raw;
	case -ENODEV:
	case -ENODATA:
		/* No RDMA device has or reaches that address. */
		return -EADDRNOTAVAIL;
	default:
		return -EHOSTUNREACH;
	}
}

static int resolve_addr(struct xv_conn *conn)
{
	/* The source is bound: here nobody's rights would be looked at. */
	return rdma_resolve_addr(conn->id, NULL, (struct sockaddr *)&conn->dst,
				 conn->establish_ms);
}

static int resolve_route(struct xv_conn *conn)
{
	struct xv_qp *qp = conn->qp;
	int ret;

	if (conn->id->device != qp->ibqp->device) {
		/* Not ours to keep: it would hold the other device's removal up. */
		xv_conn_end(conn, -EADDRNOTAVAIL, -EXDEV);
		return 0;
	}
	mutex_lock(&qp->lock);
	ret = READ_ONCE(conn->state) == XV_CONN_ENDED ? -ECONNABORTED :
	      xv_qp_cm_init(qp, conn->id);
	mutex_unlock(&qp->lock);
	return ret ? ret : rdma_resolve_route(conn->id, conn->establish_ms);
}

static int send_request(struct xv_conn *conn)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->qp->conn_lock, flags);
	if (conn->state == XV_CONN_RESOLVING)
		xv_conn_set_state(conn, XV_CONN_CONNECTING);
	spin_unlock_irqrestore(&conn->qp->conn_lock, flags);
	return rdma_connect(conn->id, &conn->param);
}

/* The queue pair first, then the word to the peer, who may send at once. */
static int answer(struct xv_conn *conn, struct rdma_conn_param *param)
{
	struct xv_qp *qp = conn->qp;
	int ret = -ECONNABORTED;

	rdma_lock_handler(conn->id);
	mutex_lock(&qp->lock);
	if (READ_ONCE(conn->state) != XV_CONN_ENDED) {
		ret = conn->passive ? xv_qp_cm_init(qp, conn->id) : 0;
		if (!ret)
			ret = xv_qp_cm_connect(qp, conn->id);
	}
	mutex_unlock(&qp->lock);
	if (!ret)
		ret = rdma_accept(conn->id, param);
	rdma_unlock_handler(conn->id);
	return ret;
}

static int accept_response(struct xv_conn *conn)
{
	struct xv_qp *qp = conn->qp;
	unsigned long flags;
	int ret = 0;

	/* On iWARP all is said and done by now, and our state follows. */
	if (conn->iwarp) {
		mutex_lock(&qp->lock);
		if (READ_ONCE(conn->state) != XV_CONN_ENDED)
			ret = xv_qp_cm_connect(qp, conn->id);
		mutex_unlock(&qp->lock);
	} else {
		ret = answer(conn, NULL);
	}
	if (ret)
		return ret;
	spin_lock_irqsave(&qp->conn_lock, flags);
	xv_conn_establish_locked(conn, XV_CONN_BY_CM);
	spin_unlock_irqrestore(&qp->conn_lock, flags);
	xv_qp_let_go(qp);
	return 0;
}

/*
 * What the peer sent before it left is received; it may be all that it sent. And
 * on iWARP it may have been a failure of ours.
 */
static void peer_gone(struct xv_conn *conn)
{
	xv_queue_drain(&conn->qp->sq);
	xv_queue_drain(&conn->qp->rq);
	xv_conn_end(conn, -ECONNRESET, 0);
}

/**
 * xv_conn_keep_addresses - remember what the connection manager found
 * @conn: the connection, its conn_lock held; its id is there
 *
 * Context: any.
 */
void xv_conn_keep_addresses(struct xv_conn *conn)
{
	const struct rdma_addr *addr = &conn->id->route.addr;

	if (addr->src_addr.ss_family)
		conn->src = addr->src_addr;
	if (addr->dst_addr.ss_family)
		conn->dst = addr->dst_addr;
}

/**
 * xv_conn_drop_id - the id is of no use any more
 * @conn: the connection
 *
 * Context: may sleep; waits for a handler that runs.
 */
void xv_conn_drop_id(struct xv_conn *conn)
{
	struct rdma_cm_id *id;
	unsigned long flags;

	spin_lock_irqsave(&conn->qp->conn_lock, flags);
	id = conn->id;
	if (id)
		xv_conn_keep_addresses(conn);
	conn->id = NULL;
	spin_unlock_irqrestore(&conn->qp->conn_lock, flags);
	if (id)
		rdma_destroy_id(id);
}

/**
 * xv_conn_new_id - an id with what the user asked for
 * @conn: the connection
 *
 * Context: may sleep.
 * Return: the id, or an ERR_PTR.
 */
struct rdma_cm_id *xv_conn_new_id(struct xv_conn *conn)
{
	struct rdma_cm_id *id = xv_cm_id_new(conn->uobj.file, &conn->cm);

	if (IS_ERR(id))
		return id;
	if (conn->reuse)
		rdma_set_reuseaddr(id, 1);
	if (conn->tos >= 0)
		rdma_set_service_type(id, conn->tos);
	if (conn->ack_timeout >= 0)
		rdma_set_ack_timeout(id, conn->ack_timeout);
	if (!conn->iwarp)
		rdma_set_min_rnr_timer(id, conn->min_rnr_timer);
	return id;
}

/* An id asks once. */
static int connect_again(struct xv_conn *conn)
{
	struct rdma_cm_id *id;
	unsigned long flags;
	bool over;
	int ret = 0;

	xv_conn_drop_id(conn);
	msleep(XV_AGAIN_MS);
	id = xv_conn_new_id(conn);
	if (IS_ERR(id))
		return PTR_ERR(id);
	/* It was ours a moment ago, so nobody's rights are in question. */
	if (conn->bound)
		ret = rdma_bind_addr(id, (struct sockaddr *)&conn->src);
	spin_lock_irqsave(&conn->qp->conn_lock, flags);
	over = ret || conn->dead || conn->state == XV_CONN_ENDED;
	if (!over)
		conn->id = id;
	spin_unlock_irqrestore(&conn->qp->conn_lock, flags);
	if (!over)
		return resolve_addr(conn);
	rdma_destroy_id(id);
	return ret;
}

static u32 take_todo(struct xv_conn *conn)
{
	unsigned long flags;
	u32 todo;

	spin_lock_irqsave(&conn->qp->conn_lock, flags);
	todo = conn->dead ? 0 : conn->todo;
	conn->todo = 0;
	spin_unlock_irqrestore(&conn->qp->conn_lock, flags);
	return todo;
}

/**
 * xv_conn_step_work - what there is to do with the connection manager
 * @work: the work item
 */
void xv_conn_step_work(struct work_struct *work)
{
	struct xv_conn *conn = container_of(work, struct xv_conn, step);
	u32 todo = take_todo(conn);
	int ret = 0;

	if (todo & XV_TODO_AGAIN)
		ret = connect_again(conn);
	if (todo & XV_TODO_ADDR)
		ret = resolve_addr(conn);
	if (todo & XV_TODO_ROUTE)
		ret = resolve_route(conn);
	if (todo & XV_TODO_CONNECT)
		ret = send_request(conn);
	if (todo & XV_TODO_RESPONSE)
		ret = accept_response(conn);
	if (todo & XV_TODO_ACCEPT)
		ret = answer(conn, &conn->param);
	if (ret)
		xv_conn_end(conn, cm_errno(ret), ret);
	if (todo & XV_TODO_PEER_GONE)
		peer_gone(conn);
	if (todo & XV_TODO_GOODBYE && conn->id)
		rdma_disconnect(conn->id);
	if (todo & XV_TODO_DROP_ID)
		xv_conn_drop_id(conn);
	xv_uobj_put(&conn->uobj);
}

static void keep_data(struct xv_conn *conn, const struct rdma_conn_param *from)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->qp->conn_lock, flags);
	xv_cm_save(&conn->theirs, from->private_data, from->private_data_len);
	spin_unlock_irqrestore(&conn->qp->conn_lock, flags);
}

/* The peer has accepted, perhaps less than was offered. */
static void keep_answer(struct xv_conn *conn, const struct rdma_conn_param *from)
{
	unsigned long flags;

	keep_data(conn, from);
	spin_lock_irqsave(&conn->qp->conn_lock, flags);
	/* It is told from our point of view; of iWARP's two only the request. */
	conn->param.initiator_depth = conn->iwarp ? from->responder_resources :
				      from->initiator_depth;
	conn->param.responder_resources = conn->iwarp ? from->initiator_depth :
					  from->responder_resources;
	spin_unlock_irqrestore(&conn->qp->conn_lock, flags);
}

static void cm_established(struct xv_conn *conn)
{
	unsigned long flags;

	/* Active: only on iWARP; our copy of the state has to follow first. */
	if (!conn->passive) {
		xv_conn_note_todo(conn, XV_TODO_RESPONSE);
		return;
	}
	spin_lock_irqsave(&conn->qp->conn_lock, flags);
	xv_conn_establish_locked(conn, XV_CONN_BY_CM);
	spin_unlock_irqrestore(&conn->qp->conn_lock, flags);
}

/* The peer does not want it, or does not exist any more. */
static void cm_rejected(struct xv_conn *conn, struct rdma_cm_event *event)
{
	unsigned long flags;

	keep_data(conn, &event->param.conn);
	spin_lock_irqsave(&conn->qp->conn_lock, flags);
	/*
	 * The peer's manager still knows another connection of a queue pair with
	 * this number: it forgets that soon, and this has reminded it.
	 */
	if (conn->state == XV_CONN_CONNECTING &&
	    event->status == IB_CM_REJ_STALE_CONN) {
		xv_conn_set_state(conn, XV_CONN_RESOLVING);
		xv_conn_add_todo(conn, XV_TODO_AGAIN);
	}
	if (conn->state != XV_CONN_RESOLVING)
		xv_conn_end_locked(conn, conn->state == XV_CONN_ESTABLISHED ?
				   -ECONNRESET : -ECONNREFUSED, event->status);
	spin_unlock_irqrestore(&conn->qp->conn_lock, flags);
}

/**
 * xv_conn_event - an event of the connection manager
 * @cm: context of the id
 * @id: the id, its handler mutex held
 * @event: the event
 *
 * Context: may sleep.
 * Return: 0: the id stays.
 */
int xv_conn_event(struct xv_cm *cm, struct rdma_cm_id *id,
		  struct rdma_cm_event *event)
{
	struct xv_conn *conn = container_of(cm, struct xv_conn, cm);

	trace_xv_conn_cm(&conn->uobj, event->event, event->status);
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		xv_conn_note_todo(conn, XV_TODO_ROUTE);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		xv_conn_note_todo(conn, XV_TODO_CONNECT);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		keep_answer(conn, &event->param.conn);
		xv_conn_note_todo(conn, XV_TODO_RESPONSE);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		xv_fault_delay_cm();
		if (!conn->passive)
			keep_answer(conn, &event->param.conn);
		cm_established(conn);
		break;
	case RDMA_CM_EVENT_REJECTED:
		cm_rejected(conn, event);
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		/* A neighbour's new address ends no connection that works. */
		if (READ_ONCE(conn->state) == XV_CONN_ESTABLISHED)
			break;
		xv_conn_end(conn, -ETIMEDOUT, event->status);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		xv_conn_end(conn, cm_errno(event->status), event->status);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		xv_conn_note_todo(conn, XV_TODO_PEER_GONE);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		/* Ours was removed before; this is the one it resolved to. */
		xv_conn_end(conn, -ENODEV, 0);
		break;
	default:
		/* It tells something, but ends nothing. */
		break;
	}
	return 0;
}
