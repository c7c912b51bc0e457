// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Unit tests of the tables and of the parser.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * With --corpus DIRECTORY the messages of all cases are written there instead,
 * as seeds for the fuzzer.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "parse.h"
#include "tables.h"

/* ---- cases: one message each, and what must come of it ---------------- */

struct item {
	bool is_op;
	u16 a;		/* object or group */
	u16 b;		/* method or attribute */
	u16 len;
	u16 flags;
	u64 data;
};

#define OP(object, method)	{ true, object, method }
#define A(group, id, len, data)	{ false, group, id, len, 0, data }
#define AF(group, id, len, flags, data)	{ false, group, id, len, flags, data }
#define NEW			A(XV_GRP_OBJECT, A_HANDLE, 4, 0)
#define H(id, handle)		A(XV_GRP_OBJECT, id, 4, handle)
#define REF(id, op)		AF(XV_GRP_OBJECT, id, 4, XV_ATTR_F_FROM_OP, op)
/* A queue pair create which is right but for what is added. */
#define QP			OP(XV_OBJ_QP, XV_M_CREATE), NEW, H(A_PD, 7), \
				A(G_CAPS, A_U32, 4, 5)
#define ONE			A(G_ONE, A_ONE, 4, 1)
#define PD			OP(XV_OBJ_PD, XV_M_CREATE), NEW
#define QUERY			OP(XV_OBJ_DEVICE, XV_M_QUERY), \
				A(G_RESULT, A_INFO, 64, 0x1000)

struct msg {
	_Alignas(8) u8 buf[128 * 1024];
	u32 len;
};

struct test_case {
	const char *name;
	struct item items[12];
	u32 flags;
	void (*change)(struct msg *m);
	u16 reason;	/* XV_R_NONE: it is right */
	u32 op;
	u16 group;
	u16 attr;
	u64 detail;
};

static struct xv_txn *header(struct msg *m)
{
	return (struct xv_txn *)m->buf;
}

static struct xv_op *first_op(struct msg *m)
{
	return (struct xv_op *)(m->buf + sizeof(struct xv_txn));
}


static void cut_header(struct msg *m)
{
	m->len = 23;
}

static void cut_op(struct msg *m)
{
	m->len -= 16 + 8;
	header(m)->length = m->len;
}

static void cut_attr(struct msg *m)
{
	m->len -= 8;
	header(m)->length = m->len;
}

static void grow(struct msg *m)
{
	m->len += 8;
	header(m)->length = m->len;
}

static void length_low(struct msg *m)
{
	header(m)->length -= 8;
}

static void length_high(struct msg *m)
{
	header(m)->length += 8;
}
static void too_long(struct msg *m)
{
	m->len = XV_MAX_BYTES + 8;
	header(m)->length = m->len;
}

static void bad_flags(struct msg *m)
{
	header(m)->flags |= 0x80;
}

static void bad_reserved(struct msg *m)
{
	header(m)->reserved = 1;
}

static void no_ops(struct msg *m)
{
	header(m)->num_ops = 0;
}

static void ops_65(struct msg *m)
{
	header(m)->num_ops = 65;
}

static void ops_more(struct msg *m)
{
	header(m)->num_ops++;
}

static void op_flags(struct msg *m)
{
	first_op(m)->flags = 1;
}

static void op_reserved0(struct msg *m)
{
	first_op(m)->reserved[0] = 1;
}

static void op_reserved1(struct msg *m)
{
	first_op(m)->reserved[1] = 1;
}

static void attrs_65(struct msg *m)
{
	first_op(m)->num_attrs = 65;
}

static void attrs_more(struct msg *m)
{
	first_op(m)->num_attrs++;
}

static void attrs_less(struct msg *m)
{
	first_op(m)->num_attrs--;
}

/* 64 operations with one attribute each. */
static void many_ops(struct msg *m)
{
	u8 op[32];
	u32 i;

	memcpy(op, m->buf + sizeof(struct xv_txn), sizeof(op));
	for (i = 1; i < XV_MAX_OPS; i++, m->len += sizeof(op))
		memcpy(m->buf + m->len, op, sizeof(op));
	header(m)->num_ops = XV_MAX_OPS;
	header(m)->length = m->len;
}

