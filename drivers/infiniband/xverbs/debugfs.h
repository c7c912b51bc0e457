/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /sys/kernel/debug/xverbs: unstable, for developers.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_DEBUGFS_H
#define _XV_DEBUGFS_H

struct dentry;
struct xv_dev;

void xv_debugfs_init(void);
void xv_debugfs_exit(void);
void xv_debugfs_add(struct xv_dev *dev);
void xv_debugfs_del(struct xv_dev *dev);

#ifdef CONFIG_FAULT_INJECTION
void xv_fault_debugfs(struct dentry *dir);
#else
static inline void xv_fault_debugfs(struct dentry *dir)
{
}
#endif

#endif /* _XV_DEBUGFS_H */
