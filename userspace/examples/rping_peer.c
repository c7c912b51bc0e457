// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * xv_rping: one connection, its pings and pongs; see xv_rping.c.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <limits.h>
#include "rping.h"

/* What a ping may have outstanding: a message and a read or write. */
#define SENDS		4
#define RECVS		2

/* As it is sent: big endian. */
struct info {
	uint64_t addr;
	uint32_t rkey;
	uint32_t size;
};

/* Memory of a connection, registered as a whole. */
struct memory {
	struct info out;
	struct info in[RECVS];
	char ping[MAX_SIZE + 1];	/* server: read from the client */
	char pong[MAX_SIZE + 1];	/* client only: written by the server */
};

int make_peer(struct peer **out, const struct sockaddr *dst,
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

void free_peer(struct peer *p)
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
int start_ping(struct peer *p)
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
int send_and_arm(struct peer *p)
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
int serve(struct peer *p)
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
void give_up(struct peer *p)
{
	p->failed = true;
	xv_conn_disconnect(xv_now(ctx), &p->conn);
}
