/*
 * cmd_tail.c - ctrace tail: prints events as they are traced.
 *
 * Reads the rings of all processes, often while events come and seldom while none do; the processes
 * neither help nor notice.  With the address of a stream it reads what comes there, part by part.
 * Events go to stdout and are flushed at once; events that could not be shown are reported on
 * stderr.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"
#include "tools/traces/reading.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "operator/recovery/recovery.h"
#include "cli/end_signal.h"
#include "tools/traces/line_options.h"
#include "cli/line_store.h"
#include "tools/streams/stream_copy.h"
#include "tools/streams/stream_events.h"
#include "lib/control/control.h"

#define NS_PER_SECOND 1000000000u
#define HOLD_NS 20000000u /* so long an event waits for earlier ones of other threads */
#define BUSY_NS 2000000u  /* between two looks */
#define IDLE_NS 50000000u
#define OUT_LIMIT 65536u
/* PIPE_BUF: what a pipe that is ready takes without making us wait */
#define WRITE_SIZE 4096u
#define PATIENCE_NS 1000000000u /* for a reader that reads nothing, at the end */
#define CATCH_UP_LOOKS 100u     /* at most, before what --last wants is printed */
#define LAST_LIMIT 1000000u
#define SECONDS_LIMIT 1000000000.0

enum { OPTION_LIMIT = 256, OPTION_FOR, OPTION_FROM_START, OPTION_ENDS };

struct tail {
	struct reading reading;
	struct line_options lines;
	struct ct_peer_filter filter;
	const char *address; /* of a stream; NULL: processes */
	struct stream_events stream;
	uint64_t stream_lost; /* events */
	uint64_t end_ns;      /* monotonic; UINT64_MAX: never */
	bool from_start;
	uint64_t last; /* events to begin with */
	bool has_expression;
	uint64_t count;  /* to end after; 0: never */
	uint64_t for_ns; /* 0: for ever */
	uint64_t shown;
	struct ct_live *live;
	struct ct_source_process source_process; /* of the event that is being looked at */
	const sigset_t *signals;                 /* while we wait */
	bool is_ending;
	bool is_cut;     /* nobody takes our output any more */
	int write_errno; /* why it cannot be written */
	struct ct_buf line;
	struct ct_buf out; /* not written yet */
	bool is_catching_up;
	bool has_failed;           /* a process could not be read */
	bool has_lost_lines;       /* that were to be printed first */
	struct line_store history; /* the last lines, while catching up */
	uint64_t reported_missed;  /* bytes */
	uint64_t reported_at_ns;
};

static void tail_report(const char *path, uint64_t offset, const char *message, void *user)
{
	struct tail *tail = user;

	(void)offset;
	tail->has_failed = true;
	fputs("ctrace tail: ", stderr);
	path = stream_shown_path(path);
	ct_tool_print(stderr, path, strlen(path));
	fprintf(stderr, ": %s\n", message);
}

static bool event_is_wanted(const struct ct_live_who *who, void *user)
{
	const struct tail *tail = user;

	return ct_peer_filter_wants(&tail->filter, who->pid, who->asid, who->jobname);
}

/* -----------------------------------------------------------------------------------------------
 * Printing
 */

static bool tail_has_enough(const struct tail *tail)
{
	return tail->is_cut || (tail->count != 0 && tail->shown >= tail->count);
}

/* Waits until stdout takes more, so that a signal ends the wait too. */
static bool output_is_ready(const struct tail *tail)
{
	struct timespec patience = { .tv_sec = PATIENCE_NS / NS_PER_SECOND };
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return !ct_end_wanted &&
	       ppoll(&out, 1, tail->is_ending ? &patience : NULL, tail->signals) > 0;
}

static void output_write(struct tail *tail)
{
	size_t at = 0;

	while (at < tail->out.size && !tail->is_cut) {
		size_t size = tail->out.size - at < WRITE_SIZE ? tail->out.size - at : WRITE_SIZE;
		ssize_t written =
			output_is_ready(tail) ? write(STDOUT_FILENO, tail->out.data + at, size) : 0;

		if (written < 0 && errno != EINTR && errno != EAGAIN)
			tail->write_errno = errno;
		tail->is_cut = written == 0 || tail->write_errno != 0;
		at += written > 0 ? (size_t)written : 0;
	}
	ct_buf_clear(&tail->out);
}

