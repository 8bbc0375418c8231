/*
 * nats_address.c - the address of a stream: nats://HOST/STREAM?KEY=VALUE.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "nats_parts.h"

#include "lib/emit/emit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGE_MIN 60 /* seconds: readers of a stream that keeps less come too late */
#define BYTES_MIN (1 << 20)
#define PORT_MAX 65535u
/* more than two of the intervals in which servers write to their disks, of 2 minutes by default */
#define LINGER_SECONDS 300

/* PAUSE: as DURATION, and 0 too; ROOM: as SIZE, of any size. */
enum kind { TEXT, NAME, COUNT, DURATION, SIZE, PAUSE, ROOM };

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
	KEY("host", NAME, host, "one name; --host takes patterns"),
	KEY("job", NAME, job, "one name; --job takes patterns"),
	KEY("credentials", TEXT, credentials, "a file"),
	KEY("ca", TEXT, ca, "a file"),
	KEY("certificate", TEXT, certificate, "a file"),
	KEY("key", TEXT, key, "a file"),
	KEY("inbox", TEXT, inbox, "the user's word in the subjects of answers, _INBOX.WORD.>"),
	KEY("replicas", COUNT, replicas, "1 to 5"),
	KEY("maxage", DURATION, max_age,
	    "a number and s, m, h or d, such as 7d; at least 1m, at most 106751d"),
	KEY("maxbytes", SIZE, max_bytes,
	    "bytes, or a number and K, M, G or T, such as 10G; at least 1M"),
	KEY("linger", PAUSE, linger, "a number and s, m, h or d, such as 5m; 0s for none"),
	KEY("spoolsize", ROOM, spool_size, "bytes, or a number and K, M, G or T, such as 10G"),
#undef KEY
};

static const char expected[] = "expected nats://HOST[:PORT][,HOST...]/STREAM[?KEY=VALUE&...]";

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

/* A time has a unit.  A number of bytes may have none, as in ctrace.spool.size. */
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
		{ 'k', SIZE, 1 << 10 },
		{ 'm', SIZE, 1 << 20 },
		{ 'g', SIZE, (int64_t)1 << 30 },
		{ 't', SIZE, (int64_t)1 << 40 },
	};
	enum kind unit_kind = kind == PAUSE ? DURATION : kind == ROOM ? SIZE : kind;
	char *end;
	long long value;
	int64_t factor = kind == DURATION || kind == PAUSE ? 0 : 1;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (end == text || errno != 0 || value < 0)
		return false;
	for (size_t i = 0; *end != '\0' && i < sizeof units / sizeof *units; i++) {
		if (units[i].kind == unit_kind && end[1] == '\0' &&
		    units[i].letter == (unit_kind == SIZE ? *end | 0x20 : *end)) {
			factor = units[i].factor;
			end++;
		}
	}
	if (*end != '\0' || __builtin_mul_overflow(value, factor, &value))
		return false;
	/* The servers count nanoseconds. */
	if ((kind == DURATION || kind == PAUSE) && value > INT64_MAX / 1000000000)
		return false;
	if ((kind == DURATION && value < AGE_MIN) || (kind != PAUSE && value == 0))
		return false;
	if (kind == SIZE && value < BYTES_MIN)
		return false;
	*out = value;
	return kind != COUNT || value <= 5;
}

/* Is the key before this pair?  `keys_begin` is behind the question mark. */
static bool key_is_repeated(const char *keys_begin, const char *pair, size_t name_size)
{
	for (const char *at = keys_begin; at < pair; at = strchr(at, '&') + 1)
		if (strncmp(at, pair, name_size + 1) == 0) /* with the = */
			return true;
	return false;
}

/* A pattern, a list, or nothing. */
static bool name_is_one(const char *name)
{
	return name[0] != '\0' && (strcmp(name, "*") == 0 || strpbrk(name, "*?[],") == NULL);
}

static enum ctrace_status pair_take(const char *keys_begin, const char *text, size_t size,
				    struct ct_nats_address *out, char error[CT_NATS_ERROR_SIZE])
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
		if (key_is_repeated(keys_begin, text, name_size))
			return refuse(error, "the address has %s= twice; expected it once",
				      keys[i].name);
		if (!text_store(value, sizeof value, equals + 1, size - name_size - 1) ||
		    (keys[i].kind == NAME && !name_is_one(value)) ||
		    (keys[i].kind > NAME &&
		     !number_store((int64_t *)(void *)member, keys[i].kind, value)))
			return refuse(error, "%s in the address has \"%.*s\"; expected %s",
				      keys[i].name, (int)(size - name_size - 1), equals + 1,
				      keys[i].expected);
		if (keys[i].kind <= NAME)
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

/* HOST, HOST:PORT, [ADDRESS], [ADDRESS]:PORT */
static bool port_is_good(const char *host, size_t size)
{
	const char *colon = memrchr(host, ':', size);
	size_t digits = colon != NULL ? (size_t)(host + size - colon) - 1 : 0;
	unsigned port = 0;

	if (colon == NULL || memchr(colon, ']', digits + 1) != NULL)
		return true;
	for (size_t i = 1; i <= digits && port <= PORT_MAX; i++) {
		if (colon[i] < '0' || colon[i] > '9')
			return false;
		port = port * 10 + (unsigned)(colon[i] - '0');
	}
	return port > 0 && port <= PORT_MAX;
}

