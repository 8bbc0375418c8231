/*
 * crash.c - notes signal, registers and stack of the thread of which the process dies.
 *
 * The handler runs on the thread that has the signal, in any state of the program: it writes with
 * pwrite(2) to a file that is open already, and reads /proc/self/maps.  Then the program's own
 * handler runs as it would without this one, or the former action is restored and the handler
 * returns: an instruction that faults faults again, and a signal that was sent is sent again.  So
 * the process dies with the status and the core that it would have had.  A handler that the program
 * installs later replaces this one.
 *
 * The program's own handler may let the process go on, and this handler stays.  The note then has
 * "handled", and the note of a later signal replaces it.  A handler that returns, and leaves this
 * one installed, has dealt with the signal: the note is withdrawn.  A handler that jumps out is
 * seen at exit() only, so the note of a process that is killed later stays.  A program that lives
 * with faults has many of them: stack and maps are noted as long as that takes a hundredth of the
 * time, else the registers alone.
 *
 * A SIGBUS by a store into a file of ours that another program has cut short is the exception: the
 * handler restores the file's length, and the program goes on.
 *
 * The handler runs on the alternate stack of the thread, because the fault may be the end of its
 * stack (lib/process/signal_stack.c).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
/* Its longjmp() ends a program that it finds on a stack unknown to it. */
#undef _FORTIFY_SOURCE
#include "lib/dump/crash.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
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
#define YIELDS 1000u
#define RESTORE_TRIES 100u
#define FULL_PAUSES 100u /* times what a whole note of a handled signal took */

static const struct {
	int number;
	uint32_t on; /* enum ct_dump_on */
	const char *name;
} signals[] = {
	{ SIGSEGV, CT_DUMP_ON_SIGNAL, "SIGSEGV" }, { SIGBUS, CT_DUMP_ON_SIGNAL, "SIGBUS" },
	{ SIGFPE, CT_DUMP_ON_SIGNAL, "SIGFPE" },   { SIGILL, CT_DUMP_ON_SIGNAL, "SIGILL" },
	{ SIGABRT, CT_DUMP_ON_ABORT, "SIGABRT" },
};

/* What a signal did before.  Written while the handler is not installed; the handler itself writes
 * `handler` when an action is for once. */
static struct former {
	void (*handler)(int); /* atomic */
	int flags;
	sigset_t mask;
} former[CT_COUNT(signals)];
static uint32_t installed; /* atomic: mask of rows */

/* Two commands may change the settings at once. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The file.  Written before crash_owner names the process; then only crash_fd changes. */
static int crash_fd = -1; /* atomic */
static struct ct_file_id crash_id;
static char crash_path[4400];
static pid_t crash_owner; /* atomic: a forked child has no file of its own at first */

/* The thread that writes; 0: none. */
static int writer;
/* What the note in the file is about. */
enum { NOTED_NOTHING, NOTED_HANDLED, NOTED_END };
static int noted; /* atomic; by the writer */
/* The thread whose signal is noted as handled, and the frame below which its handler runs. */
static struct {
	int thread; /* atomic; by the writer */
	uintptr_t frame;
	bool is_on_stack; /* an alternate one */
} handling;
/* The writer's own. */
static struct {
	char text[CT_CRASH_NOTE_SIZE];
	size_t size;
	int fd;
	uint64_t full_at_ns; /* monotonic: the next handled signal gets a whole note from then on */
	volatile bool is_walking;
	sigjmp_buf walk_end; /* what is read there cannot be read further */
} note;
/* The signal whose note this thread has written; it comes again, on the interrupted stack. */
static __thread int comes_again __attribute__((tls_model("initial-exec")));

/* ---- writing, without stdio ---- */

static void note_text(const char *text)
{
	for (; *text != '\0' && note.size < sizeof note.text; text++)
		note.text[note.size++] = *text;
}

