// SPDX-License-Identifier: GPL-2.0
/*
 * Every call with its first, second, ... n-th allocation or user copy failing.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Needs a kernel with fault injection; what comes out is always an errno of the
 * contract, with everything as before, or success.
 */
#include <netinet/in.h>
#include "xv_fault.h"

FIXTURE(fail_nth) {
	struct xvt t;
	struct xvt_snap before;
	struct xvt_msg *m;
	struct xvt_pair p;
	uint8_t *buf;
	int fd;		/* of fail-nth */
	struct xv_qp_info qp_info;
	struct xv_mr_info mr_info;
	struct xv_cq_info cq_info;
	struct xv_srq_info srq_info;
	struct xv_recv recv;
	struct xv_srq srq;
	uint32_t pd, mr, cq, qp, srq_handle, srq_qp;
	int eventq;
	struct xv_cq ud_cq;
	struct xv_qp ud;
	struct xv_eventq eq;
	uint8_t group[16];
	uint8_t out[65535];
};

FIXTURE_SETUP(fail_nth)
{
	self->fd = xvf_open();
	/* The setup cannot skip, so each test does. */
	if (self->fd < 0)
		return;
	xvt_open(_metadata, &self->t);
	self->m = malloc(sizeof(*self->m));
	ASSERT_NE(NULL, self->m);
	self->buf = xvt_map(4 * XVT_PAGE, PROT_READ | PROT_WRITE);
	ASSERT_NE(NULL, self->buf);
	xvt_pair(_metadata, &self->t, &self->p,
		 &(struct xvt_pair_opts){ .no_connect = true, .cqe = 64 });
	ASSERT_EQ(0, xv_srq_create(xv_now(self->t.ctx), &self->srq,
				   XV_OPTS(xv_srq_opts, .pd = &self->p.pd,
					   .recv_wr = 128)));
	/* What multicast and subscriptions need. */
	ASSERT_EQ(0, xv_cq_create(xv_now(self->t.ctx), &self->ud_cq,
				  XV_OPTS(xv_cq_opts, .cqe = 4)));
	ASSERT_EQ(0, xv_qp_create(xv_now(self->t.ctx), &self->ud,
				  XV_OPTS(xv_qp_opts, .type = XV_QPT_UD,
					  .pd = &self->p.pd, .send_wr = 1,
					  .send_cq = &self->ud_cq)));
	ASSERT_EQ(0, xv_eventq_create(xv_now(self->t.ctx), &self->eq));
	memcpy(self->group, (uint8_t[]){ [10] = 0xff, 0xff, 239, 9, 0, 7 }, 16);
	xvt_snap(_metadata, &self->t, &self->before);
}

#define NEED_FAULTS()							\
do {									\
	if (!self->t.ctx)						\
		SKIP(return, "no fault injection in this kernel");	\
} while (0)

FIXTURE_TEARDOWN(fail_nth)
{
	xvt_teardown(_metadata);
	if (!self->t.ctx)
		return;
	xvt_same(_metadata, &self->t, &self->before, "at the end");
	EXPECT_EQ(0, xv_srq_destroy(xv_now(self->t.ctx), &self->srq));
	EXPECT_EQ(0, xv_qp_destroy(xv_now(self->t.ctx), &self->ud));
	EXPECT_EQ(0, xv_cq_destroy(xv_now(self->t.ctx), &self->ud_cq));
	xv_eventq_close(&self->eq);
	EXPECT_EQ(0, xvt_pair_destroy(&self->p));
	xvt_close(&self->t);
	close(self->fd);
}

/* ---- calls: make the message; take back what a success has done ---- */

typedef FIXTURE_DATA(fail_nth) fixture;

/*
 * A call: what to send, what to do after a success, what it returns if no fault
 * is met, and whether to stop where the driver begins: a queue that rxe cannot
 * allocate is reported by the kernel with a call trace, like a fault of ours.
 */
struct call {
	const char *name;
	void (*build)(fixture *self);
	void (*done)(struct __test_metadata *_metadata, fixture *self);
	int ret;
	bool stop_at_driver;
};

static int destroy_one(fixture *self, uint16_t object, uint32_t handle)
{
	xvt_begin(self->m, 0);
	xvt_op(self->m, object, XV_M_DESTROY);
	xvt_handle(self->m, handle);
	return xvt_run(self->m, self->t.fd);
}

static void build_eventq(fixture *self)
{
	xvt_begin(self->m, 0);
	xvt_op(self->m, XV_OBJ_EVENTQ, XV_M_CREATE);
	xvt_new(self->m);
}

static void done_eventq(struct __test_metadata *_metadata, fixture *self)
{
	EXPECT_EQ(0, close(xvt_made(self->m, 0)));
}

