/*
 * tools/traces/annotation.h - annotation files of another product's CTF: XML, one file a component.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_TRACES_ANNOTATION_H
#define CT_TOOLS_TRACES_ANNOTATION_H

#include "base/base.h"

struct annotation_result {
	uint32_t events;
	char component[256];
	char message[160]; /* why the file gave no catalogue; "": it gave one */
	uint32_t line;     /* of the error; 0: the file as a whole */
	bool is_unread;    /* the file cannot be read, which is no error in it */
};
/* Adds the XML file as the text of a catalogue, if it describes any event. */
void annotation_read(const char *path, struct ct_buf *out, struct annotation_result *out_result);
/* Calls `take` for the *.xml files of a directory in the order of their names, or for the file
 * itself.  Returns false when the path cannot be read. */
bool annotation_each(const char *path, void (*take)(const char *path, void *user), void *user);
bool annotation_is_name(const char *path);

#endif
