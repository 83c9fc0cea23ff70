import type { Rules } from "../rules.ts";
import { writtenName } from "../written-name.ts";
import { casts } from "./specials.ts";

export const typescriptRules: Rules = {
  language: "typescript",
  spelling: {
    map: writtenName,
    sizedMap: (name, entries) => `${writtenName(name)} = map({ entries: ${entries} })`,
    variable: writtenName,
    cast(type, value) {
      const name = Object.entries(casts).find(([, known]) => known === type)?.[0];
      return name === undefined ? undefined : `${name}(${value === "" ? "…" : value})`;
    },
    builtin: (name) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  },
  advice: {
    wantsText:
      "numbers become text where they are printed: print(`${n}`); emit them beside the text, or make them a key of their own: m.at(text, n)",
    textBehindPointer: "the text behind a pointer is str(pointer)",
  },
  integers: { widths: "64", signed: "unless unsigned", division: "truncates", byZero: "one", literals: "refused" },
  texts: { plusJoins: true, ordered: true },
  maps: {
    integerKeys: "64 bits",
    missing: "zero",
    storingZero: "keeps",
    zeroedExtreme: "none",
    outsideStores: true,
    warnsOfUnused: false,
  },
  variables: { scope: "block" },
  formats: { anyValue: true, signsByType: false, registersAsInt: false },
  // The session hands over all of them, and the library prints those that its caller asks for.
  printsMapsAtEnd: true,
  objectsAreTrue: true,
  writesMemory: false,
  failedRead: "zero",
};
