/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The mock device, as test programs use it; see Documentation/testing.rst.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Helpers that assert take the harness's _metadata, as its own macros do.
 */
#ifndef _XV_MOCK_H
#define _XV_MOCK_H

#include <stdarg.h>
#include <sys/utsname.h>
#include "xv_test.h"

#define XVM_DIR		"/sys/kernel/debug/xvmock/"
#define XVM_DEVICE	"xvmock0"

/* ---- the module ---- */

static inline bool xvm_loaded(void)
{
	return !access("/sys/module/xvmock", F_OK);
}

XVT_UNUSED static int xvm_load(const char *params)
{
	const char *env = getenv("XVMOCK");
	struct utsname uts;
	char path[512];
	int ret = 0;
	int fd;

	uname(&uts);
	snprintf(path, sizeof(path), "%s", env ? env : "");
	if (!env)
		snprintf(path, sizeof(path), "/lib/modules/%s/updates/xvmock.ko",
			 uts.release);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (syscall(SYS_finit_module, fd, params, 0))
		ret = -errno;
	close(fd);
	return ret;
}

XVT_UNUSED static int xvm_unload(void)
{
	return syscall(SYS_delete_module, "xvmock", O_NONBLOCK) ? -errno : 0;
}

/* ---- its knobs ---- */

__attribute__((format(printf, 2, 3)))
XVT_UNUSED static int xvm_set(const char *knob, const char *fmt, ...)
{
	char path[256], text[128];
	va_list args;
	int len, fd;
	int ret = 0;

	va_start(args, fmt);
	len = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	snprintf(path, sizeof(path), XVM_DIR "%s", knob);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != len)
		ret = -errno;
	close(fd);
	return ret;
}

/* The number behind a word in the file, or -1. */
XVT_UNUSED static long xvm_get(const char *knob, const char *key)
{
	char path[256], word[64];
	long value = -1;
	char rest[256];
	FILE *f;

	snprintf(path, sizeof(path), XVM_DIR "%s", knob);
	f = fopen(path, "re");
	if (!f)
		return -1;
	while (value < 0 && fscanf(f, "%63s %255[^\n]", word, rest) == 2)
		if (!strcmp(word, key))
			value = atol(rest);
	fclose(f);
	return value;
}

#define xvm_verb(verb, ...)	xvm_set("verbs/" verb, __VA_ARGS__)
#define xvm_calls(verb)		xvm_get("verbs/" verb, "calls")
#define xvm_sleeping(verb)	xvm_get("verbs/" verb, "sleeping")

/* Somebody sleeps in the verb, within the deadline. */
#define xvm_wait_sleeper(verb)	xvt_wait_until(xvm_sleeping(verb) == 1, 5000)

/* The QP number of the newest queue pair. */
XVT_UNUSED static unsigned int xvm_newest_qp(void)
{
	FILE *f = fopen(XVM_DIR "qps", "re");
	unsigned int qpn = 0, n;
	char rest[256];

	while (f && fscanf(f, "qpn %u %255[^\n]\n", &n, rest) == 2)
		qpn = n;
	if (f)
		fclose(f);
	return qpn;
}

/* What xverbs says of its devices: zombies. */
XVT_UNUSED static int xvm_zombies(const char *key)
{
	char path[128], word[32];
	int i, n, sum = 0;

	for (i = 0; i < 64; i++) {
		FILE *f;

		snprintf(path, sizeof(path),
			 "/sys/kernel/debug/xverbs/xverbs%d/zombies", i);
		f = fopen(path, "re");
		while (f && fscanf(f, "%31s %d", word, &n) == 2)
			if (!strcmp(word, key))
				sum += n;
		if (f)
			fclose(f);
	}
	return sum;
}

