// Programs that run in this process: begin and end once, others on a schedule or when a signal comes.
import { evaluate } from "../compiler/javascript/evaluate.ts";
import type { HostProgram } from "../compiler/plan.ts";
import type { HostSite } from "../language/context.ts";
import { InternalError } from "../base/internal-error.ts";
import { unlessInterrupted, type SessionRuntime } from "./host-runtime.ts";
import type { Once } from "./source.ts";
import { Timers, type Ticker, type Timeline } from "./timers.ts";

export class HostPrograms implements Disposable {
  readonly #programs: readonly HostProgram[];
  readonly #runtime: SessionRuntime;
  readonly #time: Timeline;
  readonly #signals: [NodeJS.Signals, () => void][] = [];
  #timers: Timers | undefined;
  /** The kind of probe that ticks. */
  #ticking: string | undefined;

  constructor(programs: readonly HostProgram[], runtime: SessionRuntime, time: Timeline) {
    this.#programs = programs;
    this.#runtime = runtime;
    this.#time = time;
  }

  get sites(): number {
    return this.#programs.reduce((sum, { sites }) => sum + sites.length, 0);
  }

  once(when: "begin" | "end"): Once[] {
    return this.#programs
      .filter((host) => host.once === when)
      .map((host) => ({ order: host.order ?? 0, run: () => this.#runner(host)() }));
  }

  #runner(host: HostProgram): () => void {
    const run = evaluate(host.source);
    return () => unlessInterrupted(this.#runtime, () => run(this.#runtime));
  }

  /** Starts the others. `turn` is handed each run when it is due, and may be. */
  start(turn: (run: () => void) => void, mayRun?: () => boolean): void {
    const tickers: Ticker[] = [];
    for (const host of this.#programs) {
      if (host.once !== undefined) continue;
      const program = this.#runner(host);
      const run = (): void => turn(program);
      for (const site of host.sites) {
        const data = site.data as HostSite | null;
        if (data !== null && "period" in data) {
          tickers.push({ period: data.period, run });
          this.#ticking ??= host.provider;
        } else if (data !== null && "signal" in data) {
          process.on(data.signal, run);
          this.#signals.push([data.signal, run]);
        } else throw new InternalError(`nothing runs ${site.name} on the host`);
      }
    }
    if (tickers.length > 0) this.#timers = new Timers(tickers, this.#time, mayRun);
  }

  /** Whether anything is still to come. */
  get waiting(): boolean {
    return this.#timers !== undefined || this.#signals.length > 0;
  }

  /** Milliseconds until something is due; Infinity when nothing is known to be. */
  untilNext(): number {
    return this.#timers?.untilNext() ?? Infinity;
  }

  /** Ticks that were dropped, of a kind of probe; undefined where none were. */
  get missed(): { readonly probe: string; readonly count: number } | undefined {
    const count = this.#timers?.missed ?? 0;
    return count === 0 || this.#ticking === undefined ? undefined : { probe: this.#ticking, count };
  }

  /** Nothing runs any more but what is asked for. */
  [Symbol.dispose](): void {
    this.#timers?.[Symbol.dispose]();
    for (const [signal, listener] of this.#signals.splice(0)) process.off(signal, listener);
  }
}
