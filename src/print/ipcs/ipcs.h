/*
 * print/ipcs/ipcs.h - traces as IPCS shows them: CTRACE, QUERY, MERGE and COPYTRC as commands, and
 * what they print.
 *
 *     ipcs_scan.c      a command's text as words and values, and what is wrong with it first
 *     ipcs_values.c    times, lists, names
 *     ipcs_parse.c     subcommands; ipcs_operand.c: their operands (ipcs_operand.h)
 *     ipcs_text.c      a command as text again
 *     ipcs_message.c   the messages ITT10001I to ITT10019I
 *     ipcs_select.c    is an event meant
 *     ipcs_query.c     which traces there are, and how QUERY lists them
 *     ipcs_tally.c     how often each entry was traced, and how far apart; the tables of TALLY
 *     ipcs_run.c       one command, or several merged, over readers; its exits
 *     ipcs_report.c    the messages in a listing (ipcs_listing.h)
 *     ipcs_copy.c      COPYTRC: events into a new trace
 *     print_ipcs.c     titles, headings and entries
 *
 * A trace is a tracer: APPXYZ.SUBA is COMP(APPXYZ) SUB((SUBA)).  Layouts and operands are those of
 * docs/reading.md chapter 7.  One thread; memory does not grow with the trace.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_PRINT_IPCS_H
#define CT_PRINT_IPCS_H

#include "base/hash_table.h"
#include "base/scan.h"
#include "print/print.h"
#include "read/read.h"
#include "read/reader_exit.h"

/* ---- ipcs_message.c */
enum ct_ipcs_message {
	CT_ITT_NONE,
	CT_ITT10001I,
	CT_ITT10003I,
	CT_ITT10004I,
	CT_ITT10005I,
	CT_ITT10006I,
	CT_ITT10007I,
	CT_ITT10008I,
	CT_ITT10009I,
	CT_ITT10010I,
	CT_ITT10011I,
	CT_ITT10012I,
	CT_ITT10013I,
	CT_ITT10014I,
	CT_ITT10015I,
	CT_ITT10016I,
	CT_ITT10017I,
	CT_ITT10018I,
	CT_ITT10019I,
	CT_ITT_COUNT
};
struct ct_ipcs_message_row {
	const char *id;
	const char *text; /* {} is where something is put in */
	const char *more; /* cause, and what to do */
};
const struct ct_ipcs_message_row *ct_ipcs_message_row(enum ct_ipcs_message id);
/* Appends "ITT10015I No trace COMP(X) ...", without a line end.  There is one value for each {};
 * values are terminated, and escaped here. */
void ct_ipcs_message_add(struct ct_buf *out, enum ct_ipcs_message id, const char *const *values);
/* Appends third-party text as part of a line: escaped, except quotation marks. */
void ct_ipcs_add_plain(struct ct_buf *out, const char *text, size_t size);

/* ---- ipcs_parse.c: a subcommand, with the values of its operands */
#define CT_IPCS_LINE 65536u /* bytes, with continuation lines */
#define CT_IPCS_MERGED 16u  /* subcommands between MERGE and MERGEEND */
#define CT_IPCS_SUBNAMES 5u
#define CT_IPCS_LISTED 256u /* values of a list */

enum ct_ipcs_verb {
	CT_IPCS_CTRACE,
	CT_IPCS_QUERY, /* CTRACE QUERY */
	CT_IPCS_MERGE,
	CT_IPCS_MERGEEND,
	CT_IPCS_COPYTRC,
	CT_IPCS_SETDEF,
	CT_IPCS_STATUS, /* what dumps say of themselves */
	CT_IPCS_HELP,
	CT_IPCS_END,
	CT_IPCS_FRAME /* IPCS, PROFILE, DROPDUMP: of a batch job, without effect */
};
/* as ctrace_exit_call.report */
enum ct_ipcs_report { CT_IPCS_SHORT, CT_IPCS_SUMMARY, CT_IPCS_FULL, CT_IPCS_TALLY };

