/*
 * dump.c - copies the rings of a process, and writes the copies as a BINFILE trace.
 *
 * Session and rings are copied with pread; their owner may live, be dead, or be hostile.  A
 * consumer then works on the copies, with one destination: a trace directory of the format of
 * BINFILE.  So a dump has the order, the times and the counts of losses that a delivered trace has,
 * and nothing of the process changes: neither positions nor counters.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/dump/dump.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "lib/consumer/consumer.h"
#include "lib/emit/binfile.h"

#define DEST 0u /* the number of the only destination */
#define PATH_SIZE CTRACE_EMITTER_PATH_SIZE

struct dump {
	const struct ct_dump_request *request;
	struct ct_session session; /* the copy */
	struct ct_ring *rings;     /* head NULL: could not be read */
	uint32_t ring_count;
	char temporary[PATH_SIZE];
	int temporary_fd; /* locked: its maker lives */
};

/* One dump at a time; the output's open() finds it here. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct dump *current;

/* ---- the output ---- */

struct output {
	struct ct_bin_directory *directory;
	const struct ctrace_emitter_context *context;
	uint64_t lost;
};

static enum ctrace_status output_open(const struct ctrace_emitter_context *context, void **out_self)
{
	struct output *output = calloc(1, sizeof *output);
	struct ct_trace_info info = { .pid = context->pid };
	struct ct_bin_open_mode mode = { .info = &info, .access = { .mode = 0600 } };
	enum ctrace_status status;

