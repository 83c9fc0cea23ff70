// Frames of user stacks: as build ids and offsets, with names of just-in-time compiled code, and of programs in
// namespaces.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
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
const atStart = bpfObjects();
let program = "";
before(() => {
  program = compileC(
    folder.path,
    "deep",
    `
    #include <stdio.h>
    volatile int sum;
    __attribute__((noinline)) void leaf(int n) { sum += n; }
    __attribute__((noinline)) void middle(int n) { leaf(n); sum++; }
    int main(void) { while (getchar() == 'x') middle(1); return 0; }`,
    ["-O0", "-Wl,--build-id"],
  );
});
after(async () => {
  await nothingLeft(atStart);
  folder.remove();
});

/** The symbol that holds an address, as binutils know it. */
function symbolAt(address: number): string | undefined {
  return execFileSync("nm", ["-S", "--defined-only", program], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.split(" "))
    .find(
      ([start, size, kind]) =>
        /^[tT]$/.test(kind) &&
        Number.parseInt(start, 16) <= address &&
        address < Number.parseInt(start, 16) + Number.parseInt(size, 16),
    )?.[3];
}

test("build_id: each frame is the file's build id and where in the file it is", async () => {
  const id = /Build ID: ([0-9a-f]+)/.exec(execFileSync("readelf", ["-n", program], { encoding: "utf8" }))?.[1];
  const running = startStrobe(["-e", `uprobe:${program}:leaf+4 { @[ustack(build_id, 3)] = count(); }`]);
  await running.attached;
  spawnSync(program, { input: "xxx" });
  const { stdout } = await interrupt(running);
  const frames = [...stdout.matchAll(/^\s*([0-9a-f]{40}) 0x([0-9a-f]+)$/gm)];
  assert.deepEqual(
    frames.map(([, build, offset]) => [build, symbolAt(Number.parseInt(offset, 16))]),
    [
      [id, "leaf"],
      [id, "middle"],
      [id, "main"],
    ],
  );
  assert.match(stdout, /\]: 3$/m);
});

test("functions that V8 compiled have their names, after the process has gone as well", async () => {
  const script = join(folder.path, "busy.js");
  writeFileSync(
    script,
    "function countTheLetters(n) { let sum = 0; for (let i = 0; i < n; i++) sum += i % 7; return sum; }\nfor (let i = 0; i < 60; i++) countTheLetters(1e7);\n",
  );
  // From the beginning, so that it is known where its code is.
  const { stdout } = await strobe([
    "-q",
    "-c",
    `${process.execPath} --perf-basic-prof ${script}`,
    "-e",
    'profile:hz:99 /pid == cpid/ { @[ustack(1)] = count(); } begin { printf("%d\\n", cpid); }',
  ]);
  rmSync(`/tmp/perf-${Number.parseInt(stdout, 10)}.map`, { force: true });
  const counted = [...stdout.matchAll(/@\[\s+(\S.*)\s+\]: (\d+)/g)].map(
    ([, frame, count]) => [frame, Number(count)] as const,
  );
  const own = counted.reduce(
    (sum, [frame, count]) => sum + (/^(JS|LazyCompile|Function):[*~^+]?countTheLetters /.test(frame) ? count : 0),
    0,
  );
  // Whoever does nothing else for seconds is sampled there.
  assert.ok(own > 0, `no sample in the function:\n${stdout}`);
});

const unshares = spawnSync("unshare", ["-m", "true"]).status === 0;

test(
  "a program whose file only its own mount namespace shows",
  { skip: !unshares && "mount namespaces are not allowed here" },
  async () => {
    const place = join(folder.path, "mounted");
    execFileSync("mkdir", [place]);
    const child = spawn(
      "unshare",
      ["-m", "--propagation", "private", "sh", "-c", `mount --bind ${folder.path} ${place} && exec ${place}/deep`],
      { stdio: ["pipe", "ignore", "inherit"] },
    );
    try {
      // The name changes with the last exec.
      while (
        !execFileSync("readlink", [`/proc/${child.pid}/exe`], { encoding: "utf8" })
          .trim()
          .endsWith("/deep")
      )
        await new Promise((done) => setTimeout(done, 10));
      const running = startStrobe([
        "-p",
        String(child.pid),
        "-e",
        `uprobe:${place}/deep:leaf+4 { @[ustack(3)] = count(); }`,
      ]);
      await running.attached;
      child.stdin.end("xxxx");
      await once(child, "exit");
      const { stdout } = await running.outcome;
      assert.match(stdout, /^@\[\n {8}leaf\+4\n {8}middle\+\d+\n {8}main\+\d+\n\]: 4$/m);
    } finally {
      child.kill();
    }
  },
);
