// SPDX-License-Identifier: GPL-2.0
/*
 * Every attribute of every method, as device.describe tells them, given wrong
 * in every way that its kind allows.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * The calls are built from the tables of the running kernel, so an attribute
 * that is added there is tried here, or fails the test for want of a valid
 * value.
 */
#include <netinet/in.h>
#include "xv_test.h"

#define MAX_ATTRS	64

FIXTURE(describe) {
	struct xvt t;
	struct xvt_snap before;
	struct xvt_msg *m;
	const struct xv_describe *desc;
	struct xvt_pair p;
	struct xv_eventq eq;
	struct xvt other;
	struct xv_eventq other_eq;
	uint32_t foreign;	/* handle of another file */
	struct xv_recv recv;
	struct xv_ah ah;
	struct xv_srq srq;
	struct xv_cq ud_cq;
	struct xv_qp ud;
	struct xv_mcast mcast;
	struct xv_subscription sub;
	uint8_t *gid;
	uint8_t *group;		/* a multicast group, and room behind it */
	uint8_t *from;		/* a struct xv_ah_wc, and room behind it */
	struct xv_eventq leq;
	struct xv_listener l;
	struct xv_qp conn_qp;	/* of @conn */
	struct xv_conn conn;	/* to ask and to end */
	struct xv_qp caller_qp;	/* of @caller */
	struct xv_conn caller;	/* whose request waits at @l */
	uint64_t token;		/* the request */
	uint8_t *src;		/* a struct sockaddr_in of ours, any port */
	uint8_t *dst;		/* that of @l */
	uint8_t out[2][65535];
};

typedef FIXTURE_DATA(describe) fixture;

/* A PD whose handle our own file does not reach in this test; 0 if it fails. */
static uint32_t far_handle(struct xvt_msg *m, int fd)
{
	uint32_t first, i;

	for (;;) {
		xvt_begin(m, 0);
		for (i = 0; i < XV_MAX_OPS; i++) {
			xvt_op(m, XV_OBJ_PD, XV_M_CREATE);
			xvt_new(m);
		}
		if (xvt_run(m, fd))
			return 0;
		first = xvt_made(m, 0);
		if (first > 2000)
			return first;
		xvt_begin(m, 0);
		for (i = 0; i < XV_MAX_OPS; i++) {
			xvt_op(m, XV_OBJ_PD, XV_M_DESTROY);
			xvt_handle(m, first + i);
		}
		if (xvt_run(m, fd))
			return 0;
	}
}

static void make_qp(struct xv_tx *tx, struct xvt_pair *p, struct xv_qp *qp)
{
	xv_qp_create(tx, qp, XV_OPTS(xv_qp_opts, .pd = &p->pd,
		     .send_cq = &p->cq[1], .send_wr = 1));
}

/* What listeners and connections need. */
static void make_conns(struct __test_metadata *_metadata, fixture *self)
{
	struct sockaddr_in *sin;
	struct xv_tx *tx;

	self->src = xvt_map(2 * XVT_PAGE, PROT_READ | PROT_WRITE);
	ASSERT_NE(NULL, self->src);
	self->dst = self->src + XVT_PAGE;
	sin = (struct sockaddr_in *)self->src;
	sin->sin_family = AF_INET;
	memcpy(&sin->sin_addr, self->t.gid.gid + 12, 4);
	ASSERT_EQ(0, xv_txn_begin(self->t.ctx, 0, &tx));
	xv_eventq_create(tx, &self->leq);
	xv_listener_create(tx, &self->l, XV_OPTS(xv_listener_opts,
			   .eventq = &self->leq, .backlog = XV_MAX_BACKLOG,
			   .addr = (struct sockaddr *)sin));
	make_qp(tx, &self->p, &self->conn_qp);
	ASSERT_EQ(0, xv_txn_commit(tx, NULL));
	xv_txn_free(tx);
	memcpy(self->dst, self->l.info.local, sizeof(*sin));
	ASSERT_EQ(0, xv_conn_create(xv_now(self->t.ctx), &self->conn,
		  XV_OPTS(xv_conn_opts, .qp = &self->conn_qp,
			  .eventq = &self->eq,
			  .dst = (struct sockaddr *)self->dst)));
}

static int end_caller(fixture *self)
{
	struct xv_tx *tx;
	int ret;

	if (!self->caller.obj.handle)
		return 0;
	ret = xv_txn_begin(self->t.ctx, 0, &tx);
	if (ret)
		return ret;
	xv_conn_destroy(tx, &self->caller);
	xv_qp_destroy(tx, &self->caller_qp);
	ret = xv_txn_commit(tx, NULL);
	xv_txn_free(tx);
	return ret;
}

static void end_conns(struct __test_metadata *_metadata, fixture *self)
{
	struct xv_tx *tx;

	EXPECT_EQ(0, end_caller(self));
	ASSERT_EQ(0, xv_txn_begin(self->t.ctx, 0, &tx));
	xv_conn_destroy(tx, &self->conn);
	xv_qp_destroy(tx, &self->conn_qp);
	xv_listener_destroy(tx, &self->l);
	EXPECT_EQ(0, xv_txn_commit(tx, NULL));
	xv_txn_free(tx);
	xv_eventq_close(&self->leq);
	munmap(self->src, 2 * XVT_PAGE);
}

/* A request that waits: the last one may have been answered. */
static void fresh_token(struct __test_metadata *_metadata, fixture *self)
{
	struct xv_tx *now = xv_now(self->t.ctx);
	struct xv_request_info info;
	struct xv_event ev;
	struct xv_tx *tx;

	if (self->token &&
	    !xv_listener_query_request(now, &self->l, self->token, &info))
		return;
	ASSERT_EQ(0, end_caller(self));
	ASSERT_EQ(0, xv_txn_begin(self->t.ctx, 0, &tx));
	make_qp(tx, &self->p, &self->caller_qp);
	xv_conn_create(tx, &self->caller, XV_OPTS(xv_conn_opts,
		       .qp = &self->caller_qp, .eventq = &self->eq,
		       .establish_ms = XV_MAX_ESTABLISH_MS,
		       .dst = (struct sockaddr *)self->dst));
	ASSERT_EQ(0, xv_txn_commit(tx, NULL));
	xv_txn_free(tx);
	do {
		ASSERT_EQ(1, xvt_event(&self->leq, &ev));
		self->token = ev.data;
	} while (xv_listener_query_request(now, &self->l, self->token, &info) ||
		 info.qp_num != self->caller_qp.info.qp_num);
}

