/*
 * ctf_fixture.h - what the tests of the COBOL-callable face share: a text file as destination, and
 * names at the end of a page.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CTF_FIXTURE_H
#define CTF_FIXTURE_H

#include <ctrace/ctrace.h>
#include <mfctf.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES(text) ((const cobuns8_t *)(text))

__attribute__((unused)) static void configure(const char *line)
{
	assert_int_equal(ctrace_configure(line), CTRACE_OK);
}

/* Everything traced comes to out.log as "COMPONENT EVENT LEVEL items". */
__attribute__((unused)) static int set_up_text_file(void **state)
{
	(void)state;
	configure("mftrace.dest = textfile");
	configure("mftrace.emitter.textfile#file = out.log");
	configure("mftrace.emitter.textfile#format = $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)");
	configure("mftrace.level = info");
	return 0;
}

/* The last line of out.log; "" when it has no record yet. */
__attribute__((unused)) static const char *last_line(void)
{
	static char line[3 << 20];
	static char last[3 << 20];
	FILE *file;

	last[0] = 0;
	assert_int_equal(ctrace_flush(10000), CTRACE_OK);
	file = fopen("out.log", "r");
	if (file == NULL)
		return last;
	while (fgets(line, sizeof(line), file) != NULL) {
		line[strcspn(line, "\n")] = 0;
		if (line[0] != '#')
			strcpy(last, line);
	}
	fclose(file);
	return last;
}

/* A copy that ends where memory ends: whoever reads one byte more dies. */
__attribute__((unused)) static cobuns8_t *at_page_end(const void *bytes, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(pages != MAP_FAILED && size <= page);
	assert_int_equal(munmap(pages + page, page), 0);
	return memcpy(pages + page - size, bytes, size);
}

__attribute__((unused)) static cbl_x4_comp5_t tracer(const char *name)
{
	cbl_x4_comp5_t handle = 0;

	assert_int_equal(CBL_CTF_TRACER_GET(CTF_FLAG_COMP_NAME_NULL_TERM, BYTES(name), &handle),
			 CTF_RET_SUCCESS);
	return handle;
}

#endif
