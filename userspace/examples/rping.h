/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * xv_rping: what the program and its connections share.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _RPING_H
#define _RPING_H

#include <stdbool.h>
#include <stdint.h>
#include <xverbs.h>

#define PING_FORMAT	"rdma-ping-%u: "
#define MIN_SIZE	sizeof("rdma-ping-2147483647: ")
#define MAX_SIZE	65535

struct options {
	int server;			/* -1: not said */
	const char *device;
	const char *address;
	const char *source;
	unsigned int port;
	unsigned int size;
	unsigned int count;		/* 0: for ever */
	unsigned int seconds;		/* to establish; 0: the default */
	bool persistent;
	bool verbose;
	bool validate;
	bool debug;
};

/* What a connection waits for. */
enum step {
	WAIT_PING,	/* server: where is the ping? */
	WAIT_READ,	/* server: the ping itself */
	WAIT_PONG,	/* server: where shall the pong go? */
	WAIT_WRITE,	/* server: the pong has been written */
	WAIT_GO_PONG,	/* client: the ping was read */
	WAIT_GO_PING,	/* client: the pong was written */
	DONE,		/* client: all pings are done */
};

struct memory;

struct peer {
	struct xv_cq cq;
	struct xv_mr mr;
	struct xv_qp qp;
	struct xv_conn conn;
	struct memory *mem;
	enum step step;
	unsigned int pings;
	uint32_t ping_len;
	bool failed;
};

/* xv_rping.c */
extern struct options opt;
extern struct xv_ctx *ctx;
extern struct xv_eventq eq;
extern struct xv_pd pd;
extern unsigned int num_peers;

/* Each says on standard error what failed and returns an errno, negative. */
int fail(const char *what, int ret);
int fail_txn(const struct xv_tx *tx, int ret);

__attribute__((format(printf, 1, 2)))
void debug(const char *format, ...);

/*
 * rping_peer.c: one connection. Return 0 or a negative errno, after a message;
 * make_peer() of a request that is gone -ENOENT without one.
 */
int make_peer(struct peer **out, const struct sockaddr *dst,
	      const struct sockaddr *src, struct xv_listener *listener,
	      uint64_t token);
void free_peer(struct peer *p);
int start_ping(struct peer *p);
int send_and_arm(struct peer *p);
int serve(struct peer *p);
void give_up(struct peer *p);

#endif /* _RPING_H */
