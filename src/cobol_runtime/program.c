/*
 * program.c - programs, sections, paragraphs and statements: mf.rts.
 *
 * Each hook here stands before a function of libcob that compiled programs call.  On the thread of
 * the COBOL program.
 *
 * A program gives libcob its name after it was entered for the first time.  So the first ENTRY of a
 * program waits for the next hook, where its name is known (entry_waiting).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cobol_runtime/cobol_runtime.h"

#include "cobol_runtime/encoded.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define LINE(stmt) ((stmt)&0xFFFFF)
#define FILE_NUMBER(stmt) ((stmt) >> 20 & 0xFFF)
#define NAME_SIZE_MAX 255

static cob_global *runtime_state;

/* The length of a program's name, by its address: a name stays where it is until its module is
 * unloaded, which only CANCEL does. */
static struct ct_name name_last;

/*
 * The names in an event of a section, paragraph or statement, as they were encoded when it was last
 * traced.  Names keep their addresses as long as that of the program does.  Steps with the same
 * hash replace each other.
 */
#define STEPS 256 /* a power of two */
#define STEP_NAMES (2 * CT_ENCODED_SIZE(COB_MAX_NAMELEN))
static struct step {
	const char *program;
	const char *name;
	uint32_t size; /* of the names */
	unsigned char names[STEP_NAMES];
} steps[STEPS];
static bool has_steps;
_Static_assert(STEP_NAMES >= CT_ENCODED_LEAST, "whole pieces are copied");

/*
 * The sections and paragraphs that were entered, by the statement at their head.  A PERFORM returns
 * without a call of libcob, so the one that was entered last need not be the present one: a
 * statement belongs to the last head before it in the source.  Those with the same hash replace
 * each other.  Written by the COBOL thread; dumps read on other threads and after a fault: stmt is
 * 0 while the rest changes.
 */
#define HEADS 512 /* a power of two */
static struct head {
	const char *program;
	const char *name;
	_Atomic uint32_t stmt;
} heads[HEADS];
static struct head *_Atomic head_last;
/* Not 0: a dump is to be made of an error.  Then heads are noted, and while mf.rts is on. */
static const uint32_t dumps_nothing;
static const uint32_t *dumps = &dumps_nothing;

/* Entered, but not traced yet. */
static struct {
	cob_module *module;
	int entry;
} entry_waiting;

/* -----------------------------------------------------------------------------------------------
 * Where the program is
 */

/* A module may be gone, and another one have its place. */
static void names_forget(void)
{
	name_last = (struct ct_name){ NULL, 0 };
	for (size_t at = 0; has_steps && at < STEPS; at++)
		steps[at].name = NULL;
	has_steps = false;
	for (size_t at = 0; head_last != NULL && at < HEADS; at++)
		atomic_store_explicit(&heads[at].stmt, 0, memory_order_relaxed);
	head_last = NULL;
}

/* libcob frees its state and unloads the modules. */
void ct_program_end(void)
{
	__atomic_store_n(&runtime_state, NULL, __ATOMIC_RELAXED);
	entry_waiting.module = NULL;
	names_forget();
}

static cob_module *module_active(void)
{
	return runtime_state != NULL && ct_run_unit_version_is_known
		       ? runtime_state->cob_current_module
		       : NULL;
}

static struct ct_name module_name(const cob_module *module)
{
	const char *text = module != NULL ? module->module_name : NULL;

	if (text == NULL)
		return (struct ct_name){ "", 0 };
	if (text != name_last.text)
		name_last = (struct ct_name){ text, strlen(text) };
	return name_last;
}

static uint32_t module_line(const cob_module *module)
{
	return module != NULL ? LINE(module->module_stmt) : 0;
}

struct ct_where ct_program_where(void)
{
	const cob_module *module = module_active();

	ct_program_entry_flush();
	return (struct ct_where){ module_name(module), module_line(module) };
}

/* The kernel reads for us: it fails where a load would fault again. */
static bool memory_read(void *out, const void *from, size_t size)
{
	struct iovec to = { .iov_base = out, .iov_len = size };
	struct iovec there = { .iov_base = (void *)(uintptr_t)from, .iov_len = size };

	return process_vm_readv(getpid(), &to, 1, &there, 1, 0) == (ssize_t)size;
}

