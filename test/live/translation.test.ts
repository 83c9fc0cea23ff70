// Scripts translated to TypeScript become the same code: every ready script, and a script for each thing that the language has.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { runInThisContext } from "node:vm";
import { compileProbes } from "../../src/api/compile-probes.ts";
import { isProbe, type Probe } from "../../src/api/probes.ts";
import { translateToTypeScript } from "../../src/api/translate.ts";
import { printModule } from "../../src/compiler/print-ir.ts";
import * as library from "../../src/index.ts";
import { compileScript, ScriptError, type CompiledScript } from "../../src/index.ts";
import { rewriteModule } from "../../src/rewrite/rewrite.ts";
import { stripTypes } from "../../src/rewrite/strip.ts";
import { strobe, temporaryFolder, type Outcome } from "../support/strobe.ts";

/** The probes that a translated program asks for, without tracing them. */
async function probesOf(text: string): Promise<readonly Probe[]> {
  const { code } = rewriteModule({ file: "translated.ts", text, javascript: stripTypes("translated.ts", text) }) ?? { code: text };
  const exported: Readonly<Record<string, unknown>> = library;
  for (const [, names] of code.matchAll(/^(?:.*; )?import \{ (.*) \} from "strobe";$/gm)) {
    for (const name of names.split(", ")) assert.ok(Object.hasOwn(exported, name), `the library has no ${name}`);
  }
  const body = code.replaceAll(/import \{ (.*?) \} from "strobe";/g, (_, names: string) => `const { ${names.replaceAll(" as ", ": ")} } = library;`);
  const run = runInThisContext(`(async (library, process) => { ${body}\n})`) as (library: object, process: object) => Promise<void>;
  let probes: readonly Probe[] = [];
  await run({
    ...library,
    trace: (...given: readonly unknown[]) => {
      probes = given.filter(isProbe);
      return { ended: { exitCode: 0 }, stop: () => {} };
    },
  }, { once: () => {} });
  return probes;
}

/** What runs in the end, without the prints of the maps at the end, which other languages do by themselves. */
function code({ stages, plan, diagnostics }: CompiledScript, what: string): string {
  assert.deepEqual(diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message), [], what);
  assert.ok(plan && stages.module, what);
  return printModule(stages.module, plan.schemas);
}

async function assertSame(name: string, script: string): Promise<void> {
  const original = compileScript({ name, text: script }, { env: {}, unsafe: true });
  const text = translateToTypeScript({ name, text: script });
  const probes = await probesOf(text);
  const printed = probes.at(-1)?.provider === "end" && /^ {2}end\(\(\) => \{\n(?: {4}print\(\w+\);\n)+ {2}\}\),\n\);$/m.test(text) ? probes.slice(0, -1) : probes;
  const translated = compileProbes(printed, { env: {}, unsafe: true });
  assert.equal(code(translated, `${name}, translated:\n${text}`), code(original, name), text);
}

for (const file of readdirSync("tools").filter((name) => name.endsWith(".bt"))) {
  test(`tools/${basename(file)}`, async (t) => {
    const text = readFileSync(join("tools", file), "utf8");
    const { plan, diagnostics } = compileScript({ name: file, text }, { env: {}, unsafe: true });
    if (!plan) return t.skip(`not on this machine: ${diagnostics.find(({ severity }) => severity === "error")?.message}`);
    await assertSame(file, text);
  });
}

