// SPDX-License-Identifier: GPL-2.0
/*
 * The data path: what is sent arrives, what is wrong is refused in its place,
 * and nobody waits for ever.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <arpa/inet.h>
#include <signal.h>
#include "xv_test.h"

FIXTURE(data) {
	struct xvt t;
	struct xvt_snap before;
	struct xvt_pair p;
};

FIXTURE_SETUP(data)
{
	xvt_open(_metadata, &self->t);
	xvt_snap(_metadata, &self->t, &self->before);
	xvt_pair(_metadata, &self->t, &self->p, NULL);
}

FIXTURE_TEARDOWN(data)
{
	xvt_teardown(_metadata);
	if (self->p.pd.obj.handle)
		EXPECT_EQ(0, xvt_pair_destroy(&self->p));
	xvt_same(_metadata, &self->t, &self->before, "at the end");
	xvt_close(&self->t);
}

#define TARGET	32768	/* where in the buffer data arrive */

/* Fill the entry's remote side with a place in the pair's own buffer. */
static void to_remote(struct xvt_pair *p, struct xv_send *s, size_t offset)
{
	xv_send_set_remote(s, p->mr.info.iova + offset, p->mr.info.rkey);
}

static int submit_one(struct xvt_pair *p, int side, const struct xv_send *s)
{
	int ret = xv_post_send(&p->qp[side], s, 1);

	return ret ? ret : xv_submit(&p->qp[side]);
}

static struct xv_send a_write(struct xvt_pair *p, uint64_t wr_id,
			      uint16_t flags, size_t from, uint32_t len)
{
	struct xv_send s;

	xv_send_prep_write(&s, wr_id, flags, xvt_sge(p, from, len),
			   p->mr.info.iova + TARGET, p->mr.info.rkey);
	return s;
}

static const uint32_t sizes[] = { 1, 7, 64, 1023, 4096, 4097, 20000 };

TEST_F(data, send)
{
	struct xvt_pair *p = &self->p;
	struct xv_wc wc;
	unsigned int i, imm;

	for (imm = 0; imm < 2; imm++)
		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			struct xv_send s;

			xvt_fill(p->buf, sizes[i], i);
			memset(p->buf + TARGET, 0x55, sizes[i] + 1);
			ASSERT_EQ(0, xvt_recv(p, 1, 100 + i, TARGET, sizes[i]));
			xv_send_prep_send(&s, i, XV_SEND_SIGNALED,
					  xvt_sge(p, 0, sizes[i]));
			if (imm) {
				s.opcode = XV_WR_SEND_WITH_IMM;
				s.imm_data = htonl(0x1234 + i);
			}
			ASSERT_EQ(0, submit_one(p, 0, &s));
			ASSERT_EQ(1, xvt_wc(&p->cq[1], &wc));
			EXPECT_EQ(100 + i, wc.wr_id);
			EXPECT_EQ(XV_WC_SUCCESS, wc.status);
			EXPECT_EQ(sizes[i], wc.byte_len);
			EXPECT_EQ(0, wc.opcode);
			EXPECT_EQ(p->qp[1].obj.handle, wc.qp);
			EXPECT_EQ(XV_WC_RECV | (imm ? XV_WC_WITH_IMM : 0),
				  wc.flags);
			EXPECT_EQ(imm ? htonl(0x1234 + i) : 0, wc.imm_data);
			EXPECT_EQ(0, wc.vendor_err);
			EXPECT_EQ(0, wc.slid | wc.sl | wc.net_type);
			ASSERT_EQ(1, xvt_wc(&p->cq[0], &wc));
			EXPECT_EQ(i, wc.wr_id);
			EXPECT_EQ(XV_WC_SUCCESS, wc.status);
			EXPECT_EQ(s.opcode, wc.opcode);
			EXPECT_EQ(0, wc.flags);
			EXPECT_EQ(p->qp[0].obj.handle, wc.qp);
			EXPECT_TRUE(xvt_filled(p->buf + TARGET, sizes[i], i));
			EXPECT_EQ(0x55, p->buf[TARGET + sizes[i]]);
		}
}

TEST_F(data, write_and_read)
{
	struct xvt_pair *p = &self->p;
	struct xv_wc wc;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct xv_send s = a_write(p, i, XV_SEND_SIGNALED, 0, sizes[i]);

		xvt_fill(p->buf, sizes[i], i);
		memset(p->buf + TARGET, 0x55, sizes[i] + 1);
		ASSERT_EQ(0, submit_one(p, 0, &s));
		ASSERT_EQ(1, xvt_wc(&p->cq[0], &wc));
		EXPECT_EQ(XV_WC_SUCCESS, wc.status);
		EXPECT_EQ(XV_WR_RDMA_WRITE, wc.opcode);
		EXPECT_TRUE(xvt_filled(p->buf + TARGET, sizes[i], i));
		EXPECT_EQ(0x55, p->buf[TARGET + sizes[i]]);

		xvt_fill(p->buf + TARGET, sizes[i], 99 + i);
		memset(p->buf, 0x55, sizes[i] + 1);
		xv_send_prep_read(&s, i, XV_SEND_SIGNALED,
				  xvt_sge(p, 0, sizes[i]),
				  p->mr.info.iova + TARGET, p->mr.info.rkey);
		ASSERT_EQ(0, submit_one(p, 0, &s));
		ASSERT_EQ(1, xvt_wc(&p->cq[0], &wc));
		EXPECT_EQ(XV_WC_SUCCESS, wc.status);
		EXPECT_EQ(XV_WR_RDMA_READ, wc.opcode);
		EXPECT_EQ(sizes[i], wc.byte_len);
		EXPECT_TRUE(xvt_filled(p->buf, sizes[i], 99 + i));
		EXPECT_EQ(0x55, p->buf[sizes[i]]);
	}
	/* The peer saw nothing of it. */
	EXPECT_EQ(0, xv_wait(&p->cq[1], 0, 0));
	EXPECT_EQ(0, xv_poll(&p->cq[1], &wc, 1));
}

TEST_F(data, write_with_imm)
{
	struct xvt_pair *p = &self->p;
	struct xv_send s;
	struct xv_wc wc;

	ASSERT_EQ(0, xvt_recv(p, 1, 5, 0, 1));
	xvt_fill(p->buf + 1024, 500, 3);
	xv_send_prep_write_imm(&s, 6, XV_SEND_SIGNALED, xvt_sge(p, 1024, 500),
			       p->mr.info.iova + TARGET, p->mr.info.rkey,
			       htonl(77));
	ASSERT_EQ(0, submit_one(p, 0, &s));
	ASSERT_EQ(1, xvt_wc(&p->cq[1], &wc));
	EXPECT_EQ(5, wc.wr_id);
	EXPECT_EQ(XV_WC_RECV | XV_WC_WITH_IMM | XV_WC_RDMA, wc.flags);
	EXPECT_EQ(htonl(77), wc.imm_data);
	EXPECT_EQ(500, wc.byte_len);
	xvt_expect_wc(_metadata, &p->cq[0], 6, XV_WC_SUCCESS);
	EXPECT_TRUE(xvt_filled(p->buf + TARGET, 500, 3));
}

TEST_F(data, atomics)
{
	struct xvt_pair *p = &self->p;
	uint64_t *old = (uint64_t *)p->buf;
	uint64_t *there = (uint64_t *)(p->buf + TARGET);
	struct xv_send s;
	struct xv_wc wc;

	*there = 40;
	xv_send_prep_fetch_add(&s, 1, XV_SEND_SIGNALED, xvt_sge(p, 0, 8),
			       p->mr.info.iova + TARGET, p->mr.info.rkey, 2);
	ASSERT_EQ(0, submit_one(p, 0, &s));
	ASSERT_EQ(1, xvt_wc(&p->cq[0], &wc));
	EXPECT_EQ(XV_WC_SUCCESS, wc.status);
	EXPECT_EQ(XV_WR_ATOMIC_FETCH_AND_ADD, wc.opcode);
	EXPECT_EQ(8, wc.byte_len);
	EXPECT_EQ(40, *old);
	EXPECT_EQ(42, *there);

	xv_send_prep_cmp_swp(&s, 2, XV_SEND_SIGNALED, xvt_sge(p, 0, 8),
			     p->mr.info.iova + TARGET, p->mr.info.rkey, 42, 7);
	ASSERT_EQ(0, submit_one(p, 0, &s));
	xvt_expect_wc(_metadata, &p->cq[0], 2, XV_WC_SUCCESS);
	EXPECT_EQ(42, *old);
	EXPECT_EQ(7, *there);

	/* It does not compare: nothing is swapped, the old value comes. */
	s.wr_id = 3;
	ASSERT_EQ(0, submit_one(p, 0, &s));
	xvt_expect_wc(_metadata, &p->cq[0], 3, XV_WC_SUCCESS);
	EXPECT_EQ(7, *old);
	EXPECT_EQ(7, *there);
}

