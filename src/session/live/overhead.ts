// What a session's own programs cost the machine: the kernel's run-time statistics of each, and an estimate of what it
// takes to get to the program at all.
import type { KernelProgram } from "../../compiler/bpf/bpf-plan.ts";
import { enableStats, progInfo } from "../../linux/bpf/bpf.ts";
import { closeFd } from "../../linux/ffi.ts";
import { onlineCpus } from "../../linux/perf/perf.ts";
import type { Attacher, EntryCost } from "../../providers/provider.ts";
import type { LoadedProgram } from "./kernel-objects.ts";
import type { HandlerCost, SessionStats } from "../stats.ts";
import { measureUprobe } from "./uprobe-cost.ts";

/** Runs and nanoseconds of one program. */
export interface ProgramTime {
  readonly runs: number;
  readonly nanoseconds: number;
}

/**
 * Nanoseconds from the traced code into an empty handler and back. In the kernel, machines differ by a factor of two or
 * three; `trap` is what a uprobe takes here.
 */
function entryNanoseconds({ type }: KernelProgram, entry: EntryCost | undefined, trap: number): number {
  if (entry !== undefined) return "traps" in entry ? entry.traps * trap : entry.nanoseconds;
  switch (type) {
    case "tracing":
      return 40;
    case "raw_tracepoint":
      return 60;
    case "tracepoint":
      return 100;
    case "perf_event":
      return 1000;
    case "kprobe":
      return 150;
  }
}

/** Where it cannot be tried. */
const usualTrap = 1000;

function timeOf({ descriptor }: LoadedProgram): ProgramTime {
  const { runCount, runTimeNs } = progInfo(descriptor);
  return { runs: runCount, nanoseconds: runTimeNs };
}

/**
 * While this is there, the kernel counts runs and their time. It costs each program on the machine some 20 ns a run.
 */
export class OverheadMeter implements Disposable {
  readonly programs: LoadedProgram[] = [];
  readonly #statistics: number;
  readonly #findAttacher: (name: string) => Attacher | undefined;
  readonly cpus = onlineCpus().length;
  readonly #started = process.hrtime.bigint();
  readonly #ownAtStart = process.cpuUsage();
  /** Nanoseconds into each program and back: an estimate. */
  readonly entry: number[] = [];
  #last: readonly ProgramTime[] = [];
  /** What a uprobe takes on this machine, once some program wants one. */
  #trap: number | undefined;

  /** @throws LinuxError where the kernel has no statistics (before 5.8) or does not allow them */
  constructor(programs: readonly LoadedProgram[], findAttacher: (name: string) => Attacher | undefined) {
    this.#findAttacher = findAttacher;
    this.#statistics = enableStats();
    this.add(programs);
  }

  /** Programs that came while the others ran. */
  add(programs: readonly LoadedProgram[]): void {
    const costs = programs.map(({ program }) => this.#findAttacher(program.provider)?.entryCost?.(program.binding));
    if (costs.some((cost) => cost !== undefined && "traps" in cost)) this.#trap ??= measureUprobe() ?? usualTrap;
    this.programs.push(...programs);
    for (const [i, { program }] of programs.entries())
      this.entry.push(entryNanoseconds(program, costs[i], this.#trap ?? usualTrap));
    this.#last = [...this.#last, ...programs.map(timeOf)];
  }

  #read(): ProgramTime[] {
    return this.programs.map(timeOf);
  }

  /** CPU nanoseconds that the whole machine has had since the start. */
  get capacity(): number {
    return Number(process.hrtime.bigint() - this.#started) * this.cpus;
  }

  /** What each program did since the last call. */
  since(): ProgramTime[] {
    const now = this.#read();
    const last = this.#last;
    this.#last = now;
    return now.map(({ runs, nanoseconds }, i) => ({
      runs: runs - last[i].runs,
      nanoseconds: nanoseconds - last[i].nanoseconds,
    }));
  }

  /** All since the start. `held`: what the governor knows of each program. */
  stats(held: (program: number) => Pick<HandlerCost, "skipped" | "state">): SessionStats {
    const { capacity } = this;
    const handlers = this.#read().map(({ runs, nanoseconds }, i): HandlerCost => {
      const { program } = this.programs[i];
      const probeNanoseconds = runs * this.entry[i];
      return {
        probe: program.sites[0]?.name ?? program.name,
        probes: program.sites.length,
        runs,
        handlerNanoseconds: nanoseconds,
        probeNanoseconds,
        share: (nanoseconds + probeNanoseconds) / capacity,
        ...held(i),
      };
    });
    const own = process.cpuUsage(this.#ownAtStart);
    return {
      seconds: capacity / this.cpus / 1e9,
      handlers,
      share: handlers.reduce((sum, { share }) => sum + share, 0),
      ownShare: ((own.user + own.system) * 1000) / capacity,
    };
  }

  [Symbol.dispose](): void {
    closeFd(this.#statistics);
  }
}
