// SPDX-License-Identifier: GPL-2.0
/*
 * Threads issue random transactions over shared handles, and a model looks
 * whether what they were told can be explained by some order.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Each call is logged with two stamps of one clock, taken before and after it; it
 * happened at one point between them. For the calls that succeeded "some order"
 * is decided, not guessed: an object's create comes before its uses, those before
 * its destroy, a child's destroy before its parent's; the model gives each call
 * the earliest point that this allows, and the call must not have ended before.
 * A refusal must have had its reason at some point of the call.
 *
 * XV_SEED chooses another run.
 */
#include <stdatomic.h>
#include "xv_test.h"

#define MODEL_THREADS	8
#define MODEL_SLOTS	5	/* of each type */
#define MODEL_OPS_MAX	5	/* of one transaction */
#define MODEL_LIMITS	64	/* depth of an SRQ: so many values has its limit */

enum { PD, MR, CQ, SRQ, QP, AH, TYPES };

static const uint16_t wire_types[TYPES] = {
	XV_OBJ_PD, XV_OBJ_MR, XV_OBJ_CQ, XV_OBJ_SRQ, XV_OBJ_QP, XV_OBJ_AH,
};

static const char *const type_names[TYPES] = {
	"pd", "mr", "cq", "srq", "qp", "ah",
};

enum kind { CREATE, DESTROY, QUERY, MODIFY };

static const char *const kind_names[] = {
	"create", "destroy", "query", "modify",
};

/**
 * struct op - one operation of a transaction
 * @kind: what it does
 * @type: the type of the object
 * @handle: the object; of a create what was written, 0 if nothing was
 * @parents: those of a create
 * @from_op: the parents that the same transaction makes
 * @num_parents: number of @parents
 * @limit: of an SRQ: what was set, or what a query told
 */
struct op {
	uint8_t kind;
	uint8_t type;
	uint8_t num_parents;
	uint8_t from_op;
	uint32_t handle;
	uint32_t parents[3];
	uint32_t limit;
};

/**
 * struct txn - one call
 * @start: stamp before it
 * @end: stamp after it
 * @ret: what it returned
 * @err: its record, if it failed
 * @num: number of @ops
 * @ops: its operations
 * @earliest: the model: not before this stamp
 * @waits: the model: calls that must come before, and are not placed yet
 * @next: the model: first of the edges to calls that come later
 */
struct txn {
	uint64_t start;
	uint64_t end;
	int ret;
	struct xv_error err;
	unsigned int num;
	struct op ops[MODEL_OPS_MAX];
	uint64_t earliest;
	unsigned int waits;
	struct edge *next;
};

struct edge {
	struct edge *next;
	struct txn *to;
};

/**
 * struct object - what the model knows of an object
 * @handle: its handle, 0 if this entry is free
 * @type: its type
 * @op: the operation that made it
 * @made: the call that made it
 * @gone: the call that destroyed it, or NULL
 */
struct object {
	uint32_t handle;
	unsigned int type;
	struct op *op;
	struct txn *made;
	struct txn *gone;
};

struct thread {
	pthread_t thread;
	struct model *model;
	unsigned int seed;
	unsigned int num;
	struct txn *log;
	uint32_t last;		/* that it made */
	struct xvt_msg m;
	union {
		struct xv_srq_info srq;
		uint8_t bytes[512];
	} out[MODEL_OPS_MAX];
};

/**
 * struct model - what the threads share, and the model
 * @t: the device
 * @ops: calls of each thread
 * @clock: stamps
 * @slots: handles
 * @limits: the last value given to the limit of the SRQ in that slot
 * @buf: memory for regions
 * @path: of address handles
 * @threads: the threads
 * @objects: a hash table of what was made
 * @mask: its size less one
 * @edges: memory for edges
 * @num_edges: used of it
 * @max_edges: its size
 * @succeeded: calls that did
 * @reasons: calls that failed, by reason
 */
