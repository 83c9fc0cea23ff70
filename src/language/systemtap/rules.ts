import { lazy } from "../../base/lazy.ts";
import type { Rules } from "../rules.ts";
import { writtenName } from "../written-name.ts";

// Loaded where probes are found.
const names = lazy<typeof import("./probe-names.ts")>(() => require("./probe-names.ts"));

// Loaded where a handler can fail.
const faults = lazy<typeof import("./faults.ts")>(() => require("./faults.ts"));

export const systemtapRules: Rules = {
  language: "systemtap",
  spelling: {
    map: writtenName,
    sizedMap: (name, entries) => `global ${writtenName(name)}[${entries}]`,
    variable: writtenName,
    cast: () => undefined,
    builtin: (name) => name,
    sources: true,
    probe: (name, asked, source) => names().spelledProbe(name, asked, source),
  },
  advice: {},
  integers: { widths: "64", signed: "all", division: "truncates", byZero: "fault", literals: "wrap" },
  texts: { plusJoins: false, ordered: true, named: true },
  maps: {
    integerKeys: "64 bits",
    missing: "zero",
    storingZero: "keeps",
    zeroedExtreme: "none",
    outsideStores: false,
    warnsOfUnused: false,
  },
  variables: { scope: "handler" },
  formats: { anyValue: false, signsByType: false, registersAsInt: false },
  // Those that nothing reads are: by a probe of the script's own (autoprint.ts).
  printsMapsAtEnd: false,
  objectsAreTrue: false,
  arraysAreAddresses: true,
  writesMemory: false,
  // As SystemTap, which asks for guru mode (-g) where memory is written and where processes get signals.
  trusted: ["system"],
  failedRead: "fault",
  faults: {
    words: (fault) => faults().words(fault),
    told: (words, places, probe) => faults().told(words, places, probe),
  },
  mistakes: { head: (one) => faults().mistake(one), margin: "        source: " },
  bareMessages: true,
};
