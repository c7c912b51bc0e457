/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Addresses, as queue pairs and address handles have them.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_OBJECTS_ADDRESS_H
#define _XV_OBJECTS_ADDRESS_H

#include "../core/txn.h"

int xv_address_fill(struct xv_call *call, struct xv_opx *op, struct ib_pd *pd,
		    u32 port, struct rdma_ah_attr *ah, bool *to_self);

#endif /* _XV_OBJECTS_ADDRESS_H */
