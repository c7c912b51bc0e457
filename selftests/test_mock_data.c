// SPDX-License-Identifier: GPL-2.0
/*
 * Completions in every order, and sends that wait for a connection which does
 * not come.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include "xv_mock.h"

FIXTURE(mdata) {
	struct xvm m;
	struct xv_qp other;
	struct xvm_call call;
};

typedef FIXTURE_DATA(mdata) fixture;

FIXTURE_SETUP(mdata)
{
	xvm_setup(_metadata, &self->m);
}

FIXTURE_TEARDOWN(mdata)
{
	xvm_teardown(_metadata, &self->m);
}

static unsigned int qpn_of(struct xvm *m)
{
	return m->qp.info.qp_num;
}

static uint32_t state_of(struct xvm *m)
{
	struct xv_qp_info info = {};

	xv_qp_query(xv_now(m->t.ctx), &m->qp, &info);
	return info.state;
}

/* ---- completions that are held ---- */

/* Make another queue pair, connected, with two receives; it sleeps before RTS. */
static void start_other(struct __test_metadata *_metadata, fixture *self)
{
	struct xvm *m = &self->m;
	struct xv_recv r[2];
	int i;

	ASSERT_EQ(0, xv_qp_connect(xv_now(m->t.ctx), &m->qp, xvm_peer()));
	ASSERT_EQ(0, xvm_recv(m, &m->qp, 1));
	ASSERT_EQ(0, xvm_verb("modify_qp", "sleep 1 2"));
	ASSERT_EQ(0, xv_txn_begin(m->t.ctx, 0, &self->call.tx));
	xvm_add_qp(self->call.tx, m, &self->other, 12, xvm_peer());
	for (i = 0; i < 2; i++)
		xv_recv_prep(&r[i], 20 + i);
	xv_qp_post_recv(self->call.tx, &self->other, r, 2);
	xvm_start(_metadata, &self->call);
	ASSERT_TRUE(xvm_wait_sleeper("modify_qp"));
}

/*
 * A completion of a queue pair that is not published yet waits, and nothing
 * that came later goes before it.
 */
TEST_F(mdata, none_overtakes_one_that_waits)
{
	struct xvm *m = &self->m;
	unsigned int other;

	start_other(_metadata, self);
	other = xvm_newest_qp();
	ASSERT_NE(qpn_of(m), other);
	ASSERT_EQ(0, xvm_complete("recv", other, 0, "SUCCESS"));
	XVM_EXPECT_NO_WC(&m->cq);
	ASSERT_EQ(0, xvm_complete("recv", qpn_of(m), 0, "SUCCESS"));
	XVM_EXPECT_NO_WC(&m->cq);
	ASSERT_EQ(0, xvm_complete("recv", other, 0, "SUCCESS"));
	XVM_EXPECT_NO_WC(&m->cq);
	EXPECT_EQ(XV_CQ_OVERFLOW, m->cq.ring->flags);
	ASSERT_EQ(0, xvm_verb("modify_qp", "wake"));
	EXPECT_EQ(0, xvm_join(_metadata, &self->call));
	/* All lie there when the call has returned. */
	EXPECT_EQ(3, m->cq.ring->tail);
	EXPECT_EQ(0, m->cq.ring->flags);
	xvt_expect_wc(_metadata, &m->cq, 20, XV_WC_SUCCESS);
	xvt_expect_wc(_metadata, &m->cq, 1, XV_WC_SUCCESS);
	xvt_expect_wc(_metadata, &m->cq, 21, XV_WC_SUCCESS);
	EXPECT_EQ(16, xv_recvs_free(&m->qp));
}

/* If the call fails nobody ever hears of it, and what waited behind it goes. */
TEST_F(mdata, those_of_a_failed_call_do_not_stay_in_the_way)
{
	struct xvm *m = &self->m;
	unsigned int other;

	start_other(_metadata, self);
	other = xvm_newest_qp();
	ASSERT_EQ(0, xvm_complete("recv", other, 0, "SUCCESS"));
	XVM_EXPECT_NO_WC(&m->cq);
	ASSERT_EQ(0, xvm_complete("recv", qpn_of(m), 0, "SUCCESS"));
	XVM_EXPECT_NO_WC(&m->cq);
	/* To ERR by its own will: then RTS is not possible. */
	ASSERT_EQ(0, xvm_set("event", "qp %u QP_FATAL", other));
	ASSERT_EQ(0, xvm_verb("modify_qp", "wake"));
	EXPECT_EQ(-EIO, xvm_join(_metadata, &self->call));
	EXPECT_EQ(EINVAL, self->call.err.raw);
	xvt_expect_wc(_metadata, &m->cq, 1, XV_WC_SUCCESS);
	XVM_EXPECT_NO_WC(&m->cq);
	EXPECT_EQ(0, m->cq.ring->flags);
	EXPECT_FALSE(xvt_has_event(&m->eq));
}

