// SPDX-License-Identifier: GPL-2.0
/*
 * Transactions: all or nothing, for creates and for destroys.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include "xv_test.h"

#define NUM_SET	6

FIXTURE(txn) {
	struct xvt t;
	struct xvt_msg *m;
	struct xvt_snap before;
	uint8_t *buf;
};

FIXTURE_SETUP(txn)
{
	xvt_open(_metadata, &self->t);
	self->m = malloc(sizeof(*self->m));
	ASSERT_NE(NULL, self->m);
	self->buf = xvt_map(4 * XVT_PAGE, PROT_READ | PROT_WRITE);
	ASSERT_NE(NULL, self->buf);
	xvt_snap(_metadata, &self->t, &self->before);
}

FIXTURE_TEARDOWN(txn)
{
	xvt_teardown(_metadata);
	xvt_same(_metadata, &self->t, &self->before, "at the end");
	free(self->m);
	xvt_close(&self->t);
}

/* ---- the set: an event queue and all that a queue pair needs ---- */

struct set {
	uint32_t eventq, pd, mr, cq, qp;	/* operations, then handles */
	struct xv_qp_info qp_info;
	struct xv_mr_info mr_info;
	struct xv_cq_info cq_info;
	struct xv_recv recvs[2];
};

/* Operation @step of the set; references count from the start of the message. */
static void add_step(struct xvt_msg *m, struct set *s, uint8_t *buf,
		     unsigned int step)
{
	int i;

	switch (step) {
	case 0:
		s->eventq = xvt_op(m, XV_OBJ_EVENTQ, XV_M_CREATE);
		xvt_new(m);
		break;
	case 1:
		s->pd = xvt_op(m, XV_OBJ_PD, XV_M_CREATE);
		xvt_new(m);
		break;
	case 2:
		s->mr = xvt_op(m, XV_OBJ_MR, XV_M_CREATE);
		xvt_new(m);
		xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_PD, s->pd);
		xvt_u32(m, XV_GRP_ACCESS, XV_ACCESS_FLAGS, XVT_ALL_ACCESS);
		xvt_u64(m, XV_GRP_PARAMS, XV_PARAMS_ADDR, (uintptr_t)buf);
		xvt_u64(m, XV_GRP_PARAMS, XV_PARAMS_LENGTH, 2 * XVT_PAGE);
		xvt_out(m, &s->mr_info, sizeof(s->mr_info));
		break;
	case 3:
		s->cq = xvt_op(m, XV_OBJ_CQ, XV_M_CREATE);
		xvt_new(m);
		xvt_ref(m, XV_GRP_EVENTS, XV_EVENTS_QUEUE, s->eventq);
		xvt_u32(m, XV_GRP_CAPS, XV_CAPS_CQE, 16);
		xvt_out(m, &s->cq_info, sizeof(s->cq_info));
		break;
	case 4:
		s->qp = xvt_op(m, XV_OBJ_QP, XV_M_CREATE);
		xvt_new(m);
		xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_PD, s->pd);
		xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_SEND_CQ, s->cq);
		xvt_ref(m, XV_GRP_EVENTS, XV_EVENTS_QUEUE, s->eventq);
		xvt_u32(m, XV_GRP_CAPS, XV_CAPS_SEND_WR, 4);
		xvt_u32(m, XV_GRP_CAPS, XV_CAPS_RECV_WR, 4);
		xvt_out(m, &s->qp_info, sizeof(s->qp_info));
		break;
	case 5:
		memset(s->recvs, 0, sizeof(s->recvs));
		for (i = 0; i < 2; i++) {
			s->recvs[i].wr_id = i;
			s->recvs[i].num_sge = 1;
			s->recvs[i].sge[0].mr = XV_SGE_FROM_OP | s->mr;
			s->recvs[i].sge[0].length = 64;
		}
		xvt_op(m, XV_OBJ_QP, XV_M_POST_RECV);
		xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_HANDLE, s->qp);
		xvt_attr(m, XV_GRP_PARAMS, XV_PARAMS_RECVS, sizeof(s->recvs), 0,
			 (uintptr_t)s->recvs);
		break;
	}
}

static int make_set(struct xvt_msg *m, int fd, struct set *s, uint8_t *buf)
{
	unsigned int i;

	xvt_begin(m, 0);
	for (i = 0; i < NUM_SET; i++)
		add_step(m, s, buf, i);
	if (xvt_run(m, fd))
		return m->ret;
	s->eventq = xvt_made(m, s->eventq);
	s->pd = xvt_made(m, s->pd);
	s->mr = xvt_made(m, s->mr);
	s->cq = xvt_made(m, s->cq);
	s->qp = xvt_made(m, s->qp);
	return 0;
}

static void add_destroy(struct xvt_msg *m, uint16_t object, uint32_t handle)
{
	xvt_op(m, object, XV_M_DESTROY);
	xvt_handle(m, handle);
}

