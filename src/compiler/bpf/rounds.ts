// What ends a loop that nothing else may end.
import { Jump } from "../../bpf/instruction.ts";
import type { Instruction, IrFunction, Value } from "../ir/ir.ts";
import { addressOf, at, constant } from "./emitter.ts";
import { forget } from "./opaque-values.ts";
import type { Register } from "./machine.ts";
import type { FunctionScope } from "./scope.ts";

/** Rounds of a loop on kernels without may_goto (Linux 6.9): few, since the verifier walks through them all. */
const ROUNDS = 1024n;

/** Goes on with the next round, or to `exit` after too many. `variables`: what changes from round to round. */
export function writeGuard(scope: FunctionScope, variables: readonly Value[], exit: number): void {
  const { emitter } = scope;
  if (scope.options.capabilities.mayGoto) {
    emitter.emit({ kind: "may-goto", to: exit });
    for (const variable of variables) if (!scope.pointers.has(variable)) forget(scope, scope.resultRegister(variable));
    return;
  }
  const counter = emitter.temporary(8);
  scope.roundCounters.push(counter);
  const rounds = emitter.register();
  emitter.load(rounds, counter, 8);
  emitter.branchConstant(Jump.JGE, rounds, ROUNDS, exit);
  emitter.add(rounds, 1);
  emitter.store(counter, 8, rounds);
}

/** Rounds that are called: as many as on the host. */
const CALLED_ROUNDS = 1 << 20;

/**
 * Where a round finds, in its frame, what the function was called with that the loop was written in: its context, or
 * its key, value and captures. Before that: a u64, which way the loop was left (0: its rounds are spent). Behind it: a
 * word for each value that goes from one function to the other (called-loops.ts).
 */
export const handedAt = 8;
export const wordsAt = (within: IrFunction["within"]): number => handedAt + (within === "map-callback" ? 24 : 8);

export function handedOver({ context, key, value, captures }: FunctionScope): readonly Register[] {
  return context >= 0 ? [context] : [key, value, captures];
}

/** Calls a round again and again (bpf_loop). */
export function callRounds(
  scope: FunctionScope,
  { round, frame, variables }: Extract<Instruction, { op: "rounds" }>,
): void {
  const { emitter } = scope;
  const memory = scope.slot(frame);
  handedOver(scope).forEach((register, i) => emitter.store(at(memory, handedAt + i * 8), 8, register));
  // Before Linux 6.7 the verifier takes the first round for every one: it is not to know what the variables begin with.
  for (const offset of variables) {
    const variable = emitter.register();
    emitter.load(variable, at(memory, offset), 8);
    forget(scope, variable);
    emitter.store(at(memory, offset), 8, variable);
  }
  emitter.call("loop", constant(CALLED_ROUNDS), { kind: "callback", callback: round }, addressOf(memory), constant(0));
}
