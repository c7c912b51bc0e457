// SPDX-License-Identifier: GPL-2.0
/*
 * Events of the device and its ports, by subscription; masks of events; and
 * link addresses that change.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Works on a device of its own, on a veth pair of its own.
 */
#include <arpa/inet.h>
#include "xv_test.h"

#define DEV	"xvrxe"
#define NETDEV	"xve0"
#define PEER	"xve1"
#define ADDR	"10.77.0.1/24"

FIXTURE(events) {
	struct xvt t;
	struct xvt_snap before;
	struct xv_tx *now;
	struct xv_eventq eq;
};

typedef FIXTURE_DATA(events) fixture;

static void take_away(void)
{
	xvt_sh("rdma link delete " DEV " 2>/dev/null; ip link delete " NETDEV
	       " 2>/dev/null");
}

static bool has_gid(void)
{
	struct xvt t = {};
	bool ok;

	if (xv_open(DEV, 0, &t.ctx))
		return false;
	ok = !xvt_find_gid(&t);
	xvt_close(&t);
	return ok;
}

FIXTURE_SETUP(events)
{
	take_away();
	ASSERT_EQ(0, xvt_sh("ip link add " NETDEV " type veth peer name " PEER));
	ASSERT_EQ(0, xvt_sh("ip addr add " ADDR " dev " NETDEV
			    " && ip link set " PEER " up && ip link set " NETDEV
			    " up && rdma link add " DEV " type rxe netdev "
			    NETDEV));
	ASSERT_TRUE(xvt_wait_until(has_gid(), 5000));
	/* The first addresses of IPv6 come when they like. */
	ASSERT_EQ(0, xvt_sh("ip -6 addr flush dev " NETDEV));
	xvt_open_name(_metadata, &self->t, DEV);
	self->now = xv_now(self->t.ctx);
	xvt_snap(_metadata, &self->t, &self->before);
	ASSERT_EQ(0, xv_eventq_create(self->now, &self->eq));
	ASSERT_EQ(0, fcntl(self->eq.fd, F_SETFL, O_NONBLOCK));
}

FIXTURE_TEARDOWN(events)
{
	xvt_teardown(_metadata);
	xv_eventq_close(&self->eq);
	if (self->t.ctx) {
		xvt_same(_metadata, &self->t, &self->before, "at the end");
		xvt_close(&self->t);
	}
	take_away();
}

#define EXPECT_NOW_ERR(e, g, a, r)					\
	xvt_failed(_metadata, "call", -xv_txn_error(self->now)->err,	\
		   xv_txn_error(self->now), e, 0, g, a, r)

static int subscribe(struct xvt *t, struct xv_subscription *sub,
		     struct xv_eventq *eq, uint64_t cookie, uint64_t mask)
{
	return xv_subscription_create(xv_now(t->ctx), sub,
				      XV_OPTS(xv_subscription_opts,
					      .eventq = eq, .cookie = cookie,
					      .event_mask = mask));
}

/* The next event is this one; how many were merged into it. */
static uint32_t expect_event(struct __test_metadata *_metadata,
			     struct xv_eventq *eq,
			     const struct xv_subscription *sub,
			     uint64_t cookie, uint16_t type, uint64_t port)
{
	struct xv_event ev;

	memset(&ev, 0xAA, sizeof(ev));
	EXPECT_EQ(1, xvt_event(eq, &ev)) {
		TH_LOG("no event, wanted \"%s\"", xv_event_name(type));
		return 0;
	}
	EXPECT_EQ(type, ev.type) {
		TH_LOG("event \"%s\"", xv_event_name(ev.type));
	}
	EXPECT_EQ(XV_OBJ_SUBSCRIPTION, ev.object);
	EXPECT_EQ(sub->obj.handle, ev.handle);
	EXPECT_EQ(cookie, ev.cookie);
	EXPECT_EQ(port, ev.data);
	EXPECT_LE(1, ev.count);
	EXPECT_EQ(0, ev.reserved);
	return ev.count;
}

