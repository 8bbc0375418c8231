/*
 * apply.c - the one place where settings take effect, from a file, a call or an operator, and the
 * table of all settings.
 *
 * What is no setting has its own one place in a directory above this one: TRACE CT in
 * lib/component/command.c, and FLUSH, ROTATE and RELOAD in lib/start/operate.c.
 *
 * Any thread may come here, never a signal handler.  A change of destinations or of an emitter's
 * properties stops the consumer meanwhile, so that events committed before it still use the old
 * settings.  The program's callbacks run only after every lock is released, because a callback may
 * make changes itself.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/control/control.h"
#include "lib/control/trigger.h"

#include <string.h>

/* The mask of all known emitters that a command names; the status is that of the first unknown
 * one. */
static enum ctrace_status emitters_find(const struct ct_command *command, uint32_t *out_mask)
{
	enum ctrace_status first = CTRACE_OK;
	struct ct_span list = command->list;
	struct ct_span name = command->emitter;
	bool is_one = list.at == NULL;

	*out_mask = 0;
	while (is_one || ct_config_next_word(&list, &name)) {
		uint32_t emitter;
		enum ctrace_status status = ct_emitter_find(name.at, name.size, &emitter);

		if (status == CTRACE_OK)
			*out_mask |= 1u << emitter;
		else if (first == CTRACE_OK)
			first = status;
		if (is_one)
			break;
	}
	return first;
}

/* Loads what the emitter needs and the consumer thread cannot load. */
static void emitter_prepare(const struct ct_command *command, uint32_t emitter)
{
	enum ct_encoding encoding;

	ct_emitter_prepare(emitter, command->property, command->value);
	if (ct_name_is(command->property.at, command->property.size, "ENCODING") &&
	    ct_thread_locked == 0 &&
	    ct_encoding_parse(command->value.at, command->value.size, &encoding))
		(void)ct_encoding_prepare(encoding); /* without its table texts stay unchanged */
}

void ct_apply_load(const struct ct_command *command)
{
	uint32_t found;

	switch (command->verb) {
	case CT_VERB_DEST_DEFAULT:
	case CT_VERB_DEST_ADD:
	case CT_VERB_DEST_REMOVE:
	case CT_VERB_DEST_SET:
		(void)!emitters_find(command, &found);
		break;
	case CT_VERB_EMITTER_PROPERTY:
		if (ct_emitter_find(command->emitter.at, command->emitter.size, &found) ==
		    CTRACE_OK)
			emitter_prepare(command, found);
		break;
	default:
		break;
	}
}

/* ---- destinations ---- */

static void target_hold(const struct ct_target *target)
{
	if (target->hold != NULL)
		target->hold(target->user);
}

static void target_release(const struct ct_target *target, uint32_t reopen)
{
	if (target->release != NULL)
		target->release(target->user, reopen);
}

typedef enum ctrace_status dest_change(const struct ct_target *target,
				       const struct ct_command *command, uint32_t emitter);

/* An unknown name is skipped: the others of the list are in force when EMITTER_NOT_FOUND is
 * returned. */
static enum ctrace_status dests_change(const struct ct_target *target,
				       const struct ct_command *command, dest_change *change)
{
	uint32_t mask;
	enum ctrace_status missing = emitters_find(command, &mask);
	enum ctrace_status status = CTRACE_OK;

	if (mask == 0)
		return missing;
	target_hold(target);
	for (; status == CTRACE_OK && mask != 0; mask &= mask - 1)
		status = change(target, command, (uint32_t)__builtin_ctz(mask));
	target_release(target, 0);
	return status != CTRACE_OK ? status : missing;
}

static enum ctrace_status dest_add(const struct ct_target *target, const struct ct_command *command,
				   uint32_t emitter)
{
	return ct_dest_add(target->registry, command->component.at, command->component.size,
			   emitter, command->no_inherit);
}

static enum ctrace_status dest_remove(const struct ct_target *target,
				      const struct ct_command *command, uint32_t emitter)
{
	return ct_dest_remove(target->registry, command->component.at, command->component.size,
			      emitter);
}

static enum ctrace_status apply_dest_add(const struct ct_target *target,
					 const struct ct_command *command)
{
	return dests_change(target, command, dest_add);
}

