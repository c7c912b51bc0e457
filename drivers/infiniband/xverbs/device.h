/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The RDMA device that a character device stands for.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_DEVICE_H
#define _XV_DEVICE_H

#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/mutex.h>
#include <linux/srcu.h>
#include <rdma/ib_verbs.h>
#include "core/spec.h"
#include "data/mac.h"

/**
 * struct xv_dev - an RDMA device
 * @dev: in sysfs; holds the memory
 * @cdev: the character device
 * @minor: its minor number
 * @link: in the list of all devices
 * @ibdev: the RDMA device; valid in an SRCU read section that saw !@gone
 * @gone: removal has begun; set before synchronize_srcu()
 * @driver_ok: the driver is on the list of those that were tried
 * @srcu: read: calls; removal waits for them
 * @files_lock: protects @files
 * @files: open files, and closed ones that still have zombies
 * @num_zombies: objects which the driver has refused to destroy
 * @macs: link addresses of remote GIDs
 * @events: what the core tells of the device and its ports
 * @subs_lock: protects @subs
 * @subs: subscriptions of all files, struct xv_subscription
 * @debugfs: its directory
 */
struct xv_dev {
	struct device dev;
	struct cdev cdev;
	int minor;
	struct list_head link;
	struct ib_device *ibdev;
	bool gone;
	bool driver_ok;
	struct srcu_struct srcu;
	struct mutex files_lock;	/* outside of xv_file.teardown */
	struct list_head files;
	atomic_t num_zombies;
	struct xv_mac_cache macs;
	struct ib_event_handler events;
	struct mutex subs_lock;	/* innermost but for xv_eventq.lock */
	struct list_head subs;
	struct dentry *debugfs;
};

extern const struct xv_spec xv_spec;

/**
 * xv_dev_enter - begin to use the RDMA device
 * @dev: the device
 * @idx: is set to what xv_dev_exit() wants
 *
 * Context: may sleep inside; removal waits for the exit.
 * Return: the RDMA device, or NULL if it is gone; exit in both cases.
 */
static inline struct ib_device *xv_dev_enter(struct xv_dev *dev, int *idx)
	__acquires(&dev->srcu)
{
	*idx = srcu_read_lock(&dev->srcu);
	return READ_ONCE(dev->gone) ? NULL : dev->ibdev;
}

static inline void xv_dev_exit(struct xv_dev *dev, int idx)
	__releases(&dev->srcu)
{
	srcu_read_unlock(&dev->srcu, idx);
}

#endif /* _XV_DEVICE_H */
