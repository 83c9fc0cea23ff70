// The languages that strobe knows, a line each.
import { bpftrace } from "./bpftrace/language.ts";
import { d } from "./d/language.ts";
import type { Language } from "./language.ts";
import { sql } from "./sql/language.ts";
import { systemtap } from "./systemtap/language.ts";
import { typescript } from "./typescript/language.ts";

/** The first is what a script is taken for that nothing tells of. */
export const languages: readonly [Language, ...Language[]] = [bpftrace, systemtap, d, typescript, sql];

/** By its name or an alias. */
export function findLanguage(name: string): Language | undefined {
  return languages.find((one) => one.name === name || one.aliases.includes(name));
}

/** A script's language: by the ending of its file, or the command in its first line. */
export function languageOf(file: string, text = ""): Language {
  const [, line] = /^#![ \t]*(.*)/.exec(text) ?? [];
  const [first, second] = (line ?? "")
    .split(/\s+/)
    .filter((word) => !word.startsWith("-"))
    .map((word) => word.slice(word.lastIndexOf("/") + 1));
  const command = first === "env" ? second : first;
  return (
    languages.find(({ endings }) => endings.some((ending) => file.endsWith(ending))) ??
    languages.find(({ commands }) => command !== undefined && commands.includes(command)) ??
    languages[0]
  );
}