static enum ctrace_status apply_dest_remove(const struct ct_target *target,
					    const struct ct_command *command)
{
	return dests_change(target, command, dest_remove);
}

/* Sets exactly this list, without inherited destinations.  An empty list inherits again.  The
 * default list is never empty. */
static enum ctrace_status apply_dest_set(const struct ct_target *target,
					 const struct ct_command *command)
{
	const char *component = command->component.at;
	size_t size = command->component.size;
	uint32_t wanted, own;
	uint32_t index = CT_COMPONENT_NONE;
	enum ctrace_status status = emitters_find(command, &wanted);

	if (status != CTRACE_OK)
		return status;
	target_hold(target);
	for (uint32_t rest = wanted; status == CTRACE_OK && rest != 0; rest &= rest - 1)
		status = ct_dest_add(target->registry, component, size,
				     (uint32_t)__builtin_ctz(rest), true);
	own = ct_dest_default(target->registry);
	if (size != 0)
		own = ct_registry_find_any(target->registry, component, size, &index) == CTRACE_OK
			      ? ct_registry_configured(target->registry, index).dests
			      : 0;
	for (uint32_t rest = own & ~wanted; status == CTRACE_OK && rest != 0; rest &= rest - 1)
		status = ct_dest_remove(target->registry, component, size,
					(uint32_t)__builtin_ctz(rest));
	target_release(target, 0);
	return status;
}

/* ---- levels and properties ---- */

static enum ctrace_status apply_level(const struct ct_target *target,
				      const struct ct_command *command)
{
	return ct_level_set(target->registry, command->component.at, command->component.size,
			    command->level, target->changed, target->changed_user);
}

static enum ctrace_status apply_component_property(const struct ct_target *target,
						   const struct ct_command *command)
{
	return ct_component_property_set(
		target->registry, command->component.at, command->component.size,
		command->property.at, command->property.size, command->value.at,
		command->value.size, target->changed, target->changed_user);
}

/* True when the property has the value already: then the emitter keeps its file open. */
static bool emitter_has(const struct ct_target *target, const struct ct_command *command,
			uint32_t emitter)
{
	struct ct_buf value;
	bool has;

	ct_buf_init(&value);
	has = ct_emitter_property_get(target->registry, emitter, command->property.at,
				      command->property.size, &value) == CTRACE_OK &&
	      value.size == command->value.size &&
	      (value.size == 0 || memcmp(value.data, command->value.at, value.size) == 0);
	ct_buf_fini(&value);
	return has;
}

static enum ctrace_status apply_emitter_property(const struct ct_target *target,
						 const struct ct_command *command)
{
	uint32_t emitter;
	uint32_t reopen;
	enum ctrace_status status =
		ct_emitter_find(command->emitter.at, command->emitter.size, &emitter);

	if (status != CTRACE_OK)
		return status;
	emitter_prepare(command, emitter);
	target_hold(target);
	reopen = emitter_has(target, command, emitter) ? 0 : 1u << emitter;
	status = ct_emitter_property_set(target->registry, emitter, command->property.at,
					 command->property.size, command->value.at,
					 command->value.size);
	target_release(target, status == CTRACE_OK ? reopen : 0);
	return status;
}

/* The properties that the key stands for. */
static enum ctrace_status apply_expanded(const struct ct_target *target,
					 const struct ct_command *command)
{
	enum ctrace_status status = CTRACE_OK;
	struct ct_command one;

	for (unsigned i = 0; status == CTRACE_OK && ct_config_expand(command, i, &one); i++)
		status = apply_emitter_property(target, &one);
	return status;
}

/* ---- settings of the process ---- */

static enum ctrace_status apply_application(const struct ct_target *target,
					    const struct ct_command *command)
{
	(void)target;
	(void)command;
	return CTRACE_OK; /* ct_config_read() has applied it */
}

static enum ctrace_status apply_buffer(const struct ct_target *target,
				       const struct ct_command *command)
{
	if (command->component.size != 0)
		return ct_channel_set_buffer(target->registry, command->component.at,
					     command->component.size, command->number);
	__atomic_store_n(&target->settings->buffer, command->number, __ATOMIC_RELAXED);
	return CTRACE_OK;
}

