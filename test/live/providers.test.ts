// Providers against this machine's kernel: each kind of attachment makes an empty program run, and leaves nothing.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { enableStats, loadProgram, progInfo } from "../../src/linux/bpf/bpf.ts";
import { closeFd } from "../../src/linux/ffi.ts";
import { bindingOf, type Context } from "../../src/language/context.ts";
import { liveSystem } from "../../src/machine/live-system.ts";
import type { Attachment } from "../../src/providers/provider.ts";
import { findAttacher, listProbes, resolveSpec, splitPattern } from "../../src/providers/registry.ts";
import { systemCallNumber } from "../../src/machine/kernel/syscall-numbers.ts";
import { hostMachine } from "../../src/machine/contexts/registers.ts";
import { bpfObjects, nothingLeft } from "../support/strobe.ts";

// enum bpf_prog_type
const programTypes = { kprobe: 2, tracepoint: 5, perf_event: 7, raw_tracepoint: 17, tracing: 26 };
/** r0 = 0; exit */
const nothing = Uint8Array.from([0xb7, 0, 0, 0, 0, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0]);

const system = liveSystem();
let folder = "";
let stats = -1;
let there = "";

before(() => {
  folder = mkdtempSync(join(tmpdir(), "strobe-providers-"));
  writeFileSync(
    join(folder, "calls.c"),
    `
    __attribute__((noinline)) int first(int x) { __asm__ volatile("" ::: "memory"); return x + 1; }
    __attribute__((noinline)) int second(int x) { __asm__ volatile("" ::: "memory"); return x + 2; }
    int main(void) { int t = 0; for (int i = 0; i < 5; i++) t += first(i); for (int i = 0; i < 3; i++) t += second(i); return t == 0; }`,
  );
  execFileSync("gcc", ["-O1", "-o", join(folder, "calls"), join(folder, "calls.c")]);
  // A static probe as sys/sdt.h makes it, guarded by its semaphore.
  writeFileSync(
    join(folder, "guarded.c"),
    `
    unsigned short volatile demo_semaphore __attribute__((section(".probes"))) = 0;
    __asm__(".pushsection .stapsdt.base,\\"aG\\",\\"progbits\\",.stapsdt.base,comdat\\n.weak _.stapsdt.base\\n"
      ".hidden _.stapsdt.base\\n_.stapsdt.base: .space 1\\n.size _.stapsdt.base, 1\\n.popsection");
    int main(void) {
      for (int i = 0; i < 4; i++) if (demo_semaphore) __asm__ volatile("990: nop\\n"
        ".pushsection .note.stapsdt,\\"\\",\\"note\\"\\n.balign 4\\n.4byte 992f-991f, 994f-993f, 3\\n991: .asciz \\"stapsdt\\"\\n992: .balign 4\\n"
        "993: .8byte 990b, _.stapsdt.base, demo_semaphore\\n.asciz \\"demo\\"\\n.asciz \\"step\\"\\n.asciz \\"-4@%0\\"\\n994: .balign 4\\n.popsection" :: "r"(i));
      return 0;
    }`,
  );
  execFileSync("gcc", ["-O1", "-no-pie", "-o", join(folder, "guarded"), join(folder, "guarded.c")]);
  there = bpfObjects();
  stats = enableStats();
});
after(async () => {
  closeFd(stats);
  rmSync(folder, { recursive: true });
  await nothingLeft(there);
});

function load(context: Context): number {
  return loadProgram({
    name: "strobe_test",
    type: programTypes[context.program.type],
    code: nothing,
    license: "Dual MIT/GPL",
    ...(context.program.load
      ? { expectedAttachType: context.program.load.attachType, attachBtfId: context.program.load.btfId }
      : {}),
  });
}

/** Attaches all of a probe's variants around `work`; gives how often programs ran, and the sites attached. */
function count(
  probe: string,
  work: () => void,
  uses: readonly string[] = [],
  pid?: number,
): { runs: number; attached: number; failed: string[] } {
  const [provider, ...parts] = splitPattern(probe);
  const { variants, diagnostics } = resolveSpec(
    { provider: provider, parts, text: probe, span: { start: 0, end: probe.length } },
    system,
    { missing: "error", uses: new Set(uses), ...(pid === undefined ? {} : { pid }) },
  );
  assert.deepEqual(diagnostics, []);
  const programs: number[] = [];
  const attachments: Attachment[] = [];
  try {
    for (const { context, sites } of variants) {
      assert.ok(context !== "host");
      const program = load(context);
      programs.push(program);
      attachments.push(
        findAttacher(provider)!.attach({
          program,
          binding: bindingOf(context),
          sites,
          cookies: sites.map((_, i) => BigInt(i + 1)),
          ...(pid === undefined ? {} : { pid }),
        }),
      );
    }
    work();
    const runs = programs.reduce((sum, program) => sum + progInfo(program).runCount, 0);
    return {
      runs,
      attached: attachments.reduce((sum, one) => sum + one.attached.length, 0),
      failed: attachments.flatMap((one) => one.failed.map(({ site, reason }) => `${site.name}: ${reason}`)),
    };
  } finally {
    for (const attachment of attachments) attachment[Symbol.dispose]();
    for (const program of programs) closeFd(program);
  }
}

