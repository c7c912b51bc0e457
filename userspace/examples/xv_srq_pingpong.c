// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages back and forth over many queue pairs that share a receive queue,
 * against itself or against rdma-core's ibv_srq_pingpong, in both roles.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Each turn is one system call, whatever the number of queue pairs: receives are
 * given back, answers sent, and the next messages waited for.
 *
 * Addresses are exchanged over TCP, see exchange.h: always MAX_QP of them, of
 * which as many count as there are queue pairs. Both sides must have the same
 * number.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xverbs.h>
#include "exchange.h"

/* Of the stock program. */
#define MAX_QP		256
/* What one transaction can carry beside everything else. */
#define MAX_RX_DEPTH	900
/* Operations that are not queue pairs in the first one. */
#define OTHER_OPS	7

struct options {
	const char *server;
	const char *device;
	unsigned int tcp_port;
	unsigned int ib_port;
	unsigned int gid_index;
	unsigned int size;
	unsigned int iters;
	unsigned int num_qp;
	unsigned int rx_depth;
	unsigned int mtu;
	unsigned int sl;
	unsigned int timeout_s;
	bool check;
};

/**
 * struct link - a queue pair and where it stands
 * @qp: the queue pair
 * @buf: what it sends
 * @sent: messages sent
 * @received: messages received
 * @sending: a send is outstanding
 * @waiting: the peer's message is
 */
struct link {
	struct xv_qp qp;
	uint8_t *buf;
	unsigned int sent;
	unsigned int received;
	bool sending;
	bool waiting;
};

struct pingpong {
	const struct options *opt;
	struct xv_ctx *ctx;
	struct xv_pd pd;
	struct xv_mr mr;
	struct xv_cq cq;
	struct xv_srq srq;
	struct link links[MAX_QP];
	struct address me[MAX_QP];
	struct address peer[MAX_QP];
	uint8_t *buf;
	uint8_t *recv_buf;
	unsigned int idle[MAX_RX_DEPTH];	/* receives that are not posted */
	unsigned int num_idle;
	unsigned int sent;
	unsigned int received;
	unsigned int errors;
};

static int fail_txn(const struct pingpong *p, const struct xv_tx *tx)
{
	char text[256];

	xv_error_text(p->ctx, tx, xv_txn_error(tx), text, sizeof(text));
	fprintf(stderr, "xv_srq_pingpong: %s\n", text);
	return -1;
}

/* ---- content --------------------------------------------------------- */

static uint32_t seed_of(const struct pingpong *p, const struct link *l,
			unsigned int turn)
{
	return 0x9e3779b9U * (turn * MAX_QP + (l - p->links) + 1);
}

static void make_content(const struct pingpong *p, struct link *l)
{
	uint32_t x = seed_of(p, l, l->sent);
	unsigned int i;

	if (!p->opt->check)
		return;
	for (i = 0; i < p->opt->size; i++) {
		x = x * 1664525U + 1013904223U;
		l->buf[i] = x >> 24;
	}
}

/* Message n of each side is the same. */
static void check_content(struct pingpong *p, struct link *l, uint8_t *buf)
{
	uint32_t x = seed_of(p, l, l->received);
	unsigned int i;

	if (!p->opt->check)
		return;
	for (i = 0; i < p->opt->size; i++) {
		x = x * 1664525U + 1013904223U;
		if (buf[i] != x >> 24)
			break;
	}
	if (i < p->opt->size && !p->errors++)
		fprintf(stderr,
			"xv_srq_pingpong: message %u of queue pair %u is wrong\n",
			l->received, (unsigned int)(l - p->links));
	memset(buf, 0, p->opt->size);
}

/* ---- set-up ---------------------------------------------------------- */

static void add_recv(struct pingpong *p, struct xv_recv *r, unsigned int i)
{
	size_t size = p->opt->size;

	xv_recv_prep(r, i);
	xv_recv_add_sge(r, xv_sge_at(&p->mr, p->recv_buf + i * size, size));
}

