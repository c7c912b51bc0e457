/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * xverbs: RDMA objects for userspace, made and destroyed in transactions.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * This header is the ABI and its manual.
 *
 * Device node: one /dev/infiniband/xverbsN for each RDMA device. It has two
 * ioctls, %XV_IOC_TXN (objects) and %XV_IOC_ENTER (data path), and one kind of
 * mapping, the ring area. Event queues are file descriptors of their own, with
 * read(2) and poll(2).
 *
 * Errors. The errno tells the class, struct xv_error tells the rest. Nothing
 * else is ever returned, whatever the driver below says; what it did say
 * stands in &xv_error.raw.
 *
 *	ENOTTY		no such ioctl
 *	EFAULT		user memory cannot be read or written
 *	E2BIG		more operations, attributes or bytes than the limits
 *	ENOMEM		memory, RLIMIT_MEMLOCK, a cgroup or the file's budget
 *	EMFILE		no free file descriptor or handle
 *	EPERM, EACCES	not allowed to this caller
 *	EPROTONOSUPPORT	object, method, group or attribute unknown to this kernel
 *	EOPNOTSUPP	known, but this device or its driver can not do it
 *	EINVAL		understood but wrong; the reason tells what
 *	ENOENT		no such handle on this file
 *	EBADF		not an event queue of this file
 *	EBUSY		locked by another call (retry), or held by a dependent
 *	EAGAIN		a queue is full
 *	ETIME, EINTR	the time limit of ENTER; a signal; nothing was done
 *	ENODEV		the device is gone
 *	EHOSTUNREACH	no link address for the remote GID
 *	EADDRINUSE	the port is in use
 *	EADDRNOTAVAIL	not an address of this device
 *	EIO		the driver refused or failed
 *
 * Rules that hold for every struct here: reserved fields must be 0 on input
 * and are 0 on output; all numbers are in host byte order unless a field says
 * otherwise; the layout is the same for 32 and 64 bit callers.
 *
 * Changes: ABI version 1 is the first one.
 */
#ifndef _UAPI_RDMA_XVERBS_H
#define _UAPI_RDMA_XVERBS_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define XV_ABI_VERSION		1

#define XV_IOC_MAGIC		0xBB
#define XV_IOC_TXN		_IOWR(XV_IOC_MAGIC, 1, struct xv_txn)
#define XV_IOC_ENTER		_IOWR(XV_IOC_MAGIC, 2, struct xv_enter)

/* Limits of one transaction; beyond them the answer is E2BIG. */
#define XV_MAX_OPS		64	/* operations */
#define XV_MAX_ATTRS		64	/* attributes of one operation */
#define XV_MAX_BYTES		65536	/* wire bytes and input buffers together */
#define XV_MAX_ENTER_QPS	1024	/* queue pairs in one ENTER */
#define XV_MAX_QP_WR		16384	/* depth of one send or receive queue */
#define XV_MAX_SRQ_WR		16384	/* depth of one shared receive queue */
#define XV_MAX_CQE		32768	/* depth of one completion queue */
#define XV_MAX_SEND_SGE		4	/* pieces of one send entry */
#define XV_MAX_RECV_SGE		3	/* pieces of one receive entry */
#define XV_MAX_INLINE		64	/* bytes of inline data in a send entry */

/* ------------------------------------------------------------------------
 * The transaction on the wire
 */

/* Flags of struct xv_txn. */
#define XV_TXN_F_BATCH		(1U << 0)

/**
 * struct xv_txn - header of a transaction, argument of %XV_IOC_TXN
 * @length: bytes of the whole message: this header, then for each operation
 *	one struct xv_op followed by its struct xv_attr; at most %XV_MAX_BYTES
 * @num_ops: number of operations, 1 to %XV_MAX_OPS
 * @flags: 0 or %XV_TXN_F_BATCH
 * @reserved: must be 0
 * @error_ptr: user pointer to a struct xv_error which is filled when the call
 *	fails (and when a batch stops early), or 0
 *
 * Without flags the operations commit as a whole or leave nothing behind, and
 * the ioctl returns 0. After an error nothing that the outputs name is live,
 * and the content of the outputs is undefined.
 *
 * With %XV_TXN_F_BATCH only changes of existing objects are allowed. They are
 * executed in order up to the first failure and the earlier ones stand: the
 * ioctl returns the number of operations done, or the error if the first one
 * failed. A number below @num_ops comes with a filled error record.
 */
struct xv_txn {
	__u32 length;
	__u32 num_ops;
	__u32 flags;
	__u32 reserved;
	__aligned_u64 error_ptr;
};

/**
 * struct xv_op - one operation: makes, changes, asks or destroys one object
 * @object: type of the object, enum xv_object
 * @method: method of that type, enum xv_method
 * @num_attrs: number of attributes that follow, 0 to %XV_MAX_ATTRS
 * @flags: must be 0
 * @reserved: must be 0
 */
struct xv_op {
	__u16 object;
	__u16 method;
	__u16 num_attrs;
	__u16 flags;
	__u32 reserved[2];
};

/* Flags of struct xv_attr. */
#define XV_ATTR_F_OPTIONAL	(1U << 0) /* ignore it if unknown to this kernel */
#define XV_ATTR_F_FROM_OP	(1U << 1) /* data: index of an earlier operation */

/**
 * struct xv_attr - one attribute of an operation
 * @group: group of the attribute, enum xv_group
 * @id: the attribute inside its group
 * @len: bytes of the value, see below; written back for outputs
 * @flags: XV_ATTR_F_*
 * @data: the value, or a user pointer, see below; written back for new handles
 *
 * What @len and @data mean depends on the kind of the attribute, which
 * device.describe tells (enum xv_kind):
 *
 * * handles: @len 4 (or 0), @data the handle; event queues are named by their
 *   file descriptor. With %XV_ATTR_F_FROM_OP @data is the index of an earlier
 *   operation of this transaction and stands for the object made there.
 *   A handle is never 0.
 * * new handles: @data 0, the kernel writes the handle (event queues: the file
 *   descriptor) into @data when the transaction commits.
 * * numbers, flags and enumerations: @len 4 or 8 (or 0), @data the value.
 * * input buffers: up to 8 bytes lie in @data itself, longer ones where @data
 *   points. Bytes beyond the struct that this kernel knows must be zero.
 * * output buffers: @data is a user pointer, @len the room there. The kernel
 *   writes min(@len, needed) bytes and the needed length into @len.
 */
struct xv_attr {
	__u16 group;
	__u16 id;
	__u16 len;
	__u16 flags;
	__aligned_u64 data;
};

#define XV_NO_OP		0xffffffffU

/**
 * struct xv_error - what exactly was wrong
 * @err: the errno, positive; 0 if nothing went wrong
 * @op: index of the operation, or %XV_NO_OP if the message itself is at fault
 * @group: group of the attribute at fault, 0 if none
 * @attr: the attribute at fault, 0 if none
 * @reason: enum xv_reason
 * @object: type of the object that @handle names, 0 if none
 * @handle: the object which is in the way (a dependent, a locked object) or
 *	which was asked for, 0 if none
 * @raw: what the RDMA core, the driver or a cgroup answered, as a positive
 *	errno; 0 if they were not asked
 * @detail: a number that belongs to the reason: the limit that was broken for
 *	%XV_R_RANGE (of an enumeration: a mask of the values allowed),
 *	%XV_R_LENGTH and %XV_R_TOO_BIG; the known bits for %XV_R_FLAGS; the
 *	known length for %XV_R_TAIL; the type wanted for %XV_R_TYPE; the first
 *	operation that can not be referred to for %XV_R_REFERENCE; the number
 *	of groups given for %XV_R_ONE_OF; the present state for %XV_R_STATE;
 *	for a bad first receive how many before it are good; the bytes needed
 *	for %XV_R_MEMLOCK; else 0
 */
struct xv_error {
	__s32 err;
	__u32 op;
	__u16 group;
	__u16 attr;
	__u16 reason;
	__u16 object;
	__u32 handle;
	__s32 raw;
	__aligned_u64 detail;
};

