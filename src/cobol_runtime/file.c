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

#include <errno.h>
#include <stdio.h>
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
	uint32_t record_size; /* of the record area in the event; 0: none */
	uint64_t end;         /* ticks */
	uint64_t duration_ns;
};

/* The operation that ended last, to see whether a site's file handler has passed one on to libcob.
 */
static struct {
	uint32_t count;
	char status[2];
} last;

/* True: a clock reading is one instruction.  False: ct_clock_ticks() reads the clock.  The process
 * may trace by the other clock (ctrace.clock), and events have its times. */
static bool is_counter;

/* Where time stood when ticks were last compared with nanoseconds, and what came of it. */
static struct {
	uint64_t ticks, ns;
	uint64_t ns_per_tick; /* times 2^32; 0: not known, since the clock has not moved yet */
	uint64_t next;        /* ticks from which on they are compared again */
} pace;

/* -----------------------------------------------------------------------------------------------
 * Time
 */

static inline uint64_t ticks_read(void)
{
	return is_counter ? ctrace_ticks_() : ct_clock_ticks();
}

/* The next comparison is after twice the time, so that the error of two readings gets small.  A
 * clock may stand still or go back: then the pace stays, and the next statement compares again.  A
 * step of the clock is forgotten after one comparison. */
static void pace_compare(uint64_t ticks)
{
	uint64_t ns = ct_clock_mono_ns();

	pace.next = ticks;
	if (ticks > pace.ticks && ns > pace.ns) {
		pace.ns_per_tick = (uint64_t)(((unsigned __int128)(ns - pace.ns) << 32) /
					      (ticks - pace.ticks));
		pace.next = ticks + 2 * (ticks - pace.ticks);
	}
	pace.ticks = ticks;
	pace.ns = ns;
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
	is_counter = CTRACE_HAS_INLINE_ && ct_clock_source() == CT_CLOCK_COUNTER;
	pace.ticks = ct_clock_ticks();
	pace.ns = ct_clock_mono_ns();
}

/* -----------------------------------------------------------------------------------------------
 * Operations
 */

/* Without libcob's layout neither a file nor its status is known. */
static bool files_are_watched(void)
{
	return ct_is_on(&ct_xfh, CTRACE_FATAL) && ct_run_unit_version_is_known;
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
	return ct_file_select(ct_file_known(file));
}

static struct operation operation_begin(cob_file *file, uint32_t id, uint32_t key)
{
	struct operation operation = {
		.file = ct_run_unit_version_is_known ? file : NULL,
		.id = id,
		.key = key,
	};

	ct_program_entry_flush();
	if (operation.file != NULL)
		operation.mode = operation.file->open_mode;
	if (property_is_on(CT_XFH_BASE)) {
		struct ct_name name = select_name(operation.file);

		CTRACE(&ct_xfh, CTRACE_INFO, CALLED, CTRACE_U32(id - OPERATION),
		       CTRACE_TEXT(name.text, name.size));
	}
	operation.begin = ticks_read();
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
	if (!property_is_on(CT_XFH_RECORDS))
		return 0;
	return outcome->bytes <= CTRACE_MAX_ITEM_SIZE ? outcome->bytes : CTRACE_MAX_ITEM_SIZE;
}

/* Bytes of the items between the names and the program, and behind it. */
#define BEFORE_PROGRAM (1 + 1 + 4 + 2 + 4 + 8)
#define BEHIND_PROGRAM 4

