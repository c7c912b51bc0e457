// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Wire message to checked operations.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Everything that the tables can decide is decided here, before any lock is
 * taken and any object is touched: a bad message changes nothing because
 * nothing has begun. The functions are pure and are fuzzed in userspace.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "parse.h"

/**
 * xv_error_set - fill an error record
 * @err: the record
 * @op: index of the operation, or %XV_NO_OP
 * @group: group at fault or 0
 * @attr: attribute at fault or 0
 * @reason: enum xv_reason; decides the errno
 * @detail: see struct xv_error
 *
 * Return: the errno that belongs to the reason, negative.
 */
int xv_error_set(struct xv_error *err, u32 op, u16 group, u16 attr,
		 u16 reason, u64 detail)
{
	memset(err, 0, sizeof(*err));
	err->err = xv_reason_errno(reason);
	err->op = op;
	err->group = group;
	err->attr = attr;
	err->reason = reason;
	err->detail = detail;
	return -err->err;
}

/**
 * xv_slot - find an attribute of an operation
 * @op: the operation
 * @group: enum xv_group
 * @id: the attribute
 *
 * Return: its slot, or NULL if it was not given.
 */
struct xv_slot *xv_slot(const struct xv_opx *op, u16 group, u16 id)
{
	const struct xv_method_spec *m = op->method;
	struct xv_slot *slot = op->slots;
	u32 i, j;

	for (i = 0; i < m->num_groups; i++) {
		const struct xv_group_spec *g = m->groups[i].group;

		if (g->id != group) {
			slot += g->num_attrs;
			continue;
		}
		for (j = 0; j < g->num_attrs; j++)
			if (g->attrs[j].id == id)
				return slot[j].spec ? &slot[j] : NULL;
		break;
	}
	return NULL;
}

static int parse_header(const void *msg, u32 len, struct xv_txn *txn,
			struct xv_error *err)
{
	if (len < sizeof(*txn))
		return xv_error_set(err, XV_NO_OP, 0, 0, XV_R_LENGTH,
				    sizeof(*txn));
	if (len > XV_MAX_BYTES)
		return xv_error_set(err, XV_NO_OP, 0, 0, XV_R_TOO_BIG,
				    XV_MAX_BYTES);
	memcpy(txn, msg, sizeof(*txn));
	if (txn->length != len)
		return xv_error_set(err, XV_NO_OP, 0, 0, XV_R_LENGTH, len);
	if (txn->flags & ~XV_TXN_F_BATCH)
		return xv_error_set(err, XV_NO_OP, 0, 0, XV_R_FLAGS,
				    XV_TXN_F_BATCH);
	if (txn->reserved)
		return xv_error_set(err, XV_NO_OP, 0, 0, XV_R_RESERVED, 0);
	if (!txn->num_ops)
		return xv_error_set(err, XV_NO_OP, 0, 0, XV_R_RANGE, 1);
	if (txn->num_ops > XV_MAX_OPS)
		return xv_error_set(err, XV_NO_OP, 0, 0, XV_R_TOO_BIG,
				    XV_MAX_OPS);
	return 0;
}

/* The reason, unless this is something that is known and not offered. */
static u16 refused(const struct xv_spec *spec, u16 object, u16 method,
		   u16 group, u16 attr, u64 values, u16 reason)
{
	return xv_spec_refuses(spec, object, method, group, attr, values) ?
	       XV_R_NOT_OFFERED : reason;
}

/* Read the operation at @pos; *@pos then stands behind its attributes. */
static int parse_op_header(const struct xv_spec *spec, const void *msg, u32 len,
			   u32 index, u32 *pos, struct xv_op *wire,
			   struct xv_opx *op, struct xv_error *err)
{
	u32 room = len - *pos;

	if (room < sizeof(*wire))
		return xv_error_set(err, index, 0, 0, XV_R_LENGTH,
				    *pos + sizeof(*wire));
	memcpy(wire, msg + *pos, sizeof(*wire));
	room -= sizeof(*wire);
	if (wire->num_attrs > XV_MAX_ATTRS)
		return xv_error_set(err, index, 0, 0, XV_R_TOO_BIG,
				    XV_MAX_ATTRS);
	if (room < wire->num_attrs * sizeof(struct xv_attr))
		return xv_error_set(err, index, 0, 0, XV_R_LENGTH,
				    *pos + sizeof(*wire) +
				    wire->num_attrs * sizeof(struct xv_attr));
	if (wire->flags)
		return xv_error_set(err, index, 0, 0, XV_R_FLAGS, 0);
	if (wire->reserved[0] || wire->reserved[1])
		return xv_error_set(err, index, 0, 0, XV_R_RESERVED, 0);

