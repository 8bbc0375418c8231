/*
 * third_party_decode.c - decodes the bits of a third-party trace into items, as its metadata
 * describe them.
 *
 * Called by third_party_packets.c and source_third_party.c, on one thread, for the scopes of a
 * packet or event in turn.  Supports any alignment, either byte order, and any type that the
 * metadata can describe.  The bytes and the metadata may be hostile: nothing is read behind
 * `limit`, the nesting of types bounds the recursion, and each step is counted.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/third_party.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* -----------------------------------------------------------------------------------------------
 * Clocks
 */

static __int128 ticks_to_ns(const struct ct_tsdl_clock *clock, __int128 ticks)
{
	return clock->frequency == 1000000000 ? ticks : ticks * 1000000000 / clock->frequency;
}

uint64_t ct_third_party_ns(const struct ct_tsdl_clock *clock, uint64_t ticks)
{
	__int128 ns;

	if (clock == NULL)
		return ticks;
	ns = (__int128)clock->offset_s * 1000000000 + ticks_to_ns(clock, clock->offset) +
	     ticks_to_ns(clock, ticks);
	if (ns < 0)
		return 0;
	return ns > INT64_MAX ? INT64_MAX : (uint64_t)ns;
}

void ct_third_party_clock_advance(struct ct_third_party_clock *clock, uint64_t value, unsigned bits)
{
	uint64_t mask = bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;

	/* A smaller value: the low bits have wrapped. */
	if (bits < 64 && (value & mask) < (clock->ticks & mask))
		clock->ticks += mask + 1;
	clock->ticks = (clock->ticks & ~mask) | (value & mask);
	clock->is_set = true;
}

/* -----------------------------------------------------------------------------------------------
 * Bits
 */

static enum ct_third_party_result decoder_fail(struct ct_third_party_decoder *decoder,
					       const char *message)
{
	decoder->message = message;
	return CT_THIRD_PARTY_BAD;
}

static enum ct_third_party_result decoder_step(struct ct_third_party_decoder *decoder,
					       uint64_t steps)
{
	if (*decoder->steps < steps) {
		*decoder->steps = 0;
		return decoder_fail(decoder, "reading it takes longer than its size can explain");
	}
	*decoder->steps -= steps;
	return CT_THIRD_PARTY_OK;
}

/* Returns OK when so many bits are left. */
static enum ct_third_party_result decoder_need(struct ct_third_party_decoder *decoder,
					       uint64_t bits)
{
	if (decoder->at <= decoder->limit && bits <= decoder->limit - decoder->at)
		return CT_THIRD_PARTY_OK;
	if (decoder->at > decoder->end || bits > decoder->end - decoder->at)
		return decoder_fail(decoder, "the packet ends inside a field");
	return CT_THIRD_PARTY_MORE;
}

static enum ct_third_party_result decoder_align(struct ct_third_party_decoder *decoder,
						uint32_t bits)
{
	uint64_t aligned = CT_ALIGN_UP(decoder->at, (uint64_t)bits);

	if (aligned < decoder->at || aligned > decoder->end)
		return decoder_fail(decoder, "the packet ends inside a field");
	decoder->at = aligned;
	return CT_THIRD_PARTY_OK;
}

static const unsigned char *decoder_byte(const struct ct_third_party_decoder *decoder)
{
	return decoder->bytes + (decoder->at / 8 - decoder->first);
}

static bool type_is_big(const struct ct_third_party_decoder *decoder,
			const struct ct_tsdl_type *type)
{
	return type->order == CT_ORDER_NATIVE ? decoder->tsdl->is_big : type->order == CT_ORDER_BE;
}

/* Extracts bits that need not begin or end at a byte.  In little-endian order the low bits of a
 * byte come first, in big-endian order the high ones. */
