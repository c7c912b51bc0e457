/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A channel, and what it wants of the transport below it.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * The channel knows nothing of RDMA: it fills slots with frames, gets frames,
 * and is told when posts are done. Its files:
 *
 *	channel.c	life, states, time
 *	tx.c		the queue of messages, frames that go out
 *	rx.c		frames that come in
 *	bufs.c		send buffers
 *	fc.c		functions that are called when the queue opens
 *
 * Who calls it from an event loop does so between xvm_chan_begin() and
 * xvm_chan_end(); only there functions of the program are called.
 */
#ifndef _XVM_CHAN_H
#define _XVM_CHAN_H

#include <errno.h>
#include <stdbool.h>

#include "wire.h"
#include "xvmsg.h"

#define XVM_PUBLIC __attribute__((visibility("default")))

static inline void xvm_restore_errno(int *saved)
{
	errno = *saved;
}

/* The library promises to leave errno alone: one such line per entry point. */
#define XVM_KEEP_ERRNO							\
	__attribute__((cleanup(xvm_restore_errno), unused))		\
	int xvm_saved_errno = errno

/* ------------------------------------------------------------------------
 * The transport
 */

struct xvm_link;

#define XVM_POST_SIGNAL	(1U << 0)	/* tell when it is done */

/*
 * Posts are done in the order in which they are made. None of these calls the
 * channel back.
 */
struct xvm_link_ops {
	/*
	 * Send a frame: @len bytes at @slot, then @data_len bytes at @data,
	 * which lie in a send buffer of the pool.
	 */
	int (*post)(struct xvm_link *l, void *slot, size_t len,
		    const void *data, size_t data_len, unsigned int flags);
	/* Post what shows that the peer's device is alive. Signaled. */
	int (*probe)(struct xvm_link *l);
	/* Hand over what was posted. */
	int (*flush)(struct xvm_link *l);
	/* Cut the connection. xvm_chan_down() comes later, in any case. */
	void (*disconnect)(struct xvm_link *l);
	/* Monotonic milliseconds, never 0. */
	uint64_t (*now)(struct xvm_link *l);
	/* Begin and end a pass at that time; 0: as soon as possible. */
	void (*wake)(struct xvm_link *l, uint64_t at);
	/* The program has destroyed the channel: free it when it is safe. */
	void (*gone)(struct xvm_link *l);
};

/* ------------------------------------------------------------------------
 * The channel
 */

/* An accepted message; lives until it was acknowledged, or has failed. */
struct xvm_msg {
	void *context;
	uint8_t *copy;		/* bytes not posted yet lie here; malloc()ed */
	uint32_t len;
	uint32_t seq;
	uint32_t end_post;	/* the post of its last frame */
	int32_t buf;		/* index of its send buffer, or -1 */
	int32_t err;		/* will not be sent: complete it so */
};

enum xvm_buf_state { XVM_BUF_FREE, XVM_BUF_USER, XVM_BUF_SENT };

struct xvm_buf {
	uint8_t *data;
	uint32_t len;
	uint32_t generation;
	uint8_t state;
	bool pooled;
};

struct xvm_fc {
	struct xvm_fc *next;
	uintptr_t id;
	int (*fn)(void *data);
	void *data;
	uint64_t pass;		/* the last one it has seen */
	unsigned int refused;
};

struct xvm_channel {
	const struct xvm_link_ops *lops;
	struct xvm_link *link;
	struct xvm_ops ops;
	void *user;
	struct xvm_channel_opts cfg;
	bool active;

	enum xvm_state state;
	bool dead;		/* destroyed by the program */
	bool close_asked;
	bool bye_sent;
	bool bye_got;
	bool failing;		/* an ERROR is on its way, then comes the end */
	unsigned int depth;	/* between begin and end */
	int err;		/* cause of the end, positive */
	bool have_err;
	uint64_t establish_at;
	uint64_t linger_at;
	uint64_t failing_at;

	/* what was agreed */
	unsigned int version;
	uint32_t peer_fragment;
	uint32_t peer_window;	/* reserve included */
	uint32_t max_message;

	/*
	 * The queue: a ring of messages. All indices run freely. [head, next)
	 * was posted, next is being posted, [next, tail) waits.
	 */
	struct xvm_msg *ring;
	uint32_t mask;
	uint32_t head;
	uint32_t next;
	uint32_t tail;
	uint32_t next_off;	/* bytes of message "next" that were posted */
	uint64_t bytes;
	bool full;
	bool fc_due;

	/* frames out */
	uint8_t *slots;
	uint32_t slot;		/* where the next frame is built */
	uint32_t posted;
	uint32_t done;
	uint32_t signaled;	/* posts up to the last one that is signaled */
	uint32_t tx_seq;	/* number of the next message */
	uint32_t acked;		/* messages that the peer has taken */
	uint32_t credits;
	uint64_t stalled_at;

