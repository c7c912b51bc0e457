// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The queue of messages, and the frames that go out.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "chan.h"

/* ------------------------------------------------------------------------
 * Frames
 */

static uint32_t free_slots(const struct xvm_channel *ch)
{
	return ch->cfg.slots - (ch->posted - ch->done);
}

static void *next_slot(const struct xvm_channel *ch)
{
	return ch->slots + (size_t)ch->slot * ch->cfg.fragment;
}

/* A post is made: it has the slot, whether it needs one or not. */
static void was_posted(struct xvm_channel *ch, bool signaled)
{
	ch->posted++;
	if (++ch->slot == ch->cfg.slots)
		ch->slot = 0;
	if (!signaled)
		return;
	if (xvm_reached(ch->done, ch->signaled))
		ch->busy_at = ch->lops->now(ch->link);
	ch->signaled = ch->posted;
}

/*
 * Nobody is told when a frame is done that is not signaled, but slots are needed
 * again: one of each quarter is.
 */
static bool must_signal(const struct xvm_channel *ch)
{
	uint32_t quarter = ch->cfg.slots / 4;

	return ch->posted % quarter == quarter - 1;
}

static int post(struct xvm_channel *ch, size_t len, const void *data,
		size_t data_len, unsigned int flags)
{
	int ret;

	if (must_signal(ch))
		flags |= XVM_POST_SIGNAL;
	ret = ch->lops->post(ch->link, next_slot(ch), len, data, data_len,
			     flags);
	if (ret) {
		/* Part of a message may be out: there is no way back. */
		xvm_chan_fail(ch, -ret);
		return ret;
	}
	was_posted(ch, flags & XVM_POST_SIGNAL);
	ch->count.frames_out++;
	return 0;
}

/* All that can be granted and acknowledged goes along. */
static void add_grant(struct xvm_channel *ch, struct xvw_frame *f)
{
	if (ch->owed && f->type != XVW_GRANT)
		ch->count.grants_carried++;
	f->credits = ch->owed;
	f->ack = ch->rx_seq;
	ch->allowance += ch->owed;
	ch->owed = 0;
	ch->ack_due = false;
	ch->credits--;
}

int xvm_tx_hello(struct xvm_channel *ch)
{
	const struct xvw_frame f = {
		.type = XVW_HELLO,
		.flags = ch->active ? 0 : XVW_F_ANSWER,
		.hello = {
			.version = XVW_VERSION,
			.version_min = XVW_VERSION_MIN,
			.fragment = ch->cfg.fragment,
			.window = ch->cfg.window + XVW_RESERVE,
			.max_message = ch->cfg.max_message,
		},
	};

	return post(ch, xvw_put(next_slot(ch), &f), NULL, 0, XVM_POST_SIGNAL);
}

/* The last credit is for a frame that brings some. */
static bool control_may_go(const struct xvm_channel *ch)
{
	if (!free_slots(ch))
		return false;
	return ch->credits >= 2 || (ch->credits && ch->owed);
}

static int post_control(struct xvm_channel *ch, enum xvw_type type,
			uint32_t seq, uint32_t arg, unsigned int flags)
{
	struct xvw_frame f = { .type = type, .seq = seq, .arg = arg };

	add_grant(ch, &f);
	return post(ch, xvw_put(next_slot(ch), &f), NULL, 0, flags);
}

int xvm_tx_error(struct xvm_channel *ch, enum xvw_fault fault)
{
	if (!xvm_speaks(ch) || !control_may_go(ch))
		return -EAGAIN;
	return post_control(ch, XVW_ERROR, 0, fault, XVM_POST_SIGNAL);
}

int xvm_tx_probe(struct xvm_channel *ch)
{
	int ret;

	if (!free_slots(ch))
		return -EAGAIN;
	ret = ch->lops->probe(ch->link);
	if (ret)
		return ret;
	was_posted(ch, true);
	ch->count.keepalives++;
	return 0;
}