static bool module_read(cob_module *out)
{
	cob_global *at = __atomic_load_n(&runtime_state, __ATOMIC_RELAXED);
	cob_global state;

	return at != NULL && ct_run_unit_version_is_known &&
	       memory_read(&state, at, sizeof state) && state.cob_current_module != NULL &&
	       memory_read(out, state.cob_current_module, sizeof *out);
}

/* Returns the size. */
static size_t text_read(char *out, size_t room, const char *text)
{
	size_t size = 0;

	while (text != NULL && size < room && memory_read(out + size, text + size, 1) &&
	       out[size] != '\0')
		size++;
	return size;
}

struct ct_where ct_program_where_after_fault(char name[CT_FAULT_NAME])
{
	struct ct_where where = { .program = { name, 0 } };
	cob_module module;

	if (module_read(&module)) {
		where.line = module_line(&module);
		where.program.size = text_read(name, CT_FAULT_NAME - 1, module.module_name);
	}
	return where;
}

/* NULL: not known. */
static const char *head_find(const cob_module *module)
{
	uint32_t stmt = module->module_stmt, best = 0;
	const struct head *last = atomic_load_explicit(&head_last, memory_order_acquire);
	const char *name = last != NULL && last->program == module->module_name ? last->name : NULL;

	for (size_t at = 0; at < HEADS; at++) {
		uint32_t head = atomic_load_explicit(&heads[at].stmt, memory_order_acquire);
		struct head copy = { .program = heads[at].program, .name = heads[at].name };

		atomic_thread_fence(memory_order_acquire);
		if (head != 0 && copy.program == module->module_name &&
		    FILE_NUMBER(head) == FILE_NUMBER(stmt) && head <= stmt && head >= best &&
		    atomic_load_explicit(&heads[at].stmt, memory_order_relaxed) == head) {
			best = head;
			name = copy.name;
		}
	}
	return name;
}

static size_t line_add(char *out, size_t at, size_t room, const char *key, const char *text)
{
	size_t key_size = strlen(key), size;

	if (text == NULL || room - at < key_size + 2)
		return at;
	(void)snprintf(out + at, room - at, "%s", key);
	size = text_read(out + at + key_size, room - at - key_size - 1, text);
	for (size_t i = at + key_size; i < at + key_size + size; i++)
		if (out[i] < ' ' || out[i] > '~')
			out[i] = '?';
	out[at + key_size + size] = '\n';
	return at + key_size + size + 1;
}

/* Any thread; async-signal-safe. */
static size_t place_print(char *out, size_t room)
{
	char digits[12] = "";
	char *digit = &digits[sizeof digits - 1];
	const char *source = NULL;
	cob_module module;
	size_t size;

	if (ct_run_unit_is_ending() || !module_read(&module))
		return 0;
	size = line_add(out, 0, room, "program-id: ", module.module_name);
	size = line_add(out, size, room, "paragraph: ", head_find(&module));
	if (module_line(&module) == 0)
		return size;
	if (module.module_sources != NULL &&
	    memory_read(&source, module.module_sources + FILE_NUMBER(module.module_stmt),
			sizeof source))
		size = line_add(out, size, room, "source: ", source);
	for (uint32_t line = module_line(&module); line != 0; line /= 10)
		*--digit = (char)('0' + line % 10);
	return line_add(out, size, room, "line: ", digit);
}

void ct_program_begin(void)
{
	dumps = ctrace_dump_place_(place_print);
}

struct ct_name ct_program_source(void)
{
	const cob_module *module = module_active();
	const char *text;

	if (module == NULL || module->module_stmt == 0 || module->module_sources == NULL)
		return (struct ct_name){ "", 0 };
	text = module->module_sources[FILE_NUMBER(module->module_stmt)];
	return (struct ct_name){ text, text != NULL ? strlen(text) : 0 };
}

/* libcob's routines know the sizes of their arguments from here, too. */
struct ct_name ct_program_argument(unsigned at)
{
	const cob_module *module = module_active();
	const cob_field *field = module != NULL && module->cob_procedure_params != NULL
					 ? module->cob_procedure_params[at]
					 : NULL;
	const char *text = field != NULL ? (const char *)field->data : NULL;
	size_t size;

	if (text == NULL)
		return (struct ct_name){ NULL, 0 };
	size = strnlen(text, field->size);
	while (size > 0 && text[size - 1] == ' ')
		size--;
	return (struct ct_name){ text, size };
}

