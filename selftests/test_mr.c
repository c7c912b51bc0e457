// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions: what may be registered, what it costs, and that it stays what
 * it was.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <sys/prctl.h>
#include "xv_test.h"

FIXTURE(mr) {
	struct xvt t;
	struct xvt_snap before;
	struct xv_tx *now;
	struct xv_pd pd;
};

FIXTURE_SETUP(mr)
{
	xvt_open(_metadata, &self->t);
	self->now = xv_now(self->t.ctx);
	xvt_snap(_metadata, &self->t, &self->before);
	ASSERT_EQ(0, xv_pd_create(self->now, &self->pd));
}

FIXTURE_TEARDOWN(mr)
{
	xvt_teardown(_metadata);
	if (!self->t.ctx)
		return;
	EXPECT_EQ(0, xv_pd_destroy(self->now, &self->pd));
	xvt_same(_metadata, &self->t, &self->before, "at the end");
	xvt_close(&self->t);
}

static int reg(struct xv_tx *now, struct xv_pd *pd, struct xv_mr *mr,
	       const void *addr, uint64_t length, uint32_t access)
{
	memset(mr, 0, sizeof(*mr));
	return xv_mr_create(now, mr, XV_OPTS(xv_mr_opts, .pd = pd,
					     .addr = (void *)addr,
					     .length = length,
					     .access = access));
}

TEST_F(mr, addresses_that_cannot_be)
{
	uint8_t *p = xvt_map(4 * XVT_PAGE, PROT_READ | PROT_WRITE);
	struct {
		uint64_t addr, length;
		int err;
		uint16_t attr, reason;
	} bad[] = {
		{ ~0ULL - 4095, 8192, EINVAL, XV_PARAMS_LENGTH, XV_R_RANGE },
		{ ~0ULL - 4095, 4096, EINVAL, XV_PARAMS_LENGTH, XV_R_RANGE },
		{ ~0ULL - 4095, 4095, EINVAL, XV_PARAMS_LENGTH, XV_R_RANGE },
		{ (uintptr_t)p, ~0ULL, EINVAL, XV_PARAMS_LENGTH, XV_R_RANGE },
		{ 4096, ~0ULL - 4096, EINVAL, XV_PARAMS_LENGTH, XV_R_RANGE },
		{ (uintptr_t)p, 0, EINVAL, XV_PARAMS_LENGTH, XV_R_RANGE },
		{ 0, 4096, EFAULT, XV_PARAMS_ADDR, XV_R_USER_MEMORY },
		{ (uintptr_t)p, 1ULL << 46, EFAULT, XV_PARAMS_ADDR,
		  XV_R_USER_MEMORY },
		{ 0xffff888000000000ULL, 4096, EFAULT, XV_PARAMS_ADDR,
		  XV_R_USER_MEMORY },
		{ 0x00007fffffffe000ULL, 1 << 20, EFAULT, XV_PARAMS_ADDR,
		  XV_R_USER_MEMORY },
	};
	struct xvt_msg *m = malloc(sizeof(*m));
	unsigned int i;

	ASSERT_NE(NULL, m);
	/* A hole behind, so that a long region meets it soon. */
	ASSERT_EQ(0, munmap(p + 2 * XVT_PAGE, XVT_PAGE));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		char what[32];

		snprintf(what, sizeof(what), "case %u", i);
		/* By hand: a pointer of 32 bits would not hold all of them. */
		xvt_begin(m, 0);
		xvt_op(m, XV_OBJ_MR, XV_M_CREATE);
		xvt_new(m);
		xvt_u32(m, XV_GRP_OBJECT, XV_OBJECT_PD, self->pd.obj.handle);
		xvt_u64(m, XV_GRP_PARAMS, XV_PARAMS_ADDR, bad[i].addr);
		xvt_u64(m, XV_GRP_PARAMS, XV_PARAMS_LENGTH, bad[i].length);
		xvt_run(m, self->t.fd);
		xvt_failed(_metadata, what, m->ret, &m->err, bad[i].err, 0,
			   XV_GRP_PARAMS, bad[i].attr, bad[i].reason);
		EXPECT_EQ(self->before.vmpin, xvt_vmpin());
	}
	free(m);
	munmap(p, 4 * XVT_PAGE);
}

