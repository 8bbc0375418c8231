/*
 * destination.c - one destination of a session: opens its emitter, keeps its position, notes its
 * failures.
 *
 * Runs under the consumer's lock, on the consumer thread or in a recoverer.  The emitter's methods
 * are called here and nowhere else, and without the lock: call_since_ns marks the destination as
 * busy meanwhile.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/consumer/delivery.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ct_dest *dest_of(const struct ct_destination *destination)
{
	return &destination->session->head->dest[destination->index];
}

static struct ct_destination *destination_of(const struct ctrace_emitter_context *context)
{
	return (struct ct_destination *)(uintptr_t)((const char *)context -
						    offsetof(struct ct_destination, context));
}

/* ---- settings: "NAME=value\n" lines of the session ---- */

/* The value stands escaped: \n for a line feed, \\ for a backslash. */
static void add_unescaped(struct ct_buf *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\\' && i + 1 < size) {
			i++;
			ct_buf_add_char(out, text[i] == 'n' ? '\n' : text[i]);
		} else {
			ct_buf_add_char(out, text[i]);
		}
	}
}

static bool find_setting(const struct ct_destination *destination, const char *name,
			 struct ct_buf *out)
{
	size_t left;
	const char *line =
		ct_session_text(destination->session, dest_of(destination)->settings, &left);

	while (left > 0) {
		const char *end = memchr(line, '\n', left);
		size_t size = end != NULL ? (size_t)(end - line) : left;
		const char *equals = memchr(line, '=', size);

		if (equals != NULL && ct_name_is(line, (size_t)(equals - line), name)) {
			add_unescaped(out, equals + 1, size - (size_t)(equals + 1 - line));
			return true;
		}
		line += size + (end != NULL);
		left -= size + (end != NULL);
	}
	return false;
}

static const char *context_property(const struct ctrace_emitter_context *context, const char *name)
{
	struct ct_destination *destination = destination_of(context);
	const struct ctrace_property *row;

	ct_buf_clear(&destination->value);
	if (find_setting(destination, name, &destination->value))
		return ct_buf_text(&destination->value);
	row = ct_emitter_property(destination->emitter, name, strlen(name));
	return row != NULL ? row->default_value : NULL;
}

static uint64_t context_number(const struct ctrace_emitter_context *context, const char *name)
{
	const char *value = context_property(context, name);

	return value != NULL ? ct_value_number(value, strlen(value)) : 0;
}

/* ---- before and after each method ---- */

static void unlock_consumer(const struct ct_destination *destination)
{
	if (destination->source != NULL && destination->source->before_method != NULL)
		destination->source->before_method(destination->source->lock_user);
}

static void lock_consumer(const struct ct_destination *destination)
{
	if (destination->source != NULL && destination->source->after_method != NULL)
		destination->source->after_method(destination->source->lock_user);
}

static void method_begin(struct ct_destination *destination)
{
	__atomic_store_n(&destination->call_since_ns, ct_clock_mono_ns(), __ATOMIC_RELAXED);
	destination->has_failed_at = false;
	unlock_consumer(destination);
	errno = 0;
}

static void method_end(struct ct_destination *destination)
{
	int kept = errno;

	lock_consumer(destination);
	__atomic_store_n(&destination->call_since_ns, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&dest_of(destination)->stuck_since_ns, 0, __ATOMIC_RELAXED);
	errno = kept;
}

/* Inside a method, which runs without the lock. */
static enum ctrace_status context_commit(const struct ctrace_emitter_context *context)
{
	struct ct_destination *destination = destination_of(context);
	enum ctrace_status status;

	lock_consumer(destination);
	status = ct_destination_commit(destination, 0);
	unlock_consumer(destination);
	return status;
}

/* Inside a method.  Stored only when it changes, so that a lasting failure does not rewrite the
 * text while it is read. */
static void context_failed_at(const struct ctrace_emitter_context *context, const char *what)
{
	struct ct_destination *destination = destination_of(context);
	char *kept = dest_of(destination)->failing_at;
	char shown[2 * sizeof dest_of(destination)->failing_at];
	size_t size, room = sizeof dest_of(destination)->failing_at - 1;

	ct_address_shown(shown, sizeof shown, what);
	what = shown;
	size = strlen(what);
	if (size > room) {
		what += size - room;
		size = room;
	}
	destination->has_failed_at = true;
	if (strncmp(kept, what, size + 1) != 0) {
		memcpy(kept, what, size);
		kept[size] = '\0';
	}
	if (destination->recovering)
		memcpy(destination->remark, kept, sizeof destination->remark);
}

