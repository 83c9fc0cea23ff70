import type { Editing, EditingToken, EditingWord, OfferedProbes, OwnName } from "../language.ts";
import { everywhere, ownName, partsOf, storing, tokens } from "../own-names.ts";
import { actionDoc, actionNames } from "./actions.ts";
import { libraryFunction, libraryNames } from "./library.ts";
import { stableProbes } from "./stable-probes.ts";
import { isReserved, scan } from "./tokens.ts";
import { isBuiltIn, variableDoc, variableNames } from "./variables.ts";

export const editing: Editing = {
  keywords: ["this", "self", "sizeof", "offsetof", "xlate", "if", "else"],
  declarations: ["inline", "struct", "union", "enum", "typedef", "translator", "self", "this"],
  sigils: "$@",
  callables: [],
  scan,
  names,
  words,
  probeStart: (before) =>
    /\/[^/]*$/.test(before) ? undefined : before.length - (/[^\s,]*$/.exec(before)?.[0].length ?? 0),
  probes,
};

const types = /^(?:struct|union|enum|typedef|translator)$/;

/** `self->x` and `this->x` are other variables than `x`: their names stand behind the arrow. */
function names(text: string): readonly OwnName[] {
  const parts = partsOf(tokens(text, { scan })).filter(({ head: [first] }) => !types.test(first?.text ?? ""));
  const code = parts.map(({ head, body }) => {
    if (body.length === 0 && head.at(-1)?.text === ";") return { all: head, isDeclaration: true };
    // Of a clause's head the predicate has names.
    const slash = head.findIndex((token) => token.text === "/");
    return { all: [...(slash < 0 ? [] : head.slice(slash)), ...body], isDeclaration: false };
  });
  const made = new Set<string>();
  const found = code.flatMap(({ all, isDeclaration }) =>
    all.flatMap((token, i): { name: OwnName; key: string }[] => {
      if (token.kind === "aggregation") {
        made.add(token.text);
        return [{ name: ownName(token, token.text, "map", everywhere), key: token.text }];
      }
      const before = all[i - 1]?.text;
      const of = all[i - 2]?.text;
      if (token.kind !== "identifier" || isReserved(token.text) || token.text === "this" || token.text === "self")
        return [];
      const owner = before === "->" && (of === "self" || of === "this") && all[i - 3]?.text !== "->" ? of : undefined;
      const declares = isDeclaration && isDeclared(all, i);
      if (owner === undefined && (before === "->" || before === "." || before === "`" || isBuiltIn(token.text)))
        return [];
      if (all[i + 1]?.text === "(") return [];
      const scope =
        isDeclaration && declares ? all.find(({ text: word }) => word === "self" || word === "this") : undefined;
      const prefix = owner ?? scope?.text;
      const key = prefix === undefined ? token.text : `${prefix}->${token.text}`;
      if (declares || storing.has(behindIndex(all, i)) || before === "++" || before === "--") made.add(key);
      return [{ name: ownName(token, key, "variable", everywhere, declares), key }];
    }),
  );
  return found.filter(({ key }) => made.has(key)).map(({ name }) => name);
}

/** `int x;`, `string names[int];`, `inline int most = 3;`: the last name before that. */
function isDeclared(all: readonly EditingToken[], i: number): boolean {
  const end = all.findIndex(({ text }) => text === "[" || text === "=" || text === ";" || text === ",");
  return i === end - 1 && i > 0;
}

/** The sign behind a name and its indexes. */
function behindIndex(all: readonly EditingToken[], i: number): string {
  let at = i + 1;
  if (all[at]?.text === "[") {
    let depth = 0;
    do depth += all[at].text === "[" ? 1 : all[at].text === "]" ? -1 : 0;
    while (++at < all.length && depth > 0);
  }
  return all[at]?.text ?? "";
}

/** Variables that are translated from the kernel's structs. */
const translated: readonly (readonly [name: string, doc: string])[] = [
  ["curpsinfo", "The current process as a psinfo_t: `curpsinfo->pr_psargs`."],
  ["curlwpsinfo", "The current thread as an lwpsinfo_t."],
  ["curcpu", "The current processor as a cpuinfo_t."],
];

function words(): readonly EditingWord[] {
  return [
    ...variableNames().map((name): EditingWord => ({ name, kind: "value", signature: name, doc: variableDoc(name) })),
    ...translated.map(([name, doc]): EditingWord => ({ name, kind: "value", signature: name, doc })),
    ...libraryNames().flatMap((name): EditingWord[] => {
      const found = libraryFunction(name);
      if (found === undefined) return [];
      const { least, most, prototype, doc } = found;
      const one = (i: number): string => prototype?.[i] ?? `arg${i}`;
      const list = Array.from({ length: Number.isFinite(most) ? most : least + 1 }, (_, i) => one(i));
      const needed = list.slice(0, least).join(", ");
      const more = list.slice(least).map((each, i) => `[${i + least > 0 ? ", " : ""}${each}]`);
      return [
        { name, kind: "function", signature: `${name}(${needed}${more.length > 0 ? ` ${more.join(" ")}` : ""})`, doc },
      ];
    }),
    ...[...actionNames].flatMap((name): EditingWord[] => {
      const doc = actionDoc(name);
      return doc === "" ? [] : [{ name, kind: "function", signature: `${name}(…)`, doc }];
    }),
  ];
}

const fixed: readonly (readonly [name: string, doc: string])[] = [
  ["BEGIN", "When the script starts."],
  ["END", "When it ends."],
  ["ERROR", "When a clause has failed."],
  ["tick-1s", "Once in that time, on one processor: ns, us, ms, s, m, h, d, hz."],
  ["profile-97", "So many times a second, on every processor."],
  ["syscall::", "System calls: `syscall::write:entry`, `:return`."],
  ["fbt::", "Functions of the kernel: `fbt::vfs_read:entry`, `:return`."],
  ["pid$target::", "Functions of a process: `pid$target:libc:malloc:entry`."],
];

function probes(written: string): OfferedProbes {
  const [, provider, module, begun] = /^(syscall|fbt):([^:]*):([\w*]*)$/.exec(written) ?? [];
  if (provider !== undefined)
    return {
      words: [],
      pattern: provider === "fbt" ? `kprobe:${begun}*` : `tracepoint:syscalls:sys_enter_${begun}*`,
      spelled: (found) =>
        `${provider}:${module}:${found.slice(found.lastIndexOf(":") + 1).replace(/^sys_enter_/, "")}:entry`,
    };
  const [, front] = /^((?:syscall|fbt|pid[^:]*):[^:]*:[^:]+:)\w*$/.exec(written) ?? [];
  if (front !== undefined)
    return {
      words: [
        { name: `${front}entry`, doc: "When it is called." },
        { name: `${front}return`, doc: "When it returns." },
      ],
    };
  return {
    words: [
      ...fixed.map(([name, doc]) => ({ name, doc })),
      ...stableProbes().map((name) => ({ name, doc: "A probe that is the same on every kernel." })),
    ],
  };
}