TEST_F(data, inline_data)
{
	static const uint8_t opcodes[] = {
		XV_WR_SEND, XV_WR_SEND_WITH_IMM, XV_WR_RDMA_WRITE_WITH_IMM,
	};
	struct xvt_pair *p = &self->p;
	uint8_t data[XV_MAX_INLINE];
	struct xv_send s;
	unsigned int i, len;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++)
		for (len = 0; len <= XV_MAX_INLINE; len += 16) {
			xvt_fill(data, sizeof(data), i + len);
			memset(p->buf + TARGET, 0x55, sizeof(data) + 1);
			ASSERT_EQ(0, xvt_recv(p, 1, 1, TARGET, 100));
			xv_send_prep(&s, opcodes[i], 2, XV_SEND_SIGNALED);
			xv_send_set_inline(&s, data, len);
			if (opcodes[i] == XV_WR_RDMA_WRITE_WITH_IMM)
				to_remote(p, &s, TARGET);
			ASSERT_EQ(0, submit_one(p, 0, &s));
			/* The entry is ours again, whatever it was sent as. */
			memset(p->qp[0].sends, 0xee,
			       (p->qp[0].send_mask + 1) * sizeof(s));
			xvt_expect_wc(_metadata, &p->cq[0], 2, XV_WC_SUCCESS);
			xvt_expect_wc(_metadata, &p->cq[1], 1, XV_WC_SUCCESS);
			EXPECT_TRUE(xvt_filled(p->buf + TARGET, len, i + len));
			EXPECT_EQ(0x55, p->buf[TARGET + len]);
		}
}

TEST_F(data, pieces)
{
	struct xvt_pair *p = &self->p;
	uint8_t want[600];
	struct xv_send s;
	struct xv_recv r;
	struct xv_wc wc;
	int i;

	/* 100 + 0 + 200 + 300 bytes into 50 + 500 + 50. */
	for (i = 0; i < 4; i++)
		xvt_fill(p->buf + 4096 * i, 300, i);
	memcpy(want, p->buf, 100);
	memcpy(want + 100, p->buf + 8192, 200);
	memcpy(want + 300, p->buf + 12288, 300);
	xv_recv_prep(&r, 1);
	xv_recv_add_sge(&r, xvt_sge(p, TARGET, 50));
	xv_recv_add_sge(&r, xvt_sge(p, TARGET + 1000, 500));
	xv_recv_add_sge(&r, xvt_sge(p, TARGET + 50, 50));
	ASSERT_EQ(0, xv_post_recv(&p->qp[1], &r, 1));
	ASSERT_EQ(0, xv_submit(&p->qp[1]));
	xv_send_prep(&s, XV_WR_SEND, 2, XV_SEND_SIGNALED);
	xv_send_add_sge(&s, xvt_sge(p, 0, 100));
	xv_send_add_sge(&s, xvt_sge(p, 4096, 0));
	xv_send_add_sge(&s, xvt_sge(p, 8192, 200));
	xv_send_add_sge(&s, xvt_sge(p, 12288, 300));
	ASSERT_EQ(0, submit_one(p, 0, &s));
	ASSERT_EQ(1, xvt_wc(&p->cq[1], &wc));
	EXPECT_EQ(XV_WC_SUCCESS, wc.status);
	EXPECT_EQ(600, wc.byte_len);
	xvt_expect_wc(_metadata, &p->cq[0], 2, XV_WC_SUCCESS);
	EXPECT_EQ(0, memcmp(p->buf + TARGET, want, 50));
	EXPECT_EQ(0, memcmp(p->buf + TARGET + 1000, want + 50, 500));
	EXPECT_EQ(0, memcmp(p->buf + TARGET + 50, want + 550, 50));
}

TEST_F(data, nothing_to_send)
{
	struct xvt_pair *p = &self->p;
	struct xv_send s;
	struct xv_recv r;
	struct xv_wc wc;
	int i;

	for (i = 0; i < 3; i++) {
		xv_recv_prep(&r, 1);
		if (i == 1)
			xv_recv_add_sge(&r, xvt_sge(p, p->length, 0));
		if (i == 2)
			xv_recv_add_sge(&r, xvt_sge(p, 0, 10));
		ASSERT_EQ(0, xv_post_recv(&p->qp[1], &r, 1));
		ASSERT_EQ(0, xv_submit(&p->qp[1]));
		xv_send_prep(&s, XV_WR_SEND, 2, XV_SEND_SIGNALED);
		if (i == 1)
			xv_send_add_sge(&s, xvt_sge(p, p->length, 0));
		ASSERT_EQ(0, submit_one(p, 0, &s));
		ASSERT_EQ(1, xvt_wc(&p->cq[1], &wc));
		EXPECT_EQ(XV_WC_SUCCESS, wc.status);
		EXPECT_EQ(0, wc.byte_len);
		xvt_expect_wc(_metadata, &p->cq[0], 2, XV_WC_SUCCESS);
	}
}

TEST_F(data, slots_of_unsignaled_sends_return)
{
	unsigned int left = xvt_count(DATA_STREAM);
	struct xvt_pair *p = &self->p;
	int64_t end = xvt_now() + xvt_ns(20000);
	struct xv_send s;
	struct xv_wc wc;

	while (left && xvt_now() < end) {
		while (left && xv_sends_free(&p->qp[0])) {
			s = a_write(p, left--, 0, 0, 8);
			ASSERT_EQ(0, xv_post_send(&p->qp[0], &s, 1));
		}
		ASSERT_EQ(0, xv_submit(&p->qp[0]));
		ASSERT_EQ(0, xv_wait(&p->cq[0], 0, 0));
		ASSERT_EQ(0, xv_poll(&p->cq[0], &wc, 1));
	}
	EXPECT_EQ(0, left);
	/* All slots, in the end. */
	EXPECT_TRUE(xvt_wait_until(!xv_wait(&p->cq[0], 0, 0) &&
				   xv_sends_free(&p->qp[0]) == 16, 5000));
	EXPECT_EQ(0, xv_poll(&p->cq[0], &wc, 1));
}

TEST_F(data, stream)
{
	unsigned int n = xvt_count(DATA_STREAM);
	unsigned int sent = 0, got = 0, posted = 0, done = 0;
	struct xvt_pair *p = &self->p;
	int64_t end = xvt_now() + xvt_ns(30000);
	struct xv_wc wc;
	int side, ret;

	/* Every message says in its bytes which one it is. */
	while ((got < n || done < n) && xvt_now() < end) {
		while (posted < n && posted < got + 16) {
			ASSERT_EQ(0, xvt_recv(p, 1, posted, TARGET +
					      posted % 16 * 1024, 1024));
			posted++;
		}
		while (sent < posted && sent < done + 16) {
			uint32_t len = 1 + sent * 37 % 1024;

			xvt_fill(p->buf + sent % 16 * 1024, len, sent);
			ret = xvt_send(p, 0, sent, sent % 16 * 1024, len);
			ASSERT_EQ(0, ret);
			sent++;
		}
		for (side = 0; side < 2; side++) {
			ret = xv_wait(&p->cq[side], 0, 0);
			ASSERT_EQ(0, ret);
			while (xv_poll(&p->cq[side], &wc, 1) == 1) {
				ASSERT_EQ(XV_WC_SUCCESS, wc.status);
				if (!side) {
					ASSERT_EQ(done, wc.wr_id);
					done++;
					continue;
				}
				ASSERT_EQ(got, wc.wr_id);
				ASSERT_EQ(1 + got * 37 % 1024, wc.byte_len);
				ASSERT_TRUE(xvt_filled(p->buf + TARGET +
						       got % 16 * 1024,
						       wc.byte_len, got));
				got++;
			}
		}
	}
	EXPECT_EQ(n, got);
	EXPECT_EQ(n, done);
}

