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

/* A change that a program may want to hear of (CBL_CTF_TRACER_NOTIFY).  Called under no lock, on
 * the thread that made the change, after it is in force. */
struct ct_change {
	enum { CT_CHANGE_PROPERTY = 0, CT_CHANGE_LEVEL = 1 } kind;
	uint32_t component;
	uint32_t level;       /* CT_CHANGE_LEVEL: the new effective level */
	const char *property; /* CT_CHANGE_PROPERTY: in the setter's spelling; terminated */
	size_t property_size;
	const char *value; /* terminated */
	size_t value_size;
	uint64_t number; /* what the value stands for */
	/* NULL, or where a sink notes why the change cannot last: TIMED_OUT. */
	enum ctrace_status *out_status;
};

/* The `ctrace.` keys that hold for the whole process. */
enum ct_flight_trigger { CT_TRIGGER_NONE = 0xFF, CT_TRIGGER_SIGNAL = 0x10 }; /* or a level 0 to 4 */
struct ct_settings {
	uint64_t buffer;           /* ctrace.buffer: bytes of a thread's ring, a power of two */
	uint32_t overflow;         /* ctrace.overflow: enum ct_overflow of lib/ring/ring.h */
	uint32_t flight_trigger;   /* ctrace.flight.trigger */
	uint64_t block_timeout_ns; /* ctrace.block.timeout */
	uint64_t flight_buffer;    /* ctrace.flight.buffer */
	uint64_t keep_ns;          /* ctrace.keep */
	bool attach;               /* ctrace.attach */
	char run_directory[4096];  /* ctrace.run.directory; "" when not set */
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
/* OK when it is 1 to 255 bytes with no empty part between dots and no NUL; else
 * INVALID_COMPONENT_NAME. */
enum ctrace_status ct_component_check_name(const char *name, size_t size) CT_MUST_USE;
/* The index of a component, in any case of letters; NOT_FOUND when there is none or it is only
 * configured.  Lock-free, O(1). */
enum ctrace_status ct_registry_find(const struct ct_registry *registry, const char *name,
				    size_t size, uint32_t *out_index) CT_MUST_USE;
/* The same, making it when there is none.  Takes the lock when it has to make one; never malloc.
 * NOT_ENOUGH_MEMORY also in a signal handler that interrupted ctrace's own locked section
 * (ct_thread_locked), where a new one cannot be made. */
enum ctrace_status ct_registry_register(struct ct_registry *registry, const char *name, size_t size,
					uint32_t *out_index) CT_MUST_USE;
/* Makes a component that nobody sees yet: component trace, before it is defined.  Takes the lock.
 */
enum ctrace_status ct_registry_reserve(struct ct_registry *registry, const char *name, size_t size,
				       uint32_t *out_index) CT_MUST_USE;
/* The index of a component, also of one that nobody sees; NOT_FOUND.  Lock-free. */
enum ctrace_status ct_registry_find_any(const struct ct_registry *registry, const char *name,
					size_t size, uint32_t *out_index) CT_MUST_USE;
/* DEFINE shows it and DELETE hides it again, unless a tracer has registered it too. */
void ct_registry_set_defined(struct ct_registry *registry, uint32_t index, bool is_defined);
uint32_t ct_registry_count(const struct ct_registry *registry);
/* Makes room for more classes of events, when it is short. */
void ct_registry_add_classes(struct ct_registry *registry);
/* The level word and tracer of a component; index must be below ct_registry_count().  Lock-free. */
struct ct_component_entry *ct_registry_entry(const struct ct_registry *registry, uint32_t index);
struct ctrace_tracer *ct_registry_tracer(const struct ct_registry *registry, uint32_t index);
/* as first registered; terminated */
const char *ct_registry_name(const struct ct_registry *registry, uint32_t index);
/* What was set for a component itself, for those who print it.  index CT_COMPONENT_NONE: the
 * default. */
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
};
#define CT_OVERFLOW_UNSET 0xFFFFFFFEu
#define CT_WRITER_UNSET 0xFFFFFFFEu
struct ct_configured ct_registry_configured(struct ct_registry *registry, uint32_t index);

/* ---- level.c.  component NULL = the default.  Take the lock.  What changed is reported to
 * `changed` (may be NULL) after the lock is released, once for each registered component whose
 * effective level is another now. */
typedef void ct_change_sink(const struct ct_change *change, void *user);
/* TIMED_OUT: it is set, but a command of component trace that works on the trace and does not end
 * will put its own threshold there. */
enum ctrace_status ct_level_set(struct ct_registry *registry, const char *component, size_t size,
				uint32_t level, ct_change_sink *changed, void *user) CT_MUST_USE;
/* What a command of component trace makes of a registered component or one that
 * ct_registry_reserve() made: all three at once. */
struct ct_level_trace {
	uint32_t level;   /* as ct_level_set() */
	uint32_t minimum; /* ct_configured */
	bool excluded;
};
enum ctrace_status ct_level_set_trace(struct ct_registry *registry, uint32_t index,
				      const struct ct_level_trace *trace, ct_change_sink *changed,
				      void *user) CT_MUST_USE;
uint32_t ct_level_default(const struct ct_registry *registry);
/* The level from which on events of a component are recorded now, flight recorder included; for one
 * that does not exist yet what it would have.  INVALID_COMPONENT_NAME. */
enum ctrace_status ct_level_get(struct ct_registry *registry, const char *component, size_t size,
				uint32_t *out_level) CT_MUST_USE;

/* ---- dest.c */
/* component empty: to the default list, where the first addition replaces the TEXTFILE that nobody
 * asked for. */
