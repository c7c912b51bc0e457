// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A channel: its life, its states, its time.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <stdlib.h>
#include <string.h>

#include "chan.h"

/* How long an ERROR may take to leave before the connection is cut. */
#define FAILING_MS	250

/* ------------------------------------------------------------------------
 * Options
 */

static bool is_zero(const void *mem, size_t len)
{
	const uint8_t *p = mem;

	while (len--)
		if (*p++)
			return false;
	return true;
}

static bool in_range(uint32_t *val, uint32_t def, uint32_t min, uint32_t max)
{
	if (!*val)
		*val = def;
	return *val >= min && *val <= max;
}

int xvm_get_channel_opts(struct xvm_channel_opts *cfg,
			 const struct xvm_channel_opts *opts)
{
	size_t size = opts ? opts->size : sizeof(*cfg);

	memset(cfg, 0, sizeof(*cfg));
	if (size < sizeof(cfg->size))
		return -EINVAL;
	/* A later program's struct may be longer, if it asks for nothing new. */
	if (size > sizeof(*cfg) &&
	    !is_zero((const uint8_t *)opts + sizeof(*cfg), size - sizeof(*cfg)))
		return -EINVAL;
	if (opts)
		memcpy(cfg, opts, size < sizeof(*cfg) ? size : sizeof(*cfg));
	cfg->size = sizeof(*cfg);
	if (cfg->flags & ~(XVM_F_NO_KEEPALIVE | XVM_F_NO_SEND_BUFS) ||
	    cfg->reserved)
		return -EINVAL;
	if (!in_range(&cfg->fragment, XVM_FRAGMENT, XVM_MIN_FRAGMENT,
		      XVM_MAX_FRAGMENT) ||
	    cfg->fragment % 16 ||
	    !in_range(&cfg->window, XVM_WINDOW, XVM_MIN_WINDOW,
		      XVM_MAX_WINDOW) ||
	    !in_range(&cfg->slots, XVM_SLOTS, XVM_MIN_SLOTS, XVM_MAX_SLOTS) ||
	    !in_range(&cfg->max_message, XVM_MESSAGE, 1, XVM_MAX_MESSAGE) ||
	    !in_range(&cfg->queue_messages, XVM_QUEUE_MESSAGES, 1,
		      XVM_MAX_QUEUE_MESSAGES) ||
	    !in_range(&cfg->keepalive_ms, XVM_KEEPALIVE_MS, 100, XVM_MAX_MS) ||
	    !in_range(&cfg->linger_ms, XVM_LINGER_MS, 1, XVM_MAX_MS) ||
	    !in_range(&cfg->establish_ms, XVM_ESTABLISH_MS, 1, XVM_MAX_MS))
		return -EINVAL;
	if (cfg->flags & XVM_F_NO_SEND_BUFS) {
		if (cfg->send_bufs)
			return -EINVAL;
	} else if (!in_range(&cfg->send_bufs, XVM_SEND_BUFS, 1,
			     XVM_MAX_SEND_BUFS)) {
		return -EINVAL;
	}
	if (!cfg->queue_bytes)
		cfg->queue_bytes = 4ULL * cfg->max_message;
	return cfg->queue_bytes < cfg->max_message ? -EINVAL : 0;
}

/* ------------------------------------------------------------------------
 * Life
 */

int xvm_chan_new(struct xvm_channel **out, const struct xvm_channel_opts *cfg,
		 bool active, const struct xvm_ops *ops, void *user,
		 const struct xvm_link_ops *lops, struct xvm_link *link,
		 void *slots, void *pool)
{
	struct xvm_channel *ch;
	uint32_t size = 1;

	ch = calloc(1, sizeof(*ch));
	if (!ch)
		return -ENOMEM;
	while (size < cfg->queue_messages)
		size *= 2;
	ch->cfg = *cfg;
	ch->ring = calloc(size, sizeof(*ch->ring));
	if (!ch->ring || xvm_bufs_init(ch)) {
		xvm_chan_free(ch);
		return -ENOMEM;
	}
	ch->mask = size - 1;
	if (ops)
		ch->ops = *ops;
	ch->user = user;
	ch->active = active;
	ch->lops = lops;
	ch->link = link;
	ch->slots = slots;
	ch->pool = pool;
	ch->state = XVM_CONNECTING;
	ch->max_message = cfg->max_message;
	ch->allowance = cfg->window + XVW_RESERVE;
	*out = ch;
	return 0;
}

void xvm_chan_free(struct xvm_channel *ch)
{
	xvm_tx_free(ch);
	xvm_bufs_free(ch);
	xvm_fc_free(ch);
	free(ch->rx_buf);
	free(ch);
}

int xvm_chan_start(struct xvm_channel *ch)
{
	ch->sign_at = ch->lops->now(ch->link);
	ch->establish_at = ch->sign_at + ch->cfg.establish_ms;
	ch->lops->wake(ch->link, ch->establish_at);
	/* It waits in the ring until the connection is there. */
	return ch->active ? xvm_tx_hello(ch) : 0;
}

