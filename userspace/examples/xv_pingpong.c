// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages back and forth, against itself or against rdma-core's ibv_rc_pingpong,
 * ibv_uc_pingpong or ibv_ud_pingpong, in both roles.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Everything is set up by one ioctl, the first receives included, and connected
 * by one more. After that each turn is one "submit and wait".
 *
 * Addresses are exchanged over TCP, see exchange.h. PSNs mean nothing to
 * datagrams.
 */
#include <errno.h>
#include <getopt.h>
#include <json.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xverbs.h>
#include "exchange.h"

#define WRID_RECV	1
#define WRID_SEND	2
/* What one transaction can carry beside everything else. */
#define MAX_RX_DEPTH	900
/* Of the stock program. */
#define QKEY		0x11111111

struct options {
	const char *server;
	const char *device;
	unsigned int type;
	unsigned int tcp_port;
	unsigned int ib_port;
	unsigned int gid_index;
	unsigned int size;
	unsigned int iters;
	unsigned int rx_depth;
	unsigned int mtu;
	unsigned int sl;
	unsigned int timeout_s;
	bool check;
	bool json;
};

struct pingpong {
	const struct options *opt;
	struct xv_ctx *ctx;
	struct xv_tx *tx;
	struct xv_pd pd;
	struct xv_mr mr;
	struct xv_cq cq;
	struct xv_qp qp;
	struct xv_ah ah;	/* datagrams: the peer */
	struct address peer;
	struct xv_port_info port;
	unsigned int grh;	/* bytes before the data of a receive */
	uint8_t *send_buf;
	uint8_t *recv_buf;
	uint8_t *recv_data;
	unsigned int sent;
	unsigned int received;
	unsigned int recvs_out;
	bool send_pending;
	bool echo;		/* the peer makes the content, we return it */
	uint64_t setup_ioctls;
	uint64_t connect_ioctls;
	uint64_t data_ioctls;
	uint64_t destroy_ioctls;
	uint64_t errors;	/* messages with wrong content */
};

static int fail_txn(const struct pingpong *p, const struct xv_tx *tx)
{
	char text[256];

	xv_error_text(p->ctx, tx, xv_txn_error(tx), text, sizeof(text));
	fprintf(stderr, "xv_pingpong: %s\n", text);
	return -1;
}

/* ---- content --------------------------------------------------------- */

/*
 * Stock programs send and receive in the same buffer, so they return what they
 * got. A client makes a new content for each turn and checks what returns. A
 * server does the same if the first message is not one of ours; else it checks
 * the client's content and returns it. The check of the stock program wants a
 * zero at the start of each page.
 */
static uint8_t content_byte(uint32_t *x, unsigned int i)
{
	*x = *x * 1664525U + 1013904223U;
	return i % 4096 ? *x >> 24 : 0;
}

static void make_content(uint8_t *buf, unsigned int size, uint32_t turn)
{
	uint32_t x = 0x9e3779b9U * (turn + 1);
	unsigned int i;

	for (i = 0; i < size; i++)
		buf[i] = content_byte(&x, i);
}

static bool content_is(const uint8_t *buf, unsigned int size, uint32_t turn)
{
	uint32_t x = 0x9e3779b9U * (turn + 1);
	unsigned int i;

	for (i = 0; i < size; i++)
		if (buf[i] != content_byte(&x, i))
			return false;
	return true;
}

static void check_content(struct pingpong *p)
{
	const struct options *opt = p->opt;
	uint32_t turn = p->received;

	if (!opt->check)
		return;
	if (!opt->server) {
		if (!turn) {
			p->echo = content_is(p->recv_data, opt->size, 0);
			return;
		}
		/* A stock client returns the answer to its last message. */
		if (!p->echo)
			turn--;
	}
	if (!content_is(p->recv_data, opt->size, turn) && !p->errors++)
		fprintf(stderr,
			"xv_pingpong: message %u has wrong content\n",
			p->received);
	/* No message may be taken for the next one. */
	memset(p->recv_data, 0, opt->size);
}

static void next_content(struct pingpong *p)
{
	const struct options *opt = p->opt;

	if (!opt->check)
		return;
	/* The server answers message n with content n, as the client made it. */
	make_content(p->send_buf, opt->size, p->sent);
}

/* ---- set-up ---------------------------------------------------------- */

static void add_recv(const struct pingpong *p, struct xv_recv *r)
{
	xv_recv_prep(r, WRID_RECV);
	xv_recv_add_sge(r, xv_sge_at(&p->mr, p->recv_buf,
				     p->grh + p->opt->size));
}

