// Ready tools over recordings: those that can be recorded answer as they did live, and the page lists the others.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  bpfObjects,
  compileC,
  interrupt,
  nothingLeft,
  startStrobe,
  strobe,
  temporaryFolder,
} from "../support/strobe.ts";

const folder = temporaryFolder();
const comm = `tools-${process.pid}`;
const page = readFileSync("docs/recordings.md", "utf8");
let program = "";
let objects = "";

const source = `
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
	signal(SIGUSR1, SIG_IGN);
	char *pages = mmap(0, 50 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 50; i++) {
		pages[i * 4096] = 1;
		syscall(SYS_getppid);
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	for (int i = 0; i < 3; i++)
		kill(getpid(), SIGUSR1);
	usleep(1000);
	return 0;
}
`;

before(() => {
  objects = bpfObjects();
  program = compileC(folder.path, comm, source, ["-pthread"]);
});

after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

/** What is behind a name in the page's list. */
const refusals = new Map(
  [...page.matchAll(/^\| `([\w-]+)` \| (.+) \|$/gm)].map(([, name, why]) => [name, why] as const),
);
/** What they ask on the command line. */
const parameters = (name: string): readonly string[] =>
  ({
    callees: [program, "main", "*"],
    calltree: [program, "main"],
    "kernel-callees": ["vfs_read", "vfs_*"],
    "kernel-calltree": ["vfs_read"],
  })[name] ?? [];
const names = readdirSync("tools")
  .filter((name) => name.endsWith(".bt"))
  .map((name) => name.slice(0, -".bt".length))
  .sort((a, b) => (a < b ? -1 : 1));

test("the page lists the tools that cannot be recorded, each with its reason", async () => {
  const refused: string[] = [];
  for (const name of names) {
    const file = join(folder.path, `${name}.strobe`);
    const words = ["record", "-q", "-o", file, "-c", program, `tools/${name}.bt`, ...parameters(name)];
    const { code, stderr } = await strobe(words);
    if (code === 0) {
      const replayed = await strobe([file, `tools/${name}.bt`, ...parameters(name)]);
      assert.equal(replayed.code, 0, `${name}: ${replayed.stderr}`);
      continue;
    }
    // What no tracer has here says nothing of recordings.
    if (stderr.includes("error: this kernel has no kprobes")) continue;
    assert.match(stderr, /^tools\/[\w-]+\.bt:\d+:\d+(?:-\d+)?: error: /m, `${name}: ${stderr}`);
    refused.push(name);
  }
  assert.deepEqual(
    refused,
    names.filter((name) => refusals.has(name)),
  );
});

/** Their answers have no time in them, which two tracers read one after the other. */
const compared = ["syscalls", "page-faults", "library-calls", "signals", "switches"];

for (const name of compared)
  test(`${name} answers over a recording as it did live`, async () => {
    const file = join(folder.path, `${name}.strobe`);
    const tool = `tools/${name}.bt`;
    const recorder = startStrobe(["record", "-o", file, tool]);
    await recorder.attached;
    const live = startStrobe(["--comm", comm, tool]);
    await live.attached;
    execFileSync(program);
    const outcome = await interrupt(live);
    assert.equal((await interrupt(recorder)).code, 0, recorder.stderr());
    const replayed = await strobe([file, "--comm", comm, tool]);
    assert.equal(replayed.code, 0, replayed.stderr);
    // A time of day may be the next second's for one of the two.
    const lines = (text: string): readonly string[] =>
      text
        .split("\n")
        .map((line) => line.replace(/^\d\d:\d\d:\d\d /, ""))
        .filter((line) => line !== "")
        .sort((a, b) => (a < b ? -1 : 1));
    assert.ok(outcome.stdout.includes(comm), outcome.stdout);
    assert.deepEqual(lines(replayed.stdout), lines(outcome.stdout));
  });
