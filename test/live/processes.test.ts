// Programs and threads as they begin and end, by their file.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Features } from "../../src/linux/kernel/features.ts";
import {
  bpfObjects,
  compileC,
  interrupt,
  nothingLeft,
  startStrobe,
  strobe,
  temporaryFolder,
} from "../support/strobe.ts";

const [major, minor] = new Features().capabilities().kernel;
const noEnd = major > 6 || (major === 6 && minor >= 16) ? false : "which process ends is told since Linux 6.16";

const folder = temporaryFolder();
const atStart = bpfObjects();
let program = "";
let other = "";

/** Starts three threads and two children, each of which starts a thread; one child becomes /bin/true. */
const source = `
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *thread(void *argument) { usleep(1000); return argument; }
static void start(int threads)
{
	pthread_t ids[8];
	for (int i = 0; i < threads; i++) pthread_create(&ids[i], 0, thread, 0);
	for (int i = 0; i < threads; i++) pthread_join(ids[i], 0);
}
int main(void)
{
	start(3);
	for (int child = 0; child < 2; child++) {
		if (fork() == 0) {
			start(1);
			if (child) execl("/bin/true", "true", (char *)0);
			_exit(0);
		}
	}
	while (wait(0) > 0) ;
	return 0;
}`;

before(() => {
  program = compileC(folder.path, "lives", source, ["-O1", "-pthread"]);
  // Another file of the same name and bytes is another program.
  spawnSync("mkdir", [join(folder.path, "copy")]);
  other = join(folder.path, "copy/lives");
  copyFileSync(program, other);
});
after(async () => {
  await nothingLeft(atStart);
  folder.remove();
});

async function during(script: string, run: () => void): Promise<string[]> {
  const running = startStrobe(["-e", script]);
  await running.attached;
  run();
  return (await interrupt(running)).stdout
    .trim()
    .split("\n")
    .filter((line) => line !== "")
    .sort();
}

const both = (): void => {
  execFileSync(program);
  execFileSync(other);
};

test("begin: programs by exec and by fork, threads but the first, in the one that begins", async () => {
  assert.deepEqual(
    await during(
      `
    process:${program}:begin { @programs[comm, tid == pid] = count(); @[probe] = count(); }
    thread:${program}:begin { @threads[comm, tid == pid] = count(); }`,
      both,
    ),
    [`@[process:${program}:begin]: 3`, "@programs[lives, true]: 3", "@threads[lives, false]: 5"].sort(),
  );
});

test("end: programs when their last thread goes, threads but the first", { skip: noEnd }, async () => {
  assert.deepEqual(
    await during(
      `
    process:${program}:end { @programs[comm] = count(); }
    thread:${program}:end { @threads[comm, tid == pid] = count(); }`,
      both,
    ),
    ["@programs[lives]: 2", "@threads[lives, false]: 5"],
  );
});

test("of any program, those of a command", { skip: noEnd }, async () => {
  const { stdout, stderr } = await strobe([
    "-q",
    "--follow",
    "-c",
    program,
    "-e",
    "process:*:begin { @begin[comm] = count(); } process:*:end { @end[comm] = count(); }",
  ]);
  assert.equal(stderr, "");
  assert.deepEqual(
    stdout
      .trim()
      .split("\n")
      .filter((line) => line !== "")
      .sort(),
    ["@begin[lives]: 3", "@begin[true]: 1", "@end[lives]: 2", "@end[true]: 1"],
  );
});

test("what there is not is refused, with what there is", async () => {
  const said = async (probe: string): Promise<string> => (await strobe(["-e", `${probe} { }`])).stderr;
  assert.match(await said("process:/nowhere/program:begin"), /no such program: `\/nowhere\/program`/);
  assert.match(await said(`process:${program}:begins`), /unknown process event `begins`[\s\S]*did you mean `begin`/);
  assert.match(await said(`thread:"${program}":begin:now`), /written `thread:BINARY:\(begin\|end\)`/);
});
