// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Echo over message channels: a server that waits with epoll(7) for its channels
 * and for a signal, and a client that sends lines of its standard input.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * usage: xvm_echo -s ADDRESS PORT	(until SIGINT or SIGTERM)
 *        xvm_echo ADDRESS PORT
 *
 * A server must not let one client fill its memory: what can not be sent back at
 * once is refused by the queue, and that client is cut off.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <xvmsg.h>

static struct xvm_ctx *ctx;
static unsigned int to_come;	/* client: lines that were not echoed yet */
static bool ended;
static int result;

static int failed(const char *what, int ret)
{
	const char *text = ctx ? xvm_error_text(ctx) : "";

	fprintf(stderr, "xvm_echo: %s: %s\n", what,
		*text ? text : strerror(-ret));
	return 1;
}

/* ---- server ------------------------------------------------------------ */

static void echo(struct xvm_channel *ch, const void *msg, size_t len,
		 void *user)
{
	int ret = xvm_send(ch, msg, len, NULL);

	(void)user;
	/* It sends and does not read, or it is leaving. */
	if (ret && ret != -ESHUTDOWN)
		xvm_abort(ch);
}

static void client_gone(struct xvm_channel *ch, int err, void *user)
{
	(void)user;
	printf("client gone: %s\n", err ? strerror(-err) : "closed");
	xvm_destroy(ch);
}

static void welcome(struct xvm_listener *l, struct xvm_request *req,
		    void *user)
{
	static const struct xvm_ops ops = {
		.received = echo,
		.closed = client_gone,
	};
	struct xvm_channel *ch;
	int ret;

	(void)l;
	(void)user;
	ret = xvm_accept(req, NULL, &ops, NULL, &ch);
	/* If it can not be served it is refused, and others may be served. */
	if (ret)
		failed("accept", ret);
}

static int serve(const struct sockaddr *addr)
{
	struct epoll_event ev = { .events = EPOLLIN };
	struct xvm_listener *l;
	int epfd, sigfd, ret;
	sigset_t set;

	ret = xvm_listen(ctx, XVM_OPTS(xvm_listen_opts, .addr = addr),
			 welcome, NULL, &l);
	if (ret)
		return failed("listen", ret);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigfd = signalfd(-1, &set, SFD_CLOEXEC);
	epfd = epoll_create1(EPOLL_CLOEXEC);
	ev.data.fd = sigfd;
	if (epoll_ctl(epfd, EPOLL_CTL_ADD, sigfd, &ev))
		return failed("epoll", -errno);
	ev.data.fd = xvm_fd(ctx);
	if (epoll_ctl(epfd, EPOLL_CTL_ADD, xvm_fd(ctx), &ev))
		return failed("epoll", -errno);
	printf("ready\n");
	while (epoll_wait(epfd, &ev, 1, -1) == 1 && ev.data.fd != sigfd) {
		ret = xvm_dispatch(ctx);
		if (ret)
			return failed("dispatch", ret);
	}
	close(epfd);
	close(sigfd);
	return 0;
}

/* ---- client ------------------------------------------------------------ */

static void print(struct xvm_channel *ch, const void *msg, size_t len,
		  void *user)
{
	(void)user;
	printf("%.*s", (int)len, (const char *)msg);
	if (!--to_come)
		xvm_shutdown(ch, 0);
}

static void server_gone(struct xvm_channel *ch, int err, void *user)
{
	(void)ch;
	(void)user;
	if (err)
		result = failed("connection", err);
	ended = true;
}

static int talk(const struct sockaddr *addr)
{
	static const struct xvm_ops ops = {
		.received = print,
		.closed = server_gone,
	};
	struct epoll_event ev = { .events = EPOLLIN };
	struct xvm_channel *ch;
	char line[1024];
	int epfd, ret;

	ret = xvm_connect(ctx, XVM_OPTS(xvm_connect_opts, .dst = addr), &ops,
			  NULL, &ch);
	if (ret)
		return failed("connect", ret);
	epfd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_ctl(epfd, EPOLL_CTL_ADD, xvm_fd(ctx), &ev))
		return failed("epoll", -errno);
	/* As many as the queue takes: it need not be connected for that. */
	while (fgets(line, sizeof(line), stdin)) {
		ret = xvm_send(ch, line, strlen(line), NULL);
		if (ret)
			return failed("send", ret);
		to_come++;
	}
	if (!to_come)
		xvm_shutdown(ch, 0);
	while (!ended) {
		if (epoll_wait(epfd, &ev, 1, -1) != 1)
			continue;
		ret = xvm_dispatch(ctx);
		if (ret)
			return failed("dispatch", ret);
	}
	close(epfd);
	return result;
}

int main(int argc, char **argv)
{
	bool server = argc == 4 && !strcmp(argv[1], "-s");
	struct sockaddr_in addr = { .sin_family = AF_INET };
	int ret;

	if (argc != 3 + server ||
	    inet_pton(AF_INET, argv[argc - 2], &addr.sin_addr) != 1) {
		fprintf(stderr, "usage: xvm_echo [-s] ADDRESS PORT\n");
		return 2;
	}
	addr.sin_port = htons(atoi(argv[argc - 1]));
	setvbuf(stdout, NULL, _IOLBF, 0);
	ret = xvm_open(NULL, 0, &ctx);
	if (ret)
		return failed("no device: is xverbs.ko loaded?", ret);
	ret = server ? serve((struct sockaddr *)&addr) :
		       talk((struct sockaddr *)&addr);
	xvm_close(ctx);
	return ret;
}
