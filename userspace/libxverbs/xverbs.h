/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libxverbs: RDMA objects made and destroyed in transactions.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * The library is thin: one call is one ioctl, and it has no policy. What an
 * object, an attribute or an errno means stands in <rdma/xverbs.h>.
 *
 * Rules of every function here, unless it says otherwise:
 *
 * * It returns 0 or a negative errno, and leaves errno as it was.
 * * Nothing is hidden: no threads, no global state, no signal handlers, and no
 *   memory is allocated by xv_get_*, xv_post_*, xv_enter, xv_submit*, xv_wait,
 *   xv_poll and xv_event_read.
 * * Only a lock conflict (EBUSY with %XV_R_LOCK_CONFLICT) is tried again, a
 *   bounded number of times, at most about 50 ms. EINTR is handed to the
 *   caller; nothing was done then, so the same call may just be made again.
 * * Option structs carry their size first and every other field may be 0,
 *   which is the default. XV_OPTS() fills in the size.
 *
 * Threads. Different contexts have nothing in common. In one context different
 * threads may work at the same time on different transactions (struct xv_tx),
 * different queue pairs and different completion queues; one transaction, queue
 * pair or completion queue belongs to one thread at a time. xv_now() is a
 * transaction like others: one thread at a time. Destroying a queue pair also
 * uses its completion queues. A shared receive queue belongs to one thread at a
 * time, whoever has the queue pairs. xv_close() must be the last call.
 *
 * fork(2). The rings are not mapped in the child: it must not touch queue pairs
 * and completion queues of its parent. It may close() the file descriptors,
 * which are O_CLOEXEC; the objects live until the last copy is closed.
 */
#ifndef _XVERBS_H
#define _XVERBS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <rdma/xverbs.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XV_VERSION_MAJOR	1
#define XV_VERSION_MINOR	0

/**
 * XV_OPTS() - an option struct with its size filled in
 * @type: name of the struct
 *
 * As in xv_cq_create(tx, &cq, XV_OPTS(xv_cq_opts, .cqe = 64)). C only.
 */
#define XV_OPTS(type, ...)						\
	(&(const struct type){ .size = sizeof(struct type), __VA_ARGS__ })

/* ------------------------------------------------------------------------
 * Devices and contexts
 */

struct xv_ctx;
struct xv_tx;

/**
 * struct xv_device - one RDMA device that has an xverbs node
 * @name: name of the RDMA device, like rxe0
 * @node: path of the node, like /dev/infiniband/xverbs0
 * @index: index of the device in nldev
 * @abi_version: %XV_ABI_VERSION of the kernel
 * @rdev: device number of the node
 */
struct xv_device {
	char name[64];
	char node[96];
	uint32_t index;
	uint32_t abi_version;
	uint64_t rdev;
};

/**
 * xv_device_list() - the devices of this network namespace that have a node
 * @list: gets an array, to be freed with xv_device_list_free()
 * @num: gets the number of its elements; 0 is no error
 *
 * Any thread. Asks the kernel by netlink and loads the module if it is
 * installed and not yet there.
 *
 * Return: 0; -ENODEV without RDMA netlink; -ENOMEM, -EMFILE, -ENFILE, -EPERM;
 * -EAGAIN if devices come and go meanwhile; -EIO.
 */
int xv_device_list(struct xv_device **list, unsigned int *num);

/**
 * xv_device_list_free() - free what xv_device_list() returned
 * @list: the array, or NULL
 */
void xv_device_list_free(struct xv_device *list);

/**
 * xv_open() - open a device
 * @name: name of the RDMA device (rxe0) or of its node (xverbs0); NULL: the
 *	first device
 * @flags: must be 0
 * @ctx: gets the context
 *
 * Any thread. The node is opened by its name and used only if its device number
 * is the one that the kernel names; a node that udev has not made yet is waited
 * for, up to 2 seconds.
 *
 * Return: 0; -EINVAL for flags; -ENODEV if there is no such device; -ENXIO if
 * the node is another device; -EACCES, -EPERM without the right to open it;
 * -EPROTO if the kernel has another ABI version; -ENOMEM.
 */
int xv_open(const char *name, int flags, struct xv_ctx **ctx);

/**
 * xv_open_fd() - make a context from an open file
 * @fd: file descriptor of a node; it is duplicated and stays the caller's
 * @flags: must be 0
 * @ctx: gets the context
 *
 * Any thread. Handles belong to the open file, so both contexts see the same
 * objects; each maps the rings by itself.
 *
 * Return: 0; -EINVAL for flags; -EBADF, -EMFILE, -ENOMEM; -ENOTTY if it is no
 * such file.
 */
int xv_open_fd(int fd, int flags, struct xv_ctx **ctx);

/**
 * xv_close() - unmap the rings, close the file and free the context
 * @ctx: the context, or NULL
 *
 * The kernel destroys all objects when the last copy of the file is closed.
 * Event queues are files of their own and stay open. Transactions of the
 * context must have been freed before.
 */
void xv_close(struct xv_ctx *ctx);

/**
 * xv_fd() - the file descriptor of a context
 * @ctx: the context
 *
 * Return: the descriptor, which stays the context's.
 */
int xv_fd(const struct xv_ctx *ctx);

/**
 * xv_num_ioctls() - ioctls made so far through a context
 * @ctx: the context
 *
 * For tests and for measuring. The number may lag behind other threads.
 *
 * Return: the number, modulo 2^64.
 */
uint64_t xv_num_ioctls(const struct xv_ctx *ctx);

/* ------------------------------------------------------------------------
 * Objects on the user's side
 *
 * The caller provides the memory; zero it before the first use. A create fills
 * it when the transaction commits. From the create to the commit of the destroy
 * the struct must stay where it is. Fields marked "public" may be read.
 */

#define XV_NOT_PENDING	0xffffffffU

/**
 * struct xv_obj - what all objects have in common
 * @ctx: context, set by the create
 * @tx: transaction that will make the object, or NULL
 * @handle: public: the handle; 0 if there is no object (yet)
 * @op: index of the create in @tx
 */
struct xv_obj {
	struct xv_ctx *ctx;
	struct xv_tx *tx;
	uint32_t handle;
	uint32_t op;
};

/**
 * struct xv_eventq - an event queue
 * @obj: common part; the handle is not used
 * @fd: public: the file descriptor while the queue is open
 * @open: public: 1 while it is open
 * @reserved: 0
 */
struct xv_eventq {
	struct xv_obj obj;
	int fd;
	int open;
	uint64_t reserved[2];
};

/**
 * struct xv_pd - a protection domain
 * @obj: common part
 * @reserved: 0
 */
struct xv_pd {
	struct xv_obj obj;
	uint64_t reserved[2];
};

/**
 * struct xv_mr - a memory region
 * @obj: common part
 * @info: public: what the kernel said when it was made: address, length, iova,
 *	rkey
 * @reserved: 0
 */
struct xv_mr {
	struct xv_obj obj;
	struct xv_mr_info info;
	uint64_t reserved[4];
};

/**
 * struct xv_cq - a completion queue
 * @obj: common part
 * @ring: head of the mapped ring
 * @wcs: its completions
 * @mask: entries of the ring, less one
 * @head: completions taken out
 * @num_dead: elements of @dead
 * @max_dead: room in @dead
 * @dead: handles of queue pairs destroyed while the ring overflowed
 * @info: public: what the kernel said when it was made
 * @reserved: 0
 */
struct xv_cq {
	struct xv_obj obj;
	struct xv_cq_ring *ring;
	struct xv_wc *wcs;
	uint32_t mask;
	uint32_t head;
	uint32_t num_dead;
	uint32_t max_dead;
	uint32_t *dead;
	struct xv_cq_info info;
	uint64_t reserved[8];
};

