// Boots a kernel in QEMU, runs jobs as root there, and gives what they printed and how they ended.
import { spawn, spawnSync } from "node:child_process";
import { fstatSync, mkdtempSync, openSync, closeSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bootConfigBlock } from "../../src/linux/kernel/boot-config.ts";
import type { KernelFiles } from "./fetch-kernel.ts";
import { initramfs, type GuestContents } from "./initramfs.ts";
import { guestSlot } from "./slots.ts";

// QEMU 7.2 emulates cmpxchg16b wrongly now and then (it leaves garbage in the flags), which kernels die of in
// kmalloc(). Fewer levels of page tables are walked faster.
const cpu = "max,-cx16,-la57";

/** What the kernel says when something of it went wrong. */
export const complaint = /WARNING:|BUG:|Oops|general protection|Call Trace|RCU stall|stalls on CPU/;

export interface JobResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
  readonly seconds: number;
}

export interface GuestResult {
  /** In the order of the jobs; those missing at the end were never run or never ended. */
  readonly jobs: readonly JobResult[];
  /** All lines of the second serial port: what jobs wrote to /dev/ttyS1 themselves is between their results. */
  readonly lines: readonly string[];
  /** All jobs were run and the guest switched itself off. */
  readonly complete: boolean;
  /** What the kernel said, and whatever else reached the console. */
  readonly console: string;
  /** From QEMU's start to the first job and to the end. */
  readonly bootSeconds: number;
  readonly seconds: number;
}

export interface GuestOptions extends GuestContents {
  readonly kernel: KernelFiles;
  /** Seconds after which the guest is cut off. */
  readonly deadline: number;
  /** Its power is cut once the second serial port has had this. */
  readonly cutAt?: RegExp;
  readonly memory?: string;
  /** The kernel puts itself at another address at every boot. Off unless asked for: a crash is then easier to read. */
  readonly kaslr?: boolean;
  /** At the end of its initial RAM disk. */
  readonly bootConfig?: string;
  /** More of the kernel's command line. */
  readonly parameters?: string;
  /** It may start anew: its jobs are run again then, and have to say themselves how often. */
  readonly reboots?: boolean;
}

export async function runGuest({
  kernel,
  deadline,
  memory = "1G",
  kaslr = false,
  cutAt,
  bootConfig,
  parameters = "",
  reboots = false,
  ...contents
}: GuestOptions): Promise<GuestResult> {
  const slot = await guestSlot();
  const folder = mkdtempSync(join(tmpdir(), "strobe-guest-"));
  try {
    const archive = join(folder, "initramfs");
    const file = openSync(archive, "w");
    for (const part of initramfs(kernel, contents)) writeAll(file, part);
    if (bootConfig !== undefined) writeAll(file, bootConfigBlock(bootConfig, fstatSync(file).size));
    closeSync(file);
    const results = join(folder, "results");
    const console = join(folder, "console");
    const start = process.hrtime.bigint();
    const elapsed = (): number => Number(process.hrtime.bigint() - start) / 1e9;
    const qemu = spawn(
      "qemu-system-x86_64",
      [
        "-accel",
        "tcg,thread=single",
        "-cpu",
        cpu,
        "-smp",
        "2",
        "-m",
        memory,
        "-nodefaults",
        "-display",
        "none",
        ...(reboots ? [] : ["-no-reboot"]),
        "-kernel",
        kernel.image,
        "-initrd",
        archive,
        "-serial",
        `file:${console}`,
        "-serial",
        `file:${results}`,
        "-append",
        `console=ttyS0 quiet loglevel=5 panic=-1 mitigations=off tsc=reliable${tscFrequency()} no_timer_check${kaslr ? "" : " nokaslr"}${bootConfig === undefined ? "" : " bootconfig"} ${parameters}`,
      ],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    let complaint = "";
    qemu.stderr.setEncoding("utf8").on("data", (data: string) => {
      complaint += data;
    });
    const killer = setTimeout(() => qemu.kill("SIGKILL"), deadline * 1000);
    const watcher =
      cutAt &&
      setInterval(() => {
        if (cutAt.test(textOf(results))) qemu.kill("SIGKILL");
      }, 100);
    await new Promise<void>((done, failed) => {
      qemu.on("error", failed);
      qemu.on("close", () => done());
    });
    clearTimeout(killer);
    clearInterval(watcher);
    return { ...readResults(textOf(results)), console: complaint + textOf(console), seconds: elapsed() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
    slot[Symbol.dispose]();
  }
}

/**
 * The emulated time-stamp counter is the host's. Guests measure its frequency against emulated timers, and on a busy
 * host find one at which their seconds are a tenth as long: where the host's kernel knows it, it is told.
 */
function tscFrequency(): string {
  const { stdout } = spawnSync("dmesg", { encoding: "utf8", maxBuffer: 1 << 26 });
  const virtual = /^flags\s*:.* hypervisor( |$)/m;
  const cpus = readFileSync("/proc/cpuinfo", "latin1");
  // On hardware this is what the CPU runs at just now; under a hypervisor it is the counter's.
  const known =
    /tsc: Detected (\d+\.\d+) MHz TSC|tsc: Detected (\d+\.\d+) MHz processor/.exec(stdout ?? "") ??
    (virtual.test(cpus) ? /^cpu MHz\s*: (\d+\.\d+)$/m.exec(cpus) : null);
  const megahertz = known?.[1] ?? known?.[2];
  return megahertz === undefined ? "" : ` tsc_early_khz=${Math.round(Number(megahertz) * 1000)}`;
}

function writeAll(file: number, part: Uint8Array): void {
  for (let at = 0; at < part.length;) at += writeSync(file, part, at);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8").replaceAll("\r", "");
  } catch {
    return "";
  }
}

/** `job INDEX STATUS START END`, the two outputs in base64 with a dash between them, a dot. */
function readResults(text: string): Pick<GuestResult, "jobs" | "lines" | "complete" | "bootSeconds"> {
  const jobs: JobResult[] = [];
  let bootSeconds = 0;
  for (const [, code, start, end, stdout = "", stderr = ""] of text.matchAll(
    /^job \d+ (\d+) (\S+) (\S+)\n([^-.]*)-\n([^-.]*)\.\n/gm,
  )) {
    if (jobs.length === 0) bootSeconds = Number(start);
    jobs.push({
      code: Number(code),
      seconds: Number(end) - Number(start),
      stdout: Buffer.from(stdout, "base64").toString(),
      stderr: Buffer.from(stderr, "base64").toString(),
    });
  }
  return { jobs, lines: text.split("\n"), complete: /^done$/m.test(text), bootSeconds };
}