FIXTURE_SETUP(describe)
{
	xvt_open(_metadata, &self->t);
	xvt_open(_metadata, &self->other);
	self->m = malloc(sizeof(*self->m));
	ASSERT_NE(NULL, self->m);
	ASSERT_EQ(0, xv_describe(self->t.ctx, &self->desc));
	ASSERT_EQ(0, xv_eventq_create(xv_now(self->other.ctx), &self->other_eq));
	self->foreign = far_handle(self->m, self->other.fd);
	ASSERT_NE(0, self->foreign);
	/* With room behind, for tails. */
	self->gid = xvt_map(2 * XVT_PAGE, PROT_READ | PROT_WRITE);
	ASSERT_NE(NULL, self->gid);
	memcpy(self->gid, self->t.gid.gid, 16);
	self->group = xvt_map(2 * XVT_PAGE, PROT_READ | PROT_WRITE);
	ASSERT_NE(NULL, self->group);
	memcpy(self->group, (uint8_t[]){ 0xff, 0x0e, [15] = 5 }, 16);
	self->from = xvt_map(2 * XVT_PAGE, PROT_READ | PROT_WRITE);
	ASSERT_NE(NULL, self->from);
	xvt_datagram(&self->t, (struct xv_ah_wc *)self->from);
	xvt_snap(_metadata, &self->t, &self->before);
	xvt_pair(_metadata, &self->t, &self->p,
		 &(struct xvt_pair_opts){ .no_connect = true, .cqe = 64,
					  .events = true });
	ASSERT_EQ(0, xv_ah_create(xv_now(self->t.ctx), &self->ah,
				  xvt_ah_opts(&self->t, &self->p.pd)));
	ASSERT_EQ(0, xv_srq_create(xv_now(self->t.ctx), &self->srq,
				   XV_OPTS(xv_srq_opts, .pd = &self->p.pd,
					   .recv_wr = 4)));
	ASSERT_EQ(0, xv_eventq_create(xv_now(self->t.ctx), &self->eq));
	ASSERT_EQ(0, xv_cq_create(xv_now(self->t.ctx), &self->ud_cq,
				  XV_OPTS(xv_cq_opts, .cqe = 4)));
	ASSERT_EQ(0, xv_qp_create(xv_now(self->t.ctx), &self->ud,
				  XV_OPTS(xv_qp_opts, .type = XV_QPT_UD,
					  .pd = &self->p.pd, .send_wr = 1,
					  .send_cq = &self->ud_cq)));
	ASSERT_EQ(0, xv_mcast_create(xv_now(self->t.ctx), &self->mcast,
				     XV_OPTS(xv_mcast_opts, .qp = &self->ud,
					     .join = XV_MCAST_ATTACH,
					     .gid = { 0xff, 0x0e, [15] = 6 })));
	ASSERT_EQ(0, xv_subscription_create(xv_now(self->t.ctx), &self->sub,
					    XV_OPTS(xv_subscription_opts,
						    .eventq = &self->eq)));
	make_conns(_metadata, self);
	fresh_token(_metadata, self);
}

FIXTURE_TEARDOWN(describe)
{
	xvt_teardown(_metadata);
	EXPECT_EQ(0, xv_subscription_destroy(xv_now(self->t.ctx), &self->sub));
	end_conns(_metadata, self);
	xv_eventq_close(&self->eq);
	EXPECT_EQ(0, xv_mcast_destroy(xv_now(self->t.ctx), &self->mcast));
	EXPECT_EQ(0, xv_qp_destroy(xv_now(self->t.ctx), &self->ud));
	EXPECT_EQ(0, xv_cq_destroy(xv_now(self->t.ctx), &self->ud_cq));
	EXPECT_EQ(0, xv_ah_destroy(xv_now(self->t.ctx), &self->ah));
	EXPECT_EQ(0, xv_srq_destroy(xv_now(self->t.ctx), &self->srq));
	EXPECT_EQ(0, xvt_pair_destroy(&self->p));
	xvt_same(_metadata, &self->t, &self->before, "at the end");
	free(self->m);
	xv_eventq_close(&self->other_eq);
	xvt_close(&self->other);
	xvt_close(&self->t);
}

/* One method and its attributes. */
struct method {
	const struct xv_desc *m;
	const struct xv_desc *attr[MAX_ATTRS];
	const struct xv_desc *group[MAX_ATTRS];	/* of each attribute */
	unsigned int num;
	unsigned int num_choices;	/* groups of which one must be there */
	uint16_t choice;		/* that one */
	bool srq;			/* a QP with an SRQ, without receives */
};

/* The lines of the method at @i; returns where the next one may begin. */
static unsigned int collect(const struct xv_describe *desc, unsigned int i,
			    struct method *out)
{
	const struct xv_desc *group = NULL;

	memset(out, 0, sizeof(*out));
	out->m = xv_describe_line(desc, i);
	for (i++; i < desc->num_descs; i++) {
		const struct xv_desc *d = xv_describe_line(desc, i);

		if (d->what == XV_DESC_GROUP) {
			group = d;
			if (d->flags & XV_DESC_F_ONE_OF) {
				out->num_choices++;
				out->choice = d->group;
			}
		} else if (d->what == XV_DESC_ATTR) {
			out->group[out->num] = group;
			out->attr[out->num++] = d;
		} else {
			break;
		}
	}
	return i;
}

static bool is_handle(const struct xv_desc *d)
{
	return d->kind >= XV_K_NEW && d->kind <= XV_K_DESTROY;
}

