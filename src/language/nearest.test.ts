import assert from "node:assert/strict";
import { test } from "node:test";
import { nearest } from "./nearest.ts";

test("nearest names: swaps, missing letters, case, prefixes", () => {
  const names = [
    "sched_switch",
    "sched_wakeup",
    "sched_waking",
    "sys_enter_openat",
    "sys_enter_open",
    "pid",
    "ppid",
    "comm",
  ];
  assert.deepEqual(nearest("shced_switch", names), ["sched_switch"]);
  assert.deepEqual(nearest("sched_wakup", names), ["sched_wakeup", "sched_waking"]);
  assert.deepEqual(nearest("sys_enter_op", names), ["sys_enter_open", "sys_enter_openat"]);
  assert.deepEqual(nearest("PID", names), ["pid", "ppid"]);
  assert.deepEqual(nearest("com", names, 1), ["comm"]);
  assert.deepEqual(nearest("zebra", names), []);
});

test("the name itself and duplicates are not suggested", () => {
  assert.deepEqual(nearest("count", ["count", "counts", "counts"]), ["counts"]);
});
