// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The data path over mapped rings.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fake.h"

static struct xv_ctx *ctx;
static struct xv_pd pd;
static struct xv_cq cq;
static struct xv_qp qp, qp2;

static int setup(void **state)
{
	(void)state;
	ctx = fake_open();
	memset(&pd, 0, sizeof(pd));
	memset(&cq, 0, sizeof(cq));
	memset(&qp, 0, sizeof(qp));
	memset(&qp2, 0, sizeof(qp2));
	pd.obj.handle = 7;
	assert_int_equal(xv_cq_create(xv_now(ctx), &cq,
			 XV_OPTS(xv_cq_opts, .cqe = 8)), 0);
	assert_int_equal(xv_qp_create(xv_now(ctx), &qp, XV_OPTS(xv_qp_opts,
			 .pd = &pd, .send_cq = &cq, .send_wr = 3,
			 .recv_wr = 2)), 0);
	assert_int_equal(xv_qp_create(xv_now(ctx), &qp2, XV_OPTS(xv_qp_opts,
			 .pd = &pd, .send_cq = &cq, .send_wr = 4)), 0);
	fake.txns = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_close(ctx);
	return 0;
}

static void complete(uint32_t handle, uint64_t wr_id)
{
	struct xv_wc *wc = &cq.wcs[cq.ring->tail & cq.mask];

	memset(wc, 0, sizeof(*wc));
	wc->wr_id = wr_id;
	wc->qp = handle;
	cq.ring->tail++;
}

static void send_slots(void **state)
{
	struct xv_send *first, *s;
	struct xv_sge sge = { 1, 2, 3 };

	(void)state;
	/* Depth 3 in a ring of 4. */
	assert_int_equal(xv_sends_free(&qp), 3);
	first = xv_get_send(&qp);
	assert_ptr_equal(first, qp.sends);
	xv_send_prep_send(first, 1, XV_SEND_SIGNALED, sge);
	assert_non_null(xv_get_send(&qp));
	assert_non_null(xv_get_send(&qp));
	assert_null(xv_get_send(&qp));
	assert_int_equal(xv_sends_ready(&qp), 3);
	assert_int_equal(xv_submit(&qp), 0);
	assert_int_equal(fake.enters, 1);
	assert_int_equal(fake.enter.num_qps, 1);
	assert_int_equal(fake.enter_qps[0].qp, qp.obj.handle);
	assert_int_equal(fake.enter_qps[0].num_send, 3);
	assert_int_equal(fake.enter_qps[0].num_recv, 0);
	assert_int_equal(fake.enter_qps[0].flags, 0);
	assert_int_equal(fake.enter.cq, 0);
	assert_int_equal(xv_sends_ready(&qp), 0);
	/* Taken is not done. */
	assert_null(xv_get_send(&qp));
	qp.ring->sends_done = 2;
	assert_int_equal(xv_sends_free(&qp), 2);
	s = xv_get_send(&qp);
	assert_ptr_equal(s, qp.sends + 3);
	s = xv_get_send(&qp);
	assert_ptr_equal(s, first);
	assert_null(xv_get_send(&qp));
}

static void counters_wrap(void **state)
{
	(void)state;
	qp.ring->sends_done = UINT32_MAX;
	qp.send_tail = UINT32_MAX;
	qp.send_taken = UINT32_MAX;
	assert_int_equal(xv_sends_free(&qp), 3);
	assert_ptr_equal(xv_get_send(&qp), qp.sends + 3);
	assert_ptr_equal(xv_get_send(&qp), qp.sends);
	assert_int_equal(xv_sends_ready(&qp), 2);
	assert_int_equal(xv_submit(&qp), 0);
	assert_int_equal(qp.send_taken, 1);
	assert_int_equal(xv_sends_free(&qp), 1);
}

/* A kernel that counts wrongly must not lead outside the ring. */
static void counters_lie(void **state)
{
	struct xv_wc wc[64];

	(void)state;
	qp.ring->sends_done = 1000;
	assert_int_equal(xv_sends_free(&qp), 0);
	assert_null(xv_get_send(&qp));
	cq.ring->tail = 100000;
	assert_int_equal(xv_poll(&cq, wc, 64), 0);
	xv_qp_destroy(xv_now(ctx), &qp);
}

