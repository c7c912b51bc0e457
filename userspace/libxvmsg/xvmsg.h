/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libxvmsg: message channels.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * A channel carries whole messages between two programs, each once and in
 * order, over a reliable connection of libxverbs. What it sends stands in
 * Documentation/xvmsg-wire.rst.
 *
 * Rules of every function here, unless it says otherwise:
 *
 * * It returns 0 or a negative errno, and leaves errno as it was.
 * * It does not wait. There are no threads, no global state, no signal handlers.
 * * Functions of the program are called from xvm_dispatch() only. From inside
 *   each of them everything may be called but xvm_dispatch(): also destroying
 *   what it was called for.
 * * Option structs carry their size first and every other field may be 0, which
 *   is the default. XVM_OPTS() fills in the size.
 *
 * Threads. A context, with all that belongs to it, belongs to one thread at a
 * time.
 */
#ifndef _XVMSG_H
#define _XVMSG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XVM_VERSION_MAJOR	1
#define XVM_VERSION_MINOR	0

struct iovec;
struct sockaddr;
struct sockaddr_storage;

/* ------------------------------------------------------------------------
 * Channels
 */

/* A message channel. */
struct xvm_channel;

/**
 * struct xvm_ops - functions of the program that a channel calls
 * @established: messages can go. What was sent before is on its way
 * @received: a message, whole and alone. @msg is valid until the function
 *	returns, even if the channel is destroyed meanwhile; @len may be 0
 * @sent: what has become of one accepted message: 0, or a negative errno.
 *	Once for each, in order; @context is what was given with it. 0 means that
 *	the peer's channel has handed the message to its program. After a failure
 *	the first one outstanding has the cause and the others -ECANCELED
 * @closed: the channel has ended, and this is the last call of all. 0 if all
 *	messages of both sides were delivered, else a negative errno. It stays
 *	until xvm_destroy()
 *
 * @user is what was given with the ops. Each may be NULL.
 *
 * Errors of @closed: -ECONNREFUSED nobody listens, or the peer did not want;
 * -ETIMEDOUT not established in time, not closed in time, or the peer's device
 * does not answer; -ECONNRESET the peer has ended without a close; -ECONNABORTED
 * the queue pair has failed; -ECANCELED xvm_abort(); -EPROTO a peer broke the
 * rules; -EPROTONOSUPPORT no version that both speak; -EADDRNOTAVAIL,
 * -ENETUNREACH, -EHOSTUNREACH no way there; -ENODEV the device is gone; -ENOMEM.
 */
struct xvm_ops {
	void (*established)(struct xvm_channel *ch, void *user);
	void (*received)(struct xvm_channel *ch, const void *msg, size_t len,
			 void *user);
	void (*sent)(struct xvm_channel *ch, void *context, int err,
		     void *user);
	void (*closed)(struct xvm_channel *ch, int err, void *user);
};

/* Defaults and limits of struct xvm_channel_opts. */
#define XVM_FRAGMENT		4096
#define XVM_MIN_FRAGMENT	128
#define XVM_MAX_FRAGMENT	1048576
#define XVM_WINDOW		64
#define XVM_MIN_WINDOW		2
#define XVM_MAX_WINDOW		4096
#define XVM_SLOTS		32
#define XVM_MIN_SLOTS		4
#define XVM_MAX_SLOTS		4096
#define XVM_MESSAGE		1048576
#define XVM_MAX_MESSAGE		1073741824
#define XVM_QUEUE_MESSAGES	256
#define XVM_MAX_QUEUE_MESSAGES	1048576
#define XVM_SEND_BUFS		16
#define XVM_MAX_SEND_BUFS	4096
#define XVM_KEEPALIVE_MS	5000
#define XVM_LINGER_MS		5000
#define XVM_ESTABLISH_MS	10000
#define XVM_MAX_MS		600000

/* &xvm_channel_opts.flags: no keepalive */
#define XVM_F_NO_KEEPALIVE	(1U << 0)
/* no send buffers in registered memory */
#define XVM_F_NO_SEND_BUFS	(1U << 1)

