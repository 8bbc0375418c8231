/*
 * cmd_parmlib.c - `ctrace parmlib check` and `print`: what is wrong with a member of component
 * trace, and what it says.
 *
 * Errors go to stderr, one line each, with the codes that CTRACE DEFINE would answer; what was
 * understood goes to stdout as a member that can be read back.  Nothing that is traced is touched.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <errno.h>
#include <string.h>

#include "lib/component/component.h"

#define FILE_LIMIT ((size_t)64 << 20)

struct member {
	const char *name;
	char path[4096]; /* where it is */
	struct ct_buf text;
};

/* ---- finding it ---- */

static bool diagnose_unreadable(const char *path, const char *why, uint32_t reason)
{
	fputs("ctrace parmlib: cannot read ", stderr);
	ct_tool_print(stderr, path, strlen(path));
	fprintf(stderr, ": %s", why);
	if (reason != 0)
		fprintf(stderr, " (reason %02X %02X)", CTRACE_RC_REFUSED, reason);
	fputc('\n', stderr);
	return false;
}

static bool file_read(struct member *member, uint32_t reason)
{
	enum ctrace_status status = ct_os_read_file(member->name, FILE_LIMIT, &member->text);

	if (status == CTRACE_NOT_FOUND && reason == CTRACE_RSN_MEMBER_NOT_FOUND)
		return diagnose_unreadable(
			member->name, "no such member of CTRACE_PARMLIB, and no such file", reason);
	if (status == CTRACE_NOT_FOUND && reason == CTRACE_RSN_MEMBER_ALLOCATION)
		return diagnose_unreadable(
			member->name,
			"CTRACE_PARMLIB names no directory, and there is no such file", reason);
	if (status != CTRACE_OK)
		return diagnose_unreadable(member->name,
					   status == CTRACE_OS_ERROR ? strerror(errno)
								     : ctrace_status_text(status),
					   0);
	(void)snprintf(member->path, sizeof member->path, "%s", member->name);
	return true;
}

/* A member of CTRACE_PARMLIB, else a file. */
static bool member_read(struct member *member)
{
	uint32_t reason = ct_parmlib_read(member->name, &member->text, member->path);

	if (reason == 0)
		return true;
	if (member->path[0] != '\0') /* it is there, but not to be read */
		return diagnose_unreadable(member->path,
					   ct_reason_find(CTRACE_RC_REFUSED, reason, 0)->meaning,
					   reason);
	return file_read(member, reason);
}

/* ---- output ---- */

static void print_diagnostic(const struct ct_diagnostic *diagnostic, void *user)
{
	const struct member *member = user;

	ct_tool_diagnose(member->path, diagnostic);
	fprintf(stderr, " (reason %02X %02X)\n", CTRACE_RC_REFUSED, diagnostic->code);
}

static void print_lines(const struct ct_buf *text)
{
	const char *at = text->data;
	size_t left = text->size;

	while (left != 0) {
		const char *end = memchr(at, '\n', left);
		size_t size = end != NULL ? (size_t)(end - at) : left;

		ct_tool_print(stdout, at, size);
		putchar('\n');
		at += size + (end != NULL);
		left -= size + (end != NULL);
	}
}

/* A request alone is a member with a head of its own. */
static void add_request(const struct ct_trace_request *request, struct ct_buf *out)
{
	struct ct_buf text;
	size_t head = strlen("TRACEOPTS\n");

	ct_buf_init(&text);
	ct_parmlib_print(request, &text);
	if (text.size > head)
		ct_buf_add(out, text.data + head, text.size - head);
	out->failed = out->failed || text.failed;
	ct_buf_fini(&text);
}

static int print_parmlib(const struct ct_parmlib *parmlib)
{
	struct ct_buf text;
	bool failed;

	ct_buf_init(&text);
	ct_buf_add_text(&text, "TRACEOPTS\n");
	if (parmlib->wtrstart[0] != '\0')
		ct_buf_add_format(&text, "    WTRSTART(%s) %s\n", parmlib->wtrstart,
				  parmlib->nowrap ? "NOWRAP" : "WRAP");
	for (uint32_t i = 0; i < parmlib->count; i++)
		add_request(&parmlib->requests[i], &text);
	if (parmlib->wtrstop[0] != '\0')
		ct_buf_add_format(&text, "    WTRSTOP(%s)\n", parmlib->wtrstop);
	failed = text.failed;
	if (!failed)
		print_lines(&text);
	ct_buf_fini(&text);
	return failed ? CMD_NOTHING : CMD_DONE;
}

/* ---- the verb ---- */

static int member_check(struct member *member, bool is_print)
{
	struct ct_parmlib parmlib;
	uint32_t reason = ct_parmlib_parse(member->text.data, member->text.size, &parmlib,
					   print_diagnostic, member);
	int exit_status = reason == 0 ? CMD_DONE : CMD_NOTHING;

	if (reason > 0xFF)
		fprintf(stderr, "ctrace parmlib: %s\n",
			ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY));
	if (reason == 0 && is_print)
		exit_status = print_parmlib(&parmlib);
	ct_parmlib_fini(&parmlib);
	return exit_status;
}

static int member_run(const char *name, bool is_print)
{
	struct member member = { .name = name };
	int exit_status = CMD_NOTHING;

	ct_buf_init(&member.text);
	if (member_read(&member))
		exit_status = member_check(&member, is_print);
	ct_buf_fini(&member.text);
	return exit_status;
}

struct arguments {
	bool is_print;
	char **names;
	int count;
};

static error_t parse_argument(int key, char *argument, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	const char *action;

	(void)argument;
	switch (key) {
	case ARGP_KEY_ARGS:
		action = state->argv[state->next];
		arguments->is_print = strcmp(action, "print") == 0;
		arguments->names = state->argv + state->next + 1;
		arguments->count = state->argc - state->next - 1;
		if (!arguments->is_print && strcmp(action, "check") != 0)
			argp_error(state, "expected: check MEMBER... or print MEMBER");
		else if (arguments->count == 0)
			argp_error(state, "%s what? expected a member or a file", action);
		else if (arguments->is_print && arguments->count > 1)
			argp_error(state, "one member at a time");
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "expected: check MEMBER... or print MEMBER");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_parmlib(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_argument,
		.args_doc = "check MEMBER|FILE...\nprint MEMBER|FILE",
		.doc = "Report each error in members of component trace with line, column and reason code, or print a member in its plain form.\v"
		       "A member:\n"
		       "  TRACEOPTS\n"
		       "    [WTRSTART(NAME) [WRAP|NOWRAP]]\n"
		       "    [SUB(PATH)] ON|OFF|LIKEHEAD|PRESET(PUT)|PRESET(DELETE)\n"
		       "      [ASID(NUMBER,...)] [JOBNAME(NAME,...)]\n"
		       "      [BUFSIZE(nnnnK|nnnnM)] [OPTIONS('TEXT',...)]\n"
		       "      [WTR(NAME|DISCONNECT)]\n"
		       "    ...\n"
		       "    [WTRSTOP(JOB)]\n"
		       "\n"
		       "MEMBER is searched in the directories of CTRACE_PARMLIB, then as a file.",
	};
	struct arguments arguments = { 0 };
	int exit_status = CMD_DONE;

	if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0)
		return CMD_USAGE;
	for (int i = 0; i < arguments.count; i++) {
		int of_this = member_run(arguments.names[i], arguments.is_print);

		exit_status = of_this > exit_status ? of_this : exit_status;
	}
	return exit_status;
}
