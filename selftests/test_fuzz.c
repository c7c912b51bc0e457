// SPDX-License-Identifier: GPL-2.0
/*
 * Transactions and ENTER calls at random, made from what device.describe tells.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * The generator knows kinds, ranges, masks and types from the tables of the
 * running kernel, so what is added there is tried here. All it knows beyond
 * them is seeds(): values without which a create would hardly ever succeed,
 * such as an address of the device.
 *
 * Asked of each answer: an errno of the contract, and a record that fits it.
 * Asked of each file that one process has for itself: exactly those objects are
 * there which the answers tell. Asked at the end: all attributes got through
 * the parser, all methods have succeeded, and nothing is left.
 *
 * --seed N or XV_SEED choose another run. XV_FUZZ_MS: for so long.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include "xv_test.h"

#define WORKERS		4
#define MAX_LINES	2048
#define MAX_METHODS	512
#define MAX_TYPES	16
#define MAX_LIVE	24
#define MAX_MAPS	64
#define CALLS_A_FILE	3000

/* What a worker may lose without harm, between walls. */
#define WALL		(1UL << 30)
#define IN_BYTES	(256UL << 10)
#define OUT_BYTES	(1UL << 20)
#define MR_BYTES	(256UL << 10)
#define ARENA_BYTES	(IN_BYTES + OUT_BYTES + MR_BYTES)
#ifdef __LP64__
#define WALL_BYTES	WALL
#else
#define WALL_BYTES	(64UL << 20)
#endif

/* ---- the tables ---- */

/**
 * struct method - a method and where its attributes stand
 * @m: its line
 * @line: number of that line
 * @first: number of the line behind it
 * @end: where the next one begins
 */
struct method {
	const struct xv_desc *m;
	unsigned int line;
	unsigned int first;
	unsigned int end;
};

static const struct xv_describe *desc;
static struct method methods[MAX_METHODS];
static unsigned int num_methods;
static struct method *creates[MAX_TYPES];
static uint16_t reason_errno[256];

static const struct xv_desc *line(unsigned int i)
{
	return xv_describe_line(desc, i);
}

static bool read_tables(struct xv_ctx *ctx)
{
	struct method *cur = NULL;
	unsigned int i;

	if (xv_describe(ctx, &desc) || desc->num_descs > MAX_LINES)
		return false;
	num_methods = 0;
	for (i = 0; i < desc->num_descs; i++) {
		const struct xv_desc *d = line(i);

		if (d->what == XV_DESC_REASON && d->id < 256)
			reason_errno[d->id] = d->max;
		if (d->what != XV_DESC_METHOD) {
			if (cur && (d->what == XV_DESC_GROUP ||
				    d->what == XV_DESC_ATTR))
				cur->end = i + 1;
			else
				cur = NULL;
			continue;
		}
		if (num_methods == MAX_METHODS || d->object >= MAX_TYPES)
			return false;
		cur = &methods[num_methods++];
		*cur = (struct method){ .m = d, .line = i, .first = i + 1,
					.end = i + 1 };
		if (d->kind == XV_C_CREATE)
			creates[d->object] = cur;
	}
	return num_methods;
}

static struct method *find_method(uint16_t object, uint16_t id)
{
	unsigned int i;

	for (i = 0; i < num_methods; i++)
		if (methods[i].m->object == object && methods[i].m->method == id)
			return &methods[i];
	return NULL;
}

/* The line of an attribute, or -1. */
static int find_attr(const struct method *me, uint16_t group, uint16_t id)
{
	unsigned int i;

	for (i = me->first; i < me->end; i++)
		if (line(i)->what == XV_DESC_ATTR && line(i)->group == group &&
		    line(i)->id == id)
			return i;
	return -1;
}

/* ---- what all share ---- */

/**
 * struct shared - seen by all processes
 * @stop: time to end
 * @calls: of each worker: grows, or the worker hangs
 * @tried: lines: how often a method was in a call
 * @good: lines: how often it succeeded; an attribute: was accepted
 * @refused: lines: how often the driver said that it has no such method
 * @succeeded: transactions
 * @failed: transactions
 * @enters: ENTER calls that did something
 * @by_reason: failures
 * @odd: the first thing that was wrong, of each worker
 * @msg: the call that each worker is in
 */
struct shared {
	atomic_bool stop;
	atomic_ulong calls[WORKERS];
	atomic_uint tried[MAX_LINES];
	atomic_uint good[MAX_LINES];
	atomic_uint refused[MAX_LINES];
	atomic_ulong succeeded;
	atomic_ulong failed;
	atomic_ulong enters;
	atomic_ulong by_reason[256];
	char odd[WORKERS][400];
	struct xvt_msg msg[WORKERS];
};

struct live {
	uint32_t handle;
	uint8_t *ring;
	uint32_t ring_len;
	uint32_t sends;
	uint32_t recvs;
	uint32_t number;	/* QP number, or key of a region */
};

/**
 * struct worker - one process
 * @sh: what all share
 * @id: its number
 * @rng: state of the random numbers
 * @node: device node
 * @fd: open device
 * @alone: nobody else uses the file: @live is exact
 * @m: the message
 * @arena: memory for inputs, outputs and regions
 * @in: used for inputs
 * @out: used for outputs
 * @addr: address of the last region
 * @live: objects by type
 * @num_live: their number
 * @op_type: type of the object that an operation of the message makes, else 0
 * @op_out: where the output of an operation goes
 * @valid: make no mistakes
 * @maps: areas that are mapped
 * @num_maps: number of these
 * @gid: of the device
 * @gid_index: its index
 * @token: of a connection request, the last one seen
 */
struct worker {
	struct shared *sh;
	unsigned int id;
	uint64_t rng;
	char node[64];
	int fd;
	bool alone;
	struct xvt_msg *m;
	uint8_t *arena;
	size_t in;
	size_t out;
	uint64_t addr;
	struct live live[MAX_TYPES][MAX_LIVE];
	unsigned int num_live[MAX_TYPES];
	uint16_t op_type[XV_MAX_OPS];
	uint8_t *op_out[XV_MAX_OPS];
	bool valid;
	struct {
		uint64_t offset;
		size_t length;
		uint8_t *mem;
	} maps[MAX_MAPS];
	unsigned int num_maps;
	uint8_t gid[16];
	unsigned int gid_index;
	uint64_t token;
};

static uint64_t rnd64(struct worker *w)
{
	w->rng ^= w->rng >> 12;
	w->rng ^= w->rng << 25;
	w->rng ^= w->rng >> 27;
	return w->rng * 0x2545F4914F6CDD1DULL;
}

static unsigned int rnd(struct worker *w, unsigned int n)
{
	return (rnd64(w) >> 32) % n;
}