	if (output == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	ct_bin_info_fill(&info, context);
	ct_bin_info_clock(&info, context);
	status = ct_bin_directory_create(current->temporary, &mode, &output->directory);
	if (status != CTRACE_OK) {
		free(output);
		return status;
	}
	current->temporary_fd =
		open(current->temporary, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (current->temporary_fd >= 0)
		(void)flock(current->temporary_fd, LOCK_EX | LOCK_NB);
	output->context = context;
	*out_self = output;
	return CTRACE_OK;
}

static enum ctrace_status output_write(void *self, const struct ctrace_batch *batch)
{
	struct output *output = self;
	enum ctrace_status status = ct_bin_write(output->directory, batch);

	if (status == CTRACE_OK && batch->run_count > 0)
		ct_bin_directory_set_clock(output->directory, output->context,
					   batch->runs[batch->run_count - 1].end_ns);
	return status;
}

static void output_note_lost(void *self, const uint64_t totals[CTRACE_LOSS_COUNT])
{
	((struct output *)self)->lost = ct_loss_total(totals);
}

static enum ctrace_status output_sync(void *self)
{
	return ct_bin_sync(((struct output *)self)->directory);
}

static void output_close(void *self)
{
	struct output *output = self;

	if (output->lost > 0)
		ct_bin_report_lost(output->directory, output->lost, output->context->place);
	ct_bin_directory_set_clock(output->directory, output->context, CT_BIN_CLOCK_LAST);
	ct_bin_directory_close(output->directory);
	free(output);
}

static const struct ctrace_property properties[] = { { 0 } };
static const struct ctrace_emitter dump_emitter = {
	.size = sizeof(struct ctrace_emitter),
	.name = "BINFILE",
	.flags = CTRACE_EMITTER_FILE | CTRACE_EMITTER_RUNS,
	.properties = properties,
	.open = output_open,
	.write = output_write,
	.lost = output_note_lost,
	.flush = output_sync,
	.close = output_close,
};

/* ---- the copies ---- */

static uint32_t dump_ring_count(void *user)
{
	return ((struct dump *)user)->ring_count;
}

static struct ct_ring *dump_ring_at(void *user, uint32_t index)
{
	struct ct_ring *ring = &((struct dump *)user)->rings[index];

	return ring->head != NULL ? ring : NULL;
}

/* The copy has one consumer and one destination, whatever the ring had. */
static void ring_take_over(struct ct_ring *ring)
{
	ring->kept = CT_KEPT_NOT;
	ring->head->kept = CT_KEPT_NOT;
	ring->head->held_by = ring->head->wanted = 0;
	memset(ring->head->cursor, 0, sizeof ring->head->cursor);
	ct_os_close(&ring->fd); /* so that nothing is written there */
}

/* The calling process reads its private rings where they are. */
static enum ctrace_status ring_load(const struct dump *dump, uint32_t index, struct ct_ring *out)
{
	const struct ct_ring_pool *own = dump->request->own_rings;

	if (own != NULL && dump->session.head->ring_place[index] == CT_RING_PRIVATE &&
	    index < ct_ring_pool_count(own))
		return ct_ring_copy_private(out, ct_ring_pool_at(own, index));
	return ct_ring_load(out, &dump->session, index);
}

static enum ctrace_status dump_load_rings(struct dump *dump, struct ct_dump_result *result)
{
	uint32_t count = dump->session.head->ring_count;

	dump->rings = calloc((size_t)count + 1, sizeof *dump->rings);
	if (dump->rings == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	for (dump->ring_count = 0; dump->ring_count < count; dump->ring_count++) {
		struct ct_ring *ring = &dump->rings[dump->ring_count];
		enum ctrace_status status = ring_load(dump, dump->ring_count, ring);

		if (status == CTRACE_NOT_ENOUGH_MEMORY)
			return status;
		if (status == CTRACE_OK) {
			ring_take_over(ring);
			continue;
		}
		result->unread++;
		result->hidden +=
			dump->session.head->ring_place[dump->ring_count] == CT_RING_PRIVATE;
	}
	return CTRACE_OK;
}

static bool component_is_wanted(const struct ct_dump_request *request, const char *name,
				size_t size)
{
	const char *glob = request->component;
	const char *const *more = request->components;

	if (glob == NULL && more == NULL)
		return true;
	if (glob != NULL && ct_glob_match(glob, strlen(glob), name, size))
		return true;
	for (; more != NULL && *more != NULL; more++)
		if (ct_glob_match(*more, strlen(*more), name, size))
			return true;
	return false;
}

/* Every component that is wanted goes to the only destination. */
static void dump_set_destination(struct dump *dump)
{
	struct ct_session *session = &dump->session;

	memset(session->head->dest, 0, sizeof session->head->dest);
	memcpy(session->head->dest[DEST].emitter, "BINFILE", sizeof "BINFILE");
	for (uint32_t i = 0; i < session->head->component_count; i++) {
		size_t size;
		const char *name = ct_session_text(session, session->components[i].name, &size);

		session->components[i].dests =
			component_is_wanted(dump->request, name, size) ? 1u << DEST : 0;
	}
}

static enum ctrace_status dump_load_session(struct dump *dump)
{
	const struct ct_dump_request *request = dump->request;

	return request->own != NULL ? ct_session_copy(request->own, &dump->session)
				    : ct_session_load(&dump->session, request->run_directory,
						      request->directory, false);
}

/* The rings first, then what they refer to: a live process may add components and classes. */
static enum ctrace_status dump_load(struct dump *dump, struct ct_dump_result *result)
{
	enum ctrace_status status = dump_load_session(dump);

	if (status != CTRACE_OK)
		return status;
	status = dump_load_rings(dump, result);
	ct_session_close(&dump->session, false);
	if (status == CTRACE_OK)
		status = dump_load_session(dump);
	if (status != CTRACE_OK) {
		dump->session = (struct ct_session){ .head = NULL };
		return status;
	}
	dump->session.is_scratch = true;
	dump_set_destination(dump);
	return CTRACE_OK;
}

static void dump_unload(struct dump *dump)
{
	for (uint32_t i = 0; i < dump->ring_count; i++)
		if (dump->rings[i].head != NULL)
			ct_ring_close(&dump->rings[i]);
	free(dump->rings);
	if (dump->session.head != NULL)
		ct_session_close(&dump->session, false);
}

/* ---- writing ---- */

static uint64_t count_overwritten(const struct dump *dump)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < dump->ring_count; i++)
		if (dump->rings[i].head != NULL &&
		    dump->rings[i].head->overflow == CT_OVERFLOW_OVERWRITE)
			count += dump->rings[i].head->oldest_count;
	return count;
}

static enum ctrace_status dump_write_events(struct dump *dump, struct ct_dump_result *result)
{
	uint32_t no_flight = 0;
	struct ct_consumer_source source = {
		.session = &dump->session,
		.ring_count = dump_ring_count,
		.ring_at = dump_ring_at,
		.user = dump,
		.flight_wanted = &no_flight,
		.recovering = true,
		.loads_nothing = true,
		.emitter = &dump_emitter,
	};
	struct ct_consumer_result pass = { 0 };
	struct ct_consumer *consumer;
	enum ctrace_status status = ct_consumer_create(&source, &consumer);
	int error;

