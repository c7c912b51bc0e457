// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Room: a watch for free slots of a send queue.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include "reap.h"

/**
 * xv_qp_check_room_locked - does the watch end now, one way or the other?
 * @qp: the queue pair, the mutex of its send CQ held
 */
void xv_qp_check_room_locked(struct xv_qp *qp)
{
	struct xv_room room = qp->room;

	lockdep_assert_held(&qp->sq.cq->lock);
	if (!room.slots)
		return;
	if (xv_qp_can_send(qp) && xv_queue_free(&qp->sq) >= room.slots)
		xv_event_raise_as(&qp->events, XV_EV_ROOM, room.cookie);
	else if (xv_qp_state(qp) != XV_QPS_ERR)
		return;
	qp->room.slots = 0;
	xv_queue_set_auto(&qp->sq, XV_AUTO_ROOM, false);
}

/**
 * xv_qp_watch_room - tell when slots of the send queue are free
 * @qp: the queue pair
 * @slots: so many, at most its depth; 0 cancels
 * @cookie: of the event
 *
 * At once if they are, and the queue pair can send. One watch a queue pair:
 * a later one replaces it.
 *
 * Context: may sleep.
 * Return: 0 or the reason why not.
 */
u16 xv_qp_watch_room(struct xv_qp *qp, u32 slots, u64 cookie)
{
	struct xv_cq *cq = qp->sq.cq;

	if (slots > qp->sq.depth)
		return XV_R_RANGE;
	if (!qp->events.q)
		return XV_R_NO_EVENTQ;
	if (slots && xv_qp_state(qp) == XV_QPS_ERR)
		return XV_R_STATE;
	mutex_lock(&cq->lock);
	qp->room.slots = slots;
	qp->room.cookie = cookie;
	xv_queue_set_auto(&qp->sq, XV_AUTO_ROOM, slots);
	if (slots) {
		/* What has ended already frees slots without a notification. */
		xv_cq_reap(cq);
		xv_qp_check_room_locked(qp);
		xv_cq_settle(cq);
	}
	mutex_unlock(&cq->lock);
	return 0;
}

/**
 * xv_qp_check_room - the state has changed: can it send, has it failed?
 * @qp: the queue pair
 *
 * Context: may sleep.
 */
void xv_qp_check_room(struct xv_qp *qp)
{
	if (!READ_ONCE(qp->room.slots))
		return;
	mutex_lock(&qp->sq.cq->lock);
	xv_qp_check_room_locked(qp);
	mutex_unlock(&qp->sq.cq->lock);
}
