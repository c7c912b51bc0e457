// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Send buffers: memory that the program writes its messages into.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Those that fit a fragment lie in registered memory and are sent from there.
 * A name is an index and a generation, so that one that is used twice is found.
 */
#include <stdlib.h>

#include "chan.h"

int xvm_bufs_init(struct xvm_channel *ch)
{
	uint32_t i;

	if (!ch->cfg.send_bufs)
		return 0;
	ch->bufs = calloc(ch->cfg.send_bufs, sizeof(*ch->bufs));
	if (!ch->bufs)
		return -ENOMEM;
	for (i = 0; i < ch->cfg.send_bufs; i++)
		ch->bufs[i].generation = 1;
	return 0;
}

void xvm_buf_release(struct xvm_channel *ch, int32_t buf)
{
	struct xvm_buf *b = &ch->bufs[buf];

	if (!b->pooled)
		free(b->data);
	b->data = NULL;
	b->state = XVM_BUF_FREE;
	/* 0 is no generation: no name is 0. */
	if (!++b->generation)
		b->generation = 1;
	ch->bufs_used--;
}

void xvm_bufs_free(struct xvm_channel *ch)
{
	uint32_t i;

	for (i = 0; ch->bufs && i < ch->cfg.send_bufs; i++)
		if (ch->bufs[i].state != XVM_BUF_FREE)
			xvm_buf_release(ch, i);
	free(ch->bufs);
}

static int32_t find_free(const struct xvm_channel *ch)
{
	uint32_t i;

	for (i = 0; i < ch->cfg.send_bufs; i++)
		if (ch->bufs[i].state == XVM_BUF_FREE)
			return i;
	return -1;
}

XVM_PUBLIC int xvm_alloc_send_buf(struct xvm_channel *ch, size_t len,
				  void **buf, uint64_t *key)
{
	XVM_KEEP_ERRNO;
	struct xvm_buf *b;
	int32_t i;
	int ret;

	ret = xvm_refused(ch);
	if (ret)
		return ret;
	if (!buf || !key)
		return -EINVAL;
	if (len > ch->max_message)
		return -EMSGSIZE;
	i = find_free(ch);
	if (i < 0) {
		ch->full = true;
		ch->count.eagain++;
		return -EAGAIN;
	}
	b = &ch->bufs[i];
	b->pooled = len <= ch->cfg.fragment - XVW_HEADER_LEN;
	b->data = b->pooled ? ch->pool + (size_t)i * ch->cfg.fragment :
			      malloc(len);
	if (!b->data)
		return -ENOMEM;
	b->len = len;
	b->state = XVM_BUF_USER;
	ch->bufs_used++;
	*buf = b->data;
	*key = (uint64_t)b->generation << 32 | (uint32_t)i;
	return 0;
}

/* The buffer of that name which the program has, or -1. */
static int32_t find(const struct xvm_channel *ch, uint64_t key)
{
	uint32_t i = key;

	if (i >= ch->cfg.send_bufs ||
	    ch->bufs[i].state != XVM_BUF_USER ||
	    ch->bufs[i].generation != key >> 32)
		return -1;
	return i;
}

XVM_PUBLIC int xvm_send_buf(struct xvm_channel *ch, uint64_t key, size_t len,
			    void *context)
{
	XVM_KEEP_ERRNO;
	int32_t i = find(ch, key);

	if (i < 0 || len > ch->bufs[i].len)
		return -EINVAL;
	return xvm_tx_buf(ch, i, len, context);
}

XVM_PUBLIC int xvm_cancel_send_buf(struct xvm_channel *ch, uint64_t key)
{
	XVM_KEEP_ERRNO;
	int32_t i = find(ch, key);

	if (i < 0)
		return -EINVAL;
	xvm_buf_release(ch, i);
	xvm_tx_check_open(ch);
	if (ch->fc_due && ch->fcs && !ch->depth)
		ch->lops->wake(ch->link, 0);
	return 0;
}