struct ct_ipcs_range {
	uint32_t first, last;
};
struct ct_ipcs_ranges {
	struct ct_ipcs_range at[CT_IPCS_LISTED];
	uint32_t count;
};
/* Words of the user's; terminated. */
struct ct_ipcs_words {
	char **at;
	uint32_t count;
};
/* What a word names. */
enum ct_ipcs_source { CT_IPCS_BY_PATH, CT_IPCS_BY_DDNAME };

struct ct_ipcs_command {
	enum ct_ipcs_verb verb;
	enum ct_ipcs_report report;
	/* in capitals if that is a name of component trace, else as written; "": none (QUERY
	 * alone) */
	char component[CTRACE_MAX_COMPONENT + 1];
	char sub[CTRACE_MAX_COMPONENT + 1];     /* elements separated by dots; "" */
	char sysname[CTRACE_MAX_COMPONENT + 1]; /* "" */
	bool is_local;
	bool has_start, has_stop;
	uint64_t start_us, stop_us; /* since 1970; both times are included */
	bool is_exception;
	uint32_t limit; /* 0: none */
	struct ct_ipcs_ranges ids;
	struct ct_ipcs_ranges asids;
	struct ct_ipcs_words jobs;
	bool is_all;                            /* address spaces: ALL was given */
	char user_exit[CTRACE_MAX_EMITTER + 1]; /* "" */
	char *options;                          /* or NULL: none */
	/* The operands that locate the trace. */
	struct ct_ipcs_words sources;
	enum ct_ipcs_source source;
	/* ACTIVE, MAIN or STORAGE: the undelivered events of processes */
	bool is_active;
	bool is_list; /* SETDEF LIST */
	/* COPYTRC */
	struct ct_ipcs_words out; /* one, as it was given */
	enum ct_ipcs_source out_kind;
	/* HELP */
	char topic[32]; /* "" */
};
/* Parses one command.  After an error *diagnostic describes it, with a message's id when
 * the error has one.  *out must be freed in either case.  The text need not be terminated; line
 * and column are those of the text. */
enum ctrace_status ct_ipcs_parse(const char *text, size_t size, struct ct_ipcs_command *out,
				 enum ct_ipcs_message *out_message,
				 struct ct_diagnostic *out_diagnostic) CT_MUST_USE;
void ct_ipcs_command_fini(struct ct_ipcs_command *command);
/* Returns true if the word begins with the name of a subcommand. */
bool ct_ipcs_is_command(const char *word);
/* Returns true if the word may be an abbreviated or misspelt subcommand: a parenthesis follows a
 * word that is like such a name. */
bool ct_ipcs_may_be_command(const char *word);
/* Returns how many bytes of the text the first command takes, with its line ends and
 * continuation lines. */
size_t ct_ipcs_command_size(const char *text, size_t size);
/* Returns true if the text has only blanks and comments. */
bool ct_ipcs_is_empty(const char *text, size_t size);

/* ---- ipcs_text.c: "CTRACE comp(appxyz) sub((suba)) full".  The text parses to the same
 * command. */
void ct_ipcs_text_add(struct ct_buf *out, const struct ct_ipcs_command *command);

/* ---- ipcs_scan.c, ipcs_values.c: one reading of one command */
struct ct_ipcs_text {
	const char *original;
	char *text; /* the command without comments and continuations */
	/* for each byte of `text`, and for its end, its position in the original */
	uint32_t *places;
};
/* Starts a scan that keeps its first diagnostic; the code is a message's number.  Returns false
 * after an error, which is reported, or without memory.  ct_ipcs_scan_end() is needed in either
 * case: it frees the text, and sets line and column of the diagnostic to those in the original. */
bool ct_ipcs_scan_start(struct ct_parser *scan, struct ct_ipcs_text *text, struct ct_span original,
			struct ct_diagnostic *diagnostic);
