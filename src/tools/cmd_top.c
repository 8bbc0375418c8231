/*
 * cmd_top.c - ctrace top: a screen of live components by rate, on which levels can be switched.
 *
 * Reads the processes' numbers without disturbing them, as ctrace stats does, and asks a process
 * only to change a level, as ctrace level does.  With the address of a stream the numbers are those
 * of what comes there, which another thread counts (top_stream.c).  While the screen is shown
 * nothing else may write to the terminal.  So stderr, to which code shared with other verbs
 * reports, is redirected, and its last line is shown on the screen.  However the verb ends, it
 * restores the terminal.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "operator/change.h"
#include "operator/component_names.h"
#include "tools/cmd.h"
#include "cli/end_signal.h"
#include "tools/processes/top.h"
#include "tools/processes/top_stream.h"
#include "tools/streams/stream_copy.h"
#include "operator/recovery/recovery.h"

#define NS_PER_SECOND 1000000000u
#define LEAST_SECONDS 0.1
#define MOST_SECONDS 3600.0
#define DEFAULT_SECONDS 2.0
#define FRAMES_LIMIT 1000000000u

enum { OPTION_SORT = 256 };

struct top {
	struct target target;
	const char *address; /* of a stream; NULL: processes */
	struct top_stream *stream;
	struct top_screen screen;
	double interval; /* seconds */
	bool is_batch;
	uint64_t frames;  /* to end after; 0: never */
	sigset_t signals; /* while we wait */
	/* the last two collections */
	struct stats stats[2];
	struct stats *now, *before; /* before NULL: there is none */
	struct top_rows rows;
	int stderr_fd; /* the real one; -1: stderr is not caught */
	int caught_fd;
	off_t caught_size;  /* read so far */
	char reported[256]; /* the last message there: a repeated one is shown once */
};

/* -----------------------------------------------------------------------------------------------
 * Collecting
 */

static void top_collect(struct top *top)
{
	struct stats *free_one = top->now == &top->stats[0] ? &top->stats[1] : &top->stats[0];

	if (top->before != NULL)
		ct_stats_fini(top->before);
	top->before = top->now;
	top->now = free_one;
	if (top->stream != NULL)
		top_stream_gather(top->stream, top->now);
	else
		ct_stats_gather(top->now, &top->target);
}

static void top_begin(struct top *top)
{
	top_collect(top);
	if (top->stream == NULL && top->now->process_count == 0)
		(void)ct_recovery_report_refused("ctrace top");
}

static void top_make_rows(struct top *top)
{
	free(top->rows.items);
	top->screen.view.pattern = top->screen.pattern_size > 0 ? top->screen.pattern : NULL;
	ct_top_rows(top->now, top->before, &top->screen.view, &top->rows);
}

static void top_fini(struct top *top)
{
	if (top->before != NULL)
		ct_stats_fini(top->before);
	if (top->now != NULL)
		ct_stats_fini(top->now);
	free(top->rows.items);
}

/* -----------------------------------------------------------------------------------------------
 * Messages of other parts on stderr
 */

static void stderr_catch(struct top *top)
{
	top->caught_fd = memfd_create("ctrace-top", MFD_CLOEXEC);
	top->stderr_fd = top->caught_fd >= 0 ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3) : -1;
	if (top->stderr_fd >= 0)
		(void)dup2(top->caught_fd, STDERR_FILENO);
}

static void stderr_release(struct top *top)
{
	(void)fflush(stderr);
	if (top->stderr_fd >= 0)
		(void)dup2(top->stderr_fd, STDERR_FILENO);
	ct_os_close(&top->stderr_fd);
	ct_os_close(&top->caught_fd);
}

/* Returns the last new line of stderr that is whole; false when there is none.  Another thread may
 * be about to write the rest of a line: it stays. */