static enum ctrace_status apply_overflow(const struct ct_target *target,
					 const struct ct_command *command)
{
	if (command->component.size != 0)
		return ct_channel_set_overflow(target->registry, command->component.at,
					       command->component.size, (uint32_t)command->number);
	__atomic_store_n(&target->settings->overflow, (uint32_t)command->number, __ATOMIC_RELAXED);
	return CTRACE_OK;
}

static enum ctrace_status apply_block_timeout(const struct ct_target *target,
					      const struct ct_command *command)
{
	__atomic_store_n(&target->settings->block_timeout_ns, command->number, __ATOMIC_RELAXED);
	return CTRACE_OK;
}

static enum ctrace_status apply_flight_level(const struct ct_target *target,
					     const struct ct_command *command)
{
	return ct_channel_set_flight(target->registry, command->component.at,
				     command->component.size, command->level, target->changed,
				     target->changed_user);
}

static enum ctrace_status apply_flight_trigger(const struct ct_target *target,
					       const struct ct_command *command)
{
	__atomic_store_n(&target->settings->flight_trigger, (uint32_t)command->number,
			 __ATOMIC_RELAXED);
	return CTRACE_OK;
}

static enum ctrace_status apply_flight_buffer(const struct ct_target *target,
					      const struct ct_command *command)
{
	__atomic_store_n(&target->settings->flight_buffer, command->number, __ATOMIC_RELAXED);
	return CTRACE_OK;
}

static enum ctrace_status apply_attach(const struct ct_target *target,
				       const struct ct_command *command)
{
	__atomic_store_n(&target->settings->attach, command->number != 0, __ATOMIC_RELAXED);
	return CTRACE_OK;
}

/* The clock itself was chosen as the process attached. */
static enum ctrace_status apply_clock(const struct ct_target *target,
				      const struct ct_command *command)
{
	__atomic_store_n(&target->settings->clock, (uint32_t)command->number, __ATOMIC_RELAXED);
	return CTRACE_OK;
}

/* The session has the command line, or not, since the process attached. */
static enum ctrace_status apply_command_line(const struct ct_target *target,
					     const struct ct_command *command)
{
	__atomic_store_n(&target->settings->command_line, command->number != 0, __ATOMIC_RELAXED);
	return CTRACE_OK;
}

/* Also for the operator's tools (operator/hardcopy.c). */
static enum ctrace_status apply_log(const struct ct_target *target,
				    const struct ct_command *command)
{
	struct ct_settings *settings = target->settings;

	if (command->value.size >= sizeof settings->log)
		return CTRACE_SYNTAX_ERROR;
	ct_registry_lock(target->registry);
	memcpy(settings->log, command->value.at, command->value.size);
	settings->log_size = (uint32_t)command->value.size;
	ct_registry_unlock(target->registry);
	return CTRACE_OK;
}

/* A group that the machine does not have lets nobody in.  Nor does root's own. */
static enum ctrace_status apply_operators(const struct ct_target *target,
					  const struct ct_command *command)
{
	struct ct_operators *to = command->verb == CT_VERB_OPERATORS
					  ? &target->settings->operators
					  : &target->settings->displayers;
	struct ct_operators operators = { .gid = 0 };
	bool is_known = ct_group_find(command->value, &operators.gid) && operators.gid != 0 &&
			command->value.size < sizeof operators.name;

	if (is_known)
		memcpy(operators.name, command->value.at, command->value.size);
	else
		operators.gid = 0;
	ct_registry_lock(target->registry);
	*to = operators;
	ct_registry_unlock(target->registry);
	return is_known ? CTRACE_OK : CTRACE_NOT_FOUND;
}

static enum ctrace_status apply_keep(const struct ct_target *target,
				     const struct ct_command *command)
{
	__atomic_store_n(&target->settings->keep_ns, command->number, __ATOMIC_RELAXED);
	return CTRACE_OK;
}

static enum ctrace_status apply_run_directory(const struct ct_target *target,
					      const struct ct_command *command)
{
	char *path = target->settings->run_directory;

	if (command->value.size >= sizeof target->settings->run_directory)
		return CTRACE_SYNTAX_ERROR;
	ct_registry_lock(target->registry);
	memcpy(path, command->value.at, command->value.size);
	path[command->value.size] = '\0';
	ct_registry_unlock(target->registry);
	return CTRACE_OK;
}