/**
 * struct xvm_channel_opts - what a channel shall be
 * @size: bytes of this struct
 * @flags: XVM_F_*
 * @fragment: bytes of a receive buffer: messages are cut into such pieces, less
 *	16 bytes; %XVM_MIN_FRAGMENT to %XVM_MAX_FRAGMENT
 * @window: receive buffers for messages; three more are made.
 *	%XVM_MIN_WINDOW to %XVM_MAX_WINDOW
 * @slots: pieces that may be on their way at once; %XVM_MIN_SLOTS to
 *	%XVM_MAX_SLOTS
 * @max_message: bytes of the longest message; at most %XVM_MAX_MESSAGE. The
 *	smaller one of both sides counts
 * @queue_messages: messages that were accepted and have not been delivered, at
 *	most; to %XVM_MAX_QUEUE_MESSAGES
 * @send_bufs: buffers of xvm_alloc_send_buf() at a time; to %XVM_MAX_SEND_BUFS
 * @queue_bytes: bytes of such messages, at most; at least @max_message. Default:
 *	four times that
 * @keepalive_ms: a peer whose device does not answer for so long is dead; from
 *	100
 * @linger_ms: longest time that a close may take
 * @establish_ms: longest time that establishing may take
 * @reserved: 0
 *
 * Memory of a channel, registered (counted in RLIMIT_MEMLOCK) and rounded up to
 * pages: (@window + 3 + @slots + @send_bufs) times @fragment. Besides, up to
 * @queue_bytes of copies, one message of up to @max_message in reassembly, and
 * some 50 bytes for each of @queue_messages.
 */
struct xvm_channel_opts {
	uint32_t size;
	uint32_t flags;
	uint32_t fragment;
	uint32_t window;
	uint32_t slots;
	uint32_t max_message;
	uint32_t queue_messages;
	uint32_t send_bufs;
	uint64_t queue_bytes;
	uint32_t keepalive_ms;
	uint32_t linger_ms;
	uint32_t establish_ms;
	uint32_t reserved;
};

/**
 * XVM_OPTS() - an option struct with its size filled in
 * @type: name of the struct
 *
 * As in XVM_OPTS(xvm_channel_opts, .window = 16). C only.
 */
#define XVM_OPTS(type, ...)						\
	(&(const struct type){ .size = sizeof(struct type), __VA_ARGS__ })

/**
 * xvm_send() - send a message
 * @ch: the channel
 * @msg: its bytes, which are copied
 * @len: their number; may be 0
 * @context: handed to &xvm_ops.sent
 *
 * May be called before the channel is established. A refused message was not
 * taken at all.
 *
 * Return: 0; -EMSGSIZE if it is longer than the longest one; -EAGAIN if the queue
 * is full: see xvm_fc_open_create(); -ESHUTDOWN after xvm_shutdown(), or if the
 * peer closes; -ENOTCONN if the channel has ended; -ENOMEM; -EINVAL if @msg is
 * NULL and @len is not 0.
 */
int xvm_send(struct xvm_channel *ch, const void *msg, size_t len,
	     void *context);

/**
 * xvm_sendv() - send a message of several pieces
 * @ch: the channel
 * @iov: the pieces, which are copied; each may be empty
 * @n: their number, any
 * @context: handed to &xvm_ops.sent
 *
 * Return: as xvm_send(); -EMSGSIZE also if the sum of the lengths overflows.
 */
int xvm_sendv(struct xvm_channel *ch, const struct iovec *iov, unsigned int n,
	      void *context);

/**
 * xvm_alloc_send_buf() - memory to write a message into
 * @ch: the channel
 * @len: bytes
 * @buf: gets the address, aligned to 16 bytes
 * @key: gets a name for it, which is never used again
 *
 * A message that fits one fragment is sent from there without a copy. Longer
 * ones are copied piece by piece.
 *
 * Return: 0; -EMSGSIZE; -EAGAIN if there are &xvm_channel_opts.send_bufs of
 * them; -ESHUTDOWN, -ENOTCONN; -ENOMEM.
 */
int xvm_alloc_send_buf(struct xvm_channel *ch, size_t len, void **buf,
		       uint64_t *key);

/**
 * xvm_send_buf() - send what was written into a buffer
 * @ch: the channel
 * @key: of xvm_alloc_send_buf()
 * @len: bytes, at most what was asked for
 * @context: handed to &xvm_ops.sent
 *
 * On success the buffer is the channel's and must not be touched any more. After
 * an error it is still the caller's.
 *
 * Return: as xvm_send(); -EINVAL if @key names no buffer, not any more, or a
 * shorter one.
 */
