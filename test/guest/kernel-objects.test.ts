// Objects of the kernel's functions on other kernels: what was taken and not given back, and what happens to one, of calls
// that are known to the last.
import assert from "node:assert/strict";
import { after } from "node:test";
import { compileC, temporaryFolder } from "../support/strobe.ts";
import { tryOnKernels, type Trial } from "./trials.ts";
import { workSource } from "./workload.ts";

const folder = temporaryFolder();
after(() => folder.remove());

/** Without where it was, when, and by whom. */
// An object is freed by whoever has the processor when nobody reads it any more.
const shown = (text: string): readonly string[] =>
  text
    .replaceAll(/0x[0-9a-f]+/g, "OBJECT")
    .replaceAll(/^ *[\d.]+ \d+ +work +OBJECT /gm, "")
    .replaceAll(/^ *[\d.]+ \d+ +\S+ +OBJECT (?=free )/gm, "")
    .split("\n")
    .filter((line) => line !== "");

const trials: readonly Trial[] = [
  {
    name: "leaks --kernel: more taken than given",
    script: `strobe leaks -q --kernel 'get=vfs_read args.file' 'put=vfs_write args.file' -c '/bin/work 100'`,
    check: ({ stdout, stderr }) => {
      const [left, taken, ...stack] = shown(stdout);
      assert.equal(left, "@left[OBJECT]: { .left = 100, .taken = 100, .given = 0 }", stderr);
      assert.match([taken, ...stack].join(" "), /^@taken_by\[OBJECT, +vfs_read\+\d+ +ksys_read\+\d+ [^\]]*\]: 100$/);
    },
  },
  {
    name: "leaks --kernel: as much given as taken",
    script: `strobe leaks -q --kernel 'get=vfs_open args.file' 'put=__fput args.file' -c '/bin/work 100 /dev/null'`,
    check: ({ stdout, stderr }) => assert.deepEqual(shown(stdout), [], stderr),
  },
  {
    name: "follow: functions that get an object, to its end",
    script: `strobe follow -q -c '/bin/work 3' 'kprobe:vfs_read args.file' 'vfs_*' --value f_flags --count 1`,
    check: ({ stdout, stderr }) =>
      assert.deepEqual(
        shown(stdout),
        [
          "MILLISECONDS THREAD  COMM            OBJECT         ARG  FUNCTION",
          "seen vfs_read { .f_flags = 32768 }",
          "0    vfs_read { .f_flags = 32768 }",
          "0    vfs_read { .f_flags = 32768 }",
          "free tracepoint:kmem:kmem_cache_free { .f_flags = 32768 }",
        ],
        stderr,
      ),
  },
];

tryOnKernels({
  verb: "tells of the kernel's objects",
  own: true,
  files: () => ({ "/bin/work": compileC(folder.path, "work", workSource, ["-O1", "-g", "-static"]) }),
  deadline: 900,
  trials: () => trials,
});
