// A program that serves chosen numbers (system calls, for one) leaves at once when its number is not among them.
import { Jump } from "../../bpf/instruction.ts";
import type { Fetch } from "../../language/context.ts";
import { generateFetch } from "./scalars.ts";
import type { Register } from "./machine.ts";
import type { FunctionScope } from "./scope.ts";

interface Range {
  readonly from: bigint;
  readonly to: bigint;
}

/** Goes on when the fetched value is one of the numbers, else to `out`. Few compares: a search over runs of numbers. */
export function writeMatch(scope: FunctionScope, fetch: Fetch, numbers: readonly bigint[], out: number): void {
  const { emitter } = scope;
  const value = generateFetch(scope, fetch);
  const runs = runsOf(numbers);
  if (runs.length === 0) {
    emitter.jump(out);
    return;
  }
  const found = emitter.label();
  search(scope, value, runs, found, out);
  emitter.bind(found);
}

function search(scope: FunctionScope, value: Register, runs: readonly Range[], found: number, out: number): void {
  const { emitter } = scope;
  if (runs.length <= 3) {
    runs.forEach(({ from, to }, i) => {
      const last = i === runs.length - 1;
      if (from === to) emitter.branchConstant(Jump.JEQ, value, from, found);
      else {
        const skip = last ? out : emitter.label();
        emitter.branchConstant(Jump.JSLT, value, from, skip);
        emitter.branchConstant(Jump.JSLE, value, to, found);
        if (!last) emitter.bind(skip);
      }
    });
    emitter.jump(out);
    return;
  }
  const middle = runs.length >> 1;
  const upper = emitter.label();
  emitter.branchConstant(Jump.JSGE, value, runs[middle]?.from ?? 0n, upper);
  search(scope, value, runs.slice(0, middle), found, out);
  emitter.bind(upper);
  search(scope, value, runs.slice(middle), found, out);
}

/** Consecutive numbers as ranges, ascending. */
export function runsOf(numbers: readonly bigint[]): Range[] {
  const sorted = [...new Set(numbers)].sort((a, b) => (a < b ? -1 : 1));
  const runs: { from: bigint; to: bigint }[] = [];
  for (const number of sorted) {
    const last = runs.at(-1);
    if (last !== undefined && last.to + 1n === number) last.to = number;
    else runs.push({ from: number, to: number });
  }
  return runs;
}
