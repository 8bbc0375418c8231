/*
 * cmd_catalog.c - `ctrace catalog`: checks a catalogue, and prints it as a C header, a COBOL
 * copybook or a page.
 *
 * Errors go to stderr, one line each.  After an error nothing is printed and no file is written:
 * half a header would be worse than the old one.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "tools/traces/annotation.h"
#include "catalog/catalog.h"
#include "cli/new_file.h"
#include "tools/traces/catalog_draft.h"
#include "print/json_text.h"

typedef void print_function(struct ct_buf *out, const struct ct_catalog_component *component);

struct action {
	const char *name;
	print_function *print; /* NULL: check only */
};
static const struct action actions[] = {
	{ "check", NULL },
	{ "header", ct_catalog_print_header },
	{ "copybook", ct_catalog_print_copybook },
	{ "doc", ct_catalog_print_markdown },
	{ "import", NULL },
	{ "draft", NULL },
};
#define CHECK (&actions[0])
#define IMPORT (&actions[4])
#define DRAFT (&actions[5])

struct arguments {
	const struct action *action;
	const char *output; /* NULL: stdout */
	bool is_json;
	char **paths;
	int count;
};

/* ---- reading ---- */

static void diagnostic_add(json_t *diagnostics, const char *path,
			   const struct ct_diagnostic *diagnostic)
{
	json_t *object = json_object();

	(void)json_object_set_new(object, "path", ct_json_string(path));
	(void)json_object_set_new(object, "line",
				  diagnostic->line != 0 ? json_integer(diagnostic->line)
							: json_null());
	(void)json_object_set_new(object, "column",
				  diagnostic->line != 0 ? json_integer(diagnostic->column)
							: json_null());
	(void)json_object_set_new(object, "message", ct_json_string(diagnostic->message));
	(void)json_object_set_new(object, "expected", ct_json_string(diagnostic->expected));
	(void)json_array_append_new(diagnostics, object);
}

/* The result of adding one path to the catalogue. */
struct addition {
	const struct ct_catalog *catalog;
	const char *path;
	/* counts of this path; while it is added, of the earlier paths */
	struct ct_catalog_counts counts;
	json_t *diagnostics; /* an array for the diagnostics; NULL: they are printed */
	bool is_good;        /* no error, and no reason */
	bool is_empty;       /* a directory without catalogues */
	char reason[200];    /* why it has no counts; "": it has */
};

static void diagnostic_take(const char *path, const struct ct_diagnostic *diagnostic, void *user)
{
	struct addition *addition = user;
	bool is_unread = ct_catalog_counts(addition->catalog).unread != addition->counts.unread;

	/* The named path itself, not a file in it, cannot be read: this is reported of the path
	 * as a whole. */
	if (is_unread && strcmp(path, addition->path) == 0) {
		(void)snprintf(addition->reason, sizeof addition->reason, "%s",
			       diagnostic->message);
		return;
	}
	if (addition->diagnostics != NULL) {
		diagnostic_add(addition->diagnostics, path, diagnostic);
		return;
	}
	ct_tool_diagnose(path, diagnostic);
	fputc('\n', stderr);
}

static const char *status_reason(enum ctrace_status status)
{
	return status == CTRACE_NOT_FOUND ? "there is no such file or directory"
					  : ctrace_status_text(status);
}

static const char *errno_reason(void)
{
	return errno == ENOENT ? status_reason(CTRACE_NOT_FOUND) : strerror(errno);
}

