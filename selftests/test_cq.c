// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues: sizes and what is told about them.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include "xv_test.h"

FIXTURE(cq) {
	struct xvt t;
	struct xvt_snap before;
	struct xv_tx *now;
};

FIXTURE_SETUP(cq)
{
	xvt_open(_metadata, &self->t);
	self->now = xv_now(self->t.ctx);
	xvt_snap(_metadata, &self->t, &self->before);
}

FIXTURE_TEARDOWN(cq)
{
	xvt_teardown(_metadata);
	xvt_same(_metadata, &self->t, &self->before, "at the end");
	xvt_close(&self->t);
}

TEST_F(cq, sizes)
{
	static const uint32_t sizes[] = { 1, 2, 3, 127, 128, 129, 4096 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct xv_cq_info info;
		struct xv_cq cq = {};

		ASSERT_EQ(0, xv_cq_create(self->now, &cq,
				XV_OPTS(xv_cq_opts, .cqe = sizes[i])));
		EXPECT_EQ(sizes[i], cq.info.cqe);
		EXPECT_LE(sizes[i], cq.info.entries);
		EXPECT_EQ(0, cq.info.entries & (cq.info.entries - 1));
		EXPECT_GT(2 * sizes[i], cq.info.entries);
		EXPECT_EQ(0, cq.info.attached);
		EXPECT_EQ(0, cq.info.comp_vector);
		EXPECT_EQ(0, cq.info.reserved);
		EXPECT_LE(sizeof(struct xv_cq_ring) +
			  cq.info.entries * sizeof(struct xv_wc),
			  cq.info.area.length);
		EXPECT_EQ(0, cq.info.area.offset % 128);
		EXPECT_EQ(0, cq.ring->tail);
		EXPECT_EQ(0, cq.ring->head);
		EXPECT_EQ(0, cq.ring->flags);
		memset(&info, 0xAA, sizeof(info));
		ASSERT_EQ(0, xv_cq_query(self->now, &cq, &info));
		EXPECT_EQ(0, memcmp(&info, &cq.info, sizeof(info)));
		ASSERT_EQ(0, xv_cq_destroy(self->now, &cq));
	}
}

TEST_F(cq, limits)
{
	struct {
		uint32_t cqe, comp_vector;
		uint16_t attr;
		uint64_t detail;
	} bad[] = {
		{ 0, 0, XV_CAPS_CQE, 1 },
		{ XV_MAX_CQE + 1, 0, XV_CAPS_CQE, XV_MAX_CQE },
		{ ~0U, 0, XV_CAPS_CQE, XV_MAX_CQE },
		{ self->t.info.max_cqe + 1, 0, XV_CAPS_CQE,
		  self->t.info.max_cqe },
		{ 1, self->t.info.num_comp_vectors, XV_CAPS_COMP_VECTOR,
		  self->t.info.num_comp_vectors - 1 },
		{ 1, 0x7fffffff, XV_CAPS_COMP_VECTOR,
		  self->t.info.num_comp_vectors - 1 },
		{ 1, ~0U, XV_CAPS_COMP_VECTOR, 0x7fffffff },
	};
	struct xv_cq cq = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		const struct xv_error *err = xv_txn_error(self->now);
		int ret = xv_cq_create(self->now, &cq, XV_OPTS(xv_cq_opts,
				       .cqe = bad[i].cqe,
				       .comp_vector = bad[i].comp_vector));

		xvt_failed(_metadata, "limit", ret, err, EINVAL, 0,
			   XV_GRP_CAPS, bad[i].attr, XV_R_RANGE);
		/* The device's own limit may be the lower one. */
		if (bad[i].detail != XV_MAX_CQE)
			EXPECT_EQ(bad[i].detail, err->detail);
		xvt_same(_metadata, &self->t, &self->before, "limit");
	}
	ASSERT_EQ(0, xv_cq_create(self->now, &cq, XV_OPTS(xv_cq_opts,
				  .cqe = self->t.info.max_cqe,
				  .comp_vector =
				  self->t.info.num_comp_vectors - 1)));
	EXPECT_EQ(self->t.info.num_comp_vectors - 1, cq.info.comp_vector);
	ASSERT_EQ(0, xv_cq_destroy(self->now, &cq));
}

