import assert from "node:assert/strict";
import { test } from "node:test";
import type { StructType, Type } from "../language/types.ts";
import { argumentsText, registerText } from "./register-values.ts";

const int = { kind: "integer", bits: 32, signed: true } as const;
const size = { kind: "integer", bits: 64, signed: false } as const;
const pointer: Type = { kind: "pointer", target: { kind: "void" }, space: "kernel" };
const struct = (bytes: number): StructType => ({ kind: "struct", union: false, name: "s", size: bytes, members: [] });

test("a register is as wide as its type, and has its sign", () => {
  assert.equal(registerText(int, 0xdead_beef_ffff_fff7n), "-9");
  assert.equal(registerText({ ...int, signed: false, bits: 8 }, 0x1ffn), "255");
  assert.equal(registerText({ kind: "boolean" }, 0x100n), "false");
  assert.equal(registerText({ kind: "boolean" }, 1n), "true");
  assert.equal(registerText(pointer, 0xffff_8880_0000_1000n), "0xffff888000001000");
  const names = new Map([[2n, "TWO"]]);
  assert.equal(registerText({ kind: "enum", name: "e", bits: 32, signed: false, names }, 2n), "TWO");
  assert.equal(registerText({ kind: "enum", name: "e", bits: 32, signed: false, names }, 3n), "3");
  assert.equal(registerText(struct(8), 3n), "?");
});

test("arguments take the registers in their order, and what is in none is not known", () => {
  const registers = BigUint64Array.of(1n, 2n, 3n, 4n, 5n, 6n);
  const all = (...types: Type[]) =>
    argumentsText(
      types.map((type, i) => ({ name: "abcdefgh"[i], type })),
      registers,
    );
  assert.equal(all(pointer, size, int), "a=0x1, b=2, c=3");
  // Two registers, then one; one of three words is in memory, and takes none.
  assert.equal(all(struct(16), int, struct(24), int), "a=?, b=3, c=?, d=4");
  assert.equal(all(int, int, int, int, int, struct(16), int, int), "a=1, b=2, c=3, d=4, e=5, f=?, g=6, h=?");
  assert.equal(all(), "");
});