static int get_memory(struct pingpong *p, size_t *length)
{
	const struct options *opt = p->opt;
	size_t page = sysconf(_SC_PAGESIZE);
	unsigned int i;

	*length = (size_t)opt->size * (opt->num_qp + opt->rx_depth);
	*length = (*length + page - 1) / page * page;
	p->buf = aligned_alloc(page, *length);
	if (!p->buf)
		return fail("memory", ENOMEM);
	memset(p->buf, 0, *length);
	for (i = 0; i < opt->num_qp; i++)
		p->links[i].buf = p->buf + (size_t)i * opt->size;
	p->recv_buf = p->buf + (size_t)opt->num_qp * opt->size;
	return 0;
}

/* What all queue pairs need, and the first receives. */
static void add_common(struct pingpong *p, struct xv_tx *tx, size_t length,
		       struct xv_port_info *port, struct xv_gid_info *gid)
{
	const struct options *opt = p->opt;
	struct xv_recv recvs[MAX_RX_DEPTH];
	unsigned int i;

	xv_device_query_port(tx, opt->ib_port, port);
	xv_device_query_gid(tx, opt->ib_port, opt->gid_index, gid);
	xv_pd_create(tx, &p->pd);
	xv_mr_create(tx, &p->mr, XV_OPTS(xv_mr_opts, .pd = &p->pd,
					 .addr = p->buf, .length = length,
					 .access = XV_ACCESS_LOCAL_WRITE));
	xv_cq_create(tx, &p->cq, XV_OPTS(xv_cq_opts, .cqe = opt->rx_depth +
							    opt->num_qp));
	xv_srq_create(tx, &p->srq, XV_OPTS(xv_srq_opts, .pd = &p->pd,
					   .recv_wr = opt->rx_depth));
	for (i = 0; i < opt->rx_depth; i++)
		add_recv(p, &recvs[i], i);
	xv_srq_post_recv(tx, &p->srq, recvs, opt->rx_depth);
}

static int set_up(struct pingpong *p, struct xv_tx *tx)
{
	const struct options *opt = p->opt;
	struct xv_port_info port;
	struct xv_gid_info gid;
	unsigned int i = 0, room = XV_MAX_OPS - OTHER_OPS;
	size_t length;

	if (get_memory(p, &length))
		return -1;
	add_common(p, tx, length, &port, &gid);
	while (i < opt->num_qp) {
		for (; i < opt->num_qp && room; i++, room--)
			xv_qp_create(tx, &p->links[i].qp, XV_OPTS(xv_qp_opts,
				     .pd = &p->pd, .send_cq = &p->cq,
				     .send_wr = 1, .srq = &p->srq,
				     .port = opt->ib_port));
		if (xv_txn_commit(tx, NULL))
			return fail_txn(p, tx);
		room = XV_MAX_OPS;
	}
	for (i = 0; i < opt->num_qp; i++) {
		p->me[i].lid = port.lid;
		p->me[i].qpn = p->links[i].qp.info.qp_num;
		p->me[i].psn = p->links[i].qp.info.sq_psn;
		memcpy(p->me[i].gid, gid.gid, sizeof(p->me[i].gid));
	}
	return 0;
}

static void add_connect(struct pingpong *p, struct xv_tx *tx, unsigned int i)
{
	struct xv_qp_attr attr = {
		.size = sizeof(attr),
		.qpn = p->peer[i].qpn,
		.psn = p->peer[i].psn,
		.lid = p->peer[i].lid,
		.port = p->opt->ib_port,
		.sgid_index = p->opt->gid_index,
		.path_mtu = p->opt->mtu,
		.sl = p->opt->sl,
	};

	memcpy(attr.gid, p->peer[i].gid, sizeof(attr.gid));
	xv_qp_connect(tx, &p->links[i].qp, &attr);
}

