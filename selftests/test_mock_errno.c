// SPDX-License-Identifier: GPL-2.0
/*
 * What a driver may answer, in every phase of a call, and what users see of it.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include "xv_mock.h"

FIXTURE(errnos) {
	struct xvm m;
};

typedef FIXTURE_DATA(errnos) fixture;

FIXTURE_SETUP(errnos)
{
	xvm_setup(_metadata, &self->m);
}

FIXTURE_TEARDOWN(errnos)
{
	xvm_teardown(_metadata, &self->m);
}

/* Those that mean something come first; the rest are all the others. */
static int nth_errno(unsigned int n)
{
	static const int first[] = {
		ENOMEM, EFAULT, EINTR, 512 /* ERESTARTSYS */, EOPNOTSUPP,
		EIO, EINVAL, EBUSY, EAGAIN, ENODEV, ENOENT, EPERM, EACCES,
		ENOSPC, EOVERFLOW, ETIMEDOUT, ENOSYS, 524 /* ENOTSUPP */,
		ESTALE, E2BIG, EMFILE, ENOTCONN, 1, 4095,
	};
	unsigned int i, j;
	int e;

	if (n < ARRAY_SIZE(first))
		return first[n];
	n -= ARRAY_SIZE(first);
	for (e = 1, i = 0;; e++) {
		for (j = 0; j < ARRAY_SIZE(first) && first[j] != e; j++)
			;
		if (j == ARRAY_SIZE(first) && i++ == n)
			return e;
	}
}

/* What users see of it. */
static uint16_t mapped(int raw, int *err)
{
	static const struct {
		int raw;
		int err;
		uint16_t reason;
	} map[] = {
		{ ENOMEM, ENOMEM, XV_R_MEMORY },
		{ EFAULT, EFAULT, XV_R_USER_MEMORY },
		{ EINTR, EINTR, XV_R_SIGNAL },
		{ 512, EINTR, XV_R_SIGNAL },
		{ EOPNOTSUPP, EOPNOTSUPP, XV_R_CAPABILITY },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(map); i++) {
		if (map[i].raw == raw) {
			*err = map[i].err;
			return map[i].reason;
		}
	}
	*err = EIO;
	return XV_R_DRIVER;
}

/* ---- calls that ask the driver ---- */

static void add_pd(struct xvm *m, struct xv_tx *tx)
{
	static struct xv_pd pd;

	pd = (struct xv_pd){};
	xv_pd_create(tx, &pd);
}

static void add_cq(struct xvm *m, struct xv_tx *tx)
{
	static struct xv_cq cq;

	cq = (struct xv_cq){};
	xv_cq_create(tx, &cq, XV_OPTS(xv_cq_opts, .cqe = 8));
}

static void add_mr(struct xvm *m, struct xv_tx *tx)
{
	static struct xv_mr mr;

	mr = (struct xv_mr){};
	xv_mr_create(tx, &mr, XV_OPTS(xv_mr_opts, .pd = &m->pd, .addr = m->buf,
				      .length = 64));
}

static void add_ah(struct xvm *m, struct xv_tx *tx)
{
	static struct xv_ah ah;

	ah = (struct xv_ah){};
	xv_ah_create(tx, &ah, XV_OPTS(xv_ah_opts, .pd = &m->pd, .lid = 0x22));
}

static void add_qp(struct xvm *m, struct xv_tx *tx)
{
	static struct xv_qp qp;

	qp = (struct xv_qp){};
	xvm_add_qp(tx, m, &qp, 0, NULL);
}

static void add_connected(struct xvm *m, struct xv_tx *tx)
{
	static struct xv_qp qp;

	qp = (struct xv_qp){};
	xvm_add_qp(tx, m, &qp, 0, xvm_peer());
}

static void add_recvs(struct xvm *m, struct xv_tx *tx)
{
	static struct xv_qp qp;
	struct xv_recv r[3];
	int i;

	qp = (struct xv_qp){};
	xvm_add_qp(tx, m, &qp, 0, NULL);
	for (i = 0; i < 3; i++) {
		xv_recv_prep(&r[i], i);
		xv_recv_add_sge(&r[i], xv_sge_at(&m->mr, m->buf, 8));
	}
	xv_qp_post_recv(tx, &qp, r, 3);
}

