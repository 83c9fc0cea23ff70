// `strobe follow`: what happens to an object of a program, held against what the program does with it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pmuType } from "../../src/linux/kernel/tracefs.ts";
import { strobe, temporaryFolder } from "../support/strobe.ts";

const uprobes = process.geteuid?.() === 0 && pmuType("uprobe") !== undefined;
const options = { timeout: 300_000, skip: !uprobes && "needs root and uprobes" };
const folder = temporaryFolder();
const program = join(folder.path, "server");

const source = `
#include <stdlib.h>
#include <unistd.h>
struct conn { int fd; int state; char name[8]; };
#define HIDDEN __attribute__((noinline))
#define KEEP asm volatile("" ::: "memory")
HIDDEN struct conn *conn_open(int fd) { struct conn *c = calloc(1, sizeof *c); c->fd = fd; KEEP; return c; }
HIDDEN void set_state(int why, struct conn *c, int s) { KEEP; c->state = s; KEEP; }
HIDDEN int conn_read(struct conn *c, char *b) { KEEP; set_state(1, c, 2); KEEP; return c->fd; }
HIDDEN void helper(int a, int b, int d, int e, int f, struct conn *c) { KEEP; }
HIDDEN void unrelated(void *p) { KEEP; }
HIDDEN void conn_close(struct conn *c) { KEEP; set_state(2, c, 3); KEEP; free(c); KEEP; }
int main(int argc, char **argv) {
  char b[4];
  struct conn *c[3];
  for (int i = 0; i < 3; i++) c[i] = conn_open(i + 10);
  if (argc > 1) usleep(1500000);
  unrelated(b);
  for (int i = 0; i < 3; i++) {
    conn_read(c[i], b);
    helper(1, 2, 3, 4, 5, c[i]);
    if (i != 1) conn_close(c[i]);
  }
  if (argc > 1) usleep(1500000);
  return 0;
}
`;

before(() => {
  writeFileSync(`${program}.c`, source);
  if (uprobes) execFileSync("gcc", ["-g", "-O1", "-o", program, `${program}.c`]);
});
after(() => folder.remove());

/** `OBJECT ARG FUNCTION …`, the objects by their order. */
async function follow(...args: readonly string[]): Promise<readonly string[]> {
  const { stdout, code } = await strobe(["follow", ...args]);
  assert.equal(code, 0);
  const objects: string[] = [];
  return stdout.split("\n").flatMap((line) => {
    const [, object, what] = /^ +[\d.]+ \d+ +\w+ +(0x[0-9a-f]+) (.*)$/.exec(line) ?? [];
    if (object === undefined) return [];
    // A member's address is not that of its object.
    if (what.startsWith("set ")) return what.replaceAll(/ +/g, " ").trim();
    if (!objects.includes(object)) objects.push(object);
    return `${objects.indexOf(object)} ${what.replaceAll(/ +/g, " ").trim()}`;
  });
}

test("each call that gets an object, from the one that gives it to its free", { ...options }, async () => {
  const lines = await follow("-c", program, `uprobe:${program}:conn_open retval`, "--value", "state");
  const opened = [0, 1, 2].map((i) => `${i} seen conn_open { .state = 0 }`);
  const used = (i: number, closed: boolean): string[] => [
    `${i} 0 conn_read { .state = 0 }`,
    `${i} 1 set_state { .state = 0 }`,
    `${i} 5 helper { .state = 2 }`,
    ...(closed
      ? [`${i} 0 conn_close { .state = 2 }`, `${i} 1 set_state { .state = 2 }`, `${i} free free { .state = 3 }`]
      : []),
  ];
  assert.deepEqual(lines, [...opened, ...used(0, true), ...used(1, false), ...used(2, true)]);
});

test("one object, of some functions, by an offset and a condition", { ...options }, async () => {
  const lines = await follow(
    "-c",
    program,
    `uprobe:${program}:conn_read args.c`,
    "conn_*",
    "set_*",
    "--count",
    "1",
    "--if",
    "args.c.fd == 12",
    "--value",
    "0:u16",
    "--free",
    `uprobe:${program}:conn_close`,
  );
  assert.deepEqual(lines, [
    "0 seen conn_read { .value = 12 }",
    "0 1 set_state { .value = 12 }",
    "0 0 conn_close { .value = 12 }",
    "0 free conn_close { .value = 12 }",
  ]);
});

test("who writes a member", { ...options }, async () => {
  const lines = await follow(
    "-c",
    `${program} slowly`,
    `uprobe:${program}:conn_open retval`,
    "conn_*",
    "--value",
    "state",
    "--writes",
    "state:4",
    "--if",
    "retval.fd != 11",
  );
  const used = (i: number): string[] => [
    `${i} 0 conn_read { .state = 0 }`,
    "set set_state { .state = 2 }",
    `${i} 0 conn_close { .state = 2 }`,
    "set set_state { .state = 3 }",
    `${i} free free { .state = 3 }`,
  ];
  const expected = [0, 1].map((i) => `${i} seen conn_open { .state = 0 }`).concat(used(0), used(1));
  assert.deepEqual(lines, expected);
});

