/*
 * ask.c - asks one question of all peers that a verb means: finds them, asks, and reports who gave
 * no response.
 *
 * Part of each verb that talks to running processes or external writers.  The verb itself reads the
 * answers.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/ask.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/session.h"
#include "writer/writer.h"
#include "operator/recovery/recovery.h"

#define MOST_WRITERS 256u

void ct_ask_init(struct ask *ask, const struct target *target, struct wto *wto)
{
	*ask = (struct ask){ .target = target, .wto = wto };
	ct_buf_init(&ask->request);
}

void ct_ask_fini(struct ask *ask)
{
	ct_buf_fini(&ask->request);
	ct_peers_fini(&ask->peers);
}

/* ---- processes ---- */

/* The likeliest reason is that CTRACE_RUN_DIR names a run directory that does not exist. */
static void diagnose_run_directory(void)
{
	const char *named = ct_os_environment("CTRACE_RUN_DIR");

	if (named == NULL || access(named, F_OK) == 0)
		return;
	fputs("; the run directory CTRACE_RUN_DIR=", stderr);
	ct_tool_print(stderr, named, strlen(named));
	fputs(" cannot be found", stderr);
}

void ct_ask_diagnose_nobody(const struct target *target, const char *what)
{
	fprintf(stderr, "%s: %s", target->verb, what);
	diagnose_run_directory();
	fputc('\n', stderr);
	(void)ct_recovery_report_refused(target->verb);
}

static void text_add_refused(const char *path, const char *why, void *user)
{
	ct_buf_add_format(user, "; the run directory %s is refused: %s", path, why);
}

void ct_ask_add_refused(struct ct_buf *out)
{
	ct_directory_each_refused(text_add_refused, out);
}

static void report_nobody(struct wto *wto, const char *what)
{
	char operated[4096];
	struct ct_buf text;

	ct_buf_init(&text);
	ct_buf_add_text(&text, what);
	if (geteuid() == 0 || !ct_directory_is_operated(operated))
		ct_ask_add_refused(&text);
	ct_wto(wto, CTR011I, ct_buf_text(&text), NULL);
	ct_buf_fini(&text);
}

enum ctrace_status ct_ask_find(struct ask *ask)
{
	bool is_all = ct_target_is_all(ask->target);
	enum ctrace_status status;

	ct_recovery_on_the_way(ask->target->verb);
	status = ct_peers_find(&ask->target->filter, &ask->peers);
	if (status != CTRACE_OK && ask->wto == NULL)
		fprintf(stderr, "%s: cannot look for traced processes: %s\n", ask->target->verb,
			ctrace_status_text(status));
	if (status != CTRACE_OK || ask->peers.count != 0)
		return status;
	if (ask->wto != NULL)
		report_nobody(ask->wto, is_all ? "is running" : "matches --job, --asid or --pid");
	else
		ct_ask_diagnose_nobody(ask->target, is_all ? "no traced process is running"
							   : "no running traced process matches");
	return CTRACE_NOT_FOUND;
}

/* ---- writers ---- */

void ct_ask_place_writer(struct ct_peer *peer, const char *directory, const char *name)
{
	*peer = (struct ct_peer){ .is_writer = true };
	ct_buf_init(&peer->answer);
	(void)snprintf(peer->run_directory, sizeof peer->run_directory, "%.*s",
		       (int)(strrchr(directory, '/') - directory), directory);
	(void)snprintf(peer->directory, sizeof peer->directory, CT_WRITER_DIRECTORY);
	(void)snprintf(peer->jobname, sizeof peer->jobname, "%s", name);
}

static void writer_find(struct ask *ask, const char *directory, const char *name)
{
	struct ct_peer *peer = &ask->peers.items[ask->peers.count];
	int fd;
	enum ctrace_status status = ct_client_connect(directory, name, &fd);

	/* A dead writer leaves a socket at which nobody listens. */
	if ((status != CTRACE_OK && status != CTRACE_DENIED) || ask->peers.count == MOST_WRITERS)
		return;
	if (status == CTRACE_OK)
		ct_os_close(&fd);
	ct_ask_place_writer(peer, directory, name);
	ask->peers.count++;
}

static void directory_find_writers(const char *run_directory, void *user)
{
	char directory[sizeof((struct ct_peer *)0)->run_directory + sizeof CT_WRITER_DIRECTORY + 1];
	const struct dirent *entry;
	DIR *entries;

	(void)snprintf(directory, sizeof directory, "%s/" CT_WRITER_DIRECTORY, run_directory);
	entries = opendir(directory);
	if (entries == NULL)
		return;
	while ((entry = readdir(entries)) != NULL)
		if ((entry->d_type == DT_SOCK || entry->d_type == DT_UNKNOWN) &&
		    ct_writer_name_is_valid(entry->d_name, strlen(entry->d_name)))
			writer_find(user, directory, entry->d_name);
	(void)closedir(entries);
}

static int peer_compare(const void *a, const void *b)
{
	return strcasecmp(((const struct ct_peer *)a)->jobname,
			  ((const struct ct_peer *)b)->jobname);
}