/**
 * enum xv_reason - why a call failed, with the errno it belongs to
 * @XV_R_NONE: no error
 * @XV_R_UNKNOWN_OBJECT: EPROTONOSUPPORT: no such object type
 * @XV_R_UNKNOWN_METHOD: EPROTONOSUPPORT: no such method of that type
 * @XV_R_UNKNOWN_GROUP: EPROTONOSUPPORT: no such group in that method
 * @XV_R_UNKNOWN_ATTR: EPROTONOSUPPORT: no such attribute in that group
 * @XV_R_MISSING: EINVAL: a required group or attribute is absent
 * @XV_R_DUPLICATE: EINVAL: an attribute is given twice
 * @XV_R_RANGE: EINVAL: a number is outside its range
 * @XV_R_LENGTH: EINVAL: a length is not allowed
 * @XV_R_TAIL: EINVAL: bytes beyond the known struct are not zero
 * @XV_R_RESERVED: EINVAL: a reserved field is not zero
 * @XV_R_FLAGS: EINVAL: an unknown flag bit
 * @XV_R_TYPE: EINVAL: the handle names an object of another type
 * @XV_R_REFERENCE: EINVAL: the reference does not name an earlier create
 * @XV_R_STATE: EINVAL: not possible in the present state
 * @XV_R_SELF_CONFLICT: EINVAL: one object used in two ways in one transaction
 * @XV_R_CLASS: EINVAL: operations that can not share one transaction
 * @XV_R_ONE_OF: EINVAL: not exactly one of several groups
 * @XV_R_ACCESS: EINVAL: access rights that can not go together
 * @XV_R_MISMATCH: EINVAL: objects that do not belong together (another PD)
 * @XV_R_CQ_SPACE: EINVAL: the completion queue can not hold what all attached
 *	queues may complete
 * @XV_R_TOO_BIG: E2BIG: beyond a limit of the transaction
 * @XV_R_NO_HANDLE: ENOENT: no such handle on this file
 * @XV_R_NO_EVENTQ: EBADF: not an event queue of this file
 * @XV_R_LOCK_CONFLICT: EBUSY: another call uses the object now; retry
 * @XV_R_DEPENDENT: EBUSY: an object depends on it; the record names it
 * @XV_R_ZOMBIE_DEPENDENT: EBUSY: an object which the driver failed to destroy
 *	depends on it
 * @XV_R_MEMORY: ENOMEM: the kernel or the memory cgroup has no memory
 * @XV_R_MEMLOCK: ENOMEM: RLIMIT_MEMLOCK
 * @XV_R_RDMA_CGROUP: ENOMEM: limit of the rdma cgroup
 * @XV_R_BUDGET: ENOMEM: the file's budget for driver rings is used up
 * @XV_R_FILES: EMFILE: no free file descriptor or handle
 * @XV_R_PERMISSION: EPERM: not allowed to this caller
 * @XV_R_USER_MEMORY: EFAULT: user memory can not be read or written
 * @XV_R_CAPABILITY: EOPNOTSUPP: the device or driver can not do it
 * @XV_R_DRIVER_LIST: EOPNOTSUPP: a driver that xverbs was not tried with
 * @XV_R_QUEUE_FULL: EAGAIN: no free slot
 * @XV_R_TIME: ETIME: the time limit passed
 * @XV_R_SIGNAL: EINTR: a signal came
 * @XV_R_DEVICE_GONE: ENODEV: the device was removed
 * @XV_R_DRIVER: EIO: the driver refused or failed
 * @XV_R_UNREACHABLE: EHOSTUNREACH: no link address for the remote GID
 * @XV_R_NO_GID: EINVAL: the entry of the GID table is empty
 * @XV_R_HAS_SRQ: EINVAL: the queue pair takes its receives from an SRQ, and has
 *	no receive queue of its own
 * @XV_R_ADDR_IN_USE: EADDRINUSE: somebody listens at that port
 * @XV_R_NO_ADDR: EADDRNOTAVAIL: not an address of this device
 * @XV_R_NO_REQUEST: ENOENT: no such connection request; the peer may have
 *	given up
 * @XV_R_NOT_OFFERED: EOPNOTSUPP: known, and not offered by xverbs on any device;
 *	see %XV_DESC_REFUSED
 * @XV_R_ATTACHED: EINVAL: the queue pair is in that multicast group already; the
 *	record names the membership
 */
enum xv_reason {
	XV_R_NONE			= 0,
	XV_R_UNKNOWN_OBJECT		= 1,
	XV_R_UNKNOWN_METHOD		= 2,
	XV_R_UNKNOWN_GROUP		= 3,
	XV_R_UNKNOWN_ATTR		= 4,
	XV_R_MISSING			= 5,
	XV_R_DUPLICATE			= 6,
	XV_R_RANGE			= 7,
	XV_R_LENGTH			= 8,
	XV_R_TAIL			= 9,
	XV_R_RESERVED			= 10,
	XV_R_FLAGS			= 11,
	XV_R_TYPE			= 12,
	XV_R_REFERENCE			= 13,
	XV_R_STATE			= 14,
	XV_R_SELF_CONFLICT		= 15,
	XV_R_CLASS			= 16,
	XV_R_ONE_OF			= 17,
	XV_R_ACCESS			= 18,
	XV_R_MISMATCH			= 19,
	XV_R_CQ_SPACE			= 20,
	XV_R_TOO_BIG			= 21,
	XV_R_NO_HANDLE			= 22,
	XV_R_NO_EVENTQ			= 23,
	XV_R_LOCK_CONFLICT		= 24,
	XV_R_DEPENDENT			= 25,
	XV_R_ZOMBIE_DEPENDENT		= 26,
	XV_R_MEMORY			= 27,
	XV_R_MEMLOCK			= 28,
	XV_R_RDMA_CGROUP		= 29,
	XV_R_BUDGET			= 30,
	XV_R_FILES			= 31,
	XV_R_PERMISSION			= 32,
	XV_R_USER_MEMORY		= 33,
	XV_R_CAPABILITY			= 34,
	XV_R_DRIVER_LIST		= 35,
	XV_R_QUEUE_FULL			= 36,
	XV_R_TIME			= 37,
	XV_R_SIGNAL			= 38,
	XV_R_DEVICE_GONE		= 39,
	XV_R_DRIVER			= 40,
	XV_R_UNREACHABLE		= 41,
	XV_R_NO_GID			= 42,
	XV_R_HAS_SRQ			= 43,
	XV_R_ADDR_IN_USE		= 44,
	XV_R_NO_ADDR			= 45,
	XV_R_NO_REQUEST			= 46,
	XV_R_NOT_OFFERED		= 47,
	XV_R_ATTACHED			= 48,
};

/**
 * enum xv_object - types of objects
 * @XV_OBJ_DEVICE: the RDMA device of the file; has no handle
 * @XV_OBJ_EVENTQ: event queue, a file descriptor
 * @XV_OBJ_PD: protection domain
 * @XV_OBJ_MR: memory region
 * @XV_OBJ_CQ: completion queue
 * @XV_OBJ_QP: queue pair
 * @XV_OBJ_AH: address handle, a destination of datagrams
 * @XV_OBJ_SRQ: shared receive queue, which several queue pairs take from
 * @XV_OBJ_LISTENER: waits for connection requests at an address
 * @XV_OBJ_CONN: a connection, which a QP is part of
 * @XV_OBJ_MCAST: membership of a queue pair in a multicast group
 * @XV_OBJ_SUBSCRIPTION: what makes events of the device and its ports come to an
 *	event queue
 */
enum xv_object {
	XV_OBJ_DEVICE			= 1,
	XV_OBJ_EVENTQ			= 2,
	XV_OBJ_PD			= 3,
	XV_OBJ_MR			= 4,
	XV_OBJ_CQ			= 5,
	XV_OBJ_QP			= 6,
	XV_OBJ_AH			= 7,
	XV_OBJ_SRQ			= 8,
	XV_OBJ_LISTENER			= 9,
	XV_OBJ_CONN			= 10,
	XV_OBJ_MCAST			= 11,
	XV_OBJ_SUBSCRIPTION		= 12,
};

/**
 * enum xv_method - methods of objects
 * @XV_M_CREATE: make an object (all but device)
 * @XV_M_DESTROY: destroy it (all but device; an eventq goes by close(2)). All
 *	dependents must be destroyed in the same transaction or earlier
 * @XV_M_QUERY: ask an object (all but eventq and subscription)
 * @XV_M_MODIFY: change state or attributes (cq, qp, srq)
 * @XV_M_DESCRIBE: the tables of this kernel (device)
 * @XV_M_QUERY_PORT: a port of the device (device)
 * @XV_M_QUERY_GID: an entry of a port's GID table (device)
 * @XV_M_CONNECT: RESET or INIT to RTS in one operation (qp)
 * @XV_M_POST_RECV: the first receives of a queue made in the same call (qp,
 *	srq)
 * @XV_M_WATCH_ROOM: ask for an event when send slots are free (qp)
 * @XV_M_QUERY_REQUEST: ask about a connection request (listener)
 * @XV_M_REJECT: refuse a connection request (listener)
 * @XV_M_DISCONNECT: end a connection (conn)
 */
enum xv_method {
	XV_M_CREATE			= 1,
	XV_M_DESTROY			= 2,
	XV_M_QUERY			= 3,
	XV_M_MODIFY			= 4,
	XV_M_DESCRIBE			= 5,
	XV_M_QUERY_PORT			= 6,
	XV_M_QUERY_GID			= 7,
	XV_M_CONNECT			= 8,
	XV_M_POST_RECV			= 9,
	XV_M_WATCH_ROOM			= 10,
	XV_M_QUERY_REQUEST		= 11,
	XV_M_REJECT			= 12,
	XV_M_DISCONNECT			= 13,
};

/*
 * Which groups a method takes; in brackets: optional. device.describe tells
 * the same, with the attributes.
 *
 *	device.query, .describe		result
 *	device.query_port, .query_gid	params result
 *	eventq.create			object
 *	pd.create			object
 *	mr.create			object [access] params [result]
 *	cq.create			object [events] caps result
 *	cq.modify			object params
 *	qp.create			object [events] caps [access] [address]
 *					[path] [params] result
 *	qp.modify			object [access] [address] [path] params
 *	qp.connect			object [access] [address] [path]
 *	qp.post_recv			object params
 *	ah.create			object [path] and one of address, params
 *	srq.create			object [events] caps [params] result
 *	srq.modify			object params
 *	srq.post_recv			object params
 *	qp.watch_room			object params
 *	listener.create			object events address [params] [result]
 *	listener.query_request		object result request
 *	listener.reject			object [params] request
 *	conn.create			object events [path] [params] and one of
 *					address, request
 *	conn.disconnect			object
 *	mcast.create			object address [path] [params] [result]
 *	subscription.create		object events [params]
 *	*.query				object result
 *	*.destroy			object
 *
 * qp.create with an address connects: the new QP is in RTS. For type UD there
 * is no address: the group is an error there, and qp.connect goes without.
 *
 * A queue pair with an SRQ has no receive queue: recv_wr must be 0 and recv_sge
 * absent (%XV_R_HAS_SRQ). The SRQ has the same PD (%XV_R_MISMATCH), and its
 * whole depth is reserved in the CQ of the receives, once for all queue pairs
 * of that CQ that have this SRQ.
 */