/* Changes of many objects in one call are a batch. */
static int connect_all(void *arg)
{
	struct pingpong *p = arg;
	unsigned int i = 0, n;
	struct xv_tx *tx;
	int ret;

	ret = xv_txn_begin(p->ctx, XV_TXN_F_BATCH, &tx);
	if (ret)
		return fail("transaction", -ret);
	while (i < p->opt->num_qp && !ret) {
		for (n = 0; n < XV_MAX_OPS && i < p->opt->num_qp; n++)
			add_connect(p, tx, i++);
		if (xv_txn_commit(tx, NULL) != (int)n)
			ret = fail_txn(p, tx);
	}
	xv_txn_free(tx);
	return ret;
}

static int tear_down(struct pingpong *p, struct xv_tx *tx)
{
	unsigned int i = 0, room;

	do {
		for (room = XV_MAX_OPS - 4; i < p->opt->num_qp && room; room--)
			xv_qp_destroy(tx, &p->links[i++].qp);
		if (i == p->opt->num_qp) {
			xv_srq_destroy(tx, &p->srq);
			xv_cq_destroy(tx, &p->cq);
			xv_mr_destroy(tx, &p->mr);
			xv_pd_destroy(tx, &p->pd);
		}
		if (xv_txn_commit(tx, NULL))
			return fail_txn(p, tx);
	} while (p->pd.obj.handle);
	return 0;
}

/* ---- data ------------------------------------------------------------ */

static int queue_send(struct pingpong *p, struct link *l)
{
	struct xv_send *s = xv_get_send(&l->qp);

	if (!s)
		return fail("send queue", EAGAIN);
	make_content(p, l);
	xv_send_prep_send(s, 0, XV_SEND_SIGNALED,
			  xv_sge_at(&p->mr, l->buf, p->opt->size));
	l->sending = true;
	l->waiting = true;
	return 0;
}

/* As the stock program: before there is less than one for each queue pair. */
static void queue_recvs(struct pingpong *p)
{
	struct xv_recv *r;

	if (p->opt->rx_depth - p->num_idle > p->opt->num_qp)
		return;
	while (p->num_idle && (r = xv_srq_get_recv(&p->srq)))
		add_recv(p, r, p->idle[--p->num_idle]);
}

static struct link *find_link(struct pingpong *p, uint32_t handle)
{
	unsigned int i;

	for (i = 0; i < p->opt->num_qp; i++)
		if (p->links[i].qp.obj.handle == handle)
			return &p->links[i];
	return NULL;
}

static int handle(struct pingpong *p, const struct xv_wc *wc)
{
	struct link *l = find_link(p, wc->qp);

	if (!l || wc->status) {
		fprintf(stderr, "xv_srq_pingpong: %s: %s (%u)\n",
			wc->flags & XV_WC_RECV ? "receive" : "send",
			xv_wc_status_name(wc->status), wc->vendor_err);
		return -1;
	}
	if (wc->flags & XV_WC_RECV) {
		if (wc->byte_len != p->opt->size ||
		    wc->wr_id >= p->opt->rx_depth)
			return fail("length of a message", EPROTO);
		check_content(p, l, p->recv_buf + wc->wr_id * p->opt->size);
		p->idle[p->num_idle++] = wc->wr_id;
		l->waiting = false;
		l->received++;
		p->received++;
		queue_recvs(p);
	} else {
		l->sending = false;
		l->sent++;
		p->sent++;
	}
	/* Both have come: the next one. */
	if (!l->sending && !l->waiting && p->sent < p->opt->iters)
		return queue_send(p, l);
	return 0;
}

/* Hand over all that is ready, and wait for something to come. */
static int enter(struct pingpong *p)
{
	struct xv_enter_qp res[1 + MAX_QP];
	struct xv_srq *srqs = &p->srq;
	struct xv_qp *qps[MAX_QP];
	unsigned int i, n = 0;
	int ret;

	for (i = 0; i < p->opt->num_qp; i++)
		if (xv_sends_ready(&p->links[i].qp))
			qps[n++] = &p->links[i].qp;
	ret = xv_enter_with(p->ctx, XV_OPTS(xv_enter_opts,
			    .srqs = &srqs, .num_srqs = xv_srq_ready(&p->srq) ?
			    1 : 0, .qps = qps, .num_qps = n, .res = res,
			    .cq = &p->cq, .min_complete = 1,
			    .timeout_ns = p->opt->timeout_s * 1000000000LL),
			    NULL);
	if (ret && ret != -EINTR)
		return fail("enter", -ret);
	for (i = 0; i < n; i++)
		if (qps[i]->err)
			return fail("send", qps[i]->err);
	if (srqs->err)
		return fail("receive", srqs->err);
	return 0;
}