XVM_PUBLIC void xvm_destroy(struct xvm_channel *ch)
{
	XVM_KEEP_ERRNO;

	if (!ch || ch->dead)
		return;
	ch->dead = true;
	ch->lops->gone(ch->link);
}

/* ------------------------------------------------------------------------
 * The end
 */

static void end(struct xvm_channel *ch, int err)
{
	if (ch->state >= XVM_ENDING)
		return;
	if (!ch->have_err)
		ch->err = err;
	ch->have_err = true;
	ch->state = XVM_ENDING;
	ch->lops->disconnect(ch->link);
	/* It may be called from anywhere, and goes on in a pass. */
	ch->lops->wake(ch->link, 0);
}

void xvm_chan_fail(struct xvm_channel *ch, int err)
{
	end(ch, err);
}

static int fault_errno(enum xvw_fault fault)
{
	switch (fault) {
	case XVW_FAULT_VERSION:
		return -EPROTONOSUPPORT;
	case XVW_FAULT_MEMORY:
		return -ENOMEM;
	default:
		return -EPROTO;
	}
}

void xvm_chan_fault(struct xvm_channel *ch, enum xvw_fault fault)
{
	int err = -fault_errno(fault);

	ch->fault = fault;
	ch->count.faults[fault]++;
	if (xvm_tx_error(ch, fault)) {
		end(ch, err);
		return;
	}
	ch->err = err;
	ch->have_err = true;
	ch->failing = true;
	ch->failing_at = ch->lops->now(ch->link) + FAILING_MS;
}

XVM_PUBLIC int xvm_abort(struct xvm_channel *ch)
{
	XVM_KEEP_ERRNO;

	end(ch, ECANCELED);
	return 0;
}

XVM_PUBLIC int xvm_shutdown(struct xvm_channel *ch, unsigned int linger_ms)
{
	XVM_KEEP_ERRNO;

	if (ch->state >= XVM_ENDING)
		return -ENOTCONN;
	if (linger_ms > XVM_MAX_MS)
		return -EINVAL;
	if (ch->close_asked)
		return -EALREADY;
	ch->close_asked = true;
	if (ch->state < XVM_OPEN && ch->head == ch->tail) {
		end(ch, 0);
		return 0;
	}
	ch->linger_at = ch->lops->now(ch->link) +
			(linger_ms ? linger_ms : ch->cfg.linger_ms);
	if (ch->state == XVM_OPEN)
		ch->state = XVM_CLOSING;
	ch->lops->wake(ch->link, 0);
	return 0;
}

void xvm_chan_down(struct xvm_channel *ch, int err)
{
	if (ch->dead || ch->state == XVM_CLOSED)
		return;
	/* The peer may be the first to see that all is done. */
	if (!ch->have_err && ch->bye_sent && ch->bye_got &&
	    ch->next == ch->tail && ch->acked == ch->tx_seq)
		ch->have_err = true;
	if (!ch->have_err)
		ch->err = err ? err : ECONNRESET;
	ch->have_err = true;
	ch->failing = false;
	ch->state = XVM_CLOSED;
	/* What was acknowledged was delivered, however it ended. */
	ch->done = ch->posted;
	xvm_tx_complete(ch);
	xvm_tx_fail_all(ch, ch->err);
	if (!ch->dead && ch->ops.closed)
		ch->ops.closed(ch, -ch->err, ch->user);
}

/* ------------------------------------------------------------------------
 * Time
 */

static bool watches(const struct xvm_channel *ch)
{
	return xvm_speaks(ch) && !(ch->cfg.flags & XVM_F_NO_KEEPALIVE);
}

static bool is_busy(const struct xvm_channel *ch)
{
	return !xvm_reached(ch->done, ch->signaled);
}

/* When to probe, or to give up if an answer is due. */
static uint64_t keepalive_at(const struct xvm_channel *ch)
{
	uint32_t quarter = ch->cfg.keepalive_ms / 4;

	if (!is_busy(ch))
		return ch->sign_at + quarter;
	return (ch->busy_at > ch->sign_at ? ch->busy_at : ch->sign_at) +
	       ch->cfg.keepalive_ms - quarter;
}

static void watch(struct xvm_channel *ch, uint64_t now)
{
	int ret;

	if (!watches(ch) || now < keepalive_at(ch))
		return;
	if (is_busy(ch)) {
		end(ch, ETIMEDOUT);
		return;
	}
	ret = xvm_tx_probe(ch);
	if (ret && ret != -EAGAIN)
		end(ch, -ret);
}

static void check_time(struct xvm_channel *ch)
{
	uint64_t now = ch->lops->now(ch->link);

	if (ch->state >= XVM_ENDING)
		return;
	if ((ch->state < XVM_OPEN && now >= ch->establish_at) ||
	    (ch->linger_at && now >= ch->linger_at)) {
		end(ch, ETIMEDOUT);
		return;
	}
	if (ch->failing && (now >= ch->failing_at || !is_busy(ch))) {
		end(ch, ch->err);
		return;
	}
	if (ch->fc_retry_at && now >= ch->fc_retry_at) {
		ch->fc_retry_at = 0;
		ch->fc_due = true;
	}
	watch(ch, now);
}

