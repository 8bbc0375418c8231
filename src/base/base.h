/*
 * base/base.h - what every directory may use: growable text, names, arenas, time, and the one door
 * to the operating system.
 *
 * Nothing here knows what tracing is.  Unless a function says otherwise any thread may call it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_BASE_H
#define CT_BASE_H

#include <ctrace/emitter.h>
#include <ctrace/event.h>
#include <ctrace/status.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#define CT_MUST_USE __attribute__((warn_unused_result))
#define CT_PRINTF(a, b) __attribute__((format(printf, a, b)))
#define CT_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CT_ALIGN_UP(n, to) (((n) + (to)-1) & ~((__typeof__(n))(to)-1))
#define CT_CACHE_LINE 64

/* ---- bytes.c: a growable run of bytes.  A failed growth sticks, so one check at the end is
 * enough. */
struct ct_buf {
	char *data; /* not terminated */
	size_t size;
	size_t capacity;
	bool failed; /* an append failed; the bytes before it remain */
};
void ct_buf_init(struct ct_buf *buf);
void ct_buf_fini(struct ct_buf *buf);
/* The same for a buffer whose text went into `out`.  A failure passes on to `out`. */
void ct_buf_fini_into(struct ct_buf *buf, struct ct_buf *out);
void ct_buf_clear(struct ct_buf *buf); /* empties it and resets `failed`; keeps the memory */
/* ct_buf_clear(); also frees the memory when that is more than `kept` bytes */
void ct_buf_trim(struct ct_buf *buf, size_t kept);
bool ct_buf_reserve(struct ct_buf *buf, size_t more); /* room for `more` bytes at data + size */
void ct_buf_add(struct ct_buf *buf, const void *data, size_t size);
void ct_buf_add_char(struct ct_buf *buf, char c);
void ct_buf_add_text(struct ct_buf *buf, const char *text);
void ct_buf_add_format(struct ct_buf *buf, const char *format, ...) CT_PRINTF(2, 3);
/* Reserves `more` bytes and one besides, and returns their address; NULL without memory.  The
 * caller reports the end of what it stored with ct_buf_end(). */
static inline char *ct_buf_room(struct ct_buf *buf, size_t more)
{
	if (__builtin_expect(buf->capacity - buf->size <= more || buf->failed, 0) &&
	    !ct_buf_reserve(buf, more + 1))
		return NULL;
	return buf->data + buf->size;
}
static inline void ct_buf_end(struct ct_buf *buf, const char *end)
{
	buf->size = (size_t)(end - buf->data);
}
/* Appends a text that usually is one character. */
static inline void ct_buf_add_short(struct ct_buf *buf, const char *text, size_t size)
{
	char *at = ct_buf_room(buf, size);

	if (at == NULL)
		return;
	if (size == 1)
		*at = *text;
	else
		memcpy(at, text, size);
	buf->size += size;
}
void ct_buf_add_u64(struct ct_buf *buf, uint64_t value); /* decimal */
void ct_buf_add_i64(struct ct_buf *buf, int64_t value);
void ct_buf_add_hex(struct ct_buf *buf, uint64_t value, unsigned digits, bool upper);
/* terminated; "" when the buffer has failed; valid until the next append */
const char *ct_buf_text(struct ct_buf *buf);
/* Writes digits into memory of the caller's; each function returns the end of the digits. */
#define CT_U64_DIGITS 20u
extern const char ct_digit_pairs[201];                   /* 00 01 02 .. 99 */
static inline char *ct_put_two(char *at, unsigned value) /* below 100, as two digits */
{
	memcpy(at, ct_digit_pairs + (size_t)2 * value, 2);
	return at + 2;
}
/* decimal, at most CT_U64_DIGITS */
char *ct_put_u64(char *at, uint64_t value);
char *ct_put_hex_bytes(char *at, const void *bytes, size_t size); /* two upper-case digits a byte */

/* ---- names.c: names are compared without regard to ASCII case */
uint32_t ct_name_hash(const char *name, size_t size);
bool ct_name_equal(const char *a, size_t a_size, const char *b, size_t b_size);
bool ct_name_is(const char *a, size_t a_size, const char *terminated);
void ct_name_upper(char *text, size_t size); /* in place, ASCII only */
/* Returns the integer of a property value (docs/configuration.md, mftrace.comp).  ON YES Y TRUE
 * ENABLED are 1; OFF NO N FALSE DISABLED are 0.  Decimal or 0x digits, with or without a sign, are
 * their value, or the largest number when 32 bits cannot hold it.  Any other text is 0. */
uint32_t ct_value_number(const char *text, size_t size);
/* Parses "debug" .. "fatal", "none", or a digit 0 to 4.  Returns false for any other text. */
bool ct_level_parse(const char *text, size_t size, uint32_t *out_level);
const char *ct_level_name(uint32_t level); /* "DEBUG" .. "FATAL", "NONE" */

/* ---- escape.c: makes hostile text one harmless line.  Quotes and backslashes get a backslash;
 * Line feed, return and tab become \n \r \t.  Other C0, DEL, C1, bidi controls (U+061C, U+200E-F,
 * U+202A-E, U+2066-9), U+2028/9 and U+FEFF become \u{HEX}; bytes that are not UTF-8 become \xHH. */
