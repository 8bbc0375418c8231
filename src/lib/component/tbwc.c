/*
 * tbwc.c - the state and number of a buffer that the application fills itself: CTRACECS.
 *
 * Any thread, also in a signal handler.  A change is one compare-and-swap of one word, never waits,
 * and does not touch errno.  Only ctrace_tbwc_init() and ctrace_tbwc_fini() call the system.
 *
 *     AVAILABLE -> FILLING -> FULL               the application, by ctrace_tbwc_change()
 *     FULL -> CAPTURE -> AVAILABLE               ctrace_write_buffer(), by ct_tbwc_capture()
 *                                                and ct_tbwc_release()
 *
 * The word shows who may access the buffer, so its changes order the buffer's bytes
 * (docs/CONCURRENCY.md).  FULL releases the bytes filled in; the capture acquires them.  AVAILABLE
 * releases the bytes read; the next FILLING acquires.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/component/component.h"

#include <errno.h>
#include <sys/mman.h>

_Static_assert(__atomic_always_lock_free(sizeof(uint64_t), 0),
	       "a change in a signal handler may not wait for a lock");

static uint32_t tbwc_word_state(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

static uint64_t tbwc_word_make(uint32_t state, uint32_t sequence)
{
	return (uint64_t)state << 32 | sequence;
}

/* True for the states between which the application may change a TBWC. */
static bool tbwc_state_is_applications(uint32_t state)
{
	return state == CTRACE_TBWC_AVAILABLE || state == CTRACE_TBWC_FILLING ||
	       state == CTRACE_TBWC_FULL;
}

static enum ctrace_status tbwc_lock_pages(const void *buffer, size_t size)
{
	int kept = errno;
	int error;

	if (mlock(buffer, size) == 0)
		return CTRACE_OK;
	error = errno;
	errno = kept;
	return error == EPERM || error == ENOMEM ? CTRACE_DENIED : CTRACE_OS_ERROR;
}

enum ctrace_status ctrace_tbwc_init(struct ctrace_tbwc *tbwc, void *buffer, size_t size,
				    uint32_t mode)
{
	bool locks = mode == CTRACE_DREF || mode == CTRACE_FIXED;

	/* mlock() treats a size that wraps around as 0. */
	if (tbwc == NULL || buffer == NULL || size == 0 || size > PTRDIFF_MAX ||
	    (mode != CTRACE_PAGEABLE && !locks))
		return CTRACE_UNSUPPORTED;
	if (locks) {
		enum ctrace_status status = tbwc_lock_pages(buffer, size);

		if (status != CTRACE_OK)
			return status;
	}
	tbwc->buffer = buffer;
	tbwc->size = size;
	tbwc->is_locked = locks;
	tbwc->reserved = 0;
	/* A thread that sees AVAILABLE sees the buffer's address. */
	__atomic_store_n(&tbwc->word, tbwc_word_make(CTRACE_TBWC_AVAILABLE, 0), __ATOMIC_RELEASE);
	return CTRACE_OK;
}

void ctrace_tbwc_fini(struct ctrace_tbwc *tbwc)
{
	int kept = errno;

	if (tbwc == NULL)
		return;
	if (tbwc->is_locked)
		(void)munlock(tbwc->buffer, tbwc->size);
	*tbwc = (struct ctrace_tbwc){ .word = 0 };
	errno = kept;
}

uint32_t ctrace_tbwc_state(const struct ctrace_tbwc *tbwc)
{
	return tbwc != NULL ? tbwc_word_state(__atomic_load_n(&tbwc->word, __ATOMIC_ACQUIRE)) : 0;
}

uint32_t ctrace_tbwc_sequence(const struct ctrace_tbwc *tbwc)
{
	return tbwc != NULL ? (uint32_t)__atomic_load_n(&tbwc->word, __ATOMIC_ACQUIRE) : 0;
}

bool ctrace_tbwc_change(struct ctrace_tbwc *tbwc, const struct ctrace_tbwc_change *change)
{
	uint32_t sequence;
	uint64_t word;

	if (tbwc == NULL || change == NULL)
		return false;
	word = __atomic_load_n(&tbwc->word, __ATOMIC_RELAXED);
	sequence = (uint32_t)word;
	if (!tbwc_state_is_applications(change->mode) ||
	    !tbwc_state_is_applications(tbwc_word_state(word)))
		return false;
	if (change->testmode != 0 && change->testmode != tbwc_word_state(word))
		return false;
	if (change->testseq != NULL && *change->testseq != sequence)
		return false;
	if (change->buffseq != NULL)
		sequence = *change->buffseq;
	/* Acquire for FILLING: pairs with the release in ct_tbwc_release().  Release for FULL:
	 * pairs with ct_tbwc_capture(). */
	return __atomic_compare_exchange_n(&tbwc->word, &word,
					   tbwc_word_make(change->mode, sequence), false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

bool ct_tbwc_capture(struct ctrace_tbwc *tbwc)
{
	uint64_t word = __atomic_load_n(&tbwc->word, __ATOMIC_RELAXED);

	if (tbwc_word_state(word) != CTRACE_TBWC_FULL)
		return false;
	/* Acquire: pairs with the change to FULL.  From here on only this thread changes the
	 * word. */
	return __atomic_compare_exchange_n(&tbwc->word, &word,
					   tbwc_word_make(CTRACE_TBWC_CAPTURE, (uint32_t)word),
					   false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void ct_tbwc_release(struct ctrace_tbwc *tbwc, uint32_t state)
{
	uint32_t sequence = (uint32_t)__atomic_load_n(&tbwc->word, __ATOMIC_RELAXED);

	/* Release: pairs with the change to FILLING, after which the application overwrites the
	 * bytes. */
	__atomic_store_n(&tbwc->word, tbwc_word_make(state, sequence), __ATOMIC_RELEASE);
}