/**
 * struct xv_qp - a queue pair
 * @obj: common part
 * @ring: head of the mapped rings
 * @sends: the send ring
 * @recvs: the receive ring
 * @send_cq: completion queue of the sends
 * @recv_cq: completion queue of the receives
 * @send_mask: entries of the send ring, less one
 * @recv_mask: entries of the receive ring, less one
 * @send_wr: public: depth of the send queue
 * @recv_wr: public: depth of the receive queue
 * @send_tail: send entries filled in
 * @send_taken: send entries taken by the kernel
 * @recv_tail: receive entries filled in
 * @recv_taken: receive entries taken by the kernel
 * @err: public: positive errno which stopped the QP in the last submission
 * @reason: public: enum xv_reason for it
 * @info: public: what the kernel said when it was made: QP number, PSN
 * @room: set by the caller: with the next submission ask for one %XV_EV_ROOM
 *	when so many send slots are free; see xv_qp_watch_room(). 0 again when
 *	the kernel has taken it
 * @reserved32: 0
 * @reserved: 0
 */
struct xv_qp {
	struct xv_obj obj;
	struct xv_qp_ring *ring;
	struct xv_send *sends;
	struct xv_recv *recvs;
	struct xv_cq *send_cq;
	struct xv_cq *recv_cq;
	uint32_t send_mask;
	uint32_t recv_mask;
	uint32_t send_wr;
	uint32_t recv_wr;
	uint32_t send_tail;
	uint32_t send_taken;
	uint32_t recv_tail;
	uint32_t recv_taken;
	int32_t err;
	uint32_t reason;
	struct xv_qp_info info;
	uint32_t room;
	uint32_t reserved32;
	uint64_t reserved[6];
};

/**
 * struct xv_srq - a shared receive queue
 * @obj: common part
 * @ring: head of the mapped ring
 * @recvs: the ring
 * @recv_mask: entries of the ring, less one
 * @recv_wr: public: depth of the queue
 * @recv_tail: entries filled in
 * @recv_taken: entries taken by the kernel
 * @err: public: positive errno which stopped the SRQ in the last submission
 * @reason: public: enum xv_reason for it
 * @info: public: what the kernel said when it was made
 * @reserved: 0
 */
struct xv_srq {
	struct xv_obj obj;
	struct xv_srq_ring *ring;
	struct xv_recv *recvs;
	uint32_t recv_mask;
	uint32_t recv_wr;
	uint32_t recv_tail;
	uint32_t recv_taken;
	int32_t err;
	uint32_t reason;
	struct xv_srq_info info;
	uint64_t reserved[8];
};

/* ------------------------------------------------------------------------
 * Transactions
 *
 * Every typed call below takes a transaction. With xv_now(ctx) it is executed
 * at once, and what it returns is its result. With a transaction of
 * xv_txn_begin() it only adds an operation, and xv_txn_commit() executes all
 * of them. An object which is created in a transaction can be used at once by
 * later operations of the same one.
 */

#define XV_TXN_NOW	(1U << 31)

/**
 * xv_txn_begin() - make a transaction
 * @ctx: the context
 * @flags: 0; %XV_TXN_F_BATCH; or %XV_TXN_NOW: each typed call is executed at
 *	once, as with xv_now(), with an error record of its own
 * @tx: gets the transaction, which is empty
 *
 * A transaction can be used again after a commit; xv_txn_free() ends it.
 *
 * Return: 0; -EINVAL for flags; -ENOMEM.
 */
int xv_txn_begin(struct xv_ctx *ctx, unsigned int flags, struct xv_tx **tx);

/**
 * xv_txn_free() - free a transaction; what was not committed is forgotten
 * @tx: the transaction, or NULL; not one of xv_now()
 */
void xv_txn_free(struct xv_tx *tx);

/**
 * xv_txn_reset() - forget the operations of a transaction
 * @tx: the transaction
 *
 * Needed only to give up operations that were not committed.
 */
void xv_txn_reset(struct xv_tx *tx);

/**
 * xv_txn_commit() - execute the operations, all or none
 * @tx: the transaction
 * @err: gets the error record (all zero on success), or NULL
 *
 * One ioctl, unless locks conflict. Afterwards, whatever the outcome, the
 * transaction is empty: the next operation added is its first. The operations
 * are remembered until then, for xv_error_text().
 *
 * If an operation could not be added, the error that the call returned then is
 * returned here again, with a record, and nothing is executed.
 *
 * If the kernel has made objects but their rings can not be mapped, they are
 * destroyed again and the error of mmap(2) is returned (with err->op
 * %XV_NO_OP); destroys of the same transaction stand.
 *
 * Return: 0, or with %XV_TXN_F_BATCH the number of operations done; -EINVAL if
 * the transaction is empty; -ENOMEM; the errors of %XV_IOC_TXN.
 */
int xv_txn_commit(struct xv_tx *tx, struct xv_error *err);

/**
 * xv_txn_error() - the error record of the last commit
 * @tx: the transaction, xv_now() included
 *
 * Return: the record, valid until the next commit; err is 0 after a success.
 */
const struct xv_error *xv_txn_error(const struct xv_tx *tx);

/**
 * xv_txn_num_ops() - operations added so far
 * @tx: the transaction
 *
 * Return: the number; the next operation gets it as its index.
 */
unsigned int xv_txn_num_ops(const struct xv_tx *tx);

/**
 * xv_now() - the context's own transaction, which executes each call at once
 * @ctx: the context
 *
 * Return: the transaction. One thread at a time may use it.
 */
struct xv_tx *xv_now(struct xv_ctx *ctx);

/* ------------------------------------------------------------------------
 * Transactions, raw: any content, also wrong ones. For tests and tools
 */

/**
 * xv_txn_op() - begin an operation
 * @tx: the transaction; with xv_now() the operation waits for xv_txn_commit()
 * @object: enum xv_object
 * @method: enum xv_method
 *
 * Return: the index of the operation; -ENOMEM; -E2BIG.
 */
int xv_txn_op(struct xv_tx *tx, unsigned int object, unsigned int method);

/**
 * xv_txn_attr() - add an attribute to the operation begun last
 * @tx: the transaction
 * @group: enum xv_group
 * @id: the attribute
 * @len: its length
 * @flags: XV_ATTR_F_*
 * @data: value or pointer
 *
 * Return: 0; -EINVAL if there is no operation; -ENOMEM; -E2BIG.
 */
int xv_txn_attr(struct xv_tx *tx, unsigned int group, unsigned int id,
		unsigned int len, unsigned int flags, uint64_t data);

/** xv_txn_attr_u32() - a 32 bit number, flags or enumeration; as xv_txn_attr() */
int xv_txn_attr_u32(struct xv_tx *tx, unsigned int group, unsigned int id,
		    uint32_t val);
/** xv_txn_attr_u64() - a 64 bit number; as xv_txn_attr() */
int xv_txn_attr_u64(struct xv_tx *tx, unsigned int group, unsigned int id,
		    uint64_t val);
/** xv_txn_attr_handle() - a handle; as xv_txn_attr() */
int xv_txn_attr_handle(struct xv_tx *tx, unsigned int group, unsigned int id,
		       uint32_t handle);
/** xv_txn_attr_ref() - the object that operation @op makes; as xv_txn_attr() */
int xv_txn_attr_ref(struct xv_tx *tx, unsigned int group, unsigned int id,
		    unsigned int op);
/** xv_txn_attr_new() - a new handle; see xv_txn_get(); as xv_txn_attr() */
int xv_txn_attr_new(struct xv_tx *tx, unsigned int group, unsigned int id);
/**
 * xv_txn_attr_in() - an input buffer; as xv_txn_attr()
 * @tx: the transaction
 * @group: enum xv_group
 * @id: the attribute
 * @buf: the bytes
 * @len: how many, 0 to 65535
 *
 * Up to 8 bytes are copied into the attribute. More stay where they are, and
 * must until the commit.
 *
 * Return: as xv_txn_attr().
 */
int xv_txn_attr_in(struct xv_tx *tx, unsigned int group, unsigned int id,
		   const void *buf, unsigned int len);
/** xv_txn_attr_out() - an output buffer; as xv_txn_attr() */
int xv_txn_attr_out(struct xv_tx *tx, unsigned int group, unsigned int id,
		    void *buf, unsigned int len);

/**
 * xv_txn_get() - an attribute as it is now, after a commit as written back
 * @tx: the transaction
 * @op: index of the operation
 * @group: enum xv_group
 * @id: the attribute
 * @attr: gets a copy
 *
 * Return: 0; -ENOENT.
 */
int xv_txn_get(const struct xv_tx *tx, unsigned int op, unsigned int group,
	       unsigned int id, struct xv_attr *attr);

