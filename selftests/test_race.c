// SPDX-License-Identifier: GPL-2.0
/*
 * Interleavings and lifetimes: what one call does to another, and what is left
 * of an object that did not go the usual way.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <stdatomic.h>
#include "xv_test.h"

FIXTURE(race) {
	struct xvt t;
	struct xvt_snap before;
	struct xvt_pair p;
};

FIXTURE_SETUP(race)
{
	xvt_open(_metadata, &self->t);
	xvt_snap(_metadata, &self->t, &self->before);
}

FIXTURE_TEARDOWN(race)
{
	xvt_teardown(_metadata);
	if (self->p.pd.obj.handle)
		EXPECT_EQ(0, xvt_pair_destroy(&self->p));
	xvt_same(_metadata, &self->t, &self->before, "at the end");
	xvt_close(&self->t);
}

static int to_state(struct xvt *t, struct xv_qp *qp, uint32_t state)
{
	return xv_qp_modify(xv_now(t->ctx), qp, XV_OPTS(xv_qp_attr,
							.state = state));
}

static unsigned int take(struct xv_cq *cq, struct xv_wc *wcs, unsigned int num)
{
	unsigned int n = 0;

	while (n < num && xvt_wc(cq, &wcs[n]) == 1)
		n++;
	return n;
}

/* ---- completions ---- */

/*
 * A chain of requests that nobody asked about, and then a bad entry: their
 * slots come back all the same, and what fails later is not stuck behind them.
 */
TEST_F(race, unsignaled_before_bad)
{
	struct xvt_pair *p = &self->p;
	struct xv_send s[17];
	struct xv_wc wc;
	unsigned int i;

	xvt_pair(_metadata, &self->t, p,
		 &(struct xvt_pair_opts){ .send_wr = 64, .recv_wr = 4 });
	for (i = 0; i < 17; i++)
		xv_send_prep_write(&s[i], i, 0, xvt_sge(p, 0, 8),
				   p->mr.info.iova + 32768, p->mr.info.rkey);
	s[16].opcode = 99;
	ASSERT_EQ(0, xv_post_send(&p->qp[0], s, 17));
	EXPECT_EQ(-EINVAL, xv_submit(&p->qp[0]));
	EXPECT_EQ(1, xv_sends_ready(&p->qp[0]));
	xv_unpost(&p->qp[0]);
	EXPECT_TRUE(xvt_wait_until(!xv_wait(&p->cq[0], 0, 0) &&
				   xv_sends_free(&p->qp[0]) == 64, 5000)) {
		TH_LOG("%u slots are free", xv_sends_free(&p->qp[0]));
	}
	ASSERT_EQ(0, to_state(&self->t, &p->qp[0], XV_QPS_ERR));
	ASSERT_EQ(0, xvt_send(p, 0, 17, 0, 8));
	ASSERT_EQ(1, xvt_wc(&p->cq[0], &wc));
	EXPECT_EQ(17, wc.wr_id);
	EXPECT_EQ(XV_WC_FLUSH_ERR, wc.status);
}

/* The same for entries that wait for RTS. */
TEST_F(race, early_unsignaled_before_bad)
{
	struct xvt_pair *p = &self->p;
	struct xv_send s[17];
	struct xv_wc wc;
	unsigned int i;

	xvt_pair(_metadata, &self->t, p,
		 &(struct xvt_pair_opts){ .send_wr = 64, .recv_wr = 4,
					  .no_connect = true });
	xvt_connect(_metadata, &self->t, &p->qp[1], &p->qp[0]);
	for (i = 0; i < 17; i++)
		xv_send_prep_write(&s[i], i, 0, xvt_sge(p, 0, 8),
				   p->mr.info.iova + 32768, p->mr.info.rkey);
	s[16].opcode = 99;
	ASSERT_EQ(0, xv_post_send(&p->qp[0], s, 17));
	ASSERT_EQ(0, xv_submit(&p->qp[0]));
	xvt_connect(_metadata, &self->t, &p->qp[0], &p->qp[1]);
	do {
		ASSERT_EQ(1, xvt_wc(&p->cq[0], &wc)) {
			TH_LOG("the bad entry never ends");
		}
	} while (wc.status == XV_WC_FLUSH_ERR && wc.wr_id < 16);
	EXPECT_EQ(16, wc.wr_id);
	EXPECT_NE(XV_WC_SUCCESS, wc.status);
}

