/*
 * repair_info.c - finds out which process wrote a damaged trace and by which clock: from its
 * metadata, from other metadata of the same process, or from the packets.
 *
 * Called by repair.c, on one thread, with files that may be hostile.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/repair/repair_trace.h"

#include "lib/emit/binfile.h"
#include "read/binfile_metadata.h"
#include "read/source.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD_SEARCH ((size_t)2 << 20) /* of a stream file, for its first head */
#define NS_A_SECOND 1000000000u

/* The first bytes of a stream file, compressed or not. */
static void read_beginning(const char *path, bool is_compressed, void *out, size_t *out_size)
{
	struct ct_unpacked unpacked = { .fd = -1 };
	int fd = ct_repair_open(path);

	*out_size = 0;
	if (fd >= 0 && is_compressed) {
		(void)!ct_unpack(fd, HEAD_SEARCH, &unpacked);
		ct_os_close(&fd);
		fd = unpacked.fd;
	}
	if (fd >= 0 && ct_os_read_at(fd, out, HEAD_SEARCH, 0, out_size) != CTRACE_OK)
		*out_size = 0;
	ct_os_close(&fd);
}

/* The facts in the packet heads at a stream's beginning. */
struct answer {
	struct ct_packet_head head; /* the first */
	bool found;
	bool agrees; /* one has the uuid that was asked for */
	struct ct_repair_clock clock;
};

static void ask_bytes(const unsigned char *bytes, size_t size, uint32_t id, const uint8_t uuid[16],
		      struct answer *answer)
{
	for (size_t at = ct_packet_find(bytes, size, 0); at < size;
	     at = ct_packet_find(bytes, size, at + 1)) {
		struct ct_packet_head head;

		if (ct_packet_decode_head(bytes + at, size - at, &head) != CTRACE_OK ||
		    head.stream_instance != id)
			continue;
		answer->agrees |= memcmp(head.uuid, uuid, sizeof head.uuid) == 0;
		ct_repair_clock_add(&answer->clock, &head);
		if (!answer->found)
			answer->head = head;
		answer->found = true;
	}
}

static void ask_stream(const char *directory, const char *name, const uint8_t uuid[16],
		       struct answer *answer)
{
	unsigned char *bytes = malloc(HEAD_SEARCH);
	bool is_compressed;
	char *path = NULL;
	size_t size;
	uint32_t id;

	if (bytes != NULL && asprintf(&path, "%s/%s", directory, name) >= 0 &&
	    ct_repair_stream_name(name, &id, &is_compressed)) {
		read_beginning(path, is_compressed, bytes, &size);
		ask_bytes(bytes, size, id, uuid, answer);
	}
	free(path);
	free(bytes);
}

/* Finds out from the packets which process wrote them. */
static struct answer ask_packets(const char *directory, const uint8_t uuid[16])
{
	struct answer answer = { .found = false };
	struct dirent **entries;
	int count = scandir(directory, &entries, ct_repair_is_stream, versionsort);

