// Scripts translated to TypeScript become the same code: every ready script, and a script for each thing that the
// language has.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { runInThisContext } from "node:vm";
import { compileProbes } from "../../src/api/compile-probes.ts";
import { functionSource } from "../../src/api/markers.ts";
import { isProbe, type Probe } from "../../src/api/probes.ts";
import type { Settings } from "../../src/api/settings.ts";
import { translateToTypeScript } from "../../src/api/translate.ts";
import { printModule } from "../../src/compiler/ir/print-ir.ts";
import * as library from "../../src/index.ts";
import { parseProbes } from "../../src/language/typescript/parse.ts";
import { compileScript, type CompiledScript } from "../../src/index.ts";
import { rewriteModule } from "../../src/rewrite/rewrite.ts";
import { stripTypes } from "../../src/rewrite/strip.ts";
import { strobe, temporaryFolder, type Outcome } from "../support/strobe.ts";
import { languageCases } from "./language-cases.ts";

interface Asked {
  readonly probes: readonly Probe[];
  readonly settings: Settings;
}

/** The probes that a translated program asks for, without tracing them, and its settings. */
async function probesOf(text: string): Promise<Asked> {
  const { code } = rewriteModule({ file: "translated.ts", text, javascript: stripTypes("translated.ts", text) }) ?? {
    code: text,
  };
  const exported: Readonly<Record<string, unknown>> = library;
  for (const [, names] of code.matchAll(/^(?:.*; )?import \{ (.*) \} from "strobe";$/gm)) {
    for (const name of names.split(", ")) assert.ok(Object.hasOwn(exported, name), `the library has no ${name}`);
  }
  const body = code.replaceAll(
    /import \{ (.*?) \} from "strobe";/g,
    (_, names: string) => `const { ${names.replaceAll(" as ", ": ")} } = library;`,
  );
  const run = runInThisContext(`(async (library, process) => { ${body}\n})`) as (
    library: object,
    process: object,
  ) => Promise<void>;
  let asked: Asked = { probes: [], settings: {} };
  await run(
    {
      ...library,
      trace: (...given: readonly unknown[]) => {
        const last = given.at(-1) as { readonly settings?: Settings };
        asked = { probes: given.filter(isProbe), settings: isProbe(last) ? {} : (last.settings ?? {}) };
        return { ended: { exitCode: 0 }, stop: () => {} };
      },
    },
    { once: () => {} },
  );
  return asked;
}

/** What runs in the end, its values numbered as they come. */
function code({ stages, plan, diagnostics }: CompiledScript, what: string): string {
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message),
    [],
    what,
  );
  assert.ok(plan && stages.module, what);
  const numbers = new Map<string, string>();
  return printModule(stages.module, plan.schemas).replaceAll(/\bv\d+\b/g, (value) => {
    const known = numbers.get(value) ?? `v${numbers.size}`;
    numbers.set(value, known);
    return known;
  });
}

async function assertTranslates(
  name: string,
  script: string,
  positional: readonly string[],
): Promise<readonly [text: string, translated: ReturnType<typeof compileProbes>]> {
  const text = translateToTypeScript({ name, text: script }, { positional });
  const { probes, settings } = await probesOf(text);
  const translated = compileProbes(probes, { env: {}, unsafe: true, settings });
  assert.ok(translated.plan !== undefined, `${name}, translated:\n${text}`);
  return [text, translated];
}

async function assertSame(name: string, script: string, positional: readonly string[] = []): Promise<void> {
  const original = compileScript({ name, text: script }, { env: {}, unsafe: true, positional });
  const [text, translated] = await assertTranslates(name, script, positional);
  assert.equal(code(translated, `${name}, translated:\n${text}`), code(original, name), text);
}

