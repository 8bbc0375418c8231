/*
 * cobol_runtime.h - libctrace-cobol.so: what a COBOL program does outside its own storage, traced
 * without a change of the program.
 *
 * The library stands in front of libcob: it defines functions of libcob, traces a call, and passes
 * it on.  Three ways lead there: LD_PRELOAD, a link in front of -lcob, and COB_PRE_LOAD, where
 * got.c writes the library's functions into the tables of the programs.  It does nothing in a
 * process that never initialises libcob.
 *
 * What may never happen here, beside the rules of src/lib/README.md: a call may not change its
 * result, RETURN-CODE, errno, a file status, or the order of output.  Record contents and keys are
 * the business's data; they are traced only on request.
 *
 * The COBOL run time has one thread.  All hooks run on it; only the callbacks of switches.c run on
 * an operator's thread, and share the words that are marked there.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_COBOL_RUNTIME_COBOL_RUNTIME_H
#define CT_COBOL_RUNTIME_COBOL_RUNTIME_H

#include <ctrace/ctrace.h>
#include <stdatomic.h>

#pragma GCC visibility push(default)
#include <libcob.h>
#pragma GCC visibility pop

#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* ---- switches.c: what is traced.  Levels and properties of three components, which configuration
 * files, programs and operators set as those of any other. */
extern struct ctrace_tracer ct_rts; /* mf.rts */
extern struct ctrace_tracer ct_xfh; /* mf.mffh.xfh */
extern struct ctrace_tracer ct_io;  /* mf.rts.io */

/* Properties of mf.rts. */
#define CT_RTS_PGM 1u        /* entry, exit and cancel of programs */
#define CT_RTS_PGMSEARCH 2u  /* the search for called programs */
#define CT_RTS_PGMLOAD 4u    /* modules that are loaded */
#define CT_RTS_PARAGRAPHS 8u /* sections and paragraphs */
#define CT_RTS_STATEMENTS 16u
#define CT_RTS_EXCEPTIONS 32u /* exception conditions */

/* Properties of mf.mffh.xfh. */
#define CT_XFH_BASE 1u    /* calls and returns of the file handler */
#define CT_XFH_RECORDS 2u /* record areas */
#define CT_XFH_ALL 4u     /* every file: all, or file:* */
#define CT_XFH_BYTES 8u   /* bsio: the byte stream routines */

/* Written by callbacks on any thread, read by the hooks: relaxed, each word stands alone. */
extern _Atomic uint32_t ct_rts_properties;
extern _Atomic uint32_t ct_xfh_properties;
/* Raised after each change of a property of mf.mffh.xfh: what is known of file:NAME is stale. */
extern _Atomic uint32_t ct_xfh_generation;

/* Registers the tracers and reads their properties.  Once, before the first event. */
void ct_switches_init(void);
/* Is the property file:`name` of mf.mffh.xfh on? */
bool ct_switches_file_is_on(const char *name, size_t size);

/* ctrace_enabled() without its call for a tracer that is not registered: that one passes here, and
 * its trace call decides.  So a hook has no call while nothing is traced. */
static inline bool ct_is_on(const struct ctrace_tracer *tracer, uint32_t level)
{
	return UNLIKELY(ctrace_passes_(ctrace_level_word_(tracer), level));
}

/* True when events of this level and property of mf.rts are wanted. */
static inline bool ct_rts_is_on(uint32_t level, uint32_t property)
{
	return ct_is_on(&ct_rts, level) &&
	       (atomic_load_explicit(&ct_rts_properties, memory_order_relaxed) & property) != 0;
}

/* ---- program.c: the program that runs, and where it is */

/* A text of the compiled program or of libcob: it stays where it is. */
struct ct_name {
	const char *text;
	size_t size;
};

struct ct_where {
	struct ct_name program; /* empty: no program is active */
	uint32_t line;          /* of the statement; 0: not compiled in */
};

/* The active program and the line of its statement. */
struct ct_where ct_program_where(void);
/* The same after a fault, which may have destroyed what leads there: reads without another fault.
 * The name goes into `name`.  Async-signal-safe. */
#define CT_FAULT_NAME 64
struct ct_where ct_program_where_after_fault(char name[CT_FAULT_NAME]);
/* The run time begins: from now on dumps have program, paragraph, source and line. */
void ct_program_begin(void);
/* The source file of the active program's statement; empty: not compiled in. */
struct ct_name ct_program_source(void);
/* The text that the active program passes to a routine of libcob as its argument `at`, from 0. */
struct ct_name ct_program_argument(unsigned at);
/* Traces the entry of the program that runs, if that still waits.  Called before each other event.
 */
