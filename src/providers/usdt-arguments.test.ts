import assert from "node:assert/strict";
import { test } from "node:test";
import { parseUsdtArguments } from "./usdt-arguments.ts";

const x86 = (text: string): unknown[] => parseUsdtArguments(text, "x86-64", (symbol) => (symbol === "counter" ? 0x2000n : undefined));
const register = (offset: number): object => ({ kind: "context", offset, size: 8, signed: false });

test("registers by any of their names, at their width", () => {
  assert.deepEqual(x86("8@%rdi -4@%esi 1@%r9b 2@%ax"), [
    register(112),
    { kind: "narrow", of: register(104), size: 4, signed: true },
    { kind: "narrow", of: register(64), size: 1, signed: false },
    { kind: "narrow", of: register(80), size: 2, signed: false },
  ]);
});

test("constants take the argument's width and sign", () => {
  assert.deepEqual(x86("-4@$-1 4@$-1 8@$0x10"), [
    { kind: "constant", value: -1n }, { kind: "constant", value: 0xffffffffn }, { kind: "constant", value: 16n },
  ]);
});

test("memory: displacement, base, index and scale", () => {
  assert.deepEqual(x86("-4@8(%rbp,%rax,4) 8@-16(%rsp) 8@(%rdx,%rcx)"), [
    { kind: "pointed", base: register(32), index: register(80), scale: 4, offset: 8, size: 4, signed: true, space: "user" },
    { kind: "pointed", base: register(152), offset: -16, size: 8, signed: false, space: "user" },
    { kind: "pointed", base: register(96), index: register(88), scale: 1, offset: 0, size: 8, signed: false, space: "user" },
  ]);
});

test("symbols are counted from the instruction pointer", () => {
  const expected = (offset: number): object => ({ kind: "pointed", base: register(128), offset, size: 8, signed: true, space: "user" });
  assert.deepEqual(x86("-8@counter(%rip) -8@counter+4(%rip) -8@8+counter(%rip)"), [expected(0x2000), expected(0x2004), expected(0x2008)]);
  assert.deepEqual(x86("-8@elsewhere(%rip)"), [undefined]);
});

test("what cannot be read keeps its place", () => {
  assert.deepEqual(x86("8f@%xmm0 8@%rdi nonsense 4@%xmm1"), [undefined, register(112), undefined]);
  assert.deepEqual(x86(""), []);
});

test("arm64: registers, constants and memory with spaces inside", () => {
  assert.deepEqual(parseUsdtArguments("8@[sp, 16] -4@w0 8@x30 4@[x1] -8@[x2, x3, lsl 3] 4@7", "arm64", () => undefined), [
    { kind: "pointed", base: register(248), offset: 16, size: 8, signed: false, space: "user" },
    { kind: "narrow", of: register(0), size: 4, signed: true },
    register(240),
    { kind: "pointed", base: register(8), offset: 0, size: 4, signed: false, space: "user" },
    { kind: "pointed", base: register(16), index: register(24), scale: 8, offset: 0, size: 8, signed: true, space: "user" },
    { kind: "constant", value: 7n },
  ]);
});