/* Who sleeps is woken by what was held. */
static int wait_for_three(void *arg)
{
	struct xvm *m = arg;

	return xv_wait(&m->cq, 3, xvt_ns(10000));
}

TEST_F(mdata, a_sleeper_wakes_at_the_commit)
{
	struct xvm_call sleeper = { .run = wait_for_three, .arg = &self->m };
	struct xvm *m = &self->m;
	unsigned int other;

	start_other(_metadata, self);
	other = xvm_newest_qp();
	xvm_start(_metadata, &sleeper);
	ASSERT_EQ(0, xvm_complete("recv", other, 0, "SUCCESS"));
	ASSERT_EQ(0, xvm_complete("recv", other, 0, "SUCCESS"));
	ASSERT_EQ(0, xvm_complete("recv", qpn_of(m), 0, "SUCCESS"));
	ASSERT_EQ(0, xvm_verb("modify_qp", "wake"));
	EXPECT_EQ(0, xvm_join(_metadata, &self->call));
	EXPECT_EQ(0, xvm_join(_metadata, &sleeper));
	EXPECT_EQ(3, m->cq.ring->tail);
}

/* ---- room ---- */

static int send_twelve(void *arg)
{
	struct xvm *m = arg;
	struct xv_send s;
	int ret = 0;
	int i;

	for (i = 0; i < 12 && !ret; i++) {
		xv_send_prep_send(&s, i, XV_SEND_SIGNALED,
				  xv_sge_at(&m->mr, m->buf, 64));
		ret = xv_post_send(&m->qp, &s, 1);
	}
	return ret ? ret : xv_submit(&m->qp);
}

/* Slots of sends that are just being posted are not free. */
TEST_F(mdata, room_is_not_what_is_being_posted)
{
	struct xvm_call sender = { .run = send_twelve, .arg = &self->m };
	struct xvm *m = &self->m;
	struct xv_event ev;
	int i;

	ASSERT_EQ(0, xv_qp_connect(xv_now(m->t.ctx), &m->qp, xvm_peer()));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, xvm_send(m, &m->qp, 100 + i));
	ASSERT_EQ(0, xv_qp_watch_room(xv_now(m->t.ctx), &m->qp, 13, 5));
	ASSERT_EQ(0, xvm_verb("post_send", "sleep"));
	xvm_start(_metadata, &sender);
	ASSERT_TRUE(xvm_wait_sleeper("post_send"));
	ASSERT_EQ(0, xvm_complete("send", qpn_of(m), 0, "SUCCESS"));
	ASSERT_TRUE(xvt_wait_until(__atomic_load_n(&m->cq.ring->tail,
						   __ATOMIC_ACQUIRE) == 1,
				   5000));
	EXPECT_FALSE(xvt_has_event(&m->eq));
	ASSERT_EQ(0, xvm_verb("post_send", "wake"));
	EXPECT_EQ(0, xvm_join(_metadata, &sender));
	EXPECT_FALSE(xvt_has_event(&m->eq));
	for (i = 0; i < 12; i++)
		ASSERT_EQ(0, xvm_complete("send", qpn_of(m), 0, "SUCCESS"));
	ASSERT_EQ(1, xvt_event(&m->eq, &ev));
	EXPECT_EQ(XV_EV_ROOM, ev.type);
	EXPECT_EQ(5, ev.cookie);
}

/* ---- sends that wait ---- */

#define NUM_EARLY	5

static void post_early(struct __test_metadata *_metadata, struct xvm *m)
{
	int i;

	for (i = 0; i < NUM_EARLY; i++)
		ASSERT_EQ(0, xvm_send(m, &m->qp, i));
	EXPECT_EQ(0, xvm_get("objects", "sends"));
}

/* They end in order, and nobody has to call the kernel for it. */
static void expect_early(struct __test_metadata *_metadata, struct xvm *m,
			 unsigned int from, const char *what)
{
	struct xv_wc wc;
	unsigned int i;

	for (i = from; i < NUM_EARLY; i++) {
		ASSERT_TRUE(xvt_wait_until(xv_poll(&m->cq, &wc, 1) == 1, 5000)) {
			TH_LOG("%s: send %u does not end", what, i);
		}
		EXPECT_EQ(i, wc.wr_id);
		EXPECT_EQ(XV_WC_FLUSH_ERR, wc.status);
	}
	EXPECT_EQ(16, xv_sends_free(&m->qp));
	EXPECT_EQ(XV_QPS_ERR, m->qp.ring->state);
	EXPECT_EQ(XV_QPS_ERR, state_of(m));
	EXPECT_EQ(0, xvm_calls("post_send"));
}

