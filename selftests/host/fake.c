// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A kernel for the library's tests.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "fake.h"

struct fake fake;

int __real_ioctl(int fd, unsigned long cmd, ...);
void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);
int __real_munmap(void *addr, size_t len);
int __wrap_ioctl(int fd, unsigned long cmd, ...);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);
void *__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t off);
int __wrap_munmap(void *addr, size_t len);
int __wrap_nanosleep(const struct timespec *req, struct timespec *rem);
int __wrap_sched_yield(void);

static const struct xv_op *op_at(const void *wire, unsigned int n)
{
	const struct xv_txn *txn = wire;
	const struct xv_op *op = (const struct xv_op *)(txn + 1);

	if (n >= txn->num_ops)
		return NULL;
	while (n--)
		op = (const struct xv_op *)
			((const struct xv_attr *)(op + 1) + op->num_attrs);
	return op;
}

const struct xv_op *fake_op(unsigned int n)
{
	return op_at(fake.wire, n);
}

const struct xv_attr *fake_attr(unsigned int n, unsigned int i)
{
	const struct xv_op *op = fake_op(n);

	if (!op || i >= op->num_attrs)
		return NULL;
	return (const struct xv_attr *)(op + 1) + i;
}

static uint64_t number(const struct xv_op *op, unsigned int group,
		       unsigned int id)
{
	const struct xv_attr *a = (const struct xv_attr *)(op + 1);
	unsigned int i;

	for (i = 0; i < op->num_attrs; i++)
		if (a[i].group == group && a[i].id == id)
			return a[i].data;
	return 0;
}

static uint32_t pow2(uint32_t n)
{
	uint32_t p = 1;

	if (!n)
		return 0;
	while (p < n)
		p *= 2;
	return p;
}

static void put_out(struct xv_attr *a, const void *info, size_t len)
{
	memcpy((void *)(uintptr_t)a->data, info, a->len < len ? a->len : len);
	a->len = len;
}

static struct xv_area take_area(uint32_t length)
{
	struct xv_area area = {
		.mmap_offset = fake.area_offset,
		.mmap_length = FAKE_AREA_LEN,
		.offset = fake.area_used,
		.length = length,
	};

	fake.area_used += (length + 127) & ~127U;
	if (fake.bad_area)
		area.offset = FAKE_AREA_LEN;
	return area;
}

static void answer_info(const struct xv_op *op, struct xv_attr *a)
{
	switch (op->object << 8 | op->method) {
	case XV_OBJ_DEVICE << 8 | XV_M_QUERY: {
		struct xv_device_info info = { .abi_version = XV_ABI_VERSION };

		put_out(a, &info, sizeof(info));
		break;
	}
	case XV_OBJ_DEVICE << 8 | XV_M_DESCRIBE:
		put_out(a, fake.describe, fake.describe_len);
		break;
	case XV_OBJ_MR << 8 | XV_M_CREATE: {
		struct xv_mr_info info = {
			.addr = number(op, XV_GRP_PARAMS, XV_PARAMS_ADDR),
			.length = number(op, XV_GRP_PARAMS, XV_PARAMS_LENGTH),
			.rkey = 0x1234,
		};

		info.iova = info.addr;
		put_out(a, &info, sizeof(info));
		break;
	}
	case XV_OBJ_CQ << 8 | XV_M_CREATE: {
		struct xv_cq_info info = {
			.cqe = number(op, XV_GRP_CAPS, XV_CAPS_CQE),
		};

		info.entries = pow2(info.cqe);
		info.area = take_area(sizeof(struct xv_cq_ring) +
				      info.entries * sizeof(struct xv_wc));
		put_out(a, &info, sizeof(info));
		break;
	}
	case XV_OBJ_QP << 8 | XV_M_CREATE: {
		struct xv_qp_info info = {
			.send_wr = number(op, XV_GRP_CAPS, XV_CAPS_SEND_WR),
			.recv_wr = number(op, XV_GRP_CAPS, XV_CAPS_RECV_WR),
			.qp_num = 17,
		};

		info.send_entries = pow2(info.send_wr);
		info.recv_entries = pow2(info.recv_wr);
		info.area = take_area(sizeof(struct xv_qp_ring) +
				      info.send_entries *
				      sizeof(struct xv_send) +
				      info.recv_entries *
				      sizeof(struct xv_recv));
		put_out(a, &info, sizeof(info));
		break;
	}
	case XV_OBJ_SRQ << 8 | XV_M_CREATE: {
		struct xv_srq_info info = {
			.recv_wr = number(op, XV_GRP_CAPS, XV_CAPS_RECV_WR),
		};

		info.recv_entries = pow2(info.recv_wr);
		info.area = take_area(sizeof(struct xv_srq_ring) +
				      info.recv_entries *
				      sizeof(struct xv_recv));
		put_out(a, &info, sizeof(info));
		break;
	}
	default:
		memset((void *)(uintptr_t)a->data, 0x5a, a->len);
	}
}

