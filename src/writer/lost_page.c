/*
 * lost_page.c - keeps the writer alive when a traced process truncates a mapped file.
 *
 * Reading a mapped file behind its end raises SIGBUS, and a broken process may truncate its own
 * files.  Each thread of the writer sets the link it works on.  A missing page of that link is
 * replaced by an empty one, and the link is marked as damaged.  The writer server drops the link;
 * the data of all other processes go on.  Any other SIGBUS ends the program.  The handler makes
 * only async-signal-safe calls.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "writer/ring_consumer.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static __thread struct ct_link *guarded;
static uintptr_t page_size;

void ct_guard_link(struct ct_link *link)
{
	guarded = link;
}

static bool address_is_in(const void *start, size_t size, uintptr_t at)
{
	return start != NULL && at >= (uintptr_t)start && at - (uintptr_t)start < size;
}

static bool link_has_address(const struct ct_link *link, uintptr_t at)
{
	uint32_t rings = __atomic_load_n(&link->rings, __ATOMIC_ACQUIRE);

	if (address_is_in(link->session.head, link->session.layout.size, at))
		return true;
	for (uint32_t i = 0; i < rings; i++)
		if (address_is_in(link->ring[i].head,
				  CT_RING_HEAD_SIZE + 2 * link->ring[i].capacity, at))
			return true;
	return false;
}

static void sigbus_handle(int number, siginfo_t *info, void *context)
{
	struct ct_link *link = guarded;
	uintptr_t at = (uintptr_t)info->si_addr;
	int kept = errno;

	(void)context;
	if (link != NULL && link_has_address(link, at) &&
	    mmap((void *)(at & ~(page_size - 1)), page_size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
		__atomic_store_n(&link->is_damaged, 1, __ATOMIC_RELEASE);
	else
		(void)signal(number, SIG_DFL); /* the same instruction raises it again */
	errno = kept;
}

void ct_guard_thread(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGBUS);
	(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void ct_guard_start(void)
{
	struct sigaction action = { .sa_sigaction = sigbus_handle, .sa_flags = SA_SIGINFO };

	page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
	(void)sigemptyset(&action.sa_mask);
	(void)sigaction(SIGBUS, &action, NULL);
	ct_guard_thread();
}
