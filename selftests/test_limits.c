// SPDX-License-Identifier: GPL-2.0
/*
 * Limits that the administrator or the module sets: the rdma cgroup, the memory
 * cgroup, and the budget of a file.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <sys/stat.h>
#include "xv_test.h"

#define CGROUP	"/sys/fs/cgroup"
#define OURS	CGROUP "/xv_test"

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool ok;

	if (fd < 0)
		return false;
	ok = write(fd, text, strlen(text)) == strlen(text);
	close(fd);
	return ok;
}

static bool file_has(const char *path, const char *word)
{
	char text[256] = "";
	int fd = open(path, O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	return strstr(text, word);
}

/* Objects and open files count, whoever made the limit. */
TEST(rdma_cgroup)
{
	struct xv_pd pd[5] = {};
	struct xv_eventq eq = {};
	struct xvt_snap before;
	struct xv_ctx *second;
	struct xvt t;
	char self[16];
	int i;

	snprintf(self, sizeof(self), "%d", getpid());
	ASSERT_TRUE(write_file(CGROUP "/cgroup.subtree_control", "+rdma"));
	ASSERT_TRUE(!mkdir(OURS, 0755) || errno == EEXIST);
	ASSERT_TRUE(write_file(OURS "/rdma.max",
			       "rxe0 hca_handle=1 hca_object=4"));
	ASSERT_TRUE(write_file(OURS "/cgroup.procs", self));
	xvt_open(_metadata, &t);
	xvt_snap(_metadata, &t, &before);
	/* No second file. */
	EXPECT_EQ(-ENOMEM, xv_open("rxe0", 0, &second));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, xv_pd_create(xv_now(t.ctx), &pd[i]));
	xvt_failed(_metadata, "objects",
		   xv_pd_create(xv_now(t.ctx), &pd[4]), xv_txn_error(xv_now(t.ctx)),
		   ENOMEM, 0, 0, 0, XV_R_RDMA_CGROUP);
	EXPECT_LT(0, xv_txn_error(xv_now(t.ctx))->raw);
	/* Event queues are no resource of the device. */
	ASSERT_EQ(0, xv_eventq_create(xv_now(t.ctx), &eq));
	ASSERT_EQ(0, xv_pd_destroy(xv_now(t.ctx), &pd[3]));
	ASSERT_EQ(0, xv_pd_create(xv_now(t.ctx), &pd[4]));
	ASSERT_EQ(0, xv_pd_destroy(xv_now(t.ctx), &pd[4]));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, xv_pd_destroy(xv_now(t.ctx), &pd[i]));
	xv_eventq_close(&eq);
	xvt_same(_metadata, &t, &before, "cgroup");
	/* The open file gives back what it holds. */
	ASSERT_EQ(0, xv_pd_create(xv_now(t.ctx), &pd[0]));
	xvt_close(&t);
	xvt_open(_metadata, &t);
	xvt_close(&t);
	ASSERT_TRUE(write_file(CGROUP "/cgroup.procs", self));
	EXPECT_TRUE(file_has(OURS "/rdma.current",
			     "rxe0 hca_handle=0 hca_object=0"));
	/*
	 * A limit that nobody uses stays in the list of the device when its
	 * cgroup goes (Linux 6.1), and the device then finds freed memory there:
	 * take it back before.
	 */
	EXPECT_TRUE(write_file(OURS "/rdma.max",
			       "rxe0 hca_handle=max hca_object=max"));
	EXPECT_EQ(0, rmdir(OURS));
}

static long long read_number(const char *path, const char *key)
{
	FILE *f = fopen(path, "r");
	long long n = -1;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (!*key || !strncmp(line, key, strlen(key)))
			n = atoll(line + strlen(key));
	if (f)
		fclose(f);
	return n;
}

#define MEMORY	CGROUP "/xv_memory"

static bool enter_cgroup(const char *path)
{
	char self[16], file[128];

	snprintf(self, sizeof(self), "%d", getpid());
	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	return write_file(file, self);
}

