// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that stand still in a page which nobody brings, while what they use is
 * destroyed, their file is closed, their process is killed, or the device goes.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Needs rdma(8) and a veth end v0, as the virtual machines have it.
 */
#include <linux/userfaultfd.h>
#include <signal.h>
#include "xv_test.h"

/* ---- a page that somebody else has to bring ---- */

struct lazy {
	int fd;
	uint8_t *page;
	bool is_wp;	/* it is there, but not for writing */
};

/* 0, or a negative errno. */
static int lazy_register(struct lazy *l, void *page, size_t bytes, bool is_wp)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range = { (uintptr_t)page, bytes },
		.mode = is_wp ? UFFDIO_REGISTER_MODE_WP :
				UFFDIO_REGISTER_MODE_MISSING,
	};

	l->page = page;
	l->is_wp = is_wp;
	l->fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (l->fd < 0)
		return -errno;
	if (ioctl(l->fd, UFFDIO_API, &api) ||
	    ioctl(l->fd, UFFDIO_REGISTER, &reg)) {
		int ret = -errno;

		close(l->fd);
		return ret;
	}
	return 0;
}

static int lazy_protect(struct lazy *l, bool on)
{
	struct uffdio_writeprotect wp = {
		.range = { (uintptr_t)l->page, XVT_PAGE },
		.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0,
	};

	return ioctl(l->fd, UFFDIO_WRITEPROTECT, &wp);
}

static int lazy_page(struct lazy *l, bool is_wp)
{
	void *page = xvt_map(XVT_PAGE, PROT_READ | PROT_WRITE);
	int ret;

	if (!page)
		return -ENOMEM;
	if (is_wp)
		*(uint8_t *)page = 1;
	ret = lazy_register(l, page, XVT_PAGE, is_wp);
	return ret || !is_wp ? ret : lazy_protect(l, true);
}

static bool lazy_wanted(struct lazy *l)
{
	struct pollfd pfd = { .fd = l->fd, .events = POLLIN };

	return poll(&pfd, 1, 0) > 0;
}

/* Bring it, and take it out of the hands of userfaultfd. */
static int lazy_bring(struct lazy *l)
{
	struct uffdio_zeropage zero = {
		.range = { (uintptr_t)l->page, XVT_PAGE },
	};
	int ret;

	ret = l->is_wp ? lazy_protect(l, false) :
			 ioctl(l->fd, UFFDIO_ZEROPAGE, &zero);
	close(l->fd);
	return ret;
}

/* ---- the device ---- */

/* Files that a process has open, in the kernel's own list. */
static int files_of(pid_t pid)
{
	char path[128], line[256], start[32];
	unsigned int i;
	int n = 0;

	snprintf(start, sizeof(start), "pid %d ", pid);
	for (i = 0; i < 64; i++) {
		FILE *f;

		snprintf(path, sizeof(path),
			 "/sys/kernel/debug/xverbs/xverbs%u/objects", i);
		f = fopen(path, "re");
		while (f && fgets(line, sizeof(line), f))
			n += !strncmp(line, start, strlen(start));
		if (f)
			fclose(f);
	}
	return n;
}

/* ---- calls ---- */

/**
 * struct stall - a call that stands still, and what it uses
 * @t: a file of its own
 * @fd: its descriptor
 * @pd: protection domain that only the call uses
 * @cq: likewise
 * @eq: event queue with an event of @source
 * @base: what @source needs
 * @source: completion queue with a completion
 * @qp: whose completion that is
 * @lazy: the page
 * @call: which call
 * @thread: its thread
 * @done: it has returned
 * @ret: what it returned
 * @info: what it is told
 * @m: its message
 */
struct stall {
	struct xvt t;
	int fd;
	struct xv_pd pd;
	struct xv_cq cq;
	struct xv_eventq eq;
	struct xv_pd base;
	struct xv_cq source;
	struct xv_qp qp;
	struct lazy lazy;
	const struct call *call;
	pthread_t thread;
	bool done;
	int ret;
	struct xv_qp_info info;
	struct xvt_msg m;
};

