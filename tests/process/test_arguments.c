/*
 * test_arguments.c - every routine with arguments at and beyond their limits: a documented status,
 * and no byte read or written that the caller did not offer.
 *
 * What a routine is given ends where a page ends that is followed by one that nobody may touch.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <ctrace/component.h>
#include <mfctf.h>

#define ROOM ((size_t)1 << 20)

/* `size` bytes, a copy of `from` when there is one, directly before the forbidden page.  Each kind
 * of argument has a place of its own. */
enum place { NAME, PROPERTY, VALUE, NUMBER, GROUP, LENGTHS, TYPES, POINTERS, DATA, PLACE_COUNT };
static void *at_the_edge(enum place place, const void *from, size_t size)
{
	static char *ends[PLACE_COUNT];
	char *at;

	if (ends[place] == NULL) {
		char *base = mmap(NULL, ROOM + 4096, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		REQUIRE(base != MAP_FAILED && mprotect(base + ROOM, 4096, PROT_NONE) == 0);
		ends[place] = base + ROOM;
	}
	at = ends[place] - size;
	if (from != NULL)
		memcpy(at, from, size);
	return at;
}

static cobuns8_t *text(enum place place, const char *from, char terminator)
{
	size_t size = strlen(from);
	char *at = at_the_edge(place, NULL, size + 1);

	memcpy(at, from, size);
	at[size] = terminator;
	return (cobuns8_t *)at;
}

/* `size` letters and no end. */
static cobuns8_t *endless(enum place place, size_t size)
{
	return memset(at_the_edge(place, NULL, size), 'x', size);
}

static cbl_x4_comp5_t *number(uint32_t value)
{
	return at_the_edge(NUMBER, &value, sizeof value);
}

static uint32_t number_at(const void *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof value);
	return value;
}

#define BY_NAME CTF_FLAG_COMPID_STRING

static void trace_group(const cobuns8_t **name, void **group)
{
	static const uint32_t head[11] = { 0, 0, 7, 1, 0 };

	*name = text(NAME, "arguments", ' ');
	*group = at_the_edge(GROUP, head, 44);
}

/* One valid call of each routine, with these flags on top. */
static int call(unsigned routine, uint32_t flags)
{
	const cobuns8_t *name;
	void *group;

	trace_group(&name, &group);
	switch (routine) {
	case 0:
		return CBL_CTF_TRACER_GET(flags, name, number(0));
	case 1:
		return CBL_CTF_TRACE(BY_NAME | flags, name, group);
	case 2:
		return CBL_CTF_LEVEL(BY_NAME | flags, 0, name);
	case 3:
		return CBL_CTF_TRACER_LEVEL_GET(BY_NAME | flags, name, number(0));
	case 4:
		return CBL_CTF_DEST(BY_NAME | flags, name, text(PROPERTY, "ES", ' '));
	case 5:
		return CBL_CTF_COMP_PROPERTY_SET(BY_NAME | flags, name, text(PROPERTY, "P", ' '),
						 text(VALUE, "12 ", ' '));
	case 6:
		return CBL_CTF_COMP_PROPERTY_GET(BY_NAME | flags, name, text(PROPERTY, "P", ' '),
						 number(4), at_the_edge(VALUE, NULL, 4));
	case 7:
		return CBL_CTF_EMITTER_PROPERTY_SET(flags, text(NAME, "ES", ' '),
						    text(PROPERTY, "P", ' '),
						    text(VALUE, "12 ", ' '));
	case 8:
		return CBL_CTF_EMITTER_PROPERTY_GET(flags, text(NAME, "ES", ' '),
						    text(PROPERTY, "P", ' '), number(4),
						    at_the_edge(VALUE, NULL, 4));
	default:
		return -1;
	}
}