static bool report_unread(const char *path, const char *reason)
{
	fputs("ctrace catalog: cannot read ", stderr);
	ct_tool_print(stderr, path, strlen(path));
	fprintf(stderr, ": %s\n", reason);
	return false;
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void file_count(const char *path, void *user)
{
	(void)path;
	++*(uint64_t *)user;
}

static void addition_note_empty(struct addition *addition)
{
	static const char what[] = "no catalogue (*.yaml, *.yml) is in it";
	unsigned long long annotations;
	uint64_t count = 0;

	(void)annotation_each(addition->path, file_count, &count);
	annotations = count;
	addition->is_empty = true;
	if (annotations == 0)
		(void)snprintf(addition->reason, sizeof addition->reason, "%s", what);
	else
		(void)snprintf(addition->reason, sizeof addition->reason,
			       "%s, but %llu XML file%s: see ctrace catalog import", what,
			       annotations, plural(annotations));
}

/* diagnostics: an array of JSON for the diagnostics; NULL: they are printed. */
static struct addition path_add(struct ct_catalog *catalog, const char *path, json_t *diagnostics)
{
	struct ct_catalog_counts before = ct_catalog_counts(catalog), after;
	struct addition addition = {
		.catalog = catalog, .path = path, .counts = before, .diagnostics = diagnostics
	};
	enum ctrace_status status = ct_catalog_add(catalog, path, diagnostic_take, &addition);

	after = ct_catalog_counts(catalog);
	addition.counts =
		(struct ct_catalog_counts){ .files = after.files - before.files,
					    .components = after.components - before.components,
					    .events = after.events - before.events,
					    .good_events = after.good_events - before.good_events,
					    .diagnostics = after.diagnostics - before.diagnostics,
					    .unread = after.unread - before.unread };
	if (status == CTRACE_NOT_FOUND)
		addition.counts.unread++;
	if (status != CTRACE_OK && status != CTRACE_DAMAGED)
		(void)snprintf(addition.reason, sizeof addition.reason, "%s",
			       status_reason(status));
	else if (status == CTRACE_OK && addition.counts.files == 0)
		addition_note_empty(&addition);
	addition.is_good = status == CTRACE_OK && addition.reason[0] == '\0';
	return addition;
}

/* "x.yaml: 2 components, 9 events, all good" or "x.yaml: 7 of 9 events are good, 3 errors"; a
 * directory may have unread files. */
static void print_counts(const struct addition *addition)
{
	unsigned long long components = addition->counts.components;
	unsigned long long events = addition->counts.events;
	unsigned long long good = addition->counts.good_events;
	unsigned long long diagnostics = addition->counts.diagnostics;
	unsigned long long unread = addition->counts.unread;

	ct_tool_print(stdout, addition->path, strlen(addition->path));
	if (diagnostics == 0)
		printf(": %llu component%s, %llu event%s, all good", components, plural(components),
		       events, plural(events));
	else
		printf(": %llu of %llu event%s %s good, %llu error%s", good, events, plural(events),
		       good == 1 ? "is" : "are", diagnostics, plural(diagnostics));
	if (unread != 0)
		printf("; %llu file%s cannot be read", unread, plural(unread));
	putchar('\n');
}

static void print_addition(const struct addition *addition, bool has_counts)
{
	if (addition->is_empty) {
		ct_tool_print(stderr, addition->path, strlen(addition->path));
		fprintf(stderr, ": %s\n", addition->reason);
	} else if (addition->reason[0] != '\0') {
		(void)report_unread(addition->path, addition->reason);
	} else if (has_counts) {
		print_counts(addition);
	}
}

/* A document.  Takes the diagnostics.  False when memory is short. */
static bool print_json(const struct addition *addition)
{
	json_t *document = ct_json_document();

	(void)json_object_set_new(document, "path", ct_json_string(addition->path));
	if (addition->reason[0] != '\0') {
		(void)json_object_set_new(document, "error", json_string(addition->reason));
		json_decref(addition->diagnostics);
	} else {
		(void)json_object_set_new(document, "components",
					  ct_json_number(addition->counts.components));
		(void)json_object_set_new(document, "events",
					  ct_json_number(addition->counts.events));
		(void)json_object_set_new(document, "good_events",
					  ct_json_number(addition->counts.good_events));
		(void)json_object_set_new(document, "errors",
					  ct_json_number(addition->counts.diagnostics));
		(void)json_object_set_new(document, "unread",
					  ct_json_number(addition->counts.unread));
		(void)json_object_set_new(document, "diagnostics", addition->diagnostics);
	}
	return ct_json_print(document, stdout);
}

/* Returns the status of the verb unless something else fails. */
static int path_take(struct ct_catalog *catalog, const char *path,
		     const struct arguments *arguments)
{
	struct addition addition =
		path_add(catalog, path, arguments->is_json ? json_array() : NULL);
	bool is_good = addition.is_good;

	if (arguments->is_json)
		is_good = print_json(&addition) && is_good;
	else
		print_addition(&addition, arguments->action == CHECK);
	if (addition.counts.unread > 0)
		return CMD_UNREAD;
	return is_good ? CMD_DONE : CMD_NOTHING;
}

/* ---- printing ---- */

static bool report_unwritten(const char *path)
{
	fputs("ctrace catalog: cannot write ", stderr);
	ct_tool_print(stderr, path, strlen(path));
	fprintf(stderr, ": %s\n", strerror(errno));
	return false;
}

static bool file_write(const char *path, mode_t mode, const struct ct_buf *text)
{
	struct new_file file;
	bool is_written;

	if (!new_file_open(&file, path, mode))
		return report_unwritten(path);
	is_written = ct_tool_write(file.fd, text->data, text->size) || report_unwritten(path);
	return (new_file_end(&file, is_written) || report_unwritten(path)) && is_written;
}

static bool print_all(const struct ct_catalog *catalog, const struct arguments *arguments)
{
	const struct ct_catalog_component *component;
	struct ct_buf text;
	bool is_done = true;

	ct_buf_init(&text);
	for (size_t i = 0; (component = ct_catalog_at(catalog, i)) != NULL; i++) {
		if (i != 0)
			ct_buf_add_char(&text, '\n');
		arguments->action->print(&text, component);
	}
	if (text.failed) {
		fprintf(stderr, "ctrace catalog: %s\n",
			ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY));
		is_done = false;
	} else if (arguments->output != NULL && strcmp(arguments->output, "-") != 0) {
		is_done = file_write(arguments->output, NEW_FILE_OF_CATALOG, &text);
	} else {
		fwrite(text.data, 1, text.size, stdout);
	}
	ct_buf_fini(&text);
	return is_done;
}