static bool print_line(const char *line, size_t size, void *user)
{
	struct tail *tail = user;

	if (tail_has_enough(tail))
		return false;
	ct_buf_add(&tail->out, line, size);
	tail->shown++;
	if (tail->out.size >= OUT_LIMIT || tail->out.failed)
		output_write(tail);
	return true;
}

/* Returns NULL for an event that is not wanted. */
static const struct ct_read_event *event_event(struct tail *tail, const struct ctrace_event *traced,
					       const struct ct_live_who *who)
{
	tail->source_process = (struct ct_source_process){
		.index = who->pid, /* spans of several processes are distinguished by it */
		.path = "",
		.host = who->host,
		.program = who->program,
		.jobname = who->jobname,
		.pid = who->pid,
		.asid = who->asid,
		.is_big = CTRACE_IS_BIG_,
	};
	return ct_reader_take(tail->reading.reader, traced, NULL, &tail->source_process);
}

static void event_print(struct tail *tail, const struct ct_read_event *event)
{
	if (tail_has_enough(tail))
		return;
	ct_buf_clear(&tail->line);
	line_options_add(&tail->lines, &tail->line, event);
	if (tail->line.failed)
		return;
	if (tail->is_catching_up)
		line_store_add(&tail->history, tail->line.data, tail->line.size);
	else
		(void)print_line(tail->line.data, tail->line.size, tail);
}

/* Prints an event that the filter accepts or NULL, after the inferred ends before it. */
static void event_end(struct tail *tail, const struct ct_read_event *event)
{
	const struct ct_read_event *end;

	/* Only events of its own thread end a span, so source_process is that of its beginning. */
	while (tail->reading.has_inferred &&
	       (end = ct_reader_take_inferred(tail->reading.reader)) != NULL)
		event_print(tail, end);
	if (event != NULL)
		event_print(tail, event);
}

/* Prints the events that have waited long enough, or all. */
static void tail_take_events(struct tail *tail, bool all)
{
	const struct ct_live_who *who;
	struct ctrace_event traced;

	while (!tail_has_enough(tail) && ct_live_next(tail->live, all, &traced, &who))
		event_end(tail, event_event(tail, &traced, who));
	output_write(tail);
}

static void report_lost_lines(struct tail *tail, int error)
{
	tail_report("--last", 0, strerror(error), tail);
	tail->has_lost_lines = true;
}

/* Of the events that rings already hold, prints only the last lines. */
static void tail_catch_up(struct tail *tail)
{
	bool is_new = true;

	line_store_init(&tail->history, tail->last);
	tail->is_catching_up = true;
	for (unsigned i = 0; i < CATCH_UP_LOOKS && is_new; i++) {
		is_new = ct_live_look(tail->live);
		tail_take_events(tail, true);
	}
	tail->is_catching_up = false;
	if (!line_store_each(&tail->history, false, print_line, tail))
		report_lost_lines(tail, errno);
	else if (tail->history.write_errno != 0)
		report_lost_lines(tail, tail->history.write_errno);
	output_write(tail);
	line_store_fini(&tail->history);
}

static void report_lost(uint64_t events)
{
	if (events != 0)
		fprintf(stderr, "ctrace tail: %" PRIu64 " event%s lost by the traced programs\n",
			events, events == 1 ? " was" : "s were");
}

/* Once a second at most, and at the end. */
static void report_missed(struct tail *tail, bool is_end)
{
	uint64_t now_ns = ct_clock_mono_ns();
	struct ct_live_totals totals;

	ct_live_count(tail->live, &totals);
	if (totals.missed_bytes != tail->reported_missed &&
	    (is_end || now_ns - tail->reported_at_ns >= NS_PER_SECOND)) {
		fprintf(stderr, "ctrace tail: %" PRIu64 " bytes went by too fast to be shown\n",
			totals.missed_bytes - tail->reported_missed);
		tail->reported_missed = totals.missed_bytes;
		tail->reported_at_ns = now_ns;
	}
	if (is_end && totals.damaged_bytes != 0)
		fprintf(stderr, "ctrace tail: %" PRIu64 " bytes were damaged\n",
			totals.damaged_bytes);
	if (is_end)
		report_lost(totals.lost_events);
}

/* -----------------------------------------------------------------------------------------------
 * Following
 */