static void note_address(const char *key, const char *name, uint64_t value)
{
	char digits[] = "0x0000000000000000\n";

	for (unsigned i = 0; i < 16; i++)
		digits[2 + i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
	note_text(key);
	note_text(": ");
	note_text(name);
	note_text(digits);
}

/* The program may have closed our descriptor, and opened a file of its own with that number. */
static bool note_open(void)
{
	int fd = __atomic_load_n(&crash_fd, __ATOMIC_ACQUIRE);

	if (!ct_os_is_file(fd, &crash_id)) {
		fd = open(crash_path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0 && !ct_os_is_file(fd, &crash_id))
			ct_os_close(&fd);
	}
	note.fd = fd;
	return fd >= 0;
}

static void note_close(void)
{
	if (note.fd != __atomic_load_n(&crash_fd, __ATOMIC_RELAXED))
		ct_os_close(&note.fd);
}

/* The whole of its part of the file, so nothing of an earlier note is left. */
static void note_write(void)
{
	memset(note.text + note.size, '\n', sizeof note.text - note.size);
	(void)!pwrite(note.fd, note.text, sizeof note.text, CT_CRASH_HEAD_SIZE);
}

static void note_registers(const ucontext_t *context)
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
		note_address("register", rows[i].name,
			     (uint64_t)context->uc_mcontext.gregs[rows[i].number]);
#elif defined __aarch64__
	char name[] = "x00 ";

	note_address("register", "pc ", context->uc_mcontext.pc);
	note_address("register", "sp ", context->uc_mcontext.sp);
	for (int i = 0; i < 31; i++) {
		name[1] = (char)('0' + i / 10);
		name[2] = (char)('0' + i % 10);
		note_address("register", name, context->uc_mcontext.regs[i]);
	}
#else
	(void)context;
#endif
}

