// Plans that a run leaves for the next: used when nothing changed that they were made from, and only then.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compileScript } from "../../src/api/compile.ts";
import { fromText, toText } from "../../src/api/plan-text.ts";
import { plainPlan } from "../../src/compiler/plain-plan.ts";
import { KeptFiles } from "../../src/store/kept-files.ts";
import { bpfObjects, command, compileC, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";
import { languageCases } from "./language-cases.ts";

const deadline = { timeout: 300_000, skip: process.geteuid?.() !== 0 && "needs root" };
const home = temporaryFolder();
const plans = join(home.path, "plans");
process.env["STROBE_CACHE"] = home.path;
const { NODE_OPTIONS: _options, ...own } = process.env;
const kept = new KeptFiles({ folder: "plans", names: /^[0-9a-f]{16}$/, files: 64 });

let objects = "";
before(() => {
  if (!deadline.skip) objects = bpfObjects();
});
after(async () => {
  home.remove();
  if (!deadline.skip) await nothingLeft(objects);
});

const script = String.raw`
  begin { printf("%d %s %d\n", $1, str($2), nsecs > 0); @text["ä"] = (1, -2); }
  tracepoint:raw_syscalls:sys_enter /pid == cpid/ { @n = count(); @by[comm, args.id < 1000] = hist(3); }
  tracepoint:sched:sched_process_exit /pid == cpid/ { printf("%s ends, %d\n", args.comm, args.pid == cpid); @ages = lhist(5, 0, 10, 1); exit(); }
  end { printf("end\n"); clear(@n); }`;
const output = `7 x 1\ntrue ends, 1\nend\n\n\n@ages:\n[5]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n\n@text[ä]: (1, -2)\n`;

interface Run {
  readonly kept: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}, cwd?: string): Promise<Run> {
  const { stdout, stderr, code } = await strobe(["-v", ...args], {
    env: { ...own, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  return { kept: stderr.includes("the script has run before: its plan was kept\n"), stdout, stderr, code };
}

/** The histogram of what `true` calls differs from machine to machine. */
function comparable({ stdout }: Run): string {
  return stdout.replace(/@by\[.*\]:\n.*\n\n/g, "");
}

const traced = (more: readonly string[] = []): string[] => ["-c", "/bin/true", ...more, "-e", script, "7", "x"];

test("a script that ran before gives the same from the plan that was kept", deadline, async () => {
  const first = await run(traced());
  assert.deepEqual([first.kept, first.code, comparable(first)], [false, 0, output], first.stderr);
  const [name, ...others] = readdirSync(plans);
  assert.deepEqual(others, []);
  assert.equal(statSync(join(plans, name)).mode & 0o777, 0o600);
  assert.equal(statSync(plans).mode & 0o777, 0o700);
  const again = await run(traced());
  assert.deepEqual([again.kept, again.code, comparable(again)], [true, 0, output], again.stderr);
});

test("another script, parameter, option or setting has a plan of its own", deadline, async () => {
  const others: [args: readonly string[], env?: Record<string, string>][] = [
    [["-c", "/bin/true", "-e", script.replace("end\\n", "fin\\n"), "7", "x"]],
    [["-c", "/bin/true", "-e", script, "8", "x"]],
    [traced(["--stats"])],
    [traced(["-k"])],
    [traced(["--unsafe"])],
    [traced(["--probe-filter", "exit"])],
    [traced(["--max-overhead", "50%"])],
    [traced(), { BPFTRACE_MAX_STRLEN: "32" }],
  ];
  for (const [args, env] of others) {
    const first = await run(args, env);
    assert.deepEqual([first.kept, first.code], [false, 0], `${args.join(" ")}\n${first.stderr}`);
    assert.equal((await run(args, env)).kept, true, args.join(" "));
  }
  const changed = await run(["-c", "/bin/true", "-e", script.replace("end\\n", "fin\\n"), "7", "x"]);
  assert.equal(comparable(changed), output.replace("end\n", "fin\n"));
});

test("what is not whole, or not ours alone, is compiled anew", deadline, async () => {
  for (const name of readdirSync(plans)) unlinkSync(join(plans, name));
  await run(traced());
  const [name] = readdirSync(plans);
  const file = join(plans, name);
  const whole = readFileSync(file);
  const spoil: Readonly<Record<string, () => void>> = {
    "cut short": () => truncateSync(file, whole.length - 1),
    zeros: () => writeFileSync(file, Buffer.from(whole).fill(0, whole.length - 600, whole.length - 100)),
    "another byte": () => writeFileSync(file, Buffer.from(whole).fill("8", whole.length - 100, whole.length - 99)),
    "of another boot": () => kept.write(name, Buffer.concat([Buffer.from('"00000000-'), whole.subarray(26)])),
    "for others to write": () => chmodSync(file, 0o622),
  };
  for (const [how, make] of Object.entries(spoil)) {
    make();
    const result = await run(traced());
    assert.deepEqual([result.kept, comparable(result)], [false, output], `${how}\n${result.stderr}`);
    assert.deepEqual(readFileSync(file), whole, how);
    assert.equal(statSync(file).mode & 0o777, 0o600, how);
  }
});

test("a kept program that the verifier refuses is compiled anew", deadline, async () => {
  const args = [
    "-e",
    "begin { @a = 1; } tracepoint:raw_syscalls:sys_enter /pid == 1/ { @ = count(); } interval:ms:1 { exit(); }",
  ];
  for (const name of readdirSync(plans)) unlinkSync(join(plans, name));
  const first = await run(args);
  const [name] = readdirSync(plans);
  const whole = kept.read(name)!.toString();
  const code = /"code":"([^"]+)"/.exec(whole)?.[1] ?? "";
  // No program may end without an exit.
  const spoilt = Buffer.from(code, "base64");
  spoilt.fill(0, spoilt.length - 8);
  spoilt[spoilt.length - 8] = 0xb7;
  kept.write(name, whole.replace(code, spoilt.toString("base64")));
  const second = await run(args);
  assert.deepEqual([second.kept, second.code, second.stdout], [true, 0, first.stdout], second.stderr);
  assert.match(second.stderr, /the verifier refused/);
  const third = await run(args);
  assert.deepEqual([third.kept, third.code, third.stdout], [true, 0, first.stdout], third.stderr);
  assert.doesNotMatch(third.stderr, /the verifier refused/);
});

test(
  "a plan with probes in a program is kept until the program, or where it and its debug information are looked for, is another",
  deadline,
  async () => {
    const place = temporaryFolder();
    const source = (
      before: string,
    ): string => `${before} __attribute__((noinline, noclone)) int work(int n) { __asm__ volatile (""); return n + 1; }
    int main(void) { int sum = 0; for (int i = 0; i < 3; i++) sum += work(i); return sum != 6; }`;
    try {
      const program = compileC(place.path, "program", source(""), ["-O1", "-g", "-no-pie"]);
      const script = (target: string): string[] => [
        "-c",
        program,
        "-e",
        `uprobe:${target}:work { @[arg0] = count(); }`,
      ];
      const output = "\n\n@[0]: 1\n@[1]: 1\n@[2]: 1\n";
      const expected = async (kept: boolean, target = program, options: { cwd?: string } = {}): Promise<void> => {
        const result = await run(script(target), {}, options.cwd);
        assert.deepEqual([result.kept, result.stdout, result.code], [kept, output, 0], `${target}\n${result.stderr}`);
      };
      await expected(false);
      await expected(true);
      // The function is elsewhere in it.
      compileC(
        place.path,
        "program",
        source('__attribute__((noinline, noclone)) int other(int n) { __asm__ volatile (""); return n * 7 + 1; }'),
        ["-O1", "-g", "-no-pie"],
      );
      await expected(false);
      await expected(true);
      // Its debug information is found beside it.
      const tool = (...args: string[]): void => assert.equal(spawnSync("objcopy", args, { cwd: place.path }).status, 0);
      tool("--only-keep-debug", "program", "apart");
      tool("--strip-debug", "--add-gnu-debuglink=apart", "program");
      await expected(false);
      await expected(true);
      mkdirSync(join(place.path, ".debug"));
      renameSync(join(place.path, "apart"), join(place.path, ".debug", "apart"));
      await expected(false);
      await expected(true);
      // By a relative path: it begins where strobe does.
      await expected(false, "./program", { cwd: place.path });
      await expected(true, "./program", { cwd: place.path });
      const first = join(place.path, "first");
      mkdirSync(first);
      copyFileSync(program, join(first, "program"));
      const elsewhere = await run(script("./program"), {}, first);
      assert.deepEqual([elsewhere.kept, elsewhere.stdout], [false, "\n\n"]);
      // By a name, of all processes: another folder of PATH may have one. By a wildcard: a file more.
      const path = `${join(place.path, "zeroth")}:${first}:${own["PATH"]}`;
      const attached = async (target: string): Promise<readonly [boolean, string | undefined]> => {
        const { kept, stderr } = await run(["--dry-run", "-e", `uprobe:${target}:work { @ = count(); }`], {
          PATH: path,
        });
        return [kept, /^Attached (\d+) probes?$/m.exec(stderr)?.[1]];
      };
      assert.deepEqual(
        [await attached("program"), await attached("program")],
        [
          [false, "1"],
          [true, "1"],
        ],
      );
      mkdirSync(join(place.path, "zeroth"));
      copyFileSync(program, join(place.path, "zeroth", "program"));
      assert.deepEqual(
        [await attached("program"), await attached("program")],
        [
          [false, "1"],
          [true, "1"],
        ],
      );
      const pattern = `${first}/prog*`;
      assert.deepEqual(
        [await attached(pattern), await attached(pattern)],
        [
          [false, "1"],
          [true, "1"],
        ],
      );
      copyFileSync(program, join(first, "program-2"));
      assert.deepEqual(
        [await attached(pattern), await attached(pattern)],
        [
          [false, "2"],
          [true, "2"],
        ],
      );
    } finally {
      place.remove();
    }
  },
);

test("what depends on processes or cgroups is not kept", deadline, async () => {
  for (const name of readdirSync(plans)) unlinkSync(join(plans, name));
  const scripts = [
    "uprobe:*:malloc /pid == 1/ { } begin { exit(); }",
    'begin { printf("%d\\n", cgroupid("/") > 0); exit(); }',
  ];
  for (const text of scripts) await run(["-e", text]);
  assert.deepEqual(readdirSync(plans), []);
});

test("what is said of a script is said every time", deadline, async () => {
  const text = "config = { missing_probes = warn }\nuprobe:/bin/true:no_such_function { }\nbegin { exit(); }";
  const said = ({ stderr }: Run): string => /^-e:.*\n(?: .*\n)+/m.exec(stderr)?.[0] ?? "";
  const [first, again, quiet] = [await run(["-e", text]), await run(["-e", text]), await run(["-q", "-e", text])];
  assert.match(said(first), /^-e:2:1: warning: no matches for uprobe \/bin\/true:no_such_function: .*\n 2 │ uprobe:/);
  assert.deepEqual([first.kept, again.kept, said(again)], [false, true, said(first)]);
  assert.equal(said(quiet), "");
});

test("every plan can be written down, and comes back as it was", deadline, () => {
  const tools = readdirSync("tools")
    .filter((name) => name.endsWith(".bt"))
    .map((name) => readFileSync(join("tools", name), "utf8"));
  let compiled = 0;
  const refused: string[] = [];
  for (const text of [...tools, ...languageCases.map((each) => each.script)]) {
    const { plan } = compileScript(
      { name: "script", text },
      { unsafe: true, env: {}, positional: ["/bin/true", "main", "main"] },
    );
    if (plan === undefined) continue;
    compiled++;
    const plain = plainPlan(plan);
    if (plain === undefined) {
      refused.push(text);
      continue;
    }
    const written = toText(plain);
    assert.equal(toText(fromText(written)), written);
  }
  assert.ok(compiled > languageCases.length);
  assert.deepEqual(refused, []);
});

test(
  "a plan whose values are structs that reach themselves, arrays, enums, bit-fields and pointers shows them as before",
  deadline,
  async () => {
    const place = temporaryFolder();
    try {
      const program = compileC(
        place.path,
        "program",
        `enum colour { RED, GREEN = 7, BLUE };
      struct inner { short pair[2]; char text[6]; enum colour colour; };
      struct node { struct node *next; struct inner inner; unsigned low : 3; int high : 5; union { int number; float real; }; void (*call)(struct node *); };
      __attribute__((noinline, noclone)) int work(struct node *node, enum colour colour, const char *text) { __asm__ volatile ("" : : "r" (node), "r" (text) : "memory"); return colour; }
      int main(void) { struct node node = { (struct node *)0x1234, { { 3, -4 }, "five", BLUE }, 5, -6, { 70 }, 0 }; return work(&node, GREEN, (char *)0x99) != 7; }`,
        ["-O1", "-g"],
      );
      const shown =
        ".next = 0x1234, .inner = { .pair = [3,-4], .text = five, .colour = BLUE }, .low = 5, .high = -6, .number = 70";
      const script = [
        "-c",
        program,
        "-e",
        `uprobe:${program}:work { print(*args.node); print(args.colour); @[*args.node] = args.text; exit(); }`,
      ];
      for (const format of [[], ["-f", "json"]]) {
        const before = await run([...format, ...script], { STROBE_CACHE: join(place.path, `nothing${format.length}`) });
        await run(script);
        const after = await run([...format, ...script]);
        assert.deepEqual(
          [before.kept, before.code, after.kept, after.code],
          [false, 0, true, 0],
          `${before.stderr}\n${after.stderr}`,
        );
        assert.equal(after.stdout, before.stdout);
        assert.ok(
          format.length > 0 || (before.stdout.includes(shown) && before.stdout.includes("\nGREEN\n")),
          before.stdout,
        );
      }
    } finally {
      place.remove();
    }
  },
);

test("a script whose reader has gone is kept as well", deadline, async () => {
  for (const name of readdirSync(plans)) unlinkSync(join(plans, name));
  const script = 'interval:ms:1 { printf("a line that head(1) is the last to read\\n"); }';
  const { status, stderr } = spawnSync("sh", ["-c", `'${process.execPath}' '${command}' -q -e '${script}' | head -3`], {
    env: own,
    encoding: "utf8",
    timeout: 300_000,
  });
  assert.deepEqual([status, stderr, readdirSync(plans).length], [0, "", 1]);
});
