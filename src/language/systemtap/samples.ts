// What globals hold that nothing stores in.
import type { FunctionDeclaration, Statement } from "../program.ts";
import type { Expression } from "../program.ts";
import type { GlobalTypes } from "./declared.ts";
import type { ValueType } from "./syntax.ts";
import * as tree from "./tree.ts";

/** A function that nobody calls: it stores in each of them, which tells their types. */
export function samplesOf(globals: Iterable<GlobalTypes>): FunctionDeclaration | undefined {
  const bare = [...globals].filter(({ read, written, stored }) => (read || written) && !stored);
  if (bare.length === 0) return undefined;
  const [{ global: first }] = bare;
  const { span } = first;
  return { name: "samples#0", parameters: [], body: tree.block(bare.map(sample), span), span };
}

function sample({ global: { name, span }, keys = [], value }: GlobalTypes): Statement {
  const of = (type: ValueType | undefined): Expression =>
    type === "string" ? tree.text("", span) : tree.integer(0, span);
  const target = tree.map(name, keys.map(of), span);
  return value === "stats"
    ? { kind: "aggregate", target, aggregate: "statistic", value: tree.integer(0, span), parameters: [], span }
    : tree.assign(target, of(value), span);
}
