// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a commit does with the kernel's answer: errors, retries, objects that
 * are there or not, mappings.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

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

static const struct xv_error conflict = {
	.err = EBUSY, .reason = XV_R_LOCK_CONFLICT,
	.object = XV_OBJ_PD, .handle = 7,
};
static const struct xv_error range = {
	.err = EINVAL, .op = 1, .group = XV_GRP_CAPS, .attr = XV_CAPS_CQE,
	.reason = XV_R_RANGE, .detail = 4096,
};

static void error_record(void **state)
{
	struct xv_pd pd = {};
	struct xv_cq cq = {};
	struct xv_error err;
	struct xv_tx *tx;

	(void)state;
	assert_int_equal(xv_txn_begin(ctx, 0, &tx), 0);
	xv_pd_create(tx, &pd);
	xv_cq_create(tx, &cq, XV_OPTS(xv_cq_opts, .cqe = 9999));
	fake_fail(&range, 1);
	errno = 4711;
	assert_int_equal(xv_txn_commit(tx, &err), -EINVAL);
	assert_int_equal(errno, 4711);
	assert_memory_equal(&err, &range, sizeof(err));
	assert_memory_equal(xv_txn_error(tx), &range, sizeof(err));
	assert_int_equal(fake.txns, 1);
	/* Nothing is there, and the structs can be used again. */
	assert_int_equal(pd.obj.handle | cq.obj.handle, 0);
	assert_null(pd.obj.tx);
	assert_int_equal(fake.mmaps, 0);
	assert_int_equal(xv_txn_num_ops(tx), 0);
	assert_int_equal(xv_pd_create(tx, &pd), 0);
	assert_int_equal(xv_txn_num_ops(tx), 1);
	assert_int_equal(xv_txn_commit(tx, &err), 0);
	assert_int_equal(pd.obj.handle, 100);
	assert_int_equal(err.err, 0);
	xv_txn_free(tx);
}

static void error_without_record(void **state)
{
	struct xv_error err = { .err = EFAULT, .reason = 1 };
	struct xv_pd pd = {};

	(void)state;
	fake.no_record = true;
	fake_fail(&err, 1);
	assert_int_equal(xv_pd_create(xv_now(ctx), &pd), -EFAULT);
	err = *xv_txn_error(xv_now(ctx));
	assert_int_equal(err.err, EFAULT);
	assert_int_equal(err.op, XV_NO_OP);
	assert_int_equal(err.reason, XV_R_NONE);
}

static void retry_conflict(void **state)
{
	struct xv_pd pd = {};

	(void)state;
	fake_fail(&conflict, 10);
	assert_int_equal(xv_pd_create(xv_now(ctx), &pd), 0);
	assert_int_equal(fake.txns, 11);
	assert_int_equal(xv_num_ioctls(ctx), 11);
	assert_int_equal(pd.obj.handle, 100);
	assert_int_equal(xv_txn_error(xv_now(ctx))->err, 0);
	assert_true(fake.sleeps > 0);
}

static void retry_is_bounded(void **state)
{
	struct xv_pd pd = {};

	(void)state;
	fake_fail(&conflict, FAKE_MAX_FAILS);
	assert_int_equal(xv_pd_create(xv_now(ctx), &pd), -EBUSY);
	assert_int_equal(fake.txns, 21);
	assert_int_equal(xv_txn_error(xv_now(ctx))->reason,
			 XV_R_LOCK_CONFLICT);
	assert_int_equal(xv_txn_error(xv_now(ctx))->handle, 7);
}

/* Outputs which a refused try has written to are as they were. */
static void retry_is_the_same(void **state)
{
	struct xv_cq cq = {};

	(void)state;
	fake.scribble = true;
	fake_fail(&conflict, 2);
	assert_int_equal(xv_cq_create(xv_now(ctx), &cq,
				      XV_OPTS(xv_cq_opts, .cqe = 4)), 0);
	assert_int_equal(fake.txns, 3);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 0);
	check_attr(0, 2, XV_GRP_RESULT, XV_RESULT_INFO, sizeof(cq.info), 0,
		   (uintptr_t)&cq.info);
	assert_int_equal(cq.obj.handle, 100);
}

static void no_retry(void **state)
{
	static const struct xv_error others[] = {
		{ .err = EBUSY, .reason = XV_R_DEPENDENT },
		{ .err = EBUSY, .reason = XV_R_ZOMBIE_DEPENDENT },
		{ .err = EAGAIN, .reason = XV_R_QUEUE_FULL },
		{ .err = EINTR, .reason = XV_R_SIGNAL },
		{ .err = ENOMEM, .reason = XV_R_MEMORY },
		{ .err = ENODEV, .reason = XV_R_DEVICE_GONE },
		{ .err = EIO, .reason = XV_R_DRIVER, .raw = EBUSY },
	};
	struct xv_pd pd = {};
	unsigned int i;

	(void)state;
	pd.obj.handle = 7;
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		fake.txns = 0;
		fake_fail(&others[i], 1);
		assert_int_equal(xv_pd_destroy(xv_now(ctx), &pd),
				 -others[i].err);
		assert_int_equal(fake.txns, 1);
		/* A refused destroy leaves the object. */
		assert_int_equal(pd.obj.handle, 7);
	}
}

