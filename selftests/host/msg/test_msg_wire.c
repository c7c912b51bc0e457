// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Frames of a message channel: each rule of Documentation/xvmsg-wire.rst.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "wire.h"

/* As the page has them, byte by byte. */
static const uint8_t good_hello[XVW_HELLO_LEN] = {
	1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	'X', 'V', 'M', 'S', 1, 1, 0, 0,
	0, 0, 0x10, 0x00, 0, 0, 0, 66, 0x00, 0x10, 0x00, 0x00,
};

static const uint8_t good_first[XVW_HEADER_LEN + 3] = {
	2, 1, 0x01, 0x02, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xfe, 0, 0, 1, 0,
	'a', 'b', 'c',
};

static const uint8_t good_next[XVW_HEADER_LEN + 2] = {
	2, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 3, 'd', 'e',
};

static const uint8_t good_grant[XVW_HEADER_LEN] = {
	3, 0, 0, 5, 0x80, 0, 0, 1,
};

static const uint8_t good_bye[XVW_HEADER_LEN] = {
	4, 0, 0, 1, 0, 0, 0, 2, 0, 0, 1, 1,
};

static const uint8_t good_error[XVW_HEADER_LEN] = {
	5, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 18,
};

static uint8_t work[XVW_HELLO_LEN * 2];

/* A copy of the exact size, so that one byte beyond it is noticed. */
static enum xvw_fault parse(const uint8_t *bytes, size_t len,
			    struct xvw_frame *f)
{
	uint8_t *copy = malloc(len ? len : 1);
	enum xvw_fault fault;

	memcpy(copy, bytes, len);
	memset(f, 0x55, sizeof(*f));
	fault = xvw_parse(copy, len, f);
	free(copy);
	return fault;
}

static enum xvw_fault with_byte(const uint8_t *good, size_t len, size_t at,
				uint8_t val)
{
	struct xvw_frame f;

	memcpy(work, good, len);
	work[at] = val;
	return parse(work, len, &f);
}

#define WITH(good, at, val)	with_byte(good, sizeof(good), at, val)

static void put32(uint8_t *p, uint32_t val)
{
	p[0] = val >> 24;
	p[1] = val >> 16;
	p[2] = val >> 8;
	p[3] = val;
}

static enum xvw_fault with_u32(const uint8_t *good, size_t len, size_t at,
			       uint32_t val)
{
	struct xvw_frame f;

	memcpy(work, good, len);
	put32(work + at, val);
	return parse(work, len, &f);
}

#define WITH32(good, at, val)	with_u32(good, sizeof(good), at, val)

static void back(const uint8_t *good, size_t len, size_t head)
{
	struct xvw_frame f;

	assert_int_equal(parse(good, len, &f), XVW_FAULT_NONE);
	memset(work, 0x55, sizeof(work));
	assert_int_equal(xvw_put(work, &f), head);
	assert_memory_equal(work, good, head);
	assert_int_equal(work[head], 0x55);
}

static void round_trip(void **state)
{
	(void)state;
	back(good_hello, sizeof(good_hello), XVW_HELLO_LEN);
	back(good_first, sizeof(good_first), XVW_HEADER_LEN);
	back(good_next, sizeof(good_next), XVW_HEADER_LEN);
	back(good_grant, sizeof(good_grant), XVW_HEADER_LEN);
	back(good_bye, sizeof(good_bye), XVW_HEADER_LEN);
	back(good_error, sizeof(good_error), XVW_HEADER_LEN);
}

static void fields_of_hello(void **state)
{
	struct xvw_frame f;

	(void)state;
	assert_int_equal(parse(good_hello, sizeof(good_hello), &f), 0);
	assert_int_equal(f.type, XVW_HELLO);
	assert_int_equal(f.flags, 0);
	assert_int_equal(f.hello.version, 1);
	assert_int_equal(f.hello.version_min, 1);
	assert_int_equal(f.hello.fragment, 4096);
	assert_int_equal(f.hello.window, 66);
	assert_int_equal(f.hello.max_message, 1 << 20);
	assert_int_equal(WITH(good_hello, 1, XVW_F_ANSWER), XVW_FAULT_NONE);
}

