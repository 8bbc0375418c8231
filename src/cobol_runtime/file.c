/*
 * file.c - each statement that works on a file: mf.mffh.xfh.
 *
 * A hook notes the time, passes the statement on, and traces what libcob has made of it: the file,
 * the status, the size of the record, the time taken.  On the thread of the COBOL program.  The
 * record area and key values are traced only with the property records.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cobol_runtime/file.h"

#include "base/base.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>

/* Event ids of mf.mffh.xfh; base has the same numbers less OPERATION. */
enum {
	CALLED = 3,
	RETURNED = 4,
	OPERATION = 1000,
	OPEN = 1001,
	CLOSE,
	READ,
	READ_NEXT,
	WRITE,
	REWRITE,
	DELETE,
	START,
	UNLOCK,
	COMMIT,
	ROLLBACK,
	DELETE_FILE,
	SORT,
	SORT_END,
	RELEASE,
	RETURN_RECORD,
};

struct operation {
	cob_file *file; /* NULL: COMMIT and ROLLBACK */
	uint32_t id;
	uint32_t key;   /* of an indexed file */
	uint8_t mode;   /* of the file, when the statement began; of an OPEN the one asked for */
	uint64_t begin; /* ticks */
};

/* The state of an operation behind its call. */
struct outcome {
	const char *status; /* two digits */
	uint32_t level;
	uint32_t key;
	uint32_t bytes;
	uint64_t duration_ns;
};

/* Where time stood when a tick was last compared with a nanosecond. */
static struct {
	uint64_t ticks, ns;
	uint64_t ns_per_tick; /* times 2^32 */
	uint64_t next;        /* ticks from which on it is compared again */
} pace;

#define PACE_FIRST 1000000 /* ticks until the second comparison */

/* -----------------------------------------------------------------------------------------------
 * Time
 */

/* Compares again when twice the time has passed, so that the error of two readings gets small. */
static void pace_compare(uint64_t ticks)
{
	uint64_t ns = ct_clock_mono_ns();

	if (pace.ticks == 0) {
		pace.ticks = ticks;
		pace.ns = ns;
		pace.next = ticks + PACE_FIRST;
		pace.ns_per_tick = UINT64_C(1) << 32;
		return;
	}
	pace.ns_per_tick =
		(uint64_t)(((unsigned __int128)(ns - pace.ns) << 32) / (ticks - pace.ticks));
	pace.next = ticks + (ticks - pace.ticks);
}

static uint64_t duration_of(uint64_t begin, uint64_t end)
{
	if (UNLIKELY(end >= pace.next))
		pace_compare(end);
	return end > begin ? (uint64_t)((unsigned __int128)(end - begin) * pace.ns_per_tick >> 32)
			   : 0;
}

void ct_file_init(void)
{
	uint64_t begin = ct_clock_ticks();

	/* The loop takes 20 microseconds, so that the first file already has a duration.  Later
	 * comparisons make the pace more exact. */
	pace_compare(begin);
	while (ct_clock_mono_ns() - pace.ns < 20000)
		;
	pace_compare(ct_clock_ticks());
}

/* -----------------------------------------------------------------------------------------------
 * Operations
 */

/* Without libcob's layout neither a file nor its status is known. */
static bool files_are_watched(void)
{
	return ct_is_on(&ct_xfh, CTRACE_FATAL) && ct_run_unit_version_is_known();
}

static bool property_is_on(uint32_t property)
{
	return (atomic_load_explicit(&ct_xfh_properties, memory_order_relaxed) & property) != 0;
}

static const char *file_status(const cob_file *file)
{
	return file != NULL && file->file_status != NULL && file->file_status[0] != '\0'
		       ? (const char *)file->file_status
		       : "00";
}

static struct ct_name select_name(const cob_file *file)
{
	const struct ct_known_file *known = ct_file_known(file);

	return (struct ct_name){ known->select, known->select_size };
}

static struct operation operation_begin(cob_file *file, uint32_t id, uint32_t key)
{
	struct operation operation = {
		.file = ct_run_unit_version_is_known() ? file : NULL,
		.id = id,
		.key = key,
	};

	if (operation.file != NULL)
		operation.mode = operation.file->open_mode;
	if (property_is_on(CT_XFH_BASE)) {
		struct ct_name name = select_name(operation.file);

		ct_program_entry_flush();
		CTRACE(&ct_xfh, CTRACE_INFO, CALLED, CTRACE_U32(id - OPERATION),
		       CTRACE_TEXT(name.text, name.size));
	}
	operation.begin = ct_clock_ticks();
	return operation;
}

/* Operations on the file as a whole are news; those on records are traffic. */
static bool operation_is_of_file(uint32_t id)
{
	return id <= CLOSE || id >= COMMIT ? id < RELEASE : false;
}

static uint32_t operation_level(uint32_t id, const char *status)
{
	switch (status[0]) {
	case '0':
		return operation_is_of_file(id) ? CTRACE_INFO : CTRACE_DEBUG;
	case '1':
	case '2':
		return CTRACE_INFO;
	default:
		return CTRACE_ERROR;
	}
}

