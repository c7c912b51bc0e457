// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * xverbs: texts for people, and JSON for programs.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <errno.h>
#include <string.h>
#include <xverbs.h>
#include "tool.h"

int fail(const char *what, int err)
{
	fprintf(stderr, "xverbs: %s: %s\n", what, strerror(-err));
	return 1;
}

int fail_open(const char *name, int err)
{
	struct xv_device *devs;
	unsigned int num, i;

	if (err == -ENODEV && !name) {
		fprintf(stderr, "xverbs: no device: is xverbs.ko loaded, and is there an RDMA device? (see README)\n");
		return 1;
	}
	if ((err == -EACCES || err == -EPERM) && !xv_device_list(&devs, &num)) {
		for (i = 0; i < num; i++) {
			if (name && strcmp(name, devs[i].name))
				continue;
			fprintf(stderr, "xverbs: %s: permission denied: be in group rdma or root\n",
				devs[i].node);
			xv_device_list_free(devs);
			return 1;
		}
		xv_device_list_free(devs);
	}
	return fail(name ? name : "no device", err);
}

void print_json(struct json_object *o)
{
	printf("%s\n", json_object_to_json_string_ext(o,
			JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}

void put_str(struct json_object *o, const char *key, const char *val)
{
	json_object_object_add(o, key, json_object_new_string(val));
}

void put_num(struct json_object *o, const char *key, uint64_t val)
{
	json_object_object_add(o, key, json_object_new_uint64(val));
}

struct json_object *put_list(struct json_object *o, const char *key)
{
	struct json_object *list = json_object_new_array();

	json_object_object_add(o, key, list);
	return list;
}
