// `strobe boot`: a script's events from the kernel's first steps on, counted beside the kernel's own histograms; then all
// of it is removed. By a boot configuration on our own kernel, by the command line on Debian's.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { complaint, runGuest, type GuestOptions, type JobResult } from "./guest.ts";
import { bootConfigTools } from "./fetch-kernel.ts";
import { filesToRun, only } from "./tested-kernels.ts";
import { compileC, temporaryFolder } from "../support/strobe.ts";
import { kernels } from "./kernels.ts";
import { workSource } from "./workload.ts";

const script = `
tracepoint:initcall:initcall_start { @began[tid] = nsecs; }
tracepoint:initcall:initcall_finish /@began[tid]/ { @took[args.func, nsecs >= @began[tid]] = count(); @timed = count(); delete(@began, tid); }
tracepoint:initcall:initcall_finish { @returned[args.ret] = count(); }
kprobe:device_add { @devices = count(); @names[str(args.dev.kobj.name) == "loopback"] = count(); }
kretprobe:device_add { @added[(int32)retval] = count(); }
interval:s:1 { @seconds++; }
end { @functions = len(@took); clear(@took); clear(@began); clear(@names); }
`;
const prepared = `cat >/tmp/boot.bt <<'END'\n${script}END\n`;

/** Beside it, by hand: what the kernel itself counts. */
const byHand = `
ftrace.instance.other {
  event.initcall.initcall_finish.actions = "hist:keys=ret"
  event.kprobes.mine { probes = "device_add"; actions = "hist:keys=common_cpu" }
}
`;

const counts = `cd /sys/kernel/tracing; for event in initcall/initcall_finish kprobes/mine; do
grep -h Hits: instances/other/events/$event/hist; done`;

const left = `ls /sys/kernel/tracing/instances; cut -d' ' -f1 /sys/kernel/tracing/dynamic_events; grep strobe /sys/kernel/tracing/set_event`;

async function jobsOf(options: GuestOptions): Promise<readonly JobResult[]> {
  const guest = await runGuest(options);
  assert.doesNotMatch(guest.console, complaint);
  assert.ok(guest.complete, guest.console.slice(-3000));
  return guest.jobs;
}

const deadline = 400;
// The only devices that the kernel adds after user space has begun: those behind the keyboard's controller, whose answers
// a kernel thread waits for.
const noLateDevices = "i8042.noaux i8042.nokbd";
// The clocks of a starting kernel do not tell which of two events on different CPUs came first: an initcall's end would
// stand before its beginning where the thread that runs them all was moved meanwhile.
const quietBoot = `${noLateDevices} maxcpus=1`;
const own = kernels.find(({ name }) => name === "own")!;
const ownFiles = only === undefined || only === "own" ? filesToRun(own) : "another kernel was asked for";

