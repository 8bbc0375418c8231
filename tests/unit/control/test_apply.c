/*
 * test_apply.c - every verb takes effect, the consumer is held where it must be, and the
 * documentation has every row.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/control/control.h"

static struct ct_session session;
static struct ct_settings settings;
static struct ct_target target;
static unsigned holds;
static bool is_held;
static uint32_t reopened;
static unsigned changes;

static void hold(void *user)
{
	assert_ptr_equal(user, &settings);
	assert_false(is_held);
	is_held = true;
	holds++;
	reopened = 0xFFFFFFFF;
}

static void release(void *user, uint32_t reopen)
{
	assert_ptr_equal(user, &settings);
	assert_true(is_held);
	is_held = false;
	reopened = reopen;
}

static void changed(const struct ct_change *change, void *user)
{
	(void)change;
	assert_ptr_equal(user, &changes);
	assert_false(is_held);
	assert_int_equal(ct_thread_locked, 0);
	changes++;
}

static int setup(void **state)
{
	(void)state;
	holds = changes = 0;
	target = (struct ct_target){ .settings = &settings,
				     .hold = hold,
				     .release = release,
				     .user = &settings,
				     .changed = changed,
				     .changed_user = &changes };
	ct_settings_init(&settings);
	assert_int_equal(ct_session_create(&session, NULL), CTRACE_OK);
	assert_int_equal(ct_registry_create(&session, &target.registry), CTRACE_OK);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_false(is_held);
	ct_registry_destroy(target.registry);
	ct_session_close(&session, true);
	return 0;
}

static enum ctrace_status apply(const char *line)
{
	struct ct_command command;

	assert_int_equal(ct_config_parse_line(line, strlen(line), &command, NULL), CTRACE_OK);
	return ct_apply(&target, &command);
}

static uint32_t add(const char *name)
{
	uint32_t index;

	assert_int_equal(ct_registry_register(target.registry, name, strlen(name), &index),
			 CTRACE_OK);
	return index;
}

static const struct ct_component_entry *entry(const char *name)
{
	return ct_registry_entry(target.registry, add(name));
}

static uint32_t bit(const char *name)
{
	uint32_t emitter;

	assert_int_equal(ct_emitter_find(name, strlen(name), &emitter), CTRACE_OK);
	return 1u << emitter;
}

static void levels(void **state)
{
	(void)state;
	add("a.b");
	assert_int_equal(apply("mftrace.level = error"), CTRACE_OK);
	assert_int_equal(entry("a.b")->level_word.level, CTRACE_ERROR);
	assert_int_equal(apply("mftrace.level.a = debug"), CTRACE_OK);
	assert_int_equal(entry("a.b")->level_word.level, CTRACE_DEBUG);
	assert_int_equal(changes, 2);
	assert_int_equal(holds, 0);
}

static void destinations(void **state)
{
	struct ct_command removal = { .verb = CT_VERB_DEST_REMOVE,
				      .component = { "c", 1 },
				      .emitter = { "es", 2 } };
	struct ct_command addition = { .verb = CT_VERB_DEST_ADD, .emitter = { "STDERR", 6 } };

	(void)state;
	assert_int_equal(apply("mftrace.dest = BINFILE"), CTRACE_OK);
	assert_int_equal(holds, 1);
	assert_int_equal(reopened, 0);
	assert_int_equal(apply("mftrace.dest.c = (ES, idedbg)"), CTRACE_OK);
	assert_int_equal(holds, 2);
	assert_int_equal(ct_dest_default(target.registry), bit("BINFILE"));
	assert_int_equal(entry("c")->dests, bit("ES") | bit("STDERR"));
	assert_int_equal(ct_apply(&target, &removal), CTRACE_OK);
	assert_int_equal(entry("c")->dests, bit("STDERR"));
	assert_int_equal(ct_apply(&target, &removal), CTRACE_EMITTER_NOT_FOUND);
	assert_int_equal(ct_apply(&target, &addition), CTRACE_OK);
	assert_int_equal(ct_dest_default(target.registry), bit("BINFILE") | bit("STDERR"));
	addition.emitter.size = 0;
	assert_int_equal(ct_apply(&target, &addition), CTRACE_INVALID_EMITTER_NAME);
	addition.emitter = (struct ct_span){ "ES,STDERR", 9 }; /* one name, not a list */
	assert_int_equal(ct_apply(&target, &addition), CTRACE_EMITTER_NOT_FOUND);
}

