/*
 * crash.c - notes signal, registers and stack of the thread of which the process dies.
 *
 * The handler runs on the thread that has the signal, in any state of the program: it only writes
 * with write(2) to a file that is open already, and reads /proc/self/maps.  Then it restores the
 * action that was there before, and returns: an instruction that faults faults again, and a signal
 * that was sent is sent again.  So the program's own handler runs, or the process dies with the
 * status and the core that it would have had.  A handler that the program installs later replaces
 * this one.
 *
 * The program's own handler may let the process go on.  The note then has "handled", and the note
 * of a later signal replaces it: nobody can know from the note how the process ended.
 *
 * The handler runs on the alternate stack of the thread, because the fault may be the end of its
 * stack (lib/process/signal_stack.c).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/dump/crash.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <ctrace/ctrace.h>

#include "lib/dump/dump.h"
#include "lib/process/signal_stack.h"

#define FRAMES_LIMIT 64u
#define MAPS_LIMIT (1u << 20)
#define WAIT_TRIES 500u
#define WAIT_NS 10000000

static const struct {
	int number;
	uint32_t on; /* enum ct_dump_on */
	const char *name;
} signals[] = {
	{ SIGSEGV, CT_DUMP_ON_SIGNAL, "SIGSEGV" }, { SIGBUS, CT_DUMP_ON_SIGNAL, "SIGBUS" },
	{ SIGFPE, CT_DUMP_ON_SIGNAL, "SIGFPE" },   { SIGILL, CT_DUMP_ON_SIGNAL, "SIGILL" },
	{ SIGABRT, CT_DUMP_ON_ABORT, "SIGABRT" },
};
static struct sigaction former[CT_COUNT(signals)];
static uint32_t installed; /* mask of rows */
static int crash_fd = -1;
static off_t crash_head;  /* the file's size without a note */
static pid_t crash_owner; /* the file's process: a forked child has no file of its own at first */

/* The thread that writes; 0: none yet.  Others that fault meanwhile wait until is_written. */
static int writer;
static int is_written;
static bool is_handled;     /* what is noted: the process may have gone on */
static sigjmp_buf walk_end; /* of the writer: its stack cannot be walked further */

/* ---- writing, without stdio ---- */

struct line {
	char text[200];
	size_t size;
};

static void line_text(struct line *line, const char *text)
{
	for (; *text != '\0' && line->size < sizeof line->text; text++)
		line->text[line->size++] = *text;
}

static void line_hex(struct line *line, uint64_t value)
{
	line_text(line, "0x");
	for (int shift = 60; shift >= 0; shift -= 4)
		if (line->size < sizeof line->text)
			line->text[line->size++] = "0123456789abcdef"[value >> shift & 15];
}

static void line_end(struct line *line)
{
	line_text(line, "\n");
	(void)!write(crash_fd, line->text, line->size);
	line->size = 0;
}

static void write_address(const char *key, const char *name, uint64_t value)
{
	struct line line = { .size = 0 };

	line_text(&line, key);
	line_text(&line, ": ");
	line_text(&line, name);
	line_hex(&line, value);
	line_end(&line);
}

static void write_registers(const ucontext_t *context)
{
#if defined __x86_64__
	static const struct {
		const char *name;
		int number;
	} rows[] = {
		{ "rip ", REG_RIP }, { "rsp ", REG_RSP }, { "rbp ", REG_RBP }, { "rax ", REG_RAX },
		{ "rbx ", REG_RBX }, { "rcx ", REG_RCX }, { "rdx ", REG_RDX }, { "rsi ", REG_RSI },
		{ "rdi ", REG_RDI }, { "r8 ", REG_R8 },   { "r9 ", REG_R9 },   { "r10 ", REG_R10 },
		{ "r11 ", REG_R11 }, { "r12 ", REG_R12 }, { "r13 ", REG_R13 }, { "r14 ", REG_R14 },
		{ "r15 ", REG_R15 }, { "efl ", REG_EFL },
	};

	for (size_t i = 0; i < CT_COUNT(rows); i++)
		write_address("register", rows[i].name,
			      (uint64_t)context->uc_mcontext.gregs[rows[i].number]);
#elif defined __aarch64__
	char name[] = "x00 ";

	write_address("register", "pc ", context->uc_mcontext.pc);
	write_address("register", "sp ", context->uc_mcontext.sp);
	for (int i = 0; i < 31; i++) {
		name[1] = (char)('0' + i / 10);
		name[2] = (char)('0' + i % 10);
		write_address("register", name, context->uc_mcontext.regs[i]);
	}
#else
	(void)context;
#endif
}

struct walk {
	unsigned frames;
	bool is_behind_signal;
};