TEST_F(mr, rights)
{
	uint8_t *p = xvt_map(XVT_PAGE, PROT_READ | PROT_WRITE);
	struct xv_mr mr;
	uint32_t access;

	for (access = 0; access < 32; access++) {
		bool ok = access & XV_ACCESS_LOCAL_WRITE ||
			  !(access & (XV_ACCESS_REMOTE_WRITE |
				      XV_ACCESS_REMOTE_ATOMIC));
		int ret = reg(self->now, &self->pd, &mr, p, 100, access);

		if (!ok) {
			xvt_failed(_metadata, "rights", ret,
				   xv_txn_error(self->now), EINVAL, 0,
				   XV_GRP_ACCESS, XV_ACCESS_FLAGS,
				   XV_R_ACCESS);
			continue;
		}
		ASSERT_EQ(0, ret);
		EXPECT_EQ(access, mr.info.access);
		EXPECT_EQ(!!(access & XVT_REMOTE), !!mr.info.rkey);
		ASSERT_EQ(0, xv_mr_destroy(self->now, &mr));
	}
	EXPECT_EQ(-EOPNOTSUPP, reg(self->now, &self->pd, &mr, p, 100,
				   XV_ACCESS_ON_DEMAND));
	EXPECT_EQ(XV_R_NOT_OFFERED, xv_txn_error(self->now)->reason);
	EXPECT_EQ(-EINVAL, reg(self->now, &self->pd, &mr, p, 100, 1 << 30));
	EXPECT_EQ(XV_R_FLAGS, xv_txn_error(self->now)->reason);
	EXPECT_EQ(31, xv_txn_error(self->now)->detail);
	munmap(p, XVT_PAGE);
}

TEST_F(mr, query)
{
	uint8_t *p = xvt_map(2 * XVT_PAGE, PROT_READ | PROT_WRITE);
	struct xv_mr_info info;
	struct xv_pd_info pd;
	struct xv_mr mr;

	ASSERT_EQ(0, reg(self->now, &self->pd, &mr, p + 3, 5000,
			 XVT_ALL_ACCESS));
	memset(&info, 0xAA, sizeof(info));
	ASSERT_EQ(0, xv_mr_query(self->now, &mr, &info));
	EXPECT_EQ(0, memcmp(&info, &mr.info, sizeof(info)));
	EXPECT_EQ((uintptr_t)p + 3, info.addr);
	EXPECT_EQ(5000, info.length);
	EXPECT_EQ((uintptr_t)p + 3, info.iova);
	EXPECT_EQ(self->pd.obj.handle, info.pd);
	EXPECT_NE(0, info.restrack_id);
	ASSERT_EQ(0, xv_pd_query(self->now, &self->pd, &pd));
	EXPECT_EQ(1, pd.num_dependents);
	EXPECT_EQ(-EBUSY, xv_pd_destroy(self->now, &self->pd));
	EXPECT_EQ(XV_OBJ_MR, xv_txn_error(self->now)->object);
	EXPECT_EQ(mr.obj.handle, xv_txn_error(self->now)->handle);
	ASSERT_EQ(0, xv_mr_destroy(self->now, &mr));
	munmap(p, 2 * XVT_PAGE);
}

