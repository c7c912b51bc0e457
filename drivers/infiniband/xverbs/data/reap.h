/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files that move completions share, and nobody else needs: reap.c,
 * wc.c, notify.c, queue.c, room.c.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_DATA_REAP_H
#define _XV_DATA_REAP_H

#include "data.h"

/* wc.c */
u8 xv_wc_status(enum ib_wc_status status);
void xv_wc_fill(struct xv_wc *wc, u64 wr_id, const struct xv_qp *qp,
		const struct ib_wc *ibwc);
void xv_wc_fill_recv(struct xv_wc *wc, const struct xv_qp *qp,
		     const struct ib_wc *ibwc);
void xv_wc_cut(const struct xv_qp *qp, struct xv_wc *wc);

/* reap.c */
void xv_queue_set_done(struct xv_queue *q, struct xv_qp *qp, u32 done);
void xv_queue_drop_held(struct xv_queue *q, struct xv_qp *qp);

/* queue.c */
void xv_queue_set_auto(struct xv_queue *q, u8 why, bool on);

/* room.c */
void xv_qp_check_room_locked(struct xv_qp *qp);

#endif /* _XV_DATA_REAP_H */
