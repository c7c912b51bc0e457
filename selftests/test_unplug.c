// SPDX-License-Identifier: GPL-2.0
/*
 * The device goes away while it is used in every way.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Needs rdma(8) and a veth end v0, as the virtual machines have it.
 */
#include <linux/userfaultfd.h>
#include "xv_test.h"

/* ---- the plug ---- */

static pid_t start(const char *command)
{
	pid_t pid = fork();

	if (!pid) {
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	return pid;
}

/* Its exit status, or -1 if it did not end within the deadline. */
static int finish(pid_t pid, unsigned int ms)
{
	int status = -1;
	pid_t ret = 0;

	xvt_wait_until((ret = waitpid(pid, &status, WNOHANG)) != 0, ms);
	return ret == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static pid_t start_unplug(void)
{
	return start("exec rdma link delete rxe0");
}

static int unplug(void)
{
	return finish(start_unplug(), 5000);
}

FIXTURE(unplug) {
	struct xvt t;
	struct xvt_pair p;
	long vmpin;
};

typedef FIXTURE_DATA(unplug) fixture;

FIXTURE_SETUP(unplug)
{
	ASSERT_TRUE(xvt_plug());
	self->vmpin = xvt_vmpin();
	xvt_open(_metadata, &self->t);
	xvt_pair(_metadata, &self->t, &self->p,
		 &(struct xvt_pair_opts){ .events = true });
}

FIXTURE_TEARDOWN(unplug)
{
	xvt_teardown(_metadata);
	if (self->t.ctx)
		xvt_close(&self->t);
	xv_eventq_close(&self->p.eq);
	EXPECT_EQ(self->vmpin, xvt_vmpin());
	EXPECT_TRUE(xvt_plug());
}

static bool ended(pthread_t thread)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += xvt_ns(10000) / 1000000000;
	return !pthread_timedjoin_np(thread, NULL, &ts);
}

/* Everything as the contract says it is afterwards. */
static void check_gone(struct __test_metadata *_metadata, struct xvt *t,
		       struct xvt_pair *p)
{
	struct xv_tx *now = xv_now(t->ctx);
	struct xvt_msg *m = malloc(sizeof(*m));
	struct xv_enter e = { .cq = p->cq[0].obj.handle };
	struct xv_device_info info;
	struct xv_qp_info qp_info;
	struct xv_pd pd = {};
	struct xv_mr mr = {};
	uint8_t *buf = malloc(65535);
	int ret;

	ASSERT_NE(NULL, m);
	EXPECT_EQ(-ENODEV, xv_device_query(now, &info));
	EXPECT_EQ(XV_R_DEVICE_GONE, xv_txn_error(now)->reason);
	EXPECT_EQ(-ENODEV, xv_pd_create(now, &pd));
	EXPECT_EQ(-ENODEV, xv_mr_create(now, &mr, XV_OPTS(xv_mr_opts,
		  .pd = &p->pd, .addr = p->buf, .length = 8)));
	EXPECT_EQ(-ENODEV, xv_qp_query(now, &p->qp[0], &qp_info));
	EXPECT_EQ(-ENODEV, xv_enter_raw(t->ctx, &e));
	e.timeout_ns = -1;
	e.min_complete = 1;
	EXPECT_EQ(-ENODEV, xv_enter_raw(t->ctx, &e));
	/* What cannot work is refused as before; what needs no device works. */
	EXPECT_EQ(0, xv_device_describe(now, buf, 65535));
	EXPECT_EQ(XV_ABI_VERSION, ((struct xv_describe *)buf)->abi_version);
	/* The rings are still there. */
	EXPECT_LE(0, (int)p->qp[0].ring->sends_done);
	p->cq[0].ring->head = p->cq[0].ring->tail;

	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_PD, XV_M_DESTROY);
	xvt_handle(m, p->pd.obj.handle);
	xvt_run(m, t->fd);
	xvt_failed(_metadata, "destroy", m->ret, &m->err, EBUSY, 0,
		   XV_GRP_OBJECT, XV_OBJECT_HANDLE, XV_R_DEPENDENT);
	ret = xvt_pair_destroy(p);
	EXPECT_EQ(0, ret);
	xvt_run(m, t->fd);
	EXPECT_EQ(-ENOENT, m->ret);
	free(buf);
	free(m);
}

