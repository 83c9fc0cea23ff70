// What went wrong in the kernel, counted there: events that the ring had no room for, updates of full maps, and events
// missed because a handler was running already.
import type { KernelProgram } from "../../compiler/bpf/bpf-plan.ts";
import { cutStack } from "../../compiler/layouts/unwound-stack.ts";
import type { Plan } from "../../compiler/plan.ts";
import type { UnkeptCalls } from "../../compiler/layouts/counted-places.ts";
import { refusalOffsets, refusals } from "../../compiler/layouts/refusals.ts";
import { progInfo } from "../../linux/bpf/bpf.ts";
import type { Attachment } from "../../providers/provider.ts";
import type { Trouble } from "../events.ts";
import type { LoadedProgram } from "./kernel-objects.ts";

const helpOfUnkept: Readonly<Record<UnkeptCalls["where"], string>> = {
  return: "returns of calls whose entry it did not see: it asks for their arguments",
  inside: "in calls whose entry it did not see: it asks for what they were called with",
};

const helpOfCrowded = "more threads than it keeps memory for were in its handler on one CPU";

interface Counter {
  readonly offsets: readonly number[];
  readonly trouble: (count: number) => Trouble;
  seen: number;
}

/** The per-CPU region, as far as counters care. */
export interface CounterRegion {
  readonly memory: { readonly u32: Uint32Array };
  /** Bytes. */
  readonly stripe: number;
  readonly cpus: number;
}

export class TroubleCounters {
  readonly #region: CounterRegion | undefined;
  readonly #counters: Counter[] = [];
  readonly #known = new Set<number>();

  constructor(plan: Plan, region: CounterRegion | undefined) {
    this.#region = region;
    this.watch(plan);
  }

  /** Counters of a plan; of one that has grown, those that came on top. */
  watch(plan: Plan): void {
    if (!this.#region) return;
    const add = (offset: number, trouble: Counter["trouble"]): void => {
      if (this.#known.has(offset)) return; // schemas may share a counter
      this.#known.add(offset);
      this.#counters.push({ offsets: [offset], trouble, seen: 0 });
    };
    const { lost, lostOf, watches, loops } = plan.bpf.counters;
    plan.watches.forEach((watched, i) => {
      add(watches[i], (count) => ({ kind: "failed", watched, count, code: this.#code(watches[i] + 8) }));
    });
    plan.bpf.loops.forEach((loop, i) => {
      const { unkept } = loop;
      add(loops[i], (count) =>
        unkept === undefined
          ? { kind: "loop-cut", loop, count }
          : { kind: "missed", probe: unkept.probe, count, help: helpOfUnkept[unkept.where] },
      );
    });
    plan.schemas.forEach(({ probe }, i) => {
      add(lost[i], (count) => ({ kind: "lost", probe, count }));
    });
    if (lostOf !== undefined)
      for (const [i, probe] of plan.probeNames.entries())
        add(lostOf + i * 8, (count) => ({ kind: "lost", probe, count }));
    for (const program of plan.bpf.programs) {
      const { missed } = program;
      if (missed === undefined) continue;
      const probe = probesOf(program);
      add(missed, (count) => ({ kind: "missed", probe, count, help: helpOfCrowded }));
    }
    for (const { role, failureOffset } of plan.bpf.maps) {
      if (role.kind === "unwind-processes") {
        for (const why of Object.keys(cutStack) as (keyof typeof cutStack)[]) {
          add(role.cutOffset + (cutStack[why] - 1) * 8, (count) => ({ kind: "cut-stacks", why, count }));
        }
      }
      if (role.kind !== "map" || failureOffset === undefined) continue;
      const { shown: map, larger } = plan.maps[role.map];
      if (this.#known.has(failureOffset)) continue;
      this.#known.add(failureOffset);
      for (const why of refusals) {
        this.#counters.push({
          offsets: refusalOffsets(failureOffset, why),
          trouble: (count) => ({ kind: "map-full", map, larger, why, count }),
          seen: 0,
        });
      }
    }
  }

  /** A failure's code, on whichever CPU there was one. */
  #code(offset: number): number {
    const {
      memory: { u32 },
      stripe,
      cpus,
    } = this.#region!;
    for (let cpu = 0; cpu < cpus; cpu++) {
      const code = u32[(offset + cpu * stripe) >>> 2] | 0;
      if (code !== 0) return code;
    }
    return 0;
  }

  /** What was counted since the last call. */
  take(): Trouble[] {
    const region = this.#region;
    if (!region) return [];
    const {
      memory: { u32 },
      stripe,
      cpus,
    } = region;
    const troubles: Trouble[] = [];
    for (const counter of this.#counters) {
      let total = 0;
      for (let cpu = 0; cpu < cpus; cpu++) {
        for (const offset of counter.offsets) {
          const word = (offset + cpu * stripe) >>> 2;
          total += u32[word] + u32[word + 1] * 0x1_0000_0000;
        }
      }
      if (total === counter.seen) continue;
      troubles.push(counter.trouble(total - counter.seen));
      counter.seen = total;
    }
    return troubles;
  }
}

/** Which probes a program counts for: it does not know which of them. */
function probesOf({ sites, name }: KernelProgram): string {
  if (sites.length === 0) return name;
  return sites.length === 1 ? sites[0].name : `${sites[0].name} and ${sites.length - 1} more`;
}

/**
 * Events that were missed: a program did not see them because it (or a tracing program like it) was running on that CPU
 * already, or the probe under it knows of some.
 */
export function missedEvents(programs: readonly LoadedProgram[], attachments: readonly Attachment[]): Trouble[] {
  const troubles: Trouble[] = [];
  for (const { program, descriptor } of programs) {
    const missed = progInfo(descriptor).recursionMisses;
    if (missed > 0) troubles.push({ kind: "missed", probe: probesOf(program), count: missed });
  }
  for (const attachment of attachments) {
    for (const { site, count, help } of attachment.missed?.() ?? []) {
      troubles.push({ kind: "missed", probe: site.name, count, ...(help === undefined ? {} : { help }) });
    }
  }
  return troubles;
}
