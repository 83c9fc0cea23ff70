// Handlers of programs' functions may be preempted, and the same handler run for another thread on the same CPU: each
// sees its own values alone.
import assert from "node:assert/strict";
import { after } from "node:test";
import { compileC, temporaryFolder } from "../support/strobe.ts";
import { tryOnKernels, type Trial } from "./trials.ts";

const folder = temporaryFolder();
after(() => folder.remove());

/** Four threads on one CPU call it, each with a text and a number of its own. */
const source = `
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
static long calls;
__attribute__((noinline)) void take(const char *text, long number) {
  __asm__ volatile("" : : "r"(text), "r"(number) : "memory");
}
static void *run(void *name) {
  char text[600];
  memset(text, *(char *)name, sizeof text - 1);
  text[sizeof text - 1] = 0;
  for (long i = 0; i < calls; i++) take(text, *(char *)name);
  return 0;
}
int main(int argc, char **argv) {
  calls = atol(argv[1]);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  sched_setaffinity(0, sizeof one, &one);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, run, (void *)&"abcd"[i]);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
}`;

const calls = 10_000;
const letters = ["a", "b", "c", "d"];
const preempt = "/sys/kernel/debug/sched/preempt";
const counting = (body: string): string =>
  `strobe -q -c '/bin/threads ${calls}' -e 'uprobe:/bin/threads:take { ${body} }' | grep . | sort`;

tryOnKernels({
  verb: "keeps preempted handlers apart",
  files: () => ({ "/bin/threads": compileC(folder.path, "threads", source, ["-O1", "-g", "-static", "-pthread"]) }),
  deadline: 900,
  trials: (): readonly Trial[] => [
    {
      name: "texts and numbers are of one thread",
      // Where the kernel can be told to preempt itself anywhere.
      script: `mount -t debugfs none /sys/kernel/debug; [ ! -e ${preempt} ] || echo full > ${preempt}
        ${counting("$text = str(arg0); @[$text, arg1] = count();")}`,
      check: ({ stdout, stderr }) => {
        const expected = letters.map((c) => `@[${c.repeat(599)}, ${c.charCodeAt(0)}]: ${calls}\n`);
        assert.equal(stdout, expected.join(""), stderr);
      },
    },
    {
      name: "so they are in loops over maps",
      script: counting(
        "$text = str(arg0); @seen[$text] = 1; for ($kv : @seen) { if ($kv.0 == $text) { @[arg1] = count(); } }",
      ),
      check: ({ stdout, stderr }) => {
        const lines = stdout.split("\n").filter((line) => !line.startsWith("@seen"));
        assert.deepEqual(lines, [...letters.map((c) => `@[${c.charCodeAt(0)}]: ${calls}`).toSorted(), ""], stderr);
      },
    },
  ],
});
