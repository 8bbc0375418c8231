/*
 * shop.c - a traced program that does what its input says, to practise an operator's commands on:
 * docs/operator.md.
 *
 *     cc -o shop shop.c $(pkg-config --cflags --libs ctrace)
 *     ./shop
 *
 * Each line on standard input is an order.  The answer on standard output is "ok" or what went
 * wrong:
 *
 *     define NAME[.SUB] [WORD]...     defines a trace; the words are head headopts likehead mod
 * asids jobs wtr buffer bufdefin shown, minops=TEXT, parm=MEMBER, least=BYTES, most=BYTES,
 * default=BYTES delete NAME                     deletes the trace and all below it knows
 * OPTION[,OPTION]...        from now on the start/stop routine refuses other options tracer NAME
 * makes a tracer, as a program without DEFINE does trace NAME LEVEL COUNT          traces COUNT
 * events with the id 7, a number and a text flush                           delivers everything
 *
 * The display routine of a trace that is `shown` rounds buffer sizes up to 64K.  The program ends
 * at the end of its input. The transcripts in tests/golden/operator are dialogues with it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/component.h>
#include <ctrace/ctrace.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char known[256]; /* ",A,B,"; "": every option */

/* The first option that is not known; NULL: there is none. */
static const char *find_unknown(const struct ctrace_ctss *ctss)
{
	static char option[128];
	const char *at = ctss->options;
	const char *end = at + ctss->options_size;

	while (known[0] != '\0' && at < end) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		const char *stop = comma != NULL ? comma : end;

		(void)snprintf(option, sizeof option, ",%.*s,", (int)(stop - at), at);
		if (strstr(known, option) == NULL) {
			option[strlen(option) - 1] = '\0';
			return option + 1;
		}
		at = stop + 1;
	}
	return NULL;
}

static bool is_verbose(const struct ctrace_ctss *ctss)
{
	static const char word[] = "VERBOSE";

	for (size_t at = 0; at + sizeof word - 1 <= ctss->options_size; at++)
		if (memcmp(ctss->options + at, word, sizeof word - 1) == 0)
			return true;
	return false;
}

static uint32_t start_stop(struct ctrace_ctss *ctss)
{
	const char *unknown = (ctss->flags & CTRACE_CTSS_START) != 0 ? find_unknown(ctss) : NULL;
	char text[CTRACE_MAX_WTO + 1];

	if (unknown != NULL) {
		(void)snprintf(text, sizeof text, "STG001E OPTION %.40s IS NOT KNOWN", unknown);
		(void)ctrace_wto(ctss->console, text);
		ctss->reason = 0x21;
		return 4;
	}
	if (is_verbose(ctss))
		(void)ctrace_wto(ctss->console, "STG002I VERBOSE SLOWS THE SHOP DOWN");
	return 0;
}

static uint32_t display(struct ctrace_ctss *ctss)
{
	ctss->display = ctss->mode == CTRACE_MODE_ON    ? CTRACE_CTSS_SHOW_ON
			: ctss->mode == CTRACE_MODE_MIN ? CTRACE_CTSS_SHOW_MIN
							: CTRACE_CTSS_SHOW_OFF;
	ctss->buffer_size = (ctss->buffer_size + 65535) / 65536 * 65536;
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
	if (outcome->rc == CTRACE_RC_OK)
		puts("ok");
	else
		printf("%02X %02X %s %s\n", outcome->rc, CTRACE_REASON(outcome->rsncode),
		       ctrace_outcome_text(outcome), outcome->message);
}

static void apply_word(struct ctrace_define *request, char *word)
{
	const struct {
		const char *word;
		uint8_t *flag;
	} flags[] = { { "head", &request->head },     { "headopts", &request->headopts },
		      { "mod", &request->mod },       { "likehead", &request->likehead },
		      { "asids", &request->asids },   { "jobs", &request->jobs },
		      { "buffer", &request->buffer }, { "bufdefin", &request->bufdefin },
		      { "wtr", &request->wtr } };
	char *value = strchr(word, '=');

	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
		if (strcmp(word, flags[i].word) == 0)
			*flags[i].flag = CTRACE_YES;
	if (strcmp(word, "shown") == 0)
		request->dispnam = "STAGEDDI";
	if (value == NULL)
		return;
	*value++ = '\0';
	if (strcmp(word, "minops") == 0)
		request->minops = value;
	else if (strcmp(word, "parm") == 0)
		request->parm = value;
	else if (strcmp(word, "least") == 0)
		request->bufmin = (uint32_t)strtoul(value, NULL, 10);
	else if (strcmp(word, "most") == 0)
		request->bufmax = (uint32_t)strtoul(value, NULL, 10);
	else if (strcmp(word, "default") == 0)
		request->bufdflt = (uint32_t)strtoul(value, NULL, 10);
}

static void define(char *name, char *words)
{
	struct ctrace_define request = { CTRACE_DEFINE_INIT, .startnam = "STAGEDSS" };
	struct ctrace_outcome outcome;
	char *word;

	request.sub = split(name);
	request.name = name;
	while ((word = strsep(&words, " ")) != NULL)
		apply_word(&request, word);
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

static void say_status(enum ctrace_status status)
{
	puts(status == CTRACE_OK ? "ok" : ctrace_status_name(status));
}

static void trace(const char *name, char *rest)
{
	char *level = strsep(&rest, " ");
	uint32_t count = (uint32_t)strtoul(rest != NULL ? rest : "1", NULL, 10);
	struct ctrace_tracer *tracer;
	enum ctrace_status status = ctrace_tracer_get(name, &tracer);

	for (uint32_t i = 1; status == CTRACE_OK && i <= count; i++)
		CTRACE(tracer, (unsigned)strtoul(level != NULL ? level : "1", NULL, 10), 7,
		       CTRACE_U32(i), CTRACE_STR("order"));
	say_status(status);
}

static void learn(const char *options)
{
	(void)snprintf(known, sizeof known, ",%s,", options);
	puts("ok");
}

static void obey(char *line)
{
	struct ctrace_tracer *tracer;
	char empty[] = "";
	char *rest = line;
	char *verb = strsep(&rest, " ");
	char *name = strsep(&rest, " ");

	if (name == NULL)
		name = empty;
	if (strcmp(verb, "define") == 0)
		define(name, rest);
	else if (strcmp(verb, "delete") == 0)
		delete_trace(name);
	else if (strcmp(verb, "knows") == 0)
		learn(name);
	else if (strcmp(verb, "tracer") == 0)
		say_status(ctrace_tracer_get(name, &tracer));
	else if (strcmp(verb, "trace") == 0)
		trace(name, rest);
	else if (strcmp(verb, "flush") == 0)
		say_status(ctrace_flush(10000));
	else
		puts("what?");
	fflush(stdout);
}

int main(void)
{
	char *line = NULL;
	size_t capacity = 0;

	if (ctrace_routine_register("STAGEDSS", start_stop) != CTRACE_OK ||
	    ctrace_routine_register("STAGEDDI", display) != CTRACE_OK)
		return 1;
	while (getline(&line, &capacity, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		obey(line);
	}
	free(line);
	return 0;
}
