// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Ping and pong over connections, against itself or against rdmacm-utils' rping,
 * in both roles.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * The client tells where its ping lies; the server reads it by RDMA and says
 * "go ahead"; the client tells where it wants the pong; the server writes it
 * there by RDMA and says "go ahead". All four messages have the same form,
 * struct info; the server's content means nothing.
 *
 * One thread, one event queue, any number of connections. Each is made by one
 * call: queues, memory, first receive, and the connect or the accept. The
 * client's first message is posted right then. It waits in the ring until the
 * connection is established.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rping.h"

#define MAX_LISTENERS	32
#define BACKLOG		16

struct options opt = { .server = -1, .port = 7174, .size = 64 };
struct xv_ctx *ctx;
struct xv_eventq eq;
struct xv_pd pd;
static struct xv_listener listeners[MAX_LISTENERS];
static unsigned int num_listeners;
unsigned int num_peers;

int fail(const char *what, int ret)
{
	fprintf(stderr, "xv_rping: %s: %s\n", what, strerror(ret < 0 ? -ret : ret));
	return ret < 0 ? ret : -ret;
}

int fail_txn(const struct xv_tx *tx, int ret)
{
	char text[256];

	xv_error_text(ctx, tx, xv_txn_error(tx), text, sizeof(text));
	fprintf(stderr, "xv_rping: %s\n", text);
	return ret;
}

void debug(const char *format, ...)
{
	va_list args;

	if (!opt.debug)
		return;
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
}

/* ---- connections come and go ----------------------------------------- */

static int connect_peer(const struct sockaddr *dst, const struct sockaddr *src)
{
	struct peer *p;
	int ret;

	ret = make_peer(&p, dst, src, NULL, 0);
	if (ret)
		return ret;
	ret = start_ping(p);
	return ret ? ret : send_and_arm(p);
}

static int close_listeners(void)
{
	int ret = 0;

	while (num_listeners && !ret)
		ret = xv_listener_destroy(xv_now(ctx),
					  &listeners[--num_listeners]);
	return ret ? fail_txn(xv_now(ctx), ret) : 0;
}

static int accept_peer(struct xv_listener *listener, uint64_t token)
{
	struct peer *p;
	int ret;

	ret = make_peer(&p, NULL, NULL, listener, token);
	if (ret == -ENOENT)
		return 0;
	if (ret) {
		/* Room for fewer than want to come: this one has to go. */
		xv_listener_reject(xv_now(ctx), listener, token, NULL, 0);
	} else {
		p->step = WAIT_PING;
		ret = send_and_arm(p);
	}
	/* Who is served alone lets nobody else wait. */
	if (!opt.persistent && close_listeners())
		ret = -EIO;
	return ret;
}

/* In the midst of a ping it is no good end. */
static bool ended_well(const struct peer *p, bool well,
		       const struct xv_event *ev)
{
	if (!well)
		fprintf(stderr, "xv_rping: ended in ping %u: %s\n", p->pings,
			strerror((int)ev->data));
	return well;
}

/* Returns what the program ends with if this was its last connection. */
static int end_peer(struct peer *p, const struct xv_event *ev)
{
	bool good = !p->failed;

	if (ev->type == XV_EV_CONNECT_FAILED) {
		fprintf(stderr, "xv_rping: connect: %s\n",
			strerror((int)ev->data));
		good = false;
	} else if (opt.server) {
		fprintf(stderr, "server DISCONNECT EVENT...\n");
		good = good && ended_well(p, p->step == WAIT_PING, ev);
	} else {
		debug("disconnected: %s\n", strerror((int)ev->data));
		good = good && ended_well(p, p->step == DONE || !opt.count, ev);
	}
	debug("%u pings\n", p->pings);
	free_peer(p);
	return good ? 0 : -ECONNABORTED;
}

static const char *cause_name(unsigned int cause)
{
	switch (cause) {
	case XV_CONN_BY_CM:
		return "the connection manager";
	case XV_CONN_BY_COMM_EST:
		return "the device";
	case XV_CONN_BY_DATA:
		return "data";
	default:
		return "what is not known";
	}
}

