/*
 * closing_mark.c - finds stream files of a BINFILE trace that have fewer bytes than the closing
 * mark in its metadata counts.
 *
 * Called by source_bin.c and repair.c, on one thread, with directories that may be hostile or
 * change meanwhile.  A file that is missing or empty, or ends between two packets, shows no damage:
 * only the mark reveals the loss.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/source.h"

#include "lib/emit/binfile.h"
#include "read/packet_index.h"
#include "read/stream_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A stream that lacks bytes. */
struct shortage {
	char name[32]; /* of the stream's file */
	bool is_there;
	uint64_t size;
	uint64_t wanted;
};

struct check {
	const char *directory;
	const char *only; /* or NULL */
	const uint8_t *uuid;
	int directory_fd;
	struct ct_buf text;
	struct shortage *found;
	size_t count;
};

/* Returns the mark in the text; NULL when something follows it, because the trace was continued. */
static const char *mark_find(const struct ct_buf *text)
{
	size_t end = 0;
	const char *mark =
		text->size > 0 ? ct_bin_mark_find(text->data, text->size, CT_BIN_MARK_CLOSED, &end)
			       : NULL;

	return end == text->size ? mark : NULL;
}

/* Finds the file of the stream `plain`, and its size.  Returns false when the mark does not apply:
 * the file is compressed, or not regular. */
static bool shortage_measure(const struct check *check, const char *plain, struct shortage *out)
{
	/* the third try finds a file that was decompressed meanwhile */
	const char *const endings[] = { "", CT_STREAM_PACKED, "" };
	struct stat info;

	for (size_t i = 0; i < CT_COUNT(endings); i++) {
		(void)snprintf(out->name, sizeof out->name, "%s%s", plain, endings[i]);
		out->is_there =
			fstatat(check->directory_fd, out->name, &info, AT_SYMLINK_NOFOLLOW) == 0;
		if (!out->is_there && errno != ENOENT)
			return false;
		out->size = out->is_there ? (uint64_t)info.st_size : 0;
		if (out->is_there)
			return S_ISREG(info.st_mode) &&
			       (endings[i][0] == '\0' || info.st_size == 0);
	}
	return true;
}

/* Do packets reach exactly to the end of the file?  If not, the reader of the file reports the
 * damage. */
static bool file_ends_between_packets(const struct check *check, const char *name)
{
	int fd = openat(check->directory_fd, name,
			O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	struct ct_packet_head first, last;
	uint32_t reads;
	bool is_between = fd >= 0 &&
			  ct_packet_index_ends(fd, check->uuid, &first, &last, &reads) == CTRACE_OK;

	ct_os_close(&fd);
	return is_between;
}

static bool stream_is_selected(const struct check *check, const char *plain)
{
	size_t size = strlen(plain);

	return check->only == NULL ||
	       (strncmp(check->only, plain, size) == 0 &&
		(check->only[size] == '\0' || strcmp(check->only + size, CT_STREAM_PACKED) == 0));
}

static bool shortage_add(struct check *check, const struct shortage *shortage)
{
	struct shortage *found = reallocarray(check->found, check->count + 1, sizeof *found);

	if (found == NULL)
		return false;
	check->found = found;
	found[check->count++] = *shortage;
	return true;
}

static void shortages_find(struct check *check, const char *at)
{
	const char *end = check->text.data + check->text.size;
	struct shortage shortage;
	struct ct_bin_mark line;
	uint64_t next_id = 0;
	uint32_t id;

	/* The ids must rise, so that a hostile mark cannot name a stream twice. */
	for (at += sizeof CT_BIN_MARK_CLOSED - 1;
	     ct_bin_mark_next(&at, end, &id, &line) == CTRACE_OK && id >= next_id;
	     next_id = (uint64_t)id + 1) {
		char plain[24] = "stream.lost";

		shortage.wanted = line.value;
		if (id != CT_BIN_LOST)
			(void)snprintf(plain, sizeof plain, "stream.%u", id);
		if (!stream_is_selected(check, plain) ||
		    !shortage_measure(check, plain, &shortage) || shortage.size >= shortage.wanted)
			continue;
		if ((shortage.size == 0 || file_ends_between_packets(check, shortage.name)) &&
		    !shortage_add(check, &shortage))
			return;
	}
}

pid_t ct_metadata_lock_holder(int directory_fd, const char *path)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = openat(directory_fd, path,
			O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	bool is_locked = fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;

	ct_os_close(&fd);
	return is_locked ? lock.l_pid : 0;
}

/* Returns true while a process replaces the trace: it removes the streams before it renames the new
 * metadata, and holds a lock on the new file until then. */
static bool trace_is_being_replaced(const struct check *check)
{
	return ct_metadata_lock_holder(check->directory_fd, CT_BIN_TEMPORARY) != 0;
}

static bool metadata_read(const struct check *check, struct ct_buf *out)
{
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;
	char *path;

	ct_buf_init(out);
	if (asprintf(&path, "%s/metadata", check->directory) >= 0) {
		status = ct_os_read_file(path, CT_METADATA_LIMIT, out);
		free(path);
	}
	return status == CTRACE_OK;
}

/* Are the metadata unchanged?  Every trace has its own uuid in them, so those of a new trace
 * differ. */
static bool metadata_are_unchanged(const struct check *check)
{
	struct ct_buf text;
	bool is_same = metadata_read(check, &text) && text.size == check->text.size &&
		       memcmp(text.data, check->text.data, text.size) == 0;

	ct_buf_fini(&text);
	return is_same;
}

static void report_shortage(const struct check *check, const struct shortage *shortage,
			    ct_read_report *report, void *user)
{
	bool is_unread = shortage->size == 0;
	char message[96], *path;
	struct ct_read_note note = { .kind = is_unread ? CT_NOTE_UNREAD : CT_NOTE_DAMAGE,
				     .offset = shortage->size,
				     .bytes = is_unread ? 0 : shortage->wanted - shortage->size,
				     .message = message };

	(void)snprintf(message, sizeof message, "the file %s; metadata says that it had %llu bytes",
		       !shortage->is_there ? "is missing"
		       : is_unread         ? "is empty"
					   : "ends here",
		       (unsigned long long)shortage->wanted);
	if (asprintf(&path, "%s/%s", check->directory, shortage->name) < 0)
		return;
	note.path = path;
	report(&note, user);
	free(path);
}

void ct_closing_mark_check(const char *directory, const char *only, const uint8_t uuid[16],
			   ct_read_report *report, void *user)
{
	struct check check = { .directory = directory, .only = only, .uuid = uuid };
	const char *mark;

	check.directory_fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	mark = metadata_read(&check, &check.text) ? mark_find(&check.text) : NULL;
	if (mark != NULL && check.directory_fd >= 0)
		shortages_find(&check, mark);
	ct_point("closing_mark.measured");
	/* The order matters: metadata that were renamed after the first check are found by the
	 * second. */
	if (check.count > 0 && !trace_is_being_replaced(&check) && metadata_are_unchanged(&check))
		for (size_t i = 0; i < check.count; i++)
			report_shortage(&check, &check.found[i], report, user);
	ct_buf_fini(&check.text);
	free(check.found);
	ct_os_close(&check.directory_fd);
}