static void answer(struct xv_txn *txn)
{
	unsigned int n, i;

	for (n = 0; n < txn->num_ops; n++) {
		struct xv_op *op = (struct xv_op *)op_at(txn, n);
		struct xv_attr *a = (struct xv_attr *)(op + 1);

		for (i = 0; i < op->num_attrs; i++, a++) {
			if (a->group == XV_GRP_OBJECT &&
			    a->id == XV_OBJECT_HANDLE &&
			    op->method == XV_M_CREATE)
				a->data = op->object == XV_OBJ_EVENTQ ?
					  (uint64_t)open("/dev/null", O_RDONLY) :
					  fake.next_handle++;
			else if (a->group == XV_GRP_RESULT)
				answer_info(op, a);
		}
	}
}

/* What the header calls undefined content after an error. */
static void scribble(struct xv_txn *txn)
{
	unsigned int n, i;

	for (n = 0; n < txn->num_ops; n++) {
		struct xv_op *op = (struct xv_op *)op_at(txn, n);
		struct xv_attr *a = (struct xv_attr *)(op + 1);

		for (i = 0; i < op->num_attrs; i++, a++) {
			if (a->group == XV_GRP_OBJECT && !a->data)
				a->data = 0xdead;
			else if (a->group == XV_GRP_RESULT)
				a->len = 3;
		}
	}
}

static int do_txn(struct xv_txn *txn)
{
	struct xv_error *record = (void *)(uintptr_t)txn->error_ptr;

	fake.txns++;
	assert_true(txn->length <= sizeof(fake.wire));
	memcpy(fake.wire, txn, txn->length);
	if (fake.describe_errno && op_at(txn, 0)->method == XV_M_DESCRIBE) {
		errno = fake.describe_errno;
		return -1;
	}
	if (fake.num_fails && op_at(txn, 0)->method != XV_M_DESCRIBE) {
		struct xv_error err = fake.fails[0];

		memmove(fake.fails, fake.fails + 1,
			--fake.num_fails * sizeof(err));
		if (!fake.no_record && record)
			*record = err;
		if (fake.scribble)
			scribble(txn);
		if (fake.batch_done)
			return fake.batch_done;
		errno = err.err;
		return -1;
	}
	answer(txn);
	return txn->flags & XV_TXN_F_BATCH ? (int)txn->num_ops : 0;
}

static int do_enter(struct xv_enter *enter)
{
	struct xv_enter_qp *qps = (void *)(uintptr_t)enter->qps;
	unsigned int i;

	fake.enters++;
	fake.enter = *enter;
	for (i = 0; i < enter->num_qps; i++) {
		if (i < 16)
			fake.enter_qps[i] = qps[i];
		qps[i].sends_taken = fake.sends_taken < 0 ?
				     qps[i].num_send : fake.sends_taken;
		qps[i].recvs_taken = qps[i].num_recv;
		qps[i].err = fake.enter_qp_err;
		qps[i].reason = fake.enter_qp_reason;
	}
	if (fake.on_enter)
		fake.on_enter(enter);
	if (fake.enter_errno) {
		errno = fake.enter_errno;
		return -1;
	}
	return 0;
}

int __wrap_ioctl(int fd, unsigned long cmd, ...)
{
	va_list args;
	void *arg;

	va_start(args, cmd);
	arg = va_arg(args, void *);
	va_end(args);
	if (cmd == XV_IOC_TXN)
		return do_txn(arg);
	if (cmd == XV_IOC_ENTER)
		return do_enter(arg);
	return __real_ioctl(fd, cmd, arg);
}

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	if (fd < 0)
		return __real_mmap(addr, len, prot, flags, fd, off);
	fake.mmaps++;
	assert_int_equal(prot, PROT_READ | PROT_WRITE);
	assert_int_equal(flags, MAP_SHARED);
	assert_int_equal(len, FAKE_AREA_LEN);
	assert_int_equal(off, fake.area_offset);
	if (fake.mmap_errno) {
		errno = fake.mmap_errno;
		return MAP_FAILED;
	}
	return fake.area;
}

void *__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	return __wrap_mmap(addr, len, prot, flags, fd, off);
}

int __wrap_munmap(void *addr, size_t len)
{
	if (addr != fake.area)
		return __real_munmap(addr, len);
	assert_int_equal(len, FAKE_AREA_LEN);
	fake.munmaps++;
	return 0;
}

int __wrap_nanosleep(const struct timespec *req, struct timespec *rem)
{
	(void)rem;
	fake.sleeps++;
	assert_true(req->tv_sec == 0 && req->tv_nsec <= 20 * 1000 * 1000);
	return 0;
}

int __wrap_sched_yield(void)
{
	return 0;
}

struct xv_ctx *fake_open(void)
{
	struct xv_ctx *ctx;
	int fd;

