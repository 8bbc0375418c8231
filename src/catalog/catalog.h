/*
 * catalog/catalog.h - what events mean: the catalogue, one YAML file a component, and the copybooks
 * that it names.
 *
 * Used by readers (the tool) and by the module catalog.so, which gives BINFILE its names; never
 * linked into libctrace.so.  A catalogue is read once and then only looked into, from one thread.
 * Files may be hostile: every limit below is checked, and what is wrong is reported about with its
 * place.
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

/* How an item is shown. */
enum ct_print {
	CT_PRINT_DEFAULT, /* as its type says */
	CT_PRINT_HEX,
	CT_PRINT_DECIMAL,
	CT_PRINT_TEXT, /* the bytes are characters in the argument's encoding */
	/* an integer: nanoseconds since 1970, or in the unit that the argument says */
	CT_PRINT_TIME,
	CT_PRINT_FLAGS,       /* an integer: names of its bits, joined by | */
	CT_PRINT_ENUMERATION, /* an integer: the name of its value */
	CT_PRINT_RECORD,      /* its copybook says */
	CT_PRINT_COUNT
};
/* "default", "hex" ...: as a catalogue says it */
extern const char *const ct_print_words[CT_PRINT_COUNT];

/* The name of a value (enumeration) or of the bits set in it (flags). */
struct ct_label {
	uint64_t value;
	const char *name;
};

/* One item of an event.  All texts are terminated and belong to the catalogue. */
struct ct_argument {
	const char *name;        /* letters, digits, _ and -; unique in its event */
	const char *description; /* "" */
	enum ct_print print;
	uint64_t unit_ns; /* of CT_PRINT_TIME: what 1 stands for */
	const struct ct_label *labels;
	uint32_t label_count;
	const struct ct_copybook *copybook; /* of CT_PRINT_RECORD; else NULL */
	const char *copybook_name;          /* as the file says; NULL */
	enum ct_encoding encoding;          /* of text */
	bool is_key;                        /* SUMMARY shows it */
	/* its value is the event's ASID: ASIDLIST goes by it instead of by the process's */
	bool is_asid;
	bool is_jobname; /* likewise, for JOBLIST */
};

enum ct_pairing { CT_PAIR_NONE, CT_PAIR_ENTRY, CT_PAIR_EXIT };

/* What one event id of a component means. */
struct ct_event_type {
	uint32_t event_id;
	/* letters, digits, _ - . ; at most CT_MNEMONIC_SIZE - 1 bytes; unique in its component */
	const char *mnemonic;
	const char *description; /* "" */
	/* the level at which it is meant to be traced; CTRACE_LEVEL_NONE: not said */
	uint32_t severity;
	bool is_exception; /* CTRACE ... EXCEPTION shows it */
	enum ct_pairing pairing;
	uint32_t pair_id; /* the event at the other end */
	/* index of the argument by whose value an entry and its exit find each other; -1: the
	 * thread's innermost */
	int32_t match;
	uint32_t argument_count;
	const struct ct_argument *arguments;
};

struct ct_catalog_component {
	const char *name; /* as the file says; compared without regard to case */
	const char *description;
	const char *path; /* of its file */
	/* shared objects (NAME of NAME.so on CTRACE_LINKLIST), or NULL: component.h, reader.h */
	const char *formatter;
	const char *filter;
	uint32_t event_count;
	const struct ct_event_type *events;        /* by rising id */
	bool has_exception, has_asid, has_jobname; /* some event has such a mark */
};

/* ---- catalog.c: the set of all components that were loaded. */
struct ct_catalog;
/* An error, in the file at path.  line 0: the file as a whole. */
typedef void ct_catalog_diagnose(const char *path, const struct ct_diagnostic *diagnostic,
				 void *user);
enum ctrace_status ct_catalog_create(struct ct_catalog **out_catalog) CT_MUST_USE;
/* NULL is accepted; so go all names and types that it gave */
void ct_catalog_destroy(struct ct_catalog *catalog);
/* Reads a file, or the *.yaml and *.yml files of a directory in the order of their names.  A file
 * with an error is reported about, every error of it, and adds nothing; the rest is read.  A
 * component that is there already is reported about, and the first one stays. DAMAGED when there
 * were diagnostics, NOT_FOUND when there is no such file or directory. */
enum ctrace_status ct_catalog_add(struct ct_catalog *catalog, const char *path,
				  ct_catalog_diagnose *diagnose, void *user) CT_MUST_USE;
/* The same for text in memory; copybooks are looked for in the directory of path. */
enum ctrace_status ct_catalog_parse(struct ct_catalog *catalog, const char *path, const char *text,
				    size_t size, ct_catalog_diagnose *diagnose,
				    void *user) CT_MUST_USE;
/* Files and directories, colons between. */
enum ctrace_status ct_catalog_add_list(struct ct_catalog *catalog, const char *paths,
				       ct_catalog_diagnose *diagnose, void *user) CT_MUST_USE;
/* What CTRACE_CATALOG names (a list as above), or else the directory MFTRACE_ANNOTATIONS. */
enum ctrace_status ct_catalog_add_environment(struct ct_catalog *catalog,
					      ct_catalog_diagnose *diagnose,
					      void *user) CT_MUST_USE;
/* For a guest in a traced process, who only wants names: copybooks are not read, nor their errors
 * found, and files are taken up to 16 MiB in all.  Before anything is added. */
void ct_catalog_names_only(struct ct_catalog *catalog);
/* What was read so far, files with errors included. */
struct ct_catalog_counts {
	uint64_t files;
	uint64_t components;
	uint64_t events;
	uint64_t good_events; /* nothing is wrong with them */
	uint64_t diagnostics;
	/* files and directories that could not be read; they are reported about, and are no errors
	 */
	uint64_t unread;
};
struct ct_catalog_counts ct_catalog_counts(const struct ct_catalog *catalog);
/* Borrowed, or NULL.  A component without a file of its own has that of its nearest parent:
 * APP.DB.READ that of APP.DB, or of APP. */
const struct ct_catalog_component *ct_catalog_component(const struct ct_catalog *catalog,
							const char *name, size_t size);
const struct ct_event_type *ct_catalog_event(const struct ct_catalog_component *component,
					     uint32_t event_id);
/* NULL past the last */
const struct ct_catalog_component *ct_catalog_at(const struct ct_catalog *catalog, size_t index);

/* ---- catalog_print_header.c, _copybook.c, _markdown.c: a component as other people's text.
 * Escaped for the language that comes out; names that the language does not allow are changed to
 * ones that it does. */
/* C */
void ct_catalog_print_header(struct ct_buf *out, const struct ct_catalog_component *component);
/* level 78, fixed and free format */
void ct_catalog_print_copybook(struct ct_buf *out, const struct ct_catalog_component *component);
void ct_catalog_print_markdown(struct ct_buf *out, const struct ct_catalog_component *component);

#endif
