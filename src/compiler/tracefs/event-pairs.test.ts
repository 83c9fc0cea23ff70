import assert from "node:assert/strict";
import { test } from "node:test";
import { smallMachine } from "../../../test/support/small-machine.ts";
import { parse } from "../../language/bpftrace/parse.ts";
import type { Context } from "../../language/context.ts";
import { i32 } from "../../language/types.ts";
import { spellingOf } from "../../providers/registry.ts";
import { compile } from "../compile.ts";
import { eventLines } from "./event-lines.ts";

const fields = [
  { name: "pid", declaration: "int", offset: 8, size: 4, signed: true },
  { name: "other", declaration: "int", offset: 12, size: 4, signed: true },
];
const context: Context = {
  provider: "tracepoint",
  program: { type: "tracepoint", cookie: true },
  args: fields.map(({ name, offset }) => ({
    name,
    type: i32,
    fetch: { kind: "context", offset, size: 4, signed: true },
  })),
  defaultSpace: "kernel",
  stacks: true,
};
const machine = {
  ...smallMachine,
  tracepoint: (category: string, name: string) => ({ category, name, id: 1, fields }),
};

/** What the kernel is given for a script; undefined where it does not find the pairs. */
function paired(script: string, pairsOfEvents = true): readonly string[] | undefined {
  const { program } = parse({ name: "pair", text: script }, { positional: [], probes: spellingOf });
  const { plan, diagnostics } = compile(
    program,
    { ...machine, pairsOfEvents: () => pairsOfEvents },
    {
      engine: "tracefs",
      resolve: ({ provider, parts }) => {
        if (provider === "end" || provider === "begin")
          return {
            variants: [{ context: "host", provider, sites: [{ name: provider, data: null }] }],
            diagnostics: [],
          };
        const name = `tracepoint:${parts.join(":")}`;
        return { variants: [{ context, provider, sites: [{ name, data: null }] }], diagnostics: [] };
      },
    },
  );
  assert.deepEqual(diagnostics, []);
  const lines = eventLines(plan!.tracefs!, { tracepoint: machine.tracepoint, histograms: true });
  return lines.some((line) => line.includes("onmatch(")) ? lines : undefined;
}

const start = "tracepoint:t:a { @s[args.pid] = nsecs; }";
const end = "end { clear(@s); }";
const take = "delete(@s, args.pid);";

test("a time that is stored by a key and taken away again", () => {
  assert.deepEqual(
    paired(`${start} tracepoint:t:b /@s[args.pid]/ { @[args.other] = sum(nsecs - @s[args.pid]); ${take} } ${end}`),
    [
      "tracepoint:t:a",
      "  paired by the kernel: hist:keys=pid:strobe_pair_0_begun=common_timestamp:clock=boot:size=65536",
      "tracepoint:t:b",
      "  paired by the kernel: hist:keys=pid:strobe_pair_0_a0=common_timestamp-$strobe_pair_0_begun:strobe_pair_0_a1=other:clock=boot:size=65536:onmatch(t.a).trace(strobe_pair_0,$strobe_pair_0_a0,$strobe_pair_0_a1)",
      "  synthetic_events: strobe_pair_0 u64 a0; s32 a1",
      "  counted by the kernel: hist:keys=a1:vals=hitcount,a0:size=16384",
    ],
  );
});

test("what the kernel would do otherwise is left to the handlers", () => {
  const then = (body: string, predicate = "@s[args.pid]"): string => `tracepoint:t:b /${predicate}/ { ${body} }`;
  const good = then(`@ = count(); ${take}`);
  assert.notEqual(paired(`${start} ${good} ${end}`), undefined);
  for (const script of [
    // Shown in the end.
    `${start} ${good}`,
    // Not taken away, or not always.
    `${start} ${then("@ = count();")} ${end}`,
    `${start} ${then(`@ = count(); if (args.other == 1) { ${take} }`)} ${end}`,
    // By another key.
    `${start} ${then("@ = count(); delete(@s, args.other);")} ${end}`,
    // Looked at elsewhere, or by two.
    `${start} ${good} ${end} tracepoint:t:c { @n = len(@s); }`,
    `${start} ${good} tracepoint:t:c /@s[args.pid]/ { @d = count(); ${take} } ${end}`,
    // Another handler has one of the events.
    `${start} ${good} ${end} tracepoint:t:a { @n = count(); }`,
    // Something else happens as well, or something else is stored.
    `tracepoint:t:a { @s[args.pid] = nsecs; @n = count(); } ${good} ${end}`,
    `tracepoint:t:a { @s[args.pid] = (uint64)args.other; } ${good} ${end}`,
    // A handler that acts where nothing was stored.
    `${start} tracepoint:t:b { if (@s[args.pid]) { @ = count(); ${take} } else { @none = count(); } } ${end}`,
    // What the kernel's filters cannot say.
    `begin { @on = 1; } tracepoint:t:a /@on/ { @s[args.pid] = nsecs; } ${good} ${end}`,
    `tracepoint:t:a /args.pid % 2 == 0/ { @s[args.pid] = nsecs; } ${good} ${end}`,
  ])
    assert.equal(paired(script), undefined, script);
  assert.equal(paired(`${start} ${good} ${end}`, false), undefined);
});

test("what has passed, where it is not only added", () => {
  const lines = paired(`${start} tracepoint:t:b /@s[args.pid]/ { @ = max(nsecs - @s[args.pid]); ${take} } ${end}`);
  assert.equal(lines?.at(-1), "  every pair");
  const both = paired(
    `${start} tracepoint:t:b /@s[args.pid]/ { $d = nsecs - @s[args.pid]; @h = hist($d); @a = avg($d); ${take} } ${end}`,
  );
  assert.match(both?.at(-1) ?? "", /hist:keys=a\d\.log2:vals=hitcount,a\d:/);
});
