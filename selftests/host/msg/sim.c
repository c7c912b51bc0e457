// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Two channels over a simulated transport, one step at a time.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <stdlib.h>
#include <sys/uio.h>

#include "sim.h"

struct sim sim;

/* ---- memory of the library ------------------------------------------- */

unsigned int sim_fail_malloc;
unsigned int sim_num_malloc;
int sim_live_mallocs;

void *sim_malloc(size_t n);
void *sim_calloc(size_t n, size_t size);
void sim_free(void *p);

static bool fails(void)
{
	return ++sim_num_malloc == sim_fail_malloc;
}

void *sim_malloc(size_t n)
{
	if (fails())
		return NULL;
	sim_live_mallocs++;
	return malloc(n);
}

void *sim_calloc(size_t n, size_t size)
{
	if (fails())
		return NULL;
	sim_live_mallocs++;
	return calloc(n, size);
}

void sim_free(void *p)
{
	if (p)
		sim_live_mallocs--;
	free(p);
}

/* ---- queues ----------------------------------------------------------- */

static void put(struct sim_queue *q, struct sim_post *p)
{
	if (!q->first)
		q->last = &q->first;
	p->next = NULL;
	*q->last = p;
	q->last = &p->next;
	q->num++;
}

static struct sim_post *get(struct sim_queue *q)
{
	struct sim_post *p = q->first;

	if (p) {
		q->first = p->next;
		q->num--;
	}
	return p;
}

static void drop(struct sim_queue *q)
{
	struct sim_post *p;

	while ((p = get(q)))
		free(p);
}

/* ---- the transport ----------------------------------------------------- */

static struct xvm_link *other(const struct xvm_link *l)
{
	return &sim.link[!l->side];
}

static int link_post(struct xvm_link *l, void *slot, size_t len,
		     const void *data, size_t data_len, unsigned int flags)
{
	struct sim_post *p;

	assert_false(l->gone);
	assert_true(len + data_len <= l->ch->cfg.fragment);
	assert_true((uint8_t *)slot >= l->slots &&
		    (uint8_t *)slot + len <= l->slots +
		    (size_t)l->ch->cfg.slots * l->ch->cfg.fragment);
	if (data_len)
		assert_true((const uint8_t *)data >= l->pool &&
			    (const uint8_t *)data + data_len <= l->pool +
			    (size_t)l->ch->cfg.send_bufs *
			    l->ch->cfg.fragment);
	if (l->fail_post >= 0 && !l->fail_post--)
		return -EIO;
	p = malloc(sizeof(*p) + len + data_len);
	memcpy(p->bytes, slot, len);
	if (data_len)
		memcpy(p->bytes + len, data, data_len);
	p->len = len + data_len;
	p->signaled = flags & XVM_POST_SIGNAL;
	put(&l->ready, p);
	assert_true(l->ready.num + l->wire.num <= l->ch->cfg.slots);
	return 0;
}

static int link_probe(struct xvm_link *l)
{
	struct sim_post *p = malloc(sizeof(*p));

	p->len = 0;
	p->signaled = true;
	put(&l->ready, p);
	return 0;
}

static int link_flush(struct xvm_link *l)
{
	struct sim_post *p;

	while ((p = get(&l->ready)))
		put(&l->wire, p);
	return 0;
}

static void hang_up(struct xvm_link *l, int err)
{
	drop(&l->ready);
	drop(&l->wire);
	if (!l->cut)
		l->cut_err = err;
	l->cut = true;
}

static void link_disconnect(struct xvm_link *l)
{
	hang_up(l, 0);
	if (other(l)->ch)
		hang_up(other(l), ECONNRESET);
}

static uint64_t link_now(struct xvm_link *l)
{
	(void)l;
	return sim.now;
}

static void link_wake(struct xvm_link *l, uint64_t at)
{
	if (!at)
		l->wake_now = true;
	else if (!l->wake_at || at < l->wake_at)
		l->wake_at = at;
}

static void release(struct xvm_link *l)
{
	xvm_chan_free(l->ch);
	l->ch = NULL;
	drop(&l->ready);
	drop(&l->wire);
	drop(&l->arrived);
	free(l->slots);
	free(l->pool);
}

static void link_gone(struct xvm_link *l)
{
	l->gone = true;
	hang_up(l, 0);
	if (other(l)->ch)
		hang_up(other(l), ECONNRESET);
	if (!l->polling)
		release(l);
}