	if (status != CTRACE_OK)
		return status;
	current = dump;
	ct_consumer_pass(consumer, true, &pass);
	/* Without an event for it the destination has no position in the rings. */
	if (pass.failing != 0 || (pass.written > 0 && pass.pending != 0)) {
		status = CTRACE_OUTPUT_ERROR;
		errno = (int)dump->session.head->dest[DEST].failing;
	}
	if (status == CTRACE_OK) {
		ct_consumer_announce(consumer);
		status = pass.written > 0 ? ct_consumer_sync(consumer) : CTRACE_OK;
	}
	error = errno;
	ct_consumer_close(consumer);
	ct_consumer_destroy(consumer);
	errno = error;
	result->events = pass.written;
	result->damaged = pass.damaged;
	return status;
}

static void about_add(struct ct_buf *out, const char *key, const char *value)
{
	ct_buf_add_text(out, key);
	ct_buf_add_text(out, ": ");
	ct_escape_add(out, value, strlen(value));
	ct_buf_add_char(out, '\n');
}

static void about_add_number(struct ct_buf *out, const char *key, uint64_t value)
{
	ct_buf_add_text(out, key);
	ct_buf_add_text(out, ": ");
	ct_buf_add_u64(out, value);
	ct_buf_add_char(out, '\n');
}

/* component: NAME LEVEL */
static void about_add_components(struct ct_buf *out, const struct ct_session *session)
{
	for (uint32_t i = 0; i < session->head->component_count; i++) {
		const struct ct_component_entry *entry = &session->components[i];
		size_t size;
		const char *name = ct_session_text(session, entry->name, &size);

		if ((entry->flags & CT_COMPONENT_KNOWN) == 0)
			continue;
		ct_buf_add_text(out, "component: ");
		ct_escape_add(out, name, size);
		ct_buf_add_char(out, ' ');
		ct_buf_add_text(out, ct_level_name(entry->level_word.level));
		ct_buf_add_char(out, '\n');
	}
}

static enum ctrace_status dump_write_about(const struct dump *dump, uint64_t time_ns,
					   const struct ct_dump_result *result)
{
	const struct ct_dump_request *request = dump->request;
	const struct ct_session_head *head = dump->session.head;
	enum ctrace_status status;
	char path[PATH_SIZE + sizeof CT_DUMP_ABOUT];
	struct ct_buf text;
	int fd;

	ct_buf_init(&text);
	about_add(&text, "title", request->title);
	about_add(&text, "reason", request->reason);
	about_add_number(&text, "time", time_ns);
	about_add(&text, "job", head->jobname);
	about_add(&text, "program", head->program);
	about_add(&text, "host", head->host);
	about_add_number(&text, "pid", head->pid);
	about_add_number(&text, "asid", head->asid);
	about_add_number(&text, "events", result->events);
	about_add_number(&text, "overwritten", result->overwritten);
	if (result->unread != 0)
		ct_buf_add_format(&text, "unread: %" PRIu32 " ring%s\n", result->unread,
				  result->unread == 1 ? "" : "s");
	about_add_components(&text, &dump->session);
	if (request->details != NULL)
		ct_buf_add_text(&text, request->details);
	(void)snprintf(path, sizeof path, "%s/%s", dump->temporary, CT_DUMP_ABOUT);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	status = text.failed ? CTRACE_NOT_ENOUGH_MEMORY
		 : fd < 0    ? CTRACE_OUTPUT_ERROR
			     : ct_os_write_at(fd, text.data, text.size, 0);
	if (status == CTRACE_OK && fsync(fd) != 0)
		status = CTRACE_OUTPUT_ERROR;
	ct_os_close(&fd);
	ct_buf_fini(&text);
	return status;
}

/* "/a/b" -> "/a/.b.new.1234" */
static bool print_temporary(const char *path, char out[PATH_SIZE])
{
	const char *name = strrchr(path, '/');
	int size;

	name = name != NULL ? name + 1 : path;
	size = snprintf(out, PATH_SIZE, "%.*s.%s.new.%u", (int)(name - path), path, name,
			(unsigned)getpid());
	return *name != '\0' && size > 0 && size < (int)PATH_SIZE;
}

/* The output has opened nothing. */
static enum ctrace_status dump_write_empty(const struct dump *dump)
{
	const struct ct_session_head *head = dump->session.head;
	struct ct_trace_info info = { .pid = head->pid,
				      .asid = head->asid,
				      .start_ns = head->start_ns,
				      .is_big = CTRACE_IS_BIG_ };
	const struct ct_bin_open_mode mode = { .info = &info, .access = { .mode = 0600 } };
	struct ct_bin_directory *directory;
	enum ctrace_status status;