static void batch_stops(void **state)
{
	struct xv_error err, stop = { .err = EINVAL, .op = 1,
				      .reason = XV_R_STATE };
	struct xv_qp qp = {};
	struct xv_tx *tx;
	unsigned int i;

	(void)state;
	qp.obj.handle = 5;
	assert_int_equal(xv_txn_begin(ctx, XV_TXN_F_BATCH, &tx), 0);
	for (i = 0; i < 3; i++)
		xv_qp_modify(tx, &qp, XV_OPTS(xv_qp_attr, .state = XV_QPS_ERR));
	fake_fail(&stop, 1);
	fake.batch_done = 1;
	assert_int_equal(xv_txn_commit(tx, &err), 1);
	assert_int_equal(err.err, EINVAL);
	assert_int_equal(err.op, 1);
	xv_txn_free(tx);
}

static void empty_transaction(void **state)
{
	struct xv_tx *tx;

	(void)state;
	assert_int_equal(xv_txn_begin(ctx, 0, &tx), 0);
	assert_int_equal(xv_txn_commit(tx, NULL), -EINVAL);
	assert_int_equal(fake.txns, 0);
	xv_txn_free(tx);
	xv_txn_free(NULL);
}

/* Committing twice must not do things twice. */
static void commit_twice(void **state)
{
	struct xv_pd pd = {};
	struct xv_tx *tx;

	(void)state;
	assert_int_equal(xv_txn_begin(ctx, 0, &tx), 0);
	xv_pd_create(tx, &pd);
	assert_int_equal(xv_txn_commit(tx, NULL), 0);
	assert_int_equal(xv_txn_commit(tx, NULL), -EINVAL);
	assert_int_equal(fake.txns, 1);
	xv_txn_free(tx);
}

static void broken_transaction(void **state)
{
	struct xv_pd pd = {}, other = {};
	struct xv_tx *tx, *tx2;
	struct xv_mr mr = {};
	struct xv_error err;

	(void)state;
	assert_int_equal(xv_txn_begin(ctx, 0, &tx), 0);
	assert_int_equal(xv_txn_begin(ctx, 0, &tx2), 0);
	xv_pd_create(tx, &pd);
	/* An object of another transaction that is not committed. */
	assert_int_equal(xv_mr_create(tx2, &mr, XV_OPTS(xv_mr_opts, .pd = &pd,
			.length = 1)), -EINVAL);
	/* All that follows fails too, and so does the commit. */
	assert_int_equal(xv_pd_create(tx2, &other), -EINVAL);
	assert_int_equal(xv_txn_commit(tx2, &err), -EINVAL);
	assert_int_equal(err.err, EINVAL);
	assert_int_equal(err.op, 0);
	assert_int_equal(err.reason, XV_R_REFERENCE);
	assert_int_equal(fake.txns, 0);
	assert_null(mr.obj.tx);
	/* Then it is as new. */
	assert_int_equal(xv_pd_create(tx2, &other), 0);
	assert_int_equal(xv_txn_commit(tx2, NULL), 0);
	/* Twice the same object. */
	assert_int_equal(xv_pd_create(tx, &pd), -EINVAL);
	xv_txn_reset(tx);
	assert_null(pd.obj.tx);
	assert_int_equal(xv_pd_create(tx, &other), -EINVAL);
	xv_txn_free(tx);
	xv_txn_free(tx2);
	/* Without a transaction a failure does not last. */
	assert_int_equal(xv_pd_create(xv_now(ctx), &other), -EINVAL);
	assert_int_equal(xv_pd_create(xv_now(ctx), &pd), 0);
}

static void free_forgets(void **state)
{
	struct xv_pd pd = {};
	struct xv_tx *tx;

	(void)state;
	assert_int_equal(xv_txn_begin(ctx, 0, &tx), 0);
	xv_pd_create(tx, &pd);
	xv_txn_free(tx);
	assert_null(pd.obj.tx);
	assert_int_equal(xv_pd_create(xv_now(ctx), &pd), 0);
}

static void own_immediate(void **state)
{
	struct xv_pd pd = {};
	struct xv_tx *tx;

	(void)state;
	assert_int_equal(xv_txn_begin(ctx, XV_TXN_NOW, &tx), 0);
	assert_int_equal(xv_pd_create(tx, &pd), 0);
	assert_int_equal(fake.txns, 1);
	assert_int_equal(((struct xv_txn *)fake.wire)->flags, 0);
	fake_fail(&range, 1);
	assert_int_equal(xv_pd_destroy(tx, &pd), -EINVAL);
	assert_int_equal(xv_txn_error(tx)->reason, XV_R_RANGE);
	assert_int_equal(xv_txn_error(xv_now(ctx))->err, 0);
	xv_txn_free(tx);
}

