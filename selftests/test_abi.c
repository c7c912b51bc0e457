// SPDX-License-Identifier: GPL-2.0
/*
 * The contract of the wire: what is wrong with a message is said exactly, and a
 * wrong message changes nothing.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include "xv_test.h"

FIXTURE(abi) {
	struct xvt t;
	struct xvt_snap before;
	struct xvt_msg *m;
	struct xv_cq_info info;
};

FIXTURE_SETUP(abi)
{
	xvt_open(_metadata, &self->t);
	self->m = malloc(sizeof(*self->m));
	ASSERT_NE(NULL, self->m);
	xvt_snap(_metadata, &self->t, &self->before);
}

FIXTURE_TEARDOWN(abi)
{
	xvt_teardown(_metadata);
	xvt_same(_metadata, &self->t, &self->before, "at the end");
	free(self->m);
	xvt_close(&self->t);
}

/* A message that would succeed, were it not for what a test does to it. */
static void good(struct xvt_msg *m, struct xv_cq_info *info)
{
	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_CQ, XV_M_CREATE);
	xvt_new(m);
	xvt_u32(m, XV_GRP_CAPS, XV_CAPS_CQE, 4);
	xvt_out(m, info, sizeof(*info));
}

static int destroy_made(struct xvt_msg *m, int fd, uint32_t op, uint16_t object)
{
	uint32_t handle = xvt_made(m, op);

	xvt_begin(m, 0);
	xvt_op(m, object, XV_M_DESTROY);
	xvt_handle(m, handle);
	return xvt_run(m, fd);
}

#define EXPECT_FAIL(what, e, o, g, a, r)				\
do {									\
	xvt_run(self->m, self->t.fd);					\
	xvt_failed(_metadata, what, self->m->ret, &self->m->err,	\
		   e, o, g, a, r);					\
} while (0)

TEST_F(abi, no_such_ioctl)
{
	static const unsigned long cmds[] = {
		0, _IO(XV_IOC_MAGIC, 1), _IOWR(XV_IOC_MAGIC, 0, struct xv_txn),
		_IOWR(XV_IOC_MAGIC, 3, struct xv_txn),
		_IOWR(XV_IOC_MAGIC, 1, struct xv_enter),
		_IOWR(XV_IOC_MAGIC + 1, 1, struct xv_txn), ~0UL, 0x5401,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		EXPECT_EQ(-1, ioctl(self->t.fd, cmds[i], &self->m->txn));
		EXPECT_EQ(ENOTTY, errno) {
			TH_LOG("%lx", cmds[i]);
		}
	}
}

TEST_F(abi, the_good_one_is_good)
{
	good(self->m, &self->info);
	ASSERT_EQ(0, xvt_run(self->m, self->t.fd));
	/* Without an error there is no record. */
	EXPECT_EQ(0xAAAAAAAA, (uint32_t)self->m->err.err);
	EXPECT_EQ(sizeof(self->info),
		  xvt_get(self->m, 0, XV_GRP_RESULT, XV_RESULT_INFO)->len);
	EXPECT_EQ(0, destroy_made(self->m, self->t.fd, 0, XV_OBJ_CQ));
}

static int run_length(struct xvt_msg *m, int fd, uint32_t length)
{
	m->txn.length = length;
	m->txn.error_ptr = (uintptr_t)&m->err;
	memset(&m->err, 0xAA, sizeof(m->err));
	m->ret = ioctl(fd, XV_IOC_TXN, &m->txn) < 0 ? -errno : 0;
	return m->ret;
}

TEST_F(abi, lengths)
{
	struct xvt_msg *m = self->m;
	uint32_t length, full;

	good(m, &self->info);
	full = m->len;
	for (length = 0; length < sizeof(struct xv_txn); length++) {
		run_length(m, self->t.fd, length);
		xvt_failed(_metadata, "header", m->ret, &m->err, EINVAL,
			   XV_NO_OP, 0, 0, XV_R_LENGTH);
		EXPECT_EQ(sizeof(struct xv_txn), m->err.detail);
	}
	for (; length < full; length++) {
		run_length(m, self->t.fd, length);
		xvt_failed(_metadata, "operation", m->ret, &m->err, EINVAL, 0,
			   0, 0, XV_R_LENGTH);
	}
	/* More than the operations need. */
	run_length(m, self->t.fd, full + 8);
	xvt_failed(_metadata, "behind", m->ret, &m->err, EINVAL, XV_NO_OP, 0, 0,
		   XV_R_LENGTH);
	EXPECT_EQ(full, m->err.detail);
	memset(m->raw + full, 0, sizeof(m->raw) - full);
	run_length(m, self->t.fd, XV_MAX_BYTES);
	EXPECT_EQ(-EINVAL, m->ret);
	run_length(m, self->t.fd, XV_MAX_BYTES + 1);
	xvt_failed(_metadata, "limit", m->ret, &m->err, E2BIG, XV_NO_OP, 0, 0,
		   XV_R_TOO_BIG);
	EXPECT_EQ(XV_MAX_BYTES, m->err.detail);
	run_length(m, self->t.fd, ~0U);
	EXPECT_EQ(-E2BIG, m->ret);
}