/* Wait until no more come: what is told twice comes at once. */
static void settle(struct xv_eventq *eq)
{
	struct pollfd pfd = { .fd = eq->fd, .events = POLLIN };
	struct xv_event ev[8];

	while (poll(&pfd, 1, xvt_ns(100) / 1000000) > 0 &&
	       xvt_read_now(eq, ev, 8) > 0)
		;
}

static unsigned int port_state(fixture *self)
{
	struct xv_port_info info = {};

	xv_device_query_port(self->now, 1, &info);
	return info.state;
}

/* The interface goes down and comes up: so does the port. */
TEST_F(events, port)
{
	struct xv_subscription sub = {};
	uint64_t mask = XV_EVENT_BIT(XV_EV_PORT_ERROR) |
			XV_EVENT_BIT(XV_EV_PORT_ACTIVE);
	int i;

	ASSERT_EQ(0, subscribe(&self->t, &sub, &self->eq, 77, mask));
	EXPECT_FALSE(xvt_has_event(&self->eq));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, xvt_sh("ip link set " NETDEV " down"));
		expect_event(_metadata, &self->eq, &sub, 77, XV_EV_PORT_ERROR,
			     1);
		EXPECT_EQ(XV_PORT_DOWN, port_state(self));
		settle(&self->eq);
		ASSERT_EQ(0, xvt_sh("ip link set " NETDEV " up"));
		expect_event(_metadata, &self->eq, &sub, 77, XV_EV_PORT_ACTIVE,
			     1);
		EXPECT_EQ(XV_PORT_ACTIVE, port_state(self));
		settle(&self->eq);
	}
	ASSERT_EQ(0, xv_subscription_destroy(self->now, &sub));
}

/* An address comes and goes: the GID table changes. */
TEST_F(events, gid)
{
	struct xv_subscription sub = {};
	uint32_t count;

	ASSERT_EQ(0, xv_subscription_create(self->now, &sub,
		  XV_OPTS(xv_subscription_opts, .eventq = &self->eq, .port = 1,
			  .cookie = ~0ULL)));
	settle(&self->eq);
	ASSERT_EQ(0, xvt_sh("ip addr add 10.77.0.9/24 dev " NETDEV));
	expect_event(_metadata, &self->eq, &sub, ~0ULL, XV_EV_GID_CHANGE, 1);
	settle(&self->eq);
	ASSERT_EQ(0, xvt_sh("ip addr del 10.77.0.9/24 dev " NETDEV));
	expect_event(_metadata, &self->eq, &sub, ~0ULL, XV_EV_GID_CHANGE, 1);
	settle(&self->eq);

	/* Nobody reads: they are one. */
	ASSERT_EQ(0, xvt_sh("for i in 21 22 23 24; do ip addr add 10.77.0.$i/24 dev "
			    NETDEV "; done"));
	usleep(xvt_ns(300) / 1000);
	count = expect_event(_metadata, &self->eq, &sub, ~0ULL,
			     XV_EV_GID_CHANGE, 1);
	EXPECT_LE(4, count);
	EXPECT_FALSE(xvt_has_event(&self->eq));
	ASSERT_EQ(0, xv_subscription_destroy(self->now, &sub));
}