/**
 * xv_txn_wire() - the message as it would go to the kernel
 * @tx: the transaction
 * @len: gets its length, or NULL
 *
 * The content may be changed before it is given to xv_txn_raw(). It is valid
 * until the next call on @tx.
 *
 * Return: the message; never NULL.
 */
struct xv_txn *xv_txn_wire(struct xv_tx *tx, size_t *len);

/**
 * xv_txn_raw() - %XV_IOC_TXN with any message, no retries, nothing added
 * @ctx: the context
 * @wire: the message
 *
 * Any thread.
 *
 * Return: what the ioctl returned, or its errno, negative.
 */
int xv_txn_raw(struct xv_ctx *ctx, void *wire);

/* ------------------------------------------------------------------------
 * Device
 */

/**
 * xv_device_query() - the device and what lives on this file
 * @tx: transaction or xv_now()
 * @info: gets the answer
 *
 * Return: 0; -ENOMEM, -E2BIG; with xv_now() also what xv_txn_commit() returns.
 * All typed calls below return the same.
 */
int xv_device_query(struct xv_tx *tx, struct xv_device_info *info);

/**
 * xv_device_query_port() - a port of the device
 * @tx: transaction or xv_now()
 * @port: number of the port, from 1
 * @info: gets the answer
 */
int xv_device_query_port(struct xv_tx *tx, unsigned int port,
			 struct xv_port_info *info);

/**
 * xv_device_query_gid() - an entry of a port's GID table
 * @tx: transaction or xv_now()
 * @port: number of the port, from 1
 * @index: index of the entry, from 0
 * @info: gets the answer
 */
int xv_device_query_gid(struct xv_tx *tx, unsigned int port,
			unsigned int index, struct xv_gid_info *info);

/**
 * xv_device_describe() - the tables of this kernel, into a buffer
 * @tx: transaction or xv_now()
 * @buf: gets a struct xv_describe and what follows it
 * @len: room there in bytes, at most 65535
 *
 * Most callers want xv_describe().
 */
int xv_device_describe(struct xv_tx *tx, void *buf, unsigned int len);

/* ------------------------------------------------------------------------
 * Objects
 */

/**
 * xv_eventq_create() - make an event queue
 * @tx: transaction or xv_now()
 * @eq: gets the event queue
 */
int xv_eventq_create(struct xv_tx *tx, struct xv_eventq *eq);

/**
 * xv_eventq_close() - close an event queue
 * @eq: the event queue; nothing happens if it is not open
 */
void xv_eventq_close(struct xv_eventq *eq);

/**
 * xv_pd_create() - make a protection domain
 * @tx: transaction or xv_now()
 * @pd: gets the protection domain
 */
int xv_pd_create(struct xv_tx *tx, struct xv_pd *pd);

/**
 * xv_pd_query() - ask a protection domain
 * @tx: transaction or xv_now()
 * @pd: the protection domain
 * @info: gets the answer
 */
int xv_pd_query(struct xv_tx *tx, struct xv_pd *pd, struct xv_pd_info *info);

/**
 * xv_pd_destroy() - destroy a protection domain
 * @tx: transaction or xv_now()
 * @pd: the protection domain; its handle is 0 once it is gone
 *
 * -EBUSY while anything depends on it that does not go in the same transaction.
 */
int xv_pd_destroy(struct xv_tx *tx, struct xv_pd *pd);

/**
 * struct xv_mr_opts - what a memory region shall be
 * @size: bytes of this struct
 * @access: XV_ACCESS_*; 0: local reads only
 * @pd: its protection domain
 * @addr: first byte
 * @length: bytes
 * @iova: address that a remote side uses for @addr; 0: the same
 */
struct xv_mr_opts {
	uint32_t size;
	uint32_t access;
	struct xv_pd *pd;
	void *addr;
	uint64_t length;
	uint64_t iova;
};

/**
 * xv_mr_create() - register memory
 * @tx: transaction or xv_now()
 * @mr: gets the memory region
 * @opts: what it shall be
 */
int xv_mr_create(struct xv_tx *tx, struct xv_mr *mr,
		 const struct xv_mr_opts *opts);

/** xv_mr_query() - ask a memory region; as xv_pd_query() */
int xv_mr_query(struct xv_tx *tx, struct xv_mr *mr, struct xv_mr_info *info);

/** xv_mr_destroy() - end the registration; as xv_pd_destroy() */
int xv_mr_destroy(struct xv_tx *tx, struct xv_mr *mr);

/**
 * XV_EVENT_BIT() - a kind of event in a mask
 * @type: enum xv_event_type
 */
#define XV_EVENT_BIT(type)	(1ULL << (type))

/**
 * struct xv_cq_opts - what a completion queue shall be
 * @size: bytes of this struct
 * @cqe: completions that it can hold, at least the depths of all send and
 *	receive queues attached to it
 * @comp_vector: completion vector
 * @reserved: 0
 * @eventq: where its events go, or NULL
 * @cookie: 64 bits that its events carry
 * @event_mask: which kinds of events are wanted: XV_EVENT_BIT(); 0: all
 */
struct xv_cq_opts {
	uint32_t size;
	uint32_t cqe;
	uint32_t comp_vector;
	uint32_t reserved;
	struct xv_eventq *eventq;
	uint64_t cookie;
	uint64_t event_mask;
};

/**
 * xv_cq_create() - make a completion queue
 * @tx: transaction or xv_now()
 * @cq: gets the completion queue
 * @opts: what it shall be
 */
int xv_cq_create(struct xv_tx *tx, struct xv_cq *cq,
		 const struct xv_cq_opts *opts);

/**
 * xv_cq_moderate() - fewer notifications, for more completions each
 * @tx: transaction or xv_now()
 * @cq: the completion queue
 * @count: notify after so many completions, at most 65535
 * @period: or after so many microseconds, at most 65535; 0 and 0: at once
 *
 * -EOPNOTSUPP with %XV_R_CAPABILITY if the driver has none, as rxe.
 */
int xv_cq_moderate(struct xv_tx *tx, struct xv_cq *cq, unsigned int count,
		   unsigned int period);

/** xv_cq_query() - ask a completion queue; as xv_pd_query() */
int xv_cq_query(struct xv_tx *tx, struct xv_cq *cq, struct xv_cq_info *info);

/** xv_cq_destroy() - destroy a completion queue; as xv_pd_destroy() */
int xv_cq_destroy(struct xv_tx *tx, struct xv_cq *cq);

/**
 * struct xv_srq_opts - what a shared receive queue shall be
 * @size: bytes of this struct
 * @recv_wr: receives outstanding at a time
 * @recv_sge: pieces of one receive; 0: 1
 * @limit: raise %XV_EV_SRQ_LIMIT when fewer receives are left; 0: do not
 * @pd: its protection domain, that of the queue pairs which use it
 * @eventq: where its events go, or NULL
 * @cookie: 64 bits that its events carry
 */
struct xv_srq_opts {
	uint32_t size;
	uint32_t recv_wr;
	uint32_t recv_sge;
	uint32_t limit;
	struct xv_pd *pd;
	struct xv_eventq *eventq;
	uint64_t cookie;
};

/**
 * xv_srq_create() - make a shared receive queue
 * @tx: transaction or xv_now()
 * @srq: gets the shared receive queue
 * @opts: what it shall be
 */
int xv_srq_create(struct xv_tx *tx, struct xv_srq *srq,
		  const struct xv_srq_opts *opts);

/**
 * xv_srq_post_recv() - the first receives of an SRQ made in the same transaction
 * @tx: transaction
 * @srq: the shared receive queue, created earlier in @tx
 * @recvs: the entries; they are copied. Pieces made by xv_sge_at() may name
 *	memory regions created earlier in @tx
 * @n: their number, at most the depth of the queue
 */
int xv_srq_post_recv(struct xv_tx *tx, struct xv_srq *srq,
		     const struct xv_recv *recvs, unsigned int n);

/**
 * xv_srq_modify() - arm the limit of a shared receive queue
 * @tx: transaction or xv_now()
 * @srq: the shared receive queue
 * @limit: raise one %XV_EV_SRQ_LIMIT when fewer receives are left; 0: do not
 */
int xv_srq_modify(struct xv_tx *tx, struct xv_srq *srq, uint32_t limit);

