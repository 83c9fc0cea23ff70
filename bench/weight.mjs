import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { flatMemory } from "./latency.mjs";
import { manyFunctions } from "./many-functions.mjs";
import { installedFiles } from "./peers.mjs";
import { startTracer, stopTracer, usage } from "./process.mjs";
import { median, spread, table } from "./statistics.mjs";

const functions = 1670;
const idleMilliseconds = 5000;
/** [title, program, how often a peer is asked]: bpftrace takes a minute to let go of all system calls. */
const attachments = [
  ["count by comm", "tracepoint:raw_syscalls:sys_enter { @[comm] = count(); }"],
  [`${functions} uprobes`, "uprobe:MANY:probe_me_* { @++; }"],
  ["all system calls, both ways", "tracepoint:syscalls:sys_* { @[probe] = count(); }", 1],
];
const idle = 'tracepoint:syscalls:sys_enter_reboot { @[comm] = count(); printf("%d\\n", pid); }';

export async function weight({ peers, rounds, workload }) {
  const many = programOf(`${workload}-many`);
  const rows = [];
  const cells = (list) => (list.length ? spread(list, 0) : "");
  for (const [name, program, times] of attachments) {
    const results = peers.map(() => ({ attach: [], detach: [], peak: [] }));
    for (let round = 0; round < rounds; round++) {
      for (const [index, peer] of peers.entries()) {
        if (peer.isPeer && times !== undefined && round >= times) continue;
        const { attach, detach, peak } = await attachment(
          peer,
          fresh(program.replace("MANY", peer.isPeer ? `/proc/${process.pid}/root${many}` : many)),
        );
        results[index].attach.push(attach);
        results[index].detach.push(detach);
        results[index].peak.push(peak);
      }
    }
    for (const [kind, title] of [
      ["attach", "ms from the shell to attached"],
      ["detach", "ms from Ctrl-C to the prompt"],
      ["peak", "MiB at the peak"],
    ]) {
      const ratio = peers.length > 1 ? (median(results[0][kind]) / median(results[1][kind])).toFixed(2) : "";
      rows.push([name, title, ...results.map((r) => cells(r[kind])), ratio]);
    }
  }
  rows.push(...(await manyFunctions(peers, rounds)));
  const rests = [];
  for (const peer of peers) rests.push(await resting(peer));
  rows.push([
    `idle for ${idleMilliseconds / 1000} s, a probe attached`,
    "ms of CPU",
    ...rests.map(({ cpu }) => cpu.toFixed(0)),
    "",
  ]);
  rows.push(["", "times woken up, all threads", ...rests.map(({ wakeUps }) => String(wakeUps)), ""]);
  const flat = [];
  for (const peer of peers) flat.push(await flatMemory(peer, workload));
  rows.push([
    "printing 300k lines a second",
    "MiB resident after 3 s, after 13 s",
    ...flat.map(({ early, late }) => `${early.toFixed(0)}, ${late.toFixed(0)}`),
    "",
  ]);
  const installed = installedFiles().reduce((sum, path) => sum + statSync(path).size, 0) / 2 ** 20;
  rows.push([
    "installed, with all dependencies, beside Node",
    "MiB",
    installed.toFixed(1),
    ...peers.slice(1).map(() => ""),
    "",
  ]);
  return table(["what", "unit", ...peers.map(({ name }) => name), "ratio"], rows);
}

let texts = 0;
/** As if it never ran before: strobe keeps what it compiled. */
function fresh(program) {
  return `${program} // ${process.pid} ${texts++}`;
}

async function attachment(peer, program) {
  const tracer = startTracer(peer, ["-e", program]);
  const attach = await tracer.ready;
  const peak = usage(tracer.pid()).peakKilobytes / 1024;
  const interrupted = performance.now();
  await stopTracer(tracer);
  return { attach, detach: performance.now() - interrupted, peak };
}

/** CPU milliseconds that nothing takes, and wake-ups. */
async function resting(peer) {
  const tracer = startTracer(peer, ["-e", idle]);
  await tracer.ready;
  await sleep(2500);
  const before = usage(tracer.pid());
  const woken = wakeUps(tracer.pid());
  await sleep(idleMilliseconds);
  const cpu = (usage(tracer.pid()).cpuSeconds - before.cpuSeconds) * 1000;
  const result = { cpu, wakeUps: wakeUps(tracer.pid()) - woken };
  await stopTracer(tracer);
  return result;
}

function wakeUps(pid) {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, "utf8");
    return sum + Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)?.[1]);
  }, 0);
}

/** A program of that many functions. */
function programOf(path) {
  const numbers = Array.from({ length: functions }, (_, n) => n);
  writeFileSync(
    `${path}.c`,
    `${numbers.map((n) => `__attribute__((noinline)) void probe_me_${n}(void) { __asm__ volatile(""); }`).join("\n")}
int main(void) { ${numbers.map((n) => `probe_me_${n}();`).join(" ")} return 0; }\n`,
  );
  const built = spawnSync("gcc", ["-O1", "-o", path, `${path}.c`], { stdio: "inherit" });
  if (built.status !== 0) throw new Error("the program of many functions needs gcc");
  return path;
}
