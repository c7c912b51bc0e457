// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The data path: writes, reads, messages, datagrams.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Both sides fill in each entry anew, ask for the completion of the last one
 * of a batch alone, and see it before the next batch. We submit, reap and, if
 * it has to be, sleep in one call; the twin posts a list and polls, or where
 * the figure says so sleeps on its completion channel.
 *
 * Sources lie in the first half of the memory and destinations in the second
 * one, each operation of a batch at a place of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define SMALL		8	/* bytes of a write or read */
#define MESSAGE		64	/* bytes of a message */
#define GRH		XV_GRH_LEN
#define MAX_BATCH	64
#define DEPTH		128	/* of queues, for two queue pairs */
#define DEPTH_MANY	4	/* for many */
#define RECVS		4096	/* the deepest receive queue */

/* ---- writes and reads ------------------------------------------------- */

struct plan {
	bool read;
	unsigned int batch;
	unsigned int size;
};

static uint8_t *source(uint8_t *buf, size_t bytes, const struct plan *p)
{
	return p->read ? buf + bytes / 2 : buf;
}

static uint8_t *target(uint8_t *buf, size_t bytes, const struct plan *p)
{
	return p->read ? buf : buf + bytes / 2;
}

static struct xv_send *next_send(struct xv_qp *qp)
{
	struct xv_send *s = xv_get_send(qp);

	check(s);
	return s;
}

static struct xv_recv *next_recv(struct xv_qp *qp)
{
	struct xv_recv *v = xv_get_recv(qp);

	check(v);
	return v;
}

static void ours_batch(struct ours *o, struct xv_qp *qp, const struct plan *p)
{
	uint8_t *local = o->buf, *remote = o->buf + o->bytes / 2;
	unsigned int i, flags = 0;
	struct xv_send *s;
	struct xv_wc wc;

	for (i = 0; i < p->batch; i++) {
		struct xv_sge sge = xv_sge_at(&o->mr, local + i * p->size,
					      p->size);

		if (i == p->batch - 1)
			flags = XV_SEND_SIGNALED;
		s = next_send(qp);
		if (p->read)
			xv_send_prep_read(s, i, flags, sge, (uintptr_t)remote +
					  i * p->size, o->mr.info.rkey);
		else
			xv_send_prep_write(s, i, flags, sge, (uintptr_t)remote +
					   i * p->size, o->mr.info.rkey);
	}
	ok(xv_submit_and_wait(qp, &o->cq, 1, -1));
	check(xv_poll(&o->cq, &wc, 1) == 1 && !wc.status);
}

static void ours_rdma(struct run *r, const struct plan *p)
{
	size_t half = p->batch * p->size;
	struct xv_qp qps[2] = {};
	struct ours o;
	unsigned int i;

	ours_open(&o, 2 * half, 4 * DEPTH);
	ours_create(&o, qps, 2, XV_QPT_RC, DEPTH, 1);
	ours_connect(&o, qps, 2);
	fill(source(o.buf, o.bytes, p), half, 1);
	for (i = 0; i < WARM_UP; i++)
		ours_batch(&o, &qps[0], p);
	memset(target(o.buf, o.bytes, p), 0, half);
	start(r);
	for (i = 0; i < r->n; i += p->batch)
		ours_batch(&o, &qps[0], p);
	stop(r);
	check_filled(target(o.buf, o.bytes, p), half, 1);
}

struct chain {
	struct ibv_send_wr wr[MAX_BATCH];
	struct ibv_sge sge[MAX_BATCH];
};

static void make_chain(struct chain *c, enum ibv_wr_opcode opcode,
		       unsigned int batch)
{
	unsigned int i;

	memset(c, 0, sizeof(*c));
	for (i = 0; i < batch; i++) {
		c->wr[i].next = i == batch - 1 ? NULL : &c->wr[i + 1];
		c->wr[i].sg_list = &c->sge[i];
		c->wr[i].num_sge = 1;
		c->wr[i].opcode = opcode;
	}
	c->wr[batch - 1].send_flags = IBV_SEND_SIGNALED;
}

