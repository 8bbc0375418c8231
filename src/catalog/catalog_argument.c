/*
 * catalog_argument.c - reads the items of an event from a catalogue, and the records of a component
 * that values of items choose.
 *
 * Called by catalog_load.c for each event and each component.  A list of items may be an alias;
 * each use counts.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/catalog_load.h"

enum {
	KEY_NAME,
	KEY_DESCRIPTION,
	KEY_PRINT,
	KEY_UNIT,
	KEY_VALUES,
	KEY_COPYBOOK,
	KEY_RECORD,
	KEY_RECORDS,
	KEY_ENCODING,
	KEY_DIALECT,
	KEY_ODOSLIDE,
	KEY_ROLE,
	KEY_KEY,
	KEY_ASID,
	KEY_JOBNAME,
	KEY_COUNT
};
static const char *const key_names[KEY_COUNT] = { "name",     "description", "print",    "unit",
						  "values",   "copybook",    "record",   "records",
						  "encoding", "dialect",     "odoslide", "role",
						  "key",      "asid",        "jobname" };
static const struct ct_load_keys keys = {
	key_names, KEY_COUNT, "an argument",
	"name, description, print, unit, values, copybook, record, records, encoding, dialect, odoslide, role, key, asid or jobname"
};
static const struct ct_load_letters argument_letters = {
	CT_CATALOG_NAME, "_-", true, "a letter or _, then letters, digits, _ and -: at most 63"
};
static const struct ct_load_letters label_letters = { CT_CATALOG_NAME, "*", false,
						      "a name of 1 to 63 printable bytes" };
static const struct ct_load_letters record_letters = { CT_CATALOG_NAME, "_-", false,
						       "the name of a level 01 in the copybook" };

/* ---- repeated aliases ---- */

/* The result of a list of arguments or a map of values, for the aliases that repeat it.  A
 * catalogue of 29 KB may have a million aliases, so the list is not read again.  The printers write
 * it each time, so it is charged each time. */
struct ct_load_memo {
	const void *what; /* NULL: it has an error */
	uint32_t reads;   /* the charge for reading it */
};

static void memo_add(struct ct_load *load, const struct ct_yaml *node,
		     const struct ct_load_memo *what)
{
	struct ct_load_memo *memo = ct_arena_take(&load->nodes, sizeof *memo);

	if (memo == NULL)
		return; /* the next alias reads it again */
	*memo = *what;
	((struct ct_yaml *)(uintptr_t)node)->memo = memo;
}

/* Returns the result again; NULL, which is reported, when it has an error or exceeds the budget. */
static const void *memo_repeat(struct ct_load *load, const struct ct_yaml *node, const char *what,
			       const char *expected)
{
	const struct ct_load_memo *memo = ct_yaml_value(node)->memo;

	if (memo->what == NULL)
		ct_load_diagnose(load, node, what, expected);
	return memo->what != NULL && ct_load_charge(load, node, memo->reads) ? memo->what : NULL;
}

/* ---- values and their names ---- */

static bool labels_take(struct ct_load *load, const struct ct_yaml *map, struct ct_label *labels,
			struct ct_load_entry *entries)
{
	uint64_t before = load->diagnostics->total;
	uint32_t i = 0;

	for (const struct ct_yaml *key = map->first; key != NULL; key = key->next->next, i++) {
		labels[i].name = ct_load_name(load, key, &label_letters);
		(void)ct_load_number(load, key->next, true, &labels[i].value);
		entries[i] = (struct ct_load_entry){ .name = labels[i].name,
						     .value = labels[i].value,
						     .node = key };
	}
	return load->diagnostics->total == before;
}

static void labels_check(struct ct_load *load, struct ct_load_entry *entries, uint32_t count)
{
	ct_load_unique(load, count, "is the name", "a name of its own for each value");
	for (uint32_t i = 0; i < count; i++)
		entries[i].name = NULL;
	ct_load_unique(load, count, "has the value", "a number of its own for each name");
}

