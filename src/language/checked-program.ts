// What the checker hands to the compiler.
import type { Config } from "./check/config.ts";
import type { Context } from "./context.ts";
import type { Span } from "./diagnostic.ts";
import type { Block, Expression, Probe, Program, Recursion } from "./program.ts";
import type { SiteRef } from "./resolved-probe.ts";
import type { Type } from "./types.ts";

export interface CheckedProgram {
  readonly program: Program;
  readonly config: Config;
  readonly maps: readonly CheckedMap[];
  readonly handlers: readonly CheckedHandler[];
  readonly functions: readonly CheckedFunction[];
}

/** As far as types are known, even of a script with mistakes: what an editor shows. Never compiled. */
export type TypedProgram = Pick<CheckedProgram, "maps" | "handlers" | "functions">;

/** One probe body in one context: types filled in, its own copy of the tree. */
export interface CheckedHandler {
  readonly probe: Probe;
  readonly provider: string;
  readonly context: Context | "host";
  readonly sites: readonly SiteRef[];
  readonly guard?: Expression;
  readonly predicate?: Expression;
  readonly body: Block;
  readonly variables: readonly CheckedVariable[];
  /** Functions of the script that ask what only this probe has, as they are here. */
  readonly functions?: readonly CheckedFunction[];
  /**
   * Decided from what the body uses: begin, end and interval run on the host unless they need the kernel. What begins in
   * the kernel and needs the host is captured; and the compiler captures handlers for the maps that they share with those.
   */
  readonly placement: "kernel" | "host" | "captured";
  /** Of a handler that is captured: what only the host can do of it. */
  readonly needsHost?: { readonly what: string; readonly span: Span };
}

/**
 * `addressed`: some expression takes its address, so it lives in memory. `whole`: it lives in the whole handler, and is
 * 0 or "" before it is assigned.
 */
export interface CheckedVariable {
  readonly name: string;
  readonly type: Type;
  readonly whole?: true;
  readonly addressed?: true;
}

/** Functions are inlined by the compiler; parameters are the first variables. */
export interface CheckedFunction {
  readonly name: string;
  readonly parameters: number;
  readonly variables: readonly CheckedVariable[];
  readonly result: Type;
  readonly recursion?: Recursion;
  /** Functions of the script that it comes to, itself among them where it calls itself. */
  readonly reaches?: ReadonlySet<string>;
  readonly body: Block;
}

export interface CheckedMap {
  /** Without "@"; "" for the anonymous map. */
  readonly name: string;
  /** Key types, integers of one width (MapRules); empty for a scalar map. */
  readonly keys: readonly Type[];
  /** The key was written as one tuple (`@[(1, 2)]`) rather than several keys; prints the same. */
  readonly value: Type;
  /** From a map declaration: `hash`, `lruhash`, `percpuhash`, …; undefined lets the compiler choose. */
  readonly storage?: string;
  readonly entries?: number;
}
