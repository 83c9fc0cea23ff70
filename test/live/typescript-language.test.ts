// What handlers in TypeScript can say, run: types of a program's own, and values as they come out, in the kernel and on
// the host.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Library from "../../src/index.ts";
import { spawnSync } from "node:child_process";
import { callsFlags, callsSource, syscallsSource } from "../support/programs.ts";
import { bpfObjects, compileC, nothingLeft, strobe as runStrobe, temporaryFolder } from "../support/strobe.ts";
import { shapesSource } from "../support/usdt-programs.ts";
import { functionCases } from "./typescript-cases.ts";

const library = (await import(pathToFileURL(resolve("dist/index.mjs")).href)) as typeof Library;

const folder = temporaryFolder();
const atStart = bpfObjects();
let functions = "";
let shapes = "";
let calling = "";
before(() => {
  functions = compileC(folder.path, "functions", callsSource, callsFlags);
  shapes = compileC(folder.path, "shapes", shapesSource);
  calling = compileC(folder.path, "calling", syscallsSource);
});
after(async () => {
  folder.remove();
  await nothingLeft(atStart);
});

const deadline = (): AbortSignal => AbortSignal.timeout(300_000);

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

test("layouts that C has no attributes for are refused", () => {
  const { aligned, bits, struct, union } = library;
  assert.throws(
    () => struct({ x: "int" }, { align: 3 }),
    /struct\(\) takes a layout behind its members: \{ packed: true, align: 8 \}/,
  );
  assert.throws(() => union("u", { x: "int" }, { packed: 1 as unknown as boolean }), /union\(\) takes a layout/);
  assert.throws(() => struct("int" as unknown as Record<string, string>), /struct\(\) takes an object of members/);
  assert.throws(() => aligned("int", 0), /aligned\(\) takes a power of two up to 4096, got 0/);
  assert.throws(() => bits("int", 65), /bits\(\) takes a number of bits from 0 to 64, got 65/);
});

test("structs, unions and enums of the program's own are laid out as C does", async () => {
  const { arrayOf, bits, enumeration, i16, i32, i64, pointerTo, struct, u32, union } = library;
  const point = struct({ x: i32, y: i16, name: "char[8]" });
  const letters = enumeration("letters", { h: 104, e: 101 });
  const box = struct("mine", {
    id: i64,
    corner: pointerTo(point),
    center: point,
    "": union({ small: bits(u32, 3), whole: u32 }),
    self: "struct mine *",
    get next(): Library.CType<unknown> {
      return pointerTo(box);
    },
  });
  const text = struct({ first: letters, rest: arrayOf("char", 12) });
  const boxes = library.event<{
    id: number;
    corner: string;
    x: number;
    y: number;
    small: number;
    whole: number;
    sizes: readonly [number, number, number];
    shown: object;
  }>();
  const texts = library.event<{ letter: number; isH: boolean; bytes: string; at: number }>();
  const session = await library.trace(
    library.uprobe(
      functions,
      "leaf_box",
      ([p]) => {
        const b = library.cast(p, box);
        boxes.emit({
          id: b.id,
          corner: library.str(b.corner.name),
          x: b.corner.x + b.center.x,
          y: b.center.y,
          small: b.small,
          whole: b.whole & 7,
          sizes: [library.sizeof(box), library.sizeof(arrayOf(point, 3)), library.offsetof(box, "center.name")],
          shown: library.deref(b.corner),
        });
      },
      { library, boxes, box, arrayOf, point },
    ),
    library.uprobe(
      functions,
      "leaf_text",
      ([p]) => {
        const bytes = library.cast(p, arrayLike);
        texts.emit({
          letter: bytes[0],
          isH: library.cast(bytes[0], letters) === letters.h,
          bytes: library.str(library.cast(p, text).rest),
          at: library.cast(p, "u8 *")[1],
        });
      },
      { library, texts, text, letters, arrayLike: pointerTo("u8") },
    ),
    { command: `${functions} 1`, signal: deadline() },
  );
  const [[first], [second]] = await Promise.all([all(boxes), all(texts)]);
  await session.ended;
  assert.deepEqual(first, {
    id: 77,
    corner: "corner",
    x: 8,
    y: -6,
    small: 5,
    whole: 5,
    sizes: [56, 48, 22],
    shown: { x: 3, y: 4, name: "corner" },
  });
  assert.deepEqual(second, { letter: 104, isH: true, bytes: "o from user ", at: 101 });
  assert.equal(letters.h, 104);
});
/** What a handler calls it; the capture says what it is. */
declare const arrayLike: Library.CType<Library.Pointer<number>>;

/** System calls that a program makes once each, so that a handler has a part of the cases. */
const calls = ["getppid", "getuid", "geteuid", "getgid", "getegid", "umask", "getgroups", "kill", "chdir"];
const perProbe = 12;