/* Each kind is told only to those who want it. */
TEST_F(events, masks)
{
	struct xv_subscription all = {}, port = {}, none = {};
	struct xv_eventq eq[2] = {};
	struct xv_event ev;
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, xv_eventq_create(self->now, &eq[i]));
		ASSERT_EQ(0, fcntl(eq[i].fd, F_SETFL, O_NONBLOCK));
	}
	ASSERT_EQ(0, subscribe(&self->t, &all, &self->eq, 1, 0));
	ASSERT_EQ(0, subscribe(&self->t, &port, &eq[0], 2,
			       XV_EVENT_BIT(XV_EV_PORT_ERROR)));
	/* Kinds that it does not raise have no effect. */
	ASSERT_EQ(0, subscribe(&self->t, &none, &eq[1], 3,
			       ~XV_EVENT_BIT(XV_EV_GID_CHANGE) &
			       ~XV_EVENT_BIT(XV_EV_PORT_ERROR)));
	settle(&self->eq);
	ASSERT_EQ(0, xvt_sh("ip addr add 10.77.0.9/24 dev " NETDEV));
	expect_event(_metadata, &self->eq, &all, 1, XV_EV_GID_CHANGE, 1);
	EXPECT_FALSE(xvt_has_event(&eq[0]));
	ASSERT_EQ(0, xvt_sh("ip link set " NETDEV " down"));
	expect_event(_metadata, &eq[0], &port, 2, XV_EV_PORT_ERROR, 1);
	settle(&self->eq);
	EXPECT_FALSE(xvt_has_event(&eq[1]));
	ASSERT_EQ(0, xvt_sh("ip link set " NETDEV " up"));
	ASSERT_EQ(1, xvt_event(&eq[1], &ev));
	EXPECT_EQ(XV_EV_PORT_ACTIVE, ev.type);
	ASSERT_EQ(0, xv_subscription_destroy(self->now, &all));
	ASSERT_EQ(0, xv_subscription_destroy(self->now, &port));
	ASSERT_EQ(0, xv_subscription_destroy(self->now, &none));
	for (i = 0; i < 2; i++)
		xv_eventq_close(&eq[i]);
}

/* Several subscriptions, of two files; each ends by itself. */
TEST_F(events, subscribers)
{
	struct xv_subscription sub[2] = {}, theirs = {};
	uint64_t mask = XV_EVENT_BIT(XV_EV_GID_CHANGE);
	struct xv_eventq their_eq = {}, eq = {};
	struct xvt other;

	xvt_open_name(_metadata, &other, DEV);
	ASSERT_EQ(0, xv_eventq_create(xv_now(other.ctx), &their_eq));
	ASSERT_EQ(0, xv_eventq_create(self->now, &eq));
	ASSERT_EQ(0, subscribe(&self->t, &sub[0], &self->eq, 1, mask));
	ASSERT_EQ(0, subscribe(&self->t, &sub[1], &eq, 2, mask));
	ASSERT_EQ(0, subscribe(&other, &theirs, &their_eq, 3, mask));

	/* A queue of another file. */
	EXPECT_EQ(-EBADF, subscribe(&self->t, &(struct xv_subscription){},
				    &their_eq, 4, mask));
	EXPECT_NOW_ERR(EBADF, XV_GRP_EVENTS, XV_EVENTS_QUEUE, XV_R_NO_EVENTQ);

	ASSERT_EQ(0, xvt_sh("ip addr add 10.77.0.9/24 dev " NETDEV));
	expect_event(_metadata, &self->eq, &sub[0], 1, XV_EV_GID_CHANGE, 1);
	expect_event(_metadata, &their_eq, &theirs, 3, XV_EV_GID_CHANGE, 1);
	/* What nobody has read goes with its subscription. */
	ASSERT_TRUE(xvt_wait_until(xvt_has_event(&eq), 5000));
	ASSERT_EQ(0, xv_subscription_destroy(self->now, &sub[1]));
	EXPECT_FALSE(xvt_has_event(&eq));

	/* The rest of the world goes on without a closed file, and queue. */
	xvt_close(&other);
	xv_eventq_close(&their_eq);
	xv_eventq_close(&eq);
	settle(&self->eq);
	ASSERT_EQ(0, xvt_sh("ip addr del 10.77.0.9/24 dev " NETDEV));
	expect_event(_metadata, &self->eq, &sub[0], 1, XV_EV_GID_CHANGE, 1);
	/* A queue may be closed before what it is for. */
	ASSERT_EQ(0, xv_eventq_create(self->now, &eq));
	ASSERT_EQ(0, subscribe(&self->t, &sub[1], &eq, 2, mask));
	xv_eventq_close(&eq);
	ASSERT_EQ(0, xvt_sh("ip addr add 10.77.0.9/24 dev " NETDEV));
	expect_event(_metadata, &self->eq, &sub[0], 1, XV_EV_GID_CHANGE, 1);
	ASSERT_EQ(0, xv_subscription_destroy(self->now, &sub[0]));
	ASSERT_EQ(0, xv_subscription_destroy(self->now, &sub[1]));
}

