/*
 * catalog_names.c - names of events and their items from a catalogue, for the metadata of BINFILE.
 * The module catalog.so.
 *
 * A guest in the traced program: lib/emit/event_names.c calls it on the consumer thread.  It never
 * prints, keeps errno, and uses only as much memory as the bounds of a catalogue allow.  A file
 * with an error has no names; `ctrace catalog check` reports the error.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/catalog.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/emit/emit.h"
#include "format/format.h"

struct names {
	struct ct_catalog *catalog;
	/* of the last event asked for; a named class has no more items */
	const char *items[CT_CLASS_MAX_ITEMS];
};

static struct names *names_create(void)
{
	struct names *names = calloc(1, sizeof *names);

	if (names == NULL)
		return NULL;
	if (ct_catalog_create(&names->catalog) != CTRACE_OK) {
		free(names);
		return NULL;
	}
	ct_catalog_names_only(names->catalog);
	return names;
}

static void names_close(void *catalog)
{
	struct names *names = catalog;
	int saved = errno;

	if (names == NULL)
		return;
	ct_catalog_destroy(names->catalog);
	free(names);
	errno = saved;
}

static void *names_open(const char *paths, const char *installed)
{
	int saved = errno;
	struct names *names = names_create();

	if (names != NULL) {
		/* Errors are not reported: any names that could be read are used. */
		enum ctrace_status ignored = ct_catalog_add_list(names->catalog, paths, NULL, NULL);

		if (ct_catalog_at(names->catalog, 0) != NULL)
			ignored = ct_catalog_add_installed(names->catalog, installed);
		(void)ignored;
		if (ct_catalog_at(names->catalog, 0) == NULL) {
			names_close(names);
			names = NULL;
		}
	}
	errno = saved;
	return names;
}

static bool names_find(void *catalog, const char *component, size_t size, uint32_t event_id,
		       struct ct_class_names *out)
{
	struct names *names = catalog;
	const struct ct_catalog_component *found =
		ct_catalog_component(names->catalog, component, size);
	const struct ct_event_type *type = found != NULL ? ct_catalog_event(found, event_id) : NULL;
	uint32_t count;

	if (type == NULL)
		return false;
	count = type->argument_count < CT_CLASS_MAX_ITEMS ? type->argument_count
							  : CT_CLASS_MAX_ITEMS;
	for (uint32_t i = 0; i < count; i++)
		names->items[i] = type->arguments[i].name;
	*out = (struct ct_class_names){ .mnemonic = type->mnemonic,
					.items = names->items,
					.item_count = count };
	return true;
}

extern const struct ct_names_module ct_names_module;
__attribute__((visibility("default")))
const struct ct_names_module ct_names_module = { .size = sizeof(struct ct_names_module),
						 .open = names_open,
						 .names = names_find,
						 .close = names_close };
