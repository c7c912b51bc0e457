/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What an ib_client tells about its character device.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * ib_client.get_nl_info() is public, but the struct that it fills is declared
 * in a private header of the RDMA core. The layout is the same from 6.1 to 7.2.
 */
#ifndef _XV_COMPAT_NL_INFO_H
#define _XV_COMPAT_NL_INFO_H

#include <linux/types.h>

struct device;
struct sk_buff;

/**
 * struct ib_client_nl_info - answer to RDMA_NLDEV_CMD_GET_CHARDEV
 * @nl_msg: the message, for attributes of the client's own
 * @cdev: the character device; the core drops the reference
 * @port: port that was asked for, or -1
 * @abi: ABI version of the client
 */
struct ib_client_nl_info {
	struct sk_buff *nl_msg;
	struct device *cdev;
	u32 port;
	u64 abi;
};

#endif /* _XV_COMPAT_NL_INFO_H */
