// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Loads and unloads; a place holder for the build and the test machinery.
 */
#include <linux/module.h>
#include <rdma/ib_verbs.h>

static int xv_add(struct ib_device *dev)
{
	return 0;
}

static void xv_remove(struct ib_device *dev, void *data)
{
}

static struct ib_client xv_client = {
	.name = "xverbs",
	.add = xv_add,
	.remove = xv_remove,
};

static int __init xv_init(void)
{
	return ib_register_client(&xv_client);
}
module_init(xv_init);

static void __exit xv_exit(void)
{
	ib_unregister_client(&xv_client);
}
module_exit(xv_exit);

MODULE_DESCRIPTION("RDMA for programs in transactions");
MODULE_AUTHOR("The xverbs authors");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION("0.1");
