// SPDX-License-Identifier: GPL-2.0
/*
 * Very many objects on one file: what one more costs, and that the end of all
 * of them holds nobody up.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * The times are printed and not judged. In a machine that counts instructions
 * (selftests/bench/run drift) a nanosecond is an instruction.
 */
#include "xv_test.h"

#define FEW	1000
#define SAMPLES	16	/* calls of 64 operations */

static struct xvt_msg *m;

static int64_t since(int64_t start)
{
	return xvt_now() - start;
}

/* 64 protection domains; returns the first handle. */
static uint32_t create_pds(struct __test_metadata *_metadata, int fd,
			   uint32_t *handles)
{
	unsigned int i;

	xvt_begin(m, 0);
	for (i = 0; i < XV_MAX_OPS; i++) {
		xvt_op(m, XV_OBJ_PD, XV_M_CREATE);
		xvt_new(m);
	}
	ASSERT_EQ(0, xvt_run(m, fd)) {
		TH_LOG("op %u reason %u raw %d", m->err.op, m->err.reason,
		       m->err.raw);
	}
	for (i = 0; i < XV_MAX_OPS; i++)
		handles[i] = xvt_made(m, i);
	return handles[0];
}

static void create_mrs(struct __test_metadata *_metadata, int fd, uint32_t pd,
		       void *buf, uint32_t *handles)
{
	unsigned int i;

	xvt_begin(m, 0);
	for (i = 0; i < XV_MAX_OPS; i++) {
		xvt_op(m, XV_OBJ_MR, XV_M_CREATE);
		xvt_new(m);
		xvt_u32(m, XV_GRP_OBJECT, XV_OBJECT_PD, pd);
		xvt_u64(m, XV_GRP_PARAMS, XV_PARAMS_ADDR, (uintptr_t)buf);
		xvt_u64(m, XV_GRP_PARAMS, XV_PARAMS_LENGTH, 64);
	}
	ASSERT_EQ(0, xvt_run(m, fd)) {
		TH_LOG("op %u reason %u raw %d", m->err.op, m->err.reason,
		       m->err.raw);
	}
	for (i = 0; i < XV_MAX_OPS; i++)
		handles[i] = xvt_made(m, i);
}

static void destroy_all(struct __test_metadata *_metadata, int fd,
			uint16_t type, const uint32_t *handles)
{
	unsigned int i;

	xvt_begin(m, 0);
	for (i = 0; i < XV_MAX_OPS; i++) {
		xvt_op(m, type, XV_M_DESTROY);
		xvt_handle(m, handles[i]);
	}
	ASSERT_EQ(0, xvt_run(m, fd));
}

static void query_pds(struct __test_metadata *_metadata, int fd,
		      const uint32_t *handles)
{
	struct xv_pd_info info[XV_MAX_OPS];
	unsigned int i;

	xvt_begin(m, 0);
	for (i = 0; i < XV_MAX_OPS; i++) {
		xvt_op(m, XV_OBJ_PD, XV_M_QUERY);
		xvt_handle(m, handles[i]);
		xvt_out(m, &info[i], sizeof(info[i]));
	}
	ASSERT_EQ(0, xvt_run(m, fd));
}

struct costs {
	int64_t pd_create, pd_query, pd_destroy, mr_create, mr_destroy;
	int64_t parent_query, close;
};

static void least(int64_t *best, int64_t ns)
{
	if (!*best || ns < *best)
		*best = ns;
}

/* The cheapest call of some, for each operation in it. */
static void measure(struct __test_metadata *_metadata, int fd, uint32_t pd,
		    void *buf, struct costs *c)
{
	uint32_t same[XV_MAX_OPS], handles[XV_MAX_OPS];
	int64_t start;
	int i;

	for (i = 0; i < XV_MAX_OPS; i++)
		same[i] = pd;
	for (i = 0; i < SAMPLES; i++) {
		start = xvt_now();
		create_pds(_metadata, fd, handles);
		least(&c->pd_create, since(start) / XV_MAX_OPS);
		start = xvt_now();
		query_pds(_metadata, fd, handles);
		least(&c->pd_query, since(start) / XV_MAX_OPS);
		start = xvt_now();
		query_pds(_metadata, fd, same);
		least(&c->parent_query, since(start) / XV_MAX_OPS);
		start = xvt_now();
		destroy_all(_metadata, fd, XV_OBJ_PD, handles);
		least(&c->pd_destroy, since(start) / XV_MAX_OPS);
		start = xvt_now();
		create_mrs(_metadata, fd, pd, buf, handles);
		least(&c->mr_create, since(start) / XV_MAX_OPS);
		start = xvt_now();
		destroy_all(_metadata, fd, XV_OBJ_MR, handles);
		least(&c->mr_destroy, since(start) / XV_MAX_OPS);
	}
}