/** A script for each thing of the language, as far as the ready scripts leave it out. */
const scripts: Readonly<Record<string, string>> = {
  "aggregations": "tracepoint:syscalls:sys_exit_read { @a = avg(args.ret); @b[pid] = min(args.ret); @c[pid, comm] = max(args.ret); @d = stats(args.ret); @e = hist(args.ret, 3); @f = lhist(args.ret, 0, 100, 10); @g = sum(args.ret); }",
  "the anonymous map": "tracepoint:syscalls:sys_exit_read { @[comm] = count(); } end { print(@); clear(@); }",
  "a map with a storage": "let @m = lruhash(100); tracepoint:syscalls:sys_exit_read { @m[tid] = args.ret; }",
  "names that TypeScript has taken": "tracepoint:syscalls:sys_exit_read { $new = 1; $pid = pid; $map = 2; @print = $new + $pid + $map; @delete[$new] = 1; }",
  "a map and a variable of one name": "tracepoint:syscalls:sys_exit_read { $x = 1; @x = $x; }",
  "operators": "tracepoint:syscalls:sys_exit_read { $a = args.ret; @ = ($a + 2) * 3 - ($a - (1 - $a)) << 2 >> 1; @b = -(-$a) & ~$a | ($a ^ 3) % 7 / 2; @c = !$a; @d = $a == 1 ? 2 : $a > 3 ? 4 : 5; }",
  "conditions": "tracepoint:syscalls:sys_exit_read /(args.ret > 0 && pid != 0) || comm == \"x\"/ { if (!(args.ret == 5 && tid == 6)) { @ = count(); } else if (args.ret == 7) { @b = count(); } else { return; } }",
  "assignments": "tracepoint:syscalls:sys_exit_read { $a = 1; $a += 2; $a <<= 1; @m = $a; @m -= 1; @k[pid] = 1; @k[pid] |= 4; @k[pid]++; --@m; $a--; }",
  "variables in blocks": "tracepoint:syscalls:sys_exit_read { if (args.ret) { $a = 1; print($a); } let $a = 2; { let $b = $a; print($b); } let $c; $c = 3; print($c); }",
  "loops": "tracepoint:syscalls:sys_exit_read { for ($i : 0..5) { @[$i] = count(); } for ($i : 2..4) { if ($i == 3) { continue; } break; } $n = 0; while ($n < 3) { $n++; } @m[pid] = 1; for ($kv : @m) { print(($kv.0, $kv.1)); } }",
  "tuples and records": "tracepoint:syscalls:sys_exit_read { @t[pid, (1, comm)] = (args.ret, \"x\"); print((pid=pid, name=comm)); $u = (1, 2); print($u.1); }",
  "casts": "tracepoint:syscalls:sys_enter_read { $p = (struct task_struct *)curtask; @ = $p->pid; @b = (uint8)args.count; @c = *(uint64 *)args.buf; @d = sizeof(struct task_struct) + offsetof(struct task_struct, pid); }",
  "functions of the script": "fn twice($x : int64) : int64 { return $x * 2; } tracepoint:syscalls:sys_exit_read { @ = twice(args.ret); }",
  "maps of the whole": "tracepoint:syscalls:sys_exit_read { @m[pid] = 1; if (has_key(@m, pid)) { delete(@m, pid); } @n = 1; delete(@n); @k[pid, tid] = 1; delete(@k, (pid, tid)); print(len(@m)); zero(@m); print(@m, 5, 2); print(@m[pid]); }",
  "enums": "tracepoint:syscalls:sys_exit_read { if (args.ret == TASK_COMM_LEN || args.ret == BPF_MAP_TYPE_HASH) { @ = count(); } }",
  "words": "tracepoint:syscalls:sys_exit_read { @[kstack(3), ustack(perf, 2)] = count(); print(nsecs(monotonic)); print(strftime(\"%H\", nsecs)); }",
  "several probes": "tracepoint:syscalls:sys_enter_read, tracepoint:syscalls:sys_enter_write /args.fd == 1/ { @[probe] = count(); }",
  "arguments by number": "uprobe:/bin/bash:readline { @[arg0] = count(); } uretprobe:/bin/bash:readline { print(str(retval)); }",
  "clocks": "profile:hz:99 { @ = count(); } interval:s:1 { print(@); } software:page-faults:100 { @p = count(); }",
  "what is printed": "begin { printf(\"%d%% %s\\n\", 1, \"two\"); time(\"%H\\n\"); } end { errorf(\"%d\", 1); exit(3); }",
};

for (const [name, script] of Object.entries(scripts)) test(name, () => assertSame(name, script));

const refused: Readonly<Record<string, readonly [script: string, at: string]>> = {
  "settings": ["config = { max_strlen = 64 } begin { exit(); }", "max_strlen = 64"],
  "structs of the script": ["struct s { int a; }; begin { exit(); }", "struct s { int a; }"],
  "addresses": ["tracepoint:syscalls:sys_exit_read { $a = 1; $b = &$a; }", "&$a"],
};

for (const [name, [script, at]] of Object.entries(refused)) {
  test(`refused: ${name}`, () => {
    assert.throws(() => translateToTypeScript({ name, text: script }), (error) => {
      assert.ok(error instanceof ScriptError);
      assert.equal(error.diagnostics.length, 1);
      const [{ code, span }] = error.diagnostics;
      assert.deepEqual([code, script.slice(span.start, span.end)], ["feature", at]);
      return true;
    });
  });
}

test("strobe --emit ts, run by strobe run, prints what the script prints", async () => {
  const folder = temporaryFolder();
  try {
    const script = join(folder.path, "script.bt");
    const program = join(folder.path, "program.ts");
    writeFileSync(script, `// Counts.
      begin { printf("%s %d\\n", "hello", $1); for ($i : 0..10) { @[$i % 3] = count(); @h = hist($i); } print((1, "x")); }
      interval:ms:1 { @ticks[1]++; if (@ticks[1] == 3) { exit(); } } end { clear(@ticks); printf("%d\\n", 7); }`);
    const translated = await strobe(["--emit", "ts", "-o", program, script, "42"]);
    assert.deepEqual(translated, { stdout: "", stderr: "", code: 0, signal: null });
    assert.match(readFileSync(program, "utf8"), /^\/\/ Counts\.\nimport \{ begin, end, exit, interval, map, print, printf, range, trace \} from "strobe";\n/);
    const lines = ({ stdout, code }: Outcome) => ({ code, lines: stdout.split("\n").filter((line) => line !== "") });
    assert.deepEqual(lines(await strobe(["run", program])), lines(await strobe(["-q", script, "42"])));
  } finally {
    folder.remove();
  }
});
