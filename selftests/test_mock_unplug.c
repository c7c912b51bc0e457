// SPDX-License-Identifier: GPL-2.0
/*
 * The device goes while a call is inside the driver, whichever call it is.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include "xv_mock.h"

FIXTURE(munplug) {
	struct xvm m;
	struct xv_ah ah;
	struct xv_srq srq;
	struct xv_qp ud;
	struct xv_mcast mcast;
	struct xvm_call call;
	struct xvm_call plug;
};

typedef FIXTURE_DATA(munplug) fixture;

FIXTURE_SETUP(munplug)
{
	xvm_setup(_metadata, &self->m);
}

FIXTURE_TEARDOWN(munplug)
{
	xvm_teardown(_metadata, &self->m);
}

static bool plugged(void)
{
	char c = 0;
	FILE *f = fopen(XVM_DIR "plugged", "re");

	if (f && fread(&c, 1, 1, f) != 1)
		c = 0;
	if (f)
		fclose(f);
	return c == '1';
}

static int pull(void *arg)
{
	return xvm_set("plugged", "0");
}

/* ---- calls ---- */

/* A datagram queue pair and its group, and an SRQ with a limit and a receive. */
static void add_more(fixture *self, struct xv_tx *tx, struct xv_pd *pd,
		     struct xv_cq *cq, struct xv_srq *srq, struct xv_qp *ud,
		     struct xv_mcast *mcast)
{
	struct xv_recv r;

	xv_recv_prep(&r, 1);
	*srq = (struct xv_srq){};
	*ud = (struct xv_qp){};
	*mcast = (struct xv_mcast){};
	xv_srq_create(tx, srq, XV_OPTS(xv_srq_opts, .pd = pd, .recv_wr = 4,
				       .limit = 2));
	xv_srq_post_recv(tx, srq, &r, 1);
	xv_qp_create(tx, ud, XV_OPTS(xv_qp_opts, .type = XV_QPT_UD, .pd = pd,
				     .send_cq = cq, .send_wr = 1));
	xv_mcast_create(tx, mcast, XV_OPTS(xv_mcast_opts, .qp = ud,
			.gid = { 0xff, 0x12, 0x40, 0x1b, [15] = 7 },
			.lid = 0xc001, .join = XV_MCAST_ATTACH));
}

static int make_all(void *arg)
{
	fixture *self = arg;
	struct xvm *m = &self->m;
	static struct xv_pd pd;
	static struct xv_cq cq;
	static struct xv_mr mr;
	static struct xv_ah ah;
	static struct xv_qp qp;
	static struct xv_eventq eq;
	static struct xv_srq srq;
	static struct xv_qp ud;
	static struct xv_mcast mcast;
	struct xv_recv r;
	struct xv_tx *tx;
	int ret;

	ret = xv_txn_begin(m->t.ctx, 0, &tx);
	if (ret)
		return ret;
	pd = (struct xv_pd){};
	cq = (struct xv_cq){};
	mr = (struct xv_mr){};
	ah = (struct xv_ah){};
	qp = (struct xv_qp){};
	eq = (struct xv_eventq){};
	xv_recv_prep(&r, 1);
	xv_eventq_create(tx, &eq);
	xv_pd_create(tx, &pd);
	xv_mr_create(tx, &mr, XV_OPTS(xv_mr_opts, .pd = &pd, .addr = m->buf,
				      .length = 64));
	xv_cq_create(tx, &cq, XV_OPTS(xv_cq_opts, .cqe = 16, .eventq = &eq));
	xv_ah_create(tx, &ah, XV_OPTS(xv_ah_opts, .pd = &pd, .lid = 0x22));
	xv_qp_create(tx, &qp, XV_OPTS(xv_qp_opts, .pd = &pd, .send_cq = &cq,
				      .eventq = &eq, .send_wr = 2,
				      .recv_wr = 2, .connect = xvm_peer()));
	xv_qp_post_recv(tx, &qp, &r, 1);
	add_more(self, tx, &pd, &cq, &srq, &ud, &mcast);
	ret = xv_txn_commit(tx, NULL);
	xv_txn_free(tx);
	if (!ret)
		xv_eventq_close(&eq);
	return ret;
}

static int destroy_all(void *arg)
{
	fixture *self = arg;
	struct xvm *m = &self->m;
	struct xv_tx *tx;
	int ret;

	ret = xv_txn_begin(m->t.ctx, 0, &tx);
	if (ret)
		return ret;
	xv_pd_destroy(tx, &m->pd);
	xv_mr_destroy(tx, &m->mr);
	xv_cq_destroy(tx, &m->cq);
	xv_qp_destroy(tx, &m->qp);
	xv_ah_destroy(tx, &self->ah);
	xv_srq_destroy(tx, &self->srq);
	xv_qp_destroy(tx, &self->ud);
	xv_mcast_destroy(tx, &self->mcast);
	ret = xv_txn_commit(tx, NULL);
	xv_txn_free(tx);
	return ret;
}

