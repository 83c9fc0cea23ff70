// The command as a person meets it: flags, messages, signals, what it leaves behind.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { syscallsSource } from "../support/programs.ts";
import {
  bpfObjects,
  compileC,
  interrupt,
  nothingLeft,
  startStrobe,
  strobe,
  temporaryFolder,
} from "../support/strobe.ts";

const folder = temporaryFolder();
/** No other test's program has this name. */
const comm = `calls-${process.pid}`;
let syscalls = "";
let objects = "";

before(() => {
  syscalls = compileC(folder.path, comm, syscallsSource);
  objects = bpfObjects();
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

const counting = `tracepoint:syscalls:sys_enter_getppid /comm == "${comm}"/ { @ = count(); }`;

test("a script's options: described, and none but those", async () => {
  const script =
    'begin { print((getopt("size", -5, "How large"), getopt("name", "x\\"y"), getopt("all"), getopt("quiet", true, "Say less"))); exit(); }';
  const help = await strobe(["-e", script, "--", "--help"]);
  assert.deepEqual(
    [help.stdout.split("\n"), help.stderr, help.code],
    [
      [
        "What the program asks for, behind a lone --:",
        "  --size=NUMBER  How large; -5 unless given",
        '  --name=TEXT    "x\\"y" unless given',
        "  --all",
        "  --quiet        Say less; true unless given",
        "",
      ],
      "",
      0,
    ],
  );
  const unknown = await strobe(["-e", script, "--", "--siez=5"]);
  assert.equal(unknown.code, 1);
  assert.match(
    unknown.stderr,
    /error: the script has no option --siez\n[^]*help: it asks for --size, --name, --all, --quiet\n/,
  );
  const own = await strobe(["-q", "-e", 'begin { print(getopt("help")); exit(); }', "--", "--help"]);
  assert.deepEqual([own.stdout, own.code], ["true\n\n\n", 0]);
});

test("what failed is told with its place, and in JSON as what it is", async () => {
  const script = 'begin { $z = 0; print(5 / $z); errorf("no"); assert(1 == 2, "100 %"); }';
  const text = await strobe(["-q", "-e", script]);
  const places = [
    "1:23-29: WARNING: Divide or modulo by 0 detected. This can lead to unexpected results. 1 is being used as the result.",
    "1:32-44: ERROR: no",
    "1:46-69: ERROR: assert failed: 100 %",
  ];
  assert.deepEqual(
    [text.stdout, text.stderr, text.code],
    ["1\n\n\n", places.map((place) => `-e:${place}\n`).join(""), 1],
  );
  const json = await strobe(["-q", "-f", "json", "-e", script]);
  const told = json.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; msg?: string; col?: number });
  assert.deepEqual(
    told.map(({ type, msg, col }) => [type, msg, col]),
    [
      [
        "runtime_error",
        "Divide or modulo by 0 detected. This can lead to unexpected results. 1 is being used as the result.",
        23,
      ],
      ["value", undefined, undefined],
      ["errorf", "no", 32],
      ["errorf", "assert failed: 100 %", 46],
    ],
  );
  assert.equal((await strobe(["-q", "--no-warnings", "-e", "begin { $z = 0; print(5 / $z); exit(); }"])).stderr, "");
});

test("Attached N probes goes to standard error, unless -q", async () => {
  const script = 'begin { printf("hi\\n"); } interval:ms:1 { exit(); } tracepoint:sched:sched_switch { }';
  const loud = await strobe(["-e", script]);
  assert.deepEqual([loud.stdout, loud.stderr, loud.code], ["hi\n\n\n", "Attached 3 probes\n", 0]);
  const quiet = await strobe(["-q", "-e", script]);
  assert.deepEqual([quiet.stdout, quiet.stderr], ["hi\n\n\n", ""]);
});

test("--top limits what is printed of maps", async () => {
  const script = "begin { @a[1] = 5; @a[2] = 9; @a[3] = 1; print(@a); print(@a, 1); exit(); }";
  const { stdout } = await strobe(["--top", "2", "-e", script]);
  assert.equal(stdout, "@a[1]: 5\n@a[2]: 9\n@a[2]: 9\n\n\n@a[1]: 5\n@a[2]: 9\n");
  assert.match((await strobe(["--top", "none", "-e", script])).stderr, /--top takes a number from 1 on, not "none"/);
});

