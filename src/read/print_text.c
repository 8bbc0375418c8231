/*
 * print_text.c - an event as a line of text: by a FORMAT, or as people read it.
 *
 * Called for every event that a tool shows, on one thread; this and the decoder are what reading a trace costs.  So the FORMAT is compiled
 * once, and what is the same for all events of a class - everything between the time and the data, mostly - is rendered once a
 * class and copied from then on.  Traced bytes are escaped, as in TEXTFILE (emit/text_line.c).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/read.h"
#include "read/tally.h"

#include <stdlib.h>
#include <string.h>

#define PEOPLE_FORMAT "$(FINETIME) $(WHOSE)$(COMPONENT) $(MNEMONIC) $(LEVELNAME)$(DATA)"
#define MOST_DIGITS 9u
#define PARTS_MAX 64u /* of a FORMAT; more of it is text */
#define CACHE_SIZE 256u
#define RECORD_INDENT 4u

enum variable {
	TEXT,
	/* the same for all events of a class */
	COMPONENT,
	EVENT,
	LEVEL,
	LEVELNAME,
	MNEMONIC,
	DESCRIPTION,
	/* the same for all events of an origin */
	PROCESS,
	APPNAME,
	HOST,
	JOBNAME,
	ASID,
	/* each event's own */
	DATA,
	DATE,
	THREAD,
	TIME,
	SEQ,
	DURATION,
	DELTA,
	/* of the layout for people */
	FINETIME,
	WHOSE
};
#define LAST_OF_CLASS DESCRIPTION

static const struct {
	const char *name;
	enum variable variable;
} variables[] = {
	{ "COMPONENT", COMPONENT }, { "EVENT", EVENT },       { "LEVEL", LEVEL },
	{ "LEVELNAME", LEVELNAME }, { "MNEMONIC", MNEMONIC }, { "DESCRIPTION", DESCRIPTION },
	{ "PROCESS", PROCESS },     { "PID", PROCESS },       { "APPNAME", APPNAME },
	{ "HOST", HOST },           { "JOBNAME", JOBNAME },   { "ASID", ASID },
	{ "DATA", DATA },           { "DATE", DATE },         { "THREAD", THREAD },
	{ "TIME", TIME },           { "SEQ", SEQ },           { "DURATION", DURATION },
	{ "DELTA", DELTA },         { "FINETIME", FINETIME }, { "WHOSE", WHOSE },
};
#define USERS_VARIABLES (CT_COUNT(variables) - 2) /* the others are not for a FORMAT of the user's */

struct part {
	enum variable variable;
	const char *text; /* of TEXT */
	size_t size;
};

/* A FORMAT as parts: the class's run is [first, first + count), rendered at once. */
struct format {
	struct part parts[PARTS_MAX];
	size_t part_count;
	size_t run_first, run_count;
};

/* The run of one class. */
struct cached {
	const char *component; /* NULL: free */
	const struct ct_event_type *type;
	const struct ct_event_names *names;
	uint32_t event_id, level;
	struct ct_buf text;
};

struct ct_text_printer {
	struct ct_text_options options;
	struct format format;
	bool is_for_people;
	struct cached cache[CACHE_SIZE];
	/* the event before */
	bool has_before;
	uint64_t before_ns;
	uint32_t before_origin, before_pid, before_tid;
	struct ct_buf before_host;
};

/* ------------------------------------------------------------------------------------------------------------
 * FORMAT
 */

/* The variable that begins at `at`, one of the first `count`; its bytes, or 0. */
static size_t find_variable(const char *at, size_t count, enum variable *out_variable)
{
	const char *end = at[0] == '$' && at[1] == '(' ? strchr(at, ')') : NULL;

	for (size_t i = 0; end != NULL && i < count; i++) {
		if (!ct_name_is(at + 2, (size_t)(end - at - 2), variables[i].name))
			continue;
		*out_variable = variables[i].variable;
		return (size_t)(end - at + 1);
	}
	return 0;
}

static void add_part(struct format *format, enum variable variable, const char *text, size_t size)
{
	struct part *last = format->part_count > 0 ? &format->parts[format->part_count - 1] : NULL;

	if (variable == TEXT && size == 0)
		return;
	if (variable == TEXT && last != NULL && last->variable == TEXT) {
		last->size += size;
		return;
	}
	format->parts[format->part_count++] = (struct part){ .variable = variable, .text = text, .size = size };
}

/* The longest run of parts that depend on the class alone. */
static void find_run(struct format *format)
{
	size_t first = 0;

	for (size_t i = 0; i <= format->part_count; i++) {
		if (i < format->part_count && format->parts[i].variable <= LAST_OF_CLASS)
			continue;
		if (i - first > format->run_count) {
			format->run_first = first;
			format->run_count = i - first;
		}
		first = i + 1;
	}
}

