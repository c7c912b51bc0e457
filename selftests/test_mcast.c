// SPDX-License-Identifier: GPL-2.0
/*
 * Multicast groups.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <arpa/inet.h>
#include <net/if.h>
#include "xv_test.h"

#define GROUP	"239.9.0.1"
#define OTHER	"239.9.0.2"
#define GROUP6	"ff0e::9:1"

/* What rdma_cm gives all groups that it joins for programs of the UDP port space. */
#define CM_QKEY	0x01234567U

FIXTURE(mcast) {
	struct xvt t;
	struct xvt_snap before;
	struct xv_tx *now;
	struct xvt_pair p;
	struct xv_cq cq;	/* of the sender */
	struct xv_qp sender;
	struct xv_ah ah;	/* to the group */
	char netdev[IF_NAMESIZE];
};

typedef FIXTURE_DATA(mcast) fixture;

static void group_gid(const char *text, uint8_t *gid)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in in = { .sin_family = AF_INET };

	if (inet_pton(AF_INET, text, &in.sin_addr) == 1)
		xv_mcast_gid((struct sockaddr *)&in, gid);
	else if (inet_pton(AF_INET6, text, &in6.sin6_addr) == 1)
		xv_mcast_gid((struct sockaddr *)&in6, gid);
}

static int make_ah(struct xvt *t, struct xv_ah *ah, struct xv_pd *pd,
		   const char *group, uint32_t sgid_index)
{
	struct xv_ah_opts o = { .size = sizeof(o), .pd = pd,
				.sgid_index = sgid_index };

	group_gid(group, o.gid);
	return xv_ah_create(xv_now(t->ctx), ah, &o);
}

static const struct xv_mcast_opts *opts_for(struct xvt *t, struct xv_qp *qp,
					    const char *group, uint32_t join)
{
	static __thread struct xv_mcast_opts o;

	o = (struct xv_mcast_opts){ .size = sizeof(o), .qp = qp, .join = join,
				    .sgid_index = t->gid_index };
	group_gid(group, o.gid);
	return &o;
}

static int enter_group(struct xvt *t, struct xv_mcast *mcast, struct xv_qp *qp,
		       const char *group)
{
	return xv_mcast_create(xv_now(t->ctx), mcast,
			       opts_for(t, qp, group, 0));
}

FIXTURE_SETUP(mcast)
{
	int i;

	xvt_open(_metadata, &self->t);
	self->now = xv_now(self->t.ctx);
	ASSERT_NE(NULL, if_indextoname(self->t.gid.netdev_index, self->netdev));
	xvt_snap(_metadata, &self->t, &self->before);
	xvt_pair(_metadata, &self->t, &self->p, &(struct xvt_pair_opts){
		 .type = XV_QPT_UD, .no_connect = true });
	ASSERT_EQ(0, xv_cq_create(self->now, &self->cq,
				  XV_OPTS(xv_cq_opts, .cqe = 16)));
	ASSERT_EQ(0, xv_qp_create(self->now, &self->sender, XV_OPTS(xv_qp_opts,
				  .type = XV_QPT_UD, .pd = &self->p.pd,
				  .send_cq = &self->cq, .send_wr = 16)));
	for (i = 0; i < 2; i++)
		xvt_connect(_metadata, &self->t, &self->p.qp[i], NULL);
	xvt_connect(_metadata, &self->t, &self->sender, NULL);
	ASSERT_EQ(0, make_ah(&self->t, &self->ah, &self->p.pd, GROUP,
			     self->t.gid_index));
}

FIXTURE_TEARDOWN(mcast)
{
	xvt_teardown(_metadata);
	if (!self->t.ctx)
		return;
	EXPECT_EQ(0, xv_ah_destroy(self->now, &self->ah));
	EXPECT_EQ(0, xv_qp_destroy(self->now, &self->sender));
	EXPECT_EQ(0, xv_cq_destroy(self->now, &self->cq));
	EXPECT_EQ(0, xvt_pair_destroy(&self->p));
	xvt_same(_metadata, &self->t, &self->before, "at the end");
	xvt_close(&self->t);
}

#define EXPECT_NOW_ERR(e, g, a, r)					\
	xvt_failed(_metadata, "call", -xv_txn_error(self->now)->err,	\
		   xv_txn_error(self->now), e, 0, g, a, r)

#define RX(i)	(32768 + 4096 * (i))

