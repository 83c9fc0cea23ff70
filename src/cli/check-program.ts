// `strobe check` of a program with probes in it, which is not run: its probes are made of what its text tells, and
// compiled for this machine. Where a value's kind is all that counts, one of that kind stands for it; what else only the
// running program knows is said. An entry of its own beside the library, so that both are of one piece.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { withCaptures, type SourceFunction } from "../api/captures.ts";
import { compileScript, type ScriptOptions } from "../api/compile.ts";
import { compileProbes } from "../api/compile-probes.ts";
import { isProbe, type Probe } from "../api/probes.ts";
import type { Source } from "../language/diagnostic.ts";
import { renderDiagnostic } from "../language/render-diagnostic.ts";
import { namesIn } from "../rewrite/library-names.ts";
import { isTypeScript } from "../rewrite/modules.ts";
import { parsed, placedHandlers, type PlacedHandler } from "../rewrite/rewrite.ts";
import { analyze, type Scope, type Scopes } from "../rewrite/scopes.ts";
import { stripTypes } from "../rewrite/strip.ts";
import { callees, Worths, type Worth } from "../rewrite/worth.ts";
import { errorText, useColor } from "./errors.ts";

type Compiling = Omit<ScriptOptions, "positional" | "named">;

/** What the module of the library exports. */
type Library = Readonly<Record<string, unknown>>;

const probeMakers =
  "begin end fentry fexit hardware interval iter kprobe kretprobe probe profile rawTracepoint software tracepoint uprobe uretprobe usdt".split(
    " ",
  );
/** What does nothing but make something, besides. */
const makers = "aligned arrayOf bits enumeration event map pointerTo struct threadLocal union".split(" ");

/** Whether nothing is wrong. `warns`: also says what is not, and what could not be checked. */
export function checkProgram(library: Library, file: string, options: Compiling, warns: boolean): boolean {
  try {
    return checkFile(library, file, options, warns);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    process.stderr.write(
      code === "ENOENT" ? `strobe: failed to open file '${file}': no such file\n` : errorText(error, false),
    );
    return false;
  }
}

function checkFile(library: Library, file: string, options: Compiling, warns: boolean): boolean {
  const read = readFileSync(file, "utf8");
  const text = read.startsWith("\ufeff") ? read.slice(1) : read;
  const javascript = isTypeScript(file) ? stripTypes(file, text) : text;
  const program = parsed(javascript);
  if (program === undefined) {
    process.stderr.write(`strobe: ${file} does not parse: node --check ${file} says where\n`);
    return false;
  }
  const scopes = analyze(program);
  const handlers = placedHandlers(program, scopes, namesIn(resolve(file)), javascript);
  const check = new Check(library, { name: file, text }, javascript, scopes, handlers);
  return check.run(options, warns);
}

class Check {
  readonly #trace: unknown;
  readonly #probeMakers: ReadonlySet<unknown>;
  readonly #source: Source;
  readonly #javascript: string;
  readonly #scopes: Scopes;
  readonly #handlers: ReadonlyMap<unknown, PlacedHandler>;
  readonly #worths: Worths;
  /** What stands for handlers, and for functions that they call. */
  readonly #stands = new Map<unknown, { readonly handler: PlacedHandler; readonly scope: Scope }>();
  readonly #seen = new Set<PlacedHandler>();
  /** What was said, each once: a probe may be of several traces. */
  readonly #said = new Set<string>();
  readonly #unchecked: { readonly start: number; readonly end: number; readonly why: string }[] = [];
  /** Calls that the library refused. */
  readonly #threw = new Set<unknown>();
  #wrong = false;

  constructor(
    library: Library,
    source: Source,
    javascript: string,
    scopes: Scopes,
    handlers: readonly PlacedHandler[],
  ) {
    this.#trace = library["trace"];
    this.#probeMakers = new Set(probeMakers.map((name) => library[name]));
    const allMakers = new Set([...this.#probeMakers, ...makers.map((name) => library[name])]);
    this.#source = source;
    this.#javascript = javascript;
    this.#scopes = scopes;
    this.#handlers = new Map(handlers.map((handler) => [handler.node, handler]));
    this.#worths = new Worths({
      imported: (from, name) => {
        if (from !== "strobe") return undefined;
        if (name === "*") return { value: library };
        return Object.hasOwn(library, name) ? { value: library[name] } : undefined;
      },
      made: (node, scope) => this.#standing(node, scope),
      calls: (fn): fn is (...given: readonly unknown[]) => unknown => allMakers.has(fn),
      threw: (node, error) => {
        this.#threw.add(node);
        this.#fail(`${this.#place(node.start)}: ${(error as Error).message}\n`);
      },
    });
  }

