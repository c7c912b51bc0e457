/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tracepoints, in /sys/kernel/tracing/events/xverbs.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM xverbs

#if !defined(_XV_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _XV_TRACE_H

#include <linux/tracepoint.h>
#include "core/txn.h"

TRACE_EVENT(xv_txn,
	TP_PROTO(const struct xv_file *file, const struct xv_txn *txn, int ret,
		 const struct xv_error *err),
	TP_ARGS(file, txn, ret, err),
	TP_STRUCT__entry(
		__field(pid_t, opener)
		__field(u32, num_ops)
		__field(u32, flags)
		__field(int, ret)
		__field(u32, op)
		__field(u16, group)
		__field(u16, attr)
		__field(u16, reason)
		__field(s32, raw)
	),
	TP_fast_assign(
		__entry->opener = file->pid;
		__entry->num_ops = txn->num_ops;
		__entry->flags = txn->flags;
		__entry->ret = ret;
		__entry->op = err->op;
		__entry->group = err->group;
		__entry->attr = err->attr;
		__entry->reason = err->reason;
		__entry->raw = err->raw;
	),
	TP_printk("opener=%d ops=%u flags=%#x ret=%d op=%d group=%u attr=%u reason=%u raw=%d",
		  __entry->opener, __entry->num_ops, __entry->flags,
		  __entry->ret, (int)__entry->op, __entry->group,
		  __entry->attr, __entry->reason, __entry->raw)
);

DECLARE_EVENT_CLASS(xv_op,
	TP_PROTO(const struct xv_call *call, const struct xv_opx *op, int ret),
	TP_ARGS(call, op, ret),
	TP_STRUCT__entry(
		__string(type, op->type->name)
		__string(method, op->method->name)
		__field(u32, index)
		__field(u32, handle)
		__field(int, ret)
	),
	TP_fast_assign(
		xv_assign_str(type, op->type->name);
		xv_assign_str(method, op->method->name);
		__entry->index = op->index;
		__entry->handle = op->obj ? op->obj->handle : 0;
		__entry->ret = ret;
	),
	TP_printk("op=%u %s.%s handle=%u ret=%d", __entry->index,
		  __get_str(type), __get_str(method), __entry->handle,
		  __entry->ret)
);

DEFINE_EVENT(xv_op, xv_make,
	TP_PROTO(const struct xv_call *call, const struct xv_opx *op, int ret),
	TP_ARGS(call, op, ret)
);

DEFINE_EVENT(xv_op, xv_last,
	TP_PROTO(const struct xv_call *call, const struct xv_opx *op, int ret),
	TP_ARGS(call, op, ret)
);

DEFINE_EVENT(xv_op, xv_commit,
	TP_PROTO(const struct xv_call *call, const struct xv_opx *op, int ret),
	TP_ARGS(call, op, ret)
);

TRACE_EVENT(xv_destroy,
	TP_PROTO(const struct xv_uobj *obj, int why, int ret),
	TP_ARGS(obj, why, ret),
	TP_STRUCT__entry(
		__string(type, obj->type->name)
		__field(u32, handle)
		__field(int, why)
		__field(int, ret)
	),
	TP_fast_assign(
		xv_assign_str(type, obj->type->name);
		__entry->handle = obj->handle;
		__entry->why = why;
		__entry->ret = ret;
	),
	TP_printk("%s handle=%u why=%s ret=%d", __get_str(type),
		  __entry->handle,
		  __print_symbolic(__entry->why,
				   { XV_WHY_ABORT, "abort" },
				   { XV_WHY_DESTROY, "destroy" },
				   { XV_WHY_CLOSE, "close" },
				   { XV_WHY_REMOVE, "remove" }),
		  __entry->ret)
);

TRACE_EVENT(xv_event,
	TP_PROTO(const struct xv_uobj *obj, u16 type),
	TP_ARGS(obj, type),
	TP_STRUCT__entry(
		__field(u16, object)
		__field(u32, handle)
		__field(u16, type)
	),
	TP_fast_assign(
		__entry->object = obj->type->id;
		__entry->handle = obj->handle;
		__entry->type = type;
	),
	TP_printk("object=%u handle=%u type=%u", __entry->object,
		  __entry->handle, __entry->type)
);

TRACE_EVENT(xv_qp_state,
	TP_PROTO(const struct xv_uobj *obj, u32 from, u32 to),
	TP_ARGS(obj, from, to),
	TP_STRUCT__entry(
		__field(u32, handle)
		__field(u32, from)
		__field(u32, to)
	),
	TP_fast_assign(
		__entry->handle = obj->handle;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("qp=%u %u -> %u", __entry->handle, __entry->from, __entry->to)
);

TRACE_EVENT(xv_conn_state,
	TP_PROTO(const struct xv_uobj *obj, u32 from, u32 to, int err),
	TP_ARGS(obj, from, to, err),
	TP_STRUCT__entry(
		__field(u32, handle)
		__field(u32, from)
		__field(u32, to)
		__field(int, err)
	),
	TP_fast_assign(
		__entry->handle = obj->handle;
		__entry->from = from;
		__entry->to = to;
		__entry->err = err;
	),
	TP_printk("conn=%u %u -> %u err=%d", __entry->handle, __entry->from,
		  __entry->to, __entry->err)
);

TRACE_EVENT(xv_request_state,
	TP_PROTO(const struct xv_uobj *obj, u64 token, u32 from, u32 to),
	TP_ARGS(obj, token, from, to),
	TP_STRUCT__entry(
		__field(u32, handle)
		__field(u64, token)
		__field(u32, from)
		__field(u32, to)
	),
	TP_fast_assign(
		__entry->handle = obj->handle;
		__entry->token = token;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("listener=%u token=%llx %u -> %u", __entry->handle,
		  __entry->token, __entry->from, __entry->to)
);

TRACE_EVENT(xv_conn_cm,
	TP_PROTO(const struct xv_uobj *obj, u32 event, int status),
	TP_ARGS(obj, event, status),
	TP_STRUCT__entry(
		__field(u32, handle)
		__field(u32, event)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->handle = obj->handle;
		__entry->event = event;
		__entry->status = status;
	),
	TP_printk("conn=%u event=%u status=%d", __entry->handle,
		  __entry->event, __entry->status)
);

TRACE_EVENT(xv_remove,
	TP_PROTO(const char *name, int phase),
	TP_ARGS(name, phase),
	TP_STRUCT__entry(
		__string(name, name)
		__field(int, phase)
	),
	TP_fast_assign(
		xv_assign_str(name, name);
		__entry->phase = phase;
	),
	TP_printk("%s %s", __get_str(name), __print_symbolic(__entry->phase,
		  { 0, "begin" }, { 1, "calls ended" }, { 2, "end" }))
);

#endif /* _XV_TRACE_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
