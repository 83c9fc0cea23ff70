// Lines that begin with `#`: options, conditions, definitions, and what they stand for. And what `$` stands for: the
// command line's arguments, the process that is traced.
import { dPreprocessor } from "../../messages/d-preprocessor.ts";
import type { Message } from "../../messages/message.ts";
import type { Diagnostic, Source, Span } from "../diagnostic.ts";
import type { Given } from "../language.ts";
import { conditionHolds, definedAsNumbers } from "./conditions.ts";
import { scan, tokensOf, type Token } from "./tokens.ts";

export interface Preprocessed {
  readonly tokens: readonly Token[];
  readonly options: readonly ScriptOption[];
  readonly diagnostics: readonly Diagnostic[];
}

/** `#pragma D option name=value` */
export interface ScriptOption {
  readonly name: string;
  readonly value?: string;
  readonly span: Span;
}

interface Definition {
  readonly parameters?: readonly string[];
  readonly body: readonly Token[];
}

const most = 200_000;

/** Of a name, of its data, and the class of what it depends on. */
const stabilities =
  /^(?:(?:Internal|Private|Obsolete|External|Unstable|Evolving|Stable|Standard)\/){2}(?:Unknown|CPU|Platform|Group|ISA|Common)$/;

/** Directives of the C preprocessor. */
const ofC: ReadonlySet<string> = new Set("define undef include if ifdef ifndef elif else endif".split(" "));

/** Providers whose names are not of a process (`pid123`). */
const providers: ReadonlySet<string> = new Set(
  "cpc dtrace fbt io ip kinst lockstat proc profile rawfbt rawtp sched sdt syscall tcp udp pid".split(" "),
);
const isProvider = (name: string): boolean => providers.has(name) || /\d$/.test(name);

