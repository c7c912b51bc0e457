/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What an open device file owns.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#ifndef _XV_FILE_H
#define _XV_FILE_H

struct xv_dev;
struct xv_file;

struct xv_file *xv_file_new(struct xv_dev *dev);

#endif /* _XV_FILE_H */
