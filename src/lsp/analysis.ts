// A script as an editor has it: compiled for this machine, mistakes and all.
import { compileScript, type CompiledScript } from "../api/compile.ts";
import type { Span } from "../language/diagnostic.ts";
import type { CheckedHandler } from "../language/check/checked.ts";
import type { Expression, Probe, ProbeSpec } from "../language/program.ts";
import type { Diagnostic, Source } from "../language/diagnostic.ts";

/** Enough for whatever `$N` a script may want: an editor has no command line. */
const positional = Array.from({ length: 9 }, (_, i) => String(i + 1));

export interface Analysis extends CompiledScript { readonly source: Source }

export function analyse(source: Source): Analysis {
  return { ...compileScript(source, { positional, unsafe: true }), source };
}

/** What a person is shown: notes on the same place in several variants of a probe count once. */
export function diagnosticsOf({ diagnostics }: Analysis): readonly Diagnostic[] {
  const seen = new Set<string>();
  return diagnostics.filter(({ span, message }) => {
    const key = `${span.start} ${span.end} ${message}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

export function contains({ start, end }: Span, offset: number): boolean {
  return start <= offset && offset <= end;
}

export interface Found {
  /** Innermost first. */
  readonly nodes: readonly Expression[];
  readonly handler?: CheckedHandler;
}

/** The expressions that hold an offset, typed as far as types are known. */
export function expressionsAt({ stages: { typed } }: Analysis, offset: number): Found {
  for (const handler of typed.handlers) {
    if (!contains(handler.probe.span, offset)) continue;
    const nodes = within([handler.predicate, handler.body], offset);
    if (nodes.length > 0) return { nodes, handler };
  }
  for (const { body } of typed.functions) {
    const nodes = within(body, offset);
    if (nodes.length > 0) return { nodes };
  }
  return { nodes: [] };
}

/** The probe whose header or body holds an offset. */
export function probeAt({ program }: Analysis, offset: number): Probe | undefined {
  return program.probes.find(({ span }) => contains(span, offset));
}

export function specAt({ program }: Analysis, offset: number): ProbeSpec | undefined {
  return program.probes.flatMap(({ specs }) => specs).find(({ span }) => contains(span, offset));
}

/** The tree is plain data: whatever has a kind, a type and a span is an expression. Types are left alone, they reach far. */
function within(node: unknown, offset: number): Expression[] {
  if (typeof node !== "object" || node === null) return [];
  if (Array.isArray(node)) return node.flatMap((item) => within(item, offset));
  const held = "span" in node ? contains(node.span as Span, offset) : true;
  if (!held) return [];
  const inner = Object.entries(node).flatMap(([key, value]) => key === "type" || key === "span" || key === "path" ? [] : within(value, offset));
  return "kind" in node && "type" in node && "span" in node ? [...inner, node as Expression] : inner;
}