/* A create that fails at its end, and sleeps while it takes all back. */
static int make_in_vain(void *arg)
{
	xvm_verb("modify_qp", "fail %d 1 3", ENOMEM);
	return make_all(arg);
}

static int connect_qp(void *arg)
{
	struct xvm *m = &((fixture *)arg)->m;

	return xv_qp_connect(xv_now(m->t.ctx), &m->qp, xvm_peer());
}

/* With sends that wait. */
static int connect_early(void *arg)
{
	struct xvm *m = &((fixture *)arg)->m;

	xvm_send(m, &m->qp, 1);
	return connect_qp(arg);
}

static int to_err(void *arg)
{
	struct xvm *m = &((fixture *)arg)->m;

	return xvm_go(m, &m->qp, XV_QPS_ERR);
}

static int to_reset(void *arg)
{
	struct xvm *m = &((fixture *)arg)->m;

	return xvm_go(m, &m->qp, XV_QPS_RESET);
}

static int set_limit(void *arg)
{
	fixture *self = arg;

	return xv_srq_modify(xv_now(self->m.t.ctx), &self->srq, 1);
}

static int moderate(void *arg)
{
	fixture *self = arg;

	return xv_cq_moderate(xv_now(self->m.t.ctx), &self->m.cq, 1, 1);
}

static int query_qp(void *arg)
{
	struct xvm *m = &((fixture *)arg)->m;
	struct xv_qp_info info;

	return xv_qp_query(xv_now(m->t.ctx), &m->qp, &info);
}

static int query_port(void *arg)
{
	struct xvm *m = &((fixture *)arg)->m;
	struct xv_port_info info;

	return xv_device_query_port(xv_now(m->t.ctx), 1, &info);
}

static int post_recv(void *arg)
{
	struct xvm *m = &((fixture *)arg)->m;

	return xvm_recv(m, &m->qp, 1);
}

static int post_send(void *arg)
{
	struct xvm *m = &((fixture *)arg)->m;
	int ret = connect_qp(arg);

	return ret ? ret : xvm_send(m, &m->qp, 1);
}

static int post_shared(void *arg)
{
	fixture *self = arg;
	struct xv_recv r;
	int ret;

	xv_recv_prep(&r, 1);
	ret = xv_post_srq_recv(&self->srq, &r, 1);
	return ret ? ret : xv_submit_srq(&self->srq);
}

static int reap(void *arg)
{
	struct xvm *m = &((fixture *)arg)->m;

	return xv_wait(&m->cq, 0, 0);
}

static int wait_for_ever(void *arg)
{
	struct xvm *m = &((fixture *)arg)->m;

	return xv_wait(&m->cq, 1, -1);
}

static int close_file(void *arg)
{
	fixture *self = arg;

	xvt_close(&self->m.t);
	return 0;
}

