/*
 * ipcs_fixture.h - traces with fixed times for the tests of IPCS listings, and what a command says
 * of them.
 *
 * shop.ctb: host MVS1, job SHOP, asid 001A; a midnight in it, and a packet that is missing.
 * bank.ctb: host mvs2.example, job BANK, asid 000B.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_IPCS_FIXTURE_H
#define CT_IPCS_FIXTURE_H

#include "../emit/bin_fixture.h"
#include "print/ipcs/ipcs.h"

#define MIDNIGHT_NS 1700006400000000000u /* 2023-11-15 00:00:00 UTC */

static const char ipcs_catalog[] =
	"component: APPXYZ\n"
	"description: The shop\n"
	"events:\n"
	"  1:\n"
	"    mnemonic: OPEN\n"
	"    description: A file is opened\n"
	"    exit: 2\n"
	"    arguments:\n"
	"      - {name: FILE, key: true}\n"
	"      - {name: MODE, print: flags, values: {READ: 1, WRITE: 2}, key: true}\n"
	"      - {name: HANDLE, print: hex}\n"
	"  2:\n"
	"    mnemonic: CLOSE\n"
	"    description: A file is closed\n"
	"    arguments: [{name: HANDLE, print: hex}]\n"
	"  0x10:\n"
	"    mnemonic: BLOCK-READ\n"
	"    description: A block, as it was read\n"
	"    exception: true\n"
	"    arguments:\n"
	"      - {name: NUMBER, key: true}\n"
	"      - {name: BLOCK}\n"
	"  0x11:\n"
	"    mnemonic: GREETING\n"
	"    description: What a terminal got\n"
	"    arguments: [{name: TEXT, print: text, encoding: ebcdic-037, key: true}]\n";

struct ipcs_writer {
	struct fixture *f;
	struct ctrace_stream stream;
};

static UNUSED struct ctrace_event_item ipcs_text(const char *text)
{
	return (struct ctrace_event_item){ .type = CTRACE_TYPE_TEXT,
					   .size = (uint32_t)strlen(text),
					   .data = text };
}

static UNUSED struct ctrace_event_item ipcs_number(const uint32_t *value)
{
	return (struct ctrace_event_item){
		.type = CTRACE_TYPE_COMP5, .size = 4, .data = value, .value = *value
	};
}

static UNUSED struct ctrace_event_item ipcs_bytes(const void *bytes, uint32_t size)
{
	return (struct ctrace_event_item){ .type = CTRACE_TYPE_BINARY,
					   .size = size,
					   .data = bytes };
}

/* A packet of one event. */
static UNUSED void put_event(struct ipcs_writer *writer, uint64_t time_ns, const char *component,
			     uint32_t id, const struct ctrace_event_item *items, uint32_t count)
{
	struct ctrace_event event = {
		.time_ns = time_ns,
		.component = component,
		.component_size = (uint32_t)strlen(component),
		.component_id = ct_name_hash(component, strlen(component)),
		.event_id = id,
		.level = CTRACE_INFO,
		.pid = writer->f->context.pid,
		.tid = 100,
		.item_count = count,
		.items = items,
	};

	assert_int_equal(write_events(writer->f, &event, 1, &writer->stream, 1), CTRACE_OK);
}

static UNUSED void open_writer(struct ipcs_writer *writer, struct fixture *f, const char *file,
			       const char *host, const char *job, uint32_t asid)
{
	*writer = (struct ipcs_writer){ .f = f };
	memset(&f->place, 0, sizeof f->place);
	f->context.host = host;
	f->context.jobname = job;
	f->context.asid = asid;
	f->context.pid = 4700 + asid;
	(void)snprintf(f->properties, sizeof f->properties, "FILE=%s\n", file);
	fixture_open(f, NULL);
}