	op->index = index;
	op->type = xv_spec_type(spec, wire->object);
	if (!op->type)
		return xv_error_set(err, index, 0, 0, XV_R_UNKNOWN_OBJECT, 0);
	op->method = xv_spec_method(op->type, wire->method);
	if (!op->method)
		return xv_error_set(err, index, 0, 0,
				    refused(spec, wire->object, wire->method,
					    0, 0, 0, XV_R_UNKNOWN_METHOD), 0);
	op->num_slots = xv_method_num_slots(op->method);
	*pos += sizeof(*wire) + wire->num_attrs * sizeof(struct xv_attr);
	return 0;
}

/**
 * xv_parse_size - check the frame of a message and tell how much memory it needs
 * @spec: the tables
 * @msg: the message
 * @len: its length, which must be what its header says
 * @size: is set to the bytes that xv_parse() needs
 * @err: is filled on failure
 *
 * Return: 0 or a negative errno.
 */
int xv_parse_size(const struct xv_spec *spec, const void *msg, u32 len,
		  size_t *size, struct xv_error *err)
{
	struct xv_opx op;
	struct xv_txn txn;
	struct xv_op wire;
	u32 pos = sizeof(txn);
	u32 slots = 0;
	u32 i;
	int ret;

	ret = parse_header(msg, len, &txn, err);
	if (ret)
		return ret;
	for (i = 0; i < txn.num_ops; i++) {
		ret = parse_op_header(spec, msg, len, i, &pos, &wire, &op, err);
		if (ret)
			return ret;
		slots += op.num_slots;
	}
	if (pos != len)
		return xv_error_set(err, XV_NO_OP, 0, 0, XV_R_LENGTH, pos);
	*size = txn.num_ops * sizeof(struct xv_opx) +
		slots * sizeof(struct xv_slot);
	return 0;
}

static int check_reference(const struct xv_parsed *p, const struct xv_opx *op,
			   const struct xv_slot *slot, struct xv_error *err)
{
	const struct xv_attr_spec *a = slot->spec;
	const struct xv_opx *ref;

	if (a->kind != XV_K_READ && a->kind != XV_K_WRITE)
		return xv_error_set(err, op->index, slot->group, a->id,
				    XV_R_FLAGS, XV_ATTR_F_OPTIONAL);
	if (slot->data >= op->index)
		return xv_error_set(err, op->index, slot->group, a->id,
				    XV_R_REFERENCE, op->index);
	ref = &p->ops[slot->data];
	if (ref->method->class != XV_C_CREATE || op->method->class == XV_C_MODIFY)
		return xv_error_set(err, op->index, slot->group, a->id,
				    XV_R_REFERENCE, 0);
	if (ref->type->id != a->type)
		return xv_error_set(err, op->index, slot->group, a->id,
				    XV_R_TYPE, a->type);
	return 0;
}

static int check_handle(const struct xv_parsed *p, const struct xv_opx *op,
			const struct xv_slot *slot, struct xv_error *err)
{
	const struct xv_attr_spec *a = slot->spec;

	if (slot->len && slot->len != 4)
		return xv_error_set(err, op->index, slot->group, a->id,
				    XV_R_LENGTH, 4);
	if (slot->flags & XV_ATTR_F_FROM_OP)
		return check_reference(p, op, slot, err);
	/* The first receives belong to a queue pair of this very call. */
	if (op->method->class == XV_C_POST && a->kind == XV_K_WRITE)
		return xv_error_set(err, op->index, slot->group, a->id,
				    XV_R_REFERENCE, 0);
	if (slot->data > (a->kind == XV_K_NEW ? 0 : U32_MAX))
		return xv_error_set(err, op->index, slot->group, a->id,
				    XV_R_RANGE,
				    a->kind == XV_K_NEW ? 0 : U32_MAX);
	return 0;
}

/* A value that the table of the attribute does not have. */
static int bad_value(const struct xv_parsed *p, const struct xv_opx *op,
		     const struct xv_slot *slot, u64 bits, u16 reason,
		     struct xv_error *err)
{
	if (bits)
		reason = refused(p->spec, op->type->id, op->method->id,
				 slot->group, slot->spec->id, bits, reason);
	return xv_error_set(err, op->index, slot->group, slot->spec->id, reason,
			    reason == XV_R_NOT_OFFERED ? 0 : slot->spec->max);
}

