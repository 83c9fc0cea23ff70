import assert from "node:assert/strict";
import { test } from "node:test";
import { contextOf } from "../../../test/support/ir-builder.ts";
import type { ProgramType } from "../../language/context.ts";
import type { IrFunction } from "../ir/ir.ts";
import { interruptedMaps } from "./interrupted-maps.ts";

/** A handler that adds to the maps of these numbers. */
function handler(type: ProgramType, ...maps: readonly number[]): IrFunction {
  return {
    name: "f",
    kind: "handler",
    placement: "kernel",
    context: contextOf(type),
    matches: [],
    values: [],
    slots: [],
    blocks: [
      {
        parameters: [],
        instructions: maps.map((map) => ({ op: "aggregate", map })),
        terminator: { op: "return" },
      },
    ],
  };
}

function interrupted(...functions: readonly IrFunction[]): readonly number[] {
  return [...interruptedMaps({ functions, maps: [], probeNames: [] })];
}

test("handlers that the kernel runs within each other share maps atomically", () => {
  assert.deepEqual(interrupted(handler("raw_tracepoint", 0)), []);
  assert.deepEqual(interrupted(handler("raw_tracepoint", 0), handler("raw_tracepoint", 1)), []);
  assert.deepEqual(interrupted(handler("raw_tracepoint", 0, 1), handler("raw_tracepoint", 1)), [1]);
  assert.deepEqual(interrupted(handler("raw_tracepoint", 0), handler("perf_event", 0, 1)), [0]);
});

test("no program of a perf event runs within another's", () => {
  assert.deepEqual(interrupted(handler("tracepoint", 0), handler("perf_event", 0), handler("tracepoint", 0)), []);
});

test("of a handler at kernel functions there is a program for each", () => {
  assert.deepEqual(interrupted(handler("tracing", 3)), [3]);
});
