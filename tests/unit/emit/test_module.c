/*
 * test_module.c - modules are loaded from places that only this user and root can write to, and
 * when they keep the contract.
 *
 * The modules are compiled by the test.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "emit_fixture.h"
#include <dlfcn.h>
#include <sys/stat.h>

static char top[256];

static void run(const char *format, ...) CT_PRINTF(1, 2);
static void run(const char *format, ...)
{
	char command[4096];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(command, sizeof command, format, arguments);
	va_end(arguments);
	assert_int_equal(system(command), 0);
}

static const char source[] =
	"#include <ctrace/emitter.h>\n"
	"static enum ctrace_status o(const struct ctrace_emitter_context *c, void **s) { (void)c; *s = 0; return CTRACE_OK; }\n"
	"static enum ctrace_status w(void *s, const struct ctrace_batch *b) { (void)s; (void)b; return CTRACE_OK; }\n"
	"static void c(void *s) { (void)s; }\n"
	"const struct ctrace_emitter SYMBOL = { .size = sizeof(struct ctrace_emitter) SIZE, .name = NAME,\n"
	"	.open = o, .write = WRITE, .close = c };\n";

/* directory/file.so, an emitter that calls itself `name`; its directory is ours alone. */
static void build(const char *directory, const char *file, const char *name, const char *more)
{
	const char *root = getenv("CTRACE_SOURCE");

	run("cd '%s' && mkdir -p -m 755 %s && cc -shared -fPIC -w -I'%s/include' '-DNAME=\"%s\"' %s -o %s/%s.so module.c && "
	    "chmod 755 %s/%s.so",
	    top, directory, root != NULL ? root : ".", name, more, directory, file, directory,
	    file);
}

#define GOOD "-DSYMBOL=ctrace_emitter -DSIZE= -DWRITE=w"

static void search(const char *directories)
{
	assert_int_equal(setenv("CTRACE_EMITTERS", directories, 1), 0);
}

static void search_in(const char *directory)
{
	char path[512];

	(void)snprintf(path, sizeof path, "%s/%s", top, directory);
	search(path);
}

static int init_all(void **state)
{
	const char *parent = getenv("TMPDIR");
	FILE *file;
	char path[512];

	(void)state;
	(void)umask(022);
	(void)snprintf(top, sizeof top, "%s/module.XXXXXX", parent != NULL ? parent : "/tmp");
	if (mkdtemp(top) == NULL)
		return 1;
	(void)snprintf(path, sizeof path, "%s/module.c", top);
	file = fopen(path, "we");
	if (file == NULL || fputs(source, file) < 0)
		return 1;
	return fclose(file);
}

static int fini_all(void **state)
{
	(void)state;
	fixture_remove_directory(top);
	return 0;
}

static void found_by_name(void **state)
{
	const struct ctrace_emitter *emitter;

	(void)state;
	build("good", "one-1_x", "ONE-1_X", GOOD);
	build("good", "two", "TWO", GOOD);
	search_in("good");
	emitter = ct_module_find("ONE-1_X", NULL);
	assert_non_null(emitter);
	assert_string_equal(emitter->name, "ONE-1_X");
	/* Another module on the same descriptor number is not taken for the first. */
	emitter = ct_module_find("TWO", NULL);
	assert_non_null(emitter);
	assert_string_equal(emitter->name, "TWO");
	assert_null(ct_module_find("THREE", NULL));
	/* However often one was loaded in between that turned out to be none. */
	build("good", "none", "OTHER", GOOD);
	for (unsigned i = 0; i < 100; i++)
		assert_null(ct_module_find("NONE", NULL));
	build("good", "four", "FOUR", GOOD);
	assert_non_null(ct_module_find("FOUR", NULL));
}

/* For a module that is no emitter: what it offers is looked up in it. */
static void opened_by_name(void **state)
{
	void *handle;

	(void)state;
	build("good", "opened", "OPENED", GOOD);
	search_in("good");
	handle = ct_module_open("opened");
	assert_non_null(handle);
	assert_non_null(dlsym(handle, "ctrace_emitter"));
	assert_null(ct_module_open("closed"));
}