/* Takes the packet out of the stream file: what is behind it moves up. */
static UNUSED void remove_packet(const char *path, unsigned number)
{
	struct ct_buf bytes = { 0 };
	struct ct_packet_head head = { 0 };
	size_t at = 0, size = 0;
	FILE *file;

	assert_int_equal(ct_os_read_file(path, (size_t)1 << 20, &bytes), CTRACE_OK);
	for (unsigned i = 0; i <= number; i++) {
		at += size;
		assert_int_equal(ct_packet_decode_head((unsigned char *)bytes.data + at,
						       bytes.size - at, &head),
				 CTRACE_OK);
		size = head.packet_bits / 8;
	}
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes.data, 1, at, file), at);
	assert_int_equal(fwrite(bytes.data + at + size, 1, bytes.size - at - size, file),
			 bytes.size - at - size);
	assert_int_equal(fclose(file), 0);
	ct_buf_fini(&bytes);
}

static UNUSED void make_shop(struct fixture *f)
{
	static const unsigned char block[] =
		"\xE2\xC5\xD5\xC4\x80\x18\x01\x01\x02\x00\x00\x01\x00\x0A\x00\x02 and some more bytes";
	static const unsigned char hello[] = "\xC8\x85\x93\x93\x96\x6B\x40\xA6\x96\x99\x93\x84";
	const uint32_t one = 1, three = 3, handle = 0x06545768, number = 7;
	struct ctrace_event_item open1[] = { ipcs_text("orders.dat"), ipcs_number(&three),
					     ipcs_number(&handle) };
	struct ctrace_event_item open2[] = { ipcs_text("say \"hi\"\n\x1b[31m"), ipcs_number(&one),
					     ipcs_number(&handle) };
	struct ctrace_event_item close1[] = { ipcs_number(&handle) };
	struct ctrace_event_item read1[] = { ipcs_number(&number),
					     ipcs_bytes(block, sizeof block - 1) };
	struct ctrace_event_item greet[] = { ipcs_bytes(hello, sizeof hello - 1) };
	struct ctrace_event_item rts[] = { ipcs_bytes(block, sizeof block - 1), ipcs_text("rows"),
					   ipcs_number(&number) };
	struct ipcs_writer writer;

	open_writer(&writer, f, "shop.ctb", "MVS1", "SHOP", 0x1A);
	put_event(&writer, START_NS + 1000, "APPXYZ.SUBA", 1, open1, 3);
	put_event(&writer, START_NS + 2000, "APPXYZ.SUBA", 0x10, read1, 2);
	put_event(&writer, START_NS + 2000, "APPXYZ.SUBB", 0x11, greet, 1);
	put_event(&writer, START_NS + 5500000, "MF.RTS", 17, rts, 3);
	put_event(&writer, START_NS + 6000000, "APPXYZ.SUBA", 0x10, read1, 2);
	put_event(&writer, START_NS + 9000000, "APPXYZ.SUBA", 0x10, read1, 2); /* taken out below */
	put_event(&writer, START_NS + 90000000, "APPXYZ.SUBA", 0x10, read1, 2);
	put_event(&writer, START_NS + 95000000, "APPXYZ.SUBA", 0x99, close1, 1);
	put_event(&writer, MIDNIGHT_NS - 1000, "APPXYZ.SUBA", 2, close1, 1);
	put_event(&writer, MIDNIGHT_NS, "APPXYZ.SUBA", 1, open2, 3);
	put_event(&writer, MIDNIGHT_NS + 1234567, "APPXYZ.ASID(000F).X", 2, close1, 1);
	fixture_close(f);
	remove_packet("shop.ctb/stream.0", 5);
}

static UNUSED void make_bank(struct fixture *f)
{
	/* tests/golden/ipcs/ORDER.cpy */
	static const unsigned char record[] = "000042ADA LOVELACE\x01\x23\x45\x6CP";
	const uint32_t handle = 0x11, two = 2;
	struct ctrace_event_item order[] = { ipcs_bytes(record, sizeof record - 1) };
	struct ctrace_event_item open1[] = { ipcs_text("accounts"), ipcs_number(&two),
					     ipcs_number(&handle) };
	struct ctrace_event_item close1[] = { ipcs_number(&handle) };
	struct ipcs_writer writer;

	open_writer(&writer, f, "bank.ctb", "mvs2.example", "BANK", 0xB);
	put_event(&writer, START_NS + 1500, "APPXYZ.SUBA", 1, open1, 3);
	put_event(&writer, START_NS + 7000000, "APPXYZ.SUBA", 2, close1, 1);
	put_event(&writer, START_NS + 8000000, "BANK", 1, NULL, 0);
	put_event(&writer, START_NS + 8500000, "BANK", 2, order, 1);
	fixture_close(f);
}