static void post_all_or_none(void **state)
{
	struct xv_send sends[4] = { { .wr_id = 1 }, { .wr_id = 2 } };
	struct xv_recv recvs[3] = { { .wr_id = 3 }, { .wr_id = 4 } };

	(void)state;
	assert_int_equal(xv_post_send(&qp, sends, 4), -EAGAIN);
	assert_int_equal(xv_sends_ready(&qp), 0);
	assert_int_equal(xv_post_send(&qp, sends, 2), 0);
	assert_int_equal(qp.sends[1].wr_id, 2);
	assert_int_equal(xv_post_send(&qp, sends, 2), -EAGAIN);
	assert_int_equal(xv_post_send(&qp, sends, 1), 0);
	assert_int_equal(xv_post_recv(&qp, recvs, 3), -EAGAIN);
	assert_int_equal(xv_post_recv(&qp, recvs, 2), 0);
	assert_int_equal(qp.recvs[1].wr_id, 4);
	assert_null(xv_get_recv(&qp));
	assert_int_equal(xv_recvs_ready(&qp), 2);
	assert_int_equal(xv_submit(&qp), 0);
	assert_int_equal(fake.enter_qps[0].num_send, 3);
	assert_int_equal(fake.enter_qps[0].num_recv, 2);
	qp.ring->recvs_done = 1;
	assert_ptr_equal(xv_get_recv(&qp), qp.recvs);
	/* A queue without receives. */
	assert_int_equal(xv_recvs_free(&qp2), 0);
	assert_null(xv_get_recv(&qp2));
	assert_int_equal(fake.txns, 0);
}

static void partly_taken(void **state)
{
	(void)state;
	xv_get_send(&qp);
	xv_get_send(&qp);
	fake.sends_taken = 1;
	fake.enter_qp_err = EINVAL;
	fake.enter_qp_reason = XV_R_RANGE;
	assert_int_equal(xv_submit(&qp), -EINVAL);
	assert_int_equal(qp.err, EINVAL);
	assert_int_equal(qp.reason, XV_R_RANGE);
	assert_int_equal(xv_sends_ready(&qp), 1);
	/* The bad entry can be taken back, and the next lies in its place. */
	xv_unpost(&qp);
	assert_int_equal(xv_sends_ready(&qp), 0);
	assert_ptr_equal(xv_get_send(&qp), qp.sends + 1);
	fake.sends_taken = -1;
	fake.enter_qp_err = 0;
	assert_int_equal(xv_submit(&qp), 0);
	assert_int_equal(qp.err, 0);
}

static void enter_many(void **state)
{
	struct xv_qp *qps[2] = { &qp, &qp2 };
	struct xv_enter_qp res[2];
	unsigned int num = 99;

	(void)state;
	memset(res, 0xff, sizeof(res));
	xv_get_send(&qp);
	xv_get_send(&qp2);
	xv_get_send(&qp2);
	errno = 4711;
	assert_int_equal(xv_enter(ctx, qps, res, 2, &cq, 3, 1000,
				  XV_ENTER_F_ARM, &num), 0);
	assert_int_equal(errno, 4711);
	assert_int_equal(fake.enter.flags, XV_ENTER_F_ARM);
	assert_int_equal(fake.enter.num_qps, 2);
	assert_int_equal(fake.enter.cq, cq.obj.handle);
	assert_int_equal(fake.enter.min_complete, 3);
	assert_int_equal(fake.enter.timeout_ns, 1000);
	assert_int_equal(fake.enter.reserved, 0);
	assert_int_equal(fake.enter_qps[0].num_send, 1);
	assert_int_equal(fake.enter_qps[1].num_send, 2);
	assert_int_equal(fake.enter_qps[1].sends_taken, 0);
	assert_int_equal(res[1].sends_taken, 2);
	assert_int_equal(num, 0);
	assert_int_equal(xv_sends_ready(&qp) + xv_sends_ready(&qp2), 0);
}

