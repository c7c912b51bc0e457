// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What most rounds need of libibverbs.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <errno.h>
#include <string.h>

#include "bench.h"

static struct ibv_context *open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	unsigned int i;

	check(list);
	for (i = 0; list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), device))
			ctx = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	check(ctx);
	return ctx;
}

void twin_find_gid(struct twin *t)
{
	static const uint8_t v4[12] = { [10] = 0xff, [11] = 0xff };

	for (t->gid_index = 0;; t->gid_index++) {
		ok(ibv_query_gid(t->ctx, 1, t->gid_index, &t->gid));
		if (!memcmp(t->gid.raw, v4, sizeof(v4)))
			break;
	}
}

void twin_open_with(struct twin *t, struct ibv_context *ctx, size_t bytes,
		    unsigned int cqe)
{
	t->ctx = ctx;
	t->bytes = bytes;
	t->buf = page_alloc(bytes);
	t->pd = ibv_alloc_pd(t->ctx);
	check(t->pd);
	t->mr = ibv_reg_mr(t->pd, t->buf, bytes, IBV_ACCESS_LOCAL_WRITE |
			   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
	check(t->mr);
	t->channel = ibv_create_comp_channel(t->ctx);
	check(t->channel);
	t->cq = ibv_create_cq(t->ctx, cqe, NULL, t->channel, 0);
	check(t->cq);
}

void twin_open(struct twin *t, size_t bytes, unsigned int cqe)
{
	memset(t, 0, sizeof(*t));
	twin_open_with(t, open_device(), bytes, cqe);
	twin_find_gid(t);
}

void twin_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	if (qp->qp_type == IBV_QPT_UD) {
		attr.qkey = QKEY;
		mask |= IBV_QP_QKEY;
	} else {
		attr.qp_access_flags = IBV_ACCESS_REMOTE_READ |
				       IBV_ACCESS_REMOTE_WRITE;
		mask |= IBV_QP_ACCESS_FLAGS;
	}
	ok(ibv_modify_qp(qp, &attr, mask));
}

struct ibv_qp *twin_create(struct twin *t, enum ibv_qp_type type,
			   unsigned int send_wr, unsigned int recv_wr)
{
	struct ibv_qp_init_attr init = {
		.send_cq = t->cq, .recv_cq = t->cq, .qp_type = type,
		.cap = { .max_send_wr = send_wr, .max_recv_wr = recv_wr,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(t->pd, &init);

	check(qp);
	twin_init(qp);
	return qp;
}

static void to_rtr(struct twin *t, struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_4096,
		.dest_qp_num = peer, .max_dest_rd_atomic = RD_ATOMIC,
		.min_rnr_timer = 12,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .dgid = t->gid, .hop_limit = 64,
				      .sgid_index = t->gid_index } },
	};

	ok(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			 IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
}

void twin_connect_to(struct twin *t, struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7,
		.rnr_retry = 7, .max_rd_atomic = RD_ATOMIC,
	};

	to_rtr(t, qp, peer);
	ok(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			 IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			 IBV_QP_MAX_QP_RD_ATOMIC));
}

void twin_connect(struct twin *t, struct ibv_qp **qps, unsigned int num)
{
	unsigned int i;

	for (i = 0; i < num; i++)
		twin_connect_to(t, qps[i], qps[i ^ 1]->qp_num);
}

static unsigned int poll_some(struct twin *t, unsigned int num)
{
	struct ibv_wc wc[64];
	int i, n;

	n = ibv_poll_cq(t->cq, num < ARRAY_SIZE(wc) ? num : ARRAY_SIZE(wc), wc);
	check(n >= 0);
	for (i = 0; i < n; i++)
		check(!wc[i].status);
	return n;
}

void twin_spin(struct twin *t, unsigned int num)
{
	while (num)
		num -= poll_some(t, num);
}

void twin_reap(struct twin *t, unsigned int num)
{
	struct ibv_cq *cq;
	void *context;

	for (;;) {
		num -= poll_some(t, num);
		if (!num)
			return;
		ok(ibv_req_notify_cq(t->cq, 0));
		/* What came before that is told by no event. */
		num -= poll_some(t, num);
		if (!num)
			return;
		ok(ibv_get_cq_event(t->channel, &cq, &context));
		ibv_ack_cq_events(cq, 1);
	}
}
