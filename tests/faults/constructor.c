/*
 * constructor.c - a plug-in whose constructor traces, by way of the program that loads it
 * (thread_buffers.c).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
void thread_buffers_in_constructor(void);

__attribute__((constructor)) static void plugin_start(void)
{
	thread_buffers_in_constructor();
}