static void again(struct __test_metadata *_metadata, struct xvm *m)
{
	ASSERT_EQ(0, xvm_go(m, &m->qp, XV_QPS_RESET));
	ASSERT_EQ(0, xvm_go(m, &m->qp, XV_QPS_INIT));
}

TEST_F(mdata, driver_fails_while_sends_wait)
{
	static const char *const events[] = {
		"QP_FATAL", "QP_REQ_ERR", "QP_ACCESS_ERR",
	};
	struct xvm *m = &self->m;
	unsigned int i, rtr;

	for (rtr = 0; rtr < 2; rtr++) {
		for (i = 0; i < ARRAY_SIZE(events); i++) {
			ASSERT_EQ(0, xvm_go(m, &m->qp, rtr ? XV_QPS_RTR :
							     XV_QPS_INIT));
			post_early(_metadata, m);
			ASSERT_EQ(0, xvm_set("event", "qp %u %s", qpn_of(m),
					     events[i]));
			expect_early(_metadata, m, 0, events[i]);
			again(_metadata, m);
		}
	}
	/* A receive that fails tells it too. */
	ASSERT_EQ(0, xvm_recv(m, &m->qp, 40));
	ASSERT_EQ(0, xvm_go(m, &m->qp, XV_QPS_RTR));
	post_early(_metadata, m);
	ASSERT_EQ(0, xvm_complete("recv", qpn_of(m), 0, "LOC_LEN_ERR"));
	xvt_expect_wc(_metadata, &m->cq, 40, XV_WC_LOC_LEN_ERR);
	expect_early(_metadata, m, 0, "receive");
}

TEST_F(mdata, change_of_state_while_sends_wait)
{
	struct xvm *m = &self->m;
	struct xv_tx *now = xv_now(m->t.ctx);

	post_early(_metadata, m);
	ASSERT_EQ(0, xvm_go(m, &m->qp, XV_QPS_ERR));
	expect_early(_metadata, m, 0, "to ERR");
	again(_metadata, m);

	/* Half way. */
	post_early(_metadata, m);
	ASSERT_EQ(0, xvm_verb("modify_qp", "fail %d", EINVAL));
	EXPECT_EQ(-EIO, xv_qp_connect(now, &m->qp, xvm_peer()));
	expect_early(_metadata, m, 0, "connect, RTR");
	again(_metadata, m);
	post_early(_metadata, m);
	ASSERT_EQ(0, xvm_verb("modify_qp", "fail %d 1 1", EINVAL));
	EXPECT_EQ(-EIO, xv_qp_connect(now, &m->qp, xvm_peer()));
	expect_early(_metadata, m, 0, "connect, RTS");
	again(_metadata, m);

	/* ERR, but not RESET. */
	post_early(_metadata, m);
	ASSERT_EQ(0, xvm_verb("modify_qp", "fail %d 1 1", EINVAL));
	EXPECT_EQ(-EIO, xvm_go(m, &m->qp, XV_QPS_RESET));
	expect_early(_metadata, m, 0, "to RESET");
	again(_metadata, m);

	/* What a driver refuses when the time has come ends in its place. */
	post_early(_metadata, m);
	ASSERT_EQ(0, xvm_verb("post_send", "fail %d 1 2", ENOMEM));
	ASSERT_EQ(0, xv_qp_connect(now, &m->qp, xvm_peer()));
	xvt_expect_wc(_metadata, &m->cq, 0, XV_WC_FLUSH_ERR);
	xvt_expect_wc(_metadata, &m->cq, 1, XV_WC_FLUSH_ERR);
	xvt_expect_wc(_metadata, &m->cq, 2, XV_WC_GENERAL_ERR);
	ASSERT_EQ(0, xvm_verb("post_send", "reset"));
	expect_early(_metadata, m, 3, "post");
}

