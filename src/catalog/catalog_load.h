/*
 * catalog/catalog_load.h - shared by the files that read a catalogue.  Each calls only those below
 * it:
 *
 *     catalog.c           the set of components: files and look-up
 *     catalog_load.c      components, events, and pairs of events
 *     catalog_argument.c  an event's items, and records that they choose
 *     catalog_record.c    finds the copybooks that arguments name, and reads each once
 *     catalog_values.c    keys and values: texts, names, numbers, words; duplicates
 *     catalog_diagnostic.c   errors, reported in the order of the text
 *     catalog_yaml.c      builds a bounded tree with positions from libyaml's events
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CATALOG_CATALOG_LOAD_H
#define CT_CATALOG_CATALOG_LOAD_H

#include "catalog/catalog.h"

#define CT_CATALOG_NODES (1u << 18) /* keys, values and lists of a file */
#define CT_CATALOG_ANCHORS 256u     /* of a document */
/* keys and values of all files, counting each repetition by an alias */
#define CT_CATALOG_READS (1u << 20)
#define CT_CATALOG_DIAGNOSTICS 1000u /* reported for one file */
#define CT_CATALOG_COPYBOOKS 128u    /* different records of one file */
#define CT_CATALOG_FIELDS (1u << 18) /* of the records of all files */
#define CT_CATALOG_TEXT 4095u        /* bytes of a description or a file's name */
#define CT_CATALOG_NAME 63u          /* bytes of an argument's or a value's name */
#define CT_CATALOG_FILES 4096u       /* of all directories */
#define CT_CATALOG_BYTES (64u << 20) /* of all files */
/* Limits in a traced process. */
#define CT_CATALOG_GUEST_READS (1u << 18)
#define CT_CATALOG_GUEST_BYTES (16u << 20)

/* ---- catalog_yaml.c */
enum ct_yaml_kind { CT_YAML_SCALAR, CT_YAML_LIST, CT_YAML_MAP, CT_YAML_ALIAS };
/* A position: lines and characters from 0, as libyaml counts them. */
struct ct_yaml_place {
	uint32_t line;
	uint32_t column;
};
struct ct_yaml {
	enum ct_yaml_kind kind;
	bool is_plain; /* a scalar without quotation marks */
	struct ct_yaml_place place;
	uint32_t count;        /* of a list: items; of a map: keys and values; of a scalar: bytes */
	const char *text;      /* of a scalar; terminated, and may hold NUL */
	struct ct_yaml *first; /* of a map: key, value, key, value */
	struct ct_yaml *last;
	struct ct_yaml *next;
	const struct ct_yaml *target; /* of an alias; never an alias itself */
	/* the loader's result for this node; NULL: none kept */
	struct ct_load_memo *memo;
};
struct ct_yaml_error {
	struct ct_yaml_place place;
	char message[200];
	const char *expected;
};
/* Parses a text into its documents, linked by next.  The texts of scalars go to one arena,
 * everything else to another.  Returns DAMAGED, with the error, when the text is not YAML or
 * exceeds a limit; the documents before the error are returned. */
enum ctrace_status ct_yaml_parse(const char *text, size_t size, struct ct_arena *texts,
				 struct ct_arena *nodes, struct ct_yaml **out_documents,
				 struct ct_yaml_error *out_error) CT_MUST_USE;
/* Resolves an alias; returns other nodes unchanged. */
static inline const struct ct_yaml *ct_yaml_value(const struct ct_yaml *node)
{
	return node->kind == CT_YAML_ALIAS ? node->target : node;
}
/* Returns the size of the line break at `at`, as libyaml sees it; 0: none. */
size_t ct_yaml_break(const char *at, const char *end);