struct model {
	struct xvt t;
	unsigned int ops;
	atomic_ullong clock;
	atomic_uint slots[TYPES][MODEL_SLOTS];
	atomic_uint limits[MODEL_SLOTS];
	uint8_t *buf;
	struct thread threads[MODEL_THREADS];
	struct object *objects;
	unsigned int mask;
	struct edge *edges;
	unsigned int num_edges;
	unsigned int max_edges;
	unsigned int succeeded;
	unsigned int reasons[64];
};

/* ---- the threads ---- */

static unsigned int rnd(struct thread *me, unsigned int n)
{
	return rand_r(&me->seed) % n;
}

/* Mostly one that is there, or was; sometimes one that may be there soon. */
static uint32_t any(struct thread *me, unsigned int type)
{
	uint32_t handle;

	if (!rnd(me, 25))
		return me->last + rnd(me, 12);
	handle = atomic_load(&me->model->slots[type][rnd(me, MODEL_SLOTS)]);
	return handle ? handle : 1;
}

static struct op *add_op(struct thread *me, struct txn *txn, enum kind kind,
			 unsigned int type)
{
	static const uint16_t methods[] = {
		[CREATE] = XV_M_CREATE, [DESTROY] = XV_M_DESTROY,
		[QUERY] = XV_M_QUERY, [MODIFY] = XV_M_MODIFY,
	};
	struct op *op = &txn->ops[txn->num++];

	*op = (struct op){ .kind = kind, .type = type };
	xvt_op(&me->m, wire_types[type], methods[kind]);
	if (kind == CREATE) {
		xvt_new(&me->m);
	} else {
		op->handle = any(me, type);
		xvt_handle(&me->m, op->handle);
	}
	return op;
}

/* A parent: one that this transaction makes, if there is, or any. */
static void add_parent(struct thread *me, struct txn *txn, uint16_t attr,
		       unsigned int type)
{
	struct op *op = &txn->ops[txn->num - 1];
	unsigned int i, n = op->num_parents++;

	for (i = 0; i + 1 < txn->num; i++) {
		if (txn->ops[i].kind != CREATE || txn->ops[i].type != type)
			continue;
		xvt_ref(&me->m, XV_GRP_OBJECT, attr, i);
		op->parents[n] = i;
		op->from_op |= 1 << n;
		return;
	}
	op->parents[n] = any(me, type);
	xvt_u32(&me->m, XV_GRP_OBJECT, attr, op->parents[n]);
}

static void add_create(struct thread *me, struct txn *txn, unsigned int type)
{
	struct model *model = me->model;
	unsigned int i = txn->num;
	struct xvt_msg *m = &me->m;
	struct op *op = add_op(me, txn, CREATE, type);
	bool shared;

	switch (type) {
	case MR:
		add_parent(me, txn, XV_OBJECT_PD, PD);
		xvt_u64(m, XV_GRP_PARAMS, XV_PARAMS_ADDR,
			(uintptr_t)model->buf);
		xvt_u64(m, XV_GRP_PARAMS, XV_PARAMS_LENGTH, XVT_PAGE);
		break;
	case CQ:
		xvt_u32(m, XV_GRP_CAPS, XV_CAPS_CQE, 2000);
		break;
	case SRQ:
		add_parent(me, txn, XV_OBJECT_PD, PD);
		xvt_u32(m, XV_GRP_CAPS, XV_CAPS_RECV_WR, MODEL_LIMITS);
		break;
	case QP:
		shared = !rnd(me, 4);
		add_parent(me, txn, XV_OBJECT_PD, PD);
		add_parent(me, txn, XV_OBJECT_SEND_CQ, CQ);
		if (shared)
			add_parent(me, txn, XV_OBJECT_SRQ, SRQ);
		xvt_u32(m, XV_GRP_CAPS, XV_CAPS_SEND_WR, 1);
		xvt_u32(m, XV_GRP_CAPS, XV_CAPS_RECV_WR, !shared);
		break;
	case AH:
		add_parent(me, txn, XV_OBJECT_PD, PD);
		xvt_attr(m, XV_GRP_ADDRESS, XV_ADDRESS_GID, 16, 0,
			 (uintptr_t)model->t.gid.gid);
		xvt_u32(m, XV_GRP_PATH, XV_PATH_SGID_INDEX,
			model->t.gid_index);
		break;
	}
	if (type != PD)
		xvt_out(m, &me->out[i], sizeof(me->out[i]));
	op->limit = 0;
}

