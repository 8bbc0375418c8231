/*
 * metadata_print.c - event classes as the metadata text (TSDL 1.8) of a Common Trace Format trace.
 *
 * The BINFILE emitter prints the trace-wide part when it begins a trace, and each new class.  The
 * text is plain ASCII whatever names hold.  The template below also identifies our traces:
 * ct_schema_parse_trace() compares a text, which may be hostile, with it byte by byte.  Readers
 * parse the types and classes of any trace with format/tsdl.c.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "format/metadata.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -----------------------------------------------------------------------------------------------
 * The template
 */

/* The layout is by hand, to keep related lines together. */
/* clang-format off */
#define EACH_WIDTH(M) M(1, 8) M(2, 16) M(3, 24) M(4, 32) M(5, 40) M(6, 48) M(7, 56) M(8, 64)
#define INTEGER(name, bits, more) "typealias integer { size = " #bits "; align = 8; signed = " more " } := " name ";\n"
#define COMP5(n, bits) INTEGER("ct_comp5_" #n, bits, "false; byte_order = le;")
#define COMPX(n, bits) INTEGER("ct_compx_" #n, bits, "false; byte_order = be;")
#define COMP5S(n, bits) INTEGER("ct_comp5s_" #n, bits, "true; byte_order = le;")
#define COMPXS(n, bits) INTEGER("ct_compxs_" #n, bits, "true; byte_order = be;")

/* One option of the generic item's variant, and the label that selects it: the first byte of an
 * item (event.c). */
#define LABEL(name, shape) "\t" name " = " #shape ",\n"
#define LABELS(name, m1, m2, m3, m4, m5, m6, m7, m8) \
	LABEL(name "_1", m1) LABEL(name "_2", m2) LABEL(name "_3", m3) LABEL(name "_4", m4) \
	LABEL(name "_5", m5) LABEL(name "_6", m6) LABEL(name "_7", m7) LABEL(name "_8", m8)
#define BYTES(name, type) "\t\tstruct { ct_" type " data[len]; } " name ";\n"
#define OPTION(name) "\t\tct_" name " " name ";\n"
#define OPTIONS(name) \
	OPTION(name "_1") OPTION(name "_2") OPTION(name "_3") OPTION(name "_4") \
	OPTION(name "_5") OPTION(name "_6") OPTION(name "_7") OPTION(name "_8")

