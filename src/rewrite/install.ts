import * as nodeModule from "node:module";
import { hooks } from "./hooks.ts";

/** Node 22.15 and later run hooks on the thread of the program; before, `register` has a thread of its own, and its cost. */
const { registerHooks } = nodeModule as { readonly registerHooks?: (own: typeof hooks) => void };

/** Puts the hooks in the way of every module that this process loads from now on. */
export function installHooks(): void {
  if (registerHooks) registerHooks(hooks);
  else nodeModule.register("./hooks.mjs", import.meta.url);
}