/** xv_srq_query() - ask a shared receive queue; as xv_pd_query() */
int xv_srq_query(struct xv_tx *tx, struct xv_srq *srq,
		 struct xv_srq_info *info);

/**
 * xv_srq_destroy() - destroy a shared receive queue; as xv_pd_destroy()
 * @tx: transaction or xv_now()
 * @srq: the shared receive queue
 *
 * What lies in it has no completion.
 */
int xv_srq_destroy(struct xv_tx *tx, struct xv_srq *srq);

struct xv_qp_attr;

/**
 * struct xv_qp_opts - what a queue pair shall be
 * @size: bytes of this struct
 * @type: enum xv_qp_type; 0: %XV_QPT_RC
 * @pd: its protection domain
 * @send_cq: completion queue of the sends
 * @recv_cq: completion queue of the receives; NULL: @send_cq
 * @eventq: where its events go, or NULL
 * @cookie: 64 bits that its events carry
 * @send_wr: sends outstanding at a time
 * @recv_wr: receives outstanding at a time; 0 with @srq
 * @send_sge: pieces of one send; 0: 1
 * @recv_sge: pieces of one receive; 0: 1, or what @srq allows
 * @sq_sig_all: 1: every send completes
 * @access: XV_ACCESS_REMOTE_*, what the peer may do
 * @port: port of the device; 0: 1; not used with @connect
 * @pkey_index: entry of the port's P_Key table; not used with @connect
 * @connect: the peer and the way there, if both are known already: the queue
 *	pair is in RTS after the commit, its first receives posted before. NULL:
 *	it stays in INIT, for xv_qp_connect(). Its access is not used. A queue
 *	pair of type UD has no peer: it takes its port, P_Key and Q_Key from
 *	here and stays in INIT
 * @srq: shared receive queue to take receives from, or NULL
 * @event_mask: which kinds of events are wanted: XV_EVENT_BIT(); 0: all
 */
struct xv_qp_opts {
	uint32_t size;
	uint32_t type;
	struct xv_pd *pd;
	struct xv_cq *send_cq;
	struct xv_cq *recv_cq;
	struct xv_eventq *eventq;
	uint64_t cookie;
	uint32_t send_wr;
	uint32_t recv_wr;
	uint32_t send_sge;
	uint32_t recv_sge;
	uint32_t sq_sig_all;
	uint32_t access;
	uint32_t port;
	uint32_t pkey_index;
	const struct xv_qp_attr *connect;
	struct xv_srq *srq;
	uint64_t event_mask;
};

/**
 * xv_qp_create() - make a queue pair, in state INIT or connected
 * @tx: transaction or xv_now()
 * @qp: gets the queue pair
 * @opts: what it shall be
 */
int xv_qp_create(struct xv_tx *tx, struct xv_qp *qp,
		 const struct xv_qp_opts *opts);

/**
 * xv_qp_post_recv() - the first receives of a QP made in the same transaction
 * @tx: transaction
 * @qp: the queue pair, created earlier in @tx
 * @recvs: the entries; they are copied. Pieces made by xv_sge_at() may name
 *	memory regions created earlier in @tx
 * @n: their number, at most the depth of the receive queue
 */
int xv_qp_post_recv(struct xv_tx *tx, struct xv_qp *qp,
		    const struct xv_recv *recvs, unsigned int n);

/* Bits of &xv_qp_attr.zero. */
#define XV_ZERO_PATH(id)	(1ULL << (id))		/* XV_PATH_* */
#define XV_ZERO_ACCESS		(1ULL << 63)

/**
 * struct xv_qp_attr - attributes for xv_qp_modify() and xv_qp_connect()
 * @size: bytes of this struct
 * @state: enum xv_qp_state to go to; xv_qp_modify() only
 * @zero: the fields where 0 is meant and not the default: XV_ZERO_*
 * @access: XV_ACCESS_REMOTE_*, what the peer may do
 * @qpn: address: QP number of the peer; 0: no address (@psn and so on) is sent,
 *	as for type UD
 * @psn: address: first packet sequence number that the peer sends
 * @lid: address: LID of the peer
 * @gid: address: GID of the peer; not sent if all zero
 * @port: path, as are all that follow; see enum xv_attr_path for meaning, units
 *	and defaults
 * @sgid_index: see there
 * @pkey_index: see there
 * @path_mtu: see there
 * @sl: see there
 * @traffic_class: see there
 * @flow_label: see there
 * @hop_limit: see there
 * @timeout: see there
 * @retry_cnt: see there
 * @rnr_retry: see there
 * @min_rnr_timer: see there
 * @rd_atomic: see there
 * @dest_rd_atomic: see there
 * @sq_psn: see there
 * @qkey: see there
 */
struct xv_qp_attr {
	uint32_t size;
	uint32_t state;
	uint64_t zero;
	uint32_t access;
	uint32_t qpn;
	uint32_t psn;
	uint32_t lid;
	uint8_t gid[16];
	uint32_t port;
	uint32_t sgid_index;
	uint32_t pkey_index;
	uint32_t path_mtu;
	uint32_t sl;
	uint32_t traffic_class;
	uint32_t flow_label;
	uint32_t hop_limit;
	uint32_t timeout;
	uint32_t retry_cnt;
	uint32_t rnr_retry;
	uint32_t min_rnr_timer;
	uint32_t rd_atomic;
	uint32_t dest_rd_atomic;
	uint32_t sq_psn;
	uint32_t qkey;
};

/**
 * xv_qp_connect() - take a queue pair from RESET or INIT to RTS
 * @tx: transaction or xv_now()
 * @qp: the queue pair
 * @attr: the peer, and the way there
 */
int xv_qp_connect(struct xv_tx *tx, struct xv_qp *qp,
		  const struct xv_qp_attr *attr);

/**
 * xv_qp_modify() - change the state or attributes of a queue pair
 * @tx: transaction or xv_now()
 * @qp: the queue pair
 * @attr: the new state and attributes
 */
int xv_qp_modify(struct xv_tx *tx, struct xv_qp *qp,
		 const struct xv_qp_attr *attr);

/** xv_qp_query() - ask a queue pair; as xv_pd_query() */
int xv_qp_query(struct xv_tx *tx, struct xv_qp *qp, struct xv_qp_info *info);

/**
 * xv_qp_destroy() - destroy a queue pair
 * @tx: transaction or xv_now()
 * @qp: the queue pair
 *
 * As xv_pd_destroy(). xv_poll() returns none of its completions afterwards, not
 * even of receives of an SRQ: poll before.
 */
int xv_qp_destroy(struct xv_tx *tx, struct xv_qp *qp);

/**
 * struct xv_ah - an address handle, a destination of datagrams
 * @obj: common part
 * @info: public: what the kernel said when it was made
 * @reserved: 0
 */
struct xv_ah {
	struct xv_obj obj;
	struct xv_ah_info info;
	uint64_t reserved[4];
};

/**
 * struct xv_ah_opts - what an address handle shall be
 * @size: bytes of this struct
 * @port: port of the device; 0: 1
 * @pd: its protection domain, that of the queue pairs which send there
 * @gid: remote GID; not sent if all zero
 * @lid: remote LID
 * @sgid_index: as all that follow: see enum xv_attr_path
 * @sl: see there
 * @traffic_class: see there
 * @flow_label: see there
 * @hop_limit: see there
 * @reserved: 0
 */
struct xv_ah_opts {
	uint32_t size;
	uint32_t port;
	struct xv_pd *pd;
	uint8_t gid[16];
	uint32_t lid;
	uint32_t sgid_index;
	uint32_t sl;
	uint32_t traffic_class;
	uint32_t flow_label;
	uint32_t hop_limit;
	uint64_t reserved;
};

/**
 * xv_ah_create() - make an address handle
 * @tx: transaction or xv_now()
 * @ah: gets the address handle
 * @opts: what it shall be
 *
 * May sleep for as long as neighbour discovery takes.
 */
int xv_ah_create(struct xv_tx *tx, struct xv_ah *ah,
		 const struct xv_ah_opts *opts);

/* Bytes at the start of each receive on a queue pair of type UD. */
#define XV_GRH_LEN	40

