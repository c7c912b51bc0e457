// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Flow control opened: functions that are called when the queue is open.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * A handle is a number that is never used again, and is looked up. So one that
 * has done its work, or was destroyed, means nothing and does no harm.
 */
#include <stdlib.h>

#include "chan.h"

/* Passes that one may stop although the queue is open. */
#define MAX_REFUSED	8
/* Who says that it is full although it is open is asked again then. */
#define RETRY_MS	10

static struct xvm_fc **find(struct xvm_channel *ch, uintptr_t id)
{
	struct xvm_fc **p = &ch->fcs;

	while (*p && (*p)->id != id)
		p = &(*p)->next;
	return p;
}

static void append(struct xvm_channel *ch, struct xvm_fc *fc)
{
	struct xvm_fc **p = &ch->fcs;

	while (*p)
		p = &(*p)->next;
	fc->next = NULL;
	*p = fc;
}

static void unlink_fc(struct xvm_fc **p)
{
	*p = (*p)->next;
}

/* The first one that this pass has not called. */
static struct xvm_fc *next_fc(const struct xvm_channel *ch)
{
	struct xvm_fc *fc = ch->fcs;

	while (fc && fc->pass == ch->fc_pass)
		fc = fc->next;
	return fc;
}

static bool may_run(const struct xvm_channel *ch)
{
	return !ch->dead && xvm_send_ok(ch);
}

/* Returns whether the pass goes on. */
static bool run_one(struct xvm_channel *ch, struct xvm_fc *fc)
{
	uintptr_t id = fc->id;
	struct xvm_fc **p;
	int ret;

	fc->pass = ch->fc_pass;
	ch->count.fc_calls++;
	ret = fc->fn(fc->data);
	/* It may have destroyed itself, or the channel. */
	if (ch->dead)
		return false;
	p = find(ch, id);
	fc = *p;
	if (!fc)
		return ret != -1;
	if (ret != -1) {
		unlink_fc(p);
		free(fc);
		return true;
	}
	if (!may_run(ch)) {
		fc->refused = 0;
		return false;
	}
	ch->fc_retry_at = ch->lops->now(ch->link) + RETRY_MS;
	if (++fc->refused < MAX_REFUSED)
		return false;
	fc->refused = 0;
	unlink_fc(p);
	append(ch, fc);
	return false;
}

void xvm_fc_run(struct xvm_channel *ch)
{
	struct xvm_fc *fc;

	if (!ch->fc_due || ch->in_fc || !may_run(ch))
		return;
	ch->fc_due = false;
	ch->fc_retry_at = 0;
	ch->fc_pass++;
	ch->in_fc = true;
	while (may_run(ch) && (fc = next_fc(ch)) && run_one(ch, fc))
		;
	ch->in_fc = false;
	/* One that was made meanwhile waits for the next pass. */
	if (!ch->dead && !ch->fc_retry_at && ch->fcs && may_run(ch)) {
		ch->fc_due = true;
		ch->lops->wake(ch->link, 0);
	}
}

void xvm_fc_free(struct xvm_channel *ch)
{
	while (ch->fcs) {
		struct xvm_fc *fc = ch->fcs;

		ch->fcs = fc->next;
		free(fc);
	}
}

XVM_PUBLIC int xvm_fc_open_create(struct xvm_channel *ch, void **handle,
				  int (*fn)(void *data), void *data)
{
	XVM_KEEP_ERRNO;
	struct xvm_fc *fc;
	int ret;

	if (!handle || !fn)
		return -EINVAL;
	ret = xvm_refused(ch);
	if (ret)
		return ret;
	fc = calloc(1, sizeof(*fc));
	if (!fc)
		return -ENOMEM;
	/* NULL is no handle. */
	if (!++ch->fc_id)
		ch->fc_id = 1;
	fc->id = ch->fc_id;
	fc->fn = fn;
	fc->data = data;
	fc->pass = ch->in_fc ? ch->fc_pass : 0;
	append(ch, fc);
	*handle = (void *)fc->id;
	ch->fc_due = true;
	if (!ch->full && !ch->in_fc)
		ch->lops->wake(ch->link, 0);
	return 0;
}

XVM_PUBLIC int xvm_fc_open_destroy(struct xvm_channel *ch, void **handle)
{
	XVM_KEEP_ERRNO;
	struct xvm_fc **p, *fc;

	if (!handle)
		return -EINVAL;
	if (!*handle)
		return 0;
	p = find(ch, (uintptr_t)*handle);
	*handle = NULL;
	fc = *p;
	if (fc) {
		unlink_fc(p);
		free(fc);
	}
	return 0;
}