static int destroy_one(struct xvt_msg *m, int fd, uint16_t object,
		       uint32_t handle)
{
	xvt_begin(m, 0);
	add_destroy(m, object, handle);
	return xvt_run(m, fd);
}

static int query_pd(struct xvt_msg *m, int fd, uint32_t handle)
{
	struct xv_pd_info info;

	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_PD, XV_M_QUERY);
	xvt_handle(m, handle);
	xvt_out(m, &info, sizeof(info));
	return xvt_run(m, fd);
}

static uint32_t make_pd(struct xvt_msg *m, int fd)
{
	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_PD, XV_M_CREATE);
	xvt_new(m);
	return xvt_run(m, fd) ? 0 : xvt_made(m, 0);
}

static int destroy_set(struct xvt_msg *m, int fd, const struct set *s)
{
	xvt_begin(m, 0);
	add_destroy(m, XV_OBJ_PD, s->pd);
	add_destroy(m, XV_OBJ_MR, s->mr);
	add_destroy(m, XV_OBJ_CQ, s->cq);
	add_destroy(m, XV_OBJ_QP, s->qp);
	close(s->eventq);
	return xvt_run(m, fd);
}

TEST_F(txn, one_call_makes_everything)
{
	struct set s;
	struct xvt_snap now;

	ASSERT_EQ(0, make_set(self->m, self->t.fd, &s, self->buf));
	xvt_snap(_metadata, &self->t, &now);
	EXPECT_EQ(1, now.objects[XV_OBJ_EVENTQ]);
	EXPECT_EQ(1, now.objects[XV_OBJ_PD]);
	EXPECT_EQ(1, now.objects[XV_OBJ_MR]);
	EXPECT_EQ(1, now.objects[XV_OBJ_CQ]);
	EXPECT_EQ(1, now.objects[XV_OBJ_QP]);
	EXPECT_EQ(self->before.vmpin + 8, now.vmpin);
	EXPECT_EQ(self->before.fds + 1, now.fds);
	EXPECT_EQ(FD_CLOEXEC, fcntl(s.eventq, F_GETFD));
	EXPECT_EQ(s.pd, s.qp_info.pd);
	EXPECT_EQ(s.pd, s.mr_info.pd);
	EXPECT_EQ(s.cq, s.qp_info.send_cq);
	EXPECT_EQ(s.cq, s.qp_info.recv_cq);
	EXPECT_EQ(XV_QPS_INIT, s.qp_info.state);
	EXPECT_NE(0, s.mr_info.rkey);

	xvt_begin(self->m, 0);
	xvt_op(self->m, XV_OBJ_QP, XV_M_QUERY);
	xvt_handle(self->m, s.qp);
	xvt_out(self->m, &s.qp_info, sizeof(s.qp_info));
	ASSERT_EQ(0, xvt_run(self->m, self->t.fd));
	EXPECT_EQ(2, s.qp_info.recvs_outstanding);
	EXPECT_EQ(0, destroy_set(self->m, self->t.fd, &s));
}

/* What makes an operation fail, and in which phase. */
enum poison {
	POISON_PARSE,	/* 1: read and check */
	POISON_OUTPUT,	/* 1: output that cannot be written */
	POISON_GET,	/* 2: no such handle */
	POISON_MAKE,	/* 3: the device has a lower limit than the table */
	POISON_LAST,	/* 5: no such entry in the GID table */
	NUM_POISONS,
};

static void add_poison(struct xvt_msg *m, enum poison poison, const struct set *s)
{
	static struct xv_pd_info info;
	static struct xv_cq_info cq_info;
	static struct xv_qp_info qp_info;
	static uint8_t gid[16];

	switch (poison) {
	case POISON_PARSE:
		xvt_op(m, XV_OBJ_CQ, XV_M_CREATE);
		xvt_new(m);
		xvt_u32(m, XV_GRP_CAPS, XV_CAPS_CQE, 0);
		xvt_out(m, &cq_info, sizeof(cq_info));
		break;
	case POISON_OUTPUT:
		xvt_op(m, XV_OBJ_CQ, XV_M_CREATE);
		xvt_new(m);
		xvt_u32(m, XV_GRP_CAPS, XV_CAPS_CQE, 1);
		xvt_out(m, (void *)16, sizeof(cq_info));
		break;
	case POISON_GET:
		xvt_op(m, XV_OBJ_PD, XV_M_QUERY);
		xvt_handle(m, 0x7ffffff0);
		xvt_out(m, &info, sizeof(info));
		break;
	case POISON_MAKE:
		xvt_op(m, XV_OBJ_CQ, XV_M_CREATE);
		xvt_new(m);
		xvt_u32(m, XV_GRP_CAPS, XV_CAPS_CQE, XV_MAX_CQE);
		xvt_out(m, &cq_info, sizeof(cq_info));
		break;
	default:
		xvt_op(m, XV_OBJ_QP, XV_M_CREATE);
		xvt_new(m);
		xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_PD, s->pd);
		xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_SEND_CQ, s->cq);
		xvt_u32(m, XV_GRP_CAPS, XV_CAPS_SEND_WR, 1);
		xvt_u32(m, XV_GRP_CAPS, XV_CAPS_RECV_WR, 1);
		xvt_u32(m, XV_GRP_ADDRESS, XV_ADDRESS_QPN, 77);
		xvt_attr(m, XV_GRP_ADDRESS, XV_ADDRESS_GID, 16, 0,
			 (uintptr_t)gid);
		xvt_u32(m, XV_GRP_ADDRESS, XV_ADDRESS_PSN, 1);
		xvt_u32(m, XV_GRP_PATH, XV_PATH_SGID_INDEX, 255);
		xvt_out(m, &qp_info, sizeof(qp_info));
		break;
	}
}

