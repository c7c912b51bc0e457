// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fuzz target of the parser: whatever the message, it must be refused with a
 * consistent record, or be what the tables allow.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include <stdlib.h>

#include "parse.h"
#include "tables.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void must(bool ok)
{
	if (!ok)
		abort();
}

static void check_error(int ret, const struct xv_error *err, u32 num_ops)
{
	must(ret < 0);
	must(err->err == -ret);
	must(err->reason > XV_R_NONE && err->reason <= XV_R_UNREACHABLE);
	must(xv_reason_errno(err->reason) == err->err);
	must(err->op == XV_NO_OP || err->op < num_ops);
	must(!err->object && !err->handle && !err->raw);
}

static void check_slot(const struct xv_parsed *p, const struct xv_opx *op,
		       const struct xv_slot *slot, const void *msg, u32 len)
{
	const struct xv_attr_spec *a = slot->spec;
	struct xv_attr wire;
	struct xv_error err;

	must(slot->wire >= sizeof(struct xv_txn) &&
	     slot->wire + sizeof(wire) <= len);
	memcpy(&wire, msg + slot->wire, sizeof(wire));
	must(wire.group == slot->group && wire.id == a->id &&
	     wire.len == slot->len && wire.flags == slot->flags &&
	     wire.data == slot->data);
	must(xv_slot(op, slot->group, a->id) == slot);
	switch (a->kind) {
	case XV_K_U32:
	case XV_K_U64:
		must(slot->data >= a->min && slot->data <= a->max);
		break;
	case XV_K_BITS:
		must(!(slot->data & ~a->max));
		break;
	case XV_K_ENUM:
		must(slot->data < 64 && a->max >> slot->data & 1);
		break;
	case XV_K_NEW:
		must(!slot->data);
		break;
	case XV_K_READ:
	case XV_K_WRITE:
	case XV_K_DESTROY:
		if (slot->flags & XV_ATTR_F_FROM_OP) {
			must(slot->data < op->index);
			must(p->ops[slot->data].method->class == XV_C_CREATE);
			must(p->ops[slot->data].type->id == a->type);
		} else {
			must(slot->data <= U32_MAX);
		}
		break;
	case XV_K_IN: {
		struct xv_slot copy = *slot;

		must(slot->len >= a->min);
		must(!a->step || (slot->len <= a->max &&
				  !(slot->len % a->step)));
		copy.buf = calloc(1, slot->len);
		must(!xv_parse_tail(op, &copy, &err));
		if (slot->len > a->max) {
			((u8 *)copy.buf)[slot->len - 1] = 1;
			must(xv_parse_tail(op, &copy, &err));
			must(err.reason == XV_R_TAIL);
		}
		free(copy.buf);
		break;
	}
	}
}

static void check_parsed(const struct xv_parsed *p, const void *msg, u32 len)
{
	u32 bytes = len;
	u32 i, j;

	must(p->num_ops >= 1 && p->num_ops <= XV_MAX_OPS);
	for (i = 0; i < p->num_ops; i++) {
		const struct xv_opx *op = &p->ops[i];

		must(op->index == i && op->type && op->method);
		must(op->num_slots == xv_method_num_slots(op->method));
		if (p->flags & XV_TXN_F_BATCH)
			must(op->method->class == XV_C_MODIFY ||
			     op->method->class == XV_C_START);
		else if (op->method->class == XV_C_MODIFY)
			must(i == p->num_ops - 1);
		for (j = 0; j < op->num_slots; j++) {
			if (!op->slots[j].spec)
				continue;
			check_slot(p, op, &op->slots[j], msg, len);
			bytes += xv_slot_external(&op->slots[j]);
		}
	}
	must(bytes <= XV_MAX_BYTES);
}

static void parse(const void *msg, u32 len, u32 num_ops)
{
	struct xv_error err;
	struct xv_parsed p;
	size_t size = 0;
	void *mem;
	int ret;

	memset(&err, 0xff, sizeof(err));
	ret = xv_parse_size(&test_spec, msg, len, &size, &err);
	if (ret) {
		check_error(ret, &err, num_ops);
		return;
	}
	mem = calloc(1, size);
	memset(&err, 0xff, sizeof(err));
	ret = xv_parse(&test_spec, msg, len, mem, &p, &err);
	if (ret)
		check_error(ret, &err, num_ops);
	else
		check_parsed(&p, msg, len);
	free(mem);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct xv_txn *txn;
	void *msg;

	if (size > XV_MAX_BYTES + 64)
		return 0;
	/* A copy of the exact size, so that one byte beyond it is noticed. */
	msg = malloc(size ? size : 1);
	memcpy(msg, data, size);
	txn = msg;
	parse(msg, size, size >= sizeof(*txn) ? txn->num_ops : 0);
	/* And with a header that does not stop everything at once. */
	if (size >= sizeof(*txn)) {
		txn->length = size;
		txn->reserved = 0;
		parse(msg, size, txn->num_ops);
	}
	free(msg);
	return 0;
}
