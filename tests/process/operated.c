/*
 * operated.c - the program examples/shop.c, with what a test asks of it: a test's script reads what
 * came of an operator's commands.
 *
 * Each line on stdin is an order, answered with one line on stdout.  Beyond the orders of the
 * example:
 *
 *     show NAME[.SUB]     mode, options, filters, buffer, writer
 *     level NAME          the threshold in force
 *
 * Its start/stop routine takes the place of the example's: it refuses the option REFUSE with 8 and
 * a message, and has something to say to the option SPEAK.  Ends at the end of stdin.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
int shop_main(void);
#define main shop_main
#include "../../examples/shop.c"
#undef main

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

static void show(char *name)
{
	static const char *const modes[] = { "OFF", "MIN", "ON" };
	struct ctrace_display state = { .size = sizeof state };
	const char *sub = split(name);

	if (ctrace_component_display(name, sub, &state) != CTRACE_OK) {
		puts("none");
		return;
	}
	printf("%s%s OPTIONS=(%s) ASID=(", modes[state.mode % 3], state.likehead ? " LIKEHEAD" : "",
	       state.options);
	for (uint32_t i = 0; i < state.asid_count; i++)
		printf("%s%X", i == 0 ? "" : ",", state.asid[i]);
	printf(") JOBNAME=(");
	for (uint32_t i = 0; i < state.jobname_count; i++)
		printf("%s%s", i == 0 ? "" : ",", state.jobname[i]);
	printf(") BUFFER=%lluK WTR=%s\n", (unsigned long long)state.buffer_asked / 1024,
	       state.writer);
}

static void say_level(const char *name)
{
	uint32_t level = 0;
	enum ctrace_status status = ctrace_level_get(name, &level);

	if (status == CTRACE_OK)
		printf("%u\n", level);
	else
		puts(ctrace_status_name(status));
}

static void answer(char *line)
{
	if (strncmp(line, "show ", 5) == 0)
		show(line + 5);
	else if (strncmp(line, "level ", 6) == 0)
		say_level(line + 6);
	else
		obey(line);
	fflush(stdout);
}

int main(void)
{
	char *line = NULL;
	size_t capacity = 0;

	/* The first of a name counts: the example registers none, as its main() does not run. */
	if (ctrace_routine_register("STAGEDSS", routine) != CTRACE_OK)
		return 1;
	while (getline(&line, &capacity, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		answer(line);
	}
	free(line);
	return 0;
}
