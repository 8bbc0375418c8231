/*
 * kvoperator.c - the operator's line of the server's own protocol.
 *
 *     TRACE ON OPTIONS=(GET,KEYS)        on, or changed while it is on
 *     TRACE ON SUB=STORE                 a sublevel
 *     TRACE PARM=CTKVSRV0                as the member says
 *     TRACE OFF
 *     TRACE DISPLAY                      the head; TRACE DISPLAY SUB=NET a sublevel.  FILTERED: on,
 * but its filters leave this server out
 *
 * Look first at kv_operator(): the words fill a struct ctrace_trace_ct, which ctrace_trace_ct()
 * carries out.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "kvserver.h"

enum { UNKNOWN_STATE = -1 };

static int state_of(const char *word)
{
	static const char *const names[] = {
		[CTRACE_CT_ON] = "ON", [CTRACE_CT_OFF] = "OFF", [CTRACE_CT_LIKEHEAD] = "LIKEHEAD"
	};

	for (int i = CTRACE_CT_ON; i <= (int)CTRACE_CT_LIKEHEAD; i++)
		if (strcmp(word, names[i]) == 0)
			return i;
	return UNKNOWN_STATE;
}

/* NAME=value or NAME=(value). */
static bool take_operand(struct ctrace_trace_ct *command, char *word)
{
	const struct {
		const char *name;
		const char **value;
	} operands[] = {
		{ "SUB", &command->sub },         { "PARM", &command->parm },
		{ "OPTIONS", &command->options }, { "ASID", &command->asid },
		{ "JOBNAME", &command->jobname }, { "WTR", &command->wtr },
	};
	char *value = strchr(word, '=');
	size_t size;

	if (value == NULL)
		return false;
	*value++ = '\0';
	size = strlen(value);
	if (size >= 2 && value[0] == '(' && value[size - 1] == ')') {
		value[size - 1] = '\0';
		value++;
	}
	for (size_t i = 0; i < sizeof(operands) / sizeof(operands[0]); i++)
		if (strcmp(word, operands[i].name) == 0) {
			*operands[i].value = value;
			return true;
		}
	return false;
}

static size_t carry_out(const struct ctrace_trace_ct *command, char answer[KV_ANSWER])
{
	struct ctrace_outcome out;

	ctrace_trace_ct(command, &out);
	return kv_say(answer, "RC=%02X REASON=%02X SSRC=%u SSRSNC=%u: %s%s%s", (unsigned)out.rc,
		      (unsigned)CTRACE_REASON(out.rsncode), (unsigned)out.ss_rc,
		      (unsigned)out.ss_rsncode, ctrace_outcome_text(&out),
		      out.message[0] == '\0' ? "" : ": ", out.message);
}

static size_t show(const char *sub, char answer[KV_ANSWER])
{
	static const char *const modes[] = {
		[CTRACE_MODE_OFF] = "OFF", [CTRACE_MODE_MIN] = "MIN", [CTRACE_MODE_ON] = "ON"
	};
	struct ctrace_display is = { .size = sizeof(is) };
	enum ctrace_status status = ctrace_component_display(KV_COMPONENT, sub, &is);

	if (status != CTRACE_OK)
		return kv_say(answer, "ERROR %s", ctrace_status_text(status));
	return kv_say(answer, "%s%s%s %s%s%s%s OPTIONS=(%s) BUFFER=%lluK", KV_COMPONENT,
		      sub == NULL ? "" : ".", sub == NULL ? "" : sub, modes[is.mode],
		      is.is_filtered ? " FILTERED" : "", is.head ? " HEAD" : "",
		      is.likehead ? " LIKEHEAD" : "", is.options,
		      (unsigned long long)is.buffer_granted / 1024);
}

size_t kv_operator(struct kv_text line, char answer[KV_ANSWER])
{
	struct ctrace_trace_ct command = { CTRACE_TRACE_CT_INIT, .name = KV_COMPONENT };
	bool is_display = false;
	char words[KV_LINE];
	char *rest = NULL;

	memcpy(words, line.at, line.size);
	words[line.size] = '\0';
	for (char *word = strtok_r(words, " ", &rest); word != NULL;
	     word = strtok_r(NULL, " ", &rest)) {
		int state = state_of(word);

		if (state != UNKNOWN_STATE)
			command.state = (uint32_t)state;
		else if (strcmp(word, "DISPLAY") == 0)
			is_display = true;
		else if (!take_operand(&command, word))
			return kv_say(
				answer,
				"ERROR \"%.60s\" is none of ON OFF LIKEHEAD DISPLAY SUB= PARM= OPTIONS= ASID= JOBNAME= WTR=",
				word);
	}
	return is_display ? show(command.sub, answer) : carry_out(&command, answer);
}
