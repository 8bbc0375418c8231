/*
 * lib/emit/emit.h - the emitters, and the text line that all printers share.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_EMIT_H
#define CT_EMIT_H

#include <sys/un.h>

#include "base/base.h"
#include <ctrace/emitter.h>

/* ---- emitter.c: the visible table of built-in emitters, and look-up by name.  The index of an
 * emitter in the process is its bit in destination masks. */
/* destinations from here on are external writers' */
#define CT_EMITTER_LIMIT 16u
extern const struct ctrace_emitter ct_emit_textfile; /* emit_text.c */
extern const struct ctrace_emitter ct_emit_binfile;  /* emit_bin.c */
extern const struct ctrace_emitter ct_emit_stderr;   /* emit_stderr.c */
extern const struct ctrace_emitter ct_emit_es;       /* emit_silent.c */
extern const struct ctrace_emitter ct_emit_nats;     /* emit_nats.c */
#define CT_SPOOL_SIZE_DEFAULT ((uint64_t)1 << 30)
extern const struct ctrace_emitter ct_emit_storage; /* emit_silent.c */
#define CT_EMITTER_STORAGE 5u                       /* its number among the emitters */

/* Finds the emitter of that name (any case; aliases IDEDBG = STDERR, WINEVENT = JOURNAL), and loads
 * a module of that name if there is one.  Returns EMITTER_NOT_FOUND, or INVALID_EMITTER_NAME for a
 * name that is empty or over 31 bytes.  Emitters are never unloaded.  Not for handlers.  The caller
 * holds no lock of ctrace; under one (ct_thread_locked) only known emitters are found. */
enum ctrace_status ct_emitter_find(const char *name, size_t size, uint32_t *out_index) CT_MUST_USE;
/* Like ct_emitter_find(), but never loads a module: for ctrace's own threads in a traced process,
 * and under locks. */
enum ctrace_status ct_emitter_find_known(const char *name, size_t size,
					 uint32_t *out_index) CT_MUST_USE;
void ct_emitter_lock(void); /* before fork */
void ct_emitter_unlock(void);
void ct_emitter_unlock_in_child(void);
const struct ctrace_emitter *ct_emitter_at(uint32_t index); /* NULL past the last */
const struct ctrace_property *ct_emitter_property(const struct ctrace_emitter *emitter,
						  const char *name, size_t size);
/* property_check.c: checks a value that a person wrote.  Pure.  Unless the value is GOOD, out is
 * set (line 0; column in the value, from 1).  ODD deserves a warning but is no error; `expected`
 * then names its effect. */
enum ct_property_finding { CT_PROPERTY_GOOD, CT_PROPERTY_ODD, CT_PROPERTY_WRONG };
enum ct_property_finding ct_property_check(const struct ctrace_property *row, struct ct_span value,
					   struct ct_diagnostic *out);
/* "4096", "500M", "10G", in any case of letters; K to T.  Returns false for other texts, and for 0.
 */
bool ct_size_parse(const char *text, size_t size, uint64_t *out_bytes);
/* Called before a command sets that property: loads the modules that it needs.  Under no lock; not
 * on the thread that consumes. */
void ct_emitter_prepare(uint32_t index, struct ct_span property, struct ct_span value);
/* Calls its method rotate().  Returns UNSUPPORTED when the emitter has none, or an older struct. */
enum ctrace_status ct_emitter_rotate(const struct ctrace_emitter *emitter, void *self) CT_MUST_USE;

/* ---- module.c: emitters in shared objects.  Looks in CTRACE_EMITTERS (colon-separated, absolute,
 * ours or root's and not writable by others), then in the module directory.  NULL when there is
 * none. */
/* out_handle: for dlclose(); may be NULL. */
const struct ctrace_emitter *ct_module_find(const char *upper_name, void **out_handle);
/* A module of ctrace's own that is not an emitter ("cobol": modules/cobol_bridge.c), `<name>.so`
 * from the same directories under the same rules; a dlopen() handle that stays open.  NULL when
 * there is none. */
void *ct_module_open(const char *name);
/* Opens a file of that name from a colon-separated list of directories, by the same rules.  Returns
 * NULL when none may be loaded.  directories may be NULL. */
void *ct_module_open_in(const char *directories, const char *file_name);

