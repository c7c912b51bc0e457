// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The layout of every struct of the ABI, for 64 and 32 bit programs alike. It
 * is only compiled.
 *
 * Copyright (c) 2026 The xverbs authors
 */
#include <stddef.h>
#include <rdma/xverbs.h>

#define SIZE(type, bytes)						\
	_Static_assert(sizeof(struct type) == (bytes), "size of " #type)
#define AT(type, field, bytes)						\
	_Static_assert(offsetof(struct type, field) == (bytes),		\
		       "offset of " #type "." #field)

SIZE(xv_txn, 24);
AT(xv_txn, length, 0);
AT(xv_txn, num_ops, 4);
AT(xv_txn, flags, 8);
AT(xv_txn, reserved, 12);
AT(xv_txn, error_ptr, 16);

SIZE(xv_op, 16);
AT(xv_op, object, 0);
AT(xv_op, method, 2);
AT(xv_op, num_attrs, 4);
AT(xv_op, flags, 6);
AT(xv_op, reserved, 8);

SIZE(xv_attr, 16);
AT(xv_attr, group, 0);
AT(xv_attr, id, 2);
AT(xv_attr, len, 4);
AT(xv_attr, flags, 6);
AT(xv_attr, data, 8);

SIZE(xv_error, 32);
AT(xv_error, err, 0);
AT(xv_error, op, 4);
AT(xv_error, group, 8);
AT(xv_error, attr, 10);
AT(xv_error, reason, 12);
AT(xv_error, object, 14);
AT(xv_error, handle, 16);
AT(xv_error, raw, 20);
AT(xv_error, detail, 24);

SIZE(xv_device_info, 216);
AT(xv_device_info, abi_version, 0);
AT(xv_device_info, flags, 4);
AT(xv_device_info, name, 8);
AT(xv_device_info, driver_id, 72);
AT(xv_device_info, num_ports, 76);
AT(xv_device_info, num_comp_vectors, 80);
AT(xv_device_info, max_qp_wr, 84);
AT(xv_device_info, max_cqe, 88);
AT(xv_device_info, max_send_sge, 92);
AT(xv_device_info, max_recv_sge, 96);
AT(xv_device_info, max_inline, 100);
AT(xv_device_info, max_rd_atomic, 104);
AT(xv_device_info, max_dest_rd_atomic, 108);
AT(xv_device_info, max_mr_size, 112);
AT(xv_device_info, node_guid, 120);
AT(xv_device_info, budget, 128);
AT(xv_device_info, budget_used, 136);
AT(xv_device_info, objects, 144);
AT(xv_device_info, max_srq_wr, 208);
AT(xv_device_info, max_srq_sge, 212);

SIZE(xv_port_info, 32);
AT(xv_port_info, state, 0);
AT(xv_port_info, link_layer, 4);
AT(xv_port_info, max_mtu, 8);
AT(xv_port_info, active_mtu, 12);
AT(xv_port_info, lid, 16);
AT(xv_port_info, gid_entries, 20);
AT(xv_port_info, pkey_entries, 24);
AT(xv_port_info, netdev_index, 28);

SIZE(xv_gid_info, 24);
AT(xv_gid_info, gid, 0);
AT(xv_gid_info, type, 16);
AT(xv_gid_info, netdev_index, 20);

SIZE(xv_pd_info, 8);
AT(xv_pd_info, restrack_id, 0);
AT(xv_pd_info, num_dependents, 4);

SIZE(xv_mr_info, 40);
AT(xv_mr_info, addr, 0);
AT(xv_mr_info, length, 8);
AT(xv_mr_info, iova, 16);
AT(xv_mr_info, rkey, 24);
AT(xv_mr_info, access, 28);
AT(xv_mr_info, pd, 32);
AT(xv_mr_info, restrack_id, 36);

SIZE(xv_area, 24);
AT(xv_area, mmap_offset, 0);
AT(xv_area, mmap_length, 8);
AT(xv_area, offset, 16);
AT(xv_area, length, 20);

SIZE(xv_cq_info, 48);
AT(xv_cq_info, area, 0);
AT(xv_cq_info, entries, 24);
AT(xv_cq_info, cqe, 28);
AT(xv_cq_info, attached, 32);
AT(xv_cq_info, comp_vector, 36);
AT(xv_cq_info, restrack_id, 40);
AT(xv_cq_info, reserved, 44);

SIZE(xv_qp_info, 112);
AT(xv_qp_info, area, 0);
AT(xv_qp_info, send_entries, 24);
AT(xv_qp_info, recv_entries, 28);
AT(xv_qp_info, send_wr, 32);
AT(xv_qp_info, recv_wr, 36);
AT(xv_qp_info, send_sge, 40);
AT(xv_qp_info, recv_sge, 44);
AT(xv_qp_info, qp_num, 48);
AT(xv_qp_info, type, 52);
AT(xv_qp_info, state, 56);
AT(xv_qp_info, generation, 60);
AT(xv_qp_info, sq_psn, 64);
AT(xv_qp_info, sends_outstanding, 68);
AT(xv_qp_info, recvs_outstanding, 72);
AT(xv_qp_info, sends_early, 76);
AT(xv_qp_info, pd, 80);
AT(xv_qp_info, send_cq, 84);
AT(xv_qp_info, recv_cq, 88);
AT(xv_qp_info, path_mtu, 92);
AT(xv_qp_info, access, 96);
AT(xv_qp_info, restrack_id, 100);
AT(xv_qp_info, srq, 104);
AT(xv_qp_info, reserved, 108);

SIZE(xv_srq_info, 56);
AT(xv_srq_info, area, 0);
AT(xv_srq_info, recv_entries, 24);
AT(xv_srq_info, recv_wr, 28);
AT(xv_srq_info, recv_sge, 32);
AT(xv_srq_info, limit, 36);
AT(xv_srq_info, recvs_outstanding, 40);
AT(xv_srq_info, pd, 44);
AT(xv_srq_info, num_qps, 48);
AT(xv_srq_info, restrack_id, 52);

SIZE(xv_ah_info, 40);
AT(xv_ah_info, gid, 0);
AT(xv_ah_info, port, 16);
AT(xv_ah_info, sgid_index, 20);
AT(xv_ah_info, flow_label, 24);
AT(xv_ah_info, pd, 28);
AT(xv_ah_info, lid, 32);
AT(xv_ah_info, hop_limit, 34);
AT(xv_ah_info, traffic_class, 35);
AT(xv_ah_info, sl, 36);
AT(xv_ah_info, reserved, 37);

SIZE(xv_mcast_info, 40);
AT(xv_mcast_info, gid, 0);
AT(xv_mcast_info, qp, 16);
AT(xv_mcast_info, join, 20);
AT(xv_mcast_info, port, 24);
AT(xv_mcast_info, lid, 28);
AT(xv_mcast_info, sgid_index, 32);
AT(xv_mcast_info, netdev_index, 36);

SIZE(xv_desc, 72);
AT(xv_desc, what, 0);
AT(xv_desc, object, 2);
AT(xv_desc, method, 4);
AT(xv_desc, group, 6);
AT(xv_desc, id, 8);
AT(xv_desc, kind, 10);
AT(xv_desc, type, 12);
AT(xv_desc, flags, 14);
AT(xv_desc, step, 16);
AT(xv_desc, reserved, 20);
AT(xv_desc, min, 24);
AT(xv_desc, max, 32);
AT(xv_desc, name, 40);

SIZE(xv_listener_info, 40);
AT(xv_listener_info, local, 0);
AT(xv_listener_info, backlog, 28);
AT(xv_listener_info, pending, 32);
AT(xv_listener_info, refused, 36);

SIZE(xv_request_info, 144);
AT(xv_request_info, token, 0);
AT(xv_request_info, local, 8);
AT(xv_request_info, remote, 36);
AT(xv_request_info, qp_num, 64);
AT(xv_request_info, rd_atomic, 68);
AT(xv_request_info, dest_rd_atomic, 72);
AT(xv_request_info, private_len, 76);
AT(xv_request_info, reserved, 80);
AT(xv_request_info, private_data, 88);

SIZE(xv_conn_info, 308);
AT(xv_conn_info, local, 0);
AT(xv_conn_info, remote, 28);
AT(xv_conn_info, qp, 56);
AT(xv_conn_info, state, 60);
AT(xv_conn_info, flags, 64);
AT(xv_conn_info, cause, 68);
AT(xv_conn_info, err, 72);
AT(xv_conn_info, raw, 76);
AT(xv_conn_info, rd_atomic, 80);
AT(xv_conn_info, dest_rd_atomic, 84);
AT(xv_conn_info, retry_cnt, 88);
AT(xv_conn_info, rnr_retry, 92);
AT(xv_conn_info, path_mtu, 96);
AT(xv_conn_info, sends_early, 100);
AT(xv_conn_info, private_len, 104);
AT(xv_conn_info, reserved, 108);
AT(xv_conn_info, private_data, 112);

SIZE(xv_describe, 32);
AT(xv_describe, abi_version, 0);
AT(xv_describe, header_size, 4);
AT(xv_describe, desc_size, 8);
AT(xv_describe, num_descs, 12);
AT(xv_describe, max_ops, 16);
AT(xv_describe, max_attrs, 20);
AT(xv_describe, max_bytes, 24);
AT(xv_describe, max_enter_qps, 28);

SIZE(xv_sge, 16);
AT(xv_sge, mr, 0);
AT(xv_sge, length, 4);
AT(xv_sge, offset, 8);

SIZE(xv_send, 128);
AT(xv_send, wr_id, 0);
AT(xv_send, opcode, 8);
AT(xv_send, num_sge, 9);
AT(xv_send, flags, 10);
AT(xv_send, imm_data, 12);
AT(xv_send, remote_addr, 16);
AT(xv_send, rkey, 24);
AT(xv_send, inline_len, 28);
AT(xv_send, compare_add, 32);
AT(xv_send, swap, 40);
AT(xv_send, ah, 48);
AT(xv_send, remote_qpn, 52);
AT(xv_send, remote_qkey, 56);
AT(xv_send, reserved, 60);
AT(xv_send, sge, 64);
AT(xv_send, inline_data, 64);

SIZE(xv_recv, 64);
AT(xv_recv, wr_id, 0);
AT(xv_recv, num_sge, 8);
AT(xv_recv, reserved, 12);
AT(xv_recv, sge, 16);

SIZE(xv_wc, 32);
AT(xv_wc, wr_id, 0);
AT(xv_wc, qp, 8);
AT(xv_wc, status, 12);
AT(xv_wc, opcode, 13);
AT(xv_wc, flags, 14);
AT(xv_wc, byte_len, 16);
AT(xv_wc, imm_data, 20);
AT(xv_wc, vendor_err, 24);
AT(xv_wc, src_qp, 24);
AT(xv_wc, slid, 28);
AT(xv_wc, sl, 30);
AT(xv_wc, net_type, 31);

SIZE(xv_ah_wc, 72);
AT(xv_ah_wc, wc, 0);
AT(xv_ah_wc, grh, 32);

SIZE(xv_qp_ring, 64);
AT(xv_qp_ring, sends_done, 0);
AT(xv_qp_ring, recvs_done, 4);
AT(xv_qp_ring, state, 8);
AT(xv_qp_ring, generation, 12);
AT(xv_qp_ring, reserved, 16);

SIZE(xv_srq_ring, 64);
AT(xv_srq_ring, recvs_done, 0);
AT(xv_srq_ring, reserved, 4);

SIZE(xv_cq_ring, 128);
AT(xv_cq_ring, tail, 0);
AT(xv_cq_ring, flags, 4);
AT(xv_cq_ring, reserved, 8);
AT(xv_cq_ring, head, 64);
AT(xv_cq_ring, reserved2, 68);

SIZE(xv_enter_qp, 32);
AT(xv_enter_qp, qp, 0);
AT(xv_enter_qp, num_send, 4);
AT(xv_enter_qp, num_recv, 8);
AT(xv_enter_qp, flags, 12);
AT(xv_enter_qp, sends_taken, 16);
AT(xv_enter_qp, recvs_taken, 20);
AT(xv_enter_qp, err, 24);
AT(xv_enter_qp, reason, 28);

SIZE(xv_enter, 40);
AT(xv_enter, flags, 0);
AT(xv_enter, num_qps, 4);
AT(xv_enter, qps, 8);
AT(xv_enter, cq, 16);
AT(xv_enter, min_complete, 20);
AT(xv_enter, timeout_ns, 24);
AT(xv_enter, num_complete, 32);
AT(xv_enter, reserved, 36);

SIZE(xv_event, 32);
AT(xv_event, cookie, 0);
AT(xv_event, type, 8);
AT(xv_event, object, 10);
AT(xv_event, handle, 12);
AT(xv_event, count, 16);
AT(xv_event, reserved, 20);
AT(xv_event, data, 24);
