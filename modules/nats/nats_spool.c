/*
 * nats_spool.c - the traces of a spool: which are to be sent to this address, and removing those
 * that the servers have.
 *
 * A trace is complete when BINFILE's closing mark ends its metadata, or a recoverer has marked it
 * (CT_SPOOL_ENDED).  Until then its process, or the recovery of that, may change its last bytes.
 * It is removed under the lock that writers take, and under another name first, so that no process
 * goes on in it and no forwarder sees a part of it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "nats_forward.h"

#include "lib/emit/binfile.h"
#include "lib/emit/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEASURE_MS 1000 /* between two measurements of a spool */
#define MEASURE_SHARE 9 /* one takes a tenth of a processor at most */
#define GONE ".gone."   /* the beginning of the name of a trace that is being removed */

/* Removes the files of a trace, and the directory if it is empty then. */
static void directory_remove(int parent_fd, const char *name)
{
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	if (directory == NULL) {
		if (fd >= 0)
			(void)close(fd);
		return;
	}
	while ((entry = readdir(directory)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			(void)unlinkat(fd, entry->d_name, 0);
	(void)closedir(directory);
	(void)unlinkat(parent_fd, name, AT_REMOVEDIR);
}

static enum ctrace_status directory_look(struct ct_nats_forwarder *forward, const char *path,
					 unsigned depth)
{
	char inner[CTRACE_EMITTER_PATH_SIZE + 300], address[CT_SPOOL_ADDRESS_SIZE],
		boot[CT_SPOOL_BOOT_SIZE];
	enum ctrace_status status = CTRACE_OK;
	DIR *directory = opendir(path);
	const struct dirent *entry;

	if (directory == NULL)
		return depth == CT_SPOOL_DEPTH ? ct_nats_forward_fail(forward, CTRACE_NOT_FOUND,
								      path, strerror(errno))
					       : CTRACE_OK;
	while (status == CTRACE_OK && (entry = readdir(directory)) != NULL) {
		struct stat info;

		if (fstatat(dirfd(directory), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISDIR(info.st_mode) || info.st_uid != geteuid())
			continue;
		/* A forwarder was killed while it removed this. */
		if (strncmp(entry->d_name, GONE, sizeof GONE - 1) == 0)
			directory_remove(dirfd(directory), entry->d_name);
		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
		if (!ct_spool_get_address(inner, address, boot)) {
			if (depth > 0)
				status = directory_look(forward, inner, depth - 1);
		} else if (strcmp(address, forward->copy->address) == 0) {
			status = ct_nats_trace_add(forward, inner);
		}
	}
	(void)closedir(directory);
	return status;
}

enum ctrace_status ct_nats_spool_look(struct ct_nats_forwarder *forward)
{
	enum ctrace_status status;

	for (struct ct_nats_trace *trace = forward->traces; trace != NULL; trace = trace->next)
		trace->is_there = false;
	status = directory_look(forward, forward->copy->paths[0], CT_SPOOL_DEPTH);
	for (struct ct_nats_trace **at = &forward->traces; *at != NULL && status == CTRACE_OK;) {
		struct ct_nats_trace *trace = *at;

		if (trace->is_there) {
			at = &trace->next;
			continue;
		}
		*at = trace->next;
		ct_nats_trace_free(trace);
	}
	return status;
}

bool ct_nats_spool_is_complete(const struct ct_nats_trace *trace, const char *text, size_t size)
{
	char path[CTRACE_EMITTER_PATH_SIZE + 300];
	size_t end = 0;

	if (ct_bin_mark_find(text, size, CT_BIN_MARK_CLOSED, &end) != NULL && end == size)
		return true;
	(void)snprintf(path, sizeof path, "%s/" CT_SPOOL_ENDED, trace->path);
	return access(path, F_OK) == 0;
}

/* Was each stream of the directory sent?  Bytes that can be no packet are left. */
static bool streams_are_sent(const struct ct_nats_trace *trace, int directory_fd)
{
	bool are_sent = true;
	int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	if (directory == NULL) {
		if (fd >= 0)
			(void)close(fd);
		return false;
	}
	while (are_sent && (entry = readdir(directory)) != NULL) {
		const struct ct_nats_file *file = trace->files;
		struct stat info;

		if (!ct_nats_name_is_stream(entry->d_name))
			continue;
		while (file != NULL && strcmp(file->name, entry->d_name) != 0)
			file = file->next;
		are_sent = fstatat(directory_fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
			   (!S_ISREG(info.st_mode) || info.st_size == 0 ||
			    (file != NULL && (uint64_t)info.st_size < file->sent + CT_PACKET_HEAD &&
			     (uint64_t)info.st_size >= file->sent));
	}
	(void)closedir(directory);
	return are_sent;
}

/* Returns false when something was written to it, or somebody has it open. */
static bool trace_remove(const struct ct_nats_trace *trace)
{
	char path[CTRACE_EMITTER_PATH_SIZE + 300], gone[CTRACE_EMITTER_PATH_SIZE + 320];
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	const char *name = strrchr(trace->path, '/');
	int metadata,
		directory = open(trace->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat info;
	bool is_removed = false;

	if (directory < 0)
		return true;
	metadata =
		openat(directory, CT_NATS_METADATA, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (metadata >= 0 && fcntl(metadata, F_OFD_SETLK, &lock) == 0 &&
	    fstat(metadata, &info) == 0 && (uint64_t)info.st_size == trace->metadata.sent &&
	    streams_are_sent(trace, directory)) {
		(void)snprintf(path, sizeof path, "%.*s", (int)(name - trace->path), trace->path);
		(void)snprintf(gone, sizeof gone, "%s/" GONE "%s", path, name + 1);
		is_removed = rename(trace->path, gone) == 0;
	}
	if (is_removed) {
		directory_remove(AT_FDCWD, gone);
		(void)rmdir(path); /* of an external writer's segment; a spool has its lock file */
	}
	if (metadata >= 0)
		(void)close(metadata);
	(void)close(directory);
	return is_removed;
}

/* Returns how many bytes of traces that stay for a while are too many: what keeps the spool from
 * being at most half full. */
static uint64_t excess_measure(struct ct_nats_forwarder *forward, int64_t now_ms)
{
	uint64_t size, spare, limit = (uint64_t)forward->address.spool_size;
	struct ct_spool_state state;
	int64_t took_ms;

	if (now_ms < forward->measure_at_ms || !ct_spool_measure(forward->copy->paths[0], &state))
		return 0;
	took_ms = nats_Now() - now_ms;
	forward->measure_at_ms = now_ms + MEASURE_MS + took_ms * MEASURE_SHARE;
	ct_spool_disk(forward->copy->paths[0], &size, &spare);
	limit = size < limit ? size : limit;
	if (state.traces > CT_SPOOL_TRACES / 2 || spare < limit / 4)
		return UINT64_MAX;
	return state.bytes > limit / 2 ? state.bytes - limit / 2 : 0;
}

/* The servers write to their disks after a while, so they may lose what they have acknowledged. */
static bool trace_lingers(const struct ct_nats_forwarder *forward, struct ct_nats_trace *trace,
			  int64_t now_ms)
{
	if (!trace->is_complete || !trace->is_sent || trace->is_open)
		return false;
	if (trace->since_ms == 0)
		trace->since_ms = now_ms;
	return now_ms - trace->since_ms < forward->address.linger * 1000;
}

/* Those that have been acknowledged since `until_ms` or earlier. */
static void traces_remove(struct ct_nats_forwarder *forward, int64_t until_ms)
{
	for (struct ct_nats_trace **at = &forward->traces; *at != NULL;) {
		struct ct_nats_trace *trace = *at;

		if (trace->since_ms == 0 || trace->since_ms > until_ms) {
			at = &trace->next;
		} else if (trace_remove(trace)) {
			*at = trace->next;
			ct_nats_trace_free(trace);
		} else {
			trace->since_ms =
				0; /* something was written to it: it is looked at again */
			at = &trace->next;
		}
	}
}

void ct_nats_spool_remove(struct ct_nats_forwarder *forward)
{
	int64_t now_ms = nats_Now(), oldest_ms = INT64_MAX;
	uint64_t excess, removed = 0;

	for (struct ct_nats_trace *trace = forward->traces; trace != NULL; trace = trace->next)
		if (trace_lingers(forward, trace, now_ms) && trace->since_ms < oldest_ms)
			oldest_ms = trace->since_ms;
	traces_remove(forward, now_ms - forward->address.linger * 1000);
	excess = oldest_ms != INT64_MAX ? excess_measure(forward, now_ms) : 0;
	while (removed < excess && oldest_ms != INT64_MAX) {
		int64_t until_ms = oldest_ms;
		struct ct_spool_state state;

		oldest_ms = INT64_MAX;
		for (struct ct_nats_trace *trace = forward->traces; trace != NULL;
		     trace = trace->next) {
			if (trace->since_ms == until_ms && ct_spool_measure(trace->path, &state))
				removed += state.bytes;
			else if (trace->since_ms > until_ms && trace->since_ms < oldest_ms)
				oldest_ms = trace->since_ms;
		}
		traces_remove(forward, until_ms);
	}
}