/* ---- event_names.c: names of events from catalogues, for the metadata of BINFILE. Reading a
 * catalogue takes more than libc, so the module "catalog" does it (modules/catalog_names.c);
 * without the module, or with a catalogue that cannot be read, there are no names. */
/* The path of ctrace's own catalogues, without the files. */
#define CT_CATALOG_BUILT_IN "built-in"
struct ct_class_names; /* format/format.h */
/* What the module exports as `ct_names_module`.  One thread at a time; never prints, never waits,
 * and reads no environment. */
struct ct_names_module {
	size_t size; /* of this struct as the module knows it */
	/* Opens the catalogue of these files and directories, separated by colons, and of the
	 * directory of installed ones below them.  A file with an error is left out.  Returns NULL
	 * when no file is left. */
	void *(*open)(const char *paths, const char *installed);
	/* Gives the names of an event.  component is not terminated.  The names belong to the
	 * catalogue and stay valid until the next call or close().  Returns false when there are
	 * none. */
	bool (*names)(void *catalog, const char *component, size_t size, uint32_t event_id,
		      struct ct_class_names *out);
	void (*close)(void *catalog);
};
#define CT_NAMES_MODULE "ct_names_module"
struct ct_event_names; /* one catalogue */
struct ct_schema;
/* Loads the module, unless that was tried before.  Does nothing under a lock (ct_thread_locked).
 * Not on the thread that consumes: CONCURRENCY.md. */
void ct_event_names_load(void);
bool ct_event_names_need_module(struct ct_span paths);
void ct_event_names_load_when_set(void); /* when CTRACE_CATALOG or MFTRACE_ANNOTATIONS is */
/* paths: the catalogue; NULL or "": that of CTRACE_CATALOG, or else of MFTRACE_ANNOTATIONS. Returns
 * NULL when there is no catalogue, or no module to read it. */
struct ct_event_names *ct_event_names_open(const char *paths);
/* NULL is accepted; after the schemas that use it */
void ct_event_names_close(struct ct_event_names *names);
/* Makes the schema use these names for its future classes; names may be NULL. */
void ct_event_names_use(struct ct_event_names *names, struct ct_schema *schema);

/* ---- bin_pack.c: compressing BINFILE directories, by the module "zstd" (compress/compress.c) */
bool ct_bin_pack_is_possible(void); /* can the module be loaded?  In a program of ctrace's own */
/* At the end of the process, when all events are in its outputs: waits until its last directory is
 * compressed, 2 s at most. */
void ct_bin_pack_end(void);
/* ct_emitter_lock() for a fork: waits while the module is being loaded, 1 s at most */
void ct_bin_pack_lock(void);
void ct_bin_pack_forked(
	/* in a forked child, which has none of its own; is_whole: the lock of emitter names was
	   taken */
	bool is_whole);

/* ---- line_parts.c: a FORMAT, parsed once into parts, and the text that all lines of a class
 * share.  One thread at a time. */
enum ct_line_variable {
	CT_LINE_TEXT, /* of the FORMAT itself */
	/* the longest run of parts that are equal for all events of a class:
	   ct_line_parts_add_class() */
	CT_LINE_CLASS,
	CT_LINE_APPNAME,
	CT_LINE_COMPONENT,
	CT_LINE_DATA,
	CT_LINE_DATE,
	CT_LINE_EVENT,
	CT_LINE_LEVEL,
	CT_LINE_PROCESS,
	CT_LINE_THREAD,
	CT_LINE_TIME,
	CT_LINE_VARIABLES /* numbers from here on are the reader's printer's */
};
struct ct_line_name {
	const char *name; /* of $(NAME), in any case */
	unsigned variable;
	bool is_of_class; /* the same for all events of a class */
};
struct ct_line_part {
	unsigned variable;
	bool is_of_class;
	const char *text; /* of CT_LINE_TEXT: a piece of the FORMAT */
	size_t size;
};
/* The key of a class's text: events with equal keys share the text. */
struct ct_line_class {
	const char *component, *mnemonic; /* the pointers count, not the names */
	/* Where the pointers are valid: the component's id in its process, or a reader's scope. */
	uint32_t scope;
	uint32_t event_id, level;
};
#define CT_LINE_SLOTS 128u /* classes whose text is kept; two that want one slot take turns */
#define CT_LINE_PIECE 16u  /* the text of a class is copied in such pieces */
struct ct_line_slot {
	struct ct_line_class class;
	bool is_set;
	struct ct_buf text; /* with room for a last whole piece */
};
struct ct_line_parts {
	struct ct_line_part *parts;
	size_t count;
	const struct ct_line_part *run; /* the parts behind CT_LINE_CLASS */
	size_t run_count;
	struct ct_line_slot *slots; /* the texts of classes */
};
/* format must outlive the parts.  An unknown variable stays as text. */
enum ctrace_status ct_line_parts_init(struct ct_line_parts *parts, const char *format,
				      const struct ct_line_name *names,
				      size_t name_count) CT_MUST_USE;