static void earliest(uint64_t *at, uint64_t other)
{
	if (other && (!*at || other < *at))
		*at = other;
}

uint64_t xvm_chan_deadline(const struct xvm_channel *ch)
{
	uint64_t at = 0;

	if (ch->dead || ch->state >= XVM_ENDING)
		return 0;
	if (ch->failing)
		return ch->failing_at;
	if (ch->state < XVM_OPEN)
		earliest(&at, ch->establish_at);
	earliest(&at, ch->linger_at);
	earliest(&at, ch->fc_retry_at);
	if (watches(ch))
		earliest(&at, keepalive_at(ch));
	return at;
}

/* ------------------------------------------------------------------------
 * Passes
 */

void xvm_chan_begin(struct xvm_channel *ch)
{
	ch->depth++;
}

static void pass(struct xvm_channel *ch)
{
	int ret;

	if (ch->dead || ch->state == XVM_CLOSED)
		return;
	xvm_tx_complete(ch);
	xvm_fc_run(ch);
	if (ch->dead)
		return;
	check_time(ch);
	xvm_tx_pump(ch);
	/* Those too long for the peer are known only then. */
	xvm_tx_complete(ch);
	if (ch->dead)
		return;
	xvm_tx_control(ch);
	if (xvm_speaks(ch) && xvm_tx_finished(ch))
		end(ch, 0);
	if (ch->state >= XVM_ENDING)
		return;
	ret = ch->lops->flush(ch->link);
	if (ret)
		end(ch, -ret);
}

void xvm_chan_end(struct xvm_channel *ch)
{
	if (ch->depth == 1)
		pass(ch);
	ch->depth--;
}

void xvm_chan_up(struct xvm_channel *ch)
{
	if (ch->dead || ch->state != XVM_CONNECTING)
		return;
	ch->state = XVM_GREETING;
	ch->sign_at = ch->lops->now(ch->link);
}

void xvm_chan_posted(struct xvm_channel *ch, uint32_t done)
{
	if (ch->dead || ch->state == XVM_CLOSED || done == ch->done ||
	    !xvm_reached(done, ch->done) || !xvm_reached(ch->posted, done))
		return;
	ch->done = done;
	ch->sign_at = ch->lops->now(ch->link);
}

/* ------------------------------------------------------------------------
 * Questions
 */

XVM_PUBLIC int xvm_query(const struct xvm_channel *ch, struct xvm_info *info)
{
	if (info->size != sizeof(*info))
		return -EINVAL;
	*info = (struct xvm_info){
		.size = sizeof(*info),
		.state = ch->failing ? XVM_ENDING : ch->state,
		.version = ch->version,
		.fragment = ch->cfg.fragment,
		.peer_fragment = ch->peer_fragment,
		.window = ch->cfg.window,
		.peer_window = ch->peer_window ?
			       ch->peer_window - XVW_RESERVE : 0,
		.max_message = ch->max_message,
		.credits = ch->credits,
		.owed = ch->owed,
		.queued = xvm_queued(ch),
		.send_bufs = ch->bufs_used,
		.queued_bytes = ch->bytes,
		.undelivered = ch->count.flushed,
		.err = ch->state >= XVM_ENDING ? ch->err : 0,
		.fault = ch->fault,
		.peer_fault = ch->peer_fault,
	};
	return 0;
}

XVM_PUBLIC int xvm_get_counters(const struct xvm_channel *ch,
				struct xvm_counters *counters)
{
	if (counters->size != sizeof(*counters))
		return -EINVAL;
	*counters = ch->count;
	counters->size = sizeof(*counters);
	return 0;
}

_Static_assert(XVW_NUM_FAULTS <= XVM_NUM_FAULTS, "room for counters");
_Static_assert(XVM_MAX_FRAGMENT == XVW_MAX_FRAGMENT &&
	       XVM_MIN_FRAGMENT == XVW_MIN_FRAGMENT &&
	       XVM_MAX_MESSAGE == XVW_MAX_MESSAGE &&
	       XVM_MIN_WINDOW + XVW_RESERVE == XVW_MIN_WINDOW &&
	       XVM_MAX_WINDOW + XVW_RESERVE == XVW_MAX_WINDOW,
	       "limits of API and frames");

XVM_PUBLIC const char *xvm_fault_name(unsigned int fault)
{
	return xvw_fault_name(fault);
}

XVM_PUBLIC const char *xvm_state_name(unsigned int state)
{
	static const char * const names[] = {
		[XVM_CONNECTING] = "connecting",
		[XVM_GREETING] = "greeting",
		[XVM_OPEN] = "open",
		[XVM_CLOSING] = "closing",
		[XVM_ENDING] = "ending",
		[XVM_CLOSED] = "closed",
	};

	return state >= XVM_CONNECTING && state <= XVM_CLOSED ?
	       names[state] : "unknown";
}
