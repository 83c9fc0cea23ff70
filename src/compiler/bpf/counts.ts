// Counters of what went wrong, in this CPU's stripe: a few instructions, off the usual way.
import { Jump } from "../../bpf/instruction.ts";
import { cutStack } from "../unwind-layout.ts";
import { behind } from "./emitter.ts";
import type { Register } from "./machine.ts";
import type { FunctionScope } from "./scope.ts";

/** Adds 1 to a counter of this CPU's stripe. */
export function count(scope: FunctionScope, offset: number): void {
  const { emitter } = scope;
  const counter = behind(scope.stripeAddress(false), offset);
  if (scope.preemptible) {
    emitter.atomicAdd(counter, emitter.constant(1n), false);
    return;
  }
  const word = emitter.register();
  emitter.load(word, counter, 8);
  emitter.add(word, 1);
  emitter.store(counter, 8, word);
}

/** An update was refused: the map is full. */
export function countFailure(scope: FunctionScope, map: number): void {
  const offset = scope.kernelMapOf(map).map.failureOffset;
  if (offset !== undefined) count(scope, offset);
}

/** An unwound stack ended early: why is one of `cutStack`. */
export function countCut(scope: FunctionScope, why: Register): void {
  const { emitter } = scope;
  const known = emitter.label();
  emitter.branchConstant(Jump.JNE, why, BigInt(cutStack.broken), known);
  count(scope, scope.cutOffset);
  emitter.bind(known);
  const other = emitter.label();
  emitter.branchConstant(Jump.JEQ, why, BigInt(cutStack.broken), other);
  count(scope, scope.cutOffset + 8);
  emitter.bind(other);
}