void ct_ipcs_scan_end(struct ct_parser *scan, struct ct_ipcs_text *text);
void ct_ipcs_scan_blanks(struct ct_parser *scan);         /* commas count */
struct ct_span ct_ipcs_scan_word(struct ct_parser *scan); /* of a keyword */
/* Returns the text up to the parenthesis that closes this one, without blanks around it, and
 * moves the scan behind it.  at NULL: an error was reported. */
struct ct_span ct_ipcs_scan_group(struct ct_parser *scan, const char *expected);
/* Returns the next value in a group: up to a comma or blank outside of quotation marks and
 * parentheses.  Size 0: there is none left. */
struct ct_span ct_ipcs_next_value(struct ct_span *group);
/* Returns the value without quotation marks around it, and with '' as one.  Returns NULL without
 * memory. */
char *ct_ipcs_unquote(struct ct_span value);
/* `what` follows the word in
 * the message, as "is no number"; with word.size 0 it stands alone. */
void ct_ipcs_diagnose(struct ct_parser *scan, enum ct_ipcs_message message, struct ct_span word,
		      const char *what, const char *expected);

struct ct_ipcs_time { /* as written: the time zone is known only at the command's end */
	bool is_given;
	struct ct_span word;
	int year, month, day, hour, minute, second, microsecond;
};
void ct_ipcs_read_time(struct ct_parser *scan, struct ct_span group, struct ct_ipcs_time *out);
bool ct_ipcs_time_us(const struct ct_ipcs_time *time_bound, bool is_local, uint64_t *out_us);
/* Reads hexadecimal numbers up to `most`, and ranges first:last of them. */
void ct_ipcs_read_ranges(struct ct_parser *scan, struct ct_span group, uint32_t least,
			 uint32_t most, struct ct_ipcs_ranges *out);
void ct_ipcs_read_words(struct ct_parser *scan, struct ct_span group, size_t longest,
			struct ct_ipcs_words *out);
void ct_ipcs_words_fini(struct ct_ipcs_words *words);
void ct_ipcs_read_limit(struct ct_parser *scan, struct ct_span group, uint32_t *out);
/* Reads COMP: a name, in the form in which names are compared. */
void ct_ipcs_read_component(struct ct_parser *scan, struct ct_span group,
			    char out[CTRACE_MAX_COMPONENT + 1]);
/* Reads SUB; one more pair of parentheses is allowed. */
void ct_ipcs_read_sub(struct ct_parser *scan, struct ct_span group,
		      char out[CTRACE_MAX_COMPONENT + 1]);
/* Returns the group without one pair of parentheses around all of it. */
struct ct_span ct_ipcs_inner(struct ct_span group);

/* ---- ipcs_select.c */
/* Returns true if component and sub select the trace of this name; both may have * and ?.  sub
 * may be "". */
bool ct_ipcs_names(const char *component, const char *sub, const char *name, size_t name_size);
/* Returns the size of the name's COMP: APPXYZ of APPXYZ.SUBA. */
size_t ct_ipcs_head_size(const char *name, size_t size);
enum ct_ipcs_choice {
	CT_IPCS_CHOSEN,
	CT_IPCS_OTHER_TRACE,
	CT_IPCS_OTHER_TIME,
	CT_IPCS_OTHER,         /* id, address space, no exception */
	CT_IPCS_NO_EXCEPTIONS, /* its component has no such marks; so of ASID and JOBNAME: */
	CT_IPCS_NO_ASID,
	CT_IPCS_NO_JOBNAME
};
enum ct_ipcs_choice ct_ipcs_select(const struct ct_ipcs_command *command,
				   const struct ct_read_event *event);
/* SYSNAME */
bool ct_ipcs_is_of_system(const struct ct_ipcs_command *command,
			  const struct ct_source_process *source_process);
/* Copies the system's name as the column shows it, terminated. */
void ct_ipcs_sysname(const char *host, char out[9]);

/* ---- ipcs_query.c: the names of all traces.  Past CT_IPCS_TRACES names, traces are only
 * counted, in `others`. */
