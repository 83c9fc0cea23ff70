// Runs the built command as a person would, with a deadline, and sees that it leaves nothing behind.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { listLinks, listMaps, listPrograms } from "../../src/linux/bpf/bpf.ts";

export const command = resolve("dist/strobe.js");
const deadlineMilliseconds = 300_000;

export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunOptions {
  readonly input?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly deadline?: number;
  readonly cwd?: string;
}

/** A strobe at work. */
export interface Running {
  readonly child: ChildProcess;
  /** Resolves once the probes are attached. */
  readonly attached: Promise<void>;
  readonly outcome: Promise<Outcome>;
  stdout(): string;
  stderr(): string;
}

export function startStrobe(args: readonly string[], options: RunOptions = {}): Running {
  const child = spawn(process.execPath, [command, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    env: options.env ?? process.env,
    cwd: options.cwd,
  });
  let stdout = "";
  let stderr = "";
  child.stdin.end(options.input ?? "");
  child.stdin.on("error", () => {});
  const deadline = setTimeout(() => child.kill("SIGKILL"), options.deadline ?? deadlineMilliseconds);
  const outcome = new Promise<Outcome>((done, failed) => {
    child.on("error", failed);
    child.on("close", (code, signal) => {
      clearTimeout(deadline);
      done({ stdout, stderr, code, signal });
    });
  });
  const attached = new Promise<void>((done, failed) => {
    child.stderr.setEncoding("utf8").on("data", (data: string) => {
      stderr += data;
      if (/Attached \d+ probe/.test(stderr)) done();
    });
    outcome.then(({ code }) => failed(new Error(`strobe ended (${code}) before it attached:\n${stderr}`)), failed);
  });
  attached.catch(() => {});
  child.stdout.setEncoding("utf8").on("data", (data: string) => {
    stdout += data;
  });
  return { child, attached, outcome, stdout: () => stdout, stderr: () => stderr };
}

/** Runs strobe to its end. */
export function strobe(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  return startStrobe(args, options).outcome;
}

/** Interrupts a strobe as Ctrl-C does and waits for its end. */
export async function interrupt(running: Running): Promise<Outcome> {
  running.child.kill("SIGINT");
  return running.outcome;
}

/** Ids of all BPF objects: what a test must leave as it found it. */
export function bpfObjects(): string {
  const ids = (list: readonly { readonly id: number }[]) =>
    list
      .map(({ id }) => id)
      .sort((a, b) => a - b)
      .join(" ");
  return `programs ${ids(listPrograms())}; maps ${ids(listMaps())}; links ${ids(listLinks())}`;
}

/**
 * Waits until no BPF objects are there but those of `before` (the kernel frees them a little late) and what others'
 * programs hold, which come and go as they like; throws when some are there for a minute.
 */
export async function nothingLeft(before: string): Promise<void> {
  const known = new Set(objectNames(before));
  let left: readonly string[] | undefined;
  for (let wait = 0; wait < 1200; wait++) {
    // What others make meanwhile was not there the time before.
    const there = new Set(objectNames(bpfObjects()));
    left = (left ?? [...there].filter((name) => !known.has(name))).filter((name) => there.has(name));
    if (left.length > 0) {
      const others = heldByOthers();
      left = left.filter((name) => !others.has(name));
    }
    if (left.length === 0) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`left behind: ${left?.join(", ")}`);
}

/** `programs 3`, `maps 7` and so on. */
function objectNames(objects: string): string[] {
  return objects.split("; ").flatMap((part) => {
    const [kind, ...ids] = part.split(" ").filter((word) => word !== "");
    return ids.map((id) => `${kind} ${id}`);
  });
}

/**
 * Objects that processes hold which this test file did not start: those of other process groups, and of test files that
 * run beside.
 */
function heldByOthers(): ReadonlySet<string> {
  const held = new Set<string>();
  const group = placeOf("self").group;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (placeOf(pid).group === group && mayBeOurs(pid)) continue;
      for (const fd of readdirSync(`/proc/${pid}/fd`)) {
        if (!readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith("anon_inode:bpf")) continue;
        const info = readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8");
        for (const [, kind, id] of info.matchAll(/^(prog|map|link)_id:\s*(\d+)$/gm))
          held.add(`${kind === "prog" ? "program" : kind}s ${id}`);
      }
    } catch {
      // It has ended meanwhile.
    }
  }
  return held;
}

/** Whether this process is above `pid`; or nobody is, since whoever started it has ended. */
function mayBeOurs(pid: string): boolean {
  for (let at = pid; at !== String(process.pid);) {
    const parent = placeOf(at).parent;
    if (parent === undefined || parent === "0") return false;
    if (parent === "1") return at === pid;
    at = parent;
  }
  return true;
}

function placeOf(pid: string): { readonly parent: string | undefined; readonly group: string | undefined } {
  const [, parent, group] = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)?.split(" ") ?? [];
  return { parent, group };
}

/** A folder that goes with the test. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "strobe-test-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Compiles a C program into the folder. */
export function compileC(
  folder: string,
  name: string,
  source: string,
  flags: readonly string[] = ["-O1", "-g"],
): string {
  const path = join(folder, name);
  writeFileSync(`${path}.c`, source);
  const result = spawnSync("gcc", [...flags, "-o", path, `${path}.c`], { encoding: "utf8" });
  if (result.status !== 0) throw new Error(result.stderr);
  return path;
}