test("settings are a script's", async () => {
  const texts = library.event<{ text: string; limit: number }>();
  const session = await library.trace(
    library.uprobe(
      functions,
      "leaf_text",
      ([text]) => {
        texts.emit({ text: library.str(text), limit: library.config.maxStrlen });
      },
      { library, texts },
    ),
    { command: `${functions} 1`, signal: deadline(), settings: { maxStrlen: 6 } },
  );
  assert.deepEqual(await all(texts), [{ text: "hello ", limit: 6 }]);
  await session.ended;
  await assert.rejects(
    library.trace(
      library.begin(() => {}),
      { settings: { maxStrlen: 0 } },
    ),
    /max_strlen: expecting a number, got 0/,
  );
});

test("functions give in the kernel, on the host and as JavaScript what they should", async (t) => {
  const program = join(folder.path, "cases.ts");
  const parts = Math.ceil(functionCases.length / perProbe);
  const ofPart = (part: number): typeof functionCases => functionCases.slice(part * perProbe, (part + 1) * perProbe);
  const run = (part: number, where: string, x: string): string =>
    ofPart(part)
      .map(
        ({ name }, i) =>
          `given.emit({ where: ${where}, name: ${JSON.stringify(name)}, value: BigInt(f${part * perProbe + i}(${x})) });`,
      )
      .join("\n");
  writeFileSync(
    program,
    `import { begin, event, i8, i16, i32, map, pid, trace, tracepoint, u8, u16, u32, u64 } from "strobe";
    const limit = 100; const yes = true; const text = "captured"; const list = [10, 20, 30]; const words = ["one", "three"];
    const limits = { low: 2, deep: { high: 9 } }; const Level = { low: 1, high: 7 } as const;
    const codes: Record<string, number> = { a: 3, b: 4 }; const byNumber: Record<number, string> = { 5: "five", 10: "ten" };
    const some = new Set([1, 5]); const prices = new Map([[5, 6], [7, 8]]);
    const nothing: { at?: number; zero: number; there?: number | null } = { at: undefined, zero: 0, there: null };
    const self = process.pid; const five = map<[], number>(); five.set(5);
    const given = event<{ where: string; name: string; value: bigint }>();
    function twice(x: number) { return x * 2; }
    const clamp = (x: number) => { if (x > limit) return limit; return x; };
    function scaled(x: number, by = 2, more = by + 1) { return x * by + more; }
    const area = ({ width, height }: { width: number; height: number }) => width * height;
    function sumOf([a, b]: [number, number]) { return a + b; }
    ${functionCases.map(({ body }, i) => `function f${i}(x: any): any { ${body} }`).join("\n")}
    const session = await trace(
      begin(() => { ${Array.from({ length: parts }, (_, part) => run(part, '"host"', "five.value")).join("\n")} }),
      ${Array.from({ length: parts }, (_, part) => `tracepoint("syscalls:sys_enter_${calls[part]}", { filter: () => pid === self, handler: () => { ${run(part, '"kernel"', "five.value")} } }),`).join("\n")}
    );
    void process.ppid; process.getuid!(); process.geteuid!(); process.getgid!(); process.getegid!(); process.umask(); process.getgroups!(); process.kill(self, 0); process.chdir(".");
    setTimeout(() => session.stop(), 200);
    for await (const { where, name, value } of given) console.log(JSON.stringify([where, name, String(value)]));
    ${functionCases.map(({ name, gives }, i) => (gives === undefined ? `console.log(JSON.stringify(["javascript", ${JSON.stringify(name)}, String(Number(f${i}(5)))]));` : "")).join("\n")}
  `,
  );
  const { stdout, stderr, code } = await runStrobe(["run", program]);
  assert.deepEqual({ stderr, code }, { stderr: "", code: 0 });
  const got = new Map<string, Map<string, string>>();
  for (const line of stdout.trimEnd().split("\n")) {
    const [where, name, value] = JSON.parse(line) as [string, string, string];
    got.set(name, (got.get(name) ?? new Map()).set(where, value));
  }
  for (const { name, gives } of functionCases) {
    await t.test(name, () => {
      const own = got.get(name) ?? new Map<string, string>();
      const wanted = gives === undefined ? own.get("javascript") : String(gives);
      assert.ok(wanted !== undefined);
      assert.deepEqual([own.get("host"), own.get("kernel")], [wanted, wanted]);
    });
  }
});

