// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What connections and listeners share: the connection manager of the kernel.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/socket.h>
#include "cm.h"

static_assert(sizeof(struct sockaddr_in) == XV_ADDR_IPV4_BYTES);
static_assert(sizeof(struct sockaddr_in6) == XV_ADDR_BYTES);

/**
 * xv_cm_id_new - make an id
 * @file: the file, in whose network namespace it lives
 * @cm: who takes its events
 *
 * Return: the id or an error pointer.
 */
struct rdma_cm_id *xv_cm_id_new(struct xv_file *file, struct xv_cm *cm)
{
	return rdma_create_id(file->net, xv_cm_handler, cm, RDMA_PS_TCP,
			      IB_QPT_RC);
}

/**
 * xv_cm_handler - an event of any id
 * @id: the id, its handler mutex held
 * @event: the event
 *
 * Return: 0, or 1: the core destroys the id.
 */
int xv_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct xv_cm *cm = id->context;

	return cm->handler(cm, id, event);
}

/**
 * xv_cm_check_addr - is it an address at all?
 * @call: the call
 * @op: an operation with the group address
 * @attr: the attribute, a struct sockaddr_in or sockaddr_in6; may be absent
 *
 * Return: 0 or what xv_fail() returned.
 */
int xv_cm_check_addr(struct xv_call *call, struct xv_opx *op, u16 attr)
{
	const struct xv_slot *slot = xv_slot(op, XV_GRP_ADDRESS, attr);
	const struct sockaddr *sa;

	if (!slot)
		return 0;
	sa = slot->buf;
	if (sa->sa_family == AF_INET)
		return 0;
	if (sa->sa_family == AF_INET6 && slot->len >= XV_ADDR_BYTES)
		return 0;
	return xv_fail(call, op, XV_GRP_ADDRESS, attr,
		       sa->sa_family == AF_INET6 ? XV_R_LENGTH : XV_R_RANGE,
		       sa->sa_family == AF_INET6 ? XV_ADDR_BYTES : 0);
}

/**
 * xv_cm_read_addr - the address of an operation
 * @op: an operation that xv_cm_check_addr() has seen
 * @attr: the attribute; may be absent
 * @addr: is filled; the family is 0 if there is none
 */
void xv_cm_read_addr(const struct xv_opx *op, u16 attr,
		     struct sockaddr_storage *addr)
{
	const struct xv_slot *slot = xv_slot(op, XV_GRP_ADDRESS, attr);

	memset(addr, 0, sizeof(*addr));
	if (!slot)
		return;
	memcpy(addr, slot->buf, min_t(u32, slot->len, XV_ADDR_BYTES));
	if (addr->ss_family == AF_INET)
		memset((u8 *)addr + offsetof(struct sockaddr_in, sin_zero), 0,
		       sizeof(*addr) - offsetof(struct sockaddr_in, sin_zero));
}

/**
 * xv_cm_write_addr - an address for the user
 * @addr: the address
 * @out: %XV_ADDR_BYTES
 */
void xv_cm_write_addr(const struct sockaddr_storage *addr, u8 *out)
{
	memset(out, 0, XV_ADDR_BYTES);
	if (addr->ss_family == AF_INET)
		memcpy(out, addr, offsetof(struct sockaddr_in, sin_zero));
	else if (addr->ss_family == AF_INET6)
		memcpy(out, addr, XV_ADDR_BYTES);
}

/**
 * xv_cm_fail_bind - why an address can not be had
 * @call: the call
 * @op: the operation
 * @raw: what the connection manager answered, negative
 *
 * Return: what xv_fail() returned.
 */
int xv_cm_fail_bind(struct xv_call *call, struct xv_opx *op, int raw)
{
	u16 reason;
	int ret;

	switch (raw) {
	case -EADDRINUSE:
		reason = XV_R_ADDR_IN_USE;
		break;
	case -EADDRNOTAVAIL:
	case -ENODEV:
	case -EXDEV:
		reason = XV_R_NO_ADDR;
		break;
	case -EACCES:
		reason = XV_R_PERMISSION;
		break;
	default:
		return xv_fail_driver(call, op, raw);
	}
	ret = xv_fail(call, op, XV_GRP_ADDRESS, XV_ADDRESS_SRC, reason, 0);
	call->error.raw = -raw;
	return ret;
}

/**
 * xv_cm_bind - take an address of the device
 * @call: the call
 * @op: an operation with the address in %XV_ADDRESS_SRC
 * @id: an id without an address
 * @addr: the address
 *
 * Context: the process that asks: a port below 1024 takes its privilege.
 * Return: 0 or what xv_fail() returned.
 */
int xv_cm_bind(struct xv_call *call, struct xv_opx *op, struct rdma_cm_id *id,
	       struct sockaddr_storage *addr)
{
	int ret = rdma_bind_addr(id, (struct sockaddr *)addr);

	/* Without a device yet it was a wildcard. */
	if (!ret && id->device && id->device != call->ibdev)
		ret = -EXDEV;
	return ret ? xv_cm_fail_bind(call, op, ret) : 0;
}

/**
 * xv_cm_save - keep private data of an event
 * @to: where
 * @data: the bytes; they live as long as the event only
 * @len: how many
 */
void xv_cm_save(struct xv_cm_data *to, const void *data, u32 len)
{
	to->len = data ? min_t(u32, len, sizeof(to->data)) : 0;
	if (to->len)
		memcpy(to->data, data, to->len);
}
