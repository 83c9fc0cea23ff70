import assert from "node:assert/strict";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { compile } from "../compiler/compile.ts";
import { madeUpSystem, resolveMadeUp } from "../../test/support/made-up-system.ts";
import type { Plan } from "../compiler/plan.ts";
import { parse } from "../language/bpftrace/parse.ts";
import { formats } from "../output/formats.ts";
import { servicesOf } from "../../test/support/output-fixtures.ts";
import { shownValue } from "../output/values.ts";
import { printfFormatter } from "../output/printf.ts";
import { resolveSpec } from "../providers/registry.ts";
import { MemorySource, type Happening } from "../../test/support/memory-source.ts";
import { openSession, type SessionEnd } from "./session.ts";

function planOf(text: string): Plan {
  const { program } = parse({ name: "script", text }, { positional: [] });
  const { plan, diagnostics } = compile(program, madeUpSystem, {
    resolve: (spec, system, options) =>
      spec.provider === "tracepoint" ? resolveMadeUp(spec) : resolveSpec(spec, system, options),
  });
  assert.ok(plan, diagnostics.map(({ message }) => message).join("\n"));
  return plan;
}

/** What a session over made-up events prints, and how it ends. */
async function printed(
  plan: Plan,
  happenings: readonly Happening[],
  length: number,
  name: string,
): Promise<{ lines: readonly string[]; end: SessionEnd }> {
  const folder = mkdtempSync(join(tmpdir(), "strobe-session-"));
  try {
    const output = openSync(join(folder, "output"), "w");
    const consumer = formats
      .find((format) => format.name === name)!
      .open({ output, messages: output, buffering: "line" });
    const { symbols } = servicesOf();
    const source = new MemorySource(plan, { happenings, length, attached: 1, bootToWall: 0n, symbols });
    const session = await openSession(plan, source, { consumer, formatter: printfFormatter, shown: shownValue });
    const end = await session.ended;
    consumer.end();
    closeSync(output);
    return { lines: readFileSync(join(folder, "output"), "utf8").trimEnd().split("\n"), end };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const plan = planOf(`
  begin { printf("begin\\n"); }
  tracepoint:made:up { printf("call %d\\n", args.count); @by[args.count] = count(); if (args.count == 9) { exit(3); } }
  interval:s:1 { @ticks++; printf("tick %d at %d s\\n", @ticks, elapsed / 1000000000); if (@ticks == 2) { print(@by); } }
  end { printf("end\\n"); }`);

const word = (value: bigint): Uint8Array => new Uint8Array(new BigUint64Array([value]).buffer);

/** A record of the tracepoint's: of its n-th printf or exit(). */
function record(kind: "printf" | "exit", value: bigint): Uint8Array {
  const index = plan.schemas.findIndex(({ action, probe }) => action.kind === kind && probe === "tracepoint:made:up");
  const { size, fields } = plan.schemas[index];
  const bytes = new Uint8Array(size);
  new DataView(bytes.buffer).setUint32(0, index, true);
  new DataView(bytes.buffer).setBigUint64(fields[0].offset, value, true);
  return bytes;
}

const by = plan.maps.findIndex(({ name }) => name === "by");
const happenings: readonly Happening[] = [
  { at: 500, record: record("printf", 1n) },
  { at: 1000, record: record("printf", 2n) },
  { at: 1500, trouble: { kind: "lost", probe: "tracepoint:made:up", count: 5 } },
  {
    at: 1500,
    map: by,
    entries: [
      [word(1n), word(1n)],
      [word(2n), word(6n)],
    ],
  },
  { at: 2500, record: record("printf", 9n) },
  { at: 2500, record: record("exit", 3n) },
  { at: 2600, record: record("printf", 10n) },
];

test("a session runs on records and maps in memory as on a kernel: handlers, intervals in its time, losses, maps, the end", async () => {
  const { lines, end } = await printed(plan, happenings, 9000, "text");
  assert.deepEqual(lines, [
    "begin",
    "Attached 4 probes",
    "call 1",
    "call 2",
    "tick 1 at 1 s",
    "WARNING: lost 5 events of tracepoint:made:up (a larger perf_rb_pages holds more)",
    "tick 2 at 2 s",
    "@by[1]: 1",
    "@by[2]: 6",
    "call 9",
    "end",
    "",
    "",
    "@by[1]: 1",
    "@by[2]: 6",
    "@ticks: 2",
  ]);
  assert.deepEqual(end, { exitCode: 3, reason: "exit" });
});

test("a source that ends is the end of the session: intervals run up to it", async () => {
  const { lines, end } = await printed(plan, happenings.slice(0, 2), 4200, "json");
  assert.deepEqual(
    lines.map((line) => {
      const { type, data } = JSON.parse(line) as { type: string; data: unknown };
      return [type, data];
    }),
    [
      ["attached_probes", { probes: 4 }],
      ["printf", "begin\n"],
      ["printf", "call 1\n"],
      ["printf", "call 2\n"],
      ["printf", "tick 1 at 1 s\n"],
      ["printf", "tick 2 at 2 s\n"],
      ["printf", "tick 3 at 3 s\n"],
      ["printf", "tick 4 at 4 s\n"],
      ["printf", "end\n"],
      ["map", { "@ticks": 4 }],
    ],
  );
  assert.deepEqual(end, { exitCode: 0, reason: "target" });
});
