/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What connections and listeners share: the connection manager of the kernel.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_OBJECTS_CM_H
#define _XV_OBJECTS_CM_H

#include <rdma/rdma_cm.h>
#include "../core/txn.h"
#include "qp.h"

/* Private data that fits every transport, in bytes (rdma_cm over InfiniBand). */
#define XV_CM_REQ_BYTES	56
#define XV_CM_REP_BYTES	196
#define XV_CM_REJ_BYTES	148

/**
 * struct xv_cm - whom the events of an id concern; its context
 * @handler: takes an event of the id. The id's handler mutex is held; may
 *	sleep. Returns 0, or 1 to have the id destroyed
 */
struct xv_cm {
	int (*handler)(struct xv_cm *cm, struct rdma_cm_id *id,
		       struct rdma_cm_event *event);
};

/**
 * struct xv_cm_data - private data of the other side
 * @len: bytes of @data
 * @data: the bytes
 */
struct xv_cm_data {
	u8 len;
	u8 data[XV_CM_REP_BYTES];
};

struct rdma_cm_id *xv_cm_id_new(struct xv_file *file, struct xv_cm *cm);
int xv_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event);
int xv_cm_check_addr(struct xv_call *call, struct xv_opx *op, u16 attr);
void xv_cm_read_addr(const struct xv_opx *op, u16 attr,
		     struct sockaddr_storage *addr);
void xv_cm_write_addr(const struct sockaddr_storage *addr, u8 *out);
int xv_cm_fail_bind(struct xv_call *call, struct xv_opx *op, int raw);
int xv_cm_bind(struct xv_call *call, struct xv_opx *op, struct rdma_cm_id *id,
	       struct sockaddr_storage *addr);
void xv_cm_save(struct xv_cm_data *to, const void *data, u32 len);

/* The states of a queue pair, as its connection goes on; qp_cm.c. */
int xv_qp_cm_init(struct xv_qp *qp, struct rdma_cm_id *id);
int xv_qp_cm_connect(struct xv_qp *qp, struct rdma_cm_id *id);

/* Requests that wait at a listener; listener.c. */
struct xv_request;

struct xv_request *xv_request_claim(struct xv_uobj *listener, u64 token);
void xv_request_unclaim(struct xv_request *req);
struct rdma_cm_id *xv_request_take(struct xv_request *req, struct xv_cm *cm,
				   struct xv_cm_data *data);
void xv_request_limits(const struct xv_request *req, u8 *rd_atomic,
		       u8 *dest_rd_atomic);

#endif /* _XV_OBJECTS_CM_H */
