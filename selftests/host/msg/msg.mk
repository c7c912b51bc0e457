# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Message channels: frames, and the channel over a simulated transport.
#
#	make -C selftests/host fuzz-msg [FUZZ_TIME=60]

MSG := ../../userspace/libxvmsg

msg_cflags := $(XV_CFLAGS) -Wno-override-init -I$(MSG) -Imsg
msg_dep := $(wildcard $(MSG)/*.h msg/*.h) msg/msg.mk

progs += $(O)/test_msg_wire $(O)/test_msg_chan $(O)/test_msg_fc $(O)/test_msg_peer
extra += $(O)/test_msg_corpus

$(O)/test_msg_wire: msg/test_msg_wire.c $(MSG)/wire.c $(msg_dep) | $(O)/lib
	$(CC) $(msg_cflags) $(CFLAGS) -o $@ $(filter %.c,$^) $(cm_libs)

# the channel, with allocations that can be made to fail
chan_src := $(patsubst %,$(MSG)/%.c,channel tx rx bufs fc)
chan_obj := $(chan_src:$(MSG)/%.c=$(O)/msg/%.o)

$(O)/msg/%.o: $(MSG)/%.c $(msg_dep) | $(O)/msg
	$(CC) $(msg_cflags) $(CFLAGS) -include msg/memory.h -c -o $@ $<

$(O)/msg:
	@mkdir -p $@

$(O)/test_msg_chan $(O)/test_msg_fc $(O)/test_msg_peer: $(O)/%: msg/%.c msg/sim.c $(MSG)/wire.c $(chan_obj) $(msg_dep)
	$(CC) $(msg_cflags) $(CFLAGS) -o $@ $(filter %.c %.o,$^) $(cm_libs)

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
