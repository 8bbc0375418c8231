/*
 * catalog/catalog.h - the meaning of events: the catalogue, one YAML file per component, and the
 * copybooks that it names.
 *
 * Used by readers (the tool) and by the module catalog.so, which gives BINFILE its names; never
 * linked into libctrace.so.  A catalogue is read once and then only searched, on one thread.  Files
 * may be hostile: every limit below is checked, and errors are reported with their position.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CATALOG_H
#define CT_CATALOG_H

#include "base/base.h"
#include "catalog/copybook/copybook.h"
#include <ctrace/event.h>

#define CT_CATALOG_FILE_LIMIT ((size_t)4 << 20) /* bytes a file */
#define CT_CATALOG_DEPTH 16u                    /* of nested YAML */
#define CT_MNEMONIC_SIZE 32u                    /* bytes; the listings show 8 */
#define CT_CATALOG_CHOOSERS 4u                  /* items that choose a record */

/* How an item is shown. */
enum ct_print {
	CT_PRINT_DEFAULT, /* by its type */
	CT_PRINT_HEX,
	CT_PRINT_DECIMAL,
	CT_PRINT_TEXT, /* the bytes are characters in the argument's encoding */
	/* an integer: nanoseconds since 1970, or in the argument's unit */
	CT_PRINT_TIME,
	CT_PRINT_FLAGS,       /* an integer: names of its bits, joined by | */
	CT_PRINT_ENUMERATION, /* an integer: the name of its value */
	CT_PRINT_RECORD,      /* by its copybook */
	CT_PRINT_COUNT
};
/* "default", "hex" ...: the words of a catalogue */
extern const char *const ct_print_words[CT_PRINT_COUNT];

/* The name of a value (enumeration) or of the bits set in it (flags). */
struct ct_label {
	uint64_t value;
	const char *name;
};

/* The meaning of an item for the operation that its event reports. */
enum ct_argument_role {
	CT_ARGUMENT_ROLE_NONE,
	CT_ARGUMENT_ROLE_DURATION, /* an integer: nanoseconds that it took until the event */
	CT_ARGUMENT_ROLE_BYTES,    /* an integer: how much it read or wrote */
	CT_ARGUMENT_ROLE_STATUS,   /* its result; zero, as a number or in digits, is success */
	CT_ARGUMENT_ROLE_COUNT
};

/* One item of an event.  All texts are terminated and belong to the catalogue. */
struct ct_argument {
	const char *name;        /* letters, digits, _ and -; unique in its event */
	const char *description; /* "" */
	enum ct_print print;
	uint64_t unit_ns; /* of CT_PRINT_TIME: the unit */
	const struct ct_label *labels;
	uint32_t label_count;
	const struct ct_copybook *copybook; /* of CT_PRINT_RECORD; else NULL */
	const char *copybook_name;          /* as written in the file; or NULL */
	/* of CT_PRINT_RECORD without a copybook: the values of these arguments of the event choose
	 * a record of the component, the first one that does */
	uint32_t choosers[CT_CATALOG_CHOOSERS];
	uint32_t chooser_count;
	enum ct_encoding encoding; /* of text */
	enum ct_argument_role role;
	bool is_key; /* SUMMARY shows it */
	/* its value is the event's ASID: ASIDLIST compares it instead of the process's */
	bool is_asid;
	bool is_jobname; /* likewise, for JOBLIST */
};

/* CT_PAIR_UNTIL begins a span that has no exit: its end is inferred from `until`. */
enum ct_pairing { CT_PAIR_NONE, CT_PAIR_ENTRY, CT_PAIR_EXIT, CT_PAIR_UNTIL };

/* An event that ends a span by being traced.  A span also ends with the span around it. */
#define CT_UNTIL_LIMIT 16u /* events */
struct ct_until {
	uint32_t event_id;
	/* index of that event's argument that must have the value of the span's `match`; -1: any
	 * such event ends the span */
	int32_t match;
};
#define CT_SPAN_NAME_LIMIT 4u /* arguments */

/* The meaning of one event id of a component. */
struct ct_event_type {
	uint32_t event_id;
	/* letters, digits, _ - . ; at most CT_MNEMONIC_SIZE - 1 bytes; unique in its component */
	const char *mnemonic;
	const char *description; /* "" */
	/* the intended level; CTRACE_LEVEL_NONE: unspecified */
	uint32_t severity;
	bool is_exception; /* CTRACE ... EXCEPTION shows it */
	enum ct_pairing pairing;
	uint32_t pair_id; /* the event at the other end */
	/* index of the argument whose value pairs an entry with its exit; -1: the thread's
	 * innermost */
	int32_t match;
	/* of an entry or CT_PAIR_UNTIL: the events that end its span without being its exit; the
	 * end is inferred then.  0: only its exit ends it */
	uint32_t until_count;
	const struct ct_until *until;
	bool is_until; /* an event of its component has it in `until` */
	/* indexes of the arguments that name the span: its name, then what that is part of; 0: the
	 * first key argument names it */
	uint32_t span_name_count;
	uint32_t span_names[CT_SPAN_NAME_LIMIT];
	/* 1 + index of the argument that has the role; 0: none */
	uint32_t roles[CT_ARGUMENT_ROLE_COUNT];
	uint32_t argument_count;
	const struct ct_argument *arguments;
};
/* Does the span of such an event end without an exit? */
static inline bool ct_event_type_is_inferred(const struct ct_event_type *type)
{
	return type->until_count > 0;
}

