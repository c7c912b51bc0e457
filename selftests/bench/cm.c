// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections by the connection manager, both ends in this process.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * One thread does what both ends have to do, in the order in which it comes up,
 * and sleeps for events and completions that are not there yet.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define MESSAGE		64
#define PAGE		4096
#define DEPTH		4		/* of the queues of a queue pair */
#define CQE		(4 * DEPTH)	/* for one */
#define BACKLOG		128
#define PORT		7471
#define MAX_CONNS	128
#define SHARED_CQE	(MAX_CONNS * CQE)

enum { A, P };		/* active, passive */

/* From sysfs: no library must have been asked before the clock runs. */
static struct sockaddr_in device_address(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	unsigned int a, b, i;
	char path[128];
	FILE *f;

	addr.sin_port = htons(PORT);
	for (i = 0; !addr.sin_addr.s_addr; i++) {
		snprintf(path, sizeof(path),
			 "/sys/class/infiniband/%s/ports/1/gids/%u", device, i);
		f = fopen(path, "r");
		if (!f)
			die("%s has no IPv4 address", device);
		if (fscanf(f, "0000:0000:0000:0000:0000:ffff:%x:%x", &a, &b) == 2)
			addr.sin_addr.s_addr = htonl(a << 16 | b);
		fclose(f);
	}
	return addr;
}

/* Kernel: what is free no more and is not memory of the process itself. */
struct memory {
	long free;
	long anon;
};

/* The sum of all lines of that name. */
static long sum_of(const char *file, const char *format)
{
	FILE *f = fopen(file, "r");
	long val, sum = 0;
	char line[256];

	check(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, format, &val) == 1)
			sum += val;
	fclose(f);
	return sum;
}

/* What processors keep for themselves is free, and not in MemFree. */
static struct memory memory_now(void)
{
	return (struct memory){
		.free = sum_of("/proc/meminfo", "MemFree: %ld") +
			sum_of("/proc/zoneinfo", " count: %ld") *
			(sysconf(_SC_PAGESIZE) / 1024),
		.anon = sum_of("/proc/self/status", "RssAnon: %ld"),
	};
}

enum { KERNEL, USER };

static void count_memory(struct run *r, const struct memory *was)
{
	struct memory is = memory_now();
	long user = is.anon - was->anon;

	r->total = 1024 * (r->arg == USER ? user : was->free - is.free - user);
}

/* ---- ours ------------------------------------------------------------- */

struct ours_end {
	struct xv_pd pd;
	struct xv_mr mr;
	struct xv_cq cq;
	struct xv_qp qp;
	struct xv_conn conn;
	uint8_t *buf;
};

struct ours_cm {
	struct ours o;
	struct xv_tx *tx;
	struct xv_eventq eq[2];
	struct xv_listener l;
	struct sockaddr_in addr;
};

static void ours_listen(struct ours_cm *c)
{
	ok(xv_txn_begin(c->o.ctx, 0, &c->tx));
	xv_eventq_create(c->tx, &c->eq[A]);
	xv_eventq_create(c->tx, &c->eq[P]);
	xv_listener_create(c->tx, &c->l, XV_OPTS(xv_listener_opts,
			   .eventq = &c->eq[P], .backlog = BACKLOG,
			   .addr = (struct sockaddr *)&c->addr));
	ours_ok(c->tx, xv_txn_commit(c->tx, NULL));
}

/* Into the transaction: what a connection has for itself. */
static void ours_add_end(struct ours_cm *c, struct ours_end *e, int side,
			 uint64_t token, uint64_t cookie, struct xv_pd *pd,
			 struct xv_mr *mr, struct xv_cq *cq)
{
	struct xv_conn_opts o = {
		.size = sizeof(o), .qp = &e->qp, .eventq = &c->eq[side],
		.cookie = cookie, .rd_atomic = 1, .dest_rd_atomic = 1,
	};
	struct xv_recv recv;

