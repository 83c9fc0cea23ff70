// Debug information of a large program: finding one line, one function, and all functions, and indexing all names,
// beside tools that do the same.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { median, spread, table } from "./statistics.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const units = 120;

/** A unit as a large C++ program has many: mostly headers, with some code of its own. */
const source = (unit) => `
#include <algorithm>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>
namespace part${unit} {
struct Record { int id; std::string name; std::vector<double> values; };
class Store {
  std::map<std::string, Record> records;
  std::unordered_map<int, std::shared_ptr<Record>> byId;
public:
  void add(int id, const std::string &name) {
    auto record = std::make_shared<Record>(Record{ id, name, { 1.0 * id } });
    records[name] = *record;
    byId[id] = record;
  }
  long total(const std::string &pattern) const {
    std::regex wanted(pattern);
    long sum = 0;
    for (const auto &[name, record] : records)
      if (std::regex_search(name, wanted)) sum += record.id;
    return sum;
  }
};
long run${unit}(int rounds) {
  Store store;
  for (int i = 0; i < rounds; i++) store.add(i, "record" + std::to_string(i));
  return store.total("[0-9]+$");
}
}`;
const entry = `long only_here(int rounds) {
  long sum = rounds;
  for (int i = 0; i < rounds; i++) sum += i * sum;
  return sum;
}
int main(int argc, char **argv) { return (int)only_here(argc); }
`;
/** A line and a function of it. */
const own = { line: "main.cc:2", fn: "only_here" };

/** Builds it once: some hundreds of megabytes, which takes minutes. */
function largeProgram() {
  const folder = here("../build/large");
  const path = join(folder, "large.so");
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  process.stderr.write(`building ${path}, once\n`);
  writeFileSync(join(folder, "main.cc"), entry);
  const files = Array.from({ length: units }, (_, unit) => {
    writeFileSync(join(folder, `u${unit}.cc`), source(unit));
    return `u${unit}`;
  });
  const built = spawnSync(
    "sh",
    [
      "-c",
      `printf '%s\\n' main ${files.join(" ")} | xargs -P ${cpus().length} -I{} g++ -g -O1 -fPIC -c {}.cc -o {}.o && g++ -g -shared -o large.so *.o && rm *.o`,
    ],
    { cwd: folder, stdio: ["ignore", "ignore", "inherit"] },
  );
  if (built.status !== 0) throw new Error("the large program needs g++");
  return path;
}

/** Seconds that anything may take. */
const most = 60;

/** Runs a command: milliseconds by the clock, and CPU seconds of it and its children. */
function timed(command, environment) {
  const times = join(tmpdir(), `strobe-times-${process.pid}`);
  const started = performance.now();
  const done = spawnSync(
    "bash",
    [
      "-c",
      `TIMEFORMAT='%U %S'; { time "$@" >/dev/null 2>${times}.err; } 2>${times}`,
      "bash",
      "timeout",
      `${most}`,
      ...command,
    ],
    { env: { ...process.env, ...environment } },
  );
  const wall = performance.now() - started;
  const [user, system] = readFileSync(times, "utf8").trim().split("\n").at(-1).split(" ").map(Number);
  const said = readFileSync(`${times}.err`, "utf8");
  rmSync(times);
  rmSync(`${times}.err`);
  return { wall, cpu: user + system, ok: done.status === 0, said };
}

const has = (tool) => spawnSync("sh", ["-c", `command -v ${tool}`]).status === 0;

export async function debuginfo({ peers, rounds, binary, line = own.line, fn = own.fn, stap }) {
  const path = binary ?? largeProgram();
  const cache = mkdtempSync(join(tmpdir(), "strobe-bench-"));
  const environment = { STROBE_CACHE: cache };
  // A plan would spare it looking at all.
  const forgetPlans = () => rmSync(join(cache, "plans"), { recursive: true, force: true });
  const forget = () => {
    forgetPlans();
    rmSync(join(cache, "debug"), { recursive: true, force: true });
  };
  const [ours, peer] = peers;
  const strobe = (...args) => [...ours.command, ...args];
  const dry = (script) => strobe("--dry-run", "-e", script);
  const gdb = (...commands) => ["gdb", "-nx", "-batch", ...commands.flatMap((each) => ["-ex", each]), path];
  const perf = (...args) => ["perf", "probe", "-x", path, ...args];
  const systemtap = (...args) => (stap === undefined ? [] : [["stap", [...stap, ...args]]]);
  const tools = ["gdb", "perf probe"].filter((name) => has(name.split(" ")[0]));
  const installed = (others) =>
    others.filter(([name]) => name === "stap" || name === peer?.name || tools.includes(name));
  const listing = strobe("-l", `uprobe:${path}:*`);
  // A kernel has no functions that uprobes could be on.
  const lists = spawnSync(listing[0], listing.slice(1), { maxBuffer: 2 ** 30 }).stdout.length > 0;
  const tasks = [
    [
      "one line",
      dry(`uprobe:${path}@${line} { }`),
      [
        ["gdb", gdb(`info line ${line}`)],
        ["perf probe", perf("-D", line)],
        ...systemtap("-L", `process("${path}").statement("*@${line}")`),
      ],
    ],
    [
      "one function's arguments",
      dry(`uprobe:${path}:${fn} { print(args) }`),
      [
        ["gdb", gdb(`info scope ${fn}`)],
        ["perf probe", perf("-D", `${fn} $vars`)],
        ...systemtap("-L", `process("${path}").function("${fn}")`),
      ],
    ],
    ...(!lists
      ? []
      : [
          [
            "all functions listed",
            listing,
            [
              ...(peer === undefined ? [] : [[peer.name, [...peer.command, "-l", `uprobe:${path}:*`]]]),
              ["gdb", gdb("info functions -n")],
              ["perf probe", perf("-F")],
              ...systemtap("-l", `process("${path}").function("*")`),
            ],
          ],
        ]),
    ["an index of all names", strobe("-l", `uprobe:${path}:inlined:${fn}*`), [["gdb", gdb(`save gdb-index ${cache}`)]]],
  ];
  // The first run makes strobe's cache of compiled code.
  timed(strobe("-e", "begin { exit() }"), environment);
  const rows = [];
  const figures = (name, tool, runs, ours) => {
    const wall = runs.map((run) => run.wall),
      cpu = runs.map((run) => run.cpu);
    rows.push([
      name,
      tool,
      spread(wall, 0),
      median(cpu).toFixed(2),
      ours === undefined ? "" : (median(ours.map((run) => run.cpu)) / median(cpu)).toFixed(2),
    ]);
  };
  for (const [name, command, others] of tasks) {
    const cold = [],
      warm = [];
    const theirs = installed(others).map(([tool, words]) => ({ tool, words, runs: [] }));
    for (let round = 0; round < rounds; round++) {
      forget();
      cold.push(timed(command, environment));
      forgetPlans();
      warm.push(timed(command, environment));
      for (const other of theirs) other.runs.push(timed(other.words, environment));
    }
    figures(name, "strobe, nothing kept", cold);
    figures(name, "strobe", warm);
    for (const { tool, runs } of theirs) {
      if (runs.every(({ ok }) => ok)) figures(name, tool, runs, cold);
      else rows.push([name, tool, `failed, or not within ${most} s`, "", ""]);
    }
  }
  rmSync(cache, { recursive: true, force: true });
  return (
    `${basename(path)}, ${Math.round(statSync(path).size / 2 ** 20)} MB of program and debug information. The ratio is of CPU seconds, strobe with nothing kept over the other.\n\n` +
    table(["what", "tool", "milliseconds", "CPU s", "ratio"], rows)
  );
}