static void add_query(struct thread *me, struct txn *txn, unsigned int type)
{
	unsigned int i = txn->num;

	add_op(me, txn, QUERY, type);
	xvt_out(&me->m, &me->out[i], sizeof(me->out[i]));
}

/* A limit that the SRQ hardly ever had, so that one can tell who set it. */
static void add_modify(struct thread *me, struct txn *txn)
{
	unsigned int slot = rnd(me, MODEL_SLOTS);
	struct op *op = &txn->ops[txn->num++];

	*op = (struct op){ .kind = MODIFY, .type = SRQ };
	op->handle = atomic_load(&me->model->slots[SRQ][slot]);
	if (!op->handle)
		op->handle = 1;
	op->limit = atomic_fetch_add(&me->model->limits[slot], 1) + 1;
	xvt_op(&me->m, XV_OBJ_SRQ, XV_M_MODIFY);
	xvt_handle(&me->m, op->handle);
	xvt_u32(&me->m, XV_GRP_PARAMS, XV_PARAMS_LIMIT, op->limit);
}

static void fill(struct thread *me, struct txn *txn)
{
	static const uint8_t family[] = { PD, CQ, SRQ, MR, AH, QP };
	unsigned int what = rnd(me, 100), i;

	if (what < 6) {
		add_modify(me, txn);
	} else if (what < 36) {
		add_create(me, txn, rnd(me, TYPES));
	} else if (what < 46) {
		/* Some that belong together. */
		add_create(me, txn, PD);
		for (i = 1; i < ARRAY_SIZE(family); i++)
			if (txn->num < MODEL_OPS_MAX && rnd(me, 3))
				add_create(me, txn, family[i]);
	} else if (what < 62) {
		add_op(me, txn, DESTROY, rnd(me, TYPES));
	} else if (what < 72) {
		for (i = rnd(me, MODEL_OPS_MAX); i < MODEL_OPS_MAX; i++)
			add_op(me, txn, DESTROY, rnd(me, TYPES));
	} else if (what < 90) {
		for (i = rnd(me, MODEL_OPS_MAX); i < MODEL_OPS_MAX; i++)
			add_query(me, txn, rnd(me, TYPES));
	} else {
		/* All classes in one call. */
		for (i = rnd(me, MODEL_OPS_MAX); i < MODEL_OPS_MAX; i++) {
			unsigned int type = rnd(me, TYPES);

			switch (rnd(me, 3)) {
			case 0:
				add_create(me, txn, type);
				break;
			case 1:
				add_op(me, txn, DESTROY, type);
				break;
			default:
				add_query(me, txn, type);
			}
		}
	}
}

static struct txn *begin(struct thread *me)
{
	struct txn *txn = &me->log[me->num];

	memset(txn, 0, sizeof(*txn));
	xvt_begin(&me->m, 0);
	return txn;
}

static void run(struct thread *me, struct txn *txn)
{
	unsigned int i;

	me->num++;
	txn->start = atomic_fetch_add(&me->model->clock, 1);
	txn->ret = xvt_run(&me->m, me->model->t.fd);
	txn->end = atomic_fetch_add(&me->model->clock, 1);
	if (txn->ret)
		txn->err = me->m.err;
	for (i = 0; i < txn->num; i++) {
		struct op *op = &txn->ops[i];

		if (op->kind == CREATE)
			op->handle = xvt_made(&me->m, i);
		if (op->kind == QUERY && op->type == SRQ)
			op->limit = me->out[i].srq.limit;
		if (op->kind == CREATE && !txn->ret)
			me->last = op->handle;
	}
}