static void reserved_bits(void)
{
	/* The bits that mean something, for each routine in turn. */
	static const uint32_t known[] = { 0x40000000, 0xC0003000, 0xC0000000,
					  0xC0000000, 0xD0000003, 0xE0000003,
					  0xE0000003, 0x30000003, 0x30000003 };

	for (unsigned routine = 0; routine < sizeof known / sizeof known[0]; routine++) {
		REQUIRE(call(routine, 0) == CTF_RET_SUCCESS);
		for (unsigned bit = 0; bit < 32; bit++)
			if ((known[routine] & 1u << bit) == 0)
				REQUIRE(call(routine, 1u << bit) == CTF_RET_SUCCESS);
		REQUIRE(call(routine, ~known[routine]) == CTF_RET_SUCCESS);
	}
}

static void names_without_an_end(void)
{
	static const struct {
		size_t size;
		bool is_component, is_emitter;
	} rows[] = { { 256, false, false },
		     { 257, false, false },
		     { 4096, false, false },
		     { 65536, false, false } };
	void *group;
	const cobuns8_t *name;

	trace_group(&name, &group);
	for (unsigned nul = 0; nul < 2; nul++) {
		char end = nul ? '\0' : ' ';
		uint32_t component = BY_NAME | (nul ? CTF_FLAG_COMP_NAME_NULL_TERM : 0),
			 property = nul ? CTF_FLAG_PROP_NAME_NULL_TERM : 0;
		uint32_t emitter = nul ? CTF_FLAG_EMITTER_NAME_NULL_TERM : 0;

		for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
			cobuns8_t *too_long = endless(NAME, rows[i].size);

			REQUIRE(CBL_CTF_TRACER_GET(component, too_long, number(0)) ==
				CTF_RET_INVALID_COMPONENT_NAME);
			REQUIRE(CBL_CTF_TRACE(component, too_long, group) ==
				CTF_RET_INVALID_COMPONENT_NAME);
			REQUIRE(CBL_CTF_LEVEL(component, 0, too_long) ==
				CTF_RET_INVALID_COMPONENT_NAME);
			REQUIRE(CBL_CTF_TRACER_LEVEL_GET(component, too_long, number(0)) ==
				CTF_RET_INVALID_COMPONENT_NAME);
			REQUIRE(CBL_CTF_EMITTER_PROPERTY_SET(emitter, too_long,
							     text(PROPERTY, "P", ' '),
							     NULL) == CTF_RET_INVALID_EMITTER_NAME);
			too_long = endless(PROPERTY, rows[i].size);
			REQUIRE(CBL_CTF_COMP_PROPERTY_SET(component | property,
							  text(NAME, "c", end), too_long,
							  NULL) == CTF_RET_INVALID_PROP_NAME);
			REQUIRE(CBL_CTF_COMP_PROPERTY_GET(component | property,
							  text(NAME, "c", end), too_long, number(0),
							  NULL) == CTF_RET_INVALID_PROP_NAME);
			REQUIRE(CBL_CTF_EMITTER_PROPERTY_SET(emitter | property,
							     text(NAME, "ES", end), too_long,
							     NULL) == CTF_RET_INVALID_PROP_NAME);
		}
		/* An emitter's name is known to be too long after 32 bytes. */
		REQUIRE(CBL_CTF_DEST(component | emitter, text(NAME, "c", end),
				     endless(PROPERTY, 32)) == CTF_RET_INVALID_EMITTER_NAME);
		/* The longest that there are. */
		memset(at_the_edge(NAME, NULL, 256), end, 256);
		memset(at_the_edge(NAME, NULL, 256), 'y', 255);
		REQUIRE(CBL_CTF_TRACER_GET(component, at_the_edge(NAME, NULL, 256), number(0)) ==
			CTF_RET_SUCCESS);
	}
}