/* ---- full queues ---- */

TEST_F(data, full_receive_queue)
{
	struct xvt_pair *p = &self->p;
	struct xv_enter_qp what = { .qp = p->qp[1].obj.handle };
	struct xv_enter e = { .num_qps = 1, .qps = (uintptr_t)&what };
	int64_t before;
	int i;

	for (i = 0; i < 16; i++)
		ASSERT_EQ(0, xvt_recv(p, 1, i, TARGET, 64));
	EXPECT_EQ(0, xv_recvs_free(&p->qp[1]));
	p->qp[1].recvs[0] = (struct xv_recv){ .wr_id = 16 };
	what.num_recv = 1;
	before = xvt_now();
	EXPECT_EQ(-EAGAIN, xv_enter_raw(self->t.ctx, &e));
	EXPECT_GT(xvt_ns(1000), xvt_now() - before);
	EXPECT_EQ(0, what.recvs_taken);
	EXPECT_EQ(EAGAIN, what.err);
	EXPECT_EQ(XV_R_QUEUE_FULL, what.reason);

	/* Room for one. */
	ASSERT_EQ(0, xvt_send(p, 0, 1, 0, 10));
	xvt_expect_wc(_metadata, &p->cq[1], 0, XV_WC_SUCCESS);
	what.num_recv = 3;
	EXPECT_EQ(0, xv_enter_raw(self->t.ctx, &e));
	EXPECT_EQ(1, what.recvs_taken);
	EXPECT_EQ(EAGAIN, what.err);
	EXPECT_EQ(XV_R_QUEUE_FULL, what.reason);
	p->qp[1].recv_tail++;
	p->qp[1].recv_taken++;
}

TEST_F(data, full_send_queue)
{
	struct xvt_pair p;
	struct xv_enter_qp what = {};
	struct xv_enter e = { .num_qps = 1, .qps = (uintptr_t)&what };
	struct xv_send s;
	int i;

	/* In INIT nothing is taken out, so that the queue stays full. */
	xvt_pair(_metadata, &self->t, &p,
		 &(struct xvt_pair_opts){ .no_connect = true, .send_wr = 5 });
	what.qp = p.qp[0].obj.handle;
	for (i = 0; i < 8; i++) {
		s = a_write(&p, i, XV_SEND_SIGNALED, 0, 8);
		p.qp[0].sends[i] = s;
	}
	EXPECT_EQ(8, p.qp[0].info.send_entries);
	what.num_send = 8;
	EXPECT_EQ(0, xv_enter_raw(self->t.ctx, &e));
	EXPECT_EQ(5, what.sends_taken);
	EXPECT_EQ(EAGAIN, what.err);
	what.num_send = 1;
	EXPECT_EQ(-EAGAIN, xv_enter_raw(self->t.ctx, &e));
	EXPECT_EQ(0, what.sends_taken);
	EXPECT_EQ(XV_R_QUEUE_FULL, what.reason);

	p.qp[0].send_tail = 5;
	p.qp[0].send_taken = 5;
	for (i = 0; i < 2; i++)
		xvt_connect(_metadata, &self->t, &p.qp[i], &p.qp[!i]);
	for (i = 0; i < 5; i++)
		xvt_expect_wc(_metadata, &p.cq[0], i, XV_WC_SUCCESS);
	EXPECT_EQ(5, xv_sends_free(&p.qp[0]));
	EXPECT_EQ(0, xv_enter_raw(self->t.ctx, &e));
	EXPECT_EQ(1, what.sends_taken);
	EXPECT_EQ(0, what.err);
	p.qp[0].send_tail++;
	p.qp[0].send_taken++;
	xvt_expect_wc(_metadata, &p.cq[0], 5, XV_WC_SUCCESS);
	EXPECT_EQ(0, xvt_pair_destroy(&p));
}

/* ---- bad entries ---- */

struct spoil {
	const char *what;
	size_t offset;
	size_t size;
	uint64_t value;
	int err;
	int reason;
};

#define SPOIL(type, field, v, e, r)					\
	{ #field " = " #v, offsetof(struct type, field),		\
	  sizeof(((struct type *)0)->field), (v), (e), (r) }

/* A bad entry stays where it is, tells why, and does not hurt the next one. */
static void try_spoiled_send(struct __test_metadata *_metadata,
			     struct xvt_pair *p, const struct xv_send *base,
			     const struct spoil *spoil)
{
	struct xv_send s = *base;
	struct xv_send good[3];

	memcpy((char *)&s + spoil->offset, &spoil->value, spoil->size);
	/* In the middle of a chain: the first goes, the third does not. */
	good[0] = a_write(p, 1, XV_SEND_SIGNALED, 0, 8);
	good[1] = s;
	good[2] = a_write(p, 3, XV_SEND_SIGNALED, 0, 8);
	ASSERT_EQ(0, xv_post_send(&p->qp[0], good, 3));
	EXPECT_EQ(-spoil->err, xv_submit(&p->qp[0])) {
		TH_LOG("%s", spoil->what);
	}
	EXPECT_EQ(spoil->reason, p->qp[0].reason) {
		TH_LOG("%s", spoil->what);
	}
	EXPECT_EQ(2, xv_sends_ready(&p->qp[0]));
	xvt_expect_wc(_metadata, &p->cq[0], 1, XV_WC_SUCCESS);
	/* Again, now as the first of its chain: nothing is done. */
	EXPECT_EQ(-spoil->err, xv_submit(&p->qp[0]));
	EXPECT_EQ(2, xv_sends_ready(&p->qp[0]));
	xv_unpost(&p->qp[0]);
}

