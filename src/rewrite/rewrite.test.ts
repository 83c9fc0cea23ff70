// The rewriter, before and after, and that it leaves everything else as it is.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { parse } from "acorn";
import { cpuSeconds } from "../../test/support/cpu-time.ts";
import { ScriptError } from "../language/diagnostic.ts";
import { renderDiagnostic } from "../language/render-diagnostic.ts";
import { rewriteModule, type RewriteOptions } from "./rewrite.ts";
import { stripTypes } from "./strip.ts";

const head = 'import { withCaptures as __strobe } from "strobe"; ';

/** The text rewritten, with `PLACE` for each place; the text itself when nothing is to be done. */
function rewritten(text: string, options?: RewriteOptions): string {
  const result = rewriteModule({ file: "a.ts", text, javascript: stripTypes("a.ts", text) }, options);
  if (!result) return text;
  assert.equal(result.code.split("\n").length, text.split("\n").length, "lines keep their numbers");
  if (options?.into !== "text")
    parse(result.code, { ecmaVersion: "latest", sourceType: "module", allowHashBang: true });
  return result.code.replace(/\{ file: "a\.ts".*?code: "(?:[^"\\]|\\.)*" \}/g, "PLACE");
}

/** What is behind the imports, rewritten; the imports are those of most programs. */
function body(text: string): string {
  const imports = 'import { tracepoint, map, comm, pid } from "strobe";\n';
  return rewritten(imports + text)
    .replace(head, "")
    .replace(imports, "");
}