static void fields_of_data(void **state)
{
	struct xvw_frame f;

	(void)state;
	assert_int_equal(xvw_parse(good_first, sizeof(good_first), &f), 0);
	assert_int_equal(f.type, XVW_DATA);
	assert_int_equal(f.flags, XVW_F_FIRST);
	assert_int_equal(f.credits, 0x102);
	assert_int_equal(f.ack, 7);
	assert_int_equal(f.seq, 0xfffffffe);
	assert_int_equal(f.arg, 256);
	assert_int_equal(f.data_len, 3);
	assert_ptr_equal(f.data, good_first + XVW_HEADER_LEN);
	assert_int_equal(xvw_parse(good_next, sizeof(good_next), &f), 0);
	assert_int_equal(f.flags, 0);
	assert_int_equal(f.arg, 3);
	assert_int_equal(f.data_len, 2);
}

static void fields_of_control(void **state)
{
	struct xvw_frame f;

	(void)state;
	assert_int_equal(parse(good_grant, sizeof(good_grant), &f), 0);
	assert_int_equal(f.type, XVW_GRANT);
	assert_int_equal(f.credits, 5);
	assert_int_equal(f.ack, 0x80000001);
	assert_null(f.data);
	assert_int_equal(parse(good_bye, sizeof(good_bye), &f), 0);
	assert_int_equal(f.type, XVW_BYE);
	assert_int_equal(f.seq, 257);
	assert_int_equal(parse(good_error, sizeof(good_error), &f), 0);
	assert_int_equal(f.type, XVW_ERROR);
	assert_int_equal(f.arg, XVW_FAULT_LENGTH);
}

/* Every length that a frame can not have. */
static void sizes(void **state)
{
	struct xvw_frame f;
	size_t len;

	(void)state;
	memset(work, 0, sizeof(work));
	for (len = 0; len < XVW_HEADER_LEN; len++) {
		assert_int_equal(parse(good_first, len, &f), XVW_FAULT_SIZE);
		assert_int_equal(parse(good_grant, len, &f), XVW_FAULT_SIZE);
	}
	for (len = 0; len <= sizeof(work); len++) {
		memcpy(work, good_hello, sizeof(good_hello));
		assert_int_equal(parse(work, len, &f), len == XVW_HELLO_LEN ?
				 XVW_FAULT_NONE : XVW_FAULT_SIZE);
	}
	for (len = XVW_HEADER_LEN + 1; len < 32; len++) {
		memcpy(work, good_grant, sizeof(good_grant));
		assert_int_equal(parse(work, len, &f), XVW_FAULT_SIZE);
		memcpy(work, good_bye, sizeof(good_bye));
		assert_int_equal(parse(work, len, &f), XVW_FAULT_SIZE);
		memcpy(work, good_error, sizeof(good_error));
		assert_int_equal(parse(work, len, &f), XVW_FAULT_SIZE);
	}
}

static void longest(void **state)
{
	uint8_t *big = calloc(1, XVW_MAX_FRAGMENT + 1);
	struct xvw_frame f;

	(void)state;
	memcpy(big, good_next, sizeof(good_next));
	assert_int_equal(parse(big, XVW_MAX_FRAGMENT, &f), XVW_FAULT_NONE);
	assert_int_equal(f.data_len, XVW_MAX_FRAGMENT - XVW_HEADER_LEN);
	assert_int_equal(parse(big, XVW_MAX_FRAGMENT + 1, &f), XVW_FAULT_SIZE);
	free(big);
}

static void types(void **state)
{
	int type;

	(void)state;
	assert_int_equal(WITH(good_grant, 0, 0), XVW_FAULT_TYPE);
	for (type = XVW_ERROR + 1; type < 256; type++)
		assert_int_equal(WITH(good_grant, 0, type), XVW_FAULT_TYPE);
}

static void flags(void **state)
{
	int bit;

	(void)state;
	for (bit = 1; bit < 8; bit++) {
		assert_int_equal(WITH(good_first, 1, 1 | 1 << bit),
				 XVW_FAULT_FLAGS);
		assert_int_equal(WITH(good_hello, 1, 1 << bit),
				 XVW_FAULT_FLAGS);
	}
	for (bit = 0; bit < 8; bit++) {
		assert_int_equal(WITH(good_grant, 1, 1 << bit),
				 XVW_FAULT_FLAGS);
		assert_int_equal(WITH(good_bye, 1, 1 << bit), XVW_FAULT_FLAGS);
		assert_int_equal(WITH(good_error, 1, 1 << bit),
				 XVW_FAULT_FLAGS);
	}
}

