/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The data path: entering, posting, reaping.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_DATA_H
#define _XV_DATA_H

#include <linux/workqueue.h>
#include "../objects/cq.h"
#include "../objects/qp.h"

extern struct workqueue_struct *xv_wq;

/* wr_id on the device: {qp or srq 32, generation 16, receive 1, slot 15}. */
#define XV_WRID_RECV	0x8000U

/* enter.c */
int xv_enter(struct xv_file *file, struct xv_enter __user *arg);

/* post.c */
void xv_qp_submit(struct xv_qp *qp, struct xv_enter_qp *what);

/* send.c */
void xv_qp_post_early(struct xv_qp *qp);
void xv_qp_flush_early(struct xv_qp *qp);
void xv_qp_early(struct xv_qp *qp);
void xv_qp_work(struct work_struct *work);

/* recv.c */
u16 xv_qp_post_first(struct xv_call *call, struct xv_qp *qp,
		     const struct xv_recv *recvs, u32 num, u32 *done);

/* srq.c */
void xv_srq_init(struct xv_srq *srq);
void xv_srq_submit(struct xv_srq *srq, struct xv_enter_qp *what);
u16 xv_srq_post_first(struct xv_call *call, struct xv_srq *srq,
		      const struct xv_recv *recvs, u32 num, u32 *done);
struct xv_srq *xv_srq_of_cq(struct xv_cq *cq, u32 handle);
struct xv_qp *xv_srq_find_qp(struct xv_cq *cq, const struct ib_qp *ibqp);
bool xv_srq_end(struct xv_srq *srq, u64 wr_id, struct xv_qp *qp,
		u64 *user_wr_id);
void xv_srq_free_slot(struct xv_srq *srq, u16 index);
int xv_srq_attach(struct xv_qp *qp);
void xv_srq_add_qp(struct xv_qp *qp);
void xv_srq_restart(struct xv_qp *qp);
void xv_srq_remove_qp(struct xv_qp *qp);
void xv_srq_release(struct xv_qp *qp);

/* reap.c */
u32 xv_cq_ready(const struct xv_cq *cq);
void xv_cq_reap(struct xv_cq *cq);
void xv_queue_complete(struct xv_queue *q, struct xv_qp *qp, u64 wr_id,
		       u8 opcode, u8 status);

/* notify.c */
int xv_cq_arm(struct xv_cq *cq, enum xv_watch what);
void xv_cq_want_event(struct xv_cq *cq, enum xv_watch what);
void xv_cq_settle(struct xv_cq *cq);
void xv_cq_handler(struct ib_cq *ibcq, void *context);
void xv_cq_kick(struct xv_cq *cq);
void xv_cq_work(struct work_struct *work);

/* queue.c */
int xv_queue_attach(struct xv_queue *q);
void xv_queue_failed(struct xv_queue *q);
void xv_queue_detach(struct xv_queue *q, struct xv_qp *qp);
void xv_queue_release(struct xv_queue *q);
bool xv_queue_drain(struct xv_queue *q);
void xv_queue_restart(struct xv_queue *q, struct xv_qp *qp);
void xv_queue_auto_reap(struct xv_queue *q, u8 why, bool on);
void xv_qp_queue_work(struct xv_qp *qp);
void xv_qp_failed(struct xv_qp *qp, u8 status);
void xv_qp_let_go(struct xv_qp *qp);

/* room.c */
u16 xv_qp_watch_room(struct xv_qp *qp, u32 slots, u64 cookie);
void xv_qp_check_room(struct xv_qp *qp);

#endif /* _XV_DATA_H */
