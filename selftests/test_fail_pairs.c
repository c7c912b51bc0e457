// SPDX-License-Identifier: GPL-2.0
/*
 * Each pair of object types made in one transaction, with its first, second, ...
 * n-th allocation or user copy failing.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Needs a kernel with fault injection. The table says of each type how one is
 * made; the pairs follow from it. Drivers that do not get over a failure of their
 * own would end the test, so whatever has a queue is made on the mock device.
 */
#include <netinet/in.h>
#include "xv_fault.h"
#include "xv_mock.h"

/* Two of each, so that a pair of equal types has its own parents. */
struct parents {
	struct xv_pd pd;
	struct xv_cq cq;
	struct xv_qp qp[2];
	struct xv_qp ud;
	struct xv_eventq eq;
};

FIXTURE(pairs) {
	int fault;		/* of fail-nth */
	int log;		/* the kernel's */
	bool mock;
	struct xvm mm;
	struct xvt rxe;
	struct xvt *t;
	struct parents p;
	struct xvt_msg *m;
	uint8_t *buf;
	uint8_t group[2][16];
	uint8_t out[2][512];
};

typedef FIXTURE_DATA(pairs) fixture;

/* ---- the table ---- */

/**
 * struct line - how an object of a type is made
 * @name: of the type
 * @object: the type
 * @parents: the types that it depends on, each with its attribute; what the
 *	transaction does not make itself is there before
 * @add: further attributes of the operation number @i, beside a partner
 */
struct line {
	const char *name;
	uint16_t object;
	struct {
		uint16_t object;
		uint16_t group;
		uint16_t attr;
	} parents[3];
	void (*add)(fixture *self, unsigned int i, uint16_t partner);
};

static void out(fixture *self, unsigned int i)
{
	xvt_out(self->m, self->out[i], sizeof(self->out[i]));
}

static void peer(fixture *self)
{
	struct xvt_msg *m = self->m;

	if (self->mock) {
		xvt_u32(m, XV_GRP_ADDRESS, XV_ADDRESS_LID, 0x22);
		return;
	}
	xvt_attr(m, XV_GRP_ADDRESS, XV_ADDRESS_GID, 16, 0,
		 (uintptr_t)self->t->gid.gid);
	xvt_u32(m, XV_GRP_PATH, XV_PATH_SGID_INDEX, self->t->gid_index);
}

static void add_mr(fixture *self, unsigned int i, uint16_t partner)
{
	xvt_u64(self->m, XV_GRP_PARAMS, XV_PARAMS_ADDR, (uintptr_t)self->buf);
	xvt_u64(self->m, XV_GRP_PARAMS, XV_PARAMS_LENGTH, XVT_PAGE);
	out(self, i);
}

static void add_cq(fixture *self, unsigned int i, uint16_t partner)
{
	xvt_u32(self->m, XV_GRP_CAPS, XV_CAPS_CQE, 16);
	out(self, i);
}

static void add_srq(fixture *self, unsigned int i, uint16_t partner)
{
	xvt_u32(self->m, XV_GRP_CAPS, XV_CAPS_RECV_WR, 8);
	xvt_u32(self->m, XV_GRP_PARAMS, XV_PARAMS_LIMIT, 4);
	out(self, i);
}

static void add_ah(fixture *self, unsigned int i, uint16_t partner)
{
	peer(self);
	out(self, i);
}

/* As its partner wants it; without one that wants something, connected. */
static void add_qp(fixture *self, unsigned int i, uint16_t partner)
{
	struct xvt_msg *m = self->m;

	xvt_u32(m, XV_GRP_CAPS, XV_CAPS_SEND_WR, 4);
	xvt_u32(m, XV_GRP_CAPS, XV_CAPS_RECV_WR,
		partner == XV_OBJ_SRQ ? 0 : 4);
	if (partner == XV_OBJ_SRQ)
		xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_SRQ, !i);
	if (partner == XV_OBJ_MCAST) {
		xvt_u32(m, XV_GRP_PARAMS, XV_PARAMS_QP_TYPE, XV_QPT_UD);
	} else if (partner != XV_OBJ_CONN) {
		xvt_u32(m, XV_GRP_ADDRESS, XV_ADDRESS_QPN, 0x999);
		xvt_u32(m, XV_GRP_ADDRESS, XV_ADDRESS_PSN, 7);
		peer(self);
	}
	out(self, i);
}

