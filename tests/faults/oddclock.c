/*
 * oddclock.c - preloaded: clocks that stand still, go back, are fast, or step.
 *
 * ODD_CLOCK=HOW: all of clock_gettime() and gettimeofday(); a step is of CLOCK_REALTIME alone.
 * ODD_KERNEL=HOW: the function that libctrace finds in the vDSO.
 * ODD_COUNTER=HOW: RDTSC outside of the vDSO, by prctl(PR_SET_TSC).
 *
 * HOW is still: each clock keeps its first value.  back: it goes back a millisecond at every look.
 * fast: a thousand times as fast.  twice: twice as fast.  +SECONDS: CLOCK_REALTIME is ahead.
 * N,SECONDS: after every N looks it is SECONDS ahead for the next N, then right again.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* The vDSO's function changes no vector register. */
#if defined(__x86_64__)
#define NO_VECTORS __attribute__((target("general-regs-only")))
#else
#define NO_VECTORS
#endif

#define CLOCKS 17
#define COUNTER 16 /* its place among them */
#define SECOND INT64_C(1000000000)

struct odd {
	enum { NOT_ODD, STILL, BACK, FAST, STEP, AHEAD } how;
	int64_t factor, every, seconds;
	int64_t first[CLOCKS], looks[CLOCKS];
};
static struct odd clocks, kernel, counter;
static int (*real_gettime)(clockid_t, struct timespec *);
static unsigned long (*real_getauxval)(unsigned long);

static void odd_parse(struct odd *odd, const char *text)
{
	if (text == NULL)
		return;
	odd->factor = strcmp(text, "twice") == 0 ? 2 : 1000;
	if (text[0] == '+' && sscanf(text, "%ld", &odd->seconds) == 1)
		odd->how = AHEAD;
	else if (sscanf(text, "%ld,%ld", &odd->every, &odd->seconds) == 2)
		odd->how = STEP;
	else
		odd->how = strcmp(text, "still") == 0  ? STILL
			   : strcmp(text, "back") == 0 ? BACK
						       : FAST;
}

/* unit: of a nanosecond; the counter has some 3 */
NO_VECTORS static int64_t odd_value(struct odd *odd, int clock, int64_t now, int64_t unit)
{
	int64_t none = 0, look = __atomic_fetch_add(&odd->looks[clock], 1, __ATOMIC_RELAXED);

	(void)__atomic_compare_exchange_n(&odd->first[clock], &none, now, 0, __ATOMIC_RELAXED,
					  __ATOMIC_RELAXED);
	if (odd->how == STILL)
		return odd->first[clock];
	if (odd->how == BACK)
		return odd->first[clock] - (look + 1) * 1000000 * unit;
	if (odd->how == FAST)
		return odd->first[clock] + (now - odd->first[clock]) * odd->factor;
	if (odd->how == AHEAD && clock == CLOCK_REALTIME)
		return now + odd->seconds * SECOND;
	return odd->how == STEP && look / odd->every % 2 == 1 ? now + odd->seconds * SECOND * unit
							      : now;
}

NO_VECTORS static void odd_time(struct odd *odd, clockid_t clock, struct timespec *time)
{
	int64_t now = time->tv_sec * SECOND + time->tv_nsec;

	if (clock < 0 || clock >= COUNTER)
		return;
	now = odd_value(odd, clock, now, 1);
	time->tv_sec = now / SECOND;
	time->tv_nsec = now % SECOND;
}

/* ---- what the kernel and the processor show */

NO_VECTORS static int kernel_gettime(clockid_t clock, struct timespec *time)
{
	long status = -1;

#if defined(__x86_64__)
	__asm__ volatile("syscall"
			 : "=a"(status)
			 : "0"(228L), "D"((long)clock), "S"(time)
			 : "rcx", "r11", "memory");
#endif
	if (status == 0)
		odd_time(&kernel, clock, time);
	return (int)status;
}

/* The least that a reader of the vDSO looks at. */
static struct {
	Elf64_Ehdr head;
	Elf64_Shdr sections[2];
	Elf64_Sym symbol;
	char name[32];
} image;

