/*
 * mfctf.h - the Consolidated Tracing Facility for C: the same routines that COBOL programs call.
 *
 * The ten CBL_CTF_* routines have their COBOL names.  Two of them read a structure.  Their natural
 * C forms are cobctf_trace() and cobctf_tracer_notify(), because a COBOL group has no padding and a
 * C structure does.  New C programs may prefer <ctrace/ctrace.h>, which is faster; both interfaces
 * share components, levels and destinations.
 *
 * Conventions, the same for all routines:
 *
 *  - Any thread may call, and each change is in force when the call returns.  errno is kept.  A
 *    signal handler may make the trace calls only.
 *  - A component_id is a pointer to a 4-byte tracer handle, or, with CTF_FLAG_COMPID_STRING, to a
 *    component name.
 *  - Names are case-insensitive.  They end at a space or NUL, or with a ..._NULL_TERM flag at a NUL
 *    only.  A name has at most 255 bytes (an emitter's 31); nothing behind its end is read.
 *  - Where a default exists (CBL_CTF_LEVEL, CBL_CTF_TRACER_LEVEL_GET, CBL_CTF_DEST), a component_id
 *    that is NULL or an empty name means the default, in either form.  So does a "handle" whose
 *    first byte is a space or 0, which no real handle has.
 *  - A pointer argument whose low 32 bits are 0 counts as NULL: COBOL's BY VALUE 0 sets only those.
 *  - Unknown flag bits are ignored.
 *  - Arguments are checked in this order: component, emitter, property name, level, and then what
 *    depends on the configuration.  The first error gives the status.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef MFCTF_H
#define MFCTF_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CTF_API_ __attribute__((visibility("default")))

/* <libcob.h> has macros of these names. */
#ifndef cobuns8_t
typedef uint8_t cobuns8_t;
#endif
#ifndef cobuns32_t
typedef uint32_t cobuns32_t;
#endif
typedef uint32_t cbl_x4_comp5_t; /* pic x(4) comp-5 */
typedef int cobrtncode_t;        /* one of CTF_RET_* */

/* -----------------------------------------------------------------------------------------------
 * Status codes
 */
#define CTF_RET_SUCCESS 0
/* a callback could not be installed or removed; or a structure is missing */
#define CTF_RET_FAILURE 1
/* no memory, no ring, or an event over a limit: TRACE_EVENT */
#define CTF_RET_NOT_ENOUGH_MEMORY 2
/* empty, over 255 bytes, or an empty part between two dots */
#define CTF_RET_INVALID_COMPONENT_NAME 3
#define CTF_RET_INVALID_COMP_NAME CTF_RET_INVALID_COMPONENT_NAME
#define CTF_RET_INVALID_EMITTER_NAME 4 /* empty or over 31 bytes */
#define CTF_RET_INVALID_PROP_NAME 5    /* empty or over 255 bytes */
#define CTF_RET_INVALID_PROPERTY_NAME CTF_RET_INVALID_PROP_NAME
#define CTF_RET_INVALID_TRACE_HANDLE 6 /* not a handle that CBL_CTF_TRACER_GET gave */
#define CTF_RET_INVALID_TRACE_LEVEL 7  /* not a level */
#define CTF_RET_EMITTER_NOT_FOUND 8    /* no emitter of that name; removing: not in the list */
#define CTF_RET_PROPERTY_NOT_FOUND 9   /* never set, and without a default */
#define CTF_RET_BUFFER_TOO_SMALL 10    /* the needed length is in property_vallen */
#define CTF_RET_NOT_TRACE_ENABLED 11   /* the component's threshold is "none" */
#define CTF_RET_NOT_TRACING_LEVEL 12   /* the event's level is below the component's threshold */
/* recorded, but a destination cannot be written now; ctrace tries again */
#define CTF_RET_OUTPUT_ERROR 13

/* -----------------------------------------------------------------------------------------------
 * Flags
 */
/* component_id is a name, not a handle */
#define CTF_FLAG_COMPID_STRING UINT32_C(0x80000000)
#define CTF_FLAG_COMP_NAME_NULL_TERM UINT32_C(0x40000000)    /* the component name ends at a NUL */
#define CTF_FLAG_PROP_NAME_NULL_TERM UINT32_C(0x20000000)    /* the property name ends at a NUL */
#define CTF_FLAG_EMITTER_NAME_NULL_TERM UINT32_C(0x10000000) /* the emitter name ends at a NUL */
/* CBL_CTF_TRACE: all items have the length and type of the first */
#define CTF_FLAG_ARRAY_DATA UINT32_C(0x2000)
/* CBL_CTF_TRACE: record at any level if the component is enabled */
#define CTF_FLAG_FORCE_OUTPUT UINT32_C(0x1000)
#define CTF_FLAG_PROP_STRING_VALUE UINT32_C(0) /* the property value is text */
#define CTF_FLAG_PROP_INT_VALUE UINT32_C(1)    /* the property value is a 4-byte integer */
#define CTF_FLAG_PROP_VALUE_NULL_TERM \
	UINT32_C(2) /* the text ends with a NUL instead of a space \
		     */
