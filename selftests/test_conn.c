// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners and connections: a connection is established exactly when it is.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <netinet/in.h>
#include "xv_test.h"

#define DEPTH	16
#define BYTES	256

/**
 * struct side - one end of a connection
 * @eq: its event queue
 * @cq: its completion queue
 * @qp: its queue pair
 * @conn: the connection
 */
struct side {
	struct xv_eventq eq;
	struct xv_cq cq;
	struct xv_qp qp;
	struct xv_conn conn;
};

enum { A, P, X };	/* active, passive, and one more that is active */

FIXTURE(conn) {
	struct xvt t;
	struct xvt_snap before;
	struct xv_tx *now;
	struct xv_pd pd;
	struct xv_mr mr;
	struct xv_eventq leq;
	struct xv_listener l;
	struct side s[3];
	uint8_t *buf;
	struct sockaddr_in addr;
};

typedef FIXTURE_DATA(conn) fixture;

/* The receives of side @i use the @i-th half of the memory, sends its end. */
static struct xv_sge sge_of(fixture *f, int i, unsigned int slot, uint32_t len)
{
	return xv_sge_at(&f->mr, f->buf + (i * 2 * DEPTH + slot) * BYTES, len);
}

FIXTURE_SETUP(conn)
{
	struct xv_tx *tx;

	xvt_open_name(_metadata, &self->t, xvt_conn_device());
	self->now = xv_now(self->t.ctx);
	xvt_snap(_metadata, &self->t, &self->before);
	self->buf = xvt_map(6 * DEPTH * BYTES, PROT_READ | PROT_WRITE);
	ASSERT_NE(NULL, self->buf);
	self->addr.sin_family = AF_INET;
	self->addr.sin_addr.s_addr = xvt_conn_address(&self->t);
	ASSERT_EQ(0, xv_txn_begin(self->t.ctx, 0, &tx));
	xv_eventq_create(tx, &self->leq);
	xv_pd_create(tx, &self->pd);
	xv_mr_create(tx, &self->mr, XV_OPTS(xv_mr_opts, .pd = &self->pd,
		     .addr = self->buf, .length = 6 * DEPTH * BYTES,
		     .access = xvt_conn_access(&self->t)));
	xv_listener_create(tx, &self->l, XV_OPTS(xv_listener_opts,
			   .eventq = &self->leq, .cookie = 7,
			   .addr = (struct sockaddr *)&self->addr));
	ASSERT_EQ(0, xv_txn_commit(tx, NULL)) {
		TH_LOG("op %u reason %u raw %d", xv_txn_error(tx)->op,
		       xv_txn_error(tx)->reason, xv_txn_error(tx)->raw);
	}
	xv_txn_free(tx);
	self->addr.sin_port = ((struct sockaddr_in *)self->l.info.local)->sin_port;
	ASSERT_NE(0, self->addr.sin_port);
}

/* Everything of one side goes in one call. */
static int destroy_side(fixture *f, struct side *s)
{
	struct xv_tx *tx;
	int ret = xv_txn_begin(f->t.ctx, 0, &tx);

	if (ret)
		return ret;
	if (s->conn.obj.handle)
		xv_conn_destroy(tx, &s->conn);
	if (s->qp.obj.handle)
		xv_qp_destroy(tx, &s->qp);
	if (s->cq.obj.handle)
		xv_cq_destroy(tx, &s->cq);
	if (xv_txn_num_ops(tx))
		ret = xv_txn_commit(tx, NULL);
	xv_txn_free(tx);
	xv_eventq_close(&s->eq);
	return ret;
}

FIXTURE_TEARDOWN(conn)
{
	int i;

	xvt_teardown(_metadata);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, destroy_side(self, &self->s[i]));
	if (self->l.obj.handle)
		EXPECT_EQ(0, xv_listener_destroy(self->now, &self->l));
	EXPECT_EQ(0, xv_mr_destroy(self->now, &self->mr));
	EXPECT_EQ(0, xv_pd_destroy(self->now, &self->pd));
	xv_eventq_close(&self->leq);
	munmap(self->buf, 6 * DEPTH * BYTES);
	xvt_same(_metadata, &self->t, &self->before, "at the end");
	xvt_close(&self->t);
}

/* ---- making ---- */

/* Not the usual limit for what make_side() connects. */
static unsigned int create_limit;

/* Queues, first receives and connection of one side, in one transaction. */
static int make_side(fixture *f, int i, const struct xv_conn_opts *opts,
		     struct xv_error *err)
{
	struct xv_recv recvs[DEPTH];
	struct side *s = &f->s[i];
	struct xv_conn_opts o = *opts;
	struct xv_tx *tx;
	unsigned int k;
	int ret;

	ret = xv_txn_begin(f->t.ctx, 0, &tx);
	if (ret)
		return ret;
	for (k = 0; k < DEPTH; k++) {
		xv_recv_prep(&recvs[k], 100 + k);
		xv_recv_add_sge(&recvs[k], sge_of(f, i, k, BYTES));
	}
	xv_eventq_create(tx, &s->eq);
	xv_cq_create(tx, &s->cq, XV_OPTS(xv_cq_opts, .cqe = 2 * DEPTH,
					 .eventq = &s->eq, .cookie = 1));
	xv_qp_create(tx, &s->qp, XV_OPTS(xv_qp_opts, .pd = &f->pd,
		     .send_cq = &s->cq, .send_wr = DEPTH, .recv_wr = DEPTH,
		     .eventq = &s->eq, .cookie = 2, .access = xvt_conn_access(&f->t) &
			       ~XV_ACCESS_LOCAL_WRITE));
	xv_qp_post_recv(tx, &s->qp, recvs, DEPTH);
	o.size = sizeof(o);
	o.establish_ms = create_limit ? create_limit :
					XV_ESTABLISH_MS * xvt_factor();
	o.qp = &s->qp;
	o.eventq = &s->eq;
	o.cookie = 3;
	xv_conn_create(tx, &s->conn, &o);
	ret = xv_txn_commit(tx, err);
	xv_txn_free(tx);
	return ret;
}

static int connect_as(fixture *f, int i, const struct xv_conn_opts *opts)
{
	struct xv_conn_opts o = opts ? *opts : (struct xv_conn_opts){};

	if (!o.dst)
		o.dst = (struct sockaddr *)&f->addr;
	return make_side(f, i, &o, NULL);
}

static int connect_to(fixture *f, const struct xv_conn_opts *opts)
{
	return connect_as(f, A, opts);
}

