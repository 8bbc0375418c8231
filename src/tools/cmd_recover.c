/*
 * cmd_recover.c - ctrace recover: delivers what dead processes left in their process directories,
 * and removes the directories.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "operator/recovery/recovery.h"
#include "operator/recovery/recovery_watch.h"

struct recover_arguments {
	struct ct_recovery_sweep run;
	char **directories;
	int count;
};

static void directories_recover(void *argument)
{
	struct recover_arguments *arguments = argument;

	for (int i = 0; i < arguments->count; i++)
		ct_recovery_named(&arguments->run, arguments->directories[i]);
	if (arguments->count != 0)
		return;
	arguments->run.broken += ct_recovery_report_refused("ctrace recover");
	ct_recovery_everywhere(&arguments->run);
}

static error_t parse_recover(int key, char *argument, struct argp_state *state)
{
	struct recover_arguments *arguments = state->input;

	switch (key) {
	case 'n':
		arguments->run.is_dry = true;
		return 0;
	case 'a':
		arguments->run.total.anyway = true;
		return 0;
	case 'd':
		if (strcmp(argument, "all") == 0)
			arguments->run.total.discards = UINT32_MAX;
		else if (ct_tool_is_number(argument))
			arguments->run.total.discards = (uint32_t)strtoul(argument, NULL, 10);
		else
			argp_error(state, "--discard=%s: this is no process id, and not \"all\"",
				   argument);
		return 0;
	case ARGP_KEY_ARGS:
		arguments->directories = state->argv + state->next;
		arguments->count = state->argc - state->next;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int summary_print(const struct ct_recovery_sweep *run)
{
	const struct ct_recovery *total = &run->total;

	if (total->directories == 0 && run->others == 0 && run->broken == 0) {
		puts("nothing to recover");
		return CMD_DONE;
	}
	if (run->is_dry)
		return total->kept == 0 && run->broken == 0 ? CMD_DONE : CMD_NOTHING;
	if (total->directories != 0)
		printf("%" PRIu32 " of %" PRIu32 " recovered, %" PRIu64 " event%s delivered\n",
		       total->recovered, total->directories, total->delivered,
		       total->delivered == 1 ? "" : "s");
	if (total->in_storage != 0)
		printf("%" PRIu32 " of them in storage, kept for ctrace dump\n", total->in_storage);
	if (total->undeliverable != 0)
		printf("%" PRIu64
		       " event%s undeliverable: for the standard error of a process that has ended\n",
		       total->undeliverable, total->undeliverable == 1 ? "" : "s");
	if (total->gone != 0)
		printf("%" PRIu32 " ring%s had no file: the events in it are gone\n", total->gone,
		       total->gone == 1 ? "" : "s");
	(void)fflush(stdout);
	if (total->kept > total->spoilt)
		fprintf(stderr, "ctrace recover: %" PRIu32 " kept for another try\n",
			total->kept - total->spoilt);
	if (total->spoilt != 0)
		fprintf(stderr, "ctrace recover: %" PRIu32 " kept, with what cannot be read\n",
			total->spoilt);
	if (total->given_up != 0)
		fprintf(stderr,
			"ctrace recover: %" PRIu32 " given up; the events left in %s are lost\n",
			total->given_up, total->given_up == 1 ? "it" : "them");
	return total->kept == 0 && total->given_up == 0 && total->changed == 0 &&
			       run->others == 0 && run->broken == 0
		       ? CMD_DONE
		       : CMD_NOTHING;
}

int cmd_recover(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "anyway", 'a', NULL, 0,
		  "Also deliver the events of processes in another name space or under another root directory",
		  0 },
		{ "discard", 'd', "PID", 0,
		  "Remove what is in storage of this dead process, or cannot be read; all: of every one",
		  0 },
		{ "dry-run", 'n', NULL, 0, "Only report what would be recovered", 0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse_recover,
		.args_doc = "[RUN-DIRECTORY...]",
		.doc = "Deliver the events of processes that ended without delivering them, and remove their process directories."
		       "\vWithout RUN-DIRECTORY: every run directory that you may look into; for root those of all users.",
	};
	struct recover_arguments arguments = { 0 };

	if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0)
		return CMD_USAGE;
	ct_recovery_run(directories_recover, &arguments, argv[0], RECOVERY_WAITS);
	return summary_print(&arguments.run);
}
