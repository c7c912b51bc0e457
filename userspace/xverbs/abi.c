// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * xverbs abi: what the kernel module can do, from device.describe.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <errno.h>
#include <string.h>
#include <xverbs.h>
#include "tool.h"

static const char *const kinds[] = {
	[XV_K_NEW] = "new", [XV_K_READ] = "read", [XV_K_WRITE] = "write",
	[XV_K_DESTROY] = "destroy", [XV_K_U32] = "u32", [XV_K_U64] = "u64",
	[XV_K_BITS] = "bits", [XV_K_ENUM] = "enum", [XV_K_IN] = "in",
	[XV_K_OUT] = "out",
};

static const char *const classes[] = {
	[XV_C_CREATE] = "create", [XV_C_DESTROY] = "destroy",
	[XV_C_POST] = "post", [XV_C_QUERY] = "query",
	[XV_C_MODIFY] = "modify", [XV_C_START] = "start",
};

static const char *kind_name(unsigned int kind)
{
	return kind <= XV_K_OUT && kinds[kind] ? kinds[kind] : "unknown";
}

static const char *class_name(unsigned int class)
{
	return class <= XV_C_START && classes[class] ? classes[class] :
						       "unknown";
}

static void print_values(const struct xv_desc *d)
{
	unsigned long long min = d->min, max = d->max;

	switch (d->kind) {
	case XV_K_U32:
	case XV_K_U64:
		printf(" %llu..%llu", min, max);
		break;
	case XV_K_BITS:
		printf(" mask 0x%llx", max);
		break;
	case XV_K_ENUM: {
		const char *sep = " one of ";
		unsigned int i;

		for (i = 0; i < 64; i++) {
			if (!(max >> i & 1))
				continue;
			printf("%s%u", sep, i);
			sep = ",";
		}
		break;
	}
	case XV_K_IN:
		if (d->step)
			printf(" %llu..%llu elements of %u bytes",
			       min / d->step, max / d->step, d->step);
		else if (min == max)
			printf(" %llu bytes", max);
		else
			printf(" %llu..%llu bytes", min, max);
		break;
	case XV_K_OUT:
		if (max)
			printf(" %llu bytes", max);
		break;
	}
}

static void print_line(struct xv_ctx *ctx, const struct xv_desc *d)
{
	const char *type;

	switch (d->what) {
	case XV_DESC_OBJECT:
		printf("%s (%u)\n", d->name, d->object);
		break;
	case XV_DESC_METHOD:
		printf("    %s (%u): class %s\n", d->name, d->method,
		       class_name(d->kind));
		break;
	case XV_DESC_GROUP:
		printf("\t%s (%u)%s%s\n", d->name, d->group,
		       d->flags & XV_DESC_F_REQUIRED ? ", required" : "",
		       d->flags & XV_DESC_F_ONE_OF ? ", one of these" : "");
		break;
	case XV_DESC_ATTR:
		printf("\t    %-16s (%u) %s", d->name, d->id,
		       kind_name(d->kind));
		type = d->type ? xv_object_name(ctx, d->type) : NULL;
		if (type)
			printf(" %s", type);
		print_values(d);
		printf("%s\n",
		       d->flags & XV_DESC_F_REQUIRED ? ", required" : "");
		break;
	case XV_DESC_REASON:
		printf("reason %u: %s (%s)\n", d->id, d->name,
		       strerrorname_np(d->max));
		break;
	case XV_DESC_REFUSED:
		type = xv_object_name(ctx, d->object);
		printf("not offered: %s: %s\n", type ? type : "unknown",
		       d->name);
		break;
	}
}

/* The tree as nested lists; each level's list is begun by its parent. */
struct tree {
	struct json_object *objects;
	struct json_object *methods;
	struct json_object *groups;
	struct json_object *attrs;
	struct json_object *reasons;
	struct json_object *refused;
};

static struct json_object *named(struct json_object *list, const char *name,
				 unsigned int id)
{
	struct json_object *o = json_object_new_object();

	put_str(o, "name", name);
	put_num(o, "id", id);
	json_object_array_add(list, o);
	return o;
}

