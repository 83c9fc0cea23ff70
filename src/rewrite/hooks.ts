// Node's module hooks: where "strobe" is, and what a file with handlers is loaded as. Written once, as steps that ask
// for what the next hook says, because Node has hooks on the program's own thread (`registerHooks`) and, before, on
// another (`register`).
import { fileURLToPath } from "node:url";
import { ScriptError } from "../language/diagnostic.ts";
import { fromJavaScript, isTypeScript, loadModule, loadTypeScript } from "./modules.ts";
import type { Format, LoadedModule } from "./kept-modules.ts";

interface ResolveContext {
  readonly parentURL?: string;
}
interface Resolved {
  readonly url: string;
  readonly format?: string | null;
  readonly shortCircuit?: boolean;
}
interface LoadContext {
  readonly format?: string | null;
}
interface Loaded {
  readonly format: string | null | undefined;
  readonly source?: string | ArrayBuffer | NodeJS.TypedArray | null;
  readonly shortCircuit?: boolean;
}

type Maybe<T> = T | Promise<T>;
type Next<Context, Result> = (specifier: string, context?: Context) => Result;
/** Asks the next hook; what it throws is thrown where it was asked. */
type Steps<Result> = Generator<string, Result, Result>;

const own: Readonly<Record<string, string>> = {
  strobe: "./index.mjs",
  "strobe/register": "./register.mjs",
  "strobe/esbuild": "./esbuild.mjs",
  "strobe/rollup": "./rollup.mjs",
  "strobe/vite": "./rollup.mjs",
};

/** The library's own files. */
const installation = fileURLToPath(new URL(".", import.meta.url));

function* resolving(specifier: string): Steps<Resolved> {
  // This very installation, also for files that have none around them: handlers and what compiles them must be of one
  // library.
  if (Object.hasOwn(own, specifier))
    return { url: new URL(own[specifier], import.meta.url).href, format: "module", shortCircuit: true };
  try {
    return yield specifier;
  } catch (error) {
    // TypeScript lets an import name what a file is compiled to.
    const source = /^(\.{1,2}\/.*\.[mc]?)js$/.exec(specifier);
    if (!source || codeOf(error) !== "ERR_MODULE_NOT_FOUND") throw error;
    try {
      return yield `${source[1]}ts`;
    } catch {
      throw error;
    }
  }
}

/** With `scripts` false, CommonJS in JavaScript is left alone: see install.ts. */
function* loading(url: string, context: LoadContext, scripts: boolean): Steps<Loaded> {
  if (!url.startsWith("file:")) return yield url;
  const file = fileURLToPath(url);
  if (file.startsWith(installation)) return yield url;
  const known: Format | undefined =
    context.format === "module" || context.format === "commonjs" ? context.format : undefined;
  let loaded: LoadedModule | undefined;
  let refusal: unknown;
  try {
    loaded = loadModule(file, known);
  } catch (error) {
    if (!(error instanceof ScriptError)) return yield url;
    refusal = error;
  }
  if (loaded && !scripts && loaded.format === "commonjs" && !isTypeScript(file)) return yield url;
  if (loaded) return { ...loaded, shortCircuit: true };
  try {
    // Node from 22.18 on, or a loader such as tsx.
    const other = yield url;
    const compiled =
      refusal !== undefined && other.source ? fromJavaScript(file, textOf(other.source), known) : undefined;
    return compiled ? { ...compiled, shortCircuit: true } : other;
  } catch (error) {
    if (refusal !== undefined) throw refusal;
    if (codeOf(error) !== "ERR_UNKNOWN_FILE_EXTENSION" || !isTypeScript(file)) throw error;
  }
  return { ...loadTypeScript(file, known), shortCircuit: true };
}

/** For `module.registerHooks`. */
export const hooks = {
  resolve: (specifier: string, context: ResolveContext, next: Next<ResolveContext, Resolved>): Resolved =>
    walk(resolving(specifier), (asked) => next(asked, context)),
  load: (url: string, context: LoadContext, next: Next<LoadContext, Loaded>): Loaded =>
    walk(loading(url, context, true), (asked) => next(asked, context)),
};

/** For `module.register`. */
export function resolve(
  specifier: string,
  context: ResolveContext,
  next: Next<ResolveContext, Maybe<Resolved>>,
): Promise<Resolved> {
  return walkLater(resolving(specifier), (asked) => next(asked, context));
}

export function load(url: string, context: LoadContext, next: Next<LoadContext, Maybe<Loaded>>): Promise<Loaded> {
  return walkLater(loading(url, context, false), (asked) => next(asked, context));
}

function walk<Result>(steps: Steps<Result>, next: (asked: string) => Result): Result {
  let step = steps.next();
  while (!step.done) {
    let answer: Result;
    try {
      answer = next(step.value);
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(answer);
  }
  return step.value;
}

async function walkLater<Result>(steps: Steps<Result>, next: (asked: string) => Maybe<Result>): Promise<Result> {
  let step = steps.next();
  while (!step.done) {
    let answer: Result;
    try {
      answer = await next(step.value);
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(answer);
  }
  return step.value;
}

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}

function textOf(source: string | ArrayBuffer | NodeJS.TypedArray): string {
  return typeof source === "string" ? source : new TextDecoder().decode(source);
}
