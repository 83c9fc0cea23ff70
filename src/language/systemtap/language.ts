import { lazy } from "../../base/lazy.ts";
import type { Language } from "../language.ts";
import { systemtapRules } from "./rules.ts";

// Loaded where a script is read, laid out, or edited.
const parser = lazy<typeof import("./parse.ts")>(() => require("./parse.ts"));
const editing = lazy<typeof import("./editing.ts")>(() => require("./editing.ts"));
const formatter = lazy<typeof import("./format.ts")>(() => require("./format.ts"));

export const systemtap: Language = {
  name: "systemtap",
  aliases: ["stap", "stp"],
  title: "SystemTap",
  doc: 'SystemTap\'s language: `probe kernel.trace("sched_switch") { n[execname()]++ }`',
  endings: [".stp"],
  commands: ["stap"],
  rules: systemtapRules,
  output: "stap",
  parse: (source, given) => parser().parse(source, given),
  format: (source) => formatter().format(source),
  editing: () => editing().editing,
};
