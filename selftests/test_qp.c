// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: sizes, states, addresses, and sends that come too early.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include "xv_test.h"

FIXTURE(qp) {
	struct xvt t;
	struct xvt_snap before;
	struct xv_tx *now;
	struct xvt_pair p;
};

FIXTURE_SETUP(qp)
{
	xvt_open(_metadata, &self->t);
	self->now = xv_now(self->t.ctx);
	xvt_snap(_metadata, &self->t, &self->before);
	xvt_pair(_metadata, &self->t, &self->p, &(struct xvt_pair_opts){
		 .no_connect = true, .events = true });
}

FIXTURE_TEARDOWN(qp)
{
	xvt_teardown(_metadata);
	if (self->p.pd.obj.handle)
		EXPECT_EQ(0, xvt_pair_destroy(&self->p));
	xvt_same(_metadata, &self->t, &self->before, "at the end");
	xvt_close(&self->t);
}

#define EXPECT_NOW_ERR(e, g, a, r)					\
	xvt_failed(_metadata, "call", -xv_txn_error(self->now)->err,	\
		   xv_txn_error(self->now), e, 0, g, a, r)

static int query(struct xv_tx *now, struct xv_qp *qp, struct xv_qp_info *info)
{
	memset(info, 0xAA, sizeof(*info));
	return xv_qp_query(now, qp, info);
}

static uint32_t state_of(struct xv_tx *now, struct xv_qp *qp)
{
	struct xv_qp_info info;

	return query(now, qp, &info) ? 0 : info.state;
}

/* Go to a state, with the peer's address where one is needed. */
static int go(struct xvt_pair *p, int side, uint32_t state)
{
	struct xv_qp_attr attr = { .size = sizeof(attr) };

	if (state == XV_QPS_RTR)
		attr = xvt_peer(p->t, &p->qp[!side]);
	attr.state = state;
	return xv_qp_modify(xv_now(p->t->ctx), &p->qp[side], &attr);
}

/* From anywhere to a state, by legal steps. */
static int reach(struct xvt_pair *p, int side, uint32_t state)
{
	static const uint32_t way[] = {
		XV_QPS_RESET, XV_QPS_INIT, XV_QPS_RTR, XV_QPS_RTS,
	};
	unsigned int i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(way) && !ret; i++) {
		ret = go(p, side, way[i]);
		if (way[i] == state)
			return ret;
		if (state == XV_QPS_ERR && way[i] == XV_QPS_INIT)
			return ret ? ret : go(p, side, XV_QPS_ERR);
	}
	return ret;
}

TEST_F(qp, what_query_tells)
{
	struct xvt_pair *p = &self->p;
	struct xv_qp_info info;

	ASSERT_EQ(0, query(self->now, &p->qp[0], &info));
	EXPECT_EQ(0, memcmp(&info, &p->qp[0].info, sizeof(info)));
	EXPECT_EQ(16, info.send_entries);
	EXPECT_EQ(16, info.recv_entries);
	EXPECT_EQ(16, info.send_wr);
	EXPECT_EQ(16, info.recv_wr);
	EXPECT_EQ(4, info.send_sge);
	EXPECT_EQ(3, info.recv_sge);
	EXPECT_NE(0, info.qp_num);
	EXPECT_EQ(0, info.qp_num & 0xff000000);
	EXPECT_EQ(0, info.sq_psn & 0xff000000);
	EXPECT_EQ(XV_QPT_RC, info.type);
	EXPECT_EQ(XV_QPS_INIT, info.state);
	EXPECT_EQ(0, info.sends_outstanding);
	EXPECT_EQ(0, info.recvs_outstanding);
	EXPECT_EQ(0, info.sends_early);
	EXPECT_EQ(p->pd.obj.handle, info.pd);
	EXPECT_EQ(p->cq[0].obj.handle, info.send_cq);
	EXPECT_EQ(p->cq[0].obj.handle, info.recv_cq);
	EXPECT_EQ(0, info.path_mtu);
	EXPECT_EQ(XVT_REMOTE, info.access);
	EXPECT_NE(0, info.restrack_id);
	EXPECT_EQ(info.generation, p->qp[0].ring->generation);
	EXPECT_EQ(info.state, p->qp[0].ring->state);
	EXPECT_LE(sizeof(struct xv_qp_ring) + 16 * sizeof(struct xv_send) +
		  16 * sizeof(struct xv_recv), info.area.length);

	xvt_connect(_metadata, &self->t, &p->qp[0], &p->qp[1]);
	ASSERT_EQ(0, xvt_recv(p, 0, 1, 0, 8));
	ASSERT_EQ(0, query(self->now, &p->qp[0], &info));
	EXPECT_EQ(XV_QPS_RTS, info.state);
	EXPECT_EQ(XV_QPS_RTS, p->qp[0].ring->state);
	EXPECT_EQ(1, info.recvs_outstanding);
	EXPECT_EQ(p->qp[0].info.sq_psn, info.sq_psn);
	/* Traffic to oneself may use the largest packets. */
	EXPECT_EQ(4096, info.path_mtu);
}