static const struct ct_label *labels_read(struct ct_load *load, const struct ct_yaml *map)
{
	uint32_t count = map->count / 2;
	uint64_t diagnostics = load->diagnostics->total;
	struct ct_label *labels = ct_load_keep(load, count, sizeof *labels);
	struct ct_load_entry *entries = ct_load_entries(load, count);

	if (labels == NULL || entries == NULL)
		return NULL;
	if (labels_take(load, map, labels, entries))
		labels_check(load, entries, count);
	memo_add(load, map,
		 &(struct ct_load_memo){ .what = load->diagnostics->total == diagnostics ? labels
											 : NULL,
					 .reads = map->count });
	return labels;
}

static void labels_load(struct ct_load *load, const struct ct_yaml *node,
			struct ct_argument *argument)
{
	const struct ct_yaml *map = ct_yaml_value(node);

	if (map->kind != CT_YAML_MAP || map->count == 0) {
		ct_load_diagnose(load, node, "there are no values here",
				 "NAME: NUMBER, on a line each or in {} with commas between");
		return;
	}
	if (map->memo != NULL)
		argument->labels =
			memo_repeat(load, node, "there are errors in the values that this repeats",
				    "values without an error");
	else if (ct_load_charge(load, node, map->count))
		argument->labels = labels_read(load, map);
	argument->label_count = argument->labels != NULL ? map->count / 2 : 0;
}

/* ---- print formats ---- */

const char *const ct_print_words[CT_PRINT_COUNT] = {
	[CT_PRINT_DEFAULT] = "default",
	[CT_PRINT_HEX] = "hex",
	[CT_PRINT_DECIMAL] = "decimal",
	[CT_PRINT_TEXT] = "text",
	[CT_PRINT_TIME] = "time",
	[CT_PRINT_FLAGS] = "flags",
	[CT_PRINT_ENUMERATION] = "enumeration",
	[CT_PRINT_RECORD] = "record",
};

static bool print_load(struct ct_load *load, const struct ct_yaml *node, enum ct_print *out_print)
{
	uint32_t index;

	if (!ct_load_word(load, node, ct_print_words, CT_COUNT(ct_print_words),
			  "default, hex, decimal, text, time, flags, enumeration or record",
			  &index))
		return false;
	*out_print = (enum ct_print)index;
	return true;
}

/* Chooses the print format; without the key `print`, the other keys imply it. */
static bool print_choose(struct ct_load *load, const struct ct_yaml *const *values,
			 enum ct_print *out_print)
{
	if (values[KEY_PRINT] != NULL)
		return print_load(load, values[KEY_PRINT], out_print);
	*out_print = values[KEY_COPYBOOK] != NULL || values[KEY_RECORDS] != NULL ? CT_PRINT_RECORD
		     : values[KEY_VALUES] != NULL ? CT_PRINT_ENUMERATION
		     : values[KEY_UNIT] != NULL   ? CT_PRINT_TIME
						  : CT_PRINT_DEFAULT;
	return true;
}

static bool print_has_labels(enum ct_print print)
{
	return print == CT_PRINT_FLAGS || print == CT_PRINT_ENUMERATION;
}

static bool print_has_encoding(enum ct_print print)
{
	return print == CT_PRINT_DEFAULT || print == CT_PRINT_TEXT || print == CT_PRINT_RECORD;
}

/* Reports keys that do not go together. */
static void print_check(struct ct_load *load, const struct ct_yaml *const *values,
			enum ct_print print)
{
	static const unsigned of_copybooks[] = { KEY_RECORD, KEY_DIALECT, KEY_ODOSLIDE };

