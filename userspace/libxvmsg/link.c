// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The transport of one channel: a queue pair with a connection, its completion
 * queue, and one piece of registered memory, made and destroyed in one
 * transaction each.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * The memory has receive buffers, then slots for frames that go out, then send
 * buffers, each as long as a fragment.
 */
#include <stdlib.h>
#include <sys/socket.h>

#include "ctx.h"

/* First receives that fit a transaction with all the rest. */
#define FIRST_RECVS	512
/* Completions of one channel that one event gets. */
#define BUDGET		64
#define PAGE		4096

/* ------------------------------------------------------------------------
 * What the channel wants
 */

static int ops_post(struct xvm_link *l, void *slot, size_t len,
		    const void *data, size_t data_len, unsigned int flags)
{
	struct xv_send *s = xv_get_send(&l->qp);

	if (!s)
		return -EIO;
	xv_send_prep_send(s, l->posted++,
			  flags & XVM_POST_SIGNAL ? XV_SEND_SIGNALED : 0,
			  xv_sge_at(&l->mr, slot, len));
	if (data_len)
		xv_send_add_sge(s, xv_sge_at(&l->mr, data, data_len));
	return 0;
}

/*
 * What the peer's device answers without its program: a write of nothing.
 * iWARP acknowledges no writes, but it answers reads.
 */
static int ops_probe(struct xvm_link *l)
{
	struct xv_send *s = xv_get_send(&l->qp);

	if (!s)
		return -EIO;
	xv_send_prep(s, l->ctx->iwarp ? XV_WR_RDMA_READ : XV_WR_RDMA_WRITE,
		     l->posted++, XV_SEND_SIGNALED);
	return 0;
}

static int ops_flush(struct xvm_link *l)
{
	if (!xv_sends_ready(&l->qp) && !xv_recvs_ready(&l->qp))
		return 0;
	/* Inside a dispatch one call does it with the rest. */
	if (l->ctx->dispatching) {
		l->dirty = true;
		return 0;
	}
	return xv_submit(&l->qp);
}

static void ops_disconnect(struct xvm_link *l)
{
	if (!l->made || xv_conn_disconnect(xv_now(l->ctx->xv), &l->conn)) {
		l->lost = true;
		l->run = true;
		xvm_ctx_wake(l->ctx, 0);
	}
}

static uint64_t ops_now(struct xvm_link *l)
{
	(void)l;
	return xvm_now();
}

static void ops_wake(struct xvm_link *l, uint64_t at)
{
	if (!at)
		l->run = true;
	xvm_ctx_wake(l->ctx, at);
}

static void ops_gone(struct xvm_link *l)
{
	l->dead = true;
	if (!l->ctx->dispatching)
		xvm_link_free(l);
}

static const struct xvm_link_ops link_ops = {
	.post = ops_post,
	.probe = ops_probe,
	.flush = ops_flush,
	.disconnect = ops_disconnect,
	.now = ops_now,
	.wake = ops_wake,
	.gone = ops_gone,
};

/* ------------------------------------------------------------------------
 * Life
 */

static void prep_recv(const struct xvm_link *l, struct xv_recv *r, uint32_t i)
{
	uint32_t bytes = l->ch->cfg.fragment;

	xv_recv_prep(r, i);
	xv_recv_add_sge(r, xv_sge_at(&l->mr, l->mem + (size_t)i * bytes,
				     bytes));
}

static int get_memory(struct xvm_link *l, const struct xvm_channel_opts *cfg)
{
	size_t n;

	l->num_recvs = cfg->window + XVW_RESERVE + 1;
	n = (size_t)l->num_recvs + cfg->slots + cfg->send_bufs;
	l->mem_len = (n * cfg->fragment + PAGE - 1) / PAGE * PAGE;
	l->mem = aligned_alloc(PAGE, l->mem_len);
	if (!l->mem)
		return -ENOMEM;
	l->slots = l->mem + (size_t)l->num_recvs * cfg->fragment;
	l->pool = l->slots + (size_t)cfg->slots * cfg->fragment;
	return 0;
}