void ct_program_entry_flush(void);
/* The run time ends: no program is active any more. */
void ct_program_end(void);
/* Was a program searched for that has to exist?  The first run-time error after that means that it
 * does not. */
bool ct_program_is_searched_for(void);

/* ---- run_unit.c */

/* The run time is there: registers the tracers, traces the beginning.  argc 0: the arguments are
 * those that the kernel knows. */
void ct_run_unit_begin(int argc, char **argv);
/* False: libcob's structures may have another layout than those that this library was built with.
 * Set by ct_run_unit_begin(). */
extern bool ct_run_unit_version_is_known;
/* Has STOP RUN begun?  libcob frees its state then. */
bool ct_run_unit_is_ending(void);

/* ---- got.c: for COB_PRE_LOAD.  Writes the library's functions into the tables by which programs
 * and modules call libcob.  Cheap when no object was loaded since the last call. */
void ct_got_patch(void);

/* ---- calls.c: the functions of libcob that the hooks pass on to */

/* A file handler of the site (cobc -fcallfh). */
typedef int ct_file_handler(unsigned char *operation, FCD3 *description);

/* name, result, parameters, arguments.  The first call through one of them finds all. */
#define CT_CALLS(X) \
	X(cob_init, void, (const int argc, char **argv), (argc, argv)) \
	X(cob_stop_run, void, (const int status), (status)) \
	X(cob_tidy, int, (void), ()) \
	X(cob_module_global_enter, int, \
	  (cob_module * *module, cob_global * *state, const int initialises, const int entry, \
	   const unsigned int *hash), \
	  (module, state, initialises, entry, hash)) \
	X(cob_module_enter, void, \
	  (cob_module * *module, cob_global * *state, const int initialises), \
	  (module, state, initialises)) \
	X(cob_module_leave, void, (cob_module * module), (module)) \
	X(cob_set_cancel, void, (cob_module * module), (module)) \
	X(cob_cancel, void, (const char *name), (name)) \
	X(cob_cancel_field, void, (const cob_field *field, const struct cob_call_struct *known), \
	  (field, known)) \
	X(cob_resolve_cobol, void *, (const char *name, const int folds, const int must_exist), \
	  (name, folds, must_exist)) \
	X(cob_call_field, void *, \
	  (const cob_field *field, const struct cob_call_struct *known, \
	   const unsigned int must_exist, const int folds), \
	  (field, known, must_exist, folds)) \
	X(cob_trace_sect, void, (const char *name), (name)) \
	X(cob_trace_para, void, (const char *name), (name)) \
	X(cob_trace_stmt, void, (const char *name), (name)) \
	X(cob_set_exception, void, (const int id), (id)) \
	X(cob_open, void, (cob_file * file, const int mode, const int sharing, cob_field *status), \
	  (file, mode, sharing, status)) \
	X(cob_close, void, \
	  (cob_file * file, cob_field * status, const int option, const int remap), \
	  (file, status, option, remap)) \
	X(cob_read, void, \
	  (cob_file * file, cob_field * key, cob_field * status, const int options), \
	  (file, key, status, options)) \
	X(cob_read_next, void, (cob_file * file, cob_field * status, const int options), \
	  (file, status, options)) \
	X(cob_write, void, \
	  (cob_file * file, cob_field * record, const int option, cob_field *status, \
	   const unsigned int checks_end), \
	  (file, record, option, status, checks_end)) \
	X(cob_rewrite, void, \
	  (cob_file * file, cob_field * record, const int option, cob_field *status), \
	  (file, record, option, status)) \
	X(cob_delete, void, (cob_file * file, cob_field * status), (file, status)) \
	X(cob_start, void, \
	  (cob_file * file, const int condition, cob_field *key, cob_field *size, \
	   cob_field *status), \
	  (file, condition, key, size, status)) \
	X(cob_unlock_file, void, (cob_file * file, cob_field * status), (file, status)) \
	X(cob_delete_file, void, (cob_file * file, cob_field * status), (file, status)) \
	X(cob_extfh_open, void, \
	  (ct_file_handler * handler, cob_file * file, const int mode, const int sharing, \
	   cob_field *status), \
	  (handler, file, mode, sharing, status)) \
	X(cob_extfh_close, void, \
	  (ct_file_handler * handler, cob_file * file, cob_field * status, const int option, \
	   const int remap), \
	  (handler, file, status, option, remap)) \
	X(cob_extfh_read, void, \
	  (ct_file_handler * handler, cob_file * file, cob_field * key, cob_field * status, \
	   const int options), \
	  (handler, file, key, status, options)) \
	X(cob_extfh_read_next, void, \
	  (ct_file_handler * handler, cob_file * file, cob_field * status, const int options), \
	  (handler, file, status, options)) \
	X(cob_extfh_write, void, \
	  (ct_file_handler * handler, cob_file * file, cob_field * record, const int option, \
	   cob_field *status, const unsigned int checks_end), \
	  (handler, file, record, option, status, checks_end)) \
	X(cob_extfh_rewrite, void, \
	  (ct_file_handler * handler, cob_file * file, cob_field * record, const int option, \
	   cob_field *status), \
	  (handler, file, record, option, status)) \
	X(cob_extfh_delete, void, \
	  (ct_file_handler * handler, cob_file * file, cob_field * status), \
	  (handler, file, status)) \
	X(cob_extfh_start, void, \
	  (ct_file_handler * handler, cob_file * file, const int condition, cob_field *key, \
	   cob_field *size, cob_field *status), \
	  (handler, file, condition, key, size, status)) \
	X(cob_commit, void, (void), ()) \
	X(cob_rollback, void, (void), ()) \
	X(cob_file_free, void, (cob_file * *file, cob_file_key * *keys), (file, keys)) \
	X(cob_file_sort_init, void, \
	  (cob_file * file, const unsigned int keys, const unsigned char *collation, void *result, \
	   cob_field *status), \
	  (file, keys, collation, result, status)) \
	X(cob_file_sort_close, void, (cob_file * file), (file)) \
	X(cob_file_release, void, (cob_file * file), (file)) \
	X(cob_file_return, void, (cob_file * file), (file)) \
	X(cob_sys_open_file, int, \
	  (unsigned char *name, unsigned char *access, unsigned char *lock, unsigned char *device, \
	   unsigned char *handle), \
	  (name, access, lock, device, handle)) \
	X(cob_sys_create_file, int, \
	  (unsigned char *name, unsigned char *access, unsigned char *lock, unsigned char *device, \
	   unsigned char *handle), \
	  (name, access, lock, device, handle)) \
	X(cob_sys_read_file, int, \
	  (unsigned char *handle, unsigned char *offset, unsigned char *size, \
	   unsigned char *flags, unsigned char *buffer), \
	  (handle, offset, size, flags, buffer)) \
	X(cob_sys_write_file, int, \
	  (unsigned char *handle, unsigned char *offset, unsigned char *size, \
	   unsigned char *flags, unsigned char *buffer), \
	  (handle, offset, size, flags, buffer)) \
	X(cob_sys_flush_file, int, (unsigned char *handle), (handle)) \
	X(cob_sys_close_file, int, (unsigned char *handle), (handle)) \
	X(cob_sys_delete_file, int, (unsigned char *name), (name)) \
	X(cob_sys_copy_file, int, (unsigned char *name, unsigned char *copy), (name, copy)) \
	X(cob_sys_rename_file, int, (unsigned char *name, unsigned char *new_name), \
	  (name, new_name)) \
	X(cob_accept, void, (cob_field * field), (field)) \
	X(cob_field_accept, void, \
	  (cob_field * field, cob_field * line, cob_field * column, cob_field * foreground, \
	   cob_field * background, cob_field * scroll, cob_field * timeout, cob_field * prompt, \
	   cob_field * size, const cob_flags_t flags), \
	  (field, line, column, foreground, background, scroll, timeout, prompt, size, flags))