/* True once in @n. */
static bool one_in(struct worker *w, unsigned int n)
{
	return !rnd(w, n);
}

__attribute__((format(printf, 2, 3)))
static void odd(struct worker *w, const char *format, ...)
{
	char *text = w->sh->odd[w->id];
	va_list args;

	if (*text)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(w->sh->odd[0]), format, args);
	va_end(args);
}

/* ---- values ---- */

#define KEY(group, id)	((group) << 16 | (id))

static uint8_t *in_room(struct worker *w, size_t len)
{
	uint8_t *p;

	if (w->in + len + 65536 > IN_BYTES)
		w->in = 0;
	p = w->arena + w->in;
	w->in += (len + 7) & ~7UL;
	return p;
}

static uint8_t *out_room(struct worker *w, size_t len)
{
	uint8_t *p;

	if (w->out + len + 65536 > OUT_BYTES)
		w->out = 0;
	p = w->arena + IN_BYTES + w->out;
	w->out += (len + 7) & ~7UL;
	return p;
}

/* A live object, or NULL. */
static struct live *any_live(struct worker *w, uint16_t type)
{
	if (type >= MAX_TYPES || !w->num_live[type])
		return NULL;
	return &w->live[type][rnd(w, w->num_live[type])];
}

/*
 * Values that the tables do not tell and without which hardly any create
 * succeeds: addresses, and sizes that fit each other. False for all others.
 */
static bool seeds(struct worker *w, const struct xv_desc *d, uint64_t *v)
{
	struct live *l;

	switch (KEY(d->group, d->id)) {
	case KEY(XV_GRP_CAPS, XV_CAPS_CQE):
		*v = 64 + rnd(w, 200);
		return true;
	case KEY(XV_GRP_CAPS, XV_CAPS_SEND_WR):
	case KEY(XV_GRP_CAPS, XV_CAPS_RECV_WR):
		*v = 1 + rnd(w, 16);
		return true;
	case KEY(XV_GRP_CAPS, XV_CAPS_COMP_VECTOR):
	case KEY(XV_GRP_PATH, XV_PATH_PKEY_INDEX):
		*v = 0;
		return true;
	case KEY(XV_GRP_PARAMS, XV_PARAMS_ADDR):
		w->addr = (uintptr_t)w->arena + IN_BYTES + OUT_BYTES +
			  rnd(w, MR_BYTES - 4096);
		*v = w->addr;
		return true;
	case KEY(XV_GRP_PARAMS, XV_PARAMS_IOVA):
		*v = w->addr;
		return true;
	case KEY(XV_GRP_PARAMS, XV_PARAMS_LENGTH):
		*v = 1 + rnd(w, 4096);
		return true;
	case KEY(XV_GRP_PARAMS, XV_PARAMS_PORT):
	case KEY(XV_GRP_PATH, XV_PATH_PORT):
		*v = 1;
		return true;
	case KEY(XV_GRP_PATH, XV_PATH_SGID_INDEX):
		*v = w->gid_index;
		return true;
	case KEY(XV_GRP_PATH, XV_PATH_MTU):
		*v = 256U << rnd(w, 3);
		return true;
	case KEY(XV_GRP_PATH, XV_PATH_TIMEOUT):
		*v = 1 + rnd(w, 8);
		return true;
	case KEY(XV_GRP_PATH, XV_PATH_RETRY_CNT):
	case KEY(XV_GRP_PATH, XV_PATH_RNR_RETRY):
		*v = rnd(w, 2);
		return true;
	case KEY(XV_GRP_PATH, XV_PATH_RD_ATOMIC):
	case KEY(XV_GRP_PATH, XV_PATH_DEST_RD_ATOMIC):
		*v = 1;
		return true;
	case KEY(XV_GRP_PARAMS, XV_PARAMS_QP_TYPE):
		*v = one_in(w, 2) ? XV_QPT_UD : XV_QPT_RC;
		return true;
	case KEY(XV_GRP_PARAMS, XV_PARAMS_LIMIT):
	case KEY(XV_GRP_PARAMS, XV_PARAMS_SLOTS):
		*v = rnd(w, 4);
		return true;
	case KEY(XV_GRP_PARAMS, XV_PARAMS_BACKLOG):
		*v = 1 + rnd(w, 8);
		return true;
	case KEY(XV_GRP_PARAMS, XV_PARAMS_ESTABLISH_MS):
		*v = 1 + rnd(w, 500);
		return true;
	case KEY(XV_GRP_REQUEST, XV_REQUEST_TOKEN):
		*v = w->token;
		return true;
	case KEY(XV_GRP_ADDRESS, XV_ADDRESS_QPN):
		l = any_live(w, XV_OBJ_QP);
		*v = l && l->number ? l->number : 17;
		return true;
	}
	return false;
}

static uint64_t number(struct worker *w, const struct xv_desc *d)
{
	uint64_t span = d->max - d->min, v;

	if (d->kind == XV_K_BITS)
		return one_in(w, 3) ? d->max : rnd64(w) & d->max;
	if (d->kind == XV_K_ENUM) {
		do
			v = rnd(w, 64);
		while (d->max && !(d->max >> v & 1));
		return v;
	}
	if (!one_in(w, 8) && seeds(w, d, &v))
		return v;
	switch (rnd(w, 16)) {
	case 0:
		return d->max;
	case 1:
		return d->min + (span == ~0ULL ? rnd64(w) :
						 rnd64(w) % (span + 1));
	case 2:
	case 3:
		return d->min + (span < 64 ? rnd(w, span + 1) : rnd(w, 64));
	default:
		return d->min + (span < 3 ? rnd(w, span + 1) : rnd(w, 3));
	}
}

static uint64_t wrong_number(struct worker *w, const struct xv_desc *d)
{
	switch (rnd(w, 5)) {
	case 0:
		return d->max + 1;
	case 1:
		return d->min - 1;
	case 2:
		return 1ULL << rnd(w, 64);
	case 3:
		return rnd64(w);
	default:
		return number(w, d) | 1ULL << 32;
	}
}

/* Pointers that nobody may follow. */
static uint64_t bad_pointer(struct worker *w)
{
	const uint64_t bad[] = {
		0, 8, ~0ULL, 0xffff888000000000ULL, 0x0000800000000000ULL,
		(uintptr_t)w->arena - 4096,
		(uintptr_t)w->arena + ARENA_BYTES - 1,
		(uintptr_t)w->arena + ARENA_BYTES + 4096,
	};

	return bad[rnd(w, ARRAY_SIZE(bad))];
}