static const char template[] =
	"/* CTF 1.8 */\n"
	"\n"
	"trace {\n"
	"\tmajor = 1;\n"
	"\tminor = 8;\n"
	"\tuuid = $uuid;\n"
	"\tbyte_order = le;\n"
	"\tpacket.header := struct {\n"
	"\t\tinteger { size = 32; align = 8; signed = false; byte_order = le; base = 16; } magic;\n"
	"\t\tinteger { size = 8; align = 8; signed = false; } uuid[16];\n"
	"\t\tinteger { size = 32; align = 8; signed = false; byte_order = le; } stream_id;\n"
	"\t\tinteger { size = 32; align = 8; signed = false; byte_order = le; } stream_instance_id;\n"
	"\t};\n"
	"};\n"
	"\n"
	"env {\n"
	"\ttracer_name = \"ctrace\";\n"
	"\ttracer_major = 1;\n"
	"\ttracer_minor = 0;\n"
	"\thostname = $host;\n"
	"\tsysname = $system;\n"
	"\tprocname = $program;\n"
	"\tvpid = $pid;\n"
	"\tstart_ns = $start;\n"
	"\tjobname = $jobname;\n"
	"\tasid = $asid;\n"
	"$order" /* the whole line; it may be missing, and so may the next one */
	"$format"
	"};\n"
	"\n"
	"clock {\n"
	"\tname = trace;\n"
	"$clock"
	"\tabsolute = true;\n"
	"};\n"
	"\n"
	INTEGER("ct_u8", 8, "false; byte_order = le;")
	INTEGER("ct_u32", 32, "false; byte_order = le;")
	INTEGER("ct_u64", 64, "false; byte_order = le;")
	INTEGER("ct_time", 64, "false; byte_order = le; map = clock.trace.value;")
	"typealias integer { size = 64; align = 256; signed = false; byte_order = le; map = clock.trace.value; } := ct_time_end;\n"
	INTEGER("ct_time48", 48, "false; byte_order = le; map = clock.trace.value;")
	INTEGER("ct_len16", 16, "false; byte_order = le;")
	INTEGER("ct_len32", 32, "false; byte_order = le;")
	INTEGER("ct_binary", 8, "false; byte_order = le; base = 16;")
	INTEGER("ct_text", 8, "false; byte_order = le; encoding = UTF8;")
	INTEGER("ct_utf8", 8, "false; byte_order = le; encoding = UTF8;")
	INTEGER("ct_address", 64, "false; byte_order = le; base = 16;")
	EACH_WIDTH(COMP5) EACH_WIDTH(COMPX) EACH_WIDTH(COMP5S) EACH_WIDTH(COMPXS)
	"\n"
	"stream {\n"
	"\tid = 0;\n"
	"\tpacket.context := struct {\n"
	"\t\tct_time timestamp_begin;\n"
	"\t\tct_u32 content_size;\n"
	"\t\tct_u32 packet_size;\n"
	"\t\tct_time_end timestamp_end;\n"
	"\t\tct_u64 packet_seq_num;\n"
	"\t\tct_u64 events_discarded;\n"
	"\t\tct_u32 pid;\n"
	"\t\tct_u32 tid;\n"
	"\t};\n"
	"\tevent.header := struct {\n"
	"\t\tct_len16 id;\n"
	"\t\tct_time48 timestamp;\n"
	"\t} align(8);\n"
	"};\n"
	"\n"
	"enum ct_item_type : ct_u8 {\n"
	LABEL("binary", 0) LABEL("text", 16) LABEL("address_bytes", 32) LABEL("address", 40)
	LABEL("comp5_bytes", 48) LABELS("comp5", 49, 50, 51, 52, 53, 54, 55, 56)
	LABEL("compx_bytes", 64) LABELS("compx", 65, 66, 67, 68, 69, 70, 71, 72)
	LABEL("utf8", 80)
	LABEL("comp5s_bytes", 96) LABELS("comp5s", 97, 98, 99, 100, 101, 102, 103, 104)
	LABEL("compxs_bytes", 112) LABELS("compxs", 113, 114, 115, 116, 117, 118, 119, 120)
	"};\n"
	"\n"
	"struct ct_item {\n"
	"\tenum ct_item_type type;\n"
	"\tct_len32 len;\n"
	"\tvariant <type> {\n"
	BYTES("binary", "binary") BYTES("text", "text") BYTES("address_bytes", "binary") OPTION("address")
	BYTES("comp5_bytes", "binary") OPTIONS("comp5") BYTES("compx_bytes", "binary") OPTIONS("compx") BYTES("utf8", "utf8")
	BYTES("comp5s_bytes", "binary") OPTIONS("comp5s") BYTES("compxs_bytes", "binary") OPTIONS("compxs")
	"\t} value;\n"
	"};\n"
	"\n"
	"event {\n"
	"\tname = \"ctrace:any\";\n"
	"\tid = 1;\n"
	"\tstream_id = 0;\n"
	"\tfields := struct {\n"
	"\t\tct_u32 _component_number;\n"
	"\t\tstring { encoding = UTF8; } _component;\n"
	"\t\tct_u32 _event_id;\n"
	"\t\tenum : ct_u8 { DEBUG = 0, INFO = 1, WARN = 2, ERROR = 3, FATAL = 4 } _level;\n"
	"\t\tct_len16 _item_count;\n"
	"\t\tstruct ct_item _items[_item_count];\n"
	"\t};\n"
	"};\n"
	"\n";
/* clang-format on */

/* The names of the types of items: ct_<name>, or ct_<name>_<bytes>. */
static const struct type_name {
	const char *name;
	bool has_width;
} type_names[CTRACE_TYPE_COUNT] = {
	[CTRACE_TYPE_BINARY] = { "binary", false },   [CTRACE_TYPE_TEXT] = { "text", false },
	[CTRACE_TYPE_ADDRESS] = { "address", false }, [CTRACE_TYPE_COMP5] = { "comp5", true },
	[CTRACE_TYPE_COMPX] = { "compx", true },      [CTRACE_TYPE_UTF8] = { "utf8", false },
	[CTRACE_TYPE_COMP5S] = { "comp5s", true },    [CTRACE_TYPE_COMPXS] = { "compxs", true },
};

