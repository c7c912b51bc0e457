// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The context: one device, one event queue, one file descriptor to wait for.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "ctx.h"

/* Events that one dispatch handles. */
#define MAX_EVENTS	32

/* ------------------------------------------------------------------------
 * Time
 */

uint64_t xvm_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	/* 0 means "never" elsewhere. */
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000 + 1;
}

void xvm_ctx_wake(struct xvm_ctx *ctx, uint64_t at)
{
	struct itimerspec its = { .it_value.tv_nsec = 1 };

	/* At the end of a dispatch the earliest time is looked for anyway. */
	if (ctx->dispatching && at)
		return;
	if (ctx->timer_at && at >= ctx->timer_at)
		return;
	ctx->timer_at = at ? at : 1;
	if (at) {
		its.it_value.tv_sec = (at - 1) / 1000;
		its.it_value.tv_nsec = (at - 1) % 1000 * 1000000;
	}
	timerfd_settime(ctx->timerfd, TFD_TIMER_ABSTIME, &its, NULL);
}

/* ------------------------------------------------------------------------
 * Small things
 */

void xvm_ctx_add(struct xvm_ctx *ctx, struct xvm_source *s)
{
	s->next = ctx->sources;
	s->prev = &ctx->sources;
	if (s->next)
		s->next->prev = &s->next;
	ctx->sources = s;
}

void xvm_ctx_del(struct xvm_source *s)
{
	*s->prev = s->next;
	if (s->next)
		s->next->prev = s->prev;
}

int xvm_ctx_error(struct xvm_ctx *ctx, const struct xv_tx *tx, int ret)
{
	if (ret < 0)
		xv_error_text(ctx->xv, tx, xv_txn_error(tx), ctx->error,
			      sizeof(ctx->error));
	return ret;
}

XVM_PUBLIC const char *xvm_error_text(const struct xvm_ctx *ctx)
{
	return ctx->error;
}

XVM_PUBLIC int xvm_fd(const struct xvm_ctx *ctx)
{
	return ctx->epfd;
}

static struct xvm_link *as_link(struct xvm_source *s)
{
	return s->kind == XVM_LINK ? (struct xvm_link *)s : NULL;
}

/* ------------------------------------------------------------------------
 * Life
 */

