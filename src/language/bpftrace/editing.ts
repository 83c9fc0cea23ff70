import type { Editing } from "../language.ts";
import { scan } from "./tokens.ts";

export const editing: Editing = {
  keywords: ["if", "else", "while", "for", "unroll", "let", "return", "break", "continue", "sizeof", "offsetof"],
  declarations: ["config", "fn", "macro", "struct", "enum", "let"],
  sigils: "$@",
  variables: /\$[A-Za-z_]\w*/g,
  maps: /@\w*/g,
  macros: /(?<=^\s*macro\s+)\w+/gm,
  callables: ["fn", "macro"],
  scan,
};