static void check_removed_event(struct __test_metadata *_metadata,
				struct xv_eventq *eq)
{
	struct pollfd pfd = { .fd = eq->fd, .events = POLLIN };
	struct xv_event ev;

	memset(&ev, 0xAA, sizeof(ev));
	EXPECT_EQ(1, poll(&pfd, 1, 0));
	EXPECT_EQ(POLLIN | POLLHUP, pfd.revents);
	ASSERT_EQ(1, xv_event_read(eq, &ev, 1));
	EXPECT_EQ(XV_EV_DEVICE_REMOVED, ev.type);
	EXPECT_EQ(XV_OBJ_DEVICE, ev.object);
	EXPECT_EQ(0, ev.handle);
	EXPECT_EQ(0, ev.cookie);
	EXPECT_EQ(1, ev.count);
	EXPECT_EQ(0, ev.reserved);
	EXPECT_EQ(0, ev.data);
	EXPECT_EQ(1, poll(&pfd, 1, 0));
	EXPECT_EQ(POLLHUP, pfd.revents);
	EXPECT_EQ(-ENODEV, xv_event_read(eq, &ev, 1));
	EXPECT_EQ(-ENODEV, xv_event_read(eq, &ev, 1));
	EXPECT_EQ(0, fcntl(eq->fd, F_SETFL, O_NONBLOCK));
	EXPECT_EQ(-ENODEV, xv_event_read(eq, &ev, 1));
}

TEST_F(unplug, idle)
{
	unsigned int i, n = xvt_count(UNPLUG_ROUNDS);
	struct xv_eventq *eq = &self->p.eq;

	for (i = 0; i < n; i++) {
		struct xv_ctx *again;
		int fd = dup(eq->fd);
		struct xv_eventq copy = *eq;

		copy.fd = fd;
		ASSERT_EQ(0, unplug());
		/* Its memory is the program's again. */
		EXPECT_EQ(self->vmpin, xvt_vmpin());
		EXPECT_EQ(-ENODEV, xv_open("rxe0", 0, &again));
		check_removed_event(_metadata, &copy);
		check_gone(_metadata, &self->t, &self->p);
		close(fd);
		xvt_close(&self->t);
		ASSERT_TRUE(xvt_plug());
		xvt_open(_metadata, &self->t);
		xvt_pair(_metadata, &self->t, &self->p,
			 &(struct xvt_pair_opts){ .events = true });
		ASSERT_EQ(0, xvt_recv(&self->p, 1, 1, 4096, 64));
		ASSERT_EQ(0, xvt_send(&self->p, 0, 2, 0, 64));
		xvt_expect_wc(_metadata, &self->p.cq[0], 2, XV_WC_SUCCESS);
	}
}

/* A membership goes, in the network too; a subscription ends with the removal. */
TEST_F(unplug, members_and_subscribers)
{
	const char *in_group = "grep -q 070009EF /proc/net/igmp";
	struct xv_tx *now = xv_now(self->t.ctx);
	struct xv_subscription sub = {};
	struct xv_mcast mcast = {};
	struct xv_mcast_info info;
	struct xv_cq cq = {};
	struct xv_qp ud = {};
	struct xv_tx *tx;

	ASSERT_EQ(0, xv_txn_begin(self->t.ctx, 0, &tx));
	xv_cq_create(tx, &cq, XV_OPTS(xv_cq_opts, .cqe = 4));
	xv_qp_create(tx, &ud, XV_OPTS(xv_qp_opts, .type = XV_QPT_UD,
		     .pd = &self->p.pd, .send_cq = &cq, .send_wr = 1));
	xv_mcast_create(tx, &mcast, XV_OPTS(xv_mcast_opts, .qp = &ud,
			.sgid_index = self->t.gid_index,
			.gid = { [10] = 0xff, 0xff, 239, 9, 0, 7 }));
	xv_subscription_create(tx, &sub, XV_OPTS(xv_subscription_opts,
			       .eventq = &self->p.eq, .event_mask =
			       XV_EVENT_BIT(XV_EV_DEVICE_FATAL)));
	ASSERT_EQ(0, xv_txn_commit(tx, NULL));
	EXPECT_EQ(0, xvt_sh("%s", in_group));
	ASSERT_EQ(0, unplug());
	EXPECT_EQ(1, xvt_sh("%s", in_group));
	check_removed_event(_metadata, &self->p.eq);
	EXPECT_EQ(-ENODEV, xv_mcast_query(now, &mcast, &info));
	/* The handles are still there, and hold each other. */
	EXPECT_EQ(-EBUSY, xv_qp_destroy(now, &ud));
	EXPECT_EQ(XV_OBJ_MCAST, xv_txn_error(now)->object);
	EXPECT_EQ(0, xv_subscription_destroy(now, &sub));
	xv_cq_destroy(tx, &cq);
	xv_qp_destroy(tx, &ud);
	xv_mcast_destroy(tx, &mcast);
	EXPECT_EQ(0, xv_txn_commit(tx, NULL));
	xv_txn_free(tx);
	check_gone(_metadata, &self->t, &self->p);
}

