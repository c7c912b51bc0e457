// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Ring areas: memory that the kernel and a program share.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * An area lives as long as its file, also after the device was removed: it is
 * plain memory, so nothing has to be taken away from the program.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "../core/uobj.h"
#include "area.h"

#define XV_AREA_UNIT	128U		/* bytes of one bit; also the alignment */
#define XV_AREA_FIRST	(64U << 10)	/* the first one is small */
#define XV_AREA_LAST	(4U << 20)	/* each is twice the last, up to this */
#define XV_AREA_SHIFT	28		/* of the mmap offset of an area */
#define XV_AREA_MAX	1024U		/* areas of one file */

/**
 * struct xv_area_mem - one area
 * @index: number of the area, from 1
 * @num_pages: number of @pages
 * @free: free units
 * @hint: where to search
 * @pages: its pages
 * @mem: the pages, mapped for the kernel
 * @used: a bit for each unit
 */
struct xv_area_mem {
	u32 index;
	u32 num_pages;
	u32 free;
	u32 hint;
	struct page **pages;
	void *mem;
	unsigned long *used;
};

/**
 * struct xv_areas - all areas of a file
 * @lock: protects all below; innermost
 * @num: number of areas
 * @areas: the areas
 */
struct xv_areas {
	struct mutex lock;	/* innermost */
	u32 num;
	struct xv_area_mem *areas[XV_AREA_MAX];
};

struct xv_areas *xv_areas_new(void)
{
	struct xv_areas *areas = kvzalloc(sizeof(*areas), XV_GFP);

	if (areas)
		mutex_init(&areas->lock);
	return areas;
}

static u32 area_units(const struct xv_area_mem *area)
{
	return area->num_pages * (PAGE_SIZE / XV_AREA_UNIT);
}

static void area_free(struct xv_area_mem *area)
{
	u32 i;

	if (area->mem)
		vunmap(area->mem);
	for (i = 0; area->pages && i < area->num_pages; i++)
		if (area->pages[i])
			__free_page(area->pages[i]);
	kvfree(area->pages);
	bitmap_free(area->used);
	kfree(area);
}

static struct xv_area_mem *area_new(u32 bytes)
{
	struct xv_area_mem *area;
	u32 i;

	area = kzalloc(sizeof(*area), XV_GFP);
	if (!area)
		return NULL;
	area->num_pages = PAGE_ALIGN(bytes) >> PAGE_SHIFT;
	area->free = area_units(area);
	area->used = bitmap_zalloc(area->free, XV_GFP);
	area->pages = kvcalloc(area->num_pages, sizeof(*area->pages),
			       XV_GFP);
	if (!area->used || !area->pages)
		goto err_free;
	for (i = 0; i < area->num_pages; i++) {
		area->pages[i] = alloc_page(XV_GFP | __GFP_ZERO);
		if (!area->pages[i])
			goto err_free;
	}
	area->mem = vmap(area->pages, area->num_pages, VM_MAP, PAGE_KERNEL);
	if (!area->mem)
		goto err_free;
	return area;

err_free:
	area_free(area);
	return NULL;
}

void xv_areas_free(struct xv_areas *areas)
{
	u32 i;

	for (i = 0; i < areas->num; i++)
		area_free(areas->areas[i]);
	kvfree(areas);
}

static bool area_take(struct xv_area_mem *area, u32 units,
		      struct xv_chunk *chunk)
{
	u32 total = area_units(area);
	unsigned long pos;

	if (area->free < units)
		return false;
	pos = bitmap_find_next_zero_area(area->used, total, area->hint, units, 0);
	if (pos >= total)
		pos = bitmap_find_next_zero_area(area->used, total, 0, units, 0);
	if (pos >= total)
		return false;
	bitmap_set(area->used, pos, units);
	area->free -= units;
	area->hint = pos + units;
	chunk->area = area;
	chunk->offset = pos * XV_AREA_UNIT;
	chunk->length = units * XV_AREA_UNIT;
	chunk->mem = area->mem + chunk->offset;
	return true;
}