static void add_line(struct xv_ctx *ctx, struct tree *t, const struct xv_desc *d)
{
	struct json_object *o;
	const char *type;

	switch (d->what) {
	case XV_DESC_OBJECT:
		o = named(t->objects, d->name, d->object);
		t->methods = put_list(o, "methods");
		break;
	case XV_DESC_METHOD:
		o = named(t->methods, d->name, d->method);
		put_str(o, "class", class_name(d->kind));
		t->groups = put_list(o, "groups");
		break;
	case XV_DESC_GROUP:
		o = named(t->groups, d->name, d->group);
		json_object_object_add(o, "required", json_object_new_boolean(
				       d->flags & XV_DESC_F_REQUIRED));
		json_object_object_add(o, "one_of", json_object_new_boolean(
				       d->flags & XV_DESC_F_ONE_OF));
		t->attrs = put_list(o, "attributes");
		break;
	case XV_DESC_ATTR:
		o = named(t->attrs, d->name, d->id);
		put_str(o, "kind", kind_name(d->kind));
		type = d->type ? xv_object_name(ctx, d->type) : NULL;
		if (type)
			put_str(o, "type", type);
		json_object_object_add(o, "required", json_object_new_boolean(
				       d->flags & XV_DESC_F_REQUIRED));
		put_num(o, "min", d->min);
		put_num(o, "max", d->max);
		put_num(o, "step", d->step);
		break;
	case XV_DESC_REASON:
		o = named(t->reasons, d->name, d->id);
		put_num(o, "errno", d->max);
		put_str(o, "errno_name", strerrorname_np(d->max));
		break;
	case XV_DESC_REFUSED:
		o = json_object_new_object();
		put_str(o, "name", d->name);
		put_num(o, "object", d->object);
		put_num(o, "method", d->method);
		put_num(o, "group", d->group);
		put_num(o, "attribute", d->id);
		put_num(o, "values", d->max);
		json_object_array_add(t->refused, o);
		break;
	}
}

/* A name that has no end in its field, or no place in the tree. */
static bool line_ok(const struct xv_desc *d, const struct tree *t)
{
	if (!memchr(d->name, 0, sizeof(d->name)))
		return false;
	switch (d->what) {
	case XV_DESC_METHOD:
		return !json || t->methods;
	case XV_DESC_GROUP:
		return !json || t->groups;
	case XV_DESC_ATTR:
		return !json || t->attrs;
	case XV_DESC_REASON:
		return strerrorname_np(d->max);
	}
	return true;
}

int cmd_abi(int argc, char **argv)
{
	const struct xv_describe *desc;
	struct json_object *root;
	const struct xv_desc *d;
	struct xv_ctx *ctx;
	struct tree t = {};
	unsigned int i;
	int ret;

	ret = xv_open(argc > 1 ? argv[1] : NULL, 0, &ctx);
	if (ret)
		return fail_open(argc > 1 ? argv[1] : NULL, ret);
	ret = xv_describe(ctx, &desc);
	if (ret) {
		xv_close(ctx);
		return fail("device.describe", ret);
	}
	if (!json) {
		printf("abi %u: at most %u operations of %u attributes and %u bytes in a transaction, %u queue pairs in an enter\n",
		       desc->abi_version, desc->max_ops, desc->max_attrs,
		       desc->max_bytes, desc->max_enter_qps);
		for (i = 0; (d = xv_describe_line(desc, i)); i++)
			if (line_ok(d, &t))
				print_line(ctx, d);
		xv_close(ctx);
		return 0;
	}
	root = json_object_new_object();
	put_num(root, "abi_version", desc->abi_version);
	put_num(root, "max_ops", desc->max_ops);
	put_num(root, "max_attrs", desc->max_attrs);
	put_num(root, "max_bytes", desc->max_bytes);
	put_num(root, "max_enter_qps", desc->max_enter_qps);
	t.objects = put_list(root, "objects");
	t.reasons = put_list(root, "reasons");
	t.refused = put_list(root, "not_offered");
	for (i = 0; (d = xv_describe_line(desc, i)); i++)
		if (line_ok(d, &t))
			add_line(ctx, &t, d);
	xv_close(ctx);
	print_json(root);
	return 0;
}