void ct_line_parts_fini(struct ct_line_parts *parts);
typedef void ct_line_add_part_of(const void *self, struct ct_buf *out,
				 const struct ct_line_part *part, const void *of);
/* The slow half of ct_line_parts_add_class(): the slot gets the text of the class. */
void ct_line_slot_fill(struct ct_line_slot *slot, const struct ct_line_parts *parts,
		       const struct ct_line_class *class, ct_line_add_part_of *add,
		       const void *self, const void *of);
/* add: adds one part of the run for `of`, an event of the class. */
static inline void ct_line_parts_add_class(const struct ct_line_parts *parts, struct ct_buf *out,
					   const struct ct_line_class *class,
					   ct_line_add_part_of *add, const void *self,
					   const void *of)
{
	uint64_t hash =
		((uintptr_t) class->component >> 3) * 31 + class->event_id * 7 + class->level;
	struct ct_line_slot *slot = &parts->slots[(hash ^ hash >> 8) % CT_LINE_SLOTS];
	const struct ct_line_class *is = &slot->class;
	const char *text;
	size_t size;
	char *at;

	if (__builtin_expect(is->component != class->component || is->mnemonic != class->mnemonic ||
				     is->event_id != class->event_id || is->level != class->level ||
				     is->scope != class->scope || !slot->is_set,
			     0)) {
		ct_line_slot_fill(slot, parts, class, add, self, of);
		out->failed |= slot->text.failed;
	}
	text = slot->text.data;
	size = slot->text.size;
	at = ct_buf_room(out, size + CT_LINE_PIECE);
	if (at == NULL)
		return;
	for (size_t i = 0; i < size; i += CT_LINE_PIECE)
		memcpy(at + i, text + i, CT_LINE_PIECE);
	out->size += size;
}

/* ---- text_line.c: an event as one line, by a FORMAT with pseudo-variables. */
struct ct_line_format {
	const char *format;        /* "$(TIME) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)" */
	const char *delimiter;     /* before every data item, DELIMCHAR */
	uint32_t hex_block_size;   /* HEXBLOCKSIZE; 0 counts as no blocks */
	bool quote_strings;        /* QUOTESTRING */
	const char *program;       /* for $(APPNAME), or NULL */
	enum ct_encoding encoding; /* of text items, ENCODING */
};
#define CT_LINE_FORMAT "$(TIME) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)"
/* The longest line: a byte of text may become as long as \u{200E}. */
#define CT_LINE_MAX ((uint64_t)8 * CTRACE_MAX_EVENT)
/* A prepared format, for the events of one process, where a component id has one name.  One thread
 * at a time. */
struct ct_line_printer {
	struct ct_line_format format;
	size_t delimiter_size;
	struct ct_line_parts parts;
};
/* The texts of the format must outlive the printer. */
enum ctrace_status ct_line_printer_init(struct ct_line_printer *line,
					const struct ct_line_format *format) CT_MUST_USE;
/* The same with other names than TEXTFILE's. */
enum ctrace_status ct_line_printer_init_with(struct ct_line_printer *line,
					     const struct ct_line_format *format,
					     const struct ct_line_name *names,
					     size_t name_count) CT_MUST_USE;
void ct_line_printer_fini(struct ct_line_printer *line);
/* with '\n' */
void ct_line_add(const struct ct_line_printer *line, struct ct_buf *out,
		 const struct ctrace_event *event);
/* Adds one part of an event's line.  Adds nothing for variables of the reader's printer. */
ct_line_add_part_of ct_line_add_part;
void ct_line_add_data(const struct ct_line_printer *line, struct ct_buf *out,
		      const struct ctrace_event *event); /* all items, each behind a delimiter */
