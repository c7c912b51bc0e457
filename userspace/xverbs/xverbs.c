// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * xverbs: look at devices, and at what their kernel module can do.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * Text is for people and may change; JSON is the stable form.
 */
#include <getopt.h>
#include <string.h>
#include <xverbs.h>
#include "tool.h"

bool json;

static const struct command {
	const char *name;
	const char *args;
	const char *help;
	int max_args;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "status", "", "is the module loaded, and which devices are there",
	  0, cmd_status },
	{ "dev", "[DEVICE]", "devices, their nodes and limits", 1, cmd_dev },
	{ "obj", "[PID]", "open files and the objects of each", 1, cmd_obj },
	{ "abi", "[DEVICE]", "objects, methods, attributes and reasons", 1,
	  cmd_abi },
	{ "monitor", "[DEVICE]", "events as they come; -c COUNT, -t SECONDS end it",
	  6, cmd_monitor },
};

#define NUM_COMMANDS	ARRAY_SIZE(commands)

void print_usage(FILE *out)
{
	unsigned int i;

	fprintf(out, "usage: xverbs [-j | --json] COMMAND\n"
		"       xverbs -V | --version\n"
		"       xverbs -h | --help | help\n\n");
	for (i = 0; i < NUM_COMMANDS; i++)
		fprintf(out, "  %-7s %-9s %s\n", commands[i].name,
			commands[i].args, commands[i].help);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	unsigned int i;
	int c;

	while ((c = getopt_long(argc, argv, "+jVh", options, NULL)) >= 0) {
		switch (c) {
		case 'j':
			json = true;
			break;
		case 'V':
			printf("xverbs %u.%u\n", XV_VERSION_MAJOR,
			       XV_VERSION_MINOR);
			return 0;
		case 'h':
			print_usage(stdout);
			return 0;
		default:
			print_usage(stderr);
			return 2;
		}
	}
	argc -= optind;
	argv += optind;
	if (argc && !strcmp(argv[0], "help")) {
		print_usage(stdout);
		return 0;
	}
	for (i = 0; argc && i < NUM_COMMANDS; i++) {
		if (strcmp(argv[0], commands[i].name))
			continue;
		if (argc - 1 > commands[i].max_args)
			break;
		return commands[i].run(argc, argv);
	}
	print_usage(stderr);
	return 2;
}
