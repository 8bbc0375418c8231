/*
 * plist.c - checks the structures of the macros: service, version, size, reserved fields, NAME.
 *
 * DEFINE and DELETE call it first, on the thread of the program.  It reads only the structure and
 * its texts, and each text only up to its limit.  In the macro these errors would be an abend 00D.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/component/component.h"

#include <string.h>

#define STRUCTURE_LIMIT 65536u /* bytes; no version of a structure is larger */

bool ct_is_coded(const char *text)
{
	return text != NULL && text[0] != '\0';
}

/* True when the unknown end of a larger structure is zero. */
static bool plist_tail_is_zero(const void *request, size_t known, size_t size)
{
	const unsigned char *bytes = request;

	for (size_t i = known; i < size; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

static bool plist_is_yes_or_no(uint8_t value)
{
	return value == CTRACE_NO || value == CTRACE_YES;
}

static bool plist_fields_are_used(const struct ctrace_define *asked)
{
	static const uint8_t zero[sizeof asked->reserved];

	return plist_is_yes_or_no(asked->asids) && plist_is_yes_or_no(asked->jobs) &&
	       plist_is_yes_or_no(asked->mod) && plist_is_yes_or_no(asked->head) &&
	       plist_is_yes_or_no(asked->headopts) && plist_is_yes_or_no(asked->likehead) &&
	       plist_is_yes_or_no(asked->manysubs) && plist_is_yes_or_no(asked->buffer) &&
	       plist_is_yes_or_no(asked->bufdefin) && plist_is_yes_or_no(asked->wtr) &&
	       asked->wtrmode <= CTRACE_FIXED && memcmp(asked->reserved, zero, sizeof zero) == 0;
}

static uint32_t plist_abend(struct ctrace_outcome *out, uint32_t reason, const char *why)
{
	return ct_outcome_set(out, CTRACE_RC_ABEND, reason, "%s", why);
}

static bool plist_is_name(const char *name)
{
	return ct_is_coded(name) && ct_trace_name_is_valid(name, strnlen(name, CT_NAME_SIZE));
}

const char *ct_plist_trim(const char *name, char room[CTRACE_MAX_NAME + 1])
{
	size_t size = name != NULL ? strnlen(name, CT_NAME_SIZE) : 0;

	if (size == 0 || size > CTRACE_MAX_NAME || name[size - 1] != ' ')
		return name;
	memcpy(room, name, size);
	while (size != 0 && room[size - 1] == ' ')
		size--;
	room[size] = '\0';
	return room;
}

void ct_plist_trim_names(struct ctrace_define *asked, struct ct_plist_names *room)
{
	asked->name = ct_plist_trim(asked->name, room->name);
	asked->startnam = ct_plist_trim(asked->startnam, room->startnam);
	asked->dispnam = ct_plist_trim(asked->dispnam, room->dispnam);
	asked->fmttab = ct_plist_trim(asked->fmttab, room->fmttab);
	asked->parm = ct_plist_trim(asked->parm, room->parm);
}

/* At most this much of an invalid name is read and shown. */
#define NOT_A_NAME "%s \"%.9s\" is not 1 to 8 of A-Z (capitals) 0-9 @ # $ with no digit first"

/* Checks that each name that is coded is valid. */
static uint32_t plist_check_names(const struct ctrace_define *asked, struct ctrace_outcome *out)
{
	const struct {
		const char *keyword, *name;
	} names[] = { { "STARTNAM", asked->startnam },
		      { "DISPNAM", asked->dispnam },
		      { "FMTTAB", asked->fmttab } };
	char room[CTRACE_MAX_NAME + 1];

	for (size_t i = 0; i < CT_COUNT(names); i++) {
		const char *name = ct_plist_trim(names[i].name, room);

		if (ct_is_coded(name) && !plist_is_name(name))
			return ct_outcome_set(out, CTRACE_RC_ABEND, 0x301, NOT_A_NAME,
					      names[i].keyword, name);
	}
	if (!plist_is_name(ct_plist_trim(asked->name, room)))
		return ct_outcome_set(out, CTRACE_RC_ABEND, 0x102, NOT_A_NAME, "NAME",
				      asked->name != NULL ? asked->name : "");
	return CTRACE_RC_OK;
}

uint32_t ct_plist_check_define(const struct ctrace_define *asked, struct ctrace_outcome *out)
{
	if (asked == NULL || asked->service != CTRACE_SERVICE_DEFINE)
		return plist_abend(
			out, 0x401,
			"the structure does not ask for DEFINE: CTRACE_DEFINE_INIT fills it in");
	if (asked->version > CTRACE_PLIST_VERSION)
		return plist_abend(out, 0x101, "the structure's version is not 0, 1 or 2");
	if (asked->size < sizeof *asked || asked->size > STRUCTURE_LIMIT ||
	    !plist_tail_is_zero(asked, sizeof *asked, asked->size))
		return plist_abend(out, 0x301,
				   "the structure's size is not that of struct ctrace_define");
	if (!plist_fields_are_used(asked))
		return plist_abend(
			out, 0x301,
			"a keyword has a value that it does not take, or a reserved field is not zero");
	if (asked->headopts == CTRACE_YES && asked->head != CTRACE_YES)
		return plist_abend(out, 0x301, "HEADOPTS=YES is for a head: HEAD=YES");
	if (asked->wtr == CTRACE_YES && asked->wtrmode == 0 && asked->likehead != CTRACE_YES)
		return plist_abend(out, 0x301, "WTR=YES needs WTRMODE=PAGEABLE, DREF or FIXED");
	if (asked->wtr != CTRACE_YES && asked->wtrmode != 0 && asked->likehead != CTRACE_YES)
		return plist_abend(out, 0x301, "WTRMODE needs WTR=YES");
	if (plist_check_names(asked, out) != CTRACE_RC_OK)
		return out->rc;
	if (ct_is_coded(asked->minops) &&
	    strnlen(asked->minops, CTRACE_MAX_MINOPS + 1) > CTRACE_MAX_MINOPS)
		return plist_abend(out, 0x501, "MINOPS has more than 256 bytes");
	return CTRACE_RC_OK;
}

uint32_t ct_plist_check_delete(const struct ctrace_delete *asked, struct ctrace_outcome *out)
{
	static const uint8_t zero[sizeof asked->reserved];

	if (asked == NULL || asked->service != CTRACE_SERVICE_DELETE)
		return plist_abend(
			out, 0x401,
			"the structure does not ask for DELETE: CTRACE_DELETE_INIT fills it in");
	if (asked->version > CTRACE_PLIST_VERSION || asked->size < sizeof *asked ||
	    asked->size > STRUCTURE_LIMIT || !plist_tail_is_zero(asked, sizeof *asked, asked->size))
		return plist_abend(
			out, 0x302,
			"the structure's version or size is not that of struct ctrace_delete");
	if (!plist_is_yes_or_no(asked->delsubs) || !plist_is_yes_or_no(asked->ifnosubs) ||
	    memcmp(asked->reserved, zero, sizeof zero) != 0)
		return plist_abend(
			out, 0x302,
			"a keyword has a value that it does not take, or a reserved field is not zero");
	if (asked->delsubs == CTRACE_YES && asked->ifnosubs == CTRACE_YES)
		return plist_abend(out, 0x302, "DELSUBS and IFNOSUBS exclude each other");
	return CTRACE_RC_OK;
}
