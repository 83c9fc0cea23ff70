// What ends a loop that nothing else may end.
import { Jump } from "../../bpf/instruction.ts";
import type { Value } from "../ir.ts";
import { forget } from "./forget.ts";
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
