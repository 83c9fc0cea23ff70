// On a terminal, a script that prints nothing and counts in maps is not said to have seen nothing: the live line names
// the map of most keys and what a map without keys holds.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, test } from "node:test";
import { bpfObjects, command, nothingLeft } from "../../support/strobe.ts";

const atStart = bpfObjects();
after(() => nothingLeft(atStart));

/** Does nothing but keep a script going. */
const idle = "interval:s:60 { @never = 1; }";

/** The first live line that is as wanted, without its time, of a script on a terminal of so many columns. */
async function liveLine(script: string, columns = 200, wanted = /./): Promise<string> {
  const line = `stty cols ${columns}; "${process.execPath}" "${command}" -e '${script}'`;
  const child = spawn("script", ["-qec", line, "/dev/null"], {
    env: { ...process.env, TERM: "xterm", NO_COLOR: "" },
    stdio: ["pipe", "pipe", "inherit"],
    timeout: 300_000,
  });
  let stdout = "";
  let found: string | undefined;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    if (found !== undefined) return;
    // Those that are there to their ends.
    const lines = stdout
      .split("\x1b[2m")
      .slice(1)
      .flatMap((shown) => shown.split("\x1b").slice(0, -1));
    found = lines.map((shown) => shown.replace(/^tracing… \d+ s, /, "")).find((shown) => wanted.test(shown));
    // As its user would end it.
    if (found !== undefined) child.stdin.write("\x03");
  });
  await once(child, "close");
  return found ?? assert.fail(stdout);
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
      ].map((script) => liveLine(`${script} ${idle}`)),
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
      liveLine(`begin { printf("x\\n"); @[1] = 1; @[2] = 1; } ${idle}`),
      liveLine(idle),
      liveLine(`begin { @a_long_name_of_a_map[1] = 1; } ${idle}`, 30),
    ]),
    ["1 event printed, @: 2 keys, 0 lost", "0 events printed, 0 lost", "@a_long_name_of"],
  );
});

test("handlers in the kernel fill the map", async () => {
  const busy = spawn("/bin/sh", ["-c", "while :; do kill -0 $$; done"]);
  try {
    const counted = /^@: [1-9][\d,]*, @by: 1 key, 0 lost$/;
    const script = `tracepoint:syscalls:sys_enter_kill /pid == ${busy.pid}/ { @ = count(); @by[pid] = count(); }`;
    assert.match(await liveLine(script, 200, counted), counted);
  } finally {
    busy.kill();
  }
});