TEST_F(abi, header)
{
	struct xvt_msg *m = self->m;
	unsigned int i;

	for (i = 1; i < 32; i++) {
		good(m, &self->info);
		m->txn.flags = 1U << i;
		EXPECT_FAIL("flags", EINVAL, XV_NO_OP, 0, 0, XV_R_FLAGS);
	}
	good(m, &self->info);
	m->txn.reserved = 1;
	EXPECT_FAIL("reserved", EINVAL, XV_NO_OP, 0, 0, XV_R_RESERVED);
	good(m, &self->info);
	m->txn.num_ops = 0;
	EXPECT_FAIL("no operation", EINVAL, XV_NO_OP, 0, 0, XV_R_RANGE);
	EXPECT_EQ(1, m->err.detail);
	m->txn.num_ops = XV_MAX_OPS + 1;
	EXPECT_FAIL("operations", E2BIG, XV_NO_OP, 0, 0, XV_R_TOO_BIG);
	EXPECT_EQ(XV_MAX_OPS, m->err.detail);
	m->txn.num_ops = ~0U;
	EXPECT_FAIL("operations", E2BIG, XV_NO_OP, 0, 0, XV_R_TOO_BIG);
	m->txn.num_ops = 2;
	EXPECT_FAIL("second is absent", EINVAL, 1, 0, 0, XV_R_LENGTH);
}

TEST_F(abi, operations)
{
	static const uint16_t objects[] = { 0, 15, 16, 255, 0xffff };
	static const uint16_t methods[] = { 0, 63, 64, 255, 0xffff };
	struct xvt_msg *m = self->m;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		good(m, &self->info);
		xvt_cur(m)->object = objects[i];
		EXPECT_FAIL("object", EPROTONOSUPPORT, 0, 0, 0,
			    XV_R_UNKNOWN_OBJECT);
	}
	for (i = 0; i < ARRAY_SIZE(methods); i++) {
		good(m, &self->info);
		xvt_cur(m)->method = methods[i];
		EXPECT_FAIL("method", EPROTONOSUPPORT, 0, 0, 0,
			    XV_R_UNKNOWN_METHOD);
	}
	for (i = 0; i < 16; i++) {
		good(m, &self->info);
		xvt_cur(m)->flags = 1U << i;
		EXPECT_FAIL("flags", EINVAL, 0, 0, 0, XV_R_FLAGS);
	}
	for (i = 0; i < 2; i++) {
		good(m, &self->info);
		xvt_cur(m)->reserved[i] = 1U << 31;
		EXPECT_FAIL("reserved", EINVAL, 0, 0, 0, XV_R_RESERVED);
	}
	good(m, &self->info);
	xvt_cur(m)->num_attrs = XV_MAX_ATTRS + 1;
	EXPECT_FAIL("attributes", E2BIG, 0, 0, 0, XV_R_TOO_BIG);
	EXPECT_EQ(XV_MAX_ATTRS, m->err.detail);
	xvt_cur(m)->num_attrs = 0;
	m->len = sizeof(struct xv_txn) + sizeof(struct xv_op);
	EXPECT_FAIL("none", EINVAL, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE,
		    XV_R_MISSING);
}

