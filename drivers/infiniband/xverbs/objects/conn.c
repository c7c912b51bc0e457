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
 * Established is what data shows, not what a message of the connection manager
 * says, which can be late or lost: on the passive side the first of its event,
 * the driver's COMM_EST and the first receive. The event is queued before that
 * receive is put into the ring, so no program sees it the other way round.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <rdma/ib_cm.h>
#include "../data/data.h"
#include "../trace.h"
#include "cm.h"
#include "conn.h"
#include "objects.h"
#include "qp_state.h"

#define XV_CONN_NUM_EVENTS	3

static const u16 conn_event_kinds[XV_CONN_NUM_EVENTS] = {
	XV_EV_ESTABLISHED, XV_EV_CONNECT_FAILED, XV_EV_DISCONNECTED,
};

/* What a step has to do. */
#define TODO_ADDR	BIT(0)	/* resolve the address */
#define TODO_ROUTE	BIT(1)	/* resolve the route */
#define TODO_CONNECT	BIT(2)	/* send the request */
#define TODO_RESPONSE	BIT(3)	/* the peer has accepted */
#define TODO_ACCEPT	BIT(4)	/* accept the peer's request */
#define TODO_GOODBYE	BIT(5)	/* tell the connection manager that it is over */
#define TODO_PEER_GONE	BIT(6)	/* the peer has disconnected */
#define TODO_DROP_ID	BIT(7)	/* the id is of no use any more */
#define TODO_AGAIN	BIT(8)	/* connect again, a little later */

/* How much later. */
#define XV_AGAIN_MS	200

/**
 * struct xv_conn - a connection
 * @uobj: the object
 * @edges: to the queue pair
 * @qp: the queue pair; its conn_lock protects what is said to be locked
 * @cm: context of @id
 * @id: id of the connection manager; set to NULL, locked, before it is destroyed
 * @request: the peer's request, from get to commit or abort
 * @state: enum xv_conn_state; locked
 * @cause: enum xv_conn_cause; locked
 * @passive: made from a request
 * @iwarp: the transport is iWARP
 * @started: committed; locked
 * @dead: unpublished: nothing is queued any more; locked
 * @was_up: it was established before it ended; locked
 * @todo: TODO_*; locked
 * @err: why it ended, positive errno, 0: as asked for; locked
 * @raw: what the connection manager said about that; locked
 * @step: see above
 * @end: see above
 * @timer: see above
 * @src: our address, as far as it is known; locked once it is started
 * @dst: the peer's; likewise
 * @establish_ms: limit for the timer
 * @tos: type of service, -1: not given
 * @ack_timeout: local ACK timeout, -1: not given
 * @min_rnr_timer: code
 * @reuse: the source address may be in use
 * @bound: a source address was asked for
 * @param: parameters of the connect or accept
 * @ours: private data that we send
 * @theirs: private data of the peer; locked
 * @events: its events
 * @nodes: one node for each kind
 */
struct xv_conn {
	struct xv_uobj uobj;
	struct xv_edge edges[1];
	struct xv_qp *qp;
	struct xv_cm cm;
	struct rdma_cm_id *id;
	struct xv_request *request;
	u8 state;
	u8 cause;
	bool passive;
	bool iwarp;
	bool started;
	bool dead;
	bool was_up;
	u32 todo;
	int err;
	int raw;
	struct work_struct step;
	struct work_struct end;
	struct delayed_work timer;
	struct sockaddr_storage src;
	struct sockaddr_storage dst;
	u32 establish_ms;
	int tos;
	int ack_timeout;
	u8 min_rnr_timer;
	bool reuse;
	bool bound;
	struct rdma_conn_param param;
	struct xv_cm_data ours;
	struct xv_cm_data theirs;
	struct xv_evsource events;
	struct xv_evnode nodes[XV_CONN_NUM_EVENTS];
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

/* ---- states ---- */

static void set_conn_state(struct xv_conn *conn, u8 state)
{
	lockdep_assert_held(&conn->qp->conn_lock);
	if (conn->state != state)
		trace_xv_conn_state(&conn->uobj, conn->state, state, conn->err);
	conn->state = state;
}

/* A work item holds the object until it has run. */
static void queue_item(struct xv_conn *conn, struct work_struct *work)
{
	lockdep_assert_held(&conn->qp->conn_lock);
	if (conn->dead)
		return;
	xv_uobj_get(&conn->uobj);
	/* Was it queued already, somebody else's reference stays. */
	if (!queue_work(xv_wq, work))
		xv_uobj_put(&conn->uobj);
}

static void add_todo(struct xv_conn *conn, u32 todo)
{
	lockdep_assert_held(&conn->qp->conn_lock);
	conn->todo |= todo;
	queue_item(conn, &conn->step);
}

static void note_todo(struct xv_conn *conn, u32 todo)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->qp->conn_lock, flags);
	if (conn->state != XV_CONN_ENDED)
		add_todo(conn, todo);
	spin_unlock_irqrestore(&conn->qp->conn_lock, flags);
}