TEST_F(txn, failure_at_each_operation_leaves_nothing)
{
	static const struct {
		int err;
		uint16_t group, attr, reason;
	} want[NUM_POISONS] = {
		{ EINVAL, XV_GRP_CAPS, XV_CAPS_CQE, XV_R_RANGE },
		{ EFAULT, XV_GRP_RESULT, XV_RESULT_INFO, XV_R_USER_MEMORY },
		{ ENOENT, XV_GRP_OBJECT, XV_OBJECT_HANDLE, XV_R_NO_HANDLE },
		{ EINVAL, XV_GRP_CAPS, XV_CAPS_CQE, XV_R_RANGE },
		{ EINVAL, XV_GRP_PATH, XV_PATH_SGID_INDEX, XV_R_NO_GID },
	};
	unsigned int where, i;
	enum poison poison;
	struct set s = {};
	char what[64];

	ASSERT_LT(self->t.info.max_cqe, XV_MAX_CQE);
	for (poison = 0; poison < NUM_POISONS; poison++) {
		/* The one that connects needs a PD and a CQ before it. */
		where = poison == POISON_LAST ? 4 : 0;
		for (; where <= NUM_SET; where++) {
			xvt_begin(self->m, 0);
			for (i = 0; i <= NUM_SET; i++) {
				if (i == where)
					add_poison(self->m, poison, &s);
				if (i < NUM_SET)
					add_step(self->m, &s, self->buf, i);
			}
			xvt_run(self->m, self->t.fd);
			snprintf(what, sizeof(what), "kind %d at %u", poison,
				 where);
			xvt_failed(_metadata, what, self->m->ret,
				   &self->m->err, want[poison].err, where,
				   want[poison].group, want[poison].attr,
				   want[poison].reason);
			xvt_same(_metadata, &self->t, &self->before, what);
		}
	}
	/* And nothing stays locked: the same without poison works. */
	ASSERT_EQ(0, make_set(self->m, self->t.fd, &s, self->buf));
	EXPECT_EQ(0, destroy_set(self->m, self->t.fd, &s));
}

TEST_F(txn, failure_unlocks_what_exists)
{
	struct set s;
	unsigned int i;
	enum poison poison;

	ASSERT_EQ(0, make_set(self->m, self->t.fd, &s, self->buf));
	for (poison = 0; poison < POISON_LAST; poison++) {
		xvt_begin(self->m, 0);
		add_destroy(self->m, XV_OBJ_QP, s.qp);
		add_destroy(self->m, XV_OBJ_MR, s.mr);
		add_destroy(self->m, XV_OBJ_CQ, s.cq);
		add_poison(self->m, poison, &s);
		EXPECT_GT(0, xvt_run(self->m, self->t.fd));
		for (i = 0; i < 3; i++)
			EXPECT_EQ(0, query_pd(self->m, self->t.fd, s.pd));
	}
	xvt_begin(self->m, 0);
	xvt_op(self->m, XV_OBJ_QP, XV_M_QUERY);
	xvt_handle(self->m, s.qp);
	xvt_out(self->m, &s.qp_info, sizeof(s.qp_info));
	EXPECT_EQ(0, xvt_run(self->m, self->t.fd));
	EXPECT_EQ(2, s.qp_info.recvs_outstanding);
	EXPECT_EQ(0, destroy_set(self->m, self->t.fd, &s));
}

/* ---- destroy ---- */

TEST_F(txn, destroy_set_in_any_order)
{
	static const uint16_t types[4] = {
		XV_OBJ_PD, XV_OBJ_MR, XV_OBJ_CQ, XV_OBJ_QP,
	};
	unsigned int a, b, c, i;
	struct set s;

	for (a = 0; a < 4; a++)
		for (b = 0; b < 4; b++)
			for (c = 0; c < 4; c++) {
				unsigned int order[4] = { a, b, c, 6 - a - b - c };

				if (a == b || a == c || b == c)
					continue;
				ASSERT_EQ(0, make_set(self->m, self->t.fd, &s,
						      self->buf));
				close(s.eventq);
				xvt_begin(self->m, 0);
				for (i = 0; i < 4; i++) {
					uint32_t handles[4] = {
						s.pd, s.mr, s.cq, s.qp,
					};

					add_destroy(self->m, types[order[i]],
						    handles[order[i]]);
				}
				ASSERT_EQ(0, xvt_run(self->m, self->t.fd));
				xvt_same(_metadata, &self->t, &self->before,
					 "after a set");
			}
}