TEST_F(data, bad_sends)
{
	static const struct spoil any[] = {
		SPOIL(xv_send, opcode, 0, EINVAL, XV_R_RANGE),
		SPOIL(xv_send, opcode, XV_WR_FLUSH, EOPNOTSUPP,
		      XV_R_NOT_OFFERED),
		SPOIL(xv_send, opcode, XV_WR_ATOMIC_WRITE, EOPNOTSUPP,
		      XV_R_NOT_OFFERED),
		SPOIL(xv_send, opcode, XV_WR_BIND_MW + 1, EINVAL, XV_R_RANGE),
		SPOIL(xv_send, opcode, 64 + XV_WR_FLUSH, EINVAL, XV_R_RANGE),
		SPOIL(xv_send, opcode, 255, EINVAL, XV_R_RANGE),
		SPOIL(xv_send, num_sge, 5, EINVAL, XV_R_LENGTH),
		SPOIL(xv_send, num_sge, 255, EINVAL, XV_R_LENGTH),
		SPOIL(xv_send, flags, 1 << 4, EINVAL, XV_R_FLAGS),
		SPOIL(xv_send, flags, 1 << 15, EINVAL, XV_R_FLAGS),
		SPOIL(xv_send, inline_len, 1, EINVAL, XV_R_LENGTH),
		SPOIL(xv_send, ah, 1, EINVAL, XV_R_RESERVED),
		SPOIL(xv_send, remote_qpn, 1, EINVAL, XV_R_RESERVED),
		SPOIL(xv_send, remote_qkey, 1, EINVAL, XV_R_RESERVED),
		SPOIL(xv_send, reserved, 1U << 31, EINVAL, XV_R_RESERVED),
		SPOIL(xv_send, sge[0].mr, 0, ENOENT, XV_R_NO_HANDLE),
		SPOIL(xv_send, sge[0].mr, 0x7ffffff0, ENOENT, XV_R_NO_HANDLE),
		SPOIL(xv_send, sge[0].mr, XV_SGE_FROM_OP, ENOENT,
		      XV_R_NO_HANDLE),
		SPOIL(xv_send, sge[0].mr, ~0U, ENOENT, XV_R_NO_HANDLE),
		SPOIL(xv_send, sge[0].length, 65537, EINVAL, XV_R_RANGE),
		SPOIL(xv_send, sge[0].length, ~0U, EINVAL, XV_R_RANGE),
		SPOIL(xv_send, sge[0].offset, 65536 - 7, EINVAL, XV_R_RANGE),
		SPOIL(xv_send, sge[0].offset, 65536, EINVAL, XV_R_RANGE),
		SPOIL(xv_send, sge[0].offset, ~0ULL, EINVAL, XV_R_RANGE),
		SPOIL(xv_send, sge[0].offset, ~0ULL - 7, EINVAL, XV_R_RANGE),
	};
	static const struct spoil atomic[] = {
		SPOIL(xv_send, sge[0].length, 4, EINVAL, XV_R_LENGTH),
		SPOIL(xv_send, sge[0].length, 0, EINVAL, XV_R_LENGTH),
		SPOIL(xv_send, sge[0].length, 16, EINVAL, XV_R_LENGTH),
		SPOIL(xv_send, num_sge, 0, EINVAL, XV_R_LENGTH),
		SPOIL(xv_send, num_sge, 2, EINVAL, XV_R_LENGTH),
		SPOIL(xv_send, remote_addr, 4, EINVAL, XV_R_RANGE),
		SPOIL(xv_send, flags, XV_SEND_INLINE, EINVAL, XV_R_FLAGS),
	};
	static const struct spoil inl[] = {
		SPOIL(xv_send, inline_len, XV_MAX_INLINE + 1, EINVAL,
		      XV_R_LENGTH),
		SPOIL(xv_send, inline_len, ~0U, EINVAL, XV_R_LENGTH),
		SPOIL(xv_send, num_sge, 1, EINVAL, XV_R_LENGTH),
		SPOIL(xv_send, opcode, XV_WR_RDMA_READ, EINVAL, XV_R_FLAGS),
	};
	struct xvt_pair *p = &self->p;
	struct spoil other = SPOIL(xv_send, sge[0].mr, p->pd.obj.handle, ENOENT,
				   XV_R_NO_HANDLE);
	struct xv_send s = a_write(p, 2, XV_SEND_SIGNALED, 0, 8);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(any); i++)
		try_spoiled_send(_metadata, p, &s, &any[i]);
	try_spoiled_send(_metadata, p, &s, &other);

	xv_send_prep_fetch_add(&s, 2, XV_SEND_SIGNALED, xvt_sge(p, 0, 8),
			       p->mr.info.iova + TARGET, p->mr.info.rkey, 2);
	s.sge[1] = s.sge[0];
	for (i = 0; i < ARRAY_SIZE(atomic); i++)
		try_spoiled_send(_metadata, p, &s, &atomic[i]);

	xv_send_prep(&s, XV_WR_RDMA_WRITE, 2, XV_SEND_SIGNALED);
	xv_send_set_inline(&s, "12345678", 8);
	to_remote(p, &s, TARGET);
	for (i = 0; i < ARRAY_SIZE(inl); i++)
		try_spoiled_send(_metadata, p, &s, &inl[i]);
}

TEST_F(data, bad_receives)
{
	static const struct spoil any[] = {
		SPOIL(xv_recv, num_sge, 4, EINVAL, XV_R_LENGTH),
		SPOIL(xv_recv, num_sge, ~0U, EINVAL, XV_R_LENGTH),
		SPOIL(xv_recv, reserved, 1, EINVAL, XV_R_RESERVED),
		SPOIL(xv_recv, sge[0].mr, 0, ENOENT, XV_R_NO_HANDLE),
		SPOIL(xv_recv, sge[0].mr, 0x7ffffff0, ENOENT, XV_R_NO_HANDLE),
		SPOIL(xv_recv, sge[0].mr, XV_SGE_FROM_OP, ENOENT,
		      XV_R_NO_HANDLE),
		SPOIL(xv_recv, sge[0].length, 65537, EINVAL, XV_R_RANGE),
		SPOIL(xv_recv, sge[0].offset, ~0ULL, EINVAL, XV_R_RANGE),
		SPOIL(xv_recv, sge[0].offset, 65536 - 7, EINVAL, XV_R_RANGE),
	};
	struct xvt_pair *p = &self->p;
	struct xv_recv r[3];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(any); i++) {
		int k;

		for (k = 0; k < 3; k++) {
			xv_recv_prep(&r[k], k);
			xv_recv_add_sge(&r[k], xvt_sge(p, TARGET, 8));
		}
		memcpy((char *)&r[1] + any[i].offset, &any[i].value,
		       any[i].size);
		ASSERT_EQ(0, xv_post_recv(&p->qp[1], r, 3));
		EXPECT_EQ(-any[i].err, xv_submit(&p->qp[1])) {
			TH_LOG("%s", any[i].what);
		}
		EXPECT_EQ(any[i].reason, p->qp[1].reason) {
			TH_LOG("%s", any[i].what);
		}
		EXPECT_EQ(2, xv_recvs_ready(&p->qp[1]));
		xv_unpost(&p->qp[1]);
		ASSERT_EQ(0, xvt_send(p, 0, 9, 0, 8));
		xvt_expect_wc(_metadata, &p->cq[1], 0, XV_WC_SUCCESS);
		xvt_expect_wc(_metadata, &p->cq[0], 9, XV_WC_SUCCESS);
	}
}

/* Entries may have as many pieces as the queue pair was made for. */
TEST_F(data, too_many_pieces)
{
	struct xvt_pair p;
	struct xv_send s;
	struct xv_recv r;
	int i;

	xvt_pair(_metadata, &self->t, &p,
		 &(struct xvt_pair_opts){ .send_sge = 2, .recv_sge = 1 });
	s = a_write(&p, 1, XV_SEND_SIGNALED, 0, 8);
	for (i = 0; i < 2; i++)
		xv_send_add_sge(&s, xvt_sge(&p, 0, 8));
	EXPECT_EQ(-EINVAL, submit_one(&p, 0, &s));
	EXPECT_EQ(XV_R_LENGTH, p.qp[0].reason);
	xv_unpost(&p.qp[0]);
	s.num_sge = 2;
	EXPECT_EQ(0, submit_one(&p, 0, &s));
	xvt_expect_wc(_metadata, &p.cq[0], 1, XV_WC_SUCCESS);
	xv_recv_prep(&r, 1);
	for (i = 0; i < 2; i++)
		xv_recv_add_sge(&r, xvt_sge(&p, 0, 8));
	ASSERT_EQ(0, xv_post_recv(&p.qp[0], &r, 1));
	EXPECT_EQ(-EINVAL, xv_submit(&p.qp[0]));
	EXPECT_EQ(XV_R_LENGTH, p.qp[0].reason);
	xv_unpost(&p.qp[0]);
	EXPECT_EQ(0, xvt_pair_destroy(&p));
}

TEST_F(data, regions_of_others)
{
	struct xvt_pair *p = &self->p;
	struct xvt_pair other_pd, other_file;
	struct xv_send s = a_write(p, 2, XV_SEND_SIGNALED, 0, 8);
	struct spoil spoil = SPOIL(xv_send, sge[0].mr, 0, EINVAL,
				   XV_R_MISMATCH);
	struct xvt t2;

	xvt_pair(_metadata, &self->t, &other_pd, NULL);
	spoil.value = other_pd.mr.obj.handle;
	try_spoiled_send(_metadata, p, &s, &spoil);
	EXPECT_EQ(0, xvt_pair_destroy(&other_pd));
	/* Now that it is gone. */
	spoil.err = ENOENT;
	spoil.reason = XV_R_NO_HANDLE;
	try_spoiled_send(_metadata, p, &s, &spoil);

	/* Another file counts from 1 as well: take a handle that is not ours. */
	xvt_open(_metadata, &t2);
	do {
		xvt_pair(_metadata, &t2, &other_file, NULL);
		spoil.value = other_file.mr.obj.handle;
		if (spoil.value <= p->qp[1].obj.handle)
			EXPECT_EQ(0, xvt_pair_destroy(&other_file));
	} while (spoil.value <= p->qp[1].obj.handle);
	try_spoiled_send(_metadata, p, &s, &spoil);
	EXPECT_EQ(0, xvt_pair_destroy(&other_file));
	xvt_close(&t2);
}

