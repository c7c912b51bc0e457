// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a completion of the driver says, in our words.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include "reap.h"

/**
 * xv_wc_status - the status as users know it
 * @status: the driver's
 *
 * Context: any.
 * Return: enum xv_wc_status.
 */
u8 xv_wc_status(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_SUCCESS:
		return XV_WC_SUCCESS;
	case IB_WC_LOC_LEN_ERR:
		return XV_WC_LOC_LEN_ERR;
	case IB_WC_LOC_QP_OP_ERR:
		return XV_WC_LOC_QP_OP_ERR;
	case IB_WC_LOC_PROT_ERR:
		return XV_WC_LOC_PROT_ERR;
	case IB_WC_WR_FLUSH_ERR:
		return XV_WC_FLUSH_ERR;
	case IB_WC_REM_INV_REQ_ERR:
		return XV_WC_REM_INV_REQ_ERR;
	case IB_WC_REM_ACCESS_ERR:
		return XV_WC_REM_ACCESS_ERR;
	case IB_WC_REM_OP_ERR:
		return XV_WC_REM_OP_ERR;
	case IB_WC_RETRY_EXC_ERR:
		return XV_WC_RETRY_EXC_ERR;
	case IB_WC_RNR_RETRY_EXC_ERR:
		return XV_WC_RNR_RETRY_EXC_ERR;
	default:
		return XV_WC_GENERAL_ERR;
	}
}

static u8 net_type(const struct ib_wc *ibwc)
{
	if (!(ibwc->wc_flags & IB_WC_WITH_NETWORK_HDR_TYPE))
		return 0;
	switch (ibwc->network_hdr_type) {
	case RDMA_NETWORK_ROCE_V1:
		return XV_GID_ROCE_V1;
	case RDMA_NETWORK_IPV4:
		return XV_NET_IPV4;
	case RDMA_NETWORK_IPV6:
		return XV_NET_IPV6;
	default:
		return 0;
	}
}

static void fill_datagram(struct xv_wc *wc, const struct ib_wc *ibwc)
{
	wc->src_qp = ibwc->src_qp;
	wc->slid = ibwc->slid;
	wc->sl = ibwc->sl;
	wc->net_type = net_type(ibwc);
	if (ibwc->wc_flags & IB_WC_GRH)
		wc->flags |= XV_WC_GRH;
}

/**
 * xv_wc_cut - what came on a connection that was never established did not come
 * @qp: the queue pair
 * @wc: one of its completions
 *
 * Context: any.
 */
void xv_wc_cut(const struct xv_qp *qp, struct xv_wc *wc)
{
	if (!(wc->flags & XV_WC_RECV) || !READ_ONCE(qp->cut))
		return;
	wc->status = XV_WC_FLUSH_ERR;
	wc->flags = XV_WC_RECV;
	wc->byte_len = 0;
	wc->imm_data = 0;
}

/**
 * xv_wc_fill_recv - what only receives have, after xv_wc_fill()
 * @wc: the completion
 * @qp: its queue pair
 * @ibwc: the driver's
 *
 * Context: any.
 */
void xv_wc_fill_recv(struct xv_wc *wc, const struct xv_qp *qp,
		     const struct ib_wc *ibwc)
{
	wc->flags = XV_WC_RECV;
	if (ibwc->status != IB_WC_SUCCESS)
		return;
	if (ibwc->wc_flags & IB_WC_WITH_IMM) {
		wc->flags |= XV_WC_WITH_IMM;
		wc->imm_data = (__force u32)ibwc->ex.imm_data;
	}
	if (ibwc->opcode == IB_WC_RECV_RDMA_WITH_IMM)
		wc->flags |= XV_WC_RDMA;
	if (qp->type == XV_QPT_UD)
		fill_datagram(wc, ibwc);
	xv_wc_cut(qp, wc);
}

/**
 * xv_wc_fill - what sends and receives have
 * @wc: the completion
 * @wr_id: the user's
 * @qp: its queue pair
 * @ibwc: the driver's
 *
 * Context: any.
 */
void xv_wc_fill(struct xv_wc *wc, u64 wr_id, const struct xv_qp *qp,
		const struct ib_wc *ibwc)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = wr_id;
	wc->qp = qp->uobj.handle;
	wc->status = xv_wc_status(ibwc->status);
	/* Of an error only status and vendor_err are valid. */
	if (ibwc->status == IB_WC_SUCCESS)
		wc->byte_len = ibwc->byte_len;
	else
		wc->vendor_err = ibwc->vendor_err;
}
