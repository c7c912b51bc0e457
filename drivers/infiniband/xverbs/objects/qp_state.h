/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * qp: changes of state.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_OBJECTS_QP_STATE_H
#define _XV_OBJECTS_QP_STATE_H

#include "../core/txn.h"
#include "qp.h"

/* Reads and atomics outstanding, unless the user asks for another number. */
#define XV_MAX_RD_ATOMIC	16

/* 0.64 ms; code 0, which everybody else defaults to, is 655 ms. */
#define XV_MIN_RNR_TIMER	12

extern const struct xv_group_spec xv_group_address;
extern const struct xv_group_spec xv_group_path;

void xv_qp_set_state(struct xv_qp *qp, u8 state);
int xv_qp_init(struct xv_call *call, struct xv_opx *op, struct xv_qp *qp);
int xv_qp_check_connect(struct xv_call *call, struct xv_opx *op);
int xv_qp_connect(struct xv_call *call, struct xv_opx *op, struct xv_qp *qp);
int xv_qp_modify(struct xv_call *call, struct xv_opx *op);
void xv_qp_settle(struct xv_call *call, struct xv_opx *op);
int xv_qp_to_err(struct xv_qp *qp);
void xv_qp_drain(struct xv_qp *qp);

#endif /* _XV_OBJECTS_QP_STATE_H */
