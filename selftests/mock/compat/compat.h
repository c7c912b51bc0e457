/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What differs between the kernels that the mock device is built for.
 * Included before every source file; the only place that knows versions.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XVMOCK_COMPAT_H
#define _XVMOCK_COMPAT_H

#define pr_fmt(fmt) "xvmock: " fmt

#include <linux/version.h>

/* 6.11: create_cq() gets the whole bundle of attributes. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
#define MOCK_CQ_ARGS	struct ib_udata
#else
#define MOCK_CQ_ARGS	struct uverbs_attr_bundle
#endif

/* 6.17: reg_user_mr() has a DMA handle before the udata. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define MOCK_MR_ARGS	struct ib_udata *udata
#else
#define MOCK_MR_ARGS	struct ib_dmah *dmah, struct ib_udata *udata
#endif

#endif /* _XVMOCK_COMPAT_H */