static void build_pd(fixture *self)
{
	xvt_begin(self->m, 0);
	xvt_op(self->m, XV_OBJ_PD, XV_M_CREATE);
	xvt_new(self->m);
}

static void done_pd(struct __test_metadata *_metadata, fixture *self)
{
	EXPECT_EQ(0, destroy_one(self, XV_OBJ_PD, xvt_made(self->m, 0)));
}

static void build_mr(fixture *self)
{
	xvt_begin(self->m, 0);
	xvt_op(self->m, XV_OBJ_MR, XV_M_CREATE);
	xvt_new(self->m);
	xvt_attr(self->m, XV_GRP_OBJECT, XV_OBJECT_PD, 4, 0,
		 self->p.pd.obj.handle);
	xvt_u32(self->m, XV_GRP_ACCESS, XV_ACCESS_FLAGS, XVT_ALL_ACCESS);
	xvt_u64(self->m, XV_GRP_PARAMS, XV_PARAMS_ADDR, (uintptr_t)self->buf);
	xvt_u64(self->m, XV_GRP_PARAMS, XV_PARAMS_LENGTH, 4 * XVT_PAGE);
	xvt_out(self->m, &self->mr_info, sizeof(self->mr_info));
}

static void done_mr(struct __test_metadata *_metadata, fixture *self)
{
	EXPECT_EQ(0, destroy_one(self, XV_OBJ_MR, xvt_made(self->m, 0)));
}

static void build_cq(fixture *self)
{
	xvt_begin(self->m, 0);
	xvt_op(self->m, XV_OBJ_CQ, XV_M_CREATE);
	xvt_new(self->m);
	xvt_u32(self->m, XV_GRP_CAPS, XV_CAPS_CQE, 16);
	xvt_out(self->m, &self->cq_info, sizeof(self->cq_info));
}

static void done_cq(struct __test_metadata *_metadata, fixture *self)
{
	EXPECT_EQ(0, destroy_one(self, XV_OBJ_CQ, xvt_made(self->m, 0)));
}

static void build_mcast(fixture *self)
{
	xvt_begin(self->m, 0);
	xvt_op(self->m, XV_OBJ_MCAST, XV_M_CREATE);
	xvt_new(self->m);
	xvt_attr(self->m, XV_GRP_OBJECT, XV_OBJECT_QP, 4, 0,
		 self->ud.obj.handle);
	xvt_attr(self->m, XV_GRP_ADDRESS, XV_ADDRESS_GID, 16, 0,
		 (uintptr_t)self->group);
	xvt_u32(self->m, XV_GRP_PATH, XV_PATH_SGID_INDEX, self->t.gid_index);
	xvt_out(self->m, self->out, sizeof(struct xv_mcast_info));
}

static void done_mcast(struct __test_metadata *_metadata, fixture *self)
{
	EXPECT_EQ(0, destroy_one(self, XV_OBJ_MCAST, xvt_made(self->m, 0)));
}

static void build_subscription(fixture *self)
{
	xvt_begin(self->m, 0);
	xvt_op(self->m, XV_OBJ_SUBSCRIPTION, XV_M_CREATE);
	xvt_new(self->m);
	xvt_attr(self->m, XV_GRP_EVENTS, XV_EVENTS_QUEUE, 4, 0, self->eq.fd);
}

static void done_subscription(struct __test_metadata *_metadata, fixture *self)
{
	EXPECT_EQ(0, destroy_one(self, XV_OBJ_SUBSCRIPTION,
				 xvt_made(self->m, 0)));
}

/* An address of the device, any port or one where nobody listens. */
static struct sockaddr_in *own_addr(fixture *self, uint16_t port)
{
	static struct sockaddr_in sin;

	sin = (struct sockaddr_in){ .sin_family = AF_INET,
				    .sin_port = htons(port) };
	memcpy(&sin.sin_addr, self->t.gid.gid + 12, 4);
	return &sin;
}

static void build_listener(fixture *self)
{
	xvt_begin(self->m, 0);
	xvt_op(self->m, XV_OBJ_LISTENER, XV_M_CREATE);
	xvt_new(self->m);
	xvt_attr(self->m, XV_GRP_EVENTS, XV_EVENTS_QUEUE, 4, 0, self->eq.fd);
	xvt_attr(self->m, XV_GRP_ADDRESS, XV_ADDRESS_SRC,
		 sizeof(struct sockaddr_in), 0, (uintptr_t)own_addr(self, 0));
	xvt_out(self->m, self->out, sizeof(struct xv_listener_info));
}

static void done_listener(struct __test_metadata *_metadata, fixture *self)
{
	EXPECT_EQ(0, destroy_one(self, XV_OBJ_LISTENER, xvt_made(self->m, 0)));
}