static void nothing_there(void)
{
	cbl_x4_comp5_t *right;
	const cobuns8_t *name;
	void *group;

	trace_group(&name, &group);
	REQUIRE(CBL_CTF_TRACER_GET(0, NULL, number(0)) == CTF_RET_INVALID_COMPONENT_NAME);
	REQUIRE(CBL_CTF_TRACE(BY_NAME, NULL, group) == CTF_RET_INVALID_COMPONENT_NAME);
	REQUIRE(CBL_CTF_TRACE(0, NULL, group) == CTF_RET_INVALID_TRACE_HANDLE);
	REQUIRE(CBL_CTF_TRACE(BY_NAME, name, NULL) == CTF_RET_FAILURE);
	REQUIRE(cobctf_trace(BY_NAME, name, NULL) == CTF_RET_FAILURE);
	REQUIRE(CBL_CTF_LEVEL(0, 0, NULL) == CTF_RET_SUCCESS);
	REQUIRE(CBL_CTF_LEVEL(BY_NAME, 5, name) == CTF_RET_INVALID_TRACE_LEVEL);
	REQUIRE(CBL_CTF_TRACER_LEVEL_GET(0, NULL, number(9)) == CTF_RET_SUCCESS);
	REQUIRE(CBL_CTF_DEST(BY_NAME, name, NULL) == CTF_RET_INVALID_EMITTER_NAME);
	REQUIRE(CBL_CTF_COMP_PROPERTY_SET(BY_NAME, name, NULL, NULL) == CTF_RET_INVALID_PROP_NAME);
	REQUIRE(CBL_CTF_COMP_PROPERTY_GET(BY_NAME, name, NULL, NULL, NULL) ==
		CTF_RET_INVALID_PROP_NAME);
	REQUIRE(CBL_CTF_EMITTER_PROPERTY_SET(0, NULL, text(PROPERTY, "P", ' '), NULL) ==
		CTF_RET_INVALID_EMITTER_NAME);
	REQUIRE(CBL_CTF_EMITTER_PROPERTY_GET(0, NULL, text(PROPERTY, "P", ' '), NULL, NULL) ==
		CTF_RET_INVALID_EMITTER_NAME);
	REQUIRE(CBL_CTF_TRACER_NOTIFY(0, NULL) == CTF_RET_FAILURE);
	REQUIRE(CBL_CTF_TRACE_NOTIFY(1, NULL) == CTF_RET_FAILURE);
	REQUIRE(cobctf_tracer_notify(2, NULL) == CTF_RET_FAILURE);
	/* Handles that are none: a sample of them, in which each bit of a number comes and goes. */
	for (uint64_t handle = 0x7FFFFFFF; handle <= UINT32_MAX;
	     handle += getenv("CTRACE_TEST_LONG") != NULL ? 1 : 257)
		REQUIRE(CBL_CTF_TRACE(0, (void *)number((uint32_t)handle), group) ==
			CTF_RET_INVALID_TRACE_HANDLE);
	REQUIRE(CBL_CTF_TRACE(0, (void *)number(UINT32_MAX), group) ==
		CTF_RET_INVALID_TRACE_HANDLE);
	/* A right one with a bit of it wrong; other bits may give another component's. */
	right = number(0);
	REQUIRE(CBL_CTF_TRACER_GET(BY_NAME, name, right) == CTF_RET_SUCCESS);
	for (uint32_t handle = number_at(right), bit = 0; bit < 32; bit++)
		REQUIRE((bit >= 8 && bit < 16) ||
			CBL_CTF_TRACE(0, (void *)number(handle ^ 1u << bit), group) ==
				CTF_RET_INVALID_TRACE_HANDLE);
}