/*
 * It is over, for the first reason that anybody gave. Never established means
 * that nothing was received, whatever the driver still completes. @err is
 * negative.
 */
static void end_locked(struct xv_conn *conn, int err, int raw)
{
	lockdep_assert_held(&conn->qp->conn_lock);
	if (!conn->started || conn->state == XV_CONN_ENDED)
		return;
	conn->was_up = conn->state == XV_CONN_ESTABLISHED;
	conn->err = -err;
	conn->raw = raw;
	set_conn_state(conn, XV_CONN_ENDED);
	if (!conn->was_up)
		WRITE_ONCE(conn->qp->cut, true);
	conn->todo = 0;
	queue_item(conn, &conn->end);
	/*
	 * An attempt leaves nothing behind, a connection says goodbye. On iWARP
	 * ERR ends the stream. What the connection manager would do there, an
	 * orderly close, makes siw forget reads that are outstanding.
	 */
	if (!conn->was_up)
		add_todo(conn, TODO_DROP_ID);
	else if (!conn->iwarp)
		add_todo(conn, TODO_GOODBYE);
}

static void end_conn(struct xv_conn *conn, int err, int raw)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->qp->conn_lock, flags);
	end_locked(conn, err, raw);
	spin_unlock_irqrestore(&conn->qp->conn_lock, flags);
}

/*
 * On iWARP the responder must not send before it has received (RFC 5044,
 * 7.1.2), whatever the connection manager says.
 */
static bool sends_must_wait(const struct xv_conn *conn, u8 cause)
{
	return conn->iwarp && conn->passive && cause != XV_CONN_BY_DATA;
}

/* Established now? The event comes before what was received is let go. */
static void establish_locked(struct xv_conn *conn, u8 cause)
{
	struct xv_qp *qp = conn->qp;

	lockdep_assert_held(&qp->conn_lock);
	if (conn->state != XV_CONN_CONNECTING && conn->state != XV_CONN_ACCEPTING)
		return;
	conn->cause = cause;
	set_conn_state(conn, XV_CONN_ESTABLISHED);
	xv_event_raise_data(&conn->events, XV_EV_ESTABLISHED, cause);
	if (!sends_must_wait(conn, cause))
		WRITE_ONCE(qp->hold_sends, false);
	/* The event is there before a completion. */
	smp_store_release(&qp->hold_recvs, false);
	/*
	 * Until it is told the connection manager repeats its reply, and gives
	 * the connection up after a minute.
	 */
	if (conn->passive && cause != XV_CONN_BY_CM && conn->id)
		rdma_notify(conn->id, IB_EVENT_COMM_EST);
	xv_qp_queue_work(qp);
}

/**
 * xv_conn_received - a successful receive while something is held
 * @qp: the queue pair, with the mutex of its receive CQ held
 */
void xv_conn_received(struct xv_qp *qp)
{
	struct xv_conn *conn;
	unsigned long flags;

	spin_lock_irqsave(&qp->conn_lock, flags);
	conn = qp->conn;
	/* The active side waits for the answer: it is on its way or here. */
	if (!conn || !conn->passive)
		goto out_unlock;
	if (conn->state == XV_CONN_ACCEPTING) {
		establish_locked(conn, XV_CONN_BY_DATA);
	} else if (conn->state == XV_CONN_ESTABLISHED && qp->hold_sends) {
		WRITE_ONCE(qp->hold_sends, false);
		xv_qp_queue_work(qp);
	}
out_unlock:
	spin_unlock_irqrestore(&qp->conn_lock, flags);
}

