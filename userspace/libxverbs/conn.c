// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Typed calls of listeners and connections.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <netinet/in.h>
#include <sys/socket.h>

#include "put.h"

/* Both families; what is none of them the kernel refuses. */
static void put_addr(struct xv_tx *tx, unsigned int id,
		     const struct sockaddr *addr)
{
	size_t len = sizeof(struct sockaddr_in);

	if (!addr)
		return;
	if (addr->sa_family == AF_INET6)
		len = sizeof(struct sockaddr_in6);
	xv_tx_copy(tx, XV_GRP_ADDRESS, id, addr, len);
}

static void put_private(struct xv_tx *tx, const void *data, size_t len)
{
	if (len)
		xv_tx_copy(tx, XV_GRP_PARAMS, XV_PARAMS_PRIVATE_DATA, data,
			   len);
}

/* ------------------------------------------------------------------------
 * listener
 */

XV_PUBLIC int xv_listener_create(struct xv_tx *tx, struct xv_listener *l,
				 const struct xv_listener_opts *opts)
{
	XV_KEEP_ERRNO;
	struct xv_listener_opts o;

	xv_tx_op(tx, XV_OBJ_LISTENER, XV_M_CREATE);
	if (refuse(tx, xv_get_opts(&o, sizeof(o), opts)) ||
	    refuse(tx, o.reserved ? XV_R_RESERVED : 0))
		return xv_tx_end(tx);
	xv_tx_new(tx, XV_FIX_LISTENER, &l->obj);
	put_events(tx, o.eventq, o.cookie, 0);
	put_addr(tx, XV_ADDRESS_SRC, o.addr);
	put_u32_if(tx, XV_GRP_PARAMS, XV_PARAMS_BACKLOG, o.backlog);
	put_u32_if(tx, XV_GRP_PARAMS, XV_PARAMS_REUSE, o.reuse);
	put_info(tx, &l->info, sizeof(l->info));
	return xv_tx_end(tx);
}

XV_PUBLIC int xv_listener_query(struct xv_tx *tx, struct xv_listener *l,
				struct xv_listener_info *info)
{
	XV_KEEP_ERRNO;

	return query(tx, XV_OBJ_LISTENER, &l->obj, info, sizeof(*info));
}

XV_PUBLIC int xv_listener_query_request(struct xv_tx *tx,
					struct xv_listener *l, uint64_t token,
					struct xv_request_info *info)
{
	XV_KEEP_ERRNO;

	xv_tx_op(tx, XV_OBJ_LISTENER, XV_M_QUERY_REQUEST);
	put_self(tx, &l->obj);
	put_u64(tx, XV_GRP_REQUEST, XV_REQUEST_TOKEN, token);
	put_info(tx, info, sizeof(*info));
	return xv_tx_end(tx);
}

XV_PUBLIC int xv_listener_reject(struct xv_tx *tx, struct xv_listener *l,
				 uint64_t token, const void *data, size_t len)
{
	XV_KEEP_ERRNO;

	xv_tx_op(tx, XV_OBJ_LISTENER, XV_M_REJECT);
	put_self(tx, &l->obj);
	put_private(tx, data, len);
	put_u64(tx, XV_GRP_REQUEST, XV_REQUEST_TOKEN, token);
	return xv_tx_end(tx);
}

XV_PUBLIC int xv_listener_destroy(struct xv_tx *tx, struct xv_listener *l)
{
	XV_KEEP_ERRNO;

	return destroy(tx, XV_OBJ_LISTENER, &l->obj, XV_FIX_GONE);
}

/* ------------------------------------------------------------------------
 * conn
 */

#define PATH(id, field)	{ id, offsetof(struct xv_conn_opts, field) }