static void twin_post(struct twin *t, struct ibv_qp *qp, struct chain *c,
		      const struct plan *p)
{
	uint8_t *local = t->buf, *remote = t->buf + t->bytes / 2;
	struct ibv_send_wr *bad;
	unsigned int i;

	for (i = 0; i < p->batch; i++) {
		c->sge[i].addr = (uintptr_t)local + i * p->size;
		c->sge[i].length = p->size;
		c->sge[i].lkey = t->mr->lkey;
		c->wr[i].wr_id = i;
		c->wr[i].wr.rdma.remote_addr = (uintptr_t)remote + i * p->size;
		c->wr[i].wr.rdma.rkey = t->mr->rkey;
	}
	ok(ibv_post_send(qp, c->wr, &bad));
}

static void twin_batch(struct twin *t, struct ibv_qp *qp, struct chain *c,
		       const struct plan *p, bool sleep)
{
	struct ibv_cq *cq;
	void *context;

	if (sleep)
		ok(ibv_req_notify_cq(t->cq, 0));
	twin_post(t, qp, c, p);
	if (sleep) {
		ok(ibv_get_cq_event(t->channel, &cq, &context));
		ibv_ack_cq_events(cq, 1);
	}
	twin_spin(t, 1);
}

static void twin_rdma(struct run *r, const struct plan *p, bool sleep)
{
	size_t half = p->batch * p->size;
	struct ibv_qp *qps[2];
	struct chain chain;
	struct twin t;
	unsigned int i;

	twin_open(&t, 2 * half, 4 * DEPTH);
	for (i = 0; i < 2; i++)
		qps[i] = twin_create(&t, IBV_QPT_RC, DEPTH, 1);
	twin_connect(&t, qps, 2);
	make_chain(&chain, p->read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
		   p->batch);
	fill(source(t.buf, t.bytes, p), half, 1);
	for (i = 0; i < WARM_UP; i++)
		twin_batch(&t, qps[0], &chain, p, sleep);
	memset(target(t.buf, t.bytes, p), 0, half);
	start(r);
	for (i = 0; i < r->n; i += p->batch)
		twin_batch(&t, qps[0], &chain, p, sleep);
	stop(r);
	check_filled(target(t.buf, t.bytes, p), half, 1);
}

static void ours_write(struct run *r)
{
	ours_rdma(r, &(struct plan){ .batch = r->arg, .size = SMALL });
}

static void twin_write(struct run *r)
{
	twin_rdma(r, &(struct plan){ .batch = r->arg, .size = SMALL }, false);
}

static void twin_write_event(struct run *r)
{
	twin_rdma(r, &(struct plan){ .batch = r->arg, .size = SMALL }, true);
}

static void ours_large(struct run *r)
{
	ours_rdma(r, &(struct plan){ .batch = 1, .size = r->arg });
}

static void twin_large(struct run *r)
{
	twin_rdma(r, &(struct plan){ .batch = 1, .size = r->arg }, false);
}

static void ours_read(struct run *r)
{
	ours_rdma(r, &(struct plan){ true, r->arg, SMALL });
}

static void twin_read(struct run *r)
{
	twin_rdma(r, &(struct plan){ true, r->arg, SMALL }, false);
}

/* ---- many queue pairs ------------------------------------------------- */

static unsigned int many_cqe(unsigned int pairs)
{
	return pairs * 2 * (DEPTH_MANY + 1 + 3);
}

/* One write by each of the first ends, as the even queue pairs are here. */
static void ours_round_of(struct ours *o, struct xv_qp **first,
			  struct xv_enter_qp *res, unsigned int num)
{
	struct xv_wc wc[MAX_BATCH];
	unsigned int i, done;

	for (i = 0; i < num; i++) {
		uint8_t *local = o->buf + i * SMALL;

		xv_send_prep_write(next_send(first[i]), i, XV_SEND_SIGNALED,
				   xv_sge_at(&o->mr, local, SMALL),
				   (uintptr_t)local + o->bytes / 2,
				   o->mr.info.rkey);
	}
	ok(xv_enter(o->ctx, first, res, num, &o->cq, num, -1, 0, NULL));
	for (done = 0; done < num;) {
		int n = xv_poll(&o->cq, wc, MAX_BATCH);

		check(n > 0);
		for (i = 0; i < n; i++)
			check(!wc[i].status);
		done += n;
	}
}

