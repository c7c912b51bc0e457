// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Transactions: get, handler and put over all operations of one call.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * The order of one call, the same for every class of operations:
 *
 *	1 read and check	all user memory is read, once
 *	2 get			device, locks, new handles
 *	3 make			handlers; results into the kernel's memory
 *	4 copy-out		with page faults off
 *	5 last fallible step	new queue pairs connect, or the one modify
 *	6 commit		void: publish, unmute, destroy, unlock
 *
 * A failure in 2 to 5 undoes what the call did, in reverse, and the user sees
 * an errno, an error record, and nothing else. That a batch of destroys needs
 * no undo follows from the order: everything that can refuse is asked in 2,
 * and the destroying itself is part of 6, where the only thing that can still
 * fail is the driver; such an object becomes a zombie, out of the user's reach.
 */
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "../device.h"
#include "../trace.h"
#include "get.h"
#include "txn.h"

/* Copy-out is tried so often before a page that comes and goes is an EFAULT. */
#define XV_COPY_TRIES	8

/* No errno: undo everything, fault the outputs in, and begin again at "get". */
#define XV_RESTART	1

/**
 * xv_fail - fill the error record of a call
 * @call: the call
 * @op: the operation at fault, or NULL if it is the call itself
 * @group: group at fault or 0
 * @attr: attribute at fault or 0
 * @reason: enum xv_reason; decides the errno
 * @detail: see struct xv_error
 *
 * Return: the errno, negative.
 */
int xv_fail(struct xv_call *call, const struct xv_opx *op, u16 group, u16 attr,
	    u16 reason, u64 detail)
{
	return xv_error_set(&call->error, op ? op->index : XV_NO_OP, group,
			    attr, reason, detail);
}

/**
 * xv_fail_obj - fill the error record of a call, naming an object
 * @call: the call
 * @op: the operation at fault
 * @group: group at fault or 0
 * @attr: attribute at fault or 0
 * @reason: enum xv_reason
 * @obj: the object in the way
 *
 * Return: the errno, negative.
 */
int xv_fail_obj(struct xv_call *call, const struct xv_opx *op, u16 group,
		u16 attr, u16 reason, const struct xv_uobj *obj)
{
	int ret = xv_fail(call, op, group, attr, reason, 0);

	call->error.object = obj->type->id;
	call->error.handle = obj->handle;
	return ret;
}

/**
 * xv_fail_raw - fill the error record of a call with another's errno
 * @call: the call
 * @op: the operation at fault
 * @reason: enum xv_reason
 * @raw: what the other answered, negative
 *
 * Return: the errno of the reason, negative.
 */
int xv_fail_raw(struct xv_call *call, const struct xv_opx *op, u16 reason,
		int raw)
{
	int ret = xv_fail(call, op, 0, 0, reason, 0);

	call->error.raw = -raw;
	return ret;
}

/**
 * xv_fail_driver - what the RDMA core or a driver said, in our words
 * @call: the call
 * @op: the operation at fault
 * @raw: their errno, negative
 *
 * Return: the errno, negative.
 */
int xv_fail_driver(struct xv_call *call, const struct xv_opx *op, int raw)
{
	switch (raw) {
	case -ENOMEM:
		return xv_fail_raw(call, op, XV_R_MEMORY, raw);
	case -EFAULT:
		return xv_fail_raw(call, op, XV_R_USER_MEMORY, raw);
	case -EINTR:
	case -ERESTARTSYS:
		return xv_fail_raw(call, op, XV_R_SIGNAL, raw);
	case -EOPNOTSUPP:
		return xv_fail_raw(call, op, XV_R_CAPABILITY, raw);
	}
	return xv_fail_raw(call, op, XV_R_DRIVER, raw);
}

/**
 * xv_result_alloc - memory for the result of an operation
 * @call: the call
 * @op: the operation
 * @size: bytes
 *
 * Return: zeroed memory that is freed with the call; NULL if the user asked
 * for no result or (with the error record filled) if there is no memory.
 */
void *xv_result_alloc(struct xv_call *call, struct xv_opx *op, u32 size)
{
	struct xv_slot *slot = xv_slot(op, XV_GRP_RESULT, XV_RESULT_INFO);
	void *buf;

	if (!slot)
		return NULL;
	buf = kvzalloc(size, XV_GFP);
	if (!buf) {
		xv_fail(call, op, 0, 0, XV_R_MEMORY, 0);
		return NULL;
	}
	call->chunks[call->num_chunks++] = buf;
	slot->buf = buf;
	slot->needed = size;
	return buf;
}

