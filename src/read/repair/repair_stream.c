/*
 * repair_stream.c - copies the readable packets of one stream file.
 *
 * Called by repair.c, on one thread, with files that may be hostile.  A packet whose every event
 * can be read is copied unchanged.  A damaged packet is cut behind its last readable event.  One
 * packet is held back until the next is read.  When the two contradict each other in number or
 * time, the packet that does not fit its predecessors is dropped.  Otherwise a single wrong time
 * would cost all later packets.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/repair/repair_stream.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "read/stream_file.h"

#define WINDOW ((size_t)2 << 20) /* more for larger packets */
#define SEARCH ((size_t)64 << 10)
#define UNLIKELY ((uint64_t)1 << 40) /* a gap of so many packets or events is damage */
#define WRITE_AT_ONCE ((size_t)256 << 10)

/* A packet to write. */
struct packet {
	uint64_t at;   /* in the file */
	uint64_t size; /* there */
	struct ct_packet_head head;
	uint64_t events;
	struct ct_buf bytes;
	bool is_repaired; /* its head must be written anew */
};

struct work {
	struct ct_repair *repair;
	struct ct_repair_stream *stream;
	enum ctrace_status status;
	bool has_damage;
	unsigned char *window;
	size_t window_capacity;
	size_t window_size;
	uint64_t window_at;
	struct packet packets[2];
	struct packet *pending; /* NULL: none */
	/* the copy */
	int out_fd;
	struct ct_buf out;
	bool has_last;
	struct ct_packet_head last;
	/* position in the damaged file where the next packet begins, unless packets are missing */
	uint64_t last_end;
	/* adjacent packets with the next number, and with another number */
	uint64_t consecutive, gaps;
};

static void stream_report(struct work *work, uint64_t offset, uint64_t bytes, const char *message)
{
	const struct ct_repair_note note = {
		.path = work->stream->path, .offset = offset, .bytes = bytes, .message = message
	};

	work->has_damage = true;
	work->repair->damages++;
	work->repair->lost_bytes += bytes;
	work->repair->report(&note, work->repair->user);
}

/* -----------------------------------------------------------------------------------------------
 * Reading
 */

/* Grows the window to twice the wanted size, but not beyond the end of the file.  Returns false
 * without memory. */
static bool reserve_window(struct work *work, uint64_t at, size_t size)
{
	uint64_t wanted = 2 * (uint64_t)size;
	unsigned char *window;
	struct stat info;

	if (size <= work->window_capacity / 2 || fstat(work->stream->fd, &info) != 0)
		return true;
	if ((uint64_t)info.st_size < at + wanted)
		wanted = (uint64_t)info.st_size > at ? (uint64_t)info.st_size - at : 0;
	if (wanted <= work->window_capacity)
		return true;
	window = realloc(work->window, (size_t)wanted);
	if (window == NULL)
		return false;
	work->window = window;
	work->window_capacity = (size_t)wanted;
	return true;
}

/* Returns the bytes from `at`: `size` of them, or as many as the file has. */
static const unsigned char *stream_look(struct work *work, uint64_t at, size_t size,
					size_t *out_available)
{
	if (at < work->window_at || at - work->window_at > work->window_size ||
	    size > work->window_size - (size_t)(at - work->window_at)) {
		enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;

		if (reserve_window(work, at, size))
			status = ct_os_read_at(work->stream->fd, work->window,
					       work->window_capacity, at, &work->window_size);
		work->window_at = at;
		if (status != CTRACE_OK) {
			work->status = status;
			work->window_size = 0;
		}
	}
	*out_available = work->window_size - (size_t)(at - work->window_at);
	return work->window + (at - work->window_at);
}

static bool head_is_ours(const struct work *work, const unsigned char *bytes, size_t available,
			 struct ct_packet_head *out)
{
	return ct_packet_decode_head(bytes, available, out) == CTRACE_OK &&
	       memcmp(out->uuid, work->stream->uuid, sizeof out->uuid) == 0 &&
	       out->stream_instance == work->stream->id && out->begin_ns <= INT64_MAX &&
	       out->begin_ticks <= work->stream->most_ticks;
}

static bool head_at(struct work *work, uint64_t at, struct ct_packet_head *out)
{
	size_t available;
	const unsigned char *bytes = stream_look(work, at, CT_PACKET_HEAD, &available);

	return head_is_ours(work, bytes, available, out);
}

/* Returns the next position from `from` on where a packet of this stream begins, or the end of the
 * file. */