/**
 * xv_chunk_alloc - take a part of an area
 * @file: the file
 * @length: bytes
 * @chunk: is filled
 *
 * What was there before is still there, but for the program itself only: no
 * file sees the memory of another.
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int xv_chunk_alloc(struct xv_file *file, u32 length, struct xv_chunk *chunk)
{
	struct xv_areas *areas = file->areas;
	u32 units = DIV_ROUND_UP(length, XV_AREA_UNIT);
	struct xv_area_mem *area;
	u32 size;
	u32 i;
	int ret = 0;

	mutex_lock(&areas->lock);
	/* The newest area is the largest, and the likeliest to have room. */
	for (i = areas->num; i > 0; i--)
		if (area_take(areas->areas[i - 1], units, chunk))
			goto out_unlock;

	ret = -ENOMEM;
	if (areas->num == XV_AREA_MAX)
		goto out_unlock;
	size = min(XV_AREA_FIRST << min(areas->num, 6U), XV_AREA_LAST);
	area = area_new(max(size, units * XV_AREA_UNIT));
	if (!area)
		goto out_unlock;
	areas->areas[areas->num] = area;
	area->index = areas->num + 1;
	/* mmap looks without the lock: it must find what it counts. */
	smp_store_release(&areas->num, areas->num + 1);
	area_take(area, units, chunk);
	ret = 0;
out_unlock:
	mutex_unlock(&areas->lock);
	return ret;
}

/**
 * xv_chunk_free - give a part of an area back
 * @file: the file
 * @chunk: the part; may be empty
 *
 * Context: may sleep.
 */
void xv_chunk_free(struct xv_file *file, struct xv_chunk *chunk)
{
	struct xv_area_mem *area = chunk->area;
	u32 units = chunk->length / XV_AREA_UNIT;
	u32 pos = chunk->offset / XV_AREA_UNIT;

	if (!area)
		return;
	mutex_lock(&file->areas->lock);
	bitmap_clear(area->used, pos, units);
	area->free += units;
	if (pos < area->hint)
		area->hint = pos;
	mutex_unlock(&file->areas->lock);
	chunk->area = NULL;
}

/**
 * xv_chunk_info - tell the user where a part lies
 * @chunk: the part
 * @info: is filled
 */
void xv_chunk_info(const struct xv_chunk *chunk, struct xv_area *info)
{
	info->mmap_offset = (u64)chunk->area->index << XV_AREA_SHIFT;
	info->mmap_length = (u64)chunk->area->num_pages << PAGE_SHIFT;
	info->offset = chunk->offset;
	info->length = chunk->length;
}

/* Pages are put in at mmap; this serves what MADV_DONTNEED has dropped. */
static vm_fault_t area_fault(struct vm_fault *vmf)
{
	struct xv_area_mem *area = vmf->vma->vm_private_data;
	u64 index = vmf->pgoff & ((1ULL << (XV_AREA_SHIFT - PAGE_SHIFT)) - 1);

	if (index >= area->num_pages)
		return VM_FAULT_SIGBUS;
	vmf->page = area->pages[index];
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct area_vm_ops = {
	.fault = area_fault,
};

/**
 * xv_area_mmap - map an area
 * @file: the file; the mapping holds it open
 * @vma: the mapping, with mmap_lock held
 *
 * Return: 0 or a negative errno.
 */
int xv_area_mmap(struct xv_file *file, struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 index = offset >> XV_AREA_SHIFT;
	struct xv_area_mem *area = NULL;

	if (!(vma->vm_flags & VM_SHARED) || vma->vm_flags & VM_EXEC)
		return -EINVAL;
	/* No lock: areas are only added, and never move. */
	if (index && index <= smp_load_acquire(&file->areas->num))
		area = file->areas->areas[index - 1];
	if (!area || offset & ((1ULL << XV_AREA_SHIFT) - 1) ||
	    vma->vm_end - vma->vm_start != (u64)area->num_pages << PAGE_SHIFT)
		return -EINVAL;
	xv_vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	xv_vm_flags_clear(vma, VM_MAYEXEC);
	vma->vm_private_data = area;
	vma->vm_ops = &area_vm_ops;
	return vm_map_pages_zero(vma, area->pages, area->num_pages);
}
