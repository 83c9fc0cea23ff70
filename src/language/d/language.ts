import { lazy } from "../../base/lazy.ts";
import type { Language } from "../language.ts";
import { dRules } from "./rules.ts";

// Loaded where a script is read, laid out, or edited.
const parser = lazy<typeof import("./parse.ts")>(() => require("./parse.ts"));
const editing = lazy<typeof import("./editing.ts")>(() => require("./editing.ts"));
const formatter = lazy<typeof import("./format.ts")>(() => require("./format.ts"));

export const d: Language = {
  name: "d",
  aliases: ["dtrace"],
  title: "D",
  doc: "DTrace's language: `syscall::write:entry /pid == $target/ { @[execname] = quantize(arg2); }`",
  endings: [".d"],
  commands: ["dtrace"],
  rules: dRules,
  output: "dtrace",
  parse: (source, given) => parser().parse(source, given),
  format: (source) => formatter().format(source),
  editing: () => editing().editing,
};
