import { strict as assert } from "node:assert";
import { test } from "node:test";
import { Assembler } from "./assembler.ts";
import { disassemble } from "./disassembler.ts";
import { helperExists, helperName, helpers } from "./helpers.ts";
import { Alu, Atomic, decode, encode, FRAME, invert, Jump, mirror, Pseudo } from "./instruction.ts";

const hex = (code: Uint8Array): string[] =>
  Array.from({ length: code.length / 8 }, (_, i) => Buffer.from(code.subarray(i * 8, i * 8 + 8)).toString("hex"));

test("instructions are the kernel's eight bytes", () => {
  const a = new Assembler();
  a.aluImmediate(Alu.MOV, true, 0, -1);
  a.alu(Alu.ADD, false, 1, 2);
  a.load(4, true, 3, 1, -4);
  a.store(8, FRAME, -8, 6);
  a.storeImmediate(1, FRAME, -9, 7);
  a.atomic(Atomic.FETCH_ADD, 8, 2, 16, 3);
  a.swap(5, 32);
  a.constant64(4, 0x1122_3344_5566_7788n);
  a.alu(Alu.DIV, true, 1, 2, 1);
  a.call(helpers.map_lookup_elem.id);
  a.exit();
  const { code } = a.finish();
  assert.deepEqual(hex(code), [
    "b7000000ffffffff",
    "0c21000000000000",
    "8113fcff00000000",
    "7b6af8ff00000000",
    "720af7ff07000000",
    "db32100001000000",
    "dc05000020000000",
    "1804000088776655",
    "0000000044332211",
    "3f21010000000000",
    "8500000001000000",
    "9500000000000000",
  ]);
  assert.deepEqual(encode(decode(code)), code);
  assert.deepEqual(disassemble(code), [
    "   0: r0 = -1",
    "   1: w1 += w2",
    "   2: r3 = *(s32 *)(r1 - 4)",
    "   3: *(u64 *)(r10 - 8) = r6",
    "   4: *(u8 *)(r10 - 9) = 7",
    "   5: r3 = atomic_fetch_add(*(u64 *)(r2 + 16), r3)",
    "   6: r5 = be32 r5",
    "   7: r4 = 0x1122334455667788 ll",
    "   9: r1 s/= r2",
    "  10: call map_lookup_elem#1",
    "  11: exit",
  ]);
});

test("jumps, functions and patches", () => {
  const a = new Assembler<string>();
  const out = a.label();
  const callback = a.label();
  const again = a.here();
  a.patched(1, Pseudo.MAP_FD, 0, "map");
  a.functionAddress(2, callback);
  a.jumpIfImmediate(Jump.JSGT, true, 0, 5, out);
  a.mayGoto(out);
  a.callFunction(callback);
  a.jump(again);
  a.bind(out);
  a.exit();
  a.bind(callback);
  a.exit();
  const { code, patches } = a.finish();
  assert.deepEqual(patches, [{ instruction: 0, note: "map" }]);
  assert.equal(a.position(callback), 9);
  assert.deepEqual(
    disassemble(code, {
      subprograms: [
        { name: "main", start: 0 },
        { name: "each", start: 9 },
      ],
      notes: new Map([[0, "@m"]]),
    }),
    [
      "main:",
      "  0: r1 = map[@m]",
      "  2: r2 = function[each]",
      "  4: if r0 s> 5 goto 8",
      "  5: may_goto 8",
      "  6: call each",
      "  7: goto 0",
      "  8: exit",
      "each:",
      "  9: exit",
    ],
  );
});

test("jumps that 16 bits cannot reach are widened", () => {
  const a = new Assembler();
  const out = a.label();
  a.jumpIf(Jump.JLT, true, 1, 2, out);
  a.jumpIf(Jump.JSET, true, 1, 2, out);
  a.jump(out);
  for (let i = 0; i < 40000; i++) a.aluImmediate(Alu.MOV, true, 0, i);
  a.bind(out);
  a.exit();
  assert.deepEqual(disassemble(a.finish().code).slice(0, 6), [
    "      0: if r1 >= r2 goto 2",
    "      1: gotol 40006",
    "      2: if r1 & r2 goto 4",
    "      3: goto 5",
    "      4: gotol 40006",
    "      5: gotol 40006",
  ]);
});

test("conditions have opposites and mirrors that are their own inverses", () => {
  for (const condition of [
    Jump.JEQ,
    Jump.JNE,
    Jump.JGT,
    Jump.JGE,
    Jump.JLT,
    Jump.JLE,
    Jump.JSGT,
    Jump.JSGE,
    Jump.JSLT,
    Jump.JSLE,
  ]) {
    const opposite = invert(condition);
    assert.ok(opposite !== undefined && opposite !== condition);
    assert.equal(invert(opposite), condition);
    assert.equal(mirror(mirror(condition)), condition);
  }
});

test("helpers by id and by kernel", () => {
  assert.equal(helperName(131), "ringbuf_reserve");
  assert.equal(helperName(9999), undefined);
  assert.equal(helperExists("loop", [5, 15]), false);
  assert.equal(helperExists("loop", [5, 17]), true);
  assert.equal(helperExists("ktime_get_tai_ns", [6, 0]), false);
});