static int watch_fd(struct xvm_ctx *ctx, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };

	return epoll_ctl(ctx->epfd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int make_objects(struct xvm_ctx *ctx)
{
	struct xv_device_info info;
	struct xv_tx *tx;
	int ret;

	ret = xv_txn_begin(ctx->xv, 0, &tx);
	if (ret)
		return ret;
	xv_device_query(tx, &info);
	xv_eventq_create(tx, &ctx->eq);
	xv_pd_create(tx, &ctx->pd);
	ret = xv_txn_commit(tx, NULL);
	xv_txn_free(tx);
	if (!ret)
		ctx->iwarp = info.flags & XV_DEVICE_F_IWARP;
	return ret;
}

static int make_fds(struct xvm_ctx *ctx)
{
	int flags, ret;

	ctx->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (ctx->epfd < 0)
		return -errno;
	ctx->timerfd = timerfd_create(CLOCK_MONOTONIC,
				      TFD_CLOEXEC | TFD_NONBLOCK);
	if (ctx->timerfd < 0)
		return -errno;
	flags = fcntl(ctx->eq.fd, F_GETFL);
	if (flags < 0 || fcntl(ctx->eq.fd, F_SETFL, flags | O_NONBLOCK))
		return -errno;
	ret = watch_fd(ctx, ctx->timerfd);
	return ret ? ret : watch_fd(ctx, ctx->eq.fd);
}

static void free_ctx(struct xvm_ctx *ctx)
{
	if (ctx->timerfd >= 0)
		close(ctx->timerfd);
	if (ctx->epfd >= 0)
		close(ctx->epfd);
	xv_eventq_close(&ctx->eq);
	/* Whatever the kernel did not let go goes with the file. */
	xv_close(ctx->xv);
	free(ctx);
}

XVM_PUBLIC int xvm_open(const char *device, int flags, struct xvm_ctx **out)
{
	XVM_KEEP_ERRNO;
	struct xvm_ctx *ctx;
	int ret;

	if (flags)
		return -EINVAL;
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	ctx->epfd = -1;
	ctx->timerfd = -1;
	ret = xv_open(device, 0, &ctx->xv);
	if (ret) {
		free(ctx);
		return ret;
	}
	ret = make_objects(ctx);
	if (!ret)
		ret = make_fds(ctx);
	if (ret) {
		free_ctx(ctx);
		return ret;
	}
	*out = ctx;
	return 0;
}

static void free_source(struct xvm_source *s)
{
	if (s->kind == XVM_LINK)
		xvm_link_free((struct xvm_link *)s);
	else
		xvm_listener_free((struct xvm_listener *)s);
}

XVM_PUBLIC void xvm_close(struct xvm_ctx *ctx)
{
	XVM_KEEP_ERRNO;
	struct xvm_source *s;
	struct xvm_link *l;

	if (!ctx || ctx->gone)
		return;
	ctx->gone = true;
	for (s = ctx->sources; s; s = s->next) {
		l = as_link(s);
		if (l)
			l->ch->dead = true;
	}
	if (ctx->dispatching)
		return;
	while (ctx->sources)
		free_source(ctx->sources);
	free_ctx(ctx);
}

/* ------------------------------------------------------------------------
 * Dispatch
 */

static void device_removed(struct xvm_ctx *ctx)
{
	struct xvm_source *s;
	struct xvm_link *l;

	if (ctx->removed)
		return;
	ctx->removed = true;
	/* It would be readable for ever. */
	epoll_ctl(ctx->epfd, EPOLL_CTL_DEL, ctx->eq.fd, NULL);
	for (s = ctx->sources; s && !ctx->gone; s = s->next) {
		l = as_link(s);
		if (l && !l->dead)
			xvm_link_removed(l);
	}
}

static void handle(struct xvm_ctx *ctx, const struct xv_event *ev)
{
	struct xvm_source *s = (void *)(uintptr_t)ev->cookie;

	if (ev->type == XV_EV_DEVICE_REMOVED)
		device_removed(ctx);
	else if (!s)
		return;
	else if (s->kind == XVM_LINK)
		xvm_link_event((struct xvm_link *)s, ev);
	else
		xvm_listener_event((struct xvm_listener *)s, ev);
}

/* Passes that are due, and those that are marked as dead go. */
static void run_and_reap(struct xvm_ctx *ctx)
{
	struct xvm_source *s, *next;
	uint64_t at, earliest = 0, now = xvm_now();
	struct xvm_link *l;

	for (s = ctx->sources; s && !ctx->gone; s = s->next) {
		l = as_link(s);
		if (l && !l->dead)
			xvm_link_run(l, now);
	}
	ctx->dispatching = false;
	for (s = ctx->sources; s && !ctx->gone; s = next) {
		next = s->next;
		l = as_link(s);
		if (l ? l->dead : ((struct xvm_listener *)s)->dead) {
			free_source(s);
			continue;
		}
		if (!l)
			continue;
		at = l->run ? 1 : xvm_chan_deadline(l->ch);
		if (at && (!earliest || at < earliest))
			earliest = at;
	}
	if (earliest && !ctx->gone)
		xvm_ctx_wake(ctx, earliest);
}

XVM_PUBLIC int xvm_dispatch(struct xvm_ctx *ctx)
{
	XVM_KEEP_ERRNO;
	struct xv_event ev[MAX_EVENTS];
	uint64_t ticks;
	int i, n, ret;

	if (ctx->dispatching || ctx->gone)
		return -EBUSY;
	if (ctx->removed && !ctx->timer_at)
		return -ENODEV;
	ctx->dispatching = true;
	if (read(ctx->timerfd, &ticks, sizeof(ticks)) == sizeof(ticks))
		ctx->timer_at = 0;
	n = ctx->removed ? -ENODEV :
	    xv_event_read(&ctx->eq, ev, MAX_EVENTS);
	ret = n < 0 && n != -EAGAIN && n != -EINTR && !ctx->removed ? n : 0;
	if (n == -ENODEV)
		device_removed(ctx);
	for (i = 0; i < n && !ctx->gone; i++)
		handle(ctx, &ev[i]);
	run_and_reap(ctx);
	if (ctx->gone) {
		while (ctx->sources)
			free_source(ctx->sources);
		free_ctx(ctx);
		return 0;
	}
	return ret == -ENODEV ? 0 : ret;
}

/* ------------------------------------------------------------------------
 * Counters
 */

static void add_max(uint64_t *sum, uint64_t val)
{
	if (val > *sum)
		*sum = val;
}

void xvm_count_add(struct xvm_counters *sum, const struct xvm_counters *c)
{
	const size_t first = offsetof(struct xvm_counters, messages_out);
	const size_t n = (sizeof(*sum) - first) / sizeof(uint64_t);
	uint64_t *to = (uint64_t *)((uint8_t *)sum + first);
	const uint64_t *from = (const uint64_t *)((const uint8_t *)c + first);
	uint64_t peak = sum->queue_peak, peak_bytes = sum->queue_peak_bytes;
	size_t i;

	for (i = 0; i < n; i++)
		to[i] += from[i];
	sum->queue_peak = peak;
	sum->queue_peak_bytes = peak_bytes;
	add_max(&sum->queue_peak, c->queue_peak);
	add_max(&sum->queue_peak_bytes, c->queue_peak_bytes);
}

XVM_PUBLIC int xvm_get_totals(const struct xvm_ctx *ctx,
			      struct xvm_counters *counters)
{
	struct xvm_source *s;
	struct xvm_link *l;

	if (counters->size != sizeof(*counters))
		return -EINVAL;
	*counters = ctx->past;
	counters->size = sizeof(*counters);
	for (s = ctx->sources; s; s = s->next) {
		l = as_link(s);
		if (l)
			xvm_count_add(counters, &l->ch->count);
	}
	return 0;
}