/* A record of a component that the value of an item chooses. */
struct ct_catalog_choice {
	const char *value; /* compared ignoring case; "*": any other */
	struct ct_argument argument;
};

struct ct_catalog_component {
	const char *name; /* as written in the file; compared ignoring case */
	const char *description;
	const char *path;  /* of its file */
	bool is_installed; /* by ct_catalog_add_installed() */
	/* shared objects (NAME of NAME.so on CTRACE_LINKLIST), or NULL: component.h, reader.h */
	const char *formatter;
	const char *filter;
	bool has_events; /* the file has the key `events`, or an installed one has given its own */
	uint32_t event_count;
	const struct ct_event_type *events;        /* sorted by id */
	bool has_exception, has_asid, has_jobname; /* some event has this mark */
	bool has_until;                            /* some span has an inferred end */
	uint32_t choice_count;
	const struct ct_catalog_choice *choices; /* its `records` */
};

/* ---- catalog.c: the set of all components that were loaded. */
struct ct_catalog;
/* Receives an error in the file at path.  line 0: the whole file. */
typedef void ct_catalog_diagnose(const char *path, const struct ct_diagnostic *diagnostic,
				 void *user);
enum ctrace_status ct_catalog_create(struct ct_catalog **out_catalog) CT_MUST_USE;
/* accepts NULL; destroys all names and types of the catalogue */
void ct_catalog_destroy(struct ct_catalog *catalog);
/* Reads a file, or the *.yaml and *.yml files of a directory in the order of their names.  A file
 * with errors adds nothing: all its errors are reported, and the other files are read.  A component
 * that exists already is reported; the first one stays.  Returns DAMAGED when there were errors,
 * NOT_FOUND when the file or directory does not exist. */
enum ctrace_status ct_catalog_add(struct ct_catalog *catalog, const char *path,
				  ct_catalog_diagnose *diagnose, void *user) CT_MUST_USE;
/* The same for a text in memory; copybooks are searched in the directory of path. */
enum ctrace_status ct_catalog_parse(struct ct_catalog *catalog, const char *path, const char *text,
				    size_t size, ct_catalog_diagnose *diagnose,
				    void *user) CT_MUST_USE;
/* Adds files and directories, separated by colons. */
enum ctrace_status ct_catalog_add_list(struct ct_catalog *catalog, const char *paths,
				       ct_catalog_diagnose *diagnose, void *user) CT_MUST_USE;
/* Adds the list in CTRACE_CATALOG, or else the directory MFTRACE_ANNOTATIONS. */
enum ctrace_status ct_catalog_add_environment(struct ct_catalog *catalog,
					      ct_catalog_diagnose *diagnose,
					      void *user) CT_MUST_USE;
/* Adds the files of a directory of catalogues that ctrace brings, below all others: a component
 * that was added before keeps its description, and so do the components below it; nothing is
 * reported or counted.  Of these files a component has only what is described under its own name.
 * A component that was added without `events` gets those of the file. */
enum ctrace_status ct_catalog_add_installed(struct ct_catalog *catalog,
					    const char *directory) CT_MUST_USE;
/* For use in a traced process, which needs only names: copybooks are not read or checked, and files
 * are read up to 16 MiB in all.  Call it before adding anything. */
void ct_catalog_names_only(struct ct_catalog *catalog);
/* Counts of all files read so far, including those with errors. */
struct ct_catalog_counts {
	uint64_t files;
	uint64_t components;
	uint64_t events;
	uint64_t good_events; /* without errors */
	uint64_t diagnostics;
	/* files and directories that could not be read: reported, but not counted as errors */
	uint64_t unread;
};
struct ct_catalog_counts ct_catalog_counts(const struct ct_catalog *catalog);
/* Returns a borrowed component, or NULL.  A component without its own file has that of its nearest
 * parent: APP.DB.READ that of APP.DB, or of APP; else an installed one of its own name. */
const struct ct_catalog_component *ct_catalog_component(const struct ct_catalog *catalog,
							const char *name, size_t size);
const struct ct_event_type *ct_catalog_event(const struct ct_catalog_component *component,
					     uint32_t event_id);
/* Returns the component's record for this value of an item: by the whole value, or by what is
 * behind its last slash.  Blanks at its end do not count.  "*" is for any other value.  NULL: there
 * is none. */
const struct ct_argument *ct_catalog_record(const struct ct_catalog_component *component,
					    const char *value, size_t size);
/* NULL past the last */
const struct ct_catalog_component *ct_catalog_at(const struct ct_catalog *catalog, size_t index);

/* ---- catalog_print_constants.c, _markdown.c: prints a component in another language.
 * Texts are escaped for that language; names that it does not allow are changed. */
/* C */
void ct_catalog_print_header(struct ct_buf *out, const struct ct_catalog_component *component);
/* level 78, fixed and free format */
void ct_catalog_print_copybook(struct ct_buf *out, const struct ct_catalog_component *component);
void ct_catalog_print_markdown(struct ct_buf *out, const struct ct_catalog_component *component);

#endif
