// What is wrong with a question in SQL (strobe --sql).
import { says, type Message, type Shown } from "./message.ts";

export const sql = {
  /** @tested src/language/sql/sql.test.ts */
  expected: (what: Shown, found: Shown): Message => says("syntax", `expected ${what}, found ${found}`),
  /** @tested src/language/sql/sql.test.ts */
  unknownCast: (name: Shown, near: Shown): Message =>
    says(
      "name",
      `there is no CAST to ${name}`,
      near === "" ? "HEX, SYM, SYM-OFFSET, SYSCALL, EXECNAME, LOG2, BUCKETS=n, _COUNTER_" : `did you mean ${near}?`,
    ),
  /** @tested src/language/sql/sql.test.ts */
  unknownFunction: (name: Shown, near: Shown): Message =>
    says(
      "name",
      `there is no function ${name}`,
      near === "" ? "COUNT(*), SUM, AVG, MIN, MAX, STATS, HIST" : `did you mean ${near}?`,
    ),
  /** @tested src/language/sql/sql.test.ts */
  unknownEvent: (name: Shown, names: Shown): Message =>
    says("name", `${name} is none of the events of this question`, `they are ${names}`),
  /** @tested src/language/sql/sql.test.ts */
  whichEvent: (field: Shown, start: Shown, end: Shown): Message =>
    says("name", `which event's ${field}?`, `write ${start}.${field} or ${end}.${field}`),
  /** @tested src/language/sql/sql.test.ts */
  oneOfEach: (start: Shown, end: Shown): Message =>
    says("syntax", `expected a field of ${start} and a field of ${end}`, "ON says which values of both are the same"),
  /** @tested src/language/sql/sql.test.ts */
  deltaOfJoin: (): Message =>
    says("feature", "a time between two events needs two: FROM one JOIN another ON what they share"),
  /** @tested src/language/sql/sql.test.ts */
  patternEnds: (): Message =>
    says("feature", "a pattern may have `*` at its beginning and its end", '~ "abc*", ~ "*abc*"'),
  /** @tested src/language/sql/sql.test.ts */
  execnameOfThread: (): Message =>
    says("type", "EXECNAME is the name of the thread that is running", "CAST(common_pid AS EXECNAME)"),
};
