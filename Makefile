# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# For people; the kernel's build system reads the Kbuild file beside it.  "make help" says what
# there is.

top := $(CURDIR)

# the build tree of a kernel: the newest installed headers unless said otherwise
KDIR ?= $(lastword $(shell ls -d /usr/src/linux-headers-*-amd64 2>/dev/null | \
	grep -v -e -cloud- -e -rt- -e -common | sort -V))

PREFIX ?= /usr
VM := selftests/vm/run
have_userspace := $(wildcard userspace/Makefile)
have_host := $(wildcard selftests/host/Makefile)

all: module userspace selftests

# the default kernel's modules also under a name without a version
module: | build
	@[ -n "$(KDIR)" ] || { echo "no kernel headers; see scripts/deps, or say KDIR=" >&2; exit 1; }
	@out=$$(scripts/module $(KDIR)) && \
		ln -sf $$out/drivers/infiniband/xverbs/xverbs.ko build/xverbs.ko

# libraries and tools, and what their installation would put on a machine, for the guest
userspace: | build
ifneq ($(have_userspace),)
	@$(MAKE) -C userspace
	@rm -rf build/root
	@$(MAKE) -s -C userspace install DESTDIR=$(top)/build/root PREFIX=/usr >/dev/null
endif

selftests: userspace
	@$(MAKE) -C selftests

build:
	@mkdir -p build

# ---- checks -----------------------------------------------------------------------------------

deps:
	@scripts/deps

# builds what it needs, as all virtual machines do
demo: deps
	@selftests/demo/run

check: deps
	@scripts/check check

check-debug: deps
	@scripts/check debug

check-next: deps
	@scripts/check next

check-long: deps
	@scripts/check long

# on this machine, which must have rdma_rxe and allow to load modules
check-host: all
	@$(MAKE) -C selftests install
	@scripts/check-host

# instructions of ours and of the same by libibverbs, by turns, in one virtual machine
bench: deps
	@selftests/bench/run

bench-long: deps
	@selftests/bench/run --long
	@selftests/bench/run --long --kernel 6.12

lint: deps
	@selftests/lint/run

docs: deps
	@scripts/docs

kernel-debug: deps
	@selftests/vm/build-kernel debug

# ---- installation -----------------------------------------------------------------------------

release = $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)".*/\1/p' \
	$(KDIR)/include/generated/utsrelease.h)

install: module userspace
	install -D -m 644 build/xverbs.ko \
		$(DESTDIR)$(INSTALL_MOD_PATH)/lib/modules/$(release)/updates/xverbs.ko
	install -D -m 644 include/uapi/rdma/xverbs.h \
		$(DESTDIR)$(PREFIX)/include/rdma/xverbs.h
	install -D -m 644 scripts/60-xverbs.rules \
		$(DESTDIR)/lib/udev/rules.d/60-xverbs.rules
ifneq ($(have_userspace),)
	$(MAKE) -C userspace install DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)
endif
ifeq ($(DESTDIR)$(INSTALL_MOD_PATH),)
	depmod $(release)
endif

# the uapi header as user programs get it
headers:
	@mkdir -p build/include/rdma
	@cd $(KDIR) && sh scripts/headers_install.sh $(top)/include/uapi/rdma/xverbs.h \
		$(top)/build/include/rdma/xverbs.h

clean:
	rm -rf build selftests/build
ifneq ($(have_userspace),)
	$(MAKE) -C userspace clean
endif
ifneq ($(have_host),)
	$(MAKE) -C selftests/host clean
endif

help:
	@echo 'make               module (build/xverbs.ko), libraries and tools, selftests'
	@echo 'make demo          in a virtual machine: xverbs against stock RDMA programs'
	@echo 'make check         lint, unit tests, all selftests on Debian kernels 6.1 and 6.12'
	@echo 'make check-debug   all selftests on a kernel with KASAN, lockdep, kmemleak, faults;'
	@echo '                   builds that kernel first, half an hour the first time'
	@echo 'make check-next    all selftests on the newest kernel that Debian has, which it builds first'
	@echo 'make check-long    as above with large counts, hours; goes on where it stopped'
	@echo 'make check-host    selftests on this machine: loads rdma_rxe and xverbs.ko'
	@echo 'make bench         what things cost in instructions, beside libibverbs and librdmacm; 6.1'
	@echo 'make bench-long    the same with more objects, and on 6.12'
	@echo 'make lint          checkpatch, sparse, W=1, kernel-doc, shellcheck and own rules'
	@echo 'make docs          Documentation/ as HTML in build/docs/html; needs Sphinx'
	@echo 'make deps          are the packages there that all this needs; as root installs them'
	@echo 'make kernel-debug  the kernel of check-debug alone'
	@echo 'make install       DESTDIR, INSTALL_MOD_PATH and PREFIX are honoured'
	@echo 'make headers       build/include: the uapi header as programs include it'
	@echo 'make clean         kernels and downloads stay in the cache ($${XDG_CACHE_HOME:-~/.cache}/xverbs)'
	@echo
	@echo 'KDIR=DIR           build tree of the kernel, now $(KDIR)'
	@echo 'selftests/vm/run --help   one test, a shell or a script in a virtual machine'

.PHONY: all module userspace selftests deps demo check check-debug check-next check-long check-host \
	bench bench-long lint docs kernel-debug install headers clean help
