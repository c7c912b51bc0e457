// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What most rounds need of libxverbs.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <errno.h>
#include <string.h>

#include "bench.h"

void ours_ok(struct xv_tx *tx, int ret)
{
	const struct xv_error *err = xv_txn_error(tx);

	if (ret < 0)
		die("transaction: %d, op %u group %u attr %u reason %u raw %d",
		    ret, err->op, err->group, err->attr, err->reason, err->raw);
}

static void find_gid(struct ours *o)
{
	static const uint8_t v4[12] = { [10] = 0xff, [11] = 0xff };
	struct xv_gid_info info;

	for (;; o->gid_index++) {
		ours_ok(xv_now(o->ctx),
			xv_device_query_gid(xv_now(o->ctx), 1, o->gid_index,
					    &info));
		if (!memcmp(info.gid, v4, sizeof(v4)))
			break;
	}
	memcpy(o->gid, info.gid, sizeof(o->gid));
}

void ours_open(struct ours *o, size_t bytes, unsigned int cqe)
{
	struct xv_tx *tx;

	memset(o, 0, sizeof(*o));
	ok(xv_open(device, 0, &o->ctx));
	find_gid(o);
	o->bytes = bytes;
	o->buf = page_alloc(bytes);
	ok(xv_txn_begin(o->ctx, 0, &tx));
	xv_pd_create(tx, &o->pd);
	xv_mr_create(tx, &o->mr, XV_OPTS(xv_mr_opts, .pd = &o->pd,
		     .addr = o->buf, .length = bytes,
		     .access = XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_READ |
			       XV_ACCESS_REMOTE_WRITE));
	xv_cq_create(tx, &o->cq, XV_OPTS(xv_cq_opts, .cqe = cqe));
	ours_ok(tx, xv_txn_commit(tx, NULL));
	xv_txn_free(tx);
}

void ours_create(struct ours *o, struct xv_qp *qps, unsigned int num,
		 unsigned int type, unsigned int send_wr, unsigned int recv_wr)
{
	struct xv_qp_opts opts = {
		.size = sizeof(opts), .type = type, .pd = &o->pd,
		.send_cq = &o->cq, .send_wr = send_wr, .recv_wr = recv_wr,
		.access = type == XV_QPT_RC ? XV_ACCESS_REMOTE_READ |
					      XV_ACCESS_REMOTE_WRITE : 0,
	};
	struct xv_tx *tx;
	unsigned int i;

	ok(xv_txn_begin(o->ctx, 0, &tx));
	for (i = 0; i < num; i++) {
		xv_qp_create(tx, &qps[i], &opts);
		if (xv_txn_num_ops(tx) == XV_MAX_OPS || i == num - 1)
			ours_ok(tx, xv_txn_commit(tx, NULL));
	}
	xv_txn_free(tx);
}

void ours_peer(struct ours *o, struct xv_qp_attr *attr, const struct xv_qp *peer)
{
	*attr = (struct xv_qp_attr){
		.size = sizeof(*attr),
		.access = XV_ACCESS_REMOTE_READ | XV_ACCESS_REMOTE_WRITE,
		.qpn = peer->info.qp_num, .psn = peer->info.sq_psn,
		.sgid_index = o->gid_index, .path_mtu = MTU,
		.rd_atomic = RD_ATOMIC, .dest_rd_atomic = RD_ATOMIC,
	};
	memcpy(attr->gid, o->gid, sizeof(attr->gid));
}

void ours_connect(struct ours *o, struct xv_qp *qps, unsigned int num)
{
	struct xv_qp_attr attr;
	struct xv_tx *tx;
	unsigned int i;

	ok(xv_txn_begin(o->ctx, XV_TXN_F_BATCH, &tx));
	for (i = 0; i < num; i++) {
		ours_peer(o, &attr, &qps[i ^ 1]);
		xv_qp_connect(tx, &qps[i], &attr);
		if (xv_txn_num_ops(tx) == XV_MAX_OPS || i == num - 1)
			ours_ok(tx, xv_txn_commit(tx, NULL));
	}
	xv_txn_free(tx);
}

void ours_reap(struct ours *o, struct xv_wc *wc, unsigned int num)
{
	unsigned int i = 0, k;
	int n;

	while (i < num) {
		n = xv_poll(&o->cq, wc, num - i);
		check(n >= 0);
		for (k = 0; k < n; k++)
			check(!wc[k].status);
		i += n;
		if (i < num)
			ok(xv_wait(&o->cq, num - i, -1));
	}
}
