// SPDX-License-Identifier: GPL-2.0
/*
 * The description of xverbs for the fuzzer syzkaller, made from what
 * device.describe tells, and compared with the one in the tree.
 *
 * Copyright (c) 2026 The xverbs authors
 *
 * --print txt or --print const write it to standard output instead;
 * selftests/syzkaller/update puts that in its place.
 */
#include <stdarg.h>
#include "xv_test.h"

static const struct xv_describe *desc;
static FILE *out;

static const struct xv_desc *line(unsigned int i)
{
	return xv_describe_line(desc, i);
}

__attribute__((format(printf, 1, 2)))
static void put(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
}

static const char *object_name(uint16_t id)
{
	unsigned int i;

	for (i = 0; i < desc->num_descs; i++)
		if (line(i)->what == XV_DESC_OBJECT && line(i)->object == id)
			return line(i)->name;
	return "unknown";
}

/* Objects that can be made have handles; event queues are descriptors. */
static bool has_handle(uint16_t object)
{
	unsigned int i;

	for (i = 0; i < desc->num_descs; i++)
		if (line(i)->what == XV_DESC_ATTR &&
		    line(i)->object == object && line(i)->kind == XV_K_NEW)
			return true;
	return false;
}

/* In one piece it would be taken for that of this file. */
static void put_licence(void)
{
	put("# %s: GPL-2.0\n", "SPDX-License-Identifier");
}

/* What can not be seen in the tables: the frame, and ENTER. */
static const char frame[] =
"#\n"
"# xverbs for syzkaller. Made by test_syzkaller from device.describe:\n"
"# do not edit, run selftests/syzkaller/update.\n"
"\n"
"include <uapi/rdma/xverbs.h>\n"
"\n"
"resource fd_xverbs[fd]\n"
"resource fd_xverbs_eventq[fd]\n"
"\n"
"openat$xverbs(fd const[AT_FDCWD], file ptr[in, string[\"/dev/infiniband/xverbs0\"]], flags const[O_RDWR], mode const[0]) fd_xverbs\n"
"ioctl$XV_IOC_TXN(fd fd_xverbs, cmd const[XV_IOC_TXN], arg ptr[inout, xv_txn])\n"
"ioctl$XV_IOC_ENTER(fd fd_xverbs, cmd const[XV_IOC_ENTER], arg ptr[inout, xv_enter])\n"
"mmap$xverbs(addr vma, len len[addr], prot flags[mmap_prot], flags const[MAP_SHARED], fd fd_xverbs, offset fileoff[xv_area_offsets])\n"
"read$xverbs_eventq(fd fd_xverbs_eventq, buf ptr[out, array[xv_event]], count bytesize[buf])\n"
"\n"
"xv_area_offsets = 0x10000000, 0x20000000, 0x30000000, 0x40000000\n"
"xv_txn_flags = 0, XV_TXN_F_BATCH\n"
"xv_attr_flags = 0, XV_ATTR_F_OPTIONAL, XV_ATTR_F_FROM_OP\n"
"xv_enter_flags = 0, XV_ENTER_F_ARM\n"
"\n"
"xv_txn {\n"
"\tlength\tbytesize[parent, int32]\n"
"\tnum_ops\tlen[ops, int32]\n"
"\tflags\tflags[xv_txn_flags, int32]\n"
"\treserved\tconst[0, int32]\n"
"\terror_ptr\tptr64[out, xv_error]\n"
"\tops\tarray[xv_op, 1:64]\n"
"} [packed]\n"
"\n"
"xv_error {\n"
"\terr\tint32\n"
"\top\tint32\n"
"\tgroup\tint16\n"
"\tattr\tint16\n"
"\treason\tint16\n"
"\tobject\tint16\n"
"\thandle\tint32\n"
"\traw\tint32\n"
"\tdetail\tint64\n"
"}\n"
"\n"
"xv_event {\n"
"\tcookie\tint64\n"
"\ttype\tint16\n"
"\tobject\tint16\n"
"\thandle\tint32\n"
"\tcount\tint32\n"
"\treserved\tint32\n"
"\tdata\tint64\n"
"}\n"
"\n"
"xv_enter {\n"
"\tflags\tflags[xv_enter_flags, int32]\n"
"\tnum_qps\tlen[qps, int32]\n"
"\tqps\tptr64[inout, array[xv_enter_qp, 0:8]]\n"
"\tcq\txv_cq\n"
"\tmin_complete\tint32[0:4]\n"
"\ttimeout_ns\tint64[0:1000000]\n"
"\tnum_complete\tint32 (out)\n"
"\treserved\tconst[0, int32]\n"
"}\n"
"\n"
"xv_enter_qp {\n"
"\tqp\txv_qp\n"
"\tnum_send\tint32[0:64]\n"
"\tnum_recv\tint32[0:64]\n"
"\tflags\tconst[0, int32]\n"
"\tsends_taken\tint32 (out)\n"
"\trecvs_taken\tint32 (out)\n"
"\terr\tint32 (out)\n"
"\treason\tint32 (out)\n"
"}\n"
"\n"
"# Any attribute of any group, with any value.\n"
"xv_attr_any {\n"
"\tgroup\tint16[0:16]\n"
"\tid\tint16[0:32]\n"
"\tlen\tint16\n"
"\tflags\tflags[xv_attr_flags, int16]\n"
"\tdata\tint64\n"
"}\n";

