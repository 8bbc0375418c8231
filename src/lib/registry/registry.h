/*
 * lib/registry/registry.h - the components of this process: names, levels, destinations,
 * properties; and what is resolved from them.
 *
 * A command changes what is configured; the registry resolves it through the tree into the level
 * words of the session, so that a trace call loads one word.  Commands hold the registry's lock;
 * ct_registry_find() and ct_registry_level_word() take none.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_REGISTRY_H
#define CT_REGISTRY_H

#include "lib/emit/emit.h"
#include "session/session.h"

struct ct_component;
struct ct_registry;

/* A change that is reported to the program (CBL_CTF_TRACER_NOTIFY).  Called under no lock, on the
 * thread that made the change, after it is in force. */
struct ct_change {
	enum { CT_CHANGE_PROPERTY = 0, CT_CHANGE_LEVEL = 1 } kind;
	uint32_t component;
	uint32_t level;       /* CT_CHANGE_LEVEL: the new effective level */
	const char *property; /* CT_CHANGE_PROPERTY: in the setter's spelling; terminated */
	size_t property_size;
	const char *value; /* terminated */
	size_t value_size;
	uint64_t number; /* the parsed value */
	/* NULL, or a sink stores TIMED_OUT here when the change cannot last. */
	enum ctrace_status *out_status;
};

/* The `ctrace.` keys of the whole process. */
enum ct_flight_trigger { CT_TRIGGER_NONE = 0xFF, CT_TRIGGER_SIGNAL = 0x10 }; /* or a level 0 to 4 */
/* ctrace.trigger.NAME: the triggers as texts, for lib/watch */
#define CT_TRIGGER_LIMIT 16u  /* triggers of a process */
#define CT_TRIGGER_NAME 32u   /* bytes of a name */
#define CT_TRIGGER_SLIP_ID 4u /* of these, a trap's id has at most */
#define CT_TRIGGER_TEXT 512u  /* bytes of a text */
struct ct_trigger_list {
	struct {
		char name[CT_TRIGGER_NAME + 1];
		char text[CT_TRIGGER_TEXT + 1]; /* from "when" on */
		bool is_disabled;
	} entry[CT_TRIGGER_LIMIT];
	uint32_t count;
};
/* When a process is dumped without a request. */
enum ct_dump_on {
	CT_DUMP_ON_SIGNAL = 1,
	CT_DUMP_ON_ABORT = 2,
	CT_DUMP_ON_EXIT = 4,
	CT_DUMP_ON_COBOL = 8
};
/* A group of operators. */
#define CT_OPERATORS_NAME 64u
struct ct_operators {
	uint32_t gid; /* 0: none */
	char name[CT_OPERATORS_NAME];
};
/* Long texts are at both ends: ct_settings_init() touches only what is between them. */
struct ct_settings {
	struct ct_trigger_list triggers; /* under the registry's lock */
	uint64_t buffer;               /* ctrace.buffer: bytes of a thread's ring, a power of two */
	uint32_t overflow;             /* ctrace.overflow: enum ct_overflow of lib/ring/ring.h */
	uint32_t flight_trigger;       /* ctrace.flight.trigger */
	uint64_t block_timeout_ns;     /* ctrace.block.timeout */
	uint64_t flight_buffer;        /* ctrace.flight.buffer */
	uint64_t keep_ns;              /* ctrace.keep */
	bool attach;                   /* ctrace.attach */
	uint32_t clock;                /* ctrace.clock: enum ct_clock_setting */
	bool command_line;             /* ctrace.command.line */
	bool runs_programs;            /* ctrace.run.programs: triggers may start programs */
	uint32_t dump_keep;            /* ctrace.dump.keep */
	uint64_t dump_size;            /* ctrace.dump.size: bytes */
	uint32_t dump_on;              /* ctrace.dump.on: mask of enum ct_dump_on */
	uint32_t dump_directory_size;  /* bytes of dump_directory; 0: not set */
	uint32_t log_size;             /* bytes of log; 0: not set */
	struct ct_operators operators; /* ctrace.operators; under the registry's lock */
	struct ct_operators displayers; /* ctrace.operators.display; likewise */
	char run_directory[4096];       /* ctrace.run.directory; "" when not set */
	char dump_directory[4096];      /* ctrace.dump.directory, not terminated */
	char log[4096];                 /* ctrace.log, not terminated */
};
void ct_settings_init(struct ct_settings *settings);