static int set_up(struct pingpong *p, struct address *me)
{
	const struct options *opt = p->opt;
	size_t page = sysconf(_SC_PAGESIZE);
	size_t room = (p->grh + opt->size + page - 1) / page * page;
	struct xv_gid_info gid;
	struct xv_recv *recvs;
	unsigned int i;
	uint8_t *buf;
	int ret;

	buf = aligned_alloc(page, 2 * room);
	recvs = calloc(opt->rx_depth, sizeof(*recvs));
	if (!buf || !recvs)
		return fail("memory", ENOMEM);
	memset(buf, 0, 2 * room);
	p->send_buf = buf;
	p->recv_buf = buf + room;
	p->recv_data = p->recv_buf + p->grh;

	xv_device_query_port(p->tx, opt->ib_port, &p->port);
	xv_device_query_gid(p->tx, opt->ib_port, opt->gid_index, &gid);
	xv_pd_create(p->tx, &p->pd);
	xv_mr_create(p->tx, &p->mr, XV_OPTS(xv_mr_opts, .pd = &p->pd,
					    .addr = buf, .length = 2 * room,
					    .access = XV_ACCESS_LOCAL_WRITE));
	xv_cq_create(p->tx, &p->cq, XV_OPTS(xv_cq_opts,
					    .cqe = opt->rx_depth + 2));
	xv_qp_create(p->tx, &p->qp, XV_OPTS(xv_qp_opts, .pd = &p->pd,
					    .type = opt->type,
					    .send_cq = &p->cq, .send_wr = 2,
					    .recv_wr = opt->rx_depth,
					    .port = opt->ib_port));
	for (i = 0; i < opt->rx_depth; i++)
		add_recv(p, &recvs[i]);
	xv_qp_post_recv(p->tx, &p->qp, recvs, opt->rx_depth);
	ret = xv_txn_commit(p->tx, NULL);
	free(recvs);
	if (ret)
		return fail_txn(p, p->tx);
	if (opt->type == XV_QPT_UD && opt->size > p->port.active_mtu)
		return fail("size of a message", EMSGSIZE);
	p->recvs_out = opt->rx_depth;
	p->setup_ioctls = xv_num_ioctls(p->ctx);

	me->lid = p->port.lid;
	me->qpn = p->qp.info.qp_num;
	me->psn = p->qp.info.sq_psn;
	memcpy(me->gid, gid.gid, sizeof(me->gid));
	return 0;
}

static uint32_t lid_of(const struct pingpong *p, const struct address *peer)
{
	return p->port.link_layer == XV_LINK_INFINIBAND ? peer->lid : 0;
}

static void add_connect(struct pingpong *p, const struct address *peer)
{
	struct xv_qp_attr attr = {
		.size = sizeof(attr),
		.qpn = peer->qpn,
		.psn = peer->psn,
		.lid = lid_of(p, peer),
		.port = p->opt->ib_port,
		.sgid_index = p->opt->gid_index,
		.path_mtu = p->opt->mtu,
		.sl = p->opt->sl,
	};

	memcpy(attr.gid, peer->gid, sizeof(attr.gid));
	xv_qp_connect(p->tx, &p->qp, &attr);
}

/* For datagrams the peer is an object, and the queue pair has none. */
static void add_connect_ud(struct pingpong *p, const struct address *peer)
{
	struct xv_ah_opts opts = {
		.size = sizeof(opts),
		.pd = &p->pd,
		.lid = lid_of(p, peer),
		.port = p->opt->ib_port,
		.sgid_index = p->opt->gid_index,
		.sl = p->opt->sl,
	};

	memcpy(opts.gid, peer->gid, sizeof(opts.gid));
	xv_ah_create(p->tx, &p->ah, &opts);
	xv_qp_connect(p->tx, &p->qp, XV_OPTS(xv_qp_attr, .qkey = QKEY,
					     .port = p->opt->ib_port));
}

static int connect_qp(void *arg)
{
	struct pingpong *p = arg;
	uint64_t before = xv_num_ioctls(p->ctx);

	if (p->opt->type == XV_QPT_UD)
		add_connect_ud(p, &p->peer);
	else
		add_connect(p, &p->peer);
	if (xv_txn_commit(p->tx, NULL))
		return fail_txn(p, p->tx);
	p->connect_ioctls = xv_num_ioctls(p->ctx) - before;
	return 0;
}

