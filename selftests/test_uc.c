// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs of type UC: sends and writes without acknowledgment.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include "xv_test.h"

FIXTURE(uc) {
	struct xvt t;
	struct xvt_snap before;
	struct xv_tx *now;
	struct xvt_pair p;
};

typedef FIXTURE_DATA(uc) fixture;

FIXTURE_SETUP(uc)
{
	xvt_open(_metadata, &self->t);
	self->now = xv_now(self->t.ctx);
	xvt_snap(_metadata, &self->t, &self->before);
	xvt_pair(_metadata, &self->t, &self->p, &(struct xvt_pair_opts){
		 .type = XV_QPT_UC, .no_connect = true });
}

FIXTURE_TEARDOWN(uc)
{
	xvt_teardown(_metadata);
	if (self->p.pd.obj.handle)
		EXPECT_EQ(0, xvt_pair_destroy(&self->p));
	xvt_same(_metadata, &self->t, &self->before, "at the end");
	xvt_close(&self->t);
}

static void connect_both(struct __test_metadata *_metadata,
			 fixture *self)
{
	int i;

	for (i = 0; i < 2; i++)
		xvt_connect(_metadata, &self->t, &self->p.qp[i],
			    &self->p.qp[!i]);
}

static int post(struct xvt_pair *p, const struct xv_send *s)
{
	int ret = xv_post_send(&p->qp[0], s, 1);

	return ret ? ret : xv_submit(&p->qp[0]);
}

TEST_F(uc, sends_and_writes)
{
	static const uint32_t sizes[] = { 0, 1, 1024, 4096, 4097, 20000 };
	struct xvt_pair *p = &self->p;
	uint64_t remote = p->mr.info.iova + 32768;
	uint32_t rkey = p->mr.info.rkey;
	struct xv_qp_info info;
	struct xv_send s;
	struct xv_wc wc;
	unsigned int i, k;

	connect_both(_metadata, self);
	ASSERT_EQ(0, xv_qp_query(self->now, &p->qp[0], &info));
	EXPECT_EQ(XV_QPT_UC, info.type);
	EXPECT_EQ(XV_QPS_RTS, info.state);
	EXPECT_EQ(4096, info.path_mtu);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct xv_sge sge = xvt_sge(p, 0, sizes[i]);
		uint32_t imm = htobe32(0x10000 + i);

		for (k = XV_WR_SEND; k <= XV_WR_RDMA_WRITE_WITH_IMM; k++) {
			bool write = k >= XV_WR_RDMA_WRITE;
			bool with_imm = k == XV_WR_SEND_WITH_IMM ||
					k == XV_WR_RDMA_WRITE_WITH_IMM;
			unsigned int seed = 10 * i + k;

			xvt_fill(p->buf, sizes[i], seed);
			memset(p->buf + 32768, 0, sizes[i]);
			if (k != XV_WR_RDMA_WRITE)
				ASSERT_EQ(0, xvt_recv(p, 1, seed, 32768,
						      20000));
			xv_send_prep(&s, k, seed, XV_SEND_SIGNALED);
			xv_send_add_sge(&s, sge);
			if (with_imm)
				s.imm_data = imm;
			if (write)
				xv_send_set_remote(&s, remote, rkey);
			ASSERT_EQ(0, post(p, &s));
			xvt_expect_wc(_metadata, &p->cq[0], seed,
				      XV_WC_SUCCESS);
			if (k == XV_WR_RDMA_WRITE) {
				EXPECT_TRUE(xvt_wait_until(xvt_filled(p->buf +
					    32768, sizes[i], seed), 5000));
				continue;
			}
			ASSERT_EQ(1, xvt_wc(&p->cq[1], &wc));
			EXPECT_EQ(seed, wc.wr_id);
			EXPECT_EQ(XV_WC_SUCCESS, wc.status);
			EXPECT_EQ(XV_WC_RECV |
				  (with_imm ? XV_WC_WITH_IMM : 0) |
				  (write ? XV_WC_RDMA : 0), wc.flags);
			EXPECT_EQ(with_imm ? imm : 0, wc.imm_data);
			EXPECT_EQ(sizes[i], wc.byte_len);
			EXPECT_EQ(0, wc.src_qp);
			EXPECT_TRUE(xvt_filled(p->buf + 32768, sizes[i], seed)) {
				TH_LOG("opcode %u, %u bytes", k, sizes[i]);
			}
		}
	}
}

