/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The only place that knows kernel versions; included before everything else in every file of
 * the module.
 */
#ifndef XVERBS_COMPAT_H
#define XVERBS_COMPAT_H

#include <linux/version.h>

#endif