void ct_escape_add(struct ct_buf *buf, const void *text, size_t size);
/* Copies a text of printable ASCII that ct_escape_add() leaves as it is, and returns the end of
 * the copy.  Returns NULL when the text has any other byte; the `size` bytes at `at` are
 * undefined then. */
char *ct_escape_put_plain(char *at, const void *text, size_t size);
/* Adds a path as somebody types it into a shell: alone, or as '...', or as $'...' with octal
 * numbers for bytes that cannot be shown. */
void ct_escape_add_typed(struct ct_buf *buf, const char *path);
/* True if ct_escape_add() leaves the whole text as it is. */
bool ct_escape_is_plain(const void *text, size_t size);
/* True if the text has no control code for a terminal.  Quotes and backslashes are harmless. */
bool ct_escape_is_harmless(const void *text, size_t size);

/* Decodes the code point at `at`, before `end`, and returns its length in bytes.  Returns 0 when
 * the bytes are not UTF-8; overlong forms, surrogates and codes beyond U+10FFFF are not. */
size_t ct_utf8_decode(const unsigned char *at, const unsigned char *end, uint32_t *out_code);
/* The bytes, at most `most`, of the longest part of a text that ends with a whole character. */
size_t ct_utf8_fit(const char *text, size_t most);
char *ct_utf8_put(char *to, uint16_t code); /* at most 3 bytes; returns their end */

/* ---- encoding.c: texts of COBOL's machines to and from UTF-8. */
enum ct_encoding {
	CT_ENCODING_ASCII, /* or UTF-8: bytes as they are */
	CT_ENCODING_EBCDIC_037,
	CT_ENCODING_EBCDIC_273,
	CT_ENCODING_EBCDIC_297,
	CT_ENCODING_EBCDIC_500,
	CT_ENCODING_EBCDIC_870,
	CT_ENCODING_EBCDIC_1047,
	CT_ENCODING_EBCDIC_1140,
	CT_ENCODING_EBCDIC_1141,
	CT_ENCODING_LATIN_1,
	CT_ENCODING_LATIN_9,
	CT_ENCODING_CP1252,
	CT_ENCODING_SHIFT_JIS,
	CT_ENCODING_COUNT
};
#define CT_ENCODING_NAMES \
	"ascii, utf-8, ebcdic-037, -273, -297, -500, -870, -1047, -1140 or -1141, latin-1, latin-9, cp1252 or shift-jis"
/* false: no encoding has this name */
bool ct_encoding_parse(const char *text, size_t size, enum ct_encoding *out_encoding);
const char *ct_encoding_name(enum ct_encoding encoding);
bool ct_encoding_is_ebcdic(enum ct_encoding encoding);
/* Gets the encoding's table from iconv, once.  Returns false when iconv has none; texts then stay
 * as they are. iconv loads a module of libc, so the caller holds no lock and is not a thread of
 * ctrace's in a traced process. */
bool ct_encoding_prepare(enum ct_encoding encoding);
bool ct_encoding_is_prepared(enum ct_encoding encoding);
/* Appends the bytes as UTF-8.  A byte that the encoding does not have stays as it is; without a
 * table all bytes do. */
void ct_encoding_add(struct ct_buf *out, enum ct_encoding encoding, const void *bytes, size_t size);
/* The same, escaped as by ct_escape_add(). */
void ct_encoding_add_escaped(struct ct_buf *out, enum ct_encoding encoding, const void *bytes,
			     size_t size);
/* Encodes the next character of a UTF-8 text and moves *at behind it.  Returns the number of bytes
 * in out; 0 when the encoding lacks the character. */
size_t ct_encoding_to(enum ct_encoding encoding, const char **at, const char *end, uint8_t out[2]);

/* ---- span.c: pieces of a text, for parsers */
/* A piece of a text; not terminated. */
struct ct_span {
	const char *at;
	size_t size;
};
struct ct_span ct_span_of(const char *from, const char *to);
bool ct_is_blank(char c);                         /* of ASCII */
struct ct_span ct_span_trim(struct ct_span span); /* without blanks at both ends */
/* Appends at most `limit` bytes of the word, escaped, in quotation marks. */
void ct_span_quote(struct ct_buf *message, struct ct_span word, size_t limit);
#define CT_WORD_SHOWN \
	20u /* bytes of a name or number; its escaped form is at most six times as long */
/* ---- diagnostic.c: the error in a text, for people */
struct ct_diagnostic {
	unsigned line;      /* from 1; 0 for a single line */
	unsigned column;    /* from 1, bytes */
	uint32_t code;      /* the parser's number for it; 0: none */
	char message[200];  /* "unknown level \"inof\"" */
	char expected[256]; /* "none, debug, info, warn, error or fatal"; "": nothing to say */
};
typedef void ct_diagnose(const struct ct_diagnostic *diagnostic, void *user);
/* The pieces of the message `before "word" what (did you mean meant?)`; each may be NULL. */
struct ct_finding {
	struct ct_span word; /* may be any bytes, and empty; its position is the diagnostic's */
	const char *at; /* without a word: its position; ct_diagnostic_set() does not need it */
	const char *before, *what, *meant;
	const char *expected;
	size_t shown; /* bytes of the word; 0: CT_WORD_SHOWN */
	uint32_t code;
};
/* Sets code, message and expected.  No byte of the word that could do harm where the diagnostic is
 * printed gets into it. */