/* The driver fails and says nothing: who posts next finds out. */
TEST_F(mdata, silent_failure_while_sends_wait)
{
	struct xvm *m = &self->m;
	struct xv_wc wc;
	unsigned int i;

	ASSERT_EQ(0, xvm_recv(m, &m->qp, 40));
	ASSERT_EQ(0, xvm_go(m, &m->qp, XV_QPS_RTR));
	post_early(_metadata, m);
	/* In this order: the completion, later sends. */
	ASSERT_EQ(0, xvm_complete("recv", qpn_of(m), 0, "LOC_PROT_ERR"));
	EXPECT_EQ(0, xv_wait(&m->cq, 1, xvt_ns(5000)));
	ASSERT_EQ(0, xvm_send(m, &m->qp, NUM_EARLY));
	ASSERT_EQ(1, xvt_wc(&m->cq, &wc));
	EXPECT_EQ(40, wc.wr_id);
	for (i = 0; i <= NUM_EARLY; i++)
		xvt_expect_wc(_metadata, &m->cq, i, XV_WC_FLUSH_ERR);
}

/* What is wrong with an entry decides how it ends. */
TEST_F(mdata, bad_entries_that_waited)
{
	struct xvm *m = &self->m;
	const struct xv_sge good = xv_sge_at(&m->mr, m->buf, 8);
	const struct {
		const char *name;
		struct xv_send e;
		uint8_t status;
	} bad[] = {
		{ "opcode", { .opcode = 99, .num_sge = 1, .sge = { good } },
		  XV_WC_LOC_QP_OP_ERR },
		{ "no opcode", { .num_sge = 1, .sge = { good } },
		  XV_WC_LOC_QP_OP_ERR },
		{ "address of an atomic",
		  { .opcode = XV_WR_ATOMIC_FETCH_AND_ADD, .num_sge = 1,
		    .remote_addr = 4, .sge = { good } }, XV_WC_LOC_QP_OP_ERR },
		{ "flags", { .opcode = XV_WR_SEND, .flags = 0x8000 },
		  XV_WC_LOC_QP_OP_ERR },
		{ "pieces", { .opcode = XV_WR_SEND, .num_sge = 4 },
		  XV_WC_LOC_QP_OP_ERR },
		{ "destination", { .opcode = XV_WR_SEND, .ah = 1 },
		  XV_WC_LOC_QP_OP_ERR },
		{ "inline data", { .opcode = XV_WR_SEND,
				   .flags = XV_SEND_INLINE, .inline_len = 4 },
		  XV_WC_LOC_QP_OP_ERR },
		{ "region", { .opcode = XV_WR_SEND, .num_sge = 1,
			      .sge = { { .mr = 0x7fffff, .length = 8 } } },
		  XV_WC_LOC_PROT_ERR },
		{ "range", { .opcode = XV_WR_SEND, .num_sge = 1,
			     .sge = { { .mr = good.mr, .offset = 4092,
					.length = 8 } } },
		  XV_WC_LOC_PROT_ERR },
	};
	struct xv_send read = { .opcode = XV_WR_RDMA_READ, .num_sge = 1 };
	struct xv_mr mr = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct xv_send e = bad[i].e;

		e.wr_id = 1;
		ASSERT_EQ(0, xvm_send(m, &m->qp, 0));
		ASSERT_EQ(0, xv_post_send(&m->qp, &e, 1));
		ASSERT_EQ(0, xv_submit(&m->qp));
		ASSERT_EQ(0, xvm_send(m, &m->qp, 2));
		ASSERT_EQ(0, xv_qp_connect(xv_now(m->t.ctx), &m->qp,
					   xvm_peer()));
		xvt_expect_wc(_metadata, &m->cq, 0, XV_WC_FLUSH_ERR);
		xvt_expect_wc(_metadata, &m->cq, 1, bad[i].status);
		xvt_expect_wc(_metadata, &m->cq, 2, XV_WC_FLUSH_ERR);
		EXPECT_EQ(XV_QPS_ERR, m->qp.ring->state) {
			TH_LOG("%s", bad[i].name);
		}
		again(_metadata, m);
	}
	/* A piece that does not allow what is written to it. */
	ASSERT_EQ(0, xv_mr_create(xv_now(m->t.ctx), &mr,
				  XV_OPTS(xv_mr_opts, .pd = &m->pd,
					  .addr = m->buf, .length = 8)));
	read.sge[0] = xv_sge_at(&mr, m->buf, 8);
	ASSERT_EQ(0, xv_post_send(&m->qp, &read, 1));
	ASSERT_EQ(0, xv_submit(&m->qp));
	ASSERT_EQ(0, xv_qp_connect(xv_now(m->t.ctx), &m->qp, xvm_peer()));
	xvt_expect_wc(_metadata, &m->cq, 0, XV_WC_LOC_PROT_ERR);
}

/* ---- completions that are not what they should be ---- */

