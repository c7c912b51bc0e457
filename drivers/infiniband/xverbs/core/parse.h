/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Wire message to checked operations. Pure: no locks, no user memory.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_CORE_PARSE_H
#define _XV_CORE_PARSE_H

#include "spec.h"

/**
 * struct xv_slot - one attribute of an operation, checked
 * @spec: its table line; NULL if it was not given
 * @group: its group
 * @len: length as the user gave it
 * @flags: XV_ATTR_F_*
 * @wire: offset of the struct xv_attr in the message
 * @data: value or user pointer, as the user gave it
 * @buf: the bytes of an input or an output buffer; set by the caller
 * @needed: needed length of an output; set by the handler
 * @obj: the object that a handle names; set by the caller
 */
struct xv_slot {
	const struct xv_attr_spec *spec;
	u16 group;
	u16 len;
	u16 flags;
	u32 wire;
	u64 data;
	void *buf;
	u32 needed;
	struct xv_uobj *obj;
};

/**
 * struct xv_opx - an operation, checked
 * @type: type of the object
 * @method: the method
 * @index: position in the transaction
 * @num_slots: number of @slots
 * @made: @obj's hardware object exists; set by the caller
 * @slots: a place for each attribute of the method, in table order
 * @obj: the object that the operation makes, changes or destroys; set by the
 *	caller
 */
struct xv_opx {
	const struct xv_type *type;
	const struct xv_method_spec *method;
	u32 index;
	u16 num_slots;
	bool made;
	struct xv_slot *slots;
	struct xv_uobj *obj;
};

/**
 * struct xv_parsed - a transaction, checked
 * @spec: the tables
 * @flags: XV_TXN_F_*
 * @num_ops: number of @ops
 * @ops: the operations
 */
struct xv_parsed {
	const struct xv_spec *spec;
	u32 flags;
	u32 num_ops;
	struct xv_opx *ops;
};

int xv_parse_size(const struct xv_spec *spec, const void *msg, u32 len,
		  size_t *size, struct xv_error *err);
int xv_parse(const struct xv_spec *spec, const void *msg, u32 len, void *mem,
	     struct xv_parsed *out, struct xv_error *err);
int xv_parse_tail(const struct xv_opx *op, const struct xv_slot *slot,
		  struct xv_error *err);
struct xv_slot *xv_slot(const struct xv_opx *op, u16 group, u16 id);
int xv_error_set(struct xv_error *err, u32 op, u16 group, u16 attr,
		 u16 reason, u64 detail);

/* Bytes of user memory that an input attribute brings beside the message. */
static inline u32 xv_slot_external(const struct xv_slot *slot)
{
	return slot->spec && slot->spec->kind == XV_K_IN && slot->len > 8 ?
	       slot->len : 0;
}

/* The value of a number, or a default if it was not given. */
static inline u64 xv_value(const struct xv_opx *op, u16 group, u16 id,
			   u64 absent)
{
	const struct xv_slot *slot = xv_slot(op, group, id);

	return slot ? slot->data : absent;
}

#endif /* _XV_CORE_PARSE_H */