export function preprocess(source: Source, { definitions = new Map(), settings, machine }: Given): Preprocessed {
  const diagnostics: Diagnostic[] = [];
  const options: ScriptOption[] = [];
  const defined = new Map<string, Definition>(
    [...definitions].map(([name, value]) => [name, { body: tokensOf(value).slice(0, -1) }]),
  );
  const kept: Token[] = [];
  /** DTrace's command leaves C's directives to the C preprocessor, which a script has to be given to (-C). */
  const withoutC = settings?.has("command") === true && !settings.has("cpp");
  /** What pragmas say of names that the script has to have. */
  const pragmas: { what: string; of: string; span: Span }[] = [];
  /** Conditions around: whether their lines count, and whether one of their branches has. */
  const conditions: { name: string; active: boolean; taken: boolean; span: Span }[] = [];
  const active = (): boolean => conditions.every((one) => one.active);
  const report = ({ start, end }: Span, message: ReturnType<typeof dPreprocessor.pragma>): void => {
    diagnostics.push({ severity: "error", span: { start, end }, ...message });
  };

  for (const token of tokensOf(source.text)) {
    if (token.kind !== "directive") {
      if (active() || token.kind === "end") kept.push(token);
      continue;
    }
    directive(token);
  }
  for (const { what, of, span } of pragmas)
    if (!kept.some(({ kind, text }) => kind === "identifier" && text === of))
      report(span, dPreprocessor.pragmaUnused(what));
  for (const { name, span } of conditions) report(span, dPreprocessor.unclosedCondition(name));
  const end = kept.pop()!;
  const tokens = defined.size === 0 ? kept : expanded(kept, new Set(), { left: most });
  return { tokens: [...tokens, end], options, diagnostics };

  function directive(token: Token): void {
    const [, name = "", rest = ""] = /^[ \t]*([A-Za-z_]\w*|\d+|!)?([^]*)$/.exec(token.text) ?? [];
    const text = rest.replaceAll(/\\\r?\n/g, " ").trim();
    if (withoutC && ofC.has(name)) return report(token, dPreprocessor.unknownDirective(name));
    switch (name) {
      // The interpreter; an empty directive; lines of another file.
      case "!":
      case "":
      case "ident":
        return;
      case "line":
        if (!/^\d+(?:\s+"[^"]*"(?:\s+\d+)*)?$/.test(text)) report(token, dPreprocessor.lineDirective());
        return;
      case "ifdef":
      case "ifndef": {
        const holds = defined.has(text.split(/\s/)[0]) === (name === "ifdef");
        conditions.push({ name, active: holds, taken: holds, span: token });
        return;
      }
      case "if":
      case "elif": {
        const around = conditions.at(-1);
        // What is within lines that do not count is not read.
        const outside = name === "if" ? active() : conditions.slice(0, -1).every((one) => one.active);
        const asked = outside && (name === "if" || around?.taken === false);
        const words = asked ? definedAsNumbers(tokensOf(text).slice(0, -1), (one) => defined.has(one)) : [];
        const read = asked ? conditionHolds(expanded(words, new Set(), { left: most })) : false;
        if (read === undefined)
          report(token, dPreprocessor.directive(name, "a condition is a constant expression of numbers and names"));
        const holds = read === true;
        if (name === "if") conditions.push({ name, active: holds, taken: holds, span: token });
        else if (around === undefined) report(token, dPreprocessor.strayDirective(name));
        else {
          around.active = holds && !around.taken;
          around.taken ||= holds;
        }
        return;
      }
      case "else":
      case "endif": {
        const around = conditions.at(-1);
        if (around === undefined) report(token, dPreprocessor.strayDirective(name));
        else if (name === "endif") conditions.pop();
        else {
          around.active = !around.taken;
          around.taken = true;
        }
        return;
      }
      default:
    }
    if (!active() || /^\d+$/.test(name)) return;
    switch (name) {
      case "define":
        return define(text, token);
      case "undef":
        defined.delete(text.split(/\s/)[0]);
        return;
      case "pragma":
        return pragma(text, token);
      case "error":
        return report(token, stopped(text));
      case "include":
        return report(
          token,
          dPreprocessor.directive(name, "strobe reads no C headers; declare the types in the script"),
        );
      default:
        return report(token, dPreprocessor.unknownDirective(name));
    }
  }

  function define(text: string, token: Token): void {
    const [, name, parameters, body] = /^([A-Za-z_]\w*)(?:\(([^)]*)\))?([^]*)$/.exec(text) ?? [];
    if (name === undefined) return report(token, dPreprocessor.directive("define", "a name stands behind it"));
    defined.set(name, {
      ...(parameters === undefined
        ? {}
        : {
            parameters: parameters
              .split(",")
              .map((one) => one.trim())
              .filter((one) => one !== ""),
          }),
      body: tokensOf(body)
        .slice(0, -1)
        .map((one) => ({ ...one, start: token.start, end: token.end })),
    });
  }

  function pragma(text: string, token: Token): void {
    if (/^error\b/.test(text)) return report(token, stopped(text.slice(5)));
    const [, what, rest] = /^D\s+(\w+)\s*([^]*)$/.exec(text) ?? [];
    switch (what) {
      case "option": {
        const [, first, more] = /^((?:"[^"]*"|\S)+)\s*([^]*)$/.exec(rest) ?? [];
        if (first === undefined) return report(token, dPreprocessor.pragmaOption());
        if (more !== "") return report(token, dPreprocessor.pragmaSuperfluous("option"));
        const [, name = "", value] = /^([^=]*)(?:=([^]*))?$/.exec(first) ?? [];
        const plain = value?.replace(/^"(.*)"$/, "$1");
        options.push({ name, ...(plain === undefined ? {} : { value: plain }), span: token });
        return;
      }
      case "attributes":
      case "binding": {
        const [given, name] = rest.trim().split(/\s+/);
        if (name === undefined)
          return report(token, dPreprocessor.pragmaMalformed(what, what === "binding" ? '"version"' : "<attributes>"));
        const right = what === "binding" ? /^"\d+(?:\.\d+){0,2}"$/ : stabilities;
        if (!right.test(given))
          return report(token, dPreprocessor.pragmaValue(what, what === "binding" ? "version string" : what));
        pragmas.push({ what, of: /(\w+)\s*$/.exec(rest)?.[1] ?? "", span: token });
        return;
      }
      case "depends_on":
        return dependence(rest, token);
      case "error":
        return report(token, stopped(rest));
      case "line":
        return;
      default:
        return /^D\s+\S/.test(text)
          ? report(token, dPreprocessor.pragma(/^D\s*(\S*)/.exec(text)?.[1] ?? ""))
          : undefined;
    }
  }

  function dependence(text: string, token: Token): void {
    const [what, name = ""] = text.trim().split(/\s+/);
    if (name === "") return report(token, dPreprocessor.pragmaDependence());
    if (what === "provider" && !isProvider(name)) return report(token, dPreprocessor.pragmaModule(what, name));
    if (!["library", "module", "provider"].includes(what))
      return report(token, dPreprocessor.pragmaValue("depends_on", `class ${what}`));
    if (what === "library") return report(token, dPreprocessor.pragmaLibrary());
    if (what === "module" && /^\w+$/.test(name) && name !== "vmlinux" && machine?.hasModule?.(name) === false)
      report(token, dPreprocessor.pragmaModule(what, name));
  }

  function expanded(tokens: readonly Token[], within: ReadonlySet<string>, budget: { left: number }): Token[] {
    const made: Token[] = [];
    for (let i = 0; i < tokens.length; i++) {
      const token = tokens[i];
      const meant = token.kind === "identifier" && !within.has(token.text) ? defined.get(token.text) : undefined;
      if (meant === undefined) {
        made.push(token);
        continue;
      }
      let { body } = meant;
      if (meant.parameters !== undefined) {
        const found = argumentsAt(tokens, i + 1);
        if (found === undefined) {
          made.push(token);
          continue;
        }
        i = found.last;
        const given = found.args.map((arg) => expanded(arg, within, budget));
        const { parameters } = meant;
        body = body.flatMap((one) => {
          const at = one.kind === "identifier" ? parameters.indexOf(one.text) : -1;
          return at < 0 ? [one] : (given[at] ?? []);
        });
      }
      budget.left -= body.length;
      if (budget.left < 0) {
        report(token, dPreprocessor.expansion());
        return made;
      }
      // Mistakes in it are shown where it is used.
      const placed = body.map((one) => ({ ...one, start: token.start, end: token.end }));
      made.push(...expanded(placed, new Set([...within, token.text]), budget));
    }
    return made;
  }
}

function argumentsAt(
  tokens: readonly Token[],
  from: number,
): { readonly args: readonly (readonly Token[])[]; readonly last: number } | undefined {
  if (tokens[from]?.text !== "(") return undefined;
  const args: Token[][] = [[]];
  let depth = 0;
  for (let i = from; i < tokens.length; i++) {
    const token = tokens[i];
    const punctuation = token.kind === "punctuation" ? token.text : "";
    if (punctuation === "(" && depth++ === 0) continue;
    if (punctuation === ")" && --depth === 0) return { args, last: i };
    if (punctuation === "," && depth === 1) args.push([]);
    else args.at(-1)!.push(token);
  }
  return undefined;
}

/** The text that a macro variable stands for; undefined where there is none. */
export function macroText(text: string, { positional, target, settings }: Given): string | undefined {
  const name = text.replace(/^\$\$?/, "");
  if (/^\d+$/.test(name)) return name === "0" ? (settings?.get("command") ?? "strobe") : positional[Number(name) - 1];
  const id = (of: (() => number) | undefined): string => String(of?.() ?? 0);
  switch (name) {
    case "target":
      return target === undefined || target === "command" ? undefined : String(target);
    case "pid":
      return String(process.pid);
    case "ppid":
      return String(process.ppid);
    case "uid":
      return id(process.getuid);
    case "euid":
      return id(process.geteuid);
    case "gid":
      return id(process.getgid);
    case "egid":
      return id(process.getegid);
    // The command has found out.
    case "pgid":
    case "sid":
      return settings?.get(name);
    default:
      return undefined;
  }
}

/** A macro's text as words of its own. */
export function macroToken(token: Token, text: string): Token {
  const { start, end } = token;
  // What is neither a number nor a name is a text.
  if (token.text.startsWith("$$") || !/^\w+$/.test(text))
    return { kind: "string", text: JSON.stringify(text), value: text, start, end };
  const found = scan(text, 0);
  return { ...found, start, end };
}

/** What `#error` says: its words, those of texts without their quotes. */
function stopped(text: string): Message {
  return dPreprocessor.stopped(text.replaceAll(/"((?:[^"\\]|\\.)*)"/g, "$1"));
}