/**
 * enum xv_group - groups of attributes; one group serves several methods
 * @XV_GRP_OBJECT: the handles: enum xv_attr_object
 * @XV_GRP_EVENTS: event queue and cookie: enum xv_attr_events
 * @XV_GRP_CAPS: sizes of queues: enum xv_attr_caps
 * @XV_GRP_ACCESS: access rights: enum xv_attr_access
 * @XV_GRP_ADDRESS: the remote side: enum xv_attr_address
 * @XV_GRP_PATH: the way there: enum xv_attr_path
 * @XV_GRP_PARAMS: everything else that goes in: enum xv_attr_params
 * @XV_GRP_RESULT: what comes out: enum xv_attr_result
 * @XV_GRP_REQUEST: a connection request: enum xv_attr_request
 */
enum xv_group {
	XV_GRP_OBJECT			= 1,
	XV_GRP_EVENTS			= 2,
	XV_GRP_CAPS			= 3,
	XV_GRP_ACCESS			= 4,
	XV_GRP_ADDRESS			= 5,
	XV_GRP_PATH			= 6,
	XV_GRP_PARAMS			= 7,
	XV_GRP_RESULT			= 8,
	XV_GRP_REQUEST			= 9,
};

/**
 * enum xv_attr_object - group object
 * @XV_OBJECT_HANDLE: the object that the operation makes, uses or destroys
 * @XV_OBJECT_PD: protection domain (mr, qp, ah, srq)
 * @XV_OBJECT_SEND_CQ: completion queue of the sends (qp)
 * @XV_OBJECT_RECV_CQ: completion queue of the receives (qp); absent: the same
 * @XV_OBJECT_SRQ: shared receive queue (qp); absent: none
 * @XV_OBJECT_QP: queue pair (conn, mcast). Of a conn: of type RC, in INIT; it may
 *	be made in the same call. As long as the connection exists its states are
 *	the connection's: qp.modify and qp.connect answer EBUSY. Of an mcast: of
 *	type UD
 */
enum xv_attr_object {
	XV_OBJECT_HANDLE		= 1,
	XV_OBJECT_PD			= 2,
	XV_OBJECT_SEND_CQ		= 3,
	XV_OBJECT_RECV_CQ		= 4,
	XV_OBJECT_SRQ			= 5,
	XV_OBJECT_QP			= 6,
};

/**
 * enum xv_attr_events - group events
 * @XV_EVENTS_QUEUE: file descriptor of an event queue of this file
 * @XV_EVENTS_COOKIE: 64 bits that every event of the object carries; default 0
 * @XV_EVENTS_MASK: which kinds of events are wanted, bit n for the enum
 *	xv_event_type n; default: all. Bits of kinds which the object does not
 *	raise have no effect
 */
enum xv_attr_events {
	XV_EVENTS_QUEUE			= 1,
	XV_EVENTS_COOKIE		= 2,
	XV_EVENTS_MASK			= 3,
};

/**
 * enum xv_attr_caps - group caps
 * @XV_CAPS_CQE: completions that a CQ can hold, 1 to the device's limit
 * @XV_CAPS_COMP_VECTOR: completion vector of a CQ; default 0
 * @XV_CAPS_SEND_WR: sends outstanding at a time, 1 to the device's limit
 * @XV_CAPS_RECV_WR: receives outstanding at a time, 0 (of an SRQ: 1) to the
 *	device's limit; of a QP with an SRQ: 0
 * @XV_CAPS_SEND_SGE: pieces of one send, 1 (default) to %XV_MAX_SEND_SGE
 * @XV_CAPS_RECV_SGE: pieces of one receive, 1 (default) to %XV_MAX_RECV_SGE; of
 *	a QP with an SRQ: absent
 */
enum xv_attr_caps {
	XV_CAPS_CQE			= 1,
	XV_CAPS_COMP_VECTOR		= 2,
	XV_CAPS_SEND_WR			= 3,
	XV_CAPS_RECV_WR			= 4,
	XV_CAPS_SEND_SGE		= 5,
	XV_CAPS_RECV_SGE		= 6,
};

/* Bytes of the addresses of listeners and connections. */
#define XV_ADDR_IPV4_BYTES	16	/* struct sockaddr_in */
#define XV_ADDR_BYTES		28	/* struct sockaddr_in6; room for both */

/* Private data of a connection, in bytes. */
#define XV_PRIVATE_REQUEST	56	/* with a request */
#define XV_PRIVATE_ACCEPT	196	/* with an accept */
#define XV_PRIVATE_REJECT	148	/* with a reject */

/* Defaults and limits of listeners and connections. */
#define XV_BACKLOG		16	/* requests that wait at a listener */
#define XV_MAX_BACKLOG		1024
#define XV_ESTABLISH_MS		10000	/* until a connection is given up */
#define XV_MAX_ESTABLISH_MS	600000

/* Access rights, of a memory region and of what a QP lets its peer do. */
#define XV_ACCESS_LOCAL_WRITE		(1U << 0)
#define XV_ACCESS_REMOTE_WRITE		(1U << 1)
#define XV_ACCESS_REMOTE_READ		(1U << 2)
#define XV_ACCESS_REMOTE_ATOMIC		(1U << 3)
#define XV_ACCESS_RELAXED_ORDERING	(1U << 4) /* memory regions; a hint */
#define XV_ACCESS_ON_DEMAND		(1U << 5) /* not offered: paging on demand */
#define XV_ACCESS_MW_BIND		(1U << 6) /* not offered: memory windows */

/**
 * enum xv_attr_access - group access
 * @XV_ACCESS_FLAGS: XV_ACCESS_*; remote write and remote atomic of a memory
 *	region need local write. A QP takes the three remote rights only
 */
enum xv_attr_access {
	XV_ACCESS_FLAGS			= 1,
};

/**
 * enum xv_attr_address - group address: the other side
 * @XV_ADDRESS_QPN: its QP number, 1 to 0xffffff (qp)
 * @XV_ADDRESS_GID: its GID, 16 bytes in network order; of a multicast group
 *	(mcast) ff00::/8, or an IPv4 group as ::ffff:a.b.c.d
 * @XV_ADDRESS_LID: its LID, InfiniBand link layer only; default 0; of a
 *	multicast group 0xc000 to 0xfffe
 * @XV_ADDRESS_PSN: first packet sequence number that it sends, 24 bits (qp)
 * @XV_ADDRESS_DST: struct sockaddr_in or sockaddr_in6 to connect to (conn);
 *	link-local addresses with their scope
 * @XV_ADDRESS_SRC: struct sockaddr_in or sockaddr_in6. Of a conn: where to
 *	connect from; default: what the routing says. Of a listener: where to
 *	listen, an address of the device; port 0: any free one
 */
enum xv_attr_address {
	XV_ADDRESS_QPN			= 1,
	XV_ADDRESS_GID			= 2,
	XV_ADDRESS_LID			= 3,
	XV_ADDRESS_PSN			= 4,
	XV_ADDRESS_DST			= 5,
	XV_ADDRESS_SRC			= 6,
};

/**
 * enum xv_attr_path - group path: all have defaults
 * @XV_PATH_PORT: port of the device, from 1; default 1
 * @XV_PATH_SGID_INDEX: entry of the port's GID table to send from; default 0
 * @XV_PATH_PKEY_INDEX: entry of the port's P_Key table; default 0
 * @XV_PATH_MTU: path MTU in bytes: 256, 512, 1024, 2048 or 4096, at most the
 *	port's maximum; both sides must agree; default: the port's maximum if
 *	the remote GID is the one we send from (traffic that never leaves the
 *	device), else its active MTU; of type UD: at most the active MTU
 * @XV_PATH_SL: service level, 0 to 15; default 0
 * @XV_PATH_TRAFFIC_CLASS: traffic class (RoCE: the IP TOS byte); default 0, of
 *	a conn: what the connection manager finds
 * @XV_PATH_FLOW_LABEL: flow label, 20 bits; default 0
 * @XV_PATH_HOP_LIMIT: hop limit; default 64
 * @XV_PATH_TIMEOUT: local ACK timeout, 4.096 us * 2^n, 0 to 31 (0: none);
 *	default 14 (67 ms), of a conn: what the connection manager finds
 * @XV_PATH_RETRY_CNT: retries after a timeout, 0 to 7; default 7
 * @XV_PATH_RNR_RETRY: retries when the receiver is not ready, 0 to 7, 7 being
 *	for ever; default 7
 * @XV_PATH_MIN_RNR_TIMER: code of the time that a sender must wait when we are
 *	not ready, 0 to 31; default 12 (0.64 ms); beware of 0, which is 655 ms
 * @XV_PATH_RD_ATOMIC: reads and atomics that we have outstanding; default: the
 *	device's limit, at most 16; an accept takes no more than the peer offers
 * @XV_PATH_DEST_RD_ATOMIC: the same for the peer; default as above
 * @XV_PATH_SQ_PSN: first packet sequence number that we send, 24 bits;
 *	default: the random one that qp.create reported
 * @XV_PATH_QKEY: Q_Key of a UD queue pair; default 0. One with the highest bit
 *	set needs CAP_NET_RAW
 */
