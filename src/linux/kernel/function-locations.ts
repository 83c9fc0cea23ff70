// Functions that ftrace can trace, and where: what kprobe-multi links are given for wildcards.
import { readFileSync } from "node:fs";
import { tracefsRoot } from "./tracefs.ts";

export interface FunctionLocation {
  readonly name: string;
  /**
   * Of the instruction that ftrace patches: the function's first, or, where that is a landing pad or for other CPUs,
   * one soon behind it.
   */
  readonly address: bigint;
  /** Absent for the kernel proper. */
  readonly module?: string;
}

const LANDMARK = "__ftrace_invalid_address__";
const CLOSING = 0x5d;

/**
 * Lines `ffffffff81002014 name` or `ffffffffc0601014 name [module]`, by address; functions that share a name have one
 * each.
 */
export class FunctionLocations {
  readonly #text: string;
  /** Where each line begins, and behind them where the next would. */
  readonly #starts: readonly number[];

  private constructor(text: string) {
    const starts = [0];
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", end + 1)) starts.push(end + 1);
    this.#text = text;
    this.#starts = starts;
  }

  /**
   * Reads `available_filter_functions_addrs` (Linux 6.5); undefined on older kernels, and where the kernel keeps it to
   * itself.
   */
  static read(): FunctionLocations | undefined {
    try {
      return FunctionLocations.parse(readFileSync(`${tracefsRoot()}/available_filter_functions_addrs`, "latin1"));
    } catch {
      return undefined;
    }
  }

  static parse(text: string): FunctionLocations {
    return new FunctionLocations(text);
  }

  /** Those whose name begins so and is accepted, by address. */
  find(prefix: string, accepts: (name: string) => boolean): FunctionLocation[] {
    const text = this.#text;
    const starts = this.#starts;
    const found: FunctionLocation[] = [];
    // All addresses have as many digits.
    const digits = text.indexOf(" ");
    // Most names begin with another letter: looking at that first takes half of the time.
    const first = prefix.charCodeAt(0);
    for (let i = 0; i + 1 < starts.length; i++) {
      const start = starts[i];
      const nameStart = start + digits + 1;
      if (text.charCodeAt(nameStart) !== first && prefix !== "") continue;
      if (!text.startsWith(prefix, nameStart)) continue;
      const end = starts[i + 1] - 1;
      const nameEnd = text.charCodeAt(end - 1) === CLOSING ? text.lastIndexOf(" ", end) : end;
      const name = text.slice(nameStart, nameEnd);
      // Places that the kernel lost the function of have names that begin like this.
      if (!accepts(name) || name.startsWith(LANDMARK)) continue;
      const address = BigInt(`0x${text.slice(start, start + digits)}`);
      found.push(nameEnd === end ? { name, address } : { name, address, module: text.slice(nameEnd + 2, end - 1) });
    }
    return found;
  }
}