/* lib/watch watches by these texts once ct_trigger_update() has taken them. */
static enum ctrace_status apply_trigger(const struct ct_target *target,
					const struct ct_command *command)
{
	enum ctrace_status status;

	ct_registry_lock(target->registry);
	status = ct_trigger_list_set(&target->settings->triggers, command->component,
				     command->value);
	ct_registry_unlock(target->registry);
	if (status == CTRACE_OK && target->triggers_changed != NULL)
		target->triggers_changed();
	return status;
}

static enum ctrace_status apply_run_programs(const struct ct_target *target,
					     const struct ct_command *command)
{
	__atomic_store_n(&target->settings->runs_programs, command->number != 0, __ATOMIC_RELAXED);
	return CTRACE_OK;
}

static enum ctrace_status apply_dump_directory(const struct ct_target *target,
					       const struct ct_command *command)
{
	struct ct_settings *settings = target->settings;

	if (command->value.size >= sizeof settings->dump_directory)
		return CTRACE_SYNTAX_ERROR;
	ct_registry_lock(target->registry);
	memcpy(settings->dump_directory, command->value.at, command->value.size);
	settings->dump_directory_size = (uint32_t)command->value.size;
	ct_registry_unlock(target->registry);
	return CTRACE_OK;
}

static enum ctrace_status apply_dump_keep(const struct ct_target *target,
					  const struct ct_command *command)
{
	__atomic_store_n(&target->settings->dump_keep, (uint32_t)command->number, __ATOMIC_RELAXED);
	return CTRACE_OK;
}

static enum ctrace_status apply_dump_size(const struct ct_target *target,
					  const struct ct_command *command)
{
	uint64_t size;

	if (!ct_size_parse(command->value.at, command->value.size, &size))
		return CTRACE_SYNTAX_ERROR;
	__atomic_store_n(&target->settings->dump_size, size, __ATOMIC_RELAXED);
	return CTRACE_OK;
}

static enum ctrace_status apply_dump_on(const struct ct_target *target,
					const struct ct_command *command)
{
	__atomic_store_n(&target->settings->dump_on, (uint32_t)command->number, __ATOMIC_RELAXED);
	return CTRACE_OK;
}

/* ---- the table ---- */