/* What is called, where it sleeps, and what it returns in the end. */
static const struct point {
	const char *name;
	int (*run)(void *arg);
	const char *verb;
	unsigned int skip;
	int ret;
} points[] = {
#define P(n, r, v, ...)	{ .name = n, .run = r, .verb = v, __VA_ARGS__ }
	P("make, pd", make_all, "alloc_pd"),
	P("make, region of the pd", make_all, "get_dma_mr"),
	P("make, mr", make_all, "reg_user_mr"),
	P("make, cq", make_all, "create_cq"),
	P("make, ah", make_all, "create_ah"),
	P("make, qp", make_all, "create_qp"),
	P("make, port", make_all, "query_port"),
	P("make, INIT", make_all, "modify_qp"),
	P("make, first receive", make_all, "post_recv"),
	P("make, srq", make_all, "create_srq"),
	P("make, first receive of the srq", make_all, "post_srq_recv"),
	P("make, mcast", make_all, "attach_mcast"),
	P("last step of a create, RTR", make_all, "modify_qp", .skip = 2),
	P("last step of a create, RTS", make_all, "modify_qp", .skip = 3),
	P("last step of a create, limit", make_all, "modify_srq"),
	P("abort, mcast", make_in_vain, "detach_mcast", .ret = -ENOMEM),
	P("abort, srq", make_in_vain, "destroy_srq", .ret = -ENOMEM),
	P("abort, qp", make_in_vain, "destroy_qp", .ret = -ENOMEM),
	P("abort, ah", make_in_vain, "destroy_ah", .ret = -ENOMEM),
	P("abort, cq", make_in_vain, "destroy_cq", .ret = -ENOMEM),
	P("abort, mr", make_in_vain, "dereg_mr", .ret = -ENOMEM),
	P("abort, pd", make_in_vain, "dealloc_pd", .ret = -ENOMEM),
	P("last step, port", connect_qp, "query_port"),
	P("last step, RTR", connect_qp, "modify_qp"),
	P("last step, RTS", connect_qp, "modify_qp", .skip = 1),
	P("last step, ERR", to_err, "modify_qp"),
	P("last step, ERR before RESET", to_reset, "modify_qp"),
	P("last step, drain", to_reset, "poll_cq"),
	P("last step, RESET", to_reset, "modify_qp", .skip = 1),
	P("last step, limit", set_limit, "modify_srq"),
	P("last step, moderation", moderate, "modify_cq"),
	P("commit, mcast", destroy_all, "detach_mcast"),
	P("commit, srq", destroy_all, "destroy_srq"),
	P("commit, early send", connect_early, "post_send"),
	P("commit, qp", destroy_all, "destroy_qp"),
	P("commit, ah", destroy_all, "destroy_ah"),
	P("commit, cq", destroy_all, "destroy_cq"),
	P("commit, mr", destroy_all, "dereg_mr"),
	P("commit, pd", destroy_all, "dealloc_pd"),
	P("query, qp", query_qp, "query_qp"),
	P("query, port", query_port, "query_port"),
	P("enter, receive", post_recv, "post_recv"),
	P("enter, receive of the srq", post_shared, "post_srq_recv"),
	P("enter, send", post_send, "post_send"),
	P("enter, reap", reap, "poll_cq"),
	P("enter, arm", wait_for_ever, "req_notify_cq", .ret = -ENODEV),
	P("close, mcast", close_file, "detach_mcast"),
	P("close, srq", close_file, "destroy_srq"),
	P("close, qp", close_file, "destroy_qp"),
	P("close, ah", close_file, "destroy_ah"),
	P("close, cq", close_file, "destroy_cq"),
	P("close, mr", close_file, "dereg_mr"),
	P("close, pd", close_file, "dealloc_pd"),
};

/* ---- what must be so ---- */

static void prepare(struct __test_metadata *_metadata, fixture *self)
{
	struct xvm *m = &self->m;
	struct xv_tx *tx;

	if (!m->t.ctx) {
		ASSERT_EQ(0, xvm_set("plugged", "1"));
		xvm_open(_metadata, m);
		m->pd = (struct xv_pd){};
		m->mr = (struct xv_mr){};
		m->cq = (struct xv_cq){};
		m->qp = (struct xv_qp){};
		m->eq = (struct xv_eventq){};
		xvm_make(_metadata, m);
	}
	self->ah = (struct xv_ah){};
	ASSERT_EQ(0, xv_ah_create(xv_now(m->t.ctx), &self->ah,
				  XV_OPTS(xv_ah_opts, .pd = &m->pd,
					  .lid = 0x22)));
	ASSERT_EQ(0, xv_txn_begin(m->t.ctx, 0, &tx));
	add_more(self, tx, &m->pd, &m->cq, &self->srq, &self->ud,
		 &self->mcast);
	ASSERT_EQ(0, xv_txn_commit(tx, NULL));
	xv_txn_free(tx);
}

/* One event, then the end; of a closed file the end alone. */
static void check_event_queue(struct __test_metadata *_metadata,
			      struct xv_eventq *eq, bool closed)
{
	struct pollfd pfd = { .fd = eq->fd, .events = POLLIN };
	struct xv_event ev = {};

	if (closed) {
		EXPECT_EQ(1, poll(&pfd, 1, 0));
		EXPECT_TRUE(pfd.revents & POLLHUP);
		return;
	}
	EXPECT_EQ(1, poll(&pfd, 1, 0));
	EXPECT_EQ(POLLIN | POLLHUP, pfd.revents);
	ASSERT_EQ(1, xv_event_read(eq, &ev, 1));
	EXPECT_EQ(XV_EV_DEVICE_REMOVED, ev.type);
	EXPECT_EQ(1, ev.count);
	EXPECT_EQ(-ENODEV, xv_event_read(eq, &ev, 1));
	EXPECT_EQ(1, poll(&pfd, 1, 0));
	EXPECT_EQ(POLLHUP, pfd.revents);
}

static void check_gone(struct __test_metadata *_metadata, struct xvm *m)
{
	struct xv_tx *now = xv_now(m->t.ctx);
	struct xv_enter e = { .cq = m->cq.obj.handle };
	struct xv_device_info info;
	struct xv_pd pd = {};

	EXPECT_EQ(-ENODEV, xv_device_query(now, &info));
	EXPECT_EQ(-ENODEV, xv_pd_create(now, &pd));
	EXPECT_EQ(-ENODEV, xv_qp_connect(now, &m->qp, xvm_peer()));
	EXPECT_EQ(-ENODEV, xv_enter_raw(m->t.ctx, &e));
}

