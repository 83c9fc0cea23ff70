// Whoever makes a binary chooses the names in it. On a terminal they are spelled out wherever they are printed, and scripts
// that strobe writes of them have them in quotes.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { bpfObjects, command, compileC, nothingLeft, strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
let objects = "";
let program = "";
const name = 'e\x1b]0;p\x07 {\n"';
const spelled = 'e\\x1b]0;p\\x07 {\\n"';

before(() => {
  objects = bpfObjects();
  const source = `
    __attribute__((noinline)) int e_345678901(int n) { asm volatile("" : "+r"(n)); return n + 1; }
    int main(int argc, char **argv) { return e_345678901(argc) - 2; }
  `;
  program = compileC(folder.path, "named", source);
  const bytes = readFileSync(program, "latin1");
  assert.ok(bytes.includes("e_345678901"));
  writeFileSync(program, bytes.replaceAll("e_345678901", name), "latin1");
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

function onTerminal(...words: readonly string[]): string {
  const line = [process.execPath, command, ...words].map((word) => `'${word}'`).join(" ");
  return execFileSync("script", ["-qec", line, "/dev/null"], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], TERM: "dumb" },
    timeout: 300_000,
  }).replaceAll("\r\n", "\n");
}

test("func, alone or put together with other text, is spelled out; the script's own escapes are not", () => {
  const script = 'printf("%s|%10s|%s|%s\\n", func, func, "a" + func, "\\x1b[1mb\\x1b[0m"); print(func);';
  assert.equal(
    onTerminal("-q", "-c", program, "-e", `uprobe:${program}:e* { ${script} }`),
    `${spelled}|${spelled}|a${spelled}|\x1b[1mb\x1b[0m\n${spelled}\n\n\n`,
  );
});

test("likewise in D and in SystemTap's language", () => {
  assert.equal(
    onTerminal("dtrace", "-qn", `pid$target:named:e*:entry { printf("%s\\n", probefunc); }`, "-c", program),
    `${spelled}\n\n`,
  );
  const probe = `probe process("${program}").function("e*") { println(ppfunc(), ".") }`;
  assert.equal(onTerminal("stap", "-e", probe, "-c", program), `${spelled}.\n`);
});

test("strobe func and strobe follow put names into their scripts that end nothing in them", async () => {
  const lines = await strobe(["func", "-q", "--lines", "-c", program, `${program}:e*`]);
  assert.deepEqual([lines.stderr, lines.code], ["", 0]);
  assert.ok(lines.stdout.includes(` ${name}() = 2\n`) || lines.stdout.includes(` ${name}(1) = 2\n`), lines.stdout);
  const seen = await strobe(["follow", "-q", "-c", program, `uprobe:${program}:main arg1`, `${program}:*`]);
  assert.equal(seen.code, 0, seen.stderr);
  assert.match(seen.stdout, /seen main\n/);
});