/* Every bit of every byte that must be 0. */
static void reserved(void **state)
{
	int at, bit;

	(void)state;
	for (bit = 0; bit < 8; bit++) {
		for (at = 2; at < XVW_HEADER_LEN; at++)
			assert_int_equal(WITH(good_hello, at, 1 << bit),
					 XVW_FAULT_RESERVED);
		for (at = 22; at < 24; at++)
			assert_int_equal(WITH(good_hello, at, 1 << bit),
					 XVW_FAULT_RESERVED);
		for (at = 36; at < XVW_HELLO_LEN; at++)
			assert_int_equal(WITH(good_hello, at, 1 << bit),
					 XVW_FAULT_RESERVED);
		for (at = 8; at < XVW_HEADER_LEN; at++)
			assert_int_equal(WITH(good_grant, at, 1 << bit),
					 XVW_FAULT_RESERVED);
		for (at = 12; at < XVW_HEADER_LEN; at++)
			assert_int_equal(WITH(good_bye, at, 1 << bit),
					 XVW_FAULT_RESERVED);
		for (at = 8; at < 12; at++)
			assert_int_equal(WITH(good_error, at, 1 << bit),
					 XVW_FAULT_RESERVED);
	}
	assert_int_equal(WITH(good_error, 15, 0), XVW_FAULT_CODE);
	/* A fault that only a later version knows. */
	assert_int_equal(WITH(good_error, 12, 0x80), XVW_FAULT_NONE);
}

static void magic(void **state)
{
	int at;

	(void)state;
	for (at = 16; at < 20; at++)
		assert_int_equal(WITH(good_hello, at, 0), XVW_FAULT_MAGIC);
	assert_int_equal(WITH32(good_hello, 16, 0x534d5658), XVW_FAULT_ORDER);
	/* The first thing that is looked at. */
	memcpy(work, good_hello, sizeof(good_hello));
	memset(work + 1, 0xff, 15);
	memset(work + 20, 0xff, 44);
	assert_int_equal(xvw_parse(work, XVW_HELLO_LEN, &(struct xvw_frame){}),
			 XVW_FAULT_VERSION);
	work[16] = 0;
	assert_int_equal(xvw_parse(work, XVW_HELLO_LEN, &(struct xvw_frame){}),
			 XVW_FAULT_MAGIC);
}

static void versions(void **state)
{
	static const struct {
		uint8_t max, min;
		unsigned int common;
	} v[] = {
		{ 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 1, 1, 1 },
		{ 2, 1, 1 }, { 255, 1, 1 }, { 2, 2, 0 }, { 255, 255, 0 },
		{ 1, 2, 0 }, { 255, 0, 0 },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct xvw_frame f;

		assert_int_equal(xvw_common_version(v[i].max, v[i].min),
				 v[i].common);
		memcpy(work, good_hello, sizeof(good_hello));
		work[20] = v[i].max;
		work[21] = v[i].min;
		assert_int_equal(parse(work, XVW_HELLO_LEN, &f), v[i].common ?
				 XVW_FAULT_NONE : XVW_FAULT_VERSION);
	}
}

static void limits(void **state)
{
	static const struct {
		size_t at;
		uint32_t min, max;
	} fields[] = {
		{ 24, XVW_MIN_FRAGMENT, XVW_MAX_FRAGMENT },
		{ 28, XVW_MIN_WINDOW, XVW_MAX_WINDOW },
		{ 32, XVW_MIN_MESSAGE, XVW_MAX_MESSAGE },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		size_t at = fields[i].at;

		assert_int_equal(WITH32(good_hello, at, 0), XVW_FAULT_LIMIT);
		assert_int_equal(WITH32(good_hello, at, fields[i].min - 1),
				 XVW_FAULT_LIMIT);
		assert_int_equal(WITH32(good_hello, at, fields[i].min),
				 XVW_FAULT_NONE);
		assert_int_equal(WITH32(good_hello, at, fields[i].max),
				 XVW_FAULT_NONE);
		assert_int_equal(WITH32(good_hello, at, fields[i].max + 1),
				 XVW_FAULT_LIMIT);
		assert_int_equal(WITH32(good_hello, at, 0x7fffffff),
				 XVW_FAULT_LIMIT);
		assert_int_equal(WITH32(good_hello, at, 0x80000000),
				 XVW_FAULT_LIMIT);
		assert_int_equal(WITH32(good_hello, at, 0xffffffff),
				 XVW_FAULT_LIMIT);
	}
}

