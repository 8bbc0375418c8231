/*
 * mfctf.h - the Consolidated Tracing Facility for C: the same routines that COBOL programs call.
 *
 * The ten CBL_CTF_* routines are called by their COBOL names.  Two of them read a structure; their
 * natural C forms are cobctf_trace() and cobctf_tracer_notify(), because a COBOL group has no
 * padding and a C structure has.  New C programs may prefer <ctrace/ctrace.h>, which is faster;
 * both faces share components, levels and destinations.
 *
 * Conventions, the same for all routines:
 *
 *  - Any thread may call, and each change is in force when the call returns.  errno is kept.  Only
 * the trace calls may be made from a signal handler.
 *  - A component_id is a pointer to a 4-byte tracer handle, or, with CTF_FLAG_COMPID_STRING, to a
 * component name.
 *  - Names are case-insensitive.  They end at a space, or with a ..._NULL_TERM flag at a NUL only;
 * a NUL ends a space-terminated name too.  At most 255 bytes are a name (31 for an emitter);
 * nothing behind the terminator is read.
 *  - Where a default exists (CBL_CTF_LEVEL, CBL_CTF_TRACER_LEVEL_GET, CBL_CTF_DEST), a component_id
 * that is NULL or an empty name means it, with either form; so does a "handle" whose first byte is
 * a space or 0, which no real handle has.
 *  - A pointer argument whose low 32 bits are 0 counts as NULL: COBOL's BY VALUE 0 sets only those.
 *  - Flag bits that are not named here are ignored.
 *  - Arguments are checked in the order: component, emitter, property name, level, and then
 * whatever depends on the configuration.  The first thing that is wrong gives the status.
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

typedef uint8_t cobuns8_t;
typedef uint32_t cobuns32_t;
typedef uint32_t cbl_x4_comp5_t; /* pic x(4) comp-5 */
typedef int cobrtncode_t;        /* one of CTF_RET_* */

/* -----------------------------------------------------------------------------------------------
 * Status codes
 */
#define CTF_RET_SUCCESS 0
/* a callback could not be installed or removed; a structure is missing */
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
#define CTF_RET_BUFFER_TOO_SMALL 10    /* the length that is needed is in property_vallen */
#define CTF_RET_NOT_TRACE_ENABLED 11   /* the component's threshold is "none" */
#define CTF_RET_NOT_TRACING_LEVEL 12   /* the event's level is below the component's threshold */
/* kept, but a destination cannot be written now; it is tried again */
#define CTF_RET_OUTPUT_ERROR 13

/* -----------------------------------------------------------------------------------------------
 * Flags
 */
/* component_id is a name, not a handle */
#define CTF_FLAG_COMPID_STRING UINT32_C(0x80000000)
#define CTF_FLAG_COMP_NAME_NULL_TERM UINT32_C(0x40000000)    /* the component name ends at a NUL */
#define CTF_FLAG_PROP_NAME_NULL_TERM UINT32_C(0x20000000)    /* the property name does */
#define CTF_FLAG_EMITTER_NAME_NULL_TERM UINT32_C(0x10000000) /* the emitter name does */
/* CBL_CTF_TRACE: all items have the length and type of the first */
#define CTF_FLAG_ARRAY_DATA UINT32_C(0x2000)
/* CBL_CTF_TRACE: whatever the level, if the component is enabled */
#define CTF_FLAG_FORCE_OUTPUT UINT32_C(0x1000)
#define CTF_FLAG_PROP_STRING_VALUE UINT32_C(0)    /* the property value is text */
#define CTF_FLAG_PROP_INT_VALUE UINT32_C(1)       /* the property value is a 4-byte integer */
#define CTF_FLAG_PROP_VALUE_NULL_TERM UINT32_C(2) /* the text ends with a NUL instead of a space \
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
 * Gives the handle of a component, making the component when there is none.  The same name, in any
 * case of letters, gives the same handle.  flags: CTF_FLAG_COMP_NAME_NULL_TERM.  A handle is never
 * 0, stays valid for the life of the process and, in a forked child, its own.
 * INVALID_COMPONENT_NAME, NOT_ENOUGH_MEMORY, SUCCESS.
 */
CTF_API_ cobrtncode_t CBL_CTF_TRACER_GET(cobuns32_t flags, const cobuns8_t *component_name,
					 cbl_x4_comp5_t *tracer_handle);