	if (side == A) {
		o.dst = (struct sockaddr *)&c->addr;
	} else {
		o.listener = &c->l;
		o.token = token;
	}
	xv_qp_create(c->tx, &e->qp, XV_OPTS(xv_qp_opts, .pd = pd,
		     .send_cq = cq, .send_wr = DEPTH, .recv_wr = DEPTH));
	xv_recv_prep(&recv, 0);
	xv_recv_add_sge(&recv, xv_sge_at(mr, e->buf + MESSAGE, MESSAGE));
	xv_qp_post_recv(c->tx, &e->qp, &recv, 1);
	xv_conn_create(c->tx, &e->conn, &o);
}

static struct xv_event ours_event(struct ours_cm *c, int side, uint32_t type)
{
	struct xv_event ev;
	int ret = xv_event_read(&c->eq[side], &ev, 1);

	if (ret != 1 || ev.type != type || ev.count != 1)
		die("event %u (%d) where %u was due", ev.type, ret, type);
	return ev;
}

/* An end with all that it needs: one call. */
static void ours_make_end(struct ours_cm *c, struct ours_end *e, int side,
			  uint64_t token)
{
	xv_pd_create(c->tx, &e->pd);
	xv_mr_create(c->tx, &e->mr, XV_OPTS(xv_mr_opts, .pd = &e->pd,
		     .addr = e->buf, .length = PAGE,
		     .access = XV_ACCESS_LOCAL_WRITE));
	xv_cq_create(c->tx, &e->cq, XV_OPTS(xv_cq_opts, .cqe = CQE));
	ours_add_end(c, e, side, token, side, &e->pd, &e->mr, &e->cq);
	ours_ok(c->tx, xv_txn_commit(c->tx, NULL));
}

static void ours_send(struct ours_end *e, const struct xv_mr *mr)
{
	struct xv_send *s = xv_get_send(&e->qp);

	check(s);
	xv_send_prep_send(s, 0, 0, xv_sge_at(mr, e->buf, MESSAGE));
	ok(xv_submit(&e->qp));
}

static void ours_receive(struct xv_cq *cq)
{
	struct xv_wc wc;

	ok(xv_wait(cq, 1, -1));
	check(xv_poll(cq, &wc, 1) == 1);
	check(!wc.status && wc.flags & XV_WC_RECV && wc.byte_len == MESSAGE);
}

/* The message is sent before there is a connection, and waits for it. */
static void ours_first_echo(struct ours_cm *c, struct ours_end *e)
{
	struct xv_event ev;

	ours_make_end(c, &e[A], A, 0);
	ours_send(&e[A], &e[A].mr);
	ev = ours_event(c, P, XV_EV_CONNECT_REQUEST);
	ours_make_end(c, &e[P], P, ev.data);
	ours_receive(&e[P].cq);
	memcpy(e[P].buf, e[P].buf + MESSAGE, MESSAGE);
	ours_send(&e[P], &e[P].mr);
	ours_receive(&e[A].cq);
}

static void ours_end_goes(struct ours_cm *c, struct ours_end *e)
{
	xv_conn_destroy(c->tx, &e->conn);
	xv_qp_destroy(c->tx, &e->qp);
	if (e->pd.obj.handle) {
		xv_cq_destroy(c->tx, &e->cq);
		xv_mr_destroy(c->tx, &e->mr);
		xv_pd_destroy(c->tx, &e->pd);
	}
	ours_ok(c->tx, xv_txn_commit(c->tx, NULL));
}

static void ours_echo(struct run *r)
{
	struct ours_cm c = { .addr = device_address() };
	struct ours_end e[2] = {};
	struct xv_event ev;
	int i, from_nothing = r->arg;

	for (i = 0; i < 2; i++)
		e[i].buf = page_alloc(PAGE);
	if (from_nothing)
		start(r);
	ok(xv_open(device, 0, &c.o.ctx));
	ours_listen(&c);
	for (i = from_nothing ? 0 : -WARM_UP; i < (int)r->n; i++) {
		fill(e[A].buf, MESSAGE, i);
		if (i >= 0 && !from_nothing)
			start(r);
		ours_first_echo(&c, e);
		if (i >= 0)
			stop(r);
		check_filled(e[A].buf + MESSAGE, MESSAGE, i);
		ours_event(&c, A, XV_EV_ESTABLISHED);
		ours_event(&c, P, XV_EV_ESTABLISHED);
		ours_end_goes(&c, &e[A]);
		/* Answered on this side too, before the next one. */
		ev = ours_event(&c, P, XV_EV_DISCONNECTED);
		check(ev.data == ECONNRESET);
		ours_end_goes(&c, &e[P]);
	}
}