static uint32_t wrong_handle(struct worker *w)
{
	struct live *l = any_live(w, rnd(w, MAX_TYPES));

	switch (rnd(w, 5)) {
	case 0:
		return 0;
	case 1:
		return ~0U >> rnd(w, 2);
	case 2:
		return rnd(w, 300);
	default:
		return l ? l->handle : rnd(w, 64);
	}
}

static void fill_sge(struct worker *w, struct xv_sge *sge)
{
	struct live *mr = any_live(w, XV_OBJ_MR);

	sge->mr = mr && !one_in(w, 10) ? mr->handle : wrong_handle(w);
	sge->length = one_in(w, 10) ? rnd64(w) : rnd(w, 600);
	sge->offset = one_in(w, 10) ? rnd64(w) : rnd(w, 3000);
}

static void fill_recv(struct worker *w, struct xv_recv *r)
{
	unsigned int i;

	memset(r, 0, sizeof(*r));
	r->wr_id = rnd64(w);
	r->num_sge = one_in(w, 20) ? rnd64(w) : rnd(w, 2);
	for (i = 0; i < XV_MAX_RECV_SGE; i++)
		fill_sge(w, &r->sge[i]);
	r->reserved = one_in(w, 50);
}

static void fill_send(struct worker *w, struct xv_send *s)
{
	struct live *mr = any_live(w, XV_OBJ_MR);
	struct live *ah = any_live(w, XV_OBJ_AH);
	struct live *qp = any_live(w, XV_OBJ_QP);
	unsigned int i;

	memset(s, 0, sizeof(*s));
	s->wr_id = rnd64(w);
	s->opcode = one_in(w, 30) ? rnd(w, 256) : 1 + rnd(w, 7);
	s->num_sge = one_in(w, 30) ? rnd(w, 256) : 1;
	s->flags = one_in(w, 30) ? rnd(w, 65536) : rnd(w, 8);
	s->remote_addr = (uintptr_t)w->arena + IN_BYTES + OUT_BYTES +
			 (rnd(w, MR_BYTES) & ~7U);
	s->rkey = mr ? mr->number : rnd64(w);
	if (ah && one_in(w, 2)) {
		s->ah = ah->handle;
		s->remote_qpn = qp ? qp->number : 17;
		s->remote_qkey = one_in(w, 2) ? 0 : rnd64(w);
	}
	for (i = 0; i < XV_MAX_SEND_SGE; i++)
		fill_sge(w, &s->sge[i]);
}

/* A buffer that an operation reads: by its size, since no table tells more. */
static void fill_input(struct worker *w, const struct xv_desc *d, uint8_t *p,
		       size_t len)
{
	static const uint8_t group[16] = { 0xff, 0x0e, [14] = 1, [15] = 5 };
	static const uint8_t nowhere[16] = {
		[10] = 0xff, [11] = 0xff, 192, 0, 2, 1
	};
	struct xvt t = {};
	size_t i;

	memset(p, 0, len);
	if (d->step == sizeof(struct xv_recv)) {
		for (i = 0; i + d->step <= len; i += d->step)
			if (one_in(w, 2))
				fill_recv(w, (struct xv_recv *)(p + i));
	} else if (one_in(w, 16)) {
		for (i = 0; i < len; i++)
			p[i] = rnd(w, 256);
	} else if (d->min == 16 && d->max == 16) {
		i = d->object == XV_OBJ_MCAST ? 10 : rnd(w, 16);
		memcpy(p, i == 15 ? nowhere : i > 9 ? group : w->gid, 16);
		p[15] += i > 9 && i < 15 ? rnd(w, 8) : 0;
	} else if (d->group == XV_GRP_ADDRESS && d->max == XV_ADDR_BYTES) {
		struct sockaddr_in *sin = (struct sockaddr_in *)p;

		/* Few ports, so that somebody listens at most of them. */
		sin->sin_family = AF_INET;
		memcpy(&sin->sin_addr, w->gid + 12, 4);
		if (d->object == XV_OBJ_LISTENER || d->id == XV_ADDRESS_DST)
			sin->sin_port = htons(20000 + rnd(w, 6));
	} else if (d->max == sizeof(struct xv_ah_wc) && len >= d->max) {
		memcpy(t.gid.gid, w->gid, 16);
		xvt_datagram(&t, (struct xv_ah_wc *)p);
	}
	if (one_in(w, 30))
		p[rnd(w, len ? len : 1)] ^= 1 << rnd(w, 8);
}

/* ---- messages ---- */

static bool room_for(struct worker *w, const struct method *me)
{
	return w->m->txn.num_ops < XV_MAX_OPS &&
	       w->m->len + sizeof(struct xv_op) + 2 * (me->end - me->first) *
	       sizeof(struct xv_attr) < XV_MAX_BYTES;
}

/* An earlier operation that makes such an object: its index, or -1. */
static int earlier(struct worker *w, uint16_t type)
{
	int i;

	for (i = w->m->txn.num_ops - 1; i >= 0; i--)
		if (w->op_type[i] == type)
			return i;
	return -1;
}

static void add_handle(struct worker *w, const struct method *me,
		       const struct xv_desc *d)
{
	bool post = me->m->kind == XV_C_POST && d->kind == XV_K_WRITE;
	struct live *l = any_live(w, d->type);
	int op = earlier(w, d->type);

	if (d->kind == XV_K_NEW) {
		xvt_attr(w->m, d->group, d->id, one_in(w, 8) ? 0 : 4, 0,
			 !w->valid && one_in(w, 20));
		return;
	}
	if (!w->valid && one_in(w, 8)) {
		xvt_attr(w->m, d->group, d->id, 4,
			 one_in(w, 4) ? XV_ATTR_F_FROM_OP : 0, wrong_handle(w));
		return;
	}
	if (op >= 0 && d->kind != XV_K_DESTROY && me->m->kind != XV_C_MODIFY &&
	    (post || !l || one_in(w, 2)))
		xvt_attr(w->m, d->group, d->id, 4, XV_ATTR_F_FROM_OP, op);
	else
		xvt_attr(w->m, d->group, d->id, 4, 0,
			 l ? l->handle : wrong_handle(w));
}

static void add_buffer(struct worker *w, const struct xv_desc *d, uint32_t op)
{
	size_t len = d->max;
	uint64_t data;
	uint8_t *p;

	if (d->kind == XV_K_OUT) {
		if (!len)
			len = 65535;
		if (!w->valid && one_in(w, 4))
			len = rnd(w, len + 1);
		p = out_room(w, len);
		w->op_out[op] = len >= d->max ? p : NULL;
		xvt_attr(w->m, d->group, d->id, len, 0,
			 !w->valid && one_in(w, 16) ? bad_pointer(w) :
						      (uintptr_t)p);
		return;
	}
	if (d->step)
		len = d->step * (1 + rnd(w, 4));
	else if (!w->valid && one_in(w, 4))
		len = d->min + rnd(w, d->max - d->min + 40);
	p = in_room(w, len);
	fill_input(w, d, p, len);
	data = (uintptr_t)p;
	if (len <= 8)
		memcpy(&data, p, len);
	else if (!w->valid && one_in(w, 16))
		data = bad_pointer(w);
	xvt_attr(w->m, d->group, d->id, len, 0, data);
}