/* ---- annotations of another product's CTF ---- */

struct import {
	struct ct_buf text;
	struct ct_buf names; /* of the components, each with a NUL behind it */
	uint32_t components;
	bool has_failed;
	bool has_unread;
};

static bool import_has_component(const struct import *import, const char *name)
{
	for (size_t at = 0; at < import->names.size; at += strlen(import->names.data + at) + 1)
		if (strcasecmp(import->names.data + at, name) == 0)
			return true;
	return false;
}

static void import_file(const char *path, void *user)
{
	struct annotation_result result;
	struct import *import = user;
	size_t before = import->text.size;

	if (import->components > 0)
		ct_buf_add_text(&import->text, "---\n");
	annotation_read(path, &import->text, &result);
	if (result.message[0] == '\0' && import_has_component(import, result.component))
		(void)snprintf(result.message, sizeof result.message,
			       "another file has the same component, and counts");
	if (result.message[0] == '\0') {
		import->components++;
		ct_buf_add(&import->names, result.component, strlen(result.component) + 1);
		return;
	}
	import->text.size = before;
	import->has_failed = true;
	import->has_unread |= result.is_unread;
	ct_tool_print(stderr, path, strlen(path));
	if (result.line != 0)
		fprintf(stderr, ":%u", result.line);
	fprintf(stderr, ": %s\n", result.message);
}

static int import_all(const struct arguments *arguments)
{
	struct import import = { .components = 0 };
	bool is_written = true;

	ct_buf_init(&import.text);
	ct_buf_init(&import.names);
	for (int i = 0; i < arguments->count; i++)
		if (!annotation_each(arguments->paths[i], import_file, &import))
			import.has_failed = import.has_unread =
				!report_unread(arguments->paths[i], errno_reason());
	if (import.components == 0 && !import.has_failed)
		fputs("ctrace catalog: no XML file is there\n", stderr);
	if (import.components > 0 && arguments->output != NULL &&
	    strcmp(arguments->output, "-") != 0)
		is_written = file_write(arguments->output, NEW_FILE_OF_CATALOG, &import.text);
	else if (import.components > 0)
		fwrite(import.text.data, 1, import.text.size, stdout);
	ct_buf_fini(&import.text);
	ct_buf_fini(&import.names);
	if (!is_written)
		return CMD_UNWRITTEN;
	if (import.has_unread)
		return CMD_UNREAD;
	return !import.has_failed && import.components > 0 ? CMD_DONE : CMD_NOTHING;
}