static int check_number(const struct xv_parsed *p, const struct xv_opx *op,
			const struct xv_slot *slot, struct xv_error *err)
{
	const struct xv_attr_spec *a = slot->spec;
	u64 v = slot->data;

	if (slot->len && slot->len != 4 && slot->len != 8)
		return xv_error_set(err, op->index, slot->group, a->id,
				    XV_R_LENGTH, 8);
	switch (a->kind) {
	case XV_K_BITS:
		if (v & ~a->max)
			return bad_value(p, op, slot, v & ~a->max, XV_R_FLAGS,
					 err);
		return 0;
	case XV_K_ENUM:
		if (v >= 64 || !(a->max & (1ULL << v)))
			return bad_value(p, op, slot, v < 64 ? 1ULL << v : 0,
					 XV_R_RANGE, err);
		return 0;
	default:
		if (v < a->min)
			return xv_error_set(err, op->index, slot->group, a->id,
					    XV_R_RANGE, a->min);
		if (v > a->max)
			return xv_error_set(err, op->index, slot->group, a->id,
					    XV_R_RANGE, a->max);
		return 0;
	}
}

static int check_input(const struct xv_opx *op, const struct xv_slot *slot,
		       struct xv_error *err)
{
	const struct xv_attr_spec *a = slot->spec;

	if (slot->len < a->min)
		return xv_error_set(err, op->index, slot->group, a->id,
				    XV_R_LENGTH, a->min);
	/* An array has no tail; a struct may be longer than what we know. */
	if (a->step && (slot->len > a->max || slot->len % a->step))
		return xv_error_set(err, op->index, slot->group, a->id,
				    XV_R_LENGTH, a->max);
	return 0;
}

static int check_value(const struct xv_parsed *p, const struct xv_opx *op,
		       const struct xv_slot *slot, struct xv_error *err)
{
	const struct xv_attr_spec *a = slot->spec;

	if (slot->flags & ~(XV_ATTR_F_OPTIONAL | XV_ATTR_F_FROM_OP) ||
	    (slot->flags & XV_ATTR_F_FROM_OP && !xv_kind_is_handle(a->kind)))
		return xv_error_set(err, op->index, slot->group, a->id,
				    XV_R_FLAGS, XV_ATTR_F_OPTIONAL);
	switch (a->kind) {
	case XV_K_NEW:
	case XV_K_READ:
	case XV_K_WRITE:
	case XV_K_DESTROY:
		return check_handle(p, op, slot, err);
	case XV_K_IN:
		return check_input(op, slot, err);
	case XV_K_OUT:
		return 0;
	default:
		return check_number(p, op, slot, err);
	}
}

/*
 * Find the table line and the slot for a wire attribute. An unknown one that
 * the user marked optional gives 0 and no slot.
 */
static int find_slot(const struct xv_parsed *p, const struct xv_opx *op,
		     const struct xv_attr *wire, struct xv_slot **slotp,
		     const struct xv_attr_spec **specp, struct xv_error *err)
{
	const struct xv_method_spec *m = op->method;
	struct xv_slot *slot = op->slots;
	u16 reason = XV_R_UNKNOWN_GROUP;
	u32 i, j;

	*slotp = NULL;
	for (i = 0; i < m->num_groups; i++) {
		const struct xv_group_spec *g = m->groups[i].group;

		if (g->id != wire->group) {
			slot += g->num_attrs;
			continue;
		}
		for (j = 0; j < g->num_attrs; j++) {
			if (g->attrs[j].id != wire->id)
				continue;
			*slotp = &slot[j];
			*specp = &g->attrs[j];
			return 0;
		}
		reason = XV_R_UNKNOWN_ATTR;
		break;
	}
	reason = refused(p->spec, op->type->id, m->id, wire->group, wire->id, 0,
			 reason);
	/* What is not offered is not unknown. */
	if (wire->flags & XV_ATTR_F_OPTIONAL && reason != XV_R_NOT_OFFERED)
		return 0;
	return xv_error_set(err, op->index, wire->group, wire->id, reason, 0);
}

static int check_groups(const struct xv_opx *op, struct xv_error *err)
{
	const struct xv_method_spec *m = op->method;
	const struct xv_slot *slot = op->slots;
	u32 one_of = 0, one_of_given = 0;
	u16 one_of_group = 0;
	u32 i, j;

	for (i = 0; i < m->num_groups; i++) {
		const struct xv_group_use *use = &m->groups[i];
		const struct xv_group_spec *g = use->group;
		const struct xv_attr_spec *missing = NULL;
		bool given = false;

		for (j = 0; j < g->num_attrs; j++, slot++) {
			if (slot->spec)
				given = true;
			else if (g->attrs[j].required && !missing)
				missing = &g->attrs[j];
		}
		if (use->one_of) {
			one_of++;
			one_of_given += given;
			if (!one_of_group || given)
				one_of_group = g->id;
		}
		if (!given && use->required && !missing)
			return xv_error_set(err, op->index, g->id, 0,
					    XV_R_MISSING, 0);
		if (missing && (given || use->required))
			return xv_error_set(err, op->index, g->id, missing->id,
					    XV_R_MISSING, 0);
	}
	if (one_of && one_of_given != 1)
		return xv_error_set(err, op->index, one_of_group, 0,
				    XV_R_ONE_OF, one_of_given);
	return 0;
}

