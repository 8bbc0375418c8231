/*
 * service.c - states of services and lines for the journal, by the module systemd.so.
 *
 * Called by the verbs that are services and by the hardcopy log, on the tool's one thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cli/service.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <syslog.h>

#include "base/base.h"
#include "lib/emit/emit.h"

static const struct ct_systemd_module *systemd_find(void)
{
	static const struct ct_systemd_module *module;
	static bool has_tried;
	void *handle = has_tried ? NULL : ct_module_open("systemd");

	has_tried = true;
	if (handle != NULL)
		module = dlsym(handle, CT_SYSTEMD_MODULE);
	return module != NULL && module->size >= sizeof *module ? module : NULL;
}

void ct_systemd_notify(const char *state)
{
	const struct ct_systemd_module *module =
		ct_os_environment("NOTIFY_SOCKET") != NULL ? systemd_find() : NULL;

	if (module != NULL)
		(void)module->notify(0, state);
}

void ct_systemd_journal(const char *text)
{
	static char identifier[] = "SYSLOG_IDENTIFIER=ctrace";
	const struct ct_systemd_module *module = systemd_find();
	char priority[16];
	struct iovec fields[3];
	struct ct_buf message;

	ct_buf_init(&message);
	ct_buf_add_text(&message, "MESSAGE=");
	ct_buf_add_text(&message, text);
	fields[0] = (struct iovec){ message.data, message.size };
	fields[1] = (struct iovec){ priority, (size_t)snprintf(priority, sizeof priority,
							       "PRIORITY=%d", LOG_INFO) };
	fields[2] = (struct iovec){ identifier, sizeof identifier - 1 };
	if (module != NULL && !message.failed)
		(void)module->journal_sendv(fields, (int)CT_COUNT(fields));
	ct_buf_fini(&message);
}