enum ctrace_status ct_dest_add(struct ct_registry *registry, const char *component, size_t size,
			       uint32_t emitter, bool no_inherit) CT_MUST_USE;
enum ctrace_status ct_dest_remove(struct ct_registry *registry, const char *component, size_t size,
				  uint32_t emitter) CT_MUST_USE;
uint32_t ct_dest_default(const struct ct_registry *registry); /* mask */
/* In a forked child: counts anew who delivers where, as the parent has changed components in the
 * session since the fork. */
void ct_dest_recount(struct ct_registry *registry);
/* union of all registered components' masks */
uint32_t ct_dest_in_use(const struct ct_registry *registry);

/* ---- property.c.  Names any case, spelling of the last setter kept.  Values are counted bytes. */
enum ctrace_status ct_component_property_set(struct ct_registry *registry, const char *component,
					     size_t size, const char *name, size_t name_size,
					     const char *value, size_t value_size,
					     ct_change_sink *changed, void *user) CT_MUST_USE;
/* Appends a copy to out_value; PROPERTY_NOT_FOUND when it never was set. */
enum ctrace_status ct_component_property_get(const struct ct_registry *registry,
					     const char *component, size_t size, const char *name,
					     size_t name_size,
					     struct ct_buf *out_value) CT_MUST_USE;
enum ctrace_status ct_emitter_property_set(struct ct_registry *registry, uint32_t emitter,
					   const char *name, size_t name_size, const char *value,
					   size_t value_size) CT_MUST_USE;
/* What was set, else the emitter's default.  Appends a copy. */
enum ctrace_status ct_emitter_property_get(const struct ct_registry *registry, uint32_t emitter,
					   const char *name, size_t name_size,
					   struct ct_buf *out_value) CT_MUST_USE;
/* mftrace.application: all preceding entries are discarded */
void ct_emitter_property_forget_all(struct ct_registry *registry);
/* levels, destinations, channels, all properties: as at first */
void ct_registry_forget_configuration(struct ct_registry *registry);
/* Every property that was set, the name that was set last for the first time first.  Under the
 * lock: the callee must not call the registry. */
typedef void ct_property_sink(const char *name, size_t name_size, const char *value,
			      size_t value_size, void *user);
void ct_component_property_each(struct ct_registry *registry, uint32_t index,
				ct_property_sink *each, void *user);
void ct_emitter_property_each(struct ct_registry *registry, uint32_t emitter,
			      ct_property_sink *each, void *user);

/* ---- adopt.c: a whole configuration at once */
/* What is to become of a component's settings, under the registry's lock: *next is what `from`
 * says, and may be changed. */
typedef void ct_adopt_rule(uint32_t component, const struct ct_configured *now,
			   struct ct_configured *next, void *user);
struct ct_adoption; /* what others are to be told of */
/*
 * What is configured in `from` - levels, destinations, channels, all properties - and nothing else
 * is configured here, all or nothing: NOT_ENOUGH_MEMORY.  Of what component trace sets, minimum,
 * excluded and writer stay; of the rest `rule` (may be NULL) decides.  Each level word changes by
 * one store: a component that is on before and after is never off in between.  *out_reopen: the
 * emitters whose properties changed.  `from` is the caller's alone.
 */
enum ctrace_status ct_registry_adopt(struct ct_registry *registry, const struct ct_registry *from,
				     ct_adopt_rule *rule, void *user,
				     struct ct_adoption **out_adoption,
				     uint32_t *out_reopen) CT_MUST_USE;
/* Tells of the thresholds and component properties that have changed, each once, and frees it.
 * Under no lock.  changed may be NULL. */
void ct_adoption_report(struct ct_adoption *adoption, ct_change_sink *changed, void *user);

/* ---- channel.c: components with a ring policy or size of their own, and the flight recorder.
 * Channel 0 is the common ring. */
struct ct_channel {
	uint64_t buffer; /* bytes; 0: the process's */
	/* enum ct_overflow of lib/ring/ring.h; CT_OVERFLOW_AUTO: the process's */
	uint32_t overflow;
	uint32_t flight_level; /* CTRACE_LEVEL_NONE: no flight recorder */
	uint32_t writer;       /* number of the external writer in the session; 0: none */
};
/* a number once given never means another channel; past the last, settings are refused:
 * NOT_ENOUGH_MEMORY */
#define CT_CHANNEL_LIMIT 64u
/* Gives a component (and its descendants that set none) a ring of its own. */
enum ctrace_status ct_channel_set_buffer(struct ct_registry *registry, const char *component,
					 size_t size, uint64_t bytes) CT_MUST_USE;
enum ctrace_status ct_channel_set_overflow(struct ct_registry *registry, const char *component,
					   size_t size, uint32_t overflow) CT_MUST_USE;
/* Lowers what is recorded to `level` (CTRACE_LEVEL_NONE: no flight recorder), so it reports as
 * ct_level_set() does. */
enum ctrace_status ct_channel_set_flight(struct ct_registry *registry, const char *component,
					 size_t size, uint32_t level, ct_change_sink *changed,
					 void *user) CT_MUST_USE;
/* Connects it to an external writer by its number in the session; 0: to none; CT_WRITER_UNSET: to
 * its parent's. */
enum ctrace_status ct_channel_set_writer(struct ct_registry *registry, const char *component,
					 size_t size, uint32_t writer) CT_MUST_USE;
/* A level word has its channel as the place of a thread buffer. */
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
/* The threshold without the flight recorder: at or above it an event goes to the destinations. */
uint32_t ct_channel_output_level(const struct ct_registry *registry, uint32_t component);

#endif
