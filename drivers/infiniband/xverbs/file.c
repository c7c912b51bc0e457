// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What an open device file owns.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/memcontrol.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include "core/uobj.h"
#include "data/area.h"
#include "device.h"
#include "file.h"

static void file_free(struct xv_file *file)
{
	xv_areas_free(file->areas);
	xa_destroy(&file->objs);
	kfree(file->scratch);
	mem_cgroup_put(file->memcg);
	put_net(file->net);
	put_device(&file->dev->dev);
	kfree(file);
}

/**
 * xv_file_new - state of an open device file
 * @dev: the device; gets a reference
 *
 * Return: the file with one reference, or NULL.
 */
struct xv_file *xv_file_new(struct xv_dev *dev)
{
	struct xv_file *file = kzalloc(sizeof(*file), XV_GFP);

	if (!file)
		return NULL;
	file->areas = xv_areas_new();
	if (!file->areas) {
		kfree(file);
		return NULL;
	}
	kref_init(&file->ref);
	file->free = file_free;
	mutex_init(&file->teardown);
	spin_lock_init(&file->graph);
	xa_init_flags(&file->objs, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	INIT_LIST_HEAD(&file->objects);
	INIT_LIST_HEAD(&file->zombies);
	INIT_LIST_HEAD(&file->link);
	file->memcg = get_mem_cgroup_from_mm(current->mm);
	file->net = get_net(current->nsproxy->net_ns);
	file->pid = task_tgid_nr(current);
	get_task_comm(file->comm, current);
	get_device(&dev->dev);
	file->dev = dev;
	return file;
}
