/*
 * copybook_layout.c - computes the position and size of each item of a record, and finds the
 * counters of its tables.
 *
 * Called by copybook.c once all entries are read, for the one record that is decoded.  Sizes and
 * alignment are those of GnuCOBOL 3.1 (compared in tests/process/copybook.sh), and of its -std=mf
 * and -std=ibm.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <string.h>

#define POINTER_SIZE 8u
#define INDEX_SIZE 4u

struct layout {
	struct ct_scan *scan;
	struct ct_copybook *copybook;
	uint64_t alignment; /* of the SYNCHRONIZED items of the innermost table of groups so far */
};

static enum ctrace_status layout_fail(struct layout *layout, const struct ct_token *place,
				      const char *expected, const char *what)
{
	struct ct_buf text = { 0 };
	size_t before = strcspn(what, "%");

	ct_buf_add(&text, what, before);
	if (what[before] != '\0') {
		ct_span_quote(&text, (struct ct_span){ place->at, place->size }, CT_WORD_SHOWN);
		ct_buf_add_text(&text, what + before + 1);
	}
	ct_scan_diagnose(layout->scan, place, expected, "%s", ct_buf_text(&text));
	ct_buf_fini(&text);
	return CTRACE_SYNTAX_ERROR;
}

static bool item_is_group(const struct ct_copybook *copybook, uint32_t index)
{
	return copybook->items[index].end > index + 1;
}

/* ---- sizes of elementary items */

/* Returns the fewest bytes that hold so many digits. */
static uint32_t digits_least_size(unsigned digits, bool is_signed)
{
	static const uint8_t without[] = { 0, 2, 4, 7, 9, 12, 14, 16, 18 },
			     with[] = { 0, 2, 4, 6, 9, 11, 14, 16, 18 };
	uint32_t size = 1;

	while (size < 8 && digits > (is_signed ? with : without)[size])
		size++;
	return size;
}

static uint32_t item_binary_size(const struct ct_copybook *copybook, const struct ct_item *item)
{
	unsigned digits = item->form.digits;

	if (item->usage == CT_USAGE_COMP_X)
		return digits_least_size(digits, false);
	if (copybook->dialect == CT_DIALECT_MF)
		return digits_least_size(digits, item->form.is_signed);
	if (digits <= 2)
		return copybook->dialect == CT_DIALECT_IBM && item->usage == CT_USAGE_BINARY ? 2
											     : 1;
	return digits <= 4 ? 2 : digits <= 9 ? 4 : 8;
}

/* PIC X(n) COMP-X and COMP-5: that many bytes, unsigned. */
static enum ctrace_status layout_size_bytes(struct layout *layout, struct ct_item *item)
{
	uint32_t size = item->form.size;

	if ((item->usage != CT_USAGE_COMP_X && item->usage != CT_USAGE_NATIVE) ||
	    item->form.class != CT_CLASS_TEXT)
		return layout_fail(layout, &item->place, "9, S, V and P",
				   "the picture of % does not go with its usage");
	if (size > 8)
		return layout_fail(layout, &item->place, "X to X(8)", "% is binary and too long");
	if (item->usage == CT_USAGE_NATIVE && layout->copybook->dialect != CT_DIALECT_MF)
		size = size > 4 ? 8 : size == 3 ? 4 : size;
	item->size = size;
	return CTRACE_OK;
}

static enum ctrace_status layout_size_number(struct layout *layout, struct ct_item *item)
{
	unsigned digits = item->form.digits;

	if (item->form.class != CT_CLASS_NUMERIC)
		return layout_size_bytes(layout, item);
	if (item->usage == CT_USAGE_PACKED) {
		item->size = digits / 2 + 1;
	} else if (item->usage == CT_USAGE_PACKED_UNSIGNED) {
		if (item->form.is_signed)
			return layout_fail(layout, &item->place, "a picture without S",
					   "% is COMP-6, which has no sign");
		item->size = (digits + 1) / 2;
	} else {
		if (digits > 18)
			return layout_fail(layout, &item->place, "at most 18 digits",
					   "% is binary and has too many digits");
		item->size = item_binary_size(layout->copybook, item);
	}
	return CTRACE_OK;
}