static void destroy_own(struct thread *me, unsigned int type, uint32_t handle)
{
	struct txn *txn = begin(me);

	txn->num = 1;
	txn->ops[0] = (struct op){ .kind = DESTROY, .type = type,
				   .handle = handle };
	xvt_op(&me->m, wire_types[type], XV_M_DESTROY);
	xvt_handle(&me->m, handle);
	run(me, txn);
}

/* What was made replaces what was there, and some of that goes. */
static void publish(struct thread *me, const struct txn *txn)
{
	unsigned int i;

	for (i = 0; i < txn->num; i++) {
		const struct op *op = &txn->ops[i];
		unsigned int slot = rnd(me, MODEL_SLOTS);
		uint32_t old;

		if (op->kind != CREATE)
			continue;
		if (op->type == SRQ)
			atomic_store(&me->model->limits[slot], 0);
		old = atomic_exchange(&me->model->slots[op->type][slot],
				      op->handle);
		if (old && me->num < me->model->ops)
			destroy_own(me, op->type, old);
	}
}

static void *thread_main(void *arg)
{
	struct thread *me = arg;

	me->num = 0;
	while (me->num < me->model->ops) {
		struct txn *txn = begin(me);

		fill(me, txn);
		run(me, txn);
		if (!txn->ret)
			publish(me, txn);
	}
	return NULL;
}

/* ---- the model ---- */

static struct object *find(struct model *model, uint32_t handle)
{
	unsigned int i = handle * 2654435761U & model->mask;

	while (model->objects[i].handle && model->objects[i].handle != handle)
		i = (i + 1) & model->mask;
	return &model->objects[i];
}

/* One that was made, or NULL. */
static struct object *known(struct model *model, uint32_t handle)
{
	struct object *o = handle ? find(model, handle) : NULL;

	return o && o->handle ? o : NULL;
}

static uint32_t parent_of(const struct txn *txn, const struct op *op,
			  unsigned int i)
{
	return op->from_op & 1 << i ? txn->ops[op->parents[i]].handle :
				      op->parents[i];
}

#define for_each_txn(model, th, txn)					\
	for (th = (model)->threads; th < (model)->threads + MODEL_THREADS; th++) \
		for (txn = th->log; txn < th->log + th->num; txn++)

#define for_each_op(txn, op)						\
	for (op = (txn)->ops; op < (txn)->ops + (txn)->num; op++)

/* Everything about a call, for who has to understand why it can not be. */
static void describe(struct __test_metadata *_metadata, const char *what,
		     const struct txn *txn)
{
	const struct op *op;

	TH_LOG("%s: [%llu %llu] returned %d, op %d reason %u object %u handle %u",
	       what, (unsigned long long)txn->start,
	       (unsigned long long)txn->end, txn->ret, txn->err.op,
	       txn->err.reason, txn->err.object, txn->err.handle);
	for_each_op(txn, op)
		TH_LOG("	%s.%s %u parents %u %u %u, %x of them new; limit %u",
		       type_names[op->type], kind_names[op->kind], op->handle,
		       op->parents[0], op->parents[1], op->parents[2],
		       op->from_op, op->limit);
}

static void violation(struct __test_metadata *_metadata, const struct txn *txn,
		      const char *what)
{
	EXPECT_EQ(NULL, what);
	describe(_metadata, what, txn);
}

/* Made once, destroyed once. */
static void note_lives(struct __test_metadata *_metadata, struct model *model)
{
	struct thread *th;
	struct object *o;
	struct txn *txn;
	struct op *op;

	for_each_txn(model, th, txn) {
		if (txn->ret)
			continue;
		for_each_op(txn, op) {
			if (op->kind != CREATE)
				continue;
			o = op->handle ? find(model, op->handle) : NULL;
			if (!o || o->handle) {
				violation(_metadata, txn, "a handle is given twice, or 0");
				continue;
			}
			*o = (struct object){ .handle = op->handle,
					      .type = op->type, .op = op,
					      .made = txn };
		}
	}
	for_each_txn(model, th, txn) {
		if (txn->ret)
			continue;
		for_each_op(txn, op) {
			if (op->kind != DESTROY)
				continue;
			o = known(model, op->handle);
			if (!o || o->type != op->type || o->gone)
				violation(_metadata, txn, "destroyed what is not there");
			else
				o->gone = txn;
		}
	}
}