static uint64_t gather_bits(const unsigned char *bytes, unsigned shift, unsigned size, bool big)
{
	unsigned count = (shift + size + 7) / 8;
	unsigned __int128 all = 0;

	for (unsigned i = 0; i < count; i++)
		all |= (unsigned __int128)bytes[i] << 8 * (big ? count - 1 - i : i);
	all >>= big ? 8 * count - shift - size : shift;
	return (uint64_t)all & (size < 64 ? ((uint64_t)1 << size) - 1 : UINT64_MAX);
}

static uint64_t get_bytes(const unsigned char *bytes, unsigned size, bool big)
{
	uint64_t whole;

	if (size == 64) {
		memcpy(&whole, bytes, sizeof whole);
		return big ? be64toh(whole) : le64toh(whole);
	}
	if (size == 32) {
		uint32_t half;

		memcpy(&half, bytes, sizeof half);
		return big ? be32toh(half) : le32toh(half);
	}
	return size == 8 ? bytes[0] : gather_bits(bytes, 0, size, big);
}

static uint64_t get_integer(struct ct_third_party_decoder *decoder, const struct ct_tsdl_type *type)
{
	const unsigned char *bytes = decoder_byte(decoder);
	unsigned shift = (unsigned)(decoder->at % 8);
	uint64_t value =
		shift == 0 && type->size % 8 == 0
			? get_bytes(bytes, type->size, type_is_big(decoder, type))
			: gather_bits(bytes, shift, type->size, type_is_big(decoder, type));

	decoder->at += type->size;
	if (type->is_signed && type->size < 64 && (value >> (type->size - 1) & 1) != 0)
		value |= UINT64_MAX << type->size;
	return value;
}

/* -----------------------------------------------------------------------------------------------
 * Looking up lengths and tags
 */

/* Returns the index of the member with this name among the first `count`, or UINT32_MAX. */
static uint32_t struct_find_member(const struct ct_tsdl_type *type, const struct ct_tsdl_name *name,
				   uint32_t count)
{
	for (uint32_t i = count; i > 0; i--)
		if (type->fields[i - 1].name == name)
			return i - 1;
	return UINT32_MAX;
}

/* Follows the path from a struct.  Returns the place when its value has been read, or NULL. */
static const struct ct_third_party_place *
reference_follow(struct ct_third_party_decoder *decoder, const struct ct_tsdl_reference *reference,
		 const struct ct_tsdl_type *type, const struct ct_third_party_place *place,
		 uint32_t count, uint64_t stamp)
{
	for (uint32_t i = 0; i < reference->count; i++) {
		uint32_t index;

		if (type->kind != CT_TSDL_STRUCT ||
		    decoder_step(decoder, 1 + type->count / 8) != CT_THIRD_PARTY_OK)
			return NULL;
		index = struct_find_member(type, reference->path[i], i == 0 ? count : type->count);
		if (index == UINT32_MAX || index >= place->child_capacity ||
		    place->children[index] == NULL)
			return NULL;
		place = place->children[index];
		type = type->fields[index].type;
	}
	return place->type != NULL && place->stamp == stamp ? place : NULL;
}

static const struct ct_third_party_place *
reference_look_in_scope(struct ct_third_party_decoder *decoder,
			const struct ct_tsdl_reference *reference, enum ct_tsdl_scope scope)
{
	const struct ct_third_party_scope *in = &decoder->scopes[scope];

	return in->type != NULL && in->root != NULL
		       ? reference_follow(decoder, reference, in->type, in->root, in->type->count,
					  in->stamp)
		       : NULL;
}

static const struct ct_third_party_place *
reference_look_around(struct ct_third_party_decoder *decoder,
		      const struct ct_tsdl_reference *reference)
{
	uint64_t stamp = decoder->scopes[decoder->scope].stamp;
	const struct ct_third_party_place *found = NULL;

	for (unsigned i = decoder->frame_count; i > 0 && found == NULL; i--) {
		const struct ct_third_party_frame *frame = &decoder->frames[i - 1];

		found = reference_follow(decoder, reference, frame->type, frame->place,
					 frame->index, stamp);
	}
	for (unsigned scope = (unsigned)decoder->scope; scope > 0 && found == NULL; scope--)
		found = reference_look_in_scope(decoder, reference,
						(enum ct_tsdl_scope)(scope - 1));
	return found;
}