test("what makes no sense is told", { ...options }, async () => {
  const probe = `uprobe:${program}:conn_open retval`;
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /^strobe: strobe follow needs to know where the object is seen/],
    [["tcp_connect"], /^strobe: strobe follow takes a probe, such as kprobe:tcp_connect, not "tcp_connect"/],
    [["kprobe:tcp_connect args.sk"], /^strobe: which functions' calls\?/],
    [[probe, "nothing_*"], /no function in \S+ matches `uprobe:\S+:nothing_\*`|no function in \S+ matches/],
    [
      [probe, "--value", "stat"],
      /^follow:3:17: error: [^\n]*named 'stat'\n[^\n]+\n[^\n]+\nhelp: did you mean `state`\?\n$/,
    ],
    [[probe, "--value", "3 + 4"], /^strobe: --value takes a member, or OFFSET:TYPE/],
    [[probe, "--writes", "state"], /^strobe: --writes takes MEMBER:BYTES, as in state:4, not "state"/],
    [[`${probe}; exit()`], /^strobe: strobe follow… takes one expression for the object/],
  ];
  for (const [args, message] of wrong) {
    const { stderr, code } = await strobe(["follow", "-c", program, ...args]);
    assert.match(stderr, message);
    assert.equal(code, 1);
  }
});

/** The C library, as this machine's programs have it. */
const libc = (): string => /\/\S+\/libc\.so\.6/.exec(readFileSync("/proc/self/maps", "latin1"))?.[0] ?? "";

/** Of the calls of set_state(), helper() and unrelated(), those that get a connection, by their functions. */
const scripts: Readonly<Record<string, string>> = {
  "bpftrace.bt": `uretprobe:PROGRAM:conn_open { follow(retval); }
uprobe:PROGRAM:set_state /followed(args.c)/ { @calls["set_state"] = count(); }
uprobe:PROGRAM:helper /followed(arg5)/ { @calls["helper"] = count(); }
uprobe:PROGRAM:unrelated /followed(arg0)/ { @calls["unrelated"] = count(); }
uprobe:libc:free { @freed[followed(arg0)] = count(); unfollow(arg0); if (followed(arg0)) { @left = count(); } }
end { printf("%d %d %d\\n", @calls["set_state"], @calls["helper"], @freed[true]); clear(@calls); clear(@freed); }`,
  "systemtap.stp": `global calls, freed
probe process("PROGRAM").function("conn_open").return { follow($return) }
probe process("PROGRAM").function("set_state") { if (followed($c)) calls["set_state"]++ }
probe process("PROGRAM").function("helper") { if (followed($c)) calls["helper"]++ }
probe process("PROGRAM").function("unrelated") { if (followed($p)) calls["unrelated"]++ }
probe process("LIBC").function("free") { if (followed(pointer_arg(1))) freed++; unfollow(pointer_arg(1)) }
probe end { printf("%d %d %d\\n", calls["set_state"], calls["helper"], freed); delete calls }`,
  "d.d": `#pragma D option quiet
int calls[string]; int freed;
pid$target:server:conn_open:return { follow(arg1); }
pid$target:server:set_state:entry /followed(arg1)/ { calls["set_state"]++; }
pid$target:server:helper:entry /followed(arg5)/ { calls["helper"]++; }
pid$target:libc.so.6:free:entry /followed(arg0)/ { freed++; unfollow(arg0); }
END { printf("%d %d %d\\n", calls["set_state"], calls["helper"], freed); }`,
};

for (const [name, script] of Object.entries(scripts))
  test(`follow() as a function: ${name}`, { ...options }, async () => {
    const path = join(folder.path, name);
    writeFileSync(path, script.replaceAll("PROGRAM", program).replaceAll("LIBC", libc()));
    const { stdout, stderr } = await strobe(["-q", "-c", program, path]);
    assert.equal(stdout.trim().split("\n")[0], "5 3 2", stderr);
  });

test("follow() as a function: TypeScript, and on tracefs", { ...options }, async () => {
  const path = join(folder.path, "typescript.ts");
  writeFileSync(
    path,
    `import { follow, followed, map, trace, unfollow, uprobe, uretprobe } from "strobe";
const program = ${JSON.stringify(program)};
const calls = map<string, "count">();
await using session = await trace(
  uretprobe(program, "conn_open", (retval) => follow(retval)),
  uprobe(program, "set_state", ({ c }) => { if (followed(c)) calls.at("set_state").count(); }),
  uprobe(program, "helper", (args) => { if (followed(args[5])) calls.at("helper").count(); }),
  uprobe("libc", "free", (args) => { if (followed(args[0])) calls.at("free").count(); unfollow(args[0]); }),
  { command: program },
);
await session.ended;
console.log([...calls].sort().join());
`,
  );
  const typescript = await strobe(["run", path]);
  assert.equal(typescript.stdout, "free,2,helper,3,set_state,5\n", typescript.stderr);
  const tracefs = await strobe(["-q", "--engine", "tracefs", "-c", program, join(folder.path, "bpftrace.bt")]);
  assert.equal(tracefs.stdout.trim(), "5 3 2", tracefs.stderr);
});
