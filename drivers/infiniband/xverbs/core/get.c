// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The get phase of a transaction: handles to locked objects, new ones reserved.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * The lock order and why there is no deadlock: uobj.h.
 */
#include "../device.h"
#include "get.h"
#include "txn.h"

static struct xv_uobj *lookup_slot(struct xv_call *call,
				   const struct xv_slot *slot)
{
	const struct xv_type *type = xv_spec_type(&xv_spec, slot->spec->type);

	if (type->ops->lookup)
		return type->ops->lookup(call->file, slot->data);
	return xv_uobj_lookup(call->file, slot->data);
}

/* Look one handle up and put it in its place among the locks. */
static int add_lock(struct xv_call *call, struct xv_opx *op,
		    struct xv_slot *slot)
{
	const struct xv_type *type = xv_spec_type(&xv_spec, slot->spec->type);
	struct xv_uobj *obj = lookup_slot(call, slot);
	u32 i;
	int ret;

	if (!obj) {
		ret = xv_fail(call, op, slot->group, slot->spec->id,
			      type->ops->fd ? XV_R_NO_EVENTQ : XV_R_NO_HANDLE,
			      0);
		if (!type->ops->fd)
			call->error.handle = slot->data;
		return ret;
	}
	if (obj->type != type) {
		ret = xv_fail_obj(call, op, slot->group, slot->spec->id,
				  XV_R_TYPE, obj);
		call->error.detail = type->id;
		xv_uobj_put(obj);
		return ret;
	}
	slot->obj = obj;
	for (i = call->num_locks; i > 0; i--) {
		if (call->locks[i - 1].obj->handle <= obj->handle)
			break;
		call->locks[i] = call->locks[i - 1];
	}
	call->locks[i].obj = obj;
	call->locks[i].slot = slot;
	call->locks[i].op = op;
	call->locks[i].held = false;
	call->num_locks++;
	return 0;
}

static int try_lock(struct xv_call *call, struct xv_lock *lock)
{
	struct xv_uobj *obj = lock->obj;
	bool ok;

	if (lock->slot->spec->kind == XV_K_READ)
		ok = xv_uobj_try_read(obj);
	else
		ok = xv_uobj_try_write(obj);
	if (ok && xv_uobj_is_live(obj)) {
		lock->held = true;
		return 0;
	}
	/* Who destroys keeps the lock for ever: that is no conflict. */
	if (ok && lock->slot->spec->kind == XV_K_READ)
		xv_uobj_unlock_read(obj);
	else if (ok)
		xv_uobj_unlock_write(obj);
	if (!xv_uobj_is_live(obj)) {
		int ret = xv_fail(call, lock->op, lock->slot->group,
				  lock->slot->spec->id, XV_R_NO_HANDLE, 0);

		call->error.handle = obj->handle;
		return ret;
	}
	return xv_fail_obj(call, lock->op, lock->slot->group,
			   lock->slot->spec->id, XV_R_LOCK_CONFLICT, obj);
}