	if (values[KEY_UNIT] != NULL && print != CT_PRINT_TIME)
		ct_load_diagnose(load, values[KEY_UNIT], "only a time has a unit",
				 "print: time, or no unit");
	if (values[KEY_VALUES] != NULL && !print_has_labels(print))
		ct_load_diagnose(load, values[KEY_VALUES], "values have no names when printed so",
				 "print: enumeration or flags, or no values");
	if (values[KEY_VALUES] == NULL && print_has_labels(print))
		ct_load_diagnose(load, values[KEY_PRINT], "the values have no names",
				 "values: {NAME: NUMBER, ...} beside it");
	if (values[KEY_COPYBOOK] != NULL && print != CT_PRINT_RECORD)
		ct_load_diagnose(load, values[KEY_COPYBOOK], "only a record has a copybook",
				 "print: record, or no copybook");
	if (values[KEY_RECORDS] != NULL && print != CT_PRINT_RECORD)
		ct_load_diagnose(load, values[KEY_RECORDS], "only a record has a copybook",
				 "print: record, or no records");
	if (values[KEY_RECORDS] != NULL && values[KEY_COPYBOOK] != NULL)
		ct_load_diagnose(load, values[KEY_RECORDS], "this record has a copybook already",
				 "one of copybook and records");
	if (values[KEY_COPYBOOK] == NULL && values[KEY_RECORDS] == NULL && print == CT_PRINT_RECORD)
		ct_load_diagnose(load, values[KEY_PRINT], "the record has no copybook",
				 "copybook: FILE beside it");
	for (unsigned i = 0; i < CT_COUNT(of_copybooks); i++)
		if (values[of_copybooks[i]] != NULL && values[KEY_COPYBOOK] == NULL)
			ct_load_diagnose(load, values[of_copybooks[i]],
					 "this key belongs to a copybook, and there is none",
					 "copybook: FILE beside it");
	if (values[KEY_ENCODING] != NULL && !print_has_encoding(print))
		ct_load_diagnose(load, values[KEY_ENCODING],
				 "only texts and records have an encoding",
				 "print: text or record, or no encoding");
}

static void argument_load_unit(struct ct_load *load, const struct ct_yaml *node,
			       struct ct_argument *argument)
{
	static const char *const words[] = { "ns", "us", "ms", "s" };
	static const uint64_t units[] = { 1, 1000, 1000000, 1000000000 };
	uint32_t index;

	argument->unit_ns = 1;
	if (node != NULL &&
	    ct_load_word(load, node, words, CT_COUNT(words), "ns, us, ms or s", &index))
		argument->unit_ns = units[index];
}

static void argument_load_copybook(struct ct_load *load, const struct ct_yaml *const *values,
				   const char *record, struct ct_argument *argument)
{
	const struct ct_yaml *node = values[KEY_COPYBOOK];
	struct ct_record_request request = { .node = node,
					     .directories = load->directories,
					     .directory_count = load->directory_count,
					     .record = record,
					     .form = load->form };
	uint64_t before;

	request.form.encoding = argument->encoding;
	(void)ct_load_dialect(load, values[KEY_DIALECT], &request.form.dialect);
	(void)ct_load_flag(load, values[KEY_ODOSLIDE], &request.form.is_sliding);
	before = load->diagnostics->total;

	argument->copybook_name = ct_load_text(load, node);
	if (argument->copybook_name == NULL || load->status != CTRACE_OK)
		return;
	if (argument->copybook_name[0] == '\0') {
		ct_load_diagnose(load, node, "the copybook is not named", "copybook: FILE");
		return;
	}
	if (!load->budget->with_copybooks)
		return;
	argument->copybook = ct_catalog_record_open(load->file, &request, &load->budget->fields,
						    load->diagnostics);
	if (argument->copybook == NULL && load->diagnostics->total == before)
		load->status = CTRACE_NOT_ENOUGH_MEMORY;
}

/* ---- an argument ---- */

static void argument_load_role(struct ct_load *load, const struct ct_yaml *node,
			       struct ct_argument *argument)
{
	static const char *const words[CT_ARGUMENT_ROLE_COUNT - 1] = { "duration", "bytes",
								       "status" };
	uint32_t index;