/* Inside a method. */
static void context_refused(const struct ctrace_emitter_context *context, uint64_t events,
			    const char *what)
{
	destination_of(context)->refused += events;
	context_failed_at(context, what);
}

static void context_counter(const struct ctrace_emitter_context *context,
			    struct ctrace_counter *out)
{
	const struct ct_destination *destination = destination_of(context);
	struct ct_sync sync;

	if (destination->source != NULL && destination->source->sync != NULL)
		ct_sync_copy(destination->source->sync, &sync);
	else
		ct_shared_sync_copy(&destination->session->head->sync, &sync);
	ct_sync_counter(&sync, out);
}

static const char *copy_text(struct ct_buf *buf, const struct ct_session *session, ct_text text)
{
	size_t size;
	const char *from = ct_session_text(session, text, &size);

	ct_buf_clear(buf);
	ct_buf_add(buf, from, size);
	return ct_buf_text(buf);
}

static void fill_context(struct ct_destination *destination)
{
	const struct ct_session *session = destination->session;
	const struct ct_session_head *head = session->head;

	destination->context = (struct ctrace_emitter_context){
		.size = sizeof(struct ctrace_emitter_context),
		.property = context_property,
		.number = context_number,
		.pid = head->pid,
		.asid = head->asid,
		.jobname = head->jobname,
		.program = head->program,
		.host = head->host,
		.system = head->system,
		.command_line = copy_text(&destination->command_line, session, head->command_line),
		.working_directory = copy_text(&destination->working_directory, session,
					       head->working_directory),
		.directory = copy_text(&destination->log_directory, session, head->log_directory),
		.start_ns = head->start_ns,
		.recovering = destination->recovering,
		.place = destination->place,
		.commit = context_commit,
		.failed_at = context_failed_at,
		.counter = context_counter,
		.refused = context_refused,
	};
}

/* ---- life ---- */

/* Resets the place to the last commit. */
static void reset_place(struct ct_destination *destination)
{
	const struct ct_dest_slot *slot = ct_dest_current(dest_of(destination));

	destination->place->offset = slot->offset;
	destination->place->extra = slot->extra;
	destination->place->lost = slot->announced;
	(void)snprintf(destination->place->path, sizeof destination->place->path, "%.*s",
		       (int)sizeof destination->place->path - 1,
		       ct_dest_path(destination->session, destination->index));
}

void ct_destination_init(struct ct_destination *destination, struct ctrace_place *place,
			 struct ct_session *session, uint32_t index, bool recovering)
{
	memset(destination, 0, sizeof *destination);
	destination->place = place;
	destination->session = session;
	destination->index = index;
	destination->recovering = recovering;
	if (recovering)
		reset_place(destination);
}

void ct_destination_fini(struct ct_destination *destination)
{
	if (ct_destination_is_busy(destination))
		/* in a forked child the method's thread does not exist, and its data are in an
		 * unknown state */
		return;
	ct_destination_close(destination);
	if (destination->batch != NULL)
		ct_batch_fini(destination->batch);
	free(destination->batch);
	free(destination->passed);
	destination->batch = NULL;
	destination->passed = NULL;
	ct_buf_fini(&destination->value);
	ct_buf_fini(&destination->command_line);
	ct_buf_fini(&destination->working_directory);
	ct_buf_fini(&destination->log_directory);
}

static enum ctrace_status find_by_name(const struct ct_destination *destination, const char *name,
				       uint32_t *out_index)
{
	bool loads_nothing = destination->source != NULL && (destination->source->loads_nothing ||
							     !destination->source->recovering);

	return loads_nothing ? ct_emitter_find_known(name, strlen(name), out_index)
			     : ct_emitter_find(name, strlen(name), out_index);
}

