// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fault points of our own, for kernels with fault injection.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * A memory shortage does not reach every error path: small allocations hardly
 * fail, and a driver such as rxe never refuses a destroy. The attributes
 * xverbs/fail_{get,make,copy,last} in debugfs work like failslab and obey
 * fail-nth; xverbs/fail_destroy is the number of destroys to refuse. Beside them
 * xverbs/delay_cm_ms, which has each ESTABLISHED of the connection manager wait.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/fault-inject.h>
#include "../debugfs.h"
#include "txn.h"

#ifdef CONFIG_FAULT_INJECTION

static struct fault_attr attrs[XV_NUM_FAULTS] = {
	[XV_FAULT_GET] = FAULT_ATTR_INITIALIZER,
	[XV_FAULT_MAKE] = FAULT_ATTR_INITIALIZER,
	[XV_FAULT_COPY] = FAULT_ATTR_INITIALIZER,
	[XV_FAULT_LAST] = FAULT_ATTR_INITIALIZER,
};

static atomic_t refuse_destroy = ATOMIC_INIT(0);
static u32 delay_cm_ms;

/**
 * xv_fault - shall the call fail here?
 * @point: which point
 *
 * Return: true if it shall.
 */
bool xv_fault(enum xv_fault point)
{
	return should_fail(&attrs[point], 1);
}

/**
 * xv_fault_destroy - shall the driver seem to refuse this destroy?
 *
 * Return: 0 or -EBUSY.
 */
int xv_fault_destroy(void)
{
	return atomic_dec_if_positive(&refuse_destroy) >= 0 ? -EBUSY : 0;
}

/**
 * xv_fault_delay_cm - let the connection manager's ESTABLISHED come late
 *
 * Context: may sleep; other connections' events wait too.
 */
void xv_fault_delay_cm(void)
{
	u32 ms = READ_ONCE(delay_cm_ms);

	if (ms)
		msleep(ms);
}

void xv_fault_debugfs(struct dentry *dir)
{
	static const char *const names[XV_NUM_FAULTS] = {
		[XV_FAULT_GET] = "fail_get",
		[XV_FAULT_MAKE] = "fail_make",
		[XV_FAULT_COPY] = "fail_copy",
		[XV_FAULT_LAST] = "fail_last",
	};
	int i;

	for (i = 0; i < XV_NUM_FAULTS; i++)
		fault_create_debugfs_attr(names[i], dir, &attrs[i]);
	debugfs_create_atomic_t("fail_destroy", 0600, dir, &refuse_destroy);
	debugfs_create_u32("delay_cm_ms", 0600, dir, &delay_cm_ms);
}

#endif /* CONFIG_FAULT_INJECTION */