static void ours_many(struct run *r)
{
	unsigned int num = r->arg, i;
	struct xv_enter_qp *res = calloc(num, sizeof(*res));
	struct xv_qp *qps = calloc(2 * num, sizeof(*qps));
	struct xv_qp **first = calloc(num, sizeof(*first));
	struct ours o;

	check(res && qps && first);
	ours_open(&o, 2 * num * SMALL, many_cqe(num));
	ours_create(&o, qps, 2 * num, XV_QPT_RC, DEPTH_MANY, 1);
	ours_connect(&o, qps, 2 * num);
	for (i = 0; i < num; i++)
		first[i] = &qps[2 * i];
	fill(o.buf, num * SMALL, 2);
	for (i = 0; i < WARM_UP; i++)
		ours_round_of(&o, first, res, num);
	memset(o.buf + o.bytes / 2, 0, num * SMALL);
	start(r);
	for (i = 0; i < r->n; i += num)
		ours_round_of(&o, first, res, num);
	stop(r);
	check_filled(o.buf + o.bytes / 2, num * SMALL, 2);
}

static void twin_round_of(struct twin *t, struct ibv_qp **qps, unsigned int num)
{
	struct ibv_sge sge = { .length = SMALL, .lkey = t->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma.rkey = t->mr->rkey,
	};
	unsigned int i;

	for (i = 0; i < num; i++) {
		uint8_t *local = t->buf + i * SMALL;

		wr.wr_id = i;
		sge.addr = (uintptr_t)local;
		wr.wr.rdma.remote_addr = (uintptr_t)local + t->bytes / 2;
		ok(ibv_post_send(qps[2 * i], &wr, &bad));
	}
	twin_spin(t, num);
}

static void twin_many(struct run *r)
{
	unsigned int num = r->arg, i;
	struct ibv_qp **qps = calloc(2 * num, sizeof(*qps));
	struct twin t;

	check(qps);
	twin_open(&t, 2 * num * SMALL, many_cqe(num));
	for (i = 0; i < 2 * num; i++)
		qps[i] = twin_create(&t, IBV_QPT_RC, DEPTH_MANY, 1);
	twin_connect(&t, qps, 2 * num);
	fill(t.buf, num * SMALL, 2);
	for (i = 0; i < WARM_UP; i++)
		twin_round_of(&t, qps, num);
	memset(t.buf + t.bytes / 2, 0, num * SMALL);
	start(r);
	for (i = 0; i < r->n; i += num)
		twin_round_of(&t, qps, num);
	stop(r);
	check_filled(t.buf + t.bytes / 2, num * SMALL, 2);
}

/* ---- messages --------------------------------------------------------- */

/* Each lands in a place with room for what a datagram has in front. */
#define ROOM	(GRH + MESSAGE)

static void check_messages(uint8_t *buf, size_t bytes, unsigned int batch,
			   unsigned int offset)
{
	unsigned int i;

	for (i = 0; i < batch; i++)
		check(!memcmp(buf + i * ROOM,
			      buf + bytes / 2 + i * ROOM + offset, MESSAGE));
}

/* Receives of qps[1], sends of qps[0], and all completions: one call. */
static void ours_messages(struct ours *o, struct xv_qp *qps,
			  const struct xv_ah *ah, unsigned int batch)
{
	struct xv_qp *both[2] = { &qps[1], &qps[0] };
	struct xv_wc wc[MAX_BATCH + 1];
	struct xv_enter_qp res[2];
	unsigned int i;

	for (i = 0; i < batch; i++) {
		struct xv_recv *v = next_recv(&qps[1]);
		uint8_t *local = o->buf + i * ROOM;

		xv_recv_prep(v, i);
		xv_recv_add_sge(v, xv_sge_at(&o->mr, local + o->bytes / 2,
					     ah ? ROOM : MESSAGE));
	}
	for (i = 0; i < batch; i++) {
		struct xv_send *s = next_send(&qps[0]);

		xv_send_prep_send(s, i, i == batch - 1 ? XV_SEND_SIGNALED : 0,
				  xv_sge_at(&o->mr, o->buf + i * ROOM, MESSAGE));
		if (ah)
			xv_send_set_ud(s, ah, qps[1].info.qp_num, QKEY);
	}
	ok(xv_enter(o->ctx, both, res, 2, &o->cq, batch + 1, -1, 0, NULL));
	ours_reap(o, wc, batch + 1);
}

