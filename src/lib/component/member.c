/*
 * member.c - a member of CTRACE_PARMLIB for DEFINE's and TRACE CT's PARM.
 *
 * Called on the thread of the macro or command, under no lock; a thread of the program waits for
 * the file within its patience (lib/process/aside.h).  An error has the form that editors
 * understand: member, line and column.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/component/component.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/process/aside.h"

#define MEMBER_SIZE 64u /* more than a member's name */
#define STORAGE (CTRACE_RC_SYSTEM << 8 | CTRACE_RSN_STORAGE)

struct first_diagnostic {
	const char *member;
	struct ctrace_outcome *out;
	bool is_known;
};

static void member_note_first(const struct ct_diagnostic *diagnostic, void *user)
{
	struct first_diagnostic *first = user;

	if (first->is_known)
		return;
	first->is_known = true;
	(void)ct_outcome_set(first->out, CTRACE_RC_REFUSED, diagnostic->code,
			     "%s:%u:%u: " CT_DIAGNOSTIC_FORMAT, first->member, diagnostic->line,
			     diagnostic->column, CT_DIAGNOSTIC_TEXT(diagnostic));
}

static uint32_t member_parse(const char *member, const struct ct_buf *text,
			     struct ct_parmlib *out_parmlib, struct ctrace_outcome *out)
{
	struct first_diagnostic first = { .member = member, .out = out };
	uint32_t reason =
		ct_parmlib_parse(text->data, text->size, out_parmlib, member_note_first, &first);

	if (reason == 0)
		return CTRACE_RC_OK;
	ct_parmlib_fini(out_parmlib);
	if (reason == STORAGE)
		return ct_outcome_set(out, CTRACE_RC_SYSTEM, CTRACE_RSN_STORAGE,
				      "no memory for member %s", member);
	return out->rc;
}

/* The message shows the path that was searched. */
static uint32_t member_refuse(const char *member, uint32_t reason, const char *path,
			      struct ctrace_outcome *out)
{
	const char *directories = ct_os_environment("CTRACE_PARMLIB");

	if (reason == CTRACE_RSN_MEMBER_NAME)
		return ct_outcome_set(
			out, CTRACE_RC_REFUSED, reason,
			"PARM=%.16s: a member's name is CT and up to 6 of A-Z (capitals) 0-9 @ # $",
			member);
	if (reason == CTRACE_RSN_MEMBER_NOT_FOUND)
		return ct_outcome_set(out, CTRACE_RC_REFUSED, reason,
				      "member %s is in no directory of CTRACE_PARMLIB=%s", member,
				      directories);
	if (reason == CTRACE_RSN_MEMBER_ALLOCATION && directories == NULL)
		return ct_outcome_set(out, CTRACE_RC_REFUSED, reason,
				      "member %s: CTRACE_PARMLIB is not set", member);
	if (reason == CTRACE_RSN_MEMBER_ALLOCATION && path[0] == '\0')
		return ct_outcome_set(out, CTRACE_RC_REFUSED, reason,
				      "member %s: no directory can be used of CTRACE_PARMLIB=%s",
				      member, directories);
	return ct_outcome_set(out, CTRACE_RC_REFUSED, reason, "member %s: %s", member, path);
}

struct reading {
	struct ct_aside aside;
	char member[MEMBER_SIZE];
	struct ct_buf text;
	char path[4096];
	uint32_t reason;
};

static void reading_run(struct ct_aside *self)
{
	struct reading *reading = (struct reading *)(void *)self;

	reading->reason = ct_parmlib_read(reading->member, &reading->text, reading->path);
}

static void reading_destroy(struct ct_aside *self)
{
	ct_buf_fini(&((struct reading *)(void *)self)->text);
	free(self);
}

uint32_t ct_member_read(const char *member, struct ct_parmlib *out_parmlib,
			struct ctrace_outcome *out)
{
	struct reading *reading = malloc(sizeof *reading);
	uint32_t rc;

	if (reading == NULL)
		return ct_outcome_set(out, CTRACE_RC_SYSTEM, CTRACE_RSN_STORAGE,
				      "no memory for member %s", member);
	reading->aside = (struct ct_aside){ .work = reading_run, .destroy = reading_destroy };
	(void)snprintf(reading->member, sizeof reading->member, "%s", member);
	ct_buf_init(&reading->text);
	if (!ct_aside_run(&reading->aside))
		return ct_outcome_set(out, CTRACE_RC_REFUSED, CTRACE_RSN_MEMBER_ALLOCATION,
				      "member %s: the file system does not answer", member);
	if (reading->reason != 0)
		rc = member_refuse(member, reading->reason, reading->path, out);
	else
		rc = member_parse(member, &reading->text, out_parmlib, out);
	reading_destroy(&reading->aside);
	return rc;
}