TEST_F(qp, sizes)
{
	struct xvt_pair *p = &self->p;
	struct xv_qp qp = {};
	struct xv_cq cq = {};
	struct xv_qp_opts base = {
		.size = sizeof(base), .pd = &p->pd, .send_cq = &cq,
		.send_wr = 4, .recv_wr = 4,
	};
	struct xv_qp_opts o;

	ASSERT_EQ(0, xv_cq_create(self->now, &cq,
				  XV_OPTS(xv_cq_opts, .cqe = 9)));
	o = base;
	o.send_wr = 0;
	EXPECT_EQ(-EINVAL, xv_qp_create(self->now, &qp, &o));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_CAPS, XV_CAPS_SEND_WR, XV_R_RANGE);
	EXPECT_EQ(1, xv_txn_error(self->now)->detail);
	o.send_wr = XV_MAX_QP_WR + 1;
	EXPECT_EQ(-EINVAL, xv_qp_create(self->now, &qp, &o));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_CAPS, XV_CAPS_SEND_WR, XV_R_RANGE);
	EXPECT_EQ(XV_MAX_QP_WR, xv_txn_error(self->now)->detail);
	o = base;
	o.recv_wr = ~0U;
	EXPECT_EQ(-EINVAL, xv_qp_create(self->now, &qp, &o));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_CAPS, XV_CAPS_RECV_WR, XV_R_RANGE);
	o = base;
	o.send_sge = XV_MAX_SEND_SGE + 1;
	EXPECT_EQ(-EINVAL, xv_qp_create(self->now, &qp, &o));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_CAPS, XV_CAPS_SEND_SGE, XV_R_RANGE);
	o = base;
	o.recv_sge = XV_MAX_RECV_SGE + 1;
	EXPECT_EQ(-EINVAL, xv_qp_create(self->now, &qp, &o));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_CAPS, XV_CAPS_RECV_SGE, XV_R_RANGE);

	/* Rings are powers of two, depths are what was asked for. */
	o = base;
	o.send_wr = 5;
	o.recv_wr = 0;
	ASSERT_EQ(0, xv_qp_create(self->now, &qp, &o));
	EXPECT_EQ(8, qp.info.send_entries);
	EXPECT_EQ(5, qp.info.send_wr);
	EXPECT_EQ(0, qp.info.recv_entries);
	EXPECT_EQ(0, qp.info.recv_wr);
	EXPECT_EQ(1, qp.info.send_sge);
	EXPECT_EQ(1, qp.info.recv_sge);
	ASSERT_EQ(0, xv_qp_destroy(self->now, &qp));
	ASSERT_EQ(0, xv_cq_destroy(self->now, &cq));
}

