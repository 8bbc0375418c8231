/*
 * crash_dump.c - dumps of the processes that noted a fatal signal.
 *
 * lib/dump/crash.c has noted signal, registers and addresses.  The names of functions are looked up
 * here, in the files that were mapped then: a file that is gone or has no symbols leaves its
 * addresses as file and offset.  Notes and files may be anything; each is bounded.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/recovery/crash_dump.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "lib/consumer/consumer.h"
#include "lib/dump/dump.h"

#define NOTE_LIMIT ((size_t)4 << 20)
#define PATH_SIZE 4096u

/* ---- the name of an address ---- */

struct image {
	const unsigned char *at;
	size_t size;
};

static const void *image_part(const struct image *image, uint64_t offset, uint64_t size)
{
	return offset <= image->size && size <= image->size - offset ? image->at + offset : NULL;
}

static bool image_copy(const struct image *image, uint64_t offset, void *out, size_t size)
{
	const void *part = image_part(image, offset, size);

	if (part != NULL)
		memcpy(out, part, size);
	return part != NULL;
}

/* The virtual address of a file offset. */
static bool image_address(const struct image *image, const Elf64_Ehdr *head, uint64_t offset,
			  uint64_t *out)
{
	Elf64_Phdr part;

	for (unsigned i = 0; i < head->e_phnum; i++)
		if (image_copy(image, head->e_phoff + (uint64_t)i * sizeof part, &part,
			       sizeof part) &&
		    part.p_type == PT_LOAD && offset >= part.p_offset &&
		    offset - part.p_offset < part.p_filesz) {
			*out = offset - part.p_offset + part.p_vaddr;
			return true;
		}
	return false;
}

/* Finds the function in one table of symbols. */
static bool table_find(const struct image *image, const Elf64_Shdr *table, const Elf64_Shdr *texts,
		       uint64_t address, char *out, size_t room)
{
	const char *names = image_part(image, texts->sh_offset, texts->sh_size);
	Elf64_Sym symbol;

	for (uint64_t i = 0; names != NULL && i < table->sh_size / sizeof symbol; i++) {
		if (!image_copy(image, table->sh_offset + i * sizeof symbol, &symbol,
				sizeof symbol))
			return false;
		if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && address >= symbol.st_value &&
		    address - symbol.st_value < symbol.st_size && symbol.st_name < texts->sh_size) {
			const char *name = names + symbol.st_name;

			(void)snprintf(out, room, " %.*s+0x%" PRIx64,
				       (int)strnlen(name, texts->sh_size - symbol.st_name), name,
				       address - symbol.st_value);
			return true;
		}
	}
	return false;
}

static bool section_copy(const struct image *image, const Elf64_Ehdr *head, uint32_t number,
			 Elf64_Shdr *out)
{
	return number < head->e_shnum &&
	       image_copy(image, head->e_shoff + (uint64_t)number * sizeof *out, out, sizeof *out);
}