static int accept_it(fixture *f, uint64_t token, const struct xv_conn_opts *opts)
{
	struct xv_conn_opts o = opts ? *opts : (struct xv_conn_opts){};

	o.listener = &f->l;
	o.token = token;
	return make_side(f, P, &o, NULL);
}

/* The next event of a queue must be this one; returns its data. */
static uint64_t expect_event(struct __test_metadata *_metadata,
			     struct xv_eventq *eq, unsigned int type)
{
	struct xv_event ev = {};

	EXPECT_EQ(1, xvt_event(eq, &ev)) {
		TH_LOG("no event, wanted: %s", xv_event_name(type));
	}
	EXPECT_EQ(type, ev.type) {
		TH_LOG("event: %s, data %llu; wanted: %s",
		       xv_event_name(ev.type), (unsigned long long)ev.data,
		       xv_event_name(type));
	}
	EXPECT_EQ(1, ev.count);
	return ev.data;
}

static uint64_t expect_request(struct __test_metadata *_metadata, fixture *f)
{
	return expect_event(_metadata, &f->leq, XV_EV_CONNECT_REQUEST);
}

static void establish(struct __test_metadata *_metadata, fixture *f)
{
	uint64_t token;

	ASSERT_EQ(0, connect_to(f, NULL));
	token = expect_request(_metadata, f);
	ASSERT_EQ(0, accept_it(f, token, NULL));
	expect_event(_metadata, &f->s[A].eq, XV_EV_ESTABLISHED);
	expect_event(_metadata, &f->s[P].eq, XV_EV_ESTABLISHED);
}

static int fill_sends(fixture *f, int i, unsigned int first, unsigned int n)
{
	unsigned int k;

	for (k = 0; k < n; k++) {
		struct xv_send *s = xv_get_send(&f->s[i].qp);

		if (!s)
			return -EAGAIN;
		xvt_fill(f->buf + ((i * 2 + 1) * DEPTH + (first + k) % DEPTH) *
			 BYTES, BYTES, first + k);
		xv_send_prep_send(s, first + k, XV_SEND_SIGNALED,
				  sge_of(f, i, DEPTH + (first + k) % DEPTH,
					 BYTES));
	}
	return 0;
}

static int send_some(fixture *f, int i, unsigned int first, unsigned int n)
{
	int ret = fill_sends(f, i, first, n);

	return ret ? ret : xv_submit(&f->s[i].qp);
}

/*
 * As xvt_wc(). siw, while it accepts, can leave what comes just then in its
 * socket until more comes: a write of nothing, which takes no receive.
 */
static int next_wc(fixture *f, int i, struct xv_wc *wc)
{
	struct xv_qp *peer = &f->s[i == A ? P : A].qp;
	struct xv_send *s;
	int ret;

	if (!f->t.iwarp || !peer->obj.handle)
		return xvt_wc(&f->s[i].cq, wc);
	ret = xv_wait(&f->s[i].cq, 1, xvt_ns(500));
	if (ret == -ETIME) {
		s = xv_get_send(peer);
		if (s) {
			xv_send_prep(s, XV_WR_RDMA_WRITE, 0, 0);
			xv_submit(peer);
			printf("# more had to come\n");
		}
	}
	return xvt_wc(&f->s[i].cq, wc);
}

/* @n messages, numbered from @first, in the receives from @recv on. */
static void expect_messages(struct __test_metadata *_metadata, fixture *f,
			    int i, unsigned int recv, unsigned int first,
			    unsigned int n)
{
	struct xv_wc wc;
	unsigned int k;

	for (k = 0; k < n; k++) {
		do {
			ASSERT_EQ(1, next_wc(f, i, &wc)) {
				TH_LOG("message %u does not come", first + k);
			}
		} while (!(wc.flags & XV_WC_RECV) &&
			 wc.status == XV_WC_SUCCESS);
		ASSERT_EQ(XV_WC_SUCCESS, wc.status);
		ASSERT_EQ(100 + recv + k, wc.wr_id);
		EXPECT_EQ(f->s[i].qp.obj.handle, wc.qp);
		EXPECT_TRUE(xvt_filled(f->buf + (i * 2 * DEPTH + recv + k) *
				       BYTES, BYTES, first + k)) {
			TH_LOG("message %u is not in receive %u", first + k,
			       recv + k);
		}
	}
}

/* ---- the plain story ---- */

TEST_F(conn, one_call_each)
{
	struct xv_request_info req;
	struct xv_conn_info info;
	struct sockaddr_in *sin;
	uint64_t calls, token;
	struct xv_event ev;

	calls = xv_num_ioctls(self->t.ctx);
	ASSERT_EQ(0, connect_to(self, &(struct xv_conn_opts){
		  .private_data = "hello", .private_len = 5,
		  .rd_atomic = 4, .dest_rd_atomic = 3 }));
	EXPECT_EQ(calls + 1, xv_num_ioctls(self->t.ctx));
	ASSERT_EQ(1, xvt_event(&self->leq, &ev));
	EXPECT_EQ(XV_EV_CONNECT_REQUEST, ev.type);
	EXPECT_EQ(XV_OBJ_LISTENER, ev.object);
	EXPECT_EQ(self->l.obj.handle, ev.handle);
	EXPECT_EQ(7, ev.cookie);
	token = ev.data;

	ASSERT_EQ(0, xv_listener_query_request(self->now, &self->l, token,
					       &req));
	EXPECT_EQ(token, req.token);
	/* iWARP pads nothing, and its sides do not know each other's number. */
	if (self->t.iwarp) {
		EXPECT_EQ(5, req.private_len);
	} else {
		EXPECT_EQ(self->s[A].qp.info.qp_num, req.qp_num);
		EXPECT_EQ(XV_PRIVATE_REQUEST, req.private_len);
	}
	EXPECT_EQ(0, memcmp("hello", req.private_data, 6));
	EXPECT_EQ(0, memcmp(&self->addr, req.local, 8));
	EXPECT_EQ(3, req.rd_atomic);
	EXPECT_EQ(4, req.dest_rd_atomic);

	calls = xv_num_ioctls(self->t.ctx);
	ASSERT_EQ(0, accept_it(self, token, &(struct xv_conn_opts){
		  .private_data = "welcome", .private_len = 7,
		  .rd_atomic = 2 }));
	EXPECT_EQ(calls + 1, xv_num_ioctls(self->t.ctx));
	EXPECT_EQ(XV_CONN_BY_CM,
		  expect_event(_metadata, &self->s[A].eq, XV_EV_ESTABLISHED));
	expect_event(_metadata, &self->s[P].eq, XV_EV_ESTABLISHED);

	ASSERT_EQ(0, xv_conn_query(self->now, &self->s[A].conn, &info));
	EXPECT_EQ(XV_CONN_ESTABLISHED, info.state);
	EXPECT_EQ(0, info.flags & XV_CONN_F_PASSIVE);
	EXPECT_EQ(self->s[A].qp.obj.handle, info.qp);
	EXPECT_EQ(0, memcmp("welcome", info.private_data, 8));
	EXPECT_EQ(self->t.iwarp ? 0 : 4096, info.path_mtu);
	EXPECT_EQ(self->t.iwarp ? XV_CONN_F_IWARP : 0,
		  info.flags & XV_CONN_F_IWARP);
	sin = (struct sockaddr_in *)info.remote;
	EXPECT_EQ(self->addr.sin_port, sin->sin_port);
	EXPECT_EQ(4, info.rd_atomic);
	/* Offered were 3. */
	EXPECT_EQ(2, info.dest_rd_atomic);
	ASSERT_EQ(0, xv_conn_query(self->now, &self->s[P].conn, &info));
	EXPECT_EQ(XV_CONN_F_PASSIVE, info.flags & XV_CONN_F_PASSIVE);
	EXPECT_EQ(0, memcmp("hello", info.private_data, 6));
	/* No more than the peer offers. */
	EXPECT_EQ(2, info.rd_atomic);
	EXPECT_EQ(4, info.dest_rd_atomic);

	ASSERT_EQ(0, send_some(self, A, 0, 3));
	expect_messages(_metadata, self, P, 0, 0, 3);
	ASSERT_EQ(0, send_some(self, P, 10, 3));
	expect_messages(_metadata, self, A, 0, 10, 3);

	ASSERT_EQ(0, xv_conn_disconnect(self->now, &self->s[A].conn));
	EXPECT_EQ(0, expect_event(_metadata, &self->s[A].eq,
				  XV_EV_DISCONNECTED));
	EXPECT_EQ(ECONNRESET, expect_event(_metadata, &self->s[P].eq,
					   XV_EV_DISCONNECTED));
	EXPECT_FALSE(xvt_has_event(&self->s[A].eq));
	EXPECT_FALSE(xvt_has_event(&self->s[P].eq));
	ASSERT_EQ(0, xv_conn_query(self->now, &self->s[P].conn, &info));
	EXPECT_EQ(XV_CONN_ENDED, info.state);
	EXPECT_EQ(ECONNRESET, info.err);
}