/**
 * xv_result - set the result of an operation
 * @call: the call
 * @op: the operation
 * @data: the struct
 * @size: its size
 *
 * Return: 0 or what xv_fail() returned.
 */
int xv_result(struct xv_call *call, struct xv_opx *op, const void *data,
	      u32 size)
{
	void *buf;

	if (!xv_slot(op, XV_GRP_RESULT, XV_RESULT_INFO))
		return 0;
	buf = xv_result_alloc(call, op, size);
	if (!buf)
		return call->error.err ? -call->error.err : -ENOMEM;
	memcpy(buf, data, size);
	return 0;
}

static void free_results(struct xv_call *call)
{
	while (call->num_chunks)
		kvfree(call->chunks[--call->num_chunks]);
}

/* ---- 1: read and check ---- */

static int read_inputs(struct xv_call *call, struct xv_opx *op, void **mem)
{
	u32 i;

	for (i = 0; i < op->num_slots; i++) {
		struct xv_slot *slot = &op->slots[i];
		int ret;

		if (!slot->spec || slot->spec->kind != XV_K_IN)
			continue;
		if (slot->len <= sizeof(slot->data)) {
			slot->buf = &slot->data;
		} else {
			slot->buf = *mem;
			*mem += ALIGN(slot->len, 8);
			if (copy_from_user(slot->buf, u64_to_user_ptr(slot->data),
					   slot->len))
				return xv_fail(call, op, slot->group,
					       slot->spec->id,
					       XV_R_USER_MEMORY, 0);
		}
		ret = xv_parse_tail(op, slot, &call->error);
		if (ret)
			return ret;
	}
	return 0;
}

static u32 input_bytes(const struct xv_parsed *parsed)
{
	u32 bytes = 0;
	u32 i, j;

	for (i = 0; i < parsed->num_ops; i++)
		for (j = 0; j < parsed->ops[i].num_slots; j++)
			bytes += ALIGN(xv_slot_external(&parsed->ops[i].slots[j]), 8);
	return bytes;
}

static bool has_output(const struct xv_slot *slot)
{
	return slot->spec && (slot->spec->kind == XV_K_NEW ||
			      slot->spec->kind == XV_K_OUT);
}

static bool fault_in_slot(struct xv_call *call, const struct xv_slot *slot)
{
	if (fault_in_safe_writeable(call->wire + slot->wire,
				    sizeof(struct xv_attr)))
		return false;
	if (slot->spec->kind == XV_K_NEW || !slot->len)
		return true;
	return !fault_in_safe_writeable(u64_to_user_ptr(slot->data), slot->len);
}

/* Make the pages of all outputs present, without changing what they hold. */
static int fault_in_outputs(struct xv_call *call)
{
	u32 i, j;

	for (i = 0; i < call->parsed.num_ops; i++) {
		struct xv_opx *op = &call->parsed.ops[i];

		for (j = 0; j < op->num_slots; j++) {
			struct xv_slot *slot = &op->slots[j];

			if (has_output(slot) && !fault_in_slot(call, slot))
				return xv_fail(call, op, slot->group,
					       slot->spec->id,
					       XV_R_USER_MEMORY, 0);
		}
	}
	return 0;
}

static int check_ops(struct xv_call *call)
{
	u32 i;

	for (i = 0; i < call->parsed.num_ops; i++) {
		struct xv_opx *op = &call->parsed.ops[i];
		int ret;

		if (!op->method->check)
			continue;
		ret = op->method->check(call, op);
		if (ret)
			return ret;
	}
	return 0;
}

/* ---- 3: make ---- */

static int make_all(struct xv_call *call)
{
	u32 i;

	for (i = 0; i < call->parsed.num_ops; i++) {
		struct xv_opx *op = &call->parsed.ops[i];
		int ret;

		if (xv_fault(XV_FAULT_MAKE))
			return xv_fail(call, op, 0, 0, XV_R_MEMORY, 0);
		if (!op->method->make)
			continue;
		ret = op->method->make(call, op);
		trace_xv_make(call, op, ret);
		if (ret)
			return ret;
		op->made = true;
	}
	return 0;
}

