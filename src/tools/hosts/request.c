/*
 * request.c - requests to other machines and their answers, as JSON.
 *
 * Both come from elsewhere: a responder takes only words of the verbs below, and the sender prints
 * an answer as it prints other text of processes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/hosts/request.h"

#include <jansson.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define WORD_SIZE 4096u

/* The verbs, and with how many words beside options they only display. */
static const struct {
	const char *name;
	size_t displays; /* words, of the verb and behind it */
} verbs[] = {
	{ "list", REQUEST_WORDS },
	{ "stats", 1 },
	{ "level", 2 },
	{ "dest", 2 },
	{ "prop", 3 },
	{ "flush", 0 },
	{ "rotate", 0 },
	{ "reload", 0 },
	{ "op", 0 },
};

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
static bool option_is_taken(const char *word)
{
	static const char *const taken[] = { "--json", "--all", "-j", "-a" };

	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
		if (strcmp(word, taken[i]) == 0)
			return true;
	return strncmp(word, "--job=", 6) == 0 || strncmp(word, "--pid=", 6) == 0 ||
	       strncmp(word, "--asid=", 7) == 0 || strncmp(word, "--timeout=", 10) == 0;
}

enum request_kind request_kind_of(size_t count, char *const *words)
{
	size_t plain = 0, verb = 0;
	bool displays = true;

	while (verb < sizeof verbs / sizeof *verbs &&
	       (count == 0 || strcmp(verbs[verb].name, words[0]) != 0))
		verb++;
	if (verb == sizeof verbs / sizeof *verbs)
		return REQUEST_REFUSED;
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && words[i][0] == '-') {
			if (!option_is_taken(words[i]))
				return REQUEST_REFUSED;
			continue;
		}
		plain++;
		if (i == 0 || strcmp(words[0], "op") != 0)
			continue;
		if (command_routes(words[i]))
			return REQUEST_REFUSED;
		displays = displays && command_displays(words[i]);
	}
	if (strcmp(words[0], "op") == 0)
		return displays && plain > 1 ? REQUEST_DISPLAY : REQUEST_COMMAND;
	/* Paths of traces are another machine's business. */
	if (strcmp(words[0], "stats") == 0 && plain > 1)
		return REQUEST_REFUSED;
	return plain <= verbs[verb].displays ? REQUEST_DISPLAY : REQUEST_COMMAND;
}

char *request_encode(size_t count, char *const *words)
{
	const struct passwd *user = getpwuid(geteuid());
	json_t *list = json_array();
	json_t *request = json_object();
	char *text = NULL;

	for (size_t i = 0; i < count; i++)
		(void)json_array_append_new(list, json_string(words[i]));
	if (json_object_set_new(request, "words", list) == 0 &&
	    json_object_set_new(request, "user", json_string(user != NULL ? user->pw_name : "")) ==
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

	*out = (struct answer){
		.status = (int)json_integer_value(json_object_get(json, "status")),
		.out = json_string_value(json_object_get(json, "out")),
		.err = json_string_value(json_object_get(json, "err")),
		.json = json,
	};
	return out->out != NULL && out->err != NULL;
}

void answer_fini(struct answer *answer)
{
	json_decref(answer->json);
}
