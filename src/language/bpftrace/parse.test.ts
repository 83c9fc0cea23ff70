import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import { cpuSeconds } from "../../../test/support/cpu-time.ts";
import type { Expression } from "../program.ts";
import { printTree } from "../print-tree.ts";
import { renderDiagnostic } from "../render-diagnostic.ts";
import { parse, type ParseOptions } from "./parse.ts";
import { spellingOf } from "../../providers/registry.ts";

const folder = join(process.cwd(), "src/language/bpftrace/fixtures");
const options: ParseOptions = {
  positional: ["100", "hello"],
  named: new Map([["n", "many"]]),
  probes: spellingOf,
};

function read(text: string, overrides: Partial<ParseOptions> = {}): ReturnType<typeof parse> {
  return parse({ name: "script.bt", text }, { ...options, ...overrides });
}

function messages(text: string): string[] {
  return read(text).diagnostics.map((d) => `${d.severity} ${d.span.start}-${d.span.end}: ${d.message}`);
}

/** The value of the only statement in `begin { $x = … }`. */
function value(text: string, overrides: Partial<ParseOptions> = {}): Expression {
  const { program, diagnostics } = read(`begin { $x = ${text}; }`, overrides);
  assert.deepEqual(
    diagnostics.filter((d) => d.severity === "error"),
    [],
  );
  const statement = program.probes[0].body.statements[0];
  assert.ok(statement.kind === "assign");
  return statement.value;
}

/** Compares with a golden file; STROBE_UPDATE=1 rewrites it. `undefined`: there must be none. */
function golden(path: string, text: string | undefined): void {
  if (process.env["STROBE_UPDATE"] === "1") {
    if (text === undefined) rmSync(path, { force: true });
    else writeFileSync(path, text);
  }
  assert.equal(text, existsSync(path) ? readFileSync(path, "utf8") : undefined);
}

for (const file of readdirSync(folder)
  .filter((name) => name.endsWith(".bt"))
  .sort()) {
  test(`fixture ${file}`, () => {
    const source = { name: file, text: readFileSync(join(folder, file), "utf8") };
    const { program, diagnostics } = parse(source, options);
    const stem = join(folder, file.slice(0, -3));
    golden(`${stem}.tree`, diagnostics.some((d) => d.severity === "error") ? undefined : printTree(program));
    golden(
      `${stem}.diagnostics`,
      diagnostics.length === 0
        ? undefined
        : diagnostics.map((d) => renderDiagnostic(source, d, { color: false })).join("\n"),
    );
  });
}

test("spans are those of the text as written, directives and all", () => {
  const text = "#!/usr/bin/strobe\n#define N 3\nbegin { print(N + pid) }";
  const { program, diagnostics } = read(text);
  assert.deepEqual(diagnostics, []);
  const statement = program.probes[0].body.statements[0];
  assert.equal(text.slice(statement.span.start, statement.span.end), "print(N + pid)");
});

test("options from the command line become literals", () => {
  const named = new Map<string, string | true>([
    ["count", "-5"],
    ["name", "bash"],
    ["verbose", true],
    ["quiet", "false"],
  ]);
  const literal = (text: string): string | bigint | boolean => {
    const e = value(text, { named });
    assert.ok(e.kind === "integer" || e.kind === "string" || e.kind === "boolean", e.kind);
    return e.value;
  };
  assert.equal(
    printTree(read('begin { print(getopt("count", 1)) }', { named }).program),
    "(probe begin\n  (print (- 5)))\n",
  );
  assert.equal(literal('getopt("name", "x")'), "bash");
  assert.equal(literal('getopt("other", "x", "what it is for")'), "x");
  assert.equal(literal('getopt("verbose")'), true);
  assert.equal(literal('getopt("quiet", true)'), false);
  assert.equal(literal("$1"), 100n);
  assert.equal(literal("$2"), "hello");
  assert.equal(literal("$#"), 2n);
  assert.equal(literal("str($1)"), "100");
  assert.deepEqual(messages("begin { print($3) }"), ['warning 14-16: missing positional parameter $3: it is 0 or ""']);
});

test("several mistakes are reported in one run, and the rest of the script is read", () => {
  const { program, diagnostics } = read("begin { $a = 1 + ; print(1 }\nkprobe:f { $b = ; exit(); }\nend { }");
  assert.deepEqual(
    diagnostics.map((d) => d.message),
    [
      "expected an expression, found `;`",
      "expected `)` after the arguments of `print`, found `}`",
      "expected an expression, found `;`",
    ],
  );
  assert.deepEqual(
    program.probes.map((p) => p.specs[0].text),
    ["begin", "kprobe:f", "end"],
  );
});