#define CTF_FLAG_DEST_ADD UINT32_C(0)
#define CTF_FLAG_DEST_REMOVE UINT32_C(1)
#define CTF_FLAG_DEST_NOINHERIT UINT32_C(2)

/* Levels.  As a threshold also CTF_LEVEL_NONE: not enabled. */
#define CTF_FLAG_LEVEL_DEBUG UINT32_C(0)
#define CTF_FLAG_LEVEL_INFO UINT32_C(1)
#define CTF_FLAG_LEVEL_WARN UINT32_C(2)
#define CTF_FLAG_LEVEL_WARNING CTF_FLAG_LEVEL_WARN
#define CTF_FLAG_LEVEL_ERROR UINT32_C(3)
#define CTF_FLAG_LEVEL_FATAL UINT32_C(4)
#define CTF_LEVEL_NONE UINT32_C(0xFFFFFFFF)
#define LEVFLGS_LEVEL_DEBUG CTF_FLAG_LEVEL_DEBUG
#define LEVFLGS_LEVEL_INFO CTF_FLAG_LEVEL_INFO
#define LEVFLGS_LEVEL_WARN CTF_FLAG_LEVEL_WARN
#define LEVFLGS_LEVEL_WARNING CTF_FLAG_LEVEL_WARN
#define LEVFLGS_LEVEL_ERROR CTF_FLAG_LEVEL_ERROR
#define LEVFLGS_LEVEL_FATAL CTF_FLAG_LEVEL_FATAL

/* -----------------------------------------------------------------------------------------------
 * Tracers
 */

/*
 * Stores the handle of a component in *tracer_handle and creates the component when there is none.
 * The same name, in any case of letters, gives the same handle.  flags:
 * CTF_FLAG_COMP_NAME_NULL_TERM. A handle is never 0.  It is valid for the life of the process and
 * of its forked children. INVALID_COMPONENT_NAME; NOT_ENOUGH_MEMORY; SUCCESS.
 */
CTF_API_ cobrtncode_t CBL_CTF_TRACER_GET(cobuns32_t flags, const cobuns8_t *component_name,
					 cbl_x4_comp5_t *tracer_handle);

/*
 * Stores the threshold in force for a component (0 to 4, or CTF_LEVEL_NONE), or the default one, in
 * *trace_level.  A name is also accepted with flags 0, as the vendor's examples pass it, when its
 * bytes cannot be a handle: it begins with a letter, or its first four bytes are printable.
 * INVALID_COMPONENT_NAME; INVALID_TRACE_HANDLE; NOT_ENOUGH_MEMORY; SUCCESS.
 */
CTF_API_ cobrtncode_t CBL_CTF_TRACER_LEVEL_GET(cobuns32_t flags, const cobuns8_t *component_id,
					       cbl_x4_comp5_t *trace_level);

/*
 * Sets the threshold of a component, or the default one.  Descendants without a threshold of their
 * own follow it.  A name is accepted with flags 0, as by CBL_CTF_TRACER_LEVEL_GET.
 * INVALID_COMPONENT_NAME; INVALID_TRACE_HANDLE; INVALID_TRACE_LEVEL; NOT_ENOUGH_MEMORY; SUCCESS.
 */
CTF_API_ cobrtncode_t CBL_CTF_LEVEL(cobuns32_t flags, cobuns32_t trace_level,
				    const cobuns8_t *component_id);

/*
 * Adds an emitter to a component's destinations, or to the default ones, or removes it.  flags:
 * CTF_FLAG_DEST_*, CTF_FLAG_EMITTER_NAME_NULL_TERM.  The default list is never empty: when its last
 * entry is removed, TextFile takes its place.  A component whose own list becomes empty inherits
 * again. EMITTER_NOT_FOUND; INVALID_COMP_NAME; INVALID_EMITTER_NAME; INVALID_TRACE_HANDLE;
 * NOT_ENOUGH_MEMORY; SUCCESS.
 */
CTF_API_ cobrtncode_t CBL_CTF_DEST(cobuns32_t flags, const cobuns8_t *component_id,
				   const cobuns8_t *emitter_name);

/* -----------------------------------------------------------------------------------------------
 * Events
 */

