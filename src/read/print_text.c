/*
 * print_text.c - an event as a line of text: by a FORMAT, or with names where the catalogue or the trace has them.
 *
 * Called for every event that a tool shows, on one thread; this and the decoder are what reading a trace costs.  So the FORMAT is compiled
 * once, and what is the same for all events of a class - everything between the time and the data, mostly - is rendered once a
 * class and copied from then on.  Traced bytes are escaped, as in TEXTFILE (emit/text_line.c), whose lines these are where no name is known.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/read.h"

#include <stdlib.h>
#include <string.h>

#define NAMED_FORMAT "$(TIME) $(COMPONENT) $(MNEMONIC) $(LEVEL)$(DATA)"
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
	DURATION
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
};

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
	struct format format; /* what the user asked for, or TEXTFILE's */
	struct format named;
	struct cached cache[CACHE_SIZE];
};

/* ------------------------------------------------------------------------------------------------------------
 * FORMAT
 */

/* The variable that begins at `at`; its bytes, or 0. */
static size_t find_variable(const char *at, enum variable *out_variable)
{
	const char *end = at[0] == '$' && at[1] == '(' ? strchr(at, ')') : NULL;

	for (size_t i = 0; end != NULL && i < CT_COUNT(variables); i++) {
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
static void compile(struct format *format, const char *text)
{
	const char *start = text, *at = text;

	while (*at != '\0' && format->part_count + 2 < PARTS_MAX) {
		enum variable variable = TEXT;
		size_t size = find_variable(at, &variable);

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

/* "1.234ms", in the unit that suits it; "-" when there is none. */
static void add_duration(struct ct_buf *out, uint64_t duration_ns)
{
	if (duration_ns == CT_NO_DURATION)
		ct_buf_add_char(out, '-');
	else if (duration_ns < 10000)
		ct_buf_add_format(out, "%uns", (unsigned)duration_ns);
	else if (duration_ns < 10000000)
		ct_buf_add_format(out, "%u.%03uus", (unsigned)(duration_ns / 1000), (unsigned)(duration_ns % 1000));
	else if (duration_ns < 10000000000u)
		ct_buf_add_format(out, "%u.%03ums", (unsigned)(duration_ns / 1000000), (unsigned)(duration_ns / 1000 % 1000));
	else
		ct_buf_add_format(out, "%llu.%03us", (unsigned long long)(duration_ns / 1000000000u),
				  (unsigned)(duration_ns / 1000000 % 1000));
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

static void add_variable(struct ct_text_printer *printer, struct ct_buf *out, const struct part *part, const struct ct_view *view,
			 bool is_named)
{
	switch (part->variable) {
	case TEXT:
		ct_buf_add(out, part->text, part->size);
		return;
	case DATA:
		if (is_named)
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
			add_variable(printer, out, &format->parts[format->run_first + i], view, false);
		return;
	}
	if (!is_cached(cached, view)) {
		ct_buf_clear(&cached->text);
		for (size_t i = 0; i < format->run_count; i++)
			add_variable(printer, &cached->text, &format->parts[format->run_first + i], view, false);
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
	bool is_named = printer->options.line.format == NULL &&
			(view->type != NULL || (view->names != NULL && (view->names->mnemonic != NULL || view->names->items != NULL)));
	const struct format *format = is_named ? &printer->named : &printer->format;
	const char *color = printer->options.has_color ? color_of(view->event.level) : "";

	if (color[0] != '\0')
		ct_buf_add_text(out, color);
	for (size_t i = 0; i < format->part_count; i++) {
		if (i == format->run_first && format->run_count > 0) {
			add_run(printer, out, format, view);
			i += format->run_count - 1;
			continue;
		}
		add_variable(printer, out, &format->parts[i], view, is_named);
	}
	if (is_named && view->duration_ns != CT_NO_DURATION) {
		ct_buf_add_text(out, " (");
		add_duration(out, view->duration_ns);
		ct_buf_add_char(out, ')');
	}
	/* Before the end of the line, so that no pager carries it into the next. */
	if (color[0] != '\0')
		ct_buf_add_text(out, "\033[0m");
	ct_buf_add_char(out, '\n');
	if (is_named && printer->options.has_records)
		add_records(out, view);
}

enum ctrace_status ct_text_create(const struct ct_text_options *options, struct ct_text_printer **out_printer)
{
	struct ct_text_printer *printer = calloc(1, sizeof *printer);

	if (printer == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	printer->options = *options;
	compile(&printer->format, options->line.format != NULL ? options->line.format : CT_LINE_FORMAT);
	compile(&printer->named, NAMED_FORMAT);
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
	free(printer);
}