/*
 * Gives the threshold that is in force for a component (0 to 4, or CTF_LEVEL_NONE), or the default
 * one. A name is taken with flags 0 too, as the vendor's examples pass it, when its bytes can be no
 * handle: it begins with a letter, or its first four bytes are printable. INVALID_COMPONENT_NAME,
 * INVALID_TRACE_HANDLE, NOT_ENOUGH_MEMORY, SUCCESS.
 */
CTF_API_ cobrtncode_t CBL_CTF_TRACER_LEVEL_GET(cobuns32_t flags, const cobuns8_t *component_id,
					       cbl_x4_comp5_t *trace_level);

/*
 * Sets the threshold of a component and of its descendants that have none of their own, or the
 * default one.  Takes a name with flags 0 as CBL_CTF_TRACER_LEVEL_GET does. INVALID_COMPONENT_NAME,
 * INVALID_TRACE_HANDLE, INVALID_TRACE_LEVEL, NOT_ENOUGH_MEMORY, SUCCESS.
 */
CTF_API_ cobrtncode_t CBL_CTF_LEVEL(cobuns32_t flags, cobuns32_t trace_level,
				    const cobuns8_t *component_id);

/*
 * Adds an emitter to a component's destinations, or to the default ones, or removes it.  flags:
 * CTF_FLAG_DEST_*, CTF_FLAG_EMITTER_NAME_NULL_TERM.  The default list is never empty: when its last
 * entry goes, TextFile comes.  A component whose own list becomes empty inherits again.
 * EMITTER_NOT_FOUND, INVALID_COMP_NAME, INVALID_EMITTER_NAME, INVALID_TRACE_HANDLE,
 * NOT_ENOUGH_MEMORY, SUCCESS.
 */
CTF_API_ cobrtncode_t CBL_CTF_DEST(cobuns32_t flags, const cobuns8_t *component_id,
				   const cobuns8_t *emitter_name);

/* -----------------------------------------------------------------------------------------------
 * Events
 */

/* Item types; any other number is taken as binary. */
#define TRACE_EVENT_TYPE_BINARY UINT32_C(0)
#define TRACE_EVENT_TYPE_TEXT UINT32_C(1) /* local encoding */
/* the element of event_data is the address itself; its length is ignored */
#define TRACE_EVENT_TYPE_ADDRESS UINT32_C(2)
#define TRACE_EVENT_TYPE_COMP5 UINT32_C(3) /* unsigned, native byte order, 1 to 8 bytes */
#define TRACE_EVENT_TYPE_COMPX UINT32_C(4) /* unsigned, most significant byte first, 1 to 8 bytes \
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
	/* each item; NULL for the array or an item: empty, nothing is read */
	void **event_data;
} TRACE_EVENT;

/*
 * Traces one event.  Recorded when its level is at or above the component's threshold; with
 * CTF_FLAG_FORCE_OUTPUT whenever the component is enabled, and then a level over 4 is recorded as
 * fatal.  Everything is copied before the call returns.  Also in a signal handler.  An event with
 * too many or too long items is counted as lost and gives NOT_ENOUGH_MEMORY.
 * INVALID_COMPONENT_NAME, INVALID_TRACE_HANDLE, INVALID_TRACE_LEVEL, NOT_ENOUGH_MEMORY,
 * NOT_TRACE_ENABLED, NOT_TRACING_LEVEL, OUTPUT_ERROR, SUCCESS; FAILURE when trace_event is NULL.
 */
CTF_API_ cobrtncode_t cobctf_trace(cobuns32_t flags, const cobuns8_t *component_id,
				   TRACE_EVENT *trace_event);

/* The same for a packed COBOL group of 44 bytes. */
CTF_API_ cobrtncode_t CBL_CTF_TRACE(cobuns32_t flags, const cobuns8_t *component_id,
				    const void *trace_event);

/* -----------------------------------------------------------------------------------------------
 * Properties.  A value is text, and the integer that the text stands for: ON YES Y TRUE ENABLED 1;
 * OFF NO N FALSE DISABLED 0; decimal or 0x digits their value, at most 4294967295; anything else 0.
 */

