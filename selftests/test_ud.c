// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs of type UD, and address handles.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/capability.h>
#include "xv_test.h"

FIXTURE(ud) {
	struct xvt t;
	struct xvt_snap before;
	struct xv_tx *now;
	struct xvt_pair p;
	struct xv_ah ah;
};

typedef FIXTURE_DATA(ud) fixture;

FIXTURE_SETUP(ud)
{
	xvt_open(_metadata, &self->t);
	self->now = xv_now(self->t.ctx);
	xvt_snap(_metadata, &self->t, &self->before);
	xvt_pair(_metadata, &self->t, &self->p, &(struct xvt_pair_opts){
		 .type = XV_QPT_UD, .send_wr = 64, .recv_wr = 64,
		 .no_connect = true });
	ASSERT_EQ(0, xv_ah_create(self->now, &self->ah,
				  xvt_ah_opts(&self->t, &self->p.pd)));
}

FIXTURE_TEARDOWN(ud)
{
	xvt_teardown(_metadata);
	if (self->ah.obj.handle)
		EXPECT_EQ(0, xv_ah_destroy(self->now, &self->ah));
	if (self->p.pd.obj.handle)
		EXPECT_EQ(0, xvt_pair_destroy(&self->p));
	xvt_same(_metadata, &self->t, &self->before, "at the end");
	xvt_close(&self->t);
}

#define EXPECT_NOW_ERR(e, g, a, r)					\
	xvt_failed(_metadata, "call", -xv_txn_error(self->now)->err,	\
		   xv_txn_error(self->now), e, 0, g, a, r)

/* Where receives lie, and what each has room for. */
#define RX(i)		(32768 + 4096 * (i))
#define RX_ROOM		4096

static void connect_both(struct __test_metadata *_metadata,
			 fixture *self)
{
	int i;

	for (i = 0; i < 2; i++)
		xvt_connect(_metadata, &self->t, &self->p.qp[i], NULL);
}

static int post(struct xvt_pair *p, int side, const struct xv_send *s)
{
	int ret = xv_post_send(&p->qp[side], s, 1);

	return ret ? ret : xv_submit(&p->qp[side]);
}

static int send_to(struct xvt_pair *p, int side, uint64_t wr_id,
		   uint32_t length, const struct xv_ah *ah, uint32_t qpn,
		   uint32_t qkey)
{
	struct xv_send s;

	xv_send_prep_ud(&s, wr_id, XV_SEND_SIGNALED, xvt_sge(p, 0, length), ah,
			qpn, qkey);
	return post(p, side, &s);
}

/* From the first queue pair to the second. */
static int send_it(fixture *self, uint64_t wr_id, uint32_t length)
{
	return send_to(&self->p, 0, wr_id, length, &self->ah,
		       self->p.qp[1].info.qp_num, XVT_QKEY);
}

static uint32_t mtu_of(struct __test_metadata *_metadata,
		       fixture *self)
{
	struct xv_qp_info info;

	EXPECT_EQ(0, xv_qp_query(self->now, &self->p.qp[0], &info));
	return info.path_mtu;
}

static bool has_prefix_of(const struct xv_ah_info *info, struct xvt *t)
{
	return !memcmp(info->gid, t->gid.gid, 16) &&
	       info->sgid_index == t->gid_index && info->port == 1;
}

TEST_F(ud, datagrams)
{
	struct xvt_pair *p = &self->p;
	struct xv_port_info port;
	struct xv_qp_info info;
	uint32_t sizes[5];
	struct xv_send s;
	struct xv_wc wc;
	unsigned int i;

	EXPECT_EQ(0, mtu_of(_metadata, self));
	connect_both(_metadata, self);
	ASSERT_EQ(0, xv_qp_query(self->now, &p->qp[0], &info));
	ASSERT_EQ(0, xv_device_query_port(self->now, 1, &port));
	EXPECT_EQ(XV_QPT_UD, info.type);
	EXPECT_EQ(XV_QPS_RTS, info.state);
	EXPECT_EQ(port.active_mtu, info.path_mtu);

	sizes[0] = 0;
	sizes[1] = 1;
	sizes[2] = 64;
	sizes[3] = info.path_mtu - 1;
	sizes[4] = info.path_mtu;
	for (i = 0; i < 5; i++) {
		xvt_fill(p->buf, sizes[i], i);
		memset(p->buf + RX(0), 0, RX_ROOM);
		ASSERT_EQ(0, xvt_recv(p, 1, i, RX(0), sizes[i] + XV_GRH_LEN));
		ASSERT_EQ(0, send_it(self, 10 + i, sizes[i]));
		ASSERT_EQ(1, xvt_wc(&p->cq[0], &wc));
		EXPECT_EQ(10 + i, wc.wr_id);
		EXPECT_EQ(XV_WC_SUCCESS, wc.status);
		EXPECT_EQ(0, wc.flags);
		EXPECT_EQ(0, wc.src_qp);
		ASSERT_EQ(1, xvt_wc(&p->cq[1], &wc));
		EXPECT_EQ(i, wc.wr_id);
		EXPECT_EQ(XV_WC_SUCCESS, wc.status);
		EXPECT_EQ(XV_WC_RECV | XV_WC_GRH, wc.flags);
		EXPECT_EQ(sizes[i] + XV_GRH_LEN, wc.byte_len);
		EXPECT_EQ(p->qp[0].info.qp_num, wc.src_qp);
		EXPECT_TRUE(!wc.net_type || wc.net_type == XV_NET_IPV4);
		EXPECT_TRUE(xvt_filled(p->buf + RX(0) + XV_GRH_LEN, sizes[i], i));
		/* The IPv4 header, behind 20 bytes without meaning. */
		EXPECT_EQ(0x45, p->buf[RX(0) + 20]);
		EXPECT_EQ(0, memcmp(p->buf + RX(0) + 32, self->t.gid.gid + 12,
				    4));
	}

	/* Immediate data; inline data. */
	ASSERT_EQ(0, xvt_recv(p, 1, 1, RX(0), RX_ROOM));
	xv_send_prep_ud_imm(&s, 2, XV_SEND_SIGNALED | XV_SEND_SOLICITED,
			    xvt_sge(p, 0, 8), &self->ah,
			    p->qp[1].info.qp_num, XVT_QKEY, htobe32(99));
	ASSERT_EQ(0, post(p, 0, &s));
	xvt_expect_wc(_metadata, &p->cq[0], 2, XV_WC_SUCCESS);
	ASSERT_EQ(1, xvt_wc(&p->cq[1], &wc));
	EXPECT_EQ(XV_WC_RECV | XV_WC_GRH | XV_WC_WITH_IMM, wc.flags);
	EXPECT_EQ(htobe32(99), wc.imm_data);
	ASSERT_EQ(0, xvt_recv(p, 1, 3, RX(0), RX_ROOM));
	xv_send_prep(&s, XV_WR_SEND, 4, XV_SEND_SIGNALED);
	xv_send_set_inline(&s, "datagram", 9);
	xv_send_set_ud(&s, &self->ah, p->qp[1].info.qp_num, XVT_QKEY);
	ASSERT_EQ(0, post(p, 0, &s));
	xvt_expect_wc(_metadata, &p->cq[0], 4, XV_WC_SUCCESS);
	ASSERT_EQ(1, xvt_wc(&p->cq[1], &wc));
	EXPECT_EQ(9 + XV_GRH_LEN, wc.byte_len);
	EXPECT_EQ(0, strcmp((char *)p->buf + RX(0) + XV_GRH_LEN, "datagram"));
}