static void expect_dependent(struct __test_metadata *_metadata,
			     struct xvt_msg *m, uint32_t op, uint16_t object,
			     uint32_t handle, uint32_t other_object,
			     uint32_t other)
{
	xvt_failed(_metadata, "dependent", m->ret, &m->err, EBUSY, op,
		   XV_GRP_OBJECT, XV_OBJECT_HANDLE, XV_R_DEPENDENT);
	EXPECT_TRUE((m->err.object == object && m->err.handle == handle) ||
		    (m->err.object == other_object && m->err.handle == other)) {
		TH_LOG("named object %u handle %u", m->err.object,
		       m->err.handle);
	}
}

TEST_F(txn, refused_destroy_names_the_dependent)
{
	struct xvt_msg *m = self->m;
	int fd = self->t.fd;
	struct set s;

	ASSERT_EQ(0, make_set(m, fd, &s, self->buf));
	destroy_one(m, fd, XV_OBJ_CQ, s.cq);
	expect_dependent(_metadata, m, 0, XV_OBJ_QP, s.qp, 0, 0);
	destroy_one(m, fd, XV_OBJ_PD, s.pd);
	expect_dependent(_metadata, m, 0, XV_OBJ_QP, s.qp, XV_OBJ_MR, s.mr);

	/* The set is not closed: one dependent stands outside. */
	xvt_begin(m, 0);
	add_destroy(m, XV_OBJ_MR, s.mr);
	add_destroy(m, XV_OBJ_PD, s.pd);
	xvt_run(m, fd);
	expect_dependent(_metadata, m, 1, XV_OBJ_QP, s.qp, 0, 0);
	xvt_begin(m, 0);
	add_destroy(m, XV_OBJ_QP, s.qp);
	add_destroy(m, XV_OBJ_CQ, s.cq);
	add_destroy(m, XV_OBJ_PD, s.pd);
	xvt_run(m, fd);
	expect_dependent(_metadata, m, 2, XV_OBJ_MR, s.mr, 0, 0);

	/* All of it is as usable as before. */
	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_QP, XV_M_QUERY);
	xvt_handle(m, s.qp);
	xvt_out(m, &s.qp_info, sizeof(s.qp_info));
	EXPECT_EQ(0, xvt_run(m, fd));
	EXPECT_EQ(2, s.qp_info.recvs_outstanding);
	EXPECT_EQ(XV_QPS_INIT, s.qp_info.state);

	/* A leaf may go alone, then its parent. */
	EXPECT_EQ(0, destroy_one(m, fd, XV_OBJ_QP, s.qp));
	EXPECT_EQ(0, destroy_one(m, fd, XV_OBJ_CQ, s.cq));
	EXPECT_EQ(0, destroy_one(m, fd, XV_OBJ_MR, s.mr));
	EXPECT_EQ(0, destroy_one(m, fd, XV_OBJ_PD, s.pd));
	destroy_one(m, fd, XV_OBJ_PD, s.pd);
	xvt_failed(_metadata, "gone", m->ret, &m->err, ENOENT, 0,
		   XV_GRP_OBJECT, XV_OBJECT_HANDLE, XV_R_NO_HANDLE);
	EXPECT_EQ(s.pd, m->err.handle);
	close(s.eventq);
}

/* A failed destroy must not harm traffic. */
TEST_F(txn, refused_destroy_leaves_traffic)
{
	struct xvt_pair p;
	int i;

	xvt_pair(_metadata, &self->t, &p, NULL);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(-EBUSY, xv_cq_destroy(xv_now(self->t.ctx), &p.cq[0]));
		EXPECT_EQ(-EBUSY, xv_pd_destroy(xv_now(self->t.ctx), &p.pd));
		xvt_fill(p.buf, 100, i);
		ASSERT_EQ(0, xvt_recv(&p, 1, 7, 1000, 100));
		ASSERT_EQ(0, xvt_send(&p, 0, 8, 0, 100));
		xvt_expect_wc(_metadata, &p.cq[1], 7, XV_WC_SUCCESS);
		xvt_expect_wc(_metadata, &p.cq[0], 8, XV_WC_SUCCESS);
		EXPECT_TRUE(xvt_filled(p.buf + 1000, 100, i));
	}
	EXPECT_EQ(0, xvt_pair_destroy(&p));
}

