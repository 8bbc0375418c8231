/*
 * operated.c - a program that operators switch: a test's script tells it what to define, and asks it what came of commands.
 *
 * Each line on stdin is an order, answered with one line on stdout:
 *
 *     define NAME[.SUB] [head|headopts|likehead|mod|asids|jobs|wtr|buffer]...    DEFINE; the codes
 *     delete NAME                                                                DELETE; the codes
 *     tracer NAME                                                                a tracer of the other face; its status
 *     show NAME[.SUB]                                                            mode, options, filters, buffer, writer
 *     level NAME                                                                 the threshold in force
 *
 * Its start/stop routine refuses the option REFUSE with 8 and a message, and has something to say to the option SPEAK.  Ends at the end
 * of stdin.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/component.h>
#include <ctrace/ctrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_option(const struct ctrace_ctss *ctss, const char *option)
{
	return memmem(ctss->options, ctss->options_size, option, strlen(option)) != NULL;
}

static uint32_t routine(struct ctrace_ctss *ctss)
{
	if (has_option(ctss, "REFUSE")) {
		(void)ctrace_wto(ctss->console, "OPRMSG1I the option REFUSE is refused");
		ctss->reason = 0x21;
		return 8;
	}
	if (has_option(ctss, "SPEAK"))
		(void)ctrace_wto(ctss->console, "OPRMSG2I spoken\nas asked");
	return 0;
}

/* "NAME.SUB" becomes its two parts; the second may be "". */
static const char *split(char *name)
{
	char *dot = strchr(name, '.');

	if (dot == NULL)
		return "";
	*dot = '\0';
	return dot + 1;
}

static void say_outcome(const struct ctrace_outcome *outcome)
{
	printf("%02X %02X %s\n", outcome->rc, CTRACE_REASON(outcome->rsncode), outcome->message);
}

static void define(char *name, char *attributes)
{
	struct ctrace_define request = { CTRACE_DEFINE_INIT, .startnam = "OPERTSS" };
	const struct {
		const char *word;
		uint8_t *flag;
	} flags[] = { { "head", &request.head },         { "headopts", &request.headopts },
		      { "likehead", &request.likehead }, { "mod", &request.mod },
		      { "asids", &request.asids },       { "jobs", &request.jobs },
		      { "buffer", &request.buffer },     { "wtr", &request.wtr } };
	struct ctrace_outcome outcome;
	char *word;

	request.sub = split(name);
	request.name = name;
	while ((word = strsep(&attributes, " ")) != NULL)
		for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
			if (strcmp(word, flags[i].word) == 0)
				*flags[i].flag = CTRACE_YES;
	if (request.wtr == CTRACE_YES)
		request.wtrmode = CTRACE_PAGEABLE;
	if (request.head == CTRACE_YES && request.headopts == CTRACE_NO)
		request.startnam = NULL;
	(void)ctrace_component_define(&request, &outcome);
	say_outcome(&outcome);
}

static void delete_trace(char *name)
{
	struct ctrace_delete request = { CTRACE_DELETE_INIT };
	struct ctrace_outcome outcome;

	request.sub = split(name);
	request.name = name;
	(void)ctrace_component_delete(&request, &outcome);
	say_outcome(&outcome);
}

static void show(char *name)
{
	static const char *const modes[] = { "OFF", "MIN", "ON" };
	struct ctrace_display display = { .size = sizeof display };
	const char *sub = split(name);

	if (ctrace_component_display(name, sub, &display) != CTRACE_OK) {
		puts("none");
		return;
	}
	printf("%s%s OPTIONS=(%s) ASID=(", modes[display.mode % 3], display.likehead ? " LIKEHEAD" : "", display.options);
	for (uint32_t i = 0; i < display.asid_count; i++)
		printf("%s%X", i == 0 ? "" : ",", display.asid[i]);
	printf(") JOBNAME=(");
	for (uint32_t i = 0; i < display.jobname_count; i++)
		printf("%s%s", i == 0 ? "" : ",", display.jobname[i]);
	printf(") BUFFER=%lluK WTR=%s\n", (unsigned long long)display.buffer_asked / 1024, display.writer);
}

static void say_level(const char *name)
{
	uint32_t level = 0;
	enum ctrace_status status = ctrace_level_get(name, &level);

	if (status == CTRACE_OK)
		printf("%u\n", level);
	else
		printf("%s\n", ctrace_status_name(status));
}

static void obey(char *line)
{
	struct ctrace_tracer *tracer;
	char empty[] = "";
	char *rest = line;
	char *verb = strsep(&rest, " ");
	char *name = strsep(&rest, " ");

	if (name == NULL)
		name = verb = empty;
	if (strcmp(verb, "define") == 0)
		define(name, rest);
	else if (strcmp(verb, "delete") == 0)
		delete_trace(name);
	else if (strcmp(verb, "tracer") == 0)
		puts(ctrace_status_name(ctrace_tracer_get(name, &tracer)));
	else if (strcmp(verb, "show") == 0)
		show(name);
	else if (strcmp(verb, "level") == 0)
		say_level(name);
	else
		puts("what?");
	fflush(stdout);
}

int main(void)
{
	char *line = NULL;
	size_t capacity = 0;

	if (ctrace_routine_register("OPERTSS", routine) != CTRACE_OK)
		return 1;
	while (getline(&line, &capacity, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		obey(line);
	}
	free(line);
	return 0;
}
