// Counters of what went wrong, in this CPU's stripe: a few instructions, off the usual way.
import { Alu, Jump } from "../../bpf/instruction.ts";
import { refusalOffsets, resultCounters } from "../layouts/refusals.ts";
import { cutStack } from "../layouts/unwound-stack.ts";
import { behind } from "./emitter.ts";
import type { Memory, Register } from "./machine.ts";
import type { FunctionScope } from "./scope.ts";

/** Adds 1 to a counter of this CPU's stripe. */
export function count(scope: FunctionScope, offset: number): void {
  bump(scope, behind(scope.stripeAddress(false), offset));
}

/** All handlers count here, and one may have interrupted another. */
function bump({ emitter }: FunctionScope, counter: Memory): void {
  emitter.atomicAdd(counter, emitter.constant(1n), false);
}

/** An event of a probe, by its number, was lost. */
export function countLostOf(scope: FunctionScope, probe: Register): void {
  const { emitter } = scope;
  const { counters, countedProbes = 0 } = scope.options;
  if (counters.lostOf === undefined) return;
  const stripe = scope.stripeAddress(false);
  const index = emitter.bounded(probe);
  const beyond = emitter.label();
  emitter.branchConstant(Jump.JGE, index, BigInt(countedProbes), beyond);
  emitter.aluConstant(Alu.LSH, index, 3n);
  emitter.alu(Alu.ADD, stripe, index);
  bump(scope, behind(stripe, counters.lostOf));
  emitter.bind(beyond);
}

/** EEXIST: what an update says that is to make an entry, when somebody else has just made it. */
export const justMade = -17n;
/** E2BIG: what an update says when the map is full. */
export const full = -7n;

/** The result of an update that did not make an entry: why is known by its number (refusals.ts). */
export function countRefusal(scope: FunctionScope, map: number, result: Register): void {
  const first = scope.kernelMapOf(map).map.failureOffset;
  if (first === undefined) return;
  const { emitter } = scope;
  const counters = scope.stripeAddress(false);
  emitter.aluConstant(Alu.AND, result, BigInt(resultCounters - 1));
  emitter.aluConstant(Alu.LSH, result, 3n);
  emitter.alu(Alu.ADD, counters, result);
  bump(scope, behind(counters, first));
}

/** There is no place for one more. */
export function countFull(scope: FunctionScope, map: number): void {
  const first = scope.kernelMapOf(map).map.failureOffset;
  if (first !== undefined) count(scope, refusalOffsets(first, "full")[0]);
}

/** A value was not added, since others kept its place for too long. */
export function countBusy(scope: FunctionScope, map: number): void {
  const first = scope.kernelMapOf(map).map.failureOffset;
  if (first !== undefined) count(scope, refusalOffsets(first, "busy")[0]);
}

/**
 * With `-k`: a helper's result is looked at, and a failure counted with it. `found`: it is an address, and 0 is the
 * failure.
 */
export function countFailed(scope: FunctionScope, watch: number | undefined, result: Register, found = false): void {
  const offset = watch === undefined ? undefined : scope.options.counters.watches?.[watch];
  if (offset === undefined) return;
  const { emitter } = scope;
  const failed = emitter.label();
  const done = emitter.label();
  emitter.branchConstant(found ? Jump.JEQ : Jump.JSLT, result, 0n, failed);
  emitter.bind(done);
  emitter.cold(() => {
    emitter.bind(failed);
    count(scope, offset);
    if (!found) emitter.store(behind(scope.stripeAddress(false), offset + 8), 8, result);
    emitter.jump(done);
  });
}

/** Of the helper that was just called, or what it said. */
export function watchResult(scope: FunctionScope, watch: number | undefined, said?: Register): void {
  if (watch !== undefined) countFailed(scope, watch, said ?? scope.emitter.copy(0));
}

/**
 * A loop was cut short. Of the first CPU's stripe for all of them, since that takes no call: what a loop that ends by
 * itself has in its registers stays there.
 */
export function countCutLoop(scope: FunctionScope, loop: number): void {
  const offset = scope.options.counters.loops?.[loop];
  if (offset === undefined) return;
  const { emitter } = scope;
  emitter.atomicAdd(behind(emitter.mapValue(scope.stripe.map, offset)), emitter.constant(1n), false);
}

/** An unwound stack ended early: why is one of `cutStack`. */
export function countCut(scope: FunctionScope, why: Register): void {
  const { emitter } = scope;
  for (const reason of Object.values(cutStack)) {
    const other = emitter.label();
    emitter.branchConstant(Jump.JNE, why, BigInt(reason), other);
    count(scope, scope.cutOffset + (reason - 1) * 8);
    emitter.bind(other);
  }
}
