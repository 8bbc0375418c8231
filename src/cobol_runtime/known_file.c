/*
 * known_file.c - which file of the system belongs to a SELECT, and whether it is traced.
 *
 * Only libcob knows how it makes a path from ASSIGN, COB_FILE_PATH and the environment.  So nothing
 * is computed here: an OPEN has opened a descriptor, and the kernel has the path of its file.  A
 * file that was not opened has the text of ASSIGN.
 *
 * The files are found by the address of libcob's structure, until libcob frees it.  A file for
 * which there is no memory has the spare place, which the next such file takes over.  On the thread
 * of the COBOL program.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cobol_runtime/file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUCKETS 512 /* a power of two */

static struct ct_known_file *files[BUCKETS];
static struct ct_known_file file_spare;
static struct ct_known_file *file_last = &file_spare;

static struct ct_known_file **file_bucket(const cob_file *file)
{
	return &files[((uintptr_t)file >> 4) * 0x9E3779B97F4A7C15u >> 55];
}

static void path_set(struct ct_known_file *known, const char *path, size_t size)
{
	if (size > CT_PATH_SIZE) {
		path += size - CT_PATH_SIZE;
		size = CT_PATH_SIZE;
	}
	(void)ct_encoded_add(known->names + CT_ENCODED_SIZE(known->select_size), path, size);
	known->path_size = (uint16_t)size;
}

/* The SELECT name is copied: it is a text of the program that opened the file, and a file that is
 * EXTERNAL outlives that. */
static void file_begin(struct ct_known_file *known, const cob_file *file)
{
	const char *select = file->select_name != NULL ? file->select_name : "";

	known->file = file;
	known->select_size = (uint16_t)strnlen(select, CT_SELECT_SIZE);
	(void)ct_encoded_add(known->names, select, known->select_size);
	path_set(known, "", 0);
	known->is_on = false;
	known->generation = 0;
}

static struct ct_known_file *file_add(const cob_file *file)
{
	struct ct_known_file **bucket = file_bucket(file);
	struct ct_known_file *known = malloc(sizeof *known);

	if (known != NULL) {
		known->next = *bucket;
		*bucket = known;
	} else {
		known = &file_spare;
	}
	file_begin(known, file);
	return known;
}

static struct ct_known_file *file_find(const cob_file *file)
{
	struct ct_known_file *known = file_last;

	if (known->file == file)
		return known;
	known = *file_bucket(file);
	while (known != NULL && known->file != file)
		known = known->next;
	file_last = known != NULL ? known : file_add(file);
	return file_last;
}

const struct ct_known_file *ct_file_known(const cob_file *file)
{
	static const struct ct_known_file none;

	return file != NULL ? file_find(file) : &none;
}

void ct_file_remove(const cob_file *file)
{
	for (struct ct_known_file **at = file_bucket(file); *at != NULL; at = &(*at)->next) {
		struct ct_known_file *known = *at;

		if (known->file != file)
			continue;
		*at = known->next;
		free(known);
		break;
	}
	file_spare.file = NULL;
	file_last = &file_spare;
}

/* -----------------------------------------------------------------------------------------------
 * The property file:NAME
 */

static bool file_property_is_on(const struct ct_known_file *known)
{
	struct ct_name select = ct_file_select(known), path = ct_file_path(known);
	const char *base = memrchr(path.text, '/', path.size);
	const char *name = base != NULL ? base + 1 : path.text;

	return ct_switches_file_is_on(select.text, select.size) ||
	       ct_switches_file_is_on(name, (size_t)(path.text + path.size - name));
}

bool ct_file_is_on(const cob_file *file)
{
	uint32_t generation;
	struct ct_known_file *known;

	if ((atomic_load_explicit(&ct_xfh_properties, memory_order_relaxed) & CT_XFH_ALL) != 0)
		return true;
	if (file == NULL)
		return false;
	known = file_find(file);
	generation = atomic_load_explicit(&ct_xfh_generation, memory_order_relaxed);
	if (known->generation != generation) {
		known->is_on = file_property_is_on(known);
		known->generation = generation;
	}
	return known->is_on;
}