/* The rest is pure; any thread. */
/* One data item as the line shows it (173, "myprog", 31323334-3536, 0x7FFC...). */
void ct_line_add_item(struct ct_buf *out, const struct ct_line_format *format,
		      const struct ctrace_event_item *item);
/* A text in this encoding, as a text item. */
void ct_line_add_encoded(struct ct_buf *out, const struct ct_line_format *format,
			 enum ct_encoding encoding, const void *data, size_t size);
/* "15:12:27.993" and "2018/09/13", local time. */
void ct_line_add_time(struct ct_buf *out, uint64_t time_ns);
void ct_line_add_date(struct ct_buf *out, uint64_t time_ns);
/* of a second: 3 to 9 */
void ct_line_add_fine_time(struct ct_buf *out, uint64_t time_ns, unsigned digits);
/* "# Lost             = 12 discarded, 3 stalled (process 1234)".  At least one total is not 0. */
void ct_line_add_losses(struct ct_buf *out, const uint64_t totals[CTRACE_LOSS_COUNT], uint32_t pid);

/* The steps of the wall clock up to the last printed line; before the first line, steps is
 * CT_CLOCK_UNSEEN. */
#define CT_CLOCK_UNSEEN UINT32_MAX
struct ct_clock_seen {
	uint32_t steps;
	int64_t total_ns;
};
/* "# Clock set back by 3600.000000 s at 2026/11/22 15:12:27.993 (process 1234)": the clock was set
 * between the last line and this event; the time is that of the new clock, like the event's.  Adds
 * nothing if it was not set. */
void ct_line_note_clock(struct ct_buf *out, struct ct_clock_seen *seen,
			const struct ctrace_event *event);
static inline void ct_line_add_clock(struct ct_buf *out, struct ct_clock_seen *last,
				     const struct ctrace_event *event)
{
	if (event->clock != NULL && event->clock->steps != last->steps)
		ct_line_note_clock(out, last, event);
}
/* "3600.000000 s": clock readings are exact to a microsecond only. */
void ct_line_add_seconds(struct ct_buf *out, uint64_t ns);
/* "back by 3600.000000 s" or "forward by ...". */
void ct_line_add_step(struct ct_buf *out, int64_t by_ns);

/* ---- line_settings.c: the properties that all emitters of lines have: DELIMCHAR ENCODING FORMAT
 * HEXBLOCKSIZE LEVEL QUOTESTRING.  */
/* Returns the value of ENCODING, which BINFILE has too; ASCII when it is unset or unknown. */
enum ct_encoding ct_encoding_setting(const struct ctrace_emitter_context *context);
#define CT_ENCODING_PROPERTY \
	{ \
		"ENCODING", CTRACE_PROPERTY_ENCODING, NULL, \
			"Of text items: latin-1, ebcdic-1141, shift-jis ...; else bytes as they are." \
	}
struct ct_line_settings {
	struct ct_line_printer line;
	uint32_t level; /* events below it are not printed; CTRACE_LEVEL_NONE: prints nothing */
	char *texts[2]; /* memory that its format points to */
};
#define CT_LINE_PROPERTIES(FORMAT_DEFAULT, LEVEL_DEFAULT) \
	{ "DELIMCHAR", CTRACE_PROPERTY_TEXT, " ", \
	  "Stands before every data item; \\t is a tab, \\s a blank." }, \
		CT_ENCODING_PROPERTY, \
		{ "FORMAT", CTRACE_PROPERTY_FORMAT, FORMAT_DEFAULT, \
		  "What a line consists of; see the pseudo-variables." }, \
		{ "HEXBLOCKSIZE", CTRACE_PROPERTY_NUMBER, "8", \
		  "Bytes in a block of hexadecimal output; 0: no blocks." }, \
		{ "LEVEL", CTRACE_PROPERTY_LEVEL, LEVEL_DEFAULT, \
		  "Events below this level are not printed; 5 or more silences." }, \
	{ \
		"QUOTESTRING", CTRACE_PROPERTY_SWITCH, "TRUE", \
			"Text items stand in double quotes." \
	}
enum ctrace_status ct_line_settings_init(struct ct_line_settings *settings,
					 const struct ctrace_emitter_context *context) CT_MUST_USE;
void ct_line_settings_fini(struct ct_line_settings *settings);
/* LEVEL: a name, or a number of at most 32 bits. */
uint32_t ct_line_settings_level(const struct ctrace_emitter_context *context);

