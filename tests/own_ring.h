/*
 * own_ring.h - a ring for a test, in private memory or, where no private memory can be mapped
 * twice, in a file without a name.  qemu-user is such a place: its mremap() refuses the size 0.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef OWN_RING_H
#define OWN_RING_H

#include "lib/ring/ring.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static inline enum ctrace_status own_ring_create(struct ct_ring *ring, struct ct_session *session,
						 uint32_t index, size_t capacity)
{
	struct ct_session here = { .directory_fd = -1, .file_fd = -1, .path = "." };
	enum ctrace_status status = ct_ring_create(ring, session, index, capacity);
	char name[32];

	if (status == CTRACE_OK)
		return status;
	here.directory_fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	here.directory_id = ct_os_file_id(here.directory_fd);
	status = ct_ring_create(ring, &here, index, capacity);
	(void)snprintf(name, sizeof name, "ring.%u", (unsigned)index);
	(void)unlink(name);
	(void)close(here.directory_fd);
	return status;
}

#endif
