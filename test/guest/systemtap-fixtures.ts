// `npm run systemtap:fixtures -- FOLDER [GROUP…]`: what SystemTap itself prints for the cases, written beside them.
// FOLDER is a Debian system with systemtap and gcc, and the headers of the kernel that the guest `7` is. Modules are
// compiled there, and run in one guest.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { kernelFiles } from "./fetch-kernel.ts";
import { runGuest } from "./guest.ts";
import { missingForGuests } from "./initramfs.ts";
import { kernels } from "./kernels.ts";
import {
  atBegin,
  folder,
  groups,
  inProgram,
  printedText,
  programOf,
  sections,
  together,
  type Printed,
} from "../support/systemtap-cases.ts";

interface Script {
  readonly group: string;
  /** Undefined for cases that run together. */
  readonly name?: string;
  readonly text: string;
  readonly passes: 2 | 4;
  /** With the group's program, which does this. */
  readonly run?: string;
}

const atOnce = 3;
const runSeconds = 30;
/** Of joined texts without an end the compiler takes all the memory that there is. */
const compileSeconds = 300;
const compileBytes = 6 * 2 ** 30;

async function main([root, ...names]: readonly string[]): Promise<void> {
  if (root === undefined) throw new Error("usage: npm run systemtap:fixtures -- FOLDER [GROUP…]");
  const missing = missingForGuests();
  if (missing) throw new Error(missing);
  const kernel = kernelFiles(kernels.find(({ name }) => name === "7")!);
  const chosen = groups().filter(({ name }) => names.length === 0 || names.includes(name));
  const scripts = chosen.flatMap(({ name: group, cases }): Script[] => {
    const shared = cases.filter(({ kind }) => kind === "together");
    const inside = cases.filter(({ kind }) => kind === "in a program");
    return [
      ...(shared.length === 0
        ? []
        : [{ group, text: together(shared, atBegin, "probe begin(1000000) { exit() }\n"), passes: 4 as const }]),
      ...(inside.length === 0 ? [] : [{ group, text: together(inside, inProgram), passes: 4 as const, run: "cases" }]),
      ...cases
        .filter(({ kind }) => kind !== "together" && kind !== "in a program")
        .map(({ name, kind, script, run }) => ({
          group,
          name,
          text: script,
          passes: kind === "refused" ? (2 as const) : (4 as const),
          ...(kind === "around a program" ? { run } : {}),
        })),
    ];
  });
  const work = mkdtempSync(join(root, "tmp", "strobe-fixtures-"));
  try {
    for (const group of new Set(scripts.flatMap(({ group, run }) => (run === undefined ? [] : [group]))))
      compileProgram(
        join(work, `program-${group}`),
        programOf(chosen.flatMap(({ name, cases }) => (name === group ? cases : []))),
      );
    const refused = await compile(root, kernel.release, work, scripts);
    const printed =
      scripts.length > refused.size
        ? await run(root, kernel, work, scripts, refused)
        : new Map<string, Map<string, Printed>>();
    for (const [i, stderr] of refused) {
      const { group, name = "" } = scripts[i];
      if (!printed.has(group)) printed.set(group, new Map());
      printed.get(group)!.set(name, { stdout: "", stderr, failed: true });
    }
    for (const { name } of chosen)
      writeFileSync(join(folder, `${name}.out`), printedText(printed.get(name) ?? new Map()));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Static: it runs in the guest as it is. */
function compileProgram(path: string, source: string): void {
  writeFileSync(`${path}.c`, source);
  execFileSync("gcc", ["-g", "-O0", "-static", "-w", "-o", path, `${path}.c`]);
}

/** What it says of those that it does not compile, by their place. */
async function compile(
  root: string,
  release: string,
  work: string,
  scripts: readonly Script[],
): Promise<Map<number, string>> {
  const refused = new Map<number, string>();
  const problems: string[] = [];
  const left = [...scripts.entries()];
  const one = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [i, { group, name, text, passes, run }] = next;
      writeFileSync(join(work, `s${i}.stp`), text);
      const inside = `/tmp/${basename(work)}`;
      const command = `cd ${inside} && exec timeout -k 5 ${compileSeconds} stap --rlimit-as=${compileBytes} -r ${release} -p${passes} -DSTP_NO_OVERLOAD -m s${i} s${i}.stp${run === undefined ? "" : ` ${inside}/program-${group}`}`;
      const child = spawn("chroot", [root, "sh", "-c", command], { stdio: ["ignore", "ignore", "pipe"] });
      let said = "";
      child.stderr.setEncoding("utf8").on("data", (data: string) => (said += data));
      const status = await new Promise<number | null>((done) => child.on("close", done));
      if (status === 0 ? passes === 4 : passes === 2) {
        if (passes === 2) refused.set(i, said.replaceAll(`s${i}.stp`, "script.stp"));
        continue;
      }
      problems.push(
        `${group}: ${name ?? "those that run together"}: stap -p${passes} ended with ${status ?? "a signal"}\n${said}`,
      );
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return refused;
}

async function run(
  root: string,
  kernel: ReturnType<typeof kernelFiles>,
  work: string,
  scripts: readonly Script[],
  refused: ReadonlyMap<number, string>,
): Promise<Map<string, Map<string, Printed>>> {
  const runs = [...scripts.entries()].filter(([i]) => !refused.has(i));
  const place = mkdtempSync(join(tmpdir(), "strobe-fixtures-"));
  const tar = join(place, "system.tar");
  const programs = ["usr/bin/staprun", "usr/lib/systemtap/stapio"];
  const libraries = execFileSync("chroot", [root, "ldd", ...programs.map((path) => `/${path}`)], { encoding: "utf8" });
  const needed = [...libraries.matchAll(/\/(\S+) \(0x/g)].map(([, path = ""]) => path);
  mkdirSync(join(work, "modules"));
  for (const [i] of runs) execFileSync("mv", [join(work, `s${i}.ko`), join(work, "modules")]);
  execFileSync("tar", ["-chf", tar, "-C", root, ...programs, ...new Set(needed), "-C", work, "modules"]);
  const started = [...new Set(runs.flatMap(([, { group, run }]) => (run === undefined ? [] : [`program-${group}`])))];
  const inside = `tmp/${basename(work)}`;
  execFileSync("tar", ["-rf", tar, "-C", root, ...started.map((one) => `${inside}/${one}`)]);
  try {
    const setUp = `mkdir -p /system && tar -C /system -xf /system.tar && cd /system && mkdir -p proc sys dev tmp &&
for each in proc sys dev; do mount --bind /$each /system/$each; done && mount -t debugfs debugfs /system/sys/kernel/debug`;
    const result = await runGuest({
      kernel,
      files: { "/system.tar": tar },
      jobs: [
        { script: setUp },
        ...runs.map(([i, { group, run }]) => ({
          // stapio does not find staprun in the guest when it wants the module removed, and ends with 1.
          script: `chroot /system /usr/bin/staprun ${run === undefined ? "" : `-c "/${inside}/program-${group} ${run}" `}/modules/s${i}.ko; status=$?; rmmod s${i} 2>/dev/null; exit $status`,
          deadline: runSeconds,
        })),
      ],
      deadline: 1800,
      memory: "2G",
    });
    const [first, ...jobs] = result.jobs;
    if (first?.code !== 0 || jobs.length !== runs.length) throw new Error(`${first?.stderr}\n${result.console}`);
    const printed = new Map<string, Map<string, Printed>>();
    const add = (group: string, name: string, one: Printed): void => {
      if (!printed.has(group)) printed.set(group, new Map());
      printed.get(group)!.set(name, one);
    };
    const notRemoved = "/usr/bin/staprun: No such file or directory\n";
    runs.forEach(([i, { group, name }], at) => {
      const { stdout, code } = jobs[at];
      const stderr = jobs[at].stderr.replace(notRemoved, "").replaceAll(`s${i}.stp`, "script.stp");
      const failed = /^ERROR: /m.test(stderr);
      const ended = jobs[at].stderr.includes(notRemoved) || code === 0;
      if (!ended || (name === undefined && stderr !== "")) {
        process.stderr.write(
          `${group}${name === undefined ? "" : `: ${name}`} ended with ${code}\n${stdout}\n${jobs[at].stderr}\n`,
        );
        process.exitCode = 1;
        if (!ended) return;
      }
      if (name !== undefined) add(group, name, { stdout, stderr, failed });
      else for (const [of, text] of sections(stdout)) add(group, of, { stdout: text, stderr: "", failed: false });
    });
    return printed;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
