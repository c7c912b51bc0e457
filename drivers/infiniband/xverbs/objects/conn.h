/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * conn: connection.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_OBJECTS_CONN_H
#define _XV_OBJECTS_CONN_H

#include "qp.h"

struct xv_conn;

const struct xv_uobj *xv_conn_uobj(const struct xv_conn *conn);
void xv_conn_received(struct xv_qp *qp);
void xv_conn_comm_est(struct xv_qp *qp);
void xv_conn_failed(struct xv_qp *qp, u8 status);

#endif /* _XV_OBJECTS_CONN_H */
