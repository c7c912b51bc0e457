// SPDX-License-Identifier: GPL-2.0
/*
 * Everything at once: threads and a child make, change, use and destroy objects
 * of one file at random, and the device goes. Nothing is asked of the answers;
 * the kernel's own checks are the judge.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * XV_SEED chooses another run.
 */
#include <signal.h>
#include <stdatomic.h>
#include "xv_test.h"

#define STRESS_TYPES	7
#define STRESS_SLOTS	(6 * STRESS_TYPES)
#define STRESS_THREADS	6
#define STRESS_AREAS	32

/**
 * struct stress - what all threads share
 * @t: the device
 * @stop: time to end
 * @obj: handle of each slot; its type is the slot's number modulo %STRESS_TYPES
 * @rkey: of memory regions
 * @qpn: of queue pairs
 * @lock: protects the rest
 * @ring: where the rings of a queue pair, CQ or SRQ lie
 * @info: of queue pairs
 * @recv_entries: of SRQs
 * @areas: mmap offsets
 * @maps: where they are mapped
 * @lengths: how much of it
 * @num_areas: number of these
 * @eq: event queues; -1 if closed
 * @buf: memory
 * @ops: how many calls did something
 */
struct stress {
	struct xvt t;
	atomic_bool stop;
	atomic_uint obj[STRESS_SLOTS];
	atomic_uint rkey[STRESS_SLOTS];
	atomic_uint qpn[STRESS_SLOTS];
	pthread_mutex_t lock;
	atomic_uintptr_t ring[STRESS_SLOTS];
	struct xv_qp_info info[STRESS_SLOTS];
	atomic_uint recv_entries[STRESS_SLOTS];
	uint64_t areas[STRESS_AREAS];
	void *maps[STRESS_AREAS];
	size_t lengths[STRESS_AREAS];
	unsigned int num_areas;
	atomic_int eq[2];
	uint8_t *buf;
	atomic_ulong ops;
};

#define STRESS_BYTES	(64UL << 10)

struct stress_thread {
	struct stress *s;
	unsigned int seed;
	struct xvt_msg m;
};

enum { PD, MR, CQ, QP, SRQ, MCAST, SUBSCRIPTION };

static uint16_t type_of(unsigned int slot)
{
	static const uint16_t types[STRESS_TYPES] = {
		XV_OBJ_PD, XV_OBJ_MR, XV_OBJ_CQ, XV_OBJ_QP, XV_OBJ_SRQ,
		XV_OBJ_MCAST, XV_OBJ_SUBSCRIPTION,
	};

	return types[slot % STRESS_TYPES];
}

static unsigned int rnd(struct stress_thread *me, unsigned int n)
{
	return rand_r(&me->seed) % n;
}

static unsigned int any_slot(struct stress_thread *me, unsigned int type)
{
	return rnd(me, STRESS_SLOTS / STRESS_TYPES) * STRESS_TYPES + type;
}

static uint32_t any(struct stress_thread *me, unsigned int type)
{
	return atomic_load(&me->s->obj[any_slot(me, type)]);
}

static void *map_area(struct stress *s, const struct xv_area *area)
{
	void *p = NULL;
	unsigned int i;

	pthread_mutex_lock(&s->lock);
	for (i = 0; i < s->num_areas && s->areas[i] != area->mmap_offset; i++)
		;
	if (i == s->num_areas && i < STRESS_AREAS) {
		p = mmap(NULL, area->mmap_length, PROT_READ | PROT_WRITE,
			 MAP_SHARED, s->t.fd, area->mmap_offset);
		if (p != MAP_FAILED) {
			s->areas[i] = area->mmap_offset;
			s->maps[i] = p;
			s->lengths[i] = area->mmap_length;
			s->num_areas++;
		}
	}
	p = i < s->num_areas ? (uint8_t *)s->maps[i] + area->offset : NULL;
	pthread_mutex_unlock(&s->lock);
	return p;
}

