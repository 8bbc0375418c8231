/*
 * class_names.c - turns a catalogue's names of an event and its items into names for a metadata
 * text.
 *
 * Called by schema.c, on the thread that owns the schema.  Names may be hostile: they come from a
 * catalogue's file, or from the metadata of any trace.  The results are short, plain ASCII, and
 * distinct within their class.  Cleaning them again changes nothing, so a text that is printed,
 * parsed and printed again stays the same.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "format/metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct owned_names {
	struct ct_class_names names;
	char mnemonic[CT_METADATA_NAME];
};

/* The names in use, by hash.  Two texts with the same hash count as equal, which costs only a
 * number behind the second. */
struct taken {
	uint32_t hashes[2 * CT_CLASS_MAX_ITEMS];
	uint32_t count;
};

static uint32_t hash_text(const char *text, const char *more)
{
	uint32_t hash = 2166136261u;

	for (; *text != '\0'; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	for (; *more != '\0'; more++)
		hash = (hash ^ (unsigned char)*more) * 16777619u;
	return hash;
}

static bool is_taken(const struct taken *taken, uint32_t hash)
{
	for (uint32_t i = 0; i < taken->count; i++)
		if (taken->hashes[i] == hash)
			return true;
	return false;
}

/* Takes the name, and the name of its length.  Returns false when one of them is in use. */
static bool taken_add(struct taken *taken, const char *name, uint32_t item)
{
	uint32_t hash = hash_text(name, ""), length_hash = hash_text(name, "_len");

	if (is_taken(taken, hash) ||
	    (ct_class_item_is_counted(item) && is_taken(taken, length_hash)))
		return false;
	taken->hashes[taken->count++] = hash;
	if (ct_class_item_is_counted(item))
		taken->hashes[taken->count++] = length_hash;
	return true;
}

/* True for names like "data7" and "data7_len", which are reserved for items without a name. */
static bool is_numbered(const char *name)
{
	size_t digits;

	if (strncmp(name, "data", 4) != 0)
		return false;
	digits = strspn(name + 4, "0123456789");
	return digits > 0 && (name[4 + digits] == '\0' || strcmp(name + 4 + digits, "_len") == 0);
}

/* Copies at most CT_METADATA_NAME - 1 bytes.  A byte that is not a letter, a digit or in `allowed`
 * becomes '_'. */
static void name_clean(char out[CT_METADATA_NAME], const char *text, const char *allowed)
{
	size_t size = text == NULL ? 0 : strnlen(text, CT_METADATA_NAME - 1);

	for (size_t i = 0; i < size; i++) {
		char c = text[i];
		bool is_plain =
			(c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

		out[i] = (char)(is_plain || strchr(allowed, c) != NULL ? c : '_');
	}
	out[size] = '\0';
}

/* Stores the item's name.  Returns false when the item has only its number. */
static bool name_item(struct taken *taken, char out[CT_METADATA_NAME], const char *text,
		      uint32_t number, uint32_t item)
{
	char suffix[16];
	size_t room = CT_METADATA_NAME - 1 - (size_t)snprintf(suffix, sizeof suffix, "_%u", number);

	name_clean(out, text, "_");
	if (out[0] == '\0' || (strncmp(out, "data", 4) == 0 && strcmp(out + 4, suffix + 1) == 0))
		return false;
	if (!is_numbered(out) && taken_add(taken, out, item))
		return true;
	memcpy(out + strnlen(out, room), suffix, strlen(suffix) + 1);
	return taken_add(taken, out, item);
}

/* True for "12" of event 12, which is not a mnemonic. */
static bool mnemonic_is_number(const char *mnemonic, uint32_t event_id)
{
	char digits[16];

	(void)snprintf(digits, sizeof digits, "%u", event_id);
	return strcmp(mnemonic, digits) == 0;
}

struct ct_class_names *ct_class_names_create(const struct ct_class *class)
{
	const struct ct_class_names *from = class->names;
	struct taken taken = { .count = 0 };
	struct owned_names *owned;
	const char **items;
	char(*texts)[CT_METADATA_NAME];
	uint32_t count;
	bool has_some;

	if (from == NULL)
		return NULL;
	count = from->item_count < class->item_count ? from->item_count : class->item_count;
	owned = malloc(sizeof *owned + count * (sizeof *items + sizeof *texts));
	if (owned == NULL || class->item_count > CT_CLASS_MAX_ITEMS) {
		free(owned);
		return NULL;
	}
	items = (const char **)(owned + 1);
	texts = (char(*)[CT_METADATA_NAME])(items + count);
	name_clean(owned->mnemonic, from->mnemonic, "_-.");
	has_some =
		owned->mnemonic[0] != '\0' && !mnemonic_is_number(owned->mnemonic, class->event_id);
	owned->names = (struct ct_class_names){ .mnemonic = has_some ? owned->mnemonic : NULL,
						.items = items,
						.item_count = count };
	for (uint32_t i = 0; i < count; i++) {
		items[i] = name_item(&taken, texts[i], from->items[i], i + 1, class->items[i])
				   ? texts[i]
				   : NULL;
		has_some |= items[i] != NULL;
	}
	if (!has_some) {
		free(owned);
		return NULL;
	}
	return &owned->names;
}
