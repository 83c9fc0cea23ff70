import type { Rules } from "../rules.ts";
import { writtenName } from "../written-name.ts";

export const bpftraceRules: Rules = {
  language: "bpftrace",
  spelling: {
    map: (name) => `@${name}`,
    sizedMap: (name, entries) => `let @${name} = hash(${entries})`,
    variable: (name) => `$${writtenName(name)}`,
    cast: (type, value) => `(${type})${value}`,
    builtin: (name) => name,
    // bpftrace's library, which is in its own language, calls what is built in by this prefix, and so may scripts.
    builtinPrefix: "__builtin_",
  },
  advice: { joinTexts: "join texts with str_concat(first, second)" },
  integers: { widths: "64", signed: "unless unsigned", division: "truncates", byZero: "one", literals: "refused" },
  texts: { plusJoins: false, ordered: false },
  maps: {
    integerKeys: "64 bits",
    missing: "zero",
    storingZero: "keeps",
    zeroedExtreme: "none",
    outsideStores: false,
    warnsOfUnused: true,
  },
  variables: { scope: "block" },
  formats: { anyValue: false, signsByType: false, registersAsInt: true },
  printsMapsAtEnd: true,
  objectsAreTrue: false,
  writesMemory: false,
  failedRead: "zero",
};
