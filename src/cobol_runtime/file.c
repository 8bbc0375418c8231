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

/* True: a clock reading is one instruction.  False: ct_clock_ticks() reads the clock. */
static bool is_counter;

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

static inline uint64_t ticks_read(void)
{
	return is_counter ? ctrace_ticks_() : ct_clock_ticks();
}

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

	is_counter = CTRACE_HAS_INLINE_ && ct_clock_source() == CT_CLOCK_COUNTER;
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

/* Writes the event on the inline path.  Returns false when operation_emit() has to write it: also
 * without the TSC, because the head of an inline event has its ticks. */
static bool operation_put(const struct ctrace_site *site, const struct operation *operation,
			  const struct outcome *outcome, uint8_t organization)
{
	const struct ct_known_file *known = ct_file_known(operation->file);
	struct ct_where where = ct_program_where();
	size_t record = outcome->record_size != 0 ? CT_ENCODED_SIZE(outcome->record_size) : 0;
	struct ctrace_thread_buffer *buffer;
	unsigned char *at;

	if (!is_counter || record > UINT16_MAX)
		return false;
	at = ct_encoded_begin(site, &ct_xfh, outcome->level, operation->id, outcome->end,
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
		number = (int (*)(const cob_field *))(uintptr_t)dlsym(RTLD_DEFAULT, "cob_get_int");
	key = number != NULL ? number(file->keys[0].field) : 0;
	return key > 0 ? (uint32_t)key : 0;
}

static void operation_end(const struct operation *operation)
{
	struct outcome outcome = { .end = ticks_read(), .status = file_status(operation->file) };

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

void cob_open(cob_file *file, const int mode, const int sharing, cob_field *status)
{
	struct operation operation;
	struct ct_descriptors before = { 0 };
	int error;

	if (!files_are_watched()) {
		PASS(cob_open, file, mode, sharing, status);
		ct_stream_opened(file);
		return;
	}
	error = errno;
	if (file != NULL && ct_run_unit_version_is_known && file->organization == COB_ORG_INDEXED)
		ct_descriptors_read(&before);
	errno = error;
	operation = operation_begin(file, OPEN, 0);
	operation.mode = (uint8_t)mode;
	PASS(cob_open, file, mode, sharing, status);
	error = errno;
	ct_stream_opened(file);
	if (operation.file != NULL)
		ct_file_opened(operation.file, &before);
	operation_end(&operation);
	errno = error;
}

static void close_watched(cob_file *file, cob_field *status, int option, int remap)
{
	WATCH(CLOSE, 0, file, cob_close, file, status, option, remap);
}

void cob_close(cob_file *file, cob_field *status, const int option, const int remap)
{
	close_watched(file, status, option, remap);
	ct_stream_closed();
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