/* A datagram to a group, and its completion. */
static void send_to_group(struct __test_metadata *_metadata, fixture *self,
			  const struct xv_ah *ah, uint64_t wr_id,
			  uint32_t length, uint32_t qkey)
{
	struct xv_send s;

	xv_send_prep_ud_imm(&s, wr_id, XV_SEND_SIGNALED,
			    xvt_sge(&self->p, 0, length), ah, XV_MCAST_QPN,
			    qkey, htonl(self->sender.info.qp_num));
	ASSERT_EQ(0, xv_post_send(&self->sender, &s, 1));
	ASSERT_EQ(0, xv_submit(&self->sender));
	xvt_expect_wc(_metadata, &self->cq, wr_id, XV_WC_SUCCESS);
}

/* It came to a member: the receive with that number. */
static void expect_recv(struct __test_metadata *_metadata, fixture *self,
			int side, uint64_t wr_id, uint32_t length)
{
	struct xv_wc wc;

	ASSERT_EQ(1, xvt_wc(&self->p.cq[side], &wc)) {
		TH_LOG("member %d got nothing", side);
	}
	EXPECT_EQ(wr_id, wc.wr_id);
	EXPECT_EQ(XV_WC_SUCCESS, wc.status);
	EXPECT_EQ(XV_WC_RECV | XV_WC_GRH | XV_WC_WITH_IMM, wc.flags);
	EXPECT_EQ(length + XV_GRH_LEN, wc.byte_len);
	EXPECT_EQ(self->sender.info.qp_num, wc.src_qp);
}

/* Nothing comes within a time in which it would have come. */
static void expect_nothing(struct __test_metadata *_metadata, struct xv_cq *cq)
{
	struct xv_wc wc;

	EXPECT_EQ(-ETIME, xv_wait(cq, 1, xvt_ns(200)));
	EXPECT_EQ(0, xv_poll(cq, &wc, 1));
}

/* How often the stack says that the interface is in an IPv4 group. */
static unsigned int igmp_users(const char *netdev, const char *group)
{
	unsigned int users = 0, n;
	char line[256], name[32] = "", want[16];
	struct in_addr in;
	FILE *f = fopen("/proc/net/igmp", "r");

	inet_pton(AF_INET, group, &in);
	snprintf(want, sizeof(want), "%08X", in.s_addr);
	while (f && fgets(line, sizeof(line), f)) {
		char addr[16];

		if (line[0] >= '0' && line[0] <= '9')
			sscanf(line, "%*d %31s", name);
		else if (sscanf(line, " %15s %u", addr, &n) == 2 &&
			 !strcmp(name, netdev) && !strcmp(addr, want))
			users = n;
	}
	if (f)
		fclose(f);
	return users;
}

/* So many users of the group at our interface. */
#define EXPECT_USERS(n)	EXPECT_EQ(n, igmp_users(self->netdev, GROUP))

/* A datagram reaches all members with its GRH, and nobody else. */
TEST_F(mcast, members_receive)
{
	struct xvt_pair *p = &self->p;
	struct xv_mcast mcast[2] = {};
	uint8_t gid[16];
	int i;

	group_gid(GROUP, gid);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, enter_group(&self->t, &mcast[i], &p->qp[i], GROUP));
		ASSERT_EQ(0, xvt_recv(p, i, i, RX(i), 4096));
	}
	EXPECT_USERS(2);
	xvt_fill(p->buf, 300, 5);
	send_to_group(_metadata, self, &self->ah, 7, 300, XVT_QKEY);
	for (i = 0; i < 2; i++) {
		const uint8_t *ip = p->buf + RX(i) + 20;

		expect_recv(_metadata, self, i, i, 300);
		/* From us, to the group. */
		EXPECT_EQ(0, memcmp(ip + 12, self->t.gid.gid + 12, 4));
		EXPECT_EQ(0, memcmp(ip + 16, gid + 12, 4));
		EXPECT_TRUE(xvt_filled(p->buf + RX(i) + XV_GRH_LEN, 300, 5));
	}

	/* Who has left gets nothing, who stays does. */
	ASSERT_EQ(0, xv_mcast_destroy(self->now, &mcast[0]));
	EXPECT_USERS(1);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, xvt_recv(p, i, 10 + i, RX(i), 4096));
	send_to_group(_metadata, self, &self->ah, 17, 64, XVT_QKEY);
	expect_recv(_metadata, self, 1, 11, 64);
	expect_nothing(_metadata, &p->cq[0]);

	/* Another Q_Key is not for it. */
	ASSERT_EQ(0, xvt_recv(p, 1, 21, RX(1), 4096));
	send_to_group(_metadata, self, &self->ah, 27, 64, XVT_QKEY + 1);
	expect_nothing(_metadata, &p->cq[1]);
	/* It may come back. */
	ASSERT_EQ(0, enter_group(&self->t, &mcast[0], &p->qp[0], GROUP));
	send_to_group(_metadata, self, &self->ah, 37, 65, XVT_QKEY);
	expect_recv(_metadata, self, 0, 10, 65);
	expect_recv(_metadata, self, 1, 21, 65);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, xv_mcast_destroy(self->now, &mcast[i]));
	EXPECT_USERS(0);
}

