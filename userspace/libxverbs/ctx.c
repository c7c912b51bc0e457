// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Contexts: the open file, its mappings and its transaction for single calls.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "lib.h"

int xv_ctx_ioctl(struct xv_ctx *ctx, unsigned long cmd, void *arg)
{
	int ret;

	__atomic_fetch_add(&ctx->num_ioctls, 1, __ATOMIC_RELAXED);
	ret = ioctl(ctx->fd, cmd, arg);
	return ret < 0 ? -errno : ret;
}

/*
 * Where an object's part of an area lies in memory. Areas are few and serve
 * many objects: each is mapped once, as a whole, and stays until xv_close().
 */
int xv_ctx_map(struct xv_ctx *ctx, const struct xv_area *area, uint8_t **mem)
{
	struct xv_map *map;
	uint8_t *base = NULL;
	int ret = 0;
	void *addr;

	if (area->mmap_length > SIZE_MAX || area->offset > area->mmap_length ||
	    area->length > area->mmap_length - area->offset)
		return -EPROTO;

	pthread_mutex_lock(&ctx->lock);
	for (map = ctx->maps; map; map = map->next)
		if (map->mmap_offset == area->mmap_offset)
			break;
	if (map) {
		if (map->length < area->mmap_length)
			ret = -EPROTO;
		base = map->addr;
		goto out;
	}
	map = malloc(sizeof(*map));
	if (!map) {
		ret = -ENOMEM;
		goto out;
	}
	addr = mmap(NULL, area->mmap_length, PROT_READ | PROT_WRITE,
		    MAP_SHARED, ctx->fd, (off_t)area->mmap_offset);
	if (addr == MAP_FAILED) {
		ret = -errno;
		free(map);
		goto out;
	}
	map->mmap_offset = area->mmap_offset;
	map->length = area->mmap_length;
	map->addr = addr;
	base = addr;
	map->next = ctx->maps;
	ctx->maps = map;
out:
	if (!ret)
		*mem = base + area->offset;
	pthread_mutex_unlock(&ctx->lock);
	return ret;
}

/* Takes over @fd, also when it fails. */
static int ctx_new(int fd, struct xv_ctx **ctx_out)
{
	struct xv_ctx *ctx;
	int ret = -ENOMEM;

	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		goto err_close;
	ctx->fd = fd;
	pthread_mutex_init(&ctx->lock, NULL);
	ret = xv_tx_init(&ctx->now, ctx, XV_TXN_NOW);
	if (ret)
		goto err_free;
	*ctx_out = ctx;
	return 0;

err_free:
	pthread_mutex_destroy(&ctx->lock);
	free(ctx);
err_close:
	close(fd);
	return ret;
}

static bool device_matches(const struct xv_device *dev, const char *name)
{
	const char *node = strrchr(dev->node, '/');

	return !name || !strcmp(dev->name, name) || !strcmp(dev->node, name) ||
	       (node && !strcmp(node + 1, name));
}

/*
 * The kernel names the device number, udev makes the node: the name may not be
 * there yet, or be left from a device of before.
 */
static int open_node(const struct xv_device *dev)
{
	const struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };
	unsigned int tries = 100;
	struct stat st;
	int ret, fd;

	for (;;) {
		fd = open(dev->node, O_RDWR | O_CLOEXEC);
		if (fd >= 0) {
			if (!fstat(fd, &st) && S_ISCHR(st.st_mode) &&
			    st.st_rdev == (dev_t)dev->rdev)
				return fd;
			close(fd);
			ret = -ENXIO;
		} else {
			ret = -errno;
		}
		if ((ret != -ENOENT && ret != -ENXIO) || !--tries)
			break;
		nanosleep(&pause, NULL);
	}
	return ret;
}

XV_PUBLIC int xv_open(const char *name, int flags, struct xv_ctx **ctx)
{
	XV_KEEP_ERRNO;
	struct xv_device *list;
	unsigned int num, i;
	int ret;

	if (flags)
		return -EINVAL;
	ret = xv_device_list(&list, &num);
	if (ret)
		return ret;
	for (i = 0; i < num; i++)
		if (device_matches(&list[i], name))
			break;
	if (i == num)
		ret = -ENODEV;
	else if (list[i].abi_version != XV_ABI_VERSION)
		ret = -EPROTO;
	else
		ret = open_node(&list[i]);
	xv_device_list_free(list);
	return ret < 0 ? ret : ctx_new(ret, ctx);
}

XV_PUBLIC int xv_open_fd(int fd, int flags, struct xv_ctx **ctx)
{
	XV_KEEP_ERRNO;
	struct xv_device_info info = {};
	int ret;

	if (flags)
		return -EINVAL;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	ret = ctx_new(fd, ctx);
	if (ret)
		return ret;
	/* A device that is gone can still be closed, and told so. */
	ret = xv_device_query(xv_now(*ctx), &info);
	if (!ret && info.abi_version != XV_ABI_VERSION)
		ret = -EPROTO;
	if (ret && ret != -ENODEV) {
		xv_close(*ctx);
		*ctx = NULL;
		return ret;
	}
	(*ctx)->num_ioctls = 0;
	return 0;
}

XV_PUBLIC void xv_close(struct xv_ctx *ctx)
{
	XV_KEEP_ERRNO;
	struct xv_dead *dead;
	struct xv_map *map;

	if (!ctx)
		return;
	xv_tx_exit(&ctx->now);
	while ((map = ctx->maps)) {
		ctx->maps = map->next;
		munmap(map->addr, map->length);
		free(map);
	}
	while ((dead = ctx->dead)) {
		ctx->dead = dead->next;
		free(dead);
	}
	free(ctx->desc);
	close(ctx->fd);
	pthread_mutex_destroy(&ctx->lock);
	free(ctx);
}

XV_PUBLIC int xv_fd(const struct xv_ctx *ctx)
{
	return ctx->fd;
}

XV_PUBLIC uint64_t xv_num_ioctls(const struct xv_ctx *ctx)
{
	return __atomic_load_n(&ctx->num_ioctls, __ATOMIC_RELAXED);
}

XV_PUBLIC struct xv_tx *xv_now(struct xv_ctx *ctx)
{
	return &ctx->now;
}
