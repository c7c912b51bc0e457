// SPDX-License-Identifier: GPL-2.0
/*
 * A driver that does not destroy what it is told to, not even when its device
 * goes: that is leaked for good, and keeps the module.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * For a machine of its own: xverbs can not be unloaded any more. What init asks
 * of a machine at its end is the contrary then, see vm/init.
 */
#include "xv_mock.h"

/* Says to init that the module must stay. */
#define MARKER		"/run/xverbs-leaked"
#define NUM_AHS		30

static bool can_unload(void)
{
	return !syscall(SYS_delete_module, "xverbs", O_NONBLOCK);
}

/* Lines of the module since the descriptor was opened. */
static unsigned int complaints(int log)
{
	unsigned int num = 0;
	char line[8192];
	ssize_t n;

	for (;;) {
		n = read(log, line, sizeof(line) - 1);
		if (n < 0 && errno == EPIPE)
			continue;
		if (n <= 0)
			return num;
		line[n] = 0;
		num += strstr(line, "xverbs: ") && strstr(line, ": leaked");
	}
}

TEST(for_good)
{
	const unsigned int total = NUM_AHS + 3;
	static struct xv_ah ah[NUM_AHS];
	unsigned int i, lines;
	struct xv_tx *now;
	struct xvm m;
	int log, fd;

	xvm_setup(_metadata, &m);
	now = xv_now(m.t.ctx);
	EXPECT_EQ(0, xvm_leaked());
	for (i = 0; i < NUM_AHS; i++)
		ASSERT_EQ(0, xv_ah_create(now, &ah[i], XV_OPTS(xv_ah_opts,
					  .pd = &m.pd, .lid = 0x22)));
	log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ASSERT_LE(0, log);
	ASSERT_LE(0, lseek(log, 0, SEEK_END));
	fd = open(MARKER, O_WRONLY | O_CREAT, 0600);
	ASSERT_LE(0, fd);
	close(fd);
	ASSERT_EQ(0, xvm_set("stubborn", "1"));
	ASSERT_EQ(0, xvm_verb("destroy_qp", "fail %d 0", EBUSY));
	ASSERT_EQ(0, xvm_verb("destroy_ah", "fail %d 0", EBUSY));
	/* One of them is a zombie before. */
	ASSERT_EQ(0, xv_ah_destroy(now, &ah[0]));
	EXPECT_EQ(1, xvm_zombies("zombies"));
	ASSERT_EQ(0, xvm_set("plugged", "0"));

	/* The CQ and the PD stay with who depends on them; the MR has gone. */
	EXPECT_EQ(total, xvm_leaked());
	EXPECT_EQ(total, xvm_get("objects", "leaked"));
	EXPECT_EQ(1, xvm_calls("dereg_mr"));
	/* Some lines, and not one for each. */
	lines = complaints(log);
	EXPECT_LT(0, lines);
	EXPECT_GE(10, lines);
	close(log);

	/* The user has lost nothing: what he can name can be given back. */
	EXPECT_EQ(-ENODEV, xv_device_query(now, &m.t.info));
	for (i = 1; i < NUM_AHS; i++)
		EXPECT_EQ(0, xv_ah_destroy(now, &ah[i]));
	EXPECT_EQ(0, xv_qp_destroy(now, &m.qp));
	EXPECT_EQ(0, xv_cq_destroy(now, &m.cq));
	EXPECT_EQ(0, xv_mr_destroy(now, &m.mr));
	EXPECT_EQ(0, xv_pd_destroy(now, &m.pd));
	xvt_close(&m.t);
	xv_eventq_close(&m.eq);
	EXPECT_EQ(0, xvm_get("errors", "late"));
	EXPECT_EQ(total, xvm_leaked());
	EXPECT_FALSE(can_unload());

	/* It goes on to work, with this device and with another. */
	EXPECT_EQ(0, xvm_unload());
	xvm_setup(_metadata, &m);
	EXPECT_EQ(0, xv_qp_connect(xv_now(m.t.ctx), &m.qp, xvm_peer()));
	xvm_teardown(_metadata, &m);
	xvt_open(_metadata, &m.t);
	xvt_close(&m.t);
	EXPECT_EQ(total, xvm_leaked());
	EXPECT_FALSE(can_unload());
}

TEST_HARNESS_MAIN
