/*
 * request.c - requests to other machines and their answers, as JSON.
 *
 * Both come from elsewhere: a responder takes only words of the verbs below, and the sender prints
 * an answer as it prints other text of processes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/hosts/request.h"

#include <ctype.h>
#include <jansson.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/base.h"
#include "session/message.h"
#include "session/right.h"

#define WORD_SIZE 4096u
#define HOST_MAX 255u

#define TARGET_OPTIONS "--job=GLOB, --pid=PID, --asid=HEX, --timeout=SECONDS, --json or --all"

#define NONE CT_RIGHT_OTHER

/* The verbs for other machines. */
static const struct verb {
	const char *name;
	size_t asks;                /* words at most of a request that changes nothing; 0: none */
	enum ct_right show, change; /* which it needs */
	const char *options;        /* that are taken */
} verbs[] = {
	{ "list", REQUEST_WORDS, CT_RIGHT_LIST, NONE, "--pid=PID, --json or --all" },
	{ "stats", 1, CT_RIGHT_STATS, CT_RIGHT_STATS_PATH, TARGET_OPTIONS },
	{ "level", 2, CT_RIGHT_LEVEL_SHOW, CT_RIGHT_LEVEL, TARGET_OPTIONS },
	{ "dest", 2, CT_RIGHT_DEST_SHOW, CT_RIGHT_DEST, TARGET_OPTIONS },
	{ "prop", 3, CT_RIGHT_PROPERTY_SHOW, CT_RIGHT_PROPERTY, TARGET_OPTIONS },
	{ "flush", 0, NONE, CT_RIGHT_FLUSH, TARGET_OPTIONS },
	{ "rotate", 0, NONE, CT_RIGHT_ROTATE, TARGET_OPTIONS },
	{ "reload", 0, NONE, CT_RIGHT_RELOAD, TARGET_OPTIONS },
	{ "op", 0, CT_RIGHT_DISPLAY, CT_RIGHT_OPERATE, TARGET_OPTIONS },
};

/* The words of a request beside options. */
struct plain {
	size_t count;       /* of the verb too */
	bool names_emitter; /* prop emitter:NAME */
	bool displays;      /* all commands of op do */
};

static enum ct_right words_right(const struct verb *verb, const struct plain *plain)
{
	bool asks = plain->count <= verb->asks;

	if (verb->change == CT_RIGHT_OPERATE)
		return plain->displays && plain->count > 1 ? verb->show : verb->change;
	if (verb->change == CT_RIGHT_PROPERTY && plain->names_emitter)
		return asks ? CT_RIGHT_EMITTER_SHOW : CT_RIGHT_EMITTER;
	if (verb->change == CT_RIGHT_RELOAD && plain->count > 1)
		return CT_RIGHT_RELOAD_PATH;
	return asks ? verb->show : verb->change;
}

/* D TRACE and DISPLAY TRACE display; all other commands of an operator change something. */
static bool command_displays(const char *command)
{
	size_t size = strspn(command, " ");

	command += size;
	size = strcspn(command, " ");
	return (size == 1 && strncasecmp(command, "D", 1) == 0) ||
	       (size == 7 && strncasecmp(command, "DISPLAY", 7) == 0);
}

/* ROUTE would reach other machines with the rights of the responder. */
static bool command_routes(const char *command)
{
	size_t size;

	command += strspn(command, " ");
	size = strcspn(command, " ");
	return (size == 2 && strncasecmp(command, "RO", 2) == 0) ||
	       (size == 5 && strncasecmp(command, "ROUTE", 5) == 0);
}

/* An option may have its value in the next word, so only forms with "=" or a letter are taken. */
static bool option_is_taken(const char *options, const char *word)
{
	size_t size = strcspn(word, "=");
	const char *at;

	if (strcmp(word, "-j") == 0 || strcmp(word, "-a") == 0)
		return true;
	if (size < 3 || word[1] != '-')
		return false;
	size += word[size] == '=';
	at = memmem(options, strlen(options), word, size);
	return at != NULL && (at[size - 1] == '=' || strchr(" ,", at[size]) != NULL);
}

static enum request_kind refuse(char why[REQUEST_WHY], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static enum request_kind refuse(char why[REQUEST_WHY], const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(why, REQUEST_WHY, format, arguments);
	va_end(arguments);
	return REQUEST_REFUSED;
}

enum request_kind request_kind_of(size_t count, char *const *words, char why[REQUEST_WHY])
{
	struct plain plain = { .displays = true };
	enum ct_right right;
	size_t verb = 0;

	while (verb < sizeof verbs / sizeof *verbs &&
	       (count == 0 || strcmp(verbs[verb].name, words[0]) != 0))
		verb++;
	if (verb == sizeof verbs / sizeof *verbs)
		return refuse(why,
			      "\"%.64s\" is not for other machines; expected list, stats, level, "
			      "dest, prop, flush, rotate, reload or op",
			      count > 0 ? words[0] : "");
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && words[i][0] == '-') {
			if (!option_is_taken(verbs[verb].options, words[i]))
				return refuse(
					why,
					"\"%.64s\" of %s is not for other machines; expected %s",
					words[i], words[0], verbs[verb].options);
			continue;
		}
		plain.count++;
		plain.names_emitter |= i > 0 && strncasecmp(words[i], "emitter:", 8) == 0;
		if (i == 0 || verbs[verb].change != CT_RIGHT_OPERATE)
			continue;
		if (command_routes(words[i]))
			return refuse(
				why, "ROUTE in a command for another machine is not carried out; "
				     "expected one ROUTE with all machines, ROUTE (h1,h2),command");
		plain.displays &= command_displays(words[i]);
	}
	right = words_right(&verbs[verb], &plain);
	if (ct_right_has(right, CT_PARTY_HOST_DISPLAY))
		return REQUEST_DISPLAY;
	if (ct_right_has(right, CT_PARTY_HOST))
		return REQUEST_COMMAND;
	return refuse(why, "%s is not for other machines; %s", ct_right_name(right),
		      ct_right_advice(right));
}

