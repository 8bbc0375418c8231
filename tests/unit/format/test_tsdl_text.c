/*
 * test_tsdl_text.c - the text in a metadata file: plain, in packets of either byte order, cut, or
 * in a format that is not read.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "third_party_fixture.h"

#include <endian.h>

struct packet {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t checksum, content, size;
	uint8_t compression, encryption, scheme, major, minor;
	char text[27];
} __attribute__((packed));
_Static_assert(sizeof(struct packet) == 64, "a head of 37 bytes");

static struct packet make_packet(const char *text, bool big)
{
	struct packet packet = { .magic = 0x75D11D57,
				 .content = (uint32_t)(37 + strlen(text)) * 8,
				 .size = sizeof packet * 8,
				 .major = 1 };

	memcpy(packet.text, text, strlen(text));
	packet.magic = big ? htobe32(packet.magic) : htole32(packet.magic);
	packet.content = big ? htobe32(packet.content) : htole32(packet.content);
	packet.size = big ? htobe32(packet.size) : htole32(packet.size);
	return packet;
}

static void assert_text(const void *bytes, size_t size, enum ctrace_status wanted, const char *text,
			const char *message)
{
	struct ct_buf out = { 0 };
	const char *reported = "";

	assert_int_equal(ct_tsdl_text(bytes, size, &out, &reported), wanted);
	assert_string_equal(ct_buf_text(&out), text);
	assert_string_equal(reported != NULL ? reported : "", message);
	ct_buf_fini(&out);
}

static void plain(void **state)
{
	(void)state;
	assert_text("/* CTF 1.8 */", 13, CTRACE_OK, "/* CTF 1.8 */", "");
	assert_text("", 0, CTRACE_OK, "", "");
	assert_text("abc", 3, CTRACE_OK, "abc", "");
}

static void packets(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct packet two[2] = { make_packet("trace {", big != 0),
					 make_packet(" };", big != 0) };

		assert_text(two, sizeof two, CTRACE_OK, "trace { };", "");
		assert_text(two, 64 + 39, CTRACE_DAMAGED, "trace { }",
			    "the metadata end inside a packet");
		assert_text(two, 64 + 20, CTRACE_DAMAGED, "trace {",
			    "the metadata end inside a packet");
	}
}

static void packets_that_cannot_be(void **state)
{
	struct packet packet = make_packet("trace", false);

	(void)state;
	packet.compression = 1;
	assert_text(&packet, sizeof packet, CTRACE_UNSUPPORTED, "",
		    "the metadata are compressed, which ctrace does not read");
	packet.compression = 0;
	packet.encryption = 1;
	assert_text(&packet, sizeof packet, CTRACE_UNSUPPORTED, "",
		    "the metadata are encrypted, which ctrace does not read");
	packet = make_packet("trace", false);
	packet.size = 0;
	assert_text(&packet, sizeof packet, CTRACE_DAMAGED, "",
		    "a packet of the metadata has sizes that cannot be");
	packet.content = 8;
	assert_text(&packet, sizeof packet, CTRACE_DAMAGED, "",
		    "a packet of the metadata has sizes that cannot be");
}

static void the_next_format(void **state)
{
	static const char json[] = "\x1E{\"type\":\"preamble\",\"version\":2}";

	(void)state;
	assert_text(json, sizeof json - 1, CTRACE_UNSUPPORTED, json,
		    "Common Trace Format 2; ctrace reads 1.8");
}

int test_tsdl_text(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(plain), cmocka_unit_test(packets),
					    cmocka_unit_test(packets_that_cannot_be),
					    cmocka_unit_test(the_next_format) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
