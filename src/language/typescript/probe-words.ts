// What stands before a handler in the constructor of a probe, and the parts of the probe's name that it means.
import { library } from "../../messages/on-demand.ts";
import type { WordForm } from "../probe-spelling.ts";

export type Word = string | number;

/** The parts that words mean. @throws TypeError or RangeError for words that mean none, in the name of `constructor` */
export function partsOf(form: WordForm, words: readonly Word[], constructor: string): string[] {
  for (const word of words) {
    if (typeof word !== "string" && !(form === "event-and-count" && word === words[1]))
      throw new TypeError(library().takesName(constructor, typeof word).message);
  }
  const [first = "", second = ""] = words;
  switch (form) {
    case "name":
      return `${first}`.split(":");
    case "binary-and-name":
      return [`${first}`, ...`${second}`.split(":")];
    case "rate": {
      const match = /^(\d+)\s*(hz|s|ms|us)$/i.exec(`${first}`);
      if (match === null) throw new RangeError(library().takesRate(constructor, first).message);
      return [match[2].toLowerCase(), match[1]];
    }
    case "event-and-count":
      return [`${first}`, `${second}`];
    case "nothing":
      return [];
  }
}

/** The words that mean these parts; undefined where none do. */
export function wordsOf(form: WordForm, parts: readonly string[]): Word[] | undefined {
  const [first, ...rest] = parts;
  switch (form) {
    case "name":
      return parts.length > 0 ? [parts.join(":")] : undefined;
    case "binary-and-name":
      return rest.length > 0 ? [first, rest.join(":")] : undefined;
    case "rate":
      return rest.length === 1 && /^\d+$/.test(rest[0]) && /^(hz|s|ms|us)$/.test(first) ? [rest[0] + first] : undefined;
    case "event-and-count":
      return /^\d+$/.test(rest[0] ?? "") ? [first, Number(rest[0])] : undefined;
    case "nothing":
      return parts.length === 0 ? [] : undefined;
  }
}
