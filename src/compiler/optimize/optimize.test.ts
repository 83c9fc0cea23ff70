import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instruction, IrBlock, IrFunction, Place, Terminator } from "../ir/ir.ts";
import { printFunction } from "../ir/print-ir.ts";
import { validateFunction } from "../../../test/support/validate-ir.ts";
import { shareSubexpressions } from "./common-subexpressions.ts";
import { dropDeadCode } from "./dead-code.ts";
import { foldBinary, foldCompare } from "./fold.ts";

const done: Terminator = { op: "return" };
const constant = (result: number, value: bigint): Instruction => ({ op: "constant", result, value });
const add = (result: number, left: number, right: number): Instruction => ({
  op: "binary",
  kind: "add",
  result,
  left,
  right,
});
const emit = (...values: number[]): Instruction => ({
  op: "emit",
  schema: 0,
  fields: values.map((value) => ({ kind: "value", value, width: 8 })),
});
const block = (instructions: Instruction[], terminator: Terminator = done, parameters: number[] = []): IrBlock => ({
  parameters,
  instructions,
  terminator,
});

function fn(...blocks: IrBlock[]): IrFunction {
  return {
    name: "f",
    kind: "handler",
    placement: "kernel",
    matches: [],
    values: Array.from({ length: 20 }, () => ({})),
    slots: [],
    blocks,
  };
}

/** What a pass makes of a function, without the heading line; both sides must be valid. */
function after(pass: (fn: IrFunction) => IrFunction, before: IrFunction): string[] {
  assert.deepEqual(validateFunction(before), []);
  const made = pass(before);
  assert.deepEqual(validateFunction(made), []);
  return printFunction(made)
    .split("\n")
    .slice(1)
    .map((line) => line.trim());
}

test("constants are folded as the kernel computes them", () => {
  assert.equal(foldBinary("udiv", -1n, 2n), 0x7fff_ffff_ffff_ffffn);
  assert.equal(foldBinary("sdiv", -7n, 2n), -3n);
  assert.equal(foldBinary("sdiv", 7n, 0n), 0n);
  assert.equal(foldBinary("smod", 7n, 0n), 7n);
  assert.equal(foldBinary("add", 0x7fff_ffff_ffff_ffffn, 1n), -0x8000_0000_0000_0000n);
  assert.equal(foldBinary("shl", 1n, 65n), 2n);
  assert.equal(foldCompare("ult", -1n, 1n), 0n);
  assert.equal(foldCompare("slt", -1n, 1n), 1n);
});

test("equal computations are shared below what dominates them, clocks are not", () => {
  const cpu = (result: number): Instruction => ({ op: "builtin", result, name: "cpu" });
  const clock = (result: number): Instruction => ({ op: "builtin", result, name: "nsecs-boot" });
  const before = fn(
    block([cpu(0), clock(1), clock(2)], { op: "branch", condition: 0, then: 1, otherwise: 2 }),
    block([cpu(3), add(4, 3, 1), emit(4, 2)]),
    block([add(5, 0, 1), emit(5)]),
  );
  assert.deepEqual(after(shareSubexpressions, before), [
    "b0:",
    "v0 = cpu",
    "v1 = nsecs-boot",
    "v2 = nsecs-boot",
    "branch v0 ? b1 : b2",
    "b1:",
    "v4 = add v0, v1",
    "emit 0(v4:64, v2:64)",
    "return",
    "b2:",
    "v5 = add v0, v1",
    "emit 0(v5:64)",
    "return",
  ]);
});

test("equal reads are shared until something may have written", () => {
  const read = (result: number): Instruction => ({
    op: "read",
    result,
    space: "user",
    address: 0,
    offset: 8,
    size: 4,
    signed: false,
  });
  const write: Instruction = { op: "write-user", address: 0, from: { kind: "slot", slot: 0, offset: 0 }, size: 4 };
  const before = {
    ...fn(block([constant(0, 64n), read(1), read(2), write, read(3), emit(1, 2, 3)])),
    slots: [{ name: "w", size: 4, align: 8 }],
  };
  assert.deepEqual(after(shareSubexpressions, before).slice(1), [
    "b0:",
    "v0 = 64",
    "v1 = read user v0 + 8 u32",
    "write-user v0 [s0]:4",
    "v3 = read user v0 + 8 u32",
    "emit 0(v1:64, v1:64, v3:64)",
    "return",
  ]);
});

test("parameters that nobody reads go, with what only they are given", () => {
  const before = fn(
    block([constant(0, 1n), constant(1, 2n)], { op: "jump", to: 1, args: [0, 1] }),
    block([], { op: "branch", condition: 2, then: 2, otherwise: 3 }, [2, 3]),
    block([add(4, 3, 0)], { op: "jump", to: 1, args: [2, 4] }),
    block([emit(2)]),
  );
  assert.deepEqual(after(dropDeadCode, before), [
    "b0:",
    "v0 = 1",
    "jump b1(v0)",
    "b1(v2):",
    "branch v2 ? b2 : b3",
    "b2:",
    "jump b1(v2)",
    "b3:",
    "emit 0(v2:64)",
    "return",
  ]);
});