TEST_F(txn, conflict_with_itself)
{
	struct xv_pd_info info[2];
	struct xvt_msg *m = self->m;
	struct xv_qp_info qp_info;
	int fd = self->t.fd;
	struct set s;

	ASSERT_EQ(0, make_set(m, fd, &s, self->buf));
	xvt_begin(m, 0);
	add_destroy(m, XV_OBJ_QP, s.qp);
	add_destroy(m, XV_OBJ_QP, s.qp);
	xvt_run(m, fd);
	xvt_failed(_metadata, "twice", m->ret, &m->err, EINVAL, 1,
		   XV_GRP_OBJECT, XV_OBJECT_HANDLE, XV_R_SELF_CONFLICT);
	EXPECT_EQ(s.qp, m->err.handle);
	EXPECT_EQ(XV_OBJ_QP, m->err.object);

	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_QP, XV_M_QUERY);
	xvt_handle(m, s.qp);
	xvt_out(m, &qp_info, sizeof(qp_info));
	add_destroy(m, XV_OBJ_QP, s.qp);
	EXPECT_EQ(-EINVAL, xvt_run(m, fd));
	EXPECT_EQ(XV_R_SELF_CONFLICT, m->err.reason);

	/* A new object that uses what the same call destroys. */
	xvt_begin(m, 0);
	add_destroy(m, XV_OBJ_QP, s.qp);
	add_destroy(m, XV_OBJ_CQ, s.cq);
	xvt_op(m, XV_OBJ_QP, XV_M_CREATE);
	xvt_new(m);
	xvt_handle(m, s.pd);
	xvt_get(m, 2, XV_GRP_OBJECT, XV_OBJECT_HANDLE)[1].id = XV_OBJECT_PD;
	xvt_attr(m, XV_GRP_OBJECT, XV_OBJECT_SEND_CQ, 4, 0, s.cq);
	xvt_u32(m, XV_GRP_CAPS, XV_CAPS_SEND_WR, 1);
	xvt_u32(m, XV_GRP_CAPS, XV_CAPS_RECV_WR, 1);
	xvt_out(m, &qp_info, sizeof(qp_info));
	EXPECT_EQ(-EINVAL, xvt_run(m, fd));
	EXPECT_EQ(XV_R_SELF_CONFLICT, m->err.reason);
	EXPECT_EQ(s.cq, m->err.handle);

	/* Asking twice is no conflict. */
	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_PD, XV_M_QUERY);
	xvt_handle(m, s.pd);
	xvt_out(m, &info[0], sizeof(info[0]));
	xvt_op(m, XV_OBJ_PD, XV_M_QUERY);
	xvt_handle(m, s.pd);
	xvt_out(m, &info[1], sizeof(info[1]));
	EXPECT_EQ(0, xvt_run(m, fd));
	EXPECT_EQ(2, info[0].num_dependents);
	EXPECT_EQ(2, info[1].num_dependents);
	EXPECT_EQ(0, destroy_set(m, fd, &s));
}

TEST_F(txn, handles_are_not_used_again_soon)
{
	unsigned int n = xvt_count(TXN_HANDLES);
	uint32_t last = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		uint32_t pd = make_pd(self->m, self->t.fd);

		ASSERT_NE(0, pd);
		EXPECT_LT(last, pd);
		last = pd;
		ASSERT_EQ(0, destroy_one(self->m, self->t.fd, XV_OBJ_PD, pd));
		EXPECT_EQ(-ENOENT, query_pd(self->m, self->t.fd, pd));
	}
}

TEST_F(txn, create_query_and_destroy_share_a_call)
{
	struct xvt_msg *m = self->m;
	struct xv_pd_info info = { .num_dependents = 77 };
	int fd = self->t.fd;
	uint32_t old, kept, made;
	struct set s;

	ASSERT_EQ(0, make_set(m, fd, &s, self->buf));
	old = make_pd(m, fd);
	kept = s.pd;
	ASSERT_NE(0, old);
	xvt_begin(m, 0);
	add_destroy(m, XV_OBJ_PD, old);
	xvt_op(m, XV_OBJ_PD, XV_M_CREATE);
	xvt_new(m);
	xvt_op(m, XV_OBJ_PD, XV_M_QUERY);
	xvt_handle(m, kept);
	xvt_out(m, &info, sizeof(info));
	add_destroy(m, XV_OBJ_QP, s.qp);
	ASSERT_EQ(0, xvt_run(m, fd));
	made = xvt_made(m, 1);
	/* The answer is from before the commit. */
	EXPECT_EQ(2, info.num_dependents);
	EXPECT_EQ(-ENOENT, query_pd(m, fd, old));
	EXPECT_EQ(0, query_pd(m, fd, made));
	EXPECT_EQ(0, destroy_one(m, fd, XV_OBJ_PD, made));
	xvt_begin(m, 0);
	add_destroy(m, XV_OBJ_PD, s.pd);
	add_destroy(m, XV_OBJ_CQ, s.cq);
	add_destroy(m, XV_OBJ_MR, s.mr);
	EXPECT_EQ(0, xvt_run(m, fd));
	close(s.eventq);
}