static void put_resources(void)
{
	unsigned int i;

	for (i = 0; i < desc->num_descs; i++) {
		const struct xv_desc *d = line(i);

		if (d->what != XV_DESC_OBJECT || !has_handle(d->object) ||
		    d->object == XV_OBJ_EVENTQ)
			continue;
		put("\nresource xv_%s[int32]: 0\n", d->name);
	}
}

/* The values of flags or of an enumeration get a list of their own. */
static void put_list(const struct xv_desc *d, const char *name)
{
	const char *sep = "";
	unsigned int i;

	put("\n%s = ", name);
	for (i = 0; i < 64; i++) {
		if (!(d->max >> i & 1))
			continue;
		if (d->kind == XV_K_BITS)
			put("%s0x%llx", sep, 1ULL << i);
		else
			put("%s%u", sep, i);
		sep = ", ";
	}
	put("\n");
}

static void put_head(const struct xv_desc *d, const char *name,
		     const char *suffix, const char *len, unsigned int flags)
{
	put("\n%s%s {\n", name, suffix);
	put("\tgroup\tconst[%u, int16]\n", d->group);
	put("\tid\tconst[%u, int16]\n", d->id);
	put("\tlen\t%s\n", len);
	put("\tflags\tconst[%u, int16]\n", flags);
}

static void put_handle(const struct xv_desc *d, const char *name)
{
	const char *dir = d->kind == XV_K_NEW ? " (out)" : "";

	put_head(d, name, d->kind == XV_K_NEW ? "" : "_handle",
		 "const[4, int16]", 0);
	if (d->type == XV_OBJ_EVENTQ)
		put("\tdata\tfd_xverbs_eventq%s\n", dir);
	else
		put("\tdata\txv_%s%s\n", object_name(d->type), dir);
	put("\thigh\tconst[0, int32]\n}\n");
	if (d->kind == XV_K_NEW)
		return;
	put_head(d, name, "_ref", "const[4, int16]", XV_ATTR_F_FROM_OP);
	put("\tdata\tint64[0:63]\n}\n");
	put("\n%s [\n\thandle\t%s_handle\n\tref\t%s_ref\n]\n", name, name,
	    name);
}

