import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import { printTree } from "../print-tree.ts";
import { renderDiagnostic } from "../render-diagnostic.ts";
import { Failure } from "../../base/failure.ts";
import type { Given, MachineGiven } from "../language.ts";
import { libraryNames } from "./library.ts";
import { refusedFunctions } from "./refused.ts";
import { libraryHeads } from "./tapset.ts";
import { parse } from "./parse.ts";
import { toPattern } from "./patterns.ts";
import { reason } from "../../messages/message.ts";

const folder = join(process.cwd(), "src/language/systemtap/fixtures");
const given: Given = {
  positional: ["100", "hello"],
  target: 4242,
  machine: { release: "6.12.5-amd64", arch: "x86_64", config: (name) => ({ CONFIG_SMP: "y", CONFIG_HZ: "250" })[name] },
};

function read(text: string): ReturnType<typeof parse> {
  return parse({ name: "script.stp", text }, given);
}

function errors(text: string): string[] {
  return read(text).diagnostics.map(({ message }) => message);
}

for (const file of readdirSync(folder)
  .filter((name) => name.endsWith(".stp"))
  .sort()) {
  test(`fixture ${file}`, () => {
    const source = { name: file, text: readFileSync(join(folder, file), "utf8") };
    const { program, diagnostics } = parse(source, given);
    const said = diagnostics.map((one) => renderDiagnostic(source, one, { color: false })).join("");
    const found = said === "" ? printTree(program) : said;
    const golden = join(folder, `${file.slice(0, -4)}.${said === "" ? "tree" : "diagnostics"}`);
    if (process.env["STROBE_UPDATE"] === "1") writeFileSync(golden, found);
    assert.equal(found, readFileSync(golden, "utf8"));
  });
}

test("what touches the brace of alternatives belongs to each of them", () => {
  const tree = (point: string): string => printTree(read(`probe ${point} { println(name) }`).program);
  assert.equal(tree("syscall.{fchown,fchmod}*"), tree("syscall.{fchown*,fchmod*}"));
  assert.equal(tree("syscall.{fchmod,fchown}at.return"), tree("syscall.{fchmodat,fchownat}.return"));
  assert.deepEqual(errors('probe kernel.{trace("a"),trace("b")}* { println(1) }'), [
    "parse error: expected `.` behind the alternatives, found `*`",
  ]);
  assert.deepEqual(errors("probe syscall.{open,close} * { println(1) }"), [
    "parse error: expected `{` behind the probe point, found `*`",
  ]);
});

test("functions of a file of the kernel are refused, their returns too", () => {
  for (const point of ['kernel.function("*@net/socket.c")', 'kernel.function("tcp_*@net/ipv4/tcp.c").return'])
    assert.deepEqual(errors(`probe ${point} { println(1) }`), [
      `semantic error: ${point} is not supported: which functions a file of the kernel has is not looked up: name the function without its file`,
    ]);
});

test("operators bind as SystemTap's manual says", () => {
  const tree = (text: string): string => printTree(read(`global a probe begin { a = ${text} }`).program);
  for (const [bare, grouped] of [
    ["1 + 2 * 3", "1 + (2 * 3)"],
    ["1 << 2 + 3", "1 << (2 + 3)"],
    ["1 | 2 ^ 3 & 4", "1 | (2 ^ (3 & 4))"],
    ["1 || 2 && 3", "1 || (2 && 3)"],
    ["1 == 2 & 3", "(1 == 2) & 3"],
    ["1 ? 2 : 3 ? 4 : 5", "1 ? 2 : (3 ? 4 : 5)"],
    ["- 2 * 3", "(-2) * 3"],
    ["! 2 == 3", "(!2) == 3"],
    ["1 - 2 - 3", "(1 - 2) - 3"],
  ])
    assert.equal(tree(bare), tree(grouped), bare);
});

test("types follow from use, whichever comes first", () => {
  assert.deepEqual(
    errors('global a probe begin { a[1] = "x" } probe end { foreach (k in a) printf("%d %s", k, a[k]) }'),
    [],
  );
  assert.deepEqual(errors('global a probe begin { a = 1 } probe end { a = "x" }'), [
    "semantic error: type mismatch: expected long, found string",
  ]);
  assert.deepEqual(errors("function f(x) { return x } probe begin { print(f(1) + 1) }"), []);
  assert.deepEqual(errors('function f(x) { return x } probe begin { print(f("a") + 1) }'), [
    "semantic error: type mismatch: expected long, found string",
  ]);
});