const cases: Record<string, readonly [before: string, after: string]> = {
  "an arrow function": [
    'const bytes = map();\ntracepoint("x", (args) => { bytes.at(comm).hist(args.ret); });',
    'const bytes = map();\ntracepoint("x", __strobe((args) => { bytes.at(comm).hist(args.ret); }, () => ({ bytes, comm }), PLACE));',
  ],
  "nothing captured": [
    'tracepoint("x", (args) => args.ret);',
    'tracepoint("x", __strobe((args) => args.ret, () => ({}), PLACE));',
  ],
  "globals are no captures": [
    'tracepoint("x", () => { console.log(pid, Math.max(1, undefined)); });',
    'tracepoint("x", __strobe(() => { console.log(pid, Math.max(1, undefined)); }, () => ({ pid }), PLACE));',
  ],
  "a name that is shadowed": [
    'tracepoint("x", ({ pid }) => { const comm = pid; { let map = comm; } });',
    'tracepoint("x", __strobe(({ pid }) => { const comm = pid; { let map = comm; } }, () => ({}), PLACE));',
  ],
  "a name that is shadowed in a block only": [
    'tracepoint("x", () => { if (1) { const pid = 1; } return pid; });',
    'tracepoint("x", __strobe(() => { if (1) { const pid = 1; } return pid; }, () => ({ pid }), PLACE));',
  ],
  "var is hoisted out of blocks": [
    'tracepoint("x", () => { if (1) { var pid = 1; } return pid; });',
    'tracepoint("x", __strobe(() => { if (1) { var pid = 1; } return pid; }, () => ({}), PLACE));',
  ],
  "defaults see no variables of the body": [
    'tracepoint("x", (a = pid) => { var pid = 1; return a; });',
    'tracepoint("x", __strobe((a = pid) => { var pid = 1; return a; }, () => ({ pid }), PLACE));',
  ],
  "defaults and computed keys in patterns": [
    'const k = "a";\ntracepoint("x", ({ [k]: a = comm, b: { c: pid }, ...rest }) => { [a, pid] = rest; });',
    'const k = "a";\ntracepoint("x", __strobe(({ [k]: a = comm, b: { c: pid }, ...rest }) => { [a, pid] = rest; }, () => ({ k, comm }), PLACE));',
  ],
  "keys, members and labels are no names": [
    'tracepoint("x", (a) => { pid: for (;;) { a.comm.map({ map: 1, comm }); break pid; } });',
    'tracepoint("x", __strobe((a) => { pid: for (;;) { a.comm.map({ map: 1, comm }); break pid; } }, () => ({ comm }), PLACE));',
  ],
  "loop variables are the loop's": [
    'tracepoint("x", (m) => { for (const pid of m) pid; for (let comm = 0; comm < 1; comm++); return pid; });',
    'tracepoint("x", __strobe((m) => { for (const pid of m) pid; for (let comm = 0; comm < 1; comm++); return pid; }, () => ({ pid }), PLACE));',
  ],
  "what is defined further down": [
    'tracepoint("x", () => limit);\nconst limit = 3;',
    'tracepoint("x", __strobe(() => limit, () => ({ limit }), PLACE));\nconst limit = 3;',
  ],
  "what a function around it declares": [
    'for (const event of ["a"]) { const n = 1; tracepoint(event, () => n + event.length); }',
    'for (const event of ["a"]) { const n = 1; tracepoint(event, __strobe(() => n + event.length, () => ({ n, event }), PLACE)); }',
  ],
  "a function expression, and its own name": [
    'tracepoint("x", function me(args) { return me; });',
    'tracepoint("x", __strobe(function me(args) { return me; }, () => ({}), PLACE));',
  ],
  "a handler by its name keeps that name": [
    'const onRead = (args) => pid;\ntracepoint("x", onRead);',
    'const onRead = __strobe({ onRead: (args) => pid }.onRead, () => ({ pid }), PLACE);\ntracepoint("x", onRead);',
  ],
  "options with functions": [
    'tracepoint("x", { filter: (a) => pid, "n-m": (a) => a, handler(a) { return comm; } });',
    'tracepoint("x", { filter: __strobe({ filter: (a) => pid }.filter, () => ({ pid }), PLACE), ' +
      '"n-m": __strobe({ "n-m": (a) => a }["n-m"], () => ({}), PLACE), ' +
      "handler: __strobe({ handler(a) { return comm; } }.handler, () => ({ comm }), PLACE) });",
  ],
  "either of two": [
    'tracepoint("x", pid ? (a) => a : undefined ?? ((b) => b));',
    'tracepoint("x", pid ? __strobe((a) => a, () => ({}), PLACE) : undefined ?? (__strobe((b) => b, () => ({}), PLACE)));',
  ],
  "an object of handlers": [
    'const on = { read: (a) => pid, write: (a) => comm };\ntracepoint("x", on.read);\nconst { write } = on;\ntracepoint("y", write);',
    "const on = { read: __strobe({ read: (a) => pid }.read, () => ({ pid }), PLACE), " +
      'write: __strobe({ write: (a) => comm }.write, () => ({ comm }), PLACE) };\ntracepoint("x", on.read);\nconst { write } = on;\ntracepoint("y", write);',
  ],
  "a function that makes handlers": [
    'const count = (m) => (args) => { m.at(pid).count(); };\ntracepoint("x", count(map()));',
    'const count = (m) => __strobe((args) => { m.at(pid).count(); }, () => ({ m, pid }), PLACE);\ntracepoint("x", count(map()));',
  ],
  "a function that makes probes": [
    'function both(name, handler, ...more) { return [tracepoint(`enter_${name}`, handler), ...more.map((one) => one)]; }\nboth("x", (a) => pid, (b) => b);',
    "function both(name, handler, ...more) { return [tracepoint(`enter_${name}`, handler), ...more.map((one) => one)]; }\n" +
      'both("x", __strobe((a) => pid, () => ({ pid }), PLACE), (b) => b);',
  ],
  "two handlers that end together": [
    'tracepoint("x", (a) => tracepoint("y", (b) => pid));',
    'tracepoint("x", __strobe((a) => tracepoint("y", __strobe((b) => pid, () => ({ pid }), PLACE)), () => ({ tracepoint, pid }), PLACE));',
  ],
  "what a function in a block declares": [
    '{\n  tracepoint("x", on);\n  function on() { return pid; }\n}',
    '{ __strobe(on, () => ({ pid }), PLACE);\n  tracepoint("x", on);\n  function on() { return pid; }\n}',
  ],
  "directives stay directives": [
    'function main() { "use strict"\n  tracepoint("x", on);\n  function on() { return pid; }\n}',
    'function main() { "use strict"; __strobe(on, () => ({ pid }), PLACE);\n  tracepoint("x", on);\n  function on() { return pid; }\n}',
  ],
  "a case has no start of its own": [
    'switch (1) { case 1: function on() { return pid; } tracepoint("x", on); }',
    'switch (1) { case 1: function on() { return pid; } __strobe(on, () => ({ pid }), PLACE); tracepoint("x", on); }',
  ],
  classes: [
    'class A { static #n = 1; p = tracepoint("x", () => A); m(pid) { tracepoint("y", () => pid); } static { tracepoint("z", () => comm); } }',
    'class A { static #n = 1; p = tracepoint("x", __strobe(() => A, () => ({ A }), PLACE)); m(pid) { tracepoint("y", ' +
      '__strobe(() => pid, () => ({ pid }), PLACE)); } static { tracepoint("z", __strobe(() => comm, () => ({ comm }), PLACE)); } }',
  ],
  "captures that are given by hand": [
    'import { withCaptures } from "strobe";\ntracepoint("x", withCaptures((a) => pid, () => ({ pid })));',
    'import { withCaptures } from "strobe";\ntracepoint("x", withCaptures((a) => pid, () => ({ pid })));',
  ],
  "functions of one's own with a name of the library's": [
    'function f(tracepoint) { tracepoint("x", (a) => pid); }',
    'function f(tracepoint) { tracepoint("x", (a) => pid); }',
  ],
  "the default export": [
    "export default function (x) { return pid + x; }\n(1);",
    "export default __strobe(function (x) { return pid + x; }, () => ({ pid }), PLACE);\n(1);",
  ],
  "exports that are no handlers": [
    "export async function main() { return pid; }\nexport const n = 1;\nexport { comm as name };",
    "export async function main() { return pid; }\nexport const n = 1;\nexport { comm as name };",
  ],
};

