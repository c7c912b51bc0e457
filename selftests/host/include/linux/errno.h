/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the kernel's header of this name gives to code that is also built here.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _SHIM_LINUX_ERRNO_H
#define _SHIM_LINUX_ERRNO_H

#include_next <linux/errno.h>

#endif /* _SHIM_LINUX_ERRNO_H */