/* ---- 4: copy-out ---- */

/* Page faults are off: 0, or a fault that the caller has to resolve. */
static int copy_slot(struct xv_call *call, const struct xv_slot *slot)
{
	struct xv_attr __user *attr = call->wire + slot->wire;
	u64 data;
	u16 len;

	if (xv_fault(XV_FAULT_COPY))
		return -EFAULT;
	if (slot->spec->kind == XV_K_NEW) {
		data = slot->obj->type->ops->fd ? slot->data :
						  slot->obj->handle;
		return copy_to_user_nofault(&attr->data, &data, sizeof(data));
	}
	len = min_t(u32, slot->needed, U16_MAX);
	if (copy_to_user_nofault(&attr->len, &len, sizeof(len)))
		return -EFAULT;
	len = min(len, slot->len);
	if (!len)
		return 0;
	return copy_to_user_nofault(u64_to_user_ptr(slot->data), slot->buf, len);
}

static int copy_out(struct xv_call *call)
{
	u32 i, j;

	for (i = 0; i < call->parsed.num_ops; i++) {
		struct xv_opx *op = &call->parsed.ops[i];

		for (j = 0; j < op->num_slots; j++) {
			struct xv_slot *slot = &op->slots[j];

			if (has_output(slot) && copy_slot(call, slot)) {
				xv_fail(call, op, slot->group, slot->spec->id,
					XV_R_USER_MEMORY, 0);
				return XV_RESTART;
			}
		}
	}
	return 0;
}

/* ---- 5: the last fallible step ---- */

static int last_step(struct xv_call *call)
{
	u32 i;

	for (i = 0; i < call->parsed.num_ops; i++) {
		struct xv_opx *op = &call->parsed.ops[i];
		int ret;

		if (!op->method->last)
			continue;
		if (xv_fault(XV_FAULT_LAST))
			return xv_fail(call, op, 0, 0, XV_R_MEMORY, 0);
		ret = op->method->last(call, op);
		trace_xv_last(call, op, ret);
		if (ret)
			return ret;
	}
	return 0;
}

/* ---- 6: commit, or undo ---- */

static bool needs_grace(struct xv_call *call)
{
	u32 i;

	for (i = 0; i < call->parsed.num_ops; i++)
		if (call->parsed.ops[i].method->class == XV_C_DESTROY &&
		    call->parsed.ops[i].obj->type->ops->grace)
			return true;
	return false;
}

/* Children first: the newest member of the set that is still there. */
static struct xv_opx *newest_destroy(struct xv_call *call)
{
	struct xv_opx *best = NULL;
	u32 i;

	for (i = 0; i < call->parsed.num_ops; i++) {
		struct xv_opx *op = &call->parsed.ops[i];

		if (op->method->class != XV_C_DESTROY || op->made)
			continue;
		if (!best || op->obj->seq > best->obj->seq)
			best = op;
	}
	return best;
}

static void commit_destroys(struct xv_call *call)
{
	struct xv_opx *op;
	u32 i;

	for (i = 0; i < call->parsed.num_ops; i++)
		if (call->parsed.ops[i].method->class == XV_C_DESTROY)
			xv_uobj_unpublish(call->parsed.ops[i].obj,
					  XV_WHY_DESTROY);
	if (needs_grace(call))
		synchronize_rcu();
	while ((op = newest_destroy(call))) {
		op->made = true;
		/* The lock stays: who still holds the pointer sees it dying. */
		for (i = 0; i < call->num_locks; i++)
			if (call->locks[i].obj == op->obj)
				call->locks[i].held = false;
		xv_uobj_kill(op->obj, XV_WHY_DESTROY);
	}
}

static void commit(struct xv_call *call)
{
	u32 i;

	for (i = 0; i < call->parsed.num_ops; i++)
		if (call->parsed.ops[i].method->class == XV_C_CREATE)
			xv_uobj_publish(call->parsed.ops[i].obj);
	for (i = 0; i < call->parsed.num_ops; i++)
		if (call->parsed.ops[i].method->commit)
			call->parsed.ops[i].method->commit(call,
							   &call->parsed.ops[i]);
	commit_destroys(call);
	for (i = 0; i < call->parsed.num_ops; i++) {
		struct xv_opx *op = &call->parsed.ops[i];

		trace_xv_commit(call, op, 0);
		if (op->method->class != XV_C_CREATE)
			continue;
		xv_uobj_unlock_write(op->obj);
		xv_uobj_put(op->obj);
	}
	xv_unlock_handles(call);
}

