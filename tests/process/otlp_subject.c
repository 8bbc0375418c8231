/*
 * otlp_subject.c - a traced program for otlp.py: does what each line of its input says.
 *
 *     levels     an event of each level: ids 100 to 104
 *     items      an event, id 200, with an item of each type
 *     record     an event, id 300, with a COBOL record
 *     spans N    N times a span (10 and 11) with a span (20 and 21) within it
 *     count N    N events, id 1, with a running number
 *     flush      delivers everything, and prints "ok" or the status
 *     child N    N events, id 1, of a forked child, which ends; prints its number
 *     openssl    uses OpenSSL, which then ends with the program
 *     exit       ends at once, without a flush
 *     kill       kills itself
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/ctrace.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ctrace_tracer tracer = CTRACE_TRACER("OTLP.TEST");

static void trace_items(void)
{
	static const char bytes[] = { 1, 2, (char)0xFF };

	CTRACE(&tracer, CTRACE_INFO, 200, CTRACE_U32(173), CTRACE_I64(-5), CTRACE_U64(UINT64_MAX),
	       CTRACE_STR("my\tprog"), CTRACE_TEXT("a\0b\xFF", 4), CTRACE_BIN(bytes, sizeof bytes),
	       CTRACE_ADDR((void *)(uintptr_t)0x7FFC0010), CTRACE_STR("gr\xC3\xBC\xC3\x9F"));
}

static void trace_span(unsigned long number)
{
	CTRACE(&tracer, CTRACE_INFO, 10, CTRACE_U64(number), CTRACE_STR("outer"));
	CTRACE(&tracer, CTRACE_DEBUG, 20, CTRACE_STR("inner"));
	CTRACE(&tracer, CTRACE_DEBUG, 1, CTRACE_U64(number));
	CTRACE(&tracer, CTRACE_DEBUG, 21, CTRACE_U32(0));
	CTRACE(&tracer, CTRACE_INFO, 11, CTRACE_U64(number), CTRACE_U32(8));
}

static void use_openssl(void)
{
	void *library = dlopen("libssl.so.3", RTLD_NOW | RTLD_GLOBAL);
	void *symbol = library != NULL ? dlsym(library, "OPENSSL_init_ssl") : NULL;
	int (*init)(uint64_t options, const void *settings);

	memcpy(&init, &symbol, sizeof init);
	(void)printf("%s\n", symbol != NULL && init(0, NULL) == 1 ? "ok" : "missing");
	(void)fflush(stdout);
}

int main(void)
{
	char line[64];
	unsigned long total = 0;

	while (fgets(line, sizeof line, stdin) != NULL) {
		unsigned long count =
			strchr(line, ' ') != NULL ? strtoul(strchr(line, ' '), NULL, 10) : 1;

		if (strncmp(line, "levels", 6) == 0)
			for (uint32_t level = 0; level < CTRACE_LEVEL_COUNT; level++)
				CTRACE(&tracer, level, 100 + level, CTRACE_U32(level));
		else if (strncmp(line, "items", 5) == 0)
			trace_items();
		else if (strncmp(line, "record", 6) == 0)
			CTRACE(&tracer, CTRACE_INFO, 300,
			       CTRACE_BIN("000042ADA LOVELACE  0012345", 27));
		else if (strncmp(line, "spans", 5) == 0)
			for (unsigned long i = 0; i < count; i++)
				trace_span(i);
		else if (strncmp(line, "count", 5) == 0)
			for (unsigned long i = 0; i < count; i++)
				CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(total++));
		else if (strncmp(line, "openssl", 7) == 0)
			use_openssl();
		else if (strncmp(line, "child", 5) == 0) {
			pid_t child = fork();

			for (unsigned long i = 0; child == 0 && i < count; i++)
				CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U64(i));
			if (child == 0)
				exit(0);
			(void)waitpid(child, NULL, 0);
			(void)printf("%d\n", (int)child);
			(void)fflush(stdout);
		} else if (strncmp(line, "flush", 5) == 0) {
			enum ctrace_status status = ctrace_flush(30000);

			(void)puts(status == CTRACE_OK ? "ok" : ctrace_status_name(status));
			(void)fflush(stdout);
		} else if (strncmp(line, "exit", 4) == 0)
			return 0;
		else if (strncmp(line, "kill", 4) == 0)
			(void)raise(SIGKILL);
	}
	return 0;
}