/* One queue pair in two groups, another one in one of them. */
TEST_F(mcast, groups_are_apart)
{
	struct xvt_pair *p = &self->p;
	struct xv_mcast mcast[3] = {};
	struct xv_ah other = {};
	int i;

	ASSERT_EQ(0, make_ah(&self->t, &other, &p->pd, OTHER,
			     self->t.gid_index));
	ASSERT_EQ(0, enter_group(&self->t, &mcast[0], &p->qp[0], GROUP));
	ASSERT_EQ(0, enter_group(&self->t, &mcast[1], &p->qp[0], OTHER));
	ASSERT_EQ(0, enter_group(&self->t, &mcast[2], &p->qp[1], OTHER));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, xvt_recv(p, i == 2, i, RX(i), 4096));
	send_to_group(_metadata, self, &self->ah, 7, 10, XVT_QKEY);
	expect_recv(_metadata, self, 0, 0, 10);
	send_to_group(_metadata, self, &other, 8, 11, XVT_QKEY);
	expect_recv(_metadata, self, 0, 1, 11);
	expect_recv(_metadata, self, 1, 2, 11);
	expect_nothing(_metadata, &p->cq[1]);
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, xv_mcast_destroy(self->now, &mcast[i]));
	ASSERT_EQ(0, xv_ah_destroy(self->now, &other));
}

/* The halves: who only attaches is served once somebody has joined. */
TEST_F(mcast, attach_and_join)
{
	struct xvt_pair *p = &self->p;
	struct xv_mcast mcast[2] = {};
	struct xv_mcast_info info;

	ASSERT_EQ(0, xv_mcast_create(self->now, &mcast[0],
				     opts_for(&self->t, &p->qp[0], GROUP,
					      XV_MCAST_ATTACH)));
	EXPECT_EQ(XV_MCAST_ATTACH, mcast[0].info.join);
	EXPECT_EQ(0, mcast[0].info.netdev_index);
	EXPECT_USERS(0);
	ASSERT_EQ(0, enter_group(&self->t, &mcast[1], &p->qp[1], GROUP));
	EXPECT_EQ(XV_MCAST_JOIN, mcast[1].info.join);
	EXPECT_EQ(self->t.gid.netdev_index, mcast[1].info.netdev_index);
	EXPECT_USERS(1);
	EXPECT_EQ(p->qp[1].obj.handle, mcast[1].info.qp);
	EXPECT_EQ(1, mcast[1].info.port);
	EXPECT_EQ(self->t.gid_index, mcast[1].info.sgid_index);
	memset(&info, 0xAA, sizeof(info));
	ASSERT_EQ(0, xv_mcast_query(self->now, &mcast[1], &info));
	EXPECT_EQ(0, memcmp(&info, &mcast[1].info, sizeof(info)));

	ASSERT_EQ(0, xvt_recv(p, 0, 1, RX(0), 4096));
	send_to_group(_metadata, self, &self->ah, 7, 64, XVT_QKEY);
	expect_recv(_metadata, self, 0, 1, 64);
	ASSERT_EQ(0, xv_mcast_destroy(self->now, &mcast[0]));
	ASSERT_EQ(0, xv_mcast_destroy(self->now, &mcast[1]));
	EXPECT_USERS(0);
}

/* An entry with an IPv6 address, not the link's own. */
static int find_gid6(struct xvt *t)
{
	struct xv_gid_info gid;
	int i;

	for (i = 0; i < 16; i++)
		if (!xv_device_query_gid(xv_now(t->ctx), 1, i, &gid) &&
		    gid.type == XV_GID_ROCE_V2 && gid.gid[0] == 0xfd)
			return i;
	return -1;
}

