/*
 * export_speedscope.c - the spans of traces as a file of speedscope's own format.
 *
 * Called by ctrace export, on one thread.  One object: a frame for each name of a span, whose times
 * speedscope adds up, and a profile for each thread that has spans.  Spans that do not nest on
 * their thread go into one profile of their process, one after the other: their sums are right
 * there, their times are not.  speedscope knows only spans, so the file has no other events.
 *
 * A profile is one array of the document, but events of all threads come interleaved.  So each
 * thread's texts go into a spool, a file without a name, in chunks, and are copied from there at
 * the end.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/export/export.h"
#include "base/temporary_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_SIZE ((size_t)16 << 10)
#define COPY_SIZE ((size_t)64 << 10)

struct chunk {
	uint64_t offset; /* in the spool */
	size_t size;
};

struct profile {
	struct profile *next; /* in order of appearance */
	struct ct_buf name;
	struct ct_buf text; /* events that are not in the spool yet */
	struct chunk *chunks;
	size_t chunk_count, chunk_capacity;
	/* nanoseconds: since the first event for a thread; since 0 for spans one after the other */
	uint64_t begin, end;
	bool has_events;
	uint32_t *open; /* frames, the innermost last */
	uint32_t open_count, open_capacity;
	uint64_t total_ns; /* of outermost spans */
	bool has_inferred; /* some span's end is inferred */
};

struct speedscope {
	struct ct_export_out out;
	struct ct_tracks *tracks;
	struct profile *first, **last;
	/* the profile of overlapping spans by process; NULL: none */
	struct profile **overlapping;
	size_t overlapping_count;
	int spool;
	uint64_t spool_size;
	bool is_spool_bad; /* the spool failed, not the output */
	uint64_t last_ns;  /* of the last event */
};

static enum ctrace_status speedscope_open(const struct ct_export_options *options, void **out_self)
{
	struct speedscope *self = calloc(1, sizeof *self);

