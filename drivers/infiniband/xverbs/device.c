// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The module: RDMA devices come and go, and each has a character device.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Removal waits for no open file, mapping or sleeping call: it marks the device
 * gone, waits for the calls that are inside (SRCU), and destroys the hardware
 * objects of every file. The files stay and answer ENODEV; memory that they
 * hold is ours alone.
 */
#include <linux/cgroup_rdma.h>
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <net/netevent.h>
#include <rdma/rdma_netlink.h>
#include "compat/nl_info.h"
#include "core/txn.h"
#include "data/area.h"
#include "data/data.h"
#include "debugfs.h"
#include "device.h"
#include "file.h"
#include "objects/objects.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

MODULE_AUTHOR("The xverbs authors");
MODULE_DESCRIPTION("RDMA objects for userspace, made and destroyed in transactions");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION("0.1.0");
MODULE_ALIAS_RDMA_CLIENT("xverbs");

#define XV_MAX_DEVICES	64

static bool untested_drivers;
module_param(untested_drivers, bool, 0444);
MODULE_PARM_DESC(untested_drivers,
		 "Also serve drivers that should work but were not tried: mlx5, mlx4");

static const struct xv_type *const xv_types[] = {
	&xv_type_device,
	&xv_type_eventq,
	&xv_type_pd,
	&xv_type_mr,
	&xv_type_cq,
	&xv_type_qp,
	&xv_type_ah,
	&xv_type_srq,
	&xv_type_listener,
	&xv_type_conn,
	&xv_type_mcast,
	&xv_type_subscription,
};

const struct xv_spec xv_spec = {
	.types = xv_types, .num_types = ARRAY_SIZE(xv_types),
	.refused = xv_refused, .num_refused = XV_NUM_REFUSED,
};

static_assert(XV_OBJ_SUBSCRIPTION < XV_NUM_TYPES);
static_assert(sizeof_field(struct xv_device_info, objects) ==
	      sizeof_field(struct xv_file, counts));

struct workqueue_struct *xv_wq;
static DEFINE_IDA(xv_minors);
static dev_t xv_base;

/* Devices whose memory is not freed yet: the module waits for them. */
static atomic_t xv_num_devs = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(xv_devs_freed);

/* All devices, for what concerns each: neighbours that change. */
static DEFINE_MUTEX(xv_devs_lock);
static LIST_HEAD(xv_devs);

/* ---- file operations ---- */

static int charge_handle(struct xv_file *file, struct ib_device *ibdev)
{
#ifdef CONFIG_CGROUP_RDMA
	return rdmacg_try_charge(&file->cg, &ibdev->cg_device,
				 RDMACG_RESOURCE_HCA_HANDLE);
#else
	return 0;
#endif
}

/* With the device held, or by its removal: the cgroup's counters are there. */
static void uncharge_handle(struct xv_file *file)
{
#ifdef CONFIG_CGROUP_RDMA
	if (file->cg)
		rdmacg_uncharge(file->cg, &file->dev->ibdev->cg_device,
				RDMACG_RESOURCE_HCA_HANDLE);
#endif
	file->cg = NULL;
}

static int xv_open(struct inode *inode, struct file *filp)
{
	struct xv_dev *dev = container_of(inode->i_cdev, struct xv_dev, cdev);
	struct ib_device *ibdev;
	struct xv_file *file;
	int ret = -ENODEV;
	int idx;

	ibdev = xv_dev_enter(dev, &idx);
	if (!ibdev)
		goto out_exit;
	ret = -EPERM;
	if (!rdma_dev_access_netns(ibdev, current->nsproxy->net_ns))
		goto out_exit;
	ret = -ENOMEM;
	file = xv_file_new(dev);
	if (!file)
		goto out_exit;
	if (charge_handle(file, ibdev)) {
		xv_file_put(file);
		goto out_exit;
	}
	mutex_lock(&dev->files_lock);
	list_add_tail(&file->link, &dev->files);
	mutex_unlock(&dev->files_lock);
	filp->private_data = file;
	ret = nonseekable_open(inode, filp);
out_exit:
	xv_dev_exit(dev, idx);
	return ret;
}

