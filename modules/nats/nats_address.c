/*
 * nats_address.c - the address of a stream: nats://HOST/STREAM?KEY=VALUE.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "nats_parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { TEXT, COUNT, DURATION, SIZE };

static const struct key {
	const char *name;
	enum kind kind;
	size_t at; /* of the member */
	const char *expected;
} keys[] = {
#define KEY(name, kind, member, expected) \
	{ \
		name, kind, offsetof(struct ct_nats_address, member), expected \
	}
	KEY("subject", TEXT, subject, "the first words of all subjects, such as ctrace"),
	KEY("cluster", TEXT, cluster, "a name"),
	KEY("host", TEXT, host, "a name, or * for all"),
	KEY("job", TEXT, job, "a name, or * for all"),
	KEY("credentials", TEXT, credentials, "a file"),
	KEY("ca", TEXT, ca, "a file"),
	KEY("certificate", TEXT, certificate, "a file"),
	KEY("key", TEXT, key, "a file"),
	KEY("replicas", COUNT, replicas, "1 to 5"),
	KEY("maxage", DURATION, max_age, "a time of at most 106751d, such as 90s, 12h or 7d"),
	KEY("maxbytes", SIZE, max_bytes, "a size, such as 500M or 10G"),
#undef KEY
};

/* Between :// and @, up to the next server. */
void ct_nats_shown(char *out, size_t size, const char *address)
{
	size_t at = 0;

	while (*address != '\0' && at + 1 < size) {
		const char *login = strncmp(address, "://", 3) == 0 ? address + 3 : NULL;
		size_t login_size = login != NULL ? strcspn(login, "@,/?") : 0;

		out[at++] = *address++;
		if (login != NULL && login[login_size] == '@' && at + 2 < size) {
			out[at++] = '/';
			out[at++] = '/';
			address = login + login_size + 1;
		}
	}
	out[at] = '\0';
}

static enum ctrace_status refuse(char error[CT_NATS_ERROR_SIZE], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static enum ctrace_status refuse(char error[CT_NATS_ERROR_SIZE], const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(error, CT_NATS_ERROR_SIZE, format, arguments);
	va_end(arguments);
	return CTRACE_SYNTAX_ERROR;
}

/* Stores a part of the address in a member; %41 stands for A.  False: it does not fit. */
static bool text_store(char *out, size_t capacity, const char *text, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < size; i++) {
		char byte = text[i], digits[3] = "";

		if (byte == '%' && size - i > 2)
			memcpy(digits, text + i + 1, 2);
		if (strspn(digits, "0123456789abcdefABCDEF") == 2) {
			byte = (char)strtoul(digits, NULL, 16);
			i += 2;
		}
		if (at + 1 >= capacity || byte == '\0')
			return false;
		out[at++] = byte;
	}
	out[at] = '\0';
	return true;
}

static bool number_store(int64_t *out, enum kind kind, const char *text)
{
	static const struct {
		char letter;
		enum kind kind;
		int64_t factor;
	} units[] = {
		{ 's', DURATION, 1 },
		{ 'm', DURATION, 60 },
		{ 'h', DURATION, 3600 },
		{ 'd', DURATION, 86400 },
		{ 'K', SIZE, 1 << 10 },
		{ 'M', SIZE, 1 << 20 },
		{ 'G', SIZE, (int64_t)1 << 30 },
		{ 'T', SIZE, (int64_t)1 << 40 },
	};
	char *end;
	long long value;
	int64_t factor = 1;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (end == text || errno != 0 || value <= 0)
		return false;
	for (size_t i = 0; *end != '\0' && i < sizeof units / sizeof *units; i++) {
		if (units[i].kind == kind && units[i].letter == *end && end[1] == '\0') {
			factor = units[i].factor;
			end++;
		}
	}
	if (*end != '\0' || __builtin_mul_overflow(value, factor, &value))
		return false;
	/* The servers count nanoseconds. */
	if (kind == DURATION && value > INT64_MAX / 1000000000)
		return false;
	*out = value;
	return kind != COUNT || value <= 5;
}

