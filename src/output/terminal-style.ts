// How output looks to a person at a terminal. Into pipes and files, everything is as bpftrace prints it.
import { decorates } from "../linux/ffi.ts";

export interface TerminalStyle {
  readonly color: boolean;
  /** Bars of block elements, columns as wide as what is in them. */
  readonly unicode: boolean;
}

/** What a descriptor's output is given. `ascii`: no characters but ASCII's are wanted. */
export function styleOf(terminal: boolean, ascii: boolean): TerminalStyle {
  const decorated = terminal && decorates();
  const { LC_ALL, LC_CTYPE, LANG } = process.env;
  return { color: decorated, unicode: decorated && !ascii && /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || "") };
}

/** SGR parameters (ECMA-48) by what they stand for. */
const meanings = { name: "36", stamp: "2", warning: "33", error: "31" } as const;
export type Meaning = keyof typeof meanings;

export const inColor = (meaning: Meaning, text: string): string => `${startOf(meaning)}${text}${endOfColor}`;
export const startOf = (meaning: Meaning): string => `\x1b[${meanings[meaning]}m`;
export const endOfColor = "\x1b[0m";
