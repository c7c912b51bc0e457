// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Objects: made, connected without a connection manager, and destroyed.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * We say in one call what can be said in one; the twin has a call for each.
 * What was made is looked at once, outside of what is measured.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define PAGE	4096
#define DEPTH	16		/* of the queues of a queue pair */
#define CQE	16
#define MANY	1000

static uint8_t *spare;		/* a page for memory regions */

/* ---- queue pairs to RTS, and away ------------------------------------- */

static struct xv_qp_opts qp_opts(struct ours *o)
{
	return (struct xv_qp_opts){
		.size = sizeof(struct xv_qp_opts), .pd = &o->pd,
		.send_cq = &o->cq, .send_wr = DEPTH, .recv_wr = DEPTH,
	};
}

/* As many at a time as the figure says. */
static void ours_qps(struct xv_tx *tx, struct xv_qp *qps, unsigned int num,
		     const struct xv_qp_opts *opts)
{
	unsigned int i;

	for (i = 0; i < num; i++)
		xv_qp_create(tx, &qps[i], opts);
	ours_ok(tx, xv_txn_commit(tx, NULL));
}

static void ours_qps_go(struct xv_tx *tx, struct xv_qp *qps, unsigned int num)
{
	unsigned int i;

	for (i = 0; i < num; i++)
		xv_qp_destroy(tx, &qps[i]);
	ours_ok(tx, xv_txn_commit(tx, NULL));
}

static void ours_check_rts(struct ours *o, struct xv_qp *qp)
{
	struct xv_qp_info info;

	ok(xv_qp_query(xv_now(o->ctx), qp, &info));
	check(info.state == XV_QPS_RTS && info.path_mtu == MTU);
}

static void ours_rts(struct run *r)
{
	struct xv_qp qps[XV_MAX_OPS] = {}, peer = {};
	struct xv_qp_attr attr;
	struct xv_qp_opts opts;
	unsigned int i;
	struct xv_tx *tx;
	struct ours o;

	ours_open(&o, PAGE, 4 * DEPTH * (r->arg + 1));
	ours_create(&o, &peer, 1, XV_QPT_RC, DEPTH, DEPTH);
	ours_peer(&o, &attr, &peer);
	opts = qp_opts(&o);
	opts.connect = &attr;
	ok(xv_txn_begin(o.ctx, 0, &tx));
	for (i = 0; i < WARM_UP; i++) {
		ours_qps(tx, qps, r->arg, &opts);
		ours_check_rts(&o, &qps[r->arg - 1]);
		ours_qps_go(tx, qps, r->arg);
	}
	start(r);
	for (i = 0; i < r->n; i += r->arg) {
		ours_qps(tx, qps, r->arg, &opts);
		ours_qps_go(tx, qps, r->arg);
	}
	stop(r);
}

static void twin_check_rts(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	ok(ibv_query_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PATH_MTU, &init));
	check(attr.qp_state == IBV_QPS_RTS && attr.path_mtu == IBV_MTU_4096);
}

static void twin_rts(struct run *r)
{
	struct ibv_qp *qps[XV_MAX_OPS], *peer;
	unsigned int i, k;
	struct twin t;

	twin_open(&t, PAGE, 4 * DEPTH * (r->arg + 1));
	peer = twin_create(&t, IBV_QPT_RC, DEPTH, DEPTH);
	for (i = 0; i < WARM_UP; i++) {
		qps[0] = twin_create(&t, IBV_QPT_RC, DEPTH, DEPTH);
		twin_connect_to(&t, qps[0], peer->qp_num);
		twin_check_rts(qps[0]);
		ok(ibv_destroy_qp(qps[0]));
	}
	start(r);
	for (i = 0; i < r->n; i += r->arg) {
		for (k = 0; k < r->arg; k++) {
			qps[k] = twin_create(&t, IBV_QPT_RC, DEPTH, DEPTH);
			twin_connect_to(&t, qps[k], peer->qp_num);
		}
		for (k = 0; k < r->arg; k++)
			ok(ibv_destroy_qp(qps[k]));
	}
	stop(r);
}

