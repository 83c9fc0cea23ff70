// Source lines, inlined functions and variables of a kernel that tells them, and what stock kernels leave out: our own
// kernel, moved by address space randomisation.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { after, test } from "node:test";
import { temporaryFolder } from "../support/strobe.ts";
import type { ProbeCase } from "./cases.ts";
import { check, listOf, programs, resultsIn } from "./drive.ts";
import { complaint, runGuest } from "./guest.ts";
import type { Job } from "./initramfs.ts";
import { kernels } from "./kernels.ts";
import { filesToRun } from "./tested-kernels.ts";

// A minute or two, but for a machine that has no CPU to spare.
const guestSeconds = 3600;
const folder = temporaryFolder();
after(() => folder.remove());

/**
 * The source line that a function begins at, as binutils say; of a module's, whose sections have no addresses yet,
 * `within` one.
 */
function lineOf(
  vmlinux: string,
  name: string,
  within: readonly string[] = [],
): { readonly file: string; readonly line: string } {
  const [, address = ""] =
    new RegExp(`^([0-9a-f]+) \\w ${name}$`, "m").exec(
      execFileSync("nm", [vmlinux], { encoding: "utf8", maxBuffer: 1 << 28 }),
    ) ?? [];
  const [, file = "", line = ""] =
    /([^/]+\/[^/]+):(\d+)/.exec(
      execFileSync("addr2line", [...within, "-e", vmlinux, `0x${address}`], { encoding: "utf8" }),
    ) ?? [];
  return { file, line };
}

function casesOf(vmlinux: string): readonly ProbeCase[] {
  const command = "/bin/work 1000";
  const { file, line } = lineOf(vmlinux, "vfs_read");
  return [
    {
      name: "kprobe@FILE:LINE",
      command,
      script: `kprobe@${file}:${line} /pid == cpid && var("count") == 512/ { @[func] = count(); }`,
      output: "@[vfs_read]: 1000",
    },
    {
      // Its first line is what it returns, and its name is on the next.
      name: "kprobe:FUNCTION@FILE:+N, a list of lines",
      command,
      output: `@[kprobe:vfs_read@${file}:${line}]: 1000`,
      script: `kprobe:vfs_read@${file}:+1,+1-1 /pid == cpid && var("count") == 512/ { @[probe] = count(); }`,
    },
    {
      name: "every line of a function of the kernel",
      command,
      script: `kprobe:vfs_read@read_write.c:* /pid == cpid && arg2 == 512/ { @[probe] = count(); }`,
      output: new RegExp(`@\\[kprobe:vfs_read@read_write\\.c:${line}\\]: 1000\\n`),
    },
    {
      name: "lines of files with wildcards",
      command,
      output: `@[kprobe@${file}:${line}]: 1000`,
      script: `kprobe@fs/r*_write.c:${line}-${line} /pid == cpid && var("count") == 512/ { @[probe] = count(); }`,
    },
    {
      name: "a function that is not in the file",
      script: `kprobe:vfs_read@fs/open.c:+1 { }`,
      output: "",
      refusal: /`vfs_read` is not in a file fs\/open\.c/,
    },
    {
      name: "var() of a kernel function, and struct members behind it",
      command,
      script:
        'kprobe:vfs_read /pid == cpid && var("count") == 512/ { @[str(var("file").f_path.dentry.d_name.name)] = count(); }',
      output: "@[zero]: 1000",
    },
    {
      name: "globals of the kernel",
      command,
      script:
        'kprobe:vfs_read /pid == cpid && arg2 == 512 && var("nr_threads") > 0 && var("jiffies") > 0/ { @ = count(); }',
      output: "@: 1000",
    },
    {
      name: "globals of the kernel where no function is probed",
      command,
      script:
        'tracepoint:syscalls:sys_enter_read /pid == cpid && args.count == 512 && var("nr_threads") > 0 && var("jiffies") > 0 && var("runqueues").curr.pid == tid/ { @ = count(); }',
      output: "@: 1000",
    },
    {
      name: "a per-CPU variable at a function of the kernel",
      command,
      output: "@: 1000",
      script:
        'kprobe:vfs_read /pid == cpid && arg2 == 512 && var("runqueues").curr.pid == tid && var("runqueues").cpu == cpu/ { @ = count(); }',
    },
    {
      // A static helper of read(2) and write(2) and their kin, in each of them.
      name: "an inlined function is its copies",
      command,
      script: `kprobe:ksys_read /pid == cpid && arg2 == 512/ { @in[tid] = "read"; } kprobe:ksys_write /pid == cpid && arg2 == 64/ { @in[tid] = "write"; }
        kprobe:inlined:file_ppos /@in[tid] != ""/ { @[@in[tid]] = count(); } kretprobe:ksys_read,kretprobe:ksys_write { delete(@in, tid); }`,
      output: /^@\[(?:read|write)\]: 1000\n@\[(?:read|write)\]: 1000$/,
      warning: /`file_ppos` is inlined: probing its \d+ copies, in /,
    },
    {
      name: "a parameter of an inlined function",
      command,
      script: 'kprobe:inlined:file_ppos /pid == cpid/ { @[str(var("file").f_path.dentry.d_name.name)] = count(); }',
      output: /@\[(?:zero|null)\]: 1000\n@\[(?:zero|null)\]: 1000$/,
      warning: /`file_ppos` is inlined: probing its \d+ copies, in /,
    },
    {
      // By the caller: the copies in read(2) and write(2) are entered and left a thousand times each, one after the
      // other.
      name: "where inlined copies end",
      command,
      script: `kprobe:inlined:file_ppos /pid == cpid/ { @in = count(); @since[tid] = nsecs; }
        kretprobe:inlined:file_ppos /pid == cpid && @since[tid] > 0/ { @out = count(); delete(@since, tid); }`,
      output: /^@in: (\d{4})\n@out: \1$/,
      warning: /`file_ppos` is inlined: probing its 4 copies, in [^]*probing where its 4 copies end, in /,
    },
    {
      // A body, and a copy in each of read's and write's functions.
      name: "a function with a body and copies",
      command,
      script: `kprobe:vfs_read /pid == cpid && arg2 == 512/ { @reading[tid] = 1; } kretprobe:vfs_read { delete(@reading, tid); }
        kprobe:rw_verify_area /@reading[tid] > 0/ { @in = count(); } kretprobe:rw_verify_area /@reading[tid] > 0/ { @out = count(); }`,
      output: "@in: 1000\n@out: 1000",
      warning:
        /`rw_verify_area` is inlined: probing its body and its \d+ copies, in [^]*probing its returns and where its \d+ copies end/,
    },
    {
      name: "a variable by its address",
      command,
      script: 'kprobe:vfs_read /pid == cpid && arg2 == 512 && *(uint64 *)kaddr("jiffies_64") > 0/ { @ = count(); }',
      output: "@: 1000",
    },
    {
      name: "a file that there is not",
      script: "kprobe@fs/nothing.c:3 { }",
      output: "",
      refusal: /no code of \S+ comes from a file fs\/nothing\.c/,
    },
  ];
}