	free(fake.area);
	free(fake.describe);
	memset(&fake, 0, sizeof(fake));
	fake.next_handle = 100;
	fake.sends_taken = -1;
	fake.area_offset = 0x40000000ULL;
	fake.area = aligned_alloc(4096, FAKE_AREA_LEN);
	memset(fake.area, 0, FAKE_AREA_LEN);
	fd = open("/dev/null", O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(xv_open_fd(fd, 0, &ctx), 0);
	close(fd);
	fake.txns = 0;
	return ctx;
}

void fake_close(struct xv_ctx *ctx)
{
	xv_close(ctx);
	assert_int_equal(fake.munmaps, fake.mmap_errno ? 0 : fake.mmaps);
	free(fake.area);
	free(fake.describe);
	fake.area = NULL;
	fake.describe = NULL;
}

void fake_fail(const struct xv_error *err, unsigned int times)
{
	while (times--)
		fake.fails[fake.num_fails++] = *err;
}

static const struct xv_desc lines[] = {
	{ .what = XV_DESC_OBJECT, .object = XV_OBJ_PD, .name = "pd" },
	{ .what = XV_DESC_METHOD, .object = XV_OBJ_PD, .method = XV_M_DESTROY,
	  .kind = XV_C_DESTROY, .name = "destroy" },
	{ .what = XV_DESC_OBJECT, .object = XV_OBJ_MR, .name = "mr" },
	{ .what = XV_DESC_OBJECT, .object = XV_OBJ_QP, .name = "qp" },
	{ .what = XV_DESC_METHOD, .object = XV_OBJ_QP, .method = XV_M_CREATE,
	  .kind = XV_C_CREATE, .name = "create" },
	{ .what = XV_DESC_GROUP, .object = XV_OBJ_QP, .method = XV_M_CREATE,
	  .group = XV_GRP_CAPS, .flags = XV_DESC_F_REQUIRED, .name = "caps" },
	{ .what = XV_DESC_ATTR, .object = XV_OBJ_QP, .method = XV_M_CREATE,
	  .group = XV_GRP_CAPS, .id = XV_CAPS_SEND_WR, .kind = XV_K_U32,
	  .min = 1, .max = 1024, .name = "send_wr" },
	{ .what = XV_DESC_GROUP, .object = XV_OBJ_QP, .method = XV_M_CREATE,
	  .group = XV_GRP_PARAMS, .name = "params" },
	{ .what = XV_DESC_ATTR, .object = XV_OBJ_QP, .method = XV_M_CREATE,
	  .group = XV_GRP_PARAMS, .id = XV_PARAMS_QP_TYPE, .kind = XV_K_ENUM,
	  .max = 1 << XV_QPT_RC, .name = "qp_type" },
	{ .what = XV_DESC_GROUP, .object = XV_OBJ_QP, .method = XV_M_CREATE,
	  .group = XV_GRP_OBJECT, .name = "object" },
	{ .what = XV_DESC_ATTR, .object = XV_OBJ_QP, .method = XV_M_CREATE,
	  .group = XV_GRP_OBJECT, .id = XV_OBJECT_PD, .kind = XV_K_READ,
	  .type = XV_OBJ_PD, .name = "pd" },
	{ .what = XV_DESC_REASON, .id = XV_R_STATE, .max = EINVAL,
	  .name = "wrong state" },
	{ .what = XV_DESC_REASON, .id = XV_R_MISSING, .max = EINVAL,
	  .name = "missing" },
	{ .what = XV_DESC_REASON, .id = XV_R_RANGE, .max = EINVAL,
	  .name = "out of range" },
	{ .what = XV_DESC_REASON, .id = XV_R_LENGTH, .max = EINVAL,
	  .name = "wrong length" },
	{ .what = XV_DESC_REASON, .id = XV_R_FLAGS, .max = EINVAL,
	  .name = "unknown flag" },
	{ .what = XV_DESC_REASON, .id = XV_R_DEPENDENT, .max = EBUSY,
	  .name = "held by a dependent" },
	{ .what = XV_DESC_REASON, .id = XV_R_TOO_BIG, .max = E2BIG,
	  .name = "too big" },
	{ .what = XV_DESC_REASON, .id = XV_R_MEMLOCK, .max = ENOMEM,
	  .name = "RLIMIT_MEMLOCK" },
	{ .what = XV_DESC_REASON, .id = XV_R_DRIVER, .max = EIO,
	  .name = "driver failed" },
};

/* Lines 8 bytes longer than we know, as a later kernel may have them. */
void fake_make_describe(void)
{
	const size_t line = sizeof(struct xv_desc) + 8;
	const unsigned int num = ARRAY_SIZE(lines);
	struct xv_describe *d;
	unsigned int i;

	fake.describe_len = sizeof(*d) + 16 + num * line;
	d = calloc(1, fake.describe_len);
	d->abi_version = XV_ABI_VERSION;
	d->header_size = sizeof(*d) + 16;
	d->desc_size = line;
	d->num_descs = num;
	for (i = 0; i < num; i++)
		memcpy((uint8_t *)d + d->header_size + i * line, &lines[i],
		       sizeof(lines[i]));
	fake.describe = d;
}