/* More than a chain, in one call, with and without completions. */
TEST_F(ud, many_in_one_call)
{
	struct xvt_pair *p = &self->p;
	struct xv_send s;
	struct xv_wc wc;
	unsigned int i, round;

	connect_both(_metadata, self);
	for (round = 0; round < 4; round++) {
		for (i = 0; i < 40; i++) {
			ASSERT_EQ(0, xvt_recv(p, 1, i, RX(0), 256));
			xv_send_prep_ud(&s, i, i % 4 ? 0 : XV_SEND_SIGNALED,
					xvt_sge(p, 0, i), &self->ah,
					p->qp[1].info.qp_num, XVT_QKEY);
			ASSERT_EQ(0, xv_post_send(&p->qp[0], &s, 1));
		}
		ASSERT_EQ(0, xv_submit(&p->qp[0]));
		for (i = 0; i < 40; i += 4)
			xvt_expect_wc(_metadata, &p->cq[0], i, XV_WC_SUCCESS);
		for (i = 0; i < 40; i++) {
			ASSERT_EQ(1, xvt_wc(&p->cq[1], &wc));
			EXPECT_EQ(i, wc.wr_id);
			EXPECT_EQ(i + XV_GRH_LEN, wc.byte_len);
		}
	}
}

TEST_F(ud, answer_the_sender)
{
	struct xvt_pair *p = &self->p;
	struct xv_ah back = {}, again = {};
	struct xv_ah_info info;
	struct xv_wc wc;

	connect_both(_metadata, self);
	ASSERT_EQ(0, xvt_recv(p, 1, 1, RX(0), RX_ROOM));
	ASSERT_EQ(0, xvt_recv(p, 0, 2, RX(1), RX_ROOM));
	ASSERT_EQ(0, send_it(self, 3, 100));
	ASSERT_EQ(1, xvt_wc(&p->cq[1], &wc));
	ASSERT_EQ(0, xv_ah_create_from_wc(self->now, &back, &p->pd, 0, &wc,
					  p->buf + RX(0))) {
		TH_LOG("reason %u raw %d", xv_txn_error(self->now)->reason,
		       xv_txn_error(self->now)->raw);
	}
	EXPECT_TRUE(has_prefix_of(&back.info, &self->t));
	xvt_fill(p->buf, 200, 5);
	ASSERT_EQ(0, send_to(p, 1, 4, 200, &back, wc.src_qp, XVT_QKEY));
	xvt_expect_wc(_metadata, &p->cq[0], 3, XV_WC_SUCCESS);
	ASSERT_EQ(1, xvt_wc(&p->cq[0], &wc));
	EXPECT_EQ(2, wc.wr_id);
	EXPECT_EQ(p->qp[1].info.qp_num, wc.src_qp);
	EXPECT_TRUE(xvt_filled(p->buf + RX(1) + XV_GRH_LEN, 200, 5));
	EXPECT_EQ(0, xv_ah_query(self->now, &back, &info));
	EXPECT_EQ(0, memcmp(&info, &back.info, sizeof(info)));
	/* With the port given, and without the completion being new. */
	EXPECT_EQ(0, xv_ah_create_from_wc(self->now, &again, &p->pd, 1, &wc,
					  p->buf + RX(1)));
	EXPECT_EQ(0, xv_ah_destroy(self->now, &again));
	EXPECT_EQ(0, xv_ah_destroy(self->now, &back));
}