static uint64_t find_packet(struct work *work, uint64_t from)
{
	for (;;) {
		size_t available, found;
		const unsigned char *bytes = stream_look(work, from, SEARCH, &available);
		struct ct_packet_head head;

		if (available < CT_PACKET_HEAD)
			return from + available;
		found = ct_packet_find(bytes, available, 0);
		if (found == available) {
			/* a head may begin in the last bytes */
			from += available - (CT_PACKET_HEAD - 1);
			continue;
		}
		from += found;
		if (head_at(work, from, &head))
			return from;
		from++;
	}
}

/* Reads events up to `content`, or to the first that is unreadable or later than `limit`.  Returns
 * the offset behind the last good event, and its time. */
static size_t read_events(struct work *work, const unsigned char *bytes, size_t content,
			  uint64_t limit, struct packet *packet, uint64_t *out_last_ticks)
{
	const struct ct_class_image classes = ct_schema_image(work->stream->schema);
	struct ct_event_state state = { .ticks = packet->head.begin_ticks,
					.tid = packet->head.tid };
	size_t offset = CT_PACKET_HEAD;

	*out_last_ticks = state.ticks;
	packet->events = 0;
	while (offset < content) {
		struct ct_event event;

		if (ct_event_decode(&classes, bytes + offset, content - offset, &state, &event) !=
			    CTRACE_OK ||
		    event.is_mark || state.ticks < *out_last_ticks || state.ticks > limit)
			break;
		offset += event.size;
		*out_last_ticks = state.ticks;
		packet->events++;
	}
	return offset;
}

static uint64_t time_distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static bool stream_is_span(const struct work *work, uint64_t ticks, uint64_t ns)
{
	return work->stream->frequency == 0 ||
	       ct_repair_is_span(work->stream->frequency, ticks, ns);
}

/* The two times of a packet contradict each other: is its beginning wrong, judged by the packet
 * before? */
static bool is_begin_wrong(const struct work *work, const struct ct_packet_head *head,
			   uint64_t last_ticks)
{
	const struct ct_packet_head *before = work->pending != NULL ? &work->pending->head
					      : work->has_last      ? &work->last
								    : NULL;
	uint64_t begin_ns, end_ns;

	if (before == NULL || head->begin_ticks < before->end_ticks)
		return false;
	begin_ns = before->end_ns + ct_repair_span_ns(work->stream->frequency,
						      head->begin_ticks - before->end_ticks);
	end_ns = before->end_ns +
		 ct_repair_span_ns(work->stream->frequency, last_ticks - before->end_ticks);
	return time_distance(begin_ns, head->begin_ns) > time_distance(end_ns, head->end_ns);
}

/* Repairs the times of a packet whose last event is known.  Returns a text about the repair, or
 * NULL when nothing was wrong. */
static const char *packet_correct_times(const struct work *work, struct ct_packet_head *head,
					uint64_t last_ticks, bool is_whole)
{
	uint64_t recorded = head->end_ns - head->begin_ns, ticks = last_ticks - head->begin_ticks;
	struct ct_packet_clock clock = ct_packet_clock_start(head);
	const char *wrong =
		head->end_ticks != last_ticks ? "its end was wrong, and is repaired" : NULL;

	clock.state.ticks = last_ticks;
	if (!is_whole && last_ticks <= head->end_ticks &&
	    stream_is_span(work, head->end_ticks - head->begin_ticks, recorded)) {
		head->end_ns = ct_packet_clock_time(&clock);
	} else if (!stream_is_span(work, ticks, recorded)) {
		uint64_t ns = ct_repair_span_ns(work->stream->frequency, ticks);

		wrong = "its end was wrong, and is repaired";
		if (is_begin_wrong(work, head, last_ticks) && head->end_ns >= ns) {
			head->begin_ns = head->end_ns - ns;
			wrong = "its beginning was wrong, and is repaired";
		} else {
			head->end_ns =
				ns < INT64_MAX - head->begin_ns ? head->begin_ns + ns : INT64_MAX;
		}
	}
	head->end_ticks = last_ticks;
	return wrong;
}

/* -----------------------------------------------------------------------------------------------
 * Writing
 */

static void stream_flush(struct work *work)
{
	struct ct_repair_stream *stream = work->stream;

	if (work->out.failed)
		work->status = CTRACE_NOT_ENOUGH_MEMORY;
	if (work->status == CTRACE_OK && work->out.size > 0 && work->out_fd < 0)
		work->status = ct_os_open_file(stream->directory_fd, stream->name,
					       O_WRONLY | O_CREAT | O_EXCL, &work->out_fd);
	if (work->status == CTRACE_OK && work->out.size > 0)
		work->status = ct_os_write_at(work->out_fd, work->out.data, work->out.size,
					      stream->written);
	if (work->status == CTRACE_OK)
		stream->written += work->out.size;
	ct_buf_clear(&work->out);
}