	/* frames in */
	uint32_t allowance;	/* frames that the peer may send */
	uint32_t owed;		/* receives posted again and not granted */
	uint32_t rx_seq;	/* messages taken */
	bool ack_due;
	uint8_t *rx_buf;	/* a message in pieces */
	uint32_t rx_len;
	uint32_t rx_got;
	bool rx_partial;

	/* life signs */
	uint64_t sign_at;
	uint64_t busy_at;

	struct xvm_buf *bufs;
	uint8_t *pool;
	uint32_t bufs_used;

	struct xvm_fc *fcs;
	uintptr_t fc_id;
	uint64_t fc_pass;
	uint64_t fc_retry_at;
	bool in_fc;

	uint32_t fault;
	uint32_t peer_fault;
	struct xvm_counters count;
};

/* Why a message is not taken, or 0. */
static inline int xvm_refused(const struct xvm_channel *ch)
{
	if (ch->state >= XVM_ENDING)
		return -ENOTCONN;
	return ch->close_asked || ch->bye_got ? -ESHUTDOWN : 0;
}

/* Frames but HELLO may go. */
static inline bool xvm_speaks(const struct xvm_channel *ch)
{
	return (ch->state == XVM_OPEN || ch->state == XVM_CLOSING) &&
	       !ch->failing;
}

/* Does @a come after @b, or is it the same? Both run freely. */
static inline bool xvm_reached(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) >= 0;
}

static inline uint32_t xvm_queued(const struct xvm_channel *ch)
{
	return ch->tail - ch->head;
}

/* ---- channel.c: for the transport ---- */

/* Defaults and ranges; -EINVAL. */
int xvm_get_channel_opts(struct xvm_channel_opts *cfg,
			 const struct xvm_channel_opts *opts);

/*
 * A channel over a link. @slots are cfg->slots times, @pool cfg->send_bufs times
 * cfg->fragment bytes, aligned to 16; the link frees them after the channel.
 */
int xvm_chan_new(struct xvm_channel **out, const struct xvm_channel_opts *cfg,
		 bool active, const struct xvm_ops *ops, void *user,
		 const struct xvm_link_ops *lops, struct xvm_link *link,
		 void *slots, void *pool);
void xvm_chan_free(struct xvm_channel *ch);

/* The connection is being made: begin to speak. */
int xvm_chan_start(struct xvm_channel *ch);

void xvm_chan_begin(struct xvm_channel *ch);
void xvm_chan_end(struct xvm_channel *ch);
/* When to begin and end a pass though nothing happens; 0: never. */
uint64_t xvm_chan_deadline(const struct xvm_channel *ch);

/* The connection is established. */
void xvm_chan_up(struct xvm_channel *ch);
/* It has ended, or never came to be; @err is positive, or 0 if we have cut it. */
void xvm_chan_down(struct xvm_channel *ch, int err);
/* So many posts are done, counted from the start. */
void xvm_chan_posted(struct xvm_channel *ch, uint32_t done);
/* A frame; the receive is posted again when this returns. */
void xvm_chan_frame(struct xvm_channel *ch, const void *frame, size_t len);

/* ---- channel.c: for the other files ---- */

/* End it: cut the connection, at the cause @err. */
void xvm_chan_fail(struct xvm_channel *ch, int err);
/* End it since the peer broke the rules, and tell it so. */
void xvm_chan_fault(struct xvm_channel *ch, enum xvw_fault fault);

/* ---- tx.c ---- */
int xvm_tx_hello(struct xvm_channel *ch);
int xvm_tx_error(struct xvm_channel *ch, enum xvw_fault fault);
/* Post what waits and can go. */
void xvm_tx_pump(struct xvm_channel *ch);
/* Grants that nothing else has carried; BYE when it is time. */
void xvm_tx_control(struct xvm_channel *ch);
/* Nothing of the close is left to do. */
bool xvm_tx_finished(const struct xvm_channel *ch);
/* Tell the program of messages that have been delivered. */
void xvm_tx_complete(struct xvm_channel *ch);
/* And of those that never will be. */
void xvm_tx_fail_all(struct xvm_channel *ch, int err);
void xvm_tx_free(struct xvm_channel *ch);
/* A message from a send buffer. */
int xvm_tx_buf(struct xvm_channel *ch, int32_t buf, uint32_t len,
	       void *context);
int xvm_tx_probe(struct xvm_channel *ch);
/* The queue was full; is it still? */
void xvm_tx_check_open(struct xvm_channel *ch);

/* ---- bufs.c ---- */
int xvm_bufs_init(struct xvm_channel *ch);
void xvm_buf_release(struct xvm_channel *ch, int32_t buf);
void xvm_bufs_free(struct xvm_channel *ch);

/* ---- fc.c ---- */
void xvm_fc_run(struct xvm_channel *ch);
void xvm_fc_free(struct xvm_channel *ch);

#endif /* _XVM_CHAN_H */
