// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The bytes that each typed call puts on the wire.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "fake.h"

static struct xv_ctx *ctx;

static int setup(void **state)
{
	(void)state;
	ctx = fake_open();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_close(ctx);
	return 0;
}

static void check_header(unsigned int ops, unsigned int attrs,
			 unsigned int flags)
{
	const struct xv_txn *txn = (const void *)fake.wire;

	assert_int_equal(txn->length, sizeof(*txn) +
			 ops * sizeof(struct xv_op) +
			 attrs * sizeof(struct xv_attr));
	assert_int_equal(txn->num_ops, ops);
	assert_int_equal(txn->flags, flags);
	assert_int_equal(txn->reserved, 0);
	assert_true(txn->error_ptr != 0);
}

static void device_query(void **state)
{
	struct xv_device_info info;

	(void)state;
	assert_int_equal(xv_device_query(xv_now(ctx), &info), 0);
	check_header(1, 1, 0);
	check_op(0, XV_OBJ_DEVICE, XV_M_QUERY, 1);
	check_attr(0, 0, XV_GRP_RESULT, XV_RESULT_INFO, sizeof(info), 0,
		   (uintptr_t)&info);
	assert_int_equal(info.abi_version, XV_ABI_VERSION);
	assert_int_equal(fake.txns, 1);
	assert_int_equal(xv_num_ioctls(ctx), 1);
}

static void device_query_port(void **state)
{
	struct xv_port_info info;

	(void)state;
	assert_int_equal(xv_device_query_port(xv_now(ctx), 2, &info), 0);
	check_op(0, XV_OBJ_DEVICE, XV_M_QUERY_PORT, 2);
	check_attr(0, 0, XV_GRP_PARAMS, XV_PARAMS_PORT, 4, 0, 2);
	check_attr(0, 1, XV_GRP_RESULT, XV_RESULT_INFO, sizeof(info), 0,
		   (uintptr_t)&info);
}

static void device_query_gid(void **state)
{
	struct xv_gid_info info;

	(void)state;
	assert_int_equal(xv_device_query_gid(xv_now(ctx), 1, 0, &info), 0);
	check_op(0, XV_OBJ_DEVICE, XV_M_QUERY_GID, 3);
	check_attr(0, 0, XV_GRP_PARAMS, XV_PARAMS_PORT, 4, 0, 1);
	check_attr(0, 1, XV_GRP_PARAMS, XV_PARAMS_INDEX, 4, 0, 0);
	check_attr(0, 2, XV_GRP_RESULT, XV_RESULT_INFO, sizeof(info), 0,
		   (uintptr_t)&info);
}

static void device_describe(void **state)
{
	uint8_t buf[4096];

	(void)state;
	fake_make_describe();
	assert_int_equal(xv_device_describe(xv_now(ctx), buf, sizeof(buf)), 0);
	check_op(0, XV_OBJ_DEVICE, XV_M_DESCRIBE, 1);
	check_attr(0, 0, XV_GRP_RESULT, XV_RESULT_INFO, sizeof(buf), 0,
		   (uintptr_t)buf);
}

static void pd_calls(void **state)
{
	struct xv_pd_info info;
	struct xv_pd pd = {};

	(void)state;
	assert_int_equal(xv_pd_create(xv_now(ctx), &pd), 0);
	check_header(1, 1, 0);
	check_op(0, XV_OBJ_PD, XV_M_CREATE, 1);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 0);
	assert_int_equal(pd.obj.handle, 100);

	assert_int_equal(xv_pd_query(xv_now(ctx), &pd, &info), 0);
	check_op(0, XV_OBJ_PD, XV_M_QUERY, 2);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 100);
	check_attr(0, 1, XV_GRP_RESULT, XV_RESULT_INFO, sizeof(info), 0,
		   (uintptr_t)&info);

	assert_int_equal(xv_pd_destroy(xv_now(ctx), &pd), 0);
	check_op(0, XV_OBJ_PD, XV_M_DESTROY, 1);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 100);
	assert_int_equal(pd.obj.handle, 0);
}

static void mr_calls(void **state)
{
	struct xv_mr_info info;
	struct xv_pd pd = {};
	struct xv_mr mr = {};
	char buf[64];

	(void)state;
	assert_int_equal(xv_pd_create(xv_now(ctx), &pd), 0);
	assert_int_equal(xv_mr_create(xv_now(ctx), &mr, XV_OPTS(xv_mr_opts,
			.pd = &pd, .addr = buf, .length = sizeof(buf),
			.access = XV_ACCESS_LOCAL_WRITE)), 0);
	check_op(0, XV_OBJ_MR, XV_M_CREATE, 6);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 0);
	check_attr(0, 1, XV_GRP_OBJECT, XV_OBJECT_PD, 4, 0, 100);
	check_attr(0, 2, XV_GRP_ACCESS, XV_ACCESS_FLAGS, 4, 0,
		   XV_ACCESS_LOCAL_WRITE);
	check_attr(0, 3, XV_GRP_PARAMS, XV_PARAMS_ADDR, 8, 0, (uintptr_t)buf);
	check_attr(0, 4, XV_GRP_PARAMS, XV_PARAMS_LENGTH, 8, 0, sizeof(buf));
	check_attr(0, 5, XV_GRP_RESULT, XV_RESULT_INFO, sizeof(info), 0,
		   (uintptr_t)&mr.info);
	assert_int_equal(mr.obj.handle, 101);
	assert_int_equal(mr.info.rkey, 0x1234);

	assert_int_equal(xv_mr_query(xv_now(ctx), &mr, &info), 0);
	check_op(0, XV_OBJ_MR, XV_M_QUERY, 2);
	assert_int_equal(xv_mr_destroy(xv_now(ctx), &mr), 0);
	check_op(0, XV_OBJ_MR, XV_M_DESTROY, 1);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 101);
}

static void mr_iova(void **state)
{
	struct xv_pd pd = {};
	struct xv_mr mr = {};

	(void)state;
	pd.obj.handle = 7;
	assert_int_equal(xv_mr_create(xv_now(ctx), &mr, XV_OPTS(xv_mr_opts,
			.pd = &pd, .addr = (void *)0x1000, .length = 5,
			.iova = 0x7000)), 0);
	check_op(0, XV_OBJ_MR, XV_M_CREATE, 7);
	check_attr(0, 2, XV_GRP_ACCESS, XV_ACCESS_FLAGS, 4, 0, 0);
	check_attr(0, 5, XV_GRP_PARAMS, XV_PARAMS_IOVA, 8, 0, 0x7000);
}

static void cq_calls(void **state)
{
	struct xv_eventq eq = {};
	struct xv_cq_info info;
	struct xv_cq cq = {};

	(void)state;
	assert_int_equal(xv_cq_create(xv_now(ctx), &cq,
				      XV_OPTS(xv_cq_opts, .cqe = 10)), 0);
	check_op(0, XV_OBJ_CQ, XV_M_CREATE, 3);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 0);
	check_attr(0, 1, XV_GRP_CAPS, XV_CAPS_CQE, 4, 0, 10);
	check_attr(0, 2, XV_GRP_RESULT, XV_RESULT_INFO, sizeof(info), 0,
		   (uintptr_t)&cq.info);
	assert_int_equal(cq.mask, 15);
	assert_ptr_equal(cq.ring, fake.area);
	assert_int_equal(xv_cq_query(xv_now(ctx), &cq, &info), 0);
	check_op(0, XV_OBJ_CQ, XV_M_QUERY, 2);
	assert_int_equal(xv_cq_destroy(xv_now(ctx), &cq), 0);
	check_op(0, XV_OBJ_CQ, XV_M_DESTROY, 1);
	assert_null(cq.ring);

	assert_int_equal(xv_eventq_create(xv_now(ctx), &eq), 0);
	check_op(0, XV_OBJ_EVENTQ, XV_M_CREATE, 1);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 0);
	assert_int_equal(eq.open, 1);
	assert_int_equal(xv_cq_create(xv_now(ctx), &cq, XV_OPTS(xv_cq_opts,
			.cqe = 4, .comp_vector = 3, .eventq = &eq,
			.cookie = 0x123456789abcULL)), 0);
	check_op(0, XV_OBJ_CQ, XV_M_CREATE, 6);
	check_attr(0, 1, XV_GRP_EVENTS, XV_EVENTS_QUEUE, 4, 0, eq.fd);
	check_attr(0, 2, XV_GRP_EVENTS, XV_EVENTS_COOKIE, 8, 0,
		   0x123456789abcULL);
	check_attr(0, 3, XV_GRP_CAPS, XV_CAPS_CQE, 4, 0, 4);
	check_attr(0, 4, XV_GRP_CAPS, XV_CAPS_COMP_VECTOR, 4, 0, 3);
	xv_eventq_close(&eq);
	assert_int_equal(eq.open, 0);
}

static void qp_defaults(void **state)
{
	struct xv_pd pd = {};
	struct xv_cq cq = {};
	struct xv_qp qp = {};

	(void)state;
	pd.obj.handle = 7;
	cq.obj.handle = 8;
	assert_int_equal(xv_qp_create(xv_now(ctx), &qp, XV_OPTS(xv_qp_opts,
			.pd = &pd, .send_cq = &cq, .send_wr = 5)), 0);
	check_op(0, XV_OBJ_QP, XV_M_CREATE, 6);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 0);
	check_attr(0, 1, XV_GRP_OBJECT, XV_OBJECT_PD, 4, 0, 7);
	check_attr(0, 2, XV_GRP_OBJECT, XV_OBJECT_SEND_CQ, 4, 0, 8);
	check_attr(0, 3, XV_GRP_CAPS, XV_CAPS_SEND_WR, 4, 0, 5);
	check_attr(0, 4, XV_GRP_CAPS, XV_CAPS_RECV_WR, 4, 0, 0);
	check_attr(0, 5, XV_GRP_RESULT, XV_RESULT_INFO,
		   sizeof(struct xv_qp_info), 0, (uintptr_t)&qp.info);
	assert_int_equal(qp.send_mask, 7);
	assert_int_equal(qp.send_wr, 5);
	assert_ptr_equal(qp.sends, fake.area + 64);
	assert_ptr_equal(qp.recv_cq, &cq);
}

