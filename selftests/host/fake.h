/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A kernel for the library's tests: it stands behind ioctl(2) and mmap(2),
 * remembers what it was sent and answers as it was told to.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _FAKE_H
#define _FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "xverbs.h"

#define FAKE_AREA_LEN	(256 * 1024)
#define FAKE_MAX_FAILS	64

struct fake {
	unsigned int txns;		/* calls */
	unsigned int enters;
	unsigned int mmaps;
	unsigned int munmaps;
	unsigned int sleeps;

	_Alignas(8) uint8_t wire[4 * 65536];	/* the last transaction sent */
	struct xv_enter enter;		/* the last ENTER, as it was sent */
	struct xv_enter_qp enter_qps[16];

	/* The next calls fail so; then they succeed. */
	struct xv_error fails[FAKE_MAX_FAILS];
	unsigned int num_fails;
	bool no_record;			/* but do not fill the record */
	bool scribble;			/* failed calls write to outputs */
	int batch_done;			/* a batch stops after so many */

	int mmap_errno;			/* mmap fails so */
	int sends_taken;		/* ENTER takes so many; -1: all */
	int enter_qp_err;
	int enter_qp_reason;
	int enter_errno;
	void (*on_enter)(struct xv_enter *enter);

	uint32_t next_handle;
	uint32_t area_used;
	uint64_t area_offset;
	uint8_t *area;
	uint32_t entries_scale;		/* 0: as asked for */
	bool bad_area;			/* an object's part lies outside */

	void *describe;
	size_t describe_len;
	int describe_errno;
};

extern struct fake fake;

/* A context on the fake kernel; counters are 0. */
struct xv_ctx *fake_open(void);
void fake_close(struct xv_ctx *ctx);
/* The next @times calls fail with @err. */
void fake_fail(const struct xv_error *err, unsigned int times);

/* Operation @n of the last transaction. */
const struct xv_op *fake_op(unsigned int n);
const struct xv_attr *fake_attr(unsigned int n, unsigned int i);

#define check_op(n, obj, meth, attrs)					\
do {									\
	const struct xv_op *_op = fake_op(n);				\
									\
	assert_non_null(_op);						\
	assert_int_equal(_op->object, obj);				\
	assert_int_equal(_op->method, meth);				\
	assert_int_equal(_op->num_attrs, attrs);			\
	assert_int_equal(_op->flags, 0);				\
	assert_int_equal(_op->reserved[0] | _op->reserved[1], 0);	\
} while (0)

#define check_attr(n, i, g, a, l, f, d)					\
do {									\
	const struct xv_attr *_a = fake_attr(n, i);			\
									\
	assert_non_null(_a);						\
	assert_int_equal(_a->group, g);					\
	assert_int_equal(_a->id, a);					\
	assert_int_equal(_a->len, l);					\
	assert_int_equal(_a->flags, f);					\
	assert_int_equal(_a->data, (uint64_t)(d));			\
} while (0)

/* Canned tables, as device.describe gives them. */
void fake_make_describe(void);

#endif /* _FAKE_H */
