import type { Editing, EditingToken, EditingWord, OfferedProbes, OwnName } from "../language.ts";
import { everywhere, ownName, partsOf, storing, tokens, type Part } from "../own-names.ts";
import { keywords } from "./expressions.ts";
import { libraryFunction, libraryNames } from "./library.ts";
import { libraryHeads } from "./tapset.ts";
import { scan } from "./tokens.ts";

export const editing: Editing = {
  keywords: [...keywords].filter((word) => !["probe", "global", "private", "function"].includes(word)),
  declarations: ["probe", "global", "private", "function"],
  sigils: "$@",
  targets: true,
  callables: ["function"],
  scan,
  names,
  words,
  probeStart,
  probes,
};

/** What stands in front of the body's `{` and is no name of the script's: all of a probe's points. */
function pointsOf(head: readonly EditingToken[]): ReadonlySet<EditingToken> {
  const at = head.findIndex((token) => isWord(token, "probe"));
  const condition = head.findIndex((token) => isWord(token, "if"));
  return new Set(at < 0 ? [] : head.slice(at, condition < 0 ? head.length : condition));
}

const isWord = ({ kind, text }: EditingToken, word: string): boolean => kind === "identifier" && text === word;

/**
 * Globals are what `global` declares; any other name that a part stores in, or has as a parameter, is a variable of that
 * part. A variable that a macro's text has, too, is one wherever it stands: the macro may be used there.
 */
function names(text: string): readonly OwnName[] {
  const parts = partsOf(divided(tokens(text, { scan })));
  const globals = new Set(parts.flatMap(declaredGlobals));
  const globalNames = new Set([...globals].map((token) => token.text));
  const functions = new Set(parts.flatMap(({ head }) => functionOf(head) ?? []));
  const functionNames = new Set([...functions].map((token) => token.text));
  const inMacros = new Set(
    [...text.matchAll(/@define\b[^]*?%\([^]*?%\)/g)].flatMap(([macro]) => macro.match(/[A-Za-z_]\w*/g) ?? []),
  );
  return parts.flatMap((part) => {
    const variables = variablesOf(part);
    const points = pointsOf(part.head);
    const all = [...part.head, ...part.body];
    return all.flatMap((token, i): OwnName[] => {
      const { text: word } = token;
      const before = all[i - 1]?.text;
      if (token.kind !== "identifier" || keywords.has(word) || points.has(token) || before === "." || before === "->")
        return [];
      if (all[i + 1]?.text === "(" || before === "function")
        return functionNames.has(word) ? [ownName(token, word, "function", everywhere, functions.has(token))] : [];
      if (functions.has(token)) return [ownName(token, word, "function", everywhere, true)];
      if (variables.parameters.has(word) || (variables.stored.has(word) && !globalNames.has(word)))
        return [ownName(token, word, "variable", inMacros.has(word) ? everywhere : part.span)];
      return globalNames.has(word) ? [ownName(token, word, "map", everywhere, globals.has(token))] : [];
    });
  });
}

/** A `global` declaration has no sign at its end: what begins the next one ends it. */
function* divided(all: Iterable<EditingToken>): Generator<EditingToken> {
  let depth = 0;
  let begun = false;
  let before = "";
  for (const token of all) {
    if (token.kind === "punctuation") depth += token.text === "{" ? 1 : token.text === "}" ? -1 : 0;
    if (depth === 0 && /^(?:probe|global|private|function)$/.test(token.text) && token.kind === "identifier") {
      if (begun && before !== "private") yield { kind: "punctuation", text: ";", start: token.start, end: token.start };
      begun = true;
    }
    if (depth > 0) begun = false;
    before = token.text;
    yield token;
  }
}

function declaredGlobals({ head }: Part): readonly EditingToken[] {
  const at = head.findIndex((token) => isWord(token, "global"));
  if (at < 0) return [];
  return head.filter(
    ({ kind }, i) => i > at && kind === "identifier" && (head[i - 1].text === "," || isWord(head[i - 1], "global")),
  );
}

function functionOf(head: readonly EditingToken[]): EditingToken | undefined {
  const at = head.findIndex((token) => isWord(token, "function"));
  return at >= 0 && head[at + 1]?.kind === "identifier" ? head[at + 1] : undefined;
}