/* Viewers count missing packets between two others.  When the first packets are missing, an empty
 * packet 0 makes the gap visible. */
static void write_beginning(struct work *work, const struct ct_packet_head *first)
{
	struct ct_packet_head head = *first;
	unsigned char bytes[CT_PACKET_HEAD];

	if (work->has_last || !work->has_damage || first->sequence == 0)
		return;
	head.end_ns = head.begin_ns;
	head.end_ticks = head.begin_ticks;
	head.sequence = head.discarded = 0;
	head.content_bits = head.packet_bits = 8 * CT_PACKET_HEAD;
	ct_packet_head_put(bytes, &head);
	ct_buf_add(&work->out, bytes, sizeof bytes);
}

static void write_packet(struct work *work, struct packet *packet)
{
	size_t start;

	write_beginning(work, &packet->head);
	start = work->out.size;
	if (packet->is_repaired && !packet->bytes.failed) {
		packet->head.content_bits = packet->head.packet_bits =
			8 * (uint32_t)packet->bytes.size;
		ct_packet_head_put((unsigned char *)packet->bytes.data, &packet->head);
	}
	ct_buf_add(&work->out, packet->bytes.data, packet->bytes.size);
	work->repair->events += packet->events;
	if (packet->is_repaired)
		work->repair->repaired++;
	else
		work->repair->packets++;
	work->last = packet->head;
	work->has_last = true;
	work->stream->last_at = work->stream->written + start;
	if (work->out.size >= WRITE_AT_ONCE)
		stream_flush(work);
}

/* -----------------------------------------------------------------------------------------------
 * Which packets
 */

/* Compares ticks, since the wall clock may have been set between the two. */
static bool packet_is_before(const struct ct_packet_head *a, const struct ct_packet_head *b)
{
	return a->end_ticks <= b->begin_ticks;
}

static void packet_correct(struct work *work, struct packet *packet, uint64_t *value,
			   uint64_t right, const char *message)
{
	*value = right;
	packet->is_repaired = true;
	stream_report(work, packet->at, 0, message);
}

/* Repairs a number that must not fall: it lies between `least`, from the last written packet, and
 * `most`, from the next packet if known. */
static void packet_correct_number(struct work *work, struct packet *packet, uint64_t *value,
				  uint64_t least, const uint64_t *most, const char *message)
{
	if (*value < least || (most == NULL && *value - least > UNLIKELY))
		packet_correct(work, packet, value, least, message);
	else if (most != NULL && *value > *most && *most >= least)
		packet_correct(work, packet, value, *most, message);
}

static uint64_t packet_end(const struct packet *packet)
{
	return packet->at + packet->head.packet_bits / 8;
}

/* Repairs the number of a packet.  Viewers count losses by it, so a wrong number invents a loss or
 * hides one.  A number that contradicts its neighbours becomes the number that the position in the
 * file implies. */
static void packet_correct_sequence(struct work *work, struct packet *packet,
				    const struct packet *next)
{
	static const char message[] = "its number was wrong, and is repaired";
	uint64_t *value = &packet->head.sequence;
	uint64_t least = work->has_last ? work->last.sequence + 1 : 0;
	bool has_most = next != NULL && next->head.sequence > 0;
	uint64_t most = has_most ? next->head.sequence - 1 : UINT64_MAX;
	bool follows = work->has_last && packet->at == work->last_end;
	bool leads = next != NULL && next->at == packet_end(packet);

	/* A packet that does not begin where the last one ended has lost at least one before it. */
	if (*value < least)
		packet_correct(work, packet, value,
			       follows                             ? least
			       : has_most && leads && most > least ? most
								   : least + (most > least),
			       message);
	else if (has_most && *value > most && most >= least)
		packet_correct(work, packet, value, follows ? least : most, message);
	else if (!has_most && *value - least > UNLIKELY)
		packet_correct(work, packet, value, least, message);
	else if (next == NULL && follows && *value > least && work->consecutive >= 2 &&
		 work->gaps == 0 && !work->stream->has_gaps)
		packet_correct(work, packet, value, least, message);
	if (follows) {
		work->consecutive += *value == least;
		work->gaps += *value != least;
	}
}

static void write_pending(struct work *work, const struct packet *next)
{
	struct packet *packet = work->pending;
	uint64_t most_discarded = 0;

	if (packet == NULL)
		return;
	work->pending = NULL;
	if (next != NULL)
		most_discarded = next->head.discarded;
	packet_correct_sequence(work, packet, next);
	packet_correct_number(work, packet, &packet->head.discarded,
			      work->has_last ? work->last.discarded : 0,
			      next != NULL ? &most_discarded : NULL,
			      "its count of lost events was wrong, and is repaired");
	work->last_end = packet_end(packet);
	write_packet(work, packet);
}

