// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * xvmock: connections, as the connection manager of iWARP sees them.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * There is one listener and one connection at a time. No peer exists: a test
 * says what it does. What was begun when the queue pair fails is ended, since
 * the connection manager waits for that.
 */
#include <linux/inet.h>
#include <linux/string.h>
#include <rdma/iw_cm.h>
#include "mock.h"

/* How far the connection is. */
enum mock_cm_state {
	MOCK_CM_NONE,
	MOCK_CM_CONNECTING,	/* the peer's answer is due */
	MOCK_CM_ACCEPTED,	/* ESTABLISHED is due */
	MOCK_CM_UP,
};

static struct iw_cm_id *listener;
static struct iw_cm_id *conn;
static struct mock_qp *conn_qp;
static enum mock_cm_state conn_state;
static DEFINE_SPINLOCK(cm_lock);	/* all of these; inside of nothing */

static void raise(struct iw_cm_id *id, enum iw_cm_event_type type, int status)
{
	struct iw_cm_event event = {
		.event = type, .status = status, .ird = 1, .ord = 1,
		.local_addr = id->local_addr, .remote_addr = id->remote_addr,
	};

	id->event_handler(id, &event);
}

/* The connection, if it is in that state; it goes to the next one. */
static struct iw_cm_id *take(enum mock_cm_state state, enum mock_cm_state next)
{
	struct iw_cm_id *id = NULL;

	spin_lock_irq(&cm_lock);
	if (conn_state == state) {
		id = conn;
		conn_state = next;
		if (next == MOCK_CM_NONE) {
			conn = NULL;
			conn_qp = NULL;
		}
	}
	spin_unlock_irq(&cm_lock);
	return id;
}

static int begin(struct iw_cm_id *id, u32 qpn, enum mock_cm_state state)
{
	struct ib_qp *ibqp = mock_get_qp(id->device, qpn);
	int ret = -EBUSY;

	if (!ibqp)
		return -EINVAL;
	spin_lock_irq(&cm_lock);
	if (conn_state == MOCK_CM_NONE) {
		conn = id;
		conn_qp = to_qp(ibqp);
		conn_state = state;
		ret = 0;
	}
	spin_unlock_irq(&cm_lock);
	if (!ret)
		id->add_ref(id);
	return ret;
}

static void end(struct iw_cm_id *id, enum iw_cm_event_type type, int status)
{
	if (!id)
		return;
	raise(id, type, status);
	id->rem_ref(id);
}

/* ---- for the connection manager ---- */

int mock_iw_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	return begin(id, param->qpn, MOCK_CM_CONNECTING);
}

int mock_iw_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	int ret = begin(id, param->qpn, MOCK_CM_ACCEPTED);

	if (!ret)
		mock_qp_up(conn_qp);
	return ret;
}

int mock_iw_reject(struct iw_cm_id *id, const void *data, u8 len)
{
	return 0;
}

int mock_iw_create_listen(struct iw_cm_id *id, int backlog)
{
	spin_lock_irq(&cm_lock);
	listener = id;
	spin_unlock_irq(&cm_lock);
	id->add_ref(id);
	return 0;
}

int mock_iw_destroy_listen(struct iw_cm_id *id)
{
	spin_lock_irq(&cm_lock);
	listener = NULL;
	spin_unlock_irq(&cm_lock);
	id->rem_ref(id);
	return 0;
}

/**
 * mock_cm_down - a queue pair has failed or is destroyed
 * @qp: the queue pair
 */
void mock_cm_down(struct mock_qp *qp)
{
	struct iw_cm_id *id;

	if (READ_ONCE(conn_qp) != qp)
		return;
	end(take(MOCK_CM_CONNECTING, MOCK_CM_NONE), IW_CM_EVENT_CONNECT_REPLY,
	    -ECONNRESET);
	id = take(MOCK_CM_ACCEPTED, MOCK_CM_UP);
	if (id)
		raise(id, IW_CM_EVENT_ESTABLISHED, 0);
	end(take(MOCK_CM_UP, MOCK_CM_NONE), IW_CM_EVENT_CLOSE, 0);
}

/* ---- for a test ---- */

static int request(void)
{
	struct iw_cm_event event = { .event = IW_CM_EVENT_CONNECT_REQUEST,
				     .ird = 1, .ord = 1 };
	struct iw_cm_id *id;

	spin_lock_irq(&cm_lock);
	id = listener;
	spin_unlock_irq(&cm_lock);
	if (!id)
		return -ENOTCONN;
	event.local_addr = id->local_addr;
	event.remote_addr = id->local_addr;
	((struct sockaddr_in *)&event.remote_addr)->sin_port = htons(9);
	return id->event_handler(id, &event);
}

static int reply(int err)
{
	struct mock_qp *qp = READ_ONCE(conn_qp);
	struct iw_cm_id *id;

	if (err) {
		id = take(MOCK_CM_CONNECTING, MOCK_CM_NONE);
		end(id, IW_CM_EVENT_CONNECT_REPLY, -err);
		return id ? 0 : -ENOTCONN;
	}
	id = take(MOCK_CM_CONNECTING, MOCK_CM_UP);
	if (!id)
		return -ENOTCONN;
	mock_qp_up(qp);
	raise(id, IW_CM_EVENT_CONNECT_REPLY, 0);
	return 0;
}

/**
 * mock_cm - a test says what the peer or the connection manager does
 * @text: "request", "reply ERRNO", "established" or "close"
 *
 * Return: 0 or a negative errno; ENOTCONN: there is nothing to which it could
 * happen.
 */
int mock_cm(const char *text)
{
	struct iw_cm_id *id;
	int err;

	if (sysfs_streq(text, "request"))
		return request();
	if (sscanf(text, "reply %d", &err) == 1)
		return reply(err);
	if (sysfs_streq(text, "established")) {
		id = take(MOCK_CM_ACCEPTED, MOCK_CM_UP);
		if (id)
			raise(id, IW_CM_EVENT_ESTABLISHED, 0);
		return id ? 0 : -ENOTCONN;
	}
	if (sysfs_streq(text, "close")) {
		id = take(MOCK_CM_UP, MOCK_CM_NONE);
		end(id, IW_CM_EVENT_CLOSE, 0);
		return id ? 0 : -ENOTCONN;
	}
	return -EINVAL;
}