/**
 * xv_conn_comm_est - the driver says that the peer is there
 * @qp: the queue pair
 *
 * Context: any.
 */
void xv_conn_comm_est(struct xv_qp *qp)
{
	unsigned long flags;

	spin_lock_irqsave(&qp->conn_lock, flags);
	if (qp->conn && qp->conn->passive)
		establish_locked(qp->conn, XV_CONN_BY_COMM_EST);
	spin_unlock_irqrestore(&qp->conn_lock, flags);
}

static int status_errno(u8 status)
{
	switch (status) {
	case XV_WC_RETRY_EXC_ERR:
	case XV_WC_RNR_RETRY_EXC_ERR:
		return -ETIMEDOUT;
	default:
		return -ECONNABORTED;
	}
}

/**
 * xv_conn_failed - the queue pair has failed, and its connection with it
 * @qp: the queue pair
 * @status: enum xv_wc_status that told it, or 0
 *
 * Context: any.
 */
void xv_conn_failed(struct xv_qp *qp, u8 status)
{
	unsigned long flags;

	/*
	 * On iWARP a stream that has ended, or a request that was refused, flushes
	 * what is outstanding. The event that says why comes a moment later.
	 */
	if (qp->iwarp && status == XV_WC_FLUSH_ERR)
		return;
	spin_lock_irqsave(&qp->conn_lock, flags);
	if (qp->conn)
		end_locked(qp->conn, status_errno(status), 0);
	spin_unlock_irqrestore(&qp->conn_lock, flags);
}

/* ---- the end ---- */

static void conn_end(struct work_struct *work)
{
	struct xv_conn *conn = container_of(work, struct xv_conn, end);
	struct xv_qp *qp = conn->qp;

	mutex_lock(&qp->lock);
	/* Whatever the driver says: nothing more goes to it. */
	if (xv_qp_to_err(qp))
		xv_qp_note_failed(qp);
	WRITE_ONCE(qp->hold_recvs, false);
	xv_qp_let_go(qp);
	xv_qp_drain(qp);
	xv_qp_early(qp);
	mutex_unlock(&qp->lock);
	xv_queue_auto_reap(&qp->rq, XV_AUTO_CONN, false);
	/* Everything that was outstanding is in the ring by now. */
	xv_event_raise_data(&conn->events, conn->was_up ? XV_EV_DISCONNECTED :
			    XV_EV_CONNECT_FAILED, conn->err);
	xv_uobj_put(&conn->uobj);
}

static void conn_timer(struct work_struct *work)
{
	struct xv_conn *conn = container_of(to_delayed_work(work),
					    struct xv_conn, timer);
	unsigned long flags;

	spin_lock_irqsave(&conn->qp->conn_lock, flags);
	if (conn->state != XV_CONN_ESTABLISHED)
		end_locked(conn, -ETIMEDOUT, 0);
	spin_unlock_irqrestore(&conn->qp->conn_lock, flags);
	xv_uobj_put(&conn->uobj);
}

/* ---- steps ---- */

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
		end_conn(conn, -EADDRNOTAVAIL, -EXDEV);
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
		set_conn_state(conn, XV_CONN_CONNECTING);
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
	establish_locked(conn, XV_CONN_BY_CM);
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
	end_conn(conn, -ECONNRESET, 0);
}

static void keep_addresses(struct xv_conn *conn)
{
	const struct rdma_addr *addr = &conn->id->route.addr;

	if (addr->src_addr.ss_family)
		conn->src = addr->src_addr;
	if (addr->dst_addr.ss_family)
		conn->dst = addr->dst_addr;
}

static void drop_id(struct xv_conn *conn)
{
	struct rdma_cm_id *id;
	unsigned long flags;

	spin_lock_irqsave(&conn->qp->conn_lock, flags);
	id = conn->id;
	if (id)
		keep_addresses(conn);
	conn->id = NULL;
	spin_unlock_irqrestore(&conn->qp->conn_lock, flags);
	if (id)
		rdma_destroy_id(id);
}