static UNUSED int ipcs_setup(void **state)
{
	if (fixture_setup(state) != 0)
		return -1;
	make_shop(*state);
	make_bank(*state);
	return 0;
}

/* ---- commands ---- */

static UNUSED void collect(const char *text, size_t size, void *user)
{
	ct_buf_add(user, text, size);
}

static UNUSED void parse_command(const char *text, struct ct_ipcs_command *out)
{
	struct ct_diagnostic diagnostic;
	enum ct_ipcs_message message;

	if (ct_ipcs_parse(text, strlen(text), out, &message, &diagnostic) != CTRACE_OK)
		fail_msg("%s: column %u: %s; expected %s", text, diagnostic.column,
			 diagnostic.message, diagnostic.expected);
}

static UNUSED void open_reader(struct ct_ipcs_job *job, const struct ct_catalog *catalog,
			       const char *paths)
{
	struct ct_reader_options options = { .catalog = catalog,
					     .report = ct_ipcs_note,
					     .user = job };
	char path[64];

	assert_int_equal(ct_reader_create(&options, &job->reader), CTRACE_OK);
	while (*paths != '\0') {
		size_t size = strcspn(paths, " ");

		(void)snprintf(path, sizeof path, "%.*s", (int)size, paths);
		assert_int_equal(ct_reader_add(job->reader, path), CTRACE_OK);
		paths += size + (paths[size] == ' ');
	}
}

static UNUSED void diagnose_of_catalog(const char *path, const struct ct_diagnostic *diagnostic,
				       void *user)
{
	(void)user;
	fail_msg("%s:%u:%u: %s; expected %s", path, diagnostic->line, diagnostic->column,
		 diagnostic->message, diagnostic->expected);
}

/* What the commands (NULL behind the last) say of the traces; to be freed. */
struct ipcs_said {
	struct ct_buf text;
	enum ctrace_status status;
	uint64_t shown;
};

static UNUSED struct ipcs_said run_commands(const char *paths, const char *catalog_text,
					    const char *const *texts, bool is_merged,
					    const char *linklist)
{
	struct ct_ipcs_output output = { .write = collect, .linklist = linklist };
	struct ct_ipcs_command commands[CT_IPCS_MERGED];
	struct ct_ipcs_job *jobs[CT_IPCS_MERGED];
	struct ct_catalog *catalog = NULL;
	struct ipcs_said said = { .shown = 0 };
	size_t count = 0;

	ct_buf_init(&said.text);
	output.user = &said.text;
	if (catalog_text != NULL) {
		assert_int_equal(ct_catalog_create(&catalog), CTRACE_OK);
		assert_int_equal(ct_catalog_parse(catalog, "test.yaml", catalog_text,
						  strlen(catalog_text), diagnose_of_catalog, NULL),
				 CTRACE_OK);
	}
	for (; texts[count] != NULL; count++) {
		parse_command(texts[count], &commands[count]);
		jobs[count] = calloc(1, sizeof **jobs);
		jobs[count]->command = &commands[count];
		open_reader(jobs[count], catalog, paths);
	}
	said.status = ct_ipcs_run(jobs, count, is_merged, &output, &said.shown);
	for (size_t i = 0; i < count; i++) {
		ct_reader_destroy(jobs[i]->reader);
		free(jobs[i]);
		ct_ipcs_command_fini(&commands[i]);
	}
	ct_catalog_destroy(catalog);
	(void)ct_buf_text(&said.text);
	return said;
}

static UNUSED struct ipcs_said run_ipcs(const char *text)
{
	return run_commands("shop.ctb", ipcs_catalog, (const char *const[]){ text, NULL }, false,
			    NULL);
}

static UNUSED void assert_has(const struct ipcs_said *said, const char *part)
{
	if (strstr(said->text.data, part) == NULL)
		fail_msg("no <%s> in:\n%s", part, said->text.data);
}

static UNUSED void assert_lacks(const struct ipcs_said *said, const char *part)
{
	if (strstr(said->text.data, part) != NULL)
		fail_msg("<%s> in:\n%s", part, said->text.data);
}

#endif
