// Recording and reading system calls, beside perf and trace-cmd where they are: the same load under each, bytes and CPU
// time an event beyond what starting takes, events that are missing, and how fast what was recorded is read.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { median, spread, table } from "./statistics.mjs";
import { timed } from "./timed.mjs";

const rate = 200_000;
const seconds = 5;
const calls = rate * seconds;
const getppid = 110;
const strobe = [process.execPath, resolve("dist/strobe.js")];
const points = ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit"];

/** Each: how it records a command, how it reads that, and how its text is counted. */
const recorders = [
  {
    name: "strobe",
    record: (file, load) => [
      ...strobe,
      "record",
      "-q",
      "-o",
      file,
      "-c",
      load.join(" "),
      ...points.map((point) => `tracepoint:${point} /pid == cpid/`),
    ],
    read: (file) => [
      ...strobe,
      "replay",
      file,
      "-q",
      "-e",
      "tracepoint:raw_syscalls:* { @events = count(); @[probe] = count(); }",
    ],
    events: (text) => Number(/^@events: (\d+)$/m.exec(text)?.[1]),
    made: (file) => [
      ...strobe,
      "replay",
      file,
      "-q",
      "-e",
      `tracepoint:raw_syscalls:sys_enter /args.id == ${getppid}/ { @ = count(); }`,
    ],
    count: (text) => Number(/^@: (\d+)$/m.exec(text)?.[1] ?? 0),
  },
  {
    name: "perf",
    record: (file, load) => [
      "perf",
      "record",
      "-q",
      // It copies no programs into its cache: that is no part of recording.
      "-N",
      "-o",
      file,
      ...points.flatMap((point) => ["-e", point]),
      "--",
      ...load,
    ],
    read: (file) => ["perf", "script", "-i", file],
    events: (text) => lines(text).length,
    made: (file) => ["perf", "script", "-i", file],
    count: (text) => lines(text).filter((line) => line.includes(`NR ${getppid} `) && line.includes("sys_enter")).length,
  },
  {
    name: "trace-cmd",
    record: (file, load) => [
      "trace-cmd",
      "record",
      "-q",
      "-o",
      file,
      ...points.flatMap((point) => ["-e", point]),
      "-F",
      ...load,
    ],
    read: (file) => ["trace-cmd", "report", "-i", file],
    events: (text) => lines(text).filter((line) => / sys_(enter|exit): /.test(line)).length,
    made: (file) => ["trace-cmd", "report", "-i", file],
    count: (text) =>
      lines(text).filter((line) => line.includes(`NR ${getppid} `) && line.includes("sys_enter:")).length,
  },
];

function lines(text) {
  return text.split("\n").filter((line) => line !== "");
}

/** Whether it records here: trace-cmd is refused where ftrace is switched off. */
function isThere({ record }) {
  const folder = mkdtempSync(join(tmpdir(), "strobe-bench-"));
  try {
    const [program, ...words] = record(join(folder, "try"), ["true"]);
    return spawnSync(program, words, { stdio: "ignore" }).status === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function recordings({ rounds, workload }) {
  const folder = mkdtempSync(join(tmpdir(), "strobe-bench-"));
  const there = recorders.filter(isThere);
  const loads = [
    { name: `one call, ${rate / 1000}k a second`, words: [workload, String(calls), String(rate)], made: calls },
    { name: "one call, 1000k a second", words: [workload, "1500000", "1000000"], made: 1_500_000 },
    { name: "find over /usr, 10 times", words: ["find", ...Array.from({ length: 10 }, () => "/usr"), "-name", "x"] },
  ];
  const rows = [];
  try {
    for (const { name, words, made } of loads) {
      const results = there.map(() => []);
      for (let round = 0; round < Math.min(rounds, 3); round++)
        for (const [i, tool] of there.entries()) {
          const file = join(folder, `${tool.name}-${round}`);
          const bare = timed(words, "ignore").cpu;
          const start = timed(tool.record(file, ["true"]), "ignore").cpu;
          const { cpu } = timed(tool.record(file, words), "ignore");
          const events = tool.events(timed(tool.read(file)).text);
          const reading = timed(tool.read(file), "ignore").cpu;
          results[i].push({
            bytes: statSync(file).size / events,
            microseconds: ((cpu - bare - start) / events) * 1e6,
            start,
            missing: made === undefined ? undefined : made - tool.count(timed(tool.made(file)).text),
            read: events / reading / 1e6,
            events,
          });
          rmSync(file);
        }
      for (const [i, tool] of there.entries()) {
        const of = (key) => results[i].map((one) => one[key]);
        rows.push([
          name,
          tool.name,
          String(median(of("events"))),
          spread(of("bytes"), 1),
          spread(of("microseconds"), 2),
          spread(of("start"), 2),
          made === undefined ? "" : String(median(of("missing"))),
          spread(of("read"), 2),
        ]);
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return table(
    [
      "load",
      "recorder",
      "events",
      "bytes an event",
      "microseconds of CPU time an event, the load's own and that of recording `true` left out",
      "seconds of CPU time of recording `true`",
      "calls that are missing",
      "millions of events read a CPU-second (strobe replay, perf script, trace-cmd report)",
    ],
    rows,
  );
}