static void qp_everything(void **state)
{
	struct xv_cq scq = {}, rcq = {};
	struct xv_eventq eq = {};
	struct xv_pd pd = {};
	struct xv_qp qp = {};

	(void)state;
	pd.obj.handle = 7;
	scq.obj.handle = 8;
	rcq.obj.handle = 9;
	eq.fd = 33;
	eq.open = 1;
	assert_int_equal(xv_qp_create(xv_now(ctx), &qp, XV_OPTS(xv_qp_opts,
			.pd = &pd, .send_cq = &scq, .recv_cq = &rcq,
			.eventq = &eq, .cookie = 1, .send_wr = 4, .recv_wr = 3,
			.send_sge = 2, .recv_sge = 3, .sq_sig_all = 1,
			.access = XV_ACCESS_REMOTE_WRITE, .port = 2,
			.pkey_index = 1, .type = XV_QPT_RC)), 0);
	check_op(0, XV_OBJ_QP, XV_M_CREATE, 16);
	check_attr(0, 3, XV_GRP_OBJECT, XV_OBJECT_RECV_CQ, 4, 0, 9);
	check_attr(0, 4, XV_GRP_EVENTS, XV_EVENTS_QUEUE, 4, 0, 33);
	check_attr(0, 5, XV_GRP_EVENTS, XV_EVENTS_COOKIE, 8, 0, 1);
	check_attr(0, 6, XV_GRP_CAPS, XV_CAPS_SEND_WR, 4, 0, 4);
	check_attr(0, 7, XV_GRP_CAPS, XV_CAPS_RECV_WR, 4, 0, 3);
	check_attr(0, 8, XV_GRP_CAPS, XV_CAPS_SEND_SGE, 4, 0, 2);
	check_attr(0, 9, XV_GRP_CAPS, XV_CAPS_RECV_SGE, 4, 0, 3);
	check_attr(0, 10, XV_GRP_ACCESS, XV_ACCESS_FLAGS, 4, 0,
		   XV_ACCESS_REMOTE_WRITE);
	check_attr(0, 11, XV_GRP_PATH, XV_PATH_PORT, 4, 0, 2);
	check_attr(0, 12, XV_GRP_PATH, XV_PATH_PKEY_INDEX, 4, 0, 1);
	check_attr(0, 13, XV_GRP_PARAMS, XV_PARAMS_QP_TYPE, 4, 0, XV_QPT_RC);
	check_attr(0, 14, XV_GRP_PARAMS, XV_PARAMS_SQ_SIG_ALL, 4, 0, 1);
	assert_ptr_equal(qp.recvs, fake.area + 64 + 4 * 128);
	assert_int_equal(qp.recv_mask, 3);
	assert_int_equal(qp.recv_wr, 3);
}

static void qp_connect(void **state)
{
	static const uint8_t gid[16] = { 0xfe, 0x80, [15] = 1 };
	struct xv_qp qp = {};
	const struct xv_attr *a;

	(void)state;
	qp.obj.handle = 40;
	assert_int_equal(xv_qp_connect(xv_now(ctx), &qp, XV_OPTS(xv_qp_attr,
			.qpn = 17, .psn = 0, .path_mtu = 1024,
			.gid = { 0xfe, 0x80, [15] = 1 },
			.zero = XV_ZERO_PATH(XV_PATH_TIMEOUT),
			.state = XV_QPS_RTS)), 0);
	check_op(0, XV_OBJ_QP, XV_M_CONNECT, 6);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 40);
	check_attr(0, 1, XV_GRP_ADDRESS, XV_ADDRESS_QPN, 4, 0, 17);
	a = fake_attr(0, 2);
	assert_int_equal(a->group, XV_GRP_ADDRESS);
	assert_int_equal(a->id, XV_ADDRESS_GID);
	assert_int_equal(a->len, 16);
	assert_memory_not_equal(&a->data, gid, 8);
	check_attr(0, 3, XV_GRP_ADDRESS, XV_ADDRESS_PSN, 4, 0, 0);
	check_attr(0, 4, XV_GRP_PATH, XV_PATH_MTU, 4, 0, 1024);
	check_attr(0, 5, XV_GRP_PATH, XV_PATH_TIMEOUT, 4, 0, 0);
}

static void qp_create_connected(void **state)
{
	struct xv_pd pd = {};
	struct xv_cq cq = {};
	struct xv_qp qp = {};

	(void)state;
	pd.obj.handle = 7;
	cq.obj.handle = 8;
	assert_int_equal(xv_qp_create(xv_now(ctx), &qp, XV_OPTS(xv_qp_opts,
			.pd = &pd, .send_cq = &cq, .send_wr = 5, .port = 9,
			.connect = XV_OPTS(xv_qp_attr, .qpn = 3, .psn = 4,
				.gid = { 1 }, .port = 2, .sgid_index = 1,
				.access = XV_ACCESS_REMOTE_READ))), 0);
	check_op(0, XV_OBJ_QP, XV_M_CREATE, 11);
	check_attr(0, 5, XV_GRP_ADDRESS, XV_ADDRESS_QPN, 4, 0, 3);
	assert_int_equal(fake_attr(0, 6)->id, XV_ADDRESS_GID);
	check_attr(0, 7, XV_GRP_ADDRESS, XV_ADDRESS_PSN, 4, 0, 4);
	check_attr(0, 8, XV_GRP_PATH, XV_PATH_PORT, 4, 0, 2);
	check_attr(0, 9, XV_GRP_PATH, XV_PATH_SGID_INDEX, 4, 0, 1);
}

static void qp_gid_is_copied(void **state)
{
	struct xv_qp_attr attr = { .size = sizeof(attr), .qpn = 3 };
	struct xv_qp qp = {};
	struct xv_tx *tx;
	uint8_t gid[16];

	(void)state;
	qp.obj.handle = 40;
	memset(attr.gid, 0x11, 16);
	memset(gid, 0x11, 16);
	assert_int_equal(xv_txn_begin(ctx, 0, &tx), 0);
	assert_int_equal(xv_qp_connect(tx, &qp, &attr), 0);
	memset(&attr, 0xff, sizeof(attr));
	assert_int_equal(xv_txn_commit(tx, NULL), 0);
	assert_memory_equal((void *)(uintptr_t)fake_attr(0, 2)->data, gid, 16);
	xv_txn_free(tx);
}

static void qp_path_all(void **state)
{
	static const uint32_t want[][2] = {
		{ XV_PATH_PORT, 1 }, { XV_PATH_SGID_INDEX, 2 },
		{ XV_PATH_PKEY_INDEX, 3 }, { XV_PATH_MTU, 256 },
		{ XV_PATH_SL, 4 }, { XV_PATH_TRAFFIC_CLASS, 5 },
		{ XV_PATH_FLOW_LABEL, 6 }, { XV_PATH_HOP_LIMIT, 7 },
		{ XV_PATH_TIMEOUT, 8 }, { XV_PATH_RETRY_CNT, 1 },
		{ XV_PATH_RNR_RETRY, 2 }, { XV_PATH_MIN_RNR_TIMER, 9 },
		{ XV_PATH_RD_ATOMIC, 10 }, { XV_PATH_DEST_RD_ATOMIC, 11 },
		{ XV_PATH_SQ_PSN, 12 }, { XV_PATH_QKEY, 0x80000001 },
	};
	struct xv_qp qp = {};
	unsigned int i;

	(void)state;
	qp.obj.handle = 40;
	assert_int_equal(xv_qp_modify(xv_now(ctx), &qp, XV_OPTS(xv_qp_attr,
			.state = XV_QPS_RTR, .port = 1, .sgid_index = 2,
			.pkey_index = 3, .path_mtu = 256, .sl = 4,
			.traffic_class = 5, .flow_label = 6, .hop_limit = 7,
			.timeout = 8, .retry_cnt = 1, .rnr_retry = 2,
			.min_rnr_timer = 9, .rd_atomic = 10,
			.dest_rd_atomic = 11, .sq_psn = 12,
			.qkey = 0x80000001)), 0);
	check_op(0, XV_OBJ_QP, XV_M_MODIFY, 18);
	for (i = 0; i < 16; i++)
		check_attr(0, 1 + i, XV_GRP_PATH, want[i][0], 4, 0, want[i][1]);
	check_attr(0, 17, XV_GRP_PARAMS, XV_PARAMS_STATE, 4, 0, XV_QPS_RTR);
}