/**
 * struct call - a call that can stand still
 * @name: for people
 * @run: makes the call
 * @is_wp: the page is there, but can not be written
 * @victim: destroys what it uses
 * @destroyed: what it returns then
 * @closed: what it returns when all was closed
 * @removed: what it returns when the device has gone
 */
struct call {
	const char *name;
	int (*run)(struct stall *s);
	bool is_wp;
	int (*victim)(struct stall *s);
	int destroyed;
	int closed;
	int removed;
};

static int query_into_page(struct stall *s)
{
	xvt_begin(&s->m, 0);
	xvt_op(&s->m, XV_OBJ_CQ, XV_M_QUERY);
	xvt_handle(&s->m, s->cq.obj.handle);
	xvt_out(&s->m, s->lazy.page, sizeof(struct xv_cq_info));
	return xvt_run(&s->m, s->fd);
}

static int register_page(struct stall *s)
{
	xvt_begin(&s->m, 0);
	xvt_op(&s->m, XV_OBJ_MR, XV_M_CREATE);
	xvt_new(&s->m);
	xvt_u32(&s->m, XV_GRP_OBJECT, XV_OBJECT_PD, s->pd.obj.handle);
	xvt_u32(&s->m, XV_GRP_ACCESS, XV_ACCESS_FLAGS, XV_ACCESS_LOCAL_WRITE);
	xvt_u64(&s->m, XV_GRP_PARAMS, XV_PARAMS_ADDR, (uintptr_t)s->lazy.page);
	xvt_u64(&s->m, XV_GRP_PARAMS, XV_PARAMS_LENGTH, XVT_PAGE);
	return xvt_run(&s->m, s->fd);
}

static int receives_from_page(struct stall *s)
{
	xvt_begin(&s->m, 0);
	xvt_op(&s->m, XV_OBJ_QP, XV_M_CREATE);
	xvt_new(&s->m);
	xvt_u32(&s->m, XV_GRP_OBJECT, XV_OBJECT_PD, s->pd.obj.handle);
	xvt_u32(&s->m, XV_GRP_OBJECT, XV_OBJECT_SEND_CQ, s->cq.obj.handle);
	xvt_u32(&s->m, XV_GRP_CAPS, XV_CAPS_SEND_WR, 1);
	xvt_u32(&s->m, XV_GRP_CAPS, XV_CAPS_RECV_WR, 1);
	xvt_out(&s->m, &s->info, sizeof(s->info));
	xvt_op(&s->m, XV_OBJ_QP, XV_M_POST_RECV);
	xvt_ref(&s->m, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 0);
	xvt_attr(&s->m, XV_GRP_PARAMS, XV_PARAMS_RECVS, sizeof(struct xv_recv),
		 0, (uintptr_t)s->lazy.page);
	return xvt_run(&s->m, s->fd);
}

static int message_in_page(struct stall *s)
{
	return ioctl(s->fd, XV_IOC_TXN, s->lazy.page) ? -errno : 0;
}

/* The call has failed and wants to say why. */
static int record_into_page(struct stall *s)
{
	int ret;

	xvt_begin(&s->m, 0);
	xvt_op(&s->m, XV_OBJ_CQ, XV_M_QUERY);
	xvt_handle(&s->m, 0x7fffffff);
	xvt_out(&s->m, s->m.raw + XV_MAX_BYTES, sizeof(struct xv_cq_info));
	s->m.txn.length = s->m.len;
	s->m.txn.error_ptr = (uintptr_t)s->lazy.page;
	ret = ioctl(s->fd, XV_IOC_TXN, &s->m.txn) ? -errno : 0;
	if (ret == -ENOENT &&
	    ((struct xv_error *)s->lazy.page)->reason != XV_R_NO_HANDLE)
		return -EPROTO;
	return ret;
}

static int enter_from_page(struct stall *s)
{
	struct xv_enter e = {
		.num_qps = 1, .qps = (uintptr_t)s->lazy.page,
		.cq = s->cq.obj.handle,
	};

	return ioctl(s->fd, XV_IOC_ENTER, &e) ? -errno : 0;
}

