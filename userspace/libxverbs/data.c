// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Data path: the mapped rings, and the one system call beside them.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * The kernel writes the tail of a completion ring and the counts of done
 * entries with release semantics, we read them with acquire. Our own indices
 * are kept outside the mapped memory; only the head of a completion ring is
 * published. Entries are handed over by the system call, which orders them.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib.h"

/* ------------------------------------------------------------------------
 * Completions of queue pairs that are gone
 *
 * Those in the ring are marked at the destroy, by their handle 0, which no
 * object has. If more wait in the kernel, the handle is remembered until the
 * ring was seen empty with none waiting. Handles are not used again soon.
 */

/* Destroys that may be committed between two calls of xv_poll(), at first. */
#define DEAD_ROOM	XV_MAX_OPS

int xv_cq_reserve_dead(struct xv_cq *cq)
{
	struct xv_ctx *ctx = cq->obj.ctx;
	uint32_t max = cq->num_dead + DEAD_ROOM;
	struct xv_dead *dead, *old = NULL;

	if (!ctx || cq->max_dead >= max)
		return 0;
	max += max / 2;
	dead = malloc(sizeof(*dead) + max * sizeof(uint32_t));
	if (!dead)
		return -ENOMEM;
	if (cq->num_dead)
		memcpy(dead->handles, cq->dead,
		       cq->num_dead * sizeof(uint32_t));

	pthread_mutex_lock(&ctx->lock);
	if (cq->dead) {
		old = (struct xv_dead *)((uint8_t *)cq->dead -
					 offsetof(struct xv_dead, handles));
		*old->prev = old->next;
		if (old->next)
			old->next->prev = old->prev;
	}
	dead->next = ctx->dead;
	dead->prev = &ctx->dead;
	if (dead->next)
		dead->next->prev = &dead->next;
	ctx->dead = dead;
	pthread_mutex_unlock(&ctx->lock);

	free(old);
	cq->dead = dead->handles;
	cq->max_dead = max;
	return 0;
}

static uint32_t load_tail(const struct xv_cq *cq)
{
	return __atomic_load_n(&cq->ring->tail, __ATOMIC_ACQUIRE);
}

static bool overflowed(const struct xv_cq *cq)
{
	return __atomic_load_n(&cq->ring->flags, __ATOMIC_ACQUIRE) &
	       XV_CQ_OVERFLOW;
}

void xv_cq_forget_qp(struct xv_cq *cq, uint32_t qp)
{
	bool more;
	uint32_t i, tail;

	if (!cq || !cq->ring)
		return;
	/* Flag first: what leaves the kernel's store after it is in the ring. */
	more = overflowed(cq);
	tail = load_tail(cq);
	if (tail - cq->head > cq->mask + 1)
		tail = cq->head + cq->mask + 1;
	for (i = cq->head; i != tail; i++)
		if (cq->wcs[i & cq->mask].qp == qp)
			cq->wcs[i & cq->mask].qp = 0;
	if (more && cq->num_dead < cq->max_dead)
		cq->dead[cq->num_dead++] = qp;
}

void xv_cq_clear(struct xv_cq *cq)
{
	struct xv_ctx *ctx = cq->obj.ctx;
	struct xv_dead *dead;

	cq->ring = NULL;
	cq->wcs = NULL;
	cq->num_dead = 0;
	cq->max_dead = 0;
	if (!cq->dead)
		return;
	dead = (struct xv_dead *)((uint8_t *)cq->dead -
				  offsetof(struct xv_dead, handles));
	cq->dead = NULL;
	pthread_mutex_lock(&ctx->lock);
	*dead->prev = dead->next;
	if (dead->next)
		dead->next->prev = dead->prev;
	pthread_mutex_unlock(&ctx->lock);
	free(dead);
}

static bool is_dead(const struct xv_cq *cq, uint32_t qp)
{
	uint32_t i;

	for (i = 0; i < cq->num_dead; i++)
		if (cq->dead[i] == qp)
			return true;
	return !qp;
}

/* ------------------------------------------------------------------------
 * Posting
 */

XV_PUBLIC int xv_post_send(struct xv_qp *qp, const struct xv_send *sends,
			   unsigned int n)
{
	unsigned int i;

	if (xv_sends_free(qp) < n)
		return -EAGAIN;
	for (i = 0; i < n; i++)
		qp->sends[qp->send_tail++ & qp->send_mask] = sends[i];
	return 0;
}