static void names_that_are_no_names(void **state)
{
	(void)state;
	build("names", "a", "A", GOOD);
	search_in("names");
	assert_non_null(ct_module_find("A", NULL));
	assert_null(ct_module_find("", NULL));
	assert_null(ct_module_find("../NAMES/A", NULL));
	assert_null(ct_module_find("./A", NULL));
	assert_null(ct_module_find("A.SO", NULL));
	assert_null(ct_module_find("A B", NULL));
	assert_null(ct_module_find("\xC4", NULL));
	assert_null(ct_module_find("a", NULL));
	assert_null(ct_module_find("A234567890123456789012345678901234567890", NULL));
}

static void lists_of_directories(void **state)
{
	char list[8192], longest[5000];

	(void)state;
	build("list1", "here", "HERE", GOOD);
	build("list2", "there", "THERE", GOOD);
	(void)snprintf(list, sizeof list, ":/nonexistent::%s/list1:%s/list2:", top, top);
	search(list);
	assert_non_null(ct_module_find("HERE", NULL));
	assert_non_null(ct_module_find("THERE", NULL));
	memset(longest, 'x', sizeof longest - 1);
	longest[0] = '/';
	longest[sizeof longest - 1] = '\0';
	(void)snprintf(list, sizeof list, "%s:%s/list1", longest, top);
	search(list);
	assert_non_null(ct_module_find("HERE", NULL));
	search("");
	assert_null(ct_module_find("HERE", NULL));
}

static void only_absolute_directories(void **state)
{
	char before[4096];

	(void)state;
	build("absolute", "rel", "REL", GOOD);
	assert_non_null(getcwd(before, sizeof before));
	assert_int_equal(chdir(top), 0);
	search("absolute");
	assert_null(ct_module_find("REL", NULL));
	search(".");
	assert_null(ct_module_find("REL", NULL));
	assert_int_equal(chdir(before), 0);
	search_in("absolute");
	assert_non_null(ct_module_find("REL", NULL));
}

static void places_others_can_write_to(void **state)
{
	static const struct {
		const char *spoil, *mend;
	} rows[] = {
		{ "chmod 775 places", "chmod 755 places" },
		{ "chmod 757 places", "chmod 755 places" },
		{ "chmod 1777 places", "chmod 0755 places" },
		{ "chmod 775 places/spoilt.so", "chmod 755 places/spoilt.so" },
		{ "chmod 757 places/spoilt.so", "chmod 755 places/spoilt.so" },
		{ "mv places/spoilt.so real.so && ln -s ../real.so places/spoilt.so",
		  "mv real.so places/spoilt.so" },
		{ "mv places/spoilt.so real.so && mkfifo places/spoilt.so",
		  "mv -f real.so places/spoilt.so" },
		{ "mv places/spoilt.so real.so && mkdir places/spoilt.so",
		  "rmdir places/spoilt.so && mv real.so places/spoilt.so" },
	};

	(void)state;
	build("places", "spoilt", "SPOILT", GOOD);
	search_in("places");
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		run("cd '%s' && %s", top, rows[i].spoil);
		assert_null(ct_module_find("SPOILT", NULL));
		run("cd '%s' && %s", top, rows[i].mend);
		assert_non_null(ct_module_find("SPOILT", NULL));
	}
}

static void files_and_directories_of_others(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip(); /* only root can give files away */
	build("owner", "third_party", "THIRD_PARTY", GOOD);
	search_in("owner");
	run("chown 65534 '%s/owner/third_party.so'", top);
	assert_null(ct_module_find("THIRD_PARTY", NULL));
	run("chown 0 '%s/owner/third_party.so' && chown 65534 '%s/owner'", top, top);
	assert_null(ct_module_find("THIRD_PARTY", NULL));
	run("chown 0 '%s/owner'", top);
	assert_non_null(ct_module_find("THIRD_PARTY", NULL));
}

static void modules_that_break_the_contract(void **state)
{
	(void)state;
	build("broken", "othername", "SOMETHING", GOOD);
	build("broken", "lower", "lower", GOOD);
	build("broken", "nosymbol", "NOSYMBOL", "-DSYMBOL=something_else -DSIZE= -DWRITE=w");
	build("broken", "small", "SMALL", "-DSYMBOL=ctrace_emitter -DSIZE=-16 -DWRITE=w");
	build("broken", "large", "LARGE", "-DSYMBOL=ctrace_emitter -DSIZE=+64 -DWRITE=w");
	build("broken", "nowrite", "NOWRITE", "-DSYMBOL=ctrace_emitter -DSIZE= -DWRITE=0");
	run("echo 'this is no shared object' > '%s/broken/text.so'", top);
	search_in("broken");
	assert_null(ct_module_find("OTHERNAME", NULL));
	assert_null(ct_module_find("LOWER", NULL));
	assert_null(ct_module_find("NOSYMBOL", NULL));
	assert_null(ct_module_find("SMALL", NULL));
	assert_null(ct_module_find("NOWRITE", NULL));
	assert_null(ct_module_find("TEXT", NULL));
	/* One from a later version, which knows more than we do. */
	assert_non_null(ct_module_find("LARGE", NULL));
}