/* -----------------------------------------------------------------------------------------------
 * The file of the system
 */

static bool descriptor_is_open(const struct ct_descriptors *set, size_t number)
{
	return (set->open[number / 64] >> number % 64 & 1) != 0;
}

static void descriptor_add(struct ct_descriptors *set, unsigned long number)
{
	struct stat status;

	if (number >= CT_DESCRIPTORS || fstat((int)number, &status) != 0 ||
	    !S_ISREG(status.st_mode))
		return;
	set->open[number / 64] |= UINT64_C(1) << number % 64;
	set->inodes[number] = status.st_ino;
}

void ct_descriptors_read(struct ct_descriptors *out)
{
	DIR *directory = opendir("/proc/self/fd");
	const struct dirent *entry;

	memset(out->open, 0, sizeof out->open);
	if (directory == NULL)
		return;
	while ((entry = readdir(directory)) != NULL) {
		if (entry->d_name[0] != '.')
			descriptor_add(out, strtoul(entry->d_name, NULL, 10));
	}
	(void)closedir(directory);
}

bool ct_file_path_read(struct ct_known_file *known, int fd)
{
	char link[32];
	char path[4096];
	ssize_t size;

	(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	size = readlink(link, path, sizeof path);
	if (size <= 0)
		return false;
	path_set(known, path, (size_t)size);
	return true;
}

/* The text of ASSIGN without the blanks at its end. */
static struct ct_name assign_text(const cob_field *assign)
{
	size_t size = assign != NULL && assign->data != NULL ? assign->size : 0;

	while (size > 0 && (assign->data[size - 1] == ' ' || assign->data[size - 1] == '\0'))
		size--;
	return (struct ct_name){ size > 0 ? (const char *)assign->data : "", size };
}

/* Does the path end with the file name in ASSIGN? */
static bool path_is_assigned(const struct ct_known_file *known, struct ct_name assign)
{
	struct ct_name path = ct_file_path(known);
	const char *slash = memrchr(assign.text, '/', assign.size);
	const char *base = slash != NULL ? slash + 1 : assign.text;
	size_t size = (size_t)(assign.text + assign.size - base);

	return size > 0 && path.size > size && path.text[path.size - size - 1] == '/' &&
	       memcmp(path.text + path.size - size, base, size) == 0;
}

/*
 * The path of a regular file that was not open before.  The consumer thread opens and closes files
 * meanwhile: one may have had the number that libcob has now, and one of its own may be new.  So
 * the inode counts, and of several files the one that has the name in ASSIGN.  False: there is
 * none.
 */
static bool path_find_new(struct ct_known_file *known, const struct ct_descriptors *before,
			  struct ct_name assign)
{
	struct ct_descriptors now;
	int first = -1;

	ct_descriptors_read(&now);
	for (size_t number = 0; number < CT_DESCRIPTORS; number++) {
		if (!descriptor_is_open(&now, number) ||
		    (descriptor_is_open(before, number) &&
		     before->inodes[number] == now.inodes[number]))
			continue;
		if (ct_file_path_read(known, (int)number) && path_is_assigned(known, assign))
			return true;
		if (first < 0)
			first = (int)number;
	}
	return first >= 0 && ct_file_path_read(known, first);
}

void ct_file_opened(const cob_file *file, const struct ct_descriptors *before)
{
	struct ct_known_file *known = file_find(file);
	struct ct_name assign = assign_text(file->assign);
	bool is_open = file->file_status != NULL && file->file_status[0] == '0';
	bool is_found = false;

	/* 41: it was open before, and is open still. */
	if (!is_open && file->open_mode != COB_OPEN_CLOSED && file->open_mode != COB_OPEN_LOCKED)
		return;
	file_begin(known, file);
	if (is_open && file->organization == COB_ORG_INDEXED)
		is_found = path_find_new(known, before, assign);
	else if (is_open && file->fd >= 0)
		is_found = ct_file_path_read(known, file->fd);
	if (!is_found)
		path_set(known, assign.text, assign.size);
}