  run(options: Compiling, warns: boolean): boolean {
    const calls = callees(this.#worths, this.#scopes.calls);
    const probes = new Set<Probe>();
    for (const { node, scope, callee } of calls) {
      if (!this.#probeMakers.has(callee)) continue;
      const made = this.#worths.of(node, scope);
      if (this.#threw.has(node)) continue;
      const why = this.#unknownOf(made);
      if (why !== undefined) this.#unchecked.push({ start: node.start, end: node.end, why });
      else if (isProbe(made?.value)) probes.add(made.value);
    }
    const alone = new Set(probes);
    for (const { node, scope, callee } of calls) {
      if (callee !== this.#trace) continue;
      const given = node.arguments.map(
        (one) => this.#worths.of(one.type === "SpreadElement" ? one.argument : one, scope)?.value,
      );
      if (typeof given[0] === "string") this.#script(given[0], node.start, options, warns);
      const together = given.flat().filter((one): one is Probe => isProbe(one) && probes.has(one));
      for (const one of together) alone.delete(one);
      if (together.length > 0) this.#compile(together, options, warns);
    }
    for (const one of alone) this.#compile([one], options, warns);
    this.#addUnseen();
    if (warns)
      for (const { start, why } of this.#unchecked.sort((a, b) => a.start - b.start))
        process.stderr.write(`${this.#place(start)}: not checked: ${why}\n`);
    return !this.#wrong;
  }

  /** Why a probe cannot be checked. */
  #unknownOf(made: Worth | undefined): string | undefined {
    if (made === undefined) return "what the probe is made of is known to the running program alone";
    if (made.guessed) return "the probe's name is known to the running program alone";
    if (!isProbe(made.value)) return undefined;
    const { handler, filter } = made.value;
    const unknown = new Set([handler, filter].flatMap((fn) => this.#unknownIn(fn, new Set())));
    return unknown.size === 0 ? undefined : `\`${[...unknown].join("`, `")}\` is known to the running program alone`;
  }

  /** Handlers of no probe that was found. */
  #addUnseen(): void {
    const around: readonly { readonly start: number; readonly end: number }[] = [
      ...this.#unchecked,
      ...(this.#threw as ReadonlySet<{ readonly start: number; readonly end: number }>),
      ...this.#handlers.values(),
    ];
    for (const handler of this.#handlers.values()) {
      const { start, end: behind } = handler;
      const isInside = around.some((one) => one !== handler && one.start <= start && behind <= one.end);
      if (!this.#seen.has(handler) && !isInside)
        this.#unchecked.push({ start, end: behind, why: "no probe of this file is known to run it" });
    }
  }

  /** A function that stands for one of the program's, and carries its text. */
  #standing(node: unknown, scope: Scope): SourceFunction {
    const stand = (): void => {};
    const handler = this.#handlers.get(node);
    if (handler === undefined) return stand;
    const { start, end: behind, captures } = handler;
    this.#stands.set(stand, { handler, scope });
    const values = (): Readonly<Record<string, unknown>> => {
      this.#seen.add(handler);
      return Object.fromEntries(captures.map((name) => [name, this.#worths.named(name, scope)?.value]));
    };
    const code = this.#javascript.slice(start, behind);
    return withCaptures(stand, values, { file: this.#source.name, text: this.#source.text, offset: start, code });
  }

  /** Names that a function takes from around it, or another that it calls, and nobody knows. */
  #unknownIn(fn: unknown, seen: Set<unknown>): readonly string[] {
    const stand = this.#stands.get(fn);
    if (stand === undefined || seen.has(fn)) return [];
    seen.add(fn);
    const { handler, scope } = stand;
    return handler.captures.flatMap((name) => {
      const worth = this.#worths.named(name, scope);
      return worth === undefined ? [name] : this.#unknownIn(worth.value, seen);
    });
  }

  #compile(probes: readonly Probe[], options: Compiling, warns: boolean): void {
    try {
      const made = compileProbes(probes, options);
      if (warns) for (const one of made.warnings) this.#say(renderDiagnostic(this.#source, one, { color: useColor() }));
      made.refuse();
    } catch (error) {
      this.#fail(errorText(error, false));
    }
  }

  #script(text: string, start: number, options: Compiling, warns: boolean): void {
    const source = { name: this.#place(start), text };
    const { diagnostics, plan } = compileScript(source, options);
    for (const one of diagnostics)
      if (one.severity === "error" || warns) this.#say(renderDiagnostic(source, one, { color: useColor() }));
    if (plan === undefined) this.#wrong = true;
  }

  #fail(text: string): void {
    this.#wrong = true;
    this.#say(text);
  }

  #say(text: string): void {
    if (this.#said.has(text)) return;
    this.#said.add(text);
    process.stderr.write(text);
  }

  #place(offset: number): string {
    return `${this.#source.name}:${lineOf(this.#source, offset)}`;
  }
}

function lineOf({ text }: Source, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}
