/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The exchange of addresses over TCP, as the programs of rdma-core do it.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Each side tells "LID:QPN:PSN:GID" of its queue pairs in hexadecimal, the client
 * first; the server connects its queue pairs before it answers; then the client
 * says "done".
 */
#ifndef _EXCHANGE_H
#define _EXCHANGE_H

#include <stdint.h>
#include <stdio.h>

struct address {
	unsigned int lid;
	unsigned int qpn;
	unsigned int psn;
	uint8_t gid[16];
};

/**
 * struct exchange - an exchange
 * @server: name of the host to connect to; NULL: wait for a client
 * @tcp_port: port there, or here
 * @num: addresses of each side
 * @me: ours
 * @peer: gets those of the other side
 * @connect: is called as soon as they are known; returns 0 or -1
 * @arg: argument of @connect
 */
struct exchange {
	const char *server;
	unsigned int tcp_port;
	unsigned int num;
	const struct address *me;
	struct address *peer;
	int (*connect)(void *arg);
	void *arg;
};

/* Returns 0, or -1 after a message on standard error. */
int exchange_addresses(const struct exchange *x);

/* A message on standard error, with the program's name; returns -1. */
int fail(const char *what, int err);

void print_address(const char *who, const struct address *a, FILE *out);

#endif /* _EXCHANGE_H */
