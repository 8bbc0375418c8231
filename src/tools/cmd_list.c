/*
 * cmd_list.c - ctrace list: the traced processes, their components, destinations and counters.
 *
 * Reads what each process keeps in its process directory, with pread and without a lock: the
 * processes are not disturbed, do not notice, and may change or end meanwhile, so counters taken a
 * moment apart need not agree to the event.  Every text here was written by somebody's program and
 * is printed as such.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"
#include "tools/processes/list.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "operator/recovery/recovery.h"
#include "operator/spool_note.h"
#include "cli/cli.h"

/* ---- --names: what a shell completes, and what scripts go through ----
 *
 * Names come from several processes; each is printed once. */

enum list_names { LIST_NO_NAMES, LIST_COMPONENTS, LIST_DESTINATIONS, LIST_JOBS, LIST_PIDS };

/* "jobs"; NULL: components */
static bool names_kind_parse(const char *text, enum list_names *out_kind)
{
	static const char *const words[] = { "", "components", "destinations", "jobs", "pids" };

	for (unsigned i = LIST_COMPONENTS; i <= LIST_PIDS; i++)
		if (text == NULL || strcmp(text, words[i]) == 0) {
			*out_kind = (enum list_names)i;
			return true;
		}
	return false;
}

static void name_add(struct ct_buf *names, const char *text, size_t size)
{
	if (size == 0)
		return;
	ct_buf_add(names, text, size);
	ct_buf_add_char(names, '\0');
}

/* Adds a process's names, each terminated. */
static void names_add(struct ct_buf *names, enum list_names kind,
		      const struct list_process *process)
{
	const struct ct_session *session = &process->session;
	const struct ct_session_head *head = session->head;
	size_t size;

	if (kind == LIST_COMPONENTS)
		for (uint32_t i = 0; i < process->count; i++) {
			const char *name = ct_list_name(session, process->order[i], &size);

			name_add(names, name, size);
		}
	else if (kind == LIST_DESTINATIONS)
		for (unsigned i = 0; i < CT_DEST_LIMIT; i++)
			name_add(names, head->dest[i].emitter,
				 strnlen(head->dest[i].emitter, sizeof(head->dest[i].emitter)));
	else if (!process->entry->is_alive) /* no command reaches it */
		return;
	else if (kind == LIST_JOBS)
		name_add(names, head->jobname, strnlen(head->jobname, sizeof(head->jobname)));
	else {
		ct_buf_add_u64(names, head->pid);
		ct_buf_add_char(names, '\0');
	}
}

static int name_compare(const void *a, const void *b)
{
	return strcasecmp(*(const char *const *)a, *(const char *const *)b);
}

/* Returns false when memory is short. */
static bool names_print(const struct ct_buf *names)
{
	size_t count = 0;
	const char **order;

	if (names->failed)
		return false;
	for (size_t i = 0; i < names->size; i++)
		count += names->data[i] == '\0';
	order = calloc(count + 1, sizeof(*order));
	if (order == NULL)
		return false;
	count = 0;
	for (size_t at = 0; at < names->size; at += strlen(names->data + at) + 1)
		order[count++] = names->data + at;
	qsort(order, count, sizeof(*order), name_compare);
	for (size_t i = 0; i < count; i++) {
		if (i != 0 && name_compare(&order[i - 1], &order[i]) == 0)
			continue;
		ct_tool_print(stdout, order[i], strlen(order[i]));
		putchar('\n');
	}
	free(order);
	return true;
}

#define OPTION_NAMES 0x100

/* A longer name moves the rest of its line to the right, not that of all others. */
#define WIDEST_NAME 60

struct list_options {
	bool is_json;
	enum list_names names_kind; /* LIST_NO_NAMES: not only names */
	struct ct_buf names;
	bool is_dead;          /* only processes that have ended */
	bool all;              /* also components that are only configured */
	uint32_t pid;          /* 0: every process */
	const char *component; /* glob; NULL: every component */
	bool failed;           /* something was found that could not be read */
	uint32_t shown;        /* processes */
};

/* -----------------------------------------------------------------------------------------------
 * For people
 */

/* A text in a column: at least `width` wide, followed by two blanks. */
static void print_cell(const char *text, size_t size, int width)
{
	int printed = ct_tool_print(stdout, text, size);

	printf("%*s", width > printed ? width - printed + 2 : 2, "");
}

/* NULL: the user is not in the machine's own file.  libc's services are not asked first: without
 * memory they abort. */
static const struct passwd *user_find_local(uint32_t uid)
{
	static struct passwd user;
	static char texts[4096];
	FILE *file = fopen("/etc/passwd", "re");
	struct passwd *found = NULL;

	if (file == NULL)
		return NULL;
	while (fgetpwent_r(file, &user, texts, sizeof texts, &found) == 0 && found != NULL &&
	       found->pw_uid != uid)
		found = NULL;
	(void)fclose(file);
	return found;
}