/* Areas are mapped as a whole, shared, and by the file they belong to. */
TEST_F(cq, mapping)
{
	struct xv_cq cq = {};
	struct xv_area *a = &cq.info.area;
	struct {
		const char *what;
		int64_t offset;
		int64_t length;
		int prot, flags;
	} bad[] = {
		{ "private", 0, 0, PROT_READ | PROT_WRITE, MAP_PRIVATE },
		{ "executable", 0, 0, PROT_READ | PROT_EXEC, MAP_SHARED },
		{ "too short", 0, -(int64_t)XVT_PAGE, PROT_READ, MAP_SHARED },
		{ "too long", 0, XVT_PAGE, PROT_READ, MAP_SHARED },
		{ "a part", XVT_PAGE, -(int64_t)XVT_PAGE, PROT_READ,
		  MAP_SHARED },
		{ "no such area", 1LL << 28, 0, PROT_READ, MAP_SHARED },
		{ "far away", 1LL << 50, 0, PROT_READ, MAP_SHARED },
		{ "area 0", -(1LL << 28), 0, PROT_READ, MAP_SHARED },
	};
	unsigned int i;
	struct xvt t2;
	void *p;

	ASSERT_EQ(0, xv_cq_create(self->now, &cq,
				  XV_OPTS(xv_cq_opts, .cqe = 1)));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		p = mmap(NULL, a->mmap_length + bad[i].length, bad[i].prot,
			 bad[i].flags, self->t.fd,
			 a->mmap_offset + bad[i].offset);
		EXPECT_EQ(MAP_FAILED, p) {
			TH_LOG("%s", bad[i].what);
		}
		EXPECT_EQ(EINVAL, errno);
	}
	/* Another file has no such area. */
	xvt_open(_metadata, &t2);
	p = mmap(NULL, a->mmap_length, PROT_READ, MAP_SHARED, t2.fd,
		 a->mmap_offset);
	EXPECT_EQ(MAP_FAILED, p);
	xvt_close(&t2);

	/* It cannot be made executable, and what was dropped comes back. */
	p = mmap(NULL, a->mmap_length, PROT_READ | PROT_WRITE, MAP_SHARED,
		 self->t.fd, a->mmap_offset);
	ASSERT_NE(MAP_FAILED, p);
	EXPECT_EQ(-1, mprotect(p, a->mmap_length, PROT_READ | PROT_EXEC));
	((volatile uint8_t *)p)[a->mmap_length - 1] = 7;
	EXPECT_EQ(0, madvise(p, a->mmap_length, MADV_DONTNEED));
	EXPECT_EQ(7, ((volatile uint8_t *)p)[a->mmap_length - 1]);
	/* It does not grow. */
	EXPECT_EQ(MAP_FAILED, mremap(p, a->mmap_length, 2 * a->mmap_length,
				     MREMAP_MAYMOVE));
	EXPECT_EQ(0, munmap(p, a->mmap_length));
	ASSERT_EQ(0, xv_cq_destroy(self->now, &cq));
}

/* Rings do not lie on each other. */
TEST_F(cq, rings_are_apart)
{
	struct xv_cq cq[40] = {};
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(cq); i++)
		ASSERT_EQ(0, xv_cq_create(self->now, &cq[i],
				XV_OPTS(xv_cq_opts, .cqe = 1 + i * 7)));
	for (i = 0; i < ARRAY_SIZE(cq); i++)
		for (k = 0; k < i; k++) {
			struct xv_area *a = &cq[i].info.area;
			struct xv_area *b = &cq[k].info.area;

			EXPECT_TRUE(a->mmap_offset != b->mmap_offset ||
				    a->offset + a->length <= b->offset ||
				    b->offset + b->length <= a->offset);
		}
	for (i = 0; i < ARRAY_SIZE(cq); i++)
		ASSERT_EQ(0, xv_cq_destroy(self->now, &cq[i]));
}

/* rxe has no moderation, and says so; nothing changes. */
TEST_F(cq, moderation)
{
	const struct xv_error *err = xv_txn_error(self->now);
	struct xv_cq cq = {};
	struct {
		unsigned int count, period;
		uint16_t attr;
	} bad[] = {
		{ 65536, 0, XV_PARAMS_CQ_COUNT },
		{ ~0U, 1, XV_PARAMS_CQ_COUNT },
		{ 0, 65536, XV_PARAMS_CQ_PERIOD },
	};
	unsigned int i;

	ASSERT_EQ(0, xv_cq_create(self->now, &cq,
				  XV_OPTS(xv_cq_opts, .cqe = 4)));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		xvt_failed(_metadata, "moderation",
			   xv_cq_moderate(self->now, &cq, bad[i].count,
					  bad[i].period), err, EINVAL, 0,
			   XV_GRP_PARAMS, bad[i].attr, XV_R_RANGE);
		EXPECT_EQ(65535, err->detail);
	}
	xvt_failed(_metadata, "moderation",
		   xv_cq_moderate(self->now, &cq, 16, 100), err, EOPNOTSUPP, 0,
		   0, 0, XV_R_CAPABILITY);
	EXPECT_EQ(EOPNOTSUPP, err->raw);
	ASSERT_EQ(0, xv_cq_destroy(self->now, &cq));
}

