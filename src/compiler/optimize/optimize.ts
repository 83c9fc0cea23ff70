// The passes, in order, each once: what the lowering leaves to them. It folds constants, decides branches and makes no
// parameters of one value by itself, and the generator takes the shortest ways through the blocks (bpf/passes.ts). Each
// has its fixture (fixtures/), and a line in the bench that says what it is worth.
import type { IrFunction, IrModule } from "../ir/ir.ts";
import { dropDeadCode } from "./dead-code.ts";
import { shareSubexpressions } from "./common-subexpressions.ts";

export interface Pass {
  readonly name: string;
  readonly run: (fn: IrFunction) => IrFunction;
}

export const passes: readonly Pass[] = [
  { name: "common-subexpressions", run: shareSubexpressions },
  { name: "dead-code", run: dropDeadCode },
];

/** `without`: names of passes to leave out, to see what they are worth. */
export function optimize(module: IrModule, without: readonly string[] = []): IrModule {
  return { ...module, functions: module.functions.map((fn) => optimizeFunction(fn, without)) };
}

export function optimizeFunction(fn: IrFunction, without: readonly string[] = []): IrFunction {
  return passes.reduce((current, { name, run }) => (without.includes(name) ? current : run(current)), fn);
}