for (const file of readdirSync("tools").filter((name) => name.endsWith(".bt"))) {
  test(`tools/${basename(file)}`, async (t) => {
    const text = readFileSync(join("tools", file), "utf8");
    const positional = text.includes("uprobe:$1:$2")
      ? ["/bin/bash", "readline", "readline"]
      : ["kprobe:$1", "kprobe:$2"].filter((place) => text.includes(place)).map(() => "vfs_read");
    const { plan, diagnostics } = compileScript({ name: file, text }, { env: {}, unsafe: true, positional });
    if (!plan)
      return t.skip(`not on this machine: ${diagnostics.find(({ severity }) => severity === "error")?.message}`);
    // What a function takes as a text of some length is cast to it in TypeScript, which copies it: other code.
    await (/^fn .*: string\[/m.test(text) ? assertTranslates : assertSame)(file, text, positional);
  });
}

/** Every script of the documentation. */
for (const [i, [, text]] of [...readFileSync("docs/language.md", "utf8").matchAll(/^```bt\n(.*?)^```$/gms)].entries()) {
  const name = `docs/language.md, script ${i + 1}`;
  // A loop that was written out is one here, and it prints the same.
  if (text.includes("unroll("))
    test(name, async () => {
      await assertPrintsSame(text);
    });
  else test(name, () => assertSame(name, text));
}

/**
 * Scripts of every construct, most of which name probes and types that are nowhere: their translations are understood.
 */
for (const folder of ["src/language/bpftrace/fixtures", "src/compiler/fixtures"]) {
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".bt") && !name.startsWith("errors"))) {
    test(join(folder, file), async () => {
      const name = join(folder, file);
      const text = translateToTypeScript(
        { name, text: readFileSync(name, "utf8") },
        { positional: ["7", "bbb", "ccc"] },
      );
      const { probes } = await probesOf(text);
      const { diagnostics } = parseProbes(
        probes.map(({ handler, filter, captures, ...rest }) => ({
          ...rest,
          handler: functionSource(handler, captures),
          ...(filter === undefined ? {} : { filter: functionSource(filter, captures) }),
        })),
      );
      assert.deepEqual(diagnostics, [], text);
    });
  }
}

