// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What RDMA devices may have and xverbs does not offer, on any of them. Who
 * asks for it is told so, which is another answer than "wrong" or "unknown".
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include "objects.h"

const struct xv_refused xv_refused[XV_NUM_REFUSED] = {
	{ .object = XV_OBJ_MR, .method = XV_M_CREATE,
	  .group = XV_GRP_ACCESS, .attr = XV_ACCESS_FLAGS,
	  .values = XV_ACCESS_ON_DEMAND, .name = "on-demand paging" },
	{ .object = XV_OBJ_MR, .method = XV_M_CREATE,
	  .group = XV_GRP_ACCESS, .attr = XV_ACCESS_FLAGS,
	  .values = XV_ACCESS_MW_BIND, .name = "memory windows" },
	{ .object = XV_OBJ_MR, .method = XV_M_CREATE,
	  .group = XV_GRP_PARAMS, .attr = XV_PARAMS_DMABUF_FD,
	  .name = "memory of a dmabuf" },
	{ .object = XV_OBJ_MR, .method = XV_M_MODIFY,
	  .name = "re-registration" },
	{ .object = XV_OBJ_CQ, .method = XV_M_MODIFY,
	  .group = XV_GRP_CAPS, .attr = XV_CAPS_CQE, .name = "resize" },
	{ .object = XV_OBJ_QP, .method = XV_M_CREATE,
	  .group = XV_GRP_PARAMS, .attr = XV_PARAMS_QP_TYPE,
	  .values = BIT_ULL(XV_QPT_XRC_INI) | BIT_ULL(XV_QPT_XRC_TGT),
	  .name = "XRC" },
	{ .object = XV_OBJ_QP, .method = XV_M_MODIFY,
	  .group = XV_GRP_PARAMS, .attr = XV_PARAMS_STATE,
	  .values = BIT_ULL(XV_QPS_SQD), .name = "SQD" },
	{ .object = XV_OBJ_QP, .method = XV_M_MODIFY,
	  .group = XV_GRP_PARAMS, .attr = XV_PARAMS_MIG_STATE,
	  .name = "path migration" },
	{ .object = XV_OBJ_QP, .values = XV_REFUSED_OPCODES,
	  .name = "flush, atomic write, window" },
};