/* What is optional and unknown is ignored wherever it stands. */
TEST_F(abi, unknown_attributes)
{
	static const struct {
		uint16_t group, id, reason;
	} unknown[] = {
		{ 0, 1, XV_R_UNKNOWN_GROUP },
		{ XV_GRP_PATH, XV_PATH_PORT, XV_R_UNKNOWN_GROUP },
		{ 9, 1, XV_R_UNKNOWN_GROUP },
		{ 0xffff, 1, XV_R_UNKNOWN_GROUP },
		{ XV_GRP_OBJECT, 0, XV_R_UNKNOWN_ATTR },
		{ XV_GRP_OBJECT, XV_OBJECT_PD, XV_R_UNKNOWN_ATTR },
		{ XV_GRP_CAPS, 0xffff, XV_R_UNKNOWN_ATTR },
		{ XV_GRP_RESULT, 2, XV_R_UNKNOWN_ATTR },
	};
	struct xvt_msg *m = self->m;
	unsigned int i, where, optional;

	for (i = 0; i < ARRAY_SIZE(unknown); i++)
		for (where = 0; where < 4; where++)
			for (optional = 0; optional < 2; optional++) {
				uint16_t flag = optional ? XV_ATTR_F_OPTIONAL : 0;
				struct xv_attr x = {
					.group = unknown[i].group,
					.id = unknown[i].id,
					.len = 0xffff, .flags = flag,
					.data = ~0ULL,
				};
				struct xv_attr *a;

				good(m, &self->info);
				xvt_attr(m, 0, 0, 0, 0, 0);
				a = (struct xv_attr *)(xvt_cur(m) + 1);
				memmove(a + where + 1, a + where,
					(3 - where) * sizeof(*a));
				a[where] = x;
				if (!optional) {
					EXPECT_FAIL("unknown", EPROTONOSUPPORT,
						    0, x.group, x.id,
						    unknown[i].reason);
					continue;
				}
				ASSERT_EQ(0, xvt_run(m, self->t.fd));
				/* The answers are in the right places. */
				EXPECT_NE(0, xvt_made(m, 0));
				EXPECT_EQ(4, self->info.cqe);
				EXPECT_EQ(~0ULL, a[where].data);
				EXPECT_EQ(0xffff, a[where].len);
				ASSERT_EQ(0, destroy_made(m, self->t.fd, 0,
							  XV_OBJ_CQ));
			}
	/* Optional does not mean that a known one may be wrong. */
	good(m, &self->info);
	xvt_get(m, 0, XV_GRP_CAPS, XV_CAPS_CQE)->flags = XV_ATTR_F_OPTIONAL;
	xvt_get(m, 0, XV_GRP_CAPS, XV_CAPS_CQE)->data = 0;
	EXPECT_FAIL("known", EINVAL, 0, XV_GRP_CAPS, XV_CAPS_CQE, XV_R_RANGE);
}

TEST_F(abi, flags_of_attributes)
{
	struct xvt_msg *m = self->m;
	unsigned int i;

	for (i = 2; i < 16; i++) {
		good(m, &self->info);
		xvt_get(m, 0, XV_GRP_CAPS, XV_CAPS_CQE)->flags = 1U << i;
		EXPECT_FAIL("unknown", EINVAL, 0, XV_GRP_CAPS, XV_CAPS_CQE,
			    XV_R_FLAGS);
	}
	/* Only handles of others can be references. */
	good(m, &self->info);
	xvt_get(m, 0, XV_GRP_CAPS, XV_CAPS_CQE)->flags = XV_ATTR_F_FROM_OP;
	EXPECT_FAIL("number", EINVAL, 0, XV_GRP_CAPS, XV_CAPS_CQE, XV_R_FLAGS);
	good(m, &self->info);
	xvt_get(m, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE)->flags =
		XV_ATTR_F_FROM_OP;
	EXPECT_FAIL("new", EINVAL, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE,
		    XV_R_FLAGS);
	good(m, &self->info);
	xvt_get(m, 0, XV_GRP_RESULT, XV_RESULT_INFO)->flags = XV_ATTR_F_FROM_OP;
	EXPECT_FAIL("output", EINVAL, 0, XV_GRP_RESULT, XV_RESULT_INFO,
		    XV_R_FLAGS);
	good(m, &self->info);
	xvt_op(m, XV_OBJ_CQ, XV_M_DESTROY);
	xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 0);
	EXPECT_FAIL("destroy", EINVAL, 1, XV_GRP_OBJECT, XV_OBJECT_HANDLE,
		    XV_R_FLAGS);
}

