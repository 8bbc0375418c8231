/*
 * cmd_respond.c - ctrace respond ADDRESS: carries out requests that come from other machines.
 *
 * A request is the words of a verb.  They are run as a process of their own, by this tool, with the
 * rights of the user who runs the responder, and its output is the answer.  Verbs that display and
 * verbs that change something come by different subjects; the servers decide who may send to
 * which, and a request that changes something is refused on the subject for displays.
 *
 * With --metrics it also answers GET /metrics, on a thread of metrics.so, with the servers of the
 * stream that its address names.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/end_signal.h"
#include "cli/service.h"
#include "lib/emit/emit.h"
#include "tools/hosts/request.h"
#include "tools/processes/metrics.h"
#include "tools/streams/stream_copy.h"

#define OUTPUT_MAX ((size_t)512 << 10) /* of each stream of a verb; the rest is left out */
#define RUN_MS 30000                   /* then the verb is stopped */
/* What the log has of requests that are refused, and of displays, so that a flood of them fills no
 * disk. */
#define REFUSALS_MAX 20u  /* lines */
#define DISPLAYS_MAX 600u /* lines */
#define MINUTE_NS UINT64_C(60000000000)
#define LINE_MAX_SIZE 512u /* bytes of a line, beside the sender */
#define FROM_MAX 256u      /* bytes of the sender */

struct respond_arguments {
	const char *address;
	const char *host;
	const char *metrics; /* the address to serve metrics at; NULL: none */
};

enum { OPTION_METRICS = 256 };

/* What a verb prints on one stream. */
struct output {
	char *data;
	size_t size;
	int fd;
};

static void output_read(struct output *output)
{
	char bytes[4096];
	ssize_t size = read(output->fd, bytes, sizeof bytes);
	size_t kept;
	char *more;

	if (size <= 0) {
		if (size == 0 || (errno != EINTR && errno != EAGAIN))
			ct_os_close(&output->fd);
		return;
	}
	kept = (size_t)size < OUTPUT_MAX - output->size ? (size_t)size : OUTPUT_MAX - output->size;
	more = realloc(output->data, output->size + kept);
	if (more == NULL)
		return;
	output->data = more;
	memcpy(output->data + output->size, bytes, kept);
	output->size += kept;
}

/* Returns when both streams are closed, or the time is over. */
static void outputs_read(struct output outputs[2], int64_t left_ms)
{
	uint64_t end =
		ct_clock_mono_ns() + (uint64_t)(left_ms < RUN_MS ? left_ms : RUN_MS) * 1000000;

	while (outputs[0].fd >= 0 || outputs[1].fd >= 0) {
		struct pollfd polls[2] = { { .fd = outputs[0].fd, .events = POLLIN },
					   { .fd = outputs[1].fd, .events = POLLIN } };
		uint64_t now = ct_clock_mono_ns();

		if (now >= end || poll(polls, 2, (int)((end - now) / 1000000) + 1) < 0)
			return;
		for (unsigned i = 0; i < 2; i++)
			if (outputs[i].fd >= 0 && polls[i].revents != 0)
				output_read(&outputs[i]);
	}
}

/* This process's environment, and for whom the verb is: its requests to processes have that.  NULL
 * without memory. */
static char **verb_environment(char party[])
{
	size_t count = 0;
	char **all;

	while (environ[count] != NULL)
		count++;
	all = calloc(count + 2, sizeof *all);
	if (all == NULL)
		return NULL;
	all[0] = party; /* the first one of a name counts */
	memcpy(all + 1, environ, count * sizeof *all);
	return all;
}