/* ---- progress.c: for outputs that cannot be truncated: how much of a failed batch is written. */
struct ct_progress {
	uint32_t done; /* events of the failed batch that are written; the last of them: */
	uint32_t event_id;
	uint32_t component_id;
	uint32_t tid;
	uint64_t time_ns;
};
/* Returns the index of the first event of this batch that is not written yet. */
uint32_t ct_progress_resume(const struct ct_progress *progress, const struct ctrace_batch *batch);
/* Notes that the first `done` events of the batch are written. */
void ct_progress_note(struct ct_progress *progress, const struct ctrace_batch *batch,
		      uint32_t done);

/* ---- line_settings.c: the first member of an emitter of lines. */
struct ct_line_output {
	const struct ctrace_emitter_context *context;
	struct ct_line_settings settings;
	struct ct_progress progress;
	struct ct_buf lines;
	uint64_t lost[CTRACE_LOSS_COUNT];
	bool losses_due; /* `lost` is not in the output yet */
};
/* size: of the emitter's own struct. */
enum ctrace_status ct_line_output_open(size_t size, const struct ctrace_emitter_context *context,
				       void **out_self) CT_MUST_USE;
/* an emitter's method */
void ct_line_output_lost(void *self, const uint64_t totals[CTRACE_LOSS_COUNT]);
void ct_line_output_close(void *self); /* the same; frees it */

/* Reports the cause of a failure, before open() or write() returns.  Keeps errno. */
static inline void ct_emitter_failed_at(const struct ctrace_emitter_context *context,
					const char *what)
{
	if (context->failed_at != NULL)
		context->failed_at(context, what);
}

/* ---- output_file.c: shared by TEXTFILE and BINFILE: FILE pseudo-variables, LOCATION ->
 * MFTRACE_LOGS -> working directory, generations. */
/* A name of at most so many bytes leaves room in 255 for those that are made of it, such as
 * .NAME.new-4711. */
#define CT_FILE_NAME_MOST 200u
/* Expands FILE: $(APPNAME) $(EMITTER) (lower case) $(PID) $(GEN) $(PLATFORM); an unknown variable
 * stays as it is.  A long name of a program is cut. has_others: there are several generations, so
 * the number is added even if FILE lacks it.  Returns false without memory. */
bool ct_file_name_print(struct ct_buf *out, const struct ctrace_emitter_context *context,
			const struct ctrace_emitter *emitter, uint32_t generation, bool has_others);
/* Says of an output that a recoverer goes on beside or behind: somebody has cut or removed it. */
void ct_file_say_missing(const struct ctrace_emitter_context *context, const char *path,
			 uint64_t missing, uint64_t counts);
/* Does the path end in this name?  An absolute name must be the whole path. */
bool ct_file_name_ends(const char *path, size_t size, const struct ct_buf *name);
/* The names that are tried beside one that is taken: "<path>.<pid>", from number 2 on
 * "<path>.<pid>.<number>".  Returns false, with errno, when that is too long. */
#define CT_FILE_BESIDE_LIMIT 9u
bool ct_file_name_beside(const char *path, uint32_t pid, unsigned number,
			 char out[CTRACE_EMITTER_PATH_SIZE]) CT_MUST_USE;
/* Calls attempt(absolute path) for LOCATION (made when missing), MFTRACE_LOGS, the working
 * directory in turn, until one succeeds, and gives its path.  An absolute FILE is tried alone.
 * What is relative fails when the process's working directory is not known or gone.  Directories in
 * FILE are made (0700) if ct_file_is_within().  In a run the directory is that of
 * ct_file_run_find(), and no other is tried. */
enum ctrace_status ct_file_place(const struct ctrace_emitter_context *context,
				 const char *file_name,
				 enum ctrace_status (*attempt)(const char *path, void *user),
				 void *user, char out_path[CTRACE_EMITTER_PATH_SIZE]) CT_MUST_USE;

/* ---- file_run.c: the directory of a `ctrace run`, which has the run's number in a file. */
#define CT_FILE_RUN_MARK ".ctrace-run"
#define CT_FILE_RUN_OLD ".old" /* the directory's name ends so after the next run has begun */
#define CT_FILE_RUN_SIZE 64u
/* Names the abstract socket of the `ctrace run` that has made this configuration.  Returns its
 * size; 0: no run's. */