unsigned long getauxval(unsigned long type)
{
	if (real_getauxval == NULL)
		real_getauxval = (unsigned long (*)(unsigned long))dlsym(RTLD_NEXT, "getauxval");
	if (type != AT_SYSINFO_EHDR || kernel.how == NOT_ODD)
		return real_getauxval(type);
	image.head.e_shoff = (size_t)((char *)image.sections - (char *)&image);
	image.head.e_shnum = 2;
	image.sections[0] =
		(Elf64_Shdr){ .sh_type = SHT_DYNSYM,
			      .sh_offset = (size_t)((char *)&image.symbol - (char *)&image),
			      .sh_size = sizeof image.symbol,
			      .sh_link = 1 };
	image.sections[1].sh_offset = (size_t)(image.name - (char *)&image);
	image.symbol = (Elf64_Sym){ .st_shndx = 1,
				    .st_value = (uintptr_t)kernel_gettime - (uintptr_t)&image };
	(void)strcpy(image.name, "__vdso_clock_gettime");
	return (uintptr_t)&image;
}

#if defined(__x86_64__)
static uintptr_t vdso;

/* RDTSC faults: the vDSO goes on with the true counter, all others with the odd one. */
static void counter_read(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	const unsigned char *at = (const unsigned char *)registers[REG_RIP];
	static const unsigned char rdtsc[] = { 0x0F, 0x31 }, rdtscp[] = { 0x0F, 0x01, 0xF9 };
	unsigned processor;
	uint64_t now;
	bool is_long;

	if (info->si_code != SI_KERNEL ||
	    (memcmp(at, rdtsc, sizeof rdtsc) != 0 && memcmp(at, rdtscp, sizeof rdtscp) != 0)) {
		(void)signal(number, SIG_DFL);
		return;
	}
	(void)prctl(PR_SET_TSC, PR_TSC_ENABLE);
	now = __builtin_ia32_rdtscp(&processor);
	(void)prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	if ((uintptr_t)at - vdso >= 0x10000)
		now = (uint64_t)odd_value(&counter, COUNTER, (int64_t)now, 3);
	registers[REG_RAX] = (greg_t)(uint32_t)now;
	registers[REG_RDX] = (greg_t)(now >> 32);
	is_long = at[1] == rdtscp[1];
	if (is_long)
		registers[REG_RCX] = (greg_t)processor;
	registers[REG_RIP] += is_long ? 3 : 2;
}

/* A thread that has it blocked would be killed by it. */
int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
	static int (*real_mask)(int, const sigset_t *, sigset_t *);
	sigset_t without;

	if (real_mask == NULL)
		real_mask = (int (*)(int, const sigset_t *, sigset_t *))dlsym(RTLD_NEXT,
									      "pthread_sigmask");
	if (set != NULL && counter.how != NOT_ODD && how != SIG_UNBLOCK) {
		without = *set;
		(void)sigdelset(&without, SIGSEGV);
		set = &without;
	}
	return real_mask(how, set, before);
}

static void counter_watch(void)
{
	const struct sigaction action = { .sa_sigaction = counter_read,
					  .sa_flags = SA_SIGINFO | SA_NODEFER };

	vdso = real_getauxval(AT_SYSINFO_EHDR);
	if (sigaction(SIGSEGV, &action, NULL) == 0)
		(void)prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
}
#else
static void counter_watch(void)
{
}
#endif

__attribute__((constructor)) static void odd_start(void)
{
	(void)getauxval(AT_SECURE);
	odd_parse(&clocks, getenv("ODD_CLOCK"));
	odd_parse(&kernel, getenv("ODD_KERNEL"));
	odd_parse(&counter, getenv("ODD_COUNTER"));
	if (counter.how != NOT_ODD)
		counter_watch();
}

/* ---- what the program and libc ask */

int clock_gettime(clockid_t clock, struct timespec *time)
{
	int status;

	if (real_gettime == NULL)
		real_gettime =
			(int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	status = real_gettime(clock, time);
	if (status == 0 && (clocks.how != STEP || clock == CLOCK_REALTIME))
		odd_time(&clocks, clock, time);
	return status;
}

/* Until a time of the odd clock; the kernel waits by the true one. */
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
			   const struct timespec *until)
{
	static int (*real_wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
	struct timespec time = *until;

	if (real_wait == NULL)
		real_wait = (int (*)(pthread_cond_t *, pthread_mutex_t *,
				     const struct timespec *))dlsym(RTLD_NEXT,
								    "pthread_cond_timedwait");
	if (clocks.how == AHEAD)
		time.tv_sec -= clocks.seconds;
	return real_wait(condition, mutex, &time);
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
	struct timespec now;
	int status = clock_gettime(CLOCK_REALTIME, &now);

	(void)zone;
	time->tv_sec = now.tv_sec;
	time->tv_usec = now.tv_nsec / 1000;
	return status;
}
