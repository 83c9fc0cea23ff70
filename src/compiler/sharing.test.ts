import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "../language/bpftrace/parse.ts";
import type { Context } from "../language/context.ts";
import type { ProbeSpec } from "../language/probe-spec.ts";
import type { Resolution } from "../providers/provider.ts";
import { compile } from "./compile.ts";
import { madeUpSystem } from "../../test/support/made-up-system.ts";

/** Each part of a name between commas is a function; `multi` by one link. */
function resolve(spec: ProbeSpec, linked: boolean): Resolution {
  const context: Context = {
    provider: spec.provider,
    program: { type: "kprobe", cookie: true, ...(linked ? { load: { attachType: 42, btfId: 0 } } : {}) },
    defaultSpace: "kernel",
    stacks: true,
    func: "kernel",
    contextType: { kind: "pointer", target: { kind: "void" }, space: "kernel" },
  };
  const sites = (spec.parts[0] ?? "")
    .split("_")
    .map((func) => ({ name: `${spec.provider}:${func}`, func, data: func }));
  return { variants: [{ context, provider: spec.provider, sites }], diagnostics: [] };
}

function sitesOf(text: string, linked: boolean): string[][] {
  const parsed = parse({ name: "sharing", text }, { positional: [] });
  assert.deepEqual(parsed.diagnostics, []);
  const { plan, diagnostics } = compile(parsed.program, madeUpSystem, { resolve: (spec) => resolve(spec, linked) });
  assert.deepEqual(diagnostics, []);
  assert.ok(plan);
  return plan.bpf.programs.map(({ sites }) => sites.map(({ name }) => name));
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
  assert.deepEqual(sitesOf("kprobe:a_b,kprobe:b_c,kprobe:d { @ = count(); }", true), [
    ["kprobe:a", "kprobe:b", "kprobe:d"],
    ["kprobe:b", "kprobe:c"],
  ]);
  assert.deepEqual(sitesOf("kprobe:a,kprobe:a { @ = count(); }", false), [["kprobe:a", "kprobe:a"]]);
});

/** Calls of a made-up kernel: their arguments' names and kinds, in order; the rest of the name after `_` is nothing. */
const calls: Readonly<Record<string, readonly string[]>> = {
  openat: ["dfd", "path", "mode"],
  openat2: ["dfd", "path", "how"],
  open: ["path", "mode"],
};

function resolveCall(spec: ProbeSpec): Resolution {
  const [name = ""] = spec.parts;
  const number = Object.keys(calls).indexOf(name);
  const context: Context = {
    provider: spec.provider,
    program: {
      type: "tracing",
      load: { attachType: 23, btfId: 7 },
      cookie: false,
      dispatch: { kind: "context", offset: 8, size: 8, signed: true },
    },
    kernelTypes: true,
    defaultSpace: "user",
    stacks: true,
    args: calls[name].map((argument, i) => ({
      name: argument,
      type:
        argument === "how" ? ({ kind: "struct", name: "how" } as never) : { kind: "integer", bits: 64, signed: true },
      fetch: { kind: "context", offset: 16 + i * 8, size: 8, signed: true },
    })),
  };
  return {
    variants: [{ context, provider: spec.provider, sites: [{ name, match: BigInt(number), data: name }] }],
    diagnostics: [],
  };
}

function callsOf(text: string): string[][] {
  const parsed = parse({ name: "sharing", text }, { positional: [] });
  const { plan, diagnostics } = compile(parsed.program, madeUpSystem, { resolve: resolveCall });
  assert.deepEqual(diagnostics, []);
  return plan?.bpf.programs.map(({ sites }) => sites.map(({ name }) => name)) ?? [];
}

test("system calls of several specs share a program where what is read of their arguments is the same", () => {
  const specs = "tracepoint:openat,tracepoint:openat2,tracepoint:open";
  assert.deepEqual(callsOf(`${specs} { @ = count(); }`), [["openat", "openat2", "open"]]);
  assert.deepEqual(callsOf(`${specs} { @[probe] = count(); }`), [["openat", "openat2", "open"]]);
  assert.deepEqual(callsOf(`${specs} { @ = args.path; }`), [["openat", "openat2"], ["open"]]);
  assert.deepEqual(callsOf("tracepoint:openat,tracepoint:openat { @ = args.path; }"), [["openat"], ["openat"]]);
});