/* An event that was there before comes first. */
TEST_F(unplug, events_before)
{
	struct xvt_pair *p = &self->p;
	struct xv_event ev;

	ASSERT_EQ(0, xvt_recv(p, 1, 1, 4096, 64));
	ASSERT_EQ(0, xvt_send(p, 0, 2, 0, 64));
	xvt_expect_wc(_metadata, &p->cq[0], 2, XV_WC_SUCCESS);
	ASSERT_EQ(0, xv_wait(&p->cq[1], 1, xvt_ns(5000)));
	ASSERT_EQ(0, xv_arm(&p->cq[1]));
	ASSERT_EQ(0, unplug());
	ASSERT_EQ(1, xv_event_read(&p->eq, &ev, 1));
	EXPECT_EQ(XV_EV_COMPLETION, ev.type);
	check_removed_event(_metadata, &p->eq);
}

struct worker {
	pthread_t thread;
	pid_t tid;
	struct xvt *t;
	struct xvt_pair *p;
	int fd;
	void *page;
	int ret;
	unsigned int rounds;
	unsigned int bad;
	bool stop;
};

static void started(struct worker *w)
{
	__atomic_store_n(&w->tid, xvt_gettid(), __ATOMIC_RELEASE);
}

static bool sleeps(struct worker *w)
{
	return __atomic_load_n(&w->tid, __ATOMIC_ACQUIRE) && xvt_asleep(w->tid);
}

static void *sleep_in_enter(void *arg)
{
	struct worker *w = arg;
	struct xv_enter e = {
		.cq = w->p->cq[0].obj.handle, .min_complete = 1,
		.timeout_ns = -1,
	};

	started(w);
	w->ret = xv_enter_raw(w->t->ctx, &e);
	return NULL;
}

static void *sleep_in_read(void *arg)
{
	struct worker *w = arg;
	struct xv_event ev;

	started(w);
	w->ret = read(w->fd, &ev, sizeof(ev));
	if (w->ret < 0)
		w->ret = -errno;
	else if (ev.type != XV_EV_DEVICE_REMOVED)
		w->ret = -EINVAL;
	return NULL;
}

TEST_F(unplug, sleepers)
{
	struct worker w[4] = {};
	unsigned int told = 0, i;

	for (i = 0; i < 4; i++) {
		w[i].t = &self->t;
		w[i].p = &self->p;
		w[i].fd = self->p.eq.fd;
		ASSERT_EQ(0, pthread_create(&w[i].thread, NULL,
					    i < 2 ? sleep_in_enter :
					    sleep_in_read, &w[i]));
		ASSERT_TRUE(xvt_wait_until(sleeps(&w[i]), 5000));
	}
	ASSERT_EQ(0, unplug());
	for (i = 0; i < 4; i++)
		ASSERT_TRUE(ended(w[i].thread)) {
			TH_LOG("sleeper %u", i);
		}
	EXPECT_EQ(-ENODEV, w[0].ret);
	EXPECT_EQ(-ENODEV, w[1].ret);
	/* The event is delivered once. */
	for (i = 2; i < 4; i++) {
		told += w[i].ret == sizeof(struct xv_event);
		EXPECT_TRUE(w[i].ret == sizeof(struct xv_event) ||
			    w[i].ret == -ENODEV);
	}
	EXPECT_EQ(1, told);
	check_gone(_metadata, &self->t, &self->p);
}