	if (self == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	ct_export_out_init(&self->out, options->fd);
	self->spool = -1;
	self->last = &self->first;
	if (ct_tracks_create(&self->tracks) != CTRACE_OK) {
		free(self);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	*out_self = self;
	return CTRACE_OK;
}

static void speedscope_look(void *user, const struct ct_read_event *event)
{
	struct speedscope *self = user;

	ct_tracks_look(self->tracks, event);
}

static void speedscope_fail(struct speedscope *self, int error)
{
	if (self->out.error == 0)
		self->out.error = error;
}

/* -----------------------------------------------------------------------------------------------
 * The spool
 */

static bool spool_open(struct speedscope *self)
{
	self->spool = ct_temporary_open(ct_temporary_directory("/tmp"));
	return self->spool >= 0;
}

static const char *speedscope_spool(const void *user)
{
	const struct speedscope *self = user;

	return self->is_spool_bad ? ct_temporary_directory("/tmp") : NULL;
}

static bool spool_write(struct speedscope *self, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t written = pwrite(self->spool, data, size, (off_t)self->spool_size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0) {
			errno = written == 0 ? ENOSPC : errno;
			return false;
		}
		data += written;
		size -= (size_t)written;
		self->spool_size += (uint64_t)written;
	}
	return true;
}

static bool chunk_add(struct profile *profile, uint64_t offset, size_t size)
{
	if (profile->chunk_count == profile->chunk_capacity) {
		size_t capacity = profile->chunk_capacity == 0 ? 8 : 2 * profile->chunk_capacity;
		struct chunk *grown = reallocarray(profile->chunks, capacity, sizeof *grown);

		if (grown == NULL)
			return false;
		profile->chunks = grown;
		profile->chunk_capacity = capacity;
	}
	profile->chunks[profile->chunk_count++] = (struct chunk){ .offset = offset, .size = size };
	return true;
}

/* Writes the profile's text to the spool when it has grown large. */
static void spool_offer(struct speedscope *self, struct profile *profile)
{
	uint64_t offset = self->spool_size;

	if (profile->text.failed)
		speedscope_fail(self, ENOMEM);
	if (profile->text.size < CHUNK_SIZE || self->out.error != 0)
		return;
	if ((self->spool < 0 && !spool_open(self)) ||
	    !spool_write(self, profile->text.data, profile->text.size)) {
		self->is_spool_bad = self->is_spool_bad || self->out.error == 0;
		speedscope_fail(self, errno);
	} else if (!chunk_add(profile, offset, profile->text.size)) {
		speedscope_fail(self, ENOMEM);
	}
	ct_buf_clear(&profile->text);
}

static void chunk_copy(struct speedscope *self, const struct chunk *chunk)
{
	for (size_t done = 0; done < chunk->size && self->out.error == 0;) {
		size_t size = chunk->size - done < COPY_SIZE ? chunk->size - done : COPY_SIZE;
		ssize_t got;

		if (!ct_buf_reserve(&self->out.text, size)) {
			speedscope_fail(self, ENOMEM);
			return;
		}
		got = pread(self->spool, self->out.text.data + self->out.text.size, size,
			    (off_t)(chunk->offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			speedscope_fail(self, got == 0 ? EIO : errno);
			return;
		}
		self->out.text.size += (size_t)got;
		done += (size_t)got;
		ct_export_out_offer(&self->out);
	}
}

/* -----------------------------------------------------------------------------------------------
 * Profiles
 */

static struct profile *profile_add(struct speedscope *self)
{
	struct profile *profile = calloc(1, sizeof *profile);

	if (profile == NULL) {
		speedscope_fail(self, ENOMEM);
		return NULL;
	}
	ct_buf_init(&profile->name);
	ct_buf_init(&profile->text);
	*self->last = profile;
	self->last = &profile->next;
	return profile;
}

static struct profile *profile_of_thread(struct speedscope *self, struct ct_track *track)
{
	struct profile *profile = track->data;

	if (profile != NULL)
		return profile;
	profile = track->data = profile_add(self);
	if (profile == NULL)
		return NULL;
	ct_tracks_add_process(self->tracks, &profile->name, track->source_process);
	ct_buf_add_format(&profile->name, ", thread %u", track->tid);
	return profile;
}

static struct profile *profile_of_process(struct speedscope *self,
					  const struct ct_source_process *source_process)
{
	struct profile *profile;

	if (source_process->index >= self->overlapping_count) {
		size_t count = 2 * (size_t)source_process->index + 8;
		struct profile **grown =
			reallocarray(self->overlapping, count, sizeof(struct profile *));

		if (grown == NULL) {
			speedscope_fail(self, ENOMEM);
			return NULL;
		}
		memset(grown + self->overlapping_count, 0,
		       (count - self->overlapping_count) * sizeof(struct profile *));
		self->overlapping = grown;
		self->overlapping_count = count;
	}
	profile = self->overlapping[source_process->index];
	if (profile != NULL)
		return profile;
	profile = self->overlapping[source_process->index] = profile_add(self);
	if (profile == NULL)
		return NULL;
	ct_tracks_add_process(self->tracks, &profile->name, source_process);
	ct_buf_add_text(&profile->name, ", overlapping spans one after another");
	return profile;
}

static void event_add(struct profile *profile, char type, uint32_t frame, uint64_t at)
{
	if (!profile->has_events)
		profile->begin = at;
	ct_buf_add_text(&profile->text, profile->has_events ? ",\n{\"type\":\"" : "\n{\"type\":\"");
	ct_buf_add_char(&profile->text, type);
	ct_buf_add_text(&profile->text, "\",\"frame\":");
	ct_buf_add_u64(&profile->text, frame);
	ct_buf_add_text(&profile->text, ",\"at\":");
	ct_buf_add_u64(&profile->text, at);
	ct_buf_add_char(&profile->text, '}');
	profile->has_events = true;
	profile->end = at;
}

static void span_begin(struct speedscope *self, struct profile *profile, uint32_t frame,
		       uint64_t at)
{
	if (profile->open_count == profile->open_capacity) {
		uint32_t capacity = profile->open_capacity == 0 ? 8 : 2 * profile->open_capacity;
		uint32_t *grown = reallocarray(profile->open, capacity, sizeof *grown);

		if (grown == NULL) {
			speedscope_fail(self, ENOMEM);
			return;
		}
		profile->open = grown;
		profile->open_capacity = capacity;
	}
	profile->open[profile->open_count++] = frame;
	event_add(profile, 'O', frame, at);
	if (profile->open_count == 1)
		profile->total_ns -= at;
}

/* A span that began inside and is still open should have ended earlier, as in the first reading;
 * it ends here. */
static void span_end(struct profile *profile, uint32_t frame, uint64_t at)
{
	uint32_t depth = profile->open_count;

	while (depth > 0 && profile->open[depth - 1] != frame)
		depth--;
	if (depth == 0)
		return;
	while (profile->open_count >= depth)
		event_add(profile, 'C', profile->open[--profile->open_count], at);
	if (depth == 1)
		profile->total_ns += at;
}

static void speedscope_add(void *user, const struct ct_read_event *event)
{
	struct speedscope *self = user;
	enum ct_span_way way = ct_tracks_way(self->tracks, event->span_id);
	struct ct_track *track = ct_tracks_find(self->tracks, event);
	bool is_end = ct_read_event_ends_span(event);
	struct profile *profile;
	struct ct_track_time time;
	uint32_t frame;
	uint64_t at;

	if (track == NULL) {
		speedscope_fail(self, ENOMEM);
		return;
	}
	time = ct_tracks_time(track, event, &self->last_ns);
	if (way == CT_SPAN_ALONE)
		return;
	frame = ct_span_names_find(ct_tracks_names(self->tracks), event);
	if (frame == CT_DISTINCT_NONE || (way == CT_SPAN_CROSSING && !is_end))
		return;
	profile = way == CT_SPAN_NESTED ? profile_of_thread(self, track)
					: profile_of_process(self, event->source_process);
	if (profile == NULL)
		return;
	profile->has_inferred |= event->is_inferred;
	at = way == CT_SPAN_NESTED ? time.begin_ns - ct_tracks_begin_ns(self->tracks)
				   : profile->end;
	if (!is_end || way == CT_SPAN_CROSSING || event->is_whole)
		span_begin(self, profile, frame, at);
	if (is_end)
		span_end(profile, frame,
			 at + (way == CT_SPAN_NESTED ? time.end_ns - time.begin_ns
						     : event->duration_ns));
	spool_offer(self, profile);
}

/* -----------------------------------------------------------------------------------------------
 * The document
 */

static void add_profile(struct speedscope *self, struct profile *profile)
{
	struct ct_buf *text = &self->out.text;

	while (profile->open_count > 0)
		span_end(profile, profile->open[0], profile->end);
	if (profile->has_inferred)
		ct_buf_add_text(&profile->name, ", some ends inferred");
	if (profile->text.failed || profile->name.failed)
		speedscope_fail(self, ENOMEM);
	ct_buf_add_text(text, "{\"type\":\"evented\",\"name\":");
	ct_export_add_string(text, profile->name.data, profile->name.size);
	ct_buf_add_format(text,
			  ",\"unit\":\"nanoseconds\",\"startValue\":%" PRIu64
			  ",\"endValue\":%" PRIu64 ",\"events\":[",
			  profile->begin, profile->end);
	for (size_t i = 0; i < profile->chunk_count; i++)
		chunk_copy(self, &profile->chunks[i]);
	ct_buf_add(text, profile->text.data, profile->text.size);
	ct_buf_add_text(text, "\n]}");
	ct_export_out_offer(&self->out);
}

/* speedscope opens no file without a profile; the name of this profile is the reason why it is
 * empty. */
static void add_nothing(struct speedscope *self)
{
	struct profile *profile = profile_add(self);

	if (profile != NULL)
		ct_buf_add_text(
			&profile->name,
			"no spans: they are where a catalogue pairs an event with the one that ends it");
}

static void add_frames(struct speedscope *self)
{
	struct ct_span_names *names = ct_tracks_names(self->tracks);

	for (uint32_t i = 0; i < ct_span_names_count(names); i++) {
		size_t size;
		const char *name = ct_span_names_text(names, i, &size);

		ct_buf_add_text(&self->out.text, i == 0 ? "\n{\"name\":" : ",\n{\"name\":");
		ct_export_add_string(&self->out.text, name, size);
		ct_buf_add_char(&self->out.text, '}');
		ct_export_out_offer(&self->out);
	}
}

/* Returns the profile that is shown first: the one with most in it. */
static uint32_t profile_largest(const struct speedscope *self)
{
	uint32_t best = 0, index = 0;
	uint64_t most = 0;

	for (const struct profile *profile = self->first; profile != NULL;
	     profile = profile->next, index++) {
		if (profile->total_ns <= most)
			continue;
		most = profile->total_ns;
		best = index;
	}
	return best;
}

static enum ctrace_status speedscope_end(void *user)
{
	struct speedscope *self = user;
	struct ct_buf *text = &self->out.text;

	if (self->first == NULL)
		add_nothing(self);
	ct_buf_add_text(
		text,
		"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"ctrace\",\"name\":\"trace of ");
	ct_export_add_time(text, ct_tracks_begin_ns(self->tracks));
	ct_buf_add_format(text, "\",\"activeProfileIndex\":%u,\"profiles\":[",
			  profile_largest(self));
	for (struct profile *profile = self->first; profile != NULL; profile = profile->next) {
		ct_buf_add_text(text, profile == self->first ? "\n" : ",\n");
		add_profile(self, profile);
	}
	ct_buf_add_text(text, "\n],\"shared\":{\"frames\":[");
	add_frames(self);
	ct_buf_add_text(text, "\n]}}\n");
	return ct_export_out_end(&self->out);
}

static void speedscope_close(void *user)
{
	struct speedscope *self = user;

	if (self == NULL)
		return;
	while (self->first != NULL) {
		struct profile *profile = self->first;

		self->first = profile->next;
		ct_buf_fini(&profile->name);
		ct_buf_fini(&profile->text);
		free(profile->chunks);
		free(profile->open);
		free(profile);
	}
	free(self->overlapping);
	ct_tracks_destroy(self->tracks);
	ct_export_out_fini(&self->out);
	if (self->spool >= 0)
		(void)close(self->spool);
	free(self);
}

const struct ct_exporter ct_export_speedscope = {
	.name = "speedscope",
	.has_pairs = true,
	.has_inferred = true,
	.open = speedscope_open,
	.look = speedscope_look,
	.add = speedscope_add,
	.end = speedscope_end,
	.spool = speedscope_spool,
	.close = speedscope_close,
};
