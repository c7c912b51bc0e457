/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * qp: queue pair.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_OBJECTS_QP_H
#define _XV_OBJECTS_QP_H

#include <linux/mutex.h>
#include "../core/event.h"
#include "../data/area.h"
#include "cq.h"
#include "srq.h"

/* Flags of struct xv_shadow. */
#define XV_SHADOW_TELL	BIT(0)	/* the user wants to see the completion */
#define XV_SHADOW_OURS	BIT(1)	/* never posted: we complete it */

/**
 * struct xv_shadow - what we keep of an entry until it completes
 * @wr_id: the user's
 * @opcode: the user's; 0 for receives
 * @flags: XV_SHADOW_*
 * @status: enum xv_wc_status of an entry that we complete
 */
struct xv_shadow {
	u64 wr_id;
	u8 opcode;
	u8 flags;
	u8 status;
};

/* Why the kernel reaps by itself, in &xv_queue.auto_reap. */
#define XV_AUTO_RTR	BIT(0)	/* the first receive is an event */
#define XV_AUTO_CONN	BIT(1)	/* a receive may establish the connection */
#define XV_AUTO_ROOM	BIT(2)	/* somebody waits for free slots */

/**
 * struct xv_queue - one of the two queues of a queue pair
 * @slots: shadow array; an entry's slot is its number modulo the ring's size
 * @cq: where it completes
 * @shared_done: the user's copy of @done
 * @depth: entries outstanding at most; 0 if there is no such queue
 * @mask: ring entries - 1
 * @taken: entries consumed; written under the ring mutex
 * @posted: of these, posted to the driver or completed by us; likewise. What
 *	lies between waits in the ring for RTS
 * @unsignaled: posted since the last one that the driver signals; likewise
 * @polled: entries whose end is known; under the CQ mutex
 * @done: entries whose slot is free; written under the CQ mutex
 * @held: completions of this queue in xv_cq.held; under the CQ mutex
 * @ours: entries between @polled and @posted that we complete; likewise
 * @attached: completions are looked at; likewise
 * @auto_reap: XV_AUTO_*; likewise
 * @failed: counted in xv_cq.num_failed; likewise
 * @recv: this is the receive queue
 */
struct xv_queue {
	struct xv_shadow *slots;
	struct xv_cq *cq;
	u32 *shared_done;
	u32 depth;
	u32 mask;
	u32 taken;
	u32 posted;
	u32 unsignaled;
	u32 polled;
	u32 done;
	u32 held;
	u32 ours;
	bool attached;
	u8 auto_reap;
	bool failed;
	bool recv;
};

/**
 * struct xv_room - who waits for free slots of the send queue
 * @slots: so many; 0: nobody
 * @cookie: of the event
 */
struct xv_room {
	u32 slots;
	u64 cookie;
};

struct xv_conn;

#define XV_QP_NUM_EVENTS	9

/* Q_Keys with this bit need CAP_NET_RAW (InfiniBand volume 1, 10.2.5). */
#define XV_QKEY_PRIVILEGED	BIT(31)

/* Edges of a queue pair; children of a PD name it by their first edge. */
enum xv_qp_edge {
	XV_QP_EDGE_PD,
	XV_QP_EDGE_SEND_CQ,
	XV_QP_EDGE_RECV_CQ,
	XV_QP_EDGE_SRQ,
	XV_QP_NUM_EDGES,
};

