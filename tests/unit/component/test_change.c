/*
 * test_change.c - a change is asked of the routines and then in force, or nothing has changed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "component_fixture.h"

#define HEAD_AND(...) \
	DEFINE(.name = "TREE", .startnam = "TREESS", HEAD_KEYWORDS, .mod = CTRACE_YES, __VA_ARGS__)
#define LIKE(path) \
	DEFINE(.name = "TREE", .sub = (path), .startnam = "TREESS", .likehead = CTRACE_YES)

static struct ct_status status;
static struct ct_wanted wanted;

/* TREE with the followers TREE.A and TREE.B. */
static void plant(void)
{
	register_routine("TREESS");
	CHILD_CHECK(HEAD_AND(.buffer = CTRACE_YES, .asids = CTRACE_YES, .jobs = CTRACE_YES) ==
		    CTRACE_RC_OK);
	CHILD_CHECK(LIKE("A") == CTRACE_RC_OK && LIKE("B") == CTRACE_RC_OK);
	reset_calls();
	status = (struct ct_status){ .mode = CTRACE_MODE_ON,
				     .level = CTRACE_INFO,
				     .options = "ASKED" };
	wanted = (struct ct_wanted){ .call = true, .status = &status };
}

static uint32_t change(const char *name)
{
	struct ct_trace *trace = trace_of(name);
	struct ct_transaction transaction;
	uint32_t rc;

	memset(&outcome, 0, sizeof outcome);
	ct_transaction_init(&transaction, NULL);
	ct_table_lock();
	CHILD_CHECK(ct_transaction_add_tree(&transaction, trace, true) == CT_TRANSACTION_OK);
	ct_table_unlock();
	rc = ct_change_carry_out(&transaction, &wanted, &outcome);
	ct_transaction_release(&transaction);
	return rc;
}

static uint64_t ring_of(const char *name)
{
	uint32_t channel = ct_level_word_channel(
		&ct_registry_entry(ct_process.registry, trace_of(name)->component)->level_word);

	return ct_channel_at(ct_process.registry, channel).buffer;
}

static bool is_off(const char *name)
{
	struct ct_status is;

	ct_status_get(trace_of(name), &is);
	return is.mode == CTRACE_MODE_OFF && is.options[0] == '\0' &&
	       threshold_of(name) == CTRACE_LEVEL_NONE;
}

/* ---- in force ---- */

static uint32_t see_that_it_is_off(struct ctrace_ctss *ctss)
{
	(void)ctss;
	CHILD_CHECK(is_off("TREE") && is_off("TREE.A"));
	return 0;
}

static void it_is_in_force_when_the_routine_has_agreed(void)
{
	struct ct_status is;

	plant();
	answer = see_that_it_is_off;
	CHILD_CHECK(change("TREE") == CTRACE_RC_OK && call_count == 1 &&
		    was_called(0, "TREE", NULL, START, CTRACE_MODE_ON));
	CHILD_CHECK(threshold_of("TREE") == CTRACE_INFO && threshold_of("TREE.A") == CTRACE_INFO);
	ct_status_get(trace_of("TREE.B"), &is);
	CHILD_CHECK(is.mode == CTRACE_MODE_ON && strcmp(is.options, "ASKED") == 0);
	answer = NULL;
	status.mode = CTRACE_MODE_OFF;
	CHILD_CHECK(change("TREE") == CTRACE_RC_OK &&
		    was_called(1, "TREE", NULL, STOP, CTRACE_MODE_OFF));
	/* most of many are off: nothing is kept */
	CHILD_CHECK(is_off("TREE.A") && trace_of("TREE")->status == NULL);
}

static void nobody_is_called_when_nobody_is_to_be(void)
{
	plant();
	wanted.call = false;
	CHILD_CHECK(change("TREE") == CTRACE_RC_OK && call_count == 0 &&
		    threshold_of("TREE.A") == CTRACE_INFO);
}