/*
 * Gives a property of a component.
 *  - CTF_FLAG_PROP_INT_VALUE: property_value is a 4-byte integer; property_vallen is neither read
 * nor set and may be NULL.
 *  - Otherwise text.  *property_vallen is the size of property_value on entry and the length of the
 * text without its terminator on return; length + 1 bytes are needed, and the rest of the buffer is
 * filled with spaces (with CTF_FLAG_PROP_VALUE_NULL_TERM: one NUL is put behind the text).  Too
 * small: BUFFER_TOO_SMALL, *property_vallen says how many bytes are needed, property_value is not
 * written.  property_value NULL: only asks how many are needed. INVALID_COMP_NAME,
 * INVALID_TRACE_HANDLE, INVALID_PROP_NAME, PROPERTY_NOT_FOUND, BUFFER_TOO_SMALL, NOT_ENOUGH_MEMORY,
 * SUCCESS.
 */
CTF_API_ cobrtncode_t CBL_CTF_COMP_PROPERTY_GET(cobuns32_t flags, const cobuns8_t *component_id,
						const cobuns8_t *property_name,
						cbl_x4_comp5_t *property_vallen,
						void *property_value);

/*
 * Sets a property of a component; any name will do.  Text of up to 4,095 bytes, or an unsigned
 * 4-byte integer.  Properties are not inherited.  property_value NULL: empty text.
 * INVALID_COMP_NAME, INVALID_TRACE_HANDLE, INVALID_PROP_NAME, NOT_ENOUGH_MEMORY, SUCCESS.
 */
CTF_API_ cobrtncode_t CBL_CTF_COMP_PROPERTY_SET(cobuns32_t flags, const cobuns8_t *component_id,
						const cobuns8_t *property_name,
						const void *property_value);

/*
 * The same for a property of an emitter: what was set, else the emitter's default.
 * INVALID_EMITTER_NAME, EMITTER_NOT_FOUND, INVALID_PROP_NAME, PROPERTY_NOT_FOUND, BUFFER_TOO_SMALL,
 * NOT_ENOUGH_MEMORY, SUCCESS.
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

/* What to install.  The COBOL group cblt-trc-notif-install has the same layout. */
typedef struct NOTIF_INSTALL {
	cobuns32_t version; /* 0 */
	cobuns32_t handle;  /* from CBL_CTF_TRACER_GET */
	TRACER_NOTIF_CALLBACK *callback;
} NOTIF_INSTALL;

/* A property's change.  The COBOL group cblt-trc-notif-prop-change has the same members without
 * padding: pointers at 20 and 28. */
typedef struct NOTIF_PROP_CHANGE {
	cobuns32_t version; /* 0 */
	/* CTF_FLAG_PROP_INT_VALUE: the value is an integer; valint is set always */
	cobuns32_t flags;
	cobuns32_t namelen;
	cobuns32_t vallen;
	cobuns32_t valint;
	const cobuns8_t *name;  /* as spelled by whoever set it; borrowed during the callback */
	const cobuns8_t *value; /* text; borrowed during the callback */
} NOTIF_PROP_CHANGE;

/*
 * Has a C function called after each change of a component's threshold in force (its own, a
 * parent's or the default one was set) or of one of its properties.  It is called at once, on the
 * thread that made the change: the program's own, or, when an operator made it, ctrace's consumer
 * thread, which it must not hold up.  No lock is held: it may call any routine, also to uninstall
 * itself.  Changes made inside a callback are told when it has returned. Installing what is
 * installed already changes nothing and succeeds.  Uninstalling names the same handle and callback;
 * it waits for a call of it that is running on another thread, at most five seconds, so hold no
 * lock that the callback takes. FAILURE (nothing to uninstall, an unknown install_function, no
 * callback, one that the other routine or another thread has installed, or the callback has not
 * returned in time: it is still installed), INVALID_TRACE_HANDLE, NOT_ENOUGH_MEMORY, SUCCESS.
 */
CTF_API_ cobrtncode_t cobctf_tracer_notify(cobuns32_t install_function,
					   NOTIF_INSTALL *notif_install);

/*
 * The same for a COBOL callback (or a C function that must only run on the installing thread).  A
 * change made by a CBL_CTF_* call of the installing thread is told before that call returns; any
 * other change waits, at most 64 a callback with changes of the same thing combined, until the
 * installing thread's next CBL_CTF_* call; a change of a 65th thing is not told.  The module that
 * the callback is in stays loaded to the end of the process.
 */
CTF_API_ cobrtncode_t CBL_CTF_TRACER_NOTIFY(cobuns32_t install_function, const void *notif_install);
/* the same: a spelling in use */
CTF_API_ cobrtncode_t CBL_CTF_TRACE_NOTIFY(cobuns32_t install_function, const void *notif_install);

#ifdef __cplusplus
}
#endif
#endif