static void image_find(const struct image *image, uint64_t offset, char *out, size_t room)
{
	Elf64_Shdr table, texts;
	Elf64_Ehdr head;
	uint64_t address;

	if (!image_copy(image, 0, &head, sizeof head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    !image_address(image, &head, offset, &address))
		return;
	for (uint32_t i = 0; section_copy(image, &head, i, &table); i++)
		if ((table.sh_type == SHT_SYMTAB || table.sh_type == SHT_DYNSYM) &&
		    section_copy(image, &head, table.sh_link, &texts) &&
		    table_find(image, &table, &texts, address, out, room))
			return;
}

static void file_find(const char *path, uint64_t offset, char *out, size_t room)
{
	struct image image = { NULL, 0 };
	struct stat info;
	int fd;
	void *at;

	out[0] = '\0';
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
		image.size = (size_t)info.st_size;
		at = mmap(NULL, image.size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (at != MAP_FAILED) {
			image.at = at;
			image_find(&image, offset, out, room);
			(void)munmap(at, image.size);
		}
	}
	ct_os_close(&fd);
}

/* Appends "0x000055d0c0de1139 /usr/bin/app+0x1139 fail+0x9". */
static void address_add(struct ct_buf *out, const char *maps, uint64_t address)
{
	const char *line = maps;

	ct_buf_add_format(out, "0x%016" PRIx64, address);
	while (line != NULL && *line != '\0') {
		uint64_t first, end, offset;
		char path[1024] = "", name[300];

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*4s %" SCNx64 " %*s %*s %1023[^\n]",
			   &first, &end, &offset, path) >= 3 &&
		    address >= first && address < end) {
			if (path[0] != '/')
				return;
			file_find(path, address - first + offset, name, sizeof name);
			ct_buf_add_char(out, ' ');
			ct_escape_add(out, path, strlen(path));
			ct_buf_add_format(out, "+0x%" PRIx64, address - first + offset);
			ct_escape_add(out, name, strlen(name));
			return;
		}
		line = strchr(line, '\n');
		line = line != NULL ? line + 1 : NULL;
	}
}

/* ---- a note ---- */

struct note {
	char directory[PATH_SIZE];
	uint32_t keep;
	uint64_t size;
	char signal[32]; /* "": the process did not crash */
	char exit[40];   /* the reason of a dump that the process could not make at its end */
	bool is_handled; /* by the program, which may have gone on */
	bool has_frame;  /* the first frame is the failing instruction */
	struct ct_buf details;
};

static void note_line(struct note *note, const char *key, const char *value, const char *maps)
{
	if (strcmp(key, "directory") == 0) {
		(void)snprintf(note->directory, sizeof note->directory, "%s", value);
	} else if (strcmp(key, "keep") == 0) {
		note->keep = (uint32_t)strtoul(value, NULL, 10);
	} else if (strcmp(key, "size") == 0) {
		note->size = strtoull(value, NULL, 10);
	} else if (strcmp(key, "exit") == 0) {
		(void)snprintf(note->exit, sizeof note->exit, "%s", value);
	} else if (strcmp(key, "handled") == 0) {
		note->is_handled = true;
	} else if (strcmp(key, "frame") == 0) {
		ct_buf_add_text(&note->details, note->has_frame ? "frame: " : "instruction: ");
		address_add(&note->details, maps, strtoull(value, NULL, 16));
		ct_buf_add_char(&note->details, '\n');
		if (!note->has_frame) {
			note->has_frame = true;
			note_line(note, key, value, maps);
		}
	} else if (strcmp(key, "signal") == 0 || strcmp(key, "address") == 0 ||
		   strcmp(key, "thread") == 0 || strcmp(key, "register") == 0 ||
		   strcmp(key, "program-id") == 0 || strcmp(key, "paragraph") == 0 ||
		   strcmp(key, "source") == 0 || strcmp(key, "line") == 0) {
		if (strcmp(key, "signal") == 0)
			(void)snprintf(note->signal, sizeof note->signal, "%s", value);
		ct_buf_add_format(&note->details, "%s: ", key);
		ct_escape_add(&note->details, value, strlen(value));
		ct_buf_add_char(&note->details, '\n');
	}
}

/* Cuts the text into lines. */
static void note_parse(struct note *note, char *text)
{
	char *maps = strstr(text, "\nmaps:\n");
	char *line = text, *rest = NULL;

	if (maps != NULL) {
		*maps = '\0';
		maps += sizeof "\nmaps:\n" - 1;
	}
	for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
		char *value = strstr(line, ": ");

		if (value == NULL)
			continue;
		*value = '\0';
		note_line(note, line, value + 2, maps);
	}
}

static bool note_read(const struct ct_directory_entry *entry, char path[PATH_SIZE],
		      struct note *note)
{
	struct ct_buf text;
	bool is_read;