/** A script for each thing of the language, as far as the ready scripts leave it out. */
const scripts: Readonly<Record<string, string>> = {
  aggregations:
    "tracepoint:syscalls:sys_exit_read { @a = avg(args.ret); @b[pid] = min(args.ret); @c[pid, comm] = max(args.ret); @d = stats(args.ret); @e = hist(args.ret, 3); @f = lhist(args.ret, 0, 100, 10); @g = sum(args.ret); }",
  "the anonymous map": "tracepoint:syscalls:sys_exit_read { @[comm] = count(); } end { print(@); clear(@); }",
  "a map with a storage": "let @m = lruhash(100); tracepoint:syscalls:sys_exit_read { @m[tid] = args.ret; }",
  "names that TypeScript has taken":
    "tracepoint:syscalls:sys_exit_read { $new = 1; $pid = pid; $map = 2; @print = $new + $pid + $map; @delete[$new] = 1; }",
  "a map and a variable of one name": "tracepoint:syscalls:sys_exit_read { $x = 1; @x = $x; }",
  operators:
    "tracepoint:syscalls:sys_exit_read { $a = args.ret; @ = ($a + 2) * 3 - ($a - (1 - $a)) << 2 >> 1; @b = -(-$a) & ~$a | ($a ^ 3) % 7 / 2; @c = !$a; @d = $a == 1 ? 2 : $a > 3 ? 4 : 5; }",
  conditions:
    'tracepoint:syscalls:sys_exit_read /(args.ret > 0 && pid != 0) || comm == "x"/ { if (!(args.ret == 5 && tid == 6)) { @ = count(); } else if (args.ret == 7) { @b = count(); } else { return; } }',
  assignments:
    "tracepoint:syscalls:sys_exit_read { $a = 1; $a += 2; $a <<= 1; @m = $a; @m -= 1; @k[pid] = 1; @k[pid] |= 4; @k[pid]++; --@m; $a--; }",
  "variables in blocks":
    "tracepoint:syscalls:sys_exit_read { if (args.ret) { $a = 1; print($a); } let $a = 2; { let $b = $a; print($b); } let $c; $c = 3; print($c); }",
  loops:
    "tracepoint:syscalls:sys_exit_read { for ($i : 0..5) { @[$i] = count(); } for ($i : 2..4) { if ($i == 3) { continue; } break; } $n = 0; while ($n < 3) { $n++; } @m[pid] = 1; for ($kv : @m) { print(($kv.0, $kv.1)); } }",
  "tuples and records":
    'tracepoint:syscalls:sys_exit_read { @t[pid, (1, comm)] = (args.ret, "x"); print((pid=pid, name=comm)); $u = (1, 2); print($u.1); }',
  casts:
    "tracepoint:syscalls:sys_enter_read { $p = (struct task_struct *)curtask; @ = $p->pid; @b = (uint8)args.count; @c = *(uint64 *)args.buf; @d = sizeof(struct task_struct) + offsetof(struct task_struct, pid); }",
  "functions of the script":
    "fn twice($x : int64) : int64 { return $x * 2; } tracepoint:syscalls:sys_exit_read { @ = twice(args.ret); }",
  "maps of the whole":
    "tracepoint:syscalls:sys_exit_read { @m[pid] = 1; if (has_key(@m, pid)) { delete(@m, pid); } @n = 1; delete(@n); @k[pid, tid] = 1; delete(@k, (pid, tid)); print(len(@m)); zero(@m); print(@m, 5, 2); print(@m[pid]); }",
  enums:
    "tracepoint:syscalls:sys_exit_read { if (args.ret == TASK_COMM_LEN || args.ret == BPF_MAP_TYPE_HASH) { @ = count(); } }",
  words:
    'tracepoint:syscalls:sys_exit_read { @[kstack(3), ustack(perf, 2)] = count(); print(nsecs(monotonic)); print(strftime("%H", nsecs)); }',
  "several probes":
    "tracepoint:syscalls:sys_enter_read, tracepoint:syscalls:sys_enter_write /args.fd == 1/ { @[probe] = count(); }",
  "arguments by number":
    "uprobe:/bin/bash:readline { @[arg0] = count(); } uretprobe:/bin/bash:readline { print(str(retval)); }",
  clocks: "profile:hz:99 { @ = count(); } interval:s:1 { print(@); } software:page-faults:100 { @p = count(); }",
  "structs of the script": `enum shape { ROUND = 1, FLAT = 2 }
    struct inner { uint16 a : 4; uint16 b : 12; enum shape shape; };
    union both { int32 number; char letters[4]; };
    struct node { struct node *next; struct inner inner[2]; union both both; union { int64 x; uint64 y; }; struct task_struct *task; char name[16]; unsigned long count; };
    uprobe:/bin/bash:readline {
      $n = (struct node *)arg0; @a = $n->next->inner[1].b; @b[str($n->name)] = $n->both.number; print(*$n); @c = $n->x + $n->y;
      @d = sizeof(struct node) + offsetof(struct node, both) + sizeof($n->inner); @e = $n->inner[0].shape == FLAT; print((enum shape)1); @f = $n->task->pid;
      $m = container_of(arg1, struct node, name); @g = $m->count; $p = (struct node **)arg2; @h = (*$p)->count; @i = ((struct inner *)arg0)[1].a;
    }`,
  "variables with types":
    "uprobe:/bin/bash:readline { let $a : uint8 = arg0; let $b : int32; $b = 3; let $c : struct task_struct * = (struct task_struct *)arg1; let $e : bool = true; let $f : typeof($a) = 5; let $g : uint64 *; print(($a, $b, $c->pid, $e, $f, $g)); }",
  "functions with types":
    "fn low($x : uint8, $p : struct task_struct *) : uint16 { if ($x > 5) { return $x * 300; } return $p->pid; } uprobe:/bin/bash:readline { @ = low((uint8)arg0, (struct task_struct *)kptr(arg1)); }",
  "blocks with values":
    "tracepoint:syscalls:sys_exit_read { $a = { let $b = args.ret * 2; $b + 1 }; @ = $a; @b = { let $c = 1; if (args.ret > 5) { $c = 7; } $c } * 2; }",
  macros:
    "macro add(@map, amount) { @map += amount; } macro twice(x) { let $y = x; $y + $y } tracepoint:syscalls:sys_exit_read { add(@m, args.ret); @n = twice(args.ret); }",
  settings:
    'config = { max_strlen = 64; max_map_keys = 10; print_maps_on_exit = false; missing_probes = warn; stack_mode = "perf" } uprobe:/bin/bash:readline { @[str(arg0)] = kstack; print(config.max_strlen); }',
  "tuples of one": "tracepoint:syscalls:sys_exit_read { @[(args.ret,)] = count(); print((1,)); }",
  "types of values":
    "tracepoint:syscalls:sys_exit_read { $x = (uint16)args.ret; @ = sizeof($x) + sizeof(typeof($x)); $y = (typeof($x))args.ret; @b = $y; @c = offsetof(*curtask, pid); }",
  "every aggregation in a loop":
    "tracepoint:syscalls:sys_exit_read { for ($i : 0..3) { @a[$i] = count(); @b[$i] = sum($i); @c[$i] = hist($i); @d[$i] = lhist($i, 0, 10, 1); } }",
  text: 'tracepoint:syscalls:sys_enter_openat { $s = str(args.filename); if (strncmp($s, "/etc", 4) == 0 && strcontains($s, "x") && strstr($s, "y") > 0) { @[str_concat($s, comm)] = strlen($s); } print(buf(args.filename, 8)); @c = $s == comm; print(strcap($s)); }',
  "addresses and names":
    'uprobe:/bin/bash:readline { @[usym(arg0), ksym(arg1), reg("ip"), ustack(dwarf, perf, 3)] = count(); print((ntop(arg0), macaddr(arg1), strerror(arg2), signal_name(9), syscall_name(1), uaddr("main"), kaddr("do_exit"))); print((kptr(arg0), uptr(arg1), bswap((uint16)arg2), cgroup_path(cgroup), pid(curr_ns), tid(init), nsecs(sw_tai))); }',
  tasks:
    "tracepoint:syscalls:sys_enter_read { print((ppid, pcomm, leader_comm, leader_tid, cpu, numaid, jiffies, rand, uid, gid, username, usermode, elapsed, ncpus, cgroup)); @[curtask.comm] = count(); print(probetype); } uprobe:/bin/bash:readline { print(func); }",
  iterators: 'iter:task { printf("%s %d\\n", ctx.task.comm, ctx.task.pid); }',
  processes:
    "process:/bin/bash:begin { @started[pid] = nsecs; } process:/bin/bash:end /@started[pid]/ { delete(@started, pid); }",
  actions:
    'tracepoint:syscalls:sys_enter_execve { system("echo %d", pid); cat("/proc/%d/comm", pid); join(args.argv); join(args.argv, ","); signal("TERM"); signal_thread(9); write_user(args.filename, "x", 1); time(); time("%H"); warnf("%d", 1); exit(1); }',
  questions:
    'tracepoint:syscalls:sys_enter_read { @ = is_integer(args.fd) + is_ptr(args.buf) + is_str(comm) + is_array(curtask.comm) + is_literal(1) + is_unsigned_integer(args.count) + kfunc_exist("x") + is_err(args.buf) + has_cpid; assert_str(comm); static_assert(1, "no"); if (0) { fail("never %d", 1); } assert(pid != 0, "no pid"); }',
  instructions:
    'insn:/bin/bash:readline:0 { @[reg("sp")] = count(); } ret:/bin/bash:readline { @r = max(retval); } plt:/bin/bash:malloc { @b = hist(arg0); }',
  watchpoints: "watchpoint:0x10000000:8:w { @[comm] = count(); }",
  "what is printed": 'begin { printf("%d%% %s\\n", 1, "two"); time("%H\\n"); } end { errorf("%d", 1); exit(3); }',
};