static struct rdma_cm_id *new_id(struct xv_conn *conn)
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

	drop_id(conn);
	msleep(XV_AGAIN_MS);
	id = new_id(conn);
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

static void conn_step(struct work_struct *work)
{
	struct xv_conn *conn = container_of(work, struct xv_conn, step);
	u32 todo = take_todo(conn);
	int ret = 0;

	if (todo & TODO_AGAIN)
		ret = connect_again(conn);
	if (todo & TODO_ADDR)
		ret = resolve_addr(conn);
	if (todo & TODO_ROUTE)
		ret = resolve_route(conn);
	if (todo & TODO_CONNECT)
		ret = send_request(conn);
	if (todo & TODO_RESPONSE)
		ret = accept_response(conn);
	if (todo & TODO_ACCEPT)
		ret = answer(conn, &conn->param);
	if (ret)
		end_conn(conn, cm_errno(ret), ret);
	if (todo & TODO_PEER_GONE)
		peer_gone(conn);
	if (todo & TODO_GOODBYE && conn->id)
		rdma_disconnect(conn->id);
	if (todo & TODO_DROP_ID)
		drop_id(conn);
	xv_uobj_put(&conn->uobj);
}

/* ---- events of the connection manager ---- */

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
		note_todo(conn, TODO_RESPONSE);
		return;
	}
	spin_lock_irqsave(&conn->qp->conn_lock, flags);
	establish_locked(conn, XV_CONN_BY_CM);
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
		set_conn_state(conn, XV_CONN_RESOLVING);
		add_todo(conn, TODO_AGAIN);
	}
	if (conn->state != XV_CONN_RESOLVING)
		end_locked(conn, conn->state == XV_CONN_ESTABLISHED ?
			   -ECONNRESET : -ECONNREFUSED, event->status);
	spin_unlock_irqrestore(&conn->qp->conn_lock, flags);
}

static int conn_event(struct xv_cm *cm, struct rdma_cm_id *id,
		      struct rdma_cm_event *event)
{
	struct xv_conn *conn = container_of(cm, struct xv_conn, cm);

	trace_xv_conn_cm(&conn->uobj, event->event, event->status);
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		note_todo(conn, TODO_ROUTE);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		note_todo(conn, TODO_CONNECT);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		keep_answer(conn, &event->param.conn);
		note_todo(conn, TODO_RESPONSE);
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
		end_conn(conn, -ETIMEDOUT, event->status);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		end_conn(conn, cm_errno(event->status), event->status);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		note_todo(conn, TODO_PEER_GONE);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		/* Ours was removed before; this is the one it resolved to. */
		end_conn(conn, -ENODEV, 0);
		break;
	default:
		/* It tells something, but ends nothing. */
		break;
	}
	return 0;
}

/* ---- create ---- */

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
	struct rdma_cm_id *id = new_id(conn);

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
	conn->cm.handler = conn_event;
	conn->passive = listener;
	conn->iwarp = !rdma_ib_or_roce(call->ibdev, 1);
	INIT_WORK(&conn->step, conn_step);
	INIT_WORK(&conn->end, conn_end);
	INIT_DELAYED_WORK(&conn->timer, conn_timer);
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
	set_conn_state(conn, XV_CONN_ACCEPTING);
	/* The peer may have lost patience since. */
	if (id)
		add_todo(conn, TODO_ACCEPT);
	else
		end_locked(conn, -ECONNRESET, 0);
	spin_unlock_irq(&conn->qp->conn_lock);
}

static void start_active(struct xv_conn *conn)
{
	spin_lock_irq(&conn->qp->conn_lock);
	conn->started = true;
	set_conn_state(conn, XV_CONN_RESOLVING);
	add_todo(conn, TODO_ADDR);
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

/* ---- destroy ---- */

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
		drop_id(conn);
		unbind_qp(conn);
		return 0;
	}
	/* Nothing is established any more, whatever comes now. */
	spin_lock_irq(&qp->conn_lock);
	if (conn->state != XV_CONN_ESTABLISHED && !conn->was_up)
		WRITE_ONCE(qp->cut, true);
	set_conn_state(conn, XV_CONN_ENDED);
	spin_unlock_irq(&qp->conn_lock);
	mutex_lock(&qp->lock);
	if (xv_qp_to_err(qp))
		xv_qp_note_failed(qp);
	mutex_unlock(&qp->lock);
	/* The peer is told; on iWARP it has been. */
	if (conn->id && !conn->iwarp)
		rdma_disconnect(conn->id);
	drop_id(conn);
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