/* E5: sends before establishment are accepted to the limit, and go in order. */
TEST_F(conn, early_sends)
{
	struct xv_qp_info info;
	uint64_t token;

	ASSERT_EQ(0, connect_to(self, NULL));
	token = expect_request(_metadata, self);
	ASSERT_EQ(0, send_some(self, A, 0, DEPTH));
	EXPECT_EQ(-EAGAIN, fill_sends(self, A, 99, 1));
	ASSERT_EQ(0, xv_qp_query(self->now, &self->s[A].qp, &info));
	EXPECT_EQ(DEPTH, info.sends_early);
	ASSERT_EQ(0, accept_it(self, token, NULL));
	expect_messages(_metadata, self, P, 0, 0, DEPTH);
	expect_event(_metadata, &self->s[A].eq, XV_EV_ESTABLISHED);
	expect_event(_metadata, &self->s[P].eq, XV_EV_ESTABLISHED);
}

/* E1: who only looks at completions sees the event first when it looks. */
TEST_F(conn, event_before_message)
{
	uint64_t token;

	ASSERT_EQ(0, connect_to(self, NULL));
	ASSERT_EQ(0, send_some(self, A, 0, 1));
	token = expect_request(_metadata, self);
	ASSERT_EQ(0, accept_it(self, token, NULL));
	expect_messages(_metadata, self, P, 0, 0, 1);
	EXPECT_TRUE(xvt_has_event(&self->s[P].eq));
	ASSERT_EQ(0, send_some(self, P, 50, 1));
	expect_messages(_metadata, self, A, 0, 50, 1);
	EXPECT_TRUE(xvt_has_event(&self->s[A].eq));
	expect_event(_metadata, &self->s[P].eq, XV_EV_ESTABLISHED);
	expect_event(_metadata, &self->s[A].eq, XV_EV_ESTABLISHED);
	EXPECT_FALSE(xvt_has_event(&self->s[P].eq));
}

/*
 * O4: a bad entry among early sends ends with an error in its place, what stands
 * behind it is flushed, and the connection is over. Nothing of it arrives.
 */
TEST_F(conn, early_send_is_bad)
{
	struct xv_send *s;
	struct xv_wc wc;
	unsigned int k;
	uint64_t token;

	ASSERT_EQ(0, connect_to(self, NULL));
	ASSERT_EQ(0, fill_sends(self, A, 0, 1));
	s = xv_get_send(&self->s[A].qp);
	xv_send_prep_send(s, 1, XV_SEND_SIGNALED, sge_of(self, A, 0, 8));
	s->sge[0].mr = self->pd.obj.handle;
	ASSERT_EQ(0, fill_sends(self, A, 2, 2));
	ASSERT_EQ(0, xv_submit(&self->s[A].qp));
	token = expect_request(_metadata, self);
	ASSERT_EQ(0, accept_it(self, token, NULL));
	expect_event(_metadata, &self->s[A].eq, XV_EV_ESTABLISHED);
	for (k = 0; k < 4; ) {
		ASSERT_EQ(1, xvt_wc(&self->s[A].cq, &wc));
		if (wc.flags & XV_WC_RECV)
			continue;
		ASSERT_EQ(k, wc.wr_id);
		/* The first may be cut short. */
		if (k || wc.status)
			EXPECT_EQ(k == 1 ? XV_WC_LOC_PROT_ERR : XV_WC_FLUSH_ERR,
				  wc.status);
		k++;
	}
	EXPECT_EQ(ECONNABORTED, expect_event(_metadata, &self->s[A].eq,
					     XV_EV_DISCONNECTED));
	while (xvt_wc(&self->s[P].cq, &wc) == 1 && wc.status == XV_WC_SUCCESS)
		EXPECT_EQ(100, wc.wr_id);
}

static void expect_flushed(struct __test_metadata *_metadata, fixture *f,
			   int i, unsigned int sends)
{
	unsigned int next = 0, recvs = 0;
	struct xv_wc wc;

	while (next < sends || recvs < DEPTH) {
		ASSERT_EQ(1, xvt_wc(&f->s[i].cq, &wc)) {
			TH_LOG("%u sends, %u receives", next, recvs);
		}
		EXPECT_EQ(XV_WC_FLUSH_ERR, wc.status);
		if (wc.flags & XV_WC_RECV) {
			ASSERT_EQ(100 + recvs, wc.wr_id);
			recvs++;
		} else {
			ASSERT_EQ(next, wc.wr_id);
			next++;
		}
	}
	EXPECT_EQ(0, xv_poll(&f->s[i].cq, &wc, 1));
}