static void qp_zero_fields(void **state)
{
	struct xv_qp qp = {};
	unsigned int i;

	(void)state;
	qp.obj.handle = 40;
	/* Nothing given: only the handle. */
	assert_int_equal(xv_qp_connect(xv_now(ctx), &qp,
				       XV_OPTS(xv_qp_attr)), 0);
	check_op(0, XV_OBJ_QP, XV_M_CONNECT, 1);
	/* Every zero meant. */
	for (i = XV_PATH_PORT; i <= XV_PATH_QKEY; i++) {
		assert_int_equal(xv_qp_connect(xv_now(ctx), &qp,
			XV_OPTS(xv_qp_attr, .zero = XV_ZERO_PATH(i))), 0);
		check_op(0, XV_OBJ_QP, XV_M_CONNECT, 2);
		check_attr(0, 1, XV_GRP_PATH, i, 4, 0, 0);
	}
	assert_int_equal(xv_qp_modify(xv_now(ctx), &qp,
		XV_OPTS(xv_qp_attr, .zero = XV_ZERO_ACCESS)), 0);
	check_op(0, XV_OBJ_QP, XV_M_MODIFY, 2);
	check_attr(0, 1, XV_GRP_ACCESS, XV_ACCESS_FLAGS, 4, 0, 0);
}

static void qp_query_destroy(void **state)
{
	struct xv_qp_info info;
	struct xv_qp qp = {};

	(void)state;
	qp.obj.handle = 40;
	assert_int_equal(xv_qp_query(xv_now(ctx), &qp, &info), 0);
	check_op(0, XV_OBJ_QP, XV_M_QUERY, 2);
	check_attr(0, 1, XV_GRP_RESULT, XV_RESULT_INFO, sizeof(info), 0,
		   (uintptr_t)&info);
	assert_int_equal(xv_qp_destroy(xv_now(ctx), &qp), 0);
	check_op(0, XV_OBJ_QP, XV_M_DESTROY, 1);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 40);
	assert_int_equal(qp.obj.handle, 0);
}

static void qp_types(void **state)
{
	struct xv_pd pd = { .obj.handle = 7 };
	struct xv_cq cq = { .obj.handle = 8 };
	struct xv_qp uc = {}, ud = {};

	(void)state;
	assert_int_equal(xv_qp_create(xv_now(ctx), &uc, XV_OPTS(xv_qp_opts,
			.pd = &pd, .send_cq = &cq, .send_wr = 5,
			.type = XV_QPT_UC)), 0);
	check_op(0, XV_OBJ_QP, XV_M_CREATE, 7);
	check_attr(0, 5, XV_GRP_PARAMS, XV_PARAMS_QP_TYPE, 4, 0, XV_QPT_UC);
	/* No peer, no address; what INIT needs is there. */
	assert_int_equal(xv_qp_create(xv_now(ctx), &ud, XV_OPTS(xv_qp_opts,
			.pd = &pd, .send_cq = &cq, .send_wr = 5,
			.type = XV_QPT_UD, .connect = XV_OPTS(xv_qp_attr,
				.qkey = 0x11111111, .gid = { 1 }))), 0);
	check_op(0, XV_OBJ_QP, XV_M_CREATE, 8);
	check_attr(0, 5, XV_GRP_PATH, XV_PATH_QKEY, 4, 0, 0x11111111);
	check_attr(0, 6, XV_GRP_PARAMS, XV_PARAMS_QP_TYPE, 4, 0, XV_QPT_UD);
	assert_int_equal(xv_qp_connect(xv_now(ctx), &ud,
			XV_OPTS(xv_qp_attr, .qkey = 5)), 0);
	check_op(0, XV_OBJ_QP, XV_M_CONNECT, 2);
	check_attr(0, 1, XV_GRP_PATH, XV_PATH_QKEY, 4, 0, 5);
}

static void ah_from_address(void **state)
{
	static const uint8_t gid[16] = { 0xfe, 0x80, [15] = 1 };
	struct xv_pd pd = { .obj.handle = 7 };
	const struct xv_attr *a;
	struct xv_ah ah = {};

	(void)state;
	assert_int_equal(xv_ah_create(xv_now(ctx), &ah, XV_OPTS(xv_ah_opts,
			.pd = &pd, .gid = { 0xfe, 0x80, [15] = 1 })), 0);
	check_header(1, 4, 0);
	check_op(0, XV_OBJ_AH, XV_M_CREATE, 4);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 0);
	check_attr(0, 1, XV_GRP_OBJECT, XV_OBJECT_PD, 4, 0, 7);
	a = fake_attr(0, 2);
	assert_int_equal(a->group, XV_GRP_ADDRESS);
	assert_int_equal(a->id, XV_ADDRESS_GID);
	assert_int_equal(a->len, 16);
	assert_memory_not_equal(&a->data, gid, 8);
	check_attr(0, 3, XV_GRP_RESULT, XV_RESULT_INFO,
		   sizeof(struct xv_ah_info), 0, (uintptr_t)&ah.info);
	assert_int_equal(ah.obj.handle, 100);
	/* One that lives is not made again. */
	assert_int_equal(xv_ah_create(xv_now(ctx), &ah, XV_OPTS(xv_ah_opts,
			.pd = &pd, .lid = 1)), -EINVAL);

	memset(&ah, 0, sizeof(ah));
	assert_int_equal(xv_ah_create(xv_now(ctx), &ah, XV_OPTS(xv_ah_opts,
			.pd = &pd, .lid = 9, .port = 2, .sgid_index = 3,
			.sl = 4, .traffic_class = 5, .flow_label = 6,
			.hop_limit = 7)), 0);
	check_op(0, XV_OBJ_AH, XV_M_CREATE, 10);
	check_attr(0, 2, XV_GRP_ADDRESS, XV_ADDRESS_LID, 4, 0, 9);
	check_attr(0, 3, XV_GRP_PATH, XV_PATH_PORT, 4, 0, 2);
	check_attr(0, 4, XV_GRP_PATH, XV_PATH_SGID_INDEX, 4, 0, 3);
	check_attr(0, 5, XV_GRP_PATH, XV_PATH_SL, 4, 0, 4);
	check_attr(0, 6, XV_GRP_PATH, XV_PATH_TRAFFIC_CLASS, 4, 0, 5);
	check_attr(0, 7, XV_GRP_PATH, XV_PATH_FLOW_LABEL, 4, 0, 6);
	check_attr(0, 8, XV_GRP_PATH, XV_PATH_HOP_LIMIT, 4, 0, 7);

	memset(&ah, 0, sizeof(ah));
	assert_int_equal(xv_ah_create(xv_now(ctx), &ah, NULL), -EINVAL);
	assert_int_equal(xv_ah_create(xv_now(ctx), &ah,
			 XV_OPTS(xv_ah_opts, .lid = 9)), -EINVAL);
	assert_int_equal(xv_ah_create(xv_now(ctx), &ah,
			 XV_OPTS(xv_ah_opts, .pd = &pd, .reserved = 1)),
			 -EINVAL);
	assert_int_equal(ah.obj.handle, 0);
	assert_null(ah.obj.tx);
}

static void ah_from_wc(void **state)
{
	struct xv_wc wc = { .wr_id = 5, .src_qp = 17, .flags = XV_WC_RECV |
			    XV_WC_GRH, .net_type = XV_NET_IPV4 };
	struct xv_pd pd = {};
	const struct xv_ah_wc *w;
	const struct xv_attr *a;
	uint8_t grh[XV_GRH_LEN];
	struct xv_ah ah = {};
	struct xv_tx *tx;

	(void)state;
	memset(grh, 0x77, sizeof(grh));
	assert_int_equal(xv_txn_begin(ctx, 0, &tx), 0);
	assert_int_equal(xv_pd_create(tx, &pd), 0);
	assert_int_equal(xv_ah_create_from_wc(tx, &ah, &pd, 2, &wc, grh), 0);
	/* Both are copied. */
	memset(grh, 0, sizeof(grh));
	wc.src_qp = 0;
	assert_int_equal(xv_txn_commit(tx, NULL), 0);
	check_header(2, 1 + 5, 0);
	check_op(1, XV_OBJ_AH, XV_M_CREATE, 5);
	check_attr(1, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 0);
	check_attr(1, 1, XV_GRP_OBJECT, XV_OBJECT_PD, 4, XV_ATTR_F_FROM_OP, 0);
	check_attr(1, 2, XV_GRP_PATH, XV_PATH_PORT, 4, 0, 2);
	a = fake_attr(1, 3);
	assert_int_equal(a->group, XV_GRP_PARAMS);
	assert_int_equal(a->id, XV_PARAMS_WC);
	assert_int_equal(a->len, sizeof(*w));
	w = (const void *)(uintptr_t)a->data;
	assert_int_equal(w->wc.wr_id, 5);
	assert_int_equal(w->wc.src_qp, 17);
	assert_int_equal(w->wc.net_type, XV_NET_IPV4);
	assert_int_equal(w->grh[0], 0x77);
	assert_int_equal(w->grh[39], 0x77);
	check_attr(1, 4, XV_GRP_RESULT, XV_RESULT_INFO,
		   sizeof(struct xv_ah_info), 0, (uintptr_t)&ah.info);
	xv_txn_free(tx);

	memset(&ah, 0, sizeof(ah));
	assert_int_equal(xv_ah_create_from_wc(xv_now(ctx), &ah, &pd, 0, &wc,
					      NULL), 0);
	check_op(0, XV_OBJ_AH, XV_M_CREATE, 4);
	w = (const void *)(uintptr_t)fake_attr(0, 2)->data;
	assert_int_equal(w->grh[0] | w->grh[39], 0);
	memset(&ah, 0, sizeof(ah));
	assert_int_equal(xv_ah_create_from_wc(xv_now(ctx), &ah, NULL, 0, &wc,
					      grh), -EINVAL);
}

static void ah_query_destroy(void **state)
{
	struct xv_ah ah = { .obj.handle = 40 };
	struct xv_ah_info info;

	(void)state;
	assert_int_equal(xv_ah_query(xv_now(ctx), &ah, &info), 0);
	check_op(0, XV_OBJ_AH, XV_M_QUERY, 2);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 40);
	check_attr(0, 1, XV_GRP_RESULT, XV_RESULT_INFO, sizeof(info), 0,
		   (uintptr_t)&info);
	assert_int_equal(xv_ah_destroy(xv_now(ctx), &ah), 0);
	check_op(0, XV_OBJ_AH, XV_M_DESTROY, 1);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 40);
	assert_int_equal(ah.obj.handle, 0);
}