TEST_F(mcast, ipv6)
{
	struct xvt_pair *p = &self->p;
	struct xv_mcast mcast = {};
	struct xv_mcast_opts o;
	struct xv_ah ah = {};
	int index = find_gid6(&self->t);
	uint8_t gid[16];

	if (index < 0)
		SKIP(return, "no IPv6 address");
	group_gid(GROUP6, gid);
	o = *opts_for(&self->t, &p->qp[1], GROUP6, 0);
	o.sgid_index = index;
	ASSERT_EQ(0, xv_mcast_create(self->now, &mcast, &o));
	EXPECT_EQ(self->t.gid.netdev_index, mcast.info.netdev_index);
	EXPECT_EQ(0, xvt_sh("grep -q '%s *ff0e0000000000000000000000090001' /proc/net/igmp6",
			    self->netdev));
	ASSERT_EQ(0, make_ah(&self->t, &ah, &p->pd, GROUP6, index));
	ASSERT_EQ(0, xvt_recv(p, 1, 1, RX(0), 4096));
	xvt_fill(p->buf, 100, 9);
	send_to_group(_metadata, self, &ah, 7, 100, XVT_QKEY);
	expect_recv(_metadata, self, 1, 1, 100);
	EXPECT_EQ(0, memcmp(p->buf + RX(0) + 24, gid, 16));
	EXPECT_TRUE(xvt_filled(p->buf + RX(0) + XV_GRH_LEN, 100, 9));
	ASSERT_EQ(0, xv_ah_destroy(self->now, &ah));
	ASSERT_EQ(0, xv_mcast_destroy(self->now, &mcast));
	EXPECT_EQ(1, xvt_sh("grep -q '%s *ff0e0000000000000000000000090001' /proc/net/igmp6",
			    self->netdev));
}

TEST_F(mcast, what_is_refused)
{
	static const uint8_t no_groups[][16] = {
		{ 0 }, { 0xfe, 0x80, [15] = 1 },
		{ [10] = 0xff, 0xff, 10, 9, 0, 1 },
		{ [10] = 0xff, 0xff, 223, 255, 255, 255 },
		{ [10] = 0xff, 0xff, 240, 0, 0, 1 },
		/* An IPv4 group that is not mapped. */
		{ [12] = 239, 1, 2, 3 },
	};
	struct xvt_pair *p = &self->p, rc;
	const struct xv_error *err = xv_txn_error(self->now);
	struct xv_mcast mcast = {}, again = {};
	struct xvt_snap before;
	struct xv_mcast_opts o;
	unsigned int i;

	xvt_pair(_metadata, &self->t, &rc, &(struct xvt_pair_opts){
		 .no_connect = true });
	xvt_snap(_metadata, &self->t, &before);
	for (i = 0; i < ARRAY_SIZE(no_groups); i++) {
		o = *opts_for(&self->t, &p->qp[0], GROUP, 0);
		memcpy(o.gid, no_groups[i], 16);
		EXPECT_EQ(-EINVAL, xv_mcast_create(self->now, &mcast, &o));
		/* The library sends no GID of zeros. */
		EXPECT_NOW_ERR(EINVAL, XV_GRP_ADDRESS, XV_ADDRESS_GID,
			       i ? XV_R_RANGE : XV_R_MISSING);
	}
	o = *opts_for(&self->t, &rc.qp[0], GROUP, 0);
	EXPECT_EQ(-EINVAL, xv_mcast_create(self->now, &mcast, &o));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_OBJECT, XV_OBJECT_QP, XV_R_MISMATCH);
	EXPECT_EQ(rc.qp[0].obj.handle, err->handle);
	o = *opts_for(&self->t, &p->qp[0], GROUP, 0);
	o.sgid_index = 200;
	EXPECT_EQ(-EINVAL, xv_mcast_create(self->now, &mcast, &o));
	EXPECT_NOW_ERR(EINVAL, XV_GRP_PATH, XV_PATH_SGID_INDEX, XV_R_NO_GID);
	for (i = 3; i < 64; i++) {
		o = *opts_for(&self->t, &p->qp[0], GROUP, i);
		EXPECT_EQ(-EINVAL, xv_mcast_create(self->now, &mcast, &o));
		EXPECT_NOW_ERR(EINVAL, XV_GRP_PARAMS, XV_PARAMS_JOIN,
			       XV_R_RANGE);
	}
	xvt_same(_metadata, &self->t, &before, "refused");
	EXPECT_USERS(0);

	/* The same group twice, in both ways. */
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, xv_mcast_create(self->now, &mcast,
			     opts_for(&self->t, &p->qp[0], GROUP, 1 + i / 2)));
		EXPECT_EQ(-EINVAL, xv_mcast_create(self->now, &again,
			  opts_for(&self->t, &p->qp[0], GROUP, 1 + i % 2)));
		EXPECT_NOW_ERR(EINVAL, XV_GRP_ADDRESS, XV_ADDRESS_GID,
			       XV_R_ATTACHED);
		EXPECT_EQ(XV_OBJ_MCAST, err->object);
		EXPECT_EQ(mcast.obj.handle, err->handle);
		EXPECT_USERS(i < 2);
		ASSERT_EQ(0, xv_mcast_destroy(self->now, &mcast));
	}
	EXPECT_USERS(0);
	EXPECT_EQ(0, xvt_pair_destroy(&rc));
}

