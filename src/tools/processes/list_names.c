/*
 * list_names.c - names alone, one a line, for ctrace list --names: what a shell completes, and what
 * scripts go through.
 *
 * Names come from several processes; each is printed once.  They were written by somebody's
 * programs and are printed as such.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/processes/list.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

bool ct_list_names_kind(const char *text, enum list_names *out_kind)
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

void ct_list_names_add(struct ct_buf *names, enum list_names kind,
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

bool ct_list_names_print(const struct ct_buf *names)
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
