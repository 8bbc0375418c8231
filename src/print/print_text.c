/*
 * print_text.c - an event as a line of text: by a FORMAT, or as people read it.
 *
 * Called for every event that a tool shows, on one thread; this and the decoder are what reading a
 * trace costs.  Lines, their parts and the texts of classes are TEXTFILE's (lib/emit/text_line.c,
 * lib/emit/line_parts.c); what is here is what only a reader knows.  Traced bytes are escaped, as
 * there.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/print.h"
#include "print/tally.h"

#include <stdlib.h>
#include <string.h>

/* between time, whose it is, and data */
#define PEOPLE_FORMAT "$(COMPONENT) $(MNEMONIC) $(LEVELNAME)"
#define MOST_DIGITS 9u
#define RECORD_INDENT 4u

enum variable {
	/* the same for all events of a class */
	LEVELNAME = CT_LINE_VARIABLES,
	MNEMONIC,
	DESCRIPTION,
	/* the same for all events of a source process */
	APPNAME,
	HOST,
	JOBNAME,
	ASID,
	/* each event's own */
	SEQ,
	DURATION,
	DELTA
};

static const struct ct_line_name names[] = {
	{ "COMPONENT", CT_LINE_COMPONENT, true },
	{ "EVENT", CT_LINE_EVENT, true },
	{ "LEVEL", CT_LINE_LEVEL, true },
	{ "LEVELNAME", LEVELNAME, true },
	{ "MNEMONIC", MNEMONIC, true },
	{ "DESCRIPTION", DESCRIPTION, true },
	{ "PROCESS", CT_LINE_PROCESS, false },
	{ "PID", CT_LINE_PROCESS, false },
	{ "APPNAME", APPNAME, false },
	{ "HOST", HOST, false },
	{ "JOBNAME", JOBNAME, false },
	{ "ASID", ASID, false },
	{ "DATA", CT_LINE_DATA, false },
	{ "DATE", CT_LINE_DATE, false },
	{ "THREAD", CT_LINE_THREAD, false },
	{ "TIME", CT_LINE_TIME, false },
	{ "SEQ", SEQ, false },
	{ "DURATION", DURATION, false },
	{ "DELTA", DELTA, false },
};

struct ct_text_printer {
	struct ct_text_options options;
	struct ct_line_printer line;
	bool is_for_people;
	/* the event before */
	bool has_before;
	uint64_t before_ns;
	uint32_t before_source_process, before_pid, before_tid;
	struct ct_buf before_host;
};

/* -----------------------------------------------------------------------------------------------
 * FORMAT
 */

bool ct_text_check_format(const char *format, struct ct_buf *out_message)
{
	const char *words[CT_COUNT(names)], *meant;
	enum ct_variable_fault fault;
	struct ct_span word;

	for (size_t i = 0; i < CT_COUNT(names); i++)
		words[i] = names[i].name;
	fault = ct_variable_find_fault(ct_span_of(format, format + strlen(format)), words,
				       CT_COUNT(names), &word);
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
		meant = ct_suggest(word, words, CT_COUNT(names));
		if (meant != NULL)
			ct_buf_add_format(out_message, " (did you mean $(%s)?)", meant);
	}
	ct_buf_add_text(out_message, ", and is printed as it stands");
	return false;
}

/* -----------------------------------------------------------------------------------------------
 * Data
 */

static void add_escaped(struct ct_buf *out, const char *text)
{
	ct_escape_add(out, text, strlen(text));
}

/* Without a catalogue an item is shown by its type. */
static inline void add_data(const struct ct_text_printer *printer, struct ct_buf *out,
			    const struct ct_read_event *event)
{
	const struct ct_line_printer *line = &printer->line;

	if (event->type == NULL) {
		ct_line_add_data(line, out, &event->traced);
		return;
	}
	for (uint32_t i = 0; i < event->traced.item_count; i++) {
		ct_buf_add_short(out, line->format.delimiter, line->delimiter_size);
		ct_value_add(out, &line->format, &event->traced.items[i],
			     ct_read_event_argument(event, i), event->source_process->is_big);
	}
}

