import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { bytesOf, Elf } from "./elf.ts";
import { ElfSymbols } from "./elf-symbols.ts";
import { functionEnds, partsOf, withoutPadding } from "./function-ends.ts";
import { decode, disassemble, hiddenAt, instructionAt } from "./instructions.ts";
import { uprobeRefusal } from "./uprobe-refusals.ts";

const bytes = (...hex: readonly string[]): Uint8Array =>
  Uint8Array.from(Buffer.from(hex.join("").replaceAll(" ", ""), "hex"));

// push %rbp; mov %rsp,%rbp; mov $0x1122334455667788,%rax; ret
const code = bytes("55 4889e5 48b88877665544332211 c3");

test("every byte belongs to the instruction it is in", () => {
  const starts = Array.from(code, (_, offset) => instructionAt(code, offset));
  assert.deepEqual(starts, [0, 1, 1, 1, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 14]);
  assert.equal(instructionAt(code, code.length), undefined);
});

test("bytes that are no instruction end the search", () => {
  assert.equal(instructionAt(bytes("90 06 90"), 2), undefined);
  assert.deepEqual(decode(bytes("90 06 90")), { instructions: [{ offset: 0, length: 1, flow: "next" }], brokenAt: 1 });
  // Cut off in the middle.
  assert.equal(decode(bytes("90 48b8887766")).brokenAt, 1);
});

test("where control goes", () => {
  const flows = decode(
    bytes(
      "e805000000",
      "7402",
      "eb10",
      "e9f0ffffff",
      "ffe0",
      "ff20",
      "ffd0",
      "c3",
      "f3c3",
      "f2c3",
      "c20800",
      "0f05",
      "cc",
      "0f0b",
      "3effe0",
      "ff24c500000000",
    ),
  ).instructions.map(({ flow, target, table }) => [flow, target ?? table ?? ""].join(" ").trim());
  assert.deepEqual(flows, [
    "call 10",
    "branch 9",
    "jump 25",
    "jump -2",
    "indirect-jump false",
    "indirect-jump false",
    "indirect-call",
    "return",
    "return",
    "return",
    "return",
    "next",
    "trap",
    "trap",
    "indirect-jump true",
    "indirect-jump true",
  ]);
});

test("jumps of a switch are told from jumps through pointers", () => {
  // lea table(%rip),%rdx; movslq (%rdx,%rdi,4),%rax; add %rdx,%rax; jmp *%rax
  const table = decode(bytes("488d1500100000 486304ba 4801d0 ffe0")).instructions.at(-1);
  assert.equal(table?.table, true);
  // mov (%rdi),%rax; jmp *%rax
  assert.equal(decode(bytes("488b07 ffe0")).instructions.at(-1)?.table, false);
});

test("the disassembly reads as the GNU assembler's", () => {
  const lines = disassemble(bytes("55 4889e5 8b0500100000 e8f1ffffff c3"), 0x401000n, (target) =>
    target === 0 ? "f" : undefined,
  );
  assert.deepEqual(
    lines.map(({ offset, text }) => `${offset} ${text}`),
    ["0 push %rbp", "1 mov %rsp, %rbp", "4 mov 0x1000(%rip), %eax", "10 call f", "15 ret"],
  );
});

test("how functions end", () => {
  // je 1f; ret; 1: jmp leaf (far behind); then a cold part that goes back
  const body = { address: 0x1000n, bytes: bytes("7401 c3 e9f8000000 0f8402010000") };
  const cold = { address: 0x1110n, bytes: bytes("e9ebfeffff") };
  assert.deepEqual(partsOf(body, [cold, { address: 0x9000n, bytes: bytes("c3") }]), [cold]);
  assert.deepEqual(functionEnds([body, cold]), {
    returns: [0x1002n],
    tailCalls: [{ at: 0x1003n, to: 0x1100n, conditional: false }],
  });
  // The same jump is a return where the target is a thunk for that.
  assert.deepEqual(
    functionEnds([body, cold], (target) => target === 0x1100n),
    { returns: [0x1002n, 0x1003n], tailCalls: [] },
  );
  assert.deepEqual(
    functionEnds([body]).tailCalls.map(({ to, conditional }) => [to, conditional]),
    [
      [0x1100n, false],
      [0x1110n, true],
    ],
  );
});

test("a jump through a register that a sum was in before is no switch", () => {
  // add %rdx,%rax; mov 0x18(%r8),%rax; test %rax,%rax; jmp *%rax: a call through a table of operations, as vfs_read()
  // ends.
  const ends = (text: string) => functionEnds([{ address: 0n, bytes: bytes(text) }]).tailCalls.length;
  assert.equal(ends("4801d0 498b4018 4885c0 ffe0"), 1);
  assert.equal(ends("498b4018 4801d0 4885c0 ffe0"), 0);
});

test("padding is no part of a function", () => {
  assert.equal(withoutPadding(bytes("31c0 c3 cc cc cc")), 3);
  assert.equal(withoutPadding(bytes("31c0 c3 66662e0f1f840000000000 90")), 3);
  // A call that does not come back, and breakpoints; but a nop that is run is code.
  assert.equal(withoutPadding(bytes("e800000000 cc cc")), 5);
  assert.equal(withoutPadding(bytes("31c0 90")), 3);
});

