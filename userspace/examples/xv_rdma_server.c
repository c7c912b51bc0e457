// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Waits for a client, takes 16 bytes from it and sends 16 bytes. The client is
 * xv_rdma_client or rdmacm-utils' rdma_client.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * usage: xv_rdma_server [-p PORT] ADDRESS [DEVICE]
 *
 * ADDRESS is one of the device: a listener belongs to one.
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
static struct xv_listener listener;
static struct xv_pd pd;
static struct xv_mr mr;
static struct xv_cq cq;
static struct xv_qp qp;
static struct xv_conn conn;
static struct { char out[BYTES], in[BYTES]; } buf = { .out = "from the server" };

static int failed(const char *what, int ret)
{
	fprintf(stderr, "xv_rdma_server: %s: %s\n", what,
		strerror(ret < 0 ? -ret : ret));
	return -1;
}

static int commit(struct xv_tx *tx)
{
	char text[256];
	int ret = xv_txn_commit(tx, NULL);

	if (ret) {
		xv_error_text(ctx, tx, xv_txn_error(tx), text, sizeof(text));
		fprintf(stderr, "xv_rdma_server: %s\n", text);
	}
	return ret;
}

static int listen_at(struct xv_tx *tx, const struct sockaddr *addr)
{
	xv_eventq_create(tx, &eq);
	xv_pd_create(tx, &pd);
	xv_mr_create(tx, &mr, XV_OPTS(xv_mr_opts, .pd = &pd, .addr = &buf,
				      .length = sizeof(buf),
				      .access = XV_ACCESS_LOCAL_WRITE));
	xv_listener_create(tx, &listener, XV_OPTS(xv_listener_opts,
						  .eventq = &eq, .addr = addr,
						  .backlog = 1));
	return commit(tx);
}

/* Queues, the first receive and the accept in one call. */
static int accept_one(struct xv_tx *tx)
{
	struct xv_recv recv;
	struct xv_event ev;

	do {
		if (xv_event_read(&eq, &ev, 1) != 1)
			return failed("event", EIO);
	} while (ev.type != XV_EV_CONNECT_REQUEST);
	xv_cq_create(tx, &cq, XV_OPTS(xv_cq_opts, .cqe = 2));
	xv_qp_create(tx, &qp, XV_OPTS(xv_qp_opts, .pd = &pd, .send_cq = &cq,
				      .send_wr = 1, .recv_wr = 1));
	xv_recv_prep(&recv, 0);
	xv_recv_add_sge(&recv, xv_sge_at(&mr, buf.in, BYTES));
	xv_qp_post_recv(tx, &qp, &recv, 1);
	xv_conn_create(tx, &conn, XV_OPTS(xv_conn_opts, .qp = &qp,
					  .eventq = &eq,
					  .listener = &listener,
					  .token = ev.data));
	return commit(tx);
}

/* Submit what there is, and wait for the one completion that is due. */
static int step(const char *what)
{
	struct xv_wc wc;
	int ret = xv_submit_and_wait(&qp, &cq, 1, LIMIT_NS);

	if (ret)
		return failed(what, ret);
	if (xv_poll(&cq, &wc, 1) != 1)
		return failed(what, ETIME);
	if (!wc.status)
		return 0;
	fprintf(stderr, "xv_rdma_server: %s: %s\n", what,
		xv_wc_status_name(wc.status));
	return -1;
}

static int exchange(void)
{
	struct xv_send send;
	int ret;

	ret = step("receive");
	if (ret)
		return ret;
	printf("received: %.*s\n", BYTES, buf.in);
	xv_send_prep_send(&send, 0, XV_SEND_SIGNALED,
			  xv_sge_at(&mr, buf.out, BYTES));
	ret = xv_post_send(&qp, &send, 1);
	return ret ? failed("send", ret) : step("send");
}

int main(int argc, char **argv)
{
	const char *port = "7471";
	struct addrinfo *res;
	struct xv_tx *tx;
	int c, ret;

	while ((c = getopt(argc, argv, "p:")) == 'p')
		port = optarg;
	if (c >= 0 || optind == argc) {
		fprintf(stderr, "usage: xv_rdma_server [-p PORT] ADDRESS [DEVICE]\n");
		return 2;
	}
	ret = getaddrinfo(argv[optind], port, &(struct addrinfo){
			  .ai_socktype = SOCK_STREAM }, &res);
	if (ret) {
		fprintf(stderr, "xv_rdma_server: %s: %s\n", argv[optind],
			gai_strerror(ret));
		return 2;
	}
	ret = xv_open(argv[optind + 1], 0, &ctx);
	if (!ret)
		ret = xv_txn_begin(ctx, 0, &tx);
	if (ret) {
		failed("no device? see README", ret);
		return 1;
	}
	ret = listen_at(tx, res->ai_addr);
	if (!ret)
		ret = accept_one(tx);
	if (!ret)
		ret = exchange();
	freeaddrinfo(res);
	/* The objects go with the file, and the connection with them. */
	xv_txn_free(tx);
	xv_eventq_close(&eq);
	xv_close(ctx);
	return ret ? 1 : 0;
}