static void build_conn(fixture *self)
{
	xvt_begin(self->m, 0);
	xvt_op(self->m, XV_OBJ_CONN, XV_M_CREATE);
	xvt_new(self->m);
	xvt_attr(self->m, XV_GRP_OBJECT, XV_OBJECT_QP, 4, 0,
		 self->p.qp[1].obj.handle);
	xvt_attr(self->m, XV_GRP_EVENTS, XV_EVENTS_QUEUE, 4, 0, self->eq.fd);
	xvt_attr(self->m, XV_GRP_ADDRESS, XV_ADDRESS_DST,
		 sizeof(struct sockaddr_in), 0, (uintptr_t)own_addr(self, 9));
}

/* It was begun, and may have ended: the queue pair is in ERR. */
static void done_conn(struct __test_metadata *_metadata, fixture *self)
{
	struct xv_qp_attr a = { .size = sizeof(a), .state = XV_QPS_RESET };
	struct xv_tx *now = xv_now(self->t.ctx);

	EXPECT_EQ(0, destroy_one(self, XV_OBJ_CONN, xvt_made(self->m, 0)));
	EXPECT_EQ(0, xv_qp_modify(now, &self->p.qp[1], &a));
	a.state = XV_QPS_INIT;
	EXPECT_EQ(0, xv_qp_modify(now, &self->p.qp[1], &a));
}

static void add_caps(fixture *self)
{
	xvt_u32(self->m, XV_GRP_CAPS, XV_CAPS_SEND_WR, 4);
	xvt_u32(self->m, XV_GRP_CAPS, XV_CAPS_RECV_WR, 4);
	xvt_out(self->m, &self->qp_info, sizeof(self->qp_info));
}

static void add_address(fixture *self)
{
	xvt_u32(self->m, XV_GRP_ADDRESS, XV_ADDRESS_QPN,
		self->p.qp[1].info.qp_num);
	xvt_attr(self->m, XV_GRP_ADDRESS, XV_ADDRESS_GID, 16, 0,
		 (uintptr_t)self->t.gid.gid);
	xvt_u32(self->m, XV_GRP_ADDRESS, XV_ADDRESS_PSN, 5);
	xvt_u32(self->m, XV_GRP_PATH, XV_PATH_SGID_INDEX, self->t.gid_index);
}

/*
 * The completion queue has no room for it, which is found after our last
 * allocation and before the driver is called: rxe of Linux 6.1 deletes timers
 * that it has not set up when a create fails half way, so faults in there say
 * nothing about us. What comes after the driver is in own_points.
 */
static void build_qp(fixture *self)
{
	xvt_begin(self->m, 0);
	xvt_op(self->m, XV_OBJ_QP, XV_M_CREATE);
	xvt_new(self->m);
	xvt_attr(self->m, XV_GRP_OBJECT, XV_OBJECT_PD, 4, 0,
		 self->p.pd.obj.handle);
	xvt_attr(self->m, XV_GRP_OBJECT, XV_OBJECT_SEND_CQ, 4, 0,
		 self->p.cq[0].obj.handle);
	xvt_u32(self->m, XV_GRP_CAPS, XV_CAPS_SEND_WR, 4);
	xvt_u32(self->m, XV_GRP_CAPS, XV_CAPS_RECV_WR, 256);
	xvt_out(self->m, &self->qp_info, sizeof(self->qp_info));
	add_address(self);
}

/* The same with an SRQ, which is too large for the completion queue. */
static void build_srq_qp(fixture *self)
{
	xvt_begin(self->m, 0);
	xvt_op(self->m, XV_OBJ_QP, XV_M_CREATE);
	xvt_new(self->m);
	xvt_attr(self->m, XV_GRP_OBJECT, XV_OBJECT_PD, 4, 0,
		 self->p.pd.obj.handle);
	xvt_attr(self->m, XV_GRP_OBJECT, XV_OBJECT_SEND_CQ, 4, 0,
		 self->p.cq[0].obj.handle);
	xvt_attr(self->m, XV_GRP_OBJECT, XV_OBJECT_SRQ, 4, 0,
		 self->srq.obj.handle);
	xvt_u32(self->m, XV_GRP_CAPS, XV_CAPS_SEND_WR, 4);
	xvt_u32(self->m, XV_GRP_CAPS, XV_CAPS_RECV_WR, 0);
	xvt_out(self->m, &self->qp_info, sizeof(self->qp_info));
}

