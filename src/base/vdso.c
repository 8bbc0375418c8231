/*
 * vdso.c - the kernel's own clock_gettime(), which it maps into each process.
 *
 * The inline trace path reads CLOCK_MONOTONIC through it (lib/trace/monotonic.c), without libc and
 * without saving vector registers.  So all of ctrace's monotonic ticks come from it, and its own
 * limits of time: a preloaded library with another clock_gettime() can stop or turn back neither.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#if defined(__x86_64__) && defined(__LP64__)
#include <elf.h>
#include <sys/auxv.h>

/* Makes the system call.  The three changed registers are the function's to change. */
static int clock_ask(clockid_t clock, struct timespec *out)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(228L), "D"((long)clock), "S"(out)
			 : "rcx", "r11", "memory");
	return (int)result;
}

/* The first reading; not of the inline path, which has its clock chosen before. */
static int clock_find(clockid_t clock, struct timespec *out)
{
	ct_vdso_find();
	return __atomic_load_n(&ct_vdso_clock_gettime, __ATOMIC_RELAXED)(clock, out);
}

__attribute__((used)) ct_vdso_clock *ct_vdso_clock_gettime = clock_find;

static ct_vdso_clock *function_find(const unsigned char *image)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)image;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(image + head->e_shoff);

	for (unsigned i = 0; head->e_shoff != 0 && i < head->e_shnum; i++) {
		const Elf64_Sym *symbols =
			(const Elf64_Sym *)(const void *)(image + sections[i].sh_offset);
		const char *names;

		if (sections[i].sh_type != SHT_DYNSYM || sections[i].sh_link >= head->e_shnum)
			continue;
		names = (const char *)image + sections[sections[i].sh_link].sh_offset;
		for (size_t k = 0; k < sections[i].sh_size / sizeof *symbols; k++)
			if (symbols[k].st_shndx != SHN_UNDEF &&
			    strcmp(names + symbols[k].st_name, "__vdso_clock_gettime") == 0)
				return (ct_vdso_clock *)(uintptr_t)(image + symbols[k].st_value);
	}
	return NULL;
}

/* Linux compiles the function without vector instructions.  Other kernels that offer Linux's system
 * calls may not. */
static bool keeps_vectors(ct_vdso_clock *function)
{
	const uint64_t pattern = 0x0123456789ABCDEFu;
	struct timespec now;
	uint64_t differs;
	register struct timespec *kept_now __asm__("r13") = &now;
	register ct_vdso_clock *kept_function __asm__("r14") = function;

	__asm__ volatile(
		".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\t"
		"movq %[pattern], %%xmm\\n\n\t"
		".endr\n\t"
		"movq %%rsp, %%r12\n\t"
		"leaq -128(%%rsp), %%rsp\n\t"
		"andq $-16, %%rsp\n\t"
		"movl $1, %%edi\n\t"
		"movq %[now], %%rsi\n\t"
		"call *%[function]\n\t"
		"movq %%r12, %%rsp\n\t"
		"xorl %%edx, %%edx\n\t"
		".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\t"
		"movq %%xmm\\n, %%rax\n\t"
		"xorq %[pattern], %%rax\n\t"
		"orq %%rax, %%rdx\n\t"
		".endr"
		: "=&d"(differs)
		: [pattern] "b"(pattern), [now] "r"(kept_now), [function] "r"(kept_function)
		: "rax", "rcx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "xmm0", "xmm1",
		  "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
		  "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
	return differs == 0;
}

void ct_vdso_find(void)
{
	unsigned long image = getauxval(AT_SYSINFO_EHDR);
	ct_vdso_clock *function =
		image != 0 ? function_find((const unsigned char *)(uintptr_t)image) : NULL;

	if (function == NULL || !keeps_vectors(function))
		function = clock_ask;
	__atomic_store_n(&ct_vdso_clock_gettime, function, __ATOMIC_RELAXED);
}
#else
ct_vdso_clock *ct_vdso_clock_gettime = clock_gettime;

void ct_vdso_find(void)
{
}
#endif
