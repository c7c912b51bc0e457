/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Posting: what the two kinds of queues with receives share.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_DATA_POST_H
#define _XV_DATA_POST_H

#include <rdma/ib_verbs.h>
#include "../core/uobj.h"

/*
 * With bottom halves off, rxe of Linux 6.1 executes what is posted inside the
 * call: half the instructions of waking its tasklet, but no scheduling
 * meanwhile. So a chain is short, in requests and in bytes.
 */
#define XV_CHAIN	16

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

union xv_scratch *xv_scratch_get(struct xv_file *file, gfp_t gfp);
void xv_scratch_put(struct xv_file *file, union xv_scratch *scratch);
u16 xv_build_recv(struct xv_call *call, const struct xv_uobj *pd, u32 max_sge,
		  const struct xv_recv *e, struct xv_recv_wr *w);

#endif /* _XV_DATA_POST_H */
