/*
 * copybook_picture.c - parses a PICTURE: the kind of its item, its characters and digits, and the
 * position of its point.
 *
 * Called by copybook_clause.c with the picture's text.  Pure.  It checks only what the size depends
 * on; the order of insertion characters is left to the compiler.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <string.h>

#define PICTURE_LIMIT 255u

struct reading {
	const char *text;
	size_t size, at;
	const struct ct_picture_context *context;
	struct ct_picture_error *error;
	uint64_t characters; /* of the item */
	uint64_t nines, p_before, p_after;
	uint64_t behind_point;
	bool is_signed, has_point, has_letter, has_text, has_national, has_insertion, has_editing;
};

static bool picture_fail(struct reading *reading, const char *message, const char *expected)
{
	*reading->error = (struct ct_picture_error){ reading->at, message, expected };
	return false;
}

static char char_upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Reads (5) or (NAME) behind a symbol. */
static bool picture_take_count(struct reading *reading, uint64_t *out_count)
{
	const char *from, *to;
	int64_t value = 0;

	*out_count = 1;
	if (reading->at >= reading->size || reading->text[reading->at] != '(')
		return true;
	from = reading->text + reading->at + 1;
	to = memchr(from, ')', reading->size - reading->at - 1);
	if (to == NULL)
		return picture_fail(reading, "the picture lacks a closing parenthesis",
				    "a number and )");
	if (!ct_integer_parse(from, (size_t)(to - from), &value) &&
	    (!reading->context->find(reading->context->user, from, (size_t)(to - from), &value) ||
	     value < 0))
		return picture_fail(reading,
				    "the picture repeats a symbol an unknown number of times",
				    "a number, or a level 78 with one");
	*out_count = (uint64_t)value;
	if (*out_count == 0 || *out_count > CT_RECORD_LIMIT)
		return picture_fail(reading, "the picture repeats a symbol too often or not at all",
				    "1 to 268435456");
	reading->at = (size_t)(to + 1 - reading->text);
	return true;
}

/* Reads CR or DB, which are two characters. */
static bool picture_take_pair(struct reading *reading, char c)
{
	char second = c == 'C' ? 'R' : 'B';

	if (reading->at >= reading->size || char_upper(reading->text[reading->at]) != second)
		return picture_fail(reading, "the picture has half of CR or DB", "CR or DB");
	reading->at++;
	reading->characters += 2;
	reading->has_editing = true;
	return true;
}

static bool picture_take_nines(struct reading *reading, uint64_t count)
{
	if (reading->p_after > 0)
		return picture_fail(reading, "the picture has a 9 behind a P behind a 9",
				    "P only before or only behind all digits");
	reading->nines += count;
	reading->characters += count;
	if (reading->has_point)
		reading->behind_point += count;
	return true;
}

static bool picture_take_p(struct reading *reading, uint64_t count)
{
	if (count > CT_NUMBER_DIGITS)
		return picture_fail(reading, "the picture has too many digits",
				    "at most 38 digits");
	if (reading->nines > 0 || reading->has_editing)
		reading->p_after += count;
	else
		reading->p_before += count;
	return true;
}

static bool picture_take_symbol(struct reading *reading, char c, uint64_t count)
{
	switch (c) {
	case 'X':
		reading->has_text = true;
		break;
	case 'A':
		reading->has_letter = true;
		break;
	case 'N':
		reading->has_national = true;
		break;
	case '9':
		return picture_take_nines(reading, count);
	case 'P':
		return picture_take_p(reading, count);
	case 'S':
		if (reading->at != 1)
			return picture_fail(reading,
					    "the picture has an S that is not its first symbol",
					    "S once and first");
		reading->is_signed = true;
		return true;
	case 'V':
		if (reading->has_point)
			return picture_fail(reading, "the picture has two decimal points",
					    "one V or one point");
		reading->has_point = true;
		return true;
	case 'B':
	case '0':
	case '/':
		reading->has_insertion = true;
		break;
	case '.': /* either may be the decimal point */
	case ',':
	case 'Z':
	case '*':
	case '+':
	case '-':
		reading->has_editing = true;
		break;
	default:
		if (c != '$' && (c != char_upper(reading->context->currency) || c == '\0')) {
			reading->at--;
			return picture_fail(
				reading, "the picture has a symbol that is not known",
				"A B N P S V X Z 9 0 / , . + - * CR DB or the currency sign");
		}
		reading->has_editing = true;
	}
	reading->characters += count;
	return true;
}

static bool picture_take_all(struct reading *reading)
{
	while (reading->at < reading->size) {
		char c = char_upper(reading->text[reading->at++]);
		uint64_t count;

		if ((c == 'C' || c == 'D') && c != char_upper(reading->context->currency)) {
			if (!picture_take_pair(reading, c))
				return false;
			continue;
		}
		if (!picture_take_count(reading, &count) || !picture_take_symbol(reading, c, count))
			return false;
		if (reading->characters > CT_RECORD_LIMIT)
			return picture_fail(reading, "the picture is too long",
					    "at most 268435456 characters");
	}
	return true;
}

static bool picture_classify_number(struct reading *reading, struct ct_picture *out)
{
	uint64_t shown = reading->nines + reading->p_before + reading->p_after;

	if (reading->nines == 0 || (reading->p_before > 0 && reading->p_after > 0))
		return picture_fail(reading,
				    "the picture has no digits, or P on both sides of them",
				    "at least one 9");
	if (shown > CT_NUMBER_DIGITS)
		return picture_fail(reading, "the picture has too many digits",
				    "at most 38 digits");
	*out = (struct ct_picture){ .class = CT_CLASS_NUMERIC };
	out->size = (uint32_t)reading->nines;
	out->digits = (uint8_t)reading->nines;
	out->shown = (uint8_t)(reading->nines + reading->p_before);
	out->is_signed = reading->is_signed;
	if (reading->p_before > 0)
		out->scale = (int8_t)shown;
	else
		out->scale = (int8_t)(reading->p_after > 0 ? -(int)reading->p_after
							   : (int)reading->behind_point);
	return true;
}

bool ct_picture_parse(const char *text, size_t size, const struct ct_picture_context *context,
		      struct ct_picture *out, struct ct_picture_error *out_error)
{
	struct reading reading = {
		.text = text, .size = size, .context = context, .error = out_error
	};
	bool is_text;

	if (size > PICTURE_LIMIT) {
		reading.at = PICTURE_LIMIT;
		return picture_fail(&reading, "the picture is too long", "at most 255 characters");
	}
	if (!picture_take_all(&reading))
		return false;
	is_text = reading.has_text || reading.has_letter || reading.has_national;
	if (!is_text && !reading.has_insertion && !reading.has_editing)
		return picture_classify_number(&reading, out);
	if (reading.is_signed || (is_text && (reading.has_editing || reading.has_point ||
					      reading.p_before + reading.p_after > 0)))
		return picture_fail(&reading, "the picture mixes symbols of texts and of numbers",
				    "X, A, 9, B, 0 and / of a text, or no X and A of a number");
	if (reading.characters == 0 ||
	    (is_text && reading.has_national && (reading.has_text || reading.has_letter)))
		return picture_fail(&reading, "the picture is empty or ambiguous", "X, A, 9 or N");
	*out = (struct ct_picture){ .class = is_text ? CT_CLASS_TEXT : CT_CLASS_EDITED };
	out->size = (uint32_t)reading.characters * (reading.has_national ? 2 : 1);
	return true;
}
