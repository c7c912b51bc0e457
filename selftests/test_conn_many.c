// SPDX-License-Identifier: GPL-2.0
/*
 * Many connections: bursts, cycles, and ends at any time.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Whatever happens, each connection tells a story that makes sense: one
 * ESTABLISHED at most, then at most one DISCONNECTED; or one CONNECT_FAILED
 * and nothing else.
 */
#include <netinet/in.h>
#include "xv_test.h"

#define MAX_CONNS	128
#define BYTES		64
#define MESSAGE		"a message that is not too long"

enum { A, P };		/* active, passive */

/**
 * struct end - one end of a connection
 * @qp: its queue pair
 * @conn: the connection
 * @established: events of that kind
 * @ended: terminal events
 * @err: what the terminal event told
 * @wrong: an event in a place where it must not be
 */
struct end {
	struct xv_qp qp;
	struct xv_conn conn;
	unsigned int established;
	unsigned int ended;
	unsigned int err;
	bool wrong;
};

FIXTURE(many) {
	struct xvt t;
	struct xvt_snap before;
	struct xv_tx *now;
	struct xv_pd pd;
	struct xv_mr mr;
	struct xv_eventq eq[2];
	struct xv_cq cq[2];
	struct xv_listener l;
	struct end *ends[2];
	unsigned int num_accepted;
	unsigned int backlog;
	uint8_t *buf;
	struct sockaddr_in addr;
};

typedef FIXTURE_DATA(many) fixture;

FIXTURE_VARIANT(many) {
	unsigned int backlog;
};

FIXTURE_VARIANT_ADD(many, deep) {
	.backlog = MAX_CONNS,
};

FIXTURE_VARIANT_ADD(many, shallow) {
	.backlog = 10,
};

FIXTURE_SETUP(many)
{
	struct xv_tx *tx;
	int i;

	xvt_open_name(_metadata, &self->t, xvt_conn_device());
	self->now = xv_now(self->t.ctx);
	xvt_snap(_metadata, &self->t, &self->before);
	self->backlog = variant->backlog;
	self->buf = xvt_map(2 * MAX_CONNS * BYTES, PROT_READ | PROT_WRITE);
	ASSERT_NE(NULL, self->buf);
	self->addr.sin_family = AF_INET;
	self->addr.sin_addr.s_addr = xvt_conn_address(&self->t);
	ASSERT_EQ(0, xv_txn_begin(self->t.ctx, 0, &tx));
	xv_pd_create(tx, &self->pd);
	xv_mr_create(tx, &self->mr, XV_OPTS(xv_mr_opts, .pd = &self->pd,
		     .addr = self->buf, .length = 2 * MAX_CONNS * BYTES,
		     .access = xvt_conn_access(&self->t)));
	for (i = 0; i < 2; i++) {
		self->ends[i] = calloc(MAX_CONNS, sizeof(*self->ends[i]));
		xv_eventq_create(tx, &self->eq[i]);
		xv_cq_create(tx, &self->cq[i], XV_OPTS(xv_cq_opts,
						       .cqe = 4 * MAX_CONNS));
	}
	xv_listener_create(tx, &self->l, XV_OPTS(xv_listener_opts,
			   .eventq = &self->eq[P], .cookie = MAX_CONNS,
			   .backlog = variant->backlog,
			   .addr = (struct sockaddr *)&self->addr));
	ASSERT_EQ(0, xv_txn_commit(tx, NULL));
	xv_txn_free(tx);
	self->addr.sin_port = ((struct sockaddr_in *)self->l.info.local)->sin_port;
}

