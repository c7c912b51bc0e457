// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The kernel's tables, and error records in words made from them. No name of an
 * object, method, group, attribute or reason is written down here.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "txn.h"

/* The largest output that an attribute can name. */
#define DESCRIBE_MAX	65535

static int check_describe(const struct xv_describe *desc, size_t len)
{
	uint64_t need;

	if (len < sizeof(*desc) || desc->header_size < sizeof(*desc) ||
	    desc->desc_size < sizeof(struct xv_desc) ||
	    (desc->header_size | desc->desc_size) & 7)
		return -EPROTO;
	need = (uint64_t)desc->num_descs * desc->desc_size + desc->header_size;
	return need > len ? -EPROTO : 0;
}

static int fetch_describe(struct xv_ctx *ctx, struct xv_describe **out)
{
	struct xv_describe *desc, *fit;
	struct xv_attr attr = {};
	struct xv_tx tx;
	size_t len;
	int ret;

	desc = calloc(1, DESCRIBE_MAX);
	if (!desc)
		return -ENOMEM;
	/* Not xv_now(): its record may be the one to be explained. */
	ret = xv_tx_init(&tx, ctx, XV_TXN_NOW);
	if (ret)
		goto err_free;
	ret = xv_device_describe(&tx, desc, DESCRIBE_MAX);
	if (!ret)
		ret = xv_txn_get(&tx, 0, XV_GRP_RESULT, XV_RESULT_INFO, &attr);
	xv_tx_exit(&tx);
	if (!ret)
		ret = check_describe(desc, attr.len);
	if (ret)
		goto err_free;
	len = desc->header_size + (size_t)desc->num_descs * desc->desc_size;
	fit = realloc(desc, len);
	*out = fit ? fit : desc;
	return 0;

err_free:
	free(desc);
	return ret;
}

XV_PUBLIC int xv_describe(struct xv_ctx *ctx, const struct xv_describe **desc)
{
	XV_KEEP_ERRNO;
	struct xv_describe *new, *old;
	int ret;

	pthread_mutex_lock(&ctx->lock);
	old = ctx->desc;
	pthread_mutex_unlock(&ctx->lock);
	if (old) {
		*desc = old;
		return 0;
	}
	ret = fetch_describe(ctx, &new);
	if (ret)
		return ret;
	pthread_mutex_lock(&ctx->lock);
	/* Another thread may have been faster. */
	if (ctx->desc)
		free(new);
	else
		ctx->desc = new;
	*desc = ctx->desc;
	pthread_mutex_unlock(&ctx->lock);
	return 0;
}

XV_PUBLIC const struct xv_desc *xv_describe_line(const struct xv_describe *desc,
						 unsigned int i)
{
	if (i >= desc->num_descs)
		return NULL;
	return (const struct xv_desc *)((const uint8_t *)desc +
					desc->header_size +
					(size_t)i * desc->desc_size);
}

/* What a line must be; 0 where it does not matter for the kind of line. */
struct key {
	unsigned int what;
	unsigned int object;
	unsigned int method;
	unsigned int group;
	unsigned int id;
};

static const struct xv_desc *find(const struct xv_describe *desc,
				  const struct key *key)
{
	const struct xv_desc *line;
	unsigned int i;

	if (!desc)
		return NULL;
	for (i = 0; (line = xv_describe_line(desc, i)); i++)
		if (line->what == key->what && line->object == key->object &&
		    line->method == key->method && line->group == key->group &&
		    line->id == key->id)
			return line;
	return NULL;
}

static const struct xv_describe *tables(struct xv_ctx *ctx)
{
	const struct xv_describe *desc;

	return xv_describe(ctx, &desc) ? NULL : desc;
}

static const char *name_of(const struct xv_desc *line)
{
	/* A name without an end is none. */
	return line && memchr(line->name, 0, sizeof(line->name)) ? line->name :
								   NULL;
}