/* -----------------------------------------------------------------------------------------------
 * Entry and exit
 */

static void entry_trace(const cob_module *module, int entry)
{
	struct ct_name program = module_name(module);
	struct ct_name point = entry == 0 ? program : (struct ct_name){ "", 0 };
	struct ct_name caller = module_name(module->next);

	CTRACE(&ct_rts, CTRACE_INFO, 6, CTRACE_U32(0), CTRACE_U32(module->module_type),
	       CTRACE_TEXT(program.text, program.size), CTRACE_TEXT(point.text, point.size),
	       CTRACE_TEXT(caller.text, caller.size), CTRACE_U32(module_line(module->next)));
}

static void entry_waiting_trace(void)
{
	const cob_module *module = entry_waiting.module;

	if (module->module_name == NULL)
		return;
	entry_waiting.module = NULL;
	if (ct_rts_is_on(CTRACE_INFO, CT_RTS_PGM))
		entry_trace(module, entry_waiting.entry);
}

void ct_program_entry_flush(void)
{
	if (UNLIKELY(entry_waiting.module != NULL))
		entry_waiting_trace();
}

static void program_entered(cob_module *module, cob_global *state, int entry)
{
	__atomic_store_n(&runtime_state, state, __ATOMIC_RELAXED);
	if (!ct_rts_is_on(CTRACE_INFO, CT_RTS_PGM) || !ct_run_unit_version_is_known ||
	    module == NULL)
		return;
	ct_program_entry_flush();
	if (module->module_name != NULL) {
		entry_trace(module, entry);
	} else {
		entry_waiting.module = module;
		entry_waiting.entry = entry;
	}
}

int cob_module_global_enter(cob_module **module, cob_global **state, const int initialises,
			    const int entry, const unsigned int *hash)
{
	int is_refused = PASS(cob_module_global_enter, module, state, initialises, entry, hash);

	if (is_refused == 0)
		program_entered(*module, *state, entry);
	return is_refused;
}

void cob_module_enter(cob_module **module, cob_global **state, const int initialises)
{
	PASS(cob_module_enter, module, state, initialises);
	program_entered(*module, *state, 0);
}

void cob_set_cancel(cob_module *module)
{
	PASS(cob_set_cancel, module);
	ct_program_entry_flush();
}

void cob_module_leave(cob_module *module)
{
	if (ct_rts_is_on(CTRACE_INFO, CT_RTS_PGM) && ct_run_unit_version_is_known) {
		struct ct_name program = module_name(module);
		struct ct_name caller = module_name(module->next);

		ct_program_entry_flush();
		CTRACE(&ct_rts, CTRACE_INFO, 7, CTRACE_U32(0), CTRACE_U32(module->module_type),
		       CTRACE_TEXT(program.text, program.size),
		       CTRACE_TEXT(program.text, program.size),
		       CTRACE_TEXT(caller.text, caller.size),
		       CTRACE_U32(module_line(module->next)));
	}
	PASS(cob_module_leave, module);
}

/* -----------------------------------------------------------------------------------------------
 * CALL and CANCEL by name
 */

static struct ct_name field_name(const cob_field *field)
{
	const char *text = (const char *)field->data;
	size_t size = text != NULL ? field->size : 0;

	while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\0'))
		size--;
	return (struct ct_name){ text, size <= NAME_SIZE_MAX ? size : NAME_SIZE_MAX };
}

static void cancel_trace(struct ct_name name)
{
	struct ct_where where;

	if (!ct_rts_is_on(CTRACE_INFO, CT_RTS_PGM))
		return;
	where = ct_program_where();
	CTRACE(&ct_rts, CTRACE_INFO, 8, CTRACE_U32(0), CTRACE_U32(0),
	       CTRACE_TEXT(name.text, name.size), CTRACE_TEXT("", 0),
	       CTRACE_TEXT(where.program.text, where.program.size), CTRACE_U32(where.line));
}

/* CANCEL of an identifier goes on: libcob then cancels the program by its name. */
static bool cancel_is_traced;

void cob_cancel(const char *name)
{
	if (name != NULL && !cancel_is_traced)
		cancel_trace((struct ct_name){ name, strlen(name) });
	PASS(cob_cancel, name);
	names_forget();
}