test("lists of lines are of one probe, and paths of files are no predicates", () => {
  const specs = (text: string): readonly (readonly string[])[] =>
    read(text).program.probes.flatMap((probe) => probe.specs.map(({ provider, parts }) => [provider, ...parts]));
  assert.deepEqual(specs("uprobe:./a@net/f.c:10,20,30-35, kprobe@fs/*.c:3,4 { }"), [
    ["uprobe", "./a@net/f.c", "10,20,30-35"],
    ["kprobe", "@fs/*.c", "3,4"],
  ]);
  assert.deepEqual(specs("uprobe:./a:ns::f@net/f.c:+1,+2-3,begin { }"), [
    ["uprobe", "./a", "ns", "", "f@net/f.c", "+1,+2-3"],
    ["begin"],
  ]);
  assert.deepEqual(specs("kprobe:tun@net/tun.c:1/pid == 1/ { }"), [["kprobe", "tun@net/tun.c", "1"]]);
  assert.deepEqual(specs("kprobe:tun:f@net/tun.c:* { }"), [["kprobe", "tun", "f@net/tun.c", "*"]]);
  assert.deepEqual(specs("uprobe:libc:f@GLIBC_2/arg0/ { }"), [["uprobe", "libc", "f@GLIBC_2"]]);
});

test("a missing brace is found at the next probe", () => {
  assert.deepEqual(messages("begin {\n  print(1);\nkprobe:f { }\n"), [
    "error 20-26: expected `}` at the end of the probe, before this probe",
  ]);
});

test("macros that double at every level, and any nesting, end in a diagnostic", () => {
  const doubling = Array.from({ length: 40 }, (_, i) => `#define A${i + 1} (A${i}, A${i})\n`).join("");
  assert.match(messages(`#define A0 1\n${doubling}begin { print(A40) }`).join("\n"), /expand to too much/);
  const macros = Array.from({ length: 40 }, (_, i) => `macro m${i + 1}(x) { (m${i}(x), m${i}(x)) }\n`).join("");
  assert.match(messages(`macro m0(x) { x }\n${macros}begin { print(m30(1)) }`).join("\n"), /expand to too much/);
  for (const piece of [
    "(",
    "{",
    "[",
    "!",
    "-",
    "if (",
    "a[",
    "(a)",
    "@[",
    "f(",
    "1 ? ",
    "1 ? 2 : ",
    "x.",
    "1+",
    "if 1 {} else ",
  ]) {
    const { program, diagnostics } = read(`begin { ${piece.repeat(20_000)}`);
    assert.ok(diagnostics.length > 0, piece);
    printTree(program);
  }
});

test("arbitrary text gives diagnostics with sound spans, never a crash", () => {
  const words = [
    "begin",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    "$x",
    "@m",
    "@",
    "=",
    "+=",
    "++",
    "/",
    "*",
    "/*",
    "*/",
    "//",
    "\n",
    " ",
    '"',
    "'",
    "\\",
    "#define A ",
    "#if",
    "#else\n",
    "#endif\n",
    "A",
    "struct",
    "S",
    "int",
    "kprobe:f",
    "uprobe:/bin/*:f",
    ",",
    ":",
    "1",
    "0x",
    "1e9",
    "..",
    "...",
    ".",
    "->",
    "if",
    "else",
    "for",
    "while",
    "unroll",
    "macro m(x)",
    "m(",
    "m!",
    "fn f",
    "let",
    "config",
    "enum",
    "typedef",
    "sizeof(",
    "offsetof(",
    "typeof(",
    "$1",
    "$#",
    "str(",
    "count()",
    "return",
    "\0",
    "é",
    "😀",
    "\ud800",
  ];
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 80 }),
    fc.array(fc.constantFrom(...words), { maxLength: 60 }).map((list) => list.join("")),
    fc.array(fc.constantFrom(...words), { maxLength: 60 }).map((list) => list.join(" ")),
  );
  fc.assert(
    fc.property(text, (script) => {
      const source = { name: "fuzz", text: script };
      const { program, diagnostics } = parse(source, options);
      for (const d of diagnostics) {
        assert.ok(
          0 <= d.span.start && d.span.start <= d.span.end && d.span.end <= script.length,
          `${d.message} ${d.span.start}-${d.span.end}`,
        );
        renderDiagnostic(source, d, { color: true });
      }
      printTree(program);
    }),
    { numRuns: 3000 },
  );
});

test("time grows with the text, not with its square", () => {
  const pieces = [
    "/*\n#\n",
    "#if 0\n",
    "uprobe:/*",
    "begin { print(1) }\n",
    "(a*",
    "$1 ",
    '"',
    "struct S { int x; ",
    "macro m(x) { m(",
    "a:b,",
    "/",
    "@m[",
    "'",
  ];
  for (const piece of pieces) {
    const seconds = cpuSeconds(() => void read(piece.repeat(Math.ceil(400_000 / piece.length))));
    assert.ok(seconds < 10, `${JSON.stringify(piece)} took ${seconds} s`);
  }
});