/* Writes the event on the inline path.  Returns false when operation_emit() has to write it. */
static bool operation_put(const struct ctrace_site *site, const struct operation *operation,
			  const struct outcome *outcome, uint8_t organization)
{
	const struct ct_known_file *known = ct_file_known(operation->file);
	struct ct_where where = ct_program_where();
	size_t record = outcome->record_size != 0 ? CT_ENCODED_SIZE(outcome->record_size) : 0;
	struct ctrace_thread_buffer *buffer;
	unsigned char *at;

	if (record > UINT16_MAX)
		return false;
	at = ct_encoded_begin(site, &ct_xfh, outcome->level, operation->id,
			      is_counter ? outcome->end : 0,
			      sizeof known->names + BEFORE_PROGRAM +
				      CT_ENCODED_SIZE(where.program.size) + BEHIND_PROGRAM + record,
			      &buffer);
	if (at == NULL)
		return false;
	at = ct_encoded_put(at, known->names, ct_file_names_size(known));
	at[0] = organization;
	at[1] = operation->mode;
	ctrace_put_u32_(at + 2, outcome->key);
	memcpy(at + 6, outcome->status, 2);
	ctrace_put_u32_(at + 8, outcome->bytes);
	ctrace_put_u64_(at + 12, outcome->duration_ns);
	at = ct_encoded_add(at + BEFORE_PROGRAM, where.program.text, where.program.size);
	ctrace_put_u32_(at, where.line);
	at += BEHIND_PROGRAM;
	if (record != 0)
		at = ct_encoded_add(at, (const char *)operation->file->record->data,
				    outcome->record_size);
	ctrace_commit_(buffer, at);
	return true;
}

static void operation_emit(struct ctrace_site *site, const struct operation *operation,
			   const struct outcome *outcome, uint8_t organization)
{
	const struct ct_known_file *known = ct_file_known(operation->file);
	struct ct_name select = ct_file_select(known), path = ct_file_path(known);
	struct ct_where where = ct_program_where();
	const void *record = outcome->record_size != 0 ? operation->file->record->data : NULL;
	const struct ctrace_item items[] = {
		CTRACE_TEXT(select.text, select.size),
		CTRACE_TEXT(path.text, path.size),
		CTRACE_U8(organization),
		CTRACE_U8(operation->mode),
		CTRACE_U32(outcome->key),
		CTRACE_TEXT(outcome->status, 2),
		CTRACE_U32(outcome->bytes),
		CTRACE_U64(outcome->duration_ns),
		CTRACE_TEXT(where.program.text, where.program.size),
		CTRACE_U32(where.line),
		CTRACE_BIN(record, outcome->record_size),
	};

	(void)ctrace_emit_at_(site, &ct_xfh, outcome->level, operation->id, items,
			      record != NULL ? 11 : 10);
}

static void operation_trace(const struct operation *operation, const struct outcome *outcome)
{
	/* The usual level of an operation keeps its class. */
	static struct ctrace_site sites[RETURN_RECORD - OPERATION + 1][2];
	struct ctrace_site *site =
		&sites[operation->id - OPERATION][outcome->record_size != 0 ? 1 : 0];
	uint8_t organization = operation->file != NULL ? operation->file->organization : 0;

	if (!operation_put(site, operation, outcome, organization))
		operation_emit(site, operation, outcome, organization);
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
		number = (int (*)(const cob_field *))(uintptr_t)ct_calls_find_real("cob_get_int",
										   NULL);
	key = number != NULL ? number(file->keys[0].field) : 0;
	return key > 0 ? (uint32_t)key : 0;
}

