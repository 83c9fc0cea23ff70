import * as nodeModule from "node:module";
import { hooks } from "./hooks.ts";
import { fromJavaScript } from "./modules.ts";
import { reachesLibrary } from "./library-names.ts";

/**
 * Node 22.15 and later run hooks on the thread of the program; before, `register` has a thread of its own, and its
 * cost.
 */
const { registerHooks, Module } = nodeModule as {
  readonly registerHooks?: (own: typeof hooks) => void;
  readonly Module?: { readonly prototype: { _compile?: Compile } };
};

type Compile = (this: unknown, content: string, file: string, ...rest: readonly unknown[]) => unknown;

/** Puts the hooks in the way of every module that this process loads from now on. */
export function installHooks(): void {
  if (registerHooks) registerHooks(hooks);
  else {
    nodeModule.register("./hooks.mjs", import.meta.url);
    if (Module) rewriteScripts(Module.prototype);
  }
}

/**
 * What `register`'s hooks hand out as CommonJS cannot require the library, which is a module, and what is required
 * never comes by them. What every CommonJS file does come by is this method.
 */
function rewriteScripts(prototype: { _compile?: Compile }): void {
  const compile = prototype._compile;
  if (!compile) return;
  prototype._compile = function (content, file, ...rest) {
    const rewritten = reachesLibrary(file, content) ? fromJavaScript(file, content, "commonjs") : undefined;
    return compile.call(this, rewritten?.format === "commonjs" ? rewritten.source : content, file, ...rest);
  };
}