static int handle_event(const struct xv_event *ev)
{
	void *what = (void *)(uintptr_t)ev->cookie;
	struct peer *p = what;

	debug("event: %s\n", xv_event_name(ev->type));
	switch (ev->type) {
	case XV_EV_ESTABLISHED:
		debug("established by %s\n", cause_name(ev->data));
		return 0;
	case XV_EV_CONNECT_REQUEST:
		return accept_peer(what, ev->data);
	case XV_EV_COMPLETION:
		if (!p->failed && serve(p))
			give_up(p);
		return 0;
	case XV_EV_CONNECT_FAILED:
	case XV_EV_DISCONNECTED:
		/* What came before it has completed. */
		if (!p->failed && serve(p))
			p->failed = true;
		return end_peer(p, ev);
	case XV_EV_DEVICE_REMOVED:
		return fail("device", ENODEV);
	default:
		return 0;
	}
}

static int run(void)
{
	struct xv_event ev;
	int ret, last = 0;

	while (num_peers || num_listeners) {
		ret = xv_event_read(&eq, &ev, 1);
		if (ret == -EINTR)
			continue;
		if (ret <= 0)
			return fail("xv_event_read", ret ? ret : -EBADF);
		ret = handle_event(&ev);
		/* Others are served although one has failed. */
		if (ret && !opt.persistent)
			last = ret;
		if (ret == -ENODEV)
			return ret;
	}
	return last;
}

/* ---- addresses ------------------------------------------------------- */

union address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static void set_port(union address *a, unsigned int port)
{
	if (a->sa.sa_family == AF_INET)
		a->in.sin_port = htons(port);
	else
		a->in6.sin6_port = htons(port);
}

static int parse_address(const char *text, unsigned int port, union address *a)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *res;
	int ret = getaddrinfo(text, NULL, &hints, &res);

	if (ret) {
		fprintf(stderr, "xv_rping: %s: %s\n", text, gai_strerror(ret));
		return -1;
	}
	memset(a, 0, sizeof(*a));
	if (res->ai_addrlen <= sizeof(*a))
		memcpy(a, res->ai_addr, res->ai_addrlen);
	freeaddrinfo(res);
	set_port(a, port);
	return 0;
}

static bool is_any(const union address *a)
{
	if (a->sa.sa_family == AF_INET)
		return a->in.sin_addr.s_addr == htonl(INADDR_ANY);
	return IN6_IS_ADDR_UNSPECIFIED(&a->in6.sin6_addr);
}

static int listen_at(const union address *a)
{
	struct xv_listener *l = &listeners[num_listeners];
	int ret;

	if (num_listeners == MAX_LISTENERS)
		return fail("addresses", E2BIG);
	memset(l, 0, sizeof(*l));
	ret = xv_listener_create(xv_now(ctx), l, XV_OPTS(xv_listener_opts,
				 .eventq = &eq, .cookie = (uintptr_t)l,
				 .addr = &a->sa, .backlog = BACKLOG));
	if (!ret)
		num_listeners++;
	return ret;
}

/* At every address that the device has; with :: also at those of IPv4. */
static int listen_at_all(const union address *any)
{
	struct ifaddrs *list, *i;
	union address a;
	int ret = 0;

	if (getifaddrs(&list))
		return fail("getifaddrs", errno);
	for (i = list; i && !ret; i = i->ifa_next) {
		if (!i->ifa_addr || i->ifa_flags & IFF_LOOPBACK)
			continue;
		memset(&a, 0, sizeof(a));
		if (i->ifa_addr->sa_family == AF_INET)
			memcpy(&a, i->ifa_addr, sizeof(a.in));
		else if (i->ifa_addr->sa_family == AF_INET6 &&
			 any->sa.sa_family == AF_INET6)
			memcpy(&a, i->ifa_addr, sizeof(a.in6));
		else
			continue;
		set_port(&a, opt.port);
		ret = listen_at(&a);
		/* One of another device. */
		if (ret == -EADDRNOTAVAIL)
			ret = 0;
	}
	freeifaddrs(list);
	if (ret)
		return fail_txn(xv_now(ctx), ret);
	return num_listeners ? 0 : fail("listen", EADDRNOTAVAIL);
}

static int listen_somewhere(const union address *a)
{
	int ret;

	if (is_any(a))
		return listen_at_all(a);
	ret = listen_at(a);
	return ret ? fail_txn(xv_now(ctx), ret) : 0;
}

/* ---- the rest -------------------------------------------------------- */

