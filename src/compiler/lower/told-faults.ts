// What failed in a handler, in the words of the script's language.
import type { FaultKind } from "../../language/faults.ts";
import type { Span } from "../../language/diagnostic.ts";
import { wordAt as wordThere } from "../../language/render-diagnostic.ts";
import { placeIn } from "./script-places.ts";
import type { Frame, FunctionState } from "./state.ts";

/** For those who catch it. */
export function wordsOf(
  f: FunctionState,
  fault: { readonly kind: FaultKind; readonly most: number; readonly otherwise: string },
  span: Span,
): string {
  return f.rules.faults?.words({ ...fault, word: wordAt(f, span) }) ?? fault.otherwise;
}

/** What stands at a place of the script: a name, an operator or a literal. */
function wordAt(f: FunctionState, { start }: Span): string {
  return wordThere(f.module.checked.program.source.text, start);
}

/** An error that nobody caught, as a format, with where it failed and the calls that led there. */
export function told(f: FunctionState, words: string, span: Span): string {
  const { source } = f.module.checked.program;
  const spans = [span];
  for (let frame: Frame | undefined = f.frame; frame !== undefined; frame = frame.caller)
    if (frame.call !== undefined) spans.push(frame.call);
  const places = spans.map((one) => {
    const { source: name, line, column } = placeIn(source, one);
    return { source: name, line, column, word: wordAt(f, one) };
  });
  const { sites, probe: script } = f.handler;
  const probe = sites.length === 1 ? sites[0].name : script.specs.map((spec) => spec.text).join(", ");
  const text = f.rules.faults?.told(words, places, probe) ?? words;
  return text.replaceAll("%", "%%").replaceAll("%%x", "%lx");
}
