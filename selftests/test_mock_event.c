// SPDX-License-Identifier: GPL-2.0
/*
 * Events of the driver, before, after and between everything else.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include "xv_mock.h"

FIXTURE(mevent) {
	struct xvm m;
	struct xv_qp other;
	struct xv_cq other_cq;
	struct xv_pd other_pd;
	struct xvm_call call;
};

typedef FIXTURE_DATA(mevent) fixture;

FIXTURE_SETUP(mevent)
{
	xvm_setup(_metadata, &self->m);
}

FIXTURE_TEARDOWN(mevent)
{
	xvm_teardown(_metadata, &self->m);
}

static int qp_event(const struct xv_qp *qp, const char *name)
{
	return xvm_set("event", "qp %u %s", qp->info.qp_num, name);
}

static int cq_event(const struct xv_cq *cq, const char *name)
{
	return xvm_set("event", "cq %u %s", cq->info.restrack_id, name);
}

static void expect_event(struct __test_metadata *_metadata, struct xvm *m,
			 uint16_t type, uint32_t handle, uint64_t cookie,
			 uint32_t count)
{
	struct xv_event ev;

	ASSERT_EQ(1, xvt_event(&m->eq, &ev)) {
		TH_LOG("no event %u", type);
	}
	EXPECT_EQ(type, ev.type);
	EXPECT_EQ(handle, ev.handle);
	EXPECT_EQ(cookie, ev.cookie);
	EXPECT_EQ(count, ev.count);
}

#define EXPECT_QP_EVENT(type, count) \
	expect_event(_metadata, m, type, m->qp.obj.handle, 11, count)
#define EXPECT_NO_EVENT() EXPECT_FALSE(xvt_has_event(&m->eq))

TEST_F(mevent, each_kind)
{
	static const struct {
		const char *name;
		uint16_t type;
		bool fails;
	} kinds[] = {
		{ "QP_FATAL", XV_EV_QP_FATAL, true },
		{ "QP_REQ_ERR", XV_EV_QP_REQUEST_ERROR, true },
		{ "QP_ACCESS_ERR", XV_EV_QP_ACCESS_ERROR, true },
		{ "LAST_WQE", XV_EV_QP_LAST_WQE, false },
		{ "SQ_DRAINED", XV_EV_QP_SQ_DRAINED, false },
		{ "PATH_MIG", XV_EV_QP_PATH_MIGRATED, false },
		{ "PATH_MIG_ERR", XV_EV_QP_PATH_ERROR, false },
		/* Without a connection the first receive decides. */
		{ .name = "COMM_EST" },
	};
	struct xvm *m = &self->m;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		ASSERT_EQ(0, xv_qp_connect(xv_now(m->t.ctx), &m->qp,
					   xvm_peer()));
		ASSERT_EQ(0, qp_event(&m->qp, kinds[i].name));
		if (kinds[i].type)
			EXPECT_QP_EVENT(kinds[i].type, 1);
		EXPECT_NO_EVENT();
		EXPECT_EQ(kinds[i].fails ? XV_QPS_ERR : XV_QPS_RTS,
			  m->qp.ring->state) {
			TH_LOG("%s", kinds[i].name);
		}
		/* Those that nobody has read are one. */
		ASSERT_EQ(0, qp_event(&m->qp, kinds[i].name));
		ASSERT_EQ(0, qp_event(&m->qp, kinds[i].name));
		if (kinds[i].type)
			EXPECT_QP_EVENT(kinds[i].type, 2);
		ASSERT_EQ(0, xvm_go(m, &m->qp, XV_QPS_RESET));
	}
	ASSERT_EQ(0, cq_event(&m->cq, "CQ_ERR"));
	expect_event(_metadata, m, XV_EV_CQ_ERROR, m->cq.obj.handle, 1, 1);
	/* One that does not belong to a CQ. */
	ASSERT_EQ(0, cq_event(&m->cq, "QP_FATAL"));
	EXPECT_NO_EVENT();
}