	if (node != NULL &&
	    ct_load_word(load, node, words, CT_COUNT(words), "duration, bytes or status", &index))
		argument->role = (enum ct_argument_role)(index + 1);
}

static void argument_load_marks(struct ct_load *load, const struct ct_yaml *const *values,
				struct ct_argument *argument)
{
	argument_load_role(load, values[KEY_ROLE], argument);
	(void)ct_load_flag(load, values[KEY_KEY], &argument->is_key);
	(void)ct_load_flag(load, values[KEY_ASID], &argument->is_asid);
	(void)ct_load_flag(load, values[KEY_JOBNAME], &argument->is_jobname);
	if (argument->is_asid && argument->is_jobname)
		ct_load_diagnose(load, values[KEY_JOBNAME], "this is the ASID already",
				 "one of asid and jobname");
}

static void argument_load_details(struct ct_load *load, const struct ct_yaml *const *values,
				  struct ct_argument *argument)
{
	const char *description = ct_load_text(load, values[KEY_DESCRIPTION]);
	const char *record = ct_load_name(load, values[KEY_RECORD], &record_letters);

	if (description != NULL)
		argument->description = description;
	(void)ct_load_encoding(load, values[KEY_ENCODING], &argument->encoding);
	if (print_choose(load, values, &argument->print))
		print_check(load, values, argument->print);
	argument_load_unit(load, values[KEY_UNIT], argument);
	if (values[KEY_VALUES] != NULL)
		labels_load(load, values[KEY_VALUES], argument);
	if (values[KEY_COPYBOOK] != NULL)
		argument_load_copybook(load, values, record, argument);
	argument_load_marks(load, values, argument);
}

/* Reads an argument: a name alone, or a map.  Returns the node with the name, or NULL; and the
 * value of `records`, or NULL. */
static const struct ct_yaml *load_argument(struct ct_load *load, const struct ct_yaml *node,
					   struct ct_argument *argument,
					   const struct ct_yaml **out_choosers)
{
	const struct ct_yaml *values[KEY_COUNT] = { 0 };

	*out_choosers = NULL;

	*argument = (struct ct_argument){
		.name = "", .description = "", .unit_ns = 1, .encoding = load->form.encoding
	};
	if (ct_yaml_value(node)->kind == CT_YAML_SCALAR)
		values[KEY_NAME] = node;
	else if (!ct_load_map(load, node, &keys, values))
		return NULL;
	if (values[KEY_NAME] == NULL)
		ct_load_diagnose(load, node, "an argument without a name", "name: NAME");
	else
		argument->name = ct_load_name(load, values[KEY_NAME], &argument_letters);
	argument_load_details(load, values, argument);
	*out_choosers = values[KEY_RECORDS];
	return argument->name != NULL ? values[KEY_NAME] : NULL;
}

static void arguments_check_marks(struct ct_load *load, const struct ct_yaml *list,
				  const struct ct_event_type *type)
{
	unsigned asids = 0;
	unsigned jobnames = 0;
	unsigned roles[CT_ARGUMENT_ROLE_COUNT] = { 0 };

	for (uint32_t i = 0; i < type->argument_count; i++) {
		asids += type->arguments[i].is_asid;
		jobnames += type->arguments[i].is_jobname;
		roles[type->arguments[i].role]++;
	}
	if (asids > 1)
		ct_load_diagnose(load, list, "there are several ASIDs among the arguments",
				 "asid: true once");
	if (jobnames > 1)
		ct_load_diagnose(load, list, "there are several JOBNAMEs among the arguments",
				 "jobname: true once");
	for (unsigned role = CT_ARGUMENT_ROLE_NONE + 1; role < CT_ARGUMENT_ROLE_COUNT; role++)
		if (roles[role] > 1)
			ct_load_diagnose(load, list, "several arguments have one role",
					 "each role once");
}

/* ---- items that choose a record ---- */