static void what_is_to_follow_has_nothing_of_its_own(void)
{
	plant();
	CHILD_CHECK(change("TREE.A") == CTRACE_RC_OK && !trace_of("TREE.A")->follows &&
		    trace_of("TREE.A")->status != NULL);
	CHILD_CHECK(threshold_of("TREE.A") == CTRACE_INFO && is_off("TREE") && is_off("TREE.B"));
	ct_status_get(trace_of("TREE"), &status);
	wanted.follows = true;
	CHILD_CHECK(change("TREE.A") == CTRACE_RC_OK && trace_of("TREE.A")->follows &&
		    trace_of("TREE.A")->status == NULL);
	CHILD_CHECK(is_off("TREE.A"));
}

/* ---- refused ---- */

static uint32_t refuse(struct ctrace_ctss *ctss)
{
	memset(ctss->userdata, 0xEE, sizeof ctss->userdata);
	ctss->buffer_size = 1;
	ctss->reason = 0x22;
	return 8;
}

static uint32_t refuse_and_say_why(struct ctrace_ctss *ctss)
{
	CHILD_CHECK(ctrace_wto(ctss->console, "NOT TODAY") == CTRACE_OK);
	return refuse(ctss);
}

static void a_refusal_changes_nothing(void)
{
	plant();
	status.buffer_asked = status.buffer_rounded = 128u << 10;
	answer = refuse;
	CHILD_CHECK(change("TREE") == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_ROUTINE_REFUSED);
	CHILD_CHECK(outcome.ss_rc == 8 && outcome.ss_rsncode == 0x22 &&
		    strncmp(outcome.message, "TREESS returned 8, reason 22", 28) == 0);
	CHILD_CHECK(is_off("TREE") && is_off("TREE.A") && trace_of("TREE")->status == NULL &&
		    trace_of("TREE")->userdata[0] == 0);
	CHILD_CHECK(ring_of("TREE") == 0 && call_count == 1); /* who refused is not told again */
	answer = refuse_and_say_why;
	CHILD_CHECK(change("TREE") == CTRACE_RC_REFUSED &&
		    strcmp(outcome.message, "NOT TODAY") == 0);
}

static void a_routine_that_is_nowhere_refuses_too(void)
{
	plant();
	CHILD_CHECK(ctrace_routine_register("TREESS", NULL) == CTRACE_OK);
	CHILD_CHECK(change("TREE") == CTRACE_RC_REFUSED &&
		    reason() == CTRACE_RSN_ROUTINE_NOT_LOADED && is_off("TREE"));
	CHILD_CHECK(strstr(outcome.message, "TREESS") != NULL);
}

/* ---- followers ---- */

static uint32_t call_subs(struct ctrace_ctss *ctss)
{
	ctss->call_subs = CTRACE_YES;
	ctss->userdata[0]++;
	if (ctss->sub_count != 0 && ctss->flags == START && HOLDS(ctss->sub[0], "A"))
		return refuse(ctss);
	return 0;
}

static void those_that_had_agreed_hear_that_it_stays_as_it_was(void)
{
	plant();
	answer = call_subs;
	CHILD_CHECK(change("TREE") == CTRACE_RC_REFUSED && outcome.ss_rc == 8);
	CHILD_CHECK(call_count == 5 && was_called(0, "TREE", NULL, START, CTRACE_MODE_ON));
	CHILD_CHECK(was_called(1, "TREE", "B", START, CTRACE_MODE_ON) &&
		    was_called(2, "TREE", "A", START, CTRACE_MODE_ON));
	CHILD_CHECK(was_called(3, "TREE", "B", STOP, CTRACE_MODE_OFF) &&
		    was_called(4, "TREE", NULL, STOP, CTRACE_MODE_OFF));
	/* each as it left it */
	CHILD_CHECK(trace_of("TREE")->userdata[0] == 2 && trace_of("TREE.A")->userdata[0] == 0);
	CHILD_CHECK(is_off("TREE") && is_off("TREE.A") && is_off("TREE.B"));
	/* of the one who refused */
	CHILD_CHECK(outcome.rc == CTRACE_RC_REFUSED && outcome.ss_rsncode == 0x22);
}

