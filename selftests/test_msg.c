// SPDX-License-Identifier: GPL-2.0
/*
 * Message channels over a real device: what a simulated transport can not tell.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xvmsg.h>
#include "xv_test.h"

#define LONGEST	300000

enum { A, P };		/* active, passive */

/**
 * struct side - one program
 * @ctx: its context
 * @ch: its channel
 * @received: messages that have come
 * @sent: messages that were accepted
 * @good: of these, those that were delivered
 * @failed: and those that were not
 * @established: how often it was told that
 * @closed: how often it was told the end
 * @err: and with what
 * @wrong: a message was not the one that had to come
 * @any: whatever comes is right
 * @echo: send back what comes
 * @reject: refuse who wants to connect
 * @destroy_at: destroy the channel with this message
 */
struct side {
	struct xvm_ctx *ctx;
	struct xvm_channel *ch;
	unsigned int received;
	unsigned int sent;
	unsigned int good;
	unsigned int failed;
	unsigned int established;
	unsigned int closed;
	int err;
	bool wrong;
	bool any;
	bool echo;
	bool reject;
	unsigned int destroy_at;
};

FIXTURE(msg) {
	struct xvt t;
	struct xvt_snap before;
	struct side s[2];
	struct xvm_listener *l;
	struct sockaddr_storage addr;
};

typedef FIXTURE_DATA(msg) fixture;

static const struct xvm_channel_opts *accept_opts;

static uint32_t len_of(unsigned int i)
{
	static const uint32_t len[] = {
		0, 1, 4079, 4080, 4081, 5, 8160, 8161, 65535, 65536, 17,
		LONGEST, 300,
	};

	return len[i % ARRAY_SIZE(len)];
}

static void fill(uint8_t *buf, unsigned int i, uint32_t len)
{
	uint32_t k;

	for (k = 0; k < len; k++)
		buf[k] = i * 13 + k * 7 + (k >> 8);
}

static int send_one(struct side *s)
{
	static uint8_t buf[LONGEST];
	uint32_t len = len_of(s->sent);
	int ret;

	fill(buf, s->sent, len);
	ret = xvm_send(s->ch, buf, len, (void *)(uintptr_t)s->sent);
	if (!ret)
		s->sent++;
	return ret;
}

static void established(struct xvm_channel *ch, void *user)
{
	struct side *s = user;

	s->established++;
}

static void received(struct xvm_channel *ch, const void *msg, size_t len,
		     void *user)
{
	static uint8_t want[LONGEST];
	struct side *s = user;

	fill(want, s->received, len_of(s->received));
	if (!s->any && (len != len_of(s->received) || memcmp(msg, want, len)))
		s->wrong = true;
	s->received++;
	if (s->received == s->destroy_at) {
		xvm_destroy(ch);
		s->ch = NULL;
		return;
	}
	if (s->echo && send_one(s))
		s->wrong = true;
}

static void sent(struct xvm_channel *ch, void *context, int err, void *user)
{
	struct side *s = user;

	if ((uintptr_t)context != s->good + s->failed || (!err && s->failed))
		s->wrong = true;
	if (err)
		s->failed++;
	else
		s->good++;
}

static void closed(struct xvm_channel *ch, int err, void *user)
{
	struct side *s = user;

	s->closed++;
	s->err = err;
}

static const struct xvm_ops ops = {
	.established = established,
	.received = received,
	.sent = sent,
	.closed = closed,
};

static void requested(struct xvm_listener *l, struct xvm_request *req,
		      void *user)
{
	struct side *s = user;
	char data[XVM_CONNECT_DATA];

	if (xvm_request_data(req, data, sizeof(data)) < 5 ||
	    memcmp(data, "hello", 5))
		s->wrong = true;
	if (s->reject) {
		xvm_reject(req, "go away", 7);
		return;
	}
	if (xvm_accept(req, accept_opts, &ops, s, &s->ch))
		s->wrong = true;
}