/* A completion queue never overruns: what could make it is refused. */
TEST_F(qp, room_in_the_completion_queue)
{
	struct xvt_pair *p = &self->p;
	struct xv_qp qp[2] = {};
	struct xv_cq cq[2] = {};
	struct xv_qp_opts o = {
		.size = sizeof(o), .pd = &p->pd, .send_cq = &cq[0],
		.send_wr = 6, .recv_wr = 4,
	};
	struct xv_cq_info info;
	int i;

	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, xv_cq_create(self->now, &cq[i],
					  XV_OPTS(xv_cq_opts, .cqe = 10)));
	ASSERT_EQ(0, xv_qp_create(self->now, &qp[0], &o));
	ASSERT_EQ(0, xv_cq_query(self->now, &cq[0], &info));
	EXPECT_EQ(10, info.attached);
	EXPECT_EQ(10, info.cqe);
	EXPECT_EQ(16, info.entries);

	o.send_wr = 1;
	o.recv_wr = 0;
	EXPECT_EQ(-EINVAL, xv_qp_create(self->now, &qp[1], &o));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_CAPS, XV_CAPS_SEND_WR, XV_R_CQ_SPACE);
	EXPECT_EQ(XV_OBJ_CQ, xv_txn_error(self->now)->object);
	EXPECT_EQ(cq[0].obj.handle, xv_txn_error(self->now)->handle);

	/* Each queue counts where it completes. */
	o.recv_cq = &cq[0];
	o.send_cq = &cq[1];
	o.send_wr = 10;
	o.recv_wr = 1;
	EXPECT_EQ(-EINVAL, xv_qp_create(self->now, &qp[1], &o));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_CAPS, XV_CAPS_RECV_WR, XV_R_CQ_SPACE);
	EXPECT_EQ(cq[0].obj.handle, xv_txn_error(self->now)->handle);
	/* What the failure took is given back. */
	ASSERT_EQ(0, xv_cq_query(self->now, &cq[1], &info));
	EXPECT_EQ(0, info.attached);
	ASSERT_EQ(0, xv_qp_destroy(self->now, &qp[0]));
	ASSERT_EQ(0, xv_cq_query(self->now, &cq[0], &info));
	EXPECT_EQ(0, info.attached);
	ASSERT_EQ(0, xv_qp_create(self->now, &qp[1], &o));
	ASSERT_EQ(0, xv_cq_query(self->now, &cq[1], &info));
	EXPECT_EQ(10, info.attached);
	ASSERT_EQ(0, xv_qp_destroy(self->now, &qp[1]));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, xv_cq_destroy(self->now, &cq[i]));
}

/* ---- states ---- */

TEST_F(qp, all_changes_of_state)
{
	/* [from][to], numbered as enum xv_qp_state */
	static const bool legal[6][6] = {
		[XV_QPS_RESET] = { [XV_QPS_RESET] = 1, [XV_QPS_INIT] = 1 },
		[XV_QPS_INIT] = { [XV_QPS_RESET] = 1, [XV_QPS_INIT] = 1,
				  [XV_QPS_RTR] = 1, [XV_QPS_ERR] = 1 },
		[XV_QPS_RTR] = { [XV_QPS_RESET] = 1, [XV_QPS_RTS] = 1,
				 [XV_QPS_ERR] = 1 },
		[XV_QPS_RTS] = { [XV_QPS_RESET] = 1, [XV_QPS_ERR] = 1 },
		[XV_QPS_ERR] = { [XV_QPS_RESET] = 1, [XV_QPS_ERR] = 1 },
	};
	struct xvt_pair *p = &self->p;
	uint32_t from, to;
	int ret;

	for (from = XV_QPS_RESET; from <= XV_QPS_ERR; from++)
		for (to = XV_QPS_RESET; to <= XV_QPS_ERR; to++) {
			ASSERT_EQ(0, reach(p, 0, from));
			ASSERT_EQ(from, state_of(self->now, &p->qp[0]));
			EXPECT_EQ(from, p->qp[0].ring->state);
			ret = go(p, 0, to);
			EXPECT_EQ(legal[from][to] ? 0 : -EINVAL, ret) {
				TH_LOG("from %u to %u", from, to);
			}
			if (legal[from][to]) {
				EXPECT_EQ(to, state_of(self->now, &p->qp[0]));
				EXPECT_EQ(to, p->qp[0].ring->state);
				continue;
			}
			ret = go(p, 0, to);
			EXPECT_NOW_ERR(EINVAL, XV_GRP_PARAMS, XV_PARAMS_STATE,
				       XV_R_STATE);
			EXPECT_EQ(from, xv_txn_error(self->now)->detail);
			EXPECT_EQ(from, state_of(self->now, &p->qp[0]));
			EXPECT_EQ(from, p->qp[0].ring->state);
		}
}

TEST_F(qp, connect_from_each_state)
{
	struct xvt_pair *p = &self->p;
	struct xv_qp_attr attr = xvt_peer(&self->t, &p->qp[1]);
	uint32_t from;

	for (from = XV_QPS_RESET; from <= XV_QPS_ERR; from++) {
		bool legal = from == XV_QPS_RESET || from == XV_QPS_INIT;

		ASSERT_EQ(0, reach(p, 0, from));
		EXPECT_EQ(legal ? 0 : -EINVAL,
			  xv_qp_connect(self->now, &p->qp[0], &attr));
		if (!legal)
			EXPECT_NOW_ERR(EINVAL, 0, 0, XV_R_STATE);
		EXPECT_EQ(legal ? XV_QPS_RTS : from,
			  state_of(self->now, &p->qp[0]));
	}
}