static void lengths_types_and_counts(void)
{
	static const uint32_t lengths[] = { 0,     1,     3,          8,          9,         65535,
					    65536, 65537, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF };
	static const uint32_t counts[] = { 4097, 65536, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF };
	const cobuns8_t *name;
	void *group;

	trace_group(&name, &group);
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		for (uint32_t type = 0; type < 10; type++) {
			/* too long: not a byte of it is read */
			size_t offered = lengths[i] <= 65536 ? lengths[i] : 0;
			void *data = memset(at_the_edge(DATA, NULL, offered), 'd', offered);
			TRACE_EVENT event = { .event_id = 1, .level = 1, .data_count = 1 };
			bool fits = lengths[i] <= 65536 || type == TRACE_EVENT_TYPE_ADDRESS;

			event.event_len = at_the_edge(LENGTHS, &lengths[i], 4);
			event.event_type = at_the_edge(TYPES, &type, 4);
			event.event_data = at_the_edge(POINTERS, &data, sizeof data);
			REQUIRE(cobctf_trace(BY_NAME, name,
					     at_the_edge(GROUP, &event, sizeof event)) ==
				(fits ? CTF_RET_SUCCESS : CTF_RET_NOT_ENOUGH_MEMORY));
			REQUIRE(cobctf_trace(BY_NAME | CTF_FLAG_ARRAY_DATA, name,
					     at_the_edge(GROUP, &event, sizeof event)) ==
				(fits ? CTF_RET_SUCCESS : CTF_RET_NOT_ENOUGH_MEMORY));
		}
	}
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
		TRACE_EVENT event = { .event_id = 1, .level = 1, .data_count = counts[i] };

		event.event_len = at_the_edge(LENGTHS, NULL, 0);
		event.event_type = at_the_edge(TYPES, NULL, 0);
		event.event_data = at_the_edge(POINTERS, NULL, 0);
		REQUIRE(cobctf_trace(BY_NAME, name, at_the_edge(GROUP, &event, sizeof event)) ==
			CTF_RET_NOT_ENOUGH_MEMORY);
	}
}

static void sizes_of_answers(void)
{
	static const uint32_t sizes[] = { 0, 1, 5, 6, 7, 4096 };

	REQUIRE(CBL_CTF_COMP_PROPERTY_SET(BY_NAME, text(NAME, "c", ' '), text(PROPERTY, "P", ' '),
					  text(VALUE, "12345", ' ')) == CTF_RET_SUCCESS);
	for (unsigned nul = 0; nul < 2; nul++) {
		uint32_t flags = BY_NAME | (nul ? CTF_FLAG_PROP_VALUE_NULL_TERM : 0);

		for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
			char *value = memset(at_the_edge(VALUE, NULL, sizes[i]), '#', sizes[i]);
			cbl_x4_comp5_t *size = number(sizes[i]);
			int status = CBL_CTF_COMP_PROPERTY_GET(
				flags, text(NAME, "c", ' '), text(PROPERTY, "P", ' '), size, value);

			REQUIRE(status ==
				(sizes[i] >= 6 ? CTF_RET_SUCCESS : CTF_RET_BUFFER_TOO_SMALL));
			REQUIRE(number_at(size) == (sizes[i] >= 6 ? 5 : 6));
			REQUIRE(sizes[i] == 0 || value[0] == (sizes[i] >= 6 ? '1' : '#'));
		}
	}
	REQUIRE(CBL_CTF_COMP_PROPERTY_GET(BY_NAME | CTF_FLAG_PROP_INT_VALUE, text(NAME, "c", ' '),
					  text(PROPERTY, "P", ' '), NULL,
					  at_the_edge(VALUE, NULL, 4)) == CTF_RET_SUCCESS);
	REQUIRE(number_at(at_the_edge(VALUE, NULL, 4)) == 12345);
	for (size_t size = sizeof size; size <= sizeof(struct ctrace_stats); size += sizeof size)
		ctrace_stats_get(memcpy(at_the_edge(VALUE, NULL, size), &size, sizeof size));
}

/* ---- what is wrong with a native call ---- */

static char endless_name[300]; /* longer than any name, sublevel, option list or member */
/* NULL, which the compiler must not see where a text is asked for */
static const char *const no_text;
static struct ctrace_tracer tracer = CTRACE_TRACER("arguments");

static struct ctrace_outcome outcome;

static uint32_t define(struct ctrace_define request)
{
	return ctrace_component_define(&request, &outcome);
}

static uint32_t delete (struct ctrace_delete request)
{
	return ctrace_component_delete(&request, &outcome);
}

static uint32_t command(struct ctrace_trace_ct request)
{
	return ctrace_trace_ct(&request, &outcome);
}