static const struct ct_third_party_place *
reference_look_up(struct ct_third_party_decoder *decoder, const struct ct_tsdl_reference *reference)
{
	if (reference == NULL)
		return NULL;
	return reference->scope == CT_SCOPE_RELATIVE
		       ? reference_look_around(decoder, reference)
		       : reference_look_in_scope(decoder, reference, reference->scope);
}

/* -----------------------------------------------------------------------------------------------
 * Integers and enumerations
 */

static bool value_is_labelled(const struct ct_tsdl_type *type, const struct ct_tsdl_label *label,
			      uint64_t value)
{
	if (type->is_signed)
		return (int64_t)value >= (int64_t)label->from &&
		       (int64_t)value <= (int64_t)label->to;
	return value >= label->from && value <= label->to;
}

static const struct ct_tsdl_name *value_label(const struct ct_tsdl_type *type, uint64_t value)
{
	for (uint32_t i = 0; i < type->count; i++)
		if (value_is_labelled(type, &type->labels[i], value))
			return type->labels[i].name;
	return NULL;
}

static void decoder_take_role(struct ct_third_party_decoder *decoder,
			      const struct ct_tsdl_type *type, enum ct_third_party_role role,
			      uint64_t value)
{
	const struct ct_tsdl_clock *clock =
		type->clock != NULL ? type->clock->clock : decoder->tsdl->clock;

	if (role == CT_ROLE_TIME || role == CT_ROLE_BEGIN) {
		decoder->clock->clock = clock;
		ct_third_party_clock_advance(decoder->clock, value, type->size);
		value = decoder->clock->ticks;
	} else if (role == CT_ROLE_END && type->size < 64) {
		struct ct_third_party_clock end = *decoder->clock;

		ct_third_party_clock_advance(&end, value, type->size);
		value = end.ticks;
	}
	decoder->roles |= 1u << role;
	decoder->values[role] = value;
}

static void add_integer(struct ct_third_party_decoder *decoder, const struct ct_tsdl_type *type,
			struct ct_third_party_place *place, uint64_t value)
{
	bool is_address = type->base == 16 && type->size == 64 && !type->is_signed &&
			  type->kind == CT_TSDL_INTEGER;
	const struct ct_tsdl_name *label =
		type->kind == CT_TSDL_ENUM ? value_label(type, value) : NULL;
	const struct ct_third_party_place *label_place =
		label != NULL ? ct_third_party_label(decoder->tree, place) : NULL;

	ct_third_party_items_add_number(decoder->items, place->name,
					is_address        ? CTRACE_TYPE_ADDRESS
					: type->is_signed ? CTRACE_TYPE_COMP5S
							  : CTRACE_TYPE_COMP5,
					value);
	if (label_place != NULL)
		ct_third_party_items_add(decoder->items, label_place->name, CTRACE_TYPE_UTF8,
					 label->text, label->size);
}

static enum ct_third_party_result decode_integer(struct ct_third_party_decoder *decoder,
						 const struct ct_tsdl_type *type,
						 struct ct_third_party_place *place,
						 bool is_referenced)
{
	enum ct_third_party_result result = decoder_need(decoder, type->size);
	uint64_t value;

	if (result != CT_THIRD_PARTY_OK)
		return result;
	value = get_integer(decoder, type);
	if (is_referenced) {
		place->value = value;
		place->type = type;
		place->stamp = decoder->scopes[decoder->scope].stamp;
	}
	if (place->role == CT_ROLE_HIDDEN)
		return CT_THIRD_PARTY_OK;
	if (place->role > CT_ROLE_HIDDEN)
		decoder_take_role(decoder, type, (enum ct_third_party_role)place->role, value);
	else if (decoder->items != NULL)
		add_integer(decoder, type, place, value);
	return type->kind == CT_TSDL_ENUM ? decoder_step(decoder, type->count / 8)
					  : CT_THIRD_PARTY_OK;
}