static void mcast_calls(void **state)
{
	struct xv_qp qp = { .obj.handle = 7 };
	struct xv_mcast mcast = {};
	struct xv_mcast_info info;
	const struct xv_attr *a;

	(void)state;
	assert_int_equal(xv_mcast_create(xv_now(ctx), &mcast,
			 XV_OPTS(xv_mcast_opts, .qp = &qp,
				 .gid = { 0xff, 0x0e, [15] = 1 })), 0);
	check_op(0, XV_OBJ_MCAST, XV_M_CREATE, 4);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 0);
	check_attr(0, 1, XV_GRP_OBJECT, XV_OBJECT_QP, 4, 0, 7);
	a = fake_attr(0, 2);
	assert_int_equal(a->group, XV_GRP_ADDRESS);
	assert_int_equal(a->id, XV_ADDRESS_GID);
	assert_int_equal(a->len, 16);
	check_attr(0, 3, XV_GRP_RESULT, XV_RESULT_INFO, sizeof(info), 0,
		   (uintptr_t)&mcast.info);
	assert_int_equal(mcast.obj.handle, 100);

	memset(&mcast, 0, sizeof(mcast));
	assert_int_equal(xv_mcast_create(xv_now(ctx), &mcast,
			 XV_OPTS(xv_mcast_opts, .qp = &qp, .lid = 0xc001,
				 .sgid_index = 3, .join = XV_MCAST_ATTACH)), 0);
	check_op(0, XV_OBJ_MCAST, XV_M_CREATE, 6);
	check_attr(0, 2, XV_GRP_ADDRESS, XV_ADDRESS_LID, 4, 0, 0xc001);
	check_attr(0, 3, XV_GRP_PATH, XV_PATH_SGID_INDEX, 4, 0, 3);
	check_attr(0, 4, XV_GRP_PARAMS, XV_PARAMS_JOIN, 4, 0, XV_MCAST_ATTACH);

	assert_int_equal(xv_mcast_query(xv_now(ctx), &mcast, &info), 0);
	check_op(0, XV_OBJ_MCAST, XV_M_QUERY, 2);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0,
		   mcast.obj.handle);
	check_attr(0, 1, XV_GRP_RESULT, XV_RESULT_INFO, sizeof(info), 0,
		   (uintptr_t)&info);
	assert_int_equal(xv_mcast_destroy(xv_now(ctx), &mcast), 0);
	check_op(0, XV_OBJ_MCAST, XV_M_DESTROY, 1);
	assert_int_equal(mcast.obj.handle, 0);

	assert_int_equal(xv_mcast_create(xv_now(ctx), &mcast, NULL), -EINVAL);
	assert_int_equal(xv_mcast_create(xv_now(ctx), &mcast,
			 XV_OPTS(xv_mcast_opts, .lid = 1)), -EINVAL);
	assert_int_equal(xv_mcast_create(xv_now(ctx), &mcast,
			 XV_OPTS(xv_mcast_opts, .qp = &qp, .reserved = 1)),
			 -EINVAL);
	assert_null(mcast.obj.tx);
}

static void mcast_gids(void **state)
{
	static const uint8_t v4[16] = { [10] = 0xff, 0xff, 239, 1, 2, 3 };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr other = { .sa_family = AF_UNIX };
	uint8_t gid[16];

	(void)state;
	in.sin_addr.s_addr = inet_addr("239.1.2.3");
	memset(gid, 0x55, sizeof(gid));
	assert_int_equal(xv_mcast_gid((void *)&in, gid), 0);
	assert_memory_equal(gid, v4, 16);
	assert_int_equal(inet_pton(AF_INET6, "ff0e::9", &in6.sin6_addr), 1);
	assert_int_equal(xv_mcast_gid((void *)&in6, gid), 0);
	assert_memory_equal(gid, &in6.sin6_addr, 16);

	in.sin_addr.s_addr = inet_addr("223.255.255.255");
	assert_int_equal(xv_mcast_gid((void *)&in, gid), -EINVAL);
	in.sin_addr.s_addr = inet_addr("240.0.0.0");
	assert_int_equal(xv_mcast_gid((void *)&in, gid), -EINVAL);
	assert_int_equal(inet_pton(AF_INET6, "fe80::9", &in6.sin6_addr), 1);
	assert_int_equal(xv_mcast_gid((void *)&in6, gid), -EINVAL);
	assert_int_equal(xv_mcast_gid(&other, gid), -EAFNOSUPPORT);
	/* What is refused changes nothing. */
	assert_int_equal(gid[0], 0xff);
}

static void subscription_calls(void **state)
{
	struct xv_eventq eq = { .fd = 33, .open = 1 };
	struct xv_subscription sub = {};

	(void)state;
	assert_int_equal(xv_subscription_create(xv_now(ctx), &sub,
			 XV_OPTS(xv_subscription_opts, .eventq = &eq)), 0);
	check_op(0, XV_OBJ_SUBSCRIPTION, XV_M_CREATE, 2);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 0);
	check_attr(0, 1, XV_GRP_EVENTS, XV_EVENTS_QUEUE, 4, 0, 33);
	assert_int_equal(sub.obj.handle, 100);
	assert_int_equal(xv_subscription_destroy(xv_now(ctx), &sub), 0);
	check_op(0, XV_OBJ_SUBSCRIPTION, XV_M_DESTROY, 1);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 100);
	assert_int_equal(sub.obj.handle, 0);

	assert_int_equal(xv_subscription_create(xv_now(ctx), &sub,
			 XV_OPTS(xv_subscription_opts, .eventq = &eq,
				 .port = 2, .cookie = 1ULL << 40,
				 .event_mask =
				 XV_EVENT_BIT(XV_EV_PORT_ACTIVE))), 0);
	check_op(0, XV_OBJ_SUBSCRIPTION, XV_M_CREATE, 5);
	check_attr(0, 2, XV_GRP_EVENTS, XV_EVENTS_COOKIE, 8, 0, 1ULL << 40);
	check_attr(0, 3, XV_GRP_EVENTS, XV_EVENTS_MASK, 8, 0, 1ULL << 20);
	check_attr(0, 4, XV_GRP_PARAMS, XV_PARAMS_PORT, 4, 0, 2);
	memset(&sub, 0, sizeof(sub));
	assert_int_equal(xv_subscription_create(xv_now(ctx), &sub, NULL),
			 -EINVAL);
}

static void cq_events_and_moderation(void **state)
{
	struct xv_eventq eq = { .fd = 33, .open = 1 };
	struct xv_cq cq = {};

	(void)state;
	assert_int_equal(xv_cq_create(xv_now(ctx), &cq, XV_OPTS(xv_cq_opts,
			.cqe = 4, .eventq = &eq, .event_mask = 2)), 0);
	check_op(0, XV_OBJ_CQ, XV_M_CREATE, 5);
	check_attr(0, 1, XV_GRP_EVENTS, XV_EVENTS_QUEUE, 4, 0, 33);
	check_attr(0, 2, XV_GRP_EVENTS, XV_EVENTS_MASK, 8, 0, 2);
	/* The caller of an older library has no mask. */
	memset(&cq, 0, sizeof(cq));
	assert_int_equal(xv_cq_create(xv_now(ctx), &cq, &(struct xv_cq_opts){
			.size = offsetof(struct xv_cq_opts, event_mask),
			.cqe = 4, .eventq = &eq, .event_mask = 2 }), 0);
	check_op(0, XV_OBJ_CQ, XV_M_CREATE, 4);
	memset(&cq, 0, sizeof(cq));
	assert_int_equal(xv_cq_create(xv_now(ctx), &cq, XV_OPTS(xv_cq_opts,
			.cqe = 4, .event_mask = 2)), -EINVAL);

	cq.obj.handle = 9;
	assert_int_equal(xv_cq_moderate(xv_now(ctx), &cq, 8, 0), 0);
	check_op(0, XV_OBJ_CQ, XV_M_MODIFY, 3);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 9);
	check_attr(0, 1, XV_GRP_PARAMS, XV_PARAMS_CQ_COUNT, 4, 0, 8);
	check_attr(0, 2, XV_GRP_PARAMS, XV_PARAMS_CQ_PERIOD, 4, 0, 0);
}

