// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Error records in words.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <errno.h>
#include <string.h>

#include "fake.h"

static struct xv_ctx *ctx;
static struct xv_tx *tx;

static int setup(void **state)
{
	(void)state;
	ctx = fake_open();
	fake_make_describe();
	assert_int_equal(xv_txn_begin(ctx, 0, &tx), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	xv_txn_free(tx);
	fake_close(ctx);
	return 0;
}

/* A transaction of a pd.destroy and a qp.create fails so. */
static void fail_with(const struct xv_error *err, uint32_t send_wr)
{
	assert_int_equal(xv_txn_op(tx, XV_OBJ_PD, XV_M_DESTROY), 0);
	xv_txn_attr_handle(tx, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 3);
	assert_int_equal(xv_txn_op(tx, XV_OBJ_QP, XV_M_CREATE), 1);
	xv_txn_attr_u32(tx, XV_GRP_CAPS, XV_CAPS_SEND_WR, send_wr);
	xv_txn_attr_u32(tx, XV_GRP_PARAMS, XV_PARAMS_QP_TYPE, 9);
	fake_fail(err, 1);
	assert_int_equal(xv_txn_commit(tx, NULL), -err->err);
}

#define check_text(want)						\
do {									\
	char _buf[256];							\
	int _len = xv_error_text(ctx, tx, xv_txn_error(tx), _buf,	\
				 sizeof(_buf));				\
									\
	assert_string_equal(_buf, want);				\
	assert_int_equal(_len, strlen(want));				\
} while (0)

static void range_most(void **state)
{
	struct xv_error err = { .err = EINVAL, .op = 1, .group = XV_GRP_CAPS,
				.attr = XV_CAPS_SEND_WR, .reason = XV_R_RANGE,
				.detail = 1024 };

	(void)state;
	fail_with(&err, 5000);
	check_text("operation 1 (qp.create): caps.send_wr: out of range, at most 1024 (EINVAL)");
}

static void range_least(void **state)
{
	struct xv_error err = { .err = EINVAL, .op = 1, .group = XV_GRP_CAPS,
				.attr = XV_CAPS_SEND_WR, .reason = XV_R_RANGE,
				.detail = 1 };

	(void)state;
	fail_with(&err, 0);
	check_text("operation 1 (qp.create): caps.send_wr: out of range, at least 1 (EINVAL)");
}

static void range_enum(void **state)
{
	struct xv_error err = { .err = EINVAL, .op = 1, .group = XV_GRP_PARAMS,
				.attr = XV_PARAMS_QP_TYPE,
				.reason = XV_R_RANGE, .detail = 2 };

	(void)state;
	fail_with(&err, 1);
	check_text("operation 1 (qp.create): params.qp_type: out of range, one of 1 (EINVAL)");
}

static void missing_group(void **state)
{
	struct xv_error err = { .err = EINVAL, .op = 1, .group = XV_GRP_CAPS,
				.reason = XV_R_MISSING };

	(void)state;
	fail_with(&err, 1);
	check_text("operation 1 (qp.create): caps: missing (EINVAL)");
}

static void held_by(void **state)
{
	struct xv_error err = { .err = EBUSY, .op = 0,
				.reason = XV_R_DEPENDENT,
				.object = XV_OBJ_MR, .handle = 7 };

	(void)state;
	fail_with(&err, 1);
	check_text("operation 0 (pd.destroy): held by a dependent: mr 7 (EBUSY)");
}

static void from_below(void **state)
{
	struct xv_error err = { .err = EIO, .op = 1, .reason = XV_R_DRIVER,
				.raw = ENOSPC };

	(void)state;
	fail_with(&err, 1);
	check_text("operation 1 (qp.create): driver failed (EIO, below: ENOSPC)");
}

static void message(void **state)
{
	struct xv_error err = { .err = E2BIG, .op = XV_NO_OP,
				.reason = XV_R_TOO_BIG, .detail = 64 };

	(void)state;
	fail_with(&err, 1);
	check_text("transaction: too big, at most 64 (E2BIG)");
}

static void memlock(void **state)
{
	struct xv_error err = { .err = ENOMEM, .op = 1,
				.reason = XV_R_MEMLOCK, .detail = 8192 };

	(void)state;
	fail_with(&err, 1);
	check_text("operation 1 (qp.create): RLIMIT_MEMLOCK, 8192 bytes needed (ENOMEM)");
}

static void flags(void **state)
{
	struct xv_error err = { .err = EINVAL, .op = 1, .group = XV_GRP_CAPS,
				.attr = XV_CAPS_SEND_WR, .reason = XV_R_FLAGS,
				.detail = 0x1f };

	(void)state;
	fail_with(&err, 1);
	check_text("operation 1 (qp.create): caps.send_wr: unknown flag, known are 0x1f (EINVAL)");
}

static void unknown_names(void **state)
{
	struct xv_error err = { .err = EPROTONOSUPPORT, .op = 1, .group = 99,
				.attr = 98, .reason = 97 };

	(void)state;
	fail_with(&err, 1);
	check_text("operation 1 (qp.create): group 99.attribute 98: reason 97 (EPROTONOSUPPORT)");
}

static void success(void **state)
{
	struct xv_error err = {};
	char buf[64];

	(void)state;
	assert_int_equal(xv_error_text(ctx, NULL, &err, buf, sizeof(buf)), 8);
	assert_string_equal(buf, "no error");
	assert_int_equal(fake.txns, 0);
}

static void no_record(void **state)
{
	struct xv_error err = { .err = ENOTTY, .op = XV_NO_OP };
	char buf[64];

	(void)state;
	xv_error_text(ctx, NULL, &err, buf, sizeof(buf));
	assert_string_equal(buf, "transaction: not done (ENOTTY)");
}

static void without_transaction(void **state)
{
	struct xv_error err = { .err = EINVAL, .op = 1, .group = XV_GRP_CAPS,
				.attr = XV_CAPS_SEND_WR, .reason = XV_R_RANGE,
				.detail = 1024 };
	char buf[256];

	(void)state;
	xv_error_text(ctx, NULL, &err, buf, sizeof(buf));
	assert_string_equal(buf, "operation 1: group 3.attribute 3: out of range, limit 1024 (EINVAL)");
}

static void without_tables(void **state)
{
	struct xv_error err = { .err = EINVAL, .op = 1, .group = XV_GRP_CAPS,
				.attr = XV_CAPS_SEND_WR, .reason = XV_R_RANGE,
				.detail = 1024 };

	(void)state;
	fake.describe_errno = ENODEV;
	fail_with(&err, 5000);
	check_text("operation 1 (object 6.method 1): group 3.attribute 3: reason 7, at most 1024 (EINVAL)");
	/* Later it works, and the record is still the old one. */
	fake.describe_errno = 0;
	check_text("operation 1 (qp.create): caps.send_wr: out of range, at most 1024 (EINVAL)");
}

static void fetched_once(void **state)
{
	struct xv_error err = { .err = EBUSY, .op = 0,
				.reason = XV_R_DEPENDENT };

	(void)state;
	fail_with(&err, 1);
	fake.txns = 0;
	check_text("operation 0 (pd.destroy): held by a dependent (EBUSY)");
	check_text("operation 0 (pd.destroy): held by a dependent (EBUSY)");
	assert_int_equal(fake.txns, 1);
	assert_string_equal(xv_reason_name(ctx, XV_R_RANGE), "out of range");
	assert_null(xv_reason_name(ctx, 999));
	assert_string_equal(xv_object_name(ctx, XV_OBJ_MR), "mr");
	assert_int_equal(fake.txns, 1);
}

static void short_buffer(void **state)
{
	struct xv_error err = { .err = EBUSY, .op = 0,
				.reason = XV_R_DEPENDENT };
	const int full = strlen("operation 0 (pd.destroy): held by a dependent (EBUSY)");
	char buf[80];
	int i;

	(void)state;
	fail_with(&err, 1);
	for (i = 0; i < 64; i++) {
		memset(buf, 'x', sizeof(buf));
		assert_int_equal(xv_error_text(ctx, tx, xv_txn_error(tx), buf,
					       i), full);
		if (i)
			assert_int_equal(strlen(buf), i - 1 < full ? i - 1 :
					 full);
		assert_int_equal(buf[i], 'x');
	}
	assert_int_equal(xv_error_text(ctx, tx, xv_txn_error(tx), NULL, 0),
			 full);
}

static void bad_tables(void **state)
{
	const struct xv_describe *desc;
	struct xv_describe *d = fake.describe;

	(void)state;
	d->num_descs = 100000;
	assert_int_equal(xv_describe(ctx, &desc), -EPROTO);
	d->num_descs = 1;
	d->desc_size = 8;
	assert_int_equal(xv_describe(ctx, &desc), -EPROTO);
	d->desc_size = sizeof(struct xv_desc) + 8;
	d->header_size = 4;
	assert_int_equal(xv_describe(ctx, &desc), -EPROTO);
	d->header_size = sizeof(*d) + 16;
	assert_int_equal(xv_describe(ctx, &desc), 0);
	assert_non_null(xv_describe_line(desc, 0));
	assert_null(xv_describe_line(desc, 1));
}

static void status_names(void **state)
{
	unsigned int i;

	(void)state;
	for (i = XV_WC_SUCCESS; i <= XV_WC_GENERAL_ERR; i++)
		assert_string_not_equal(xv_wc_status_name(i), "unknown");
	assert_string_equal(xv_wc_status_name(i), "unknown");
}

static void other_names(void **state)
{
	unsigned int i;

	(void)state;
	assert_string_equal(xv_qp_state_name(XV_QPS_INIT), "INIT");
	assert_string_equal(xv_qp_state_name(0), "unknown");
	for (i = XV_QPS_RESET; i <= XV_QPS_SQD; i++)
		assert_string_not_equal(xv_qp_state_name(i), "unknown");
	assert_string_equal(xv_qp_state_name(i), "unknown");
	assert_string_equal(xv_opcode_name(0), "unknown");
	for (i = XV_WR_SEND; i <= XV_WR_BIND_MW; i++)
		assert_string_not_equal(xv_opcode_name(i), "unknown");
	assert_string_equal(xv_opcode_name(i), "unknown");
	assert_string_equal(xv_event_name(0), "unknown");
	for (i = XV_EV_COMPLETION; i <= XV_EV_GID_CHANGE; i++)
		assert_string_not_equal(xv_event_name(i), "unknown");
	assert_string_equal(xv_event_name(i), "unknown");
	assert_string_equal(xv_conn_state_name(0), "unknown");
	for (i = XV_CONN_RESOLVING; i <= XV_CONN_ENDED; i++)
		assert_string_not_equal(xv_conn_state_name(i), "unknown");
	assert_string_equal(xv_conn_state_name(i), "unknown");
	assert_string_equal(xv_conn_state_name(XV_CONN_ACCEPTING), "ACCEPTING");
}

static void range_without_limit(void **state)
{
	struct xv_error err = { .err = EINVAL, .op = 1, .group = XV_GRP_CAPS,
				.attr = XV_CAPS_SEND_WR, .reason = XV_R_RANGE };

	(void)state;
	fail_with(&err, 5000);
	check_text("operation 1 (qp.create): caps.send_wr: out of range (EINVAL)");
}

static void present_state(void **state)
{
	struct xv_error err = { .err = EINVAL, .op = 1, .reason = XV_R_STATE,
				.detail = XV_QPS_INIT };

	(void)state;
	fail_with(&err, 1);
	check_text("operation 1 (qp.create): wrong state, now in INIT (EINVAL)");
}

/* What the library itself refuses has a record too, and is never sent. */
static void refused(unsigned int op, unsigned int reason, unsigned int group,
		    unsigned int attr)
{
	struct xv_error want = { .err = EINVAL, .op = op, .reason = reason,
				 .group = group, .attr = attr };
	unsigned int sent = fake.txns;
	struct xv_error err;

	assert_int_equal(xv_txn_commit(tx, &err), -EINVAL);
	assert_int_equal(fake.txns, sent);
	assert_memory_equal(&err, &want, sizeof(err));
	assert_memory_equal(xv_txn_error(tx), &want, sizeof(err));
}

static void refused_handles(void **state)
{
	struct xv_eventq eq = { .open = 1 };
	struct xv_pd pd = {}, unused = {};
	struct xv_mr mr = {};
	struct xv_cq cq = {};
	struct xv_qp qp = {};

	(void)state;
	xv_pd_create(tx, &pd);
	xv_qp_create(tx, &qp, XV_OPTS(xv_qp_opts, .send_cq = &cq));
	refused(1, XV_R_MISSING, XV_GRP_OBJECT, XV_OBJECT_PD);
	check_text("operation 1 (qp.create): object.pd: missing (EINVAL)");
	/* Of two the first one counts. */
	xv_pd_create(tx, &pd);
	xv_mr_create(tx, &mr, XV_OPTS(xv_mr_opts, .length = 1));
	xv_pd_create(tx, &pd);
	refused(1, XV_R_MISSING, XV_GRP_OBJECT, XV_OBJECT_PD);
	xv_qp_create(tx, &qp, XV_OPTS(xv_qp_opts, .pd = &pd));
	refused(0, XV_R_MISSING, XV_GRP_OBJECT, XV_OBJECT_SEND_CQ);
	xv_pd_create(tx, &pd);
	xv_pd_create(tx, &unused);
	xv_pd_create(tx, &pd);
	refused(2, XV_R_DUPLICATE, XV_GRP_OBJECT, XV_OBJECT_HANDLE);
	xv_eventq_create(tx, &eq);
	refused(0, XV_R_DUPLICATE, XV_GRP_OBJECT, XV_OBJECT_HANDLE);
	xv_cq_create(tx, &cq, XV_OPTS(xv_cq_opts, .cqe = 1, .cookie = 1));
	refused(0, XV_R_MISSING, XV_GRP_EVENTS, XV_EVENTS_QUEUE);
}

static void refused_opts(void **state)
{
	struct xv_cq_opts opts = { .cqe = 1 };
	struct xv_cq cq = {};

	(void)state;
	xv_cq_create(tx, &cq, &opts);
	refused(0, XV_R_LENGTH, 0, 0);
	xv_cq_create(tx, &cq, NULL);
	refused(0, XV_R_MISSING, 0, 0);
	xv_cq_create(tx, &cq, XV_OPTS(xv_cq_opts, .cqe = 1, .reserved = 1));
	refused(0, XV_R_RESERVED, 0, 0);
}

static void refused_empty(void **state)
{
	(void)state;
	assert_int_equal(xv_txn_commit(tx, NULL), -EINVAL);
	assert_int_equal(fake.txns, 0);
	check_text("transaction: out of range, at least 1 operation (EINVAL)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(range_most), T(range_least), T(range_enum), T(missing_group),
		T(held_by), T(from_below), T(message), T(memlock), T(flags),
		T(unknown_names), T(success), T(no_record),
		T(without_transaction), T(without_tables), T(fetched_once),
		T(short_buffer), T(bad_tables), T(status_names),
		T(other_names), T(range_without_limit), T(present_state),
		T(refused_handles), T(refused_opts), T(refused_empty),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
