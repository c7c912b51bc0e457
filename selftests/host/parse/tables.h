/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tables for the tests of the parser: each kind of attribute and each class of
 * method, without the objects of the module.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _TEST_TABLES_H
#define _TEST_TABLES_H

#include "spec.h"

/* Attributes of T_CREATE beside the handles. */
#define G_CAPS		XV_GRP_CAPS
#define A_U32		1	/* 1..1024, required */
#define A_U32_OPT	2	/* 0..10 */
#define A_U64		3	/* 5..2^40 */
#define A_REFUSED	77	/* known and not offered */
#define G_ACCESS	XV_GRP_ACCESS
#define A_BITS		1	/* 0xf */
#define G_ONE		XV_GRP_ADDRESS	/* exactly one of these two */
#define A_ONE		1
#define G_OTHER		XV_GRP_PATH
#define A_ENUM		1	/* 1, 2 or 5 */
#define G_PARAMS	XV_GRP_PARAMS
#define A_STRUCT	1	/* 16..32 bytes */
#define A_ARRAY		2	/* 1..10 elements of 64 bytes */
#define A_SMALL		3	/* 2..8 bytes */
#define G_RESULT	XV_GRP_RESULT
#define A_INFO		1

#define A_HANDLE	1
#define A_PD		2
#define A_PD_OPT	3

extern const struct xv_spec test_spec;

#endif /* _TEST_TABLES_H */