void ct_diagnostic_set(struct ct_diagnostic *out, const struct ct_finding *finding);
/* What printf() needs to print "message; expected words". */
#define CT_DIAGNOSTIC_FORMAT "%s%s%s"
#define CT_DIAGNOSTIC_TEXT(DIAGNOSTIC) \
	(DIAGNOSTIC)->message, (DIAGNOSTIC)->expected[0] != '\0' ? "; expected " : "", \
		(DIAGNOSTIC)->expected

/* ---- suggest.c: returns the word that was probably meant.  NULL when no word has most letters
 * right and at most two wrong. */
const char *ct_suggest(struct ct_span word, const char *const *words, size_t count);
/* Returns the level that was probably meant, also for words of other logging systems: warning,
 * critical, off. with_none: "none" counts as a level. */
const char *ct_suggest_level(struct ct_span word, bool with_none);

/* ---- variable.c: finds the first $(NAME) of a text that is not a variable, and the fault */
enum ct_variable_fault {
	CT_VARIABLE_GOOD,    /* the text has no fault */
	CT_VARIABLE_UNKNOWN, /* no such name */
	/* the end of the text or the next variable comes before the parenthesis */
	CT_VARIABLE_OPEN
};
/* On a fault, *out_name is the name in the text, without `$(` and `)`. */
enum ct_variable_fault ct_variable_find_fault(struct ct_span text, const char *const *names,
					      size_t count, struct ct_span *out_name);

/* ---- glob.c: `*` is any run of characters, `?` any one; a character is a UTF-8 sequence, or one
 * byte that is not UTF-8.  ASCII case does not matter.  Takes at most pattern times text steps,
 * without recursion. */
bool ct_glob_match(const char *pattern, size_t pattern_size, const char *text, size_t text_size);
/* The same for names in levels: * and ? do not match a dot. */
bool ct_glob_match_levels(const char *pattern, size_t pattern_size, const char *text,
			  size_t text_size);

/* ---- memory.c: notes that an allocation of this process has failed.  The tool's output may be
 * incomplete then. */
void ct_memory_note_lack(void);
bool ct_memory_has_lacked(void);
/* Sets the function that runs at the first failure, on the thread that failed.  It must not
 * allocate. */
void ct_memory_on_lack(void (*call)(void));

/* ---- arena.c: memory that is freed only as a whole.  It comes from mmap and never from malloc, so
 * a tracer may register in a signal handler that interrupted malloc.  The caller serialises. */
struct ct_arena {
	unsigned char *at;
	size_t left;
	void *chunks;
};
/* zeroed, 16-byte aligned; NULL without memory */
void *ct_arena_take(struct ct_arena *arena, size_t size);
void ct_arena_fini(struct ct_arena *arena);

/* ---- guard.c: a section of code in which this thread holds, or will take, ctrace's own locks.
 * Sections nest.  From the outermost enter to the outermost leave all signals are blocked and
 * cancellation is off; SIGXFSZ and SIGPIPE that our own output raises in between are discarded.
 * Enter and leave keep errno.  Each costs system calls, so the event path of a thread that has its
 * ring uses neither. */
/* The number of sections that this thread is in.  A signal handler sees a number above 0 only if
 * our own code raised the signal (a fault).  Such a handler takes no lock; a request that needs one
 * is refused and counted. */
extern __thread uint32_t ct_thread_locked __attribute__((tls_model("initial-exec")));
void ct_guard_enter(void);
void ct_guard_leave(void); /* does nothing outside sections */
/* the thread's signal mask; inside a section, the mask before it entered */
void ct_guard_mask(sigset_t *out_mask);
/* in a forked child: leaves all sections of the forking thread */
void ct_guard_reset(void);
/* Called before our own output, which may raise SIGXFSZ or SIGPIPE.  Notes which of them are
 * pending already: those belong to the program.  Does nothing outside sections. */
void ct_guard_output(void);
/*
 * A shield blocks the signals from its begin to its end, so the sections in between make no system
 * calls.  It serves code that enters many sections and has cancellation off.  Shields nest; only
 * the outermost acts.  A lifted shield lets signals through, for the program's code and for slow
 * work. Neither begin nor lift may be called in a section; lift also not on a stack of ctrace's.
 */
struct ct_shield {
	sigset_t mask; /* the thread's mask before the shield; valid in the outermost */
	bool is_outermost;
};
void ct_shield_begin(struct ct_shield *shield);
void ct_shield_end(const struct ct_shield *shield); /* keeps errno */
/* returns the mask for ct_shield_restore(); NULL without a shield.  Keeps errno */
const sigset_t *ct_shield_lift(void) CT_MUST_USE;
void ct_shield_restore(const sigset_t *lifted);
/* For a call that runs routines of the program, under no lock.  Signals may come meanwhile.  A
 * cancellation acts only after the call: in the middle it would leave a transaction or a
 * notification open for ever. ct_cancel_off() returns the state to restore.  Calls nest. */
