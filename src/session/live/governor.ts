// Keeps what a session's handlers cost below a share of the machine's CPU time. A handler that costs more than is left
// for it runs for only some of its events; where even that is too much, since getting to the handler is what costs, its
// probe goes.
import type { Trouble } from "../events.ts";
import type { Gates } from "./kernel-objects.ts";
import type { OverheadMeter } from "./overhead.ts";
import type { HandlerCost } from "../stats.ts";

/** What a program did in one window, and how it is held back: of `every` events one runs the handler. */
export interface Load {
  readonly runs: number;
  readonly nanoseconds: number;
  /** Estimate: into the handler and back. */
  readonly entry: number;
  readonly every: number;
}

/**
 * `every`: a power of two, 1 to run all. `hopeless`: its cost stays above its share however rarely the handler runs.
 */
export interface Verdict {
  readonly every: number;
  readonly hopeless: boolean;
}

/** Nanoseconds that a held-back run takes in the handler. */
const skippedNanoseconds = 8;
/** One event in so many at the rarest. */
const rarest = 1 << 20;
/** A handler is let run more often when it would then still take only so much of its share. */
const ease = 0.5;

/**
 * Splits a budget of CPU nanoseconds: who needs less than an equal part keeps what it needs, the others share the rest.
 */
export function shares(costs: readonly number[], budget: number): number[] {
  const granted = costs.map(() => 0);
  const order = costs.map((_, i) => i).sort((a, b) => costs[a] - costs[b]);
  let left = budget;
  order.forEach((program, position) => {
    granted[program] = Math.min(costs[program], left / (order.length - position));
    left -= granted[program];
  });
  return granted;
}

/** Decides over each program for the next window. `budget`: CPU nanoseconds that all may take in a window. */
export function govern(loads: readonly Load[], budget: number): Verdict[] {
  // What each would cost if nothing held it back.
  const whole = loads.map(({ runs, nanoseconds, entry, every }) => {
    const handled = runs / every;
    const body = handled < 1 ? 0 : Math.max(0, nanoseconds - (runs - handled) * skippedNanoseconds) / handled;
    return { runs, entry, body, cost: runs * (entry + body) };
  });
  const granted = shares(
    whole.map(({ cost }) => cost),
    budget,
  );
  return loads.map(({ every }, i) => {
    const { runs, entry, body, cost } = whole[i];
    // Held back and silent: nothing is known of its handler, so it stays as it is, but more often when it has become
    // rare.
    if (runs === 0) return { every: Math.max(1, every / 2), hopeless: false };
    const floor = runs * (entry + skippedNanoseconds);
    const needed = (share: number): number => {
      if (cost <= share) return 1;
      const room = share - floor;
      return room <= 0 ? rarest : Math.min(rarest, 2 ** Math.ceil(Math.log2(Math.max(1, (runs * body) / room))));
    };
    const now = needed(granted[i] < cost ? granted[i] : budget);
    if (now >= every) return { every: now, hopeless: cost > granted[i] && floor > granted[i] };
    // It has calmed down: step by step, and only with room to spare, or it would swing to and fro.
    return { every: Math.max(needed((granted[i] < cost ? granted[i] : budget) * ease), every / 2, 1), hopeless: false };
  });
}

function entryCost({ runs, entry }: Load): number {
  return runs * entry;
}

/** Milliseconds between two looks. */
const windowMilliseconds = 100;
/** Windows that a held-back handler's probe alone may cost too much before it is detached. */
const patience = 3;

export interface GovernorOptions {
  readonly meter: OverheadMeter;
  readonly gates: Gates;
  /** Of the CPU time of the whole machine: 0.02 is 2 %. */
  readonly limit: number;
  readonly report: (trouble: Trouble) => void;
  /** Detaches a program's probes. */
  readonly detach: (program: number) => void;
}

interface Held {
  every: number;
  hopeless: number;
  detached: boolean;
  told: boolean;
}

export class Governor implements Disposable {
  readonly #options: GovernorOptions;
  readonly #held: Held[] = [];
  readonly #timer: NodeJS.Timeout;
  #capacity: number;

  constructor(options: GovernorOptions) {
    this.#options = options;
    this.grow();
    this.#capacity = options.meter.capacity;
    this.#timer = setInterval(() => this.look(), windowMilliseconds);
    this.#timer.unref();
  }

  /** Takes in programs that the meter has got. */
  grow(): void {
    while (this.#held.length < this.#options.meter.programs.length)
      this.#held.push({ every: 1, hopeless: 0, detached: false, told: false });
  }

  /** Measures the window since the last look and acts. */
  look(): void {
    const { meter, limit } = this.#options;
    const { capacity } = meter;
    const window = capacity - this.#capacity;
    this.#capacity = capacity;
    if (window <= 0) return;
    const loads = meter.since().map(({ runs, nanoseconds }, i): Load => ({
      runs,
      nanoseconds,
      entry: meter.entry[i],
      every: this.#held[i].every,
    }));
    const verdicts = govern(loads, window * limit);
    let worst = -1;
    verdicts.forEach(({ every, hopeless }, i) => {
      const held = this.#held[i];
      if (held.detached) return;
      held.hopeless = hopeless ? held.hopeless + 1 : 0;
      this.#setGate(i, every);
      held.every = every;
      if (held.hopeless >= patience && (worst < 0 || entryCost(loads[i]) > entryCost(loads[worst]))) worst = i;
      if (every > 1 && !held.told && !hopeless) {
        held.told = true;
        this.#options.report({ kind: "throttled", every, ...this.#facts(i, loads[i], window) });
      }
    });
    if (worst < 0) return;
    // One at a time: without it, the others may fit.
    for (const held of this.#held) held.hopeless = 0;
    this.#held[worst].detached = true;
    this.#options.report({ kind: "detached", ...this.#facts(worst, loads[worst], window) });
    this.#options.detach(worst);
  }

  #facts(program: number, { runs, nanoseconds, entry }: Load, window: number) {
    const { meter, limit } = this.#options;
    return {
      probe: this.#name(program),
      rate: runs / (window / meter.cpus / 1e9),
      share: (nanoseconds + runs * entry) / window,
      limit,
    };
  }

  /** How a program is held back. */
  held(program: number): Pick<HandlerCost, "skipped" | "state"> {
    const { every, detached } = this.#held[program];
    return { skipped: this.#skipped(program), state: detached ? "detached" : every > 1 ? "throttled" : "running" };
  }

  /** What was held back of each program, for the end. */
  skipped(): Trouble[] {
    return this.#held.flatMap((_, i): Trouble[] => {
      const count = this.#skipped(i);
      return count === 0 ? [] : [{ kind: "skipped", probe: this.#name(i), count }];
    });
  }

  #name(program: number): string {
    const { sites, name } = this.#options.meter.programs[program].program;
    return sites.length > 1 ? `${sites[0].name} and ${sites.length - 1} more` : (sites[0]?.name ?? name);
  }

  #setGate(program: number, every: number): void {
    const { u32 } = this.#options.gates.memory;
    u32[program * 2] = every - 1;
  }

  #skipped(program: number): number {
    const {
      memory: { u32 },
      role: { first, stripe, cpus },
    } = this.#options.gates;
    let total = 0;
    for (let cpu = 0; cpu < cpus; cpu++) {
      const word = (first + cpu * stripe + program * 16 + 8) >>> 2;
      total += u32[word] + u32[word + 1] * 0x1_0000_0000;
    }
    return total;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