/*
 * A transaction that makes a queue pair with receives on somebody's CQ, and
 * fails in its last step, leaves the CQ's room as it was: nothing of it takes
 * the place of another's completion.
 */
TEST_F(race, failed_connect_leaves_room)
{
	struct xv_qp_attr nowhere = {
		.size = sizeof(nowhere), .qpn = 77, .psn = 1,
		.gid = { [10] = 0xff, [11] = 0xff, 192, 0, 2, 1 },
		.sgid_index = self->t.gid_index,
	};
	struct xv_tx *now = xv_now(self->t.ctx);
	struct xv_eventq eq = {};
	struct xv_recv recvs[30];
	struct xv_wc wcs[30];
	struct xv_pd pd = {};
	struct xv_cq cq = {};
	struct xv_qp qp = {};
	struct xv_tx *tx;
	unsigned int i;

	/* With rxe a CQ of this depth has no room to spare. */
	ASSERT_EQ(0, xv_eventq_create(now, &eq));
	ASSERT_EQ(0, xv_pd_create(now, &pd));
	ASSERT_EQ(0, xv_cq_create(now, &cq, XV_OPTS(xv_cq_opts, .cqe = 31,
						    .eventq = &eq)));
	for (i = 0; i < 30; i++)
		xv_recv_prep(&recvs[i], i);
	ASSERT_EQ(0, xv_txn_begin(self->t.ctx, 0, &tx));
	xv_qp_create(tx, &qp, XV_OPTS(xv_qp_opts, .pd = &pd, .send_cq = &cq,
				      .send_wr = 1, .recv_wr = 30,
				      .connect = &nowhere));
	xv_qp_post_recv(tx, &qp, recvs, 30);
	EXPECT_EQ(-EHOSTUNREACH, xv_txn_commit(tx, NULL));
	xv_txn_free(tx);

	ASSERT_EQ(0, xv_qp_create(now, &qp, XV_OPTS(xv_qp_opts, .pd = &pd,
						    .send_cq = &cq,
						    .send_wr = 1,
						    .recv_wr = 30)));
	ASSERT_EQ(0, xv_post_recv(&qp, recvs, 30));
	ASSERT_EQ(0, xv_submit(&qp));
	ASSERT_EQ(0, to_state(&self->t, &qp, XV_QPS_ERR));
	EXPECT_EQ(30, take(&cq, wcs, 30));
	EXPECT_FALSE(xvt_has_event(&eq));
	ASSERT_EQ(0, xv_qp_destroy(now, &qp));
	ASSERT_EQ(0, xv_cq_destroy(now, &cq));
	ASSERT_EQ(0, xv_pd_destroy(now, &pd));
	xv_eventq_close(&eq);
}

struct changer {
	pthread_t thread;
	struct xvt *t;
	struct xvt_pair *p;
	struct xv_cq *cq;
	struct xv_srq *srq;
	atomic_bool stop;
	unsigned int made;
	int ret;
};

/* Queue pairs of one SRQ and CQ come and go. */
static void *come_and_go(void *arg)
{
	struct changer *me = arg;
	struct xv_tx *tx;

	me->ret = xv_txn_begin(me->t->ctx, XV_TXN_NOW, &tx);
	while (!me->ret && !atomic_load(&me->stop)) {
		struct xv_qp qp = {};

		me->ret = xv_qp_create(tx, &qp, XV_OPTS(xv_qp_opts,
				       .pd = &me->p->pd, .send_cq = &me->p->cq[0],
				       .recv_cq = me->cq, .send_wr = 1,
				       .srq = me->srq));
		if (!me->ret)
			me->ret = xv_qp_destroy(tx, &qp);
		me->made++;
	}
	xv_txn_free(tx);
	return NULL;
}

