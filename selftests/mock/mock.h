/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * xvmock: an RDMA device that does what a test tells it, and nothing else.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * There is one device at most. Everything about it is in one struct, and one
 * spinlock, taken with interrupts off, protects it. Handlers of the device's
 * users are called with that lock held, as the strictest of drivers does: who
 * calls a verb from a handler does not come back.
 */
#ifndef _XVMOCK_H
#define _XVMOCK_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>

#define MOCK_PORTS	2
#define MOCK_PKEYS	4
#define MOCK_GIDS	4

/* What can be told to fail or to sleep, and is counted. */
enum mock_verb {
	MOCK_ALLOC_PD,
	MOCK_DEALLOC_PD,
	MOCK_CREATE_CQ,
	MOCK_MODIFY_CQ,
	MOCK_DESTROY_CQ,
	MOCK_REQ_NOTIFY_CQ,
	MOCK_POLL_CQ,
	MOCK_CREATE_QP,
	MOCK_MODIFY_QP,
	MOCK_QUERY_QP,
	MOCK_DESTROY_QP,
	MOCK_CREATE_SRQ,
	MOCK_MODIFY_SRQ,
	MOCK_QUERY_SRQ,
	MOCK_DESTROY_SRQ,
	MOCK_CREATE_AH,
	MOCK_DESTROY_AH,
	MOCK_GET_DMA_MR,
	MOCK_REG_USER_MR,
	MOCK_DEREG_MR,
	MOCK_POST_SEND,
	MOCK_POST_RECV,
	MOCK_POST_SRQ_RECV,
	MOCK_ATTACH_MCAST,
	MOCK_DETACH_MCAST,
	MOCK_QUERY_PORT,
	MOCK_QUERY_GID,
	MOCK_QUERY_PKEY,
	MOCK_NUM_VERBS,
};

/* Kinds of objects. Of two kinds the later one may depend on the earlier. */
enum mock_kind {
	MOCK_PD,
	MOCK_DMA_MR,
	MOCK_CQ,
	MOCK_SRQ,
	MOCK_QP,
	MOCK_MR,
	MOCK_AH,
	MOCK_NUM_KINDS,
};

/* Which calls something happens to: COUNT of them, after SKIP others. */
struct mock_window {
	u32 skip;
	u32 count;
};

#define MOCK_FOREVER	U32_MAX

/**
 * struct mock_plan - what is to become of the calls of a verb
 * @lock: protects the windows
 * @fail: the calls that fail
 * @err: with this errno, positive
 * @sleep: the calls that sleep
 * @wakes: changes when sleepers are released
 * @wait: sleepers
 * @calls: how many there were
 * @failed: how many of them failed as planned
 * @sleeping: how many sleep now
 */
struct mock_plan {
	spinlock_t lock;	/* a leaf; any context */
	struct mock_window fail;
	int err;
	struct mock_window sleep;
	u32 wakes;
	wait_queue_head_t wait;
	atomic_t calls;
	atomic_t failed;
	atomic_t sleeping;
};

/**
 * struct mock_obj - what all objects have in common
 * @link: in mock.objs of its kind
 * @users: objects that depend on it
 */
struct mock_obj {
	struct list_head link;
	u32 users;
};

struct mock_pd {
	struct ib_pd ibpd;
	struct mock_obj obj;
};

struct mock_mr {
	struct ib_mr ibmr;
	struct mock_obj obj;
	struct mock_pd *pd;
	u64 iova;
	u64 length;
	bool dma;
};

struct mock_ah {
	struct ib_ah ibah;
	struct mock_obj obj;
	struct mock_pd *pd;
};

/**
 * struct mock_wr - a posted work request; later its completion
 * @link: in a queue, then in a CQ
 * @wc: the completion
 * @bytes: of all pieces
 * @flags: of a send
 */
struct mock_wr {
	struct list_head link;
	struct ib_wc wc;
	u32 bytes;
	u32 flags;
};

struct mock_queue {
	struct list_head wrs;
	u32 num;
	u32 max;
	u32 max_sge;
};

/**
 * struct mock_cq - a completion queue
 * @ibcq: of the core
 * @obj: in common
 * @wcs: completions, as struct mock_wr
 * @num: how many
 * @armed: a notification was asked for
 * @solicited: of solicited completions alone
 * @count: moderation: notify after so many
 * @period: or after so many microseconds
 */
struct mock_cq {
	struct ib_cq ibcq;
	struct mock_obj obj;
	struct list_head wcs;
	u32 num;
	bool armed;
	bool solicited;
	u16 count;
	u16 period;
};

struct mock_srq {
	struct ib_srq ibsrq;
	struct mock_obj obj;
	struct mock_pd *pd;
	struct mock_queue rq;
	u32 limit;
};

