import { lazy } from "../../base/lazy.ts";
import type { Language } from "../language.ts";
import { bpftraceRules } from "./rules.ts";
import { scripts } from "../../messages/on-demand.ts";

// Loaded where a script is read, laid out, or edited.
const parser = lazy<typeof import("./parse.ts")>(() => require("./parse.ts"));
const formatter = lazy<typeof import("./format.ts")>(() => require("./format.ts"));
const editing = lazy<typeof import("./editing.ts")>(() => require("./editing.ts"));
const references = lazy<typeof import("./references.ts")>(() => require("./references.ts"));

export const bpftrace: Language = {
  name: "bpftrace",
  aliases: ["bt"],
  title: "bpftrace",
  doc: "bpftrace's language: `kprobe:f /pid == 1/ { @[comm] = count(); }`",
  endings: [".bt"],
  commands: ["bpftrace", "strobe"],
  rules: bpftraceRules,
  parse: (source, given) => parser().parse(source, given),
  format: (source, probes) => formatter().format(source, probes),
  references: {
    headers: [".h"],
    refused: {
      ".bpf.c": (file) => scripts().writtenInC(file),
    },
    of: (source, imported) => references().referencesOf(source, imported),
  },
  editing: () => editing().editing,
};
