// Builtins that do something: print, act on the process, end the session, change maps.
import type { BuiltinSpec } from "./signature.ts";
import { boolType, i64, voidType } from "../types.ts";

export const actionBuiltins: readonly BuiltinSpec[] = [
  // ── output ──
  { name: "print", spelling: { typescript: [] }, form: "function", arity: [1, 3], signature: "print(value), print(@map [, top [, divisor]])", placement: "both", statement: true, type: voidType, doc: "Prints a value or a whole map." },
  { name: "printf", form: "function", arity: [1, 255], signature: "printf(\"format\", …)", placement: "both", statement: true, type: voidType, doc: "Prints values by a format." },
  { name: "errorf", form: "function", arity: [1, 255], signature: "errorf(\"format\", …)", placement: "both", statement: true, type: voidType, doc: "Like printf, as an error with the place in the script." },
  { name: "warnf", form: "function", arity: [1, 255], signature: "warnf(\"format\", …)", placement: "both", statement: true, type: voidType, doc: "Like printf, as a warning with the place in the script." },
  { name: "debugf", spelling: { typescript: [] }, form: "function", arity: [1, 255], signature: "debugf(\"format\", …)", placement: "kernel", statement: true, kernel: "5.16", type: voidType, doc: "Like printf, into the kernel's trace (/sys/kernel/tracing/trace_pipe)." },
  { name: "time", form: "both", arity: [0, 1], signature: "time([\"format\"])", placement: "both", statement: true, type: voidType, doc: "Prints the time of day when the event is handled." },
  { name: "cat", form: "function", arity: [1, 255], signature: "cat(\"file name format\", …)", placement: "both", statement: true, type: voidType, doc: "Prints a file." },
  { name: "join", form: "function", arity: [1, 2], signature: "join(strings [, separator])", placement: "kernel", statement: true, type: voidType, doc: "Prints an array of strings on one line." },
  { name: "skboutput", form: "function", arity: [4, 4], signature: "skboutput(\"path\", skb, length, offset)", placement: "kernel", type: { kind: "integer", bits: 32, signed: true }, kernel: "5.5", doc: "Writes a packet to a capture file (pcap): 0, or a negative error." },

  // Other languages print(); the TypeScript front-end writes this for event.emit({ … }).
  { name: "emit", spelling: { bpftrace: [], systemtap: [], d: [], typescript: [] }, form: "function", arity: [2, 2], signature: "emit({ … })", placement: "both", statement: true, type: voidType, doc: "Sends a typed event to the program." },

  // ── ending, failing ──
  { name: "exit", form: "both", arity: [0, 1], signature: "exit([code])", placement: "both", statement: true, type: voidType, doc: "Ends tracing; end probes still run." },
  { name: "assert", form: "function", arity: [2, 2], signature: "assert(condition, \"message\")", placement: "both", statement: true, type: voidType, doc: "Ends tracing with an error unless a condition holds." },
  { name: "static_assert", form: "function", arity: [2, 2], signature: "static_assert(condition, \"message\")", placement: "both", statement: true, type: voidType, doc: "Refuses the script unless a constant condition holds." },
  { name: "assert_str", form: "function", arity: [1, 1], signature: "assert_str(value)", placement: "both", statement: true, type: voidType, doc: "Refuses the script unless a value is text." },
  { name: "fail", form: "function", arity: [1, 255], signature: "fail(\"format\", …)", placement: "both", statement: true, type: voidType, doc: "Refuses the script when it could get here." },

  // ── acting on the system ──
  { name: "signal", form: "function", arity: [1, 1], signature: "signal(\"SIGNAL\" | number)", placement: "kernel", statement: true, unsafe: true, type: voidType, doc: "Sends a signal to the current process." },
  { name: "signal_thread", form: "function", arity: [1, 1], signature: "signal_thread(\"SIGNAL\" | number)", placement: "kernel", statement: true, unsafe: true, type: voidType, doc: "Sends a signal to the current thread." },
  { name: "override", form: "function", arity: [1, 1], signature: "override(value)", placement: "kernel", statement: true, unsafe: true, kernel: "4.16", type: voidType, doc: "Makes the traced function return a value without running it." },
  { name: "write_user", form: "function", arity: [3, 3], signature: "write_user(destination, source, length)", placement: "kernel", unsafe: true, type: boolType, doc: "Writes into the current process's memory." },
  { name: "system", form: "function", arity: [1, 255], signature: "system(\"command format\", …)", placement: "both", statement: true, unsafe: true, type: voidType, doc: "Runs a shell command and prints its output." },
  { name: "watch", form: "function", arity: [2, 2], signature: "watch(\"NAME\", address)", placement: "kernel", statement: true, type: voidType, doc: "Watches an address by the probe `watchpoint:NAME:LENGTH:MODE`, from some time after on." },
  { name: "unwatch", form: "function", arity: [1, 1], signature: "unwatch(address)", placement: "both", statement: true, type: voidType, doc: "Removes the watchpoints of an address." },

  // ── maps ──
  { name: "clear", spelling: { typescript: [] }, form: "function", arity: [1, 1], signature: "clear(@map)", placement: "both", statement: true, type: voidType, doc: "Removes everything from a map." },
  { name: "zero", spelling: { typescript: [] }, form: "function", arity: [1, 1], signature: "zero(@map)", placement: "both", statement: true, type: voidType, doc: "Sets every value of a map to zero." },
  { name: "delete", spelling: { typescript: [] }, form: "function", arity: [1, 2], signature: "delete(@map, key)", placement: "both", type: boolType, doc: "Removes a key from a map; whether there was one." },
  { name: "has_key", spelling: { typescript: [] }, form: "function", arity: [2, 2], signature: "has_key(@map, key)", placement: "both", type: boolType, doc: "Whether a map has a key." },
  { name: "find", spelling: { typescript: [] }, form: "function", arity: [3, 3], signature: "find(@map, key, $variable)", placement: "both", type: boolType, doc: "Looks a key up: whether it is there, and its value into a variable." },
  { name: "len", spelling: { bpftrace: ["len", "stack_len"] }, form: "function", arity: [1, 1], signature: "len(@map | stack | value)", placement: "both", type: i64, doc: "Entries of a map, frames of a stack, or elements of a program's list, map or text." },
];
