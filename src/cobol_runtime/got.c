/*
 * got.c - writes functions into the tables by which loaded objects call others.
 *
 * An object calls a function of another one through a word of its global offset table, which the
 * dynamic linker has filled.  Where libcob comes before this library in the linker's order, the
 * words of programs, modules and libcob itself are changed to lead to the hooks.  A word may be in
 * memory that the linker has made read-only (RELRO): it is made writable for the one store.
 *
 * Runs on the thread of the COBOL program, at the start and after a CALL that may have loaded a
 * module.  The linker's lock is held while the objects are looked at.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cobol_runtime/cobol_runtime.h"

#include "cobol_runtime/failure.h"
#include "cobol_runtime/got.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define SLOT_CALL R_X86_64_JUMP_SLOT
#define SLOT_ADDRESS R_X86_64_GLOB_DAT
#elif defined(__aarch64__)
#define SLOT_CALL R_AARCH64_JUMP_SLOT
#define SLOT_ADDRESS R_AARCH64_GLOB_DAT
#elif defined(__s390x__)
#define SLOT_CALL R_390_JMP_SLOT
#define SLOT_ADDRESS R_390_GLOB_DAT
#endif

/* An object, and which function goes into the word of a symbol; NULL: none. */
struct object {
	const struct dl_phdr_info *info;
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Rela) * calls, *others;
	size_t calls_size, others_size;
	bool uses_libcob; /* or is libcob */
	bool is_libcob;
};

typedef void *choose_function(const struct object *object, const char *symbol);

static bool is_active;
static unsigned long long loaded_count; /* of objects, when they were last looked at */

/* Reads the dynamic section.  False: the object has none, or needs nothing of libcob. */
static bool object_read(const struct dl_phdr_info *info, struct object *out)
{
	const ElfW(Dyn) *dynamic = NULL;

	*out = (struct object){ .info = info,
				.is_libcob = ct_calls_name_is_libcob(info->dlpi_name) };
	out->uses_libcob = out->is_libcob;
	for (int at = 0; at < info->dlpi_phnum; at++) {
		if (info->dlpi_phdr[at].p_type == PT_DYNAMIC)
			dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[at].p_vaddr);
	}
	if (dynamic == NULL)
		return false;
	for (const ElfW(Dyn) *entry = dynamic; entry->d_tag != DT_NULL; entry++) {
		const void *address = (const void *)entry->d_un.d_ptr;

		switch (entry->d_tag) {
		case DT_SYMTAB:
			out->symbols = address;
			break;
		case DT_STRTAB:
			out->strings = address;
			break;
		case DT_JMPREL:
			out->calls = address;
			break;
		case DT_PLTRELSZ:
			out->calls_size = entry->d_un.d_val;
			break;
		case DT_RELA:
			out->others = address;
			break;
		case DT_RELASZ:
			out->others_size = entry->d_un.d_val;
			break;
		}
	}
	if (out->symbols == NULL || out->strings == NULL ||
	    (uintptr_t)out->strings < info->dlpi_addr) /* not relocated: the kernel's own object */
		return false;
	for (const ElfW(Dyn) *entry = dynamic; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_NEEDED &&
		    ct_calls_name_is_libcob(out->strings + entry->d_un.d_val))
			out->uses_libcob = true;
	}
	return out->uses_libcob;
}

/* The linker protects whole pages only: the last, broken one stays writable. */
static bool slot_is_read_only(const struct object *object, uintptr_t slot, uintptr_t page_size)
{
	for (int at = 0; at < object->info->dlpi_phnum; at++) {
		const ElfW(Phdr) *part = &object->info->dlpi_phdr[at];
		uintptr_t begin = object->info->dlpi_addr + part->p_vaddr;

		uintptr_t end = (begin + part->p_memsz) & ~(page_size - 1);

		if (part->p_type == PT_GNU_RELRO && slot >= begin && slot < end)
			return true;
	}
	return false;
}

static void slot_write(const struct object *object, uintptr_t slot, void *function)
{
	uintptr_t page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *page = (void *)(slot & ~(page_size - 1));
	bool is_read_only = slot_is_read_only(object, slot, page_size);

	if (*(void **)slot == function ||
	    (is_read_only && mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0))
		return;
	__atomic_store_n((void **)slot, function, __ATOMIC_RELAXED);
	if (is_read_only)
		(void)mprotect(page, page_size, PROT_READ);
}

static void slots_write(const struct object *object, const ElfW(Rela) * at, size_t size,
			choose_function *choose)
{
	for (const ElfW(Rela) *end = at + size / sizeof *at; at != NULL && at < end; at++) {
		uint32_t type = (uint32_t)ELF64_R_TYPE(at->r_info);
		const char *symbol =
			object->strings + object->symbols[ELF64_R_SYM(at->r_info)].st_name;
		void *function;

		if (type != SLOT_CALL && type != SLOT_ADDRESS)
			continue;
		function = choose(object, symbol);
		if (function != NULL)
			slot_write(object, object->info->dlpi_addr + at->r_offset, function);
	}
}

static int object_write(struct dl_phdr_info *info, size_t size, void *choose)
{
	struct object object;

	(void)size;
	loaded_count = info->dlpi_adds;
	if (object_read(info, &object)) {
		slots_write(&object, object.calls, object.calls_size, *(choose_function **)choose);
		slots_write(&object, object.others, object.others_size,
			    *(choose_function **)choose);
	}
	return 0;
}

static void *choose_hook(const struct object *object, const char *symbol)
{
	(void)object;
	return strncmp(symbol, "cob_", 4) == 0 ? ct_calls_hook(symbol) : NULL;
}

/* libcob's handlers of fatal signals are installed by way of failure.c. */
static void *choose_sigaction(const struct object *object, const char *symbol)
{
	return object->is_libcob && strcmp(symbol, "sigaction") == 0 ? (void *)ct_failure_sigaction
								     : NULL;
}

static int loaded_look(struct dl_phdr_info *info, size_t size, void *out_is_same)
{
	(void)size;
	*(bool *)out_is_same = info->dlpi_adds == loaded_count;
	return 1;
}

void ct_got_patch(void)
{
	choose_function *choose = choose_hook;
	bool is_same = false;
	int error = errno;

	if (!is_active)
		return;
	(void)dl_iterate_phdr(loaded_look, &is_same);
	if (!is_same)
		(void)dl_iterate_phdr(object_write, &choose);
	errno = error;
}

void ct_got_begin(void)
{
	is_active = true;
	ct_calls_find();
	ct_got_patch();
}

void ct_got_change_libcob(void)
{
	choose_function *choose = choose_sigaction;

	(void)dl_iterate_phdr(object_write, &choose);
}