TEST_F(txn, sixty_four_at_once)
{
	struct xvt_msg *m = self->m;
	uint32_t handles[XV_MAX_OPS];
	struct xvt_snap now;
	unsigned int i;

	xvt_begin(m, 0);
	for (i = 0; i < XV_MAX_OPS; i++) {
		xvt_op(m, XV_OBJ_PD, XV_M_CREATE);
		xvt_new(m);
	}
	ASSERT_EQ(0, xvt_run(m, self->t.fd));
	for (i = 0; i < XV_MAX_OPS; i++)
		handles[i] = xvt_made(m, i);
	xvt_snap(_metadata, &self->t, &now);
	EXPECT_EQ(XV_MAX_OPS, now.objects[XV_OBJ_PD]);
	xvt_begin(m, 0);
	for (i = 0; i < XV_MAX_OPS; i++)
		add_destroy(m, XV_OBJ_PD, handles[i]);
	EXPECT_EQ(0, xvt_run(m, self->t.fd));
}

TEST_F(txn, no_free_descriptor)
{
	struct rlimit old, lim;
	struct set s;

	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &old));
	lim = old;
	/* As many as are open; descriptors are dense here. */
	lim.rlim_cur = self->before.fds;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &lim));
	make_set(self->m, self->t.fd, &s, self->buf);
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &old));
	xvt_failed(_metadata, "descriptor", self->m->ret, &self->m->err,
		   EMFILE, 0, 0, 0, XV_R_FILES);
	xvt_same(_metadata, &self->t, &self->before, "descriptor");
}

/* ---- copy-out ---- */

TEST_F(txn, outputs_that_cannot_be_written)
{
	struct xvt_msg *m = self->m;
	uint8_t *none = xvt_map(XVT_PAGE, PROT_NONE);
	uint8_t *ro = xvt_map(XVT_PAGE, PROT_READ);
	uint8_t *edge = xvt_map(2 * XVT_PAGE, PROT_READ | PROT_WRITE);
	struct {
		const char *what;
		void *ptr;
	} bad[] = {
		{ "PROT_NONE", none },
		{ "read-only", ro },
		{ "not mapped", (void *)8 },
		{ "across an edge", edge + XVT_PAGE - 8 },
		{ "kernel", (void *)0xffff888000000000ULL },
		{ "last byte", (void *)~0ULL },
	};
	unsigned int i, step;
	struct set s;

	ASSERT_EQ(0, munmap(edge + XVT_PAGE, XVT_PAGE));
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		for (step = 2; step <= 4; step++) {
			unsigned int k;

			xvt_begin(m, 0);
			for (k = 0; k < NUM_SET; k++) {
				add_step(m, &s, self->buf, k);
				if (k == step)
					xvt_get(m, k, XV_GRP_RESULT,
						XV_RESULT_INFO)->data =
						(uintptr_t)bad[i].ptr;
			}
			xvt_run(m, self->t.fd);
			xvt_failed(_metadata, bad[i].what, m->ret, &m->err,
				   EFAULT, step, XV_GRP_RESULT, XV_RESULT_INFO,
				   XV_R_USER_MEMORY);
			xvt_same(_metadata, &self->t, &self->before,
				 bad[i].what);
		}
	munmap(none, XVT_PAGE);
	munmap(ro, XVT_PAGE);
	munmap(edge, XVT_PAGE);
}

/* New handles are written into the message itself. */
TEST_F(txn, message_that_cannot_be_written)
{
	struct xvt_msg *m = self->m;
	void *page = xvt_map(XVT_PAGE, PROT_READ | PROT_WRITE);
	uint32_t pd;
	int ret;

	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_PD, XV_M_CREATE);
	xvt_new(m);
	m->txn.length = m->len;
	m->txn.error_ptr = (uintptr_t)&m->err;
	memcpy(page, &m->txn, m->len);
	ASSERT_EQ(0, mprotect(page, XVT_PAGE, PROT_READ));
	ret = ioctl(self->t.fd, XV_IOC_TXN, page);
	xvt_failed(_metadata, "create", ret ? -errno : 0, &m->err, EFAULT, 0,
		   XV_GRP_OBJECT, XV_OBJECT_HANDLE, XV_R_USER_MEMORY);
	xvt_same(_metadata, &self->t, &self->before, "create");

	/* One that has nothing to write back does not mind. */
	ASSERT_EQ(0, mprotect(page, XVT_PAGE, PROT_READ | PROT_WRITE));
	pd = make_pd(m, self->t.fd);
	xvt_begin(m, 0);
	add_destroy(m, XV_OBJ_PD, pd);
	m->txn.length = m->len;
	memcpy(page, &m->txn, m->len);
	ASSERT_EQ(0, mprotect(page, XVT_PAGE, PROT_READ));
	EXPECT_EQ(0, ioctl(self->t.fd, XV_IOC_TXN, page));
	munmap(page, XVT_PAGE);
}

