// LLVM writes nothing about a function that it inlined and left no code of. Where it inlined all calls so, nothing in the
// program leads to the function's body; where some, the code of a function that calls it does not lead there: the probe
// says so there, and nowhere else.
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { compileWith, missing } from "../../support/compilers.ts";
import { strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());

const notesOf = (stderr: string): readonly string[] =>
  [...stderr.matchAll(/warning: (.*)$/gm)]
    .map(([, said]) => said)
    .filter((said) => !said.includes("is inlined: probing"));

test(
  "of a function whose body nothing leads to, in no copy of which there is code",
  { skip: missing("clang") },
  async () => {
    writeFileSync(
      join(folder.path, "folded.c"),
      `
    #include <stdio.h>
    volatile int sink, rounds = 5;
    double version(void *state) { return state == 0 ? 5 : 504; }
    __attribute__((noinline)) int called(int x) { sink += x; return sink; }
    int pointed(int x) { sink -= x; return sink; }
    int kept(int x) { sink ^= x; return sink; }
    int (*volatile pointer)(int) = pointed;
    int main(void) {
      int wrong = 0;
      for (int i = 0; i < rounds; i++) { if (version(&sink) != 504) wrong++; called(i); pointer(i); kept(i); }
      printf("%d\\n", wrong);
      return 0;
    }`,
    );
    const path = compileWith("clang", folder.path, "folded.c", "folded", "-O2");
    const names = ["version", "called", "pointed", "kept", "main"];
    const script = names.map((name) => `uprobe:${path}:${name} { @${name} = count(); }`).join("\n");
    const { stdout, stderr } = await strobe(["-c", path, "-e", script]);
    assert.deepEqual(
      stdout.split("\n").filter((line) => line.startsWith("@")),
      ["@called: 5", "@kept: 5", "@main: 1", "@pointed: 5"],
    );
    assert.deepEqual(notesOf(stderr), [
      `nothing in ${path} calls the body of \`version\`: calls that the compiler inlined and folded away are not seen`,
    ]);
  },
);

test(
  "of a function that another calls in the source, and whose code does not lead there",
  { skip: missing("clang") },
  async () => {
    // Called by its address elsewhere, so that its body stays; the comment and the text are no calls.
    writeFileSync(
      join(folder.path, "some.c"),
      `
    #include <stdio.h>
    volatile int sink, rounds = 5;
    int version(void *state) { return state == 0 ? 5 : 504; }
    __attribute__((noinline)) int called(int x) { sink += x; return sink; }
    int (*volatile pointer)(void *) = version;
    __attribute__((noinline)) int asks(void) { return sink + version(&sink); }
    __attribute__((noinline)) int tells(void) { sink = 3; /* as version() */ puts("version"); return called(1); }
    int main(void) {
      int wrong = 0;
      for (int i = 0; i < rounds; i++) { if (pointer(&sink) != 504) wrong++; wrong += asks() & 0; tells(); }
      printf("%d\\n", wrong);
      return 0;
    }`,
    );
    const path = compileWith("clang", folder.path, "some.c", "some", "-O2");
    const names = ["version", "called", "asks", "tells"];
    const script = names.map((name) => `uprobe:${path}:${name} { @${name} = count(); }`).join("\n");
    const { stdout, stderr } = await strobe(["-c", path, "-e", script]);
    assert.deepEqual(
      stdout.split("\n").filter((line) => line.startsWith("@")),
      ["@asks: 5", "@called: 5", "@tells: 5", "@version: 5"],
    );
    assert.deepEqual(notesOf(stderr), [
      "calls of `version` in `asks` may have been inlined without a trace: they are not seen",
    ]);
  },
);

test(
  "of a function that returns at once, in a copy of a caller that has no call of it",
  { skip: missing("clang") },
  async () => {
    // In a source of its own, which is gone when strobe looks.
    const source = join(folder.path, "like-others.c");
    writeFileSync(
      source,
      `
    volatile int sink, rounds = 5;
    static __attribute__((noinline)) int step(int x) { sink += x; return sink; }
    int fill(const int *from, int count) {
      if (from == 0 || count < 2) return 0;
      for (int i = 0; i < count; i++) step(from[i]), step(sink), step(i);
      for (int i = count; i > 0; i--) step(from[i - 1]), step(sink), step(i);
      for (int i = 0; i < count; i += 2) step(from[i]), step(sink), step(i);
      return sink;
    }
    static inline __attribute__((always_inline)) int begin(const int *from, int count) {
      step(count);
      return fill(from, count) < 0;
    }
    int numbers[4] = { 1, 2, 3, 4 };
    __attribute__((noinline)) int without(void) { return begin(0, 0); }
    __attribute__((noinline)) int with(void) { return begin(numbers, rounds - 1); }
    int main(void) {
      for (int i = 0; i < rounds; i++) { without(); with(); fill(numbers, rounds - 1); }
      return 0;
    }`,
    );
    const path = compileWith("clang", folder.path, "like-others.c", "like-others", "-O2");
    rmSync(source);
    const script = ["fill", "step"].map((name) => `uprobe:${path}:${name} { @${name} = count(); }`).join("\n");
    const { stdout, stderr } = await strobe(["-c", path, "-e", script]);
    assert.match(stdout, /^@fill: 10$/m);
    assert.deepEqual(notesOf(stderr), [
      "calls of `fill` in `without` may have been inlined without a trace: they are not seen",
    ]);
  },
);