static enum ctrace_status layout_size_display(struct layout *layout, struct ct_item *item)
{
	if (item->form.class == CT_CLASS_NONE)
		return layout_fail(layout, &item->place,
				   "PIC, a usage that needs none, or fields in it",
				   "% has no picture");
	item->size = item->form.size;
	if (item->form.class != CT_CLASS_NUMERIC)
		return CTRACE_OK;
	if (item->is_blank_when_zero) { /* its zeros are blanks, so it is shown as text */
		item->form.class = CT_CLASS_EDITED;
		/* GnuCOBOL 3.1 takes a byte for the V of these */
		item->size += item->form.scale > 0;
		return CTRACE_OK;
	}
	if (item->form.is_signed && item->sign == CT_SIGN_NONE)
		item->sign = CT_SIGN_TRAILING;
	item->is_sign_separate &= item->form.is_signed;
	item->size += item->is_sign_separate;
	return CTRACE_OK;
}

static enum ctrace_status layout_size_elementary(struct layout *layout, struct ct_item *item)
{
	switch (item->usage) {
	case CT_USAGE_FLOAT:
	case CT_USAGE_INDEX:
		item->size = INDEX_SIZE;
		return CTRACE_OK;
	case CT_USAGE_DOUBLE:
	case CT_USAGE_POINTER:
		item->size = POINTER_SIZE;
		return CTRACE_OK;
	case CT_USAGE_INTEGER:
		item->size = item->integer_size;
		return CTRACE_OK;
	case CT_USAGE_NONE:
	case CT_USAGE_DISPLAY:
		return layout_size_display(layout, item);
	default:
		if (item->form.class == CT_CLASS_NONE)
			return layout_fail(layout, &item->place, "PIC, or fields in it",
					   "% has no picture");
		return layout_size_number(layout, item);
	}
}

/* ---- places */

static uint64_t item_alignment(const struct ct_item *item)
{
	switch (item->usage) {
	case CT_USAGE_BINARY:
	case CT_USAGE_NATIVE:
	case CT_USAGE_COMP_X:
		return item->size == 2 || item->size == 4 || item->size == 8 ? item->size : 1;
	case CT_USAGE_FLOAT:
	case CT_USAGE_DOUBLE:
	case CT_USAGE_INDEX:
	case CT_USAGE_POINTER:
	case CT_USAGE_INTEGER:
		return item->size;
	default:
		return 1;
	}
}

static uint64_t item_times(const struct ct_item *item)
{
	return item->occurs > 0 ? item->occurs : 1;
}

static enum ctrace_status layout_place(struct layout *layout, uint32_t index, uint64_t start);

/* Places one item of a group; the group ends at `end` so far. */
static enum ctrace_status layout_place_child(struct layout *layout, uint32_t index, uint64_t start,
					     uint64_t *end)
{
	struct ct_copybook *copybook = layout->copybook;
	struct ct_item *item = &copybook->items[index];
	bool is_other = item->redefines != CT_NO_ITEM;
	uint64_t offset = is_other ? copybook->items[item->redefines].offset : *end;
	enum ctrace_status status = layout_place(layout, index, start + offset);
	uint64_t alignment;

	if (status != CTRACE_OK)
		return status;
	if (item->is_synchronized && !is_other && !item_is_group(copybook, index)) {
		alignment = item_alignment(item);
		offset = CT_ALIGN_UP(start + offset, alignment) - start;
		if (alignment > layout->alignment)
			layout->alignment = alignment;
	}
	item->offset = (uint32_t)offset;
	if (offset + item->size * item_times(item) > *end)
		*end = offset + item->size * item_times(item);
	return *end <= CT_RECORD_LIMIT
		       ? CTRACE_OK
		       : layout_fail(layout, &item->place, "at most 268435456 bytes",
				     "the record is too large at %");
}

/* Pads a group so that each occurrence in a table is aligned like the first.  GnuCOBOL moves its
 * last item to the end for that if it is elementary. */
static void layout_pad_group(struct layout *layout, const struct ct_item *group, uint32_t last,
			     uint64_t *end)
{
	struct ct_item *item = &layout->copybook->items[last];
	uint64_t padding = CT_ALIGN_UP(*end, layout->alignment) - *end;

	if (group->occurs <= 1 || item_is_group(layout->copybook, last))
		return;
	item->offset += (uint32_t)padding;
	*end += padding;
}

/* Sets the size of an item that begins at `start` in the record, and the positions of its children.
 */
static enum ctrace_status layout_place(struct layout *layout, uint32_t index, uint64_t start)
{
	struct ct_copybook *copybook = layout->copybook;
	struct ct_item *item = &copybook->items[index];
	uint64_t end = 0;
	uint32_t last = index;

