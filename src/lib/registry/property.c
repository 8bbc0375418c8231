/*
 * property.c - properties of components and of emitters: any name, any value, kept as text.
 *
 * Commands and getters run here, on any thread, under the registry's lock, not in a signal handler.
 * Values live in blocks of the registry's arena that are used again, not in malloc's memory: the
 * registry is never freed, and a program that looks for leaks should not find ours.  An emitter's
 * properties also stand in the session, for whoever recovers its traces.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/registry/tree.h"

#include <string.h>

#define SMALLEST_BLOCK 64u
#define VALUE_LIMIT 0xFFFFu /* a text of the session is no longer */

/* ---- blocks ---- */

static struct ct_property *property_create(struct ct_registry *registry, size_t text_size)
{
	size_t size = sizeof(struct ct_property) + text_size;
	struct ct_property *property;
	uint32_t class = 0;

	while (class < CT_PROPERTY_CLASSES && ((size_t)SMALLEST_BLOCK << class) < size)
		class ++;
	if (class == CT_PROPERTY_CLASSES)
		return NULL;
	property = registry->free_blocks[class];
	if (property != NULL) {
		registry->free_blocks[class] = property->next;
	} else {
		property = ct_arena_take(&registry->arena, (size_t)SMALLEST_BLOCK << class);
		if (property == NULL)
			return NULL;
	}
	property->block_class = class;
	return property;
}

static void property_destroy(struct ct_registry *registry, struct ct_property *property)
{
	property->next = registry->free_blocks[property->block_class];
	registry->free_blocks[property->block_class] = property;
}

void ct_property_reset(struct ct_registry *registry, struct ct_property **list)
{
	while (*list != NULL) {
		struct ct_property *property = *list;

		*list = property->next;
		property_destroy(registry, property);
	}
}

static char *property_name(struct ct_property *property)
{
	return (char *)(property + 1);
}

static char *property_value(struct ct_property *property)
{
	return property_name(property) + property->name_size + 1;
}

/* ---- lists ---- */

struct setting {
	const char *name;
	size_t name_size;
	const char *value;
	size_t value_size;
};

/* The link that points to the property of that name, or to NULL at the end of the list. */
static struct ct_property **list_find(struct ct_property **list, const char *name, size_t size)
{
	uint32_t hash = ct_name_hash(name, size);

	while (*list != NULL &&
	       !((*list)->hash == hash &&
		 ct_name_equal(name, size, property_name(*list), (*list)->name_size)))
		list = &(*list)->next;
	return list;
}

static enum ctrace_status setting_check(const struct setting *setting)
{
	if (setting->name == NULL || setting->name_size == 0 ||
	    setting->name_size > CTRACE_MAX_PROPERTY)
		return CTRACE_INVALID_PROP_NAME;
	return setting->value_size > VALUE_LIMIT ? CTRACE_NOT_ENOUGH_MEMORY : CTRACE_OK;
}

static struct ct_property *property_make(struct ct_registry *registry,
					 const struct setting *setting)
{
	struct ct_property *property =
		property_create(registry, setting->name_size + setting->value_size + 2);

	if (property == NULL)
		return NULL;
	property->hash = ct_name_hash(setting->name, setting->name_size);
	property->name_size = (uint32_t)setting->name_size;
	property->value_size = (uint32_t)setting->value_size;
	memcpy(property_name(property), setting->name, setting->name_size);
	property_name(property)[setting->name_size] = '\0';
	if (setting->value_size != 0)
		memcpy(property_value(property), setting->value, setting->value_size);
	property_value(property)[setting->value_size] = '\0';
	return property;
}

/* Puts the new property where the old one of its name was; the old one leaves the list.  NULL: adds
 * at the head.  So neither the order nor an emitter's settings text depends on repeated changes. */
static struct ct_property *list_replace(struct ct_property **list, struct ct_property *property)
{
	struct ct_property **link = list_find(list, property_name(property), property->name_size);
	struct ct_property *old = *link;

	if (old == NULL)
		link = list;
	property->next = old != NULL ? old->next : *list;
	*link = property;
	return old;
}

static bool value_is_equal(struct ct_property *a, struct ct_property *b)
{
	return a != NULL && a->value_size == b->value_size &&
	       memcmp(property_value(a), property_value(b), b->value_size) == 0;
}

static void list_each(struct ct_property *list, ct_property_sink *each, void *user)
{
	for (; list != NULL; list = list->next)
		each(property_name(list), list->name_size, property_value(list), list->value_size,
		     user);
}

