// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The tables: looked up, checked once at load, and described to userspace.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "spec.h"

static const struct xv_reason_spec xv_reasons[] = {
	{ XV_R_UNKNOWN_OBJECT, EPROTONOSUPPORT, "unknown object" },
	{ XV_R_UNKNOWN_METHOD, EPROTONOSUPPORT, "unknown method" },
	{ XV_R_UNKNOWN_GROUP, EPROTONOSUPPORT, "unknown group" },
	{ XV_R_UNKNOWN_ATTR, EPROTONOSUPPORT, "unknown attribute" },
	{ XV_R_MISSING, EINVAL, "missing" },
	{ XV_R_DUPLICATE, EINVAL, "given twice" },
	{ XV_R_RANGE, EINVAL, "out of range" },
	{ XV_R_LENGTH, EINVAL, "wrong length" },
	{ XV_R_TAIL, EINVAL, "tail not zero" },
	{ XV_R_RESERVED, EINVAL, "reserved field not zero" },
	{ XV_R_FLAGS, EINVAL, "unknown flag" },
	{ XV_R_TYPE, EINVAL, "wrong object type" },
	{ XV_R_REFERENCE, EINVAL, "bad reference" },
	{ XV_R_STATE, EINVAL, "wrong state" },
	{ XV_R_SELF_CONFLICT, EINVAL, "conflict with itself" },
	{ XV_R_CLASS, EINVAL, "operations do not mix" },
	{ XV_R_ONE_OF, EINVAL, "not exactly one group" },
	{ XV_R_ACCESS, EINVAL, "access rights conflict" },
	{ XV_R_MISMATCH, EINVAL, "objects do not match" },
	{ XV_R_CQ_SPACE, EINVAL, "completion queue too small" },
	{ XV_R_TOO_BIG, E2BIG, "too big" },
	{ XV_R_NO_HANDLE, ENOENT, "no such handle" },
	{ XV_R_NO_EVENTQ, EBADF, "not an event queue" },
	{ XV_R_LOCK_CONFLICT, EBUSY, "in use by another call" },
	{ XV_R_DEPENDENT, EBUSY, "held by a dependent" },
	{ XV_R_ZOMBIE_DEPENDENT, EBUSY, "held by a zombie" },
	{ XV_R_MEMORY, ENOMEM, "out of memory" },
	{ XV_R_MEMLOCK, ENOMEM, "RLIMIT_MEMLOCK" },
	{ XV_R_RDMA_CGROUP, ENOMEM, "rdma cgroup limit" },
	{ XV_R_BUDGET, ENOMEM, "ring budget of the file" },
	{ XV_R_FILES, EMFILE, "no free descriptor" },
	{ XV_R_PERMISSION, EPERM, "not permitted" },
	{ XV_R_USER_MEMORY, EFAULT, "bad user memory" },
	{ XV_R_CAPABILITY, EOPNOTSUPP, "not supported by the device" },
	{ XV_R_DRIVER_LIST, EOPNOTSUPP, "driver not on the list" },
	{ XV_R_QUEUE_FULL, EAGAIN, "queue full" },
	{ XV_R_TIME, ETIME, "time limit" },
	{ XV_R_SIGNAL, EINTR, "signal" },
	{ XV_R_DEVICE_GONE, ENODEV, "device gone" },
	{ XV_R_DRIVER, EIO, "driver failed" },
	{ XV_R_UNREACHABLE, EHOSTUNREACH, "no link address" },
	{ XV_R_NO_GID, EINVAL, "empty GID entry" },
	{ XV_R_HAS_SRQ, EINVAL, "receives come from an SRQ" },
	{ XV_R_ADDR_IN_USE, EADDRINUSE, "address in use" },
	{ XV_R_NO_ADDR, EADDRNOTAVAIL, "not an address of the device" },
	{ XV_R_NO_REQUEST, ENOENT, "no such request" },
	{ XV_R_NOT_OFFERED, EOPNOTSUPP, "not offered" },
	{ XV_R_ATTACHED, EINVAL, "in the group already" },
};

/**
 * xv_reason_errno - the errno a reason goes with
 * @reason: enum xv_reason
 *
 * Return: the errno, positive; EIO for a reason that is not in the table.
 */
int xv_reason_errno(u16 reason)
{
	int err = EIO;

	/* The table is dense and begins at 1; validation proves it. */
	if (reason && reason <= ARRAY_SIZE(xv_reasons))
		err = xv_reasons[reason - 1].err;
	return err;
}

/**
 * xv_spec_type - find a type
 * @spec: the tables
 * @id: enum xv_object, as the user gave it
 *
 * Return: the type or NULL.
 */
const struct xv_type *xv_spec_type(const struct xv_spec *spec, u16 id)
{
	u32 i;

	for (i = 0; i < spec->num_types; i++)
		if (spec->types[i]->id == id)
			return spec->types[i];
	return NULL;
}