static void add_srq(fixture *self)
{
	xvt_op(self->m, XV_OBJ_SRQ, XV_M_CREATE);
	xvt_new(self->m);
	xvt_attr(self->m, XV_GRP_OBJECT, XV_OBJECT_PD, 4, 0,
		 self->p.pd.obj.handle);
	xvt_u32(self->m, XV_GRP_CAPS, XV_CAPS_RECV_WR, 8);
	xvt_u32(self->m, XV_GRP_PARAMS, XV_PARAMS_LIMIT, 4);
	xvt_out(self->m, &self->srq_info, sizeof(self->srq_info));
}

static void build_srq(fixture *self)
{
	xvt_begin(self->m, 0);
	add_srq(self);
}

static void done_srq(struct __test_metadata *_metadata, fixture *self)
{
	EXPECT_EQ(0, destroy_one(self, XV_OBJ_SRQ, xvt_made(self->m, 0)));
}

static void build_limit(fixture *self)
{
	xvt_begin(self->m, 0);
	xvt_op(self->m, XV_OBJ_SRQ, XV_M_MODIFY);
	xvt_handle(self->m, self->srq.obj.handle);
	xvt_u32(self->m, XV_GRP_PARAMS, XV_PARAMS_LIMIT, 7);
}

/* All in one: event queue, PD, MR, CQ, QP, SRQ, a QP with it, first receives. */
static void build_set(fixture *self)
{
	struct xvt_msg *m = self->m;

	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_EVENTQ, XV_M_CREATE);
	xvt_new(m);
	xvt_op(m, XV_OBJ_PD, XV_M_CREATE);
	xvt_new(m);
	xvt_op(m, XV_OBJ_MR, XV_M_CREATE);
	xvt_new(m);
	xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_PD, 1);
	xvt_u32(m, XV_GRP_ACCESS, XV_ACCESS_FLAGS, XVT_ALL_ACCESS);
	xvt_u64(m, XV_GRP_PARAMS, XV_PARAMS_ADDR, (uintptr_t)self->buf);
	xvt_u64(m, XV_GRP_PARAMS, XV_PARAMS_LENGTH, XVT_PAGE);
	xvt_op(m, XV_OBJ_CQ, XV_M_CREATE);
	xvt_new(m);
	xvt_ref(m, XV_GRP_EVENTS, XV_EVENTS_QUEUE, 0);
	xvt_u32(m, XV_GRP_CAPS, XV_CAPS_CQE, 16);
	xvt_out(m, &self->cq_info, sizeof(self->cq_info));
	xvt_op(m, XV_OBJ_QP, XV_M_CREATE);
	xvt_new(m);
	xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_PD, 1);
	xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_SEND_CQ, 3);
	xvt_ref(m, XV_GRP_EVENTS, XV_EVENTS_QUEUE, 0);
	add_caps(self);
	add_address(self);
	self->recv = (struct xv_recv){
		.num_sge = 1,
		.sge[0] = { .mr = XV_SGE_FROM_OP | 2, .length = 64 },
	};
	xvt_op(m, XV_OBJ_QP, XV_M_POST_RECV);
	xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4);
	xvt_attr(m, XV_GRP_PARAMS, XV_PARAMS_RECVS, sizeof(self->recv), 0,
		 (uintptr_t)&self->recv);
	xvt_op(m, XV_OBJ_SRQ, XV_M_CREATE);
	xvt_new(m);
	xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_PD, 1);
	xvt_ref(m, XV_GRP_EVENTS, XV_EVENTS_QUEUE, 0);
	xvt_u32(m, XV_GRP_CAPS, XV_CAPS_RECV_WR, 4);
	xvt_u32(m, XV_GRP_PARAMS, XV_PARAMS_LIMIT, 2);
	xvt_out(m, &self->srq_info, sizeof(self->srq_info));
	xvt_op(m, XV_OBJ_SRQ, XV_M_POST_RECV);
	xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 6);
	xvt_attr(m, XV_GRP_PARAMS, XV_PARAMS_RECVS, sizeof(self->recv), 0,
		 (uintptr_t)&self->recv);
	xvt_op(m, XV_OBJ_QP, XV_M_CREATE);
	xvt_new(m);
	xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_PD, 1);
	xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_SEND_CQ, 3);
	xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_SRQ, 6);
	xvt_u32(m, XV_GRP_CAPS, XV_CAPS_SEND_WR, 2);
	xvt_u32(m, XV_GRP_CAPS, XV_CAPS_RECV_WR, 0);
	xvt_out(m, &self->qp_info, sizeof(self->qp_info));
}

/* The same without what the driver allocates queues for, see struct call. */
static void build_small_set(fixture *self)
{
	struct xvt_msg *m = self->m;

	build_set(self);
	m->txn.num_ops = 3;
	m->len = (uint8_t *)xvt_get(m, 3, XV_GRP_OBJECT, XV_OBJECT_HANDLE) -
		 m->raw - sizeof(struct xv_op);
}

