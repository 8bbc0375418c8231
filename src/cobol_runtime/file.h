/*
 * file.h - the files of a COBOL program, between file.c and known_file.c.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_COBOL_RUNTIME_FILE_H
#define CT_COBOL_RUNTIME_FILE_H

#include "cobol_runtime/cobol_runtime.h"
#include "cobol_runtime/encoded.h"

#include <stdio.h>

#define CT_DESCRIPTORS 1024 /* higher ones are ctrace's own, or not looked at */

/* Which descriptors are open, and the inodes of their files. */
struct ct_descriptors {
	uint64_t open[CT_DESCRIPTORS / 64];
	uint64_t inodes[CT_DESCRIPTORS]; /* of those that are open */
};

#define CT_SELECT_SIZE 64 /* of a longer name its beginning is kept */
#define CT_PATH_SIZE 256  /* of a longer path its end */

/* What is known of a file since it was opened. */
struct ct_known_file {
	struct ct_known_file *next; /* of the same bucket */
	const cob_file *file;       /* NULL: none */
	uint32_t generation;        /* of the properties that is_on was read from */
	bool is_on;                 /* file:NAME */
	uint16_t select_size;
	uint16_t path_size;
	/* the SELECT name and the path, encoded */
	unsigned char names[CT_ENCODED_SIZE(CT_SELECT_SIZE) + CT_ENCODED_SIZE(CT_PATH_SIZE)];
};

_Static_assert(sizeof(((struct ct_known_file *)0)->names) >= CT_ENCODED_LEAST,
	       "whole pieces are copied");

static inline struct ct_name ct_file_select(const struct ct_known_file *known)
{
	return (struct ct_name){ (const char *)known->names + 2, known->select_size };
}

static inline struct ct_name ct_file_path(const struct ct_known_file *known)
{
	return (struct ct_name){ (const char *)known->names + 4 + known->select_size,
				 known->path_size };
}

static inline size_t ct_file_names_size(const struct ct_known_file *known)
{
	return CT_ENCODED_SIZE(known->select_size) + CT_ENCODED_SIZE(known->path_size);
}

/* ---- file.c */

/* Notes where the clocks stand, so that the first statement has a duration. */
void ct_file_init(void);

/* ---- known_file.c */

/* Never NULL: a file that is not known has its SELECT name, and no path. */
const struct ct_known_file *ct_file_known(const cob_file *file);
/* Are events of this file wanted?  NULL: of COMMIT and ROLLBACK. */
bool ct_file_is_on(const cob_file *file);
/* Finds out which file of the system an OPEN has opened: for an indexed file, one that was not open
 * before.  `before` is not read for another. */
void ct_file_opened(const cob_file *file, const struct ct_descriptors *before);
/* Stores the path of a descriptor.  False: the kernel does not report it. */
bool ct_file_path_read(struct ct_known_file *known, int fd);
void ct_file_remove(const cob_file *file);
void ct_descriptors_read(struct ct_descriptors *out);

#endif