/* A file with so many objects: half PDs, half MRs of one PD, which it returns. */
static uint32_t fill(struct __test_metadata *_metadata, struct xvt *t,
		     unsigned int num, void *buf)
{
	uint32_t handles[XV_MAX_OPS], pd;
	unsigned int i;

	xvt_open(_metadata, t);
	pd = create_pds(_metadata, t->fd, handles);
	for (i = XV_MAX_OPS; i < num / 2; i += XV_MAX_OPS)
		create_pds(_metadata, t->fd, handles);
	for (; i < num; i += XV_MAX_OPS)
		create_mrs(_metadata, t->fd, pd, buf, handles);
	return pd;
}

static void try_size(struct __test_metadata *_metadata, unsigned int num,
		     void *buf, struct costs *c)
{
	struct xv_pd_info info;
	int64_t start;
	struct xvt t;
	uint32_t pd;

	pd = fill(_metadata, &t, num, buf);
	measure(_metadata, t.fd, pd, buf, c);
	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_PD, XV_M_QUERY);
	xvt_handle(m, pd);
	xvt_out(m, &info, sizeof(info));
	ASSERT_EQ(0, xvt_run(m, t.fd));
	EXPECT_LE(num / 2 - XV_MAX_OPS, info.num_dependents);
	EXPECT_GE(num / 2 + XV_MAX_OPS, info.num_dependents);
	/* It is held, and the one in the way is found at once. */
	xvt_begin(m, 0);
	xvt_op(m, XV_OBJ_PD, XV_M_DESTROY);
	xvt_handle(m, pd);
	EXPECT_EQ(-EBUSY, xvt_run(m, t.fd));
	EXPECT_EQ(XV_R_DEPENDENT, m->err.reason);
	start = xvt_now();
	xvt_close(&t);
	c->close = since(start) / num;
	EXPECT_EQ(0, xvt_vmpin());
}

/*
 * As many objects on many files: what is freed after a grace period falls into
 * the time of the next ones, as it does when one file has all of them.
 */
static int64_t close_few(struct __test_metadata *_metadata, unsigned int num,
			 void *buf)
{
	unsigned int files = num / FEW, i;
	struct xvt *t = calloc(files, sizeof(*t));
	int64_t start;

	ASSERT_NE(NULL, t);
	for (i = 0; i < files; i++)
		fill(_metadata, &t[i], FEW, buf);
	start = xvt_now();
	for (i = 0; i < files; i++)
		xvt_close(&t[i]);
	start = since(start);
	EXPECT_EQ(0, xvt_vmpin());
	free(t);
	return start / (files * FEW);
}

static void print_cost(struct __test_metadata *_metadata, const char *what,
		       int64_t few, int64_t many)
{
	TH_LOG("%-14s %8lld %8lld  %+6.1f %%", what, (long long)few,
	       (long long)many, few ? 100.0 * (many - few) / few : 0);
}

TEST(cost)
{
	unsigned int num = xvt_count(MANY_OBJECTS);
	struct costs few = {}, many = {};
	uint8_t *buf = xvt_map(XVT_PAGE, PROT_READ | PROT_WRITE);

	ASSERT_NE(NULL, buf);
	m = malloc(sizeof(*m));
	ASSERT_NE(NULL, m);
	/* Once for all that is done the first time only. */
	try_size(_metadata, FEW, buf, &few);
	memset(&few, 0, sizeof(few));
	try_size(_metadata, FEW, buf, &few);
	few.close = close_few(_metadata, num, buf);
	try_size(_metadata, num, buf, &many);
	TH_LOG("ns for each   %8u %8u objects", FEW, num);
	print_cost(_metadata, "pd.create", few.pd_create, many.pd_create);
	print_cost(_metadata, "pd.query", few.pd_query, many.pd_query);
	print_cost(_metadata, "of the parent", few.parent_query,
		   many.parent_query);
	print_cost(_metadata, "pd.destroy", few.pd_destroy, many.pd_destroy);
	print_cost(_metadata, "mr.create", few.mr_create, many.mr_create);
	print_cost(_metadata, "mr.destroy", few.mr_destroy, many.mr_destroy);
	print_cost(_metadata, "close", few.close, many.close);
	free(m);
	munmap(buf, XVT_PAGE);
}

TEST_HARNESS_MAIN
