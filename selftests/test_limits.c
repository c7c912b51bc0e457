// SPDX-License-Identifier: GPL-2.0
/*
 * Limits that the administrator or the module sets: the rdma cgroup, and the
 * budget of a file.
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
