// What people get wrong besides the language: files that are none, damaged or unreadable, places that cannot be
// written, options.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import {
  bpfObjects,
  command,
  compileC,
  interrupt,
  nothingLeft,
  startStrobe,
  strobe,
  temporaryFolder,
} from "../support/strobe.ts";

const folder = temporaryFolder();
const at = (name: string): string => join(folder.path, name);
let objects = "";

before(() => {
  objects = bpfObjects();
  mkdirSync(at("folder"));
  symlinkSync("loop", at("loop"));
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

async function complaint(...args: readonly string[]): Promise<string> {
  const { code, stderr, stdout } = await strobe(args, { cwd: folder.path });
  assert.equal(code, 1);
  assert.equal(stdout, "");
  return stderr.replaceAll("\n(strobe -h shows the options)", "").trimEnd();
}

describe("scripts that are none", () => {
  const cases: readonly [name: string, bytes: Buffer | undefined, said: string][] = [
    ["none.bt", undefined, "strobe: failed to open file 'none.bt': no such file (a program goes behind -e)"],
    ["folder", undefined, "strobe: cannot read folder: read: it is a folder (EISDIR)"],
    ["loop", undefined, "strobe: cannot read loop: stat: its links go in circles (ELOOP)"],
    ["/dev/zero", undefined, "strobe: /dev/zero is no script: it has more than 16 MB"],
    ["/bin/ls", undefined, "strobe: /bin/ls is no script: its byte 7 is 0, as in no text"],
    [
      "wide.bt",
      Buffer.from("\ufeffbegin { exit() }", "utf16le"),
      "strobe: wide.bt is text in UTF-16: a script must be in UTF-8 (iconv -t UTF-8)",
    ],
    [
      "lines.bt",
      Buffer.from("begin {\r\n  exot();\r\n}\r\n"),
      "lines.bt:2:3: error: unknown function: 'exot'\n 2 │   exot();\n   │   ^^^^^^\nhelp: did you mean `exit`?",
    ],
    [
      "mark.bt",
      Buffer.from("\ufeffbegin { exot() }"),
      "mark.bt:1:9: error: unknown function: 'exot'\n 1 │ begin { exot() }\n   │         ^^^^^^\nhelp: did you mean `exit`?",
    ],
  ];
  for (const [name, bytes, said] of cases) {
    test(name, async () => {
      if (bytes !== undefined) writeFileSync(at(name), bytes);
      assert.equal(await complaint(name), said);
    });
  }

  test("laying them out, too", async () => {
    assert.equal(await complaint("fmt", "/bin/ls"), "strobe: /bin/ls is no script: its byte 7 is 0, as in no text");
    assert.equal(await complaint("fmt", "none.bt"), "strobe: cannot read none.bt: open: no such thing (ENOENT)");
  });
});

describe("scripts of programs that went wild", () => {
  const many = 20_000;
  const cases: readonly [name: string, script: string, said: RegExp][] = [
    ["pointers", `begin { $x = (uint64${"*".repeat(many)})0; exit() }`, /: error: too many levels of pointers\n/],
    [
      "typeof",
      `begin { let $x : ${"typeof(".repeat(many)}1${")".repeat(many)} = 1; exit() }`,
      /: error: nesting is too deep\n/,
    ],
    ["tuple", `begin { $x = (${"1,".repeat(many)}1); exit() }`, /: error: a tuple or a key has at most 1000 values\n/],
    ["key", `begin { @[${"1,".repeat(many)}1] = 1; exit() }`, /: error: a tuple or a key has at most 1000 values\n/],
    [
      "unroll",
      `begin { ${"unroll(2) { ".repeat(100)} @++; ${"}".repeat(100)} exit() }`,
      /: error: the body is unrolled 4096 times, and at most 2500 are supported\n/,
    ],
    [
      "structs",
      `${Array.from({ length: 5000 }, (_, i) => `struct s${i} { ${i > 0 ? `struct s${i - 1} a;` : ""} int b; };`).join("")} begin { print(((struct s4999 *)0)->b); exit() }`,
      /: error: the script is too large: its nesting or unrolling exceeds what can be compiled\n/,
    ],
    ["wildcard", `tracepoint:${"*a".repeat(many)}:x { }`, /: error: no tracepoint matches/],
    [
      "tracepoint",
      `tracepoint:syscalls:sys_enter_${"x".repeat(many)} { }`,
      /: error: no matches for tracepoint syscalls:sys_enter_x+…\n/,
    ],
    ["function", `begin { ${"a".repeat(many)}(); }`, /: error: unknown function: 'a{79}…\n/],
  ];
  for (const [name, script, said] of cases) {
    test(name, async () => {
      writeFileSync(at(`${name}.bt`), script);
      const message = await complaint(`${name}.bt`);
      assert.match(message, said);
      assert.ok(message.length < 2000, `${message.length} characters`);
    });
  }
});

test("output that cannot be written", async () => {
  assert.equal(
    await complaint("-o", "none/out", "-e", "begin { exit() }"),
    'strobe: cannot write to "none/out": open: no such thing (ENOENT)',
  );
  assert.equal(
    await complaint("-o", "folder", "-e", "begin { exit() }"),
    'strobe: cannot write to "folder": open: it is a folder (EISDIR)',
  );
  assert.equal(
    await complaint("-o", "/dev/full", "-e", "begin { print(1); exit() }"),
    'strobe: cannot write to "/dev/full": write: no space left (ENOSPC)',
  );
  assert.equal(
    await complaint("--emit", "ts", "-o", "none/out", "-e", "begin { exit() }"),
    'strobe: cannot write to "none/out": open: no such thing (ENOENT)',
  );
});

test("a cache folder in which nothing can be made is done without", async () => {
  const { code, stdout } = await strobe(["-e", "begin { print(1); exit() }"], {
    env: { ...process.env, STROBE_CACHE: "/proc" },
  });
  assert.equal(code, 0);
  assert.equal(stdout.trim(), "1");
});

test("what is probed is no program", async () => {
  assert.match(
    await complaint("-e", "uprobe:/etc/passwd:main { }"),
    /error: `\/etc\/passwd` is no program and no library \(ELF\)/,
  );
  assert.match(
    await complaint("-e", "uprobe:/bin/:main { }"),
    /error: `\/bin\/` is a folder\n.*\n.*\nhelp: name what is in it, as in `\/bin\/\*`/,
  );
  assert.match(
    await complaint("-e", "usdt:/none:a:b { }"),
    /error: target file '\/none' does not exist or is not executable/,
  );
});

test("a damaged program is told with the probe", async () => {
  const bytes = readFileSync(compileC(folder.path, "whole", "int main(void) { return 0; }"));
  writeFileSync(at("cut"), bytes.subarray(0, 2000), { mode: 0o755 });
  for (const probe of [`uprobe:${at("cut")}:main`, `ret:${at("cut")}:main`]) {
    const said = await complaint("-e", `${probe} { }`);
    assert.ok(
      said.startsWith(
        `-e:1:1: error: ${at("cut")}: damaged ELF file: the section table lies behind the end of the file\n`,
      ),
      said,
    );
    assert.match(said, /help: the file is damaged or cut short: build it again, or copy it anew$/);
  }
  const listing = await complaint("-l", `uprobe:${at("cut")}:*`);
  assert.equal(
    listing,
    `strobe: ${at("cut")}: damaged ELF file: the section table lies behind the end of the file\nThe file is damaged or cut short: build it again, or copy it anew.`,
  );
});

test("listing what is not there says so", async () => {
  assert.equal(await complaint("-l", "nosuch"), "strobe: no probe matches `nosuch`");
  assert.equal(
    await complaint("-l", "uprobe:/none:*"),
    "strobe: target file '/none' does not exist or is not executable\ngive a path, or a name that the shell or the loader finds",
  );
  assert.match(
    await complaint("-l", "tracepoint:schde:sched_switch"),
    /^strobe: no tracepoints of the category `schde`\ndid you mean/,
  );
  assert.match(await complaint("-l", "-e", "begin {"), /^-e:1:7: error: expected `}` at the end of the probe/);
});

test("a process and a command exclude each other", async () => {
  assert.equal(
    await complaint("-p", "1", "-c", "true", "-e", "begin { exit() }"),
    "strobe: cannot use both -c and -p: trace a process that runs, or one that is started",
  );
});

test("programs: a byte order mark is none of their text, and what is no name or process is said", async () => {
  const library = resolve("dist/index.mjs");
  writeFileSync(
    at("mark.ts"),
    `\ufeffimport { trace, uprobe, type Probe } from ${JSON.stringify(library)};
const said = (act: () => unknown) => Promise.resolve().then(act).then(() => "nothing", (error: Error) => error.message);
const wrong = uprobe as unknown as (binary: string, handler: () => void) => Probe;
console.log(await said(() => wrong("/bin/ls:main", () => {})));
console.log(await said(() => trace("begin { }", { pid: "x" as unknown as number })));
console.log(await said(() => trace("begin { }", { queueLimit: -1 })));
console.log(await said(() => trace("begin { }", { maxOverhead: "2%" as unknown as number })));
`,
  );
  const { stdout, stderr } = await strobe(["run", at("mark.ts")]);
  assert.equal(stderr, "");
  assert.equal(
    stdout,
    "strobe: uprobe() takes the probe's name as a string, got a value of the type function\n" +
      'strobe: the option pid takes the number of a process, got "x"\n' +
      "strobe: the option queueLimit takes a number of events, got -1\n" +
      'strobe: the option maxOverhead takes a share of all CPUs\' time, such as 0.02 for 2 %, got "2%"\n',
  );
});

test("SIGUSR1 opens no debugger", async () => {
  const running = startStrobe(["-e", "interval:s:10 { }"]);
  await running.attached;
  running.child.kill("SIGUSR1");
  const { code, stderr } = await interrupt(running);
  assert.equal(code, 0);
  assert.doesNotMatch(stderr, /Debugger/);
});

test("a slow reader gets all of it", () => {
  writeFileSync(at("long.bt"), "interval:s:1 { @x[1] = 1; }\n".repeat(4000));
  const { stdout } = spawnSync(
    "bash",
    ["-c", `'${process.execPath}' '${command}' --fmt '${at("long.bt")}' | (sleep 1; wc -l)`],
    { encoding: "utf8" },
  );
  assert.equal(stdout.trim(), "4000");
});

test("nobody reads what is listed or told", () => {
  const { status, stderr } = spawnSync(
    "bash",
    ["-c", `set -o pipefail; '${process.execPath}' '${command}' -l 'tracepoint:*' | head -1`],
    { encoding: "utf8" },
  );
  assert.equal(stderr, "");
  assert.equal(status, 0);
});

test("of thousands of errors, some are shown", async () => {
  writeFileSync(at("wrong.bt"), Array.from({ length: 150 }, (_, i) => `begin { nothing_${i}(); }`).join("\n"));
  const lines = (await complaint("wrong.bt")).split("\n");
  assert.equal(lines.filter((line) => line.includes(": error: unknown function: 'nothing_")).length, 100);
  assert.equal(lines.at(-1), "strobe: 50 more messages are not shown");
});