/* A handle of that type on our file. */
static uint32_t handle_of(fixture *self, uint16_t type)
{
	struct xvt_pair *p = &self->p;

	switch (type) {
	case XV_OBJ_EVENTQ:
		return self->eq.fd;
	case XV_OBJ_AH:
		return self->ah.obj.handle;
	case XV_OBJ_SRQ:
		return self->srq.obj.handle;
	case XV_OBJ_LISTENER:
		return self->l.obj.handle;
	case XV_OBJ_CONN:
		return self->conn.obj.handle;
	case XV_OBJ_PD:
		return p->pd.obj.handle;
	case XV_OBJ_MR:
		return p->mr.obj.handle;
	case XV_OBJ_CQ:
		return p->cq[0].obj.handle;
	case XV_OBJ_MCAST:
		return self->mcast.obj.handle;
	case XV_OBJ_SUBSCRIPTION:
		return self->sub.obj.handle;
	default:
		return p->qp[0].obj.handle;
	}
}

/* The same for an attribute: what enters a group is of type UD. */
static uint32_t handle_for(fixture *self, const struct xv_desc *d)
{
	if (d->object == XV_OBJ_MCAST && d->type == XV_OBJ_QP)
		return self->ud.obj.handle;
	return handle_of(self, d->type);
}

#define KEY(group, id)	((group) << 16 | (id))

/* A valid number, so that the whole call succeeds; ~0 if there is none known. */
static uint64_t number_for(fixture *self, const struct xv_desc *d)
{
	struct xvt_pair *p = &self->p;
	struct xvt *t = &self->t;

	switch (KEY(d->group, d->id)) {
	case KEY(XV_GRP_EVENTS, XV_EVENTS_COOKIE):
		return 0x123456789abcdefULL;
	case KEY(XV_GRP_EVENTS, XV_EVENTS_MASK):
		return 0xffff;
	case KEY(XV_GRP_CAPS, XV_CAPS_CQE):
	case KEY(XV_GRP_CAPS, XV_CAPS_SEND_WR):
	case KEY(XV_GRP_CAPS, XV_CAPS_RECV_WR):
		return 4;
	case KEY(XV_GRP_CAPS, XV_CAPS_SEND_SGE):
	case KEY(XV_GRP_CAPS, XV_CAPS_RECV_SGE):
	case KEY(XV_GRP_PARAMS, XV_PARAMS_QP_TYPE):
	case KEY(XV_GRP_PARAMS, XV_PARAMS_SQ_SIG_ALL):
	case KEY(XV_GRP_PARAMS, XV_PARAMS_JOIN):
	case KEY(XV_GRP_PARAMS, XV_PARAMS_PORT):
	case KEY(XV_GRP_PATH, XV_PATH_PORT):
	case KEY(XV_GRP_PATH, XV_PATH_RD_ATOMIC):
	case KEY(XV_GRP_PATH, XV_PATH_DEST_RD_ATOMIC):
		return 1;
	case KEY(XV_GRP_CAPS, XV_CAPS_COMP_VECTOR):
	case KEY(XV_GRP_ADDRESS, XV_ADDRESS_LID):
	case KEY(XV_GRP_PARAMS, XV_PARAMS_INDEX):
	case KEY(XV_GRP_PARAMS, XV_PARAMS_CQ_COUNT):
	case KEY(XV_GRP_PARAMS, XV_PARAMS_CQ_PERIOD):
	case KEY(XV_GRP_PATH, XV_PATH_PKEY_INDEX):
	case KEY(XV_GRP_PATH, XV_PATH_SL):
	case KEY(XV_GRP_PATH, XV_PATH_TRAFFIC_CLASS):
	case KEY(XV_GRP_PATH, XV_PATH_FLOW_LABEL):
	case KEY(XV_GRP_PATH, XV_PATH_QKEY):
		return 0;
	case KEY(XV_GRP_ACCESS, XV_ACCESS_FLAGS):
		return d->object == XV_OBJ_MR ? XVT_ALL_ACCESS : XVT_REMOTE;
	case KEY(XV_GRP_ADDRESS, XV_ADDRESS_QPN):
		return p->qp[1].info.qp_num;
	case KEY(XV_GRP_ADDRESS, XV_ADDRESS_PSN):
	case KEY(XV_GRP_PATH, XV_PATH_SQ_PSN):
		return 5;
	case KEY(XV_GRP_PATH, XV_PATH_SGID_INDEX):
		return t->gid_index;
	case KEY(XV_GRP_PATH, XV_PATH_MTU):
		return 1024;
	case KEY(XV_GRP_PATH, XV_PATH_HOP_LIMIT):
		return 64;
	case KEY(XV_GRP_PATH, XV_PATH_TIMEOUT):
	case KEY(XV_GRP_PATH, XV_PATH_MIN_RNR_TIMER):
		return 12;
	case KEY(XV_GRP_PATH, XV_PATH_RETRY_CNT):
	case KEY(XV_GRP_PATH, XV_PATH_RNR_RETRY):
		return 7;
	case KEY(XV_GRP_PARAMS, XV_PARAMS_ADDR):
	case KEY(XV_GRP_PARAMS, XV_PARAMS_IOVA):
		return (uintptr_t)p->buf;
	case KEY(XV_GRP_PARAMS, XV_PARAMS_LENGTH):
		return XVT_PAGE;
	case KEY(XV_GRP_PARAMS, XV_PARAMS_LIMIT):
		return 3;
	case KEY(XV_GRP_PARAMS, XV_PARAMS_STATE):
		return XV_QPS_RTR;
	case KEY(XV_GRP_PARAMS, XV_PARAMS_ESTABLISH_MS):
		return 60000;
	case KEY(XV_GRP_PARAMS, XV_PARAMS_REUSE):
	case KEY(XV_GRP_PARAMS, XV_PARAMS_BACKLOG):
	case KEY(XV_GRP_PARAMS, XV_PARAMS_SLOTS):
		return 1;
	case KEY(XV_GRP_PARAMS, XV_PARAMS_COOKIE):
		return 0xfedcba987654321ULL;
	case KEY(XV_GRP_REQUEST, XV_REQUEST_TOKEN):
		return self->token;
	}
	return ~0ULL;
}

