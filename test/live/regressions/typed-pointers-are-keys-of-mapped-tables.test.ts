// The verifier knows what pointers that raw tracepoints give point to, also behind a key on the stack. Handlers hash keys of
// mapped tables as numbers, which is no arithmetic that it takes of pointers.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { bpfObjects, compileC, nothingLeft, strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());

test("pointers that are typed count by key, and pair what begins with what ends", async () => {
  const objects = bpfObjects();
  const program = compileC(
    folder.path,
    "asks",
    `#include <sys/syscall.h>
     #include <unistd.h>
     int main(void) { for (int i = 0; i < 321; i++) syscall(SYS_getppid); return 0; }`,
  );
  const getppid = process.arch === "arm64" ? 173 : 110;
  const { stdout, stderr, code } = await strobe([
    "-q",
    "-c",
    program,
    "-e",
    `rawtracepoint:sys_enter /pid == cpid && args.id == ${getppid}/ {
       @by[args.regs] = count(); @two[curtask, args.regs] = sum(2); @began[args.regs] = nsecs; @of[args.regs] = args.regs;
     }
     rawtracepoint:sys_exit /pid == cpid && @began[args.regs]/ {
       @ended = count(); if (@of[args.regs] == args.regs) { @same = count(); } delete(@began[args.regs]);
     }
     end {
       printf("%d %d %d %d\\n", len(@by), len(@two), len(@began), len(@of)); clear(@of);
       for ($one : @by) { print($one.1); } for ($one : @two) { print($one.1); } clear(@by); clear(@two);
     }`,
  ]);
  assert.deepEqual([stderr, code], ["", 0]);
  assert.equal(stdout.replaceAll(/\n+/g, "\n"), "1 1 0 1\n321\n642\n@ended: 321\n@same: 321\n");
  await nothingLeft(objects);
});