FIXTURE_TEARDOWN(many)
{
	unsigned int i, k;
	struct xv_tx *tx;

	xvt_teardown(_metadata);
	for (i = 0; i < 2; i++)
		for (k = 0; k < MAX_CONNS; k++) {
			struct end *e = &self->ends[i][k];

			if (e->conn.obj.handle)
				EXPECT_EQ(0, xv_conn_destroy(self->now,
							     &e->conn));
			if (e->qp.obj.handle)
				EXPECT_EQ(0, xv_qp_destroy(self->now, &e->qp));
		}
	ASSERT_EQ(0, xv_txn_begin(self->t.ctx, 0, &tx));
	xv_listener_destroy(tx, &self->l);
	xv_mr_destroy(tx, &self->mr);
	xv_pd_destroy(tx, &self->pd);
	for (i = 0; i < 2; i++)
		xv_cq_destroy(tx, &self->cq[i]);
	EXPECT_EQ(0, xv_txn_commit(tx, NULL));
	xv_txn_free(tx);
	for (i = 0; i < 2; i++) {
		xv_eventq_close(&self->eq[i]);
		free(self->ends[i]);
	}
	munmap(self->buf, 2 * MAX_CONNS * BYTES);
	xvt_same(_metadata, &self->t, &self->before, "at the end");
	xvt_close(&self->t);
}

/* ---- making and destroying ---- */

static int make_end(fixture *f, int side, unsigned int k, uint64_t token)
{
	struct end *e = &f->ends[side][k];
	struct xv_conn_opts o = {
		.size = sizeof(o), .qp = &e->qp, .eventq = &f->eq[side],
		.cookie = k,
		.establish_ms = XV_ESTABLISH_MS * xvt_factor(),
	};
	struct xv_recv recv;
	struct xv_tx *tx;
	int ret;

	memset(e, 0, sizeof(*e));
	if (side == A) {
		o.dst = (struct sockaddr *)&f->addr;
	} else {
		o.listener = &f->l;
		o.token = token;
	}
	ret = xv_txn_begin(f->t.ctx, 0, &tx);
	if (ret)
		return ret;
	xv_recv_prep(&recv, k);
	xv_recv_add_sge(&recv, xv_sge_at(&f->mr, f->buf + (side * MAX_CONNS + k)
					 * BYTES, BYTES));
	xv_qp_create(tx, &e->qp, XV_OPTS(xv_qp_opts, .pd = &f->pd,
		     .send_cq = &f->cq[side], .send_wr = 2, .recv_wr = 2));
	xv_qp_post_recv(tx, &e->qp, &recv, 1);
	xv_conn_create(tx, &e->conn, &o);
	ret = xv_txn_commit(tx, NULL);
	xv_txn_free(tx);
	return ret;
}

static int destroy_end(fixture *f, int side, unsigned int k)
{
	struct end *e = &f->ends[side][k];
	struct xv_tx *tx;
	int ret;

	if (!e->qp.obj.handle)
		return 0;
	ret = xv_txn_begin(f->t.ctx, 0, &tx);
	if (ret)
		return ret;
	xv_conn_destroy(tx, &e->conn);
	xv_qp_destroy(tx, &e->qp);
	ret = xv_txn_commit(tx, NULL);
	xv_txn_free(tx);
	return ret;
}

/* ---- events ---- */

static void take_event(fixture *f, int side, const struct xv_event *ev)
{
	struct end *e = &f->ends[side][ev->cookie];

	if (ev->handle != e->conn.obj.handle || ev->count != 1)
		e->wrong = true;
	switch (ev->type) {
	case XV_EV_ESTABLISHED:
		e->wrong |= e->established || e->ended;
		e->established++;
		break;
	case XV_EV_CONNECT_FAILED:
		e->wrong |= e->established || e->ended || !ev->data;
		e->ended++;
		e->err = ev->data;
		break;
	case XV_EV_DISCONNECTED:
		e->wrong |= !e->established || e->ended;
		e->ended++;
		e->err = ev->data;
		break;
	default:
		e->wrong = true;
	}
}

/* Accept what wants to connect; note what else there is. */
static bool take_events(fixture *f)
{
	struct pollfd fds[2] = {
		{ .fd = f->eq[A].fd, .events = POLLIN },
		{ .fd = f->eq[P].fd, .events = POLLIN },
	};
	struct xv_event ev;
	bool any = false;
	int i;

	if (poll(fds, 2, 10) <= 0)
		return false;
	for (i = 0; i < 2; i++) {
		if (!(fds[i].revents & POLLIN) ||
		    xvt_read_now(&f->eq[i], &ev, 1) != 1)
			continue;
		any = true;
		if (ev.type != XV_EV_CONNECT_REQUEST)
			take_event(f, i, &ev);
		else if (f->num_accepted < MAX_CONNS &&
			 !make_end(f, P, f->num_accepted, ev.data))
			f->num_accepted++;
	}
	return any;
}

