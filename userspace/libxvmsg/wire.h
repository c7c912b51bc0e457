/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Frames of a message channel: bytes and their meaning, nothing else.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Documentation/xvmsg-wire.rst is the description. Nothing here has a state,
 * allocates or calls out: what depends on earlier frames is the channel's.
 */
#ifndef _XVM_WIRE_H
#define _XVM_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define XVW_MAGIC		0x58564d53U	/* "XVMS" */
#define XVW_VERSION		1		/* the newest that we speak */
#define XVW_VERSION_MIN		1		/* the oldest */

#define XVW_HEADER_LEN		16
#define XVW_HELLO_LEN		64
#define XVW_TOKEN_LEN		8

/* Credits that are never used for data. */
#define XVW_RESERVE		2

/* What a HELLO may announce. */
#define XVW_MIN_FRAGMENT	128
#define XVW_MAX_FRAGMENT	(1U << 20)
#define XVW_MIN_WINDOW		(2 + XVW_RESERVE)
#define XVW_MAX_WINDOW		(4096 + XVW_RESERVE)
#define XVW_MIN_MESSAGE		1
#define XVW_MAX_MESSAGE		(1U << 30)

enum xvw_type {
	XVW_HELLO	= 1,
	XVW_DATA	= 2,
	XVW_GRANT	= 3,
	XVW_BYE		= 4,
	XVW_ERROR	= 5,
};

/* Flags of a frame; which ones depends on its type. */
#define XVW_F_FIRST	(1U << 0)	/* DATA: the message begins here */
#define XVW_F_ANSWER	(1U << 0)	/* HELLO: of the side that accepts */

/*
 * What can be wrong with a frame. The numbers go over the wire in an ERROR;
 * those from XVW_FAULT_ROLE on need knowledge of earlier frames.
 */
enum xvw_fault {
	XVW_FAULT_NONE,
	XVW_FAULT_SIZE,		/* shorter or longer than its type can be */
	XVW_FAULT_TYPE,		/* unknown type */
	XVW_FAULT_FLAGS,	/* unknown flag */
	XVW_FAULT_RESERVED,	/* a field that must be 0 is not */
	XVW_FAULT_MAGIC,	/* no HELLO of this protocol */
	XVW_FAULT_ORDER,	/* one in the wrong byte order */
	XVW_FAULT_VERSION,	/* no version that both know */
	XVW_FAULT_LIMIT,	/* a HELLO announces what cannot be */
	XVW_FAULT_EMPTY,	/* a fragment that carries nothing */
	XVW_FAULT_EXCESS,	/* a fragment longer than its message */
	XVW_FAULT_CODE,		/* an ERROR without a fault */
	XVW_FAULT_ROLE,		/* a HELLO of the wrong side */
	XVW_FAULT_STATE,	/* a frame that must not come now */
	XVW_FAULT_CREDIT,	/* more credits than the window has */
	XVW_FAULT_OVERRUN,	/* sent without a credit */
	XVW_FAULT_ACK,		/* what was not sent is acknowledged */
	XVW_FAULT_SEQ,		/* not the message that is next */
	XVW_FAULT_LENGTH,	/* longer than the longest message agreed */
	XVW_FAULT_OFFSET,	/* not the fragment that is next */
	XVW_FAULT_FRAGMENT,	/* a frame longer than announced */
	XVW_FAULT_MEMORY,	/* nothing wrong, but no memory to take it */
	XVW_NUM_FAULTS
};

struct xvw_hello {
	uint8_t version;	/* the newest that the sender speaks */
	uint8_t version_min;	/* the oldest */
	uint32_t fragment;	/* longest frame that it takes */
	uint32_t window;	/* frames that it takes, this HELLO not counted */
	uint32_t max_message;	/* longest message that it takes */
};

struct xvw_frame {
	enum xvw_type type;
	uint8_t flags;
	uint16_t credits;
	uint32_t ack;
	uint32_t seq;		/* DATA, BYE */
	uint32_t arg;		/* DATA: length or offset; ERROR: the fault */
	const uint8_t *data;	/* DATA: what it carries */
	uint32_t data_len;
	struct xvw_hello hello;	/* HELLO */
};

/*
 * Take a frame apart. Returns what is wrong with it, with as much of @f filled
 * in as was understood. @f points into @buf afterwards.
 */
enum xvw_fault xvw_parse(const void *buf, size_t len, struct xvw_frame *f);

/* Write header or HELLO; returns its length. Data go behind it. */
size_t xvw_put(void *buf, const struct xvw_frame *f);

/* The version to speak with a peer, or 0 if there is none. */
unsigned int xvw_common_version(unsigned int version, unsigned int version_min);

/*
 * What goes along with the connection request, so that a stranger is refused
 * before a queue pair is made for it; with a reject, the fault goes along.
 */
void xvw_put_token(void *buf, enum xvw_fault fault);
enum xvw_fault xvw_parse_token(const void *buf, size_t len,
			       enum xvw_fault *fault);

/* A fault in words; never NULL. */
const char *xvw_fault_name(unsigned int fault);

#endif /* _XVM_WIRE_H */
