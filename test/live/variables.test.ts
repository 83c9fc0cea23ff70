// Variables of programs: what a script sees is what the program itself prints, whatever compiled it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compileWith, missing, runTool } from "../support/compilers.ts";
import { bpfObjects, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";
import {
  classesScript,
  classesSource,
  goScript,
  goSource,
  partsSource,
  rustScript,
  rustSource,
  scopedNames,
  scopesSource,
  shapesScript,
  shapesSource,
} from "../support/variables.ts";

const folder = temporaryFolder();
let objects = "";

before(() => {
  objects = bpfObjects();
  writeFileSync(join(folder.path, "shapes.c"), shapesSource);
  writeFileSync(join(folder.path, "classes.cpp"), classesSource);
  writeFileSync(join(folder.path, "shapes.rs"), rustSource);
  writeFileSync(join(folder.path, "scopes.cpp"), scopesSource);
  writeFileSync(join(folder.path, "parts.c"), partsSource);
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

const run = (command: string, args: readonly string[]): void => runTool(folder.path, command, args);
const compile = (compiler: string, source: string, name: string, ...flags: readonly string[]): string =>
  compileWith(compiler, folder.path, source, name, ...flags);

interface Seen {
  readonly program: string;
  readonly script: string;
  readonly warnings: string;
}

/** What a program printed, and what a script over it did. */
async function over(path: string, script: string): Promise<Seen> {
  const output = join(folder.path, "output");
  const { stdout, stderr, code } = await strobe(["-o", output, "-c", path, "-e", script]);
  assert.equal(code, 0, stderr);
  const lines = readFileSync(output, "utf8")
    .split("\n")
    .filter((line) => line !== "");
  return {
    program: stdout.trim(),
    script: lines.join("\n"),
    warnings: stderr.replace(/^Attached \d+ probes?\n/m, "").trim(),
  };
}

async function agrees(path: string, script: string): Promise<void> {
  const { program, script: printed, warnings } = await over(path, script);
  assert.equal(warnings, "");
  assert.notEqual(program, "");
  assert.equal(printed, program);
}

async function refusal(script: string): Promise<string> {
  const { stderr, code } = await strobe(["-e", script]);
  assert.equal(code, 1);
  return stderr;
}

const lineOf = (source: string, mark: string): number =>
  source.split("\n").findIndex((line) => line.includes(mark)) + 1;

for (const compiler of ["gcc", "clang"]) {
  for (const flags of [
    ["-O0"],
    ["-O1", "-no-pie"],
    ["-O2", "-gdwarf-4"],
    ["-O3", "-fomit-frame-pointer"],
    ["-O0", "-static"],
  ]) {
    test(`arguments, results and globals, by ${compiler} ${flags.join(" ")}`, { skip: missing(compiler) }, async () => {
      const path = compile(compiler, "shapes.c", "shapes", ...flags);
      // LLVM's callers leave out what a function does not use, where they see that: it is no argument then, if they put
      // it there or not.
      const left = compiler === "clang" && !flags.includes("-O0");
      if (left)
        assert.match(
          await refusal(`uprobe:${path}:unused { print(args.a) }`),
          /`a` is optimised out, and all over unused\(\)/,
        );
      await agrees(path, shapesScript(path, left ? "(int32)arg0, (int32)arg1" : undefined));
    });
  }
}

for (const compiler of ["g++", "clang++"]) {
  for (const level of ["-O0", "-O2"]) {
    test(`classes, references and strings of C++, by ${compiler} ${level}`, { skip: missing(compiler) }, async () => {
      const path = compile(compiler, "classes.cpp", "classes", level);
      await agrees(path, classesScript(path));
    });
  }
}

for (const compiler of ["g++", "clang++"]) {
  for (const flags of [["-O0"], ["-O2"], ["-O2", "-gdwarf-4"]]) {
    test(`variables by scopes in part, by ${compiler} ${flags.join(" ")}`, { skip: missing(compiler) }, async () => {
      const path = compile(compiler, "scopes.cpp", "scopes", ...flags);
      const names = Object.keys(scopedNames);
      const { script, warnings } = await over(
        path,
        `uprobe:${path}:app::Server::weigh { ${names.map((name) => `printf("%s: %d\\n", "${name}", var("${name}"));`).join(" ")} }`,
      );
      assert.equal(warnings, "");
      assert.deepEqual(
        script.split("\n"),
        names.map((name) => `${name}: ${scopedNames[name]}`),
      );
      assert.equal(
        (await over(path, `uprobe:${path}:other::look { printf("%d %d\\n", var("same"), var("weigh::total")); }`))
          .script,
        "2 201",
      );
      assert.match(
        await refusal(`uprobe:${path}:other::look { print(var("kept")) }`),
        /there are several variables `kept`: say which, as in var\("app::Holder<int>::kept"\) or var\("app::Holder<char>::kept"\)/,
      );
      assert.match(
        await refusal(`uprobe:${path}:other::look { print(var("nowhere::same")) }`),
        /sees no variable `nowhere::same`/,
      );
    });
  }
}

test("of what an optimiser kept in part, the members that are there are shown and read", async () => {
  for (const compiler of ["gcc", "clang"].filter((name) => missing(name) === false)) {
    const path = compile(compiler, "parts.c", "parts", "-O2");
    const mixed = await over(
      path,
      `uprobe:${path}:mixed { print(args); print(args.m); printf("%d\\n", args.m.l); @m[args.m.l] = args.m; }`,
    );
    assert.equal(
      mixed.script,
      "{ .m = { .d = <in a vector register>, .l = 9 }, .v = <in a vector register> }\n{ .d = <in a vector register>, .l = 9 }\n9\n@m[9]: { .d = <in a vector register>, .l = 9 }",
    );
    const output = join(folder.path, "output");
    await strobe(["-q", "-f", "json", "-o", output, "-c", path, "-e", `uprobe:${path}:mixed { print(args.m); }`]);
    assert.equal(
      readFileSync(output, "utf8").trim(),
      '{"type": "value", "data": {"d": "<in a vector register>", "l": 9}}',
    );
    assert.match(
      await refusal(`uprobe:${path}:mixed { print(args.m.d) }`),
      /`d` is in a vector register, which a probe cannot read/,
    );
    assert.match(
      await refusal(`uprobe:${path}:mixed { print(args.v) }`),
      /`v` is in a vector register, which a probe cannot read/,
    );
  }
  const path = compile("clang", "parts.c", "parts", "-O2");
  const { script } = await over(path, `uprobe:${path}:mixed { print(var("shared")); print(var("shared").kept); }`);
  assert.equal(script, "{ .kept = 3, .unused = <optimised out> }\n3");
  assert.match(await refusal(`uprobe:${path}:mixed { print(var("shared").unused) }`), /`unused` is optimised out here/);
});

test("what a pointer that was optimised away points to", async () => {
  const path = compile("gcc", "parts.c", "parts", "-O2");
  const place = `line:${path}@parts.c:${lineOf(partsSource, "/* in sum */")}`;
  const { script } = await over(
    path,
    `${place} { print(*args.p); printf("%d %d %d\\n", args.p->b, *var("q"), vars.p.c); }`,
  );
  assert.equal(script, "{ .a = 1, .b = 12, .c = 7 }\n12 5 7");
  assert.match(await refusal(`${place} { print(args.q) }`), /`q` is a pointer that was optimised out, to `n`/);
});

test("enums, slices and strings of Rust", { skip: missing("rustc") }, async () => {
  const path = compile("rustc", "shapes.rs", "rust");
  await agrees(path, rustScript(path));
});

test("strings and slices of Go", { skip: spawnSync("go", ["version"]).status === 0 ? false : "needs go" }, async () => {
  writeFileSync(join(folder.path, "go.mod"), "module main\n");
  writeFileSync(join(folder.path, "main.go"), goSource);
  const path = join(folder.path, "program");
  run("go", ["build", "-gcflags=all=-N -l", "-o", path, "main.go"]);
  await agrees(path, goScript(path).replace("LINE", String(lineOf(goSource, 'fmt.Printf("%d %v'))));
});

test("locals at a line", async () => {
  const path = compile("gcc", "shapes.c", "lines", "-O0");
  const line = lineOf(shapesSource, "/* in loop */");
  const { script } = await over(path, `line:${path}@shapes.c:${line} { print(vars); @[vars.i] = sum(var("square")); }`);
  assert.equal(
    script,
    [
      "{ .square = 0, .i = 0, .total = 0, .rounds = 4 }",
      "{ .square = 1, .i = 1, .total = 0, .rounds = 4 }",
      "{ .square = 4, .i = 2, .total = 1, .rounds = 4 }",
      "{ .square = 9, .i = 3, .total = 5, .rounds = 4 }",
      "@[0]: 0",
      "@[1]: 1",
      "@[2]: 4",
      "@[3]: 9",
    ].join("\n"),
  );
});

test("what an optimiser kept of the locals is right, and the rest is said to be gone", async () => {
  for (const compiler of ["gcc", "clang"].filter((name) => missing(name) === false)) {
    const path = compile(compiler, "shapes.c", "lines", "-O2");
    const line = lineOf(shapesSource, "/* in loop */");
    const { script } = await over(path, `line:${path}@shapes.c:${line} { print(vars); }`);
    const rows = script.split("\n").filter((row) => row !== "");
    assert.equal(rows.length, 4, script);
    rows.forEach((row, i) => {
      const total = [0, 0, 1, 5][i];
      const shown = Object.fromEntries(
        [...row.matchAll(/\.(\w+) = (<optimised out>|-?\d+)/g)].map(([, name, value]) => [name, value]),
      );
      assert.deepEqual(
        Object.keys(shown).sort(),
        ["i", "rounds", "square", "total"].filter((name) => name in shown),
      );
      for (const [name, value] of Object.entries({ square: i * i, total, rounds: 4 })) {
        if (shown[name] !== undefined && shown[name] !== "<optimised out>")
          assert.equal(shown[name], String(value), `${compiler}: ${row}`);
      }
      assert.equal(shown["square"], String(i * i), `${compiler}: ${row}`);
    });
  }
});

test("an inlined function is its copies", async () => {
  for (const level of ["-O0", "-O2"]) {
    const path = compile("gcc", "shapes.c", "inlined", level);
    const { script, warnings } = await over(path, `uprobe:${path}:scaled { printf("%s %s\\n", func, probe); }`);
    assert.match(warnings, /warning: `scaled` is inlined: probing its 2 copies, in (`loop`, `main`|`main`, `loop`)/);
    assert.equal(script, `scaled uprobe:${path}:scaled\nscaled uprobe:${path}:scaled`, level);
  }
});

test("copies that lack what is asked for are left out, and that is said", async () => {
  for (const level of ["-O0", "-O1", "-O2", "-O3"]) {
    const path = compile("gcc", "shapes.c", "inlined", level);
    const { script, warnings } = await over(path, `uprobe:${path}:scaled { print(args.factor); }`);
    const values = script.split("\n");
    assert.ok(
      values.every((value) => value === "3" || value === "9"),
      script,
    );
    assert.equal(
      values.length < 2,
      /warning: 1 of the 2 places of `.*` is left out: at .* `factor` is optimised out here/.test(warnings),
      warnings,
    );
    if (level === "-O0") assert.equal(script, "3\n9");
  }
});

test("a line of an inlined function is its copies' lines", async () => {
  const path = compile("gcc", "shapes.c", "inlined", "-O0");
  const { script, warnings } = await over(
    path,
    `line:${path}@shapes.c:${lineOf(shapesSource, "/* in scaled */")} { print(var("product")); }`,
  );
  assert.equal(warnings, "");
  assert.equal(script, "42\n9");
});

test("a copy has no result of its own", async () => {
  const path = compile("gcc", "shapes.c", "inlined", "-O2");
  const { stderr, code } = await strobe(["-e", `uretprobe:${path}:scaled { print(retval); }`]);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /error: `scaled` is inlined into .*, and where a copy ends, its result is in no register of its own/,
  );
});

test("a stripped program's debug file is found beside it", async () => {
  const path = compile("gcc", "shapes.c", "stripped", "-O2", "-Wl,--build-id=none");
  run("objcopy", ["--only-keep-debug", path, `${path}.debug`]);
  run("strip", [path]);
  run("objcopy", [`--add-gnu-debuglink=${path}.debug`, path]);
  await agrees(path, shapesScript(path));
});

test("what is not there says so", { skip: missing("clang") }, async () => {
  const path = compile("gcc", "shapes.c", "shapes", "-O0");
  assert.match(
    await refusal(`uprobe:${path}:loop { print(args.round) }`),
    /has no argument `round`[^]*did you mean `rounds`/,
  );
  assert.match(
    await refusal(`uprobe:${path}:loop { print(var("roundz")) }`),
    /sees no variable `roundz`[^]*did you mean `rounds`/,
  );
  assert.match(
    await refusal(`uprobe:${path}:loop { print(var("total")) }`),
    /`total` is not set yet at the function's entry/,
  );
  assert.match(
    await refusal(`uprobe:${path}:floats { print(args.f) }`),
    /`f` is in a vector register, which a probe cannot read/,
  );
  assert.match(
    await refusal(`uprobe:${path}@shape.c:3 { }`),
    /no code of .* comes from a file shape\.c[^]*did you mean `shapes\.c`/,
  );
  assert.match(
    await refusal(`uprobe:${path}@shapes.c:100000 { }`),
    /line 100000 of shapes\.c has no code; the nearest line that has some is \d+/,
  );
  const optimised = compile("clang", "shapes.c", "optimised", "-O2");
  const line = lineOf(shapesSource, "/* in loop */");
  assert.match(
    await refusal(`line:${optimised}@shapes.c:${line} { print(var("total")) }`),
    /`total` is optimised out here; it has a value at lines? \d+/,
  );
  // The kernel's own, which it may not be known of where anything is.
  const kernels = await refusal(`interval:s:1 { print(var("no_such_variable")) }`);
  assert.match(kernels, /error: (?:var\(\) is not known here: the kernel's debug information|.*`no_such_variable`)/);
  run("strip", [path]);
  assert.match(await refusal(`uprobe:${path}@shapes.c:3 { }`), /lines are not known: .* debug information/);
});

test("a line without code means the next", async () => {
  const path = compile("gcc", "shapes.c", "shapes", "-O0");
  const line = lineOf(shapesSource, "static inline");
  const { warnings } = await over(path, `uprobe:${path}@shapes.c:${line - 1} { exit(); }`);
  assert.match(warnings, new RegExp(`warning: line ${line - 1} of shapes\\.c has no code: probing line \\d+`));
});

test("the page's example prints what the page says", async () => {
  const page = readFileSync("docs/language.md", "utf8");
  const [, source, example] = /```c\n(struct point .*?)```\n\n```text\n(# strobe .*?)```/s.exec(page) ?? [];
  assert.ok(source !== undefined && example !== undefined);
  const main = join(folder.path, "main.c");
  writeFileSync(join(folder.path, "page.c"), source);
  writeFileSync(main, '#include "page.c"\nint main(void) { return area((struct point){ 3, 4 }, 10) == 0; }\n');
  const path = compile("gcc", main, "page");
  const [, script, printed] = /-e '(.*?)' -c \.\/shapes\n(.*)$/s.exec(example) ?? [];
  assert.ok(script !== undefined && printed !== undefined);
  const own = script.replaceAll("./shapes", path).replaceAll("@shapes.c", "@page.c");
  assert.equal((await over(path, own)).script, printed.trim());
});

test("a program's own types are known where it is probed", async () => {
  const path = compile("gcc", "shapes.c", "shapes", "-O1");
  const { script } = await over(
    path,
    `uprobe:${path}:describe {
    $shape = (struct shape *)arg0; printf("%d %s %d %d\\n", $shape.at.y, $shape.name, sizeof(struct shape), ((shape_t *)arg0).list.next.value);
  }`,
  );
  assert.equal(script, "-4 round 80 2");
});

test("variables around a static probe", async () => {
  const path = join(folder.path, "static");
  writeFileSync(
    `${path}.c`,
    `#include <sys/sdt.h>
    int total = 5;
    int main(void) { for (int round = 0; round < 2; round++) { total += 10; DTRACE_PROBE(demo, step); } return 0; }`,
  );
  compile("gcc", `${path}.c`, "static", "-O0");
  assert.equal(
    (await over(path, `usdt:${path}:demo:step { printf("%d %d\\n", var("round"), var("total")); }`)).script,
    "0 15\n1 25",
  );
});

test("listings tell parameters, locals, lines and copies", async () => {
  const path = compile("gcc", "shapes.c", "listed", "-O2");
  const { stdout } = await strobe(["-lv", `uprobe:${path}:loop`]);
  assert.deepEqual(
    stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.replace(folder.path, "")),
    [
      "uprobe:/listed:loop",
      "    int rounds",
      "    var int total",
      "    var int i",
      "    var int square",
      `    at /shapes.c:${lineOf(shapesSource, "int loop(")}:31`,
    ],
  );
  const copies = await strobe(["-lv", `uprobe:${path}:inlined:*`]);
  assert.match(
    copies.stdout,
    /inlined:scaled\n {4}int amount\n {4}int factor\n {4}at .*shapes\.c:\d+:\d+\n(?: {4}inlined into (?:loop|main) at .*shapes\.c:\d+:\d+\n){2}/,
  );
  const lines = await strobe(["-l", `line:${path}@shapes.c:*`]);
  assert.match(lines.stdout, new RegExp(`shapes\\.c:${lineOf(shapesSource, "/* in loop */")}\n`));
});

test("a script that asks for no variable opens no debug information", async () => {
  const path = compile("gcc", "shapes.c", "shapes", "-O0");
  // Damaged debug information is of no account until somebody asks.
  const text = readFileSync(path);
  const at = text.indexOf(".debug_info\0");
  assert.ok(at > 0);
  run("objcopy", ["--update-section", ".debug_abbrev=/dev/null", path]);
  const { script } = await over(path, `uprobe:${path}:loop { printf("%d\\n", arg0); }`);
  assert.equal(script, "4");
});

test("locals of other blocks are told by where they can be read, or that their block is gone", async () => {
  const source = `#include <stdio.h>
volatile int sink;
__attribute__((noinline)) int work(int n) {
  sink = n;
  for (int i = 0; i < n; i++) {
    int doubled = i * 2;
    sink += doubled;
  }
  { int gone = 7; (void)gone; }
  sink += n;
  return sink;
}
int main(void) { printf("%d\\n", work(5)); return 0; }
`;
  writeFileSync(join(folder.path, "blocks.c"), source);
  const plain = compile("gcc", "blocks.c", "blocks", "-O0");
  for (const line of [4, 10]) {
    assert.match(
      await refusal(`uprobe:${plain}@blocks.c:${line} { print(var("doubled")) }`),
      /error: `doubled`, declared at line 6, is of another block: it has a value at lines 6-7\n/,
    );
  }
  const inside = await strobe(["-q", "-c", plain, "-e", `uprobe:${plain}@blocks.c:7 { print(var("doubled")) }`]);
  assert.match(inside.stdout, /^0\n2\n4\n6\n8\n/m);
  const optimised = compile("gcc", "blocks.c", "optimised-blocks", "-O2");
  assert.match(
    await refusal(`uprobe:${optimised}@blocks.c:10 { print(var("gone")) }`),
    /error: `gone`, declared at line 9, was optimised out with its block\n/,
  );
});