	*note = (struct note){ .keep = 1 };
	(void)snprintf(path, PATH_SIZE, "%s/%s/%s", entry->run_directory, entry->name,
		       CT_CRASH_FILE);
	ct_buf_init(&text);
	ct_buf_init(&note->details);
	is_read = ct_os_read_file(path, NOTE_LIMIT, &text) == CTRACE_OK;
	if (is_read)
		note_parse(note, (char *)(uintptr_t)ct_buf_text(&text));
	ct_buf_fini(&text);
	return is_read && (note->signal[0] != '\0' || note->exit[0] != '\0');
}

/* ---- the dump ---- */

static void dump_report(const struct ct_directory_entry *entry, const struct note *note,
			const char *path, enum ctrace_status status)
{
	fprintf(stderr,
		note->exit[0] != '\0' ? "ctrace: process %u ended with %s and made no dump: "
		: note->is_handled
			? "ctrace: process %u had %s, which its own handler received, and ended later: "
			: "ctrace: process %u died of %s: ",
		(unsigned)entry->pid, note->exit[0] != '\0' ? note->exit : note->signal);
	if (status == CTRACE_OK) {
		fputs("its dump is ", stderr);
		ct_tool_print(stderr, path, strlen(path));
		fputc('\n', stderr);
	} else if (note->directory[0] != '/') {
		fputs("no dump can be made: it had no working directory when it attached\n",
		      stderr);
	} else {
		fputs("no dump can be made in ", stderr);
		ct_tool_print(stderr, note->directory, strlen(note->directory));
		fprintf(stderr, ": %s\n",
			status == CTRACE_OUTPUT_ERROR ? strerror(errno)
						      : ctrace_status_text(status));
	}
}

static void crash_dump(const struct ct_directory_entry *entry, const struct note *note,
		       const struct ct_session_head *head)
{
	char path[PATH_SIZE + CT_DUMP_NAME_SIZE], reason[50];
	struct ct_recovery total = { .discards = entry->pid };
	struct ct_dump_result result;
	struct ct_dump_request request = {
		.run_directory = entry->run_directory,
		.directory = entry->name,
		.title = "",
		.reason = reason,
		.details = note->details.failed
				   ? NULL
				   : ct_buf_text((struct ct_buf *)(uintptr_t)&note->details),
		.may_be_empty = true,
	};
	enum ctrace_status status = CTRACE_NOT_FOUND;

	if (note->exit[0] != '\0')
		(void)snprintf(reason, sizeof reason, "%s", note->exit);
	else
		(void)snprintf(reason, sizeof reason, "signal %s%s", note->signal,
			       note->is_handled ? ", handled" : "");
	/* Never in the working directory of this tool. */
	if (note->directory[0] == '/') {
		(void)mkdir(note->directory,
			    0700); /* if it cannot be made, the dump reports that */
		status = ct_dump_make_in(note->directory, head, &request, path, sizeof path,
					 &result);
	}
	dump_report(entry, note, path, status);
	if (status != CTRACE_OK)
		return;
	(void)ct_dump_make_room(note->directory, note->keep, note->size, strrchr(path, '/') + 1);
	if (result.unread == 0)
		ct_recover(entry->run_directory, NULL, &total, NULL, NULL);
}

static void entry_visit(const struct ct_directory_entry *entry, void *user)
{
	char path[PATH_SIZE];
	struct ct_session session;
	struct note note;

	(void)user;
	if (entry->is_alive || entry->uid != (uint32_t)geteuid())
		return;
	if (note_read(entry, path, &note) && unlink(path) == 0 &&
	    ct_session_load(&session, entry->run_directory, entry->name, false) == CTRACE_OK) {
		crash_dump(entry, &note, session.head);
		ct_session_close(&session, false);
	}
	ct_buf_fini(&note.details);
}

void ct_crash_dump_all(const char *run_directory)
{
	ct_directory_each(run_directory, entry_visit, NULL);
}
