/*
 * catalog.c - the set of all components in the catalogues: reads the files and looks up components.
 *
 * Called by readers, and by the module catalog.so in a traced process; on one thread.  A component
 * is found by a hash of its name, an event by bisection, since a printer looks up both for every
 * event.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/catalog_load.h"

#include "base/hash_table.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ct_catalog {
	struct ct_catalog_file *files;
	struct ct_catalog_component **components; /* in the order of addition */
	uint32_t count;
	struct ct_hash_table table; /* of the components, by name */
	struct ct_catalog_budget budget;
	struct ct_catalog_counts counts;
	bool adds_installed; /* while ct_catalog_add_installed() reads */
};

enum ctrace_status ct_catalog_create(struct ct_catalog **out_catalog)
{
	struct ct_catalog *catalog = calloc(1, sizeof *catalog);

	if (catalog == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	catalog->budget = (struct ct_catalog_budget){ CT_CATALOG_READS, CT_CATALOG_BYTES,
						      CT_CATALOG_FIELDS, true };
	*out_catalog = catalog;
	return CTRACE_OK;
}

static void file_destroy(struct ct_catalog_file *file)
{
	struct ct_arena arena = file->arena;

	ct_catalog_records_close(file);
	ct_arena_fini(&arena); /* the file is in it */
}

void ct_catalog_destroy(struct ct_catalog *catalog)
{
	if (catalog == NULL)
		return;
	while (catalog->files != NULL) {
		struct ct_catalog_file *file = catalog->files;

		catalog->files = file->next;
		file_destroy(file);
	}
	free(catalog->components);
	ct_hash_table_fini(&catalog->table);
	free(catalog);
}

void ct_catalog_names_only(struct ct_catalog *catalog)
{
	catalog->budget = (struct ct_catalog_budget){ CT_CATALOG_GUEST_READS,
						      CT_CATALOG_GUEST_BYTES, 0, false };
}

struct ct_catalog_counts ct_catalog_counts(const struct ct_catalog *catalog)
{
	return catalog->counts;
}

/* ---- look-up ---- */

static bool component_has_name(const void *items, uint32_t number, const void *key)
{
	const struct ct_catalog_component *component =
		((const struct ct_catalog_component *const *)items)[number];
	const struct ct_span *name = key;

	return ct_name_is(name->at, name->size, component->name);
}

static struct ct_catalog_component *component_find(const struct ct_catalog *catalog,
						   const char *name, size_t size)
{
	const struct ct_span key = { name, size };
	uint32_t found = ct_hash_table_find(&catalog->table, ct_name_hash(name, size),
					    component_has_name, catalog->components, &key);

	return found != CT_HASH_TABLE_NONE ? catalog->components[found] : NULL;
}

const struct ct_catalog_component *ct_catalog_component(const struct ct_catalog *catalog,
							const char *name, size_t size)
{
	const struct ct_catalog_component *own = component_find(catalog, name, size);

	for (const struct ct_catalog_component *component = own; size > 0;) {
		const char *dot;

		if (component != NULL && !component->is_installed)
			return component;
		dot = memrchr(name, '.', size);
		size = dot != NULL ? (size_t)(dot - name) : 0;
		component = component_find(catalog, name, size);
	}
	return own; /* an installed one, or NULL */
}

const struct ct_event_type *ct_catalog_event(const struct ct_catalog_component *component,
					     uint32_t event_id)
{
	const struct ct_event_type *events = component->events;
	uint32_t count = component->event_count;

	while (count > 1) {
		uint32_t half = count / 2;

		if (events[half].event_id <= event_id)
			events += half;
		else
			half = count - half;
		count -= half;
	}
	return count == 1 && events->event_id == event_id ? events : NULL;
}

static const struct ct_argument *choice_find(const struct ct_catalog_component *component,
					     const char *value, size_t size)
{
	for (uint32_t i = 0; i < component->choice_count; i++)
		if (ct_name_is(value, size, component->choices[i].value))
			return &component->choices[i].argument;
	return NULL;
}

const struct ct_argument *ct_catalog_record(const struct ct_catalog_component *component,
					    const char *value, size_t size)
{
	const struct ct_argument *found;
	const char *slash;

	while (size > 0 && (value[size - 1] == ' ' || value[size - 1] == '\0'))
		size--;
	if (size == 0)
		return NULL;
	found = choice_find(component, value, size);
	slash = memrchr(value, '/', size);
	if (found == NULL && slash != NULL)
		found = choice_find(component, slash + 1, (size_t)(value + size - slash - 1));
	return found;
}

const struct ct_catalog_component *ct_catalog_at(const struct ct_catalog *catalog, size_t index)
{
	return index < catalog->count ? catalog->components[index] : NULL;
}

/* ---- adding ---- */

/* An installed component of the same name gives its events to one that was added without. */
static void component_complete(struct ct_catalog_component *component,
			       const struct ct_catalog_component *installed)
{
	if (component->has_events || component->is_installed)
		return;
	component->has_events = true;
	component->events = installed->events;
	component->event_count = installed->event_count;
	component->has_exception = installed->has_exception;
	component->has_asid = installed->has_asid;
	component->has_jobname = installed->has_jobname;
	component->has_until = installed->has_until;
	if (component->description[0] == '\0')
		component->description = installed->description;
}

/* Adds a component.  A name that exists already is reported, and the component is left out. */
static enum ctrace_status catalog_add_component(struct ct_catalog *catalog,
						const struct ct_catalog_file *file, uint32_t index,
						struct ct_catalog_diagnostics *diagnostics)
{
	struct ct_catalog_component *component = &file->components[index];
	struct ct_catalog_component *other = component_find(catalog, component->name,
							    strlen(component->name)),
				    **all;