static uint32_t change(struct ctrace_tbwc *tbwc, uint32_t mode)
{
	return ctrace_tbwc_change(tbwc, &(struct ctrace_tbwc_change){ .mode = mode });
}

static uint32_t emit(uint32_t type, const void *data, uint32_t size)
{
	struct ctrace_item item = { .data = data, .size = size, .type = type };

	return ctrace_emit(&tracer, CTRACE_INFO, 1, &item, 1);
}

struct answer {
	const char *call;
	uint32_t got, wanted;
};
#define ANSWER(call, wanted) \
	{ \
#call, (uint32_t)(call), (uint32_t)(wanted) \
	}

static void check_answers(const struct answer *answers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (answers[i].got != answers[i].wanted) {
			(void)fprintf(stderr, "%s: %u, not %u\n", answers[i].call, answers[i].got,
				      answers[i].wanted);
			REQUIRE(false);
		}
}
#define CHECK(answers) check_answers(answers, sizeof answers / sizeof(answers)[0])

static void wrong_names_and_places(void)
{
	struct ctrace_tracer *got = NULL;
	struct ctrace_tracer nameless = CTRACE_TRACER(""), too_long = CTRACE_TRACER(endless_name),
			     old = CTRACE_TRACER("old");
	size_t huge = SIZE_MAX, none = 0;
	char value[16];
	uint32_t level;

	memset(endless_name, 'A', sizeof endless_name - 1);
	old.abi = CTRACE_ABI + 1;
	{
		const struct answer answers[] = {
			ANSWER(ctrace_tracer_get(no_text, &got), CTRACE_INVALID_COMPONENT_NAME),
			ANSWER(ctrace_tracer_get("", &got), CTRACE_INVALID_COMPONENT_NAME),
			ANSWER(ctrace_tracer_get("a..b", &got), CTRACE_INVALID_COMPONENT_NAME),
			ANSWER(ctrace_tracer_get(endless_name, &got),
			       CTRACE_INVALID_COMPONENT_NAME),
			ANSWER(ctrace_tracer_get("x", NULL), CTRACE_FAILURE),
			ANSWER(ctrace_configure(no_text), CTRACE_SYNTAX_ERROR),
			ANSWER(ctrace_configure(endless_name), CTRACE_SYNTAX_ERROR),
			ANSWER(ctrace_level_set(NULL, 5), CTRACE_INVALID_TRACE_LEVEL),
			ANSWER(ctrace_level_set(endless_name, 0), CTRACE_INVALID_COMPONENT_NAME),
			ANSWER(ctrace_level_get(NULL, NULL), CTRACE_FAILURE),
			ANSWER(ctrace_level_get("a..b", &level), CTRACE_INVALID_COMPONENT_NAME),
			ANSWER(ctrace_dest_set("x", no_text, CTRACE_DEST_ADD),
			       CTRACE_INVALID_EMITTER_NAME),
			ANSWER(ctrace_dest_set("x", endless_name, CTRACE_DEST_ADD),
			       CTRACE_INVALID_EMITTER_NAME),
			ANSWER(ctrace_dest_set("x", "TEXTFILE", CTRACE_DEST_REMOVE | 0xFFFFFFF0),
			       CTRACE_EMITTER_NOT_FOUND),
			ANSWER(ctrace_component_property_set(no_text, "P", "v"),
			       CTRACE_INVALID_COMPONENT_NAME),
			ANSWER(ctrace_component_property_set("x", no_text, "v"),
			       CTRACE_INVALID_PROP_NAME),
			ANSWER(ctrace_component_property_set("x", endless_name, "v"),
			       CTRACE_INVALID_PROP_NAME),
			ANSWER(ctrace_component_property_set("x", "P", no_text), CTRACE_OK),
			ANSWER(ctrace_component_property_get("x", "P", value, NULL),
			       CTRACE_FAILURE),
			ANSWER(ctrace_component_property_get("x", "Q", value, &huge),
			       CTRACE_PROPERTY_NOT_FOUND),
			ANSWER(ctrace_component_property_get("x", "P", value, &none),
			       CTRACE_BUFFER_TOO_SMALL),
			ANSWER(ctrace_emitter_property_set(no_text, "P", "v"),
			       CTRACE_INVALID_EMITTER_NAME),
			ANSWER(ctrace_emitter_property_set("NOBODY", "P", "v"),
			       CTRACE_EMITTER_NOT_FOUND),
			ANSWER(ctrace_emitter_property_set("ES", no_text, "v"),
			       CTRACE_INVALID_PROP_NAME),
			ANSWER(ctrace_emitter_property_get("TEXTFILE", "FORMAT", value, NULL),
			       CTRACE_FAILURE),
			ANSWER(ctrace_emit(&tracer, 99, 1, NULL, 0), CTRACE_INVALID_TRACE_LEVEL),
			ANSWER(ctrace_emit(&tracer, CTRACE_INFO, 1, NULL, UINT32_MAX),
			       CTRACE_NOT_ENOUGH_MEMORY),
			ANSWER(ctrace_emit(&tracer, CTRACE_INFO, 1, NULL, CTRACE_MAX_ITEMS + 1),
			       CTRACE_NOT_ENOUGH_MEMORY),
			ANSWER(emit(CTRACE_TYPE_TEXT, "x", UINT32_MAX), CTRACE_NOT_ENOUGH_MEMORY),
			ANSWER(emit(CTRACE_TYPE_TEXT, "x", CTRACE_MAX_ITEM_SIZE + 1),
			       CTRACE_NOT_ENOUGH_MEMORY),
			ANSWER(emit(UINT32_MAX, "x", 1), CTRACE_OK),
			ANSWER(ctrace_emit(&nameless, CTRACE_INFO, 1, NULL, 0),
			       CTRACE_INVALID_COMPONENT_NAME),
			ANSWER(ctrace_emit(&too_long, CTRACE_INFO, 1, NULL, 0),
			       CTRACE_INVALID_COMPONENT_NAME),
			ANSWER(ctrace_flush(UINT32_MAX), CTRACE_OK),
		};

		CHECK(answers);
	}
	(void)ctrace_emit(&old, CTRACE_INFO, 1, NULL, 0);
	/* Its length; the value was not written to, as it has no byte. */
	REQUIRE(none == 0 && got == NULL);
	ctrace_stats_get(NULL);
	for (int number = -1; number < 100; number++)
		REQUIRE(ctrace_status_name((enum ctrace_status)number)[0] != '\0' &&
			ctrace_status_text((enum ctrace_status)number)[0] != '\0' &&
			ctrace_loss_name((enum ctrace_loss)number)[0] != '\0');
}