/* clang-format off */
static const struct ct_verb_row rows[] = {
	{ CT_VERB_LEVEL, "mftrace.level", CT_SUBJECT_ANY_COMPONENT, CT_VALUE_LEVEL, "[.COMPONENT]",
	  "none | debug | info | warn | error | fatal",
	  "records events at or above this level, of the component and those below it; without a component, of all that set none",
	  apply_level },
	{ CT_VERB_DEST_DEFAULT, "mftrace.dest", CT_SUBJECT_NONE, CT_VALUE_DESTS, "",
	  "EMITTER[, EMITTER]...",
	  "adds default destinations; the first entry replaces TEXTFILE, which is the default when there is none",
	  apply_dest_add },
	{ CT_VERB_DEST_ADD, "mftrace.dest", CT_SUBJECT_COMPONENT, CT_VALUE_DESTS, ".COMPONENT",
	  "EMITTER[, EMITTER]... | (EMITTER[, EMITTER]...)",
	  "adds destinations of the component and those below it; in parentheses, they do not inherit any others",
	  apply_dest_add },
	{ CT_VERB_DEST_REMOVE, NULL, CT_SUBJECT_ANY_COMPONENT, CT_VALUE_DESTS, "[.COMPONENT]",
	  "EMITTER[, EMITTER]...",
	  "removes destinations; a default list that becomes empty has TEXTFILE again, a component's inherits again",
	  apply_dest_remove },
	{ CT_VERB_DEST_SET, NULL, CT_SUBJECT_ANY_COMPONENT, CT_VALUE_DESTS, "[.COMPONENT]",
	  "EMITTER[, EMITTER]...",
	  "exactly these destinations, and no inherited ones; an empty list inherits again",
	  apply_dest_set },
	{ CT_VERB_COMPONENT_PROPERTY, "mftrace.comp", CT_SUBJECT_COMPONENT_PROPERTY, CT_VALUE_TEXT, ".COMPONENT#PROPERTY",
	  "TEXT",
	  "sets a property that the component itself reads",
	  apply_component_property },
	{ CT_VERB_EMITTER_PROPERTY, "mftrace.emitter", CT_SUBJECT_EMITTER_PROPERTY, CT_VALUE_PROPERTY, ".EMITTER#PROPERTY",
	  "TEXT",
	  "sets a property of an emitter, such as FORMAT, FILE or LOCATION",
	  apply_emitter_property },
	{ CT_VERB_ENCODING, "mftrace.encoding", CT_SUBJECT_NONE, CT_VALUE_ENCODING, "",
	  "ascii | ebcdic-037 | ebcdic-1141 | latin-1 | shift-jis ...",
	  "encoding of text items: property ENCODING of TEXTFILE, BINFILE, STDERR and NATS",
	  apply_expanded },
	{ CT_VERB_APPLICATION, "mftrace.application", CT_SUBJECT_NONE, CT_VALUE_APPLICATION, "",
	  "PROGRAM | (PROGRAM)",
	  "any other program ignores all entries above and the rest of the file; (PROGRAM) is run by another, such as cobcrun",
	  apply_application },
	{ CT_VERB_BUFFER, "ctrace.buffer", CT_SUBJECT_ANY_COMPONENT, CT_VALUE_SIZE, "[.COMPONENT]",
	  "BYTES | nK | nM",
	  "size of each thread's ring, rounded up to a power of two from 32K to 1024M; a component with its own size has its own rings",
	  apply_buffer },
	{ CT_VERB_OVERFLOW, "ctrace.overflow", CT_SUBJECT_ANY_COMPONENT, CT_VALUE_OVERFLOW, "[.COMPONENT]",
	  "block | discard | overwrite | auto",
	  "what happens when a ring is full: wait for the output, drop the newest or the oldest; auto waits when a file is a destination",
	  apply_overflow },
	{ CT_VERB_BLOCK_TIMEOUT, "ctrace.block.timeout", CT_SUBJECT_NONE, CT_VALUE_TIME, "",
	  "MILLISECONDS | n ms | n s",
	  "how long a full ring waits for an output that makes no progress before it discards",
	  apply_block_timeout },
	{ CT_VERB_FLIGHT_LEVEL, "ctrace.flight.level", CT_SUBJECT_COMPONENT, CT_VALUE_LEVEL, ".COMPONENT",
	  "none | debug | info | warn | error | fatal",
	  "keeps events at or above this level, but below the component's, in memory until the trigger",
	  apply_flight_level },
	{ CT_VERB_FLIGHT_TRIGGER, "ctrace.flight.trigger", CT_SUBJECT_NONE, CT_VALUE_TRIGGER, "",
	  "debug | info | warn | error | fatal | signal | off",
	  "the trigger that sends the kept events to the destinations: an event at or above this level, or a fatal signal",
	  apply_flight_trigger },
	{ CT_VERB_FLIGHT_BUFFER, "ctrace.flight.buffer", CT_SUBJECT_NONE, CT_VALUE_SIZE, "",
	  "BYTES | nK | nM",
	  "size of each thread's ring of kept events",
	  apply_flight_buffer },
	{ CT_VERB_ATTACH, "ctrace.attach", CT_SUBJECT_NONE, CT_VALUE_SWITCH, "",
	  "on | off",
	  "off keeps the process out of the run directory, unseen by operators",
	  apply_attach },
	{ CT_VERB_CLOCK, "ctrace.clock", CT_SUBJECT_NONE, CT_VALUE_CLOCK, "",
	  "auto | counter | monotonic",
	  "the clock of events: the processor's counter, or CLOCK_MONOTONIC; auto takes the counter where the kernel vouches for it",
	  apply_clock },
	{ CT_VERB_COMMAND_LINE, "ctrace.command.line", CT_SUBJECT_NONE, CT_VALUE_SWITCH, "",
	  "on | off",
	  "off leaves the command line of the program, which may have secrets, out of all that ctrace writes",
	  apply_command_line },
	{ CT_VERB_RUN_DIRECTORY, "ctrace.run.directory", CT_SUBJECT_NONE, CT_VALUE_PATH, "",
	  "PATH",
	  "the run directory; CTRACE_RUN_DIR in the environment takes precedence",
	  apply_run_directory },
	{ CT_VERB_KEEP, "ctrace.keep", CT_SUBJECT_NONE, CT_VALUE_AGE, "",
	  "n s | n m | n h | n d",
	  "how long events that cannot be delivered are kept after the process has ended; 7d by default",
	  apply_keep },
	{ CT_VERB_SPOOL_LINGER, "ctrace.spool.linger", CT_SUBJECT_NONE, CT_VALUE_AGE, "",
	  "n s | n m | n h | n d",
	  "how long the spool keeps what the servers of a stream have acknowledged; 5m by default",
	  apply_expanded },
	{ CT_VERB_SPOOL_SIZE, "ctrace.spool.size", CT_SUBJECT_NONE, CT_VALUE_SPOOL_SIZE, "",
	  "BYTES | nK | nM | nG | nT",
	  "how much may wait in the spool for ctrace forward; 1G by default",
	  apply_expanded },
	{ CT_VERB_TRIGGER, "ctrace.trigger", CT_SUBJECT_NAME, CT_VALUE_FULL_TRIGGER, ".NAME",
	  "[disabled] when FILTER [HOW OFTEN] do ACTION[, ACTION]... | off",
	  "what to do when an event matches: dump, stop, wto, level:LEVEL:TIME, start:COMPONENT or run:PROGRAM",
	  apply_trigger },
	{ CT_VERB_RUN_PROGRAMS, "ctrace.run.programs", CT_SUBJECT_NONE, CT_VALUE_SWITCH, "",
	  "on | off",
	  "whether triggers may run programs; off by default",
	  apply_run_programs },
	{ CT_VERB_LOG, "ctrace.log", CT_SUBJECT_NONE, CT_VALUE_LOG, "",
	  "PATH | journal",
	  "log of commands and their answers, for ctrace op and ctrace console; in a traced program, of what its triggers and ctrace.operators do",
	  apply_log },
	{ CT_VERB_OPERATORS, "ctrace.operators", CT_SUBJECT_NONE, CT_VALUE_GROUP, "",
	  "GROUP",
	  "a group, by name or number, whose members may command this process and display its state",
	  apply_operators },
	{ CT_VERB_OPERATORS_DISPLAY, "ctrace.operators.display", CT_SUBJECT_NONE, CT_VALUE_GROUP, "",
	  "GROUP",
	  "a group whose members may only display the state of this process",
	  apply_operators },
	{ CT_VERB_DUMP_DIRECTORY, "ctrace.dump.directory", CT_SUBJECT_NONE, CT_VALUE_PATH, "",
	  "PATH",
	  "where a program's own dumps are made; by default in MFTRACE_LOGS, else in the current directory",
	  apply_dump_directory },
	{ CT_VERB_DUMP_KEEP, "ctrace.dump.keep", CT_SUBJECT_NONE, CT_VALUE_COUNT, "",
	  "NUMBER",
	  "how many dumps stay in that directory; the oldest are removed; 10 by default",
	  apply_dump_keep },
	{ CT_VERB_DUMP_SIZE, "ctrace.dump.size", CT_SUBJECT_NONE, CT_VALUE_SPOOL_SIZE, "",
	  "BYTES | nK | nM | nG | nT",
	  "how much the dumps in that directory may take in all; 1G by default",
	  apply_dump_size },
	{ CT_VERB_DUMP_ON, "ctrace.dump.on", CT_SUBJECT_NONE, CT_VALUE_DUMP_ON, "",
	  "off | fatal-signal, abort, exit-status, cobol-error",
	  "when a process is dumped without a request; off by default",
	  apply_dump_on },
};
/* clang-format on */

const struct ct_verb_row *ct_verb_row_at(size_t index)
{
	return index < CT_COUNT(rows) ? &rows[index] : NULL;
}

enum ctrace_status ct_apply(const struct ct_target *target, const struct ct_command *command)
{
	if (command->verb == CT_VERB_NONE)
		return CTRACE_OK;
	for (size_t i = 0; i < CT_COUNT(rows); i++)
		if (rows[i].verb == command->verb)
			return rows[i].apply(target, command);
	return CTRACE_UNSUPPORTED;
}

const struct ct_target *ct_target_self(void)
{
	const struct ct_process *process = ct_process_rouse();

	return process != NULL ? process->target : NULL;
}

struct ct_registry *ct_registry_self(void)
{
	const struct ct_process *process = ct_process_attach();

	return process != NULL ? process->registry : NULL;
}