static int draft_all(const struct arguments *arguments)
{
	bool is_written = true;
	struct ct_buf text;
	int status;

	ct_buf_init(&text);
	status = catalog_draft(arguments->paths, (size_t)arguments->count, &text);
	if (text.size > 0 && arguments->output != NULL && strcmp(arguments->output, "-") != 0)
		is_written = file_write(arguments->output, NEW_FILE_OF_TRACE, &text);
	else if (text.size > 0)
		fwrite(text.data, 1, text.size, stdout);
	ct_buf_fini(&text);
	return is_written ? status : CMD_UNWRITTEN;
}

/* ---- the verb ---- */

static const struct action *action_find(const char *name)
{
	for (size_t i = 0; i < CT_COUNT(actions); i++)
		if (strcmp(actions[i].name, name) == 0)
			return &actions[i];
	return NULL;
}

static void catalog_take_words(struct arguments *arguments, struct argp_state *state)
{
	arguments->action = action_find(state->argv[state->next]);
	arguments->paths = state->argv + state->next + 1;
	arguments->count = state->argc - state->next - 1;
	if (arguments->action == NULL)
		argp_error(
			state,
			"expected: check, header, copybook, doc, import or draft, and the files of a catalogue");
	else if (arguments->count == 0)
		argp_error(state, "%s what? expected a file or a directory",
			   arguments->action->name);
	else if (arguments->action->print == NULL && arguments->action != IMPORT &&
		 arguments->action != DRAFT && arguments->output != NULL)
		argp_error(state, "check writes no file: -o is for header, copybook and doc");
	else if (arguments->is_json && arguments->action != CHECK)
		argp_error(state, "--json goes with check");
}

static error_t parse_argument(int key, char *argument, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case 'o':
		arguments->output = argument;
		return 0;
	case 'j':
		arguments->is_json = true;
		return 0;
	case ARGP_KEY_ARGS:
		catalog_take_words(arguments, state);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(
			state,
			"expected: check, header, copybook, doc, import or draft, and the files of a catalogue");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int catalog_run(const struct arguments *arguments)
{
	struct ct_catalog *catalog;
	bool is_written = true;
	int result = CMD_DONE;

	if (arguments->action == IMPORT)
		return import_all(arguments);
	if (arguments->action == DRAFT)
		return draft_all(arguments);
	if (ct_catalog_create(&catalog) != CTRACE_OK) {
		fprintf(stderr, "ctrace catalog: %s\n",
			ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY));
		return CMD_NO_MEMORY;
	}
	for (int i = 0; i < arguments->count; i++) {
		int status = path_take(catalog, arguments->paths[i], arguments);

		if (status > result)
			result = status;
	}
	if (result == CMD_DONE && arguments->action->print != NULL)
		is_written = print_all(catalog, arguments);
	else if (arguments->action->print != NULL)
		fputs("ctrace catalog: nothing is written until these errors are corrected\n",
		      stderr);
	ct_catalog_destroy(catalog);
	return is_written ? result : CMD_UNWRITTEN;
}

int cmd_catalog(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "json", 'j', NULL, 0,
		  "check: print a JSON document for each file, with its errors", 0 },
		{ "output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse_argument,
		.args_doc =
			"check FILE...\nheader FILE...\ncopybook FILE...\ndoc FILE...\nimport XML...\ndraft TRACE...",
		.doc = "Report each error in catalogues of events with line and column, or print a catalogue as a C header, as a COBOL "
		       "copybook of level 78, or as a page in Markdown.\v"
		       "A catalogue:\n"
		       "  component: NAME\n"
		       "  events:\n"
		       "    10:\n"
		       "      mnemonic: NAME\n"
		       "      description: TEXT\n"
		       "      severity: LEVEL\n"
		       "      exit: 11\n"
		       "      arguments:\n"
		       "        - name: NAME\n"
		       "          print: hex|decimal|text|time|flags|enumeration|record\n"
		       "\n"
		       "man 5 ctrace-catalog has all keys.  A directory stands for its *.yaml and *.yml.",
	};
	struct arguments arguments = { 0 };

	if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0)
		return CMD_USAGE;
	return catalog_run(&arguments);
}
