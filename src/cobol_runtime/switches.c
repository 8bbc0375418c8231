/*
 * switches.c - what is traced: the levels and properties of mf.rts, mf.mffh.xfh and mf.rts.io.
 *
 * The hooks read a level word and a word of properties.  Configuration is in force before
 * ct_switches_init() returns; a later change arrives by a callback, on the thread that makes it,
 * which reads the component's properties again.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cobol_runtime/cobol_runtime.h"

#include <mfctf.h>
#include <pthread.h>
#include <stdio.h>

struct ctrace_tracer ct_rts = CTRACE_TRACER("mf.rts");
struct ctrace_tracer ct_xfh = CTRACE_TRACER("mf.mffh.xfh");
struct ctrace_tracer ct_io = CTRACE_TRACER("mf.rts.io");

_Atomic uint32_t ct_rts_properties;
_Atomic uint32_t ct_xfh_properties;
_Atomic uint32_t ct_xfh_generation;

struct property {
	const char *name;
	uint32_t bits;
};

static const struct property rts_properties[] = {
	{ "all", CT_RTS_PGM | CT_RTS_PGMSEARCH | CT_RTS_PGMLOAD | CT_RTS_PARAGRAPHS |
			 CT_RTS_STATEMENTS | CT_RTS_EXCEPTIONS },
	{ "pgm", CT_RTS_PGM },
	{ "pgmsearch", CT_RTS_PGMSEARCH },
	{ "pgmload", CT_RTS_PGMLOAD },
	{ "paragraphs", CT_RTS_PARAGRAPHS },
	{ "statements", CT_RTS_STATEMENTS },
	{ "exceptions", CT_RTS_EXCEPTIONS },
	{ NULL, 0 },
};

/* Records are not part of all: they are the business's data. */
static const struct property xfh_properties[] = {
	{ "all", CT_XFH_BASE | CT_XFH_ALL | CT_XFH_BYTES },
	{ "base", CT_XFH_BASE },
	{ "bsio", CT_XFH_BYTES },
	{ "file:*", CT_XFH_ALL },
	{ "records", CT_XFH_RECORDS },
	{ NULL, 0 },
};

static bool property_is_on(const char *component, const char *name)
{
	cbl_x4_comp5_t value = 0;

	return CBL_CTF_COMP_PROPERTY_GET(CTF_FLAG_COMPID_STRING | CTF_FLAG_COMP_NAME_NULL_TERM |
						 CTF_FLAG_PROP_NAME_NULL_TERM |
						 CTF_FLAG_PROP_INT_VALUE,
					 (const cobuns8_t *)component, (const cobuns8_t *)name,
					 NULL, &value) == CTF_RET_SUCCESS &&
	       value != 0;
}

static uint32_t properties_read(const char *component, const struct property *properties)
{
	uint32_t bits = 0;

	for (; properties->name != NULL; properties++) {
		if (property_is_on(component, properties->name))
			bits |= properties->bits;
	}
	return bits;
}

/* Two threads may change properties at once: the one that reads last stores last. */
static void switches_read(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	(void)pthread_mutex_lock(&lock);
	atomic_store_explicit(&ct_rts_properties, properties_read("mf.rts", rts_properties),
			      memory_order_relaxed);
	atomic_store_explicit(&ct_xfh_properties, properties_read("mf.mffh.xfh", xfh_properties),
			      memory_order_relaxed);
	atomic_fetch_add_explicit(&ct_xfh_generation, 1, memory_order_relaxed);
	(void)pthread_mutex_unlock(&lock);
}

/* TRACER_NOTIF_CALLBACK, on the thread that makes the change. */
static void switches_changed(cobuns32_t handle, cobuns32_t type, void *change)
{
	(void)handle;
	(void)change;
	if (type == TRACER_NOTIF_TYPE_PROP_CHANGE)
		switches_read();
}

void ct_switches_init(void)
{
	static const char *const components[] = { "mf.rts", "mf.mffh.xfh", NULL };
	NOTIF_INSTALL install = { .callback = switches_changed };

	/* Registered now, so that operators see all three although they are off. */
	(void)ctrace_enabled_slow_(&ct_rts, CTRACE_FATAL);
	(void)ctrace_enabled_slow_(&ct_xfh, CTRACE_FATAL);
	(void)ctrace_enabled_slow_(&ct_io, CTRACE_FATAL);
	for (const char *const *name = components; *name != NULL; name++) {
		if (CBL_CTF_TRACER_GET(CTF_FLAG_COMP_NAME_NULL_TERM, (const cobuns8_t *)*name,
				       &install.handle) == CTF_RET_SUCCESS)
			(void)cobctf_tracer_notify(TRACER_NOTIF_INSTALL, &install);
	}
	switches_read();
}

bool ct_switches_file_is_on(const char *name, size_t size)
{
	char property[256];
	int length = snprintf(property, sizeof property, "file:%.*s", (int)size, name);

	return length > 0 && (size_t)length < sizeof property && size > 0 &&
	       property_is_on("mf.mffh.xfh", property);
}