/* A valid input buffer; there is room behind it. */
static uint8_t *input_for(fixture *self, const struct xv_desc *d)
{
	if (d->object == XV_OBJ_MCAST)
		return self->group;
	switch (KEY(d->group, d->id)) {
	case KEY(XV_GRP_ADDRESS, XV_ADDRESS_SRC):
		return self->src;
	case KEY(XV_GRP_ADDRESS, XV_ADDRESS_DST):
		return self->dst;
	case KEY(XV_GRP_ADDRESS, XV_ADDRESS_GID):
		return self->gid;
	default:
		return self->from;
	}
}

/* A queue pair has an SRQ or receives of its own. */
static bool is_srq(const struct xv_desc *d)
{
	return d->object == XV_OBJ_QP && d->method == XV_M_CREATE &&
	       d->group == XV_GRP_OBJECT && d->id == XV_OBJECT_SRQ;
}

static bool is_own_recv(const struct xv_desc *d, uint16_t id)
{
	return d->object == XV_OBJ_QP && d->method == XV_M_CREATE &&
	       d->group == XV_GRP_CAPS && d->id == id;
}

static bool is_left_out(const struct method *method, const struct xv_desc *d)
{
	return method->srq ? is_own_recv(d, XV_CAPS_RECV_SGE) : is_srq(d);
}

/* What makes the queue of the first receives. */
static uint32_t build_queue(fixture *self, uint16_t object)
{
	struct xvt_msg *m = self->m;
	uint32_t op = xvt_op(m, object, XV_M_CREATE);

	xvt_new(m);
	xvt_attr(m, XV_GRP_OBJECT, XV_OBJECT_PD, 4, 0, self->p.pd.obj.handle);
	if (object == XV_OBJ_QP) {
		xvt_attr(m, XV_GRP_OBJECT, XV_OBJECT_SEND_CQ, 4, 0,
			 self->p.cq[0].obj.handle);
		xvt_u32(m, XV_GRP_CAPS, XV_CAPS_SEND_WR, 1);
	}
	xvt_u32(m, XV_GRP_CAPS, XV_CAPS_RECV_WR, 4);
	xvt_out(m, self->out[1], sizeof(struct xv_qp_info));
	return op;
}

/*
 * The valid call of a method, with every attribute. It stands last; other
 * operations go before it where it needs them. Outputs are filled with @fill
 * before, if it is not 0. Returns its index.
 */
static uint32_t build(struct __test_metadata *_metadata,
		      fixture *self, const struct method *method,
		      uint32_t victim, uint8_t fill)
{
	struct xvt_msg *m = self->m;
	bool post = method->m->kind == XV_C_POST;
	uint32_t op, queue = 0;
	unsigned int i;

	ASSERT_TRUE(method->choice || !method->num_choices);
	fresh_token(_metadata, self);
	xvt_begin(m, 0);
	if (post)
		queue = build_queue(self, method->m->object);
	op = xvt_op(m, method->m->object, method->m->method);
	for (i = 0; i < method->num; i++) {
		const struct xv_desc *d = method->attr[i];
		uint64_t v;

		if (method->group[i]->flags & XV_DESC_F_ONE_OF &&
		    d->group != method->choice)
			continue;
		if (is_left_out(method, d))
			continue;
		switch (d->kind) {
		case XV_K_NEW:
			xvt_attr(m, d->group, d->id, 4, 0, 0);
			break;
		case XV_K_DESTROY:
			xvt_attr(m, d->group, d->id, 4, 0, victim);
			break;
		case XV_K_READ:
		case XV_K_WRITE:
			if (post)
				xvt_ref(m, d->group, d->id, queue);
			else
				xvt_attr(m, d->group, d->id, 4, 0,
					 handle_for(self, d));
			break;
		case XV_K_IN:
			if (d->id == XV_PARAMS_PRIVATE_DATA) {
				/* As much as fits everywhere. */
				xvt_attr(m, d->group, d->id, XV_PRIVATE_REQUEST,
					 0, (uintptr_t)self->from);
			} else if (d->step) {
				ASSERT_EQ(XV_PARAMS_RECVS, d->id);
				xvt_attr(m, d->group, d->id,
					 sizeof(self->recv), 0,
					 (uintptr_t)&self->recv);
			} else {
				xvt_attr(m, d->group, d->id, d->max, 0,
					 (uintptr_t)input_for(self, d));
			}
			break;
		case XV_K_OUT:
			if (fill)
				memset(self->out[0], fill,
				       sizeof(self->out[0]));
			xvt_attr(m, d->group, d->id, sizeof(self->out[0]), 0,
				 (uintptr_t)self->out[0]);
			break;
		default:
			v = method->srq && is_own_recv(d, XV_CAPS_RECV_WR) ?
			    0 : number_for(self, d);
			ASSERT_NE(~0ULL, v) {
				TH_LOG("no valid value known for %s",
				       d->name);
			}
			xvt_attr(m, d->group, d->id,
				 d->kind == XV_K_U64 ? 8 : 4, 0, v);
		}
	}
	return op;
}

/* A queue pair that operations change or connect: back to INIT. */
static void reset(struct __test_metadata *_metadata, fixture *self,
		  struct xv_qp *qp)
{
	struct xv_qp_attr a = { .size = sizeof(a), .state = XV_QPS_RESET };
	struct xv_tx *now = xv_now(self->t.ctx);

	EXPECT_EQ(0, xv_qp_modify(now, qp, &a));
	a.state = XV_QPS_INIT;
	EXPECT_EQ(0, xv_qp_modify(now, qp, &a));
}