static const struct test_case cases[] = {
	/* what is right */
	{ "ok: query", { QUERY } },
	{ "ok: create", { PD } },
	{ "ok: two creates and a reference", { PD, OP(XV_OBJ_QP, XV_M_CREATE),
	  NEW, REF(A_PD, 0), A(G_CAPS, A_U32, 4, 1), ONE } },
	{ "ok: every attribute", { QP, H(A_PD_OPT, 8),
	  A(G_CAPS, A_U32_OPT, 4, 0), A(G_CAPS, A_U64, 8, 5),
	  A(G_ACCESS, A_BITS, 4, 0xf), A(G_OTHER, A_ENUM, 4, 5),
	  A(G_PARAMS, A_STRUCT, 16, 1), A(G_PARAMS, A_ARRAY, 64, 1) } },
	{ "ok: order of attributes is free", { OP(XV_OBJ_QP, XV_M_CREATE), ONE,
	  A(G_CAPS, A_U32_OPT, 4, 0), H(A_PD, 7), A(G_CAPS, A_U32, 4, 5), NEW } },
	{ "ok: lengths 0 and 8 for numbers", { OP(XV_OBJ_QP, XV_M_CREATE),
	  A(XV_GRP_OBJECT, A_HANDLE, 0, 0), A(XV_GRP_OBJECT, A_PD, 0, 7),
	  A(G_CAPS, A_U32, 8, 1024), A(G_CAPS, A_U64, 0, 1ULL << 40), ONE } },
	{ "ok: number at its minimum", { OP(XV_OBJ_QP, XV_M_CREATE), NEW,
	  H(A_PD, 7), A(G_CAPS, A_U32, 4, 1), ONE } },
	{ "ok: unknown group marked optional", { PD,
	  AF(99, 1, 3, XV_ATTR_F_OPTIONAL, 5) } },
	{ "ok: unknown attribute marked optional", { PD,
	  AF(XV_GRP_OBJECT, 99, 3, XV_ATTR_F_OPTIONAL, 5) } },
	{ "ok: known attribute marked optional", { QP, ONE,
	  AF(G_ACCESS, A_BITS, 4, XV_ATTR_F_OPTIONAL, 1) } },
	{ "ok: destroy set", { OP(XV_OBJ_QP, XV_M_DESTROY), H(A_HANDLE, 9),
	  OP(XV_OBJ_PD, XV_M_DESTROY), H(A_HANDLE, 7) } },
	{ "ok: create, destroy, query share a call", { PD,
	  OP(XV_OBJ_QP, XV_M_DESTROY), H(A_HANDLE, 9), QUERY } },
	{ "ok: modify alone", { OP(XV_OBJ_QP, XV_M_MODIFY), H(A_HANDLE, 9) } },
	{ "ok: modify last", { PD, OP(XV_OBJ_QP, XV_M_MODIFY), H(A_HANDLE, 9) } },
	{ "ok: start in the middle", { OP(XV_OBJ_QP, XV_M_CONNECT),
	  H(A_HANDLE, 9), PD } },
	{ "ok: batch of modifies", { OP(XV_OBJ_QP, XV_M_MODIFY), H(A_HANDLE, 9),
	  OP(XV_OBJ_QP, XV_M_MODIFY), H(A_HANDLE, 9),
	  OP(XV_OBJ_QP, XV_M_CONNECT), H(A_HANDLE, 8) },
	  .flags = XV_TXN_F_BATCH },
	{ "ok: post into a new queue pair", { QP, ONE,
	  OP(XV_OBJ_QP, XV_M_POST_RECV), REF(A_HANDLE, 0),
	  A(G_PARAMS, A_ARRAY, 640, 1) } },
	{ "ok: 64 operations", { PD }, .change = many_ops },
	{ "ok: struct longer than known", { QP, ONE,
	  A(G_PARAMS, A_STRUCT, 1000, 1) } },
	{ "ok: small input inside the attribute", { QP, ONE,
	  A(G_PARAMS, A_SMALL, 8, 1) } },
	{ "ok: output of any length", { OP(XV_OBJ_DEVICE, XV_M_QUERY),
	  A(G_RESULT, A_INFO, 0, 0) } },
	{ "ok: largest handle", { OP(XV_OBJ_PD, XV_M_DESTROY),
	  H(A_HANDLE, U32_MAX) } },

	/* the frame */
	{ "frame: header cut", { PD }, .change = cut_header,
	  .reason = XV_R_LENGTH, .op = XV_NO_OP, .detail = 24 },
	{ "frame: length field too low", { PD }, .change = length_low,
	  .reason = XV_R_LENGTH, .op = XV_NO_OP, .detail = 56 },
	{ "frame: length field too high", { PD }, .change = length_high,
	  .reason = XV_R_LENGTH, .op = XV_NO_OP, .detail = 56 },
	{ "frame: too long", { PD }, .change = too_long,
	  .reason = XV_R_TOO_BIG, .op = XV_NO_OP, .detail = XV_MAX_BYTES },
	{ "frame: unknown flag", { PD }, .change = bad_flags,
	  .reason = XV_R_FLAGS, .op = XV_NO_OP, .detail = XV_TXN_F_BATCH },
	{ "frame: reserved", { PD }, .change = bad_reserved,
	  .reason = XV_R_RESERVED, .op = XV_NO_OP },
	{ "frame: no operation", { PD }, .change = no_ops,
	  .reason = XV_R_RANGE, .op = XV_NO_OP, .detail = 1 },
	{ "frame: 65 operations", { PD }, .change = ops_65,
	  .reason = XV_R_TOO_BIG, .op = XV_NO_OP, .detail = 64 },
	{ "frame: an operation is not there", { PD }, .change = ops_more,
	  .reason = XV_R_LENGTH, .op = 1, .detail = 56 + 16 },
	{ "frame: operation cut", { PD }, .change = cut_op,
	  .reason = XV_R_LENGTH, .op = 0, .detail = 40 },
	{ "frame: attribute cut", { PD }, .change = cut_attr,
	  .reason = XV_R_LENGTH, .op = 0, .detail = 56 },
	{ "frame: attribute is not there", { PD }, .change = attrs_more,
	  .reason = XV_R_LENGTH, .op = 0, .detail = 72 },
	{ "frame: bytes left over", { PD }, .change = grow,
	  .reason = XV_R_LENGTH, .op = XV_NO_OP, .detail = 56 },
	{ "frame: attribute left over", { PD }, .change = attrs_less,
	  .reason = XV_R_LENGTH, .op = XV_NO_OP, .detail = 40 },
	{ "frame: 65 attributes", { PD }, .change = attrs_65,
	  .reason = XV_R_TOO_BIG, .op = 0, .detail = 64 },

	/* operations */
	{ "op: flags", { PD }, .change = op_flags, .reason = XV_R_FLAGS },
	{ "op: reserved 0", { PD }, .change = op_reserved0,
	  .reason = XV_R_RESERVED },
	{ "op: reserved 1", { PD }, .change = op_reserved1,
	  .reason = XV_R_RESERVED },
	{ "op: unknown object", { OP(99, XV_M_CREATE) },
	  .reason = XV_R_UNKNOWN_OBJECT },
	{ "op: object 0", { PD, OP(0, XV_M_CREATE) },
	  .reason = XV_R_UNKNOWN_OBJECT, .op = 1 },
	{ "op: unknown method", { OP(XV_OBJ_PD, 99) },
	  .reason = XV_R_UNKNOWN_METHOD },
	{ "op: method of another object", { PD, OP(XV_OBJ_PD, XV_M_MODIFY) },
	  .reason = XV_R_UNKNOWN_METHOD, .op = 1 },

	/* what is known and not offered */
	{ "refused: method", { OP(XV_OBJ_PD, XV_M_CONNECT) },
	  .reason = XV_R_NOT_OFFERED },
	{ "refused: attribute", { QP, ONE, A(G_CAPS, A_REFUSED, 4, 0) },
	  .reason = XV_R_NOT_OFFERED, .group = G_CAPS, .attr = A_REFUSED },
	{ "refused: attribute, marked optional", { QP, ONE,
	  AF(G_CAPS, A_REFUSED, 4, XV_ATTR_F_OPTIONAL, 0) },
	  .reason = XV_R_NOT_OFFERED, .group = G_CAPS, .attr = A_REFUSED },
	{ "refused: attribute of a group that is not there", {
	  OP(XV_OBJ_QP, XV_M_MODIFY), H(A_HANDLE, 9), A(G_CAPS, A_U32, 4, 1) },
	  .reason = XV_R_NOT_OFFERED, .group = G_CAPS, .attr = A_U32 },
	{ "refused: another attribute of that group", {
	  OP(XV_OBJ_QP, XV_M_MODIFY), H(A_HANDLE, 9), A(G_CAPS, A_U64, 4, 1) },
	  .reason = XV_R_UNKNOWN_GROUP, .group = G_CAPS, .attr = A_U64 },
	{ "refused: flag", { QP, ONE, A(G_ACCESS, A_BITS, 4, 0x21) },
	  .reason = XV_R_NOT_OFFERED, .group = G_ACCESS, .attr = A_BITS },
	{ "refused: two flags of two lines", { QP, ONE,
	  A(G_ACCESS, A_BITS, 4, 0x60) },
	  .reason = XV_R_NOT_OFFERED, .group = G_ACCESS, .attr = A_BITS },
	{ "refused: a flag, and one that is unknown", { QP, ONE,
	  A(G_ACCESS, A_BITS, 4, 0x30) }, .reason = XV_R_FLAGS,
	  .group = G_ACCESS, .attr = A_BITS, .detail = 0xf },
	{ "refused: value", { QP, A(G_OTHER, A_ENUM, 4, 4) },
	  .reason = XV_R_NOT_OFFERED, .group = G_OTHER, .attr = A_ENUM },
	{ "refused: value 63", { QP, A(G_OTHER, A_ENUM, 4, 63) },
	  .reason = XV_R_NOT_OFFERED, .group = G_OTHER, .attr = A_ENUM },
	{ "refused: value 64 is none", { QP, A(G_OTHER, A_ENUM, 4, 64) },
	  .reason = XV_R_RANGE, .group = G_OTHER, .attr = A_ENUM,
	  .detail = 0x26 },
	{ "refused: value 68 is not value 4", { QP, A(G_OTHER, A_ENUM, 4, 68) },
	  .reason = XV_R_RANGE, .group = G_OTHER, .attr = A_ENUM,
	  .detail = 0x26 },
	{ "refused: an opcode is no method", { OP(XV_OBJ_QP, 0) },
	  .reason = XV_R_UNKNOWN_METHOD },

	/* classes */
	{ "class: modify before something", { OP(XV_OBJ_QP, XV_M_MODIFY),
	  H(A_HANDLE, 9), PD }, .reason = XV_R_CLASS },
	{ "class: two modifies", { OP(XV_OBJ_QP, XV_M_MODIFY), H(A_HANDLE, 9),
	  OP(XV_OBJ_QP, XV_M_MODIFY), H(A_HANDLE, 8) }, .reason = XV_R_CLASS },
	{ "class: create in a batch", { PD }, .flags = XV_TXN_F_BATCH,
	  .reason = XV_R_CLASS },
	{ "class: destroy in a batch", { OP(XV_OBJ_QP, XV_M_MODIFY),
	  H(A_HANDLE, 9), OP(XV_OBJ_PD, XV_M_DESTROY), H(A_HANDLE, 1) },
	  .flags = XV_TXN_F_BATCH, .reason = XV_R_CLASS, .op = 1 },
	{ "class: query in a batch", { QUERY }, .flags = XV_TXN_F_BATCH,
	  .reason = XV_R_CLASS },

	/* groups and attributes */
	{ "attr: unknown group", { PD, A(99, 1, 4, 0) },
	  .reason = XV_R_UNKNOWN_GROUP, .group = 99, .attr = 1 },
	{ "attr: group of another method", { PD, A(G_CAPS, A_U32, 4, 1) },
	  .reason = XV_R_UNKNOWN_GROUP, .group = G_CAPS, .attr = A_U32 },
	{ "attr: unknown attribute", { PD, A(XV_GRP_OBJECT, 99, 4, 1) },
	  .reason = XV_R_UNKNOWN_ATTR, .group = XV_GRP_OBJECT, .attr = 99 },
	{ "attr: attribute 0", { PD, A(XV_GRP_OBJECT, 0, 4, 1) },
	  .reason = XV_R_UNKNOWN_ATTR, .group = XV_GRP_OBJECT },
	{ "attr: given twice", { PD, NEW }, .reason = XV_R_DUPLICATE,
	  .group = XV_GRP_OBJECT, .attr = A_HANDLE },
	{ "attr: given twice, marked optional", { QP, ONE,
	  AF(G_ONE, A_ONE, 4, XV_ATTR_F_OPTIONAL, 1) },
	  .reason = XV_R_DUPLICATE, .group = G_ONE, .attr = A_ONE },
	{ "attr: required one missing", { OP(XV_OBJ_QP, XV_M_CREATE), NEW,
	  A(G_CAPS, A_U32, 4, 1), ONE }, .reason = XV_R_MISSING,
	  .group = XV_GRP_OBJECT, .attr = A_PD },
	{ "attr: required group missing", { OP(XV_OBJ_QP, XV_M_CREATE), NEW,
	  H(A_PD, 7), ONE }, .reason = XV_R_MISSING, .group = G_CAPS,
	  .attr = A_U32 },
	{ "attr: required group without required attributes missing",
	  { QP, ONE, OP(XV_OBJ_QP, XV_M_POST_RECV), REF(A_HANDLE, 0) },
	  .reason = XV_R_MISSING, .op = 1, .group = G_PARAMS },
	{ "attr: nothing given", { OP(XV_OBJ_PD, XV_M_CREATE) },
	  .reason = XV_R_MISSING, .group = XV_GRP_OBJECT, .attr = A_HANDLE },
	{ "attr: none of one-of", { QP }, .reason = XV_R_ONE_OF,
	  .group = G_ONE, .detail = 0 },
	{ "attr: two of one-of", { QP, ONE, A(G_OTHER, A_ENUM, 4, 1) },
	  .reason = XV_R_ONE_OF, .group = G_OTHER, .detail = 2 },
	{ "attr: unknown flag", { OP(XV_OBJ_PD, XV_M_CREATE),
	  AF(XV_GRP_OBJECT, A_HANDLE, 4, 4, 0) }, .reason = XV_R_FLAGS,
	  .group = XV_GRP_OBJECT, .attr = A_HANDLE, .detail = 1 },

	/* handles */
	{ "handle: wrong length", { OP(XV_OBJ_PD, XV_M_DESTROY),
	  A(XV_GRP_OBJECT, A_HANDLE, 8, 1) }, .reason = XV_R_LENGTH,
	  .group = XV_GRP_OBJECT, .attr = A_HANDLE, .detail = 4 },
	{ "handle: new one not 0", { OP(XV_OBJ_PD, XV_M_CREATE),
	  H(A_HANDLE, 1) }, .reason = XV_R_RANGE, .group = XV_GRP_OBJECT,
	  .attr = A_HANDLE, .detail = 0 },
	{ "handle: too large", { OP(XV_OBJ_PD, XV_M_DESTROY),
	  H(A_HANDLE, 1ULL << 32) }, .reason = XV_R_RANGE,
	  .group = XV_GRP_OBJECT, .attr = A_HANDLE, .detail = U32_MAX },
	{ "handle: reference to itself", { OP(XV_OBJ_QP, XV_M_CREATE), NEW,
	  REF(A_PD, 0) }, .reason = XV_R_REFERENCE, .group = XV_GRP_OBJECT,
	  .attr = A_PD },
	{ "handle: reference to a later one", { OP(XV_OBJ_QP, XV_M_CREATE), NEW,
	  REF(A_PD, 1), A(G_CAPS, A_U32, 4, 1), ONE, PD },
	  .reason = XV_R_REFERENCE, .group = XV_GRP_OBJECT, .attr = A_PD },
	{ "handle: reference far away", { PD, OP(XV_OBJ_QP, XV_M_CREATE), NEW,
	  REF(A_PD, ~0ULL) }, .reason = XV_R_REFERENCE, .op = 1,
	  .group = XV_GRP_OBJECT, .attr = A_PD, .detail = 1 },
	{ "handle: reference to no create", { OP(XV_OBJ_PD, XV_M_DESTROY),
	  H(A_HANDLE, 3), OP(XV_OBJ_QP, XV_M_CREATE), NEW, REF(A_PD, 0) },
	  .reason = XV_R_REFERENCE, .op = 1, .group = XV_GRP_OBJECT,
	  .attr = A_PD },
	{ "handle: reference of another type", { QP, ONE,
	  OP(XV_OBJ_QP, XV_M_CREATE), NEW, REF(A_PD, 0) },
	  .reason = XV_R_TYPE, .op = 1, .group = XV_GRP_OBJECT, .attr = A_PD,
	  .detail = XV_OBJ_PD },
	{ "handle: reference for a new one", { PD, OP(XV_OBJ_PD, XV_M_CREATE),
	  REF(A_HANDLE, 0) }, .reason = XV_R_FLAGS, .op = 1,
	  .group = XV_GRP_OBJECT, .attr = A_HANDLE, .detail = 1 },
	{ "handle: reference in a destroy", { PD, OP(XV_OBJ_PD, XV_M_DESTROY),
	  REF(A_HANDLE, 0) }, .reason = XV_R_FLAGS, .op = 1,
	  .group = XV_GRP_OBJECT, .attr = A_HANDLE, .detail = 1 },
	{ "handle: reference in a modify", { QP, ONE,
	  OP(XV_OBJ_QP, XV_M_MODIFY), REF(A_HANDLE, 0) },
	  .reason = XV_R_REFERENCE, .op = 1, .group = XV_GRP_OBJECT,
	  .attr = A_HANDLE },
	{ "handle: reference in a number", { QP,
	  AF(G_ONE, A_ONE, 4, XV_ATTR_F_FROM_OP, 0) }, .reason = XV_R_FLAGS,
	  .group = G_ONE, .attr = A_ONE, .detail = 1 },
	{ "handle: post into an old queue pair", {
	  OP(XV_OBJ_QP, XV_M_POST_RECV), H(A_HANDLE, 9),
	  A(G_PARAMS, A_ARRAY, 64, 1) }, .reason = XV_R_REFERENCE,
	  .group = XV_GRP_OBJECT, .attr = A_HANDLE },

	/* numbers */
	{ "number: below", { OP(XV_OBJ_QP, XV_M_CREATE), NEW, H(A_PD, 7),
	  A(G_CAPS, A_U32, 4, 0) }, .reason = XV_R_RANGE, .group = G_CAPS,
	  .attr = A_U32, .detail = 1 },
	{ "number: above", { OP(XV_OBJ_QP, XV_M_CREATE), NEW, H(A_PD, 7),
	  A(G_CAPS, A_U32, 4, 1025) }, .reason = XV_R_RANGE, .group = G_CAPS,
	  .attr = A_U32, .detail = 1024 },
	{ "number: high half of a 32 bit one", { OP(XV_OBJ_QP, XV_M_CREATE),
	  NEW, H(A_PD, 7), A(G_CAPS, A_U32, 4, (1ULL << 32) | 5) },
	  .reason = XV_R_RANGE, .group = G_CAPS, .attr = A_U32,
	  .detail = 1024 },
	{ "number: high half of a full 32 bit one", { QP,
	  A(G_ONE, A_ONE, 4, 1ULL << 32) }, .reason = XV_R_RANGE,
	  .group = G_ONE, .attr = A_ONE, .detail = U32_MAX },
	{ "number: 64 bit below", { QP, A(G_CAPS, A_U64, 8, 4) },
	  .reason = XV_R_RANGE, .group = G_CAPS, .attr = A_U64, .detail = 5 },
	{ "number: 64 bit above", { QP, A(G_CAPS, A_U64, 8, ~0ULL) },
	  .reason = XV_R_RANGE, .group = G_CAPS, .attr = A_U64,
	  .detail = 1ULL << 40 },
	{ "number: length 1", { QP, A(G_ONE, A_ONE, 1, 1) },
	  .reason = XV_R_LENGTH, .group = G_ONE, .attr = A_ONE, .detail = 8 },
	{ "number: length 16", { QP, A(G_CAPS, A_U64, 16, 5) },
	  .reason = XV_R_LENGTH, .group = G_CAPS, .attr = A_U64, .detail = 8 },
	{ "bits: unknown", { QP, ONE, A(G_ACCESS, A_BITS, 4, 0x11) },
	  .reason = XV_R_FLAGS, .group = G_ACCESS, .attr = A_BITS,
	  .detail = 0xf },
	{ "bits: unknown and high", { QP, ONE,
	  A(G_ACCESS, A_BITS, 4, 1ULL << 63) }, .reason = XV_R_FLAGS,
	  .group = G_ACCESS, .attr = A_BITS, .detail = 0xf },
	{ "enum: not one of them", { QP, A(G_OTHER, A_ENUM, 4, 3) },
	  .reason = XV_R_RANGE, .group = G_OTHER, .attr = A_ENUM,
	  .detail = 0x26 },
	{ "enum: 0", { QP, A(G_OTHER, A_ENUM, 4, 0) }, .reason = XV_R_RANGE,
	  .group = G_OTHER, .attr = A_ENUM, .detail = 0x26 },
	{ "enum: beyond the mask", { QP, A(G_OTHER, A_ENUM, 4, 64) },
	  .reason = XV_R_RANGE, .group = G_OTHER, .attr = A_ENUM,
	  .detail = 0x26 },
	{ "enum: far beyond, congruent", { QP,
	  A(G_OTHER, A_ENUM, 4, (1ULL << 32) + 1) }, .reason = XV_R_RANGE,
	  .group = G_OTHER, .attr = A_ENUM, .detail = 0x26 },

	/* buffers */
	{ "input: too short", { QP, ONE, A(G_PARAMS, A_STRUCT, 15, 1) },
	  .reason = XV_R_LENGTH, .group = G_PARAMS, .attr = A_STRUCT,
	  .detail = 16 },
	{ "input: empty", { QP, ONE, A(G_PARAMS, A_STRUCT, 0, 1) },
	  .reason = XV_R_LENGTH, .group = G_PARAMS, .attr = A_STRUCT,
	  .detail = 16 },
	{ "input: half an element", { QP, ONE, A(G_PARAMS, A_ARRAY, 96, 1) },
	  .reason = XV_R_LENGTH, .group = G_PARAMS, .attr = A_ARRAY,
	  .detail = 640 },
	{ "input: too many elements", { QP, ONE, A(G_PARAMS, A_ARRAY, 704, 1) },
	  .reason = XV_R_LENGTH, .group = G_PARAMS, .attr = A_ARRAY,
	  .detail = 640 },
	{ "input: more than a transaction can have", { QP, ONE,
	  A(G_PARAMS, A_STRUCT, 65535, 1) }, .reason = XV_R_TOO_BIG,
	  .group = G_PARAMS, .attr = A_STRUCT, .detail = XV_MAX_BYTES },
	{ "input: more in all", { QP, ONE, A(G_PARAMS, A_STRUCT, 40000, 1),
	  QP, ONE, A(G_PARAMS, A_STRUCT, 40000, 1) }, .reason = XV_R_TOO_BIG,
	  .op = 1, .group = G_PARAMS, .attr = A_STRUCT,
	  .detail = XV_MAX_BYTES },
};

