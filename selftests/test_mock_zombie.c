// SPDX-License-Identifier: GPL-2.0
/*
 * A driver that does not destroy what it is told to.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include "xv_mock.h"

FIXTURE(zombie) {
	struct xvm m;
	struct xv_ah ah;
};

typedef FIXTURE_DATA(zombie) fixture;

FIXTURE_SETUP(zombie)
{
	xvm_setup(_metadata, &self->m);
	ASSERT_EQ(0, xv_ah_create(xv_now(self->m.t.ctx), &self->ah,
				  XV_OPTS(xv_ah_opts, .pd = &self->m.pd,
					  .lid = 0x22)));
}

FIXTURE_TEARDOWN(zombie)
{
	xvm_teardown(_metadata, &self->m);
}

static const char *const destroys[] = {
	"destroy_ah", "destroy_qp", "dereg_mr", "destroy_cq", "dealloc_pd",
};

static int refuse(const char *verb, unsigned int count)
{
	char knob[64];

	snprintf(knob, sizeof(knob), "verbs/%s", verb);
	return count ? xvm_set(knob, "fail %d %u", EBUSY, count) :
		       xvm_set(knob, "reset");
}

static int refuse_all(unsigned int count)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(destroys); i++)
		ret |= refuse(destroys[i], count);
	return ret;
}

/* The file of another is opened and closed: zombies are tried again. */
static void somebody_closes(struct __test_metadata *_metadata)
{
	struct xv_ctx *ctx;

	ASSERT_EQ(0, xv_open(XVM_DEVICE, 0, &ctx));
	xv_close(ctx);
}

static int destroy(fixture *self, unsigned int which)
{
	struct xv_tx *now = xv_now(self->m.t.ctx);

	switch (which) {
	case 0:
		return xv_ah_destroy(now, &self->ah);
	case 1:
		return xv_qp_destroy(now, &self->m.qp);
	case 2:
		return xv_mr_destroy(now, &self->m.mr);
	case 3:
		return xv_cq_destroy(now, &self->m.cq);
	default:
		return xv_pd_destroy(now, &self->m.pd);
	}
}

static uint32_t handle_of(fixture *self, unsigned int which)
{
	const struct xv_obj *objs[] = {
		&self->ah.obj, &self->m.qp.obj, &self->m.mr.obj,
		&self->m.cq.obj, &self->m.pd.obj,
	};

	return objs[which]->handle;
}

static int query_raw(struct xvm *m, uint16_t object, uint32_t handle)
{
	static struct xvt_msg msg;
	uint8_t info[256];

	xvt_begin(&msg, 0);
	xvt_op(&msg, object, XV_M_QUERY);
	xvt_handle(&msg, handle);
	xvt_out(&msg, info, sizeof(info));
	return xvt_run(&msg, m->t.fd);
}

/* Each kind by itself, refused once, twice and three times. */
TEST_F(zombie, each_kind)
{
	static const uint16_t types[] = {
		XV_OBJ_AH, XV_OBJ_QP, XV_OBJ_MR, XV_OBJ_CQ, XV_OBJ_PD,
	};
	struct xvm *m = &self->m;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(destroys); i++) {
		uint32_t handle = handle_of(self, i);

		ASSERT_EQ(0, refuse(destroys[i], 3));
		/* The call has passed the point of no return: it succeeds. */
		EXPECT_EQ(0, destroy(self, i)) {
			TH_LOG("%s", destroys[i]);
		}
		EXPECT_EQ(1, xvm_zombies("zombies"));
		EXPECT_EQ(-ENOENT, query_raw(m, types[i], handle));
		for (j = 0; j < 2; j++) {
			somebody_closes(_metadata);
			EXPECT_EQ(1, xvm_zombies("zombies")) {
				TH_LOG("%s, close %u", destroys[i], j);
			}
		}
		somebody_closes(_metadata);
		EXPECT_EQ(0, xvm_zombies("zombies"));
		ASSERT_EQ(0, refuse(destroys[i], 0));
	}
	EXPECT_EQ(0, xvm_leaked());
}