#define CT_FILE_RUN_DIRECTORY "ctrace-run.XXXXXX" /* of the configuration */
size_t ct_file_run_socket(const char *config, struct sockaddr_un *out_name);
/* Reports to that run what its trace does not have: a program that cannot read the configuration,
 * as another user's, or the programs of a `ctrace run` inside. */
#define CT_FILE_RUN_UNREAD '\0'
#define CT_FILE_RUN_INNER '\1'
void ct_file_run_report(const char *config, char what);
#define CT_FILE_RUN_GOES_ON "+" /* after the number, while `ctrace run` lives */
#define CT_FILE_RUN_DONE "."    /* after it, when no process of the run and no event is left */
enum ct_file_run_state {
	CT_FILE_RUN_UNKNOWN, /* no directory has the number */
	CT_FILE_RUN_RUNS,
	CT_FILE_RUN_ENDED, /* in order */
	CT_FILE_RUN_KILLED
};
/* Returns the state of the `ctrace run` with this number and this LOCATION. */
enum ct_file_run_state ct_file_run_look(const char *location, const char *run);
/* Copies RUN, the number of the run; NULL: the process belongs to none. */
const char *ct_file_run(const struct ctrace_emitter_context *context, char out[CT_FILE_RUN_SIZE]);
/* Returns true when this file is the mark of that run. */
bool ct_file_run_is_at(int directory_fd, const char *path, const char *run);
/* Finds the run's directory: LOCATION, or LOCATION.old.  Returns false, with errno, when neither
 * is. */
bool ct_file_run_find(const struct ctrace_emitter_context *context, const char *run,
		      char out_directory[CTRACE_EMITTER_PATH_SIZE]);
/* Changes the path of a file in the run's directory to the directory's present name. */
bool ct_file_run_follow(const struct ctrace_emitter_context *context, const char *run,
			char path[CTRACE_EMITTER_PATH_SIZE]);

/* ---- output_file.c again */
/* Does FILE stay in the output directory?  It has no "..", and an absolute FILE is below LOCATION
 * (which may be NULL). */
bool ct_file_is_within(const char *location, const char *file_name);
/* "0600" or "0640", also without the first 0. */
bool ct_file_mode_parse(const char *text, size_t size, uint32_t *out_mode);
/* Read access for others than the owner: MODE and GROUP.  All 0: no access, and existing files keep
 * theirs. */
struct ct_file_access {
	uint32_t mode; /* 0: not set */
	uint32_t group;
	bool has_group;
};
/* Finds a group of /etc/group by name, or any group by number. */
bool ct_file_group_find(const char *name, size_t size, uint32_t *out_group);
struct ct_file_access ct_file_access_read(const struct ctrace_emitter_context *context);
/* Gives that access to a file or directory of ours.  If the group cannot be set, only the owner has
 * access. */
void ct_file_access_give(int fd, const struct ct_file_access *access);
#define CT_FILE_ACCESS_PROPERTIES \
	{ "GROUP", CTRACE_PROPERTY_GROUP, NULL, \
	  "The group that may read: a name of /etc/group, or a number." }, \
	{ \
		"MODE", CTRACE_PROPERTY_MODE, NULL, \
			"0640: the group may read; 0600: nobody else may.  0640 when GROUP is set, else 0600." \
	}

/* MAXGENERATION; 1: one file without a limit */
uint32_t ct_file_generations(const struct ctrace_emitter_context *context);
/* Returns the first generation of a process: the first that does not exist, else the one after the
 * newest.  So the newest generation of other processes is overwritten last. */
uint32_t ct_file_generation_first(const struct ctrace_emitter_context *context,
				  const struct ctrace_emitter *emitter);
/* Gives the file or directory that open() of TEXTFILE or BINFILE would take over.  The process that
 * did not close it should be recovered first.  Returns false when open() would make a new one, and
 * for other emitters.  Creates LOCATION, and changes nothing else. */
bool ct_emitter_output_path(const struct ctrace_emitter *emitter,
			    const struct ctrace_emitter_context *context,
			    char out_path[CTRACE_EMITTER_PATH_SIZE]);