TEST_F(events, what_is_refused)
{
	struct xv_subscription sub = {};
	struct xvt_snap before;
	struct xvt_msg *m = malloc(sizeof(*m));

	ASSERT_NE(NULL, m);
	xvt_snap(_metadata, &self->t, &before);
	EXPECT_EQ(-EINVAL, xv_subscription_create(self->now, &sub,
		  XV_OPTS(xv_subscription_opts, .eventq = &self->eq,
			  .port = 2)));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_PARAMS, XV_PARAMS_PORT, XV_R_RANGE);
	EXPECT_EQ(1, xv_txn_error(self->now)->detail);
	EXPECT_EQ(-EINVAL, xv_subscription_create(self->now, &sub,
		  XV_OPTS(xv_subscription_opts, .eventq = &self->eq,
			  .port = 256)));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_PARAMS, XV_PARAMS_PORT, XV_R_RANGE);
	/* Without a queue there is nothing that it could do. */
	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_SUBSCRIPTION, XV_M_CREATE);
	xvt_new(m);
	xvt_run(m, self->t.fd);
	xvt_failed(_metadata, "no queue", m->ret, &m->err, EINVAL, 0,
		   XV_GRP_EVENTS, XV_EVENTS_QUEUE, XV_R_MISSING);
	/* Undone with what else the call would have made. */
	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_EVENTQ, XV_M_CREATE);
	xvt_new(m);
	xvt_op(m, XV_OBJ_SUBSCRIPTION, XV_M_CREATE);
	xvt_new(m);
	xvt_ref(m, XV_GRP_EVENTS, XV_EVENTS_QUEUE, 0);
	xvt_op(m, XV_OBJ_DEVICE, XV_M_QUERY_PORT);
	xvt_u32(m, XV_GRP_PARAMS, XV_PARAMS_PORT, 9);
	xvt_out(m, &(struct xv_port_info){}, sizeof(struct xv_port_info));
	xvt_run(m, self->t.fd);
	xvt_failed(_metadata, "undone", m->ret, &m->err, EINVAL, 2,
		   XV_GRP_PARAMS, XV_PARAMS_PORT, XV_R_RANGE);
	xvt_same(_metadata, &self->t, &before, "refused");
	free(m);
	/* Whoever was told of a subscription that failed would crash now. */
	ASSERT_EQ(0, xvt_sh("ip addr add 10.77.0.9/24 dev " NETDEV));
	usleep(xvt_ns(100) / 1000);
}

/* The mask is that of every source of events. */
TEST_F(events, masks_of_others)
{
	struct xv_qp_attr a;
	struct xvt_pair p;
	struct xv_cq cq = {};
	struct xv_qp qp = {};
	struct xv_recv r;
	struct xv_wc wc;

	xvt_pair(_metadata, &self->t, &p, &(struct xvt_pair_opts){
		 .events = true, .no_connect = true });
	ASSERT_EQ(0, xv_cq_create(self->now, &cq, XV_OPTS(xv_cq_opts, .cqe = 8,
		  .eventq = &p.eq, .event_mask =
		  XV_EVENT_BIT(XV_EV_CQ_ERROR))));
	ASSERT_EQ(0, xv_qp_create(self->now, &qp, XV_OPTS(xv_qp_opts,
		  .pd = &p.pd, .send_cq = &cq, .send_wr = 1, .recv_wr = 1,
		  .eventq = &p.eq, .event_mask =
		  ~XV_EVENT_BIT(XV_EV_COMM_ESTABLISHED))));
	/* In RTR, the first receive would raise it. */
	xv_recv_prep(&r, 5);
	xv_recv_add_sge(&r, xvt_sge(&p, 4096, 64));
	ASSERT_EQ(0, xv_post_recv(&qp, &r, 1));
	ASSERT_EQ(0, xv_submit(&qp));
	a = xvt_peer(&self->t, &p.qp[0]);
	a.state = XV_QPS_RTR;
	ASSERT_EQ(0, xv_qp_modify(self->now, &qp, &a));
	a = xvt_peer(&self->t, &qp);
	ASSERT_EQ(0, xv_qp_connect(self->now, &p.qp[0], &a));
	ASSERT_EQ(0, xv_arm(&cq));
	ASSERT_EQ(0, xvt_send(&p, 0, 1, 0, 64));
	xvt_expect_wc(_metadata, &p.cq[0], 1, XV_WC_SUCCESS);
	ASSERT_EQ(1, xvt_wc(&cq, &wc));
	EXPECT_EQ(5, wc.wr_id);
	EXPECT_FALSE(xvt_has_event(&p.eq));
	ASSERT_EQ(0, xv_qp_destroy(self->now, &qp));
	ASSERT_EQ(0, xv_cq_destroy(self->now, &cq));
	ASSERT_EQ(0, xvt_pair_destroy(&p));
}

