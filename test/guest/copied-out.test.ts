// D's copyout() and copyoutstr(): what a script writes into a program's memory, by what the program has there then.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { compileC, temporaryFolder } from "../support/strobe.ts";
import { tryOnKernels, type Trial } from "./trials.ts";

const folder = temporaryFolder();
after(() => folder.remove());

/** Calls nothing else that takes a buffer's address. */
const source = `
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
static void shown(long call) {
  char text[17] = "abcdefghijklmnop";
  syscall(call, text);
  for (int i = 0; i < 16; i++) putchar(text[i] == 0 ? '.' : text[i]);
  putchar('\\n');
}
int main(void) {
  shown(SYS_getpgid);
  shown(SYS_getpgid);
  shown(SYS_getsid);
  shown(SYS_getpriority);
  return 0;
}
`;

const script = `
int n;
syscall::getpgid:entry /pid == $target && n == 0/ { copyoutstr(execname, arg0, 10); }
syscall::getpgid:entry /pid == $target && n == 1/ { copyoutstr(execname, arg0, n + 1); }
syscall::getpgid:entry /pid == $target/ { n++; }
syscall::getsid:entry /pid == $target/ { self->text = "xyz"; copyoutstr(self->text, arg0, 3); copyoutstr("ABC", arg0 + 8, 9); }
syscall::getpriority:entry /pid == $target/ { copyout("123", arg0, 2); copyoutstr("abc", 0, 4); }
`;

const trials: readonly Trial[] = [
  {
    name: "texts are copied as long as they are, and no longer than the script says",
    script: "strobe dtrace -wqs /bin/copy.d -c /bin/writer",
    check: ({ stdout, stderr }) => {
      assert.deepEqual(
        stdout.split("\n").filter((line) => line !== ""),
        ["writer.hijklmnop", "wrcdefghijklmnop", "xyzdefghABC.mnop", "12cdefghijklmnop"],
      );
      assert.match(stderr, /^dtrace: error in dt_clause_4 .*: invalid address \(0x0\) at BPF pc \d+$/m);
    },
  },
];

const files = (): Readonly<Record<string, string>> => {
  const path = join(folder.path, "copy.d");
  writeFileSync(path, script);
  return { "/bin/copy.d": path, "/bin/writer": compileC(folder.path, "writer", source, ["-O1", "-static"]) };
};

tryOnKernels({ verb: "writes programs' memory", own: true, files, deadline: 600, trials: () => trials });