/* The parts point into the text. */
static void compile(struct format *format, const char *text, size_t variable_count)
{
	const char *start = text, *at = text;

	while (*at != '\0' && format->part_count + 2 < PARTS_MAX) {
		enum variable variable = TEXT;
		size_t size = find_variable(at, variable_count, &variable);

		if (size == 0) {
			at++;
			continue;
		}
		add_part(format, TEXT, start, (size_t)(at - start));
		add_part(format, variable, NULL, 0);
		at += size;
		start = at;
	}
	add_part(format, TEXT, start, strlen(start));
	find_run(format);
}

bool ct_text_check_format(const char *format, struct ct_buf *out_message)
{
	const char *names[USERS_VARIABLES], *meant;
	enum ct_variable_fault fault;
	struct ct_span word;

	for (size_t i = 0; i < USERS_VARIABLES; i++)
		names[i] = variables[i].name;
	fault = ct_variable_find_fault(ct_span_of(format, format + strlen(format)), names, USERS_VARIABLES, &word);
	if (fault == CT_VARIABLE_GOOD)
		return true;
	if (fault == CT_VARIABLE_OPEN)
		ct_buf_add_format(out_message, "column %zu: ", (size_t)(word.at - format) - 1);
	ct_buf_add_text(out_message, "$(");
	ct_escape_add(out_message, word.at, word.size);
	if (fault == CT_VARIABLE_OPEN) {
		ct_buf_add_text(out_message, " lacks its \")\"");
	} else {
		ct_buf_add_text(out_message, ") is no variable");
		meant = ct_suggest(word, names, USERS_VARIABLES);
		if (meant != NULL)
			ct_buf_add_format(out_message, " (did you mean $(%s)?)", meant);
	}
	ct_buf_add_text(out_message, ", and is printed as it stands");
	return false;
}

/* ------------------------------------------------------------------------------------------------------------
 * Data
 */

static const struct ct_argument *argument_of(const struct ct_view *view, uint32_t index)
{
	return view->type != NULL && index < view->type->argument_count ? &view->type->arguments[index] : NULL;
}

static void add_data(const struct ct_text_printer *printer, struct ct_buf *out, const struct ct_view *view)
{
	const struct ct_line_format *line = &printer->options.line;
	const char *delimiter = line->delimiter;
	size_t delimiter_size = strlen(delimiter);

	for (uint32_t i = 0; i < view->event.item_count; i++) {
		ct_buf_add(out, delimiter, delimiter_size);
		ct_value_add(out, line, &view->event.items[i], argument_of(view, i));
	}
}

static bool is_named(const struct ct_view *view)
{
	return view->type != NULL || (view->names != NULL && (view->names->mnemonic != NULL || view->names->items != NULL));
}

static void add_named_data(const struct ct_text_printer *printer, struct ct_buf *out, const struct ct_view *view)
{
	const struct ct_line_format *line = &printer->options.line;
	char scratch[16];

	for (uint32_t i = 0; i < view->event.item_count; i++) {
		const struct ct_argument *argument = argument_of(view, i);
		const char *name = ct_view_item_name(view, i, scratch);

		if (printer->options.has_records && ct_value_is_record(&view->event.items[i], argument))
			continue;
		ct_buf_add_text(out, line->delimiter);
		ct_escape_add(out, name, strlen(name));
		ct_buf_add_char(out, '=');
		ct_value_add(out, line, &view->event.items[i], argument);
	}
}

static void add_records(struct ct_buf *out, const struct ct_view *view)
{
	for (uint32_t i = 0; i < view->event.item_count; i++)
		if (ct_value_is_record(&view->event.items[i], argument_of(view, i)))
			ct_value_add_record(out, &view->event.items[i], argument_of(view, i), RECORD_INDENT);
}

/* ------------------------------------------------------------------------------------------------------------
 * Variables
 */

static void add_escaped(struct ct_buf *out, const char *text)
{
	ct_escape_add(out, text, strlen(text));
}

/* "1.23ms", in the unit that suits it; "-" when there is none. */
static void add_duration(struct ct_buf *out, uint64_t duration_ns)
{
	if (duration_ns == CT_NO_DURATION)
		ct_buf_add_char(out, '-');
	else
		ct_tally_add_duration(out, duration_ns);
}

static void add_of_class(struct ct_buf *out, enum variable variable, const struct ct_view *view)
{
	char scratch[16];

	switch (variable) {
	case COMPONENT:
		ct_escape_add(out, view->event.component, view->event.component_size);
		return;
	case EVENT:
		ct_buf_add_u64(out, view->event.event_id);
		return;
	case LEVEL:
		ct_buf_add_u64(out, view->event.level);
		return;
	case LEVELNAME:
		ct_buf_add_text(out, ct_level_name(view->event.level));
		return;
	case MNEMONIC:
		add_escaped(out, ct_view_mnemonic(view, scratch));
		return;
	case DESCRIPTION:
		if (view->type != NULL)
			add_escaped(out, view->type->description);
		return;
	default:
		return;
	}
}

