/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Transactions: get, handler and put over all operations of one call.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_CORE_TXN_H
#define _XV_CORE_TXN_H

#include <rdma/ib_verbs.h>
#include "parse.h"
#include "uobj.h"

/* Locks of one call: every operation can bring a few handles. */
struct xv_lock {
	struct xv_uobj *obj;
	struct xv_slot *slot;
	struct xv_opx *op;
	bool held;
};

/**
 * struct xv_call - a transaction while it is executed
 * @file: the file
 * @ibdev: the RDMA device from the get phase on; NULL after removal
 * @parsed: the operations
 * @wire: where the message lies in user memory
 * @error: the error record
 * @locks: objects locked by this call, ascending
 * @num_locks: number of @locks
 * @num_chunks: number of @chunks
 * @chunks: memory of results, freed with the call
 */
struct xv_call {
	struct xv_file *file;
	struct ib_device *ibdev;
	struct xv_parsed parsed;
	void __user *wire;
	struct xv_error error;
	struct xv_lock *locks;
	u32 num_locks;
	u32 num_chunks;
	void *chunks[XV_MAX_OPS];
};

int xv_txn(struct xv_file *file, struct xv_txn __user *arg);

int xv_fail(struct xv_call *call, const struct xv_opx *op, u16 group, u16 attr,
	    u16 reason, u64 detail);
int xv_fail_obj(struct xv_call *call, const struct xv_opx *op, u16 group,
		u16 attr, u16 reason, const struct xv_uobj *obj);
int xv_fail_raw(struct xv_call *call, const struct xv_opx *op, u16 reason,
		int raw);
int xv_fail_driver(struct xv_call *call, const struct xv_opx *op, int raw);

int xv_result(struct xv_call *call, struct xv_opx *op, const void *data,
	      u32 size);
void *xv_result_alloc(struct xv_call *call, struct xv_opx *op, u32 size);

/* The object that a handle attribute names, or NULL if it was not given. */
static inline struct xv_uobj *xv_handle(const struct xv_opx *op, u16 id)
{
	const struct xv_slot *slot = xv_slot(op, XV_GRP_OBJECT, id);

	return slot ? slot->obj : NULL;
}

/*
 * Fault points, so that tests reach the error paths that memory shortage does
 * not: see Documentation/testing.rst. Without fault injection in the kernel
 * they are constant.
 */
enum xv_fault {
	XV_FAULT_GET,
	XV_FAULT_MAKE,
	XV_FAULT_COPY,
	XV_FAULT_LAST,
	XV_NUM_FAULTS,
};

#ifdef CONFIG_FAULT_INJECTION
bool xv_fault(enum xv_fault point);
int xv_fault_destroy(void);
void xv_fault_delay_cm(void);
#else
static inline bool xv_fault(enum xv_fault point)
{
	return false;
}

static inline int xv_fault_destroy(void)
{
	return 0;
}

static inline void xv_fault_delay_cm(void)
{
}
#endif

#endif /* _XV_CORE_TXN_H */