static int run(struct pingpong *p)
{
	struct xv_wc wc[64];
	unsigned int i;
	int n, k;

	for (i = 0; i < p->opt->num_qp; i++) {
		p->links[i].waiting = true;
		if (p->opt->server && queue_send(p, &p->links[i]))
			return -1;
	}
	while (p->sent < p->opt->iters || p->received < p->opt->iters) {
		if (enter(p))
			return -1;
		n = xv_poll(&p->cq, wc, 64);
		if (n < 0)
			return fail("poll", -n);
		for (k = 0; k < n; k++)
			if (handle(p, &wc[k]))
				return -1;
	}
	return 0;
}

/* ---- the rest -------------------------------------------------------- */

static void print_usage(FILE *out)
{
	fprintf(out,
		"usage: xv_srq_pingpong [OPTION]...        wait for a client\n"
		"       xv_srq_pingpong [OPTION]... HOST   connect to a server at HOST\n"
		"  -p, --port=PORT      TCP port of the exchange (default 18515)\n"
		"  -d, --ib-dev=DEV     RDMA device (default: the first)\n"
		"  -i, --ib-port=PORT   port of the device (default 1)\n"
		"  -g, --gid-idx=INDEX  index of the local GID (default 0)\n"
		"  -s, --size=BYTES     size of a message (default 4096)\n"
		"  -m, --mtu=BYTES      path MTU, the same at both sides (default 1024)\n"
		"  -q, --num-qp=N       queue pairs, as many at both sides (default 16)\n"
		"  -r, --rx-depth=N     receives posted at a time (default 500)\n"
		"  -n, --iters=N        messages each way, of all together (default 1000)\n"
		"  -l, --sl=SL          service level (default 0)\n"
		"  -t, --timeout=SEC    longest time without a completion (default 30)\n"
		"  -c, --chk            check the content of every message; both sides\n"
		"                       must, and be this program\n"
		"  -h, --help           this text\n");
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
		fprintf(stderr,
			"xv_srq_pingpong: %s is not a number from %u to %u\n",
			arg, min, max);
		return -1;
	}
	*out = val;
	return 0;
}

static int parse_option(int c, const char *arg, struct options *opt)
{
	switch (c) {
	case 'p':
		return parse_number(arg, 1, 65535, &opt->tcp_port);
	case 'd':
		opt->device = arg;
		return 0;
	case 'i':
		return parse_number(arg, 1, 255, &opt->ib_port);
	case 'g':
		return parse_number(arg, 0, 65535, &opt->gid_index);
	case 's':
		return parse_number(arg, 1, 1U << 20, &opt->size);
	case 'm':
		return parse_number(arg, 256, 4096, &opt->mtu);
	case 'q':
		return parse_number(arg, 1, MAX_QP, &opt->num_qp);
	case 'r':
		return parse_number(arg, 1, MAX_RX_DEPTH, &opt->rx_depth);
	case 'n':
		return parse_number(arg, 1, 1U << 30, &opt->iters);
	case 'l':
		return parse_number(arg, 0, 15, &opt->sl);
	case 't':
		return parse_number(arg, 1, 86400, &opt->timeout_s);
	case 'c':
		opt->check = true;
		return 0;
	case 'h':
		print_usage(stdout);
		exit(0);
	}
	return -1;
}

