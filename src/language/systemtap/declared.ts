// What is known of globals, functions and the variables of each handler: their types, and what is stored in them.
import { systemtap } from "../../messages/systemtap.ts";
import type { Message } from "../../messages/message.ts";
import type { Span } from "../diagnostic.ts";
import type { Expr, FunctionDefinition, Global, ValueType } from "./syntax.ts";

export interface GlobalTypes {
  readonly global: Global;
  value?: ValueType;
  /** Undefined until it is used; none for what is no array. */
  keys?: (ValueType | undefined)[];
  read: boolean;
  written: boolean;
  /** Something is stored in it that may run. */
  stored: boolean;
}

export interface FunctionTypes {
  readonly definition: FunctionDefinition;
  /** In the tree: overloads have a number of their own. */
  readonly name: string;
  readonly parameters: (ValueType | undefined)[];
  result?: ValueType;
  returns: boolean;
  called: boolean;
  /** What `next` goes on with: of the same name, and as many parameters. */
  next?: FunctionTypes;
}

/** The variables of one handler or function. */
export class Scope {
  readonly locals = new Map<string, ValueType | undefined>();
  /** Those that something is stored in. */
  readonly assigned = new Set<string>();
  /** Texts that are made longer. */
  readonly grown = new Set<string>();
  /** What is stored in each: its type is that of `n->id`. */
  readonly sources = new Map<string, Set<Expr>>();
  readonly function: FunctionTypes | undefined;

  constructor(of?: FunctionTypes) {
    this.function = of;
  }
}

export function addTo(sources: Map<string, Set<Expr>>, name: string, value: Expr): void {
  const known = sources.get(name);
  if (known === undefined) sources.set(name, new Set([value]));
  else known.add(value);
}

export type Report = (span: Span, message: Message) => void;

export function declaredGlobals(globals: readonly Global[], report: Report): Map<string, GlobalTypes> {
  const found = new Map<string, GlobalTypes>();
  for (const global of globals) {
    if (found.has(global.name)) report(global.span, systemtap.duplicate("global", global.name));
    const { initial } = global;
    found.set(global.name, {
      global,
      read: false,
      written: false,
      stored: initial !== undefined,
      ...(initial === undefined ? {} : { value: initial.kind === "string" ? "string" : "long", keys: [] }),
    });
  }
  return found;
}

/** By name, those of several in the order in which they are tried. */
export function declaredFunctions(functions: readonly FunctionDefinition[]): Map<string, FunctionTypes[]> {
  const found = new Map<string, FunctionTypes[]>();
  for (const definition of functions) {
    const others = found.get(definition.name) ?? [];
    others.push({
      definition,
      name: others.length === 0 ? definition.name : `${definition.name}#${others.length}`,
      parameters: definition.parameters.map(({ type }) => type),
      ...(definition.result === undefined ? {} : { result: definition.result }),
      returns: definition.result !== undefined,
      called: false,
    });
    found.set(definition.name, others);
  }
  // Of a name and a number of parameters the least priority is tried first.
  for (const [name, all] of found) {
    const sorted = all.toSorted((one, other) => (one.definition.priority ?? 0) - (other.definition.priority ?? 0));
    found.set(name, sorted);
    sorted.forEach((one, i) => {
      const next = sorted.slice(i + 1).find(({ parameters }) => parameters.length === one.parameters.length);
      if (next !== undefined) one.next = next;
    });
  }
  return found;
}