test("the exit code is the script's", async () => {
  assert.equal((await strobe(["-q", "-e", "begin { exit(3); }"])).code, 3);
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  test(`${signal} prints the maps once and detaches`, async () => {
    const running = startStrobe(["-e", counting]);
    await running.attached;
    spawnSync(syscalls, ["250"]);
    running.child.kill(signal);
    const { stdout, code } = await running.outcome;
    assert.equal(stdout, "\n\n@: 250\n");
    assert.equal(code, 0);
    await nothingLeft(objects);
  });
}

test("SIGKILL in mid-trace leaves nothing", async () => {
  const running = startStrobe([
    "-e",
    `${counting} profile:hz:99 { @p[pid] = count(); } uprobe:${syscalls}:main { @u = count(); }`,
  ]);
  await running.attached;
  running.child.kill("SIGKILL");
  assert.equal((await running.outcome).signal, "SIGKILL");
  await nothingLeft(objects);
});

test("the traced command's end is the end", async () => {
  const { stdout, stderr, code } = await strobe([
    "-q",
    "-c",
    `${syscalls} 77`,
    "-e",
    "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @ = count(); }",
  ]);
  assert.deepEqual([stdout, stderr, code], ["\n\n@: 77\n", "", 0]);
});

test("a traced process's end is the end", async () => {
  const child = spawn("cat");
  const running = startStrobe(["-p", String(child.pid), "-e", 'begin { printf("on\\n"); }']);
  await running.attached;
  child.stdin.end();
  const { stdout, code } = await running.outcome;
  assert.deepEqual([stdout, code], ["on\n\n\n", 0]);
});

test("a closed pipe ends it quietly", () => {
  const { stdout, stderr } = spawnSync(
    "bash",
    ["-c", `"${process.execPath}" dist/strobe.js -q -e 'interval:ms:1 { printf("line\\n"); }' | head -n 3`],
    { encoding: "utf8", timeout: 300_000 },
  );
  assert.equal(stdout, "line\nline\nline\n");
  assert.equal(stderr, "");
});

test("-o writes the output to a file", async () => {
  const file = join(folder.path, "out");
  const { stdout } = await strobe(["-q", "-o", file, "-e", 'begin { printf("to a file\\n"); exit(); }']);
  assert.equal(stdout, "");
  assert.equal(readFileSync(file, "utf8"), "to a file\n\n\n");
});

test("-f json prints an object a line", async () => {
  const { stdout } = await strobe([
    "-q",
    "-f",
    "json",
    "-e",
    'begin { printf("a \\"b\\"\\n"); @m["k", 1] = 2; @h = hist(4); exit(); }',
  ]);
  const lines = stdout
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
  assert.deepEqual(lines, [
    { type: "printf", data: 'a "b"\n' },
    { type: "hist", data: { "@h": [{ min: 4, max: 7, count: 1 }] } },
    { type: "map", data: { "@m": { "k,1": 2 } } },
  ]);
  const loud = await strobe(["-f", "json", "-e", 'begin { cat("/proc/sys/kernel/ostype"); }']);
  assert.equal(
    loud.stdout,
    '{"type": "attached_probes", "count": 1, "data": {"probes": 1}}\n{"type": "cat", "data": "Linux\\n"}\n',
  );
});

test("several formats at once: each in its place, messages once", async (t) => {
  const folder = temporaryFolder();
  t.after(() => folder.remove());
  const [json, folded] = ["out.json", "out.folded"].map((name) => join(folder.path, name));
  const script = 'begin { printf("%d\\n", 7); @n[1] = 2; warnf("so"); exit(); }';
  const { stdout, stderr, code } = await strobe([
    "-f",
    "text",
    "-f",
    `json=${json}`,
    "-f",
    `folded=${folded}`,
    "-e",
    script,
  ]);
  assert.equal(code, 0);
  assert.equal(stdout, "7\n\n\n@n[1]: 2\n");
  assert.equal(stderr, "-e:1:39-50: WARNING: so\nAttached 1 probe\n");
  assert.deepEqual(
    readFileSync(json, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown),
    [
      { type: "attached_probes", count: 1, data: { probes: 1 } },
      { type: "printf", data: "7\n" },
      { type: "warnf", msg: "so", filename: "-e", line: 1, col: 39 },
      { type: "map", data: { "@n": { 1: 2 } } },
    ],
  );
  assert.equal(readFileSync(folded, "utf8"), "7\n1 2\n");
});

test("scripts are files, standard input, or run by their first line", async () => {
  const script = join(folder.path, "hello.bt");
  writeFileSync(script, `#!/usr/bin/env strobe\nbegin { printf("%s %d\\n", str($1), $#); exit(); }\n`);
  chmodSync(script, 0o755);
  assert.equal((await strobe(["-q", script, "you", "too"])).stdout, "you 2\n\n\n");
  assert.equal((await strobe(["-q", "-"], { input: 'begin { printf("in\\n"); exit(); }' })).stdout, "in\n\n\n");
  const path = join(folder.path, "strobe");
  writeFileSync(path, `#!/bin/sh\nexec "${process.execPath}" "${resolve("dist/strobe.js")}" "$@"\n`);
  chmodSync(path, 0o755);
  const run = spawnSync(script, ["me"], { encoding: "utf8", env: { PATH: `${folder.path}:/usr/bin:/bin` } });
  assert.equal(run.stdout, "me 1\n\n\n");
});

test("an empty environment will do", async () => {
  const { stdout, code } = await strobe(["-q", "-e", 'begin { printf("bare\\n"); exit(); }'], { env: {} });
  assert.deepEqual([stdout, code], ["bare\n\n\n", 0]);
});

test("mistakes are shown where they are, with the nearest name, all at once", async () => {
  const script = 'tracepoint:sched:sched_swich { @ = count(); }\nbegin { print(nsec); printf("%d\\n", "text"); }\n';
  const file = join(folder.path, "wrong.bt");
  writeFileSync(file, script);
  const { stderr, stdout, code } = await strobe([file]);
  assert.equal(code, 1);
  assert.equal(stdout, "");
  assert.match(stderr, /wrong\.bt:1:1/);
  assert.match(stderr, /tracepoint:sched:sched_swich \{/);
  assert.match(stderr, /\^~*|~~+|\^+/);
  assert.match(stderr, /sched_switch/);
  assert.match(stderr, /wrong\.bt:2:\d+/);
  assert.match(stderr, /nsecs/);
});

test("what cannot be undone needs --unsafe", async () => {
  const script = 'begin { system("echo from the shell"); exit(); }';
  const refused = await strobe(["-e", script]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /--unsafe/);
  const allowed = await strobe(["-q", "--unsafe", "-e", script]);
  assert.equal(allowed.stdout, "from the shell\n\n\n");
});

test("--dry-run runs neither begin and end nor the command", async () => {
  const folder = temporaryFolder();
  try {
    const begun = join(folder.path, "begun");
    const script = `begin { system("touch ${begun}"); exit(3); } end { system("touch ${begun}"); } tracepoint:sched:sched_switch { @ = 1; }`;
    const { stdout, stderr, code } = await strobe(["--dry-run", "--unsafe", "-e", script, "-c", `touch ${begun}`]);
    assert.deepEqual([stdout, stderr, code, existsSync(begun)], ["", "Attached 3 probes\n", 0, false]);
  } finally {
    folder.remove();
  }
});

test("--dry-run attaches and leaves", async () => {
  const { stdout, stderr, code } = await strobe([
    "--dry-run",
    "-e",
    'tracepoint:sched:sched_switch { printf("x\\n"); }',
  ]);
  assert.deepEqual([stdout, stderr, code], ["", "Attached 1 probe\n", 0]);
});

test("-l lists, -lv shows arguments", async () => {
  const list = await strobe(["-l", "tracepoint:sched:sched_process_ex*"]);
  assert.equal(list.stdout, "tracepoint:sched:sched_process_exec\ntracepoint:sched:sched_process_exit\n");
  const verbose = await strobe(["-lv", "tracepoint:sched:sched_process_exec"]);
  assert.equal(
    verbose.stdout,
    "tracepoint:sched:sched_process_exec\n    __data_loc char[] filename\n    pid_t pid\n    pid_t old_pid\n",
  );
  const type = await strobe(["-lv", "struct llist_node"]);
  assert.equal(type.stdout, "vmlinux: struct llist_node {\n\tstruct llist_node *next;\n};\n");
  assert.equal((await strobe(["-l", "struct llist_node"])).stdout, "struct llist_node\n");
  const spelled = (await strobe(["-lv", "struct iphdr,struct file_operations"])).stdout.split("\n");
  for (const line of [
    "__u8 ihl: 4;",
    "__be16 tot_len;",
    "\t__be32 saddr;",
    "ssize_t (*write)(struct file *, const char *, size_t, loff_t *);",
  ]) {
    assert.ok(
      spelled.some((one) => one.endsWith(`\t${line}`)),
      line,
    );
  }
  const result = await strobe(["-lv", "fexit:vfs_read"]);
  assert.equal(
    result.stdout,
    "fexit:vmlinux:vfs_read\n    struct file * file\n    char * buf\n    size_t count\n    loff_t * pos\n    ssize_t retval\n",
  );
  const none = await strobe(["-l", "tracepoint:nothing:here"]);
  assert.equal(none.stdout, "");
  const ofScript = await strobe(["-l", "-e", "tracepoint:sched:sched_process_ex* { } begin { }"]);
  assert.equal(ofScript.stdout, "tracepoint:sched:sched_process_exec\ntracepoint:sched:sched_process_exit\nbegin\n");
});

test("-d shows the tree, the intermediate code and the bytecode", async () => {
  const { stdout, code } = await strobe(["-d", "-e", "tracepoint:raw_syscalls:sys_enter { @ = count(); }"]);
  assert.equal(code, 0);
  assert.match(stdout, /aggregate/);
  assert.match(stdout, /call|exit/);
});

test("-h, -V and --info", async () => {
  assert.match((await strobe(["-h"])).stdout, /^strobe: ask a running Linux system a question\n/);
  assert.match((await strobe(["-V"])).stdout, /^strobe v\d+\.\d+\.\d+\n$/);
  const info = await strobe(["--info"]);
  assert.equal(info.code, 0);
  assert.match(info.stdout, /BTF/);
});

test("what is wrong is told with where", async () => {
  // The kernel lowers it where interrupts take long.
  const most = (): string => readFileSync("/proc/sys/kernel/perf_event_max_sample_rate", "utf8").trim();
  const before = most();
  const often = await strobe(["-e", "profile:hz:999999999 { }"]);
  assert.equal(often.code, 1);
  const [, said = ""] =
    /\(EINVAL\); the kernel samples (\d+) times a second at most \(sysctl kernel\.perf_event_max_sample_rate\)\n/.exec(
      often.stderr,
    ) ?? [];
  assert.ok([before, most()].includes(said), often.stderr);
  const none = await strobe(["-l", "-e", "tracepoint:sched:sched_swich { }"]);
  assert.deepEqual([none.stdout, none.code], ["", 1]);
  assert.match(none.stderr, /^-e:1:1: error: no matches for tracepoint sched:sched_swich\n/);
  const cut = join(folder.path, "cut");
  writeFileSync(cut, readFileSync(syscalls).subarray(0, 2000), { mode: 0o755 });
  const listing = await strobe(["-l", `uprobe:${cut}:*`]);
  assert.equal(listing.code, 1);
  assert.ok(
    listing.stderr.startsWith(`strobe: ${cut}: damaged ELF file: the section table lies behind the end of the file\n`),
    listing.stderr,
  );
});

test("misuse says how to use it", async () => {
  for (const args of [["--nonsense"], [], ["-p", "x", "-e", "begin {}"], ["no-such-file.bt"]]) {
    const { stderr, code } = await strobe(args);
    assert.equal(code, 1, args.join(" "));
    assert.match(stderr, /^strobe: /);
  }
});

test("without root it says what is missing", () => {
  const run = spawnSync(
    "setpriv",
    [
      "--reuid",
      "65534",
      "--clear-groups",
      "--no-new-privs",
      "--inh-caps=-all",
      "--bounding-set=-all",
      process.execPath,
      resolve("dist/strobe.js"),
      "-e",
      "tracepoint:sched:sched_switch { @ = count(); }",
    ],
    { encoding: "utf8" },
  );
  assert.equal(run.status, 1);
  assert.match(run.stderr, /root|CAP_BPF|privilege/i);
});

test("events that do not fit are counted and said", async () => {
  const running = startStrobe(
    [
      "-e",
      `tracepoint:syscalls:sys_enter_getppid /comm == "${comm}"/ { printf("%d %s\\n", nsecs, "some text that makes the record long enough to fill the ring"); }`,
    ],
    { env: { ...process.env, BPFTRACE_PERF_RB_PAGES: "64" } },
  );
  await running.attached;
  // A stopped reader cannot keep up.
  running.child.kill("SIGSTOP");
  spawnSync(syscalls, ["100000"]);
  running.child.kill("SIGCONT");
  const { stdout, stderr } = await interrupt(running);
  const lines = stdout.split("\n").filter((line) => line.includes("some text")).length;
  const lost = [...stderr.matchAll(/lost (\d+) events/gi)].reduce((sum, m) => sum + Number(m[1]), 0);
  assert.ok(lost > 0);
  assert.equal(lines + lost, 100000);
});

test("a full map is counted and said", async () => {
  const running = startStrobe(
    [
      "-e",
      `tracepoint:syscalls:sys_enter_getppid /comm == "${comm}"/ { @n++; @m[@n] = 1; } end { printf("%d\\n", len(@m)); clear(@m); clear(@n); }`,
    ],
    { env: { ...process.env, BPFTRACE_MAX_MAP_KEYS: "100" } },
  );
  await running.attached;
  spawnSync(syscalls, ["1000"]);
  const { stdout, stderr } = await interrupt(running);
  assert.equal(stdout.trim(), "100");
  assert.match(stderr, /Map full; can't update element: 900 updates of @m failed \(raise max_map_keys, /);
});

test("a terminal shows a live line while nothing is printed, and only a terminal", async () => {
  const script = `tracepoint:syscalls:sys_enter_getppid /comm == "${comm}"/ { printf("one line\\n"); exit(); } tracepoint:syscalls:sys_exit_getppid { @ = count(); }`;
  const child = spawn("script", ["-qec", `"${process.execPath}" dist/strobe.js -e '${script}'`, "/dev/null"], {
    env: { ...process.env, TERM: "xterm", NO_COLOR: "" },
    stdio: ["pipe", "pipe", "inherit"],
    timeout: 300_000,
  });
  let stdout = "";
  let called = false;
  child.stdout.setEncoding("utf8").on("data", (data: string) => {
    stdout += data;
    if (called || !stdout.includes("lost")) return;
    called = true;
    spawn(syscalls, ["1"]);
  });
  await once(child, "close");
  assert.match(stdout, /tracing… \d+ s, (?:0 events printed|@: [\d,]+), 0 lost/);
  // It is wiped before the line, which stands alone.
  assert.ok(stdout.includes("\r\u001b[Kone line\r\n"));
});

test("strobe fmt rewrites what is laid out otherwise, and --check only says so", async () => {
  const file = join(folder.path, "plain.bt");
  writeFileSync(file, "begin{exit()}");
  const checked = await strobe(["fmt", "--check", file]);
  assert.deepEqual([checked.stdout, checked.code, readFileSync(file, "utf8")], [`${file}\n`, 1, "begin{exit()}"]);
  const first = await strobe(["fmt", file]);
  assert.deepEqual([first.stdout, first.code, readFileSync(file, "utf8")], [`${file}\n`, 0, "begin { exit() }\n"]);
  const second = await strobe(["fmt", "--check", file]);
  assert.deepEqual([second.stdout, second.code], ["", 0]);
  writeFileSync(file, "begin{exit(}");
  const broken = await strobe(["fmt", file]);
  assert.deepEqual([broken.stdout, broken.code, readFileSync(file, "utf8")], ["", 1, "begin{exit(}"]);
  assert.match(broken.stderr, /^.*plain\.bt:1:12: error: expected an expression, found `\}`/);
});
