// Handlers of events that need the host: the kernel takes what depends on the moment, and the host goes on.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import type * as Library from "../../src/index.ts";
import { Differential, randomInputs } from "../support/differential.ts";
import { render } from "../support/random-pieces.ts";
import { randomProgram } from "../support/random-programs.ts";
import { bpfObjects, nothingLeft, strobe } from "../support/strobe.ts";

const first = Number(process.env["STROBE_SEED"] ?? 1);
const programs = Number(process.env["STROBE_PROGRAMS"] ?? 100);

const library = (await import(pathToFileURL(resolve("dist/index.mjs")).href)) as typeof Library;

const atStart = bpfObjects();
after(() => nothingLeft(atStart));

const deadline = (): AbortSignal => AbortSignal.timeout(120_000);
const self = process.pid;
/** The system call of statSync(). */
const stat = "syscalls:sys_enter_statx";

/** Calls that the traces below see, each with a path of its own. */
function look(...names: readonly string[]): void {
  for (const name of names) statSync(`/nowhere/${name}`, { throwIfNoEntry: false });
}

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const one of events) list.push(one);
  return list;
}

test("random programs leave the same whole, and captured by the kernel", () => {
  using differential = new Differential();
  let compared = 0;
  for (let seed = first; seed < first + programs; seed++) {
    const { pieces, unordered } = randomProgram(seed);
    const script = render(pieces);
    const differs = differential.runCaptured(script, randomInputs(seed, 3), unordered);
    if (differs === undefined) continue;
    assert.equal(differs, "", `seed ${seed}:\n${script}`);
    compared++;
  }
  assert.ok(compared >= programs * 0.8, `${compared} of ${programs} programs were compared`);
});

test("-v says where handlers run and maps live, and why", async () => {
  const script = "uprobe:/bin/true:main { @ = stddev(arg0); if (@ > 2.5) { print(@); } } begin { @n = 1; exit(); }";
  const { stderr } = await strobe([
    "-v",
    "--dry-run",
    "-e",
    script.replace("/bin/true:main", `${process.execPath}:main`),
  ]);
  assert.deepEqual(
    stderr.split("\n").filter((line) => / the (kernel|host)/.test(line)),
    [
      `uprobe:${process.execPath}:main: captured, since the stddev() in @ needs the host (line 1)`,
      "begin: on the host",
      "@: on the host, since line 1 asks for it there",
    ],
  );
});

test("texts are computed of what an event's handler read", async () => {
  type Line = {
    upper: string;
    part: string;
    padded: string;
    twelve: boolean;
    hex: boolean;
    none: boolean;
    is: boolean;
  };
  const lines = library.event<Line>();
  const sizes = library.map<string, number>();
  const session = await library.trace(
    library.tracepoint(
      stat,
      {
        filter: ({ filename }) => library.pid === self && library.str(filename).startsWith("/nowhere/"),
        handler: ({ filename }) => {
          const name = library.str(filename).slice(9);
          const part = name.split("=")[1].trim();
          sizes.set(name.split("=")[0].toLowerCase(), part.length);
          lines.emit({
            upper: name.toUpperCase(),
            part,
            padded: part.padStart(6, "*").padEnd(8),
            twelve: parseInt(part) === 12,
            hex: parseInt(part, 16) > 20,
            none: name.split("=")[2] === "",
            is: /^\w+=\s*\d+$/.test(name),
          });
          if (/^end/i.test(name)) library.exit();
        },
      },
      { library, self, lines, sizes },
    ),
    { signal: deadline() },
  );
  look("größe= 12", "End=3f ");
  const of = (name: string): Line => {
    const part = name.split("=")[1].trim();
    return {
      upper: name.toUpperCase(),
      part,
      padded: part.padStart(6, "*").padEnd(8),
      twelve: Number.parseInt(part, 10) === 12,
      hex: Number.parseInt(part, 16) > 20,
      none: true,
      is: /^\w+=\s*\d+$/.test(name),
    };
  };
  assert.deepEqual(await all(lines), [of("größe= 12"), of("End=3f ")]);
  await session.ended;
  assert.deepEqual(
    new Map(sizes.snapshot()),
    new Map([
      ["größe", 2],
      ["end", 2],
    ]),
  );
});

test("an event's handler goes over the greatest of a map, with what it read when it happened", async () => {
  const calls = library.map<string, number>();
  const seen = library.event<{ name: string; key: string; calls: number; own: boolean }>();
  const session = await library.trace(
    library.tracepoint(
      stat,
      {
        filter: ({ filename }) => library.pid === self && library.str(filename).startsWith("/nowhere/"),
        handler: ({ filename }) => {
          const name = library.str(filename, 20).slice(9);
          calls.set(name, (calls.get(name) ?? 0) + 1);
          for (const [key, n] of calls.top(2)) seen.emit({ name, key, calls: n, own: library.pid === self });
          if (name === "end") library.exit();
        },
      },
      { library, self, calls, seen },
    ),
    { signal: deadline() },
  );
  look("b", "a", "a", "end");
  const got = await all(seen);
  await session.ended;
  assert.deepEqual(
    got.map(({ name, key, calls: n, own }) => `${name}: ${key} ${n} ${own}`),
    ["b: b 1 true", "a: b 1 true", "a: a 1 true", "a: a 2 true", "a: b 1 true", "end: a 2 true", "end: b 1 true"],
  );
});

test("a map that the host changes is the same to all handlers, in the order of the events", async () => {
  const calls = library.map<string, number>();
  const left = library.event<{ name: string; calls: number; keys: number }>();
  const session = await library.trace(
    library.tracepoint(
      stat,
      {
        filter: ({ filename }) => library.pid === self && library.str(filename).startsWith("/nowhere/"),
        handler: ({ filename }) => {
          const name = library.str(filename, 20).slice(9);
          calls.set(name, (calls.get(name) ?? 0) + 1);
        },
      },
      { library, self, calls },
    ),
    library.tracepoint(
      "syscalls:sys_exit_statx",
      {
        filter: () => library.pid === self,
        handler: () => {
          for (const [name, n] of calls.top(1)) {
            if (n < 3) continue;
            calls.delete(name);
            left.emit({ name, calls: n, keys: calls.size });
            if (name === "z") library.exit();
          }
        },
      },
      { library, self, calls, left },
    ),
    { signal: deadline() },
  );
  look("a", "b", "a", "b", "a", "a", "z", "z", "z");
  const got = await all(left);
  await session.ended;
  assert.deepEqual(
    got.map(({ name, calls: n, keys }) => `${name} ${n} ${keys}`),
    ["a 3 1", "z 3 2"],
  );
});