static void add_mcast(fixture *self, unsigned int i, uint16_t partner)
{
	struct xvt_msg *m = self->m;

	xvt_attr(m, XV_GRP_ADDRESS, XV_ADDRESS_GID, 16, 0,
		 (uintptr_t)self->group[i]);
	if (self->mock) {
		xvt_u32(m, XV_GRP_ADDRESS, XV_ADDRESS_LID, 0xc001 + i);
		xvt_u32(m, XV_GRP_PARAMS, XV_PARAMS_JOIN, XV_MCAST_ATTACH);
	} else {
		xvt_u32(m, XV_GRP_PATH, XV_PATH_SGID_INDEX, self->t->gid_index);
	}
	out(self, i);
}

/* An address of the device, any port or one where nobody listens. */
static void addr(fixture *self, uint16_t attr, uint16_t port)
{
	static struct sockaddr_in sin[2];
	struct sockaddr_in *a = &sin[port != 0];

	*a = (struct sockaddr_in){ .sin_family = AF_INET,
				   .sin_port = htons(port) };
	memcpy(&a->sin_addr, self->rxe.gid.gid + 12, 4);
	xvt_attr(self->m, XV_GRP_ADDRESS, attr, sizeof(*a), 0, (uintptr_t)a);
}

static void add_listener(fixture *self, unsigned int i, uint16_t partner)
{
	addr(self, XV_ADDRESS_SRC, 0);
	out(self, i);
}

static void add_conn(fixture *self, unsigned int i, uint16_t partner)
{
	addr(self, XV_ADDRESS_DST, 9);
}

#define PD	{ XV_OBJ_PD, XV_GRP_OBJECT, XV_OBJECT_PD }
#define CQ	{ XV_OBJ_CQ, XV_GRP_OBJECT, XV_OBJECT_SEND_CQ }
#define QP	{ XV_OBJ_QP, XV_GRP_OBJECT, XV_OBJECT_QP }
#define EQ	{ XV_OBJ_EVENTQ, XV_GRP_EVENTS, XV_EVENTS_QUEUE }

static const struct line lines[] = {
	{ .name = "eventq", .object = XV_OBJ_EVENTQ },
	{ .name = "pd", .object = XV_OBJ_PD },
	{ .name = "mr", .object = XV_OBJ_MR, .parents = { PD },
	  .add = add_mr },
	{ .name = "cq", .object = XV_OBJ_CQ, .parents = { EQ },
	  .add = add_cq },
	{ .name = "srq", .object = XV_OBJ_SRQ, .parents = { PD, EQ },
	  .add = add_srq },
	{ .name = "qp", .object = XV_OBJ_QP, .parents = { PD, CQ, EQ },
	  .add = add_qp },
	{ .name = "ah", .object = XV_OBJ_AH, .parents = { PD },
	  .add = add_ah },
	{ .name = "mcast", .object = XV_OBJ_MCAST, .parents = { QP },
	  .add = add_mcast },
	{ .name = "listener", .object = XV_OBJ_LISTENER, .parents = { EQ },
	  .add = add_listener },
	{ .name = "conn", .object = XV_OBJ_CONN, .parents = { QP, EQ },
	  .add = add_conn },
	{ .name = "subscription", .object = XV_OBJ_SUBSCRIPTION,
	  .parents = { EQ } },
};

static bool has_queue(const struct line *l)
{
	return l->object == XV_OBJ_CQ || l->object == XV_OBJ_SRQ ||
	       l->object == XV_OBJ_QP;
}

/* The parent that was there before. */
static uint32_t parent(fixture *self, const struct line *l, unsigned int i,
		       uint16_t object)
{
	switch (object) {
	case XV_OBJ_PD:
		return self->p.pd.obj.handle;
	case XV_OBJ_CQ:
		return self->p.cq.obj.handle;
	case XV_OBJ_EVENTQ:
		return self->p.eq.fd;
	default:
		return l->object == XV_OBJ_MCAST ? self->p.ud.obj.handle :
						   self->p.qp[i].obj.handle;
	}
}