static void add_edge(struct __test_metadata *_metadata, struct model *model,
		     struct txn *from, struct txn *to)
{
	struct edge *e;

	if (from == to)
		return;
	ASSERT_GT(model->max_edges, model->num_edges);
	e = &model->edges[model->num_edges++];
	e->to = to;
	e->next = from->next;
	from->next = e;
	to->waits++;
}

/* A call that succeeded has used an object, which it does not destroy. */
static void used(struct __test_metadata *_metadata, struct model *model,
		 struct txn *txn, uint32_t handle, unsigned int type)
{
	struct object *o = known(model, handle);

	if (!o || o->type != type) {
		violation(_metadata, txn, "used what was never made");
		return;
	}
	add_edge(_metadata, model, o->made, txn);
	if (o->gone)
		add_edge(_metadata, model, txn, o->gone);
}

static unsigned int parent_type(const struct op *op, unsigned int i)
{
	return i == 0 ? PD : i == 1 ? CQ : SRQ;
}

/* What must come before what. */
static void note_order(struct __test_metadata *_metadata, struct model *model)
{
	struct object *o, *child;
	struct thread *th;
	struct txn *txn;
	unsigned int i;
	struct op *op;

	for_each_txn(model, th, txn) {
		if (txn->ret)
			continue;
		for_each_op(txn, op) {
			if (op->kind == DESTROY) {
				o = known(model, op->handle);
				if (o)
					add_edge(_metadata, model, o->made,
						 txn);
			} else if (op->kind != CREATE) {
				used(_metadata, model, txn, op->handle,
				     op->type);
			}
			if (op->kind != CREATE)
				continue;
			child = known(model, op->handle);
			for (i = 0; i < op->num_parents; i++) {
				uint32_t handle = parent_of(txn, op, i);

				if (!(op->from_op & 1 << i))
					used(_metadata, model, txn, handle,
					     parent_type(op, i));
				o = known(model, handle);
				if (!o || !o->gone || !child)
					continue;
				if (!child->gone)
					violation(_metadata, o->gone,
						  "a parent went before its child");
				else
					add_edge(_metadata, model, child->gone,
						 o->gone);
			}
		}
	}
}

/* Place each call as early as may be; what can not be placed is a circle. */
static void place(struct __test_metadata *_metadata, struct model *model)
{
	unsigned int total = 0, placed = 0, n = 0;
	struct txn **todo, *txn;
	struct thread *th;
	struct edge *e;

	todo = calloc(MODEL_THREADS * model->ops * 2, sizeof(*todo));
	ASSERT_NE(NULL, todo);
	for_each_txn(model, th, txn) {
		if (txn->ret)
			continue;
		total++;
		txn->earliest = txn->start;
		if (!txn->waits)
			todo[n++] = txn;
	}
	while (placed < n) {
		txn = todo[placed++];
		if (txn->earliest >= txn->end)
			violation(_metadata, txn, "it ended before it can have happened");
		for (e = txn->next; e; e = e->next) {
			if (e->to->earliest < txn->earliest)
				e->to->earliest = txn->earliest;
			if (!--e->to->waits)
				todo[n++] = e->to;
		}
	}
	EXPECT_EQ(total, placed);
	for_each_txn(model, th, txn)
		if (!txn->ret && txn->waits)
			describe(_metadata, "in a circle", txn);
	model->succeeded += total;
	free(todo);
}

/* ---- limits of SRQs: a register each ---- */

/* Can the limit of that SRQ be what @set has made it, when @txn looks? */
static bool limit_lasts(struct model *model, const struct txn *set,
			const struct txn *txn, uint32_t handle)
{
	struct txn *other;
	struct thread *th;

	if (set->start > txn->end)
		return false;
	/* Another that lies between both would have overwritten it. */
	for_each_txn(model, th, other)
		if (!other->ret && other->ops[0].kind == MODIFY &&
		    other->ops[0].handle == handle &&
		    other->start > set->end && other->end < txn->start)
			return false;
	return true;
}