const uint32_t ct_metadata_loglevels[CTRACE_LEVEL_COUNT] = { 14, 6, 4, 3, 2 };

/* -----------------------------------------------------------------------------------------------
 * Printing
 */

/* Keeps plain ASCII.  Every other byte, quotes and backslashes become three octal digits, so no
 * byte can end the string or confuse a viewer's lexer. */
static void add_octal(struct ct_buf *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c >= 0x20 && c < 0x7F && c != '"' && c != '\\') {
			ct_buf_add_char(out, (char)c);
		} else {
			char octal[4] = { '\\', (char)('0' + (c >> 6)), (char)('0' + (c >> 3 & 7)),
					  (char)('0' + (c & 7)) };

			ct_buf_add(out, octal, sizeof octal);
		}
	}
}

/* A viewer prints names as they are.  So characters that could harm a terminal or a line are
 * escaped first, as in our own printers. */
static void add_string_body(struct ct_buf *out, const char *text, size_t size)
{
	struct ct_buf harmless;

	ct_buf_init(&harmless);
	ct_escape_add(&harmless, text, size);
	out->failed |= harmless.failed;
	add_octal(out, harmless.data, harmless.size);
	ct_buf_fini(&harmless);
}

static void add_string(struct ct_buf *out, const char *text, size_t limit)
{
	ct_buf_add_char(out, '"');
	add_string_body(out, text, strnlen(text, limit));
	ct_buf_add_char(out, '"');
}

static void add_uuid(struct ct_buf *out, const uint8_t uuid[16])
{
	ct_buf_add_char(out, '"');
	for (unsigned i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			ct_buf_add_char(out, '-');
		ct_buf_add_hex(out, uuid[i], 2, false);
	}
	ct_buf_add_char(out, '"');
}

/* Without the line the machine is little-endian, as all were once. */
static const char order_line[] = "\tnative_byte_order = \"be\";\n";

static void add_format(struct ct_buf *out, const char *format)
{
	if (format[0] == '\0')
		return;
	ct_buf_add_text(out, "\tformat = ");
	add_string(out, format, sizeof((struct ct_trace_info *)NULL)->format);
	ct_buf_add_text(out, ";\n");
}

void ct_trace_clock_print(char out[CT_TRACE_CLOCK + 1], const struct ct_trace_info *info)
{
	bool is_counter = info->frequency != 0;
	int size =
		snprintf(out, CT_TRACE_CLOCK,
			 "\tdescription = \"%s\";\n\tfreq = %" PRIu64 ";\n\toffset_s = %" PRIu64
			 ";\n\toffset = %" PRIu64 ";",
			 info->clock[0] != '\0' ? info->clock
			 : is_counter           ? "the counter of the machine that traced"
						: "nanoseconds since 1970-01-01 00:00 UTC",
			 is_counter ? info->frequency : 1000000000u, info->offset_s, info->offset);

	memset(out + size, ' ', CT_TRACE_CLOCK - 1 - (size_t)size);
	out[CT_TRACE_CLOCK - 1] = '\n';
	out[CT_TRACE_CLOCK] = '\0';
}

static void add_clock(struct ct_buf *out, const struct ct_trace_info *info)
{
	char clock[CT_TRACE_CLOCK + 1];

	ct_trace_clock_print(clock, info);
	ct_buf_add_text(out, clock);
}

static void add_value(struct ct_buf *out, const char *name, size_t size,
		      const struct ct_trace_info *info)
{
	if (ct_name_is(name, size, "$uuid"))
		add_uuid(out, info->uuid);
	else if (ct_name_is(name, size, "$host"))
		add_string(out, info->host, sizeof info->host);
	else if (ct_name_is(name, size, "$system"))
		add_string(out, info->system, sizeof info->system);
	else if (ct_name_is(name, size, "$program"))
		add_string(out, info->program, sizeof info->program);
	else if (ct_name_is(name, size, "$jobname"))
		add_string(out, info->jobname, sizeof info->jobname);
	else if (ct_name_is(name, size, "$order"))
		ct_buf_add_text(out, info->is_big ? order_line : "");
	else if (ct_name_is(name, size, "$format"))
		add_format(out, info->format);
	else if (ct_name_is(name, size, "$clock"))
		add_clock(out, info);
	else if (ct_name_is(name, size, "$pid"))
		ct_buf_add_u64(out, info->pid);
	else if (ct_name_is(name, size, "$asid"))
		ct_buf_add_u64(out, info->asid);
	else
		ct_buf_add_u64(out, info->start_ns);
}

