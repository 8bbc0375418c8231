/*
 * module.c - emitters in shared objects.
 *
 * Called by emitter.c when a name is not known yet, by commands, on any number of threads; by
 * lib/cobol/notify.c for the bridge to COBOL; and by lib/component/routine.c for exits.  The caller
 * holds no lock of ctrace: the loader has a lock of its own, and a thread that runs the
 * constructors of a library holds that one while it waits for ours. A module is code that runs
 * with everything the traced program may do, so it is loaded only from a directory that only this
 * user and root can write to.  The checks are made on an open descriptor, and the loader gets that
 * descriptor, so the checked file is the loaded one.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/emit.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
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

static int open_trusted(const char *directory, const char *file_name)
{
	struct stat info;
	int directory_fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = -1;

	if (directory_fd < 0)
		return -1;
	if (fstat(directory_fd, &info) == 0 && file_is_trusted(&info))
		fd = openat(directory_fd, file_name,
			    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || !file_is_trusted(&info)))
		ct_os_close(&fd);
	ct_os_close(&directory_fd);
	return fd;
}

/* Loads what the descriptor refers to.  The loader takes two modules with the same path for one,
 * and descriptors are numbered anew, so no two paths are the same: the digits of a running number
 * stand between directory and descriptor, as "/" and "./". */
static void *module_load(int fd)
{
	static unsigned loads;
	char path[128] = "/proc/thread-self/fd/";
	size_t size = strlen(path);

	for (unsigned turn = __atomic_fetch_add(&loads, 1, __ATOMIC_RELAXED); turn != 0;
	     turn >>= 1) {
		if (turn & 1)
			path[size++] = '.';
		path[size++] = '/';
	}
	(void)snprintf(path + size, sizeof path - size, "%d", fd);
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
	int fd;

	if (directory[0] != '/')
		return false;
	fd = open_trusted(directory, wanted->file_name);
	if (fd < 0)
		return false;
	wanted->handle = module_load(fd);
	ct_os_close(&fd);
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
