// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Frames that come in: what earlier frames say about them is checked here, what
 * can be seen from the frame alone in wire.c.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <stdlib.h>
#include <string.h>

#include "chan.h"

static enum xvw_fault take_hello(struct xvm_channel *ch,
				 const struct xvw_frame *f)
{
	const struct xvw_hello *h = &f->hello;

	if (ch->state != XVM_GREETING)
		return XVW_FAULT_STATE;
	if (ch->active != !!(f->flags & XVW_F_ANSWER))
		return XVW_FAULT_ROLE;
	ch->version = xvw_common_version(h->version, h->version_min);
	ch->peer_fragment = h->fragment;
	ch->peer_window = h->window;
	ch->credits = h->window;
	if (h->max_message < ch->max_message)
		ch->max_message = h->max_message;
	if (!ch->active && xvm_tx_hello(ch))
		return XVW_FAULT_NONE;
	ch->establish_at = 0;
	ch->state = ch->close_asked ? XVM_CLOSING : XVM_OPEN;
	ch->fc_due = true;
	if (ch->ops.established)
		ch->ops.established(ch, ch->user);
	return XVW_FAULT_NONE;
}

/*
 * The peer's side of the account. We may count more credits than the peer does,
 * since grants of ours are on their way, but never fewer: what is wrong here is
 * wrong there.
 */
static enum xvw_fault take_credit(struct xvm_channel *ch,
				  const struct xvw_frame *f)
{
	if (!ch->allowance)
		return XVW_FAULT_OVERRUN;
	ch->allowance--;
	if (f->type == XVW_DATA && ch->allowance < XVW_RESERVE)
		return XVW_FAULT_OVERRUN;
	if (!f->credits && !ch->allowance)
		return XVW_FAULT_OVERRUN;
	if (f->credits > ch->peer_window - ch->credits)
		return XVW_FAULT_CREDIT;
	ch->credits += f->credits;
	if (f->ack - ch->acked > ch->tx_seq - ch->acked)
		return XVW_FAULT_ACK;
	ch->acked = f->ack;
	return XVW_FAULT_NONE;
}

/* The program may do anything in it, destroy the channel too. */
static void deliver(struct xvm_channel *ch, const void *msg, uint32_t len)
{
	ch->rx_seq++;
	ch->ack_due = true;
	ch->count.messages_in++;
	ch->count.bytes_in += len;
	if (ch->ops.received)
		ch->ops.received(ch, msg, len, ch->user);
}

static enum xvw_fault take_first(struct xvm_channel *ch,
				 const struct xvw_frame *f)
{
	if (ch->rx_partial)
		return XVW_FAULT_OFFSET;
	if (f->arg > ch->max_message)
		return XVW_FAULT_LENGTH;
	if (f->data_len == f->arg) {
		deliver(ch, f->data, f->data_len);
		return XVW_FAULT_NONE;
	}
	ch->rx_buf = malloc(f->arg);
	if (!ch->rx_buf)
		return XVW_FAULT_MEMORY;
	memcpy(ch->rx_buf, f->data, f->data_len);
	ch->rx_len = f->arg;
	ch->rx_got = f->data_len;
	ch->rx_partial = true;
	return XVW_FAULT_NONE;
}

static enum xvw_fault take_next(struct xvm_channel *ch,
				const struct xvw_frame *f)
{
	if (!ch->rx_partial || f->arg != ch->rx_got ||
	    f->data_len > ch->rx_len - ch->rx_got)
		return XVW_FAULT_OFFSET;
	memcpy(ch->rx_buf + ch->rx_got, f->data, f->data_len);
	ch->rx_got += f->data_len;
	if (ch->rx_got < ch->rx_len)
		return XVW_FAULT_NONE;
	ch->rx_partial = false;
	deliver(ch, ch->rx_buf, ch->rx_len);
	free(ch->rx_buf);
	ch->rx_buf = NULL;
	return XVW_FAULT_NONE;
}

static enum xvw_fault take_data(struct xvm_channel *ch,
				const struct xvw_frame *f)
{
	if (ch->bye_got)
		return XVW_FAULT_STATE;
	if (f->seq != ch->rx_seq)
		return XVW_FAULT_SEQ;
	return f->flags & XVW_F_FIRST ? take_first(ch, f) : take_next(ch, f);
}

static enum xvw_fault take_bye(struct xvm_channel *ch,
			       const struct xvw_frame *f)
{
	if (ch->bye_got || ch->rx_partial)
		return XVW_FAULT_STATE;
	if (f->seq != ch->rx_seq)
		return XVW_FAULT_SEQ;
	ch->bye_got = true;
	ch->state = XVM_CLOSING;
	if (!ch->linger_at)
		ch->linger_at = ch->lops->now(ch->link) + ch->cfg.linger_ms;
	return XVW_FAULT_NONE;
}

static void take_error(struct xvm_channel *ch, const struct xvw_frame *f)
{
	ch->peer_fault = f->arg;
	if (f->arg == XVW_FAULT_VERSION)
		xvm_chan_fail(ch, EPROTONOSUPPORT);
	else if (f->arg == XVW_FAULT_MEMORY)
		xvm_chan_fail(ch, ENOMEM);
	else
		xvm_chan_fail(ch, EPROTO);
}

static bool goes_on(const struct xvm_channel *ch)
{
	return !ch->dead && !ch->failing && ch->state <= XVM_CLOSING;
}

static enum xvw_fault take_frame(struct xvm_channel *ch,
				 const struct xvw_frame *f)
{
	enum xvw_fault fault;

	if (f->type == XVW_HELLO)
		return take_hello(ch, f);
	if (ch->state == XVM_GREETING)
		return XVW_FAULT_STATE;
	fault = take_credit(ch, f);
	if (fault)
		return fault;
	xvm_tx_complete(ch);
	if (!goes_on(ch))
		return XVW_FAULT_NONE;

	if (f->type == XVW_DATA)
		fault = take_data(ch, f);
	else if (f->type == XVW_BYE)
		fault = take_bye(ch, f);
	else if (f->type == XVW_ERROR)
		take_error(ch, f);
	/* The receive is posted again after this. */
	ch->owed++;
	return fault;
}

void xvm_chan_frame(struct xvm_channel *ch, const void *frame, size_t len)
{
	enum xvw_fault fault;
	struct xvw_frame f;

	if (!goes_on(ch))
		return;
	ch->count.frames_in++;
	ch->sign_at = ch->lops->now(ch->link);
	/* Only who is connected can send. */
	if (ch->state == XVM_CONNECTING)
		xvm_chan_up(ch);
	if (len > ch->cfg.fragment)
		fault = XVW_FAULT_FRAGMENT;
	else
		fault = xvw_parse(frame, len, &f);
	if (!fault)
		fault = take_frame(ch, &f);
	if (fault && goes_on(ch))
		xvm_chan_fault(ch, fault);
}