static void shared_receives(void **state)
{
	struct xv_srq srq = {}, *srqs = &srq;
	struct xv_qp *qps[] = { &qp, &qp2 };
	struct xv_recv recvs[4] = { { .wr_id = 1 }, { .wr_id = 2 } };
	struct xv_enter_qp res[3];
	unsigned int num = 77;

	(void)state;
	assert_int_equal(xv_srq_create(xv_now(ctx), &srq, XV_OPTS(xv_srq_opts,
			 .pd = &pd, .recv_wr = 3)), 0);
	assert_int_equal(xv_post_srq_recv(&srq, recvs, 4), -EAGAIN);
	assert_int_equal(xv_srq_ready(&srq), 0);
	assert_int_equal(xv_post_srq_recv(&srq, recvs, 2), 0);
	assert_int_equal(srq.recvs[1].wr_id, 2);
	assert_non_null(xv_srq_get_recv(&srq));
	assert_null(xv_srq_get_recv(&srq));
	xv_srq_unpost(&srq);
	assert_int_equal(xv_srq_free(&srq), 3);
	assert_int_equal(xv_post_srq_recv(&srq, recvs, 2), 0);
	assert_int_equal(xv_submit_srq(&srq), 0);
	assert_int_equal(fake.enter.num_qps, 1);
	assert_int_equal(fake.enter_qps[0].qp, srq.obj.handle);
	assert_int_equal(fake.enter_qps[0].num_recv, 2);
	assert_int_equal(fake.enter_qps[0].num_send, 0);
	/* Taken is not done; what is done need not be the first. */
	assert_int_equal(xv_srq_free(&srq), 1);
	srq.ring->recvs_done = 2;
	assert_int_equal(xv_srq_free(&srq), 3);
	srq.ring->recvs_done = 1000;
	assert_int_equal(xv_srq_free(&srq), 0);
	srq.ring->recvs_done = 2;

	/* First all SRQs, then all queue pairs. */
	memset(res, 0xff, sizeof(res));
	assert_int_equal(xv_post_srq_recv(&srq, recvs, 1), 0);
	xv_get_send(&qp2);
	assert_int_equal(xv_enter_with(ctx, XV_OPTS(xv_enter_opts,
			 .srqs = &srqs, .num_srqs = 1, .qps = qps, .num_qps = 2,
			 .res = res, .cq = &cq, .min_complete = 2,
			 .timeout_ns = 5), &num), 0);
	assert_int_equal(fake.enter.num_qps, 3);
	assert_int_equal(fake.enter.cq, cq.obj.handle);
	assert_int_equal(fake.enter.min_complete, 2);
	assert_int_equal(fake.enter.timeout_ns, 5);
	assert_int_equal(fake.enter_qps[0].qp, srq.obj.handle);
	assert_int_equal(fake.enter_qps[0].num_recv, 1);
	assert_int_equal(fake.enter_qps[2].qp, qp2.obj.handle);
	assert_int_equal(fake.enter_qps[2].num_send, 1);
	assert_int_equal(res[0].recvs_taken, 1);
	assert_int_equal(res[2].sends_taken, 1);
	assert_int_equal(xv_srq_ready(&srq), 0);
	assert_int_equal(xv_sends_ready(&qp2), 0);
	assert_int_equal(num, 0);
	/* Its own error. */
	fake.enter_qp_err = EAGAIN;
	fake.enter_qp_reason = XV_R_QUEUE_FULL;
	assert_int_equal(xv_submit_srq(&srq), -EAGAIN);
	assert_int_equal(srq.reason, XV_R_QUEUE_FULL);
	fake.enter_qp_err = 0;
	fake.enter_qp_reason = 0;
	fake.enters = 0;
	assert_int_equal(xv_enter_with(ctx, XV_OPTS(xv_enter_opts,
			 .reserved = 1), NULL), -EINVAL);
	assert_int_equal(xv_enter_with(ctx, NULL, NULL), -EINVAL);
	assert_int_equal(fake.enters, 0);
}

static void enter_errors(void **state)
{
	static const int errs[] = { ETIME, EINTR, ENODEV, ENOENT };
	unsigned int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		fake.enters = 0;
		fake.enter_errno = errs[i];
		assert_int_equal(xv_wait(&cq, 1, -1), -errs[i]);
		/* A signal is the caller's business: no retry. */
		assert_int_equal(fake.enters, 1);
		assert_int_equal(fake.enter.timeout_ns, -1);
		assert_int_equal(fake.enter.min_complete, 1);
	}
	fake.enter_errno = 0;
	assert_int_equal(xv_arm(&cq), 0);
	assert_int_equal(fake.enter.flags, XV_ENTER_F_ARM);
	assert_int_equal(xv_arm_solicited(&cq), 0);
	assert_int_equal(fake.enter.flags,
			 XV_ENTER_F_ARM | XV_ENTER_F_SOLICITED);
}