static const struct xvm_link_ops link_ops = {
	.post = link_post,
	.probe = link_probe,
	.flush = link_flush,
	.disconnect = link_disconnect,
	.now = link_now,
	.wake = link_wake,
	.gone = link_gone,
};

/* ---- the programs ------------------------------------------------------ */

void sim_fill(void *buf, unsigned int side, unsigned int index, uint32_t len)
{
	uint8_t *p = buf;
	uint32_t i;

	for (i = 0; i < len; i++)
		p[i] = side * 101 + index * 31 + i * 7 + (i >> 8);
}

static void *tag(unsigned int index)
{
	return (void *)(uintptr_t)(index + 1);
}

static void app_established(struct xvm_channel *ch, void *user)
{
	struct sim_app *app = user;

	assert_ptr_equal(ch, sim_ch(app->side));
	assert_true(sim.link[app->side].polling);
	assert_int_equal(app->num_established++, 0);
	assert_int_equal(app->num_received, 0);
	assert_int_equal(app->num_closed, 0);
	if (app->on_established)
		app->on_established(app);
}

static void app_received(struct xvm_channel *ch, const void *msg, size_t len,
			 void *user)
{
	struct sim_app *app = user;
	struct sim_app *from = &sim.app[!app->side];
	unsigned int i = app->next_index;
	uint8_t *want;

	assert_ptr_equal(ch, sim_ch(app->side));
	assert_true(sim.link[app->side].polling);
	assert_int_equal(app->num_established, 1);
	assert_int_equal(app->num_closed, 0);
	while (i < from->num_sent && from->len[i] > sim.limit)
		i++;
	app->next_index = i + 1;
	app->num_received++;
	assert_true(i < from->num_sent);
	assert_int_equal(len, from->len[i]);
	want = malloc(len + 1);
	sim_fill(want, from->side, i, len);
	assert_memory_equal(msg, want, len);
	free(want);
	if (app->on_received)
		app->on_received(app, msg, len);
}

static void app_sent(struct xvm_channel *ch, void *context, int err,
		     void *user)
{
	struct sim_app *app = user;

	assert_ptr_equal(ch, sim_ch(app->side));
	assert_true(sim.link[app->side].polling);
	assert_int_equal(app->num_closed, 0);
	assert_ptr_equal(context, tag(app->num_done));
	app->num_done++;
	assert_true(app->num_done <= app->num_sent);
	assert_true(err <= 0);
	if (app->len[app->num_done - 1] > sim.limit) {
		assert_int_equal(err, -EMSGSIZE);
	} else if (!err && sim.limit < UINT32_MAX) {
		app->num_good++;
	} else if (!err) {
		/* None after one that failed, and the peer has it. */
		assert_int_equal(app->num_good, app->num_done - 1);
		app->num_good++;
		assert_true(sim.app[!app->side].num_received >= app->num_good);
	} else if (!app->first_err) {
		app->first_err = err;
	} else {
		assert_int_equal(err, -ECANCELED);
	}
	if (app->on_sent)
		app->on_sent(app, err);
}

static void app_closed(struct xvm_channel *ch, int err, void *user)
{
	struct sim_app *app = user;

	assert_ptr_equal(ch, sim_ch(app->side));
	assert_true(sim.link[app->side].polling);
	assert_int_equal(app->num_closed++, 0);
	assert_int_equal(app->num_done, app->num_sent);
	app->err = err;
	if (app->first_err && app->num_done > app->num_good)
		assert_int_equal(app->first_err, err ? err : -ECANCELED);
	if (app->on_closed)
		app->on_closed(app);
}

static const struct xvm_ops app_ops = {
	.established = app_established,
	.received = app_received,
	.sent = app_sent,
	.closed = app_closed,
};

/* ---- life -------------------------------------------------------------- */

void sim_begin(unsigned int seed)
{
	memset(&sim, 0, sizeof(sim));
	sim.rnd = seed;
	sim.now = 1000;
	sim.limit = UINT32_MAX;
	sim.link[A].fail_post = -1;
	sim.link[B].fail_post = -1;
	sim_fail_malloc = 0;
	sim_num_malloc = 0;
	sim_live_mallocs = 0;
}

void sim_end(void)
{
	int side;

	for (side = 0; side < 2; side++)
		if (sim.link[side].ch)
			xvm_destroy(sim.link[side].ch);
	assert_null(sim.link[A].ch);
	assert_null(sim.link[B].ch);
	assert_int_equal(sim_live_mallocs, 0);
}

