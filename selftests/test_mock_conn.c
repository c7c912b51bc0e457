// SPDX-License-Identifier: GPL-2.0
/*
 * Connections over a device where each event comes when the test says so, on
 * iWARP.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include "xv_mock.h"

#define ADDRESS	"10.78.0.1"
#define PEER	"10.78.0.2"

FIXTURE(mconn) {
	struct xvm m;
	struct xv_tx *now;
	struct xv_listener l;
	struct xv_conn conn;
	struct sockaddr_in addr;
};

typedef FIXTURE_DATA(mconn) fixture;

FIXTURE_SETUP(mconn)
{
	struct xvm *m = &self->m;

	ASSERT_EQ(0, xvt_sh("ip link add xvmd0 type dummy"));
	ASSERT_EQ(0, xvt_sh("ip addr add " ADDRESS "/24 dev xvmd0"));
	ASSERT_EQ(0, xvt_sh("ip link set xvmd0 up"));
	xvm_setup_with(_metadata, m, "link=iwarp:xvmd0");
	self->now = xv_now(m->t.ctx);
	self->addr.sin_family = AF_INET;
	ASSERT_EQ(1, inet_pton(AF_INET, ADDRESS, &self->addr.sin_addr));
	ASSERT_EQ(0, xv_listener_create(self->now, &self->l,
		  XV_OPTS(xv_listener_opts, .eventq = &m->eq, .cookie = 31,
			  .addr = (struct sockaddr *)&self->addr)));
	ASSERT_EQ(0, xvm_recv(m, &m->qp, 1));
	ASSERT_EQ(0, xvm_recv(m, &m->qp, 2));
}

FIXTURE_TEARDOWN(mconn)
{
	xvm_teardown(_metadata, &self->m);
	xvt_sh("ip link delete xvmd0");
}

static uint64_t expect_event(struct __test_metadata *_metadata, fixture *f,
			     unsigned int type)
{
	struct xv_event ev = {};

	EXPECT_EQ(1, xvt_event(&f->m.eq, &ev)) {
		TH_LOG("no event, wanted: %s", xv_event_name(type));
	}
	EXPECT_EQ(type, ev.type) {
		TH_LOG("event: %s, data %llu; wanted: %s",
		       xv_event_name(ev.type), (unsigned long long)ev.data,
		       xv_event_name(type));
	}
	EXPECT_EQ(1, ev.count);
	return ev.data;
}

static bool qp_is_up(fixture *f)
{
	return xvm_get("qps", "qpn") == f->m.qp.info.qp_num &&
	       !xvt_sh("grep -q 'state 3' " XVM_DIR "qps");
}

/* A peer asks, and is accepted: the driver is in RTS, no event has come. */
static void accept_peer(struct __test_metadata *_metadata, fixture *f)
{
	struct xvm *m = &f->m;
	uint64_t token;

	ASSERT_EQ(0, xvm_set("cm", "request"));
	token = expect_event(_metadata, f, XV_EV_CONNECT_REQUEST);
	ASSERT_EQ(0, xv_conn_create(f->now, &f->conn, XV_OPTS(xv_conn_opts,
		  .qp = &m->qp, .eventq = &m->eq, .cookie = 21,
		  .listener = &f->l, .token = token)));
	ASSERT_TRUE(xvt_wait_until(qp_is_up(f), 5000));
	EXPECT_FALSE(xvt_has_event(&m->eq));
}

static void connect_peer(struct __test_metadata *_metadata, fixture *f)
{
	struct xvm *m = &f->m;
	struct sockaddr_in peer = f->addr;

	ASSERT_EQ(1, inet_pton(AF_INET, PEER, &peer.sin_addr));
	peer.sin_port = htons(7);
	ASSERT_EQ(0, xv_conn_create(f->now, &f->conn, XV_OPTS(xv_conn_opts,
		  .qp = &m->qp, .eventq = &m->eq, .cookie = 21,
		  .dst = (struct sockaddr *)&peer,
		  .establish_ms = 60000)));
}

static void expect_conn(struct __test_metadata *_metadata, fixture *f,
			unsigned int state, unsigned int cause,
			unsigned int early)
{
	struct xv_conn_info info;

	ASSERT_EQ(0, xv_conn_query(f->now, &f->conn, &info));
	EXPECT_EQ(state, info.state);
	EXPECT_EQ(cause, info.cause);
	EXPECT_EQ(early, info.sends_early);
}

/*
 * R3: the device says first that the peer is there. The connection manager's
 * event comes late and changes nothing. Sends wait for the peer's first message
 * all the same, since this is iWARP.
 */
TEST_F(mconn, device_says_so)
{
	struct xvm *m = &self->m;

	accept_peer(_metadata, self);
	ASSERT_EQ(0, xvm_send(m, &m->qp, 7));
	ASSERT_EQ(0, xvm_send(m, &m->qp, 8));
	ASSERT_EQ(0, xvm_set("event", "qp %u COMM_EST", m->qp.info.qp_num));
	EXPECT_EQ(XV_CONN_BY_COMM_EST,
		  expect_event(_metadata, self, XV_EV_ESTABLISHED));
	ASSERT_EQ(0, xvm_set("cm", "established"));
	/* Twice is not twice as much. */
	ASSERT_EQ(0, xvm_set("event", "qp %u COMM_EST", m->qp.info.qp_num));
	usleep(20000);
	EXPECT_FALSE(xvt_has_event(&m->eq));
	expect_conn(_metadata, self, XV_CONN_ESTABLISHED, XV_CONN_BY_COMM_EST, 2);
	EXPECT_EQ(0, xvm_get("objects", "sends"));

	ASSERT_EQ(0, xvm_complete("recv", m->qp.info.qp_num, 0, "SUCCESS"));
	xvt_expect_wc(_metadata, &m->cq, 1, XV_WC_SUCCESS);
	EXPECT_TRUE(xvt_wait_until(xvm_get("objects", "sends") == 2, 5000));
	expect_conn(_metadata, self, XV_CONN_ESTABLISHED, XV_CONN_BY_COMM_EST, 0);
	EXPECT_FALSE(xvt_has_event(&m->eq));
}