/**
 * xv_ah_create_from_wc() - make an address handle that leads to a sender
 * @tx: transaction or xv_now()
 * @ah: gets the address handle
 * @pd: its protection domain
 * @port: port of the device where the datagram came in; 0: 1
 * @wc: completion of the datagram's receive; it is copied
 * @grh: the first %XV_GRH_LEN bytes of that receive, which are copied, or NULL
 *	if the completion has not %XV_WC_GRH
 *
 * The sender's QP number is &xv_wc.src_qp; its Q_Key must be known.
 */
int xv_ah_create_from_wc(struct xv_tx *tx, struct xv_ah *ah, struct xv_pd *pd,
			 unsigned int port, const struct xv_wc *wc,
			 const void *grh);

/** xv_ah_query() - ask an address handle; as xv_pd_query() */
int xv_ah_query(struct xv_tx *tx, struct xv_ah *ah, struct xv_ah_info *info);

/**
 * xv_ah_destroy() - destroy an address handle
 * @tx: transaction or xv_now()
 * @ah: the address handle
 *
 * As xv_pd_destroy(). Sends to it that have not completed yet may end with an
 * error or be lost.
 */
int xv_ah_destroy(struct xv_tx *tx, struct xv_ah *ah);

/**
 * struct xv_mcast - membership of a queue pair in a multicast group
 * @obj: common part
 * @info: public: what the kernel said when it was made
 * @reserved: 0
 */
struct xv_mcast {
	struct xv_obj obj;
	struct xv_mcast_info info;
	uint64_t reserved[4];
};

/**
 * struct xv_mcast_opts - what a membership shall be
 * @size: bytes of this struct
 * @join: enum xv_mcast_join; 0: %XV_MCAST_JOIN
 * @qp: a queue pair of type UD
 * @gid: the group; see xv_mcast_gid()
 * @lid: LID of the group, InfiniBand link layer
 * @sgid_index: entry of the port's GID table whose network interface joins
 * @reserved: 0
 */
struct xv_mcast_opts {
	uint32_t size;
	uint32_t join;
	struct xv_qp *qp;
	uint8_t gid[16];
	uint32_t lid;
	uint32_t sgid_index;
	uint64_t reserved;
};

struct sockaddr;

/* Where a datagram for a multicast group goes, as &xv_send.remote_qpn. */
#define XV_MCAST_QPN	0xffffffU

/**
 * xv_mcast_gid() - the GID of an IP multicast group
 * @addr: the group, AF_INET or AF_INET6; the port is not used
 * @gid: gets the GID, 16 bytes
 *
 * For the membership, and for an address handle (&xv_ah_opts.gid) by which to
 * send there.
 *
 * Return: 0; -EINVAL if it is no multicast address; -EAFNOSUPPORT.
 */
int xv_mcast_gid(const struct sockaddr *addr, uint8_t *gid);

/**
 * xv_mcast_create() - enter a multicast group
 * @tx: transaction or xv_now()
 * @mcast: gets the membership
 * @opts: what it shall be
 *
 * The queue pair can not be destroyed before the membership; one transaction
 * may destroy both.
 */
int xv_mcast_create(struct xv_tx *tx, struct xv_mcast *mcast,
		    const struct xv_mcast_opts *opts);

/** xv_mcast_query() - ask a membership; as xv_pd_query() */
int xv_mcast_query(struct xv_tx *tx, struct xv_mcast *mcast,
		   struct xv_mcast_info *info);

/** xv_mcast_destroy() - leave a multicast group; as xv_pd_destroy() */
int xv_mcast_destroy(struct xv_tx *tx, struct xv_mcast *mcast);

/**
 * struct xv_subscription - events of the device and its ports
 * @obj: common part
 * @reserved: 0
 */
struct xv_subscription {
	struct xv_obj obj;
	uint64_t reserved[2];
};

/**
 * struct xv_subscription_opts - what a subscription shall be
 * @size: bytes of this struct
 * @port: port of the device; 0: all
 * @eventq: where its events go
 * @cookie: 64 bits that its events carry
 * @event_mask: which kinds of events are wanted: XV_EVENT_BIT(); 0: all
 */
struct xv_subscription_opts {
	uint32_t size;
	uint32_t port;
	struct xv_eventq *eventq;
	uint64_t cookie;
	uint64_t event_mask;
};

/**
 * xv_subscription_create() - be told of events of the device and its ports
 * @tx: transaction or xv_now()
 * @sub: gets the subscription
 * @opts: what it shall be
 */
int xv_subscription_create(struct xv_tx *tx, struct xv_subscription *sub,
			   const struct xv_subscription_opts *opts);

/**
 * xv_subscription_destroy() - be told no more
 * @tx: transaction or xv_now()
 * @sub: the subscription
 *
 * No read that starts afterwards gives an event of it.
 */
int xv_subscription_destroy(struct xv_tx *tx, struct xv_subscription *sub);

/* ------------------------------------------------------------------------
 * Connections
 *
 * A connection is a queue pair that the connection manager of the kernel brings
 * together with another one, found by its IP address and port. Making one starts
 * it; the event queue tells what comes of it: %XV_EV_ESTABLISHED or
 * %XV_EV_CONNECT_FAILED, later %XV_EV_DISCONNECTED. Receives are posted before,
 * in the same transaction. Sends may be posted at any time: those that come too
 * early wait in the ring, in order.
 */

struct sockaddr;

/**
 * struct xv_listener - waits for connection requests
 * @obj: common part
 * @info: public: what the kernel said when it was made; with the port, if any
 *	free one was asked for
 * @reserved32: 0
 * @reserved: 0
 */
struct xv_listener {
	struct xv_obj obj;
	struct xv_listener_info info;
	uint32_t reserved32;
	uint64_t reserved[4];
};

/**
 * struct xv_listener_opts - what a listener shall be
 * @size: bytes of this struct
 * @backlog: requests that may wait; 0: %XV_BACKLOG
 * @eventq: where requests are told of; required
 * @cookie: of its events
 * @addr: struct sockaddr_in or sockaddr_in6 of the device; port 0: any free one
 * @reuse: 1: the address may be in use
 * @reserved: 0
 */
struct xv_listener_opts {
	uint32_t size;
	uint32_t backlog;
	struct xv_eventq *eventq;
	uint64_t cookie;
	const struct sockaddr *addr;
	uint32_t reuse;
	uint32_t reserved;
};

/**
 * xv_listener_create() - make a listener
 * @tx: transaction or xv_now()
 * @l: gets the listener
 * @opts: what it shall be
 *
 * Peers are let in from the commit on: each is a %XV_EV_CONNECT_REQUEST, whose
 * data is the token of the request.
 */
int xv_listener_create(struct xv_tx *tx, struct xv_listener *l,
		       const struct xv_listener_opts *opts);

/** xv_listener_query() - ask a listener; as xv_pd_query() */
int xv_listener_query(struct xv_tx *tx, struct xv_listener *l,
		      struct xv_listener_info *info);

/**
 * xv_listener_query_request() - who wants to connect?
 * @tx: transaction or xv_now()
 * @l: the listener
 * @token: the request
 * @info: is filled when the transaction commits
 *
 * ENOENT with %XV_R_NO_REQUEST if the peer has given up.
 */
int xv_listener_query_request(struct xv_tx *tx, struct xv_listener *l,
			      uint64_t token, struct xv_request_info *info);

/**
 * xv_listener_reject() - refuse a connection request
 * @tx: transaction or xv_now()
 * @l: the listener
 * @token: the request
 * @data: private data for the peer; it is copied
 * @len: bytes of @data, at most %XV_PRIVATE_REJECT; 0: none
 */
int xv_listener_reject(struct xv_tx *tx, struct xv_listener *l, uint64_t token,
		       const void *data, size_t len);

/**
 * xv_listener_destroy() - destroy a listener
 * @tx: transaction or xv_now()
 * @l: the listener
 *
 * As xv_pd_destroy(). Requests that wait are refused; connections stay.
 */
int xv_listener_destroy(struct xv_tx *tx, struct xv_listener *l);

/**
 * struct xv_conn - a connection
 * @obj: common part
 * @reserved: 0
 */
struct xv_conn {
	struct xv_obj obj;
	uint64_t reserved[4];
};