FIXTURE_SETUP(msg)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr *addr = (struct sockaddr *)&in;
	int i;

	accept_opts = NULL;
	xvt_open(_metadata, &self->t);
	xvt_snap(_metadata, &self->t, &self->before);
	memcpy(&in.sin_addr, self->t.gid.gid + 12, 4);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, xvm_open(NULL, 0, &self->s[i].ctx));
	ASSERT_EQ(0, xvm_listen(self->s[P].ctx,
				XVM_OPTS(xvm_listen_opts, .addr = addr),
				requested, &self->s[P], &self->l)) {
		TH_LOG("%s", xvm_error_text(self->s[P].ctx));
	}
	ASSERT_EQ(0, xvm_listener_address(self->l, &self->addr));
}

FIXTURE_TEARDOWN(msg)
{
	int i;

	xvt_teardown(_metadata);
	for (i = 0; i < 2; i++) {
		EXPECT_FALSE(self->s[i].wrong);
		xvm_close(self->s[i].ctx);
	}
	xvt_same(_metadata, &self->t, &self->before, "at the end");
	xvt_close(&self->t);
}

static int connect_with(fixture *f, const struct xvm_channel_opts *opts)
{
	return xvm_connect(f->s[A].ctx, XVM_OPTS(xvm_connect_opts,
			   .dst = (struct sockaddr *)&f->addr,
			   .channel = opts, .data = "hello", .data_len = 5),
			   &ops, &f->s[A], &f->s[A].ch);
}

/* Let both work for a while; only one, if the other sleeps. */
static void turn(fixture *f, int asleep)
{
	struct pollfd p[2] = {
		{ .fd = xvm_fd(f->s[A].ctx), .events = POLLIN },
		{ .fd = xvm_fd(f->s[P].ctx), .events = POLLIN },
	};
	int i;

	if (asleep >= 0)
		p[asleep].fd = -1;
	poll(p, 2, 20);
	for (i = 0; i < 2; i++)
		if (p[i].revents && xvm_dispatch(f->s[i].ctx))
			f->s[i].wrong = true;
}

#define turn_until(f, asleep, cond, ms)					\
({									\
	int64_t end_ = xvt_now() + xvt_ns(ms);				\
	while (!(cond) && xvt_now() < end_)				\
		turn(f, asleep);					\
	(cond);								\
})

static void establish(struct __test_metadata *_metadata, fixture *f,
		      const struct xvm_channel_opts *opts)
{
	ASSERT_EQ(0, connect_with(f, opts)) {
		TH_LOG("%s", xvm_error_text(f->s[A].ctx));
	}
	ASSERT_TRUE(turn_until(f, -1, f->s[A].established &&
			       f->s[P].established, 5000));
}

static long rnr(void)
{
	static const char * const names[] = {
		"rcvd_rnr_err", "send_rnr_err", "retry_rnr_exceeded_err",
	};
	long sum = 0, val;
	char path[200];
	unsigned int i;
	FILE *file;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path),
			 "/sys/class/infiniband/rxe0/ports/1/hw_counters/%s",
			 names[i]);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fscanf(file, "%ld", &val) == 1)
			sum += val;
		fclose(file);
	}
	return sum;
}

/* All sizes, both directions at once; what was sent early comes first. */
TEST_F(msg, messages)
{
	unsigned int i, n = xvt_count(MSG_ROUNDS);
	long before = rnr();

	ASSERT_EQ(0, connect_with(self, NULL));
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, send_one(&self->s[A]));
	ASSERT_TRUE(turn_until(self, -1, self->s[P].established, 5000));
	while (self->s[A].sent < n || self->s[P].sent < n) {
		for (i = 0; i < 2; i++)
			while (self->s[i].sent < n && !send_one(&self->s[i]))
				;
		turn(self, -1);
		ASSERT_EQ(0, self->s[A].closed + self->s[P].closed);
	}
	EXPECT_TRUE(turn_until(self, -1, self->s[A].good == n &&
			       self->s[P].good == n, 20000));
	EXPECT_EQ(n, self->s[A].received);
	EXPECT_EQ(n, self->s[P].received);
	EXPECT_EQ(before, rnr());
	ASSERT_EQ(0, xvm_shutdown(self->s[A].ch, 0));
	EXPECT_TRUE(turn_until(self, -1, self->s[A].closed &&
			       self->s[P].closed, 5000));
	EXPECT_EQ(0, self->s[A].err);
	EXPECT_EQ(0, self->s[P].err);
}

