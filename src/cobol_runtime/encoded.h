/*
 * encoded.h - trace calls whose texts were encoded before.
 *
 * Names of programs, paragraphs and files are the same in most events.  So they are kept as an
 * event has them, each with its size before its text, and a trace call copies several at once.
 * Where this inline path cannot go on, the call takes ctrace_emit_at_(), as CTRACE() does.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_COBOL_RUNTIME_ENCODED_H
#define CT_COBOL_RUNTIME_ENCODED_H

#include <ctrace/ctrace.h>

/* The first two pieces of encoded texts are copied whole, because a copy of constant size is fast.
 * So an array of encoded texts has at least CT_ENCODED_LEAST bytes, and at least as many are
 * reserved in the ring. */
#define CT_ENCODED_PIECE 32
#define CT_ENCODED_LEAST (2 * CT_ENCODED_PIECE)

/* Bytes that a text of `size` bytes takes in an event. */
#define CT_ENCODED_SIZE(size) (2 + (size_t)(size))

/* Returns the end of the encoded text. */
static inline unsigned char *ct_encoded_add(unsigned char *at, const char *text, size_t size)
{
	uint16_t counted = (uint16_t)size;

	memcpy(at, &counted, 2);
	if (size > 0)
		memcpy(at + 2, text, size);
	return at + 2 + size;
}

static inline unsigned char *ct_encoded_put(unsigned char *at, const unsigned char *texts,
					    size_t size)
{
	memcpy(at, texts, CT_ENCODED_PIECE);
	if (size > CT_ENCODED_PIECE)
		memcpy(at + CT_ENCODED_PIECE, texts + CT_ENCODED_PIECE, CT_ENCODED_PIECE);
	if (size > CT_ENCODED_LEAST)
		memcpy(at + CT_ENCODED_LEAST, texts + CT_ENCODED_LEAST, size - CT_ENCODED_LEAST);
	return at + size;
}

/*
 * Reserves `size` bytes behind the head of an event of the site's class, and stores that head.  Its
 * time is now; counter: what the caller has just read from the processor's counter, or 0.  The
 * caller has traced nothing on this thread since it read that.  The caller ends the event with
 * ctrace_commit_(), and may use fewer bytes than it reserved.  NULL: the caller takes
 * ctrace_emit_at_().
 */
static inline unsigned char *ct_encoded_begin(const struct ctrace_site *site,
					      const struct ctrace_tracer *tracer, uint32_t level,
					      uint32_t id, uint64_t counter, size_t size,
					      struct ctrace_thread_buffer **out_buffer)
{
	const struct ctrace_level_word *level_word = ctrace_level_word_(tracer);
	unsigned char *at;

	if (!ctrace_site_is_(site, level_word, level, false, id, false))
		return NULL;
	at = ctrace_reserve_(level_word, out_buffer, CTRACE_EVENT_HEAD_ + size);
	if (at == NULL)
		return NULL;
	if (counter == 0 || ctrace_is_monotonic_(*out_buffer))
		return ctrace_put_head_(*out_buffer, at, site->class_number);
	ctrace_put_u64_(at, site->class_number | counter << 16);
	return at + CTRACE_EVENT_HEAD_;
}

#endif
