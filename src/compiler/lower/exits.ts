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
    f.build.return();
  }
}

/** Nothing more of the handler runs, whatever is inlined here. */
export function leaveHandler(f: FunctionState): void {
  if (f.outer === undefined) f.build.return();
  else f.leaveLoop("handler");
}
