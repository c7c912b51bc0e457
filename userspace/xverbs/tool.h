/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * xverbs: what its commands share.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _TOOL_H
#define _TOOL_H

#include <json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* --json was given */
extern bool json;

void print_usage(FILE *out);

/* output.c: each fail function says what went wrong and returns exit status 1 */
int fail(const char *what, int err);
int fail_open(const char *name, int err);
void print_json(struct json_object *o);
void put_str(struct json_object *o, const char *key, const char *val);
void put_num(struct json_object *o, const char *key, uint64_t val);
struct json_object *put_list(struct json_object *o, const char *key);

/* The commands, a file each: argv[0] is the command's name; exit status. */
int cmd_dev(int argc, char **argv);
int cmd_abi(int argc, char **argv);
int cmd_obj(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_monitor(int argc, char **argv);

#endif /* _TOOL_H */
