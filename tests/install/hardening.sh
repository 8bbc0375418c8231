#!/usr/bin/env bash
# What is built, and installed by `make install`, is hardened as the packages are: read from the binaries.
set -u
. "$CTRACE_SOURCE/tests/tap.sh"

cd "$CTRACE_BUILD" || exit 1
if ldd ctrace | grep -qE 'lib(a|t|ub)san' || ! grep -q -- '-O[123s]' compile_commands.json; then
	echo '1..0 # SKIP a build with sanitizers, or without optimisation'
	exit 0
fi
no_lazy_binding() { readelf -dW "$1" | grep -qE 'FLAGS_1.* NOW' && readelf -lW "$1" | grep -q GNU_RELRO; }
has_pie() { readelf -hW "$1" | grep -q 'Type: *DYN' && readelf -dW "$1" | grep -qE 'FLAGS_1.* PIE'; }
calls() { nm -D "$1" | grep -qE " U $2(@|\$)"; }
shadow_stack() { # ARCHIVE: each member has the mark
	[ "$(readelf -hW "$1" | grep -c '^File:')" = "$(readelf -nW "$1" | grep -c 'x86 feature:.*SHSTK')" ]
}
stack=('ctrace' 'libctrace.so' $(ls libctrace-cobol.so modules/{catalog,nats,otlp,metrics,journal,zstd}.so 2>/dev/null))
for file in ctrace libctrace.so $(ls libctrace-cobol.so 2>/dev/null) modules/*.so; do
	check "$file: read-only relocations, bound at the start" no_lazy_binding "$file"
done
check 'the tool is position-independent' has_pie ctrace
for file in "${stack[@]}"; do
	check "$file: stack protector" calls "$file" __stack_chk_fail
done
for file in ctrace libctrace.so $(ls modules/{nats,otlp}.so 2>/dev/null); do
	check "$file: _FORTIFY_SOURCE" calls "$file" '__v?snprintf_chk'
done
if [ "$(uname -m)" = x86_64 ] && echo 'int main(void) { return 0; }' | gcc -fcf-protection=return -xc -c -o /dev/null - 2>/dev/null; then
	check 'libctrace.a: shadow stacks' shadow_stack libctrace.a
fi
end