static void print_usage(FILE *out)
{
	fprintf(out,
		"usage: xv_rping -s [-PvVd] [-S SIZE] [-a ADDRESS] [-p PORT] [-D DEVICE] [-t SECONDS]\n"
		"       xv_rping -c [-vVd] [-S SIZE] [-C COUNT] [-I ADDRESS] -a ADDRESS [-p PORT]\n"
		"                [-D DEVICE] [-t SECONDS]\n"
		"  -s          server\n"
		"  -c          client\n"
		"  -a ADDRESS  where to connect to; server: where to listen (default: every IPv4\n"
		"              address of the device; ::0: IPv6 too)\n"
		"  -I ADDRESS  where to connect from\n"
		"  -p PORT     (default 7174)\n"
		"  -C COUNT    pings (default: without end)\n"
		"  -S SIZE     bytes of a ping, %zu to %u (default 64)\n"
		"  -v          print the data\n"
		"  -V          client: compare the data\n"
		"  -P          server: any number of clients, for ever\n"
		"  -d          print what happens\n"
		"  -D DEVICE   RDMA device (default: the first)\n"
		"  -t SECONDS  until a connection must be established, 1 to 600 (default 10)\n"
		"  -h          this text\n", MIN_SIZE, MAX_SIZE);
}

static int parse_number(const char *arg, unsigned int min, unsigned int max,
			unsigned int *out)
{
	unsigned long val;
	char *end;

	errno = 0;
	val = strtoul(arg, &end, 0);
	if (errno || end == arg || *end || *arg == '-' || val < min ||
	    val > max) {
		fprintf(stderr, "xv_rping: %s is not a number from %u to %u\n",
			arg, min, max);
		return -1;
	}
	*out = val;
	return 0;
}

static int parse_option(int c)
{
	switch (c) {
	case 's':
	case 'c':
		opt.server = c == 's';
		return 0;
	case 'a':
		opt.address = optarg;
		return 0;
	case 'I':
		opt.source = optarg;
		return 0;
	case 'D':
		opt.device = optarg;
		return 0;
	case 'P':
		opt.persistent = true;
		return 0;
	case 'v':
		opt.verbose = true;
		return 0;
	case 'V':
		opt.validate = true;
		return 0;
	case 'd':
		opt.debug = true;
		return 0;
	case 'p':
		return parse_number(optarg, 1, 65535, &opt.port);
	case 'C':
		return parse_number(optarg, 0, INT_MAX, &opt.count);
	case 'S':
		return parse_number(optarg, MIN_SIZE, MAX_SIZE, &opt.size);
	case 't':
		return parse_number(optarg, 1, 600, &opt.seconds);
	case 'h':
		print_usage(stdout);
		exit(0);
	default:
		return -1;
	}
}

static int parse_options(int argc, char **argv)
{
	int c, bad = 0;

	while ((c = getopt(argc, argv, "sca:I:p:C:S:vVPdD:t:h")) >= 0)
		bad |= parse_option(c);
	if (optind != argc || opt.server < 0 || (!opt.server && !opt.address) ||
	    (!opt.server && opt.persistent) || (opt.server && opt.source))
		bad = -1;
	if (bad)
		fprintf(stderr, "xv_rping: bad option or argument; try -h\n");
	return bad;
}

static int set_up(void)
{
	struct xv_tx *tx;
	int ret;

	ret = xv_txn_begin(ctx, 0, &tx);
	if (ret)
		return fail("xv_txn_begin", ret);
	xv_eventq_create(tx, &eq);
	xv_pd_create(tx, &pd);
	ret = xv_txn_commit(tx, NULL);
	if (ret)
		fail_txn(tx, ret);
	xv_txn_free(tx);
	return ret;
}

int main(int argc, char **argv)
{
	union address a, source;
	int ret;

	if (parse_options(argc, argv) ||
	    parse_address(opt.address ? opt.address : "0.0.0.0", opt.port, &a) ||
	    (opt.source && parse_address(opt.source, 0, &source)))
		return 2;
	/* Who follows the output sees each ping when it is there. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	ret = xv_open(opt.device, 0, &ctx);
	if (ret) {
		fail(opt.device ? opt.device :
		     "no device: is xverbs.ko loaded, and is there an RDMA device? (see README)",
		     ret);
		return 1;
	}
	ret = set_up();
	if (!ret)
		ret = opt.server ? listen_somewhere(&a) :
		      connect_peer(&a.sa, opt.source ? &source.sa : NULL);
	if (!ret)
		ret = run();
	/* Whatever is left goes with the file. */
	xv_eventq_close(&eq);
	xv_close(ctx);
	return ret ? 1 : 0;
}