/* And of devices that have gone: objects that were leaked. */
XVT_UNUSED static int xvm_leaked(void)
{
	FILE *f = fopen("/sys/kernel/debug/xverbs/leaked", "re");
	int n = -1;

	if (f && fscanf(f, "%d", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

/* ---- objects on it ---- */

/**
 * struct xvm - the mock device, open, with one object of each kind
 * @t: the device
 * @eq: event queue of @cq and @qp, cookies 1 and 11
 * @pd: protection domain
 * @mr: @buf, for local writes
 * @cq: completion queue of 64 entries
 * @qp: queue pair in INIT, 16 sends and 16 receives
 * @buf: memory, one page
 */
struct xvm {
	struct xvt t;
	struct xv_eventq eq;
	struct xv_pd pd;
	struct xv_mr mr;
	struct xv_cq cq;
	struct xv_qp qp;
	uint8_t *buf;
};

static const char *const xvm_kinds[] = {
	"pd", "dma_mr", "mr", "cq", "srq", "qp", "ah", "mcast",
};

/* A peer that does not exist. */
XVT_UNUSED static const struct xv_qp_attr *xvm_peer(void)
{
	static const struct xv_qp_attr attr = {
		.size = sizeof(attr), .qpn = 0x999, .psn = 7, .lid = 0x22,
	};

	return &attr;
}

XVT_UNUSED static int xvm_go(struct xvm *m, struct xv_qp *qp, uint32_t state)
{
	struct xv_qp_attr attr = *xvm_peer();

	attr.state = state;
	if (state != XV_QPS_RTR)
		attr.qpn = 0;
	return xv_qp_modify(xv_now(m->t.ctx), qp, &attr);
}

XVT_UNUSED static void xvm_open(struct __test_metadata *_metadata,
				struct xvm *m)
{
	ASSERT_EQ(0, xv_open(XVM_DEVICE, 0, &m->t.ctx));
	m->t.fd = xv_fd(m->t.ctx);
	ASSERT_EQ(0, xv_device_query(xv_now(m->t.ctx), &m->t.info));
}

/* Adds a queue pair like @m->qp to a transaction. */
XVT_UNUSED static int xvm_add_qp(struct xv_tx *tx, struct xvm *m,
				 struct xv_qp *qp, uint64_t cookie,
				 const struct xv_qp_attr *connect)
{
	return xv_qp_create(tx, qp, XV_OPTS(xv_qp_opts, .pd = &m->pd,
					    .send_cq = &m->cq,
					    .eventq = &m->eq, .cookie = cookie,
					    .send_wr = 16, .recv_wr = 16,
					    .connect = connect));
}

XVT_UNUSED static void xvm_make(struct __test_metadata *_metadata,
				struct xvm *m)
{
	struct xv_tx *tx;

	ASSERT_EQ(0, xv_txn_begin(m->t.ctx, 0, &tx));
	xv_eventq_create(tx, &m->eq);
	xv_pd_create(tx, &m->pd);
	xv_mr_create(tx, &m->mr, XV_OPTS(xv_mr_opts, .pd = &m->pd,
					 .addr = m->buf, .length = XVT_PAGE,
					 .access = XV_ACCESS_LOCAL_WRITE));
	xv_cq_create(tx, &m->cq, XV_OPTS(xv_cq_opts, .cqe = 64,
					 .eventq = &m->eq, .cookie = 1));
	xvm_add_qp(tx, m, &m->qp, 11, NULL);
	ASSERT_EQ(0, xv_txn_commit(tx, NULL)) {
		TH_LOG("op %u reason %u raw %d", xv_txn_error(tx)->op,
		       xv_txn_error(tx)->reason, xv_txn_error(tx)->raw);
	}
	xv_txn_free(tx);
}

/* With parameters of the module. */
XVT_UNUSED static void xvm_setup_with(struct __test_metadata *_metadata,
				      struct xvm *m, const char *params)
{
	memset(m, 0, sizeof(*m));
	m->eq.fd = -1;
	if (xvm_loaded())
		xvm_unload();
	ASSERT_EQ(0, xvm_load(params)) {
		TH_LOG("xvmock.ko does not load");
	}
	m->buf = xvt_map(XVT_PAGE, PROT_READ | PROT_WRITE);
	ASSERT_NE(NULL, m->buf);
	xvm_open(_metadata, m);
	xvm_make(_metadata, m);
}

XVT_UNUSED static void xvm_setup(struct __test_metadata *_metadata,
				 struct xvm *m)
{
	xvm_setup_with(_metadata, m, "");
}

/* Nothing is left, nobody did what it must not, and the module can go. */
XVT_UNUSED static void xvm_check_empty(struct __test_metadata *_metadata)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(xvm_kinds); i++) {
		EXPECT_EQ(0, xvm_get("objects", xvm_kinds[i])) {
			TH_LOG("objects of kind %s", xvm_kinds[i]);
		}
	}
	EXPECT_EQ(0, xvm_get("objects", "leaked"));
	EXPECT_EQ(0, xvm_get("errors", "errors"));
	EXPECT_EQ(0, xvm_get("errors", "late"));
	EXPECT_EQ(0, xvm_zombies("zombies"));
}

XVT_UNUSED static void xvm_teardown(struct __test_metadata *_metadata,
				    struct xvm *m)
{
	xvt_teardown(_metadata);
	/* Nobody sleeps any more, and nothing is refused. */
	if (xvm_loaded() && !_metadata->passed)
		xvm_set("reset", "1");
	if (m->t.ctx)
		xvt_close(&m->t);
	if (m->eq.open)
		xv_eventq_close(&m->eq);
	if (!xvm_loaded())
		return;
	xvm_check_empty(_metadata);
	EXPECT_EQ(0, xvm_unload());
}

/* ---- traffic ---- */

XVT_UNUSED static int xvm_recv(struct xvm *m, struct xv_qp *qp, uint64_t wr_id)
{
	struct xv_recv r;
	int ret;

	xv_recv_prep(&r, wr_id);
	xv_recv_add_sge(&r, xv_sge_at(&m->mr, m->buf, 64));
	ret = xv_post_recv(qp, &r, 1);
	return ret ? ret : xv_submit(qp);
}

XVT_UNUSED static int xvm_send(struct xvm *m, struct xv_qp *qp, uint64_t wr_id)
{
	struct xv_send s;
	int ret;

	xv_send_prep_send(&s, wr_id, XV_SEND_SIGNALED,
			  xv_sge_at(&m->mr, m->buf, 64));
	ret = xv_post_send(qp, &s, 1);
	return ret ? ret : xv_submit(qp);
}

/* The oldest but @index of what is posted ends. */
static inline int xvm_complete(const char *side, unsigned int qpn,
			       unsigned int index, const char *status)
{
	return xvm_set("complete", "%s %u %u %s 64", side, qpn, index, status);
}

/* ---- calls in another thread, which sleep in the driver ---- */

/**
 * struct xvm_call - a call that another thread makes
 * @thread: the thread
 * @tx: what it commits
 * @run: or what it does
 * @arg: for @run
 * @err: error record of @tx
 * @ret: what it returned
 */
struct xvm_call {
	pthread_t thread;
	struct xv_tx *tx;
	int (*run)(void *arg);
	void *arg;
	struct xv_error err;
	int ret;
};

XVT_UNUSED static void *xvm_call_thread(void *arg)
{
	struct xvm_call *c = arg;

	c->ret = c->run ? c->run(c->arg) : xv_txn_commit(c->tx, &c->err);
	return NULL;
}

XVT_UNUSED static void xvm_start(struct __test_metadata *_metadata,
				 struct xvm_call *c)
{
	ASSERT_EQ(0, pthread_create(&c->thread, NULL, xvm_call_thread, c));
}

XVT_UNUSED static int xvm_join(struct __test_metadata *_metadata,
			       struct xvm_call *c)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += xvt_ns(10000) / 1000000000;
	EXPECT_EQ(0, pthread_timedjoin_np(c->thread, NULL, &ts));
	if (c->tx)
		xv_txn_free(c->tx);
	c->tx = NULL;
	return c->ret;
}

/* Nothing more in the ring, and nothing comes. */
#define XVM_EXPECT_NO_WC(cq)						\
do {									\
	struct xv_wc xvm_wc;						\
									\
	EXPECT_EQ(0, xv_wait(cq, 0, 0));				\
	EXPECT_EQ(0, xv_poll(cq, &xvm_wc, 1)) {				\
		TH_LOG("wr_id %llu status %u",				\
		       (unsigned long long)xvm_wc.wr_id, xvm_wc.status);	\
	}								\
} while (0)

#endif /* _XV_MOCK_H */
