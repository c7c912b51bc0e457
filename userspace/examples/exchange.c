// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The exchange of addresses over TCP: see exchange.h.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "exchange.h"

#define MSG_FORMAT	"%04x:%06x:%06x:%32s"
#define MSG_SIZE	sizeof("0000:000000:000000:" \
			       "00000000000000000000000000000000")

int fail(const char *what, int err)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
		strerror(err));
	return -1;
}

void print_address(const char *who, const struct address *a, FILE *out)
{
	char gid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, a->gid, gid, sizeof(gid));
	fprintf(out, "  %s address:  LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s\n",
		who, a->lid, a->qpn, a->psn, gid);
}

static int write_all(int fd, const void *buf, size_t len)
{
	const char *p = buf;

	while (len) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail("send to the peer", n ? errno : EPIPE);
		p += n;
		len -= n;
	}
	return 0;
}

static int read_all(int fd, void *buf, size_t len)
{
	char *p = buf;

	while (len) {
		ssize_t n = recv(fd, p, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail("receive from the peer",
				    n ? errno : ECONNRESET);
		p += n;
		len -= n;
	}
	return 0;
}

static int send_address(int fd, const struct address *me)
{
	char msg[MSG_SIZE], gid[33];
	unsigned int i;

	for (i = 0; i < 16; i++)
		snprintf(gid + 2 * i, 3, "%02x", me->gid[i]);
	snprintf(msg, sizeof(msg), MSG_FORMAT, me->lid & 0xffff,
		 me->qpn & 0xffffff, me->psn & 0xffffff, gid);
	return write_all(fd, msg, sizeof(msg));
}

static int read_address(int fd, struct address *peer)
{
	char msg[MSG_SIZE], gid[33];
	unsigned int i;

	if (read_all(fd, msg, sizeof(msg)))
		return -1;
	msg[sizeof(msg) - 1] = 0;
	if (sscanf(msg, "%x:%x:%x:%32s", &peer->lid, &peer->qpn, &peer->psn,
		   gid) != 4 || strlen(gid) != 32)
		return fail("address of the peer", EPROTO);
	for (i = 0; i < 16; i++) {
		unsigned int byte;

		if (sscanf(gid + 2 * i, "%2x", &byte) != 1)
			return fail("GID of the peer", EPROTO);
		peer->gid[i] = byte;
	}
	return 0;
}

/* Returns a connected socket or -1. */
static int tcp_connect(const struct exchange *x)
{
	const struct timespec pause = { .tv_nsec = 100 * 1000 * 1000 };
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *res, *ai;
	unsigned int tries = 50;
	char port[16];
	int fd, err, ret;

	snprintf(port, sizeof(port), "%u", x->tcp_port);
	ret = getaddrinfo(x->server, port, &hints, &res);
	if (ret) {
		fprintf(stderr, "%s: %s: %s\n",
			program_invocation_short_name, x->server,
			gai_strerror(ret));
		return -1;
	}
	/* The server may still be on its way. */
	do {
		err = ENOENT;
		for (ai = res; ai; ai = ai->ai_next) {
			fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC,
				    ai->ai_protocol);
			if (fd >= 0 &&
			    !connect(fd, ai->ai_addr, ai->ai_addrlen)) {
				freeaddrinfo(res);
				return fd;
			}
			err = errno;
			if (fd >= 0)
				close(fd);
		}
		nanosleep(&pause, NULL);
	} while (err == ECONNREFUSED && --tries);
	freeaddrinfo(res);
	return fail(x->server, err);
}

static int tcp_accept(const struct exchange *x)
{
	struct sockaddr_in6 addr = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(x->tcp_port),
		.sin6_addr = in6addr_any,
	};
	struct sockaddr_in addr4 = {
		.sin_family = AF_INET,
		.sin_port = htons(x->tcp_port),
	};
	int one = 1, zero = 0;
	int fd, conn, ret;

	fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
		ret = bind(fd, (struct sockaddr *)&addr, sizeof(addr));
	} else {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			return fail("socket", errno);
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		ret = bind(fd, (struct sockaddr *)&addr4, sizeof(addr4));
	}
	if (ret || listen(fd, 1)) {
		fail("listen", errno);
		close(fd);
		return -1;
	}
	do {
		conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	} while (conn < 0 && errno == EINTR);
	if (conn < 0)
		fail("accept", errno);
	close(fd);
	return conn;
}

static int send_all(int fd, const struct exchange *x)
{
	unsigned int i;

	for (i = 0; i < x->num; i++)
		if (send_address(fd, &x->me[i]))
			return -1;
	return 0;
}

static int receive_all(int fd, const struct exchange *x)
{
	unsigned int i;

	for (i = 0; i < x->num; i++)
		if (read_address(fd, &x->peer[i]))
			return -1;
	return 0;
}

int exchange_addresses(const struct exchange *x)
{
	char done[sizeof("done")];
	int fd, ret = -1;

	fd = x->server ? tcp_connect(x) : tcp_accept(x);
	if (fd < 0)
		return -1;
	if (x->server) {
		if (!send_all(fd, x) && !receive_all(fd, x) &&
		    !x->connect(x->arg) &&
		    !write_all(fd, "done", sizeof(done)))
			ret = 0;
	} else {
		if (!receive_all(fd, x) && !x->connect(x->arg) &&
		    !send_all(fd, x) && !read_all(fd, done, sizeof(done)))
			ret = 0;
	}
	close(fd);
	return ret;
}
