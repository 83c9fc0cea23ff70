// Globals that are written and that nothing reads are printed when the script ends. It is done by statements of the
// language itself, as a script would have them.
import type { GlobalTypes } from "./declared.ts";
import type { Expr, Stmt } from "./syntax.ts";

export function unread(globals: Iterable<GlobalTypes>): GlobalTypes[] {
  return [...globals].filter(({ read, written }) => written && !read);
}

/** Of statistics. */
const results = ["count", "min", "max", "sum", "avg"] as const;

/** One line for a number or a text; of an array one for each entry, the largest first. */
export function printing({ global, value, keys = [] }: GlobalTypes): Stmt {
  const { name, span } = global;
  const variables = keys.map((_, i) => `${name}#key${i}`);
  const names = variables.map((key): Expr => ({ kind: "name", name: key, span }));
  const of: Expr = keys.length === 0 ? { kind: "name", name, span } : { kind: "element", name, keys: names, span };
  const shownKeys = keys.map((key) => (key === "string" ? '"%s"' : "%d")).join(",");
  const left = keys.length === 0 ? name : `${name}[${shownKeys}]`;
  const print = (format: string, args: readonly Expr[]): Stmt => ({
    kind: "expression",
    expression: { kind: "call", name: "printf", args: [{ kind: "string", value: format, span }, ...args], span },
    span,
  });
  const shown =
    value === "stats"
      ? print(`${left} ${results.map((one) => `@${one}=%d`).join(" ")}\n`, [
          ...names,
          ...results.map((operator): Expr => ({ kind: "statistics", operator, of, parameters: [], span })),
        ])
      : print(`${left}=${value === "string" ? '"%s"' : "%d"}\n`, [...names, of]);
  if (keys.length === 0) return shown;
  return {
    kind: "foreach",
    keys: variables,
    array: name,
    arraySpan: span,
    order: { by: "value", descending: true, span },
    body: shown,
    span,
  };
}
