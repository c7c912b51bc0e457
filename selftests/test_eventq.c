// SPDX-License-Identifier: GPL-2.0
/*
 * Event queues.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <sys/epoll.h>
#include "xv_test.h"

FIXTURE(eventq) {
	struct xvt t;
	struct xvt_snap before;
	struct xv_tx *now;
	struct xvt_pair p;
};

FIXTURE_SETUP(eventq)
{
	xvt_open(_metadata, &self->t);
	self->now = xv_now(self->t.ctx);
	xvt_snap(_metadata, &self->t, &self->before);
	xvt_pair(_metadata, &self->t, &self->p,
		 &(struct xvt_pair_opts){ .events = true });
}

FIXTURE_TEARDOWN(eventq)
{
	xvt_teardown(_metadata);
	/* A test may have closed the file. */
	if (!self->t.ctx)
		return;
	if (self->p.pd.obj.handle)
		EXPECT_EQ(0, xvt_pair_destroy(&self->p));
	xvt_same(_metadata, &self->t, &self->before, "at the end");
	xvt_close(&self->t);
}

/* Put a completion into the ring of side 1's CQ. */
static void complete(struct __test_metadata *_metadata, struct xvt_pair *p,
		     uint64_t wr_id)
{
	struct xv_wc wc;

	ASSERT_EQ(0, xvt_recv(p, 1, wr_id, 4096, 64));
	ASSERT_EQ(0, xvt_send(p, 0, wr_id, 0, 64));
	ASSERT_EQ(1, xvt_wc(&p->cq[0], &wc));
}

static void set_nonblock(struct __test_metadata *_metadata, int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	ASSERT_LE(0, flags);
	ASSERT_EQ(0, fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK :
			   flags & ~O_NONBLOCK));
}

static void expect_completion(struct __test_metadata *_metadata,
			      struct xvt_pair *p, int side, uint32_t count)
{
	struct xv_event ev;

	memset(&ev, 0xAA, sizeof(ev));
	ASSERT_EQ(1, xvt_event(&p->eq, &ev));
	EXPECT_EQ(XV_EV_COMPLETION, ev.type);
	EXPECT_EQ(XV_OBJ_CQ, ev.object);
	EXPECT_EQ(p->cq[side].obj.handle, ev.handle);
	EXPECT_EQ(1 + side, ev.cookie);
	EXPECT_EQ(count, ev.count);
	EXPECT_EQ(0, ev.reserved);
	EXPECT_EQ(0, ev.data);
}

TEST_F(eventq, nothing_to_read)
{
	struct xvt_pair *p = &self->p;
	struct xv_event ev[2];

	EXPECT_FALSE(xvt_has_event(&p->eq));
	set_nonblock(_metadata, p->eq.fd, true);
	EXPECT_EQ(-1, read(p->eq.fd, ev, sizeof(ev)));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(-EAGAIN, xv_event_read(&p->eq, ev, 1));
	/* Not even one fits. */
	EXPECT_EQ(-1, read(p->eq.fd, ev, sizeof(ev[0]) - 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, read(p->eq.fd, ev, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, write(p->eq.fd, ev, sizeof(ev)));
	EXPECT_EQ(FD_CLOEXEC, fcntl(p->eq.fd, F_GETFD));
}

TEST_F(eventq, arm_comes_once)
{
	struct xvt_pair *p = &self->p;
	struct xv_wc wc;

	/* Nobody asked. */
	complete(_metadata, p, 1);
	EXPECT_EQ(0, xv_wait(&p->cq[1], 1, xvt_ns(5000)));
	EXPECT_FALSE(xvt_has_event(&p->eq));

	/* There is something: at once. */
	ASSERT_EQ(0, xv_arm(&p->cq[1]));
	EXPECT_TRUE(xvt_has_event(&p->eq));
	expect_completion(_metadata, p, 1, 1);
	EXPECT_FALSE(xvt_has_event(&p->eq));
	ASSERT_EQ(1, xv_poll(&p->cq[1], &wc, 1));

	/* Empty: when something comes, although nobody calls ENTER. */
	ASSERT_EQ(0, xv_arm(&p->cq[1]));
	EXPECT_FALSE(xvt_has_event(&p->eq));
	complete(_metadata, p, 2);
	expect_completion(_metadata, p, 1, 1);
	ASSERT_EQ(1, xv_poll(&p->cq[1], &wc, 1));
	EXPECT_EQ(2, wc.wr_id);

	/* And not again. */
	complete(_metadata, p, 3);
	ASSERT_EQ(0, xv_wait(&p->cq[1], 1, xvt_ns(5000)));
	EXPECT_FALSE(xvt_has_event(&p->eq));
}

TEST_F(eventq, equal_events_are_counted)
{
	struct xvt_pair *p = &self->p;
	struct xv_event ev[4];
	int i, n, seen = 0;

	complete(_metadata, p, 1);
	ASSERT_EQ(0, xv_wait(&p->cq[1], 1, xvt_ns(5000)));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, xv_arm(&p->cq[1]));
	expect_completion(_metadata, p, 1, 3);

	/* Two sources, one read: the oldest first. */
	ASSERT_EQ(0, xv_arm(&p->cq[1]));
	ASSERT_EQ(0, xvt_recv(p, 0, 1, 4096, 64));
	ASSERT_EQ(0, xvt_send(p, 1, 1, 0, 64));
	ASSERT_EQ(0, xv_wait(&p->cq[0], 1, xvt_ns(5000)));
	ASSERT_EQ(0, xv_arm(&p->cq[0]));
	ASSERT_EQ(0, xv_arm(&p->cq[1]));
	n = xv_event_read(&p->eq, ev, 4);
	ASSERT_EQ(2, n);
	EXPECT_EQ(2, ev[0].cookie);
	EXPECT_EQ(2, ev[0].count);
	EXPECT_EQ(1, ev[1].cookie);
	EXPECT_EQ(1, ev[1].count);

	/* As many as fit. */
	ASSERT_EQ(0, xv_arm(&p->cq[0]));
	ASSERT_EQ(0, xv_arm(&p->cq[1]));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(sizeof(ev[0]), read(p->eq.fd, ev, 63));
		seen |= 1 << ev[0].cookie;
	}
	EXPECT_EQ(6, seen);
	EXPECT_FALSE(xvt_has_event(&p->eq));
}