	if (!item_is_group(copybook, index))
		return layout_size_elementary(layout, item);
	if (item->form.class != CT_CLASS_NONE)
		return layout_fail(layout, &item->place, "a picture or fields in it, not both",
				   "the group % has a picture");
	if (item->occurs > 1)
		layout->alignment = 1;
	for (uint32_t child = index + 1; child < item->end; child = copybook->items[child].end) {
		enum ctrace_status status = layout_place_child(layout, child, start, &end);

		if (status != CTRACE_OK)
			return status;
		last = child;
	}
	layout_pad_group(layout, item, last, &end);
	item->size = (uint32_t)end;
	return CTRACE_OK;
}

/* ---- attributes inherited from groups */

static void items_inherit(struct ct_copybook *copybook, uint32_t record)
{
	for (uint32_t i = record + 1; i < copybook->items[record].end; i++) {
		struct ct_item *item = &copybook->items[i];
		const struct ct_item *group = &copybook->items[item->parent];

		if (item->usage == CT_USAGE_NONE) {
			item->usage = group->usage;
			item->integer_size = group->integer_size;
			if (item->usage == CT_USAGE_INTEGER)
				item->form.is_signed = group->form.is_signed;
		}
		if (item->sign == CT_SIGN_NONE) {
			item->sign = group->sign;
			item->is_sign_separate = group->is_sign_separate;
		}
	}
}

/* ---- DEPENDING ON */

static bool item_is_inside(const struct ct_copybook *copybook, uint32_t index,
			   const struct ct_token *name)
{
	while ((index = copybook->items[index].parent) != CT_NO_ITEM) {
		const struct ct_item *group = &copybook->items[index];

		if (ct_name_equal(group->name, group->name_size, name->at, name->size))
			return true;
	}
	return false;
}

static uint32_t counter_find(const struct ct_copybook *copybook, uint32_t record, uint32_t index)
{
	const struct ct_item *table = &copybook->items[index];
	uint32_t hash = ct_name_hash(table->depends_name.at, table->depends_name.size);

	for (uint32_t i = index; i-- > record;) {
		const struct ct_item *item = &copybook->items[i];

		if (item->name_hash == hash &&
		    ct_name_equal(item->name, item->name_size, table->depends_name.at,
				  table->depends_name.size) &&
		    (table->depends_of.size == 0 ||
		     item_is_inside(copybook, i, &table->depends_of)))
			return i;
	}
	return CT_NO_ITEM;
}

/* Finds the counters of tables.  A counter elsewhere in the program is unknown: such a table shows
 * as many occurrences as there are bytes. */
static enum ctrace_status layout_resolve_tables(struct layout *layout, uint32_t record)
{
	struct ct_copybook *copybook = layout->copybook;

	for (uint32_t i = record; i < copybook->items[record].end; i++) {
		struct ct_item *table = &copybook->items[i];
		struct ct_item *counter;

		if (!table->is_depending)
			continue;
		if (table->occurs == 0)
			return layout_fail(layout, &table->place, "OCCURS before it",
					   "% has DEPENDING ON and does not occur");
		table->depends = counter_find(copybook, record, i);
		if (table->depends == CT_NO_ITEM)
			continue;
		counter = &copybook->items[table->depends];
		if (item_is_group(copybook, table->depends) || !ct_item_is_number(counter) ||
		    counter->form.scale != 0)
			return layout_fail(layout, &table->depends_name,
					   "a field with a whole number",
					   "% cannot say how often a field occurs");
		if (counter->slot == CT_NO_ITEM)
			counter->slot = copybook->slot_count++;
		for (uint32_t in = table->parent; in != CT_NO_ITEM; in = copybook->items[in].parent)
			copybook->is_sliding |= copybook->items[in].is_depending;
	}
	return CTRACE_OK;
}

enum ctrace_status ct_layout_make(struct ct_scan *scan, struct ct_copybook *copybook,
				  uint32_t record)
{
	struct layout layout = { scan, copybook, 1 };
	enum ctrace_status status;

	items_inherit(copybook, record);
	status = layout_place(&layout, record, 0);
	if (status == CTRACE_OK)
		status = layout_resolve_tables(&layout, record);
	for (uint32_t i = record; i < copybook->items[record].end && status == CTRACE_OK; i++)
		status = ct_condition_prepare(scan, copybook, &copybook->items[i]);
	if (status == CTRACE_OK &&
	    copybook->items[record].size * item_times(&copybook->items[record]) > CT_RECORD_LIMIT)
		status = layout_fail(&layout, &copybook->items[record].place,
				     "at most 268435456 bytes", "the record % is too large");
	return status;
}
