/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Ring areas: memory that the kernel and a program share.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Rings of many objects lie in few areas, each mapped once. One mapping for
 * each object is what libibverbs pays most for: page clearing, mmap and
 * faults.
 */
#ifndef _XV_DATA_AREA_H
#define _XV_DATA_AREA_H

#include <linux/types.h>
#include <rdma/xverbs.h>

struct vm_area_struct;
struct xv_areas;
struct xv_file;

/**
 * struct xv_chunk - an object's part of an area
 * @area: the area; NULL if there is none
 * @mem: where it lies for the kernel
 * @offset: where it lies in the area
 * @length: its length in bytes
 */
struct xv_chunk {
	struct xv_area_mem *area;
	void *mem;
	u32 offset;
	u32 length;
};

struct xv_areas *xv_areas_new(void);
void xv_areas_free(struct xv_areas *areas);
int xv_chunk_alloc(struct xv_file *file, u32 length, struct xv_chunk *chunk);
void xv_chunk_free(struct xv_file *file, struct xv_chunk *chunk);
void xv_chunk_info(const struct xv_chunk *chunk, struct xv_area *info);
int xv_area_mmap(struct xv_file *file, struct vm_area_struct *vma);

#endif /* _XV_DATA_AREA_H */
