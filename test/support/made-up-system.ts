// A small machine for tests of the compiler: a few structs, and a provider for each kind of context.
import type { Capabilities } from "../../src/linux/kernel/capabilities.ts";
import type { TypeScope } from "../../src/language/type-scope.ts";
import type { Context, Fetch } from "../../src/language/context.ts";
import type { PointerType, StructType, Type } from "../../src/language/types.ts";
import { i32, i8, u32, u64, u8 } from "../../src/language/types.ts";
import type { ProbeSpec } from "../../src/language/probe-spec.ts";
import type { Resolution } from "../../src/providers/provider.ts";
import type { System } from "../../src/machine/system.ts";

const kernelPointer = (target: Type): PointerType => ({ kind: "pointer", target, space: "kernel" });
const struct = (name: string, size: number, members: StructType["members"]): StructType => ({
  kind: "struct",
  union: false,
  name,
  size,
  members,
});

const nameStruct = struct("qstr", 16, [
  { name: "len", type: u32, offset: 4 },
  { name: "name", type: kernelPointer(u8), offset: 8 },
]);
const dentry = struct("dentry", 64, [{ name: "d_name", type: nameStruct, offset: 32 }]);
const path = struct("path", 16, [{ name: "dentry", type: kernelPointer(dentry), offset: 8 }]);
const inode = struct("inode", 64, [{ name: "i_sb", type: kernelPointer({ kind: "void" }), offset: 40 }]);
const file = struct("file", 256, [
  { name: "f_path", type: path, offset: 64 },
  { name: "f_inode", type: kernelPointer(inode), offset: 32 },
  { name: "low", type: u32, offset: 0, bitOffset: 3, bitWidth: 5 },
  { name: "numbers", type: { kind: "array", element: i32, length: 4 }, offset: 96 },
  { name: "mac", type: { kind: "array", element: u8, length: 6 }, offset: 112 },
]);
const task: StructType = {
  kind: "struct",
  union: false,
  name: "task_struct",
  size: 128,
  get members() {
    return [
      { name: "pid", type: i32, offset: 8 },
      { name: "tgid", type: i32, offset: 12 },
      { name: "real_parent", type: kernelPointer(task), offset: 24 },
      { name: "comm", type: { kind: "array", element: i8, length: 16 } as const, offset: 40 },
    ];
  },
};
const structs = new Map([nameStruct, dentry, path, inode, file, task].map((s) => [s.name, s]));

const types: TypeScope = {
  find: (name, tag) => (tag === "struct" ? structs.get(name) : undefined),
  enumConstant: () => undefined,
  similar: () => [],
};

export const madeUpCapabilities: Capabilities = {
  kernel: [6, 18],
  btf: true,
  mayGoto: true,
  ringBuffer: true,
  cpuV4: true,
  cpus: 2,
  taskBtf: true,
};

export const madeUpSystem: System = {
  types,
  capabilities: madeUpCapabilities,
  kernelFunction: () => undefined,
  kernelFunctions: () => [],
  functionModule: () => undefined,
  symbolAddress: (name) => (name === "avenrun" ? 0xffffffff81000000n : undefined),
  cgroupId: () => undefined,
  tracepoint: () => undefined,
  tracepoints: () => [],
  rawTracepoint: () => undefined,
  hasRawTracepoint: () => false,
  rawTracepoints: () => [],
  iterators: () => [],
  binary: () => undefined,
  mappedBinaries: () => [],
};

const word = (offset: number): Fetch => ({ kind: "context", offset, size: 8, signed: false });
const contexts: Record<string, Context | "host"> = {
  begin: "host",
  end: "host",
  interval: {
    provider: "interval",
    program: { type: "perf_event", cookie: true },
    runsInStrobe: "when-due",
    defaultSpace: "kernel",
    stacks: true,
  },
  tracepoint: {
    provider: "tracepoint",
    program: { type: "tracepoint", cookie: true },
    defaultSpace: "user",
    stacks: true,
    args: [
      { name: "filename", type: { kind: "pointer", target: i8, space: "user" }, fetch: word(24) },
      { name: "count", type: u64, fetch: word(32) },
    ],
  },
  kprobe: {
    provider: "kprobe",
    program: { type: "kprobe", cookie: true },
    defaultSpace: "kernel",
    stacks: true,
    func: "kernel",
    numbered: [word(112), word(104), word(96)],
    registers: new Map([["ip", word(128)]]),
  },
};

/** Every spec means one site. */
export function resolveMadeUp(spec: ProbeSpec): Resolution {
  const context = contexts[spec.provider];
  return {
    variants: [
      { context, provider: spec.provider, sites: [{ name: [spec.provider, ...spec.parts].join(":"), data: null }] },
    ],
    diagnostics: [],
  };
}