/* What is shared is counted right, and a message finds its queue pair. */
TEST_F(race, queue_pairs_of_an_srq)
{
	unsigned int i, num = xvt_count(RACE_SRQ);
	struct xv_tx *now = xv_now(self->t.ctx);
	struct xvt_pair *p = &self->p;
	struct changer w[3] = {};
	struct xv_cq cq = {};
	struct xv_srq srq = {};
	struct xv_cq_info info;
	struct xv_qp qp = {};
	struct xv_recv r;
	struct xv_wc wc;

	xvt_pair(_metadata, &self->t, p, &(struct xvt_pair_opts){
		 .no_connect = true, .cqe = 64 });
	ASSERT_EQ(0, xv_cq_create(now, &cq, XV_OPTS(xv_cq_opts, .cqe = 8)));
	ASSERT_EQ(0, xv_srq_create(now, &srq, XV_OPTS(xv_srq_opts,
						      .pd = &p->pd,
						      .recv_wr = 8)));
	ASSERT_EQ(0, xv_qp_create(now, &qp, XV_OPTS(xv_qp_opts, .pd = &p->pd,
		  .send_cq = &p->cq[1], .recv_cq = &cq, .send_wr = 1,
		  .srq = &srq)));
	xvt_connect(_metadata, &self->t, &qp, &p->qp[0]);
	xvt_connect(_metadata, &self->t, &p->qp[0], &qp);
	for (i = 0; i < 3; i++) {
		w[i].t = &self->t;
		w[i].p = p;
		w[i].cq = &cq;
		w[i].srq = &srq;
		ASSERT_EQ(0, pthread_create(&w[i].thread, NULL, come_and_go,
					    &w[i]));
	}
	for (i = 0; i < num; i++) {
		xv_recv_prep(&r, i);
		xv_recv_add_sge(&r, xvt_sge(p, 4096, 64));
		ASSERT_EQ(0, xv_post_srq_recv(&srq, &r, 1));
		ASSERT_EQ(0, xv_submit_srq(&srq));
		ASSERT_EQ(0, xvt_send(p, 0, i, 0, 64));
		xvt_expect_wc(_metadata, &p->cq[0], i, XV_WC_SUCCESS);
		ASSERT_EQ(1, xvt_wc(&cq, &wc));
		ASSERT_EQ(i, wc.wr_id);
		ASSERT_EQ(qp.obj.handle, wc.qp);
	}
	for (i = 0; i < 3; i++) {
		atomic_store(&w[i].stop, true);
		pthread_join(w[i].thread, NULL);
		EXPECT_EQ(0, w[i].ret);
		EXPECT_LT(0, w[i].made);
	}
	ASSERT_EQ(0, xv_cq_query(now, &cq, &info));
	EXPECT_EQ(8, info.attached);
	ASSERT_EQ(0, xv_qp_destroy(now, &qp));
	ASSERT_EQ(0, xv_cq_query(now, &cq, &info));
	EXPECT_EQ(0, info.attached);
	ASSERT_EQ(0, xv_srq_destroy(now, &srq));
	ASSERT_EQ(0, xv_cq_destroy(now, &cq));
}

/* ---- regions ---- */

#define LONG_WRITE	(8UL << 20)

/* A peer that stops in the middle of a message, which was for a region. */
static void cut_a_write(struct __test_metadata *_metadata, struct xvt *t,
			struct xvt_pair *p, struct xv_mr *mr, uint8_t *buf)
{
	struct xv_send s;

	xvt_pair(_metadata, t, p, NULL);
	ASSERT_EQ(0, xv_mr_create(xv_now(t->ctx), mr,
				  XV_OPTS(xv_mr_opts, .pd = &p->pd,
					  .addr = buf,
					  .length = 2 * LONG_WRITE,
					  .access = XVT_ALL_ACCESS)));
	xv_send_prep_write(&s, 1, XV_SEND_SIGNALED,
			   xv_sge_at(mr, buf, LONG_WRITE),
			   mr->info.iova + LONG_WRITE, mr->info.rkey);
	memset(buf, 1, LONG_WRITE);
	buf[2 * LONG_WRITE - 1] = 0;
	ASSERT_EQ(0, xv_post_send(&p->qp[0], &s, 1));
	ASSERT_EQ(0, xv_submit(&p->qp[0]));
	ASSERT_EQ(0, to_state(t, &p->qp[0], XV_QPS_ERR));
	if (buf[2 * LONG_WRITE - 1])
		TH_LOG("the message went through");
}

