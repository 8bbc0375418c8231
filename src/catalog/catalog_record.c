/*
 * catalog_record.c - finds the copybooks that a catalogue names, and reads each once.
 *
 * Called by catalog_load.c.  A relative name is searched in the catalogue's directory and then in
 * those that it lists.  An error in a copybook is reported with its position there, after the
 * position in the catalogue.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/catalog_load.h"
#include "catalog/copybook/copybook_private.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void record_diagnose(struct ct_catalog_diagnostics *diagnostics, const struct ct_yaml *node,
			    const char *what, const char *expected)
{
	ct_catalog_diagnostics_add(diagnostics, &node->place,
				   &(struct ct_catalog_diagnostic){ .word = ct_yaml_value(node),
								    .what = what,
								    .expected = expected });
}

/* ---- finding a copybook ---- */

/* Adds the path of a name that the file at `path` mentions. */
static void path_add_beside(struct ct_buf *out, const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	if (name[0] != '/' && slash != NULL)
		ct_buf_add(out, path, (size_t)(slash - path) + 1);
	ct_buf_add_text(out, name);
}

static bool path_is_file(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Looks in that directory, relative to the catalogue; "": in the catalogue's own. */
static bool copybook_find_in(const struct ct_catalog_file *file, const char *directory,
			     const char *name, struct ct_buf *out_path)
{
	ct_buf_clear(out_path);
	path_add_beside(out_path, file->path, directory);
	if (directory[0] != '\0')
		ct_buf_add_char(out_path, '/');
	ct_buf_add_text(out_path, name);
	return path_is_file(ct_buf_text(out_path));
}

static bool copybook_find(const struct ct_catalog_file *file,
			  const struct ct_record_request *request, struct ct_buf *out_path)
{
	const char *name = ct_yaml_value(request->node)->text;

	if (name[0] == '/') {
		ct_buf_add_text(out_path, name);
		return path_is_file(ct_buf_text(out_path));
	}
	if (copybook_find_in(file, "", name, out_path))
		return true;
	for (uint32_t i = 0; i < request->directory_count; i++)
		if (copybook_find_in(file, request->directories[i], name, out_path))
			return true;
	return false;
}

/* Adds the search path of COPY: the catalogue's own directory and those that it lists. */
static void path_add_directories(struct ct_buf *out, const struct ct_catalog_file *file,
				 const struct ct_record_request *request)
{
	path_add_beside(out, file->path, ".");
	for (uint32_t i = 0; i < request->directory_count; i++) {
		ct_buf_add_char(out, ':');
		path_add_beside(out, file->path, request->directories[i]);
	}
}

/* ---- reading it ---- */

static void copybook_diagnose(struct ct_catalog_diagnostics *diagnostics,
			      const struct ct_yaml *node, struct ct_buf *path,
			      const struct ct_diagnostic *diagnostic)
{
	char what[120];

	if (diagnostic->line == 0)
		(void)snprintf(what, sizeof what, "cannot be taken: %.90s", diagnostic->message);
	else
		(void)snprintf(what, sizeof what, "has an error on line %u", diagnostic->line);
	record_diagnose(diagnostics, node, what,
			diagnostic->line == 0 && diagnostic->expected[0] != '\0'
				? diagnostic->expected
				: "a copybook without errors");
	if (diagnostic->line != 0)
		ct_catalog_diagnostics_add_text(diagnostics, &node->place, ct_buf_text(path),
						diagnostic);
}

static struct ct_copybook *copybook_open(const struct ct_catalog_file *file,
					 const struct ct_record_request *request, const char *path,
					 struct ct_catalog_diagnostics *diagnostics)
{
	struct ct_copybook_options options = { .record = request->record,
					       .encoding = request->form.encoding,
					       .dialect = request->form.dialect,
					       .is_sliding = request->form.is_sliding };
	struct ct_copybook *copybook = NULL;
	struct ct_diagnostic diagnostic = { 0 };
	struct ct_buf directories, diagnostic_path;
	enum ctrace_status status;

	ct_buf_init(&directories);
	ct_buf_init(&diagnostic_path);
	path_add_directories(&directories, file, request);
	options.directories = ct_buf_text(&directories);
	status = ct_copybook_open(path, &options, &copybook, &diagnostic, &diagnostic_path);
	if (status != CTRACE_OK) {
		copybook = NULL;
		if (diagnostic.message[0] == '\0')
			(void)snprintf(diagnostic.message, sizeof diagnostic.message, "%s",
				       ctrace_status_text(status));
		copybook_diagnose(diagnostics, request->node, &diagnostic_path, &diagnostic);
	}
	ct_buf_fini(&directories);
	ct_buf_fini(&diagnostic_path);
	return copybook;
}

/* Charges the fields of a copybook to the budget of all.  A copybook with an error has cost time
 * too. */
static bool copybook_charge(struct ct_copybook *copybook, uint32_t *fields_left)
{
	enum { OF_A_DIAGNOSTIC = 4096 };
	uint32_t fields = copybook != NULL ? copybook->item_count : OF_A_DIAGNOSTIC;

	if (fields > *fields_left) {
		*fields_left = 0;
		return false;
	}
	*fields_left -= fields;
	return true;
}

/* ---- open records ---- */

static bool form_is_same(const struct ct_record_form *a, const struct ct_record_form *b)
{
	return a->encoding == b->encoding && a->dialect == b->dialect &&
	       a->is_sliding == b->is_sliding;
}

static bool record_is_same(const struct ct_catalog_record *record, uint32_t hash,
			   const struct ct_record_request *request)
{
	if (record->hash != hash || record->directories != request->directories ||
	    !form_is_same(&record->form, &request->form) ||
	    strcmp(record->name, ct_yaml_value(request->node)->text) != 0)
		return false;
	if (record->record == NULL || request->record == NULL)
		return record->record == request->record;
	return ct_name_is(record->record, strlen(record->record), request->record);
}

static const struct ct_catalog_record *record_find(const struct ct_catalog_file *file,
						   uint32_t hash,
						   const struct ct_record_request *request)
{
	for (uint32_t i = 0; i < file->record_count; i++)
		if (record_is_same(&file->records[i], hash, request))
			return &file->records[i];
	return NULL;
}

static void record_open_found(const struct ct_catalog_file *file, struct ct_catalog_record *record,
			      const struct ct_record_request *request, const char *path,
			      uint32_t *fields_left, struct ct_catalog_diagnostics *diagnostics)
{
	if (*fields_left != 0)
		record->copybook = copybook_open(file, request, path, diagnostics);
	if (copybook_charge(record->copybook, fields_left))
		return;
	ct_copybook_destroy(record->copybook);
	record->copybook = NULL;
	record_diagnose(diagnostics, request->node, "is too much, with the copybooks before it",
			"at most 262,144 fields in all records");
}

static void record_open(const struct ct_catalog_file *file, struct ct_catalog_record *record,
			const struct ct_record_request *request, uint32_t *fields_left,
			struct ct_catalog_diagnostics *diagnostics)
{
	struct ct_buf path;

	ct_buf_init(&path);
	if (copybook_find(file, request, &path))
		record_open_found(file, record, request, ct_buf_text(&path), fields_left,
				  diagnostics);
	else
		record_diagnose(
			diagnostics, request->node, "is not there",
			request->directory_count == 0
				? "a file in the directory of the catalogue, or its directory in copybooks"
				: "a file in the directory of the catalogue, or in one of copybooks");
	ct_buf_fini(&path);
}

const struct ct_copybook *ct_catalog_record_open(struct ct_catalog_file *file,
						 const struct ct_record_request *request,
						 uint32_t *fields_left,
						 struct ct_catalog_diagnostics *diagnostics)
{
	const struct ct_yaml *name = ct_yaml_value(request->node);
	uint32_t hash = ct_name_hash(name->text, name->count);
	const struct ct_catalog_record *known = record_find(file, hash, request);
	struct ct_catalog_record *record;

	if (known != NULL) {
		if (known->copybook == NULL)
			record_diagnose(diagnostics, request->node,
					"has an error, as reported above",
					"a copybook without errors");
		return known->copybook;
	}
	if (file->record_count == CT_CATALOG_COPYBOOKS) {
		record_diagnose(diagnostics, request->node, "is one record too many",
				"at most 128 different records in a file");
		return NULL;
	}
	if (file->records == NULL)
		file->records = calloc(CT_CATALOG_COPYBOOKS, sizeof *file->records);
	if (file->records == NULL)
		return NULL;
	record = &file->records[file->record_count++];
	*record = (struct ct_catalog_record){ .hash = hash,
					      .name = name->text,
					      .directories = request->directories,
					      .record = request->record,
					      .form = request->form };
	record_open(file, record, request, fields_left, diagnostics);
	return record->copybook;
}

void ct_catalog_records_close(struct ct_catalog_file *file)
{
	for (uint32_t i = 0; i < file->record_count; i++)
		ct_copybook_destroy(file->records[i].copybook);
	free(file->records);
	file->records = NULL;
	file->record_count = 0;
}