static void ours_ud(struct ours *o, struct xv_qp *qps, struct xv_ah *ah)
{
	struct xv_ah_opts opts = {
		.size = sizeof(opts), .pd = &o->pd, .sgid_index = o->gid_index,
	};
	struct xv_tx *tx = xv_now(o->ctx);
	unsigned int i;

	ours_create(o, qps, 2, XV_QPT_UD, DEPTH, DEPTH);
	for (i = 0; i < 2; i++)
		ours_ok(tx, xv_qp_connect(tx, &qps[i],
					  XV_OPTS(xv_qp_attr, .port = 1,
						  .qkey = QKEY)));
	memcpy(opts.gid, o->gid, sizeof(opts.gid));
	ours_ok(tx, xv_ah_create(tx, ah, &opts));
}

static void ours_talk(struct run *r, bool datagrams)
{
	struct xv_ah ah = {}, *to = datagrams ? &ah : NULL;
	struct xv_qp qps[2] = {};
	struct ours o;
	unsigned int i;

	ours_open(&o, 2 * r->arg * ROOM, 6 * DEPTH);
	if (datagrams) {
		ours_ud(&o, qps, &ah);
	} else {
		ours_create(&o, qps, 2, XV_QPT_RC, DEPTH, DEPTH);
		ours_connect(&o, qps, 2);
	}
	fill(o.buf, r->arg * ROOM, 3);
	for (i = 0; i < WARM_UP; i++)
		ours_messages(&o, qps, to, r->arg);
	memset(o.buf + o.bytes / 2, 0, r->arg * ROOM);
	start(r);
	for (i = 0; i < r->n; i += r->arg)
		ours_messages(&o, qps, to, r->arg);
	stop(r);
	check_messages(o.buf, o.bytes, r->arg, datagrams ? GRH : 0);
}

struct recv_chain {
	struct ibv_recv_wr wr[MAX_BATCH];
	struct ibv_sge sge[MAX_BATCH];
};

static void make_recv_chain(struct recv_chain *c, unsigned int batch)
{
	unsigned int i;

	memset(c, 0, sizeof(*c));
	for (i = 0; i < batch; i++) {
		c->wr[i].next = i == batch - 1 ? NULL : &c->wr[i + 1];
		c->wr[i].sg_list = &c->sge[i];
		c->wr[i].num_sge = 1;
	}
}

static void twin_post_recv(struct twin *t, struct ibv_qp *qp,
			   struct recv_chain *c, unsigned int batch,
			   unsigned int size)
{
	uint8_t *remote = t->buf + t->bytes / 2;
	struct ibv_recv_wr *bad;
	unsigned int i;

	for (i = 0; i < batch; i++) {
		c->sge[i].addr = (uintptr_t)remote + i * ROOM;
		c->sge[i].length = size;
		c->sge[i].lkey = t->mr->lkey;
		c->wr[i].wr_id = i;
	}
	ok(ibv_post_recv(qp, c->wr, &bad));
}

static void twin_messages(struct twin *t, struct ibv_qp **qps,
			  struct chain *c, struct recv_chain *rc,
			  struct ibv_ah *ah, unsigned int batch)
{
	struct ibv_send_wr *bad;
	unsigned int i;

	twin_post_recv(t, qps[1], rc, batch, ah ? ROOM : MESSAGE);
	for (i = 0; i < batch; i++) {
		c->sge[i].addr = (uintptr_t)t->buf + i * ROOM;
		c->sge[i].length = MESSAGE;
		c->sge[i].lkey = t->mr->lkey;
		c->wr[i].wr_id = i;
		if (ah) {
			c->wr[i].wr.ud.ah = ah;
			c->wr[i].wr.ud.remote_qpn = qps[1]->qp_num;
			c->wr[i].wr.ud.remote_qkey = QKEY;
		}
	}
	ok(ibv_post_send(qps[0], c->wr, &bad));
	twin_spin(t, batch + 1);
}

