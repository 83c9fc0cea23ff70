// `Attached N probes` counts probes of the script, as bpftrace does: a static probe at several locations, the copies of
// an inlined function and the returns of one are one probe each, in however many programs; what is written twice is
// two.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compileWith } from "../../support/compilers.ts";
import { strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());
let program = "";

before(() => {
  // The two locations of `many` have their argument in different places, so that a script which reads it is two
  // programs.
  writeFileSync(
    join(folder.path, "places.c"),
    `
    #define NOTE(name, argument, operand) __asm__ volatile("990: nop\\n.pushsection .note.stapsdt,\\"\\",\\"note\\"\\n.balign 4\\n" \\
      ".4byte 992f-991f, 994f-993f, 3\\n991: .asciz \\"stapsdt\\"\\n992: .balign 4\\n993: .8byte 990b, 0, 0\\n" \\
      ".asciz \\"demo\\"\\n.asciz \\"" name "\\"\\n.asciz \\"" argument "\\"\\n994: .balign 4\\n.popsection" :: operand)
    static volatile int v;
    __attribute__((noinline)) static void a(int i) { NOTE("many", "-4@%%edi", "D"(i)); NOTE("lone", "-4@%%edi", "D"(i)); }
    __attribute__((noinline)) static void b(int i) { NOTE("many", "-4@%%esi", "S"(i)); }
    static inline __attribute__((always_inline)) int copied(int x) { v += x; return v; }
    __attribute__((noinline)) int ends(int i) { if (i > 2) { __asm__ volatile("ret" :: "a"(1)); } v = i; return 0; }
    int main(void) { for (int i = 0; i < 5; i++) { a(i); b(i); if (copied(i) > 3) v = copied(1); ends(i); } return 0; }`,
  );
  program = compileWith("gcc", folder.path, "places.c", "places", "-O2");
});

/** What is said, and the one map. */
async function over(script: string): Promise<[string | undefined, string]> {
  const { stdout, stderr } = await strobe(["-e", script, "-c", program]);
  return [/^Attached .*$/m.exec(stderr)?.[0], stdout.trim()];
}

test("a static probe's locations, in one program and in two", async () => {
  assert.deepEqual(await over(`usdt:${program}:demo:many { @ = count(); }`), ["Attached 1 probe", "@: 10"]);
  assert.deepEqual(await over(`usdt:${program}:demo:many { @ = sum(arg0); }`), ["Attached 1 probe", "@: 20"]);
  assert.deepEqual(await over(`usdt:${program}:demo:* { @ = count(); } uprobe:${program}:main {}`), [
    "Attached 3 probes",
    "@: 15",
  ]);
});

test("copies and returns", async () => {
  assert.deepEqual(await over(`uprobe:${program}:copied { @ = count(); }`), ["Attached 1 probe", "@: 7"]);
  assert.deepEqual(await over(`ret:${program}:ends { @ = count(); }`), ["Attached 1 probe", "@: 5"]);
});

test("what is written twice is two probes", async () => {
  assert.deepEqual(await over(`usdt:${program}:demo:many, usdt:${program}:demo:m* { @ = count(); }`), [
    "Attached 2 probes",
    "@: 20",
  ]);
  assert.deepEqual(
    await over(`usdt:${program}:demo:many { @ = count(); } usdt:${program}:demo:many { @ = count(); }`),
    ["Attached 2 probes", "@: 20"],
  );
});
