import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import { printTree } from "../print-tree.ts";
import { formatItems } from "./format-items.ts";
import { format as formatWith } from "./format.ts";
import { render } from "../../../test/support/random-pieces.ts";
import { randomProgram } from "../../../test/support/random-programs.ts";
import { Random } from "../../../test/support/random.ts";
import { parse } from "./parse.ts";
import { spellingOf } from "../../providers/registry.ts";

const format = (source: Parameters<typeof formatWith>[0]): ReturnType<typeof formatWith> =>
  formatWith(source, spellingOf);

const fixtures = join(process.cwd(), "src/language/bpftrace/fixtures");
const tools = join(process.cwd(), "tools");
const read = (folder: string, name: string): { name: string; text: string } => ({
  name,
  text: readFileSync(join(folder, name), "utf8"),
});
/** What stands between quotes or fences in the documentation: scripts, and much else. */
const examples = readdirSync("docs")
  .filter((name) => name.endsWith(".md"))
  .flatMap((name) =>
    [...readFileSync(join("docs", name), "utf8").matchAll(/'([^']*\{[^']*)'|```\w*\n([^]*?)```/g)].map(
      ([, quoted, fenced]) => ({ name, text: quoted ?? fenced }),
    ),
  );
const scripts = [
  ...examples,
  ...readdirSync(tools)
    .filter((name) => name.endsWith(".bt"))
    .map((name) => read(tools, name)),
  ...readdirSync(fixtures)
    .filter((name) => name.endsWith(".bt"))
    .map((name) => read(fixtures, name)),
].filter((source) => format(source).text !== undefined);

function parsed(text: string): ReturnType<typeof parse> {
  return parse({ name: "script", text }, { positional: [], probes: spellingOf });
}

test("a script without any layout gets the house's", () => {
  const { text } = format(read(join(fixtures, "format"), "before.bt"));
  const golden = join(fixtures, "format", "after.bt");
  if (process.env["STROBE_UPDATE"] === "1") writeFileSync(golden, text ?? "");
  assert.equal(text, readFileSync(golden, "utf8"));
});

test("the tools are in the house's layout", () => {
  for (const source of scripts.filter(({ name }) => readdirSync(tools).includes(name))) {
    assert.equal(format(source).text, source.text, source.name);
  }
});

test("a script that does not parse is left alone", () => {
  const { text, diagnostics } = format({ name: "script", text: "begin { print(1 }" });
  assert.equal(text, undefined);
  assert.deepEqual(
    diagnostics.map(({ code, span }) => [code, span.start]),
    [["syntax", 16]],
  );
});

test("formatting what is formatted changes nothing, and loses neither comments nor meaning", () => {
  assert.ok(scripts.length >= 35, `${scripts.length} scripts`);
  for (const { text } of scripts) assertLaw(text);
});

test("operators that would be others without the space between them keep it", () => {
  const formatted = (expression: string): string | undefined =>
    format({ name: "script", text: `begin { @ = ${expression} }` }).text;
  assert.equal(formatted("- -$y"), "begin { @ = - -$y }\n");
  assert.equal(formatted("- -3"), "begin { @ = - -3 }\n");
  assert.equal(formatted("+ +3"), "begin { @ = + +3 }\n");
  assert.equal(formatted("- --$y"), "begin { @ = - --$y }\n");
  assert.equal(formatted("1 - - -3"), "begin { @ = 1 - - -3 }\n");
  assert.equal(formatted("& &$y"), "begin { @ = & &$y }\n");
  assert.equal(formatted("! -3"), "begin { @ = !-3 }\n");
  assert.equal(format({ name: "script", text: "begin / *$p == 1 / { }" }).text, "begin / *$p == 1/ {}\n");
});

test("a bracket that is closed nowhere is told", () => {
  const { text, diagnostics } = format({ name: "script", text: "begin { f(n!!!!}" });
  assert.equal(text, undefined);
  assert.deepEqual(
    diagnostics.map(({ severity }) => severity),
    ["error", "error"],
  );
});

test("a macro of another file is laid out as one of this", () => {
  assert.equal(format({ name: "script", text: "begin{print(   m!($x,1))}" }).text, "begin { print(m!($x, 1)) }\n");
});

test("random programs keep their trees, however they are spaced", () => {
  const random = new Random(8);
  for (let seed = 1; seed <= 300; seed++) {
    const text = render(randomProgram(seed).pieces);
    assertLaw(text);
    assertLaw(
      text.replaceAll(/"[^"]*"|[ \n]+/g, (space) =>
        space.startsWith('"') || random.chance(0.6)
          ? space
          : random.pick([" ", "\n", "\n\n\n", " /* c */ ", " // c\n"]),
      ),
    );
  }
});