enum ctrace_status ct_ask_find_writers(struct ask *ask)
{
	ask->peers.items = calloc(MOST_WRITERS + 1, sizeof *ask->peers.items);
	if (ask->peers.items == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	ct_directory_each_run_directory(directory_find_writers, ask);
	qsort(ask->peers.items, ask->peers.count, sizeof *ask->peers.items, peer_compare);
	return CTRACE_OK;
}

/* ---- answers ---- */

#define NO_SOCKET \
	"does not listen to operators: it has another root directory (chroot) without its run " \
	"directory, or no descriptor left for a socket (ulimit -n)"

/* Returns true if peer->status is the status that the peer itself sent; its answer may still be
 * incomplete. */
static bool peer_has_answered(const struct ct_peer *peer)
{
	struct ct_message first;
	size_t at = 0;

	return ct_client_next(peer, &at, &first) &&
	       ct_message_number(&first, CT_FIELD_STATUS, CTRACE_STATUS_COUNT) == peer->status;
}

static bool peer_has_ended(const struct ct_peer *peer)
{
	char path[sizeof peer->run_directory + sizeof peer->directory + 2];

	(void)snprintf(path, sizeof path, "%s/%s", peer->run_directory, peer->directory);
	return !peer->is_writer &&
	       ((kill((pid_t)peer->pid, 0) != 0 && errno == ESRCH) || !ct_bell_process_lives(path));
}

const char *ct_ask_no_response(const struct ct_peer *peer)
{
	if (peer_has_answered(peer))
		return NULL;
	switch (peer->status) {
	case CTRACE_TIMED_OUT:
		return "did not answer in time";
	case CTRACE_NOT_FOUND:
		return peer_has_ended(peer) ? NULL
		       : peer->is_writer    ? "ended before it had answered"
					    : NO_SOCKET;
	case CTRACE_DENIED:
		return "belongs to another user";
	case CTRACE_DAMAGED:
		return "gave an answer that cannot be read";
	case CTRACE_NOT_ENOUGH_MEMORY:
		return "gave an answer that is too long";
	case CTRACE_UNSUPPORTED:
		return "has another version of ctrace, which speaks differently";
	case CTRACE_OK:
		return "gave no answer";
	default:
		return ctrace_status_text(peer->status);
	}
}

void ct_ask_print_name(FILE *to, const struct ct_peer *peer)
{
	fprintf(to, "%u ", (unsigned)peer->pid);
	ct_tool_print(to, peer->jobname, strnlen(peer->jobname, sizeof(peer->jobname)));
}

void ct_ask_add_process(struct ct_buf *out, const struct ct_peer *peer)
{
	ct_buf_add_format(out, "process %u ASID %04X JOBNAME %.*s", peer->pid, peer->asid,
			  (int)sizeof peer->jobname, peer->jobname);
}

static void report_no_response(const struct ask *ask, const struct ct_peer *peer,
			       const char *no_response)
{
	struct ct_buf name;

	if (ask->wto == NULL) {
		fprintf(stderr, "%s: ", peer->is_writer ? "ctrace" : ask->target->verb);
		if (peer->is_writer) {
			fputs("writer ", stderr);
			ct_tool_print(stderr, peer->jobname, strlen(peer->jobname));
		} else {
			ct_ask_print_name(stderr, peer);
		}
		fprintf(stderr, " %s\n", no_response);
		return;
	}
	ct_buf_init(&name);
	ct_ask_add_process(&name, peer);
	ct_wto(ask->wto, peer->is_writer ? CTR028I : CTR013I,
	       peer->is_writer ? peer->jobname : ct_buf_text(&name), no_response, NULL);
	ct_buf_fini(&name);
}

uint32_t ct_ask_report(const struct ask *ask)
{
	uint32_t silent = 0;

	for (size_t i = 0; i < ask->peers.count; i++) {
		const char *no_response = ct_ask_no_response(&ask->peers.items[i]);

		if (no_response != NULL && !ask->is_quiet)
			report_no_response(ask, &ask->peers.items[i], no_response);
		silent += no_response != NULL;
	}
	return silent;
}

void ct_ask_fold(const struct ask *ask, ct_ask_frame *frame, void *user)
{
	for (size_t i = 0; i < ask->peers.count; i++) {
		const struct ct_peer *peer = &ask->peers.items[i];
		struct ct_message message;
		size_t request = 0;
		size_t at = 0;

		if (ct_ask_no_response(peer) != NULL)
			frame(peer, 0, NULL, user);
		while (ct_client_next(peer, &at, &message)) {
			frame(peer, request, &message, user);
			request += (message.flags & CT_MESSAGE_MORE) == 0;
		}
	}
}

void ct_ask_send(struct ask *ask)
{
	ct_client_ask(&ask->peers, &ask->request, ask->target->timeout_ms);
}

uint32_t ct_ask_run(struct ask *ask, ct_ask_frame *frame, void *user)
{
	uint32_t silent;

	ct_ask_send(ask);
	silent = ct_ask_report(ask);
	ct_ask_fold(ask, frame, user);
	return silent;
}
