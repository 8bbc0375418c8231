/*
 * writer/writer.h - the external writer, which moves events from traced processes to data sets.
 *
 * A trace that is connected to a writer has rings of its own.  The writer maps them and consumes
 * them as the process's own consumer thread would, with the same code: it peeks, writes and
 * consumes, and commits with one store into the process's session.  The head of a ring names its
 * consumer (`held_by`); only that consumer hands the ring over.
 *
 *     process        writer_link.c     connects to the writer's socket and passes its directory's
 *                                      descriptor; when the writer dies, the consumer thread
 *                                      finishes the writer's rings
 *     writer         writer_server.c   listens at <run directory>/writer/<NAME>, answers operators
 *                    ring_consumer.c   maps sessions and rings; one thread consumes them
 *                    trcout.c          the TRCOUTs: directories, extents, WRAP and NOWRAP
 *                    procedure.c       the procedure file
 *
 * The process's side is lib/component/writer_link.c; this directory is part of the tool.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_WRITER_H
#define CT_WRITER_H

#include "base/private_directory.h"
#include "lib/consumer/consumer.h"
#include "session/message.h"
#include "session/writer_state.h"

#define CT_TRCOUT_LIMIT 16u

/* ---- procedure.c: the procedure file NAME in a directory of CTRACE_PROCLIB (colons between;
 * /etc/ctrace/proclib when it is not set) */
enum ct_writer_mode { CT_WRITER_WRAP = 0, CT_WRITER_NOWRAP = 1 };
struct ct_trcout_spec {
	/* absolute; $(NAME) and $(HOST) are expanded.  Of a stream: in the spool, once
	 * ct_procedure_use_spool() has found that */
	char path[4096];
	char address[4096]; /* of the stream: nats://HOST/STREAM...; "": the data set stays here */
	uint64_t primary;   /* bytes */
	/* bytes of each of up to 15 further extents; 0: none.  Only with NOWRAP */
	uint64_t secondary;
	bool is_rewritten; /* DISP=OLD: what an earlier run has written is removed */
};
struct ct_procedure {
	char name[CTRACE_MAX_NAME + 1];
	enum ct_writer_mode mode;
	bool compress; /* COMPRESS=ZSTD: closed streams are compressed */
	uint32_t trcout_count;
	/* in order of their numbers, which may have gaps */
	struct ct_trcout_spec trcout[CT_TRCOUT_LIMIT];
	uint32_t number[CT_TRCOUT_LIMIT];
};
/*
 * Lines in any case of letters: blank, "#..." or "* ..." comments, and
 *
 *     TRCOUT01 PATH=/var/trace/kvs1 PRIMARY=50M SECONDARY=10M
 *                                     01 to 16; sizes nnnK, nnnM, nnnG; SECONDARY may be missing;
 *                                     DISP=MOD (the default) keeps data of an earlier run, DISP=OLD
 *                                     removes them
 *     TRCOUT02 PATH=nats://host/TRACES PRIMARY=50M
 *                                     a stream; the sizes say how much may wait for ctrace forward
 *     MODE=WRAP | MODE=NOWRAP         WRAP by default; an operator's word takes precedence
 *     COMPRESS=ZSTD | COMPRESS=NO
 *
 * Each error is reported with line and column.  The result is then FAILURE, and *out is invalid.
 */
enum ctrace_status ct_procedure_parse(const char *name, const char *text, size_t size,
				      struct ct_procedure *out, ct_diagnose *diagnose,
				      void *user) CT_MUST_USE;
/* Reads the first procedure file of that name.  NOT_FOUND; DENIED: other users may write to it
 * or its directory; OS_ERROR.  out_path: its path, or the path that was tried. */
enum ctrace_status ct_procedure_read(const char *name, struct ct_buf *out_text,
				     char out_path[4096]) CT_MUST_USE;
/* Finds the spool, and sets the path of each TRCOUT that has an address.  On any status but OK
 * out_path is the path that cannot be used, and errno is set, or out_why as ct_spool_make() has it.
 */
enum ctrace_status ct_procedure_use_spool(struct ct_procedure *procedure, char out_path[4096],
					  char out_why[CT_PRIVATE_WHY_SIZE]) CT_MUST_USE;
/* 1 to 7 of A-Z 0-9 @ # $, no digit first; any case */
bool ct_writer_name_is_valid(const char *name, size_t size);

/* ---- writer_server.c: the whole writer, until it is stopped.  Exit status of the tool. */
struct ct_writer_options {
	const struct ct_procedure *procedure;
	const char *run_directory;
	/* Called once when the writer is ready; message: for each operator message ("ITT110I
	 * ..."). */
	void (*ready)(void *user);
	void (*message)(const char *text, void *user);
	void *user;
	const int *stop_fd; /* readable: end as with WTRSTOP,FLUSH (SIGTERM, SIGINT by signalfd) */
};
int ct_writer_run(const struct ct_writer_options *options);
/* Returns true if a writer of this name answers in the directory, a path with a slash, or listens
 * there for seconds without an answer.  One that is being killed still accepts a connection, and
 * then closes it. */
bool ct_writer_is_alive(const char *directory, const char *name);

#endif
