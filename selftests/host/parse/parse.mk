# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The module's parser and tables, built here: unit tests, replay of the corpus, fuzzer.
#
#	make -C selftests/host fuzz [FUZZ_TIME=60]

CORE := ../../drivers/infiniband/xverbs/core
FUZZ_TIME ?= 60

parse_cflags := -std=gnu11 -Wall -Wextra -Wno-sign-compare -Wno-missing-field-initializers \
	-Wno-pointer-arith -g -O1 -Iinclude -Iparse -I$(CORE) -I../../include/uapi
parse_src := $(CORE)/parse.c $(CORE)/spec.c parse/tables.c
parse_dep := $(parse_src) $(wildcard $(CORE)/*.h parse/*.h include/linux/*.h \
	../../include/uapi/rdma/*.h) parse/parse.mk

progs += $(O)/test_parse
extra += $(O)/test_corpus

$(O)/test_parse: parse/test_parse.c $(parse_dep) | $(O)/lib
	$(CC) $(parse_cflags) $(SAN) $(CFLAGS) -o $@ $< $(parse_src) $(cm_libs)

$(O)/replay: parse/replay.c parse/fuzz.c $(parse_dep) | $(O)/lib
	$(CC) $(parse_cflags) $(SAN) $(CFLAGS) -o $@ $< parse/fuzz.c $(parse_src)

# a program without arguments, for the runner
$(O)/test_corpus: $(O)/replay
	@printf '#!/bin/sh\nexec %s/replay parse/corpus\n' '$(O)' >$@
	@chmod +x $@

$(O)/fuzz: parse/fuzz.c $(parse_dep) | $(O)/lib
	$(CLANG) $(parse_cflags) -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=undefined -o $@ $< $(parse_src)

# new inputs stay below build/; the corpus in the tree is only read
fuzz: $(O)/fuzz
	@mkdir -p $(O)/corpus
	$(O)/fuzz -max_total_time=$(FUZZ_TIME) -print_final_stats=1 -artifact_prefix=$(O)/ \
		$(O)/corpus parse/corpus

.PHONY: fuzz