/* ---- a file of any name: exits ---- */

/* ct_module_open_in() of the directory, and is it a module that can be used? */
static bool opens(const char *directory, const char *file_name)
{
	char list[600];
	void *module;

	(void)snprintf(list, sizeof list, "/nonexistent:%s/%s:relative", top, directory);
	module = ct_module_open_in(list, file_name);
	return module != NULL && dlsym(module, "something") != NULL;
}

static void a_file_is_found_by_its_name(void **state)
{
	(void)state;
	build("exits", "APPXYZSS", "X", "-DSYMBOL=something -DSIZE= -DWRITE=w");
	build("exits", "A@#45678", "X", "-DSYMBOL=something -DSIZE= -DWRITE=w");
	assert_true(opens("exits", "APPXYZSS.so"));
	assert_true(opens("exits", "A@#45678.so"));
	assert_false(opens("exits", "appxyzss.so"));
	assert_false(opens("exits", "APPXYZSS"));
	assert_false(opens("other", "APPXYZSS.so"));
	assert_null(ct_module_open_in(NULL, "APPXYZSS.so"));
	assert_null(ct_module_open_in("", "APPXYZSS.so"));
}

static void a_path_is_no_name_of_a_file(void **state)
{
	(void)state;
	build("exits/below", "DEEP", "X", "-DSYMBOL=something -DSIZE= -DWRITE=w");
	assert_true(opens("exits/below", "DEEP.so"));
	assert_false(opens("exits", "below/DEEP.so"));
	assert_false(opens("exits/below", "../APPXYZSS.so"));
	assert_false(opens("exits/below", "./DEEP.so"));
	assert_false(opens("exits", ""));
	assert_false(opens("exits", ".."));
	assert_false(opens("exits", "A-NAME-THAT-IS-LONGER-THAN-THERE-IS-ROOM-FOR-IN-HERE.so"));
}

static void a_file_comes_from_no_place_that_others_can_write_to(void **state)
{
	static const struct {
		const char *spoil, *mend;
	} rows[] = {
		{ "chmod 775 own", "chmod 755 own" },
		{ "chmod 1777 own", "chmod 0755 own" },
		{ "chmod 757 own/EXIT.so", "chmod 755 own/EXIT.so" },
		{ "mv own/EXIT.so real.so && ln -s ../real.so own/EXIT.so",
		  "mv real.so own/EXIT.so" },
	};

	(void)state;
	build("own", "EXIT", "X", "-DSYMBOL=something -DSIZE= -DWRITE=w");
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		run("cd '%s' && %s", top, rows[i].spoil);
		assert_false(opens("own", "EXIT.so"));
		run("cd '%s' && %s", top, rows[i].mend);
		assert_true(opens("own", "EXIT.so"));
	}
}

/* Whatever happens, no descriptor stays behind. */
static void descriptors_are_closed(void **state)
{
	int before = dup(0), after;

	(void)state;
	close(before);
	search_in("broken");
	(void)ct_module_find("TEXT", NULL);
	(void)ct_module_find("SMALL", NULL);
	search_in("good");
	assert_non_null(ct_module_find("TWO", NULL));
	after = dup(0);
	close(after);
	assert_int_equal(before, after);
}

int test_module(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_by_name),
		cmocka_unit_test(opened_by_name),
		cmocka_unit_test(names_that_are_no_names),
		cmocka_unit_test(lists_of_directories),
		cmocka_unit_test(only_absolute_directories),
		cmocka_unit_test(places_others_can_write_to),
		cmocka_unit_test(files_and_directories_of_others),
		cmocka_unit_test(modules_that_break_the_contract),
		cmocka_unit_test(a_file_is_found_by_its_name),
		cmocka_unit_test(a_path_is_no_name_of_a_file),
		cmocka_unit_test(a_file_comes_from_no_place_that_others_can_write_to),
		cmocka_unit_test(descriptors_are_closed),
	};

	return cmocka_run_group_tests(tests, init_all, fini_all);
}
