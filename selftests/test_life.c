// SPDX-License-Identifier: GPL-2.0
/*
 * Files and processes: copies, children, sudden death, and nothing that stays.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <signal.h>
#include <sys/socket.h>
#include "xv_test.h"

FIXTURE(life) {
	struct xvt t;
	struct xvt_snap before;
	struct xvt_pair p;
	long vmpin;
};

FIXTURE_SETUP(life)
{
	self->vmpin = xvt_vmpin();
	xvt_open(_metadata, &self->t);
	xvt_snap(_metadata, &self->t, &self->before);
	xvt_pair(_metadata, &self->t, &self->p, NULL);
}

FIXTURE_TEARDOWN(life)
{
	xvt_teardown(_metadata);
	if (!self->t.ctx)
		return;
	if (self->p.pd.obj.handle)
		EXPECT_EQ(0, xvt_pair_destroy(&self->p));
	xvt_same(_metadata, &self->t, &self->before, "at the end");
	xvt_close(&self->t);
}

/* ---- what the kernel says of all files ---- */

static bool debugfs_line(const char *file, const char *start, char *line,
			 size_t size)
{
	char path[128];
	bool found = false;
	unsigned int i;

	/* The node's number does not matter: there is one device. */
	for (i = 0; i < 64 && !found; i++) {
		FILE *f;

		snprintf(path, sizeof(path),
			 "/sys/kernel/debug/xverbs/xverbs%u/%s", i, file);
		f = fopen(path, "r");
		while (f && !found && fgets(line, size, f))
			found = !strncmp(line, start, strlen(start));
		if (f)
			fclose(f);
	}
	return found;
}

static bool process_has_file(pid_t pid)
{
	char start[32], line[256];

	snprintf(start, sizeof(start), "pid %d ", pid);
	return debugfs_line("objects", start, line, sizeof(line));
}

static int num_zombies(void)
{
	char line[256];

	return debugfs_line("zombies", "zombies ", line, sizeof(line)) ?
	       atoi(line + 8) : -1;
}

/* ---- copies of the file ---- */

static bool is_mapped(void *addr)
{
	unsigned char vec;

	return !mincore((void *)((uintptr_t)addr & ~(XVT_PAGE - 1)), XVT_PAGE,
			&vec);
}

static int query_raw(struct xvt_msg *m, int fd, uint32_t pd)
{
	struct xv_pd_info info;

	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_PD, XV_M_QUERY);
	xvt_handle(m, pd);
	xvt_out(m, &info, sizeof(info));
	return xvt_run(m, fd);
}

/* Make and destroy a region; returns 0 if all went well. */
static int use_raw(struct xvt_msg *m, int fd, uint32_t pd)
{
	long before = xvt_vmpin();
	void *buf = xvt_map(XVT_PAGE, PROT_READ | PROT_WRITE);
	uint32_t mr;

	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_MR, XV_M_CREATE);
	xvt_new(m);
	xvt_attr(m, XV_GRP_OBJECT, XV_OBJECT_PD, 4, 0, pd);
	xvt_u64(m, XV_GRP_PARAMS, XV_PARAMS_ADDR, (uintptr_t)buf);
	xvt_u64(m, XV_GRP_PARAMS, XV_PARAMS_LENGTH, XVT_PAGE);
	if (xvt_run(m, fd))
		return 1;
	if (xvt_vmpin() != before + 4)
		return 2;
	mr = xvt_made(m, 0);
	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_MR, XV_M_DESTROY);
	xvt_handle(m, mr);
	if (xvt_run(m, fd))
		return 3;
	munmap(buf, XVT_PAGE);
	return xvt_vmpin() == before ? 0 : 4;
}

TEST_F(life, fork)
{
	struct xvt_pair *p = &self->p;
	struct xvt_msg *m = malloc(sizeof(*m));
	long vmpin = xvt_vmpin();
	int status;
	pid_t pid;

	ASSERT_NE(NULL, m);
	EXPECT_TRUE(is_mapped(p->cq[0].ring));
	pid = fork();
	if (!pid) {
		/* The rings belong to the parent; the handles to the file. */
		if (is_mapped(p->cq[0].ring) || is_mapped(p->qp[0].ring))
			_exit(10);
		if (xvt_vmpin())
			_exit(11);
		if (query_raw(m, self->t.fd, p->pd.obj.handle))
			_exit(12);
		_exit(use_raw(m, self->t.fd, p->pd.obj.handle));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status) {
		TH_LOG("child: %x", status);
	}
	EXPECT_EQ(vmpin, xvt_vmpin());
	/* The parent goes on as if nothing had been. */
	xvt_fill(p->buf, 64, 1);
	ASSERT_EQ(0, xvt_recv(p, 1, 1, 4096, 64));
	ASSERT_EQ(0, xvt_send(p, 0, 2, 0, 64));
	xvt_expect_wc(_metadata, &p->cq[1], 1, XV_WC_SUCCESS);
	EXPECT_TRUE(xvt_filled(p->buf + 4096, 64, 1));
	free(m);
}