struct mock_qp {
	struct ib_qp ibqp;
	struct mock_obj obj;
	struct mock_pd *pd;
	struct mock_cq *send_cq;
	struct mock_cq *recv_cq;
	struct mock_srq *srq;
	struct mock_queue sq;
	struct mock_queue rq;
	enum ib_qp_state state;
	bool sig_all;
	u32 num_mcast;
	u32 cm_refs;
};

struct mock_dev {
	struct ib_device ibdev;
};

/**
 * struct mock - everything
 * @lock: protects objects and queues
 * @plug: serialises plugging
 * @dev: the device; when it was unplugged, until the next one comes
 * @plugged: it is registered
 * @gone: it is not any more: nobody may call it
 * @relent: no destroy is refused any more
 * @cleaning: what its users have left behind is being destroyed
 * @flush: requests end as flushed when a queue pair fails
 * @flush_at_destroy: and when it is destroyed
 * @auto_send: sends complete when they are posted
 * @stubborn: does not relent
 * @num: live objects by kind
 * @objs: live objects by kind
 * @next_qpn: for the next queue pair
 * @next_key: for the next memory region
 * @posted: requests taken, since the module was loaded
 * @leaked: objects that were left when the device was gone
 * @late: calls that came when the device was gone
 * @errors: misuses by the device's users
 * @last_error: the last of them
 * @plans: what is to become of calls
 */
struct mock {
	spinlock_t lock;	/* see the head of this file */
	struct mutex plug;	/* outermost */
	struct mock_dev *dev;
	bool plugged;
	bool gone;
	bool relent;
	bool cleaning;
	bool flush;
	bool flush_at_destroy;
	bool auto_send;
	bool stubborn;
	u32 num[MOCK_NUM_KINDS];
	struct list_head objs[MOCK_NUM_KINDS];
	u32 next_qpn;
	u32 next_key;
	u64 posted;
	u32 leaked;
	atomic_t late;
	atomic_t errors;
	char last_error[80];
	struct mock_plan plans[MOCK_NUM_VERBS];
};

extern struct mock mock;
extern const char *const mock_verb_names[MOCK_NUM_VERBS];
extern const struct ib_device_ops mock_ops;

/* plan.c */
void mock_plans_init(void);
int mock_call(enum mock_verb verb);
int mock_plan_write(enum mock_verb verb, const char *text);
void mock_plan_reset(enum mock_verb verb);
void mock_wake_all(void);
__printf(1, 2) void mock_error(const char *fmt, ...);

/* verbs.c */
void mock_clean(void);
struct ib_qp *mock_get_qp(struct ib_device *ibdev, int qpn);
void mock_qp_up(struct mock_qp *qp);

/* cm.c */
struct iw_cm_id;
struct iw_cm_conn_param;

int mock_cm(const char *text);
void mock_cm_down(struct mock_qp *qp);
int mock_iw_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int mock_iw_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int mock_iw_reject(struct iw_cm_id *id, const void *data, u8 len);
int mock_iw_create_listen(struct iw_cm_id *id, int backlog);
int mock_iw_destroy_listen(struct iw_cm_id *id);

/* queue.c */
void mock_queue_init(struct mock_queue *q, u32 max, u32 max_sge);
void mock_queue_drop(struct mock_queue *q);
void mock_qp_flush(struct mock_qp *qp);
void mock_cq_drop(struct mock_cq *cq);
int mock_complete(const char *text);
int mock_inject(const char *text);
int mock_event(const char *text);
int mock_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad);
int mock_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad);
int mock_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad);
int mock_poll_cq(struct ib_cq *ibcq, int max, struct ib_wc *wcs);
int mock_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

/* main.c */
int mock_plug(bool on);
int mock_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		      struct ib_udata *udata);
int mock_query_port(struct ib_device *ibdev, u32 port,
		    struct ib_port_attr *attr);
int mock_query_gid(struct ib_device *ibdev, u32 port, int index,
		   union ib_gid *gid);
int mock_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey);
int mock_port_immutable(struct ib_device *ibdev, u32 port,
			struct ib_port_immutable *immutable);
enum rdma_link_layer mock_link_layer(struct ib_device *ibdev, u32 port);

/* control.c */
void mock_control_init(void);
void mock_control_exit(void);

static inline struct mock_pd *to_pd(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct mock_pd, ibpd);
}

static inline struct mock_cq *to_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct mock_cq, ibcq);
}

static inline struct mock_srq *to_srq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct mock_srq, ibsrq);
}

static inline struct mock_qp *to_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct mock_qp, ibqp);
}

#endif /* _XVMOCK_H */