function variablesOf({ head, body }: Part): { parameters: ReadonlySet<string>; stored: ReadonlySet<string> } {
  const open = functionOf(head) === undefined ? -1 : head.findIndex(({ text }) => text === "(");
  const parameters = head
    .filter(({ kind }, i) => open >= 0 && i > open && kind === "identifier" && /^[(,]$/.test(head[i - 1].text))
    .map(({ text }) => text);
  const loops = new Set<number>();
  body.forEach((token, i) => {
    // `foreach (value = [a, b] in map)`, `foreach (k+ in map)`, `catch (message)`
    if (!isWord(token, "foreach") && !isWord(token, "catch")) return;
    for (let at = i + 1; at < body.length && !isWord(body[at], "in") && body[at].text !== ")"; at++) loops.add(at);
  });
  const stored = body.filter(
    ({ kind, text }, i) =>
      kind === "identifier" &&
      !keywords.has(text) &&
      (loops.has(i) || storing.has(body[i + 1]?.text) || /^(?:\+\+|--)$/.test(body[i - 1]?.text ?? "")),
  );
  return { parameters: new Set(parameters), stored: new Set(stored.map(({ text }) => text)) };
}

/** The library: what strobe itself knows, and what is written in the language. */
export function words(): readonly EditingWord[] {
  const { functions, probes: aliases } = libraryHeads();
  return [
    ...libraryNames()
      .filter((name) => !name.startsWith("__"))
      .map((name): EditingWord => {
        const { parameters, result, doc } = libraryFunction(name)!;
        const list = parameters.map((type, i) => `arg${i + 1}:${type}`).join(", ");
        return {
          name,
          kind: "function",
          signature: `${name}${result === undefined ? "" : `:${result}`} (${list})`,
          doc,
        };
      }),
    ...functions.map(({ name, head, doc }): EditingWord => ({ name, kind: "function", signature: head, doc })),
    ...aliases.map(({ name, head, doc }): EditingWord => ({ name, kind: "probe", signature: head, doc })),
  ];
}

/** Behind `probe`, `=` and the last comma that is in no parentheses. */
function probeStart(before: string): number | undefined {
  const head = /(?:^|[\s;}])probe\s/.exec(before);
  if (head === null || /\bif\s*\(/.test(before)) return undefined;
  let start = head.index + head[0].length;
  let open = 0;
  for (const { text, end, kind } of tokens(before, { scan }, start)) {
    if (kind !== "punctuation") continue;
    open += text === "(" ? 1 : text === ")" ? -1 : 0;
    if (open === 0 && (text === "," || text === "=" || text === "+=")) start = end;
  }
  return start + (/^\s*/.exec(before.slice(start))?.[0].length ?? 0);
}

const points: readonly (readonly [name: string, doc: string])[] = [
  ["begin", "When the script starts."],
  ["end", "When it ends."],
  ["error", "When it ends for an error."],
  ["oneshot", "When it starts, and then it ends."],
  ["never", "Never; the handler is checked."],
  ["timer.s(1)", "Every so many seconds."],
  ["timer.ms(100)", "Every so many milliseconds."],
  ["timer.profile", "On every processor, a hundred times a second or more."],
  ['kernel.function("', "A function of the kernel; `.return` behind it: when it returns."],
  ['kernel.trace("', "A tracepoint of the kernel."],
  ['kernel.statement("', "A line of the kernel's source."],
  ['module("', "A function or line of a module."],
  ['process("', "A program, by its path or process id."],
  ["syscall.", "A system call, with its arguments decoded: `syscall.openat`; `.return` behind it."],
];
const inProcess: readonly (readonly [name: string, doc: string])[] = [
  ['.function("', "A function; `.return` behind it: when it returns."],
  ['.mark("', "A static probe."],
  ['.statement("', "A line of its source."],
  ['.plt("', "A call of a library's function."],
  [".begin", "When the process starts."],
  [".end", "When it ends."],
  [".syscall", "When it makes a system call."],
];

function probes(written: string): OfferedProbes {
  const [, kernel, kind, begun] = /^(kernel)\.(function|trace)\("([^"]*)$/.exec(written) ?? [];
  if (kernel !== undefined)
    return {
      words: [],
      pattern: kind === "trace" ? `rawtracepoint:*:${begun}*` : `kprobe:${begun}*`,
      spelled: (found) => `kernel.${kind}("${found.slice(found.lastIndexOf(":") + 1)}")`,
    };
  const [, program, of, part] = /^(process\("[^"]+"\))\.(function|mark)\("([^"]*)$/.exec(written) ?? [];
  const path = program?.slice('process("'.length, -2);
  if (path !== undefined)
    return {
      words: [],
      pattern: of === "mark" ? `usdt:${path}:*:${part}*` : `uprobe:${path}:${part}*`,
      spelled: (found) => `${program}.${of}("${found.slice(found.lastIndexOf(":") + 1)}")`,
    };
  const [, call] = /^syscall\.(\w*)$/.exec(written) ?? [];
  if (call !== undefined)
    return {
      words: [],
      pattern: `tracepoint:syscalls:sys_enter_${call}*`,
      spelled: (found) => `syscall.${found.slice(found.lastIndexOf("sys_enter_") + "sys_enter_".length)}`,
    };
  const [inside] = /^process(?:\("[^"]*"\))?(?=\.)/.exec(written) ?? [];
  const fixed = inside === undefined ? points : inProcess.map(([name, doc]) => [inside + name, doc] as const);
  return {
    words: [
      ...fixed.map(([name, doc]) => ({ name, doc })),
      ...libraryHeads().probes.map(({ name, doc }) => ({ name, doc })),
    ],
  };
}