enum xv_attr_path {
	XV_PATH_PORT			= 1,
	XV_PATH_SGID_INDEX		= 2,
	XV_PATH_PKEY_INDEX		= 3,
	XV_PATH_MTU			= 4,
	XV_PATH_SL			= 5,
	XV_PATH_TRAFFIC_CLASS		= 6,
	XV_PATH_FLOW_LABEL		= 7,
	XV_PATH_HOP_LIMIT		= 8,
	XV_PATH_TIMEOUT			= 9,
	XV_PATH_RETRY_CNT		= 10,
	XV_PATH_RNR_RETRY		= 11,
	XV_PATH_MIN_RNR_TIMER		= 12,
	XV_PATH_RD_ATOMIC		= 13,
	XV_PATH_DEST_RD_ATOMIC		= 14,
	XV_PATH_SQ_PSN			= 15,
	XV_PATH_QKEY			= 16,
};

/**
 * enum xv_qp_type - types of queue pairs, attribute %XV_PARAMS_QP_TYPE
 * @XV_QPT_RC: reliable connected: everything in order, once; all opcodes
 * @XV_QPT_UC: unreliable connected: sends and writes; a message may be lost
 * @XV_QPT_UD: unreliable datagram: sends of at most one MTU (longer ones are
 *	refused) to any address handle; each receive begins with 40 bytes for
 *	the GRH
 * @XV_QPT_XRC_INI: not offered
 * @XV_QPT_XRC_TGT: not offered
 */
enum xv_qp_type {
	XV_QPT_RC			= 1,
	XV_QPT_UC			= 2,
	XV_QPT_UD			= 3,
	XV_QPT_XRC_INI			= 4,
	XV_QPT_XRC_TGT			= 5,
};

/**
 * enum xv_qp_state - states of a queue pair, attribute %XV_PARAMS_STATE
 * @XV_QPS_RESET: new or cleared; nothing can be posted
 * @XV_QPS_INIT: receives are posted, nothing is processed; sends wait
 * @XV_QPS_RTR: ready to receive; sends still wait in the ring, in order
 * @XV_QPS_RTS: ready to send
 * @XV_QPS_ERR: failed; everything outstanding completes as flushed
 * @XV_QPS_SQD: not offered: send queue drained
 */
enum xv_qp_state {
	XV_QPS_RESET			= 1,
	XV_QPS_INIT			= 2,
	XV_QPS_RTR			= 3,
	XV_QPS_RTS			= 4,
	XV_QPS_ERR			= 5,
	XV_QPS_SQD			= 6,
};

/**
 * enum xv_mcast_join - what a membership comprises, attribute %XV_PARAMS_JOIN
 * @XV_MCAST_JOIN: the network delivers to the port, and the device to the queue
 *	pair. On Ethernet with RoCE v2 the network interface of the GID joins
 *	the IP group (IGMP, MLD), as a socket would; it must be of the caller's
 *	network namespace. On an InfiniBand link layer the subnet manager would
 *	have to be asked: EOPNOTSUPP
 * @XV_MCAST_ATTACH: the second half alone: somebody else sees to the first
 */
enum xv_mcast_join {
	XV_MCAST_JOIN			= 1,
	XV_MCAST_ATTACH			= 2,
};

/**
 * enum xv_attr_params - group params
 * @XV_PARAMS_ADDR: user address of a memory region
 * @XV_PARAMS_LENGTH: its length in bytes, at least 1
 * @XV_PARAMS_IOVA: the address that a remote side uses for its first byte; has
 *	the same offset in a page as the address; default: the address
 * @XV_PARAMS_QP_TYPE: enum xv_qp_type; default %XV_QPT_RC
 * @XV_PARAMS_SQ_SIG_ALL: 1: every send completes, whatever its flags; default 0
 * @XV_PARAMS_STATE: enum xv_qp_state, the state to go to
 * @XV_PARAMS_PORT: port of the device, from 1; of a subscription: default all
 * @XV_PARAMS_INDEX: index into a table of the port
 * @XV_PARAMS_RECVS: array of struct xv_recv, the first receives of a QP or SRQ
 * @XV_PARAMS_WC: struct xv_ah_wc: answer the sender of this datagram; of the
 *	path only the port is used
 * @XV_PARAMS_LIMIT: limit of an SRQ, 0 (default: none) to its depth. Arms one
 *	%XV_EV_SRQ_LIMIT, which is raised when a receive is taken and fewer than
 *	this are left; modify arms it again
 * @XV_PARAMS_PRIVATE_DATA: private data for the peer: at most
 *	%XV_PRIVATE_REQUEST bytes with a request, %XV_PRIVATE_ACCEPT with an
 *	accept, %XV_PRIVATE_REJECT with a reject. InfiniBand pads with zeros: the
 *	peer may see more bytes than were given
 * @XV_PARAMS_ESTABLISH_MS: milliseconds until a connection that is not
 *	established fails with ETIMEDOUT, 1 to %XV_MAX_ESTABLISH_MS; default
 *	%XV_ESTABLISH_MS
 * @XV_PARAMS_REUSE: 1: the source address and port may be in use; default 0
 * @XV_PARAMS_BACKLOG: requests that may wait at a listener, 1 to
 *	%XV_MAX_BACKLOG; default %XV_BACKLOG. Further peers are refused
 * @XV_PARAMS_SLOTS: free send slots to wait for, at most the depth; 0: cancel
 * @XV_PARAMS_COOKIE: 64 bits that the event carries; default 0
 * @XV_PARAMS_CQ_COUNT: notify after so many completions, 0 to 65535 (cq.modify)
 * @XV_PARAMS_CQ_PERIOD: or after so many microseconds, 0 to 65535; 0 and 0: at
 *	once
 * @XV_PARAMS_JOIN: enum xv_mcast_join; default %XV_MCAST_JOIN
 * @XV_PARAMS_DMABUF_FD: not offered: memory region of a dmabuf
 * @XV_PARAMS_MIG_STATE: not offered: automatic path migration
 */
enum xv_attr_params {
	XV_PARAMS_ADDR			= 1,
	XV_PARAMS_LENGTH		= 2,
	XV_PARAMS_IOVA			= 3,
	XV_PARAMS_QP_TYPE		= 4,
	XV_PARAMS_SQ_SIG_ALL		= 5,
	XV_PARAMS_STATE			= 6,
	XV_PARAMS_PORT			= 7,
	XV_PARAMS_INDEX			= 8,
	XV_PARAMS_RECVS			= 9,
	XV_PARAMS_WC			= 10,
	XV_PARAMS_LIMIT			= 11,
	XV_PARAMS_PRIVATE_DATA		= 12,
	XV_PARAMS_ESTABLISH_MS		= 13,
	XV_PARAMS_REUSE			= 14,
	XV_PARAMS_BACKLOG		= 15,
	XV_PARAMS_SLOTS			= 16,
	XV_PARAMS_COOKIE		= 17,
	XV_PARAMS_CQ_COUNT		= 18,
	XV_PARAMS_CQ_PERIOD		= 19,
	XV_PARAMS_JOIN			= 20,
	XV_PARAMS_DMABUF_FD		= 21,
	XV_PARAMS_MIG_STATE		= 22,
};

/**
 * enum xv_attr_request - group request: a connection request
 * @XV_REQUEST_LISTENER: the listener where it waits (conn)
 * @XV_REQUEST_TOKEN: its name, from &xv_event.data of %XV_EV_CONNECT_REQUEST
 */
enum xv_attr_request {
	XV_REQUEST_LISTENER		= 1,
	XV_REQUEST_TOKEN		= 2,
};

/**
 * enum xv_attr_result - group result
 * @XV_RESULT_INFO: output buffer for the struct that the method documents:
 *	struct xv_device_info, xv_port_info, xv_gid_info, xv_describe,
 *	xv_pd_info, xv_mr_info, xv_cq_info, xv_qp_info, xv_ah_info,
 *	xv_srq_info, xv_listener_info, xv_request_info, xv_conn_info,
 *	xv_mcast_info
 */
enum xv_attr_result {
	XV_RESULT_INFO			= 1,
};

/* ------------------------------------------------------------------------
 * Results
 */

/* Flags of struct xv_device_info. */
#define XV_DEVICE_F_ATOMICS	(1U << 0) /* atomic operations are supported */
#define XV_DEVICE_F_IWARP	(1U << 1) /* bare QPs can not be connected */

/**
 * struct xv_device_info - result of device.query
 * @abi_version: %XV_ABI_VERSION of the kernel
 * @flags: XV_DEVICE_F_*
 * @name: name of the RDMA device, with a terminating 0
 * @driver_id: enum rdma_driver_id of its driver
 * @num_ports: ports are numbered 1 to @num_ports
 * @num_comp_vectors: completion vectors are numbered from 0
 * @max_qp_wr: largest depth of a send or receive queue
 * @max_cqe: largest depth of a CQ
 * @max_send_sge: pieces of one send entry
 * @max_recv_sge: pieces of one receive entry
 * @max_inline: bytes of inline data in one send entry
 * @max_rd_atomic: reads and atomics outstanding, as initiator
 * @max_dest_rd_atomic: the same as responder
 * @max_mr_size: largest memory region in bytes
 * @node_guid: node GUID, network order
 * @budget: bytes of driver rings that one file may have
 * @budget_used: bytes which this file has
 * @objects: objects alive on this file, by enum xv_object
 * @max_srq_wr: largest depth of an SRQ; 0: the device has none
 * @max_srq_sge: pieces of one receive entry of an SRQ
 */
