// What would mend a mistake: the names that its help says were perhaps meant.
import type { Diagnostic, Span } from "../language/diagnostic.ts";
import { nearest } from "../language/nearest.ts";
import { diagnosticsOf, type Analysis } from "./analysis.ts";

export interface Fix {
  readonly mistake: Diagnostic;
  /** What is replaced, and by what. */
  readonly span: Span;
  readonly text: string;
  /** There is no other for the mistake. */
  readonly only: boolean;
}

/** Of the mistakes that touch a part of the text; none where it is not certain which word is the misspelt one. */
export function fixes(analysis: Analysis, { start, end }: Span): readonly Fix[] {
  const { text } = analysis.source;
  return diagnosticsOf(analysis)
    .filter(({ span }) => span.start <= end && start <= span.end)
    .flatMap((mistake) => {
      const meant = namesIn(mistake.help);
      return meant.flatMap((name): Fix[] => {
        const span = misspelt(text, mistake, name);
        return span === undefined ? [] : [{ mistake, span, text: name, only: meant.length === 1 }];
      });
    });
}

/** The names of "did you mean `a`, `b` or `c`?". */
function namesIn(help = ""): readonly string[] {
  const question = /^did you mean ([^?]*)\?/.exec(help)?.[1] ?? "";
  return [...question.matchAll(/`([^`]+)`/g)].map(([, name]) => name.replace(/\(\)$/, ""));
}

/**
 * A mistake's place is often more than the name: a call with its arguments, a probe with its kind. Its message says the
 * name; else it is the word that is nearest to the one that was meant.
 */
function misspelt(text: string, { span, message }: Diagnostic, meant: string): Span | undefined {
  if (meant.includes(":")) return span;
  const place = text.slice(span.start, span.end);
  // A text is no name, unless the mistake is in one.
  const pattern = place.startsWith('"') ? /([$@]?\w+)/g : /"(?:\\.|[^"\\])*"|([$@]?\w+)/g;
  // What is meant may be without its sigil.
  const bare = /^\w/.test(meant) && place.startsWith("$");
  const wordsBy = (each: RegExp): { word: string; start: number }[] =>
    [...place.matchAll(each)].flatMap(({ 1: word, index }) => {
      if (word === undefined) return [];
      const sigil = bare && word.startsWith("$") ? 1 : 0;
      return [{ word: word.slice(sigil), start: span.start + index + sigil }];
    });
  const said = new Set(message.match(bare ? /\w+/g : /[$@]?\w+/g));
  const isTold = ({ word }: { readonly word: string }): boolean => word !== meant && said.has(word);
  const words = wordsBy(pattern);
  const plain = words.filter(isTold);
  // A probe's name may be in a text.
  const told = plain.length > 0 ? plain : wordsBy(/([$@]?\w+)/g).filter(isTold);
  const among = told.length > 0 ? told : words;
  const [wanted] = among.length === 1 ? [among[0].word] : nearest(meant, new Set(among.map(({ word }) => word)), 1);
  const places = among.filter(({ word }) => word === wanted);
  return places.length === 1 ? { start: places[0].start, end: places[0].start + places[0].word.length } : undefined;
}