/* ------------------------------------------------------------------------
 * Messages into frames
 */

/* Where the bytes of a message that is being accepted lie. */
struct cursor {
	const struct iovec *iov;
	size_t off;
};

static void take(struct cursor *c, uint8_t *to, size_t len)
{
	while (len) {
		size_t n = c->iov->iov_len - c->off;

		if (n > len)
			n = len;
		if (n)
			memcpy(to, (const uint8_t *)c->iov->iov_base + c->off,
			       n);
		to += n;
		len -= n;
		c->off += n;
		if (c->off == c->iov->iov_len) {
			c->iov++;
			c->off = 0;
		}
	}
}

static uint32_t chunk_bytes(const struct xvm_channel *ch)
{
	uint32_t bytes = ch->cfg.fragment;

	if (ch->peer_fragment < bytes)
		bytes = ch->peer_fragment;
	return bytes - XVW_HEADER_LEN;
}

static uint32_t num_chunks(const struct xvm_channel *ch, uint32_t len)
{
	uint32_t bytes = chunk_bytes(ch);

	return len ? (len - 1) / bytes + 1 : 1;
}

/* Fragments that can be posted now, the reserve left alone. */
static uint32_t data_room(const struct xvm_channel *ch)
{
	uint32_t room = free_slots(ch);

	if (ch->credits < room)
		room = ch->credits;
	return room > XVW_RESERVE ? room - XVW_RESERVE : 0;
}

/* The next fragment of the message that is next. */
static int post_fragment(struct xvm_channel *ch, struct cursor *c)
{
	struct xvm_msg *m = &ch->ring[ch->next & ch->mask];
	uint32_t off = ch->next_off, n = chunk_bytes(ch);
	uint8_t *slot = next_slot(ch);
	struct xvw_frame f = {
		.type = XVW_DATA,
		.flags = off ? 0 : XVW_F_FIRST,
		.seq = ch->tx_seq,
		.arg = off ? off : m->len,
	};
	const uint8_t *direct = NULL;
	size_t len;
	bool last;
	int ret;

	if (m->len - off < n)
		n = m->len - off;
	last = off + n == m->len;
	add_grant(ch, &f);
	len = xvw_put(slot, &f);
	if (c) {
		take(c, slot + len, n);
	} else if (m->buf >= 0) {
		struct xvm_buf *b = &ch->bufs[m->buf];

		if (b->pooled && n)
			direct = b->data + off;
		else if (n)
			memcpy(slot + len, b->data + off, n);
	} else if (n) {
		memcpy(slot + len, m->copy + off, n);
	}
	/* A buffer is used again when its last piece is done. */
	ret = post(ch, direct ? len : len + n, direct, direct ? n : 0,
		   m->buf >= 0 && last ? XVM_POST_SIGNAL : 0);
	if (ret)
		return ret;

	if (direct && last)
		ch->count.in_place++;
	ch->next_off += n;
	if (last) {
		m->seq = ch->tx_seq++;
		m->end_post = ch->posted;
		free(m->copy);
		m->copy = NULL;
		ch->next++;
		ch->next_off = 0;
	}
	return 0;
}

static void stall(struct xvm_channel *ch)
{
	if (ch->credits > XVW_RESERVE) {
		ch->count.slot_stalls++;
	} else if (!ch->stalled_at) {
		ch->stalled_at = ch->lops->now(ch->link);
		ch->count.credit_stalls++;
	}
}

static void go_on(struct xvm_channel *ch)
{
	if (!ch->stalled_at)
		return;
	ch->count.credit_stall_ms += ch->lops->now(ch->link) - ch->stalled_at;
	ch->stalled_at = 0;
}