TEST_F(abi, missing_and_duplicate)
{
	struct xvt_msg *m = self->m;
	unsigned int drop, i;
	static const struct {
		uint16_t group, id;
	} attrs[] = {
		{ XV_GRP_OBJECT, XV_OBJECT_HANDLE },
		{ XV_GRP_CAPS, XV_CAPS_CQE },
		{ XV_GRP_RESULT, XV_RESULT_INFO },
	};

	for (drop = 0; drop < ARRAY_SIZE(attrs); drop++) {
		xvt_begin(m, 0);
		xvt_op(m, XV_OBJ_CQ, XV_M_CREATE);
		for (i = 0; i < ARRAY_SIZE(attrs); i++) {
			if (i == drop)
				continue;
			xvt_attr(m, attrs[i].group, attrs[i].id,
				 i == 2 ? sizeof(self->info) : 4, 0,
				 i == 2 ? (uintptr_t)&self->info : i * 4);
		}
		EXPECT_FAIL("missing", EINVAL, 0, attrs[drop].group,
			    attrs[drop].id, XV_R_MISSING);
		/* A group that is there, but not with what it needs. */
		good(m, &self->info);
		*xvt_attr(m, 0, 0, 0, 0, 0) =
			*xvt_get(m, 0, attrs[drop].group, attrs[drop].id);
		EXPECT_FAIL("duplicate", EINVAL, 0, attrs[drop].group,
			    attrs[drop].id, XV_R_DUPLICATE);
	}
	good(m, &self->info);
	xvt_u64(m, XV_GRP_EVENTS, XV_EVENTS_COOKIE, 1);
	EXPECT_FAIL("half a group", EINVAL, 0, XV_GRP_EVENTS, XV_EVENTS_QUEUE,
		    XV_R_MISSING);
	good(m, &self->info);
	xvt_get(m, 0, XV_GRP_CAPS, XV_CAPS_CQE)->id = XV_CAPS_COMP_VECTOR;
	EXPECT_FAIL("half a group", EINVAL, 0, XV_GRP_CAPS, XV_CAPS_CQE,
		    XV_R_MISSING);
}

TEST_F(abi, order_does_not_matter)
{
	struct xvt_msg *m = self->m;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		struct xv_attr *a, x;

		good(m, &self->info);
		a = (struct xv_attr *)(xvt_cur(m) + 1);
		x = a[i];
		a[i] = a[2];
		a[2] = x;
		ASSERT_EQ(0, xvt_run(m, self->t.fd));
		EXPECT_EQ(4, self->info.cqe);
		ASSERT_EQ(0, destroy_made(m, self->t.fd, 0, XV_OBJ_CQ));
	}
}

TEST_F(abi, lengths_of_values)
{
	static const uint16_t ok[] = { 0, 4, 8 };
	struct xvt_msg *m = self->m;
	unsigned int len, i;

	for (len = 0; len < 20; len++) {
		bool legal = len == 0 || len == 4 || len == 8;

		good(m, &self->info);
		xvt_get(m, 0, XV_GRP_CAPS, XV_CAPS_CQE)->len = len;
		if (!legal)
			EXPECT_FAIL("number", EINVAL, 0, XV_GRP_CAPS,
				    XV_CAPS_CQE, XV_R_LENGTH);
		if (len != 0 && len != 4) {
			good(m, &self->info);
			xvt_get(m, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE)->len =
				len;
			EXPECT_FAIL("handle", EINVAL, 0, XV_GRP_OBJECT,
				    XV_OBJECT_HANDLE, XV_R_LENGTH);
		}
	}
	for (i = 0; i < ARRAY_SIZE(ok); i++) {
		good(m, &self->info);
		xvt_get(m, 0, XV_GRP_CAPS, XV_CAPS_CQE)->len = ok[i];
		ASSERT_EQ(0, xvt_run(m, self->t.fd));
		ASSERT_EQ(0, destroy_made(m, self->t.fd, 0, XV_OBJ_CQ));
	}
	/* Numbers and handles are 64 bits on the wire, and all of them count. */
	good(m, &self->info);
	xvt_get(m, 0, XV_GRP_CAPS, XV_CAPS_CQE)->data = 4 | 1ULL << 32;
	EXPECT_FAIL("high bits", EINVAL, 0, XV_GRP_CAPS, XV_CAPS_CQE,
		    XV_R_RANGE);
	good(m, &self->info);
	xvt_get(m, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE)->data = 1;
	EXPECT_FAIL("new", EINVAL, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE,
		    XV_R_RANGE);
	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_CQ, XV_M_DESTROY);
	xvt_attr(m, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 1 | 1ULL << 32);
	EXPECT_FAIL("handle", EINVAL, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE,
		    XV_R_RANGE);
}

/* ---- references ---- */