static void maybe_events(struct stress_thread *me)
{
	int fd = atomic_load(&me->s->eq[rnd(me, 2)]);

	if (fd >= 0 && rnd(me, 2))
		xvt_u32(&me->m, XV_GRP_EVENTS, XV_EVENTS_QUEUE, fd);
}

static void address(struct stress_thread *me, bool nowhere)
{
	struct xvt_msg *m = &me->m;
	static const uint8_t bad[16] = {
		[10] = 0xff, [11] = 0xff, 192, 0, 2, 1
	};
	struct stress *s = me->s;
	uint32_t qpn = atomic_load(&s->qpn[any_slot(me, QP)]);

	xvt_u32(m, XV_GRP_ADDRESS, XV_ADDRESS_QPN, qpn ? qpn : 17);
	xvt_attr(m, XV_GRP_ADDRESS, XV_ADDRESS_GID, 16, 0,
		 (uintptr_t)(nowhere ? bad : s->t.gid.gid));
	xvt_u32(m, XV_GRP_ADDRESS, XV_ADDRESS_PSN, 5);
	xvt_u32(m, XV_GRP_PATH, XV_PATH_SGID_INDEX, s->t.gid_index);
	xvt_u32(m, XV_GRP_PATH, XV_PATH_SQ_PSN, 5);
	xvt_u32(m, XV_GRP_PATH, XV_PATH_TIMEOUT, 1 + rnd(me, 12));
	xvt_u32(m, XV_GRP_PATH, XV_PATH_RETRY_CNT, rnd(me, 2));
	xvt_u32(m, XV_GRP_PATH, XV_PATH_RNR_RETRY, rnd(me, 2));
}