void xvm_tx_pump(struct xvm_channel *ch)
{
	while (xvm_speaks(ch) && ch->next != ch->tail) {
		struct xvm_msg *m = &ch->ring[ch->next & ch->mask];

		/* Accepted before it was known how much the peer takes. */
		if (m->len > ch->max_message) {
			m->err = EMSGSIZE;
			ch->next++;
			continue;
		}
		if (!data_room(ch)) {
			stall(ch);
			return;
		}
		go_on(ch);
		if (post_fragment(ch, NULL))
			return;
	}
}

void xvm_tx_control(struct xvm_channel *ch)
{
	bool closing = ch->close_asked || ch->bye_got;
	uint32_t enough = ch->cfg.window / 4 > 2 ? ch->cfg.window / 4 : 2;

	if (!xvm_speaks(ch))
		return;
	if (closing && !ch->bye_sent && ch->next == ch->tail &&
	    control_may_go(ch)) {
		if (post_control(ch, XVW_BYE, ch->tx_seq, 0, XVM_POST_SIGNAL))
			return;
		ch->bye_sent = true;
	}
	if ((ch->ack_due || ch->owed >= enough) && control_may_go(ch) &&
	    !post_control(ch, XVW_GRANT, 0, 0, closing ? XVM_POST_SIGNAL : 0))
		ch->count.grants++;
}

bool xvm_tx_finished(const struct xvm_channel *ch)
{
	return ch->bye_sent && ch->bye_got && ch->next == ch->tail &&
	       ch->acked == ch->tx_seq && !ch->ack_due &&
	       xvm_reached(ch->done, ch->signaled);
}

/* ------------------------------------------------------------------------
 * The queue
 */

/* The queue was full: it is open when half of everything is free. */
void xvm_tx_check_open(struct xvm_channel *ch)
{
	if (!ch->full || xvm_queued(ch) > ch->cfg.queue_messages / 2 ||
	    ch->bytes > ch->cfg.queue_bytes / 2 ||
	    ch->bufs_used > ch->cfg.send_bufs / 2)
		return;
	ch->full = false;
	ch->fc_due = true;
}

/* The oldest message leaves the queue. */
static void pop(struct xvm_channel *ch, int err)
{
	struct xvm_msg *m = &ch->ring[ch->head & ch->mask];
	void *context = m->context;

	free(m->copy);
	m->copy = NULL;
	if (m->buf >= 0)
		xvm_buf_release(ch, m->buf);
	ch->head++;
	ch->bytes -= m->len;
	if (err) {
		ch->count.flushed++;
	} else {
		ch->count.messages_out++;
		ch->count.bytes_out += m->len;
	}
	xvm_tx_check_open(ch);
	if (ch->ops.sent)
		ch->ops.sent(ch, context, -err, ch->user);
}

static bool is_done(const struct xvm_channel *ch, const struct xvm_msg *m)
{
	if (m->err)
		return true;
	if (xvm_reached(m->seq, ch->acked))
		return false;
	/* The peer may have answered before our device has noticed. */
	return m->buf < 0 || xvm_reached(ch->done, m->end_post);
}

void xvm_tx_complete(struct xvm_channel *ch)
{
	while (!ch->dead && ch->head != ch->next) {
		const struct xvm_msg *m = &ch->ring[ch->head & ch->mask];

		if (!is_done(ch, m))
			return;
		pop(ch, m->err);
	}
}

void xvm_tx_fail_all(struct xvm_channel *ch, int err)
{
	if (!err)
		err = ECANCELED;
	while (!ch->dead && ch->head != ch->tail) {
		pop(ch, err);
		err = ECANCELED;
	}
}

void xvm_tx_free(struct xvm_channel *ch)
{
	for (; ch->ring && ch->head != ch->tail; ch->head++)
		free(ch->ring[ch->head & ch->mask].copy);
	free(ch->ring);
}

static bool has_room(const struct xvm_channel *ch, uint32_t len)
{
	return xvm_queued(ch) < ch->cfg.queue_messages &&
	       len <= ch->cfg.queue_bytes - ch->bytes;
}