	(void)snprintf(info.host, sizeof info.host, "%s", head->host);
	(void)snprintf(info.program, sizeof info.program, "%s", head->program);
	(void)snprintf(info.jobname, sizeof info.jobname, "%s", head->jobname);
	status = ct_bin_directory_create(dump->temporary, &mode, &directory);
	if (status != CTRACE_OK)
		return status;
	status = ct_bin_sync(directory);
	ct_bin_directory_close(directory);
	return status;
}

static enum ctrace_status dump_make_locked(struct dump *dump, struct ct_dump_result *result)
{
	const char *path = dump->request->path;
	uint64_t now = ct_clock_wall_ns();
	enum ctrace_status status = dump_load(dump, result);

	if (status == CTRACE_OK) {
		result->overwritten = count_overwritten(dump);
		status = dump_write_events(dump, result);
		result->is_made = result->events > 0 || dump->request->may_be_empty;
		if (status == CTRACE_OK && result->is_made && result->events == 0)
			status = dump_write_empty(dump);
		if (status == CTRACE_OK && result->is_made)
			status = dump_write_about(dump, now, result);
		if (status == CTRACE_OK && result->is_made &&
		    renameat2(AT_FDCWD, dump->temporary, AT_FDCWD, path, RENAME_NOREPLACE) != 0)
			status = CTRACE_OUTPUT_ERROR;
		if (status != CTRACE_OK) {
			int kept = errno;

			(void)ct_dump_remove(AT_FDCWD, dump->temporary);
			errno = kept;
		}
	}
	dump_unload(dump);
	return status;
}

enum ctrace_status ct_dump_make(const struct ct_dump_request *request,
				struct ct_dump_result *out_result)
{
	struct dump dump = { .request = request, .temporary_fd = -1 };
	enum ctrace_status status;

	*out_result = (struct ct_dump_result){ 0 };
	if (!print_temporary(request->path, dump.temporary)) {
		errno = ENAMETOOLONG;
		return CTRACE_OUTPUT_ERROR;
	}
	ct_guard_lock(&lock);
	ct_dump_sweep(request->path);
	status = dump_make_locked(&dump, out_result);
	ct_os_close(&dump.temporary_fd);
	ct_guard_unlock(&lock);
	return status;
}

void ct_dump_make_forked(void)
{
	(void)pthread_mutex_init(&lock, NULL);
	current = NULL;
}