TEST_F(ud, what_query_tells)
{
	struct xv_ah_opts o = *xvt_ah_opts(&self->t, &self->p.pd);
	struct xv_ah_info info;
	struct xv_ah ah = {};

	o.port = 1;
	o.sl = 3;
	o.traffic_class = 0x20;
	o.flow_label = 0x12345;
	o.hop_limit = 9;
	ASSERT_EQ(0, xv_ah_create(self->now, &ah, &o));
	memset(&info, 0xAA, sizeof(info));
	ASSERT_EQ(0, xv_ah_query(self->now, &ah, &info));
	EXPECT_EQ(0, memcmp(&info, &ah.info, sizeof(info)));
	EXPECT_TRUE(has_prefix_of(&info, &self->t));
	EXPECT_EQ(self->p.pd.obj.handle, info.pd);
	EXPECT_EQ(3, info.sl);
	EXPECT_EQ(0x20, info.traffic_class);
	EXPECT_EQ(0x12345, info.flow_label);
	EXPECT_EQ(9, info.hop_limit);
	EXPECT_EQ(0, info.lid);
	EXPECT_EQ(0, info.reserved[0] | info.reserved[1] | info.reserved[2]);
	EXPECT_EQ(64, self->ah.info.hop_limit);
	EXPECT_EQ(0, xv_ah_destroy(self->now, &ah));
}

/* ---- what is dropped on the way ---- */

/* The first thing to arrive is the message that is sent now. */
static void expect_next(struct __test_metadata *_metadata,
			fixture *self, uint32_t qkey)
{
	struct xvt_pair *p = &self->p;
	struct xv_wc wc;

	ASSERT_EQ(0, send_to(p, 0, 77, 11, &self->ah, p->qp[1].info.qp_num,
			     qkey));
	ASSERT_EQ(1, xvt_wc(&p->cq[1], &wc));
	EXPECT_EQ(XV_WC_SUCCESS, wc.status);
	EXPECT_EQ(11 + XV_GRH_LEN, wc.byte_len);
	xvt_expect_wc(_metadata, &p->cq[0], 77, XV_WC_SUCCESS);
}

TEST_F(ud, dropped_by_the_receiver)
{
	struct xvt_pair *p = &self->p;
	uint32_t qpn = p->qp[1].info.qp_num;
	static const uint32_t odd_qpns[] = { 0, 1, 0xfffffe, 0xffffff };
	unsigned int i;

	connect_both(_metadata, self);
	/* Nobody waits for it. */
	ASSERT_EQ(0, send_it(self, 1, 20));
	xvt_expect_wc(_metadata, &p->cq[0], 1, XV_WC_SUCCESS);
	/* It has left; when it is dropped nobody tells. */
	usleep(20000 * xvt_factor());
	ASSERT_EQ(0, xvt_recv(p, 1, 1, RX(0), RX_ROOM));
	ASSERT_EQ(0, xvt_recv(p, 1, 2, RX(0), RX_ROOM));
	/* A wrong Q_Key. */
	ASSERT_EQ(0, send_to(p, 0, 2, 20, &self->ah, qpn, XVT_QKEY ^ 1));
	xvt_expect_wc(_metadata, &p->cq[0], 2, XV_WC_SUCCESS);
	ASSERT_EQ(0, send_to(p, 0, 3, 20, &self->ah, qpn, 0));
	xvt_expect_wc(_metadata, &p->cq[0], 3, XV_WC_SUCCESS);
	expect_next(_metadata, self, XVT_QKEY);
	/* Nobody is there. */
	for (i = 0; i < ARRAY_SIZE(odd_qpns); i++) {
		ASSERT_EQ(0, send_to(p, 0, 4, 20, &self->ah, odd_qpns[i],
				     XVT_QKEY));
		xvt_expect_wc(_metadata, &p->cq[0], 4, XV_WC_SUCCESS);
	}
	expect_next(_metadata, self, XVT_QKEY);
}

/* A receive that is too short for what comes: it ends, at the latest in ERR. */
TEST_F(ud, short_receives)
{
	static const uint32_t rooms[] = { 0, 20, 39, 40, 50 };
	struct xv_qp_attr a = { .size = sizeof(a) };
	struct xvt_pair *p = &self->p;
	struct xv_wc wc;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rooms); i++) {
		connect_both(_metadata, self);
		memset(p->buf + RX(0), 0x5a, 256);
		ASSERT_EQ(0, xvt_recv(p, 1, i, RX(0), rooms[i]));
		ASSERT_EQ(0, send_it(self, 9, 100));
		xvt_expect_wc(_metadata, &p->cq[0], 9, XV_WC_SUCCESS);
		a.state = XV_QPS_ERR;
		ASSERT_EQ(0, xv_qp_modify(self->now, &p->qp[1], &a));
		ASSERT_EQ(1, xvt_wc(&p->cq[1], &wc));
		EXPECT_EQ(i, wc.wr_id);
		EXPECT_NE(XV_WC_SUCCESS, wc.status);
		EXPECT_EQ(0x5a, p->buf[RX(0) + rooms[i]]);
		a.state = XV_QPS_RESET;
		ASSERT_EQ(0, xv_qp_modify(self->now, &p->qp[0], &a));
		ASSERT_EQ(0, xv_qp_modify(self->now, &p->qp[1], &a));
		EXPECT_EQ(0, xv_poll(&p->cq[1], &wc, 1));
	}
}

/* ---- Q_Keys ---- */

static void set_net_raw(struct __test_metadata *_metadata, bool on)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	ASSERT_EQ(0, syscall(SYS_capget, &head, data));
	if (on)
		data[0].effective |= 1U << CAP_NET_RAW;
	else
		data[0].effective &= ~(1U << CAP_NET_RAW);
	ASSERT_EQ(0, syscall(SYS_capset, &head, data));
}

static int set_qkey(fixture *self, int side, uint32_t qkey)
{
	return xv_qp_connect(self->now, &self->p.qp[side],
			     XV_OPTS(xv_qp_attr, .qkey = qkey,
				     .zero = XV_ZERO_PATH(XV_PATH_QKEY)));
}