static void one(struct __test_metadata *_metadata, fixture *self,
		const struct point *p)
{
	struct xvm *m = &self->m;
	struct xv_device_info info;
	bool closes = p->run == close_file;
	char verb[64];

	prepare(_metadata, self);
	self->call = (struct xvm_call){ .run = p->run, .arg = self };
	self->plug = (struct xvm_call){ .run = pull };
	snprintf(verb, sizeof(verb), "verbs/%s", p->verb);
	ASSERT_EQ(0, xvm_set(verb, "sleep 1 %u", p->skip));
	xvm_start(_metadata, &self->call);
	ASSERT_TRUE(xvt_wait_until(xvm_get(verb, "sleeping") == 1, 5000)) {
		TH_LOG("%s: nobody sleeps in %s", p->name, p->verb);
	}
	xvm_start(_metadata, &self->plug);
	/* A post holds its processor, which removal waits for before all. */
	if (!closes && strcmp(p->verb, "post_send")) {
		/* Nobody comes in any more, while one is still inside. */
		ASSERT_TRUE(xvt_wait_until(xv_device_query(xv_now(m->t.ctx),
							   &info) == -ENODEV,
					   5000)) {
			TH_LOG("%s: removal does not begin", p->name);
		}
	}
	EXPECT_TRUE(plugged()) {
		TH_LOG("%s: removal does not wait", p->name);
	}
	EXPECT_EQ(1, xvm_get(verb, "sleeping"));
	ASSERT_EQ(0, xvm_set(verb, "wake"));
	EXPECT_EQ(p->ret, xvm_join(_metadata, &self->call)) {
		TH_LOG("%s", p->name);
	}
	EXPECT_EQ(0, xvm_join(_metadata, &self->plug)) {
		TH_LOG("%s", p->name);
	}
	EXPECT_FALSE(plugged());
	if (!closes)
		check_gone(_metadata, m);
	check_event_queue(_metadata, &m->eq, closes);
	xvm_check_empty(_metadata);
	if (m->t.ctx)
		xvt_close(&m->t);
	xv_eventq_close(&m->eq);
	EXPECT_EQ(0, xvm_get("errors", "late"));
	ASSERT_EQ(0, xvm_set("reset", "1"));
}

TEST_F(munplug, during_each_call)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(points); i++)
		one(_metadata, self, &points[i]);
}

/* Who is killed inside the driver ends when the driver has let it go. */
TEST_F(munplug, killed_inside)
{
	static const char *const verbs[] = {
		"verbs/alloc_pd", "verbs/modify_qp", "verbs/destroy_qp",
	};
	unsigned int i;
	int status;
	pid_t pid;

	for (i = 0; i < ARRAY_SIZE(verbs); i++) {
		fixture child = {};

		ASSERT_EQ(0, xvm_set(verbs[i], "sleep"));
		pid = fork();
		if (!pid) {
			child.m.buf = self->m.buf;
			xvm_open(_metadata, &child.m);
			make_all(&child);
			/* Its end sleeps in the last of the three. */
			_exit(0);
		}
		ASSERT_TRUE(xvt_wait_until(xvm_get(verbs[i], "sleeping") == 1,
					   5000));
		ASSERT_EQ(0, kill(pid, SIGKILL));
		EXPECT_EQ(0, waitpid(pid, &status, WNOHANG));
		ASSERT_EQ(0, xvm_set(verbs[i], "wake"));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_TRUE(i == 2 || WIFSIGNALED(status));
		EXPECT_TRUE(xvt_wait_until(xvm_get("objects", "pd") == 1, 5000));
		EXPECT_EQ(1, xvm_get("objects", "qp"));
	}
}

/* Early sends of the last step, a QP with posted entries, and nobody asks. */
TEST_F(munplug, busy)
{
	struct xvm *m = &self->m;
	int i;

	prepare(_metadata, self);
	ASSERT_EQ(0, xv_qp_connect(xv_now(m->t.ctx), &m->qp, xvm_peer()));
	for (i = 0; i < 16; i++) {
		ASSERT_EQ(0, xvm_send(m, &m->qp, i));
		ASSERT_EQ(0, xvm_recv(m, &m->qp, i));
	}
	ASSERT_EQ(0, xvm_set("plugged", "0"));
	check_gone(_metadata, m);
	check_event_queue(_metadata, &m->eq, false);
	xvm_check_empty(_metadata);
	EXPECT_EQ(0, xvm_set("plugged", "1"));
}

TEST_HARNESS_MAIN
