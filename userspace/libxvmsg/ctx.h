/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What binds channels to libxverbs: contexts, links, listeners.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 *	ctx.c		the context: file descriptor, dispatch, time
 *	link.c		the transport of one channel
 *	listen.c	listeners and requests
 *
 * Nothing is freed while events are being handled: what the program destroys
 * then is only marked, and goes at the end of the dispatch. So a pointer in an
 * event that was read is good.
 */
#ifndef _XVM_CTX_H
#define _XVM_CTX_H

#include <xverbs.h>

#include "chan.h"

enum xvm_source_kind { XVM_LINK, XVM_LISTENER };

/* What the cookie of an event points to. */
struct xvm_source {
	enum xvm_source_kind kind;
	struct xvm_source *next;
	struct xvm_source **prev;
};

struct xvm_ctx {
	struct xv_ctx *xv;
	struct xv_eventq eq;
	struct xv_pd pd;
	bool iwarp;
	bool removed;
	int epfd;
	int timerfd;
	uint64_t timer_at;
	bool dispatching;
	bool gone;
	struct xvm_source *sources;
	struct xvm_counters past;	/* of channels that are gone */
	char error[256];
};

struct xvm_link {
	struct xvm_source source;
	struct xvm_ctx *ctx;
	struct xvm_channel *ch;
	struct xv_cq cq;
	struct xv_mr mr;
	struct xv_qp qp;
	struct xv_conn conn;
	uint8_t *mem;
	size_t mem_len;
	uint8_t *slots;
	uint8_t *pool;
	uint32_t num_recvs;
	uint32_t posted;
	bool made;		/* the objects exist */
	bool dead;		/* destroyed by the program */
	bool run;		/* a pass is due */
	bool lost;		/* no event will tell the end */
	bool dirty;		/* entries are ready in the rings */
	bool arm;
	uint32_t reject_len;
	uint8_t reject[XV_PRIVATE_REJECT];
};

struct xvm_listener {
	struct xvm_source source;
	struct xvm_ctx *ctx;
	struct xv_listener l;
	void (*fn)(struct xvm_listener *l, struct xvm_request *req,
		   void *user);
	void *user;
	bool dead;
};

/* What the program says with a connect or reject lies behind a token. */
_Static_assert(XVM_CONNECT_DATA + XVW_TOKEN_LEN <= XV_PRIVATE_REQUEST &&
	       XVM_REJECT_DATA + XVW_TOKEN_LEN <= XV_PRIVATE_REJECT,
	       "private data");

/* ---- ctx.c ---- */
uint64_t xvm_now(void);
void xvm_ctx_add(struct xvm_ctx *ctx, struct xvm_source *s);
void xvm_ctx_del(struct xvm_source *s);
/* Dispatch at that time, at the latest; 0: at once. */
void xvm_ctx_wake(struct xvm_ctx *ctx, uint64_t at);
/* Keep what libxverbs says about a failed transaction. */
int xvm_ctx_error(struct xvm_ctx *ctx, const struct xv_tx *tx, int ret);
/* Add up counters. */
void xvm_count_add(struct xvm_counters *sum, const struct xvm_counters *c);

/* ---- link.c ---- */

/* Where to connect to, or which request to accept. */
struct xvm_way {
	const struct sockaddr *dst;
	const struct sockaddr *src;
	struct xv_listener *listener;
	uint64_t token;
	const void *data;
	size_t data_len;
};

int xvm_link_make(struct xvm_ctx *ctx, const struct xvm_channel_opts *opts,
		  const struct xvm_way *way, const struct xvm_ops *ops,
		  void *user, struct xvm_channel **ch);
void xvm_link_event(struct xvm_link *l, const struct xv_event *ev);
/* The device is gone. */
void xvm_link_removed(struct xvm_link *l);
/* A pass, if it is due. */
void xvm_link_run(struct xvm_link *l, uint64_t now);
/* The objects go; the memory too unless the kernel did not let them go. */
void xvm_link_free(struct xvm_link *l);

/* ---- listen.c ---- */
void xvm_listener_event(struct xvm_listener *l, const struct xv_event *ev);
void xvm_listener_free(struct xvm_listener *l);

#endif /* _XVM_CTX_H */