static int events_into_page(struct stall *s)
{
	ssize_t n = read(s->eq.fd, s->lazy.page, sizeof(struct xv_event));

	return n < 0 ? -errno : n ? 0 : -ENODATA;
}

static int destroy_pd(struct stall *s)
{
	return xv_pd_destroy(xv_now(s->t.ctx), &s->pd);
}

static int destroy_cq(struct stall *s)
{
	return xv_cq_destroy(xv_now(s->t.ctx), &s->cq);
}

/* The source of the event that it is to read. */
static int destroy_source(struct stall *s)
{
	struct xv_tx *now = xv_now(s->t.ctx);

	return xv_qp_destroy(now, &s->qp) ?: xv_cq_destroy(now, &s->source);
}

static const struct call calls[] = {
	{ .name = "output", .run = query_into_page, .victim = destroy_cq,
	  .destroyed = -ENOENT, .removed = -ENODEV },
	{ .name = "memory region", .run = register_page, .victim = destroy_pd,
	  .destroyed = -ENOENT, .removed = -ENODEV },
	{ .name = "memory region, protected", .run = register_page,
	  .is_wp = true, .victim = destroy_pd,
	  .destroyed = -ENOENT, .removed = -ENODEV },
	{ .name = "receives", .run = receives_from_page, .victim = destroy_cq,
	  .destroyed = -ENOENT, .removed = -ENODEV },
	/* Zeros are no message. */
	{ .name = "message", .run = message_in_page, .victim = destroy_pd,
	  .destroyed = -EINVAL, .closed = -EINVAL, .removed = -EINVAL },
	{ .name = "error record", .run = record_into_page,
	  .victim = destroy_pd,
	  .destroyed = -ENOENT, .closed = -ENOENT, .removed = -ENOENT },
	/* Nor do they name a queue pair. */
	{ .name = "argument of ENTER", .run = enter_from_page,
	  .victim = destroy_cq,
	  .destroyed = -ENOENT, .closed = -ENOENT, .removed = -ENODEV },
	/* What was there before a removal can be read, else it is gone. */
	{ .name = "event", .run = events_into_page, .victim = destroy_source,
	  .destroyed = -EAGAIN, .closed = -ENODATA },
};

/* ---- standing still ---- */