/* The main job: all in one call, by references. */
static void whole_set(void **state)
{
	struct xv_eventq eq = {};
	struct xv_recv recv[2];
	struct xv_pd pd = {};
	struct xv_mr mr = {};
	struct xv_cq cq = {};
	struct xv_qp qp = {};
	const struct xv_attr *a;
	const struct xv_recv *w;
	struct xv_error err;
	struct xv_tx *tx;
	char buf[256];

	(void)state;
	assert_int_equal(xv_txn_begin(ctx, 0, &tx), 0);
	assert_int_equal(xv_eventq_create(tx, &eq), 0);
	assert_int_equal(xv_pd_create(tx, &pd), 0);
	assert_int_equal(xv_mr_create(tx, &mr, XV_OPTS(xv_mr_opts, .pd = &pd,
			.addr = buf, .length = sizeof(buf),
			.access = XV_ACCESS_LOCAL_WRITE)), 0);
	assert_int_equal(xv_cq_create(tx, &cq, XV_OPTS(xv_cq_opts, .cqe = 8,
			.eventq = &eq)), 0);
	assert_int_equal(xv_qp_create(tx, &qp, XV_OPTS(xv_qp_opts, .pd = &pd,
			.send_cq = &cq, .send_wr = 4, .recv_wr = 4)), 0);
	xv_recv_prep(&recv[0], 11);
	xv_recv_add_sge(&recv[0], xv_sge_at(&mr, buf, 64));
	xv_recv_prep(&recv[1], 12);
	xv_recv_add_sge(&recv[1], xv_sge_at(&mr, buf + 64, 64));
	assert_int_equal(xv_qp_post_recv(tx, &qp, recv, 2), 0);
	memset(recv, 0xff, sizeof(recv));
	assert_int_equal(xv_txn_num_ops(tx), 6);
	assert_int_equal(fake.txns, 0);
	assert_int_equal(xv_txn_commit(tx, &err), 0);
	assert_int_equal(err.err, 0);
	assert_int_equal(fake.txns, 1);

	check_header(6, 1 + 1 + 6 + 4 + 6 + 2, 0);
	check_op(0, XV_OBJ_EVENTQ, XV_M_CREATE, 1);
	check_op(1, XV_OBJ_PD, XV_M_CREATE, 1);
	check_op(2, XV_OBJ_MR, XV_M_CREATE, 6);
	check_attr(2, 1, XV_GRP_OBJECT, XV_OBJECT_PD, 4, XV_ATTR_F_FROM_OP, 1);
	check_op(3, XV_OBJ_CQ, XV_M_CREATE, 4);
	check_attr(3, 1, XV_GRP_EVENTS, XV_EVENTS_QUEUE, 4, XV_ATTR_F_FROM_OP,
		   0);
	check_op(4, XV_OBJ_QP, XV_M_CREATE, 6);
	check_attr(4, 1, XV_GRP_OBJECT, XV_OBJECT_PD, 4, XV_ATTR_F_FROM_OP, 1);
	check_attr(4, 2, XV_GRP_OBJECT, XV_OBJECT_SEND_CQ, 4,
		   XV_ATTR_F_FROM_OP, 3);
	check_op(5, XV_OBJ_QP, XV_M_POST_RECV, 2);
	check_attr(5, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, XV_ATTR_F_FROM_OP,
		   4);
	a = fake_attr(5, 1);
	assert_int_equal(a->group, XV_GRP_PARAMS);
	assert_int_equal(a->id, XV_PARAMS_RECVS);
	assert_int_equal(a->len, 2 * sizeof(struct xv_recv));
	w = (const void *)(uintptr_t)a->data;
	assert_int_equal(w[0].wr_id, 11);
	assert_int_equal(w[1].wr_id, 12);
	assert_int_equal(w[1].num_sge, 1);
	assert_int_equal(w[1].sge[0].mr, XV_SGE_FROM_OP | 2);
	assert_int_equal(w[1].sge[0].offset, 64);

	assert_int_equal(pd.obj.handle, 100);
	assert_int_equal(mr.obj.handle, 101);
	assert_int_equal(cq.obj.handle, 102);
	assert_int_equal(qp.obj.handle, 103);
	assert_int_equal(qp.recv_tail, 2);
	assert_int_equal(xv_recvs_ready(&qp), 0);
	assert_int_equal(xv_recvs_free(&qp), 2);
	assert_int_equal(xv_sge_at(&mr, buf + 8, 4).mr, 101);
	assert_int_equal(xv_sge_at(&mr, buf + 8, 4).offset, 8);

	/* The same struct serves the destroy. */
	assert_int_equal(xv_qp_destroy(tx, &qp), 0);
	assert_int_equal(xv_cq_destroy(tx, &cq), 0);
	assert_int_equal(xv_mr_destroy(tx, &mr), 0);
	assert_int_equal(xv_pd_destroy(tx, &pd), 0);
	assert_int_equal(pd.obj.handle, 100);
	assert_int_equal(xv_txn_commit(tx, NULL), 0);
	check_header(4, 4, 0);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 103);
	assert_int_equal(pd.obj.handle | mr.obj.handle | cq.obj.handle |
			 qp.obj.handle, 0);
	xv_eventq_close(&eq);
	xv_txn_free(tx);
}

static void raw_content(void **state)
{
	static const uint8_t in[12] = { 1, 2, 3 };
	struct xv_attr a;
	struct xv_tx *tx;
	uint8_t out[8];

	(void)state;
	assert_int_equal(xv_txn_begin(ctx, 0, &tx), 0);
	assert_int_equal(xv_txn_attr(tx, 1, 1, 4, 0, 0), -EINVAL);
	assert_int_equal(xv_txn_commit(tx, NULL), -EINVAL);
	assert_int_equal(xv_txn_op(tx, 99, 88), 0);
	assert_int_equal(xv_txn_attr(tx, 77, 66, 55, 0xffff, ~0ULL), 0);
	assert_int_equal(xv_txn_op(tx, 0, 0xffff), 1);
	assert_int_equal(xv_txn_attr_u32(tx, 1, 2, 3), 0);
	assert_int_equal(xv_txn_attr_u64(tx, 1, 3, 1ULL << 40), 0);
	assert_int_equal(xv_txn_attr_handle(tx, 1, 4, 9), 0);
	assert_int_equal(xv_txn_attr_ref(tx, 1, 5, 0), 0);
	assert_int_equal(xv_txn_attr_new(tx, 1, 6), 0);
	assert_int_equal(xv_txn_attr_in(tx, 1, 7, in, 3), 0);
	assert_int_equal(xv_txn_attr_in(tx, 1, 8, in, 12), 0);
	assert_int_equal(xv_txn_attr_out(tx, 1, 9, out, 8), 0);
	assert_int_equal(xv_txn_commit(tx, NULL), 0);
	check_header(2, 9, 0);
	check_op(0, 99, 88, 1);
	check_attr(0, 0, 77, 66, 55, 0xffff, ~0ULL);
	check_op(1, 0, 0xffff, 8);
	check_attr(1, 0, 1, 2, 4, 0, 3);
	check_attr(1, 1, 1, 3, 8, 0, 1ULL << 40);
	check_attr(1, 2, 1, 4, 4, 0, 9);
	check_attr(1, 3, 1, 5, 4, XV_ATTR_F_FROM_OP, 0);
	check_attr(1, 4, 1, 6, 4, 0, 0);
	check_attr(1, 5, 1, 7, 3, 0, 0x030201);
	check_attr(1, 6, 1, 8, 12, 0, (uintptr_t)in);
	check_attr(1, 7, 1, 9, 8, 0, (uintptr_t)out);
	assert_int_equal(xv_txn_get(tx, 1, 1, 3, &a), 0);
	assert_int_equal(a.data, 1ULL << 40);
	assert_int_equal(xv_txn_get(tx, 1, 1, 33, &a), -ENOENT);
	assert_int_equal(xv_txn_get(tx, 2, 1, 3, &a), -ENOENT);
	xv_txn_free(tx);
}

static void raw_beyond_limits(void **state)
{
	struct xv_tx *tx;
	struct xv_txn *wire;
	unsigned int i;
	size_t len;

	(void)state;
	assert_int_equal(xv_txn_begin(ctx, 0, &tx), 0);
	/* More than the kernel takes: the library does not judge. */
	for (i = 0; i < XV_MAX_OPS + 1; i++)
		assert_int_equal(xv_txn_op(tx, XV_OBJ_PD, XV_M_CREATE), i);
	for (i = 0; i < XV_MAX_ATTRS + 1; i++)
		assert_int_equal(xv_txn_attr_u32(tx, 1, i, 0), 0);
	wire = xv_txn_wire(tx, &len);
	assert_int_equal(wire->num_ops, XV_MAX_OPS + 1);
	assert_int_equal(wire->length, len);
	wire->flags = 0x80;
	assert_int_equal(xv_txn_raw(ctx, wire), 0);
	assert_int_equal(((struct xv_txn *)fake.wire)->flags, 0x80);
	xv_txn_reset(tx);
	assert_int_equal(xv_txn_num_ops(tx), 0);

	/* But it does not grow without end. */
	for (i = 0; i < 10; i++)
		assert_int_equal(xv_txn_op(tx, 1, 1), i);
	for (i = 0; i < 100000; i++)
		if (xv_txn_attr_u32(tx, 1, 1, 0))
			break;
	assert_true(i < 100000);
	assert_int_equal(xv_txn_commit(tx, NULL), -E2BIG);
	assert_int_equal(xv_txn_attr(tx, 1, 1, 65536, 0, 0), -EINVAL);
	assert_int_equal(xv_txn_op(tx, 1, 1), 0);
	assert_int_equal(xv_txn_attr(tx, 1, 1, 65536, 0, 0), -E2BIG);
	xv_txn_free(tx);
}