/* Closed with everything still in the queue: it arrives all the same. */
TEST_F(msg, close_delivers)
{
	unsigned int i;

	self->s[P].echo = true;
	ASSERT_EQ(0, connect_with(self, NULL));
	for (i = 0; i < 12; i++)
		ASSERT_EQ(0, send_one(&self->s[A]));
	self->s[P].echo = false;
	ASSERT_EQ(0, xvm_shutdown(self->s[A].ch, 0));
	EXPECT_EQ(-ESHUTDOWN, xvm_send(self->s[A].ch, NULL, 0, NULL));
	EXPECT_TRUE(turn_until(self, -1, self->s[A].closed &&
			       self->s[P].closed, 8000));
	EXPECT_EQ(0, self->s[A].err);
	EXPECT_EQ(0, self->s[P].err);
	EXPECT_EQ(12, self->s[A].good);
	EXPECT_EQ(12, self->s[P].received);
}

TEST_F(msg, echo)
{
	unsigned int i;

	self->s[P].echo = true;
	establish(_metadata, self, XVM_OPTS(xvm_channel_opts, .window = 2,
					    .slots = 4));
	for (i = 1; i <= 40; i++) {
		ASSERT_EQ(0, send_one(&self->s[A]));
		ASSERT_TRUE(turn_until(self, -1, self->s[A].received == i,
				       5000));
	}
}

TEST_F(msg, refused)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&self->addr;
	char data[XVM_REJECT_DATA];

	self->s[P].reject = true;
	ASSERT_EQ(0, connect_with(self, NULL));
	ASSERT_EQ(0, send_one(&self->s[A]));
	ASSERT_TRUE(turn_until(self, -1, self->s[A].closed, 5000));
	EXPECT_EQ(-ECONNREFUSED, self->s[A].err);
	EXPECT_EQ(1, self->s[A].failed);
	EXPECT_EQ(0, self->s[A].established);
	EXPECT_LE(7, xvm_get_reject_data(self->s[A].ch, data, sizeof(data)));
	EXPECT_EQ(0, memcmp(data, "go away", 7));
	xvm_destroy(self->s[A].ch);
	/* And where nobody listens. */
	xvm_listener_destroy(self->l);
	in->sin_port = htons(ntohs(in->sin_port) ^ 1);
	self->s[A].closed = 0;
	self->s[A].failed = 0;
	self->s[A].sent = 0;
	ASSERT_EQ(0, connect_with(self, NULL));
	ASSERT_TRUE(turn_until(self, -1, self->s[A].closed, 5000));
	EXPECT_EQ(-ECONNREFUSED, self->s[A].err);
}

/* Its queue is bounded, the link lives, nothing is lost, no RNR. */
TEST_F(msg, sleeping_receiver)
{
	unsigned int eagain = 0;
	long before = rnr();
	int64_t end;

	accept_opts = XVM_OPTS(xvm_channel_opts, .window = 8,
			       .keepalive_ms = 1000 * xvt_factor());
	establish(_metadata, self, XVM_OPTS(xvm_channel_opts, .slots = 16,
					    .queue_messages = 20,
					    .keepalive_ms = 1000 *
							    xvt_factor()));
	end = xvt_now() + 3 * xvt_ns(1000);
	while (xvt_now() < end) {
		while (!send_one(&self->s[A]))
			;
		eagain++;
		turn(self, P);
	}
	EXPECT_LT(0, eagain);
	EXPECT_EQ(0, self->s[A].closed);
	EXPECT_EQ(0, self->s[P].received);
	EXPECT_GE(20, self->s[A].sent);
	EXPECT_TRUE(turn_until(self, -1, self->s[A].good == self->s[A].sent,
			       10000));
	EXPECT_EQ(before, rnr());
}

