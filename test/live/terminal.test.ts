// What a terminal is given, and that a pipe is given none of it; times as dates.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { dateOf, trace } from "../../src/index.ts";
import { bpfObjects, command, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
let objects = "";
before(() => {
  objects = bpfObjects();
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

const words = [
  "-q",
  "-e",
  'begin { for ($i : 0..40) { @us[7] = hist(9); } @us[7] = hist(4); @us[7] = hist(5); @us[7] = hist(5000); @n["x"] = 3; errorf("no %d", 1); exit(); }',
];
const utf8 = { TERM: "xterm", LC_ALL: "C.UTF-8" };

/** What the command writes to a terminal. */
function onTerminal(env: NodeJS.ProcessEnv, ...more: string[]): string {
  const line = [process.execPath, command, ...words, ...more].map((word) => `'${word}'`).join(" ");
  return execFileSync("script", ["-qec", line, "/dev/null"], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], ...env },
    timeout: 300_000,
  }).replaceAll("\r\n", "\n");
}

test("reading a recording for long shows how far it is, on a terminal that takes more than text alone", async () => {
  const file = join(folder.path, "long.strobe");
  // Two runs have a block each at least.
  for (const more of [[], ["--append"]])
    assert.equal((await strobe(["record", "-q", "-o", file, "--for", "100ms", ...more, "profile:hz:99"])).code, 0);
  // The first event takes seconds, wherever it runs.
  const script = "profile:hz:99 { if (@once == 0) { @once = 1; for ($i : 0..10000000) { @m[$i % 7] = sum($i); } } }";
  const shown = (env: NodeJS.ProcessEnv, rest = ""): string => {
    const line = `'${process.execPath}' '${command}' '${file}' -q -e '${script}'${rest}`;
    return execFileSync("script", ["-qec", line, "/dev/null"], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"], ...env },
      timeout: 300_000,
    });
  };
  const whole = shown(utf8);
  // Written over itself, and wiped before the answer.
  const [, line, after] = whole.split("\r\x1b[K");
  assert.match(line.replaceAll("\x1b", "ESC"), /^ESC\[2mreplaying .*long\.strobe █+░* \d+ %, \d+ sESC\[0m$/);
  assert.ok(after !== undefined && whole.split("\r\x1b[K").at(-1)?.includes("@once"), whole);
  assert.ok(!shown({ ...utf8, NO_COLOR: "1" }).includes("replaying"));
  assert.ok(!shown(utf8, " 2>&1 | cat").includes("replaying"));
});

const labels = ["[16, 32)", "[32, 64)", "[64, 128)", "[128, 256)", "[256, 512)", "[512, 1K)", "[1K, 2K)", "[2K, 4K)"];
const message = "-e:1:118-136: ERROR: no 1\n";
const name = (text: string): string => `\x1b[36m${text}\x1b[0m`;
const plainRow = (label: string, count: number, bar: number): string =>
  `${label.padEnd(16)}${String(count).padStart(8)} |${"@".repeat(bar).padEnd(52)}|\n`;
const plainRows = [
  plainRow("[4, 8)", 2, 2),
  plainRow("[8, 16)", 40, 52),
  ...labels.map((label) => plainRow(label, 0, 0)),
  plainRow("[4K, 8K)", 1, 1),
].join("");

test("histograms on a terminal have columns as wide as what is in them, and bars of blocks", () => {
  const row = (label: string, count: number, bar: string): string =>
    `${label.padEnd(10)}  ${String(count).padStart(2)} │${bar.padEnd(52)}│\n`;
  assert.equal(
    onTerminal(utf8),
    [
      `\x1b[31m${message}\x1b[0m\n\n${name("@n")}[x]: 3\n${name("@us")}[7]:\n`,
      row("[4, 8)", 2, "██▌"),
      row("[8, 16)", 40, "█".repeat(52)),
      ...labels.map((label) => row(label, 0, "")),
      row("[4K, 8K)", 1, "█▎"),
      "\n",
    ].join(""),
  );
});

test("--ascii and other locales keep the colours; NO_COLOR, TERM=dumb and pipes have text alone", () => {
  const colored = `\x1b[31m${message}\x1b[0m\n\n${name("@n")}[x]: 3\n${name("@us")}[7]:\n${plainRows}\n`;
  assert.equal(onTerminal(utf8, "--ascii"), colored);
  assert.equal(onTerminal({ TERM: "xterm", LC_ALL: "C" }), colored);
  const plain = `\n\n@n[x]: 3\n@us[7]:\n${plainRows}\n`;
  assert.equal(onTerminal({ ...utf8, NO_COLOR: "1" }), message + plain);
  assert.equal(onTerminal({ ...utf8, TERM: "dumb" }), message + plain);
  const piped = spawnSync(process.execPath, [command, ...words], { encoding: "utf8", env: utf8 });
  assert.deepEqual([piped.stdout, piped.stderr, piped.status], [plain, message, 0]);
});

test("--time is the column of --stamp time", () => {
  const printed = (...more: string[]): string =>
    execFileSync(process.execPath, [command, "-q", ...more, "-e", 'begin { printf("here\\n"); exit(); }'], {
      encoding: "utf8",
      cwd: folder.path,
    }).trim();
  assert.match(printed("--time"), /^\d\d:\d\d:\d\d\.\d{6} here$/);
  assert.match(printed("--time", "--stamp", "tid"), /^\d\d:\d\d:\d\d\.\d{6} +\d+ here$/);
  assert.match(printed("--time", "--stamp", "pid,time"), /^\d+ +\d\d:\d\d:\d\d\.\d{6} here$/);
});

test("dateOf() gives the time of day of every clock's nsecs", async () => {
  const from = Date.now();
  await using session = await trace(
    'begin { print((nsecs, nsecs("monotonic"), nsecs("tai"), nsecs("wall"))); exit(); }'.replaceAll(
      /nsecs\("(\w+)"\)/g,
      "nsecs($1)",
    ),
  );
  let times: readonly bigint[] = [];
  for await (const event of session) if (event.type === "value") times = event.value as readonly bigint[];
  await session.ended;
  const to = Date.now();
  for (const [i, clock] of (["boot", "monotonic", "tai", "wall"] as const).entries()) {
    const at = dateOf(times[i], clock).getTime();
    // The wall clock's reading is cut to a millisecond, on both sides.
    assert.ok(from - 1 <= at && at <= to + 1, `${clock}: ${from} ${at} ${to}`);
  }
  assert.throws(() => dateOf(1, "sun" as "boot"), /unknown clock "sun"; dateOf\(\) takes boot, monotonic, tai, wall$/);
});