	component->is_installed = catalog->adds_installed;
	if (other != NULL && catalog->adds_installed) {
		component_complete(other, component);
		return CTRACE_OK;
	}
	if (other != NULL) {
		struct ct_buf what;

		ct_buf_init(&what);
		ct_span_quote(&what, (struct ct_span){ component->name, strlen(component->name) },
			      CT_WORD_SHOWN);
		ct_buf_add_text(&what, " is described already, by another file");
		ct_catalog_diagnostics_add(
			diagnostics, &file->places[index],
			&(struct ct_catalog_diagnostic){
				.what = ct_buf_text(&what),
				.expected = "one file for a component; the first one counts" });
		ct_buf_fini(&what);
		return CTRACE_OK;
	}
	all = ct_hash_table_reserve_items(&catalog->table, catalog->components,
					  sizeof(struct ct_catalog_component *));
	if (all == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	catalog->components = all;
	ct_hash_table_add(&catalog->table, ct_name_hash(component->name, strlen(component->name)),
			  catalog->count);
	all[catalog->count++] = component;
	return CTRACE_OK;
}

static enum ctrace_status catalog_add_components(struct ct_catalog *catalog,
						 const struct ct_catalog_file *file,
						 struct ct_catalog_diagnostics *diagnostics)
{
	enum ctrace_status status = CTRACE_OK;

	for (uint32_t i = 0; i < file->component_count && status == CTRACE_OK; i++)
		status = catalog_add_component(catalog, file, i, diagnostics);
	return status;
}

static void diagnose_file(uint64_t *count, const char *path, const char *what, const char *expected,
			  ct_catalog_diagnose *diagnose, void *user)
{
	struct ct_diagnostic diagnostic = { 0 };

	++*count;
	ct_diagnostic_set(&diagnostic, &(struct ct_finding){ .what = what, .expected = expected });
	if (diagnose != NULL)
		diagnose(path, &diagnostic, user);
}

static struct ct_catalog_file *file_create(const char *path)
{
	struct ct_arena arena = { 0 };
	struct ct_catalog_file *file = ct_arena_take(&arena, sizeof *file);
	size_t size = strlen(path) + 1;
	char *copy;