TEST_F(data, rights_of_regions)
{
	struct xvt_pair *p = &self->p;
	struct xv_mr ro = {};
	struct xv_send s;
	struct xv_recv r;
	struct xv_sge piece;

	ASSERT_EQ(0, xv_mr_create(xv_now(self->t.ctx), &ro,
				  XV_OPTS(xv_mr_opts, .pd = &p->pd,
					  .addr = p->buf, .length = 4096)));
	EXPECT_EQ(0, ro.info.rkey);
	piece = xv_sge_at(&ro, p->buf, 8);
	/* Reading from it is allowed. */
	s = a_write(p, 1, XV_SEND_SIGNALED, 0, 8);
	s.sge[0] = piece;
	EXPECT_EQ(0, submit_one(p, 0, &s));
	xvt_expect_wc(_metadata, &p->cq[0], 1, XV_WC_SUCCESS);
	/* What writes into it is not. */
	xv_send_prep_read(&s, 1, XV_SEND_SIGNALED, piece,
			  p->mr.info.iova + TARGET, p->mr.info.rkey);
	EXPECT_EQ(-EINVAL, submit_one(p, 0, &s));
	EXPECT_EQ(XV_R_ACCESS, p->qp[0].reason);
	xv_unpost(&p->qp[0]);
	xv_send_prep_fetch_add(&s, 1, XV_SEND_SIGNALED, piece,
			       p->mr.info.iova + TARGET, p->mr.info.rkey, 2);
	EXPECT_EQ(-EINVAL, submit_one(p, 0, &s));
	EXPECT_EQ(XV_R_ACCESS, p->qp[0].reason);
	xv_unpost(&p->qp[0]);
	xv_recv_prep(&r, 1);
	xv_recv_add_sge(&r, piece);
	ASSERT_EQ(0, xv_post_recv(&p->qp[0], &r, 1));
	EXPECT_EQ(-EINVAL, xv_submit(&p->qp[0]));
	EXPECT_EQ(XV_R_ACCESS, p->qp[0].reason);
	xv_unpost(&p->qp[0]);
	EXPECT_EQ(0, xv_mr_destroy(xv_now(self->t.ctx), &ro));
}

/* What the peer does not allow fails at the peer. */
TEST_F(data, rights_of_the_peer)
{
	struct xvt_pair *p = &self->p;
	struct xv_qp_info info;
	struct xv_mr ro = {};
	struct xv_send s;

	ASSERT_EQ(0, xv_mr_create(xv_now(self->t.ctx), &ro,
				  XV_OPTS(xv_mr_opts, .pd = &p->pd,
					  .addr = p->buf, .length = 4096,
					  .access = XV_ACCESS_REMOTE_READ)));
	EXPECT_NE(0, ro.info.rkey);
	xv_send_prep_read(&s, 1, XV_SEND_SIGNALED, xvt_sge(p, 8192, 8),
			  ro.info.iova, ro.info.rkey);
	EXPECT_EQ(0, submit_one(p, 0, &s));
	xvt_expect_wc(_metadata, &p->cq[0], 1, XV_WC_SUCCESS);
	p->buf[0] = 0x42;
	s = a_write(p, 2, XV_SEND_SIGNALED, 8192, 8);
	xv_send_set_remote(&s, ro.info.iova, ro.info.rkey);
	EXPECT_EQ(0, submit_one(p, 0, &s));
	xvt_expect_wc(_metadata, &p->cq[0], 2, XV_WC_REM_ACCESS_ERR);
	EXPECT_EQ(0x42, p->buf[0]);
	/* That was the end of the connection: the rest is flushed. */
	s = a_write(p, 3, 0, 0, 8);
	EXPECT_EQ(0, submit_one(p, 0, &s));
	xvt_expect_wc(_metadata, &p->cq[0], 3, XV_WC_FLUSH_ERR);
	EXPECT_EQ(XV_QPS_ERR, __atomic_load_n(&p->qp[0].ring->state,
					      __ATOMIC_ACQUIRE));
	/* The peer's queue pair has failed too; who asks is told. */
	ASSERT_EQ(0, xv_qp_query(xv_now(self->t.ctx), &p->qp[1], &info));
	EXPECT_EQ(XV_QPS_ERR, info.state);
	EXPECT_EQ(0, xv_mr_destroy(xv_now(self->t.ctx), &ro));
}

TEST_F(data, message_longer_than_its_receive)
{
	struct xvt_pair *p = &self->p;
	struct xv_wc wc;

	memset(p->buf + TARGET, 0x55, 64);
	ASSERT_EQ(0, xvt_recv(p, 1, 1, TARGET, 16));
	ASSERT_EQ(0, xvt_send(p, 0, 2, 0, 17));
	/* rxe of Linux 6.1 says operation error instead of length error. */
	ASSERT_EQ(1, xvt_wc(&p->cq[1], &wc));
	EXPECT_EQ(1, wc.wr_id);
	EXPECT_TRUE(wc.status == XV_WC_LOC_LEN_ERR ||
		    wc.status == XV_WC_LOC_QP_OP_ERR);
	EXPECT_EQ(XV_WC_RECV, wc.flags);
	ASSERT_EQ(1, xvt_wc(&p->cq[0], &wc));
	EXPECT_EQ(2, wc.wr_id);
	EXPECT_TRUE(wc.status == XV_WC_REM_INV_REQ_ERR ||
		    wc.status == XV_WC_REM_OP_ERR);
	EXPECT_EQ(0x55, p->buf[TARGET + 16]);
}

/* ---- completion rings ---- */

TEST_F(data, completions_that_nobody_takes)
{
	struct xvt_pair *p = &self->p;
	uint32_t entries = p->cq[0].info.entries;
	unsigned int n, i, full = 0;
	struct xv_send s;
	struct xv_wc wc;

	/* 16 slots, but a ring of 32: the third round must be held back. */
	ASSERT_EQ(32, entries);
	for (n = 0; n < 48; n++) {
		s = a_write(p, n, XV_SEND_SIGNALED, 0, 8);
		ASSERT_TRUE(xvt_wait_until(!xv_wait(&p->cq[0], 0, 0) &&
					   xv_sends_free(&p->qp[0]), 5000)) {
			TH_LOG("no slot for %u", n);
		}
		ASSERT_EQ(0, submit_one(p, 0, &s));
	}
	ASSERT_TRUE(xvt_wait_until(!xv_wait(&p->cq[0], 0, 0) &&
				   p->cq[0].ring->flags & XV_CQ_OVERFLOW, 5000));
	EXPECT_EQ(32, p->cq[0].ring->tail);
	EXPECT_EQ(0, xv_sends_free(&p->qp[0]));
	for (i = 0; i < 20; i++) {
		struct xv_enter_qp what = {
			.qp = p->qp[0].obj.handle, .num_send = 1,
		};
		struct xv_enter e = {
			.num_qps = 1, .qps = (uintptr_t)&what,
		};

		full += xv_enter_raw(self->t.ctx, &e) == -EAGAIN;
	}
	EXPECT_EQ(20, full);
	/* Nothing is lost and nothing is out of order. */
	for (n = 0; n < 48; n++) {
		ASSERT_EQ(1, xvt_wc(&p->cq[0], &wc));
		EXPECT_EQ(n, wc.wr_id);
		EXPECT_EQ(XV_WC_SUCCESS, wc.status);
	}
	EXPECT_EQ(0, xv_poll(&p->cq[0], &wc, 1));
	EXPECT_EQ(0, p->cq[0].ring->flags);
	EXPECT_EQ(16, xv_sends_free(&p->qp[0]));
}

