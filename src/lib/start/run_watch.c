/*
 * run_watch.c - the processes of a `ctrace run` that was killed trace no longer.
 *
 * A scheduler that kills `ctrace run` may leave the program alive, and nobody then reads or bounds
 * its trace.  So each process looks once a second whether its `ctrace run` lives
 * (lib/emit/file_run.c).  When it was killed, an empty configuration replaces the run's: levels are
 * off, what was traced is delivered, and the outputs are closed in order.  A process that outlives
 * a `ctrace run` which ended in order goes on.
 *
 * A task of the control thread, under no lock.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/start/start.h"

#define LOOK_MS 1000u

static bool property_get(const char *name, struct ct_buf *out)
{
	uint32_t emitter;

	return ct_process.registry != NULL &&
	       ct_emitter_find_known("BINFILE", strlen("BINFILE"), &emitter) == CTRACE_OK &&
	       ct_emitter_property_get(ct_process.registry, emitter, name, strlen(name), out) ==
		       CTRACE_OK &&
	       out->size != 0;
}

static enum ct_file_run_state run_look(void)
{
	enum ct_file_run_state state = CT_FILE_RUN_ENDED; /* of no run */
	struct ct_buf location, run;

	ct_buf_init(&location);
	ct_buf_init(&run);
	if (property_get("RUN", &run) && property_get("LOCATION", &location))
		state = ct_file_run_look(ct_buf_text(&location), ct_buf_text(&run));
	ct_buf_fini(&run);
	ct_buf_fini(&location);
	return state;
}

void ct_run_watch(void *unused)
{
	enum ct_file_run_state state = run_look();

	(void)unused;
	if (state == CT_FILE_RUN_KILLED)
		ct_reload_empty();
	else if (state != CT_FILE_RUN_ENDED)
		(void)!ct_server_later(LOOK_MS, ct_run_watch, NULL);
}