static void chooser_add(struct ct_load *load, const struct ct_yaml *node,
			const struct ct_event_type *type, struct ct_argument *argument)
{
	const struct ct_yaml *word = ct_yaml_value(node);

	for (uint32_t i = 0; i < type->argument_count && word->kind == CT_YAML_SCALAR; i++) {
		const struct ct_argument *chooser = &type->arguments[i];

		if (chooser == argument || chooser->name == NULL ||
		    !ct_name_is(word->text, word->count, chooser->name))
			continue;
		argument->choosers[argument->chooser_count++] = i;
		return;
	}
	ct_load_diagnose_word(load, node, "is no other argument of this event",
			      "the name of the argument whose value chooses among records");
}

static void argument_take_choosers(struct ct_load *load, const struct ct_yaml *node,
				   const struct ct_event_type *type, struct ct_argument *argument)
{
	const struct ct_yaml *list = ct_yaml_value(node);

	if (list->kind != CT_YAML_LIST) {
		chooser_add(load, node, type, argument);
		return;
	}
	if (list->count == 0 || list->count > CT_CATALOG_CHOOSERS) {
		ct_load_diagnose(load, node, "so many arguments cannot choose a record",
				 "1 to 4 names of arguments");
		return;
	}
	for (const struct ct_yaml *item = list->first; item != NULL; item = item->next)
		chooser_add(load, item, type, argument);
}

/* Returns false without memory, or when the file exceeds a limit. */
static bool arguments_read(struct ct_load *load, const struct ct_yaml *list,
			   struct ct_event_type *type)
{
	const struct ct_yaml *items = ct_yaml_value(list);
	struct ct_argument *arguments = ct_load_keep(load, items->count, sizeof *arguments);
	const struct ct_yaml **names =
		ct_arena_take(&load->nodes, items->count * sizeof(const struct ct_yaml *));
	const struct ct_yaml **choosers =
		ct_arena_take(&load->nodes, items->count * sizeof(const struct ct_yaml *));
	struct ct_load_entry *entries;
	uint32_t named = 0;
	uint32_t i = 0;

	if (arguments == NULL || names == NULL || choosers == NULL) {
		load->status = CTRACE_NOT_ENOUGH_MEMORY;
		return false;
	}
	for (const struct ct_yaml *item = items->first; item != NULL && load->status == CTRACE_OK;
	     item = item->next, i++)
		names[i] = load_argument(load, item, &arguments[i], &choosers[i]);
	if (load->status != CTRACE_OK)
		return false;
	type->arguments = arguments;
	type->argument_count = items->count;
	entries = ct_load_entries(load, items->count);
	if (entries == NULL)
		return false;
	for (i = 0; i < items->count; i++)
		if (names[i] != NULL)
			entries[named++] = (struct ct_load_entry){ .name = arguments[i].name,
								   .node = names[i] };
	ct_load_unique(load, named, "is the name", "a name of its own for each argument");
	for (i = 0; i < items->count; i++)
		if (choosers[i] != NULL)
			argument_take_choosers(load, choosers[i], type, &arguments[i]);
	arguments_check_marks(load, list, type);
	return true;
}

void ct_load_arguments(struct ct_load *load, const struct ct_yaml *list, struct ct_event_type *type)
{
	const struct ct_yaml *items = ct_yaml_value(list);
	uint32_t reads_before = load->budget->reads;
	uint64_t diagnostics_before = load->diagnostics->total;

	if (ct_load_is_nothing(list))
		return;
	if (items->kind != CT_YAML_LIST) {
		ct_load_diagnose(load, list, "arguments are a list",
				 "\"- name: NAME\" for each item, in their order");
		return;
	}
	if (items->memo != NULL) {
		type->arguments = memo_repeat(load, list,
					      "there are errors in the arguments that this repeats",
					      "arguments without an error");
		type->argument_count = type->arguments != NULL ? items->count : 0;
		return;
	}
	if (items->count > CTRACE_MAX_ITEMS) {
		ct_load_diagnose(load, list, "there are too many arguments",
				 "at most 4,096 items in an event");
		return;
	}
	if (items->count == 0 || !ct_load_charge(load, list, items->count) ||
	    !arguments_read(load, list, type))
		return;
	memo_add(load, items,
		 &(struct ct_load_memo){ .what = load->diagnostics->total == diagnostics_before
							 ? type->arguments
							 : NULL,
					 .reads = reads_before - load->budget->reads });
}