static void *send_and_receive(void *arg)
{
	struct worker *w = arg;
	struct xv_wc wc[16];
	int ret, side;

	started(w);
	for (;;) {
		ret = 0;
		if (xv_recvs_free(&w->p->qp[1]))
			ret = xvt_recv(w->p, 1, 1, 8192, 4096);
		if (!ret && xv_sends_free(&w->p->qp[0]))
			ret = xvt_send(w->p, 0, 2, 0, 4096);
		for (side = 0; side < 2 && !ret; side++) {
			ret = xv_wait(&w->p->cq[side], 0, 0);
			xv_poll(&w->p->cq[side], wc, 16);
		}
		if (ret && ret != -EAGAIN)
			break;
		__atomic_add_fetch(&w->rounds, 1, __ATOMIC_RELAXED);
	}
	w->ret = ret;
	return NULL;
}

static void *create_and_destroy(void *arg)
{
	struct worker *w = arg;
	struct xv_tx *tx;
	int ret;

	started(w);
	w->ret = xv_txn_begin(w->t->ctx, 0, &tx);
	while (!w->ret) {
		struct xv_pd pd = {};
		struct xv_cq cq = {};
		struct xv_srq srq = {};
		struct xv_qp qp = {};
		struct xv_mr mr = {};

		xv_pd_create(tx, &pd);
		xv_mr_create(tx, &mr, XV_OPTS(xv_mr_opts, .pd = &pd,
			     .addr = w->p->buf, .length = 8192));
		xv_cq_create(tx, &cq, XV_OPTS(xv_cq_opts, .cqe = 8));
		xv_srq_create(tx, &srq, XV_OPTS(xv_srq_opts, .pd = &pd,
						.recv_wr = 4));
		xv_qp_create(tx, &qp, XV_OPTS(xv_qp_opts, .pd = &pd,
			     .send_cq = &cq, .send_wr = 4,
			     .recv_wr = w->rounds & 1 ? 4 : 0,
			     .srq = w->rounds & 1 ? NULL : &srq));
		ret = xv_txn_commit(tx, NULL);
		if (ret) {
			w->ret = ret;
			break;
		}
		xv_pd_destroy(tx, &pd);
		xv_mr_destroy(tx, &mr);
		xv_qp_destroy(tx, &qp);
		xv_srq_destroy(tx, &srq);
		xv_cq_destroy(tx, &cq);
		/* This works with the device and without. */
		w->bad += xv_txn_commit(tx, NULL) != 0;
		__atomic_add_fetch(&w->rounds, 1, __ATOMIC_RELAXED);
	}
	xv_txn_free(tx);
	return NULL;
}

TEST_F(unplug, traffic_and_transactions)
{
	struct worker w[3] = {};
	unsigned int i;

	for (i = 0; i < 3; i++) {
		w[i].t = &self->t;
		w[i].p = &self->p;
		ASSERT_EQ(0, pthread_create(&w[i].thread, NULL, i ?
					    create_and_destroy :
					    send_and_receive, &w[i]));
	}
	for (i = 0; i < 3; i++)
		ASSERT_TRUE(xvt_wait_until(__atomic_load_n(&w[i].rounds,
					   __ATOMIC_RELAXED) > 3, 10000));
	ASSERT_EQ(0, unplug());
	for (i = 0; i < 3; i++) {
		ASSERT_TRUE(ended(w[i].thread));
		EXPECT_EQ(-ENODEV, w[i].ret);
		EXPECT_EQ(0, w[i].bad);
	}
	check_gone(_metadata, &self->t, &self->p);
}