static void inject(struct __test_metadata *_metadata, struct xvm *m,
		   uint32_t handle, uint32_t gen, uint32_t low,
		   const char *status)
{
	ASSERT_EQ(0, xvm_set("inject", "%u %llx %s 64", m->cq.info.restrack_id,
			     (unsigned long long)handle << 32 |
			     (gen & 0xffff) << 16 | low, status));
}

#define RECV_BIT	0x8000

TEST_F(mdata, completions_of_nobody)
{
	struct xvm *m = &self->m;
	uint32_t qp = m->qp.obj.handle;
	uint32_t gen = m->qp.info.generation;
	struct xv_qp gone = {};
	struct xv_tx *tx;
	unsigned int i;

	ASSERT_EQ(0, xv_txn_begin(m->t.ctx, 0, &tx));
	xvm_add_qp(tx, m, &gone, 0, NULL);
	ASSERT_EQ(0, xv_txn_commit(tx, NULL));
	xv_txn_free(tx);
	i = gone.obj.handle;
	ASSERT_EQ(0, xv_qp_connect(xv_now(m->t.ctx), &m->qp, xvm_peer()));
	ASSERT_EQ(0, xv_qp_destroy(xv_now(m->t.ctx), &gone));
	for (; i; i = i == qp ? 0 : qp) {
		/* Nothing is posted: no slot is meant. */
		inject(_metadata, m, i, gen, 0, "SUCCESS");
		inject(_metadata, m, i, gen, RECV_BIT, "SUCCESS");
		inject(_metadata, m, i, gen, 15, "GENERAL_ERR");
		inject(_metadata, m, i, gen, RECV_BIT | 0x7fff, "WR_FLUSH_ERR");
	}
	XVM_EXPECT_NO_WC(&m->cq);
	EXPECT_EQ(XV_QPS_RTS, state_of(m));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, xvm_send(m, &m->qp, i));
	ASSERT_EQ(0, xvm_recv(m, &m->qp, 9));
	inject(_metadata, m, 0, 0, 0, "SUCCESS");
	inject(_metadata, m, ~0U, ~0U, 0xffff, "GENERAL_ERR");
	inject(_metadata, m, m->cq.obj.handle, gen, 0, "SUCCESS");
	inject(_metadata, m, m->pd.obj.handle, gen, RECV_BIT, "GENERAL_ERR");
	/* Of another generation, and of slots behind the last. */
	inject(_metadata, m, qp, gen - 1, 0, "SUCCESS");
	inject(_metadata, m, qp, gen + 1, RECV_BIT, "GENERAL_ERR");
	inject(_metadata, m, qp, gen, 3, "SUCCESS");
	inject(_metadata, m, qp, gen, RECV_BIT | 1, "SUCCESS");
	XVM_EXPECT_NO_WC(&m->cq);
	EXPECT_EQ(XV_QPS_RTS, state_of(m));
	EXPECT_EQ(13, xv_sends_free(&m->qp));
	/* Those that are meant come as ever; the second time they do not. */
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, xvm_complete("send", qpn_of(m), 0, "SUCCESS"));
		xvt_expect_wc(_metadata, &m->cq, i, XV_WC_SUCCESS);
		inject(_metadata, m, qp, gen, i, "SUCCESS");
		inject(_metadata, m, qp, gen, i, "GENERAL_ERR");
		XVM_EXPECT_NO_WC(&m->cq);
	}
	ASSERT_EQ(0, xvm_complete("recv", qpn_of(m), 0, "SUCCESS"));
	xvt_expect_wc(_metadata, &m->cq, 9, XV_WC_SUCCESS);
	EXPECT_EQ(16, xv_sends_free(&m->qp));
	EXPECT_EQ(16, xv_recvs_free(&m->qp));
	EXPECT_EQ(XV_QPS_RTS, state_of(m));
}

/* A device that does not keep the order: slots are neither lost nor doubled. */
TEST_F(mdata, out_of_order)
{
	struct xvm *m = &self->m;
	unsigned int i, round;
	struct xv_wc wc;

	ASSERT_EQ(0, xv_qp_connect(xv_now(m->t.ctx), &m->qp, xvm_peer()));
	for (round = 0; round < 20; round++) {
		for (i = 0; i < 16; i++)
			ASSERT_EQ(0, xvm_send(m, &m->qp, i));
		EXPECT_EQ(0, xv_sends_free(&m->qp));
		for (i = 0; i < 16; i++)
			ASSERT_EQ(0, xvm_complete("send", qpn_of(m),
						  (i * 7 + round) % (16 - i),
						  "SUCCESS"));
		ASSERT_EQ(0, xv_wait(&m->cq, 1, xvt_ns(5000)));
		for (i = 0; xv_poll(&m->cq, &wc, 1) == 1; i++)
			EXPECT_EQ(XV_WC_SUCCESS, wc.status);
		EXPECT_LE(1, i);
		EXPECT_GE(16, i);
		EXPECT_EQ(16, xv_sends_free(&m->qp));
	}
}

