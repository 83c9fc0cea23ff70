// What a script does about errors that nothing catches: it tells them, counts them, and ends once there were more than
// MAXERRORS.
import type { Span } from "../diagnostic.ts";
import type { FaultKind } from "../faults.ts";
import type { Expression, FunctionDeclaration, Probe, Statement } from "../program.ts";
import type { ProbeSpec } from "../probe-spec.ts";
import * as tree from "./tree.ts";

/** The map that counts them. */
const failures = "errors#0";

export const faultKinds: readonly FaultKind[] = ["read", "division", "index", "full", "empty", "error"];

/** How many errors a script goes on after. */
export function errorLimit(settings: ReadonlyMap<string, string> | undefined): number {
  const given = Number(settings?.get("MAXERRORS") ?? 0);
  return Number.isSafeInteger(given) && given > 0 ? given : 0;
}

/** Entries of arrays that do not say how many: SystemTap's MAXMAPENTRIES. */
export function entryLimit(settings: ReadonlyMap<string, string> | undefined): number {
  const given = Number(settings?.get("MAXMAPENTRIES") ?? NaN);
  return Number.isSafeInteger(given) && given > 0 && given < 2 ** 32 ? given : 2048;
}

const count = (span: Span): Expression => tree.map(failures, [], span);
const isOver = (limit: number, span: Span): Expression =>
  tree.binary(">", count(span), tree.integer(limit, span), span);

/** The script ends where there were too many. */
function ended(limit: number, span: Span): Statement {
  const exit = tree.statement(tree.call("exit", [tree.integer(1, span)], span));
  return { kind: "if", condition: isOver(limit, span), then: tree.block([exit], span), span };
}

/** Statements whose errors are told and counted. `ends`: the script is ending already. */
export function guarded(statements: readonly Statement[], limit: number, ends: boolean, span: Span): Statement {
  const more = tree.assign(tree.map(failures, [], span), tree.integer(1, span), span, "+");
  return {
    kind: "try",
    kinds: faultKinds,
    tells: true,
    body: tree.block(statements, span),
    handler: tree.block([more, ...(ends ? [] : [ended(limit, span)])], span),
    span,
  };
}

/** `error` probes run behind `end` probes, of which none runs once the script has failed; nor does any other handler. */
export function afterFailing(probe: Probe, fails: boolean, limit: number): Probe {
  const [spec] = probe.specs;
  const { span } = probe;
  const isError = spec?.provider === "end" && spec.text.startsWith("error");
  if (!fails && !isError) return probe;
  if (spec?.provider === "end" && spec.text === "") return probe;
  const over = fails ? isOver(limit, span) : tree.binary("!=", tree.integer(0, span), tree.integer(0, span), span);
  const asked = isError ? over : tree.not(over);
  return {
    ...probe,
    ...(isError ? { specs: probe.specs.map((one) => ({ ...one, sequence: behindEnds + (one.sequence ?? 0) })) } : {}),
    predicate: probe.predicate === undefined ? asked : tree.binary("&&", asked, probe.predicate, span),
  };
}

/** Greater than the numbers that scripts write. */
const behindEnds = 2 ** 30;

/** How many errors there were, as the script's last words. */
export function lastWords(limit: number, span: Span): Probe {
  const spec: ProbeSpec = { provider: "end", parts: [], sequence: 2 ** 65, text: "", span };
  const format = tree.text("Number of errors: %d, skipped probes: 0", span);
  const words = tree.statement(tree.call("warnf", [format, count(span)], span));
  return { specs: [spec], predicate: isOver(0, span), body: tree.block([words, ended(limit, span)], span), span };
}

/** Calls that read memory, and those of whose results there may be none. */
const failing = new Set(["str", "kstr", "buf", "path", "strlen", "strcontains", "strstr", "strncmp", "ntop"]);

interface Doubtful {
  /** Functions of the script that can fail, or that read. */
  readonly functions: ReadonlySet<string>;
  /** Maps that say how much they hold. */
  readonly sized: ReadonlySet<string>;
}

/** The functions that can fail, by themselves or by what they call. */
export function failingFunctions(
  functions: readonly FunctionDeclaration[],
  sized: ReadonlySet<string>,
): ReadonlySet<string> {
  // One that calls itself may do so too often.
  const found = new Set(functions.flatMap(({ name, recursion }) => (recursion === undefined ? [] : [name])));
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const { name, body } of functions) if (canFail(body, { functions: found, sized })) found.add(name);
  }
  return found;
}

/** Whether anything in it can fail. */
export function canFail(node: unknown, known: Doubtful): boolean {
  return some(node, (one) => fails(one, known));
}

/** Whether anything in it is read of memory. */
export function mayRead(node: unknown, functions: ReadonlySet<string>): boolean {
  return some(node, (one) => reads(one, functions));
}

function some(node: unknown, is: (node: Expression | Statement) => boolean): boolean {
  if (typeof node !== "object" || node === null) return false;
  if (Array.isArray(node)) return node.some((one) => some(one, is));
  if ("kind" in node && typeof node.kind === "string" && is(node as Expression | Statement)) return true;
  return Object.entries(node).some(([name, value]) => name !== "span" && typeof value === "object" && some(value, is));
}

function reads(node: Expression | Statement, functions: ReadonlySet<string>): boolean {
  switch (node.kind) {
    case "member":
    case "index":
      return true;
    case "unary":
      return node.operator === "*";
    case "call":
      return functions.has(node.name) || failing.has(node.name);
    default:
      return false;
  }
}

function fails(node: Expression | Statement, { functions, sized }: Doubtful): boolean {
  switch (node.kind) {
    case "throw":
      return true;
    case "binary":
      return /^[/%]$/.test(node.operator) && !(node.right.kind === "integer" && node.right.value !== 0n);
    case "assign":
    case "assignment":
      return /^[/%]$/.test(node.operator ?? "") || isSized(node.target, sized);
    case "increment":
    case "aggregate":
      return isSized(node.target, sized);
    case "result":
      return node.aggregate !== "count" && node.aggregate !== "sum";
    default:
      return reads(node, functions);
  }
}

function isSized(target: Expression, sized: ReadonlySet<string>): boolean {
  return target.kind === "map" && sized.has(target.name);
}
