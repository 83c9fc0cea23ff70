// Builtins that read memory, registers and stacks, and those that make text or addresses of what they read.
import type { BuiltinSpec } from "./signature.ts";
import { boolType, i64, u64 } from "../types.ts";

export const memoryBuiltins: readonly BuiltinSpec[] = [
  // ── stacks ──
  { name: "kstack", form: "both", arity: [0, 2], signature: "kstack, kstack([mode, ][limit])", placement: "kernel", doc: "The kernel's call stack." },
  { name: "ustack", form: "both", arity: [0, 3], signature: "ustack, ustack([auto | fp | dwarf, ][mode, ][limit])", placement: "kernel", doc: "The process's call stack, found through unwinding tables (dwarf), through frame pointers (fp), or through tables where the kernel allows (auto)." },
  { name: "dw_ustack", form: "both", arity: [0, 2], signature: "dw_ustack([mode, ][limit])", placement: "kernel", doc: "ustack(dwarf), as bpftrace spells it." },

  // ── strings and bytes ──
  { name: "str", form: "function", arity: [1, 2], signature: "str(pointer [, length])", placement: "both", doc: "The NUL-terminated string at a pointer." },
  { name: "buf", form: "function", arity: [1, 2], signature: "buf(data [, length])", placement: "both", doc: "Bytes at an address, for %r." },
  { name: "path", form: "function", arity: [1, 2], signature: "path(struct path *p [, size])", placement: "kernel", kernel: "5.10", doc: "The full path behind a struct path." },
  { name: "strlen", form: "function", arity: [1, 1], signature: "strlen(text)", placement: "both", type: u64, doc: "Length of a string." },
  { name: "strcap", form: "function", arity: [1, 1], signature: "strcap(text)", placement: "both", type: i64, doc: "Bytes that a string or array can hold." },
  { name: "strncmp", form: "function", arity: [3, 3], signature: "strncmp(a, b, length)", placement: "both", type: u64, doc: "0 when the first characters of two strings are equal." },
  { name: "memcmp", form: "function", arity: [3, 3], signature: "memcmp(left, right, count)", placement: "both", type: i64, doc: "Compares up to 16384 bytes: 0 when equal, else the sign of the first difference." },
  { name: "strcontains", form: "function", arity: [2, 2], signature: "strcontains(haystack, needle)", placement: "both", type: boolType, doc: "Whether a string is part of another." },
  { name: "strstr", form: "function", arity: [2, 2], signature: "strstr(haystack, needle)", placement: "both", type: i64, doc: "Where a string first occurs in another, or -1." },
  { name: "str_concat", form: "function", arity: [2, 2], signature: "str_concat(first, second)", placement: "both", doc: "Two strings, one after the other." },
  { name: "floor", form: "function", arity: [1, 1], signature: "floor(x)", placement: "both", doc: "A double without its fraction, rounded down; of an integer, itself." },
  { name: "ceil", form: "function", arity: [1, 1], signature: "ceil(x)", placement: "both", doc: "The same, rounded up." },
  { name: "trunc", form: "function", arity: [1, 1], signature: "trunc(x)", placement: "both", doc: "The same, rounded towards 0." },
  { name: "round", form: "function", arity: [1, 1], signature: "round(x)", placement: "both", doc: "The same, rounded to the nearest, of two away from 0." },
  { name: "bswap", form: "function", arity: [1, 1], signature: "bswap(n)", placement: "both", doc: "An integer with its bytes in reverse order." },

  // ── addresses ──
  { name: "kstr", form: "function", arity: [1, 2], signature: "kstr(pointer [, length])", placement: "kernel", doc: "Text at a kernel address." },
  { name: "kptr", form: "function", arity: [1, 1], signature: "kptr(pointer)", placement: "both", doc: "The same pointer, read as a kernel address." },
  { name: "uptr", form: "function", arity: [1, 1], signature: "uptr(pointer)", placement: "both", doc: "The same pointer, read as a user address." },
  { name: "kaddr", form: "function", arity: [1, 1], signature: "kaddr(\"symbol\")", placement: "both", doc: "Address of a kernel symbol." },
  { name: "uaddr", form: "function", arity: [1, 1], signature: "uaddr(\"symbol\")", placement: "kernel", doc: "Address of a symbol of the traced program." },
  { name: "var", spelling: { typescript: ["variable"] }, form: "function", arity: [1, 1], signature: "var(\"name\")", placement: "kernel", doc: "A variable of the traced program: a local or a parameter in scope, a global, a static or a thread-local." },
  { name: "percpu_kaddr", form: "function", arity: [1, 2], signature: "percpu_kaddr(\"symbol\" [, cpu])", placement: "kernel", doc: "Address of a per-CPU kernel variable." },
  { name: "reg", form: "function", arity: [1, 1], signature: "reg(\"name\")", placement: "kernel", type: u64, doc: "Value of a processor register." },
  { name: "container_of", form: "function", arity: [3, 3], signature: "container_of(pointer, struct type, member)", placement: "both", doc: "The object that a pointer points into, given which member of it." },
  { name: "is_err", form: "function", arity: [1, 1], signature: "is_err(pointer)", placement: "both", type: boolType, doc: "Whether a pointer is an error code of the kernel." },
  { name: "socket_cookie", form: "function", arity: [1, 1], signature: "socket_cookie(struct sock *sk)", placement: "kernel", type: u64, doc: "The kernel's lasting number for a socket." },

  // ── numbers with a name ──
  { name: "ksym", form: "function", arity: [1, 1], signature: "ksym(address)", placement: "both", type: { kind: "named", of: "ksym" }, doc: "Name of the kernel function that an address lies in." },
  { name: "usym", form: "function", arity: [1, 1], signature: "usym(address)", placement: "both", type: { kind: "named", of: "usym" }, doc: "Name of the user function that an address lies in." },
  { name: "ntop", form: "function", arity: [1, 2], signature: "ntop([family, ]address)", placement: "both", type: { kind: "named", of: "inet" }, doc: "An IPv4 or IPv6 address as text." },
  { name: "pton", form: "function", arity: [1, 1], signature: "pton(\"address\")", placement: "both", doc: "The bytes of an IPv4 or IPv6 address." },
  { name: "macaddr", form: "function", arity: [1, 1], signature: "macaddr(bytes)", placement: "both", type: { kind: "named", of: "macaddr" }, doc: "A hardware address as text." },
  { name: "cgroupid", form: "function", arity: [1, 1], signature: "cgroupid(\"path\")", placement: "both", type: u64, doc: "Id of the cgroup at a path." },
  { name: "cgroup_path", form: "function", arity: [1, 2], signature: "cgroup_path(id [, filter])", placement: "both", type: { kind: "named", of: "cgroup_path" }, doc: "Path of a cgroup, looked up when printed." },
  { name: "strerror", form: "function", arity: [1, 1], signature: "strerror(errno)", placement: "both", type: { kind: "named", of: "strerror" }, doc: "Words for an error number." },
  { name: "signal_name", form: "function", arity: [1, 1], signature: "signal_name(number)", placement: "both", type: { kind: "named", of: "signal_name" }, doc: "Name of a signal." },
  { name: "syscall_name", form: "function", arity: [1, 1], signature: "syscall_name(number)", placement: "both", type: { kind: "named", of: "syscall_name" }, doc: "Name of a system call." },
  { name: "strftime", form: "function", arity: [2, 2], signature: "strftime(\"format\", nanoseconds)", placement: "both", type: { kind: "named", of: "timestamp" }, doc: "A point in time as text." },

  // ── questions about the script, answered before it runs ──
  { name: "comptime", spelling: { typescript: [] }, form: "function", arity: [1, 1], signature: "comptime expression", placement: "both", doc: "The expression, which must be known before the script runs." },
  { name: "is_array", form: "function", arity: [1, 1], signature: "is_array(value)", placement: "both", type: boolType, doc: "Whether a value is an array." },
  { name: "is_integer", form: "function", arity: [1, 1], signature: "is_integer(value)", placement: "both", type: boolType, doc: "Whether a value is an integer." },
  { name: "is_literal", form: "function", arity: [1, 1], signature: "is_literal(value)", placement: "both", type: boolType, doc: "Whether an expression is a literal." },
  { name: "is_ptr", form: "function", arity: [1, 1], signature: "is_ptr(value)", placement: "both", type: boolType, doc: "Whether a value is a pointer." },
  { name: "is_str", form: "function", arity: [1, 1], signature: "is_str(value)", placement: "both", type: boolType, doc: "Whether a value is a string." },
  { name: "is_unsigned_integer", form: "function", arity: [1, 1], signature: "is_unsigned_integer(value)", placement: "both", type: boolType, doc: "Whether a value is an unsigned integer." },
  { name: "default_str_length", form: "both", arity: [0, 0], signature: "default_str_length", placement: "both", type: u64, doc: "Bytes that str() reads unless told otherwise." },
  { name: "kfunc_allowed", form: "function", arity: [1, 1], signature: "kfunc_allowed(\"name\")", placement: "both", type: boolType, doc: "Whether this probe may call a kernel function." },
  { name: "kfunc_exist", form: "function", arity: [1, 1], signature: "kfunc_exist(\"name\")", placement: "both", type: boolType, doc: "Whether the kernel has a function for programs to call." },
  { name: "getopt", spelling: { typescript: [] }, form: "function", arity: [1, 3], signature: "getopt(\"name\" [, default [, description]])", placement: "both", doc: "An option given to the script on the command line." },
];
