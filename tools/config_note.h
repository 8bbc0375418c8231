/*
 * config_note.h - what `ctrace config check` remarks about values that are allowed and yet not what somebody wants.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONFIG_NOTE_H
#define CONFIG_NOTE_H

#include "base/base.h"
#include <ctrace/emitter.h>

/* Calls `note` for each oddity of an emitter property's value, with where it is and a sentence; suggestion may be NULL. */
typedef void config_note(const char *at, const char *sentence, const char *suggestion, void *user);
void config_note_value(const struct ctrace_property *property, struct ct_span value, config_note *note, void *user);

#endif