/* Numbers of both ends are known before they are connected: two steps. */
static void ours_thousand(struct run *r)
{
	struct xv_qp *qps = calloc(r->n, sizeof(*qps));
	struct xv_qp_opts opts;
	unsigned int i, num;
	struct xv_tx *tx;
	struct ours o;

	check(qps);
	ours_open(&o, PAGE, XV_MAX_CQE - 1);
	opts = qp_opts(&o);
	opts.send_wr = 4;
	opts.recv_wr = 4;
	ok(xv_txn_begin(o.ctx, 0, &tx));
	if (!r->arg)
		start(r);
	for (i = 0; i < r->n; i += num) {
		num = r->n - i < XV_MAX_OPS ? r->n - i : XV_MAX_OPS;
		ours_qps(tx, qps + i, num, &opts);
	}
	if (r->arg)
		start(r);
	ours_connect(&o, qps, r->n);
	stop(r);
	ours_check_rts(&o, &qps[0]);
	ours_check_rts(&o, &qps[r->n - 1]);
	if (!r->arg)
		start(r);
	for (i = 0; i < r->n; i += num) {
		num = r->n - i < XV_MAX_OPS ? r->n - i : XV_MAX_OPS;
		ours_qps_go(tx, qps + i, num);
	}
	if (!r->arg)
		stop(r);
}

static void twin_thousand(struct run *r)
{
	struct ibv_qp **qps = calloc(r->n, sizeof(*qps));
	unsigned int i;
	struct twin t;

	check(qps);
	twin_open(&t, PAGE, XV_MAX_CQE - 1);
	if (!r->arg)
		start(r);
	for (i = 0; i < r->n; i++)
		qps[i] = twin_create(&t, IBV_QPT_RC, 4, 4);
	if (r->arg)
		start(r);
	twin_connect(&t, qps, r->n);
	stop(r);
	twin_check_rts(qps[0]);
	twin_check_rts(qps[r->n - 1]);
	if (!r->arg)
		start(r);
	for (i = 0; i < r->n; i++)
		ok(ibv_destroy_qp(qps[i]));
	if (!r->arg)
		stop(r);
}

/* ---- a whole end: all objects of one, with its first receives --------- */

struct ours_end {
	struct xv_pd pd;
	struct xv_mr mr;
	struct xv_cq cq;
	struct xv_qp qp;
};

static void ours_make_end(struct xv_tx *tx, struct ours_end *e, uint8_t *page,
			  const struct xv_qp_attr *attr)
{
	struct xv_recv recvs[DEPTH];
	unsigned int i;

	xv_pd_create(tx, &e->pd);
	xv_mr_create(tx, &e->mr, XV_OPTS(xv_mr_opts, .pd = &e->pd, .addr = page,
		     .length = PAGE, .access = XV_ACCESS_LOCAL_WRITE));
	xv_cq_create(tx, &e->cq, XV_OPTS(xv_cq_opts, .cqe = 3 * DEPTH));
	xv_qp_create(tx, &e->qp, XV_OPTS(xv_qp_opts, .pd = &e->pd,
		     .send_cq = &e->cq, .send_wr = DEPTH, .recv_wr = DEPTH,
		     .connect = attr));
	for (i = 0; i < DEPTH; i++) {
		xv_recv_prep(&recvs[i], i);
		xv_recv_add_sge(&recvs[i], xv_sge_at(&e->mr, page, 64));
	}
	xv_qp_post_recv(tx, &e->qp, recvs, DEPTH);
	ours_ok(tx, xv_txn_commit(tx, NULL));
}

static void ours_end_goes(struct xv_tx *tx, struct ours_end *e)
{
	xv_qp_destroy(tx, &e->qp);
	xv_cq_destroy(tx, &e->cq);
	xv_mr_destroy(tx, &e->mr);
	xv_pd_destroy(tx, &e->pd);
	ours_ok(tx, xv_txn_commit(tx, NULL));
}

