/*
 * nats_lead.c - how far the clocks of hosts are ahead of the servers' clock.
 *
 * A reader with --since begins at a time of the server.  A host whose clock is ahead has sent the
 * events of that time earlier, so the reader begins earlier by the largest lead: each host's newest
 * message has the time of the host's clock, and the server's.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "nats_fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Raises the lead, ns, to that in the newest message of those subjects. */
static natsStatus lead_raise(const struct ct_nats_fetcher *fetch, const char *subjects,
			     uint64_t *lead)
{
	natsMsg *message = NULL;
	uint64_t host_ns, server_ns;
	natsStatus status = js_GetLastMsg(&message, fetch->link.context, fetch->address.stream,
					  subjects, NULL, NULL);

	if (status != NATS_OK)
		return status == NATS_NOT_FOUND ? NATS_OK : status;
	host_ns = ct_nats_header_number(message, CT_NATS_SENT);
	if (host_ns == 0) /* sent by another machine */
		host_ns = ct_nats_header_number(message, CT_NATS_LAST);
	server_ns = (uint64_t)natsMsg_GetTime(message);
	natsMsg_Destroy(message);
	if (host_ns > server_ns && host_ns - server_ns > *lead)
		*lead = host_ns - server_ns;
	return NATS_OK;
}

/* All subjects of the host in a subject: ctrace.<cluster>.<host>.*.*.* */
static void host_subjects(char *out, size_t size, const char *subject)
{
	size_t end = strlen(subject);

	for (unsigned dots = 0; end > 0 && dots < 3;)
		dots += subject[--end] == '.';
	(void)snprintf(out, size, "%.*s.*.*.*", (int)end, subject);
}

static int subject_compare(const void *a, const void *b)
{
	return strcmp(((const jsStreamStateSubject *)a)->Subject,
		      ((const jsStreamStateSubject *)b)->Subject);
}

uint64_t ct_nats_lead(const struct ct_nats_fetcher *fetch)
{
	char subjects[1400], last[1400] = "";
	const jsStreamStateSubjects *list;
	jsStreamInfo *info = NULL;
	uint64_t lead = 0;
	natsStatus status = NATS_OK;
	jsOptions request;

	(void)jsOptions_Init(&request);
	request.Stream.Info.SubjectsFilter = fetch->filter;
	if (js_GetStreamInfo(&info, fetch->link.context, fetch->address.stream, &request, NULL) !=
	    NATS_OK)
		return 0;
	list = info->State.Subjects;
	if (list != NULL && list->Count > 0)
		qsort(list->List, (size_t)list->Count, sizeof *list->List, subject_compare);
	for (int i = 0; list != NULL && i < list->Count && status == NATS_OK; i++) {
		host_subjects(subjects, sizeof subjects, list->List[i].Subject);
		if (strcmp(subjects, last) == 0)
			continue;
		memcpy(last, subjects, sizeof last);
		status = lead_raise(fetch, subjects, &lead);
	}
	jsStreamInfo_Destroy(info);
	return lead;
}