/* A destroyed queue pair takes what is held of it along; others keep theirs. */
TEST_F(data, completions_of_the_destroyed)
{
	struct xvt_pair *p = &self->p;
	struct xv_tx *now = xv_now(self->t.ctx);
	struct xv_cq cq = {};
	struct xv_qp qp[2] = {};
	struct xv_cq_info info;
	struct xv_send s;
	struct xv_wc wc;
	unsigned int n, i;

	/* Two queue pairs, connected to themselves, on one CQ of 8. */
	ASSERT_EQ(0, xv_cq_create(now, &cq, XV_OPTS(xv_cq_opts, .cqe = 8)));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, xv_qp_create(now, &qp[i], XV_OPTS(xv_qp_opts,
			  .pd = &p->pd, .send_cq = &cq, .send_wr = 4,
			  .access = XVT_REMOTE)));
		xvt_connect(_metadata, &self->t, &qp[i], &qp[i]);
	}
	/* 8 fill the ring, 4 of each; then 4 of each are held. */
	for (n = 0; n < 16; n++) {
		struct xv_qp *q = &qp[n & 1];

		/* One after the other, or one of them gets more of the ring. */
		ASSERT_TRUE(xvt_wait_until(!xv_wait(&cq, 0, 0) &&
					   cq.ring->tail == (n < 8 ? n : 8) &&
					   xv_sends_free(q), 5000));
		s = a_write(p, n, XV_SEND_SIGNALED, 0, 8);
		ASSERT_EQ(0, xv_post_send(q, &s, 1));
		ASSERT_EQ(0, xv_submit(q));
	}
	ASSERT_EQ(0, xv_qp_destroy(now, &qp[1]));
	for (n = 0; n < 16; n += 2) {
		ASSERT_EQ(1, xvt_wc(&cq, &wc)) {
			TH_LOG("after %u", n);
		}
		EXPECT_EQ(n, wc.wr_id);
		EXPECT_EQ(qp[0].obj.handle, wc.qp);
	}
	EXPECT_EQ(0, xv_wait(&cq, 0, 0));
	EXPECT_EQ(0, xv_poll(&cq, &wc, 1));
	ASSERT_EQ(0, xv_cq_query(now, &cq, &info));
	EXPECT_EQ(4, info.attached);

	/* What still flies when the queue pair goes does not arrive later. */
	for (n = 0; n < 4; n++) {
		s = a_write(p, 100 + n, XV_SEND_SIGNALED, 0, 20000);
		ASSERT_EQ(0, xv_post_send(&qp[0], &s, 1));
	}
	ASSERT_EQ(0, xv_submit(&qp[0]));
	ASSERT_EQ(0, xv_qp_destroy(now, &qp[0]));
	EXPECT_EQ(0, xv_poll(&cq, &wc, 1));
	EXPECT_EQ(-ETIME, xv_wait(&cq, 1, 1000000));
	EXPECT_EQ(0, xv_poll(&cq, &wc, 1));
	ASSERT_EQ(0, xv_cq_query(now, &cq, &info));
	EXPECT_EQ(0, info.attached);
	EXPECT_EQ(0, xv_cq_destroy(now, &cq));
}

TEST_F(data, completions_of_another_generation)
{
	struct xvt_pair *p = &self->p;
	struct xv_tx *now = xv_now(self->t.ctx);
	struct xv_qp_attr attr = { .size = sizeof(attr) };
	uint32_t gen = p->qp[0].ring->generation;
	struct xv_qp_info info;
	struct xv_send s;
	struct xv_wc wc;
	int i, k;

	for (i = 0; i < 3; i++) {
		for (k = 0; k < 8; k++) {
			s = a_write(p, 100 + k, XV_SEND_SIGNALED, 0, 20000);
			ASSERT_EQ(0, xv_post_send(&p->qp[0], &s, 1));
		}
		ASSERT_EQ(0, xv_submit(&p->qp[0]));
		for (k = 0; k < 2; k++) {
			attr.state = XV_QPS_RESET;
			ASSERT_EQ(0, xv_qp_modify(now, &p->qp[k], &attr));
		}
		EXPECT_NE(gen, p->qp[0].ring->generation);
		gen = p->qp[0].ring->generation;
		EXPECT_EQ(XV_QPS_RESET, p->qp[0].ring->state);
		EXPECT_EQ(16, xv_sends_free(&p->qp[0]));
		while (xv_poll(&p->cq[0], &wc, 1) == 1)
			EXPECT_LE(100, wc.wr_id);
		/* The PSNs are new ones. */
		for (k = 0; k < 2; k++) {
			ASSERT_EQ(0, xv_qp_query(now, &p->qp[k], &info));
			p->qp[k].info.sq_psn = info.sq_psn;
			EXPECT_EQ(0, info.sends_outstanding);
			EXPECT_EQ(0, info.recvs_outstanding);
		}
		for (k = 0; k < 2; k++)
			xvt_connect(_metadata, &self->t, &p->qp[k], &p->qp[!k]);
		xvt_fill(p->buf, 64, i);
		ASSERT_EQ(0, xvt_recv(p, 1, 1, TARGET, 64));
		ASSERT_EQ(0, xvt_send(p, 0, 2, 0, 64));
		xvt_expect_wc(_metadata, &p->cq[0], 2, XV_WC_SUCCESS);
		xvt_expect_wc(_metadata, &p->cq[1], 1, XV_WC_SUCCESS);
		EXPECT_TRUE(xvt_filled(p->buf + TARGET, 64, i));
	}
}

/* ---- ENTER ---- */

TEST_F(data, arguments_of_enter)
{
	struct xvt_pair *p = &self->p;
	struct xv_enter_qp what[2] = {};
	uint32_t cq = p->cq[0].obj.handle;
	void *ro = xvt_map(XVT_PAGE, PROT_READ | PROT_WRITE);
	struct {
		struct xv_enter e;
		int err;
	} bad[] = {
		{ { .flags = 4 }, EINVAL },
		{ { .flags = XV_ENTER_F_SOLICITED }, EINVAL },
		{ { .flags = 1U << 31 }, EINVAL },
		{ { .reserved = 1 }, EINVAL },
		{ { .num_qps = XV_MAX_ENTER_QPS + 1 }, E2BIG },
		{ { .num_qps = ~0U }, E2BIG },
		{ { .min_complete = 1 }, EINVAL },
		{ { .flags = XV_ENTER_F_ARM }, EINVAL },
		{ { .cq = 0x7ffffff0 }, ENOENT },
		{ { .cq = p->pd.obj.handle }, EINVAL },
		{ { .cq = cq, .min_complete = p->cq[0].info.cqe + 1 }, EINVAL },
		{ { .cq = cq, .min_complete = ~0U }, EINVAL },
		{ { .num_qps = 1, .qps = 8 }, EFAULT },
		{ { .num_qps = 1, .qps = ~0ULL }, EFAULT },
		{ { .num_qps = 1, .qps = (uintptr_t)ro }, EFAULT },
		{ { .cq = cq, .min_complete = 1 }, ETIME },
		{ { .cq = cq, .min_complete = 1, .timeout_ns = 1 }, ETIME },
	};
	struct xv_enter e = { .num_qps = 1, .qps = (uintptr_t)what };
	unsigned int i;

	ASSERT_EQ(0, mprotect(ro, XVT_PAGE, PROT_READ));
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_EQ(-bad[i].err, xv_enter_raw(self->t.ctx, &bad[i].e)) {
			TH_LOG("case %u", i);
		}
	EXPECT_EQ(-EFAULT, xv_enter_raw(self->t.ctx, NULL));
	EXPECT_EQ(-EFAULT, xv_enter_raw(self->t.ctx, ro));
	munmap(ro, XVT_PAGE);

	what[0].qp = 0x7ffffff0;
	what[0].num_send = 1;
	what[0].sends_taken = 77;
	EXPECT_EQ(-ENOENT, xv_enter_raw(self->t.ctx, &e));
	EXPECT_EQ(ENOENT, what[0].err);
	EXPECT_EQ(XV_R_NO_HANDLE, what[0].reason);
	EXPECT_EQ(0, what[0].sends_taken);
	what[0].qp = cq;
	EXPECT_EQ(-EINVAL, xv_enter_raw(self->t.ctx, &e));
	EXPECT_EQ(XV_R_TYPE, what[0].reason);
	what[0].qp = p->qp[0].obj.handle;
	what[0].flags = 1;
	EXPECT_EQ(-EINVAL, xv_enter_raw(self->t.ctx, &e));

	/* Nothing asked for is no error. */
	e.num_qps = 0;
	EXPECT_EQ(0, xv_enter_raw(self->t.ctx, &e));
	e.num_qps = 1;
	what[0] = (struct xv_enter_qp){ .qp = p->qp[0].obj.handle };
	EXPECT_EQ(0, xv_enter_raw(self->t.ctx, &e));
	EXPECT_EQ(0, what[0].err);
}