/** What the debug information of a module tells: tun's, whose file was not stripped. */
function moduleCases(module: string): readonly ProbeCase[] {
  const command = "/bin/work 5 /dev/net/tun";
  const { file, line } = lineOf(module, "tun_chr_open", ["-j", ".text"]);
  return [
    {
      name: "kprobe:MODULE@FILE:LINE",
      command,
      script: `kprobe:tun@${file}:${line} /pid == cpid/ { @[func] = count(); }`,
      output: "@[tun_chr_open]: 5",
    },
    {
      name: "kprobe@FILE:LINE of a module",
      command,
      script: `kprobe@${file}:${line} /pid == cpid/ { @[func] = count(); }`,
      output: "@[tun_chr_open]: 5",
    },
    {
      name: "var() of a module's function",
      command,
      script: 'kprobe:tun_chr_open /pid == cpid/ { @[str(var("file").f_path.dentry.d_name.name)] = count(); }',
      output: "@[tun]: 5",
    },
    {
      name: "an inlined function of a module",
      command,
      script: "kprobe:tun:ptr_ring_init_noprof /pid == cpid/ { @ = count(); }",
      output: "@: 5",
      warning: /`ptr_ring_init_noprof` is inlined/,
    },
    {
      name: "a file that the module has not",
      script: "kprobe:tun@net/nothing.c:3 { }",
      output: "",
      refusal: /no code of \S*tun\.ko comes from a file net\/nothing\.c/,
    },
    {
      name: "lines of a module that is not loaded",
      script: "kprobe:nothing@net/tun.c:3 { }",
      output: "",
      refusal: /has no function `nothing`[^]*no module `nothing` is loaded either/,
    },
  ];
}