/* With files_lock: the file is closed; forget it unless it has zombies. */
static bool forget_file(struct xv_dev *dev, struct xv_file *file)
{
	lockdep_assert_held(&dev->files_lock);
	if (xv_file_has_zombies(file))
		return false;
	list_del_init(&file->link);
	uncharge_handle(file);
	return true;
}

/* Zombies get another chance at each close. */
static void retry_all_zombies(struct xv_dev *dev)
{
	struct xv_file *file, *next;

	lockdep_assert_held(&dev->files_lock);
	if (!atomic_read(&dev->num_zombies))
		return;
	list_for_each_entry_safe(file, next, &dev->files, link) {
		xv_file_retry_zombies(file);
		if (file->closed && forget_file(dev, file))
			xv_file_put(file);
	}
}

/* The device is there: removal waits for us. */
static bool release_alive(struct xv_dev *dev, struct xv_file *file)
{
	bool forgotten;

	xv_file_close(file);
	mutex_lock(&dev->files_lock);
	/* Not earlier: who retries zombies puts files that are closed. */
	file->closed = true;
	forgotten = forget_file(dev, file);
	retry_all_zombies(dev);
	mutex_unlock(&dev->files_lock);
	return forgotten;
}

/*
 * Removal has begun, and walks the files under the lock: either it has been
 * here, and there is no hardware left, or it will not come here any more, and
 * waits for the lock while we do its work.
 */
static bool release_gone(struct xv_dev *dev, struct xv_file *file)
{
	bool forgotten;

	mutex_lock(&dev->files_lock);
	xv_file_close(file);
	file->closed = true;
	forgotten = forget_file(dev, file);
	mutex_unlock(&dev->files_lock);
	return forgotten;
}

static int xv_release(struct inode *inode, struct file *filp)
{
	struct xv_file *file = filp->private_data;
	struct xv_dev *dev = file->dev;
	bool forgotten;
	bool alive;
	int idx;

	alive = xv_dev_enter(dev, &idx);
	forgotten = alive && release_alive(dev, file);
	xv_dev_exit(dev, idx);
	if (!alive)
		forgotten = release_gone(dev, file);
	if (forgotten)
		xv_file_put(file);
	return 0;
}

static long xv_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct xv_file *file = filp->private_data;
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case XV_IOC_TXN:
		return xv_txn(file, user);
	case XV_IOC_ENTER:
		return xv_enter(file, user);
	}
	return -ENOTTY;
}

static int xv_mmap(struct file *filp, struct vm_area_struct *vma)
{
	return xv_area_mmap(filp->private_data, vma);
}

static void xv_show_fdinfo(struct seq_file *m, struct file *filp)
{
	struct xv_file *file = filp->private_data;
	u32 counts[XV_NUM_TYPES];
	u32 i;

	spin_lock(&file->graph);
	memcpy(counts, file->counts, sizeof(counts));
	spin_unlock(&file->graph);
	seq_printf(m, "xverbs-device:\t%s\n", dev_name(&file->dev->dev));
	seq_printf(m, "xverbs-removed:\t%d\n", READ_ONCE(file->dev->gone));
	seq_printf(m, "xverbs-budget:\t%lld\n", atomic64_read(&file->budget));
	for (i = 0; i < xv_spec.num_types; i++)
		if (xv_types[i]->ops)
			seq_printf(m, "xverbs-%s:\t%u\n", xv_types[i]->name,
				   counts[xv_types[i]->id]);
}

static const struct file_operations xv_fops = {
	.owner = THIS_MODULE,
	.open = xv_open,
	.release = xv_release,
	.unlocked_ioctl = xv_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = xv_mmap,
	.show_fdinfo = xv_show_fdinfo,
};

/* ---- sysfs ---- */

static ssize_t ibdev_show(struct device *device, struct device_attribute *attr,
			  char *buf)
{
	struct xv_dev *dev = container_of(device, struct xv_dev, dev);
	struct ib_device *ibdev;
	ssize_t ret = -ENODEV;
	int idx;

	ibdev = xv_dev_enter(dev, &idx);
	if (ibdev)
		ret = sysfs_emit(buf, "%s\n", dev_name(&ibdev->dev));
	xv_dev_exit(dev, idx);
	return ret;
}
static DEVICE_ATTR_RO(ibdev);