static int tear_down(struct pingpong *p)
{
	uint64_t before = xv_num_ioctls(p->ctx);

	if (p->opt->type == XV_QPT_UD)
		xv_ah_destroy(p->tx, &p->ah);
	xv_qp_destroy(p->tx, &p->qp);
	xv_cq_destroy(p->tx, &p->cq);
	xv_mr_destroy(p->tx, &p->mr);
	xv_pd_destroy(p->tx, &p->pd);
	if (xv_txn_commit(p->tx, NULL))
		return fail_txn(p, p->tx);
	p->destroy_ioctls = xv_num_ioctls(p->ctx) - before;
	return 0;
}

/* ---- data ------------------------------------------------------------ */

static int queue_send(struct pingpong *p)
{
	struct xv_send *s = xv_get_send(&p->qp);

	if (!s)
		return fail("send queue", EAGAIN);
	next_content(p);
	xv_send_prep_send(s, WRID_SEND, XV_SEND_SIGNALED,
			  xv_sge_at(&p->mr, p->send_buf, p->opt->size));
	if (p->opt->type == XV_QPT_UD)
		xv_send_set_ud(s, &p->ah, p->peer.qpn, QKEY);
	p->send_pending = true;
	return 0;
}

/* As the stock program: when the receives run out, all at once. */
static void queue_recvs(struct pingpong *p)
{
	struct xv_recv *r;

	if (p->recvs_out > 1)
		return;
	while ((r = xv_get_recv(&p->qp))) {
		add_recv(p, r);
		p->recvs_out++;
	}
}

static int handle(struct pingpong *p, const struct xv_wc *wc)
{
	if (wc->status) {
		fprintf(stderr, "xv_pingpong: %s %u: %s (%u)\n",
			wc->flags & XV_WC_RECV ? "receive" : "send",
			wc->flags & XV_WC_RECV ? p->received : p->sent,
			xv_wc_status_name(wc->status), wc->vendor_err);
		return -1;
	}
	if (!(wc->flags & XV_WC_RECV)) {
		p->send_pending = false;
		p->sent++;
		return 0;
	}
	if (wc->byte_len != p->grh + p->opt->size) {
		fprintf(stderr, "xv_pingpong: %u bytes instead of %u\n",
			wc->byte_len - p->grh, p->opt->size);
		return -1;
	}
	if (p->opt->type == XV_QPT_UD && wc->src_qp != p->peer.qpn) {
		fprintf(stderr, "xv_pingpong: from 0x%06x, not the peer\n",
			wc->src_qp);
		return -1;
	}
	check_content(p);
	p->received++;
	p->recvs_out--;
	queue_recvs(p);
	return 0;
}

static int run(struct pingpong *p)
{
	const struct options *opt = p->opt;
	uint64_t before = xv_num_ioctls(p->ctx);
	/* A message is sent when the one before was sent and answered. */
	unsigned int lead = opt->server ? 1 : 0;
	struct xv_wc wc[8];
	unsigned int want;
	int ret, i, n;

	while (p->sent < opt->iters || p->received < opt->iters) {
		if (!p->send_pending && p->sent < opt->iters &&
		    p->sent < p->received + lead && queue_send(p))
			return -1;
		/* Our send, and the answer to it or the next question. */
		want = p->send_pending + (p->received < opt->iters);
		ret = xv_submit_and_wait(&p->qp, &p->cq, want,
					 opt->timeout_s * 1000000000LL);
		if (ret == -EINTR)
			continue;
		if (ret)
			return fail("submit and wait", -ret);
		n = xv_poll(&p->cq, wc, 8);
		if (n < 0)
			return fail("poll", -n);
		if (!n)
			return fail("no completion", ETIME);
		for (i = 0; i < n; i++)
			if (handle(p, &wc[i]))
				return -1;
	}
	p->data_ioctls = xv_num_ioctls(p->ctx) - before;
	return 0;
}

/* ---- the rest -------------------------------------------------------- */

static const char * const type_names[] = {
	[XV_QPT_RC] = "rc",
	[XV_QPT_UC] = "uc",
	[XV_QPT_UD] = "ud",
};