#define CT_IPCS_TRACES 65536u
struct ct_ipcs_trace {
	char *name;
	size_t name_size;
	uint64_t count;
	uint64_t first_ns, last_ns;
};
struct ct_ipcs_traces {
	/* in order of appearance, until ct_ipcs_traces_sort() */
	struct ct_ipcs_trace *at;
	uint32_t count;
	struct ct_hash_table table; /* hash table by name, until the names are sorted */
	uint32_t last;              /* found last */
	uint64_t others;
	bool has_failed; /* no memory */
};
void ct_ipcs_traces_fini(struct ct_ipcs_traces *traces);
void ct_ipcs_traces_note(struct ct_ipcs_traces *traces, const struct ctrace_event *traced);
/* Adds a trace that may have no entries. */
void ct_ipcs_traces_name(struct ct_ipcs_traces *traces, const char *name, size_t size);
void ct_ipcs_traces_sort(struct ct_ipcs_traces *traces); /* by name; nothing is noted behind it */
/* Returns true if this trace is a sublevel, at any depth, of the selected one. */
bool ct_ipcs_is_below(const struct ct_ipcs_command *command, const struct ct_ipcs_trace *trace);

/* ---- ipcs_tally.c: by entry id.  Bounded likewise. */
#define CT_IPCS_TALLIES 65536u
#define CT_IPCS_DECADES 9u /* intervals below 1 us, 10 us, ..., 10 s, and above */
struct ct_ipcs_tally {
	uint32_t event_id;
	uint32_t component_hash;
	char mnemonic[CT_MNEMONIC_SIZE];
	char *description; /* or NULL */
	uint64_t count;
	uint64_t last_ns;
	uint64_t least_ns, most_ns; /* intervals; of count - 1 */
	double sum_ns;
	uint64_t decades[CT_IPCS_DECADES];
};
struct ct_ipcs_tallies {
	struct ct_ipcs_tally *at;
	uint32_t count;
	struct ct_hash_table table; /* by id and component, until they are sorted */
	uint64_t events;
	uint64_t others; /* of ids past the bound */
	uint64_t first_ns, last_ns;
	bool has_failed;
};
void ct_ipcs_tallies_fini(struct ct_ipcs_tallies *tallies); /* and begins again */
void ct_ipcs_tallies_note(struct ct_ipcs_tallies *tallies, const struct ct_read_event *event);
void ct_ipcs_tallies_sort(struct ct_ipcs_tallies *tallies); /* by id */

/* ---- print_ipcs.c, and the tables of ipcs_tally.c and ipcs_query.c: text only, no decision */
struct ct_ipcs_layout {
	bool has_sysname;
	bool is_local;
	unsigned tag;    /* of merged traces, from 1; 0: none */
	unsigned indent; /* of all lines: room for tags */
};
/* Prints the entry's "MNEMONIC": of the catalogue, else of the trace, else the id.  Cut to 8. */
void ct_ipcs_print_mnemonic(struct ct_buf *out, const struct ct_read_event *event);
const char *ct_ipcs_description(const struct ct_read_event *event);
/* Prints COMPONENT TRACE FULL FORMAT, SYSNAME, COMP and SUB. */
void ct_ipcs_print_title(struct ct_buf *out, const struct ct_ipcs_command *command);
void ct_ipcs_print_heading(struct ct_buf *out, const struct ct_ipcs_layout *layout);
/* Returns the day of mm/dd/yyyy as a number, which changes when the date does. */
int64_t ct_ipcs_day(const struct ct_ipcs_layout *layout, uint64_t time_ns);
void ct_ipcs_print_date(struct ct_buf *out, const struct ct_ipcs_layout *layout, uint64_t time_ns);
/* Prints the line that each entry has. */
void ct_ipcs_print_entry(struct ct_buf *out, const struct ct_ipcs_layout *layout,
			 const struct ct_read_event *event);
/* Prints the duration of the span that the entry ends, if it ends one. */
void ct_ipcs_print_elapsed(struct ct_buf *out, const struct ct_ipcs_layout *layout,
			   const struct ct_read_event *event);