static _Unwind_Reason_Code frame_write(struct _Unwind_Context *context, void *argument)
{
	struct walk *walk = argument;
	int is_interrupted = 0;
	uint64_t at = (uint64_t)_Unwind_GetIPInfo(context, &is_interrupted);

	walk->is_behind_signal |= is_interrupted != 0;
	if (!walk->is_behind_signal)
		return _URC_NO_REASON;
	write_address("frame", "", is_interrupted != 0 || at == 0 ? at : at - 1);
	return ++walk->frames == FRAMES_LIMIT ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static void write_maps(void)
{
	char bytes[4096];
	size_t left = MAPS_LIMIT;
	ssize_t size;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	(void)!write(crash_fd, "maps:\n", 6);
	while (fd >= 0 && left >= sizeof bytes && (size = read(fd, bytes, sizeof bytes)) > 0) {
		(void)!write(crash_fd, bytes, (size_t)size);
		left -= (size_t)size;
	}
	if (fd >= 0)
		(void)close(fd);
}

static void write_all(size_t row, const siginfo_t *info, const ucontext_t *context, int thread)
{
	static const char handled[] = "handled: yes\n";
	struct line line = { .size = 0 };
	struct walk walk = { 0 };
	char place[CT_DUMP_PLACE];

	line_text(&line, "signal: ");
	line_text(&line, signals[row].name);
	line_end(&line);
	if (is_handled)
		(void)!write(crash_fd, handled, sizeof handled - 1);
	write_address("thread", "", (uint64_t)thread);
	if (info->si_code > 0 && signals[row].number != SIGABRT)
		write_address("address", "", (uint64_t)(uintptr_t)info->si_addr);
	(void)!write(crash_fd, place, ct_dump_print_code_place(place));
	write_registers(context);
	/* A damaged stack may fault once more: handler_run() comes back here. */
	if (sigsetjmp(walk_end, 1) == 0)
		(void)_Unwind_Backtrace(frame_write, &walk);
	write_maps();
}

/* ---- the handler ---- */

static void await_writer(void)
{
	const struct timespec pause = { .tv_nsec = WAIT_NS };

	for (unsigned i = 0; i < WAIT_TRIES && __atomic_load_n(&is_written, __ATOMIC_ACQUIRE) == 0;
	     i++)
		(void)nanosleep(&pause, NULL);
}

/* Takes back a note of a signal that the process has survived.  Returns false when there is none.
 */
static bool note_take_back(int thread)
{
	int done = 1;

	if (!is_handled || !__atomic_compare_exchange_n(&is_written, &done, 0, false,
							__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	__atomic_store_n(&writer, thread, __ATOMIC_RELEASE);
	return ftruncate(crash_fd, crash_head) == 0;
}

static void signal_note(size_t row, const siginfo_t *info, const ucontext_t *context, bool handled)
{
	int thread = (int)syscall(SYS_gettid), nobody = 0;

	if (__atomic_load_n(&writer, __ATOMIC_ACQUIRE) == thread &&
	    __atomic_load_n(&is_written, __ATOMIC_ACQUIRE) == 0)
		siglongjmp(walk_end, 1);
	if (getpid() != crash_owner) {
		/* a child that has not attached: the file is its parent's */
	} else if (__atomic_compare_exchange_n(&writer, &nobody, thread, false, __ATOMIC_ACQ_REL,
					       __ATOMIC_ACQUIRE) ||
		   note_take_back(thread)) {
		is_handled = handled;
		write_all(row, info, context, thread);
		__atomic_store_n(&is_written, 1, __ATOMIC_RELEASE);
	} else {
		await_writer();
	}
}

static size_t signal_row(int number)
{
	size_t row = 0;

	while (row + 1 < CT_COUNT(signals) && signals[row].number != number)
		row++;
	return row;
}

/* The signal that was sent arrives again when this handler returns, not inside it: the former
 * handler runs on the stack that it asked for. */
static void signal_send_again(int number, siginfo_t *info)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, number);
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
	(void)syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), number, info);
}

static void handler_run(int number, siginfo_t *info, void *context)
{
	int kept_errno = errno;
	size_t row = signal_row(number);
	bool is_sent = info->si_code <= 0;

	if (is_sent && former[row].sa_handler == SIG_IGN) {
		errno = kept_errno;
		return; /* the program ignores it; the kernel lets nobody ignore a fault */
	}
	signal_note(row, info, context,
		    former[row].sa_handler != SIG_DFL && former[row].sa_handler != SIG_IGN);
	(void)sigaction(number, &former[row], NULL);
	ct_signal_stack_leave(context);
	if (is_sent)
		signal_send_again(number, info);
	errno = kept_errno;
}