static void operation_end(const struct operation *operation)
{
	struct outcome outcome = { .end = ticks_read(), .status = file_status(operation->file) };

	last.count++;
	memcpy(last.status, outcome.status, sizeof last.status);
	outcome.level = operation_level(operation->id, outcome.status);
	if (outcome.level == CTRACE_ERROR ||
	    (ct_is_on(&ct_xfh, outcome.level) && ct_file_is_on(operation->file))) {
		outcome.duration_ns = duration_of(operation->begin, outcome.end);
		if (operation_has_record(operation->id, outcome.status) &&
		    operation->file != NULL && operation->file->record != NULL)
			outcome.bytes = operation->file->record->size <= UINT32_MAX
						? (uint32_t)operation->file->record->size
						: UINT32_MAX;
		outcome.record_size = record_traced_size(&outcome);
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
	if (file == NULL || field == NULL || !ct_run_unit_version_is_known ||
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

static struct operation open_begin(cob_file *file, int mode)
{
	struct operation operation = operation_begin(file, OPEN, 0);

	operation.mode = (uint8_t)mode;
	return operation;
}

void cob_open(cob_file *file, const int mode, const int sharing, cob_field *status)
{
	struct operation operation;
	struct ct_descriptors before = { 0 };
	int error;

	if (!files_are_watched()) {
		PASS(cob_open, file, mode, sharing, status);
		return;
	}
	error = errno;
	if (file != NULL && ct_run_unit_version_is_known && file->organization == COB_ORG_INDEXED)
		ct_descriptors_read(&before);
	errno = error;
	operation = open_begin(file, mode);
	PASS(cob_open, file, mode, sharing, status);
	error = errno;
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

/* -----------------------------------------------------------------------------------------------
 * Files behind a handler of the site: cobc -fcallfh.  The handler serves a file itself, or passes
 * the statement on to libcob, whose hook above has traced it then, with the file's path.  A
 * statement is traced here where no hook did, or where the program sees another status.
 */

#define WATCH_HANDLER(begin, ...) \
	do { \
		struct operation operation; \
		uint32_t count = last.count; \
		if (!files_are_watched()) { \
			PASS(__VA_ARGS__); \
			return; \
		} \
		operation = (begin); \
		PASS(__VA_ARGS__); \
		if (last.count == count || \
		    memcmp(last.status, file_status(operation.file), sizeof last.status) != 0) \
			operation_end(&operation); \
	} while (0)

void cob_extfh_open(ct_file_handler *handler, cob_file *file, const int mode, const int sharing,
		    cob_field *status)
{
	WATCH_HANDLER(open_begin(file, mode), cob_extfh_open, handler, file, mode, sharing, status);
}

void cob_extfh_close(ct_file_handler *handler, cob_file *file, cob_field *status, const int option,
		     const int remap)
{
	WATCH_HANDLER(operation_begin(file, CLOSE, 0), cob_extfh_close, handler, file, status,
		      option, remap);
}

void cob_extfh_read(ct_file_handler *handler, cob_file *file, cob_field *key, cob_field *status,
		    const int options)
{
	WATCH_HANDLER(operation_begin(file, READ, key_number(file, key)), cob_extfh_read, handler,
		      file, key, status, options);
}

void cob_extfh_read_next(ct_file_handler *handler, cob_file *file, cob_field *status,
			 const int options)
{
	WATCH_HANDLER(operation_begin(file, READ_NEXT, 0), cob_extfh_read_next, handler, file,
		      status, options);
}

void cob_extfh_write(ct_file_handler *handler, cob_file *file, cob_field *record, const int option,
		     cob_field *status, const unsigned int checks_end)
{
	WATCH_HANDLER(operation_begin(file, WRITE, 0), cob_extfh_write, handler, file, record,
		      option, status, checks_end);
}

void cob_extfh_rewrite(ct_file_handler *handler, cob_file *file, cob_field *record,
		       const int option, cob_field *status)
{
	WATCH_HANDLER(operation_begin(file, REWRITE, 0), cob_extfh_rewrite, handler, file, record,
		      option, status);
}

void cob_extfh_delete(ct_file_handler *handler, cob_file *file, cob_field *status)
{
	WATCH_HANDLER(operation_begin(file, DELETE, 0), cob_extfh_delete, handler, file, status);
}

void cob_extfh_start(ct_file_handler *handler, cob_file *file, const int condition, cob_field *key,
		     cob_field *size, cob_field *status)
{
	WATCH_HANDLER(operation_begin(file, START, key_number(file, key)), cob_extfh_start, handler,
		      file, condition, key, size, status);
}
