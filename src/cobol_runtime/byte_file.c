/*
 * byte_file.c - the byte stream routines, CBL_OPEN_FILE and its like: mf.mffh.xfh, property bsio.
 *
 * A handle of these routines is a descriptor of the process, so the kernel has the path of its
 * file.  On the thread of the COBOL program.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cobol_runtime/file.h"

#include <errno.h>
#include <string.h>

/* Event ids of mf.mffh.xfh. */
enum {
	BYTES_OPEN = 100,
	BYTES_OPEN_OUTPUT = 101,
	BYTES_DELETE = 102,
	BYTES_COPY = 103,
	BYTES_RENAME = 104,
	BYTES_CLOSE = 105,
	BYTES_READ = 106,
	BYTES_WRITE = 108,
	BYTES_FLUSH = 117,
};

#define END_OF_FILE 10
#define HANDLES 64 /* files whose path is known; of others it is asked each time */

static struct known_handle {
	int fd; /* less 1; 0: none */
	struct ct_known_file file;
} handles[HANDLES];

static bool bytes_are_watched(void)
{
	return ct_is_on(&ct_xfh, CTRACE_FATAL);
}

static bool property_is_on(void)
{
	return (atomic_load_explicit(&ct_xfh_properties, memory_order_relaxed) & CT_XFH_BYTES) != 0;
}

static int handle_fd(const unsigned char *handle)
{
	int fd = -1;

	if (handle != NULL)
		memcpy(&fd, handle, sizeof fd);
	return fd;
}

/* Numbers of these routines have their most significant byte first. */
static uint64_t number_of(const unsigned char *bytes, size_t size)
{
	uint64_t number = 0;

	for (size_t at = 0; bytes != NULL && at < size; at++)
		number = number << 8 | bytes[at];
	return number;
}

static struct known_handle *handle_slot(int fd)
{
	return &handles[(unsigned)fd % HANDLES];
}

static struct ct_name handle_path(int fd)
{
	struct known_handle *known = handle_slot(fd);

	if (fd < 0)
		return (struct ct_name){ "", 0 };
	if (known->fd != fd + 1) {
		known->fd = fd + 1;
		known->file = (struct ct_known_file){ 0 };
		(void)ct_file_path_read(&known->file, fd);
	}
	return ct_file_path(&known->file);
}

static void handle_remove(int fd)
{
	struct known_handle *known = handle_slot(fd);

	if (fd >= 0 && known->fd == fd + 1)
		known->fd = 0;
}

/* A call of one of the routines. */
struct bytes_call {
	uint32_t id;
	struct ct_name name;  /* of the file; or the kernel's */
	struct ct_name other; /* the new name of a copy or a renamed file */
	uint64_t offset;
	uint32_t bytes;
};

static void call_trace(const struct bytes_call *call, int result)
{
	struct ct_where where;
	uint32_t level = result == 0 || result == END_OF_FILE ? CTRACE_INFO : CTRACE_ERROR;

	if (level != CTRACE_ERROR && !property_is_on())
		return;
	where = ct_program_where();
	CTRACE(&ct_xfh, level, call->id, CTRACE_TEXT(call->name.text, call->name.size),
	       CTRACE_TEXT(call->other.text, call->other.size), CTRACE_I32(result),
	       CTRACE_U64(call->offset), CTRACE_U32(call->bytes),
	       CTRACE_TEXT(where.program.text, where.program.size), CTRACE_U32(where.line));
}

/* Where nothing was opened the file has the name that the program gave. */
static int opened(uint32_t id, const unsigned char *handle, int result)
{
	struct bytes_call call = { .id = id };
	int error = errno;

	if (result == 0)
		handle_remove(handle_fd(handle));
	if (!bytes_are_watched())
		return result;
	call.name = ct_program_argument(0);
	if (result == 0) {
		call.name = handle_path(handle_fd(handle));
	}
	call_trace(&call, result);
	errno = error;
	return result;
}

int cob_sys_open_file(unsigned char *name, unsigned char *access, unsigned char *lock,
		      unsigned char *device, unsigned char *handle)
{
	int result = PASS(cob_sys_open_file, name, access, lock, device, handle);

	return opened(access != NULL && (*access & 0x3F) == 2 ? BYTES_OPEN_OUTPUT : BYTES_OPEN,
		      handle, result);
}

int cob_sys_create_file(unsigned char *name, unsigned char *access, unsigned char *lock,
			unsigned char *device, unsigned char *handle)
{
	int result = PASS(cob_sys_create_file, name, access, lock, device, handle);

	return opened(BYTES_OPEN_OUTPUT, handle, result);
}

static int moved(uint32_t id, const unsigned char *handle, const unsigned char *offset,
		 const unsigned char *size, int result)
{
	int error = errno;

	if (bytes_are_watched()) {
		struct bytes_call call = { .id = id,
					   .name = handle_path(handle_fd(handle)),
					   .offset = number_of(offset, 8),
					   .bytes = (uint32_t)number_of(size, 4) };

		call_trace(&call, result);
	}
	errno = error;
	return result;
}

int cob_sys_read_file(unsigned char *handle, unsigned char *offset, unsigned char *size,
		      unsigned char *flags, unsigned char *buffer)
{
	int result = PASS(cob_sys_read_file, handle, offset, size, flags, buffer);

	return moved(BYTES_READ, handle, offset, size, result);
}

int cob_sys_write_file(unsigned char *handle, unsigned char *offset, unsigned char *size,
		       unsigned char *flags, unsigned char *buffer)
{
	int result = PASS(cob_sys_write_file, handle, offset, size, flags, buffer);

	return moved(BYTES_WRITE, handle, offset, size, result);
}

int cob_sys_flush_file(unsigned char *handle)
{
	int result = PASS(cob_sys_flush_file, handle);

	return moved(BYTES_FLUSH, handle, NULL, NULL, result);
}

int cob_sys_close_file(unsigned char *handle)
{
	struct bytes_call call = { .id = BYTES_CLOSE };
	int fd = handle_fd(handle);
	int error = errno;
	int result;

	if (bytes_are_watched())
		call.name = handle_path(fd);
	errno = error;
	result = PASS(cob_sys_close_file, handle);
	error = errno;
	if (bytes_are_watched())
		call_trace(&call, result);
	handle_remove(fd);
	errno = error;
	return result;
}

static int named(uint32_t id, bool has_other, int result)
{
	int error = errno;

	if (bytes_are_watched()) {
		struct bytes_call call = { .id = id, .name = ct_program_argument(0) };

		if (has_other)
			call.other = ct_program_argument(1);
		call_trace(&call, result);
	}
	errno = error;
	return result;
}

int cob_sys_delete_file(unsigned char *name)
{
	int result = PASS(cob_sys_delete_file, name);

	return named(BYTES_DELETE, false, result);
}

int cob_sys_copy_file(unsigned char *name, unsigned char *copy)
{
	int result = PASS(cob_sys_copy_file, name, copy);

	return named(BYTES_COPY, true, result);
}

int cob_sys_rename_file(unsigned char *name, unsigned char *new_name)
{
	int result = PASS(cob_sys_rename_file, name, new_name);

	return named(BYTES_RENAME, true, result);
}