static void add_op(fixture *self, const struct line *const *pair,
		   unsigned int i)
{
	const struct line *l = pair[i];
	unsigned int j;

	xvt_op(self->m, l->object, XV_M_CREATE);
	xvt_new(self->m);
	for (j = 0; j < ARRAY_SIZE(l->parents) && l->parents[j].object; j++) {
		uint16_t group = l->parents[j].group;
		uint16_t attr = l->parents[j].attr;

		/* What is made before it may be its parent. */
		if (i && pair[0]->object == l->parents[j].object)
			xvt_ref(self->m, group, attr, 0);
		else
			xvt_u32(self->m, group, attr,
				parent(self, l, i, l->parents[j].object));
	}
	if (l->add)
		l->add(self, i, pair[!i]->object);
}

static int make(fixture *self, const struct line *const *pair)
{
	xvt_begin(self->m, 0);
	add_op(self, pair, 0);
	add_op(self, pair, 1);
	return xvt_run(self->m, self->t->fd);
}

/* Take back what make() has made. */
static int unmake(fixture *self, const struct line *const *pair)
{
	struct xv_tx *now = xv_now(self->t->ctx);
	uint32_t made[2] = { xvt_made(self->m, 0), xvt_made(self->m, 1) };
	unsigned int i;
	int ret = 0;

	xvt_begin(self->m, 0);
	for (i = 0; i < 2; i++) {
		if (pair[i]->object == XV_OBJ_EVENTQ) {
			ret |= close(made[i]);
			continue;
		}
		xvt_op(self->m, pair[i]->object, XV_M_DESTROY);
		xvt_handle(self->m, made[i]);
	}
	if (self->m->txn.num_ops)
		ret |= xvt_run(self->m, self->t->fd);
	/* A connection was begun, and may have ended. */
	for (i = 0; i < 2; i++) {
		struct xv_qp_attr a = { .size = sizeof(a) };

		if (pair[i]->object != XV_OBJ_CONN ||
		    pair[!i]->object == XV_OBJ_QP)
			continue;
		a.state = XV_QPS_RESET;
		ret |= xv_qp_modify(now, &self->p.qp[i], &a);
		a.state = XV_QPS_INIT;
		ret |= xv_qp_modify(now, &self->p.qp[i], &a);
	}
	return ret;
}

/* ---- the fixture ---- */

FIXTURE_SETUP(pairs)
{
	self->p.eq.fd = -1;
	self->mm.eq.fd = -1;
	self->fault = xvf_open();
	/* The setup cannot skip, so each test does. */
	if (self->fault < 0)
		return;
	self->log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ASSERT_LE(0, self->log);
	ASSERT_LE(0, lseek(self->log, 0, SEEK_END));
	self->m = malloc(sizeof(*self->m));
	ASSERT_NE(NULL, self->m);
	self->buf = xvt_map(XVT_PAGE, PROT_READ | PROT_WRITE);
	ASSERT_NE(NULL, self->buf);
	memcpy(self->group[0],
	       (uint8_t[]){ [10] = 0xff, 0xff, 239, 9, 0, 7 }, 16);
	memcpy(self->group[1],
	       (uint8_t[]){ [10] = 0xff, 0xff, 239, 9, 0, 8 }, 16);
	xvt_open(_metadata, &self->rxe);
}

#define NEED_FAULTS()							\
do {									\
	if (self->fault < 0)						\
		SKIP(return, "no fault injection in this kernel");	\
} while (0)

static void make_parents(struct __test_metadata *_metadata, fixture *self,
			 struct xvt *t)
{
	struct parents *p = &self->p;
	struct xv_tx *tx;
	unsigned int i;