static struct ibv_ah *twin_ud(struct twin *t, struct ibv_qp **qps)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = t->gid, .hop_limit = 64,
			 .sgid_index = t->gid_index },
	};
	struct ibv_qp_attr rtr = { .qp_state = IBV_QPS_RTR };
	struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS };
	struct ibv_ah *ah;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		qps[i] = twin_create(t, IBV_QPT_UD, DEPTH, DEPTH);
		ok(ibv_modify_qp(qps[i], &rtr, IBV_QP_STATE));
		ok(ibv_modify_qp(qps[i], &rts, IBV_QP_STATE | IBV_QP_SQ_PSN));
	}
	ah = ibv_create_ah(t->pd, &attr);
	check(ah);
	return ah;
}

static void twin_talk(struct run *r, bool datagrams)
{
	struct ibv_ah *ah = NULL;
	struct recv_chain recvs;
	struct ibv_qp *qps[2];
	struct chain sends;
	struct twin t;
	unsigned int i;

	twin_open(&t, 2 * r->arg * ROOM, 6 * DEPTH);
	if (datagrams) {
		ah = twin_ud(&t, qps);
	} else {
		for (i = 0; i < 2; i++)
			qps[i] = twin_create(&t, IBV_QPT_RC, DEPTH, DEPTH);
		twin_connect(&t, qps, 2);
	}
	make_chain(&sends, IBV_WR_SEND, r->arg);
	make_recv_chain(&recvs, r->arg);
	fill(t.buf, r->arg * ROOM, 3);
	for (i = 0; i < WARM_UP; i++)
		twin_messages(&t, qps, &sends, &recvs, ah, r->arg);
	memset(t.buf + t.bytes / 2, 0, r->arg * ROOM);
	start(r);
	for (i = 0; i < r->n; i += r->arg)
		twin_messages(&t, qps, &sends, &recvs, ah, r->arg);
	stop(r);
	check_messages(t.buf, t.bytes, r->arg, datagrams ? GRH : 0);
}

static void ours_send(struct run *r)
{
	ours_talk(r, false);
}

static void twin_send(struct run *r)
{
	twin_talk(r, false);
}

static void ours_datagram(struct run *r)
{
	ours_talk(r, true);
}

static void twin_datagram(struct run *r)
{
	twin_talk(r, true);
}

/* ---- receives alone, and a ring with nothing in it -------------------- */

/* What was posted is there: as many messages as receives arrive. */
static void ours_post_recv(struct run *r)
{
	struct xv_qp qps[2] = {};
	unsigned int i, k;
	struct xv_wc wc;
	struct ours o;

	ours_open(&o, 2 * MAX_BATCH * ROOM, 2 * RECVS);
	ours_create(&o, &qps[0], 1, XV_QPT_RC, 1, 1);
	ours_create(&o, &qps[1], 1, XV_QPT_RC, 1, RECVS);
	ours_connect(&o, qps, 2);
	check(r->n < RECVS);
	start(r);
	for (i = 0; i < r->n; i += r->arg) {
		for (k = 0; k < r->arg; k++) {
			struct xv_recv *v = next_recv(&qps[1]);

			xv_recv_prep(v, k);
			xv_recv_add_sge(v, xv_sge_at(&o.mr, o.buf + o.bytes / 2
						     + k * ROOM, MESSAGE));
		}
		ok(xv_submit(&qps[1]));
	}
	stop(r);
	for (i = 0; i < r->n; i++) {
		xv_send_prep_send(next_send(&qps[0]), 0, 0,
				  xv_sge_at(&o.mr, o.buf, MESSAGE));
		ok(xv_submit(&qps[0]));
		ours_reap(&o, &wc, 1);
		check(wc.flags & XV_WC_RECV && wc.wr_id == i % r->arg);
		while (!xv_sends_free(&qps[0]))
			ok(xv_wait(&o.cq, 0, 0));
	}
}