TEST_F(mdata, statuses)
{
	static const struct {
		const char *name;
		uint8_t status;
	} all[] = {
		{ "SUCCESS", XV_WC_SUCCESS },
		{ "LOC_LEN_ERR", XV_WC_LOC_LEN_ERR },
		{ "LOC_QP_OP_ERR", XV_WC_LOC_QP_OP_ERR },
		{ "LOC_EEC_OP_ERR", XV_WC_GENERAL_ERR },
		{ "LOC_PROT_ERR", XV_WC_LOC_PROT_ERR },
		{ "WR_FLUSH_ERR", XV_WC_FLUSH_ERR },
		{ "MW_BIND_ERR", XV_WC_GENERAL_ERR },
		{ "BAD_RESP_ERR", XV_WC_GENERAL_ERR },
		{ "LOC_ACCESS_ERR", XV_WC_GENERAL_ERR },
		{ "REM_INV_REQ_ERR", XV_WC_REM_INV_REQ_ERR },
		{ "REM_ACCESS_ERR", XV_WC_REM_ACCESS_ERR },
		{ "REM_OP_ERR", XV_WC_REM_OP_ERR },
		{ "RETRY_EXC_ERR", XV_WC_RETRY_EXC_ERR },
		{ "RNR_RETRY_EXC_ERR", XV_WC_RNR_RETRY_EXC_ERR },
		{ "REM_ABORT_ERR", XV_WC_GENERAL_ERR },
		{ "FATAL_ERR", XV_WC_GENERAL_ERR },
		{ "RESP_TIMEOUT_ERR", XV_WC_GENERAL_ERR },
		{ "GENERAL_ERR", XV_WC_GENERAL_ERR },
	};
	struct xvm *m = &self->m;
	unsigned int i, recv;
	struct xv_wc wc;

	for (i = 0; i < 2 * ARRAY_SIZE(all); i++) {
		const char *name = all[i / 2].name;
		uint8_t status = all[i / 2].status;

		recv = i & 1;
		ASSERT_EQ(0, xv_qp_connect(xv_now(m->t.ctx), &m->qp,
					   xvm_peer()));
		ASSERT_EQ(0, recv ? xvm_recv(m, &m->qp, 5) :
				    xvm_send(m, &m->qp, 5));
		ASSERT_EQ(0, xvm_complete(recv ? "recv" : "send", qpn_of(m), 0,
					  name));
		ASSERT_EQ(1, xvt_wc(&m->cq, &wc));
		EXPECT_EQ(5, wc.wr_id);
		EXPECT_EQ(status, wc.status) {
			TH_LOG("%s", name);
		}
		EXPECT_EQ(recv ? XV_WC_RECV : 0, wc.flags);
		EXPECT_EQ(recv ? 0 : XV_WR_SEND, wc.opcode);
		/* Of an error nothing else means anything. */
		EXPECT_EQ(status ? 0 : 64, wc.byte_len);
		EXPECT_EQ(status ? 0x77 : 0, wc.vendor_err);
		EXPECT_EQ(0, wc.imm_data);
		EXPECT_EQ(status ? XV_QPS_ERR : XV_QPS_RTS, state_of(m));
		ASSERT_EQ(0, xvm_go(m, &m->qp, XV_QPS_RESET));
	}
}

/* ---- a driver that forgets ---- */