XV_PUBLIC int xv_post_recv(struct xv_qp *qp, const struct xv_recv *recvs,
			   unsigned int n)
{
	unsigned int i;

	if (xv_recvs_free(qp) < n)
		return -EAGAIN;
	for (i = 0; i < n; i++)
		qp->recvs[qp->recv_tail++ & qp->recv_mask] = recvs[i];
	return 0;
}

XV_PUBLIC int xv_post_srq_recv(struct xv_srq *srq, const struct xv_recv *recvs,
			       unsigned int n)
{
	unsigned int i;

	if (xv_srq_free(srq) < n)
		return -EAGAIN;
	for (i = 0; i < n; i++)
		srq->recvs[srq->recv_tail++ & srq->recv_mask] = recvs[i];
	return 0;
}

/* ------------------------------------------------------------------------
 * ENTER
 */

XV_PUBLIC int xv_enter_raw(struct xv_ctx *ctx, struct xv_enter *enter)
{
	XV_KEEP_ERRNO;

	return xv_ctx_ioctl(ctx, XV_IOC_ENTER, enter);
}

/* More than any queue has stays more than this one has. */
static uint32_t room_flags(const struct xv_qp *qp)
{
	return XV_ENTER_QP_ROOM(qp->room < 0xffff ? qp->room : 0xffff);
}

/* Was the watch set? A wait that failed comes after it. */
static bool room_is_set(int ret, int qp_err)
{
	return (!ret || ret == -ETIME || ret == -EINTR) &&
	       (!qp_err || qp_err == EAGAIN);
}

static void ask_srq(struct xv_enter_qp *res, const struct xv_srq *srq)
{
	memset(res, 0, sizeof(*res));
	res->qp = srq->obj.handle;
	res->num_recv = xv_srq_ready(srq);
}

static void ask_qp(struct xv_enter_qp *res, const struct xv_qp *qp)
{
	memset(res, 0, sizeof(*res));
	res->qp = qp->obj.handle;
	res->num_send = xv_sends_ready(qp);
	res->num_recv = xv_recvs_ready(qp);
	res->flags = room_flags(qp);
}

static void note_srq(const struct xv_enter_qp *res, struct xv_srq *srq)
{
	srq->recv_taken += res->recvs_taken;
	srq->err = res->err;
	srq->reason = res->reason;
}

static void note_qp(const struct xv_enter_qp *res, struct xv_qp *qp, int ret)
{
	qp->send_taken += res->sends_taken;
	qp->recv_taken += res->recvs_taken;
	qp->err = res->err;
	qp->reason = res->reason;
	if (room_is_set(ret, res->err))
		qp->room = 0;
}

static int enter_all(struct xv_ctx *ctx, const struct xv_enter_opts *o,
		     unsigned int *num_complete)
{
	XV_KEEP_ERRNO;
	struct xv_enter_qp *qp_res = o->num_srqs ? o->res + o->num_srqs :
						   o->res;
	struct xv_enter enter = {
		.flags = o->flags,
		.num_qps = o->num_srqs + o->num_qps,
		.qps = (uintptr_t)o->res,
		.cq = o->cq ? o->cq->obj.handle : 0,
		.min_complete = o->min_complete,
		.timeout_ns = o->timeout_ns,
	};
	uint32_t i;
	int ret;

	for (i = 0; i < o->num_srqs; i++)
		ask_srq(&o->res[i], o->srqs[i]);
	for (i = 0; i < o->num_qps; i++)
		ask_qp(&qp_res[i], o->qps[i]);
	ret = xv_ctx_ioctl(ctx, XV_IOC_ENTER, &enter);
	for (i = 0; i < o->num_srqs; i++)
		note_srq(&o->res[i], o->srqs[i]);
	for (i = 0; i < o->num_qps; i++)
		note_qp(&qp_res[i], o->qps[i], ret);
	if (num_complete)
		*num_complete = enter.num_complete;
	return ret;
}

