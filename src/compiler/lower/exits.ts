// Ways out of what is being built: `return`, and the end of the handler behind exit().
import type { FunctionState } from "./state.ts";

/** Out of the function that is inlined here, or out of the handler. What follows is unreachable. */
export function leave(f: FunctionState): void {
  const { inlined } = f.frame;
  if (inlined !== undefined && inlined.owner === f) {
    f.build.jump(inlined.exit);
    f.build.startUnreachable();
  } else if (f.outer !== undefined) {
    f.leaveLoop("return");
  } else {
    end(f);
  }
}

/** Out of the clause that is built here, where there are several of one event. */
function end(f: FunctionState): void {
  if (f.end === undefined) return f.build.return();
  f.build.jump(f.end);
  f.build.startUnreachable();
}

/** Nothing more of the handler runs, whatever is inlined here. */
export function leaveHandler(f: FunctionState): void {
  if (f.outer === undefined) end(f);
  else f.leaveLoop("handler");
}