/* ---- batches ---- */

TEST_F(txn, batch_stops_at_the_first_failure)
{
	struct xvt_msg *m = self->m;
	struct xv_qp_info info;
	struct xvt_pair p[2];
	int fd = self->t.fd;
	struct {
		uint32_t qp;
		uint32_t state;
	} change[4];
	int i, bad;

	for (i = 0; i < 2; i++)
		xvt_pair(_metadata, &self->t, &p[i],
			 &(struct xvt_pair_opts){ .no_connect = true });
	for (bad = 0; bad <= 4; bad++) {
		xvt_begin(m, XV_TXN_F_BATCH);
		for (i = 0; i < 4; i++) {
			change[i].qp = p[i / 2].qp[i % 2].obj.handle;
			/* From INIT nothing leads to RTS but RTR. */
			change[i].state = i == bad ? XV_QPS_RTS : XV_QPS_ERR;
			xvt_op(m, XV_OBJ_QP, XV_M_MODIFY);
			xvt_handle(m, change[i].qp);
			xvt_u32(m, XV_GRP_PARAMS, XV_PARAMS_STATE,
				change[i].state);
		}
		xvt_run(m, fd);
		EXPECT_EQ(bad ? bad : -EINVAL, m->ret);
		if (bad < 4) {
			EXPECT_EQ(EINVAL, m->err.err);
			EXPECT_EQ(bad, m->err.op);
			EXPECT_EQ(XV_R_STATE, m->err.reason);
			EXPECT_EQ(XV_GRP_PARAMS, m->err.group);
			EXPECT_EQ(XV_PARAMS_STATE, m->err.attr);
		}
		/* The earlier ones stand, the later ones were not tried. */
		for (i = 0; i < 4; i++) {
			struct xv_qp_attr attr = { .size = sizeof(attr) };
			struct xv_qp *qp = &p[i / 2].qp[i % 2];

			ASSERT_EQ(0, xv_qp_query(xv_now(self->t.ctx), qp, &info));
			EXPECT_EQ(i < bad ? XV_QPS_ERR : XV_QPS_INIT, info.state);
			attr.state = XV_QPS_RESET;
			ASSERT_EQ(0, xv_qp_modify(xv_now(self->t.ctx), qp, &attr));
			attr.state = XV_QPS_INIT;
			ASSERT_EQ(0, xv_qp_modify(xv_now(self->t.ctx), qp, &attr));
		}
	}
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, xvt_pair_destroy(&p[i]));
}

TEST_F(txn, batch_takes_changes_only)
{
	struct xvt_msg *m = self->m;
	struct xv_pd_info info;

	xvt_begin(m, XV_TXN_F_BATCH);
	xvt_op(m, XV_OBJ_PD, XV_M_CREATE);
	xvt_new(m);
	xvt_run(m, self->t.fd);
	xvt_failed(_metadata, "create", m->ret, &m->err, EINVAL, 0, 0, 0,
		   XV_R_CLASS);
	xvt_begin(m, XV_TXN_F_BATCH);
	xvt_op(m, XV_OBJ_PD, XV_M_QUERY);
	xvt_handle(m, 1);
	xvt_out(m, &info, sizeof(info));
	xvt_run(m, self->t.fd);
	xvt_failed(_metadata, "query", m->ret, &m->err, EINVAL, 0, 0, 0,
		   XV_R_CLASS);
	xvt_begin(m, XV_TXN_F_BATCH);
	add_destroy(m, XV_OBJ_PD, 1);
	xvt_run(m, self->t.fd);
	xvt_failed(_metadata, "destroy", m->ret, &m->err, EINVAL, 0, 0, 0,
		   XV_R_CLASS);
}

/* ---- threads ---- */

struct racer {
	pthread_t thread;
	struct xvt_msg *m;
	int fd;
	uint32_t pd;		/* what to destroy */
	unsigned int round;	/* written by the main thread */
	unsigned int done;	/* written by the racer */
	bool stop;
	int ret;
	uint16_t reason;
};

/* Spinning, not sleeping: both shall begin at the same moment. */
static void wait_for_round(const unsigned int *p, unsigned int round)
{
	while (__atomic_load_n(p, __ATOMIC_ACQUIRE) < round)
		sched_yield();
}

static void *race_destroy(void *arg)
{
	struct racer *r = arg;
	unsigned int round;

	for (round = 1;; round++) {
		wait_for_round(&r->round, round);
		if (r->stop)
			return NULL;
		r->ret = destroy_one(r->m, r->fd, XV_OBJ_PD, r->pd);
		r->reason = r->m->err.reason;
		__atomic_store_n(&r->done, round, __ATOMIC_RELEASE);
	}
}

