/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * conn: connection.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_OBJECTS_CONN_H
#define _XV_OBJECTS_CONN_H

#include "cm.h"

#define XV_CONN_NUM_EVENTS	3

/* What a step has to do. */
#define XV_TODO_ADDR	BIT(0)	/* resolve the address */
#define XV_TODO_ROUTE	BIT(1)	/* resolve the route */
#define XV_TODO_CONNECT	BIT(2)	/* send the request */
#define XV_TODO_RESPONSE	BIT(3)	/* the peer has accepted */
#define XV_TODO_ACCEPT	BIT(4)	/* accept the peer's request */
#define XV_TODO_GOODBYE	BIT(5)	/* tell the connection manager that it is over */
#define XV_TODO_PEER_GONE	BIT(6)	/* the peer has disconnected */
#define XV_TODO_DROP_ID	BIT(7)	/* the id is of no use any more */
#define XV_TODO_AGAIN	BIT(8)	/* connect again, a little later */

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
 * @todo: XV_TODO_*; locked
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

/* conn.c */
u32 xv_conn_of(struct xv_qp *qp);
int xv_conn_check_none(struct xv_call *call, struct xv_opx *op, u16 attr,
		       struct xv_qp *qp);

/* conn_state.c */
void xv_conn_received(struct xv_qp *qp);
void xv_conn_comm_est(struct xv_qp *qp);
void xv_conn_failed(struct xv_qp *qp, u8 status);
void xv_conn_set_state(struct xv_conn *conn, u8 state);
void xv_conn_add_todo(struct xv_conn *conn, u32 todo);
void xv_conn_note_todo(struct xv_conn *conn, u32 todo);
void xv_conn_establish_locked(struct xv_conn *conn, u8 cause);
void xv_conn_end_locked(struct xv_conn *conn, int err, int raw);
void xv_conn_end(struct xv_conn *conn, int err, int raw);
void xv_conn_end_work(struct work_struct *work);
void xv_conn_timer_work(struct work_struct *work);

/* conn_step.c */
void xv_conn_step_work(struct work_struct *work);
int xv_conn_event(struct xv_cm *cm, struct rdma_cm_id *id,
		  struct rdma_cm_event *event);
void xv_conn_keep_addresses(struct xv_conn *conn);
void xv_conn_drop_id(struct xv_conn *conn);
struct rdma_cm_id *xv_conn_new_id(struct xv_conn *conn);

#endif /* _XV_OBJECTS_CONN_H */