/**
 * struct xv_conn_opts - what a connection shall be
 * @size: bytes of this struct
 * @establish_ms: until it is given up; 0: %XV_ESTABLISH_MS
 * @qp: its queue pair, in INIT: a new one, also of the same transaction, or one
 *	that was never connected
 * @eventq: where it is told what came of it; required
 * @cookie: of its events
 * @dst: struct sockaddr_in or sockaddr_in6 to connect to; or @listener is set
 * @src: address to connect from, or NULL
 * @listener: whose request to accept; or @dst is set
 * @token: the request
 * @private_data: private data for the peer; it is copied
 * @private_len: bytes of it
 * @reuse: 1: the source address may be in use
 * @traffic_class: as all that follow: see enum xv_attr_path; 0: the default,
 *	unless the bit of %XV_ZERO_PATH is set in @zero
 * @timeout: see there
 * @retry_cnt: see there
 * @rnr_retry: see there
 * @min_rnr_timer: see there
 * @rd_atomic: see there
 * @dest_rd_atomic: see there
 * @reserved: 0
 * @zero: XV_ZERO_PATH(XV_PATH_*): fields whose 0 is a value
 */
struct xv_conn_opts {
	uint32_t size;
	uint32_t establish_ms;
	struct xv_qp *qp;
	struct xv_eventq *eventq;
	uint64_t cookie;
	const struct sockaddr *dst;
	const struct sockaddr *src;
	struct xv_listener *listener;
	uint64_t token;
	const void *private_data;
	uint32_t private_len;
	uint32_t reuse;
	uint32_t traffic_class;
	uint32_t timeout;
	uint32_t retry_cnt;
	uint32_t rnr_retry;
	uint32_t min_rnr_timer;
	uint32_t rd_atomic;
	uint32_t dest_rd_atomic;
	uint32_t reserved;
	uint64_t zero;
};

/**
 * xv_conn_create() - connect to an address, or accept a request
 * @tx: transaction or xv_now()
 * @c: gets the connection
 * @opts: what it shall be
 *
 * Starts at the commit and does not wait.
 */
int xv_conn_create(struct xv_tx *tx, struct xv_conn *c,
		   const struct xv_conn_opts *opts);

/** xv_conn_query() - ask a connection; as xv_pd_query() */
int xv_conn_query(struct xv_tx *tx, struct xv_conn *c,
		  struct xv_conn_info *info);

/**
 * xv_conn_disconnect() - end a connection
 * @tx: transaction or xv_now()
 * @c: the connection
 *
 * Starts at the commit and does not wait: what is outstanding ends as flushed,
 * then comes %XV_EV_DISCONNECTED (or %XV_EV_CONNECT_FAILED). What the peer must
 * have should have completed before. Nothing happens if it has ended already.
 */
int xv_conn_disconnect(struct xv_tx *tx, struct xv_conn *c);

/**
 * xv_conn_destroy() - destroy a connection
 * @tx: transaction or xv_now()
 * @c: the connection
 *
 * As xv_pd_destroy(); in any state, and no event of it comes afterwards. The
 * queue pair is left in ERR, where everything outstanding ends as flushed.
 */
int xv_conn_destroy(struct xv_tx *tx, struct xv_conn *c);

/** xv_conn_state_name() - name of an enum xv_conn_state; never NULL */
const char *xv_conn_state_name(unsigned int state);

/**
 * xv_qp_watch_room() - ask for one %XV_EV_ROOM
 * @tx: transaction or xv_now()
 * @qp: the queue pair, which must have an event queue
 * @slots: when so many send slots are free, and it can send; 0: cancel
 * @cookie: of the event
 *
 * At once if that is so. &xv_qp.room does the same together with a submission, with
 * cookie 0.
 */
int xv_qp_watch_room(struct xv_tx *tx, struct xv_qp *qp, unsigned int slots,
		     uint64_t cookie);

/* ------------------------------------------------------------------------
 * Data path
 *
 * Entries are filled into the mapped ring (xv_get_send() and xv_send_prep_*(),
 * or xv_post_send()). One xv_enter() hands those of many queue pairs to the
 * kernel, reaps a completion queue and waits. xv_poll() takes completions out
 * of the mapped ring.
 */

/**
 * xv_sends_free() - free slots of the send queue
 * @qp: the queue pair
 *
 * A slot gets free when the kernel has reaped its completion, that is in
 * xv_enter() or xv_wait() on the queue pair's send CQ.
 *
 * Return: the number.
 */
static inline uint32_t xv_sends_free(const struct xv_qp *qp)
{
	uint32_t done = __atomic_load_n(&qp->ring->sends_done,
					__ATOMIC_ACQUIRE);
	uint32_t used = qp->send_tail - done;

	return used < qp->send_wr ? qp->send_wr - used : 0;
}

/** xv_recvs_free() - free slots of the receive queue; as xv_sends_free() */
static inline uint32_t xv_recvs_free(const struct xv_qp *qp)
{
	uint32_t done = __atomic_load_n(&qp->ring->recvs_done,
					__ATOMIC_ACQUIRE);
	uint32_t used = qp->recv_tail - done;

	return used < qp->recv_wr ? qp->recv_wr - used : 0;
}

/** xv_sends_ready() - send entries filled in and not yet taken by the kernel */
static inline uint32_t xv_sends_ready(const struct xv_qp *qp)
{
	return qp->send_tail - qp->send_taken;
}

/** xv_recvs_ready() - receive entries filled in and not yet taken */
static inline uint32_t xv_recvs_ready(const struct xv_qp *qp)
{
	return qp->recv_tail - qp->recv_taken;
}

/**
 * xv_unpost() - take back all entries that the kernel has not taken
 * @qp: the queue pair
 *
 * Meant for after an error: a bad entry stays at the head of the ring.
 */
static inline void xv_unpost(struct xv_qp *qp)
{
	qp->send_tail = qp->send_taken;
	qp->recv_tail = qp->recv_taken;
}

/** xv_srq_free() - free slots of a shared receive queue; as xv_sends_free() */
static inline uint32_t xv_srq_free(const struct xv_srq *srq)
{
	uint32_t done = __atomic_load_n(&srq->ring->recvs_done,
					__ATOMIC_ACQUIRE);
	uint32_t used = srq->recv_tail - done;

	return used < srq->recv_wr ? srq->recv_wr - used : 0;
}

/** xv_srq_ready() - entries filled in and not yet taken by the kernel */
static inline uint32_t xv_srq_ready(const struct xv_srq *srq)
{
	return srq->recv_tail - srq->recv_taken;
}

/** xv_srq_unpost() - take back what the kernel has not taken; as xv_unpost() */
static inline void xv_srq_unpost(struct xv_srq *srq)
{
	srq->recv_tail = srq->recv_taken;
}

/**
 * xv_get_send() - the next send entry of the ring, to be filled in place
 * @qp: the queue pair
 *
 * The entry is counted as filled in. Its content is what was there before: fill
 * it with xv_send_prep_*(), or set every field.
 *
 * Return: the entry, or NULL if the queue is full.
 */
static inline struct xv_send *xv_get_send(struct xv_qp *qp)
{
	if (!xv_sends_free(qp))
		return NULL;
	return &qp->sends[qp->send_tail++ & qp->send_mask];
}

/** xv_get_recv() - the next receive entry of the ring; as xv_get_send() */
static inline struct xv_recv *xv_get_recv(struct xv_qp *qp)
{
	if (!xv_recvs_free(qp))
		return NULL;
	return &qp->recvs[qp->recv_tail++ & qp->recv_mask];
}

/** xv_srq_get_recv() - the next entry of an SRQ's ring; as xv_get_send() */
static inline struct xv_recv *xv_srq_get_recv(struct xv_srq *srq)
{
	if (!xv_srq_free(srq))
		return NULL;
	return &srq->recvs[srq->recv_tail++ & srq->recv_mask];
}

/**
 * xv_sge_at() - a piece of a memory region, by its address
 * @mr: the memory region
 * @addr: first byte, inside the region
 * @length: bytes
 *
 * For a region whose create is not committed yet the piece is good for
 * xv_qp_post_recv() and xv_srq_post_recv() in the same transaction only.
 *
 * Return: the piece.
 */