TEST_F(ud, privileged_qkeys)
{
	struct xv_qp_attr reset = { .size = sizeof(reset),
				    .state = XV_QPS_RESET };
	struct xvt_pair *p = &self->p;
	uint32_t qpn = p->qp[1].info.qp_num;
	struct xv_qp qp = {};
	struct xv_cq cq = {};
	int i;

	set_net_raw(_metadata, false);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(-EPERM, set_qkey(self, i, 0x80000000));
	EXPECT_NOW_ERR(EPERM, XV_GRP_PATH, XV_PATH_QKEY, XV_R_PERMISSION);
	EXPECT_EQ(0, xv_txn_error(self->now)->raw);
	ASSERT_EQ(0, xv_cq_create(self->now, &cq, XV_OPTS(xv_cq_opts,
							  .cqe = 4)));
	EXPECT_EQ(-EPERM, xv_qp_create(self->now, &qp, XV_OPTS(xv_qp_opts,
		  .pd = &p->pd, .send_cq = &cq, .send_wr = 1,
		  .type = XV_QPT_UD,
		  .connect = XV_OPTS(xv_qp_attr, .qkey = ~0U))));
	EXPECT_NOW_ERR(EPERM, XV_GRP_PATH, XV_PATH_QKEY, XV_R_PERMISSION);
	EXPECT_EQ(0, xv_cq_destroy(self->now, &cq));
	set_net_raw(_metadata, true);
	ASSERT_EQ(0, set_qkey(self, 1, 0x8000aaaa));

	/* It can be kept, not chosen. */
	set_net_raw(_metadata, false);
	ASSERT_EQ(0, xv_qp_modify(self->now, &p->qp[1], &reset));
	EXPECT_EQ(0, xv_qp_connect(self->now, &p->qp[1],
				   XV_OPTS(xv_qp_attr)));

	/* A sender names none that it does not have itself. */
	ASSERT_EQ(0, set_qkey(self, 0, 0x0000aaaa));
	ASSERT_EQ(0, xvt_recv(p, 1, 1, RX(0), RX_ROOM));
	ASSERT_EQ(0, xvt_recv(p, 1, 2, RX(0), RX_ROOM));
	ASSERT_EQ(0, send_to(p, 0, 1, 20, &self->ah, qpn, 0x8000aaaa));
	xvt_expect_wc(_metadata, &p->cq[0], 1, XV_WC_SUCCESS);
	ASSERT_EQ(0, send_to(p, 0, 2, 20, &self->ah, qpn, 0x0000aaaa));
	xvt_expect_wc(_metadata, &p->cq[0], 2, XV_WC_SUCCESS);
	set_net_raw(_metadata, true);
	ASSERT_EQ(0, xv_qp_modify(self->now, &p->qp[0], &reset));
	ASSERT_EQ(0, set_qkey(self, 0, 0x8000aaaa));
	/* With the highest bit, its own is sent, whatever stands beside. */
	expect_next(_metadata, self, 0x80000000);
	expect_next(_metadata, self, 0xffffffff);
}

/* ---- what is refused ---- */

TEST_F(ud, bad_entries)
{
	struct xvt_pair *p = &self->p;
	uint32_t qpn = p->qp[1].info.qp_num;
	struct xv_sge sge = xvt_sge(p, 0, 8);
	struct xv_ah foreign = {};
	struct xv_pd pd = {};
	struct xv_send good, s;
	uint32_t mtu, k;
	enum { ANOTHER = 0xfffffff0 };
	struct {
		const char *name;
		uint32_t ah, qpn;
		int err;
		uint16_t reason;
	} bad[] = {
		{ "no ah", 0, qpn, -ENOENT, XV_R_NO_HANDLE },
		{ "never an ah", ~0U, qpn, -ENOENT, XV_R_NO_HANDLE },
		{ "a pd", p->pd.obj.handle, qpn, -ENOENT, XV_R_NO_HANDLE },
		{ "a qp", p->qp[1].obj.handle, qpn, -ENOENT, XV_R_NO_HANDLE },
		{ "another pd", ANOTHER, qpn, -EINVAL, XV_R_MISMATCH },
		{ "qpn", self->ah.obj.handle, 0x1000000, -EINVAL, XV_R_RANGE },
		{ "qpn", self->ah.obj.handle, ~0U, -EINVAL, XV_R_RANGE },
	};
	unsigned int i;

	ASSERT_EQ(0, xv_pd_create(self->now, &pd));
	ASSERT_EQ(0, xv_ah_create(self->now, &foreign,
				  xvt_ah_opts(&self->t, &pd)));
	connect_both(_metadata, self);
	mtu = mtu_of(_metadata, self);
	xv_send_prep_ud(&good, 5, XV_SEND_SIGNALED, sge, &self->ah, qpn,
			XVT_QKEY);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		s = good;
		s.ah = bad[i].ah == ANOTHER ? foreign.obj.handle : bad[i].ah;
		s.remote_qpn = bad[i].qpn;
		EXPECT_EQ(bad[i].err, post(p, 0, &s)) {
			TH_LOG("%s", bad[i].name);
		}
		EXPECT_EQ(bad[i].reason, p->qp[0].reason) {
			TH_LOG("%s", bad[i].name);
		}
		xv_unpost(&p->qp[0]);
	}
	for (k = XV_WR_RDMA_WRITE; k <= XV_WR_ATOMIC_FETCH_AND_ADD; k++) {
		s = good;
		s.opcode = k;
		xv_send_set_remote(&s, p->mr.info.iova, p->mr.info.rkey);
		EXPECT_EQ(-EINVAL, post(p, 0, &s));
		EXPECT_EQ(XV_R_RANGE, p->qp[0].reason);
		xv_unpost(&p->qp[0]);
	}
	/* Longer than the MTU, in one piece and in two. */
	s = good;
	s.sge[0].length = mtu + 1;
	EXPECT_EQ(-EINVAL, post(p, 0, &s));
	EXPECT_EQ(XV_R_LENGTH, p->qp[0].reason);
	xv_unpost(&p->qp[0]);
	s.sge[0].length = mtu;
	xv_send_add_sge(&s, xvt_sge(p, 0, 1));
	EXPECT_EQ(-EINVAL, post(p, 0, &s));
	EXPECT_EQ(XV_R_LENGTH, p->qp[0].reason);
	xv_unpost(&p->qp[0]);
	/* The entries before a bad one go. */
	ASSERT_EQ(0, xvt_recv(p, 1, 1, RX(0), RX_ROOM));
	ASSERT_EQ(0, xv_post_send(&p->qp[0], &good, 1));
	ASSERT_EQ(0, xv_post_send(&p->qp[0], &s, 1));
	EXPECT_EQ(-EINVAL, xv_submit(&p->qp[0]));
	EXPECT_EQ(1, xv_sends_ready(&p->qp[0]));
	xv_unpost(&p->qp[0]);
	xvt_expect_wc(_metadata, &p->cq[0], 5, XV_WC_SUCCESS);
	EXPECT_EQ(1, xvt_wc(&p->cq[1], &(struct xv_wc){}));
	EXPECT_EQ(0, xv_ah_destroy(self->now, &foreign));
	EXPECT_EQ(0, xv_pd_destroy(self->now, &pd));
}