static void srq_calls(void **state)
{
	struct xv_pd pd = { .obj.handle = 7 };
	struct xv_srq_info info;
	struct xv_srq srq = {};

	(void)state;
	assert_int_equal(xv_srq_create(xv_now(ctx), &srq, XV_OPTS(xv_srq_opts,
			.pd = &pd, .recv_wr = 5)), 0);
	check_header(1, 4, 0);
	check_op(0, XV_OBJ_SRQ, XV_M_CREATE, 4);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 0);
	check_attr(0, 1, XV_GRP_OBJECT, XV_OBJECT_PD, 4, 0, 7);
	check_attr(0, 2, XV_GRP_CAPS, XV_CAPS_RECV_WR, 4, 0, 5);
	check_attr(0, 3, XV_GRP_RESULT, XV_RESULT_INFO, sizeof(info), 0,
		   (uintptr_t)&srq.info);
	assert_int_equal(srq.obj.handle, 100);
	assert_int_equal(srq.recv_wr, 5);
	assert_int_equal(srq.recv_mask, 7);
	assert_ptr_equal(srq.recvs, fake.area + 64);
	/* One that lives is not made again. */
	assert_int_equal(xv_srq_create(xv_now(ctx), &srq, XV_OPTS(xv_srq_opts,
			.pd = &pd, .recv_wr = 5)), -EINVAL);

	assert_int_equal(xv_srq_modify(xv_now(ctx), &srq, 0), 0);
	check_op(0, XV_OBJ_SRQ, XV_M_MODIFY, 2);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 100);
	check_attr(0, 1, XV_GRP_PARAMS, XV_PARAMS_LIMIT, 4, 0, 0);
	assert_int_equal(xv_srq_query(xv_now(ctx), &srq, &info), 0);
	check_op(0, XV_OBJ_SRQ, XV_M_QUERY, 2);
	check_attr(0, 1, XV_GRP_RESULT, XV_RESULT_INFO, sizeof(info), 0,
		   (uintptr_t)&info);
	assert_int_equal(xv_srq_destroy(xv_now(ctx), &srq), 0);
	check_op(0, XV_OBJ_SRQ, XV_M_DESTROY, 1);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 100);
	assert_int_equal(srq.obj.handle, 0);
	assert_null(srq.ring);
}

/* Everything, and a queue pair and receives in the same transaction. */
static void srq_set(void **state)
{
	struct xv_recv recvs[2] = { { .wr_id = 5 }, { .wr_id = 6 } };
	struct xv_eventq eq = { .fd = 33, .open = 1 };
	struct xv_pd pd = { .obj.handle = 7 };
	struct xv_cq cq = { .obj.handle = 8 };
	const struct xv_attr *a;
	struct xv_srq srq = {};
	struct xv_qp qp = {};
	struct xv_tx *tx;

	(void)state;
	assert_int_equal(xv_txn_begin(ctx, 0, &tx), 0);
	assert_int_equal(xv_srq_create(tx, &srq, XV_OPTS(xv_srq_opts,
			.pd = &pd, .recv_wr = 4, .recv_sge = 2, .limit = 3,
			.eventq = &eq, .cookie = 9)), 0);
	assert_int_equal(xv_srq_post_recv(tx, &srq, recvs, 2), 0);
	assert_int_equal(xv_qp_create(tx, &qp, XV_OPTS(xv_qp_opts, .pd = &pd,
			.send_cq = &cq, .send_wr = 1, .srq = &srq)), 0);
	assert_int_equal(xv_txn_commit(tx, NULL), 0);
	check_header(3, 17, 0);
	check_op(0, XV_OBJ_SRQ, XV_M_CREATE, 8);
	check_attr(0, 2, XV_GRP_EVENTS, XV_EVENTS_QUEUE, 4, 0, 33);
	check_attr(0, 3, XV_GRP_EVENTS, XV_EVENTS_COOKIE, 8, 0, 9);
	check_attr(0, 4, XV_GRP_CAPS, XV_CAPS_RECV_WR, 4, 0, 4);
	check_attr(0, 5, XV_GRP_CAPS, XV_CAPS_RECV_SGE, 4, 0, 2);
	check_attr(0, 6, XV_GRP_PARAMS, XV_PARAMS_LIMIT, 4, 0, 3);
	check_op(1, XV_OBJ_SRQ, XV_M_POST_RECV, 2);
	check_attr(1, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, XV_ATTR_F_FROM_OP,
		   0);
	a = fake_attr(1, 1);
	assert_int_equal(a->id, XV_PARAMS_RECVS);
	assert_int_equal(a->len, sizeof(recvs));
	assert_true(a->data != (uintptr_t)recvs);
	check_op(2, XV_OBJ_QP, XV_M_CREATE, 7);
	check_attr(2, 3, XV_GRP_OBJECT, XV_OBJECT_SRQ, 4, XV_ATTR_F_FROM_OP, 0);
	check_attr(2, 5, XV_GRP_CAPS, XV_CAPS_RECV_WR, 4, 0, 0);
	/* The first receives are entries of the ring. */
	assert_int_equal(xv_srq_free(&srq), 2);
	assert_int_equal(xv_srq_ready(&srq), 0);
	assert_ptr_equal(xv_srq_get_recv(&srq), srq.recvs + 2);
	xv_txn_free(tx);
}

static void batch_flag(void **state)
{
	struct xv_qp qp = {};
	struct xv_tx *tx;

	(void)state;
	qp.obj.handle = 5;
	assert_int_equal(xv_txn_begin(ctx, XV_TXN_F_BATCH, &tx), 0);
	assert_int_equal(xv_qp_modify(tx, &qp,
			 XV_OPTS(xv_qp_attr, .state = XV_QPS_ERR)), 0);
	assert_int_equal(xv_qp_modify(tx, &qp,
			 XV_OPTS(xv_qp_attr, .state = XV_QPS_RESET)), 0);
	assert_int_equal(xv_txn_commit(tx, NULL), 2);
	check_header(2, 4, XV_TXN_F_BATCH);
	xv_txn_free(tx);
	assert_int_equal(xv_txn_begin(ctx, 2, &tx), -EINVAL);
}

static void option_sizes(void **state)
{
	struct {
		struct xv_cq_opts opts;
		uint64_t later;
	} big = { .opts = { .size = sizeof(big), .cqe = 4 } };
	struct xv_cq_opts small = { .size = 8, .cqe = 4, .comp_vector = 9 };
	struct xv_cq cq = {};

	(void)state;
	/* Older caller: what lies beyond its struct is not read. */
	assert_int_equal(xv_cq_create(xv_now(ctx), &cq, &small), 0);
	check_op(0, XV_OBJ_CQ, XV_M_CREATE, 3);
	assert_int_equal(xv_cq_destroy(xv_now(ctx), &cq), 0);
	/* Newer caller: fine as long as it wants nothing new. */
	assert_int_equal(xv_cq_create(xv_now(ctx), &cq, &big.opts), 0);
	assert_int_equal(xv_cq_destroy(xv_now(ctx), &cq), 0);
	big.later = 1;
	assert_int_equal(xv_cq_create(xv_now(ctx), &cq, &big.opts), -EINVAL);
	small.size = 0;
	assert_int_equal(xv_cq_create(xv_now(ctx), &cq, &small), -EINVAL);
	assert_int_equal(xv_cq_create(xv_now(ctx), &cq, NULL), -EINVAL);
	assert_int_equal(xv_txn_error(xv_now(ctx))->err, EINVAL);
}

/* ---- listeners and connections ---- */

static const struct sockaddr_in ipv4 = {
	.sin_family = AF_INET, .sin_port = 0x1234,
	.sin_addr = { 0x01000a0a },
};

static const struct sockaddr_in6 ipv6 = {
	.sin6_family = AF_INET6, .sin6_port = 0x1234,
	.sin6_addr.s6_addr = { 0xfe, 0x80, [15] = 7 }, .sin6_scope_id = 3,
};

/* An attribute whose bytes were copied: not those of the caller. */
static void check_bytes(unsigned int n, unsigned int i, unsigned int group,
			unsigned int id, const void *bytes, size_t len)
{
	const struct xv_attr *a = fake_attr(n, i);

	assert_non_null(a);
	assert_int_equal(a->group, group);
	assert_int_equal(a->id, id);
	assert_int_equal(a->len, len);
	assert_int_equal(a->flags, 0);
	if (len <= 8) {
		assert_memory_equal(&a->data, bytes, len);
		return;
	}
	assert_true(a->data != (uintptr_t)bytes);
	assert_memory_equal((void *)(uintptr_t)a->data, bytes, len);
}

static void listener_calls(void **state)
{
	struct xv_eventq eq = { .fd = 33, .open = 1 };
	struct xv_listener_info info;
	struct xv_listener l = {};

	(void)state;
	assert_int_equal(xv_listener_create(xv_now(ctx), &l,
			 XV_OPTS(xv_listener_opts, .eventq = &eq,
				 .addr = (const void *)&ipv4)), 0);
	check_header(1, 4, 0);
	check_op(0, XV_OBJ_LISTENER, XV_M_CREATE, 4);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 0);
	check_attr(0, 1, XV_GRP_EVENTS, XV_EVENTS_QUEUE, 4, 0, 33);
	assert_int_equal(fake_attr(0, 2)->id, XV_ADDRESS_SRC);
	assert_int_equal(fake_attr(0, 2)->len, XV_ADDR_IPV4_BYTES);
	check_attr(0, 3, XV_GRP_RESULT, XV_RESULT_INFO, sizeof(info), 0,
		   (uintptr_t)&l.info);
	assert_int_equal(l.obj.handle, 100);
	assert_int_equal(l.info.backlog, 0x5a5a5a5a);

	assert_int_equal(xv_listener_query(xv_now(ctx), &l, &info), 0);
	check_op(0, XV_OBJ_LISTENER, XV_M_QUERY, 2);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 100);
	check_attr(0, 1, XV_GRP_RESULT, XV_RESULT_INFO, sizeof(info), 0,
		   (uintptr_t)&info);
	/* One that lives is not made again. */
	assert_int_equal(xv_listener_create(xv_now(ctx), &l,
			 XV_OPTS(xv_listener_opts, .eventq = &eq,
				 .addr = (const void *)&ipv4)), -EINVAL);
	assert_int_equal(xv_listener_destroy(xv_now(ctx), &l), 0);
	check_op(0, XV_OBJ_LISTENER, XV_M_DESTROY, 1);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 100);
	assert_int_equal(l.obj.handle, 0);
}

