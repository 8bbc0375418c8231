/*
 * operator/component_names.h - the components of running processes: those that match a pattern, and
 * the one that was probably meant.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_COMPONENT_NAMES_H
#define CT_OPERATOR_COMPONENT_NAMES_H

#include "session/client.h"

struct component_names {
	char **items; /* sorted; names that differ only in case count once */
	size_t count;
	bool failed; /* memory was short: some names are missing */
	bool is_cut; /* more than 65,536 match: the others are missing */
};
/* Gathers the components that match the pattern, in which * and ? match no dot; NULL: all. */
void ct_component_names_get(const struct ct_peers *peers, const char *pattern,
			    struct component_names *out);
void ct_component_names_fini(struct component_names *names);
/* Returns true if a command for `subject`, a name or pattern, concerns the process.  A name also
 * concerns a process that has only components below it. */
bool ct_component_is_of(const struct ct_peer *peer, const char *subject);
bool ct_is_pattern(const char *text); /* Returns true if the text contains * or ?. */

#endif
