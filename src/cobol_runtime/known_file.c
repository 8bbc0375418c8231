/*
 * known_file.c - which file of the system belongs to a SELECT, and whether it is traced.
 *
 * Only libcob knows how it makes a path from ASSIGN, COB_FILE_PATH and the environment.  So nothing
 * is computed here: an OPEN has opened a descriptor, and the kernel says which file that is.  A
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

/* The SELECT name is copied: it is a text of the program that opened the file, and a file that is
 * EXTERNAL outlives that. */
static void file_begin(struct ct_known_file *known, const cob_file *file)
{
	const char *select = file->select_name != NULL ? file->select_name : "";

	known->file = file;
	known->select_size = (uint16_t)strnlen(select, sizeof known->select);
	memcpy(known->select, select, known->select_size);
	known->path_size = 0;
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
	const char *base = memrchr(known->path, '/', known->path_size);
	const char *name = base != NULL ? base + 1 : known->path;

	return ct_switches_file_is_on(known->select, known->select_size) ||
	       ct_switches_file_is_on(name, (size_t)(known->path + known->path_size - name));
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

static void descriptor_add(struct ct_descriptors *set, unsigned long number)
{
	if (number < CT_DESCRIPTORS)
		set->open[number / 64] |= UINT64_C(1) << number % 64;
}

void ct_descriptors_read(struct ct_descriptors *out)
{
	DIR *directory = opendir("/proc/self/fd");
	const struct dirent *entry;

	*out = (struct ct_descriptors){ 0 };
	if (directory == NULL)
		return;
	while ((entry = readdir(directory)) != NULL) {
		if (entry->d_name[0] != '.')
			descriptor_add(out, strtoul(entry->d_name, NULL, 10));
	}
	if (dirfd(directory) < CT_DESCRIPTORS)
		out->open[(unsigned)dirfd(directory) / 64] &=
			~(UINT64_C(1) << (unsigned)dirfd(directory) % 64);
	(void)closedir(directory);
}

/* The lowest descriptor of a regular file that was not open before; -1: none. */
static int descriptor_new(const struct ct_descriptors *before)
{
	struct ct_descriptors now;

	ct_descriptors_read(&now);
	for (size_t at = 0; at < CT_DESCRIPTORS / 64; at++) {
		for (uint64_t left = now.open[at] & ~before->open[at]; left != 0;
		     left &= left - 1) {
			int fd = (int)(at * 64) + __builtin_ctzll(left);
			struct stat status;

			if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
				return fd;
		}
	}
	return -1;
}

static void path_set(struct ct_known_file *known, const char *path, size_t size)
{
	if (size > sizeof known->path) {
		path += size - sizeof known->path;
		size = sizeof known->path;
	}
	memcpy(known->path, path, size);
	known->path_size = (uint16_t)size;
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

static void path_assigned(struct ct_known_file *known, const cob_field *assign)
{
	size_t size = assign != NULL && assign->data != NULL ? assign->size : 0;

	while (size > 0 && (assign->data[size - 1] == ' ' || assign->data[size - 1] == '\0'))
		size--;
	path_set(known, size > 0 ? (const char *)assign->data : "", size);
}

void ct_file_opened(const cob_file *file, const struct ct_descriptors *before)
{
	struct ct_known_file *known = file_find(file);
	bool is_open = file->file_status != NULL && file->file_status[0] == '0';
	int fd = -1;

	/* 41: it was open before, and is open still. */
	if (!is_open && file->open_mode != COB_OPEN_CLOSED && file->open_mode != COB_OPEN_LOCKED)
		return;
	file_begin(known, file);
	if (is_open)
		fd = file->organization != COB_ORG_INDEXED ? file->fd : descriptor_new(before);
	if (fd < 0 || !ct_file_path_read(known, fd))
		path_assigned(known, file->assign);
}