TEST_F(ud, an_address_is_not_for_datagrams)
{
	struct xvt_pair *p = &self->p;
	struct xv_qp_attr a = xvt_peer(&self->t, &p->qp[1]);
	struct xv_cq cq = {};
	struct xv_qp qp = {};

	EXPECT_EQ(-EINVAL, xv_qp_connect(self->now, &p->qp[0], &a));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_ADDRESS, 0, XV_R_MISMATCH);
	a.state = XV_QPS_RTR;
	EXPECT_EQ(-EINVAL, xv_qp_modify(self->now, &p->qp[0], &a));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_ADDRESS, 0, XV_R_MISMATCH);
	a.state = 0;
	ASSERT_EQ(0, xv_cq_create(self->now, &cq, XV_OPTS(xv_cq_opts,
							  .cqe = 4)));
	EXPECT_EQ(-EINVAL, xv_qp_create(self->now, &qp, XV_OPTS(xv_qp_opts,
		  .pd = &p->pd, .send_cq = &cq, .send_wr = 4,
		  .type = XV_QPT_UD, .connect = &a)));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_ADDRESS, 0, XV_R_MISMATCH);
	/* And a connection is not without. */
	ASSERT_EQ(0, xv_qp_create(self->now, &qp, XV_OPTS(xv_qp_opts,
		  .pd = &p->pd, .send_cq = &cq, .send_wr = 4)));
	EXPECT_EQ(-EINVAL, xv_qp_connect(self->now, &qp, XV_OPTS(xv_qp_attr)));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_ADDRESS, 0, XV_R_MISSING);
	EXPECT_EQ(0, xv_qp_destroy(self->now, &qp));
	EXPECT_EQ(0, xv_cq_destroy(self->now, &cq));
	/* More than a packet is not to be had. */
	a = (struct xv_qp_attr){ .size = sizeof(a), .path_mtu = 4096 };
	if (xv_qp_connect(self->now, &p->qp[0], &a))
		EXPECT_NOW_ERR(EINVAL, XV_GRP_PATH, XV_PATH_MTU, XV_R_RANGE);
}