static void make_memory_cgroup(struct __test_metadata *_metadata)
{
	ASSERT_TRUE(write_file(CGROUP "/cgroup.subtree_control", "+memory"));
	ASSERT_TRUE(!mkdir(MEMORY, 0755) || errno == EEXIST);
}

static void drop_memory_cgroup(struct __test_metadata *_metadata)
{
	ASSERT_TRUE(enter_cgroup(CGROUP));
	EXPECT_TRUE(xvt_wait_until(!rmdir(MEMORY), 5000));
}

#define MEMORY_CQE	4096
/* The ring, and the array of what does not fit there. */
#define MEMORY_CQ	(2 * MEMORY_CQE * sizeof(struct xv_wc))

/*
 * Rings and objects count in the cgroup of the opener, whoever asks for them.
 * How much of it the driver has is not counted there.
 */
TEST(memory_cgroup_of_the_opener)
{
	long long before, made, closed;
	struct xv_cq cq[16] = {};
	struct xvt_snap snap;
	int i, status;
	struct xvt t;
	pid_t child;

	make_memory_cgroup(_metadata);
	ASSERT_TRUE(enter_cgroup(MEMORY));
	xvt_open(_metadata, &t);
	xvt_snap(_metadata, &t, &snap);
	/* Our own memory stays where it was charged; this is another's work. */
	ASSERT_TRUE(enter_cgroup(CGROUP));
	before = read_number(MEMORY "/memory.current", "");
	ASSERT_LE(0, before);
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		struct xvt_msg *m = malloc(sizeof(*m));
		struct xv_cq_info info;

		if (!enter_cgroup(CGROUP))
			_exit(1);
		for (i = 0; i < ARRAY_SIZE(cq); i++) {
			xvt_begin(m, 0);
			xvt_op(m, XV_OBJ_CQ, XV_M_CREATE);
			xvt_new(m);
			xvt_u32(m, XV_GRP_CAPS, XV_CAPS_CQE, MEMORY_CQE);
			xvt_out(m, &info, sizeof(info));
			if (xvt_run(m, t.fd))
				_exit(2);
		}
		_exit(0);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_EQ(0, status);
	made = read_number(MEMORY "/memory.current", "");
	/* What is kept in stock for each CPU may be missing. */
	EXPECT_LT(ARRAY_SIZE(cq) * MEMORY_CQ * 3 / 4, made - before);
	xvt_close(&t);
	/* Freed after a grace period; the stock is given back. */
	EXPECT_TRUE(xvt_wait_until((closed = read_number(MEMORY
							 "/memory.current",
							 "")) - before <
				   (long long)(ARRAY_SIZE(cq) * MEMORY_CQ / 8),
				   5000)) {
		TH_LOG("%lld bytes before, %lld at the end", before, closed);
	}
	TH_LOG("%lld bytes for %zu completion queues of %u", made - before,
	       ARRAY_SIZE(cq), MEMORY_CQE);
	drop_memory_cgroup(_metadata);
}

#define MEMORY_CQS	2000