void cob_cancel_field(const cob_field *field, const struct cob_call_struct *known)
{
	if (field != NULL)
		cancel_trace(field_name(field));
	cancel_is_traced = true;
	PASS(cob_cancel_field, field, known);
	cancel_is_traced = false;
	names_forget();
}

static int objects_loaded_count(struct dl_phdr_info *info, size_t size, void *out_count)
{
	(void)size;
	*(unsigned long long *)out_count = info->dlpi_adds;
	return 1;
}

static unsigned long long objects_loaded(void)
{
	unsigned long long count = 0;

	(void)dl_iterate_phdr(objects_loaded_count, &count);
	return count;
}

/* A search for a program, from the call of libcob to its return. */
struct search {
	struct ct_name name;
	unsigned long long loaded_before;
	bool is_traced; /* at all */
};

/* The name that is searched for: when the run time ends with an error now, it is because no such
 * program was found. */
static bool search_goes_on;

bool ct_program_is_searched_for(void)
{
	bool is = search_goes_on;

	search_goes_on = false; /* the next error has another cause */
	return is;
}

static struct search search_begin(struct ct_name name, bool must_exist)
{
	struct search search = { .name = name, .is_traced = ct_is_on(&ct_rts, CTRACE_FATAL) };

	search_goes_on = must_exist;
	if (!search.is_traced)
		return search;
	if (ct_rts_is_on(CTRACE_INFO, CT_RTS_PGMLOAD))
		search.loaded_before = objects_loaded();
	ct_program_entry_flush();
	if (ct_rts_is_on(CTRACE_INFO, CT_RTS_PGMSEARCH))
		CTRACE(&ct_rts, CTRACE_INFO, 58, CTRACE_TEXT(name.text, name.size));
	return search;
}

static void search_end(const struct search *search, const void *code)
{
	struct ct_name file = { "", 0 };
	Dl_info info;
	int error = errno;

	search_goes_on = false;
	if (!search->is_traced)
		return;
	if (code != NULL && dladdr(code, &info) != 0 && info.dli_fname != NULL)
		file = (struct ct_name){ info.dli_fname, strlen(info.dli_fname) };
	if (search->loaded_before != 0 && code != NULL &&
	    objects_loaded() != search->loaded_before && ct_rts_is_on(CTRACE_INFO, CT_RTS_PGMLOAD))
		CTRACE(&ct_rts, CTRACE_INFO, 1001,
		       CTRACE_TEXT(search->name.text, search->name.size),
		       CTRACE_TEXT(file.text, file.size));
	if (ct_rts_is_on(CTRACE_INFO, CT_RTS_PGMSEARCH))
		CTRACE(&ct_rts, CTRACE_INFO, 59, CTRACE_TEXT(search->name.text, search->name.size),
		       CTRACE_U8(code != NULL), CTRACE_TEXT(file.text, file.size));
	if (code == NULL) {
		struct ct_where where = ct_program_where();

		CTRACE(&ct_rts, CTRACE_WARN, 1002,
		       CTRACE_TEXT(search->name.text, search->name.size),
		       CTRACE_TEXT(where.program.text, where.program.size), CTRACE_U32(where.line));
	}
	errno = error;
}

void *cob_resolve_cobol(const char *name, const int folds, const int must_exist)
{
	struct search search = search_begin(
		(struct ct_name){ name, name != NULL ? strlen(name) : 0 }, must_exist != 0);
	void *code = PASS(cob_resolve_cobol, name, folds, must_exist);

	search_end(&search, code);
	ct_got_patch();
	return code;
}

void *cob_call_field(const cob_field *field, const struct cob_call_struct *known,
		     const unsigned int must_exist, const int folds)
{
	struct search search = search_begin(
		field != NULL ? field_name(field) : (struct ct_name){ "", 0 }, must_exist != 0);
	void *code = PASS(cob_call_field, field, known, must_exist, folds);

	search_end(&search, code);
	ct_got_patch();
	return code;
}

/* -----------------------------------------------------------------------------------------------
 * Sections, paragraphs and statements: with -ftrace or -ftraceall
 */

static struct step *step_encode(struct step *step, struct ct_name program, const char *name)
{
	size_t size = strlen(name);
	unsigned char *end;

	if (program.size > COB_MAX_NAMELEN || size > COB_MAX_NAMELEN)
		return NULL;
	has_steps = true;
	step->program = program.text;
	step->name = name;
	end = ct_encoded_add(step->names, program.text, program.size);
	step->size = (uint32_t)(ct_encoded_add(end, name, size) - step->names);
	return step;
}