static uintptr_t context_register(const ucontext_t *context, bool is_stack)
{
#if defined __x86_64__
	return (uintptr_t)context->uc_mcontext.gregs[is_stack ? REG_RSP : REG_RIP];
#elif defined __aarch64__
	return is_stack ? context->uc_mcontext.sp : context->uc_mcontext.pc;
#else
	(void)context;
	return is_stack ? 0 : 0;
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
	note_address("frame", "", is_interrupted != 0 || at == 0 ? at : at - 1);
	return ++walk->frames == FRAMES_LIMIT ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static void maps_write(void)
{
	char bytes[4096];
	off_t at = CT_CRASH_HEAD_SIZE + CT_CRASH_NOTE_SIZE;
	const off_t limit = at + MAPS_LIMIT;
	ssize_t size = sizeof "maps:\n" - 1;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	(void)!ftruncate(note.fd, at);
	memcpy(bytes, "maps:\n", (size_t)size);
	do {
		(void)!pwrite(note.fd, bytes, (size_t)size, at);
		at += size;
	} while (fd >= 0 && at < limit && (size = read(fd, bytes, sizeof bytes)) > 0);
	ct_os_close(&fd);
}

/* Place and stack.  A damaged stack may fault once more: handler_run() comes back here. */
static void note_walk(void)
{
	struct walk walk = { 0 };
	char place[CT_DUMP_PLACE + 1];

	if (sigsetjmp(note.walk_end, 1) == 0) {
		note.is_walking = true;
		place[ct_dump_print_code_place(place)] = '\0';
		note_text(place);
	}
	if (sigsetjmp(note.walk_end, 1) == 0) {
		note.is_walking = true;
		(void)_Unwind_Backtrace(frame_write, &walk);
	}
	note.is_walking = false;
}

static void note_signal(size_t row, const siginfo_t *info, const ucontext_t *context, bool handled)
{
	uint64_t begin_ns = ct_clock_mono_ns();
	bool is_full = !handled || begin_ns >= note.full_at_ns;

	note.size = 0;
	note_text("signal: ");
	note_text(signals[row].name);
	note_text(handled ? "\nhandled: yes\n" : "\n");
	note_address("thread", "", (uint64_t)ct_os_thread_id());
	if (info->si_code > 0 && signals[row].number != SIGABRT)
		note_address("address", "", (uint64_t)(uintptr_t)info->si_addr);
	note_registers(context);
	if (!is_full)
		note_address("frame", "", context_register(context, false));
	note_write();
	if (!is_full)
		return;
	note_walk();
	note_write();
	maps_write();
	note.full_at_ns = ct_clock_mono_ns() + FULL_PAUSES * (ct_clock_mono_ns() - begin_ns);
}

/* ---- the handler ---- */

/* Returns false when another thread has noted the end of the process, or is about to.  A signal
 * that is handled does not wait for long: the note of another thread's is as good. */
static bool writer_become(int thread, bool handled)
{
	const struct timespec pause = { .tv_nsec = WAIT_NS };

	for (unsigned i = 0; i < (handled ? YIELDS : WAIT_TRIES); i++) {
		int nobody = 0;

		if (__atomic_compare_exchange_n(&writer, &nobody, thread, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED)) {
			if (__atomic_load_n(&noted, __ATOMIC_RELAXED) != NOTED_END)
				return true;
			__atomic_store_n(&writer, 0, __ATOMIC_RELEASE);
			return false;
		}
		if (handled)
			(void)sched_yield();
		else
			(void)nanosleep(&pause, NULL);
	}
	return false;
}

static void signal_note(size_t row, const siginfo_t *info, const ucontext_t *context, bool handled)
{
	int thread = (int)ct_os_thread_id();

	if (getpid() != __atomic_load_n(&crash_owner, __ATOMIC_ACQUIRE))
		return; /* a child that has not attached: the file is its parent's */
	if (__atomic_load_n(&writer, __ATOMIC_ACQUIRE) == thread) {
		if (note.is_walking && info->si_code > 0)
			siglongjmp(note.walk_end, 1);
		return; /* the note that is being written is as good */
	}
	if (!writer_become(thread, handled))
		return;
	if (note_open()) {
		note_signal(row, info, context, handled);
		note_close();
		__atomic_store_n(&handling.thread, handled ? thread : 0, __ATOMIC_RELAXED);
		__atomic_store_n(&noted, handled ? NOTED_HANDLED : NOTED_END, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&writer, 0, __ATOMIC_RELEASE);
}

/* The program's handler is about to run. */
static void handling_begin(uintptr_t frame)
{
	if (__atomic_load_n(&handling.thread, __ATOMIC_RELAXED) != (int)ct_os_thread_id())
		return;
	handling.frame = frame;
	handling.is_on_stack = ct_os_on_signal_stack();
}

/* Returns true when the handler of this thread has jumped out of its frames. */
static bool handling_was_left(void)
{
	return __atomic_load_n(&handling.thread, __ATOMIC_RELAXED) == (int)ct_os_thread_id() &&
	       (handling.is_on_stack != ct_os_on_signal_stack() ||
		(uintptr_t)__builtin_frame_address(0) >= handling.frame);
}

/* The handler has returned.  A later signal of another thread may have replaced the note. */
static void note_withdraw(void)
{
	int thread = (int)ct_os_thread_id();

	if (__atomic_load_n(&handling.thread, __ATOMIC_RELAXED) != thread ||
	    getpid() != __atomic_load_n(&crash_owner, __ATOMIC_ACQUIRE) ||
	    !writer_become(thread, true))
		return;
	if (__atomic_load_n(&handling.thread, __ATOMIC_RELAXED) == thread && note_open()) {
		(void)!ftruncate(note.fd, CT_CRASH_HEAD_SIZE);
		note_close();
		__atomic_store_n(&noted, NOTED_NOTHING, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&writer, 0, __ATOMIC_RELEASE);
}

static size_t signal_row(int number)
{
	size_t row = 0;

	while (row + 1 < CT_COUNT(signals) && signals[row].number != number)
		row++;
	return row;
}

/* The signal that was sent arrives again when this handler returns, not inside it. */
static void signal_send_again(int number, siginfo_t *info)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, number);
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
	(void)syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), number, info);
}

/* A signal that was sent while a lock of ours is held, or to a thread of ours, is not for it: it
 * stays pending there until the lock is released, or goes to another thread. */
static void signal_put_off(int number, siginfo_t *info, ucontext_t *context, bool is_own)
{
	(void)sigaddset(&context->uc_sigmask, number);
	if (is_own) {
		(void)pthread_sigmask(SIG_SETMASK, &context->uc_sigmask, NULL);
		(void)kill(getpid(), number);
	} else {
		signal_send_again(number, info);
	}
}