/* Idle, and alive: the device answers what it is asked. */
TEST_F(msg, keepalive)
{
	struct xvm_counters c = { .size = sizeof(c) };
	unsigned int ms = 400 * xvt_factor();
	int64_t end;

	accept_opts = XVM_OPTS(xvm_channel_opts, .keepalive_ms = ms);
	establish(_metadata, self, accept_opts);
	end = xvt_now() + 4000000LL * ms;
	while (xvt_now() < end)
		turn(self, -1);
	ASSERT_EQ(0, xvm_get_counters(self->s[A].ch, &c));
	EXPECT_LT(4, c.keepalives);
	EXPECT_EQ(0, self->s[A].closed);
	EXPECT_EQ(0, self->s[P].closed);
	ASSERT_EQ(0, send_one(&self->s[P]));
	EXPECT_TRUE(turn_until(self, -1, self->s[P].good == 1, 5000));
}

/* From inside the callback, on either side; the other one is told. */
TEST_F(msg, destroy_inside)
{
	unsigned int i, n = xvt_count(MSG_CYCLES);

	for (i = 0; i < n; i++) {
		struct side *a = &self->s[A], *p = &self->s[P];

		memset(&a->ch, 0, sizeof(*a) - offsetof(struct side, ch));
		memset(&p->ch, 0, sizeof(*p) - offsetof(struct side, ch));
		p->echo = true;
		(i & 1 ? a : p)->destroy_at = 1 + i % 3;
		ASSERT_EQ(0, connect_with(self, NULL));
		while (a->sent < 4)
			ASSERT_EQ(0, send_one(a));
		ASSERT_TRUE(turn_until(self, -1,
				       (i & 1 ? p : a)->closed, 5000));
		EXPECT_EQ(-ECONNRESET, (i & 1 ? p : a)->err);
		xvm_destroy((i & 1 ? p : a)->ch);
		ASSERT_FALSE(a->wrong || p->wrong);
	}
}

/* A peer that is killed is told of at once. */
TEST_F(msg, killed)
{
	int64_t start;
	pid_t pid;

	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		struct side s = {};
		struct pollfd p = { .events = POLLIN };

		const struct xvm_connect_opts o = {
			.size = sizeof(o),
			.dst = (struct sockaddr *)&self->addr,
			.data = "hello",
			.data_len = 5,
		};

		if (xvm_open(NULL, 0, &s.ctx) ||
		    xvm_connect(s.ctx, &o, &ops, &s, &s.ch))
			_exit(1);
		p.fd = xvm_fd(s.ctx);
		for (;;) {
			poll(&p, 1, -1);
			xvm_dispatch(s.ctx);
		}
	}
	ASSERT_TRUE(turn_until(self, -1, self->s[P].established, 5000));
	ASSERT_EQ(0, send_one(&self->s[P]));
	ASSERT_TRUE(turn_until(self, -1, self->s[P].good == 1, 5000));
	start = xvt_now();
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ASSERT_TRUE(turn_until(self, -1, self->s[P].closed, 5000));
	EXPECT_EQ(-ECONNRESET, self->s[P].err);
	EXPECT_GT(xvt_ns(5000), xvt_now() - start);
}

/* ---- a peer that speaks libxverbs ---- */

struct raw {
	struct xv_eventq eq;
	struct xv_pd pd;
	struct xv_mr mr;
	struct xv_cq cq;
	struct xv_qp qp;
	struct xv_conn conn;
	uint8_t *mem;
};

