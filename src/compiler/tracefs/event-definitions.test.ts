import assert from "node:assert/strict";
import { test } from "node:test";
import { smallMachine } from "../../../test/support/small-machine.ts";
import { parse } from "../../language/bpftrace/parse.ts";
import type { Context, Fetch } from "../../language/context.ts";
import { i32, u64 } from "../../language/types.ts";
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

/** A record with a number, a name in it, a text behind a pointer, and one that is located. */
const fields = [
  { name: "pid", declaration: "int", offset: 8, size: 4, signed: true },
  { name: "comm", declaration: "char[16]", offset: 12, size: 16, signed: false },
  { name: "path", declaration: "const char *", offset: 32, size: 8, signed: false },
  { name: "file", declaration: "__data_loc char[]", offset: 40, size: 4, signed: false },
];
const event: Context = {
  provider: "tracepoint",
  program: { type: "tracepoint", cookie: true },
  args: [
    { name: "pid", type: i32, fetch: { kind: "context", offset: 8, size: 4, signed: true } },
    { name: "path", type: u64, fetch: { kind: "context", offset: 32, size: 8, signed: false } },
  ],
  defaultSpace: "user",
  stacks: true,
};
/** long f(int n, struct … *s) */
const traced: Context = {
  provider: "fentry",
  program: { type: "tracing", cookie: false },
  args: [{ name: "n", type: i32, fetch: { kind: "narrow", of: register(0), size: 4, signed: true } }],
  numbered: [register(0), register(8)],
  retval: { type: u64, fetch: register(16) },
  defaultSpace: "kernel",
  stacks: true,
};

function defined(script: string, ...names: readonly string[]): readonly string[] | string {
  const { program } = parse({ name: "event", text: script }, { positional: [], probes: spellingOf });
  const { diagnostics, stages } = compile(program, smallMachine, {
    resolve: (spec, system, options) => {
      const { provider } = spec;
      if (provider === "tracepoint" || provider === "fentry" || provider === "fexit") {
        const site = provider === "tracepoint" ? { name: "tracepoint:sched:waking" } : { name: "f", func: "f" };
        const context = provider === "tracepoint" ? event : { ...traced, provider };
        return { variants: [{ context, provider, sites: [{ ...site, data: null }] }], diagnostics: [] };
      }
      if (!provider.startsWith("k")) return resolveSpec(spec, system, options);
      const data = { symbol: "vfs_read", offset: provider === "kprobe" ? 4n : 0n };
      const site = { name: `${provider}:vfs_read`, func: "vfs_read", data };
      return { variants: [{ context: { ...kernel, provider }, provider, sites: [site] }], diagnostics: [] };
    },
  });
  assert.deepEqual(diagnostics, []);
  const definitions = eventDefinitions(stages.lowered!, stages.module!, names, {
    tracepoint: () => ({ id: 1, fields }),
    capabilities: smallMachine.capabilities,
  });
  if ("failure" in definitions)
    return `${definitions.condition ? "if" : (definitions.name ?? "-")}: ${definitions.failure.reason}`;
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

test("functions as ftrace sees them, and events on events", () => {
  assert.deepEqual(defined("fentry:f { print(args.n); print(*(uint32 *)(arg1 + 8)); }", "n", "behind"), [
    "dynamic_events",
    "f:strobe/f f n=$arg1:s32 behind=+8($arg2):u32",
  ]);
  assert.deepEqual(defined("fexit:f { print(retval); print(args.n); }", "retval", "n"), [
    "dynamic_events",
    "f:strobe/f__return f%return retval=$retval:u64 n=$arg1:s32",
  ]);
  assert.deepEqual(
    defined(
      'tracepoint:sched:waking /args.pid > 3 && comm != "x"/ { print(args.pid); print(str(args.path)); print(comm); }',
      "pid",
      "path",
      "who",
    ),
    [
      "dynamic_events",
      'e:strobe/waking sched.waking pid=$pid:s32 path=+u0($path):ustring who=$COMM:string if pid > 3 && COMM != "x"',
    ],
  );
  assert.equal(
    defined("tracepoint:sched:waking /args.pid % 2 == 0 && args.pid > 5/ { print(args.pid); }", "pid"),
    "if: a condition on something else than the event's fields",
  );
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
  assert.equal(
    defined("begin { print(1); }", "one"),
    "-: begin probes: it is defined at a place in code or on an event",
  );
});
