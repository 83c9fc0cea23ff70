// What scripts written for bpftrace take for granted, where it takes the kernel to tell.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { callsSource } from "../support/programs.ts";
import { startStrobe, strobe, temporaryFolder } from "../support/strobe.ts";

test("path() names the files of an iterator", async () => {
  const sleeper = spawn("sleep", ["600"], { stdio: ["ignore", "ignore", "ignore"] });
  await once(sleeper, "spawn");
  try {
    const run = async (script: string): Promise<string[]> => {
      const { stdout, stderr, code } = await strobe(["-q", "-e", script, String(sleeper.pid)]);
      assert.equal(stderr, "");
      assert.equal(code, 0);
      return stdout.trim().split("\n");
    };
    const files = await run(
      'iter:task_file { if (ctx.task.pid == $1) { printf("%d:%s\\n", ctx.fd, path(ctx.file.f_path)); } }',
    );
    assert.deepEqual(files.slice(0, 3), ["0:/dev/null", "1:/dev/null", "2:/dev/null"]);
    const mapped = await run(
      'iter:task_vma { if (ctx.task.pid == $1) { printf("%s\\n", path(ctx.vma.vm_file.f_path)); } }',
    );
    assert.ok(
      mapped.some((path) => path.endsWith("/sleep")),
      mapped.join("\n"),
    );
    // Memory of no file has no name, and a variable is as good as the context.
    assert.ok(mapped.includes(""));
    const held = await run(
      "iter:task_file { $file = ctx.file; if (ctx.task.pid == $1) { @[path($file.f_path, 6)] = count(); } }",
    );
    assert.ok(held.includes("@[/null]: 3"), held.join("\n"));
  } finally {
    sleeper.kill();
  }
});

test("-k tells where reads and look-ups failed, and how often", async () => {
  const script = [
    "tracepoint:syscalls:sys_enter_read /pid == cpid && args.fd == 0/ {",
    '  @known[1] = 1; print((str(args.buf, 1) == "x", *(uint8*)16, @known[2]));',
    "}",
  ].join("\n");
  const command = "dd if=/dev/zero of=/dev/null bs=1 count=2 status=none";
  const { stdout, stderr, code } = await strobe(["-q", "-k", "-e", script, "-c", command]);
  assert.equal(code, 0);
  assert.match(stdout, /^(\(false, 0, 0\)\n){2}/);
  // The two calls may be noticed one after the other.
  const line = script.split("\n")[1];
  const told = (from: number, to: number, why: string): RegExp =>
    new RegExp(
      `^(-e:2:${from}-${to}: WARNING: ${why}(, 2 times)?\n${line.replace(/[()*[\]]/g, "\\$&")}\n {${from - 1}}~{${to - from}}\n){1,2}`,
      "m",
    );
  assert.match(stderr, told(50, 61, "Bad address\nAdditional Info - helper: probe_read_user, retcode: -14"));
  assert.match(
    stderr,
    told(
      63,
      72,
      "Can't lookup map element because it does not exist.\nAdditional Info - helper: map_lookup_elem, retcode: 0",
    ),
  );
  assert.doesNotMatch(stderr, /:2:2\d-/); // the read that went well
  const silent = await strobe(["-q", "-k", "--no-warnings", "-e", script, "-c", command]);
  assert.equal(silent.stderr, "");
  const json = await strobe(["-q", "-k", "-f", "json", "-e", script, "-c", command]);
  assert.match(
    json.stdout,
    /^\{"type": "helper_error", "msg": "Bad address", "helper": "probe_read_user", "retcode": -14, "filename": "-e", "line": 2, "col": 50, "count": [12]\}$/m,
  );
});

test("-k tells of look-ups in strobe's own handlers as well", async () => {
  const script =
    'begin { @x["a"] = 1; print(@x["b"]); } interval:50ms { @n += 1 + @x["c"]; if (@n == 3) { exit(); } } end { print(@x["a"]); @s = @t[7]; @t[1] = "t"; }';
  const { stdout, stderr, code } = await strobe(["-q", "-k", "-e", script]);
  assert.equal(code, 0);
  assert.match(stdout, /^0\n1\n/);
  const told = [...stderr.matchAll(/^-e:1:(\d+)-(\d+): .*\nAdditional Info - helper: (.*)$/gm)].map(
    ([, from, to, what]) => [script.slice(Number(from) - 1, Number(to) - 1), what],
  );
  assert.deepEqual(told, [
    ['@x["b"]', "map_lookup_elem, retcode: 0"],
    ['@x["c"]', "map_lookup_elem, retcode: 0, 3 times"],
    ["@t[7]", "map_lookup_elem, retcode: 0"],
  ]);
});

