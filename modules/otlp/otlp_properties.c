/*
 * otlp_properties.c - the properties of the destination OTLP, which `ctrace export` takes, too.
 *
 * Called when a destination or an export opens.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "otlp/otlp.h"

#include <stdlib.h>

#define DEFAULT_TIMEOUT_MS 10000u

const struct ctrace_property ct_otlp_properties[] = {
	{ "BATCH", CTRACE_PROPERTY_NUMBER, "1024", "Events in a request, at most." },
	{ "CA", CTRACE_PROPERTY_TEXT, NULL,
	  "A file of certificates that the receiver's must come from; else those of the system." },
	{ "CATALOG", CTRACE_PROPERTY_TEXT, NULL,
	  "Files and directories, colons between, that name events and items; else CTRACE_CATALOG, or MFTRACE_ANNOTATIONS." },
	{ "CERTIFICATE", CTRACE_PROPERTY_TEXT, NULL,
	  "A file with the client's certificate (PEM)." },
	{ "COMPRESS", CTRACE_PROPERTY_TEXT, "no", "gzip, or no." },
	CT_ENCODING_PROPERTY,
	{ "FLUSHEVERY", CTRACE_PROPERTY_NUMBER, "1",
	  "Events that may wait in the ring before they are sent; 0: ctrace chooses." },
	{ "HEADERS", CTRACE_PROPERTY_TEXT, NULL,
	  "Headers of each request: NAME=VALUE, commas between; % and two digits is a byte." },
	{ "KEY", CTRACE_PROPERTY_TEXT, NULL, "A file with the key of CERTIFICATE (PEM)." },
	{ "LEVEL", CTRACE_PROPERTY_LEVEL, "0",
	  "Events below this level are not sent; 5 or more silences." },
	{ "TIMEOUT", CTRACE_PROPERTY_NUMBER, "10000",
	  "Milliseconds that a request may take before it is tried again." },
	{ "URL", CTRACE_PROPERTY_TEXT, "http://localhost:4318",
	  "The receiver, without /v1/logs: http or https." },
	{ 0 },
};

/* Returns false without memory. */
static bool copy_text(char **out, ct_otlp_property *property, const void *user, const char *name)
{
	const char *value = property(user, name);

	if (value == NULL || value[0] == '\0')
		return true;
	*out = strdup(value);
	return *out != NULL;
}

static bool url_is_http(const char *url)
{
	return strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
}

/* Ends it before the path of a signal, which is added for each request, and before slashes. */
static void url_trim(char *url)
{
	static const char *const paths[] = { "/", "/v1/logs", "/v1/traces" };
	size_t size = strlen(url);

	for (size_t i = 0; i < CT_COUNT(paths); i++) {
		size_t end = strlen(paths[i]);

		if (size < end || strcmp(url + size - end, paths[i]) != 0)
			continue;
		size -= end;
		url[size] = '\0';
		i = (size_t)-1; /* what is before it may end so, too */
	}
}

enum ctrace_status ct_otlp_http_settings_read(struct ct_otlp_http_settings *settings,
					      ct_otlp_property *property, const void *user)
{
	const char *compress, *timeout;

	*settings = (struct ct_otlp_http_settings){ .timeout_ms = DEFAULT_TIMEOUT_MS };
	if (!copy_text(&settings->url, property, user, "URL") ||
	    !copy_text(&settings->headers, property, user, "HEADERS") ||
	    !copy_text(&settings->ca, property, user, "CA") ||
	    !copy_text(&settings->certificate, property, user, "CERTIFICATE") ||
	    !copy_text(&settings->key, property, user, "KEY")) {
		ct_otlp_http_settings_fini(settings);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	timeout = property(user, "TIMEOUT");
	if (timeout != NULL && ct_value_number(timeout, strlen(timeout)) != 0)
		settings->timeout_ms = ct_value_number(timeout, strlen(timeout));
	compress = property(user, "COMPRESS");
	settings->has_gzip = compress != NULL && ct_name_is(compress, strlen(compress), "gzip");
	if (compress != NULL && !settings->has_gzip && compress[0] != '\0' &&
	    !ct_name_is(compress, strlen(compress), "no"))
		settings->wrong = "COMPRESS";
	if (settings->url == NULL || !url_is_http(settings->url))
		settings->wrong = "URL";
	else if (strncmp(settings->url, "https:", 6) != 0 &&
		 (settings->ca != NULL || settings->certificate != NULL || settings->key != NULL))
		settings->wrong = "URL, which begins with https:// for CA, CERTIFICATE and KEY,";
	if (settings->url != NULL)
		url_trim(settings->url);
	return CTRACE_OK;
}

void ct_otlp_http_settings_fini(struct ct_otlp_http_settings *settings)
{
	free(settings->url);
	free(settings->headers);
	free(settings->ca);
	free(settings->certificate);
	free(settings->key);
	*settings = (struct ct_otlp_http_settings){ .url = NULL };
}
