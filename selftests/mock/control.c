// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * /sys/kernel/debug/xvmock: what a test says, and what it is told.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "mock.h"

#define MOCK_MAX_COMMAND	128

static struct dentry *mock_root;

static ssize_t command(const char __user *user, size_t len,
		       int (*run)(const char *text))
{
	char *text;
	int ret;

	if (len > MOCK_MAX_COMMAND)
		return -EINVAL;
	text = memdup_user_nul(user, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	ret = run(text);
	kfree(text);
	return ret ? ret : len;
}

#define MOCK_COMMAND(name, run)						\
static ssize_t name##_write(struct file *filp, const char __user *user,	\
			    size_t len, loff_t *pos)			\
{									\
	return command(user, len, run);					\
}									\
static const struct file_operations name##_fops = {			\
	.owner = THIS_MODULE,						\
	.open = simple_open,						\
	.write = name##_write,						\
	.llseek = noop_llseek,						\
}

static int reset(const char *text)
{
	int i;

	for (i = 0; i < MOCK_NUM_VERBS; i++)
		mock_plan_reset(i);
	spin_lock_irq(&mock.lock);
	mock.flush = true;
	mock.flush_at_destroy = false;
	mock.auto_send = false;
	mock.stubborn = false;
	mock.leaked = 0;
	mock.last_error[0] = 0;
	atomic_set(&mock.errors, 0);
	atomic_set(&mock.late, 0);
	spin_unlock_irq(&mock.lock);
	return 0;
}

MOCK_COMMAND(complete, mock_complete);
MOCK_COMMAND(inject, mock_inject);
MOCK_COMMAND(event, mock_event);
MOCK_COMMAND(cm, mock_cm);
MOCK_COMMAND(reset, reset);

/* ---- the plug ---- */

static ssize_t plugged_write(struct file *filp, const char __user *user,
			     size_t len, loff_t *pos)
{
	bool on;
	int ret;

	ret = kstrtobool_from_user(user, len, &on);
	if (!ret)
		ret = mock_plug(on);
	return ret ? ret : len;
}

static ssize_t plugged_read(struct file *filp, char __user *user, size_t len,
			    loff_t *pos)
{
	const char *text = READ_ONCE(mock.plugged) ? "1\n" : "0\n";

	return simple_read_from_buffer(user, len, pos, text, 2);
}

static const struct file_operations plugged_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = plugged_read,
	.write = plugged_write,
	.llseek = default_llseek,
};

/* ---- verbs ---- */

static int verb_show(struct seq_file *m, void *data)
{
	struct mock_plan *plan = m->private;

	seq_printf(m, "calls %d\nfailed %d\nsleeping %d\n",
		   atomic_read(&plan->calls), atomic_read(&plan->failed),
		   atomic_read(&plan->sleeping));
	return 0;
}

static int verb_open(struct inode *inode, struct file *filp)
{
	return single_open(filp, verb_show, inode->i_private);
}