test("static probes, with arguments of each width", async () => {
  const lines = library.event<{ line: string; values: readonly unknown[] }>();
  const session = await library.trace(
    library.usdt(
      shapes,
      "shapes:many",
      ([n, text, local]) => {
        lines.emit({ line: library.str(text), values: [n, local] });
      },
      { library, lines },
    ),
    library.usdt(
      shapes,
      "shapes:widths",
      (args) => {
        lines.emit({ line: "widths", values: [args.arg0, args.arg1, args.arg4, args.arg5] });
      },
      { lines },
    ),
    library.usdt(
      shapes,
      "*:no?e",
      () => {
        lines.emit({ line: "none", values: [1, 2] });
      },
      { lines },
    ),
    { command: shapes, signal: deadline() },
  );
  const seen = await all(lines);
  await session.ended;
  assert.deepEqual(
    seen.map(({ line, values }) => [line, ...values]),
    [
      ["widths", -1, 255, -1, 4294967295],
      ["widths", -128, 0, -2147483648, 0],
      ["even", 0, 0],
      ["odd", 1, 101],
      ["even", 2, 202],
      ["odd", 3, 303],
      ["none", 1, 2],
    ],
  );
});

test("counters of the kernel, watchpoints, instructions, returns and calls of other files", async () => {
  const counts = library.map<string, "count">();
  const faults = library.map<[], "count">();
  const returned = library.map<[], "sum">();
  const address = /^([0-9a-f]+) [BD] counter$/m.exec(spawnSync("nm", [functions], { encoding: "utf8" }).stdout)?.[1];
  const mine = (): boolean => library.pid === library.cpid;
  const session = await library.trace(
    library.software(
      "page-faults",
      1,
      {
        filter: () => mine(),
        handler: () => {
          faults.count();
        },
      },
      { library, mine, faults },
    ),
    library.probe(
      `watchpoint:0x${address}:8:w`,
      {
        filter: () => mine(),
        handler: () => {
          counts.at("written").count();
        },
      },
      { library, mine, counts },
    ),
    library.probe(
      `ret:${functions}:leaf_add`,
      () => {
        returned.sum(library.i32(library.retval));
      },
      { library, returned },
    ),
    library.probe(
      `insn:${functions}:leaf_sub:0`,
      () => {
        counts.at("instruction").count();
      },
      { counts },
    ),
    library.probe(
      `process:${functions}:begin`,
      () => {
        counts.at("begin").count();
      },
      { counts },
    ),
    library.probe(
      [`uprobe:${functions}:leaf_add`, `uprobe:${functions}:leaf_sub`],
      () => {
        counts.at(library.func).count();
      },
      { library, counts },
    ),
    { command: `${functions} 25`, signal: deadline() },
  );
  await session.ended;
  assert.deepEqual(Object.fromEntries(counts), { begin: 1, instruction: 25, leaf_add: 25, leaf_sub: 25, written: 25 });
  assert.equal(returned.get(), 25 * 10 + (24 * 25) / 2);
  assert.ok((faults.get() ?? 0) > 10);
});

test("counters of the processor", async (t) => {
  const samples = library.map<[], "count">();
  const mine = (): boolean => library.pid === library.cpid;
  try {
    const session = await library.trace(
      library.hardware(
        "cycles",
        100_000,
        {
          filter: () => mine(),
          handler: () => {
            samples.count();
          },
        },
        { library, mine, samples },
      ),
      { command: `${calling} 1000000`, signal: deadline() },
    );
    await session.ended;
  } catch (error) {
    if (!(error instanceof Error) || !/this machine has no such hardware counter/.test(error.message)) throw error;
    return t.skip("this machine has no counter of processor cycles");
  }
  assert.ok((samples.get() ?? 0) > 100);
});

test("a loop goes over the greatest of a map, where strobe runs the handler", async () => {
  const numbers = library.map<string, number>();
  const averages = library.map<[name: string, n: number], "avg">();
  const texts = library.map<number, string>();
  const seen = library.event<{ what: string; key: string; value: number }>();
  const session = await library.trace(
    library.begin(
      () => {
        numbers.set("low", -5);
        numbers.set("none", 0);
        numbers.set("high", 70000);
        numbers.set("some", 300);
        averages.at("a", 1).avg(10);
        averages.at("a", 1).avg(20);
        averages.at("b", 2).avg(17);
        averages.at("c", 3).avg(-100);
        texts.set(1, "b");
        texts.set(2, "cc");
        texts.set(3, "ca");
        for (const [key, value] of numbers.top(3)) seen.emit({ what: "number", key, value });
        const two = 2;
        for (const [[key, n], value] of averages.top(two)) {
          if (n === 9) break;
          seen.emit({ what: "average", key, value });
        }
        for (const [key, value] of texts.top(9)) {
          if (key === 3) continue;
          seen.emit({ what: "text", key: value, value: key });
        }
        let sum = 0;
        for (const [, value] of numbers.top(1)) sum += value;
        seen.emit({ what: "sum", key: "", value: sum });
        library.exit();
      },
      { library, numbers, averages, texts, seen },
    ),
    { signal: deadline() },
  );
  const got = (await all(seen)).map(({ what, key, value }) => `${what} ${key} ${value}`);
  await session.ended;
  assert.deepEqual(got, [
    "number high 70000",
    "number some 300",
    "number none 0",
    "average b 17",
    "average a 15",
    "text cc 2",
    "text b 1",
    "sum  70000",
  ]);
});
