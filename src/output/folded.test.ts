import assert from "node:assert/strict";
import { test } from "node:test";
import { servicesOf } from "../../test/support/output-fixtures.ts";
import { comm, count, sampledMap, snapshot, stackServices } from "../../test/support/stack-fixtures.ts";
import { foldedLines } from "./folded.ts";

const services = servicesOf();

test("the command, then the program's frames from the outermost on, then the kernel's; equal lines are one", () => {
  assert.deepEqual(foldedLines(sampledMap(), 0, 1, stackServices)?.sort(), [
    "app;main;run;operator: 4",
    "app;main;run;operator:;[unknown]_[k];vfs_read_[k] 5",
  ]);
});

test("what is no stack is a frame, and what is no number no line", () => {
  assert.deepEqual(
    foldedLines(
      snapshot(
        [comm],
        count,
        [["a b"], ["c"]].map((key) => [key, 7n] as const),
      ),
      0,
      1,
      services,
    ),
    ["a b 7", "c 7"],
  );
  assert.deepEqual(foldedLines(snapshot([], count, [[[], 7n]]), 0, 1, services), ["@m 7"]);
  assert.equal(
    foldedLines(
      snapshot([comm], { kind: "aggregate", aggregate: "hist", signed: false, parameters: [0n] }, []),
      0,
      1,
      services,
    ),
    undefined,
  );
});