/* A create that would go beyond the limit fails, and nobody is killed. */
TEST(memory_cgroup_limit)
{
	static struct xv_cq cq[MEMORY_CQS];
	struct xv_error err = {};
	struct xvt_snap before;
	struct xv_tx *now;
	int num = 0, ret = 0;
	struct xvt t;
	pid_t child;
	int status;

	make_memory_cgroup(_metadata);
	/* A process of its own, since a wrong kernel kills it. */
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		/* Present before there is a limit: what is written later. */
		memset(cq, 0, sizeof(cq));
		if (!write_file(MEMORY "/memory.max", "25165824") ||
		    !enter_cgroup(MEMORY))
			_exit(1);
		xvt_open(_metadata, &t);
		now = xv_now(t.ctx);
		xvt_snap(_metadata, &t, &before);
		while (num < MEMORY_CQS) {
			ret = xv_cq_create(now, &cq[num],
					   XV_OPTS(xv_cq_opts,
						   .cqe = MEMORY_CQE));
			if (ret)
				break;
			num++;
		}
		err = *xv_txn_error(now);
		/* Room to end in. */
		write_file(MEMORY "/memory.max", "max");
		EXPECT_EQ(-ENOMEM, ret);
		EXPECT_EQ(ENOMEM, err.err);
		EXPECT_EQ(XV_R_MEMORY, err.reason);
		EXPECT_LT(4, num);
		EXPECT_GT(24 << 20, num * MEMORY_CQ);
		TH_LOG("%d completion queues of %u, then reason %u", num,
		       MEMORY_CQE, err.reason);
		/* What failed has left nothing, and the rest still works. */
		ASSERT_EQ(0, xv_cq_create(now, &cq[num],
					  XV_OPTS(xv_cq_opts, .cqe = 4)));
		ASSERT_EQ(0, xv_cq_destroy(now, &cq[num]));
		while (num--)
			ASSERT_EQ(0, xv_cq_destroy(now, &cq[num]));
		xvt_same(_metadata, &t, &before, "memory cgroup");
		xvt_close(&t);
		_exit(_metadata->passed ? 0 : 1);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status) {
		TH_LOG("status %x", status);
	}
	EXPECT_EQ(0, read_number(MEMORY "/memory.events", "oom_kill "));
	EXPECT_LT(0, read_number(MEMORY "/memory.events", "max "));
	drop_memory_cgroup(_metadata);
}

/* One file cannot have all memory of the machine in the driver's rings. */
TEST(budget)
{
	uint32_t depth, num = 0;
	struct xv_device_info info;
	struct xvt_snap before;
	struct xv_qp qp[80] = {};
	struct xv_cq cq[80] = {};
	struct xv_tx *now;
	struct xv_pd pd = {};
	struct xvt t;
	int ret = 0;

	if (xvt_mode("debug"))
		SKIP(return, "takes half a GiB, which is slow here");
	xvt_open(_metadata, &t);
	now = xv_now(t.ctx);
	ASSERT_EQ(0, xv_pd_create(now, &pd));
	xvt_snap(_metadata, &t, &before);
	EXPECT_EQ(0, before.budget);
	depth = t.info.max_cqe / 2;
	if (depth > t.info.max_qp_wr)
		depth = t.info.max_qp_wr;
	while (num < ARRAY_SIZE(qp)) {
		ret = xv_cq_create(now, &cq[num],
				   XV_OPTS(xv_cq_opts, .cqe = 2 * depth));
		if (ret)
			break;
		ret = xv_qp_create(now, &qp[num], XV_OPTS(xv_qp_opts,
				   .pd = &pd, .send_cq = &cq[num],
				   .send_wr = depth, .recv_wr = depth));
		if (ret)
			break;
		num++;
	}
	EXPECT_EQ(-ENOMEM, ret);
	EXPECT_EQ(XV_R_BUDGET, xv_txn_error(now)->reason);
	EXPECT_EQ(XV_GRP_CAPS, xv_txn_error(now)->group);
	ASSERT_EQ(0, xv_device_query(now, &info));
	EXPECT_EQ(t.info.budget, info.budget);
	EXPECT_LT(info.budget / 2, info.budget_used);
	EXPECT_GE(info.budget, info.budget_used);
	TH_LOG("%u queue pairs of %u", num, depth);
	/* Small ones still fit, and each gives back what it took. */
	if (num < ARRAY_SIZE(cq) && cq[num].obj.handle)
		ASSERT_EQ(0, xv_cq_destroy(now, &cq[num]));
	while (num--) {
		ASSERT_EQ(0, xv_qp_destroy(now, &qp[num]));
		ASSERT_EQ(0, xv_cq_destroy(now, &cq[num]));
	}
	xvt_same(_metadata, &t, &before, "budget");
	ASSERT_EQ(0, xv_pd_destroy(now, &pd));
	xvt_close(&t);
}

TEST_HARNESS_MAIN