/* Subscriptions come and go while events do. */
static void *make_events(void *arg)
{
	volatile bool *stop = arg;

	while (!*stop)
		xvt_sh("ip addr add 10.77.0.9/24 dev " NETDEV
		       "; ip addr del 10.77.0.9/24 dev " NETDEV);
	return NULL;
}

TEST_F(events, race)
{
	unsigned int i, n = xvt_count(EVENTS_RACE), seen = 0;
	struct pollfd pfd = { .fd = self->eq.fd, .events = POLLIN };
	struct xv_subscription sub = {};
	volatile bool stop = false;
	struct xv_event ev[8];
	pthread_t thread;
	int got, k;

	ASSERT_EQ(0, pthread_create(&thread, NULL, make_events, (void *)&stop));
	for (i = 0; i < n || (!seen && i < 100 * n); i++) {
		ASSERT_EQ(0, subscribe(&self->t, &sub, &self->eq, i, 0));
		/* Now and then there is time for one. */
		poll(&pfd, 1, i % 16 ? 0 : 20);
		got = xv_event_read(&self->eq, ev, 8);
		for (k = 0; k < got; k++)
			EXPECT_EQ(i, ev[k].cookie);
		seen += got > 0;
		ASSERT_EQ(0, xv_subscription_destroy(self->now, &sub));
		/* None of one that is gone. */
		ASSERT_EQ(-EAGAIN, xv_event_read(&self->eq, ev, 8));
	}
	stop = true;
	pthread_join(thread, NULL);
	EXPECT_LT(0, seen);
}

/* The device goes: what was queued first, then that, and the end. */
TEST_F(events, removal)
{
	struct xv_subscription sub = {}, late = {};
	struct xv_event ev;

	ASSERT_EQ(0, subscribe(&self->t, &sub, &self->eq, 5,
			       XV_EVENT_BIT(XV_EV_PORT_ERROR)));
	ASSERT_EQ(0, xvt_sh("ip link set " NETDEV " down"));
	ASSERT_TRUE(xvt_wait_until(xvt_has_event(&self->eq), 5000));
	ASSERT_EQ(0, xvt_sh("rdma link delete " DEV));
	expect_event(_metadata, &self->eq, &sub, 5, XV_EV_PORT_ERROR, 1);
	ASSERT_EQ(1, xv_event_read(&self->eq, &ev, 1));
	EXPECT_EQ(XV_EV_DEVICE_REMOVED, ev.type);
	EXPECT_EQ(XV_OBJ_DEVICE, ev.object);
	EXPECT_EQ(-ENODEV, xv_event_read(&self->eq, &ev, 1));
	EXPECT_EQ(-ENODEV, subscribe(&self->t, &late, &self->eq, 6, 0));
	EXPECT_EQ(0, xv_subscription_destroy(self->now, &sub));
	EXPECT_EQ(0, sub.obj.handle);
	xvt_close(&self->t);
	self->t.ctx = NULL;
}

/* ---- link addresses that are kept, and change ---- */

#define NEIGHBOUR	"10.77.0.2"

static void set_neighbour(struct __test_metadata *_metadata, const char *mac)
{
	ASSERT_EQ(0, xvt_sh("ip neigh replace " NEIGHBOUR " lladdr %s nud permanent dev "
			    NETDEV, mac));
}