/* ---- solicited receives ---- */

/* Only the CQs have events: nobody but the test arms them. */
struct solicited {
	struct xvt_pair p;
	struct xv_eventq eq;
	struct xv_cq cq;	/* of the receives */
	struct xv_qp qp;
};

static void solicited_begin(struct __test_metadata *_metadata, struct xvt *t,
			    struct solicited *s)
{
	struct xv_tx *now = xv_now(t->ctx);
	struct xv_qp_attr a;

	memset(s, 0, sizeof(*s));
	xvt_pair(_metadata, t, &s->p, &(struct xvt_pair_opts){
		 .no_connect = true });
	ASSERT_EQ(0, xv_eventq_create(now, &s->eq));
	ASSERT_EQ(0, xv_cq_create(now, &s->cq, XV_OPTS(xv_cq_opts, .cqe = 64,
		  .eventq = &s->eq, .cookie = 5)));
	ASSERT_EQ(0, xv_qp_create(now, &s->qp, XV_OPTS(xv_qp_opts,
		  .pd = &s->p.pd, .send_cq = &s->cq, .send_wr = 4,
		  .recv_wr = 32)));
	a = xvt_peer(t, &s->qp);
	ASSERT_EQ(0, xv_qp_connect(now, &s->p.qp[0], &a));
	a = xvt_peer(t, &s->p.qp[0]);
	ASSERT_EQ(0, xv_qp_connect(now, &s->qp, &a));
}

static void solicited_end(struct __test_metadata *_metadata, struct xvt *t,
			  struct solicited *s)
{
	EXPECT_EQ(0, xv_qp_destroy(xv_now(t->ctx), &s->qp));
	EXPECT_EQ(0, xv_cq_destroy(xv_now(t->ctx), &s->cq));
	xv_eventq_close(&s->eq);
	EXPECT_EQ(0, xvt_pair_destroy(&s->p));
}

/* A message that is there when this returns, for all that the sender knows. */
static void solicited_send(struct __test_metadata *_metadata,
			   struct solicited *s, uint64_t wr_id, uint16_t flags)
{
	struct xv_send e;
	struct xv_recv r;

	xv_recv_prep(&r, wr_id);
	xv_recv_add_sge(&r, xvt_sge(&s->p, 4096, 64));
	ASSERT_EQ(0, xv_post_recv(&s->qp, &r, 1));
	ASSERT_EQ(0, xv_submit(&s->qp));
	xv_send_prep_send(&e, wr_id, XV_SEND_SIGNALED | flags,
			  xvt_sge(&s->p, 0, 64));
	ASSERT_EQ(0, xv_post_send(&s->p.qp[0], &e, 1));
	ASSERT_EQ(0, xv_submit(&s->p.qp[0]));
	xvt_expect_wc(_metadata, &s->p.cq[0], wr_id, XV_WC_SUCCESS);
}

static void expect_no_event(struct __test_metadata *_metadata,
			    struct xv_eventq *eq)
{
	struct pollfd pfd = { .fd = eq->fd, .events = POLLIN };

	EXPECT_EQ(0, poll(&pfd, 1, xvt_ns(100) / 1000000));
}

static void expect_one_event(struct __test_metadata *_metadata,
			     struct solicited *s)
{
	struct xv_event ev;

	ASSERT_EQ(1, xvt_event(&s->eq, &ev));
	EXPECT_EQ(XV_EV_COMPLETION, ev.type);
	EXPECT_EQ(s->cq.obj.handle, ev.handle);
	EXPECT_EQ(5, ev.cookie);
	EXPECT_EQ(1, ev.count);
	EXPECT_FALSE(xvt_has_event(&s->eq));
}