/* Something that may be destroyed, with nothing that depends on it. */
static uint32_t make_victim(struct __test_metadata *_metadata,
			    fixture *self, uint16_t type)
{
	struct xvt_msg *m = self->m;

	/* The last one may have left it in ERR. */
	if (type == XV_OBJ_CONN)
		reset(_metadata, self, &self->p.qp[1]);
	xvt_begin(m, 0);
	xvt_op(m, type, XV_M_CREATE);
	xvt_new(m);
	switch (type) {
	case XV_OBJ_MR:
		xvt_attr(m, XV_GRP_OBJECT, XV_OBJECT_PD, 4, 0,
			 self->p.pd.obj.handle);
		xvt_u64(m, XV_GRP_PARAMS, XV_PARAMS_ADDR,
			(uintptr_t)self->p.buf);
		xvt_u64(m, XV_GRP_PARAMS, XV_PARAMS_LENGTH, 8);
		break;
	case XV_OBJ_AH:
		xvt_attr(m, XV_GRP_OBJECT, XV_OBJECT_PD, 4, 0,
			 self->p.pd.obj.handle);
		xvt_attr(m, XV_GRP_ADDRESS, XV_ADDRESS_GID, 16, 0,
			 (uintptr_t)self->gid);
		xvt_u32(m, XV_GRP_PATH, XV_PATH_SGID_INDEX, self->t.gid_index);
		break;
	case XV_OBJ_SRQ:
		xvt_attr(m, XV_GRP_OBJECT, XV_OBJECT_PD, 4, 0,
			 self->p.pd.obj.handle);
		xvt_u32(m, XV_GRP_CAPS, XV_CAPS_RECV_WR, 4);
		xvt_out(m, self->out[1], sizeof(struct xv_srq_info));
		break;
	case XV_OBJ_LISTENER:
		xvt_attr(m, XV_GRP_EVENTS, XV_EVENTS_QUEUE, 4, 0,
			 self->eq.fd);
		xvt_attr(m, XV_GRP_ADDRESS, XV_ADDRESS_SRC, XV_ADDR_BYTES, 0,
			 (uintptr_t)self->src);
		break;
	case XV_OBJ_CONN:
		xvt_attr(m, XV_GRP_OBJECT, XV_OBJECT_QP, 4, 0,
			 self->p.qp[1].obj.handle);
		xvt_attr(m, XV_GRP_EVENTS, XV_EVENTS_QUEUE, 4, 0,
			 self->eq.fd);
		xvt_attr(m, XV_GRP_ADDRESS, XV_ADDRESS_DST, XV_ADDR_BYTES, 0,
			 (uintptr_t)self->dst);
		break;
	case XV_OBJ_MCAST:
		xvt_attr(m, XV_GRP_OBJECT, XV_OBJECT_QP, 4, 0,
			 self->ud.obj.handle);
		xvt_attr(m, XV_GRP_ADDRESS, XV_ADDRESS_GID, 16, 0,
			 (uintptr_t)self->group);
		xvt_u32(m, XV_GRP_PATH, XV_PATH_SGID_INDEX, self->t.gid_index);
		break;
	case XV_OBJ_SUBSCRIPTION:
		xvt_attr(m, XV_GRP_EVENTS, XV_EVENTS_QUEUE, 4, 0, self->eq.fd);
		break;
	case XV_OBJ_CQ:
		xvt_u32(m, XV_GRP_CAPS, XV_CAPS_CQE, 4);
		xvt_out(m, self->out[1], sizeof(struct xv_cq_info));
		break;
	case XV_OBJ_QP:
		xvt_attr(m, XV_GRP_OBJECT, XV_OBJECT_PD, 4, 0,
			 self->p.pd.obj.handle);
		xvt_attr(m, XV_GRP_OBJECT, XV_OBJECT_SEND_CQ, 4, 0,
			 self->p.cq[1].obj.handle);
		xvt_u32(m, XV_GRP_CAPS, XV_CAPS_SEND_WR, 1);
		xvt_u32(m, XV_GRP_CAPS, XV_CAPS_RECV_WR, 0);
		xvt_out(m, self->out[1], sizeof(struct xv_qp_info));
		break;
	}
	EXPECT_EQ(0, xvt_run(m, self->t.fd)) {
		TH_LOG("victim of type %u: reason %u", type, m->err.reason);
	}
	return xvt_made(m, 0);
}

static void destroy(struct __test_metadata *_metadata,
		    fixture *self, uint16_t type,
		    uint32_t handle)
{
	if (type == XV_OBJ_EVENTQ) {
		EXPECT_EQ(0, close(handle));
		return;
	}
	xvt_begin(self->m, 0);
	xvt_op(self->m, type, XV_M_DESTROY);
	xvt_handle(self->m, handle);
	EXPECT_EQ(0, xvt_run(self->m, self->t.fd));
	/* Whichever had the connection. */
	if (type == XV_OBJ_CONN) {
		reset(_metadata, self, &self->p.qp[0]);
		reset(_metadata, self, &self->p.qp[1]);
	}
}

/* Undo what a successful call did. */
static void take_back(struct __test_metadata *_metadata,
		      fixture *self, const struct method *method,
		      uint32_t op)
{
	switch (method->m->kind) {
	case XV_C_CREATE:
		destroy(_metadata, self, method->m->object,
			xvt_made(self->m, op));
		break;
	case XV_C_POST:
		destroy(_metadata, self, method->m->object,
			xvt_made(self->m, 0));
		break;
	case XV_C_MODIFY:
		if (method->m->object == XV_OBJ_QP)
			reset(_metadata, self, &self->p.qp[0]);
		break;
	}
}

struct try {
	const struct method *method;
	const struct xv_desc *d;
	const struct xv_desc *group;
	uint32_t victim;
	uint32_t op;
	struct xv_attr *a;
	struct xvt_snap before;
	char name[128];
	unsigned int num;
};

static void begin_try(struct __test_metadata *_metadata,
		      fixture *self, struct try *t)
{
	t->op = build(_metadata, self, t->method, t->victim, 0);
	t->a = xvt_get(self->m, t->op, t->d->group, t->d->id);
	ASSERT_NE(NULL, t->a);
}