/* "h1:4222,h2" becomes "nats://h1:4222,nats://h2"; what is before an @ is of all. */
static enum ctrace_status servers_store(struct ct_nats_address *out, const char *hosts, size_t size,
					char error[CT_NATS_ERROR_SIZE])
{
	const char *at_sign = memchr(hosts, '@', size);
	size_t login_size = at_sign != NULL ? (size_t)(at_sign + 1 - hosts) : 0;
	const char *login = hosts, *end = hosts + size;
	size_t used = 0;

	for (hosts += login_size; hosts < end;) {
		const char *comma = memchr(hosts, ',', (size_t)(end - hosts));
		const char *host_end = comma != NULL ? comma : end;
		const char *sign = memrchr(hosts, '@', (size_t)(host_end - hosts));
		const char *shown = sign != NULL ? sign + 1 : hosts;
		int written;

		if (!port_is_good(hosts, (size_t)(host_end - hosts)))
			return refuse(error,
				      "\"%.*s\" in the address has no port; expected 1 to 65535 "
				      "behind the colon",
				      (int)(host_end - shown), shown);
		written = snprintf(out->servers + used, sizeof out->servers - used, "%s%s%.*s%.*s",
				   used > 0 ? "," : "", out->uses_tls ? "tls://" : "nats://",
				   (int)login_size, login, (int)(host_end - hosts), hosts);

		if (host_end == hosts || written < 0 ||
		    (size_t)written >= sizeof out->servers - used)
			return refuse(error,
				      "a server in the address has no name, or they are too long; "
				      "%s",
				      expected);
		used += (size_t)written;
		hosts = host_end + 1;
	}
	return used > 0 ? CTRACE_OK : refuse(error, "the address names no server; %s", expected);
}

/* The user of user:password@, unless inbox= is given; a token without a colon is not a name. */
static void inbox_set(struct ct_nats_address *out, const char *hosts, size_t size)
{
	const char *sign = memchr(hosts, '@', size);
	const char *colon = sign != NULL ? memchr(hosts, ':', (size_t)(sign - hosts)) : NULL;
	char word[CT_NATS_TEXT];

	if (out->inbox[0] == '\0' && (colon == NULL || !text_store(out->inbox, sizeof out->inbox,
								   hosts, (size_t)(colon - hosts))))
		out->inbox[0] = '\0';
	if (out->inbox[0] == '\0')
		return;
	ct_nats_token(word, sizeof word, out->inbox);
	memcpy(out->inbox, word, sizeof word);
}

enum ctrace_status ct_nats_address_parse(const char *text, bool needs_stream,
					 struct ct_nats_address *out,
					 char error[CT_NATS_ERROR_SIZE])
{
	bool uses_tls = strncmp(text, "tls://", 6) == 0;
	const char *hosts = text + (uses_tls ? 6 : 7);
	const char *slash, *question, *keys_begin;
	enum ctrace_status status;
	char shown[CT_NATS_ERROR_SIZE / 2];
	bool has_stream;

	*out = (struct ct_nats_address){
		.uses_tls = uses_tls,
		.host = "*",
		.job = "*",
		.replicas = 1,
		.linger = LINGER_SECONDS,
		.spool_size = (int64_t)CT_SPOOL_SIZE_DEFAULT,
	};
	ct_address_shown(shown, sizeof shown, text);
	if (!uses_tls && strncmp(text, "nats://", 7) != 0)
		return refuse(error, "\"%s\" is no address of a stream; %s", shown, expected);
	slash = hosts + strcspn(hosts, "/?");
	has_stream = slash[0] == '/' && slash[1] != '\0' && slash[1] != '?';
	if (!has_stream && needs_stream)
		return refuse(error, "\"%s\" names no stream; %s", shown, expected);
	question = strchr(slash, '?');
	status = servers_store(out, hosts, (size_t)(slash - hosts), error);
	if (status != CTRACE_OK)
		return status;
	if (has_stream) {
		size_t size = strcspn(slash + 1, "?");

		if (size >= sizeof out->stream)
			return refuse(error,
				      "the name of the stream has %zu bytes; expected at most %zu",
				      size, sizeof out->stream - 1);
		if (!text_store(out->stream, sizeof out->stream, slash + 1, size) ||
		    strpbrk(out->stream, ".*> \t/\\") != NULL)
			return refuse(error,
				      "\"%.*s\" is no name of a stream; it has no . * > / or blank",
				      (int)size, slash + 1);
	}
	keys_begin = question != NULL ? question + 1 : NULL;
	while (question != NULL && question[1] != '\0') {
		const char *pair = question + 1;

		question = strchr(pair, '&');
		status = pair_take(keys_begin, pair,
				   question != NULL ? (size_t)(question - pair) : strlen(pair), out,
				   error);
		if (status != CTRACE_OK)
			return status;
	}
	inbox_set(out, hosts, (size_t)(slash - hosts));
	/* Whoever names an authority or a certificate does not mean plain text. */
	out->uses_tls |= out->ca[0] != '\0' || out->certificate[0] != '\0' || out->key[0] != '\0';
	out->has_subject = out->subject[0] != '\0';
	if (!out->has_subject)
		memcpy(out->subject, "ctrace", sizeof "ctrace");
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

void ct_nats_host_token(char *out, size_t size, const char *host)
{
	ct_nats_token(out, size, host);
	for (; *out != '\0'; out++)
		*out = *out >= 'A' && *out <= 'Z' ? (char)(*out | 0x20) : *out;
}

void ct_nats_job_token(char *out, size_t size, const char *job)
{
	ct_nats_token(out, size, job);
	for (; *out != '\0'; out++)
		*out = *out >= 'a' && *out <= 'z' ? (char)(*out & ~0x20) : *out;
}