bool ct_property_copy(struct ct_registry *registry, struct ct_property *from,
		      struct ct_property **out_list)
{
	struct ct_property *list = NULL;
	struct ct_property **end = &list;

	for (; from != NULL; from = from->next) {
		const struct setting setting = { property_name(from), from->name_size,
						 property_value(from), from->value_size };

		*end = property_make(registry, &setting);
		if (*end == NULL) {
			ct_property_reset(registry, &list);
			return false;
		}
		end = &(*end)->next;
		*end = NULL;
	}
	*out_list = list;
	return true;
}

void ct_property_each_new(struct ct_property *list, struct ct_property *before,
			  ct_property_sink *each, void *user)
{
	for (; list != NULL; list = list->next)
		if (!value_is_equal(*list_find(&before, property_name(list), list->name_size),
				    list))
			each(property_name(list), list->name_size, property_value(list),
			     list->value_size, user);
}

/* ---- components ---- */

static void change_report(uint32_t component, const struct setting *setting,
			  ct_change_sink *changed, void *user)
{
	struct ct_change change = {
		.kind = CT_CHANGE_PROPERTY,
		.component = component,
		.property = setting->name,
		.property_size = setting->name_size,
		.value = setting->value,
		.value_size = setting->value_size,
		.number = ct_value_number(setting->value, setting->value_size),
	};

	changed(&change, user);
}

/* Reports the change with copied texts, because another thread may set the property again
 * meanwhile. */
static void change_report_copy(uint32_t component, struct ct_buf *texts, size_t name_size,
			       ct_change_sink *changed, void *user)
{
	struct setting setting = {
		.name = texts->data,
		.name_size = name_size,
		.value = texts->data + name_size + 1,
		.value_size = texts->size - name_size - 2,
	};

	change_report(component, &setting, changed, user);
}

static bool copy_texts(struct ct_buf *texts, const struct setting *setting)
{
	ct_buf_add(texts, setting->name, setting->name_size);
	ct_buf_add_char(texts, '\0');
	ct_buf_add(texts, setting->value, setting->value_size);
	ct_buf_add_char(texts, '\0');
	return !texts->failed;
}

enum ctrace_status ct_component_property_set(struct ct_registry *registry, const char *component,
					     size_t size, const char *name, size_t name_size,
					     const char *value, size_t value_size,
					     ct_change_sink *changed, void *user)
{
	struct setting setting = { name, name_size, value, value_size };
	enum ctrace_status status = ct_component_check_name(component, size);
	struct ct_property *property;
	struct ct_property *old;
	struct ct_buf texts;
	bool is_change;
	uint32_t index;

	if (status == CTRACE_OK)
		status = setting_check(&setting);
	if (status != CTRACE_OK)
		return status;
	ct_buf_init(&texts);
	if (changed != NULL && !copy_texts(&texts, &setting)) {
		status = CTRACE_NOT_ENOUGH_MEMORY;
		goto undo_texts;
	}
	ct_registry_lock(registry);
	status = ct_node_ensure(registry, component, size, &index);
	if (status != CTRACE_OK)
		goto undo_lock;
	property = property_make(registry, &setting);
	if (property == NULL) {
		status = CTRACE_NOT_ENOUGH_MEMORY;
		goto undo_lock;
	}
	old = list_replace(&ct_node_at(registry, index)->properties, property);
	is_change = !value_is_equal(old, property) && ct_node_is_known(registry, index);
	if (old != NULL)
		property_destroy(registry, old);
	ct_registry_unlock(registry);
	if (is_change && changed != NULL)
		change_report_copy(index, &texts, name_size, changed, user);
	ct_buf_fini(&texts);
	return CTRACE_OK;

undo_lock:
	ct_registry_unlock(registry);
undo_texts:
	ct_buf_fini(&texts);
	return status;
}

static enum ctrace_status copy_value(struct ct_property *property, struct ct_buf *out_value)
{
	if (property == NULL)
		return CTRACE_PROPERTY_NOT_FOUND;
	ct_buf_add(out_value, property_value(property), property->value_size);
	return out_value->failed ? CTRACE_NOT_ENOUGH_MEMORY : CTRACE_OK;
}