static void add_attr(struct worker *w, const struct method *me,
		     const struct xv_desc *d, uint32_t op)
{
	uint64_t v;

	switch (d->kind) {
	case XV_K_NEW:
	case XV_K_READ:
	case XV_K_WRITE:
	case XV_K_DESTROY:
		add_handle(w, me, d);
		return;
	case XV_K_IN:
	case XV_K_OUT:
		add_buffer(w, d, op);
		return;
	}
	v = !w->valid && one_in(w, 16) ? wrong_number(w, d) : number(w, d);
	xvt_attr(w->m, d->group, d->id,
		 v > 0xffffffff || one_in(w, 2) ? 8 : 4, 0, v);
}

static void add_op(struct worker *w, const struct method *me,
		   unsigned int depth);

/* Which attributes an operation gets; what they refer to is made before. */
static void choose(struct worker *w, const struct method *me, bool *with,
		   unsigned int depth)
{
	unsigned int often = rnd(w, 3), i, choices = 0, choice;
	const struct xv_desc *group = NULL;
	bool given = false;

	for (i = me->first; i < me->end; i++)
		choices += line(i)->what == XV_DESC_GROUP &&
			   line(i)->flags & XV_DESC_F_ONE_OF;
	choice = choices ? rnd(w, choices) : 0;
	for (i = me->first; i < me->end; i++) {
		const struct xv_desc *d = line(i);

		if (d->what == XV_DESC_GROUP) {
			group = d;
			if (d->flags & XV_DESC_F_REQUIRED)
				given = true;
			else if (d->flags & XV_DESC_F_ONE_OF)
				given = !choice--;
			else
				given = rnd(w, 4) < often + 1;
			continue;
		}
		if (!given)
			continue;
		with[i - me->first] =
			(!w->valid && one_in(w, 40)) ? false :
			d->flags & XV_DESC_F_REQUIRED ? true :
			group->flags & XV_DESC_F_ONE_OF ? one_in(w, 2) :
			rnd(w, 4) < often;
		if (!with[i - me->first] || depth > 3 || d->type >= MAX_TYPES ||
		    d->kind < XV_K_READ || d->kind > XV_K_DESTROY ||
		    !creates[d->type])
			continue;
		/* What is there, or else a new one. */
		if (me->m->kind == XV_C_POST && d->kind == XV_K_WRITE) {
			if (earlier(w, d->type) < 0)
				add_op(w, creates[d->type], depth + 1);
		} else if (d->kind == XV_K_READ && me->m->kind != XV_C_MODIFY &&
			   earlier(w, d->type) < 0 &&
			   (!w->num_live[d->type] || one_in(w, 12))) {
			add_op(w, creates[d->type], depth + 1);
		}
	}
}

static void add_op(struct worker *w, const struct method *me,
		   unsigned int depth)
{
	bool with[MAX_LINES] = {};
	uint32_t op;
	unsigned int i;

	choose(w, me, with, depth);
	if (!room_for(w, me))
		return;
	op = xvt_op(w->m, me->m->object, me->m->method);
	w->op_type[op] = 0;
	w->op_out[op] = NULL;
	for (i = me->first; i < me->end; i++)
		if (line(i)->what == XV_DESC_ATTR && with[i - me->first])
			add_attr(w, me, line(i), op);
	if (me->m->kind == XV_C_CREATE)
		w->op_type[op] = me->m->object;
	atomic_fetch_add(&w->sh->tried[me->line], 1);
}

/* Something in the built message is not as it should be. */
static void mutate_attr(struct worker *w)
{
	unsigned int op = rnd(w, w->m->txn.num_ops), i;
	uint32_t pos = sizeof(struct xv_txn);
	const struct method *me;
	struct xv_attr *a;
	struct xv_op *o;
	int d;

	for (i = 0; ; i++) {
		o = (struct xv_op *)(w->m->raw + pos);
		if (i == op)
			break;
		pos += sizeof(*o) + o->num_attrs * sizeof(*a);
	}
	if (!o->num_attrs)
		return;
	a = (struct xv_attr *)(o + 1) + rnd(w, o->num_attrs);
	me = find_method(o->object, o->method);
	d = me ? find_attr(me, a->group, a->id) : -1;
	switch (rnd(w, 7)) {
	case 0:
		a->flags ^= 1 << rnd(w, one_in(w, 2) ? 2 : 16);
		break;
	case 1: {
		static const uint16_t lens[] = { 0, 1, 3, 4, 5, 8, 16, 0xffff };

		a->len = one_in(w, 2) ? lens[rnd(w, 8)] : rnd(w, 65536);
		break;
	}
	case 2:
		if (d >= 0 && line(d)->kind == XV_K_OUT)
			a->data = bad_pointer(w);
		else
			a->data ^= 1ULL << rnd(w, 64);
		break;
	case 3:
		a->group = rnd(w, 12);
		break;
	case 4:
		a->id = rnd(w, 20);
		break;
	case 5:
		if (w->m->len + sizeof(*a) > XV_MAX_BYTES)
			break;
		/* Once more; what follows moves. */
		memmove(a + 1, a, w->m->raw + w->m->len - (uint8_t *)a);
		w->m->len += sizeof(*a);
		o->num_attrs++;
		break;
	default:
		memmove(a, a + 1, w->m->raw + w->m->len - (uint8_t *)(a + 1));
		w->m->len -= sizeof(*a);
		o->num_attrs--;
	}
}

static void mutate_op(struct worker *w)
{
	struct xv_op *o = xvt_cur(w->m);

	switch (rnd(w, 6)) {
	case 0:
		o->object = rnd(w, 18);
		break;
	case 1:
		o->method = rnd(w, 14);
		break;
	case 2:
		o->num_attrs += rnd(w, 3) - 1;
		break;
	case 3:
		o->num_attrs = rnd64(w);
		break;
	case 4:
		o->flags = 1 << rnd(w, 16);
		break;
	default:
		o->reserved[rnd(w, 2)] = 1 << rnd(w, 32);
	}
}