/* ---- tree.c */
enum ctrace_status ct_registry_create(struct ct_session *session,
				      struct ct_registry **out_registry) CT_MUST_USE;
/* a tool's or a test's; NULL is fine.  The process's own is never freed. */
void ct_registry_destroy(struct ct_registry *registry);
void ct_registry_lock(struct ct_registry *registry);
void ct_registry_unlock(struct ct_registry *registry);
void ct_registry_unlock_in_child(struct ct_registry *registry); /* fork.c */
/* Returns OK for 1 to 255 bytes without NUL or empty parts between dots; else
 * INVALID_COMPONENT_NAME. */
enum ctrace_status ct_component_check_name(const char *name, size_t size) CT_MUST_USE;
/* Finds a component's index, in any case of letters.  Returns NOT_FOUND when there is none or it is
 * only configured.  Lock-free, O(1). */
enum ctrace_status ct_registry_find(const struct ct_registry *registry, const char *name,
				    size_t size, uint32_t *out_index) CT_MUST_USE;
/* Finds a component or makes it.  Takes the lock only to make one; never uses malloc.  Returns
 * TIMED_OUT in a signal handler that would have to wait for the lock, or has interrupted ctrace's
 * own locked section (ct_thread_locked). */
enum ctrace_status ct_registry_register(struct ct_registry *registry, const char *name, size_t size,
					uint32_t *out_index) CT_MUST_USE;
/* Returns the lowest threshold of any component, or of the default; CTRACE_LEVEL_NONE: nothing is
 * traced.  Lock-free. */
uint32_t ct_registry_lowest_level(const struct ct_registry *registry);
/* Makes a hidden component, for component trace before DEFINE.  Takes the lock. */
enum ctrace_status ct_registry_reserve(struct ct_registry *registry, const char *name, size_t size,
				       uint32_t *out_index) CT_MUST_USE;
/* Finds a component's index, also of a hidden one, or returns NOT_FOUND.  Lock-free. */
enum ctrace_status ct_registry_find_any(const struct ct_registry *registry, const char *name,
					size_t size, uint32_t *out_index) CT_MUST_USE;
/* DEFINE shows it and DELETE hides it again, unless a tracer has registered it too. */
/* Puts what CTRACE DEFINE said of a component into the session, for those who deliver its events;
 * NULL: nothing.  Without memory what is there stays. */
void ct_registry_describe(struct ct_registry *registry, uint32_t index,
			  const struct ctrace_definition *definition);
void ct_registry_set_defined(struct ct_registry *registry, uint32_t index, bool is_defined);
uint32_t ct_registry_count(const struct ct_registry *registry);
/* Grows the table of event classes when it is nearly full. */
void ct_registry_add_classes(struct ct_registry *registry);
/* The level word and tracer of a component; index must be below ct_registry_count().  Lock-free. */
struct ct_component_entry *ct_registry_entry(const struct ct_registry *registry, uint32_t index);
struct ctrace_tracer *ct_registry_tracer(const struct ct_registry *registry, uint32_t index);
/* as first registered; terminated */
const char *ct_registry_name(const struct ct_registry *registry, uint32_t index);
/* The settings of a component itself, without inherited ones, for display. index CT_COMPONENT_NONE:
 * the default. */
struct ct_configured {
	uint32_t level; /* CT_LEVEL_UNSET: inherits */
	uint32_t dests; /* own emitters */
	bool no_inherit;
	uint64_t buffer;       /* 0: inherits */
	uint32_t overflow;     /* CT_OVERFLOW_UNSET: inherits */
	uint32_t flight_level; /* CT_LEVEL_UNSET: inherits */
	uint32_t writer;       /* CT_WRITER_UNSET: inherits; 0: none */
	/* component trace, MINOPS: the threshold is never above this; CTRACE_LEVEL_NONE: none */
	uint32_t minimum;
	bool excluded; /* component trace: the filters leave this process out */
	/* component trace has defined it: without a configured destination it is in storage */
	bool is_trace;
};
#define CT_OVERFLOW_UNSET 0xFFFFFFFEu
#define CT_WRITER_UNSET 0xFFFFFFFEu
struct ct_configured ct_registry_configured(struct ct_registry *registry, uint32_t index);