static void enter_room(void **state)
{
	struct xv_qp *qps[2] = { &qp, &qp2 };
	struct xv_enter_qp res[2];

	(void)state;
	/* One shot, and of one queue pair. */
	qp2.room = 4;
	assert_int_equal(xv_enter(ctx, qps, res, 2, NULL, 0, 0, 0, NULL), 0);
	assert_int_equal(fake.enter_qps[0].flags, 0);
	assert_int_equal(fake.enter_qps[1].flags, XV_ENTER_QP_ROOM(4));
	assert_int_equal(qp2.room, 0);
	assert_int_equal(xv_submit(&qp2), 0);
	assert_int_equal(fake.enter_qps[0].flags, 0);

	/* A full queue is what it is for; and a wait comes after it. */
	qp.room = 2;
	fake.enter_qp_err = EAGAIN;
	assert_int_equal(xv_submit(&qp), -EAGAIN);
	assert_int_equal(fake.enter_qps[0].flags, XV_ENTER_QP_ROOM(2));
	assert_int_equal(qp.room, 0);
	fake.enter_qp_err = 0;
	fake.enter_errno = ETIME;
	qp.room = 2;
	assert_int_equal(xv_submit_and_wait(&qp, &cq, 1, 1), -ETIME);
	assert_int_equal(qp.room, 0);

	/* What was not done is not forgotten. */
	fake.enter_errno = ENODEV;
	qp.room = 2;
	assert_int_equal(xv_submit(&qp), -ENODEV);
	assert_int_equal(qp.room, 2);
	fake.enter_errno = 0;
	fake.enter_qp_err = EINVAL;
	assert_int_equal(xv_submit(&qp), -EINVAL);
	assert_int_equal(qp.room, 2);
	fake.enter_qp_err = 0;

	/* Too many are not taken for few. */
	qp.room = 0x10001;
	assert_int_equal(xv_submit(&qp), 0);
	assert_int_equal(fake.enter_qps[0].flags, XV_ENTER_QP_ROOM(0xffff));
}

static void poll_plain(void **state)
{
	struct xv_wc wc[8];
	unsigned int i;

	(void)state;
	assert_int_equal(xv_poll(&cq, wc, 8), 0);
	for (i = 0; i < 5; i++)
		complete(qp.obj.handle, i);
	assert_int_equal(xv_poll(&cq, wc, 0), 0);
	assert_int_equal(xv_poll(&cq, wc, 2), 2);
	assert_int_equal(wc[1].wr_id, 1);
	assert_int_equal(cq.ring->head, 2);
	assert_int_equal(xv_poll(&cq, wc, 8), 3);
	assert_int_equal(wc[2].wr_id, 4);
	assert_int_equal(cq.ring->head, 5);
	assert_int_equal(xv_poll(&cq, wc, 8), 0);
	/* Over the end of the ring, and of the numbers. */
	cq.ring->tail = UINT32_MAX - 1;
	cq.ring->head = UINT32_MAX - 1;
	cq.head = UINT32_MAX - 1;
	for (i = 0; i < 8; i++)
		complete(qp.obj.handle, 10 + i);
	assert_int_equal(xv_poll(&cq, wc, 8), 8);
	assert_int_equal(wc[7].wr_id, 17);
	assert_int_equal(cq.ring->head, 6);
	assert_int_equal(fake.enters, 0);
}

static unsigned int stored;

static void move_stored(struct xv_enter *enter)
{
	assert_int_equal(enter->cq, cq.obj.handle);
	assert_int_equal(enter->min_complete, 0);
	assert_int_equal(enter->num_qps, 0);
	for (; stored && cq.ring->tail - cq.ring->head < 8; stored--)
		complete(stored % 2 ? qp.obj.handle : qp2.obj.handle, stored);
	if (!stored)
		cq.ring->flags = 0;
}

static void poll_overflow(void **state)
{
	struct xv_wc wc[32];
	unsigned int i;

	(void)state;
	fake.on_enter = move_stored;
	for (i = 0; i < 8; i++)
		complete(qp.obj.handle, i);
	cq.ring->flags = XV_CQ_OVERFLOW;
	stored = 10;
	/* Not empty: no call. */
	assert_int_equal(xv_poll(&cq, wc, 32), 8);
	assert_int_equal(fake.enters, 0);
	assert_int_equal(xv_poll(&cq, wc, 32), 8);
	assert_int_equal(fake.enters, 1);
	assert_int_equal(xv_poll(&cq, wc, 32), 2);
	assert_int_equal(xv_poll(&cq, wc, 32), 0);
	assert_int_equal(fake.enters, 2);
	/* A flag that stays up is no reason to hang. */
	fake.on_enter = NULL;
	cq.ring->flags = XV_CQ_OVERFLOW;
	assert_int_equal(xv_poll(&cq, wc, 32), 0);
	assert_int_equal(fake.enters, 3);
	fake.enter_errno = ENODEV;
	assert_int_equal(xv_poll(&cq, wc, 32), -ENODEV);
}