/* Parents of a zombie stay, and say why; when asked the driver is asked too. */
TEST_F(zombie, parents_stay)
{
	struct xvm *m = &self->m;
	struct xv_tx *now = xv_now(m->t.ctx);
	struct xv_pd_info info;

	ASSERT_EQ(0, refuse("destroy_qp", 3));
	ASSERT_EQ(0, xv_qp_destroy(now, &m->qp));
	EXPECT_EQ(-EBUSY, xv_cq_destroy(now, &m->cq));
	EXPECT_EQ(XV_R_ZOMBIE_DEPENDENT, xv_txn_error(now)->reason);
	EXPECT_EQ(XV_OBJ_QP, xv_txn_error(now)->object);
	EXPECT_EQ(0, xv_txn_error(now)->handle);
	EXPECT_EQ(0, xv_pd_query(now, &m->pd, &info));
	EXPECT_EQ(1, xvm_get("objects", "qp"));
	EXPECT_EQ(1, xvm_get("objects", "cq"));
	/* Refused a third time, then not any more: the CQ may go. */
	EXPECT_EQ(-EBUSY, xv_cq_destroy(now, &m->cq));
	EXPECT_EQ(0, xvm_get("verbs/destroy_cq", "calls"));
	EXPECT_EQ(0, xv_cq_destroy(now, &m->cq));
	EXPECT_EQ(4, xvm_calls("destroy_qp"));
	EXPECT_EQ(0, xvm_get("objects", "qp"));
	EXPECT_EQ(0, xvm_zombies("zombies"));
}

/* A set whose first member stays: all that it depends on stay with it. */
TEST_F(zombie, in_a_set)
{
	struct xvm *m = &self->m;
	struct xv_tx *tx;

	ASSERT_EQ(0, refuse("destroy_qp", 2));
	ASSERT_EQ(0, xv_txn_begin(m->t.ctx, 0, &tx));
	xv_pd_destroy(tx, &m->pd);
	xv_cq_destroy(tx, &m->cq);
	xv_qp_destroy(tx, &m->qp);
	xv_mr_destroy(tx, &m->mr);
	xv_ah_destroy(tx, &self->ah);
	EXPECT_EQ(0, xv_txn_commit(tx, NULL));
	xv_txn_free(tx);
	/* QP, CQ and PD; nobody has asked the driver for the parents. */
	EXPECT_EQ(3, xvm_zombies("zombies"));
	EXPECT_EQ(0, xvm_calls("destroy_cq"));
	EXPECT_EQ(0, xvm_calls("dealloc_pd"));
	EXPECT_EQ(0, xvm_get("objects", "mr"));
	EXPECT_EQ(0, xvm_get("objects", "ah"));
	somebody_closes(_metadata);
	EXPECT_EQ(3, xvm_zombies("zombies"));
	somebody_closes(_metadata);
	EXPECT_EQ(0, xvm_zombies("zombies"));
}

/* What a failed call can not take back. */
TEST_F(zombie, of_an_abort)
{
	struct xvm *m = &self->m;
	struct xvt_snap before, after;
	struct xv_tx *tx;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct xv_qp qp = {};
		struct xv_cq cq = {};
		struct xv_pd pd = {};
		struct xv_mr mr = {};

		xvt_snap(_metadata, &m->t, &before);
		ASSERT_EQ(0, refuse_all(i ? 100 : 1));
		ASSERT_EQ(0, xvm_verb("modify_qp", "fail %d 1 1", EINVAL));
		ASSERT_EQ(0, xv_txn_begin(m->t.ctx, 0, &tx));
		xv_pd_create(tx, &pd);
		xv_mr_create(tx, &mr, XV_OPTS(xv_mr_opts, .pd = &pd,
					      .addr = m->buf, .length = 64));
		xv_cq_create(tx, &cq, XV_OPTS(xv_cq_opts, .cqe = 8));
		xv_qp_create(tx, &qp, XV_OPTS(xv_qp_opts, .pd = &pd,
					      .send_cq = &cq, .send_wr = 2,
					      .recv_wr = 2,
					      .connect = xvm_peer()));
		EXPECT_EQ(-EIO, xv_txn_commit(tx, NULL));
		EXPECT_EQ(3, xv_txn_error(tx)->op);
		EXPECT_EQ(EINVAL, xv_txn_error(tx)->raw);
		xv_txn_free(tx);
		EXPECT_EQ(4, xvm_zombies("zombies"));
		/* They have handles no more, but count. */
		xvt_snap(_metadata, &m->t, &after);
		EXPECT_EQ(before.objects[XV_OBJ_QP] + 1,
			  after.objects[XV_OBJ_QP]);
		ASSERT_EQ(0, refuse_all(0));
		somebody_closes(_metadata);
		EXPECT_EQ(0, xvm_zombies("zombies"));
		xvt_same(_metadata, &m->t, &before, "abort");
	}
}

