// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fuzz target of the parser of frames: whatever comes is refused, or is what the
 * rules allow and the same bytes again when it is put together.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
	if (!ok)
		abort();
}

static void check_hello(const struct xvw_hello *h)
{
	must(xvw_common_version(h->version, h->version_min) == 1);
	must(h->fragment >= XVW_MIN_FRAGMENT &&
	     h->fragment <= XVW_MAX_FRAGMENT);
	must(h->window >= XVW_MIN_WINDOW && h->window <= XVW_MAX_WINDOW);
	must(h->max_message >= XVW_MIN_MESSAGE &&
	     h->max_message <= XVW_MAX_MESSAGE);
}

static void check_frame(const struct xvw_frame *f, const uint8_t *buf,
			size_t len)
{
	uint8_t again[XVW_HELLO_LEN];
	size_t head = xvw_put(again, f);

	must(head <= len && !memcmp(again, buf, head));
	if (f->type == XVW_HELLO)
		check_hello(&f->hello);
	if (f->type != XVW_DATA) {
		must(head == len && !f->data && !f->data_len);
		return;
	}
	must(f->data == buf + head && f->data_len == len - head);
	if (f->flags & XVW_F_FIRST)
		must(f->data_len <= f->arg && (f->data_len || !f->arg));
	else
		must(f->data_len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of the exact size, so that one byte beyond it is noticed. */
	uint8_t *buf = malloc(size ? size : 1);
	enum xvw_fault fault, said;
	struct xvw_frame f;

	memcpy(buf, data, size);
	fault = xvw_parse(buf, size, &f);
	must(fault < XVW_FAULT_ROLE);
	if (!fault)
		check_frame(&f, buf, size);
	fault = xvw_parse_token(buf, size, &said);
	must(fault < XVW_FAULT_ROLE);
	if (!fault) {
		xvw_put_token(buf, said);
		must(buf[6] == data[6] && !memcmp(buf, data, 4));
	}
	free(buf);
	return 0;
}