TEST_F(qp, connect_by_steps_carries_data)
{
	struct xvt_pair *p = &self->p;
	struct xv_qp_info info;
	unsigned int n = xvt_count(QP_CYCLES);
	unsigned int i;
	int k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < 2; k++) {
			ASSERT_EQ(0, go(p, k, XV_QPS_RESET));
			ASSERT_EQ(0, query(self->now, &p->qp[k], &info));
			p->qp[k].info.sq_psn = info.sq_psn;
			EXPECT_EQ(0, info.path_mtu);
		}
		for (k = 0; k < 2; k++) {
			ASSERT_EQ(0, go(p, k, XV_QPS_INIT));
			ASSERT_EQ(0, go(p, k, XV_QPS_RTR));
			ASSERT_EQ(0, go(p, k, XV_QPS_RTS));
		}
		xvt_fill(p->buf, 5000, i);
		ASSERT_EQ(0, xvt_recv(p, 1, i, 8192, 5000));
		ASSERT_EQ(0, xvt_send(p, 0, i, 0, 5000));
		xvt_expect_wc(_metadata, &p->cq[1], i, XV_WC_SUCCESS);
		xvt_expect_wc(_metadata, &p->cq[0], i, XV_WC_SUCCESS);
		EXPECT_TRUE(xvt_filled(p->buf + 8192, 5000, i));
	}
}

/* The peer is known before: all in the call that makes the queue pair. */
TEST_F(qp, connected_when_made)
{
	struct xvt_pair *p = &self->p;
	struct xv_qp_info info = {};
	struct xvt_msg *m = malloc(sizeof(*m));
	struct xv_qp qp = {};
	struct xv_send s;
	struct xv_wc wc;
	uint32_t handle;

	ASSERT_NE(NULL, m);
	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_QP, XV_M_CREATE);
	xvt_new(m);
	xvt_attr(m, XV_GRP_OBJECT, XV_OBJECT_PD, 4, 0, p->pd.obj.handle);
	xvt_attr(m, XV_GRP_OBJECT, XV_OBJECT_SEND_CQ, 4, 0,
		 p->cq[1].obj.handle);
	xvt_u32(m, XV_GRP_CAPS, XV_CAPS_SEND_WR, 4);
	xvt_u32(m, XV_GRP_CAPS, XV_CAPS_RECV_WR, 4);
	xvt_u32(m, XV_GRP_ADDRESS, XV_ADDRESS_QPN, p->qp[0].info.qp_num);
	xvt_attr(m, XV_GRP_ADDRESS, XV_ADDRESS_GID, 16, 0,
		 (uintptr_t)self->t.gid.gid);
	xvt_u32(m, XV_GRP_ADDRESS, XV_ADDRESS_PSN, p->qp[0].info.sq_psn);
	xvt_u32(m, XV_GRP_PATH, XV_PATH_SGID_INDEX, self->t.gid_index);
	xvt_u32(m, XV_GRP_PATH, XV_PATH_SQ_PSN, 0xfffffe);
	xvt_out(m, &info, sizeof(info));
	/* The old one has no room left in its CQ for another. */
	EXPECT_EQ(-EINVAL, xvt_run(m, self->t.fd));
	EXPECT_EQ(XV_R_CQ_SPACE, m->err.reason);
	ASSERT_EQ(0, xv_qp_destroy(self->now, &p->qp[1]));
	m->txn.num_ops = 1;
	ASSERT_EQ(0, xvt_run(m, self->t.fd)) {
		TH_LOG("reason %u attr %u", m->err.reason, m->err.attr);
	}
	handle = xvt_made(m, 0);
	qp.info = info;
	qp.info.sq_psn = 0xfffffe;
	xvt_connect(_metadata, &self->t, &p->qp[0], &qp);
	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_QP, XV_M_QUERY);
	xvt_handle(m, handle);
	xvt_out(m, &info, sizeof(info));
	ASSERT_EQ(0, xvt_run(m, self->t.fd));
	EXPECT_EQ(XV_QPS_RTS, info.state);
	EXPECT_EQ(0xfffffe, info.sq_psn);

	/* Its rings are not mapped, but it answers: nothing is granted there. */
	xvt_fill(p->buf + 16384, 100, 1);
	xv_send_prep_read(&s, 1, XV_SEND_SIGNALED, xvt_sge(p, 0, 100),
			  p->mr.info.iova + 16384, p->mr.info.rkey);
	ASSERT_EQ(0, xv_post_send(&p->qp[0], &s, 1));
	ASSERT_EQ(0, xv_submit(&p->qp[0]));
	ASSERT_EQ(1, xvt_wc(&p->cq[0], &wc));
	EXPECT_TRUE(wc.status == XV_WC_REM_ACCESS_ERR ||
		    wc.status == XV_WC_REM_INV_REQ_ERR);

	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_QP, XV_M_DESTROY);
	xvt_handle(m, handle);
	EXPECT_EQ(0, xvt_run(m, self->t.fd));
	free(m);
	ASSERT_EQ(0, xv_qp_create(self->now, &p->qp[1], XV_OPTS(xv_qp_opts,
		  .pd = &p->pd, .send_cq = &p->cq[1], .send_wr = 1)));
}