TEST_F(life, exec)
{
	char fd[16];
	int status;
	pid_t pid;

	EXPECT_EQ(FD_CLOEXEC, fcntl(self->t.fd, F_GETFD));
	snprintf(fd, sizeof(fd), "%d", self->t.fd);
	pid = fork();
	if (!pid) {
		execl("/bin/sh", "sh", "-c", "[ ! -e /proc/self/fd/$0 ]", fd,
		      NULL);
		_exit(127);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* The last copy counts, whichever it is. */
TEST_F(life, dup)
{
	struct xvt_msg *m = malloc(sizeof(*m));
	uint32_t pd = self->p.pd.obj.handle;
	long pinned = xvt_vmpin();
	int copy = dup(self->t.fd);

	ASSERT_NE(NULL, m);
	xvt_close(&self->t);
	EXPECT_EQ(0, query_raw(m, copy, pd));
	EXPECT_EQ(0, use_raw(m, copy, pd));
	EXPECT_EQ(pinned, xvt_vmpin());
	close(copy);
	EXPECT_EQ(self->vmpin, xvt_vmpin());
	free(m);
}

TEST_F(life, mapping_holds_the_file)
{
	struct xv_area *a = &self->p.cq[0].info.area;
	long pinned = xvt_vmpin();
	void *ring = mmap(NULL, a->mmap_length, PROT_READ | PROT_WRITE,
			  MAP_SHARED, self->t.fd, a->mmap_offset);

	ASSERT_NE(MAP_FAILED, ring);
	xvt_close(&self->t);
	EXPECT_TRUE(process_has_file(getpid()));
	EXPECT_EQ(pinned, xvt_vmpin());
	((volatile uint8_t *)ring)[a->offset] = 1;
	ASSERT_EQ(0, munmap(ring, a->mmap_length));
	EXPECT_EQ(self->vmpin, xvt_vmpin());
	EXPECT_FALSE(process_has_file(getpid()));
}

static int send_fd(int sock, int fd)
{
	char data = 'x', control[CMSG_SPACE(sizeof(int))] = {};
	struct iovec iov = { &data, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	return sendmsg(sock, &msg, 0);
}

static int recv_fd(int sock)
{
	char data, control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { &data, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control),
	};
	int fd = -1;

	if (recvmsg(sock, &msg, 0) == 1 && CMSG_FIRSTHDR(&msg))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	return fd;
}

/* Who has the file has the objects, and needs no right to open the device. */
TEST_F(life, passed_to_another_process)
{
	struct xvt_msg *m = malloc(sizeof(*m));
	uint32_t pd = self->p.pd.obj.handle;
	int sock[2], status;
	pid_t pid;

	ASSERT_NE(NULL, m);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	pid = fork();
	if (!pid) {
		int fd;

		close(self->t.fd);
		fd = recv_fd(sock[0]);
		if (fd < 0)
			_exit(20);
		/* The parent has closed its own: this is the last one. */
		if (recv_fd(sock[0]) != -1)
			_exit(21);
		if (query_raw(m, fd, pd))
			_exit(22);
		_exit(use_raw(m, fd, pd));
	}
	ASSERT_EQ(1, send_fd(sock[1], self->t.fd));
	xvt_close(&self->t);
	ASSERT_EQ(1, write(sock[1], "y", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status) {
		TH_LOG("child: %x", status);
	}
	EXPECT_EQ(self->vmpin, xvt_vmpin());
	EXPECT_FALSE(process_has_file(getpid()));
	close(sock[0]);
	close(sock[1]);
	free(m);
}

TEST_F(life, not_root)
{
	struct xvt_msg *m = malloc(sizeof(*m));
	struct rlimit lim = { 1 << 20, 1 << 20 };
	struct xv_device *list;
	unsigned int num;
	int status;
	pid_t pid;

	ASSERT_NE(NULL, m);
	ASSERT_EQ(0, xv_device_list(&list, &num));
	ASSERT_LE(1, num);
	pid = fork();
	if (!pid) {
		struct xv_ctx *ctx;

		if (setrlimit(RLIMIT_MEMLOCK, &lim) || setgid(65534) ||
		    setuid(65534))
			_exit(20);
		if (open(list[0].node, O_RDWR) >= 0 || errno != EACCES)
			_exit(21);
		if (xv_open("rxe0", 0, &ctx) != -EACCES)
			_exit(22);
		/* What was opened by somebody else works. */
		if (query_raw(m, self->t.fd, self->p.pd.obj.handle))
			_exit(23);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status) {
		TH_LOG("child: %x", status);
	}
	xv_device_list_free(list);
	free(m);
}

/* ---- sudden death ---- */

static void *sleep_for_ever(void *arg)
{
	struct xvt_pair *p = arg;
	struct xv_enter e = {
		.cq = p->cq[1].obj.handle, .min_complete = 16,
		.timeout_ns = -1,
	};

	for (;;)
		xv_enter_raw(p->t->ctx, &e);
	return NULL;
}

static void *keep_creating(void *arg)
{
	struct xvt *t = arg;
	struct xvt_msg *m = malloc(sizeof(*m));

	for (;;) {
		uint32_t pd;

		xvt_begin(m, 0);
		xvt_op(m, XV_OBJ_PD, XV_M_CREATE);
		xvt_new(m);
		if (xvt_run(m, t->fd))
			continue;
		pd = xvt_made(m, 0);
		use_raw(m, t->fd, pd);
		xvt_begin(m, 0);
		xvt_op(m, XV_OBJ_PD, XV_M_DESTROY);
		xvt_handle(m, pd);
		xvt_run(m, t->fd);
	}
	return NULL;
}

/* Everything that a process can be in the middle of. */
static void live_dangerously(struct __test_metadata *_metadata, int ready)
{
	struct xvt_pair p;
	pthread_t thread;
	struct xvt t;
	struct xv_wc wc[16];
	unsigned int i;

	xvt_open(_metadata, &t);
	xvt_pair(_metadata, &t, &p, &(struct xvt_pair_opts){ .events = true });
	for (i = 0; i < 4; i++)
		pthread_create(&thread, NULL, i & 1 ? sleep_for_ever :
			       keep_creating, i & 1 ? (void *)&p : &t);
	for (i = 0;; i++) {
		if (xv_recvs_free(&p.qp[1]))
			xvt_recv(&p, 1, i, 8192, 4096);
		if (xv_sends_free(&p.qp[0]))
			xvt_send(&p, 0, i, 0, 4096);
		xv_wait(&p.cq[0], 0, 0);
		xv_wait(&p.cq[1], 0, 0);
		xv_arm(&p.cq[0]);
		xv_poll(&p.cq[0], wc, 16);
		xv_poll(&p.cq[1], wc, 16);
		if (i == 20 && write(ready, "r", 1) != 1)
			_exit(1);
	}
}

TEST_F(life, killed_in_the_middle)
{
	unsigned int n = xvt_count(LIFE_KILLS);
	unsigned int i;
	int zombies = num_zombies();

	for (i = 0; i < n; i++) {
		int ready[2], status;
		pid_t pid;
		char c;

		ASSERT_EQ(0, pipe(ready));
		pid = fork();
		if (!pid) {
			close(ready[0]);
			live_dangerously(_metadata, ready[1]);
		}
		close(ready[1]);
		ASSERT_EQ(1, read(ready[0], &c, 1));
		EXPECT_TRUE(process_has_file(pid));
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_TRUE(xvt_wait_until(!process_has_file(pid), 5000));
		close(ready[0]);
	}
	EXPECT_EQ(zombies, num_zombies());
}

/* ---- again and again ---- */

TEST_F(life, many_sets)
{
	unsigned int n = xvt_count(LIFE_CYCLES);
	struct xvt_snap before;
	struct xvt_pair p;
	unsigned int i;

	xvt_snap(_metadata, &self->t, &before);
	for (i = 0; i < n; i++) {
		xvt_pair(_metadata, &self->t, &p, &(struct xvt_pair_opts){
			 .events = i & 1, .no_connect = i & 2 });
		if (!(i & 2)) {
			ASSERT_EQ(0, xvt_recv(&p, 1, 1, 4096, 64));
			ASSERT_EQ(0, xvt_send(&p, 0, 2, 0, 64));
		}
		/* The same areas serve for ever. */
		EXPECT_GE(3, p.cq[0].info.area.mmap_offset >> 28);
		ASSERT_EQ(0, xvt_pair_destroy(&p));
	}
	xvt_same(_metadata, &self->t, &before, "after all sets");
}

TEST_F(life, many_files)
{
	unsigned int n = xvt_count(LIFE_OPENS);
	struct xvt_pair p;
	unsigned int i;
	struct xvt t;

	for (i = 0; i < n; i++) {
		xvt_open(_metadata, &t);
		xvt_pair(_metadata, &t, &p, &(struct xvt_pair_opts){
			 .events = true });
		ASSERT_EQ(0, xvt_recv(&p, 1, 1, 4096, 64));
		ASSERT_EQ(0, xvt_send(&p, 0, 2, 0, 64));
		if (i & 1)
			xv_eventq_close(&p.eq);
		/* With everything alive. */
		xvt_close(&t);
		xv_eventq_close(&p.eq);
		munmap(p.buf, p.length);
	}
	EXPECT_EQ(0, num_zombies());
}

TEST_HARNESS_MAIN
