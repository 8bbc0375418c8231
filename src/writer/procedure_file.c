/*
 * procedure_file.c - finds the procedure file of an external writer in the directories of
 * CTRACE_PROCLIB.
 *
 * The tool calls it before the writer starts, on its one thread.  Only a valid writer's name
 * becomes a path, so no path leads out of the directories.  The file decides where a writer,
 * perhaps root's, puts its data sets.  So only this user and root may have write access to it, and
 * the file that was checked is the file that is read.  After an error in one directory the next is
 * not searched.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "writer/writer.h"
#include "lib/emit/spool.h"

#include <stdio.h>
#include <string.h>

#define PROCEDURE_LIMIT 65536u /* bytes of a file, comments included */
#define PROCEDURE_DIRECTORIES "/etc/ctrace/proclib"
#define PATH_SIZE 4096u

/* Takes a directory from a list with colons.  Empty entries, which elsewhere mean the current
 * directory, are skipped.  False at the end. */
static bool directory_next(const char **list, struct ct_span *out_directory)
{
	size_t size;

	*list += strspn(*list, ":");
	size = strcspn(*list, ":");
	*out_directory = (struct ct_span){ *list, size };
	*list += size;
	return size != 0;
}

enum ctrace_status ct_procedure_read(const char *name, struct ct_buf *out_text,
				     char out_path[PATH_SIZE])
{
	const char *directories = ct_os_environment("CTRACE_PROCLIB");
	enum ctrace_status status = CTRACE_NOT_FOUND;
	struct ct_span directory;
	char upper[8] = "";
	char path[PATH_SIZE];
	struct ct_buf text;

	out_path[0] = '\0';
	if (!ct_writer_name_is_valid(name, strlen(name)))
		return CTRACE_NOT_FOUND;
	(void)snprintf(upper, sizeof upper, "%s", name);
	ct_name_upper(upper, strlen(upper));
	if (directories == NULL)
		directories = PROCEDURE_DIRECTORIES;
	ct_buf_init(&text);
	while (status == CTRACE_NOT_FOUND && directory_next(&directories, &directory)) {
		if (directory.size + 1 + strlen(upper) >= sizeof path)
			continue;
		(void)snprintf(out_path, PATH_SIZE, "%.*s/%s", (int)directory.size, directory.at,
			       upper);
		(void)snprintf(path, sizeof path, "%.*s", (int)directory.size, directory.at);
		ct_buf_clear(&text);
		status = ct_os_read_trusted(path, upper, CT_OS_OWN, PROCEDURE_LIMIT + 1, &text);
	}
	if (status == CTRACE_OK)
		ct_buf_add(out_text, text.data, text.size);
	if (status == CTRACE_OK && out_text->failed)
		status = CTRACE_NOT_ENOUGH_MEMORY;
	ct_buf_fini(&text);
	return status;
}

enum ctrace_status ct_procedure_use_spool(struct ct_procedure *procedure, char out_path[PATH_SIZE],
					  char out_why[CT_PRIVATE_WHY_SIZE])
{
	char spool[CTRACE_EMITTER_PATH_SIZE] = "";
	enum ctrace_status status = CTRACE_OK;

	out_why[0] = '\0';
	for (uint32_t i = 0; i < procedure->trcout_count && status == CTRACE_OK; i++) {
		struct ct_trcout_spec *spec = &procedure->trcout[i];

		if (spec->address[0] == '\0')
			continue;
		if (spool[0] == '\0')
			status = ct_spool_root(spool) ? ct_spool_make(spool, out_why)
						      : CTRACE_OS_ERROR;
		(void)snprintf(spec->path, sizeof spec->path, "%.4000s/%s.TRCOUT%02u", spool,
			       procedure->name, procedure->number[i]);
	}
	(void)snprintf(out_path, PATH_SIZE, "%s", spool);
	return status;
}
