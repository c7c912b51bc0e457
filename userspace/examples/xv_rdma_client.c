// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connects, sends 16 bytes and takes 16 bytes. The server is xv_rdma_server or
 * rdmacm-utils' rdma_server.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * usage: xv_rdma_client [-s SERVER] [-p PORT] [DEVICE]
 */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xverbs.h>

#define BYTES		16
#define LIMIT_NS	30000000000LL

static struct xv_ctx *ctx;
static struct xv_eventq eq;
static struct xv_cq cq;
static struct xv_qp qp;
static struct xv_conn conn;
static struct { char out[BYTES], in[BYTES]; } buf = { .out = "from the client" };

static int failed(const char *what, int ret)
{
	fprintf(stderr, "xv_rdma_client: %s: %s\n", what,
		strerror(ret < 0 ? -ret : ret));
	return -1;
}

/* Everything in one call; the send waits in the ring until it may go. */
static int start(struct xv_tx *tx, const struct sockaddr *server)
{
	struct xv_pd pd = {};
	struct xv_mr mr = {};
	struct xv_recv recv;
	struct xv_send send;
	char text[256];

	xv_eventq_create(tx, &eq);
	xv_pd_create(tx, &pd);
	xv_mr_create(tx, &mr, XV_OPTS(xv_mr_opts, .pd = &pd, .addr = &buf,
				      .length = sizeof(buf),
				      .access = XV_ACCESS_LOCAL_WRITE));
	xv_cq_create(tx, &cq, XV_OPTS(xv_cq_opts, .cqe = 2));
	xv_qp_create(tx, &qp, XV_OPTS(xv_qp_opts, .pd = &pd, .send_cq = &cq,
				      .send_wr = 1, .recv_wr = 1));
	xv_recv_prep(&recv, 0);
	xv_recv_add_sge(&recv, xv_sge_at(&mr, buf.in, BYTES));
	xv_qp_post_recv(tx, &qp, &recv, 1);
	xv_conn_create(tx, &conn, XV_OPTS(xv_conn_opts, .qp = &qp,
					  .eventq = &eq, .dst = server));
	if (xv_txn_commit(tx, NULL)) {
		xv_error_text(ctx, tx, xv_txn_error(tx), text, sizeof(text));
		fprintf(stderr, "xv_rdma_client: %s\n", text);
		return -1;
	}
	xv_send_prep_send(&send, 0, XV_SEND_SIGNALED,
			  xv_sge_at(&mr, buf.out, BYTES));
	return xv_post_send(&qp, &send, 1);
}

/* Both messages; if it comes to nothing they end as flushed. */
static int exchange(void)
{
	struct xv_wc wc[2];
	int ret, i, n;

	ret = xv_submit_and_wait(&qp, &cq, 2, LIMIT_NS);
	if (ret)
		return failed("messages", ret);
	n = xv_poll(&cq, wc, 2);
	for (i = 0; i < n; i++)
		if (wc[i].status)
			return -1;
	if (n != 2)
		return failed("messages", ETIME);
	printf("received: %.*s\n", BYTES, buf.in);
	return 0;
}

/* ESTABLISHED if there was any, and what ended it. */
static int end(int ret)
{
	struct xv_event ev;

	xv_conn_disconnect(xv_now(ctx), &conn);
	do {
		if (xv_event_read(&eq, &ev, 1) != 1)
			return failed("event", EIO);
	} while (ev.type == XV_EV_ESTABLISHED);
	if (ret)
		return failed(xv_event_name(ev.type), ev.data);
	return 0;
}

int main(int argc, char **argv)
{
	const char *server = "127.0.0.1", *port = "7471";
	struct addrinfo *res;
	struct xv_tx *tx;
	int c, ret;

	while ((c = getopt(argc, argv, "s:p:")) >= 0) {
		if (c == '?') {
			fprintf(stderr, "usage: xv_rdma_client [-s SERVER] [-p PORT] [DEVICE]\n");
			return 2;
		}
		*(c == 's' ? &server : &port) = optarg;
	}
	ret = getaddrinfo(server, port, &(struct addrinfo){
			  .ai_socktype = SOCK_STREAM }, &res);
	if (ret) {
		fprintf(stderr, "xv_rdma_client: %s: %s\n", server,
			gai_strerror(ret));
		return 2;
	}
	ret = xv_open(argv[optind], 0, &ctx);
	if (!ret)
		ret = xv_txn_begin(ctx, 0, &tx);
	if (ret) {
		failed("no device? see README", ret);
		return 1;
	}
	ret = start(tx, res->ai_addr);
	if (!ret)
		ret = end(exchange());
	freeaddrinfo(res);
	/* The objects go with the file. */
	xv_txn_free(tx);
	xv_eventq_close(&eq);
	xv_close(ctx);
	return ret ? 1 : 0;
}
