import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { atEntry } from "./entry-locations.ts";
import { decode } from "./instructions.ts";
import { framesIn, type Frame } from "./prologue.ts";

/** The frame behind all of some code. */
function behind(code: readonly number[]): Frame {
  let last: Frame | undefined;
  let at = 0;
  for (const { offset, frame } of framesIn(Uint8Array.from(code))) [last, at] = [frame, offset];
  assert.equal(at, code.length, "all of it is known");
  return last!;
}

const memory = (register: number, by: bigint) =>
  ({
    kind: "memory",
    address: {
      kind: "binary",
      operator: "+",
      left: { kind: "register", register },
      right: { kind: "constant", value: by },
    },
  }) as const;

test("what a prologue stores was where it came from", () => {
  // push %rbx; sub $0x20,%rsp; mov %rdx,%rbx; mov %edi,0xc(%rsp); mov %rsi,0x10(%rsp); mov 0x30(%rsp),%rax; mov
  // %rax,0x18(%rsp)
  const frame = behind([
    0x53, 0x48, 0x83, 0xec, 0x20, 0x48, 0x89, 0xd3, 0x89, 0x7c, 0x24, 0x0c, 0x48, 0x89, 0x74, 0x24, 0x10, 0x48, 0x8b,
    0x44, 0x24, 0x30, 0x48, 0x89, 0x44, 0x24, 0x18,
  ]);
  assert.deepEqual(atEntry(memory(7, 12n), 4, frame), { kind: "register", register: 5 });
  assert.deepEqual(atEntry(memory(7, 16n), 8, frame), { kind: "register", register: 4 });
  assert.deepEqual(atEntry({ kind: "register", register: 3 }, 8, frame), { kind: "register", register: 1 });
  assert.deepEqual(
    atEntry(memory(7, 24n), 8, frame),
    memory(7, 8n),
    "the first word that the caller left on the stack",
  );
  assert.equal(atEntry(memory(7, 0n), 8, frame), undefined, "nothing was stored there");
  assert.deepEqual(atEntry(memory(3, 4n), 4, frame), memory(1, 4n), "behind a pointer that another register had");
  assert.deepEqual(atEntry(memory(7, 12n), 12, frame)?.kind, "pieces");
});

test("what was computed on the way was nowhere", () => {
  // push %rbp; mov %rsp,%rbp; add $0x6,%rdi; mov %rdi,-0x8(%rbp); xor %esi,%esi; mov %esi,-0xc(%rbp); movss
  // %xmm0,-0x10(%rbp)
  const frame = behind([
    0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xc7, 0x06, 0x48, 0x89, 0x7d, 0xf8, 0x31, 0xf6, 0x89, 0x75, 0xf4, 0xf3, 0x0f,
    0x11, 0x45, 0xf0,
  ]);
  assert.equal(atEntry(memory(6, -8n), 8, frame), undefined);
  assert.equal(atEntry(memory(6, -12n), 4, frame), undefined);
  assert.deepEqual(atEntry(memory(6, -16n), 4, frame), { kind: "register", register: 17 }, "a vector register");
});

test("control is followed in a straight line, and only through instructions that are known", () => {
  assert.deepEqual(
    [...framesIn(Uint8Array.of(0x55, 0xe8, 0, 0, 0, 0, 0x90))].map(({ offset }) => offset),
    [1],
    "not behind a call",
  );
  assert.deepEqual(
    [...framesIn(Uint8Array.of(0x90, 0xc5, 0xf8, 0x77))].map(({ offset }) => offset),
    [1],
    "vzeroupper",
  );
  assert.deepEqual([...framesIn(Uint8Array.of(0x48, 0x89))], [], "cut off");
});

test("instructions are as long as a whole decoder finds them", () => {
  // Any code will do: this one's own.
  const code = readFileSync(process.execPath).subarray(1 << 24, (1 << 24) + (1 << 16));
  let compared = 0;
  for (let at = 0; at < code.length; at += 7) {
    const [first] = framesIn(code.subarray(at, at + 15));
    if (first === undefined) continue;
    const [instruction] = decode(code.subarray(at, at + 15)).instructions;
    // Not every sum of bytes is an instruction.
    if (instruction === undefined) continue;
    assert.equal(
      first.offset,
      instruction.length,
      `at ${at}: ${Buffer.from(code.subarray(at, at + 15)).toString("hex")}`,
    );
    compared++;
  }
  assert.ok(compared > 1000, `${compared}`);
});