static void *call_main(void *arg)
{
	struct stall *s = arg;

	s->ret = s->call->run(s);
	__atomic_store_n(&s->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static bool is_done(struct stall *s)
{
	return __atomic_load_n(&s->done, __ATOMIC_ACQUIRE);
}

/* An event that is there to be read: of a receive which was flushed. */
static void make_event(struct __test_metadata *_metadata, struct stall *s)
{
	struct xv_tx *now = xv_now(s->t.ctx);
	struct xv_recv r;

	ASSERT_EQ(0, xv_qp_create(now, &s->qp, XV_OPTS(xv_qp_opts,
				  .pd = &s->base, .send_cq = &s->source,
				  .send_wr = 1, .recv_wr = 1)));
	xv_recv_prep(&r, 1);
	ASSERT_EQ(0, xv_post_recv(&s->qp, &r, 1));
	ASSERT_EQ(0, xv_submit(&s->qp));
	ASSERT_EQ(0, xv_arm(&s->source));
	ASSERT_EQ(0, xv_qp_modify(now, &s->qp, XV_OPTS(xv_qp_attr,
						       .state = XV_QPS_ERR)));
	ASSERT_TRUE(xvt_wait_until(xvt_has_event(&s->eq), 5000));
	ASSERT_EQ(0, fcntl(s->eq.fd, F_SETFL, O_NONBLOCK));
}

/* A file with what the call needs, and the call; it stands still then. */
static void start(struct __test_metadata *_metadata, struct stall *s,
		  const struct call *call)
{
	struct xv_tx *tx;

	memset(s, 0, sizeof(*s));
	s->call = call;
	xvt_open(_metadata, &s->t);
	s->fd = s->t.fd;
	ASSERT_EQ(0, xv_txn_begin(s->t.ctx, 0, &tx));
	xv_eventq_create(tx, &s->eq);
	xv_pd_create(tx, &s->pd);
	xv_pd_create(tx, &s->base);
	xv_cq_create(tx, &s->cq, XV_OPTS(xv_cq_opts, .cqe = 8));
	xv_cq_create(tx, &s->source, XV_OPTS(xv_cq_opts, .cqe = 8,
					     .eventq = &s->eq));
	ASSERT_EQ(0, xv_txn_commit(tx, NULL));
	xv_txn_free(tx);
	make_event(_metadata, s);
	ASSERT_EQ(0, lazy_page(&s->lazy, call->is_wp));
	ASSERT_EQ(0, pthread_create(&s->thread, NULL, call_main, s));
	ASSERT_TRUE(xvt_wait_until(lazy_wanted(&s->lazy) || is_done(s), 5000)) {
		TH_LOG("%s: does not want the page", call->name);
	}
	EXPECT_FALSE(is_done(s)) {
		TH_LOG("%s: returned %d", call->name, s->ret);
	}
}

/* The page comes, and the call ends. */
static void bring(struct __test_metadata *_metadata, struct stall *s)
{
	struct timespec ts;

	EXPECT_EQ(0, lazy_bring(&s->lazy));
	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += xvt_ns(5000) / 1000000000;
	ASSERT_EQ(0, pthread_timedjoin_np(s->thread, NULL, &ts)) {
		TH_LOG("%s: does not end", s->call->name);
	}
	munmap(s->lazy.page, XVT_PAGE);
}

/* What another does meanwhile, in a thread of its own: it must not stand too. */
struct other {
	int (*run)(struct stall *s);
	struct stall *s;
	pthread_t thread;
	int ret;
};

static void *other_main(void *arg)
{
	struct other *o = arg;

	o->ret = o->run(o->s);
	return NULL;
}

static int meanwhile(struct __test_metadata *_metadata, struct stall *s,
		     int (*run)(struct stall *s))
{
	struct other *o = calloc(1, sizeof(*o));
	struct timespec ts;
	int ret;

	ASSERT_NE(NULL, o);
	o->run = run;
	o->s = s;
	ASSERT_EQ(0, pthread_create(&o->thread, NULL, other_main, o));
	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += xvt_ns(5000) / 1000000000;
	ASSERT_EQ(0, pthread_timedjoin_np(o->thread, NULL, &ts)) {
		TH_LOG("%s: another waits for it", s->call->name);
	}
	ret = o->ret;
	free(o);
	return ret;
}

FIXTURE(stall) {
	struct stall *s;
	long vmpin;
	int fds;
};

FIXTURE_SETUP(stall)
{
	ASSERT_TRUE(xvt_plug());
	self->s = calloc(1, sizeof(*self->s));
	ASSERT_NE(NULL, self->s);
	self->vmpin = xvt_vmpin();
	self->fds = xvt_num_fds();
}

FIXTURE_TEARDOWN(stall)
{
	xvt_teardown(_metadata);
	EXPECT_TRUE(xvt_plug());
	free(self->s);
}

/* Nothing of it is left. */
#define EXPECT_NOTHING(what)						\
do {									\
	EXPECT_TRUE(xvt_wait_until(!files_of(getpid()), 5000)) {	\
		TH_LOG("%s: a file is left", what);			\
	}								\
	EXPECT_EQ(self->vmpin, xvt_vmpin()) {				\
		TH_LOG("%s: VmPin", what);				\
	}								\
	EXPECT_EQ(self->fds, xvt_num_fds()) {				\
		TH_LOG("%s: descriptors", what);			\
	}								\
} while (0)

static int close_all(struct stall *s)
{
	xv_eventq_close(&s->eq);
	xvt_close(&s->t);
	return 0;
}

TEST_F(stall, while_its_objects_go)
{
	struct stall *s = self->s;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		const struct call *call = &calls[i];

		start(_metadata, s, call);
		/* It holds no lock. */
		EXPECT_EQ(0, meanwhile(_metadata, s, call->victim)) {
			TH_LOG("%s: reason %u", call->name,
			       xv_txn_error(xv_now(s->t.ctx))->reason);
		}
		EXPECT_FALSE(is_done(s));
		bring(_metadata, s);
		EXPECT_EQ(call->destroyed, s->ret) {
			TH_LOG("%s", call->name);
		}
		close_all(s);
		EXPECT_NOTHING(call->name);
	}
}

/* The close is at once; the call ends as if nothing had been, then all goes. */
TEST_F(stall, while_its_file_is_closed)
{
	struct stall *s = self->s;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		const struct call *call = &calls[i];

		start(_metadata, s, call);
		EXPECT_EQ(0, meanwhile(_metadata, s, close_all));
		/* A call of the device holds its file. */
		EXPECT_EQ(call->run != events_into_page, files_of(getpid())) {
			TH_LOG("%s", call->name);
		}
		bring(_metadata, s);
		EXPECT_EQ(call->closed, s->ret) {
			TH_LOG("%s", call->name);
		}
		EXPECT_NOTHING(call->name);
	}
}