static bool find_emitter(struct ct_destination *destination)
{
	const char *name = dest_of(destination)->emitter;
	uint32_t index = destination->index;

	if (destination->emitter != NULL)
		return true;
	/* Our own destinations have the numbers of our emitters; a dead process had loaded others.
	 */
	if (destination->recovering && find_by_name(destination, name, &index) != CTRACE_OK) {
		errno = ENOENT;
		return false;
	}
	destination->emitter = ct_emitter_at(index);
	return true;
}

bool ct_destination_writes(const struct ct_destination *destination)
{
	uint32_t flags = destination->emitter != NULL ? destination->emitter->flags : 0;

	return (flags & CTRACE_EMITTER_SILENT) == 0 &&
	       ((flags & CTRACE_EMITTER_LIVE_ONLY) == 0 || !destination->recovering);
}

void ct_destination_failed(struct ct_destination *destination)
{
	struct ct_dest *dest = dest_of(destination);

	if (dest->failing == 0)
		dest->failures++;
	if (!destination->has_failed_at)
		dest->failing_at[0] = '\0';
	__atomic_store_n(&dest->failing, errno != 0 ? (uint32_t)errno : (uint32_t)EIO,
			 __ATOMIC_RELAXED);
	destination->has_failed_at = false;
	destination->remark[0] = '\0';
	destination->retry_at_ns = ct_clock_mono_ns() + RETRY_NS;
	if (destination->failing_since_ns == 0)
		destination->failing_since_ns = ct_clock_mono_ns();
}

/* is_refused: it takes batches, but its receiver has refused events of the last one. */
static void destination_works_again(struct ct_destination *destination, bool is_refused)
{
	struct ct_dest *dest = dest_of(destination);

	destination->retry_at_ns = destination->failing_since_ns = 0;
	destination->is_full = false;
	dest->failures += is_refused && dest->failing == 0;
	__atomic_store_n(&dest->failing, is_refused ? (uint32_t)EIO : 0, __ATOMIC_RELAXED);
	if (!is_refused && dest->failing_at[0] != '\0')
		dest->failing_at[0] = '\0';
}

void ct_destination_has_all(struct ct_destination *destination)
{
	/* One that is full lost those events, and works again with the next that it has room for.
	 */
	if (destination->retry_at_ns != 0 && destination->self != NULL && !destination->is_full)
		destination_works_again(destination, false);
}

/* Notes the directory of the place, for a recoverer in another name space.  It uses the file
 * system, so it counts as a method. */
static void note_place(struct ct_destination *destination)
{
	if (!destination->has_moved || destination->recovering)
		return;
	destination->has_moved = false;
	method_begin(destination);
	ct_place_note(destination->session, destination->index);
	method_end(destination);
}

/* Reads its least level and whether its files are limited.  Its context is filled. */
static void read_limits(struct ct_destination *destination)
{
	destination->least_level =
		ct_emitter_property(destination->emitter, "LEVEL", strlen("LEVEL")) != NULL
			? ct_line_settings_level(&destination->context)
			: 0;
	destination->is_limited = (destination->emitter->flags & CTRACE_EMITTER_LIMITED) != 0 ||
				  context_number(&destination->context, "MAXGENERATION") > 1;
}

bool ct_destination_wants_runs(struct ct_destination *destination)
{
	if (!find_emitter(destination) || (destination->emitter->flags & CTRACE_EMITTER_RUNS) == 0)
		return false;
	/* One that is open keeps the settings that it was opened with. */
	if (destination->self == NULL) {
		fill_context(destination);
		read_limits(destination);
	}
	return true;
}

bool ct_destination_wants(struct ct_destination *destination, const char *path)
{
	char wanted[CTRACE_EMITTER_PATH_SIZE];

	if (!find_emitter(destination))
		return false;
	fill_context(destination);
	return ct_emitter_output_path(destination->emitter, &destination->context, wanted) &&
	       strcmp(wanted, path) == 0;
}

static bool open_emitter(struct ct_destination *destination)
{
	char path[CTRACE_EMITTER_PATH_SIZE];
	void *self = NULL;
	enum ctrace_status status;
	bool is_open;

	/* the output is closed and holds no uncommitted bytes */
	destination->is_passed_over = false;
	method_begin(destination);
	if (!destination->recovering && destination->source != NULL &&
	    destination->source->before_open != NULL &&
	    ct_emitter_output_path(destination->emitter, &destination->context, path)) {
		destination->source->before_open(destination->source->lock_user, path);
		errno = 0;
	}
	status = destination->emitter->open(&destination->context, &self);
	is_open = status == CTRACE_OK;
	destination->is_full = status == CTRACE_BUFFER_TOO_SMALL;
	method_end(destination);
	destination->self = is_open ? self : NULL;
	return is_open;
}