static void area_mapped_once(void **state)
{
	struct xv_cq cq[4] = {};
	struct xv_qp qp[4] = {};
	struct xv_pd pd = {};
	unsigned int i;

	(void)state;
	pd.obj.handle = 7;
	for (i = 0; i < 4; i++) {
		assert_int_equal(xv_cq_create(xv_now(ctx), &cq[i],
				 XV_OPTS(xv_cq_opts, .cqe = 8)), 0);
		assert_int_equal(xv_qp_create(xv_now(ctx), &qp[i],
				 XV_OPTS(xv_qp_opts, .pd = &pd,
					 .send_cq = &cq[i], .send_wr = 4,
					 .recv_wr = 4)), 0);
	}
	assert_int_equal(fake.mmaps, 1);
	assert_ptr_equal(cq[0].ring, fake.area);
	assert_true((uint8_t *)qp[3].ring > fake.area);
	/* Another offset is another area. */
	fake.area_offset += 0x1000000;
	fake.area_used = 0;
	memset(&cq[0], 0, sizeof(cq[0]));
	assert_int_equal(xv_cq_create(xv_now(ctx), &cq[0],
			 XV_OPTS(xv_cq_opts, .cqe = 8)), 0);
	assert_int_equal(fake.mmaps, 2);
}

static void mmap_fails(void **state)
{
	struct xv_eventq eq = {};
	struct xv_pd pd = {};
	struct xv_cq cq = {};
	struct xv_srq srq = {};
	struct xv_error err;
	struct xv_tx *tx;

	(void)state;
	fake.mmap_errno = ENOMEM;
	assert_int_equal(xv_txn_begin(ctx, 0, &tx), 0);
	xv_eventq_create(tx, &eq);
	xv_pd_create(tx, &pd);
	xv_cq_create(tx, &cq, XV_OPTS(xv_cq_opts, .cqe = 8));
	xv_srq_create(tx, &srq, XV_OPTS(xv_srq_opts, .pd = &pd,
					.recv_wr = 8));
	assert_int_equal(xv_txn_commit(tx, &err), -ENOMEM);
	assert_int_equal(err.err, ENOMEM);
	assert_int_equal(err.op, XV_NO_OP);
	/* What was made is taken back. */
	assert_int_equal(fake.txns, 2);
	check_op(0, XV_OBJ_PD, XV_M_DESTROY, 1);
	check_attr(0, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 100);
	check_op(1, XV_OBJ_CQ, XV_M_DESTROY, 1);
	check_attr(1, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 101);
	check_op(2, XV_OBJ_SRQ, XV_M_DESTROY, 1);
	check_attr(2, 0, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 102);
	assert_int_equal(pd.obj.handle | cq.obj.handle | srq.obj.handle |
			 eq.open, 0);
	assert_null(cq.ring);
	assert_null(srq.ring);
	xv_txn_free(tx);
}

static void area_outside(void **state)
{
	struct xv_cq cq = {};

	(void)state;
	fake.bad_area = true;
	assert_int_equal(xv_cq_create(xv_now(ctx), &cq,
			 XV_OPTS(xv_cq_opts, .cqe = 8)), -EPROTO);
	assert_int_equal(cq.obj.handle, 0);
	assert_int_equal(fake.mmaps, 0);
}

static void open_fd(void **state)
{
	struct xv_ctx *other;
	int fd;

	(void)state;
	fd = open("/dev/null", O_RDWR);
	assert_int_equal(xv_open_fd(fd, 0, &other), 0);
	assert_int_not_equal(xv_fd(other), fd);
	assert_true(fcntl(xv_fd(other), F_GETFD) & FD_CLOEXEC);
	assert_int_equal(xv_num_ioctls(other), 0);
	close(fd);
	xv_close(other);
	assert_int_equal(xv_open_fd(-1, 0, &other), -EBADF);
	assert_int_equal(xv_open_fd(0, 1, &other), -EINVAL);
	assert_int_equal(xv_open(NULL, 1, &other), -EINVAL);
	xv_close(NULL);
}

static void open_fd_foreign(void **state)
{
	struct xv_error err = { .err = ENOTTY };
	struct xv_ctx *other;
	int fd;

	(void)state;
	fd = open("/dev/null", O_RDWR);
	fake_fail(&err, 1);
	assert_int_equal(xv_open_fd(fd, 0, &other), -ENOTTY);
	/* A device that is gone can be opened, to destroy and to close. */
	err.err = ENODEV;
	fake_fail(&err, 1);
	assert_int_equal(xv_open_fd(fd, 0, &other), 0);
	xv_close(other);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(error_record), T(error_without_record), T(retry_conflict),
		T(retry_is_bounded), T(retry_is_the_same), T(no_retry),
		T(batch_stops), T(empty_transaction), T(commit_twice),
		T(broken_transaction), T(free_forgets), T(own_immediate),
		T(area_mapped_once), T(mmap_fails), T(area_outside),
		T(open_fd), T(open_fd_foreign),
	};

	return cmocka_run_group_tests_name("commit", tests, NULL, NULL);
}