/* A queue pair in a group is held; a set goes whole, in any order. */
TEST_F(mcast, dependents)
{
	const struct xv_error *err = xv_txn_error(self->now);
	struct xv_qp_attr a = { .size = sizeof(a) };
	struct xv_mcast mcast = {};
	struct xv_cq cq = {};
	struct xv_qp qp = {};
	struct xv_tx *tx;
	unsigned int order;

	ASSERT_EQ(0, xv_txn_begin(self->t.ctx, 0, &tx));
	for (order = 0; order < 2; order++) {
		/* All in one call. */
		xv_cq_create(tx, &cq, XV_OPTS(xv_cq_opts, .cqe = 8));
		xv_qp_create(tx, &qp, XV_OPTS(xv_qp_opts, .type = XV_QPT_UD,
			     .pd = &self->p.pd, .send_cq = &cq, .send_wr = 1));
		xv_mcast_create(tx, &mcast, opts_for(&self->t, &qp, GROUP, 0));
		ASSERT_EQ(0, xv_txn_commit(tx, NULL));
		EXPECT_EQ(qp.obj.handle, mcast.info.qp);
		EXPECT_USERS(1);

		EXPECT_EQ(-EBUSY, xv_qp_destroy(self->now, &qp));
		EXPECT_NOW_ERR(EBUSY, XV_GRP_OBJECT, XV_OBJECT_HANDLE,
			       XV_R_DEPENDENT);
		EXPECT_EQ(XV_OBJ_MCAST, err->object);
		EXPECT_EQ(mcast.obj.handle, err->handle);
		/* A change of state does not end it. */
		a.state = XV_QPS_RESET;
		ASSERT_EQ(0, xv_qp_modify(self->now, &qp, &a));
		EXPECT_USERS(1);

		xv_cq_destroy(tx, &cq);
		if (order)
			xv_mcast_destroy(tx, &mcast);
		xv_qp_destroy(tx, &qp);
		if (!order)
			xv_mcast_destroy(tx, &mcast);
		ASSERT_EQ(0, xv_txn_commit(tx, NULL));
		EXPECT_USERS(0);
	}
	xv_txn_free(tx);
}

/* What a failed call has joined is left again. */
TEST_F(mcast, abort)
{
	struct xvt_pair *p = &self->p;
	struct xv_mcast mcast = {};
	struct xvt_snap before;
	struct xv_cq cq = {};
	struct xv_tx *tx;

	xvt_snap(_metadata, &self->t, &before);
	ASSERT_EQ(0, xv_txn_begin(self->t.ctx, 0, &tx));
	xv_mcast_create(tx, &mcast, opts_for(&self->t, &p->qp[0], GROUP, 0));
	xv_cq_create(tx, &cq, XV_OPTS(xv_cq_opts, .cqe = 1,
				      .comp_vector = 0x7fffffff));
	EXPECT_EQ(-EINVAL, xv_txn_commit(tx, NULL));
	EXPECT_EQ(1, xv_txn_error(tx)->op);
	xv_txn_free(tx);
	EXPECT_USERS(0);
	xvt_same(_metadata, &self->t, &before, "abort");
	/* The driver has forgotten it as well: it may enter. */
	ASSERT_EQ(0, enter_group(&self->t, &mcast, &p->qp[0], GROUP));
	ASSERT_EQ(0, xv_mcast_destroy(self->now, &mcast));
}