TEST_F(ud, bad_address_handles)
{
	static const uint8_t nobody[16] = {
		[10] = 0xff, [11] = 0xff, 10, 9, 0, 77,
	};
	struct xvt_pair *p = &self->p;
	struct xv_ah_opts good = *xvt_ah_opts(&self->t, &p->pd);
	struct xv_ah ah = {};
	struct xv_ah_opts o;
	struct xv_ah_wc from;
	struct xvt_msg *m;

	o = good;
	o.port = 2;
	EXPECT_EQ(-EINVAL, xv_ah_create(self->now, &ah, &o));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_PATH, XV_PATH_PORT, XV_R_RANGE);
	EXPECT_EQ(1, xv_txn_error(self->now)->detail);
	o.port = 256;
	EXPECT_EQ(-EINVAL, xv_ah_create(self->now, &ah, &o));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_PATH, XV_PATH_PORT, XV_R_RANGE);
	o = good;
	o.sgid_index = 255;
	EXPECT_EQ(-EINVAL, xv_ah_create(self->now, &ah, &o));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_PATH, XV_PATH_SGID_INDEX, XV_R_NO_GID);
	o = good;
	o.lid = 1;
	memset(o.gid, 0, sizeof(o.gid));
	EXPECT_EQ(-EINVAL, xv_ah_create(self->now, &ah, &o));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_ADDRESS, XV_ADDRESS_GID, XV_R_MISSING);
	memcpy(o.gid, nobody, sizeof(o.gid));
	EXPECT_EQ(-EHOSTUNREACH, xv_ah_create(self->now, &ah, &o));
	EXPECT_NOW_ERR(EHOSTUNREACH, XV_GRP_ADDRESS, XV_ADDRESS_GID,
		       XV_R_UNREACHABLE);
	/* To no address at all. */
	o.lid = 0;
	memset(o.gid, 0, sizeof(o.gid));
	EXPECT_EQ(-EINVAL, xv_ah_create(self->now, &ah, &o));
	EXPECT_EQ(XV_R_ONE_OF, xv_txn_error(self->now)->reason);
	EXPECT_EQ(0, xv_txn_error(self->now)->detail);

	/* Both. */
	m = malloc(sizeof(*m));
	ASSERT_NE(NULL, m);
	xvt_datagram(&self->t, &from);
	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_AH, XV_M_CREATE);
	xvt_new(m);
	xvt_attr(m, XV_GRP_OBJECT, XV_OBJECT_PD, 4, 0, p->pd.obj.handle);
	xvt_attr(m, XV_GRP_ADDRESS, XV_ADDRESS_GID, 16, 0,
		 (uintptr_t)self->t.gid.gid);
	xvt_attr(m, XV_GRP_PARAMS, XV_PARAMS_WC, sizeof(from), 0,
		 (uintptr_t)&from);
	EXPECT_EQ(-EINVAL, xvt_run(m, self->t.fd));
	EXPECT_EQ(XV_R_ONE_OF, m->err.reason);
	EXPECT_EQ(2, m->err.detail);
	free(m);

	/* From a completion. */
	EXPECT_EQ(-EINVAL, xv_ah_create_from_wc(self->now, &ah, &p->pd, 2,
						&from.wc, from.grh));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_PATH, XV_PATH_PORT, XV_R_RANGE);
	EXPECT_EQ(-EINVAL, xv_ah_create_from_wc(self->now, &ah, &p->pd, 1,
						&from.wc, NULL));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_PARAMS, XV_PARAMS_WC, XV_R_RANGE);
	from.wc.flags &= ~XV_WC_GRH;
	EXPECT_EQ(-EINVAL, xv_ah_create_from_wc(self->now, &ah, &p->pd, 1,
						&from.wc, from.grh));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_PARAMS, XV_PARAMS_WC, XV_R_RANGE);
	from.wc.flags |= XV_WC_GRH;
	ASSERT_EQ(0, xv_ah_create_from_wc(self->now, &ah, &p->pd, 1, &from.wc,
					  from.grh)) {
		TH_LOG("reason %u raw %d", xv_txn_error(self->now)->reason,
		       xv_txn_error(self->now)->raw);
	}
	EXPECT_TRUE(has_prefix_of(&ah.info, &self->t));
	EXPECT_EQ(0, xv_ah_destroy(self->now, &ah));
}

/* Any bytes: a handle or an error that names them, and never a warning. */
TEST_F(ud, any_bytes_for_a_completion)
{
	unsigned int n = xvt_count(UD_FUZZ), made = 0, i, k;
	struct xvt_pair *p = &self->p;
	int64_t began = xvt_now();
	struct xv_ah ah = {};
	struct xv_ah_wc from;

	srand(getenv("XV_SEED") ? atoi(getenv("XV_SEED")) : 1);
	for (i = 0; i < n; i++) {
		uint8_t *bytes = (uint8_t *)&from;
		int ret;

		xvt_datagram(&self->t, &from);
		if (i % 4 == 3) {
			for (k = 0; k < sizeof(from); k++)
				bytes[k] = rand();
		} else {
			/* The completion, the header, or its addresses. */
			for (k = 0; k < 1 + i % 3; k++)
				bytes[rand() % sizeof(from)] = rand();
		}
		if (i % 8 < 5) {
			from.wc.flags |= XV_WC_GRH;
			from.grh[20] = i % 8 == 4 ? rand() : 0x45;
			xvt_ip_sum(from.grh);
		}
		ret = xv_ah_create_from_wc(self->now, &ah, &p->pd, 0, &from.wc,
					   from.grh);
		if (!ret) {
			made++;
			ASSERT_EQ(0, xv_ah_destroy(self->now, &ah));
			continue;
		}
		EXPECT_TRUE(ret == -EINVAL || ret == -EHOSTUNREACH) {
			TH_LOG("round %u: %d, raw %d", i, ret,
			       xv_txn_error(self->now)->raw);
		}
		EXPECT_EQ(XV_GRP_PARAMS, xv_txn_error(self->now)->group);
		EXPECT_EQ(XV_PARAMS_WC, xv_txn_error(self->now)->attr);
	}
	TH_LOG("%u of %u led somewhere, %lld ms", made, n,
	       (long long)(xvt_now() - began) / 1000000);
	EXPECT_NE(0, made);
}

/* Any address too; some GIDs are groups. */
TEST_F(ud, any_gid)
{
	unsigned int n = xvt_count(UD_FUZZ) / 8, i, k;
	struct xvt_pair *p = &self->p;
	struct xv_ah_opts good = *xvt_ah_opts(&self->t, &p->pd);
	struct xv_ah ah = {};

	srand(getenv("XV_SEED") ? atoi(getenv("XV_SEED")) : 2);
	for (i = 0; i < n; i++) {
		struct xv_ah_opts o = good;
		int ret;

		switch (i % 4) {
		case 0:
			o.gid[0] = 0xff;
			o.gid[1] = 0x0e;
			break;
		case 1:
			o.gid[12] = 224 + rand() % 32;
			break;
		case 2:
			for (k = 0; k < 16; k++)
				o.gid[k] = rand();
			break;
		default:
			o.sgid_index = rand() % 4;
			o.gid[0] = 0xfe;
			o.gid[1] = 0x80;
		}
		ret = xv_ah_create(self->now, &ah, &o);
		if (!ret)
			ASSERT_EQ(0, xv_ah_destroy(self->now, &ah));
		EXPECT_TRUE(!ret || ret == -EINVAL || ret == -EHOSTUNREACH) {
			TH_LOG("round %u: %d, raw %d", i, ret,
			       xv_txn_error(self->now)->raw);
		}
	}
}

/* ---- life ---- */