static void add_qp(struct xvt_msg *m, struct xv_qp_info *info, uint32_t pd,
		   uint32_t cq)
{
	xvt_op(m, XV_OBJ_QP, XV_M_CREATE);
	xvt_new(m);
	xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_PD, pd);
	xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_SEND_CQ, cq);
	xvt_u32(m, XV_GRP_CAPS, XV_CAPS_SEND_WR, 1);
	xvt_u32(m, XV_GRP_CAPS, XV_CAPS_RECV_WR, 1);
	xvt_out(m, info, sizeof(*info));
}

TEST_F(abi, references)
{
	struct xvt_msg *m = self->m;
	struct xv_device_info device;
	struct xv_qp_info info;
	struct {
		const char *what;
		uint32_t pd, cq;
		uint16_t attr, reason;
	} bad[] = {
		{ "itself", 3, 0, XV_OBJECT_PD, XV_R_REFERENCE },
		{ "later", 4, 0, XV_OBJECT_PD, XV_R_REFERENCE },
		{ "absent", 64, 0, XV_OBJECT_PD, XV_R_REFERENCE },
		{ "huge", ~0U, 0, XV_OBJECT_PD, XV_R_REFERENCE },
		{ "no create", 2, 0, XV_OBJECT_PD, XV_R_REFERENCE },
		{ "another type", 0, 0, XV_OBJECT_PD, XV_R_TYPE },
		{ "another type", 1, 1, XV_OBJECT_SEND_CQ, XV_R_TYPE },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		good(m, &self->info);
		xvt_op(m, XV_OBJ_PD, XV_M_CREATE);
		xvt_new(m);
		xvt_op(m, XV_OBJ_DEVICE, XV_M_QUERY);
		xvt_out(m, &device, sizeof(device));
		add_qp(m, &info, bad[i].pd, bad[i].cq);
		xvt_op(m, XV_OBJ_PD, XV_M_CREATE);
		xvt_new(m);
		EXPECT_FAIL(bad[i].what, EINVAL, 3, XV_GRP_OBJECT, bad[i].attr,
			    bad[i].reason);
	}
	/* More than 32 bits. */
	good(m, &self->info);
	xvt_op(m, XV_OBJ_PD, XV_M_CREATE);
	xvt_new(m);
	add_qp(m, &info, 1, 0);
	xvt_get(m, 2, XV_GRP_OBJECT, XV_OBJECT_PD)->data = 1 | 1ULL << 32;
	EXPECT_FAIL("high bits", EINVAL, 2, XV_GRP_OBJECT, XV_OBJECT_PD,
		    XV_R_REFERENCE);
}

/* A new object may be asked in the call that makes it. */
TEST_F(abi, query_of_the_new)
{
	struct xvt_msg *m = self->m;
	struct xv_cq_info info = {};

	good(m, &self->info);
	xvt_op(m, XV_OBJ_CQ, XV_M_QUERY);
	xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 0);
	xvt_out(m, &info, sizeof(info));
	ASSERT_EQ(0, xvt_run(m, self->t.fd));
	EXPECT_EQ(0, memcmp(&info, &self->info, sizeof(info)));
	EXPECT_EQ(0, destroy_made(m, self->t.fd, 0, XV_OBJ_CQ));
}