/* ---- level.c. component NULL = the default.  Take the lock.  Changes are reported to `changed`
 * (may be NULL) after the lock is released, once for each registered component with a new effective
 * level. */
typedef void ct_change_sink(const struct ct_change *change, void *user);
/* Returns TIMED_OUT when the level is set, but a pending command of component trace will overwrite
 * it. */
enum ctrace_status ct_level_set(struct ct_registry *registry, const char *component, size_t size,
				uint32_t level, ct_change_sink *changed, void *user) CT_MUST_USE;
/* The settings that a command of component trace changes together, for a registered component or
 * one from ct_registry_reserve(). */
struct ct_level_trace {
	uint32_t level;   /* as ct_level_set() */
	uint32_t minimum; /* ct_configured */
	bool excluded;
};
enum ctrace_status ct_level_set_trace(struct ct_registry *registry, uint32_t index,
				      const struct ct_level_trace *trace, ct_change_sink *changed,
				      void *user) CT_MUST_USE;
uint32_t ct_level_default(const struct ct_registry *registry);
/* Gives the level from which events of a component are recorded, flight recorder included; for a
 * component that does not exist, the level that it would have.  Returns INVALID_COMPONENT_NAME for
 * a bad name. */
enum ctrace_status ct_level_get(struct ct_registry *registry, const char *component, size_t size,
				uint32_t *out_level) CT_MUST_USE;

/* ---- dest.c */
/* An empty component is the default list, where the first addition replaces the implicit TEXTFILE.
 */
enum ctrace_status ct_dest_add(struct ct_registry *registry, const char *component, size_t size,
			       uint32_t emitter, bool no_inherit) CT_MUST_USE;
enum ctrace_status ct_dest_remove(struct ct_registry *registry, const char *component, size_t size,
				  uint32_t emitter) CT_MUST_USE;
/* Marks what component trace has defined, or deleted.  Returns NOT_ENOUGH_MEMORY, and changes
 * nothing, when there are not enough channels. */
enum ctrace_status ct_dest_set_trace(struct ct_registry *registry, uint32_t index,
				     bool is_trace) CT_MUST_USE;
uint32_t ct_dest_default(const struct ct_registry *registry); /* mask */
/* Returns true if a party outside may choose the emitter: the configuration, the program or the
 * owner has named it, and its URL if it has a default one, where anybody could listen.  One that
 * writes nothing may always be chosen.  Takes the lock. */
bool ct_dest_is_named(struct ct_registry *registry, uint32_t emitter);
/* In a forked child: recounts the users of destinations, because the parent may have changed
 * components in the session since the fork. */
void ct_dest_recount(struct ct_registry *registry);
/* union of all registered components' masks */
uint32_t ct_dest_in_use(const struct ct_registry *registry);

/* ---- property.c.  Names any case, spelling of the last setter kept.  Values are counted bytes. */
enum ctrace_status ct_component_property_set(struct ct_registry *registry, const char *component,
					     size_t size, const char *name, size_t name_size,
					     const char *value, size_t value_size,
					     ct_change_sink *changed, void *user) CT_MUST_USE;
/* Appends a copy to out_value.  Returns PROPERTY_NOT_FOUND when it was never set. */
enum ctrace_status ct_component_property_get(const struct ct_registry *registry,
					     const char *component, size_t size, const char *name,
					     size_t name_size,
					     struct ct_buf *out_value) CT_MUST_USE;
enum ctrace_status ct_emitter_property_set(struct ct_registry *registry, uint32_t emitter,
					   const char *name, size_t name_size, const char *value,
					   size_t value_size) CT_MUST_USE;
/* Appends a copy of the value that was set, else of the emitter's default. */
enum ctrace_status ct_emitter_property_get(const struct ct_registry *registry, uint32_t emitter,
					   const char *name, size_t name_size,
					   struct ct_buf *out_value) CT_MUST_USE;
/* mftrace.application: all preceding entries are discarded */
void ct_emitter_property_reset_all(struct ct_registry *registry);
/* resets levels, destinations, channels and all properties */
void ct_registry_reset_configuration(struct ct_registry *registry);
/* Calls for every property that was set; the newest name comes first.  Under the lock: the callee
 * must not call the registry. */
typedef void ct_property_sink(const char *name, size_t name_size, const char *value,
			      size_t value_size, void *user);
