import assert from "node:assert/strict";
import { test } from "node:test";
import { disassemble } from "../../bpf/disassembler.ts";
import type { Binding } from "../../language/context.ts";
import type { KernelProgram } from "../bpf/bpf-plan.ts";
import { pairReturns } from "./return-pairs.ts";

const exit = [0x95, 0, 0, 0, 0, 0, 0, 0];
/** r1 = map ll; r0 = 0; exit */
const code = new Uint8Array([0x18, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xb7, 0, 0, 0, 0, 0, 0, 0, ...exit]);

function program(
  part: "entry" | "return" | undefined,
  functions: readonly string[],
  more: Partial<KernelProgram> = {},
): KernelProgram {
  const provider = part === "return" ? "kretprobe" : "kprobe";
  const binding: Binding = {
    defaultSpace: "kernel",
    cookie: true,
    ...(part ? { session: { part, attachType: 56 } } : {}),
  };
  return {
    name: `${provider}_${functions.join("_")}`,
    provider,
    type: "kprobe",
    binding,
    code,
    frame: 8,
    subprograms: [],
    sites: functions.map((func) => ({ name: `${provider}:${func}`, func, data: func })),
    cookies: functions.map((_, i) => i + (part === "return" ? 10 : 0)),
    relocations: [{ instruction: 0, kind: "map", map: 3, offset: 0 }],
    ...more,
  };
}

test("entry and return of the same functions are one program, which asks where it is", () => {
  const other = program(undefined, ["a", "b"]);
  const [pair, ...rest] = pairReturns([program("entry", ["a", "b"]), other, program("return", ["a", "b"])]);
  assert.deepEqual(rest, [other]);
  assert.deepEqual(
    disassemble(pair.code).map((line) => line.trim().replace(/^\d+: /, "")),
    [
      "r6 = r1",
      "call kernel function#0",
      "r1 = r6",
      "if r0 != 0 goto 6",
      "call 9",
      "goto 7",
      "call 13",
      "r0 = 0",
      "exit",
      "r1 = 0x0 ll",
      "r0 = 0",
      "exit",
      "r1 = 0x0 ll",
      "r0 = 0",
      "exit",
    ],
  );
  assert.deepEqual(
    pair.relocations.map(({ instruction, kind, map }) => [instruction, kind, map]),
    [
      [1, "kernel-function", -1],
      [9, "map", 3],
      [13, "map", 3],
    ],
  );
  assert.deepEqual(
    pair.subprograms.map(({ start }) => start),
    [0, 9, 13],
  );
  assert.deepEqual(
    pair.sites.map(({ name }) => name),
    ["kprobe:a", "kprobe:b", "kretprobe:a", "kretprobe:b"],
  );
  assert.deepEqual(pair.cookies, [0, 1, 10, 11]);
  assert.deepEqual(pair.binding.load, { attachType: 56, btfId: 0 });
});

test("two handlers of one end are paired once each", () => {
  const entries = [program("entry", ["a"]), program("entry", ["a"])];
  assert.deepEqual(
    pairReturns([...entries, program("return", ["a"])]).map(({ sites }) => sites.length),
    [2, 1],
  );
  assert.deepEqual(
    pairReturns([program("return", ["a"]), ...entries, program("return", ["a"])]).map(({ sites }) => sites.length),
    [2, 2],
  );
});

test("what cannot share a program stays as it is", () => {
  const entry = program("entry", ["a"]);
  const returns = program("return", ["a"]);
  const alone = (...programs: KernelProgram[]): void => assert.deepEqual(pairReturns(programs), programs);
  alone(entry, program("return", ["b"]));
  alone(entry, program("return", ["a", "b"]));
  alone(entry, program(undefined, ["a"]));
  alone(entry);
  alone(returns);
  alone(entry, program("return", ["a"], { frame: 488 }));
  alone(
    program("entry", ["a"], {
      subprograms: [
        { name: "a", start: 0 },
        { name: "callback", start: 2 },
      ],
    }),
    returns,
  );
  alone(program("entry", ["a"], { code: new Uint8Array(5000 * 8) }), returns);
  assert.equal(pairReturns([entry, program("return", ["a"], { frame: 480 })]).length, 1);
});