	self->t = t;
	ASSERT_EQ(0, xv_txn_begin(t->ctx, 0, &tx));
	xv_eventq_create(tx, &p->eq);
	xv_pd_create(tx, &p->pd);
	xv_cq_create(tx, &p->cq, XV_OPTS(xv_cq_opts, .cqe = 64));
	for (i = 0; i < 3; i++)
		xv_qp_create(tx, i < 2 ? &p->qp[i] : &p->ud,
			     XV_OPTS(xv_qp_opts, .pd = &p->pd,
				     .type = i < 2 ? XV_QPT_RC : XV_QPT_UD,
				     .send_cq = &p->cq, .send_wr = 2,
				     .recv_wr = 2));
	ASSERT_EQ(0, xv_txn_commit(tx, NULL));
	xv_txn_free(tx);
}

/* Did the module, or the mock of its misuses, say something? */
static void check_log(struct __test_metadata *_metadata, fixture *self)
{
	char line[8192];
	ssize_t n;

	for (;;) {
		n = read(self->log, line, sizeof(line) - 1);
		/* A record was overwritten: go on with the next. */
		if (n < 0 && errno == EPIPE)
			continue;
		if (n <= 0)
			break;
		line[n] = 0;
		EXPECT_EQ(NULL, strstr(line, "xverbs: ")) {
			TH_LOG("%s", line);
		}
		EXPECT_EQ(NULL, strstr(line, "misuse: ")) {
			TH_LOG("%s", line);
		}
	}
}

FIXTURE_TEARDOWN(pairs)
{
	xvt_teardown(_metadata);
	if (self->fault < 0)
		return;
	xvf_arm(_metadata, self->fault, 0);
	check_log(_metadata, self);
	if (self->p.eq.open)
		xv_eventq_close(&self->p.eq);
	if (self->mock)
		xvm_teardown(_metadata, &self->mm);
	xvt_close(&self->rxe);
	munmap(self->buf, XVT_PAGE);
	free(self->m);
	close(self->log);
	close(self->fault);
}

/* ---- one pair ---- */

/* What the mock has, in one number that changes with each kind. */
static long hardware(fixture *self)
{
	unsigned int i;
	long sum = 0;

	for (i = 0; self->mock && i < ARRAY_SIZE(xvm_kinds); i++)
		sum = sum * 100 + xvm_get("objects", xvm_kinds[i]);
	return sum;
}

/* The errno, and a record that fits it if one could be written. */
static void check_failure(struct __test_metadata *_metadata, fixture *self,
			  const struct line *const *pair, const char *what,
			  int ret)
{
	const struct xv_error *e = &self->m->err;
	struct xv_error untouched;
	unsigned int i;

	memset(&untouched, 0xAA, sizeof(untouched));
	EXPECT_TRUE(xvf_in_contract(ret)) {
		TH_LOG("%s: %d, reason %u", what, ret, e->reason);
	}
	/* What failed may have been the memory of the call, or its header. */
	if (memcmp(e, &untouched, sizeof(*e))) {
		EXPECT_TRUE(e->err == -ret && e->reason &&
			    (e->op < 2 || e->op == XV_NO_OP)) {
			TH_LOG("%s: %d, record %d op %d reason %u", what, ret,
			       e->err, (int)e->op, e->reason);
		}
	} else {
		EXPECT_TRUE(ret == -ENOMEM || ret == -EFAULT) {
			TH_LOG("%s: %d without a record", what, ret);
		}
	}
	/* Handles that were told are none. */
	for (i = 0; i < 2; i++) {
		uint32_t handle = xvt_made(self->m, i);
		static struct xvt_msg m;

		if (!handle || pair[i]->object == XV_OBJ_EVENTQ)
			continue;
		xvt_begin(&m, 0);
		xvt_op(&m, pair[i]->object, XV_M_DESTROY);
		xvt_handle(&m, handle);
		EXPECT_EQ(-ENOENT, xvt_run(&m, self->t->fd)) {
			TH_LOG("%s: %s %u is there", what, pair[i]->name,
			       handle);
		}
	}
}

/* Whether the next call would stop inside a driver that does not stand it. */
static bool at_driver(fixture *self, const struct line *const *pair, int ret)
{
	return !self->mock && ret && self->m->err.raw &&
	       (has_queue(pair[0]) || has_queue(pair[1]));
}

