/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Included before everything else: the library's memory is the test's.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_MSG_MEMORY_H
#define _XV_MSG_MEMORY_H

#include <stdlib.h>

void *sim_malloc(size_t n);
void *sim_calloc(size_t n, size_t size);
void sim_free(void *p);

#define malloc	sim_malloc
#define calloc	sim_calloc
#define free	sim_free

#endif