#define wait_for(f, cond, ms)						\
({									\
	int64_t wf_end = xvt_now() + xvt_ns(ms);			\
									\
	while (!(cond) && xvt_now() < wf_end)				\
		take_events(f);						\
	(cond);								\
})

static unsigned int count(fixture *f, int side, unsigned int n, bool ended)
{
	unsigned int k, sum = 0;

	for (k = 0; k < n; k++)
		sum += ended ? f->ends[side][k].ended :
			       f->ends[side][k].established;
	return sum;
}

static unsigned int decided(fixture *f, int side, unsigned int n)
{
	unsigned int k, sum = 0;

	for (k = 0; k < n; k++)
		sum += f->ends[side][k].established || f->ends[side][k].ended;
	return sum;
}

static void expect_no_nonsense(struct __test_metadata *_metadata, fixture *f)
{
	unsigned int i, k;

	for (i = 0; i < 2; i++)
		for (k = 0; k < MAX_CONNS; k++) {
			struct end *e = &f->ends[i][k];

			EXPECT_FALSE(e->wrong) {
				TH_LOG("side %u conn %u: established %u, ended %u, %u",
				       i, k, e->established, e->ended, e->err);
			}
		}
}

/* ---- the tests ---- */

/* E13: more peers than the backlog; each is let in or cleanly refused. */
TEST_F(many, burst)
{
	unsigned int n = xvt_count(CONN_BURST);
	unsigned int k, up, failed;
	uint64_t refused = 0;
	struct xv_listener_info info;

	ASSERT_GE(MAX_CONNS, n);
	for (k = 0; k < n; k++)
		ASSERT_EQ(0, make_end(self, A, k, 0));
	ASSERT_TRUE(wait_for(self, decided(self, A, n) == n, 12000)) {
		TH_LOG("%u of %u", decided(self, A, n), n);
	}
	up = count(self, A, n, false);
	failed = count(self, A, n, true);
	EXPECT_EQ(n, up + failed);
	ASSERT_TRUE(wait_for(self, count(self, P, n, false) == up, 12000));
	ASSERT_EQ(0, xv_listener_query(self->now, &self->l, &info));
	refused = info.refused;
	EXPECT_EQ(0, info.pending);
	TH_LOG("%u connected, %u refused", up, failed);
	for (k = 0; k < n; k++)
		if (self->ends[A][k].ended && !self->t.iwarp)
			EXPECT_EQ(ECONNREFUSED, self->ends[A][k].err);
	expect_no_nonsense(_metadata, self);
	/* siw gives a request up after ten seconds, however slow the machine. */
	if (self->t.iwarp) {
		EXPECT_LE(refused, failed);
		EXPECT_LT(0, up);
		return;
	}
	EXPECT_EQ(refused, failed);
	if (variant->backlog >= n)
		EXPECT_EQ(n, up);
}