for (const [name, [before, after]] of Object.entries(cases)) test(name, () => assert.equal(body(before), after));

test("functions that handlers name are wrapped before the first statement, and what those name", () => {
  const text =
    'import { tracepoint } from "strobe";\ntracepoint("x", (a) => big(a));\nfunction big(a) { return a > limit && odd(a); }\n' +
    "const limit = 1, odd = (a) => a & 1;\nfunction other() {}\n";
  assert.equal(
    rewritten(text),
    `${head}__strobe(big, () => ({ limit, odd }), PLACE); import { tracepoint } from "strobe";\n` +
      'tracepoint("x", __strobe((a) => big(a), () => ({ big }), PLACE));\nfunction big(a) { return a > limit && odd(a); }\n' +
      "const limit = 1, odd = __strobe({ odd: (a) => a & 1 }.odd, () => ({}), PLACE);\nfunction other() {}\n",
  );
});

test("what is exported may be named by another module's handlers", () => {
  const text =
    'import { comm } from "strobe";\nexport function own(a) { return a === comm; }\nexport const one = () => 1;\nfunction two() {}\nexport { two as deux };';
  assert.equal(
    rewritten(text),
    `${head}__strobe(own, () => ({ comm }), PLACE); __strobe(two, () => ({}), PLACE); import { comm } from "strobe";\n` +
      "export function own(a) { return a === comm; }\nexport const one = __strobe({ one: () => 1 }.one, () => ({}), PLACE);\nfunction two() {}\nexport { two as deux };",
  );
});

test("the library under other names", () => {
  const wrapped = "__strobe(() => 1, () => ({}), PLACE)";
  for (const [before, call] of [
    ['import { tracepoint as tp } from "strobe";', "tp"],
    ['import * as s from "strobe";', "s.tracepoint"],
    ['import * as s from "strobe";', 's["tracepoint"]'],
    ['import * as s from "strobe"; const { tracepoint: tp } = s;', "tp"],
    ['import { tracepoint } from "strobe"; const tp = tracepoint;', "tp"],
    ['const s = await import("strobe");', "s.tracepoint"],
    ['const { tracepoint: tp } = await import("strobe");', "tp"],
  ])
    assert.equal(rewritten(`${before} ${call}("x", () => 1);`), `${head}${before} ${call}("x", ${wrapped});`);
  for (const before of ['const s = require("strobe");', "'use strict'\nconst s = require(\"strobe\");"]) {
    assert.equal(
      rewritten(`${before} s.tracepoint("x", () => 1);`).replace(
        /;?const \{ withCaptures: __strobe \} = require\("strobe"\); /,
        "",
      ),
      `${before} s.tracepoint("x", ${wrapped});`,
    );
  }
  assert.equal(
    rewritten('import { tracepoint } from "other"; tracepoint("x", () => 1);'),
    'import { tracepoint } from "other"; tracepoint("x", () => 1);',
  );
});

