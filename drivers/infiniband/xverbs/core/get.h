/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The get phase of a transaction.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_CORE_GET_H
#define _XV_CORE_GET_H

struct xv_call;

int xv_get_handles(struct xv_call *call);
int xv_check_destroy_set(struct xv_call *call);
void xv_unlock_handles(struct xv_call *call);

#endif /* _XV_CORE_GET_H */
