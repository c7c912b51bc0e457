// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Benchmarks: rounds, by turns ours and the twin's, and what came of them.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * The result is a line of JSON for each figure; "report" makes a table and a
 * picture of them. In a machine that counts instructions a nanosecond of its
 * clock is an instruction; who runs us knows, and says so with --unit.
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define MAX_ROUNDS	99

const char *device = "rxe0";

static const struct group groups[] = {
	{ "cm", "connections", cm_figures },
	{ "control", "objects", control_figures },
	{ "data", "data", data_figures },
};

static struct {
	unsigned int rounds;
	bool at_length;
	const char *unit;
} opt = { .rounds = 7, .unit = "ns" };

/* ---- what rounds use -------------------------------------------------- */

void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* Sums up all processors; 0 where one may not look. */
static int64_t idle_time(void)
{
	FILE *f = fopen("/proc/timer_list", "r");
	long long ns, sum = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, " .idle_sleeptime : %lld", &ns) == 1)
			sum += ns;
	if (f)
		fclose(f);
	return sum;
}

void start(struct run *r)
{
	r->idle_begun = idle_time();
	r->begun = now();
}

void stop(struct run *r)
{
	r->total += now() - r->begun;
	r->idle += idle_time() - r->idle_begun;
}

void *page_alloc(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	check(p != MAP_FAILED);
	return p;
}

static uint8_t pattern(size_t i, unsigned int seed)
{
	return i * 31 + (i >> 8) * 7 + seed;
}

void fill(uint8_t *p, size_t bytes, unsigned int seed)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		p[i] = pattern(i, seed);
}

void check_filled(const uint8_t *p, size_t bytes, unsigned int seed)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		if (p[i] != pattern(i, seed))
			die("byte %zu of %zu is wrong", i, bytes);
}

/* ---- rounds ----------------------------------------------------------- */

struct result {
	double value[MAX_ROUNDS];
	double idle;
};

static void do_round(const struct figure *f, void (*fn)(struct run *r),
		     unsigned int round, struct result *res)
{
	static struct run *r;
	int status;
	pid_t pid;

	if (!r)
		r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check(r != MAP_FAILED);
	*r = (struct run){ .n = f->n, .arg = f->arg };
	fflush(NULL);
	pid = fork();
	check(pid >= 0);
	if (!pid) {
		fn(r);
		_exit(0);
	}
	check(waitpid(pid, &status, 0) == pid);
	if (status)
		die("%s: a round failed", f->name);
	res->value[round] = (double)r->total / f->n;
	res->idle += (double)r->idle / f->n / opt.rounds;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(struct result *res)
{
	unsigned int n = opt.rounds;

	qsort(res->value, n, sizeof(res->value[0]), compare);
	return n % 2 ? res->value[n / 2] :
		       (res->value[n / 2 - 1] + res->value[n / 2]) / 2;
}

static void print_side(const char *name, struct result *res)
{
	double m = median(res);

	printf(", \"%s\": {\"median\": %.1f, \"min\": %.1f, \"max\": %.1f, \"idle\": %.1f}",
	       name, m, res->value[0], res->value[opt.rounds - 1], res->idle);
}

static void print_figure(const struct group *g, const struct figure *f,
			 struct result *ours, struct result *twin)
{
	double ratio;

	printf("{\"group\": \"%s\", \"name\": \"%s\", \"text\": \"%s\", \"unit\": \"%s\", \"n\": %u",
	       g->text, f->name, f->text, f->unit ? f->unit : opt.unit, f->n);
	print_side("ours", ours);
	print_side("twin", twin);
	ratio = median(twin) / median(ours);
	printf(", \"ratio\": %.4f", ratio);
	if (f->must)
		printf(", \"must\": %.2f, \"met\": %s", f->must,
		       ratio >= f->must ? "true" : "false");
	if (f->at_most)
		printf(", \"at_most\": %.0f, \"met\": %s", f->at_most,
		       median(ours) <= f->at_most ? "true" : "false");
	printf("}\n");
	fflush(stdout);
}

static void measure(const struct group *g, const struct figure *f)
{
	static struct result ours, twin;
	unsigned int i;

	ours = (struct result){};
	twin = (struct result){};
	for (i = 0; i < opt.rounds; i++) {
		/* Neither is always the first. */
		if (i % 2)
			do_round(f, f->twin, i, &twin);
		do_round(f, f->ours, i, &ours);
		if (i % 2 == 0)
			do_round(f, f->twin, i, &twin);
	}
	print_figure(g, f, &ours, &twin);
}

/* ---- what to measure -------------------------------------------------- */

static bool is_wanted(const struct group *g, const struct figure *f,
		      int argc, char **argv)
{
	int i;

	if (argc == 0)
		return !f->at_length || opt.at_length;
	for (i = 0; i < argc; i++)
		if (!strcmp(argv[i], g->name) || !strcmp(argv[i], f->name))
			return true;
	return false;
}

static int parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "rounds", required_argument, NULL, 'r' },
		{ "unit", required_argument, NULL, 'u' },
		{ "device", required_argument, NULL, 'd' },
		{ "long", no_argument, NULL, 'l' },
		{ "list", no_argument, NULL, 'L' },
		{}
	};
	int c, list = 0;

	while ((c = getopt_long(argc, argv, "r:u:d:l", options, NULL)) >= 0) {
		switch (c) {
		case 'r':
			opt.rounds = atoi(optarg);
			break;
		case 'u':
			opt.unit = optarg;
			break;
		case 'd':
			device = optarg;
			break;
		case 'l':
			opt.at_length = true;
			break;
		case 'L':
			list = 1;
			break;
		default:
			return -1;
		}
	}
	if (opt.rounds < 1 || opt.rounds > MAX_ROUNDS)
		return -1;
	return list;
}

int main(int argc, char **argv)
{
	int list = parse_options(argc, argv);
	const struct figure *f;
	struct utsname uts;
	unsigned int i, num = 0;

	if (list < 0) {
		fprintf(stderr,
			"usage: bench [--rounds N] [--unit NAME] [--device NAME] [--long]\n"
			"             [GROUP | FIGURE]...\n"
			"       bench --list\n");
		return 2;
	}
	uname(&uts);
	if (!list)
		printf("{\"kernel\": \"%s\", \"rounds\": %u}\n", uts.release,
		       opt.rounds);
	for (i = 0; i < ARRAY_SIZE(groups); i++)
		for (f = groups[i].figures; f->name; f++) {
			if (list) {
				printf("%-8s %-20s %s\n", groups[i].name,
				       f->name, f->text);
				continue;
			}
			if (!is_wanted(&groups[i], f, argc - optind,
				       argv + optind))
				continue;
			measure(&groups[i], f);
			num++;
		}
	if (!list && !num) {
		fprintf(stderr, "bench: nothing of that name\n");
		return 2;
	}
	return 0;
}