/* Waits until the next look is due, a process or a signal comes, or the reader of the output
 * goes. */
static void tail_wait(struct tail *tail, uint64_t interval_ns)
{
	struct timespec time = { .tv_sec = (time_t)(interval_ns / NS_PER_SECOND),
				 .tv_nsec = (long)(interval_ns % NS_PER_SECOND) };
	struct pollfd news[] = { { .fd = STDOUT_FILENO },
				 { .fd = ct_live_fd(tail->live), .events = POLLIN } };

	if (ppoll(news, CT_COUNT(news), &time, tail->signals) > 0 &&
	    (news[0].revents & POLLERR) != 0)
		tail->is_cut = true;
}

/* Reports at the first look what tail waits for, so that the user knows why nothing is printed. */
static void report_waiting(const struct tail *tail)
{
	struct ct_live_totals totals;
	bool is_any =
		tail->filter.pid == 0 && tail->filter.asid == 0 && tail->filter.jobname == NULL;

	ct_live_count(tail->live, &totals);
	if (totals.processes == 0)
		fprintf(stderr, "ctrace tail: %s is traced yet; waiting for one\n",
			is_any ? "no process" : "no such process");
}

static void tail_follow(struct tail *tail)
{
	bool is_first = true;
	uint64_t interval_ns = BUSY_NS;
	uint64_t end_ns = tail->for_ns != 0 ? ct_clock_mono_ns() + tail->for_ns : UINT64_MAX;

	if (tail->last != 0)
		tail_catch_up(tail);
	/* Without memory, events would be missing unnoticed. */
	while (!ct_end_wanted && !tail_has_enough(tail) && !ct_memory_has_lacked()) {
		bool is_new = ct_live_look(tail->live);
		uint64_t now_ns = ct_clock_mono_ns();

		if (is_first)
			report_waiting(tail);
		is_first = false;
		tail_take_events(tail, false);
		report_missed(tail, false);
		if (now_ns >= end_ns)
			break;
		interval_ns += interval_ns / 4;
		if (is_new)
			interval_ns = BUSY_NS;
		else if (interval_ns > IDLE_NS)
			interval_ns = IDLE_NS;
		tail_wait(tail, interval_ns < end_ns - now_ns ? interval_ns : end_ns - now_ns);
	}
	/* What has happened until now is shown, whatever waits. */
	ct_end_wanted = 0;
	tail->is_ending = true;
	(void)ct_live_look(tail->live);
	tail_take_events(tail, true);
	report_missed(tail, true);
}

/* -----------------------------------------------------------------------------------------------
 * A stream
 */

static bool stream_event_take(const struct ct_read_event *event,
			      const struct ct_source_process *process, void *user)
{
	struct tail *tail = user;

	tail->source_process = *process;
	event_end(tail, ct_reader_take(tail->reading.reader, &event->traced, event->names,
				       &tail->source_process));
	return !tail_has_enough(tail);
}

static void stream_lost(const struct ct_source_process *process, uint64_t events, void *user)
{
	struct tail *tail = user;

	(void)process;
	tail->stream_lost += events;
}

static void part_take(const char *directory, bool is_repeated, void *user)
{
	struct tail *tail = user;

	stream_events_take(&tail->stream, directory, is_repeated);
	output_write(tail);
}

static bool stream_goes_on(void *user)
{
	struct tail *tail = user;
	struct pollfd out = { .fd = STDOUT_FILENO };

	if (poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0)
		tail->is_cut = true;
	return !ct_end_wanted && !tail_has_enough(tail) && !ct_memory_has_lacked() &&
	       ct_clock_mono_ns() < tail->end_ns;
}

static int stream_tail(struct tail *tail)
{
	uint64_t since_ns = 0, until_ns;
	struct stream_parts parts = { .goes_on = stream_goes_on, .take = part_take, .user = tail };
	int result = CMD_UNWRITTEN;
	struct ct_buf address;

	if (tail->reading.filter != NULL)
		ct_filter_times(tail->reading.filter, &since_ns, &until_ns);
	parts.since_ns = since_ns == 0 && !tail->from_start ? UINT64_MAX : since_ns;
	tail->end_ns = tail->for_ns != 0 ? ct_clock_mono_ns() + tail->for_ns : UINT64_MAX;
	(void)sigprocmask(SIG_SETMASK, tail->signals, NULL);
	tail->stream = (struct stream_events){ .filter = tail->filter,
					       .take = stream_event_take,
					       .lost = stream_lost,
					       .report = tail_report,
					       .user = tail };
	ct_buf_init(&address);
	tail->reading.job = tail->filter.jobname;
	if (reading_address(&tail->reading, tail->address, &address))
		result = stream_follow("ctrace tail", ct_buf_text(&address), &parts);
	ct_buf_fini(&address);
	report_lost(tail->stream_lost);
	stream_events_fini(&tail->stream);
	return result;
}