static void add_of_origin(struct ct_buf *out, const struct ct_text_printer *printer, enum variable variable, const struct ct_view *view)
{
	const char *program = printer->options.line.program;
	char jobname[17];

	switch (variable) {
	case PROCESS:
		ct_buf_add_u64(out, view->event.pid);
		return;
	case APPNAME:
		add_escaped(out, program != NULL ? program : view->origin->program);
		return;
	case HOST:
		add_escaped(out, view->origin->host);
		return;
	case JOBNAME:
		ct_view_jobname(view, jobname);
		add_escaped(out, jobname);
		return;
	case ASID:
		ct_buf_add_hex(out, ct_view_asid(view), 4, true);
		return;
	default:
		return;
	}
}

unsigned ct_text_digits(unsigned digits, uint64_t before_ns, uint64_t time_ns)
{
	uint64_t unit_ns = digits <= 3 ? 1000000 : digits <= 6 ? 1000 : 1;

	while (digits < MOST_DIGITS && before_ns != time_ns && before_ns / unit_ns == time_ns / unit_ns) {
		digits = digits <= 3 ? 6 : MOST_DIGITS;
		unit_ns /= 1000;
	}
	return digits;
}

static void add_fine_time(const struct ct_text_printer *printer, struct ct_buf *out, uint64_t time_ns)
{
	uint64_t rest = time_ns % 1000000;
	char digits[6];

	for (size_t i = sizeof digits; i-- > 0; rest /= 10)
		digits[i] = (char)('0' + rest % 10);
	ct_line_add_time(out, time_ns);
	if (printer->options.digits > 3)
		ct_buf_add(out, digits, printer->options.digits - 3);
}

/* "hosta SHOP[4711/4713] ", as much of it as tells the lines apart. */
static void add_whose(const struct ct_text_printer *printer, struct ct_buf *out, const struct ct_view *view)
{
	const struct ct_text_options *options = &printer->options;
	char jobname[17];

	if (options->has_host) {
		add_escaped(out, view->origin->host[0] != '\0' ? view->origin->host : "-");
		ct_buf_add_char(out, ' ');
	}
	if (!options->has_process && !options->has_thread)
		return;
	if (options->has_process) {
		ct_view_jobname(view, jobname);
		add_escaped(out, jobname);
	}
	ct_buf_add_char(out, '[');
	if (options->has_process)
		ct_buf_add_u64(out, view->event.pid);
	if (options->has_process && options->has_thread)
		ct_buf_add_char(out, '/');
	if (options->has_thread)
		ct_buf_add_u64(out, view->event.tid);
	ct_buf_add_text(out, "] ");
}

/* What tells this event from the one before is printed from now on. */
static void compare_with_before(struct ct_text_printer *printer, const struct ct_view *view)
{
	struct ct_text_options *options = &printer->options;
	const struct ct_origin *origin = view->origin;

	if (printer->has_before) {
		bool is_other_host =
			printer->before_origin != origin->index && strcmp(ct_buf_text(&printer->before_host), origin->host) != 0;

		options->has_host |= is_other_host;
		options->has_process |= is_other_host || printer->before_pid != view->event.pid;
		options->has_thread |= printer->before_pid == view->event.pid && printer->before_tid != view->event.tid;
		options->digits = ct_text_digits(options->digits, printer->before_ns, view->event.time_ns);
	}
	if (!printer->has_before || printer->before_origin != origin->index) {
		ct_buf_clear(&printer->before_host);
		ct_buf_add_text(&printer->before_host, origin->host);
	}
	printer->before_origin = origin->index;
	printer->before_pid = view->event.pid;
	printer->before_tid = view->event.tid;
}

static void add_delta(const struct ct_text_printer *printer, struct ct_buf *out, uint64_t time_ns)
{
	uint64_t delta_ns = time_ns < printer->before_ns ? 0 : time_ns - printer->before_ns;

	add_duration(out, printer->has_before ? delta_ns : CT_NO_DURATION);
}

static void add_variable(struct ct_text_printer *printer, struct ct_buf *out, const struct part *part, const struct ct_view *view)
{
	switch (part->variable) {
	case TEXT:
		ct_buf_add(out, part->text, part->size);
		return;
	case DATA:
		if (printer->is_for_people && is_named(view))
			add_named_data(printer, out, view);
		else
			add_data(printer, out, view);
		return;
	case DATE:
		ct_line_add_date(out, view->event.time_ns);
		return;
	case THREAD:
		ct_buf_add_u64(out, view->event.tid);
		return;
	case TIME:
		ct_line_add_time(out, view->event.time_ns);
		return;
	case SEQ:
		ct_buf_add_u64(out, view->sequence);
		return;
	case DURATION:
		add_duration(out, view->duration_ns);
		return;
	case DELTA:
		add_delta(printer, out, view->event.time_ns);
		return;
	case FINETIME:
		add_fine_time(printer, out, view->event.time_ns);
		return;
	case WHOSE:
		add_whose(printer, out, view);
		return;
	default:
		if (part->variable <= LAST_OF_CLASS)
			add_of_class(out, part->variable, view);
		else
			add_of_origin(out, printer, part->variable, view);
	}
}

