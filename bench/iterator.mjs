// Events a second that a `for await` loop takes from probes in TypeScript: one at a time, and in batches. A workload makes as many
// as it can meanwhile; what the kernel or the queue drops is counted, so nothing is flattered.
//
//   node bench/iterator.mjs [events]
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { event, trace, tracepoint } from "../dist/index.mjs";

const total = Number(process.argv[2] ?? 1_000_000);
const folder = mkdtempSync(join(tmpdir(), "strobe-bench-"));
const workload = join(folder, "calls");
writeFileSync(`${workload}.c`, `
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv) { for (long i = atol(argv[1]); i > 0; i--) syscall(SYS_getppid); return 0; }
`);

const ways = {
  "one at a time": async (events) => {
    let read = 0;
    for await (const { n } of events) read += n > 0 ? 1 : 0;
    return read;
  },
  "in batches": async (events) => {
    let read = 0;
    for await (const batch of events.batches()) for (const { n } of batch) read += n > 0 ? 1 : 0;
    return read;
  },
};

try {
  execFileSync("cc", ["-O1", "-o", workload, `${workload}.c`]);
  for (const round of [1, 2, 3]) {
    for (const [way, take] of Object.entries(ways)) {
      const ticks = event();
      const session = await trace(
        tracepoint("syscalls:sys_enter_getppid", () => { if (pid === cpid) ticks.emit({ n: tid, name: comm, at: nsecs }); }, { ticks }),
        { command: `${workload} ${total}`, output: "events" },
      );
      const began = performance.now();
      const cpu = process.cpuUsage();
      const read = await take(ticks);
      const seconds = (performance.now() - began) / 1000;
      const { user, system } = process.cpuUsage(cpu);
      const perCpuSecond = read / ((user + system) / 1e6);
      console.log(`${round} ${way.padEnd(14)} ${Math.round(read / seconds).toLocaleString("en")} events/s, ${Math.round(perCpuSecond).toLocaleString("en")} a CPU-second,`
        + ` ${read} of ${total} read, ${ticks.dropped} dropped by the queue`);
      await session.ended;
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