static void end_try(struct __test_metadata *_metadata,
		    fixture *self, struct try *t,
		    const char *what, int err, uint16_t reason)
{
	char name[192];

	snprintf(name, sizeof(name), "%s: %s", t->name, what);
	xvt_run(self->m, self->t.fd);
	xvt_failed(_metadata, name, self->m->ret, &self->m->err, err, t->op,
		   t->d->group, t->d->id, reason);
	/* Where that is slow, once for an attribute has to do. */
	if (!xvt_mode("debug"))
		xvt_same(_metadata, &self->t, &t->before, name);
	t->num++;
}

static void try_presence(struct __test_metadata *_metadata,
			 fixture *self, struct try *t)
{
	struct xvt_msg *m = self->m;

	if (t->d->flags & XV_DESC_F_REQUIRED) {
		begin_try(_metadata, self, t);
		memmove(t->a, t->a + 1, m->raw + m->len - (uint8_t *)(t->a + 1));
		m->len -= sizeof(*t->a);
		xvt_cur(m)->num_attrs--;
		/* Alone in a group that is not required it may be absent. */
		if (t->group->flags & XV_DESC_F_REQUIRED ||
		    t->d->group == XV_GRP_EVENTS ||
		    t->d->group == XV_GRP_ADDRESS)
			end_try(_metadata, self, t, "missing", EINVAL,
				XV_R_MISSING);
	}
	begin_try(_metadata, self, t);
	xvt_attr(m, t->a->group, t->a->id, t->a->len, t->a->flags, t->a->data);
	end_try(_metadata, self, t, "duplicate", EINVAL, XV_R_DUPLICATE);
	begin_try(_metadata, self, t);
	t->a->flags |= 1 << 5;
	end_try(_metadata, self, t, "flags", EINVAL, XV_R_FLAGS);
}

static void try_handle(struct __test_metadata *_metadata,
		       fixture *self, struct try *t)
{
	static const uint16_t lens[] = { 1, 3, 5, 8, 0xffff };
	bool is_fd = t->d->type == XV_OBJ_EVENTQ;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		begin_try(_metadata, self, t);
		t->a->len = lens[i];
		end_try(_metadata, self, t, "length", EINVAL, XV_R_LENGTH);
	}
	if (t->d->kind == XV_K_NEW) {
		begin_try(_metadata, self, t);
		t->a->data = 1;
		end_try(_metadata, self, t, "not empty", EINVAL, XV_R_RANGE);
		return;
	}
	if (t->method->m->kind == XV_C_POST) {
		/* Always a reference. */
		begin_try(_metadata, self, t);
		t->a->data = 1;
		end_try(_metadata, self, t, "itself", EINVAL, XV_R_REFERENCE);
		begin_try(_metadata, self, t);
		t->a->flags = 0;
		t->a->data = handle_of(self, t->d->type);
		end_try(_metadata, self, t, "old", EINVAL, XV_R_REFERENCE);
		return;
	}
	begin_try(_metadata, self, t);
	t->a->data = 1ULL << 32;
	end_try(_metadata, self, t, "high bits", EINVAL, XV_R_RANGE);
	begin_try(_metadata, self, t);
	t->a->data = 0;
	end_try(_metadata, self, t, "zero", is_fd ? EBADF : ENOENT,
		is_fd ? XV_R_NO_EVENTQ : XV_R_NO_HANDLE);
	begin_try(_metadata, self, t);
	t->a->data = is_fd ? self->other_eq.fd : self->foreign;
	end_try(_metadata, self, t, "of another file", is_fd ? EBADF : ENOENT,
		is_fd ? XV_R_NO_EVENTQ : XV_R_NO_HANDLE);
	if (is_fd)
		return;
	begin_try(_metadata, self, t);
	t->a->data = handle_of(self, t->d->type == XV_OBJ_PD ?
			       XV_OBJ_CQ : XV_OBJ_PD);
	end_try(_metadata, self, t, "another type", EINVAL, XV_R_TYPE);
}

/* Is a value, or all if it is 0, known and not offered? */
static bool is_refused(fixture *self, const struct xv_desc *d, uint64_t value)
{
	unsigned int i;

	for (i = 0; i < self->desc->num_descs; i++) {
		const struct xv_desc *r = xv_describe_line(self->desc, i);

		if (r->what == XV_DESC_REFUSED && r->object == d->object &&
		    r->method == d->method && r->group == d->group &&
		    r->id == d->id && r->max & value)
			return true;
	}
	return false;
}

static void try_number(struct __test_metadata *_metadata,
		       fixture *self, struct try *t)
{
	static const uint16_t lens[] = { 1, 2, 3, 5, 7, 9, 16, 0xffff };
	const struct xv_desc *d = t->d;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		begin_try(_metadata, self, t);
		t->a->len = lens[i];
		end_try(_metadata, self, t, "length", EINVAL, XV_R_LENGTH);
	}
	if (d->kind == XV_K_BITS || d->kind == XV_K_ENUM) {
		for (i = 0; i < 64; i++) {
			if (d->max & (1ULL << i))
				continue;
			begin_try(_metadata, self, t);
			t->a->data = d->kind == XV_K_BITS ? 1ULL << i : i;
			if (is_refused(self, d, 1ULL << i)) {
				end_try(_metadata, self, t, "not offered",
					EOPNOTSUPP, XV_R_NOT_OFFERED);
				continue;
			}
			end_try(_metadata, self, t, "unknown value", EINVAL,
				d->kind == XV_K_BITS ? XV_R_FLAGS : XV_R_RANGE);
		}
		if (d->kind == XV_K_BITS)
			return;
		begin_try(_metadata, self, t);
		t->a->data = 64;
		end_try(_metadata, self, t, "large value", EINVAL, XV_R_RANGE);
		begin_try(_metadata, self, t);
		t->a->data = 1ULL << 32 | 1;
		end_try(_metadata, self, t, "high bits", EINVAL, XV_R_RANGE);
		return;
	}
	if (d->min) {
		begin_try(_metadata, self, t);
		t->a->data = d->min - 1;
		end_try(_metadata, self, t, "too small", EINVAL, XV_R_RANGE);
		EXPECT_EQ(d->min, self->m->err.detail);
	}
	if (d->max != ~0ULL) {
		begin_try(_metadata, self, t);
		t->a->data = d->max + 1;
		end_try(_metadata, self, t, "too large", EINVAL, XV_R_RANGE);
		EXPECT_EQ(d->max, self->m->err.detail);
		begin_try(_metadata, self, t);
		t->a->data |= 1ULL << 63;
		end_try(_metadata, self, t, "high bits", EINVAL, XV_R_RANGE);
	}
}