test("what is refused of the library is not in it", () => {
  const there = new Set([...libraryNames(), ...libraryHeads().functions.map(({ name }) => name)]);
  assert.deepEqual(
    refusedFunctions().filter(([name]) => there.has(name)),
    [],
  );
});

test("whatever a system call is given, `name` is what it is called", () => {
  assert.deepEqual(errors('probe syscall.* { if (name == "getppid") printf("%s(%s)\\n", name, argstr) }'), []);
});

test("mistakes are told in SystemTap's words", () => {
  for (const [script, said] of [
    ["probe begin { error() }", "semantic error: error() takes 1 argument, not 0"],
    ['probe begin { warn("a", "b") }', "semantic error: warn() takes 1 argument, not 2"],
    ["probe begin { log(5) }", "semantic error: type mismatch: expected string, found long"],
    ["global a probe begin { print(a) }", "semantic error: unresolved type: a"],
    ["global a[5] probe begin { a = 5 }", "semantic error: inconsistent number of keys of a: 0, elsewhere 1"],
    ["probe nothing? { print(1) }", "semantic error: no probes found"],
    ["%( 1 %? probe begin { print(1) } %)", "parse error: expected a comparison in the condition of `%(`"],
    ["%( kernel_v > 2 %? probe begin { print(1) } %)", "parse error: expected a string in the condition of `%(`"],
    ['%( guru_mode == "a" %? probe begin { print(1) } %)', "parse error: expected a number in the condition of `%(`"],
  ])
    assert.equal(errors(script)[0], said, script);
  assert.deepEqual(errors("probe never { print(1) }"), []);
  assert.deepEqual(errors("probe begin { nothing() }"), ["semantic error: unresolved function: nothing()"]);
  assert.deepEqual(errors('probe begin { panic("x") }'), [
    "semantic error: panic() is not supported: what stops or delays the kernel is not possible from a handler",
  ]);
  assert.deepEqual(errors('probe kernel.data("jiffies").write { }'), [
    'semantic error: kernel.data("jiffies").write is not supported: the kernel does not tell where jiffies is',
  ]);
  assert.deepEqual(errors("probe begin {"), ["parse error: expected `}` at the end of the block"]);
  assert.deepEqual(errors("probe begin { x = }"), ["parse error: expected an expression, found `}`"]);
  assert.deepEqual(errors("function f() %{ return 1; %} probe begin { f() }").slice(0, 1), [
    "semantic error: embedded C code is not supported: strobe compiles no C",
  ]);
});

test("conditions, macros and parameters come before anything is read", () => {
  const same = (left: string, right: string): void =>
    assert.equal(printTree(read(left).program), printTree(read(right).program));
  same('probe begin { %( kernel_v >= "6.0" %? print(1) %: nonsense(( %) }', "probe begin { print(1) }");
  same('probe begin { %( arch == "x86_64" && CONFIG_SMP == "y" %? print(1) %) }', "probe begin { print(1) }");
  same("@define twice(x) %( (@x * 2) %) probe begin { print(@twice(21)) }", "probe begin { print((21 * 2)) }");
  same("probe begin { print($1, @2, $#) }", 'probe begin { print(100, "hello", 2) }');
});

test("what the kernel was built with is asked, and said where it is not known", () => {
  const specs = (text: string, config: MachineGiven["config"]): unknown => {
    const machine = { release: "6.12.5", arch: "x86_64", config };
    const { program, diagnostics } = parse({ name: "script.stp", text }, { ...given, machine });
    if (diagnostics.length > 0) return diagnostics.map(({ message }) => message);
    return program.probes.flatMap(({ specs: all }) => all.map(({ provider, parts }) => [provider, ...parts].join(":")));
  };
  const timers = "probe timer.jiffies(2), timer.profile { exit() }";
  assert.deepEqual(
    specs(timers, () => "1000"),
    ["interval:ms:2", "profile:hz:1000"],
  );
  assert.deepEqual(
    specs(timers, () => "300"),
    ["interval:us:6666", "profile:hz:300"],
  );
  const unknown = (): Failure => new Failure(reason("it cannot be read"));
  assert.deepEqual(specs(timers, unknown), [
    "semantic error: timer.jiffies(2) is not supported: how long a jiffy is is not known: it cannot be read",
    "semantic error: timer.profile is not supported: how long a jiffy is is not known: it cannot be read",
  ]);
  assert.deepEqual(specs('probe begin { %( CONFIG_NUMA == "y" %? println(1) %) exit() }', unknown), [
    "parse error: whether `CONFIG_NUMA` is set is not known: it cannot be read",
  ]);
});