static void add_conn(struct xvm_link *l, struct xv_tx *tx,
		     const struct xvm_way *way)
{
	uint8_t private[XV_PRIVATE_REQUEST];
	struct xv_conn_opts o = {
		.size = sizeof(o),
		.establish_ms = l->ch->cfg.establish_ms,
		.qp = &l->qp,
		.eventq = &l->ctx->eq,
		.cookie = (uintptr_t)l,
		.dst = way->dst,
		.src = way->src,
		.listener = way->listener,
		.token = way->token,
		.rd_atomic = 1,
		.dest_rd_atomic = 1,
	};

	if (way->dst) {
		xvw_put_token(private, XVW_FAULT_NONE);
		if (way->data_len)
			memcpy(private + XVW_TOKEN_LEN, way->data,
			       way->data_len);
		o.private_data = private;
		o.private_len = XVW_TOKEN_LEN + way->data_len;
	}
	xv_conn_create(tx, &l->conn, &o);
}

static int make_objects(struct xvm_link *l, const struct xvm_way *way)
{
	const struct xvm_channel_opts *cfg = &l->ch->cfg;
	uint32_t i, first = l->num_recvs;
	struct xv_recv *recvs;
	struct xv_tx *tx;
	int ret;

	if (first > FIRST_RECVS)
		first = FIRST_RECVS;
	recvs = calloc(first, sizeof(*recvs));
	if (!recvs)
		return -ENOMEM;
	ret = xv_txn_begin(l->ctx->xv, 0, &tx);
	if (ret) {
		free(recvs);
		return ret;
	}
	xv_cq_create(tx, &l->cq, XV_OPTS(xv_cq_opts,
					 .cqe = cfg->slots + l->num_recvs,
					 .eventq = &l->ctx->eq,
					 .cookie = (uintptr_t)l));
	xv_mr_create(tx, &l->mr, XV_OPTS(xv_mr_opts, .pd = &l->ctx->pd,
					 .addr = l->mem, .length = l->mem_len,
					 .access = XV_ACCESS_LOCAL_WRITE));
	/* The peer may write, but nothing is registered for that. */
	xv_qp_create(tx, &l->qp, XV_OPTS(xv_qp_opts, .pd = &l->ctx->pd,
					 .send_cq = &l->cq,
					 .send_wr = cfg->slots,
					 .recv_wr = l->num_recvs,
					 .send_sge = 2,
					 .access = l->ctx->iwarp ?
						   XV_ACCESS_REMOTE_READ :
						   XV_ACCESS_REMOTE_WRITE));
	for (i = 0; i < first; i++)
		prep_recv(l, &recvs[i], i);
	xv_qp_post_recv(tx, &l->qp, recvs, first);
	add_conn(l, tx, way);
	ret = xvm_ctx_error(l->ctx, tx, xv_txn_commit(tx, NULL));
	xv_txn_free(tx);
	free(recvs);
	if (ret)
		return ret;
	l->made = true;
	for (; i < l->num_recvs; i++) {
		struct xv_recv *r = xv_get_recv(&l->qp);

		if (!r)
			return -EIO;
		prep_recv(l, r, i);
	}
	return 0;
}

/* Submit what is ready, and ask for an event. */
static int enter(struct xvm_link *l)
{
	struct xv_qp *qp = &l->qp;
	struct xv_enter_qp res;
	int ret;

	ret = xv_enter(l->ctx->xv, &qp, &res, 1, &l->cq, 0, 0, XV_ENTER_F_ARM,
		       NULL);
	l->dirty = false;
	l->arm = false;
	return ret ? ret : -qp->err;
}

