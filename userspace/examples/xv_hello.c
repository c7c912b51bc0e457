// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The first program: two queue pairs of one device, made in one call, connected
 * to each other, and a message from one to the other.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * usage: xv_hello [DEVICE [GID-INDEX]]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xverbs.h>

static struct xv_ctx *ctx;

static void check(int ret, const struct xv_tx *tx)
{
	char text[256];

	if (ret >= 0)
		return;
	if (tx)
		xv_error_text(ctx, tx, xv_txn_error(tx), text, sizeof(text));
	else if (!ctx && ret == -ENODEV)
		strcpy(text, "no device: is xverbs.ko loaded, and is there an RDMA device? (see README)");
	else if (!ctx && ret == -EACCES)
		strcpy(text, "/dev/infiniband: permission denied: be in group rdma or root");
	else
		snprintf(text, sizeof(text), "%s", strerror(-ret));
	fprintf(stderr, "xv_hello: %s\n", text);
	exit(1);
}

int main(int argc, char **argv)
{
	static char buf[2][64] = { "hello, world" };
	struct xv_qp_attr attr = { .size = sizeof(attr), .sgid_index = argc > 2 ? atoi(argv[2]) : 0 };
	struct xv_pd pd = {};
	struct xv_mr mr = {};
	struct xv_cq cq = {};
	struct xv_qp qp[2] = {};
	struct xv_gid_info gid;
	struct xv_recv recv;
	struct xv_send send;
	struct xv_wc wc[2];
	struct xv_tx *tx;
	int i, n;

	check(xv_open(argc > 1 ? argv[1] : NULL, 0, &ctx), NULL);
	check(xv_txn_begin(ctx, 0, &tx), NULL);

	/* Nothing happens yet ... */
	xv_device_query_gid(tx, 1, attr.sgid_index, &gid);
	xv_pd_create(tx, &pd);
	xv_mr_create(tx, &mr, XV_OPTS(xv_mr_opts, .pd = &pd, .addr = buf, .length = sizeof(buf),
				      .access = XV_ACCESS_LOCAL_WRITE));
	xv_cq_create(tx, &cq, XV_OPTS(xv_cq_opts, .cqe = 16));
	for (i = 0; i < 2; i++)
		xv_qp_create(tx, &qp[i], XV_OPTS(xv_qp_opts, .pd = &pd, .send_cq = &cq,
						 .send_wr = 1, .recv_wr = 1));
	xv_recv_prep(&recv, 2);
	xv_recv_add_sge(&recv, xv_sge_at(&mr, buf[1], sizeof(buf[1])));
	xv_qp_post_recv(tx, &qp[1], &recv, 1);
	/* ... and now all of it does, or nothing. */
	check(xv_txn_commit(tx, NULL), tx);

	memcpy(attr.gid, gid.gid, sizeof(attr.gid));
	for (i = 0; i < 2; i++) {
		attr.qpn = qp[!i].info.qp_num;
		attr.psn = qp[!i].info.sq_psn;
		check(xv_qp_connect(xv_now(ctx), &qp[i], &attr), xv_now(ctx));
	}
	xv_send_prep_send(&send, 1, XV_SEND_SIGNALED, xv_sge_at(&mr, buf[0], sizeof(buf[0])));
	check(xv_post_send(&qp[0], &send, 1), NULL);
	check(xv_submit_and_wait(&qp[0], &cq, 2, 5000000000LL), NULL);
	n = xv_poll(&cq, wc, 2);
	for (i = 0; i < n; i++)
		printf("%s: %s\n", wc[i].flags & XV_WC_RECV ? "received" : "sent",
		       xv_wc_status_name(wc[i].status));
	printf("%s\n", buf[1]);

	/* Destroys may share one call too; here the file's end takes everything. */
	xv_txn_free(tx);
	xv_close(ctx);
	return n != 2 || wc[0].status || wc[1].status;
}
