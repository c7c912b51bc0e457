// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The program of Documentation/tutorial.rst, which explains it piece by piece:
 * a message to a second queue pair and its echo, with events, error texts,
 * one call that takes everything away, and a device that goes.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * usage: xv_echo [DEVICE [GID-INDEX [wait]]]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xverbs.h>

enum { CLIENT, SERVER, NUM_SIDES };

struct side {
	struct xv_qp qp;
	char out[64];
	char in[64];
};

static struct xv_ctx *ctx;
static struct xv_eventq eq;
static struct xv_pd pd;
static struct xv_mr mr;
static struct xv_cq cq;
static struct side sides[NUM_SIDES];

static int failed(const char *what, int ret)
{
	fprintf(stderr, "xv_echo: %s: %s\n", what, strerror(-ret));
	return ret;
}

static int failed_txn(const struct xv_tx *tx, int ret)
{
	char text[256];

	xv_error_text(ctx, tx, xv_txn_error(tx), text, sizeof(text));
	fprintf(stderr, "xv_echo: %s\n", text);
	return ret;
}

static int set_up(struct xv_tx *tx, unsigned int gid_index, uint8_t *gid)
{
	struct xv_gid_info info;
	struct xv_recv recv;
	int i, ret;

	xv_device_query_gid(tx, 1, gid_index, &info);
	xv_eventq_create(tx, &eq);
	xv_pd_create(tx, &pd);
	xv_mr_create(tx, &mr, XV_OPTS(xv_mr_opts, .pd = &pd, .addr = sides,
				      .length = sizeof(sides),
				      .access = XV_ACCESS_LOCAL_WRITE));
	xv_cq_create(tx, &cq, XV_OPTS(xv_cq_opts, .cqe = 16, .eventq = &eq));

	for (i = 0; i < NUM_SIDES; i++) {
		struct side *s = &sides[i];

		xv_qp_create(tx, &s->qp, XV_OPTS(xv_qp_opts, .pd = &pd,
						 .send_cq = &cq, .eventq = &eq,
						 .send_wr = 4, .recv_wr = 4));
		xv_recv_prep(&recv, i);
		xv_recv_add_sge(&recv, xv_sge_at(&mr, s->in, sizeof(s->in)));
		xv_qp_post_recv(tx, &s->qp, &recv, 1);
	}

	ret = xv_txn_commit(tx, NULL);
	if (ret)
		return failed_txn(tx, ret);
	memcpy(gid, info.gid, sizeof(info.gid));
	return 0;
}

static int connect_sides(unsigned int gid_index, const uint8_t *gid)
{
	struct xv_qp_attr attr = { .size = sizeof(attr), .sgid_index = gid_index };
	struct xv_tx *batch;
	int i, ret;

	ret = xv_txn_begin(ctx, XV_TXN_F_BATCH, &batch);
	if (ret)
		return failed("xv_txn_begin", ret);
	memcpy(attr.gid, gid, sizeof(attr.gid));
	for (i = 0; i < NUM_SIDES; i++) {
		attr.qpn = sides[!i].qp.info.qp_num;
		attr.psn = sides[!i].qp.info.sq_psn;
		xv_qp_connect(batch, &sides[i].qp, &attr);
	}
	ret = xv_txn_commit(batch, NULL);
	if (ret != NUM_SIDES)
		ret = failed_txn(batch, ret < 0 ? ret : -EIO);
	xv_txn_free(batch);
	return ret < 0 ? ret : 0;
}

static int send_text(struct side *s, const char *text, size_t len)
{
	struct xv_send *send = xv_get_send(&s->qp);

	if (!send)
		return failed("send queue", -EAGAIN);
	memcpy(s->out, text, len);
	xv_send_prep_send(send, 0, XV_SEND_SIGNALED, xv_sge_at(&mr, s->out, len));
	return xv_submit(&s->qp);
}