static void try_input(struct __test_metadata *_metadata,
		      fixture *self, struct try *t)
{
	const struct xv_desc *d = t->d;

	begin_try(_metadata, self, t);
	t->a->len = d->min - 1;
	end_try(_metadata, self, t, "too short", EINVAL, XV_R_LENGTH);
	begin_try(_metadata, self, t);
	t->a->len = 0;
	end_try(_metadata, self, t, "empty", EINVAL, XV_R_LENGTH);
	begin_try(_metadata, self, t);
	t->a->data = 8;
	end_try(_metadata, self, t, "unmapped", EFAULT, XV_R_USER_MEMORY);
	if (d->step > 1) {
		begin_try(_metadata, self, t);
		t->a->len = d->step + 1;
		end_try(_metadata, self, t, "not whole", EINVAL, XV_R_LENGTH);
	}
	if (d->step) {
		begin_try(_metadata, self, t);
		t->a->len = 0xffff;
		end_try(_metadata, self, t, "too long", EINVAL, XV_R_LENGTH);
		return;
	}
	input_for(self, d)[d->max] = 1;
	begin_try(_metadata, self, t);
	t->a->len = d->max + 1;
	end_try(_metadata, self, t, "tail", EINVAL, XV_R_TAIL);
	input_for(self, d)[d->max] = 0;
	begin_try(_metadata, self, t);
	t->a->len = d->max + 1;
	EXPECT_EQ(0, xvt_run(self->m, self->t.fd)) {
		TH_LOG("%s: zero tail: reason %u", t->name, self->m->err.reason);
	}
	if (!self->m->ret)
		take_back(_metadata, self, t->method, t->op);
	t->num++;
}

static void try_output(struct __test_metadata *_metadata,
		       fixture *self, struct try *t)
{
	uint64_t bad[] = { 8, ~0ULL, 0xffff888000000000ULL };
	bool query = t->method->m->kind == XV_C_QUERY;
	unsigned int needed = 0, i, raw = 0;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		begin_try(_metadata, self, t);
		t->a->data = bad[i];
		end_try(_metadata, self, t, "unmapped", EFAULT,
			XV_R_USER_MEMORY);
	}
	/* What was there before is written over, and nothing behind it. */
	for (i = 0; i < 2; i++) {
		uint8_t fill = i ? 0x55 : 0xAA;
		unsigned int k;

		t->op = build(_metadata, self, t->method, t->victim, fill);
		t->a = xvt_get(self->m, t->op, t->d->group, t->d->id);
		ASSERT_EQ(0, xvt_run(self->m, self->t.fd)) {
			TH_LOG("%s: reason %u", t->name, self->m->err.reason);
		}
		needed = t->a->len;
		if (t->d->max)
			EXPECT_EQ(t->d->max, needed);
		for (k = needed; k < sizeof(self->out[0]); k++)
			if (self->out[0][k] != fill)
				break;
		EXPECT_EQ(sizeof(self->out[0]), k) {
			TH_LOG("%s: written beyond its end", t->name);
		}
		take_back(_metadata, self, t->method, t->op);
		if (!i)
			memcpy(self->out[1], self->out[0], needed);
	}
	for (i = 0; i < needed; i++) {
		raw += self->out[0][i] == 0x55 && self->out[1][i] == 0xAA;
		if (query && self->out[0][i] != self->out[1][i])
			raw++;
	}
	EXPECT_EQ(0, raw) {
		TH_LOG("%s: %u bytes are not written", t->name, raw);
	}
	t->num++;
}

static void try_attr(struct __test_metadata *_metadata,
		     fixture *self, struct try *t)
{
	snprintf(t->name, sizeof(t->name), "%s, group %s, attribute %s",
		 t->method->m->name, t->group->name, t->d->name);
	xvt_snap(_metadata, &self->t, &t->before);
	try_presence(_metadata, self, t);
	if (is_handle(t->d))
		try_handle(_metadata, self, t);
	else if (t->d->kind == XV_K_IN)
		try_input(_metadata, self, t);
	else if (t->d->kind == XV_K_OUT)
		try_output(_metadata, self, t);
	else
		try_number(_metadata, self, t);
	xvt_same(_metadata, &self->t, &t->before, t->name);
}

/* The valid call, with all its attributes, is one. */
static void try_valid(struct __test_metadata *_metadata,
		      fixture *self, const struct method *method)
{
	uint32_t victim = 0, op;
	struct xvt_snap before;

	xvt_snap(_metadata, &self->t, &before);
	if (method->m->kind == XV_C_DESTROY)
		victim = make_victim(_metadata, self, method->m->object);
	op = build(_metadata, self, method, victim, 0);
	if (method->m->object == XV_OBJ_CQ && method->m->kind == XV_C_MODIFY) {
		/* rxe has no moderation. */
		xvt_run(self->m, self->t.fd);
		xvt_failed(_metadata, method->m->name, self->m->ret,
			   &self->m->err, EOPNOTSUPP, op, 0, 0,
			   XV_R_CAPABILITY);
		return;
	}
	ASSERT_EQ(0, xvt_run(self->m, self->t.fd)) {
		TH_LOG("%u.%s: op %u group %u attr %u reason %u raw %d",
		       method->m->object, method->m->name, self->m->err.op,
		       self->m->err.group, self->m->err.attr,
		       self->m->err.reason, self->m->err.raw);
	}
	take_back(_metadata, self, method, op);
	xvt_same(_metadata, &self->t, &before, method->m->name);
}

