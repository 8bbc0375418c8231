/*
 * cbl_property.c - properties of components and emitters: CBL_CTF_COMP_PROPERTY_GET / _SET,
 * CBL_CTF_EMITTER_PROPERTY_GET / _SET.
 *
 * COBOL and C programs call it, on any thread, not in signal handlers.  Components and emitters
 * differ in how they are named and in the function of <ctrace/ctrace.h> that does the work; the
 * forms of a value are the same.  <mfctf.h> has the contracts.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/cobol/cobol.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "lib/control/control.h"

#define VALUE_LIMIT 4095u /* bytes of a text that is set: the longest path */
#define NUMBER_LIMIT 512u /* a longer text is not a number */

typedef enum ctrace_status property_get(const char *owner, const char *property, char *value,
					size_t *size);
typedef enum ctrace_status property_set(const char *owner, const char *property, const char *value);

struct property_id {
	char owner[CTRACE_MAX_COMPONENT + 1];
	char name[CTRACE_MAX_PROPERTY + 1];
};

static enum ctrace_status property_read_name(cobuns32_t flags, const void *name,
					     struct property_id *id)
{
	if (!ct_cbl_name_copy(name, (flags & CTF_FLAG_PROP_NAME_NULL_TERM) != 0,
			      CTRACE_MAX_PROPERTY, id->name))
		return CTRACE_INVALID_PROP_NAME;
	return CTRACE_OK;
}

static enum ctrace_status component_read(cobuns32_t flags, const void *component_id,
					 const void *name, struct property_id *id)
{
	enum ctrace_status status = ct_cbl_component(flags, component_id, id->owner);

	return status == CTRACE_OK ? property_read_name(flags, name, id) : status;
}

static enum ctrace_status emitter_read(cobuns32_t flags, const void *emitter, const void *name,
				       struct property_id *id)
{
	int saved_errno = errno;
	enum ctrace_status status;
	uint32_t index;

	if (!ct_cbl_name_copy(emitter, (flags & CTF_FLAG_EMITTER_NAME_NULL_TERM) != 0,
			      CTRACE_MAX_EMITTER, id->owner))
		return CTRACE_INVALID_EMITTER_NAME;
	/* An unknown emitter is reported before a bad property name, as an unknown component is. */
	status = ct_emitter_find(id->owner, strlen(id->owner), &index); /* may load a module */
	errno = saved_errno;
	return status == CTRACE_OK ? property_read_name(flags, name, id) : status;
}

static enum ctrace_status number_get(property_get *get, const struct property_id *id,
				     void *out_value)
{
	char text[NUMBER_LIMIT];
	size_t size = sizeof(text);
	enum ctrace_status status = get(id->owner, id->name, text, &size);
	uint32_t number = 0;

	if (status == CTRACE_OK)
		number = (uint32_t)ct_value_number(text, size);
	else if (status != CTRACE_BUFFER_TOO_SMALL)
		return status;
	if (!ct_cbl_is_null(out_value))
		memcpy(out_value, &number, sizeof(number));
	return CTRACE_OK;
}

static enum ctrace_status text_get(property_get *get, cobuns32_t flags,
				   const struct property_id *id, void *vallen, char *out_value)
{
	size_t room = ct_cbl_is_null(vallen) ? 0 : ct_cbl_load_u32(vallen);
	bool only_size = ct_cbl_is_null(out_value);
	size_t size = room;
	enum ctrace_status status;
	uint32_t reported;

	status = get(id->owner, id->name, only_size ? NULL : out_value, &size);
	if (status != CTRACE_OK && status != CTRACE_BUFFER_TOO_SMALL)
		return status;
	reported = (uint32_t)(only_size || status != CTRACE_OK ? size + 1 : size);
	if (!ct_cbl_is_null(vallen))
		memcpy(vallen, &reported, sizeof(reported));
	/* Only within the size that the caller gave. */
	if (status == CTRACE_OK && !only_size && !(flags & CTF_FLAG_PROP_VALUE_NULL_TERM))
		memset(out_value + size, ' ', room - size);
	return only_size ? CTRACE_OK : status;
}

static enum ctrace_status value_get(property_get *get, cobuns32_t flags,
				    const struct property_id *id, void *vallen, void *out_value)
{
	if (flags & CTF_FLAG_PROP_INT_VALUE)
		return number_get(get, id, out_value);
	return text_get(get, flags, id, vallen, out_value);
}

static enum ctrace_status value_set(property_set *set, cobuns32_t flags,
				    const struct property_id *id, const void *value)
{
	char text[VALUE_LIMIT + 1] = "";

	if (ct_cbl_is_null(value))
		return set(id->owner, id->name, text);
	if (flags & CTF_FLAG_PROP_INT_VALUE) {
		(void)snprintf(text, sizeof(text), "%u", ct_cbl_load_u32(value));
		return set(id->owner, id->name, text);
	}
	size_t size =
		ct_cbl_name_size(value, (flags & CTF_FLAG_PROP_VALUE_NULL_TERM) != 0, VALUE_LIMIT);
	if (size > VALUE_LIMIT)
		return CTRACE_NOT_ENOUGH_MEMORY;
	memcpy(text, value, size);
	text[size] = 0;
	return set(id->owner, id->name, text);
}

cobrtncode_t CBL_CTF_COMP_PROPERTY_GET(cobuns32_t flags, const cobuns8_t *component_id,
				       const cobuns8_t *property_name,
				       cbl_x4_comp5_t *property_vallen, void *property_value)
{
	CT_CANCEL_OFF();
	struct property_id id;
	enum ctrace_status status;

	ct_notify_deliver();
	status = component_read(flags, component_id, property_name, &id);
	if (status == CTRACE_OK)
		status = value_get(ctrace_component_property_get, flags, &id, property_vallen,
				   property_value);
	return ct_cbl_return(status);
}

cobrtncode_t CBL_CTF_COMP_PROPERTY_SET(cobuns32_t flags, const cobuns8_t *component_id,
				       const cobuns8_t *property_name, const void *property_value)
{
	CT_CANCEL_OFF();
	struct property_id id;
	enum ctrace_status status;

	ct_notify_deliver();
	status = component_read(flags, component_id, property_name, &id);
	if (status == CTRACE_OK)
		status = value_set(ctrace_component_property_set, flags, &id, property_value);
	return ct_cbl_return(status);
}

cobrtncode_t CBL_CTF_EMITTER_PROPERTY_GET(cobuns32_t flags, const cobuns8_t *emitter_name,
					  const cobuns8_t *property_name,
					  cbl_x4_comp5_t *property_vallen, void *property_value)
{
	CT_CANCEL_OFF();
	struct property_id id;
	enum ctrace_status status;

	ct_notify_deliver();
	status = emitter_read(flags, emitter_name, property_name, &id);
	if (status == CTRACE_OK)
		status = value_get(ctrace_emitter_property_get, flags, &id, property_vallen,
				   property_value);
	return ct_cbl_return(status);
}

cobrtncode_t CBL_CTF_EMITTER_PROPERTY_SET(cobuns32_t flags, const cobuns8_t *emitter_name,
					  const cobuns8_t *property_name,
					  const void *property_value)
{
	CT_CANCEL_OFF();
	struct property_id id;
	enum ctrace_status status;

	ct_notify_deliver();
	status = emitter_read(flags, emitter_name, property_name, &id);
	if (status == CTRACE_OK)
		status = value_set(ctrace_emitter_property_set, flags, &id, property_value);
	return ct_cbl_return(status);
}
