/*
 * kvload.c - a client of kvserver: loads it with pairs over several connections, and checks what it
 * reads back.
 *
 *     cc -O2 -o kvload kvload.c -pthread
 *     ./kvload kv.socket 4 <pairs              each line a key, a tab, a value; keys without
 * blanks, each once
 *     ./kvload kv.socket say 'TRACE DISPLAY'   says each line that it is given, and prints the
 * answers
 *
 * Look first at load(): each connection puts what it gets of the input, and then reads back what
 * its neighbour has put.  Status 0: all is there; 1: it is not; 2: the command line.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MAX_CONNECTIONS 16

struct pair {
	struct pair *next;
	char *value; /* in `key`, behind its terminator */
	char key[];
};

static struct connection {
	pthread_t thread;
	FILE *to, *from;
	struct pair *pairs;
	unsigned long put, read, wrong;
} connections[MAX_CONNECTIONS];
static unsigned connection_count;
static pthread_barrier_t all_put;
static pthread_mutex_t input = PTHREAD_MUTEX_INITIALIZER;

static void die(const char *what)
{
	fprintf(stderr, "kvload: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void connect_to(const char *path, struct connection *connection)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		die(path);
	connection->from = fdopen(fd, "r");
	connection->to = fdopen(dup(fd), "w");
	if (connection->from == NULL || connection->to == NULL)
		die(path);
}

/* Says a line and returns the answer without its newline; the caller's until free(). */
static char *ask(struct connection *connection, const char *verb, const char *key,
		 const char *value)
{
	char *answer = NULL;
	size_t size = 0;

	fprintf(connection->to, "%s%s%s%s%s\n", verb, *key ? " " : "", key, *value ? " " : "",
		value);
	if (fflush(connection->to) != 0 || getline(&answer, &size, connection->from) < 0)
		die("the server is gone");
	answer[strcspn(answer, "\n")] = '\0';
	return answer;
}

/* The next pair of the input, or NULL at its end. */
static struct pair *next_pair(void)
{
	struct pair *pair = NULL;
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	pthread_mutex_lock(&input);
	length = getline(&line, &size, stdin);
	pthread_mutex_unlock(&input);
	if (length > 0) {
		line[strcspn(line, "\n")] = '\0';
		pair = malloc(sizeof(*pair) + (size_t)length + 1);
		if (pair == NULL)
			die("the input");
		strcpy(pair->key, line);
		pair->value = pair->key + strcspn(pair->key, "\t");
		if (*pair->value != '\0')
			*pair->value++ = '\0';
	}
	free(line);
	return pair;
}

static void expect(struct connection *connection, const struct pair *pair, char *answer,
		   const char *verb, const char *value)
{
	size_t size = strlen(verb);

	if (strncmp(answer, verb, size) != 0 || strcmp(answer + size, value) != 0) {
		connection->wrong++;
		fprintf(stderr, "kvload: %s: answered \"%.200s\", expected \"%s%.200s\"\n",
			pair->key, answer, verb, value);
	}
	free(answer);
}

static void *load(void *argument)
{
	struct connection *connection = argument;
	const struct connection *neighbour =
		&connections[(connection - connections + 1) % connection_count];

	for (struct pair *pair; (pair = next_pair()) != NULL; connection->put++) {
		expect(connection, pair, ask(connection, "PUT", pair->key, pair->value), "OK", "");
		pair->next = connection->pairs;
		connection->pairs = pair;
	}
	pthread_barrier_wait(&all_put);
	for (const struct pair *pair = neighbour->pairs; pair != NULL;
	     pair = pair->next, connection->read++)
		expect(connection, pair, ask(connection, "GET", pair->key, ""), "VALUE ",
		       pair->value);
	return NULL;
}

static int load_all(const char *path)
{
	struct connection sum = { 0 };

	pthread_barrier_init(&all_put, NULL, connection_count);
	for (unsigned i = 0; i < connection_count; i++)
		connect_to(path, &connections[i]);
	for (unsigned i = 0; i < connection_count; i++)
		if ((errno = pthread_create(&connections[i].thread, NULL, load, &connections[i])) !=
		    0)
			die("cannot start a thread");
	for (unsigned i = 0; i < connection_count; i++) {
		pthread_join(connections[i].thread, NULL);
		sum.put += connections[i].put;
		sum.read += connections[i].read;
		sum.wrong += connections[i].wrong;
	}
	printf("%u connections: %lu put, %lu read back, %lu wrong\n", connection_count, sum.put,
	       sum.read, sum.wrong);
	return sum.wrong == 0 ? 0 : 1;
}

static int say(struct connection *connection, char **lines)
{
	for (; *lines != NULL; lines++) {
		char *answer = ask(connection, *lines, "", "");

		puts(answer);
		free(answer);
	}
	return ferror(stdout) != 0;
}

int main(int argc, char **argv)
{
	if (argc > 3 && strcmp(argv[2], "say") == 0) {
		connect_to(argv[1], &connections[0]);
		return say(&connections[0], argv + 3);
	}
	connection_count = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	if (connection_count == 0 || connection_count > MAX_CONNECTIONS) {
		fprintf(stderr,
			"usage: %s SOCKET CONNECTIONS <PAIRS   1 to %d\n       %s SOCKET say LINE...\n",
			argv[0], MAX_CONNECTIONS, argv[0]);
		return 2;
	}
	return load_all(argv[1]);
}