void ct_schema_print_trace(struct ct_buf *out, const struct ct_trace_info *info)
{
	const char *at = template;

	for (;;) {
		const char *name = strchr(at, '$');
		size_t size;

		if (name == NULL)
			break;
		ct_buf_add(out, at, (size_t)(name - at));
		size = 1 + strspn(name + 1, "abcdefghijklmnopqrstuvwxyz");
		add_value(out, name, size, info);
		at = name + size;
	}
	ct_buf_add_text(out, at);
}

static const char *item_name(const struct ct_class *class, uint32_t index)
{
	return class->names != NULL && index < class->names->item_count ? class->names->items[index]
									: NULL;
}

static void add_field(struct ct_buf *out, const struct ct_class *class, uint32_t index)
{
	uint32_t item = class->items[index], size = item >> 8;
	const struct type_name *type = &type_names[item & 0xFF];
	const char *name = item_name(class, index);
	char numbered[24];

	if (name == NULL) {
		(void)snprintf(numbered, sizeof numbered, "data%u", index + 1);
		name = numbered;
	}
	if (ct_class_item_is_counted(item))
		ct_buf_add_format(out, "\t\tct_len%u _%s_len;\n\t\tct_%s _%s[_%s_len];\n",
				  size == CT_SIZE_COUNTED_16 ? 16 : 32, name, type->name, name,
				  name);
	else if (!ct_item_is_integer(item & 0xFF, size))
		ct_buf_add_format(out, "\t\tct_%s _%s[%u];\n", type->name, name, size);
	else if (!type->has_width)
		ct_buf_add_format(out, "\t\tct_%s _%s;\n", type->name, name);
	else
		ct_buf_add_format(out, "\t\tct_%s_%u _%s;\n", type->name, size, name);
}

/* What a class of events has beside its name: its number, and what CTRACE DEFINE said. */
static void add_uri(struct ct_buf *out, const struct ct_class *class)
{
	const struct ctrace_definition *definition = class->definition;

	ct_buf_add_format(out, "\tmodel.emf.uri = \"" CT_METADATA_URI "%u", class->event_id);
	if (definition != NULL) {
		ct_buf_add_text(out, CT_METADATA_FMTTAB);
		ct_buf_add_text(out, definition->fmttab);
		ct_buf_add_text(out, CT_METADATA_USERDATA);
		for (size_t i = 0; i < sizeof definition->userdata; i++)
			ct_buf_add_hex(out, definition->userdata[i], 2, false);
	}
	ct_buf_add_text(out, "\";\n");
}

/* Names go through class_names.c before they come here. */
void ct_schema_print_class(struct ct_buf *out, const struct ct_class *class)
{
	const char *mnemonic = class->names != NULL ? class->names->mnemonic : NULL;

	ct_buf_add_text(out, "event {\n\tname = \"");
	add_string_body(out, class->component, strlen(class->component));
	if (mnemonic != NULL)
		ct_buf_add_format(out, ":%s", mnemonic);
	else
		ct_buf_add_format(out, ":%u", class->event_id);
	ct_buf_add_format(out, "\";\n\tid = %u;\n\tstream_id = 0;\n\tloglevel = %u;\n",
			  class->number, ct_metadata_loglevels[class->level % CTRACE_LEVEL_COUNT]);
	if (class->names != NULL || class->definition != NULL)
		add_uri(out, class);
	ct_buf_add_text(out, "\tfields := struct {\n");
	for (uint32_t i = 0; i < class->item_count; i++)
		add_field(out, class, i);
	ct_buf_add_text(out, "\t};\n};\n\n");
}

/* -----------------------------------------------------------------------------------------------
 * Parsing the trace-wide part */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

const char *ct_uuid_parse(const char *text, uint8_t uuid[16])
{
	for (unsigned i = 0; i < 16; i++, text += 2) {
		if (*text == '-')
			text++;
		if (hex_digit(text[0]) < 0 || hex_digit(text[1]) < 0)
			return NULL;
		uuid[i] = (uint8_t)(hex_digit(text[0]) << 4 | hex_digit(text[1]));
	}
	return text;
}