/* Whatever the driver says of it, and when: the first receive decides. */
TEST_F(mevent, established_in_every_order)
{
	static const char *const orders[] = {
		"r", "er", "re", "ere", "eere", "rer", "rrer", "erere",
	};
	struct xvm *m = &self->m;
	unsigned int i, j, n;

	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		const char *order = orders[i];

		for (j = 0; j < 4; j++)
			ASSERT_EQ(0, xvm_recv(m, &m->qp, j));
		ASSERT_EQ(0, xvm_go(m, &m->qp, XV_QPS_RTR));
		for (j = 0, n = 0; order[j]; j++) {
			if (order[j] == 'e') {
				ASSERT_EQ(0, qp_event(&m->qp, "COMM_EST"));
			} else {
				ASSERT_EQ(0, xvm_complete("recv",
							  m->qp.info.qp_num, 0,
							  "SUCCESS"));
				/* Nobody calls: the kernel looks. */
				if (!n)
					EXPECT_QP_EVENT(XV_EV_COMM_ESTABLISHED,
							1);
				xvt_expect_wc(_metadata, &m->cq, n++,
					      XV_WC_SUCCESS);
			}
			EXPECT_NO_EVENT();
		}
		ASSERT_EQ(0, xvm_go(m, &m->qp, XV_QPS_RTS));
		ASSERT_EQ(0, qp_event(&m->qp, "COMM_EST"));
		EXPECT_NO_EVENT();
		/* Another life, another event. */
		ASSERT_EQ(0, xvm_go(m, &m->qp, XV_QPS_RESET));
		while (!xv_wait(&m->cq, 0, 0) &&
		       xv_poll(&m->cq, &(struct xv_wc){}, 1) == 1)
			;
		ASSERT_EQ(0, xvm_go(m, &m->qp, XV_QPS_INIT));
	}
}

/* A flushed receive implies no peer. */
TEST_F(mevent, not_established_by_an_error)
{
	struct xvm *m = &self->m;

	ASSERT_EQ(0, xvm_recv(m, &m->qp, 0));
	ASSERT_EQ(0, xvm_go(m, &m->qp, XV_QPS_RTR));
	ASSERT_EQ(0, xvm_complete("recv", m->qp.info.qp_num, 0,
				  "WR_FLUSH_ERR"));
	xvt_expect_wc(_metadata, &m->cq, 0, XV_WC_FLUSH_ERR);
	EXPECT_NO_EVENT();
}

/* ---- objects that are not there yet ---- */

/* A call that makes a CQ and a QP and then sleeps in the driver. */
static void start_making(struct __test_metadata *_metadata, fixture *self)
{
	struct xvm *m = &self->m;

	ASSERT_EQ(0, xvm_verb("alloc_pd", "sleep"));
	ASSERT_EQ(0, xv_txn_begin(m->t.ctx, 0, &self->call.tx));
	xv_cq_create(self->call.tx, &self->other_cq,
		     XV_OPTS(xv_cq_opts, .cqe = 32, .eventq = &m->eq,
			     .cookie = 2));
	xv_qp_create(self->call.tx, &self->other,
		     XV_OPTS(xv_qp_opts, .pd = &m->pd,
			     .send_cq = &self->other_cq, .eventq = &m->eq,
			     .cookie = 12, .send_wr = 16, .recv_wr = 16));
	xv_pd_create(self->call.tx, &self->other_pd);
	xvm_start(_metadata, &self->call);
	ASSERT_TRUE(xvm_wait_sleeper("alloc_pd"));
}

TEST_F(mevent, of_a_new_object_waits)
{
	struct xvm *m = &self->m;

	start_making(_metadata, self);
	self->other.info.qp_num = xvm_newest_qp();
	ASSERT_EQ(0, qp_event(&self->other, "QP_FATAL"));
	ASSERT_EQ(0, qp_event(&self->other, "QP_FATAL"));
	EXPECT_NO_EVENT();
	/* Another's is not kept by it. */
	ASSERT_EQ(0, qp_event(&m->qp, "LAST_WQE"));
	EXPECT_QP_EVENT(XV_EV_QP_LAST_WQE, 1);
	EXPECT_NO_EVENT();
	ASSERT_EQ(0, xvm_verb("alloc_pd", "wake"));
	EXPECT_EQ(0, xvm_join(_metadata, &self->call));
	expect_event(_metadata, m, XV_EV_QP_FATAL, self->other.obj.handle, 12,
		     2);
	EXPECT_EQ(XV_QPS_ERR, self->other.ring->state);
	EXPECT_NO_EVENT();
}

