// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues: sizes and what is told about them.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include "xv_test.h"

FIXTURE(cq) {
	struct xvt t;
	struct xvt_snap before;
	struct xv_tx *now;
};

FIXTURE_SETUP(cq)
{
	xvt_open(_metadata, &self->t);
	self->now = xv_now(self->t.ctx);
	xvt_snap(_metadata, &self->t, &self->before);
}

FIXTURE_TEARDOWN(cq)
{
	xvt_teardown(_metadata);
	xvt_same(_metadata, &self->t, &self->before, "at the end");
	xvt_close(&self->t);
}

TEST_F(cq, sizes)
{
	static const uint32_t sizes[] = { 1, 2, 3, 127, 128, 129, 4096 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct xv_cq_info info;
		struct xv_cq cq = {};

		ASSERT_EQ(0, xv_cq_create(self->now, &cq,
				XV_OPTS(xv_cq_opts, .cqe = sizes[i])));
		EXPECT_EQ(sizes[i], cq.info.cqe);
		EXPECT_LE(sizes[i], cq.info.entries);
		EXPECT_EQ(0, cq.info.entries & (cq.info.entries - 1));
		EXPECT_GT(2 * sizes[i], cq.info.entries);
		EXPECT_EQ(0, cq.info.attached);
		EXPECT_EQ(0, cq.info.comp_vector);
		EXPECT_EQ(0, cq.info.reserved);
		EXPECT_LE(sizeof(struct xv_cq_ring) +
			  cq.info.entries * sizeof(struct xv_wc),
			  cq.info.area.length);
		EXPECT_EQ(0, cq.info.area.offset % 128);
		EXPECT_EQ(0, cq.ring->tail);
		EXPECT_EQ(0, cq.ring->head);
		EXPECT_EQ(0, cq.ring->flags);
		memset(&info, 0xAA, sizeof(info));
		ASSERT_EQ(0, xv_cq_query(self->now, &cq, &info));
		EXPECT_EQ(0, memcmp(&info, &cq.info, sizeof(info)));
		ASSERT_EQ(0, xv_cq_destroy(self->now, &cq));
	}
}

TEST_F(cq, limits)
{
	struct {
		uint32_t cqe, comp_vector;
		uint16_t attr;
		uint64_t detail;
	} bad[] = {
		{ 0, 0, XV_CAPS_CQE, 1 },
		{ XV_MAX_CQE + 1, 0, XV_CAPS_CQE, XV_MAX_CQE },
		{ ~0U, 0, XV_CAPS_CQE, XV_MAX_CQE },
		{ self->t.info.max_cqe + 1, 0, XV_CAPS_CQE,
		  self->t.info.max_cqe },
		{ 1, self->t.info.num_comp_vectors, XV_CAPS_COMP_VECTOR,
		  self->t.info.num_comp_vectors - 1 },
		{ 1, 0x7fffffff, XV_CAPS_COMP_VECTOR,
		  self->t.info.num_comp_vectors - 1 },
		{ 1, ~0U, XV_CAPS_COMP_VECTOR, 0x7fffffff },
	};
	struct xv_cq cq = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		const struct xv_error *err = xv_txn_error(self->now);
		int ret = xv_cq_create(self->now, &cq, XV_OPTS(xv_cq_opts,
				       .cqe = bad[i].cqe,
				       .comp_vector = bad[i].comp_vector));

		xvt_failed(_metadata, "limit", ret, err, EINVAL, 0,
			   XV_GRP_CAPS, bad[i].attr, XV_R_RANGE);
		/* The device's own limit may be the lower one. */
		if (bad[i].detail != XV_MAX_CQE)
			EXPECT_EQ(bad[i].detail, err->detail);
		xvt_same(_metadata, &self->t, &self->before, "limit");
	}
	ASSERT_EQ(0, xv_cq_create(self->now, &cq, XV_OPTS(xv_cq_opts,
				  .cqe = self->t.info.max_cqe,
				  .comp_vector =
				  self->t.info.num_comp_vectors - 1)));
	EXPECT_EQ(self->t.info.num_comp_vectors - 1, cq.info.comp_vector);
	ASSERT_EQ(0, xv_cq_destroy(self->now, &cq));
}