static void print_user(uint32_t uid)
{
	const struct passwd *user = user_find_local(uid);

	if (user == NULL && !ct_memory_has_lacked())
		user = getpwuid(uid);
	if (user != NULL)
		printf("user %s", user->pw_name);
	else
		printf("user %" PRIu32, uid);
}

static void print_process(const struct list_process *process)
{
	const struct ct_session_head *head = process->session.head;
	char when[CT_TOOL_DATE];

	ct_tool_date(head->start_ns, when);
	printf("%" PRIu32 "  ", head->pid);
	print_cell(head->program, strnlen(head->program, sizeof(head->program)), 0);
	printf("%s since %s  ", ct_list_state(process->entry), when);
	print_user(process->entry->uid);
	fputs("  jobname ", stdout);
	print_cell(head->jobname, strnlen(head->jobname, sizeof(head->jobname)), 0);
	printf("asid %04" PRIX32 "\n", head->asid);
}

static void print_destinations_of(const struct ct_session_head *head, uint32_t mask)
{
	const char *separator = "";

	for (unsigned i = 0; i < CT_DEST_LIMIT; i++) {
		const char *emitter = head->dest[i].emitter;

		if (!(mask >> i & 1))
			continue;
		fputs(separator, stdout);
		ct_tool_print(stdout, emitter, strnlen(emitter, sizeof(head->dest[i].emitter)));
		separator = ", ";
	}
	if (separator[0] == '\0')
		putchar('-');
}

static void print_components(const struct list_process *process)
{
	const struct ct_session *session = &process->session;
	int width = (int)strlen("COMPONENT");
	size_t size;

	for (uint32_t i = 0; i < process->count; i++) {
		const char *name = ct_list_name(session, process->order[i], &size);
		int columns = ct_tool_print(NULL, name, size);

		if (columns > width)
			width = columns < WIDEST_NAME ? columns : WIDEST_NAME;
	}
	printf("    %-*s  %-5s  %s\n", width, "COMPONENT", "LEVEL", "DESTINATIONS");
	for (uint32_t i = 0; i < process->count; i++) {
		const struct ct_component_entry *component =
			&session->components[process->order[i]];
		const char *name = ct_list_name(session, process->order[i], &size);

		fputs("    ", stdout);
		print_cell(name, size, width);
		printf("%-5s  ", ct_list_level(component->level_word.level));
		print_destinations_of(session->head, component->dests);
		if (!(component->flags & CT_COMPONENT_KNOWN))
			fputs("  (not registered)", stdout);
		putchar('\n');
	}
}

static void print_destination(const struct ct_session *session, uint32_t index)
{
	struct ct_dest *dest = &session->head->dest[index];
	const struct ct_dest_slot *slot = ct_dest_current(dest);
	const char *path = ct_dest_path(session, index);
	struct list_failure failure;
	uint64_t lost = ct_list_lost_to(dest);

	fputs("    ", stdout);
	print_cell(dest->emitter, strnlen(dest->emitter, sizeof(dest->emitter)), 11);
	printf("%9" PRIu64 "  ", slot->delivered);
	ct_tool_print(stdout, path[0] != '\0' ? path : "-", path[0] != '\0' ? strlen(path) : 1);
	ct_list_take_failure(&failure, session, index);
	(void)ct_list_print_failure(stdout, "  ", &failure);
	if (lost != 0)
		printf("  lost %" PRIu64, lost);
	if (dest->failures != 0)
		printf("  (%" PRIu64 " failure%s)", dest->failures, dest->failures == 1 ? "" : "s");
	putchar('\n');
}

static void print_destinations(const struct ct_session *session)
{
	bool has_title = false;

	for (unsigned i = 0; i < CT_DEST_LIMIT; i++) {
		struct ct_dest *dest = &session->head->dest[i];

		if (!ct_list_shows(dest))
			continue;
		if (!has_title)
			printf("    %-11s  %9s  %s\n", "DESTINATION", "DELIVERED", "WHERE");
		has_title = true;
		print_destination(session, i);
	}
}

static void print_counters(const struct list_counters *counters)
{
	const char *separator = " (";

	printf("    delivered %" PRIu64 ", lost %" PRIu64, counters->delivered,
	       counters->lost_total);
	for (unsigned i = 0; i < CTRACE_LOSS_COUNT; i++) {
		if (counters->lost[i] == 0)
			continue;
		printf("%s%s %" PRIu64, separator, ctrace_loss_name((enum ctrace_loss)i),
		       counters->lost[i]);
		separator = ", ";
	}
	if (counters->no_room != 0)
		printf("%sno-room %" PRIu64, separator, counters->no_room);
	printf("%s, pending %" PRIu64 " (%" PRIu64 " bytes in %" PRIu32 " ring%s)\n",
	       counters->lost_total != 0 ? ")" : "", counters->pending, counters->pending_bytes,
	       counters->rings, counters->rings == 1 ? "" : "s");
	if (counters->in_storage != 0)
		printf("    in storage %" PRIu64 ", overwritten there %" PRIu64 "\n",
		       counters->in_storage, counters->wrapped);
	if (counters->hidden != 0)
		printf("    %" PRIu32
		       " more ring%s in private memory: events there are not counted here\n",
		       counters->hidden, counters->hidden == 1 ? "" : "s");
}

