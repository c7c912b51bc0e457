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
#include <endian.h>
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
#include <xverbs.h>

#define PING_FORMAT	"rdma-ping-%u: "
#define MIN_SIZE	sizeof("rdma-ping-2147483647: ")
#define MAX_SIZE	65535
#define MAX_LISTENERS	32
#define BACKLOG		16
/* What a ping may have outstanding: a message and a read or write. */
#define SENDS		4
#define RECVS		2

struct options {
	int server;			/* -1: not said */
	const char *device;
	const char *address;
	const char *source;
	unsigned int port;
	unsigned int size;
	unsigned int count;		/* 0: for ever */
	unsigned int seconds;		/* to establish; 0: the default */
	bool persistent;
	bool verbose;
	bool validate;
	bool debug;
};

/* As it is sent: big endian. */
struct info {
	uint64_t addr;
	uint32_t rkey;
	uint32_t size;
};

/* What a connection waits for. */
enum step {
	WAIT_PING,	/* server: where is the ping? */
	WAIT_READ,	/* server: the ping itself */
	WAIT_PONG,	/* server: where shall the pong go? */
	WAIT_WRITE,	/* server: the pong has been written */
	WAIT_GO_PONG,	/* client: the ping was read */
	WAIT_GO_PING,	/* client: the pong was written */
	DONE,		/* client: all pings are done */
};

/* Memory of a connection, registered as a whole. */
struct memory {
	struct info out;
	struct info in[RECVS];
	char ping[MAX_SIZE + 1];	/* server: read from the client */
	char pong[MAX_SIZE + 1];	/* client only: written by the server */
};

struct peer {
	struct xv_cq cq;
	struct xv_mr mr;
	struct xv_qp qp;
	struct xv_conn conn;
	struct memory *mem;
	enum step step;
	unsigned int pings;
	uint32_t ping_len;
	bool failed;
};

static struct options opt = { .server = -1, .port = 7174, .size = 64 };
static struct xv_ctx *ctx;
static struct xv_eventq eq;
static struct xv_pd pd;
static struct xv_listener listeners[MAX_LISTENERS];
static unsigned int num_listeners;
static unsigned int num_peers;

static int fail(const char *what, int ret)
{
	fprintf(stderr, "xv_rping: %s: %s\n", what, strerror(ret < 0 ? -ret : ret));
	return ret < 0 ? ret : -ret;
}

static int fail_txn(const struct xv_tx *tx, int ret)
{
	char text[256];

	xv_error_text(ctx, tx, xv_txn_error(tx), text, sizeof(text));
	fprintf(stderr, "xv_rping: %s\n", text);
	return ret;
}

__attribute__((format(printf, 1, 2)))
static void debug(const char *format, ...)
{
	va_list args;

	if (!opt.debug)
		return;
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
}

/* ---- one connection -------------------------------------------------- */

static int make_peer(struct peer **out, const struct sockaddr *dst,
		     const struct sockaddr *src, struct xv_listener *listener,
		     uint64_t token)
{
	/* Server and client differ in what the other side may do. */
	uint32_t access = listener ? 0 : XV_ACCESS_REMOTE_READ |
					 XV_ACCESS_REMOTE_WRITE;
	struct xv_recv recvs[RECVS];
	struct peer *p;
	struct xv_tx *tx;
	unsigned int i;
	int ret;

	p = calloc(1, sizeof(*p));
	if (!p)
		return fail("memory", ENOMEM);
	p->mem = aligned_alloc(4096, (sizeof(*p->mem) + 4095) / 4096 * 4096);
	if (!p->mem) {
		ret = fail("memory", ENOMEM);
		goto out_free;
	}
	memset(p->mem, 0, sizeof(*p->mem));
	ret = xv_txn_begin(ctx, 0, &tx);
	if (ret) {
		fail("xv_txn_begin", ret);
		goto out_free;
	}
	xv_cq_create(tx, &p->cq, XV_OPTS(xv_cq_opts, .cqe = SENDS + RECVS,
					 .eventq = &eq,
					 .cookie = (uintptr_t)p));
	xv_mr_create(tx, &p->mr, XV_OPTS(xv_mr_opts, .pd = &pd,
					 .addr = p->mem,
					 .length = sizeof(*p->mem),
					 .access = XV_ACCESS_LOCAL_WRITE |
						   access));
	xv_qp_create(tx, &p->qp, XV_OPTS(xv_qp_opts, .pd = &pd,
					 .send_cq = &p->cq, .send_wr = SENDS,
					 .recv_wr = RECVS, .sq_sig_all = 1,
					 .access = access));
	for (i = 0; i < RECVS; i++) {
		xv_recv_prep(&recvs[i], i);
		xv_recv_add_sge(&recvs[i], xv_sge_at(&p->mr, &p->mem->in[i],
						     sizeof(p->mem->in[i])));
	}
	xv_qp_post_recv(tx, &p->qp, recvs, RECVS);
	xv_conn_create(tx, &p->conn, XV_OPTS(xv_conn_opts, .qp = &p->qp,
					     .eventq = &eq,
					     .cookie = (uintptr_t)p,
					     .dst = dst, .src = src,
					     .listener = listener,
					     .token = token, .rd_atomic = 1,
					     .dest_rd_atomic = 1,
					     .establish_ms = opt.seconds * 1000));
	ret = xv_txn_commit(tx, NULL);
	/* A client that has gone is no error of ours. */
	if (ret && (ret != -ENOENT || !listener))
		fail_txn(tx, ret);
	xv_txn_free(tx);
	if (ret)
		goto out_free;
	num_peers++;
	*out = p;
	return 0;

out_free:
	free(p->mem);
	free(p);
	return ret;
}