int sim_make(int side, const struct xvm_channel_opts *opts)
{
	struct xvm_link *l = &sim.link[side];
	struct xvm_channel_opts cfg;
	int ret;

	ret = xvm_get_channel_opts(&cfg, opts);
	if (ret)
		return ret;
	l->side = side;
	sim.app[side].side = side;
	l->slots = aligned_alloc(16, (size_t)cfg.slots * cfg.fragment);
	l->pool = cfg.send_bufs ?
		  aligned_alloc(16, (size_t)cfg.send_bufs * cfg.fragment) :
		  NULL;
	l->recvs = cfg.window + XVW_RESERVE + 1;
	ret = xvm_chan_new(&l->ch, &cfg, side == A, &app_ops, &sim.app[side],
			   &link_ops, l, l->slots, l->pool);
	if (ret) {
		free(l->slots);
		free(l->pool);
		return ret;
	}
	return xvm_chan_start(l->ch);
}

void sim_connect(void)
{
	sim.link[A].up = true;
	sim.link[B].up = true;
}

void sim_open(const struct xvm_channel_opts *a,
	      const struct xvm_channel_opts *b)
{
	assert_int_equal(sim_make(A, a), 0);
	assert_int_equal(sim_make(B, b), 0);
	sim_connect();
	sim_run();
	assert_int_equal(sim.app[A].num_established, 1);
	assert_int_equal(sim.app[B].num_established, 1);
}

struct xvm_channel *sim_ch(int side)
{
	return sim.link[side].ch;
}

/* ---- steps ------------------------------------------------------------- */

unsigned int sim_random(unsigned int n)
{
	sim.rnd = sim.rnd * 1103515245 + 12345;
	return (sim.rnd >> 16) % n;
}

void sim_cut(int err)
{
	int side;

	for (side = 0; side < 2; side++)
		if (sim.link[side].ch)
			hang_up(&sim.link[side], err);
}

/* The rules of credits, from the bytes alone. */
static void account(int side, const struct sim_post *p)
{
	unsigned int grant = p->bytes[2] << 8 | p->bytes[3];
	unsigned int *mine = &sim.credits[side];

	if (p->bytes[0] == XVW_HELLO) {
		sim.credits[!side] = p->bytes[30] << 8 | p->bytes[31];
		return;
	}
	assert_true(*mine >= (p->bytes[0] == XVW_DATA ? 3 : grant ? 1 : 2));
	--*mine;
	sim.credits[!side] += grant;
}

bool sim_wire(int side)
{
	struct xvm_link *l = &sim.link[side], *to = other(l);
	struct sim_post *p;

	if (!l->ch || !l->up || l->cut)
		return false;
	if (!l->wire.first)
		return false;
	if (++sim.moves == sim.cut_at) {
		sim_cut(ETIMEDOUT);
		return true;
	}
	p = get(&l->wire);
	l->num_done++;
	if (p->signaled)
		l->num_told = l->num_done;
	if (!p->len || !to->ch || to->cut) {
		free(p);
		return true;
	}
	account(side, p);
	/* Receiver not ready: must never happen. */
	assert_true(to->recvs > 0);
	to->recvs--;
	assert_true(p->len <= to->ch->cfg.fragment);
	put(&to->arrived, p);
	return true;
}

static void begin(struct xvm_link *l)
{
	l->polling = true;
	xvm_chan_begin(l->ch);
}

static void finish(struct xvm_link *l)
{
	xvm_chan_end(l->ch);
	l->polling = false;
	if (l->gone)
		release(l);
}

static void give(struct xvm_link *l, struct sim_post *p)
{
	/* A copy of the exact size, so that one byte beyond it is noticed. */
	uint8_t *copy = malloc(p->len);

	memcpy(copy, p->bytes, p->len);
	xvm_chan_frame(l->ch, copy, p->len);
	free(copy);
	free(p);
	l->recvs++;
}

bool sim_poll(int side, unsigned int budget)
{
	struct xvm_link *l = &sim.link[side];
	bool did = false;

	if (!l->ch)
		return false;
	begin(l);
	if (l->up && !l->up_told) {
		l->up_told = true;
		did = true;
		xvm_chan_up(l->ch);
	}
	if (l->num_told != l->ch->done && !l->gone && !l->cut) {
		did = true;
		xvm_chan_posted(l->ch, l->num_told);
	}
	while (budget-- && l->arrived.first && !l->gone) {
		did = true;
		give(l, get(&l->arrived));
	}
	if (l->cut && !l->arrived.first && !l->gone &&
	    l->ch->state != XVM_CLOSED) {
		did = true;
		xvm_chan_down(l->ch, l->cut_err);
	}
	finish(l);
	return did;
}