static enum ct_third_party_result decode_float(struct ct_third_party_decoder *decoder,
					       const struct ct_tsdl_type *type,
					       const struct ct_third_party_place *place)
{
	enum ct_third_party_result result = decoder_need(decoder, type->size);
	uint64_t bits;
	double value;

	if (result != CT_THIRD_PARTY_OK)
		return result;
	bits = get_integer(decoder, type);
	if (decoder->items == NULL)
		return CT_THIRD_PARTY_OK;
	if (type->size == 32) {
		uint32_t half = (uint32_t)bits;
		float single;

		memcpy(&single, &half, sizeof single);
		value = (double)single;
	} else {
		memcpy(&value, &bits, sizeof value);
	}
	ct_third_party_items_add_float(decoder->items, place->name, value, type->size == 32);
	return CT_THIRD_PARTY_OK;
}

/* -----------------------------------------------------------------------------------------------
 * Text and bytes
 */

static void decoder_take_text(struct ct_third_party_decoder *decoder,
			      const struct ct_third_party_place *place, enum ctrace_item_type type,
			      const void *text, uint64_t size)
{
	if (place->role == CT_ROLE_PROGRAM) {
		size_t fits =
			size < sizeof decoder->program ? (size_t)size : sizeof decoder->program - 1;

		memcpy(decoder->program, text, fits);
		decoder->program[fits] = '\0';
		decoder->roles |= 1u << CT_ROLE_PROGRAM;
	} else if (place->role == CT_ROLE_UUID) {
		decoder->uuid = text;
		decoder->roles |= 1u << CT_ROLE_UUID;
	} else if (decoder->items != NULL) {
		ct_third_party_items_add(decoder->items, place->name, type, text, size);
	}
}

static enum ctrace_item_type text_type(const struct ct_tsdl_type *type)
{
	if (type->encoding == CT_ENCODED_NOT)
		return CTRACE_TYPE_BINARY;
	return type->encoding == CT_ENCODED_ASCII ? CTRACE_TYPE_TEXT : CTRACE_TYPE_UTF8;
}

static enum ct_third_party_result decode_string(struct ct_third_party_decoder *decoder,
						const struct ct_tsdl_type *type,
						const struct ct_third_party_place *place)
{
	const unsigned char *text, *end;
	size_t available;

	if (decoder->at >= decoder->limit)
		return decoder_need(decoder, 8);
	text = decoder_byte(decoder);
	available = (size_t)((decoder->limit - decoder->at) / 8);
	end = memchr(text, '\0', available);
	if (end == NULL)
		return decoder_need(decoder, (uint64_t)available * 8 + 8);
	decoder_take_text(decoder, place,
			  type->encoding == CT_ENCODED_NOT ? CTRACE_TYPE_TEXT : text_type(type),
			  text, (uint64_t)(end - text));
	decoder->at += (uint64_t)(end - text + 1) * 8;
	return decoder_step(decoder, (uint64_t)(end - text) / 64);
}

/* True for elements that make an array of contiguous bytes. */
static bool element_is_byte(const struct ct_tsdl_type *element)
{
	return element->kind == CT_TSDL_INTEGER && element->size == 8 && element->align <= 8;
}

/* Decodes bytes that do not begin at a byte boundary. */
static enum ct_third_party_result decode_odd_bytes(struct ct_third_party_decoder *decoder,
						   const struct ct_tsdl_type *element,
						   const struct ct_third_party_place *place,
						   uint64_t length)
{
	enum ct_third_party_result result = decoder_step(decoder, length);
	uint64_t kept = length < CTRACE_MAX_ITEM_SIZE ? length : CTRACE_MAX_ITEM_SIZE;
	const unsigned char *bytes = decoder_byte(decoder);
	unsigned shift = (unsigned)(decoder->at % 8);
	unsigned char *copy;

	if (result != CT_THIRD_PARTY_OK || decoder->items == NULL || place->role != CT_ROLE_ITEM) {
		decoder->at += length * 8;
		return result;
	}
	copy = malloc(kept + (kept == 0));
	if (copy == NULL)
		return CT_THIRD_PARTY_NO_MEMORY;
	for (uint64_t i = 0; i < kept; i++)
		copy[i] = (unsigned char)gather_bits(bytes + i, shift, 8,
						     type_is_big(decoder, element));
	if (element->encoding != CT_ENCODED_NOT)
		length = strnlen((char *)copy, kept);
	ct_third_party_items_copy(decoder->items, place->name, text_type(element), copy,
				  length < kept ? length : kept);
	free(copy);
	return CT_THIRD_PARTY_OK;
}