static void mutate_header(struct worker *w)
{
	struct xv_txn *t = &w->m->txn;

	switch (rnd(w, 6)) {
	case 0:
		t->length = one_in(w, 2) ? t->length + rnd(w, 33) - 16 :
					   rnd64(w);
		break;
	case 1:
		t->num_ops = one_in(w, 2) ? t->num_ops + 1 : rnd64(w);
		break;
	case 2:
		t->flags ^= 1 << rnd(w, 32);
		break;
	case 3:
		t->reserved = 1 << rnd(w, 32);
		break;
	default:
		t->error_ptr = bad_pointer(w);
	}
}

/* ---- what comes back ---- */

static void add_map(struct worker *w, struct live *l, const struct xv_area *a)
{
	unsigned int i;
	void *p;

	if (!a->mmap_offset || a->mmap_offset & ((1UL << 28) - 1) ||
	    !a->mmap_length || a->mmap_length > 1UL << 28 ||
	    a->offset > a->mmap_length ||
	    a->length > a->mmap_length - a->offset)
		return;
	for (i = 0; i < w->num_maps; i++)
		if (w->maps[i].offset == a->mmap_offset)
			break;
	if (i == MAX_MAPS)
		return;
	if (i == w->num_maps) {
		p = mmap(NULL, a->mmap_length, PROT_READ | PROT_WRITE,
			 MAP_SHARED, w->fd, a->mmap_offset);
		if (p == MAP_FAILED)
			return;
		w->maps[i].offset = a->mmap_offset;
		w->maps[i].length = a->mmap_length;
		w->maps[i].mem = p;
		w->num_maps++;
	}
	l->ring = w->maps[i].mem + a->offset;
	l->ring_len = a->length;
}

/* Objects that do not fit into the list go at once. */
static void destroy_now(struct worker *w, uint16_t type, uint32_t handle)
{
	struct xvt_msg *m = malloc(sizeof(*m));
	const struct method *me = find_method(type, XV_M_DESTROY);

	if (!me) {
		close(handle);
	} else if (m) {
		xvt_begin(m, 0);
		xvt_op(m, type, XV_M_DESTROY);
		xvt_handle(m, handle);
		if (xvt_run(m, w->fd) && w->alone)
			odd(w, "an object of type %u that is new is not destroyed: reason %u",
			    type, m->err.reason);
	}
	free(m);
}

static void made(struct worker *w, uint16_t type, uint32_t handle, uint8_t *out,
		 size_t out_len)
{
	struct live *l;

	if (w->num_live[type] == MAX_LIVE) {
		destroy_now(w, type, handle);
		return;
	}
	l = &w->live[type][w->num_live[type]++];
	*l = (struct live){ .handle = handle };
	if (!out)
		return;
	if (type == XV_OBJ_MR) {
		l->number = ((struct xv_mr_info *)out)->rkey;
	} else if (out_len >= sizeof(struct xv_area)) {
		add_map(w, l, (struct xv_area *)out);
		if (type == XV_OBJ_QP) {
			struct xv_qp_info *info = (void *)out;

			l->number = info->qp_num;
			l->sends = info->send_entries;
			l->recvs = info->recv_entries;
		}
	}
}

static void gone(struct worker *w, uint16_t type, uint32_t handle)
{
	unsigned int i;

	for (i = 0; i < w->num_live[type]; i++) {
		if (w->live[type][i].handle != handle)
			continue;
		w->live[type][i] = w->live[type][--w->num_live[type]];
		return;
	}
	if (w->alone)
		odd(w, "an object of type %u, handle %u, that is not there was destroyed",
		    type, handle);
}

/* Operation number @index of a message that was understood so far. */
static const struct xv_op *op_at(const struct xvt_msg *m, uint32_t index)
{
	size_t pos = sizeof(struct xv_txn);
	const struct xv_op *o;

	for (;;) {
		o = (const void *)(m->raw + pos);
		if (!index--)
			return o;
		pos += sizeof(*o) + o->num_attrs * sizeof(struct xv_attr);
	}
}

/* Reasons that the parser gives; all others come after it. */
static bool parser_may(uint16_t reason)
{
	return reason <= XV_R_TAIL || reason == XV_R_RESERVED ||
	       reason == XV_R_FLAGS || reason == XV_R_TYPE ||
	       reason == XV_R_REFERENCE || reason == XV_R_CLASS ||
	       reason == XV_R_ONE_OF || reason == XV_R_TOO_BIG ||
	       reason == XV_R_NOT_OFFERED;
}

/* The first @accepted operations passed the parser; did they succeed? */
static void account(struct worker *w, unsigned int accepted, bool success)
{
	uint32_t pos = sizeof(struct xv_txn);
	unsigned int i, j;

	for (i = 0; i < accepted; i++) {
		const struct xv_op *o = (void *)(w->m->raw + pos);
		const struct xv_attr *a = (void *)(o + 1);
		const struct method *me = find_method(o->object, o->method);
		uint32_t handle = 0;

		pos += sizeof(*o) + o->num_attrs * sizeof(*a);
		if (!me) {
			odd(w, "operation %u of unknown method %u.%u accepted",
			    i, o->object, o->method);
			return;
		}
		for (j = 0; j < o->num_attrs; j++) {
			int d = find_attr(me, a[j].group, a[j].id);

			/* One that is unknown, and may be. */
			if (d < 0)
				continue;
			atomic_fetch_add(&w->sh->good[d], 1);
			if (line(d)->kind == XV_K_NEW ||
			    line(d)->kind == XV_K_DESTROY)
				handle = a[j].data;
		}
		if (!success)
			continue;
		atomic_fetch_add(&w->sh->good[me->line], 1);
		if (me->m->kind == XV_C_CREATE) {
			int out = me->end - 1;

			while (out >= (int)me->first &&
			       (line(out)->what != XV_DESC_ATTR ||
				line(out)->kind != XV_K_OUT))
				out--;
			made(w, o->object, handle,
			     i < XV_MAX_OPS ? w->op_out[i] : NULL,
			     out >= (int)me->first ? line(out)->max : 0);
		} else if (me->m->kind == XV_C_DESTROY) {
			gone(w, o->object, handle);
		}
	}
}

static bool in_contract(int err)
{
	unsigned int i;

	for (i = 0; i < 256; i++)
		if (reason_errno[i] == err)
			return true;
	return false;
}