/**
 * xv_spec_method - find a method
 * @type: the type
 * @id: enum xv_method, as the user gave it
 *
 * Return: the method or NULL.
 */
const struct xv_method_spec *xv_spec_method(const struct xv_type *type, u16 id)
{
	u32 i;

	for (i = 0; i < type->num_methods; i++)
		if (type->methods[i].id == id)
			return &type->methods[i];
	return NULL;
}

/**
 * xv_spec_refuses - is something known, and not offered?
 * @spec: the tables
 * @object: enum xv_object
 * @method: enum xv_method
 * @group: enum xv_group, or 0 if the question is about the method
 * @attr: the attribute, or 0
 * @values: the values that are not in the tables, as bits; 0 if the question is
 *	about the attribute. More than one: all of them
 *
 * Return: true if so.
 */
bool xv_spec_refuses(const struct xv_spec *spec, u16 object, u16 method,
		     u16 group, u16 attr, u64 values)
{
	u64 known = 0;
	u32 i;

	for (i = 0; i < spec->num_refused; i++) {
		const struct xv_refused *r = &spec->refused[i];

		if (r->object != object || r->method != method ||
		    r->group != group || r->attr != attr ||
		    !r->values != !values)
			continue;
		if (!values)
			return true;
		known |= r->values;
	}
	return values && !(values & ~known);
}

/**
 * xv_method_num_slots - places for the attributes of one call of a method
 * @method: the method
 *
 * Return: the number of all attributes of all its groups.
 */
u32 xv_method_num_slots(const struct xv_method_spec *method)
{
	u32 n = 0;
	u32 i;

	for (i = 0; i < method->num_groups; i++)
		n += method->groups[i].group->num_attrs;
	return n;
}

static bool name_ok(const char *name)
{
	return name && *name && strlen(name) < XV_DESC_NAME;
}

static const char *check_attr(const struct xv_attr_spec *a)
{
	if (!name_ok(a->name))
		return "attribute without a name";
	switch (a->kind) {
	case XV_K_NEW:
	case XV_K_READ:
	case XV_K_WRITE:
	case XV_K_DESTROY:
		return a->type ? NULL : "handle without a type";
	case XV_K_U32:
		if (a->max > U32_MAX)
			return "range wider than the number";
		fallthrough;
	case XV_K_U64:
		return a->min <= a->max ? NULL : "empty range";
	case XV_K_BITS:
	case XV_K_ENUM:
		return a->max ? NULL : "no value is allowed";
	case XV_K_IN:
		if (!a->max || a->min > a->max || a->max > XV_MAX_BYTES)
			return "impossible input length";
		if (a->step && (a->min % a->step || a->max % a->step))
			return "input length is no multiple of its step";
		return NULL;
	case XV_K_OUT:
		return a->max <= U16_MAX ? NULL : "impossible output length";
	}
	return "attribute of no kind";
}

/* One object a method: which kind of handle its class must have, and no other */
static bool handle_fits_class(u8 class, u8 kind)
{
	switch (kind) {
	case XV_K_READ:
		return true;
	case XV_K_NEW:
		return class == XV_C_CREATE;
	case XV_K_DESTROY:
		return class == XV_C_DESTROY;
	default:
		/* A new object may take an existing one for itself. */
		return class == XV_C_CREATE || class == XV_C_POST ||
		       class == XV_C_MODIFY || class == XV_C_START;
	}
}

/* Is it the handle of the one object that the method makes or acts on? */
static bool is_main_handle(u8 class, u8 kind)
{
	return kind != XV_K_READ && (kind == XV_K_NEW || class != XV_C_CREATE);
}

static const char *check_method(const struct xv_method_spec *m)
{
	u32 main_handles = 0;
	u16 last_group = 0;
	u32 i, j;

	if (!name_ok(m->name))
		return "method without a name";
	if (m->class < XV_C_CREATE || m->class > XV_C_START)
		return "method of no class";
	if (xv_method_num_slots(m) > XV_MAX_ATTRS)
		return "more attributes than one operation can have";
	for (i = 0; i < m->num_groups; i++) {
		const struct xv_group_spec *g = m->groups[i].group;
		u16 last_attr = 0;

		if (!name_ok(g->name) || !g->num_attrs)
			return "group without a name or attributes";
		if (g->id <= last_group)
			return "groups not ascending";
		last_group = g->id;
		for (j = 0; j < g->num_attrs; j++) {
			const struct xv_attr_spec *a = &g->attrs[j];
			const char *why = check_attr(a);

			if (why)
				return why;
			if (a->id <= last_attr)
				return "attributes not ascending";
			last_attr = a->id;
			if (!xv_kind_is_handle(a->kind))
				continue;
			if (!handle_fits_class(m->class, a->kind))
				return "handle does not fit the class";
			if (is_main_handle(m->class, a->kind)) {
				main_handles++;
				if (!a->required || !m->groups[i].required)
					return "optional main handle";
			}
		}
	}
	if (main_handles != (m->class == XV_C_QUERY ? 0 : 1))
		return "a method acts on exactly one object";
	return NULL;
}