/* One that can not go on does not stop the others. */
TEST_F(data, one_bad_queue_pair_among_good_ones)
{
	struct xvt_pair *p = &self->p;
	struct xv_enter_qp what[4] = {
		{ .qp = p->qp[0].obj.handle, .num_send = 1 },
		{ .qp = 0x7ffffff0, .num_send = 1 },
		{ .qp = p->qp[1].obj.handle, .num_send = 2 },
		{ .qp = p->cq[0].obj.handle },
	};
	struct xv_enter e = {
		.num_qps = 4, .qps = (uintptr_t)what,
		.cq = p->cq[0].obj.handle, .min_complete = 1,
		.timeout_ns = -1,
	};
	int64_t before = xvt_now();

	*xv_get_send(&p->qp[0]) = a_write(p, 1, XV_SEND_SIGNALED, 0, 8);
	*xv_get_send(&p->qp[1]) = a_write(p, 2, XV_SEND_SIGNALED, 0, 8);
	*xv_get_send(&p->qp[1]) = (struct xv_send){ .wr_id = 3 };
	/* It has an error to tell, so it does not wait. */
	EXPECT_EQ(0, xv_enter_raw(self->t.ctx, &e));
	EXPECT_GT(xvt_ns(5000), xvt_now() - before);
	EXPECT_EQ(1, what[0].sends_taken);
	EXPECT_EQ(0, what[0].err);
	EXPECT_EQ(0, what[1].sends_taken);
	EXPECT_EQ(ENOENT, what[1].err);
	EXPECT_EQ(1, what[2].sends_taken);
	EXPECT_EQ(EINVAL, what[2].err);
	EXPECT_EQ(XV_R_RANGE, what[2].reason);
	EXPECT_EQ(EINVAL, what[3].err);
	EXPECT_EQ(XV_R_TYPE, what[3].reason);
	p->qp[0].send_taken++;
	p->qp[1].send_taken++;
	xv_unpost(&p->qp[1]);
	xvt_expect_wc(_metadata, &p->cq[0], 1, XV_WC_SUCCESS);
	xvt_expect_wc(_metadata, &p->cq[1], 2, XV_WC_SUCCESS);
}

TEST_F(data, exact_number_of_calls)
{
	struct xvt_pair *p = &self->p;
	struct xv_send s = a_write(p, 1, XV_SEND_SIGNALED, 0, 8);
	struct xv_wc wc[4];
	uint64_t calls;
	int i;

	for (i = 0; i < 10; i++) {
		calls = xv_num_ioctls(self->t.ctx);
		ASSERT_EQ(0, xv_post_send(&p->qp[0], &s, 1));
		ASSERT_EQ(0, xv_post_send(&p->qp[0], &s, 1));
		EXPECT_EQ(calls, xv_num_ioctls(self->t.ctx));
		ASSERT_EQ(0, xv_submit_and_wait(&p->qp[0], &p->cq[0], 2,
						xvt_ns(5000)));
		EXPECT_EQ(calls + 1, xv_num_ioctls(self->t.ctx));
		EXPECT_EQ(2, xv_poll(&p->cq[0], wc, 4));
		EXPECT_EQ(0, xv_poll(&p->cq[0], wc, 4));
		EXPECT_EQ(calls + 1, xv_num_ioctls(self->t.ctx));
	}
}

/* ---- waiting ---- */

TEST_F(data, time_limit)
{
	struct xvt_pair *p = &self->p;
	int64_t before = xvt_now();
	struct xv_wc wc;

	EXPECT_EQ(-ETIME, xv_wait(&p->cq[0], 1, 20000000));
	EXPECT_LE(20000000, xvt_now() - before);
	/* With fewer than asked for: what there is, after the time. */
	ASSERT_EQ(0, xvt_recv(p, 1, 1, TARGET, 8));
	ASSERT_EQ(0, xvt_send(p, 0, 2, 0, 8));
	xvt_expect_wc(_metadata, &p->cq[1], 1, XV_WC_SUCCESS);
	before = xvt_now();
	EXPECT_EQ(0, xv_wait(&p->cq[0], 2, 20000000));
	EXPECT_LE(20000000, xvt_now() - before);
	EXPECT_EQ(1, xv_poll(&p->cq[0], &wc, 1));
	/* A limit beyond all clocks. */
	ASSERT_EQ(0, xvt_send(p, 1, 3, 0, 0));
	ASSERT_EQ(0, xvt_recv(p, 0, 4, TARGET, 8));
	EXPECT_EQ(0, xv_wait(&p->cq[1], 1, INT64_MAX));
	xvt_expect_wc(_metadata, &p->cq[1], 3, XV_WC_SUCCESS);
}

static void on_signal(int sig)
{
}

struct sleeper {
	pthread_t thread;
	pid_t tid;
	struct xv_ctx *ctx;
	struct xv_enter e;
	int ret;
};

static void *sleep_in_enter(void *arg)
{
	struct sleeper *s = arg;

	__atomic_store_n(&s->tid, xvt_gettid(), __ATOMIC_RELEASE);
	s->ret = xv_enter_raw(s->ctx, &s->e);
	return NULL;
}

static void start_sleeper(struct __test_metadata *_metadata, struct sleeper *s,
			  struct xvt *t, struct xv_cq *cq, unsigned int n)
{
	memset(s, 0, sizeof(*s));
	s->ctx = t->ctx;
	s->e.cq = cq->obj.handle;
	s->e.min_complete = n;
	s->e.timeout_ns = -1;
	ASSERT_EQ(0, pthread_create(&s->thread, NULL, sleep_in_enter, s));
	ASSERT_TRUE(xvt_wait_until(__atomic_load_n(&s->tid, __ATOMIC_ACQUIRE) &&
				   xvt_asleep(s->tid), 5000));
}

static bool sleeper_ended(struct sleeper *s)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += xvt_ns(10000) / 1000000000;
	return !pthread_timedjoin_np(s->thread, NULL, &ts);
}

TEST_F(data, signal)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct xvt_pair *p = &self->p;
	struct sleeper s;
	int i;

	for (i = 0; i < 2; i++) {
		/* A restart would be no use: the time has gone on. */
		sa.sa_flags = i ? SA_RESTART : 0;
		ASSERT_EQ(0, sigaction(SIGUSR1, &sa, NULL));
		start_sleeper(_metadata, &s, &self->t, &p->cq[0], 1);
		ASSERT_EQ(0, pthread_kill(s.thread, SIGUSR1));
		ASSERT_TRUE(sleeper_ended(&s));
		EXPECT_EQ(-EINTR, s.ret);
		EXPECT_EQ(0, s.e.num_complete);
	}
	/* Something is there already: that is told instead. */
	ASSERT_EQ(0, xvt_recv(p, 1, 1, TARGET, 8));
	ASSERT_EQ(0, xvt_send(p, 0, 2, 0, 8));
	xvt_expect_wc(_metadata, &p->cq[1], 1, XV_WC_SUCCESS);
	ASSERT_EQ(0, xv_wait(&p->cq[0], 1, xvt_ns(5000)));
	start_sleeper(_metadata, &s, &self->t, &p->cq[0], 2);
	ASSERT_EQ(0, pthread_kill(s.thread, SIGUSR1));
	ASSERT_TRUE(sleeper_ended(&s));
	EXPECT_EQ(0, s.ret);
	EXPECT_EQ(1, s.e.num_complete);
	xvt_expect_wc(_metadata, &p->cq[0], 2, XV_WC_SUCCESS);
}

struct echo {
	struct xvt_pair *p;
	unsigned int n;
	unsigned int bad;
};

