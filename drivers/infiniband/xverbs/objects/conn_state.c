// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The states of a connection: how it is established, and how it ends.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Established is what data shows, not what a message of the connection manager
 * says, which can be late or lost: on the passive side the first of its event,
 * the driver's COMM_EST and the first receive. The event is queued before that
 * receive is put into the ring, so no program sees it the other way round.
 */
#include "../data/data.h"
#include "../trace.h"
#include "conn.h"
#include "qp_state.h"

/**
 * xv_conn_set_state - it goes on
 * @conn: the connection, its conn_lock held
 * @state: enum xv_conn_state
 *
 * Context: any.
 */
void xv_conn_set_state(struct xv_conn *conn, u8 state)
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

/**
 * xv_conn_add_todo - let a step do something
 * @conn: the connection, its conn_lock held
 * @todo: XV_XV_TODO_*
 *
 * Context: any.
 */
void xv_conn_add_todo(struct xv_conn *conn, u32 todo)
{
	lockdep_assert_held(&conn->qp->conn_lock);
	conn->todo |= todo;
	queue_item(conn, &conn->step);
}

/**
 * xv_conn_note_todo - let a step do something, unless it is over
 * @conn: the connection
 * @todo: XV_XV_TODO_*
 *
 * Context: any.
 */
void xv_conn_note_todo(struct xv_conn *conn, u32 todo)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->qp->conn_lock, flags);
	if (conn->state != XV_CONN_ENDED)
		xv_conn_add_todo(conn, todo);
	spin_unlock_irqrestore(&conn->qp->conn_lock, flags);
}

/**
 * xv_conn_end_locked - it is over, for the first reason that anybody gave
 * @conn: the connection, its conn_lock held
 * @err: negative errno, 0: as asked for
 * @raw: what the connection manager said
 *
 * Never established means that nothing was received, whatever the driver still
 * completes.
 *
 * Context: any.
 */
void xv_conn_end_locked(struct xv_conn *conn, int err, int raw)
{
	lockdep_assert_held(&conn->qp->conn_lock);
	if (!conn->started || conn->state == XV_CONN_ENDED)
		return;
	conn->was_up = conn->state == XV_CONN_ESTABLISHED;
	conn->err = -err;
	conn->raw = raw;
	xv_conn_set_state(conn, XV_CONN_ENDED);
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
		xv_conn_add_todo(conn, XV_TODO_DROP_ID);
	else if (!conn->iwarp)
		xv_conn_add_todo(conn, XV_TODO_GOODBYE);
}

/**
 * xv_conn_end - as xv_conn_end_locked()
 * @conn: the connection
 * @err: negative errno, 0: as asked for
 * @raw: what the connection manager said
 *
 * Context: any.
 */
void xv_conn_end(struct xv_conn *conn, int err, int raw)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->qp->conn_lock, flags);
	xv_conn_end_locked(conn, err, raw);
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

/**
 * xv_conn_establish_locked - established now?
 * @conn: the connection, its conn_lock held
 * @cause: enum xv_conn_cause
 *
 * The event comes before what was received is let go.
 *
 * Context: any.
 */
void xv_conn_establish_locked(struct xv_conn *conn, u8 cause)
{
	struct xv_qp *qp = conn->qp;

	lockdep_assert_held(&qp->conn_lock);
	if (conn->state != XV_CONN_CONNECTING && conn->state != XV_CONN_ACCEPTING)
		return;
	conn->cause = cause;
	xv_conn_set_state(conn, XV_CONN_ESTABLISHED);
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
		xv_conn_establish_locked(conn, XV_CONN_BY_DATA);
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
		xv_conn_establish_locked(qp->conn, XV_CONN_BY_COMM_EST);
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
		xv_conn_end_locked(qp->conn, status_errno(status), 0);
	spin_unlock_irqrestore(&qp->conn_lock, flags);
}

/**
 * xv_conn_end_work - take the queue pair to ERR, then tell the user
 * @work: the work item
 */
void xv_conn_end_work(struct work_struct *work)
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

/**
 * xv_conn_timer_work - was it established in time?
 * @work: the work item
 */
void xv_conn_timer_work(struct work_struct *work)
{
	struct xv_conn *conn = container_of(to_delayed_work(work),
					    struct xv_conn, timer);
	unsigned long flags;

	spin_lock_irqsave(&conn->qp->conn_lock, flags);
	if (conn->state != XV_CONN_ESTABLISHED)
		xv_conn_end_locked(conn, -ETIMEDOUT, 0);
	spin_unlock_irqrestore(&conn->qp->conn_lock, flags);
	xv_uobj_put(&conn->uobj);
}