TEST_F(mevent, of_an_object_that_did_not_come_to_be)
{
	struct xvm *m = &self->m;

	start_making(_metadata, self);
	self->other.info.qp_num = xvm_newest_qp();
	ASSERT_EQ(0, qp_event(&self->other, "QP_FATAL"));
	ASSERT_EQ(0, qp_event(&self->other, "LAST_WQE"));
	ASSERT_EQ(0, xvm_verb("get_dma_mr", "fail %d", ENOMEM));
	ASSERT_EQ(0, xvm_verb("alloc_pd", "wake"));
	EXPECT_EQ(-ENOMEM, xvm_join(_metadata, &self->call));
	EXPECT_EQ(2, self->call.err.op);
	EXPECT_NO_EVENT();
}

/* ---- objects that are gone ---- */

static void start_destroying(struct __test_metadata *_metadata, fixture *self)
{
	struct xvm *m = &self->m;

	ASSERT_EQ(0, xvm_verb("destroy_qp", "sleep"));
	ASSERT_EQ(0, xv_txn_begin(m->t.ctx, 0, &self->call.tx));
	xv_qp_destroy(self->call.tx, &m->qp);
	xv_cq_destroy(self->call.tx, &m->cq);
	xvm_start(_metadata, &self->call);
	ASSERT_TRUE(xvm_wait_sleeper("destroy_qp"));
}

TEST_F(mevent, of_an_object_that_goes)
{
	struct xvm *m = &self->m;

	/* One that was there before goes with it. */
	ASSERT_EQ(0, qp_event(&m->qp, "QP_FATAL"));
	ASSERT_EQ(0, cq_event(&m->cq, "CQ_ERR"));
	start_destroying(_metadata, self);
	ASSERT_EQ(0, qp_event(&m->qp, "QP_FATAL"));
	ASSERT_EQ(0, qp_event(&m->qp, "LAST_WQE"));
	ASSERT_EQ(0, cq_event(&m->cq, "CQ_ERR"));
	EXPECT_NO_EVENT();
	ASSERT_EQ(0, xvm_verb("destroy_qp", "wake"));
	EXPECT_EQ(0, xvm_join(_metadata, &self->call));
	EXPECT_NO_EVENT();
	EXPECT_EQ(-ENOENT, qp_event(&m->qp, "QP_FATAL"));
	EXPECT_EQ(-ENOENT, cq_event(&m->cq, "CQ_ERR"));
}

/* Completions of a CQ that is on its way, which was armed. */
TEST_F(mevent, completions_of_a_queue_that_goes)
{
	struct xvm *m = &self->m;
	unsigned int i;

	ASSERT_EQ(0, xv_qp_destroy(xv_now(m->t.ctx), &m->qp));
	ASSERT_EQ(0, xv_arm(&m->cq));
	ASSERT_EQ(0, xvm_verb("destroy_cq", "sleep"));
	ASSERT_EQ(0, xv_txn_begin(m->t.ctx, 0, &self->call.tx));
	xv_cq_destroy(self->call.tx, &m->cq);
	xvm_start(_metadata, &self->call);
	ASSERT_TRUE(xvm_wait_sleeper("destroy_cq"));
	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, xvm_set("inject", "%u %x SUCCESS",
				     m->cq.info.restrack_id, i));
	ASSERT_EQ(0, cq_event(&m->cq, "CQ_ERR"));
	EXPECT_NO_EVENT();
	ASSERT_EQ(0, xvm_verb("destroy_cq", "wake"));
	EXPECT_EQ(0, xvm_join(_metadata, &self->call));
	EXPECT_NO_EVENT();
}

/* The driver did not destroy it, and goes on to talk. */
TEST_F(mevent, of_a_zombie)
{
	struct xvm *m = &self->m;

	ASSERT_EQ(0, xvm_recv(m, &m->qp, 1));
	ASSERT_EQ(0, xvm_set("flush", "0"));
	ASSERT_EQ(0, xvm_verb("destroy_qp", "fail %d", EBUSY));
	ASSERT_EQ(0, xv_qp_destroy(xv_now(m->t.ctx), &m->qp));
	EXPECT_EQ(1, xvm_zombies("zombies"));
	ASSERT_EQ(0, qp_event(&m->qp, "QP_FATAL"));
	ASSERT_EQ(0, qp_event(&m->qp, "LAST_WQE"));
	ASSERT_EQ(0, qp_event(&m->qp, "COMM_EST"));
	ASSERT_EQ(0, xvm_complete("recv", m->qp.info.qp_num, 0, "SUCCESS"));
	EXPECT_NO_EVENT();
	XVM_EXPECT_NO_WC(&m->cq);
}

