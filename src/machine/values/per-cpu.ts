// Variables of the kernel of which every CPU has its own: debug information tells where they are from where a CPU's
// begin.
import type { Fetch } from "../../language/context.ts";
import type { Type } from "../../language/types.ts";
import { displaced } from "./locations.ts";
import type { Binary, System } from "../system.ts";
import { Failure } from "../../base/failure.ts";
import { variableReasons } from "../../messages/on-demand.ts";

/**
 * Where the CPU that runs has such a variable: its address and `__per_cpu_offset[cpu]` (include/asm-generic/percpu.h);
 * undefined for other variables. Addresses of x86-64 began at 0 before Linux 6.15, wherever the kernel was loaded.
 */
export function perCpuAddress(
  { perCpu }: Binary,
  wanted: bigint,
  slide: bigint,
  system: System,
): Fetch | Failure | undefined {
  if (perCpu === undefined || wanted < perCpu.low || wanted >= perCpu.high) return undefined;
  const offsets = system.symbolAddress("__per_cpu_offset");
  const cpu = memberOffset(system, "task_struct", "thread_info", "cpu");
  if (offsets === undefined || cpu === undefined) return new Failure(variableReasons().perCpuUntold());
  const number: Fetch = {
    kind: "pointed",
    base: { kind: "task" },
    offset: cpu,
    size: 4,
    signed: false,
    space: "kernel",
  };
  const table: Fetch = { kind: "constant", value: BigInt.asUintN(64, offsets) };
  const base: Fetch = {
    kind: "pointed",
    base: table,
    index: number,
    scale: 8,
    offset: 0,
    size: 8,
    signed: false,
    space: "kernel",
  };
  return displaced(base, perCpu.low === 0n ? wanted : wanted + slide);
}

/** Bytes into a struct, through members that are structs. */
function memberOffset(system: System, name: string, ...path: readonly string[]): number | undefined {
  let type: Type | undefined = system.types.find(name, "struct");
  let offset = 0;
  for (const step of path) {
    const member = type?.kind === "struct" ? type.members.find((one) => one.name === step) : undefined;
    if (member === undefined) return undefined;
    offset += member.offset;
    type = member.type;
  }
  return offset;
}