static void build(const struct test_case *c, struct msg *m)
{
	struct xv_txn *txn = header(m);
	struct xv_op *op = NULL;
	u32 i;

	memset(m, 0, sizeof(*m));
	m->len = sizeof(*txn);
	txn->flags = c->flags;
	for (i = 0; i < ARRAY_SIZE(c->items); i++) {
		const struct item *it = &c->items[i];

		if (it->is_op) {
			op = (struct xv_op *)(m->buf + m->len);
			op->object = it->a;
			op->method = it->b;
			m->len += sizeof(*op);
			txn->num_ops++;
		} else if (it->a) {
			struct xv_attr *a = (struct xv_attr *)(m->buf + m->len);

			a->group = it->a;
			a->id = it->b;
			a->len = it->len;
			a->flags = it->flags;
			a->data = it->data;
			m->len += sizeof(*a);
			op->num_attrs++;
		}
	}
	txn->length = m->len;
	if (c->change)
		c->change(m);
}

/* As the kernel does it; *@mem is to be freed. */
static int parse(const struct msg *m, void **mem, struct xv_parsed *p,
		 struct xv_error *err)
{
	/* Of the exact size: reads beyond are noticed. */
	void *copy = malloc(m->len);
	size_t size = 0;
	int ret;

	memcpy(copy, m->buf, m->len);
	memset(err, 0, sizeof(*err));
	*mem = NULL;
	ret = xv_parse_size(&test_spec, copy, m->len, &size, err);
	if (!ret) {
		*mem = calloc(1, size);
		ret = xv_parse(&test_spec, copy, m->len, *mem, p, err);
	}
	free(copy);
	return ret;
}

