/*
 * stream_copy.c - traces in JetStream streams: finds nats.so, and copies for a verb.
 *
 * A verb that reads is given the traces of a stream as files: they are copied into a directory of
 * their own first, so every verb, filter and view works on them as on any other.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/streams/stream_copy.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/end_signal.h"
#include "cli/new_file.h"
#include "cli/temporary_directory.h"
#include "lib/emit/emit.h"

bool stream_is_address(const char *word)
{
	return strncmp(word, "nats://", 7) == 0 || strncmp(word, "tls://", 6) == 0;
}

const char *stream_name(const char *address)
{
	const char *slash = strchr(strstr(address, "://") + 3, '/');

	return slash != NULL ? slash + 1 : "";
}

const char *stream_state_name(enum ct_nats_state state)
{
	static const char *const names[CT_NATS_STATES] = { "leads", "follows", "behind",
							   "offline" };

	return names[state];
}

const struct ct_nats_module *stream_module(const char *verb)
{
	void *handle = ct_module_open("nats");
	const struct ct_nats_module *module = handle != NULL ? dlsym(handle, CT_NATS_SYMBOL) : NULL;

	if (module != NULL && module->size == sizeof *module)
		return module;
	fprintf(stderr,
		"%s: addresses of streams need the module nats.so of this version, which is not "
		"installed (package ctrace-module-nats)\n",
		verb);
	return NULL;
}

static bool copy_goes_on(void *unused)
{
	(void)unused;
	return ct_end_wanted == 0 && new_file_interrupted == 0;
}

int stream_end(const char *verb, const char *error, enum ctrace_status status)
{
	if (status == CTRACE_OK)
		return CMD_DONE;
	if (error[0] == '\0')
		error = ctrace_status_text(status);
	fprintf(stderr, "%s: ", verb);
	ct_tool_print(stderr, error, strlen(error));
	fputc('\n', stderr);
	return status == CTRACE_NOT_FOUND ? CMD_NOTHING : CMD_UNWRITTEN;
}

static void copy_report(const char *error, void *user)
{
	fprintf(stderr, "%s: ", (const char *)user);
	ct_tool_print(stderr, error, strlen(error));
	fprintf(stderr, "; trying again\n");
}

static void copy_notice(const char *text, void *user)
{
	fprintf(stderr, "%s: ", (const char *)user);
	ct_tool_print(stderr, text, strlen(text));
	fputc('\n', stderr);
}

int stream_forward(const char *verb, struct ct_nats_copy *copy)
{
	const struct ct_nats_module *module = stream_module(verb);
	enum ctrace_status status;

	if (module == NULL)
		return CMD_UNWRITTEN;
	copy->goes_on = copy_goes_on;
	copy->report = copy_report;
	copy->notice = copy_notice;
	copy->user = (void *)(uintptr_t)verb;
	status = module->forward(copy);
	return stream_end(verb, copy->error, status);
}

int stream_fetch(const char *verb, struct ct_nats_copy *copy)
{
	const struct ct_nats_module *module = stream_module(verb);
	int status;

	if (module == NULL)
		return CMD_UNWRITTEN;
	copy->goes_on = copy_goes_on;
	copy->report = copy_report;
	copy->notice = copy_notice;
	copy->user = (void *)(uintptr_t)verb;
	status = stream_end(verb, copy->error, module->fetch(copy));
	if (copy->left_out > 0)
		fprintf(stderr,
			"%s: %" PRIu64 " trace%s left out: the stream has no metadata of %s\n",
			verb, copy->left_out, copy->left_out == 1 ? "" : "s",
			copy->left_out == 1 ? "it" : "them");
	return status;
}

void stream_report_total(const char *verb, const struct ct_nats_copy *copy)
{
	fprintf(stderr, "%s: %" PRIu64 " byte%s of %" PRIu64 " trace%s, in %" PRIu64 " message%s\n",
		verb, copy->bytes, copy->bytes == 1 ? "" : "s", copy->traces,
		copy->traces == 1 ? "" : "s", copy->messages, copy->messages == 1 ? "" : "s");
}

/* -----------------------------------------------------------------------------------------------
 * Temporary copies
 */

static char temporary[PATH_MAX]; /* the directory; "": none */

static bool temporary_make(const char *verb)
{
	int error = temporary[0] != '\0' ? 0 : temporary_directory_make("ctrace-stream", temporary);

	if (error == 0)
		return true;
	fprintf(stderr, "%s: %s: %s\n", verb, temporary, strerror(error));
	temporary[0] = '\0';
	return false;
}

