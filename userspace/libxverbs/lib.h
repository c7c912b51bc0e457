/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libxverbs: what its files share.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_LIB_H
#define _XV_LIB_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "xverbs.h"

/* Everything is hidden by default; the symbol map names what goes out. */
#define XV_PUBLIC __attribute__((visibility("default")))

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static inline void xv_restore_errno(int *saved)
{
	errno = *saved;
}

/* The library promises to leave errno alone: one such line per entry point. */
#define XV_KEEP_ERRNO							\
	__attribute__((cleanup(xv_restore_errno), unused))		\
	int xv_saved_errno = errno

/* What is to be done with an operation after the commit. */
enum xv_fix_kind {
	XV_FIX_SAVE,		/* an output: only restore it for a retry */
	XV_FIX_EVENTQ,		/* a new object */
	XV_FIX_PD,
	XV_FIX_MR,
	XV_FIX_AH,
	XV_FIX_MCAST,
	XV_FIX_SUBSCRIPTION,
	XV_FIX_CQ,
	XV_FIX_QP,
	XV_FIX_SRQ,
	XV_FIX_LISTENER,
	XV_FIX_CONN,
	XV_FIX_GONE,		/* a destroyed one */
	XV_FIX_CQ_GONE,
	XV_FIX_QP_GONE,
	XV_FIX_SRQ_GONE,
	XV_FIX_FIRST_RECVS,	/* receives that went into a new queue pair */
	XV_FIX_SRQ_RECVS,	/* or shared receive queue */
};

struct xv_fix {
	enum xv_fix_kind kind;
	uint32_t attr;		/* offset of the attribute, 0: none */
	struct xv_obj *obj;
	uint64_t data;		/* the attribute as it was before the call */
	uint16_t len;
};

/* Memory that must stay until the commit: copies of the caller's buffers. */
struct xv_chunk {
	struct xv_chunk *next;
	size_t used;
	size_t size;
	uint64_t mem[];
};

struct xv_tx {
	struct xv_ctx *ctx;
	unsigned int flags;	/* for the kernel */
	bool now;		/* typed calls commit at once */
	bool done;		/* committed: what is here is the past */
	int broken;		/* an operation could not be added */
	uint8_t *buf;
	size_t len;
	size_t size;
	uint32_t op;		/* offset of the operation begun last */
	uint32_t num_ops;
	struct xv_fix *fixes;
	unsigned int num_fixes;
	unsigned int max_fixes;
	struct xv_chunk *chunks;
	struct xv_error err;
	struct xv_error refused; /* why it is broken */
};

struct xv_map {
	struct xv_map *next;
	uint64_t mmap_offset;
	size_t length;
	uint8_t *addr;
};

/* Room for the handles of dead queue pairs; the context frees what is left. */
struct xv_dead {
	struct xv_dead *next;
	struct xv_dead **prev;
	uint32_t handles[];
};

struct xv_ctx {
	int fd;
	uint64_t num_ioctls;
	pthread_mutex_t lock;	/* maps, dead, desc */
	struct xv_map *maps;
	struct xv_dead *dead;
	struct xv_describe *desc;
	struct xv_tx now;
};

/*
 * An option struct of the caller's size as one of ours: fields that the caller
 * does not know are 0; fields that we do not know must be. Returns 0 or the
 * enum xv_reason.
 */
int xv_get_opts(void *opts, size_t size, const void *user);

/* ctx.c */
int xv_ctx_ioctl(struct xv_ctx *ctx, unsigned long cmd, void *arg);
int xv_ctx_map(struct xv_ctx *ctx, const struct xv_area *area, uint8_t **mem);

/* message.c */
int xv_tx_init(struct xv_tx *tx, struct xv_ctx *ctx, unsigned int flags);
void xv_tx_exit(struct xv_tx *tx);
const struct xv_op *xv_tx_find_op(const struct xv_tx *tx, unsigned int op);

/* data.c: the user's side of completion queues at a destroy */
int xv_cq_reserve_dead(struct xv_cq *cq);
void xv_cq_forget_qp(struct xv_cq *cq, uint32_t qp);
void xv_cq_clear(struct xv_cq *cq);

#endif /* _XV_LIB_H */