/* A shared receive queue: posted to and taken from, with receives left in it. */
static void *use_shared(void *arg)
{
	struct worker *w = arg;
	struct xvt_pair *p = w->p;
	struct xv_tx *now = xv_now(w->t->ctx);
	struct xv_srq srq = {};
	struct xv_qp qp = {};
	struct xv_cq cq = {};
	struct xv_recv r;
	struct xv_wc wc;

	started(w);
	w->ret = xv_cq_create(now, &cq, XV_OPTS(xv_cq_opts, .cqe = 16));
	if (!w->ret)
		w->ret = xv_srq_create(now, &srq, XV_OPTS(xv_srq_opts,
				       .pd = &p->pd, .recv_wr = 8, .limit = 4,
				       .eventq = &p->eq));
	if (!w->ret)
		w->ret = xv_qp_create(now, &qp, XV_OPTS(xv_qp_opts,
				      .pd = &p->pd, .send_cq = &cq,
				      .send_wr = 4, .srq = &srq));
	if (!w->ret) {
		struct xv_qp_attr attr = xvt_peer(w->t, &p->qp[0]);

		w->ret = xv_qp_connect(now, &qp, &attr);
		attr = xvt_peer(w->t, &qp);
		if (!w->ret)
			w->ret = xv_qp_connect(now, &p->qp[0], &attr);
	}
	while (!w->ret) {
		xv_recv_prep(&r, 1);
		xv_recv_add_sge(&r, xvt_sge(p, 8192, 4096));
		if (xv_srq_free(&srq))
			xv_post_srq_recv(&srq, &r, 1);
		w->ret = xv_submit_srq(&srq);
		if (!w->ret && xv_sends_free(&p->qp[0]))
			w->ret = xvt_send(p, 0, 2, 0, 4096);
		if (!w->ret)
			w->ret = xv_wait(&cq, 0, 0);
		if (!w->ret)
			w->ret = xv_wait(&p->cq[0], 0, 0);
		while (!w->ret && xv_poll(&cq, &wc, 1) == 1)
			__atomic_add_fetch(&w->rounds, 1, __ATOMIC_RELAXED);
		xv_poll(&p->cq[0], &wc, 1);
	}
	/* They go without a device, in the order that they need. */
	w->bad += xv_srq_destroy(now, &srq) != -EBUSY;
	w->bad += xv_qp_destroy(now, &qp) != 0;
	w->bad += xv_srq_destroy(now, &srq) != 0;
	w->bad += xv_cq_destroy(now, &cq) != 0;
	return NULL;
}

TEST_F(unplug, shared_receives)
{
	struct worker w = { .t = &self->t, .p = &self->p };

	ASSERT_EQ(0, xvt_pair_destroy(&self->p));
	xvt_pair(_metadata, &self->t, &self->p, &(struct xvt_pair_opts){
		 .events = true, .no_connect = true });
	ASSERT_EQ(0, pthread_create(&w.thread, NULL, use_shared, &w));
	ASSERT_TRUE(xvt_wait_until(__atomic_load_n(&w.rounds,
				   __ATOMIC_RELAXED) > 3, 10000));
	ASSERT_EQ(0, unplug());
	ASSERT_TRUE(ended(w.thread));
	EXPECT_EQ(-ENODEV, w.ret);
	EXPECT_EQ(0, w.bad);
	check_gone(_metadata, &self->t, &self->p);
}

/* Files that are closed while the device goes. */
static void *close_all(void *arg)
{
	struct xvt *t = arg;
	unsigned int i;

	for (i = 0; i < 8; i++)
		xvt_close(&t[i]);
	return NULL;
}

TEST_F(unplug, files_being_closed)
{
	struct xvt t[8];
	struct xvt_pair p[8];
	pthread_t thread;
	unsigned int i;
	pid_t pid;

	for (i = 0; i < 8; i++) {
		xvt_open(_metadata, &t[i]);
		xvt_pair(_metadata, &t[i], &p[i],
			 &(struct xvt_pair_opts){ .events = true });
	}
	pid = start_unplug();
	ASSERT_EQ(0, pthread_create(&thread, NULL, close_all, t));
	EXPECT_EQ(0, finish(pid, 5000));
	ASSERT_TRUE(ended(thread));
	for (i = 0; i < 8; i++) {
		xv_eventq_close(&p[i].eq);
		munmap(p[i].buf, p[i].length);
	}
	check_gone(_metadata, &self->t, &self->p);
}

/* ---- a page that somebody else has to bring ---- */

struct lazy {
	int fd;
	void *page;
};

static void lazy_page(struct __test_metadata *_metadata, struct lazy *l)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	l->fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	ASSERT_LE(0, l->fd);
	ASSERT_EQ(0, ioctl(l->fd, UFFDIO_API, &api));
	l->page = xvt_map(XVT_PAGE, PROT_READ | PROT_WRITE);
	reg.range.start = (uintptr_t)l->page;
	reg.range.len = XVT_PAGE;
	ASSERT_EQ(0, ioctl(l->fd, UFFDIO_REGISTER, &reg));
}

static bool lazy_wanted(struct lazy *l)
{
	struct pollfd pfd = { .fd = l->fd, .events = POLLIN };

	return poll(&pfd, 1, 0) > 0;
}

static void lazy_bring(struct __test_metadata *_metadata, struct lazy *l)
{
	struct uffdio_zeropage zero = {
		.range = { (uintptr_t)l->page, XVT_PAGE },
	};

	EXPECT_EQ(0, ioctl(l->fd, UFFDIO_ZEROPAGE, &zero));
	close(l->fd);
}

