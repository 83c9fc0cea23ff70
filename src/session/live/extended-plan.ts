// A plan that has grown while its session runs: what was there is as it was, so that programs of both share their maps.
import type { KernelMap } from "../../compiler/bpf/bpf-plan.ts";
import type { Plan } from "../../compiler/plan.ts";
import type { IrMap } from "../../compiler/ir/ir.ts";

/**
 * Whether `longer` is `plan` with more programs and kinds of events behind its own, on maps that the session has made.
 */
export function extendsPlan(plan: Plan, longer: Plan): boolean {
  return (
    longer.bpf.programs.length >= plan.bpf.programs.length &&
    longer.hosts.length === plan.hosts.length &&
    longer.maps.length === plan.maps.length &&
    longer.maps.every((map, i) => isSameMap(map, plan.maps[i])) &&
    JSON.stringify(longer.bpf.storage) === JSON.stringify(plan.bpf.storage) &&
    longer.bpf.maps.length === plan.bpf.maps.length &&
    longer.bpf.maps.every((map, i) => isSameKernelMap(map, plan.bpf.maps[i])) &&
    startsWith(longer.probeNames, plan.probeNames) &&
    startsWith(longer.timeFormats, plan.timeFormats) &&
    longer.schemas.length >= plan.schemas.length &&
    plan.schemas.every(
      ({ size, action }, i) =>
        longer.schemas[i].size === size &&
        longer.bpf.counters.lost[i] === plan.bpf.counters.lost[i] &&
        longer.schemas[i].action.kind === action.kind,
    )
  );
}

function startsWith(longer: readonly string[], start: readonly string[]): boolean {
  return start.every((text, i) => longer[i] === text);
}

function isSameMap(a: IrMap, b: IrMap): boolean {
  return a.name === b.name && a.entries === b.entries && a.keys.length === b.keys.length;
}

function isSameKernelMap(a: KernelMap, b: KernelMap): boolean {
  return (
    a.type === b.type &&
    a.keySize === b.keySize &&
    a.valueSize === b.valueSize &&
    a.entries === b.entries &&
    a.failureOffset === b.failureOffset &&
    JSON.stringify(a.role) === JSON.stringify(b.role)
  );
}