static void *echo(void *arg)
{
	struct echo *e = arg;
	struct xvt_pair *p = e->p;
	unsigned int got = 0;
	struct xv_wc wc;

	while (got < e->n && !e->bad) {
		/* Its receive was posted before: sleep until it is there. */
		e->bad += xv_wait(&p->cq[1], 1, xvt_ns(10000)) != 0;
		e->bad += xv_poll(&p->cq[1], &wc, 1) != 1;
		/* The end of the answer may come after the next message. */
		if (e->bad || !(wc.flags & XV_WC_RECV))
			continue;
		e->bad += wc.wr_id != got++;
		e->bad += xvt_recv(p, 1, got, TARGET, 8) != 0;
		e->bad += xvt_send(p, 1, 1000000, 0, 8) != 0;
	}
	return NULL;
}

TEST_F(data, no_wakeup_is_lost)
{
	struct xvt_pair *p = &self->p;
	struct echo e = { .p = p, .n = xvt_count(DATA_WAKEUPS) };
	pthread_t thread;
	struct xv_wc wc;
	unsigned int i;
	int k;

	ASSERT_EQ(0, xvt_recv(p, 1, 0, TARGET, 8));
	ASSERT_EQ(0, pthread_create(&thread, NULL, echo, &e));
	for (i = 0; i < e.n && !e.bad; i++) {
		ASSERT_EQ(0, xvt_recv(p, 0, i, TARGET + 64, 8));
		ASSERT_EQ(0, xvt_send(p, 0, i, 0, 8));
		/* Its own completion, and the answer. */
		for (k = 0; k < 2; k++)
			ASSERT_EQ(1, xvt_wc(&p->cq[0], &wc)) {
				TH_LOG("round %u of %u", i, e.n);
			}
	}
	pthread_join(thread, NULL);
	EXPECT_EQ(0, e.bad);
}

TEST_F(data, two_sleepers_on_one_cq)
{
	unsigned int n = xvt_count(DATA_SLEEPERS);
	struct xvt_pair *p = &self->p;
	struct sleeper s[2];
	struct xv_wc wc;
	unsigned int i;
	int k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < 2; k++)
			start_sleeper(_metadata, &s[k], &self->t, &p->cq[1], 1);
		ASSERT_EQ(0, xvt_recv(p, 1, i, TARGET, 8));
		ASSERT_EQ(0, xvt_send(p, 0, i, 0, 8));
		for (k = 0; k < 2; k++) {
			ASSERT_TRUE(sleeper_ended(&s[k])) {
				TH_LOG("round %u: sleeper %d", i, k);
			}
			EXPECT_EQ(0, s[k].ret);
			EXPECT_EQ(1, s[k].e.num_complete);
		}
		ASSERT_EQ(1, xv_poll(&p->cq[1], &wc, 1));
		ASSERT_EQ(1, xvt_wc(&p->cq[0], &wc));
	}
}

TEST_F(data, destroy_wakes_the_sleeper)
{
	unsigned int n = xvt_count(DATA_DESTROY_SLEEPER);
	struct sleeper s[2];
	unsigned int i;
	int k;

	for (i = 0; i < n; i++) {
		struct xvt_pair p;

		xvt_pair(_metadata, &self->t, &p, NULL);
		for (k = 0; k < 2; k++)
			start_sleeper(_metadata, &s[k], &self->t, &p.cq[0], 1);
		ASSERT_EQ(0, xvt_pair_destroy(&p));
		for (k = 0; k < 2; k++) {
			ASSERT_TRUE(sleeper_ended(&s[k]));
			EXPECT_EQ(-ENOENT, s[k].ret);
		}
	}
}

/* The receives of a queue pair that goes end for nobody. */
TEST_F(data, sleeper_outlives_a_queue_pair)
{
	struct xvt_pair *p = &self->p;
	struct xv_tx *now = xv_now(self->t.ctx);
	struct sleeper s;
	struct xv_cq cq = {};
	struct xv_qp qp = {};

	ASSERT_EQ(0, xv_cq_create(now, &cq, XV_OPTS(xv_cq_opts, .cqe = 8)));
	ASSERT_EQ(0, xv_qp_create(now, &qp, XV_OPTS(xv_qp_opts, .pd = &p->pd,
						    .send_cq = &cq, .send_wr = 4,
						    .recv_wr = 4)));
	start_sleeper(_metadata, &s, &self->t, &cq, 1);
	ASSERT_EQ(0, xv_qp_destroy(now, &qp));
	EXPECT_EQ(EBUSY, pthread_tryjoin_np(s.thread, NULL));
	ASSERT_EQ(0, xv_cq_destroy(now, &cq));
	ASSERT_TRUE(sleeper_ended(&s));
	EXPECT_EQ(-ENOENT, s.ret);
}

/* ---- a program that writes what it likes ---- */

struct mutator {
	struct xvt_pair *p;
	bool stop;
	unsigned int seed;
};

static uint32_t next_random(unsigned int *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 4 ^ *seed << 20;
}

static void *mutate(void *arg)
{
	struct mutator *m = arg;
	struct xvt_pair *p = m->p;

	while (!__atomic_load_n(&m->stop, __ATOMIC_RELAXED)) {
		int side = next_random(&m->seed) & 1;
		uint32_t *head = (uint32_t *)p->qp[side].ring;
		uint32_t *cq = (uint32_t *)p->cq[side].ring;
		uint32_t *send = (uint32_t *)p->qp[side].sends;
		uint32_t *recv = (uint32_t *)p->qp[side].recvs;
		uint32_t v = next_random(&m->seed);

		/* Indices and flags, then entries: small values often fit. */
		head[v % 16] = next_random(&m->seed);
		cq[v % 32] = next_random(&m->seed);
		cq[16] = v & 0x100 ? next_random(&m->seed) : v & 63;
		send[next_random(&m->seed) % (16 * 32)] =
			v & 0x200 ? v : v & 15;
		recv[next_random(&m->seed) % (16 * 16)] =
			v & 0x400 ? v : v & 15;
	}
	return NULL;
}

TEST_F(data, rings_full_of_nonsense)
{
	struct xvt_pair *p = &self->p;
	struct mutator m = { .p = p, .seed = 1 };
	unsigned int n = xvt_count(DATA_MUTATOR);
	struct xv_tx *now = xv_now(self->t.ctx);
	struct xv_qp_attr attr = { .size = sizeof(attr) };
	unsigned int seed = 2;
	pthread_t thread;
	unsigned int i;
	int k, ret;

	if (getenv("XV_SEED"))
		m.seed = atoi(getenv("XV_SEED"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, mutate, &m));
	for (i = 0; i < n; i++) {
		struct xv_enter_qp what[2] = {};
		struct xv_enter e = {
			.num_qps = 2, .qps = (uintptr_t)what,
			.cq = p->cq[i & 1].obj.handle,
			.min_complete = next_random(&seed) % 4,
			.timeout_ns = 100000,
		};

		for (k = 0; k < 2; k++) {
			what[k].qp = p->qp[k].obj.handle;
			what[k].num_send = next_random(&seed) % 8;
			what[k].num_recv = next_random(&seed) % 8;
			if (i % 16 == 0)
				what[k].num_send = ~0U - (i & 3);
		}
		ret = xv_enter_raw(self->t.ctx, &e);
		ASSERT_TRUE(!ret || ret == -EINVAL || ret == -ENOENT ||
			    ret == -EAGAIN || ret == -ETIME ||
			    ret == -EOPNOTSUPP || ret == -EIO) {
			TH_LOG("round %u: %d", i, ret);
		}
		EXPECT_GE(p->cq[0].info.entries, e.num_complete);
		for (k = 0; k < 2; k++)
			EXPECT_GE(16, what[k].sends_taken);
		if (i % 8 != 7)
			continue;
		/* It does not take long until both have failed. */
		attr.state = XV_QPS_RESET;
		for (k = 0; k < 2; k++)
			ASSERT_EQ(0, xv_qp_modify(now, &p->qp[k], &attr));
		for (k = 0; k < 2; k++) {
			struct xv_qp_info info;

			ASSERT_EQ(0, xv_qp_query(now, &p->qp[k], &info));
			p->qp[k].info.sq_psn = info.sq_psn;
		}
		for (k = 0; k < 2; k++)
			xvt_connect(_metadata, &self->t, &p->qp[k], &p->qp[!k]);
	}
	__atomic_store_n(&m.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

TEST_HARNESS_MAIN