static int check_class(const struct xv_parsed *p, const struct xv_opx *op,
		       struct xv_error *err)
{
	u8 class = op->method->class;

	if (p->flags & XV_TXN_F_BATCH) {
		if (class != XV_C_MODIFY && class != XV_C_START)
			return xv_error_set(err, op->index, 0, 0, XV_R_CLASS, 0);
		return 0;
	}
	/* A modify is the last step that can fail: there can be only one. */
	if (class == XV_C_MODIFY && op->index != p->num_ops - 1)
		return xv_error_set(err, op->index, 0, 0, XV_R_CLASS, 0);
	return 0;
}

static int parse_attrs(struct xv_parsed *p, struct xv_opx *op, const void *msg,
		       u32 pos, u32 num, u32 *bytes, struct xv_error *err)
{
	const struct xv_attr_spec *spec;
	struct xv_slot *slot;
	struct xv_attr wire;
	u32 i;
	int ret;

	for (i = 0; i < num; i++, pos += sizeof(wire)) {
		memcpy(&wire, msg + pos, sizeof(wire));
		ret = find_slot(p, op, &wire, &slot, &spec, err);
		if (ret)
			return ret;
		if (!slot)
			continue;
		if (slot->spec)
			return xv_error_set(err, op->index, wire.group, wire.id,
					    XV_R_DUPLICATE, 0);
		slot->spec = spec;
		slot->group = wire.group;
		slot->len = wire.len;
		slot->flags = wire.flags;
		slot->wire = pos;
		slot->data = wire.data;
		ret = check_value(p, op, slot, err);
		if (ret)
			return ret;
		*bytes += xv_slot_external(slot);
		if (*bytes > XV_MAX_BYTES)
			return xv_error_set(err, op->index, wire.group, wire.id,
					    XV_R_TOO_BIG, XV_MAX_BYTES);
	}
	return 0;
}

/**
 * xv_parse - check a message and lay out its operations
 * @spec: the tables
 * @msg: the message, for which xv_parse_size() has returned 0
 * @len: its length
 * @mem: zeroed memory of the size that xv_parse_size() told
 * @out: is filled; points into @mem
 * @err: is filled on failure
 *
 * Return: 0 or a negative errno.
 */
int xv_parse(const struct xv_spec *spec, const void *msg, u32 len, void *mem,
	     struct xv_parsed *out, struct xv_error *err)
{
	struct xv_slot *slots;
	struct xv_txn txn;
	struct xv_op wire;
	u32 pos = sizeof(txn);
	u32 bytes = len;
	u32 i;
	int ret;

	ret = parse_header(msg, len, &txn, err);
	if (ret)
		return ret;
	out->spec = spec;
	out->flags = txn.flags;
	out->num_ops = txn.num_ops;
	out->ops = mem;
	slots = mem + txn.num_ops * sizeof(struct xv_opx);
	for (i = 0; i < txn.num_ops; i++) {
		struct xv_opx *op = &out->ops[i];
		u32 attrs;

		attrs = pos + sizeof(wire);
		ret = parse_op_header(spec, msg, len, i, &pos, &wire, op, err);
		if (ret)
			return ret;
		op->slots = slots;
		slots += op->num_slots;
		ret = check_class(out, op, err);
		if (ret)
			return ret;
		ret = parse_attrs(out, op, msg, attrs, wire.num_attrs, &bytes,
				  err);
		if (ret)
			return ret;
		ret = check_groups(op, err);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * xv_parse_tail - check that what lies beyond a known struct is zero
 * @op: the operation
 * @slot: an input buffer whose bytes have been read
 * @err: is filled on failure
 *
 * Return: 0 or a negative errno.
 */
int xv_parse_tail(const struct xv_opx *op, const struct xv_slot *slot,
		  struct xv_error *err)
{
	if (slot->len <= slot->spec->max)
		return 0;
	if (memchr_inv(slot->buf + slot->spec->max, 0,
		       slot->len - slot->spec->max))
		return xv_error_set(err, op->index, slot->group, slot->spec->id,
				    XV_R_TAIL, slot->spec->max);
	return 0;
}
