/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the test programs share.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Helpers that assert take the harness's _metadata, as its own macros do.
 */
#ifndef _XV_TEST_H
#define _XV_TEST_H

#include <arpa/inet.h>
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
/* Slow machines are the rule here; the runner has a limit for each program. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	1200

#include <xverbs.h>
#include "counts.h"

#define XVT_UNUSED	__attribute__((unused))

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#endif

/*
 * First in every teardown: the harness leaves its trigger set when a test was
 * ended by an ASSERT, and the next ASSERT would jump to the teardown again.
 */
static inline void xvt_teardown(struct __test_metadata *_metadata)
{
	_metadata->trigger = 0;
}

/* ---- counts, time ---- */

struct xvt_count {
	const char *name;
	unsigned int check;
	unsigned int debug;
	unsigned int longer;
};

static inline bool xvt_mode(const char *mode)
{
	const char *env = getenv("XV_MODE");

	return !strcmp(env ? env : "check", mode);
}

XVT_UNUSED static unsigned int xvt_count_of(const char *name)
{
	static const struct xvt_count counts[] = {
#define XVT_LINE(n, c, d, l)	{ #n, c, d, l },
		XVT_COUNTS(XVT_LINE)
#undef XVT_LINE
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		if (strcmp(counts[i].name, name))
			continue;
		return xvt_mode("long") ? counts[i].longer :
		       xvt_mode("debug") ? counts[i].debug : counts[i].check;
	}
	fprintf(stderr, "counts.h has no %s\n", name);
	abort();
}

/* How often: see counts.h. */
#define xvt_count(name)	xvt_count_of(#name)

static inline unsigned int xvt_factor(void)
{
	const char *env = getenv("XV_FACTOR");
	int factor = env ? atoi(env) : 1;

	return factor > 0 ? factor : 1;
}

/* A deadline of so many milliseconds on a fast machine, in nanoseconds. */
static inline int64_t xvt_ns(unsigned int ms)
{
	return (int64_t)ms * 1000000 * xvt_factor();
}

static inline int64_t xvt_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static inline void xvt_relax(void)
{
	struct timespec ts = { .tv_nsec = 100000 };

	nanosleep(&ts, NULL);
}

/* Wait until something is so; false if it was not within the deadline. */
#define xvt_wait_until(cond, ms)					\
({									\
	int64_t xvt_end = xvt_now() + xvt_ns(ms);			\
	bool xvt_ok;							\
									\
	while (!(xvt_ok = (cond)) && xvt_now() < xvt_end)		\
		xvt_relax();						\
	xvt_ok || (cond);						\
})

/* ---- what a process has ---- */

XVT_UNUSED static long xvt_proc_kb(const char *file, const char *key)
{
	FILE *f = fopen(file, "r");
	char line[256];
	long kb = -1;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)) &&
		    line[strlen(key)] == ':')
			kb = atol(line + strlen(key) + 1);
	if (f)
		fclose(f);
	return kb;
}

/* Pinned memory of this process in KiB. */
static inline long xvt_vmpin(void)
{
	return xvt_proc_kb("/proc/self/status", "VmPin");
}

/* Open file descriptors. */
XVT_UNUSED static int xvt_num_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = -1;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	/* Less ".", ".." and the descriptor of the directory. */
	return n - 2;
}

/* Does a thread of this process sleep? */
XVT_UNUSED static bool xvt_asleep(pid_t tid)
{
	char path[64], line[256] = "";
	char *state;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		line[0] = 0;
	fclose(f);
	state = strrchr(line, ')');
	return state && state[1] == ' ' && state[2] == 'S';
}

static inline pid_t xvt_gettid(void)
{
	return syscall(SYS_gettid);
}