static void *query_into_page(void *arg)
{
	struct worker *w = arg;
	struct xv_tx *tx;

	started(w);
	w->ret = xv_txn_begin(w->t->ctx, 0, &tx);
	if (w->ret)
		return NULL;
	xv_cq_query(tx, &w->p->cq[0], w->page);
	w->ret = xv_txn_commit(tx, NULL);
	xv_txn_free(tx);
	return NULL;
}

static void *register_page(void *arg)
{
	struct worker *w = arg;
	struct xv_mr mr = {};
	struct xv_tx *tx;

	started(w);
	w->ret = xv_txn_begin(w->t->ctx, 0, &tx);
	if (w->ret)
		return NULL;
	xv_mr_create(tx, &mr, XV_OPTS(xv_mr_opts, .pd = &w->p->pd,
				      .addr = w->page, .length = XVT_PAGE,
				      .access = XV_ACCESS_LOCAL_WRITE));
	w->ret = xv_txn_commit(tx, NULL);
	if (!w->ret && xv_mr_destroy(tx, &mr) == 0)
		xv_txn_commit(tx, NULL);
	xv_txn_free(tx);
	return NULL;
}

static void *enter_from_page(void *arg)
{
	struct worker *w = arg;
	struct xv_enter e = { .num_qps = 1, .qps = (uintptr_t)w->page };

	started(w);
	w->ret = xv_enter_raw(w->t->ctx, &e);
	return NULL;
}

static void *read_into_page(void *arg)
{
	struct worker *w = arg;

	started(w);
	w->ret = read(w->fd, w->page, 32) < 0 ? -errno : 0;
	return NULL;
}

static void blocked_call(struct __test_metadata *_metadata,
			 fixture *self, void *(*fn)(void *))
{
	struct worker w = { .t = &self->t, .p = &self->p,
			    .fd = self->p.eq.fd };
	struct lazy l;
	pid_t pid;

	lazy_page(_metadata, &l);
	w.page = l.page;
	ASSERT_EQ(0, pthread_create(&w.thread, NULL, fn, &w));
	ASSERT_TRUE(xvt_wait_until(lazy_wanted(&l), 5000));
	pid = start_unplug();
	/* It may wait for the call, but not for ever, nor after it. */
	xvt_wait_until(!xvt_is_plugged(), 200);
	lazy_bring(_metadata, &l);
	ASSERT_TRUE(ended(w.thread));
	EXPECT_EQ(0, finish(pid, 5000));
	EXPECT_TRUE(!w.ret || w.ret == -ENODEV || w.ret == -ENOENT) {
		TH_LOG("returned %d", w.ret);
	}
	check_gone(_metadata, &self->t, &self->p);
	munmap(l.page, XVT_PAGE);
}

TEST_F(unplug, output_page_is_late)
{
	blocked_call(_metadata, self, query_into_page);
}

TEST_F(unplug, memory_region_is_late)
{
	blocked_call(_metadata, self, register_page);
}

TEST_F(unplug, argument_of_enter_is_late)
{
	blocked_call(_metadata, self, enter_from_page);
}

TEST_F(unplug, event_buffer_is_late)
{
	struct xvt_pair *p = &self->p;

	ASSERT_EQ(0, xvt_recv(p, 1, 1, 4096, 64));
	ASSERT_EQ(0, xvt_send(p, 0, 2, 0, 64));
	xvt_expect_wc(_metadata, &p->cq[0], 2, XV_WC_SUCCESS);
	ASSERT_EQ(0, xv_wait(&p->cq[1], 1, xvt_ns(5000)));
	ASSERT_EQ(0, xv_arm(&p->cq[1]));
	blocked_call(_metadata, self, read_into_page);
}

/* A child that has a copy of everything. */
TEST_F(unplug, open_in_two_processes)
{
	int pipefd[2], status;
	char c;
	pid_t pid;

	ASSERT_EQ(0, pipe(pipefd));
	pid = fork();
	if (!pid) {
		struct xv_device_info info;
		int bad = read(pipefd[0], &c, 1) != 1;

		bad |= xv_device_query(xv_now(self->t.ctx), &info) != -ENODEV;
		_exit(bad);
	}
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, unplug());
	check_gone(_metadata, &self->t, &self->p);
	ASSERT_EQ(1, write(pipefd[1], "x", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	close(pipefd[0]);
	close(pipefd[1]);
}

TEST_HARNESS_MAIN
