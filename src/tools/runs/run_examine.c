/*
 * run_examine.c - looks at a program's file before `ctrace run` starts it: can a library be loaded
 * before libcob?
 *
 * The file may be anything: nothing in it is believed, and what cannot be read is not refused.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/runs/run_program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/base.h"
#include "tools/runs/run_report.h"

#define SEGMENTS_MOST 256u
#define DYNAMIC_MOST 4096u /* entries */

static int examine_report(const char *name, const char *what, int exit_status)
{
	(void)run_report(name, what);
	return exit_status;
}

/* -----------------------------------------------------------------------------------------------
 * Finding it
 */

/* Returns 0 when the file can be executed, else why not. */
static int path_look(const char *path)
{
	struct stat info;

	if (stat(path, &info) != 0)
		return errno;
	if (S_ISDIR(info.st_mode))
		return EISDIR;
	return eaccess(path, X_OK) == 0 ? 0 : errno;
}

/* As execvp() searches: a file that may not be executed does not end the search. */
static int program_find(const char *name, char out_path[4096])
{
	const char *directories = ct_os_environment("PATH");
	int error = ENOENT;

	if (strchr(name, '/') != NULL) {
		(void)snprintf(out_path, 4096, "%.4095s", name);
		return path_look(name);
	}
	if (directories == NULL)
		directories = "/bin:/usr/bin";
	for (const char *at = directories;; at++) {
		size_t size = strcspn(at, ":");
		int result;

		(void)snprintf(out_path, 4096, "%.*s%s%s", (int)size, at, size > 0 ? "/" : "",
			       name);
		result = path_look(out_path);
		if (result == 0)
			return 0;
		if (result == EACCES)
			error = EACCES;
		at += size;
		if (*at == '\0')
			return error;
	}
}

/* -----------------------------------------------------------------------------------------------
 * The facts of an ELF file
 */

struct elf {
	int fd;
	Elf64_Ehdr head;
	Elf64_Phdr segments[SEGMENTS_MOST];
	unsigned count;
	/* entries that were read last */
	Elf64_Dyn dynamic[64];
	uint64_t dynamic_first, dynamic_size;
};

static bool elf_read(const struct elf *elf, void *to, size_t size, uint64_t offset)
{
	return offset <= INT64_MAX && pread(elf->fd, to, size, (off_t)offset) == (ssize_t)size;
}

static const Elf64_Phdr *elf_segment(const struct elf *elf, uint32_t type)
{
	for (unsigned i = 0; i < elf->count; i++)
		if (elf->segments[i].p_type == type)
			return &elf->segments[i];
	return NULL;
}

/* The place in the file of what is at an address; UINT64_MAX: nothing is. */
static uint64_t elf_offset(const struct elf *elf, uint64_t address)
{
	for (unsigned i = 0; i < elf->count; i++) {
		const Elf64_Phdr *segment = &elf->segments[i];

		if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
		    address - segment->p_vaddr < segment->p_filesz)
			return segment->p_offset + (address - segment->p_vaddr);
	}
	return UINT64_MAX;
}

/* Reads the file a block of entries at a time. */
static bool elf_dynamic(struct elf *elf, uint64_t index, Elf64_Dyn *out_entry)
{
	const Elf64_Phdr *dynamic = elf_segment(elf, PT_DYNAMIC);
	uint64_t first = index - index % CT_COUNT(elf->dynamic), count;

	if (dynamic == NULL || index >= DYNAMIC_MOST ||
	    index >= dynamic->p_filesz / sizeof *out_entry)
		return false;
	count = dynamic->p_filesz / sizeof *out_entry - first;
	if (count > CT_COUNT(elf->dynamic))
		count = CT_COUNT(elf->dynamic);
	if ((elf->dynamic_size == 0 || elf->dynamic_first != first) &&
	    !elf_read(elf, elf->dynamic, count * sizeof *out_entry,
		      dynamic->p_offset + first * sizeof *out_entry))
		return false;
	elf->dynamic_first = first;
	elf->dynamic_size = count;
	*out_entry = elf->dynamic[index - first];
	return out_entry->d_tag != DT_NULL;
}

