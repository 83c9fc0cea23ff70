// Names and strings of others, on a terminal and elsewhere: spelled out there, byte for byte here, and JSON that
// parses.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { bpfObjects, command, compileC, nothingLeft, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
const objects = bpfObjects();
after(async () => {
  folder.remove();
  await nothingLeft(objects);
});
const skip = spawnSync("script", ["--version"]).status === 0 ? false : "needs the command `script`, for a terminal";

const program = compileC(
  folder.path,
  "hostile",
  `
#include <sys/prctl.h>
int told(const char *text) { return text[0]; }
int main(void)
{
	prctl(PR_SET_NAME, "a\\x1b[31m\\nb\\rc\\x9b");
	return told("x\\x1b]0;t\\x07\\n\\xc2\\x9b!\\xff\\x7f\\te") != 'x';
}`,
  ["-O0", "-g"],
);

const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
const run = (args: readonly string[]): Buffer =>
  spawnSync(process.execPath, [command, ...args], { timeout: 300_000, cwd: folder.path }).stdout;
/** What a terminal is sent; it makes two characters of a newline. */
function onTerminal(args: readonly string[]): string {
  const words = [process.execPath, command, ...args].map(quote).join(" ");
  const { stdout } = spawnSync("script", ["-qec", words, "/dev/null"], {
    timeout: 300_000,
    cwd: folder.path,
    env: { ...process.env, NO_COLOR: "1" },
  });
  return stdout.toString("latin1").replaceAll("\r\n", "\n");
}

const comm = "a\x1b[31m\nb\rc\x9b";
const shownComm = "a\\x1b[31m\\nb\\rc\\x9b";
const text = "x\x1b]0;t\x07\n\xc2\x9b!\xff\x7f\te";
const shownText = "x\\x1b]0;t\\x07\\n\\u009b!\\xff\\x7f\te";
const script = (after = ""): string[] => [
  "-q",
  "-c",
  program,
  "-e",
  `uprobe:${program}:told {
  printf("\\033[1m%s|%-16s|\\033[0m\\n", str(arg0), comm); printf("%s%c[0m%.3s\\n", "\\033[32m", 27, comm);
  print(comm); print((comm, 1)); @[comm] = str(arg0);${after} }`,
];

test("text on a terminal", { skip }, () => {
  assert.equal(
    onTerminal(script(' warnf("%s \\033[0m", comm);')),
    `\x1b[1m${shownText}|${shownComm.padEnd(16)}|\x1b[0m\n\x1b[32m\x1b[0ma\\x1b[\n${shownComm}\n(${shownComm}, 1)\n-e:3:55-80: WARNING: ${shownComm} \x1b[0m\n\n\n@[${shownComm}]: ${shownText}\n`,
  );
});

test("text elsewhere", () => {
  assert.equal(
    run(script()).toString("latin1"),
    `\x1b[1m${text}|${comm.padEnd(16)}|\x1b[0m\n\x1b[32m\x1b[0ma\x1b[\n${comm}\n(${comm}, 1)\n\n\n@[${comm}]: ${text}\n`,
  );
});

const told = { comm: "a\x1b[31m\nb\rc\\x9b", text: "x\x1b]0;t\x07\n\u009b!\\xff\x7f\te" };
function checkJson(output: string): void {
  const events = output
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly data: unknown });
  assert.deepEqual(
    events.map(({ data }) => data),
    [
      `\x1b[1m${told.text}|${told.comm.slice(0, -4)}\\x9b${" ".repeat(16 - comm.length)}|\x1b[0m\n`,
      "\x1b[32m\x1b[0ma\x1b[\n",
      told.comm,
      [told.comm, 1],
      { "@": { [told.comm]: told.text } },
    ],
  );
}

test("JSON", () => checkJson(run([...script(), "-f", "json"]).toString("utf8")));

test("JSON on a terminal", { skip }, () => {
  const sent = onTerminal([...script(), "-f", "json"]);
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(sent, /[^\n -~]/);
  checkJson(sent);
});

test("paths, maps of compiled code, files, listings and messages", { skip }, () => {
  const evil = "e\x1b[2Jvil\n";
  copyFileSync(program, join(folder.path, evil));
  writeFileSync(join(folder.path, `${evil}.txt`), "cat\x1b[2J\nline\n");
  assert.equal(onTerminal(["-l", "uprobe:./e*:told"]), "uprobe:./e\\x1b[2Jvil\\n:told\n");
  assert.equal(run(["-l", "uprobe:./e*:told"]).toString("latin1"), `uprobe:./${evil}:told\n`);
  assert.equal(
    onTerminal(["-q", "-e", `begin { cat("${folder.path}/e\\033[2Jvil\\n.txt"); exit() }`]),
    "cat\\x1b[2J\nline\n\n\n",
  );
  assert.match(onTerminal(["no\x1b[31msuch.bt"]), /^strobe: failed to open file 'no\\x1b\[31msuch\.bt'/);
  assert.match(
    onTerminal(["-e", "uprobe:./no\x1b[31msuch:f { }"]),
    /target file '\.\/no\?\[31msuch' does not exist or is not executable/,
  );
});