/* The file is gone, its zombies are not. */
TEST_F(zombie, of_a_close)
{
	struct xvm *m = &self->m;
	unsigned int i;

	ASSERT_EQ(0, refuse_all(2));
	xvt_close(&m->t);
	EXPECT_EQ(5, xvm_zombies("zombies"));
	/* An event queue is still there, and at its end. */
	EXPECT_EQ(0, xv_event_read(&m->eq, &(struct xv_event){}, 1));
	for (i = 0; i < 10 && xvm_zombies("zombies"); i++)
		somebody_closes(_metadata);
	/* Parents are asked when their children are gone. */
	EXPECT_LE(2, i);
	EXPECT_EQ(0, xvm_zombies("zombies"));
	EXPECT_EQ(0, xvm_get("objects", "qp"));
}

TEST_F(zombie, of_a_process_that_died)
{
	pid_t pid;
	int status;

	/* Its own close tries a second time. */
	ASSERT_EQ(0, refuse_all(2));
	pid = fork();
	if (!pid) {
		struct xv_ctx *ctx;
		struct xv_pd pd = {};
		struct xv_cq cq = {};

		if (xv_open(XVM_DEVICE, 0, &ctx))
			_exit(1);
		xv_pd_create(xv_now(ctx), &pd);
		xv_cq_create(xv_now(ctx), &cq, XV_OPTS(xv_cq_opts, .cqe = 8));
		kill(getpid(), SIGKILL);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	ASSERT_TRUE(xvt_wait_until(xvm_zombies("zombies") == 2, 5000));
	EXPECT_EQ(2, xvm_get("objects", "cq"));
	somebody_closes(_metadata);
	EXPECT_EQ(0, xvm_zombies("zombies"));
	EXPECT_EQ(1, xvm_get("objects", "cq"));
	ASSERT_EQ(0, refuse_all(0));
}

/* Removal is their last chance; nothing keeps the module then. */
TEST_F(zombie, at_removal)
{
	struct xvm *m = &self->m;
	struct xvt_msg *msg = malloc(sizeof(*msg));

	ASSERT_NE(NULL, msg);
	ASSERT_EQ(0, refuse_all(0));
	ASSERT_EQ(0, refuse("destroy_qp", 1000));
	ASSERT_EQ(0, xv_qp_destroy(xv_now(m->t.ctx), &m->qp));
	ASSERT_EQ(0, refuse("dereg_mr", 1000));
	ASSERT_EQ(0, xv_mr_destroy(xv_now(m->t.ctx), &m->mr));
	somebody_closes(_metadata);
	EXPECT_EQ(2, xvm_zombies("zombies"));
	ASSERT_EQ(0, xvm_set("plugged", "0"));
	EXPECT_EQ(0, xvm_zombies("zombies"));
	EXPECT_EQ(0, xvm_get("objects", "qp"));
	EXPECT_EQ(0, xvm_get("objects", "pd"));
	EXPECT_EQ(0, xvm_get("objects", "leaked"));
	/* Handles of parents can be given back. */
	xvt_begin(msg, 0);
	xvt_op(msg, XV_OBJ_PD, XV_M_DESTROY);
	xvt_handle(msg, m->pd.obj.handle);
	xvt_op(msg, XV_OBJ_AH, XV_M_DESTROY);
	xvt_handle(msg, self->ah.obj.handle);
	xvt_op(msg, XV_OBJ_CQ, XV_M_DESTROY);
	xvt_handle(msg, m->cq.obj.handle);
	EXPECT_EQ(0, xvt_run(msg, m->t.fd));
	free(msg);
}

/* And those of a file that was closed before. */
TEST_F(zombie, of_a_closed_file_at_removal)
{
	ASSERT_EQ(0, refuse_all(1000));
	xvt_close(&self->m.t);
	EXPECT_EQ(5, xvm_zombies("zombies"));
	ASSERT_EQ(0, xvm_set("plugged", "0"));
	EXPECT_EQ(0, xvm_zombies("zombies"));
	EXPECT_EQ(0, xvm_get("objects", "pd"));
	EXPECT_EQ(0, xvm_get("objects", "leaked"));
}

TEST_HARNESS_MAIN