static bool elf_needs_libcob(struct elf *elf)
{
	static const char libcob[] = "libcob.so";
	uint64_t names = UINT64_MAX;
	char name[sizeof libcob - 1];
	Elf64_Dyn entry;

	for (uint64_t i = 0; elf_dynamic(elf, i, &entry); i++)
		if (entry.d_tag == DT_STRTAB)
			names = elf_offset(elf, entry.d_un.d_ptr);
	for (uint64_t i = 0; names != UINT64_MAX && elf_dynamic(elf, i, &entry); i++)
		if (entry.d_tag == DT_NEEDED && entry.d_un.d_val < UINT32_MAX &&
		    elf_read(elf, name, sizeof name, names + entry.d_un.d_val) &&
		    memcmp(name, libcob, sizeof name) == 0)
			return true;
	return false;
}

/* Is it for the machine that this tool is for?  The loader would report the library of another. */
static bool elf_is_like_ours(const struct elf *elf)
{
	unsigned char ours[EI_NIDENT + 4];
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	bool is_alike = fd < 0 || pread(fd, ours, sizeof ours, 0) != sizeof ours ||
			(elf->head.e_ident[EI_CLASS] == ours[EI_CLASS] &&
			 memcmp(&elf->head.e_machine, &ours[EI_NIDENT + 2], 2) == 0);

	ct_os_close(&fd);
	return is_alike;
}

static bool elf_load(struct elf *elf)
{
	if (elf->head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf->head.e_phentsize != sizeof *elf->segments)
		return false;
	elf->count = elf->head.e_phnum < SEGMENTS_MOST ? elf->head.e_phnum : SEGMENTS_MOST;
	return elf_read(elf, elf->segments, elf->count * sizeof *elf->segments, elf->head.e_phoff);
}

/* The loader ignores LD_PRELOAD for a program that runs with more rights than its caller has. */
static bool file_gives_rights(int fd)
{
	struct stat info;

	if (fstat(fd, &info) != 0)
		return false;
	return ((info.st_mode & S_ISUID) != 0 && info.st_uid != getuid()) ||
	       ((info.st_mode & S_ISGID) != 0 && info.st_gid != getgid()) ||
	       (getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0);
}

static int elf_examine(const char *name, struct elf *elf, struct run_program_kind *kind)
{
	kind->is_elf = true;
	if (file_gives_rights(elf->fd))
		return examine_report(
			name,
			"it is set-uid, set-gid or has capabilities, and the loader loads nothing before such a program; run a copy"
			" without them (cp PROGRAM COPY, as its owner), or link it with -lctrace-cobol before -lcob",
			RUN_FAILED);
	if (!elf_is_like_ours(elf))
		return examine_report(
			name,
			"it is for another machine than this ctrace, whose library it cannot load; run it with the ctrace that was built"
			" for that machine",
			RUN_FAILED);
	if (!elf_load(elf))
		return 0;
	if (elf_segment(elf, PT_INTERP) == NULL)
		return examine_report(
			name,
			"it is linked statically, so that no library can be loaded before its libcob; link it again, without -static",
			RUN_FAILED);
	kind->needs_libcob = elf_needs_libcob(elf);
	return 0;
}

int run_program_examine(const char *name, struct run_program_kind *out_kind)
{
	static const char magic[] = ELFMAG;
	struct elf *elf;
	int error, exit_status = 0;

	*out_kind = (struct run_program_kind){ .is_elf = false };
	error = program_find(name, out_kind->path);
	if (error != 0)
		return examine_report(name, error == EISDIR ? "it is a directory" : strerror(error),
				      error == ENOENT || error == ENOTDIR ? RUN_NOT_FOUND
									  : RUN_NOT_EXECUTABLE);
	elf = calloc(1, sizeof *elf);
	if (elf == NULL)
		return examine_report(name, strerror(ENOMEM), RUN_FAILED);
	elf->fd = open(out_kind->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (elf->fd >= 0 && elf_read(elf, &elf->head, sizeof elf->head, 0) &&
	    memcmp(elf->head.e_ident, magic, SELFMAG) == 0)
		exit_status = elf_examine(name, elf, out_kind);
	ct_os_close(&elf->fd);
	free(elf);
	return exit_status;
}
