// Lists, objects, Sets and Maps around a handler: what a key leads to that only the handler knows, and whether there is
// one. They are as they were when the trace started, so that looking through them is as many comparisons.
import { handlerCalls } from "../../messages/typescript-calls.ts";
import type * as js from "acorn";
import type { Expression, Statement } from "../program.ts";
import { unknownType } from "../types.ts";
import type { Binding } from "./binding.ts";
import { constant } from "./constants.ts";
import type { Reference, Reader } from "./reader.ts";
import { binary, conditional, integer, isPlain, text, variable } from "./reader.ts";

type Module = Extract<Reference, { kind: "module" }>;

/** More are better kept in a map. */
const longest = 64;

/** The keys of a table, and what they lead to, written out. */
function entriesOf(
  reader: Reader,
  { what, table }: Module,
  node: js.Node,
): { readonly key: Expression; readonly value: Binding }[] {
  if (table === undefined) return reader.refuse(node, handlerCalls.notLookedThroughHandler(what));
  const entries = table.entries();
  if (entries.length > longest)
    return reader.refuse(node, handlerCalls.entriesTooLongLookedThrough(what, entries.length));
  return entries.map(([key, value]) => ({ key: plain(reader, key, node), value }));
}

function plain(reader: Reader, binding: Binding, node: js.Node): Expression {
  if (binding.kind !== "constant") return reader.refuse(node, handlerCalls.whatHandlerLooksThroughHolds());
  return constant(reader, binding.value, node);
}

/** The items of a list or a Set, to go over. */
export function itemsOf(reader: Reader, module: Module, node: js.Node): Expression[] {
  return entriesOf(reader, module, node).map(({ key, value }) =>
    module.table?.form === "list" ? plain(reader, value, node) : key,
  );
}

/** Whether a table has a key. */
export function hasEntry(reader: Reader, module: Module, key: Expression, node: js.Node): Expression {
  return isOneOf(
    reader,
    key,
    entriesOf(reader, module, node).map((entry) => entry.key),
    node,
  );
}

/** What a key leads to; `otherwise` where it leads nowhere, which is 0 or an empty text unless said otherwise. */
export function entryAt(
  reader: Reader,
  module: Module,
  key: Expression,
  node: js.Node,
  otherwise?: Expression,
): Expression {
  const span = reader.span(node);
  const entries = entriesOf(reader, module, node).map((entry) => ({
    key: entry.key,
    value: plain(reader, entry.value, node),
  }));
  if (entries.length === 0)
    return otherwise ?? reader.refuse(node, handlerCalls.withoutMembersLeadsNowhere(module.what));
  const [{ value: first }] = entries;
  const nothing: Expression =
    otherwise ??
    (first.kind === "string"
      ? text("", span)
      : first.kind === "boolean"
        ? { kind: "boolean", value: false, span, type: unknownType }
        : integer(0n, span));
  return kept(reader, key, span, (asked) =>
    entries.reduceRight(
      (rest, entry) => conditional(binary("==", asked, entry.key, span), entry.value, rest, span),
      nothing,
    ),
  );
}

/** Whether a value is one of several. */
export function isOneOf(reader: Reader, value: Expression, items: readonly Expression[], node: js.Node): Expression {
  const span = reader.span(node);
  const no: Expression = { kind: "boolean", value: false, span, type: unknownType };
  return kept(reader, value, span, (asked) =>
    items
      .map((item) => binary("==", asked, item, span))
      .reduce<Expression>((all, one) => (all === no ? one : binary("||", all, one, span)), no),
  );
}

/** Several values by their number, from 0 on; the last one beyond. */
export function byNumber(items: readonly Expression[], number: Expression): Expression {
  return items
    .slice(0, -1)
    .reduceRight(
      (rest, item, i) =>
        conditional(binary("==", number, integer(BigInt(i), item.span), item.span), item, rest, item.span),
      items.at(-1)!,
    );
}

/** Reads a value once, however often `use` names it. */
export function kept(
  reader: Reader,
  value: Expression,
  span: Expression["span"],
  use: (value: Expression) => Expression,
): Expression {
  if (isPlain(value)) return use(value);
  const once = variable(reader.temporary("kept"), span);
  const statements: Statement[] = [{ kind: "declare", variable: once, value, span }];
  return { kind: "block-expression", statements, value: use(once), span, type: unknownType };
}