/** What stock kernels leave out. */
const trials: readonly (Job & { readonly name: string; readonly output: RegExp })[] = [
  {
    name: "a listing of a function's lines",
    script: "strobe -l 'kprobe:vfs_read@fs/read_write.c:*'",
    output: /^(?:kprobe:vfs_read@fs\/read_write\.c:\d+\n){10,}$/,
  },
  {
    name: "a listing of lines with their variables",
    script: "strobe -lv 'kprobe:vfs_read@fs/read_write.c:+4'",
    output:
      /^kprobe:vfs_read@fs\/read_write\.c:\d+\n(?: {4}\S.*\n)* {4}loff_t ?\* ?pos\n(?: {4}\S.*\n)* {4}in vfs_read\n$/,
  },
  {
    name: "a listing of a file's lines",
    script: "strobe -l 'kprobe@fs/read_write.c:*' | grep -c '^kprobe@fs/read_write.c:[0-9]*$'",
    output: /^\d{3,}\n$/,
  },
  {
    name: "a listing of a module's lines",
    script: "strobe -l 'kprobe:tun@drivers/net/tun.c:*' | grep -c '^kprobe:tun@drivers/net/tun.c:[0-9]*$'",
    output: /^\d{3,}\n$/,
  },
  {
    name: "a listing of a function's arguments",
    script: "strobe -lv kprobe:vfs_read",
    output: /^kprobe:vfs_read\n {4}struct file \* file\n {4}char \* buf\n {4}size_t count\n {4}loff_t \* pos\n$/,
  },
  {
    name: "a function that is made to fail",
    script: `strobe -q --unsafe -c 'mkdir /tmp/refused' -e 'kprobe:__x64_sys_mkdir,kprobe:__x64_sys_mkdirat /pid == cpid/ { override(-28); @ = count(); }'; ls -d /tmp/refused`,
    output: /^\s*@: 1\n[^]*\/tmp\/refused'?: No space left on device\n[^]*\/tmp\/refused: No such file or directory\n$/,
  },
  ...[
    ["osnoise", "thread_noise"],
    ["timerlat", "irq_noise"],
  ].map(([tracer, event]) => ({
    name: `events of the ${tracer} tracer`,
    script: `echo ${tracer} >/sys/kernel/tracing/current_tracer
      strobe -q -e 'tracepoint:osnoise:${event} { @ = count(); } interval:s:3 { exit(); }'; echo nop >/sys/kernel/tracing/current_tracer`,
    output: /^\n*@: [1-9]\d*\n+$/,
  })),
];

const own = kernels.find(({ source }) => source === "own");
const found = own === undefined ? "there is no kernel of our own" : filesToRun(own);

test(
  "debug information of the kernel",
  { skip: typeof found === "string" && found, timeout: (guestSeconds + 120) * 1000 },
  async (t) => {
    assert.ok(typeof found !== "string" && found.vmlinux !== undefined);
    const module = join(found.modules, "tun.ko");
    const cases = [...casesOf(found.vmlinux), ...moduleCases(module)];
    const guest = await runGuest({
      kernel: found,
      deadline: guestSeconds,
      kaslr: true,
      memory: "2G",
      modules: ["tun"],
      files: {
        ...(await programs(folder.path)),
        "/cases.json": listOf(folder.path, cases, "cases.json"),
        [`/usr/lib/debug/boot/vmlinux-${found.release}`]: found.vmlinux,
        [`/usr/lib/debug/lib/modules/${found.release}/kernel/drivers/net/tun.ko`]: module,
      },
      jobs: [
        { script: "node /strobe/driver.mjs", deadline: guestSeconds },
        { script: "grep -w _text /proc/kallsyms" },
        ...trials,
      ],
    });
    const results = resultsIn(guest.lines);
    for (const [i, one] of cases.entries()) {
      await t.test(one.name, () => {
        const result = results.find(({ index }) => index === i);
        assert.ok(
          result,
          `the guest never ended this one; its console:\n${guest.console.slice(-3000)}\n${guest.jobs[0]?.stderr.slice(-3000) ?? ""}`,
        );
        check(one, result);
      });
      t.diagnostic(`${one.name}: ${results.find(({ index }) => index === i)?.milliseconds ?? "?"} ms`);
    }
    for (const [i, { name, output }] of trials.entries()) {
      await t.test(name, () => {
        const job = guest.jobs[2 + i];
        assert.ok(job, guest.console.slice(-3000));
        assert.match(job.stdout + job.stderr, output);
      });
    }
    await t.test("the kernel was not where it was linked, and did not complain", () => {
      assert.match(guest.jobs[1]?.stdout ?? "", /^ffffffff/);
      assert.doesNotMatch(guest.jobs[1]?.stdout ?? "", /^ffffffff81000000 /);
      assert.doesNotMatch(guest.console, complaint);
      assert.ok(guest.complete, guest.console.slice(-3000));
    });
  },
);
