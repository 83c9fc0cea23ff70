import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOf, Elf } from "./elf.ts";
import { ElfSymbols } from "./elf-symbols.ts";
import { usdtNotes } from "./usdt-notes.ts";
import { architectures, semaphoresSymbol, stubSymbol, usdtObject, type UsdtParameter } from "./usdt-object.ts";

const i32: UsdtParameter = { size: 4, signed: true, float: false };
const u64: UsdtParameter = { size: 8, signed: false, float: false };
const f64: UsdtParameter = { size: 8, signed: false, float: true };
const stubs = [
  { name: "order", parameters: [i32, u64, f64] },
  { name: "idle", parameters: [] },
  { name: "long", parameters: Array.from({ length: 9 }, () => u64) },
];
const texts = {
  "x86-64": ["-4@%edi 8@%rsi 8f@%rdx", "", "8@%rdi 8@%rsi 8@%rdx 8@%rcx 8@%r8 8@%r9 8@8(%rsp) 8@16(%rsp) 8@24(%rsp)"],
  arm64: ["-4@x0 8@x1 8f@x2", "", "8@x0 8@x1 8@x2 8@x3 8@x4 8@x5 8@x6 8@x7 8@[sp, 0]"],
};

for (const machine of ["x86-64", "arm64"] as const) {
  test(`an object of ${machine}: its probes are read back, each at its stub's first instruction`, () => {
    const bytes = usdtObject(machine, "shop", stubs);
    const elf = new Elf(bytesOf(bytes));
    assert.equal(elf.machine, machine);
    assert.equal(elf.type, 3);
    const symbols = new ElfSymbols(elf, undefined);
    const notes = usdtNotes(elf);
    assert.deepEqual(
      notes.map(({ provider, name, argumentText }) => [provider, name, argumentText]),
      stubs.map(({ name }, i) => ["shop", name, texts[machine][i]]),
    );
    const semaphores = notes.map(({ semaphoreOffset }) => Number(semaphoreOffset));
    for (const [i, note] of notes.entries()) {
      assert.equal(symbols.find(stubSymbol("shop", note.name))?.address, note.address);
      const { stub } = architectures[machine];
      assert.deepEqual(
        Buffer.from(bytes).subarray(Number(note.fileOffset)).subarray(0, stub.length),
        Buffer.from(stub),
      );
      assert.equal(semaphores[i], semaphores[0] + i * 2);
    }
    assert.ok(symbols.find(semaphoresSymbol));
    assert.deepEqual(bytes, usdtObject(machine, "shop", stubs));
  });
}

test("code and semaphores share no page, and file offsets are congruent to addresses", () => {
  for (const machine of ["x86-64", "arm64"] as const) {
    const elf = new Elf(bytesOf(usdtObject(machine, "shop", stubs)));
    const { page } = architectures[machine];
    const [code, data] = elf.segments.filter(({ type }) => type === 1);
    assert.ok(Number(code.address + code.memorySize) <= Math.floor(Number(data.address) / page) * page);
    for (const { address, offset } of [code, data]) assert.equal(Number(address) % page, offset % page);
  }
});

test("the address of semaphores is counted from the code", () => {
  const x86 = Buffer.from(architectures["x86-64"].addressOf(0x1234));
  assert.equal(x86.toString("hex"), "488d052d120000c3");
  // adr x0, #0x12345: immlo 1, immhi 0x48d1.
  const arm = Buffer.from(architectures.arm64.addressOf(0x12345));
  assert.equal(arm.readUInt32LE(0).toString(16), "30091a20");
});