/* E6: refused; first everything is flushed, then comes the one event. */
TEST_F(conn, rejected)
{
	struct xv_conn_info info;
	uint64_t token;

	ASSERT_EQ(0, connect_to(self, NULL));
	ASSERT_EQ(0, send_some(self, A, 0, 5));
	token = expect_request(_metadata, self);
	ASSERT_EQ(0, xv_listener_reject(self->now, &self->l, token, "no", 2));
	EXPECT_EQ(ECONNREFUSED, expect_event(_metadata, &self->s[A].eq,
					     XV_EV_CONNECT_FAILED));
	expect_flushed(_metadata, self, A, 5);
	EXPECT_FALSE(xvt_has_event(&self->s[A].eq));
	ASSERT_EQ(0, xv_conn_query(self->now, &self->s[A].conn, &info));
	EXPECT_EQ(XV_CONN_ENDED, info.state);
	EXPECT_EQ(self->t.iwarp ? -ECONNRESET : 28, info.raw);
	EXPECT_EQ(0, memcmp("no", info.private_data, 3));
	/* The token is worth nothing any more. */
	EXPECT_EQ(-ENOENT, xv_listener_reject(self->now, &self->l, token,
					      NULL, 0));
	EXPECT_EQ(-ENOENT, accept_it(self, token, NULL));
}

/* E9: nobody listens. */
TEST_F(conn, nobody_listens)
{
	ASSERT_EQ(0, xv_listener_destroy(self->now, &self->l));
	ASSERT_EQ(0, connect_to(self, NULL));
	EXPECT_EQ(ECONNREFUSED, expect_event(_metadata, &self->s[A].eq,
					     XV_EV_CONNECT_FAILED));
}

/* T7: who waits at a listener that goes is refused; connections stay. */
TEST_F(conn, listener_goes)
{
	ASSERT_EQ(0, connect_to(self, NULL));
	expect_request(_metadata, self);
	ASSERT_EQ(0, xv_listener_destroy(self->now, &self->l));
	EXPECT_EQ(ECONNREFUSED, expect_event(_metadata, &self->s[A].eq,
					     XV_EV_CONNECT_FAILED));
}

TEST_F(conn, listener_goes_connection_stays)
{
	establish(_metadata, self);
	ASSERT_EQ(0, xv_listener_destroy(self->now, &self->l));
	ASSERT_EQ(0, send_some(self, A, 0, 1));
	expect_messages(_metadata, self, P, 0, 0, 1);
}

/* E8: closed before it is established: flushed, and silence. */
TEST_F(conn, destroyed_early)
{
	uint64_t token;

	ASSERT_EQ(0, connect_to(self, NULL));
	ASSERT_EQ(0, send_some(self, A, 0, 5));
	token = expect_request(_metadata, self);
	ASSERT_EQ(0, xv_conn_destroy(self->now, &self->s[A].conn));
	expect_flushed(_metadata, self, A, 5);
	EXPECT_FALSE(xvt_has_event(&self->s[A].eq));
	/* The other side learns it, sooner or later. */
	if (!accept_it(self, token, NULL))
		expect_event(_metadata, &self->s[P].eq, XV_EV_CONNECT_FAILED);
}

/* A request of a peer that has left is read by nobody, though poll() told of it. */
TEST_F(conn, request_is_withdrawn)
{
	struct xv_event ev;

	ASSERT_EQ(0, connect_to(self, NULL));
	ASSERT_TRUE(xvt_wait_until(xvt_has_event(&self->leq), 5000));
	ASSERT_EQ(0, xv_conn_destroy(self->now, &self->s[A].conn));
	EXPECT_TRUE(xvt_wait_until(!xvt_has_event(&self->leq), 5000));
	EXPECT_EQ(-EAGAIN, xvt_read_now(&self->leq, &ev, 1));
}

/* The peer sees that a connection was destroyed. */
TEST_F(conn, destroyed_established)
{
	establish(_metadata, self);
	ASSERT_EQ(0, xv_conn_destroy(self->now, &self->s[A].conn));
	EXPECT_EQ(ECONNRESET, expect_event(_metadata, &self->s[P].eq,
					   XV_EV_DISCONNECTED));
	expect_flushed(_metadata, self, P, 0);
}

/* A file of its own, a connection, one message; then it waits to be killed. */
static void connect_and_wait(const fixture *f)
{
	fixture c = { .addr = f->addr };
	struct xv_tx *tx;

	c.t.iwarp = f->t.iwarp;
	c.buf = xvt_map(6 * DEPTH * BYTES, PROT_READ | PROT_WRITE);
	if (!c.buf || xv_open(xvt_conn_device(), 0, &c.t.ctx) ||
	    xv_txn_begin(c.t.ctx, 0, &tx))
		_exit(1);
	xv_pd_create(tx, &c.pd);
	xv_mr_create(tx, &c.mr, XV_OPTS(xv_mr_opts, .pd = &c.pd,
		     .addr = c.buf, .length = 6 * DEPTH * BYTES,
		     .access = XV_ACCESS_LOCAL_WRITE));
	if (xv_txn_commit(tx, NULL) || connect_to(&c, NULL) ||
	    send_some(&c, A, 0, 1))
		_exit(1);
	pause();
	_exit(1);
}

/* T5: the end of the process ends its connections, and the peer is told. */
TEST_F(conn, peer_is_killed)
{
	uint64_t token;
	pid_t pid;

	pid = fork();
	if (!pid)
		connect_and_wait(self);
	ASSERT_LT(0, pid);
	token = expect_request(_metadata, self);
	ASSERT_EQ(0, accept_it(self, token, NULL));
	expect_messages(_metadata, self, P, 0, 0, 1);
	expect_event(_metadata, &self->s[P].eq, XV_EV_ESTABLISHED);
	EXPECT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(pid, waitpid(pid, NULL, 0));
	EXPECT_EQ(ECONNRESET, expect_event(_metadata, &self->s[P].eq,
					   XV_EV_DISCONNECTED));
}