TEST_F(abi, classes)
{
	struct xvt_msg *m = self->m;
	struct xv_recv recv = {};
	struct xv_qp_info info;
	struct xvt_pair p;
	int i;

	xvt_pair(_metadata, &self->t, &p,
		 &(struct xvt_pair_opts){ .no_connect = true });
	/* A change comes last, and there is one. */
	xvt_begin(m, 0);
	for (i = 0; i < 2; i++) {
		xvt_op(m, XV_OBJ_QP, XV_M_MODIFY);
		xvt_handle(m, p.qp[i].obj.handle);
		xvt_u32(m, XV_GRP_PARAMS, XV_PARAMS_STATE, XV_QPS_ERR);
	}
	EXPECT_FAIL("two changes", EINVAL, 0, 0, 0, XV_R_CLASS);
	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_QP, XV_M_MODIFY);
	xvt_handle(m, p.qp[0].obj.handle);
	xvt_u32(m, XV_GRP_PARAMS, XV_PARAMS_STATE, XV_QPS_ERR);
	xvt_op(m, XV_OBJ_QP, XV_M_QUERY);
	xvt_handle(m, p.qp[1].obj.handle);
	xvt_out(m, &info, sizeof(info));
	EXPECT_FAIL("before a query", EINVAL, 0, 0, 0, XV_R_CLASS);
	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_QP, XV_M_QUERY);
	xvt_handle(m, p.qp[1].obj.handle);
	xvt_out(m, &info, sizeof(info));
	xvt_op(m, XV_OBJ_QP, XV_M_MODIFY);
	xvt_handle(m, p.qp[0].obj.handle);
	xvt_u32(m, XV_GRP_PARAMS, XV_PARAMS_STATE, XV_QPS_ERR);
	EXPECT_EQ(0, xvt_run(m, self->t.fd));
	EXPECT_EQ(XV_QPS_INIT, info.state);
	/* First receives are for a queue pair of the same call. */
	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_QP, XV_M_POST_RECV);
	xvt_handle(m, p.qp[1].obj.handle);
	xvt_attr(m, XV_GRP_PARAMS, XV_PARAMS_RECVS, sizeof(recv), 0,
		 (uintptr_t)&recv);
	EXPECT_FAIL("old queue pair", EINVAL, 0, XV_GRP_OBJECT,
		    XV_OBJECT_HANDLE, XV_R_REFERENCE);
	/* And a change is for one that exists. */
	good(m, &self->info);
	xvt_op(m, XV_OBJ_PD, XV_M_CREATE);
	xvt_new(m);
	add_qp(m, &info, 1, 0);
	xvt_op(m, XV_OBJ_QP, XV_M_MODIFY);
	xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 2);
	xvt_u32(m, XV_GRP_PARAMS, XV_PARAMS_STATE, XV_QPS_ERR);
	EXPECT_FAIL("new queue pair", EINVAL, 3, XV_GRP_OBJECT,
		    XV_OBJECT_HANDLE, XV_R_REFERENCE);
	EXPECT_EQ(0, xvt_pair_destroy(&p));
}

/* ---- buffers ---- */

static void connect_msg(struct xvt_msg *m, struct xvt *t, struct xv_qp *qp,
			const void *gid, uint16_t len)
{
	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_QP, XV_M_CONNECT);
	xvt_handle(m, qp->obj.handle);
	xvt_u32(m, XV_GRP_ADDRESS, XV_ADDRESS_QPN, qp->info.qp_num);
	xvt_u32(m, XV_GRP_ADDRESS, XV_ADDRESS_PSN, 1);
	xvt_attr(m, XV_GRP_ADDRESS, XV_ADDRESS_GID, len, 0, (uintptr_t)gid);
	xvt_u32(m, XV_GRP_PATH, XV_PATH_SGID_INDEX, t->gid_index);
}

TEST_F(abi, tails)
{
	struct xvt_msg *m = self->m;
	uint8_t gid[64] = {};
	struct xvt_pair p;
	unsigned int len;

	xvt_pair(_metadata, &self->t, &p,
		 &(struct xvt_pair_opts){ .no_connect = true });
	memcpy(gid, self->t.gid.gid, 16);
	for (len = 0; len < 16; len++) {
		connect_msg(m, &self->t, &p.qp[0], gid, len);
		EXPECT_FAIL("short", EINVAL, 0, XV_GRP_ADDRESS, XV_ADDRESS_GID,
			    XV_R_LENGTH);
		EXPECT_EQ(16, m->err.detail);
	}
	for (len = 17; len <= sizeof(gid); len++) {
		gid[len - 1] = 1;
		connect_msg(m, &self->t, &p.qp[0], gid, len);
		EXPECT_FAIL("tail", EINVAL, 0, XV_GRP_ADDRESS, XV_ADDRESS_GID,
			    XV_R_TAIL);
		gid[len - 1] = 0;
	}
	/* A newer program whose struct is longer, but zero there. */
	connect_msg(m, &self->t, &p.qp[0], gid, sizeof(gid));
	EXPECT_EQ(0, xvt_run(m, self->t.fd));
	connect_msg(m, &self->t, &p.qp[1], gid, 16);
	EXPECT_EQ(0, xvt_run(m, self->t.fd));
	EXPECT_EQ(0, xvt_pair_destroy(&p));
}