static void former_note(struct former *row, const struct sigaction *action)
{
	row->flags = action->sa_flags;
	row->mask = action->sa_mask;
	__atomic_store_n(&row->handler, action->sa_handler, __ATOMIC_RELEASE);
}

static void former_restore(int number, const struct former *row)
{
	struct sigaction action = { .sa_flags = row->flags, .sa_mask = row->mask };

	action.sa_handler = __atomic_load_n(&row->handler, __ATOMIC_ACQUIRE);
	(void)sigaction(number, &action, NULL);
}

static void handler_run(int number, siginfo_t *info, void *context);

static bool action_is_ours(const struct sigaction *action)
{
	return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == handler_run;
}

static struct sigaction handler_action(bool on_stack)
{
	struct sigaction action = { .sa_sigaction = handler_run,
				    .sa_flags = SA_SIGINFO | SA_NODEFER |
						(on_stack ? (int)SA_ONSTACK : 0) };

	(void)sigemptyset(&action.sa_mask);
	return action;
}

/* Installs the handler with or without SA_ONSTACK, unless the program has replaced it. */
static void handler_move(int number, bool on_stack)
{
	const struct sigaction action = handler_action(on_stack);
	struct sigaction now;

	if (sigaction(number, &action, &now) == 0 && !action_is_ours(&now))
		(void)sigaction(number, &now, NULL);
}

/* Returns true when the kernel would have run the program's handler on the stack that was
 * interrupted, and runs this one on another. */
static bool handler_is_aside(const ucontext_t *context, int flags)
{
	const stack_t *stack = &context->uc_stack;
	uintptr_t low = (uintptr_t)stack->ss_sp;
	bool here = (uintptr_t)&stack - low < stack->ss_size;

	return here && context_register(context, true) - low >= stack->ss_size &&
	       ((flags & SA_ONSTACK) == 0 || ct_signal_stack_is_own(stack));
}

/* As the kernel calls it.  It may not return. */
static void former_call(struct former *row, void (*handler)(int), siginfo_t *info, void *context)
{
	int number = info->si_signo;
	sigset_t mask = row->mask;

	if (((unsigned)row->flags & SA_RESETHAND) != 0)
		__atomic_store_n(&row->handler, SIG_DFL, __ATOMIC_RELAXED);
	if ((row->flags & SA_NODEFER) == 0)
		(void)sigaddset(&mask, number);
	(void)pthread_sigmask(SIG_BLOCK, &mask, NULL);
	if ((row->flags & SA_SIGINFO) != 0)
		((void (*)(int, siginfo_t *, void *))(void (*)(void))handler)(number, info,
									      context);
	else
		handler(number);
}

/* ---- files that another program has cut short ---- */

static bool address_is_in(const void *start, uint64_t size, uintptr_t at)
{
	return start != NULL && at - (uintptr_t)start < size;
}

/* Restores the length of the session or the ring in which a store has found no page.  Returns false
 * when it is in neither, or when it faults again and again with the length right: the disk is
 * full. */
static bool file_restore(uintptr_t at)
{
	static __thread uint32_t tries __attribute__((tls_model("initial-exec")));
	struct ct_ring_pool *pool = ct_process.pool;
	bool is_ours, is_restored = false;

	if (__atomic_load_n(&ct_process.state, __ATOMIC_ACQUIRE) != CT_PROCESS_ATTACHED ||
	    pool == NULL)
		return false;
	is_ours = address_is_in(ct_process.session.head, ct_process.session.layout.size, at);
	if (is_ours)
		is_restored = ct_session_lengthen(&ct_process.session);
	for (uint32_t i = 0; !is_ours && i < ct_ring_pool_count(pool); i++) {
		struct ct_ring *ring = ct_ring_pool_at(pool, i);

		is_ours = ring->place != CT_RING_PRIVATE &&
			  address_is_in(ring->head, CT_RING_HEAD_SIZE + 2 * ring->capacity, at);
		is_restored = is_ours && ct_ring_heal(ring, &ct_process.session);
	}
	tries = is_restored ? 0 : tries + 1; /* another thread may just have restored it */
	return is_ours && tries < RESTORE_TRIES;
}

