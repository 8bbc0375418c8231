/*
 * catalog/catalog_load.h - what the files that read a catalogue share.  Each calls only those below
 * it:
 *
 *     catalog.c           the set: which files are read, look-up
 *     catalog_load.c      a tree becomes components and events
 *     catalog_pair.c      entries and their exits
 *     catalog_argument.c  an event's items
 *     catalog_record.c    copybooks that arguments name: where they are, and each read once
 *     catalog_values.c    keys and values: texts, names, numbers, words; what stands there twice
 *     catalog_diagnostic.c   what is wrong, in words and in the order of the text
 *     catalog_yaml.c      libyaml's events become a tree with places, within bounds
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CATALOG_LOAD_H
#define CT_CATALOG_LOAD_H

#include "catalog/catalog.h"

#define CT_CATALOG_NODES (1u << 18) /* keys, values and lists of a file */
#define CT_CATALOG_ANCHORS 256u     /* of a document */
/* keys and values of all files, each as often as aliases repeat it: what aliases can make of it */
#define CT_CATALOG_READS (1u << 20)
#define CT_CATALOG_DIAGNOSTICS 1000u /* told of one file */
#define CT_CATALOG_COPYBOOKS 128u    /* records of one file */
#define CT_CATALOG_FIELDS (1u << 18) /* of the records of all files */
#define CT_CATALOG_TEXT 4095u        /* bytes of a description or a file's name */
#define CT_CATALOG_NAME 63u          /* bytes of an argument's or a value's name */
#define CT_CATALOG_FILES 4096u       /* of all directories */
#define CT_CATALOG_BYTES (64u << 20) /* of all files */
/* For a guest. */
#define CT_CATALOG_GUEST_READS (1u << 18)
#define CT_CATALOG_GUEST_BYTES (16u << 20)

/* ---- catalog_yaml.c */
enum ct_yaml_kind { CT_YAML_SCALAR, CT_YAML_LIST, CT_YAML_MAP, CT_YAML_ALIAS };
/* Where something is: lines and characters from 0, as libyaml counts them. */
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
	/* the loader's: what it read here; NULL: nothing that is kept */
	struct ct_load_memo *memo;
};
struct ct_yaml_error {
	struct ct_yaml_place place;
	char message[200];
	const char *expected;
};
/* The documents of a text, linked by next, in two arenas: one for the texts of scalars, one for all
 * else.  DAMAGED, with what is wrong, when it is not YAML or out of bounds: documents before that
 * are given. */
enum ctrace_status ct_yaml_parse(const char *text, size_t size, struct ct_arena *texts,
				 struct ct_arena *nodes, struct ct_yaml **out_documents,
				 struct ct_yaml_error *out_error) CT_MUST_USE;
/* What the node stands for, when it is an alias. */
static inline const struct ct_yaml *ct_yaml_value(const struct ct_yaml *node)
{
	return node->kind == CT_YAML_ALIAS ? node->target : node;
}
/* Bytes of the line break at `at`, as libyaml sees it; 0: there is none. */
size_t ct_yaml_break(const char *at, const char *end);

/* ---- catalog_diagnostic.c */
struct ct_catalog_diagnostic_note {
	struct ct_yaml_place place;
	bool is_whole; /* of the file as a whole */
	/* of a copybook whose error it is, with the place in it; NULL: the catalogue's */
	char *path;
	struct ct_diagnostic diagnostic;
};
struct ct_catalog_diagnostics {
	struct ct_catalog_diagnostic_note *notes;
	uint32_t count;
	uint32_t capacity;
	uint64_t total;    /* also those that are not noted */
	uint64_t harmless; /* of the notes, those that are no errors: not in total */
};
void ct_catalog_diagnostics_fini(struct ct_catalog_diagnostics *diagnostics);
/* `what` with the node's text in quotation marks before it ("this" for one that has none), when
 * `word` is not NULL; did you mean `suggestion`, when there is one. */
struct ct_catalog_diagnostic {
	const struct ct_yaml *word;
	const char *what;
	const char *suggestion;
	const char *expected;
	bool is_note; /* it is told, but the catalogue is good without what it is about */
};
void ct_catalog_diagnostics_add(struct ct_catalog_diagnostics *diagnostics,
				const struct ct_yaml_place *place,
				const struct ct_catalog_diagnostic *diagnostic);
/* The same with a text that is ready; place NULL: the file as a whole; path NULL: of the catalogue
 * itself. */
void ct_catalog_diagnostics_add_text(struct ct_catalog_diagnostics *diagnostics,
				     const struct ct_yaml_place *place, const char *path,
				     const struct ct_diagnostic *diagnostic);
/* In the order of the text. */
void ct_catalog_diagnostics_tell(struct ct_catalog_diagnostics *diagnostics, const char *path,
				 const char *text, size_t size, ct_catalog_diagnose *diagnose,
				 void *user);

