// What the call around an offset takes, and which of it is being written.
import { builtinsFor, findBuiltin } from "../language/builtins/table.ts";
import type { Source, Span } from "../language/diagnostic.ts";
import type { Editing, EditingToken, Language } from "../language/language.ts";
import { tokens } from "../language/own-names.ts";
import { editedLanguage, editingOf, signatureOf, wordsNamed } from "./analysis.ts";
import { insideComment } from "./text-position.ts";

export interface Form {
  readonly label: string;
  readonly doc?: string;
  /** Parts of the label. None where what is written does not tell which of them it is. */
  readonly parameters: readonly Span[];
}

export interface Signatures {
  readonly forms: readonly Form[];
  /** The form that takes as many arguments as there are. */
  readonly active: number;
  /** The argument at the offset, from 0. */
  readonly argument: number;
}

/** By tokens alone: a text in which a call is being written is seldom a whole program. */
export function signatures(source: Source, offset: number): Signatures | undefined {
  const { text } = source;
  const language = editedLanguage(source);
  const editing = editingOf(language);
  for (const call of callsAround(text, offset, editing)) {
    const { argument } = call;
    const count = argument + 1 + commasBehind(text, offset, editing);
    const own = declared(text, call.name, editing);
    const written = own.length > 0 ? own : builtinForms(call.name, language);
    if (written.length === 0) continue;
    const fitting = written.findIndex(({ most }) => count <= most);
    return {
      forms: written.map((form) => ({ ...form, parameters: argument < form.most ? certain(form, count) : [] })),
      active: fitting < 0 ? written.length - 1 : fitting,
      argument,
    };
  }
  return undefined;
}

interface WrittenForm extends Form {
  /** Arguments that it takes. */
  readonly most: number;
}

interface Call {
  readonly name: string;
  readonly argument: number;
}

/** The calls whose parentheses are open at an offset, the innermost first. */
function callsAround(text: string, offset: number, editing: Editing): readonly Call[] {
  const open: { readonly bracket: string; readonly name: string; argument: number }[] = [];
  const before: EditingToken[] = [];
  const closeTo = (bracket: string): void => {
    const at = open.findLastIndex((one) => one.bracket === bracket);
    if (at >= 0) open.length = at;
  };
  let end = 0;
  for (const token of tokens(text, editing)) {
    const isOpenString = token.kind === "bad" && !text.slice(token.start, offset).includes("\n");
    if (token.start >= offset || token.end > offset || (isOpenString && text[token.start] === '"')) {
      // Inside a string is inside the argument that it is.
      if (token.start < offset) end = offset;
      break;
    }
    end = token.end;
    if (token.kind === "punctuation") {
      const { text: sign } = token;
      const last = open.at(-1);
      if (sign === "(" || sign === "[" || sign === "{")
        open.push({ bracket: sign, name: sign === "(" ? callee(before, editing) : "", argument: 0 });
      else if (sign === ")") closeTo("(");
      else if (sign === "]") closeTo("[");
      else if (sign === "}") closeTo("{");
      else if (sign === ";") open.length = open.findLastIndex(({ bracket }) => bracket === "{") + 1;
      else if (sign === "," && last !== undefined) last.argument++;
    }
    before.push(token);
    if (before.length > 3) before.shift();
  }
  if (insideComment(text, end, offset, editing.lineComment)) return [];
  // A block's statements are in no call; the braces of `emit({ … })` are.
  const block = open.findLastIndex(({ bracket }, i) => bracket === "{" && open[i - 1]?.bracket !== "(");
  return open
    .slice(block + 1)
    .reverse()
    .filter(({ name }) => name !== "");
}

/** What an opening parenthesis calls: the name in front of it, `name!` where a macro is marked as one. */
function callee(before: readonly EditingToken[], { callables }: Editing): string {
  const isMark = before.at(-1)?.text === "!";
  const name = before.at(isMark ? -2 : -1);
  const declaring = before.at(isMark ? -3 : -2);
  if (name?.kind !== "identifier") return "";
  return declaring?.kind === "identifier" && callables.includes(declaring.text) ? "" : name.text;
}