/* Prints the lines below: all data in hexadecimal; key fields as the catalogue defines them. */
void ct_ipcs_print_full(struct ct_buf *out, const struct ct_ipcs_layout *layout,
			const struct ct_read_event *event);
void ct_ipcs_print_summary(struct ct_buf *out, const struct ct_ipcs_layout *layout,
			   const struct ct_read_event *event);
/* Prints a line of an exit. */
void ct_ipcs_print_line(struct ct_buf *out, const struct ct_ipcs_layout *layout, const char *text,
			size_t size);
void ct_ipcs_print_tally(struct ct_buf *out, const struct ct_ipcs_tallies *tallies);
/* A trace as a running process has defined it. */
struct ct_ipcs_definition {
	const char *name;
	const char *jobname;
	uint32_t asid;
	uint64_t buffer_bytes; /* 0: none of its own */
	const char *options;
	const char *minops;
};
/* Prints the definition's buffer size and options, and its process when there are several. */
void ct_ipcs_print_definition(struct ct_buf *out, const struct ct_ipcs_definition *definition,
			      bool is_one_of_several);
/* Prints COMP(X)SUBNAME((Y)); START and STOP when has_times and the trace has entries. */
void ct_ipcs_print_query_title(struct ct_buf *out);
void ct_ipcs_print_query(struct ct_buf *out, const struct ct_ipcs_trace *trace, bool has_times,
			 bool is_local);
/* "11/14/2023 22:13:20.000001 GMT" */
void ct_ipcs_print_time(struct ct_buf *out, uint64_t time_ns, bool is_local);

/* ---- ipcs_run.c */
typedef void ct_ipcs_write(const char *text, size_t size, void *user);
/* A command and its input.  `report` and `user` of the reader's options are ct_ipcs_note and the
 * job. */
#define CT_IPCS_GAPS 64u
struct ct_ipcs_gap {
	uint64_t from_ns; /* reported before the first entry after this time */
	uint64_t packets, events;
	char path[256];
};
struct ct_ipcs_job {
	const struct ct_ipcs_command *command;
	struct ct_reader *reader;
	ct_read_report *also; /* also called for every note; or NULL */
	void *also_user;
	/* set by ct_ipcs_note() */
	struct ct_ipcs_gap gaps[CT_IPCS_GAPS];
	uint32_t gap_count;
	struct ct_ipcs_gap more_gaps; /* the total of losses beyond CT_IPCS_GAPS */
};
void ct_ipcs_note(const struct ct_read_note *note, void *user); /* ipcs_report.c */
struct ct_ipcs_output {
	ct_ipcs_write *write;
	void *user;
	const char *linklist; /* directories of exits; or NULL */
	/* The readers return only events within START and STOP.  When nothing is shown, the
	 * reason is unknown and not reported. */
	bool is_narrowed;
	/* called for each event: true stops the command; or NULL */
	bool (*is_stopped)(void *user);
	/* QUERY: the definitions of the processes that are read */
	const struct ct_ipcs_definition *definitions;
	uint32_t definition_count;
};
/* Runs CTRACE or QUERY (one job), or CTRACEs merged.  Messages go into the listing.  Returns
 * NOT_FOUND when there was nothing to show; the listing has the reason.  *out_shown: entries. */
enum ctrace_status ct_ipcs_run(struct ct_ipcs_job *const *jobs, size_t count, bool is_merged,
			       const struct ct_ipcs_output *output,
			       uint64_t *out_shown) CT_MUST_USE;

/*
 * ---- ipcs_copy.c: COPYTRC.  Writes the selected events to a new directory at path, as one BINFILE
 * trace for each process, each in time order.  The directory must not exist, or be empty.
 */
struct ct_ipcs_copied {
	uint64_t events;
	uint32_t processes;
};
enum ctrace_status ct_ipcs_copy(struct ct_ipcs_job *job, const char *path,
				struct ct_ipcs_copied *out) CT_MUST_USE;

#endif