	for (int i = 0; i < count; i++) {
		if (!answer.agrees)
			ask_stream(directory, entries[i]->d_name, uuid, &answer);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return answer;
}

/* Takes over the text if it is the metadata of a trace.  Unless the user named the file
 * (is_chosen), it must be of the process that wrote the packets. */
static bool borrow_from(struct ct_repair_trace *trace, const char *path, uint32_t pid,
			bool is_chosen)
{
	struct ct_trace_info info;
	struct ct_buf text;
	size_t at = 0;
	bool is_taken;

	ct_buf_init(&text);
	is_taken = ct_os_read_file(path, CT_METADATA_LIMIT, &text) == CTRACE_OK && text.size > 0 &&
		   ct_binfile_info_parse(text.data, text.size, &info, &at) == CTRACE_OK &&
		   (is_chosen || info.pid == pid);
	if (is_taken) {
		ct_buf_fini(&trace->text);
		trace->text = text;
		trace->info = info;
		trace->info.pid = pid;
	} else {
		ct_buf_fini(&text);
	}
	return is_taken;
}

/* "app.ctb_2" -> "app.ctb": the common stem of a trace's generations. */
static size_t stem_size(const char *name)
{
	size_t size = strlen(name), digits = size;

	while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	return digits < size && digits > 1 && name[digits - 1] == '_' ? digits - 1 : size;
}

/* Does the link of an open file lead to the metadata of that directory, perhaps removed since? */
static bool is_metadata_of(const char *link, const char *directory)
{
	static const char name[] = "/metadata", gone[] = "/metadata (deleted)";
	size_t size = strlen(directory);

	return strncmp(link, directory, size) == 0 &&
	       (strcmp(link + size, name) == 0 || strcmp(link + size, gone) == 0);
}

/* A process that still writes the trace still has the metadata file open, even if its name is
 * gone. */
static bool borrow_from_process(struct ct_repair_trace *trace, uint32_t pid)
{
	char *directory = realpath(trace->directory, NULL), path[64], link[PATH_MAX];
	const struct dirent *entry;
	bool is_taken = false;
	DIR *files;

	(void)snprintf(path, sizeof path, "/proc/%u/fd", pid);
	files = directory != NULL ? opendir(path) : NULL;
	while (files != NULL && !is_taken && (entry = readdir(files)) != NULL) {
		ssize_t size = readlinkat(dirfd(files), entry->d_name, link, sizeof link - 1);

		if (size < 0)
			continue;
		link[size] = '\0';
		(void)snprintf(path, sizeof path, "/proc/%u/fd/%.16s", pid, entry->d_name);
		is_taken = is_metadata_of(link, directory) && borrow_from(trace, path, pid, false);
	}
	if (files != NULL)
		(void)closedir(files);
	free(directory);
	return is_taken;
}

/* Another generation of the same process has the same classes of events.  Their order is the same
 * only as far as the program traces in the same order, so the loan is reported.  Every event of the
 * copy decodes by these classes. */
static bool borrow_from_generation(struct ct_repair_trace *trace, uint32_t pid)
{
	const char *slash = strrchr(trace->directory, '/'),
		   *name = slash != NULL ? slash + 1 : trace->directory;
	char *parent = slash != NULL
			       ? strndup(trace->directory, (size_t)(slash - trace->directory + 1))
			       : strdup("./");
	struct dirent **entries;
	bool is_taken = false;
	int count;

	count = parent != NULL ? scandir(parent, &entries, NULL, versionsort) : -1;
	for (int i = 0; i < count; i++) {
		const char *other = entries[i]->d_name;
		char *path = NULL;

		if (!is_taken && strcmp(other, name) != 0 && stem_size(other) == stem_size(name) &&
		    strncmp(other, name, stem_size(name)) == 0 &&
		    asprintf(&path, "%s%s/metadata", parent, other) >= 0)
			is_taken = borrow_from(trace, path, pid, false);
		free(path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	free(parent);
	return is_taken;
}

/* Returns a text for people that names the source of other metadata; NULL when there are none. */
static const char *borrow_metadata(struct ct_repair_trace *trace, uint32_t pid)
{
	if (trace->repair->metadata != NULL)
		return borrow_from(trace, trace->repair->metadata, pid, true)
			       ? "cannot be read, and is taken from the file that was named"
			       : NULL;
	if (borrow_from_process(trace, pid))
		return "cannot be read, and is taken from the process, which has it open";
	return borrow_from_generation(trace, pid)
		       ? "cannot be read, and is taken from another generation of the same process"
		       : NULL;
}

/* status, error: the result of reading the file. */
static void report_maker_unknown(struct ct_repair_trace *trace, size_t at,
				 enum ctrace_status status, int error)
{
	char message[160];

	if (status == CTRACE_OK && trace->text.size > 0)
		(void)snprintf(
			message, sizeof message,
			"the process of the trace is not understood, and taken from the packets");
	else
		(void)snprintf(message, sizeof message,
			       "%s: the process of the trace is taken from the packets",
			       status == CTRACE_OK          ? "the file is empty"
			       : status == CTRACE_NOT_FOUND ? "there is no such file"
							    : ct_repair_refusal_text(error));
	ct_repair_report_damage(trace->repair, trace->metadata_path, at, 0, message);
}

/* Viewers compute times by the metadata alone.  is_own, is_borrowed: the metadata are the trace's
 * own, or borrowed; if neither, the clock is unknown. */
static void set_clock(struct ct_repair_trace *trace, const struct ct_repair_clock *clock,
		      bool is_own, bool is_borrowed)
{
	if ((is_own || is_borrowed) && ct_repair_clock_agrees(clock, &trace->info, is_own)) {
		trace->frequency = trace->info.frequency != 0 ? trace->info.frequency : NS_A_SECOND;
		return;
	}
	if (is_own)
		ct_repair_report_damage(trace->repair, trace->metadata_path, 0, 0,
					"its clock is not that of the packets, and is repaired");
	trace->frequency = ct_repair_clock_set(clock, &trace->info);
}

enum ctrace_status ct_repair_trace_info(struct ct_repair_trace *trace)
{
	enum ctrace_status status =
		ct_os_read_file(trace->metadata_path, CT_METADATA_LIMIT, &trace->text);
	int error = errno;
	const char *borrowed = NULL;
	struct answer answer;
	size_t at = 0;
	bool knows;

	/* A read error is not damage: going on would invent metadata. */
	if (status == CTRACE_NOT_ENOUGH_MEMORY || status == CTRACE_OS_ERROR)
		return status;
	/* An unreadable file is not damage either. */
	if (status == CTRACE_DENIED && ct_repair_is_refusal(errno) &&
	    trace->repair->metadata == NULL)
		return status;
	knows = status == CTRACE_OK && ct_binfile_info_parse(trace->text.data, trace->text.size,
							     &trace->info, &at) == CTRACE_OK;
	answer = ask_packets(trace->directory, trace->info.uuid);
	if (!knows && !answer.found)
		return CTRACE_NOT_FOUND;
	if (!knows && (trace->text.size == 0 || trace->repair->metadata != NULL))
		borrowed = borrow_metadata(trace, answer.head.pid);
	if (borrowed != NULL) {
		ct_repair_report_damage(trace->repair, trace->metadata_path, 0, 0, borrowed);
	} else if (!knows) {
		report_maker_unknown(trace, at, status, error);
		trace->info = (struct ct_trace_info){ .pid = answer.head.pid };
	} else if (answer.found && !answer.agrees) {
		ct_repair_report_damage(trace->repair, trace->metadata_path, 0, 0,
					"the uuid is not that of the packets, and is repaired");
	}
	if (!knows || (answer.found && !answer.agrees))
		memcpy(trace->info.uuid, answer.head.uuid, sizeof answer.head.uuid);
	set_clock(trace, &answer.clock, knows, borrowed != NULL);
	return CTRACE_OK;
}
