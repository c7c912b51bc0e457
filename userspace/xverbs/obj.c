// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * xverbs obj: open files and the objects of each.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xverbs.h>
#include "tool.h"

static unsigned int files_shown;

/*
 * What the kernel says of an open file in /proc/PID/fdinfo/FD: the lines that
 * begin with "xverbs-".
 */
static void show_file(const char *pid, const char *fd, const char *node,
		      struct json_object *list)
{
	struct json_object *o = NULL;
	char path[64], line[256], *end;
	unsigned long long n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.16s/fdinfo/%.16s", pid, fd);
	f = fopen(path, "re");
	if (!f)
		return;
	files_shown++;
	if (json) {
		o = json_object_new_object();
		put_num(o, "pid", strtoul(pid, NULL, 10));
		put_num(o, "fd", strtoul(fd, NULL, 10));
		put_str(o, "node", node);
		json_object_array_add(list, o);
	} else {
		printf("pid %s fd %s: %s\n", pid, fd, node);
	}
	while (fgets(line, sizeof(line), f)) {
		char *val = strchr(line, ':');

		if (strncmp(line, "xverbs-", 7) || !val)
			continue;
		*val++ = 0;
		val += strspn(val, " \t");
		val[strcspn(val, "\n")] = 0;
		n = strtoull(val, &end, 10);
		if (json && *val && !*end)
			put_num(o, line + 7, n);
		else if (json)
			put_str(o, line + 7, val);
		else
			printf("    %s %s\n", line + 7, val);
	}
	fclose(f);
}

static void show_process(const char *pid, struct json_object *list)
{
	char dir[64], path[384], node[128];
	struct dirent *e;
	DIR *d;

	snprintf(dir, sizeof(dir), "/proc/%.16s/fd", pid);
	d = opendir(dir);
	if (!d)
		return;
	while ((e = readdir(d))) {
		ssize_t len;

		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		len = readlink(path, node, sizeof(node) - 1);
		if (len < 0)
			continue;
		node[len] = 0;
		if (!strncmp(node, "/dev/infiniband/xverbs", 22))
			show_file(pid, e->d_name, node, list);
	}
	closedir(d);
}

int cmd_obj(int argc, char **argv)
{
	struct json_object *list = NULL;
	struct dirent *e;
	char path[64];
	DIR *proc;

	if (argc > 1) {
		if (!*argv[1] || argv[1][strspn(argv[1], "0123456789")]) {
			fprintf(stderr, "xverbs: %s is no process number\n",
				argv[1]);
			print_usage(stderr);
			return 2;
		}
		snprintf(path, sizeof(path), "/proc/%.16s", argv[1]);
		if (access(path, F_OK)) {
			fprintf(stderr, "xverbs: no such process: %s\n", argv[1]);
			return 1;
		}
	}
	if (json)
		list = json_object_new_array();
	if (argc > 1) {
		show_process(argv[1], list);
	} else {
		proc = opendir("/proc");
		if (!proc)
			return fail("/proc", -errno);
		while ((e = readdir(proc)))
			if (isdigit((unsigned char)e->d_name[0]))
				show_process(e->d_name, list);
		closedir(proc);
	}
	if (json)
		print_json(list);
	else if (!files_shown)
		printf("none\n");
	return 0;
}