static void report(const struct pingpong *p, double seconds, bool ok)
{
	const struct options *opt = p->opt;
	double bytes = 2.0 * opt->size * opt->iters;
	struct json_object *o;

	if (!opt->json) {
		printf("%.0f bytes in %.2f seconds = %.2f Mbit/sec\n", bytes,
		       seconds, bytes * 8 / seconds / 1e6);
		printf("%u iters in %.2f seconds = %.2f usec/iter\n",
		       opt->iters, seconds, seconds * 1e6 / opt->iters);
		printf("ioctls: %llu to set up, %llu to connect, %llu for data, %llu to destroy\n",
		       (unsigned long long)p->setup_ioctls,
		       (unsigned long long)p->connect_ioctls,
		       (unsigned long long)p->data_ioctls,
		       (unsigned long long)p->destroy_ioctls);
		if (opt->check)
			printf("content: %llu of %u messages wrong\n",
			       (unsigned long long)p->errors, opt->iters);
		return;
	}
	o = json_object_new_object();
	json_object_object_add(o, "role", json_object_new_string(opt->server ?
							"client" : "server"));
	json_object_object_add(o, "type",
			       json_object_new_string(type_names[opt->type]));
	json_object_object_add(o, "iterations", json_object_new_int(opt->iters));
	json_object_object_add(o, "size", json_object_new_int(opt->size));
	json_object_object_add(o, "seconds", json_object_new_double(seconds));
	json_object_object_add(o, "setup_ioctls",
			       json_object_new_int64(p->setup_ioctls));
	json_object_object_add(o, "connect_ioctls",
			       json_object_new_int64(p->connect_ioctls));
	json_object_object_add(o, "data_ioctls",
			       json_object_new_int64(p->data_ioctls));
	json_object_object_add(o, "destroy_ioctls",
			       json_object_new_int64(p->destroy_ioctls));
	json_object_object_add(o, "content_checked",
			       json_object_new_boolean(opt->check));
	json_object_object_add(o, "content_errors",
			       json_object_new_int64(p->errors));
	json_object_object_add(o, "ok", json_object_new_boolean(ok));
	printf("%s\n", json_object_to_json_string_ext(o,
						      JSON_C_TO_STRING_PRETTY));
	json_object_put(o);
}

static void print_usage(FILE *out)
{
	fprintf(out,
		"usage: xv_pingpong [OPTION]...        wait for a client\n"
		"       xv_pingpong [OPTION]... HOST   connect to a server at HOST\n"
		"  -T, --type=TYPE      rc, uc or ud; default: by the name of the program, as in\n"
		"                       xv_ud_pingpong, else rc. Where messages may get lost, the\n"
		"                       program ends when one is\n"
		"  -p, --port=PORT      TCP port of the exchange (default 18515)\n"
		"  -d, --ib-dev=DEV     RDMA device (default: the first)\n"
		"  -i, --ib-port=PORT   port of the device (default 1)\n"
		"  -g, --gid-idx=INDEX  index of the local GID (default 0)\n"
		"  -s, --size=BYTES     size of a message (default 4096; ud: 2048, at\n"
		"                       most the MTU of the port)\n"
		"  -m, --mtu=BYTES      path MTU of rc and uc, the same at both sides\n"
		"                       (default 1024)\n"
		"  -r, --rx-depth=N     receives posted at a time (default 500)\n"
		"  -n, --iters=N        messages each way (default 1000)\n"
		"  -l, --sl=SL          service level (default 0)\n"
		"  -t, --timeout=SEC    longest time without a completion (default 30)\n"
		"  -c, --chk            check the content of every message\n"
		"  -j, --json           print JSON\n"
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
		fprintf(stderr, "xv_pingpong: %s is not a number from %u to %u\n",
			arg, min, max);
		return -1;
	}
	*out = val;
	return 0;
}

static int parse_type(const char *arg, unsigned int *out)
{
	unsigned int type;

	for (type = XV_QPT_RC; type <= XV_QPT_UD; type++)
		if (!strcmp(arg, type_names[type])) {
			*out = type;
			return 0;
		}
	fprintf(stderr, "xv_pingpong: there is no type %s\n", arg);
	return -1;
}

/* Under the names of the stock programs with xv_ in front: xv_ud_pingpong. */
static unsigned int type_of_name(const char *path)
{
	const char *name = strrchr(path, '/');
	unsigned int type;

	name = name ? name + 1 : path;
	for (type = XV_QPT_RC; type <= XV_QPT_UD; type++)
		if (!strncmp(name, "xv_", 3) &&
		    !strncmp(name + 3, type_names[type], 2) && name[5] == '_')
			return type;
	return XV_QPT_RC;
}

