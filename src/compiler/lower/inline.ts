// Functions of the script: their bodies are built where they are called.
import { compiler } from "../../messages/compiler.ts";
import type { Call } from "../../language/program.ts";
import type { CheckedFunction } from "../../language/checked-program.ts";
import { convert } from "./scalars.ts";
import { isRegister } from "./registers.ts";
import { sizeOf } from "../../language/layout.ts";
import { lazy } from "../../base/lazy.ts";
import type { Frame, FunctionState, Home } from "./state.ts";

// Loaded where a function calls itself.
const recursion = lazy<typeof import("./recursion.ts")>(() => require("./recursion.ts"));

/** Deeper than any sensible script, shallower than endless. */
const mostDepth = 32;

export function isScriptFunction(f: FunctionState, e: Call): boolean {
  return functionNamed(f, e.name) !== undefined;
}

/** Those of the handler's own probe come first. */
function functionNamed({ handler, module }: FunctionState, name: string): CheckedFunction | undefined {
  const is = (fn: CheckedFunction): boolean => fn.name === name;
  return handler.functions?.find(is) ?? module.checked.functions.find(is);
}

/** Builds the function's body here; gives the home of its result. */
export function inlineCall(f: FunctionState, e: Call): Home | undefined {
  const fn = functionNamed(f, e.name);
  if (fn === undefined) return f.fault(e.span, "a function that is not declared");
  if (fn.reaches?.has(fn.name) === true) {
    const called = recursion().recursiveCall(f, e, fn);
    if (called !== "in place") return called;
  }
  const { build } = f;
  let depth = 0;
  for (let frame: Frame | undefined = f.frame; frame !== undefined; frame = frame.caller) {
    if (++depth > mostDepth) return f.refuse(e.span, compiler.callsTooDeep(e.name, mostDepth));
  }
  const result =
    fn.result.kind === "void" || fn.result.kind === "unknown" ? undefined : f.newHome(`${fn.name}()`, fn.result);
  const exit = build.newBlock();
  const frame: Frame = {
    variables: fn.variables,
    homes: new Map(),
    caller: f.frame,
    call: e.span,
    of: fn.name,
    inlined: { result, exit, owner: f },
  };
  // A body that ends without a return gives nothing; a call before this one (in a loop) may have left something here.
  if (result?.kind === "register") f.storeHome(result, build.constant(0n));
  else if (result?.kind === "memory") build.emit({ op: "zero", at: result.place, size: sizeOf(fn.result) });
  // Arguments are evaluated by the caller, in its own frame.
  e.args.slice(0, fn.parameters).forEach((argument, i) => {
    const { name, type } = fn.variables[i];
    const home = f.newHome(name, type);
    frame.homes.set(i, home);
    if (isRegister(type)) f.storeHome(home, convert(f, f.value(argument), argument.type, type));
    else if (home.kind === "memory") f.into(argument, type, home.place);
  });
  const caller = f.frame;
  f.frame = frame;
  const loops = f.loops.splice(0);
  f.beginVariables(fn.parameters);
  f.run(fn.body);
  f.loops.push(...loops);
  f.frame = caller;
  build.jump(exit);
  build.seal(exit);
  build.start(exit);
  return result;
}
