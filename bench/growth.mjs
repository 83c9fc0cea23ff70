// What a script of so many keys, statements or places costs its tracer, with the command that it traces: CPU
// time (user and system), and the tracer's memory at the peak.
import { spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  closeSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { table } from "./statistics.mjs";

const config = (keys) => `config = { max_map_keys = ${keys + 1} }\n`;
const filled = (keys, value) => `for ($i : 0..${keys}) { @[$i] = ${value}; }`;
const sizes = [10_000, 100_000, 1_000_000];

/** The calls of a program alone: a peer may not see it by its number. */
const callsOf = (program) => `tracepoint:syscalls:sys_enter_getppid /comm == "${program}"/`;
const stacks = (n) => `${config(n)}${callsOf("stacks")} { @[ustack] = count(); }`;

/**
 * Scripts of so many keys, statements or places, which end by themselves: how many, the script, options, and the command
 * whose events it takes. `FOLDER` is the one with what `prepare` makes.
 */
const rows = {
  "keys printed": [sizes, (n) => `${config(n)}begin { ${filled(n, "$i")} exit(); }`],
  "keys of equal values printed": [sizes, (n) => `${config(n)}begin { ${filled(n, "1")} exit(); }`],
  "keys printed as JSON": [sizes, (n) => `${config(n)}begin { ${filled(n, "$i")} exit(); }`, ["-f", "json"]],
  "keys, and ten printed": [sizes, (n) => `${config(n)}begin { ${filled(n, "$i")} print(@, 10); clear(@); exit(); }`],
  "keys in a loop": [
    sizes,
    (n) =>
      `${config(n)}begin { ${filled(n, "$i")} $s = 0; for ($kv : @) { $s += $kv.1; } print($s); clear(@); exit(); }`,
  ],
  "keys counted, zeroed and cleared": [
    sizes,
    (n) => `${config(n)}begin { ${filled(n, "$i")} print(len(@)); zero(@); clear(@); exit(); }`,
  ],
  "statements with branches": [
    [100, 1000, 10_000],
    (n) =>
      `tracepoint:syscalls:sys_enter_getppid { $x = (uint64)0;\n${Array.from({ length: n }, (_, i) => `if (pid == ${i}) { $x = ${i} + nsecs; }`).join("\n")}\n@ = $x; }\nbegin { exit(); }`,
    ["--dry-run"],
  ],
  "keys made by events": [
    sizes,
    (n) => `${config(n)}${callsOf("workload")} { @n[0]++; @[@n[0]] = @n[0]; }`,
    [],
    (n) => `FOLDER/workload ${n}`,
  ],
  "stacks printed": [[1000, 10_000, 100_000], stacks, [], (n) => `FOLDER/stacks ${n}`],
  "stacks printed as JSON": [[1000, 10_000, 100_000], stacks, ["-f", "json"], (n) => `FOLDER/stacks ${n}`],
  "libraries probed": [
    [10, 100, 1000],
    (n) => `uprobe:FOLDER/libraries-${n}/*.so:probe_me_7 { @ = count(); } begin { exit(); }`,
  ],
  "functions probed": [
    [100, 1000, 10_000],
    (n) => `uprobe:FOLDER/functions-${n}.so:probe_me_* { @ = count(); } begin { exit(); }`,
  ],
};

/** What the scripts trace. */
function prepare(folder, workload) {
  const gcc = (...words) => {
    if (spawnSync("gcc", words, { stdio: "inherit" }).status !== 0) throw new Error("what is probed needs gcc");
  };
  copyFileSync(workload, join(folder, "workload"));
  const source = fileURLToPath(new URL("stacks.c", import.meta.url));
  gcc("-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-o", join(folder, "stacks"), source);
  const library = (name, count) => {
    const functions = Array.from({ length: count }, (_, n) => `void probe_me_${n}(void) { __asm__ volatile(""); }`);
    writeFileSync(join(folder, `${name}.c`), functions.join("\n"));
    gcc("-O1", "-shared", "-fPIC", "-o", join(folder, `${name}.so`), join(folder, `${name}.c`));
  };
  for (const n of rows["functions probed"][0]) library(`functions-${n}`, n);
  library("few", 100);
  for (const n of rows["libraries probed"][0]) {
    const libraries = join(folder, `libraries-${n}`);
    mkdirSync(libraries);
    for (let i = 0; i < n; i++) copyFileSync(join(folder, "few.so"), join(libraries, `lib${i}.so`));
  }
}

const limitSeconds = 120;

/** Seconds and megabytes of one run; undefined when it did not end well in time. */
async function cost(peer, script, flags, command, folder) {
  const [program, ...words] = peer.command;
  const path = join(folder, "script.bt");
  // A peer may be in another root.
  const seen = (text) => text.replaceAll("FOLDER", peer.isPeer ? `/proc/${process.pid}/root${folder}` : folder);
  writeFileSync(path, seen(script));
  const [input, output] = [openSync(path, "r"), openSync(join(folder, "output"), "w")];
  const times = join(folder, "times");
  const shell = spawn(
    "bash",
    [
      "-c",
      'exec 3>"$1"; shift; TIMEFORMAT="%U %S"; { time "$@" 2>/dev/null; } 2>&3',
      "-",
      times,
      program,
      ...words,
      "-q",
      ...flags,
      ...(command === undefined ? [] : ["-c", seen(command)]),
      peer.isPeer ? "/dev/stdin" : path,
    ],
    // A peer stops at a thousand probes unless it is told otherwise.
    { stdio: [input, output, "ignore"], env: { ...process.env, BPFTRACE_MAX_PROBES: "100000" } },
  );
  let peak = 0;
  const watch = setInterval(() => (peak = Math.max(peak, peakOfChildren(shell.pid))), 10);
  const stop = setTimeout(
    () => childrenOf(shell.pid).forEach((pid) => process.kill(pid, "SIGKILL")),
    limitSeconds * 1000,
  );
  const code = await new Promise((resolve) => shell.on("close", resolve));
  clearInterval(watch);
  clearTimeout(stop);
  closeSync(input);
  closeSync(output);
  if (code !== 0) return undefined;
  const [user, system] = readFileSync(times, "utf8").trim().split(" ").map(Number);
  return { seconds: user + system, megabytes: peak / 1024 };
}

function childrenOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function peakOfChildren(pid) {
  const kilobytes = childrenOf(pid).map((child) => {
    try {
      return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child}/status`, "utf8"))?.[1] ?? 0);
    } catch {
      return 0;
    }
  });
  return Math.max(0, ...kilobytes);
}

/** Of the two largest, what is beyond the smallest: 1 is in proportion. */
function exponent([base, middle, largest], [, n, most]) {
  const [small, large] = [middle - base, largest - base];
  return small < 0.02 || large < 0.02 ? "" : (Math.log(large / small) / Math.log(most / n)).toFixed(2);
}

export async function growth({ peers, only, workload }) {
  const folder = mkdtempSync(fileURLToPath(new URL("../build/growth-", import.meta.url)));
  prepare(folder, workload);
  const chosen = Object.entries(rows).filter(
    ([name]) => only === undefined || only.split(",").some((part) => name.includes(part)),
  );
  const lines = [];
  try {
    for (const [name, [counts, script, flags = [], command]] of chosen) {
      for (const peer of peers) {
        const costs = [];
        for (const n of counts) costs.push(await cost(peer, script(n), flags, command?.(n), folder));
        const whole = costs.every((one) => one !== undefined);
        lines.push([
          `${counts[2].toLocaleString("en")} ${name}`,
          peer.name,
          ...costs.map((one) =>
            one === undefined ? "–" : `${one.seconds.toFixed(2)} s, ${one.megabytes.toFixed(0)} MB`,
          ),
          whole
            ? exponent(
                costs.map(({ seconds }) => seconds),
                counts,
              )
            : "",
        ]);
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return table(["", "", "a hundredth", "a tenth", "all", "exponent"], lines);
}