/* The states of the queue pair belong to the connection while there is one. */
TEST_F(conn, queue_pair_is_taken)
{
	struct xv_qp_attr attr = { .size = sizeof(attr), .state = XV_QPS_ERR };
	const struct xv_error *err = xv_txn_error(self->now);

	establish(_metadata, self);
	EXPECT_EQ(-EBUSY, xv_qp_modify(self->now, &self->s[A].qp, &attr));
	EXPECT_EQ(XV_R_DEPENDENT, err->reason);
	EXPECT_EQ(XV_OBJ_CONN, err->object);
	EXPECT_EQ(self->s[A].conn.obj.handle, err->handle);
	attr = (struct xv_qp_attr){ .size = sizeof(attr), .qpn = 1 };
	EXPECT_EQ(-EBUSY, xv_qp_connect(self->now, &self->s[A].qp, &attr));
	EXPECT_EQ(-EBUSY, xv_qp_destroy(self->now, &self->s[A].qp));
	EXPECT_EQ(XV_OBJ_CONN, err->object);
	ASSERT_EQ(0, xv_conn_destroy(self->now, &self->s[A].conn));
	/* It can be taken up again from here, but not on iWARP. */
	attr = (struct xv_qp_attr){ .size = sizeof(attr),
				    .state = XV_QPS_RESET };
	if (self->t.iwarp) {
		EXPECT_EQ(-EOPNOTSUPP, xv_qp_modify(self->now,
						    &self->s[A].qp, &attr));
		EXPECT_EQ(XV_R_CAPABILITY, err->reason);
		return;
	}
	EXPECT_EQ(0, xv_qp_modify(self->now, &self->s[A].qp, &attr));
	EXPECT_EQ(-EINVAL, xv_conn_create(self->now, &self->s[A].conn,
		  XV_OPTS(xv_conn_opts, .qp = &self->s[A].qp,
			  .eventq = &self->s[A].eq,
			  .dst = (struct sockaddr *)&self->addr)));
	EXPECT_EQ(XV_R_STATE, err->reason);
}

static struct sockaddr *addr4(fixture *f, const char *ip, uint16_t port)
{
	static struct sockaddr_in sin;

	sin = (struct sockaddr_in){ .sin_family = AF_INET,
				    .sin_port = htons(port) };
	if (ip)
		inet_pton(AF_INET, ip, &sin.sin_addr);
	else
		sin.sin_addr = f->addr.sin_addr;
	return (struct sockaddr *)&sin;
}

/* Receives for a queue pair that was reset. */
static int post_recvs(fixture *f, int i)
{
	struct xv_recv r;
	unsigned int k;

	for (k = 0; k < DEPTH; k++) {
		xv_recv_prep(&r, 100 + k);
		xv_recv_add_sge(&r, sge_of(f, i, k, BYTES));
		if (xv_post_recv(&f->s[i].qp, &r, 1))
			return -1;
	}
	return xv_submit(&f->s[i].qp);
}

/*
 * E17: the same queue pair again, and at once. The peer's connection manager
 * remembers the number for a while and refuses it; that is tried again.
 */
TEST_F(conn, queue_pair_again)
{
	struct xv_qp_attr attr = { .size = sizeof(attr) };
	unsigned int k;
	uint64_t token;

	if (self->t.iwarp)
		SKIP(return, "iWARP: a queue pair connects once");
	establish(_metadata, self);
	for (k = 0; k < 2; k++) {
		ASSERT_EQ(0, xv_conn_destroy(self->now, &self->s[A].conn));
		expect_event(_metadata, &self->s[P].eq, XV_EV_DISCONNECTED);
		ASSERT_EQ(0, destroy_side(self, &self->s[P]));
		memset(&self->s[P], 0, sizeof(self->s[P]));
		attr.state = XV_QPS_RESET;
		ASSERT_EQ(0, xv_qp_modify(self->now, &self->s[A].qp, &attr));
		attr.state = XV_QPS_INIT;
		ASSERT_EQ(0, xv_qp_modify(self->now, &self->s[A].qp, &attr));
		ASSERT_EQ(0, post_recvs(self, A));
		ASSERT_EQ(0, xv_conn_create(self->now, &self->s[A].conn,
			  XV_OPTS(xv_conn_opts, .qp = &self->s[A].qp,
				  .eventq = &self->s[A].eq,
				  .dst = (struct sockaddr *)&self->addr,
				  .src = k ? addr4(self, NULL, 0) : NULL,
				  .establish_ms = XV_ESTABLISH_MS *
						  xvt_factor())));
		token = expect_request(_metadata, self);
		ASSERT_EQ(0, accept_it(self, token, NULL));
		expect_event(_metadata, &self->s[A].eq, XV_EV_ESTABLISHED);
		expect_event(_metadata, &self->s[P].eq, XV_EV_ESTABLISHED);
		ASSERT_EQ(0, send_some(self, A, 0, 1));
		expect_messages(_metadata, self, P, 0, 0, 1);
	}
}

/* A transaction that fails leaves the request as it was. */
TEST_F(conn, accept_undone)
{
	struct xv_tx *tx;
	uint64_t token;

	ASSERT_EQ(0, connect_to(self, NULL));
	token = expect_request(_metadata, self);
	ASSERT_EQ(0, xv_txn_begin(self->t.ctx, 0, &tx));
	xv_eventq_create(tx, &self->s[P].eq);
	xv_cq_create(tx, &self->s[P].cq, XV_OPTS(xv_cq_opts, .cqe = 4));
	xv_qp_create(tx, &self->s[P].qp, XV_OPTS(xv_qp_opts, .pd = &self->pd,
		     .send_cq = &self->s[P].cq, .send_wr = 1));
	xv_conn_create(tx, &self->s[P].conn, XV_OPTS(xv_conn_opts,
		       .qp = &self->s[P].qp, .eventq = &self->s[P].eq,
		       .listener = &self->l, .token = token));
	/* Too deep for anything. */
	xv_cq_create(tx, &self->s[P].cq, XV_OPTS(xv_cq_opts,
						 .cqe = XV_MAX_CQE + 1));
	EXPECT_NE(0, xv_txn_commit(tx, NULL));
	xv_txn_free(tx);
	memset(&self->s[P], 0, sizeof(self->s[P]));
	ASSERT_EQ(0, accept_it(self, token, NULL));
	expect_event(_metadata, &self->s[A].eq, XV_EV_ESTABLISHED);
	expect_event(_metadata, &self->s[P].eq, XV_EV_ESTABLISHED);
}

/*
 * E14: who accepts sends first. On iWARP that waits for the peer's first
 * message, elsewhere it goes out.
 */