static void done_small_set(struct __test_metadata *_metadata, fixture *self)
{
	struct xvt_msg *m = self->m;
	int eventq = xvt_made(m, 0);
	uint32_t handles[2] = { xvt_made(m, 1), xvt_made(m, 2) };
	unsigned int i;

	close(eventq);
	xvt_begin(m, 0);
	for (i = 0; i < 2; i++) {
		static const uint16_t types[2] = { XV_OBJ_PD, XV_OBJ_MR };

		xvt_op(m, types[i], XV_M_DESTROY);
		xvt_handle(m, handles[i]);
	}
	EXPECT_EQ(0, xvt_run(m, self->t.fd));
}

static void note_set(fixture *self)
{
	self->eventq = xvt_made(self->m, 0);
	self->pd = xvt_made(self->m, 1);
	self->mr = xvt_made(self->m, 2);
	self->cq = xvt_made(self->m, 3);
	self->qp = xvt_made(self->m, 4);
	self->srq_handle = xvt_made(self->m, 6);
	self->srq_qp = xvt_made(self->m, 8);
}

static void build_destroy(fixture *self)
{
	struct xvt_msg *m = self->m;

	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_PD, XV_M_DESTROY);
	xvt_handle(m, self->pd);
	xvt_op(m, XV_OBJ_QP, XV_M_DESTROY);
	xvt_handle(m, self->qp);
	xvt_op(m, XV_OBJ_SRQ, XV_M_DESTROY);
	xvt_handle(m, self->srq_handle);
	xvt_op(m, XV_OBJ_QP, XV_M_DESTROY);
	xvt_handle(m, self->srq_qp);
	xvt_op(m, XV_OBJ_MR, XV_M_DESTROY);
	xvt_handle(m, self->mr);
	xvt_op(m, XV_OBJ_CQ, XV_M_DESTROY);
	xvt_handle(m, self->cq);
}

static void done_set(struct __test_metadata *_metadata, fixture *self)
{
	note_set(self);
	close(self->eventq);
	build_destroy(self);
	EXPECT_EQ(0, xvt_run(self->m, self->t.fd));
}

/* Destroyed: make the next one. */
static void done_destroy(struct __test_metadata *_metadata, fixture *self)
{
	close(self->eventq);
	build_set(self);
	ASSERT_EQ(0, xvt_run(self->m, self->t.fd));
	note_set(self);
}

static void build_connect(fixture *self)
{
	xvt_begin(self->m, 0);
	xvt_op(self->m, XV_OBJ_QP, XV_M_CONNECT);
	xvt_handle(self->m, self->p.qp[0].obj.handle);
	add_address(self);
}

static void reset_qp(struct __test_metadata *_metadata, fixture *self)
{
	struct xv_qp_attr a = { .size = sizeof(a), .state = XV_QPS_RESET };

	EXPECT_EQ(0, xv_qp_modify(xv_now(self->t.ctx), &self->p.qp[0], &a));
}

static void build_modify(fixture *self)
{
	xvt_begin(self->m, 0);
	xvt_op(self->m, XV_OBJ_QP, XV_M_MODIFY);
	xvt_handle(self->m, self->p.qp[0].obj.handle);
	xvt_u32(self->m, XV_GRP_PARAMS, XV_PARAMS_STATE, XV_QPS_RESET);
}

static void build_queries(fixture *self)
{
	struct xvt_msg *m = self->m;

	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_DEVICE, XV_M_QUERY);
	xvt_out(m, self->out, sizeof(struct xv_device_info));
	xvt_op(m, XV_OBJ_DEVICE, XV_M_QUERY_PORT);
	xvt_u32(m, XV_GRP_PARAMS, XV_PARAMS_PORT, 1);
	xvt_out(m, self->out, sizeof(struct xv_port_info));
	xvt_op(m, XV_OBJ_DEVICE, XV_M_QUERY_GID);
	xvt_u32(m, XV_GRP_PARAMS, XV_PARAMS_PORT, 1);
	xvt_u32(m, XV_GRP_PARAMS, XV_PARAMS_INDEX, 0);
	xvt_out(m, self->out, sizeof(struct xv_gid_info));
	xvt_op(m, XV_OBJ_DEVICE, XV_M_DESCRIBE);
	xvt_out(m, self->out, sizeof(self->out));
	xvt_op(m, XV_OBJ_QP, XV_M_QUERY);
	xvt_handle(m, self->p.qp[0].obj.handle);
	xvt_out(m, &self->qp_info, sizeof(self->qp_info));
	xvt_op(m, XV_OBJ_SRQ, XV_M_QUERY);
	xvt_handle(m, self->srq.obj.handle);
	xvt_out(m, &self->srq_info, sizeof(self->srq_info));
}

