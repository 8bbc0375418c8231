/*
 * export_otlp.c - traces as logs and spans of OpenTelemetry: the module "otlp" does it.
 *
 * Called by ctrace export, on one thread.  The module has the libraries that OTLP needs, and its
 * destination shares most of its code.  It is loaded when an export begins.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/export/export.h"

#include <dlfcn.h>
#include <stdlib.h>

/* why open() has failed; NULL: it has not, or its status says so */
static const char *open_failure;

struct otlp {
	const struct ct_exporter *exporter;
	void *self; /* its own */
};

/* Stays loaded.  NULL: there is none, or it is of another version. */
static const struct ct_otlp_module *module_find(void)
{
	void *handle = ct_module_open("otlp");
	const struct ct_otlp_module *module = handle != NULL ? dlsym(handle, CT_OTLP_MODULE) : NULL;

	return module != NULL && module->size >= sizeof *module ? module : NULL;
}

static enum ctrace_status otlp_open(const struct ct_export_options *options, bool is_protobuf,
				    void **out_self)
{
	const struct ct_otlp_module *module = module_find();
	enum ctrace_status status;
	struct otlp *self;

	open_failure = NULL;
	if (module == NULL) {
		open_failure = "the module otlp.so is missing: this ctrace was built without OTLP";
		return CTRACE_UNSUPPORTED;
	}
	self = calloc(1, sizeof *self);
	if (self == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	self->exporter = is_protobuf ? module->protobuf : module->json;
	status = self->exporter->open(options, &self->self);
	if (status == CTRACE_OK)
		*out_self = self;
	else
		free(self);
	if (status == CTRACE_UNSUPPORTED)
		open_failure = "the property COMPRESS has no meaning; expected gzip or no";
	return status;
}

static enum ctrace_status otlp_open_json(const struct ct_export_options *options, void **out_self)
{
	return otlp_open(options, false, out_self);
}

static enum ctrace_status otlp_open_protobuf(const struct ct_export_options *options,
					     void **out_self)
{
	return otlp_open(options, true, out_self);
}

static void otlp_add(void *user, const struct ct_read_event *event)
{
	struct otlp *self = user;

	self->exporter->add(self->self, event);
}

static void otlp_lost(void *user, const struct ct_read_note *note)
{
	struct otlp *self = user;

	self->exporter->lost(self->self, note);
}

static enum ctrace_status otlp_end(void *user)
{
	struct otlp *self = user;
	enum ctrace_status status = self->exporter->end(self->self);

	/* After any lack of memory, in the readers too, an event or a field may be missing. */
	return status == CTRACE_OK && ct_memory_has_lacked() ? CTRACE_NOT_ENOUGH_MEMORY : status;
}

static const char *otlp_failure(const void *user)
{
	const struct otlp *self = user;

	return self != NULL ? self->exporter->failure(self->self) : open_failure;
}

static void otlp_close(void *user)
{
	struct otlp *self = user;

	if (self == NULL)
		return;
	self->exporter->close(self->self);
	free(self);
}

const struct ct_exporter ct_export_otlp = {
	.name = "otlp",
	.has_pairs = true,
	.has_inferred = true,
	.open = otlp_open_json,
	.add = otlp_add,
	.lost = otlp_lost,
	.end = otlp_end,
	.failure = otlp_failure,
	.close = otlp_close,
};

const struct ct_exporter ct_export_otlp_protobuf = {
	.name = "otlp-protobuf",
	.is_binary = true,
	.has_pairs = true,
	.has_inferred = true,
	.open = otlp_open_protobuf,
	.add = otlp_add,
	.lost = otlp_lost,
	.end = otlp_end,
	.failure = otlp_failure,
	.close = otlp_close,
};