/* Connections that share all but their queue pairs. */
static void ours_open_cm(struct ours_cm *c, struct ours_end *ends,
			 unsigned int num)
{
	unsigned int i;

	c->addr = device_address();
	ours_open(&c->o, 2 * MAX_CONNS * 2 * MESSAGE, SHARED_CQE);
	ours_listen(c);
	for (i = 0; i < num; i++)
		ends[i].buf = c->o.buf + i * 2 * MESSAGE;
}

static void ours_add_shared(struct ours_cm *c, struct ours_end *e, int side,
			    uint64_t token, uint64_t cookie)
{
	ours_add_end(c, e, side, token, cookie, &c->o.pd, &c->o.mr, &c->o.cq);
}

static void ours_one_cycle(struct ours_cm *c, struct ours_end *e, bool talk)
{
	struct xv_event ev;

	ours_add_shared(c, &e[A], A, 0, 0);
	ours_ok(c->tx, xv_txn_commit(c->tx, NULL));
	ev = ours_event(c, P, XV_EV_CONNECT_REQUEST);
	ours_add_shared(c, &e[P], P, ev.data, 0);
	ours_ok(c->tx, xv_txn_commit(c->tx, NULL));
	ours_event(c, A, XV_EV_ESTABLISHED);
	ours_event(c, P, XV_EV_ESTABLISHED);
	if (talk) {
		fill(e[A].buf, MESSAGE, 5);
		ours_send(&e[A], &c->o.mr);
		ours_receive(&c->o.cq);
		check_filled(e[P].buf + MESSAGE, MESSAGE, 5);
	}
	ok(xv_conn_disconnect(xv_now(c->o.ctx), &e[A].conn));
	ours_event(c, P, XV_EV_DISCONNECTED);
	ours_event(c, A, XV_EV_DISCONNECTED);
	ours_end_goes(c, &e[A]);
	ours_end_goes(c, &e[P]);
}

static void ours_sequence(struct run *r)
{
	struct ours_end e[2] = {};
	struct ours_cm c = {};
	unsigned int i;

	ours_open_cm(&c, e, 2);
	for (i = 0; i < WARM_UP; i++)
		ours_one_cycle(&c, e, true);
	start(r);
	for (i = 0; i < r->n; i++)
		ours_one_cycle(&c, e, false);
	stop(r);
}

struct ours_flight {
	struct ours_cm c;
	struct ours_end a[MAX_CONNS];
	struct ours_end p[MAX_CONNS];
	unsigned int accepted;
	unsigned int established;
	unsigned int ended;
};

static void ours_commit(struct ours_flight *f, bool now, unsigned int ops)
{
	unsigned int num = xv_txn_num_ops(f->c.tx);

	if (num && (now || num + ops > XV_MAX_OPS))
		ours_ok(f->c.tx, xv_txn_commit(f->c.tx, NULL));
}

/* Requests that came together are accepted together. */
static void ours_serve(struct ours_flight *f, int side)
{
	struct xv_event ev[64];
	int i, n;

	n = xv_event_read(&f->c.eq[side], ev, ARRAY_SIZE(ev));
	check(n > 0);
	for (i = 0; i < n; i++)
		switch (ev[i].type) {
		case XV_EV_CONNECT_REQUEST:
			check(f->accepted < MAX_CONNS);
			ours_add_shared(&f->c, &f->p[f->accepted++], P,
					ev[i].data, 0);
			ours_commit(f, false, 3);
			break;
		case XV_EV_ESTABLISHED:
			f->established++;
			break;
		case XV_EV_DISCONNECTED:
			f->ended++;
			break;
		default:
			die("event %u", ev[i].type);
		}
	ours_commit(f, true, 0);
}

