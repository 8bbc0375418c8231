/*
 * rotate.c - a new generation of the output, on an operator's request.
 *
 * Called on the control thread, or any other but the agent's, under no lock.  What was committed before goes to the present generation.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"

enum ctrace_status ct_agent_rotate(uint32_t mask, uint32_t *out_done)
{
	enum ctrace_status status = CTRACE_NOT_FOUND;

	*out_done = 0;
	if (__atomic_load_n(&ct_process.state, __ATOMIC_ACQUIRE) != CT_PROCESS_ATTACHED)
		return status;
	ct_agent_lock();
	if (ct_agent_drain() != NULL) {
		ct_agent_pass(true);
		status = ct_drain_rotate(ct_agent_drain(), mask, out_done);
	}
	ct_agent_unlock();
	return status;
}