/* Returns how many failed. */
static unsigned int sweep(struct __test_metadata *_metadata, fixture *self,
			  const struct line *a, const struct line *b)
{
	const struct line *const pair[2] = { a, b };
	unsigned int max = xvt_count(FAIL_NTH_MAX);
	unsigned int n, failed = 0;
	struct xvt_snap before;
	long hw;
	bool met = true;

	ASSERT_EQ(0, make(self, pair)) {
		TH_LOG("%s and %s: op %u group %u attr %u reason %u raw %d",
		       a->name, b->name, self->m->err.op, self->m->err.group,
		       self->m->err.attr, self->m->err.reason,
		       self->m->err.raw);
	}
	ASSERT_EQ(0, unmake(self, pair));
	xvt_snap(_metadata, self->t, &before);
	hw = hardware(self);
	for (n = 1; n < max && met; n++) {
		char what[64];
		int ret;

		snprintf(what, sizeof(what), "%s and %s, fault %u", a->name,
			 b->name, n);
		xvf_arm(_metadata, self->fault, n);
		ret = make(self, pair);
		met = xvf_disarm(_metadata, self->fault);
		if (ret) {
			failed++;
			EXPECT_TRUE(met) {
				TH_LOG("%s: %d without a fault", what, ret);
			}
			check_failure(_metadata, self, pair, what, ret);
		} else {
			EXPECT_EQ(0, unmake(self, pair)) {
				TH_LOG("%s: destroy %d reason %u", what,
				       self->m->ret, self->m->err.reason);
			}
		}
		xvt_same(_metadata, self->t, &before, what);
		EXPECT_EQ(hw, hardware(self)) {
			TH_LOG("%s: objects of the driver", what);
		}
		if (at_driver(self, pair, ret))
			break;
	}
	EXPECT_GT(max, n);
	EXPECT_LT(0, failed);
	/* It works as if nothing had been. */
	EXPECT_EQ(0, make(self, pair));
	EXPECT_EQ(0, unmake(self, pair));
	return failed;
}

/* Is it this pair's turn? In the long run each is; else it depends on the seed. */
static bool turn(unsigned int number)
{
	const char *seed = getenv("XV_SEED");
	unsigned int step = xvt_count(FAIL_PAIRS_STEP);

	return number % step == (seed ? strtoul(seed, NULL, 10) : 1) % step;
}

/* Every pair that has at least one queue, on a driver that stands failures. */
TEST_F(pairs, with_queues)
{
	unsigned int i, j, num = 0, failed = 0;

	NEED_FAULTS();
	xvm_setup(_metadata, &self->mm);
	self->mock = true;
	make_parents(_metadata, self, &self->mm.t);
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		for (j = i; j < ARRAY_SIZE(lines); j++) {
			if (!has_queue(&lines[i]) && !has_queue(&lines[j]))
				continue;
			/* The mock has no connection manager to listen with. */
			if (lines[i].object == XV_OBJ_LISTENER ||
			    lines[j].object == XV_OBJ_LISTENER)
				continue;
			if (turn(num++))
				failed += sweep(_metadata, self, &lines[i],
						&lines[j]);
		}
	}
	TH_LOG("%u pairs, of which each %uth, %u faults", num,
	       xvt_count(FAIL_PAIRS_STEP), failed);
	EXPECT_EQ(27, num);
}

/*
 * All others; and a listener with a queue, up to the driver's own memory, whose
 * lack rxe reports with a trace.
 */
TEST_F(pairs, without_queues)
{
	unsigned int i, j, num = 0, failed = 0;

	NEED_FAULTS();
	make_parents(_metadata, self, &self->rxe);
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		for (j = i; j < ARRAY_SIZE(lines); j++) {
			const struct line *a = &lines[i], *b = &lines[j];

			if (has_queue(a) && b->object != XV_OBJ_LISTENER)
				continue;
			if (has_queue(b))
				continue;
			if (!turn(num++))
				continue;
			/* The listener first: it is what has to be undone. */
			if (has_queue(a))
				failed += sweep(_metadata, self, b, a);
			else
				failed += sweep(_metadata, self, a, b);
		}
	}
	TH_LOG("%u pairs, of which each %uth, %u faults", num,
	       xvt_count(FAIL_PAIRS_STEP), failed);
	EXPECT_EQ(39, num);
}

TEST_HARNESS_MAIN