static void put_path(struct xv_tx *tx, const struct xv_conn_opts *o)
{
	static const struct {
		uint16_t id;
		uint16_t offset;
	} fields[] = {
		PATH(XV_PATH_TRAFFIC_CLASS, traffic_class),
		PATH(XV_PATH_TIMEOUT, timeout),
		PATH(XV_PATH_RETRY_CNT, retry_cnt),
		PATH(XV_PATH_RNR_RETRY, rnr_retry),
		PATH(XV_PATH_MIN_RNR_TIMER, min_rnr_timer),
		PATH(XV_PATH_RD_ATOMIC, rd_atomic),
		PATH(XV_PATH_DEST_RD_ATOMIC, dest_rd_atomic),
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		uint32_t val;

		memcpy(&val, (const uint8_t *)o + fields[i].offset,
		       sizeof(val));
		if (val || o->zero & XV_ZERO_PATH(fields[i].id))
			put_u32(tx, XV_GRP_PATH, fields[i].id, val);
	}
}

XV_PUBLIC int xv_conn_create(struct xv_tx *tx, struct xv_conn *c,
			     const struct xv_conn_opts *opts)
{
	XV_KEEP_ERRNO;
	struct xv_conn_opts o;

	xv_tx_op(tx, XV_OBJ_CONN, XV_M_CREATE);
	if (refuse(tx, xv_get_opts(&o, sizeof(o), opts)) ||
	    refuse(tx, o.reserved ? XV_R_RESERVED : 0) ||
	    missing(tx, o.qp, XV_OBJECT_QP))
		return xv_tx_end(tx);
	xv_tx_new(tx, XV_FIX_CONN, &c->obj);
	xv_tx_ref(tx, XV_GRP_OBJECT, XV_OBJECT_QP, &o.qp->obj,
		  o.qp->obj.handle);
	put_events(tx, o.eventq, o.cookie, 0);
	put_addr(tx, XV_ADDRESS_DST, o.dst);
	put_addr(tx, XV_ADDRESS_SRC, o.src);
	put_path(tx, &o);
	put_private(tx, o.private_data, o.private_len);
	put_u32_if(tx, XV_GRP_PARAMS, XV_PARAMS_ESTABLISH_MS, o.establish_ms);
	put_u32_if(tx, XV_GRP_PARAMS, XV_PARAMS_REUSE, o.reuse);
	if (o.listener) {
		xv_tx_ref(tx, XV_GRP_REQUEST, XV_REQUEST_LISTENER,
			  &o.listener->obj, o.listener->obj.handle);
		put_u64(tx, XV_GRP_REQUEST, XV_REQUEST_TOKEN, o.token);
	}
	return xv_tx_end(tx);
}

XV_PUBLIC int xv_conn_query(struct xv_tx *tx, struct xv_conn *c,
			    struct xv_conn_info *info)
{
	XV_KEEP_ERRNO;

	return query(tx, XV_OBJ_CONN, &c->obj, info, sizeof(*info));
}

XV_PUBLIC int xv_conn_disconnect(struct xv_tx *tx, struct xv_conn *c)
{
	XV_KEEP_ERRNO;

	xv_tx_op(tx, XV_OBJ_CONN, XV_M_DISCONNECT);
	put_self(tx, &c->obj);
	return xv_tx_end(tx);
}

XV_PUBLIC int xv_conn_destroy(struct xv_tx *tx, struct xv_conn *c)
{
	XV_KEEP_ERRNO;

	return destroy(tx, XV_OBJ_CONN, &c->obj, XV_FIX_GONE);
}

/* ------------------------------------------------------------------------
 * room
 */

XV_PUBLIC int xv_qp_watch_room(struct xv_tx *tx, struct xv_qp *qp,
			       unsigned int slots, uint64_t cookie)
{
	XV_KEEP_ERRNO;

	xv_tx_op(tx, XV_OBJ_QP, XV_M_WATCH_ROOM);
	put_self(tx, &qp->obj);
	put_u32(tx, XV_GRP_PARAMS, XV_PARAMS_SLOTS, slots);
	if (cookie)
		put_u64(tx, XV_GRP_PARAMS, XV_PARAMS_COOKIE, cookie);
	return xv_tx_end(tx);
}