/* Death waits for no page. */
TEST_F(stall, while_its_process_dies)
{
	struct stall *s = self->s;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		int ready[2], status = -1;
		pid_t pid, got = 0;
		char c = 0;

		ASSERT_EQ(0, pipe2(ready, O_CLOEXEC));
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			start(_metadata, s, &calls[i]);
			c = _metadata->passed ? 'r' : 'x';
			if (write(ready[1], &c, 1) == 1)
				pause();
			_exit(1);
		}
		close(ready[1]);
		EXPECT_EQ(1, read(ready[0], &c, 1));
		EXPECT_EQ('r', c) {
			TH_LOG("%s", calls[i].name);
		}
		EXPECT_EQ(1, files_of(pid));
		ASSERT_EQ(0, kill(pid, SIGKILL));
		EXPECT_TRUE(xvt_wait_until((got = waitpid(pid, &status,
							  WNOHANG)), 5000)) {
			TH_LOG("%s: does not die", calls[i].name);
		}
		EXPECT_EQ(pid, got);
		EXPECT_TRUE(WIFSIGNALED(status));
		EXPECT_TRUE(xvt_wait_until(!files_of(pid), 5000)) {
			TH_LOG("%s: its file is left", calls[i].name);
		}
		close(ready[0]);
		EXPECT_NOTHING(calls[i].name);
	}
}

static pid_t start_unplug(void)
{
	pid_t pid = fork();

	if (!pid) {
		execlp("rdma", "rdma", "link", "delete", "rxe0", NULL);
		_exit(127);
	}
	return pid;
}

/* Removal waits for no page. */
TEST_F(stall, while_its_device_goes)
{
	struct stall *s = self->s;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		const struct call *call = &calls[i];
		int status = -1;
		pid_t pid;

		ASSERT_TRUE(xvt_plug());
		start(_metadata, s, call);
		pid = start_unplug();
		EXPECT_TRUE(xvt_wait_until(waitpid(pid, &status, WNOHANG),
					   5000)) {
			TH_LOG("%s: the device does not go", call->name);
		}
		EXPECT_EQ(0, status);
		EXPECT_FALSE(is_done(s));
		bring(_metadata, s);
		EXPECT_EQ(call->removed, s->ret) {
			TH_LOG("%s", call->name);
		}
		close_all(s);
		EXPECT_NOTHING(call->name);
	}
}

/* The rings are the kernel's pages: nobody can keep one back. */
TEST_F(stall, not_in_a_ring)
{
	struct stall *s = self->s;
	struct lazy l;
	uint8_t *page;

	start(_metadata, s, &calls[0]);
	page = (uint8_t *)((uintptr_t)s->source.ring & ~(XVT_PAGE - 1));
	EXPECT_EQ(-EINVAL, lazy_register(&l, page, XVT_PAGE, false));
	EXPECT_EQ(-EINVAL, lazy_register(&l, page, XVT_PAGE, true));
	/* A page that was dropped is there again, with what it had. */
	ASSERT_EQ(1, s->source.ring->tail);
	ASSERT_EQ(0, madvise(page, XVT_PAGE, MADV_DONTNEED));
	EXPECT_EQ(1, s->source.ring->tail);
	bring(_metadata, s);
	close_all(s);
	EXPECT_NOTHING("rings");
}

TEST_HARNESS_MAIN