static void make(struct stress_thread *me, unsigned int slot)
{
	uint8_t group[16] = { [10] = 0xff, 0xff, 239, 9 };
	struct xv_recv recvs[4] = {};
	struct xvt_msg *m = &me->m;
	struct stress *s = me->s;
	struct xv_mr_info mr = {};
	struct xv_qp_info qp = {};
	struct xv_cq_info cq = {};
	struct xv_srq_info srq = {};
	uint32_t old = 0, op, made, shared;

	xvt_begin(m, 0);
	switch (slot % STRESS_TYPES) {
	case PD:
		op = xvt_op(m, XV_OBJ_PD, XV_M_CREATE);
		xvt_new(m);
		break;
	case MR:
		op = xvt_op(m, XV_OBJ_MR, XV_M_CREATE);
		xvt_new(m);
		xvt_u32(m, XV_GRP_OBJECT, XV_OBJECT_PD, any(me, PD));
		xvt_u32(m, XV_GRP_ACCESS, XV_ACCESS_FLAGS, XVT_ALL_ACCESS);
		xvt_u64(m, XV_GRP_PARAMS, XV_PARAMS_ADDR, (uintptr_t)s->buf);
		xvt_u64(m, XV_GRP_PARAMS, XV_PARAMS_LENGTH, STRESS_BYTES);
		xvt_out(m, &mr, sizeof(mr));
		break;
	case MCAST:
		op = xvt_op(m, XV_OBJ_MCAST, XV_M_CREATE);
		xvt_new(m);
		xvt_u32(m, XV_GRP_OBJECT, XV_OBJECT_QP, any(me, QP));
		xvt_attr(m, XV_GRP_ADDRESS, XV_ADDRESS_GID, 16, 0,
			 (uintptr_t)group);
		group[15] = rnd(me, 2);
		xvt_u32(m, XV_GRP_PATH, XV_PATH_SGID_INDEX, s->t.gid_index);
		xvt_u32(m, XV_GRP_PARAMS, XV_PARAMS_JOIN, 1 + rnd(me, 2));
		break;
	case SUBSCRIPTION:
		op = xvt_op(m, XV_OBJ_SUBSCRIPTION, XV_M_CREATE);
		xvt_new(m);
		xvt_u32(m, XV_GRP_EVENTS, XV_EVENTS_QUEUE,
			atomic_load(&s->eq[rnd(me, 2)]));
		break;
	case CQ:
		op = xvt_op(m, XV_OBJ_CQ, XV_M_CREATE);
		xvt_new(m);
		maybe_events(me);
		xvt_u32(m, XV_GRP_CAPS, XV_CAPS_CQE, 1 + rnd(me, 100));
		xvt_out(m, &cq, sizeof(cq));
		break;
	case SRQ:
		op = xvt_op(m, XV_OBJ_SRQ, XV_M_CREATE);
		xvt_new(m);
		xvt_u32(m, XV_GRP_OBJECT, XV_OBJECT_PD, any(me, PD));
		maybe_events(me);
		xvt_u32(m, XV_GRP_CAPS, XV_CAPS_RECV_WR, 4 + rnd(me, 40));
		xvt_u32(m, XV_GRP_PARAMS, XV_PARAMS_LIMIT, rnd(me, 4));
		xvt_out(m, &srq, sizeof(srq));
		xvt_op(m, XV_OBJ_SRQ, XV_M_POST_RECV);
		xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_HANDLE, op);
		xvt_attr(m, XV_GRP_PARAMS, XV_PARAMS_RECVS, sizeof(recvs), 0,
			 (uintptr_t)recvs);
		break;
	default:
		shared = rnd(me, 2) ? any(me, SRQ) : 0;
		op = xvt_op(m, XV_OBJ_QP, XV_M_CREATE);
		xvt_new(m);
		xvt_u32(m, XV_GRP_OBJECT, XV_OBJECT_PD, any(me, PD));
		xvt_u32(m, XV_GRP_OBJECT, XV_OBJECT_SEND_CQ, any(me, CQ));
		if (rnd(me, 2))
			xvt_u32(m, XV_GRP_OBJECT, XV_OBJECT_RECV_CQ,
				any(me, CQ));
		if (shared)
			xvt_u32(m, XV_GRP_OBJECT, XV_OBJECT_SRQ, shared);
		maybe_events(me);
		xvt_u32(m, XV_GRP_CAPS, XV_CAPS_SEND_WR, 1 + rnd(me, 40));
		xvt_u32(m, XV_GRP_CAPS, XV_CAPS_RECV_WR, shared ? 0 :
			4 + rnd(me, 40));
		xvt_u32(m, XV_GRP_ACCESS, XV_ACCESS_FLAGS, XVT_REMOTE);
		if (!rnd(me, 3))
			xvt_u32(m, XV_GRP_PARAMS, XV_PARAMS_QP_TYPE, XV_QPT_UD);
		else if (rnd(me, 2))
			address(me, !rnd(me, 4));
		xvt_out(m, &qp, sizeof(qp));
		if (shared)
			break;
		xvt_op(m, XV_OBJ_QP, XV_M_POST_RECV);
		xvt_ref(m, XV_GRP_OBJECT, XV_OBJECT_HANDLE, op);
		xvt_attr(m, XV_GRP_PARAMS, XV_PARAMS_RECVS, sizeof(recvs), 0,
			 (uintptr_t)recvs);
	}
	if (xvt_run(m, s->t.fd))
		return;
	made = xvt_made(m, op);
	if (slot % STRESS_TYPES == CQ)
		atomic_store(&s->ring[slot],
			     (uintptr_t)map_area(s, &cq.area));
	if (slot % STRESS_TYPES == SRQ) {
		atomic_store(&s->recv_entries[slot], srq.recv_entries);
		atomic_store(&s->ring[slot],
			     (uintptr_t)map_area(s, &srq.area));
	}
	if (slot % STRESS_TYPES == QP) {
		pthread_mutex_lock(&s->lock);
		s->info[slot] = qp;
		pthread_mutex_unlock(&s->lock);
		atomic_store(&s->ring[slot],
			     (uintptr_t)map_area(s, &qp.area));
		atomic_store(&s->qpn[slot], qp.qp_num);
	}
	atomic_store(&s->rkey[slot], mr.rkey);
	if (atomic_compare_exchange_strong(&s->obj[slot], &old, made)) {
		atomic_fetch_add(&s->ops, 1);
		return;
	}
	/* Another was faster. */
	xvt_begin(m, 0);
	xvt_op(m, type_of(slot), XV_M_DESTROY);
	xvt_handle(m, made);
	xvt_run(m, s->t.fd);
}

