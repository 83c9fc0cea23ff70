// The passes, in order, until nothing changes much: twice is enough for what the lowering leaves. Each has its fixtures beside
// it (fixtures/), and a line in the bench that says what it is worth.
import type { IrFunction, IrModule } from "../ir.ts";
import { dropDeadCode } from "./dead-code.ts";
import { shareSubexpressions } from "./common-subexpressions.ts";
import { simplifyBranches } from "./simplify-branches.ts";

export interface Pass { readonly name: string; readonly run: (fn: IrFunction) => IrFunction }

export const passes: readonly Pass[] = [
  { name: "simplify-branches", run: simplifyBranches },
  { name: "common-subexpressions", run: shareSubexpressions },
  { name: "dead-code", run: dropDeadCode },
];
const rounds = 2;

/** `without`: names of passes to leave out, to see what they are worth. */
export function optimize(module: IrModule, without: readonly string[] = []): IrModule {
  return { ...module, functions: module.functions.map((fn) => optimizeFunction(fn, without)) };
}

export function optimizeFunction(fn: IrFunction, without: readonly string[] = []): IrFunction {
  let current = fn;
  for (let round = 0; round < rounds; round++) {
    for (const { name, run } of passes) if (!without.includes(name)) current = run(current);
  }
  return current;
}