static struct msg msg;

static void run_case(void **state)
{
	const struct test_case *c = *state;
	struct xv_error err;
	struct xv_parsed p;
	void *mem;
	int ret;

	build(c, &msg);
	ret = parse(&msg, &mem, &p, &err);
	free(mem);
	assert_int_equal(err.reason, c->reason);
	if (!c->reason) {
		assert_int_equal(ret, 0);
		return;
	}
	assert_int_equal(ret, -xv_reason_errno(c->reason));
	assert_int_equal(err.err, -ret);
	assert_int_equal(err.op, c->op);
	assert_int_equal(err.group, c->group);
	assert_int_equal(err.attr, c->attr);
	assert_int_equal(err.detail, c->detail);
	assert_int_equal(err.object | err.handle | err.raw, 0);
}

/* ---- what a parsed transaction tells ------------------------------------ */

static void parsed_values(void **state)
{
	static const struct test_case c = { "", { PD,
		OP(XV_OBJ_QP, XV_M_CREATE), ONE, A(G_CAPS, A_U32, 4, 77),
		REF(A_PD, 0), NEW, A(G_PARAMS, A_ARRAY, 128, 0x1234) } };
	struct xv_error err;
	struct xv_parsed p;
	struct xv_slot *s;
	void *mem;

	(void)state;
	build(&c, &msg);
	assert_int_equal(parse(&msg, &mem, &p, &err), 0);
	assert_int_equal(p.num_ops, 2);
	assert_int_equal(p.flags, 0);
	assert_int_equal(p.ops[0].type->id, XV_OBJ_PD);
	assert_int_equal(p.ops[0].method->id, XV_M_CREATE);
	assert_int_equal(p.ops[0].num_slots, 1);
	assert_int_equal(p.ops[1].index, 1);
	assert_int_equal(p.ops[1].num_slots, 3 + 3 + 1 + 1 + 1 + 3 + 1);
	assert_int_equal(xv_value(&p.ops[1], G_CAPS, A_U32, 1), 77);
	assert_int_equal(xv_value(&p.ops[1], G_CAPS, A_U64, 4711), 4711);
	assert_null(xv_slot(&p.ops[1], G_CAPS, A_U64));
	assert_null(xv_slot(&p.ops[1], G_CAPS, 99));
	assert_null(xv_slot(&p.ops[1], 99, 1));
	s = xv_slot(&p.ops[1], XV_GRP_OBJECT, A_PD);
	assert_non_null(s);
	assert_int_equal(s->flags, XV_ATTR_F_FROM_OP);
	assert_int_equal(s->data, 0);
	assert_int_equal(s->spec->type, XV_OBJ_PD);
	assert_int_equal(s->wire, 24 + 32 + 16 + 2 * 16);
	s = xv_slot(&p.ops[1], G_PARAMS, A_ARRAY);
	assert_int_equal(xv_slot_external(s), 128);
	assert_int_equal(xv_slot_external(xv_slot(&p.ops[1], G_CAPS, A_U32)),
			 0);
	free(mem);
}