struct reader {
	pthread_t thread;
	pid_t tid;
	int fd;
	ssize_t ret;
	int err;
	struct xv_event ev;
};

static void *read_event(void *arg)
{
	struct reader *r = arg;

	__atomic_store_n(&r->tid, xvt_gettid(), __ATOMIC_RELEASE);
	r->ret = read(r->fd, &r->ev, sizeof(r->ev));
	r->err = errno;
	return NULL;
}

static void start_reader(struct __test_metadata *_metadata, struct reader *r,
			 int fd)
{
	memset(r, 0, sizeof(*r));
	r->fd = fd;
	ASSERT_EQ(0, pthread_create(&r->thread, NULL, read_event, r));
	ASSERT_TRUE(xvt_wait_until(__atomic_load_n(&r->tid, __ATOMIC_ACQUIRE) &&
				   xvt_asleep(r->tid), 5000));
}

static bool ended(pthread_t thread)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += xvt_ns(10000) / 1000000000;
	return !pthread_timedjoin_np(thread, NULL, &ts);
}

TEST_F(eventq, a_reader_sleeps)
{
	struct xvt_pair *p = &self->p;
	struct reader r;

	start_reader(_metadata, &r, p->eq.fd);
	ASSERT_EQ(0, xv_arm(&p->cq[1]));
	complete(_metadata, p, 1);
	ASSERT_TRUE(ended(r.thread));
	EXPECT_EQ(sizeof(r.ev), r.ret);
	EXPECT_EQ(XV_EV_COMPLETION, r.ev.type);
}

TEST_F(eventq, epoll)
{
	struct xvt_pair *p = &self->p;
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int ep = epoll_create1(0);
	int i;

	ASSERT_LE(0, ep);
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, p->eq.fd, &ev));
	for (i = 0; i < 3; i++) {
		struct xv_wc wc;

		EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 0));
		ASSERT_EQ(0, xv_arm(&p->cq[1]));
		complete(_metadata, p, i);
		ASSERT_EQ(1, epoll_wait(ep, &ev, 1, xvt_ns(5000) / 1000000));
		EXPECT_EQ(EPOLLIN, ev.events);
		expect_completion(_metadata, p, 1, 1);
		ASSERT_EQ(1, xv_poll(&p->cq[1], &wc, 1));
	}
	close(ep);
}