/* Members of two files; one is closed with all that it has. */
TEST_F(mcast, two_files)
{
	struct xvt_pair *p = &self->p, q;
	struct xv_mcast mine = {}, theirs = {}, foreign = {};
	struct xvt other;
	struct xv_wc wc;

	xvt_open(_metadata, &other);
	xvt_pair(_metadata, &other, &q, &(struct xvt_pair_opts){
		 .type = XV_QPT_UD, .no_connect = true });
	xvt_connect(_metadata, &other, &q.qp[0], NULL);
	ASSERT_EQ(0, enter_group(&other, &theirs, &q.qp[0], GROUP));
	ASSERT_EQ(0, enter_group(&self->t, &mine, &p->qp[0], GROUP));
	ASSERT_EQ(0, xvt_recv(&q, 0, 1, RX(0), 4096));
	ASSERT_EQ(0, xvt_recv(p, 0, 2, RX(0), 4096));
	send_to_group(_metadata, self, &self->ah, 7, 64, XVT_QKEY);
	expect_recv(_metadata, self, 0, 2, 64);
	ASSERT_EQ(1, xvt_wc(&q.cq[0], &wc));
	EXPECT_EQ(1, wc.wr_id);
	EXPECT_EQ(self->sender.info.qp_num, wc.src_qp);

	/* A handle of the other file is none here. */
	xvt_failed(_metadata, "foreign",
		   xv_mcast_create(self->now, &foreign, XV_OPTS(xv_mcast_opts,
				   .qp = &(struct xv_qp){
				   .obj.handle = 0x7fffffff },
				   .gid = { 0xff, 0x0e, [15] = 1 })),
		   xv_txn_error(self->now), ENOENT, 0, XV_GRP_OBJECT,
		   XV_OBJECT_QP, XV_R_NO_HANDLE);
	EXPECT_USERS(2);
	xvt_close(&other);
	munmap(q.buf, q.length);
	EXPECT_USERS(1);
	ASSERT_EQ(0, xvt_recv(p, 0, 3, RX(0), 4096));
	send_to_group(_metadata, self, &self->ah, 8, 64, XVT_QKEY);
	expect_recv(_metadata, self, 0, 3, 64);
	ASSERT_EQ(0, xv_mcast_destroy(self->now, &mine));
	EXPECT_USERS(0);
}

/* It takes no privilege, as with sockets. */
TEST_F(mcast, nobody)
{
	struct xv_mcast mcast = {};
	int status = -1;
	pid_t pid;

	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (setgid(65534) || setuid(65534))
			_exit(2);
		_exit(enter_group(&self->t, &mcast, &self->p.qp[0], GROUP) ||
		      xv_mcast_destroy(self->now, &mcast));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_USERS(0);
}

/* Threads that enter and leave the same groups; every call is explainable. */
#define RACERS	4

struct racer {
	struct xvt *t;
	struct xv_qp *qp;
	unsigned int rounds, bad, entered;
	pthread_t thread;
};

static void *race(void *arg)
{
	struct racer *r = arg;
	struct xv_mcast mcast = {};
	unsigned int i;
	struct xv_tx *tx;

	if (xv_txn_begin(r->t->ctx, XV_TXN_NOW, &tx))
		return NULL;
	for (i = 0; i < r->rounds; i++) {
		int ret = xv_mcast_create(tx, &mcast, opts_for(r->t, r->qp,
					  GROUP, XV_MCAST_ATTACH));

		if (ret) {
			/* Another thread has it in the group. */
			r->bad += xv_txn_error(tx)->reason != XV_R_ATTACHED &&
				  ret != -EBUSY;
			continue;
		}
		r->entered++;
		r->bad += xv_mcast_destroy(tx, &mcast) != 0;
	}
	xv_txn_free(tx);
	return NULL;
}

TEST_F(mcast, race_of_one_queue_pair)
{
	struct racer racers[RACERS];
	unsigned int i, entered = 0;

	for (i = 0; i < RACERS; i++) {
		racers[i] = (struct racer){ .t = &self->t,
					    .qp = &self->p.qp[0],
					    .rounds = xvt_count(MCAST_RACE) };
		ASSERT_EQ(0, pthread_create(&racers[i].thread, NULL, race,
					    &racers[i]));
	}
	for (i = 0; i < RACERS; i++) {
		pthread_join(racers[i].thread, NULL);
		EXPECT_EQ(0, racers[i].bad);
		entered += racers[i].entered;
	}
	EXPECT_LT(0, entered);
}