static void external_bytes(void **state)
{
	static const struct test_case c = { "", { QP, ONE,
		A(G_PARAMS, A_SMALL, 8, 1) } };
	struct xv_error err;
	struct xv_parsed p;
	void *mem;

	(void)state;
	build(&c, &msg);
	assert_int_equal(parse(&msg, &mem, &p, &err), 0);
	assert_int_equal(xv_slot_external(xv_slot(&p.ops[0], G_PARAMS,
						  A_SMALL)), 0);
	free(mem);
	first_op(&msg);
	((struct xv_attr *)(msg.buf + msg.len - 16))->len = 9;
	assert_int_equal(parse(&msg, &mem, &p, &err), 0);
	assert_int_equal(xv_slot_external(xv_slot(&p.ops[0], G_PARAMS,
						  A_SMALL)), 9);
	free(mem);
}

static void tails(void **state)
{
	static const struct test_case c = { "", { QP, ONE,
		A(G_PARAMS, A_STRUCT, 40, 1) } };
	struct xv_error err;
	struct xv_parsed p;
	struct xv_slot *s;
	u8 buf[40] = {};
	void *mem;

	(void)state;
	build(&c, &msg);
	assert_int_equal(parse(&msg, &mem, &p, &err), 0);
	s = xv_slot(&p.ops[0], G_PARAMS, A_STRUCT);
	s->buf = buf;
	memset(buf, 0xff, 32);
	assert_int_equal(xv_parse_tail(&p.ops[0], s, &err), 0);
	buf[39] = 1;
	assert_int_equal(xv_parse_tail(&p.ops[0], s, &err), -EINVAL);
	assert_int_equal(err.reason, XV_R_TAIL);
	assert_int_equal(err.group, G_PARAMS);
	assert_int_equal(err.attr, A_STRUCT);
	assert_int_equal(err.detail, 32);
	s->len = 32;
	assert_int_equal(xv_parse_tail(&p.ops[0], s, &err), 0);
	free(mem);
}