TEST_F(abi, arrays)
{
	static const struct {
		unsigned int len;
		int err;
		uint16_t reason;
	} bad[] = {
		{ 0, EINVAL, XV_R_LENGTH },
		{ 63, EINVAL, XV_R_LENGTH },
		{ 65, EINVAL, XV_R_LENGTH },
		{ 127, EINVAL, XV_R_LENGTH },
		/* deeper than the queue */
		{ 128, EINVAL, XV_R_LENGTH },
		{ 65535, EINVAL, XV_R_LENGTH },
	};
	struct xv_recv *recvs = calloc(1024, sizeof(*recvs));
	struct xvt_msg *m = self->m;
	struct xv_qp_info info;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		good(m, &self->info);
		xvt_op(m, XV_OBJ_PD, XV_M_CREATE);
		xvt_new(m);
		add_qp(m, &info, 1, 0);
		xvt_op(m, XV_OBJ_QP, XV_M_POST_RECV);
		xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 2);
		xvt_attr(m, XV_GRP_PARAMS, XV_PARAMS_RECVS, bad[i].len, 0,
			 (uintptr_t)recvs);
		EXPECT_FAIL("array", bad[i].err, 3, XV_GRP_PARAMS,
			    XV_PARAMS_RECVS, bad[i].reason);
	}
	/* All inputs together count. */
	good(m, &self->info);
	xvt_op(m, XV_OBJ_PD, XV_M_CREATE);
	xvt_new(m);
	add_qp(m, &info, 1, 0);
	for (i = 0; i < 2; i++) {
		xvt_op(m, XV_OBJ_QP, XV_M_POST_RECV);
		xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 2);
		xvt_attr(m, XV_GRP_PARAMS, XV_PARAMS_RECVS, 640 * 64, 0,
			 (uintptr_t)recvs);
	}
	EXPECT_FAIL("all inputs", E2BIG, 4, XV_GRP_PARAMS, XV_PARAMS_RECVS,
		    XV_R_TOO_BIG);
	EXPECT_EQ(XV_MAX_BYTES, m->err.detail);
	free(recvs);
}

/* First receives that cannot be posted undo the queue pair. */
TEST_F(abi, bad_first_receives)
{
	struct xvt_msg *m = self->m;
	struct {
		const char *what;
		struct xv_recv recv;
		int err;
		uint16_t reason;
	} bad[] = {
		{ "reserved", { .reserved = 1 }, EINVAL, XV_R_RESERVED },
		{ "pieces", { .num_sge = 4 }, EINVAL, XV_R_LENGTH },
		{ "no region", { .num_sge = 1, .sge[0].mr = 77777 }, ENOENT,
		  XV_R_NO_HANDLE },
		{ "reference to a CQ",
		  { .num_sge = 1, .sge[0].mr = XV_SGE_FROM_OP }, ENOENT,
		  XV_R_NO_HANDLE },
		{ "reference to nothing",
		  { .num_sge = 1, .sge[0].mr = XV_SGE_FROM_OP | 64 }, ENOENT,
		  XV_R_NO_HANDLE },
		{ "reference to itself",
		  { .num_sge = 1, .sge[0].mr = XV_SGE_FROM_OP | 3 }, ENOENT,
		  XV_R_NO_HANDLE },
	};
	struct xv_qp_info info;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		good(m, &self->info);
		xvt_op(m, XV_OBJ_PD, XV_M_CREATE);
		xvt_new(m);
		add_qp(m, &info, 1, 0);
		xvt_op(m, XV_OBJ_QP, XV_M_POST_RECV);
		xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 2);
		xvt_attr(m, XV_GRP_PARAMS, XV_PARAMS_RECVS, 64, 0,
			 (uintptr_t)&bad[i].recv);
		EXPECT_FAIL(bad[i].what, bad[i].err, 3, XV_GRP_PARAMS,
			    XV_PARAMS_RECVS, bad[i].reason);
	}
}

static int raw_ioctl(int fd, uint64_t arg)
{
	return syscall(SYS_ioctl, fd, XV_IOC_TXN, arg) < 0 ? -errno : 0;
}

TEST_F(abi, messages_that_cannot_be_read)
{
	uint8_t *p = xvt_map(2 * XVT_PAGE, PROT_READ | PROT_WRITE);
	struct xvt_msg *m = self->m;
	uint32_t len, off;

	EXPECT_EQ(-EFAULT, raw_ioctl(self->t.fd, 0));
	EXPECT_EQ(-EFAULT, raw_ioctl(self->t.fd, 8));
	EXPECT_EQ(-EFAULT, raw_ioctl(self->t.fd, ~0ULL));
	EXPECT_EQ(-EFAULT, raw_ioctl(self->t.fd, 0xffff888000000000ULL));
	/* The message runs into a page that is not there. */
	ASSERT_EQ(0, mprotect(p + XVT_PAGE, XVT_PAGE, PROT_NONE));
	good(m, &self->info);
	len = m->len;
	m->txn.length = len;
	m->txn.error_ptr = (uintptr_t)&m->err;
	for (off = 8; off <= len; off += 8) {
		memcpy(p + XVT_PAGE - off, &m->txn, off);
		if (off < len)
			EXPECT_EQ(-EFAULT, raw_ioctl(self->t.fd, (uintptr_t)p +
						     XVT_PAGE - off));
	}
	EXPECT_EQ(0, raw_ioctl(self->t.fd, (uintptr_t)p + XVT_PAGE - len));
	memcpy(&m->txn, p + XVT_PAGE - len, len);
	EXPECT_EQ(0, destroy_made(m, self->t.fd, 0, XV_OBJ_CQ));
	munmap(p, 2 * XVT_PAGE);
}

