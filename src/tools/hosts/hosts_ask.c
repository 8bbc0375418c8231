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

struct asked {
	int worst; /* exit status */
	bool is_one;
};

static void lines_print(FILE *to, const char *text)
{
	while (*text != '\0') {
		size_t size = strcspn(text, "\n");

		ct_tool_print(to, text, size);
		fputc('\n', to);
		text += size + (text[size] == '\n');
	}
}

static void answer_print(const char *host, const char *data, size_t size, void *user)
{
	struct asked *asked = user;
	struct answer answer;
	int status = CMD_NOTHING;

	fflush(stderr);
	if (data == NULL) {
		fputs("ctrace: ", stderr);
		ct_tool_print(stderr, host, strlen(host));
		fputs(" did not answer\n", stderr);
	} else {
		fputs("== ", stdout);
		ct_tool_print(stdout, host, strlen(host));
		fputs(" ==\n", stdout);
		if (answer_decode(data, size, &answer)) {
			lines_print(stdout, answer.out);
			fflush(stdout);
			lines_print(stderr, answer.err);
			status = answer.status;
		} else {
			fputs("ctrace: this is no answer of ctrace respond\n", stderr);
		}
		answer_fini(&answer);
	}
	if (status > asked->worst)
		asked->worst = status;
}

/* Cuts the list.  Returns the number of names. */
static size_t list_cut(char *list, const char *names[HOSTS_MOST])
{
	size_t count = 0;
	char *name;

	while (count < HOSTS_MOST && (name = strsep(&list, ",")) != NULL)
		if (*name != '\0')
			names[count++] = name;
	return count;
}

int hosts_ask(const char *hosts, size_t count, char *const *words)
{
	static const char *names[HOSTS_MOST];
	enum request_kind kind = request_kind_of(count, words);
	const char *address = ct_os_environment("CTRACE_NATS");
	const struct ct_nats_module *module;
	struct asked asked = { .worst = CMD_DONE };
	struct ct_nats_question question = {
		.address = address,
		.hosts = names,
		.is_command = kind == REQUEST_COMMAND,
		.timeout_ms = TIMEOUT_MS,
		.take = answer_print,
		.user = &asked,
	};
	char *list = strdup(hosts);
	char *request = request_encode(count, words);
	enum ctrace_status status;

	if (kind == REQUEST_REFUSED) {
		fprintf(stderr,
			"ctrace: \"%s\" with these words is not for other machines; expected list, "
			"stats, level, dest, prop, flush, rotate, reload or op, options as --job=NAME\n",
			count > 0 ? words[0] : "");
		return CMD_USAGE;
	}
	if (address == NULL) {
		fputs("ctrace: CTRACE_NATS has no address; expected nats://HOST[:PORT]\n", stderr);
		return CMD_USAGE;
	}
	module = stream_module("ctrace");
	if (module == NULL || list == NULL || request == NULL)
		return CMD_UNWRITTEN;
	if (strcmp(hosts, "*") != 0) {
		question.host_count = list_cut(list, names);
		if (question.host_count == 0) {
			fputs("ctrace: --host has no name; expected h1,h2 or '*'\n", stderr);
			return CMD_USAGE;
		}
	}
	question.request = request;
	question.size = strlen(request);
	status = module->ask(&question);
	free(request);
	free(list);
	if (status != CTRACE_OK)
		return stream_end("ctrace", question.error, status);
	if (question.answered == 0 && question.host_count == 0) {
		fputs("ctrace: no machine answered; ctrace respond has to run on each\n", stderr);
		return CMD_NOTHING;
	}
	return asked.worst;
}

static size_t route_begin(const char *line, size_t size)
{
	static const char *const names[] = { "ROUTE ", "RO " };
	size_t blanks = 0;

	while (blanks < size && line[blanks] == ' ')
		blanks++;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t name = strlen(names[i]);

		if (size - blanks > name && strncasecmp(line + blanks, names[i], name) == 0)
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
		status = hosts_ask(strcasecmp(systems, "*ALL") == 0 ? "*" : systems, 2, words);
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