/* Every prefix of a right message is refused, and reads nothing beyond. */
static void every_prefix(void **state)
{
	static const struct test_case c = { "", { PD, QP, ONE, QUERY } };
	struct xv_error err;
	struct xv_parsed p;
	u32 full, i;
	void *mem;

	(void)state;
	build(&c, &msg);
	full = msg.len;
	for (i = 1; i < full; i++) {
		msg.len = i;
		assert_int_not_equal(parse(&msg, &mem, &p, &err), 0);
		assert_null(mem);
		if (i < 24)
			continue;
		header(&msg)->length = i;
		assert_int_not_equal(parse(&msg, &mem, &p, &err), 0);
		free(mem);
	}
}

/* ---- the tables ---------------------------------------------------------- */

static void reason_errnos(void **state)
{
	static const int errs[] = {
		[XV_R_UNKNOWN_OBJECT] = EPROTONOSUPPORT,
		[XV_R_UNKNOWN_METHOD] = EPROTONOSUPPORT,
		[XV_R_UNKNOWN_GROUP] = EPROTONOSUPPORT,
		[XV_R_UNKNOWN_ATTR] = EPROTONOSUPPORT,
		[XV_R_MISSING ... XV_R_CQ_SPACE] = EINVAL,
		[XV_R_TOO_BIG] = E2BIG,
		[XV_R_NO_HANDLE] = ENOENT,
		[XV_R_NO_EVENTQ] = EBADF,
		[XV_R_LOCK_CONFLICT ... XV_R_ZOMBIE_DEPENDENT] = EBUSY,
		[XV_R_MEMORY ... XV_R_BUDGET] = ENOMEM,
		[XV_R_FILES] = EMFILE,
		[XV_R_PERMISSION] = EPERM,
		[XV_R_USER_MEMORY] = EFAULT,
		[XV_R_CAPABILITY] = EOPNOTSUPP,
		[XV_R_DRIVER_LIST] = EOPNOTSUPP,
		[XV_R_QUEUE_FULL] = EAGAIN,
		[XV_R_TIME] = ETIME,
		[XV_R_SIGNAL] = EINTR,
		[XV_R_DEVICE_GONE] = ENODEV,
		[XV_R_DRIVER] = EIO,
		[XV_R_UNREACHABLE] = EHOSTUNREACH,
		[XV_R_NO_GID] = EINVAL,
		[XV_R_HAS_SRQ] = EINVAL,
		[XV_R_ADDR_IN_USE] = EADDRINUSE,
		[XV_R_NO_ADDR] = EADDRNOTAVAIL,
		[XV_R_NO_REQUEST] = ENOENT,
		[XV_R_NOT_OFFERED] = EOPNOTSUPP,
		[XV_R_ATTACHED] = EINVAL,
	};
	u32 i;

	(void)state;
	for (i = 1; i < ARRAY_SIZE(errs); i++)
		assert_int_equal(xv_reason_errno(i), errs[i]);
	assert_int_equal(xv_reason_errno(0), EIO);
	assert_int_equal(xv_reason_errno(ARRAY_SIZE(errs)), EIO);
	assert_int_equal(xv_reason_errno(65535), EIO);
}