/* ---- the stock program of librdmacm ---- */

#define MCKEY_COUNT	10
#define MCKEY_SIZE	100

#define NEED_MCKEY()							\
do {									\
	if (xvt_sh("command -v mckey >/dev/null"))			\
		SKIP(return, "no mckey");				\
} while (0)

static pid_t start_mckey(fixture *self, const char *role)
{
	char from[INET_ADDRSTRLEN], count[16], size[16];
	pid_t pid;

	inet_ntop(AF_INET, self->t.gid.gid + 12, from, sizeof(from));
	snprintf(count, sizeof(count), "%d", MCKEY_COUNT);
	snprintf(size, sizeof(size), "%d", MCKEY_SIZE);
	pid = fork();
	if (!pid) {
		dup2(2, 1);
		execlp("mckey", "mckey", "-m", GROUP, "-b", from, "-C", count,
		       "-S", size, role, NULL);
		_exit(127);
	}
	return pid;
}

static int end_mckey(pid_t pid)
{
	int status = -1;

	if (!xvt_wait_until(waitpid(pid, &status, WNOHANG) == pid, 10000))
		kill(pid, SIGKILL);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(mcast, to_the_stock_program)
{
	int64_t end = xvt_now() + xvt_ns(10000);
	int status = -1;
	pid_t pid;

	NEED_MCKEY();
	pid = start_mckey(self, NULL);
	ASSERT_LT(0, pid);
	/* It does not say when it is ready; it stops when it has enough. */
	while (!waitpid(pid, &status, WNOHANG) && xvt_now() < end) {
		send_to_group(_metadata, self, &self->ah, 7, MCKEY_SIZE,
			      CM_QKEY);
		usleep(10000);
	}
	EXPECT_TRUE(WIFEXITED(status) && !WEXITSTATUS(status)) {
		TH_LOG("mckey ended with %x", status);
		kill(pid, SIGKILL);
	}
}

TEST_F(mcast, from_the_stock_program)
{
	struct xv_qp_attr a = { .size = sizeof(a), .qkey = CM_QKEY };
	int64_t end = xvt_now() + xvt_ns(20000);
	struct xv_wc wc[MCKEY_COUNT];
	struct xv_mcast mcast = {};
	struct xvt_pair p;
	unsigned int i, n;
	pid_t pid;

	NEED_MCKEY();
	xvt_pair(_metadata, &self->t, &p, &(struct xvt_pair_opts){
		 .type = XV_QPT_UD, .no_connect = true });
	ASSERT_EQ(0, xv_qp_connect(self->now, &p.qp[0], &a));
	ASSERT_EQ(0, enter_group(&self->t, &mcast, &p.qp[0], GROUP));
	for (i = 0; i < MCKEY_COUNT; i++)
		ASSERT_EQ(0, xvt_recv(&p, 0, i, RX(0), 4096));
	/*
	 * It ends without waiting for its sends: what the driver has not sent by
	 * then is lost, with rxe of later kernels nearly all.
	 */
	for (n = 0; !n && xvt_now() < end;) {
		pid = start_mckey(self, "-s");
		ASSERT_LT(0, pid);
		EXPECT_EQ(0, end_mckey(pid));
		while (n < MCKEY_COUNT && !xv_wait(&p.cq[0], 1, xvt_ns(200)))
			n += xv_poll(&p.cq[0], wc + n, MCKEY_COUNT - n);
	}
	EXPECT_LT(0, n);
	for (i = 0; i < n; i++) {
		EXPECT_EQ(i, wc[i].wr_id);
		EXPECT_EQ(XV_WC_SUCCESS, wc[i].status);
		EXPECT_EQ(MCKEY_SIZE + XV_GRH_LEN, wc[i].byte_len);
		/* It sends its own number along. */
		EXPECT_EQ(htonl(wc[i].src_qp), wc[i].imm_data);
	}
	TH_LOG("%u datagrams", n);
	ASSERT_EQ(0, xv_mcast_destroy(self->now, &mcast));
	ASSERT_EQ(0, xvt_pair_destroy(&p));
}

TEST_HARNESS_MAIN
