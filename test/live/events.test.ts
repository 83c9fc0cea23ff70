// Dynamic events by hand: defined in probes' words, read by the kernel's own tracing, held against the traced program's
// own counts.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { pmuType, tracefsRoot } from "../../src/linux/kernel/tracefs.ts";
import { strobe, temporaryFolder } from "../support/strobe.ts";

const uprobes = process.geteuid?.() === 0 && pmuType("uprobe") !== undefined;
const options = { timeout: 300_000, skip: !uprobes && "needs root and uprobes" };
const folder = temporaryFolder();
/** Names that nobody else takes. */
const mark = `t${process.pid}`;
const program = join(folder.path, `reader_${mark}`);
const instance = uprobes ? `${tracefsRoot()}/instances/events_${mark}` : "";

const source = `
#include <stdio.h>
struct entry { int fd; const char *name; char tag[8]; unsigned flags : 3; };
struct request { long number; struct entry *entry; struct entry own; };
__attribute__((noinline)) long read_${mark}(struct request *request, unsigned short count, int *total) {
  asm volatile("" ::: "memory");
  *total += count;
  return request->own.fd + count;
}
int main(void) {
  volatile struct entry entry = { 5, "hello", "tag", 2 };
  struct request request = { 7, (struct entry *)&entry, { -9, "inner", "own", 1 } };
  int total = 0;
  // An event faults nothing in.
  if (*entry.name != 'h') return 1;
  for (int i = 0; i < 1000; i++) read_${mark}(&request, i, &total);
  printf("%d\\n", total);
}
`;

const lines = (): string[] =>
  readFileSync(`${tracefsRoot()}/dynamic_events`, "latin1")
    .split("\n")
    .filter((line) => line.includes(mark));

