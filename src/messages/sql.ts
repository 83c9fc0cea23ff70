// What is wrong with a question in SQL (strobe --sql).
import { says, type Message, type Shown } from "./message.ts";

export const sql = {
  /** @example select nothing */
  expected: (what: Shown, found: Shown): Message => says("syntax", `expected ${what}, found ${found}`),
  /** @example select CAST(common_pid AS NOTHING) from sched_switch */
  unknownCast: (name: Shown, near: Shown): Message =>
    says(
      "name",
      `there is no CAST to ${name}`,
      near === "" ? "HEX, SYM, SYM-OFFSET, SYSCALL, EXECNAME, LOG2, BUCKETS=n, _COUNTER_" : `did you mean ${near}?`,
    ),
  /** @example select nothing(x) from sched_switch */
  unknownFunction: (name: Shown, near: Shown): Message =>
    says(
      "name",
      `there is no function ${name}`,
      near === "" ? "COUNT(*), SUM, AVG, MIN, MAX, STATS, HIST" : `did you mean ${near}?`,
    ),
  /** @example select z.x from sched_switch as a join sched_wakeup as b on a.pid = b.pid */
  unknownEvent: (name: Shown, names: Shown): Message =>
    says("name", `${name} is none of the events of this question`, `they are ${names}`),
  /** @example select x from sched_switch as a join sched_wakeup as b on a.pid = b.pid */
  whichEvent: (field: Shown, start: Shown, end: Shown): Message =>
    says("name", `which event's ${field}?`, `write ${start}.${field} or ${end}.${field}`),
  /** @example select x from sched_switch as a join sched_wakeup as b on a.pid = a.pid */
  oneOfEach: (start: Shown, end: Shown): Message =>
    says("syntax", `expected a field of ${start} and a field of ${end}`, "ON says which values of both are the same"),
  /** @example select TIMESTAMP_DELTA from sched_switch */
  deltaOfJoin: (): Message =>
    says("feature", "a time between two events needs two: FROM one JOIN another ON what they share"),
  /** @example select common_pid from sched_switch where prev_comm ~ "a*b" */
  patternEnds: (): Message =>
    says("feature", "a pattern may have `*` at its beginning and its end", '~ "abc*", ~ "*abc*"'),
  /** @example select CAST(prev_pid AS EXECNAME) from sched_switch */
  execnameOfThread: (): Message =>
    says("type", "EXECNAME is the name of the thread that is running", "CAST(common_pid AS EXECNAME)"),
};