static const struct call calls[] = {
	{ .name = "eventq.create", .build = build_eventq,
	  .done = done_eventq },
	{ .name = "pd.create", .build = build_pd,
	  .done = done_pd },
	{ .name = "mr.create", .build = build_mr,
	  .done = done_mr },
	{ .name = "cq.create", .build = build_cq,
	  .done = done_cq, .stop_at_driver = true },
	{ .name = "mcast.create", .build = build_mcast,
	  .done = done_mcast },
	{ .name = "subscription.create", .build = build_subscription,
	  .done = done_subscription },
	{ .name = "listener.create", .build = build_listener,
	  .done = done_listener },
	{ .name = "conn.create", .build = build_conn,
	  .done = done_conn },
	{ .name = "qp.create", .build = build_qp, .ret = -EINVAL },
	{ .name = "qp.create with an SRQ", .build = build_srq_qp,
	  .ret = -EINVAL },
	{ .name = "srq.create", .build = build_srq,
	  .done = done_srq, .stop_at_driver = true },
	{ .name = "srq.modify", .build = build_limit },
	{ .name = "a set", .build = build_small_set,
	  .done = done_small_set },
	{ .name = "qp.connect", .build = build_connect,
	  .done = reset_qp },
	{ .name = "qp.modify", .build = build_modify },
	{ .name = "queries", .build = build_queries },
};

static void sweep(struct __test_metadata *_metadata, fixture *self,
		  const struct call *call)
{
	unsigned int max = xvt_count(FAIL_NTH_MAX);
	unsigned int n, failed = 0, absorbed = 0;
	struct xvt_snap before;
	char what[64];
	bool met;
	int ret;

	xvt_snap(_metadata, &self->t, &before);
	for (n = 1; n < max; n++) {
		call->build(self);
		xvf_arm(_metadata, self->fd, n);
		ret = xvt_run(self->m, self->t.fd);
		met = xvf_disarm(_metadata, self->fd);
		snprintf(what, sizeof(what), "%s, fault %u", call->name, n);
		if (ret != call->ret) {
			failed++;
			EXPECT_TRUE(met) {
				TH_LOG("%s: %d without a fault, reason %u", what,
				       ret, self->m->err.reason);
			}
			EXPECT_TRUE(xvf_in_contract(ret)) {
				TH_LOG("%s: %d, reason %u", what, ret,
				       self->m->err.reason);
			}
			/* A connect that failed half way is in ERR. */
			if (call->build == build_connect)
				reset_qp(_metadata, self);
		} else {
			absorbed += met;
			if (call->done)
				call->done(_metadata, self);
		}
		xvt_same(_metadata, &self->t, &before, what);
		if (!met || (call->stop_at_driver && ret && self->m->err.raw))
			break;
		call->build(self);
		EXPECT_EQ(call->ret, xvt_run(self->m, self->t.fd)) {
			TH_LOG("%s: again: reason %u", what,
			       self->m->err.reason);
		}
		if (!self->m->ret && call->done)
			call->done(_metadata, self);
	}
	EXPECT_GT(max, n);
	EXPECT_LT(0, failed);
	TH_LOG("%s: %u fault points, %u failed, %u absorbed", call->name, n - 1,
	       failed, absorbed);
}

TEST_F(fail_nth, create_query_and_change)
{
	unsigned int i;

	NEED_FAULTS();
	reset_qp(_metadata, self);
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		sweep(_metadata, self, &calls[i]);
}

TEST_F(fail_nth, destroy)
{
	static const struct call call = {
		.name = "destroy of a set", .build = build_destroy,
		.done = done_destroy,
	};

	NEED_FAULTS();
	build_set(self);
	ASSERT_EQ(0, xvt_run(self->m, self->t.fd));
	note_set(self);
	sweep(_metadata, self, &call);
	close(self->eventq);
	build_destroy(self);
	EXPECT_EQ(0, xvt_run(self->m, self->t.fd));
}

TEST_F(fail_nth, open)
{
	unsigned int n, failed = 0;
	char node[64] = "", link[64];
	bool met = true;

	NEED_FAULTS();
	snprintf(link, sizeof(link), "/proc/self/fd/%d", self->t.fd);
	ASSERT_LT(0, readlink(link, node, sizeof(node) - 1));
	for (n = 1; n < 200 && met; n++) {
		int fd;

		xvf_arm(_metadata, self->fd, n);
		fd = open(node, O_RDWR | O_CLOEXEC);
		met = xvf_disarm(_metadata, self->fd);
		if (fd < 0)
			failed++;
		else
			close(fd);
	}
	EXPECT_GT(200, n);
	EXPECT_LT(0, failed);
	xvt_same(_metadata, &self->t, &self->before, "open");
}