static void handler_run(int number, siginfo_t *info, void *context)
{
	int kept_errno = errno;
	size_t row = signal_row(number);
	void (*handler)(int) = __atomic_load_n(&former[row].handler, __ATOMIC_ACQUIRE);
	bool is_sent = info->si_code <= 0, is_again = comes_again == number;
	bool is_own = ct_os_thread_is_own(), is_program = !is_own && ct_thread_locked == 0;
	bool handled = is_program && handler != SIG_DFL && handler != SIG_IGN, is_known;
	struct sigaction now;

	if (number == SIGBUS && !is_sent && file_restore((uintptr_t)info->si_addr)) {
		errno = kept_errno;
		return;
	}
	comes_again = 0;
	if (is_sent && handler == SIG_IGN)
		return; /* the program ignores it; the kernel lets nobody ignore a fault */
	if (is_sent && !is_program && number != SIGABRT) {
		signal_put_off(number, info, context, is_own);
		errno = kept_errno;
		return;
	}
	if (!is_again)
		signal_note(row, info, context, handled);
	if (handled && !handler_is_aside(context, former[row].flags)) {
		if (is_again)
			handler_move(number, true);
		handling_begin((uintptr_t)__builtin_frame_address(0));
		errno = kept_errno;
		former_call(&former[row], handler, info, context);
		kept_errno = errno;
		is_known = sigaction(number, NULL, &now) == 0;
		if (is_known && action_is_ours(&now))
			note_withdraw();
		else if (is_known && now.sa_handler == SIG_DFL && !is_sent)
			signal_note(row, info, context, false); /* it faults again, and dies */
		errno = kept_errno;
		return;
	}
	if (handled) {
		comes_again = number;
		handler_move(number, false);
	} else if (is_program) {
		former_restore(number, &former[row]);
	} else {
		(void)signal(number,
			     SIG_DFL); /* as if it were blocked: its handler is not for this */
	}
	if (is_sent)
		signal_send_again(number, info);
	errno = kept_errno;
}

void ctrace_dump_signal_(int number, const void *info, const void *context)
{
	int kept_errno = errno;
	size_t row = signal_row(number);
	struct sigaction action = handler_action(true), kept;

	if (signals[row].number != number ||
	    (__atomic_load_n(&installed, __ATOMIC_ACQUIRE) & 1u << row) == 0)
		return;
	/* for a fault while the stack is walked */
	if (sigaction(number, &action, &kept) == 0) {
		signal_note(row, info, context, false); /* libcob's handler ends the process */
		(void)sigaction(number, &kept, NULL);
	}
	errno = kept_errno;
}

/* ---- following the setting ---- */

static bool file_create(struct ct_process *process)
{
	const struct ct_session *session = &process->session;
	int fd = -1;

	if (ct_session_directory(&process->session) < 0 ||
	    ct_os_open_known(session->directory_fd, CT_CRASH_FILE, O_WRONLY | O_CREAT | O_TRUNC,
			     &fd, &crash_id) != CTRACE_OK)
		return false;
	(void)snprintf(crash_path, sizeof crash_path, "%s/" CT_CRASH_FILE, session->path);
	__atomic_store_n(&crash_fd, fd, __ATOMIC_RELEASE);
	__atomic_store_n(&noted, NOTED_NOTHING, __ATOMIC_RELAXED);
	__atomic_store_n(&handling.thread, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&writer, 0, __ATOMIC_RELAXED);
	return true;
}