static void ours_all_connect(struct ours_flight *f, unsigned int num)
{
	unsigned int i;

	f->accepted = 0;
	f->established = 0;
	for (i = 0; i < num; i++) {
		ours_add_shared(&f->c, &f->a[i], A, 0, 0);
		ours_commit(f, false, 3);
	}
	ours_commit(f, true, 0);
	while (f->established < 2 * num)
		ours_serve(f, P);
}

static void ours_all_end(struct ours_flight *f, struct xv_tx *batch,
			 unsigned int num)
{
	unsigned int i;

	f->ended = 0;
	for (i = 0; i < num; i++) {
		xv_conn_disconnect(batch, &f->a[i].conn);
		if (xv_txn_num_ops(batch) == XV_MAX_OPS || i == num - 1)
			ours_ok(batch, xv_txn_commit(batch, NULL));
	}
	while (f->ended < 2 * num)
		ours_serve(f, P);
	for (i = 0; i < 2 * num; i++) {
		struct ours_end *e = i < num ? &f->a[i] : &f->p[i - num];

		xv_conn_destroy(f->c.tx, &e->conn);
		xv_qp_destroy(f->c.tx, &e->qp);
		ours_commit(f, i == 2 * num - 1, 2);
	}
}

static void ours_check_all(struct ours_flight *f, unsigned int num)
{
	unsigned int i;

	for (i = 0; i < num; i++) {
		fill(f->a[i].buf, MESSAGE, i);
		ours_send(&f->a[i], &f->c.o.mr);
		ours_receive(&f->c.o.cq);
	}
	/* Who accepted whom is not known here: the sum of all must be right. */
	for (i = 0; i < num; i++)
		check_filled(f->p[i].buf + MESSAGE, MESSAGE,
			     f->p[i].buf[MESSAGE]);
}

static struct ours_flight *ours_open_flight(unsigned int num)
{
	struct ours_flight *f = calloc(1, sizeof(*f));
	unsigned int i;

	check(f && num <= MAX_CONNS);
	ours_open_cm(&f->c, f->a, num);
	for (i = 0; i < num; i++)
		f->p[i].buf = f->c.o.buf + (MAX_CONNS + i) * 2 * MESSAGE;
	/* One queue tells all. */
	xv_eventq_close(&f->c.eq[A]);
	f->c.eq[A] = f->c.eq[P];
	return f;
}

static void ours_in_flight(struct run *r)
{
	struct ours_flight *f = ours_open_flight(r->arg);
	struct xv_tx *batch;
	unsigned int i;

	ok(xv_txn_begin(f->c.o.ctx, XV_TXN_F_BATCH, &batch));
	ours_all_connect(f, r->arg);
	ours_check_all(f, r->arg);
	ours_all_end(f, batch, r->arg);
	start(r);
	for (i = 0; i < r->n; i += r->arg) {
		ours_all_connect(f, r->arg);
		ours_all_end(f, batch, r->arg);
	}
	stop(r);
}

static void ours_memory(struct run *r)
{
	struct ours_flight *f = ours_open_flight(r->n);
	struct xv_tx *batch;
	struct memory was;

	/* What is made once, and kept, is not of the connections. */
	ok(xv_txn_begin(f->c.o.ctx, XV_TXN_F_BATCH, &batch));
	ours_all_connect(f, 1);
	ours_all_end(f, batch, 1);
	was = memory_now();
	ours_all_connect(f, r->n);
	count_memory(r, &was);
}

/* ---- the twin --------------------------------------------------------- */

struct twin_end {
	struct twin t;		/* shared, or its own */
	struct rdma_cm_id *id;
	uint8_t *buf;
};

struct twin_cm {
	struct rdma_event_channel *ch[2];
	struct rdma_cm_id *listener;
	struct sockaddr_in addr;
	struct twin shared;
};

static void twin_listen(struct twin_cm *c)
{
	int i;

	for (i = 0; i < 2; i++) {
		c->ch[i] = rdma_create_event_channel();
		check(c->ch[i]);
	}
	ok(rdma_create_id(c->ch[P], &c->listener, NULL, RDMA_PS_TCP));
	ok(rdma_bind_addr(c->listener, (struct sockaddr *)&c->addr));
	ok(rdma_listen(c->listener, BACKLOG));
}