test("names that come by way of another module", () => {
  const names = (specifier: string) => (specifier === "./probes.ts" ? new Set(["tp"]) : undefined);
  const text = 'import { tp, other } from "./probes.ts"; tp("x", () => 1); other("x", () => 1);';
  assert.equal(
    rewritten(text, { names }),
    `${head}import { tp, other } from "./probes.ts"; tp("x", __strobe(() => 1, () => ({}), PLACE)); other("x", () => 1);`,
  );
});

test("types are blanked, or stay for who knows them", () => {
  const text =
    'import { tracepoint, type Args } from "strobe";\ntracepoint<"x">("x", async <T extends Args>(args: T): number => args.ret as number);\n' +
    'tracepoint("y", <T,>(args: T) => (args satisfies T));\n';
  assert.equal(
    rewritten(text, { into: "text" }),
    `${head}import { tracepoint, type Args } from "strobe";\n` +
      'tracepoint<"x">("x", __strobe(async <T extends Args>(args: T): number => args.ret, () => ({}), PLACE) as number);\n' +
      'tracepoint("y", __strobe(<T,>(args: T) => (args satisfies T), () => ({}), PLACE));\n',
  );
  assert.equal(
    rewritten(text),
    `${head}${stripTypes("a.ts", text)
      .replace(/async .* => args\.ret/, (arrow) => `__strobe(${arrow}, () => ({}), PLACE)`)
      .replace("(args   ) => (args            )", "__strobe((args   ) => (args            ), () => ({}), PLACE)")}`,
  );
});

test("the place of a function is its lines, with its types, where they are in the file", () => {
  const text =
    '#!/usr/bin/env strobe\nimport { tracepoint } from "strobe";\n\ntracepoint("é😀", (args: any) => {\n  return args.ret;\n}); // after\nnext();\n';
  const { code } = rewriteModule({ file: "dir/a.ts", text, javascript: stripTypes("a.ts", text) }) ?? { code: "" };
  assert.ok(code.startsWith('#!/usr/bin/env strobe\nimport { withCaptures as __strobe } from "strobe"; import'));
  const [literal] = /\{ file: .* \}(?=\)\); \/\/ after)/.exec(code) ?? ["undefined"];
  const place = runInNewContext(`(${literal})`) as { file: string; text: string; offset: number; code: string };
  assert.equal(place.file, "dir/a.ts");
  assert.equal(place.text, '\n\n\ntracepoint("é😀", (args: any) => {\n  return args.ret;\n}); // after');
  assert.equal(
    place.text.slice(place.offset, place.offset + place.code.length),
    "(args: any) => {\n  return args.ret;\n}",
  );
  assert.equal(place.code, "(args     ) => {\n  return args.ret;\n}");
});

test("the source map leads back to the column", () => {
  const text = 'import { tracepoint, pid } from "strobe";\ntracepoint("x", () => pid); other();\n';
  const result = rewriteModule({ file: "a.js", text });
  assert.ok(result);
  const map = JSON.parse(result.map()) as {
    version: number;
    sources: string[];
    sourcesContent: string[];
    mappings: string;
  };
  assert.deepEqual([map.version, map.sources, map.sourcesContent], [3, ["a.js"], [text]]);
  const column = result.code.split("\n")[1].lastIndexOf("other");
  assert.equal(originalColumn(map.mappings, 1, column), text.split("\n")[1].indexOf("other"));
});

/** Reads a source map as far as this test needs it: the column that the last mapping at or before a column names. */
function originalColumn(mappings: string, line: number, column: number): number {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  let source = 0;
  let found = -1;
  mappings.split(";").forEach((segments, at) => {
    let generated = 0;
    for (const segment of segments.split(",").filter((one) => one !== "")) {
      const fields: number[] = [];
      let value = 0;
      let shift = 0;
      for (const letter of segment) {
        const digit = digits.indexOf(letter);
        value += (digit & 31) << shift;
        shift += 5;
        if (digit & 32) continue;
        fields.push(value & 1 ? -(value >> 1) : value >> 1);
        value = shift = 0;
      }
      generated += fields[0];
      source += fields[3] ?? 0;
      if (at === line && generated <= column) found = source + column - generated;
    }
  });
  return found;
}