/* ---- rings ---- */

static uint32_t round_up(struct ctrace_ctss *ctss)
{
	if (ctss->flags == START)
		CHILD_CHECK(ctss->buffer_size == 100000 && ctss->buffer_granted == 128u << 10);
	ctss->buffer_size = 200000;
	return 0;
}

static void a_ring_has_what_the_routine_made_of_the_size(void)
{
	plant();
	status.buffer_asked = status.buffer_rounded = 100000;
	answer = round_up;
	CHILD_CHECK(change("TREE") == CTRACE_RC_OK && ring_of("TREE") == 256u << 10 &&
		    ring_of("TREE.A") == 256u << 10);
	ct_status_get(trace_of("TREE"), &status);
	CHILD_CHECK(status.buffer_asked == 100000 && status.buffer_rounded == 200000);
	status = (struct ct_status){ .mode = CTRACE_MODE_OFF };
	answer = NULL;
	/* the common one again */
	CHILD_CHECK(change("TREE") == CTRACE_RC_OK && ring_of("TREE") == 0);
}

static void a_size_that_there_is_no_ring_for_changes_nothing(void)
{
	uint64_t bytes = CT_RING_MIN;
	char name[16];

	plant();
	/* As many sizes as there can be. */
	for (unsigned i = 1; i < CT_CHANNEL_LIMIT; i++, bytes += CT_RING_MIN) {
		int size = snprintf(name, sizeof name, "OTHER%u", i);

		CHILD_CHECK(ct_channel_set_buffer(ct_process.registry, name, (size_t)size, bytes) ==
			    CTRACE_OK);
	}
	status.buffer_asked = status.buffer_rounded = 1u << 29;
	CHILD_CHECK(change("TREE") == CTRACE_RC_SYSTEM && reason() == CTRACE_RSN_STORAGE &&
		    call_count == 0);
	CHILD_CHECK(is_off("TREE") && ring_of("TREE") == 0 && trace_of("TREE")->status == NULL);
	/* one that somebody has can be shared */
	status.buffer_asked = status.buffer_rounded = CT_RING_MIN;
	CHILD_CHECK(change("TREE") == CTRACE_RC_OK && ring_of("TREE") == CT_RING_MIN);
}

/* ---- filters and minimum options ---- */

static bool records_for(unsigned asid, const char *jobname)
{
	status.asid_count = asid != 0;
	status.asid[0] = (uint16_t)asid;
	status.jobname_count = jobname != NULL ? 2 : 0;
	(void)snprintf(status.jobname[0], sizeof status.jobname[0], "ANOTHER");
	(void)snprintf(status.jobname[1], sizeof status.jobname[1], "%s",
		       jobname != NULL ? jobname : "");
	CHILD_CHECK(change("TREE") == CTRACE_RC_OK);
	CHILD_CHECK(threshold_of("TREE") == threshold_of("TREE.A"));
	return threshold_of("TREE") == CTRACE_INFO;
}

static void both_filters_have_to_let_this_process_in(void)
{
	unsigned asid;

	plant();
	asid = ct_space_self().asid;
	CHILD_CHECK(records_for(0, NULL) && records_for(asid, NULL) && records_for(0, "OURJOB") &&
		    records_for(asid, "OURJOB"));
	CHILD_CHECK(!records_for(asid + 1, NULL) && !records_for(0, "OURJO"));
	CHILD_CHECK(!records_for(asid, "OURJOB2") && !records_for(asid + 1, "OURJOB"));
	CHILD_CHECK(records_for(0, NULL));
}