/* ---- query and disconnect ---- */

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
		keep_addresses(conn);
	xv_cm_write_addr(&conn->src, info.local);
	xv_cm_write_addr(&conn->dst, info.remote);
	spin_unlock_irq(&conn->qp->conn_lock);
	return xv_result(call, op, &info, sizeof(info));
}

static void conn_disconnect(struct xv_call *call, struct xv_opx *op)
{
	end_conn(to_conn(op->obj), 0, 0);
}

/* ---- tables ---- */

static const struct xv_attr_spec new_object_attrs[] = {
	{ .id = XV_OBJECT_HANDLE, .name = "handle", .kind = XV_K_NEW,
	  .type = XV_OBJ_CONN, .required = true },
	{ .id = XV_OBJECT_QP, .name = "qp", .kind = XV_K_WRITE,
	  .type = XV_OBJ_QP, .required = true },
};

static const struct xv_attr_spec destroy_object_attrs[] = {
	{ .id = XV_OBJECT_HANDLE, .name = "handle", .kind = XV_K_DESTROY,
	  .type = XV_OBJ_CONN, .required = true },
};

static const struct xv_attr_spec read_object_attrs[] = {
	{ .id = XV_OBJECT_HANDLE, .name = "handle", .kind = XV_K_READ,
	  .type = XV_OBJ_CONN, .required = true },
};

static const struct xv_attr_spec write_object_attrs[] = {
	{ .id = XV_OBJECT_HANDLE, .name = "handle", .kind = XV_K_WRITE,
	  .type = XV_OBJ_CONN, .required = true },
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

static const struct xv_attr_spec result_attrs[] = {
	{ .id = XV_RESULT_INFO, .name = "info", .kind = XV_K_OUT,
	  .max = sizeof(struct xv_conn_info), .required = true },
};

static const struct xv_group_spec new_object = {
	.id = XV_GRP_OBJECT, .name = "object",
	.attrs = new_object_attrs, .num_attrs = ARRAY_SIZE(new_object_attrs),
};

static const struct xv_group_spec destroy_object = {
	.id = XV_GRP_OBJECT, .name = "object",
	.attrs = destroy_object_attrs,
	.num_attrs = ARRAY_SIZE(destroy_object_attrs),
};

static const struct xv_group_spec read_object = {
	.id = XV_GRP_OBJECT, .name = "object",
	.attrs = read_object_attrs, .num_attrs = ARRAY_SIZE(read_object_attrs),
};

static const struct xv_group_spec write_object = {
	.id = XV_GRP_OBJECT, .name = "object",
	.attrs = write_object_attrs,
	.num_attrs = ARRAY_SIZE(write_object_attrs),
};

static const struct xv_group_spec address = {
	.id = XV_GRP_ADDRESS, .name = "address",
	.attrs = address_attrs, .num_attrs = ARRAY_SIZE(address_attrs),
};

static const struct xv_group_spec path = {
	.id = XV_GRP_PATH, .name = "path",
	.attrs = path_attrs, .num_attrs = ARRAY_SIZE(path_attrs),
};

static const struct xv_group_spec params = {
	.id = XV_GRP_PARAMS, .name = "params",
	.attrs = params_attrs, .num_attrs = ARRAY_SIZE(params_attrs),
};

static const struct xv_group_spec request = {
	.id = XV_GRP_REQUEST, .name = "request",
	.attrs = request_attrs, .num_attrs = ARRAY_SIZE(request_attrs),
};

static const struct xv_group_spec result = {
	.id = XV_GRP_RESULT, .name = "result",
	.attrs = result_attrs, .num_attrs = ARRAY_SIZE(result_attrs),
};

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
