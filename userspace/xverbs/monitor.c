// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * xverbs monitor: events as they come.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xverbs.h>
#include "tool.h"

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
	int ret, got;

	for (i = 0; i < num; i++) {
		pfds[i] = (struct pollfd){ .fd = m[i].eq.fd, .events = POLLIN };
		/* What poll() tells of may be gone before it is read. */
		fcntl(m[i].eq.fd, F_SETFL, O_NONBLOCK);
	}
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
			got = xv_event_read(&m[i].eq, &ev, 1);
			if (got == -EAGAIN || got == -EINTR)
				continue;
			if (got == 1) {
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

int cmd_monitor(int argc, char **argv)
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