/* ---- the device ---- */

TEST_F(mevent, of_ports_and_device)
{
	static const char *const names[] = {
		"PORT_ERR", "PORT_ACTIVE", "LID_CHANGE", "PKEY_CHANGE",
		"SM_CHANGE", "GID_CHANGE", "CLIENT_REREGISTER",
	};
	struct xvm *m = &self->m;
	unsigned int i, port;

	ASSERT_EQ(0, xv_qp_connect(xv_now(m->t.ctx), &m->qp, xvm_peer()));
	for (i = 0; i < ARRAY_SIZE(names); i++)
		for (port = 1; port <= 2; port++)
			ASSERT_EQ(0, xvm_set("event", "port %u %s", port,
					     names[i]));
	ASSERT_EQ(0, xvm_set("event", "device 0 DEVICE_FATAL"));
	/* Whatever becomes of it, the driver says that of each. */
	EXPECT_EQ(XV_QPS_RTS, m->qp.ring->state);
	ASSERT_EQ(0, xvm_send(m, &m->qp, 1));
	ASSERT_EQ(0, xvm_complete("send", m->qp.info.qp_num, 0, "SUCCESS"));
	xvt_expect_wc(_metadata, &m->cq, 1, XV_WC_SUCCESS);
}

/* Who has asked is told each of them, once, with its port; the device is no port. */
TEST_F(mevent, of_ports_and_device_to_who_asks)
{
	static const struct {
		const char *name;
		uint16_t type;
	} kinds[] = {
		{ "PORT_ERR", XV_EV_PORT_ERROR },
		{ "PORT_ACTIVE", XV_EV_PORT_ACTIVE },
		{ "LID_CHANGE", XV_EV_LID_CHANGE },
		{ "PKEY_CHANGE", XV_EV_PKEY_CHANGE },
		{ "SM_CHANGE", XV_EV_SM_CHANGE },
		{ "CLIENT_REREGISTER", XV_EV_CLIENT_REREGISTER },
	};
	struct xv_subscription all = {}, second = {};
	struct xvm *m = &self->m;
	struct xv_tx *now = xv_now(m->t.ctx);
	unsigned int i, port, n;
	struct xv_event ev;

	ASSERT_EQ(0, xv_subscription_create(now, &all,
		     XV_OPTS(xv_subscription_opts, .eventq = &m->eq,
			     .cookie = 31)));
	ASSERT_EQ(0, xv_subscription_create(now, &second,
		     XV_OPTS(xv_subscription_opts, .eventq = &m->eq,
			     .cookie = 32, .port = 2)));
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		for (port = 1; port <= 2; port++) {
			ASSERT_EQ(0, xvm_set("event", "port %u %s", port,
					     kinds[i].name));
			for (n = 0; n < port; n++) {
				ASSERT_EQ(1, xvt_event(&m->eq, &ev)) {
					TH_LOG("%s", kinds[i].name);
				}
				EXPECT_EQ(kinds[i].type, ev.type);
				EXPECT_EQ(XV_OBJ_SUBSCRIPTION, ev.object);
				EXPECT_EQ(port, ev.data);
				EXPECT_EQ(1, ev.count);
			}
			EXPECT_NO_EVENT();
		}
	}
	ASSERT_EQ(0, xvm_set("event", "device 0 DEVICE_FATAL"));
	ASSERT_EQ(0, xvm_set("event", "device 0 DEVICE_FATAL"));
	for (n = 0, i = 0; i < 3 && xvt_event(&m->eq, &ev) == 1; i++) {
		EXPECT_EQ(XV_EV_DEVICE_FATAL, ev.type);
		EXPECT_EQ(0, ev.data);
		n += ev.count;
		if (n == 4)
			break;
	}
	EXPECT_EQ(4, n);
	EXPECT_NO_EVENT();
	ASSERT_EQ(0, xv_subscription_destroy(now, &all));
	ASSERT_EQ(0, xvm_set("event", "device 0 DEVICE_FATAL"));
	ASSERT_EQ(1, xvt_event(&m->eq, &ev));
	EXPECT_EQ(32, ev.cookie);
	EXPECT_NO_EVENT();
	ASSERT_EQ(0, xv_subscription_destroy(now, &second));
}

TEST_HARNESS_MAIN