static void judge(struct worker *w, int ret, bool record)
{
	const struct xv_error *e = &w->m->err;
	unsigned int accepted;

	if (ret >= 0) {
		bool batch = w->m->txn.flags & XV_TXN_F_BATCH;

		if (ret > (batch ? w->m->txn.num_ops : 0))
			odd(w, "%d of %u operations", ret, w->m->txn.num_ops);
		account(w, batch ? ret : w->m->txn.num_ops, true);
		atomic_fetch_add(&w->sh->succeeded, 1);
		return;
	}
	atomic_fetch_add(&w->sh->failed, 1);
	if (!in_contract(-ret))
		odd(w, "errno %d is not in the contract", -ret);
	if (!record)
		return;
	/* Without memory for the call there is none for its record. */
	if (ret == -ENOMEM && e->err == (int32_t)0xAAAAAAAA)
		return;
	if (e->err != -ret || e->reason >= 256 ||
	    reason_errno[e->reason] != -ret ||
	    (e->op != XV_NO_OP && e->op >= w->m->txn.num_ops)) {
		odd(w, "returned %d, record {err %d op %d group %u attr %u reason %u} of %u operations",
		    ret, e->err, (int)e->op, e->group, e->attr, e->reason,
		    w->m->txn.num_ops);
		return;
	}
	atomic_fetch_add(&w->sh->by_reason[e->reason], 1);
	if (e->reason == XV_R_CAPABILITY && e->raw == EOPNOTSUPP &&
	    e->op != XV_NO_OP) {
		const struct xv_op *o = op_at(w->m, e->op);
		const struct method *me = find_method(o->object, o->method);

		if (me)
			atomic_fetch_add(&w->sh->refused[me->line], 1);
	}
	if (!parser_may(e->reason) && e->op != XV_NO_OP)
		accepted = w->m->txn.num_ops;
	else
		accepted = e->op != XV_NO_OP ? e->op : 0;
	account(w, accepted, false);
}

/* ---- calls ---- */

/* A method that never succeeded is tried more often. */
static const struct method *pick_method(struct worker *w)
{
	const struct method *me;
	unsigned int i, n;

	if (one_in(w, 3)) {
		n = rnd(w, num_methods);
		for (i = 0; i < num_methods; i++) {
			me = &methods[(n + i) % num_methods];
			if (!atomic_load(&w->sh->good[me->line]))
				return me;
		}
	}
	me = &methods[rnd(w, num_methods)];
	/* Room for new ones. */
	if (me->m->kind == XV_C_CREATE &&
	    w->num_live[me->m->object] > MAX_LIVE / 2 &&
	    find_method(me->m->object, XV_M_DESTROY))
		me = find_method(me->m->object, XV_M_DESTROY);
	return me;
}

static void transaction(struct worker *w)
{
	unsigned int num = one_in(w, 2) ? 1 : one_in(w, 4) ? 1 + rnd(w, 64) :
							     1 + rnd(w, 6);
	bool batch = one_in(w, 12);
	unsigned int i;
	int ret;

	w->valid = rnd(w, 3);
	xvt_begin(w->m, batch ? XV_TXN_F_BATCH : 0);
	w->in = 0;
	for (i = 0; i < num; i++) {
		const struct method *me = pick_method(w);

		/* Two of three are allowed to be where they stand. */
		if (!one_in(w, 3) && me->m->kind == XV_C_MODIFY &&
		    !batch && i + 1 < num)
			continue;
		add_op(w, me, 0);
	}
	if (!w->m->txn.num_ops)
		add_op(w, pick_method(w), 0);
	w->m->txn.length = w->m->len;
	w->m->txn.error_ptr = (uintptr_t)&w->m->err;
	if (!w->valid && one_in(w, 2)) {
		for (i = 1 + rnd(w, 3); i > 0; i--)
			mutate_attr(w);
		w->m->txn.length = w->m->len;
	}
	if (!w->valid && one_in(w, 8))
		mutate_op(w);
	if (!w->valid && one_in(w, 8))
		mutate_header(w);
	memset(&w->m->err, 0xAA, sizeof(w->m->err));
	ret = ioctl(w->fd, XV_IOC_TXN, &w->m->txn);
	if (ret < 0)
		ret = -errno;
	judge(w, ret, w->m->txn.error_ptr == (uintptr_t)&w->m->err);
}

/* What a program writes into rings, and what it should not. */
static void write_ring(struct worker *w, struct live *l, uint16_t type)
{
	uint8_t *p, *end = l->ring + l->ring_len;
	struct xv_cq_ring *cq = (void *)l->ring;
	unsigned int i;

	if (!l->ring)
		return;
	if (type == XV_OBJ_CQ) {
		cq->head = one_in(w, 30) ? rnd64(w) : cq->tail;
		return;
	}
	p = l->ring + sizeof(struct xv_qp_ring);
	for (i = 0; i < l->sends && p + sizeof(struct xv_send) <= end; i++) {
		fill_send(w, (struct xv_send *)p);
		p += sizeof(struct xv_send);
	}
	for (; p + sizeof(struct xv_recv) <= end; p += sizeof(struct xv_recv))
		fill_recv(w, (struct xv_recv *)p);
	if (one_in(w, 20))
		l->ring[rnd(w, l->ring_len)] ^= 1 << rnd(w, 8);
}

static void enter(struct worker *w)
{
	struct live *cq = any_live(w, XV_OBJ_CQ), *qp;
	struct xv_enter e = {};
	struct xv_enter_qp *qps;
	unsigned int num, i, type;
	int ret;

	num = one_in(w, 50) ? 1 + rnd(w, XV_MAX_ENTER_QPS) : rnd(w, 5);
	qps = (void *)in_room(w, num * sizeof(*qps));
	memset(qps, 0, num * sizeof(*qps));
	for (i = 0; i < num; i++) {
		qp = any_live(w, XV_OBJ_QP);
		if (qp && one_in(w, 2))
			write_ring(w, qp, XV_OBJ_QP);
		qps[i].qp = qp && !one_in(w, 20) ? qp->handle : wrong_handle(w);
		qps[i].num_send = one_in(w, 30) ? rnd64(w) : rnd(w, 20);
		qps[i].num_recv = one_in(w, 30) ? rnd64(w) : rnd(w, 20);
		qps[i].flags = one_in(w, 100);
		if (qp && one_in(w, 10))
			qps[i].qp = any_live(w, XV_OBJ_QP)->handle;
	}
	/* Rings of other types, if there are any. */
	type = rnd(w, MAX_TYPES);
	if (any_live(w, type))
		write_ring(w, any_live(w, type), type);
	e.flags = one_in(w, 50) ? 1 << rnd(w, 32) :
		  one_in(w, 4) ? XV_ENTER_F_ARM : 0;
	e.num_qps = one_in(w, 100) ? rnd64(w) : num;
	e.qps = one_in(w, 50) ? bad_pointer(w) : (uintptr_t)qps;
	if (!one_in(w, 4))
		e.cq = cq && !one_in(w, 20) ? cq->handle : wrong_handle(w);
	e.min_complete = one_in(w, 50) ? rnd64(w) : e.cq ? rnd(w, 3) : 0;
	/* The alarm ends what has no limit. */
	e.timeout_ns = one_in(w, 100) ? -1 : rnd(w, 500000);
	e.reserved = one_in(w, 100);
	ret = ioctl(w->fd, XV_IOC_ENTER, one_in(w, 200) ?
		    (struct xv_enter *)(uintptr_t)bad_pointer(w) : &e);
	if (ret && (ret > 0 || !in_contract(errno)))
		odd(w, "ENTER: %d, errno %d", ret, errno);
	if (!ret)
		atomic_fetch_add(&w->sh->enters, 1);
}