/* The locks are sorted: one object's stand side by side. */
static int lock_all(struct xv_call *call)
{
	u32 i;

	for (i = 0; i < call->num_locks; i++) {
		struct xv_lock *lock = &call->locks[i];
		int ret;

		if (lock->obj->type->ops->fd)
			continue;
		if (i && lock[-1].obj == lock->obj) {
			if (lock->slot->spec->kind == XV_K_READ &&
			    lock[-1].slot->spec->kind == XV_K_READ)
				continue;
			return xv_fail_obj(call, lock->op, lock->slot->group,
					   lock->slot->spec->id,
					   XV_R_SELF_CONFLICT, lock->obj);
		}
		ret = try_lock(call, lock);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * xv_unlock_handles - undo the locks of xv_get_handles()
 * @call: the call
 */
void xv_unlock_handles(struct xv_call *call)
{
	while (call->num_locks) {
		struct xv_lock *lock = &call->locks[--call->num_locks];

		lock->slot->obj = NULL;
		if (lock->held && lock->slot->spec->kind == XV_K_READ)
			xv_uobj_unlock_read(lock->obj);
		else if (lock->held)
			xv_uobj_unlock_write(lock->obj);
		xv_uobj_put(lock->obj);
	}
}

static struct xv_slot *main_slot(struct xv_opx *op)
{
	return xv_slot(op, XV_GRP_OBJECT, XV_OBJECT_HANDLE);
}

/**
 * xv_get_handles - look up and lock what exists, then reserve what is new
 * @call: the call
 *
 * After a failure the caller undoes what was done, as after any later one.
 *
 * Return: 0 or what xv_fail() returned.
 */
int xv_get_handles(struct xv_call *call)
{
	u32 i, j;
	int ret;

	for (i = 0; i < call->parsed.num_ops; i++) {
		struct xv_opx *op = &call->parsed.ops[i];

		for (j = 0; j < op->num_slots; j++) {
			struct xv_slot *slot = &op->slots[j];

			if (!slot->spec || !xv_kind_is_handle(slot->spec->kind))
				continue;
			if (slot->spec->kind == XV_K_NEW ||
			    slot->flags & XV_ATTR_F_FROM_OP)
				continue;
			ret = add_lock(call, op, slot);
			if (ret)
				return ret;
		}
	}
	ret = lock_all(call);
	if (ret)
		return ret;

	for (i = 0; i < call->parsed.num_ops; i++) {
		struct xv_opx *op = &call->parsed.ops[i];
		struct xv_slot *slot = main_slot(op);

		if (op->method->class == XV_C_CREATE) {
			ret = xv_uobj_reserve(call, op);
			if (ret)
				return ret;
			slot->obj = op->obj;
		}
		for (j = 0; j < op->num_slots; j++)
			if (op->slots[j].spec &&
			    op->slots[j].flags & XV_ATTR_F_FROM_OP)
				op->slots[j].obj =
					call->parsed.ops[op->slots[j].data].obj;
		if (slot && op->method->class != XV_C_CREATE)
			op->obj = slot->obj;
	}
	return 0;
}

/* A set of objects goes together or stays together. */
static int check_destroy(struct xv_call *call, struct xv_opx *op)
{
	struct xv_uobj *obj = op->obj;
	struct xv_uobj *child;
	bool retried = false;
	int ret;

	for (;;) {
		child = xv_uobj_outside_child(obj, call);
		if (!child)
			break;
		if (child->state != XV_S_ZOMBIE) {
			ret = xv_fail_obj(call, op, XV_GRP_OBJECT,
					  XV_OBJECT_HANDLE, XV_R_DEPENDENT,
					  child);
			xv_uobj_put(child);
			return ret;
		}
		ret = xv_fail_obj(call, op, XV_GRP_OBJECT, XV_OBJECT_HANDLE,
				  XV_R_ZOMBIE_DEPENDENT, child);
		call->error.handle = 0;
		xv_uobj_put(child);
		/* After removal the caller holds the lock, and hope is gone. */
		if (retried || !call->ibdev)
			return ret;
		xv_file_retry_zombies(call->file);
		retried = true;
	}
	if (obj->type->ops->can_destroy)
		return obj->type->ops->can_destroy(call, op, obj);
	return 0;
}

/**
 * xv_check_destroy_set - may the objects go that the call destroys?
 * @call: the call, with all its objects locked
 *
 * The last moment at which a destroy can be refused.
 *
 * Return: 0 or what xv_fail() returned.
 */
int xv_check_destroy_set(struct xv_call *call)
{
	u32 i;
	int ret;

	for (i = 0; i < call->parsed.num_ops; i++)
		if (call->parsed.ops[i].method->class == XV_C_DESTROY)
			call->parsed.ops[i].obj->set = call;
	for (i = 0; i < call->parsed.num_ops; i++) {
		if (call->parsed.ops[i].method->class != XV_C_DESTROY)
			continue;
		ret = check_destroy(call, &call->parsed.ops[i]);
		if (ret)
			return ret;
	}
	return 0;
}