int xvm_send_buf(struct xvm_channel *ch, uint64_t key, size_t len,
		 void *context);

/**
 * xvm_cancel_send_buf() - give a buffer back that was not sent
 * @ch: the channel
 * @key: of xvm_alloc_send_buf()
 *
 * Return: 0; -EINVAL if @key names no buffer, or one that was sent or given back.
 */
int xvm_cancel_send_buf(struct xvm_channel *ch, uint64_t key);

/**
 * xvm_send_ok() - is the queue open?
 * @ch: the channel
 *
 * After -EAGAIN the queue counts as full until half of its messages and bytes
 * are free.
 *
 * Return: 1 if messages are taken and it is not full, else 0.
 */
int xvm_send_ok(const struct xvm_channel *ch);

/**
 * xvm_fc_open_create() - have a function called when the queue is open
 * @ch: the channel
 * @handle: gets a handle, for xvm_fc_open_destroy()
 * @fn: the function
 * @data: its argument
 *
 * If the queue is open, also if it never was full, @fn is called by the next
 * dispatch; else when it opens. It sends what it has. It returns 0 when it is
 * done: it is not called again, and its handle means nothing any more. It returns
 * -1 if the queue got full again: it is called when the queue has opened, before
 * those that came later. Any other value counts as 0.
 *
 * The oldest one is called first, each once at a time. Who returns -1 keeps the
 * later ones from being called. Who does so eight times although the queue is
 * open gets the last place. One made inside such a function waits for the next
 * time. None is called after the channel has begun to close or has ended.
 *
 * Return: 0; -EINVAL if @handle or @fn is NULL; -ESHUTDOWN, -ENOTCONN; -ENOMEM.
 */
int xvm_fc_open_create(struct xvm_channel *ch, void **handle,
		       int (*fn)(void *data), void *data);

/**
 * xvm_fc_open_destroy() - have it not called any more
 * @ch: the channel
 * @handle: the handle, which becomes NULL
 *
 * Any time, also from inside the function, and also if it was called for the
 * last time.
 *
 * Return: 0; -EINVAL if @handle is NULL.
 */
int xvm_fc_open_destroy(struct xvm_channel *ch, void **handle);

/**
 * xvm_shutdown() - close a channel when everything was delivered
 * @ch: the channel
 * @linger_ms: longest time that it may take; 0: &xvm_channel_opts.linger_ms
 *
 * Messages are still received, and those of both sides are delivered. Then comes
 * &xvm_ops.closed with 0. If time is over before, it comes with -ETIMEDOUT, after
 * &xvm_ops.sent of what was not delivered.
 *
 * Return: 0; -EALREADY; -ENOTCONN if the channel has ended; -EINVAL.
 */
int xvm_shutdown(struct xvm_channel *ch, unsigned int linger_ms);

/**
 * xvm_abort() - end a channel at once
 * @ch: the channel
 *
 * The next dispatches call &xvm_ops.sent for what was not delivered, then
 * &xvm_ops.closed, both with -ECANCELED.
 *
 * Return: 0, also if it has ended already.
 */
int xvm_abort(struct xvm_channel *ch);

/**
 * xvm_destroy() - destroy a channel
 * @ch: the channel, or NULL
 *
 * In any state. It is aborted if need be. No function of it is called afterwards,
 * not even for messages that are outstanding: who needs that aborts it and waits
 * for &xvm_ops.closed.
 */
void xvm_destroy(struct xvm_channel *ch);

/**
 * enum xvm_state - states of a channel
 * @XVM_CONNECTING: there is no connection yet
 * @XVM_GREETING: there is, but the peer's HELLO has not come
 * @XVM_OPEN: messages go
 * @XVM_CLOSING: one side closes; what was accepted is being delivered
 * @XVM_ENDING: it has failed, or all is done; the connection is being cut
 * @XVM_CLOSED: it has ended
 */
enum xvm_state {
	XVM_CONNECTING		= 1,
	XVM_GREETING		= 2,
	XVM_OPEN		= 3,
	XVM_CLOSING		= 4,
	XVM_ENDING		= 5,
	XVM_CLOSED		= 6,
};

