// Scripts in D: words and clauses, in DTrace's words and with its tags.
import { says, tagged, type Message } from "./message.ts";

export const dSyntax = {
  /** @example { exit(0); } */
  near: (found: string, expected: string): Message =>
    tagged("D_SYNTAX", "syntax", `syntax error near ${found}`, `expected ${expected}`),
  /** @example BEGIN { /* x } */
  unreadable: (problem: string, tag = "D_SYNTAX"): Message => tagged(tag, "syntax", problem),
  /** Of an empty script. */
  noClauses: (): Message => tagged("D_EMPTY", "syntax", "empty D program translation unit"),
  /** @example BEGIN // { exit(0); } */
  noActions: (): Message =>
    tagged("D_SYNTAX", "syntax", "expected predicate and/or actions following probe description"),
  /** @example BEGIN /1/ /1/ { exit(0); } */
  noActionsBehindPredicate: (): Message =>
    tagged("D_SYNTAX", "syntax", "expected actions { } following probe description and predicate"),
  /**
   * @example
   * BEGIN /"x"/ { exit(1); }
   * BEGIN { exit(0); }
   */
  predicateType: (): Message => tagged("D_PRED_SCALAR", "type", "predicate result must be of scalar type"),
  /** @example BEGIN { break; } */
  controlFlow: (word: string): Message =>
    tagged(
      "D_SYNTAX",
      "syntax",
      `syntax error near "${word}"`,
      "D has no loops: use probes that fire again, as tick-1s",
    ),
  /** @example BEGIN { x = ⟨( × 300⟩1⟨) × 300⟩; } */
  nestedTooDeeply: (): Message => says("limit", "nesting is too deep", "use variables"),
  /** @example BEGIN { trace(1); commit(1); } */
  notBehind: (tag: string, message: string): Message => tagged(tag, "placement", message),
} as const;