static void print_configuration(const struct ct_session *session)
{
	char clock[CT_CLOCK_TEXT];
	struct ct_buf text;

	ct_buf_init(&text);
	ct_list_config_print(session, &text);
	printf("    configuration %s\n", ct_buf_text(&text));
	ct_list_clock_print(session, clock);
	printf("    clock         %s\n", clock);
	ct_buf_fini(&text);
}

static void print_for_people(const struct list_process *process, bool is_first)
{
	char when[CT_TOOL_DATE];
	uint64_t until;

	if (!is_first)
		putchar('\n');
	print_process(process);
	print_configuration(&process->session);
	if (process->session.head->was_cut != 0)
		puts("    " CT_DIRECTORY_CUT);
	else if (process->session.head->is_dormant == CT_DORMANT)
		puts(ct_bell_is_parted(process->session.path)
			     ? "    dormant: nothing is traced; it has changed its user and cannot be woken"
			     : "    dormant: nothing is traced; a change takes effect at its next trace call");
	if (process->count != 0)
		print_components(process);
	print_destinations(&process->session);
	print_counters(&process->counters);
	if (!process->entry->is_alive && ct_recover_is_storage(process->session.head, &until)) {
		ct_tool_date(until, when);
		printf("    kept until %s: ctrace dump --pid=%" PRIu32
		       ", or ctrace recover --discard=%" PRIu32 "\n",
		       when, process->session.head->pid, process->session.head->pid);
	}
}

/* -----------------------------------------------------------------------------------------------
 * The verb
 */

static void process_show(struct list_process *process, struct list_options *options)
{
	if (options->names_kind != LIST_NO_NAMES) {
		names_add(&options->names, options->names_kind, process);
		return;
	}
	ct_list_gather_counters(&process->session, &process->counters);
	if (!options->is_json)
		print_for_people(process, options->shown == 0);
	else if (!ct_list_print_json(process))
		options->failed = true;
}

static void process_list(const struct ct_directory_entry *entry, void *user)
{
	struct list_options *options = user;
	struct list_process process = { .entry = entry };
	char why[CT_DIRECTORY_WHY_SIZE];
	enum ctrace_status status;

	if ((options->pid != 0 && entry->pid != options->pid) ||
	    (options->is_dead && entry->is_alive))
		return;
	status = ct_session_load(&process.session, entry->run_directory, entry->name, false);
	if (status == CTRACE_NOT_FOUND)
		return; /* it ended properly while we looked */
	if (status != CTRACE_OK) {
		options->failed = true;
		fputs("ctrace list: ", stderr);
		ct_tool_print(stderr, entry->run_directory, strlen(entry->run_directory));
		fprintf(stderr, "/%s: %s\n", entry->name, ct_directory_explain(entry, status, why));
		return;
	}
	if (!ct_list_gather_components(&process, options->component, options->all)) {
		options->failed = true;
		fputs("ctrace list: not enough memory\n", stderr);
	} else if (options->component == NULL || process.count != 0) {
		process_show(&process, options);
		options->shown++;
	}
	free(process.order);
	ct_session_close(&process.session, false);
}

/* The directories of one run directory, which have no order of their own. */
struct listed {
	struct ct_directory_entry entry; /* its name is ours */
	uint32_t asid;
};
struct listing {
	struct listed *items;
	size_t count;
	struct list_options *options;
};

static void entry_gather(const struct ct_directory_entry *entry, void *user)
{
	struct listing *listing = user;
	struct listed *items = listing->items;
	char *name = strdup(entry->name);
	struct listed *item;
	char ignored[16];

	if ((listing->count & (listing->count + 1)) == 0) /* 0, 1, 3, 7...: full */
		items = reallocarray(items, listing->count * 2 + 1, sizeof *items);
	if (name == NULL || items == NULL) {
		listing->options->failed = true;
		fputs("ctrace list: not enough memory\n", stderr);
		free(name);
		return;
	}
	listing->items = items;
	item = &items[listing->count++];
	*item = (struct listed){ .entry = *entry };
	item->entry.name = name;
	if (ct_session_identify(entry->run_directory, name, &item->asid, ignored) != CTRACE_OK)
		item->asid = UINT32_MAX; /* an error is reported when the process is listed */
}