int ct_cancel_off(void) CT_MUST_USE;
void ct_cancel_restore(const int *state);
/* Cancellation is off for the rest of the block. */
#define CT_CANCEL_OFF() \
	__attribute__((cleanup(ct_cancel_restore), unused)) const int ct_cancel_state_ = \
		ct_cancel_off()
/* Lock enters a section and takes one of these locks; unlock releases it and leaves. */
void ct_guard_lock(pthread_mutex_t *mutex);
/* The same for a lock that a trace call takes.  Returns false, without the lock and outside the
 * section, in a signal handler that would have to wait: the lock's owner may itself wait for what
 * the interrupted code holds.  fork waits for malloc's locks under our locks. */
bool ct_guard_lock_in_trace(pthread_mutex_t *mutex) CT_MUST_USE;
void ct_guard_unlock(pthread_mutex_t *mutex);

/* ---- handler.c */
/* Returns true when a signal handler of the program runs on this thread.  Takes some microseconds,
 * async-signal-safe. */
bool ct_thread_is_in_handler(void);

/* ---- stack.c: calls body on a stack that is large enough for all of ctrace's code, behind a
 * shield and with cancellation off.  It is the caller's where that is large enough, or where there
 * is no memory for another, then without a shield. errno is as body left it.  Calls nest.  Any
 * thread, also in a signal handler, but not in a section. */
void ct_on_own_stack(void (*body)(void *argument), void *argument);

/* ---- clock.c: records carry ticks: of the processor's counter, on x86-64 the invariant TSC where
 * the kernel vouches for it, on aarch64 CNTVCT_EL0; else CLOCK_MONOTONIC nanoseconds. */
enum ct_clock_source { CT_CLOCK_MONOTONIC = 0, CT_CLOCK_COUNTER = 1 };
/* ctrace.clock */
enum ct_clock_setting { CT_CLOCK_AUTO, CT_CLOCK_USE_COUNTER, CT_CLOCK_USE_MONOTONIC };
/* The numbers are in sessions. */
enum ct_clock_reason {
	CT_CLOCK_NOT_KNOWN = 0,
	CT_CLOCK_IS_KERNELS = 1,       /* the kernel's current clock source */
	CT_CLOCK_IS_LISTED = 2,        /* one of its available clock sources */
	CT_CLOCK_IS_COMPUTED = 3,      /* the kernel's clock is computed from it in user space */
	CT_CLOCK_IS_ARCHITECTURES = 4, /* the architecture vouches for it */
	CT_CLOCK_IS_SET = 5,           /* by ctrace.clock */
	CT_CLOCK_NOT_VOUCHED = 6,
	CT_CLOCK_NOT_INVARIANT = 7,
	CT_CLOCK_CANNOT_BE_SET = 8, /* ctrace.clock = counter, without one */
};
struct ct_clock_choice {
	enum ct_clock_source source;
	enum ct_clock_reason reason;
	uint32_t kernel; /* the kernel's clock, a number of clock.c */
};
/* Chooses for the life of the process, before anything is traced.  Without it the first call of
 * ct_clock_source() chooses as CT_CLOCK_AUTO does. */
void ct_clock_choose(enum ct_clock_setting setting);
enum ct_clock_source ct_clock_source(void);
uint32_t ct_clock_why(void); /* reason | kernel << 8, for ct_clock_print() */
/* Prints the clock and the reason: "tsc: the kernel keeps time by it". */
#define CT_CLOCK_TEXT 77u
void ct_clock_print(enum ct_clock_source source, uint32_t why, char out[CT_CLOCK_TEXT]);
/* The choice on x86-64.  is_invariant: the processor calls its TSC invariant.  `directory` has the
 * kernel's files current_clocksource and available_clocksource.  is_computed:
 * ct_clock_is_computed() or a test's. */
struct ct_clock_machine {
	bool is_invariant;
	const char *directory;
	bool (*is_computed)(clockid_t clock);
};
struct ct_clock_choice ct_clock_choose_tsc(enum ct_clock_setting setting,
					   const struct ct_clock_machine *machine);
/* Returns true when clock_gettime() computes this clock in user space, without a system call: a
 * reading then takes less than half of what a system call for the same clock takes. */
bool ct_clock_is_computed(clockid_t clock);
uint64_t ct_clock_ticks(void); /* async-signal-safe */
uint64_t ct_clock_ticks_of(enum ct_clock_source source);
/* ---- vdso.c: CLOCK_MONOTONIC is read by this: the kernel's function in the vDSO, or the system
 * call.  ct_vdso_find() chooses; the first reading calls it. */
typedef int ct_vdso_clock(clockid_t clock, struct timespec *out);
extern ct_vdso_clock *ct_vdso_clock_gettime;
void ct_vdso_find(void);