/** Commas from an offset to the end of the argument list around it. */
function commasBehind(text: string, offset: number, editing: Editing): number {
  let depth = 0;
  let commas = 0;
  for (const { kind, text: sign } of tokens(text, editing, offset)) {
    if (kind === "bad") break;
    if (kind !== "punctuation") continue;
    if (sign === "(" || sign === "[") depth++;
    else if (sign === ")" || sign === "]") depth--;
    else if (sign === "," && depth === 0) commas++;
    if (depth < 0 || sign === ";" || sign === "{" || sign === "}") break;
  }
  return commas;
}

/** What the script itself declares under a name, each as it is written there. */
export function declared(text: string, name: string, editing: Editing): WrittenForm[] {
  const found: WrittenForm[] = [];
  let word = false;
  let depth = 0;
  let start: number | undefined;
  for (const token of tokens(text, editing)) {
    if (start !== undefined) {
      // The head ends where the body begins.
      if (token.text !== "{" || token.kind !== "punctuation") continue;
      found.push(formOf(text.slice(start, token.start).trim().replaceAll(/\s+/g, " ")));
      start = undefined;
    }
    if (depth === 0 && word && token.kind === "identifier" && token.text === name) start = token.start;
    word = token.kind === "identifier" && editing.callables.includes(token.text);
    if (token.kind === "punctuation") depth += token.text === "{" ? 1 : token.text === "}" ? -1 : 0;
    depth = Math.max(0, depth);
  }
  return found;
}

/** The forms with parentheses of a row's signature: `print(value), print(@map [, top [, divisor]])`. */
function builtinForms(name: string, language: Language): WrittenForm[] {
  const words = wordsNamed(language, name);
  if (words.length > 0) return words.map(({ signature, doc }) => ({ ...formOf(signature), doc }));
  const spec =
    editingOf(language).closed === true ? undefined : findBuiltin(builtinsFor(language.rules).canonical(name));
  if (spec === undefined) return [];
  const signature = signatureOf(spec, name);
  return split(signature, 0, signature.length)
    .map(({ start, end }) => signature.slice(start, end).trim())
    .filter((form) => form.includes("("))
    .map((form) => ({ ...formOf(form), doc: spec.doc }));
}

function formOf(label: string): WrittenForm {
  const open = label.indexOf("(");
  if (open < 0) return { label, parameters: [], most: 0 };
  const parts = split(label, open + 1, closing(label, open));
  const parameters = parts.flatMap(({ start, end }): Span[] => {
    const part = label.slice(start, end);
    const [lead] = /^[\s[\]]*/.exec(part) ?? [""];
    const bare = part.slice(lead.length).replace(/[\s[\]]*$/, "");
    return bare === "" ? [] : [{ start: start + lead.length, end: start + lead.length + bare.length }];
  });
  const last = parameters.at(-1);
  return {
    label,
    parameters,
    most: last !== undefined && label.slice(last.start, last.end) === "…" ? Infinity : parameters.length,
  };
}

/** `[mode, ][limit]`: with fewer arguments than parameters, the first may be any of them. */
function certain({ label, parameters }: Form, count: number): readonly Span[] {
  const leading = parameters.filter(({ end }) => /^,\s*\]/.test(label.slice(end))).length;
  if (leading === 0 || count >= parameters.length) return parameters;
  // `[family, ]address`: who writes one argument writes the last.
  const optional = parameters.filter(
    ({ start }) => label[start - 1] === "[" || /\[,\s*$/.test(label.slice(0, start)),
  ).length;
  return optional === leading ? parameters.slice(parameters.length - count) : [];
}

/** By the commas that are in no parentheses, braces or texts; brackets only say what may be left out. */
function split(text: string, from: number, to: number): Span[] {
  const parts: Span[] = [];
  let depth = 0;
  let start = from;
  for (let at = from; at < to; at++) {
    if (text[at] === '"') at = Math.max(at, text.indexOf('"', at + 1));
    else if ("({".includes(text[at])) depth++;
    else if (")}".includes(text[at])) depth--;
    else if (text[at] === "," && depth === 0) {
      parts.push({ start, end: at });
      start = at + 1;
    }
  }
  return [...parts, { start, end: to }];
}

function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === "(") depth++;
    else if (text[at] === ")" && --depth === 0) return at;
  }
  return text.length;
}