enum ctrace_status ct_component_property_get(const struct ct_registry *registry,
					     const char *component, size_t size, const char *name,
					     size_t name_size, struct ct_buf *out_value)
{
	struct ct_registry *locked = (struct ct_registry *)(uintptr_t)registry;
	struct setting setting = { .name = name, .name_size = name_size };
	enum ctrace_status status = ct_component_check_name(component, size);
	uint32_t index;

	if (status == CTRACE_OK)
		status = setting_check(&setting);
	if (status != CTRACE_OK)
		return status;
	index = ct_node_find(registry, component, size);
	if (index == CT_COMPONENT_NONE)
		return CTRACE_PROPERTY_NOT_FOUND;
	ct_registry_lock(locked);
	status = copy_value(*list_find(&ct_node_at(registry, index)->properties, name, name_size),
			    out_value);
	ct_registry_unlock(locked);
	return status;
}

void ct_component_property_each(struct ct_registry *registry, uint32_t index,
				ct_property_sink *each, void *user)
{
	ct_registry_lock(registry);
	list_each(ct_node_at(registry, index)->properties, each, user);
	ct_registry_unlock(registry);
}

/* ---- emitters ---- */

/* One line of ct_dest.settings.  A name that would break the line is left out: no emitter knows
 * such a property. */
static void settings_add(struct ct_buf *out, struct ct_property *property)
{
	const char *name = property_name(property);
	const char *value = property_value(property);

	if (memchr(name, '\n', property->name_size) != NULL ||
	    memchr(name, '=', property->name_size) != NULL)
		return;
	ct_buf_add(out, name, property->name_size);
	ct_buf_add_char(out, '=');
	for (size_t i = 0; i < property->value_size; i++) {
		if (value[i] == '\\' || value[i] == '\n')
			ct_buf_add_char(out, '\\');
		ct_buf_add_char(out, value[i] == '\n' ? 'n' : value[i]);
	}
	ct_buf_add_char(out, '\n');
}

/* The text of an emitter's settings that the session has already. */
static bool settings_find(const struct ct_registry *registry, uint32_t emitter,
			  const struct ct_buf *settings, ct_text *out_text)
{
	const struct ct_settings_texts *texts = &registry->settings_texts[emitter];
	uint32_t count = texts->count < CT_SETTINGS_KEPT ? texts->count : CT_SETTINGS_KEPT;

	for (uint32_t i = 0; i < count; i++) {
		size_t size;
		const char *text = ct_session_text(registry->session, texts->text[i], &size);

		if (size == settings->size && memcmp(text, settings->data, size) == 0) {
			*out_text = texts->text[i];
			return true;
		}
	}
	return false;
}

/* The session never gives a text back: one that a program goes back to again and again is stored
 * once. */
static enum ctrace_status settings_add_text(struct ct_registry *registry, uint32_t emitter,
					    const struct ct_buf *settings, ct_text *out_text)
{
	struct ct_settings_texts *texts = &registry->settings_texts[emitter];
	enum ctrace_status status;

	if (settings_find(registry, emitter, settings, out_text))
		return CTRACE_OK;
	status = ct_session_add_text(registry->session, settings->data, settings->size, out_text);
	if (status == CTRACE_OK)
		texts->text[texts->count++ % CT_SETTINGS_KEPT] = *out_text;
	return status;
}

enum ctrace_status ct_property_print(struct ct_registry *registry, uint32_t emitter,
				     struct ct_property *list, ct_text *out_text)
{
	struct ct_buf settings;
	ct_text text = 0;
	enum ctrace_status status = CTRACE_OK;

	ct_buf_init(&settings);
	for (; list != NULL; list = list->next)
		settings_add(&settings, list);
	if (settings.failed)
		status = CTRACE_NOT_ENOUGH_MEMORY;
	else if (settings.size != 0)
		status = settings_add_text(registry, emitter, &settings, &text);
	if (status == CTRACE_OK)
		*out_text = text;
	ct_buf_fini(&settings);
	return status;
}

void ct_property_put_emitter(struct ct_registry *registry, uint32_t emitter,
			     struct ct_property *list, ct_text text)
{
	registry->emitter_properties[emitter] = list;
	ct_dest_name(registry, emitter);
	__atomic_store_n(&registry->session->head->dest[emitter].settings, text, __ATOMIC_RELEASE);
}

/* Stores the emitter's settings as one text of the session. */
static enum ctrace_status settings_store(struct ct_registry *registry, uint32_t emitter)
{
	struct ct_property *list = registry->emitter_properties[emitter];
	ct_text text;
	enum ctrace_status status = ct_property_print(registry, emitter, list, &text);

	if (status == CTRACE_OK)
		ct_property_put_emitter(registry, emitter, list, text);
	return status;
}