int xvm_link_make(struct xvm_ctx *ctx, const struct xvm_channel_opts *opts,
		  const struct xvm_way *way, const struct xvm_ops *ops,
		  void *user, struct xvm_channel **ch)
{
	struct xvm_channel_opts cfg;
	struct xvm_link *l;
	int ret;

	ctx->error[0] = 0;
	ret = xvm_get_channel_opts(&cfg, opts);
	if (ret)
		return ret;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->source.kind = XVM_LINK;
	l->ctx = ctx;
	ret = get_memory(l, &cfg);
	if (!ret)
		ret = xvm_chan_new(&l->ch, &cfg, way->dst, ops, user,
				   &link_ops, l, l->slots, l->pool);
	if (ret) {
		free(l->mem);
		free(l);
		return ret;
	}
	xvm_ctx_add(ctx, &l->source);
	ret = make_objects(l, way);
	if (!ret)
		ret = xvm_chan_start(l->ch);
	if (!ret)
		ret = enter(l);
	if (ret) {
		xvm_link_free(l);
		return ret;
	}
	*ch = l->ch;
	return 0;
}

static int destroy_objects(struct xvm_link *l)
{
	struct xv_tx *tx;
	int ret;

	ret = xv_txn_begin(l->ctx->xv, 0, &tx);
	if (ret)
		return ret;
	do {
		xv_conn_destroy(tx, &l->conn);
		xv_qp_destroy(tx, &l->qp);
		xv_mr_destroy(tx, &l->mr);
		xv_cq_destroy(tx, &l->cq);
		ret = xv_txn_commit(tx, NULL);
	} while (ret == -EINTR);
	xv_txn_free(tx);
	return ret;
}

void xvm_link_free(struct xvm_link *l)
{
	xvm_ctx_del(&l->source);
	xvm_count_add(&l->ctx->past, &l->ch->count);
	xvm_chan_free(l->ch);
	/*
	 * If the kernel keeps them the device may still write there: better some
	 * memory less than somebody else's data changed.
	 */
	if (l->made && destroy_objects(l))
		return;
	free(l->mem);
	free(l);
}

/* ------------------------------------------------------------------------
 * Completions
 */

static void repost(struct xvm_link *l, uint32_t i)
{
	struct xv_recv *r = xv_get_recv(&l->qp);

	/* There is a place: this one has just ended. */
	if (!r)
		return;
	prep_recv(l, r, i);
	l->dirty = true;
}

static int status_errno(unsigned int status)
{
	return status == XV_WC_RETRY_EXC_ERR ? ETIMEDOUT : ECONNABORTED;
}

static void take_wc(struct xvm_link *l, const struct xv_wc *wc)
{
	struct xvm_channel *ch = l->ch;

	/* What ends with the connection: an event tells of that. */
	if (wc->status == XV_WC_FLUSH_ERR)
		return;
	if (wc->status) {
		xvm_chan_fail(ch, status_errno(wc->status));
		return;
	}
	if (!(wc->flags & XV_WC_RECV)) {
		xvm_chan_posted(ch, (uint32_t)wc->wr_id + 1);
		return;
	}
	/* No frame comes with immediate data. */
	if (wc->flags & (XV_WC_WITH_IMM | XV_WC_RDMA))
		xvm_chan_fault(ch, XVW_FAULT_TYPE);
	else
		xvm_chan_frame(ch, l->mem + (size_t)wc->wr_id *
			       ch->cfg.fragment, wc->byte_len);
	if (!ch->dead)
		repost(l, wc->wr_id);
}

/* Returns whether there may be more. */
static bool poll_cq(struct xvm_link *l)
{
	struct xv_wc wc[BUDGET];
	int i, n;

	n = xv_poll(&l->cq, wc, BUDGET);
	if (n < 0) {
		xvm_chan_fail(l->ch, -n);
		return false;
	}
	for (i = 0; i < n && !l->ch->dead; i++)
		take_wc(l, &wc[i]);
	return n == BUDGET && !l->ch->dead;
}

/* ------------------------------------------------------------------------
 * Events
 */

/* What the peer says with a reject: a token, and what its program wants. */
static int rejected(struct xvm_link *l, int err)
{
	struct xv_conn_info info;
	enum xvw_fault fault;

	if (err != ECONNREFUSED ||
	    xv_conn_query(xv_now(l->ctx->xv), &l->conn, &info) ||
	    info.private_len > sizeof(l->reject) ||
	    xvw_parse_token(info.private_data, info.private_len, &fault))
		return err;
	l->reject_len = info.private_len - XVW_TOKEN_LEN;
	memcpy(l->reject, info.private_data + XVW_TOKEN_LEN, l->reject_len);
	l->ch->peer_fault = fault;
	return fault == XVW_FAULT_VERSION ? EPROTONOSUPPORT : err;
}

