/*
 * cbl_id.c - arguments as COBOL passes them: names, handles, and NULL written as BY VALUE 0.
 *
 * Runs on the caller's thread, in every CBL_CTF_* call.  Names come without lengths, only with
 * terminators.  So nothing here reads behind a terminator, or more than a name's limit plus one
 * byte.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/cobol/cobol.h"

#include <string.h>

enum ctrace_status ct_handle_component(uint32_t handle, uint32_t *out_component)
{
	uint32_t state = __atomic_load_n(&ct_process.state, __ATOMIC_ACQUIRE);
	uint32_t component = ct_handle_index(handle);

	if (!ct_handle_is_marked(handle) || state == CT_PROCESS_NEW || state == CT_PROCESS_FAILED)
		return CTRACE_INVALID_TRACE_HANDLE;
	if (ct_process.registry == NULL || component >= ct_registry_count(ct_process.registry))
		return CTRACE_INVALID_TRACE_HANDLE;
	/* A component that was only configured has an index too, but no program has its handle. */
	if (!(__atomic_load_n(&ct_registry_entry(ct_process.registry, component)->flags,
			      __ATOMIC_RELAXED) &
	      CT_COMPONENT_REGISTERED))
		return CTRACE_INVALID_TRACE_HANDLE;
	*out_component = component;
	return CTRACE_OK;
}

size_t ct_cbl_name_size(const void *name, bool null_terminated, size_t limit)
{
	const unsigned char *at = name;
	size_t size = 0;

	if (ct_cbl_is_null(name))
		return 0;
	while (size <= limit && at[size] != 0 && (null_terminated || at[size] != ' '))
		size++;
	return size;
}

bool ct_cbl_name_copy(const void *name, bool null_terminated, size_t limit, char *out)
{
	size_t size = ct_cbl_name_size(name, null_terminated, limit);

	if (size == 0 || size > limit)
		return false;
	memcpy(out, name, size);
	out[size] = 0;
	return true;
}

bool ct_cbl_is_default(cobuns32_t flags, const void *component_id)
{
	const unsigned char *first = component_id;

	if (ct_cbl_is_null(component_id) || first[0] == 0)
		return true;
	/* A NUL-terminated name may begin with a space: odd, but valid. */
	return first[0] == ' ' &&
	       (flags & (CTF_FLAG_COMPID_STRING | CTF_FLAG_COMP_NAME_NULL_TERM)) !=
		       (CTF_FLAG_COMPID_STRING | CTF_FLAG_COMP_NAME_NULL_TERM);
}

enum ctrace_status ct_cbl_component(cobuns32_t flags, const void *component_id,
				    char out[CTRACE_MAX_COMPONENT + 1])
{
	enum ctrace_status status;
	const char *name;
	uint32_t component;

	if (flags & CTF_FLAG_COMPID_STRING) {
		if (!ct_cbl_name_copy(component_id, (flags & CTF_FLAG_COMP_NAME_NULL_TERM) != 0,
				      CTRACE_MAX_COMPONENT, out))
			return CTRACE_INVALID_COMPONENT_NAME;
		return ct_component_check_name(out, strlen(out));
	}
	/* One byte exposes most invalid handles, and may be the only readable one. */
	if (ct_cbl_is_null(component_id) || *(const unsigned char *)component_id != CT_HANDLE_MARK)
		return CTRACE_INVALID_TRACE_HANDLE;
	status = ct_handle_component(ct_cbl_load_u32(component_id), &component);
	if (status != CTRACE_OK)
		return status;
	name = ct_registry_name(ct_process.registry, component);
	memcpy(out, name, strlen(name) + 1);
	return CTRACE_OK;
}

cobrtncode_t ct_cbl_return(enum ctrace_status status)
{
	ct_notify_deliver();
	if (status <= CTRACE_OUTPUT_ERROR)
		return (cobrtncode_t)status;
	return status == CTRACE_OS_ERROR ? CTF_RET_NOT_ENOUGH_MEMORY : CTF_RET_FAILURE;
}
