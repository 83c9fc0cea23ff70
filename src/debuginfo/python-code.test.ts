import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { lineOfInstruction, pythonBytes, pythonText } from "./python-code.ts";

function text(kind: 1 | 2 | 4, ascii: boolean, characters: Buffer, length: number, begin: number): Buffer {
  const bytes = Buffer.alloc(begin + characters.length);
  bytes.writeBigInt64LE(BigInt(length), 16);
  bytes.writeUInt32LE((kind << 2) | (1 << 5) | (ascii ? 1 << 6 : 0), 32);
  characters.copy(bytes, begin);
  return bytes;
}

test("texts of every width, and those that were cut", () => {
  assert.equal(pythonText(text(1, true, Buffer.from("fib"), 3, 48), 11), "fib");
  assert.equal(pythonText(text(1, true, Buffer.from("fib"), 3, 40), 12), "fib");
  assert.equal(pythonText(text(1, false, Buffer.from("größe", "latin1"), 5, 72), 11), "größe");
  assert.equal(pythonText(text(2, false, Buffer.from("名前", "utf16le"), 2, 56), 13), "名前");
  assert.equal(
    pythonText(text(4, false, Buffer.from(Uint32Array.of(0x1f600, 0xffffffff).buffer), 2, 56), 14),
    "\u{1f600}\ufffd",
  );
  assert.equal(pythonText(text(1, true, Buffer.from("fib"), 4, 48), 11), "fib..");
  assert.equal(pythonText(text(1, true, Buffer.from("fib\0\0"), 5, 48), 11), "fib..");
  assert.equal(pythonText(text(1, true, Buffer.from("a\x1b\n"), 3, 48), 11), "a\\x1b\\x0a");
  assert.equal(pythonText(Buffer.alloc(100), 11), undefined);
  assert.equal(pythonText(text(1, true, Buffer.from("x"), -1, 48), 11), undefined);
});

const python =
  spawnSync("python3", ["-c", "import sys; print(sys.version_info >= (3, 11))"], {
    encoding: "utf8",
  }).stdout?.trim() === "True";

test(
  "lines of all instructions of Python's own library are Python's",
  { skip: !python && "needs Python 3.11 or later" },
  () => {
    const { stdout } = spawnSync(
      "python3",
      [
        "-c",
        `
import argparse, asyncio.base_events, decimal, _pydecimal, inspect, typing, types
def walk(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType): yield from walk(constant)
for module in argparse, asyncio.base_events, _pydecimal, inspect, typing:
    for code in walk(compile(open(module.__file__).read(), module.__file__, "exec")):
        lines = [position[0] or 0 for position in code.co_positions()]
        print(code.co_firstlineno, code.co_linetable.hex(), *lines)
`,
      ],
      { encoding: "utf8", maxBuffer: 1 << 28 },
    );
    let instructions = 0;
    for (const row of stdout.trim().split("\n")) {
      const [first, hex = "", ...lines] = row.split(" ");
      const table = Buffer.from(hex, "hex");
      lines.forEach((line, i) => assert.equal(lineOfInstruction(table, Number(first), i) ?? 0, Number(line)));
      assert.equal(lineOfInstruction(table, Number(first), lines.length), undefined);
      instructions += lines.length;
    }
    assert.ok(instructions > 50_000, `${instructions} instructions`);
  },
);

test("tables that end early or are no tables give no line, and end", () => {
  assert.equal(lineOfInstruction(Buffer.alloc(0), 1, 0), undefined);
  assert.equal(lineOfInstruction(Buffer.alloc(64), 1, 0), undefined);
  assert.equal(lineOfInstruction(Buffer.alloc(4096, 0xff), 1, 1e9), undefined);
  assert.equal(lineOfInstruction(Buffer.of(0xe8 | 7), 1, 3), undefined);
  assert.equal(pythonBytes(Buffer.alloc(64, 0xff)).length, 0);
});
