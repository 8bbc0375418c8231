/*
 * session_layout.c - the positions of the parts of a session file, within the size that the process
 * may write.
 *
 * Called when a session is made, and by every reader, which checks a layout here before use.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session/session_parts.h"

#define LEAST_PART (16 * CT_SESSION_PAGE)   /* of components, and of texts: 1,365 components */
#define LEAST_CLASSES (4 * CT_SESSION_PAGE) /* some 500 classes */

_Static_assert(sizeof(struct ct_component_entry) == 48, "an entry leaves the process");
_Static_assert(sizeof(struct ct_dest_paths) % CT_SESSION_PAGE == 0,
	       "each destination's paths have pages of their own");
_Static_assert(CT_SESSION_PATHS + CT_SESSION_PATHS_SIZE <= CT_SESSION_COMPONENTS,
	       "the paths end before the components");
_Static_assert(CT_SESSION_COMPONENTS +
			       (uint64_t)CT_COMPONENT_LIMIT * sizeof(struct ct_component_entry) <=
		       CT_SESSION_CLASSES,
	       "the components end before the classes");
_Static_assert(CT_SESSION_TEXTS - CT_SESSION_CLASSES <= CT_CLASS_TABLE,
	       "a number reaches every class");

struct ct_session_layout ct_session_layout_for(uint64_t limit)
{
	struct ct_session_layout layout = { CT_SESSION_COMPONENTS, CT_SESSION_CLASSES,
					    CT_SESSION_TEXTS, CT_SESSION_SIZE };
	uint64_t rest;

	if (limit >= CT_SESSION_SIZE)
		return layout;
	layout.components_at = CT_SESSION_PATHS + CT_SESSION_PATHS_SIZE;
	layout.size = limit & ~(CT_SESSION_PAGE - 1);
	if (layout.size < layout.components_at + 2 * LEAST_PART + LEAST_CLASSES)
		return (struct ct_session_layout){ 0, 0, 0, 0 };
	/* A component needs its entry, and more room for its name and other texts. */
	rest = (layout.size - layout.components_at) / 4 & ~(CT_SESSION_PAGE - 1);
	layout.classes_at = layout.components_at + (rest > LEAST_PART ? rest : LEAST_PART);
	rest = rest / 4 & ~(CT_SESSION_PAGE - 1);
	if (rest > CT_CLASS_TABLE)
		rest = CT_CLASS_TABLE;
	layout.texts_at = layout.classes_at + (rest > LEAST_CLASSES ? rest : LEAST_CLASSES);
	return layout;
}

bool ct_session_layout_holds(const struct ct_session_layout *layout)
{
	if (((layout->components_at | layout->classes_at | layout->texts_at | layout->size) &
	     (CT_SESSION_PAGE - 1)) != 0)
		return false;
	return layout->components_at >= CT_SESSION_PATHS + CT_SESSION_PATHS_SIZE &&
	       layout->components_at <= layout->classes_at &&
	       layout->classes_at <= layout->texts_at &&
	       layout->texts_at - layout->classes_at >= LEAST_CLASSES &&
	       layout->texts_at <= layout->size && layout->size <= CT_SESSION_SIZE;
}

uint32_t ct_session_component_limit(const struct ct_session_layout *layout)
{
	uint64_t count =
		(layout->classes_at - layout->components_at) / sizeof(struct ct_component_entry);

	return count < CT_COMPONENT_LIMIT ? (uint32_t)count : CT_COMPONENT_LIMIT;
}
