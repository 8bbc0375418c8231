/*
 * hosts_ask.c - runs a verb on other machines: ctrace --host, and ROUTE of an operator.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/hosts/hosts_ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "cli/cli.h"
#include "tools/hosts/request.h"
#include "tools/streams/stream_copy.h"

#define HOSTS_MOST 1024u
#define TIMEOUT_MS 10000u

static void lines_print(FILE *to, const char *text)
{
	while (*text != '\0') {
		size_t size = strcspn(text, "\n");

		ct_tool_print(to, text, size);
		fputc('\n', to);
		text += size + (text[size] == '\n');
	}
}

/* Returns the exit status of the verb there. */
static int text_print(const struct ct_nats_answer *from)
{
	struct answer answer;
	int status = CMD_NOTHING;

	fputs("== ", stdout);
	ct_tool_print(stdout, from->host, strlen(from->host));
	fputs(" ==\n", stdout);
	if (answer_decode(from->data, from->size, &answer)) {
		lines_print(stdout, answer.out);
		fflush(stdout);
		lines_print(stderr, answer.err);
		status = answer.status;
	} else {
		fputs("ctrace: this is no answer of ctrace respond\n", stderr);
	}
	answer_fini(&answer);
	return status;
}

static void host_report(const char *host, const char *what)
{
	fputs("ctrace: ", stderr);
	ct_tool_print(stderr, host, strlen(host));
	ct_tool_print(stderr, what, strlen(what));
	fputc('\n', stderr);
}

static void answer_print(const struct ct_nats_answer *from, void *user)
{
	char text[CT_NATS_ERROR_SIZE];
	int *worst = user;
	int status = CMD_NOTHING;

	fflush(stderr);
	if (from->data != NULL) {
		status = text_print(from);
	} else if (from->why == NULL) {
		host_report(from->host, " did not answer");
	} else {
		(void)snprintf(text, sizeof text, ": %s", from->why);
		host_report(from->host, text);
		status = CMD_USAGE;
	}
	if (from->responders > 1) {
		(void)snprintf(text, sizeof text,
			       ": %u responders have this name, and each has carried it out; start "
			       "one alone, or with --name",
			       from->responders);
		host_report(from->host, text);
		status = status > CMD_NOTHING ? status : CMD_NOTHING;
	}
	if (status > *worst)
		*worst = status;
}

/* Cuts the list.  Returns the number of names; 0: it is reported what one of them is. */
static size_t list_cut(char *list, const char *names[HOSTS_MOST])
{
	size_t count = 0;
	char *name;

	while (count < HOSTS_MOST && (name = strsep(&list, ", ")) != NULL) {
		const char *fault = *name != '\0' ? host_name_fault(name) : NULL;

		if (fault != NULL) {
			fputs("ctrace: \"", stderr);
			ct_tool_print(stderr, name, strlen(name));
			fprintf(stderr,
				"\" is no name of a machine: %s; * or *ALL alone is for all\n",
				fault);
			return 0;
		}
		if (*name != '\0')
			names[count++] = name;
	}
	if (count == 0)
		fputs("ctrace: there is no name of a machine; expected h1,h2 or, for all that "
		      "answer, * or *ALL\n",
		      stderr);
	return count;
}

/* Asks, and prints the answers.  Returns the exit status. */
static int question_ask(struct ct_nats_question *question, int *worst)
{
	const struct ct_nats_module *module = stream_module("ctrace");
	enum ctrace_status status;

	if (module == NULL)
		return CMD_UNWRITTEN;
	status = module->ask(question);
	if (status != CTRACE_OK)
		return stream_end("ctrace", question->error, status);
	if (question->answered == 0 && question->host_count == 0) {
		fputs("ctrace: no machine answered; ctrace respond has to run on each\n", stderr);
		return CMD_NOTHING;
	}
	return *worst;
}

int hosts_ask(const char *hosts, size_t count, char *const *words)
{
	static const char *names[HOSTS_MOST];
	char why[REQUEST_WHY];
	enum request_kind kind = request_kind_of(count, words, why);
	int worst = CMD_DONE;
	struct ct_nats_question question = {
		.address = ct_os_environment("CTRACE_NATS"),
		.hosts = names,
		.is_command = kind == REQUEST_COMMAND,
		.timeout_ms = TIMEOUT_MS,
		.take = answer_print,
		.user = &worst,
	};
	bool is_all = strcmp(hosts, "*") == 0 || strcasecmp(hosts, "*ALL") == 0;
	char *list, *request;
	int status = CMD_USAGE;

	if (kind == REQUEST_REFUSED) {
		fputs("ctrace: ", stderr);
		ct_tool_print(stderr, why, strlen(why));
		fputc('\n', stderr);
		return CMD_USAGE;
	}
	if (question.address == NULL) {
		fputs("ctrace: CTRACE_NATS has no address; expected nats://HOST[:PORT]\n", stderr);
		return CMD_USAGE;
	}
	list = strdup(hosts);
	request = request_encode(count, words);
	if (list == NULL || request == NULL) {
		status = CMD_NO_MEMORY;
	} else if (is_all || (question.host_count = list_cut(list, names)) > 0) {
		question.request = request;
		question.size = strlen(request);
		status = question_ask(&question, &worst);
	}
	free(request);
	free(list);
	return status;
}

/* Returns where the word behind ROUTE begins, or 0. */
static size_t route_begin(const char *line, size_t size)
{
	static const char *const names[] = { "ROUTE", "RO" };
	size_t blanks = 0;

	while (blanks < size && line[blanks] == ' ')
		blanks++;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t name = strlen(names[i]);

		if (size - blanks >= name && strncasecmp(line + blanks, names[i], name) == 0 &&
		    (size - blanks == name || line[blanks + name] == ' '))
			return blanks + name;
	}
	return 0;
}

/* Returns the exit status. */
static int route_run(const char *line, size_t size)
{
	char *text = strndup(line, size), *systems, *comma;
	char *words[] = { (char[]){ "op" }, NULL };
	int status = CMD_USAGE;

	if (text == NULL)
		return CMD_UNWRITTEN;
	systems = text + strspn(text, " ");
	comma = systems[0] == '(' ? strchr(systems, ')') : strchr(systems, ',');
	if (comma != NULL && *comma == ')')
		*comma++ = '\0';
	if (comma == NULL || comma == systems || *comma != ',' || comma[1] == '\0') {
		fputs("ctrace op: ROUTE needs a system and a command; expected ROUTE system,command, "
		      "ROUTE (system,...),command or ROUTE *ALL,command\n",
		      stderr);
	} else {
		*comma = '\0';
		words[1] = comma + 1;
		systems += systems[0] == '(';
		status = hosts_ask(systems, 2, words);
	}
	free(text);
	return status;
}

bool hosts_route(const char *text, size_t size, int *out_status)
{
	size_t at = route_begin(text, size);

	if (at > 0)
		*out_status = route_run(text + at, size - at);
	return at > 0;
}