static inline struct xv_sge xv_sge_at(const struct xv_mr *mr, const void *addr,
				      uint32_t length)
{
	struct xv_sge sge;

	sge.mr = mr->obj.handle ? mr->obj.handle :
				  XV_SGE_FROM_OP | mr->obj.op;
	sge.length = length;
	sge.offset = (uint64_t)(uintptr_t)addr - mr->info.addr;
	return sge;
}

/** xv_send_prep() - clear an entry and set what all opcodes have */
static inline void xv_send_prep(struct xv_send *s, uint8_t opcode,
				uint64_t wr_id, uint16_t flags)
{
	/* The part behind the header is read only as far as it is used. */
	memset(s, 0, offsetof(struct xv_send, sge));
	s->wr_id = wr_id;
	s->opcode = opcode;
	s->flags = flags;
}

/** xv_send_add_sge() - add a piece, at most %XV_MAX_SEND_SGE */
static inline void xv_send_add_sge(struct xv_send *s, struct xv_sge sge)
{
	s->sge[s->num_sge++] = sge;
}

/** xv_send_set_inline() - put the data, at most %XV_MAX_INLINE bytes, inside */
static inline void xv_send_set_inline(struct xv_send *s, const void *data,
				      uint32_t len)
{
	memcpy(s->inline_data, data, len);
	s->inline_len = len;
	s->flags |= XV_SEND_INLINE;
}

/** xv_send_set_remote() - the remote memory of a write, read or atomic */
static inline void xv_send_set_remote(struct xv_send *s, uint64_t addr,
				      uint32_t rkey)
{
	s->remote_addr = addr;
	s->rkey = rkey;
}

/**
 * xv_send_set_ud() - where a datagram goes
 * @s: the entry, of a queue pair of type UD
 * @ah: the destination
 * @qpn: QP number there
 * @qkey: its Q_Key; with the highest bit set our own is sent instead
 */
static inline void xv_send_set_ud(struct xv_send *s, const struct xv_ah *ah,
				  uint32_t qpn, uint32_t qkey)
{
	s->ah = ah->obj.handle;
	s->remote_qpn = qpn;
	s->remote_qkey = qkey;
}

/** xv_send_prep_send() - a message of one piece */
static inline void xv_send_prep_send(struct xv_send *s, uint64_t wr_id,
				     uint16_t flags, struct xv_sge sge)
{
	xv_send_prep(s, XV_WR_SEND, wr_id, flags);
	xv_send_add_sge(s, sge);
}

/** xv_send_prep_send_imm() - the same with immediate data, network order */
static inline void xv_send_prep_send_imm(struct xv_send *s, uint64_t wr_id,
					 uint16_t flags, struct xv_sge sge,
					 uint32_t imm_data)
{
	xv_send_prep(s, XV_WR_SEND_WITH_IMM, wr_id, flags);
	xv_send_add_sge(s, sge);
	s->imm_data = imm_data;
}

/** xv_send_prep_ud() - a datagram of one piece; see xv_send_set_ud() */
static inline void xv_send_prep_ud(struct xv_send *s, uint64_t wr_id,
				   uint16_t flags, struct xv_sge sge,
				   const struct xv_ah *ah, uint32_t qpn,
				   uint32_t qkey)
{
	xv_send_prep_send(s, wr_id, flags, sge);
	xv_send_set_ud(s, ah, qpn, qkey);
}

/** xv_send_prep_ud_imm() - the same with immediate data, network order */
static inline void xv_send_prep_ud_imm(struct xv_send *s, uint64_t wr_id,
				       uint16_t flags, struct xv_sge sge,
				       const struct xv_ah *ah, uint32_t qpn,
				       uint32_t qkey, uint32_t imm_data)
{
	xv_send_prep_send_imm(s, wr_id, flags, sge, imm_data);
	xv_send_set_ud(s, ah, qpn, qkey);
}

/** xv_send_prep_write() - a write of one piece to remote memory */
static inline void xv_send_prep_write(struct xv_send *s, uint64_t wr_id,
				      uint16_t flags, struct xv_sge sge,
				      uint64_t remote_addr, uint32_t rkey)
{
	xv_send_prep(s, XV_WR_RDMA_WRITE, wr_id, flags);
	xv_send_add_sge(s, sge);
	xv_send_set_remote(s, remote_addr, rkey);
}

/** xv_send_prep_write_imm() - the same, and it consumes a receive there */
static inline void xv_send_prep_write_imm(struct xv_send *s, uint64_t wr_id,
					  uint16_t flags, struct xv_sge sge,
					  uint64_t remote_addr, uint32_t rkey,
					  uint32_t imm_data)
{
	xv_send_prep(s, XV_WR_RDMA_WRITE_WITH_IMM, wr_id, flags);
	xv_send_add_sge(s, sge);
	xv_send_set_remote(s, remote_addr, rkey);
	s->imm_data = imm_data;
}

/** xv_send_prep_read() - a read of remote memory into one piece */
static inline void xv_send_prep_read(struct xv_send *s, uint64_t wr_id,
				     uint16_t flags, struct xv_sge sge,
				     uint64_t remote_addr, uint32_t rkey)
{
	xv_send_prep(s, XV_WR_RDMA_READ, wr_id, flags);
	xv_send_add_sge(s, sge);
	xv_send_set_remote(s, remote_addr, rkey);
}

/** xv_send_prep_cmp_swp() - 8 byte compare and swap; @sge gets the old value */
static inline void xv_send_prep_cmp_swp(struct xv_send *s, uint64_t wr_id,
					uint16_t flags, struct xv_sge sge,
					uint64_t remote_addr, uint32_t rkey,
					uint64_t compare, uint64_t swap)
{
	xv_send_prep(s, XV_WR_ATOMIC_CMP_AND_SWP, wr_id, flags);
	xv_send_add_sge(s, sge);
	xv_send_set_remote(s, remote_addr, rkey);
	s->compare_add = compare;
	s->swap = swap;
}

/** xv_send_prep_fetch_add() - 8 byte add; @sge gets the old value */
static inline void xv_send_prep_fetch_add(struct xv_send *s, uint64_t wr_id,
					  uint16_t flags, struct xv_sge sge,
					  uint64_t remote_addr, uint32_t rkey,
					  uint64_t add)
{
	xv_send_prep(s, XV_WR_ATOMIC_FETCH_AND_ADD, wr_id, flags);
	xv_send_add_sge(s, sge);
	xv_send_set_remote(s, remote_addr, rkey);
	s->compare_add = add;
}

/** xv_recv_prep() - a receive without pieces */
static inline void xv_recv_prep(struct xv_recv *r, uint64_t wr_id)
{
	r->wr_id = wr_id;
	r->num_sge = 0;
	r->reserved = 0;
}

/** xv_recv_add_sge() - add a piece, at most %XV_MAX_RECV_SGE */
static inline void xv_recv_add_sge(struct xv_recv *r, struct xv_sge sge)
{
	r->sge[r->num_sge++] = sge;
}

/**
 * xv_post_send() - copy entries into the send ring
 * @qp: the queue pair
 * @sends: the entries
 * @n: their number
 *
 * No system call: xv_enter() or xv_submit() hands them to the kernel.
 *
 * Return: 0; -EAGAIN if not all fit, then none was copied.
 */
int xv_post_send(struct xv_qp *qp, const struct xv_send *sends, unsigned int n);

/** xv_post_recv() - copy entries into the receive ring; as xv_post_send() */
int xv_post_recv(struct xv_qp *qp, const struct xv_recv *recvs, unsigned int n);

/** xv_post_srq_recv() - copy entries into an SRQ's ring; as xv_post_send() */
int xv_post_srq_recv(struct xv_srq *srq, const struct xv_recv *recvs,
		     unsigned int n);

/**
 * xv_enter() - submit, then reap, then wait, in one system call
 * @ctx: the context
 * @qps: queue pairs whose ready entries are submitted
 * @res: @n elements, which get the outcome for each queue pair
 * @n: number of queue pairs, 0 to %XV_MAX_ENTER_QPS
 * @cq: completion queue to reap, or NULL
 * @min_complete: wait until so many completions lie in its ring
 * @timeout_ns: longest time to wait; negative: no limit; 0: do not wait
 * @flags: XV_ENTER_F_*
 * @num_complete: gets the completions in the ring, or NULL
 *
 * Entries that were not taken stay in the ring as ready. A queue pair's own
 * error does not make the call fail if anything was done: see &xv_qp.err or
 * &xv_enter_qp.err of each.
 *
 * Return: 0; the errors of %XV_IOC_ENTER.
 */