/* ---- catalog_record.c */
/* How a record's bytes are meant, beside its copybook. */
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
	struct ct_copybook *copybook; /* NULL: it has an error, or is not there */
};
/* A file and all that was made of it. */
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
	const struct ct_yaml *node; /* whose text is the name */
	/* where it is looked for, after the catalogue's own; relative to that */
	const char *const *directories;
	uint32_t directory_count;
	const char *record;
	struct ct_record_form form;
};
/* Opens it, or finds what was opened before.  NULL: an error, and it is noted; or memory is short.
 */
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
	bool with_copybooks; /* they are read */
};
/* What is compared to find what stands there twice. */
struct ct_load_entry {
	const char *name; /* NULL: values are compared */
	uint64_t value;
	const struct ct_yaml *node; /* whose place is told, and whose text */
	bool *is_bad;               /* set when it is the later of two; or NULL */
};
/* One reading of one file. */
struct ct_load {
	struct ct_catalog_file *file;
	struct ct_arena nodes; /* given back at the end; what is to stay is in the file's arena */
	struct ct_catalog_diagnostics *diagnostics;
	struct ct_catalog_budget *budget;
	enum ctrace_status status; /* DAMAGED: the budget is spent, and nothing more is read */
	struct ct_load_entry *entries;
	uint32_t entry_capacity;
	const struct ct_yaml **names; /* of the components */
	uint32_t name_count;
	/* of the component that is being read */
	struct ct_record_form form;
	const char *const *directories;
	uint32_t directory_count;
};
void ct_load_diagnose(struct ct_load *load, const struct ct_yaml *node, const char *what,
		      const char *expected);
void ct_load_diagnose_word(struct ct_load *load, const struct ct_yaml *node, const char *what,
			   const char *expected); /* with its text */
/* What is to be read comes out of the budget.  False: it is spent. */
bool ct_load_charge(struct ct_load *load, const struct ct_yaml *node, uint32_t count);
/* zeroed; NULL when memory is short, and the status says so */
void *ct_load_keep(struct ct_load *load, size_t count, size_t size);
/* a value that was left out: nothing, ~, null */
bool ct_load_is_nothing(const struct ct_yaml *node);
/* A map's values by the keys' numbers; NULL where there is none.  What is none of the keys, or
 * stands there twice, is an error. */
struct ct_load_keys {
	const char *const *names;
	uint32_t count;
	const char *what;     /* "an event" */
	const char *expected; /* all names */
};
bool ct_load_map(struct ct_load *load, const struct ct_yaml *node, const struct ct_load_keys *keys,
		 const struct ct_yaml **out_values);
/* Values.  NULL or false: it is an error.  A node that is NULL is none, and no error. */
/* "" for nothing; at most CT_CATALOG_TEXT bytes */
const char *ct_load_text(struct ct_load *load, const struct ct_yaml *node);
struct ct_load_letters {
	size_t limit;
	/* beside letters and digits; NULL: all that is printable but the blank; "*": that too */
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
/* Room for entries that ct_load_unique() then compares; valid until the next call.  NULL when
 * memory is short. */
struct ct_load_entry *ct_load_entries(struct ct_load *load, uint32_t count);
/* what: "is the name" */
void ct_load_unique(struct ct_load *load, uint32_t count, const char *what, const char *expected);

/* ---- catalog_argument.c */
/* The items of an event: its `arguments`. */
void ct_load_arguments(struct ct_load *load, const struct ct_yaml *list,
		       struct ct_event_type *type);

/* ---- catalog_pair.c */
/* An event, and what it says of others. */
struct ct_event_draft {
	struct ct_event_type type;
	const struct ct_yaml *id;       /* its key */
	const struct ct_yaml *mnemonic; /* NULL: it has none that is good */
	const struct ct_yaml *exit;     /* NULL: not said */
	const struct ct_yaml *match;    /* likewise */
	uint32_t exit_id;
	bool has_id;
	bool is_bad;
};
/* Finds the other ends.  drafts: by rising id. */
void ct_load_pairs(struct ct_load *load, struct ct_event_draft *drafts, uint32_t count);

/* ---- catalog_load.c */
struct ct_catalog_result {
	uint32_t event_count;
	uint32_t good_count; /* of them */
};
/* Fills in the file's components; what is wrong is noted.  NOT_ENOUGH_MEMORY, or OK also when there
 * are errors. */
enum ctrace_status ct_catalog_load(struct ct_catalog_file *file, const char *text, size_t size,
				   struct ct_catalog_budget *budget,
				   struct ct_catalog_diagnostics *diagnostics,
				   struct ct_catalog_result *out_result) CT_MUST_USE;

#endif