TEST_F(fail_nth, enter)
{
	struct xv_qp_attr a = { .size = sizeof(a) };
	struct xvt_pair *p = &self->p;
	struct xv_recv r;
	unsigned int n, i;
	bool met = true;
	int ret;

	NEED_FAULTS();
	for (n = 1; n < 200 && met; n++) {
		xv_recv_prep(&r, n);
		xv_recv_add_sge(&r, xvt_sge(p, 0, 64));
		for (i = 0; i < 2; i++)
			ASSERT_EQ(0, xv_post_recv(&p->qp[1], &r, 1));
		xvf_arm(_metadata, self->fd, n);
		ret = xv_submit(&p->qp[1]);
		met = xvf_disarm(_metadata, self->fd);
		EXPECT_TRUE(!ret || ret == -EFAULT || ret == -ENOMEM ||
			    ret == -EIO) {
			TH_LOG("fault %u: %d", n, ret);
		}
		/* Whatever it said: back to a known place. */
		a.state = XV_QPS_RESET;
		ASSERT_EQ(0, xv_qp_modify(xv_now(self->t.ctx), &p->qp[1], &a));
		p->qp[1].recv_tail = p->qp[1].ring->recvs_done;
		p->qp[1].recv_taken = p->qp[1].ring->recvs_done;
		a.state = XV_QPS_INIT;
		ASSERT_EQ(0, xv_qp_modify(xv_now(self->t.ctx), &p->qp[1], &a));
	}
	EXPECT_GT(200, n);
}

/* ---- our own fault points ---- */

TEST_F(fail_nth, own_points)
{
	static const char *const points[] = {
		"xverbs/fail_get", "xverbs/fail_make", "xverbs/fail_copy",
		"xverbs/fail_last",
	};
	unsigned int i, every, failed;

	NEED_FAULTS();
	for (i = 0; i < ARRAY_SIZE(points); i++) {
		failed = 0;
		for (every = 1; every <= 8; every++) {
			char text[16];
			int ret;

			snprintf(text, sizeof(text), "%u", every);
			xvf_knob(points[i], "interval", text);
			xvf_knob(points[i], "probability", "100");
			/* A fault of the copy is tried again: all of them. */
			xvf_knob(points[i], "times", i == 2 ? "-1" : "1");
			build_set(self);
			ret = xvt_run(self->m, self->t.fd);
			xvf_knob(points[i], "times", "0");
			xvf_knob(points[i], "probability", "0");
			if (ret) {
				failed++;
				EXPECT_EQ(i == 2 ? -EFAULT : -ENOMEM, ret);
			} else {
				done_set(_metadata, self);
			}
			xvt_same(_metadata, &self->t, &self->before, points[i]);
		}
		EXPECT_LT(0, failed) {
			TH_LOG("%s: never failed", points[i]);
		}
	}
}

/* Of all devices: there is one, whatever the number of its node. */
static int num_zombies(void)
{
	char path[128];
	int i, n, sum = 0;

	for (i = 0; i < 64; i++) {
		FILE *f;

		snprintf(path, sizeof(path), XVF_DIR "xverbs/xverbs%d/zombies",
			 i);
		f = fopen(path, "r");
		if (f && fscanf(f, "zombies %d", &n) == 1)
			sum += n;
		if (f)
			fclose(f);
	}
	return sum;
}

static void refuse_destroys(const char *num)
{
	xvf_knob("xverbs", "fail_destroy", num);
}