static void ours_end(struct run *r)
{
	struct xv_qp peer = {};
	struct ours_end e = {};
	struct xv_qp_attr attr;
	struct xv_qp_info info;
	unsigned int i;
	struct xv_tx *tx;
	struct ours o;

	ours_open(&o, PAGE, 4 * DEPTH);
	ours_create(&o, &peer, 1, XV_QPT_RC, DEPTH, DEPTH);
	ours_peer(&o, &attr, &peer);
	ok(xv_txn_begin(o.ctx, 0, &tx));
	for (i = 0; i < WARM_UP; i++) {
		ours_make_end(tx, &e, o.buf, &attr);
		ours_check_rts(&o, &e.qp);
		ok(xv_qp_query(xv_now(o.ctx), &e.qp, &info));
		check(info.recvs_outstanding == DEPTH);
		ours_end_goes(tx, &e);
	}
	start(r);
	for (i = 0; i < r->n; i++) {
		ours_make_end(tx, &e, o.buf, &attr);
		ours_end_goes(tx, &e);
	}
	stop(r);
}

static void twin_one_end(struct twin *t, uint8_t *page, struct ibv_qp *peer,
			 bool look)
{
	struct ibv_recv_wr wr[DEPTH] = {}, *bad;
	struct ibv_sge sge = { (uintptr_t)page, 64 };
	struct twin e = *t;
	struct ibv_qp *qp;
	unsigned int i;

	e.pd = ibv_alloc_pd(t->ctx);
	check(e.pd);
	e.mr = ibv_reg_mr(e.pd, page, PAGE, IBV_ACCESS_LOCAL_WRITE);
	check(e.mr);
	e.cq = ibv_create_cq(t->ctx, 3 * DEPTH, NULL, NULL, 0);
	check(e.cq);
	qp = twin_create(&e, IBV_QPT_RC, DEPTH, DEPTH);
	sge.lkey = e.mr->lkey;
	for (i = 0; i < DEPTH; i++) {
		wr[i].wr_id = i;
		wr[i].sg_list = &sge;
		wr[i].num_sge = 1;
		wr[i].next = i == DEPTH - 1 ? NULL : &wr[i + 1];
	}
	ok(ibv_post_recv(qp, wr, &bad));
	twin_connect_to(&e, qp, peer->qp_num);
	if (look)
		twin_check_rts(qp);
	ok(ibv_destroy_qp(qp));
	ok(ibv_destroy_cq(e.cq));
	ok(ibv_dereg_mr(e.mr));
	ok(ibv_dealloc_pd(e.pd));
}

static void twin_end(struct run *r)
{
	struct ibv_qp *peer;
	unsigned int i;
	struct twin t;

	twin_open(&t, PAGE, 4 * DEPTH);
	peer = twin_create(&t, IBV_QPT_RC, DEPTH, DEPTH);
	for (i = 0; i < WARM_UP; i++)
		twin_one_end(&t, t.buf, peer, true);
	start(r);
	for (i = 0; i < r->n; i++)
		twin_one_end(&t, t.buf, peer, false);
	stop(r);
}

/* ---- one kind of object, some in each transaction --------------------- */

union object {
	struct xv_pd pd;
	struct xv_mr mr;
	struct xv_cq cq;
	struct xv_qp qp;
};

enum kind { PD, MR, CQ, QP };

static void ours_add(struct ours *o, struct xv_tx *tx, union object *obj,
		     enum kind kind)
{
	struct xv_qp_opts opts;

	switch (kind) {
	case PD:
		xv_pd_create(tx, &obj->pd);
		break;
	case MR:
		xv_mr_create(tx, &obj->mr, XV_OPTS(xv_mr_opts, .pd = &o->pd,
			     .addr = spare, .length = PAGE,
			     .access = XV_ACCESS_LOCAL_WRITE));
		break;
	case CQ:
		xv_cq_create(tx, &obj->cq, XV_OPTS(xv_cq_opts, .cqe = CQE));
		break;
	case QP:
		opts = qp_opts(o);
		opts.send_wr = 4;
		opts.recv_wr = 4;
		xv_qp_create(tx, &obj->qp, &opts);
		break;
	}
}

static void ours_remove(struct xv_tx *tx, union object *obj, enum kind kind)
{
	switch (kind) {
	case PD:
		xv_pd_destroy(tx, &obj->pd);
		break;
	case MR:
		xv_mr_destroy(tx, &obj->mr);
		break;
	case CQ:
		xv_cq_destroy(tx, &obj->cq);
		break;
	case QP:
		xv_qp_destroy(tx, &obj->qp);
		break;
	}
}