static int raw_connect(fixture *f, struct raw *r, const void *data,
		       size_t len)
{
	struct xv_recv recvs[8];
	struct xv_tx *tx;
	unsigned int i;
	int ret;

	memset(r, 0, sizeof(*r));
	r->mem = xvt_map(16 * 4096, PROT_READ | PROT_WRITE);
	ret = xv_txn_begin(f->t.ctx, 0, &tx);
	if (ret)
		return ret;
	xv_eventq_create(tx, &r->eq);
	xv_pd_create(tx, &r->pd);
	xv_mr_create(tx, &r->mr, XV_OPTS(xv_mr_opts, .pd = &r->pd,
		     .addr = r->mem, .length = 16 * 4096,
		     .access = XV_ACCESS_LOCAL_WRITE));
	xv_cq_create(tx, &r->cq, XV_OPTS(xv_cq_opts, .cqe = 128,
					 .eventq = &r->eq));
	xv_qp_create(tx, &r->qp, XV_OPTS(xv_qp_opts, .pd = &r->pd,
		     .send_cq = &r->cq, .send_wr = 100, .recv_wr = 8,
		     .access = XV_ACCESS_REMOTE_WRITE));
	for (i = 0; i < 8; i++) {
		xv_recv_prep(&recvs[i], i);
		xv_recv_add_sge(&recvs[i], xv_sge_at(&r->mr, r->mem + i * 4096,
						     4096));
	}
	xv_qp_post_recv(tx, &r->qp, recvs, 8);
	xv_conn_create(tx, &r->conn, XV_OPTS(xv_conn_opts, .qp = &r->qp,
		       .eventq = &r->eq, .private_data = data,
		       .private_len = len,
		       .dst = (struct sockaddr *)&f->addr));
	ret = xv_txn_commit(tx, NULL);
	xv_txn_free(tx);
	return ret;
}

static int raw_destroy(fixture *f, struct raw *r)
{
	struct xv_tx *tx;
	int ret;

	ret = xv_txn_begin(f->t.ctx, 0, &tx);
	if (ret)
		return ret;
	xv_conn_destroy(tx, &r->conn);
	xv_qp_destroy(tx, &r->qp);
	xv_cq_destroy(tx, &r->cq);
	xv_mr_destroy(tx, &r->mr);
	xv_pd_destroy(tx, &r->pd);
	ret = xv_txn_commit(tx, NULL);
	xv_txn_free(tx);
	xv_eventq_close(&r->eq);
	munmap(r->mem, 16 * 4096);
	return ret;
}

/* Who brings no token, or a wrong one, gets no queue pair. */
TEST_F(msg, strangers)
{
	static const struct {
		const char *data;
		size_t len;
		const char *name;
		uint8_t fault;
	} s[] = {
		{ "GET / HTTP/1.0", 14, "magic", 5 },
		{ NULL, 0, "magic", 5 },
		{ "SMVX\1\1\0\0", 8, "byte order", 6 },
		{ "XVMS\2\2\0\0", 8, "version", 7 },
		{ "XVMS\1\1\0\1", 8, "reserved", 4 },
		{ "XVMS\1\1\7\0", 8, "reserved", 4 },
	};
	struct xvm_counters c = { .size = sizeof(c) };
	struct xv_conn_info info;
	struct xv_event ev;
	struct raw r;
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(s); i++) {
		ASSERT_EQ(0, raw_connect(self, &r, s[i].data, s[i].len));
		for (k = 0; k < 200 * xvt_factor() &&
		     !xvt_has_event(&r.eq); k++)
			turn(self, A);
		ASSERT_TRUE(xvt_has_event(&r.eq));
		ASSERT_EQ(1, xv_event_read(&r.eq, &ev, 1));
		EXPECT_EQ(XV_EV_CONNECT_FAILED, ev.type);
		EXPECT_EQ(ECONNREFUSED, ev.data);
		ASSERT_EQ(0, xv_conn_query(xv_now(self->t.ctx), &r.conn,
					   &info));
		EXPECT_EQ(0, memcmp(info.private_data, "XVMS", 4));
		EXPECT_EQ(s[i].fault, info.private_data[6]);
		EXPECT_STREQ(s[i].name, xvm_fault_name(s[i].fault));
		ASSERT_EQ(0, raw_destroy(self, &r));
	}
	ASSERT_EQ(0, xvm_get_totals(self->s[P].ctx, &c));
	EXPECT_EQ(1, c.faults[7]);
	EXPECT_EQ(2, c.faults[5]);
	EXPECT_EQ(NULL, self->s[P].ch);
}