	if (file == NULL)
		return NULL;
	copy = ct_arena_take(&arena, size);
	file->arena = arena;
	if (copy == NULL) {
		file_destroy(file);
		return NULL;
	}
	memcpy(copy, path, size);
	file->path = copy;
	return file;
}

/* Loads the file, and keeps it only if it has no errors. */
static enum ctrace_status catalog_take_file(struct ct_catalog *catalog,
					    struct ct_catalog_file *file, const char *text,
					    size_t size, struct ct_catalog_diagnostics *diagnostics)
{
	struct ct_catalog_result result;
	enum ctrace_status status =
		ct_catalog_load(file, text, size, &catalog->budget, diagnostics, &result);

	catalog->counts.files++;
	catalog->counts.components += file->component_count;
	catalog->counts.events += result.event_count;
	catalog->counts.good_events += result.good_count;
	if (status == CTRACE_OK && diagnostics->total == 0) {
		file->next = catalog->files;
		catalog->files = file;
		status = catalog_add_components(catalog, file, diagnostics);
	} else {
		file_destroy(file);
	}
	catalog->counts.diagnostics += diagnostics->total;
	return status != CTRACE_OK ? status : diagnostics->total != 0 ? CTRACE_DAMAGED : CTRACE_OK;
}

enum ctrace_status ct_catalog_parse(struct ct_catalog *catalog, const char *path, const char *text,
				    size_t size, ct_catalog_diagnose *diagnose, void *user)
{
	static const char mark[] = "\xEF\xBB\xBF";
	struct ct_catalog_diagnostics diagnostics = { 0 };
	struct ct_catalog_file *file;
	enum ctrace_status status;

	if (size > CT_CATALOG_FILE_LIMIT) {
		diagnose_file(&catalog->counts.diagnostics, path, "it is too large",
			      "at most 4 MiB", diagnose, user);
		return CTRACE_DAMAGED;
	}
	if (catalog->counts.files >= CT_CATALOG_FILES || size > catalog->budget.bytes) {
		diagnose_file(&catalog->counts.diagnostics, path,
			      "with this there is too much in the catalogue",
			      "at most 4,096 files, and 64 MiB", diagnose, user);
		return CTRACE_DAMAGED;
	}
	catalog->budget.bytes -= size;
	if (size >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0) {
		text += sizeof mark - 1;
		size -= sizeof mark - 1;
	}
	file = file_create(path);
	if (file == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	status = catalog_take_file(catalog, file, text, size, &diagnostics);
	ct_catalog_diagnostics_report(&diagnostics, path, text, size, diagnose, user);
	ct_catalog_diagnostics_fini(&diagnostics);
	return status;
}

/* ---- files and directories ---- */

/* Combines the status of a part with that of the whole: lack of memory wins, then the first
 * error. */
static enum ctrace_status status_combine(enum ctrace_status a, enum ctrace_status b)
{
	return b == CTRACE_NOT_ENOUGH_MEMORY || a == CTRACE_OK ? b : a;
}

static enum ctrace_status catalog_add_file(struct ct_catalog *catalog, const char *path,
					   ct_catalog_diagnose *diagnose, void *user)
{
	enum ctrace_status status;
	struct ct_buf text;

	ct_buf_init(&text);
	status = ct_os_read_file(path, CT_CATALOG_FILE_LIMIT, &text);
	if (status == CTRACE_OK)
		status = ct_catalog_parse(catalog, path, text.size != 0 ? text.data : "", text.size,
					  diagnose, user);
	else if (status != CTRACE_NOT_FOUND && status != CTRACE_NOT_ENOUGH_MEMORY)
		diagnose_file(&catalog->counts.unread, path,
			      errno == EINVAL ? "it is no regular file" : strerror(errno),
			      "a file that can be read", diagnose, user);
	ct_buf_fini(&text);
	return status == CTRACE_NOT_FOUND || status == CTRACE_OK ||
			       status == CTRACE_NOT_ENOUGH_MEMORY
		       ? status
		       : CTRACE_DAMAGED;
}

static int is_catalog_name(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && dot != NULL &&
	       (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

static int entry_compare(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static enum ctrace_status catalog_add_directory(struct ct_catalog *catalog, const char *directory,
						ct_catalog_diagnose *diagnose, void *user)
{
	enum ctrace_status status = CTRACE_OK;
	struct dirent **entries;
	struct ct_buf path;
	int count = scandir(directory, &entries, is_catalog_name, entry_compare);

	if (count < 0) {
		diagnose_file(&catalog->counts.unread, directory, strerror(errno),
			      "a directory that can be read", diagnose, user);
		return CTRACE_DAMAGED;
	}
	ct_buf_init(&path);
	for (int i = 0; i < count; i++) {
		ct_buf_clear(&path);
		ct_buf_add_format(&path, "%s/%s", directory, entries[i]->d_name);
		status = status_combine(status,
					path.failed ? CTRACE_NOT_ENOUGH_MEMORY
						    : catalog_add_file(catalog, ct_buf_text(&path),
								       diagnose, user));
		free(entries[i]);
	}
	ct_buf_fini(&path);
	free(entries);
	return status;
}

enum ctrace_status ct_catalog_add(struct ct_catalog *catalog, const char *path,
				  ct_catalog_diagnose *diagnose, void *user)
{
	struct stat info;

	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
		return catalog_add_directory(catalog, path, diagnose, user);
	return catalog_add_file(catalog, path, diagnose, user);
}

static enum ctrace_status catalog_add_named(struct ct_catalog *catalog, const char *path,
					    ct_catalog_diagnose *diagnose, void *user)
{
	enum ctrace_status status = ct_catalog_add(catalog, path, diagnose, user);

	if (status == CTRACE_NOT_FOUND)
		diagnose_file(&catalog->counts.unread, path, "there is no such file or directory",
			      "the path of a catalogue", diagnose, user);
	return status;
}

enum ctrace_status ct_catalog_add_list(struct ct_catalog *catalog, const char *paths,
				       ct_catalog_diagnose *diagnose, void *user)
{
	enum ctrace_status status = CTRACE_OK;

	while (*paths != '\0') {
		size_t size = strcspn(paths, ":");
		char *path = strndup(paths, size);

		if (path == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
		if (size != 0)
			status = status_combine(status,
						catalog_add_named(catalog, path, diagnose, user));
		free(path);
		paths += size;
		paths += *paths == ':';
	}
	return status;
}

enum ctrace_status ct_catalog_add_installed(struct ct_catalog *catalog, const char *directory)
{
	struct ct_catalog_counts before = catalog->counts;
	enum ctrace_status status;

	catalog->adds_installed = true;
	status = ct_catalog_add(catalog, directory, NULL, NULL);
	catalog->adds_installed = false;
	before.files = catalog->counts.files; /* which have a limit */
	catalog->counts = before;
	return status == CTRACE_NOT_ENOUGH_MEMORY ? status : CTRACE_OK;
}

/* True for a single annotation file instead of a directory: the tools read that themselves. */
static bool path_is_xml(const char *path)
{
	size_t size = strlen(path);

	return size > 4 && strcasecmp(path + size - 4, ".xml") == 0;
}

enum ctrace_status ct_catalog_add_environment(struct ct_catalog *catalog,
					      ct_catalog_diagnose *diagnose, void *user)
{
	const char *paths = ct_os_environment("CTRACE_CATALOG");
	const char *directory = ct_os_environment("MFTRACE_ANNOTATIONS");

	if (paths != NULL)
		return ct_catalog_add_list(catalog, paths, diagnose, user);
	return directory != NULL && !path_is_xml(directory)
		       ? catalog_add_named(catalog, directory, diagnose, user)
		       : CTRACE_OK;
}
