/*
 * cmd_trigger.c - ctrace trigger add|list|enable|disable|remove: triggers in running processes, and
 * in those that come.
 *
 * All but list send the key ctrace.trigger.NAME to each process.  When no process is named, they
 * also keep it in the run directory, where processes read it when they attach.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <string.h>

#include "lib/control/trigger.h"
#include "operator/change.h"
#include "operator/trigger_keep.h"
#include "tools/traces/reading.h"

enum trigger_verb {
	VERB_NONE,
	VERB_ADD,
	VERB_LIST,
	VERB_REMOVE,
	VERB_ENABLE,
	VERB_DISABLE,
	VERB_COUNT
};
/* What each sends as the text of the trigger, and reports. */
static const struct {
	const char *word, *text, *done, *done_for_later;
} verbs[VERB_COUNT] = {
	[VERB_ADD] = { "add", NULL, "the trigger is set", "the trigger is kept" },
	[VERB_LIST] = { "list", NULL, NULL, NULL },
	[VERB_REMOVE] = { "remove", "off", "the trigger is removed",
			  "the trigger is no longer kept" },
	[VERB_ENABLE] = { "enable", "enable", "the trigger is enabled", "the trigger is enabled" },
	[VERB_DISABLE] = { "disable", "disable", "the trigger is disabled",
			   "the trigger is disabled" },
};

struct trigger_arguments {
	struct change *change;
	enum trigger_verb verb;
	const char *name;
	const char *when, *span, *count, *rate, *every, *limit, *act;
	const char *exit;
	bool is_once, is_signal;
	struct ct_buf text; /* "when ... do ...", or a change */
};

enum {
	OPTION_WHEN = 256,
	OPTION_SPAN,
	OPTION_SIGNAL,
	OPTION_EXIT,
	OPTION_COUNT,
	OPTION_RATE,
	OPTION_ONCE,
	OPTION_EVERY,
	OPTION_LIMIT,
	OPTION_DO
};

#define VERBS "add, list, enable, disable or remove"

static void verb_take(struct trigger_arguments *arguments, const char *word,
		      struct argp_state *state)
{
	const char *words[VERB_COUNT - 1];
	const char *meant;

	for (size_t i = 0; i < CT_COUNT(words); i++) {
		words[i] = verbs[i + 1].word;
		if (strcmp(word, words[i]) == 0)
			arguments->verb = (enum trigger_verb)(i + 1);
	}
	if (arguments->verb != VERB_NONE)
		return;
	meant = ct_suggest((struct ct_span){ word, strlen(word) }, words, CT_COUNT(words));
	if (meant != NULL)
		argp_error(state, "unknown word \"%s\"; did you mean %s?", word, meant);
	else
		argp_error(state, "unknown word \"%s\"; expected " VERBS, word);
}

static void name_take(struct trigger_arguments *arguments, const char *word,
		      struct argp_state *state)
{
	if (!ct_trigger_name_is_good(word, strlen(word)))
		argp_error(
			state,
			"\"%s\" is no name of a trigger; expected 1 to 32 letters, digits, _ and -",
			word);
	arguments->name = word;
}

static void arguments_check(const struct trigger_arguments *arguments, struct argp_state *state)
{
	bool has_options = arguments->when != NULL || arguments->act != NULL ||
			   arguments->span != NULL || arguments->count != NULL ||
			   arguments->rate != NULL || arguments->every != NULL ||
			   arguments->limit != NULL || arguments->is_once || arguments->is_signal ||
			   arguments->exit != NULL;
	int causes = (arguments->when != NULL) + arguments->is_signal + (arguments->exit != NULL);

	if (arguments->verb == VERB_NONE)
		argp_error(state, "what about triggers? expected " VERBS);
	else if (arguments->verb != VERB_LIST && arguments->name == NULL)
		argp_error(state, "which trigger? expected its name");
	else if (arguments->verb == VERB_ADD && (causes != 1 || arguments->act == NULL))
		argp_error(
			state,
			"expected --do=ACTION, and one of --when='FILTER', --signal and --exit='!= 0'");
	else if (arguments->verb != VERB_ADD && has_options)
		argp_error(state, "--when, --do and what belongs to them are for add");
	else if (arguments->verb == VERB_LIST && arguments->name != NULL)
		argp_error(state, "unexpected argument \"%s\"; list shows all of them",
			   arguments->name);
}