static void exactly_these_destinations(void **state)
{
	struct ct_command set = { .verb = CT_VERB_DEST_SET,
				  .component = { "c", 1 },
				  .list = { "es, stderr", 10 } };
	uint32_t index;

	(void)state;
	assert_int_equal(ct_registry_register(target.registry, "c", 1, &index), CTRACE_OK);
	assert_int_equal(apply("mftrace.dest.c = binfile"), CTRACE_OK);
	/* TEXTFILE is inherited */
	assert_int_equal(ct_registry_entry(target.registry, index)->dests, 1u << 0 | 1u << 1);
	holds = 0;
	assert_int_equal(ct_apply(&target, &set), CTRACE_OK);
	assert_int_equal(holds, 1);
	assert_int_equal(ct_registry_entry(target.registry, index)->dests, 1u << 2 | 1u << 3);
	set.list = (struct ct_span){ "es, nothing", 11 };
	assert_int_equal(ct_apply(&target, &set), CTRACE_EMITTER_NOT_FOUND);
	assert_int_equal(ct_registry_entry(target.registry, index)->dests, 1u << 2 | 1u << 3);
	set.list = (struct ct_span){ "", 0 }; /* inherits again */
	assert_int_equal(ct_apply(&target, &set), CTRACE_OK);
	assert_int_equal(ct_registry_entry(target.registry, index)->dests, 1u << 0);
	set.component.size = 0; /* the default */
	set.list = (struct ct_span){ "stderr", 6 };
	assert_int_equal(ct_apply(&target, &set), CTRACE_OK);
	assert_int_equal(ct_registry_entry(target.registry, index)->dests, 1u << 2);
}

static void an_unknown_name_in_a_list_costs_itself_only(void **state)
{
	(void)state;
	assert_int_equal(apply("mftrace.dest = NOSUCH"), CTRACE_EMITTER_NOT_FOUND);
	assert_int_equal(ct_dest_default(target.registry), bit("TEXTFILE"));
	assert_int_equal(holds, 0);
	assert_int_equal(apply("mftrace.dest = NOSUCH, BINFILE, OTHER, STDERR"),
			 CTRACE_EMITTER_NOT_FOUND);
	assert_int_equal(ct_dest_default(target.registry), bit("BINFILE") | bit("STDERR"));
	assert_int_equal(holds, 1);
	assert_int_equal(apply("mftrace.dest.c = (NOSUCH, ES)"), CTRACE_EMITTER_NOT_FOUND);
	assert_int_equal(entry("c")->dests, bit("ES"));
}

static void component_properties(void **state)
{
	struct ct_buf value;

	(void)state;
	add("c");
	assert_int_equal(apply("mftrace.comp.c#All = on"), CTRACE_OK);
	assert_int_equal(changes, 1);
	assert_int_equal(holds, 0);
	ct_buf_init(&value);
	assert_int_equal(ct_component_property_get(target.registry, "C", 1, "ALL", 3, &value),
			 CTRACE_OK);
	assert_string_equal(ct_buf_text(&value), "on");
	ct_buf_fini(&value);
}

static void emitter_properties(void **state)
{
	struct ct_buf value;

	(void)state;
	assert_int_equal(apply("mftrace.emitter.binfile#FILE = x"), CTRACE_OK);
	assert_int_equal(holds, 1);
	assert_int_equal(reopened, bit("BINFILE"));
	assert_int_equal(apply("mftrace.emitter.binfile#file = x"), CTRACE_OK);
	assert_int_equal(reopened, 0); /* it is that already: its file stays open */
	assert_int_equal(apply("mftrace.emitter.nosuch#file = x"), CTRACE_EMITTER_NOT_FOUND);
	ct_buf_init(&value);
	assert_int_equal(ct_emitter_property_get(target.registry, 1, "File", 4, &value), CTRACE_OK);
	assert_string_equal(ct_buf_text(&value), "x");
	ct_buf_fini(&value);
}

static void settings_of_the_process(void **state)
{
	(void)state;
	assert_int_equal(apply("ctrace.buffer = 2M"), CTRACE_OK);
	assert_int_equal(settings.buffer, 2u << 20);
	assert_int_equal(apply("ctrace.overflow = discard"), CTRACE_OK);
	assert_int_equal(settings.overflow, CT_OVERFLOW_DISCARD);
	assert_int_equal(apply("ctrace.block.timeout = 3 s"), CTRACE_OK);
	assert_int_equal(settings.block_timeout_ns, 3000000000u);
	assert_int_equal(apply("ctrace.flight.trigger = warn"), CTRACE_OK);
	assert_int_equal(settings.flight_trigger, CTRACE_WARN);
	assert_int_equal(apply("ctrace.flight.buffer = 128K"), CTRACE_OK);
	assert_int_equal(settings.flight_buffer, 128u << 10);
	assert_int_equal(apply("ctrace.attach = no"), CTRACE_OK);
	assert_false(settings.attach);
	assert_int_equal(apply("ctrace.run.directory = /a/b"), CTRACE_OK);
	assert_string_equal(settings.run_directory, "/a/b");
	assert_int_equal(apply("mftrace.application = whatever"), CTRACE_OK);
	assert_int_equal(apply("# nothing"), CTRACE_OK);
}