static void add_srq(struct xvm *m, struct xv_tx *tx)
{
	static struct xv_srq srq;

	srq = (struct xv_srq){};
	xv_srq_create(tx, &srq, XV_OPTS(xv_srq_opts, .pd = &m->pd,
					.recv_wr = 8, .limit = 4));
}

static void add_srq_recvs(struct xvm *m, struct xv_tx *tx)
{
	static struct xv_srq srq;
	struct xv_recv r[3];
	int i;

	srq = (struct xv_srq){};
	xv_srq_create(tx, &srq, XV_OPTS(xv_srq_opts, .pd = &m->pd,
					.recv_wr = 8));
	for (i = 0; i < 3; i++) {
		xv_recv_prep(&r[i], i);
		xv_recv_add_sge(&r[i], xv_sge_at(&m->mr, m->buf, 8));
	}
	xv_srq_post_recv(tx, &srq, r, 3);
}

static void add_member(struct xvm *m, struct xv_tx *tx)
{
	static struct xv_mcast mcast;
	static struct xv_qp ud;

	ud = (struct xv_qp){};
	mcast = (struct xv_mcast){};
	xv_qp_create(tx, &ud, XV_OPTS(xv_qp_opts, .type = XV_QPT_UD,
				      .pd = &m->pd, .send_cq = &m->cq,
				      .send_wr = 1));
	xv_mcast_create(tx, &mcast, XV_OPTS(xv_mcast_opts, .qp = &ud,
			.gid = { 0xff, 0x12, 0x40, 0x1b, [15] = 7 },
			.lid = 0xc001, .join = XV_MCAST_ATTACH));
}

/* One that is there; the tests make it. */
static struct xv_srq old_srq;

static void set_limit(struct xvm *m, struct xv_tx *tx)
{
	xv_srq_modify(tx, &old_srq, 3);
}

static void moderate(struct xvm *m, struct xv_tx *tx)
{
	xv_cq_moderate(tx, &m->cq, 4, 100);
}

static void ask_port(struct xvm *m, struct xv_tx *tx)
{
	static struct xv_port_info info;

	xv_device_query_port(tx, 1, &info);
}

static void ask_gid(struct xvm *m, struct xv_tx *tx)
{
	static struct xv_gid_info info;

	xv_device_query_gid(tx, 1, 0, &info);
}

static void modify(struct xvm *m, struct xv_tx *tx, uint32_t state)
{
	struct xv_qp_attr attr = *xvm_peer();

	attr.state = state;
	if (state != XV_QPS_RTR)
		attr.qpn = 0;
	xv_qp_modify(tx, &m->qp, &attr);
}

static void to_init(struct xvm *m, struct xv_tx *tx)
{
	modify(m, tx, XV_QPS_INIT);
}

static void to_rtr(struct xvm *m, struct xv_tx *tx)
{
	modify(m, tx, XV_QPS_RTR);
}

static void to_rts(struct xvm *m, struct xv_tx *tx)
{
	modify(m, tx, XV_QPS_RTS);
}

static void to_err(struct xvm *m, struct xv_tx *tx)
{
	modify(m, tx, XV_QPS_ERR);
}

static void to_reset(struct xvm *m, struct xv_tx *tx)
{
	modify(m, tx, XV_QPS_RESET);
}

static void connect_qp(struct xvm *m, struct xv_tx *tx)
{
	xv_qp_connect(tx, &m->qp, xvm_peer());
}

/*
 * Phase, the verb that fails, calls of it before, the operation at fault, the
 * state that a modify begins in and the one in which its failure leaves the
 * queue pair.
 */