TEST_F(conn, passive_first)
{
	unsigned int n = xvt_count(CONN_FIRST);
	unsigned int k, delayed = 0;

	for (k = 0; k < n; k++) {
		/* The second half with delay on the way. */
		if (self->t.iwarp && k == n / 2)
			delayed = !xvt_sh("tc qdisc add dev lo root netem delay 3ms");
		establish(_metadata, self);
		ASSERT_EQ(0, send_some(self, P, 10, 2));
		if (self->t.iwarp) {
			struct xv_conn_info info;
			struct xv_wc wc;

			usleep(k * 377 % 5000);
			ASSERT_EQ(0, xv_poll(&self->s[A].cq, &wc, 1));
			ASSERT_EQ(0, xv_conn_query(self->now, &self->s[P].conn,
						   &info));
			EXPECT_EQ(2, info.sends_early);
			ASSERT_EQ(0, send_some(self, A, 0, 1));
		}
		expect_messages(_metadata, self, A, 0, 10, 2);
		if (self->t.iwarp)
			expect_messages(_metadata, self, P, 0, 0, 1);
		ASSERT_EQ(0, destroy_side(self, &self->s[A]));
		ASSERT_EQ(0, destroy_side(self, &self->s[P]));
		memset(self->s, 0, sizeof(self->s));
	}
	if (delayed)
		EXPECT_EQ(0, xvt_sh("tc qdisc del dev lo root"));
}

/* What iWARP has not is refused before it reaches the driver. */
TEST_F(conn, iwarp_limits)
{
	static const uint8_t opcodes[] = {
		XV_WR_SEND_WITH_IMM, XV_WR_RDMA_WRITE_WITH_IMM,
		XV_WR_ATOMIC_FETCH_AND_ADD, XV_WR_RDMA_READ,
	};
	unsigned int i;

	if (!self->t.iwarp)
		SKIP(return, "not iWARP");
	establish(_metadata, self);
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct xv_send *s = xv_get_send(&self->s[A].qp);

		ASSERT_NE(NULL, s);
		xv_send_prep(s, opcodes[i], i, XV_SEND_SIGNALED);
		s->rkey = self->mr.info.rkey;
		s->remote_addr = self->mr.info.iova;
		/* A read into nothing. */
		if (opcodes[i] != XV_WR_RDMA_READ)
			xv_send_add_sge(s, sge_of(self, A, DEPTH, 8));
		EXPECT_EQ(opcodes[i] == XV_WR_RDMA_READ ? -EINVAL : -EOPNOTSUPP,
			  xv_submit(&self->s[A].qp)) {
			TH_LOG("opcode %u", opcodes[i]);
		}
		xv_unpost(&self->s[A].qp);
	}
	/* The queue is as it was, and an empty inline send is a message. */
	for (i = 0; i < DEPTH; i++) {
		struct xv_send *s = xv_get_send(&self->s[A].qp);

		ASSERT_NE(NULL, s);
		xv_send_prep(s, XV_WR_SEND, i, XV_SEND_SIGNALED |
			     (i ? 0 : XV_SEND_INLINE));
		if (i)
			xv_send_add_sge(s, sge_of(self, A, DEPTH, 8));
		ASSERT_EQ(0, xv_submit(&self->s[A].qp));
	}
	for (i = 0; i < DEPTH; i++) {
		struct xv_wc wc;

		ASSERT_EQ(1, xvt_wc(&self->s[P].cq, &wc));
		EXPECT_EQ(XV_WC_SUCCESS, wc.status);
		EXPECT_EQ(i ? 8 : 0, wc.byte_len);
	}
}

/* ---- addresses ---- */

static int listen_at(fixture *f, const struct sockaddr *addr, bool reuse)
{
	struct xv_listener l = {};
	int ret;

	ret = xv_listener_create(f->now, &l, XV_OPTS(xv_listener_opts,
				 .eventq = &f->leq, .addr = addr,
				 .reuse = reuse));
	if (!ret)
		ret = xv_listener_destroy(f->now, &l);
	return ret;
}

/* E15: what is wrong with an address is told apart. */
TEST_F(conn, bad_addresses)
{
	const struct xv_error *err = xv_txn_error(self->now);
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in bad = self->addr;

	EXPECT_EQ(-EADDRINUSE, listen_at(self, (struct sockaddr *)&self->addr,
					 false));
	EXPECT_EQ(XV_R_ADDR_IN_USE, err->reason);
	EXPECT_EQ(-EADDRNOTAVAIL, listen_at(self, addr4(self, "192.0.2.1", 0),
					    false));
	EXPECT_EQ(XV_R_NO_ADDR, err->reason);
	EXPECT_EQ(-EOPNOTSUPP, listen_at(self, addr4(self, "0.0.0.0", 0),
					 false));
	EXPECT_EQ(XV_R_CAPABILITY, err->reason);
	EXPECT_EQ(-EOPNOTSUPP, listen_at(self, (struct sockaddr *)&in6, false));
	bad.sin_family = AF_UNIX;
	EXPECT_EQ(-EINVAL, listen_at(self, (struct sockaddr *)&bad, false));
	EXPECT_EQ(XV_R_RANGE, err->reason);
	EXPECT_EQ(XV_GRP_ADDRESS, err->group);
	EXPECT_EQ(XV_ADDRESS_SRC, err->attr);
	EXPECT_EQ(-EINVAL, connect_to(self, &(struct xv_conn_opts){
		  .dst = (struct sockaddr *)&bad }));
}

/* A low port takes a privilege, for those who connect too. */
TEST_F(conn, low_port)
{
	const struct xv_error *err = xv_txn_error(self->now);
	int own, other;

	ASSERT_EQ(0, seteuid(1000));
	own = connect_to(self, &(struct xv_conn_opts){
			 .src = addr4(self, NULL, 999) });
	other = listen_at(self, addr4(self, NULL, 999), false);
	ASSERT_EQ(0, seteuid(0));
	EXPECT_EQ(-EPERM, own);
	EXPECT_EQ(-EPERM, other);
	EXPECT_EQ(XV_R_PERMISSION, err->reason);
	memset(&self->s[A], 0, sizeof(self->s[A]));
	ASSERT_EQ(0, connect_to(self, &(struct xv_conn_opts){
		  .src = addr4(self, NULL, 999) }));
	ASSERT_EQ(0, accept_it(self, expect_request(_metadata, self), NULL));
	expect_event(_metadata, &self->s[A].eq, XV_EV_ESTABLISHED);
}

static void expect_failure(struct __test_metadata *_metadata, fixture *f,
			   const struct sockaddr *dst, unsigned int err,
			   unsigned int other)
{
	uint64_t got;

	ASSERT_EQ(0, connect_to(f, &(struct xv_conn_opts){ .dst = dst }));
	ASSERT_EQ(0, send_some(f, A, 0, 2));
	got = expect_event(_metadata, &f->s[A].eq, XV_EV_CONNECT_FAILED);
	EXPECT_TRUE(got == err || got == other) {
		TH_LOG("%llu, wanted %u", (unsigned long long)got, err);
	}
	expect_flushed(_metadata, f, A, 2);
	ASSERT_EQ(0, destroy_side(f, &f->s[A]));
	memset(&f->s[A], 0, sizeof(f->s[A]));
}