static uint32_t never(struct ctrace_ctss *ctss)
{
	(void)ctss;
	return 0;
}

static void wrong_macros(void)
{
	struct ctrace_display *shown = at_the_edge(VALUE, NULL, 8);
	struct ctrace_display whole = { .size = sizeof whole };
	struct ctrace_outcome unknown;
	struct ctrace_tracer *got;

	memset(endless_name, 'A', sizeof endless_name - 1);
	memset(&unknown, 0xFF, sizeof unknown);
	REQUIRE(ctrace_routine_register("STARTER", never) == CTRACE_OK);
	REQUIRE(define((struct ctrace_define){ CTRACE_DEFINE_INIT, .name = "GOOD",
					       .startnam = "STARTER" }) == CTRACE_RC_OK);
	{
		const struct answer answers[] = {
			ANSWER(ctrace_component_define(NULL, NULL), CTRACE_RC_ABEND),
			ANSWER(ctrace_component_define(NULL, &outcome), CTRACE_RC_ABEND),
			ANSWER(define((struct ctrace_define){ .size = 0 }), CTRACE_RC_ABEND),
			ANSWER(define((struct ctrace_define){ .size = 4 }), CTRACE_RC_ABEND),
			ANSWER(define((struct ctrace_define){ .size = UINT32_MAX }),
			       CTRACE_RC_ABEND),
			ANSWER(define((struct ctrace_define){ CTRACE_DEFINE_INIT }),
			       CTRACE_RC_ABEND),
			ANSWER(define((struct ctrace_define){ .size = sizeof(struct ctrace_define),
							      .version = 99,
							      .service = 1 }),
			       CTRACE_RC_ABEND),
			ANSWER(define((struct ctrace_define){ .size = sizeof(struct ctrace_define),
							      .version = CTRACE_PLIST_VERSION,
							      .service = 99 }),
			       CTRACE_RC_ABEND),
			ANSWER(define((struct ctrace_define){ CTRACE_DEFINE_INIT,
							      .name = endless_name,
							      .startnam = "STARTER" }),
			       CTRACE_RC_ABEND),
			ANSWER(ctrace_component_delete(NULL, NULL), CTRACE_RC_ABEND),
			ANSWER(delete ((struct ctrace_delete){ .size = 1 }), CTRACE_RC_ABEND),
			ANSWER(delete ((struct ctrace_delete){ CTRACE_DELETE_INIT,
							       .name = "NOBODY" }),
			       CTRACE_RC_EXISTS),
			ANSWER(ctrace_trace_ct(NULL, NULL), CTRACE_RC_ABEND),
			ANSWER(command((struct ctrace_trace_ct){ .size = 1 }), CTRACE_RC_ABEND),
			ANSWER(command((struct ctrace_trace_ct){ CTRACE_TRACE_CT_INIT,
								 .name = "GOOD", .state = 99 }),
			       CTRACE_RC_ABEND),
			ANSWER(ctrace_component_display("GOOD", NULL, NULL), CTRACE_FAILURE),
			ANSWER(ctrace_component_display(no_text, NULL, &whole),
			       CTRACE_INVALID_COMPONENT_NAME),
			ANSWER(ctrace_component_display("GOOD", endless_name, &whole),
			       CTRACE_INVALID_COMPONENT_NAME),
			ANSWER(ctrace_component_display("NOBODY", NULL, &whole), CTRACE_NOT_FOUND),
			ANSWER(ctrace_component_tracer(no_text, NULL, &got),
			       CTRACE_INVALID_COMPONENT_NAME),
			ANSWER(ctrace_component_tracer("NOBODY", NULL, &got), CTRACE_NOT_FOUND),
			ANSWER(ctrace_component_tracer("GOOD", NULL, NULL), CTRACE_FAILURE),
			ANSWER(ctrace_routine_register(no_text, never),
			       CTRACE_INVALID_COMPONENT_NAME),
			ANSWER(ctrace_routine_register(endless_name, never),
			       CTRACE_INVALID_COMPONENT_NAME),
			ANSWER(ctrace_wto(UINT64_MAX, "x"), CTRACE_NOT_FOUND),
			ANSWER(ctrace_wto(0, no_text), CTRACE_FAILURE),
		};

		CHECK(answers);
	}
	REQUIRE(ctrace_outcome_text(NULL)[0] != '\0' && ctrace_outcome_text(&unknown)[0] != '\0');
	/* No byte more than the caller says that there is. */
	shown->size = 8;
	REQUIRE(ctrace_component_display("GOOD", NULL, shown) == CTRACE_OK);
	whole.size = UINT32_MAX;
	REQUIRE(ctrace_component_display("GOOD", NULL, &whole) == CTRACE_OK);
}

