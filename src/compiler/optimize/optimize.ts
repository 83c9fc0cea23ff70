// The passes, in order, until nothing changes much: twice is enough for what the lowering leaves.
import type { IrFunction, IrModule } from "../ir.ts";
import { dropDeadCode } from "./dead-code.ts";
import { foldConstants } from "./fold-constants.ts";
import { shareSubexpressions } from "./common-subexpressions.ts";
import { simplifyBranches } from "./simplify-branches.ts";
import { dropTrivialParameters } from "./trivial-parameters.ts";

const passes: readonly ((fn: IrFunction) => IrFunction)[] = [
  foldConstants, simplifyBranches, dropTrivialParameters, shareSubexpressions, dropDeadCode,
];
const rounds = 2;

export function optimize(module: IrModule): IrModule {
  return { ...module, functions: module.functions.map(optimizeFunction) };
}

export function optimizeFunction(fn: IrFunction): IrFunction {
  let current = fn;
  for (let round = 0; round < rounds; round++) for (const pass of passes) current = pass(current);
  return current;
}