static ssize_t abi_version_show(struct device *device,
				struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", XV_ABI_VERSION);
}
static DEVICE_ATTR_RO(abi_version);

static struct attribute *xv_attrs[] = {
	&dev_attr_ibdev.attr,
	&dev_attr_abi_version.attr,
	NULL,
};
ATTRIBUTE_GROUPS(xv);

static char *xv_devnode(XV_DEVNODE_CONST struct device *dev, umode_t *mode)
{
	if (mode)
		*mode = 0600;
	return kasprintf(GFP_KERNEL, "infiniband/%s", dev_name(dev));
}

static void xv_dev_free(struct device *device)
{
	struct xv_dev *dev = container_of(device, struct xv_dev, dev);

	cleanup_srcu_struct(&dev->srcu);
	ida_free(&xv_minors, dev->minor);
	kfree(dev);
	if (atomic_dec_and_test(&xv_num_devs))
		wake_up_all(&xv_devs_freed);
}

static struct class xv_class = {
	.name = "xverbs",
	.devnode = xv_devnode,
	.dev_groups = xv_groups,
	.dev_release = xv_dev_free,
};

/* ---- devices ---- */

static bool driver_is_tried(struct ib_device *ibdev)
{
	switch (ibdev->ops.driver_id) {
	case RDMA_DRIVER_RXE:
	case RDMA_DRIVER_SIW:
		return true;
	case RDMA_DRIVER_MLX5:
	case RDMA_DRIVER_MLX4:
		return untested_drivers;
	default:
		/* Some drivers take a NULL udata in reg_user_mr for granted. */
		return false;
	}
}

static void xv_ib_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct xv_dev *dev = container_of(handler, struct xv_dev, events);

	if (event->event == IB_EVENT_GID_CHANGE)
		xv_mac_drop(&dev->macs);
	xv_subscriptions_raise(dev, event);
}

static struct ib_client xv_client;

static int xv_add_one(struct ib_device *ibdev)
{
	struct xv_dev *dev;
	int ret;

	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return -ENOMEM;
	ret = init_srcu_struct(&dev->srcu);
	if (ret)
		goto err_free;
	dev->minor = ida_alloc_max(&xv_minors, XV_MAX_DEVICES - 1, GFP_KERNEL);
	if (dev->minor < 0) {
		ret = dev->minor;
		goto err_srcu;
	}
	dev->ibdev = ibdev;
	dev->driver_ok = driver_is_tried(ibdev);
	mutex_init(&dev->files_lock);
	INIT_LIST_HEAD(&dev->files);
	INIT_LIST_HEAD(&dev->link);
	mutex_init(&dev->subs_lock);
	INIT_LIST_HEAD(&dev->subs);
	xv_mac_init(&dev->macs);
	atomic_inc(&xv_num_devs);
	device_initialize(&dev->dev);
	dev->dev.class = &xv_class;
	dev->dev.parent = ibdev->dev.parent;
	dev->dev.devt = xv_base + dev->minor;
	cdev_init(&dev->cdev, &xv_fops);
	dev->cdev.owner = THIS_MODULE;
	/* From here on the release of the device frees everything. */
	ret = dev_set_name(&dev->dev, "xverbs%d", dev->minor);
	if (ret)
		goto err_put;
	ib_set_client_data(ibdev, &xv_client, dev);
	ret = cdev_device_add(&dev->cdev, &dev->dev);
	if (ret)
		goto err_put;
	INIT_IB_EVENT_HANDLER(&dev->events, ibdev, xv_ib_event);
	ib_register_event_handler(&dev->events);
	xv_debugfs_add(dev);
	mutex_lock(&xv_devs_lock);
	list_add_tail_rcu(&dev->link, &xv_devs);
	mutex_unlock(&xv_devs_lock);
	return 0;

err_put:
	put_device(&dev->dev);
	return ret;
err_srcu:
	cleanup_srcu_struct(&dev->srcu);
err_free:
	kfree(dev);
	return ret;
}