bool sim_time(int side)
{
	struct xvm_link *l = &sim.link[side];

	if (!l->ch)
		return false;
	if (!l->wake_now && (!l->wake_at || sim.now < l->wake_at))
		return false;
	l->wake_now = false;
	begin(l);
	finish(l);
	if (l->ch)
		l->wake_at = xvm_chan_deadline(l->ch);
	return true;
}

void sim_run(void)
{
	unsigned int idle = 0, steps = 0;

	while (idle < 40) {
		int side = sim_random(2);
		bool did = false;

		assert_true(++steps < 2000000);
		switch (sim_random(3)) {
		case 0:
			did = sim_wire(side);
			break;
		case 1:
			did = sim_poll(side, 1 + sim_random(4));
			break;
		case 2:
			did = sim_time(side);
			break;
		}
		idle = did ? 0 : idle + 1;
		/* By chance nothing was found: look everywhere once. */
		if (idle == 39)
			for (side = 0; side < 2; side++)
				if (sim_wire(side) || sim_poll(side, 4) ||
				    sim_time(side))
					idle = 0;
	}
}

void sim_advance(uint64_t ms)
{
	uint64_t end = sim.now + ms;
	int side;

	sim_run();
	while (sim.now < end) {
		uint64_t next = end;

		for (side = 0; side < 2; side++) {
			struct xvm_link *l = &sim.link[side];
			uint64_t at = l->ch ? xvm_chan_deadline(l->ch) : 0;

			if (!at)
				continue;
			l->wake_at = at;
			if (at < next)
				next = at > sim.now ? at : sim.now + 1;
		}
		sim.now = next;
		sim_run();
	}
}

int sim_send(int side, uint32_t len)
{
	struct sim_app *app = &sim.app[side];
	struct iovec iov[3];
	uint8_t *buf;
	int ret;

	assert_true(app->num_sent < SIM_MAX);
	buf = malloc(len + 1);
	sim_fill(buf, side, app->num_sent, len);
	/* Now and then in pieces, which may be empty. */
	if (sim_random(3)) {
		ret = xvm_send(sim_ch(side), buf, len, tag(app->num_sent));
	} else {
		uint32_t cut = len ? sim_random(len) : 0;

		iov[0] = (struct iovec){ buf, cut };
		iov[1] = (struct iovec){ NULL, 0 };
		iov[2] = (struct iovec){ buf + cut, len - cut };
		ret = xvm_sendv(sim_ch(side), iov, 3, tag(app->num_sent));
	}
	/* It was copied: what becomes of it afterwards means nothing. */
	memset(buf, 0xee, len);
	free(buf);
	if (!ret)
		app->len[app->num_sent++] = len;
	return ret;
}

void sim_inject(int side, const void *frame, size_t len)
{
	struct xvm_link *l = &sim.link[side];
	struct sim_post *p = malloc(sizeof(*p) + len);

	p->len = len;
	p->signaled = false;
	memcpy(p->bytes, frame, len);
	/* Who would have sent it has a credit less. */
	if (len && p->bytes[0] != XVW_HELLO && other(l)->ch &&
	    other(l)->ch->credits)
		other(l)->ch->credits--;
	begin(l);
	l->recvs--;
	give(l, p);
	finish(l);
}

struct xvm_info sim_info(int side)
{
	struct xvm_info info = { .size = sizeof(info) };

	assert_int_equal(xvm_query(sim_ch(side), &info), 0);
	return info;
}

struct xvm_counters sim_count(int side)
{
	struct xvm_counters c = { .size = sizeof(c) };

	assert_int_equal(xvm_get_counters(sim_ch(side), &c), 0);
	return c;
}

void sim_check_quiet(void)
{
	int side;

	for (side = 0; side < 2; side++) {
		struct sim_app *app = &sim.app[side];
		const struct xvm_channel *ch = sim_ch(side);
		const struct xvm_channel *peer = sim_ch(!side);

		assert_int_equal(app->num_done, app->num_sent);
		assert_int_equal(app->num_good, app->num_sent);
		assert_int_equal(sim.app[!side].num_received, app->num_sent);
		assert_int_equal(ch->head, ch->tail);
		assert_int_equal(ch->bytes, 0);
		/* Every credit is somewhere. */
		assert_int_equal(ch->credits + peer->owed, ch->peer_window);
		assert_int_equal(ch->credits, peer->allowance);
		assert_int_equal(sim.link[side].recvs,
				 ch->cfg.window + XVW_RESERVE + 1);
	}
}