/* NULL: the names are too long to be kept. */
static inline const struct step *step_find(struct ct_name program, const char *name)
{
	uint64_t hash = (uint64_t)(uintptr_t)name * UINT64_C(0x9E3779B97F4A7C15);
	struct step *step = &steps[hash / (UINT64_MAX / STEPS + 1)];

	return step->name == name && step->program == program.text
		       ? step
		       : step_encode(step, program, name);
}

/* Out of line, so that a hook is a load, a comparison and a jump while nothing is traced. */
__attribute__((noinline)) static void step_trace(struct ctrace_site *site, uint32_t id,
						 const char *name)
{
	struct ct_where where = ct_program_where();
	const struct step *step = step_find(where.program, name);
	struct ctrace_thread_buffer *buffer;
	unsigned char *at = NULL;

	if (step != NULL)
		at = ct_encoded_begin(site, &ct_rts, CTRACE_DEBUG, id, 0,
				      sizeof step->names + sizeof where.line, &buffer);
	if (at != NULL) {
		at = ct_encoded_put(at, step->names, step->size);
		ctrace_put_u32_(at, where.line);
		ctrace_commit_(buffer, at + sizeof where.line);
	} else {
		const struct ctrace_item items[] = {
			CTRACE_TEXT(where.program.text, where.program.size),
			CTRACE_STR(name),
			CTRACE_U32(where.line),
		};

		(void)ctrace_emit_at_(site, &ct_rts, CTRACE_DEBUG, id, items, 3);
	}
}

__attribute__((noinline)) static void head_store(struct head *head, const cob_module *module,
						 const char *name)
{
	atomic_store_explicit(&head->stmt, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	head->program = module->module_name;
	head->name = name;
	atomic_store_explicit(&head->stmt, module->module_stmt, memory_order_release);
}

__attribute__((noinline)) static void head_note(const char *name)
{
	const cob_module *module = module_active();
	uint32_t stmt = module != NULL ? module->module_stmt : 0;
	struct head *head = &heads[stmt * UINT32_C(0x9E3779B1) / (UINT32_MAX / HEADS + 1)];

	if (module == NULL)
		return;
	if (head->stmt != stmt || head->name != name || head->program != module->module_name)
		head_store(head, module, name);
	atomic_store_explicit(&head_last, head, memory_order_release);
}

static inline bool heads_are_wanted(void)
{
	return ct_is_on(&ct_rts, CTRACE_FATAL) ||
	       UNLIKELY(__atomic_load_n(dumps, __ATOMIC_RELAXED) != 0);
}

/* Each has a class of its own. */
static struct ctrace_site section_site, paragraph_site, statement_site;

void cob_trace_sect(const char *name)
{
	if (ct_rts_is_on(CTRACE_DEBUG, CT_RTS_PARAGRAPHS) && name != NULL)
		step_trace(&section_site, 1010, name);
	if (heads_are_wanted())
		head_note(name);
	PASS(cob_trace_sect, name);
}

void cob_trace_para(const char *name)
{
	if (ct_rts_is_on(CTRACE_DEBUG, CT_RTS_PARAGRAPHS) && name != NULL)
		step_trace(&paragraph_site, 1011, name);
	if (heads_are_wanted())
		head_note(name);
	PASS(cob_trace_para, name);
}

void cob_trace_stmt(const char *name)
{
	if (ct_rts_is_on(CTRACE_DEBUG, CT_RTS_STATEMENTS) && name != NULL)
		step_trace(&statement_site, 1012, name);
	PASS(cob_trace_stmt, name);
}

void cob_set_exception(const int id)
{
	PASS(cob_set_exception, id);
	if (ct_rts_is_on(CTRACE_DEBUG, CT_RTS_EXCEPTIONS) && id != 0) {
		struct ct_where where = ct_program_where();
		uint32_t code = runtime_state != NULL && ct_run_unit_version_is_known
					? (uint32_t)runtime_state->cob_exception_code
					: (uint32_t)id;

		CTRACE(&ct_rts, CTRACE_DEBUG, 1021,
		       CTRACE_TEXT(where.program.text, where.program.size), CTRACE_U32(code),
		       CTRACE_U32(where.line));
	}
}