test("%d of a register is the int that a function left in it", async () => {
  const folder = temporaryFolder();
  try {
    const calls = join(folder.path, "calls");
    execFileSync("gcc", ["-O1", "-o", calls, "-x", "c", "-"], { input: callsSource });
    const script = `uretprobe:${calls}:leaf_sub { printf("%d %i %ld %d\\n", retval, retval, retval, retval + 1); }`;
    const { stdout } = await strobe(["-q", "-e", script, "-c", `${calls} 3`]);
    // leaf_sub(i, 1), of an int: its register's upper half is zero. The program prints a sum of its own, sooner or
    // later.
    assert.deepEqual(
      stdout
        .trim()
        .split("\n")
        .filter((line) => line.includes(" ")),
      ["-1 -1 4294967295 4294967296", "0 0 0 1", "1 1 1 2"],
    );
  } finally {
    folder.remove();
  }
});

test("what is traced of a command begins with its exec", async () => {
  const script = `tracepoint:raw_syscalls:sys_enter /pid == cpid/ { if (@calls < 2) { printf("%s %s\\n", comm, syscall_name(args.id)); } @calls++; @by[comm] = count(); }
    end { clear(@calls); delete(@by, "true"); }`;
  const { stdout } = await strobe(["-q", "-e", script, "-c", "true"]);
  assert.equal(stdout, "strobe execve\ntrue brk\n\n\n@by[strobe]: 1\n");
});

test("-c narrows probes of programs and of time to the command, and tracepoints not at all", async () => {
  const folder = temporaryFolder();
  try {
    const calls = join(folder.path, "calls");
    execFileSync("gcc", ["-O1", "-o", calls, "-x", "c", "-"], { input: callsSource });
    const script = `uprobe:${calls}:leaf_sub, uretprobe:${calls}:leaf_sub, insn:${calls}:leaf_sub:0, ret:${calls}:leaf_sub { @calls = count(); }
      software:faults:1, profile:hz:999 /pid != cpid/ { @others = count(); }
      tracepoint:sched:sched_process_exec /curtask.real_parent.tgid == cpid/ { @children = count(); }`;
    const maps = async (...options: readonly string[]): Promise<string> =>
      (await strobe(["-q", "-e", script, ...options])).stdout.replace(/^\d+\n/gm, "").trim();
    assert.equal(await maps("-c", `${calls} 3`), "@calls: 12");
    assert.equal(await maps("-c", `sh -c "${calls} 3; ${calls} 2; true"`), "@children: 2");
    assert.match(
      await maps("--follow", "-c", `sh -c "${calls} 3; ${calls} 2; true"`),
      /@calls: 20\n@children: 2\n@others: \d+/,
    );
  } finally {
    folder.remove();
  }
});

test("a wildcard beside another place may match nothing, alone it may not", async () => {
  const together = await strobe([
    "-e",
    "tracepoint:sched:sched_switch, tracepoint:sched:no_such_*, uprobe:libc:no_such_* { exit(); }",
  ]);
  assert.match(together.stderr, /^Attached 1 probe$/m);
  assert.equal(together.code, 0);
  for (const [script, said] of [
    ["tracepoint:sched:no_such_* { }", "no tracepoint matches `tracepoint:sched:no_such_*`"],
    ["tracepoint:sched:no_such_*, tracepoint:sched:nor_* { }", "no tracepoint matches `tracepoint:sched:no_such_*`"],
    ["tracepoint:sched:sched_switch, tracepoint:sched:no_such { }", "no matches for tracepoint sched:no_such"],
  ]) {
    const alone = await strobe(["-e", script]);
    assert.ok(alone.stderr.includes(`error: ${said}\n`), alone.stderr);
    assert.equal(alone.code, 1);
  }
});

