// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Frames of a message channel: bytes and their meaning, nothing else.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Everything here is a pure function of its arguments. A peer may send anything.
 */
#include <stdbool.h>
#include <string.h>

#include "wire.h"

/* ------------------------------------------------------------------------
 * Bytes, in network order
 */

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

static void put16(uint8_t *p, uint16_t val)
{
	p[0] = val >> 8;
	p[1] = val;
}

static void put32(uint8_t *p, uint32_t val)
{
	p[0] = val >> 24;
	p[1] = val >> 16;
	p[2] = val >> 8;
	p[3] = val;
}

static bool all_zero(const uint8_t *p, size_t len)
{
	while (len--)
		if (*p++)
			return false;
	return true;
}

/* ------------------------------------------------------------------------
 * Where the fields are
 */

#define OFF_TYPE	0
#define OFF_FLAGS	1
#define OFF_CREDITS	2
#define OFF_ACK		4
#define OFF_SEQ		8
#define OFF_ARG		12

#define OFF_MAGIC	16
#define OFF_VERSION	20
#define OFF_VERSION_MIN	21
#define OFF_PAD		22	/* to OFF_FRAGMENT: 0 */
#define OFF_FRAGMENT	24
#define OFF_WINDOW	28
#define OFF_MAX_MESSAGE	32
#define OFF_REST	36	/* to the end: 0 */

/* The magic as somebody with the other byte order would send it. */
#define SWAPPED_MAGIC	__builtin_bswap32(XVW_MAGIC)

static enum xvw_fault check_magic(const uint8_t *p)
{
	if (get32(p) == XVW_MAGIC)
		return XVW_FAULT_NONE;
	return get32(p) == SWAPPED_MAGIC ? XVW_FAULT_ORDER : XVW_FAULT_MAGIC;
}

static bool in_range(uint32_t val, uint32_t min, uint32_t max)
{
	return val >= min && val <= max;
}

unsigned int xvw_common_version(unsigned int version, unsigned int version_min)
{
	if (!version_min || version < version_min)
		return 0;
	if (version < XVW_VERSION_MIN || version_min > XVW_VERSION)
		return 0;
	return version < XVW_VERSION ? version : XVW_VERSION;
}

/* ------------------------------------------------------------------------
 * Taking apart
 */

static enum xvw_fault parse_hello(const uint8_t *p, size_t len,
				  struct xvw_frame *f)
{
	struct xvw_hello *h = &f->hello;
	enum xvw_fault fault;

	if (len != XVW_HELLO_LEN)
		return XVW_FAULT_SIZE;
	/* Who is no peer of ours is told so, whatever else is wrong. */
	fault = check_magic(p + OFF_MAGIC);
	if (fault)
		return fault;
	h->version = p[OFF_VERSION];
	h->version_min = p[OFF_VERSION_MIN];
	if (!xvw_common_version(h->version, h->version_min))
		return XVW_FAULT_VERSION;
	if (f->flags & ~XVW_F_ANSWER)
		return XVW_FAULT_FLAGS;
	if (f->credits || f->ack || f->seq || f->arg ||
	    !all_zero(p + OFF_PAD, OFF_FRAGMENT - OFF_PAD) ||
	    !all_zero(p + OFF_REST, XVW_HELLO_LEN - OFF_REST))
		return XVW_FAULT_RESERVED;
	h->fragment = get32(p + OFF_FRAGMENT);
	h->window = get32(p + OFF_WINDOW);
	h->max_message = get32(p + OFF_MAX_MESSAGE);
	if (!in_range(h->fragment, XVW_MIN_FRAGMENT, XVW_MAX_FRAGMENT) ||
	    !in_range(h->window, XVW_MIN_WINDOW, XVW_MAX_WINDOW) ||
	    !in_range(h->max_message, XVW_MIN_MESSAGE, XVW_MAX_MESSAGE))
		return XVW_FAULT_LIMIT;
	return XVW_FAULT_NONE;
}

static enum xvw_fault parse_data(const uint8_t *p, size_t len,
				 struct xvw_frame *f)
{
	if (len > XVW_MAX_FRAGMENT)
		return XVW_FAULT_SIZE;
	if (f->flags & ~XVW_F_FIRST)
		return XVW_FAULT_FLAGS;
	f->data = p + XVW_HEADER_LEN;
	f->data_len = len - XVW_HEADER_LEN;
	/* Only a message of no bytes is a frame without any. */
	if (!f->data_len && !(f->flags & XVW_F_FIRST && !f->arg))
		return XVW_FAULT_EMPTY;
	if (f->flags & XVW_F_FIRST && f->data_len > f->arg)
		return XVW_FAULT_EXCESS;
	return XVW_FAULT_NONE;
}