static void free_peer(struct peer *p)
{
	struct xv_tx *tx;

	if (!xv_txn_begin(ctx, 0, &tx)) {
		xv_conn_destroy(tx, &p->conn);
		xv_qp_destroy(tx, &p->qp);
		xv_mr_destroy(tx, &p->mr);
		xv_cq_destroy(tx, &p->cq);
		if (xv_txn_commit(tx, NULL))
			fail_txn(tx, 0);
		xv_txn_free(tx);
	}
	free(p->mem);
	free(p);
	num_peers--;
}

/* ---- what is sent ---------------------------------------------------- */

static int send_info(struct peer *p, char *buf)
{
	struct xv_send *s = xv_get_send(&p->qp);
	struct info *out = &p->mem->out;

	if (!s)
		return fail("send queue", EAGAIN);
	out->addr = htobe64(p->mr.info.iova + (buf - (char *)p->mem));
	out->rkey = htobe32(p->mr.info.rkey);
	out->size = htobe32(opt.size);
	xv_send_prep_send(s, 0, 0, xv_sge_at(&p->mr, out, sizeof(*out)));
	return 0;
}

static int send_go(struct peer *p)
{
	return send_info(p, p->mem->ping);
}

/* Read the ping, or write the pong: both are the same bytes here. */
static int send_rdma(struct peer *p, const struct info *in, bool write)
{
	struct xv_send *s = xv_get_send(&p->qp);
	uint32_t len = be32toh(in->size);
	struct xv_sge sge;

	if (!s)
		return fail("send queue", EAGAIN);
	/* It is not ours to believe what a client says. */
	if (len > MAX_SIZE || (write && len < p->ping_len)) {
		fprintf(stderr, "xv_rping: the client wants %u bytes\n", len);
		return -EMSGSIZE;
	}
	if (!write)
		p->ping_len = len;
	sge = xv_sge_at(&p->mr, p->mem->ping, p->ping_len);
	if (write)
		xv_send_prep_write(s, 0, 0, sge, be64toh(in->addr),
				   be32toh(in->rkey));
	else
		xv_send_prep_read(s, 0, 0, sge, be64toh(in->addr),
				  be32toh(in->rkey));
	return 0;
}

/* The same text as the stock program. */
static int start_ping(struct peer *p)
{
	char *ping = p->mem->ping;
	unsigned int i;
	char c = 'A' + p->pings % ('z' - 'A' + 1);

	i = snprintf(ping, opt.size, PING_FORMAT, p->pings & INT_MAX);
	for (; i < opt.size; i++) {
		ping[i] = c;
		c = c == 'z' ? 'A' : c + 1;
	}
	ping[opt.size - 1] = 0;
	p->step = WAIT_GO_PONG;
	return send_info(p, ping);
}

/* ---- what comes ------------------------------------------------------ */