/* An event that cannot be delivered is not lost. */
TEST_F(eventq, bad_buffers)
{
	struct xvt_pair *p = &self->p;
	uint8_t *page = xvt_map(2 * XVT_PAGE, PROT_READ | PROT_WRITE);
	struct xv_event *edge;

	ASSERT_NE(NULL, page);
	ASSERT_EQ(0, mprotect(page + XVT_PAGE, XVT_PAGE, PROT_READ));
	complete(_metadata, p, 1);
	ASSERT_EQ(0, xv_wait(&p->cq[1], 1, xvt_ns(5000)));
	ASSERT_EQ(0, xv_arm(&p->cq[1]));
	/* Not read(), which the compiler checks. */
	EXPECT_EQ(-1, syscall(SYS_read, p->eq.fd, (void *)8, 32));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, read(p->eq.fd, page + XVT_PAGE, 32));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, read(p->eq.fd, page + XVT_PAGE - 16, 32));
	EXPECT_EQ(EFAULT, errno);
	expect_completion(_metadata, p, 1, 1);

	/* The first fits, the second does not. */
	ASSERT_EQ(0, xvt_recv(p, 0, 1, 4096, 64));
	ASSERT_EQ(0, xvt_send(p, 1, 1, 0, 64));
	ASSERT_EQ(0, xv_wait(&p->cq[0], 1, xvt_ns(5000)));
	ASSERT_EQ(0, xv_arm(&p->cq[0]));
	ASSERT_EQ(0, xv_arm(&p->cq[1]));
	edge = (struct xv_event *)(page + XVT_PAGE) - 1;
	EXPECT_EQ(32, read(p->eq.fd, edge, 64));
	EXPECT_EQ(1, edge->cookie);
	expect_completion(_metadata, p, 1, 1);
	EXPECT_FALSE(xvt_has_event(&p->eq));
	/* A page that was never touched is no obstacle. */
	ASSERT_EQ(0, xv_arm(&p->cq[1]));
	EXPECT_EQ(0, madvise(page, XVT_PAGE, MADV_DONTNEED));
	EXPECT_EQ(32, read(p->eq.fd, page, 32));
	munmap(page, 2 * XVT_PAGE);
}

TEST_F(eventq, no_event_of_the_destroyed)
{
	struct xvt_pair *p = &self->p;
	struct xv_event ev;
	struct xv_tx *tx;

	complete(_metadata, p, 1);
	ASSERT_EQ(0, xv_wait(&p->cq[1], 1, xvt_ns(5000)));
	ASSERT_EQ(0, xv_arm(&p->cq[1]));
	EXPECT_TRUE(xvt_has_event(&p->eq));
	ASSERT_EQ(0, xv_txn_begin(self->t.ctx, 0, &tx));
	xv_qp_destroy(tx, &p->qp[1]);
	xv_cq_destroy(tx, &p->cq[1]);
	ASSERT_EQ(0, xv_txn_commit(tx, NULL));
	EXPECT_FALSE(xvt_has_event(&p->eq));
	set_nonblock(_metadata, p->eq.fd, true);
	EXPECT_EQ(-EAGAIN, xv_event_read(&p->eq, &ev, 1));
	xv_cq_create(tx, &p->cq[1], XV_OPTS(xv_cq_opts, .cqe = 1));
	xv_qp_create(tx, &p->qp[1], XV_OPTS(xv_qp_opts, .pd = &p->pd,
		     .send_cq = &p->cq[1], .send_wr = 1));
	EXPECT_EQ(0, xv_txn_commit(tx, NULL));
	xv_txn_free(tx);
}

/* Armed and full of traffic when it goes. */
TEST_F(eventq, destroy_while_armed)
{
	unsigned int i, k;

	for (i = 0; i < 10; i++) {
		struct xvt_pair p;

		xvt_pair(_metadata, &self->t, &p,
			 &(struct xvt_pair_opts){ .events = true });
		for (k = 0; k < 8; k++)
			ASSERT_EQ(0, xvt_recv(&p, 1, k, 4096, 64));
		ASSERT_EQ(0, xv_arm(&p.cq[0]));
		ASSERT_EQ(0, xv_arm(&p.cq[1]));
		for (k = 0; k < 8; k++)
			ASSERT_EQ(0, xvt_send(&p, 0, k, 0, 64));
		if (i & 1)
			xv_eventq_close(&p.eq);
		ASSERT_EQ(0, xvt_pair_destroy(&p));
	}
}

TEST_F(eventq, closed_while_armed)
{
	struct xvt_pair *p = &self->p;
	struct xv_wc wc;
	int i;

	ASSERT_EQ(0, xv_arm(&p->cq[1]));
	xv_eventq_close(&p->eq);
	for (i = 0; i < 3; i++) {
		complete(_metadata, p, i);
		ASSERT_EQ(1, xvt_wc(&p->cq[1], &wc));
		ASSERT_EQ(0, xv_arm(&p->cq[1]));
	}
}