/* Item types; any other number counts as binary. */
#define TRACE_EVENT_TYPE_BINARY UINT32_C(0)
#define TRACE_EVENT_TYPE_TEXT UINT32_C(1) /* local encoding */
/* the element of event_data is the address itself; its length is ignored */
#define TRACE_EVENT_TYPE_ADDRESS UINT32_C(2)
#define TRACE_EVENT_TYPE_COMP5 UINT32_C(3) /* unsigned, native byte order, 1 to 8 bytes */
#define TRACE_EVENT_TYPE_COMPX \
	UINT32_C(4) /* unsigned, most significant byte first, 1 to 8 bytes \
		     */
#define TRACE_EVENT_TYPE_UTF8 UINT32_C(5)
#define TRACE_EVENT_TYPE_COMP5S UINT32_C(6) /* signed COMP-5 */
#define TRACE_EVENT_TYPE_COMPXS UINT32_C(7) /* signed COMP-X */
#define TRACE_EVENT_FLAGS_NONE UINT32_C(0)

/*
 * An event.  It takes 8 bytes, the items, and up to 5 bytes more for each: at most half of its
 * ring, which is 512 KiB with the default ring of 1 MiB, and more with a larger ctrace.buffer.  The
 * COBOL group cblt-trc-event has the same members without padding: pointers at 20, 28 and 36.
 */
typedef struct TRACE_EVENT {
	cobuns32_t version;         /* 0 */
	cobuns32_t flags;           /* TRACE_EVENT_FLAGS_NONE */
	cobuns32_t event_id;        /* the component's own numbering */
	cobuns32_t level;           /* CTF_FLAG_LEVEL_DEBUG to _FATAL */
	cobuns32_t data_count;      /* 0 to 4,096 items */
	cbl_x4_comp5_t *event_len;  /* bytes of each item, 0 to 65,536; NULL: all are empty */
	cbl_x4_comp5_t *event_type; /* TRACE_EVENT_TYPE_* of each item; NULL: all are binary */
	/* each item; NULL for the array or an item: an empty item */
	void **event_data;
} TRACE_EVENT;

/*
 * Traces one event.  It is recorded when its level is at or above the component's threshold.  With
 * CTF_FLAG_FORCE_OUTPUT it is recorded whenever the component is enabled, and a level over 4 is
 * recorded as fatal.  Everything is copied before the call returns.  Also in a signal handler.
 * FAILURE: trace_event is NULL; INVALID_COMPONENT_NAME; INVALID_TRACE_HANDLE; INVALID_TRACE_LEVEL;
 * NOT_TRACE_ENABLED; NOT_TRACING_LEVEL; NOT_ENOUGH_MEMORY: the event is lost and counted, also for
 * too many or too long items; OUTPUT_ERROR: recorded, but a destination is failing; SUCCESS.
 */
CTF_API_ cobrtncode_t cobctf_trace(cobuns32_t flags, const cobuns8_t *component_id,
				   TRACE_EVENT *trace_event);

/* cobctf_trace() for a packed COBOL group of 44 bytes. */
CTF_API_ cobrtncode_t CBL_CTF_TRACE(cobuns32_t flags, const cobuns8_t *component_id,
				    const void *trace_event);

/* -----------------------------------------------------------------------------------------------
 * Properties.  A value is text, and the integer that the text stands for: ON YES Y TRUE ENABLED 1;
 * OFF NO N FALSE DISABLED 0; decimal or 0x digits their value, at most 4294967295; anything else 0.
 */

/*
 * Gives a property of a component.
 *  - CTF_FLAG_PROP_INT_VALUE: property_value is a 4-byte integer; property_vallen is not used and
 *    may be NULL.
 *  - Otherwise text.  On entry *property_vallen is the size of property_value in bytes; on return
 *    the length of the text without its terminator.  length + 1 bytes are needed.  The rest of the
 *    buffer is filled with spaces; with CTF_FLAG_PROP_VALUE_NULL_TERM one NUL follows the text.
 *    BUFFER_TOO_SMALL: *property_vallen is the number of bytes needed, and property_value is not
 *    written.  property_value NULL only asks for that number.
 * INVALID_COMP_NAME; INVALID_TRACE_HANDLE; INVALID_PROP_NAME; PROPERTY_NOT_FOUND; BUFFER_TOO_SMALL;
 * NOT_ENOUGH_MEMORY; SUCCESS.
 */
CTF_API_ cobrtncode_t CBL_CTF_COMP_PROPERTY_GET(cobuns32_t flags, const cobuns8_t *component_id,
						const cobuns8_t *property_name,
						cbl_x4_comp5_t *property_vallen,
						void *property_value);

/*
 * Sets a property of a component; any name is allowed.  The value is text of up to 4,095 bytes, or
 * an unsigned 4-byte integer.  property_value NULL is empty text.  Properties are not inherited.
 * INVALID_COMP_NAME; INVALID_TRACE_HANDLE; INVALID_PROP_NAME; NOT_ENOUGH_MEMORY; SUCCESS.
 */