/* The region goes at once, although the queue pair waits for the rest. */
TEST_F(race, cut_write)
{
	uint8_t *buf = xvt_map(2 * LONG_WRITE, PROT_READ | PROT_WRITE);
	struct xvt_pair *p = &self->p;
	struct xv_mr mr = {};
	struct xvt other;

	ASSERT_NE(NULL, buf);
	cut_a_write(_metadata, &self->t, p, &mr, buf);
	EXPECT_EQ(0, xv_mr_destroy(xv_now(self->t.ctx), &mr));
	EXPECT_EQ(0, xvt_pair_destroy(p));
	xvt_open(_metadata, &other);
	cut_a_write(_metadata, &other, p, &mr, buf);
	xvt_close(&other);
	munmap(p->buf, p->length);
	memset(p, 0, sizeof(*p));
	munmap(buf, 2 * LONG_WRITE);
}

/* ---- files ---- */

#define FAIL_DESTROY	"/sys/kernel/debug/xverbs/fail_destroy"

static bool refuse_destroys(unsigned int num)
{
	FILE *f = fopen(FAIL_DESTROY, "w");

	if (!f)
		return false;
	fprintf(f, "%u", num);
	return !fclose(f);
}

static void *open_and_close(void *arg)
{
	atomic_int *left = arg;

	while (atomic_fetch_sub(left, 1) > 0) {
		struct xv_ctx *ctx;

		if (!xv_open("rxe0", 0, &ctx))
			xv_close(ctx);
	}
	return NULL;
}

/* Files that are closed at the same time, while a zombie is asked for. */
TEST_F(race, closes_with_a_zombie)
{
	atomic_int left = xvt_count(RACE_CLOSES);
	struct xv_tx *now = xv_now(self->t.ctx);
	struct xv_pd pd = {};
	pthread_t thread[4];
	struct xvt other;
	int i;

	ASSERT_EQ(0, xv_pd_create(now, &pd));
	if (!refuse_destroys(1000000)) {
		xv_pd_destroy(now, &pd);
		SKIP(return, "no fault injection");
	}
	EXPECT_EQ(0, xv_pd_destroy(now, &pd));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, open_and_close,
					    &left));
	for (i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	EXPECT_TRUE(refuse_destroys(0));
	/* A close asks once more, and then there is none. */
	xvt_open(_metadata, &other);
	xvt_close(&other);
}

/* What is left of a closed file goes with the device: kmemleak looks. */
TEST_F(race, zombies_of_a_closed_file)
{
	struct xvt_pair p;
	struct xvt other;

	xvt_open(_metadata, &other);
	xvt_pair(_metadata, &other, &p, &(struct xvt_pair_opts){
		 .events = true });
	if (!refuse_destroys(1000000)) {
		xvt_pair_destroy(&p);
		xvt_close(&other);
		SKIP(return, "no fault injection");
	}
	xvt_close(&other);
	xv_eventq_close(&p.eq);
	munmap(p.buf, p.length);
	EXPECT_TRUE(refuse_destroys(0));
	xvt_close(&self->t);
	/* The last close has asked again; these are to be there at removal. */
	xvt_open(_metadata, &other);
	xvt_pair(_metadata, &other, &p, &(struct xvt_pair_opts){
		 .events = true });
	EXPECT_TRUE(refuse_destroys(1000000));
	xvt_close(&other);
	xv_eventq_close(&p.eq);
	munmap(p.buf, p.length);
	EXPECT_TRUE(refuse_destroys(0));
	EXPECT_EQ(0, xvt_sh("rdma link delete rxe0"));
	EXPECT_TRUE(xvt_plug());
	xvt_open(_metadata, &self->t);
}

TEST_HARNESS_MAIN