static void wrong_buffers(void)
{
	unsigned char *buffer = at_the_edge(DATA, NULL, 100);
	struct ctrace_tbwc tbwc = { .word = 0 };
	size_t used = 0, beyond = SIZE_MAX;
	const struct answer answers[] = {
		ANSWER(ctrace_cte_add(NULL, 0, NULL, 1, NULL, 0), false),
		ANSWER(ctrace_cte_add(NULL, 100, &used, 1, NULL, 0), false),
		ANSWER(ctrace_cte_add(buffer, 100, NULL, 1, NULL, 0), false),
		ANSWER(ctrace_cte_add(buffer, 100, &beyond, 1, NULL, 0), false),
		ANSWER(ctrace_cte_add(buffer, SIZE_MAX, &used, 1, buffer, SIZE_MAX), false),
		ANSWER(ctrace_cte_add(buffer, 100, &used, 1, buffer, 83), false),
		ANSWER(ctrace_tbwc_init(NULL, buffer, 100, CTRACE_PAGEABLE), CTRACE_UNSUPPORTED),
		ANSWER(ctrace_tbwc_init(&tbwc, NULL, 100, CTRACE_PAGEABLE), CTRACE_UNSUPPORTED),
		ANSWER(ctrace_tbwc_init(&tbwc, buffer, 0, CTRACE_PAGEABLE), CTRACE_UNSUPPORTED),
		ANSWER(ctrace_tbwc_init(&tbwc, buffer, 100, 99), CTRACE_UNSUPPORTED),
		ANSWER(ctrace_tbwc_init(&tbwc, buffer, SIZE_MAX, CTRACE_FIXED), CTRACE_UNSUPPORTED),
		ANSWER(ctrace_tbwc_state(NULL), 0),
		ANSWER(ctrace_tbwc_sequence(NULL), 0),
		ANSWER(ctrace_tbwc_change(NULL, NULL), false),
		ANSWER(change(NULL, CTRACE_TBWC_FILLING), false),
		ANSWER(ctrace_tbwc_change(&tbwc, NULL), false),
		ANSWER(change(&tbwc, 99), false),
		ANSWER(ctrace_write_buffer(NULL, NULL), CTRACE_WR_REFUSED),
		ANSWER(ctrace_write_buffer(&(struct ctrace_write){ .size = 1 }, NULL),
		       CTRACE_WR_REFUSED),
		ANSWER(ctrace_write_buffer(
			       &(struct ctrace_write){ CTRACE_WRITE_INIT, .token = UINT64_MAX },
			       NULL),
		       CTRACE_WR_REFUSED),
	};

	CHECK(answers);
	ctrace_tbwc_fini(NULL);
	ctrace_tbwc_fini(&tbwc);
	REQUIRE(used == 0 && tbwc.word == 0);
}

