// `n->id` where `n = $n` was: the type of a number that came from the traced program or kernel.
import { libraryFunction } from "./library.ts";
import type { Expr, TargetExpr } from "./syntax.ts";
import type { Unit } from "./unit.ts";

/** What a value's type comes from: the first that is stored in it, or given by it, and that has one. */
export function typedSource(e: Expr, unit: Unit, seen = new Set<Expr>()): TargetExpr | undefined {
  if (seen.has(e)) return undefined;
  seen.add(e);
  const first = (all: Iterable<Expr>): TargetExpr | undefined => {
    // What has a type of its own before what has that of another.
    const isOfAnother = (one: Expr): number => Number(one.kind === "target" && one.base.kind === "value");
    for (const one of [...all].sort((a, b) => isOfAnother(a) - isOfAnother(b))) {
      const found = typedSource(one, unit, seen);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  /** Of other handlers and functions: whose variables are not there. */
  const elsewhere = (name: string): TargetExpr | undefined =>
    first([...(unit.types.sources.get(name) ?? [])].filter((one) => isAnywhere(one) || isHere(one, unit)));
  switch (e.kind) {
    case "target": {
      const { base, pretty } = e;
      if (pretty > 0 || (base.kind === "name" && base.name.startsWith("$"))) return undefined;
      // Where a function returns, the types of what it was given are no longer there.
      if (base.kind === "name" && base.name !== "return" && unit.where.returns) return undefined;
      return base.kind === "value" && typedSource(base.of, unit, seen) === undefined ? undefined : e;
    }
    case "name":
      return first(unit.scope.sources.get(e.name) ?? []) ?? elsewhere(e.name);
    case "element":
      return elsewhere(e.name);
    case "call":
      return elsewhere(`${e.name}()`) ?? (unit.types.functions.has(e.name) ? undefined : ofLibrary(e));
    case "assign":
      return first([e.value]);
    case "conditional":
      return first([e.then, e.otherwise]);
    case "operator":
      return e.name === "entry" ? first(e.args) : undefined;
    default:
      return undefined;
  }
}

/** What a function of the library gives, as the struct that it points to. */
function ofLibrary(of: Extract<Expr, { kind: "call" }>): TargetExpr | undefined {
  const type = libraryFunction(of.name)?.pointsTo;
  if (type === undefined) return undefined;
  const base = { kind: "cast", of, type, module: "kernel" } as const;
  return { kind: "target", base, steps: [], address: false, pretty: 0, span: of.span };
}

/** Whether the handler itself stores it. */
function isHere({ span }: Expr, { body }: Unit): boolean {
  return body !== undefined && span.start >= body.span.start && span.end <= body.span.end;
}

/** Whether the type is told by itself, as that of `@cast(…)` is. */
function isAnywhere(e: Expr): boolean {
  if (e.kind === "call") return libraryFunction(e.name)?.pointsTo !== undefined;
  return e.kind === "target" && (e.base.kind === "cast" || (e.base.kind === "value" && isAnywhere(e.base.of)));
}

/** Whether what a typed value points to is the kernel's. */
export function isKernels({ base }: TargetExpr, unit: Unit): boolean {
  if (base.kind === "cast" && base.module !== undefined) return base.module.startsWith("kernel");
  const from = base.kind === "value" ? typedSource(base.of, unit) : undefined;
  return from === undefined ? unit.where.space === "kernel" : isKernels(from, unit);
}