TEST_F(describe, every_attribute_of_every_method)
{
	unsigned int i = 0, k, methods = 0, reached = 0, described = 0;
	unsigned int tries = 0;

	for (k = 0; k < self->desc->num_descs; k++)
		described += xv_describe_line(self->desc, k)->what ==
			     XV_DESC_ATTR;
	while (i < self->desc->num_descs) {
		struct method method;
		struct try t = { .method = &method };

		if (xv_describe_line(self->desc, i)->what != XV_DESC_METHOD) {
			i++;
			continue;
		}
		i = collect(self->desc, i, &method);
		methods++;
		try_valid(_metadata, self, &method);
		if (method.m->kind == XV_C_DESTROY)
			t.victim = make_victim(_metadata, self,
					       method.m->object);
		for (k = 0; k < method.num; k++) {
			t.d = method.attr[k];
			t.group = method.group[k];
			if (t.group->flags & XV_DESC_F_ONE_OF)
				method.choice = t.group->group;
			method.srq = is_srq(t.d);
			try_attr(_metadata, self, &t);
			reached++;
		}
		if (t.victim)
			destroy(_metadata, self, method.m->object, t.victim);
		tries += t.num;
	}
	TH_LOG("%u methods, %u attributes, %u wrong calls", methods, reached,
	       tries);
	EXPECT_EQ(described, reached);
	EXPECT_LE(28, methods);
	EXPECT_LT(4 * reached, tries);
}

/* What is not offered says so, whatever else is wrong with the call. */
TEST_F(describe, what_is_not_offered)
{
	struct xvt_msg *m = self->m;
	unsigned int i, bit, lines = 0, opcodes = 0;

	for (i = 0; i < self->desc->num_descs; i++) {
		const struct xv_desc *d = xv_describe_line(self->desc, i);
		struct xv_desc attr = {};
		unsigned int k;

		if (d->what != XV_DESC_REFUSED)
			continue;
		lines++;
		for (k = 0; k < self->desc->num_descs; k++) {
			const struct xv_desc *a = xv_describe_line(self->desc, k);

			if (a->what == XV_DESC_ATTR && a->object == d->object &&
			    a->method == d->method && a->group == d->group &&
			    a->id == d->id)
				attr = *a;
		}
		for (bit = 0; bit < 64; bit++) {
			if (d->max && !(d->max >> bit & 1))
				continue;
			if (!d->method) {
				struct xv_send s;

				xv_send_prep(&s, bit, 1, 0);
				ASSERT_EQ(0, xv_post_send(&self->p.qp[0], &s, 1));
				xvt_connect(_metadata, &self->t, &self->p.qp[0],
					    &self->p.qp[1]);
				EXPECT_EQ(-EOPNOTSUPP,
					  xv_submit(&self->p.qp[0]));
				EXPECT_EQ(XV_R_NOT_OFFERED,
					  self->p.qp[0].reason);
				xv_unpost(&self->p.qp[0]);
				take_back(_metadata, self, &(struct method){
					  .m = &(struct xv_desc){
					  .object = XV_OBJ_QP,
					  .kind = XV_C_MODIFY } }, 0);
				opcodes++;
				continue;
			}
			xvt_begin(m, 0);
			xvt_op(m, d->object, d->method);
			if (d->group)
				xvt_attr(m, d->group, d->id, 8,
					 XV_ATTR_F_OPTIONAL, d->max ?
					 attr.kind == XV_K_BITS ? 1ULL << bit :
					 bit : 5);
			xvt_run(m, self->t.fd);
			xvt_failed(_metadata, d->name, m->ret, &m->err,
				   EOPNOTSUPP, 0, d->group, d->id,
				   XV_R_NOT_OFFERED);
			if (!d->max)
				break;
		}
	}
	/* On-demand paging, windows, dmabuf, re-registration, resize, ... */
	EXPECT_LE(9, lines);
	EXPECT_EQ(3, opcodes);
}

TEST_F(describe, the_tables)
{
	static const int errnos[] = {
		0, ENOTTY, EFAULT, E2BIG, ENOMEM, EMFILE, EPERM, EACCES,
		EPROTONOSUPPORT, EOPNOTSUPP, EINVAL, ENOENT, EBADF, EBUSY,
		EAGAIN, ETIME, EINTR, ENODEV, EIO, EHOSTUNREACH,
		EADDRINUSE, EADDRNOTAVAIL,
	};
	unsigned int i, k, reasons = 0;

	EXPECT_EQ(XV_ABI_VERSION, self->desc->abi_version);
	EXPECT_EQ(XV_MAX_OPS, self->desc->max_ops);
	EXPECT_EQ(XV_MAX_ATTRS, self->desc->max_attrs);
	EXPECT_EQ(XV_MAX_BYTES, self->desc->max_bytes);
	EXPECT_EQ(XV_MAX_ENTER_QPS, self->desc->max_enter_qps);
	for (i = 0; i < self->desc->num_descs; i++) {
		const struct xv_desc *d = xv_describe_line(self->desc, i);

		EXPECT_EQ(0, d->reserved);
		EXPECT_NE(0, d->name[0]);
		EXPECT_EQ(0, d->name[XV_DESC_NAME - 1]);
		if (d->what != XV_DESC_REASON)
			continue;
		reasons++;
		for (k = 0; k < ARRAY_SIZE(errnos); k++)
			if (d->max == errnos[k])
				break;
		EXPECT_GT(ARRAY_SIZE(errnos), k) {
			TH_LOG("reason %s has errno %llu", d->name,
			       (unsigned long long)d->max);
		}
	}
	EXPECT_LE(XV_R_ATTACHED, reasons);
}

TEST_HARNESS_MAIN