static error_t parse_argument(int key, char *argument, struct argp_state *state)
{
	struct trigger_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->change->target;
		return 0;
	case OPTION_WHEN:
		arguments->when = argument;
		return 0;
	case OPTION_SIGNAL:
		arguments->is_signal = true;
		return 0;
	case OPTION_EXIT:
		arguments->exit = argument;
		return 0;
	case OPTION_SPAN:
		arguments->span = argument;
		return 0;
	case OPTION_COUNT:
		arguments->count = argument;
		return 0;
	case OPTION_RATE:
		arguments->rate = argument;
		return 0;
	case OPTION_ONCE:
		arguments->is_once = true;
		return 0;
	case OPTION_LIMIT:
		arguments->limit = argument;
		return 0;
	case OPTION_EVERY:
		arguments->every = argument;
		return 0;
	case OPTION_DO:
		arguments->act = argument;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0)
			verb_take(arguments, argument, state);
		else if (state->arg_num == 1)
			name_take(arguments, argument, state);
		else
			argp_error(state, "unexpected argument \"%s\"; one trigger at a time",
				   argument);
		return 0;
	case ARGP_KEY_END:
		arguments_check(arguments, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- the text ---- */

static void clause_add(struct ct_buf *text, const char *word, const char *value)
{
	if (value == NULL)
		return;
	ct_buf_add_text(text, text->size != 0 ? " " : "");
	ct_buf_add_text(text, word);
	ct_buf_add_char(text, ' ');
	ct_buf_add_text(text, value);
}

/* The event that begins the span, from the catalogue: the process has none.  `when` names the event
 * that ends it.  Reports why it is not known. */
static const struct ct_event_type *span_end_find(const struct trigger_arguments *arguments,
						 const struct ct_catalog *catalog)
{
	const char *verb = arguments->change->target.verb;
	const struct ct_trigger_test *component = NULL, *event = NULL;
	const struct ct_catalog_component *found = NULL;
	const struct ct_event_type *type = NULL, *entry;
	struct ct_trigger trigger;
	struct ct_buf text;
	bool is_good;

	ct_buf_init(&text);
	clause_add(&text, "when", arguments->when);
	clause_add(&text, "do", "wto");
	is_good =
		!text.failed && ct_trigger_parse(text.data, text.size, &trigger, NULL) == CTRACE_OK;
	ct_buf_fini(&text);
	for (uint32_t i = 0; is_good && i < trigger.test_count; i++) {
		const struct ct_trigger_test *test = &trigger.test[i];

		if (test->field == CT_TRIGGER_COMPONENT && !test->is_glob && !test->is_inverted)
			component = test;
		if (test->field == CT_TRIGGER_EVENT && !test->is_inverted &&
		    test->range_count == 1 && test->range[0].first == test->range[0].last &&
		    test->range[0].first >= 0 && test->range[0].first <= UINT32_MAX)
			event = test;
	}
	if (is_good && (component == NULL || event == NULL)) {
		fprintf(stderr,
			"%s: --span looks into the catalogue for the event that begins the span; expected component == NAME and event == ID of the end in --when, or --span='ID > TIME'\n",
			verb);
		return NULL;
	}
	if (component != NULL && event != NULL)
		found = ct_catalog_component(catalog, component->text, component->text_size);
	if (found != NULL)
		type = ct_catalog_event(found, (uint32_t)event->range[0].first);
	if (type != NULL && type->pairing == CT_PAIR_ENTRY) {
		fprintf(stderr,
			"%s: event %u begins a span; expected the event that ends it in --when: %u\n",
			verb, type->event_id, type->pair_id);
		return NULL;
	}
	if (is_good && (type == NULL || type->pairing != CT_PAIR_EXIT)) {
		fprintf(stderr,
			"%s: no catalogue says that this event ends a span; expected a catalogue in CTRACE_CATALOG with its pair, or --span='ID > TIME' with the event that begins it\n",
			verb);
		return NULL;
	}
	entry = type != NULL ? ct_catalog_event(found, type->pair_id) : NULL;
	if (entry != NULL && entry->match != type->match) {
		fprintf(stderr,
			"%s: the events %u and %u have the item that pairs them at different positions; expected the same position, as a trigger compares it\n",
			verb, entry->event_id, type->event_id);
		return NULL;
	}
	return type;
}

static bool span_add(struct trigger_arguments *arguments)
{
	struct reading reading;
	const struct ct_event_type *type;
	struct ct_buf *text = &arguments->text;
	char first = arguments->span != NULL ? arguments->span[strspn(arguments->span, " ")] : '\0';

	if (first != '>' && first != '<') {
		clause_add(text, "span", arguments->span);
		return true;
	}
	reading_init(&reading, arguments->change->target.verb);
	type = reading_catalog(&reading) ? span_end_find(arguments, reading.catalog) : NULL;
	if (type != NULL) {
		ct_buf_add_format(text, " span %u", type->pair_id);
		if (type->match >= 0)
			ct_buf_add_format(text, " by data%d", type->match + 1);
		ct_buf_add_char(text, ' ');
		ct_buf_add_text(text, arguments->span);
	}
	reading_close(&reading);
	return type != NULL;
}

/* Makes the text, and reports what is wrong with it. */
static bool text_make(struct trigger_arguments *arguments)
{
	struct ct_diagnostic diagnostic;
	struct ct_trigger trigger;
	struct ct_buf *text = &arguments->text;

	if (verbs[arguments->verb].text != NULL) {
		ct_buf_add_text(text, verbs[arguments->verb].text);
		return !text->failed;
	}
	clause_add(text, "when", arguments->is_signal ? "signal" : arguments->when);
	clause_add(text, "when exit", arguments->exit);
	if (!span_add(arguments))
		return false;
	clause_add(text, "count", arguments->count);
	clause_add(text, "rate", arguments->rate);
	if (arguments->is_once)
		ct_buf_add_text(text, " once");
	clause_add(text, "limit", arguments->limit);
	clause_add(text, "every", arguments->every);
	clause_add(text, "do", arguments->act);
	if (text->failed ||
	    ct_trigger_parse(text->data, text->size, &trigger, &diagnostic) == CTRACE_OK)
		return !text->failed;
	fprintf(stderr, "%s: ", arguments->change->target.verb);
	ct_tool_print(stderr, text->data, text->size);
	fprintf(stderr, "\n%s: column %u: " CT_DIAGNOSTIC_FORMAT "\n",
		arguments->change->target.verb, diagnostic.column, CT_DIAGNOSTIC_TEXT(&diagnostic));
	return false;
}

/* ---- the run directory ---- */

static void kept_print(struct ct_span name, struct ct_span text, void *unused)
{
	(void)unused;
	fputs("kept  ctrace.trigger.", stdout);
	ct_tool_print(stdout, name.at, name.size);
	fputs(" = ", stdout);
	ct_tool_print(stdout, text.at, text.size);
	putchar('\n');
}

/* ---- running processes ---- */

static bool trigger_keep(const struct trigger_arguments *arguments, struct ct_buf *before)
{
	const struct ct_span text = { arguments->text.data, arguments->text.size };
	const char *why = ct_trigger_keep(arguments->name, text, before);
	char path[PATH_MAX];

	if (why == NULL)
		return true;
	if (ct_directory_of_user(path) != CTRACE_OK)
		path[0] = '\0';
	fprintf(stderr, "%s: cannot keep the trigger in the run directory",
		arguments->change->target.verb);
	fputs(path[0] != '\0' ? " " : "", stderr);
	ct_tool_print(stderr, path, strlen(path));
	fprintf(stderr, ": %s\n", why);
	return false;
}

static bool nobody_runs(const struct change *change)
{
	struct ct_peers peers = { .count = 0 };
	bool is = ct_peers_find(&change->target.filter, &peers) == CTRACE_OK && peers.count == 0;

	ct_peers_fini(&peers);
	return is;
}

/* A trigger that every process refuses is not kept.  One that is changed need not be in every
 * process: it is enough that one has it, or that it was kept. */
static void answers_settle(const struct trigger_arguments *arguments, const struct ct_buf *before)
{
	struct change *change = arguments->change;
	bool is_add = arguments->verb == VERB_ADD;
	size_t done = 0, refused = 0;

	for (size_t i = 0; i < change->count; i++) {
		done += !change->rows[i].failed;
		refused += change->rows[i].status != CTRACE_OK;
	}
	if (is_add && done == 0 && refused != 0 && ct_target_is_all(&change->target))
		ct_trigger_keep_back(arguments->name, before);
	if (is_add || (done == 0 && before->size == 0))
		return;
	for (size_t i = 0; i < change->count; i++)
		change->rows[i].failed &= change->rows[i].status != CTRACE_NOT_FOUND;
	if (done == 0)
		fprintf(stderr, "%s: %s for processes that come\n", change->target.verb,
			verbs[arguments->verb].done_for_later);
}

static int trigger_ask(struct trigger_arguments *arguments, struct ct_buf *before)
{
	struct change *change = arguments->change;
	struct ct_command command = {
		.verb = arguments->verb == VERB_LIST ? CT_VERB_TRIGGER_LIST : CT_VERB_TRIGGER,
	};
	bool is_for_all = ct_target_is_all(&change->target);

	if (arguments->verb != VERB_LIST) {
		if (!text_make(arguments))
			return CMD_USAGE;
		if (is_for_all && !trigger_keep(arguments, before))
			return CMD_NOTHING;
		command.component = (struct ct_span){ arguments->name, strlen(arguments->name) };
		command.value = (struct ct_span){ arguments->text.data, arguments->text.size };
		change->done = verbs[arguments->verb].done;
	} else if (is_for_all && !change->target.is_json) {
		ct_trigger_kept(kept_print, NULL);
	}
	change->is_question = arguments->verb == VERB_LIST;
	ct_command_encode(&change->ask.request, &command);
	if (is_for_all && (arguments->verb == VERB_ADD || before->size != 0) &&
	    nobody_runs(change)) {
		fprintf(stderr, "%s: no traced process is running; %s for those that come\n",
			change->target.verb, verbs[arguments->verb].done_for_later);
		return CMD_DONE;
	}
	ct_change_gather(change);
	if (arguments->verb != VERB_LIST)
		answers_settle(arguments, before);
	return ct_change_finish(change);
}

int cmd_trigger(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		{ "when", OPTION_WHEN, "FILTER", 0, "Which events: a filter, see ctrace-trigger(1)",
		  0 },
		{ "signal", OPTION_SIGNAL, NULL, 0, "A fatal signal instead of events", 0 },
		{ "exit", OPTION_EXIT, "STATUS", 0,
		  "The end of the process with such a status instead of events: '!= 0'", 0 },
		{ "span", OPTION_SPAN, "TIME", 0,
		  "The event ends a span that lasted so long: '> 2ms', or '10 > 2ms' without a catalogue",
		  0 },
		{ "count", OPTION_COUNT, "N", 0, "Act at the N-th such event", 0 },
		{ "rate", OPTION_RATE, "RATE", 0, "Act when so many match in a second: 100/s", 0 },
		{ "once", OPTION_ONCE, NULL, 0, "Act once", 0 },
		{ "limit", OPTION_LIMIT, "N", 0, "Act at most N times", 0 },
		{ "every", OPTION_EVERY, "TIME", 0, "Act at most once in this time; 1s by default",
		  0 },
		{ "do", OPTION_DO, "ACTION", 0,
		  "dump, stop, wto, level:LEVEL:TIME, start:COMPONENT or run:PROGRAM, or several with commas",
		  0 },
		{ 0 },
	};
	static const struct argp_child children[] = { { &ct_target_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = rows,
		.parser = parse_argument,
		.args_doc = "add NAME\nlist\nenable NAME\ndisable NAME\nremove NAME",
		.doc = "Let processes act by themselves when an event matches."
		       "\vWithout --pid, --job or --asid a trigger is also kept in the run directory, for processes that come.",
		.children = children,
	};
	struct change change;
	struct trigger_arguments arguments = { .change = &change };
	int exit_status = CMD_USAGE;
	struct ct_buf before; /* what was kept */

	ct_change_init(&change);
	ct_buf_init(&before);
	ct_buf_init(&arguments.text);
	if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) == 0)
		exit_status = trigger_ask(&arguments, &before);
	ct_buf_fini(&before);
	ct_buf_fini(&arguments.text);
	ct_change_fini(&change);
	return exit_status;
}