/**
 * xv_spec_validate - check the tables
 * @spec: the tables
 * @why: is set to a text that tells what is wrong
 *
 * Called once at load; a table that does not pass refuses the module.
 *
 * Return: 0, or -EINVAL.
 */
int xv_spec_validate(const struct xv_spec *spec, const char **why)
{
	u16 last_type = 0;
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(xv_reasons); i++) {
		*why = "reasons are not dense";
		if (xv_reasons[i].reason != i + 1 || !name_ok(xv_reasons[i].name))
			return -EINVAL;
	}
	for (i = 0; i < spec->num_refused; i++) {
		*why = "refused without a name";
		if (!name_ok(spec->refused[i].name))
			return -EINVAL;
	}
	for (i = 0; i < spec->num_types; i++) {
		const struct xv_type *t = spec->types[i];
		u16 last_method = 0;

		*why = "types not ascending, or without a name";
		if (t->id <= last_type || !name_ok(t->name))
			return -EINVAL;
		last_type = t->id;
		for (j = 0; j < t->num_methods; j++) {
			*why = "methods not ascending";
			if (t->methods[j].id <= last_method)
				return -EINVAL;
			last_method = t->methods[j].id;
			*why = check_method(&t->methods[j]);
			if (*why)
				return -EINVAL;
		}
	}
	*why = NULL;
	return 0;
}

struct xv_desc_out {
	struct xv_desc *out;
	u32 max;
	u32 n;
};

static void put_desc(struct xv_desc_out *o, const struct xv_desc *d,
		     const char *name)
{
	if (o->n < o->max) {
		struct xv_desc *line = &o->out[o->n];

		*line = *d;
		memset(line->name, 0, sizeof(line->name));
		memcpy(line->name, name, strlen(name));
	}
	o->n++;
}

static void describe_method(struct xv_desc_out *o, const struct xv_type *t,
			    const struct xv_method_spec *m)
{
	struct xv_desc d = { .what = XV_DESC_METHOD, .object = t->id,
			     .method = m->id, .kind = m->class };
	u32 i, j;

	put_desc(o, &d, m->name);
	for (i = 0; i < m->num_groups; i++) {
		const struct xv_group_use *use = &m->groups[i];
		const struct xv_group_spec *g = use->group;

		memset(&d, 0, sizeof(d));
		d.what = XV_DESC_GROUP;
		d.object = t->id;
		d.method = m->id;
		d.group = g->id;
		d.flags = (use->required ? XV_DESC_F_REQUIRED : 0) |
			  (use->one_of ? XV_DESC_F_ONE_OF : 0);
		put_desc(o, &d, g->name);
		d.what = XV_DESC_ATTR;
		for (j = 0; j < g->num_attrs; j++) {
			const struct xv_attr_spec *a = &g->attrs[j];

			d.id = a->id;
			d.kind = a->kind;
			d.type = a->type;
			d.flags = a->required ? XV_DESC_F_REQUIRED : 0;
			d.step = a->step;
			d.min = a->min;
			d.max = a->max;
			put_desc(o, &d, a->name);
		}
	}
}

/**
 * xv_spec_describe - write the tables as lines
 * @spec: the tables
 * @out: room for the lines
 * @max: number of lines that fit
 *
 * Return: the number of lines there are, which may be more than @max.
 */
u32 xv_spec_describe(const struct xv_spec *spec, struct xv_desc *out, u32 max)
{
	struct xv_desc_out o = { .out = out, .max = max };
	struct xv_desc d;
	u32 i, j;

	for (i = 0; i < spec->num_types; i++) {
		const struct xv_type *t = spec->types[i];

		memset(&d, 0, sizeof(d));
		d.what = XV_DESC_OBJECT;
		d.object = t->id;
		put_desc(&o, &d, t->name);
		for (j = 0; j < t->num_methods; j++)
			describe_method(&o, t, &t->methods[j]);
	}
	memset(&d, 0, sizeof(d));
	d.what = XV_DESC_REASON;
	for (i = 0; i < ARRAY_SIZE(xv_reasons); i++) {
		d.id = xv_reasons[i].reason;
		d.max = xv_reasons[i].err;
		put_desc(&o, &d, xv_reasons[i].name);
	}
	d.what = XV_DESC_REFUSED;
	for (i = 0; i < spec->num_refused; i++) {
		const struct xv_refused *r = &spec->refused[i];

		d.object = r->object;
		d.method = r->method;
		d.group = r->group;
		d.id = r->attr;
		d.max = r->values;
		put_desc(&o, &d, r->name);
	}
	return o.n;
}