/* Each of these returns the position behind a value, or NULL without one.  The caller ensures that
 * a line end follows at or behind `at`. */

static const char *skip_string(const char *at)
{
	if (*at++ != '"')
		return NULL;
	for (; *at != '"'; at++)
		if (*at == '\n' || (*at == '\\' && (at[1] < '0' || at[1] > '3')))
			return NULL;
	return at + 1;
}

static const char *read_number(const char *at, uint64_t limit, uint64_t *out_number)
{
	char *end;

	if (*at < '0' || *at > '9')
		return NULL;
	*out_number = strtoull(at, &end, 10);
	return *out_number <= limit ? end : NULL;
}

static const char *read_u32(const char *at, uint32_t *out_number)
{
	uint64_t number = 0;

	at = read_number(at, UINT32_MAX, &number);
	*out_number = (uint32_t)number;
	return at;
}

static const char *read_order(const char *at, struct ct_trace_info *info)
{
	info->is_big = strncmp(at, order_line, sizeof order_line - 1) == 0;
	return at + (info->is_big ? sizeof order_line - 1 : 0);
}

/* Skips the line that exists only when the trace has a format. */
static const char *skip_format(const char *at)
{
	static const char beginning[] = "\tformat = ";

	if (strncmp(at, beginning, sizeof beginning - 1) != 0)
		return at;
	at = skip_string(at + sizeof beginning - 1);
	return at != NULL && at[0] == ';' && at[1] == '\n' ? at + 2 : NULL;
}

static const char *read_clock(const char *at, size_t size, struct ct_trace_info *info)
{
	char lines[2 * CT_TRACE_CLOCK + 1];
	int used = 0;

	size = size < sizeof lines - 1 ? size : sizeof lines - 1;
	memcpy(lines, at, size);
	lines[size] = '\0';
	if (sscanf(lines,
		   "\tdescription = \"%76[^\"\\]\";\n\tfreq = %" SCNu64 ";\n\toffset_s = %" SCNu64
		   ";\n\toffset = %" SCNu64 ";%n",
		   info->clock, &info->frequency, &info->offset_s, &info->offset, &used) != 4 ||
	    used == 0)
		return NULL;
	used += (int)strspn(lines + used, " ");
	if (info->frequency == 1000000000u && info->offset_s == 0 && info->offset == 0)
		info->frequency = 0;
	return lines[used] == '\n' ? at + used + 1 : NULL;
}

static const char *read_value(const char *at, const char *end, const char *name, size_t size,
			      struct ct_trace_info *info)
{
	if (memchr(at, '\n', (size_t)(end - at)) == NULL)
		return NULL;
	if (ct_name_is(name, size, "$uuid")) {
		at = *at == '"' ? ct_uuid_parse(at + 1, info->uuid) : NULL;
		return at != NULL && *at == '"' ? at + 1 : NULL;
	}
	if (ct_name_is(name, size, "$order"))
		return read_order(at, info);
	if (ct_name_is(name, size, "$format"))
		return skip_format(at);
	if (ct_name_is(name, size, "$clock"))
		return read_clock(at, (size_t)(end - at), info);
	if (ct_name_is(name, size, "$pid"))
		return read_u32(at, &info->pid);
	if (ct_name_is(name, size, "$asid"))
		return read_u32(at, &info->asid);
	return ct_name_is(name, size, "$start") ? read_number(at, UINT64_MAX, &info->start_ns)
						: skip_string(at);
}

enum ctrace_status ct_schema_parse_trace(const char *text, size_t size,
					 struct ct_trace_info *out_info, size_t *out_at)
{
	const char *at = text, *end = text + size, *expected = template;
	struct ct_trace_info info = { 0 };

	while (*expected != '\0') {
		const char *behind = at < end && *at == *expected ? at + 1 : NULL;
		size_t used = 1;

		if (*expected == '$') {
			used += strspn(expected + 1, "abcdefghijklmnopqrstuvwxyz");
			behind = read_value(at, end, expected, used, &info);
		}
		*out_at = (size_t)(at - text);
		if (behind == NULL)
			return CTRACE_DAMAGED;
		at = behind;
		expected += used;
	}
	*out_at = (size_t)(at - text);
	*out_info = info;
	return CTRACE_OK;
}