static enum ct_third_party_result decode_bytes(struct ct_third_party_decoder *decoder,
					       const struct ct_tsdl_type *element,
					       const struct ct_third_party_place *place,
					       uint64_t length)
{
	enum ct_third_party_result result =
		length > UINT64_MAX / 16 ? decoder_fail(decoder, "the packet ends inside a field")
					 : decoder_need(decoder, length * 8);
	const unsigned char *bytes;
	uint64_t size = length;

	if (result != CT_THIRD_PARTY_OK)
		return result;
	if (decoder->at % 8 != 0) {
		uint64_t at = decoder->at;

		result = decode_odd_bytes(decoder, element, place, length);
		decoder->at = at + length * 8;
		return result;
	}
	bytes = decoder_byte(decoder);
	if (element->encoding != CT_ENCODED_NOT)
		size = strnlen((const char *)bytes, length);
	decoder_take_text(decoder, place, text_type(element), bytes, size);
	decoder->at += length * 8;
	return decoder_step(decoder, length / 64);
}

/* -----------------------------------------------------------------------------------------------
 * Types in types
 */

static enum ct_third_party_result decode_type(struct ct_third_party_decoder *decoder,
					      const struct ct_tsdl_type *type,
					      struct ct_third_party_place *place,
					      bool is_referenced);

static enum ct_third_party_result decode_elements(struct ct_third_party_decoder *decoder,
						  const struct ct_tsdl_type *type,
						  struct ct_third_party_place *place,
						  uint64_t length)
{
	const struct ct_tsdl_type *element = type->element;

	if (element_is_byte(element))
		return decode_bytes(decoder, element, place, length);
	if (!element->may_be_empty && length > decoder->end - decoder->at)
		return decoder_fail(decoder, "the packet ends inside a field");
	for (uint64_t i = 0; i < length; i++) {
		struct ct_third_party_place *at = ct_third_party_element(decoder->tree, place, i);
		enum ct_third_party_result result =
			at != NULL ? decode_type(decoder, element, at, false)
				   : CT_THIRD_PARTY_NO_MEMORY;

		if (result != CT_THIRD_PARTY_OK)
			return result;
	}
	return CT_THIRD_PARTY_OK;
}

static enum ct_third_party_result decode_sequence(struct ct_third_party_decoder *decoder,
						  const struct ct_tsdl_type *type,
						  struct ct_third_party_place *place)
{
	const struct ct_third_party_place *length = reference_look_up(decoder, type->reference);

	if (length == NULL)
		return decoder_fail(decoder, "the length of a sequence is nowhere");
	if (length->type->is_signed && (int64_t)length->value < 0)
		return decoder_fail(decoder, "the length of a sequence is negative");
	return decode_elements(decoder, type, place, length->value);
}

/* Returns the index of the option that the tag's value selects, or UINT32_MAX. */
static uint32_t variant_find_choice(struct ct_third_party_decoder *decoder,
				    const struct ct_tsdl_type *type,
				    const struct ct_third_party_place *tag)
{
	for (uint32_t i = 0; i < tag->type->count; i++) {
		uint32_t index;

		if (!value_is_labelled(tag->type, &tag->type->labels[i], tag->value))
			continue;
		if (decoder_step(decoder, type->count / 8) != CT_THIRD_PARTY_OK)
			break;
		index = struct_find_member(type, tag->type->labels[i].name, type->count);
		if (index != UINT32_MAX)
			return index;
	}
	return UINT32_MAX;
}