static void xv_remove_one(struct ib_device *ibdev, void *client_data)
{
	struct xv_dev *dev = client_data;
	struct xv_file *file, *next;

	trace_xv_remove(dev_name(&dev->dev), 0);
	cdev_device_del(&dev->cdev, &dev->dev);
	xv_debugfs_del(dev);
	ib_unregister_event_handler(&dev->events);
	mutex_lock(&xv_devs_lock);
	list_del_rcu(&dev->link);
	mutex_unlock(&xv_devs_lock);
	synchronize_rcu();

	WRITE_ONCE(dev->gone, true);
	synchronize_srcu(&dev->srcu);
	trace_xv_remove(dev_name(&dev->dev), 1);

	mutex_lock(&dev->files_lock);
	list_for_each_entry_safe(file, next, &dev->files, link) {
		xv_file_remove(file);
		uncharge_handle(file);
		/* A closed one was here for its zombies only. */
		if (file->closed && forget_file(dev, file))
			xv_file_put(file);
	}
	mutex_unlock(&dev->files_lock);
	trace_xv_remove(dev_name(&dev->dev), 2);
	put_device(&dev->dev);
}

static int xv_get_nl_info(struct ib_device *ibdev, void *client_data,
			  struct ib_client_nl_info *res)
{
	struct xv_dev *dev = client_data;

	res->abi = XV_ABI_VERSION;
	/* The core takes the reference. */
	res->cdev = &dev->dev;
	return 0;
}

static struct ib_client xv_client = {
	.name = "xverbs",
	.add = xv_add_one,
	.remove = xv_remove_one,
	.get_nl_info = xv_get_nl_info,
};

/* ---- module ---- */

static int xv_netevent(struct notifier_block *nb, unsigned long event, void *ctx)
{
	struct xv_dev *dev;

	if (event != NETEVENT_NEIGH_UPDATE)
		return NOTIFY_DONE;
	rcu_read_lock();
	list_for_each_entry_rcu(dev, &xv_devs, link)
		xv_mac_drop(&dev->macs);
	rcu_read_unlock();
	return NOTIFY_DONE;
}

static struct notifier_block xv_netevent_nb = {
	.notifier_call = xv_netevent,
};

static int __init xv_init(void)
{
	const char *why;
	int ret;

	ret = xv_spec_validate(&xv_spec, &why);
	if (ret) {
		pr_err("the tables are wrong: %s\n", why);
		return ret;
	}
	xv_wq = alloc_workqueue("xverbs", WQ_UNBOUND, 0);
	if (!xv_wq)
		return -ENOMEM;
	ret = alloc_chrdev_region(&xv_base, 0, XV_MAX_DEVICES, "xverbs");
	if (ret)
		goto err_wq;
	ret = class_register(&xv_class);
	if (ret)
		goto err_region;
	xv_debugfs_init();
	ret = register_netevent_notifier(&xv_netevent_nb);
	if (ret)
		goto err_class;
	ret = ib_register_client(&xv_client);
	if (ret)
		goto err_netevent;
	return 0;

err_netevent:
	unregister_netevent_notifier(&xv_netevent_nb);
err_class:
	xv_debugfs_exit();
	class_unregister(&xv_class);
err_region:
	unregister_chrdev_region(xv_base, XV_MAX_DEVICES);
err_wq:
	destroy_workqueue(xv_wq);
	return ret;
}

static void __exit xv_exit(void)
{
	ib_unregister_client(&xv_client);
	/* The last reference may be somebody else's, and its release is ours. */
	wait_event(xv_devs_freed, !atomic_read(&xv_num_devs));
	unregister_netevent_notifier(&xv_netevent_nb);
	xv_debugfs_exit();
	class_unregister(&xv_class);
	unregister_chrdev_region(xv_base, XV_MAX_DEVICES);
	destroy_workqueue(xv_wq);
	ida_destroy(&xv_minors);
	/* Objects are freed after a grace period, by code of ours only. */
	rcu_barrier();
}

module_init(xv_init);
module_exit(xv_exit);