TEST_F(cq, solicited_events)
{
	struct solicited s;
	struct xv_wc wc;
	int i;

	solicited_begin(_metadata, &self->t, &s);
	/* What lies there is no reason. */
	solicited_send(_metadata, &s, 1, XV_SEND_SOLICITED);
	ASSERT_EQ(0, xv_arm_solicited(&s.cq));
	expect_no_event(_metadata, &s.eq);
	ASSERT_EQ(1, xv_poll(&s.cq, &wc, 1));
	EXPECT_EQ(1, wc.wr_id);

	/* Nor are messages that nobody has solicited, in the ring or not. */
	solicited_send(_metadata, &s, 2, 0);
	expect_no_event(_metadata, &s.eq);
	ASSERT_EQ(0, xv_wait(&s.cq, 0, 0));
	ASSERT_EQ(1, xv_poll(&s.cq, &wc, 1));
	EXPECT_EQ(2, wc.wr_id);
	for (i = 3; i < 6; i++)
		solicited_send(_metadata, &s, i, 0);
	expect_no_event(_metadata, &s.eq);
	/* This is one, and what came before it is there too. */
	solicited_send(_metadata, &s, 6, XV_SEND_SOLICITED);
	expect_one_event(_metadata, &s);
	for (i = 3; i < 7; i++) {
		ASSERT_EQ(1, xv_poll(&s.cq, &wc, 1));
		EXPECT_EQ(i, wc.wr_id);
	}
	/* Once. */
	solicited_send(_metadata, &s, 7, XV_SEND_SOLICITED);
	expect_no_event(_metadata, &s.eq);
	ASSERT_EQ(0, xv_wait(&s.cq, 0, 0));
	ASSERT_EQ(1, xv_poll(&s.cq, &wc, 1));

	/* Who wants any gets any, whatever he has wanted before. */
	ASSERT_EQ(0, xv_arm_solicited(&s.cq));
	ASSERT_EQ(0, xv_arm(&s.cq));
	ASSERT_EQ(0, xv_arm_solicited(&s.cq));
	solicited_send(_metadata, &s, 8, 0);
	expect_one_event(_metadata, &s);
	ASSERT_EQ(1, xv_poll(&s.cq, &wc, 1));
	solicited_end(_metadata, &self->t, &s);
}

TEST_F(cq, solicited_errors)
{
	struct xv_qp_attr a = { .size = sizeof(a), .state = XV_QPS_ERR };
	struct solicited s;
	struct xv_recv r;

	solicited_begin(_metadata, &self->t, &s);
	xv_recv_prep(&r, 1);
	ASSERT_EQ(0, xv_post_recv(&s.qp, &r, 1));
	ASSERT_EQ(0, xv_submit(&s.qp));
	ASSERT_EQ(0, xv_arm_solicited(&s.cq));
	expect_no_event(_metadata, &s.eq);
	ASSERT_EQ(0, xv_qp_modify(self->now, &s.qp, &a));
	expect_one_event(_metadata, &s);
	xvt_expect_wc(_metadata, &s.cq, 1, XV_WC_FLUSH_ERR);
	solicited_end(_metadata, &self->t, &s);
}

/* A queue of sends alone: the errors, whatever the driver thinks of them. */
TEST_F(cq, solicited_errors_of_sends)
{
	struct xv_qp_attr a = { .size = sizeof(a), .state = XV_QPS_ERR };
	struct xv_cq send_cq = {};
	struct xv_qp qp[2] = {};
	struct xv_eventq eq = {};
	struct xvt_pair p;
	struct xv_event ev;
	struct xv_send e;
	struct xv_recv r;
	int i;

	xvt_pair(_metadata, &self->t, &p, &(struct xvt_pair_opts){
		 .no_connect = true });
	ASSERT_EQ(0, xv_eventq_create(self->now, &eq));
	ASSERT_EQ(0, xv_cq_create(self->now, &send_cq, XV_OPTS(xv_cq_opts,
				  .cqe = 8, .eventq = &eq)));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, xv_qp_create(self->now, &qp[i], XV_OPTS(xv_qp_opts,
			  .pd = &p.pd, .send_cq = &send_cq,
			  .recv_cq = &p.cq[0], .send_wr = 4, .recv_wr = 0)));
	a = xvt_peer(&self->t, &p.qp[1]);
	ASSERT_EQ(0, xv_qp_connect(self->now, &qp[0], &a));
	a = xvt_peer(&self->t, &qp[0]);
	ASSERT_EQ(0, xv_qp_connect(self->now, &p.qp[1], &a));

	ASSERT_EQ(0, xv_arm_solicited(&send_cq));
	xv_recv_prep(&r, 1);
	xv_recv_add_sge(&r, xvt_sge(&p, 4096, 64));
	ASSERT_EQ(0, xv_post_recv(&p.qp[1], &r, 1));
	ASSERT_EQ(0, xv_submit(&p.qp[1]));
	xv_send_prep_send(&e, 2, XV_SEND_SIGNALED, xvt_sge(&p, 0, 64));
	ASSERT_EQ(0, xv_post_send(&qp[0], &e, 1));
	ASSERT_EQ(0, xv_submit(&qp[0]));
	expect_no_event(_metadata, &eq);
	/* The kernel has looked at it, so it is in the ring. */
	xvt_expect_wc(_metadata, &send_cq, 2, XV_WC_SUCCESS);
	/* An access that the peer does not grant. */
	xv_send_prep_write(&e, 3, XV_SEND_SIGNALED, xvt_sge(&p, 0, 64),
			   (uintptr_t)p.buf, p.mr.info.rkey ^ 0x5500);
	ASSERT_EQ(0, xv_post_send(&qp[0], &e, 1));
	ASSERT_EQ(0, xv_submit(&qp[0]));
	ASSERT_EQ(1, xvt_event(&eq, &ev));
	EXPECT_EQ(XV_EV_COMPLETION, ev.type);
	xvt_expect_wc(_metadata, &send_cq, 3, XV_WC_REM_ACCESS_ERR);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, xv_qp_destroy(self->now, &qp[i]));
	ASSERT_EQ(0, xv_cq_destroy(self->now, &send_cq));
	xv_eventq_close(&eq);
	ASSERT_EQ(0, xvt_pair_destroy(&p));
}