static void put_attr(const struct xv_desc *d, const char *name)
{
	char list[192];

	snprintf(list, sizeof(list), "%s_values", name);
	switch (d->kind) {
	case XV_K_NEW:
	case XV_K_READ:
	case XV_K_WRITE:
	case XV_K_DESTROY:
		put_handle(d, name);
		return;
	case XV_K_BITS:
	case XV_K_ENUM:
		put_list(d, list);
		put_head(d, name, "", "const[8, int16]", 0);
		put("\tdata\tflags[%s, int64]\n}\n", list);
		return;
	case XV_K_IN:
		put_head(d, name, "", "bytesize[data, int16]", 0);
		if (d->step)
			put("\tdata\tptr64[in, array[array[int8, %u], %llu:%llu]]\n}\n",
			    d->step, (unsigned long long)d->min / d->step,
			    (unsigned long long)(d->max / d->step < 8 ?
						 d->max / d->step : 8));
		else
			put("\tdata\tptr64[in, array[int8, %llu:%llu]]\n}\n",
			    (unsigned long long)d->min,
			    (unsigned long long)d->max);
		return;
	case XV_K_OUT:
		put_head(d, name, "", "bytesize[data, int16]", 0);
		put("\tdata\tptr64[out, array[int8, %llu]]\n}\n",
		    (unsigned long long)(d->max ? d->max : 32768));
		return;
	}
	put_head(d, name, "", d->kind == XV_K_U32 ? "const[4, int16]" :
						    "const[8, int16]", 0);
	if (d->max > INT64_MAX)
		put("\tdata\tint64\n}\n");
	else
		put("\tdata\tint64[%llu:%llu]\n}\n", (unsigned long long)d->min,
		    (unsigned long long)d->max);
}

static void attr_name(char *name, size_t len, const struct xv_desc *method,
		      const struct xv_desc *group, const struct xv_desc *d)
{
	snprintf(name, len, "xv_attr_%s_%s_%s_%s", object_name(method->object),
		 method->name, group->name, d->name);
}

/* An operation in two forms: what it needs; and any of its attributes. */
static void put_method(unsigned int first)
{
	const struct xv_desc *method = line(first), *group = NULL;
	const char *object = object_name(method->object);
	unsigned int end, i, required = 0;
	char name[160];

	for (end = first + 1; end < desc->num_descs; end++)
		if (line(end)->what != XV_DESC_GROUP &&
		    line(end)->what != XV_DESC_ATTR)
			break;
	put("\n# %s.%s\n", object, method->name);
	for (i = first + 1; i < end; i++) {
		if (line(i)->what == XV_DESC_GROUP) {
			group = line(i);
			continue;
		}
		attr_name(name, sizeof(name), method, group, line(i));
		put_attr(line(i), name);
		required += group->flags & line(i)->flags &
			    XV_DESC_F_REQUIRED;
	}
	put("\nxv_attr_%s_%s [\n", object, method->name);
	for (i = first + 1; i < end; i++) {
		if (line(i)->what == XV_DESC_GROUP) {
			group = line(i);
			continue;
		}
		attr_name(name, sizeof(name), method, group, line(i));
		put("\t%s_%s\t%s\n", group->name, line(i)->name, name);
	}
	put("\tany\txv_attr_any\n]\n");
	put("\nxv_op_%s_%s_least {\n", object, method->name);
	put("\tobject\tconst[%u, int16]\n\tmethod\tconst[%u, int16]\n",
	    method->object, method->method);
	put("\tnum_attrs\tconst[%u, int16]\n\tflags\tconst[0, int16]\n",
	    required);
	put("\treserved\tarray[const[0, int32], 2]\n");
	for (i = first + 1; i < end; i++) {
		if (line(i)->what == XV_DESC_GROUP) {
			group = line(i);
			continue;
		}
		if (!(group->flags & line(i)->flags & XV_DESC_F_REQUIRED))
			continue;
		attr_name(name, sizeof(name), method, group, line(i));
		put("\t%s_%s\t%s\n", group->name, line(i)->name, name);
	}
	put("} [packed]\n");
	put("\nxv_op_%s_%s {\n", object, method->name);
	put("\tobject\tconst[%u, int16]\n\tmethod\tconst[%u, int16]\n",
	    method->object, method->method);
	put("\tnum_attrs\tlen[attrs, int16]\n\tflags\tconst[0, int16]\n");
	put("\treserved\tarray[const[0, int32], 2]\n");
	put("\tattrs\tarray[xv_attr_%s_%s, 0:64]\n} [packed]\n", object,
	    method->name);
}

