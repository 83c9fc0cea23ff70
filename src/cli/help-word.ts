// `strobe help WORD`: what a word is, from the tables that the checker, the providers and the command read, and from
// the pages that are installed with them.
import { builtins } from "../language/builtins/table.ts";
import type { BuiltinSpec } from "../language/builtins/signature.ts";
import { nearest } from "../language/nearest.ts";
import { words as otherWords, otherToolsWord } from "../language/other-tools.ts";
import { languages } from "../language/registry.ts";
import { otherToolsKind } from "../providers/other-tools.ts";
import { allProviders } from "../providers/registry.ts";
import { print, tell } from "./files.ts";
import { flagLines, helpText, subcommandHelp, type Commands } from "./help.ts";
import { flags } from "./flags.ts";
import { otherToolsOption } from "./other-tools.ts";
import { ownText } from "./own-files.ts";
import { findTool, toolHelp, toolNames } from "./tools.ts";

/** Several words are one: of a message. Gives the exit code: 1 where nothing is known of it. */
export function helpWord(words: readonly string[], subcommands: Commands): number {
  const word = words.join(" ").trim();
  if (word === "") {
    print(helpText(subcommands));
    return 0;
  }
  const found = [
    ...ofCommand(word, subcommands),
    ...ofOption(word),
    ...ofBuiltin(word),
    ...ofLanguages(word),
    ...ofProbe(word),
    ...ofSetting(word),
    ...ofOtherTool(word),
    ...ofOtherCommand(word),
  ];
  const all = found.length > 0 ? found : ofMessage(word);
  if (all.length === 0) {
    const [first] = nearest(word, names(subcommands));
    tell(
      `strobe: nothing is known of "${word}"${first === undefined ? "" : `: did you mean \`strobe help ${first}\`?`}\n`,
    );
    return 1;
  }
  print(all.join("\n"));
  return 0;
}

function ofCommand(word: string, subcommands: Commands): readonly string[] {
  const tool = findTool(word);
  return [
    ...(Object.hasOwn(subcommands, word) ? [subcommandHelp(subcommands[word])] : []),
    ...(tool === undefined ? [] : [`strobe ${word}: a tool\n\n${toolHelp(tool)}`]),
  ];
}

function ofOption(word: string): readonly string[] {
  const name = word.replace(/^--?/, "");
  const dashes = word.slice(0, word.length - name.length);
  const rows = Object.values(flags).filter(
    (row: { readonly short?: string; readonly long?: string }) =>
      (dashes !== "--" && dashes !== "" && row.short === name) || (dashes !== "-" && row.long === name),
  );
  return rows.length === 0 ? [] : [`option of strobe\n\n${flagLines(rows)}`];
}

function ofBuiltin(word: string): readonly string[] {
  const name = word.replace(/\(.*$/s, "");
  return builtins()
    .filter((spec) => spec.name === name || spellings(spec).some(([, spelled]) => spelled.includes(name)))
    .map((spec) => {
      const where = { kernel: "in the kernel", host: "in strobe itself", both: "in the kernel and in strobe itself" };
      const needs = [
        ...(spec.unsafe === true ? ["needs --unsafe"] : []),
        ...(spec.kernel === undefined ? [] : [`Linux ${spec.kernel.join(".")} and later`]),
      ];
      const others = spellings(spec).filter(([, spelled]) => spelled.length > 0 && !spelled.includes(spec.name));
      return [
        spec.signature,
        "",
        `  ${spec.doc}`,
        `  Runs ${where[spec.placement]}${needs.length === 0 ? "" : `; ${needs.join(", ")}`}.`,
        ...others.map(([title, spelled]) => `  In ${title}: ${spelled.join(", ")}.`),
        "",
      ].join("\n");
    });
}

/** Languages by their names, and the functions, variables and probes that one has besides the table. */
function ofLanguages(word: string): readonly string[] {
  const name = word.replace(/\(.*$/s, "");
  return languages.flatMap(({ name: own, aliases, title, doc, endings, editing }) => {
    if ([own, ...aliases].includes(name.toLowerCase()))
      return [`${title}: a language of strobe's, --lang ${own}\n\n  ${doc}\n  Files: ${endings.join(", ")}\n`];
    const { words, probes } = editing?.() ?? {};
    // `kernel.function("` is asked for without what stands behind the name.
    const points = (probes?.("").words ?? []).filter((one) => one.name.replace(/(?:\("?|::|-?\d).*$/, "") === name);
    const found = [
      ...(words?.() ?? []).filter((one) => one.name === name),
      ...points.map((one) => ({ ...one, signature: one.name.replace(/\("$/, '("…")') })),
    ];
    const seen = new Set<string>();
    return found.flatMap(({ signature, doc }) => {
      if (seen.has(name + doc)) return [];
      seen.add(name + doc);
      return [`${signature}: in ${title}\n\n  ${doc}\n`];
    });
  });
}

/** What the languages call it. */
function spellings({
  name,
  spelling,
}: BuiltinSpec): readonly (readonly [language: string, names: readonly string[]])[] {
  return languages.map(({ title, rules }) => [title, spelling?.[rules.language] ?? [rules.spelling.builtin(name)]]);
}

function ofProbe(word: string): readonly string[] {
  const name = word.split(":")[0];
  return allProviders()
    .filter((kind) => kind.name === name || kind.aliases.includes(name))
    .map(({ usage, doc, aliases }) => {
      const also = aliases.length === 0 ? "" : `  Also written ${aliases.join(", ")}.\n`;
      return `${usage}: a kind of probe\n\n  Fires: ${doc}\n${also}`;
    });
}

/** Rows of the page's table of settings. */
function ofSetting(word: string): readonly string[] {
  const [, table = ""] = /^## Settings\n(.*?)^## /ms.exec(ownText("docs/language.md") ?? "") ?? [];
  return table.split("\n").flatMap((line) => {
    const [name, otherwise, doc] = line
      .split(/(?<!\\)\|/)
      .slice(1)
      .map((cell) => cell.trim().replaceAll("`", ""));
    if (name !== word.toLowerCase().replace(/^(?:bpftrace|strobe)_/, "") || doc === undefined) return [];
    return [`config = { ${name} = … }: a setting\n\n  ${doc}\n  Unless set: ${otherwise}.\n`];
  });
}

function ofOtherTool(word: string): readonly string[] {
  const name = word.replace(/\(.*$/s, "").replace(/^@/, "");
  const help =
    otherToolsWord(name, languages[0].rules) ??
    otherToolsKind(name.split(":")[0]) ??
    (word.startsWith("-") ? otherToolsOption(word) : undefined);
  return help === undefined ? [] : [`${help}\n`];
}

/** Rows of the pages for those who know other tools: by the word that a command begins with, or several; all by the tool. */
function ofOtherCommand(word: string): readonly string[] {
  const begun = word.replace(/(?:-bpfcc|\.bt)$/, "");
  return otherTools.flatMap((tool) => {
    const page = `docs/from-${tool}.md`;
    const [, whose, table = ""] = /^\| with (.*?) \| with strobe \|\n(.*?)\n\n/ms.exec(ownText(page) ?? "") ?? [];
    const rows = table.split("\n").flatMap((row) => {
      const [, theirs, ours] = /^\| (.*?) \| (.*) \|$/.exec(row) ?? [];
      const isAsked = ([, one]: RegExpMatchArray): boolean =>
        begun === tool || one === begun || one.startsWith(`${begun} `);
      return theirs !== undefined && [...theirs.matchAll(/`(.*?)`/g)].some(isAsked)
        ? [`  ${plain(theirs)}\n      ${plain(ours)}\n`]
        : [];
    });
    return rows.length === 0 ? [] : [`${word}: of ${whose}; the same with strobe\n\n${rows.join("")}`];
  });
}

/** A cell of a page: without its marks, and links as where they lead. */
function plain(cell: string): string {
  return cell.replaceAll(/\[.*?\]\((.*?)\)/g, "docs/$1").replaceAll("`", "");
}

/** Of docs/messages.md: by a message's name, or words that it says. */
function ofMessage(word: string): readonly string[] {
  const wanted = word.toLowerCase();
  return (ownText("docs/messages.md") ?? "")
    .split(/^### /m)
    .slice(1)
    .filter((section) => {
      const [name, ...lines] = section.split("\n");
      const said = lines.filter((line) => /(?:error|warning|help): /.test(line)).join("\n");
      return name === word || name.split(".")[1] === word || (wanted.length > 3 && said.toLowerCase().includes(wanted));
    })
    .slice(0, 5)
    .map(
      (section) =>
        `message ${section
          .replace(/^## .*$/ms, "")
          .replaceAll(/^```.*\n/gm, "")
          .trimEnd()}\n`,
    );
}

/** That docs/from-TOOL.md is for. */
const otherTools = ["bcc", "perf", "strace", "ftrace", "bpftrace"];

function names(subcommands: Commands): readonly string[] {
  return [
    ...Object.keys(subcommands),
    ...toolNames(),
    ...Object.values(flags).flatMap((row) => ("long" in row ? [`--${row.long}`] : [])),
    ...builtins().flatMap((spec) => [spec.name, ...spellings(spec).flatMap(([, spelled]) => spelled)]),
    ...allProviders().flatMap(({ name, aliases }) => [name, ...aliases]),
    ...Object.keys(otherWords),
  ];
}