/* The output may have bytes behind the last commit: they are cut off when it opens again. */
static void give_up_output(struct ct_destination *destination)
{
	int error = errno;

	destination->context.uncommitted = true;
	ct_destination_close(destination);
	destination->context.uncommitted = false;
	reset_place(destination);
	errno = error;
}

void ct_destination_uncommitted(struct ct_destination *destination)
{
	give_up_output(destination);
	ct_destination_failed(destination);
}

bool ct_destination_open(struct ct_destination *destination, bool now)
{
	if (destination->retry_at_ns != 0 && !now && ct_clock_mono_ns() < destination->retry_at_ns)
		return false;
	if (destination->self != NULL)
		return true;
	errno = 0;
	if (!find_emitter(destination)) {
		ct_destination_failed(destination);
		return false;
	}
	destination->flush_every = 1;
	if (!ct_destination_writes(destination)) {
		destination_works_again(destination, false);
		return true;
	}
	fill_context(destination);
	read_limits(destination);
	if (!open_emitter(destination)) {
		ct_destination_failed(destination);
		return false;
	}
	if (ct_emitter_property(destination->emitter, "FLUSHEVERY", strlen("FLUSHEVERY")) != NULL)
		destination->flush_every = context_number(&destination->context, "FLUSHEVERY");
	/* The beginning of the output is committed before the first write, so that an uncommitted
	 * first write can be cut off. */
	if (ct_destination_commit(destination, 0) != CTRACE_OK) {
		ct_destination_uncommitted(destination);
		return false;
	}
	note_place(destination);
	__atomic_store_n(&dest_of(destination)->active, 1, __ATOMIC_RELAXED);
	if (!destination->is_passed_over)
		return true;
	/* The events that it was opened for were counted as lost meanwhile.  The next pass begins
	 * behind them. */
	destination->is_passed_over = false;
	return false;
}

bool ct_destination_open_ending(struct ct_destination *destination)
{
	const char *path = destination->place->path;

	if (dest_of(destination)->active == 0 || path[0] == '\0' || access(path, F_OK) != 0 ||
	    !find_emitter(destination) || (destination->emitter->flags & CTRACE_EMITTER_ENDS) == 0)
		return true;
	return ct_destination_open(destination, true);
}

void ct_destination_close(struct ct_destination *destination)
{
	void *self = destination->self;

	destination->self = NULL;
	if (self == NULL)
		return;
	method_begin(destination);
	destination->emitter->close(self);
	method_end(destination);
	destination->is_passed_over = false;
}

void ct_destination_close_if_wanted(struct ct_destination *destination)
{
	if (!destination->reopen_wanted)
		return;
	destination->reopen_wanted = false;
	ct_destination_close(destination);
	destination->retry_at_ns = 0;
}

void ct_destination_end(struct ct_destination *destination)
{
	bool is_open = destination->self != NULL && destination->retry_at_ns == 0;
	uint64_t lost = destination->place->lost;

	destination->context.ending = is_open;
	ct_destination_close(destination);
	if (is_open && destination->place->lost > lost)
		(void)!ct_destination_commit(destination, 0);
}

enum ctrace_status ct_destination_write(struct ct_destination *destination,
					const struct ctrace_batch *batch)
{
	enum ctrace_status status;

	destination->refused = 0;
	method_begin(destination);
	status = destination->emitter->write(destination->self, batch);
	destination->is_full = status == CTRACE_BUFFER_TOO_SMALL;
	method_end(destination);
	if (destination->is_passed_over) {
		bool has_failed_at = destination->has_failed_at;

		give_up_output(destination);
		destination->has_failed_at = has_failed_at;
		if (status == CTRACE_OK)
			/* the destination works; the next pass opens it again */
			return CTRACE_OUTPUT_ERROR;
	}
	if (status != CTRACE_OK) {
		destination->is_limited = true;
		ct_destination_failed(destination);
		return CTRACE_OUTPUT_ERROR;
	}
	note_place(destination);
	return CTRACE_OK;
}