/* E17: nothing grows. */
TEST_F(many, cycles)
{
	unsigned int n = xvt_count(CONN_CYCLES);
	int64_t start = xvt_now(), half = 0;
	unsigned int k;
	struct xv_wc wc;

	if (variant->backlog != MAX_CONNS)
		n = n / 10 ? n / 10 : 1;
	for (k = 0; k < n; k++) {
		struct xv_send *s;

		if (k == n / 2)
			half = xvt_now();
		self->num_accepted = 0;
		ASSERT_EQ(0, make_end(self, A, 0, 0));
		s = xv_get_send(&self->ends[A][0].qp);
		xv_send_prep(s, XV_WR_SEND, 7, XV_SEND_INLINE);
		xv_send_set_inline(s, MESSAGE, sizeof(MESSAGE));
		ASSERT_EQ(0, xv_submit(&self->ends[A][0].qp));
		ASSERT_TRUE(wait_for(self, self->num_accepted == 1, 5000));
		/* See next_wc() in test_conn.c. */
		if (self->t.iwarp &&
		    xv_wait(&self->cq[P], 1, xvt_ns(500)) == -ETIME) {
			s = xv_get_send(&self->ends[A][0].qp);
			xv_send_prep(s, XV_WR_RDMA_WRITE, 8, 0);
			ASSERT_EQ(0, xv_submit(&self->ends[A][0].qp));
			TH_LOG("round %u: more had to come", k);
		}
		ASSERT_EQ(1, xvt_wc(&self->cq[P], &wc));
		ASSERT_EQ(XV_WC_SUCCESS, wc.status) {
			TH_LOG("round %u: qp %u (%u), flags %x, %u %u %u", k,
			       wc.qp, self->ends[P][0].qp.obj.handle, wc.flags,
			       self->ends[P][0].established,
			       self->ends[P][0].ended, self->ends[P][0].err);
		}
		ASSERT_EQ(0, strcmp(MESSAGE, (char *)self->buf + MAX_CONNS *
				    BYTES));
		memset(self->buf + MAX_CONNS * BYTES, 0, BYTES);
		ASSERT_TRUE(wait_for(self, self->ends[P][0].established, 5000));
		ASSERT_EQ(0, destroy_end(self, A, 0));
		ASSERT_TRUE(wait_for(self, self->ends[P][0].ended, 5000));
		ASSERT_EQ(0, destroy_end(self, P, 0));
		while (xv_poll(&self->cq[P], &wc, 1) > 0)
			;
		expect_no_nonsense(_metadata, self);
	}
	TH_LOG("%u cycles: %lld us each, second half %lld us", n,
	       (long long)(xvt_now() - start) / n / 1000,
	       (long long)(xvt_now() - half) / (n - n / 2) / 1000);
}

/* E10: disconnected as soon as it is established. */
TEST_F(many, disconnect_at_once)
{
	unsigned int n = xvt_count(CONN_DISCONNECT);
	unsigned int k;

	for (k = 0; k < n; k++) {
		struct end *a = &self->ends[A][0], *p = &self->ends[P][0];

		self->num_accepted = 0;
		ASSERT_EQ(0, make_end(self, A, 0, 0));
		ASSERT_TRUE(wait_for(self, a->established, 5000));
		ASSERT_EQ(0, xv_conn_disconnect(self->now, &a->conn));
		ASSERT_TRUE(wait_for(self, a->ended && p->ended, 5000)) {
			TH_LOG("%u: %u %u", k, a->ended, p->ended);
		}
		EXPECT_EQ(0, a->err);
		EXPECT_EQ(ECONNRESET, p->err);
		expect_no_nonsense(_metadata, self);
		ASSERT_EQ(0, destroy_end(self, A, 0));
		ASSERT_EQ(0, destroy_end(self, P, 0));
	}
}

/* T1: either side goes at any time; the other one learns it, once. */
TEST_F(many, destroy_at_any_time)
{
	unsigned int n = xvt_count(CONN_ANY_TIME);
	unsigned int seed = 1;
	unsigned int k;

	for (k = 0; k < n; k++) {
		struct end *p = &self->ends[P][0];
		int64_t begin, until;

		self->num_accepted = 0;
		p->ended = 0;
		ASSERT_EQ(0, make_end(self, A, 0, 0));
		until = xvt_now() + rand_r(&seed) % (4000000 * xvt_factor());
		while (xvt_now() < until)
			take_events(self);
		begin = xvt_now();
		if (k % 3 == 2 && self->num_accepted) {
			ASSERT_EQ(0, destroy_end(self, P, 0));
			memset(p, 0, sizeof(*p));
			self->num_accepted = 0;
			ASSERT_TRUE(wait_for(self, self->ends[A][0].ended,
					     5000));
		}
		ASSERT_EQ(0, destroy_end(self, A, 0));
		/* siw waits for the answer to a request, 10 s at most. */
		EXPECT_GT(xvt_ns(2000) + self->t.iwarp * 10000000000LL,
			  xvt_now() - begin);
		/* A request may still be on its way, and its end as well. */
		take_events(self);
		if (self->num_accepted)
			ASSERT_TRUE(wait_for(self, p->ended, 11000)) {
				TH_LOG("round %u", k);
			}
		expect_no_nonsense(_metadata, self);
		ASSERT_EQ(0, destroy_end(self, P, 0));
		while (take_events(self))
			;
		if (self->num_accepted)
			ASSERT_EQ(0, destroy_end(self, P, 0));
	}
}

TEST_HARNESS_MAIN