/* Those that are a header and nothing else. */
static enum xvw_fault parse_control(size_t len, const struct xvw_frame *f)
{
	if (len != XVW_HEADER_LEN)
		return XVW_FAULT_SIZE;
	if (f->flags)
		return XVW_FAULT_FLAGS;
	if (f->type != XVW_BYE && f->seq)
		return XVW_FAULT_RESERVED;
	if (f->type != XVW_ERROR)
		return f->arg ? XVW_FAULT_RESERVED : XVW_FAULT_NONE;
	/* A later version may know more of them. */
	return f->arg ? XVW_FAULT_NONE : XVW_FAULT_CODE;
}

enum xvw_fault xvw_parse(const void *buf, size_t len, struct xvw_frame *f)
{
	const uint8_t *p = buf;

	memset(f, 0, sizeof(*f));
	if (len < XVW_HEADER_LEN)
		return XVW_FAULT_SIZE;
	f->type = p[OFF_TYPE];
	f->flags = p[OFF_FLAGS];
	f->credits = get16(p + OFF_CREDITS);
	f->ack = get32(p + OFF_ACK);
	f->seq = get32(p + OFF_SEQ);
	f->arg = get32(p + OFF_ARG);
	switch (p[OFF_TYPE]) {
	case XVW_HELLO:
		return parse_hello(p, len, f);
	case XVW_DATA:
		return parse_data(p, len, f);
	case XVW_GRANT:
	case XVW_BYE:
	case XVW_ERROR:
		return parse_control(len, f);
	default:
		return XVW_FAULT_TYPE;
	}
}

/* ------------------------------------------------------------------------
 * Putting together
 */

size_t xvw_put(void *buf, const struct xvw_frame *f)
{
	const struct xvw_hello *h = &f->hello;
	uint8_t *p = buf;

	p[OFF_TYPE] = f->type;
	p[OFF_FLAGS] = f->flags;
	put16(p + OFF_CREDITS, f->credits);
	put32(p + OFF_ACK, f->ack);
	put32(p + OFF_SEQ, f->seq);
	put32(p + OFF_ARG, f->arg);
	if (f->type != XVW_HELLO)
		return XVW_HEADER_LEN;

	memset(p + XVW_HEADER_LEN, 0, XVW_HELLO_LEN - XVW_HEADER_LEN);
	put32(p + OFF_MAGIC, XVW_MAGIC);
	p[OFF_VERSION] = h->version;
	p[OFF_VERSION_MIN] = h->version_min;
	put32(p + OFF_FRAGMENT, h->fragment);
	put32(p + OFF_WINDOW, h->window);
	put32(p + OFF_MAX_MESSAGE, h->max_message);
	return XVW_HELLO_LEN;
}

/* ------------------------------------------------------------------------
 * Tokens: magic, newest version, oldest version, a fault, 0
 */

void xvw_put_token(void *buf, enum xvw_fault fault)
{
	uint8_t *p = buf;

	put32(p, XVW_MAGIC);
	p[4] = XVW_VERSION;
	p[5] = XVW_VERSION_MIN;
	p[6] = fault;
	p[7] = 0;
}

enum xvw_fault xvw_parse_token(const void *buf, size_t len,
			       enum xvw_fault *fault)
{
	const uint8_t *p = buf;
	enum xvw_fault bad;

	*fault = XVW_FAULT_NONE;
	if (len < XVW_TOKEN_LEN)
		return XVW_FAULT_SIZE;
	bad = check_magic(p);
	if (bad)
		return bad;
	if (!xvw_common_version(p[4], p[5]))
		return XVW_FAULT_VERSION;
	if (p[7])
		return XVW_FAULT_RESERVED;
	*fault = p[6];
	return XVW_FAULT_NONE;
}

const char *xvw_fault_name(unsigned int fault)
{
	static const char * const names[] = {
		[XVW_FAULT_NONE] = "none",
		[XVW_FAULT_SIZE] = "size",
		[XVW_FAULT_TYPE] = "type",
		[XVW_FAULT_FLAGS] = "flags",
		[XVW_FAULT_RESERVED] = "reserved",
		[XVW_FAULT_MAGIC] = "magic",
		[XVW_FAULT_ORDER] = "byte order",
		[XVW_FAULT_VERSION] = "version",
		[XVW_FAULT_LIMIT] = "limit",
		[XVW_FAULT_EMPTY] = "empty",
		[XVW_FAULT_EXCESS] = "excess",
		[XVW_FAULT_CODE] = "code",
		[XVW_FAULT_ROLE] = "role",
		[XVW_FAULT_STATE] = "state",
		[XVW_FAULT_CREDIT] = "credit",
		[XVW_FAULT_OVERRUN] = "overrun",
		[XVW_FAULT_ACK] = "ack",
		[XVW_FAULT_SEQ] = "seq",
		[XVW_FAULT_LENGTH] = "length",
		[XVW_FAULT_OFFSET] = "offset",
		[XVW_FAULT_FRAGMENT] = "fragment",
		[XVW_FAULT_MEMORY] = "memory",
	};

	return fault < XVW_NUM_FAULTS ? names[fault] : "unknown";
}