void ct_destination_announce(struct ct_destination *destination,
			     const uint64_t totals[CTRACE_LOSS_COUNT])
{
	uint64_t sum = 0;

	for (uint32_t reason = 0; reason < CTRACE_LOSS_COUNT; reason++)
		sum += totals[reason];
	if (sum == destination->announced || destination->self == NULL ||
	    destination->emitter->lost == NULL)
		return;
	destination->announced = sum;
	method_begin(destination);
	destination->emitter->lost(destination->self, totals);
	method_end(destination);
}

enum ctrace_status ct_destination_sync(struct ct_destination *destination)
{
	enum ctrace_status status;

	if (destination->self == NULL || destination->emitter->flush == NULL)
		return CTRACE_OK;
	method_begin(destination);
	status = destination->emitter->flush(destination->self);
	method_end(destination);
	return status;
}

static enum ctrace_status destination_publish(struct ct_destination *destination,
					      const struct ct_dest_slot *next)
{
	struct ct_dest *dest = dest_of(destination);
	enum ctrace_status status;

	status = ct_session_persist(destination->session, next, sizeof *next);
	if (status != CTRACE_OK)
		return status;
	/* The commit: this store, and nothing before it, makes the new places count. */
	__atomic_store_n(&dest->sequence, dest->sequence + 1, __ATOMIC_RELEASE);
	status = ct_session_persist(destination->session, &dest->sequence, sizeof dest->sequence);
	if (status != CTRACE_OK) {
		/* The copy must equal the file, or its tails would run ahead of the positions in
		 * force. */
		__atomic_store_n(&dest->sequence, dest->sequence - 1, __ATOMIC_RELEASE);
		return status;
	}
	return CTRACE_OK;
}

static struct ct_dest_slot *next_slot(const struct ct_destination *destination)
{
	struct ct_dest *dest = dest_of(destination);

	return &dest->slot[(dest->sequence + 1) & 1];
}

enum ctrace_status ct_destination_commit(struct ct_destination *destination, uint64_t delivered)
{
	const struct ct_dest_slot *now = ct_dest_current(dest_of(destination));
	struct ct_dest_slot *next = next_slot(destination);
	uint64_t refused = destination->refused < delivered ? destination->refused : delivered;
	enum ctrace_status status;

	next->offset = destination->place->offset;
	next->extra = destination->place->extra;
	next->delivered = now->delivered + delivered - refused;
	next->lost = now->lost + refused;
	/* Such an emitter writes announced losses with the ring's next packet, or when it is
	 * closed. */
	next->announced = destination->emitter != NULL &&
					  (destination->emitter->flags & CTRACE_EMITTER_RUNS) != 0
				  ? destination->place->lost
				  : destination->announced;
	destination->has_moved |= strcmp(ct_dest_path(destination->session, destination->index),
					 destination->place->path) != 0;
	status = ct_dest_put_path(destination->session, destination->index,
				  destination->place->path);
	if (status == CTRACE_OK)
		status = destination_publish(destination, next);
	/* A refusal is shown until events are delivered without one. */
	if (status == CTRACE_OK && (delivered > 0 || destination->retry_at_ns != 0))
		destination_works_again(destination, refused > 0);
	return status;
}

enum ctrace_status ct_destination_pass_over(struct ct_destination *destination, uint64_t lost)
{
	struct ct_dest_slot *next = next_slot(destination);
	enum ctrace_status status =
		ct_dest_put_path(destination->session, destination->index,
				 ct_dest_path(destination->session, destination->index));

	if (status != CTRACE_OK)
		return status;
	*next = *ct_dest_current(dest_of(destination));
	next->lost += lost;
	return destination_publish(destination, next);
}

enum ctrace_status ct_destination_rotate(struct ct_destination *destination)
{
	enum ctrace_status status;

	if (destination->self == NULL)
		return CTRACE_NOT_FOUND;
	method_begin(destination);
	status = ct_emitter_rotate(destination->emitter, destination->self);
	method_end(destination);
	return status == CTRACE_OK ? ct_destination_commit(destination, 0) : status;
}