int xv_enter(struct xv_ctx *ctx, struct xv_qp *const *qps,
	     struct xv_enter_qp *res, unsigned int n, struct xv_cq *cq,
	     unsigned int min_complete, int64_t timeout_ns, unsigned int flags,
	     unsigned int *num_complete);

/**
 * struct xv_enter_opts - what one system call shall do
 * @size: bytes of this struct
 * @flags: XV_ENTER_F_*
 * @srqs: shared receive queues whose ready entries are submitted
 * @qps: queue pairs likewise, after these
 * @num_srqs: number of @srqs
 * @num_qps: number of @qps
 * @res: @num_srqs and @num_qps elements, which get the outcome for each
 * @cq: completion queue to reap, or NULL
 * @min_complete: wait until so many completions lie in its ring
 * @reserved: 0
 * @timeout_ns: longest time to wait; negative: no limit; 0: do not wait
 */
struct xv_enter_opts {
	uint32_t size;
	uint32_t flags;
	struct xv_srq *const *srqs;
	struct xv_qp *const *qps;
	uint32_t num_srqs;
	uint32_t num_qps;
	struct xv_enter_qp *res;
	struct xv_cq *cq;
	uint32_t min_complete;
	uint32_t reserved;
	int64_t timeout_ns;
};

/**
 * xv_enter_with() - xv_enter() with shared receive queues
 * @ctx: the context
 * @opts: what to do
 * @num_complete: gets the completions in the ring, or NULL
 *
 * Return: as xv_enter(); -EINVAL if @opts is no such struct.
 */
int xv_enter_with(struct xv_ctx *ctx, const struct xv_enter_opts *opts,
		  unsigned int *num_complete);

/**
 * xv_enter_raw() - %XV_IOC_ENTER with any content
 * @ctx: the context
 * @enter: the argument
 *
 * Any thread. The entries ready in a struct xv_qp are not accounted for.
 *
 * Return: 0; the errors of %XV_IOC_ENTER.
 */
int xv_enter_raw(struct xv_ctx *ctx, struct xv_enter *enter);

/**
 * xv_submit() - submit what is ready in one queue pair
 * @qp: the queue pair
 *
 * Return: 0 if all was taken; else the errno that stopped the queue pair, with
 * the reason in &xv_qp.reason; or the error of the call.
 */
int xv_submit(struct xv_qp *qp);

/** xv_submit_srq() - submit what is ready in an SRQ; as xv_submit() */
int xv_submit_srq(struct xv_srq *srq);

/**
 * xv_submit_and_wait() - xv_submit() and xv_wait() in one system call
 * @qp: the queue pair
 * @cq: the completion queue
 * @min_complete: as for xv_enter()
 * @timeout_ns: as for xv_enter()
 *
 * Return: as xv_submit() and xv_wait().
 */
int xv_submit_and_wait(struct xv_qp *qp, struct xv_cq *cq,
		       unsigned int min_complete, int64_t timeout_ns);

/**
 * xv_wait() - reap a completion queue, and wait for completions
 * @cq: the completion queue
 * @min_complete: as for xv_enter(); 0: only reap
 * @timeout_ns: as for xv_enter()
 *
 * Return: 0; -ETIME or -EINTR if no completion came; other errors of
 * %XV_IOC_ENTER.
 */
int xv_wait(struct xv_cq *cq, unsigned int min_complete, int64_t timeout_ns);

/**
 * xv_arm() - ask for one event when the completion queue has completions
 * @cq: the completion queue, with an event queue
 *
 * Return: 0; the errors of %XV_IOC_ENTER.
 */
int xv_arm(struct xv_cq *cq);

/**
 * xv_arm_solicited() - ask for one event when a solicited receive or an error
 *	comes
 * @cq: the completion queue, with an event queue
 *
 * It stands for completions that come after the call; look into the ring for
 * those before. See %XV_ENTER_F_SOLICITED, with which xv_enter() can also wait.
 *
 * Return: 0; the errors of %XV_IOC_ENTER.
 */
int xv_arm_solicited(struct xv_cq *cq);

/**
 * xv_poll() - take completions out of the ring
 * @cq: the completion queue
 * @wc: gets them
 * @n: room there
 *
 * No system call, except when the ring is empty and the kernel says that more
 * wait outside. It does not reap: completions come into the ring by xv_enter(),
 * xv_wait() and the like, or by themselves while the queue is armed. Completions
 * of queue pairs that xv_qp_destroy() has destroyed are dropped.
 *
 * Return: the number taken, 0 if the ring is empty; errors of %XV_IOC_ENTER.
 */
int xv_poll(struct xv_cq *cq, struct xv_wc *wc, unsigned int n);

/**
 * xv_event_read() - read events
 * @eq: the event queue
 * @events: gets them
 * @n: room there, at least 1
 *
 * Sleeps while there is none, unless the descriptor is O_NONBLOCK. Several
 * threads may read; each event goes to one of them. What poll(2) told of may be
 * gone: who polls sets O_NONBLOCK.
 *
 * Return: the number read; 0 when the device file was closed; -EAGAIN, -EINTR,
 * -ENODEV.
 */
int xv_event_read(struct xv_eventq *eq, struct xv_event *events,
		  unsigned int n);

/* ------------------------------------------------------------------------
 * Describe, and texts
 */

/**
 * xv_describe() - the tables of this kernel
 * @ctx: the context
 * @desc: gets them; they belong to the context
 *
 * Any thread. Asks the kernel once and keeps the answer.
 *
 * Return: 0; -ENOMEM; -EPROTO if the answer is not consistent; errors of
 * %XV_IOC_TXN.
 */
int xv_describe(struct xv_ctx *ctx, const struct xv_describe **desc);

/**
 * xv_describe_line() - one line of the tables
 * @desc: the tables
 * @i: number of the line, from 0
 *
 * Return: the line, or NULL if there is none. Fields that this kernel does not
 * know must not be read: see &xv_describe.desc_size.
 */
const struct xv_desc *xv_describe_line(const struct xv_describe *desc,
				       unsigned int i);

/**
 * xv_error_text() - say in words what was wrong
 * @ctx: the context
 * @tx: the transaction that failed, xv_now() included, or NULL: it tells which
 *	operation had the index in the record
 * @err: the record
 * @buf: gets the text, always with a terminating 0 if @len is not 0
 * @len: room there
 *
 * The names come from xv_describe(); without it the text has numbers. As in
 * "operation 4 (qp.create): caps.send_wr: out of range, at most 16384 (EINVAL)".
 *
 * Return: the length of the whole text, as snprintf(3).
 */
int xv_error_text(struct xv_ctx *ctx, const struct xv_tx *tx,
		  const struct xv_error *err, char *buf, size_t len);

/**
 * xv_reason_name() - the name of a reason
 * @ctx: the context
 * @reason: enum xv_reason
 *
 * Return: the name in this kernel, or NULL.
 */
const char *xv_reason_name(struct xv_ctx *ctx, unsigned int reason);

/**
 * xv_object_name() - the name of a type of objects
 * @ctx: the context
 * @object: enum xv_object
 *
 * Return: the name in this kernel, or NULL.
 */
const char *xv_object_name(struct xv_ctx *ctx, unsigned int object);

/**
 * xv_wc_status_name() - the name of a status of a completion
 * @status: enum xv_wc_status
 *
 * Return: the name, or "unknown".
 */
const char *xv_wc_status_name(unsigned int status);

/**
 * xv_qp_state_name() - the name of a state of a queue pair
 * @state: enum xv_qp_state
 *
 * Return: the name ("INIT"), or "unknown".
 */
const char *xv_qp_state_name(unsigned int state);

/**
 * xv_opcode_name() - what a send does
 * @opcode: enum xv_opcode
 *
 * Return: the name ("write"), or "unknown".
 */
const char *xv_opcode_name(unsigned int opcode);

/**
 * xv_event_name() - the name of a kind of event
 * @type: enum xv_event_type
 *
 * Return: the name ("device removed"), or "unknown".
 */
const char *xv_event_name(unsigned int type);

#ifdef __cplusplus
}
#endif

#endif /* _XVERBS_H */
