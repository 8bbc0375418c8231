/*
 * verbs_subject.c - a traced program for tests of the verbs that change running processes.
 *
 * verbs_subject NAME... - registers each component, then "ready" on stdout.  Then each line on
 * stdin is an order, answered with a number:
 *
 *     trace NAME        an event of each level, numbered as its level, of this component
 *     flush             delivers everything; its status
 *     define NAME       a trace of component trace that can be switched; its RC
 *     refuse NAME       one whose start/stop routine refuses; its RC
 *
 * Ends at the end of stdin.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/component.h>
#include <stdio.h>
#include <string.h>

static uint32_t accept(struct ctrace_ctss *ctss)
{
	(void)ctss;
	return 0;
}

static uint32_t refuse(struct ctrace_ctss *ctss)
{
	return (ctss->flags & CTRACE_CTSS_START) != 0 ? 4 : 0;
}

static unsigned define(const char *name, const char *routine)
{
	struct ctrace_define request = {
		CTRACE_DEFINE_INIT,
		.name = name,
		.startnam = routine,
	};

	if (ctrace_routine_register("ACCEPTSS", accept) != CTRACE_OK ||
	    ctrace_routine_register("REFUSESS", refuse) != CTRACE_OK)
		return 99;
	return ctrace_component_define(&request, NULL);
}

static unsigned trace(const char *name)
{
	struct ctrace_tracer *tracer = NULL;

	if (ctrace_tracer_get(name, &tracer) != CTRACE_OK)
		return 99;
	for (unsigned level = CTRACE_DEBUG; level <= CTRACE_FATAL; level++)
		CTRACE(tracer, level, level, CTRACE_STR("event"));
	return 0;
}

static unsigned obey(char *order)
{
	char *argument = strchr(order, ' ');

	order[strcspn(order, "\n")] = '\0';
	if (argument != NULL)
		*argument++ = '\0';
	if (strcmp(order, "flush") == 0)
		return (unsigned)ctrace_flush(10000);
	if (strcmp(order, "trace") == 0 && argument != NULL)
		return trace(argument);
	if (strcmp(order, "define") == 0 && argument != NULL)
		return define(argument, "ACCEPTSS");
	if (strcmp(order, "refuse") == 0 && argument != NULL)
		return define(argument, "REFUSESS");
	return 98;
}

int main(int argc, char **argv)
{
	struct ctrace_tracer *tracer = NULL;
	char order[256];

	for (int i = 1; i < argc; i++)
		if (ctrace_tracer_get(argv[i], &tracer) != CTRACE_OK)
			return 1;
	puts("ready");
	fflush(stdout);
	while (fgets(order, sizeof(order), stdin) != NULL) {
		printf("%u\n", obey(order));
		fflush(stdout);
	}
	return 0;
}
