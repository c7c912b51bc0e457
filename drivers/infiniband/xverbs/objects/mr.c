// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mr: memory region.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include "../core/txn.h"
#include "mr.h"
#include "objects.h"
#include "pd.h"

/* User pages are made present in pieces of this size, so that a kill ends it. */
#define XV_FAULT_PIECE	(2UL << 20)

#define XV_ACCESS_NEEDS_LOCAL	(XV_ACCESS_REMOTE_WRITE | XV_ACCESS_REMOTE_ATOMIC)
#define XV_ACCESS_REMOTE	(XV_ACCESS_NEEDS_LOCAL | XV_ACCESS_REMOTE_READ)

static u64 mr_pages(u64 addr, u64 length)
{
	return (PAGE_ALIGN(addr + length) - (addr & PAGE_MASK)) >> PAGE_SHIFT;
}

/* Bytes that RLIMIT_MEMLOCK would have to be, or 0 if it is enough. */
static u64 memlock_needed(u64 pages)
{
	u64 limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	u64 need = atomic64_read(&current->mm->pinned_vm) + pages;

	if (need <= limit || capable(CAP_IPC_LOCK))
		return 0;
	return need << PAGE_SHIFT;
}

/*
 * Registration faults user pages in while removal of the device waits for it,
 * so they are made present before: this may take as long as it takes.
 */
static int fault_in(struct xv_call *call, struct xv_opx *op, u64 addr,
		    u64 length, bool write)
{
	while (length) {
		size_t piece = min_t(u64, length, XV_FAULT_PIECE);
		char __user *p = u64_to_user_ptr(addr);
		size_t left;

		if (fatal_signal_pending(current))
			return xv_fail(call, op, 0, 0, XV_R_SIGNAL, 0);
		left = write ? fault_in_safe_writeable(p, piece) :
			       fault_in_readable(p, piece);
		if (left)
			return xv_fail(call, op, XV_GRP_PARAMS, XV_PARAMS_ADDR,
				       XV_R_USER_MEMORY, 0);
		addr += piece;
		length -= piece;
		cond_resched();
	}
	return 0;
}

static int mr_check(struct xv_call *call, struct xv_opx *op)
{
	u64 addr = xv_value(op, XV_GRP_PARAMS, XV_PARAMS_ADDR, 0);
	u64 length = xv_value(op, XV_GRP_PARAMS, XV_PARAMS_LENGTH, 0);
	u64 iova = xv_value(op, XV_GRP_PARAMS, XV_PARAMS_IOVA, addr);
	u32 access = xv_value(op, XV_GRP_ACCESS, XV_ACCESS_FLAGS, 0);
	u64 end, need;

	if (access & XV_ACCESS_NEEDS_LOCAL && !(access & XV_ACCESS_LOCAL_WRITE))
		return xv_fail(call, op, XV_GRP_ACCESS, XV_ACCESS_FLAGS,
			       XV_R_ACCESS, 0);
	if (check_add_overflow(addr, length, &end) || PAGE_ALIGN(end) < end)
		return xv_fail(call, op, XV_GRP_PARAMS, XV_PARAMS_LENGTH,
			       XV_R_RANGE, U64_MAX - addr);
	if ((addr ^ iova) & ~PAGE_MASK || check_add_overflow(iova, length, &end))
		return xv_fail(call, op, XV_GRP_PARAMS, XV_PARAMS_IOVA,
			       XV_R_RANGE, 0);
	need = memlock_needed(mr_pages(addr, length));
	if (need)
		return xv_fail(call, op, XV_GRP_PARAMS, XV_PARAMS_LENGTH,
			       XV_R_MEMLOCK, need);
	return fault_in(call, op, addr, length, access & XV_ACCESS_LOCAL_WRITE);
}

static int ib_access(struct ib_device *ibdev, u32 access)
{
	int flags = 0;

	if (access & XV_ACCESS_LOCAL_WRITE)
		flags |= IB_ACCESS_LOCAL_WRITE;
	if (access & XV_ACCESS_REMOTE_WRITE)
		flags |= IB_ACCESS_REMOTE_WRITE;
	if (access & XV_ACCESS_REMOTE_READ)
		flags |= IB_ACCESS_REMOTE_READ;
	if (access & XV_ACCESS_REMOTE_ATOMIC)
		flags |= IB_ACCESS_REMOTE_ATOMIC;
	/* A hint; software devices keep order anyway and refuse the bit. */
	if (access & XV_ACCESS_RELAXED_ORDERING &&
	    ibdev->ops.driver_id == RDMA_DRIVER_MLX5)
		flags |= IB_ACCESS_RELAXED_ORDERING;
	return flags;
}

static void mr_info(struct xv_mr *mr, struct xv_mr_info *info)
{
	info->addr = mr->addr;
	info->length = mr->length;
	info->iova = mr->iova;
	info->rkey = mr->access & XV_ACCESS_REMOTE ? mr->ibmr->rkey : 0;
	info->access = mr->access;
	info->pd = xv_mr_pd(mr)->handle;
	info->restrack_id = mr->ibmr->res.id;
}

