/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the kernel's header of this name gives to code that is also built here.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _SHIM_LINUX_STRING_H
#define _SHIM_LINUX_STRING_H

#include <string.h>

static inline void *memchr_inv(const void *p, int c, size_t size)
{
	const unsigned char *b = p;

	for (; size; size--, b++)
		if (*b != (unsigned char)c)
			return (void *)b;
	return NULL;
}

#endif /* _SHIM_LINUX_STRING_H */