test("room for calls that have not returned is an option of kretprobes", () => {
  const { program, diagnostics } = read('probe kernel.function("vfs_read").return.maxactive(100) { exit() }');
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(
    program.probes.map(({ specs: [{ provider, options }] }) => [provider, options]),
    [["kretprobe", { maxactive: "100" }]],
  );
  assert.deepEqual(errors('probe kernel.function("vfs_read").maxactive(100) { exit() }'), [
    'semantic error: kernel.function("vfs_read").maxactive(100) is not supported: `.maxactive` counts calls that have not returned yet',
  ]);
});

test("regular expressions are read as POSIX's extended ones", () => {
  const written = (pattern: string): string | undefined => {
    const found = toPattern(pattern);
    return found instanceof Failure ? found.reason : found;
  };
  assert.equal(written("^a[]b\\]c*"), "^a[\\]b\\\\]c*");
  assert.equal(written("[^[:digit:]_]+(x|y){2,}\\."), "[^0-9_]+(x|y){2,}\\.");
  assert.equal(written("[abc"), "`[` has no `]`");
  assert.equal(written("[[:word:]]"), "there is no class [:word:]");
  assert.equal(written("\\d+(a)\\1\\."), "d+(a)1\\.");
  assert.equal(written("(?:a)"), "`?` repeats nothing");
  assert.equal(written("^*a"), "`*` repeats nothing");
  assert.equal(written("a*?b{2}{3}"), "(?:a*)?(?:b{2}){3}");
  assert.equal(written("((a)|[bc])+?d"), "(?:((a)|[bc])+)?d");
  assert.equal(written("a{,2}"), "`{` begins no number of times: `{2}`, `{2,}`, `{2,5}`");
  assert.equal(written("a\\"), "`\\` stands at the end");
  assert.equal(written("(a"), "it is not well-formed");
  assert.deepEqual(errors('probe begin { println("a" =~ "(a") }'), [
    'semantic error: regular expression "(a": it is not well-formed',
  ]);
});

test("any text gets a tree or a diagnostic", () => {
  const words =
    'probe begin { } ( ) [ ] global a b = + - ++ . * $x @count @1 $1 %( %? %: %) "s" 1 if else foreach in limit , ; function f return ~ timer.s(1) , ?'.split(
      " ",
    );
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 4 })), { maxLength: 40 }),
      (parts) => {
        const { program, diagnostics } = read(parts.join(" "));
        assert.ok(program.probes.length > 0 || diagnostics.length > 0 || program.probes.length === 0);
      },
    ),
    { numRuns: 2000 },
  );
});

test("behind a sufficient point the others of its list are wanted where it does not exist, in aliases too", () => {
  const specs = (script: string): string[] =>
    parse({ name: "s.stp", text: script }, { positional: [] }).program.probes.flatMap((probe) =>
      probe.specs.map(({ parts, optional, unless = [] }) =>
        [...parts, optional === true ? "optional" : "", ...unless.map((one) => `unless ${one.parts.join()}`)]
          .join(" ")
          .trim(),
      ),
    );
  assert.deepEqual(
    specs(
      `probe mine = kernel.function("a")!, kernel.function("b") { name = pp() } probe mine, kernel.function("c") { println(name) }`,
    ),
    ["a optional", "b  unless a", "c"],
  );
  assert.deepEqual(specs(`probe kernel.function("a")!, kernel.function("b")!, kernel.function("c") { println(1) }`), [
    "a optional",
    "b optional unless a",
    "c  unless a unless b",
  ]);
  // Aliases of returns are their own, not those of entries with a suffix.
  assert.ok(specs("probe vfs.*.return ? { println(name, bytes_read) }").includes("vfs_read optional"));
});
