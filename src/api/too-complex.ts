// A program that is more than the verifier walks through, told where the script says so.
import { ScriptError, type Span } from "../language/diagnostic.ts";
import type { LinuxError } from "../linux/error.ts";
import type { Block, FunctionDeclaration, Statement } from "../language/program.ts";
import type { CompiledScript } from "./compile.ts";
import type { Message } from "../messages/message.ts";
import { kernelLimits } from "../messages/kernel-limits.ts";

/**
 * The largest loop of the handler that the verifier gave up on, or where most of its branches are; undefined when the
 * handler cannot be told.
 */
export function tooComplex(
  { program: refused }: LinuxError,
  { stages, program }: Pick<CompiledScript, "stages" | "program">,
): ScriptError | undefined {
  const { checked, lowered } = stages;
  const handler = lowered?.handlers.find(
    ({ function: index }) => lowered.module.functions[index].name === refused,
  )?.handler;
  if (handler === undefined || checked === undefined) return undefined;
  const { probe } = handler;
  const loops =
    [handler.body, ...checked.program.functions.map(({ body }) => body)]
      .map((body) => [...nodesIn(body)].filter(isLoop))
      .find((found) => found.length > 0) ?? [];
  const [largest] = loops.sort((a, b) => b.span.end - b.span.start - (a.span.end - a.span.start));
  const fail = (span: Span, message: Message): ScriptError =>
    new ScriptError(program.source, [{ severity: "error", span, ...message }]);
  if (largest !== undefined) {
    return fail(
      headOf(largest.span, largest.body.span, program.source.text),
      kernelLimits.tooManyWaysInLoop(probe.specs[0]?.text),
    );
  }
  const { all, most } = branchesOf(handler.body, checked.program.functions);
  return most === undefined
    ? fail(probe.specs[0]?.span ?? probe.span, kernelLimits.tooManyWays(all))
    : fail(
        headOf(most.at.span, most.at.kind === "if" ? most.at.then.span : undefined, program.source.text),
        kernelLimits.tooManyWaysHere(most.branches, all),
      );
}

/** How many branches a handler has, and the innermost of its statements with more than half of them. */
function branchesOf(
  body: Block,
  functions: readonly FunctionDeclaration[],
): { readonly all: number; readonly most?: { readonly at: Statement; readonly branches: number } } {
  const inFunction = new Map<string, number>();
  const count = (node: unknown): number => {
    let sum = 0;
    for (const one of nodesIn(node)) sum += own(one);
    return sum;
  };
  const own = (node: object): number => {
    if (!("kind" in node)) return 0;
    if (node.kind === "call" && "name" in node) return called(String(node.name));
    if (node.kind === "binary" && "operator" in node) return node.operator === "&&" || node.operator === "||" ? 1 : 0;
    if (node.kind === "map" && "keys" in node) return Array.isArray(node.keys) && node.keys.length > 0 ? 1 : 0;
    return node.kind === "if" || node.kind === "conditional" || node.kind === "presence" ? 1 : 0;
  };
  // What is called is written out where it is.
  const called = (name: string): number => {
    const known = inFunction.get(name);
    if (known !== undefined) return known;
    inFunction.set(name, 0);
    const branches = count(functions.find((one) => one.name === name)?.body);
    inFunction.set(name, branches);
    return branches;
  };
  const all = count(body);
  let most: { readonly at: Statement; readonly branches: number } | undefined;
  for (let { statements } = body; ;) {
    const at = statements.find((one) => count(one) * 2 > all);
    if (at === undefined) return { all, ...(most === undefined ? {} : { most }) };
    most = { at, branches: count(at) };
    statements = at.kind === "if" ? at.then.statements : [];
  }
}

/** As far as its body. */
function headOf({ start, end }: Span, body: Span | undefined, text: string): Span {
  return { start, end: start + text.slice(start, body?.start ?? end).trimEnd().length };
}

/** All nodes of a tree, which is plain data, and may be deep. */
function* nodesIn(tree: unknown): Generator<object> {
  const pending = [tree];
  while (pending.length > 0) {
    const node = pending.pop();
    if (typeof node !== "object" || node === null) continue;
    if (!Array.isArray(node)) yield node;
    for (const [key, part] of Object.entries(node)) if (key !== "type" && key !== "span") pending.push(part);
  }
}

const loops: ReadonlySet<string> = new Set(["while", "do-while", "for", "for-range", "for-map", "unroll"]);

function isLoop(node: object): node is { readonly span: Span; readonly body: { readonly span: Span } } {
  return "kind" in node && loops.has(String(node.kind));
}