static void undo(struct xv_call *call)
{
	u32 i;

	for (i = 0; i < call->parsed.num_ops; i++)
		if (call->parsed.ops[i].method->class == XV_C_DESTROY &&
		    call->parsed.ops[i].obj)
			call->parsed.ops[i].obj->set = NULL;
	for (i = call->parsed.num_ops; i > 0; i--) {
		struct xv_opx *op = &call->parsed.ops[i - 1];

		if (op->method->class == XV_C_CREATE && op->obj) {
			if (op->obj->hw)
				xv_uobj_kill(op->obj, XV_WHY_ABORT);
			else
				xv_uobj_unreserve(op->obj);
			xv_uobj_put(op->obj);
		}
		op->obj = NULL;
		op->made = false;
	}
	xv_unlock_handles(call);
	free_results(call);
}

static int check_device(struct xv_call *call)
{
	struct xv_dev *dev = call->file->dev;
	u32 i;

	for (i = 0; i < call->parsed.num_ops; i++) {
		const struct xv_opx *op = &call->parsed.ops[i];

		if (!call->ibdev && op->method->class != XV_C_DESTROY &&
		    op->method->id != XV_M_DESCRIBE)
			return xv_fail(call, op, 0, 0, XV_R_DEVICE_GONE, 0);
		if (!dev->driver_ok && op->method->class == XV_C_CREATE)
			return xv_fail(call, op, 0, 0, XV_R_DRIVER_LIST, 0);
	}
	return 0;
}

/* Steps 2 to 6, with the device held. */
static int execute(struct xv_call *call)
{
	int ret;

	ret = check_device(call);
	if (ret)
		return ret;
	ret = xv_get_handles(call);
	if (ret)
		goto err_undo;
	ret = xv_check_destroy_set(call);
	if (ret)
		goto err_undo;
	ret = make_all(call);
	if (ret)
		goto err_undo;
	ret = copy_out(call);
	if (ret)
		goto err_undo;
	ret = last_step(call);
	if (ret)
		goto err_undo;
	/* What a second attempt has overcome is no error. */
	memset(&call->error, 0, sizeof(call->error));
	commit(call);
	return 0;

err_undo:
	undo(call);
	return ret;
}

static int execute_on_device(struct xv_call *call)
{
	struct xv_file *file = call->file;
	int idx;
	int ret;

	call->ibdev = xv_dev_enter(file->dev, &idx);
	if (!call->ibdev) {
		/*
		 * Removal may be at work on this file; what is left to do
		 * needs no device, so it must not hold removal up.
		 */
		xv_dev_exit(file->dev, idx);
		mutex_lock(&file->teardown);
		ret = execute(call);
		mutex_unlock(&file->teardown);
		return ret;
	}
	ret = execute(call);
	xv_dev_exit(file->dev, idx);
	return ret;
}

static int run(struct xv_call *call)
{
	u32 tries;
	int ret;

	for (tries = 0; tries < XV_COPY_TRIES; tries++) {
		memset(&call->error, 0, sizeof(call->error));
		ret = fault_in_outputs(call);
		if (ret)
			return ret;
		ret = execute_on_device(call);
		if (ret != XV_RESTART)
			return ret;
		if (fatal_signal_pending(current))
			return xv_fail(call, NULL, 0, 0, XV_R_SIGNAL, 0);
	}
	return -call->error.err;
}

/* Changes of existing objects, one after the other; the first failure ends it. */
static int run_batch(struct xv_call *call)
{
	struct xv_parsed all = call->parsed;
	u32 i;
	int ret = 0;

	for (i = 0; i < all.num_ops && !ret; i++) {
		call->parsed.ops = &all.ops[i];
		call->parsed.num_ops = 1;
		ret = run(call);
	}
	call->parsed = all;
	if (ret && i == 1)
		return ret;
	return ret ? i - 1 : i;
}