static const struct point {
	const char *name;
	void (*add)(struct xvm *m, struct xv_tx *tx);
	const char *verb;
	unsigned int skip;
	unsigned int op;
	uint32_t from;
	uint32_t then;
} points[] = {
#define P(n, a, v, ...)	{ .name = n, .add = a, .verb = v, __VA_ARGS__ }
	/* make */
	P("pd.create", add_pd, "alloc_pd"),
	P("pd.create, its own region", add_pd, "get_dma_mr"),
	P("cq.create", add_cq, "create_cq"),
	P("mr.create", add_mr, "reg_user_mr"),
	P("ah.create", add_ah, "create_ah"),
	P("qp.create", add_qp, "create_qp"),
	P("qp.create, port", add_qp, "query_port"),
	P("qp.create, INIT", add_qp, "modify_qp"),
	P("qp.post_recv, first", add_recvs, "post_recv", .op = 1),
	P("qp.post_recv, third", add_recvs, "post_recv", .skip = 2, .op = 1),
	P("srq.create", add_srq, "create_srq"),
	P("srq.post_recv, first", add_srq_recvs, "post_srq_recv", .op = 1),
	P("srq.post_recv, third", add_srq_recvs, "post_srq_recv", .skip = 2,
	  .op = 1),
	P("mcast.create", add_member, "attach_mcast", .op = 1),
	/* query */
	P("device.query_port", ask_port, "query_port"),
	P("device.query_gid", ask_gid, "query_port"),
	/* last step of a create */
	P("qp.create, port again", add_connected, "query_port", .skip = 1),
	P("qp.create, MTU", add_connected, "query_port", .skip = 2),
	P("qp.create, RTR", add_connected, "modify_qp", .skip = 1),
	P("qp.create, RTS", add_connected, "modify_qp", .skip = 2),
	P("srq.create, limit", add_srq, "modify_srq"),
	/* last step: a modify */
	P("srq.modify", set_limit, "modify_srq"),
	P("cq.modify", moderate, "modify_cq"),
	P("INIT", to_init, "modify_qp", .from = XV_QPS_RESET, .then = XV_QPS_RESET),
	P("INIT, port", to_init, "query_port", .from = XV_QPS_RESET,
	  .then = XV_QPS_RESET),
	P("INIT again", to_init, "modify_qp", .from = XV_QPS_INIT,
	  .then = XV_QPS_INIT),
	P("RTR", to_rtr, "modify_qp", .from = XV_QPS_INIT, .then = XV_QPS_INIT),
	P("RTR, MTU", to_rtr, "query_port", .from = XV_QPS_INIT,
	  .then = XV_QPS_INIT),
	P("RTS", to_rts, "modify_qp", .from = XV_QPS_RTR, .then = XV_QPS_RTR),
	P("ERR", to_err, "modify_qp", .from = XV_QPS_RTS, .then = XV_QPS_RTS),
	P("RESET, ERR first", to_reset, "modify_qp", .from = XV_QPS_RTS,
	  .then = XV_QPS_RTS),
	P("RESET", to_reset, "modify_qp", .skip = 1, .from = XV_QPS_RTS,
	  .then = XV_QPS_ERR),
	P("RESET of ERR", to_reset, "modify_qp", .from = XV_QPS_ERR,
	  .then = XV_QPS_ERR),
	P("connect, port", connect_qp, "query_port", .from = XV_QPS_INIT,
	  .then = XV_QPS_INIT),
	P("connect, INIT", connect_qp, "modify_qp", .from = XV_QPS_RESET,
	  .then = XV_QPS_RESET),
	P("connect, RTR", connect_qp, "modify_qp", .from = XV_QPS_INIT,
	  .then = XV_QPS_ERR),
	P("connect, RTS", connect_qp, "modify_qp", .skip = 1,
	  .from = XV_QPS_INIT, .then = XV_QPS_ERR),
};

static uint32_t state_of(struct xvm *m)
{
	struct xv_qp_info info = {};

	xv_qp_query(xv_now(m->t.ctx), &m->qp, &info);
	return info.state;
}