/* Entries that never end hold up their queue pair's end, but not for long. */
TEST_F(mdata, drain_is_bounded)
{
	struct xvm *m = &self->m;
	struct xv_qp all = {};
	struct xv_wc wc;
	int64_t start;
	int i;

	ASSERT_EQ(0, xvm_set("flush", "0"));
	for (i = 0; i < 16; i++)
		ASSERT_EQ(0, xvm_recv(m, &m->qp, i));
	start = xvt_now();
	ASSERT_EQ(0, xvm_go(m, &m->qp, XV_QPS_RESET));
	EXPECT_LE(900000000, xvt_now() - start);
	EXPECT_GT(xvt_ns(5000), xvt_now() - start);
	EXPECT_EQ(16, xv_recvs_free(&m->qp));
	ASSERT_EQ(0, xvm_go(m, &m->qp, XV_QPS_INIT));
	for (i = 0; i < 16; i++)
		ASSERT_EQ(0, xvm_recv(m, &m->qp, i));
	/* What it remembers at the very end is dropped. */
	ASSERT_EQ(0, xvm_set("flush_at_destroy", "1"));
	start = xvt_now();
	ASSERT_EQ(0, xv_qp_destroy(xv_now(m->t.ctx), &m->qp));
	EXPECT_LE(900000000, xvt_now() - start);
	EXPECT_GT(xvt_ns(5000), xvt_now() - start);
	XVM_EXPECT_NO_WC(&m->cq);
	/* And takes no room from the next: the CQ can be filled to its end. */
	ASSERT_EQ(0, xvm_set("reset", "1"));
	ASSERT_EQ(0, xv_qp_create(xv_now(m->t.ctx), &all,
				  XV_OPTS(xv_qp_opts, .pd = &m->pd,
					  .send_cq = &m->cq, .send_wr = 32,
					  .recv_wr = 32)));
	for (i = 0; i < 32; i++)
		ASSERT_EQ(0, xvm_recv(m, &all, i));
	ASSERT_EQ(0, xvm_go(m, &all, XV_QPS_ERR));
	for (i = 0; i < 32; i++) {
		ASSERT_EQ(1, xvt_wc(&m->cq, &wc));
		EXPECT_EQ(i, wc.wr_id);
	}
}

/* ---- InfiniBand, which the software devices are not ---- */

TEST_F(mdata, datagram_with_lid)
{
	struct xvm *m = &self->m;
	struct xv_ah_info info = {};
	struct xv_qp_attr attr = { .size = sizeof(attr) };
	struct xv_qp qp = {};
	struct xv_ah ah = {};
	struct xv_recv r;
	struct xv_send s;
	struct xv_wc wc;

	ASSERT_EQ(0, xv_qp_create(xv_now(m->t.ctx), &qp,
				  XV_OPTS(xv_qp_opts, .type = XV_QPT_UD,
					  .pd = &m->pd, .send_cq = &m->cq,
					  .send_wr = 4, .recv_wr = 4)));
	ASSERT_EQ(0, xv_ah_create(xv_now(m->t.ctx), &ah,
				  XV_OPTS(xv_ah_opts, .pd = &m->pd,
					  .lid = 0x22, .sl = 5)));
	ASSERT_EQ(0, xv_ah_query(xv_now(m->t.ctx), &ah, &info));
	EXPECT_EQ(0x22, info.lid);
	EXPECT_EQ(5, info.sl);
	ASSERT_EQ(0, xv_qp_connect(xv_now(m->t.ctx), &qp, &attr));
	xv_recv_prep(&r, 1);
	xv_recv_add_sge(&r, xv_sge_at(&m->mr, m->buf, 128));
	ASSERT_EQ(0, xv_post_recv(&qp, &r, 1));
	xv_send_prep_ud(&s, 2, XV_SEND_SIGNALED, xv_sge_at(&m->mr, m->buf, 8),
			&ah, 17, 1);
	ASSERT_EQ(0, xv_post_send(&qp, &s, 1));
	ASSERT_EQ(0, xv_submit(&qp));
	/* IB_WC_GRH and IB_WC_WITH_IMM */
	ASSERT_EQ(0, xvm_set("complete", "recv %u 0 SUCCESS 48 3",
			     qp.info.qp_num));
	ASSERT_EQ(1, xvt_wc(&m->cq, &wc));
	EXPECT_EQ(1, wc.wr_id);
	EXPECT_EQ(XV_WC_RECV | XV_WC_GRH | XV_WC_WITH_IMM, wc.flags);
	EXPECT_EQ(48, wc.byte_len);
	EXPECT_EQ(htobe32(0x12345678), wc.imm_data);
	EXPECT_EQ(17, wc.src_qp);
	EXPECT_EQ(0x13, wc.slid);
	EXPECT_EQ(3, wc.sl);
	EXPECT_EQ(0, wc.net_type);
	ASSERT_EQ(0, xvm_complete("send", qp.info.qp_num, 0, "SUCCESS"));
	ASSERT_EQ(1, xvt_wc(&m->cq, &wc));
	EXPECT_EQ(2, wc.wr_id);
	EXPECT_EQ(0, wc.src_qp);
}

/* ---- shared receive queues ---- */

#define SHARED	8

static void make_shared(struct __test_metadata *_metadata, struct xvm *m,
			struct xv_srq *srq)
{
	struct xv_recv r;
	int i;