static bool item_is_named(const struct ct_read_event *event)
{
	return event->type != NULL || (event->names != NULL && (event->names->mnemonic != NULL ||
								event->names->items != NULL));
}

static void add_named_data(const struct ct_text_printer *printer, struct ct_buf *out,
			   const struct ct_read_event *event)
{
	const struct ct_line_printer *line = &printer->line;
	char scratch[16];

	for (uint32_t i = 0; i < event->traced.item_count; i++) {
		const struct ct_argument *argument = ct_read_event_argument(event, i);
		const char *name = ct_read_event_item_name(event, i, scratch);

		if (printer->options.has_records &&
		    ct_value_is_record(&event->traced.items[i], argument))
			continue;
		ct_buf_add_short(out, line->format.delimiter, line->delimiter_size);
		add_escaped(out, name);
		ct_buf_add_short(out, "=", 1);
		if (argument == NULL)
			ct_line_add_item(out, &line->format, &event->traced.items[i]);
		else
			ct_value_add(out, &line->format, &event->traced.items[i], argument,
				     event->source_process->is_big);
	}
}

static void add_records(struct ct_buf *out, const struct ct_read_event *event)
{
	for (uint32_t i = 0; i < event->traced.item_count; i++)
		if (ct_value_is_record(&event->traced.items[i], ct_read_event_argument(event, i)))
			ct_value_add_record(out, &event->traced.items[i],
					    ct_read_event_argument(event, i),
					    event->source_process->is_big, RECORD_INDENT);
}

/* -----------------------------------------------------------------------------------------------
 * Variables
 */

/* "1.23ms", in the unit that suits it; "-" when there is none. */
static void add_duration(struct ct_buf *out, uint64_t duration_ns)
{
	if (duration_ns == CT_NO_DURATION)
		ct_buf_add_char(out, '-');
	else
		ct_tally_add_duration(out, duration_ns);
}

static void add_of_class(struct ct_buf *out, unsigned variable, const struct ct_read_event *event)
{
	char scratch[16];

	if (variable == LEVELNAME)
		ct_buf_add_text(out, ct_level_name(event->traced.level));
	else if (variable == MNEMONIC)
		add_escaped(out, ct_read_event_mnemonic(event, scratch));
	else if (event->type != NULL)
		add_escaped(out, event->type->description);
}

static void add_of_source_process(struct ct_buf *out, const struct ct_text_printer *printer,
				  unsigned variable, const struct ct_read_event *event)
{
	const char *program = printer->line.format.program;
	char jobname[17];

	switch (variable) {
	case APPNAME:
		add_escaped(out, program != NULL ? program : event->source_process->program);
		return;
	case HOST:
		add_escaped(out, event->source_process->host);
		return;
	case JOBNAME:
		ct_read_event_jobname(event, jobname);
		add_escaped(out, jobname);
		return;
	case ASID:
		ct_buf_add_hex(out, ct_read_event_asid(event), 4, true);
		return;
	default:
		return;
	}
}

/* "hosta SHOP[4711/4713] ", as much of it as distinguishes the lines. */
static void add_whose(const struct ct_text_printer *printer, struct ct_buf *out,
		      const struct ct_read_event *event)
{
	const struct ct_text_options *options = &printer->options;
	char jobname[17];

	if (options->has_host) {
		add_escaped(out, event->source_process->host[0] != '\0'
					 ? event->source_process->host
					 : "-");
		ct_buf_add_char(out, ' ');
	}
	if (!options->has_process && !options->has_thread)
		return;
	if (options->has_process) {
		ct_read_event_jobname(event, jobname);
		add_escaped(out, jobname);
	}
	ct_buf_add_char(out, '[');
	if (options->has_process)
		ct_buf_add_u64(out, event->traced.pid);
	if (options->has_process && options->has_thread)
		ct_buf_add_char(out, '/');
	if (options->has_thread)
		ct_buf_add_u64(out, event->traced.tid);
	ct_buf_add_text(out, "] ");
}

