/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libxverbs: how a message is built.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_TXN_H
#define _XV_TXN_H

#include "lib.h"

/*
 * message.c. Return a negative errno, which is also remembered.
 */
int xv_msg_refuse(struct xv_tx *tx, int err, unsigned int reason,
		  unsigned int group, unsigned int attr);
int xv_msg_fail(struct xv_tx *tx, int err);
/* Begins an operation; its number. */
int xv_msg_op(struct xv_tx *tx, unsigned int object, unsigned int method);
/* Adds an attribute; its offset. */
long xv_msg_attr(struct xv_tx *tx, unsigned int group, unsigned int id,
		 unsigned int len, unsigned int flags, uint64_t data);
/* What is to be done with the attribute at @off after the commit. */
int xv_msg_fix(struct xv_tx *tx, enum xv_fix_kind kind, long off,
	       struct xv_obj *obj, uint64_t data, unsigned int len);
struct xv_txn *xv_msg_header(struct xv_tx *tx);
void xv_msg_forget(struct xv_tx *tx);
void xv_msg_abort(struct xv_tx *tx);

/*
 * typed.c: xv_tx_op(), any number of the others, xv_tx_end(). A failure is remembered
 * and returned at the end; then nothing is sent.
 */
int xv_tx_op(struct xv_tx *tx, unsigned int object, unsigned int method);
void xv_tx_val(struct xv_tx *tx, unsigned int group, unsigned int id,
	       unsigned int len, uint64_t val);
void xv_tx_new(struct xv_tx *tx, enum xv_fix_kind kind, struct xv_obj *obj);
void xv_tx_ref(struct xv_tx *tx, unsigned int group, unsigned int id,
	       const struct xv_obj *obj, uint32_t handle);
void xv_tx_after(struct xv_tx *tx, enum xv_fix_kind kind, struct xv_obj *obj,
		 uint64_t data);
void xv_tx_out(struct xv_tx *tx, unsigned int group, unsigned int id,
	       void *buf, unsigned int len);
void *xv_tx_copy(struct xv_tx *tx, unsigned int group, unsigned int id,
		 const void *buf, size_t len);
void xv_tx_fail(struct xv_tx *tx, int err);
void xv_tx_refuse(struct xv_tx *tx, unsigned int reason, unsigned int group,
		  unsigned int attr);
int xv_tx_end(struct xv_tx *tx);

#endif /* _XV_TXN_H */