static int may_send(struct xvm_channel *ch, size_t len)
{
	int ret = xvm_refused(ch);

	if (ret)
		return ret;
	if (len > ch->max_message)
		return -EMSGSIZE;
	if (has_room(ch, len))
		return 0;
	ch->full = true;
	ch->count.eagain++;
	return -EAGAIN;
}

/* Can all of it be posted now, in its turn? */
static bool can_go_now(const struct xvm_channel *ch, uint32_t len)
{
	return xvm_speaks(ch) && ch->next == ch->tail &&
	       num_chunks(ch, len) <= data_room(ch);
}

static void enqueue(struct xvm_channel *ch, void *context, uint32_t len,
		    uint8_t *copy, int32_t buf)
{
	ch->ring[ch->tail & ch->mask] = (struct xvm_msg){
		.context = context,
		.copy = copy,
		.len = len,
		.buf = buf,
	};
	ch->tail++;
	ch->bytes += len;
	if (ch->state < XVM_OPEN)
		ch->count.early++;
	if (xvm_queued(ch) > ch->count.queue_peak)
		ch->count.queue_peak = xvm_queued(ch);
	if (ch->bytes > ch->count.queue_peak_bytes)
		ch->count.queue_peak_bytes = ch->bytes;
}

/* Inside a pass its end does it for all. */
static void flush(struct xvm_channel *ch)
{
	int ret;

	if (ch->depth || ch->state > XVM_CLOSING)
		return;
	ret = ch->lops->flush(ch->link);
	if (ret)
		xvm_chan_fail(ch, -ret);
}

static int send_iov(struct xvm_channel *ch, const struct iovec *iov,
		    size_t len, void *context)
{
	struct cursor c = { .iov = iov };
	uint8_t *copy = NULL;
	uint32_t end;
	int ret;

	ret = may_send(ch, len);
	if (ret)
		return ret;
	if (can_go_now(ch, len)) {
		enqueue(ch, context, len, NULL, -1);
		end = ch->tail;
		while (ch->next != end && !post_fragment(ch, &c))
			;
	} else {
		if (len) {
			copy = malloc(len);
			if (!copy)
				return -ENOMEM;
			take(&c, copy, len);
			ch->count.copied++;
		}
		enqueue(ch, context, len, copy, -1);
		xvm_tx_pump(ch);
	}
	flush(ch);
	return 0;
}

XVM_PUBLIC int xvm_send(struct xvm_channel *ch, const void *msg, size_t len,
			void *context)
{
	XVM_KEEP_ERRNO;
	const struct iovec iov = { .iov_base = (void *)msg, .iov_len = len };

	if (!msg && len)
		return -EINVAL;
	return send_iov(ch, &iov, len, context);
}

XVM_PUBLIC int xvm_sendv(struct xvm_channel *ch, const struct iovec *iov,
			 unsigned int n, void *context)
{
	XVM_KEEP_ERRNO;
	size_t len = 0;
	unsigned int i;

	if (!iov && n)
		return -EINVAL;
	for (i = 0; i < n; i++) {
		if (!iov[i].iov_base && iov[i].iov_len)
			return -EINVAL;
		if (__builtin_add_overflow(len, iov[i].iov_len, &len))
			return -EMSGSIZE;
	}
	return send_iov(ch, iov, len, context);
}

int xvm_tx_buf(struct xvm_channel *ch, int32_t buf, uint32_t len,
	       void *context)
{
	int ret;

	ret = may_send(ch, len);
	if (ret)
		return ret;
	ch->bufs[buf].state = XVM_BUF_SENT;
	enqueue(ch, context, len, NULL, buf);
	xvm_tx_pump(ch);
	flush(ch);
	return 0;
}

XVM_PUBLIC int xvm_send_ok(const struct xvm_channel *ch)
{
	return !xvm_refused(ch) && !ch->full;
}
