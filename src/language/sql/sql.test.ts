import assert from "node:assert/strict";
import { test } from "node:test";
import { printTree } from "../print-tree.ts";
import { parse } from "./translate.ts";

/** The tree, or the mistakes with the words they are about. */
function read(text: string): readonly string[] {
  const { program, diagnostics } = parse({ name: "sql", text });
  if (diagnostics.length === 0) return printTree(program).trimEnd().split("\n");
  return diagnostics.map(
    ({ message, help, span }) =>
      `${text.slice(span.start, span.end)}: ${message}${help === undefined ? "" : ` (${help})`}`,
  );
}

const join = "FROM sched_waking AS start JOIN sched_switch AS end ON start.pid = end.next_pid";

test("what is selected without JOIN are keys, hits and sums", () => {
  assert.deepEqual(
    read(
      "select prev_pid, CAST(prev_prio AS _COUNTER_) from sched.sched_switch where prev_pid > 0 && ! (prev_prio = 3)",
    ),
    [
      "(probe tracepoint:sched:sched_switch",
      "  (when (&& (> (. args prev_pid) 0) (! (== (. args prev_prio) 3))))",
      "  (aggregate count (@hitcount (. args prev_pid)))",
      "  (aggregate sum (@prev_prio (. args prev_pid)) (. args prev_prio)))",
    ],
  );
  assert.deepEqual(read("SELECT file.f_mode, COUNT(*) AS n, HIST(count), COMM FROM kprobe:vfs_read"), [
    "(probe kprobe:vfs_read",
    "  (aggregate count (@n (. (. args file) f_mode) comm))",
    "  (aggregate hist (@count (. (. args file) f_mode) comm) (. args count)))",
  ]);
});

test("a JOIN keeps what is asked of its first event, and takes it away", () => {
  assert.deepEqual(
    read(
      `SELECT start.prio AS was, end.next_comm, TIMESTAMP_DELTA_USECS AS lat ${join}
       WHERE end.next_prio < 100 && start.prio != 3 && end.next_comm ~ "ab*"`,
    ),
    [
      "(probe tracepoint:*:sched_switch",
      '  (when (&& (< (. args next_prio) 100) (== (strncmp (. args next_comm) "ab" 2) 0)))',
      "  (if",
      "    (has_key @start (. args next_pid))",
      "    (do",
      "      (let $start (@start (. args next_pid)))",
      "      (discard (delete @start (. args next_pid)))",
      "      (discard",
      "        (print",
      "          (record (was (. $start 0)) (next_comm (. args next_comm)) (lat (- (/ nsecs 1000) (. $start 1)))))))))",
      "(probe tracepoint:*:sched_waking",
      "  (when (!= (. args prio) 3))",
      "  (= (@start (. args pid)) (tuple (. args prio) (/ nsecs 1000) 1)))",
      "(probe end",
      "  (discard (clear @start)))",
    ],
  );
});

test("mistakes are told at their places", () => {
  const wrong: Readonly<Record<string, string>> = {
    "SELECT pid, FROM sched_waking": "FROM: expected a field, found `FROM`",
    "SELECT pid FROM": ": expected an event, found the end",
    "SELECT pid FROM a b c": "c: expected `JOIN`, `WHERE` or the end, found `c`",
    "SELECT pid FROM a JOIN b ON a.x b.x": "b: expected `=`, found `b`",
    "SELECT CAST(pid AS SYSCAL) FROM a": "CAST(pid AS SYSCAL): there is no CAST to SYSCAL (did you mean SYSCALL?)",
    "SELECT CAST(pid AS EXECNAME) FROM a":
      "CAST(pid AS EXECNAME): EXECNAME is the name of the thread that is running (CAST(common_pid AS EXECNAME))",
    "SELECT COUNTT(pid) FROM a": "COUNTT(pid): there is no function COUNTT (did you mean COUNT?)",
    "SELECT TIMESTAMP_DELTA FROM a":
      "TIMESTAMP_DELTA: a time between two events needs two: FROM one JOIN another ON what they share",
    'SELECT pid FROM a WHERE comm ~ "a*b"':
      '"a*b": a pattern may have `*` at its beginning and its end (~ "abc*", ~ "*abc*")',
    [`SELECT prio ${join}`]: "prio: which event's prio? (write start.prio or end.prio)",
    [`SELECT stop.prio ${join}`]: "stop: stop is none of the events of this question (they are start and end)",
    "SELECT a.x FROM a JOIN b ON a.x = a.y":
      "a.x = a.y: expected a field of a and a field of b (ON says which values of both are the same)",
    [`SELECT ${"(".repeat(200)}`]: "(: expected something less nested, found `(`",
  };
  for (const [text, said] of Object.entries(wrong)) assert.deepEqual(read(text), [said]);
});