/* One object, or some that may depend on each other. */
static void destroy(struct stress_thread *me)
{
	unsigned int num = rnd(me, 4) ? 1 : 1 + rnd(me, STRESS_SLOTS);
	struct xvt_msg *m = &me->m;
	unsigned int slots[STRESS_SLOTS];
	uint32_t old[STRESS_SLOTS];
	unsigned int i, n = 0;

	xvt_begin(m, 0);
	for (i = 0; i < num; i++) {
		slots[n] = num > 4 ? i : rnd(me, STRESS_SLOTS);
		old[n] = atomic_load(&me->s->obj[slots[n]]);
		if (!old[n])
			continue;
		xvt_op(m, type_of(slots[n]), XV_M_DESTROY);
		xvt_handle(m, old[n++]);
	}
	if (!n || xvt_run(m, me->s->t.fd))
		return;
	atomic_fetch_add(&me->s->ops, 1);
	for (i = 0; i < n; i++)
		atomic_compare_exchange_strong(&me->s->obj[slots[i]], &old[i],
					       0);
}

static void change(struct stress_thread *me)
{
	struct xvt_msg *m = &me->m;
	uint32_t state = 1 + rnd(me, 5);

	xvt_begin(m, rnd(me, 2) ? XV_TXN_F_BATCH : 0);
	if (!rnd(me, 8)) {
		xvt_op(m, XV_OBJ_SRQ, XV_M_MODIFY);
		xvt_handle(m, any(me, SRQ));
		xvt_u32(m, XV_GRP_PARAMS, XV_PARAMS_LIMIT, rnd(me, 10));
	} else if (rnd(me, 2)) {
		xvt_op(m, XV_OBJ_QP, XV_M_CONNECT);
		xvt_handle(m, any(me, QP));
		address(me, !rnd(me, 8));
	} else {
		xvt_op(m, XV_OBJ_QP, XV_M_MODIFY);
		xvt_handle(m, any(me, QP));
		xvt_u32(m, XV_GRP_PARAMS, XV_PARAMS_STATE, state);
		if (state == XV_QPS_RTR)
			address(me, false);
	}
	if (xvt_run(m, me->s->t.fd) >= 0)
		atomic_fetch_add(&me->s->ops, 1);
}

static void ask(struct stress_thread *me)
{
	unsigned int slot = rnd(me, STRESS_SLOTS);
	uint8_t buf[256];

	xvt_begin(&me->m, 0);
	xvt_op(&me->m, type_of(slot), XV_M_QUERY);
	xvt_handle(&me->m, atomic_load(&me->s->obj[slot]));
	xvt_out(&me->m, buf, sizeof(buf));
	xvt_run(&me->m, me->s->t.fd);
}

static void write_recvs(struct stress_thread *me, struct xv_recv *recvs,
			unsigned int num)
{
	uint32_t mr = any(me, MR);
	unsigned int i;

	for (i = 0; i < num; i++) {
		recvs[i].num_sge = 1;
		recvs[i].sge[0].mr = mr;
		recvs[i].sge[0].offset = 0;
		recvs[i].sge[0].length = 9000;
	}
}

static void write_shared(struct stress_thread *me, unsigned int slot)
{
	struct xv_srq_ring *ring = (void *)atomic_load(&me->s->ring[slot]);

	if (ring)
		write_recvs(me, (struct xv_recv *)(ring + 1),
			    atomic_load(&me->s->recv_entries[slot]));
}