static void fragments(void **state)
{
	struct xvw_frame f;

	(void)state;
	/* A message of no bytes is a frame of its own. */
	memcpy(work, good_first, XVW_HEADER_LEN);
	put32(work + 12, 0);
	assert_int_equal(parse(work, XVW_HEADER_LEN, &f), XVW_FAULT_NONE);
	assert_int_equal(f.data_len, 0);
	/* Any other fragment carries something, ... */
	put32(work + 12, 1);
	assert_int_equal(parse(work, XVW_HEADER_LEN, &f), XVW_FAULT_EMPTY);
	assert_int_equal(parse(good_next, XVW_HEADER_LEN, &f),
			 XVW_FAULT_EMPTY);
	memcpy(work, good_next, XVW_HEADER_LEN);
	put32(work + 12, 0);
	assert_int_equal(parse(work, XVW_HEADER_LEN, &f), XVW_FAULT_EMPTY);
	/* ... and the first one no more than the message has. */
	assert_int_equal(WITH32(good_first, 12, 3), XVW_FAULT_NONE);
	assert_int_equal(WITH32(good_first, 12, 2), XVW_FAULT_EXCESS);
	assert_int_equal(WITH32(good_first, 12, 0), XVW_FAULT_EXCESS);
	/* How long a message may be is agreed upon elsewhere. */
	assert_int_equal(WITH32(good_first, 12, 0xffffffff), XVW_FAULT_NONE);
}

static void tokens(void **state)
{
	enum xvw_fault fault;
	uint8_t *token = malloc(XVW_TOKEN_LEN);
	size_t len;

	(void)state;
	xvw_put_token(token, XVW_FAULT_NONE);
	assert_memory_equal(token, "XVMS\1\1\0\0", XVW_TOKEN_LEN);
	assert_int_equal(xvw_parse_token(token, XVW_TOKEN_LEN, &fault), 0);
	assert_int_equal(fault, XVW_FAULT_NONE);
	xvw_put_token(token, XVW_FAULT_VERSION);
	assert_int_equal(xvw_parse_token(token, XVW_TOKEN_LEN, &fault), 0);
	assert_int_equal(fault, XVW_FAULT_VERSION);
	for (len = 0; len < XVW_TOKEN_LEN; len++)
		assert_int_equal(xvw_parse_token(token, len, &fault),
				 XVW_FAULT_SIZE);
	token[7] = 1;
	assert_int_equal(xvw_parse_token(token, XVW_TOKEN_LEN, &fault),
			 XVW_FAULT_RESERVED);
	token[4] = 2;
	token[5] = 2;
	assert_int_equal(xvw_parse_token(token, XVW_TOKEN_LEN, &fault),
			 XVW_FAULT_VERSION);
	memcpy(token, "SMVX", 4);
	assert_int_equal(xvw_parse_token(token, XVW_TOKEN_LEN, &fault),
			 XVW_FAULT_ORDER);
	token[0] = 0;
	assert_int_equal(xvw_parse_token(token, XVW_TOKEN_LEN, &fault),
			 XVW_FAULT_MAGIC);
	free(token);
}

static void names(void **state)
{
	unsigned int i, j;

	(void)state;
	for (i = 0; i < XVW_NUM_FAULTS; i++) {
		assert_non_null(xvw_fault_name(i));
		for (j = 0; j < i; j++)
			assert_string_not_equal(xvw_fault_name(i),
						xvw_fault_name(j));
	}
	assert_string_equal(xvw_fault_name(XVW_NUM_FAULTS), "unknown");
	assert_string_equal(xvw_fault_name(~0U), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(fields_of_hello),
		cmocka_unit_test(fields_of_data),
		cmocka_unit_test(fields_of_control),
		cmocka_unit_test(sizes),
		cmocka_unit_test(longest),
		cmocka_unit_test(types),
		cmocka_unit_test(flags),
		cmocka_unit_test(reserved),
		cmocka_unit_test(magic),
		cmocka_unit_test(versions),
		cmocka_unit_test(limits),
		cmocka_unit_test(fragments),
		cmocka_unit_test(tokens),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests_name("msg_wire", tests, NULL, NULL);
}