static void ours_make(struct ours *o, struct xv_tx *tx, union object *objs,
		      unsigned int num, enum kind kind)
{
	unsigned int i;

	for (i = 0; i < num; i++) {
		ours_add(o, tx, &objs[i], kind);
		if (xv_txn_num_ops(tx) == XV_MAX_OPS || i == num - 1)
			ours_ok(tx, xv_txn_commit(tx, NULL));
	}
}

static void ours_make_and_go(struct ours *o, struct xv_tx *tx,
			     union object *objs, unsigned int num,
			     enum kind kind)
{
	unsigned int i;

	ours_make(o, tx, objs, num, kind);
	for (i = 0; i < num; i++)
		ours_remove(tx, &objs[i], kind);
	ours_ok(tx, xv_txn_commit(tx, NULL));
}

static uint32_t ours_count(struct ours *o, enum kind kind)
{
	static const unsigned int types[] = {
		[PD] = XV_OBJ_PD, [MR] = XV_OBJ_MR, [CQ] = XV_OBJ_CQ,
		[QP] = XV_OBJ_QP,
	};
	struct xv_device_info info;

	ok(xv_device_query(xv_now(o->ctx), &info));
	return info.objects[types[kind]];
}

static void ours_objects(struct run *r, enum kind kind)
{
	union object objs[XV_MAX_OPS] = {};
	unsigned int i, had;
	struct xv_tx *tx;
	struct ours o;

	spare = page_alloc(PAGE);
	ours_open(&o, PAGE, 4 * DEPTH);
	had = ours_count(&o, kind);
	ok(xv_txn_begin(o.ctx, 0, &tx));
	for (i = 0; i < WARM_UP; i++)
		ours_make_and_go(&o, tx, objs, r->arg, kind);
	start(r);
	for (i = 0; i < r->n; i += r->arg)
		ours_make_and_go(&o, tx, objs, r->arg, kind);
	stop(r);
	check(ours_count(&o, kind) == had);
	ours_make(&o, tx, objs, r->arg, kind);
	check(ours_count(&o, kind) == had + r->arg);
}

static void *twin_make(struct twin *t, enum kind kind)
{
	void *obj = NULL;

	switch (kind) {
	case PD:
		obj = ibv_alloc_pd(t->ctx);
		break;
	case MR:
		obj = ibv_reg_mr(t->pd, spare, PAGE, IBV_ACCESS_LOCAL_WRITE);
		break;
	case CQ:
		obj = ibv_create_cq(t->ctx, CQE, NULL, NULL, 0);
		break;
	case QP:
		obj = twin_create(t, IBV_QPT_RC, 4, 4);
		break;
	}
	check(obj);
	return obj;
}

static void twin_go(void *obj, enum kind kind)
{
	switch (kind) {
	case PD:
		ok(ibv_dealloc_pd(obj));
		break;
	case MR:
		ok(ibv_dereg_mr(obj));
		break;
	case CQ:
		ok(ibv_destroy_cq(obj));
		break;
	case QP:
		ok(ibv_destroy_qp(obj));
		break;
	}
}

static void twin_objects(struct run *r, enum kind kind)
{
	void *objs[XV_MAX_OPS];
	unsigned int i, k;
	struct twin t;

	spare = page_alloc(PAGE);
	twin_open(&t, PAGE, 4 * DEPTH);
	for (i = 0; i < WARM_UP; i++)
		twin_go(twin_make(&t, kind), kind);
	start(r);
	for (i = 0; i < r->n; i += r->arg) {
		for (k = 0; k < r->arg; k++)
			objs[k] = twin_make(&t, kind);
		for (k = 0; k < r->arg; k++)
			twin_go(objs[k], kind);
	}
	stop(r);
}

/* ---- what the end of a process takes with it -------------------------- */

/*
 * A child makes objects and ends; from there on until it is gone is counted.
 * One without objects did the same before, and is taken off.
 */
static void end_of_child(struct run *r, void (*make)(enum kind kind,
						     unsigned int num),
			 enum kind kind, unsigned int num)
{
	static int64_t *end;
	int status;
	pid_t pid;