static struct sigaction handler_action(void)
{
	struct sigaction action = { .sa_sigaction = handler_run,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };

	(void)sigemptyset(&action.sa_mask);
	return action;
}

void ctrace_dump_signal_(int number, const void *info, const void *context)
{
	int kept_errno = errno;
	size_t row = signal_row(number);
	struct sigaction action = handler_action(), kept;

	if (signals[row].number != number || (installed & 1u << row) == 0)
		return;
	/* for a fault while the stack is walked */
	if (sigaction(number, &action, &kept) == 0) {
		signal_note(row, info, context, false); /* libcob's handler ends the process */
		(void)sigaction(number, &kept, NULL);
	}
	errno = kept_errno;
}

/* ---- following the setting ---- */

static void file_make(struct ct_process *process)
{
	struct ct_session *session = &process->session;
	char header[4400], name[64];
	int size, fd;

	ct_os_close(&crash_fd);
	if (ct_session_directory(session) < 0)
		return;
	(void)snprintf(name, sizeof name, "%s", CT_CRASH_FILE);
	fd = openat(session->directory_fd, name,
		    O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	crash_fd = ct_os_high(fd);
	crash_owner = getpid();
	size = ct_dump_print_place(process, header, sizeof header);
	crash_head = write(crash_fd, header, (size_t)size) == size ? size : 0;
	if (__atomic_exchange_n(&is_written, 0, __ATOMIC_ACQ_REL) != 0)
		__atomic_store_n(&writer, 0, __ATOMIC_RELEASE);
}

static void actions_install(uint32_t on)
{
	const struct sigaction action = handler_action();
	uint32_t wanted = 0;

	for (size_t i = 0; i < CT_COUNT(signals); i++)
		wanted |= (on & signals[i].on) != 0 ? 1u << i : 0;
	if (crash_fd < 0)
		wanted = 0;
	for (size_t i = 0; i < CT_COUNT(signals); i++) {
		struct sigaction now;

		if ((wanted & ~installed & 1u << i) != 0) {
			(void)sigaction(signals[i].number, &action, &former[i]);
		} else if ((installed & ~wanted & 1u << i) != 0 &&
			   sigaction(signals[i].number, NULL, &now) == 0 &&
			   (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == handler_run) {
			(void)sigaction(signals[i].number, &former[i], NULL);
		}
	}
	installed = wanted;
}

/* A handler of the program has noted its signal, and then called exit(). */
static bool ends_process;

/* The dump cannot be made: whoever finds the storage makes it, or reports why not. */
static void exit_leave(const char *reason)
{
	struct line line = { .size = 0 };

	file_make(&ct_process);
	if (crash_fd < 0)
		return;
	line_text(&line, "exit: ");
	line_text(&line, reason);
	line_end(&line);
	ends_process = true;
}

static void exit_note(int status, void *argument)
{
	char reason[40];
	enum ctrace_status dumped;

	(void)argument;
	ends_process = status != 0 && crash_owner == getpid() &&
		       __atomic_load_n(&is_written, __ATOMIC_ACQUIRE) != 0;
	if (ends_process || status == 0 || ct_dump_error_was_dumped() || ct_thread_locked != 0 ||
	    __atomic_load_n(&ct_process.state, __ATOMIC_ACQUIRE) != CT_PROCESS_ATTACHED ||
	    (__atomic_load_n(&ct_process.settings.dump_on, __ATOMIC_RELAXED) & CT_DUMP_ON_EXIT) ==
		    0)
		return;
	(void)snprintf(reason, sizeof reason, "exit status %d", status & 0xFF);
	dumped = ct_dump_own(&(struct ct_dump_request){ .title = "", .reason = reason }, NULL, 0,
			     NULL);
	if (dumped != CTRACE_OK && dumped != CTRACE_NOT_FOUND)
		exit_leave(reason);
}

void ct_crash_follow(struct ct_process *process)
{
	static bool notes_exit;
	uint32_t on = __atomic_load_n(&process->settings.dump_on, __ATOMIC_RELAXED) |
		      __atomic_load_n(&process->trigger_dump_on, __ATOMIC_RELAXED);

	if ((on & (CT_DUMP_ON_SIGNAL | CT_DUMP_ON_ABORT)) != 0)
		file_make(process);
	if ((on & CT_DUMP_ON_SIGNAL) != 0)
		ct_signal_stack_set();
	actions_install(on);
	if ((on & (CT_DUMP_ON_SIGNAL | CT_DUMP_ON_ABORT | CT_DUMP_ON_EXIT)) != 0 && !notes_exit)
		notes_exit = on_exit(exit_note, NULL) == 0;
}

bool ct_crash_ends_process(void)
{
	return ends_process;
}
