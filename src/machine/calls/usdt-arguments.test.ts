import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuSeconds } from "../../../test/support/cpu-time.ts";
import type { Machine } from "../contexts/registers.ts";
import { parseUsdtArguments, type SymbolPlaces } from "./usdt-arguments.ts";
import { Failure } from "../../base/failure.ts";

const moving: SymbolPlaces = {
  distance: (symbol) => (symbol === "counter" ? 0x2000n : undefined),
  address: () => undefined,
};
const fixed: SymbolPlaces = { ...moving, address: (symbol) => (symbol === "table" ? 0x404000n : undefined) };

const values = (text: string, machine: Machine = "x86-64", places = moving): unknown[] =>
  parseUsdtArguments(text, machine, places).map(({ value }) => (value instanceof Failure ? value.reason : value));
const register = (offset: number): object => ({ kind: "context", offset, size: 8, signed: false });
const narrow = (of: object, size: number, signed: boolean): object => ({ kind: "narrow", of, size, signed });
const memory = (base: object, offset: number, size: number, signed: boolean, more: object = {}): object => ({
  kind: "pointed",
  base,
  ...more,
  offset,
  size,
  signed,
  space: "user",
});

// Offsets in struct pt_regs: r15 0, r14 8, r13 16, r12 24, bp 32, bx 40, r11 48, r10 56, r9 64, r8 72, ax 80, cx 88, dx
// 96, si 104, di 112, ip 128, sp 152.
const x86Registers: Readonly<Record<string, readonly [offset: number, names: string]>> = {
  ax: [80, "rax eax ax al"],
  bx: [40, "rbx ebx bx bl"],
  cx: [88, "rcx ecx cx cl"],
  dx: [96, "rdx edx dx dl"],
  si: [104, "rsi esi si sil"],
  di: [112, "rdi edi di dil"],
  bp: [32, "rbp ebp bp bpl"],
  sp: [152, "rsp esp sp spl"],
  r8: [72, "r8 r8d r8w r8b"],
  r9: [64, "r9 r9d r9w r9b"],
  r10: [56, "r10 r10d r10w r10b"],
  r11: [48, "r11 r11d r11w r11b"],
  r12: [24, "r12 r12d r12w r12b"],
  r13: [16, "r13 r13d r13w r13b"],
  r14: [8, "r14 r14d r14w r14b"],
  r15: [0, "r15 r15d r15w r15b"],
};

test("x86-64: each register by each of its names, at each width and sign", () => {
  for (const [offset, names] of Object.values(x86Registers)) {
    for (const name of names.split(" ")) {
      assert.deepEqual(values(`8@%${name} -8@%${name}`), [register(offset), register(offset)], name);
      for (const size of [1, 2, 4]) {
        assert.deepEqual(
          values(`${size}@%${name} -${size}@%${name}`),
          [narrow(register(offset), size, false), narrow(register(offset), size, true)],
          name,
        );
      }
    }
  }
});

test("x86-64: the second byte of a register", () => {
  for (const [name, offset] of [
    ["ah", 80],
    ["bh", 40],
    ["ch", 88],
    ["dh", 96],
  ] as const) {
    const shifted = { kind: "binary", operator: ">>>", left: register(offset), right: { kind: "constant", value: 8n } };
    assert.deepEqual(values(`-1@%${name}`), [narrow(shifted, 1, true)]);
  }
});

test("constants take the argument's width and sign", () => {
  assert.deepEqual(
    values("-4@$-1 4@$-1 8@$0x10 1@$300 -1@$200 -8@$-9223372036854775808 8@$18446744073709551615"),
    [-1n, 0xffffffffn, 16n, 44n, -56n, -(1n << 63n), (1n << 64n) - 1n].map((value) => ({ kind: "constant", value })),
  );
});

test("x86-64 memory: displacement, base, index and scale", () => {
  const ax = register(80);
  assert.deepEqual(
    values("-4@8(%rbp,%rax,4) 8@-16(%rsp) 8@(%rdx,%rcx) 2@0x10(%r12) 4@(,%rax,8) 1@-1(%rbx, %rax, 2) 8@8+8-4(%rsp)"),
    [
      memory(register(32), 8, 4, true, { index: ax, scale: 4 }),
      memory(register(152), -16, 8, false),
      memory(register(96), 0, 8, false, { index: register(88), scale: 1 }),
      memory(register(24), 16, 2, false),
      memory({ kind: "constant", value: 0n }, 0, 4, false, { index: ax, scale: 8 }),
      memory(register(40), -1, 1, false, { index: ax, scale: 2 }),
      memory(register(152), 12, 8, false),
    ],
  );
});

test("x86-64: symbols are counted from the instruction pointer", () => {
  const expected = (offset: number): object => memory(register(128), offset, 8, true);
  assert.deepEqual(values("-8@counter(%rip) -8@counter+4(%rip) -8@8+counter(%rip) -8@counter-8(%rip)"), [
    expected(0x2000),
    expected(0x2004),
    expected(0x2008),
    expected(0x1ff8),
  ]);
  assert.deepEqual(values("-8@elsewhere+4(%rip)"), ["counted from `elsewhere`, which is not in the symbol table"]);
  assert.deepEqual(
    parseUsdtArguments("8@counter(%rip) 8@8(%rsp)", "x86-64", moving).map(({ bySymbol }) => bySymbol),
    [true, false],
  );
});

