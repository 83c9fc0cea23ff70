// Functions of a module that are called while a handler runs: bodies of loops over maps, functions that call themselves.
import type { IrFunction } from "../ir/ir.ts";
import { leaveHandler } from "./exits.ts";
import { goTo } from "./faults.ts";
import type { FunctionState } from "./state.ts";

export interface Callback {
  /** Its number among the module's functions. */
  readonly callback: number;
  /** Gives it what its state has built. */
  readonly finish: (inner: FunctionState) => void;
}

/** A number for a callback of this handler, which is built next. `prefix`: its name, before the number. */
export function newCallback({ module, handler }: FunctionState, prefix: string): Callback {
  const callback = module.functions.length;
  const { placement, context } = handler;
  const shell: IrFunction = {
    name: `${prefix}_${callback}`,
    kind: "map-callback",
    placement: placement === "host" ? placement : "kernel",
    ...(context === "host" ? {} : { context }),
    matches: [],
    values: [],
    slots: [],
    blocks: [],
  };
  module.functions.push(shell);
  return {
    callback,
    finish: (inner) => {
      module.functions[callback] = { ...shell, ...inner.build.finish() };
    },
  };
}

type Leaves = ReturnType<FunctionState["closeCaptures"]>["leaves"];

/** Behind the call: goes where the callback's body left for. `returns`: where its `return` leads. */
export function followLeaves(f: FunctionState, inner: FunctionState, leaves: Leaves, returns: () => void): void {
  const { build } = f;
  for (const [kind, flag] of leaves) {
    const gone = build.branch(f.loadHome(flag));
    build.start(gone.then);
    if (kind === "return") returns();
    else if (kind === "handler") leaveHandler(f);
    else {
      f.takeError(inner, kind);
      goTo(f, kind);
    }
    build.start(gone.otherwise);
  }
}