static int parse_options(int argc, char **argv, struct options *opt)
{
	static const struct option options[] = {
		{ "type", required_argument, NULL, 'T' },
		{ "port", required_argument, NULL, 'p' },
		{ "ib-dev", required_argument, NULL, 'd' },
		{ "ib-port", required_argument, NULL, 'i' },
		{ "gid-idx", required_argument, NULL, 'g' },
		{ "size", required_argument, NULL, 's' },
		{ "mtu", required_argument, NULL, 'm' },
		{ "rx-depth", required_argument, NULL, 'r' },
		{ "iters", required_argument, NULL, 'n' },
		{ "sl", required_argument, NULL, 'l' },
		{ "timeout", required_argument, NULL, 't' },
		{ "chk", no_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	int c, bad = 0;

	while ((c = getopt_long(argc, argv, "T:p:d:i:g:s:m:r:n:l:t:cjh", options,
				NULL)) >= 0) {
		switch (c) {
		case 'T':
			bad |= parse_type(optarg, &opt->type);
			break;
		case 'p':
			bad |= parse_number(optarg, 1, 65535, &opt->tcp_port);
			break;
		case 'd':
			opt->device = optarg;
			break;
		case 'i':
			bad |= parse_number(optarg, 1, 255, &opt->ib_port);
			break;
		case 'g':
			bad |= parse_number(optarg, 0, 65535, &opt->gid_index);
			break;
		case 's':
			bad |= parse_number(optarg, 1, 1U << 30, &opt->size);
			break;
		case 'm':
			bad |= parse_number(optarg, 256, 4096, &opt->mtu);
			break;
		case 'r':
			bad |= parse_number(optarg, 2, MAX_RX_DEPTH, &opt->rx_depth);
			break;
		case 'n':
			bad |= parse_number(optarg, 1, 1U << 30, &opt->iters);
			break;
		case 'l':
			bad |= parse_number(optarg, 0, 15, &opt->sl);
			break;
		case 't':
			bad |= parse_number(optarg, 1, 86400, &opt->timeout_s);
			break;
		case 'c':
			opt->check = true;
			break;
		case 'j':
			opt->json = true;
			break;
		case 'h':
			print_usage(stdout);
			exit(0);
		default:
			bad = -1;
		}
	}
	if (optind + 1 == argc)
		opt->server = argv[optind];
	else if (optind != argc)
		bad = -1;
	if (bad)
		fprintf(stderr, "xv_pingpong: bad option or argument; try --help\n");
	if (!opt->size)
		opt->size = opt->type == XV_QPT_UD ? 2048 : 4096;
	return bad;
}

int main(int argc, char **argv)
{
	struct options opt = {
		.tcp_port = 18515,
		.ib_port = 1,
		.mtu = 1024,
		.rx_depth = 500,
		.iters = 1000,
		.timeout_s = 30,
	};
	struct pingpong p = { .opt = &opt };
	struct timespec start, end;
	struct exchange x = {};
	struct address me;
	double seconds;
	bool ok;
	int ret;

	opt.type = type_of_name(argv[0]);
	if (parse_options(argc, argv, &opt))
		return 2;
	p.grh = opt.type == XV_QPT_UD ? XV_GRH_LEN : 0;
	ret = xv_open(opt.device, 0, &p.ctx);
	if (!ret)
		ret = xv_txn_begin(p.ctx, 0, &p.tx);
	if (ret) {
		fail(opt.device ? opt.device :
		     "no device: is xverbs.ko loaded, and is there an RDMA device? (see README)",
		     -ret);
		return 1;
	}
	if (set_up(&p, &me))
		return 1;
	if (!opt.json) {
		print_address("local", &me, stdout);
		fflush(stdout);
	}
	x.server = opt.server;
	x.tcp_port = opt.tcp_port;
	x.num = 1;
	x.me = &me;
	x.peer = &p.peer;
	x.connect = connect_qp;
	x.arg = &p;
	if (exchange_addresses(&x))
		return 1;
	if (!opt.json)
		print_address("remote", &p.peer, stdout);

	clock_gettime(CLOCK_MONOTONIC, &start);
	if (run(&p))
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &end);
	seconds = (double)(end.tv_sec - start.tv_sec) +
		  (double)(end.tv_nsec - start.tv_nsec) / 1e9;
	if (tear_down(&p))
		return 1;

	/* The claim on the package: one ioctl each. */
	ok = p.setup_ioctls == 1 && p.connect_ioctls == 1 &&
	     p.destroy_ioctls == 1 && !p.errors;
	report(&p, seconds, ok);
	free(p.send_buf);
	xv_txn_free(p.tx);
	xv_close(p.ctx);
	return !ok;
}