uint64_t ct_clock_wall_ns(void); /* CLOCK_REALTIME */
/* CLOCK_MONOTONIC; on x86-64 the kernel's, also where a preloaded library has another */
uint64_t ct_clock_mono_ns(void);
/* All clocks, read as close together as possible. */
struct ct_clock_reading {
	uint64_t ticks;
	uint64_t wall_ns;
	uint64_t boot_ns;  /* CLOCK_BOOTTIME, which nobody sets */
	uint64_t width_ns; /* between the first reading and the last */
};
struct ct_clock_reading ct_clock_read(enum ct_clock_source source);

/*
 * ---- sync.c: points, each a pair of ticks and wall clock read together.  They turn a record's
 * ticks into time, also after the death of the process.
 *
 * An epoch ends where ticks and time stop advancing evenly: the wall clock was set, or the ticks
 * were reset, stopped or jumped.  Each epoch has points of its own.  A record is dated by the
 * points of its epoch alone.
 */
#define CT_SYNC_POINTS 256u
#define CT_SYNC_EPOCHS 32u /* the newest are kept */
struct ct_sync_point {
	uint64_t ticks;
	uint64_t wall_ns;
};
struct ct_sync_epoch {
	uint64_t from_ticks, to_ticks; /* of its records */
	/* before its first point: the slope of the epoch before; 0: not known */
	uint64_t slope;
	struct ctrace_clock clock; /* how often the wall clock had been set, and by how much */
	uint32_t points;           /* how many are its own */
	uint32_t reserved;
};
/* The newest line: from the last point on.  Dating a record is one multiplication. */
struct ct_sync_line {
	uint64_t ticks;
	uint64_t wall_ns;
	uint64_t span;  /* how many ticks belong to it */
	uint64_t slope; /* ns in a tick << 56; 0: not known, or time stands still */
};
struct ct_sync {
	uint32_t source; /* enum ct_clock_source */
	uint32_t epoch_count;
	uint32_t point_count;
	uint32_t why; /* ct_clock_why() */
	struct ct_sync_line line;
	struct ct_sync_point latest; /* the last reading of the clocks */
	uint64_t real_ns;
	uint64_t boot_ns;
	uint64_t width_ns;
	uint64_t slope;                              /* of the clocks by then; 0: not known yet */
	struct ct_sync_epoch epochs[CT_SYNC_EPOCHS]; /* oldest first */
	/* of all epochs, oldest first; the older, the farther apart */
	struct ct_sync_point points[CT_SYNC_POINTS];
};
void ct_sync_print_clock(const struct ct_sync *sync, char out[CT_CLOCK_TEXT]);
void ct_sync_start(struct ct_sync *sync); /* takes the first point */
/* Reads the clocks again; the writer only.  dated: the ticks up to which records may have been
 * dated since the last reading, which keep their dates; 0: none after that reading. */
void ct_sync_update(struct ct_sync *sync, uint64_t dated);
uint64_t ct_sync_now(const struct ct_sync *sync); /* the ticks now */
/* Start and update with a reading of the caller's. */
void ct_sync_begin(struct ct_sync *sync, enum ct_clock_source source,
		   const struct ct_clock_reading *now);
void ct_sync_add(struct ct_sync *sync, const struct ct_clock_reading *now, uint64_t dated);
/* copies the used points; bounds the counts */
void ct_sync_copy(const struct ct_sync *sync, struct ct_sync *out);
/* ticks -> ns since 1970; monotonic in ticks within an epoch, also from one reading to the next. */
uint64_t ct_sync_wall_ns(const struct ct_sync *sync, uint64_t ticks);
/* The same, and the history of settings of the wall clock by then, borrowed from sync. */
uint64_t ct_sync_date(const struct ct_sync *sync, uint64_t ticks,
		      const struct ctrace_clock **out_clock);
/* Computes one line through all points since the clock was last set, for viewers that cannot use
 * points. */
void ct_sync_counter(const struct ct_sync *sync, struct ctrace_counter *out);
/* Returns the ticks up to which time advances evenly from `ticks` on, along one line.  UINT64_MAX:
 * to the last point and beyond. */
uint64_t ct_sync_line_end(const struct ct_sync *sync, uint64_t ticks);
/* The inverse: returns the ticks of a time, for events that bring their own time.  Monotonic in
 * time within an epoch.  A time that the clock showed twice belongs to the newer epoch.  Returns 0
 * for a time before ticks began. */
uint64_t ct_sync_ticks(const struct ct_sync *sync, uint64_t wall_ns);

/*
 * The same for readers in other threads and processes.  One writer.  It prepares the slot that is
 * not in force and then puts it in force.  So the slot in force is whole at any time, also while
 * the writer is descheduled and after its death.
 */
struct ct_shared_sync {
	uint32_t version; /* slot[version % 2] is in force */
	uint32_t reserved;
	struct ct_sync slot[2];
};
void ct_shared_sync_start(struct ct_shared_sync *shared);
/* As the two of struct ct_sync. */
void ct_shared_sync_update(struct ct_shared_sync *shared, uint64_t dated);
void ct_shared_sync_add(struct ct_shared_sync *shared, const struct ct_clock_reading *now,
			uint64_t dated);