test("x86-64: symbols of programs that are loaded where they were linked for", () => {
  const zero = { kind: "constant", value: 0n };
  assert.deepEqual(values("8@$table -4@table+4 4@table(,%rax,4) 8@$table+16", "x86-64", fixed), [
    { kind: "constant", value: 0x404000n },
    memory(zero, 0x404004, 4, true),
    memory(zero, 0x404000, 4, false, { index: register(80), scale: 4 }),
    { kind: "constant", value: 0x404010n },
  ]);
  assert.deepEqual(values("8@$table"), ["counted from `table`, which is not in the symbol table"]);
});

test("floating-point numbers in general registers and memory are read as bits", () => {
  assert.deepEqual(parseUsdtArguments("8f@%rax -4f@-4(%rbp)", "x86-64", moving), [
    { text: "8f@%rax", size: 8, signed: false, float: true, bySymbol: false, value: register(80) },
    {
      text: "-4f@-4(%rbp)",
      size: 4,
      signed: true,
      float: true,
      bySymbol: false,
      value: memory(register(32), -4, 4, true),
    },
  ]);
});

test("what cannot be read keeps its place, and says why", () => {
  const vector = "in a vector register, which a probe cannot read";
  const strange = "in a place that strobe does not know";
  assert.deepEqual(values("8f@%xmm0 8@%rdi 4@%ymm1 8f@%st(1) 8@%fs:counter@tpoff 4@%zf 8@(%rax"), [
    vector,
    register(112),
    vector,
    vector,
    "a variable of each thread's own",
    strange,
    strange,
  ]);
  assert.deepEqual(values("8@d0 4@s31 8@[q1, 8] 4@[x0, #:lo12:counter]", "arm64"), [
    vector,
    vector,
    strange,
    "counted from `:lo12:counter`, of which only the linker knew where it is",
  ]);
  assert.deepEqual(values(""), []);
});

test("operands without a size are as wide as a register", () => {
  assert.deepEqual(values("%rdi 8(%rsp) $7"), [
    register(112),
    memory(register(152), 8, 8, false),
    { kind: "constant", value: 7n },
  ]);
});

test("arm64: registers of both widths", () => {
  for (let i = 0; i <= 30; i++) {
    assert.deepEqual(values(`8@x${i} -4@w${i} 1@w${i}`, "arm64"), [
      register(i * 8),
      narrow(register(i * 8), 4, true),
      narrow(register(i * 8), 1, false),
    ]);
  }
  assert.deepEqual(values("8@sp 8@fp 8@lr 4@wzr 8@xzr", "arm64"), [
    register(248),
    register(232),
    register(240),
    { kind: "constant", value: 0n },
    { kind: "constant", value: 0n },
  ]);
  assert.deepEqual(values("8@x31", "arm64"), ["in a place that strobe does not know"]);
});

test("arm64: constants and memory with spaces inside", () => {
  const indexed = (of: object, scale: number): object => ({ index: of, scale });
  assert.deepEqual(
    values(
      "8@[sp, 16] 4@[x1] -8@[x2, x3, lsl 3] 4@7 -4@#-1 8@[x0, #8] 2@[sp,-4] 1@[x0, x1] 4@[x19, w1, sxtw 2] 4@[x19,w1,uxtw #2] 4@[x0, w1, sxtw]",
      "arm64",
    ),
    [
      memory(register(248), 16, 8, false),
      memory(register(8), 0, 4, false),
      memory(register(16), 0, 8, true, indexed(register(24), 8)),
      { kind: "constant", value: 7n },
      { kind: "constant", value: -1n },
      memory(register(0), 8, 8, false),
      memory(register(248), -4, 2, false),
      memory(register(0), 0, 1, false, indexed(register(8), 1)),
      memory(register(152), 0, 4, false, indexed(narrow(register(8), 4, true), 4)),
      memory(register(152), 0, 4, false, indexed(narrow(register(8), 4, false), 4)),
      memory(register(0), 0, 4, false, indexed(narrow(register(8), 4, true), 1)),
    ],
  );
});

test("arbitrary text neither throws nor hangs", () => {
  const pieces = ["8@", "-4@", "f@", "%rax", "(", ")", "[", "]", ",", " ", "x1", "$", "sym", "+", "-", "1", "@", "%"];
  let seed = 1;
  for (let i = 0; i < 5000; i++) {
    let text = "";
    for (let j = 0; j < 12; j++) text += pieces[(seed = (seed * 48271) % 0x7fffffff) % pieces.length];
    for (const machine of ["x86-64", "arm64"] as const)
      for (const { value } of parseUsdtArguments(text, machine, moving))
        assert.ok(value instanceof Failure ? value.reason.length > 0 : value.kind);
  }
});

test("operands of very many spaces take no longer than others", () => {
  const spaces = " ".repeat(200_000);
  for (const machine of ["x86-64", "arm64"] as const) {
    for (const text of [
      `8@[x1, x2${spaces}(`,
      `8@[x1,${spaces}x2, lsl${spaces}9]`,
      `8@4(${spaces}%rax${spaces},${spaces}9)`,
    ]) {
      const seconds = cpuSeconds(() => {
        for (const { value } of parseUsdtArguments(text, machine, moving)) assert.ok(value instanceof Failure);
      });
      assert.ok(seconds < 5, `${seconds} s`);
    }
  }
});