void ct_component_property_each(struct ct_registry *registry, uint32_t index,
				ct_property_sink *each, void *user);
void ct_emitter_property_each(struct ct_registry *registry, uint32_t emitter,
			      ct_property_sink *each, void *user);

/* ---- reconfigure.c: a whole configuration at once */
/* Decides a component's new settings, under the registry's lock.  *next holds those of `from`, and
 * the rule may change them. */
typedef void ct_reconfigure_rule(uint32_t component, const struct ct_configured *now,
				 struct ct_configured *next, void *user);
struct ct_reconfiguration; /* the changes to report */
/*
 * Replaces the configuration (levels, destinations, channels, all properties) by that of `from`,
 * all or nothing.  Returns NOT_ENOUGH_MEMORY. Of component trace's settings, minimum, excluded and
 * writer stay; `rule` (may be NULL) decides on the rest.  Each level word changes by one store: a
 * component that is on before and after is never off in between.  *out_reopen: the emitters whose
 * properties changed.  No other thread uses `from`.
 */
enum ctrace_status ct_registry_reconfigure(struct ct_registry *registry,
					   const struct ct_registry *from,
					   ct_reconfigure_rule *rule, void *user,
					   struct ct_reconfiguration **out_reconfiguration,
					   uint32_t *out_reopen) CT_MUST_USE;
/* Reports each changed threshold and component property once, and frees the list.  Under no lock.
 * changed may be NULL. */
void ct_reconfiguration_report(struct ct_reconfiguration *reconfiguration, ct_change_sink *changed,
			       void *user);

/* ---- channel.c: components with a ring policy or size of their own, and the flight recorder.
 * Channel 0 is the common ring. */
struct ct_channel {
	uint64_t buffer; /* bytes; 0: the process's */
	/* enum ct_overflow of lib/ring/ring.h; CT_OVERFLOW_AUTO: the process's */
	uint32_t overflow;
	uint32_t flight_level; /* CTRACE_LEVEL_NONE: no flight recorder */
	uint32_t writer;       /* number of the external writer in the session; 0: none */
	bool is_storage;       /* its events stay in rings that overwrite the oldest */
	/* in storage: 1 + the index of the trace that this storage is for; 0: for all of its size
	 */
	uint32_t owner;
};
/* a channel's number is never reused; settings beyond the limit are refused: NOT_ENOUGH_MEMORY */
#define CT_CHANNEL_LIMIT 64u
#define CT_CHANNEL_OWNED 48u /* later channels in storage have no owner */
/* Gives a component (and its descendants that set none) a ring of its own. */
enum ctrace_status ct_channel_set_buffer(struct ct_registry *registry, const char *component,
					 size_t size, uint64_t bytes) CT_MUST_USE;
enum ctrace_status ct_channel_set_overflow(struct ct_registry *registry, const char *component,
					   size_t size, uint32_t overflow) CT_MUST_USE;
/* Sets the flight recorder's level (CTRACE_LEVEL_NONE: none).  That may change the effective level,
 * so it reports like ct_level_set(). */
enum ctrace_status ct_channel_set_flight(struct ct_registry *registry, const char *component,
					 size_t size, uint32_t level, ct_change_sink *changed,
					 void *user) CT_MUST_USE;
/* Connects it to an external writer by its number in the session; 0: to none; CT_WRITER_UNSET: to
 * its parent's. */
enum ctrace_status ct_channel_set_writer(struct ct_registry *registry, const char *component,
					 size_t size, uint32_t writer) CT_MUST_USE;
/* A level word holds its channel as the offset of a thread buffer. */
static inline uint32_t ct_channel_to_thread_buffer(uint32_t channel)
{
	return channel * (uint32_t)sizeof(struct ctrace_thread_buffer);
}
static inline uint32_t ct_level_word_channel(const struct ctrace_level_word *level_word)
{
	return __atomic_load_n(&level_word->thread_buffer, __ATOMIC_ACQUIRE) /
	       (uint32_t)sizeof(struct ctrace_thread_buffer);
}
struct ct_channel ct_channel_at(const struct ct_registry *registry, uint32_t channel);
/* Returns the threshold without the flight recorder: events at or above it go to the destinations.
 */
uint32_t ct_channel_output_level(const struct ct_registry *registry, uint32_t component);

#endif