/* a consistent copy */
void ct_shared_sync_copy(const struct ct_shared_sync *shared, struct ct_sync *out);

/* ---- point.c: named points where a test can hold a thread.  The event path has none: each costs a
 * load and a branch. */
typedef void ct_point_hook(const char *name);
extern ct_point_hook *ct_point_reached;
/* Sets the hook that runs at each point; NULL: none.  Tests only.  Other threads may be at a point
 * meanwhile. */
void ct_point_set(ct_point_hook *hook);
static inline void ct_point(const char *name)
{
	ct_point_hook *hook = __atomic_load_n(&ct_point_reached, __ATOMIC_RELAXED);

	if (__builtin_expect(hook != NULL, 0))
		hook(name);
}

/* ---- os.c, os_open.c, os_thread.c: the one door to the operating system.  Tests make any call
 * behind it fail with ct_os_fail(). */
enum ct_os_call {
	CT_OS_OPEN,
	CT_OS_READ,
	CT_OS_WRITE,
	CT_OS_FSYNC,
	CT_OS_TRUNCATE,
	CT_OS_ALLOCATE,
	CT_OS_MAP,
	CT_OS_RENAME,
	CT_OS_MKDIR,
	CT_OS_THREAD,
	CT_OS_STAT,
	CT_OS_CALL_COUNT
};

/* ---- os.c: calls on what is open */
/* The next calls of this kind, after `skip` that go through, fail with `error` `times` times. Tests
 * only. */
void ct_os_fail(enum ct_os_call call, unsigned skip, unsigned times, int error);
enum ctrace_status ct_os_stat(int fd, struct stat *out_info) CT_MUST_USE;
/* for a link: the link itself */
enum ctrace_status ct_os_stat_at(int directory_fd, const char *path,
				 struct stat *out_info) CT_MUST_USE;
/* writes all bytes or fails */
enum ctrace_status ct_os_write_at(int fd, const void *data, size_t size,
				  uint64_t offset) CT_MUST_USE;
enum ctrace_status ct_os_append(int fd, const void *data, size_t size,
				/* one write(2), retried on EINTR only */
				size_t *out_written) CT_MUST_USE;
enum ctrace_status ct_os_read_at(int fd, void *data, size_t size, uint64_t offset, size_t *out_size)
	CT_MUST_USE; /* short only at the end of the file */
enum ctrace_status ct_os_truncate(int fd, uint64_t size) CT_MUST_USE;
/* allocates real blocks, so that no store raises SIGBUS */
enum ctrace_status ct_os_allocate(int fd, uint64_t offset, uint64_t size) CT_MUST_USE;
/* Both of them for a new file, where no limit of this process could raise SIGXFSZ
 * (ct_os_file_limit()), or after ct_guard_output(). */
enum ctrace_status ct_os_extend(int fd, uint64_t size) CT_MUST_USE;
enum ctrace_status ct_os_allocate_quietly(int fd, uint64_t offset, uint64_t size) CT_MUST_USE;
/* Called before a new file gets its first block.  Later stores go into the same blocks, also on a
 * file system that copies on write. */
void ct_os_store_in_place(int fd);
/* The largest file that this process may make (RLIMIT_FSIZE); UINT64_MAX when nothing limits it. */
uint64_t ct_os_file_limit(void);
/* The most that it may map (RLIMIT_AS); UINT64_MAX when nothing limits it. */
uint64_t ct_os_address_limit(void);
/* ct_os_write_at() for several pieces, one behind the other.  Changes the array of pieces. */
enum ctrace_status ct_os_write_pieces_at(int fd, struct iovec *pieces, size_t count,
					 uint64_t offset) CT_MUST_USE;
enum ctrace_status ct_os_sync(int fd) CT_MUST_USE;
/* replaces `to` */
enum ctrace_status ct_os_rename(int directory_fd, const char *from, const char *to) CT_MUST_USE;
/* Each gets the other's name, at once.  UNSUPPORTED when the file system cannot do that. */
enum ctrace_status ct_os_exchange(const char *one, const char *other) CT_MUST_USE;
/* fails with errno EEXIST when `to` exists */
enum ctrace_status ct_os_rename_aside(const char *from, const char *to) CT_MUST_USE;
/* The file that a descriptor was opened for.  The program may close our descriptor, as daemons
 * close all, and open a file of its own with that number.  So the caller compares before each write
 * and close. */
struct ct_file_id {
	dev_t device;
	ino_t inode;
};
/* read-write; fd -1: anonymous */
enum ctrace_status ct_os_map(int fd, size_t size, bool shared, void **out_address) CT_MUST_USE;
/* Shared.  OS_ERROR with errno ESTALE, and nothing mapped, when fd is not that file. */
enum ctrace_status ct_os_map_file(int fd, const struct ct_file_id *id, size_t size,
				  void **out_address) CT_MUST_USE;
