// What the verifier visits of programs that were, or would be, more than the million instructions it walks through.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { writeFileSync } from "node:fs";
import { createMap, loadProgram } from "../../src/linux/bpf/bpf.ts";
import { Features } from "../../src/linux/kernel/features.ts";
import { closeFd } from "../../src/linux/ffi.ts";
import { relocated } from "../../src/session/live/relocate.ts";
import { compileScript } from "../support/differential.ts";
import { bpfObjects, compileC, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const deadline = { timeout: 300_000, skip: process.geteuid?.() !== 0 && "needs root" };
const folder = temporaryFolder();
let objects = "";
let workload = "";
before(() => {
  if (deadline.skip) return;
  objects = bpfObjects();
  workload = compileC(
    folder.path,
    "callee",
    '__attribute__((noinline)) int callee(int x) { __asm__ volatile(""); return x; }\nint main(void) { return callee(0); }',
  );
});
after(async () => {
  folder.remove();
  if (!deadline.skip) await nothingLeft(objects);
});

/** Each branch leaves something else on the stack, if that is where keys are. */
const branches = `
  if (arg0 > $i) { @a["abcdefghijkl", arg0] = count(); }
  if (has_key(@b, (arg1, "x"))) { @c[(arg0 > 7 ? "some text" : "other")] = (1, "hello"); } else { $r = (arg0, "0123"); @d[$r] = $i; }
  if (@n == $i) { @e[arg1 & 7] = hist(arg1); }
  if (@f["z"] > 3) { printf("%d\\n", $i); }
  if (@a["q", 3] > 3) { @b[(arg1, "y")] = $i; }
  @f["y"] = $i;
  @n = arg1;`;

const BPF_PROG_TYPE_RAW_TRACEPOINT = 17;
const BPF_LOG_STATS = 4;

const probe = "rawtracepoint:sched_process_exec";
const scripts: Readonly<Record<string, string>> = {
  "a loop with many branches": `${probe} { $i = 0; while ($i++ < (arg1 & 7)) { ${branches} } }`,
  "a loop with a constant bound": `${probe} { for ($i : 0..20) { ${branches} } }`,
  "a loop in a loop": `${probe} { for ($j : 0..(arg1 & 7)) { for ($i : 0..5) { ${branches} } } }`,
  "a loop over a map": `${probe} { for ($kv : @f) { $i = (int64)$kv.1; ${branches} } }`,
  "a loop over a map that looks for texts in texts": `${probe} {
    for ($kv : @g) { if (strlen($kv.0) >= strstr($kv.0, comm) || strcontains($kv.1, "abc")) { @h[$kv.1]++; } }
    @g[comm] = "0123456789";
  }`,
  "a text in another": `${probe} { @g[comm] = "0123456789abcdefghijklmnopqrstuvwxyz"; @h = strstr(@g["x"], comm); }`,
};

/** Instructions that the verifier visits of a script's program. Its whole log would take many seconds. */
function visited(script: string): number {
  const { plan, diagnostics } = compileScript(script);
  const [program] = plan?.bpf.programs ?? [];
  assert.ok(plan && program, JSON.stringify(diagnostics));
  const maps: number[] = [];
  let log = "";
  try {
    for (const map of plan.bpf.maps) maps.push(createMap(map));
    closeFd(
      loadProgram({
        name: "walked",
        type: BPF_PROG_TYPE_RAW_TRACEPOINT,
        license: "Dual MIT/GPL",
        subprograms: program.subprograms,
        logLevel: BPF_LOG_STATS,
        code: relocated(program, {
          maps,
          childPid: 0,
          bootToWall: 0n,
          bootToTai: 0n,
          start: 0n,
          kernelVariable: () => undefined,
          kernelFunction: () => undefined,
        }),
        onLog(text) {
          log = text;
        },
      }),
    );
  } finally {
    for (const map of maps) closeFd(map);
  }
  return Number(/^processed (\d+) insns/m.exec(log)?.[1]);
}

for (const [name, script] of Object.entries(scripts)) {
  test(`the verifier walks through ${name}`, deadline, (t) => {
    const count = visited(script);
    t.diagnostic(`${count} instructions`);
    assert.ok(count < 10_000, `${count} instructions`);
  });
}

const bits = Array.from({ length: 24 }, (_, bit) => `if (arg1 & ${1 << bit}) { $sum += ${1 << bit}; }`).join(" ");

/** What loading says of a script. */
async function loading(script: string): Promise<string> {
  const { code, stderr } = await strobe(["-q", "--dry-run", "-v", "-e", script], { deadline: 300_000 });
  assert.equal(code, 0, stderr.slice(-2000));
  return stderr;
}

const again = /the verifier gave up on a program, compiling again to make it easier/;

test("what the verifier gives up on, millions of values each by itself, is compiled again", deadline, async () => {
  assert.match(await loading(`${probe} { $sum = 0; ${bits} if ($sum > 5) { @ = $sum; } }`), again);
});

test("thousands of branches on one number are taken at once", deadline, async () => {
  const many = Array.from({ length: 2500 }, (_, i) => `if (pid == ${i}) { $x = ${i} + nsecs; }`).join(" ");
  assert.doesNotMatch(await loading(`${probe} { $x = (uint64)0; ${many} @ = $x; }`), again);
});

test("a loop of many branches where another run may come between is taken at once", deadline, async () => {
  const loop = `$i = 0; while ($i++ < (arg1 & 7)) { ${branches} ${branches.replaceAll("@", "@z")} }`;
  assert.doesNotMatch(await loading(`uprobe:${workload}:callee { ${loop} }`), again);
});

test(
  "a path may be looked through for several texts",
  { ...deadline, skip: deadline.skip || (!new Features().capabilities().mayGoto && "needs may_goto, since Linux 6.9") },
  async () => {
    const one = `${folder.path}/a-file-that-is-there`;
    writeFileSync(one, "");
    const { code, stderr, stdout } = await strobe([
      "-q",
      "-c",
      `cat ${one}`,
      "-e",
      `tracepoint:syscalls:sys_enter_openat /pid == cpid/ {
    $path = str(args.filename);
    if (strcontains($path, "python") || strcontains($path, "perl") || strcontains($path, "that-is")) { @found[strlen($path)] = count(); }
  }`,
    ]);
    assert.deepEqual(
      { code, stderr, stdout: stdout.trim() },
      { code: 0, stderr: "", stdout: `@found[${one.length}]: 1` },
    );
  },
);