	ASSERT_EQ(0, xv_srq_create(xv_now(m->t.ctx), srq,
				   XV_OPTS(xv_srq_opts, .pd = &m->pd,
					   .recv_wr = SHARED)));
	for (i = 0; i < SHARED; i++) {
		xv_recv_prep(&r, 40 + i);
		xv_recv_add_sge(&r, xv_sge_at(&m->mr, m->buf, 64));
		ASSERT_EQ(0, xv_post_srq_recv(srq, &r, 1));
	}
	ASSERT_EQ(0, xv_submit_srq(srq));
	EXPECT_EQ(0, xv_srq_free(srq));
}

static int add_shared_qp(struct xv_tx *tx, struct xvm *m, struct xv_qp *qp,
			 struct xv_srq *srq, const struct xv_qp_attr *connect)
{
	return xv_qp_create(tx, qp, XV_OPTS(xv_qp_opts, .pd = &m->pd,
					    .send_cq = &m->cq, .srq = srq,
					    .send_wr = 2, .connect = connect));
}

/* The slots that others have ended are free, and what is left is still there. */
static void check_shared(struct __test_metadata *_metadata, fixture *self,
			 struct xv_srq *srq, unsigned int free)
{
	struct xvm *m = &self->m;
	struct xv_tx *now = xv_now(m->t.ctx);
	struct xv_recv r;
	unsigned int i;

	EXPECT_EQ(free, xv_srq_free(srq));
	EXPECT_EQ(SHARED - free, xvm_get("objects", "recvs"));
	for (i = 0; i < free; i++) {
		xv_recv_prep(&r, 60 + i);
		ASSERT_EQ(0, xv_post_srq_recv(srq, &r, 1));
	}
	EXPECT_EQ(0, xv_submit_srq(srq));
	/* Another takes them in order: first the old ones. */
	self->other = (struct xv_qp){};
	ASSERT_EQ(0, add_shared_qp(now, m, &self->other, srq, xvm_peer()));
	for (i = 0; i < SHARED; i++)
		ASSERT_EQ(0, xvm_complete("recv", self->other.info.qp_num, 0,
					  "SUCCESS"));
	for (i = 0; i < SHARED; i++)
		xvt_expect_wc(_metadata, &m->cq,
			      i < SHARED - free ? 40 + free + i :
						  60 + i - (SHARED - free),
			      XV_WC_SUCCESS);
	XVM_EXPECT_NO_WC(&m->cq);
	EXPECT_EQ(SHARED, xv_srq_free(srq));
	ASSERT_EQ(0, xv_qp_destroy(now, &self->other));
	ASSERT_EQ(0, xv_srq_destroy(now, srq));
}

/* Receives that a queue pair has taken, which is destroyed before one looks. */
TEST_F(mdata, shared_receives_of_one_that_goes)
{
	struct xvm *m = &self->m;
	struct xv_tx *now = xv_now(m->t.ctx);
	struct xv_srq srq = {};
	struct xv_qp qp = {};
	unsigned int i;

	make_shared(_metadata, m, &srq);
	ASSERT_EQ(0, add_shared_qp(now, m, &qp, &srq, xvm_peer()));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, xvm_complete("recv", qp.info.qp_num, 0, "SUCCESS"));
	ASSERT_EQ(0, xv_qp_destroy(now, &qp));
	XVM_EXPECT_NO_WC(&m->cq);
	check_shared(_metadata, self, &srq, 3);
}

/* The same in a transaction that fails at its end: nobody sees them. */
TEST_F(mdata, shared_receives_of_one_that_fails)
{
	struct xvm *m = &self->m;
	struct xv_srq srq = {};
	struct xv_qp qp = {};
	unsigned int i;

	make_shared(_metadata, m, &srq);
	/* INIT, RTR; asleep in RTS, which then fails. */
	ASSERT_EQ(0, xvm_verb("modify_qp", "sleep 1 2"));
	ASSERT_EQ(0, xvm_verb("modify_qp", "fail %d 1 2", EIO));
	ASSERT_EQ(0, xv_txn_begin(m->t.ctx, 0, &self->call.tx));
	add_shared_qp(self->call.tx, m, &qp, &srq, xvm_peer());
	xvm_start(_metadata, &self->call);
	ASSERT_TRUE(xvm_wait_sleeper("modify_qp"));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, xvm_complete("recv", xvm_newest_qp(), 0,
					  "SUCCESS"));
	ASSERT_EQ(0, xvm_verb("modify_qp", "wake"));
	EXPECT_EQ(-EIO, xvm_join(_metadata, &self->call));
	XVM_EXPECT_NO_WC(&m->cq);
	check_shared(_metadata, self, &srq, 3);
}

TEST_HARNESS_MAIN