test("--probe-filter leaves out probes of other names, but not begin and end", async () => {
  const script =
    'begin { print("begun"); } tracepoint:syscalls:sys_enter_read*, tracepoint:syscalls:sys_enter_write* /pid == cpid/ { @[probe] = 1; } end { print("ended"); }';
  const command = "dd if=/dev/zero of=/dev/null bs=1 count=2 status=none";
  const { stdout, stderr } = await strobe(["--probe-filter", "enter_(read|close)$", "-e", script, "-c", command]);
  assert.match(stderr, /^Attached 3 probes$/m);
  assert.equal(stdout, "begun\nended\n\n\n@[tracepoint:syscalls:sys_enter_read]: 1\n");
});

test("-d verifier shows the log of programs that load", async () => {
  const { stderr, code } = await strobe(["-d", "verifier", "-e", "tracepoint:syscalls:sys_enter_read { exit(); }"]);
  assert.equal(code, 0);
  assert.match(stderr, /^verifier's log of sys_enter_read\n/m);
  assert.match(stderr, /call bpf_ringbuf_reserve#131/);
});

test("scripts ask for settings as a whole, and for functions that programs may call", async () => {
  const { stdout } = await strobe([
    "-q",
    "-e",
    'config = { max_strlen = 99 } begin { print((config.max_strlen, kfunc_exist("bpf_rcu_read_lock"), kfunc_exist("no_such"))); print(config); exit(); }',
  ]);
  const [first, second] = stdout.split("\n");
  assert.equal(first, "(99, true, false)");
  assert.match(second, /^\{ .*\.max_strlen = 99, .*\.stack_mode = bpftrace, .* \}$/);
});

test("max_strlen is how much of a text there is, and a trailer tells where some was left out", async () => {
  const script = `tracepoint:syscalls:sys_enter_execve /pid == cpid/ {
    $short = str(args.argv[1]); $long = str(args.argv[2]);
    print($short); print($long); print((str(args.argv[2], 5), str(args.argv[2], 6)));
    printf("%s|%9s|%-9s|\\n", $long, $long, $long); @[$short] = $long; exit();
  }`;
  const run = async (env: Record<string, string>): Promise<string> => {
    const { stdout, stderr } = await strobe(["-q", "-e", script, "-c", "/bin/true abcd abcdefgh"], {
      env: { ...process.env, ...env },
    });
    assert.equal(stderr, "");
    return stdout;
  };
  assert.equal(
    await run({ BPFTRACE_MAX_STRLEN: "5" }),
    "abcd\nabcde..\n(abcd, abcde..)\nabcde..|  abcde..|abcde..  |\n\n\n@[abcd]: abcde..\n",
  );
  assert.equal(
    await run({ BPFTRACE_MAX_STRLEN: "5", BPFTRACE_STR_TRUNC_TRAILER: "" }),
    "abcd\nabcde\n(abcd, abcde)\nabcde|    abcde|abcde    |\n\n\n@[abcd]: abcde\n",
  );
  assert.equal(await run({}), "abcd\nabcdefgh\n(abcd, abcde)\nabcdefgh| abcdefgh|abcdefgh |\n\n\n@[abcd]: abcdefgh\n");
});

test("--fmt prints the script laid out", async () => {
  const { stdout } = await strobe(["--fmt", "-e", "begin{print(1);exit();}"]);
  assert.equal(stdout, "begin {\n  print(1);\n  exit();\n}\n");
});

test("loops over maps stand in loops over maps", async () => {
  const script = `tracepoint:syscalls:sys_enter_read /pid == cpid && args.fd == 0 && !@done/ {
    @a[1] = 10; @a[2] = 20; @b["x"] = 1; @b["y"] = 2; @c[7] = 1; @done = 1;
    $sum = 0; $text = "kept";
    for ($outer : @a) {
      $own = $outer.0;
      for ($inner : @b) {
        $sum += $own * $inner.1;
        for ($third : @c) { @seen[$own, $inner.0, $third.0, $text] = count(); }
        if ($own == 2) { break; }
      }
    }
    print($sum);
    for ($outer : @a) { for ($inner : @b) { print("left"); return; } }
    print("never");
  }
  end { print(len(@seen)); print(@seen[1, "x", 7, "kept"]); clear(@a); clear(@b); clear(@c); clear(@done); clear(@seen); }`;
  const { stdout, stderr, code } = await strobe([
    "-q",
    "-e",
    script,
    "-c",
    "dd if=/dev/zero of=/dev/null bs=1 count=2 status=none",
  ]);
  assert.equal(stderr, "");
  assert.equal(code, 0);
  // 1 * (1 + 2), and 2 times whichever of the two comes first.
  assert.match(stdout, /^(5|7)\nleft\n3\n1\n/);
});

test("a probe that needs more memory than the kernel has for it is refused at its place", async () => {
  // Four texts, all of them wanted at the end.
  const names = ["a", "b", "c", "d"];
  const script = `tracepoint:syscalls:sys_enter_read {
    ${names.map((name, i) => `$${name} = str(args.buf + ${i}, 12000);`).join(" ")} ${names.map((name) => `@${name} = $${name};`).join(" ")} exit();
  }`;
  const { stderr, code } = await strobe(["-q", "-e", script], {
    env: { ...process.env, BPFTRACE_MAX_STRLEN: "12000" },
  });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^-e:1:1: error: this probe needs \d+ bytes of working memory, and the kernel has 32760 for it\n/,
  );
});

test("comm(pid) names another process, in text and as a key", async () => {
  const sleeper = spawn("sleep", ["600"], { stdio: "ignore" });
  await once(sleeper, "spawn");
  try {
    const { stdout, stderr } = await strobe([
      "-q",
      "-e",
      'tracepoint:syscalls:sys_enter_kill /pid == cpid/ { printf("%s %s\\n", comm(args.pid), comm); @[comm(args.pid)] = count(); }',
      "-c",
      `/bin/bash -c "kill -0 ${sleeper.pid}"`,
    ]);
    assert.equal(stderr, "");
    assert.equal(stdout, "sleep bash\n\n\n@[sleep]: 1\n");
  } finally {
    sleeper.kill();
  }
});

test("unwatch() takes a watchpoint away", async () => {
  const folder = temporaryFolder();
  try {
    const program = join(folder.path, "writes");
    const source = `#include <unistd.h>
volatile long watched = 1; /* not in .bss, which the kernel clears */
__attribute__((noinline)) void wrote(void) { __asm__ volatile(""); }
/* 30 times, or until there is a file. */
int main(int argc, char **argv) {
  for (int i = 0; argc > 1 ? access(argv[1], F_OK) : i < 30; i++) { watched++; wrote(); if (argc > 1) usleep(10000); }
  return 0;
}`;
    execFileSync("gcc", ["-O1", "-no-pie", "-o", program, "-x", "c", "-"], { input: source });
    const address = /^([0-9a-f]+) D watched$/m.exec(spawnSync("nm", [program], { encoding: "utf8" }).stdout)?.[1];
    const script = (unwatch: string): string => `watchpoint:0x${address}:8:w /pid == cpid/ { @ = count(); ${unwatch} }`;
    const counted = async (unwatch: string): Promise<number> => {
      const { stdout, stderr } = await strobe(["-q", "-e", script(unwatch), "-c", program]);
      assert.equal(stderr, "");
      return Number(/^@: (\d+)$/m.exec(stdout)?.[1]);
    };
    assert.equal(await counted(""), 30);
    // The program goes on until a write was not seen.
    const enough = join(folder.path, "enough");
    const running = startStrobe([
      "-q",
      "-e",
      `${script(`@n++; unwatch(0x${address});`)} uprobe:${program}:wrote { printf("%d\\n", @n); }`,
      "-c",
      `${program} ${enough}`,
    ]);
    running.child.stdout?.on("data", () => {
      if (/^(\d+)\n\1\n/m.test(running.stdout())) writeFileSync(enough, "");
    });
    assert.match((await running.outcome).stdout, /^1\n/);
    assert.ok(existsSync(enough));
    // Of another address it is none of ours.
    assert.equal(await counted(`unwatch((int8 *)0x${address} + 8);`), 30);
  } finally {
    folder.remove();
  }
});
