// LLVM writes nothing about a function that it inlined and left no code of. Where it inlined all calls so, nothing in the
// program leads to the function's body: the probe says so there, and nowhere else.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { compileWith, missing } from "../../support/compilers.ts";
import { strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());

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
    assert.deepEqual(
      [...stderr.matchAll(/warning: (nothing in .*)$/gm)].map(([, said]) => said),
      [
        `nothing in ${path} calls the body of \`version\`: calls that the compiler inlined and folded away are not seen`,
      ],
    );
  },
);