test("a breakpoint in running code hides an instruction, one behind a return does not", () => {
  assert.equal(hiddenAt(bytes("31c0 c3 cc cc")), undefined);
  assert.equal(hiddenAt(bytes("31c0 cc c089 c3")), 2);
});

test("instructions that a uprobe must not be on, and why", () => {
  const reason = (hex: string): string | undefined => uprobeRefusal(bytes(hex))?.reason;
  for (const fine of [
    "55",
    "c3",
    "f3c3",
    "f2c3",
    "8b0500100000",
    "64488b042528000000",
    "f30f1efa",
    "c5f9efc0",
    "0fae f0",
    "0f31",
    "e800000000",
    "48ff25 00000000",
    "9d",
  ]) {
    assert.equal(reason(fine), undefined, fine);
  }
  assert.deepEqual(
    [
      "f0ff00",
      "3effe0",
      "2e660f1f840000000000",
      "62f17c48 58c0",
      "cc",
      "0f05",
      "0f0b",
      "f4",
      "666648e800000000",
      "9c",
      "8ed0",
    ].map(reason),
    [
      "the kernel refuses the prefix `lock`",
      "the kernel refuses the prefix `notrack`",
      "the kernel refuses the prefix `cs`",
      "the kernel refuses AVX-512 (EVEX)",
      "it is a breakpoint itself",
      "it calls the kernel, which would return to the wrong place in children",
      "it traps, and the program would be told of the wrong place",
      "it is privileged",
      "the kernel refuses branches with a size prefix",
      "the program would see the processor's trap flag",
      "the kernel refuses what holds back traps",
    ],
  );
  assert.deepEqual(uprobeRefusal(bytes("f3a4")), { reason: "it would fire once for every repetition", mild: true });
});

const missing =
  process.arch !== "x64"
    ? "x86-64 only"
    : spawnSync("objdump", ["--version"]).error
      ? "needs objdump (binutils)"
      : undefined;
const binaries = ["/bin/bash", "/lib/x86_64-linux-gnu/libc.so.6"].filter((path) => existsSync(path));

interface Agreed {
  readonly functions: number;
  readonly instructions: number;
}

/** Compares with a disassembly by objdump, function by function. */
function agreement(elf: Elf, blocks: readonly string[], among?: ReadonlySet<number>): Agreed {
  let functions = 0;
  let instructions = 0;
  for (const block of blocks) {
    const lines = [...block.matchAll(/^ +([0-9a-f]+):\t(.*)$/gm)];
    // Data among the code is not decoded alike, and not what this is about.
    if (lines.length < 2 || lines.some(([, , text]) => text.includes("(bad)"))) continue;
    const start = parseInt(lines[0][1], 16);
    if (among?.has(start) === false) continue;
    const offsets = lines.map(([, address]) => parseInt(address, 16) - start);
    // The last one's length is not told: decoding is to come to where it begins.
    const end = offsets.at(-1)!;
    const code = elf.bytes.read(Number(elf.fileOffset(BigInt(start))), end);
    assert.deepEqual(
      decode(code).instructions.map(({ offset }) => offset),
      offsets.slice(0, -1),
      `at 0x${start.toString(16)}`,
    );
    functions++;
    instructions += lines.length;
  }
  return { functions, instructions };
}

const disassembly = (path: string, ...options: readonly string[]): string[] => {
  const { stdout } = spawnSync("objdump", ["-dw", "--no-show-raw-insn", ...options, path], {
    encoding: "latin1",
    maxBuffer: 1 << 29,
  });
  return stdout.split(/^[0-9a-f]{8,16} <[^\n]*>:\n/m).slice(1);
};

for (const path of binaries) {
  test(`boundaries are objdump's over all of ${path}`, { skip: missing ?? false }, () => {
    const { functions, instructions } = agreement(new Elf(bytesOf(readFileSync(path))), disassembly(path));
    assert.ok(functions > 20 && instructions > 100_000, `${functions} functions, ${instructions} instructions`);
  });
}

/** Places in a large program, and bytes at each. */
const [samples, sampled] = [6, 1 << 18];

test("boundaries are objdump's all over Node", { skip: missing ?? false }, (t) => {
  const elf = new Elf(bytesOf(readFileSync(process.execPath)));
  const text = elf.section(".text")!;
  // Functions that were written in assembly have texts in them.
  const compiled = new Set(
    [...new ElfSymbols(elf)]
      .filter(({ kind, name }) => kind === "function" && name.startsWith("_Z"))
      .map(({ address }) => Number(address)),
  );
  let functions = 0;
  let instructions = 0;
  for (let i = 0; i < samples; i++) {
    const from = text.address + BigInt(Math.floor((text.size / samples) * i));
    const blocks = disassembly(
      process.execPath,
      `--start-address=0x${from.toString(16)}`,
      `--stop-address=0x${(from + BigInt(sampled)).toString(16)}`,
    );
    // The first may begin in the middle of an instruction, and the last end there.
    const found = agreement(elf, blocks.slice(1, -1), compiled);
    functions += found.functions;
    instructions += found.instructions;
  }
  t.diagnostic(`${functions} functions, ${instructions} instructions`);
  assert.ok(functions > 500 && instructions > 100_000, `${functions} functions, ${instructions} instructions`);
});