XV_PUBLIC const char *xv_reason_name(struct xv_ctx *ctx, unsigned int reason)
{
	return name_of(find(tables(ctx), &(struct key){ XV_DESC_REASON,
							.id = reason }));
}

XV_PUBLIC const char *xv_object_name(struct xv_ctx *ctx, unsigned int object)
{
	return name_of(find(tables(ctx), &(struct key){ XV_DESC_OBJECT,
							.object = object }));
}

XV_PUBLIC const char *xv_wc_status_name(unsigned int status)
{
	static const char *const names[] = {
		[XV_WC_SUCCESS] = "success",
		[XV_WC_LOC_LEN_ERR] = "local length error",
		[XV_WC_LOC_QP_OP_ERR] = "local operation error",
		[XV_WC_LOC_PROT_ERR] = "local protection error",
		[XV_WC_FLUSH_ERR] = "flushed",
		[XV_WC_REM_INV_REQ_ERR] = "remote invalid request",
		[XV_WC_REM_ACCESS_ERR] = "remote access error",
		[XV_WC_REM_OP_ERR] = "remote operation error",
		[XV_WC_RETRY_EXC_ERR] = "retries exceeded",
		[XV_WC_RNR_RETRY_EXC_ERR] = "receiver-not-ready retries exceeded",
		[XV_WC_GENERAL_ERR] = "general error",
	};

	return status < ARRAY_SIZE(names) ? names[status] : "unknown";
}

XV_PUBLIC const char *xv_qp_state_name(unsigned int state)
{
	static const char *const names[] = {
		[XV_QPS_RESET] = "RESET",
		[XV_QPS_INIT] = "INIT",
		[XV_QPS_RTR] = "RTR",
		[XV_QPS_RTS] = "RTS",
		[XV_QPS_ERR] = "ERR",
		[XV_QPS_SQD] = "SQD",
	};

	return state && state < ARRAY_SIZE(names) ? names[state] : "unknown";
}

XV_PUBLIC const char *xv_opcode_name(unsigned int opcode)
{
	static const char *const names[] = {
		[XV_WR_SEND] = "send",
		[XV_WR_SEND_WITH_IMM] = "send with immediate",
		[XV_WR_RDMA_WRITE] = "write",
		[XV_WR_RDMA_WRITE_WITH_IMM] = "write with immediate",
		[XV_WR_RDMA_READ] = "read",
		[XV_WR_ATOMIC_CMP_AND_SWP] = "compare and swap",
		[XV_WR_ATOMIC_FETCH_AND_ADD] = "fetch and add",
		[XV_WR_FLUSH] = "flush",
		[XV_WR_ATOMIC_WRITE] = "atomic write",
		[XV_WR_BIND_MW] = "bind memory window",
	};

	return opcode && opcode < ARRAY_SIZE(names) ? names[opcode] : "unknown";
}

XV_PUBLIC const char *xv_event_name(unsigned int type)
{
	static const char *const names[] = {
		[XV_EV_COMPLETION] = "completion",
		[XV_EV_DEVICE_REMOVED] = "device removed",
		[XV_EV_CQ_ERROR] = "completion queue failed",
		[XV_EV_QP_FATAL] = "queue pair failed",
		[XV_EV_QP_REQUEST_ERROR] = "peer violated the protocol",
		[XV_EV_QP_ACCESS_ERROR] = "peer violated an access right",
		[XV_EV_COMM_ESTABLISHED] = "communication established",
		[XV_EV_QP_LAST_WQE] = "last receive taken",
		[XV_EV_SRQ_LIMIT] = "shared receives run low",
		[XV_EV_SRQ_ERROR] = "shared receive queue failed",
		[XV_EV_ROOM] = "room in the send queue",
		[XV_EV_CONNECT_REQUEST] = "connection request",
		[XV_EV_ESTABLISHED] = "established",
		[XV_EV_CONNECT_FAILED] = "connect failed",
		[XV_EV_DISCONNECTED] = "disconnected",
		[XV_EV_QP_SQ_DRAINED] = "send queue drained",
		[XV_EV_QP_PATH_MIGRATED] = "path migrated",
		[XV_EV_QP_PATH_ERROR] = "path migration failed",
		[XV_EV_DEVICE_FATAL] = "device failed",
		[XV_EV_PORT_ACTIVE] = "port active",
		[XV_EV_PORT_ERROR] = "port down",
		[XV_EV_LID_CHANGE] = "LID changed",
		[XV_EV_PKEY_CHANGE] = "P_Key table changed",
		[XV_EV_SM_CHANGE] = "subnet manager changed",
		[XV_EV_CLIENT_REREGISTER] = "memberships wanted anew",
		[XV_EV_GID_CHANGE] = "GID table changed",
	};

	return type < ARRAY_SIZE(names) && names[type] ? names[type] :
							  "unknown";
}