static void channels(void **state)
{
	struct ct_channel channel;

	(void)state;
	add("r.s");
	assert_int_equal(apply("ctrace.buffer.r = 256K"), CTRACE_OK);
	assert_int_equal(apply("ctrace.overflow.r = overwrite"), CTRACE_OK);
	assert_int_equal(apply("ctrace.flight.level.r = debug"), CTRACE_OK);
	channel = ct_channel_at(target.registry, ct_level_word_channel(&entry("r.s")->level_word));
	assert_int_equal(channel.buffer, 256u << 10);
	assert_int_equal(channel.overflow, CT_OVERFLOW_OVERWRITE);
	assert_int_equal(channel.flight_level, CTRACE_DEBUG);
	assert_int_equal(changes, 1);
	assert_int_equal(settings.buffer, CT_RING_DEFAULT);
}

static void a_target_that_does_not_run_yet(void **state)
{
	(void)state;
	target.hold = NULL;
	target.release = NULL;
	target.changed = NULL;
	add("n");
	assert_int_equal(apply("mftrace.dest.n = ES"), CTRACE_OK);
	assert_int_equal(apply("mftrace.emitter.ES#x = y"), CTRACE_OK);
	assert_int_equal(apply("mftrace.level = debug"), CTRACE_OK);
	assert_int_equal(apply("mftrace.comp.n#x = y"), CTRACE_OK);
	assert_int_equal(entry("n")->level_word.level, CTRACE_DEBUG);
}

static void an_unknown_verb_is_refused(void **state)
{
	struct ct_command command = { .verb = (enum ct_verb)99 };

	(void)state;
	assert_int_equal(ct_apply(&target, &command), CTRACE_UNSUPPORTED);
}

static void the_lock_survives_a_fork(void **state)
{
	int status = -1;
	pid_t child;

	(void)state;
	ct_emitter_lock();
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		uint32_t emitter;

		ct_emitter_unlock_in_child();
		_exit(ct_thread_locked == 0 && ct_emitter_find("TEXTFILE", 8, &emitter) == CTRACE_OK
			      ? 0
			      : 1);
	}
	ct_emitter_unlock();
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(ct_thread_locked, 0);
	assert_int_equal(bit("textfile"), 1);
}

/* docs/configuration.md describes each key by the row that also parses and applies it. */
static void every_row_is_documented(void **state)
{
	const char *source = getenv("CTRACE_SOURCE");
	const struct ct_verb_row *row;
	struct ct_buf text;
	char path[4096];
	char line[400];

	(void)state;
	if (source == NULL)
		skip();
	snprintf(path, sizeof path, "%s/docs/configuration.md", source);
	ct_buf_init(&text);
	assert_int_equal(ct_os_read_file(path, 1 << 20, &text), CTRACE_OK);
	for (size_t i = 0; (row = ct_verb_row_at(i)) != NULL; i++) {
		if (row->key == NULL)
			continue;
		snprintf(line, sizeof line, "%s%s = %s", row->key, row->subject_grammar,
			 row->value_grammar);
		if (strstr(ct_buf_text(&text), line) == NULL)
			fail_msg("docs/configuration.md lacks: %s", line);
	}
	ct_buf_fini(&text);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

/* Only looked at here: what is loaded is tests/process/test_loading.c's. */
static void what_is_loaded_changes_nothing(void **state)
{
	struct ct_command command;
	static const char *const lines[] = { "mftrace.dest = STDERR, NOSUCH",
					     "mftrace.dest.a.b = (STDERR)", "mftrace.level = debug",
					     "mftrace.emitter.BINFILE#CATALOG = /nowhere" };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(lines); i++) {
		assert_int_equal(ct_config_parse_line(lines[i], strlen(lines[i]), &command, NULL),
				 CTRACE_OK);
		ct_apply_load(&command);
	}
	assert_int_equal(holds, 0);
	assert_int_equal(ct_registry_count(target.registry), 0);
	assert_int_equal(ct_dest_default(target.registry), 1);
}

int test_apply(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_loaded_changes_nothing, setup, teardown),
		WITH(levels),
		WITH(destinations),
		WITH(an_unknown_name_in_a_list_costs_itself_only),
		WITH(component_properties),
		WITH(emitter_properties),
		WITH(settings_of_the_process),
		WITH(channels),
		WITH(a_target_that_does_not_run_yet),
		WITH(an_unknown_verb_is_refused),
		WITH(the_lock_survives_a_fork),
		cmocka_unit_test_setup_teardown(exactly_these_destinations, setup, teardown),
		cmocka_unit_test(every_row_is_documented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
