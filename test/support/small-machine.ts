// A machine with a few events, a kernel function and a program, for tests that resolve probes.
import { i32, i64, type StructType } from "../../src/language/types.ts";
import type { Binary, BinarySymbol, System, TracepointFormat } from "../../src/machine/system.ts";
import { bareSystem } from "./bare-system.ts";

export const field = (name: string, declaration: string, offset: number, size: number, signed = false) => ({
  name,
  declaration,
  offset,
  size,
  signed,
});
const formats: Record<string, TracepointFormat> = {
  "sched:sched_switch": {
    id: 10,
    fields: [field("prev_comm", "char[16]", 8, 16), field("prev_pid", "pid_t", 24, 4, true)],
  },
  "sched:sched_process_exec": { id: 11, fields: [field("filename", "__data_loc char[]", 8, 4)] },
  "syscalls:sys_enter_openat": {
    id: 20,
    fields: [
      field("__syscall_nr", "int", 8, 4, true),
      field("dfd", "int", 16, 8),
      field("filename", "const char *", 24, 8),
    ],
  },
  "syscalls:sys_enter_newstat": {
    id: 21,
    fields: [field("__syscall_nr", "int", 8, 4, true), field("filename", "const char *", 16, 8)],
  },
  "syscalls:sys_exit_openat": {
    id: 22,
    fields: [field("__syscall_nr", "int", 8, 4, true), field("ret", "long", 16, 8, true)],
  },
  "syscalls:sys_enter_not_yet_known": { id: 23, fields: [] },
  "user_events:app_request": {
    id: 30,
    fields: [field("id", "u64", 8, 8), field("path", "__rel_loc char[]", 16, 4)],
  },
};
const events = Object.keys(formats).map((key) => ({ category: key.split(":")[0], name: key.split(":")[1] }));
const raw: Record<string, number> = { sched_switch: 100, sys_enter: 101, sys_exit: 102 };
const file: StructType = { kind: "struct", union: false, name: "file", size: 8, members: [] };

const symbols: BinarySymbol[] = ["main", "malloc", "_ZN3app6Server6handleEi"].map((name, i) => ({
  name,
  address: BigInt(0x401000 + i * 16),
  size: 16n,
  fileOffset: BigInt(0x1000 + i * 16),
  kind: "function",
}));
export const app: Binary = {
  path: "/bin/app",
  shownPath: "/bin/app",
  machine: "x86-64",
  symbol: (name) => symbols.find((symbol) => symbol.name === name),
  symbols: () => symbols,
  fileOffset: (address) => (address >= 0x401000n && address < 0x402000n ? address - 0x400000n : undefined),
  // Two-byte instructions (xchg %ax,%ax) throughout.
  read: (_offset, length) => Uint8Array.from({ length }, (_, i) => (i % 2 === 0 ? 0x66 : 0x90)),
  fixed: true,
  address: (offset) => offset + 0x400000n,
  functionAt: (offset) => ({ name: "main", offset: Number(offset - 0x1000n) }),
  usdtProbes: () => [
    { provider: "app", name: "tick", fileOffset: 0x1004n, semaphoreOffset: 0x3000n, argumentText: "-4@%edi 8f@%xmm0" },
    { provider: "app", name: "tick", fileOffset: 0x1014n, semaphoreOffset: 0x3000n, argumentText: "-4@$3 8f@%xmm0" },
  ],
};

export const smallMachine: System = {
  ...bareSystem,
  kernelFunction: (name) =>
    name === "vfs_read"
      ? {
          name,
          btfId: 7,
          module: "vmlinux",
          parameters: [
            { name: "file", type: { kind: "pointer", target: file, space: "kernel", typed: true } },
            { name: "n", type: i32 },
          ],
          result: i64,
        }
      : name === "perf_tp_event"
        ? { name, btfId: 8, module: "vmlinux", parameters: [], result: i64 }
        : undefined,
  kernelFunctions: () => ["vfs_read"],
  functionModule: (name) => (name === "vfs_read" ? "vmlinux" : undefined),
  tracepoint: (category, name) => formats[`${category}:${name}`],
  tracepoints: () => events,
  userEvents: () => true,
  rawTracepoint: (name) =>
    raw[name] === undefined ? undefined : { btfId: raw[name], args: [{ name: "preempt", type: i32 }] },
  hasRawTracepoint: (name) => name in raw,
  rawTracepoints: () => Object.keys(raw),
  bpfFunctions: () => [
    { program: 5, name: "count_reads", btfId: 3, tracing: false },
    { program: 5, name: "each", btfId: 4, tracing: false },
    { program: 9, name: "count_reads", btfId: 3, tracing: true },
  ],
  binary: (name) => (name === "/bin/app" || name === "app" ? app : undefined),
};