/* Entries as a program would make them, most of the time. */
static void write_entries(struct stress_thread *me, unsigned int slot)
{
	struct xv_qp_ring *ring = (void *)atomic_load(&me->s->ring[slot]);
	unsigned int mr = any_slot(me, MR);
	struct xv_send *sends;
	struct xv_recv *recvs;
	struct xv_qp_info qp;
	unsigned int i;

	pthread_mutex_lock(&me->s->lock);
	qp = me->s->info[slot];
	pthread_mutex_unlock(&me->s->lock);
	if (!ring || !qp.send_entries)
		return;
	sends = (struct xv_send *)(ring + 1);
	recvs = (struct xv_recv *)(sends + qp.send_entries);
	for (i = 0; i < qp.send_entries; i++) {
		struct xv_send *s = &sends[i];

		s->opcode = rnd(me, 50) ? 1 + rnd(me, 7) : rnd(me, 256);
		s->num_sge = 1;
		s->flags = rnd(me, 8);
		s->remote_addr = (uintptr_t)me->s->buf + rnd(me, 1000) * 8;
		s->rkey = atomic_load(&me->s->rkey[any_slot(me, MR)]);
		s->inline_len = 0;
		s->sge[0].mr = atomic_load(&me->s->obj[mr]);
		s->sge[0].offset = rnd(me, 1000) * 8;
		s->sge[0].length = rnd(me, 10) ? 8 : rnd(me, 9000);
	}
	write_recvs(me, recvs, qp.recv_entries);
}

static void enter(struct stress_thread *me)
{
	struct xv_enter_qp qps[8] = {};
	struct xv_enter e = {
		.num_qps = rnd(me, 9), .qps = (uintptr_t)qps,
		.cq = rnd(me, 4) ? any(me, CQ) : 0,
		.min_complete = rnd(me, 3),
		.timeout_ns = rnd(me, 3000000),
		.flags = rnd(me, 4) ? 0 : 1 + rnd(me, 3),
	};
	unsigned int slot = any_slot(me, CQ);
	struct xv_cq_ring *ring = (void *)atomic_load(&me->s->ring[slot]);
	unsigned int i;

	if (!e.cq)
		e.min_complete = e.flags = 0;
	for (i = 0; i < e.num_qps; i++) {
		bool shared = !rnd(me, 4);
		unsigned int qp = any_slot(me, shared ? SRQ : QP);

		if (!rnd(me, 4) && shared)
			write_shared(me, qp);
		else if (!rnd(me, 4) && !shared)
			write_entries(me, qp);
		qps[i].qp = atomic_load(&me->s->obj[qp]);
		qps[i].num_send = shared && rnd(me, 20) ? 0 : rnd(me, 40);
		qps[i].num_recv = rnd(me, 40);
	}
	if (ring && rnd(me, 2))
		ring->head = rnd(me, 100) ? ring->tail : rnd(me, 1 << 30);
	if (!ioctl(me->s->t.fd, XV_IOC_ENTER, &e))
		atomic_fetch_add(&me->s->ops, 1);
}

static void eventq(struct stress_thread *me)
{
	struct xvt_msg *m = &me->m;
	struct xv_event ev[4];
	unsigned int i = rnd(me, 2);
	int fd;

	if (rnd(me, 4)) {
		fd = atomic_load(&me->s->eq[i]);
		if (fd >= 0)
			fcntl(fd, F_SETFL, O_NONBLOCK);
		if (read(fd, ev, sizeof(ev)) > 0)
			atomic_fetch_add(&me->s->ops, 1);
		return;
	}
	fd = atomic_exchange(&me->s->eq[i], -1);
	if (fd >= 0) {
		close(fd);
		return;
	}
	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_EVENTQ, XV_M_CREATE);
	xvt_new(m);
	if (xvt_run(m, me->s->t.fd))
		return;
	fd = atomic_exchange(&me->s->eq[i], (int)xvt_made(m, 0));
	if (fd >= 0)
		close(fd);
}

static void *stress_main(void *arg)
{
	struct stress_thread *me = arg;

	while (!atomic_load(&me->s->stop)) {
		unsigned int what = rnd(me, 20);

		if (what < 5) {
			unsigned int slot = rnd(me, STRESS_SLOTS);

			if (!atomic_load(&me->s->obj[slot]))
				make(me, slot);
		} else if (what < 6) {
			destroy(me);
		} else if (what < 8) {
			change(me);
		} else if (what < 9) {
			ask(me);
		} else if (what < 11) {
			eventq(me);
		} else {
			enter(me);
		}
	}
	return NULL;
}