/* Areas are mapped as a whole, shared, and by the file they belong to. */
TEST_F(cq, mapping)
{
	struct xv_cq cq = {};
	struct xv_area *a = &cq.info.area;
	struct {
		const char *what;
		int64_t offset;
		int64_t length;
		int prot, flags;
	} bad[] = {
		{ "private", 0, 0, PROT_READ | PROT_WRITE, MAP_PRIVATE },
		{ "executable", 0, 0, PROT_READ | PROT_EXEC, MAP_SHARED },
		{ "too short", 0, -(int64_t)XVT_PAGE, PROT_READ, MAP_SHARED },
		{ "too long", 0, XVT_PAGE, PROT_READ, MAP_SHARED },
		{ "a part", XVT_PAGE, -(int64_t)XVT_PAGE, PROT_READ,
		  MAP_SHARED },
		{ "no such area", 1LL << 28, 0, PROT_READ, MAP_SHARED },
		{ "far away", 1LL << 50, 0, PROT_READ, MAP_SHARED },
		{ "area 0", -(1LL << 28), 0, PROT_READ, MAP_SHARED },
	};
	unsigned int i;
	struct xvt t2;
	void *p;

	ASSERT_EQ(0, xv_cq_create(self->now, &cq,
				  XV_OPTS(xv_cq_opts, .cqe = 1)));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		p = mmap(NULL, a->mmap_length + bad[i].length, bad[i].prot,
			 bad[i].flags, self->t.fd,
			 a->mmap_offset + bad[i].offset);
		EXPECT_EQ(MAP_FAILED, p) {
			TH_LOG("%s", bad[i].what);
		}
		EXPECT_EQ(EINVAL, errno);
	}
	/* Another file has no such area. */
	xvt_open(_metadata, &t2);
	p = mmap(NULL, a->mmap_length, PROT_READ, MAP_SHARED, t2.fd,
		 a->mmap_offset);
	EXPECT_EQ(MAP_FAILED, p);
	xvt_close(&t2);

	/* It cannot be made executable, and what was dropped comes back. */
	p = mmap(NULL, a->mmap_length, PROT_READ | PROT_WRITE, MAP_SHARED,
		 self->t.fd, a->mmap_offset);
	ASSERT_NE(MAP_FAILED, p);
	EXPECT_EQ(-1, mprotect(p, a->mmap_length, PROT_READ | PROT_EXEC));
	((volatile uint8_t *)p)[a->mmap_length - 1] = 7;
	EXPECT_EQ(0, madvise(p, a->mmap_length, MADV_DONTNEED));
	EXPECT_EQ(7, ((volatile uint8_t *)p)[a->mmap_length - 1]);
	/* It does not grow. */
	EXPECT_EQ(MAP_FAILED, mremap(p, a->mmap_length, 2 * a->mmap_length,
				     MREMAP_MAYMOVE));
	EXPECT_EQ(0, munmap(p, a->mmap_length));
	ASSERT_EQ(0, xv_cq_destroy(self->now, &cq));
}

/* Rings do not lie on each other. */
TEST_F(cq, rings_are_apart)
{
	struct xv_cq cq[40] = {};
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(cq); i++)
		ASSERT_EQ(0, xv_cq_create(self->now, &cq[i],
				XV_OPTS(xv_cq_opts, .cqe = 1 + i * 7)));
	for (i = 0; i < ARRAY_SIZE(cq); i++)
		for (k = 0; k < i; k++) {
			struct xv_area *a = &cq[i].info.area;
			struct xv_area *b = &cq[k].info.area;

			EXPECT_TRUE(a->mmap_offset != b->mmap_offset ||
				    a->offset + a->length <= b->offset ||
				    b->offset + b->length <= a->offset);
		}
	for (i = 0; i < ARRAY_SIZE(cq); i++)
		ASSERT_EQ(0, xv_cq_destroy(self->now, &cq[i]));
}

TEST_HARNESS_MAIN