/* ------------------------------------------------------------------------------------------------------------
 * Lines
 */

static bool is_cached(const struct cached *cached, const struct ct_view *view)
{
	return cached->component == view->event.component && cached->event_id == view->event.event_id &&
	       cached->level == view->event.level && cached->type == view->type && cached->names == view->names;
}

static struct cached *slot_of(struct ct_text_printer *printer, const struct ct_view *view)
{
	uint64_t hash = ((uintptr_t)view->event.component >> 3) * 31 + view->event.event_id * 7 + view->event.level;

	return &printer->cache[(hash ^ hash >> 8) % CACHE_SIZE];
}

/* What the class's events have in common.  A component's text is the source's, and stays where it is as long as the source does; but that of a
 * generic event lies among its bytes, where another may lie next. */
static void add_run(struct ct_text_printer *printer, struct ct_buf *out, const struct format *format, const struct ct_view *view)
{
	struct cached *cached = slot_of(printer, view);

	if (!view->is_of_class) {
		for (size_t i = 0; i < format->run_count; i++)
			add_variable(printer, out, &format->parts[format->run_first + i], view);
		return;
	}
	if (!is_cached(cached, view)) {
		ct_buf_clear(&cached->text);
		for (size_t i = 0; i < format->run_count; i++)
			add_variable(printer, &cached->text, &format->parts[format->run_first + i], view);
		cached->component = cached->text.failed ? NULL : view->event.component;
		cached->event_id = view->event.event_id;
		cached->level = view->event.level;
		cached->type = view->type;
		cached->names = view->names;
	}
	ct_buf_add(out, cached->text.data, cached->text.size);
	out->failed |= cached->text.failed;
}

static const char *color_of(uint32_t level)
{
	static const char *const colors[CTRACE_LEVEL_COUNT] = { "\033[2m", "", "\033[33m", "\033[31m", "\033[1;31m" };

	return level < CTRACE_LEVEL_COUNT ? colors[level] : "";
}

void ct_text_add(struct ct_text_printer *printer, struct ct_buf *out, const struct ct_view *view)
{
	const struct format *format = &printer->format;
	const char *color = printer->options.has_color ? color_of(view->event.level) : "";

	if (printer->is_for_people)
		compare_with_before(printer, view);
	if (color[0] != '\0')
		ct_buf_add_text(out, color);
	for (size_t i = 0; i < format->part_count; i++) {
		if (i == format->run_first && format->run_count > 0) {
			add_run(printer, out, format, view);
			i += format->run_count - 1;
			continue;
		}
		add_variable(printer, out, &format->parts[i], view);
	}
	if (printer->is_for_people && view->duration_ns != CT_NO_DURATION) {
		ct_buf_add_text(out, " (");
		add_duration(out, view->duration_ns);
		ct_buf_add_char(out, ')');
	}
	/* Before the end of the line, so that no pager carries it into the next. */
	if (color[0] != '\0')
		ct_buf_add_text(out, "\033[0m");
	ct_buf_add_char(out, '\n');
	if (printer->is_for_people && printer->options.has_records)
		add_records(out, view);
	printer->before_ns = view->event.time_ns;
	printer->has_before = true;
}

enum ctrace_status ct_text_create(const struct ct_text_options *options, struct ct_text_printer **out_printer)
{
	struct ct_text_printer *printer = calloc(1, sizeof *printer);

	if (printer == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	printer->options = *options;
	printer->is_for_people = options->line.format == NULL;
	if (printer->options.digits == 0)
		printer->options.digits = 3;
	if (printer->is_for_people)
		compile(&printer->format, PEOPLE_FORMAT, CT_COUNT(variables));
	else
		compile(&printer->format, options->line.format, USERS_VARIABLES);
	ct_buf_init(&printer->before_host);
	for (size_t i = 0; i < CACHE_SIZE; i++)
		ct_buf_init(&printer->cache[i].text);
	*out_printer = printer;
	return CTRACE_OK;
}

void ct_text_destroy(struct ct_text_printer *printer)
{
	if (printer == NULL)
		return;
	for (size_t i = 0; i < CACHE_SIZE; i++)
		ct_buf_fini(&printer->cache[i].text);
	ct_buf_fini(&printer->before_host);
	free(printer);
}
