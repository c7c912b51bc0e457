// SPDX-License-Identifier: GPL-2.0
/*
 * Network namespaces: who may open a device, and what an open file may do.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include "xv_test.h"

static int run(const char *command)
{
	int status = system(command);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/**
 * struct found - what a process in a namespace of its own has found
 * @unshared: 0, or the errno
 * @node: what open(2) of the node said: 0, or the errno
 * @library: what xv_open() said
 * @used: what an open file said that came with the process
 */
struct found {
	int unshared;
	int node;
	int library;
	int used;
};

/* Look from a new namespace, which is gone at the end. */
static void look(struct __test_metadata *_metadata, struct xvt *t,
		 const char *node, struct found *found)
{
	int pipefd[2], status, fd;
	struct xv_pd pd = {};
	struct xv_ctx *ctx;
	pid_t child;

	ASSERT_EQ(0, pipe(pipefd));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		struct found f = {};

		f.unshared = unshare(CLONE_NEWNET) ? errno : 0;
		fd = open(node, O_RDWR | O_CLOEXEC);
		f.node = fd < 0 ? errno : 0;
		f.library = xv_open("rxe0", 0, &ctx);
		/* The file of the parent: it was opened in its namespace. */
		f.used = xv_pd_create(xv_now(t->ctx), &pd);
		if (!f.used)
			f.used = xv_pd_destroy(xv_now(t->ctx), &pd);
		_exit(write(pipefd[1], &f, sizeof(f)) != sizeof(f));
	}
	ASSERT_EQ(sizeof(*found), read(pipefd[0], found, sizeof(*found)));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	close(pipefd[0]);
	close(pipefd[1]);
}

TEST(who_may_open)
{
	char node[64] = "", link[64];
	struct xvt_snap before;
	struct xvt t, again;
	struct found f;

	xvt_open(_metadata, &t);
	xvt_snap(_metadata, &t, &before);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", t.fd);
	ASSERT_LT(0, readlink(link, node, sizeof(node) - 1));

	/* Devices are shared by all namespaces unless that is changed. */
	look(_metadata, &t, node, &f);
	EXPECT_EQ(0, f.unshared);
	EXPECT_EQ(0, f.node);
	EXPECT_EQ(0, f.library);
	EXPECT_EQ(0, f.used);

	/* The mode can be changed while there is one namespace only. */
	ASSERT_TRUE(xvt_wait_until(!run("rdma system set netns exclusive 2>/dev/null"),
				   5000));
	look(_metadata, &t, node, &f);
	EXPECT_EQ(0, f.unshared);
	EXPECT_EQ(EPERM, f.node);
	/* It is not even seen. */
	EXPECT_EQ(-ENODEV, f.library);
	/* A file that is open works on, like any descriptor. */
	EXPECT_EQ(0, f.used);
	/* In our own namespace nothing has changed. */
	xvt_open(_metadata, &again);
	xvt_close(&again);
	EXPECT_TRUE(xvt_wait_until(!run("rdma system set netns shared 2>/dev/null"),
				   5000));
	xvt_same(_metadata, &t, &before, "namespaces");
	xvt_close(&t);
}

/*
 * rxe stays in the namespace where it was made: the core moves only devices
 * whose driver can take them away from open files.
 */
TEST(rxe_does_not_move)
{
	struct xvt t;

	ASSERT_EQ(0, run("ip netns add xv_test"));
	EXPECT_NE(0, run("rdma dev set rxe0 netns xv_test 2>/dev/null"));
	EXPECT_EQ(0, run("ip netns delete xv_test"));
	xvt_open(_metadata, &t);
	xvt_close(&t);
}

TEST_HARNESS_MAIN