static int next_event(struct xv_event *ev)
{
	int ret;

	do
		ret = xv_event_read(&eq, ev, 1);
	while (ret == -EINTR);
	if (ret < 0)
		return ret;
	return ret ? 0 : -EBADF;
}

static int handle(const struct xv_wc *wc, int *done)
{
	if (wc->status) {
		fprintf(stderr, "xv_echo: %s: %s\n", wc->flags & XV_WC_RECV ? "receive" : "send",
			xv_wc_status_name(wc->status));
		return -EIO;
	}
	if (!(wc->flags & XV_WC_RECV))
		return 0;
	if (wc->qp == sides[SERVER].qp.obj.handle)
		return send_text(&sides[SERVER], sides[SERVER].in, wc->byte_len);
	printf("echo: %s\n", sides[CLIENT].in);
	*done = 1;
	return 0;
}

static int wait_for_echo(void)
{
	struct xv_event ev;
	struct xv_wc wc[4];
	int i, n, ret, done = 0;

	while (!done) {
		ret = xv_arm(&cq);
		if (!ret)
			ret = next_event(&ev);
		if (ret)
			return failed("event", ret);
		if (ev.type != XV_EV_COMPLETION) {
			fprintf(stderr, "xv_echo: event %u\n", ev.type);
			return -EIO;
		}
		n = xv_poll(&cq, wc, 4);
		if (n < 0)
			return failed("xv_poll", n);
		for (i = 0; i < n; i++) {
			ret = handle(&wc[i], &done);
			if (ret)
				return ret;
		}
	}
	return 0;
}

static int wait_for_removal(void)
{
	struct xv_event ev;
	int ret;

	printf("waiting for the device to go\n");
	fflush(stdout);
	do {
		ret = next_event(&ev);
		if (ret)
			return failed("event", ret);
	} while (ev.type != XV_EV_DEVICE_REMOVED);
	ret = next_event(&ev);
	if (ret != -ENODEV)
		return failed("after the last event", ret);
	ret = xv_pd_query(xv_now(ctx), &pd, &(struct xv_pd_info){});
	if (ret != -ENODEV)
		return failed("query", ret);
	return 0;
}

static int clean_up(struct xv_tx *tx)
{
	int ret;

	xv_pd_destroy(tx, &pd);
	xv_mr_destroy(tx, &mr);
	xv_cq_destroy(tx, &cq);
	xv_qp_destroy(tx, &sides[CLIENT].qp);
	xv_qp_destroy(tx, &sides[SERVER].qp);
	ret = xv_txn_commit(tx, NULL);
	if (ret)
		failed_txn(tx, ret);
	xv_eventq_close(&eq);
	return ret;
}

int main(int argc, char **argv)
{
	unsigned int gid_index = argc > 2 ? atoi(argv[2]) : 0;
	const char *device = argc > 1 ? argv[1] : NULL;
	struct xv_tx *tx;
	uint8_t gid[16];
	int ret;

	ret = xv_open(device, 0, &ctx);
	if (ret) {
		if (ret == -ENODEV && !device)
			fprintf(stderr, "xv_echo: no device: is xverbs.ko loaded, and is there an RDMA device? (see README)\n");
		else
			failed(device ? device : "xv_open", ret);
		return 1;
	}
	ret = xv_txn_begin(ctx, 0, &tx);
	if (ret) {
		failed("xv_txn_begin", ret);
		goto out_close;
	}

	ret = set_up(tx, gid_index, gid);
	if (ret)
		goto out_free;
	ret = connect_sides(gid_index, gid);
	if (!ret)
		ret = send_text(&sides[CLIENT], "hello", sizeof("hello"));
	if (!ret)
		ret = wait_for_echo();
	if (!ret && argc > 3)
		ret = wait_for_removal();
	if (clean_up(tx))
		ret = -EIO;

out_free:
	xv_txn_free(tx);
out_close:
	xv_close(ctx);
	return ret ? 1 : 0;
}