/* A driver that refuses to destroy: the object is out of reach, not undone. */
TEST_F(fail_nth, zombies)
{
	struct xvt_snap now;

	NEED_FAULTS();
	EXPECT_EQ(0, num_zombies());
	build_set(self);
	ASSERT_EQ(0, xvt_run(self->m, self->t.fd));
	note_set(self);
	close(self->eventq);
	/* A queue pair that does not go holds its SRQ. */
	refuse_destroys("1");
	EXPECT_EQ(0, destroy_one(self, XV_OBJ_QP, self->srq_qp));
	EXPECT_EQ(1, num_zombies());
	refuse_destroys("1");
	EXPECT_EQ(-EBUSY, destroy_one(self, XV_OBJ_SRQ, self->srq_handle));
	EXPECT_EQ(XV_R_ZOMBIE_DEPENDENT, self->m->err.reason);
	EXPECT_EQ(XV_OBJ_QP, self->m->err.object);
	refuse_destroys("0");
	EXPECT_EQ(0, destroy_one(self, XV_OBJ_SRQ, self->srq_handle));
	EXPECT_EQ(0, num_zombies());
	refuse_destroys("1");
	EXPECT_EQ(0, destroy_one(self, XV_OBJ_MR, self->mr));
	EXPECT_EQ(1, num_zombies());
	EXPECT_EQ(-ENOENT, destroy_one(self, XV_OBJ_MR, self->mr));
	EXPECT_EQ(0, destroy_one(self, XV_OBJ_QP, self->qp));
	EXPECT_EQ(0, destroy_one(self, XV_OBJ_CQ, self->cq));
	/* It holds its PD, and does not go when it is asked again. */
	refuse_destroys("1");
	destroy_one(self, XV_OBJ_PD, self->pd);
	xvt_failed(_metadata, "zombie", self->m->ret, &self->m->err, EBUSY, 0,
		   XV_GRP_OBJECT, XV_OBJECT_HANDLE, XV_R_ZOMBIE_DEPENDENT);
	EXPECT_EQ(XV_OBJ_MR, self->m->err.object);
	EXPECT_EQ(0, self->m->err.handle);
	EXPECT_EQ(1, num_zombies());
	/* Then it does. */
	refuse_destroys("0");
	EXPECT_EQ(0, destroy_one(self, XV_OBJ_PD, self->pd));
	EXPECT_EQ(0, num_zombies());

	/* The whole set: what depends on a zombie becomes one. */
	build_set(self);
	ASSERT_EQ(0, xvt_run(self->m, self->t.fd));
	note_set(self);
	close(self->eventq);
	refuse_destroys("1");
	build_destroy(self);
	EXPECT_EQ(0, xvt_run(self->m, self->t.fd));
	EXPECT_LE(2, num_zombies());
	xvt_snap(_metadata, &self->t, &now);
	/* Somebody else's close is their next chance. */
	{
		struct xvt other;

		xvt_open(_metadata, &other);
		xvt_close(&other);
	}
	EXPECT_EQ(0, num_zombies());
}

/* A membership that does not end holds its queue pair. */
TEST_F(fail_nth, zombie_memberships)
{
	uint32_t mcast;

	NEED_FAULTS();
	build_mcast(self);
	ASSERT_EQ(0, xvt_run(self->m, self->t.fd));
	mcast = xvt_made(self->m, 0);
	refuse_destroys("1");
	EXPECT_EQ(0, destroy_one(self, XV_OBJ_MCAST, mcast));
	EXPECT_EQ(1, num_zombies());
	/* It is in the group as before, and can not enter it again. */
	build_mcast(self);
	xvt_run(self->m, self->t.fd);
	xvt_failed(_metadata, "zombie", self->m->ret, &self->m->err, EINVAL, 0,
		   XV_GRP_ADDRESS, XV_ADDRESS_GID, XV_R_ATTACHED);
	refuse_destroys("1");
	destroy_one(self, XV_OBJ_QP, self->ud.obj.handle);
	xvt_failed(_metadata, "zombie", self->m->ret, &self->m->err, EBUSY, 0,
		   XV_GRP_OBJECT, XV_OBJECT_HANDLE, XV_R_ZOMBIE_DEPENDENT);
	EXPECT_EQ(XV_OBJ_MCAST, self->m->err.object);
	refuse_destroys("0");
	{
		struct xvt other;

		xvt_open(_metadata, &other);
		xvt_close(&other);
	}
	EXPECT_EQ(0, num_zombies());
}

/* An abort that the driver refuses, and a file that is closed with zombies. */
TEST_F(fail_nth, zombies_of_aborts_and_closes)
{
	struct xvt other;
	struct xvt_pair p;

	NEED_FAULTS();
	refuse_destroys("1");
	build_set(self);
	xvt_op(self->m, XV_OBJ_PD, XV_M_QUERY);
	xvt_ref(self->m, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 1);
	xvt_out(self->m, self->out, sizeof(struct xv_pd_info));
	xvt_op(self->m, XV_OBJ_CQ, XV_M_CREATE);
	xvt_new(self->m);
	xvt_u32(self->m, XV_GRP_CAPS, XV_CAPS_CQE, XV_MAX_CQE);
	xvt_out(self->m, &self->cq_info, sizeof(self->cq_info));
	EXPECT_EQ(-EINVAL, xvt_run(self->m, self->t.fd));
	EXPECT_LE(1, num_zombies());
	refuse_destroys("0");
	xvt_open(_metadata, &other);
	xvt_close(&other);
	EXPECT_EQ(0, num_zombies());

	xvt_open(_metadata, &other);
	xvt_pair(_metadata, &other, &p, NULL);
	refuse_destroys("100");
	xvt_close(&other);
	EXPECT_LE(1, num_zombies());
	refuse_destroys("0");
	xvt_open(_metadata, &other);
	xvt_close(&other);
	EXPECT_EQ(0, num_zombies());
	munmap(p.buf, p.length);
}

TEST_HARNESS_MAIN