/* Maps, shared, `head` bytes, then `size` bytes, and the latter a second time behind them.  The
 * caller unmaps head + 2 * size bytes.  All sizes are multiples of a page; fd -1: memory. */
enum ctrace_status ct_os_map_twice(int fd, const struct ct_file_id *id, size_t head, size_t size,
				   void **out_address) CT_MUST_USE;
/* Makes the pages of a mapping present and writable in one call, and allocates the blocks of its
 * file.  Needs Linux 5.14. */
enum ctrace_status ct_os_populate(void *address, size_t size) CT_MUST_USE;
/* True if `size` bytes could be mapped now.  Otherwise errno is ENOMEM.  Async-signal-safe. */
bool ct_os_has_room(size_t size);
const char *ct_os_environment(const char *name); /* secure_getenv; NULL when unset or empty */

/* ---- own_directory.c */
/* The path of `name` beside the file that this code was loaded from: the tool, libctrace.so, or a
 * program that is linked with libctrace.a.  Returns false in a set-uid program, and when the path
 * is not known or too long. */
bool ct_own_directory(const char *name, char out_path[4096]);
/* The directory of the catalogues that ctrace brings: `catalog` beside this code, as in a build
 * directory, or else where `make install` puts it.  It need not exist. */
void ct_installed_catalog(char out_path[4096]);

/* ---- address.c: what people may see of an address.  Any thread. */
/* Copies a text that is an address, or has some: without user names and passwords, and without what
 * is behind the question mark of http:// and https://.  Other text is copied as it is; what has no
 * room is left out. */
void ct_address_shown(char *out, size_t size, const char *text);
/* The same for the value of an emitter's property: of one that may be a secret, such as HEADERS,
 * only that it is set. */
void ct_property_shown(struct ct_buf *out, struct ct_span name, struct ct_span value);

/* ---- user_names.c: users and groups, as /etc/passwd and /etc/group have them */
/* The number of a group, given by its name or as a decimal number.  Returns false when the machine
 * has no such name. */
bool ct_group_find(struct ct_span name, uint32_t *out_gid);
/* The user's name; the number as text when the machine has none. */
#define CT_USER_NAME 64
void ct_user_name(uint32_t uid, char out_name[CT_USER_NAME]);

/* ---- os_open.c: opening files, and identifying a descriptor later */
/* Opens a regular file of our own: O_NOFOLLOW, O_CLOEXEC, O_NONBLOCK during the checks.  Returns
 * DENIED when it is not a regular file, belongs to another user or has other hard links. flags as
 * open(2); new files get mode 0600.  The descriptor has a high number (ct_os_high()), and is
 * compared with the file at the path before the file is changed. */
enum ctrace_status ct_os_open_file(int directory_fd, const char *path, int flags,
				   int *out_fd) CT_MUST_USE;
/* The same, and *out_id is the identity of the file, read before anybody could close the
 * descriptor. */
enum ctrace_status ct_os_open_known(int directory_fd, const char *path, int flags, int *out_fd,
				    struct ct_file_id *out_id) CT_MUST_USE;
/* The same for a directory, opened for reading. */
enum ctrace_status ct_os_open_directory(int directory_fd, const char *path, int *out_fd,
					struct ct_file_id *out_id) CT_MUST_USE;
/* Opens a file for reading and writing although its mode forbids the owner to write.  Such a mode
 * protects mapped files from accidents.  Returns a negative number, with errno, on failure.  Must
 * not be used on a file of which this process holds a POSIX lock. */
int ct_os_open_kept(int directory_fd, const char *path);
#define CT_OS_KEPT_MODE 0400 /* of such files */
/* Makes such a file in a directory of this user's own, open for reading and writing. */
enum ctrace_status ct_os_make_kept(int directory_fd, const char *path, int *out_fd,
				   struct ct_file_id *out_id) CT_MUST_USE;
/* Moves a descriptor to a number that the program's own open() does not give out: high, or at least
 * above 2.  Closes fd.  Returns a negative number, with errno, when no number is free or fd is
 * negative. */
int ct_os_high(int fd);
/* As fdopendir(), which asks for the descriptor's flags, also where that is forbidden (seccomp). */
DIR *ct_os_directory_stream(int fd);
/* Makes a directory and its missing parents, 0700; OK when it exists. */
enum ctrace_status ct_os_make_directory(const char *path) CT_MUST_USE;
/* reads any regular file */
enum ctrace_status ct_os_read_file(const char *path, size_t limit, struct ct_buf *out) CT_MUST_USE;
/* Whose files with instructions are accepted.  The file that was checked is the file that is
 * read. */
enum ct_os_trust {
	/* only this user and root may write to it or replace it; it is not a link */
	CT_OS_OWN,
	CT_OS_NAMED /* the user named the directory: others may, but not everybody */
};
/* Reads a regular file of a directory.  DENIED when anybody beyond `trust` may write to the file or
 * the directory. limit as in ct_os_read_file(). */
enum ctrace_status ct_os_read_trusted(const char *directory, const char *name,
				      enum ct_os_trust trust, size_t limit,
				      struct ct_buf *out) CT_MUST_USE;
