// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * xverbs: look at devices, and at what their kernel module can do.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Text is for people and may change; JSON is the stable form.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <json.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xverbs.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static bool json;

static void print_usage(FILE *out);

static int fail(const char *what, int err)
{
	fprintf(stderr, "xverbs: %s: %s\n", what, strerror(-err));
	return 1;
}

static int fail_open(const char *name, int err)
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

/* ---- output ----------------------------------------------------------- */

static void print_json(struct json_object *o)
{
	printf("%s\n", json_object_to_json_string_ext(o,
			JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}

static void put_str(struct json_object *o, const char *key, const char *val)
{
	json_object_object_add(o, key, json_object_new_string(val));
}

static void put_num(struct json_object *o, const char *key, uint64_t val)
{
	json_object_object_add(o, key, json_object_new_uint64(val));
}

static struct json_object *put_list(struct json_object *o, const char *key)
{
	struct json_object *list = json_object_new_array();

	json_object_object_add(o, key, list);
	return list;
}

/* ---- dev ---------------------------------------------------------------- */

static const char *const port_states[] = {
	[XV_PORT_DOWN] = "down",
	[XV_PORT_INIT] = "init",
	[XV_PORT_ARMED] = "armed",
	[XV_PORT_ACTIVE] = "active",
};

static const char *port_state(unsigned int state)
{
	return state < 5 && port_states[state] ? port_states[state] : "unknown";
}

static const char *link_layer(unsigned int link)
{
	return link == XV_LINK_INFINIBAND ? "infiniband" :
	       link == XV_LINK_ETHERNET ? "ethernet" : "unknown";
}

static void show_port(struct xv_ctx *ctx, unsigned int port,
		      struct json_object *list)
{
	struct xv_port_info info;
	struct json_object *o;

	if (xv_device_query_port(xv_now(ctx), port, &info))
		return;
	if (!json) {
		printf("    port %u: %s, %s, mtu %u of %u, %u GIDs\n", port,
		       port_state(info.state), link_layer(info.link_layer),
		       info.active_mtu, info.max_mtu, info.gid_entries);
		return;
	}
	o = json_object_new_object();
	put_num(o, "port", port);
	put_str(o, "state", port_state(info.state));
	put_str(o, "link_layer", link_layer(info.link_layer));
	put_num(o, "active_mtu", info.active_mtu);
	put_num(o, "max_mtu", info.max_mtu);
	put_num(o, "lid", info.lid);
	put_num(o, "gid_entries", info.gid_entries);
	put_num(o, "netdev_index", info.netdev_index);
	json_object_array_add(list, o);
}

/* A device that may not be opened is still listed. */
static void show_device(const struct xv_device *dev, struct json_object *list)
{
	struct json_object *o = NULL, *ports = NULL;
	struct xv_device_info info;
	struct xv_ctx *ctx;
	unsigned int i;
	int ret;

	if (json) {
		o = json_object_new_object();
		json_object_array_add(list, o);
		put_str(o, "name", dev->name);
		put_str(o, "node", dev->node);
		put_num(o, "abi_version", dev->abi_version);
	} else {
		printf("%s: node %s, abi %u\n", dev->name, dev->node,
		       dev->abi_version);
	}
	ret = xv_open(dev->name, 0, &ctx);
	if (ret) {
		if (json)
			put_str(o, "error", strerror(-ret));
		else
			printf("    not opened: %s%s\n", strerror(-ret),
			       ret == -EACCES ? ": be in group rdma or root" : "");
		return;
	}
	ret = xv_device_query(xv_now(ctx), &info);
	if (!ret && json) {
		put_num(o, "max_qp_wr", info.max_qp_wr);
		put_num(o, "max_cqe", info.max_cqe);
		put_num(o, "max_send_sge", info.max_send_sge);
		put_num(o, "max_recv_sge", info.max_recv_sge);
		put_num(o, "max_srq_wr", info.max_srq_wr);
		put_num(o, "max_srq_sge", info.max_srq_sge);
		put_num(o, "max_inline", info.max_inline);
		put_num(o, "max_rd_atomic", info.max_rd_atomic);
		put_num(o, "max_mr_size", info.max_mr_size);
		put_num(o, "num_comp_vectors", info.num_comp_vectors);
		put_num(o, "ring_budget", info.budget);
		json_object_object_add(o, "atomics", json_object_new_boolean(
				       info.flags & XV_DEVICE_F_ATOMICS));
		ports = put_list(o, "ports");
	} else if (!ret) {
		printf("    queues %u deep, shared ones %u, completions %u, pieces %u/%u, inline %u%s\n",
		       info.max_qp_wr, info.max_srq_wr, info.max_cqe,
		       info.max_send_sge, info.max_recv_sge, info.max_inline,
		       info.flags & XV_DEVICE_F_ATOMICS ? ", atomics" : "");
	}
	for (i = 1; !ret && i <= info.num_ports; i++)
		show_port(ctx, i, ports);
	xv_close(ctx);
}

static int cmd_dev(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	struct json_object *list = NULL;
	struct xv_device *devs;
	unsigned int num, i, shown = 0;
	int ret;

	ret = xv_device_list(&devs, &num);
	if (ret)
		return ret == -ENODEV ? fail_open(name, ret) :
					fail("list of devices", ret);
	if (!num && !name && !json) {
		xv_device_list_free(devs);
		return fail_open(NULL, -ENODEV);
	}
	if (json)
		list = json_object_new_array();
	for (i = 0; i < num; i++) {
		if (name && strcmp(name, devs[i].name))
			continue;
		show_device(&devs[i], list);
		shown++;
	}
	xv_device_list_free(devs);
	if (json)
		print_json(list);
	return name && !shown ? fail(name, -ENODEV) : 0;
}

/* ---- abi ---------------------------------------------------------------- */

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

static int cmd_abi(int argc, char **argv)
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

/* ---- obj ---------------------------------------------------------------- */

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

static int cmd_obj(int argc, char **argv)
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

/* ---- status ------------------------------------------------------------- */

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

static int cmd_status(int argc, char **argv)
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

/* ---- monitor ------------------------------------------------------------ */

#define MAX_MONITORED	64

struct monitored {
	char name[64];
	struct xv_ctx *ctx;
	struct xv_eventq eq;
	struct xv_subscription sub;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
}

/* Names for programs; those for people come from the library. */
static const char *event_key(unsigned int type)
{
	static const struct {
		unsigned int type;
		const char *key;
	} keys[] = {
		{ XV_EV_DEVICE_REMOVED, "device_removed" },
		{ XV_EV_DEVICE_FATAL, "device_fatal" },
		{ XV_EV_PORT_ACTIVE, "port_active" },
		{ XV_EV_PORT_ERROR, "port_error" },
		{ XV_EV_LID_CHANGE, "lid_change" },
		{ XV_EV_PKEY_CHANGE, "pkey_change" },
		{ XV_EV_SM_CHANGE, "sm_change" },
		{ XV_EV_CLIENT_REREGISTER, "client_reregister" },
		{ XV_EV_GID_CHANGE, "gid_change" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].type == type)
			return keys[i].key;
	return "unknown";
}

static void print_event(const char *name, const struct xv_event *ev)
{
	struct json_object *o;

	if (json) {
		/* One line each, as they come. */
		o = json_object_new_object();
		put_str(o, "device", name);
		put_str(o, "event", event_key(ev->type));
		put_num(o, "type", ev->type);
		put_num(o, "port", ev->data);
		put_num(o, "count", ev->count);
		printf("%s\n", json_object_to_json_string_ext(o,
				JSON_C_TO_STRING_PLAIN));
		json_object_put(o);
	} else {
		printf("%s: ", name);
		if (ev->data)
			printf("port %llu: ", (unsigned long long)ev->data);
		printf("%s", xv_event_name(ev->type));
		if (ev->count > 1)
			printf(", %u times", ev->count);
		printf("\n");
	}
	fflush(stdout);
}

static int watch(struct monitored *m, const char *name)
{
	struct xv_tx *tx;
	int ret;

	memset(m, 0, sizeof(*m));
	snprintf(m->name, sizeof(m->name), "%s", name);
	ret = xv_open(name, 0, &m->ctx);
	if (ret)
		return ret;
	ret = xv_txn_begin(m->ctx, 0, &tx);
	if (ret)
		goto err_close;
	xv_eventq_create(tx, &m->eq);
	xv_subscription_create(tx, &m->sub, XV_OPTS(xv_subscription_opts,
						    .eventq = &m->eq));
	ret = xv_txn_commit(tx, NULL);
	xv_txn_free(tx);
	if (!ret)
		return 0;
err_close:
	xv_close(m->ctx);
	return ret;
}

static void unwatch(struct monitored *m)
{
	xv_eventq_close(&m->eq);
	xv_close(m->ctx);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/*
 * Until enough have come, the time is over, a signal comes, or no device is
 * left. Returns how many came, or an errno.
 */
static int64_t print_events(struct monitored *m, unsigned int num,
			    uint64_t count, int64_t timeout_ms)
{
	int64_t end = now_ms() + timeout_ms;
	struct pollfd pfds[MAX_MONITORED];
	unsigned int i, left = num;
	struct xv_event ev;
	int64_t seen = 0;
	int ret;

	for (i = 0; i < num; i++)
		pfds[i] = (struct pollfd){ .fd = m[i].eq.fd, .events = POLLIN };
	while (left && !interrupted && !(count && seen >= (int64_t)count)) {
		int64_t ms = timeout_ms < 0 ? -1 : end - now_ms();

		if (timeout_ms >= 0 && ms <= 0)
			break;
		ret = poll(pfds, num, ms > 1000000 ? 1000000 : (int)ms);
		if (ret < 0 && errno != EINTR)
			return -errno;
		for (i = 0; ret > 0 && i < num; i++) {
			if (!pfds[i].revents ||
			    (count && seen >= (int64_t)count))
				continue;
			if (xv_event_read(&m[i].eq, &ev, 1) == 1) {
				print_event(m[i].name, &ev);
				seen++;
				continue;
			}
			/* The last one was that of its removal. */
			pfds[i].fd = -1;
			left--;
		}
	}
	return seen;
}

static bool number(const char *text, uint64_t max, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return !*end && !errno && *out <= max;
}

static int monitor_devices(const char *name, uint64_t count, int64_t timeout_ms)
{
	static struct monitored m[MAX_MONITORED];
	struct sigaction act = { .sa_handler = on_signal };
	struct xv_device *devs;
	unsigned int num, i, n = 0;
	int64_t seen;
	int ret;

	ret = xv_device_list(&devs, &num);
	if (ret)
		return fail("list of devices", ret);
	for (i = 0; !ret && i < num && n < MAX_MONITORED; i++) {
		if (name && strcmp(name, devs[i].name))
			continue;
		ret = watch(&m[n], devs[i].name);
		if (ret)
			fail_open(devs[i].name, ret);
		else
			n++;
	}
	xv_device_list_free(devs);
	if (!ret && !n) {
		fail_open(name, -ENODEV);
		ret = -ENODEV;
	}
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	seen = ret ? 0 : print_events(m, n, count, timeout_ms);
	for (i = 0; i < n; i++)
		unwatch(&m[i]);
	if (ret)
		return 1;
	if (seen < 0)
		return fail("poll", seen);
	return count && seen < (int64_t)count;
}

static int cmd_monitor(int argc, char **argv)
{
	static const struct option options[] = {
		{ "count", required_argument, NULL, 'c' },
		{ "timeout", required_argument, NULL, 't' },
		{ "json", no_argument, NULL, 'j' },
		{}
	};
	uint64_t count = 0, seconds = 0;
	bool timed = false;
	int c;

	optind = 0;
	while ((c = getopt_long(argc, argv, "c:t:j", options, NULL)) >= 0) {
		switch (c) {
		case 'c':
			if (number(optarg, INT64_MAX, &count) && count)
				break;
			fprintf(stderr, "xverbs: no count of events: %s\n",
				optarg);
			return 2;
		case 't':
			timed = true;
			if (number(optarg, INT32_MAX, &seconds))
				break;
			fprintf(stderr, "xverbs: no number of seconds: %s\n",
				optarg);
			return 2;
		case 'j':
			json = true;
			break;
		default:
			print_usage(stderr);
			return 2;
		}
	}
	if (argc - optind > 1) {
		print_usage(stderr);
		return 2;
	}
	return monitor_devices(argv[optind], count,
			       timed ? (int64_t)seconds * 1000 : -1);
}

/* ---- the command line --------------------------------------------------- */

static const struct command {
	const char *name;
	const char *args;
	const char *help;
	int max_args;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "status", "", "is the module loaded, and which devices are there",
	  0, cmd_status },
	{ "dev", "[DEVICE]", "devices, their nodes and limits", 1, cmd_dev },
	{ "obj", "[PID]", "open files and the objects of each", 1, cmd_obj },
	{ "abi", "[DEVICE]", "objects, methods, attributes and reasons", 1,
	  cmd_abi },
	{ "monitor", "[DEVICE]", "events as they come; -c COUNT, -t SECONDS end it",
	  6, cmd_monitor },
};

#define NUM_COMMANDS	ARRAY_SIZE(commands)

static void print_usage(FILE *out)
{
	unsigned int i;

	fprintf(out, "usage: xverbs [-j | --json] COMMAND\n"
		"       xverbs -V | --version\n"
		"       xverbs -h | --help | help\n\n");
	for (i = 0; i < NUM_COMMANDS; i++)
		fprintf(out, "  %-7s %-9s %s\n", commands[i].name,
			commands[i].args, commands[i].help);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	unsigned int i;
	int c;

	while ((c = getopt_long(argc, argv, "+jVh", options, NULL)) >= 0) {
		switch (c) {
		case 'j':
			json = true;
			break;
		case 'V':
			printf("xverbs %u.%u\n", XV_VERSION_MAJOR,
			       XV_VERSION_MINOR);
			return 0;
		case 'h':
			print_usage(stdout);
			return 0;
		default:
			print_usage(stderr);
			return 2;
		}
	}
	argc -= optind;
	argv += optind;
	if (argc && !strcmp(argv[0], "help")) {
		print_usage(stdout);
		return 0;
	}
	for (i = 0; argc && i < NUM_COMMANDS; i++) {
		if (strcmp(argv[0], commands[i].name))
			continue;
		if (argc - 1 > commands[i].max_args)
			break;
		return commands[i].run(argc, argv);
	}
	print_usage(stderr);
	return 2;
}
