/*
 * event_names.c - what catalogues call events, for the metadata of BINFILE and of the external
 * writer's data sets.
 *
 * A catalogue is read by the module "catalog".  The module is loaded on a thread that gives a
 * command (or by a program of ctrace's own), never on the one that consumes: the loader has one
 * lock, and a thread that waits for the consumer may hold it, when it runs the constructors of a
 * library.  The catalogue itself is read and asked on the thread that consumes.  Nothing here
 * prints; what cannot be had is not there, and traces have numbers as they always had.
 *
 * The names in ctrace's own catalogues, which are those of the COBOL run time, are a table here,
 * whose path is CT_CATALOG_BUILT_IN.  So a program of `ctrace run` reads no file and loads no
 * module for them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/emit.h"
#include "format/format.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A row: the mnemonic, and the names of the items. */
static const struct built_in {
	char component[12];
	uint16_t event_id;
	char names[114];
} built_in[] = {
#include "event_names.h" /* made by the build */
};

struct ct_event_names {
	const struct ct_names_module *module; /* NULL: none, or no catalogue */
	void *catalog;
	bool has_built_in;
	/* the row that was asked for last */
	char row[sizeof built_in[0].names];
	const char *items[sizeof built_in[0].names / 2];
};

static const struct ct_names_module *loaded; /* atomic; NULL: not yet, or there is none */
static const char *installed;                /* atomic: the directory of the installed catalogues */
static bool has_tried;                       /* atomic: it has been looked for */

static const char *paths_of_environment(void)
{
	const char *paths = ct_os_environment("CTRACE_CATALOG");

	return paths != NULL ? paths : ct_os_environment("MFTRACE_ANNOTATIONS");
}

static bool names_module_is_complete(const struct ct_names_module *module)
{
	return module->size >= sizeof *module && module->open != NULL && module->names != NULL &&
	       module->close != NULL;
}

/* The loader has the path of this library.  So this is asked here and not where an output is
 * opened: the consumer thread may not wait for the loader, which a constructor that traces holds
 * up. */
static void installed_find(void)
{
	const char *before = NULL;
	char path[PATH_MAX];
	char *copy;

	ct_installed_catalog(path);
	copy = strdup(path);
	if (copy != NULL && !__atomic_compare_exchange_n(&installed, &before, copy, false,
							 __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		free(copy);
}

/* When this returns the module is loaded or cannot be.  Two threads may load it at the same time:
 * the loader gives both the same handle. */
void ct_event_names_load(void)
{
	const struct ct_names_module *before = NULL;
	const struct ct_names_module *module;
	void *handle;

	if (ct_thread_locked != 0 || __atomic_load_n(&has_tried, __ATOMIC_ACQUIRE))
		return;
	handle = ct_module_open("catalog");
	module = handle != NULL ? dlsym(handle, CT_NAMES_MODULE) : NULL;
	if (module != NULL && !names_module_is_complete(module))
		module = NULL;
	if (module != NULL)
		installed_find();
	/* Publish: pairs with the acquire load in ct_event_names_open(). */
	if (module == NULL || !__atomic_compare_exchange_n(&loaded, &before, module, false,
							   __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
		if (handle != NULL)
			(void)dlclose(handle);
	}
	__atomic_store_n(&has_tried, true, __ATOMIC_RELEASE);
}

void ct_event_names_load_when_set(void)
{
	if (paths_of_environment() != NULL)
		ct_event_names_load();
}

/* Returns how many bytes of the list precede CT_CATALOG_BUILT_IN, which is its last part or not
 * there. */
static size_t list_without_built_in(struct ct_span list)
{
	const size_t word = sizeof CT_CATALOG_BUILT_IN - 1;

	if (list.size < word || memcmp(list.at + list.size - word, CT_CATALOG_BUILT_IN, word) != 0)
		return list.size;
	if (list.size == word)
		return 0;
	return list.at[list.size - word - 1] == ':' ? list.size - word - 1 : list.size;
}

bool ct_event_names_need_module(struct ct_span paths)
{
	return list_without_built_in(paths) > 0;
}

struct ct_event_names *ct_event_names_open(const char *paths)
{
	const struct ct_names_module *module = __atomic_load_n(&loaded, __ATOMIC_ACQUIRE);
	const char *directory = __atomic_load_n(&installed, __ATOMIC_ACQUIRE);
	struct ct_event_names *names;
	char *list;
	size_t size;

	if (paths == NULL || paths[0] == '\0')
		paths = paths_of_environment();
	if (paths == NULL)
		return NULL;
	names = malloc(sizeof *names);
	size = list_without_built_in((struct ct_span){ .at = paths, .size = strlen(paths) });
	list = strndup(paths, size);
	if (names != NULL && list != NULL) {
		names->module = module;
		names->has_built_in = paths[size] != '\0';
		names->catalog = module != NULL && size > 0
					 ? module->open(list, directory != NULL ? directory : "")
					 : NULL;
	}
	free(list);
	if (names != NULL && (list == NULL || (names->catalog == NULL && !names->has_built_in))) {
		free(names);
		names = NULL;
	}
	return names;
}

void ct_event_names_close(struct ct_event_names *names)
{
	if (names == NULL)
		return;
	if (names->catalog != NULL)
		names->module->close(names->catalog);
	free(names);
}

static bool built_in_find(struct ct_event_names *names, const char *component, size_t size,
			  uint32_t event_id, struct ct_class_names *out)
{
	char *rest = names->row;

	for (size_t i = 0; names->has_built_in && i < CT_COUNT(built_in); i++) {
		if (built_in[i].event_id != event_id ||
		    !ct_name_is(component, size, built_in[i].component))
			continue;
		memcpy(names->row, built_in[i].names, sizeof names->row);
		*out = (struct ct_class_names){ .mnemonic = strsep(&rest, " "),
						.items = names->items };
		while (rest != NULL)
			names->items[out->item_count++] = strsep(&rest, " ");
		return true;
	}
	return false;
}

static bool names_find(const char *component, size_t size, uint32_t event_id,
		       struct ct_class_names *out, void *user)
{
	struct ct_event_names *names = user;

	return (names->catalog != NULL &&
		names->module->names(names->catalog, component, size, event_id, out)) ||
	       built_in_find(names, component, size, event_id, out);
}

void ct_event_names_use(struct ct_event_names *names, struct ct_schema *schema)
{
	if (names != NULL)
		ct_schema_set_namer(schema, names_find, names);
}
