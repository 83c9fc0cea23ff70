// On a terminal, a script that prints nothing and counts in maps is not said to have seen nothing: the live line names
// the map of most keys and what a map without keys holds.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { bpfObjects, command, nothingLeft } from "../../support/strobe.ts";

const atStart = bpfObjects();
after(() => nothingLeft(atStart));

/** The line is there after half a second, or one where something was printed. */
const [soon, later] = [800, 1300].map((milliseconds) => `interval:ms:${milliseconds} { exit(); }`);

/** The last live line without its time, of a script on a terminal of so many columns. */
async function lastLine(script: string, columns = 200): Promise<string | undefined> {
  const line = `stty cols ${columns}; "${process.execPath}" "${command}" -e '${script}'`;
  const { stdout } = await promisify(execFile)("script", ["-qec", line, "/dev/null"], { timeout: 15_000 });
  const [, ...shown] = stdout.split("\x1b[2m");
  const last = shown.at(-1);
  return last?.slice(0, last.indexOf("\x1b")).replace(/^tracing… \d+ s, /, "");
}

test("keys of the largest map, and what a map without keys has", async () => {
  const fill = (map: string, keys: number): string => `for ($i : 0..${keys}) { ${map}[$i] = 1; }`;
  assert.deepEqual(
    await Promise.all(
      [
        `begin { ${fill("@few", 3)} ${fill("@reads", 1340)} ${fill("@some", 20)} delete(@reads[0]); @n = 69919; }`,
        'begin { @one[1] = count(); @h = hist(5); @h = hist(9); @text = "x"; }',
        "begin { @low = min(-5); }",
        'begin { @ = "x"; }',
      ].map((script) => lastLine(`${script} ${soon}`)),
    ),
    [
      "@n: 69,919, @reads: 1,339 keys, 0 lost",
      "@h: 2 values, @one: 1 key, 0 lost",
      "@low: -5, 0 lost",
      "@ is set, 0 lost",
    ],
  );
});

test("events that were printed are said beside it, and where there is nothing else; a line is no longer than the terminal is wide", async () => {
  assert.deepEqual(
    await Promise.all([
      lastLine(`begin { printf("x\\n"); @[1] = 1; @[2] = 1; } ${later}`),
      lastLine(`${soon} interval:s:60 { @ = 1; }`),
      lastLine(`begin { @a_long_name_of_a_map[1] = 1; } ${soon}`, 30),
    ]),
    ["1 event printed, @: 2 keys, 0 lost", "0 events printed, 0 lost", "@a_long_name_of"],
  );
});

test("handlers in the kernel fill the map", async () => {
  const busy = spawn("/bin/sh", ["-c", "while :; do kill -0 $$; done"]);
  try {
    const line = await lastLine(
      `tracepoint:syscalls:sys_enter_kill /pid == ${busy.pid}/ { @ = count(); @by[pid] = count(); } ${soon}`,
    );
    assert.match(line ?? "", /^@: [1-9][\d,]*, @by: 1 key, 0 lost$/);
  } finally {
    busy.kill();
  }
});