TEST_F(conn, no_way_there)
{
	/* No route; no RDMA device has that address. */
	expect_failure(_metadata, self, addr4(self, "192.0.2.1", 7),
		       ENETUNREACH, EHOSTUNREACH);
	expect_failure(_metadata, self, addr4(self, "127.0.0.1", 7),
		       EADDRNOTAVAIL, ECONNREFUSED);
}

/* In the same network. */
static struct sockaddr *neighbour(fixture *f, uint8_t last)
{
	struct sockaddr_in *sin = (struct sockaddr_in *)addr4(f, NULL, 7);

	sin->sin_addr.s_addr &= htonl(0xffffff00);
	sin->sin_addr.s_addr |= htonl(last);
	return (struct sockaddr *)sin;
}

/* E7: nobody has the address: given up in time, and others do not notice. */
TEST_F(conn, nobody_is_there)
{
	unsigned int ms = 700 * xvt_factor();
	int64_t begin = xvt_now(), took;

	create_limit = ms;
	ASSERT_EQ(0, connect_as(self, X, &(struct xv_conn_opts){
		  .dst = neighbour(self, 77) }));
	create_limit = 0;
	ASSERT_EQ(0, send_some(self, X, 0, 3));
	establish(_metadata, self);
	EXPECT_EQ(ETIMEDOUT, expect_event(_metadata, &self->s[X].eq,
					  XV_EV_CONNECT_FAILED));
	took = (xvt_now() - begin) / 1000000;
	EXPECT_LE(ms, took + 1);
	EXPECT_GT(ms + 5000 * xvt_factor(), took);
	expect_flushed(_metadata, self, X, 3);
}

TEST_F(conn, ipv6)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	const char *ip = getenv("XV_ADDRESS6");
	struct xv_conn_info info;

	ASSERT_EQ(1, inet_pton(AF_INET6, ip ? ip : "fd00:9::1",
			       &in6.sin6_addr));
	ASSERT_EQ(0, xv_listener_destroy(self->now, &self->l));
	ASSERT_EQ(0, xv_listener_create(self->now, &self->l,
		  XV_OPTS(xv_listener_opts, .eventq = &self->leq,
			  .addr = (struct sockaddr *)&in6)));
	memcpy(&in6, self->l.info.local, sizeof(in6));
	ASSERT_NE(0, in6.sin6_port);
	ASSERT_EQ(0, connect_to(self, &(struct xv_conn_opts){
		  .dst = (struct sockaddr *)&in6 }));
	ASSERT_EQ(0, accept_it(self, expect_request(_metadata, self), NULL));
	expect_event(_metadata, &self->s[A].eq, XV_EV_ESTABLISHED);
	expect_event(_metadata, &self->s[P].eq, XV_EV_ESTABLISHED);
	ASSERT_EQ(0, xv_conn_query(self->now, &self->s[A].conn, &info));
	EXPECT_EQ(0, memcmp(&in6, info.remote, sizeof(in6)));
	ASSERT_EQ(0, send_some(self, A, 0, 1));
	expect_messages(_metadata, self, P, 0, 0, 1);
}

/* U5: done twice, or with the wrong thing. */
TEST_F(conn, wrong_uses)
{
	const struct xv_error *err = xv_txn_error(self->now);
	struct xv_conn conn = {};
	struct xv_qp ud = {};
	struct xv_cq cq = {};
	struct xv_conn_opts o = {
		.size = sizeof(o), .dst = (struct sockaddr *)&self->addr,
	};
	uint64_t token;

	ASSERT_EQ(0, connect_to(self, NULL));
	token = expect_request(_metadata, self);
	ASSERT_EQ(0, accept_it(self, token, NULL));
	o.eventq = &self->s[A].eq;
	o.qp = &self->s[A].qp;
	EXPECT_EQ(-EBUSY, xv_conn_create(self->now, &conn, &o));
	EXPECT_EQ(XV_R_DEPENDENT, err->reason);
	EXPECT_EQ(self->s[A].conn.obj.handle, err->handle);
	EXPECT_EQ(-ENOENT, xv_listener_reject(self->now, &self->l, token,
					      NULL, 0));
	EXPECT_EQ(XV_R_NO_REQUEST, err->reason);
	if (self->t.iwarp)
		goto twice;
	ASSERT_EQ(0, xv_cq_create(self->now, &cq, XV_OPTS(xv_cq_opts,
							  .cqe = 1)));
	ASSERT_EQ(0, xv_qp_create(self->now, &ud, XV_OPTS(xv_qp_opts,
		  .type = XV_QPT_UD, .pd = &self->pd, .send_cq = &cq,
		  .send_wr = 1)));
	o.qp = &ud;
	EXPECT_EQ(-EOPNOTSUPP, xv_conn_create(self->now, &conn, &o));
	EXPECT_EQ(XV_R_CAPABILITY, err->reason);
	EXPECT_EQ(0, xv_qp_destroy(self->now, &ud));
	EXPECT_EQ(0, xv_cq_destroy(self->now, &cq));
twice:
	/* A bare disconnect twice is no error: it has ended. */
	ASSERT_EQ(0, xv_conn_disconnect(self->now, &self->s[A].conn));
	ASSERT_EQ(0, xv_conn_disconnect(self->now, &self->s[A].conn));
}

/* ---- the connection manager is late ---- */

static int set_delay(unsigned int ms)
{
	FILE *f = fopen("/sys/kernel/debug/xverbs/delay_cm_ms", "w");

	if (!f)
		return -1;
	fprintf(f, "%u\n", ms);
	return fclose(f);
}