struct xv_device_info {
	__u32 abi_version;
	__u32 flags;
	char name[64];
	__u32 driver_id;
	__u32 num_ports;
	__u32 num_comp_vectors;
	__u32 max_qp_wr;
	__u32 max_cqe;
	__u32 max_send_sge;
	__u32 max_recv_sge;
	__u32 max_inline;
	__u32 max_rd_atomic;
	__u32 max_dest_rd_atomic;
	__aligned_u64 max_mr_size;
	__aligned_u64 node_guid;
	__aligned_u64 budget;
	__aligned_u64 budget_used;
	__u32 objects[16];
	__u32 max_srq_wr;
	__u32 max_srq_sge;
};

/* Link layers and port states, as in struct xv_port_info. */
#define XV_LINK_INFINIBAND	1
#define XV_LINK_ETHERNET	2
#define XV_PORT_DOWN		1
#define XV_PORT_INIT		2
#define XV_PORT_ARMED		3
#define XV_PORT_ACTIVE		4

/**
 * struct xv_port_info - result of device.query_port
 * @state: XV_PORT_*
 * @link_layer: XV_LINK_*
 * @max_mtu: largest MTU in bytes
 * @active_mtu: MTU in bytes
 * @lid: LID, InfiniBand link layer
 * @gid_entries: size of the GID table
 * @pkey_entries: size of the P_Key table
 * @netdev_index: index of the network interface below, 0 if none
 */
struct xv_port_info {
	__u32 state;
	__u32 link_layer;
	__u32 max_mtu;
	__u32 active_mtu;
	__u32 lid;
	__u32 gid_entries;
	__u32 pkey_entries;
	__u32 netdev_index;
};

/* Types of GIDs, as in struct xv_gid_info. */
#define XV_GID_IB		1
#define XV_GID_ROCE_V1		2
#define XV_GID_ROCE_V2		3

/* Kinds of headers in &xv_wc.net_type: XV_GID_ROCE_V1, or with RoCE v2 these. */
#define XV_NET_IPV4		4
#define XV_NET_IPV6		5

/**
 * struct xv_gid_info - result of device.query_gid
 * @gid: the GID, network order; all zero if the entry is empty
 * @type: XV_GID_*
 * @netdev_index: index of the network interface of this GID, 0 if none
 */
struct xv_gid_info {
	__u8 gid[16];
	__u32 type;
	__u32 netdev_index;
};

/**
 * struct xv_pd_info - result of pd.query
 * @restrack_id: identifier which `rdma resource show pd` prints
 * @num_dependents: objects that hold it
 */
struct xv_pd_info {
	__u32 restrack_id;
	__u32 num_dependents;
};

/**
 * struct xv_mr_info - result of mr.create and mr.query
 * @addr: user address of the first byte
 * @length: length in bytes
 * @iova: address by which a remote side names the first byte
 * @rkey: key for the remote side; 0 if no remote right was given
 * @access: XV_ACCESS_*
 * @pd: handle of its PD
 * @restrack_id: identifier which `rdma resource show mr` prints
 */
struct xv_mr_info {
	__aligned_u64 addr;
	__aligned_u64 length;
	__aligned_u64 iova;
	__u32 rkey;
	__u32 access;
	__u32 pd;
	__u32 restrack_id;
};

/**
 * struct xv_area - where a ring lies
 * @mmap_offset: offset for mmap(2) on the device file; one area serves many
 *	objects, so map each once
 * @mmap_length: length of the area in bytes
 * @offset: where in the area the object's part starts
 * @length: bytes of the object's part
 *
 * An area is mapped with PROT_READ and PROT_WRITE and MAP_SHARED, as a whole.
 * The mapping is not inherited by fork(2). An area keeps its offset and length
 * as long as the file is open.
 */
struct xv_area {
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_length;
	__u32 offset;
	__u32 length;
};

/**
 * struct xv_cq_info - result of cq.create and cq.query
 * @area: the struct xv_cq_ring and, behind it, @entries completions
 * @entries: entries of the ring, a power of two, at least @cqe
 * @cqe: depth as asked for: what all attached queues together may have
 * @attached: what the attached queues have now; an SRQ counts once, however
 *	many queue pairs have it
 * @comp_vector: completion vector
 * @restrack_id: identifier which `rdma resource show cq` prints
 * @reserved: 0
 */
struct xv_cq_info {
	struct xv_area area;
	__u32 entries;
	__u32 cqe;
	__u32 attached;
	__u32 comp_vector;
	__u32 restrack_id;
	__u32 reserved;
};

/**
 * struct xv_qp_info - result of qp.create and qp.query
 * @area: the struct xv_qp_ring; behind it @send_entries struct xv_send; behind
 *	these @recv_entries struct xv_recv
 * @send_entries: entries of the send ring, a power of two, at least @send_wr
 * @recv_entries: entries of the receive ring, likewise; 0 if @recv_wr is 0
 * @send_wr: depth of the send queue, as asked for
 * @recv_wr: depth of the receive queue, as asked for
 * @send_sge: pieces of one send, as asked for
 * @recv_sge: pieces of one receive, as asked for
 * @qp_num: QP number, 24 bits
 * @type: enum xv_qp_type
 * @state: enum xv_qp_state
 * @generation: changes with each recycle
 * @sq_psn: first packet sequence number that we send
 * @sends_outstanding: sends accepted and not yet completed
 * @recvs_outstanding: receives accepted and not yet completed
 * @sends_early: sends accepted that wait in the ring for RTS
 * @pd: handle of its PD
 * @send_cq: handle of the CQ of the sends
 * @recv_cq: handle of the CQ of the receives
 * @path_mtu: path MTU in bytes, 0 before RTR; of type UD: the longest message
 * @access: XV_ACCESS_*, what the peer may do
 * @restrack_id: identifier which `rdma resource show qp` prints
 * @srq: handle of its SRQ, 0 if it has none
 * @reserved: 0
 */
struct xv_qp_info {
	struct xv_area area;
	__u32 send_entries;
	__u32 recv_entries;
	__u32 send_wr;
	__u32 recv_wr;
	__u32 send_sge;
	__u32 recv_sge;
	__u32 qp_num;
	__u32 type;
	__u32 state;
	__u32 generation;
	__u32 sq_psn;
	__u32 sends_outstanding;
	__u32 recvs_outstanding;
	__u32 sends_early;
	__u32 pd;
	__u32 send_cq;
	__u32 recv_cq;
	__u32 path_mtu;
	__u32 access;
	__u32 restrack_id;
	__u32 srq;
	__u32 reserved;
};

/**
 * struct xv_ah_info - result of ah.create and ah.query
 * @gid: remote GID, network order
 * @port: port of the device
 * @sgid_index: entry of its GID table
 * @flow_label: flow label
 * @pd: handle of its PD
 * @lid: remote LID, InfiniBand link layer
 * @hop_limit: hop limit
 * @traffic_class: traffic class
 * @sl: service level
 * @reserved: 0
 */
struct xv_ah_info {
	__u8 gid[16];
	__u32 port;
	__u32 sgid_index;
	__u32 flow_label;
	__u32 pd;
	__u16 lid;
	__u8 hop_limit;
	__u8 traffic_class;
	__u8 sl;
	__u8 reserved[3];
};

/**
 * struct xv_srq_info - result of srq.create and srq.query
 * @area: the struct xv_srq_ring; behind it @recv_entries struct xv_recv
 * @recv_entries: entries of the ring, a power of two, at least @recv_wr
 * @recv_wr: depth, as asked for
 * @recv_sge: pieces of one receive, as asked for
 * @limit: limit that is armed; 0: none, or it was reached
 * @recvs_outstanding: receives accepted and not yet completed: in the queue, or
 *	taken by a queue pair
 * @pd: handle of its PD
 * @num_qps: queue pairs that have it
 * @restrack_id: identifier which `rdma resource show srq` prints
 */
struct xv_srq_info {
	struct xv_area area;
	__u32 recv_entries;
	__u32 recv_wr;
	__u32 recv_sge;
	__u32 limit;
	__u32 recvs_outstanding;
	__u32 pd;
	__u32 num_qps;
	__u32 restrack_id;
};

/**
 * struct xv_listener_info - result of listener.create and listener.query
 * @local: struct sockaddr_in or sockaddr_in6 where it listens, with the port
 * @backlog: requests that may wait
 * @pending: requests that wait now
 * @refused: requests for which there was no room
 */
struct xv_listener_info {
	__u8 local[XV_ADDR_BYTES];
	__u32 backlog;
	__u32 pending;
	__u32 refused;
};

/**
 * struct xv_request_info - result of listener.query_request
 * @token: the token
 * @local: struct sockaddr_in or sockaddr_in6 that the peer has asked for
 * @remote: that of the peer
 * @qp_num: QP number of the peer, 24 bits
 * @rd_atomic: reads and atomics that we may have outstanding at the peer
 * @dest_rd_atomic: reads and atomics that the peer will have outstanding
 * @private_len: bytes of @private_data
 * @reserved: 0
 * @private_data: private data of the peer
 */
struct xv_request_info {
	__aligned_u64 token;
	__u8 local[XV_ADDR_BYTES];
	__u8 remote[XV_ADDR_BYTES];
	__u32 qp_num;
	__u32 rd_atomic;
	__u32 dest_rd_atomic;
	__u32 private_len;
	__u32 reserved[2];
	__u8 private_data[XV_PRIVATE_REQUEST];
};

