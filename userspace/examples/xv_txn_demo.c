// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What transactions are good for:
 *
 *   1. one that fails at its fourth operation leaves nothing behind, and says
 *      which attribute was wrong and why;
 *   2. a destroy that is refused names the object in the way;
 *   3. the whole set goes in one call.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <errno.h>
#include <getopt.h>
#include <json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xverbs.h>

#define NUM_STEPS	4

static const struct {
	unsigned int object;
	const char *name;
} types[] = {
	{ XV_OBJ_PD, "pd" },
	{ XV_OBJ_MR, "mr" },
	{ XV_OBJ_CQ, "cq" },
	{ XV_OBJ_QP, "qp" },
};

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define NUM_TYPES	ARRAY_SIZE(types)

/* One line of the table at the end. */
struct step {
	const char *what;
	int ret;
	bool as_expected;
	uint64_t ioctls;
	uint32_t objects[NUM_TYPES];
	char text[256];
};

static struct xv_ctx *ctx;
static struct step steps[NUM_STEPS];
static unsigned int num_steps;

static void die(const char *what, int ret)
{
	fprintf(stderr, "xv_txn_demo: %s: %s\n", what, strerror(-ret));
	exit(1);
}

static void count_objects(struct step *step)
{
	struct xv_device_info info;
	unsigned int i;
	int ret;

	ret = xv_device_query(xv_now(ctx), &info);
	if (ret)
		die("device.query", ret);
	for (i = 0; i < NUM_TYPES; i++)
		step->objects[i] = info.objects[types[i].object];
}

/* Commit, and note what came of it. */
static void commit(struct xv_tx *tx, const char *what, int expected,
		   const uint32_t *objects)
{
	struct step *step = &steps[num_steps++];
	uint64_t before = xv_num_ioctls(ctx);
	struct xv_error err;

	step->what = what;
	step->ret = xv_txn_commit(tx, &err);
	step->ioctls = xv_num_ioctls(ctx) - before;
	if (step->ret < 0)
		xv_error_text(ctx, tx, &err, step->text, sizeof(step->text));
	count_objects(step);
	step->as_expected = step->ret == expected &&
		!memcmp(step->objects, objects, sizeof(step->objects));
}

struct set {
	char buf[4096];
	struct xv_pd pd;
	struct xv_mr mr;
	struct xv_cq cq;
	struct xv_qp qp;
};

static void create_set(struct xv_tx *tx, struct set *s, unsigned int send_wr)
{
	xv_pd_create(tx, &s->pd);
	xv_mr_create(tx, &s->mr, XV_OPTS(xv_mr_opts, .pd = &s->pd,
					 .addr = s->buf,
					 .length = sizeof(s->buf),
					 .access = XV_ACCESS_LOCAL_WRITE));
	xv_cq_create(tx, &s->cq, XV_OPTS(xv_cq_opts, .cqe = 64));
	xv_qp_create(tx, &s->qp, XV_OPTS(xv_qp_opts, .pd = &s->pd,
					 .send_cq = &s->cq,
					 .send_wr = send_wr, .recv_wr = 16));
}

static void print_text(void)
{
	unsigned int i, j;

	for (i = 0; i < num_steps; i++)
		if (steps[i].text[0])
			printf("%s:\n\t%s\n", steps[i].what, steps[i].text);
	printf("\n%-44s %-6s %6s", "what was done", "result", "ioctls");
	for (j = 0; j < NUM_TYPES; j++)
		printf(" %3s", types[j].name);
	printf("\n");
	for (i = 0; i < num_steps; i++) {
		printf("%-44s %-6s %6llu", steps[i].what,
		       steps[i].ret ? strerrorname_np(-steps[i].ret) : "ok",
		       (unsigned long long)steps[i].ioctls);
		for (j = 0; j < NUM_TYPES; j++)
			printf(" %3u", steps[i].objects[j]);
		printf("%s\n", steps[i].as_expected ? "" : "  UNEXPECTED");
	}
}

static void print_json(bool ok)
{
	struct json_object *root = json_object_new_object();
	struct json_object *list = json_object_new_array();
	unsigned int i, j;

	for (i = 0; i < num_steps; i++) {
		struct json_object *o = json_object_new_object();
		struct json_object *n = json_object_new_object();

		json_object_object_add(o, "step",
				       json_object_new_string(steps[i].what));
		json_object_object_add(o, "result",
				       json_object_new_int(steps[i].ret));
		if (steps[i].text[0])
			json_object_object_add(o, "text",
				json_object_new_string(steps[i].text));
		json_object_object_add(o, "ioctls",
				       json_object_new_int64(steps[i].ioctls));
		for (j = 0; j < NUM_TYPES; j++)
			json_object_object_add(n, types[j].name,
				json_object_new_int(steps[i].objects[j]));
		json_object_object_add(o, "objects", n);
		json_object_object_add(o, "as_expected",
			json_object_new_boolean(steps[i].as_expected));
		json_object_array_add(list, o);
	}
	json_object_object_add(root, "steps", list);
	json_object_object_add(root, "ok", json_object_new_boolean(ok));
	printf("%s\n", json_object_to_json_string_ext(root,
						      JSON_C_TO_STRING_PRETTY));
	json_object_put(root);
}

static void print_usage(FILE *out)
{
	fprintf(out,
		"usage: xv_txn_demo [OPTION]...\n"
		"  -d, --ib-dev=DEV   RDMA device (default: the first)\n"
		"  -j, --json         print JSON\n"
		"  -h, --help         this text\n");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "ib-dev", required_argument, NULL, 'd' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	static const uint32_t none[NUM_TYPES] = { 0, 0, 0, 0 };
	static const uint32_t all[NUM_TYPES] = { 1, 1, 1, 1 };
	static struct set set;
	const char *device = NULL;
	bool json = false, ok = true;
	struct xv_tx *tx;
	unsigned int i;
	int c, ret;

	while ((c = getopt_long(argc, argv, "d:jh", options, NULL)) >= 0) {
		switch (c) {
		case 'd':
			device = optarg;
			break;
		case 'j':
			json = true;
			break;
		case 'h':
			print_usage(stdout);
			return 0;
		default:
			print_usage(stderr);
			return 2;
		}
	}
	if (optind != argc) {
		print_usage(stderr);
		return 2;
	}

	ret = xv_open(device, 0, &ctx);
	if (ret)
		die(device ? device : "no device: is xverbs.ko loaded, and is there an RDMA device?", ret);
	ret = xv_txn_begin(ctx, 0, &tx);
	if (ret)
		die("xv_txn_begin", ret);

	/* The fourth operation wants a queue deeper than there can be. */
	create_set(tx, &set, 10 * XV_MAX_QP_WR);
	commit(tx, "a set whose queue pair is impossible", -EINVAL, none);

	create_set(tx, &set, 16);
	commit(tx, "the same with a possible one", 0, all);

	xv_pd_destroy(tx, &set.pd);
	commit(tx, "destroy the protection domain alone", -EBUSY, all);

	/* The order is of no concern: the set is closed. */
	xv_pd_destroy(tx, &set.pd);
	xv_cq_destroy(tx, &set.cq);
	xv_mr_destroy(tx, &set.mr);
	xv_qp_destroy(tx, &set.qp);
	commit(tx, "destroy the whole set", 0, none);

	for (i = 0; i < num_steps; i++)
		ok = ok && steps[i].as_expected && steps[i].ioctls == 1;
	if (json)
		print_json(ok);
	else
		print_text();
	xv_txn_free(tx);
	xv_close(ctx);
	return !ok;
}