static void describe(void **state)
{
	struct xv_desc *lines;
	u32 n, i, objects = 0, reasons = 0, attrs = 0, refused = 0;

	(void)state;
	n = xv_spec_describe(&test_spec, NULL, 0);
	assert_true(n > 50);
	/* One place less than needed: the last must not be written. */
	lines = calloc(n - 1, sizeof(*lines));
	assert_int_equal(xv_spec_describe(&test_spec, lines, n - 1), n);
	free(lines);
	lines = calloc(n, sizeof(*lines));
	assert_int_equal(xv_spec_describe(&test_spec, lines, n), n);
	for (i = 0; i < n; i++) {
		const struct xv_desc *d = &lines[i];

		assert_true(memchr(d->name, 0, sizeof(d->name)) != NULL);
		assert_true(d->name[0] != 0);
		assert_int_equal(d->reserved, 0);
		switch (d->what) {
		case XV_DESC_OBJECT:
			objects++;
			assert_int_equal(reasons, 0);
			break;
		case XV_DESC_ATTR:
			attrs++;
			assert_true(d->object && d->method && d->group &&
				    d->id && d->kind);
			break;
		case XV_DESC_REASON:
			reasons++;
			assert_int_equal(d->id, reasons);
			assert_int_equal(d->max, xv_reason_errno(reasons));
			assert_int_equal(refused, 0);
			break;
		case XV_DESC_REFUSED:
			refused++;
			assert_true(xv_spec_refuses(&test_spec, d->object,
						    d->method, d->group, d->id,
						    d->max));
			break;
		}
		if (d->what == XV_DESC_ATTR && d->object == XV_OBJ_QP &&
		    d->method == XV_M_CREATE && d->group == G_PARAMS &&
		    d->id == A_ARRAY) {
			assert_int_equal(d->kind, XV_K_IN);
			assert_int_equal(d->step, 64);
			assert_int_equal(d->min, 64);
			assert_int_equal(d->max, 640);
			assert_string_equal(d->name, "array");
		}
	}
	assert_int_equal(objects, 3);
	assert_int_equal(reasons, XV_R_ATTACHED);
	assert_int_equal(refused, test_spec.num_refused);
	/* device 4, pd 1 1 2, qp 13 1 2 2 4 */
	assert_int_equal(attrs, 4 + 4 + 13 + 1 + 2 + 2 + 4);
	free(lines);
}

static void lookups(void **state)
{
	const struct xv_type *t;

	(void)state;
	t = xv_spec_type(&test_spec, XV_OBJ_QP);
	assert_non_null(t);
	assert_string_equal(t->name, "qp");
	assert_null(xv_spec_type(&test_spec, XV_OBJ_MR));
	assert_null(xv_spec_type(&test_spec, 0));
	assert_non_null(xv_spec_method(t, XV_M_POST_RECV));
	assert_null(xv_spec_method(t, XV_M_QUERY));
}

static void good_tables(void **state)
{
	const char *why = "not set";

	(void)state;
	assert_int_equal(xv_spec_validate(&test_spec, &why), 0);
	assert_null(why);
}

/* Tables that are wrong in one point each. */
static struct xv_attr_spec v_attrs[2];
static struct xv_group_spec v_groups[2];
static struct xv_group_use v_uses[2];
static struct xv_method_spec v_methods[2];
static struct xv_type v_types[2];