/* The remote side may know a region by another address. */
TEST_F(mr, iova)
{
	struct xvt_pair p;
	struct xv_mr mr = {};
	struct xv_mr_opts o = {
		.size = sizeof(o), .access = XVT_ALL_ACCESS, .length = 100,
	};
	static const uint64_t bad[] = {
		0x10000000, 0x10000fff, ~0ULL - 4095 + 0x123, 1,
	};
	struct xv_send s;
	unsigned int i;

	xvt_pair(_metadata, &self->t, &p, NULL);
	o.pd = &p.pd;
	o.addr = p.buf + 0x2123;
	o.length = 5000;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		int ret;

		o.iova = bad[i];
		ret = xv_mr_create(self->now, &mr, &o);
		xvt_failed(_metadata, "iova", ret, xv_txn_error(self->now),
			   EINVAL, 0, XV_GRP_PARAMS, XV_PARAMS_IOVA,
			   XV_R_RANGE);
	}
	o.iova = 0x7700123;
	ASSERT_EQ(0, xv_mr_create(self->now, &mr, &o));
	EXPECT_EQ(0x7700123, mr.info.iova);
	EXPECT_EQ((uintptr_t)o.addr, mr.info.addr);
	xvt_fill(p.buf, 4500, 5);
	xv_send_prep_write(&s, 1, XV_SEND_SIGNALED, xvt_sge(&p, 0, 4500),
			   0x7700123 + 7, mr.info.rkey);
	ASSERT_EQ(0, xv_post_send(&p.qp[0], &s, 1));
	ASSERT_EQ(0, xv_submit(&p.qp[0]));
	xvt_expect_wc(_metadata, &p.cq[0], 1, XV_WC_SUCCESS);
	EXPECT_TRUE(xvt_filled(p.buf + 0x2123 + 7, 4500, 5));
	/* Locally it is still the offset that counts. */
	memset(p.buf, 0, 100);
	xv_send_prep_read(&s, 2, XV_SEND_SIGNALED, xvt_sge(&p, 0, 100),
			  0x7700123 + 7, mr.info.rkey);
	ASSERT_EQ(0, xv_post_send(&p.qp[0], &s, 1));
	ASSERT_EQ(0, xv_submit(&p.qp[0]));
	xvt_expect_wc(_metadata, &p.cq[0], 2, XV_WC_SUCCESS);
	EXPECT_TRUE(xvt_filled(p.buf, 100, 5));
	ASSERT_EQ(0, xv_mr_destroy(self->now, &mr));
	EXPECT_EQ(0, xvt_pair_destroy(&p));
}

/* ---- what it costs ---- */

TEST_F(mr, pages_are_counted)
{
	uint8_t *p = xvt_map(64 * XVT_PAGE, PROT_READ | PROT_WRITE);
	unsigned int n = xvt_count(MR_CYCLES);
	struct xv_mr mr[2];
	unsigned int i;

	for (i = 0; i < n; i++) {
		/* One byte on each of two pages costs two pages. */
		ASSERT_EQ(0, reg(self->now, &self->pd, &mr[0], p + 4095, 2, 1));
		EXPECT_EQ(self->before.vmpin + 8, xvt_vmpin());
		ASSERT_EQ(0, reg(self->now, &self->pd, &mr[1], p,
				 64 * XVT_PAGE, 0));
		EXPECT_EQ(self->before.vmpin + 8 + 256, xvt_vmpin());
		ASSERT_EQ(0, xv_mr_destroy(self->now, &mr[0]));
		EXPECT_EQ(self->before.vmpin + 256, xvt_vmpin());
		/* One that fails late costs nothing. */
		EXPECT_EQ(-EFAULT, reg(self->now, &self->pd, &mr[0],
				       p + 32 * XVT_PAGE, 1ULL << 30, 0));
		EXPECT_EQ(self->before.vmpin + 256, xvt_vmpin());
		ASSERT_EQ(0, xv_mr_destroy(self->now, &mr[1]));
		EXPECT_EQ(self->before.vmpin, xvt_vmpin());
	}
	munmap(p, 64 * XVT_PAGE);
}