	if (!end)
		end = mmap(NULL, sizeof(*end), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check(end != MAP_FAILED);
	pid = fork();
	check(pid >= 0);
	if (!pid) {
		make(kind, num);
		*end = now();
		_exit(0);
	}
	check(waitpid(pid, &status, 0) == pid && !status);
	r->total += num ? now() - *end : *end - now();
}

static void ours_fill(enum kind kind, unsigned int num)
{
	static union object objs[MANY];
	struct xv_tx *tx;
	struct ours o;

	spare = page_alloc(PAGE);
	ours_open(&o, PAGE, kind == QP ? XV_MAX_CQE - 1 : CQE);
	ok(xv_txn_begin(o.ctx, 0, &tx));
	ours_make(&o, tx, objs, num, kind);
	check(ours_count(&o, kind) >= num);
}

static void twin_fill(enum kind kind, unsigned int num)
{
	struct twin t;
	unsigned int i;

	spare = page_alloc(PAGE);
	twin_open(&t, PAGE, kind == QP ? XV_MAX_CQE - 1 : CQE);
	for (i = 0; i < num; i++)
		twin_make(&t, kind);
}

static void ours_close(struct run *r)
{
	end_of_child(r, ours_fill, r->arg, 0);
	end_of_child(r, ours_fill, r->arg, r->n);
}

static void twin_close(struct run *r)
{
	end_of_child(r, twin_fill, r->arg, 0);
	end_of_child(r, twin_fill, r->arg, r->n);
}

/* ---- the table -------------------------------------------------------- */

static void ours_pd(struct run *r)
{
	ours_objects(r, PD);
}

static void twin_pd(struct run *r)
{
	twin_objects(r, PD);
}

static void ours_mr(struct run *r)
{
	ours_objects(r, MR);
}

static void twin_mr(struct run *r)
{
	twin_objects(r, MR);
}

static void ours_cq(struct run *r)
{
	ours_objects(r, CQ);
}

static void twin_cq(struct run *r)
{
	twin_objects(r, CQ);
}

const struct figure control_figures[] = {
	{ "rts-1", "queue pair: made, to RTS, destroyed",
	  ours_rts, twin_rts, .n = 64, .arg = 1, .must = 1.7 },
	{ "rts-64", "queue pair: the same, 64 at a time",
	  ours_rts, twin_rts, .n = 128, .arg = 64, .must = 1.7 },
	{ "thousand", "1000 queue pairs: made, to RTS, destroyed",
	  ours_thousand, twin_thousand, .n = MANY, .must = 1.9 },
	{ "thousand-rts", "1000 queue pairs: from INIT to RTS alone",
	  ours_thousand, twin_thousand, .n = MANY, .arg = 1 },
	{ "end", "PD, MR, CQ, QP, 16 receives, to RTS; all destroyed",
	  ours_end, twin_end, .n = 64 },
	{ "cq", "completion queue of 16, made and destroyed",
	  ours_cq, twin_cq, .n = 64, .arg = 1, .must = 1.8 },
	{ "cq-16", "completion queue of 16, 16 at a time",
	  ours_cq, twin_cq, .n = 64, .arg = 16 },
	{ "mr-1", "region of 4 KiB, registered and deregistered",
	  ours_mr, twin_mr, .n = 64, .arg = 1, .must = 1.15 },
	{ "mr-4", "region of 4 KiB, 4 at a time",
	  ours_mr, twin_mr, .n = 64, .arg = 4 },
	{ "mr-16", "region of 4 KiB, 16 at a time",
	  ours_mr, twin_mr, .n = 64, .arg = 16 },
	{ "mr-64", "region of 4 KiB, 64 at a time",
	  ours_mr, twin_mr, .n = 128, .arg = 64 },
	{ "pd-1", "protection domain, made and destroyed",
	  ours_pd, twin_pd, .n = 64, .arg = 1 },
	{ "pd-64", "protection domain, 64 at a time",
	  ours_pd, twin_pd, .n = 128, .arg = 64 },
	{ "close-pd", "protection domain, by the end of its process",
	  ours_close, twin_close, .n = MANY, .arg = PD, .at_most = 2400 },
	{ "close-mr", "memory region, by the end of its process",
	  ours_close, twin_close, .n = MANY, .arg = MR, .at_most = 3200 },
	{ "close-cq", "completion queue, by the end of its process",
	  ours_close, twin_close, .n = 512, .arg = CQ },
	{ "close-qp", "queue pair, by the end of its process",
	  ours_close, twin_close, .n = 512, .arg = QP, .at_most = 18000 },
	{}
};