static void destroyed_qp_is_dropped(void **state)
{
	uint32_t dead = qp.obj.handle;
	struct xv_wc wc[8];

	(void)state;
	complete(dead, 1);
	complete(qp2.obj.handle, 2);
	complete(dead, 3);
	complete(qp2.obj.handle, 4);
	assert_int_equal(xv_poll(&cq, wc, 1), 1);
	assert_int_equal(xv_qp_destroy(xv_now(ctx), &qp), 0);
	assert_int_equal(xv_poll(&cq, wc, 8), 2);
	assert_int_equal(wc[0].wr_id, 2);
	assert_int_equal(wc[1].wr_id, 4);
	assert_int_equal(cq.ring->head, 4);
	/* A ring of dead ones only counts as empty, and is emptied. */
	complete(qp2.obj.handle, 5);
	assert_int_equal(xv_qp_destroy(xv_now(ctx), &qp2), 0);
	assert_int_equal(xv_poll(&cq, wc, 8), 0);
	assert_int_equal(cq.ring->head, 5);
	assert_int_equal(fake.enters, 0);
	assert_int_equal(xv_cq_destroy(xv_now(ctx), &cq), 0);
}

static void refused_destroy_drops_nothing(void **state)
{
	struct xv_error err = { .err = EIO, .reason = XV_R_DRIVER };
	struct xv_wc wc[8];

	(void)state;
	complete(qp.obj.handle, 1);
	fake_fail(&err, 1);
	assert_int_equal(xv_qp_destroy(xv_now(ctx), &qp), -EIO);
	assert_non_null(qp.ring);
	assert_int_equal(xv_poll(&cq, wc, 8), 1);
}

static void destroyed_qp_in_overflow(void **state)
{
	uint32_t dead = qp.obj.handle;
	struct xv_wc wc[32];
	int i, n, got = 0;

	(void)state;
	for (i = 0; i < 8; i++)
		complete(qp.obj.handle, i);
	cq.ring->flags = XV_CQ_OVERFLOW;
	stored = 20;
	/* qp has the odd ones of those that the kernel holds back. */
	fake.on_enter = move_stored;
	assert_int_equal(xv_qp_destroy(xv_now(ctx), &qp), 0);
	qp.obj.handle = dead;	/* for move_stored() */
	while ((n = xv_poll(&cq, wc, 4)) > 0) {
		for (i = 0; i < n; i++)
			assert_int_equal(wc[i].qp, qp2.obj.handle);
		got += n;
	}
	assert_int_equal(n, 0);
	assert_int_equal(got, 10);
	/* Forgotten once the ring was seen empty. */
	assert_int_equal(cq.num_dead, 0);
	complete(qp.obj.handle, 1);
	assert_int_equal(xv_poll(&cq, wc, 4), 1);
}

static void many_destroyed_in_overflow(void **state)
{
	struct xv_wc wc[8];
	unsigned int i;

	(void)state;
	cq.ring->flags = XV_CQ_OVERFLOW;
	for (i = 0; i < 500; i++) {
		struct xv_qp tmp = {};

		fake.area_used = 64 * 1024;
		assert_int_equal(xv_qp_create(xv_now(ctx), &tmp,
				 XV_OPTS(xv_qp_opts, .pd = &pd,
					 .send_cq = &cq, .send_wr = 1)), 0);
		assert_int_equal(xv_qp_destroy(xv_now(ctx), &tmp), 0);
		complete(fake.next_handle - 1, i);
		if (cq.ring->tail - cq.ring->head == 8)
			assert_int_equal(xv_poll(&cq, wc, 8), 0);
	}
	assert_int_equal(cq.num_dead, 500);
	/* The context frees what is left. */
}

