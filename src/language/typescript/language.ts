import { lazy } from "../../base/lazy.ts";
import type { Language } from "../language.ts";
import { programEndings } from "./endings.ts";
import { typescriptRules } from "./rules.ts";

// Loaded where a script is translated.
const writer = lazy<typeof import("./from-tree/program.ts")>(() => require("./from-tree/program.ts"));

export const typescript: Language = {
  name: "typescript",
  aliases: ["ts", "javascript", "js"],
  title: "TypeScript",
  doc: 'programs in TypeScript or JavaScript whose functions are handlers: `kprobe("f", () => calls.count(comm))`',
  endings: programEndings,
  commands: ["node"],
  rules: typescriptRules,
  translate: (program, probes) => writer().typescriptOf(program, probes),
};
