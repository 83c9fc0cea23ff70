// A program that is more than the verifier walks through, told where the script says so.
import { ScriptError, type Span } from "../language/diagnostic.ts";
import type { LinuxError } from "../linux/error.ts";
import type { CompiledScript } from "./compile.ts";

/** The largest loop of the handler that the verifier gave up on, or the handler; undefined when that cannot be told. */
export function tooComplex({ doing }: LinuxError, { stages, program }: CompiledScript): ScriptError | undefined {
  const { checked, lowered } = stages;
  const handler = lowered?.handlers.find(({ function: index }) => doing.includes(`"${lowered.module.functions[index].name}"`))?.handler;
  if (handler === undefined || checked === undefined) return undefined;
  const { probe } = handler;
  const loops = [handler.body, ...checked.program.functions.map(({ body }) => body)].map(loopsIn).find((found) => found.length > 0) ?? [];
  const [largest] = loops.sort((a, b) => b.span.end - b.span.start - (a.span.end - a.span.start));
  const loop = largest === undefined ? undefined : headOf(largest, program.source.text);
  return new ScriptError(program.source, [{
    severity: "error", code: "limit", span: loop ?? probe.specs[0]?.span ?? probe.span,
    message: `${loop === undefined ? "this probe" : `${probe.specs[0]?.text ?? "the probe"} with this loop`} has more ways through it than the kernel's verifier walks (a million instructions)`,
    help: loop === undefined ? "divide it into several probes, with fewer branches each"
      : "let the loop do less: fewer branches and accesses to maps, shorter strings, or a part of it in a probe of its own",
  }]);
}

/** As far as its body. */
function headOf({ span: { start }, body }: Loop, text: string): Span {
  return { start, end: start + text.slice(start, body.start).trimEnd().length };
}

interface Loop { readonly span: Span; readonly body: Span }

/** The tree is plain data. */
function loopsIn(node: unknown): Loop[] {
  if (typeof node !== "object" || node === null) return [];
  if (Array.isArray(node)) return node.flatMap(loopsIn);
  const inner = Object.entries(node).flatMap(([key, part]) => (key === "type" || key === "span" ? [] : loopsIn(part)));
  return isLoop(node) ? [{ span: node.span, body: node.body.span }, ...inner] : inner;
}

function isLoop(node: object): node is { readonly span: Span; readonly body: { readonly span: Span } } {
  return "kind" in node && (node.kind === "while" || node.kind === "for-range" || node.kind === "for-map" || node.kind === "unroll");
}