TEST_F(abi, inputs_that_cannot_be_read)
{
	uint8_t *none = xvt_map(XVT_PAGE, PROT_NONE);
	uint64_t bad[] = {
		8, ~0ULL, 0xffff888000000000ULL, (uintptr_t)none,
		(uintptr_t)none - 8,
	};
	struct xvt_pair p;
	unsigned int i;

	xvt_pair(_metadata, &self->t, &p,
		 &(struct xvt_pair_opts){ .no_connect = true });
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		connect_msg(self->m, &self->t, &p.qp[0],
			    (void *)(uintptr_t)bad[i], 16);
		EXPECT_FAIL("input", EFAULT, 0, XV_GRP_ADDRESS, XV_ADDRESS_GID,
			    XV_R_USER_MEMORY);
	}
	EXPECT_EQ(0, xvt_pair_destroy(&p));
	munmap(none, XVT_PAGE);
}

/* Nobody to tell is no other error. */
TEST_F(abi, record_that_cannot_be_written)
{
	uint8_t *ro = xvt_map(XVT_PAGE, PROT_READ);
	uint64_t bad[] = {
		0, 8, ~0ULL, 0xffff888000000000ULL, (uintptr_t)ro,
	};
	struct xvt_msg *m = self->m;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		good(m, &self->info);
		m->no_record = true;
		m->txn.error_ptr = bad[i];
		xvt_get(m, 0, XV_GRP_CAPS, XV_CAPS_CQE)->data = 0;
		EXPECT_EQ(-EINVAL, xvt_run(m, self->t.fd));
		xvt_get(m, 0, XV_GRP_CAPS, XV_CAPS_CQE)->data = 4;
		EXPECT_EQ(0, xvt_run(m, self->t.fd));
		EXPECT_EQ(0, destroy_made(m, self->t.fd, 0, XV_OBJ_CQ));
	}
	munmap(ro, XVT_PAGE);
}

TEST_F(abi, record_is_complete)
{
	struct xvt_msg *m = self->m;

	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_PD, XV_M_CREATE);
	xvt_new(m);
	xvt_op(m, XV_OBJ_CQ, XV_M_DESTROY);
	xvt_handle(m, 0x12345);
	EXPECT_FAIL("record", ENOENT, 1, XV_GRP_OBJECT, XV_OBJECT_HANDLE,
		    XV_R_NO_HANDLE);
	EXPECT_EQ(0x12345, m->err.handle);
	EXPECT_EQ(0, m->err.raw);
	EXPECT_EQ(0, m->err.detail);
}

/* Short room gets the start, and is told what would have been needed. */
TEST_F(abi, outputs_are_cut)
{
	struct xvt_msg *m = self->m;
	uint8_t buf[sizeof(struct xv_device_info) + 64];
	struct xv_device_info whole;
	unsigned int len, i;

	ASSERT_EQ(0, xv_device_query(xv_now(self->t.ctx), &whole));
	for (len = 0; len <= sizeof(buf); len += 4) {
		unsigned int n = len < sizeof(whole) ? len : sizeof(whole);

		memset(buf, 0xAA, sizeof(buf));
		xvt_begin(m, 0);
		xvt_op(m, XV_OBJ_DEVICE, XV_M_QUERY);
		xvt_out(m, len ? buf : (void *)8, len);
		ASSERT_EQ(0, xvt_run(m, self->t.fd));
		EXPECT_EQ(sizeof(whole), xvt_get(m, 0, XV_GRP_RESULT,
						 XV_RESULT_INFO)->len);
		EXPECT_EQ(0, memcmp(buf, &whole, n));
		for (i = n; i < sizeof(buf) && buf[i] == 0xAA; i++)
			;
		EXPECT_EQ(sizeof(buf), i);
	}
}

TEST_HARNESS_MAIN