static void v_reset(void)
{
	v_attrs[0] = (struct xv_attr_spec){ .id = 1, .kind = XV_K_NEW,
		.type = 3, .required = true, .name = "handle" };
	v_attrs[1] = (struct xv_attr_spec){ .id = 2, .kind = XV_K_U32,
		.min = 1, .max = 9, .name = "number" };
	v_groups[0] = (struct xv_group_spec){ 1, 2, "object", v_attrs };
	v_groups[1] = (struct xv_group_spec){ 2, 1, "more", &v_attrs[1] };
	v_uses[0] = (struct xv_group_use){ &v_groups[0], true };
	v_uses[1] = (struct xv_group_use){ &v_groups[1] };
	v_methods[0] = (struct xv_method_spec){ .id = 1, .class = XV_C_CREATE,
		.num_groups = 2, .name = "create", .groups = v_uses };
	v_methods[1] = v_methods[0];
	v_methods[1].id = 2;
	v_types[0] = (struct xv_type){ 3, 2, "pd", v_methods };
	v_types[1] = (struct xv_type){ 4, 0, "mr", v_methods };
}

static int v_check(void)
{
	static const struct xv_type *const list[] = { &v_types[0], &v_types[1] };
	const struct xv_spec spec = { 2, list };
	const char *why = NULL;
	int ret = xv_spec_validate(&spec, &why);

	assert_true(!ret == !why);
	return ret;
}

#define BAD(change)							\
do {									\
	v_reset();							\
	assert_int_equal(v_check(), 0);					\
	change;								\
	assert_int_equal(v_check(), -EINVAL);				\
} while (0)

static void bad_types(void **state)
{
	(void)state;
	BAD(v_types[1].id = 3);
	BAD(v_types[0].id = 0);
	BAD(v_types[1].name = NULL);
	BAD(v_types[1].name = "");
	BAD(v_types[1].name = "a name that has 32 characters, so");
}

static void bad_methods(void **state)
{
	(void)state;
	BAD(v_methods[1].id = 1);
	BAD(v_methods[0].id = 0);
	BAD(v_methods[1].name = NULL);
	BAD(v_methods[1].class = 0);
	BAD(v_methods[1].class = XV_C_START + 1);
	/* Not the handle that the class needs. */
	BAD(v_methods[1].class = XV_C_DESTROY);
	BAD(v_methods[1].class = XV_C_QUERY);
	BAD(v_methods[1].class = XV_C_MODIFY);
}

static void bad_groups(void **state)
{
	(void)state;
	BAD(v_groups[1].id = 1);
	BAD(v_groups[0].id = 0);
	BAD(v_groups[1].name = NULL);
	BAD(v_groups[1].num_attrs = 0);
	BAD(v_uses[0].required = false);
}

static void bad_attrs(void **state)
{
	(void)state;
	BAD(v_attrs[1].id = 1);
	BAD(v_attrs[0].id = 0);
	BAD(v_attrs[1].name = NULL);
	BAD(v_attrs[1].kind = 0);
	BAD(v_attrs[1].kind = XV_K_OUT + 1);
	BAD(v_attrs[1].min = 10);
	BAD(v_attrs[1].max = 1ULL << 32);
	BAD(v_attrs[0].type = 0);
	BAD(v_attrs[0].required = false);
	/* None, and two, objects that the method acts on. */
	BAD(v_attrs[0].kind = XV_K_READ);
	BAD((v_attrs[1] = v_attrs[0], v_attrs[1].id = 2));
}

static void bad_kinds(void **state)
{
	(void)state;
	BAD((v_attrs[1].kind = XV_K_BITS, v_attrs[1].max = 0));
	BAD((v_attrs[1].kind = XV_K_ENUM, v_attrs[1].max = 0));
	BAD((v_attrs[1].kind = XV_K_IN, v_attrs[1].max = 0));
	BAD((v_attrs[1].kind = XV_K_IN, v_attrs[1].max = XV_MAX_BYTES + 1));
	BAD((v_attrs[1].kind = XV_K_IN, v_attrs[1].min = 10));
	BAD((v_attrs[1].kind = XV_K_IN, v_attrs[1].step = 2));
	BAD((v_attrs[1].kind = XV_K_IN, v_attrs[1].min = 4,
	     v_attrs[1].step = 4));
	BAD((v_attrs[1].kind = XV_K_OUT, v_attrs[1].max = 65536));
}

static int write_corpus(const char *dir)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		char path[512];
		FILE *f;

		build(&cases[i], &msg);
		/* Large ones would only slow the fuzzer down. */
		if (msg.len > 4096)
			continue;
		snprintf(path, sizeof(path), "%s/%03u", dir, i);
		f = fopen(path, "wb");
		if (!f || fwrite(msg.buf, msg.len, 1, f) != 1 || fclose(f))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest fixed[] = {
		cmocka_unit_test(parsed_values),
		cmocka_unit_test(external_bytes),
		cmocka_unit_test(tails),
		cmocka_unit_test(every_prefix),
		cmocka_unit_test(reason_errnos),
		cmocka_unit_test(describe),
		cmocka_unit_test(lookups),
		cmocka_unit_test(good_tables),
		cmocka_unit_test(bad_types),
		cmocka_unit_test(bad_methods),
		cmocka_unit_test(bad_groups),
		cmocka_unit_test(bad_attrs),
		cmocka_unit_test(bad_kinds),
	};
	static struct CMUnitTest tests[ARRAY_SIZE(cases) + ARRAY_SIZE(fixed)];
	u32 i;

	if (argc == 3 && !strcmp(argv[1], "--corpus"))
		return write_corpus(argv[2]);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		tests[i].name = cases[i].name;
		tests[i].test_func = run_case;
		tests[i].initial_state = (void *)&cases[i];
	}
	memcpy(&tests[i], fixed, sizeof(fixed));
	return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
