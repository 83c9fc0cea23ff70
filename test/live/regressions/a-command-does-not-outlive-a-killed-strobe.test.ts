// The command of -c ends with strobe, whenever that is killed: before it began, as it begins, and while it runs.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { bpfObjects, command, nothingLeft, startStrobe, strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
const objects = bpfObjects();
after(async () => {
  folder.remove();
  await nothingLeft(objects);
});

/** Processes, other than strobe, that have a word among their arguments. */
function having(word: string): readonly string[] {
  return readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0");
        return (
          words.includes(word) &&
          !words.includes(command) &&
          !/^State:\sZ/m.test(readFileSync(`/proc/${pid}/status`, "latin1"))
        );
      } catch {
        return false;
      }
    });
}

test("killed at any moment", { timeout: 300_000 }, async () => {
  const begun: string[] = [];
  const last = 11;
  for (let round = 0; round <= last; round++) {
    const words = await Promise.all(
      [0, 1, 2, 3].map(async (lane) => {
        // Nobody else sleeps for so long.
        const word = `9${process.pid}.${round}${lane}`;
        const child = spawn(
          process.execPath,
          [
            command,
            "-q",
            "-e",
            "tracepoint:syscalls:sys_enter_getpid /pid == cpid/ { @ = count() }",
            "-c",
            `sleep ${word}`,
          ],
          { stdio: "ignore" },
        );
        await new Promise((resolve) => setTimeout(resolve, (round * 4 + lane) * 25));
        if (round === last) while (having(word).length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
        if (having(word).length > 0) begun.push(word);
        child.kill("SIGKILL");
        await once(child, "exit");
        return word;
      }),
    );
    for (let wait = 0; wait < 4000 && words.some((word) => having(word).length > 0); wait++)
      await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual(words.flatMap(having), []);
  }
  // Those of the last round, and others, were killed with the command there.
  assert.ok(begun.length >= 4);
});

test("a command that cannot be executed is said; one without #! is the shell's", async () => {
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder.path, name), text);
    chmodSync(join(folder.path, name), 0o755);
    return join(folder.path, name);
  };
  const bad = file("bad", "#!/no/such/interpreter\n");
  assert.equal(
    (await strobe(["-q", "-e", "begin { }", "-c", bad])).stderr,
    `ERROR: cannot run "${bad}": what it names in its first line, or as its loader, is not there (ENOENT)\n`,
  );
  assert.equal(
    (await strobe(["-q", "-e", "begin { }", "-c", `${file("plain", 'echo "$1"\n')} word`])).stdout.trim(),
    "word",
  );
});

test("nothing but the exec is traced before the command", async () => {
  const { stdout } = await strobe([
    "-q",
    "-e",
    'tracepoint:raw_syscalls:sys_enter /pid == cpid && @done == 0/ { @done = 1; printf("%s %d\\n", comm, args.id) }',
    "-c",
    "/bin/true",
  ]);
  assert.match(stdout, process.arch === "arm64" ? /^strobe 221\n/ : /^strobe 59\n/);
});

test("an interrupted strobe ends its command, too", async () => {
  const word = `8${process.pid}`;
  const running = startStrobe(["-q", "-e", 'begin { printf("begun\\n") } interval:ms:100 { }', "-c", `sleep ${word}`]);
  while (!running.stdout().includes("begun") || having(word).length === 0)
    await new Promise((resolve) => setTimeout(resolve, 20));
  running.child.kill("SIGINT");
  assert.equal((await running.outcome).code, 0);
  for (let wait = 0; wait < 4000 && having(word).length > 0; wait++)
    await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(having(word), []);
});
