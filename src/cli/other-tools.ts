// Options of other tracers' commands that strobe has under another name: said where one is not known. `-T` of BCC's tools
// and `-F` of perf's are examples.
import { nearest } from "../language/nearest.ts";

const letters: Readonly<Record<string, string>> = {
  a: "perf's -a is what strobe does without -p and -c",
  C: "DTrace's -C is for its own language",
  D: "DTrace's and SystemTap's -D are for their own languages",
  E: "SystemTap's -E: strobe stap",
  F: "perf's -F 99 is the probe `profile:hz:99`",
  G: "SystemTap's -G: strobe stap",
  g: "perf's -g: `kstack` and `ustack` in the script; SystemTap's -g: --unsafe",
  i: "perf trace's and ftrace's intervals are the probe `interval:s:1`",
  K: "BCC's -K: `kstack` in the script",
  L: "SystemTap's -L is -lv",
  m: "SystemTap's -m: strobe stap; DTrace's -m MODULE: -l MODULE",
  n: "DTrace's -n PROGRAM is -e PROGRAM",
  P: "DTrace's -P: a wildcard in the probe; BCC's -P PID is -p PID",
  r: "SystemTap's -r: scripts run on this kernel",
  s: "DTrace's -s FILE is the script's path alone",
  S: "DTrace's -S is -d",
  t: "BCC's -t TID: `/tid == TID/` in the script; perf's -t is the same",
  T: "BCC's -T is --stamp time; SystemTap's -T SECONDS is --for SECONDS",
  u: "BCC's -u USER is --user USER",
  U: "BCC's -U: `ustack` in the script",
  w: "DTrace's -w is --unsafe",
  x: "SystemTap's -x PID is -p PID; DTrace's -x OPTION: `config = { … }` in the script",
  Z: 'DTrace\'s -Z: `config = { missing_probes = "warn" }` in the script',
};

const words: Readonly<Record<string, string>> = {
  name: "BCC's --name NAME is --comm NAME",
  uid: "--user takes numbers of users, too",
  tid: "`/tid == TID/` in the script",
  ppid: "`/ppid == PID/` in the script",
  cgroupmap: "BCC's --cgroupmap MAP is --cgroup PATH",
  mntnsmap: "--cgroup PATH chooses a container's processes",
  timestamp: "BCC's --timestamp is --stamp time",
  time: "--stamp time shows the time of each event",
  "all-cpus": "perf's -a is what strobe does without -p and -c",
  event:
    "perf's -e EVENT is a probe of the script: `tracepoint:CATEGORY:NAME`, `software:page-faults:1`, `hardware:cycles:1000000`",
  "call-graph": "perf's --call-graph: `kstack`, `ustack` or `ustack(dwarf)` in the script",
  frequency: "perf's -F 99 is the probe `profile:hz:99`",
  runtime: "SystemTap's --runtime: strobe always compiles to eBPF",
};

/** What another tool's option of this name is here: `-x`, `--name`. */
export function otherToolsOption(option: string): string | undefined {
  const name = option.replace(/^--?/, "");
  const table = option.startsWith("--") ? words : letters;
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** "did you mean --quiet?", or undefined where none of the names is near. */
export function nearestOption(name: string, names: readonly string[]): string | undefined {
  const near = nearest(name, names).map((one) => `--${one}`);
  return near.length === 0 ? undefined : `did you mean ${near.join(" or ")}?`;
}