static bool stderr_take_line(struct top *top, char *out, size_t room)
{
	char text[4096];
	ssize_t size;
	char *end, *line;

	flockfile(stderr);
	(void)fflush(stderr);
	size = top->caught_fd >= 0 ? pread(top->caught_fd, text, sizeof(text) - 1, top->caught_size)
				   : 0;
	end = size > 0 ? memrchr(text, '\n', (size_t)size) : NULL;
	if (end != NULL)
		top->caught_size += end + 1 - text;
	if (end != NULL && end + 1 == text + size) {
		(void)!ftruncate(top->caught_fd, 0);
		(void)lseek(top->caught_fd, 0, SEEK_SET);
		top->caught_size = 0;
	}
	funlockfile(stderr);
	if (end == NULL)
		return false;
	*end = '\0';
	line = strrchr(text, '\n');
	line = line != NULL ? line + 1 : text;
	(void)snprintf(out, room, "%.*s", (int)room - 1, line);
	return true;
}

/* -----------------------------------------------------------------------------------------------
 * Levels
 */

static void change_describe(struct top *top, const struct change *change, uint32_t wanted)
{
	char *out = top->screen.message;
	size_t room = sizeof(top->screen.message), done = 0, refused = 0;
	const struct change_row *last = NULL, *bad = NULL;

	for (size_t i = 0; i < change->count; i++) {
		const struct change_row *row = &change->rows[i];
		uint32_t level = CTRACE_LEVEL_NONE;

		if (row->failed || row->now == NULL ||
		    !ct_level_parse(row->now, strlen(row->now), &level) || level > wanted) {
			refused++;
			bad = row;
			continue;
		}
		done++;
		last = row;
	}
	if (bad != NULL)
		(void)snprintf(
			out, room, "%u %s: %s", bad->peer->pid, change->subject,
			bad->report != NULL
				? bad->report
				: "stays as it is: a start/stop routine or a filter does not allow it");
	else if (done == 1)
		(void)snprintf(out, room, "%u %s: %s -> %s", last->peer->pid, change->subject,
			       last->old != NULL ? last->old : "?", last->now);
	else if (done > 1)
		(void)snprintf(out, room, "%s: %s in %zu places", change->subject, last->now, done);
	else if (!stderr_take_line(top, out, room))
		(void)snprintf(out, room, "%s: no answer", change->subject);
}

/* A stream carries no requests: names the command that sets the level. */
static void level_explain(struct top *top, bool everywhere)
{
	const struct top_row *row = &top->rows.items[top->screen.selected];
	char pid[32] = "";

	if (!everywhere)
		(void)snprintf(pid, sizeof(pid), " --pid=%u", row->pid);
	(void)snprintf(top->screen.message, sizeof(top->screen.message),
		       "levels of other machines: ctrace --host=%.100s level%s %.255s %s",
		       everywhere ? "'*'" : row->host, pid, row->component,
		       ct_list_level(top->screen.wanted_level));
}

/* The same request as ctrace level makes. */
static void level_switch(struct top *top, bool everywhere)
{
	const struct top_screen *screen = &top->screen;
	struct change change;
	struct ct_command command = { .verb = CT_VERB_LEVEL, .level = screen->wanted_level };

	if (top->rows.count == 0 || screen->selected >= top->rows.count)
		return;
	if (top->stream != NULL) {
		level_explain(top, everywhere);
		return;
	}
	if (ct_is_pattern(top->rows.items[screen->selected].component)) {
		(void)snprintf(top->screen.message, sizeof(top->screen.message),
			       "a name with * or ? in it: use ctrace level");
		return;
	}
	ct_change_init(&change);
	change.target = top->target;
	change.target.filter = (struct ct_peer_filter){
		.pid = everywhere ? 0 : top->rows.items[screen->selected].pid
	};
	change.subject = top->rows.items[screen->selected].component;
	command.component = (struct ct_span){ change.subject, strlen(change.subject) };
	ct_command_encode(&change.ask.request, &command);
	ct_change_gather(&change);
	change_describe(top, &change, screen->wanted_level);
	ct_change_fini(&change);
	top_collect(top);
}