static bool explains_limit(struct model *model, const struct txn *txn,
			   const struct op *op)
{
	struct object *o = known(model, op->handle);
	struct thread *th;
	struct txn *set;

	if (o && !op->limit && limit_lasts(model, o->made, txn, op->handle))
		return true;
	for_each_txn(model, th, set)
		if (!set->ret && set->ops[0].kind == MODIFY &&
		    set->ops[0].handle == op->handle &&
		    set->ops[0].limit == op->limit &&
		    limit_lasts(model, set, txn, op->handle))
			return true;
	return false;
}

/* ---- refusals ---- */

/* Did it live during the whole call? */
static bool lived_throughout(const struct object *o, const struct txn *txn)
{
	return o->made->end < txn->start &&
	       (!o->gone || o->gone->start > txn->end);
}

/* Can it have lived at some point of the call? */
static bool may_have_lived(const struct object *o, const struct txn *txn)
{
	return o->made->start < txn->end &&
	       (!o->gone || o->gone->end > txn->start);
}

/* How a call uses an object: 0 not at all, 1 reads, 2 writes. */
static int use_of(const struct txn *txn, uint32_t handle)
{
	const struct op *op;
	unsigned int i;
	int use = 0;

	for_each_op(txn, op) {
		if (op->handle == handle && op->kind != QUERY)
			return 2;
		if (op->handle == handle)
			use = 1;
		for (i = 0; i < op->num_parents; i++)
			if (!(op->from_op & 1 << i) &&
			    op->parents[i] == handle)
				use = 1;
	}
	return use;
}

static bool explains_conflict(struct model *model, const struct txn *txn,
			      uint32_t handle)
{
	int mine = use_of(txn, handle), theirs;
	struct thread *th;
	struct txn *other;

	for_each_txn(model, th, other) {
		if (other == txn || other->start > txn->end ||
		    other->end < txn->start)
			continue;
		theirs = use_of(other, handle);
		if (theirs && mine && (mine == 2 || theirs == 2))
			return true;
	}
	return false;
}

static bool explains_dependent(struct model *model, const struct txn *txn)
{
	struct object *child = known(model, txn->err.handle);
	const struct op *op;
	unsigned int i;

	if (txn->err.op >= txn->num || !child ||
	    wire_types[child->type] != txn->err.object ||
	    !may_have_lived(child, txn))
		return false;
	/* It is in the set itself? */
	for_each_op(txn, op)
		if (op->kind == DESTROY && op->handle == child->handle)
			return false;
	op = &txn->ops[txn->err.op];
	for (i = 0; i < child->op->num_parents; i++)
		if (op->kind == DESTROY &&
		    parent_of(child->made, child->op, i) == op->handle)
			return true;
	return false;
}

/* A handle that occurs twice, and not to read alone. */
static bool names_twice(const struct txn *txn)
{
	const struct op *a, *b;
	unsigned int i;

	for_each_op(txn, a) {
		if (a->kind != DESTROY)
			continue;
		for_each_op(txn, b) {
			if (a != b && b->handle == a->handle)
				return true;
			for (i = 0; i < b->num_parents; i++)
				if (!(b->from_op & 1 << i) &&
				    b->parents[i] == a->handle)
					return true;
		}
	}
	return false;
}

/* The PD of a QP and that of its SRQ. */
static bool explains_mismatch(struct model *model, const struct txn *txn)
{
	const struct op *op = &txn->ops[txn->err.op], *srq;
	struct object *o;

	if (txn->err.op >= txn->num || op->num_parents < 3)
		return false;
	if (op->from_op & 4) {
		srq = &txn->ops[op->parents[2]];
		return (op->from_op & 1) != (srq->from_op & 1) ||
		       op->parents[0] != srq->parents[0];
	}
	o = known(model, op->parents[2]);
	return o && (op->from_op & 1 ||
		     parent_of(o->made, o->op, 0) != op->parents[0]);
}