static void every_case(void (*body)(void))
{
	scenario_begin("mftrace.level = debug\nmftrace.dest = es\nctrace.overflow = block\n");
	scenario_run(body);
	scenario_end();
}

static void reserved_bits_change_nothing(void **state)
{
	(void)state;
	every_case(reserved_bits);
}

static void a_name_without_an_end_is_refused_in_time(void **state)
{
	(void)state;
	every_case(names_without_an_end);
}

static void null_and_handles_that_nobody_gave(void **state)
{
	(void)state;
	every_case(nothing_there);
}

static void no_item_is_read_beyond_what_it_may_have(void **state)
{
	(void)state;
	every_case(lengths_types_and_counts);
}

static void no_answer_is_longer_than_its_place(void **state)
{
	(void)state;
	every_case(sizes_of_answers);
}

static void a_native_call_with_wrong_arguments_says_so(void **state)
{
	(void)state;
	every_case(wrong_names_and_places);
}

static void a_macro_with_wrong_arguments_says_so(void **state)
{
	(void)state;
	every_case(wrong_macros);
}

static void a_buffer_that_cannot_be_is_refused(void **state)
{
	(void)state;
	every_case(wrong_buffers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reserved_bits_change_nothing),
		cmocka_unit_test(a_name_without_an_end_is_refused_in_time),
		cmocka_unit_test(null_and_handles_that_nobody_gave),
		cmocka_unit_test(no_item_is_read_beyond_what_it_may_have),
		cmocka_unit_test(no_answer_is_longer_than_its_place),
		cmocka_unit_test(a_native_call_with_wrong_arguments_says_so),
		cmocka_unit_test(a_macro_with_wrong_arguments_says_so),
		cmocka_unit_test(a_buffer_that_cannot_be_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