/* Has each property of one list the same value in the other, or by default? */
static bool list_has_all(const struct ctrace_emitter *known, struct ct_property *list,
			 struct ct_property *other)
{
	for (; list != NULL; list = list->next) {
		struct ct_property *found =
			*list_find(&other, property_name(list), list->name_size);
		const struct ctrace_property *row =
			known != NULL
				? ct_emitter_property(known, property_name(list), list->name_size)
				: NULL;

		if (found != NULL ? !value_is_equal(found, list)
				  : row == NULL || row->default_value == NULL ||
					    strcmp(row->default_value, property_value(list)) != 0)
			return false;
	}
	return true;
}

bool ct_property_is_same(uint32_t emitter, struct ct_property *a, struct ct_property *b)
{
	return list_has_all(ct_emitter_at(emitter), a, b) &&
	       list_has_all(ct_emitter_at(emitter), b, a);
}

/* All or nothing: a setting that cannot be stored for a recoverer does not come into force. */
static enum ctrace_status emitter_set(struct ct_registry *registry, uint32_t emitter,
				      const struct setting *setting)
{
	struct ct_property **list = &registry->emitter_properties[emitter];
	struct ct_property *property = property_make(registry, setting);
	struct ct_property *old;
	enum ctrace_status status;

	if (property == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	old = *list_find(list, setting->name, setting->name_size);
	if (value_is_equal(old, property)) {
		property_destroy(registry, property);
		return CTRACE_OK;
	}
	old = list_replace(list, property);
	status = settings_store(registry, emitter);
	if (status == CTRACE_OK) {
		if (old != NULL)
			property_destroy(registry, old);
		return CTRACE_OK;
	}
	if (old != NULL) {
		property = list_replace(list, old);
	} else {
		*list = property->next;
	}
	property_destroy(registry, property);
	return status;
}

enum ctrace_status ct_emitter_property_set(struct ct_registry *registry, uint32_t emitter,
					   const char *name, size_t name_size, const char *value,
					   size_t value_size)
{
	struct setting setting = { name, name_size, value, value_size };
	enum ctrace_status status = setting_check(&setting);

	if (status != CTRACE_OK)
		return status;
	if (emitter >= CT_EMITTER_LIMIT || ct_emitter_at(emitter) == NULL)
		return CTRACE_EMITTER_NOT_FOUND;
	ct_registry_lock(registry);
	status = emitter_set(registry, emitter, &setting);
	ct_registry_unlock(registry);
	return status;
}

enum ctrace_status ct_emitter_property_get(const struct ct_registry *registry, uint32_t emitter,
					   const char *name, size_t name_size,
					   struct ct_buf *out_value)
{
	struct ct_registry *locked = (struct ct_registry *)(uintptr_t)registry;
	struct setting setting = { .name = name, .name_size = name_size };
	const struct ctrace_property *row;
	enum ctrace_status status = setting_check(&setting);

	if (status != CTRACE_OK)
		return status;
	if (emitter >= CT_EMITTER_LIMIT || ct_emitter_at(emitter) == NULL)
		return CTRACE_EMITTER_NOT_FOUND;
	ct_registry_lock(locked);
	status = copy_value(*list_find(&locked->emitter_properties[emitter], name, name_size),
			    out_value);
	ct_registry_unlock(locked);
	if (status != CTRACE_PROPERTY_NOT_FOUND)
		return status;
	row = ct_emitter_property(ct_emitter_at(emitter), name, name_size);
	if (row == NULL || row->default_value == NULL)
		return CTRACE_PROPERTY_NOT_FOUND;
	ct_buf_add_text(out_value, row->default_value);
	return out_value->failed ? CTRACE_NOT_ENOUGH_MEMORY : CTRACE_OK;
}

bool ct_property_is_set(struct ct_registry *registry, uint32_t emitter, const char *name)
{
	return *list_find(&registry->emitter_properties[emitter], name, strlen(name)) != NULL;
}

void ct_emitter_property_each(struct ct_registry *registry, uint32_t emitter,
			      ct_property_sink *each, void *user)
{
	ct_registry_lock(registry);
	list_each(registry->emitter_properties[emitter], each, user);
	ct_registry_unlock(registry);
}

void ct_emitter_property_reset_all(struct ct_registry *registry)
{
	ct_registry_lock(registry);
	for (uint32_t emitter = 0; emitter < CT_EMITTER_LIMIT; emitter++) {
		ct_property_reset(registry, &registry->emitter_properties[emitter]);
		__atomic_store_n(&registry->session->head->dest[emitter].settings, 0,
				 __ATOMIC_RELEASE);
	}
	ct_registry_unlock(registry);
}