void request_party_take(void)
{
	const char *text = ct_os_environment(REQUEST_PARTY);
	const char *sender = text != NULL ? strchr(text, ' ') : NULL;

	if (sender == NULL)
		return;
	ct_message_set_party(strncmp(text, REQUEST_AS_COMMAND " ", sizeof REQUEST_AS_COMMAND) == 0
				     ? CT_PARTY_HOST
				     : CT_PARTY_HOST_DISPLAY,
			     sender + 1);
	(void)unsetenv(REQUEST_PARTY);
}

const char *host_name_fault(const char *name)
{
	static const char expected[] =
		"expected 1 to 255 letters, digits, points, hyphens and underlines";
	size_t size = strlen(name);

	if (strcasecmp(name, "ALL") == 0)
		return "it is the word for all machines";
	if (size == 0 || size > HOST_MAX)
		return expected;
	for (size_t i = 0; i < size; i++) {
		unsigned char byte = (unsigned char)name[i];

		if (byte < 128 && isalnum(byte) == 0 && strchr("._-", byte) == NULL)
			return expected;
	}
	return NULL;
}

char *request_encode(size_t count, char *const *words)
{
	const struct passwd *user = getpwuid(geteuid());
	json_t *list = json_array();
	json_t *request = json_object();
	char *text = NULL, host[HOST_MAX + 1] = "";

	(void)gethostname(host, sizeof host - 1);

	for (size_t i = 0; i < count; i++)
		(void)json_array_append_new(list, json_string(words[i]));
	if (json_object_set_new(request, "words", list) == 0 &&
	    json_object_set_new(request, "user",
				json_sprintf("%s@%s", user != NULL ? user->pw_name : "", host)) ==
		    0 &&
	    json_array_size(list) == count)
		text = json_dumps(request, JSON_COMPACT);
	json_decref(request);
	return text;
}

bool request_decode(const char *data, size_t size, struct request *out)
{
	json_t *json = json_loadb(data, size, 0, NULL);
	const json_t *list = json_object_get(json, "words");
	const char *user = json_string_value(json_object_get(json, "user"));

	*out = (struct request){ .json = json,
				 .user = (char *)(uintptr_t)(user != NULL ? user : "") };
	out->count = json_array_size(list);
	if (out->count == 0 || out->count > REQUEST_WORDS)
		return false;
	for (size_t i = 0; i < out->count; i++) {
		const char *word = json_string_value(json_array_get(list, i));

		if (word == NULL || strlen(word) >= WORD_SIZE)
			return false;
		out->words[i] = (char *)(uintptr_t)word;
	}
	return true;
}

void request_fini(struct request *request)
{
	json_decref(request->json);
}

/* JSON has only UTF-8. */
static json_t *text_of(const char *text, size_t size)
{
	json_t *json = json_stringn(text, size);
	char *plain;

	if (json != NULL)
		return json;
	plain = malloc(size + 1);
	for (size_t i = 0; plain != NULL && i < size; i++) {
		unsigned char byte = (unsigned char)text[i];

		plain[i] = byte < 128 ? (char)byte : '?';
	}
	json = plain != NULL ? json_stringn(plain, size) : NULL;
	free(plain);
	return json;
}

char *answer_encode(int status, const char *out, size_t out_size, const char *err, size_t err_size)
{
	json_t *answer = json_object();
	char *text = NULL;

	if (json_object_set_new(answer, "status", json_integer(status)) == 0 &&
	    json_object_set_new(answer, "out", text_of(out, out_size)) == 0 &&
	    json_object_set_new(answer, "err", text_of(err, err_size)) == 0)
		text = json_dumps(answer, JSON_COMPACT);
	json_decref(answer);
	return text;
}

bool answer_decode(const char *data, size_t size, struct answer *out)
{
	json_t *json = json_loadb(data, size, 0, NULL);
	const json_t *status = json_object_get(json, "status");
	json_int_t value = json_is_integer(status) ? json_integer_value(status) : -1;

	*out = (struct answer){
		.status = (int)value,
		.out = json_string_value(json_object_get(json, "out")),
		.err = json_string_value(json_object_get(json, "err")),
		.json = json,
	};
	/* An exit status: another number would lose its upper bits, and be a success. */
	return out->out != NULL && out->err != NULL && value >= 0 && value <= UINT8_MAX;
}

void answer_fini(struct answer *answer)
{
	json_decref(answer->json);
}