/* E2: data establishes, once, and the late event changes nothing. */
TEST_F(conn, late_event)
{
	static const unsigned int delays[] = { 0, 1, 100, 3000 };
	unsigned int i;

	if (set_delay(0))
		SKIP(return, "no fault injection");
	for (i = 0; i < ARRAY_SIZE(delays); i++) {
		struct xv_conn_info info;
		uint64_t token, cause;

		ASSERT_EQ(0, set_delay(delays[i]));
		ASSERT_EQ(0, connect_to(self, NULL));
		ASSERT_EQ(0, send_some(self, A, 0, 3));
		token = expect_request(_metadata, self);
		ASSERT_EQ(0, accept_it(self, token, NULL));
		expect_messages(_metadata, self, P, 0, 0, 3);
		cause = expect_event(_metadata, &self->s[P].eq,
				     XV_EV_ESTABLISHED);
		/* One queue for all events of iWARP: both sides are late. */
		if (delays[i] >= 3000 && !self->t.iwarp)
			EXPECT_EQ(XV_CONN_BY_DATA, cause);
		ASSERT_EQ(0, send_some(self, P, 10, 1));
		expect_messages(_metadata, self, A, 0, 10, 1);
		ASSERT_EQ(0, set_delay(0));
		/* What comes late comes now. */
		usleep(1000 * delays[i] + 10000);
		EXPECT_FALSE(xvt_has_event(&self->s[P].eq));
		ASSERT_EQ(0, xv_conn_query(self->now, &self->s[P].conn, &info));
		EXPECT_EQ(XV_CONN_ESTABLISHED, info.state);
		EXPECT_EQ(cause, info.cause);
		ASSERT_EQ(0, destroy_side(self, &self->s[A]));
		ASSERT_EQ(0, destroy_side(self, &self->s[P]));
		memset(self->s, 0, sizeof(self->s));
	}
}

/* ---- room ---- */

/*
 * O2: told once after each EAGAIN, also if slots become free between EAGAIN and
 * the watch; nobody else reaps.
 */
TEST_F(conn, room_after_eagain)
{
	unsigned int n = xvt_count(CONN_ROOM);
	unsigned int sent = 0, k;
	struct xv_recv r;
	struct xv_event ev;
	struct xv_wc wc;

	/* A message without a receive would end it. */
	if (self->t.iwarp)
		SKIP(return, "iWARP has no RNR");
	establish(_metadata, self);
	for (k = 0; k < n; k++) {
		while (!fill_sends(self, A, sent, 1))
			sent++;
		ASSERT_EQ(0, xv_submit(&self->s[A].qp));
		if (k & 1)
			usleep(k * 37 % 500);
		ASSERT_EQ(0, xv_qp_watch_room(self->now, &self->s[A].qp,
					      1 + k % DEPTH, k));
		do {
			ASSERT_LE(0, xv_poll(&self->s[P].cq, &wc, 1));
			if (xv_recvs_free(&self->s[P].qp)) {
				xv_recv_prep(&r, 100);
				xv_recv_add_sge(&r, sge_of(self, P, 0, BYTES));
				xv_post_recv(&self->s[P].qp, &r, 1);
				ASSERT_EQ(0, xv_submit(&self->s[P].qp));
			}
			ASSERT_LE(0, xv_wait(&self->s[P].cq, 0, 0));
		} while (!xvt_has_event(&self->s[A].eq));
		ASSERT_EQ(1, xvt_event(&self->s[A].eq, &ev));
		EXPECT_EQ(XV_EV_ROOM, ev.type);
		EXPECT_EQ(k, ev.cookie);
		EXPECT_EQ(1, ev.count);
		EXPECT_LE(1 + k % DEPTH, xv_sends_free(&self->s[A].qp));
		EXPECT_FALSE(xvt_has_event(&self->s[A].eq));
		while (xv_poll(&self->s[A].cq, &wc, 1) > 0)
			ASSERT_EQ(XV_WC_SUCCESS, wc.status);
	}
}

/* The end cancels a watch, and there is nothing to wait for afterwards. */
TEST_F(conn, room_ends)
{
	establish(_metadata, self);
	ASSERT_EQ(0, fill_sends(self, A, 0, DEPTH));
	ASSERT_EQ(0, xv_conn_disconnect(self->now, &self->s[P].conn));
	expect_event(_metadata, &self->s[P].eq, XV_EV_DISCONNECTED);
	expect_event(_metadata, &self->s[A].eq, XV_EV_DISCONNECTED);
	EXPECT_EQ(-EINVAL, xv_qp_watch_room(self->now, &self->s[A].qp, 1, 5));
	EXPECT_EQ(XV_R_STATE, xv_txn_error(self->now)->reason);
	EXPECT_FALSE(xvt_has_event(&self->s[A].eq));
}

TEST_F(conn, room)
{
	const struct xv_error *err = xv_txn_error(self->now);
	struct xv_event ev;
	uint64_t token;

	ASSERT_EQ(0, connect_to(self, NULL));
	/* Free slots alone are not enough: it must be able to send. */
	ASSERT_EQ(0, xv_qp_watch_room(self->now, &self->s[A].qp, 1, 77));
	token = expect_request(_metadata, self);
	EXPECT_FALSE(xvt_has_event(&self->s[A].eq));
	ASSERT_EQ(0, accept_it(self, token, NULL));
	expect_event(_metadata, &self->s[A].eq, XV_EV_ESTABLISHED);
	ASSERT_EQ(1, xvt_event(&self->s[A].eq, &ev));
	EXPECT_EQ(XV_EV_ROOM, ev.type);
	EXPECT_EQ(77, ev.cookie);
	EXPECT_EQ(XV_OBJ_QP, ev.object);
	EXPECT_EQ(self->s[A].qp.obj.handle, ev.handle);
	EXPECT_FALSE(xvt_has_event(&self->s[A].eq));

	/* At once, and only once. */
	ASSERT_EQ(0, xv_qp_watch_room(self->now, &self->s[A].qp, DEPTH, 78));
	ASSERT_EQ(1, xvt_event(&self->s[A].eq, &ev));
	EXPECT_EQ(78, ev.cookie);
	ASSERT_EQ(0, send_some(self, A, 0, 1));
	expect_messages(_metadata, self, P, 0, 0, 1);
	EXPECT_FALSE(xvt_has_event(&self->s[A].eq));

	EXPECT_EQ(-EINVAL, xv_qp_watch_room(self->now, &self->s[A].qp,
					    DEPTH + 1, 0));
	EXPECT_EQ(XV_R_RANGE, err->reason);
	EXPECT_EQ(DEPTH, err->detail);
}

/* With a submission, and nobody reaps: the kernel does. */
TEST_F(conn, room_with_submission)
{
	struct xv_event ev;

	establish(_metadata, self);
	ASSERT_EQ(0, fill_sends(self, A, 0, DEPTH));
	self->s[A].qp.room = DEPTH;
	ASSERT_EQ(0, xv_submit(&self->s[A].qp));
	ASSERT_EQ(1, xvt_event(&self->s[A].eq, &ev));
	EXPECT_EQ(XV_EV_ROOM, ev.type);
	EXPECT_EQ(DEPTH, xv_sends_free(&self->s[A].qp));
	EXPECT_FALSE(xvt_has_event(&self->s[A].eq));
}

TEST_HARNESS_MAIN
