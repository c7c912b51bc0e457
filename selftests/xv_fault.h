/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The n-th allocation or user copy of a call fails: what the tests of that share.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Helpers that assert take the harness's _metadata, as its own macros do.
 */
#ifndef _XV_FAULT_H
#define _XV_FAULT_H

#include "xv_test.h"

#define XVF_DIR		"/sys/kernel/debug/"

XVT_UNUSED static void xvf_knob(const char *dir, const char *name,
				const char *text)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), XVF_DIR "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) != strlen(text))
		fprintf(stderr, "%s: can not write %s\n", path, text);
	close(fd);
}

/*
 * All kinds of allocations count, and none of them is reported. Returns the
 * descriptor of this thread's fail-nth, or -1 if the kernel has none.
 */
XVT_UNUSED static int xvf_open(void)
{
	static const char *const kernels[] = {
		"failslab", "fail_page_alloc", "fail_usercopy",
	};
	static const char *const ours[] = {
		"xverbs/fail_get", "xverbs/fail_make", "xverbs/fail_copy",
		"xverbs/fail_last",
	};
	int fd = open("/proc/thread-self/fail-nth", O_RDWR);
	unsigned int i;

	if (fd < 0)
		return -1;
	for (i = 0; i < ARRAY_SIZE(kernels); i++) {
		xvf_knob(kernels[i], "ignore-gfp-wait", "N");
		xvf_knob(kernels[i], "ignore-gfp-highmem", "N");
		xvf_knob(kernels[i], "min-order", "0");
		xvf_knob(kernels[i], "verbose", "0");
	}
	for (i = 0; i < ARRAY_SIZE(ours); i++)
		xvf_knob(ours[i], "verbose", "0");
	return fd;
}

/* Arm: the n-th fault point that this thread meets will fail. */
XVT_UNUSED static void xvf_arm(struct __test_metadata *_metadata, int fd,
			       unsigned int n)
{
	char text[16];
	int i;

	snprintf(text, sizeof(text), "%u", n);
	/* The write itself may be hit by what was armed before. */
	for (i = 0; i < 100; i++)
		if (pwrite(fd, text, strlen(text), 0) == strlen(text))
			return;
	ASSERT_EQ(0, errno);
}

/* Disarm; true if the fault was met. */
XVT_UNUSED static bool xvf_disarm(struct __test_metadata *_metadata, int fd)
{
	char text[16] = "";
	unsigned int left;
	int i, n = -1;

	for (i = 0; i < 100 && n < 0; i++)
		n = pread(fd, text, sizeof(text) - 1, 0);
	left = atoi(text);
	xvf_arm(_metadata, fd, 0);
	return n > 0 && left == 0;
}

static inline bool xvf_in_contract(int err)
{
	switch (-err) {
	case EFAULT:
	case ENOMEM:
	case EMFILE:
	case EIO:
		return true;
	}
	return false;
}

#endif /* _XV_FAULT_H */
