// What happens to words before they are read: conditions `%( … %? … %: … %)`, macros `@define`, and what the command line
// gives (`$1`, `@1`, `$#`, `@#`). A word that came out of one of them stands where it was asked for.
import { Failure } from "../../base/failure.ts";
import { systemtap } from "../../messages/systemtap.ts";
import type { Diagnostic, Span } from "../diagnostic.ts";
import type { MachineGiven } from "../language.ts";
import type { Message } from "../../messages/message.ts";
import { libraryMacro } from "./library-macros.ts";
import { tokensOf, type Token } from "./tokens.ts";

export interface Prepared {
  /** The last one is the end. */
  readonly tokens: readonly Token[];
  readonly diagnostics: readonly Diagnostic[];
}

interface Macro {
  readonly parameters: readonly string[];
  readonly body: readonly Token[];
}

/** Words in all: stops macros that double at every level. */
const mostTokens = 1_000_000;
const deepest = 100;

/** `shared`: texts whose macros are there, too. */
export function preprocess(
  text: string,
  positional: readonly string[],
  machine: MachineGiven | undefined,
  shared: readonly string[] = [],
): Prepared {
  const diagnostics: Diagnostic[] = [];
  const macros = new Map<string, Macro>();
  /** Those of the script, which it may define once each. */
  const defined = new Set<string>();
  let inScript = false;
  const words = tokensOf(text);
  const end = words.at(-1)!;
  const out: Token[] = [];

  const report = ({ start, end: stop }: Span, message: Message): void => {
    diagnostics.push({ severity: "error", span: { start, end: stop }, ...message });
  };

  /** The index behind the `%)` of what begins at `from`; `at`: of the `%?` and `%:` that are its own. */
  function closing(list: readonly Token[], from: number): { after: number; question?: number; colon?: number } {
    let depth = 0;
    let question: number | undefined;
    let colon: number | undefined;
    for (let i = from; i < list.length; i++) {
      const { kind, text: word } = list[i];
      if (kind !== "punctuation") continue;
      if (word === "%(") depth++;
      else if (word === "%?" && depth === 1) question ??= i;
      else if (word === "%:" && depth === 1) colon ??= i;
      else if (word === "%)" && --depth === 0)
        return {
          after: i + 1,
          ...(question === undefined ? {} : { question }),
          ...(colon === undefined ? {} : { colon }),
        };
    }
    report(list[from], systemtap.unclosedCondition());
    return { after: list.length };
  }

  /** `given`: the arguments of the macro whose body this is. `at`: where words are said to be. */
  function expand(
    list: readonly Token[],
    given: ReadonlyMap<string, readonly Token[]>,
    at: Span | undefined,
    depth: number,
  ): void {
    for (let i = 0; i < list.length;) {
      const word = list[i];
      const place = (one: Token): Token => (at === undefined ? one : { ...one, start: at.start, end: at.end });
      if (out.length > mostTokens || depth > deepest) {
        report(at ?? word, systemtap.expansionTooLarge());
        return;
      }
      if (word.kind === "punctuation" && word.text === "%(") {
        const { after, question, colon } = closing(list, i);
        if (question === undefined) report(place(word), systemtap.expectedInCondition("`%?`"));
        else {
          const holds = condition(list.slice(i + 1, question));
          const last = after - 1;
          const chosen = holds
            ? list.slice(question + 1, colon ?? last)
            : colon === undefined
              ? []
              : list.slice(colon + 1, last);
          expand(chosen, given, at, depth + 1);
        }
        i = after;
      } else if (word.kind === "at" && word.text === "@define") {
        i = define(list, i, inScript);
      } else if (word.kind === "at" && given.has(word.text.slice(1))) {
        for (const one of given.get(word.text.slice(1))!) out.push(place(one));
        i++;
      } else if (word.kind === "at" && isMacro(word.text.slice(1))) {
        i = call(list, i, given, place(word), depth);
      } else {
        for (const one of parameter(place(word))) out.push(one);
        i++;
      }
    }
  }

  /** Of the script, of its libraries, or of SystemTap's own. */
  function isMacro(name: string): boolean {
    if (macros.has(name)) return true;
    const own = libraryMacro(name);
    if (own !== undefined) define(tokensOf(own), 0);
    return own !== undefined;
  }

  /** `own`: of the script itself. */
  function define(list: readonly Token[], at: number, own = false): number {
    const name = list[at + 1];
    if (name?.kind !== "identifier") {
      report(name ?? list[at], systemtap.expected("a name behind `@define`", shown(name)));
      return at + 1;
    }
    let i = at + 2;
    const parameters: string[] = [];
    if (list[i]?.text === "(") {
      for (i++; list[i] !== undefined && list[i].text !== ")" && list[i].kind !== "end"; i++)
        if (list[i].kind === "identifier") parameters.push(list[i].text);
      i++;
    }
    if (list[i]?.text !== "%(") {
      report(list[i] ?? name, systemtap.expected("`%(` before the macro's body", shown(list[i])));
      return i;
    }
    const { after } = closing(list, i);
    if (own && defined.has(name.text)) report(name, systemtap.duplicateMacro(name.text));
    if (own) defined.add(name.text);
    macros.set(name.text, { parameters, body: list.slice(i + 1, after - 1) });
    return after;
  }

  function call(
    list: readonly Token[],
    at: number,
    given: ReadonlyMap<string, readonly Token[]>,
    place: Span,
    depth: number,
  ): number {
    const name = list[at].text.slice(1);
    const { parameters, body } = macros.get(name)!;
    const values: Token[][] = [];
    let i = at + 1;
    if (parameters.length > 0 && list[i]?.text === "(") {
      let nested = 0;
      let value: Token[] = [];
      for (; i < list.length; i++) {
        const { text: word, kind } = list[i];
        if (kind === "end") break;
        if (word === "(" && nested++ === 0) continue;
        if (word === ")" && --nested === 0) break;
        if (word === "," && nested === 1) {
          values.push(value);
          value = [];
        } else value.push(list[i]);
      }
      values.push(value);
      i++;
    }
    if (values.length !== parameters.length)
      report(place, systemtap.macroArguments(name, parameters.length, values.length));
    // What is given is expanded where it stands.
    const bound = new Map<string, readonly Token[]>();
    parameters.forEach((parameter, n) => {
      const length = out.length;
      expand(values[n] ?? [], given, place, depth + 1);
      bound.set(parameter, out.splice(length));
    });
    expand(body, bound, place, depth + 1);
    return i;
  }

  /** What the command line gives in place of `$1` and its kin; any other word as it is. */
  function parameter(word: Token): readonly Token[] {
    const { start, end: stop } = word;
    if (word.kind !== "target" && word.kind !== "at") return [word];
    const quoted = word.kind === "at";
    const name = word.text.slice(1);
    const given =
      name === "#" ? String(positional.length) : /^\d+$/.test(name) ? positional[Number(name) - 1] : undefined;
    if (given === undefined) {
      if (!/^(?:\d+|#)$/.test(name)) return [word];
      report(word, systemtap.missingParameter(word.text, positional.length));
      return [{ ...word, kind: "number", number: 0n }];
    }
    if (quoted) return [{ kind: "string", text: given, value: given, start, end: stop }];
    return tokensOf(given)
      .slice(0, -1)
      .map((one) => ({ ...one, start, end: stop }));
  }

  // ── conditions ──

  function condition(list: readonly Token[]): boolean {
    const alternatives = split(list, "||");
    return alternatives.some((both) => split(both, "&&").every(comparison));
  }

  function comparison(list: readonly Token[]): boolean {
    const words = list.flatMap(parameter);
    const [left, operator, right] = words;
    if (left === undefined) return false;
    if (operator === undefined) {
      report(left, systemtap.expectedInCondition("a comparison"));
      return false;
    }
    const [a, b] = [value(left), value(right)];
    if (a !== undefined && b !== undefined && typeof a !== typeof b)
      report(right, systemtap.expectedInCondition(typeof a === "string" ? "a string" : "a number"));
    const order = compared(left.text, a, b);
    switch (operator.text) {
      case "==":
        return order === 0;
      case "!=":
        return order !== 0;
      case "<":
        return order < 0;
      case "<=":
        return order <= 0;
      case ">":
        return order > 0;
      case ">=":
        return order >= 0;
      default:
        report(operator, systemtap.expectedInCondition("a comparison"));
        return false;
    }
  }

  function value(word: Token | undefined): string | bigint | undefined {
    if (word === undefined) return undefined;
    if (word.kind === "string") return word.value;
    if (word.kind === "number") return word.number;
    switch (word.text) {
      case "kernel_v":
        return machine?.release.split("-")[0];
      case "kernel_vr":
        return machine?.release;
      case "arch":
        return machine?.arch;
      case "systemtap_v":
        return "5.6";
      case "systemtap_privilege":
        return "stapdev";
      case "guru_mode":
        return 0n;
      case "runtime":
        return "bpf";
      default:
        if (word.text.startsWith("CONFIG_")) {
          const found = machine?.config(word.text) ?? "";
          if (!(found instanceof Failure)) return found;
          report(word, systemtap.configurationUnknown(word.text, found.reason));
          return undefined;
        }
        report(word, systemtap.unknownInCondition(word.text));
        return undefined;
    }
  }

  for (const one of shared) expand(tokensOf(one).slice(0, -1), new Map(), { start: 0, end: 0 }, 0);
  out.length = 0;
  inScript = true;
  expand(words.slice(0, -1), new Map(), undefined, 0);
  out.push(end);
  return { tokens: out, diagnostics };
}

function split(list: readonly Token[], operator: string): Token[][] {
  const parts: Token[][] = [[]];
  for (const word of list) {
    if (word.kind === "punctuation" && word.text === operator) parts.push([]);
    else parts.at(-1)!.push(word);
  }
  return parts;
}

function shown(word: Token | undefined): string {
  return word === undefined || word.kind === "end" ? "the end of the script" : `\`${word.text}\``;
}

/** Versions by their numbers, `*` ends in texts match anything, numbers and other texts as they are. */
function compared(name: string, a: string | bigint | undefined, b: string | bigint | undefined): number {
  if (typeof a === "bigint" && typeof b === "bigint") return a < b ? -1 : a > b ? 1 : 0;
  const [left, right] = [String(a ?? ""), String(b ?? "")];
  if (/^(?:kernel_v|kernel_vr|systemtap_v)$/.test(name)) {
    const [ours, theirs] = [left, right].map((text) =>
      text.split(/[.\-+~]/).map((part) => Number.parseInt(part, 10) || 0),
    );
    for (let i = 0; i < Math.max(ours.length, theirs.length); i++)
      if ((ours[i] ?? 0) !== (theirs[i] ?? 0)) return (ours[i] ?? 0) - (theirs[i] ?? 0);
    return 0;
  }
  if (right.endsWith("*") && left.startsWith(right.slice(0, -1))) return 0;
  return left < right ? -1 : left > right ? 1 : 0;
}