/* ---- addresses ---- */

TEST_F(qp, addresses_that_cannot_be)
{
	static const uint8_t nobody[16] = {
		[10] = 0xff, [11] = 0xff, 10, 9, 0, 77,
	};
	struct xvt_pair *p = &self->p;
	struct xv_qp_attr good = xvt_peer(&self->t, &p->qp[1]);
	struct xv_qp_attr a;
	struct {
		size_t offset;
		uint32_t value;
		uint16_t group, attr, reason;
		uint64_t detail;
	} bad[] = {
#define BAD(field, v, g, at, r, d) \
	{ offsetof(struct xv_qp_attr, field), v, g, at, r, d }
		BAD(qpn, 0x1000000, XV_GRP_ADDRESS, XV_ADDRESS_QPN,
		    XV_R_RANGE, 0xffffff),
		BAD(psn, 0x1000000, XV_GRP_ADDRESS, XV_ADDRESS_PSN,
		    XV_R_RANGE, 0xffffff),
		BAD(lid, 0x10000, XV_GRP_ADDRESS, XV_ADDRESS_LID,
		    XV_R_RANGE, 0xffff),
		BAD(port, 2, XV_GRP_PATH, XV_PATH_PORT, XV_R_RANGE, 1),
		BAD(sgid_index, 255, XV_GRP_PATH, XV_PATH_SGID_INDEX,
		    XV_R_NO_GID, 0),
		BAD(pkey_index, 0xffff, XV_GRP_PATH, XV_PATH_PKEY_INDEX,
		    XV_R_RANGE, 0),
		BAD(path_mtu, 255, XV_GRP_PATH, XV_PATH_MTU, XV_R_RANGE, 256),
		BAD(path_mtu, 1000, XV_GRP_PATH, XV_PATH_MTU, XV_R_RANGE, 0),
		BAD(path_mtu, 4097, XV_GRP_PATH, XV_PATH_MTU, XV_R_RANGE, 4096),
		BAD(rd_atomic, 255, XV_GRP_PATH, XV_PATH_RD_ATOMIC, XV_R_RANGE,
		    self->t.info.max_rd_atomic),
		BAD(dest_rd_atomic, 255, XV_GRP_PATH, XV_PATH_DEST_RD_ATOMIC,
		    XV_R_RANGE, self->t.info.max_dest_rd_atomic),
		BAD(timeout, 32, XV_GRP_PATH, XV_PATH_TIMEOUT, XV_R_RANGE, 31),
		BAD(sq_psn, 0x1000000, XV_GRP_PATH, XV_PATH_SQ_PSN, XV_R_RANGE,
		    0xffffff),
#undef BAD
	};
	unsigned int i, from;

	for (from = XV_QPS_RESET; from <= XV_QPS_INIT; from++)
		for (i = 0; i < ARRAY_SIZE(bad); i++) {
			ASSERT_EQ(0, reach(p, 0, from));
			a = good;
			memcpy((char *)&a + bad[i].offset, &bad[i].value, 4);
			EXPECT_EQ(-EINVAL,
				  xv_qp_connect(self->now, &p->qp[0], &a));
			EXPECT_NOW_ERR(EINVAL, bad[i].group, bad[i].attr,
				       bad[i].reason);
			if (bad[i].detail)
				EXPECT_EQ(bad[i].detail,
					  xv_txn_error(self->now)->detail);
			/* A refused connect changes nothing. */
			EXPECT_EQ(from, state_of(self->now, &p->qp[0])) {
				TH_LOG("case %u", i);
			}
		}
	/* On Ethernet there is no way without a GID. */
	a = good;
	memset(a.gid, 0, sizeof(a.gid));
	EXPECT_EQ(-EINVAL, xv_qp_connect(self->now, &p->qp[0], &a));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_ADDRESS, XV_ADDRESS_GID, XV_R_MISSING);
	/* Nobody answers there. */
	memcpy(a.gid, nobody, sizeof(a.gid));
	EXPECT_EQ(-EHOSTUNREACH, xv_qp_connect(self->now, &p->qp[0], &a));
	EXPECT_NOW_ERR(EHOSTUNREACH, XV_GRP_ADDRESS, XV_ADDRESS_GID,
		       XV_R_UNREACHABLE);
	EXPECT_LT(0, xv_txn_error(self->now)->raw);
	EXPECT_EQ(XV_QPS_INIT, state_of(self->now, &p->qp[0]));
	EXPECT_EQ(0, xv_qp_connect(self->now, &p->qp[0], &good));
}