TEST_F(ud, the_pd_is_held)
{
	struct xvt_pair *p = &self->p;
	struct xv_pd_info info;
	struct xv_pd pd = {};
	struct xv_ah ah[2] = {};
	struct xv_tx *tx;
	int i;

	ASSERT_EQ(0, xv_pd_query(self->now, &p->pd, &info));
	/* mr, two qps, ah */
	EXPECT_EQ(4, info.num_dependents);
	/* All in one call, and back. */
	ASSERT_EQ(0, xv_txn_begin(self->t.ctx, 0, &tx));
	xv_pd_create(tx, &pd);
	for (i = 0; i < 2; i++)
		xv_ah_create(tx, &ah[i], xvt_ah_opts(&self->t, &pd));
	ASSERT_EQ(0, xv_txn_commit(tx, NULL));
	EXPECT_NE(ah[0].obj.handle, ah[1].obj.handle);
	EXPECT_EQ(pd.obj.handle, ah[1].info.pd);
	EXPECT_EQ(-EBUSY, xv_pd_destroy(self->now, &pd));
	EXPECT_NOW_ERR(EBUSY, XV_GRP_OBJECT, XV_OBJECT_HANDLE, XV_R_DEPENDENT);
	EXPECT_EQ(XV_OBJ_AH, xv_txn_error(self->now)->object);
	EXPECT_TRUE(xv_txn_error(self->now)->handle == ah[0].obj.handle ||
		    xv_txn_error(self->now)->handle == ah[1].obj.handle);
	EXPECT_EQ(0, xv_ah_destroy(self->now, &ah[0]));
	EXPECT_EQ(-EBUSY, xv_pd_destroy(self->now, &pd));
	EXPECT_EQ(ah[1].obj.handle, xv_txn_error(self->now)->handle);
	xv_pd_destroy(tx, &pd);
	xv_ah_destroy(tx, &ah[1]);
	EXPECT_EQ(0, xv_txn_commit(tx, NULL));
	/* A transaction that fails at its end takes its handles back. */
	xv_ah_create(tx, &ah[0], xvt_ah_opts(&self->t, &p->pd));
	xv_ah_create(tx, &ah[1], XV_OPTS(xv_ah_opts, .pd = &p->pd,
					 .gid = { 1 }, .sgid_index = 255));
	EXPECT_EQ(-EINVAL, xv_txn_commit(tx, NULL));
	EXPECT_EQ(1, xv_txn_error(tx)->op);
	EXPECT_EQ(0, ah[0].obj.handle);
	xv_txn_free(tx);
}

TEST_F(ud, early_sends)
{
	struct xvt_pair *p = &self->p;
	struct xv_qp_attr a = { .size = sizeof(a) };
	struct xv_ah gone = {};
	struct xv_qp_info info;
	unsigned int i;

	xvt_connect(_metadata, &self->t, &p->qp[1], NULL);
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, xvt_recv(p, 1, i, RX(i), RX_ROOM));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, send_it(self, 10 + i, 100 + i));
	ASSERT_EQ(0, xv_qp_query(self->now, &p->qp[0], &info));
	EXPECT_EQ(3, info.sends_early);
	xvt_connect(_metadata, &self->t, &p->qp[0], NULL);
	for (i = 0; i < 3; i++) {
		xvt_expect_wc(_metadata, &p->cq[0], 10 + i, XV_WC_SUCCESS);
		ASSERT_EQ(1, xvt_wc(&p->cq[1], &(struct xv_wc){}));
	}

	/* A handle that is gone by then: the send ends, and all with it. */
	ASSERT_EQ(0, xv_ah_create(self->now, &gone,
				  xvt_ah_opts(&self->t, &p->pd)));
	a.state = XV_QPS_RESET;
	ASSERT_EQ(0, xv_qp_modify(self->now, &p->qp[0], &a));
	a.state = XV_QPS_INIT;
	ASSERT_EQ(0, xv_qp_modify(self->now, &p->qp[0], &a));
	ASSERT_EQ(0, send_to(p, 0, 13, 8, &gone, p->qp[1].info.qp_num,
			     XVT_QKEY));
	ASSERT_EQ(0, send_it(self, 14, 8));
	ASSERT_EQ(0, xv_ah_destroy(self->now, &gone));
	xvt_connect(_metadata, &self->t, &p->qp[0], NULL);
	xvt_expect_wc(_metadata, &p->cq[0], 13, XV_WC_LOC_QP_OP_ERR);
	xvt_expect_wc(_metadata, &p->cq[0], 14, XV_WC_FLUSH_ERR);
	EXPECT_EQ(XV_QPS_ERR, p->qp[0].ring->state);
}

TEST_F(ud, flush)
{
	struct xv_qp_attr a = { .size = sizeof(a), .state = XV_QPS_ERR };
	struct xvt_pair *p = &self->p;
	unsigned int i;

	connect_both(_metadata, self);
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, xvt_recv(p, 0, i, RX(0), RX_ROOM));
	ASSERT_EQ(0, xv_qp_modify(self->now, &p->qp[0], &a));
	ASSERT_EQ(0, send_it(self, 9, 8));
	xvt_expect_flushed(_metadata, &p->cq[0], 0x21f);
	/* And back to work. */
	a.state = XV_QPS_RESET;
	ASSERT_EQ(0, xv_qp_modify(self->now, &p->qp[0], &a));
	xvt_connect(_metadata, &self->t, &p->qp[0], NULL);
}

/* ---- race ---- */

/**
 * struct race - a thread that sends with whatever handle it is told
 * @p: queue pairs
 * @ah: handle to send with
 * @stop: set to end it
 * @good: sends that were taken
 * @refused: sends with a handle that was gone
 * @broken: times that the queue pair failed under it
 * @error: what should not have been
 */
struct race {
	struct xvt_pair *p;
	uint32_t ah;
	bool stop;
	unsigned int good;
	unsigned int refused;
	unsigned int broken;
	int error;
};