TEST_F(uc, what_it_does_not_have)
{
	struct xvt_pair *p = &self->p;
	struct xv_sge sge = xvt_sge(p, 0, 8);
	uint64_t addr = p->mr.info.iova;
	uint32_t rkey = p->mr.info.rkey;
	struct xv_send bad[4];
	unsigned int i;

	connect_both(_metadata, self);
	xv_send_prep_read(&bad[0], 1, 0, sge, addr, rkey);
	xv_send_prep_cmp_swp(&bad[1], 1, 0, sge, addr, rkey, 1, 2);
	xv_send_prep_fetch_add(&bad[2], 1, 0, sge, addr, rkey, 1);
	xv_send_prep_send(&bad[3], 1, 0, sge);
	bad[3].remote_qpn = p->qp[1].info.qp_num;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-EINVAL, post(p, &bad[i]));
		EXPECT_EQ(i < 3 ? XV_R_RANGE : XV_R_RESERVED,
			  p->qp[0].reason) {
			TH_LOG("case %u", i);
		}
		xv_unpost(&p->qp[0]);
	}
	/* It is as good as before. */
	ASSERT_EQ(0, xvt_recv(p, 1, 5, 1024, 8));
	ASSERT_EQ(0, xvt_send(p, 0, 6, 0, 8));
	xvt_expect_wc(_metadata, &p->cq[0], 6, XV_WC_SUCCESS);
	xvt_expect_wc(_metadata, &p->cq[1], 5, XV_WC_SUCCESS);
}

/* What can not be delivered is lost, and nothing else. */
TEST_F(uc, messages_get_lost)
{
	struct xvt_pair *p = &self->p;
	struct xv_send s;

	connect_both(_metadata, self);
	xvt_fill(p->buf, 6000, 1);
	/* Nobody waits for it. */
	ASSERT_EQ(0, xvt_send(p, 0, 1, 0, 6000));
	xvt_expect_wc(_metadata, &p->cq[0], 1, XV_WC_SUCCESS);
	/* Nobody grants it. */
	xv_send_prep_write(&s, 2, XV_SEND_SIGNALED, xvt_sge(p, 0, 6000),
			   p->mr.info.iova + 16384, p->mr.info.rkey ^ 0x80);
	ASSERT_EQ(0, post(p, &s));
	xvt_expect_wc(_metadata, &p->cq[0], 2, XV_WC_SUCCESS);

	xvt_fill(p->buf, 6000, 2);
	ASSERT_EQ(0, xvt_recv(p, 1, 3, 32768, 6000));
	ASSERT_EQ(0, xvt_send(p, 0, 3, 0, 6000));
	xvt_expect_wc(_metadata, &p->cq[0], 3, XV_WC_SUCCESS);
	xvt_expect_wc(_metadata, &p->cq[1], 3, XV_WC_SUCCESS);
	EXPECT_TRUE(xvt_filled(p->buf + 32768, 6000, 2));
	EXPECT_EQ(0, p->buf[16384]);
}

TEST_F(uc, early_sends_and_flush)
{
	struct xvt_pair *p = &self->p;
	struct xv_qp_attr a = { .size = sizeof(a), .state = XV_QPS_ERR };
	struct xv_qp_info info;
	unsigned int i;

	xvt_fill(p->buf, 3000, 7);
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, xvt_recv(p, 1, i, 8192 + 4096 * i, 3000));
		ASSERT_EQ(0, xvt_send(p, 0, 10 + i, 0, 3000));
	}
	ASSERT_EQ(0, xv_qp_query(self->now, &p->qp[0], &info));
	EXPECT_EQ(4, info.sends_early);
	xvt_connect(_metadata, &self->t, &p->qp[1], &p->qp[0]);
	xvt_connect(_metadata, &self->t, &p->qp[0], &p->qp[1]);
	for (i = 0; i < 4; i++) {
		xvt_expect_wc(_metadata, &p->cq[0], 10 + i, XV_WC_SUCCESS);
		xvt_expect_wc(_metadata, &p->cq[1], i, XV_WC_SUCCESS);
		EXPECT_TRUE(xvt_filled(p->buf + 8192 + 4096 * i, 3000, 7));
	}
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, xvt_recv(p, 1, 20 + i, 8192, 3000));
	ASSERT_EQ(0, xv_qp_modify(self->now, &p->qp[1], &a));
	ASSERT_EQ(0, xvt_send(p, 1, 30, 0, 8));
	xvt_expect_flushed(_metadata, &p->cq[1], 0x40700000);
}

TEST_F(uc, without_address)
{
	struct xv_qp_attr a = { .size = sizeof(a) };
	struct xvt_pair *p = &self->p;

	EXPECT_EQ(-EINVAL, xv_qp_connect(self->now, &p->qp[0], &a));
	xvt_failed(_metadata, "connect", -EINVAL, xv_txn_error(self->now),
		   EINVAL, 0, XV_GRP_ADDRESS, 0, XV_R_MISSING);
	a.state = XV_QPS_RTR;
	EXPECT_EQ(-EINVAL, xv_qp_modify(self->now, &p->qp[0], &a));
	xvt_failed(_metadata, "modify", -EINVAL, xv_txn_error(self->now),
		   EINVAL, 0, XV_GRP_ADDRESS, 0, XV_R_MISSING);
	connect_both(_metadata, self);
}

TEST_HARNESS_MAIN