/* The event stays to be acknowledged by the caller if it is asked for. */
static void twin_event(struct twin_cm *c, int side, enum rdma_cm_event_type type,
		       struct rdma_cm_id **id)
{
	struct rdma_cm_event *ev;

	ok(rdma_get_cm_event(c->ch[side], &ev));
	if (ev->event != type || ev->status)
		die("%s (%d) where %s was due", rdma_event_str(ev->event),
		    ev->status, rdma_event_str(type));
	if (id)
		*id = ev->id;
	ok(rdma_ack_cm_event(ev));
}

static void twin_qp(struct twin_end *e)
{
	struct ibv_qp_init_attr init = {
		.send_cq = e->t.cq, .recv_cq = e->t.cq,
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_sge sge = {
		(uintptr_t)e->buf + MESSAGE, MESSAGE, e->t.mr->lkey
	};
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	ok(rdma_create_qp(e->id, e->t.pd, &init));
	ok(ibv_post_recv(e->id->qp, &wr, &bad));
}

static struct rdma_conn_param twin_param(void)
{
	return (struct rdma_conn_param){
		.responder_resources = 1, .initiator_depth = 1,
		.retry_count = 7, .rnr_retry_count = 7,
	};
}

static void twin_resolve(struct twin_cm *c, struct twin_end *e)
{
	ok(rdma_create_id(c->ch[A], &e->id, e, RDMA_PS_TCP));
	ok(rdma_resolve_addr(e->id, NULL, (struct sockaddr *)&c->addr, 2000));
	twin_event(c, A, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
	ok(rdma_resolve_route(e->id, 2000));
	twin_event(c, A, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
}

static void twin_connect_end(struct twin_end *e)
{
	struct rdma_conn_param param = twin_param();

	twin_qp(e);
	ok(rdma_connect(e->id, &param));
}

static void twin_accept_end(struct twin_end *e)
{
	struct rdma_conn_param param = twin_param();

	twin_qp(e);
	ok(rdma_accept(e->id, &param));
}

/* All that an end has for itself; its memory is there. */
static void twin_own(struct twin_end *e)
{
	struct twin *t = &e->t;

	t->ctx = e->id->verbs;
	t->pd = ibv_alloc_pd(t->ctx);
	check(t->pd);
	t->mr = ibv_reg_mr(t->pd, e->buf, PAGE, IBV_ACCESS_LOCAL_WRITE);
	check(t->mr);
	t->channel = ibv_create_comp_channel(t->ctx);
	check(t->channel);
	t->cq = ibv_create_cq(t->ctx, CQE, NULL, t->channel, 0);
	check(t->cq);
}

static void twin_send(struct twin_end *e)
{
	struct ibv_sge sge = { (uintptr_t)e->buf, MESSAGE, e->t.mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
	};

	ok(ibv_post_send(e->id->qp, &wr, &bad));
}

static void twin_first_echo(struct twin_cm *c, struct twin_end *e)
{
	twin_resolve(c, &e[A]);
	twin_own(&e[A]);
	twin_connect_end(&e[A]);
	twin_event(c, P, RDMA_CM_EVENT_CONNECT_REQUEST, &e[P].id);
	twin_own(&e[P]);
	twin_accept_end(&e[P]);
	twin_event(c, A, RDMA_CM_EVENT_ESTABLISHED, NULL);
	twin_send(&e[A]);
	/* The message says that it is established, before the event does. */
	twin_reap(&e[P].t, 1);
	memcpy(e[P].buf, e[P].buf + MESSAGE, MESSAGE);
	twin_send(&e[P]);
	twin_reap(&e[A].t, 1);
}

static void twin_end_goes(struct twin_end *e)
{
	rdma_destroy_qp(e->id);
	ok(rdma_destroy_id(e->id));
}

static void twin_own_goes(struct twin_end *e)
{
	twin_end_goes(e);
	ok(ibv_destroy_cq(e->t.cq));
	ok(ibv_destroy_comp_channel(e->t.channel));
	ok(ibv_dereg_mr(e->t.mr));
	ok(ibv_dealloc_pd(e->t.pd));
}

static void twin_disconnect(struct twin_cm *c, struct twin_end *e)
{
	ok(rdma_disconnect(e[A].id));
	twin_event(c, P, RDMA_CM_EVENT_DISCONNECTED, NULL);
	ok(rdma_disconnect(e[P].id));
	twin_event(c, A, RDMA_CM_EVENT_DISCONNECTED, NULL);
}

static void twin_echo(struct run *r)
{
	struct twin_cm c = { .addr = device_address() };
	struct twin_end e[2] = {};
	int i, from_nothing = r->arg;

	for (i = 0; i < 2; i++)
		e[i].buf = page_alloc(PAGE);
	if (from_nothing)
		start(r);
	twin_listen(&c);
	for (i = from_nothing ? 0 : -WARM_UP; i < (int)r->n; i++) {
		fill(e[A].buf, MESSAGE, i);
		if (i >= 0 && !from_nothing)
			start(r);
		twin_first_echo(&c, e);
		if (i >= 0)
			stop(r);
		check_filled(e[A].buf + MESSAGE, MESSAGE, i);
		twin_event(&c, P, RDMA_CM_EVENT_ESTABLISHED, NULL);
		twin_disconnect(&c, e);
		twin_own_goes(&e[A]);
		twin_own_goes(&e[P]);
	}
}

static void twin_open_cm(struct twin_cm *c)
{
	c->addr = device_address();
	twin_listen(c);
	twin_open_with(&c->shared, c->listener->verbs,
		       2 * MAX_CONNS * 2 * MESSAGE, SHARED_CQE);
}

/* Receives that nothing came for; in what is measured nobody asks for them. */
static void twin_forget_flushed(struct twin *t)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(t->cq, 1, &wc) == 1)
		check(wc.status == IBV_WC_WR_FLUSH_ERR);
}

static void twin_one_cycle(struct twin_cm *c, struct twin_end *e, bool talk)
{
	twin_resolve(c, &e[A]);
	twin_connect_end(&e[A]);
	twin_event(c, P, RDMA_CM_EVENT_CONNECT_REQUEST, &e[P].id);
	twin_accept_end(&e[P]);
	twin_event(c, A, RDMA_CM_EVENT_ESTABLISHED, NULL);
	twin_event(c, P, RDMA_CM_EVENT_ESTABLISHED, NULL);
	if (talk) {
		fill(e[A].buf, MESSAGE, 5);
		twin_send(&e[A]);
		twin_reap(&c->shared, 1);
		check_filled(e[P].buf + MESSAGE, MESSAGE, 5);
	}
	twin_disconnect(c, e);
	twin_end_goes(&e[A]);
	twin_end_goes(&e[P]);
	if (talk)
		twin_forget_flushed(&c->shared);
}

static void twin_sequence(struct run *r)
{
	struct twin_end e[2] = {};
	struct twin_cm c = {};
	unsigned int i;

	twin_open_cm(&c);
	for (i = 0; i < 2; i++) {
		e[i].t = c.shared;
		e[i].buf = c.shared.buf + i * 2 * MESSAGE;
	}
	for (i = 0; i < WARM_UP; i++)
		twin_one_cycle(&c, e, true);
	start(r);
	for (i = 0; i < r->n; i++)
		twin_one_cycle(&c, e, false);
	stop(r);
}

struct twin_flight {
	struct twin_cm c;
	struct twin_end a[MAX_CONNS];
	struct twin_end p[MAX_CONNS];
	unsigned int accepted;
	unsigned int established;
	unsigned int ended;
};

static void twin_serve(struct twin_flight *f)
{
	struct rdma_cm_event *ev;
	struct twin_end *e;

	ok(rdma_get_cm_event(f->c.ch[P], &ev));
	check(!ev->status);
	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		ok(rdma_resolve_route(ev->id, 2000));
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		twin_connect_end(ev->id->context);
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		check(f->accepted < MAX_CONNS);
		e = &f->p[f->accepted++];
		e->id = ev->id;
		ev->id->context = e;
		twin_accept_end(e);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		f->established++;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		f->ended++;
		e = ev->id->context;
		if (e >= f->p && e < f->p + MAX_CONNS)
			ok(rdma_disconnect(ev->id));
		break;
	default:
		die("%s", rdma_event_str(ev->event));
	}
	ok(rdma_ack_cm_event(ev));
}

