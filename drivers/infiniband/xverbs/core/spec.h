/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tables from which everything else is made: what objects, methods, groups
 * and attributes there are, and what values they take.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * One object's table stands in its file below objects/, beside its handlers.
 * The parser, device.describe and the library's error texts read the same
 * tables, so there is no second place that could disagree. This header,
 * spec.c and parse.c are also built in userspace, for unit tests and fuzzing.
 */
#ifndef _XV_CORE_SPEC_H
#define _XV_CORE_SPEC_H

#include <linux/types.h>
#include <rdma/xverbs.h>

struct xv_call;
struct xv_opx;
struct xv_uobj;
struct xv_type_ops;

/**
 * struct xv_attr_spec - one attribute
 * @id: id inside its group; ascending in the table
 * @kind: enum xv_kind
 * @required: must be given if its group is
 * @type: enum xv_object of a handle
 * @step: element size of an input array, else 0
 * @min: see enum xv_kind
 * @max: see enum xv_kind
 * @name: for people
 */
struct xv_attr_spec {
	u16 id;
	u8 kind;
	bool required;
	u16 type;
	u32 step;
	u64 min;
	u64 max;
	const char *name;
};

/**
 * struct xv_group_spec - a named table of attributes
 * @id: enum xv_group
 * @num_attrs: number of @attrs
 * @name: for people
 * @attrs: the attributes
 */
struct xv_group_spec {
	u16 id;
	u16 num_attrs;
	const char *name;
	const struct xv_attr_spec *attrs;
};

/**
 * struct xv_group_use - a group as one method has it
 * @group: the group
 * @required: at least one of its attributes must be given
 * @one_of: exactly one of the groups marked so must be given
 */
struct xv_group_use {
	const struct xv_group_spec *group;
	bool required;
	bool one_of;
};

/**
 * struct xv_method_spec - a method of an object
 * @id: enum xv_method
 * @class: enum xv_class
 * @num_groups: number of @groups
 * @name: for people
 * @groups: its groups, ids ascending
 * @check: step 1: semantic checks; may sleep and touch user memory; no lock,
 *	no device
 * @make: step 3: make, ask or post; may sleep; user memory is out of bounds.
 *	Sets xv_uobj.hw as soon as there is something to destroy
 * @last: step 5: the last fallible step
 * @commit: step 6: cannot fail
 *
 * The handlers that return int return 0 or what xv_fail() returned.
 */
struct xv_method_spec {
	u16 id;
	u8 class;
	u8 num_groups;
	const char *name;
	const struct xv_group_use *groups;
	int (*check)(struct xv_call *call, struct xv_opx *op);
	int (*make)(struct xv_call *call, struct xv_opx *op);
	int (*last)(struct xv_call *call, struct xv_opx *op);
	void (*commit)(struct xv_call *call, struct xv_opx *op);
};

/**
 * struct xv_type - a type of objects
 * @id: enum xv_object
 * @num_methods: number of @methods
 * @name: for people
 * @methods: its methods, ids ascending
 * @ops: how the framework handles objects of this type, see uobj.h; NULL for
 *	types without objects
 */
struct xv_type {
	u16 id;
	u16 num_methods;
	const char *name;
	const struct xv_method_spec *methods;
	const struct xv_type_ops *ops;
};

/**
 * struct xv_refused - something that is known and not offered on any device
 * @object: enum xv_object
 * @method: enum xv_method; 0: @values are opcodes of the data path
 * @group: enum xv_group; 0: the whole method
 * @attr: the attribute
 * @values: bits of an attribute that has others, of flags the flags themselves;
 *	0: the whole attribute
 * @name: for people
 *
 * The tables of the types do not have these: what they would refuse as unknown
 * or out of range is answered with %XV_R_NOT_OFFERED instead.
 */
struct xv_refused {
	u16 object;
	u16 method;
	u16 group;
	u16 attr;
	u64 values;
	const char *name;
};

/**
 * struct xv_spec - all tables
 * @num_types: number of @types
 * @types: the types, ids ascending
 * @refused: what is known and not offered
 * @num_refused: number of @refused
 */
struct xv_spec {
	u32 num_types;
	const struct xv_type *const *types;
	const struct xv_refused *refused;
	u32 num_refused;
};

/**
 * struct xv_reason_spec - a line of the table of reasons
 * @reason: enum xv_reason
 * @err: the errno it goes with, positive
 * @name: for people
 */
struct xv_reason_spec {
	u16 reason;
	u16 err;
	const char *name;
};

int xv_spec_validate(const struct xv_spec *spec, const char **why);
const struct xv_type *xv_spec_type(const struct xv_spec *spec, u16 id);
const struct xv_method_spec *xv_spec_method(const struct xv_type *type, u16 id);
bool xv_spec_refuses(const struct xv_spec *spec, u16 object, u16 method,
		     u16 group, u16 attr, u64 values);
u32 xv_spec_describe(const struct xv_spec *spec, struct xv_desc *out, u32 max);
u32 xv_method_num_slots(const struct xv_method_spec *method);
int xv_reason_errno(u16 reason);

static inline bool xv_kind_is_handle(u8 kind)
{
	return kind >= XV_K_NEW && kind <= XV_K_DESTROY;
}

#endif /* _XV_CORE_SPEC_H */