#define CT_CALL_DECLARE(name, result, parameters, arguments) \
	extern result(*_Atomic ct_##name) parameters;
CT_CALLS(CT_CALL_DECLARE)
#undef CT_CALL_DECLARE

/* The functions with a variable number of arguments, which a first call cannot pass on. */
extern void (*_Atomic ct_cob_display)(const int device, const int ends_line, const int count, ...);
extern void (*_Atomic ct_cob_runtime_error)(const char *format, ...);
extern void (*_Atomic ct_cob_runtime_warning)(const char *format, ...);

/* Passes a call on. */
#define PASS(name, ...) atomic_load_explicit(&ct_##name, memory_order_relaxed)(__VA_ARGS__)

/* Finds all functions that are still to be found.  Any number of times. */
void ct_calls_find(void);
/* The library's function that replaces libcob's of this name; NULL: none does. */
void *ct_calls_hook(const char *name);
/* libcob's own function of this name, which is not `hook`.  NULL: this libcob has none, so no
 * program calls it. */
void *ct_calls_find_real(const char *name, const void *hook);
/* Returns true for the path of a libcob, of any version. */
bool ct_calls_name_is_libcob(const char *path);
/* Returns true when libcob's own functions are reached without this library. */
bool ct_calls_are_passed_over(void);

#endif