static pid_t verb_spawn(const struct request *request, bool is_command, const int pipes[2][2])
{
	static char tool[] = "ctrace", self[] = "/proc/self/exe";
	char *const *words = request->words;
	char *arguments[REQUEST_WORDS + 2] = { tool };
	char party[sizeof REQUEST_PARTY + FROM_MAX + 16];
	char **environment;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	pid_t pid = -1;
	size_t count = 0;

	while (words[count] != NULL) {
		arguments[count + 1] = words[count];
		count++;
	}
	(void)snprintf(party, sizeof party, REQUEST_PARTY "=%s %.*s",
		       is_command ? REQUEST_AS_COMMAND : REQUEST_AS_DISPLAY, (int)FROM_MAX,
		       request->user);
	environment = verb_environment(party);
	if (environment == NULL)
		return -1;
	(void)sigemptyset(&none);
	if (posix_spawn_file_actions_init(&actions) != 0) {
		free(environment);
		return -1;
	}
	if (posix_spawnattr_init(&attributes) == 0) {
		(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
		(void)posix_spawnattr_setsigmask(&attributes, &none);
		(void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
						       O_RDONLY, 0);
		(void)posix_spawn_file_actions_adddup2(&actions, pipes[0][1], STDOUT_FILENO);
		(void)posix_spawn_file_actions_adddup2(&actions, pipes[1][1], STDERR_FILENO);
		if (posix_spawn(&pid, self, &actions, &attributes, arguments, environment) != 0)
			pid = -1;
		(void)posix_spawnattr_destroy(&attributes);
	}
	(void)posix_spawn_file_actions_destroy(&actions);
	free(environment);
	return pid;
}

/* Runs the words.  A verb whose sender gives up is ended: a process that it asks finds the
 * connection closed, and does nothing.  Returns the answer, or NULL. */
static char *verb_answer(const struct request *request, const struct ct_nats_request *from)
{
	int pipes[2][2] = { { -1, -1 }, { -1, -1 } }, status = 0;
	struct output outputs[2] = { { NULL, 0, -1 }, { NULL, 0, -1 } };
	char *answer = NULL;
	pid_t pid = -1;

	if (pipe2(pipes[0], O_CLOEXEC) == 0 && pipe2(pipes[1], O_CLOEXEC) == 0)
		pid = verb_spawn(request, from->is_command, (const int(*)[2])pipes);
	for (unsigned i = 0; i < 2; i++) {
		ct_os_close(&pipes[i][1]);
		outputs[i].fd = pipes[i][0];
	}
	if (pid > 0) {
		outputs_read(outputs, from->left_ms);
		if (outputs[0].fd >= 0 || outputs[1].fd >= 0)
			(void)kill(pid, SIGKILL);
		(void)TEMP_FAILURE_RETRY(waitpid(pid, &status, 0));
		answer = answer_encode(
			WIFEXITED(status) ? WEXITSTATUS(status) : CMD_UNWRITTEN,
			outputs[0].data != NULL ? outputs[0].data : "", outputs[0].size,
			outputs[1].data != NULL ? outputs[1].data : "", outputs[1].size);
	}
	for (unsigned i = 0; i < 2; i++) {
		ct_os_close(&outputs[i].fd);
		free(outputs[i].data);
	}
	return answer;
}

static void line_log(const char *what, const char *from, const char *text, size_t size)
{
	flockfile(stderr); /* two threads of nats.so serve requests */
	fprintf(stderr, "ctrace respond: %s", what);
	ct_tool_print(stderr, from, strnlen(from, FROM_MAX));
	fputs(": ", stderr);
	ct_tool_print(stderr, text, size);
	fputc('\n', stderr);
	funlockfile(stderr);
}

/* The lines of a kind in this minute. */
struct lines {
	const char *what;
	uint64_t most, count, begin_ns;
};
static pthread_mutex_t lines_lock = PTHREAD_MUTEX_INITIALIZER;
static struct lines refusals = { "refused requests", REFUSALS_MAX, 0, 0 };
static struct lines displays = { "displays", DISPLAYS_MAX, 0, 0 };

/* Logs a line; of more than `most` in a minute, the number alone. */
static void limited_log(struct lines *lines, const char *what, const char *from, const char *text)
{
	uint64_t now = ct_clock_mono_ns(), number, left_out = 0;

	(void)pthread_mutex_lock(&lines_lock);
	if (lines->count == 0 || now - lines->begin_ns >= MINUTE_NS) {
		left_out = lines->count > lines->most ? lines->count - lines->most : 0;
		lines->count = 0;
		lines->begin_ns = now;
	}
	number = ++lines->count;
	(void)pthread_mutex_unlock(&lines_lock);
	if (left_out > 0)
		fprintf(stderr, "ctrace respond: %llu more %s came\n", (unsigned long long)left_out,
			lines->what);
	if (number <= lines->most)
		line_log(what, from, text, strnlen(text, LINE_MAX_SIZE));
	if (number == lines->most)
		fprintf(stderr, "ctrace respond: more %s of this minute are only counted\n",
			lines->what);
}

static void request_words(const struct request *request, struct ct_buf *out)
{
	for (size_t i = 0; i < request->count; i++)
		ct_buf_add_format(out, "%s%s", i > 0 ? " " : "", request->words[i]);
}

static char *refusal(const char *why)
{
	struct ct_buf text;
	char *answer;

	ct_buf_init(&text);
	ct_buf_add_format(&text, "%s\n", why);
	answer = answer_encode(CMD_USAGE, "", 0, ct_buf_text(&text), text.size);
	ct_buf_fini(&text);
	return answer;
}

/* Logs why the request is refused.  Returns the answer. */
static char *request_refuse(const struct request *request, const char *why)
{
	struct ct_buf line;

	ct_buf_init(&line);
	ct_buf_add_format(&line, "%s: ", why);
	request_words(request, &line);
	limited_log(&refusals, "refused, claimed by ", request->user, ct_buf_text(&line));
	ct_buf_fini(&line);
	return refusal(why);
}

/* Logs who asks what.  The servers do not report who sent a message: the user is what the sender
 * claims. */
static void request_log(const struct request *request, bool is_command)
{
	struct ct_buf line;

	ct_buf_init(&line);
	request_words(request, &line);
	if (is_command)
		line_log("command claimed by ", request->user, ct_buf_text(&line), line.size);
	else
		limited_log(&displays, "display claimed by ", request->user, ct_buf_text(&line));
	ct_buf_fini(&line);
}

static void request_is_refused(const char *why, void *unused)
{
	(void)unused;
	limited_log(&refusals, "refused", "", why);
}

static char *request_answer(const struct request *request, const struct ct_nats_request *from)
{
	char why[REQUEST_WHY];
	enum request_kind kind = request_kind_of(request->count, request->words, why);

	if (from->refusal != NULL)
		return request_refuse(request, from->refusal);
	if (kind == REQUEST_REFUSED)
		return request_refuse(request, why);
	if (kind == REQUEST_COMMAND && !from->is_command)
		return request_refuse(request, "a command may not be sent as a display");
	request_log(request, kind == REQUEST_COMMAND);
	return verb_answer(request, from);
}

static char *request_serve(const struct ct_nats_request *from, size_t *out_size, void *unused)
{
	static const char garbage[] = "this is no request of ctrace --host";
	struct request request;
	char *answer;

	if (request_decode(from->data, from->size, &request)) {
		answer = request_answer(&request, from);
	} else {
		request_is_refused(garbage, unused);
		answer = refusal(garbage);
	}
	request_fini(&request);
	*out_size = answer != NULL ? strlen(answer) : 0;
	return answer;
}

static bool respond_goes_on(void *unused)
{
	(void)unused;
	return ct_end_wanted == 0;
}

static void respond_is_ready(void *user)
{
	const struct respond_arguments *arguments = user;

	fprintf(stderr, "ctrace respond: %s listens\n", arguments->host);
	ct_systemd_notify("READY=1");
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct respond_arguments *arguments = state->input;

	switch (key) {
	case 'n':
		arguments->host = argument;
		return 0;
	case OPTION_METRICS:
		arguments->metrics = argument != NULL ? argument : CT_METRICS_ADDRESS;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num != 0)
			argp_error(state, "unexpected argument \"%s\"; one address", argument);
		arguments->address = argument;
		return 0;
	case ARGP_KEY_END:
		if (arguments->address == NULL)
			arguments->address = ct_os_environment("CTRACE_NATS");
		if (arguments->address == NULL && arguments->metrics == NULL)
			argp_error(state,
				   "expected an address, nats://HOST[:PORT], or CTRACE_NATS, or "
				   "--metrics");
		if (arguments->address != NULL && host_name_fault(arguments->host) != NULL)
			argp_error(state,
				   "\"%s\" is no name of a machine: %s; --name=HOST gives one",
				   arguments->host, host_name_fault(arguments->host));
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The stream of the address, if it names one.  The thread of requests writes it, that of metrics
 * reads it. */
static pthread_mutex_t stream_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ct_nats_servers stream;

static char *metrics_make(void *user, size_t *out_size)
{
	struct ct_nats_servers now;
	struct ct_metrics *metrics = user;

	(void)pthread_mutex_lock(&stream_lock);
	now = stream;
	(void)pthread_mutex_unlock(&stream_lock);
	metrics->stream = now.stream[0] != '\0' ? &now : NULL;
	return ct_metrics_text(metrics, out_size);
}

static void stream_note(const struct ct_nats_servers *now, void *unused)
{
	(void)unused;
	(void)pthread_mutex_lock(&stream_lock);
	stream = *now;
	(void)pthread_mutex_unlock(&stream_lock);
}

/* NULL, when that fails; it is reported. */
static const struct ct_metrics_module *metrics_module(void)
{
	void *handle = ct_module_open("metrics");
	const struct ct_metrics_module *module =
		handle != NULL ? dlsym(handle, CT_METRICS_SYMBOL) : NULL;

	if (module != NULL && module->size == sizeof *module)
		return module;
	fputs("ctrace respond: --metrics needs the module metrics.so of this version, which is not "
	      "installed (package ctrace-module-metrics)\n",
	      stderr);
	return NULL;
}

/* Serves requests of other machines.  Returns the verb's exit status. */
static int machines_serve(struct respond_arguments *arguments, const sigset_t *while_waiting)
{
	struct ct_nats_responder responder = { .address = arguments->address,
					       .host = arguments->host,
					       .serve = request_serve,
					       .goes_on = respond_goes_on,
					       .refused = request_is_refused,
					       .ready = respond_is_ready,
					       .look = arguments->metrics != NULL ? stream_note
										  : NULL,
					       .user = arguments };
	const struct ct_nats_module *module = stream_module("ctrace respond");

	if (module == NULL)
		return CMD_UNWRITTEN;
	(void)sigprocmask(SIG_SETMASK, while_waiting, NULL);
	return stream_end("ctrace respond", responder.error, module->respond(&responder));
}

/* Serves metrics, and requests if there is an address of servers for them. */
static int metrics_serve(struct respond_arguments *arguments, const sigset_t *while_waiting)
{
	const struct ct_metrics_module *module = metrics_module();
	struct ct_metrics metrics = { .series = NULL };
	struct ct_metrics_server server = { .address = arguments->metrics,
					    .text = metrics_make,
					    .user = &metrics };
	enum ctrace_status status;
	int result = CMD_DONE;

	if (module == NULL)
		return CMD_UNWRITTEN;
	/* Both signals are blocked now, and so for the server's thread. */
	status = module->start(&server);
	if (status != CTRACE_OK) {
		(void)stream_end("ctrace respond", server.error, status);
		return CMD_UNWRITTEN;
	}
	fprintf(stderr, "ctrace respond: metrics at http://%s/metrics\n", server.shown);
	if (arguments->address != NULL) {
		result = machines_serve(arguments, while_waiting);
	} else {
		ct_systemd_notify("READY=1");
		while (ct_end_wanted == 0)
			(void)sigsuspend(while_waiting);
	}
	module->stop(&server);
	ct_metrics_fini(&metrics);
	return result;
}

int cmd_respond(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "name", 'n', "HOST", 0, "answer to this name; else that of the machine", 0 },
		{ "metrics", OPTION_METRICS, "ADDRESS", OPTION_ARG_OPTIONAL,
		  "serve metrics for Prometheus, at " CT_METRICS_ADDRESS
		  " unless an address is given; no servers are needed for that",
		  0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.args_doc = "[nats://HOST[/STREAM]]",
		.doc = "Carry out what `ctrace --host' on other machines asks of this one, until stopped."
		       "\vExit status: 0 it was stopped; 2 usage, or the servers cannot be reached or refuse.",
	};
	char name[256] = "";
	struct respond_arguments arguments = { .host = name };
	sigset_t while_waiting;

	(void)gethostname(name, sizeof name - 1);
	if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0)
		return CMD_USAGE;
	ct_end_catch(&while_waiting);
	return arguments.metrics != NULL ? metrics_serve(&arguments, &while_waiting)
					 : machines_serve(&arguments, &while_waiting);
}
