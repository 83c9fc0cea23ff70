import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instruction, IrBlock, IrFunction, Terminator } from "../ir.ts";
import { printFunction } from "../print-ir.ts";
import { validateFunction } from "../validate-ir.ts";
import { shareSubexpressions } from "./common-subexpressions.ts";
import { dropDeadCode } from "./dead-code.ts";
import { foldConstants } from "./fold-constants.ts";
import { foldBinary, foldCompare, foldSwapBytes } from "./fold.ts";
import { simplifyBranches } from "./simplify-branches.ts";
import { dropTrivialParameters } from "./trivial-parameters.ts";

const done: Terminator = { op: "return" };
const constant = (result: number, value: bigint): Instruction => ({ op: "constant", result, value });
const add = (result: number, left: number, right: number): Instruction => ({ op: "binary", kind: "add", result, left, right });
const emit = (...values: number[]): Instruction => ({ op: "emit", schema: 0, fields: values.map((value) => ({ kind: "value", value, width: 8 })) });
const block = (instructions: Instruction[], terminator: Terminator = done, parameters: number[] = []): IrBlock => ({ parameters, instructions, terminator });

function fn(...blocks: IrBlock[]): IrFunction {
  return { name: "f", kind: "handler", placement: "kernel", matches: [], values: Array.from({ length: 20 }, () => ({})), slots: [], blocks };
}

/** What a pass makes of a function, without the heading line; both sides must be valid. */
function after(pass: (fn: IrFunction) => IrFunction, before: IrFunction): string[] {
  assert.deepEqual(validateFunction(before), []);
  const made = pass(before);
  assert.deepEqual(validateFunction(made), []);
  return printFunction(made).split("\n").slice(1).map((line) => line.trim());
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
  assert.equal(foldSwapBytes(0x1234n, 16), 0x3412n);
  assert.deepEqual(after(foldConstants, fn(block([constant(0, 2n), constant(1, 3n), add(2, 0, 1), emit(2)]))), [
    "b0:", "v0 = 2", "v1 = 3", "v2 = 5", "emit 0(v2:64)", "return",
  ]);
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
    "b0:", "v0 = cpu", "v1 = nsecs-boot", "v2 = nsecs-boot", "branch v0 ? b1 : b2",
    "b1:", "v4 = add v0, v1", "emit 0(v4:64, v2:64)", "return",
    "b2:", "v5 = add v0, v1", "emit 0(v5:64)", "return",
  ]);
});

test("equal reads are shared until something may have written", () => {
  const read = (result: number): Instruction => ({ op: "read", result, space: "user", address: 0, offset: 8, size: 4, signed: false });
  const write: Instruction = { op: "write-user", address: 0, from: { kind: "slot", slot: 0, offset: 0 }, size: 4 };
  const before = { ...fn(block([constant(0, 64n), read(1), read(2), write, read(3), emit(1, 2, 3)])), slots: [{ name: "w", size: 4, align: 8 }] };
  assert.deepEqual(after(shareSubexpressions, before).slice(1), [
    "b0:", "v0 = 64", "v1 = read user v0 + 8 u32", "write-user v0 [s0]:4", "v3 = read user v0 + 8 u32", "emit 0(v1:64, v1:64, v3:64)", "return",
  ]);
});

test("decided branches go, and blocks with one way in are joined", () => {
  const before = fn(
    block([constant(0, 0n)], { op: "branch", condition: 0, then: 1, otherwise: 2 }),
    block([emit(0)], { op: "jump", to: 3, args: [] }),
    block([constant(1, 7n)], { op: "jump", to: 4, args: [1] }),
    block([]),
    block([emit(2)], done, [2]),
  );
  assert.deepEqual(after(simplifyBranches, before), ["b0:", "v0 = 0", "v1 = 7", "emit 0(v1:64)", "return"]);
});

test("parameters that are always one value go, those that change in a loop stay", () => {
  const before = fn(
    block([constant(0, 1n), constant(1, 2n)], { op: "jump", to: 1, args: [0, 1] }),
    block([], { op: "branch", condition: 2, then: 2, otherwise: 3 }, [2, 3]),
    block([add(4, 3, 0)], { op: "jump", to: 1, args: [2, 4] }),
    block([emit(2)]),
  );
  assert.deepEqual(after(dropTrivialParameters, before), [
    "b0:", "v0 = 1", "v1 = 2", "jump b1(v1)", "b1(v3):", "branch v0 ? b2 : b3", "b2:", "v4 = add v3, v0", "jump b1(v4)", "b3:", "emit 0(v0:64)", "return",
  ]);
});

test("unused results and slots go, effects stay", () => {
  const before: IrFunction = {
    ...fn(block([
      constant(0, 1n), add(1, 0, 0), { op: "map-add", map: 0, value: 0, result: 2 },
      { op: "store", to: { kind: "slot", slot: 1, offset: 0 }, value: 0, size: 8 },
    ])),
    slots: [{ name: "unused", size: 8, align: 8 }, { name: "used", size: 8, align: 8 }],
  };
  assert.deepEqual(after(dropDeadCode, before), [
    'slot s0 "used": 8 bytes', "b0:", "v0 = 1", "v2 = map-add map 0 v0", "store [s0] v0:64", "return",
  ]);
});
