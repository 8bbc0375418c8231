/*
 * catalog/catalog_load.h - what the files that read a catalogue share.  Each calls only those below it:
 *
 *     catalog.c           the set: which files are read, look-up
 *     catalog_load.c      keys, values and pairs: a tree becomes components
 *     catalog_record.c    copybooks that arguments name: where they are, and each read once
 *     catalog_mistake.c   what is wrong, in words and in the order of the text
 *     catalog_yaml.c      libyaml's events become a tree with places, within bounds
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CATALOG_LOAD_H
#define CT_CATALOG_LOAD_H

#include "catalog/catalog.h"

#define CT_CATALOG_NODES (1u << 18)     /* keys, values and lists of a file */
#define CT_CATALOG_ANCHORS 256u         /* of a document */
#define CT_CATALOG_READS (1u << 20)     /* keys and values of all files, each as often as aliases repeat it: what aliases can make of it */
#define CT_CATALOG_MISTAKES 1000u       /* told of one file */
#define CT_CATALOG_COPYBOOKS 128u       /* records of one file */
#define CT_CATALOG_TEXT 4095u           /* bytes of a description or a file's name */
#define CT_CATALOG_NAME 63u             /* bytes of an argument's or a value's name */
#define CT_CATALOG_FILES 4096u          /* of all folders */

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
	uint32_t count;         /* of a list: items; of a map: keys and values; of a scalar: bytes */
	const char *text;       /* of a scalar; terminated, and may hold NUL */
	struct ct_yaml *first;  /* of a map: key, value, key, value */
	struct ct_yaml *last;
	struct ct_yaml *next;
	const struct ct_yaml *target; /* of an alias; never an alias itself */
};
struct ct_yaml_error {
	struct ct_yaml_place place;
	char message[200];
	const char *expected;
};
/* The documents of a text, linked by next, in two arenas: one for the texts of scalars, one for all else.  DAMAGED, with what is wrong, when
 * it is not YAML or out of bounds: documents before that are given. */
enum ctrace_status ct_yaml_parse(const char *text, size_t size, struct ct_arena *texts, struct ct_arena *nodes,
				 struct ct_yaml **out_documents, struct ct_yaml_error *out_error) CT_MUST_USE;
/* What the node stands for, when it is an alias. */
static inline const struct ct_yaml *ct_yaml_value(const struct ct_yaml *node)
{
	return node->kind == CT_YAML_ALIAS ? node->target : node;
}
/* Bytes of the line break at `at`, as libyaml sees it; 0: there is none. */
size_t ct_yaml_break(const char *at, const char *end);

/* ---- catalog_mistake.c */
struct ct_mistake_note {
	struct ct_yaml_place place;
	bool is_whole;  /* of the file as a whole */
	char *path;     /* of a copybook whose mistake it is, with the place in it; NULL: the catalogue's */
	struct ct_complaint complaint;
};
struct ct_mistakes {
	struct ct_mistake_note *notes;
	uint32_t count;
	uint32_t capacity;
	uint64_t total; /* also those that are not noted */
};
void ct_mistakes_fini(struct ct_mistakes *mistakes);
/* `what` with the node's text in quotation marks before it, when `word` is not NULL; did you mean `suggestion`, when there is one. */
struct ct_mistake {
	const struct ct_yaml *word;
	const char *what;
	const char *suggestion;
	const char *expected;
};
void ct_mistakes_add(struct ct_mistakes *mistakes, const struct ct_yaml_place *place, const struct ct_mistake *mistake);
/* The same with a text that is ready; place NULL: the file as a whole; path NULL: of the catalogue itself. */
void ct_mistakes_add_text(struct ct_mistakes *mistakes, const struct ct_yaml_place *place, const char *path,
			  const struct ct_complaint *complaint);
/* In the order of the text. */
void ct_mistakes_tell(struct ct_mistakes *mistakes, const char *path, const char *text, size_t size, ct_catalog_complain *complain,
		      void *user);

/* ---- catalog_record.c */
struct ct_catalog_record {
	uint32_t hash;
	const char *name;
	const char *const *folders; /* the component's */
	const char *record;         /* NULL: the first */
	enum ct_encoding encoding;
	struct ct_copybook *copybook; /* NULL: it has a mistake, or is not there */
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
	const char *const *folders; /* where it is looked for, after the catalogue's own; relative to that */
	uint32_t folder_count;
	const char *record;
	enum ct_encoding encoding;
};
/* Opens it, or finds what was opened before.  NULL: a mistake, and it is noted; or memory is short. */
const struct ct_copybook *ct_catalog_record_open(struct ct_catalog_file *file, const struct ct_record_request *request,
						 struct ct_mistakes *mistakes);
void ct_catalog_records_close(struct ct_catalog_file *file);

/* ---- catalog_load.c */
struct ct_catalog_budget {
	uint32_t reads;       /* left */
	bool with_copybooks;  /* they are read */
};
struct ct_catalog_result {
	uint32_t event_count;
	uint32_t good_count; /* of them */
};
/* Fills in the file's components; what is wrong is noted.  NOT_ENOUGH_MEMORY, or OK also when there are mistakes. */
enum ctrace_status ct_catalog_load(struct ct_catalog_file *file, const char *text, size_t size, struct ct_catalog_budget *budget,
				   struct ct_mistakes *mistakes, struct ct_catalog_result *out_result) CT_MUST_USE;

#endif