test("tokens in any order that can be read keep their tree", () => {
  const random = new Random(20);
  let read = 0;
  for (let round = 0; round < 20_000; round++) {
    const tokens = Array.from(
      { length: random.between(1, 12) },
      () => random.pick(soup) + random.pick(["", " ", "\n"]),
    );
    const text = `begin { ${random.chance(0.5) ? "$x = " : ""}${tokens.join("")} }`;
    if (format({ name: "script", text }).text === undefined) continue;
    read++;
    assertLaw(text);
  }
  assert.ok(read > 500, `${read} could be read`);
});

const soup = [
  "-",
  "-",
  "+",
  "++",
  "--",
  "!",
  "~",
  "*",
  "&",
  "&&",
  "(",
  ")",
  "{",
  "}",
  "[",
  "]",
  "$x",
  "$y",
  "@",
  "@a",
  "@a[1]",
  ";",
  ":",
  "?",
  ",",
  "=",
  "+=",
  "<",
  "<<",
  "/",
  "%",
  "..",
  ".",
  ".0",
  ".a",
  "->b",
  "1",
  "0x10",
  '"s"',
  "pid",
  "count()",
  "if",
  "else",
  "while",
  "for",
  "unroll",
  "return",
  "let",
  "struct A",
  "(struct A *)",
  "uint8",
  "(uint8)",
  "(a)",
  "int8[4]",
  "sizeof(",
  "typeof(",
  "\n#define A 1\n",
  "\n#if 1\n",
  "\n#endif\n",
  "A",
  "m!",
  "// c\n",
  "/* c */",
  "/* a\n  b */",
];

/** What formatting must keep: the tree, each comment and directive, and what is formatted already. */
function assertLaw(text: string): void {
  const once = format({ name: "script", text }).text;
  assert.ok(once !== undefined, text);
  assert.equal(format({ name: "script", text: once }).text, once, text);
  assert.equal(tree(once), tree(text), text);
  assert.deepEqual(comments(once), comments(text), text);
}

/** Nameless structs are named after their place. */
function tree(text: string): string {
  return printTree(parsed(text).program).replaceAll(/anonymous at \d+/g, "anonymous");
}

/** Comments and directives, without the white space in them. */
function comments(text: string): string[] {
  const specs = parsed(text).program.probes.flatMap((probe) => probe.specs.map((spec) => spec.span));
  return formatItems(text, specs)
    .filter(({ kind }) => kind === "line-comment" || kind === "block-comment" || kind === "directive")
    .map((item) => item.text.replaceAll(/\s+/g, " "));
}

test("however a script was spaced, its layout has the same tree and stays as it is", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...scripts),
      fc.infiniteStream(fc.constantFrom("", "", " ", "  ", "\n", "\n\n\n", "\t")),
      ({ text }, spaces) => {
        const specs = parsed(text).program.probes.flatMap((probe) => probe.specs.map((spec) => spec.span));
        let at = 0;
        let spaced = "";
        let previous = "";
        for (const item of formatItems(text, specs)) {
          const start = text.indexOf(item.text, at);
          const kept = text.slice(at, start);
          // White space may only grow where it is free: not in or around directives, probe specs and ends of line
          // comments.
          const free =
            ["word", "punctuation"].includes(item.kind) && ["word", "punctuation"].includes(previous) && kept !== "";
          spaced += free ? kept + (spaces.next().value ?? "") : kept;
          spaced += item.text;
          at = start + item.text.length;
          previous = item.kind;
        }
        const once = format({ name: "script", text: spaced }).text ?? "";
        assert.equal(tree(once), tree(text));
        assert.equal(format({ name: "script", text: once }).text, once);
      },
    ),
    { numRuns: 300 },
  );
});
