# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Message channels: frames, and the channel over a simulated transport.
#
#	make -C selftests/host fuzz-msg [FUZZ_TIME=60]

MSG := ../../userspace/libxvmsg

msg_cflags := $(XV_CFLAGS) -I$(MSG) -Imsg
msg_dep := $(wildcard $(MSG)/*.h msg/*.h) msg/msg.mk

progs += $(O)/test_msg_wire
extra += $(O)/test_msg_corpus

$(O)/test_msg_wire: msg/test_msg_wire.c $(MSG)/wire.c $(msg_dep) | $(O)/lib
	$(CC) $(msg_cflags) $(CFLAGS) -o $@ $(filter %.c,$^) $(cm_libs)

$(O)/replay_msg: parse/replay.c msg/fuzz.c $(MSG)/wire.c $(msg_dep) | $(O)/lib
	$(CC) $(msg_cflags) $(CFLAGS) -o $@ $(filter %.c,$^)

# a program without arguments, for the runner
$(O)/test_msg_corpus: $(O)/replay_msg
	@printf '#!/bin/sh\nexec %s/replay_msg msg/corpus\n' '$(O)' >$@
	@chmod +x $@

$(O)/fuzz_msg: msg/fuzz.c $(MSG)/wire.c $(msg_dep) | $(O)/lib
	$(CLANG) -std=gnu11 -g -O1 -I$(MSG) -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=undefined -o $@ $(filter %.c,$^)

# new inputs stay below build/; the corpus in the tree is only read
fuzz-msg: $(O)/fuzz_msg
	@mkdir -p $(O)/corpus_msg
	$(O)/fuzz_msg -max_total_time=$(FUZZ_TIME) -print_final_stats=1 -artifact_prefix=$(O)/ \
		-max_len=256 $(O)/corpus_msg msg/corpus

.PHONY: fuzz-msg