/**
 * struct xvm_info - result of xvm_query()
 * @size: bytes of this struct, set by the caller
 * @state: enum xvm_state
 * @version: version agreed upon; 0 before
 * @fragment: bytes of a receive buffer
 * @peer_fragment: that of the peer; 0 before it is known
 * @window: receive buffers for messages
 * @peer_window: those of the peer; 0 before it is known
 * @max_message: longest message; after &xvm_ops.established that of both
 * @credits: frames that may be sent
 * @owed: frames that the peer may send, and does not know of yet
 * @queued: messages accepted and not delivered
 * @send_bufs: buffers of xvm_alloc_send_buf() in use
 * @queued_bytes: bytes of these messages
 * @undelivered: messages that were accepted and have failed
 * @err: after the end: positive errno that &xvm_ops.closed had
 * @fault: what this side found wrong with a frame, or 0: see xvm_fault_name()
 * @peer_fault: what the peer has said that it found, or 0
 * @reserved: 0
 */
struct xvm_info {
	uint32_t size;
	uint32_t state;
	uint32_t version;
	uint32_t fragment;
	uint32_t peer_fragment;
	uint32_t window;
	uint32_t peer_window;
	uint32_t max_message;
	uint32_t credits;
	uint32_t owed;
	uint32_t queued;
	uint32_t send_bufs;
	uint64_t queued_bytes;
	uint64_t undelivered;
	uint32_t err;
	uint32_t fault;
	uint32_t peer_fault;
	uint32_t reserved;
};

/**
 * xvm_query() - ask a channel
 * @ch: the channel
 * @info: gets the answer; its size must be set
 *
 * Return: 0; -EINVAL if the size is not that of a known struct.
 */
int xvm_query(const struct xvm_channel *ch, struct xvm_info *info);

/* Room for faults in struct xvm_counters. */
#define XVM_NUM_FAULTS	32

/**
 * struct xvm_counters - what a channel has done
 * @size: bytes of this struct, set by the caller
 * @reserved: 0
 * @messages_out: messages delivered to the peer
 * @bytes_out: their bytes
 * @frames_out: frames sent
 * @messages_in: messages received
 * @bytes_in: their bytes
 * @frames_in: frames received
 * @early: messages accepted before the channel was established
 * @eagain: messages and buffers refused since the queue was full
 * @credit_stalls: times that messages had to wait for the peer
 * @credit_stall_ms: milliseconds that they waited
 * @slot_stalls: times that messages had to wait for the device
 * @queue_peak: most messages that were queued
 * @queue_peak_bytes: most bytes that were queued
 * @grants: grants sent by themselves
 * @grants_carried: grants sent along with something else
 * @keepalives: probes of the peer's device
 * @copied: messages that were copied because they had to wait
 * @in_place: messages sent from a send buffer without a copy
 * @fc_calls: calls of functions of xvm_fc_open_create()
 * @flushed: messages that were accepted and have failed
 * @faults: frames of the peer that were wrong, by kind: see xvm_fault_name()
 */
struct xvm_counters {
	uint32_t size;
	uint32_t reserved;
	uint64_t messages_out;
	uint64_t bytes_out;
	uint64_t frames_out;
	uint64_t messages_in;
	uint64_t bytes_in;
	uint64_t frames_in;
	uint64_t early;
	uint64_t eagain;
	uint64_t credit_stalls;
	uint64_t credit_stall_ms;
	uint64_t slot_stalls;
	uint64_t queue_peak;
	uint64_t queue_peak_bytes;
	uint64_t grants;
	uint64_t grants_carried;
	uint64_t keepalives;
	uint64_t copied;
	uint64_t in_place;
	uint64_t fc_calls;
	uint64_t flushed;
	uint64_t faults[XVM_NUM_FAULTS];
};

/**
 * xvm_get_counters() - what a channel has done
 * @ch: the channel
 * @counters: gets the numbers, which only grow; its size must be set
 *
 * Return: 0; -EINVAL if the size is not that of a known struct.
 */
int xvm_get_counters(const struct xvm_channel *ch,
		     struct xvm_counters *counters);

/**
 * xvm_fault_name() - what was wrong with a frame
 * @fault: of struct xvm_info, or index in &xvm_counters.faults
 *
 * Return: the name ("length"), or "unknown".
 */
const char *xvm_fault_name(unsigned int fault);

/**
 * xvm_state_name() - name of an enum xvm_state
 * @state: the state
 *
 * Return: the name ("open"), or "unknown".
 */
const char *xvm_state_name(unsigned int state);