TEST_F(mr, close_gives_back)
{
	uint8_t *p = xvt_map(4 * XVT_PAGE, PROT_READ | PROT_WRITE);
	struct xv_mr mr;
	struct xvt t;
	struct xv_pd pd = {};

	xvt_open(_metadata, &t);
	ASSERT_EQ(0, xv_pd_create(xv_now(t.ctx), &pd));
	ASSERT_EQ(0, reg(xv_now(t.ctx), &pd, &mr, p, 4 * XVT_PAGE, 1));
	EXPECT_EQ(self->before.vmpin + 16, xvt_vmpin());
	xvt_close(&t);
	EXPECT_EQ(self->before.vmpin, xvt_vmpin());
	munmap(p, 4 * XVT_PAGE);
}

/* Who registered is charged and gets it back, whoever closes last. */
TEST_F(mr, the_owner_pays)
{
	uint8_t *p = xvt_map(4 * XVT_PAGE, PROT_READ | PROT_WRITE);
	struct xv_mr mr;
	struct xvt t;
	struct xv_pd pd = {};
	int pipefd[2], status;
	char c;
	pid_t pid;

	xvt_open(_metadata, &t);
	ASSERT_EQ(0, xv_pd_create(xv_now(t.ctx), &pd));
	ASSERT_EQ(0, reg(xv_now(t.ctx), &pd, &mr, p, 4 * XVT_PAGE, 1));
	ASSERT_EQ(0, pipe(pipefd));
	pid = fork();
	if (!pid) {
		bool bad = xvt_vmpin() != 0;

		/* The parent has closed; then we do. */
		bad |= read(pipefd[0], &c, 1) != 1;
		close(xv_fd(t.ctx));
		bad |= xvt_vmpin() != 0;
		_exit(bad);
	}
	ASSERT_LT(0, pid);
	xvt_close(&t);
	/* The child still holds it. */
	EXPECT_EQ(self->before.vmpin + 16, xvt_vmpin());
	ASSERT_EQ(1, write(pipefd[1], "x", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(self->before.vmpin, xvt_vmpin());
	close(pipefd[0]);
	close(pipefd[1]);
	munmap(p, 4 * XVT_PAGE);
}

TEST_F(mr, limit_of_locked_memory)
{
	uint8_t *p = xvt_map(16 * XVT_PAGE, PROT_READ | PROT_WRITE);
	struct rlimit lim = { 8 * XVT_PAGE, 8 * XVT_PAGE };
	const struct xv_error *err = xv_txn_error(self->now);
	struct xv_mr mr[3];
	int ret;

	/* The test's process is a child of its own: nobody needs root again. */
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &lim));
	ASSERT_EQ(0, setgid(65534));
	ASSERT_EQ(0, setuid(65534));
	/* Its own files in /proc stay readable. */
	ASSERT_EQ(0, prctl(PR_SET_DUMPABLE, 1));

	ret = reg(self->now, &self->pd, &mr[0], p, 9 * XVT_PAGE, 0);
	xvt_failed(_metadata, "beyond", ret, err, ENOMEM, 0, XV_GRP_PARAMS,
		   XV_PARAMS_LENGTH, XV_R_MEMLOCK);
	EXPECT_EQ(9 * XVT_PAGE, err->detail);
	ret = reg(self->now, &self->pd, &mr[0], p + 1, 8 * XVT_PAGE, 0);
	xvt_failed(_metadata, "straddles", ret, err, ENOMEM, 0, XV_GRP_PARAMS,
		   XV_PARAMS_LENGTH, XV_R_MEMLOCK);
	ASSERT_EQ(0, reg(self->now, &self->pd, &mr[0], p, 8 * XVT_PAGE, 0));
	ret = reg(self->now, &self->pd, &mr[1], p, 1, 0);
	xvt_failed(_metadata, "one more", ret, err, ENOMEM, 0, XV_GRP_PARAMS,
		   XV_PARAMS_LENGTH, XV_R_MEMLOCK);
	EXPECT_EQ(9 * XVT_PAGE, err->detail);
	/* Other objects do not care. */
	ASSERT_EQ(0, xv_mr_destroy(self->now, &mr[0]));
	ASSERT_EQ(0, reg(self->now, &self->pd, &mr[0], p, 4 * XVT_PAGE, 0));
	ASSERT_EQ(0, reg(self->now, &self->pd, &mr[1], p, 4 * XVT_PAGE, 0));
	EXPECT_EQ(-ENOMEM, reg(self->now, &self->pd, &mr[2], p, 1, 0));
	ASSERT_EQ(0, xv_mr_destroy(self->now, &mr[0]));
	ASSERT_EQ(0, xv_mr_destroy(self->now, &mr[1]));
	EXPECT_EQ(0, xvt_vmpin());
	munmap(p, 16 * XVT_PAGE);
}