static void twin_all_connect(struct twin_flight *f, unsigned int num)
{
	unsigned int i;

	f->accepted = 0;
	f->established = 0;
	for (i = 0; i < num; i++) {
		struct twin_end *e = &f->a[i];

		ok(rdma_create_id(f->c.ch[A], &e->id, e, RDMA_PS_TCP));
		ok(rdma_resolve_addr(e->id, NULL,
				     (struct sockaddr *)&f->c.addr, 2000));
	}
	while (f->established < 2 * num)
		twin_serve(f);
}

static void twin_all_end(struct twin_flight *f, unsigned int num)
{
	unsigned int i;

	f->ended = 0;
	for (i = 0; i < num; i++)
		ok(rdma_disconnect(f->a[i].id));
	while (f->ended < 2 * num)
		twin_serve(f);
	for (i = 0; i < num; i++) {
		twin_end_goes(&f->a[i]);
		twin_end_goes(&f->p[i]);
	}
}

static void twin_check_all(struct twin_flight *f, unsigned int num)
{
	unsigned int i;

	for (i = 0; i < num; i++) {
		fill(f->a[i].buf, MESSAGE, i);
		twin_send(&f->a[i]);
		twin_reap(&f->c.shared, 1);
	}
	for (i = 0; i < num; i++)
		check_filled(f->p[i].buf + MESSAGE, MESSAGE,
			     f->p[i].buf[MESSAGE]);
}