/**
 * enum xv_conn_state - states of a connection
 * @XV_CONN_RESOLVING: address and route of the peer are looked for
 * @XV_CONN_CONNECTING: the request is on its way
 * @XV_CONN_ACCEPTING: the accept is on its way, or was not answered yet
 * @XV_CONN_ESTABLISHED: both ways are open
 * @XV_CONN_ENDED: refused, failed or disconnected; its QP is in ERR
 */
enum xv_conn_state {
	XV_CONN_RESOLVING		= 1,
	XV_CONN_CONNECTING		= 2,
	XV_CONN_ACCEPTING		= 3,
	XV_CONN_ESTABLISHED		= 4,
	XV_CONN_ENDED			= 5,
};

/**
 * enum xv_conn_cause - what has shown that a connection is established
 * @XV_CONN_BY_NONE: nothing has
 * @XV_CONN_BY_CM: the connection manager
 * @XV_CONN_BY_COMM_EST: the device, which has seen a packet of the peer
 * @XV_CONN_BY_DATA: the first receive
 */
enum xv_conn_cause {
	XV_CONN_BY_NONE			= 0,
	XV_CONN_BY_CM			= 1,
	XV_CONN_BY_COMM_EST		= 2,
	XV_CONN_BY_DATA			= 3,
};

/* Flags of struct xv_conn_info. */
#define XV_CONN_F_PASSIVE	(1U << 0) /* made from a request */
#define XV_CONN_F_IWARP		(1U << 1) /* over iWARP */

/**
 * struct xv_conn_info - result of conn.query
 * @local: struct sockaddr_in or sockaddr_in6 of this side, as far as known
 * @remote: that of the peer
 * @qp: handle of the queue pair
 * @state: enum xv_conn_state
 * @flags: XV_CONN_F_*
 * @cause: enum xv_conn_cause
 * @err: ENDED: positive errno that told why, 0 if conn.disconnect was called
 * @raw: ENDED: what the connection manager said: a negative errno, or the
 *	positive reason of a reject (InfiniBand volume 1, 12.6.7.2)
 * @rd_atomic: reads and atomics that we may have outstanding
 * @dest_rd_atomic: reads and atomics that the peer may have outstanding
 * @retry_cnt: retries after a timeout
 * @rnr_retry: retries when the receiver is not ready
 * @path_mtu: path MTU in bytes, 0 as long as it is not known
 * @sends_early: sends accepted that wait in the ring
 * @private_len: bytes of @private_data
 * @reserved: 0
 * @private_data: private data of the peer's request, accept or reject
 */
struct xv_conn_info {
	__u8 local[XV_ADDR_BYTES];
	__u8 remote[XV_ADDR_BYTES];
	__u32 qp;
	__u32 state;
	__u32 flags;
	__u32 cause;
	__s32 err;
	__s32 raw;
	__u32 rd_atomic;
	__u32 dest_rd_atomic;
	__u32 retry_cnt;
	__u32 rnr_retry;
	__u32 path_mtu;
	__u32 sends_early;
	__u32 private_len;
	__u32 reserved;
	__u8 private_data[XV_PRIVATE_ACCEPT];
};

/**
 * struct xv_mcast_info - result of mcast.create and mcast.query
 * @gid: the group, network order
 * @qp: handle of the queue pair
 * @join: enum xv_mcast_join
 * @port: port of the device
 * @lid: LID of the group, InfiniBand link layer
 * @sgid_index: entry of the port's GID table
 * @netdev_index: index of the network interface that has joined, 0 if none
 */
struct xv_mcast_info {
	__u8 gid[16];
	__u32 qp;
	__u32 join;
	__u32 port;
	__u32 lid;
	__u32 sgid_index;
	__u32 netdev_index;
};

/* ------------------------------------------------------------------------
 * device.describe
 */

/**
 * enum xv_kind - kinds of attributes
 * @XV_K_NEW: handle of an object that the operation makes
 * @XV_K_READ: handle of an object that is used and shared
 * @XV_K_WRITE: handle of an object that is changed
 * @XV_K_DESTROY: handle of an object that is destroyed
 * @XV_K_U32: number; min and max are its range
 * @XV_K_U64: number; min and max are its range
 * @XV_K_BITS: flags; max is the mask of the known bits
 * @XV_K_ENUM: one of some values; max is a mask with bit v set for a value v
 * @XV_K_IN: input buffer; min and max are its known lengths; step, if not 0,
 *	is the size of one element of an array
 * @XV_K_OUT: output buffer; max is the needed length, 0 if it varies
 */
enum xv_kind {
	XV_K_NEW			= 1,
	XV_K_READ			= 2,
	XV_K_WRITE			= 3,
	XV_K_DESTROY			= 4,
	XV_K_U32			= 5,
	XV_K_U64			= 6,
	XV_K_BITS			= 7,
	XV_K_ENUM			= 8,
	XV_K_IN				= 9,
	XV_K_OUT			= 10,
};

/**
 * enum xv_class - classes of methods: what may share a transaction
 * @XV_C_CREATE: makes an object
 * @XV_C_DESTROY: destroys one
 * @XV_C_POST: posts the first receives of a queue made in the same call
 * @XV_C_QUERY: asks
 * @XV_C_MODIFY: changes an existing object: alone, last, or in a batch
 * @XV_C_START: begins something at commit whose outcome is an event
 */
enum xv_class {
	XV_C_CREATE			= 1,
	XV_C_DESTROY			= 2,
	XV_C_POST			= 3,
	XV_C_QUERY			= 4,
	XV_C_MODIFY			= 5,
	XV_C_START			= 6,
};

/* What a struct xv_desc describes. */
#define XV_DESC_OBJECT		1
#define XV_DESC_METHOD		2
#define XV_DESC_GROUP		3
#define XV_DESC_ATTR		4
#define XV_DESC_REASON		5	/* id: enum xv_reason, max: its errno */
#define XV_DESC_REFUSED		6	/* known, and not offered; see below */

/* Flags of struct xv_desc. */
#define XV_DESC_F_REQUIRED	(1U << 0) /* group or attribute must be there */
#define XV_DESC_F_ONE_OF	(1U << 1) /* exactly one of the groups marked so */

#define XV_DESC_NAME		32

/**
 * struct xv_desc - one line of the tables
 * @what: XV_DESC_*
 * @object: enum xv_object
 * @method: enum xv_method, from %XV_DESC_METHOD down
 * @group: enum xv_group, from %XV_DESC_GROUP down
 * @id: the attribute, or the reason
 * @kind: enum xv_kind of an attribute, enum xv_class of a method
 * @type: enum xv_object of a handle attribute
 * @flags: XV_DESC_F_*
 * @step: size of one element of an array, else 0
 * @reserved: 0
 * @min: see enum xv_kind
 * @max: see enum xv_kind
 * @name: name, with a terminating 0
 *
 * The lines are a tree in depth-first order: an object, its methods, their
 * groups, their attributes. Behind it stand the reasons. At the end stands what
 * answers EOPNOTSUPP with %XV_R_NOT_OFFERED on any device, as %XV_DESC_REFUSED:
 * a method (@group is 0), an attribute (@max is 0), or values of one, @max being
 * a mask with bit v set for the value v (of flags: these flags). If @method is 0
 * they are values of &xv_send.opcode.
 */
struct xv_desc {
	__u16 what;
	__u16 object;
	__u16 method;
	__u16 group;
	__u16 id;
	__u16 kind;
	__u16 type;
	__u16 flags;
	__u32 step;
	__u32 reserved;
	__aligned_u64 min;
	__aligned_u64 max;
	char name[XV_DESC_NAME];
};

/**
 * struct xv_describe - result of device.describe, followed by the lines
 * @abi_version: %XV_ABI_VERSION of the kernel
 * @header_size: bytes of this header; the lines begin there
 * @desc_size: bytes of one line
 * @num_descs: number of lines
 * @max_ops: operations in one transaction
 * @max_attrs: attributes of one operation
 * @max_bytes: wire bytes and input buffers of one transaction
 * @max_enter_qps: queue pairs in one ENTER
 */
struct xv_describe {
	__u32 abi_version;
	__u32 header_size;
	__u32 desc_size;
	__u32 num_descs;
	__u32 max_ops;
	__u32 max_attrs;
	__u32 max_bytes;
	__u32 max_enter_qps;
};

/* ------------------------------------------------------------------------
 * Rings
 */

/* In &xv_sge.mr of the first receives: the rest is the index of an operation. */
#define XV_SGE_FROM_OP		(1U << 31)

/**
 * struct xv_sge - a piece of a registered memory region
 * @mr: handle of the memory region; in the first receives (%XV_PARAMS_RECVS)
 *	also %XV_SGE_FROM_OP with the index of an earlier operation of the same
 *	transaction which makes the region
 * @length: bytes
 * @offset: first byte, counted from the start of the region
 */
struct xv_sge {
	__u32 mr;
	__u32 length;
	__aligned_u64 offset;
};

/**
 * enum xv_opcode - what a send entry does
 * @XV_WR_SEND: send a message
 * @XV_WR_SEND_WITH_IMM: send a message with immediate data
 * @XV_WR_RDMA_WRITE: write to remote memory
 * @XV_WR_RDMA_WRITE_WITH_IMM: the same, and consume a receive there
 * @XV_WR_RDMA_READ: read remote memory; the pieces need local write
 * @XV_WR_ATOMIC_CMP_AND_SWP: 8 byte compare and swap; the one piece, 8 bytes
 *	that need local write, gets the old value
 * @XV_WR_ATOMIC_FETCH_AND_ADD: 8 byte add; likewise
 * @XV_WR_FLUSH: not offered
 * @XV_WR_ATOMIC_WRITE: not offered
 * @XV_WR_BIND_MW: not offered
 */