static int ah_to_neighbour(fixture *self, struct xv_ah *ah, struct xv_pd *pd)
{
	struct xv_ah_opts o = { .size = sizeof(o), .pd = pd,
				.sgid_index = self->t.gid_index };

	o.gid[10] = 0xff;
	o.gid[11] = 0xff;
	inet_pton(AF_INET, NEIGHBOUR, o.gid + 12);
	return xv_ah_create(self->now, ah, &o);
}

/*
 * rxe hands datagrams back that go to the link address of its own interface: so
 * one sees which address was found.
 */
static bool comes_back(struct __test_metadata *_metadata, fixture *self,
		       struct xvt_pair *p)
{
	struct xv_ah ah = {};
	struct xv_send s;
	struct xv_wc wc;
	int ret;

	EXPECT_EQ(0, ah_to_neighbour(self, &ah, &p->pd));
	EXPECT_EQ(0, xvt_recv(p, 1, 2, 4096, 4096));
	xv_send_prep_ud(&s, 1, XV_SEND_SIGNALED, xvt_sge(p, 0, 64), &ah,
			p->qp[1].info.qp_num, XVT_QKEY);
	EXPECT_EQ(0, xv_post_send(&p->qp[0], &s, 1));
	EXPECT_EQ(0, xv_submit(&p->qp[0]));
	xvt_expect_wc(_metadata, &p->cq[0], 1, XV_WC_SUCCESS);
	ret = xv_wait(&p->cq[1], 1, xvt_ns(200));
	EXPECT_EQ(0, xv_ah_destroy(self->now, &ah));
	while (xv_poll(&p->cq[1], &wc, 1) > 0)
		;
	return !ret;
}

TEST_F(events, neighbours_change)
{
	static const char away[] = "02:00:00:00:00:99";
	struct xvt_pair p;
	char mac[32] = "";
	FILE *f;
	int i;

	f = fopen("/sys/class/net/" NETDEV "/address", "r");
	ASSERT_NE(NULL, f);
	ASSERT_NE(NULL, fgets(mac, sizeof(mac), f));
	fclose(f);
	mac[strcspn(mac, "\n")] = 0;
	xvt_pair(_metadata, &self->t, &p, &(struct xvt_pair_opts){
		 .type = XV_QPT_UD, .recv_wr = 16, .no_connect = true });
	for (i = 0; i < 2; i++)
		xvt_connect(_metadata, &self->t, &p.qp[i], NULL);
	for (i = 0; i < 2; i++) {
		set_neighbour(_metadata, mac);
		EXPECT_TRUE(comes_back(_metadata, self, &p));
		/* Kept, and found again. */
		EXPECT_TRUE(comes_back(_metadata, self, &p));
		set_neighbour(_metadata, away);
		EXPECT_FALSE(comes_back(_metadata, self, &p));
		EXPECT_FALSE(comes_back(_metadata, self, &p));
	}
	ASSERT_EQ(0, xvt_pair_destroy(&p));
}

/* The address at an index changes: what was found from there is void. */
TEST_F(events, own_address_changes)
{
	struct xv_ah ah = {};
	struct xv_pd pd = {};
	struct xv_gid_info gid;

	ASSERT_EQ(0, xv_pd_create(self->now, &pd));
	set_neighbour(_metadata, "02:00:00:00:00:99");
	ASSERT_EQ(0, ah_to_neighbour(self, &ah, &pd));
	ASSERT_EQ(0, xv_ah_destroy(self->now, &ah));
	ASSERT_EQ(0, xvt_sh("ip addr del " ADDR " dev " NETDEV
			    " && ip addr add 10.78.0.1/24 dev " NETDEV
			    " && ip route add unreachable 10.77.0.0/24"));
	ASSERT_TRUE(xvt_wait_until(!xv_device_query_gid(self->now, 1,
				   self->t.gid_index, &gid) &&
				   gid.gid[13] == 78, 5000));
	EXPECT_EQ(-EHOSTUNREACH, ah_to_neighbour(self, &ah, &pd));
	EXPECT_EQ(0, xvt_sh("ip route del unreachable 10.77.0.0/24"));
	ASSERT_EQ(0, xv_pd_destroy(self->now, &pd));
}

TEST_HARNESS_MAIN
