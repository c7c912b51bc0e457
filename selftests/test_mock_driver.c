// SPDX-License-Identifier: GPL-2.0
/*
 * Drivers that xverbs was tried with, others, and other links.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <rdma/ib_user_ioctl_verbs.h>
#include "xv_mock.h"

FIXTURE(driver) {
	struct xvm m;
};

FIXTURE_SETUP(driver)
{
	memset(self, 0, sizeof(*self));
	if (xvm_loaded())
		xvm_unload();
	self->m.buf = xvt_map(XVT_PAGE, PROT_READ | PROT_WRITE);
	ASSERT_NE(NULL, self->m.buf);
}

FIXTURE_TEARDOWN(driver)
{
	xvm_teardown(_metadata, &self->m);
}

/* All methods that make something, each of which needs nothing else. */
static void expect_refused(struct __test_metadata *_metadata, struct xvm *m,
			   unsigned int id)
{
	struct xv_tx *now = xv_now(m->t.ctx);
	struct xv_eventq eq = {};
	struct xv_pd pd = {};
	struct xv_cq cq = {};
	struct xv_tx *tx;
	int i, ret;

	for (i = 0; i < 3; i++) {
		ret = i == 0 ? xv_pd_create(now, &pd) :
		      i == 1 ? xv_eventq_create(now, &eq) :
			       xv_cq_create(now, &cq,
					    XV_OPTS(xv_cq_opts, .cqe = 1));
		EXPECT_EQ(-EOPNOTSUPP, ret) {
			TH_LOG("driver %u", id);
		}
		EXPECT_EQ(XV_R_DRIVER_LIST, xv_txn_error(now)->reason);
		EXPECT_EQ(EOPNOTSUPP, xv_txn_error(now)->err);
		EXPECT_EQ(0, xv_txn_error(now)->op);
		EXPECT_EQ(0, xv_txn_error(now)->raw);
	}
	/* What does not make anything works, and is taken back with the rest. */
	ASSERT_EQ(0, xv_txn_begin(m->t.ctx, 0, &tx));
	xv_device_query(tx, &m->t.info);
	xv_pd_create(tx, &pd);
	EXPECT_EQ(-EOPNOTSUPP, xv_txn_commit(tx, NULL));
	EXPECT_EQ(1, xv_txn_error(tx)->op);
	xv_txn_free(tx);
	EXPECT_EQ(0, xvm_calls("alloc_pd"));
}

static void try_driver(struct __test_metadata *_metadata, struct xvm *m,
		       unsigned int id, bool served)
{
	const struct xv_describe *desc;
	struct xv_port_info port;
	struct xv_gid_info gid;
	struct xv_pd pd = {};
	char text[64];
	FILE *f;

	ASSERT_EQ(0, xvm_set("plugged", "0"));
	f = fopen("/sys/module/xvmock/parameters/driver_id", "we");
	ASSERT_NE(NULL, f);
	fprintf(f, "%u", id);
	ASSERT_EQ(0, fclose(f));
	ASSERT_EQ(0, xvm_set("plugged", "1"));
	xvm_open(_metadata, m);
	EXPECT_EQ(id, m->t.info.driver_id);
	EXPECT_EQ(0, xv_device_query_port(xv_now(m->t.ctx), 1, &port));
	EXPECT_EQ(0, xv_device_query_gid(xv_now(m->t.ctx), 1, 0, &gid));
	EXPECT_EQ(0, xv_describe(m->t.ctx, &desc));
	if (served) {
		EXPECT_EQ(0, xv_pd_create(xv_now(m->t.ctx), &pd)) {
			TH_LOG("driver %u", id);
		}
	} else {
		expect_refused(_metadata, m, id);
		/* The text of it is for people. */
		xv_pd_create(xv_now(m->t.ctx), &pd);
		xv_error_text(m->t.ctx, xv_now(m->t.ctx),
			      xv_txn_error(xv_now(m->t.ctx)), text,
			      sizeof(text));
		EXPECT_NE(NULL, strstr(text, "driver not on the list"));
	}
	xvt_close(&m->t);
	ASSERT_EQ(0, xvm_set("reset", "1"));
}

static bool is_tried(unsigned int id)
{
	return id == RDMA_DRIVER_RXE || id == RDMA_DRIVER_SIW;
}

static bool is_untested(unsigned int id)
{
	return id == RDMA_DRIVER_MLX5 || id == RDMA_DRIVER_MLX4;
}

#define LAST_DRIVER	24

TEST_F(driver, list)
{
	unsigned int id;

	ASSERT_EQ(0, xvm_load(""));
	for (id = 0; id <= LAST_DRIVER; id++)
		try_driver(_metadata, &self->m, id, is_tried(id));
}

/* The module again, with another parameter. */
static int reload(const char *params)
{
	const char *env = getenv("XVERBS_KO");
	char command[512];

	snprintf(command, sizeof(command),
		 "rmmod xverbs && insmod %s %s",
		 env ? env : "/lib/modules/$(uname -r)/updates/xverbs.ko",
		 params);
	return system(command);
}