/* -----------------------------------------------------------------------------------------------
 * The screen
 */

static void interval_set(struct top *top, double interval)
{
	top->interval = interval < LEAST_SECONDS  ? LEAST_SECONDS
			: interval > MOST_SECONDS ? MOST_SECONDS
						  : interval;
	top->screen.interval = top->interval;
}

static void wish_grant(struct top *top, enum top_wish wish)
{
	switch (wish) {
	case TOP_QUIT:
		ct_end_wanted = 1;
		break;
	case TOP_REFRESH:
		top_collect(top);
		break;
	case TOP_LEVEL:
	case TOP_LEVEL_EVERYWHERE:
		level_switch(top, wish == TOP_LEVEL_EVERYWHERE);
		break;
	case TOP_FASTER:
		interval_set(top, top->interval / 2);
		break;
	case TOP_SLOWER:
		interval_set(top, top->interval * 2);
		break;
	default:
		break;
	}
}

/* Waits for a key, a signal, a new size of the terminal, the end of the stream's thread, or the
 * time. */
static void top_wait(const struct top *top, uint64_t due_ns)
{
	struct pollfd news[] = {
		{ .fd = top->is_batch ? STDOUT_FILENO : STDIN_FILENO,
		  .events = top->is_batch ? 0 : POLLIN },
		{ .fd = top->stream != NULL ? top_stream_fd(top->stream) : -1, .events = POLLIN },
	};
	uint64_t now_ns = ct_clock_mono_ns();
	uint64_t left_ns = due_ns > now_ns ? due_ns - now_ns : 0;
	struct timespec left = { .tv_sec = (time_t)(left_ns / NS_PER_SECOND),
				 .tv_nsec = (long)(left_ns % NS_PER_SECOND) };

	/* Without the terminal, or the reader of the output, nobody can end us by a key any more.
	 */
	if (ppoll(news, CT_COUNT(news), &left, &top->signals) > 0 &&
	    ((news[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0 || news[1].revents != 0))
		ct_end_wanted = 1;
}

/* What comes on stderr is shown within a second, also while nothing else changes. */
static void screen_wait(const struct top *top, uint64_t due_ns)
{
	uint64_t second_ns = ct_clock_mono_ns() + NS_PER_SECOND;

	top_wait(top, top->screen.is_paused || due_ns > second_ns ? second_ns : due_ns);
}

static uint64_t interval_ns(const struct top *top)
{
	return (uint64_t)(top->interval * NS_PER_SECOND);
}

static void top_show_reported(struct top *top)
{
	char *message = top->screen.message;
	char reported[sizeof(top->reported)];

	/* Something has come since: "trying again" is over. */
	if (top->stream != NULL && top->rows.events > 0) {
		if (strcmp(message, top->reported) == 0)
			message[0] = '\0';
		top->reported[0] = '\0';
	}
	if (!stderr_take_line(top, reported, sizeof(reported)) ||
	    strcmp(reported, top->reported) == 0)
		return;
	memcpy(top->reported, reported, sizeof(reported));
	if (message[0] == '\0')
		memcpy(message, reported, sizeof(reported));
}

static void top_follow(struct top *top)
{
	uint64_t frames = 0;

	top_begin(top);
	while (!ct_end_wanted) {
		enum top_wish wish = TOP_REDRAW;

		top_show_reported(top);
		top_make_rows(top);
		ct_top_screen_draw(&top->screen, &top->rows);
		screen_wait(top, top->now->taken_ns + interval_ns(top));
		while (!ct_end_wanted &&
		       (wish = ct_top_screen_key(&top->screen, &top->rows)) != TOP_NOTHING)
			wish_grant(top, wish);
		if (top->screen.is_paused ||
		    ct_clock_mono_ns() < top->now->taken_ns + interval_ns(top))
			continue;
		if (top->frames != 0 && ++frames >= top->frames)
			break;
		top_collect(top);
	}
}

static void signal_note(int number)
{
	(void)number;
	ct_end_wanted = 1;
}

/* Beside SIGINT and SIGTERM those that end a program on a terminal. */
static void hangup_catch(void)
{
	struct sigaction action = { .sa_handler = signal_note };

	(void)sigaction(SIGHUP, &action, NULL);
	(void)sigaction(SIGQUIT, &action, NULL);
}

static bool stream_open(struct top *top)
{
	top->stream = top_stream_open(top->address, &top->target.filter);
	return top->stream != NULL;
}

/* Returns the verb's exit status.  An attempt to connect cannot be interrupted: then the process
 * ends under it, and the temporary directory is removed as after a SIGKILL. */
static int stream_close(struct top *top, int result)
{
	int status = CMD_DONE;

	if (!top_stream_close(top->stream, &status)) {
		(void)fflush(stdout);
		_exit(ferror(stdout) ? CMD_UNWRITTEN : result);
	}
	top->stream = NULL;
	return status != CMD_DONE ? status : result;
}

static int screen_run(struct top *top)
{
	int result = CMD_DONE;

	ct_end_catch(&top->signals);
	hangup_catch();
	if (!ct_top_screen_open(&top->screen))
		return CMD_USAGE;
	stderr_catch(top);
	if (top->address == NULL || stream_open(top))
		top_follow(top);
	else
		result = CMD_UNWRITTEN;
	ct_top_screen_close();
	if (top->stream != NULL)
		result = stream_close(top, CMD_DONE);
	(void)stderr_take_line(top, top->reported, sizeof(top->reported));
	stderr_release(top);
	if (result != CMD_DONE && top->reported[0] != '\0')
		fprintf(stderr, "%s\n", top->reported);
	return result;
}

/* -----------------------------------------------------------------------------------------------
 * A batch
 */

static bool batch_print_frame(struct top *top, bool is_first)
{
	bool ok = true;

	top_make_rows(top);
	if (top->target.is_json) {
		ok = ct_top_print_json(stdout, &top->rows);
	} else {
		if (!is_first)
			putchar('\n');
		ct_top_print(stdout, &top->rows);
	}
	if ((!ok && !ferror(stdout)) || top->rows.has_failed)
		fputs("ctrace top: not enough memory\n", stderr);
	/* The reason of a failed write is reported at the tool's end. */
	ok = fflush(stdout) == 0 && ferror(stdout) == 0 && ok;
	return ok && !top->rows.has_failed;
}

static int batch_run(struct top *top)
{
	bool ok = true, has_rows = false;
	int result;

	ct_end_catch(&top->signals);
	(void)signal(SIGPIPE, SIG_IGN);
	if (top->address != NULL && !stream_open(top))
		return CMD_UNWRITTEN;
	top_begin(top); /* rates want two */
	for (uint64_t frame = 0; ok && (top->frames == 0 || frame < top->frames); frame++) {
		top_wait(top, top->now->taken_ns + interval_ns(top));
		if (ct_end_wanted)
			break;
		top_collect(top);
		ok = batch_print_frame(top, frame == 0);
		has_rows |= top->rows.count != 0;
		if (!ok && ct_end_reader_gone()) {
			ok = has_rows = true;
			break;
		}
	}
	result = ok && (has_rows || top->frames == 0) ? CMD_DONE : CMD_NOTHING;
	return top->stream != NULL ? stream_close(top, result) : result;
}

/* -----------------------------------------------------------------------------------------------
 * The verb
 */

static double parse_interval(const char *argument, struct argp_state *state)
{
	char *end;
	double seconds = strtod(argument, &end);

	if (end == argument || *end != '\0' || !isfinite(seconds) || seconds < LEAST_SECONDS ||
	    seconds > MOST_SECONDS)
		argp_error(state, "\"%s\" is not a time; expected seconds, from 0.1 to 3600",
			   argument);
	return seconds;
}

static uint64_t parse_frames(const char *argument, struct argp_state *state)
{
	unsigned long frames;
	char *end;

	errno = 0;
	frames = strtoul(argument, &end, 10);
	if (errno != 0 || *end != '\0' || argument[0] < '0' || argument[0] > '9' || frames == 0 ||
	    frames > FRAMES_LIMIT)
		argp_error(state, "\"%s\" is not a number of times", argument);
	return frames;
}

static void take_pattern(struct top *top, const char *argument, struct argp_state *state)
{
	struct top_screen *screen = &top->screen;

	if (strlen(argument) >= sizeof(screen->pattern))
		argp_error(state, "a component's pattern has at most %zu letters",
			   sizeof(screen->pattern) - 1);
	screen->pattern_size =
		(size_t)snprintf(screen->pattern, sizeof(screen->pattern), "%s", argument);
}

static error_t parse_top(int key, char *argument, struct argp_state *state)
{
	struct top *top = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &top->target;
		return 0;
	case 'b':
		top->is_batch = true;
		return 0;
	case 'B':
		top->screen.view.is_busy_only = true;
		return 0;
	case 'c':
		take_pattern(top, argument, state);
		return 0;
	case 'i':
		interval_set(top, parse_interval(argument, state));
		return 0;
	case 'n':
		top->frames = parse_frames(argument, state);
		return 0;
	case 'r':
		top->screen.view.is_reversed = true;
		return 0;
	case OPTION_SORT:
		if (!ct_top_sort_parse(argument, &top->screen.view.sort))
			argp_error(
				state,
				"cannot sort by \"%s\"; expected events, bytes, lost, total, name or pid",
				argument);
		return 0;
	case ARGP_KEY_ARG:
		if (stream_is_address(argument)) {
			if (top->address != NULL)
				argp_error(state, "two streams are named; expected one");
			top->address = argument;
			return 0;
		}
		argp_error(state, "unexpected argument \"%s\"", argument);
		return 0;
	case ARGP_KEY_END:
		if (top->target.is_json && !top->is_batch)
			argp_error(state, "--json goes with --batch");
		if (!top->is_batch && (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO)))
			argp_error(state, "this is no terminal: use --batch");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_top(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		{ "batch", 'b', NULL, 0, "Print one table below the other, for scripts", 1 },
		{ "busy", 'B', NULL, 0, "Only busy components", 1 },
		{ "component", 'c', "TEXT", 0,
		  "Only components with TEXT in the name of component, job or program; * and ? match",
		  1 },
		{ "interval", 'i', "SECONDS", 0, "Time between two updates; 2 by default", 1 },
		{ "iterations", 'n', "N", 0, "Number of updates, as of top(1): end after the Nth",
		  1 },
		{ "reverse", 'r', NULL, 0, "Reverse the order", 1 },
		{ "sort", OPTION_SORT, "COLUMN", 0,
		  "events (the default), bytes, lost, total, name or pid", 1 },
		{ 0 },
	};
	static const struct argp_child children[] = { { &ct_target_argp, 0, NULL, 2 }, { 0 } };
	static const struct argp argp = {
		.options = rows,
		.children = children,
		.parser = parse_top,
		.args_doc = "[nats://HOST/STREAM]",
		.doc = "Show the busiest components of running processes, and switch their levels by a key; or those of what comes to a stream.\v"
		       "Press ? for the keys.  The processes are not disturbed.  Exit status: 0 done; 1 in a batch of N, nothing was traced; 2 usage, no memory,"
		       " the stream cannot be followed, or standard input or output is no terminal.",
	};
	struct top top = { .stderr_fd = -1, .caught_fd = -1 };
	int exit_status;

	interval_set(&top, DEFAULT_SECONDS);
	if (argp_parse(&argp, argc, argv, 0, NULL, &top) != 0)
		return CMD_USAGE;
	if (top.address == NULL)
		ct_recovery_on_the_way("ctrace top");
	exit_status = top.is_batch ? batch_run(&top) : screen_run(&top);
	top_fini(&top);
	return exit_status;
}