TEST_F(eventq, queues_of_others)
{
	struct xvt_pair *p = &self->p;
	struct xvt_msg *m = malloc(sizeof(*m));
	struct xv_cq_info info;
	struct xv_eventq eq = {};
	struct xvt t2;
	int bad[8];
	unsigned int i;

	ASSERT_NE(NULL, m);
	xvt_open(_metadata, &t2);
	ASSERT_EQ(0, xv_eventq_create(xv_now(t2.ctx), &eq));
	bad[0] = eq.fd;
	bad[1] = self->t.fd;
	bad[2] = 0;
	bad[3] = 999;
	bad[4] = -1;
	bad[5] = dup(1);
	bad[6] = p->cq[0].obj.handle;
	bad[7] = 0x7fffffff;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		xvt_begin(m, 0);
		xvt_op(m, XV_OBJ_CQ, XV_M_CREATE);
		xvt_new(m);
		xvt_u32(m, XV_GRP_EVENTS, XV_EVENTS_QUEUE, bad[i]);
		xvt_u32(m, XV_GRP_CAPS, XV_CAPS_CQE, 1);
		xvt_out(m, &info, sizeof(info));
		xvt_run(m, self->t.fd);
		xvt_failed(_metadata, "eventq", m->ret, &m->err, EBADF, 0,
			   XV_GRP_EVENTS, XV_EVENTS_QUEUE, XV_R_NO_EVENTQ);
	}
	close(bad[5]);
	xv_eventq_close(&eq);
	xvt_close(&t2);
	/* A second descriptor of the same queue is as good as the first. */
	bad[0] = dup(p->eq.fd);
	xvt_get(m, 0, XV_GRP_EVENTS, XV_EVENTS_QUEUE)->data = bad[0];
	xvt_get(m, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE)->data = 0;
	EXPECT_EQ(0, xvt_run(m, self->t.fd));
	i = xvt_made(m, 0);
	close(bad[0]);
	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_CQ, XV_M_DESTROY);
	xvt_handle(m, i);
	EXPECT_EQ(0, xvt_run(m, self->t.fd));
	free(m);
}

TEST_F(eventq, device_file_closed)
{
	struct pollfd pfd = { .fd = dup(self->p.eq.fd), .events = POLLIN };
	struct xv_event ev;
	struct reader r;

	start_reader(_metadata, &r, pfd.fd);
	/* The mappings hold the file, so they go first; the library does. */
	xvt_close(&self->t);
	ASSERT_TRUE(ended(r.thread));
	EXPECT_EQ(0, r.ret);
	EXPECT_EQ(1, poll(&pfd, 1, 0));
	EXPECT_TRUE(pfd.revents & POLLHUP);
	EXPECT_EQ(0, read(pfd.fd, &ev, sizeof(ev)));
	close(pfd.fd);
	xv_eventq_close(&self->p.eq);
}

struct feeder {
	struct xvt_pair *p;
	unsigned int n;
	unsigned int bad;
	unsigned int seen;	/* rounds whose event was read */
};

static void *feed(void *arg)
{
	struct feeder *f = arg;
	unsigned int i;

	for (i = 0; i < f->n; i++) {
		struct xv_wc wc;

		f->bad += !xvt_wait_until(__atomic_load_n(&f->seen,
					__ATOMIC_ACQUIRE) == i, 10000);
		if (f->bad)
			break;
		f->bad += xvt_send(f->p, 0, i, 0, 8) != 0;
		f->bad += xvt_wc(&f->p->cq[0], &wc) != 1;
	}
	return NULL;
}

/* Whatever the order of arming and arriving, there is an event. */
TEST_F(eventq, arming_and_arriving_race)
{
	struct xvt_pair *p = &self->p;
	struct feeder f = { .p = p, .n = xvt_count(EVENT_ARM_RACE) };
	pthread_t thread;
	struct xv_wc wc;
	unsigned int i;

	ASSERT_EQ(0, xvt_recv(p, 1, 0, 4096, 8));
	ASSERT_EQ(0, pthread_create(&thread, NULL, feed, &f));
	for (i = 0; i < f.n; i++) {
		ASSERT_EQ(0, xv_arm(&p->cq[1]));
		expect_completion(_metadata, p, 1, 1);
		ASSERT_EQ(1, xv_poll(&p->cq[1], &wc, 1)) {
			TH_LOG("round %u", i);
		}
		EXPECT_EQ(i, wc.wr_id);
		ASSERT_EQ(0, xvt_recv(p, 1, i + 1, 4096, 8));
		__atomic_store_n(&f.seen, i + 1, __ATOMIC_RELEASE);
	}
	pthread_join(thread, NULL);
	EXPECT_EQ(0, f.bad);
}

TEST_HARNESS_MAIN