test("programs that do not import the library are left as they are", () => {
  const files = ["src/language/bpftrace", "src/session", "src/output", "test/support"].flatMap((folder) =>
    readdirSync(folder)
      .map((name) => join(folder, name))
      .filter((name) => /\.m?ts$/.test(name)),
  );
  assert.ok(files.length > 50);
  for (const file of files) {
    const text = readFileSync(file, "utf8");
    assert.equal(rewriteModule({ file, text, javascript: stripTypes(file, text) }), undefined, file);
  }
});

test("what is no JavaScript is left to who runs it", () => {
  for (const text of ["const x = ;", "tracepoint(", "\0", `${"(".repeat(50_000)}${")".repeat(50_000)}`]) {
    assert.equal(rewriteModule({ file: "a.js", text: `import "strobe"; ${text}` }), undefined);
  }
});

test("a program of many handlers is rewritten in time that grows with its length", () => {
  const text =
    'import { tracepoint, pid } from "strobe";\n' +
    'tracepoint("x", (args) => { const a = args.b + pid; return a; });\n'.repeat(5000);
  const seconds = cpuSeconds(() => {
    const { code } = rewriteModule({ file: "a.js", text }) ?? { code: "" };
    assert.equal(code.split("__strobe((args)").length - 1, 5000);
  });
  assert.ok(seconds < 20, `${seconds} s`);
});

test("what is more than types is found in a long line in time that grows with its length", () => {
  const types = "type A = 1; ".repeat(400);
  const seconds = cpuSeconds(() => {
    assert.throws(
      () => stripTypes("a.ts", `let a = 1;\n${types}enum E { A } ${"enum E { A } ".repeat(3000)}`),
      (error) => {
        assert.ok(error instanceof ScriptError);
        const { message, span } = error.diagnostics[0];
        assert.deepEqual(
          [message, span],
          [
            "TypeScript's enum is more than a type, and only types are stripped",
            { start: 11 + types.length, end: 11 + types.length + 12 },
          ],
        );
        return true;
      },
    );
  });
  assert.ok(seconds < 20, `${seconds} s`);
});

test("a long line is stripped as it is written", () => {
  const kept =
    'const s = "a; enum A { }, b", t = `x; ${ 1 } enum B { C }`, r = /[;{] x/; return_(s, t, r); /* ; enum D { } */';
  const long = `let a: number = 1; ${"f({ b: 2, c: 3 }); ".repeat(300)}${kept} // a; enum A { B }\n`;
  assert.equal(stripTypes("a.ts", long), long.replace(": number", "        "));
  const wrong = `${long.trimEnd()}\n${"f({ b: 2 }); ".repeat(400)}const x = ;\n`;
  assert.throws(
    () => stripTypes("a.ts", wrong),
    (error) =>
      error instanceof ScriptError &&
      error.diagnostics[0].message === "expression expected" &&
      error.diagnostics[0].span.start === wrong.lastIndexOf(";"),
  );
});

test("what is more than types is refused where it stands, and so is what does not parse", () => {
  const refusal = (text: string): string => {
    try {
      stripTypes("a.ts", text);
    } catch (error) {
      if (error instanceof ScriptError)
        return error.diagnostics.map((d) => renderDiagnostic(error.source, d, { color: false })).join("");
    }
    return "";
  };
  assert.equal(
    refusal("let a = 1;\n  enum A { B }\n"),
    `a.ts:2:3: error: TypeScript's enum is more than a type, and only types are stripped
 2 │   enum A { B }
   │   ^^^^^^^^^^^^
help: write it in JavaScript (an object of constants, fields, modules), or compile the file before (tsx, esbuild)
`,
  );
  assert.equal(refusal("const x = ;\n"), "a.ts:1:11: error: expression expected\n 1 │ const x = ;\n   │           ^\n");
});
