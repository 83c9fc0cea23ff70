// Scripts as slides and pages show them, with quotes and dashes that no language has: what is meant instead is said.
import assert from "node:assert/strict";
import { test } from "node:test";
import { strobe } from "../support/strobe.ts";

const quotes = 'scripts are written with `"`: slides, pages and mail have `“` in its place';
for (const [args, help] of [
  [["-e", "tracepoint:syscalls:sys_enter_openat { printf(“%s\\n”, comm); }"], quotes],
  [["-e", "“begin { }”"], quotes],
  [["-e", "‘begin { }’"], "scripts are written with `'`: slides, pages and mail have `‘` in its place"],
  [
    ["-e", "begin { print(1 − 2); }"],
    "scripts are written with `-`: slides, pages and mail have `−` (U+2212) in its place",
  ],
  [
    ["-e", "begin {\u00a0print(1); }"],
    "scripts are written with a space: slides, pages and mail have U+00A0 in its place",
  ],
  [["stap", "-e", "probe begin { println(“a”) }"], quotes],
] as const)
  test(args.join(" "), async () => {
    const { stderr, code } = await strobe(args);
    assert.equal(code, 1);
    assert.equal(/^help: (.*)$/m.exec(stderr)?.[1], help, stderr);
  });

test("what stands in quotes, or is a mistake for another reason, is no character to replace", async () => {
  const { stderr } = await strobe(["-e", 'begin { print("a – b" + 1, nosuch); }']);
  assert.doesNotMatch(stderr, /slides/);
});

test("an option that begins with a dash of print", async () => {
  const { stderr, code } = await strobe(["–e", "begin { }"]);
  assert.equal(
    stderr,
    "strobe: failed to open file '–e': no such file (options begin with `-`)\n(strobe -h shows the options)\n",
  );
  assert.equal(code, 1);
});