static void on_signal(int sig)
{
}

/* Threads and a child do everything at random on one file. */
static unsigned long stress(struct stress *s, unsigned int ms, bool unplug,
			    unsigned int seed)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct stress_thread *me = calloc(STRESS_THREADS, sizeof(*me));
	pthread_t thread[STRESS_THREADS];
	int64_t end = xvt_now() + ms * 1000000LL;
	pid_t child;
	int i;

	sigaction(SIGUSR1, &sa, NULL);
	for (i = 0; i < STRESS_THREADS; i++) {
		me[i].s = s;
		me[i].seed = seed * STRESS_THREADS + i;
		pthread_create(&thread[i], NULL, stress_main, &me[i]);
	}
	child = fork();
	if (!child) {
		/* The handles work here, too; the rings are not mapped. */
		while (xvt_now() < end) {
			destroy(&me[0]);
			ask(&me[0]);
			change(&me[0]);
		}
		_exit(0);
	}
	while (xvt_now() < end) {
		xvt_relax();
		pthread_kill(thread[rand_r(&seed) % STRESS_THREADS], SIGUSR1);
	}
	if (unplug)
		xvt_sh("rdma link delete rxe0");
	atomic_store(&s->stop, true);
	/*
	 * A descriptor may have been closed and made anew, without O_NONBLOCK,
	 * between a thread's two calls: then it sleeps there.
	 */
	for (i = 0; i < STRESS_THREADS; i++) {
		struct timespec ts;

		do {
			pthread_kill(thread[i], SIGUSR1);
			clock_gettime(CLOCK_REALTIME, &ts);
			ts.tv_sec += 1;
		} while (pthread_timedjoin_np(thread[i], NULL, &ts));
	}
	waitpid(child, NULL, 0);
	free(me);
	return atomic_load(&s->ops);
}

/* The rings hold the file open. */
static void unmap_all(struct stress *s)
{
	unsigned int i;

	for (i = 0; i < s->num_areas; i++)
		munmap(s->maps[i], s->lengths[i]);
	s->num_areas = 0;
}

FIXTURE(stress) {
	struct stress *s;
};

FIXTURE_SETUP(stress)
{
	struct stress *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, s);
	self->s = s;
	ASSERT_TRUE(xvt_plug());
	xvt_open(_metadata, &s->t);
	pthread_mutex_init(&s->lock, NULL);
	s->buf = xvt_map(STRESS_BYTES, PROT_READ | PROT_WRITE);
	s->eq[0] = -1;
	s->eq[1] = -1;
}

FIXTURE_TEARDOWN(stress)
{
	struct stress *s = self->s;
	unsigned int i;

	xvt_teardown(_metadata);
	unmap_all(s);
	xvt_close(&s->t);
	for (i = 0; i < 2; i++)
		if (s->eq[i] >= 0)
			close(s->eq[i]);
	munmap(s->buf, STRESS_BYTES);
	munmap(s, sizeof(*s));
	EXPECT_TRUE(xvt_plug());
}

static unsigned int stress_seed(void)
{
	const char *env = getenv("XV_SEED");

	return env ? atoi(env) : 1;
}

TEST_F(stress, destroyed)
{
	struct xvt_snap before;
	struct stress *s = self->s;

	xvt_snap(_metadata, &s->t, &before);
	TH_LOG("seed %u", stress_seed());
	TH_LOG("%lu calls", stress(s, xvt_count(STRESS_MS), false,
				   stress_seed()));
	unmap_all(s);
	xvt_close(&s->t);
	EXPECT_EQ(before.vmpin, xvt_vmpin());
	xvt_open(_metadata, &s->t);
}

TEST_F(stress, unplugged)
{
	struct stress *s = self->s;

	TH_LOG("%lu calls", stress(s, xvt_count(STRESS_MS), true,
				   stress_seed() + 1));
}

TEST_HARNESS_MAIN