static void bring_to(struct __test_metadata *_metadata, struct xvm *m,
		     uint32_t state)
{
	static const uint32_t way[] = {
		XV_QPS_INIT, XV_QPS_RTR, XV_QPS_RTS, XV_QPS_ERR,
	};
	unsigned int i;

	if (!state || state_of(m) == state)
		return;
	ASSERT_EQ(0, xvm_go(m, &m->qp, XV_QPS_RESET));
	for (i = 0; state_of(m) != state && i < ARRAY_SIZE(way); i++)
		ASSERT_EQ(0, xvm_go(m, &m->qp, way[i]));
}

static long mock_objects(void)
{
	long sum = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(xvm_kinds); i++)
		sum += xvm_get("objects", xvm_kinds[i]);
	return sum;
}

static void fail_once(struct __test_metadata *_metadata, struct xvm *m,
		      const struct point *p, int raw)
{
	char verb[64];
	struct xv_error err = {};
	struct xvt_snap before;
	uint16_t reason;
	struct xv_tx *tx;
	long objects;
	int want, ret;

	bring_to(_metadata, m, p->from);
	ASSERT_EQ(0, xv_txn_begin(m->t.ctx, 0, &tx));
	xvt_snap(_metadata, &m->t, &before);
	objects = mock_objects();
	snprintf(verb, sizeof(verb), "verbs/%s", p->verb);
	reason = mapped(raw, &want);
	p->add(m, tx);
	ASSERT_EQ(0, xvm_set(verb, "fail %d 1 %u", raw, p->skip));
	ret = xv_txn_commit(tx, &err);
	xvt_failed(_metadata, p->name, ret, &err, want, p->op,
		   err.group, err.attr, reason);
	EXPECT_EQ(raw, err.raw) {
		TH_LOG("%s: raw", p->name);
	}
	EXPECT_EQ(1, xvm_get(verb, "failed")) {
		TH_LOG("%s: %s was not asked", p->name, p->verb);
	}
	xvm_set(verb, "reset");
	xvt_same(_metadata, &m->t, &before, p->name);
	EXPECT_EQ(objects, mock_objects());
	if (p->from) {
		EXPECT_EQ(p->then, state_of(m)) {
			TH_LOG("%s: state", p->name);
		}
		EXPECT_EQ(p->then, m->qp.ring->state);
	}
	xv_txn_free(tx);
}

TEST_F(errnos, each_in_each_phase)
{
	unsigned int i, j, n = xvt_count(MOCK_ERRNOS);
	struct xv_tx *now = xv_now(self->m.t.ctx);
	struct xv_srq_info info;

	old_srq = (struct xv_srq){};
	ASSERT_EQ(0, xv_srq_create(now, &old_srq, XV_OPTS(xv_srq_opts,
				   .pd = &self->m.pd, .recv_wr = 8,
				   .limit = 2)));
	for (i = 0; i < ARRAY_SIZE(points); i++)
		for (j = 0; j < n; j++)
			fail_once(_metadata, &self->m, &points[i],
				  nth_errno(j));
	/* A limit that the driver did not take is not told either. */
	EXPECT_EQ(0, xv_srq_query(now, &old_srq, &info));
	EXPECT_EQ(2, info.limit);
	EXPECT_EQ(0, xv_srq_destroy(now, &old_srq));
}

/* What moderation says, and what the driver is told. */
TEST_F(errnos, moderation)
{
	static const struct {
		unsigned int count;
		unsigned int period;
	} values[] = {
		{ 4, 100 }, { 65535, 65535 }, { 0, 7 }, { 9, 0 }, { 0, 0 },
	};
	struct xvm *m = &self->m;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		unsigned int id = 0, num = 0, count = 99999, period = 99999;
		FILE *f;

		EXPECT_EQ(0, xv_cq_moderate(xv_now(m->t.ctx), &m->cq,
					    values[i].count,
					    values[i].period));
		EXPECT_EQ(i + 1, xvm_calls("modify_cq"));
		f = fopen(XVM_DIR "cqs", "re");
		ASSERT_NE(NULL, f);
		EXPECT_EQ(4, fscanf(f, "cq %u completions %u count %u period %u",
				    &id, &num, &count, &period));
		fclose(f);
		EXPECT_EQ(m->cq.info.restrack_id, id);
		EXPECT_EQ(values[i].count, count);
		EXPECT_EQ(values[i].period, period);
	}
	/* A batch may hold several. */
	{
		struct xv_tx *tx;
		unsigned int done = 0;

		ASSERT_EQ(0, xv_txn_begin(m->t.ctx, XV_TXN_F_BATCH, &tx));
		xv_cq_moderate(tx, &m->cq, 1, 2);
		xv_cq_moderate(tx, &m->cq, 3, 4);
		ASSERT_EQ(0, xvm_verb("modify_cq", "fail %d 1 1", EIO));
		done = xv_txn_commit(tx, NULL);
		EXPECT_EQ(1, done);
		xv_txn_free(tx);
	}
}

