/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Posting: what the files that build and post requests share.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_DATA_POST_H
#define _XV_DATA_POST_H

#include <rdma/ib_verbs.h>
#include "data.h"

/*
 * With bottom halves off, rxe of Linux 6.1 executes what is posted inside the
 * call: half the instructions of waking its tasklet, but no scheduling
 * meanwhile. So a chain is short, in requests and in bytes.
 */
#define XV_CHAIN	16

/* siw answers ENOTCONN while a state change is under way. */
#define XV_POST_TRIES	100

struct xv_send_wr {
	union {
		struct ib_send_wr wr;
		struct ib_rdma_wr rdma;
		struct ib_atomic_wr atomic;
		struct ib_ud_wr ud;
	};
	struct ib_sge sge[XV_MAX_SEND_SGE];
	u8 data[XV_MAX_INLINE];
};

struct xv_recv_wr {
	struct ib_recv_wr wr;
	struct ib_sge sge[XV_MAX_RECV_SGE];
};

/**
 * union xv_scratch - room for one chain
 * @sends: send requests
 * @recvs: receive requests
 */
union xv_scratch {
	struct xv_send_wr sends[XV_CHAIN];
	struct xv_recv_wr recvs[XV_CHAIN];
};

/* post.c */
union xv_scratch *xv_scratch_get(struct xv_file *file, gfp_t gfp);
void xv_scratch_put(struct xv_file *file, union xv_scratch *scratch);
void xv_cq_reap_now(struct xv_cq *cq);

/* build.c */
u16 xv_build_send(struct xv_qp *qp, const struct xv_send *e,
		  struct xv_send_wr *w, u64 *bytes);
bool xv_build_blames_piece(struct xv_qp *qp, const struct xv_send *e,
			   u16 reason);
u16 xv_build_recv(struct xv_call *call, const struct xv_uobj *pd, u32 max_sge,
		  const struct xv_recv *e, struct xv_recv_wr *w);

/* send.c, recv.c */
u16 xv_qp_submit_sends(struct xv_qp *qp, union xv_scratch *scratch,
		       struct xv_enter_qp *what);
u16 xv_qp_submit_recvs(struct xv_qp *qp, union xv_scratch *scratch,
		       struct xv_enter_qp *what);

/**
 * xv_post_wr_id - what identifies an entry to the driver
 * @qp: the queue pair
 * @q: its queue
 * @number: of the entry
 *
 * Return: the number, as XV_WRID_RECV describes.
 */
static inline u64 xv_post_wr_id(const struct xv_qp *qp,
				const struct xv_queue *q, u32 number)
{
	return (u64)qp->uobj.handle << 32 | (u32)qp->gen << 16 |
	       (q->recv ? XV_WRID_RECV : 0) | (number & q->mask);
}

#endif /* _XV_DATA_POST_H */