static void packet_drop(struct work *work, const struct packet *packet)
{
	stream_report(work, packet->at, packet->size,
		      "its time is not between those of its neighbours");
}

/* Queues a packet that is consistent by itself, or drops the one that does not fit. */
static void packet_offer(struct work *work, struct packet *packet)
{
	bool fits_last = !work->has_last || packet_is_before(&work->last, &packet->head);
	bool fits_pending =
		work->pending == NULL || packet_is_before(&work->pending->head, &packet->head);

	if (fits_pending && fits_last) {
		write_pending(work, packet);
		work->pending = packet;
	} else if (fits_last) {
		packet_drop(work, work->pending);
		work->pending = packet;
	} else {
		packet_drop(work, packet);
	}
}

/* Reads the head behind the packet, found by the packet's size.  Returns false when it is not a
 * later head of this stream. */
static bool packet_follower(const struct work *work, const struct packet *packet,
			    struct ct_packet_head *out)
{
	/* not through the window: a hostile file could make us fill it again and again */
	unsigned char bytes[CT_PACKET_HEAD];
	size_t available;

	return ct_os_read_at(work->stream->fd, bytes, sizeof bytes,
			     packet->at + packet->head.packet_bits / 8, &available) == CTRACE_OK &&
	       head_is_ours(work, bytes, available, out) && out->sequence > packet->head.sequence &&
	       out->begin_ticks >= packet->head.begin_ticks;
}

/* Reads again a packet with events later than its end.  Either the end or an event's time is wrong;
 * the head of the next packet decides. */
static size_t packet_read_again(struct work *work, const unsigned char *bytes, size_t content,
				struct packet *packet, uint64_t *last_ticks, size_t good)
{
	struct ct_packet_head next;
	uint64_t limit;

	if (*last_ticks <= packet->head.end_ticks || !packet_follower(work, packet, &next))
		return good;
	limit = next.begin_ticks > packet->head.end_ticks ? next.begin_ticks
							  : packet->head.end_ticks;
	return read_events(work, bytes, content, limit, packet, last_ticks);
}

/* Returns the position behind a damaged packet whose first `good` bytes are readable. */
static uint64_t packet_behind(struct work *work, const struct packet *packet, size_t good)
{
	struct ct_packet_head next;

	/* A size that leads to a head is trusted.  Any other size may be damaged and cover the next
	 * head, so the search begins behind the last good event. */
	return packet_follower(work, packet, &next) ? packet->at + packet->head.packet_bits / 8
						    : find_packet(work, packet->at + good);
}

/* Does a stream file, compressed or not, have this number?  Then a packet with the number belongs
 * to that file. */
static bool has_stream(const struct work *work, uint32_t number)
{
	const char *path = work->stream->path, *slash = strrchr(path, '/');
	bool found = false;
	char *other;

	if (asprintf(&other, "%.*sstream.%u" CT_STREAM_PACKED,
		     slash != NULL ? (int)(slash + 1 - path) : 0, path, number) < 0)
		return true;
	found = access(other, F_OK) == 0;
	other[strlen(other) - (sizeof CT_STREAM_PACKED - 1)] = '\0';
	found = found || access(other, F_OK) == 0;
	free(other);
	return found;
}

/* Accepts a head in which only the stream's number is wrong.  It must fit between its neighbours,
 * and its size must lead to the next packet or to the end of the file. */
static bool misnumbered_at(struct work *work, uint64_t at, struct ct_packet_head *out)
{
	const struct ct_packet_head *before = work->pending != NULL ? &work->pending->head
					      : work->has_last      ? &work->last
								    : NULL;
	unsigned char bytes[CT_PACKET_HEAD];
	size_t available;
	const unsigned char *seen = stream_look(work, at, CT_PACKET_HEAD, &available);
	struct ct_packet_head next;

	if (ct_packet_decode_head(seen, available, out) != CTRACE_OK || out->begin_ns > INT64_MAX ||
	    out->begin_ticks > work->stream->most_ticks ||
	    memcmp(out->uuid, work->stream->uuid, sizeof out->uuid) != 0)
		return false;
	if (before != NULL && (out->sequence <= before->sequence || !packet_is_before(before, out)))
		return false;
	if (ct_os_read_at(work->stream->fd, bytes, sizeof bytes, at + out->packet_bits / 8,
			  &available) != CTRACE_OK)
		return false;
	if (available == 0)
		return before != NULL || !has_stream(work, out->stream_instance);
	return head_is_ours(work, bytes, available, &next) && next.sequence > out->sequence &&
	       packet_is_before(out, &next);
}