/* The parts that differ from the event before are printed from now on. */
static void event_compare_with_before(struct ct_text_printer *printer,
				      const struct ct_read_event *event)
{
	struct ct_text_options *options = &printer->options;
	const struct ct_source_process *source_process = event->source_process;

	/* Mostly it is a thread's next event. */
	if (printer->has_before && printer->before_source_process == source_process->index &&
	    printer->before_pid == event->traced.pid && printer->before_tid == event->traced.tid) {
		if (options->digits < MOST_DIGITS)
			options->digits = ct_text_digits(options->digits, printer->before_ns,
							 event->traced.time_ns);
		return;
	}
	if (printer->has_before) {
		bool is_other_host =
			printer->before_source_process != source_process->index &&
			strcmp(ct_buf_text(&printer->before_host), source_process->host) != 0;

		options->has_host |= is_other_host;
		options->has_process |= is_other_host || printer->before_pid != event->traced.pid;
		options->has_thread |= printer->before_pid == event->traced.pid &&
				       printer->before_tid != event->traced.tid;
		options->digits =
			ct_text_digits(options->digits, printer->before_ns, event->traced.time_ns);
	}
	if (!printer->has_before || printer->before_source_process != source_process->index) {
		ct_buf_clear(&printer->before_host);
		ct_buf_add_text(&printer->before_host, source_process->host);
	}
	printer->before_source_process = source_process->index;
	printer->before_pid = event->traced.pid;
	printer->before_tid = event->traced.tid;
}

static void add_delta(const struct ct_text_printer *printer, struct ct_buf *out, uint64_t time_ns)
{
	uint64_t delta_ns = time_ns < printer->before_ns ? 0 : time_ns - printer->before_ns;

	add_duration(out, printer->has_before ? delta_ns : CT_NO_DURATION);
}

static inline void add_class(const struct ct_text_printer *printer, struct ct_buf *out,
			     const struct ct_read_event *event);

/* What few lines have.  Out of line, so that the others are spared its registers. */
static __attribute__((noinline)) void add_rare_part(const struct ct_text_printer *printer,
						    struct ct_buf *out,
						    const struct ct_line_part *part,
						    const struct ct_read_event *event)
{
	switch (part->variable) {
	case SEQ:
		ct_buf_add_u64(out, event->sequence);
		return;
	case DURATION:
		add_duration(out, event->duration_ns);
		return;
	case DELTA:
		add_delta(printer, out, event->traced.time_ns);
		return;
	case LEVELNAME:
	case MNEMONIC:
	case DESCRIPTION:
		add_of_class(out, part->variable, event);
		return;
	case APPNAME:
	case HOST:
	case JOBNAME:
	case ASID:
		add_of_source_process(out, printer, part->variable, event);
		return;
	default:
		ct_line_add_part(&printer->line, out, part, &event->traced);
	}
}

static inline void add_part(const struct ct_text_printer *printer, struct ct_buf *out,
			    const struct ct_line_part *part, const struct ct_read_event *event)
{
	switch (part->variable) {
	case CT_LINE_TEXT:
		ct_buf_add_short(out, part->text, part->size);
		return;
	case CT_LINE_CLASS:
		add_class(printer, out, event);
		return;
	case CT_LINE_TIME:
		ct_line_add_time(out, event->traced.time_ns);
		return;
	case CT_LINE_DATA:
		add_data(printer, out, event);
		return;
	default:
		add_rare_part(printer, out, part, event);
	}
}

static void add_part_of_class(const void *self, struct ct_buf *out, const struct ct_line_part *part,
			      const void *of)
{
	add_part(self, out, part, of);
}

/* The common parts of an event that has no class. */
static __attribute__((noinline)) void add_run(const struct ct_text_printer *printer,
					      struct ct_buf *out, const struct ct_read_event *event)
{
	const struct ct_line_parts *parts = &printer->line.parts;

