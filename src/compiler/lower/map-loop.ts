// `for ($kv : @map)`: the body becomes a function of its own that runs once an entry, sharing what it uses of the
// handler's variables through a slot.
import type { Statement } from "../../language/program.ts";
import { followLeaves, newCallback } from "./callbacks.ts";
import { leave } from "./exits.ts";
import { mapOf } from "./map-access.ts";
import type { Home } from "./state.ts";
import { FunctionState } from "./state.ts";

export function forMap(f: FunctionState, s: Statement & { kind: "for-map" }): void {
  const { build, module } = f;
  const { index } = mapOf(f, s.map);
  const limit = s.limit === undefined ? undefined : f.value(s.limit);
  const { callback, finish } = newCallback(f, "each");

  const inner = new FunctionState(module, f.handler, f.frame, f);
  const slot = s.variable.slot ?? f.fault(s.variable.span, "a variable without a slot");
  const type = f.frame.variables[slot].type;
  if (type.kind !== "tuple") return f.fault(s.variable.span, "a loop over a map whose variable is not a tuple");
  const known = new Set(f.frame.homes.keys());
  const home: Home = { kind: "entry", owner: inner, map: index, type };
  f.frame.homes.set(slot, home);
  inner.loops.push({ kind: "callback" });
  inner.run(s.body);
  // What the body declared is the body's own: elsewhere the names are other variables.
  for (const declared of f.frame.homes.keys()) if (!known.has(declared)) f.frame.homes.delete(declared);
  inner.build.return(false);
  finish(inner);

  const { slot: captures, takeBack, leaves } = inner.closeCaptures();
  build.emit({
    op: "for-each",
    map: index,
    callback,
    ...(captures === undefined ? {} : { captures }),
    ...(s.order === undefined ? {} : { order: s.order }),
    ...(s.beside === undefined ? {} : { beside: s.beside.map((map) => mapOf(f, map).index) }),
    ...(limit === undefined ? {} : { limit }),
    ...(f.called !== undefined
      ? { recursion: "function" as const }
      : isWithinCalled(f)
        ? { recursion: "loop" as const }
        : {}),
  });
  takeBack();
  followLeaves(f, inner, leaves, () => leave(f));
}

/** Whether it is the body of a loop in a function that calls itself. */
function isWithinCalled(f: FunctionState): boolean {
  for (let around = f.outer; around !== undefined; around = around.outer) if (around.called !== undefined) return true;
  return false;
}
