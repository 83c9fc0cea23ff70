// A plan that has grown while its session runs: what was there is as it was, so that programs of both share their maps.
import type { Reason } from "../../base/failure.ts";
import { sessionReasons } from "../../messages/on-demand.ts";
import type { KernelMap, KernelProgram } from "../../compiler/bpf/bpf-plan.ts";
import type { Plan } from "../../compiler/plan.ts";
import type { IrMap } from "../../compiler/ir/ir.ts";

/** Why a plan that has grown finds no room in what the session has made; undefined where it does. */
export function noRoom(plan: Plan, longer: Plan): Reason | undefined {
  for (const [i, map] of plan.maps.entries())
    if (!isSameMap(longer.maps[i], map)) return sessionReasons().largerEntries(map.shown);
  for (const [i, { role, keySize, valueSize }] of plan.bpf.maps.entries()) {
    const now = longer.bpf.maps[i];
    if (role.kind === "gates" && now.role.kind === "gates" && now.role.programs > role.programs)
      return sessionReasons().tooManyPrograms(role.programs);
    if (role.kind === "map" && (now.keySize !== keySize || now.valueSize !== valueSize))
      return sessionReasons().largerEntries(plan.maps[role.map].shown);
  }
  return longer.bpf.counters.missed.length > plan.bpf.counters.missed.length
    ? sessionReasons().tooManyPrograms(plan.bpf.counters.missed.length)
    : undefined;
}

/**
 * Whether `longer` is `plan` with more programs and kinds of events behind its own, on maps that the session has made.
 */
export function extendsPlan(plan: Plan, longer: Plan): boolean {
  return (
    longer.bpf.programs.length >= plan.bpf.programs.length &&
    plan.bpf.programs.every((program, i) => isSameProgram(longer.bpf.programs[i], program)) &&
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

function isSameProgram(a: KernelProgram, b: KernelProgram): boolean {
  return (
    a.name === b.name && a.sites.length === b.sites.length && a.sites.every(({ name }, i) => name === b.sites[i].name)
  );
}

function isSameKernelMap(a: KernelMap, b: KernelMap): boolean {
  // Where it is too small, programs that come get another (KernelObjects.grow).
  if (a.role.kind === "scratch") return b.role.kind === "scratch";
  return (
    a.type === b.type &&
    a.keySize === b.keySize &&
    a.valueSize === b.valueSize &&
    a.entries === b.entries &&
    a.failureOffset === b.failureOffset &&
    JSON.stringify(a.role) === JSON.stringify(b.role)
  );
}