static bool operation_has_record(uint32_t id, const char *status)
{
	return status[0] == '0' && ((id >= READ && id <= REWRITE) || id >= RELEASE);
}

/* Of a larger record its beginning is traced. */
static uint32_t record_traced_size(const struct outcome *outcome)
{
	return outcome->bytes <= CTRACE_MAX_ITEM_SIZE ? outcome->bytes : CTRACE_MAX_ITEM_SIZE;
}

#define OPERATION_TRACE(level, id, ...) \
	CTRACE(&ct_xfh, (level), (id), CTRACE_TEXT(known->select, known->select_size), \
	       CTRACE_TEXT(known->path, known->path_size), CTRACE_U8(organization), \
	       CTRACE_U8(operation->mode), CTRACE_U32(outcome->key), \
	       CTRACE_TEXT(outcome->status, 2), CTRACE_U32(outcome->bytes), \
	       CTRACE_U64(outcome->duration_ns), \
	       CTRACE_TEXT(where.program.text, where.program.size), \
	       CTRACE_U32(where.line) __VA_ARGS__)

static void operation_trace(const struct operation *operation, const struct outcome *outcome)
{
	const cob_file *file = operation->file;
	const struct ct_known_file *known = ct_file_known(file);
	struct ct_where where = ct_program_where();
	uint8_t organization = file != NULL ? file->organization : 0;

	if (outcome->bytes != 0 && property_is_on(CT_XFH_RECORDS)) {
		OPERATION_TRACE(outcome->level, operation->id, ,
				CTRACE_BIN(file->record->data, record_traced_size(outcome)));
		return;
	}
	/* A trace call whose events have one class keeps that class (ctrace/ctrace.h).  So each
	 * frequent statement has a trace call of its own. */
	switch (outcome->level == CTRACE_DEBUG ? operation->id : 0) {
	case READ:
		OPERATION_TRACE(CTRACE_DEBUG, READ);
		break;
	case READ_NEXT:
		OPERATION_TRACE(CTRACE_DEBUG, READ_NEXT);
		break;
	case WRITE:
		OPERATION_TRACE(CTRACE_DEBUG, WRITE);
		break;
	case REWRITE:
		OPERATION_TRACE(CTRACE_DEBUG, REWRITE);
		break;
	case DELETE:
		OPERATION_TRACE(CTRACE_DEBUG, DELETE);
		break;
	case START:
		OPERATION_TRACE(CTRACE_DEBUG, START);
		break;
	case RELEASE:
		OPERATION_TRACE(CTRACE_DEBUG, RELEASE);
		break;
	case RETURN_RECORD:
		OPERATION_TRACE(CTRACE_DEBUG, RETURN_RECORD);
		break;
	default:
		OPERATION_TRACE(outcome->level, operation->id);
	}
}

/* The number of the record in a relative file with a RELATIVE KEY, from 1.  libcob sets the key
 * when it reads in sequence, so it is right behind the call. */
static uint32_t operation_key(const struct operation *operation)
{
	static int (*number)(const cob_field *);
	const cob_file *file = operation->file;
	int key;

	if (file == NULL || file->organization != COB_ORG_RELATIVE || file->keys == NULL ||
	    file->keys[0].field == NULL || operation->id < READ || operation->id > START)
		return operation->key;
	if (number == NULL)
		number = (int (*)(const cob_field *))(uintptr_t)dlsym(RTLD_DEFAULT, "cob_get_int");
	key = number != NULL ? number(file->keys[0].field) : 0;
	return key > 0 ? (uint32_t)key : 0;
}

static void operation_end(const struct operation *operation)
{
	uint64_t end = ct_clock_ticks();
	struct outcome outcome = { .status = file_status(operation->file) };

	outcome.level = operation_level(operation->id, outcome.status);
	if (outcome.level == CTRACE_ERROR ||
	    (ct_is_on(&ct_xfh, outcome.level) && ct_file_is_on(operation->file))) {
		outcome.duration_ns = duration_of(operation->begin, end);
		if (operation_has_record(operation->id, outcome.status) &&
		    operation->file != NULL && operation->file->record != NULL)
			outcome.bytes = operation->file->record->size <= UINT32_MAX
						? (uint32_t)operation->file->record->size
						: UINT32_MAX;
		outcome.key = operation_key(operation);
		operation_trace(operation, &outcome);
	}
	if (property_is_on(CT_XFH_BASE)) {
		struct ct_name name = select_name(operation->file);

		CTRACE(&ct_xfh, CTRACE_INFO, RETURNED, CTRACE_U32(operation->id - OPERATION),
		       CTRACE_TEXT(name.text, name.size), CTRACE_TEXT(outcome.status, 2));
	}
}