/* ---- text_file.c: the open file of TEXTFILE: locks, generations, and changes by others. */
struct ct_text_file {
	int fd;               /* -1: none */
	int parent_fd;        /* of the directory that it is in; -1: none */
	struct ct_file_id id; /* the file that fd was opened for */
	struct ct_file_id parent_id;
	struct ct_world world; /* where `path` is valid */
	uint32_t generation;   /* from 1 */
	uint64_t size;         /* offset of the next line */
	bool header_due;       /* a header comes before the next line */
	bool cut_due;          /* truncating it to size failed: bytes beyond size do not count */
	char path[CTRACE_EMITTER_PATH_SIZE];
};
enum ct_text_sharing {
	CT_TEXT_OWN,        /* appended to, by this process alone */
	CT_TEXT_GENERATION, /* the same, but begun empty */
	CT_TEXT_SHARED      /* MULTIPROC */
};
void ct_text_file_init(struct ct_text_file *file);
void ct_text_file_close(struct ct_text_file *file);
/* Drops descriptors that the program has closed, without closing them: the same file, opened again,
 * may get the same number. */
void ct_text_file_drop_lost(struct ct_text_file *file);
/* Opens the file that the properties name.  If another process has that file, the name gets
 * ".<pid>".  before: the previous file, or NULL.  After a change of its root directory the process
 * goes on in that file's directory. */
enum ctrace_status ct_text_file_create(struct ct_text_file *file,
				       const struct ctrace_emitter_context *context,
				       uint32_t generation, enum ct_text_sharing sharing,
				       const struct ct_text_file *before) CT_MUST_USE;
/* Continues at context->place.  Cuts off the bytes behind it, unless another process wrote them. */
enum ctrace_status ct_text_file_resume(struct ct_text_file *file,
				       const struct ctrace_emitter_context *context,
				       enum ct_text_sharing sharing) CT_MUST_USE;
/* Called before each batch: prepares the open file for writing at `size`.  Returns NOT_FOUND when
 * the file was removed or replaced; then the caller opens another. */
enum ctrace_status ct_text_file_check(struct ct_text_file *file,
				      enum ct_text_sharing sharing) CT_MUST_USE;
/* Both first check that the descriptor still refers to the file. */
enum ctrace_status ct_text_file_write(struct ct_text_file *file, const void *data,
				      size_t size) CT_MUST_USE; /* at its size, which grows */
enum ctrace_status ct_text_file_cut(struct ct_text_file *file) CT_MUST_USE; /* to its size */
/* Does its path still name it?  False when it was renamed, removed or replaced, or is not open. */
bool ct_text_file_is_in_place(const struct ct_text_file *file);
/* MULTIPROC: the lock to hold while writing.  Returns TIMED_OUT when another process keeps it. */
enum ctrace_status ct_text_file_lock(struct ct_text_file *file) CT_MUST_USE;
void ct_text_file_unlock(struct ct_text_file *file);
void ct_text_file_get_place(const struct ct_text_file *file, struct ctrace_place *place);
/* Makes `place` that of a new generation, where the present batch began at began_at, `turns`
 * generations earlier. */
void ct_text_file_split_place(struct ctrace_place *place, uint64_t began_at, uint32_t turns);
/* Returns how many generations before this one the unfinished batch began, at place->offset there;
 * 0: no batch was unfinished. */
uint32_t ct_text_file_turns(const struct ctrace_place *place, uint32_t *out_generation);
/* Gives the path of another generation than the place's.  Returns false when FILE did not name the
 * place. */
bool ct_text_file_other_generation(const struct ctrace_emitter_context *context,
				   uint32_t generation, uint32_t other,
				   char out_path[CTRACE_EMITTER_PATH_SIZE]);

/* ---- text_seen.c: uncommitted lines of a dead process in a file. */
struct ct_text_seen {
	uint64_t *hashes;
	size_t count;
	size_t capacity;
};
/* Adds the lines behind `from` that process pid wrote; for from > 0 also the lines before the
 * first header.  Adds nothing when the file cannot be read. */
void ct_text_seen_load(struct ct_text_seen *seen, const char *path, uint64_t from, uint32_t pid);
/* Was that line seen?  Each occurrence answers true once.  line ends with '\n'. */
bool ct_text_seen_take(struct ct_text_seen *seen, const char *line, size_t size);
void ct_text_seen_fini(struct ct_text_seen *seen);

/* ---- emit_text.c: the block at the beginning of a text file begins with it. */
#define CT_TEXT_HEADER_MARK "# -MFTRACE Text Emitter-\n"

#endif