static int listed_compare_asid(const void *a, const void *b)
{
	const struct listed *one = a, *other = b;

	if (one->asid != other->asid)
		return one->asid < other->asid ? -1 : 1;
	return one->entry.pid < other->entry.pid ? -1 : one->entry.pid > other->entry.pid;
}

static void list_run_directory(const char *path, void *user)
{
	struct listing listing = { .options = user };

	ct_directory_each(path, entry_gather, &listing);
	if (listing.count > 1)
		qsort(listing.items, listing.count, sizeof *listing.items, listed_compare_asid);
	for (size_t i = 0; i < listing.count; i++) {
		process_list(&listing.items[i].entry, user);
		free((char *)(uintptr_t)listing.items[i].entry.name);
	}
	free(listing.items);
}

static void name_run_directory(const char *path, void *user)
{
	bool *is_first = user;

	if (!*is_first)
		fputs(", ", stderr);
	ct_tool_print(stderr, path, strlen(path));
	*is_first = false;
}

static int list_diagnose_nothing(const struct list_options *options)
{
	bool is_first = true;

	if (options->component != NULL || options->pid != 0) {
		fputs("ctrace list: no traced process matches\n", stderr);
		(void)ct_recovery_report_refused("ctrace list");
		return CMD_NOTHING;
	}
	if (ct_recovery_report_refused("ctrace list") != 0)
		return CMD_NOTHING;
	fputs("ctrace list: no traced process found in ", stderr);
	ct_directory_each_run_directory(name_run_directory, &is_first);
	fputs(is_first ? "any run directory: there is none\n" : "\n", stderr);
	return CMD_NOTHING;
}

/* On standard error: they are about no process, and JSON is one object for each. */
static void report_unattached(const char *path, void *user)
{
	(void)user;
	(void)ct_list_print_unattached(stderr, "ctrace list: ", path);
}

static void report_spool(const char *path, void *user)
{
	struct ct_buf note;

	(void)user;
	ct_buf_init(&note);
	if (ct_spool_note(&note, path))
		fprintf(stderr, "ctrace list: %s\n", ct_buf_text(&note));
	ct_buf_fini(&note);
}

static error_t parse_list(int key, char *argument, struct argp_state *state)
{
	struct list_options *options = state->input;
	unsigned long pid;
	char *end;

	switch (key) {
	case 'a':
		options->all = true;
		return 0;
	case 'c':
		options->component = argument;
		return 0;
	case 'd':
		options->is_dead = true;
		return 0;
	case 'j':
		options->is_json = true;
		return 0;
	case OPTION_NAMES:
		if (!names_kind_parse(argument, &options->names_kind))
			argp_error(state,
				   "\"%s\" is neither components, destinations, jobs nor pids",
				   argument);
		return 0;
	case 'p':
		errno = 0;
		pid = strtoul(argument, &end, 10);
		if (errno != 0 || *end != '\0' || pid == 0 || pid > INT32_MAX)
			argp_error(state, "\"%s\" is not a process id", argument);
		options->pid = (uint32_t)pid;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument \"%s\"", argument);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_list(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		{ "all", 'a', NULL, 0,
		  "Also show components that are not registered: configured ones and parents", 0 },
		{ "component", 'c', "GLOB", 0,
		  "Only components whose name matches, and processes that have one", 0 },
		{ "dead", 'd', NULL, 0,
		  "Only processes that have ended, and whose events in storage are kept", 0 },
		{ "json", 'j', NULL, 0, "Print one JSON object for each process, on its own line",
		  0 },
		{ "names", OPTION_NAMES, "WHAT", OPTION_ARG_OPTIONAL,
		  "Print only names, one on each line: components (the default), destinations, jobs or pids",
		  0 },
		{ "pid", 'p', "PID", 0, "Only this process", 0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = rows,
		.parser = parse_list,
		.doc = "Show the traced processes, their components with levels and destinations, and their counters.",
	};
	struct list_options options = { 0 };

	if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0)
		return CMD_USAGE;
	if (options.names_kind == LIST_NO_NAMES)
		ct_recovery_on_the_way("ctrace list");
	ct_directory_each_run_directory(list_run_directory, &options);
	if (options.names_kind != LIST_NO_NAMES && !names_print(&options.names)) {
		options.failed = true;
		fputs("ctrace list: not enough memory\n", stderr);
	}
	ct_buf_fini(&options.names);
	if (options.names_kind == LIST_NO_NAMES && options.component == NULL && options.pid == 0) {
		ct_spool_each(report_spool, NULL);
		ct_directory_each_run_directory(report_unattached, NULL);
	}
	if (options.shown == 0 && !options.failed)
		return list_diagnose_nothing(&options);
	return options.failed ? CMD_NOTHING : CMD_DONE;
}
