import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "../language/bpftrace/parse.ts";
import { builtinsFor } from "../language/builtins/table.ts";
import type { Context } from "../language/context.ts";
import type { ProbeSpec } from "../language/program.ts";
import type { Resolution } from "../providers/provider.ts";
import { compile } from "./compile.ts";
import { madeUpSystem } from "./made-up-system.ts";

/** Each part of a name between commas is a function; `multi` by one link. */
function resolve(spec: ProbeSpec, linked: boolean): Resolution {
  const context: Context = {
    provider: spec.provider, programType: "kprobe", defaultSpace: "kernel", stacks: true, cookie: true, func: "kernel",
    contextType: { kind: "pointer", target: { kind: "void" }, space: "kernel" }, ...(linked ? { load: { attachType: 42, btfId: 0 } } : {}),
  };
  const sites = (spec.parts[0] ?? "").split("_").map((func) => ({ name: `${spec.provider}:${func}`, func, data: func }));
  return { variants: [{ context, provider: spec.provider, sites }], diagnostics: [] };
}

function sitesOf(text: string, linked: boolean): string[][] {
  const parsed = parse({ name: "sharing", text }, { positional: [], builtins: builtinsFor("bpftrace") });
  assert.deepEqual(parsed.diagnostics, []);
  const { plan, diagnostics } = compile(parsed.program, madeUpSystem, { resolve: (spec) => resolve(spec, linked) });
  assert.deepEqual(diagnostics, []);
  assert.ok(plan);
  return plan.programs.map(({ sites }) => sites.map(({ name }) => name));
}

for (const linked of [true, false]) {
  test(`kernel functions of several specs share a program (${linked ? "one link" : "perf events"})`, () => {
    assert.deepEqual(sitesOf("kprobe:a_b,kprobe:c { @ = count(); }", linked), [["kprobe:a", "kprobe:b", "kprobe:c"]]);
    assert.deepEqual(sitesOf("kprobe:a,kretprobe:a { @ = count(); }", linked), [["kprobe:a"], ["kretprobe:a"]]);
    assert.deepEqual(sitesOf("kprobe:a,kprobe:b { @[func, probe] = count(); }", linked), [["kprobe:a", "kprobe:b"]]);
    assert.deepEqual(sitesOf("kprobe:a,kprobe:b { @ = ctx; }", linked), [["kprobe:a"], ["kprobe:b"]]);
  });
}

test("a function that several specs mean is in each of their links", () => {
  assert.deepEqual(sitesOf("kprobe:a_b,kprobe:b_c,kprobe:d { @ = count(); }", true), [["kprobe:a", "kprobe:b", "kprobe:d"], ["kprobe:b", "kprobe:c"]]);
  assert.deepEqual(sitesOf("kprobe:a,kprobe:a { @ = count(); }", false), [["kprobe:a", "kprobe:a"]]);
});