static void put_description(void)
{
	unsigned int i;

	put_licence();
	put("%s", frame);
	put_resources();
	put("\nxv_op [\n");
	for (i = 0; i < desc->num_descs; i++) {
		const struct xv_desc *d = line(i);
		const char *object = object_name(d->object);

		if (d->what != XV_DESC_METHOD)
			continue;
		put("\t%s_%s_least\txv_op_%s_%s_least\n", object, d->name,
		    object, d->name);
		put("\t%s_%s\txv_op_%s_%s\n", object, d->name, object, d->name);
	}
	put("] [varlen]\n");
	for (i = 0; i < desc->num_descs; i++)
		if (line(i)->what == XV_DESC_METHOD)
			put_method(i);
}

static void put_constants(void)
{
	static const struct {
		const char *name;
		unsigned long long value;
	} constants[] = {
#define C(x)	{ #x, (unsigned long long)(x) }
		C(AT_FDCWD), C(MAP_SHARED), C(O_RDWR), C(XV_ATTR_F_FROM_OP),
		C(XV_ATTR_F_OPTIONAL), C(XV_ENTER_F_ARM), C(XV_IOC_ENTER),
		C(XV_IOC_TXN), C(XV_TXN_F_BATCH),
		/* of amd64, whatever this program was built for */
		{ "__NR_ioctl", 16 }, { "__NR_mmap", 9 },
		{ "__NR_openat", 257 }, { "__NR_read", 0 },
#undef C
	};
	unsigned int i;

	put_licence();
	put("# Made by test_syzkaller: do not edit.\n");
	put("arches = amd64\n");
	for (i = 0; i < ARRAY_SIZE(constants); i++)
		put("%s = %llu\n", constants[i].name, constants[i].value);
}

static void compare(struct __test_metadata *_metadata, const char *path,
		    void (*make)(void))
{
	char *text = NULL, *have, *a, *b, *save_a, *save_b;
	size_t len = 0;
	FILE *f;
	int n = 0;

	out = open_memstream(&text, &len);
	ASSERT_NE(NULL, out);
	make();
	fclose(out);
	have = calloc(1, 1 << 20);
	ASSERT_NE(NULL, have);
	f = fopen(path, "r");
	ASSERT_NE(NULL, f) {
		TH_LOG("%s is missing", path);
	}
	ASSERT_LT(1, fread(have, 1, (1 << 20) - 1, f));
	fclose(f);
	if (!strcmp(have, text))
		goto out_free;
	a = strtok_r(have, "\n", &save_a);
	b = strtok_r(text, "\n", &save_b);
	while (a && b && !strcmp(a, b)) {
		a = strtok_r(NULL, "\n", &save_a);
		b = strtok_r(NULL, "\n", &save_b);
		n++;
	}
	EXPECT_TRUE(false) {
		TH_LOG("%s is not what this kernel tells; run selftests/syzkaller/update. Line %d, without empty ones: '%s', not '%s'",
		       path, n + 1, a ? a : "(end)", b ? b : "(end)");
	}
out_free:
	free(have);
	free(text);
}

TEST(description)
{
	struct xvt t;

	xvt_open(_metadata, &t);
	ASSERT_EQ(0, xv_describe(t.ctx, &desc));
	compare(_metadata, "xverbs.txt", put_description);
	compare(_metadata, "xverbs.txt.const", put_constants);
	xvt_close(&t);
}

int main(int argc, char **argv)
{
	struct xv_ctx *ctx;

	if (argc != 3 || strcmp(argv[1], "--print"))
		return test_harness_run(argc, argv);
	if (xv_open(NULL, 0, &ctx) || xv_describe(ctx, &desc)) {
		fprintf(stderr, "no device\n");
		return 1;
	}
	out = stdout;
	if (!strcmp(argv[2], "const"))
		put_constants();
	else
		put_description();
	xv_close(ctx);
	return 0;
}