/* ENTER sleeps through what nobody has solicited. */
struct waiter {
	struct xvt *t;
	struct xv_cq *cq;
	int64_t timeout;
	unsigned int min;
	int ret;
	uint32_t num;
	pid_t tid;
	bool done;
	pthread_t thread;
};

static void *wait_solicited(void *arg)
{
	struct waiter *w = arg;
	struct xv_enter e = {
		.cq = w->cq->obj.handle, .min_complete = w->min,
		.timeout_ns = w->timeout, .flags = XV_ENTER_F_SOLICITED,
	};

	__atomic_store_n(&w->tid, xvt_gettid(), __ATOMIC_RELEASE);
	w->ret = xv_enter_raw(w->t->ctx, &e);
	w->num = e.num_complete;
	__atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void start_waiter(struct __test_metadata *_metadata, struct waiter *w)
{
	w->tid = 0;
	w->done = false;
	ASSERT_EQ(0, pthread_create(&w->thread, NULL, wait_solicited, w));
	ASSERT_TRUE(xvt_wait_until(__atomic_load_n(&w->tid, __ATOMIC_ACQUIRE) &&
				   xvt_asleep(w->tid), 5000));
}

TEST_F(cq, solicited_waits)
{
	struct xv_enter e = { .flags = XV_ENTER_F_SOLICITED };
	struct solicited s;
	struct waiter w = { .t = &self->t, .min = 1, .timeout = -1 };
	struct xv_wc wc[8];

	/* It belongs to a CQ. */
	EXPECT_EQ(-EINVAL, xv_enter_raw(self->t.ctx, &e));
	solicited_begin(_metadata, &self->t, &s);
	w.cq = &s.cq;
	start_waiter(_metadata, &w);
	solicited_send(_metadata, &s, 1, 0);
	solicited_send(_metadata, &s, 2, 0);
	usleep(xvt_ns(100) / 1000);
	EXPECT_FALSE(__atomic_load_n(&w.done, __ATOMIC_ACQUIRE));
	solicited_send(_metadata, &s, 3, XV_SEND_SOLICITED);
	pthread_join(w.thread, NULL);
	EXPECT_EQ(0, w.ret);
	/* All of them are counted then. */
	EXPECT_EQ(3, w.num);
	EXPECT_EQ(3, xv_poll(&s.cq, wc, 8));

	/* Not enough yet: it sleeps on. */
	w.min = 2;
	start_waiter(_metadata, &w);
	solicited_send(_metadata, &s, 4, XV_SEND_SOLICITED);
	usleep(xvt_ns(100) / 1000);
	EXPECT_FALSE(__atomic_load_n(&w.done, __ATOMIC_ACQUIRE));
	solicited_send(_metadata, &s, 5, XV_SEND_SOLICITED);
	pthread_join(w.thread, NULL);
	EXPECT_EQ(0, w.ret);
	EXPECT_EQ(2, xv_poll(&s.cq, wc, 8));

	/* At the end of its time what has come is told. */
	w.min = 1;
	w.timeout = xvt_ns(300);
	start_waiter(_metadata, &w);
	solicited_send(_metadata, &s, 6, 0);
	pthread_join(w.thread, NULL);
	EXPECT_EQ(0, w.ret);
	EXPECT_EQ(1, w.num);
	EXPECT_EQ(1, xv_poll(&s.cq, wc, 8));
	start_waiter(_metadata, &w);
	pthread_join(w.thread, NULL);
	EXPECT_EQ(-ETIME, w.ret);
	solicited_end(_metadata, &self->t, &s);
}

TEST_HARNESS_MAIN