test(
  "a boot configuration traces from the first initcalls on",
  { skip: typeof ownFiles === "string" && ownFiles, timeout: 2 * deadline * 1000 },
  async () => {
    assert.ok(typeof ownFiles !== "string");
    const kernel = ownFiles;
    const [made] = await jobsOf({ kernel, deadline, jobs: [{ script: `${prepared}strobe boot /tmp/boot.bt` }] });
    assert.equal(
      made.stderr,
      "interval:s:1 does not fire: the answers are collected at once\nend runs when the answers are collected\n",
    );
    assert.match(made.stdout, /^ftrace\.instance\.strobe-boot \{$/m);
    const collect = `${prepared}strobe boot --collect -q /tmp/boot.bt`;
    const jobs = [
      { script: "ls /sys/kernel/tracing/instances" },
      { script: counts },
      {
        script: `${prepared}sed -i s/^kprobe:device_add/kprobe:device_del/ /tmp/boot.bt; strobe boot --collect -q /tmp/boot.bt`,
      },
      { script: collect },
      { script: counts },
      { script: left },
      { script: collect },
    ];
    const [there, before, others, collected, after, rest, again] = await jobsOf({
      kernel,
      deadline,
      jobs,
      bootConfig: made.stdout + byHand,
      parameters: quietBoot,
    });
    assert.equal(there.stdout, "other\nstrobe-boot\nstrobe-boot-lives\n");
    assert.match(others.stderr, /another script was traced at boot/);
    const [initcalls, devices] = [...before.stdout.matchAll(/Hits: (\d+)/g)].map(([, hits]) => Number(hits));
    // Nothing of it happens once user space is there.
    assert.equal(after.stdout, before.stdout);
    assert.ok(initcalls > 100 && devices > 50, before.stdout);
    const value = (name: string): number => Number(new RegExp(`^@${name}: (\\d+)$`, "m").exec(collected.stdout)?.[1]);
    const sum = (name: string): number =>
      [...collected.stdout.matchAll(new RegExp(`^@${name}\\[.*\\]: (\\d+)$`, "gm"))].reduce(
        (all, [, n]) => all + Number(n),
        0,
      );
    assert.equal(sum("returned"), initcalls, collected.stdout + collected.stderr);
    // What enables the events is an initcall itself, which began before.
    assert.equal(value("timed"), initcalls - 1);
    assert.equal(value("devices"), devices);
    assert.equal(sum("added"), devices);
    assert.ok(value("functions") > 100 && value("functions") <= initcalls);
    assert.equal(collected.stderr, "");
    assert.equal(rest.stdout, "other\np:kprobes/mine\n");
    assert.match(again.stderr, /nothing was traced at boot/);
  },
);

const goesOn = `tracepoint:syscalls:sys_enter_getppid { @[comm] = count(); } end { print(@["work"]); clear(@); }`;

test(
  "what was traced at boot goes on live, and nothing is missed in between",
  { skip: typeof ownFiles === "string" && ownFiles, timeout: 2 * deadline * 1000 },
  async (t) => {
    assert.ok(typeof ownFiles !== "string");
    const kernel = ownFiles;
    const folder = temporaryFolder();
    t.after(() => folder.remove());
    const files = { "/bin/work": compileC(folder.path, "work", workSource, ["-O1", "-static"]) };
    const [made] = await jobsOf({ kernel, deadline, jobs: [{ script: `strobe boot -e '${goesOn}'` }] });
    const script = `/bin/work 300; (while [ ! -e /tmp/end ]; do /bin/work 10; n=$((n + 10)); done; echo $n >/tmp/more) &
strobe boot --collect --live -q -e '${goesOn}' --for 4s >/tmp/all 2>/tmp/said & strobe=$!
sleep 3; touch /tmp/end; wait $strobe; echo $(($(cat /tmp/more) + 300)) $(cat /tmp/all); cat /tmp/said; ${left}`;
    const [collected] = await jobsOf({ kernel, deadline, files, jobs: [{ script }], bootConfig: made.stdout });
    const [, done, told] = /^(\d+) (\d+)\n$/.exec(collected.stdout) ?? [];
    assert.ok(Number(done) > 300, collected.stdout + collected.stderr);
    assert.equal(told, done);
  },
);

/** Beside it: the same events in an instance that the kernel makes itself, and how often each kprobe was hit. */
const lineCounts = `cd /sys/kernel/tracing; grep -c 'initcall_finish:' instances/other/trace; awk '$1 ~ /strobe_boot/ { print $1, $2 }' kprobe_profile`;

for (const { name, ...rest } of kernels.filter((one) => one.name === "6.12")) {
  const files = only === undefined || only === name ? filesToRun({ name, ...rest }) : "another kernel was asked for";
  test(
    `the command line of Linux ${name} traces from the first initcalls on`,
    { skip: typeof files === "string" && files, timeout: 2 * deadline * 1000 },
    async () => {
      assert.ok(typeof files !== "string");
      const kernel = files;
      const [made, checked] = await jobsOf({
        kernel,
        deadline,
        jobs: [
          { script: `${prepared}strobe boot --cmdline /tmp/boot.bt` },
          { script: `${prepared}strobe boot --collect /tmp/boot.bt` },
        ],
      });
      assert.match(checked.stderr, /nothing was traced at boot/);
      const collect = `${prepared}strobe boot --collect --cmdline -q /tmp/boot.bt`;
      const parameters = `${made.stdout.trim()} trace_instance=other,initcall:initcall_finish ${quietBoot}`;
      const jobs = [{ script: lineCounts }, { script: collect }, { script: left }];
      const [before, collected, after] = await jobsOf({ kernel, deadline, jobs, parameters });
      const [initcalls, ...hits] = before.stdout.split("\n");
      assert.ok(Number(initcalls) > 100, before.stdout);
      const devices = Number(/strobe_boot_2 (\d+)/.exec(hits.join("\n"))?.[1]);
      const value = (of: string): number => Number(new RegExp(`^@${of}: (\\d+)$`, "m").exec(collected.stdout)?.[1]);
      assert.equal(value("timed"), Number(initcalls), collected.stdout + collected.stderr);
      assert.equal(value("devices"), devices);
      assert.equal(collected.stderr, "");
      assert.equal(after.stdout, "other\n");
    },
  );
}

/** Each kind of line that a configuration has: triggers, filters, definitions, several of them. */
const allLines = `
tracepoint:initcall:initcall_finish { @returned[args.ret] = count(); }
tracepoint:sched:sched_waking /args.prio < 100 && args.comm == "kthreadd"/ { @w[args.pid] = count(); @x = 1; }
tracepoint:syscalls:sys_enter_lseek /args.offset > 1000000/ { @far = count(); @y = 1; }
kprobe:device_add { @devices = count(); @names[str(args.dev.kobj.name) == "loopback"] = count(); }
kretprobe:device_add { @added[(int32)retval] = count(); }
kprobe:vfs_read /args.count > 4096/ { @big = sum(args.count); }
`;

for (const { name, ...rest } of kernels.filter((one) => one.name === "7")) {
  const files = only === undefined || only === name ? filesToRun({ name, ...rest }) : "another kernel was asked for";
  const noTools = !existsSync(bootConfigTools) && "the kernel's bootconfig is not built: npm run guest:kernel";
  test(
    `the kernel's own bconf2ftrace reads the configuration of Linux ${name} as the events that the script asks for`,
    { skip: typeof files === "string" ? files : noTools, timeout: 2 * deadline * 1000 },
    async (t) => {
      assert.ok(typeof files !== "string");
      const folder = temporaryFolder();
      t.after(() => folder.remove());
      const script = `cat >/tmp/all.bt <<'END'\n${allLines}END\nstrobe boot /tmp/all.bt`;
      const [made] = await jobsOf({ kernel: files, deadline, jobs: [{ script }] });
      const path = join(folder.path, "boot.conf");
      writeFileSync(path, made.stdout);
      const tool = join(bootConfigTools, "scripts/bconf2ftrace.sh");
      const written = execFileSync("sh", [tool, path], { cwd: folder.path, encoding: "utf8", timeout: 60_000 });
      assert.deepEqual(
        written
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => line.replace(/\/sys\/kernel\S*?\/tracing\//, "")),
        [
          "mkdir -p instances/strobe-boot-lives",
          "echo 'nooverwrite' >> instances/strobe-boot-lives/trace_options",
          "echo 'boot' >> instances/strobe-boot-lives/trace_clock",
          "echo 512 >> instances/strobe-boot-lives/buffer_size_kb",
          "echo 1 > instances/strobe-boot-lives/events/task/task_newtask/enable",
          "echo 1 > instances/strobe-boot-lives/events/task/task_rename/enable",
          "echo 1 > instances/strobe-boot-lives/events/sched/sched_process_exit/enable",
          "echo 1 > instances/strobe-boot-lives/events/sched/sched_process_free/enable",
          "mkdir -p instances/strobe-boot",
          "echo 'nooverwrite' >> instances/strobe-boot/trace_options",
          "echo 'boot' >> instances/strobe-boot/trace_clock",
          "echo 16384 >> instances/strobe-boot/buffer_size_kb",
          "echo 'hist:keys=ret:vals=hitcount:size=16384' >> instances/strobe-boot/events/initcall/initcall_finish/trigger",
          `echo 'prio < 100 && comm == "kthreadd"' >> instances/strobe-boot/events/sched/sched_waking/filter`,
          "echo 1 > instances/strobe-boot/events/sched/sched_waking/enable",
          "echo 'offset > 1000000 && offset <= 9223372036854775807' >> instances/strobe-boot/events/syscalls/sys_enter_lseek/filter",
          "echo 1 > instances/strobe-boot/events/syscalls/sys_enter_lseek/enable",
          "echo 'p:kprobes/strobe_boot_3 device_add a0=%di:u64 a1=+0(%di):u64 a2=+0(+0(%di)):string' >> kprobe_events",
          "echo 1 > instances/strobe-boot/events/kprobes/strobe_boot_3/enable",
          "echo 'p:kprobes/strobe_boot_4 device_add%return a0=%ax:s32' >> kprobe_events",
          "echo 'hist:keys=a0:vals=hitcount:size=16384' >> instances/strobe-boot/events/kprobes/strobe_boot_4/trigger",
          "echo 'p:kprobes/strobe_boot_5 vfs_read a0=%dx:u64' >> kprobe_events",
          "echo 'hist:keys=a0:vals=hitcount:size=2048 if a0 > 4096' >> instances/strobe-boot/events/kprobes/strobe_boot_5/trigger",
        ],
        made.stderr,
      );
    },
  );
}

/** Of the boot before: a program's events, to the last, with its name. The first boot has nothing to tell. */
const flight = `cd /tmp
if strobe boot --flight --collect -o last.dat 2>said; then
  cat said; strobe replay last.dat -q -e 'tracepoint:syscalls:sys_enter_getppid /comm == "work"/ { @[comm] = count(); }' | grep .
  strobe boot --flight --collect -o last.dat; echo $?; cat /sys/kernel/tracing/instances/strobe-flight/set_event
else
  cat said >/dev/ttyS1
  strobe boot --flight --start syscalls:sys_enter_getppid && /bin/work 300
  reboot -f
fi`;

for (const { name, ...rest } of kernels.filter((one) => ["6.12", "7", "own"].includes(one.name))) {
  const files = only === undefined || only === name ? filesToRun({ name, ...rest }) : "another kernel was asked for";
  test(
    `a ring outlives a reboot of Linux ${name}`,
    { skip: typeof files === "string" && files, timeout: 2 * deadline * 1000 },
    async (t) => {
      assert.ok(typeof files !== "string");
      const folder = temporaryFolder();
      t.after(() => folder.remove());
      const work = compileC(folder.path, "work", workSource, ["-O1", "-static"]);
      const guest = await runGuest({
        kernel: files,
        deadline,
        files: { "/bin/work": work },
        jobs: [{ script: "strobe boot --flight" }, { script: flight }],
        parameters: "reserve_mem=12582912:4096:strobe trace_instance=strobe-flight@strobe",
        reboots: true,
      });
      const [asked, again] = guest.jobs.slice(-2);
      assert.equal(
        asked.stdout,
        "reserve_mem=12582912:4096:strobe trace_instance=strobe-flight@strobe\n",
        asked.stderr,
      );
      assert.ok(
        guest.lines.some((line) => line.startsWith("strobe: nothing is there")),
        guest.lines.join("\n"),
      );
      assert.match(
        again.stdout,
        /^last\.dat: \d+ events of the boot before this one\n@\[work\]: 300\n1\n$/,
        again.stderr,
      );
    },
  );
}