/* ---- records that values choose ---- */

/* The keys of such a record, and what they are called as keys of an argument. */
static const char *const choice_names[] = { "copybook", "record", "encoding", "dialect",
					    "odoslide" };
static const unsigned choice_keys[] = { KEY_COPYBOOK, KEY_RECORD, KEY_ENCODING, KEY_DIALECT,
					KEY_ODOSLIDE };
static const struct ct_load_keys choice_map = { choice_names, CT_COUNT(choice_names), "a record",
						"copybook, record, encoding, dialect or odoslide" };
static const struct ct_load_letters choice_letters = {
	CT_CATALOG_TEXT, "*", false, "a value of the item that chooses: 1 to 4,095 printable bytes"
};

static void choice_load(struct ct_load *load, const struct ct_yaml *key,
			struct ct_catalog_choice *choice)
{
	const struct ct_yaml *given[CT_COUNT(choice_names)];
	const struct ct_yaml *values[KEY_COUNT] = { 0 };

	choice->value = ct_load_name(load, key, &choice_letters);
	choice->argument = (struct ct_argument){ .name = "",
						 .description = "",
						 .print = CT_PRINT_RECORD,
						 .unit_ns = 1,
						 .encoding = load->form.encoding };
	if (ct_yaml_value(key->next)->kind == CT_YAML_SCALAR) {
		values[KEY_COPYBOOK] = key->next;
	} else {
		if (!ct_load_map(load, key->next, &choice_map, given))
			return;
		for (unsigned i = 0; i < CT_COUNT(choice_keys); i++)
			values[choice_keys[i]] = given[i];
	}
	if (values[KEY_COPYBOOK] == NULL) {
		ct_load_diagnose(load, key->next, "what the record looks like is not said",
				 "copybook: FILE");
		return;
	}
	(void)ct_load_encoding(load, values[KEY_ENCODING], &choice->argument.encoding);
	argument_load_copybook(load, values,
			       ct_load_name(load, values[KEY_RECORD], &record_letters),
			       &choice->argument);
}

void ct_load_choices(struct ct_load *load, const struct ct_yaml *node,
		     struct ct_catalog_component *component)
{
	const struct ct_yaml *map = ct_yaml_value(node);
	uint32_t count = map->count / 2, i = 0;
	struct ct_catalog_choice *choices;
	struct ct_load_entry *entries;

	if (ct_load_is_nothing(node))
		return;
	if (map->kind != CT_YAML_MAP) {
		ct_load_diagnose(load, node, "records are keys and values",
				 "VALUE: COPYBOOK, on a line each or in {} with commas between");
		return;
	}
	if (count == 0 || !ct_load_charge(load, node, map->count))
		return;
	choices = ct_load_keep(load, count, sizeof *choices);
	entries = ct_load_entries(load, count);
	if (choices == NULL || entries == NULL)
		return;
	for (const struct ct_yaml *key = map->first; key != NULL && load->status == CTRACE_OK;
	     key = key->next->next, i++)
		choice_load(load, key, &choices[i]);
	if (load->status != CTRACE_OK)
		return;
	count = 0;
	i = 0;
	for (const struct ct_yaml *key = map->first; key != NULL; key = key->next->next, i++)
		if (choices[i].value != NULL)
			entries[count++] =
				(struct ct_load_entry){ .name = choices[i].value, .node = key };
	ct_load_unique(load, count, "is the value", "each value once");
	component->choices = choices;
	component->choice_count = i;
}