static struct twin_flight *twin_open_flight(unsigned int num)
{
	struct twin_flight *f = calloc(1, sizeof(*f));
	unsigned int i;

	check(f && num <= MAX_CONNS);
	twin_open_cm(&f->c);
	for (i = 0; i < num; i++) {
		f->a[i].t = f->c.shared;
		f->p[i].t = f->c.shared;
		f->a[i].buf = f->c.shared.buf + i * 2 * MESSAGE;
		f->p[i].buf = f->c.shared.buf + (MAX_CONNS + i) * 2 * MESSAGE;
	}
	rdma_destroy_event_channel(f->c.ch[A]);
	f->c.ch[A] = f->c.ch[P];
	return f;
}

static void twin_in_flight(struct run *r)
{
	struct twin_flight *f = twin_open_flight(r->arg);
	unsigned int i;

	twin_all_connect(f, r->arg);
	twin_check_all(f, r->arg);
	twin_all_end(f, r->arg);
	start(r);
	for (i = 0; i < r->n; i += r->arg) {
		twin_all_connect(f, r->arg);
		twin_all_end(f, r->arg);
	}
	stop(r);
}

static void twin_memory(struct run *r)
{
	struct twin_flight *f = twin_open_flight(r->n);
	struct memory was;

	twin_all_connect(f, 1);
	twin_all_end(f, 1);
	was = memory_now();
	twin_all_connect(f, r->n);
	count_memory(r, &was);
}

/* ---- the table -------------------------------------------------------- */

const struct figure cm_figures[] = {
	{ "echo-cold", "first echo of 64 bytes, from a fresh process on",
	  ours_echo, twin_echo, .n = 1, .arg = true },
	{ "echo", "first echo of 64 bytes, device open",
	  ours_echo, twin_echo, .n = 16 },
	{ "connect", "connect and disconnect, one after the other",
	  ours_sequence, twin_sequence, .n = 143, .must = 1.0 },
	{ "connect-64", "connect and disconnect, 64 in flight",
	  ours_in_flight, twin_in_flight, .n = 128, .arg = 64, .must = 1.0 },
	{ "memory", "memory of the kernel for a connection, both ends",
	  ours_memory, twin_memory, .unit = BYTES, .n = 128, .arg = KERNEL },
	{ "memory-user", "memory of the process for a connection, both ends",
	  ours_memory, twin_memory, .unit = BYTES, .n = 128, .arg = USER },
	{}
};
