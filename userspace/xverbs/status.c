// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * xverbs status: is the module loaded, and which devices are there?
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <xverbs.h>
#include "tool.h"

static bool read_line(const char *path, char *buf, size_t len)
{
	FILE *f = fopen(path, "re");
	bool ok;

	if (!f)
		return false;
	ok = fgets(buf, len, f);
	fclose(f);
	if (ok)
		buf[strcspn(buf, "\n")] = 0;
	return ok;
}

int cmd_status(int argc, char **argv)
{
	char version[64] = "unknown";
	struct xv_device *devs = NULL;
	unsigned int num = 0, i;
	struct stat st;
	bool loaded;
	int ret;

	(void)argc;
	(void)argv;
	/* It may be loaded by the asking. */
	ret = xv_device_list(&devs, &num);
	loaded = !stat("/sys/module/xverbs", &st);
	if (loaded)
		read_line("/sys/module/xverbs/version", version,
			  sizeof(version));
	if (json) {
		struct json_object *o = json_object_new_object();
		struct json_object *list;

		put_num(o, "library_major", XV_VERSION_MAJOR);
		put_num(o, "library_minor", XV_VERSION_MINOR);
		put_num(o, "abi_version", XV_ABI_VERSION);
		json_object_object_add(o, "module_loaded",
				       json_object_new_boolean(loaded));
		if (loaded)
			put_str(o, "module_version", version);
		list = put_list(o, "devices");
		for (i = 0; i < num; i++)
			json_object_array_add(list,
				json_object_new_string(devs[i].name));
		print_json(o);
	} else {
		printf("library %u.%u, abi %u\n", XV_VERSION_MAJOR,
		       XV_VERSION_MINOR, XV_ABI_VERSION);
		if (loaded)
			printf("module loaded, version %s\n", version);
		else
			printf("module not loaded\n");
		printf("devices:");
		for (i = 0; i < num; i++)
			printf(" %s", devs[i].name);
		printf("%s\n", num ? "" : " none");
		if (ret)
			printf("devices can not be listed: %s\n",
			       ret == -ENODEV ? "no RDMA netlink: is ib_core loaded?" :
						strerror(-ret));
	}
	xv_device_list_free(devs);
	return loaded && num ? 0 : 1;
}