static int parse_options(int argc, char **argv, struct options *opt)
{
	static const struct option options[] = {
		{ "port", required_argument, NULL, 'p' },
		{ "ib-dev", required_argument, NULL, 'd' },
		{ "ib-port", required_argument, NULL, 'i' },
		{ "gid-idx", required_argument, NULL, 'g' },
		{ "size", required_argument, NULL, 's' },
		{ "mtu", required_argument, NULL, 'm' },
		{ "num-qp", required_argument, NULL, 'q' },
		{ "rx-depth", required_argument, NULL, 'r' },
		{ "iters", required_argument, NULL, 'n' },
		{ "sl", required_argument, NULL, 'l' },
		{ "timeout", required_argument, NULL, 't' },
		{ "chk", no_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	int c, bad = 0;

	while ((c = getopt_long(argc, argv, "p:d:i:g:s:m:q:r:n:l:t:ch", options,
				NULL)) >= 0)
		bad |= parse_option(c, optarg, opt);
	if (optind + 1 == argc)
		opt->server = argv[optind];
	else if (optind != argc)
		bad = -1;
	if (!bad && opt->num_qp > opt->rx_depth) {
		fprintf(stderr,
			"xv_srq_pingpong: %u receives are too few for %u queue pairs\n",
			opt->rx_depth, opt->num_qp);
		return -1;
	}
	if (bad)
		fprintf(stderr, "xv_srq_pingpong: bad option or argument; try --help\n");
	return bad;
}

static void report(const struct pingpong *p, double seconds, uint64_t ioctls)
{
	const struct options *opt = p->opt;
	double bytes = 2.0 * opt->size * opt->iters;

	printf("%.0f bytes in %.2f seconds = %.2f Mbit/sec\n", bytes, seconds,
	       bytes * 8 / seconds / 1e6);
	printf("%u iters in %.2f seconds = %.2f usec/iter\n", opt->iters,
	       seconds, seconds * 1e6 / opt->iters);
	printf("ioctls: %llu for data\n", (unsigned long long)ioctls);
	if (opt->check)
		printf("content: %u of %u messages wrong\n", p->errors,
		       p->received);
}

int main(int argc, char **argv)
{
	struct options opt = {
		.tcp_port = 18515,
		.ib_port = 1,
		.size = 4096,
		.mtu = 1024,
		.num_qp = 16,
		.rx_depth = 500,
		.iters = 1000,
		.timeout_s = 30,
	};
	static struct pingpong p;
	struct timespec start, end;
	struct exchange x = {};
	struct xv_tx *tx;
	unsigned int i;
	uint64_t ioctls;
	int ret;

	if (parse_options(argc, argv, &opt))
		return 2;
	p.opt = &opt;
	ret = xv_open(opt.device, 0, &p.ctx);
	if (!ret)
		ret = xv_txn_begin(p.ctx, 0, &tx);
	if (ret) {
		fail(opt.device ? opt.device :
		     "no device: is xverbs.ko loaded, and is there an RDMA device? (see README)",
		     -ret);
		return 1;
	}
	if (set_up(&p, tx))
		return 1;
	for (i = 0; i < opt.num_qp; i++)
		print_address("local", &p.me[i], stdout);
	fflush(stdout);
	x.server = opt.server;
	x.tcp_port = opt.tcp_port;
	x.num = MAX_QP;
	x.me = p.me;
	x.peer = p.peer;
	x.connect = connect_all;
	x.arg = &p;
	if (exchange_addresses(&x))
		return 1;
	for (i = 0; i < opt.num_qp; i++)
		print_address("remote", &p.peer[i], stdout);

	ioctls = xv_num_ioctls(p.ctx);
	clock_gettime(CLOCK_MONOTONIC, &start);
	if (run(&p))
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &end);
	ioctls = xv_num_ioctls(p.ctx) - ioctls;
	if (tear_down(&p, tx))
		return 1;
	report(&p, (double)(end.tv_sec - start.tv_sec) +
	       (double)(end.tv_nsec - start.tv_nsec) / 1e9, ioctls);
	free(p.buf);
	xv_txn_free(tx);
	xv_close(p.ctx);
	return p.errors != 0;
}