static void listener_everything(void **state)
{
	struct xv_eventq eq = { .fd = 33, .open = 1 };
	struct sockaddr_in6 addr = ipv6;
	struct xv_listener l = {};
	struct xv_tx *tx;

	(void)state;
	assert_int_equal(xv_txn_begin(ctx, 0, &tx), 0);
	assert_int_equal(xv_listener_create(tx, &l, XV_OPTS(xv_listener_opts,
			 .backlog = 5, .eventq = &eq, .cookie = 1ULL << 40,
			 .addr = (const void *)&addr, .reuse = 1)), 0);
	/* It is copied, the scope of a link-local address with it. */
	memset(&addr, 0, sizeof(addr));
	assert_int_equal(xv_txn_commit(tx, NULL), 0);
	check_op(0, XV_OBJ_LISTENER, XV_M_CREATE, 7);
	check_attr(0, 2, XV_GRP_EVENTS, XV_EVENTS_COOKIE, 8, 0, 1ULL << 40);
	check_bytes(0, 3, XV_GRP_ADDRESS, XV_ADDRESS_SRC, &ipv6,
		    XV_ADDR_BYTES);
	check_attr(0, 4, XV_GRP_PARAMS, XV_PARAMS_BACKLOG, 4, 0, 5);
	check_attr(0, 5, XV_GRP_PARAMS, XV_PARAMS_REUSE, 4, 0, 1);
	xv_txn_free(tx);
}

static void listener_refused(void **state)
{
	struct xv_eventq eq = { .fd = 33, .open = 1 };
	struct {
		struct xv_listener_opts opts;
		uint64_t later;
	} big = { .opts = { .size = sizeof(big), .eventq = &eq } };
	struct xv_listener l = {};
	unsigned int calls = fake.txns;

	(void)state;
	assert_int_equal(xv_listener_create(xv_now(ctx), &l, NULL), -EINVAL);
	assert_int_equal(xv_txn_error(xv_now(ctx))->reason, XV_R_MISSING);
	assert_int_equal(xv_listener_create(xv_now(ctx), &l,
			 XV_OPTS(xv_listener_opts, .eventq = &eq,
				 .reserved = 1)), -EINVAL);
	assert_int_equal(xv_txn_error(xv_now(ctx))->reason, XV_R_RESERVED);
	big.later = 1;
	assert_int_equal(xv_listener_create(xv_now(ctx), &l, &big.opts),
			 -EINVAL);
	assert_int_equal(xv_txn_error(xv_now(ctx))->reason, XV_R_TAIL);
	big.opts.size = 3;
	assert_int_equal(xv_listener_create(xv_now(ctx), &l, &big.opts),
			 -EINVAL);
	assert_int_equal(xv_txn_error(xv_now(ctx))->reason, XV_R_LENGTH);
	assert_int_equal(fake.txns, calls);
	assert_int_equal(l.obj.handle, 0);
	assert_null(l.obj.tx);
	/* What the kernel can tell is left to it. */
	assert_int_equal(xv_listener_create(xv_now(ctx), &l,
					    XV_OPTS(xv_listener_opts)), 0);
	check_op(0, XV_OBJ_LISTENER, XV_M_CREATE, 2);
}

static void request_calls(void **state)
{
	const uint64_t token = 7ULL << 32 | 5;
	struct xv_listener l = { .obj.handle = 40 };
	uint8_t data[XV_PRIVATE_REJECT];
	struct xv_request_info info;
	struct xv_tx *tx;

	(void)state;
	assert_int_equal(xv_listener_query_request(xv_now(ctx), &l, token,
						   &info), 0);
	check_op(0, XV_OBJ_LISTENER, XV_M_QUERY_REQUEST, 3);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 40);
	check_attr(0, 1, XV_GRP_REQUEST, XV_REQUEST_TOKEN, 8, 0, token);
	check_attr(0, 2, XV_GRP_RESULT, XV_RESULT_INFO, sizeof(info), 0,
		   (uintptr_t)&info);

	assert_int_equal(xv_listener_reject(xv_now(ctx), &l, token, NULL, 0),
			 0);
	check_op(0, XV_OBJ_LISTENER, XV_M_REJECT, 2);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 40);
	check_attr(0, 1, XV_GRP_REQUEST, XV_REQUEST_TOKEN, 8, 0, token);

	/* Up to 8 bytes lie in the attribute. */
	assert_int_equal(xv_listener_reject(xv_now(ctx), &l, token, "no", 2),
			 0);
	check_op(0, XV_OBJ_LISTENER, XV_M_REJECT, 3);
	check_bytes(0, 1, XV_GRP_PARAMS, XV_PARAMS_PRIVATE_DATA, "no", 2);
	check_attr(0, 2, XV_GRP_REQUEST, XV_REQUEST_TOKEN, 8, 0, token);

	memset(data, 0x77, sizeof(data));
	assert_int_equal(xv_txn_begin(ctx, 0, &tx), 0);
	assert_int_equal(xv_listener_reject(tx, &l, token, data, sizeof(data)),
			 0);
	memset(data, 0, sizeof(data));
	assert_int_equal(xv_txn_commit(tx, NULL), 0);
	memset(data, 0x77, sizeof(data));
	check_bytes(0, 1, XV_GRP_PARAMS, XV_PARAMS_PRIVATE_DATA, data,
		    sizeof(data));
	xv_txn_free(tx);
}

static void conn_connect(void **state)
{
	struct xv_eventq eq = { .fd = 33, .open = 1 };
	struct xv_qp qp = { .obj.handle = 40 };
	struct xv_conn c = {};
	struct xv_conn_info info;

	(void)state;
	assert_int_equal(xv_conn_create(xv_now(ctx), &c, XV_OPTS(xv_conn_opts,
			 .qp = &qp, .eventq = &eq,
			 .dst = (const void *)&ipv4)), 0);
	check_header(1, 4, 0);
	check_op(0, XV_OBJ_CONN, XV_M_CREATE, 4);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 0);
	check_attr(0, 1, XV_GRP_OBJECT, XV_OBJECT_QP, 4, 0, 40);
	check_attr(0, 2, XV_GRP_EVENTS, XV_EVENTS_QUEUE, 4, 0, 33);
	assert_int_equal(fake_attr(0, 3)->group, XV_GRP_ADDRESS);
	assert_int_equal(fake_attr(0, 3)->id, XV_ADDRESS_DST);
	assert_int_equal(fake_attr(0, 3)->len, XV_ADDR_IPV4_BYTES);
	assert_int_equal(c.obj.handle, 100);

	assert_int_equal(xv_conn_query(xv_now(ctx), &c, &info), 0);
	check_op(0, XV_OBJ_CONN, XV_M_QUERY, 2);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 100);
	check_attr(0, 1, XV_GRP_RESULT, XV_RESULT_INFO, sizeof(info), 0,
		   (uintptr_t)&info);
	assert_int_equal(xv_conn_disconnect(xv_now(ctx), &c), 0);
	check_op(0, XV_OBJ_CONN, XV_M_DISCONNECT, 1);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 100);
	assert_int_equal(c.obj.handle, 100);
	assert_int_equal(xv_conn_create(xv_now(ctx), &c, XV_OPTS(xv_conn_opts,
			 .qp = &qp, .eventq = &eq,
			 .dst = (const void *)&ipv4)), -EINVAL);
	assert_int_equal(xv_conn_destroy(xv_now(ctx), &c), 0);
	check_op(0, XV_OBJ_CONN, XV_M_DESTROY, 1);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 100);
	assert_int_equal(c.obj.handle, 0);
}

static void conn_everything(void **state)
{
	static const uint32_t want[][2] = {
		{ XV_PATH_TRAFFIC_CLASS, 1 }, { XV_PATH_TIMEOUT, 2 },
		{ XV_PATH_RETRY_CNT, 3 }, { XV_PATH_RNR_RETRY, 4 },
		{ XV_PATH_MIN_RNR_TIMER, 5 }, { XV_PATH_RD_ATOMIC, 6 },
		{ XV_PATH_DEST_RD_ATOMIC, 7 },
	};
	struct xv_eventq eq = { .fd = 33, .open = 1 };
	struct xv_qp qp = { .obj.handle = 40 };
	uint8_t data[XV_PRIVATE_REQUEST];
	struct sockaddr_in6 dst = ipv6;
	struct sockaddr_in src = ipv4;
	struct xv_conn c = {};
	struct xv_tx *tx;
	unsigned int i;

	(void)state;
	memset(data, 0x77, sizeof(data));
	assert_int_equal(xv_txn_begin(ctx, 0, &tx), 0);
	assert_int_equal(xv_conn_create(tx, &c, XV_OPTS(xv_conn_opts,
			 .establish_ms = 1500, .qp = &qp, .eventq = &eq,
			 .cookie = 9, .dst = (const void *)&dst,
			 .src = (const void *)&src, .private_data = data,
			 .private_len = sizeof(data), .reuse = 1,
			 .traffic_class = 1, .timeout = 2, .retry_cnt = 3,
			 .rnr_retry = 4, .min_rnr_timer = 5, .rd_atomic = 6,
			 .dest_rd_atomic = 7)), 0);
	/* All of it is copied. */
	memset(data, 0, sizeof(data));
	memset(&dst, 0, sizeof(dst));
	memset(&src, 0, sizeof(src));
	assert_int_equal(xv_txn_commit(tx, NULL), 0);
	check_header(1, 16, 0);
	check_op(0, XV_OBJ_CONN, XV_M_CREATE, 16);
	check_attr(0, 3, XV_GRP_EVENTS, XV_EVENTS_COOKIE, 8, 0, 9);
	check_bytes(0, 4, XV_GRP_ADDRESS, XV_ADDRESS_DST, &ipv6,
		    XV_ADDR_BYTES);
	check_bytes(0, 5, XV_GRP_ADDRESS, XV_ADDRESS_SRC, &ipv4,
		    XV_ADDR_IPV4_BYTES);
	for (i = 0; i < ARRAY_SIZE(want); i++)
		check_attr(0, 6 + i, XV_GRP_PATH, want[i][0], 4, 0, want[i][1]);
	memset(data, 0x77, sizeof(data));
	check_bytes(0, 13, XV_GRP_PARAMS, XV_PARAMS_PRIVATE_DATA, data,
		    sizeof(data));
	check_attr(0, 14, XV_GRP_PARAMS, XV_PARAMS_ESTABLISH_MS, 4, 0, 1500);
	check_attr(0, 15, XV_GRP_PARAMS, XV_PARAMS_REUSE, 4, 0, 1);
	xv_txn_free(tx);
}