/* The number of a key of an indexed file, from 1; 0 when `field` is none. */
static uint32_t key_number(const cob_file *file, const cob_field *field)
{
	if (file == NULL || field == NULL || !ct_run_unit_version_is_known() ||
	    file->organization != COB_ORG_INDEXED || file->keys == NULL)
		return 0;
	for (size_t at = 0; at < file->nkeys; at++) {
		const cob_field *key = file->keys[at].field;

		if (key == field || (key != NULL && key->data == field->data))
			return (uint32_t)at + 1;
	}
	return 0;
}

/* -----------------------------------------------------------------------------------------------
 * Hooks
 */

#define WATCH(id, key, file, ...) \
	do { \
		struct operation operation; \
		if (!files_are_watched()) { \
			PASS(__VA_ARGS__); \
			return; \
		} \
		operation = operation_begin((file), (id), (key)); \
		PASS(__VA_ARGS__); \
		operation_end(&operation); \
	} while (0)

/*
 * A process with two threads pays for a lock at each character of a line sequential file, and this
 * library has brought the second one.  Only the COBOL thread uses the file, so it needs no lock.
 */
static void stream_unlock(const cob_file *file)
{
	/* After an OPEN that failed the pointer may lead to a stream that was closed. */
	bool is_open = file != NULL && ct_run_unit_version_is_known() &&
		       file->organization == COB_ORG_LINE_SEQUENTIAL && file->file_status != NULL &&
		       file->file_status[0] == '0' && file->fd >= 0;
	FILE *stream = is_open ? file->file : NULL;

	if (stream != NULL && stream != stdin && stream != stdout && stream != stderr)
		(void)__fsetlocking(stream, FSETLOCKING_BYCALLER);
}

void cob_open(cob_file *file, const int mode, const int sharing, cob_field *status)
{
	struct operation operation;
	struct ct_descriptors before = { 0 };
	int error;

	if (!files_are_watched()) {
		PASS(cob_open, file, mode, sharing, status);
		stream_unlock(file);
		return;
	}
	error = errno;
	if (file != NULL && ct_run_unit_version_is_known() &&
	    file->organization == COB_ORG_INDEXED)
		ct_descriptors_read(&before);
	errno = error;
	operation = operation_begin(file, OPEN, 0);
	operation.mode = (uint8_t)mode;
	PASS(cob_open, file, mode, sharing, status);
	error = errno;
	stream_unlock(file);
	if (operation.file != NULL)
		ct_file_opened(operation.file, &before);
	operation_end(&operation);
	errno = error;
}

void cob_close(cob_file *file, cob_field *status, const int option, const int remap)
{
	WATCH(CLOSE, 0, file, cob_close, file, status, option, remap);
}

void cob_read(cob_file *file, cob_field *key, cob_field *status, const int options)
{
	WATCH(READ, key_number(file, key), file, cob_read, file, key, status, options);
}

void cob_read_next(cob_file *file, cob_field *status, const int options)
{
	WATCH(READ_NEXT, 0, file, cob_read_next, file, status, options);
}

void cob_write(cob_file *file, cob_field *record, const int option, cob_field *status,
	       const unsigned int checks_end)
{
	WATCH(WRITE, 0, file, cob_write, file, record, option, status, checks_end);
}

void cob_rewrite(cob_file *file, cob_field *record, const int option, cob_field *status)
{
	WATCH(REWRITE, 0, file, cob_rewrite, file, record, option, status);
}

void cob_delete(cob_file *file, cob_field *status)
{
	WATCH(DELETE, 0, file, cob_delete, file, status);
}

void cob_start(cob_file *file, const int condition, cob_field *key, cob_field *size,
	       cob_field *status)
{
	WATCH(START, key_number(file, key), file, cob_start, file, condition, key, size, status);
}

void cob_unlock_file(cob_file *file, cob_field *status)
{
	WATCH(UNLOCK, 0, file, cob_unlock_file, file, status);
}

void cob_delete_file(cob_file *file, cob_field *status)
{
	WATCH(DELETE_FILE, 0, file, cob_delete_file, file, status);
}

void cob_commit(void)
{
	WATCH(COMMIT, 0, NULL, cob_commit);
}

void cob_rollback(void)
{
	WATCH(ROLLBACK, 0, NULL, cob_rollback);
}

void cob_file_free(cob_file **file, cob_file_key **keys)
{
	if (file != NULL)
		ct_file_remove(*file);
	PASS(cob_file_free, file, keys);
}

/* SORT and MERGE take from their beginning to their close. */
void cob_file_sort_init(cob_file *file, const unsigned int keys, const unsigned char *collation,
			void *result, cob_field *status)
{
	WATCH(SORT, 0, file, cob_file_sort_init, file, keys, collation, result, status);
}

void cob_file_sort_close(cob_file *file)
{
	WATCH(SORT_END, 0, file, cob_file_sort_close, file);
}

void cob_file_release(cob_file *file)
{
	WATCH(RELEASE, 0, file, cob_file_release, file);
}

void cob_file_return(cob_file *file)
{
	WATCH(RETURN_RECORD, 0, file, cob_file_return, file);
}