/* Data says so first; the rest is as above. */
TEST_F(mconn, data_says_so)
{
	struct xvm *m = &self->m;

	accept_peer(_metadata, self);
	ASSERT_EQ(0, xvm_send(m, &m->qp, 7));
	ASSERT_EQ(0, xvm_complete("recv", m->qp.info.qp_num, 0, "SUCCESS"));
	EXPECT_EQ(XV_CONN_BY_DATA,
		  expect_event(_metadata, self, XV_EV_ESTABLISHED));
	xvt_expect_wc(_metadata, &m->cq, 1, XV_WC_SUCCESS);
	EXPECT_TRUE(xvt_wait_until(xvm_get("objects", "sends") == 1, 5000));
	ASSERT_EQ(0, xvm_set("event", "qp %u COMM_EST", m->qp.info.qp_num));
	ASSERT_EQ(0, xvm_set("cm", "established"));
	usleep(20000);
	EXPECT_FALSE(xvt_has_event(&m->eq));
	expect_conn(_metadata, self, XV_CONN_ESTABLISHED, XV_CONN_BY_DATA, 0);
}

/* R3: what the active side receives before its answer waits for the event. */
TEST_F(mconn, answer_after_data)
{
	struct xvm *m = &self->m;

	connect_peer(_metadata, self);
	ASSERT_EQ(0, xvm_send(m, &m->qp, 7));
	/* Not before the request was sent. */
	ASSERT_TRUE(xvt_wait_until(!xvm_complete("recv", m->qp.info.qp_num, 0,
						 "SUCCESS"), 5000));
	usleep(20000);
	XVM_EXPECT_NO_WC(&m->cq);
	EXPECT_FALSE(xvt_has_event(&m->eq));
	EXPECT_EQ(0, xvm_get("objects", "sends"));
	ASSERT_TRUE(xvt_wait_until(!xvm_set("cm", "reply 0"), 5000));
	EXPECT_EQ(XV_CONN_BY_CM,
		  expect_event(_metadata, self, XV_EV_ESTABLISHED));
	xvt_expect_wc(_metadata, &m->cq, 1, XV_WC_SUCCESS);
	EXPECT_TRUE(xvt_wait_until(xvm_get("objects", "sends") == 1, 5000));
}

/* The same, but the answer is no: it did not come. */
TEST_F(mconn, refused_after_data)
{
	struct xvm *m = &self->m;

	connect_peer(_metadata, self);
	ASSERT_EQ(0, xvm_send(m, &m->qp, 7));
	ASSERT_EQ(0, xvm_complete("recv", m->qp.info.qp_num, 0, "SUCCESS"));
	ASSERT_TRUE(xvt_wait_until(!xvm_set("cm", "reply %d", ECONNREFUSED),
				   5000));
	EXPECT_EQ(ECONNREFUSED,
		  expect_event(_metadata, self, XV_EV_CONNECT_FAILED));
	xvt_expect_wc(_metadata, &m->cq, 1, XV_WC_FLUSH_ERR);
}

/*
 * The end of the stream flushes what is outstanding; why it ended is told by
 * the event, which may be later.
 */
TEST_F(mconn, flushed_before_the_event)
{
	struct xvm *m = &self->m;

	connect_peer(_metadata, self);
	ASSERT_TRUE(xvt_wait_until(!xvm_set("cm", "reply 0"), 5000));
	expect_event(_metadata, self, XV_EV_ESTABLISHED);
	ASSERT_EQ(0, xvm_complete("recv", m->qp.info.qp_num, 0, "WR_FLUSH_ERR"));
	xvt_expect_wc(_metadata, &m->cq, 1, XV_WC_FLUSH_ERR);
	usleep(20000);
	EXPECT_FALSE(xvt_has_event(&m->eq));
	ASSERT_EQ(0, xvm_set("cm", "close"));
	EXPECT_EQ(ECONNRESET, expect_event(_metadata, self, XV_EV_DISCONNECTED));
}

/*
 * R6, and a driver that refuses ERR: early sends end all the same, once and in
 * order, before the one event.
 */
TEST_F(mconn, err_is_refused)
{
	struct xvm *m = &self->m;
	unsigned int k;

	accept_peer(_metadata, self);
	for (k = 0; k < 5; k++)
		ASSERT_EQ(0, xvm_send(m, &m->qp, 70 + k));
	ASSERT_EQ(0, xvm_verb("modify_qp", "fail %d 0", EIO));
	ASSERT_EQ(0, xv_conn_disconnect(self->now, &self->conn));
	EXPECT_EQ(0, expect_event(_metadata, self, XV_EV_CONNECT_FAILED));
	for (k = 0; k < 5; k++)
		xvt_expect_wc(_metadata, &m->cq, 70 + k, XV_WC_FLUSH_ERR);
	XVM_EXPECT_NO_WC(&m->cq);
	EXPECT_FALSE(xvt_has_event(&m->eq));
	EXPECT_LT(0, xvm_get("verbs/modify_qp", "failed"));
	/* The connection manager waits for its event, whoever destroys. */
	ASSERT_EQ(0, xvm_verb("modify_qp", "reset"));
	xvm_set("cm", "established");
	xvm_set("cm", "close");
}

TEST_HARNESS_MAIN
