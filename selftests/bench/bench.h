/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the benchmarks share.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * A figure is measured by two functions which do the same work: one by libxverbs,
 * and its twin by libibverbs and librdmacm. Each call of one is a round, in a
 * process of its own: what it sets up before start() and takes down after stop()
 * does not count, and whatever it leaves goes with the process.
 */
#ifndef _BENCH_H
#define _BENCH_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <xverbs.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/**
 * struct run - one round
 * @n: operations to do between start() and stop()
 * @arg: what the figure says: a batch, a size, a number of queue pairs
 * @total: what it took; instructions where they are counted, else nanoseconds.
 *	Figures of memory set it to bytes
 * @idle: of it, when the processor had nothing to do
 * @begun: when start() was called
 * @idle_begun: idle time until then
 */
struct run {
	unsigned int n;
	unsigned int arg;
	int64_t total;
	int64_t idle;
	int64_t begun;
	int64_t idle_begun;
};

/* What lies between is added to the round; may be called several times. */
void start(struct run *r);
void stop(struct run *r);
/* Only what is said, without asking how much of it was idle. */
int64_t now(void);

/* The units beside that of time. */
#define BYTES	"bytes"

/**
 * struct figure - one line of the table
 * @name: short, without blanks
 * @text: for people
 * @ours: by libxverbs
 * @twin: the same by libibverbs and librdmacm
 * @unit: BYTES; NULL: that of time
 * @n: &run.n; what was measured is divided by it
 * @arg: &run.arg
 * @must: twin / ours must be at least this; 0: nothing is asked
 * @at_most: ours must be at most this; 0: nothing is asked
 * @at_length: only with --long
 */
struct figure {
	const char *name;
	const char *text;
	void (*ours)(struct run *r);
	void (*twin)(struct run *r);
	const char *unit;
	unsigned int n;
	unsigned int arg;
	double must;
	double at_most;
	bool at_length;
};

/**
 * struct group - figures that belong together
 * @name: short, without blanks
 * @text: for people
 * @figures: the last one has no name
 */
struct group {
	const char *name;
	const char *text;
	const struct figure *figures;
};

extern const struct figure cm_figures[];
extern const struct figure control_figures[];
extern const struct figure data_figures[];

/* End the round, and with it the program, if something is not as it must be. */
__attribute__((format(printf, 1, 2), noreturn))
void die(const char *fmt, ...);

/* A call that returns 0, or an errno, positive or negative. */
#define ok(call)							\
do {									\
	int ok_ret = (call);						\
									\
	if (ok_ret)							\
		die("%s:%d: %s: %d", __FILE__, __LINE__, #call, ok_ret);\
} while (0)

/* Something that must be so; a pointer that must not be NULL. */
#define check(cond)							\
do {									\
	if (!(cond))							\
		die("%s:%d: not so: %s", __FILE__, __LINE__, #cond);	\
} while (0)

/* Name of the RDMA device. */
extern const char *device;

void *page_alloc(size_t bytes);
/* Fill memory, and see that it was filled so. */
void fill(uint8_t *p, size_t bytes, unsigned int seed);
void check_filled(const uint8_t *p, size_t bytes, unsigned int seed);
/* Operations before the first start(): caches, tables, pages not yet touched. */
#define WARM_UP		2

#define MTU		4096
#define RD_ATOMIC	16
#define QKEY		0x1ee7

/**
 * struct ours - what most rounds have: everything but queue pairs
 * @ctx: device
 * @pd: protection domain
 * @mr: all of @buf
 * @cq: one completion queue for all
 * @buf: memory
 * @bytes: its length
 * @gid: address of the device
 * @gid_index: where it stands
 */
struct ours {
	struct xv_ctx *ctx;
	struct xv_pd pd;
	struct xv_mr mr;
	struct xv_cq cq;
	uint8_t *buf;
	size_t bytes;
	uint8_t gid[16];
	unsigned int gid_index;
};

void ours_open(struct ours *o, size_t bytes, unsigned int cqe);
/* Like ok(), with the words of the error record. */
void ours_ok(struct xv_tx *tx, int ret);
/* Queue pairs in INIT; @num a multiple of 2 or 1. */
void ours_create(struct ours *o, struct xv_qp *qps, unsigned int num,
		 unsigned int type, unsigned int send_wr, unsigned int recv_wr);
/* Where a queue pair's peer is. */
void ours_peer(struct ours *o, struct xv_qp_attr *attr, const struct xv_qp *peer);
/* qps[0] with qps[1], qps[2] with qps[3] and so on. */
void ours_connect(struct ours *o, struct xv_qp *qps, unsigned int num);
/* Take @num completions, all of which must be good; waits for them. */
void ours_reap(struct ours *o, struct xv_wc *wc, unsigned int num);

/**
 * struct twin - the same by libibverbs
 * @ctx: device
 * @pd: protection domain
 * @mr: all of @buf
 * @channel: for events of @cq
 * @cq: one completion queue for all
 * @buf: memory
 * @bytes: its length
 * @gid: address of the device
 * @gid_index: where it stands
 */
struct twin {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	uint8_t *buf;
	size_t bytes;
	union ibv_gid gid;
	unsigned int gid_index;
};

void twin_open(struct twin *t, size_t bytes, unsigned int cqe);
/* The same with a device that is open already. */
void twin_open_with(struct twin *t, struct ibv_context *ctx, size_t bytes,
		    unsigned int cqe);
void twin_find_gid(struct twin *t);
/* Queue pairs in INIT. */
struct ibv_qp *twin_create(struct twin *t, enum ibv_qp_type type,
			   unsigned int send_wr, unsigned int recv_wr);
void twin_init(struct ibv_qp *qp);
/* From INIT to RTS. */
void twin_connect_to(struct twin *t, struct ibv_qp *qp, uint32_t peer);
void twin_connect(struct twin *t, struct ibv_qp **qps, unsigned int num);
/* Take @num completions; looks, and sleeps when there are none. */
void twin_reap(struct twin *t, unsigned int num);
/* The same, and never sleeps. */
void twin_spin(struct twin *t, unsigned int num);

#endif /* _BENCH_H */