/* ctrace writes no padding, so a size that covers the next packet of the stream is wrong. */
static size_t packet_size(struct work *work, uint64_t at, const struct ct_packet_head *head)
{
	uint64_t content = head->content_bits / 8;
	struct ct_packet_head next;

	return (size_t)(head_at(work, at + content, &next) && next.sequence > head->sequence
				? content
				: head->packet_bits / 8);
}

/* Reports the damage of a packet whose first `good` bytes are right. */
static void report_packet(struct work *work, const struct packet *packet,
			  const struct ct_packet_head *head, size_t good, uint64_t next,
			  bool is_cut)
{
	if (next != 0)
		stream_report(work, packet->at + good, next - packet->at - good,
			      is_cut ? "the file ends inside a packet"
				     : "this is no event of the trace");
	else if (packet->size != head->packet_bits / 8)
		stream_report(work, packet->at, 0, "its size was wrong, and is repaired");
	if (head->stream_instance != work->stream->id)
		stream_report(work, packet->at, 0,
			      "its stream's number was wrong, and is repaired");
}

/* Reads the packet at `at`, which has a head.  Returns the position to continue at. */
static uint64_t take_packet(struct work *work, uint64_t at, const struct ct_packet_head *head)
{
	struct packet *packet =
		work->pending == &work->packets[0] ? &work->packets[1] : &work->packets[0];
	size_t size = packet_size(work, at, head), content = (size_t)(head->content_bits / 8),
	       available, good;
	const unsigned char *bytes = stream_look(work, at, size, &available);
	const char *wrong;
	uint64_t last_ticks, next;
	bool is_whole;

	packet->at = at;
	packet->head = *head;
	packet->head.stream_instance = work->stream->id;
	packet->head.packet_bits = 8 * (uint32_t)size;
	good = read_events(work, bytes, content < available ? content : available,
			   work->stream->most_ticks, packet, &last_ticks);
	good = packet_read_again(work, bytes, content < available ? content : available, packet,
				 &last_ticks, good);
	is_whole = good == content && size <= available;
	/* The next look moves the window. */
	ct_buf_clear(&packet->bytes);
	ct_buf_add(&packet->bytes, bytes, is_whole ? size : good);
	work->out.failed |= packet->bytes.failed;
	next = is_whole ? at + size : packet_behind(work, packet, good);
	packet->size = is_whole ? size : good;
	if (!is_whole && packet->events == 0) {
		stream_report(work, at, next - at,
			      available < size ? "the file ends inside a packet"
					       : "no event of this packet can be read");
		return next;
	}
	wrong = packet_correct_times(work, &packet->head, last_ticks, is_whole);
	packet->is_repaired = !is_whole || wrong != NULL || size != head->packet_bits / 8 ||
			      head->stream_instance != work->stream->id;
	if (packet->is_repaired && packet->bytes.size > good)
		packet->bytes.size = good; /* no padding */
	if (is_whole && wrong != NULL)
		stream_report(work, at, 0, wrong);
	report_packet(work, packet, head, good, is_whole ? 0 : next, available < size);
	packet_offer(work, packet);
	return next;
}

static void stream_walk(struct work *work)
{
	uint64_t at = 0;

	while (work->status == CTRACE_OK) {
		struct ct_packet_head head;
		size_t available;

		(void)stream_look(work, at, CT_PACKET_HEAD, &available);
		if (available == 0)
			break;
		if (head_at(work, at, &head) || misnumbered_at(work, at, &head)) {
			at = take_packet(work, at, &head);
		} else {
			uint64_t next = find_packet(work, at + 1);

			stream_report(work, at, next - at, "this is no packet of the trace");
			at = next;
		}
	}
	write_pending(work, NULL);
	stream_flush(work);
}

enum ctrace_status ct_repair_stream(struct ct_repair *repair, struct ct_repair_stream *stream)
{
	struct work work = { .repair = repair, .stream = stream, .out_fd = -1 };

	stream->written = 0;
	work.window = malloc(WINDOW);
	work.window_capacity = WINDOW;
	if (work.window == NULL)
		work.status = CTRACE_NOT_ENOUGH_MEMORY;
	else
		stream_walk(&work);
	ct_os_close(&work.out_fd);
	ct_buf_fini(&work.packets[0].bytes);
	ct_buf_fini(&work.packets[1].bytes);
	ct_buf_fini(&work.out);
	free(work.window);
	return work.status;
}