TEST_F(qp, access_of_the_peer)
{
	struct xvt_pair *p = &self->p;
	struct xv_qp_attr a = { .size = sizeof(a), .state = XV_QPS_INIT };
	struct xv_qp_info info;
	struct xv_send s;

	/* INIT to INIT changes what the peer may do: nothing. */
	a.zero = XV_ZERO_ACCESS;
	ASSERT_EQ(0, xv_qp_modify(self->now, &p->qp[1], &a));
	ASSERT_EQ(0, query(self->now, &p->qp[1], &info));
	EXPECT_EQ(0, info.access);
	xvt_connect(_metadata, &self->t, &p->qp[0], &p->qp[1]);
	xvt_connect(_metadata, &self->t, &p->qp[1], &p->qp[0]);
	memset(p->buf + 4096, 0x55, 8);
	xv_send_prep_write(&s, 1, XV_SEND_SIGNALED, xvt_sge(p, 0, 8),
			   p->mr.info.iova + 4096, p->mr.info.rkey);
	ASSERT_EQ(0, xv_post_send(&p->qp[0], &s, 1));
	ASSERT_EQ(0, xv_submit(&p->qp[0]));
	ASSERT_EQ(0, xv_wait(&p->cq[0], 1, xvt_ns(5000)));
	EXPECT_NE(XV_WC_SUCCESS, p->cq[0].wcs[0].status);
	EXPECT_EQ(0x55, p->buf[4096]);
}

/* Both sides count packets from what the other one said. */
TEST_F(qp, wrong_psn)
{
	struct xvt_pair *p = &self->p;
	struct xv_qp_attr a = xvt_peer(&self->t, &p->qp[0]);

	a.psn = (a.psn - 1000) & 0xffffff;
	ASSERT_EQ(0, xv_qp_connect(self->now, &p->qp[1], &a));
	a = xvt_peer(&self->t, &p->qp[1]);
	a.retry_cnt = 1;
	a.timeout = 8;
	ASSERT_EQ(0, xv_qp_connect(self->now, &p->qp[0], &a));
	ASSERT_EQ(0, xvt_recv(p, 1, 1, 0, 8));
	ASSERT_EQ(0, xvt_send(p, 0, 2, 0, 8));
	xvt_expect_wc(_metadata, &p->cq[0], 2, XV_WC_RETRY_EXC_ERR);
}

TEST_F(qp, receiver_not_ready)
{
	struct xvt_pair *p = &self->p;
	struct xv_qp_attr a = xvt_peer(&self->t, &p->qp[0]);

	a.min_rnr_timer = 1;
	ASSERT_EQ(0, xv_qp_connect(self->now, &p->qp[1], &a));
	a = xvt_peer(&self->t, &p->qp[1]);
	a.rnr_retry = 1;
	ASSERT_EQ(0, xv_qp_connect(self->now, &p->qp[0], &a));
	ASSERT_EQ(0, xvt_send(p, 0, 2, 0, 8));
	xvt_expect_wc(_metadata, &p->cq[0], 2, XV_WC_RNR_RETRY_EXC_ERR);
}

/* ---- early sends ---- */

static int early_write(struct xvt_pair *p, uint64_t wr_id, uint64_t value,
		       uint32_t mr)
{
	struct xv_send s;
	int ret;

	/* What is written is in the entry: the order shows in the target. */
	xv_send_prep(&s, XV_WR_RDMA_WRITE, wr_id, XV_SEND_SIGNALED);
	xv_send_set_inline(&s, &value, sizeof(value));
	xv_send_set_remote(&s, p->mr.info.iova + 4096, p->mr.info.rkey);
	if (mr) {
		s.flags &= ~XV_SEND_INLINE;
		s.inline_len = 0;
		s.sge[0] = xvt_sge(p, 0, 8);
		s.sge[0].mr = mr;
		s.num_sge = 1;
	}
	ret = xv_post_send(&p->qp[0], &s, 1);
	return ret ? ret : xv_submit(&p->qp[0]);
}