static ssize_t verb_write(struct file *filp, const char __user *user,
			  size_t len, loff_t *pos)
{
	struct mock_plan *plan = file_inode(filp)->i_private;
	char *text;
	int ret;

	if (len > MOCK_MAX_COMMAND)
		return -EINVAL;
	text = memdup_user_nul(user, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	ret = mock_plan_write(plan - mock.plans, text);
	kfree(text);
	return ret ? ret : len;
}

static const struct file_operations verb_fops = {
	.owner = THIS_MODULE,
	.open = verb_open,
	.read = seq_read,
	.write = verb_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/* ---- what there is ---- */

static int objects_show(struct seq_file *m, void *data)
{
	static const char *const names[MOCK_NUM_KINDS] = {
		[MOCK_PD] = "pd", [MOCK_DMA_MR] = "dma_mr", [MOCK_MR] = "mr",
		[MOCK_CQ] = "cq", [MOCK_SRQ] = "srq", [MOCK_QP] = "qp",
		[MOCK_AH] = "ah",
	};
	u32 num[MOCK_NUM_KINDS];
	u32 sends = 0, recvs = 0, mcast = 0;
	struct mock_srq *srq;
	struct mock_qp *qp;
	u64 posted;
	int i;

	spin_lock_irq(&mock.lock);
	memcpy(num, mock.num, sizeof(num));
	posted = mock.posted;
	list_for_each_entry(qp, &mock.objs[MOCK_QP], obj.link) {
		sends += qp->sq.num;
		recvs += qp->rq.num;
		mcast += qp->num_mcast;
	}
	list_for_each_entry(srq, &mock.objs[MOCK_SRQ], obj.link)
		recvs += srq->rq.num;
	spin_unlock_irq(&mock.lock);
	for (i = 0; i < MOCK_NUM_KINDS; i++)
		seq_printf(m, "%s %u\n", names[i], num[i]);
	seq_printf(m, "mcast %u\nsends %u\nrecvs %u\nposted %llu\nleaked %u\n",
		   mcast, sends, recvs, posted, READ_ONCE(mock.leaked));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(objects);

static int errors_show(struct seq_file *m, void *data)
{
	seq_printf(m, "errors %d\nlate %d\nlast %s\n", atomic_read(&mock.errors),
		   atomic_read(&mock.late), mock.last_error);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(errors);

static int cqs_show(struct seq_file *m, void *data)
{
	struct mock_cq *cq;

	spin_lock_irq(&mock.lock);
	list_for_each_entry(cq, &mock.objs[MOCK_CQ], obj.link)
		seq_printf(m, "cq %u completions %u count %u period %u\n",
			   cq->ibcq.res.id, cq->num, cq->count, cq->period);
	spin_unlock_irq(&mock.lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cqs);

static int qps_show(struct seq_file *m, void *data)
{
	struct mock_qp *qp;

	spin_lock_irq(&mock.lock);
	list_for_each_entry(qp, &mock.objs[MOCK_QP], obj.link)
		seq_printf(m, "qpn %u state %d sends %u recvs %u\n",
			   qp->ibqp.qp_num, qp->state, qp->sq.num, qp->rq.num);
	spin_unlock_irq(&mock.lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(qps);

static void show_queue(struct seq_file *m, const char *what, u32 id,
		       const struct mock_queue *q)
{
	struct mock_wr *wr;

	list_for_each_entry(wr, &q->wrs, link)
		seq_printf(m, "%s %u wr_id %llx flags %x bytes %u\n", what, id,
			   wr->wc.wr_id, wr->flags, wr->bytes);
}

static int wrs_show(struct seq_file *m, void *data)
{
	struct mock_srq *srq;
	struct mock_qp *qp;

	spin_lock_irq(&mock.lock);
	list_for_each_entry(qp, &mock.objs[MOCK_QP], obj.link) {
		show_queue(m, "send", qp->ibqp.qp_num, &qp->sq);
		show_queue(m, "recv", qp->ibqp.qp_num, &qp->rq);
	}
	list_for_each_entry(srq, &mock.objs[MOCK_SRQ], obj.link)
		show_queue(m, "srq", srq->ibsrq.res.id, &srq->rq);
	spin_unlock_irq(&mock.lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(wrs);

void mock_control_init(void)
{
	struct dentry *verbs;
	int i;

	mock_root = debugfs_create_dir("xvmock", NULL);
	debugfs_create_file("plugged", 0600, mock_root, NULL, &plugged_fops);
	debugfs_create_file("complete", 0200, mock_root, NULL, &complete_fops);
	debugfs_create_file("inject", 0200, mock_root, NULL, &inject_fops);
	debugfs_create_file("event", 0200, mock_root, NULL, &event_fops);
	debugfs_create_file("cm", 0200, mock_root, NULL, &cm_fops);
	debugfs_create_file("reset", 0200, mock_root, NULL, &reset_fops);
	debugfs_create_file("objects", 0400, mock_root, NULL, &objects_fops);
	debugfs_create_file("errors", 0400, mock_root, NULL, &errors_fops);
	debugfs_create_file("cqs", 0400, mock_root, NULL, &cqs_fops);
	debugfs_create_file("qps", 0400, mock_root, NULL, &qps_fops);
	debugfs_create_file("wrs", 0400, mock_root, NULL, &wrs_fops);
	debugfs_create_bool("flush", 0600, mock_root, &mock.flush);
	debugfs_create_bool("flush_at_destroy", 0600, mock_root,
			    &mock.flush_at_destroy);
	debugfs_create_bool("auto_send", 0600, mock_root, &mock.auto_send);
	debugfs_create_bool("stubborn", 0600, mock_root, &mock.stubborn);
	verbs = debugfs_create_dir("verbs", mock_root);
	for (i = 0; i < MOCK_NUM_VERBS; i++)
		debugfs_create_file(mock_verb_names[i], 0600, verbs,
				    &mock.plans[i], &verb_fops);
}

void mock_control_exit(void)
{
	debugfs_remove_recursive(mock_root);
}