static int repair(struct xvt_pair *p, struct xv_tx *tx)
{
	struct xv_qp_attr a = { .size = sizeof(a), .state = XV_QPS_RESET };
	int ret = xv_qp_modify(tx, &p->qp[0], &a);

	a.state = 0;
	a.qkey = XVT_QKEY;
	xv_unpost(&p->qp[0]);
	return ret ? ret : xv_qp_connect(tx, &p->qp[0], &a);
}

static void *race_sender(void *arg)
{
	struct race *r = arg;
	struct xvt_pair *p = r->p;
	struct xv_qp *qp = &p->qp[0];
	struct xv_tx *tx;
	struct xv_wc wc[16];
	int ret;

	/* The context's own transaction belongs to the other thread. */
	r->error = xv_txn_begin(p->t->ctx, XV_TXN_NOW, &tx);
	while (!r->error && !__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
		struct xv_send s;
		int n, i;

		xv_send_prep_ud(&s, 1, XV_SEND_SIGNALED, xvt_sge(p, 0, 64),
				&(struct xv_ah){}, p->qp[1].info.qp_num,
				XVT_QKEY);
		s.ah = __atomic_load_n(&r->ah, __ATOMIC_ACQUIRE);
		for (i = 0; i < 8; i++)
			xv_post_send(qp, &s, 1);
		ret = xv_submit_and_wait(qp, &p->cq[0], 1, xvt_ns(1000));
		if (ret == -ENOENT && qp->reason == XV_R_NO_HANDLE) {
			r->refused++;
			xvt_relax();
		} else if (ret && ret != -EAGAIN) {
			r->error = ret;
		} else {
			__atomic_add_fetch(&r->good, 1, __ATOMIC_RELEASE);
		}
		xv_unpost(qp);
		n = xv_poll(&p->cq[0], wc, 16);
		if (n < 0)
			r->error = n;
		for (i = 0; i < n; i++) {
			if (!wc[i].status)
				continue;
			/*
			 * Handles must not go before their sends have ended:
			 * then a device may fail the queue pair.
			 */
			if (wc[i].status != XV_WC_LOC_QP_OP_ERR &&
			    wc[i].status != XV_WC_FLUSH_ERR)
				r->error = wc[i].status;
			r->broken++;
			ret = repair(p, tx);
			if (ret)
				r->error = ret;
			break;
		}
	}
	xv_txn_free(tx);
	return NULL;
}

TEST_F(ud, destroy_while_sending)
{
	unsigned int n = xvt_count(UD_RACE), i, good;
	struct xvt_pair *p = &self->p;
	struct race r = { .p = p };
	pthread_t thread;
	struct xv_tx *tx;

	connect_both(_metadata, self);
	ASSERT_EQ(0, xv_txn_begin(self->t.ctx, 0, &tx));
	r.ah = self->ah.obj.handle;
	ASSERT_EQ(0, pthread_create(&thread, NULL, race_sender, &r));
	for (i = 0; i < n; i++) {
		struct xv_ah ah[2] = {}, keep = {};
		struct xv_pd pd = {};
		int k, ret;

		for (k = 0; k < 2; k++)
			xv_ah_create(tx, &ah[k], xvt_ah_opts(&self->t, &p->pd));
		xv_pd_create(tx, &pd);
		xv_ah_create(tx, &keep, xvt_ah_opts(&self->t, &pd));
		ASSERT_EQ(0, xv_txn_commit(tx, NULL));
		__atomic_store_n(&r.ah, ah[i & 1].obj.handle, __ATOMIC_RELEASE);
		/* Mostly in the midst of it. */
		good = __atomic_load_n(&r.good, __ATOMIC_ACQUIRE);
		if (i % 4)
			xvt_wait_until(__atomic_load_n(&r.good,
					__ATOMIC_ACQUIRE) != good || r.error,
				       2000);
		/* Half of them with the handle still in use. */
		if (i & 2)
			__atomic_store_n(&r.ah, self->ah.obj.handle,
					 __ATOMIC_RELEASE);
		for (k = 0; k < 2; k++)
			xv_ah_destroy(tx, &ah[k]);
		xv_ah_destroy(tx, &keep);
		xv_pd_destroy(tx, &pd);
		ret = xv_txn_commit(tx, NULL);
		ASSERT_EQ(0, ret) {
			TH_LOG("reason %u", xv_txn_error(tx)->reason);
		}
	}
	__atomic_store_n(&r.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, r.error);
	EXPECT_NE(0, r.good);
	TH_LOG("%u rounds: %u calls went, %u were refused, the queue pair failed %u times",
	       n, r.good, r.refused, r.broken);
	xv_txn_free(tx);
}

/* The file goes with datagrams under way. */
TEST_F(ud, close_with_everything)
{
	unsigned int n = xvt_count(LIFE_CYCLES) / 4, i, k;

	for (i = 0; i < n; i++) {
		struct xvt_pair p;
		struct xv_ah ah = {};
		struct xvt t;

		xvt_open(_metadata, &t);
		xvt_pair(_metadata, &t, &p, &(struct xvt_pair_opts){
			 .type = XV_QPT_UD });
		ASSERT_EQ(0, xv_ah_create(xv_now(t.ctx), &ah,
					  xvt_ah_opts(&t, &p.pd)));
		for (k = 0; k < 8; k++) {
			xvt_recv(&p, 1, k, RX(0), RX_ROOM);
			send_to(&p, 0, k, 64, &ah, p.qp[1].info.qp_num,
				XVT_QKEY);
		}
		munmap(p.buf, p.length);
		xvt_close(&t);
	}
}

TEST_HARNESS_MAIN