enum xv_opcode {
	XV_WR_SEND			= 1,
	XV_WR_SEND_WITH_IMM		= 2,
	XV_WR_RDMA_WRITE		= 3,
	XV_WR_RDMA_WRITE_WITH_IMM	= 4,
	XV_WR_RDMA_READ			= 5,
	XV_WR_ATOMIC_CMP_AND_SWP	= 6,
	XV_WR_ATOMIC_FETCH_AND_ADD	= 7,
	XV_WR_FLUSH			= 8,
	XV_WR_ATOMIC_WRITE		= 9,
	XV_WR_BIND_MW			= 10,
};

/* Flags of struct xv_send. */
#define XV_SEND_SIGNALED	(1U << 0) /* complete when done, not only on error */
#define XV_SEND_FENCE		(1U << 1) /* wait for earlier reads and atomics */
#define XV_SEND_SOLICITED	(1U << 2) /* see XV_ENTER_F_SOLICITED of the peer */
#define XV_SEND_INLINE		(1U << 3) /* the data lies in the entry */

/**
 * struct xv_send - entry of a send ring, 128 bytes
 * @wr_id: returned in the completion
 * @opcode: enum xv_opcode
 * @num_sge: pieces in @sge; 0 is a message without data; must be 0 for inline
 * @flags: XV_SEND_*
 * @imm_data: immediate data, network order, for the opcodes that have it
 * @remote_addr: remote address of writes, reads and atomics; a multiple of 8
 *	for atomics
 * @rkey: remote key for it
 * @inline_len: bytes in @inline_data if %XV_SEND_INLINE is set, else 0
 * @compare_add: value to compare with, or to add
 * @swap: value to swap in
 * @ah: UD: handle of the destination, of the same PD and port; else 0
 * @remote_qpn: UD: QP number there, 24 bits; 0xffffff for a multicast group;
 *	else 0
 * @remote_qkey: UD: its Q_Key; with the highest bit set the Q_Key of the
 *	sending queue pair is sent instead; else 0
 * @reserved: must be 0
 * @sge: the pieces
 * @inline_data: the data, at most %XV_MAX_INLINE bytes; not for reads and
 *	atomics
 *
 * The entry is read once, when it is consumed. See struct xv_enter.
 */
struct xv_send {
	__aligned_u64 wr_id;
	__u8 opcode;
	__u8 num_sge;
	__u16 flags;
	__u32 imm_data;
	__aligned_u64 remote_addr;
	__u32 rkey;
	__u32 inline_len;
	__aligned_u64 compare_add;
	__aligned_u64 swap;
	__u32 ah;
	__u32 remote_qpn;
	__u32 remote_qkey;
	__u32 reserved;
	union {
		struct xv_sge sge[XV_MAX_SEND_SGE];
		__u8 inline_data[XV_MAX_INLINE];
	};
};

/**
 * struct xv_recv - entry of a receive ring, 64 bytes
 * @wr_id: returned in the completion
 * @num_sge: pieces in @sge, 0 to the queue's limit; they need local write
 * @reserved: must be 0
 * @sge: the pieces
 */
struct xv_recv {
	__aligned_u64 wr_id;
	__u32 num_sge;
	__u32 reserved;
	struct xv_sge sge[XV_MAX_RECV_SGE];
};

/**
 * enum xv_wc_status - how an entry ended
 * @XV_WC_SUCCESS: well
 * @XV_WC_LOC_LEN_ERR: a message is longer than its receive, or too long
 * @XV_WC_LOC_QP_OP_ERR: the entry was not consistent
 * @XV_WC_LOC_PROT_ERR: a local piece is not a region of the PD with that right
 * @XV_WC_FLUSH_ERR: not done, since the queue pair has failed
 * @XV_WC_REM_INV_REQ_ERR: the peer found the request invalid
 * @XV_WC_REM_ACCESS_ERR: the peer does not grant that access
 * @XV_WC_REM_OP_ERR: the peer could not do it
 * @XV_WC_RETRY_EXC_ERR: no answer after all retries
 * @XV_WC_RNR_RETRY_EXC_ERR: the peer had no receive after all retries
 * @XV_WC_GENERAL_ERR: another error; see &xv_wc.vendor_err
 */
enum xv_wc_status {
	XV_WC_SUCCESS			= 0,
	XV_WC_LOC_LEN_ERR		= 1,
	XV_WC_LOC_QP_OP_ERR		= 2,
	XV_WC_LOC_PROT_ERR		= 3,
	XV_WC_FLUSH_ERR			= 4,
	XV_WC_REM_INV_REQ_ERR		= 5,
	XV_WC_REM_ACCESS_ERR		= 6,
	XV_WC_REM_OP_ERR		= 7,
	XV_WC_RETRY_EXC_ERR		= 8,
	XV_WC_RNR_RETRY_EXC_ERR		= 9,
	XV_WC_GENERAL_ERR		= 10,
};

/* Flags of struct xv_wc. */
#define XV_WC_RECV		(1U << 0) /* a receive; else a send */
#define XV_WC_WITH_IMM		(1U << 1) /* imm_data is valid */
#define XV_WC_RDMA		(1U << 2) /* the receive was consumed by a write */
#define XV_WC_GRH		(1U << 3) /* UD: the first 40 bytes hold the GRH */

/**
 * struct xv_wc - a completion, 32 bytes
 * @wr_id: of the entry
 * @qp: handle of the queue pair; may have been destroyed since
 * @status: enum xv_wc_status
 * @opcode: enum xv_opcode of a send entry; 0 for a receive
 * @flags: XV_WC_*; %XV_WC_RECV is valid on errors too
 * @byte_len: bytes received, or read; valid on success
 * @imm_data: immediate data, network order
 * @vendor_err: of an error: what the driver adds
 * @src_qp: of a success on UD: QP number of the sender, else 0
 * @slid: UD, InfiniBand link layer: LID of the sender
 * @sl: UD, InfiniBand link layer: service level
 * @net_type: UD, Ethernet link layer: kind of header, for ah.create; 0 if the
 *	driver does not tell
 */
struct xv_wc {
	__aligned_u64 wr_id;
	__u32 qp;
	__u8 status;
	__u8 opcode;
	__u16 flags;
	__u32 byte_len;
	__u32 imm_data;
	union {
		__u32 vendor_err;
		__u32 src_qp;
	};
	__u16 slid;
	__u8 sl;
	__u8 net_type;
};

/**
 * struct xv_ah_wc - a received datagram whose sender is to be addressed
 * @wc: its completion, with %XV_WC_GRH on an Ethernet link layer
 * @grh: the first 40 bytes of its receive
 */
struct xv_ah_wc {
	struct xv_wc wc;
	__u8 grh[40];
};

/**
 * struct xv_qp_ring - head of a queue pair's part of an area, 64 bytes
 * @sends_done: sends whose slot is free again, counted from the start, modulo
 *	2^32; written by the kernel
 * @recvs_done: the same for receives
 * @state: enum xv_qp_state, as the kernel knows it; written by the kernel
 * @generation: changes with each recycle; written by the kernel
 * @reserved: 0
 *
 * Entry number n of a ring, counted from 0 since the QP was made, lies at
 * index n modulo the number of entries; first receives count, although they do
 * not come from the ring. RESET drops what is outstanding: it counts as done.
 * Completions that lie in the CQ's ring by then stay there. At most send_wr
 * (recv_wr) entries may be submitted and not done; ENTER does not consume more.
 */
struct xv_qp_ring {
	__u32 sends_done;
	__u32 recvs_done;
	__u32 state;
	__u32 generation;
	__u32 reserved[12];
};

/**
 * struct xv_srq_ring - head of a shared receive queue's part of an area
 * @recvs_done: receives whose slot is free again, counted from the start,
 *	modulo 2^32; written by the kernel
 * @reserved: 0
 *
 * Entry number n, counted from 0 since the SRQ was made, lies at index n modulo
 * the number of entries, as in a queue pair; first receives count. An entry may
 * be overwritten as soon as it was taken by ENTER. Queue pairs end receives in
 * any order: @recvs_done tells how many have ended, not which.
 */
struct xv_srq_ring {
	__u32 recvs_done;
	__u32 reserved[15];
};

/* Flags of struct xv_cq_ring. */
#define XV_CQ_OVERFLOW		(1U << 0) /* more wait in the kernel: call ENTER */

/**
 * struct xv_cq_ring - head of a completion queue's part of an area, 128 bytes
 * @tail: completions put into the ring, modulo 2^32; written by the kernel
 *	with release semantics after the entries
 * @flags: XV_CQ_*; written by the kernel
 * @reserved: 0
 * @head: completions taken out, modulo 2^32; written by the user with release
 *	semantics after the entries were read
 * @reserved2: 0
 *
 * Completion number n lies at index n modulo the number of entries.
 */
struct xv_cq_ring {
	__u32 tail;
	__u32 flags;
	__u32 reserved[14];
	__u32 head;
	__u32 reserved2[15];
};

/*
 * In &xv_enter_qp.flags: one %XV_EV_ROOM on the event queue of the QP when so
 * many slots of its send queue are free, 1 to its depth, and it can send; after
 * the submission, and at once if that is so by then. As qp.watch_room with
 * cookie 0.
 */