XV_PUBLIC const char *xv_conn_state_name(unsigned int state)
{
	static const char *const names[] = {
		[XV_CONN_RESOLVING] = "RESOLVING",
		[XV_CONN_CONNECTING] = "CONNECTING",
		[XV_CONN_ACCEPTING] = "ACCEPTING",
		[XV_CONN_ESTABLISHED] = "ESTABLISHED",
		[XV_CONN_ENDED] = "ENDED",
	};

	return state < ARRAY_SIZE(names) && names[state] ? names[state] :
							   "unknown";
}

/* ------------------------------------------------------------------------
 * Error records
 */

struct text {
	char *buf;
	size_t len;	/* room */
	size_t used;	/* may be more than there is room for */
};

__attribute__((format(printf, 2, 3)))
static void say(struct text *t, const char *fmt, ...)
{
	bool fits = t->used < t->len;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(fits ? t->buf + t->used : NULL,
		      fits ? t->len - t->used : 0, fmt, args);
	va_end(args);
	if (n > 0)
		t->used += n;
}

/* A name, or what the thing is and its number. */
static void say_name(struct text *t, const struct xv_desc *line,
		     const char *what, unsigned int number)
{
	const char *name = name_of(line);

	if (name)
		say(t, "%s", name);
	else
		say(t, "%s %u", what, number);
}

static void say_errno(struct text *t, int err)
{
	const char *name = NULL;

#ifdef __GLIBC__
	name = strerrorname_np(err);
#endif
	if (name)
		say(t, "%s", name);
	else
		say(t, "errno %d", err);
}

static void say_where(struct text *t, const struct xv_describe *desc,
		      const struct xv_op *op, const struct xv_error *err)
{
	struct key key = {};

	if (err->op == XV_NO_OP) {
		say(t, "transaction: ");
		return;
	}
	say(t, "operation %u", err->op);
	if (op) {
		const struct xv_desc *object, *method;

		key.what = XV_DESC_OBJECT;
		key.object = op->object;
		object = find(desc, &key);
		key.what = XV_DESC_METHOD;
		key.method = op->method;
		method = find(desc, &key);
		say(t, " (");
		say_name(t, object, "object", op->object);
		say(t, ".");
		say_name(t, method, "method", op->method);
		say(t, ")");
	}
	say(t, ": ");
	if (!err->group)
		return;
	key.group = err->group;
	key.what = XV_DESC_GROUP;
	say_name(t, op ? find(desc, &key) : NULL, "group", err->group);
	if (err->attr) {
		key.what = XV_DESC_ATTR;
		key.id = err->attr;
		say(t, ".");
		say_name(t, op ? find(desc, &key) : NULL, "attribute",
			 err->attr);
	}
	say(t, ": ");
}

static const struct xv_attr *find_attr(const struct xv_op *op, unsigned int group,
				       unsigned int id)
{
	const struct xv_attr *a = (const struct xv_attr *)(op + 1);
	unsigned int i;

	for (i = 0; i < op->num_attrs; i++)
		if (a[i].group == group && a[i].id == id)
			return &a[i];
	return NULL;
}