static void ended(struct xvm_link *l, const struct xv_event *ev)
{
	int err = ev->data;

	/* All that came before it lies in the ring. */
	while (poll_cq(l))
		;
	if (ev->type == XV_EV_CONNECT_FAILED)
		err = rejected(l, err);
	xvm_chan_down(l->ch, err);
}

static void finish(struct xvm_link *l)
{
	int ret;

	xvm_chan_end(l->ch);
	if (l->dead || l->ch->state == XVM_CLOSED || (!l->dirty && !l->arm))
		return;
	ret = enter(l);
	if (ret)
		xvm_chan_fail(l->ch, -ret);
}

void xvm_link_event(struct xvm_link *l, const struct xv_event *ev)
{
	if (l->dead)
		return;
	xvm_chan_begin(l->ch);
	switch (ev->type) {
	case XV_EV_COMPLETION:
		poll_cq(l);
		l->arm = true;
		break;
	case XV_EV_ESTABLISHED:
		xvm_chan_up(l->ch);
		break;
	case XV_EV_CONNECT_FAILED:
	case XV_EV_DISCONNECTED:
		ended(l, ev);
		break;
	case XV_EV_CQ_ERROR:
		xvm_chan_fail(l->ch, ECONNABORTED);
		break;
	default:
		break;
	}
	finish(l);
}

void xvm_link_removed(struct xvm_link *l)
{
	xvm_chan_begin(l->ch);
	xvm_chan_down(l->ch, ENODEV);
	xvm_chan_end(l->ch);
}

void xvm_link_run(struct xvm_link *l, uint64_t now)
{
	uint64_t at = xvm_chan_deadline(l->ch);

	if (!l->run && (!at || at > now))
		return;
	l->run = false;
	xvm_chan_begin(l->ch);
	/* A program that has slept finds what has come meanwhile first. */
	if (at && at <= now)
		poll_cq(l);
	if (l->lost)
		xvm_chan_down(l->ch, ECONNABORTED);
	finish(l);
}

/* ------------------------------------------------------------------------
 * The rest of the interface
 */

XVM_PUBLIC int xvm_connect(struct xvm_ctx *ctx,
			   const struct xvm_connect_opts *opts,
			   const struct xvm_ops *ops, void *user,
			   struct xvm_channel **ch)
{
	XVM_KEEP_ERRNO;
	struct xvm_way way;

	if (!opts || opts->size != sizeof(*opts) || opts->reserved ||
	    !opts->dst || !ch || opts->data_len > XVM_CONNECT_DATA ||
	    (opts->data_len && !opts->data))
		return -EINVAL;
	way = (struct xvm_way){
		.dst = opts->dst,
		.src = opts->src,
		.data = opts->data,
		.data_len = opts->data_len,
	};
	return xvm_link_make(ctx, opts->channel, &way, ops, user, ch);
}

XVM_PUBLIC int xvm_get_addresses(const struct xvm_channel *ch,
				 struct sockaddr_storage *local,
				 struct sockaddr_storage *remote)
{
	XVM_KEEP_ERRNO;
	struct xvm_link *l = ch->link;
	struct xv_conn_info info;
	int ret;

	ret = xv_conn_query(xv_now(l->ctx->xv), &l->conn, &info);
	if (ret)
		return ret;
	if (local) {
		memset(local, 0, sizeof(*local));
		memcpy(local, info.local, sizeof(info.local));
	}
	if (remote) {
		memset(remote, 0, sizeof(*remote));
		memcpy(remote, info.remote, sizeof(info.remote));
	}
	return 0;
}

XVM_PUBLIC int xvm_get_reject_data(const struct xvm_channel *ch, void *buf,
				   size_t len)
{
	const struct xvm_link *l = ch->link;

	if (len > l->reject_len)
		len = l->reject_len;
	if (len)
		memcpy(buf, l->reject, len);
	return l->reject_len;
}