/* Memory that ends where nothing is mapped. */
XVT_UNUSED static void *xvt_map(size_t bytes, int prot)
{
	void *p = mmap(NULL, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

#define XVT_PAGE	4096UL

/* ---- a device ---- */

/**
 * struct xvt - an open device
 * @ctx: context
 * @fd: its file descriptor
 * @iwarp: it has no GIDs of use
 * @gid_index: a RoCE v2 entry of port 1
 * @gid: that GID
 * @info: of device.query, when it was opened
 */
struct xvt {
	struct xv_ctx *ctx;
	int fd;
	bool iwarp;
	unsigned int gid_index;
	struct xv_gid_info gid;
	struct xv_device_info info;
};

XVT_UNUSED static int xvt_find_gid(struct xvt *t)
{
	static const uint8_t v4[12] = { [10] = 0xff, [11] = 0xff };
	struct xv_port_info port;
	unsigned int i;
	int ret;

	ret = xv_device_query_port(xv_now(t->ctx), 1, &port);
	for (i = 0; !ret && i < port.gid_entries; i++) {
		ret = xv_device_query_gid(xv_now(t->ctx), 1, i, &t->gid);
		t->gid_index = i;
		if (!ret && t->gid.type == XV_GID_ROCE_V2 &&
		    !memcmp(t->gid.gid, v4, sizeof(v4)))
			return 0;
	}
	return ret ? ret : -ENOENT;
}

XVT_UNUSED static void xvt_open_name(struct __test_metadata *_metadata,
				     struct xvt *t, const char *name)
{
	memset(t, 0, sizeof(*t));
	ASSERT_EQ(0, xv_open(name, 0, &t->ctx));
	t->fd = xv_fd(t->ctx);
	ASSERT_EQ(0, xv_device_query(xv_now(t->ctx), &t->info));
	t->iwarp = t->info.flags & XV_DEVICE_F_IWARP;
	if (!t->iwarp)
		ASSERT_EQ(0, xvt_find_gid(t));
}

XVT_UNUSED static void xvt_open(struct __test_metadata *_metadata,
				struct xvt *t)
{
	xvt_open_name(_metadata, t, "rxe0");
}

/*
 * Connections are also tried on another device than rxe0, where test_siw.sh
 * tells its name and its IPv4 address.
 */
XVT_UNUSED static const char *xvt_conn_device(void)
{
	const char *name = getenv("XV_DEVICE");

	return name ? name : "rxe0";
}

/* All rights that the device has. */
XVT_UNUSED static uint32_t xvt_conn_access(const struct xvt *t)
{
	return XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE |
	       XV_ACCESS_REMOTE_READ | (t->iwarp ? 0 : XV_ACCESS_REMOTE_ATOMIC);
}

XVT_UNUSED static uint32_t xvt_conn_address(const struct xvt *t)
{
	const char *ip = getenv("XV_ADDRESS");
	uint32_t addr;

	if (ip && inet_pton(AF_INET, ip, &addr) == 1)
		return addr;
	memcpy(&addr, t->gid.gid + 12, 4);
	return addr;
}

XVT_UNUSED static void xvt_close(struct xvt *t)
{
	xv_close(t->ctx);
	t->ctx = NULL;
}

/* A command of the shell: its exit status, -1 if it did not exit. */
__attribute__((format(printf, 1, 2)))
XVT_UNUSED static int xvt_sh(const char *fmt, ...)
{
	char command[512];
	va_list args;
	int status;

	va_start(args, fmt);
	vsnprintf(command, sizeof(command), fmt, args);
	va_end(args);
	status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- the device comes and goes ---- */

/* rxe0 is there, and can be used. */
XVT_UNUSED static bool xvt_is_plugged(void)
{
	struct xvt t = {};
	bool ok;

	if (xv_open("rxe0", 0, &t.ctx))
		return false;
	ok = !xvt_find_gid(&t);
	xvt_close(&t);
	return ok;
}

/* Make it so, within the deadline. */
XVT_UNUSED static bool xvt_plug(void)
{
	if (xvt_is_plugged())
		return true;
	if (xvt_sh("timeout %d rdma link add rxe0 type rxe netdev v0",
		   (int)(xvt_ns(5000) / 1000000000)))
		return false;
	return xvt_wait_until(xvt_is_plugged(), 5000);
}

/* ---- nothing is left behind ---- */

struct xvt_snap {
	uint32_t objects[16];
	uint64_t budget;
	long vmpin;
	int fds;
};

XVT_UNUSED static void xvt_snap(struct __test_metadata *_metadata,
				struct xvt *t, struct xvt_snap *s)
{
	struct xv_device_info info;

	ASSERT_EQ(0, xv_device_query(xv_now(t->ctx), &info));
	memcpy(s->objects, info.objects, sizeof(s->objects));
	s->budget = info.budget_used;
	s->vmpin = xvt_vmpin();
	s->fds = xvt_num_fds();
}

/* Is all as it was? An event queue goes when its file has been released. */
XVT_UNUSED static void xvt_same(struct __test_metadata *_metadata,
				struct xvt *t, const struct xvt_snap *was,
				const char *what)
{
	struct xvt_snap now;
	int i;

	xvt_snap(_metadata, t, &now);
	for (i = 0; i < 16; i++) {
		EXPECT_EQ(was->objects[i], now.objects[i]) {
			TH_LOG("%s: objects of type %d", what, i);
		}
	}
	EXPECT_EQ(was->budget, now.budget) {
		TH_LOG("%s: budget", what);
	}
	EXPECT_EQ(was->vmpin, now.vmpin) {
		TH_LOG("%s: VmPin", what);
	}
	EXPECT_EQ(was->fds, now.fds) {
		TH_LOG("%s: file descriptors", what);
	}
}

/* ---- messages by hand ---- */

/**
 * struct xvt_msg - a transaction, byte by byte
 * @ret: of the last xvt_run()
 * @no_record: do not set &xv_txn.error_ptr
 * @len: length of the message
 * @op: offset of the last operation
 * @err: error record of the last xvt_run()
 * @txn: the message
 * @raw: the message
 */
struct xvt_msg {
	int ret;
	bool no_record;
	uint32_t len;
	uint32_t op;
	struct xv_error err;
	union {
		struct xv_txn txn;
		uint8_t raw[XV_MAX_BYTES + 4096];
	};
};

XVT_UNUSED static void xvt_begin(struct xvt_msg *m, uint32_t flags)
{
	m->ret = 0;
	m->no_record = false;
	memset(&m->txn, 0, sizeof(m->txn));
	m->txn.flags = flags;
	m->len = sizeof(m->txn);
	m->op = 0;
}

static inline struct xv_op *xvt_cur(struct xvt_msg *m)
{
	return (struct xv_op *)(m->raw + m->op);
}

XVT_UNUSED static uint32_t xvt_op(struct xvt_msg *m, uint16_t object,
				  uint16_t method)
{
	m->op = m->len;
	m->len += sizeof(struct xv_op);
	memset(xvt_cur(m), 0, sizeof(struct xv_op));
	xvt_cur(m)->object = object;
	xvt_cur(m)->method = method;
	return m->txn.num_ops++;
}

XVT_UNUSED static struct xv_attr *xvt_attr(struct xvt_msg *m, uint16_t group,
					   uint16_t id, uint16_t len,
					   uint16_t flags, uint64_t data)
{
	struct xv_attr *a = (struct xv_attr *)(m->raw + m->len);

	a->group = group;
	a->id = id;
	a->len = len;
	a->flags = flags;
	a->data = data;
	m->len += sizeof(*a);
	xvt_cur(m)->num_attrs++;
	return a;
}

/* Find an attribute; 0 if it is not there. */
XVT_UNUSED static struct xv_attr *xvt_get(struct xvt_msg *m, uint32_t op,
					  uint16_t group, uint16_t id)
{
	uint32_t pos = sizeof(struct xv_txn);
	uint32_t i;

	while (pos < m->len) {
		struct xv_op *o = (struct xv_op *)(m->raw + pos);
		struct xv_attr *a = (struct xv_attr *)(o + 1);

		for (i = 0; !op && i < o->num_attrs; i++)
			if (a[i].group == group && a[i].id == id)
				return &a[i];
		if (!op--)
			break;
		pos += sizeof(*o) + o->num_attrs * sizeof(*a);
	}
	return NULL;
}

XVT_UNUSED static int xvt_run(struct xvt_msg *m, int fd)
{
	m->txn.length = m->len;
	memset(&m->err, 0xAA, sizeof(m->err));
	if (!m->no_record)
		m->txn.error_ptr = (uintptr_t)&m->err;
	m->ret = ioctl(fd, XV_IOC_TXN, &m->txn);
	if (m->ret < 0)
		m->ret = -errno;
	return m->ret;
}

static inline void xvt_new(struct xvt_msg *m)
{
	xvt_attr(m, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, 0);
}

static inline void xvt_handle(struct xvt_msg *m, uint32_t handle)
{
	xvt_attr(m, XV_GRP_OBJECT, XV_OBJECT_HANDLE, 4, 0, handle);
}

static inline void xvt_u32(struct xvt_msg *m, uint16_t group, uint16_t id,
			   uint32_t value)
{
	xvt_attr(m, group, id, 4, 0, value);
}

static inline void xvt_u64(struct xvt_msg *m, uint16_t group, uint16_t id,
			   uint64_t value)
{
	xvt_attr(m, group, id, 8, 0, value);
}

static inline void xvt_ref(struct xvt_msg *m, uint16_t group, uint16_t id,
			   uint32_t op)
{
	xvt_attr(m, group, id, 4, XV_ATTR_F_FROM_OP, op);
}

static inline void xvt_out(struct xvt_msg *m, void *buf, uint16_t len)
{
	xvt_attr(m, XV_GRP_RESULT, XV_RESULT_INFO, len, 0, (uintptr_t)buf);
}

/* The handle that operation @op made. */
static inline uint32_t xvt_made(struct xvt_msg *m, uint32_t op)
{
	return xvt_get(m, op, XV_GRP_OBJECT, XV_OBJECT_HANDLE)->data;
}

/* The errno and the whole error record, except for what @e leaves to others. */
XVT_UNUSED static void xvt_failed(struct __test_metadata *_metadata,
				  const char *what, int ret,
				  const struct xv_error *e, int err,
				  uint32_t op, uint16_t group, uint16_t attr,
				  uint16_t reason)
{
	bool ok = ret == -err && e->err == err && e->op == op &&
		  e->group == group && e->attr == attr && e->reason == reason;

	EXPECT_TRUE(ok) {
		TH_LOG("%s: %d {err %d op %d group %u attr %u reason %u object %u handle %u raw %d detail %llu}, wanted %d {op %d group %u attr %u reason %u}",
		       what, ret, e->err, (int)e->op, e->group, e->attr,
		       e->reason, e->object, e->handle, e->raw,
		       (unsigned long long)e->detail, -err, (int)op, group,
		       attr, reason);
	}
}

/* ---- two queue pairs of one device ---- */

struct xvt_pair_opts {
	uint32_t type;		/* default RC; of UD, the Q_Key is %XVT_QKEY */
	uint32_t cqe;		/* default: all depths */
	uint32_t send_wr;	/* default 16 */
	uint32_t recv_wr;	/* default 16 */
	uint32_t send_sge;	/* default 4 */
	uint32_t recv_sge;	/* default 3 */
	uint32_t sig_all;
	bool no_connect;
	bool events;
	size_t length;		/* default 64 KiB */
};

/**
 * struct xvt_pair - two queue pairs with what they need
 * @t: the device
 * @pd: protection domain of all
 * @mr: @buf, with all rights
 * @cq: completion queue of each
 * @qp: the queue pairs, each other's peer
 * @eq: event queue of @cq and @qp, if asked for; cookies 1, 2 and 11, 12
 * @buf: memory
 * @length: its length
 */
struct xvt_pair {
	struct xvt *t;
	struct xv_pd pd;
	struct xv_mr mr;
	struct xv_cq cq[2];
	struct xv_qp qp[2];
	struct xv_eventq eq;
	uint8_t *buf;
	size_t length;
};

#define XVT_QKEY	0x11111111U

#define XVT_ALL_ACCESS	(XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE | \
			 XV_ACCESS_REMOTE_READ | XV_ACCESS_REMOTE_ATOMIC)
#define XVT_REMOTE	(XVT_ALL_ACCESS & ~XV_ACCESS_LOCAL_WRITE)

static inline struct xv_qp_attr xvt_peer(struct xvt *t, const struct xv_qp *peer)
{
	struct xv_qp_attr attr = {
		.size = sizeof(attr),
		.qpn = peer->info.qp_num,
		.psn = peer->info.sq_psn,
		.sgid_index = t->gid_index,
	};

	memcpy(attr.gid, t->gid.gid, sizeof(attr.gid));
	return attr;
}

XVT_UNUSED static void xvt_connect(struct __test_metadata *_metadata,
				   struct xvt *t, struct xv_qp *qp,
				   struct xv_qp *peer)
{
	struct xv_qp_attr attr = { .size = sizeof(attr), .qkey = XVT_QKEY };

	if (qp->info.type != XV_QPT_UD)
		attr = xvt_peer(t, peer);
	ASSERT_EQ(0, xv_qp_connect(xv_now(t->ctx), qp, &attr)) {
		TH_LOG("reason %u", xv_txn_error(xv_now(t->ctx))->reason);
	}
}

XVT_UNUSED static void xvt_pair(struct __test_metadata *_metadata,
				struct xvt *t, struct xvt_pair *p,
				const struct xvt_pair_opts *opts)
{
	static const struct xvt_pair_opts defaults;
	const struct xvt_pair_opts *o = opts ? opts : &defaults;
	uint32_t send_wr = o->send_wr ? o->send_wr : 16;
	uint32_t recv_wr = o->recv_wr ? o->recv_wr : 16;
	struct xv_tx *tx;
	int i;

	memset(p, 0, sizeof(*p));
	p->t = t;
	p->length = o->length ? o->length : 65536;
	p->buf = xvt_map(p->length, PROT_READ | PROT_WRITE);
	ASSERT_NE(NULL, p->buf);
	ASSERT_EQ(0, xv_txn_begin(t->ctx, 0, &tx));
	if (o->events)
		xv_eventq_create(tx, &p->eq);
	xv_pd_create(tx, &p->pd);
	xv_mr_create(tx, &p->mr, XV_OPTS(xv_mr_opts, .pd = &p->pd,
					 .addr = p->buf, .length = p->length,
					 .access = XVT_ALL_ACCESS));
	for (i = 0; i < 2; i++)
		xv_cq_create(tx, &p->cq[i], XV_OPTS(xv_cq_opts,
			     .cqe = o->cqe ? o->cqe : send_wr + recv_wr,
			     .eventq = o->events ? &p->eq : NULL,
			     .cookie = o->events ? 1 + i : 0));
	for (i = 0; i < 2; i++)
		xv_qp_create(tx, &p->qp[i], XV_OPTS(xv_qp_opts,
			     .pd = &p->pd, .send_cq = &p->cq[i],
			     .eventq = o->events ? &p->eq : NULL,
			     .cookie = o->events ? 11 + i : 0,
			     .send_wr = send_wr, .recv_wr = recv_wr,
			     .send_sge = o->send_sge ? o->send_sge : 4,
			     .recv_sge = o->recv_sge ? o->recv_sge : 3,
			     .sq_sig_all = o->sig_all, .type = o->type,
			     .access = XVT_REMOTE));
	ASSERT_EQ(0, xv_txn_commit(tx, NULL)) {
		TH_LOG("op %u reason %u", xv_txn_error(tx)->op,
		       xv_txn_error(tx)->reason);
	}
	xv_txn_free(tx);
	for (i = 0; i < 2 && !o->no_connect; i++)
		xvt_connect(_metadata, t, &p->qp[i], &p->qp[!i]);
}

XVT_UNUSED static int xvt_pair_destroy(struct xvt_pair *p)
{
	struct xv_tx *tx;
	int ret, i;

	ret = xv_txn_begin(p->t->ctx, 0, &tx);
	if (ret)
		return ret;
	xv_pd_destroy(tx, &p->pd);
	xv_mr_destroy(tx, &p->mr);
	for (i = 0; i < 2; i++) {
		xv_qp_destroy(tx, &p->qp[i]);
		xv_cq_destroy(tx, &p->cq[i]);
	}
	ret = xv_txn_commit(tx, NULL);
	xv_txn_free(tx);
	xv_eventq_close(&p->eq);
	munmap(p->buf, p->length);
	return ret;
}

static inline struct xv_sge xvt_sge(const struct xvt_pair *p, size_t offset,
				    uint32_t length)
{
	return xv_sge_at(&p->mr, p->buf + offset, length);
}

XVT_UNUSED static int xvt_recv(struct xvt_pair *p, int side, uint64_t wr_id,
			       size_t offset, uint32_t length)
{
	struct xv_recv r;
	int ret;

	xv_recv_prep(&r, wr_id);
	xv_recv_add_sge(&r, xvt_sge(p, offset, length));
	ret = xv_post_recv(&p->qp[side], &r, 1);
	return ret ? ret : xv_submit(&p->qp[side]);
}

XVT_UNUSED static int xvt_send(struct xvt_pair *p, int side, uint64_t wr_id,
			       size_t offset, uint32_t length)
{
	struct xv_send s;
	int ret;

	xv_send_prep_send(&s, wr_id, XV_SEND_SIGNALED,
			  xvt_sge(p, offset, length));
	ret = xv_post_send(&p->qp[side], &s, 1);
	return ret ? ret : xv_submit(&p->qp[side]);
}

/* The way from the device to itself. Good until the next call. */
XVT_UNUSED static const struct xv_ah_opts *xvt_ah_opts(struct xvt *t,
						       struct xv_pd *pd)
{
	static struct xv_ah_opts o;

	o = (struct xv_ah_opts){ .size = sizeof(o), .pd = pd,
				 .sgid_index = t->gid_index };
	memcpy(o.gid, t->gid.gid, sizeof(o.gid));
	return &o;
}

/* Set the checksum of the IPv4 header in the GRH's place. */
XVT_UNUSED static void xvt_ip_sum(uint8_t *grh)
{
	uint8_t *ip = grh + 20;
	unsigned int sum = 0, i;

	ip[10] = 0;
	ip[11] = 0;
	for (i = 0; i < 20; i += 2)
		sum += ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~(sum + (sum >> 16));
	ip[10] = sum >> 8;
	ip[11] = sum;
}

/* What the device would report of a datagram from itself, over IPv4. */
XVT_UNUSED static void xvt_datagram(struct xvt *t, struct xv_ah_wc *from)
{
	uint8_t *ip = from->grh + 20;

	memset(from, 0, sizeof(*from));
	from->wc.flags = XV_WC_RECV | XV_WC_GRH;
	from->wc.src_qp = 17;
	from->wc.net_type = XV_NET_IPV4;
	ip[0] = 0x45;
	ip[3] = 20;
	ip[8] = 64;
	ip[9] = 17;
	memcpy(ip + 12, t->gid.gid + 12, 4);
	memcpy(ip + 16, t->gid.gid + 12, 4);
	xvt_ip_sum(from->grh);
}

/* One completion within the deadline. */
XVT_UNUSED static int xvt_wc(struct xv_cq *cq, struct xv_wc *wc)
{
	int ret = xv_poll(cq, wc, 1);

	if (!ret) {
		ret = xv_wait(cq, 1, xvt_ns(5000));
		if (!ret)
			ret = xv_poll(cq, wc, 1);
	}
	return ret;
}

/* One completion that must be this one. */
XVT_UNUSED static void xvt_expect_wc(struct __test_metadata *_metadata,
				     struct xv_cq *cq, uint64_t wr_id,
				     unsigned int status)
{
	struct xv_wc wc;

	ASSERT_EQ(1, xvt_wc(cq, &wc)) {
		TH_LOG("no completion, wanted wr_id %llu",
		       (unsigned long long)wr_id);
	}
	EXPECT_EQ(wr_id, wc.wr_id);
	EXPECT_EQ(status, wc.status) {
		TH_LOG("wr_id %llu: %s, vendor_err %u",
		       (unsigned long long)wr_id,
		       xv_wc_status_name(wc.status), wc.vendor_err);
	}
	EXPECT_EQ(0, wc.slid | wc.sl | wc.net_type);
}

/* Each wr_id that has a bit in @wr_ids ends as flushed, in any order. */
XVT_UNUSED static void xvt_expect_flushed(struct __test_metadata *_metadata,
					  struct xv_cq *cq, uint64_t wr_ids)
{
	struct xv_wc wc;

	while (wr_ids) {
		ASSERT_EQ(1, xvt_wc(cq, &wc)) {
			TH_LOG("no completion of %llx",
			       (unsigned long long)wr_ids);
		}
		EXPECT_EQ(XV_WC_FLUSH_ERR, wc.status);
		ASSERT_TRUE(wc.wr_id < 64 && wr_ids & 1ULL << wc.wr_id) {
			TH_LOG("wr_id %llu", (unsigned long long)wc.wr_id);
		}
		wr_ids &= ~(1ULL << wc.wr_id);
	}
}

/*
 * As xv_event_read(), but never sleeps: what poll() told of may be gone. For
 * queues that nobody else reads.
 */
static inline int xvt_read_now(struct xv_eventq *eq, struct xv_event *ev,
			       unsigned int n)
{
	int flags = fcntl(eq->fd, F_GETFL);
	int ret;

	fcntl(eq->fd, F_SETFL, flags | O_NONBLOCK);
	ret = xv_event_read(eq, ev, n);
	fcntl(eq->fd, F_SETFL, flags);
	return ret;
}

/* One event within the deadline: what xv_event_read() returned, or -ETIME. */
XVT_UNUSED static int xvt_event(struct xv_eventq *eq, struct xv_event *ev)
{
	struct pollfd pfd = { .fd = eq->fd, .events = POLLIN };
	int64_t end = xvt_now() + xvt_ns(5000);
	int64_t left;
	int ret;

	do {
		left = end - xvt_now();
		if (left <= 0 || poll(&pfd, 1, left / 1000000 + 1) <= 0)
			return -ETIME;
		ret = xvt_read_now(eq, ev, 1);
	} while (ret == -EAGAIN);
	return ret;
}

/* Is there an event now? */
static inline bool xvt_has_event(struct xv_eventq *eq)
{
	struct pollfd pfd = { .fd = eq->fd, .events = POLLIN };

	return poll(&pfd, 1, 0) > 0 && pfd.revents & POLLIN;
}

XVT_UNUSED static void xvt_fill(uint8_t *p, size_t n, unsigned int seed)
{
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = (i * 31 + (i >> 8) * 7 + seed) & 0xff;
}

XVT_UNUSED static bool xvt_filled(const uint8_t *p, size_t n, unsigned int seed)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (p[i] != (uint8_t)((i * 31 + (i >> 8) * 7 + seed) & 0xff))
			return false;
	return true;
}

#endif /* _XV_TEST_H */
