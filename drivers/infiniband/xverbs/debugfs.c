// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * /sys/kernel/debug/xverbs: unstable, for developers.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include "core/txn.h"
#include "debugfs.h"
#include "device.h"

static struct dentry *xv_debugfs_root;

static u32 count_list(const struct list_head *list)
{
	const struct list_head *pos;
	u32 n = 0;

	list_for_each(pos, list)
		n++;
	return n;
}

static void show_file(struct seq_file *m, struct xv_file *file)
{
	u32 counts[XV_NUM_TYPES];
	u32 zombies;
	u32 i;

	spin_lock(&file->graph);
	memcpy(counts, file->counts, sizeof(counts));
	zombies = count_list(&file->zombies);
	spin_unlock(&file->graph);
	seq_printf(m, "pid %d comm %s budget %lld zombies %u", file->pid,
		   file->comm, atomic64_read(&file->budget), zombies);
	for (i = 0; i < xv_spec.num_types; i++)
		if (xv_spec.types[i]->ops)
			seq_printf(m, " %s %u", xv_spec.types[i]->name,
				   counts[xv_spec.types[i]->id]);
	seq_putc(m, '\n');
}

static int objects_show(struct seq_file *m, void *data)
{
	struct xv_dev *dev = m->private;
	struct xv_file *file;

	mutex_lock(&dev->files_lock);
	list_for_each_entry(file, &dev->files, link)
		show_file(m, file);
	mutex_unlock(&dev->files_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(objects);

static int zombies_show(struct seq_file *m, void *data)
{
	struct xv_dev *dev = m->private;

	seq_printf(m, "zombies %d\n", atomic_read(&dev->num_zombies));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(zombies);

void xv_debugfs_add(struct xv_dev *dev)
{
	dev->debugfs = debugfs_create_dir(dev_name(&dev->dev), xv_debugfs_root);
	debugfs_create_file("objects", 0400, dev->debugfs, dev, &objects_fops);
	debugfs_create_file("zombies", 0400, dev->debugfs, dev, &zombies_fops);
}

void xv_debugfs_del(struct xv_dev *dev)
{
	debugfs_remove_recursive(dev->debugfs);
}

void xv_debugfs_init(void)
{
	xv_debugfs_root = debugfs_create_dir("xverbs", NULL);
	/* Not of a device: it has gone when something is leaked. */
	debugfs_create_atomic_t("leaked", 0400, xv_debugfs_root,
				&xv_num_leaked);
	xv_fault_debugfs(xv_debugfs_root);
}

void xv_debugfs_exit(void)
{
	debugfs_remove_recursive(xv_debugfs_root);
}