static uint32_t num_early(struct xv_tx *now, struct xv_qp *qp)
{
	struct xv_qp_info info;

	return query(now, qp, &info) ? ~0U : info.sends_early;
}

TEST_F(qp, reset_takes_nothing)
{
	struct xvt_pair *p = &self->p;
	struct xv_enter_qp what = { .qp = p->qp[0].obj.handle };
	struct xv_enter e = { .num_qps = 1, .qps = (uintptr_t)&what };

	ASSERT_EQ(0, go(p, 0, XV_QPS_RESET));
	what.num_send = 1;
	EXPECT_EQ(-EINVAL, xv_enter_raw(self->t.ctx, &e));
	EXPECT_EQ(XV_R_STATE, what.reason);
	EXPECT_EQ(0, what.sends_taken);
	what.num_send = 0;
	what.num_recv = 1;
	EXPECT_EQ(-EINVAL, xv_enter_raw(self->t.ctx, &e));
	EXPECT_EQ(XV_R_STATE, what.reason);
	EXPECT_EQ(0, what.recvs_taken);
}

TEST_F(qp, early_sends_go_in_order)
{
	struct xvt_pair *p = &self->p;
	uint64_t *target = (uint64_t *)(p->buf + 4096);
	int i;

	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, early_write(p, i, i, 0));
	EXPECT_EQ(5, num_early(self->now, &p->qp[0]));
	ASSERT_EQ(0, go(p, 0, XV_QPS_RTR));
	for (; i < 10; i++)
		ASSERT_EQ(0, early_write(p, i, i, 0));
	EXPECT_EQ(10, num_early(self->now, &p->qp[0]));
	EXPECT_EQ(6, xv_sends_free(&p->qp[0]));
	EXPECT_EQ(-ETIME, xv_wait(&p->cq[0], 1, 1000000));
	/* They are read when they go, not when they are accepted. */
	p->qp[0].sends[3].wr_id = 33;
	xvt_connect(_metadata, &self->t, &p->qp[1], &p->qp[0]);
	ASSERT_EQ(0, go(p, 0, XV_QPS_RTS));
	EXPECT_EQ(0, num_early(self->now, &p->qp[0]));
	for (; i < 15; i++)
		ASSERT_EQ(0, early_write(p, i, i, 0));
	for (i = 0; i < 15; i++)
		xvt_expect_wc(_metadata, &p->cq[0], i == 3 ? 33 : i,
			      XV_WC_SUCCESS);
	EXPECT_EQ(14, *target);
}

TEST_F(qp, bad_early_send_fails_in_its_place)
{
	struct xvt_pair *p = &self->p;
	int i;

	for (i = 0; i < 6; i++)
		ASSERT_EQ(0, early_write(p, i, i, i == 2 ? 0x7ffffff0 : 0));
	xvt_connect(_metadata, &self->t, &p->qp[1], &p->qp[0]);
	xvt_connect(_metadata, &self->t, &p->qp[0], &p->qp[1]);
	/* The first two may have been on their way when it failed. */
	for (i = 0; i < 2; i++) {
		struct xv_wc wc;

		ASSERT_EQ(1, xvt_wc(&p->cq[0], &wc));
		EXPECT_EQ(i, wc.wr_id);
		EXPECT_TRUE(wc.status == XV_WC_SUCCESS ||
			    wc.status == XV_WC_FLUSH_ERR);
	}
	xvt_expect_wc(_metadata, &p->cq[0], 2, XV_WC_LOC_PROT_ERR);
	for (i = 3; i < 6; i++)
		xvt_expect_wc(_metadata, &p->cq[0], i, XV_WC_FLUSH_ERR);
	EXPECT_EQ(XV_QPS_ERR, state_of(self->now, &p->qp[0]));
	EXPECT_EQ(XV_QPS_ERR, p->qp[0].ring->state);
	/* What comes later is flushed as well. */
	ASSERT_EQ(0, early_write(p, 7, 7, 0));
	xvt_expect_wc(_metadata, &p->cq[0], 7, XV_WC_FLUSH_ERR);
	EXPECT_EQ(16, xv_sends_free(&p->qp[0]));
}