static bool explained(struct model *model, const struct txn *txn)
{
	struct object *o = known(model, txn->err.handle);

	if (txn->err.err != -txn->ret)
		return false;
	switch (txn->err.reason) {
	case XV_R_NO_HANDLE:
		return txn->ret == -ENOENT && use_of(txn, txn->err.handle) &&
		       (!o || !lived_throughout(o, txn));
	case XV_R_LOCK_CONFLICT:
		return txn->ret == -EBUSY && o && may_have_lived(o, txn) &&
		       explains_conflict(model, txn, txn->err.handle);
	case XV_R_DEPENDENT:
		return txn->ret == -EBUSY && explains_dependent(model, txn);
	case XV_R_TYPE:
		return txn->ret == -EINVAL && o && may_have_lived(o, txn) &&
		       wire_types[o->type] == txn->err.object &&
		       txn->err.detail != txn->err.object;
	case XV_R_SELF_CONFLICT:
		return txn->ret == -EINVAL && names_twice(txn);
	case XV_R_RANGE:
		/* A limit beyond the depth. */
		return txn->ret == -EINVAL && txn->ops[0].kind == MODIFY &&
		       txn->ops[0].limit > MODEL_LIMITS;
	case XV_R_MISMATCH:
		return txn->ret == -EINVAL && explains_mismatch(model, txn);
	}
	return false;
}

static void check_refusals(struct __test_metadata *_metadata,
			   struct model *model)
{
	struct thread *th;
	struct txn *txn;
	struct op *op;

	for_each_txn(model, th, txn) {
		if (!txn->ret) {
			for_each_op(txn, op)
				if (op->kind == QUERY && op->type == SRQ &&
				    !explains_limit(model, txn, op))
					violation(_metadata, txn, "not the limit that was set");
			continue;
		}
		model->reasons[txn->err.reason % 64]++;
		if (!explained(model, txn))
			violation(_metadata, txn, "no reason for that");
		/* What it names is nobody's. */
		for_each_op(txn, op)
			if (op->kind == CREATE && known(model, op->handle))
				violation(_metadata, txn, "the handle of a failed create lives");
	}
}

/* ---- the end of a round ---- */

static int by_handle(const void *a, const void *b)
{
	const struct object *const *x = a, *const *y = b;

	return (*x)->handle < (*y)->handle ? 1 : -1;
}

/* What should be there is, and goes; then nothing is. */
static void clean_up(struct __test_metadata *_metadata, struct model *model,
		     const struct xvt_snap *before)
{
	struct xvt_msg *m = &model->threads[0].m;
	struct object **alive, *o;
	unsigned int i, n = 0, num[16] = {};
	struct xvt_snap now;

	alive = calloc(model->mask + 1, sizeof(*alive));
	ASSERT_NE(NULL, alive);
	for (o = model->objects; o <= model->objects + model->mask; o++) {
		if (!o->handle || o->gone)
			continue;
		alive[n++] = o;
		num[wire_types[o->type]]++;
	}
	xvt_snap(_metadata, &model->t, &now);
	for (i = 0; i < 16; i++) {
		EXPECT_EQ(before->objects[i] + num[i], now.objects[i]) {
			TH_LOG("objects of type %u", i);
		}
	}
	/* Children have higher handles than their parents. */
	qsort(alive, n, sizeof(*alive), by_handle);
	xvt_begin(m, 0);
	for (i = 0; i < n; i++) {
		xvt_op(m, wire_types[alive[i]->type], XV_M_DESTROY);
		xvt_handle(m, alive[i]->handle);
		if (m->txn.num_ops < XV_MAX_OPS && i + 1 < n)
			continue;
		EXPECT_EQ(0, xvt_run(m, model->t.fd)) {
			TH_LOG("reason %u handle %u", m->err.reason,
			       m->err.handle);
		}
		xvt_begin(m, 0);
	}
	xvt_same(_metadata, &model->t, before, "after a round");
	free(alive);
}