enum ct_os_file_system {
	CT_OS_MEMORY, /* always answers */
	CT_OS_DISK,   /* of this machine */
	CT_OS_AFAR    /* a network's, FUSE, or unknown: it may never answer */
};
enum ct_os_file_system ct_os_file_system(int fd);
void ct_os_close(int *fd);               /* keeps errno; sets -1 */
struct ct_file_id ct_os_file_id(int fd); /* zero when fd is not open */
enum ct_os_identity {
	CT_OS_SAME,
	CT_OS_OTHER, /* another file, or no open descriptor */
	/* the file system does not answer (errno): the caller neither uses nor gives up the
	 * descriptor */
	CT_OS_UNCLEAR
};
enum ct_os_identity ct_os_identify(int fd, const struct ct_file_id *id);
bool ct_os_is_file(int fd, const struct ct_file_id *id); /* CT_OS_SAME */
/* Before a call that changes the file: OS_ERROR with errno ESTALE when it is not that file. */
enum ctrace_status ct_os_check_file(int fd, const struct ct_file_id *id) CT_MUST_USE;
/* closes it if it still is that file; sets -1 */
void ct_os_close_file(int *fd, const struct ct_file_id *id);
/* Where paths lead for the calling thread: its root directory, and the mount name space of that. */
struct ct_world {
	struct ct_file_id root;
	uint64_t mount; /* of the root directory: another name space has other mounts */
};
struct ct_world ct_os_world(void); /* zero: not known */
bool ct_world_is_same(const struct ct_world *a, const struct ct_world *b);

/* ---- os_thread.c: our own threads, sleeping and waking */
/* Sleeps while *word == value, at most timeout_ns (UINT64_MAX: for ever).  Works between processes.
 * May return early.  Returns false after timeout_ns by the kernel's clock: a limit that is computed
 * from ct_clock_mono_ns() alone never comes where a preloaded library stops that clock. */
bool ct_os_wait(const uint32_t *word, uint32_t value, uint64_t timeout_ns);
/* Sleeps until a counter, which may wrap around, has reached value.  Returns false after
 * timeout_ns. */
bool ct_os_wait_until(const uint32_t *counter, uint32_t value, uint64_t timeout_ns);
void ct_os_wake(const uint32_t *word);
uint32_t ct_os_thread_id(void);
bool ct_os_thread_exists(uint32_t tid); /* a thread of this process that has not ended */
/* Starts a thread that blocks all signals.  Its class is SCHED_OTHER, and it may use the processors
 * that the program had when the library was loaded, if the kernel allows it.  The caller's class
 * and processors do not matter. name: at most 15 bytes. */
enum ctrace_status ct_os_thread_start(void *(*body)(void *), void *argument, const char *name,
				      void *out_pthread) CT_MUST_USE;
/* On such a thread: gives the signal mask of the program's thread that started the first of them,
 * for another program that this thread is to run.  Returns false on any other thread. */
bool ct_os_thread_mask(sigset_t *out_mask);
/* In a forked child, outside sections.  If the forking thread was one of ours, it gets that mask
 * and belongs to the program from now on. */
void ct_os_thread_child(void);
/* Gives the calling thread its own empty table of descriptors, which is closed when the thread
 * ends.  Other threads' opens and closes do not affect it.  Returns false when the kernel is older
 * than Linux 5.9 or a filter forbids it. */
bool ct_os_thread_own_descriptors(void) CT_MUST_USE;
bool ct_os_thread_is_own(void); /* the calling thread is one that ct_os_thread_start() started */
#define CT_OS_THREADS 64u
/* Gives the ids of those that run, each always in the same place, and 0 elsewhere; returns their
 * number. */
unsigned ct_os_threads_list(uint32_t out_tids[CT_OS_THREADS]);
/* When the first thread has ended: starts a thread that counts as the program's, with the signal
 * mask of that thread and a stack of the program's size. */
enum ctrace_status ct_os_thread_start_program(void *(*body)(void *unused)) CT_MUST_USE;
/* All signals, for a thread of ours or while one of our locks is held. */
void ct_os_signals_fill(sigset_t *out);
/* From now on without those of faults, SIGSEGV and the like: whoever calls this has handlers of
 * them that run no handler of the program there. */
void ct_os_signals_leave_faults(void);
void ct_os_signals_remove_faults(sigset_t *set);
bool ct_os_on_signal_stack(void); /* the calling thread is on its alternate stack */

/* ---- os_alone.c: a process whose first thread has ended, or one that only ours have left */
/* The first thread, whose id is the process's.  False also where nobody knows: without /proc, or
 * when it has ended and no descriptor is free. */
bool ct_os_first_thread_has_ended(void);
/* True when no thread of the program is left; gives what wait(2) would report then.  A thread of
 * ours that begins or ends meanwhile makes it false. */
bool ct_os_is_alone(int *out_exit_code);
/* Reads what a process has mapped; empty: it is a zombie.  As ct_os_read_file(). */
enum ctrace_status ct_os_read_maps(uint32_t pid, size_t limit, struct ct_buf *out) CT_MUST_USE;

#endif