/* Makes the file, or writes its head again.  Returns false without a file. */
static bool file_make(struct ct_process *process)
{
	char head[CT_CRASH_HEAD_SIZE];
	int fd, size = ct_dump_print_place(process, head, sizeof head);

	if (crash_owner != getpid() && !file_create(process))
		return false;
	fd = __atomic_load_n(&crash_fd, __ATOMIC_RELAXED);
	if (!ct_os_is_file(fd, &crash_id)) {
		fd = ct_os_high(open(crash_path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
		if (!ct_os_is_file(fd, &crash_id)) {
			ct_os_close(&fd);
			return false;
		}
		__atomic_store_n(&crash_fd, fd, __ATOMIC_RELEASE);
	}
	memset(head + size, '\n', sizeof head - (size_t)size);
	if (ct_os_write_at(fd, head, sizeof head, 0) != CTRACE_OK)
		return false;
	__atomic_store_n(&crash_owner, getpid(), __ATOMIC_RELEASE);
	return true;
}

static void actions_install(uint32_t on)
{
	const struct sigaction action = handler_action(true);
	uint32_t wanted = 0;

	for (size_t i = 0; i < CT_COUNT(signals); i++)
		wanted |= (on & signals[i].on) != 0 ? 1u << i : 0;
	for (size_t i = 0; i < CT_COUNT(signals); i++) {
		int number = signals[i].number;
		struct sigaction now;

		if (((wanted ^ installed) & 1u << i) == 0 || sigaction(number, NULL, &now) != 0)
			continue;
		if ((wanted & 1u << i) == 0) {
			if (action_is_ours(&now))
				former_restore(number, &former[i]);
			continue;
		}
		/* Noted before the handler can run. */
		if (!action_is_ours(&now))
			former_note(&former[i], &now);
		if (sigaction(number, &action, &now) == 0 && !action_is_ours(&now))
			former_note(&former[i], &now);
	}
	__atomic_store_n(&installed, wanted, __ATOMIC_RELEASE);
}

/* A handler of the program has noted its signal, and then called exit(). */
static bool ends_process;

void ct_crash_leave(const char *reason)
{
	ct_guard_lock(&lock);
	if (file_make(&ct_process) && writer_become((int)ct_os_thread_id(), true)) {
		note.size = 0;
		note_text("exit: ");
		note_text(reason);
		if (note_open()) {
			note_write();
			note_close();
			ends_process = true;
		}
		__atomic_store_n(&writer, 0, __ATOMIC_RELEASE);
	}
	ct_guard_unlock(&lock);
}

static void exit_note(int status, void *argument)
{
	char reason[40];
	enum ctrace_status dumped;

	(void)argument;
	ends_process = status != 0 && crash_owner == getpid() &&
		       __atomic_load_n(&noted, __ATOMIC_ACQUIRE) != NOTED_NOTHING &&
		       !handling_was_left();
	if (ends_process || status == 0 || ct_dump_error_was_dumped() || ct_thread_locked != 0 ||
	    __atomic_load_n(&ct_process.state, __ATOMIC_ACQUIRE) != CT_PROCESS_ATTACHED ||
	    (__atomic_load_n(&ct_process.settings.dump_on, __ATOMIC_RELAXED) & CT_DUMP_ON_EXIT) ==
		    0)
		return;
	(void)snprintf(reason, sizeof reason, "exit status %d", status & 0xFF);
	dumped = ct_dump_own(
		&(struct ct_dump_request){ .title = "", .reason = reason, .may_be_empty = true },
		NULL, 0, NULL);
	if (dumped != CTRACE_OK)
		ct_crash_leave(reason);
}

void ct_crash_follow(struct ct_process *process)
{
	static bool notes_exit;
	const uint32_t notes = CT_DUMP_ON_SIGNAL | CT_DUMP_ON_ABORT;
	uint32_t on = __atomic_load_n(&process->settings.dump_on, __ATOMIC_RELAXED) |
		      __atomic_load_n(&process->trigger_dump_on, __ATOMIC_RELAXED);

	ct_guard_lock(&lock);
	if ((on & notes) != 0 && !file_make(process))
		on &= ~notes;
	if ((on & CT_DUMP_ON_SIGNAL) != 0) {
		ct_signal_stack_set();
		ct_os_signals_leave_faults();
	}
	actions_install(on);
	if ((on & (notes | CT_DUMP_ON_EXIT)) != 0 && !notes_exit)
		notes_exit = on_exit(exit_note, NULL) == 0;
	ct_guard_unlock(&lock);
}

void ct_crash_forked(void)
{
	(void)pthread_mutex_init(&lock, NULL);
}

bool ct_crash_ends_process(void)
{
	return ends_process;
}
