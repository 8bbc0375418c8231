/*
 * module.c - emitters in shared objects.
 *
 * Called by emitter.c when a name is not known yet, by commands, on any number of threads; by
 * lib/cobol/notify.c for the bridge to COBOL; and by lib/component/routine.c for exits.  The caller
 * holds no lock of ctrace: the loader has a lock of its own, and a thread that runs the
 * constructors of a library holds that one while it waits for ours.  A module is code that runs
 * with everything the traced program may do, so it is loaded only from a directory that only this
 * user and root can write to, below directories that belong to them.  So nobody else replaces the
 * file between the check and the load.  The loader gets the file's own path, because debuggers and
 * profilers open every name in the list of loaded objects.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/emit.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef CT_MODULE_DIR
#define CT_MODULE_DIR "/usr/local/lib/ctrace"
#endif

/* The last member that a module must have; one built with an older, shorter struct is refused. */
#define EMITTER_SIZE_MIN \
	(offsetof(struct ctrace_emitter, close) + sizeof(((struct ctrace_emitter *)0)->close))

static bool file_is_trusted(const struct stat *info)
{
	return (info->st_uid == geteuid() || info->st_uid == 0) &&
	       (info->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* The name of the file: letters, digits, '_' and '-' only, so that it cannot be a path. */
static bool print_file_name(char out_name[CTRACE_MAX_EMITTER + 4], const char *upper_name)
{
	size_t size = strlen(upper_name);

	if (size == 0 || size > CTRACE_MAX_EMITTER)
		return false;
	for (size_t i = 0; i < size; i++) {
		char c = upper_name[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		else if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_' && c != '-')
			return false;
		out_name[i] = c;
	}
	memcpy(out_name + size, ".so", 4);
	return true;
}

/* A directory on the way to the module.  In a sticky one, as /tmp, nobody renames what belongs to
 * another.  A group that may write there may replace whatever is below, also libctrace.so. */
static bool ancestor_is_trusted(const char *path)
{
	struct stat info;

	return lstat(path, &info) == 0 && S_ISDIR(info.st_mode) &&
	       (info.st_uid == geteuid() || info.st_uid == 0) &&
	       ((info.st_mode & S_IWOTH) == 0 || (info.st_mode & S_ISVTX) != 0);
}

/* path: absolute and without links. */
static bool ancestors_are_trusted(char *path)
{
	bool is_trusted = ancestor_is_trusted("/");

	for (char *slash = strchr(path + 1, '/'); is_trusted && slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		is_trusted = ancestor_is_trusted(path);
		*slash = '/';
	}
	return is_trusted;
}

static void *module_load(const char *directory, const char *file_name)
{
	char path[PATH_MAX];
	struct stat info;
	size_t size;

	if (realpath(directory, path) == NULL || stat(path, &info) != 0 || !S_ISDIR(info.st_mode) ||
	    !file_is_trusted(&info))
		return NULL;
	size = strlen(path);
	if (size + 1 + strlen(file_name) >= sizeof path)
		return NULL;
	path[size] = '/';
	memcpy(path + size + 1, file_name, strlen(file_name) + 1);
	if (!ancestors_are_trusted(path) || lstat(path, &info) != 0 || !S_ISREG(info.st_mode) ||
	    !file_is_trusted(&info))
		return NULL;
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static bool emitter_is_complete(const struct ctrace_emitter *emitter, const char *upper_name)
{
	return emitter->size >= EMITTER_SIZE_MIN && emitter->name != NULL &&
	       strcmp(emitter->name, upper_name) == 0 && emitter->open != NULL &&
	       emitter->write != NULL && emitter->close != NULL;
}

/* A request for the emitter in a module, or for the module itself. */
struct wanted {
	char file_name[CTRACE_MAX_EMITTER + 4];
	const char *emitter;     /* upper case; NULL: the module itself */
	const char *directories; /* where it is looked for; NULL: where modules of ctrace are */
	bool is_found;
	void *handle;
	const struct ctrace_emitter *found;
};

static bool module_find_in(const char *directory, struct wanted *wanted)
{
	if (directory[0] != '/')
		return false;
	wanted->handle = module_load(directory, wanted->file_name);
	if (wanted->handle == NULL || wanted->emitter == NULL)
		return wanted->handle != NULL;
	wanted->found = dlsym(wanted->handle, "ctrace_emitter");
	if (wanted->found != NULL && emitter_is_complete(wanted->found, wanted->emitter))
		return true;
	(void)dlclose(wanted->handle);
	return false;
}

static bool module_find_in_list(const char *directories, struct wanted *wanted)
{
	while (directories != NULL && *directories != '\0') {
		size_t size = strcspn(directories, ":");
		char directory[PATH_MAX];

		if (size < sizeof directory) {
			memcpy(directory, directories, size);
			directory[size] = '\0';
			if (module_find_in(directory, wanted))
				return true;
		}
		directories += size;
		directories += *directories == ':';
	}
	return false;
}

/* Called on a stack of our own: paths are long, and a thread's stack may be too small for the
 * loader. */
static void module_search(void *argument)
{
	struct wanted *wanted = argument;
	char directory[PATH_MAX];

	ct_guard_output(); /* a module's constructor may write */
	if (wanted->directories != NULL) {
		wanted->is_found = module_find_in_list(wanted->directories, wanted);
		return;
	}
	wanted->is_found = module_find_in_list(ct_os_environment("CTRACE_EMITTERS"), wanted);
	if (!wanted->is_found && ct_own_directory("modules", directory))
		wanted->is_found = module_find_in(directory, wanted);
	if (!wanted->is_found)
		wanted->is_found = module_find_in(CT_MODULE_DIR, wanted);
}

static bool module_find(const char *name, struct wanted *wanted)
{
	if (!print_file_name(wanted->file_name, name))
		return false;
	ct_on_own_stack(module_search, wanted);
	return wanted->is_found;
}

const struct ctrace_emitter *ct_module_find(const char *upper_name, void **out_handle)
{
	struct wanted wanted = { .emitter = upper_name };

	if (!module_find(upper_name, &wanted))
		return NULL;
	if (out_handle != NULL)
		*out_handle = wanted.handle;
	return wanted.found;
}

void *ct_module_open_in(const char *directories, const char *file_name)
{
	struct wanted wanted = { .directories = directories };

	if (directories == NULL || strlen(file_name) >= sizeof wanted.file_name ||
	    strchr(file_name, '/') != NULL)
		return NULL;
	memcpy(wanted.file_name, file_name, strlen(file_name) + 1);
	ct_on_own_stack(module_search, &wanted);
	return wanted.is_found ? wanted.handle : NULL;
}

void *ct_module_open(const char *name)
{
	struct wanted wanted = { .emitter = NULL };

	return module_find(name, &wanted) ? wanted.handle : NULL;
}