static void conn_zero_fields(void **state)
{
	static const uint16_t ids[] = {
		XV_PATH_TRAFFIC_CLASS, XV_PATH_TIMEOUT, XV_PATH_RETRY_CNT,
		XV_PATH_RNR_RETRY, XV_PATH_MIN_RNR_TIMER, XV_PATH_RD_ATOMIC,
		XV_PATH_DEST_RD_ATOMIC,
	};
	struct xv_eventq eq = { .fd = 33, .open = 1 };
	struct xv_qp qp = { .obj.handle = 40 };
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		struct xv_conn c = {};

		assert_int_equal(xv_conn_create(xv_now(ctx), &c,
				 XV_OPTS(xv_conn_opts, .qp = &qp,
					 .eventq = &eq,
					 .dst = (const void *)&ipv4,
					 .zero = XV_ZERO_PATH(ids[i]))), 0);
		check_op(0, XV_OBJ_CONN, XV_M_CREATE, 5);
		check_attr(0, 4, XV_GRP_PATH, ids[i], 4, 0, 0);
	}
}

static void conn_accept(void **state)
{
	const uint64_t token = 7ULL << 32 | 5;
	struct xv_listener l = { .obj.handle = 41 };
	struct xv_eventq eq = { .fd = 33, .open = 1 };
	struct xv_qp qp = { .obj.handle = 40 };
	uint8_t data[XV_PRIVATE_ACCEPT];
	struct xv_conn c = {};

	(void)state;
	memset(data, 0x66, sizeof(data));
	assert_int_equal(xv_conn_create(xv_now(ctx), &c, XV_OPTS(xv_conn_opts,
			 .qp = &qp, .eventq = &eq, .listener = &l,
			 .token = token, .private_data = data,
			 .private_len = sizeof(data))), 0);
	check_op(0, XV_OBJ_CONN, XV_M_CREATE, 6);
	assert_int_equal(fake_attr(0, 3)->id, XV_PARAMS_PRIVATE_DATA);
	assert_int_equal(fake_attr(0, 3)->len, XV_PRIVATE_ACCEPT);
	check_attr(0, 4, XV_GRP_REQUEST, XV_REQUEST_LISTENER, 4, 0, 41);
	check_attr(0, 5, XV_GRP_REQUEST, XV_REQUEST_TOKEN, 8, 0, token);

	/* Both or none: the kernel says so, the library sends it. */
	memset(&c, 0, sizeof(c));
	assert_int_equal(xv_conn_create(xv_now(ctx), &c, XV_OPTS(xv_conn_opts,
			 .qp = &qp, .eventq = &eq, .listener = &l,
			 .dst = (const void *)&ipv4)), 0);
	check_op(0, XV_OBJ_CONN, XV_M_CREATE, 6);
	check_attr(0, 5, XV_GRP_REQUEST, XV_REQUEST_TOKEN, 8, 0, 0);
}

static void conn_refused(void **state)
{
	struct xv_eventq eq = { .fd = 33, .open = 1 };
	struct xv_qp qp = { .obj.handle = 40 };
	struct {
		struct xv_conn_opts opts;
		uint64_t later;
	} big = { .opts = { .size = sizeof(big), .qp = &qp, .eventq = &eq } };
	const struct xv_error *err = xv_txn_error(xv_now(ctx));
	unsigned int calls = fake.txns;
	struct xv_conn c = {};

	(void)state;
	assert_int_equal(xv_conn_create(xv_now(ctx), &c, NULL), -EINVAL);
	assert_int_equal(err->reason, XV_R_MISSING);
	assert_int_equal(xv_conn_create(xv_now(ctx), &c, XV_OPTS(xv_conn_opts,
			 .eventq = &eq, .dst = (const void *)&ipv4)), -EINVAL);
	assert_int_equal(err->reason, XV_R_MISSING);
	assert_int_equal(err->group, XV_GRP_OBJECT);
	assert_int_equal(err->attr, XV_OBJECT_QP);
	assert_int_equal(xv_conn_create(xv_now(ctx), &c, XV_OPTS(xv_conn_opts,
			 .qp = &qp, .eventq = &eq, .reserved = 1)), -EINVAL);
	assert_int_equal(err->reason, XV_R_RESERVED);
	big.later = 1;
	assert_int_equal(xv_conn_create(xv_now(ctx), &c, &big.opts), -EINVAL);
	assert_int_equal(err->reason, XV_R_TAIL);
	big.opts.size = 2;
	assert_int_equal(xv_conn_create(xv_now(ctx), &c, &big.opts), -EINVAL);
	assert_int_equal(err->reason, XV_R_LENGTH);
	assert_int_equal(fake.txns, calls);
	assert_int_equal(c.obj.handle, 0);
	assert_null(c.obj.tx);
}

/* From nothing to "connecting" in one call. */
static void conn_in_one_call(void **state)
{
	struct xv_eventq eq = {};
	struct xv_conn c = {};
	struct xv_pd pd = {};
	struct xv_cq cq = {};
	struct xv_qp qp = {};
	struct xv_tx *tx;

	(void)state;
	assert_int_equal(xv_txn_begin(ctx, 0, &tx), 0);
	xv_eventq_create(tx, &eq);
	xv_pd_create(tx, &pd);
	xv_cq_create(tx, &cq, XV_OPTS(xv_cq_opts, .cqe = 8, .eventq = &eq));
	xv_qp_create(tx, &qp, XV_OPTS(xv_qp_opts, .pd = &pd, .send_cq = &cq,
				      .send_wr = 4, .recv_wr = 4));
	xv_conn_create(tx, &c, XV_OPTS(xv_conn_opts, .qp = &qp, .eventq = &eq,
				       .dst = (const void *)&ipv4));
	assert_int_equal(xv_txn_commit(tx, NULL), 0);
	assert_int_equal(fake.txns, 1);
	check_op(4, XV_OBJ_CONN, XV_M_CREATE, 4);
	check_attr(4, 1, XV_GRP_OBJECT, XV_OBJECT_QP, 4, XV_ATTR_F_FROM_OP, 3);
	check_attr(4, 2, XV_GRP_EVENTS, XV_EVENTS_QUEUE, 4, XV_ATTR_F_FROM_OP,
		   0);
	assert_int_equal(c.obj.handle, 103);

	xv_conn_destroy(tx, &c);
	xv_qp_destroy(tx, &qp);
	xv_cq_destroy(tx, &cq);
	xv_pd_destroy(tx, &pd);
	assert_int_equal(xv_txn_commit(tx, NULL), 0);
	assert_int_equal(c.obj.handle | qp.obj.handle, 0);
	xv_eventq_close(&eq);
	xv_txn_free(tx);
}

static void watch_room(void **state)
{
	struct xv_qp qp = { .obj.handle = 40 };

	(void)state;
	assert_int_equal(xv_qp_watch_room(xv_now(ctx), &qp, 3, 0), 0);
	check_op(0, XV_OBJ_QP, XV_M_WATCH_ROOM, 2);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 40);
	check_attr(0, 1, XV_GRP_PARAMS, XV_PARAMS_SLOTS, 4, 0, 3);
	/* 0 slots is a value: it cancels. */
	assert_int_equal(xv_qp_watch_room(xv_now(ctx), &qp, 0, 1ULL << 40), 0);
	check_op(0, XV_OBJ_QP, XV_M_WATCH_ROOM, 3);
	check_attr(0, 1, XV_GRP_PARAMS, XV_PARAMS_SLOTS, 4, 0, 0);
	check_attr(0, 2, XV_GRP_PARAMS, XV_PARAMS_COOKIE, 8, 0, 1ULL << 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(device_query), T(device_query_port), T(device_query_gid),
		T(device_describe), T(pd_calls), T(mr_calls), T(mr_iova),
		T(cq_calls), T(qp_defaults), T(qp_everything), T(qp_connect),
		T(qp_create_connected), T(qp_gid_is_copied), T(qp_path_all), T(qp_zero_fields),
		T(qp_query_destroy), T(qp_types), T(ah_from_address),
		T(ah_from_wc), T(ah_query_destroy), T(srq_calls), T(srq_set),
		T(mcast_calls), T(mcast_gids),
		T(subscription_calls), T(cq_events_and_moderation), T(whole_set), T(raw_content),
		T(raw_beyond_limits), T(batch_flag), T(option_sizes),
		T(listener_calls), T(listener_everything), T(listener_refused),
		T(request_calls), T(conn_connect), T(conn_everything),
		T(conn_zero_fields), T(conn_accept), T(conn_refused),
		T(conn_in_one_call), T(watch_room),
	};

	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