static int end_ping(struct peer *p)
{
	struct memory *mem = p->mem;

	mem->pong[opt.size - 1] = 0;
	if (opt.verbose)
		printf("ping data: %s\n", mem->pong);
	if (opt.validate && memcmp(mem->ping, mem->pong, opt.size)) {
		fprintf(stderr, "xv_rping: data mismatch in ping %u\n",
			p->pings);
		return -EBADMSG;
	}
	/* No pong may be taken for the next one. */
	memset(mem->pong, 0, opt.size);
	p->pings++;
	if (opt.count && p->pings == opt.count) {
		p->step = DONE;
		return xv_conn_disconnect(xv_now(ctx), &p->conn);
	}
	return start_ping(p);
}

static int handle_info(struct peer *p, const struct info *in)
{
	debug("info: addr %llx rkey %x size %u\n",
	      (unsigned long long)be64toh(in->addr), be32toh(in->rkey),
	      be32toh(in->size));
	switch (p->step) {
	case WAIT_PING:
		p->step = WAIT_READ;
		return send_rdma(p, in, false);
	case WAIT_PONG:
		p->step = WAIT_WRITE;
		return send_rdma(p, in, true);
	case WAIT_GO_PONG:
		p->step = WAIT_GO_PING;
		return send_info(p, p->mem->pong);
	case WAIT_GO_PING:
		return end_ping(p);
	default:
		fprintf(stderr, "xv_rping: a message out of turn\n");
		return -EPROTO;
	}
}

static int handle_recv(struct peer *p, const struct xv_wc *wc)
{
	struct info in = p->mem->in[wc->wr_id];
	struct xv_recv *r;

	if (wc->byte_len != sizeof(in)) {
		fprintf(stderr, "xv_rping: a message of %u bytes\n",
			wc->byte_len);
		return -EPROTO;
	}
	/* The next receive before the answer: there is always one. */
	r = xv_get_recv(&p->qp);
	if (!r)
		return fail("receive queue", EAGAIN);
	xv_recv_prep(r, wc->wr_id);
	xv_recv_add_sge(r, xv_sge_at(&p->mr, &p->mem->in[wc->wr_id],
				     sizeof(in)));
	return handle_info(p, &in);
}

static int handle_send(struct peer *p, const struct xv_wc *wc)
{
	if (wc->opcode == XV_WR_RDMA_READ && p->step == WAIT_READ) {
		if (opt.verbose)
			printf("server ping data: %.*s\n", (int)p->ping_len,
			       p->mem->ping);
		p->step = WAIT_PONG;
		return send_go(p);
	}
	if (wc->opcode == XV_WR_RDMA_WRITE && p->step == WAIT_WRITE) {
		p->pings++;
		p->step = WAIT_PING;
		return send_go(p);
	}
	return 0;
}

static int handle_wc(struct peer *p, const struct xv_wc *wc)
{
	debug("%s completion: %s\n", wc->flags & XV_WC_RECV ? "receive" : "send",
	      xv_wc_status_name(wc->status));
	/* What ends with the connection; an event tells of that. */
	if (wc->status == XV_WC_FLUSH_ERR)
		return 0;
	if (wc->status) {
		fprintf(stderr, "xv_rping: %s: %s\n",
			wc->flags & XV_WC_RECV ? "receive" : "send",
			xv_wc_status_name(wc->status));
		return -EIO;
	}
	return wc->flags & XV_WC_RECV ? handle_recv(p, wc) : handle_send(p, wc);
}

/* Send what was prepared, ask for the next event. */
static int send_and_arm(struct peer *p)
{
	int ret = 0;

	if (xv_sends_ready(&p->qp) || xv_recvs_ready(&p->qp))
		ret = xv_submit(&p->qp);
	if (ret)
		return fail("xv_submit", ret);
	ret = xv_arm(&p->cq);
	return ret ? fail("xv_arm", ret) : 0;
}

/* Take what is there, send what follows from it. */
static int serve(struct peer *p)
{
	struct xv_wc wc[SENDS + RECVS];
	int i, n, ret = 0;

	n = xv_poll(&p->cq, wc, SENDS + RECVS);
	if (n < 0)
		return fail("xv_poll", n);
	for (i = 0; i < n && !ret; i++)
		ret = handle_wc(p, &wc[i]);
	return ret ? ret : send_and_arm(p);
}

/* It goes on to the end all the same, which an event tells. */
static void give_up(struct peer *p)
{
	p->failed = true;
	xv_conn_disconnect(xv_now(ctx), &p->conn);
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