/* The state is the driver's own affair: what it does not tell is not known. */
TEST_F(errnos, query_of_a_queue_pair)
{
	struct xv_qp_info info = {};
	struct xvm *m = &self->m;

	ASSERT_EQ(0, xvm_verb("query_qp", "fail %d", EIO));
	EXPECT_EQ(0, xv_qp_query(xv_now(m->t.ctx), &m->qp, &info));
	EXPECT_EQ(1, xvm_get("verbs/query_qp", "failed"));
	EXPECT_EQ(XV_QPS_INIT, info.state);
}

/* An entry that the driver does not take stays where it is. */
TEST_F(errnos, posts)
{
	struct xvm *m = &self->m;
	unsigned int i, n = xvt_count(MOCK_ERRNOS);

	for (i = 0; i < n; i++) {
		/* This one is tried again, see posts_are_tried_again. */
		if (nth_errno(i) == ENOTCONN)
			continue;
		ASSERT_EQ(0, xvm_verb("post_recv", "fail %d", nth_errno(i)));
		EXPECT_EQ(-EIO, xvm_recv(m, &m->qp, 1));
		EXPECT_EQ(XV_R_DRIVER, m->qp.reason);
		EXPECT_EQ(1, xv_recvs_ready(&m->qp));
		EXPECT_EQ(0, xvm_get("objects", "recvs"));
		xv_unpost(&m->qp);
	}
	ASSERT_EQ(0, xv_qp_connect(xv_now(m->t.ctx), &m->qp, xvm_peer()));
	for (i = 0; i < n; i++) {
		if (nth_errno(i) == ENOTCONN)
			continue;
		ASSERT_EQ(0, xvm_verb("post_send", "fail %d", nth_errno(i)));
		EXPECT_EQ(-EIO, xvm_send(m, &m->qp, 1));
		EXPECT_EQ(XV_R_DRIVER, m->qp.reason);
		EXPECT_EQ(1, xv_sends_ready(&m->qp));
		EXPECT_EQ(0, xvm_get("objects", "sends"));
		xv_unpost(&m->qp);
	}
	EXPECT_EQ(16, xv_sends_free(&m->qp));
	EXPECT_EQ(16, xv_recvs_free(&m->qp));
}

/* The fourth of a chain of six is not taken; the queue is not left confused. */
TEST_F(errnos, posts_in_the_middle)
{
	struct xvm *m = &self->m;
	struct xv_send s;
	int i;

	ASSERT_EQ(0, xv_qp_connect(xv_now(m->t.ctx), &m->qp, xvm_peer()));
	for (i = 0; i < 6; i++) {
		xv_send_prep_send(&s, i, 0, xv_sge_at(&m->mr, m->buf, 8));
		ASSERT_EQ(0, xv_post_send(&m->qp, &s, 1));
	}
	ASSERT_EQ(0, xvm_verb("post_send", "fail %d 1 3", ENOMEM));
	EXPECT_EQ(-EIO, xv_submit(&m->qp));
	EXPECT_EQ(3, xv_sends_ready(&m->qp));
	EXPECT_EQ(3, xvm_get("objects", "sends"));
	ASSERT_EQ(0, xv_submit(&m->qp));
	EXPECT_EQ(6, xvm_get("objects", "sends"));
	/* Nobody wants to see them, but their slots come back with the last. */
	EXPECT_EQ(10, xv_sends_free(&m->qp));
	ASSERT_EQ(0, xvm_complete("send", m->qp.info.qp_num, 5, "SUCCESS"));
	XVM_EXPECT_NO_WC(&m->cq);
	EXPECT_EQ(16, xv_sends_free(&m->qp));
}