const run = (): void => {
  execFileSync(join(folder, "calls"));
};
/** The process's own system calls: each opens and reads a file. */
const readSelf = (): void => {
  for (let i = 0; i < 50; i++) readFileSync("/proc/self/comm");
};

describe("attaching", () => {
  it("runs a program at a function, exactly as often as it is called", () => {
    assert.deepEqual(count(`uprobe:${folder}/calls:first`, run), { runs: 5, attached: 1, failed: [] });
    assert.deepEqual(count(`uretprobe:${folder}/calls:second`, run), { runs: 3, attached: 1, failed: [] });
  });

  it("runs one program at all functions of a wildcard", () => {
    assert.deepEqual(count(`uprobe:${folder}/calls:[fs]*[td]`, run), { runs: 8, attached: 2, failed: [] });
  });

  it("switches on a static probe by its semaphore", () => {
    assert.deepEqual(
      count(
        `usdt:${folder}/guarded:demo:step`,
        () => {
          execFileSync(join(folder, "guarded"));
        },
        ["arg0"],
      ),
      { runs: 4, attached: 1, failed: [] },
    );
  });

  it("serves system calls with one program", () => {
    const { runs, attached, failed } = count("tracepoint:syscalls:sys_enter_*", readSelf);
    assert.ok(runs >= 150, `${runs} calls`);
    assert.ok(attached > 300);
    assert.deepEqual(failed, []);
  });

  it("runs programs at tracepoints: raw ones, BTF-typed ones, and on perf", () => {
    for (const [probe, uses] of [
      ["tracepoint:sched:sched_process_exec", []],
      ["tracepoint:sched:sched_process_exec", ["args"]],
      ["tracepoint:syscalls:sys_exit_execve", ["kstack"]],
      ["rawtracepoint:sched_process_exec", []],
      ["rawtracepoint:sched_process_exec", ["args"]],
    ] as const) {
      const { runs, attached, failed } = count(
        probe,
        () => {
          run();
          run();
        },
        uses,
      );
      assert.deepEqual(
        { enough: runs >= 2, attached, failed },
        { enough: true, attached: 1, failed: [] },
        `${probe} ${uses.join()}`,
      );
    }
  });

  it("samples on every CPU, and on the threads of one process", () => {
    // By the processor's time, since others may have their share of it.
    const spin = (): void => {
      for (const since = process.cpuUsage(); process.cpuUsage(since).user < 200_000;) for (let i = 0; i < 1e6; i++);
    };
    const everywhere = count("profile:hz:500", spin);
    assert.deepEqual([everywhere.runs > 0, everywhere.failed], [true, []], `${everywhere.runs} samples`);
    const ours = count("software:cpu-clock:1000000", spin, [], process.pid);
    assert.deepEqual([ours.runs > 0, ours.failed], [true, []], `${ours.runs} samples`);
  });

  it("says which sites the kernel refused, and attaches the others", () => {
    const context = resolveSpec(
      { provider: "u", parts: [`${folder}/calls`, "first"], text: "", span: { start: 0, end: 0 } },
      system,
      { missing: "error", uses: new Set() },
    ).variants[0];
    assert.ok(context.context !== "host");
    const program = load(context.context);
    const site = context.sites[0];
    const beyond = {
      name: "beyond",
      data: { path: (site.data as { path: string }).path, offset: 1n << 40n, semaphore: 0n },
    };
    using attachment = findAttacher("uprobe")!.attach({
      program,
      binding: bindingOf(context.context),
      sites: [beyond, site],
      cookies: [1n, 2n],
    });
    run();
    assert.equal(progInfo(program).runCount, 5);
    assert.deepEqual(attachment.attached, [site]);
    assert.deepEqual(
      attachment.failed.map((failure) => failure.site.name),
      ["beyond"],
    );
    closeFd(program);
  });
});

describe("this machine", () => {
  it("has a number for each system call that tracefs has an event of", () => {
    const unknown = system
      .tracepoints()
      .filter(
        ({ category, name }) =>
          category === "syscalls" &&
          name.startsWith("sys_enter_") &&
          systemCallNumber(name.slice(10), hostMachine) === undefined,
      );
    assert.deepEqual(unknown, []);
  });

  it("lists tracepoints with their fields", () => {
    const [listed] = listProbes("tracepoint:sched:sched_process_exec", system, { verbose: true });
    assert.deepEqual(listed, {
      probe: "tracepoint:sched:sched_process_exec",
      details: ["    __data_loc char[] filename", "    pid_t pid", "    pid_t old_pid"],
    });
  });
});
