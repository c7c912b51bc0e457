/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What differs between the kernels that xverbs is built for, 6.1 and later.
 * Included before every source file; the only place that knows versions.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_COMPAT_H
#define _XV_COMPAT_H

#define pr_fmt(fmt) "xverbs: " fmt

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "xverbs needs Linux 6.1 or later"
#endif

/* 6.2: struct class.devnode takes a const device. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define XV_DEVNODE_CONST
#else
#define XV_DEVNODE_CONST const
#endif

/* 6.3: vm_flags is read-only and has accessors. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
#define xv_vm_flags_set(vma, flags)	((vma)->vm_flags |= (flags))
#define xv_vm_flags_clear(vma, flags)	((vma)->vm_flags &= ~(flags))
#else
#define xv_vm_flags_set(vma, flags)	vm_flags_set(vma, flags)
#define xv_vm_flags_clear(vma, flags)	vm_flags_clear(vma, flags)
#endif

/* 6.10: __assign_str() knows its source. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define xv_assign_str(dst, src)		__assign_str(dst, src)
#else
#define xv_assign_str(dst, src)		__assign_str(dst)
#endif

/*
 * Until 6.4 rxe notifies from a tasklet which lies in the CQ's memory and which
 * destroying the CQ does not stop.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#define XV_CQ_TASKLETS
void xv_cq_barrier(void);
#else
static inline void xv_cq_barrier(void)
{
}
#endif

#endif /* _XV_COMPAT_H */