static enum ctrace_status pair_take(const char *text, size_t size, struct ct_nats_address *out,
				    char error[CT_NATS_ERROR_SIZE])
{
	const char *equals = memchr(text, '=', size);
	size_t name_size = equals != NULL ? (size_t)(equals - text) : size;
	char value[CT_NATS_TEXT];

	if (equals == NULL)
		return refuse(error, "\"%.*s\" in the address has no value; expected KEY=VALUE",
			      (int)size, text);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		char *member = (char *)out + keys[i].at;

		if (strlen(keys[i].name) != name_size || memcmp(keys[i].name, text, name_size) != 0)
			continue;
		if (!text_store(value, sizeof value, equals + 1, size - name_size - 1) ||
		    (keys[i].kind != TEXT &&
		     !number_store((int64_t *)(void *)member, keys[i].kind, value)))
			return refuse(error, "%s in the address has \"%.*s\"; expected %s",
				      keys[i].name, (int)(size - name_size - 1), equals + 1,
				      keys[i].expected);
		if (keys[i].kind == TEXT)
			memcpy(member, value, sizeof value);
		return CTRACE_OK;
	}
	(void)refuse(error, "the address has no key \"%.*s\"; expected one of", (int)name_size,
		     text);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		size_t used = strlen(error);

		(void)snprintf(error + used, CT_NATS_ERROR_SIZE - used, "%s %s", i > 0 ? "," : "",
			       keys[i].name);
	}
	return CTRACE_SYNTAX_ERROR;
}

/* "h1:4222,h2" becomes "nats://h1:4222,nats://h2"; what is before an @ is of all. */
static bool servers_store(struct ct_nats_address *out, const char *hosts, size_t size)
{
	const char *at_sign = memchr(hosts, '@', size);
	size_t login_size = at_sign != NULL ? (size_t)(at_sign + 1 - hosts) : 0;
	const char *login = hosts, *end = hosts + size;
	size_t used = 0;

	for (hosts += login_size; hosts < end;) {
		const char *comma = memchr(hosts, ',', (size_t)(end - hosts));
		const char *host_end = comma != NULL ? comma : end;
		int written =
			snprintf(out->servers + used, sizeof out->servers - used, "%s%s%.*s%.*s",
				 used > 0 ? "," : "", out->uses_tls ? "tls://" : "nats://",
				 (int)login_size, login, (int)(host_end - hosts), hosts);

		if (host_end == hosts || written < 0 ||
		    (size_t)written >= sizeof out->servers - used)
			return false;
		used += (size_t)written;
		hosts = host_end + 1;
	}
	return used > 0;
}

enum ctrace_status ct_nats_address_parse(const char *text, bool needs_stream,
					 struct ct_nats_address *out,
					 char error[CT_NATS_ERROR_SIZE])
{
	static const char expected[] =
		"expected nats://HOST[:PORT][,HOST...]/STREAM[?KEY=VALUE&...]";
	bool uses_tls = strncmp(text, "tls://", 6) == 0;
	const char *hosts = text + (uses_tls ? 6 : 7);
	const char *slash, *question;
	char shown[CT_NATS_ERROR_SIZE / 2];
	bool has_stream;

	*out = (struct ct_nats_address){
		.uses_tls = uses_tls,
		.subject = "ctrace",
		.host = "*",
		.job = "*",
		.replicas = 1,
	};
	ct_nats_shown(shown, sizeof shown, text);
	if (!uses_tls && strncmp(text, "nats://", 7) != 0)
		return refuse(error, "\"%s\" is no address of a stream; %s", text, expected);
	slash = hosts + strcspn(hosts, "/?");
	has_stream = slash[0] == '/' && slash[1] != '\0' && slash[1] != '?';
	if (!has_stream && needs_stream)
		return refuse(error, "\"%s\" names no stream; %s", shown, expected);
	question = strchr(slash, '?');
	if (!servers_store(out, hosts, (size_t)(slash - hosts)))
		return refuse(error, "\"%.*s\" names no server; %s", (int)(slash - text), text,
			      expected);
	if (has_stream &&
	    (!text_store(out->stream, sizeof out->stream, slash + 1,
			 question != NULL ? (size_t)(question - slash - 1) : strlen(slash + 1)) ||
	     strpbrk(out->stream, ".*> \t/\\") != NULL))
		return refuse(error, "\"%s\" is no name of a stream; it has no . * > / or blank",
			      slash + 1);
	while (question != NULL && question[1] != '\0') {
		const char *pair = question + 1;
		enum ctrace_status status;

		question = strchr(pair, '&');
		status =
			pair_take(pair, question != NULL ? (size_t)(question - pair) : strlen(pair),
				  out, error);
		if (status != CTRACE_OK)
			return status;
	}
	return CTRACE_OK;
}

void ct_nats_token(char *out, size_t size, const char *text)
{
	size_t at = 0;

	for (; *text != '\0' && at + 1 < size; text++) {
		unsigned char byte = (unsigned char)*text;

		out[at++] = byte <= ' ' || byte >= 127 || strchr(".*>", byte) != NULL ? '_'
										      : (char)byte;
	}
	if (at == 0 && size > 1)
		out[at++] = '_';
	out[at] = '\0';
}