static void minimum_options_keep_it_recording(void)
{
	char minops[] = "LEAST";

	plant();
	trace_of("TREE")->attributes.minops = minops;
	status.mode = CTRACE_MODE_MIN;
	CHILD_CHECK(change("TREE") == CTRACE_RC_OK &&
		    was_called(0, "TREE", NULL, STOP, CTRACE_MODE_MIN));
	CHILD_CHECK(threshold_of("TREE") == CTRACE_DEBUG && threshold_of("TREE.A") == CTRACE_DEBUG);
	status.mode = CTRACE_MODE_ON;
	CHILD_CHECK(!records_for(ct_space_self().asid + 1, NULL) &&
		    threshold_of("TREE") == CTRACE_DEBUG);
	trace_of("TREE")->attributes.minops = NULL;
}

/* ---- a CTSS ---- */

static void a_ctss_has_all_of_the_state(void)
{
	char minops[] = "LEAST";
	struct ctrace_ctss ctss;
	struct ct_trace *trace;

	plant();
	trace = trace_of("TREE");
	trace->attributes.minops = minops;
	memset(trace->userdata, 0x77, sizeof trace->userdata);
	status.asid_count = CTRACE_MAX_FILTER;
	status.asid[CTRACE_MAX_FILTER - 1] = 0xFFFF;
	status.jobname_count = 1;
	(void)snprintf(status.jobname[0], sizeof status.jobname[0], "EIGHTCHR");
	(void)snprintf(status.writer, sizeof status.writer, "WRITER");
	memset(status.options, 'o', CTRACE_MAX_OPTIONS);
	status.buffer_asked = 5000;
	status.buffer_rounded = 8192;
	memset(&ctss, 0xA5, sizeof ctss);
	ct_change_fill(trace_of("TREE.A"), &status, CTRACE_CTSS_DISPLAY, &ctss);
	CHILD_CHECK(ctss.size == sizeof ctss && ctss.flags == CTRACE_CTSS_DISPLAY &&
		    ctss.mode == CTRACE_MODE_ON);
	CHILD_CHECK(ctss.display == 0 && ctss.call_subs == 0 && ctss.reason == 0 &&
		    ctss.console == 0 && ctss.cart == 0);
	CHILD_CHECK(HOLDS(ctss.name, "TREE") && ctss.sub_count == 1 && HOLDS(ctss.sub[0], "A") &&
		    HOLDS(ctss.writer, "WRITER"));
	CHILD_CHECK(ctss.buffer_size == 5000 && ctss.buffer_granted == ct_status_granted(8192));
	CHILD_CHECK(ctss.token == ct_token_of(trace_of("TREE.A")) && ctss.userdata[0] == 0);
	CHILD_CHECK(ctss.asid_count == 16 && ctss.asid[15] == 0xFFFF && ctss.jobname_count == 1);
	CHILD_CHECK(HOLDS(ctss.jobname[0], "EIGHTCHR") && HOLDS(ctss.jobname[1], ""));
	CHILD_CHECK(ctss.options_size == CTRACE_MAX_OPTIONS &&
		    ctss.options[CTRACE_MAX_OPTIONS - 1] == 'o');
	CHILD_CHECK(ctss.minops_size == 5 && memcmp(ctss.minops, "LEAST", 5) == 0); /* its head's */
	ct_change_fill(trace, &status, START, &ctss);
	CHILD_CHECK(ctss.userdata[0] == 0x77 && ctss.sub_count == 0);
	trace->attributes.minops = NULL;
}

int test_change(void)
{
	const struct CMUnitTest tests[] = {
		IN_CHILD(it_is_in_force_when_the_routine_has_agreed),
		IN_CHILD(nobody_is_called_when_nobody_is_to_be),
		IN_CHILD(what_is_to_follow_has_nothing_of_its_own),
		IN_CHILD(a_refusal_changes_nothing),
		IN_CHILD(a_routine_that_is_nowhere_refuses_too),
		IN_CHILD(those_that_had_agreed_hear_that_it_stays_as_it_was),
		IN_CHILD(a_ring_has_what_the_routine_made_of_the_size),
		IN_CHILD(a_size_that_there_is_no_ring_for_changes_nothing),
		IN_CHILD(both_filters_have_to_let_this_process_in),
		IN_CHILD(minimum_options_keep_it_recording),
		IN_CHILD(a_ctss_has_all_of_the_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