#define XV_ENTER_QP_ROOM(slots)		((__u32)(slots) << 16)
#define XV_ENTER_QP_ROOM_SLOTS(flags)	((flags) >> 16)

/**
 * struct xv_enter_qp - what to submit to one queue pair, and what came of it
 * @qp: handle of a queue pair or SRQ
 * @num_send: entries of the send ring to consume; 0 for an SRQ
 * @num_recv: entries of the receive ring to consume
 * @flags: 0, or %XV_ENTER_QP_ROOM() to be told when send slots are free
 * @sends_taken: out: entries of the send ring that were consumed
 * @recvs_taken: out: entries of the receive ring that were consumed
 * @err: out: 0, or the errno (positive) that stopped this queue pair
 * @reason: out: enum xv_reason for it
 *
 * Receives are taken before sends. An entry that is not taken was not posted
 * and stays where it is. %EAGAIN with %XV_R_QUEUE_FULL: no free slot.
 *
 * A queue pair with an SRQ takes no receives: %EINVAL with %XV_R_HAS_SRQ; and
 * sends to an SRQ are %EINVAL with %XV_R_TYPE.
 */
struct xv_enter_qp {
	__u32 qp;
	__u32 num_send;
	__u32 num_recv;
	__u32 flags;
	__u32 sends_taken;
	__u32 recvs_taken;
	__s32 err;
	__u32 reason;
};

/* Flags of struct xv_enter. */
#define XV_ENTER_F_ARM		(1U << 0)
#define XV_ENTER_F_SOLICITED	(1U << 1)

/**
 * struct xv_enter - argument of %XV_IOC_ENTER: submit, then reap, then wait
 * @flags: XV_ENTER_F_*
 * @num_qps: elements of @qps, 0 to %XV_MAX_ENTER_QPS
 * @qps: user pointer to struct xv_enter_qp: queue pairs and SRQs
 * @cq: handle of the completion queue to reap, or 0
 * @min_complete: wait until so many completions lie in its ring, those of
 *	queue pairs destroyed since included; at most the depth of the CQ; 0: do
 *	not wait
 * @timeout_ns: longest time to wait; negative: no limit; 0: do not wait
 * @num_complete: out: completions in the ring now
 * @reserved: must be 0
 *
 * The queue pairs are served in order; one that can not go on does not stop
 * the others. In states INIT and RTR sends are accepted without being read and
 * are read when the queue pair reaches RTS, or its connection is established;
 * there a bad one completes with an error in its place.
 *
 * If a queue pair was stopped by an error the call does not wait.
 *
 * %XV_ENTER_F_ARM asks for one %XV_EV_COMPLETION on the event queue of the CQ:
 * at once if its ring is not empty, else when a completion arrives.
 *
 * With %XV_ENTER_F_SOLICITED the CQ is watched only for receives whose sender
 * has set %XV_SEND_SOLICITED, and for errors. With %XV_ENTER_F_ARM: the event
 * comes when one arrives after the call; what lies in the ring by then is told
 * by @num_complete alone. When waiting: others do not wake the call, and are
 * counted when it wakes. Both may be woken by others if somebody else watches
 * the CQ for any completion at the same time, or did before and none has come
 * since, or if a queue pair that is attached has failed; and a wait by all of
 * them if no receives are attached. That a queue pair fails by itself while
 * receives are attached is noticed if the driver tells it as the InfiniBand
 * specification has it; rxe may keep it until something else comes.
 *
 * Return: 0 if anything was done: an entry taken, a completion in the ring, or
 * nothing asked for; so after a wait look at @num_complete. Otherwise the error
 * of the first queue pair that has one, or %ETIME, %EINTR; %EIO if the driver
 * does not notify, so that nobody would wake the caller. Other errors
 * (%EFAULT, %EINVAL, %ENOENT for @cq, %ENODEV) are found before anything is
 * done.
 */
struct xv_enter {
	__u32 flags;
	__u32 num_qps;
	__aligned_u64 qps;
	__u32 cq;
	__u32 min_complete;
	__aligned_s64 timeout_ns;
	__u32 num_complete;
	__u32 reserved;
};

/* ------------------------------------------------------------------------
 * Events
 */

/**
 * enum xv_event_type - kinds of events
 * @XV_EV_COMPLETION: a CQ that was armed has completions
 * @XV_EV_DEVICE_REMOVED: the device is gone; the last event of a queue
 * @XV_EV_CQ_ERROR: the CQ has failed
 * @XV_EV_QP_FATAL: the QP has failed
 * @XV_EV_QP_REQUEST_ERROR: the peer violated the protocol
 * @XV_EV_QP_ACCESS_ERROR: the peer violated an access right
 * @XV_EV_COMM_ESTABLISHED: the first message came while the QP was in RTR
 * @XV_EV_QP_LAST_WQE: a failed QP took its last receive from its SRQ; raised
 *	only if the driver does
 * @XV_EV_SRQ_LIMIT: fewer receives are left in an SRQ than its limit says; not
 *	raised again before it is armed again
 * @XV_EV_SRQ_ERROR: the SRQ has failed
 * @XV_EV_ROOM: of a QP: the send slots that were asked for are free, and it can
 *	send; the cookie is the watch's
 * @XV_EV_CONNECT_REQUEST: of a listener: a peer wants to connect; data: the
 *	token of the request
 * @XV_EV_ESTABLISHED: of a connection: both ways are open; comes before any
 *	receive; data: enum xv_conn_cause
 * @XV_EV_CONNECT_FAILED: of a connection: it was never established and never
 *	will be; the only event then; data: positive errno
 * @XV_EV_DISCONNECTED: of a connection: it has ended, and everything that was
 *	outstanding has completed; data: 0 if conn.disconnect was called, else
 *	the positive errno that told why
 * @XV_EV_QP_SQ_DRAINED: the send queue has drained; raised by no driver, as there
 *	is no SQD
 * @XV_EV_QP_PATH_MIGRATED: the QP uses its other path
 * @XV_EV_QP_PATH_ERROR: the QP could not change to its other path
 * @XV_EV_DEVICE_FATAL: the device has failed
 * @XV_EV_PORT_ACTIVE: the port is active; as those that follow: &xv_event.data
 *	is the number of the port
 * @XV_EV_PORT_ERROR: the port is down
 * @XV_EV_LID_CHANGE: the port's LID has changed
 * @XV_EV_PKEY_CHANGE: the port's P_Key table has changed
 * @XV_EV_SM_CHANGE: the port's subnet manager has changed
 * @XV_EV_CLIENT_REREGISTER: the subnet manager wants all memberships anew
 * @XV_EV_GID_CHANGE: the port's GID table has changed: an address came or went
 *
 * Those of the device and its ports come to those who have a subscription.
 */
enum xv_event_type {
	XV_EV_COMPLETION		= 1,
	XV_EV_DEVICE_REMOVED		= 2,
	XV_EV_CQ_ERROR			= 3,
	XV_EV_QP_FATAL			= 4,
	XV_EV_QP_REQUEST_ERROR		= 5,
	XV_EV_QP_ACCESS_ERROR		= 6,
	XV_EV_COMM_ESTABLISHED		= 7,
	XV_EV_QP_LAST_WQE		= 8,
	XV_EV_SRQ_LIMIT			= 9,
	XV_EV_SRQ_ERROR			= 10,
	XV_EV_ROOM			= 11,
	XV_EV_CONNECT_REQUEST		= 12,
	XV_EV_ESTABLISHED		= 13,
	XV_EV_CONNECT_FAILED		= 14,
	XV_EV_DISCONNECTED		= 15,
	XV_EV_QP_SQ_DRAINED		= 16,
	XV_EV_QP_PATH_MIGRATED		= 17,
	XV_EV_QP_PATH_ERROR		= 18,
	XV_EV_DEVICE_FATAL		= 19,
	XV_EV_PORT_ACTIVE		= 20,
	XV_EV_PORT_ERROR		= 21,
	XV_EV_LID_CHANGE		= 22,
	XV_EV_PKEY_CHANGE		= 23,
	XV_EV_SM_CHANGE			= 24,
	XV_EV_CLIENT_REREGISTER		= 25,
	XV_EV_GID_CHANGE		= 26,
};

/**
 * struct xv_event - what read(2) on an event queue returns, 32 bytes each
 * @cookie: of the object, attribute %XV_EVENTS_COOKIE
 * @type: enum xv_event_type
 * @object: enum xv_object of the source
 * @handle: its handle; 0 for the device
 * @count: equal events that were merged into this one, at least 1
 * @reserved: 0
 * @data: depends on @type, else 0; of merged events the last one's
 *
 * read(2) returns whole events, as many as fit; EINVAL if not even one fits;
 * EAGAIN with O_NONBLOCK if there is none. After %XV_EV_DEVICE_REMOVED read(2)
 * gives ENODEV and poll(2) %POLLHUP. After the device file was closed, read(2)
 * gives 0. No read that starts after a destroy has returned gives an event of
 * the destroyed object.
 *
 * An event that poll(2) told of may be gone before it is read: somebody else has
 * read it, its object was destroyed, or the peer has withdrawn its request. So
 * who polls sets O_NONBLOCK.
 */
struct xv_event {
	__aligned_u64 cookie;
	__u16 type;
	__u16 object;
	__u32 handle;
	__u32 count;
	__u32 reserved;
	__aligned_u64 data;
};

#endif /* _UAPI_RDMA_XVERBS_H */
