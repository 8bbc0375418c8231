/*
 * lib/emit/spool.h - the spool: a directory with the traces that wait for a forwarder.
 *
 *     <spool>/<program>.<pid>.<start>.<number>.ctb/     a BINFILE trace: a segment
 *         .address     where it is to be sent: the address, and the id of the boot
 *         .ended       its process has ended, and nothing more is written to it
 *     <spool>/.forwarder     locked by the forwarder that serves the spool
 *
 * The names begin with a dot where viewers of Common Trace Format must not see the files.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_EMIT_SPOOL_H
#define CT_EMIT_SPOOL_H

#include "base/private_directory.h"
#include "lib/emit/emit.h"

#include <sys/stat.h>

#define CT_SPOOL_SHARED "/var/spool/ctrace"
#define CT_SPOOL_ADDRESS ".address"
#define CT_SPOOL_ENDED ".ended"
#define CT_SPOOL_LOCK ".forwarder"
#define CT_SPOOL_ADDRESS_SIZE 4096u
#define CT_SPOOL_BOOT_SIZE 40u
#define CT_SPOOL_PATH_SIZE 3800u /* leaves room for the names in it */
/* directories of a writer's data set between the spool and its traces */
#define CT_SPOOL_DEPTH 2u
#define CT_SPOOL_TRACES 16384u /* a spool with so many is full */

/* Gives the directory that the environment and the machine name, which may be shared by users.
 * Returns false, with errno, when there is none; out then is the path for a message. */
bool ct_spool_root(char out[CTRACE_EMITTER_PATH_SIZE]);
/* Makes the spool of this user at or in the directory, and completes the path as ct_private_make()
 * does when the directory is shared.  Returns DENIED when another user could change what is in it.
 * Of a failure out_why completes a sentence; "": errno has it. */
enum ctrace_status ct_spool_make(char path[CTRACE_EMITTER_PATH_SIZE],
				 char out_why[CT_PRIVATE_WHY_SIZE]) CT_MUST_USE;
/* May others than this user write to the directory, or own it? */
bool ct_spool_is_shared(const struct stat *info);
/* Is it a directory that only this user may write to? */
bool ct_spool_is_own(const struct stat *info);

struct ct_spool_state {
	uint64_t bytes;  /* of blocks */
	uint32_t traces; /* at most CT_SPOOL_TRACES are looked at */
};
/* Returns false when the directory cannot be read. */
bool ct_spool_measure(const char *path, struct ct_spool_state *out);
/* Stores the size of the directory's file system, and what is free of it for this user; UINT64_MAX
 * where that is unknown. */
void ct_spool_disk(const char *path, uint64_t *out_size, uint64_t *out_free);
/* Does a forwarder serve it now? */
bool ct_spool_is_served(const char *path);

/* Writes the address of a trace, whole or not at all, for its owner alone: it may have a password.
 */
enum ctrace_status ct_spool_put_address(const char *trace, const char *address) CT_MUST_USE;
/* Returns false when the trace has no address, or no whole one. */
bool ct_spool_get_address(const char *trace, char out_address[CT_SPOOL_ADDRESS_SIZE],
			  char out_boot[CT_SPOOL_BOOT_SIZE]);
/* The id of this boot, as text; "": unknown. */
void ct_spool_boot(char out[CT_SPOOL_BOOT_SIZE]);

#endif