/* ------------------------------------------------------------------------
 * Contexts
 */

/* A device, and a file descriptor to wait for. */
struct xvm_ctx;

/**
 * xvm_open() - open a device for channels
 * @device: as for xv_open(): name of the RDMA device; NULL: the first
 * @flags: must be 0
 * @ctx: gets the context
 *
 * Return: 0; what xv_open() returns; -EINVAL for flags; -ENOMEM, -EMFILE.
 */
int xvm_open(const char *device, int flags, struct xvm_ctx **ctx);

/**
 * xvm_close() - destroy a context and all that belongs to it
 * @ctx: the context, or NULL
 *
 * Channels are aborted. No function of the program is called afterwards. From
 * inside one it is the last call: the context is freed when the dispatch ends.
 */
void xvm_close(struct xvm_ctx *ctx);

/**
 * xvm_fd() - the file descriptor to wait for
 * @ctx: the context
 *
 * It is readable, as poll(2) and epoll(7) have it, when xvm_dispatch() has
 * something to do: also when time is over, so that no other timer is needed.
 *
 * Return: the descriptor, which stays the context's.
 */
int xvm_fd(const struct xvm_ctx *ctx);

/**
 * xvm_dispatch() - do what is to be done, and call the program's functions
 * @ctx: the context
 *
 * Does not wait, and does not go on for ever: each channel that has something
 * gets at most 64 completions. What is left keeps the descriptor readable.
 *
 * Return: 0; -EBUSY from inside a function that it has called; -ENODEV when the
 * device is gone and all channels were told; errors of xv_event_read().
 */
int xvm_dispatch(struct xvm_ctx *ctx);

/**
 * xvm_error_text() - what was wrong when something could not be made
 * @ctx: the context
 *
 * Of the last xvm_connect(), xvm_accept() or xvm_listen(): which operation of
 * the kernel's, which attribute, which limit; RLIMIT_MEMLOCK for example.
 *
 * Return: the text, valid until the next one; empty if there is nothing to say.
 */
const char *xvm_error_text(const struct xvm_ctx *ctx);

/**
 * xvm_get_totals() - what all channels of a context have done
 * @ctx: the context
 * @counters: gets the numbers; its size must be set
 *
 * Those that are gone count too, and requests that were no good, in
 * &xvm_counters.faults. A peak is the highest of any channel.
 *
 * Return: 0; -EINVAL if the size is not that of a known struct.
 */
int xvm_get_totals(const struct xvm_ctx *ctx, struct xvm_counters *counters);

/* ------------------------------------------------------------------------
 * Connecting and accepting
 */

/* Bytes of the program's own that go with a request, and with a reject. */
#define XVM_CONNECT_DATA	48
#define XVM_REJECT_DATA		140

/**
 * struct xvm_connect_opts - where to connect to
 * @size: bytes of this struct
 * @data_len: bytes of @data, at most %XVM_CONNECT_DATA
 * @dst: struct sockaddr_in or sockaddr_in6
 * @src: address to connect from, or NULL
 * @data: told to the peer before it decides: xvm_request_data()
 * @channel: what the channel shall be, or NULL
 * @reserved: 0
 */
struct xvm_connect_opts {
	uint32_t size;
	uint32_t data_len;
	const struct sockaddr *dst;
	const struct sockaddr *src;
	const void *data;
	const struct xvm_channel_opts *channel;
	uint64_t reserved;
};

/**
 * xvm_connect() - make a channel to an address
 * @ctx: the context
 * @opts: where to, and what the channel shall be
 * @ops: functions of the program; copied
 * @user: their last argument
 * @ch: gets the channel
 *
 * Queues, memory and connection are made in one system call; what comes of it is
 * told by &xvm_ops.established or &xvm_ops.closed. Messages may be sent at once.
 *
 * Return: 0; -EINVAL; -ENOMEM, also if RLIMIT_MEMLOCK is too small, which
 * xvm_error_text() says; -EADDRINUSE, -EADDRNOTAVAIL, -EPERM for the address to
 * connect from; other errors of %XV_IOC_TXN.
 */
int xvm_connect(struct xvm_ctx *ctx, const struct xvm_connect_opts *opts,
		const struct xvm_ops *ops, void *user,
		struct xvm_channel **ch);

/* Takes requests at an address. */
struct xvm_listener;

/*
 * A peer that wants to connect. It is valid until the function that was told of
 * it returns.
 */
