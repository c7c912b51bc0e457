/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * conn: connection.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_OBJECTS_CONN_H
#define _XV_OBJECTS_CONN_H

#include "qp.h"

struct xv_call;
struct xv_opx;

u32 xv_conn_of(struct xv_qp *qp);
int xv_conn_check_none(struct xv_call *call, struct xv_opx *op, u16 attr,
		       struct xv_qp *qp);
void xv_conn_received(struct xv_qp *qp);
void xv_conn_comm_est(struct xv_qp *qp);
void xv_conn_failed(struct xv_qp *qp, u8 status);

#endif /* _XV_OBJECTS_CONN_H */