TEST_F(qp, error_flushes_in_order)
{
	struct xvt_pair *p = &self->p;
	unsigned int sends = 0, recvs = 0;
	int i;

	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, xvt_recv(p, 0, 100 + i, 0, 8));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, early_write(p, i, i, 0));
	ASSERT_EQ(0, go(p, 0, XV_QPS_ERR));
	/* Sends and receives each in their order. */
	for (i = 0; i < 8; i++) {
		struct xv_wc wc;
		uint64_t want;

		ASSERT_EQ(1, xvt_wc(&p->cq[0], &wc));
		EXPECT_EQ(XV_WC_FLUSH_ERR, wc.status);
		want = wc.flags & XV_WC_RECV ? 100 + recvs++ : sends++;
		EXPECT_EQ(want, wc.wr_id);
	}
	EXPECT_EQ(0, num_early(self->now, &p->qp[0]));
	/* In ERR everything is taken, and comes back at once. */
	ASSERT_EQ(0, early_write(p, 9, 9, 0));
	xvt_expect_wc(_metadata, &p->cq[0], 9, XV_WC_FLUSH_ERR);
	ASSERT_EQ(0, xvt_recv(p, 0, 10, 0, 8));
	xvt_expect_wc(_metadata, &p->cq[0], 10, XV_WC_FLUSH_ERR);
}

TEST_F(qp, reset_drops_early_sends)
{
	struct xvt_pair *p = &self->p;
	uint64_t *target = (uint64_t *)(p->buf + 4096);
	struct xv_qp_info info;
	struct xv_wc wc;
	int i;

	*target = 99;
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, early_write(p, i, i, 0));
	ASSERT_EQ(0, xvt_recv(p, 0, 1, 0, 8));
	ASSERT_EQ(0, go(p, 0, XV_QPS_RESET));
	EXPECT_EQ(0, num_early(self->now, &p->qp[0]));
	EXPECT_EQ(16, xv_sends_free(&p->qp[0]));
	EXPECT_EQ(16, xv_recvs_free(&p->qp[0]));
	ASSERT_EQ(0, query(self->now, &p->qp[0], &info));
	p->qp[0].info.sq_psn = info.sq_psn;
	/* A receive was posted and may have been flushed on the way. */
	while (xv_wait(&p->cq[0], 0, 0) == 0 &&
	       xv_poll(&p->cq[0], &wc, 1) == 1)
		EXPECT_TRUE(wc.flags & XV_WC_RECV);
	for (i = 0; i < 2; i++)
		xvt_connect(_metadata, &self->t, &p->qp[i], &p->qp[!i]);
	EXPECT_EQ(-ETIME, xv_wait(&p->cq[0], 1, 1000000));
	EXPECT_EQ(99, *target);
	ASSERT_EQ(0, early_write(p, 5, 5, 0));
	xvt_expect_wc(_metadata, &p->cq[0], 5, XV_WC_SUCCESS);
	EXPECT_EQ(5, *target);
}

/* ---- established ---- */

TEST_F(qp, established_once)
{
	struct xvt_pair *p = &self->p;
	struct xv_event ev;
	int i;

	ASSERT_EQ(0, go(p, 1, XV_QPS_RTR));
	xvt_connect(_metadata, &self->t, &p->qp[0], &p->qp[1]);
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, xvt_recv(p, 1, i, 0, 8));
	EXPECT_FALSE(xvt_has_event(&p->eq));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, xvt_send(p, 0, i, 4096, 8));
	/* Nobody looks at the completion queue: the kernel does. */
	ASSERT_EQ(1, xvt_event(&p->eq, &ev));
	EXPECT_EQ(XV_EV_COMM_ESTABLISHED, ev.type);
	EXPECT_EQ(XV_OBJ_QP, ev.object);
	EXPECT_EQ(p->qp[1].obj.handle, ev.handle);
	EXPECT_EQ(12, ev.cookie);
	EXPECT_EQ(1, ev.count);
	EXPECT_EQ(0, ev.reserved);
	EXPECT_EQ(0, ev.data);
	for (i = 0; i < 3; i++)
		xvt_expect_wc(_metadata, &p->cq[1], i, XV_WC_SUCCESS);
	EXPECT_FALSE(xvt_has_event(&p->eq));
	ASSERT_EQ(0, go(p, 1, XV_QPS_RTS));
	ASSERT_EQ(0, xvt_recv(p, 1, 9, 0, 8));
	ASSERT_EQ(0, xvt_send(p, 0, 9, 4096, 8));
	xvt_expect_wc(_metadata, &p->cq[1], 9, XV_WC_SUCCESS);
	EXPECT_FALSE(xvt_has_event(&p->eq));
}

TEST_HARNESS_MAIN