/* They stay until the tool ends. */
struct stream_copy {
	struct stream_copy *next;
	const char *address;
	uint64_t since_ns, until_ns;
	bool is_complete;
	char path[PATH_MAX];
	char servers[CT_NATS_SERVERS_SIZE];
};
static struct stream_copy *copies;

/* Makes the directory of a copy. */
static struct stream_copy *copy_make(const char *verb, const char *address)
{
	static unsigned count;
	struct stream_copy *copy;

	if (!temporary_make(verb))
		return NULL;
	copy = calloc(1, sizeof *copy);
	if (copy == NULL || (copy->address = strdup(address)) == NULL) {
		fprintf(stderr, "%s: %s\n", verb, ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY));
		free(copy);
		return NULL;
	}
	(void)snprintf(copy->path, sizeof copy->path, "%.4000s/%u", temporary, ++count);
	copy->next = copies;
	copies = copy;
	if (mkdir(copy->path, 0700) == 0)
		return copy;
	fprintf(stderr, "%s: %s: %s\n", verb, copy->path, strerror(errno));
	return NULL;
}

const char *stream_shown_path(const char *path)
{
	static char shown[PATH_MAX];
	const struct stream_copy *copy = copies;
	const char *name;
	size_t size = 0;

	while (copy != NULL &&
	       (size = strlen(copy->path),
		strncmp(path, copy->path, size) != 0 || (path[size] != '/' && path[size] != '\0')))
		copy = copy->next;
	if (copy == NULL)
		return path;
	name = stream_name(copy->address);
	(void)snprintf(shown, sizeof shown, "%.*s%s", (int)strcspn(name, "?"), name, path + size);
	return shown;
}

bool stream_servers_next(size_t index, const char **out_stream, const char **out_servers)
{
	const struct stream_copy *copy = copies;

	while (copy != NULL && index > 0) {
		copy = copy->next;
		index--;
	}
	if (copy == NULL)
		return false;
	*out_stream = stream_name(copy->address);
	*out_servers = copy->servers;
	return true;
}

const char *stream_fetch_temporary(const char *verb, const char *address, uint64_t since_ns,
				   uint64_t until_ns)
{
	struct ct_nats_copy copy = {
		.address = address,
		.path_count = 1,
		.since_ns = since_ns,
		.until_ns = until_ns,
	};
	struct stream_copy *made = copies;
	char *paths[1];

	while (made != NULL && (!made->is_complete || strcmp(made->address, address) != 0 ||
				made->since_ns != since_ns || made->until_ns != until_ns))
		made = made->next;
	if (made != NULL)
		return made->path;
	made = copy_make(verb, address);
	if (made == NULL)
		return NULL;
	paths[0] = made->path;
	copy.paths = paths;
	made->is_complete = stream_fetch(verb, &copy) == CMD_DONE;
	made->since_ns = since_ns;
	made->until_ns = until_ns;
	memcpy(made->servers, copy.servers, sizeof made->servers);
	return made->is_complete ? made->path : NULL;
}

/* -----------------------------------------------------------------------------------------------
 * Following
 */

struct follow {
	const char *verb;
	const char *path;
	const struct stream_parts *parts;
};

static bool follow_goes_on(void *user)
{
	const struct follow *follow = user;

	return follow->parts->goes_on(follow->parts->user);
}

static void follow_take(bool is_repeated, void *user)
{
	const struct follow *follow = user;

	follow->parts->take(follow->path, is_repeated, follow->parts->user);
}

static void follow_report(const char *error, void *user)
{
	const struct follow *follow = user;

	copy_report(error, (void *)(uintptr_t)follow->verb);
}

static void follow_notice(const char *text, void *user)
{
	const struct follow *follow = user;

	copy_notice(text, (void *)(uintptr_t)follow->verb);
}

int stream_follow(const char *verb, const char *address, const struct stream_parts *parts)
{
	const struct ct_nats_module *module = stream_module(verb);
	struct follow follow = { .verb = verb, .parts = parts };
	struct stream_copy *made;
	char *paths[1];
	struct ct_nats_copy copy = {
		.address = address,
		.paths = paths,
		.path_count = 1,
		.follows = true,
		.is_from_now = parts->since_ns == UINT64_MAX,
		.since_ns = parts->since_ns == UINT64_MAX ? 0 : parts->since_ns,
		.until_ns = UINT64_MAX,
		.goes_on = follow_goes_on,
		.take = follow_take,
		.report = follow_report,
		.notice = follow_notice,
		.user = &follow,
	};

	if (module == NULL)
		return CMD_UNWRITTEN;
	made = copy_make(verb, address);
	if (made == NULL)
		return CMD_UNWRITTEN;
	follow.path = paths[0] = made->path;
	return stream_end(verb, copy.error, module->fetch(&copy));
}