/* siw says so while a state change is under way: that passes. */
TEST_F(errnos, posts_are_tried_again)
{
	struct xvm *m = &self->m;

	ASSERT_EQ(0, xv_qp_connect(xv_now(m->t.ctx), &m->qp, xvm_peer()));
	ASSERT_EQ(0, xvm_verb("post_send", "fail %d 3", ENOTCONN));
	EXPECT_EQ(0, xvm_send(m, &m->qp, 1));
	EXPECT_EQ(3, xvm_get("verbs/post_send", "failed"));
	EXPECT_EQ(1, xvm_get("objects", "sends"));
	/* But not for ever. */
	ASSERT_EQ(0, xvm_verb("post_send", "fail %d 0", ENOTCONN));
	EXPECT_EQ(-EIO, xvm_send(m, &m->qp, 2));
	ASSERT_EQ(0, xvm_verb("post_send", "reset"));
	EXPECT_EQ(0, xv_submit(&m->qp));
	EXPECT_EQ(2, xvm_get("objects", "sends"));
	/* Receives likewise. */
	ASSERT_EQ(0, xvm_verb("post_recv", "fail %d 3", ENOTCONN));
	EXPECT_EQ(0, xvm_recv(m, &m->qp, 1));
	EXPECT_EQ(3, xvm_get("verbs/post_recv", "failed"));
	ASSERT_EQ(0, xvm_verb("post_recv", "fail %d 0", ENOTCONN));
	EXPECT_EQ(-EIO, xvm_recv(m, &m->qp, 2));
	ASSERT_EQ(0, xvm_verb("post_recv", "reset"));
	EXPECT_EQ(0, xv_submit(&m->qp));
	EXPECT_EQ(2, xvm_get("objects", "recvs"));
}

/* A sleeper whom nobody would wake is told so. */
TEST_F(errnos, completion_queue)
{
	struct xvm *m = &self->m;

	ASSERT_EQ(0, xvm_recv(m, &m->qp, 1));
	ASSERT_EQ(0, xvm_verb("req_notify_cq", "fail %d 0", EINVAL));
	EXPECT_EQ(-EIO, xv_wait(&m->cq, 1, -1));
	ASSERT_EQ(0, xvm_verb("req_notify_cq", "reset"));
	/* What can not be polled is still there afterwards. */
	ASSERT_EQ(0, xvm_go(m, &m->qp, XV_QPS_RTR));
	ASSERT_EQ(0, xvm_verb("poll_cq", "fail %d 0", EIO));
	ASSERT_EQ(0, xvm_complete("recv", m->qp.info.qp_num, 0, "SUCCESS"));
	XVM_EXPECT_NO_WC(&m->cq);
	/* The driver says all the time that there is something. */
	EXPECT_EQ(-ETIME, xv_wait(&m->cq, 1, xvt_ns(50)));
	ASSERT_EQ(0, xvm_verb("poll_cq", "reset"));
	xvt_expect_wc(_metadata, &m->cq, 1, XV_WC_SUCCESS);
}

/* ---- a device with limits ---- */

#define EXPECT_REFUSED(call, error, grp, at, why, limit)		\
do {									\
	struct xv_tx *now = xv_now(self->m.t.ctx);			\
	int xvm_ret = (call);						\
									\
	xvt_failed(_metadata, #call, xvm_ret, xv_txn_error(now), error,	\
		   0, grp, at, why);					\
	EXPECT_EQ((uint64_t)(limit), xv_txn_error(now)->detail);	\
} while (0)