FIXTURE(model) {
	struct model *model;
};

FIXTURE_SETUP(model)
{
	const char *seed = getenv("XV_SEED");
	unsigned int i, max;
	struct model *model;

	model = calloc(1, sizeof(*model));
	ASSERT_NE(NULL, model);
	self->model = model;
	xvt_open(_metadata, &model->t);
	model->buf = xvt_map(XVT_PAGE, PROT_READ | PROT_WRITE);
	ASSERT_NE(NULL, model->buf);
	model->ops = xvt_count(MODEL_OPS);
	/* A call that makes a set may be followed by as many destroys. */
	max = model->ops + MODEL_OPS_MAX;
	for (i = 0; i < MODEL_THREADS; i++) {
		struct thread *th = &model->threads[i];

		th->model = model;
		th->seed = (seed ? atoi(seed) : 1) * MODEL_THREADS + i;
		th->log = calloc(max, sizeof(*th->log));
		ASSERT_NE(NULL, th->log);
	}
	max *= MODEL_THREADS * MODEL_OPS_MAX;
	while (model->mask < 2 * max)
		model->mask = 2 * model->mask + 1;
	model->objects = calloc(model->mask + 1, sizeof(*model->objects));
	ASSERT_NE(NULL, model->objects);
	model->max_edges = max * 10;
	model->edges = calloc(model->max_edges, sizeof(*model->edges));
	ASSERT_NE(NULL, model->edges);
}

FIXTURE_TEARDOWN(model)
{
	struct model *model = self->model;
	unsigned int i;

	xvt_teardown(_metadata);
	xvt_close(&model->t);
	munmap(model->buf, XVT_PAGE);
	for (i = 0; i < MODEL_THREADS; i++)
		free(model->threads[i].log);
	free(model->objects);
	free(model->edges);
	free(model);
}

TEST_F(model, some_order)
{
	unsigned int rounds = xvt_count(MODEL_ROUNDS), round, i;
	struct model *model = self->model;
	/* As long as one may still learn something. */
	int64_t end = xvt_now() + xvt_ns(10000);
	struct xvt_snap before;

	xvt_snap(_metadata, &model->t, &before);
	for (round = 0; round < rounds && _metadata->passed; round++) {
		if (!xvt_mode("long") && xvt_now() > end)
			break;
		memset(model->slots, 0, sizeof(model->slots));
		memset(model->objects, 0,
		       (model->mask + 1) * sizeof(*model->objects));
		model->num_edges = 0;
		for (i = 0; i < MODEL_THREADS; i++)
			ASSERT_EQ(0, pthread_create(&model->threads[i].thread,
						    NULL, thread_main,
						    &model->threads[i]));
		for (i = 0; i < MODEL_THREADS; i++)
			pthread_join(model->threads[i].thread, NULL);
		note_lives(_metadata, model);
		note_order(_metadata, model);
		place(_metadata, model);
		check_refusals(_metadata, model);
		clean_up(_metadata, model, &before);
	}
	TH_LOG("%u rounds, %u calls succeeded; refused: %u no handle, %u lock, %u dependent, %u type, %u self, %u range, %u mismatch",
	       round, model->succeeded, model->reasons[XV_R_NO_HANDLE],
	       model->reasons[XV_R_LOCK_CONFLICT],
	       model->reasons[XV_R_DEPENDENT], model->reasons[XV_R_TYPE],
	       model->reasons[XV_R_SELF_CONFLICT],
	       model->reasons[XV_R_RANGE], model->reasons[XV_R_MISMATCH]);
	/* A model that has seen nothing has proved nothing. */
	EXPECT_LT(0, round);
	EXPECT_LT(0, model->succeeded);
	EXPECT_LT(0, model->reasons[XV_R_NO_HANDLE]);
	EXPECT_LT(0, model->reasons[XV_R_LOCK_CONFLICT]);
	EXPECT_LT(0, model->reasons[XV_R_DEPENDENT]);
}

TEST_HARNESS_MAIN