static void prep_helpers(void **state)
{
	struct xv_ah ah = { .obj.handle = 12 };
	struct xv_sge sge = { 5, 64, 128 };
	struct xv_send s;
	struct xv_recv r;

	(void)state;
	memset(&s, 0xff, sizeof(s));
	xv_send_prep_write_imm(&s, 9, XV_SEND_FENCE, sge, 0x1000, 77, 88);
	assert_int_equal(s.wr_id, 9);
	assert_int_equal(s.opcode, XV_WR_RDMA_WRITE_WITH_IMM);
	assert_int_equal(s.num_sge, 1);
	assert_int_equal(s.flags, XV_SEND_FENCE);
	assert_int_equal(s.imm_data, 88);
	assert_int_equal(s.remote_addr, 0x1000);
	assert_int_equal(s.rkey, 77);
	assert_int_equal(s.inline_len | s.compare_add | s.swap, 0);
	assert_int_equal(s.ah | s.remote_qpn | s.remote_qkey | s.reserved, 0);
	assert_memory_equal(&s.sge[0], &sge, sizeof(sge));

	xv_send_prep(&s, XV_WR_SEND, 1, 0);
	xv_send_set_inline(&s, "hello", 6);
	assert_int_equal(s.num_sge, 0);
	assert_int_equal(s.inline_len, 6);
	assert_int_equal(s.flags, XV_SEND_INLINE);
	assert_string_equal((char *)s.inline_data, "hello");

	xv_send_prep_cmp_swp(&s, 1, 0, sge, 8, 1, 2, 3);
	assert_int_equal(s.opcode, XV_WR_ATOMIC_CMP_AND_SWP);
	assert_int_equal(s.compare_add, 2);
	assert_int_equal(s.swap, 3);
	xv_send_prep_fetch_add(&s, 1, 0, sge, 8, 1, 2);
	assert_int_equal(s.opcode, XV_WR_ATOMIC_FETCH_AND_ADD);
	assert_int_equal(s.compare_add, 2);
	assert_int_equal(s.swap, 0);
	xv_send_prep_read(&s, 1, 0, sge, 8, 1);
	assert_int_equal(s.opcode, XV_WR_RDMA_READ);
	xv_send_prep_write(&s, 1, 0, sge, 8, 1);
	assert_int_equal(s.opcode, XV_WR_RDMA_WRITE);
	xv_send_prep_send_imm(&s, 1, 0, sge, 4);
	assert_int_equal(s.opcode, XV_WR_SEND_WITH_IMM);
	assert_int_equal(s.imm_data, 4);

	memset(&s, 0xff, sizeof(s));
	xv_send_prep_ud(&s, 1, XV_SEND_SIGNALED, sge, &ah, 2, 3);
	assert_int_equal(s.opcode, XV_WR_SEND);
	assert_int_equal(s.ah, 12);
	assert_int_equal(s.remote_qpn, 2);
	assert_int_equal(s.remote_qkey, 3);
	assert_int_equal(s.num_sge, 1);
	assert_int_equal(s.reserved | s.imm_data, 0);
	xv_send_prep_ud_imm(&s, 1, 0, sge, &ah, 4, 5, 6);
	assert_int_equal(s.opcode, XV_WR_SEND_WITH_IMM);
	assert_int_equal(s.remote_qpn, 4);
	assert_int_equal(s.remote_qkey, 5);
	assert_int_equal(s.imm_data, 6);

	memset(&r, 0xff, sizeof(r));
	xv_recv_prep(&r, 4);
	xv_recv_add_sge(&r, sge);
	xv_recv_add_sge(&r, sge);
	assert_int_equal(r.num_sge, 2);
	assert_int_equal(r.reserved, 0);
	assert_memory_equal(&r.sge[1], &sge, sizeof(sge));
}

static void events(void **state)
{
	struct xv_event in[2] = { { .cookie = 1 }, { .cookie = 2 } };
	struct xv_event out[4];
	struct xv_eventq eq = {};
	int fds[2];

	(void)state;
	assert_int_equal(xv_event_read(&eq, out, 4), -EBADF);
	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	eq.fd = fds[0];
	eq.open = 1;
	assert_int_equal(xv_event_read(&eq, out, 4), -EAGAIN);
	assert_int_equal(write(fds[1], in, sizeof(in)), sizeof(in));
	assert_int_equal(xv_event_read(&eq, out, 1), 1);
	assert_int_equal(xv_event_read(&eq, out, 4), 1);
	assert_int_equal(out[0].cookie, 2);
	close(fds[1]);
	assert_int_equal(xv_event_read(&eq, out, 4), 0);
	xv_eventq_close(&eq);
	xv_eventq_close(&eq);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(send_slots), T(counters_wrap), T(counters_lie),
		T(post_all_or_none), T(partly_taken), T(enter_many),
		T(shared_receives),
		T(enter_errors), T(enter_room), T(poll_plain), T(poll_overflow),
		T(destroyed_qp_is_dropped), T(refused_destroy_drops_nothing),
		T(destroyed_qp_in_overflow), T(many_destroyed_in_overflow),
		T(prep_helpers), T(events),
	};

	return cmocka_run_group_tests_name("data", tests, NULL, NULL);
}