/* Software devices can more than xverbs wants; this one can not. */
TEST_F(errnos, limits_of_the_device)
{
	struct xvm *m = &self->m;
	struct xv_cq cq = {};
	struct xv_mr mr = {};
	struct xv_qp qp = {};
	struct xv_qp_attr attr;
	struct xv_send s;

#define NEW_QP(...) \
	xv_qp_create(now, &qp, XV_OPTS(xv_qp_opts, .pd = &m->pd, \
				       .send_cq = &m->cq, __VA_ARGS__))
	EXPECT_REFUSED(NEW_QP(.send_wr = 513), EINVAL, XV_GRP_CAPS,
		       XV_CAPS_SEND_WR, XV_R_RANGE, 512);
	EXPECT_REFUSED(NEW_QP(.send_wr = 1, .recv_wr = 513), EINVAL,
		       XV_GRP_CAPS, XV_CAPS_RECV_WR, XV_R_RANGE, 512);
	EXPECT_REFUSED(NEW_QP(.send_wr = 1, .send_sge = 4), EINVAL,
		       XV_GRP_CAPS, XV_CAPS_SEND_SGE, XV_R_RANGE, 3);
	EXPECT_REFUSED(NEW_QP(.send_wr = 1, .recv_sge = 3), EINVAL,
		       XV_GRP_CAPS, XV_CAPS_RECV_SGE, XV_R_RANGE, 2);
	EXPECT_REFUSED(NEW_QP(.send_wr = 1, .port = 3), EINVAL,
		       XV_GRP_PATH, XV_PATH_PORT, XV_R_RANGE, 2);
	EXPECT_REFUSED(NEW_QP(.send_wr = 1, .pkey_index = 4), EINVAL,
		       XV_GRP_PATH, XV_PATH_PKEY_INDEX, XV_R_RANGE, 3);
	EXPECT_REFUSED(xv_cq_create(now, &cq, XV_OPTS(xv_cq_opts, .cqe = 2049)),
		       EINVAL, XV_GRP_CAPS, XV_CAPS_CQE, XV_R_RANGE, 2048);
	EXPECT_REFUSED(xv_cq_create(now, &cq, XV_OPTS(xv_cq_opts, .cqe = 1,
						      .comp_vector = 2)),
		       EINVAL, XV_GRP_CAPS, XV_CAPS_COMP_VECTOR, XV_R_RANGE, 1);
	EXPECT_REFUSED(xv_mr_create(now, &mr, XV_OPTS(xv_mr_opts, .pd = &m->pd,
				    .addr = m->buf, .length = 64,
				    .access = XV_ACCESS_LOCAL_WRITE |
					      XV_ACCESS_REMOTE_ATOMIC)),
		       EOPNOTSUPP, XV_GRP_ACCESS, XV_ACCESS_FLAGS,
		       XV_R_CAPABILITY, 0);
	attr = *xvm_peer();
	attr.path_mtu = 4096;
	attr.rd_atomic = 5;
	EXPECT_REFUSED(xv_qp_connect(now, &m->qp, &attr), EINVAL, XV_GRP_PATH,
		       XV_PATH_RD_ATOMIC, XV_R_RANGE, 4);
	attr.rd_atomic = 0;
	attr.dest_rd_atomic = 5;
	EXPECT_REFUSED(xv_qp_connect(now, &m->qp, &attr), EINVAL, XV_GRP_PATH,
		       XV_PATH_DEST_RD_ATOMIC, XV_R_RANGE, 4);
	ASSERT_EQ(0, xv_qp_connect(xv_now(m->t.ctx), &m->qp, xvm_peer()));
	/* It takes no inline data. */
	xv_send_prep(&s, XV_WR_SEND, 1, XV_SEND_SIGNALED);
	xv_send_set_inline(&s, "1234", 4);
	ASSERT_EQ(0, xv_post_send(&m->qp, &s, 1));
	EXPECT_EQ(-EOPNOTSUPP, xv_submit(&m->qp));
	EXPECT_EQ(XV_R_CAPABILITY, m->qp.reason);
	EXPECT_EQ(0, xvm_get("objects", "sends"));
	xv_unpost(&m->qp);
}

TEST_HARNESS_MAIN
