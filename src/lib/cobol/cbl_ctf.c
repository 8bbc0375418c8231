/*
 * cbl_ctf.c - components, levels and destinations: CBL_CTF_TRACER_GET, _TRACER_LEVEL_GET, _LEVEL
 * and _DEST.
 *
 * COBOL and C programs call it, on any thread, not in signal handlers.  Each routine delivers the
 * waiting changes to callbacks, reads its arguments, does what <ctrace/ctrace.h> does, and delivers
 * the new changes.  <mfctf.h> has the contracts.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/cobol/cobol.h"

#include <string.h>

cobrtncode_t CBL_CTF_TRACER_GET(cobuns32_t flags, const cobuns8_t *component_name,
				cbl_x4_comp5_t *tracer_handle)
{
	CT_CANCEL_OFF();
	char name[CTRACE_MAX_COMPONENT + 1];
	struct ctrace_tracer *tracer;
	enum ctrace_status status;
	uint32_t handle;

	ct_notify_deliver();
	/* CBL_CTF_TRACER_GET reserves bit 31, so bit 30 alone decides. */
	if (!ct_cbl_name_copy(component_name, (flags & CTF_FLAG_COMP_NAME_NULL_TERM) != 0,
			      CTRACE_MAX_COMPONENT, name))
		return ct_cbl_return(CTRACE_INVALID_COMPONENT_NAME);
	status = ctrace_tracer_get(name, &tracer);
	if (status == CTRACE_OK && !ct_cbl_is_null(tracer_handle)) {
		handle = ct_handle_of(tracer->component);
		/* a COBOL item need not be aligned */
		memcpy(tracer_handle, &handle, sizeof(handle));
	}
	return ct_cbl_return(status);
}

static bool id_begins_word(unsigned char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= 0xC2 && c <= 0xF4);
}

/*
 * True for bytes that cannot be a handle and look like a name.  An invalid handle often has a NUL
 * among its bytes.  So a name that is shorter than a handle and ends at a NUL must begin with a
 * letter.
 */
static bool id_looks_like_name(const unsigned char *at)
{
	unsigned size = 0;

	if (at[0] == CT_HANDLE_MARK)
		return false;
	while (size < 4 && at[size] > ' ')
		size++;
	if (size == 0 || (size < 4 && at[size] != ' ' && at[size] != 0))
		return false;
	if ((at[0] >= 0x80 || (size < 4 && at[size] == 0)) && !id_begins_word(at[0]))
		return false;
	return ct_escape_is_plain(at, ct_cbl_name_size(at, false, CTRACE_MAX_COMPONENT));
}

/* The component whose threshold is meant; "" for the default.  The vendor's examples pass a name
 * with flags 0. */
static enum ctrace_status threshold_owner(cobuns32_t flags, const cobuns8_t *component_id,
					  char out[CTRACE_MAX_COMPONENT + 1])
{
	out[0] = 0;
	if (ct_cbl_is_default(flags, component_id))
		return CTRACE_OK;
	if (!(flags & CTF_FLAG_COMPID_STRING) && id_looks_like_name(component_id))
		flags = CTF_FLAG_COMPID_STRING;
	return ct_cbl_component(flags, component_id, out);
}

cobrtncode_t CBL_CTF_TRACER_LEVEL_GET(cobuns32_t flags, const cobuns8_t *component_id,
				      cbl_x4_comp5_t *trace_level)
{
	CT_CANCEL_OFF();
	char name[CTRACE_MAX_COMPONENT + 1];
	enum ctrace_status status;
	uint32_t level;

	ct_notify_deliver();
	status = threshold_owner(flags, component_id, name);
	if (status == CTRACE_OK)
		status = ctrace_level_get(name, &level);
	if (status == CTRACE_OK && !ct_cbl_is_null(trace_level))
		memcpy(trace_level, &level, sizeof(level));
	return ct_cbl_return(status);
}

cobrtncode_t CBL_CTF_LEVEL(cobuns32_t flags, cobuns32_t trace_level, const cobuns8_t *component_id)
{
	CT_CANCEL_OFF();
	char name[CTRACE_MAX_COMPONENT + 1];
	enum ctrace_status status;

	ct_notify_deliver();
	status = threshold_owner(flags, component_id, name);
	if (status == CTRACE_OK && trace_level >= CTRACE_LEVEL_COUNT &&
	    trace_level != CTRACE_LEVEL_NONE)
		status = CTRACE_INVALID_TRACE_LEVEL;
	if (status == CTRACE_OK)
		status = ctrace_level_set(name, trace_level);
	return ct_cbl_return(status);
}

cobrtncode_t CBL_CTF_DEST(cobuns32_t flags, const cobuns8_t *component_id,
			  const cobuns8_t *emitter_name)
{
	CT_CANCEL_OFF();
	char name[CTRACE_MAX_COMPONENT + 1] = "";
	char emitter[CTRACE_MAX_EMITTER + 1];
	enum ctrace_status status = CTRACE_OK;

	ct_notify_deliver();
	if (!ct_cbl_is_default(flags, component_id))
		status = ct_cbl_component(flags, component_id, name);
	if (status == CTRACE_OK &&
	    !ct_cbl_name_copy(emitter_name, (flags & CTF_FLAG_EMITTER_NAME_NULL_TERM) != 0,
			      CTRACE_MAX_EMITTER, emitter))
		status = CTRACE_INVALID_EMITTER_NAME;
	if (status == CTRACE_OK)
		status = ctrace_dest_set(name, emitter,
					 flags & (CTF_FLAG_DEST_REMOVE | CTF_FLAG_DEST_NOINHERIT));
	return ct_cbl_return(status);
}