static const uint8_t raw_hello[64] = {
	1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	'X', 'V', 'M', 'S', 1, 1, 0, 0,
	0, 0, 0x10, 0x00, 0, 0, 0, 7, 0x00, 0x10, 0x00, 0x00,
};

/* One frame of its own memory; with immediate data, if there are any. */
static int raw_post(struct raw *r, unsigned int i, const void *frame,
		    uint32_t len, uint32_t imm)
{
	uint8_t *at = r->mem + 8 * 4096 + i * 64;
	struct xv_sge sge = xv_sge_at(&r->mr, at, len);
	struct xv_send s;

	memcpy(at, frame, len);
	if (imm)
		xv_send_prep_send_imm(&s, 0, 0, sge, imm);
	else
		xv_send_prep_send(&s, 0, 0, sge);
	return xv_post_send(&r->qp, &s, 1);
}

/* Each breach ends that channel, and no other. */
TEST_F(msg, hostile)
{
	static const uint8_t faults[] = { 13, 18, 2, 15 };
	uint8_t frame[17] = { 2, 1, [15] = 1 };
	struct xvm_info info = { .size = sizeof(info) };
	struct xvm_channel *other;
	struct side *p = &self->s[P];
	unsigned int kind, i;
	struct raw r;

	establish(_metadata, self, NULL);
	other = p->ch;
	accept_opts = XVM_OPTS(xvm_channel_opts, .window = 8);
	for (kind = 0; kind < 4; kind++) {
		memset(&p->ch, 0, sizeof(*p) - offsetof(struct side, ch));
		p->any = true;
		ASSERT_EQ(0, raw_connect(self, &r, "XVMS\1\1\0\0hello", 13));
		if (kind)
			ASSERT_EQ(0, raw_post(&r, 0, raw_hello, 64, 0));
		switch (kind) {
		case 0:		/* data before HELLO */
			ASSERT_EQ(0, raw_post(&r, 0, frame, 17, 0));
			break;
		case 1:		/* a length that nobody has */
			memset(frame + 12, 0xff, 4);
			ASSERT_EQ(0, raw_post(&r, 1, frame, 17, 0));
			break;
		case 2:		/* immediate data */
			ASSERT_EQ(0, raw_post(&r, 1, frame, 17, 1));
			break;
		case 3:		/* more than was granted */
			ASSERT_EQ(0, xv_submit(&r.qp));
			ASSERT_TRUE(turn_until(self, -1, p->established,
					       5000));
			memset(frame + 12, 0, 4);
			for (i = 0; i < 40; i++) {
				frame[11] = i;
				ASSERT_EQ(0, raw_post(&r, 1 + i, frame, 16,
						      0));
			}
			ASSERT_EQ(0, xv_submit(&r.qp));
			/* They are there before anything can be granted. */
			usleep(300000 * xvt_factor());
			break;
		}
		ASSERT_EQ(0, xv_submit(&r.qp));
		EXPECT_TRUE(turn_until(self, -1, p->closed, 5000));
		EXPECT_EQ(-EPROTO, p->err);
		ASSERT_EQ(0, xvm_query(p->ch, &info));
		EXPECT_EQ(faults[kind], info.fault) {
			TH_LOG("%u: %s", kind, xvm_fault_name(info.fault));
		}
		xvm_destroy(p->ch);
		ASSERT_EQ(0, raw_destroy(self, &r));
	}
	memset(&p->ch, 0, sizeof(*p) - offsetof(struct side, ch));
	p->ch = other;
	ASSERT_EQ(0, send_one(p));
	EXPECT_TRUE(turn_until(self, -1, self->s[A].received == 1, 5000));
}

TEST_HARNESS_MAIN
