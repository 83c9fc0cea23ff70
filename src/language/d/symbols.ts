// Symbols and stacks as D writes them: of the kernel and of the process, with their modules.
import type { Span } from "../diagnostic.ts";
import * as nodes from "../nodes.ts";
import type { Expression } from "../program.ts";
import type { SymbolPart } from "../types.ts";
import type { KeyKind } from "./types.ts";
import type { Options } from "./unit.ts";

interface SymbolFunction {
  readonly of: "ksym" | "usym";
  readonly part: SymbolPart;
  /** What it gives as a key, and what it does as an action. */
  readonly doc: string;
  readonly shown: string;
}

const kernel = "the kernel's function at an address";
const user = "the process's function at an address";

export const symbols: Readonly<Record<string, SymbolFunction>> = {
  sym: { of: "ksym", part: "function", doc: `Name of ${kernel}.`, shown: `Prints the name of ${kernel}.` },
  func: { of: "ksym", part: "function", doc: "The same.", shown: "The same." },
  mod: { of: "ksym", part: "module", doc: "The module that it is in.", shown: "Prints the module that it is in." },
  usym: { of: "usym", part: "function", doc: `Name of ${user}.`, shown: `Prints the name of ${user}.` },
  ufunc: { of: "usym", part: "function", doc: "The same.", shown: "The same." },
  uaddr: {
    of: "usym",
    part: "place",
    doc: "The same, with the offset in it.",
    shown: "The same, with the offset in it.",
  },
  umod: { of: "usym", part: "module", doc: "The file that it is in.", shown: "Prints the file that it is in." },
};

/** By one of these functions, or by the conversions `%a` and `%A`. */
export function symbol(name: string, address: Expression, span: Span): Expression {
  const { of, part } = symbols[name];
  return symbolPart(of, part, address, span);
}

export function symbolPart(of: "ksym" | "usym", part: SymbolPart, address: Expression, span: Span): Expression {
  return nodes.call(`${of}_part`, [address, nodes.word(part, span)], span);
}

/** `size`: frames at most, or none. */
export function stack(name: "kstack" | "ustack", size: readonly Expression[], span: Span): Expression {
  return nodes.call(name, [nodes.word("dtrace", span), ...size], span);
}

/** As many as are written, or as `stackframes` and `ustackframes` say. */
export function framesOf(
  name: "kstack" | "ustack",
  written: readonly Expression[],
  span: Span,
  { stackFrames, userStackFrames }: Options,
): readonly Expression[] {
  const most = name === "kstack" ? stackFrames : userStackFrames;
  return written.length > 0 || most === undefined ? written : [nodes.integer(most, span)];
}

const keyKinds: Readonly<Record<string, KeyKind>> = {
  kstack: "dt_stack_t",
  ustack: "dt_stack_t",
  ksym_part: "_symaddr",
  usym_part: "_usymaddr",
};

export function keyKind(e: Expression): KeyKind | undefined {
  return e.kind === "call" && Object.hasOwn(keyKinds, e.name) ? keyKinds[e.name] : undefined;
}
