/*
 * terminal.c - ACCEPT and DISPLAY with their text: mf.rts.io.
 *
 * What is accepted without an echo is not traced: it is a password.  On the thread of the COBOL
 * program.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cobol_runtime/cobol_runtime.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define TEXT_SIZE 4096 /* of a longer text its beginning is traced */
#define NUMBER_SIZE 128
#define FIELDS_FEW 16
#define FIELDS_MANY 128
#define FIELDS_MOST 1024

struct text {
	char bytes[TEXT_SIZE];
	size_t size;
};

static void text_add(struct text *text, const void *bytes, size_t size)
{
	if (size > sizeof text->bytes - text->size)
		size = sizeof text->bytes - text->size;
	memcpy(text->bytes + text->size, bytes, size);
	text->size += size;
}

/* As DISPLAY shows it, without -fno-pretty-display. */
static void text_add_field(struct text *text, const cob_field *field)
{
	static const char *(*print)(const cob_field *, char *, size_t);
	char number[NUMBER_SIZE] = "";

	if (field == NULL || field->data == NULL || field->size == 0)
		return;
	if (field->attr == NULL || (field->attr->type & COB_TYPE_NUMERIC) == 0) {
		text_add(text, field->data, field->size);
		return;
	}
	if (print == NULL)
		print = (const char *(*)(const cob_field *, char *, size_t))(
			uintptr_t)ct_calls_find_real("cob_get_field_str", NULL);
	if (print != NULL && print(field, number, sizeof number) == number)
		text_add(text, number, strnlen(number, sizeof number));
}

static void display_trace(int device, cob_field *const *fields, int count)
{
	struct ct_where where = ct_program_where();
	struct text text = { .size = 0 };
	int error = errno;

	for (int at = 0; at < count; at++)
		text_add_field(&text, fields[at]);
	CTRACE(&ct_io, CTRACE_INFO, 1001, CTRACE_TEXT(text.bytes, text.size), CTRACE_U32(device),
	       CTRACE_TEXT(where.program.text, where.program.size), CTRACE_U32(where.line));
	errno = error;
}

#define FOUR(f, at) f[at], f[at + 1], f[at + 2], f[at + 3]
#define SIXTEEN(f, at) FOUR(f, at), FOUR(f, at + 4), FOUR(f, at + 8), FOUR(f, at + 12)
#define MANY(f, at) \
	SIXTEEN(f, at), SIXTEEN(f, at + 16), SIXTEEN(f, at + 32), SIXTEEN(f, at + 48), \
		SIXTEEN(f, at + 64), SIXTEEN(f, at + 80), SIXTEEN(f, at + 96), \
		SIXTEEN(f, at + 112)

/* A function with a variable number of arguments is called with as many as there may be; libcob
 * reads `count` of them. */
static void display_pass(int device, int ends_line, int count, cob_field **f)
{
	if (count <= FIELDS_FEW)
		PASS(cob_display, device, ends_line, count, SIXTEEN(f, 0));
	else if (count <= FIELDS_MANY)
		PASS(cob_display, device, ends_line, count, MANY(f, 0));
	else
		PASS(cob_display, device, ends_line, count, MANY(f, 0), MANY(f, 128), MANY(f, 256),
		     MANY(f, 384), MANY(f, 512), MANY(f, 640), MANY(f, 768), MANY(f, 896));
}

void cob_display(const int device, const int ends_line, const int count, ...)
{
	cob_field *fields[FIELDS_MOST];
	int left = count;
	va_list arguments;

	if (UNLIKELY(atomic_load_explicit(&ct_cob_display, memory_order_relaxed) == NULL))
		ct_calls_find();
	va_start(arguments, count);
	/* More fields than fit are displayed in parts of one line. */
	do {
		int part = left < FIELDS_MOST ? left : FIELDS_MOST;
		int room = part <= FIELDS_FEW    ? FIELDS_FEW
			   : part <= FIELDS_MANY ? FIELDS_MANY
						 : FIELDS_MOST;

		for (int at = 0; at < room; at++)
			fields[at] = at < part ? va_arg(arguments, cob_field *) : NULL;
		left -= part;
		if (ct_is_on(&ct_io, CTRACE_INFO) && ct_run_unit_version_is_known)
			display_trace(device, fields, part);
		display_pass(device, left > 0 ? 0 : ends_line, part, fields);
	} while (left > 0);
	va_end(arguments);
}

static void accept_trace(const cob_field *field)
{
	struct ct_where where = ct_program_where();
	struct text text = { .size = 0 };
	int error = errno;

	text_add_field(&text, field);
	CTRACE(&ct_io, CTRACE_INFO, 1002, CTRACE_TEXT(text.bytes, text.size),
	       CTRACE_TEXT(where.program.text, where.program.size), CTRACE_U32(where.line));
	errno = error;
}

/* In screen mode ACCEPT becomes ACCEPT of a field inside libcob: one event. */
static bool accept_goes_on;

void cob_accept(cob_field *field)
{
	accept_goes_on = true;
	PASS(cob_accept, field);
	accept_goes_on = false;
	if (ct_is_on(&ct_io, CTRACE_INFO) && ct_run_unit_version_is_known)
		accept_trace(field);
}

void cob_field_accept(cob_field *field, cob_field *line, cob_field *column, cob_field *foreground,
		      cob_field *background, cob_field *scroll, cob_field *timeout,
		      cob_field *prompt, cob_field *size, const cob_flags_t flags)
{
	PASS(cob_field_accept, field, line, column, foreground, background, scroll, timeout, prompt,
	     size, flags);
	if (ct_is_on(&ct_io, CTRACE_INFO) && !accept_goes_on && ct_run_unit_version_is_known)
		accept_trace((flags & (COB_SCREEN_SECURE | COB_SCREEN_NO_ECHO)) == 0 ? field
										     : NULL);
}
