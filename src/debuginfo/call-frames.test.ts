import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import * as fc from "fast-check";
import { CallFrames } from "./call-frames.ts";
import { Saved, type FrameState } from "./frame-state.ts";
import { Elf, ElfError, bytesOf } from "./elf.ts";
import { frameExpression } from "./frame-expression.ts";

const readelf = spawnSync("readelf", ["--version"]).status === 0;
const names = [
  "rax",
  "rdx",
  "rcx",
  "rbx",
  "rsi",
  "rdi",
  "rbp",
  "rsp",
  "r8",
  "r9",
  "r10",
  "r11",
  "r12",
  "r13",
  "r14",
  "r15",
  "ra",
];

/** A row as readelf prints it: the CFA, then what is saved where. */
function rowText(state: FrameState): string {
  const cfa =
    state.cfaRegister < 0 ? "exp" : `${names[state.cfaRegister]}${state.cfaOffset < 0 ? "" : "+"}${state.cfaOffset}`;
  const cells = names.flatMap((name, register) => {
    const value = state.values[register];
    switch (state.kinds[register]) {
      case Saved.saved:
        return [`${name}=c${value < 0 ? "" : "+"}${value}`];
      // Of other registers readelf has the same letter for "undefined" and "not mentioned".
      case Saved.undefined:
        return name === "ra" ? ["ra=u"] : [];
      case Saved.register:
        return [`${name}=r${value}`];
      case Saved.savedAt:
        return [`${name}=exp`];
      case Saved.computed:
        return [`${name}=vexp`];
      case Saved.value:
        return [`${name}=v${value < 0 ? "" : "+"}${value}`];
      default:
        return [];
    }
  });
  return [cfa, ...cells].join(" ");
}

function* readelfRows(path: string): Iterable<string> {
  // Its status tells that libc's separate debug file is not installed.
  const { stdout: text } = spawnSync("readelf", ["--debug-dump=frames-interp", path], {
    encoding: "latin1",
    maxBuffer: 1 << 30,
  });
  let columns: string[] | undefined;
  let inFunction = false;
  let end = "";
  for (const line of text.split("\n")) {
    if (/ CIE /.test(line)) inFunction = false;
    const fde = / FDE .*pc=[0-9a-f]+\.\.([0-9a-f]+)/.exec(line);
    if (fde) {
      inFunction = true;
      end = fde[1];
      columns = undefined;
    }
    if (/^\s+LOC\s+CFA/.test(line)) columns = line.trim().split(/\s+/).slice(2);
    else if (inFunction && columns && /^[0-9a-f]{16} /.test(line)) {
      const [low, cfa, ...cells] = line
        .replaceAll(/ \(r\w+\)/g, "")
        .trim()
        .split(/\s+/);
      if (low === end) continue; // a state that holds for nothing
      yield [
        low,
        cfa,
        ...cells.flatMap((cell, i) =>
          cell === "s" || (cell === "u" && columns![i] !== "ra") ? [] : [`${columns![i]}=${cell}`],
        ),
      ].join(" ");
    }
  }
}

for (const path of ["/lib/x86_64-linux-gnu/libc.so.6", "/bin/bash", "/lib64/ld-linux-x86-64.so.2"]) {
  const skip = !readelf ? "needs readelf" : !existsSync(path) ? `needs ${path}` : false;
  test(`the rows of ${path} are readelf's`, { skip }, () => {
    const elf = new Elf(bytesOf(readFileSync(path)));
    const frames = CallFrames.of(elf)!;
    const ours: string[] = [];
    frames.rows((low, _high, state) => ours.push(`${low.toString(16).padStart(16, "0")} ${rowText(state)}`));
    const theirs = [...readelfRows(path)];
    assert.ok(theirs.length > 1000);
    // readelf prints rows that hold for no instruction, and leaves a column out where all are alike; compare as sets of
    // lines.
    const missing = theirs
      .filter((line, i) => !(theirs[i + 1]?.startsWith(line.slice(0, 17)) ?? false))
      .filter((line) => !known(ours).has(line));
    assert.deepEqual(missing, []);
    // The same, asked for one address at a time.
    for (let i = 0; i < ours.length; i += Math.ceil(ours.length / 500)) {
      const address = BigInt(`0x${ours[i].slice(0, 16)}`);
      const row = frames.rowAt(address);
      if (row?.low !== address) continue; // overlapped by another function's entry
      const [, cfa] = ours[i].split(" ");
      assert.equal(row.cfa.kind === "register" ? `${names[row.cfa.register]}+${row.cfa.offset}` : "exp", cfa);
    }
  });
}

const sets = new WeakMap<string[], Set<string>>();
function known(lines: string[]): Set<string> {
  let set = sets.get(lines);
  if (!set) sets.set(lines, (set = new Set(lines)));
  return set;
}

test("the expression of a linker's procedure linkage table", () => {
  // breg7 8, breg16 0, lit15, and, lit11, ge, lit3, shl, plus
  const expression = frameExpression(
    Buffer.from([0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22]),
    undefined,
  );
  assert.ok(expression);
  const run = (e: NonNullable<typeof expression>, registers: readonly bigint[]): bigint => {
    switch (e.kind) {
      case "constant":
        return e.value;
      case "register":
        return registers[e.register];
      case "binary": {
        const left = run(e.left, registers);
        const right = run(e.right, registers);
        switch (e.operator) {
          case "+":
            return BigInt.asUintN(64, left + right);
          case "-":
            return BigInt.asUintN(64, left - right);
          case "&":
            return left & right;
          case "^":
            return left ^ right;
          case "<<":
            return BigInt.asUintN(64, left << right);
          case ">>>":
            return left >> right;
          default:
            throw new Error(e.operator);
        }
      }
      default:
        throw new Error(e.kind);
    }
  };
  const at = (ip: bigint): bigint =>
    run(
      expression,
      Array.from({ length: 17 }, (_, i) => (i === 7 ? 0x1000n : i === 16 ? ip : 0n)),
    );
  assert.deepEqual([at(0x40n), at(0x4an), at(0x4bn), at(0x4fn)], [0x1008n, 0x1008n, 0x1010n, 0x1010n]);
});

test("damaged bytes give an error or nothing", { skip: !existsSync("/bin/true") }, () => {
  const original = readFileSync("/bin/true");
  const clean = new Elf(bytesOf(original));
  const section = clean.section(".eh_frame")!;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(section.size - 1), fc.nat(255)), { minLength: 1, maxLength: 40 }),
      (changes) => {
        const bytes = Buffer.from(original);
        for (const [at, byte] of changes) bytes[section.offset + at] = byte;
        const frames = CallFrames.of(new Elf(bytesOf(bytes)))!;
        let rows = 0;
        frames.rows(() => rows++);
        assert.ok(rows <= section.size);
        for (const { low } of [{ low: section.address }, { low: clean.section(".text")!.address }]) {
          try {
            frames.rowAt(low + 64n);
          } catch (error) {
            assert.ok(error instanceof ElfError, String(error));
          }
        }
      },
    ),
    { numRuns: 100 },
  );
});
