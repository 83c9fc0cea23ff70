import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "../language/bpftrace/parse.ts";
import { madeUpSystem, resolveMadeUp } from "../../test/support/made-up-system.ts";
import { compile } from "./compile.ts";

// Instructions of the handlers of the bench, as generated for a made-up machine: the same everywhere. STROBE_UPDATE=1
// rewrites the numbers, so that a change of the generator shows what it is worth, or costs, in its diff.
const path = "src/compiler/fixtures/handlers.txt";
const handlers = JSON.parse(readFileSync("bench/handlers/list.json", "utf8")) as readonly (readonly [
  name: string,
  title: string,
  program: string,
])[];

function instructions(name: string, text: string): number {
  // The made-up machine has no programs to probe: a function of the kernel fetches its argument in the same way.
  const script = text.replace("uprobe:WORKLOAD:greet", "kprobe:greet");
  const parsed = parse({ name, text: script }, { positional: [] });
  assert.deepEqual(parsed.diagnostics, []);
  const { plan, diagnostics } = compile(parsed.program, madeUpSystem, { resolve: resolveMadeUp });
  assert.deepEqual(
    diagnostics.filter((d) => d.severity === "error"),
    [],
  );
  return plan?.bpf.programs.reduce((sum, { code }) => sum + code.length / 8, 0) ?? 0;
}

test("the handlers of the bench take as many instructions as they did", () => {
  const counts = handlers.map(([name, , program]) => [name, instructions(name, program)] as const);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  const text = [...counts, ["all", total] as const]
    .map(([name, count]) => `${name.padEnd(24)}${String(count).padStart(5)}\n`)
    .join("");
  if (process.env["STROBE_UPDATE"]) writeFileSync(path, text);
  assert.equal(text, readFileSync(path, "utf8"));
});

test("a gate before a handler costs three instructions until it is closed", () => {
  const parsed = parse({ name: "gate", text: "kprobe:f { @ = count(); }" }, { positional: [] });
  const [open, governed] = [false, true].map((flag) => {
    const { plan } = compile(parsed.program, madeUpSystem, { resolve: resolveMadeUp, governed: flag });
    assert.ok(plan);
    return plan;
  });
  assert.deepEqual(
    open.bpf.maps.filter(({ role }) => role.kind === "gates"),
    [],
  );
  const [gates] = governed.bpf.maps.filter(({ role }) => role.kind === "gates");
  // One gate, then a cache line of turns and skipped events for each of the two CPUs.
  assert.deepEqual(
    [gates.role, gates.valueSize],
    [{ kind: "gates", programs: 1, first: 64, stripe: 64, cpus: 2 }, 192],
  );
  // ld_imm64 (two slots), a load and a branch come first.
  const opcodes = (code: Uint8Array): number[] => Array.from({ length: 4 }, (_, i) => code[i * 8]);
  assert.deepEqual(opcodes(governed.bpf.programs[0].code), [0x18, 0x00, 0x79, 0x55]);
});
