// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Wait for tasklets of somebody else.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/interrupt.h>
#include <linux/smp.h>

#ifdef XV_CQ_TASKLETS

struct xv_barrier {
	struct tasklet_struct tasklet;
	struct completion done;
};

static void barrier_run(struct tasklet_struct *tasklet)
{
	complete(&container_of(tasklet, struct xv_barrier, tasklet)->done);
}

static void barrier_schedule(void *data)
{
	struct xv_barrier *barrier = data;

	tasklet_schedule(&barrier->tasklet);
}

/**
 * xv_cq_barrier - wait until all tasklets scheduled so far have run
 *
 * The tasklets of a CPU run in the order in which they were scheduled there:
 * when one of ours has run on each, so have those before it. A grace period
 * would not do, since a tasklet may wait for ksoftirqd.
 *
 * Context: may sleep.
 */
void xv_cq_barrier(void)
{
	struct xv_barrier barrier;
	int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		tasklet_setup(&barrier.tasklet, barrier_run);
		init_completion(&barrier.done);
		if (smp_call_function_single(cpu, barrier_schedule, &barrier, 1))
			continue;
		wait_for_completion(&barrier.done);
		/* It has run, but may not have been let go of. */
		tasklet_kill(&barrier.tasklet);
	}
	cpus_read_unlock();
}

#endif /* XV_CQ_TASKLETS */
