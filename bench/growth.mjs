// What a script of so many keys, or statements, costs its tracer: CPU time (user and system) and memory at the peak.
import { spawn } from "node:child_process";
import { mkdtempSync, openSync, closeSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { table } from "./statistics.mjs";

const config = (keys) => `config = { max_map_keys = ${keys + 1} }\n`;
const filled = (keys, value) => `for ($i : 0..${keys}) { @[$i] = ${value}; }`;
const sizes = [10_000, 100_000, 1_000_000];

/** Scripts of so many keys or statements, which end by themselves. */
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
    // What the kernel's verifier takes is not the tracer's to change.
    ["--dry-run"],
  ],
};

const limitSeconds = 120;

/** Seconds and megabytes of one run; undefined when it did not end well in time. */
async function cost(peer, script, flags, folder) {
  const [program, ...words] = peer.command;
  const path = join(folder, "script.bt");
  writeFileSync(path, script);
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
      peer.isPeer ? "/dev/stdin" : path,
    ],
    { stdio: [input, output, "ignore"] },
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

export async function growth({ peers, only }) {
  const folder = mkdtempSync(fileURLToPath(new URL("../build/growth-", import.meta.url)));
  const chosen = Object.entries(rows).filter(
    ([name]) => only === undefined || only.split(",").some((part) => name.includes(part)),
  );
  const lines = [];
  try {
    for (const [name, [counts, script, flags = []]] of chosen) {
      for (const peer of peers) {
        const costs = [];
        for (const n of counts) costs.push(await cost(peer, script(n), flags, folder));
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