/* Event queues are read and closed. */
static void events(struct worker *w)
{
	struct live *l = any_live(w, XV_OBJ_EVENTQ);
	uint8_t *p = out_room(w, 4096);
	struct pollfd pfd;
	unsigned int i;
	uint8_t *buf;
	uint32_t fd;
	ssize_t n;

	if (!l)
		return;
	fd = l->handle;
	if (one_in(w, 4) && w->num_live[XV_OBJ_EVENTQ] > 4) {
		gone(w, XV_OBJ_EVENTQ, fd);
		close(fd);
		return;
	}
	pfd = (struct pollfd){ .fd = fd, .events = POLLIN };
	if (poll(&pfd, 1, 0) < 1 || !(pfd.revents & POLLIN))
		return;
	/* What poll() told of may be gone. */
	fcntl(fd, F_SETFL, O_NONBLOCK);
	buf = one_in(w, 10) ? (uint8_t *)(uintptr_t)bad_pointer(w) : p;
	n = read(fd, buf, rnd(w, 200));
	for (i = 0; n > 0 && (i + 1) * sizeof(struct xv_event) <= n; i++) {
		struct xv_event *ev = (struct xv_event *)buf + i;

		if (ev->type == XV_EV_CONNECT_REQUEST)
			w->token = ev->data;
	}
	if (n > 0 && n % sizeof(struct xv_event))
		odd(w, "read of %zd bytes of events", n);
}

/* Other calls on the file. */
static void other(struct worker *w)
{
	static const unsigned int cmds[] = {
		0, 1, _IOWR(XV_IOC_MAGIC, 0, struct xv_txn),
		_IOWR(XV_IOC_MAGIC, 3, struct xv_txn),
		_IOWR(XV_IOC_MAGIC, 1, struct xv_enter),
		_IOR(XV_IOC_MAGIC, 1, struct xv_txn), ~0U,
	};
	size_t len = 4096UL << rnd(w, 12);
	uint64_t off;
	void *p;

	if (one_in(w, 2)) {
		if (ioctl(w->fd, cmds[rnd(w, ARRAY_SIZE(cmds))],
			  bad_pointer(w)) >= 0 || errno != ENOTTY)
			odd(w, "an unknown ioctl: errno %d", errno);
		return;
	}
	off = (uint64_t)rnd(w, 6) << 28;
	if (one_in(w, 4))
		off = rnd64(w) & 0x7ffffffff000ULL;
	p = mmap(NULL, len, rnd(w, 8), one_in(w, 4) ? MAP_PRIVATE : MAP_SHARED,
		 w->fd, off);
	if (p != MAP_FAILED)
		munmap(p, len);
}

/* ---- a file ---- */

static void open_file(struct worker *w)
{
	w->fd = open(w->node, O_RDWR | O_CLOEXEC);
	if (w->fd < 0)
		odd(w, "open: errno %d", errno);
	memset(w->num_live, 0, sizeof(w->num_live));
}

static void close_file(struct worker *w)
{
	unsigned int i;

	/* A file that is shared is closed by the last one. */
	for (i = 0; i < w->num_live[XV_OBJ_EVENTQ]; i++)
		close(w->live[XV_OBJ_EVENTQ][i].handle);
	for (i = 0; i < w->num_maps; i++)
		munmap(w->maps[i].mem, w->maps[i].length);
	w->num_maps = 0;
	close(w->fd);
	if (w->alone && xvt_vmpin())
		odd(w, "%ld KiB are pinned after a close", xvt_vmpin());
}

/* Exactly those objects are there which the answers have told. */
static void compare(struct worker *w)
{
	struct xv_device_info info;
	unsigned int i;

	xvt_begin(w->m, 0);
	xvt_op(w->m, XV_OBJ_DEVICE, XV_M_QUERY);
	xvt_out(w->m, &info, sizeof(info));
	if (xvt_run(w->m, w->fd)) {
		odd(w, "device.query: %d", w->m->ret);
		return;
	}
	for (i = 0; i < MAX_TYPES; i++)
		if (info.objects[i] != w->num_live[i])
			odd(w, "%u objects of type %u, not %u",
			    info.objects[i], i, w->num_live[i]);
}

static void on_alarm(int sig)
{
}

static void work(struct worker *w)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	struct itimerval often = {
		.it_interval.tv_usec = 100000, .it_value.tv_usec = 100000,
	};
	unsigned int n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	w->arena = mmap(NULL, 2 * WALL_BYTES + ARENA_BYTES, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (w->arena == MAP_FAILED ||
	    mprotect(w->arena + WALL_BYTES, ARENA_BYTES,
		     PROT_READ | PROT_WRITE)) {
		odd(w, "no memory");
		_exit(1);
	}
	w->arena += WALL_BYTES;
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	if (w->alone)
		open_file(w);
	for (n = 1; !atomic_load(&w->sh->stop) && !w->sh->odd[w->id][0]; n++) {
		unsigned int what = rnd(w, 16);

		if (what < 11)
			transaction(w);
		else if (what < 14)
			enter(w);
		else if (what < 15)
			events(w);
		else
			other(w);
		if (w->alone && !(n % 64))
			compare(w);
		if (w->alone && !(n % CALLS_A_FILE)) {
			close_file(w);
			open_file(w);
		}
		atomic_fetch_add(&w->sh->calls[w->id], 1);
	}
	if (w->alone)
		compare(w);
	close_file(w);
	_exit(0);
}

/* ---- the test ---- */

static bool command_output(const char *command, char *out, size_t len)
{
	FILE *p = popen(command, "r");
	size_t n = p ? fread(out, 1, len - 1, p) : 0;

	out[n] = 0;
	return p && !pclose(p);
}

/* What the kernel's log has of ours since then. */
static unsigned int lines_of_ours(int kmsg)
{
	unsigned int n = 0;
	char text[2048];
	ssize_t len;

	for (;;) {
		len = read(kmsg, text, sizeof(text) - 1);
		/* EPIPE: overwritten, go on */
		if (len < 0 && errno == EPIPE)
			continue;
		if (len <= 0)
			return n;
		text[len] = 0;
		/* The machine's own words begin with xv-. */
		if (!strstr(text, "xverbs"))
			continue;
		printf("# log: %s", strchr(text, ';') + 1);
		n++;
	}
}