/* ---- catalog_diagnostic.c */
struct ct_catalog_diagnostic_note {
	struct ct_yaml_place place;
	bool is_whole; /* about the whole file */
	/* path of a copybook, if the error and its position are there; NULL: in the catalogue */
	char *path;
	struct ct_diagnostic diagnostic;
};
struct ct_catalog_diagnostics {
	struct ct_catalog_diagnostic_note *notes;
	uint32_t count;
	uint32_t capacity;
	uint64_t total;    /* including those that are not kept */
	uint64_t harmless; /* notes that are no errors; not in total */
};
void ct_catalog_diagnostics_fini(struct ct_catalog_diagnostics *diagnostics);
/* A diagnostic: `what`, after the quoted text of `word` if that is not NULL ("this" if it has no
 * text), and "did you mean" `suggestion` if there is one. */
struct ct_catalog_diagnostic {
	const struct ct_yaml *word;
	const char *what;
	const char *suggestion;
	const char *expected;
	bool is_note; /* reported, but no error: the catalogue works without the value */
};
void ct_catalog_diagnostics_add(struct ct_catalog_diagnostics *diagnostics,
				const struct ct_yaml_place *place,
				const struct ct_catalog_diagnostic *diagnostic);
/* The same with a complete text; place NULL: the whole file; path NULL: the catalogue itself. */
void ct_catalog_diagnostics_add_text(struct ct_catalog_diagnostics *diagnostics,
				     const struct ct_yaml_place *place, const char *path,
				     const struct ct_diagnostic *diagnostic);
/* Reports the diagnostics in the order of the text. */
void ct_catalog_diagnostics_report(struct ct_catalog_diagnostics *diagnostics, const char *path,
				   const char *text, size_t size, ct_catalog_diagnose *diagnose,
				   void *user);

/* ---- catalog_record.c */
/* The interpretation of a record's bytes, besides its copybook. */
struct ct_record_form {
	enum ct_encoding encoding;
	enum ct_dialect dialect;
	bool is_sliding;
};
struct ct_catalog_record {
	uint32_t hash;
	const char *name;
	const char *const *directories; /* the component's */
	const char *record;             /* NULL: the first */
	struct ct_record_form form;
	struct ct_copybook *copybook; /* NULL: it has an error, or does not exist */
};
/* A file and everything made from it. */
struct ct_catalog_file {
	struct ct_catalog_file *next;
	struct ct_arena arena;
	const char *path;
	struct ct_catalog_component *components;
	struct ct_yaml_place *places; /* of the components' names */
	uint32_t component_count;
	struct ct_catalog_record *records;
	uint32_t record_count;
};
struct ct_record_request {
	const struct ct_yaml *node; /* its text is the name */
	/* searched after the catalogue's own directory, and relative to it */
	const char *const *directories;
	uint32_t directory_count;
	const char *record;
	struct ct_record_form form;
};
/* Opens the record, or finds an open one.  Returns NULL after an error, which is noted, or without
 * memory. */
const struct ct_copybook *ct_catalog_record_open(struct ct_catalog_file *file,
						 const struct ct_record_request *request,
						 uint32_t *fields_left,
						 struct ct_catalog_diagnostics *diagnostics);
void ct_catalog_records_close(struct ct_catalog_file *file);

/* ---- catalog_values.c */
struct ct_catalog_budget {
	uint32_t reads;      /* left */
	size_t bytes;        /* left */
	uint32_t fields;     /* left */
	bool with_copybooks; /* copybooks are read */
};
/* An entry in the search for duplicates. */
struct ct_load_entry {
	const char *name; /* NULL: values are compared */
	uint64_t value;
	const struct ct_yaml *node; /* node whose text and position are reported */
	bool *is_bad;               /* set for the later of two equal ones; or NULL */
};
/* The state of loading one file. */
struct ct_load {
	struct ct_catalog_file *file;
	struct ct_arena nodes; /* freed at the end; permanent data is in the file's arena */
	struct ct_catalog_diagnostics *diagnostics;
	struct ct_catalog_budget *budget;
	enum ctrace_status status; /* DAMAGED: the budget is spent, and reading ends */
	struct ct_load_entry *entries;
	uint32_t entry_capacity;
	const struct ct_yaml **names; /* of the components */
	uint32_t name_count;
	/* of the current component */
	struct ct_record_form form;
	const char *const *directories;
	uint32_t directory_count;
};
void ct_load_diagnose(struct ct_load *load, const struct ct_yaml *node, const char *what,
		      const char *expected);