static enum ct_third_party_result decode_variant(struct ct_third_party_decoder *decoder,
						 const struct ct_tsdl_type *type,
						 struct ct_third_party_place *place)
{
	const struct ct_third_party_place *tag = reference_look_up(decoder, type->reference);
	struct ct_third_party_place *chosen;
	enum ct_third_party_result result;
	uint32_t index;

	if (tag == NULL || tag->type->kind != CT_TSDL_ENUM)
		return decoder_fail(decoder, "the tag of a variant is nowhere");
	result = decoder_step(decoder, tag->type->count / 8);
	if (result != CT_THIRD_PARTY_OK)
		return result;
	index = variant_find_choice(decoder, type, tag);
	if (index == UINT32_MAX)
		return decoder_fail(decoder, "the tag of a variant selects nothing");
	chosen = ct_third_party_choice(decoder->tree, place, type, index);
	return chosen != NULL ? decode_type(decoder, type->fields[index].type, chosen, false)
			      : CT_THIRD_PARTY_NO_MEMORY;
}

static enum ct_third_party_result decode_struct(struct ct_third_party_decoder *decoder,
						const struct ct_tsdl_type *type,
						struct ct_third_party_place *place)
{
	struct ct_third_party_frame *frame = &decoder->frames[decoder->frame_count];
	enum ct_third_party_result result = CT_THIRD_PARTY_OK;

	*frame = (struct ct_third_party_frame){ .type = type, .place = place };
	decoder->frame_count++;
	for (; frame->index < type->count && result == CT_THIRD_PARTY_OK; frame->index++) {
		const struct ct_tsdl_field *field = &type->fields[frame->index];
		struct ct_third_party_place *at = ct_third_party_member(
			decoder->tree, place, decoder->scope, type, frame->index);

		result = at != NULL
				 ? decode_type(decoder, field->type, at, field->name->is_referenced)
				 : CT_THIRD_PARTY_NO_MEMORY;
	}
	decoder->frame_count--;
	return result;
}

static enum ct_third_party_result decode_type(struct ct_third_party_decoder *decoder,
					      const struct ct_tsdl_type *type,
					      struct ct_third_party_place *place,
					      bool is_referenced)
{
	enum ct_third_party_result result = decoder_step(decoder, 1);

	if (result == CT_THIRD_PARTY_OK)
		result = decoder_align(decoder, type->align);
	if (result != CT_THIRD_PARTY_OK)
		return result;
	switch ((enum ct_tsdl_kind)type->kind) {
	case CT_TSDL_INTEGER:
	case CT_TSDL_ENUM:
		return decode_integer(decoder, type, place, is_referenced);
	case CT_TSDL_FLOAT:
		return decode_float(decoder, type, place);
	case CT_TSDL_STRING:
		return decode_string(decoder, type, place);
	case CT_TSDL_STRUCT:
		return decode_struct(decoder, type, place);
	case CT_TSDL_VARIANT:
		return decode_variant(decoder, type, place);
	case CT_TSDL_ARRAY:
		return decode_elements(decoder, type, place, type->length);
	case CT_TSDL_SEQUENCE:
		return decode_sequence(decoder, type, place);
	}
	return decoder_fail(decoder, "");
}

enum ct_third_party_result ct_third_party_decode(struct ct_third_party_decoder *decoder,
						 enum ct_tsdl_scope scope)
{
	const struct ct_third_party_scope *in = &decoder->scopes[scope];
	enum ct_third_party_result result;

	if (in->type == NULL)
		return CT_THIRD_PARTY_OK;
	if (in->root == NULL)
		return CT_THIRD_PARTY_NO_MEMORY;
	decoder->scope = scope;
	decoder->frame_count = 0;
	result = decode_type(decoder, in->type, in->root, false);
	if (result == CT_THIRD_PARTY_OK && decoder->items != NULL && decoder->items->has_no_memory)
		return CT_THIRD_PARTY_NO_MEMORY;
	return result;
}