static unsigned int files_open(void)
{
	unsigned int n = 0, i;
	char path[128], text[512];

	for (i = 0; i < 64; i++) {
		FILE *f;

		snprintf(path, sizeof(path),
			 "/sys/kernel/debug/xverbs/xverbs%u/objects", i);
		f = fopen(path, "r");
		while (f && fgets(text, sizeof(text), f))
			n++;
		if (f)
			fclose(f);
	}
	return n;
}

static bool all_reached(struct shared *sh)
{
	unsigned int i;

	for (i = 0; i < desc->num_descs; i++)
		if ((line(i)->what == XV_DESC_METHOD ||
		     line(i)->what == XV_DESC_ATTR) &&
		    !atomic_load(&sh->good[i]) &&
		    !atomic_load(&sh->refused[i]))
			return false;
	return true;
}

static void dump(const struct xvt_msg *m)
{
	unsigned int i;

	for (i = 0; i < m->len && i < 512; i++)
		printf("%s%02x", i % 32 ? "" : "\n# ", m->raw[i]);
	printf("\n");
}

TEST(transactions_and_enters)
{
	const char *ms = getenv("XV_FUZZ_MS"), *env = getenv("XV_SEED");
	unsigned int seed = env ? strtoul(env, NULL, 0) : 1;
	int64_t start = xvt_now(), end, latest, alive[WORKERS];
	unsigned long calls[WORKERS] = {}, total = 0;
	unsigned int i, k, reached = 0, num = 0, done = 0, running;
	char before[1024], after[1024], link[64];
	struct xvt_snap snap;
	struct worker *w;
	struct shared *sh;
	pid_t pid[WORKERS];
	struct xvt t;
	int kmsg, shared_fd;

	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, sh);
	xvt_open(_metadata, &t);
	ASSERT_TRUE(read_tables(t.ctx));
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ASSERT_LE(0, kmsg);
	lseek(kmsg, 0, SEEK_END);
	xvt_snap(_metadata, &t, &snap);
	ASSERT_TRUE(command_output("rdma resource show rxe0", before,
				   sizeof(before)));
	EXPECT_NE(NULL, strstr(before, " pd "));
	k = files_open();
	w = calloc(1, sizeof(*w));
	ASSERT_NE(NULL, w);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", t.fd);
	ASSERT_LT(0, readlink(link, w->node, sizeof(w->node) - 1));
	memcpy(w->gid, t.gid.gid, 16);
	w->gid_index = t.gid_index;
	w->sh = sh;
	shared_fd = open(w->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, shared_fd);

	end = start + (ms ? atoll(ms) : xvt_count(FUZZ_MS)) * 1000000LL;
	/* What was not reached by then gets some more time. */
	latest = end + xvt_ns(30000);
	TH_LOG("seed %u", seed);
	fflush(stdout);
	for (i = 0; i < WORKERS; i++) {
		w->id = i;
		w->m = &sh->msg[i];
		w->rng = (seed * 1000003ULL + i + 1) * 0x9E3779B97F4A7C15ULL | 1;
		/* The second half shares a file, and knows less about it. */
		w->alone = i < WORKERS / 2;
		w->fd = shared_fd;
		pid[i] = fork();
		ASSERT_LE(0, pid[i]);
		if (!pid[i])
			work(w);
		alive[i] = xvt_now();
	}
	close(shared_fd);
	running = (1U << WORKERS) - 1;
	while (running) {
		int64_t now;

		xvt_relax();
		now = xvt_now();
		if (now > end && (now > latest || all_reached(sh)))
			atomic_store(&sh->stop, true);
		for (i = 0; i < WORKERS; i++) {
			unsigned long c = atomic_load(&sh->calls[i]);
			int status;

			if (!(running & 1U << i))
				continue;
			if (waitpid(pid[i], &status, WNOHANG) == pid[i]) {
				running &= ~(1U << i);
				EXPECT_TRUE(WIFEXITED(status)) {
					TH_LOG("worker %u: status %x", i,
					       status);
					dump(&sh->msg[i]);
				}
				/* One that found something: that is enough. */
				atomic_store(&sh->stop, true);
				continue;
			}
			if (c != calls[i]) {
				calls[i] = c;
				alive[i] = now;
			}
			if (now - alive[i] < xvt_ns(30000))
				continue;
			EXPECT_TRUE(false) {
				TH_LOG("worker %u hangs after %lu calls", i, c);
			}
			dump(&sh->msg[i]);
			kill(pid[i], SIGKILL);
			alive[i] = now;
			atomic_store(&sh->stop, true);
		}
	}

	for (i = 0; i < WORKERS; i++) {
		EXPECT_EQ(0, sh->odd[i][0]) {
			TH_LOG("worker %u: %s", i, sh->odd[i]);
			dump(&sh->msg[i]);
		}
		total += atomic_load(&sh->calls[i]);
	}
	for (i = 0; i < desc->num_descs; i++) {
		const struct xv_desc *d = line(i);
		unsigned int good = atomic_load(&sh->good[i]);

		if (d->what == XV_DESC_METHOD) {
			num++;
			done += !!good;
			if (!good && atomic_load(&sh->refused[i])) {
				TH_LOG("object %u: the driver has no %s",
				       d->object, d->name);
				continue;
			}
			EXPECT_NE(0, good) {
				TH_LOG("object %u: %s never succeeded in %u calls",
				       d->object, d->name,
				       atomic_load(&sh->tried[i]));
			}
		} else if (d->what == XV_DESC_ATTR) {
			reached++;
			EXPECT_NE(0, good) {
				TH_LOG("object %u method %u group %u: %s was never accepted",
				       d->object, d->method, d->group, d->name);
			}
		}
	}
	TH_LOG("%lu calls: %lu transactions succeeded, %lu failed, %lu enters; %u of %u methods, %u attributes",
	       total, atomic_load(&sh->succeeded), atomic_load(&sh->failed),
	       atomic_load(&sh->enters), done, num, reached);
	for (i = 0, total = 0; i < 256; i++)
		total += !!atomic_load(&sh->by_reason[i]);
	TH_LOG("%lu reasons, after %d ms", total,
	       (int)((xvt_now() - start) / 1000000));

	xvt_same(_metadata, &t, &snap, "fuzz");
	EXPECT_EQ(k, files_open());
	ASSERT_TRUE(command_output("rdma resource show rxe0", after,
				   sizeof(after)));
	EXPECT_STREQ(before, after);
	EXPECT_EQ(0, lines_of_ours(kmsg));
	close(kmsg);
	free(w);
	munmap(sh, sizeof(*sh));
	xvt_close(&t);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--seed"))
		setenv("XV_SEED", argv[2], 1);
	return test_harness_run(argc, argv);
}