struct xvm_request;

/**
 * struct xvm_listen_opts - where to listen
 * @size: bytes of this struct
 * @backlog: requests that may wait; 0: 16
 * @addr: struct sockaddr_in or sockaddr_in6 of the device; port 0: any free one
 * @reuse: 1: the address may be in use
 * @reserved: 0
 */
struct xvm_listen_opts {
	uint32_t size;
	uint32_t backlog;
	const struct sockaddr *addr;
	uint32_t reuse;
	uint32_t reserved;
};

/**
 * xvm_listen() - listen at an address
 * @ctx: the context
 * @opts: where
 * @fn: called for each request; it calls xvm_accept() or xvm_reject(). If it
 *	calls neither the peer is refused
 * @user: its last argument
 * @l: gets the listener
 *
 * Peers that do not speak this protocol, or no version that we know, are refused
 * without asking @fn.
 *
 * Return: 0; -EINVAL; -EADDRINUSE; -EADDRNOTAVAIL; -EOPNOTSUPP for a wildcard;
 * -EPERM for a port below 1024; -ENOMEM.
 */
int xvm_listen(struct xvm_ctx *ctx, const struct xvm_listen_opts *opts,
	       void (*fn)(struct xvm_listener *l, struct xvm_request *req,
			  void *user),
	       void *user, struct xvm_listener **l);

/**
 * xvm_listener_address() - where a listener listens
 * @l: the listener
 * @addr: gets the address, with the port
 *
 * Return: 0.
 */
int xvm_listener_address(const struct xvm_listener *l,
			 struct sockaddr_storage *addr);

/**
 * xvm_listener_destroy() - listen no more
 * @l: the listener, or NULL
 *
 * Requests that wait are refused; channels stay.
 */
void xvm_listener_destroy(struct xvm_listener *l);

/**
 * xvm_accept() - make a channel for a request
 * @req: the request
 * @opts: what the channel shall be, or NULL
 * @ops: functions of the program; copied
 * @user: their last argument
 * @ch: gets the channel
 *
 * After an error the request may still be accepted or rejected.
 *
 * Return: as xvm_connect(); -EALREADY if it was answered; -ECONNABORTED if the
 * peer has given up or the listener was destroyed.
 */
int xvm_accept(struct xvm_request *req, const struct xvm_channel_opts *opts,
	       const struct xvm_ops *ops, void *user, struct xvm_channel **ch);

/**
 * xvm_reject() - refuse a request
 * @req: the request
 * @data: told to the peer, which sees -ECONNREFUSED: xvm_get_reject_data()
 * @len: bytes of it, at most %XVM_REJECT_DATA
 *
 * Return: 0; -EINVAL; -EALREADY if it was answered; -ECONNABORTED if the peer has
 * given up or the listener was destroyed.
 */
int xvm_reject(struct xvm_request *req, const void *data, size_t len);

/**
 * xvm_request_data() - what the peer says about itself
 * @req: the request
 * @buf: gets it
 * @len: room there
 *
 * The connection manager of InfiniBand and RoCE pads it with zeros to
 * %XVM_CONNECT_DATA.
 *
 * Return: bytes that there are.
 */
int xvm_request_data(const struct xvm_request *req, void *buf, size_t len);

/**
 * xvm_request_address() - where the peer is
 * @req: the request
 * @remote: gets its address
 *
 * Return: 0.
 */
int xvm_request_address(const struct xvm_request *req,
			struct sockaddr_storage *remote);

/**
 * xvm_get_addresses() - the addresses of a channel
 * @ch: the channel
 * @local: gets that of this side, or NULL
 * @remote: gets that of the peer, or NULL
 *
 * Return: 0; errors of xv_conn_query().
 */
int xvm_get_addresses(const struct xvm_channel *ch,
		      struct sockaddr_storage *local,
		      struct sockaddr_storage *remote);

/**
 * xvm_get_reject_data() - what the peer has said with a reject
 * @ch: the channel, which was refused
 * @buf: gets it
 * @len: room there
 *
 * Padded like xvm_request_data().
 *
 * Return: bytes that there are; 0 if the peer has said nothing.
 */
int xvm_get_reject_data(const struct xvm_channel *ch, void *buf, size_t len);

#ifdef __cplusplus
}
#endif

#endif /* _XVMSG_H */