/* The limit in the record is a maximum or a minimum: what was sent tells. */
static void say_limit(struct text *t, const struct xv_describe *desc,
		      const struct xv_op *op, const struct xv_error *err)
{
	const struct xv_attr *attr;
	const struct xv_desc *line;
	uint64_t sent;

	if (!err->detail)
		return;
	if (err->op == XV_NO_OP && err->detail == 1) {
		say(t, ", at least 1 operation");
		return;
	}
	attr = op ? find_attr(op, err->group, err->attr) : NULL;
	if (!attr) {
		say(t, ", limit %llu", (unsigned long long)err->detail);
		return;
	}
	line = find(desc, &(struct key){ XV_DESC_ATTR, op->object, op->method,
					 err->group, err->attr });
	if (line && line->kind == XV_K_ENUM) {
		const char *sep = ", one of ";
		unsigned int i;

		for (i = 0; i < 64; i++) {
			if (!(line->max >> i & 1))
				continue;
			say(t, "%s%u", sep, i);
			sep = ", ";
		}
		return;
	}
	sent = err->reason == XV_R_LENGTH ? attr->len : attr->data;
	if (sent == err->detail)
		return;
	say(t, ", %s %llu", sent > err->detail ? "at most" : "at least",
	    (unsigned long long)err->detail);
}

static void say_what(struct text *t, const struct xv_describe *desc,
		     const struct xv_op *op, const struct xv_error *err)
{
	if (err->reason != XV_R_NONE)
		say_name(t, find(desc, &(struct key){ XV_DESC_REASON,
						      .id = err->reason }),
			 "reason", err->reason);
	else
		say(t, "%s", err->err ? "not done" : "no error");

	switch (err->reason) {
	case XV_R_RANGE:
	case XV_R_LENGTH:
		say_limit(t, desc, op, err);
		break;
	case XV_R_TOO_BIG:
		if (err->detail)
			say(t, ", at most %llu",
			    (unsigned long long)err->detail);
		break;
	case XV_R_STATE:
		/* Of first receives the detail is another thing. */
		if (op && op->object == XV_OBJ_QP && err->detail &&
		    op->method != XV_M_POST_RECV)
			say(t, ", now in %s", xv_qp_state_name(err->detail));
		break;
	case XV_R_MEMLOCK:
		say(t, ", %llu bytes needed", (unsigned long long)err->detail);
		break;
	case XV_R_FLAGS:
		if (err->detail)
			say(t, ", known are 0x%llx",
			    (unsigned long long)err->detail);
		break;
	}
	if (err->object) {
		say(t, ": ");
		say_name(t, find(desc, &(struct key){ XV_DESC_OBJECT,
						      .object = err->object }),
			 "object", err->object);
		if (err->handle)
			say(t, " %u", err->handle);
	} else if (err->handle) {
		say(t, ": handle %u", err->handle);
	}
}

XV_PUBLIC int xv_error_text(struct xv_ctx *ctx, const struct xv_tx *tx,
			    const struct xv_error *err, char *buf, size_t len)
{
	XV_KEEP_ERRNO;
	const struct xv_describe *desc = err->err ? tables(ctx) : NULL;
	const struct xv_op *op = NULL;
	struct text t = { .buf = buf, .len = len };

	if (len)
		*buf = 0;
	if (tx && err->op != XV_NO_OP)
		op = xv_tx_find_op(tx, err->op);
	if (err->err)
		say_where(&t, desc, op, err);
	say_what(&t, desc, op, err);
	if (err->err) {
		say(&t, " (");
		say_errno(&t, err->err);
		if (err->raw && err->raw != err->err) {
			say(&t, ", below: ");
			say_errno(&t, err->raw);
		}
		say(&t, ")");
	}
	return (int)t.used;
}