static void twin_post_recvs(struct run *r)
{
	struct recv_chain recvs;
	struct ibv_qp *qps[2];
	struct chain send;
	struct twin t;
	unsigned int i;

	twin_open(&t, 2 * MAX_BATCH * ROOM, 2 * RECVS);
	qps[0] = twin_create(&t, IBV_QPT_RC, 1, 1);
	qps[1] = twin_create(&t, IBV_QPT_RC, 1, RECVS);
	twin_connect(&t, qps, 2);
	make_recv_chain(&recvs, r->arg);
	make_chain(&send, IBV_WR_SEND, 1);
	start(r);
	for (i = 0; i < r->n; i += r->arg)
		twin_post_recv(&t, qps[1], &recvs, r->arg, MESSAGE);
	stop(r);
	for (i = 0; i < r->n; i++) {
		twin_post(&t, qps[0], &send, &(struct plan){ .batch = 1,
							     .size = MESSAGE });
		/* The send, and the receive. */
		twin_spin(&t, 2);
	}
}

static void ours_poll(struct run *r)
{
	struct xv_wc wc;
	struct ours o;
	unsigned int i;

	ours_open(&o, MESSAGE, DEPTH);
	check(!xv_poll(&o.cq, &wc, 1));
	start(r);
	for (i = 0; i < r->n; i++)
		check(!xv_poll(&o.cq, &wc, 1));
	stop(r);
}

static void twin_poll(struct run *r)
{
	struct ibv_wc wc;
	struct twin t;
	unsigned int i;

	twin_open(&t, MESSAGE, DEPTH);
	check(!ibv_poll_cq(t.cq, 1, &wc));
	start(r);
	for (i = 0; i < r->n; i++)
		check(!ibv_poll_cq(t.cq, 1, &wc));
	stop(r);
}

/* ---- the table -------------------------------------------------------- */

const struct figure data_figures[] = {
	{ "write-1", "WRITE of 8 bytes, polled",
	  ours_write, twin_write, .n = 500, .arg = 1, .must = 0.97 },
	{ "write-4", "WRITE of 8 bytes, 4 at a time",
	  ours_write, twin_write, .n = 500, .arg = 4 },
	{ "write-16", "WRITE of 8 bytes, 16 at a time",
	  ours_write, twin_write, .n = 512, .arg = 16, .must = 0.95 },
	{ "write-64", "WRITE of 8 bytes, 64 at a time",
	  ours_write, twin_write, .n = 512, .arg = 64, .must = 0.95 },
	{ "write-64-qps", "WRITE of 8 bytes on each of 64 queue pairs",
	  ours_many, twin_many, .n = 640, .arg = 64, .must = 1.10 },
	{ "write-1024-qps", "WRITE of 8 bytes on each of 1024 queue pairs",
	  ours_many, twin_many, .n = 2048, .arg = 1024, .must = 1.10,
	  .at_length = true },
	{ "write-event", "WRITE of 8 bytes, and sleep until it is done",
	  ours_write, twin_write_event, .n = 500, .arg = 1, .must = 1.4 },
	{ "write-64k", "WRITE of 64 KiB",
	  ours_large, twin_large, .n = 16, .arg = 65536, .must = 0.99 },
	{ "write-1m", "WRITE of 1 MiB",
	  ours_large, twin_large, .n = 2, .arg = 1048576, .must = 0.99 },
	{ "read-1", "READ of 8 bytes",
	  ours_read, twin_read, .n = 500, .arg = 1 },
	{ "read-16", "READ of 8 bytes, 16 at a time",
	  ours_read, twin_read, .n = 512, .arg = 16 },
	{ "send-1", "SEND of 64 bytes with its receive",
	  ours_send, twin_send, .n = 500, .arg = 1 },
	{ "send-16", "SEND of 64 bytes with its receive, 16 at a time",
	  ours_send, twin_send, .n = 512, .arg = 16 },
	{ "ud-16", "datagram of 64 bytes with its receive, 16 at a time",
	  ours_datagram, twin_datagram, .n = 512, .arg = 16 },
	{ "recv-1", "post a receive",
	  ours_post_recv, twin_post_recvs, .n = 512, .arg = 1 },
	{ "recv-16", "post receives, 16 at a time",
	  ours_post_recv, twin_post_recvs, .n = 512, .arg = 16, .must = 0.9 },
	{ "recv-64", "post receives, 64 at a time",
	  ours_post_recv, twin_post_recvs, .n = 512, .arg = 64 },
	{ "poll", "look into an empty completion queue",
	  ours_poll, twin_poll, .n = 20000 },
	{}
};
