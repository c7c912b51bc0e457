// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Listeners, and the requests that come to them.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * A request is answered inside the function that is told of it: accepted by the
 * program, or rejected by it or by us. None is forgotten.
 */
#include <stdlib.h>
#include <sys/socket.h>

#include "ctx.h"

struct xvm_request {
	struct xvm_listener *listener;
	uint64_t token;
	bool answered;
	struct xv_request_info info;
};

XVM_PUBLIC int xvm_listen(struct xvm_ctx *ctx,
			  const struct xvm_listen_opts *opts,
			  void (*fn)(struct xvm_listener *l,
				     struct xvm_request *req, void *user),
			  void *user, struct xvm_listener **out)
{
	XVM_KEEP_ERRNO;
	struct xvm_listener *l;
	int ret;

	if (!opts || opts->size != sizeof(*opts) || !opts->addr || !fn || !out)
		return -EINVAL;
	ctx->error[0] = 0;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->source.kind = XVM_LISTENER;
	l->ctx = ctx;
	l->fn = fn;
	l->user = user;
	ret = xv_listener_create(xv_now(ctx->xv), &l->l,
				 XV_OPTS(xv_listener_opts,
					 .eventq = &ctx->eq,
					 .cookie = (uintptr_t)l,
					 .addr = opts->addr,
					 .backlog = opts->backlog,
					 .reuse = opts->reuse));
	if (ret) {
		xvm_ctx_error(ctx, xv_now(ctx->xv), ret);
		free(l);
		return ret;
	}
	xvm_ctx_add(ctx, &l->source);
	*out = l;
	return 0;
}

XVM_PUBLIC int xvm_listener_address(const struct xvm_listener *l,
				    struct sockaddr_storage *addr)
{
	memset(addr, 0, sizeof(*addr));
	memcpy(addr, l->l.info.local, sizeof(l->l.info.local));
	return 0;
}

static void destroy(struct xvm_listener *l)
{
	int ret;

	if (!l->l.obj.handle)
		return;
	do
		ret = xv_listener_destroy(xv_now(l->ctx->xv), &l->l);
	while (ret == -EINTR);
}

void xvm_listener_free(struct xvm_listener *l)
{
	xvm_ctx_del(&l->source);
	destroy(l);
	free(l);
}

XVM_PUBLIC void xvm_listener_destroy(struct xvm_listener *l)
{
	XVM_KEEP_ERRNO;

	if (!l || l->dead)
		return;
	l->dead = true;
	/* From now on peers are refused, wherever we are called from. */
	destroy(l);
	if (!l->ctx->dispatching)
		xvm_listener_free(l);
}

/* ------------------------------------------------------------------------
 * Requests
 */

static int reject(struct xvm_request *req, enum xvw_fault fault,
		  const void *data, size_t len)
{
	struct xvm_listener *l = req->listener;
	uint8_t private[XV_PRIVATE_REJECT];

	xvw_put_token(private, fault);
	if (len)
		memcpy(private + XVW_TOKEN_LEN, data, len);
	return xv_listener_reject(xv_now(l->ctx->xv), &l->l, req->token,
				  private, XVW_TOKEN_LEN + len);
}

XVM_PUBLIC int xvm_reject(struct xvm_request *req, const void *data,
			  size_t len)
{
	XVM_KEEP_ERRNO;
	int ret;

	if (len > XVM_REJECT_DATA || (len && !data))
		return -EINVAL;
	if (req->answered)
		return -EALREADY;
	if (req->listener->dead)
		return -ECONNABORTED;
	ret = reject(req, XVW_FAULT_NONE, data, len);
	/* Whether the peer is there to hear it is not our business. */
	req->answered = true;
	return ret == -ENOENT ? -ECONNABORTED : ret;
}

XVM_PUBLIC int xvm_accept(struct xvm_request *req,
			  const struct xvm_channel_opts *opts,
			  const struct xvm_ops *ops, void *user,
			  struct xvm_channel **ch)
{
	XVM_KEEP_ERRNO;
	const struct xvm_way way = {
		.listener = &req->listener->l,
		.token = req->token,
	};
	int ret;

	if (!ch)
		return -EINVAL;
	if (req->answered)
		return -EALREADY;
	if (req->listener->dead)
		return -ECONNABORTED;
	ret = xvm_link_make(req->listener->ctx, opts, &way, ops, user, ch);
	if (!ret)
		req->answered = true;
	return ret == -ENOENT ? -ECONNABORTED : ret;
}

XVM_PUBLIC int xvm_request_data(const struct xvm_request *req, void *buf,
				size_t len)
{
	size_t have = req->info.private_len - XVW_TOKEN_LEN;

	if (len > have)
		len = have;
	if (len)
		memcpy(buf, req->info.private_data + XVW_TOKEN_LEN, len);
	return have;
}

XVM_PUBLIC int xvm_request_address(const struct xvm_request *req,
				   struct sockaddr_storage *remote)
{
	memset(remote, 0, sizeof(*remote));
	memcpy(remote, req->info.remote, sizeof(req->info.remote));
	return 0;
}

void xvm_listener_event(struct xvm_listener *l, const struct xv_event *ev)
{
	struct xvm_request req = { .listener = l, .token = ev->data };
	enum xvw_fault fault, said;
	int ret;

	if (l->dead || ev->type != XV_EV_CONNECT_REQUEST)
		return;
	ret = xv_listener_query_request(xv_now(l->ctx->xv), &l->l, req.token,
					&req.info);
	/* The peer may have given up. */
	if (ret == -ENOENT)
		return;
	if (ret || req.info.private_len > sizeof(req.info.private_data)) {
		reject(&req, XVW_FAULT_NONE, NULL, 0);
		return;
	}
	fault = xvw_parse_token(req.info.private_data, req.info.private_len,
				&said);
	if (!fault && said)
		fault = XVW_FAULT_RESERVED;
	if (fault) {
		l->ctx->past.faults[fault]++;
		reject(&req, fault, NULL, 0);
		return;
	}
	l->fn(l, &req, l->user);
	if (!req.answered && !l->dead)
		reject(&req, XVW_FAULT_NONE, NULL, 0);
}
