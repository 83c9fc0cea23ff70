// Runs inputs until it is told to stop or does not survive one. Says on standard output, a line of JSON each, what
// failed, and writes which input it is at to the file that it is given, before each.
import { readFileSync, writeSync } from "node:fs";
import { InternalError } from "../../src/base/internal-error.ts";
import { Random } from "../support/random.ts";
import { minimised } from "./minimise.ts";
import { mutated } from "./mutate.ts";
import type { Seed, Target } from "./target.ts";
import { targets } from "./targets.ts";

export interface Failure {
  readonly target: string;
  readonly index: number;
  readonly kind: string;
  readonly error: string;
  readonly input: string;
}

/** The input that a seed, a target and a number stand for. */
export function inputOf(target: Target, seeds: readonly Seed[], seed: number, index: number): Buffer {
  let state = seed >>> 0;
  for (const letter of `${target.name} ${index}`)
    state = (Math.imul(state ^ letter.charCodeAt(0), 0x01000193) + 1) >>> 0;
  return mutated(target, seeds, new Random(state));
}

/** What an input does wrong; undefined when it is taken, or refused as it should be. */
export function failureOf(target: Target, input: Buffer): unknown {
  try {
    target.run(Buffer.from(input));
    return undefined;
  } catch (error) {
    return target.refuses(error) ? undefined : (error ?? "nothing was thrown");
  }
}

/** The same for failures that are alike: the kind of error, and the place in strobe; its words where there is none. */
export function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const where = /\/src\/([\w/-]+\.ts:\d+)/.exec(error.stack ?? "")?.[1];
  const said = error instanceof InternalError ? error.fault : error.message;
  return where === undefined
    ? `${error.name}: ${said.replaceAll(/\d+/g, "N").slice(0, 100)}`
    : `${error.name} at ${where}`;
}

function work(
  progress: number,
  seed: number,
  from: Record<string, number>,
  names: readonly string[],
  inputs: number,
): void {
  const chosen = targets.filter(({ name }) => names.length === 0 || names.includes(name));
  const seeds = new Map(chosen.map((target) => [target, target.seeds()]));
  const told = new Set<string>();
  const next = { ...from };
  const goesOn = ({ name }: Target): boolean => (next[name] ?? 0) < inputs;
  while (chosen.some(goesOn)) {
    for (const target of chosen) {
      const until = performance.now() + 250;
      while (performance.now() < until && goesOn(target)) {
        const index = next[target.name] ?? 0;
        next[target.name] = index + 1;
        writeSync(progress, `${target.name} ${index}`.padEnd(48), 0);
        const input = inputOf(target, seeds.get(target) ?? [], seed, index);
        const error = failureOf(target, input);
        if (error === undefined) continue;
        const kind = kindOf(error);
        if (told.has(kind)) continue;
        told.add(kind);
        const alike = (candidate: Buffer): boolean => {
          const other = failureOf(target, candidate);
          return other !== undefined && kindOf(other) === kind;
        };
        // The watchdog counts from here.
        writeSync(progress, `${target.name} ${index} minimise`.padEnd(48), 0);
        const small = minimised(input, alike, { text: target.words !== undefined });
        const failure: Failure = {
          target: target.name,
          index,
          kind,
          error: error instanceof Error ? (error.stack ?? error.message) : kind,
          input: small.toString("base64"),
        };
        process.stdout.write(`${JSON.stringify(failure)}\n`);
      }
    }
  }
  writeSync(progress, done.padEnd(48), 0);
}

/** What is written as progress once every target has had its inputs. */
export const done = "done";

/** Started as `worker.js PROGRESS-FD SEED FROM NAMES`; imported, it does nothing. */
if (process.env["STROBE_FUZZ_WORKER"] === "1") {
  const { seed, from, names, inputs } = JSON.parse(readFileSync(0, "utf8")) as {
    seed: number;
    from: Record<string, number>;
    names: readonly string[];
    inputs?: number;
  };
  work(3, seed, from, names, inputs ?? Infinity);
}