test("a place in a program", { ...options }, async (t) => {
  writeFileSync(`${program}.c`, source);
  execFileSync("gcc", ["-g", "-O1", "-o", program, `${program}.c`]);
  mkdirSync(instance);
  after(async () => {
    await strobe(["events", "remove", `strobe:*${mark}*`]);
    rmdirSync(instance);
    folder.remove();
  });
  const place = `uprobe:${program}:read_${mark}`;
  const name = `strobe:read_${mark}`;

  await t.test("is an event that carries what its words mean, and any tracer counts", async () => {
    const added = await strobe([
      "events",
      "add",
      `${place} { count = args.count; name = str(args.request.entry.name); fd = args.request.own.fd; tag = args.request.entry.tag; sum = *args.total; args.request; who = comm }`,
      `uretprobe:${program}:read_${mark} { retval }`,
    ]);
    assert.deepEqual([added.stderr, added.stdout], ["", `${name}\n${name}__return\n`]);
    for (const event of [`read_${mark}`, `read_${mark}__return`])
      writeFileSync(`${instance}/events/strobe/${event}/enable`, "1");
    const total = execFileSync(program, { encoding: "utf8" }).trim();
    for (const event of [`read_${mark}`, `read_${mark}__return`])
      writeFileSync(`${instance}/events/strobe/${event}/enable`, "0");
    const trace = readFileSync(`${instance}/trace`, "latin1");
    const entries = [
      ...trace.matchAll(/ count=(\d+) name="hello" fd=-9 tag="tag" sum=(\d+) request=0x[0-9a-f]+ who="reader_/g),
    ].map(([, count, sum]) => [Number(count), Number(sum)]);
    assert.equal(entries.length, 1000);
    assert.ok(entries.every(([count, sum], i) => count === i && sum === (i * (i - 1)) / 2));
    assert.equal(Number(total), (1000 * 999) / 2);
    // Whole registers: the function's result is 64 bits.
    const results = [...trace.matchAll(/ <- [^)]*\) retval=(\S+)/g)].map(([, value]) =>
      BigInt.asIntN(64, BigInt(value)),
    );
    assert.deepEqual(
      results,
      Array.from({ length: 1000 }, (_, i) => BigInt(i - 9)),
    );
  });

  await t.test("stays until it is removed, and the list says whose it is", async () => {
    writeFileSync(`${tracefsRoot()}/uprobe_events`, `p:other_${mark}/work ${program}:0x1000\n`, { flag: "a" });
    const { stdout } = await strobe(["events", "list", `*_${mark}*`, `other_${mark}:*`]);
    assert.match(stdout, new RegExp(`^${name} +uprobe +strobe events add +${program}:0x[0-9a-f]+ count=`, "m"));
    assert.match(stdout, new RegExp(`^${name}__return +uretprobe +strobe events add `, "m"));
    assert.match(stdout, new RegExp(`^other_${mark}:work +uprobe +somebody else +${program}:0x`, "m"));
    assert.equal(stdout.trim().split("\n").length, 3);
  });

  await t.test("is removed by its name; events of others are not, unless forced", async () => {
    const others = await strobe(["events", "remove", `other_${mark}:work`]);
    assert.equal(others.code, 1);
    assert.match(others.stderr, /other_\w+:work was not added by strobe events \(somebody else\): --force removes it/);
    const forced = await strobe(["events", "remove", "--force", `other_${mark}:work`]);
    assert.deepEqual([forced.code, forced.stdout], [0, `other_${mark}:work\n`]);
    const own = await strobe(["events", "remove", `*${mark}*`]);
    assert.deepEqual([own.code, own.stdout.split("\n").sort().join(" ").trim()], [0, `${name} ${name}__return`]);
    assert.deepEqual(lines(), []);
    const again = await strobe(["events", "remove", name]);
    assert.deepEqual([again.code, again.stderr], [1, `strobe: there is no dynamic event ${name}\n`]);
  });

  await t.test("names that are taken are told apart, or refused", async () => {
    assert.equal((await strobe(["events", "add", place])).stdout, `${name}\n`);
    assert.equal((await strobe(["events", "add", place])).stdout, `${name}_1\n`);
    const refused = await strobe(["events", "add", "--name", `read_${mark}`, place]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /there is an event strobe:read_\w+ already: strobe events remove strobe:read_/);
    assert.equal((await strobe(["events", "add", "--name", `own_${mark}`, place])).stdout, `strobe:own_${mark}\n`);
    // One that somebody uses stays, and why is said.
    writeFileSync(`${instance}/events/strobe/own_${mark}/enable`, "1");
    const busy = await strobe(["events", "remove", `own_${mark}`]);
    writeFileSync(`${instance}/events/strobe/own_${mark}/enable`, "0");
    assert.equal(busy.code, 1);
    assert.match(busy.stderr, /cannot remove the event strobe:own_\w+: write: .*EBUSY.*somebody uses it/);
    assert.equal((await strobe(["events", "remove", `strobe:*${mark}*`])).code, 0);
    assert.deepEqual(lines(), []);
  });

  await t.test("by a source line, without defining it", async () => {
    const line = source.split("\n").findIndex((one) => one.includes("return request->own.fd")) + 1;
    const { stdout } = await strobe([
      "events",
      "add",
      "--dry-run",
      `uprobe:${program}@${program}.c:${line} { n = var("count") }`,
    ]);
    assert.match(stdout, new RegExp(`^p:strobe/read_${mark} ${program}:0x[0-9a-f]+ n=%[a-z]+:u16\n$`));
    assert.deepEqual(lines(), []);
  });

  await t.test("is enabled and disabled for the top-level buffer", async () => {
    assert.equal((await strobe(["events", "add", place])).stdout, `${name}\n`);
    const enabled = (): string => readFileSync(`${tracefsRoot()}/events/strobe/read_${mark}/enable`, "latin1").trim();
    assert.deepEqual([(await strobe(["events", "enable", name])).stdout, enabled()], [`${name}\n`, "1"]);
    assert.deepEqual([(await strobe(["events", "disable", `*${mark}*`])).stdout, enabled()], [`${name}\n`, "0"]);
    const none = await strobe(["events", "enable", `sched:no_${mark}`]);
    assert.deepEqual([none.code, none.stderr], [1, `strobe: there is no event sched:no_${mark}\n`]);
    assert.equal((await strobe(["events", "remove", name])).code, 0);
  });

  await t.test("may be on an event or a function, without defining it", async () => {
    const event = 'tracepoint:sched:sched_waking /args.prio < 100 && comm == "x"/ { args.pid; who = args.comm; comm }';
    const { stdout } = await strobe(["events", "add", "--dry-run", event, "fexit:vfs_read { retval; args.count }"]);
    assert.equal(
      stdout,
      `e:strobe/sched_waking sched.sched_waking pid=$pid:s32 who=$comm:string comm=$COMM:string if prio < 100 && COMM == "x"
f:strobe/vfs_read__return vfs_read%return retval=$retval:s64 count=$arg3:u64
`,
    );
    const refused = await strobe(["events", "add", "--dry-run", "tracepoint:sched:sched_waking /args.pid % 2/ { }"]);
    assert.match(
      refused.stderr,
      /event:1:32: error: an event cannot carry a condition on something else than the event's fields/,
    );
  });

  await t.test("an event carries what it can fetch", async () => {
    const complaints: readonly (readonly [string, RegExp])[] = [
      ["{ all = kstack }", /event:1:\d+: error: an event cannot carry a stack: whoever uses the event asks for stacks/],
      ["{ some = buf(args.request, args.count) }", /an event cannot carry bytes of a length/],
      ["{ twice = args.count * 2 }", /an event cannot carry a value that is computed/],
      ["/ pid == 1 / { }", /an event has no predicate/],
      ["{ n = args.cuont }", /has no argument `cuont`[^]*help: did you mean `count`/],
    ];
    for (const [body, complaint] of complaints) {
      const { code, stderr } = await strobe(["events", "add", "--dry-run", `${place} ${body}`]);
      assert.equal(code, 1);
      assert.match(stderr, complaint);
      // The place is in what was written.
      assert.ok(stderr.includes(` 1 │ ${place} ${body}`), stderr);
    }
    const kind = await strobe(["events", "add", "--dry-run", "interval:s:1 { }"]);
    assert.match(kind.stderr, /an event cannot carry interval probes: it is defined at a place in code/);
  });

  await t.test("what is wrong with a definition", async () => {
    const complaints: readonly (readonly [string, RegExp])[] = [
      ["{ n = args.count", /expected `}` at the end/],
      ["{ n = }", /expected a value behind `=`/],
      ["{ @n = args.count }", /expected a name of at most 31 letters, digits and _/],
      ["{ n = args.count; n = args.total }", /the event has two values of the name n/],
    ];
    for (const [body, complaint] of complaints) {
      const { code, stderr } = await strobe(["events", "add", "--dry-run", `${place} ${body}`]);
      assert.equal(code, 1);
      assert.match(stderr, complaint);
    }
  });
});

test("words that are no command", { timeout: 60_000 }, async () => {
  for (const [words, complaint] of [
    [["events", "ad"], /events has no ad/],
    [["events", "add"], /events add needs a probe/],
    [["events", "remove"], /events remove needs an event/],
    [["events", "add", "--nam", "x"], /events has no option --nam/],
    [["emit"], /emit needs a name/],
    [["emit", "9a"], /a user event's name has letters, digits and _, in parts separated by colons; got "9a"/],
    [["emit", "a", "b"], /`b` is no FIELD=VALUE/],
    [["emit", "a", "b:u65=1"], /unknown type u65/],
  ] as const) {
    const { code, stderr } = await strobe(words);
    assert.equal(code, 1);
    assert.match(stderr, complaint);
  }
});

test(
  "user events where the kernel has none",
  { skip: existsSync("/sys/kernel/tracing/user_events_data") && "it has them" },
  async () => {
    const { code, stderr } = await strobe(["emit", "app:request", "id=1"]);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /cannot register user events: open: .*; user events: not in this kernel, needs Linux 6\.4 with CONFIG_USER_EVENTS|tracefs|not this user's/,
    );
  },
);
