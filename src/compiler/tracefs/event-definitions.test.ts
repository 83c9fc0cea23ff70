import assert from "node:assert/strict";
import { test } from "node:test";
import { smallMachine } from "../../../test/support/small-machine.ts";
import { parse } from "../../language/bpftrace/parse.ts";
import type { Context, Fetch } from "../../language/context.ts";
import { i32 } from "../../language/types.ts";
import { resolveSpec, spellingOf } from "../../providers/registry.ts";
import { compile } from "../compile.ts";
import { eventDefinitions, linesOf } from "./event-definitions.ts";

const register = (offset: number): Fetch => ({ kind: "context", offset, size: 8, signed: false });
/** vfs_read(struct file *file, int n), of a kernel that has kprobes. */
const kernel: Context = {
  provider: "kprobe",
  program: { type: "kprobe", cookie: true },
  args: [{ name: "n", type: i32, fetch: { kind: "narrow", of: register(104), size: 4, signed: true } }],
  numbered: [register(112), register(104)],
  retval: { type: i32, fetch: { kind: "narrow", of: register(80), size: 4, signed: true } },
  defaultSpace: "kernel",
  stacks: true,
};

function defined(script: string, ...names: readonly string[]): readonly string[] | string {
  const { program } = parse({ name: "event", text: script }, { positional: [], probes: spellingOf });
  const { diagnostics, stages } = compile(program, smallMachine, {
    resolve: (spec, system, options) => {
      const { provider } = spec;
      if (!provider.startsWith("k")) return resolveSpec(spec, system, options);
      const data = { symbol: "vfs_read", offset: provider === "kprobe" ? 4n : 0n };
      const site = { name: `${provider}:vfs_read`, func: "vfs_read", data };
      return { variants: [{ context: { ...kernel, provider }, provider, sites: [site] }], diagnostics: [] };
    },
  });
  assert.deepEqual(diagnostics, []);
  const definitions = eventDefinitions(stages.lowered!, stages.module!, names);
  if ("failure" in definitions) return `${definitions.name ?? "-"}: ${definitions.failure.reason}`;
  return definitions.flatMap((one) => [one.file, ...linesOf(one, "strobe", one.name)]);
}

test("functions of the kernel and places in programs", { skip: process.arch !== "x64" }, () => {
  assert.deepEqual(
    defined(
      "kprobe:vfs_read { print(args.n); print(arg0); print(*(uint16 *)(arg0 + 8)); print(comm); }",
      "n",
      "raw",
      "behind",
      "who",
    ),
    ["kprobe_events", "p:strobe/vfs_read vfs_read+4 n=%si:s32 raw=%di:u64 behind=+8(%di):u16 who=$comm:string"],
  );
  assert.deepEqual(defined("kretprobe:vfs_read { print(retval); }", "retval"), [
    "kprobe_events",
    "r:strobe/vfs_read__return vfs_read retval=%ax:s32",
  ]);
  assert.deepEqual(defined("uprobe:/bin/app:main { print(str(arg0)); }", "text"), [
    "uprobe_events",
    "p:strobe/main /bin/app:0x1000 text=+0(%di):string",
  ]);
});

test("what an event cannot carry", () => {
  assert.equal(
    defined("kprobe:vfs_read { print(arg0 * arg1); }", "product"),
    "0: a value that is computed, on the way to another",
  );
  assert.equal(
    defined("kprobe:vfs_read { @ = count(); }", "count"),
    "-: an event carries values, and does nothing else",
  );
  assert.equal(defined("begin { print(1); }", "one"), "-: begin probes: it is defined at a place in code");
});