/**
 * struct xv_qp - a queue pair
 * @uobj: the object
 * @edges: to PD, CQs and SRQ
 * @ibqp: the hardware object
 * @lock: the ring mutex: consuming entries, and changes of state
 * @chunk: its part of an area
 * @ring: head of the rings
 * @sends: send ring
 * @recvs: receive ring
 * @sq: send queue
 * @rq: receive queue; of depth 0 if it has an SRQ
 * @srq: shared receive queue, or NULL
 * @srq_use: what it shares with others of the same SRQ and receive CQ
 * @srq_link: in xv_srq.qps
 * @srq_node: in xv_cq.srq_qps of the receive CQ, unless it is empty
 * @recv_order: it has taken no receive before this one which has not ended; see
 *	data/srq.c; under xv_srq.slots_lock
 * @state: enum xv_qp_state; under @lock
 * @type: enum xv_qp_type
 * @gen: generation: completions of another one are dropped; under @lock and
 *	the mutexes of both CQs
 * @sig_all: all sends complete
 * @dead: unpublished; under @lock
 * @failed: a completion with an error was seen: the driver's state is ERR
 * @can_inline: the driver takes inline data
 * @iwarp: the transport is iWARP
 * @comm_est: the event of that kind was raised
 * @hold_recvs: completions wait until the connection is established
 * @hold_sends: sends wait in the ring, whatever the state
 * @cut: there was no establishment: receives end as flushed
 * @conn_lock: protects @conn and the state of the connection; see the lock
 *	order in cq.h
 * @conn: its connection, which depends on it
 * @room: the watch for free slots; under the mutex of the send CQ
 * @send_sge: pieces of a send, as asked for
 * @recv_sge: pieces of a receive, as asked for
 * @port: port of the device
 * @pkey_index: entry of its P_Key table
 * @access: XV_ACCESS_*
 * @qkey: Q_Key, for UD
 * @sq_psn: our first PSN
 * @path_mtu: in bytes; of UD, what one message can carry
 * @budget: bytes charged to the file's budget
 * @work: posts early sends, or ends them when the queue pair has failed
 * @events: its events
 * @nodes: one node for each kind; NULL without an event queue
 */
struct xv_qp {
	struct xv_uobj uobj;
	struct xv_edge edges[XV_QP_NUM_EDGES];
	struct ib_qp *ibqp;
	struct mutex lock;	/* see the lock order in cq.h */
	struct xv_chunk chunk;
	struct xv_qp_ring *ring;
	struct xv_send *sends;
	struct xv_recv *recvs;
	struct xv_queue sq;
	struct xv_queue rq;
	struct xv_srq *srq;
	struct xv_srq_use *srq_use;
	struct list_head srq_link;
	struct rb_node srq_node;
	u64 recv_order;
	u8 state;
	u8 type;
	u16 gen;
	bool sig_all;
	bool dead;
	bool failed;
	bool can_inline;
	bool iwarp;
	bool comm_est;
	bool hold_recvs;
	bool hold_sends;
	bool cut;
	spinlock_t conn_lock;	/* see the lock order in cq.h */
	struct xv_conn *conn;
	struct xv_room room;
	u8 send_sge;
	u8 recv_sge;
	u8 port;
	u16 pkey_index;
	u32 access;
	u32 qkey;
	u32 sq_psn;
	u32 path_mtu;
	u64 budget;
	struct work_struct work;
	struct xv_evsource events;
	struct xv_evnode *nodes;
};

static inline struct xv_qp *xv_to_qp(struct xv_uobj *obj)
{
	return container_of(obj, struct xv_qp, uobj);
}

static inline struct xv_uobj *xv_qp_pd(const struct xv_qp *qp)
{
	return qp->edges[XV_QP_EDGE_PD].parent;
}

/* The state that counts for who posts: the driver may be ahead of us. */
static inline u8 xv_qp_state(const struct xv_qp *qp)
{
	return READ_ONCE(qp->failed) ? XV_QPS_ERR : qp->state;
}

/* May sends go to the driver? Else they wait in the ring, or are flushed. */
static inline bool xv_qp_can_send(const struct xv_qp *qp)
{
	return xv_qp_state(qp) == XV_QPS_RTS && !READ_ONCE(qp->hold_sends);
}

/* The driver has put it into ERR: let everybody see that. Any context. */
static inline void xv_qp_note_failed(struct xv_qp *qp)
{
	WRITE_ONCE(qp->failed, true);
	/* Pairs with xv_qp_set_state(): the last one to look sees both. */
	smp_mb();
	WRITE_ONCE(qp->ring->state, XV_QPS_ERR);
}

static inline u32 xv_queue_free(const struct xv_queue *q)
{
	return q->depth - (READ_ONCE(q->taken) - READ_ONCE(q->done));
}

/* qp.c */
int xv_fail_first_recvs(struct xv_call *call, struct xv_opx *op, u16 reason,
			u32 done);

#endif /* _XV_OBJECTS_QP_H */