/* ---- what memory it may be ---- */

TEST_F(mr, memory_that_cannot_be_written)
{
	uint8_t *p = xvt_map(3 * XVT_PAGE, PROT_READ | PROT_WRITE);
	struct xv_mr mr;
	int ret;

	xvt_fill(p, 3 * XVT_PAGE, 1);
	ASSERT_EQ(0, mprotect(p, 3 * XVT_PAGE, PROT_READ));
	ASSERT_EQ(0, reg(self->now, &self->pd, &mr, p, 3 * XVT_PAGE, 0));
	ASSERT_EQ(0, xv_mr_destroy(self->now, &mr));
	ASSERT_EQ(0, reg(self->now, &self->pd, &mr, p, 3 * XVT_PAGE,
			 XV_ACCESS_REMOTE_READ));
	ASSERT_EQ(0, xv_mr_destroy(self->now, &mr));
	ret = reg(self->now, &self->pd, &mr, p, 3 * XVT_PAGE,
		  XV_ACCESS_LOCAL_WRITE);
	xvt_failed(_metadata, "read-only", ret, xv_txn_error(self->now), EFAULT,
		   0, XV_GRP_PARAMS, XV_PARAMS_ADDR, XV_R_USER_MEMORY);
	/* The last page only. */
	ASSERT_EQ(0, mprotect(p, 2 * XVT_PAGE, PROT_READ | PROT_WRITE));
	EXPECT_EQ(-EFAULT, reg(self->now, &self->pd, &mr, p, 3 * XVT_PAGE, 1));
	ASSERT_EQ(0, reg(self->now, &self->pd, &mr, p, 2 * XVT_PAGE, 1));
	ASSERT_EQ(0, xv_mr_destroy(self->now, &mr));
	ASSERT_EQ(0, mprotect(p + XVT_PAGE, XVT_PAGE, PROT_NONE));
	EXPECT_EQ(-EFAULT, reg(self->now, &self->pd, &mr, p, 3 * XVT_PAGE, 0));
	EXPECT_EQ(-EFAULT, reg(self->now, &self->pd, &mr, p + XVT_PAGE, 1, 0));
	EXPECT_EQ(self->before.vmpin, xvt_vmpin());
	ASSERT_EQ(0, mprotect(p + XVT_PAGE, XVT_PAGE, PROT_READ));
	EXPECT_TRUE(xvt_filled(p, 3 * XVT_PAGE, 1));
	munmap(p, 3 * XVT_PAGE);
}

TEST_F(mr, registering_changes_nothing)
{
	uint8_t *p = xvt_map(8 * XVT_PAGE, PROT_READ | PROT_WRITE);
	struct xv_mr mr;
	unsigned int i;

	xvt_fill(p, 8 * XVT_PAGE, 3);
	ASSERT_EQ(0, reg(self->now, &self->pd, &mr, p + 5, 7 * XVT_PAGE,
			 XVT_ALL_ACCESS));
	EXPECT_TRUE(xvt_filled(p, 8 * XVT_PAGE, 3));
	ASSERT_EQ(0, xv_mr_destroy(self->now, &mr));
	EXPECT_TRUE(xvt_filled(p, 8 * XVT_PAGE, 3));
	/* Pages that were never touched are zero. */
	ASSERT_EQ(0, madvise(p, 8 * XVT_PAGE, MADV_DONTNEED));
	ASSERT_EQ(0, reg(self->now, &self->pd, &mr, p, 8 * XVT_PAGE, 1));
	for (i = 0; i < 8 * XVT_PAGE; i++)
		if (p[i])
			break;
	EXPECT_EQ(8 * XVT_PAGE, i);
	ASSERT_EQ(0, xv_mr_destroy(self->now, &mr));
	munmap(p, 8 * XVT_PAGE);
}