TEST_F(driver, untested)
{
	unsigned int id;

	ASSERT_EQ(0, reload("untested_drivers=1"));
	ASSERT_EQ(0, xvm_load(""));
	for (id = 0; id <= LAST_DRIVER; id++)
		try_driver(_metadata, &self->m, id,
			   is_tried(id) || is_untested(id));
	ASSERT_EQ(0, xvm_unload());
	ASSERT_EQ(0, reload(""));
}

/* Without a connection manager there is no connection on iWARP. */
TEST_F(driver, iwarp)
{
	struct xvm *m = &self->m;
	struct xv_tx *now;
	struct xv_qp_info info;
	struct xv_qp qp = {};
	struct xv_ah ah = {};

	ASSERT_EQ(0, xvm_load("link=iwarp"));
	xvm_open(_metadata, m);
	now = xv_now(m->t.ctx);
	EXPECT_EQ(XV_DEVICE_F_IWARP, m->t.info.flags & XV_DEVICE_F_IWARP);
	xvm_make(_metadata, m);
	EXPECT_EQ(-EOPNOTSUPP, xv_qp_connect(now, &m->qp, xvm_peer()));
	EXPECT_EQ(XV_R_CAPABILITY, xv_txn_error(now)->reason);
	EXPECT_EQ(-EOPNOTSUPP, xvm_go(m, &m->qp, XV_QPS_RTR));
	EXPECT_EQ(XV_R_CAPABILITY, xv_txn_error(now)->reason);
	EXPECT_EQ(0, xv_qp_query(now, &m->qp, &info));
	EXPECT_EQ(XV_QPS_INIT, info.state);
	EXPECT_EQ(-EOPNOTSUPP, xv_qp_create(now, &qp, XV_OPTS(xv_qp_opts,
		  .pd = &m->pd, .send_cq = &m->cq, .send_wr = 1,
		  .connect = xvm_peer())));
	EXPECT_EQ(XV_R_CAPABILITY, xv_txn_error(now)->reason);
	EXPECT_EQ(-EOPNOTSUPP, xv_ah_create(now, &ah, XV_OPTS(xv_ah_opts,
		  .pd = &m->pd, .lid = 1)));
	EXPECT_EQ(XV_R_CAPABILITY, xv_txn_error(now)->reason);
	/* What needs no peer works as ever. */
	ASSERT_EQ(0, xvm_recv(m, &m->qp, 5));
	ASSERT_EQ(0, xvm_go(m, &m->qp, XV_QPS_ERR));
	xvt_expect_wc(_metadata, &m->cq, 5, XV_WC_FLUSH_ERR);
}

/* Connects again; does that ask the driver for the link address? */
static long asks_again(struct xvm *m, const struct xv_qp_attr *attr)
{
	long before = xvm_calls("create_ah");

	if (xvm_go(m, &m->qp, XV_QPS_RESET) ||
	    xv_qp_connect(xv_now(m->t.ctx), &m->qp, attr))
		return -1;
	return xvm_calls("create_ah") - before;
}

/* The link address is looked for by an address handle of the driver. */
TEST_F(driver, roce)
{
	struct xv_qp_attr attr = { .size = sizeof(attr), .qpn = 5, .psn = 1 };
	struct xvm *m = &self->m;
	struct xv_tx *now;

	ASSERT_EQ(0, xvm_load("link=v0"));
	xvm_open(_metadata, m);
	now = xv_now(m->t.ctx);
	xvm_make(_metadata, m);
	ASSERT_TRUE(xvt_wait_until(xvt_find_gid(&m->t) == 0, 5000));
	memcpy(attr.gid, m->t.gid.gid, sizeof(attr.gid));
	attr.sgid_index = m->t.gid_index;
	ASSERT_EQ(0, xvm_verb("create_ah", "fail %d", ENOSPC));
	EXPECT_EQ(-EHOSTUNREACH, xv_qp_connect(now, &m->qp, &attr));
	EXPECT_EQ(XV_R_UNREACHABLE, xv_txn_error(now)->reason);
	EXPECT_EQ(ENOSPC, xv_txn_error(now)->raw);
	EXPECT_EQ(XV_QPS_INIT, m->qp.ring->state);
	ASSERT_EQ(0, xvm_verb("create_ah", "fail %d", ENOMEM));
	EXPECT_EQ(-ENOMEM, xv_qp_connect(now, &m->qp, &attr));
	ASSERT_EQ(0, xvm_verb("create_ah", "reset"));
	EXPECT_EQ(0, xv_qp_connect(now, &m->qp, &attr));
	EXPECT_EQ(1, xvm_calls("create_ah"));
	/* What was found is kept, until an entry of the table changes. */
	EXPECT_TRUE(xvt_wait_until(asks_again(m, &attr) == 0, 5000));
	EXPECT_EQ(0, system("ip addr add 10.99.0.1/32 dev v0"));
	EXPECT_TRUE(xvt_wait_until(asks_again(m, &attr) == 1, 5000));
	EXPECT_EQ(0, system("ip addr del 10.99.0.1/32 dev v0"));
}

TEST_HARNESS_MAIN