for (const [name, script] of Object.entries(scripts)) test(name, () => assertSame(name, script));

/** Those that become other code, which does the same: texts alone are printed by their format, an unrolled loop is a loop, and one is
 * added to a map at once. */
const otherwise = new Set([
  "negative comparison",
  "else if",
  "unroll",
  "predicates",
  "exit ends the handler",
  "nothing to wait for",
  "logic is short",
  "text is true unless it is empty",
  "conditions of the preprocessor",
  "a map that is made of itself",
]);

for (const { name, script, args } of languageCases) {
  if (args !== undefined) continue;
  test(`language: ${name}`, async () => {
    if (otherwise.has(name)) await assertPrintsSame(script);
    else await assertSame(name, script);
  });
}

/** Statements and what they print, run as a script and as its translation. */
async function assertPrintsSame(text: string, args: readonly string[] = []): Promise<string> {
  const folder = temporaryFolder();
  try {
    const script = join(folder.path, "script.bt");
    const program = join(folder.path, "program.ts");
    writeFileSync(script, text);
    assert.deepEqual(await strobe(["--emit", "ts", "-o", program, script, ...args]), {
      stdout: "",
      stderr: "",
      code: 0,
      signal: null,
    });
    // A script ends its output with blank lines, whether it has maps to print or not; each language names maps its own way.
    const trimmed = (outcome: Outcome): Outcome => ({ ...outcome, stdout: outcome.stdout.trimEnd() });
    const ofScript = trimmed(await strobe(["-q", script, ...args]));
    assert.deepEqual(
      trimmed(await strobe(["run", program])),
      { ...ofScript, stdout: ofScript.stdout.replaceAll(/^@/gm, "") },
      readFileSync(program, "utf8"),
    );
    return readFileSync(program, "utf8");
  } finally {
    folder.remove();
  }
}

test("strobe --emit ts, run by strobe run, prints what the script prints", async () => {
  const program = await assertPrintsSame(
    `// Counts.
    begin { printf("%s %d\\n", "hello", $1); for ($i : 0..10) { @[$i % 3] = count(); @h = hist($i); } print((1, "x")); @x = 1; clear(@x); }
    interval:ms:1 { @ticks[1]++; if (@ticks[1] == 3) { exit(); } } end { clear(@ticks); printf("%d\\n", 7); }`,
    ["42"],
  );
  assert.match(
    program,
    /^\/\/ Counts\.\nimport \{ begin, end, exit, interval, map, print, printf, range, trace \} from "strobe";\n/,
  );
});
