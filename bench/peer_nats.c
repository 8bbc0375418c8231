/*
 * peer_nats.c - the least that a forwarder can do: the bytes of files, in messages of a size, to a
 * stream.
 *
 * peer_nats ADDRESS SUBJECT SIZE UNDER_WAY FILE... - publishes with js_PublishMsgAsync, waits for
 * the last acknowledgement, and prints the seconds from the first message on.  No metadata, no
 * note, no check of packets.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int failed;

static double now(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void refused(jsCtx *context, jsPubAckErr *error, void *user)
{
	(void)context;
	(void)error;
	(void)user;
	__atomic_store_n(&failed, 1, __ATOMIC_RELAXED);
}

static void require(natsStatus status, const char *what)
{
	if (status == NATS_OK)
		return;
	(void)fprintf(stderr, "peer_nats: %s: %s\n", what, natsStatus_GetText(status));
	exit(2);
}

static void file_publish(jsCtx *context, const char *subject, const char *path, char *bytes,
			 size_t size)
{
	FILE *file = fopen(path, "re");
	size_t got;

	if (file == NULL) {
		perror(path);
		exit(2);
	}
	while ((got = fread(bytes, 1, size, file)) > 0) {
		natsMsg *message = NULL;

		require(natsMsg_Create(&message, subject, NULL, bytes, (int)got), "message");
		require(js_PublishMsgAsync(context, &message, NULL), "publish");
		natsMsg_Destroy(message);
	}
	(void)fclose(file);
}

int main(int argc, char **argv)
{
	natsConnection *connection = NULL;
	jsCtx *context = NULL;
	jsOptions options;
	size_t size = argc > 5 ? strtoul(argv[3], NULL, 10) : 0;
	char *bytes = malloc(size + 1);
	double begun;

	if (argc < 6 || bytes == NULL) {
		(void)fprintf(stderr, "usage: peer_nats ADDRESS SUBJECT SIZE UNDER_WAY FILE...\n");
		return 2;
	}
	require(natsConnection_ConnectTo(&connection, argv[1]), argv[1]);
	(void)jsOptions_Init(&options);
	options.PublishAsync.MaxPending = strtol(argv[4], NULL, 10);
	options.PublishAsync.ErrHandler = refused;
	require(natsConnection_JetStream(&context, connection, &options), "JetStream");
	begun = now();
	for (char **path = argv + 5; *path != NULL; path++)
		file_publish(context, argv[2], *path, bytes, size);
	require(js_PublishAsyncComplete(context, NULL), "acknowledgements");
	printf("%.6f\n", now() - begun);
	free(bytes);
	return failed;
}