void ct_load_diagnose_word(struct ct_load *load, const struct ct_yaml *node, const char *what,
			   const char *expected); /* quotes the node's text */
/* Charges the budget.  Returns false when it is spent. */
bool ct_load_charge(struct ct_load *load, const struct ct_yaml *node, uint32_t count);
/* Returns zeroed memory; NULL, and sets the status, without memory. */
void *ct_load_keep(struct ct_load *load, size_t count, size_t size);
/* Is it an omitted value: nothing, ~ or null? */
bool ct_load_is_nothing(const struct ct_yaml *node);
/* Stores a map's values by the numbers of their keys; NULL where a key is missing.  Unknown and
 * duplicate keys are errors. */
struct ct_load_keys {
	const char *const *names;
	uint32_t count;
	const char *what;     /* "an event" */
	const char *expected; /* all names */
};
bool ct_load_map(struct ct_load *load, const struct ct_yaml *node, const struct ct_load_keys *keys,
		 const struct ct_yaml **out_values);
/* Values.  Each returns NULL or false after an error.  A missing node (NULL) is no error. */
/* "" for nothing; at most CT_CATALOG_TEXT bytes */
const char *ct_load_text(struct ct_load *load, const struct ct_yaml *node);
struct ct_load_letters {
	size_t limit;
	/* allowed besides letters and digits; NULL: all printable but the blank; "*": that too */
	const char *marks;
	bool begins_with_letter;
	const char *expected;
};
const char *ct_load_name(struct ct_load *load, const struct ct_yaml *node,
			 const struct ct_load_letters *letters);
bool ct_load_number(struct ct_load *load, const struct ct_yaml *node, bool with_sign,
		    uint64_t *out_value);
bool ct_load_id(struct ct_load *load, const struct ct_yaml *node, uint32_t *out_id);
bool ct_load_flag(struct ct_load *load, const struct ct_yaml *node, bool *out_flag);
bool ct_load_word(struct ct_load *load, const struct ct_yaml *node, const char *const *words,
		  uint32_t count, const char *expected, uint32_t *out_index);
bool ct_load_encoding(struct ct_load *load, const struct ct_yaml *node,
		      enum ct_encoding *out_encoding);
bool ct_load_dialect(struct ct_load *load, const struct ct_yaml *node,
		     enum ct_dialect *out_dialect);
/* Makes room for entries that ct_load_unique() compares; valid until the next call.  Returns NULL
 * without memory. */
struct ct_load_entry *ct_load_entries(struct ct_load *load, uint32_t count);
/* what: "is the name" */
void ct_load_unique(struct ct_load *load, uint32_t count, const char *what, const char *expected);

/* ---- catalog_argument.c */
/* The items of an event: its `arguments`. */
void ct_load_arguments(struct ct_load *load, const struct ct_yaml *list,
		       struct ct_event_type *type);
/* The records of a component that values of items choose: its `records`. */
void ct_load_choices(struct ct_load *load, const struct ct_yaml *node,
		     struct ct_catalog_component *component);

/* ---- catalog_load.c */
struct ct_catalog_result {
	uint32_t event_count;
	uint32_t good_count; /* of them */
};
/* Fills in the file's components, and notes errors.  Returns OK also when there are errors, or
 * NOT_ENOUGH_MEMORY. */
enum ctrace_status ct_catalog_load(struct ct_catalog_file *file, const char *text, size_t size,
				   struct ct_catalog_budget *budget,
				   struct ct_catalog_diagnostics *diagnostics,
				   struct ct_catalog_result *out_result) CT_MUST_USE;

#endif