test("what is written into slots that nothing reads goes", () => {
  const slot = (index: number): Place => ({ kind: "slot", slot: index, offset: 0 });
  const before: IrFunction = {
    ...fn(
      block([
        constant(0, 1n),
        { op: "builtin", result: 1, name: "cpu" },
        { op: "store", to: slot(0), value: 1, size: 8 },
        { op: "store", to: slot(1), value: 0, size: 8 },
        { op: "fill", to: slot(2), source: { kind: "copy", from: slot(0), size: 8 } },
        { op: "write-user", address: 0, from: slot(1), size: 8 },
      ]),
    ),
    slots: ["copied", "used", "copy"].map((name) => ({ name, size: 8, align: 8 })),
  };
  assert.deepEqual(after(dropDeadCode, before), [
    'slot s0 "used": 8 bytes',
    "b0:",
    "v0 = 1",
    "store [s0] v0:64",
    "write-user v0 [s0]:8",
    "return",
  ]);
});

test("what has an address is written, and read anew after each write", () => {
  const x: Place = { kind: "slot", slot: 0, offset: 0 };
  const read = (result: number): Instruction => ({
    op: "read",
    result,
    space: "kernel",
    address: 1,
    offset: 0,
    size: 8,
    signed: false,
  });
  const before: IrFunction = {
    ...fn(
      block([
        constant(0, 1n),
        { op: "address-of", result: 1, what: x },
        { op: "store", to: x, value: 0, size: 8 },
        read(2),
        read(3),
        { op: "store", to: x, value: 2, size: 8 },
        read(4),
        emit(3, 4),
      ]),
    ),
    slots: [{ name: "x", size: 8, align: 8 }],
  };
  const shared = shareSubexpressions(before);
  assert.deepEqual(after(dropDeadCode, shared).slice(1), [
    "b0:",
    "v0 = 1",
    "v1 = address-of [s0]",
    "store [s0] v0:64",
    "v2 = read kernel v1 + 0 u64",
    "store [s0] v2:64",
    "v4 = read kernel v1 + 0 u64",
    "emit 0(v2:64, v4:64)",
    "return",
  ]);
});

test("slots that hold the same are one, and an entry is looked up once", () => {
  const key = (slot: number): Place => ({ kind: "slot", slot, offset: 0 });
  const look = (result: number, slot: number): Instruction => ({ op: "map-lookup", result, map: 0, key: key(slot) });
  const store = (slot: number, value: number): Instruction => ({ op: "store", to: key(slot), value, size: 8 });
  const change: Instruction = { op: "map-delete", map: 0, key: key(1) };
  const before: IrFunction = {
    ...fn(
      block([constant(0, 1n), constant(1, 2n), store(0, 0), look(2, 0)], {
        op: "branch",
        condition: 2,
        then: 1,
        otherwise: 2,
      }),
      block([store(1, 0), look(3, 1), emit(3)], { op: "jump", to: 3, args: [] }),
      block([store(1, 1), look(4, 1), emit(4)], { op: "jump", to: 3, args: [] }),
      // What s1 holds here depends on the way.
      block([look(5, 1), look(6, 0), change, look(7, 0), emit(5, 6, 7)]),
    ),
    slots: [
      { name: "a", size: 8, align: 8 },
      { name: "b", size: 8, align: 8 },
    ],
  };
  assert.deepEqual(after(shareSubexpressions, before).slice(2), [
    "b0:",
    "v0 = 1",
    "v1 = 2",
    "store [s0] v0:64",
    "v2 = map-lookup map 0[s0]",
    "branch v2 ? b1 : b2",
    "b1:",
    "store [s1] v0:64",
    "emit 0(v2:64)",
    "jump b3",
    "b2:",
    "store [s1] v1:64",
    "v4 = map-lookup map 0[s1]",
    "emit 0(v4:64)",
    "jump b3",
    "b3:",
    "v5 = map-lookup map 0[s1]",
    "map-delete map 0[s1]",
    "v7 = map-lookup map 0[s0]",
    "emit 0(v5:64, v2:64, v7:64)",
    "return",
  ]);
});

test("in a loop nothing is taken from the round before", () => {
  const key: Place = { kind: "slot", slot: 0, offset: 0 };
  const look = (result: number): Instruction => ({ op: "map-lookup", result, map: 0, key });
  const add1: Instruction = { op: "map-add", map: 0, key, value: 0 };
  const before: IrFunction = {
    ...fn(
      block([constant(0, 1n), { op: "store", to: key, value: 0, size: 8 }, look(1)], { op: "jump", to: 1, args: [] }),
      block([look(2), look(3)], { op: "branch", condition: 2, then: 2, otherwise: 3 }),
      block([add1], { op: "jump", to: 1, args: [] }),
      block([emit(1, 3)]),
    ),
    slots: [{ name: "key", size: 8, align: 8 }],
  };
  assert.deepEqual(
    after(shareSubexpressions, before)
      .slice(1)
      .filter((line) => line.includes("lookup") || line.startsWith("emit")),
    ["v1 = map-lookup map 0[s0]", "v2 = map-lookup map 0[s0]", "emit 0(v1:64, v2:64)"],
  );
});

test("unused results and slots go, effects stay", () => {
  const before: IrFunction = {
    ...fn(block([constant(0, 1n), add(1, 0, 0), { op: "map-add", map: 0, value: 0, result: 2 }])),
    slots: [{ name: "unused", size: 8, align: 8 }],
  };
  assert.deepEqual(after(dropDeadCode, before), ["b0:", "v0 = 1", "v2 = map-add map 0 v0", "return"]);
});