static int do_enter(struct xv_ctx *ctx, struct xv_qp *const *qps,
		    struct xv_enter_qp *res, unsigned int n, struct xv_cq *cq,
		    unsigned int min_complete, int64_t timeout_ns,
		    unsigned int flags, unsigned int *num_complete)
{
	const struct xv_enter_opts o = {
		.flags = flags,
		.qps = qps,
		.num_qps = n,
		.res = res,
		.cq = cq,
		.min_complete = min_complete,
		.timeout_ns = timeout_ns,
	};

	return enter_all(ctx, &o, num_complete);
}

XV_PUBLIC int xv_enter_with(struct xv_ctx *ctx,
			    const struct xv_enter_opts *opts,
			    unsigned int *num_complete)
{
	struct xv_enter_opts o;

	if (xv_get_opts(&o, sizeof(o), opts) || o.reserved)
		return -EINVAL;
	return enter_all(ctx, &o, num_complete);
}

XV_PUBLIC int xv_submit_srq(struct xv_srq *srq)
{
	struct xv_enter_qp res;
	int ret;

	ret = enter_all(srq->obj.ctx, &(const struct xv_enter_opts){
			.srqs = &srq, .num_srqs = 1, .res = &res }, NULL);
	return ret ? ret : -srq->err;
}

XV_PUBLIC int xv_enter(struct xv_ctx *ctx, struct xv_qp *const *qps,
		       struct xv_enter_qp *res, unsigned int n,
		       struct xv_cq *cq, unsigned int min_complete,
		       int64_t timeout_ns, unsigned int flags,
		       unsigned int *num_complete)
{
	return do_enter(ctx, qps, res, n, cq, min_complete, timeout_ns, flags,
			num_complete);
}

XV_PUBLIC int xv_submit_and_wait(struct xv_qp *qp, struct xv_cq *cq,
				 unsigned int min_complete, int64_t timeout_ns)
{
	struct xv_enter_qp res;
	int ret;

	ret = do_enter(qp->obj.ctx, &qp, &res, 1, cq, min_complete, timeout_ns,
		       0, NULL);
	return ret ? ret : -qp->err;
}

XV_PUBLIC int xv_submit(struct xv_qp *qp)
{
	return xv_submit_and_wait(qp, NULL, 0, 0);
}

XV_PUBLIC int xv_wait(struct xv_cq *cq, unsigned int min_complete,
		      int64_t timeout_ns)
{
	return do_enter(cq->obj.ctx, NULL, NULL, 0, cq, min_complete,
			timeout_ns, 0, NULL);
}

XV_PUBLIC int xv_arm(struct xv_cq *cq)
{
	return do_enter(cq->obj.ctx, NULL, NULL, 0, cq, 0, 0, XV_ENTER_F_ARM,
			NULL);
}

XV_PUBLIC int xv_arm_solicited(struct xv_cq *cq)
{
	return do_enter(cq->obj.ctx, NULL, NULL, 0, cq, 0, 0,
			XV_ENTER_F_ARM | XV_ENTER_F_SOLICITED, NULL);
}

/* ------------------------------------------------------------------------
 * Completions
 */

XV_PUBLIC int xv_poll(struct xv_cq *cq, struct xv_wc *wc, unsigned int n)
{
	bool entered = false;
	unsigned int got = 0;

	if (!n)
		return 0;
	for (;;) {
		bool more = overflowed(cq);
		uint32_t tail = load_tail(cq);
		uint32_t head = cq->head;
		int ret;

		while (head != tail && got < n) {
			wc[got] = cq->wcs[head++ & cq->mask];
			if (__builtin_expect(!wc[got].qp || cq->num_dead, 0) &&
			    is_dead(cq, wc[got].qp))
				continue;
			got++;
		}
		if (head != cq->head) {
			cq->head = head;
			__atomic_store_n(&cq->ring->head, head,
					 __ATOMIC_RELEASE);
			entered = false;
		}
		if (got)
			return (int)got;
		if (!more) {
			cq->num_dead = 0;
			return 0;
		}
		/* Moved nothing though it had room: leave it to the caller. */
		if (entered)
			return 0;
		ret = xv_wait(cq, 0, 0);
		if (ret)
			return ret;
		entered = true;
	}
}

XV_PUBLIC int xv_event_read(struct xv_eventq *eq, struct xv_event *events,
			    unsigned int n)
{
	XV_KEEP_ERRNO;
	ssize_t ret;

	ret = read(eq->open ? eq->fd : -1, events, n * sizeof(*events));
	return ret < 0 ? -errno : (int)(ret / sizeof(*events));
}
