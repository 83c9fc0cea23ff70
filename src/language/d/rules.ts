import { lazy } from "../../base/lazy.ts";
import type { Rules } from "../rules.ts";
import { writtenName } from "../written-name.ts";

const messages = lazy<typeof import("../../messages/d-expressions.ts")>(() =>
  require("../../messages/d-expressions.ts"),
);
const probes = lazy<typeof import("./probes.ts")>(() => require("./probes.ts"));

export const dRules: Rules = {
  language: "d",
  spelling: {
    // An aggregation, or a variable of the script.
    map: (name) => (name.endsWith("#0") ? writtenName(name) : `@${name}`),
    variable: writtenName,
    cast: (type, value) => (/^u?int\d+$/.test(type) ? `(${type}_t)${value}` : undefined),
    builtin: (name) => name,
    probe: (name, asked) => probes().spelledProbe(name, asked),
  },
  advice: {
    noMember: (type, name) => messages().dExpressions.noMemberOf(type, name),
    wantsText: "stringof(x) is the text at a pointer",
  },
  integers: { widths: "C", signed: "unless unsigned", division: "truncates", byZero: "fault", literals: "wrap" },
  texts: { plusJoins: false, ordered: true },
  maps: {
    integerKeys: "as typed",
    missing: "zero",
    storingZero: "deletes",
    zeroedExtreme: "farthest",
    outsideStores: false,
    warnsOfUnused: false,
  },
  variables: { scope: "event" },
  formats: { anyValue: true, signsByType: true, registersAsInt: false },
  // Those that no printa() names are: by statements of the script's own (parse.ts).
  printsMapsAtEnd: false,
  objectsAreTrue: false,
  writesMemory: true,
  failedRead: "fault",
};