	for (size_t i = 0; i < parts->run_count; i++)
		add_part_of_class(printer, out, &parts->run[i], event);
}

/* What the class's events have in common.  A component's text is the source's, and stays where it
 * is as long as the source does; but that of a generic event lies among its bytes, where another
 * may lie next. */
static inline void add_class(const struct ct_text_printer *printer, struct ct_buf *out,
			     const struct ct_read_event *event)
{
	const struct ct_line_class class = {
		.component = event->traced.component,
		.mnemonic = event->names != NULL ? event->names->mnemonic : NULL,
		.scope = event->scope,
		.event_id = event->traced.event_id,
		.level = event->traced.level,
	};

	if (event->scope != 0)
		ct_line_parts_add_class(&printer->line.parts, out, &class, add_part_of_class,
					printer, event);
	else
		add_run(printer, out, event);
}

/* -----------------------------------------------------------------------------------------------
 * Lines
 */

static const char *level_color(uint32_t level)
{
	static const char *const colors[CTRACE_LEVEL_COUNT] = { "\033[2m", "", "\033[33m",
								"\033[31m", "\033[1;31m" };

	return level < CTRACE_LEVEL_COUNT ? colors[level] : "";
}

static inline void add_for_people(const struct ct_text_printer *printer, struct ct_buf *out,
				  const struct ct_read_event *event)
{
	const struct ct_text_options *options = &printer->options;

	ct_line_add_fine_time(out, event->traced.time_ns, options->digits);
	ct_buf_add_short(out, " ", 1);
	if (options->has_host | options->has_process | options->has_thread)
		add_whose(printer, out, event);
	add_class(printer, out, event);
	if (item_is_named(event))
		add_named_data(printer, out, event);
	else
		ct_line_add_data(&printer->line, out, &event->traced);
	if (event->duration_ns == CT_NO_DURATION)
		return;
	ct_buf_add_text(out, " (");
	add_duration(out, event->duration_ns);
	ct_buf_add_text(out, event->is_inferred ? ", its end is inferred)" : ")");
}

void ct_text_add(struct ct_text_printer *printer, struct ct_buf *out,
		 const struct ct_read_event *event)
{
	const struct ct_line_parts *parts = &printer->line.parts;
	const char *color = printer->options.has_color ? level_color(event->traced.level) : "";

	if (color[0] != '\0')
		ct_buf_add_text(out, color);
	if (printer->is_for_people) {
		event_compare_with_before(printer, event);
		add_for_people(printer, out, event);
	} else {
		for (size_t i = 0; i < parts->count; i++)
			add_part(printer, out, &parts->parts[i], event);
	}
	/* Before the end of the line, so that no pager carries it into the next. */
	if (color[0] != '\0')
		ct_buf_add_text(out, "\033[0m");
	ct_buf_add_short(out, "\n", 1);
	if (printer->is_for_people && printer->options.has_records)
		add_records(out, event);
	printer->before_ns = event->traced.time_ns;
	printer->has_before = true;
}

enum ctrace_status ct_text_create(const struct ct_text_options *options,
				  struct ct_text_printer **out_printer)
{
	struct ct_text_printer *printer = calloc(1, sizeof *printer);
	struct ct_line_format format = options->line;
	enum ctrace_status status;

	if (printer == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	printer->options = *options;
	printer->is_for_people = format.format == NULL;
	if (printer->options.digits == 0)
		printer->options.digits = 3;
	if (printer->is_for_people)
		format.format = PEOPLE_FORMAT;
	status = ct_line_printer_init_with(&printer->line, &format, names, CT_COUNT(names));
	if (status != CTRACE_OK) {
		free(printer);
		return status;
	}
	ct_buf_init(&printer->before_host);
	*out_printer = printer;
	return CTRACE_OK;
}

void ct_text_destroy(struct ct_text_printer *printer)
{
	if (printer == NULL)
		return;
	ct_line_printer_fini(&printer->line);
	ct_buf_fini(&printer->before_host);
	free(printer);
}