/* A ring is a file, and each is kept open. */
static void files_allow_many(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* -----------------------------------------------------------------------------------------------
 * The verb
 */

static uint64_t parse_number(struct argp_state *state, const char *text, uint64_t limit,
			     const char *what)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno != 0 || *end != '\0' || number == 0 || number > limit || text[0] < '0' ||
	    text[0] > '9')
		argp_error(state, "\"%s\" is not %s", text, what);
	return number;
}

static uint64_t parse_seconds(struct argp_state *state, const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end != '\0' || !isfinite(seconds) || seconds <= 0 ||
	    seconds > SECONDS_LIMIT)
		argp_error(state, "\"%s\" is not a number of seconds", text);
	return (uint64_t)(seconds * NS_PER_SECOND) + 1;
}

/* An option or a word of digits. */
static void process_take(struct tail *tail, struct argp_state *state, const char *word)
{
	uint32_t pid = (uint32_t)parse_number(state, word, INT32_MAX, "a process id");

	if (tail->filter.pid != 0 && tail->filter.pid != pid)
		argp_error(state,
			   "the processes %" PRIu32 " and %" PRIu32
			   " are named; expected one, or none for all",
			   tail->filter.pid, pid);
	tail->filter.pid = pid;
}

static error_t parse_tail(int key, char *argument, struct argp_state *state)
{
	struct tail *tail = state->input;
	uint16_t asid = 0;

	switch (key) {
	case ARGP_KEY_INIT:
		reading_init(&tail->reading, "ctrace tail");
		state->child_inputs[0] = &tail->reading;
		state->child_inputs[1] = &tail->lines;
		return 0;
	case 'A':
		if (ct_asid_parse(argument, strlen(argument), &asid) != 0)
			argp_error(state,
				   "\"%s\" is not an ASID; expected 1 to 4 hexadecimal digits",
				   argument);
		tail->filter.asid = asid;
		return 0;
	case 'J':
		tail->filter.jobname = argument;
		return 0;
	case 'p':
		process_take(tail, state, argument);
		return 0;
	case 'n':
		tail->last = parse_number(state, argument, LAST_LIMIT,
					  "a number of events, 1 to 1000000");
		return 0;
	case OPTION_LIMIT:
		tail->count = parse_number(state, argument, UINT64_MAX, "a number of events");
		return 0;
	case OPTION_FOR:
		tail->for_ns = parse_seconds(state, argument);
		return 0;
	case 'f':
		return 0;
	case OPTION_ENDS:
		tail->reading.has_inferred = true;
		return 0;
	case OPTION_FROM_START:
		tail->from_start = true;
		return 0;
	case ARGP_KEY_ARG:
		/* As ctrace show takes it. */
		if (ct_tool_is_number(argument)) {
			process_take(tail, state, argument);
			return 0;
		}
		if (stream_is_address(argument)) {
			if (tail->address != NULL)
				argp_error(state, "two streams are named; expected one");
			tail->address = argument;
			return 0;
		}
		if (tail->has_expression)
			argp_error(state, "unexpected argument \"%s\"", argument);
		tail->has_expression = true;
		if (!reading_filter(&tail->reading, argument))
			exit(CMD_USAGE);
		return 0;
	case ARGP_KEY_END:
		if (tail->address != NULL && tail->last != 0)
			argp_error(
				state,
				"--last is for processes; of a stream name a time, as --since=10m, "
				"or --from-start");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void run_directory_count(const char *path, void *user)
{
	(void)path;
	++*(uint32_t *)user;
}

/* Returns false when no process can ever be found: every existing run directory is refused. */
static bool run_directory_exists(void)
{
	uint32_t usable = 0;

	ct_directory_each_run_directory(run_directory_count, &usable);
	return ct_recovery_report_refused("ctrace tail") == 0 || usable > 0;
}

static int tail_run(struct tail *tail)
{
	const struct ct_live_options options = {
		.wants = event_is_wanted,
		.report = tail_report,
		.user = tail,
		.hold_ns = HOLD_NS,
		.from_start = tail->from_start || tail->last != 0,
	};
	static sigset_t signals;
	enum ctrace_status status;
	int result = CMD_DONE;

	ct_end_catch(&signals);
	tail->signals = &signals;
	ct_buf_init(&tail->line);
	ct_buf_init(&tail->out);
	if (tail->address != NULL) {
		result = stream_tail(tail);
	} else {
		files_allow_many();
		status = ct_live_open(&options, &tail->live);
		if (status != CTRACE_OK) {
			fprintf(stderr, "ctrace tail: %s\n", ctrace_status_text(status));
			return CMD_NOTHING;
		}
		tail_follow(tail);
		ct_live_close(tail->live);
	}
	ct_buf_fini(&tail->line);
	ct_buf_fini(&tail->out);
	if (tail->write_errno != 0)
		fprintf(stderr, "ctrace tail: cannot write the output: %s\n",
			strerror(tail->write_errno));
	if (tail->write_errno != 0 || tail->has_lost_lines)
		return CMD_UNWRITTEN;
	return tail->has_failed && result == CMD_DONE ? CMD_NOTHING : result;
}

int cmd_tail(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		{ "asid", 'A', "HEX", 0, "Only the process with this ASID", 3 },
		{ "job", 'J', "GLOB", 0, "Only processes whose JOBNAME matches", 3 },
		{ "pid", 'p', "PID", 0, "Only this process", 3 },
		/* what it does, as it is asked for elsewhere */
		{ "follow", 'f', NULL, OPTION_HIDDEN, NULL, 5 },
		{ "last", 'n', "N", 0, "Begin with the last N events that the rings still hold",
		  5 },
		{ "from-start", OPTION_FROM_START, NULL, 0,
		  "Begin with all events that the rings still hold", 5 },
		{ "ends", OPTION_ENDS, NULL, 0,
		  "A line, too, where a span ends that has no exit: the catalogue infers it", 5 },
		{ "limit", OPTION_LIMIT, "N", 0, "End after N events", 5 },
		{ "for", OPTION_FOR, "SECONDS", 0, "End after this time", 5 },
		{ 0 },
	};
	static const struct argp_child children[] = { { .argp = &ct_reading_argp },
						      { .argp = &ct_line_argp },
						      { 0 } };
	static const struct argp argp = {
		.options = rows,
		.children = children,
		.parser = parse_tail,
		.args_doc = "['EXPRESSION'] [PID | nats://HOST/STREAM]",
		.doc = "Print events of all your processes, of one, or of a stream, as they come, until interrupted."
		       "\vEXPRESSION is a filter, as in 'level >= warn && component ~ \"mf.*\" && data[0] > 100': ctrace-filter(7)."
		       "  The processes are not disturbed, and their events go to their destinations as before."
		       "  Standard error reports losses.  Exit status: 0, also when interrupted; 1 a process cannot be"
		       " followed; 2 usage, no memory, the run directory is refused, or the output cannot be written.",
	};
	struct tail tail = { .shown = 0 };
	int result = CMD_NOTHING;

	if (argp_parse(&argp, argc, argv, 0, NULL, &tail) != 0)
		return CMD_USAGE;
	/* Spans are found by their duration, whether an event ends them or not. */
	tail.reading.has_inferred |= tail.reading.filter != NULL &&
				     (ct_filter_uses(tail.reading.filter) & CT_USES_DURATION) != 0;
	tail.reading.has_pairs = line_options_use_pairs(&tail.lines) || tail.reading.has_inferred;
	/* Which hosts and jobs come to a stream is not known before. */
	tail.lines.text.has_host = tail.lines.text.has_process = tail.address != NULL;
	if (tail.address == NULL && !run_directory_exists())
		result = CMD_UNREAD;
	else if (reading_open_empty(&tail.reading) && line_options_open(&tail.lines, "ctrace tail"))
		result = tail_run(&tail);
	if (reading_lacks_catalog(&tail.reading))
		result = CMD_UNREAD;
	line_options_close(&tail.lines);
	reading_close(&tail.reading);
	return result;
}