static u32 count_handles(const struct xv_parsed *parsed)
{
	u32 n = 0;
	u32 i, j;

	for (i = 0; i < parsed->num_ops; i++)
		for (j = 0; j < parsed->ops[i].num_slots; j++) {
			const struct xv_slot *slot = &parsed->ops[i].slots[j];

			n += slot->spec && xv_kind_is_handle(slot->spec->kind);
		}
	return n;
}

/* Parse a message that was read, read its inputs, and execute it. */
static int run_message(struct xv_call *call, const void *msg, u32 len)
{
	size_t parsed_size;
	void *inputs;
	void *mem;
	u32 i;
	int ret;

	ret = xv_parse_size(&xv_spec, msg, len, &parsed_size, &call->error);
	if (ret)
		return ret;
	mem = kvzalloc(parsed_size, XV_GFP);
	if (!mem)
		return xv_fail(call, NULL, 0, 0, XV_R_MEMORY, 0);
	ret = xv_parse(&xv_spec, msg, len, mem, &call->parsed, &call->error);
	if (ret)
		goto out_mem;

	ret = xv_fail(call, NULL, 0, 0, XV_R_MEMORY, 0);
	inputs = kvmalloc(input_bytes(&call->parsed) +
			  count_handles(&call->parsed) * sizeof(*call->locks),
			  XV_GFP);
	if (!inputs)
		goto out_mem;
	call->locks = inputs;
	inputs += count_handles(&call->parsed) * sizeof(*call->locks);
	for (i = 0; i < call->parsed.num_ops; i++) {
		ret = read_inputs(call, &call->parsed.ops[i], &inputs);
		if (ret)
			goto out_inputs;
	}
	ret = check_ops(call);
	if (ret)
		goto out_inputs;
	if (call->parsed.flags & XV_TXN_F_BATCH)
		ret = run_batch(call);
	else
		ret = run(call);
	free_results(call);
out_inputs:
	kvfree(call->locks);
out_mem:
	kvfree(mem);
	return ret;
}

static int read_message(struct xv_call *call, struct xv_txn __user *arg,
			struct xv_txn *txn, void **msgp)
{
	void *msg;

	if (copy_from_user(txn, arg, sizeof(*txn)))
		return xv_fail(call, NULL, 0, 0, XV_R_USER_MEMORY, 0);
	if (txn->length < sizeof(*txn))
		return xv_fail(call, NULL, 0, 0, XV_R_LENGTH, sizeof(*txn));
	if (txn->length > XV_MAX_BYTES)
		return xv_fail(call, NULL, 0, 0, XV_R_TOO_BIG, XV_MAX_BYTES);
	msg = kvmalloc(txn->length, XV_GFP);
	if (!msg)
		return xv_fail(call, NULL, 0, 0, XV_R_MEMORY, 0);
	/* The header is the one that was read already: read once. */
	memcpy(msg, txn, sizeof(*txn));
	if (copy_from_user(msg + sizeof(*txn), (void __user *)(arg + 1),
			   txn->length - sizeof(*txn))) {
		kvfree(msg);
		return xv_fail(call, NULL, 0, 0, XV_R_USER_MEMORY, 0);
	}
	*msgp = msg;
	return 0;
}

/**
 * xv_txn - execute a transaction
 * @file: the file
 * @arg: the message in user memory
 *
 * Context: process; may sleep, for user pages and for the driver.
 * Return: 0, the number of operations done (batch), or a negative errno.
 */
int xv_txn(struct xv_file *file, struct xv_txn __user *arg)
{
	struct mem_cgroup *memcg;
	struct xv_call *call;
	struct xv_txn txn = {};
	void *msg;
	int ret;

	memcg = set_active_memcg(file->memcg);
	call = kzalloc(sizeof(*call), XV_GFP);
	if (!call) {
		set_active_memcg(memcg);
		return -ENOMEM;
	}
	call->file = file;
	call->wire = arg;
	ret = read_message(call, arg, &txn, &msg);
	if (!ret) {
		ret = run_message(call, msg, txn.length);
		kvfree(msg);
	}
	set_active_memcg(memcg);
	trace_xv_txn(file, &txn, ret, &call->error);
	/* Best effort: the errno stands whatever becomes of the record. */
	if (call->error.err && txn.error_ptr &&
	    copy_to_user(u64_to_user_ptr(txn.error_ptr), &call->error,
			 sizeof(call->error)))
		pr_debug("no error record could be written\n");
	kfree(call);
	return ret;
}