static void check_traffic(struct __test_metadata *_metadata, struct xvt *t,
			  uint8_t *p, size_t length)
{
	struct xv_tx *now = xv_now(t->ctx);
	struct xvt_pair pair;
	struct xv_mr mr = {};
	struct xv_send s;

	xvt_pair(_metadata, t, &pair, NULL);
	ASSERT_EQ(0, reg(now, &pair.pd, &mr, p, length, XVT_ALL_ACCESS));
	xvt_fill(pair.buf, length, 9);
	xv_send_prep_write(&s, 1, XV_SEND_SIGNALED, xvt_sge(&pair, 0, length),
			   mr.info.iova, mr.info.rkey);
	ASSERT_EQ(0, xv_post_send(&pair.qp[0], &s, 1));
	ASSERT_EQ(0, xv_submit(&pair.qp[0]));
	xvt_expect_wc(_metadata, &pair.cq[0], 1, XV_WC_SUCCESS);
	EXPECT_TRUE(xvt_filled(p, length, 9));
	ASSERT_EQ(0, xv_mr_destroy(now, &mr));
	EXPECT_EQ(0, xvt_pair_destroy(&pair));
}

TEST_F(mr, files)
{
	int fd = memfd_create("xv_test", MFD_CLOEXEC);
	struct xv_mr mr;
	uint8_t *p;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ftruncate(fd, 2 * XVT_PAGE));
	p = mmap(NULL, 4 * XVT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, p);
	check_traffic(_metadata, &self->t, p, 2 * XVT_PAGE);
	/* Behind its end there is no memory. */
	EXPECT_EQ(-EFAULT, reg(self->now, &self->pd, &mr, p, 3 * XVT_PAGE, 1));
	EXPECT_EQ(-EFAULT, reg(self->now, &self->pd, &mr, p, 3 * XVT_PAGE, 0));
	EXPECT_EQ(-EFAULT, reg(self->now, &self->pd, &mr, p + 2 * XVT_PAGE, 1,
			       0));
	EXPECT_EQ(self->before.vmpin, xvt_vmpin());
	munmap(p, 4 * XVT_PAGE);
	/* A private mapping gets its own pages. */
	p = mmap(NULL, 2 * XVT_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	ASSERT_NE(MAP_FAILED, p);
	check_traffic(_metadata, &self->t, p, 2 * XVT_PAGE);
	munmap(p, 2 * XVT_PAGE);
	close(fd);
}

TEST_F(mr, huge_pages)
{
	size_t length = 2UL << 20;
	uint8_t *p;
	FILE *f = fopen("/proc/sys/vm/nr_hugepages", "w");

	if (f) {
		fprintf(f, "2");
		fclose(f);
	}
	p = mmap(NULL, length, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (p == MAP_FAILED) {
		TH_LOG("no huge pages here: a transparent one, perhaps");
		p = xvt_map(length, PROT_READ | PROT_WRITE);
		madvise(p, length, MADV_HUGEPAGE);
	}
	check_traffic(_metadata, &self->t, p + 4096, 8192);
	munmap(p, length);
}

/* The ring area itself is nobody's payload, but may do no harm either. */
TEST_F(mr, rings_as_memory)
{
	struct xvt_pair p;
	struct xv_mr mr;
	int ret;

	xvt_pair(_metadata, &self->t, &p, NULL);
	ret = reg(self->now, &p.pd, &mr, p.cq[0].ring, 128, 1);
	if (!ret)
		ret = xv_mr_destroy(self->now, &mr);
	EXPECT_TRUE(!ret || ret == -EFAULT);
	EXPECT_EQ(0, xvt_pair_destroy(&p));
}

TEST_HARNESS_MAIN
