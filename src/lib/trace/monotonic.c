/*
 * monotonic.c - CLOCK_MONOTONIC for the inline path of ctrace.h, on x86-64.
 *
 * Runs on the thread that traces, between reservation and commit, in signal handlers too.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/trace/trace.h"

#if CTRACE_HAS_MONOTONIC_
/*
 * Jumped to, with the address to return to in RAX.  Returns nanoseconds in RDX, and keeps all other
 * registers but RAX and the flags, and the 128 bytes below the caller's stack pointer, which belong
 * to a function that calls none.  Debuggers and unwinders find the caller at every instruction.
 */
__attribute__((naked)) void ctrace_monotonic_(void)
{
	__asm__(".cfi_def_cfa_offset 0\n\t"
		".cfi_register %rip, %rax\n\t"
		"leaq -144(%rsp), %rsp\n\t"
		".cfi_def_cfa_offset 144\n\t"
		"pushq %rax\n\t"
		".cfi_adjust_cfa_offset 8\n\t"
		".cfi_offset %rip, -152\n\t"
		".irp register, rcx, rsi, rdi, r8, r9, r10, r11\n\t"
		"pushq %\\register\n\t"
		".cfi_adjust_cfa_offset 8\n\t"
		".endr\n\t"
		"leaq 64(%rsp), %rsi\n\t"
		"movl $1, %edi\n\t" /* CLOCK_MONOTONIC */
		"call *ct_vdso_clock_gettime(%rip)\n\t"
		"imulq $1000000000, 64(%rsp), %rdx\n\t"
		"addq 72(%rsp), %rdx\n\t"
		".irp register, r11, r10, r9, r8, rdi, rsi, rcx\n\t"
		"popq %\\register\n\t"
		".cfi_adjust_cfa_offset -8\n\t"
		".endr\n\t"
		"popq %rax\n\t"
		".cfi_adjust_cfa_offset -8\n\t"
		".cfi_register %rip, %rax\n\t"
		"leaq 144(%rsp), %rsp\n\t"
		".cfi_def_cfa_offset 0\n\t"
		"notrack jmp *%rax");
}
#else
typedef int not_empty;
#endif