static int mr_create(struct xv_call *call, struct xv_opx *op)
{
	struct xv_uobj *pd = xv_handle(op, XV_OBJECT_PD);
	struct xv_mr *mr = xv_to_mr(op->obj);
	struct xv_mr_info info = {};
	struct ib_mr *ibmr;

	mr->addr = xv_value(op, XV_GRP_PARAMS, XV_PARAMS_ADDR, 0);
	mr->length = xv_value(op, XV_GRP_PARAMS, XV_PARAMS_LENGTH, 0);
	mr->iova = xv_value(op, XV_GRP_PARAMS, XV_PARAMS_IOVA, mr->addr);
	mr->access = xv_value(op, XV_GRP_ACCESS, XV_ACCESS_FLAGS, 0);
	if (mr->length > call->ibdev->attrs.max_mr_size)
		return xv_fail(call, op, XV_GRP_PARAMS, XV_PARAMS_LENGTH,
			       XV_R_RANGE, call->ibdev->attrs.max_mr_size);
	if (mr->access & XV_ACCESS_REMOTE_ATOMIC &&
	    call->ibdev->attrs.atomic_cap == IB_ATOMIC_NONE)
		return xv_fail(call, op, XV_GRP_ACCESS, XV_ACCESS_FLAGS,
			       XV_R_CAPABILITY, 0);
	ibmr = ib_reg_user_mr(xv_to_pd(pd)->ibpd, mr->addr, mr->length,
			      mr->iova, ib_access(call->ibdev, mr->access));
	if (IS_ERR(ibmr)) {
		u64 need = memlock_needed(mr_pages(mr->addr, mr->length));

		if (PTR_ERR(ibmr) == -ENOMEM && need)
			return xv_fail(call, op, XV_GRP_PARAMS,
				       XV_PARAMS_LENGTH, XV_R_MEMLOCK, need);
		return xv_fail_driver(call, op, PTR_ERR(ibmr));
	}
	mr->ibmr = ibmr;
	mr->lkey = ibmr->lkey;
	op->obj->hw = true;
	xv_uobj_link(op->obj, 0, pd);
	mr_info(mr, &info);
	return xv_result(call, op, &info, sizeof(info));
}

static int mr_destroy(struct xv_uobj *obj, enum xv_why why)
{
	return ib_dereg_mr_user(xv_to_mr(obj)->ibmr, NULL);
}

static int mr_query(struct xv_call *call, struct xv_opx *op)
{
	struct xv_mr_info info = {};

	mr_info(xv_to_mr(op->obj), &info);
	return xv_result(call, op, &info, sizeof(info));
}

static const struct xv_attr_spec new_object_attrs[] = {
	{ .id = XV_OBJECT_HANDLE, .name = "handle", .kind = XV_K_NEW,
	  .type = XV_OBJ_MR, .required = true },
	{ .id = XV_OBJECT_PD, .name = "pd", .kind = XV_K_READ,
	  .type = XV_OBJ_PD, .required = true },
};

static const struct xv_attr_spec access_attrs[] = {
	{ .id = XV_ACCESS_FLAGS, .name = "flags", .kind = XV_K_BITS,
	  .max = XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE |
		 XV_ACCESS_RELAXED_ORDERING },
};

static const struct xv_attr_spec params_attrs[] = {
	{ .id = XV_PARAMS_ADDR, .name = "addr", .kind = XV_K_U64,
	  .max = U64_MAX, .required = true },
	{ .id = XV_PARAMS_LENGTH, .name = "length", .kind = XV_K_U64,
	  .min = 1, .max = U64_MAX, .required = true },
	{ .id = XV_PARAMS_IOVA, .name = "iova", .kind = XV_K_U64,
	  .max = U64_MAX },
};

XV_DEFINE_GROUP(new_object, XV_GRP_OBJECT, "object");
XV_DEFINE_OBJECT_GROUP(destroy_object, XV_K_DESTROY, XV_OBJ_MR);
XV_DEFINE_OBJECT_GROUP(read_object, XV_K_READ, XV_OBJ_MR);
XV_DEFINE_GROUP(access, XV_GRP_ACCESS, "access");
XV_DEFINE_GROUP(params, XV_GRP_PARAMS, "params");
XV_DEFINE_RESULT_GROUP(result, struct xv_mr_info);

static const struct xv_group_use create_groups[] = {
	{ .group = &new_object, .required = true },
	{ .group = &access },
	{ .group = &params, .required = true },
	{ .group = &result },
};

static const struct xv_group_use destroy_groups[] = {
	{ .group = &destroy_object, .required = true },
};

static const struct xv_group_use query_groups[] = {
	{ .group = &read_object, .required = true },
	{ .group = &result, .required = true },
};

static const struct xv_method_spec mr_methods[] = {
	{ .id = XV_M_CREATE, .name = "create", .class = XV_C_CREATE,
	  .groups = create_groups, .num_groups = ARRAY_SIZE(create_groups),
	  .check = mr_check, .make = mr_create },
	{ .id = XV_M_DESTROY, .name = "destroy", .class = XV_C_DESTROY,
	  .groups = destroy_groups, .num_groups = ARRAY_SIZE(destroy_groups) },
	{ .id = XV_M_QUERY, .name = "query", .class = XV_C_QUERY,
	  .groups = query_groups, .num_groups = ARRAY_SIZE(query_groups),
	  .make = mr_query },
};

static const struct xv_type_ops mr_ops = {
	.size = sizeof(struct xv_mr),
	.edges = offsetof(struct xv_mr, edges),
	.num_edges = 1,
	.destroy = mr_destroy,
};

const struct xv_type xv_type_mr = {
	.id = XV_OBJ_MR, .name = "mr",
	.methods = mr_methods, .num_methods = ARRAY_SIZE(mr_methods),
	.ops = &mr_ops,
};