CTF_API_ cobrtncode_t CBL_CTF_COMP_PROPERTY_SET(cobuns32_t flags, const cobuns8_t *component_id,
						const cobuns8_t *property_name,
						const void *property_value);

/*
 * The same for a property of an emitter.  The getter gives the user's setting, else the emitter's
 * default.  INVALID_EMITTER_NAME; EMITTER_NOT_FOUND; INVALID_PROP_NAME; PROPERTY_NOT_FOUND;
 * BUFFER_TOO_SMALL; NOT_ENOUGH_MEMORY; SUCCESS.
 */
CTF_API_ cobrtncode_t CBL_CTF_EMITTER_PROPERTY_GET(cobuns32_t flags, const cobuns8_t *emitter_name,
						   const cobuns8_t *property_name,
						   cbl_x4_comp5_t *property_vallen,
						   void *property_value);
CTF_API_ cobrtncode_t CBL_CTF_EMITTER_PROPERTY_SET(cobuns32_t flags, const cobuns8_t *emitter_name,
						   const cobuns8_t *property_name,
						   const void *property_value);

/* -----------------------------------------------------------------------------------------------
 * Notification
 */
#define TRACER_NOTIF_TYPE_PROP_CHANGE UINT32_C(0) /* notif_info is a NOTIF_PROP_CHANGE */
/* notif_info is the new threshold, a cbl_x4_comp5_t */
#define TRACER_NOTIF_TYPE_LEVEL_CHANGE UINT32_C(1)

#define TRACER_NOTIF_INSTALL UINT32_C(0)
#define TRACER_NOTIF_UNINSTALL UINT32_C(1)

typedef void TRACER_NOTIF_CALLBACK(cobuns32_t tracer_handle, cobuns32_t notif_type,
				   void *notif_info);

/* The callback to install.  The COBOL group cblt-trc-notif-install has the same layout. */
typedef struct NOTIF_INSTALL {
	cobuns32_t version; /* 0 */
	cobuns32_t handle;  /* from CBL_CTF_TRACER_GET */
	TRACER_NOTIF_CALLBACK *callback;
} NOTIF_INSTALL;

/* A changed property.  The COBOL group cblt-trc-notif-prop-change has the same members without
 * padding: pointers at 20 and 28. */
typedef struct NOTIF_PROP_CHANGE {
	cobuns32_t version; /* 0 */
	/* CTF_FLAG_PROP_INT_VALUE: the value is an integer; valint is always set */
	cobuns32_t flags;
	cobuns32_t namelen;
	cobuns32_t vallen;
	cobuns32_t valint;
	const cobuns8_t
		*name; /* spelled as in the call that set it; borrowed during the callback */
	const cobuns8_t *value; /* text; borrowed during the callback */
} NOTIF_PROP_CHANGE;

/*
 * Installs a C function that is called after each change of one of a component's properties or of
 * its threshold in force, whether its own, a parent's or the default one was set.  ctrace calls it
 * at once, under no lock, on the thread that made the change: the program's own, or ctrace's
 * consumer thread after an operator's change, which the callback must not delay.  The callback may
 * call any routine, also to uninstall itself.  Changes made inside a callback are reported when it
 * has returned.
 *
 * Installing an installed callback again changes nothing and succeeds.  Uninstalling names the same
 * handle and callback.  It waits at most five seconds for a call that is running on another thread,
 * so hold no lock that the callback takes.
 *
 * FAILURE: nothing to uninstall; an unknown install_function; no callback; the other routine or
 * another thread has installed it; or the callback has not returned in time and is still installed.
 * INVALID_TRACE_HANDLE; NOT_ENOUGH_MEMORY; SUCCESS.
 */
CTF_API_ cobrtncode_t cobctf_tracer_notify(cobuns32_t install_function,
					   NOTIF_INSTALL *notif_install);

/*
 * The same for a COBOL callback, or a C function that must run on the installing thread only.  A
 * change made by a CBL_CTF_* call of the installing thread is reported before that call returns.
 * Any other change waits for the installing thread's next CBL_CTF_* call.  At most 64 changes wait
 * for a callback; a newer change of the same thing replaces the older one, and a change of a 65th
 * thing is not reported.  The module that the callback is in stays loaded to the end of the
 * process.
 */
CTF_API_ cobrtncode_t CBL_CTF_TRACER_NOTIFY(cobuns32_t install_function, const void *notif_install);
/* another spelling in use */
CTF_API_ cobrtncode_t CBL_CTF_TRACE_NOTIFY(cobuns32_t install_function, const void *notif_install);

#ifdef __cplusplus
}
#endif
#endif