TEST_F(txn, one_of_two_destroys_wins)
{
	unsigned int n = xvt_count(TXN_RACE_DESTROY);
	unsigned int i, busy = 0, won[2] = {};
	struct racer r = { .fd = self->t.fd };

	r.m = malloc(sizeof(*r.m));
	ASSERT_NE(NULL, r.m);
	ASSERT_EQ(0, pthread_create(&r.thread, NULL, race_destroy, &r));
	for (i = 1; i <= n; i++) {
		uint32_t pd = make_pd(self->m, self->t.fd);
		uint16_t reason;
		int ret;

		EXPECT_NE(0, pd);
		r.pd = pd;
		__atomic_store_n(&r.round, i, __ATOMIC_RELEASE);
		/* Now this side first, now that one. */
		if (i & 1)
			sched_yield();
		ret = destroy_one(self->m, self->t.fd, XV_OBJ_PD, pd);
		reason = self->m->err.reason;
		wait_for_round(&r.done, i);
		EXPECT_EQ(1, !ret + !r.ret);
		EXPECT_TRUE(!ret || ret == -ENOENT ||
			    (ret == -EBUSY && reason == XV_R_LOCK_CONFLICT));
		EXPECT_TRUE(!r.ret || r.ret == -ENOENT ||
			    (r.ret == -EBUSY && r.reason == XV_R_LOCK_CONFLICT));
		won[0] += !ret;
		won[1] += !r.ret;
		busy += ret == -EBUSY || r.ret == -EBUSY;
		EXPECT_EQ(-ENOENT, query_pd(self->m, self->t.fd, pd));
	}
	TH_LOG("%u and %u won, %u times EBUSY", won[0], won[1], busy);
	r.stop = true;
	__atomic_store_n(&r.round, n + 1, __ATOMIC_RELEASE);
	pthread_join(r.thread, NULL);
	free(r.m);
}

static int make_mr(struct xvt_msg *m, int fd, uint32_t pd, void *buf)
{
	struct xv_mr_info info;

	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_MR, XV_M_CREATE);
	xvt_new(m);
	xvt_attr(m, XV_GRP_OBJECT, XV_OBJECT_PD, 4, 0, pd);
	xvt_u64(m, XV_GRP_PARAMS, XV_PARAMS_ADDR, (uintptr_t)buf);
	xvt_u64(m, XV_GRP_PARAMS, XV_PARAMS_LENGTH, 8);
	xvt_out(m, &info, sizeof(info));
	return xvt_run(m, fd);
}

struct mixer {
	pthread_t thread;
	int fd;
	uint32_t *pd;		/* shared: the PD of the moment */
	void *buf;
	unsigned int rounds;
	unsigned int done, bad;
	int first_bad;
	int kind;
};

/* Make and destroy children of a PD that another thread replaces. */
static void *mix(void *arg)
{
	struct mixer *x = arg;
	struct xvt_msg *m = malloc(sizeof(*m));
	unsigned int i;
	int ret;

	for (i = 0; i < x->rounds; i++) {
		uint32_t pd = __atomic_load_n(x->pd, __ATOMIC_RELAXED);

		switch (x->kind) {
		case 0:
			ret = make_mr(m, x->fd, pd, x->buf);
			if (!ret) {
				/* Nobody else knows it. */
				ret = destroy_one(m, x->fd, XV_OBJ_MR,
						  xvt_made(m, 0));
				x->bad += ret != 0;
				x->done++;
			}
			break;
		case 1:
			ret = query_pd(m, x->fd, pd);
			x->done += !ret;
			break;
		default:
			ret = destroy_one(m, x->fd, XV_OBJ_PD, pd);
			if (!ret) {
				x->done++;
				pd = make_pd(m, x->fd);
				x->bad += !pd;
				__atomic_store_n(x->pd, pd, __ATOMIC_RELAXED);
			}
		}
		if (ret && !x->first_bad)
			x->first_bad = ret;
		x->bad += ret && ret != -ENOENT && ret != -EBUSY;
		/* Let the others have a word. */
		if (i % 4 == x->kind)
			sched_yield();
	}
	free(m);
	return NULL;
}

TEST_F(txn, threads_create_query_and_destroy)
{
	struct mixer x[4] = {};
	uint32_t pd = make_pd(self->m, self->t.fd);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(x); i++) {
		x[i].fd = self->t.fd;
		x[i].pd = &pd;
		x[i].buf = self->buf;
		x[i].rounds = xvt_count(TXN_RACE_MIXED);
		x[i].kind = i % 3;
		ASSERT_EQ(0, pthread_create(&x[i].thread, NULL, mix, &x[i]));
	}
	for (i = 0; i < ARRAY_SIZE(x); i++) {
		pthread_join(x[i].thread, NULL);
		EXPECT_EQ(0, x[i].bad);
		TH_LOG("thread of kind %d: %u of %u succeeded, first error %d",
		       x[i].kind, x[i].done, x[i].rounds, x[i].first_bad);
	}
	EXPECT_EQ(0, destroy_one(self->m, self->t.fd, XV_OBJ_PD, pd));
}

TEST_HARNESS_MAIN
