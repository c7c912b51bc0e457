// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Run the fuzz target over files, without a fuzzer. Speaks TAP.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * usage: replay DIRECTORY
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

int main(int argc, char **argv)
{
	static uint8_t buf[1 << 17];
	struct dirent **files;
	int i, n;

	if (argc != 2)
		return 2;
	n = scandir(argv[1], &files, visible, alphasort);
	if (n <= 0)
		return 1;
	printf("1..1\n");
	for (i = 0; i < n; i++) {
		char path[512];
		size_t len;
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", argv[1], files[i]->d_name);
		f = fopen(path, "rb");
		if (!f)
			return 1;
		len = fread(buf, 1, sizeof(buf), f);
		fclose(f);
		LLVMFuzzerTestOneInput(buf, len);
		free(files[i]);
	}
	free(files);
	printf("ok 1 - corpus of %d files\n", n);
	return 0;
}
