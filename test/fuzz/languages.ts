// What people write: scripts, handlers in TypeScript, formats, headers, options.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InternalError } from "../../src/base/internal-error.ts";
import { compile } from "../../src/compiler/compile.ts";
import { madeUpSystem, resolveMadeUp } from "../support/made-up-system.ts";
import { conditionValue } from "../../src/language/bpftrace/conditions.ts";
import { format } from "../../src/language/bpftrace/format.ts";
import { parse } from "../../src/language/bpftrace/parse.ts";
import { bpftrace } from "../../src/language/bpftrace/language.ts";
import { builtinsFor } from "../../src/language/builtins/table.ts";
import { typescriptRules } from "../../src/language/typescript/rules.ts";
import { ScriptError } from "../../src/language/diagnostic.ts";
import { renderDiagnostic } from "../../src/language/render-diagnostic.ts";
import type { ProbeSpec } from "../../src/language/probe-spec.ts";
import { parsePrintf, PrintfError } from "../../src/language/printf.ts";
import { printTree } from "../../src/language/print-tree.ts";
import type { Binding, FunctionSource } from "../../src/language/typescript/binding.ts";
import { parseProbes } from "../../src/language/typescript/parse.ts";
import { casts, specialNames } from "../../src/language/typescript/specials.ts";
import { withImports } from "../../src/cli/imports.ts";
import { readOptions } from "../../src/cli/options.ts";
import { UsageError } from "../../src/cli/usage-error.ts";
import { strftime } from "../../src/output/strftime.ts";
import type { Resolution } from "../../src/providers/provider.ts";
import { matcher } from "../../src/machine/wildcard.ts";
import { rewriteModule } from "../../src/rewrite/rewrite.ts";
import { stripTypes } from "../../src/rewrite/strip.ts";
import { handlerSeeds, headerSeeds, moduleSeeds, scriptSeeds, texts } from "./seeds.ts";
import type { Target } from "./target.ts";
import { spellingOf } from "../../src/providers/registry.ts";

/** Where imported files are written; it goes with the process. */
let importFolder: string | undefined;

function folderOfImports(): string {
  if (importFolder !== undefined) return importFolder;
  const folder = mkdtempSync(join(tmpdir(), "strobe-fuzz-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return (importFolder = folder);
}

/** Kinds of probes that the made-up machine does not have are functions there. */
const resolve = (spec: ProbeSpec): Resolution => {
  const found = resolveMadeUp(spec);
  return found.variants[0].context === undefined ? resolveMadeUp({ ...spec, provider: "kprobe" }) : found;
};
const resolved = { resolve, unsafe: true, env: {} };

/** Parses, checks and compiles, kernel programs and host programs alike; whatever is said is rendered. */
function compiled(text: string, parts?: readonly { readonly name: string; readonly start: number }[]): void {
  const source = { name: "script.bt", text, ...(parts === undefined ? {} : { parts }) };
  const { program, diagnostics } = parse(source, {
    positional: ["1", "two", ""],
    named: new Map([["a", "1"]]),
    probes: spellingOf,
  });
  for (const one of diagnostics) renderDiagnostic(source, one, { color: false });
  if (diagnostics.some(({ severity }) => severity === "error")) return;
  for (const one of compile(program, madeUpSystem, resolved).diagnostics)
    renderDiagnostic(source, one, { color: false });
}

const scriptWords = [
  "begin",
  "end",
  "kprobe:f",
  "tracepoint:a:b",
  "interval:s:1",
  "{",
  "}",
  "(",
  ")",
  "[",
  "]",
  ";",
  ",",
  ":",
  "?",
  ".",
  "->",
  "..",
  "=",
  "==",
  "!=",
  "<",
  "<=",
  ">",
  ">=",
  "+",
  "-",
  "*",
  "/",
  "%",
  "&",
  "|",
  "^",
  "<<",
  ">>",
  "&&",
  "||",
  "!",
  "~",
  "++",
  "--",
  "+=",
  "<<=",
  "$x",
  "$y",
  "$1",
  "$#",
  "@",
  "@a",
  "@a[1]",
  "@b[pid, comm]",
  "pid",
  "comm",
  "nsecs",
  "arg0",
  "args",
  "args.filename",
  "ctx",
  "kstack",
  "ustack",
  "func",
  "probe",
  "retval",
  "cpu",
  "elapsed",
  "jiffies",
  '"text"',
  '"%d %s\\n"',
  "0",
  "1",
  "0xffffffff",
  "1e9",
  "5s",
  "true",
  "false",
  "if",
  "else",
  "while",
  "for",
  "unroll(5)",
  "return",
  "break",
  "continue",
  "let",
  "fn f($x : int64) : int64 { return $x; }",
  "macro m($x) { $x + 1 }",
  "m!(1)",
  "struct T { int a; char b[16]; struct T *next; }",
  "enum E { A, B = 5 }",
  "(struct task_struct *)",
  "(int8[4])",
  "(uint64)",
  "(string[8])",
  "sizeof(",
  "offsetof(struct T, a)",
  "typeof(",
  "comptime",
  "printf(",
  "print(",
  "clear(@a)",
  "zero(@a)",
  "delete(@a[1])",
  "has_key(@a, 1)",
  "find(@a, 1, $x)",
  "len(@a)",
  "str(",
  "buf(",
  "hist(",
  "lhist(",
  "tseries(",
  "count()",
  "sum(",
  "avg(",
  "min(",
  "stats(",
  "strncmp(",
  "memcmp(",
  "strcontains(",
  "ntop(",
  "kptr(",
  "uptr(",
  "bswap(",
  "exit()",
  "system(",
  "cat(",
  "join(",
  "time(",
  "strftime(",
  "ksym(",
  "usym(",
  "kaddr(",
  "reg(",
  "path(",
  "macaddr(",
  "cgroupid(",
  "signal(",
  "override(",
  'getopt("a", 1)',
  "config = { max_strlen = 64 }",
  "let @m = hash(5);",
  'import "a";',
  "#define A 1\n",
  "#if A\n",
  "#endif\n",
  "#include <a.h>\n",
  "// c\n",
  "/* c */",
  "\n",
  "(1, 2)",
  '(a = 1, b = "x")',
  "_ = ",
  "-e",
  "\\\n",
  "'a'",
  "\0",
  "\u00e9",
];

export const languageTargets: readonly Target[] = [
  {
    name: "script",
    words: scriptWords,
    seeds: scriptSeeds,
    refuses: isDiagnostic,
    run: (input) => compiled(input.toString("utf8")),
  },
  {
    name: "format",
    words: scriptWords,
    seeds: scriptSeeds,
    refuses: isDiagnostic,
    run(input) {
      const { text } = format({ name: "script.bt", text: input.toString("utf8") }, spellingOf);
      const again = text === undefined ? undefined : format({ name: "script.bt", text }, spellingOf).text;
      if (again !== text) throw new Error("formatting what is formatted changes it");
    },
  },
  {
    name: "tree",
    words: scriptWords,
    seeds: scriptSeeds,
    refuses: isDiagnostic,
    run: (input) =>
      void printTree(
        parse({ name: "script.bt", text: input.toString("utf8") }, { positional: [], probes: spellingOf }).program,
      ),
  },
  {
    name: "header",
    words: [
      ...scriptWords,
      "typedef",
      "struct",
      "union",
      "enum",
      "unsigned",
      "long long",
      "const",
      "char",
      "void",
      "*",
      "__attribute__((packed))",
      "extern",
      "static inline",
      ": 3",
      "#undef A\n",
      "#elif 1\n",
      "#ifdef A\n",
      "##",
      "\\\n",
    ],
    seeds: headerSeeds,
    refuses: isDiagnostic,
    run(input) {
      const header = input.toString("utf8");
      compiled(`${header}\nbegin { @ = sizeof(struct a); }`, [
        { name: "a.h", start: 0 },
        { name: "script.bt", start: header.length + 1 },
      ]);
    },
  },
  {
    name: "imported",
    words: [
      'import "b.bt";',
      '#include "c.h"\n',
      "#include <stdio.h>\n",
      'import "."',
      "/*",
      "*/",
      "//",
      "{",
      "}",
      ";",
    ],
    seeds: () => texts('import "b.bt";\nbegin { @ = f(1); }', '#include "c.h"\nbegin { @ = sizeof(struct a); }'),
    refuses: (error) => isDiagnostic(error) || error instanceof UsageError,
    run(input) {
      const folder = folderOfImports();
      for (const name of ["b.bt", "c.h"]) writeFileSync(join(folder, name), input);
      for (const text of ['import "b.bt";', '#include "c.h"', input.toString("utf8")]) {
        const source = { name: "script.bt", text: `${text}\nbegin { @ = 1; }` };
        const { text: all, parts } = withImports(source, folder, bpftrace);
        compiled(all, parts);
      }
    },
  },
  {
    name: "condition",
    words: [
      "defined(A)",
      "A",
      "B",
      "(",
      ")",
      "!",
      "~",
      "-",
      "+",
      "*",
      "/",
      "%",
      "<<",
      ">>",
      "<",
      "==",
      "&&",
      "||",
      "?",
      ":",
      "0",
      "1u",
      "0x1L",
      "'a'",
      ",",
    ],
    seeds: () => texts("defined(A) && B > 3", "(A + 1) * 2 == 4 ? 1 : 0", "!defined B || A << 3"),
    refuses: () => false,
    run: (input) =>
      void conditionValue(input.toString("utf8"), (name) => (name === "A" ? "B + 1" : name === "B" ? "A" : undefined)),
  },
  {
    name: "handler",
    words: [
      "args",
      "args.filename",
      "m",
      "m.at(",
      "m.get(",
      "m.set(",
      ".count()",
      ".hist(",
      ".value",
      "?.",
      "??",
      "=>",
      "(",
      ")",
      "{",
      "}",
      "[",
      "]",
      ";",
      ",",
      "...",
      "`${",
      "`",
      "let",
      "const",
      "var",
      "if",
      "else",
      "for",
      "of",
      "in",
      "while",
      "do",
      "switch",
      "case 1:",
      "default:",
      "break",
      "continue",
      "return",
      "function",
      "class A {}",
      "new",
      "this",
      "async",
      "await",
      "yield",
      "typeof",
      "delete",
      "void",
      "===",
      "!==",
      "+",
      "-",
      "*",
      "/",
      "%",
      "**",
      "&",
      "|",
      "^",
      "<<",
      ">>",
      ">>>",
      "&&",
      "||",
      "!",
      "~",
      "++",
      "--",
      "+=",
      "1",
      "1n",
      "1.5",
      '"a"',
      "'b'",
      "/x/",
      "null",
      "undefined",
      "true",
      "pid",
      "comm",
      "nsecs",
      'printf("%d",',
      "print(",
      "str(",
      "length",
      "limit",
      "name",
      "list",
    ],
    seeds: handlerSeeds,
    refuses: isDiagnostic,
    run: runHandler,
  },
  {
    name: "module",
    words: [
      'import { tracepoint, map } from "strobe";',
      'import * as s from "strobe";',
      'tracepoint("a:b", (args) => {})',
      "const m = map();",
      "export",
      "default",
      "interface A { b: string }",
      "type X = 1;",
      ": number",
      "as const",
      "<T>",
      "enum E { A }",
      "namespace N {}",
      "declare",
      "using x =",
      "await using",
      "class A { #b }",
      "@d",
      "{",
      "}",
      "(",
      ")",
      "=>",
      "`${",
      '"',
      "'",
      "/*",
      "//",
      "\n",
      "async",
      "function",
      "satisfies",
    ],
    seeds: moduleSeeds,
    refuses: isDiagnostic,
    run(input) {
      const text = input.toString("utf8");
      const javascript = stripTypes("a.ts", text);
      rewriteModule({ file: "a.ts", text, javascript }, { lowersUsing: true })?.map();
    },
  },
  {
    name: "printf",
    words: [
      "%",
      "%d",
      "%s",
      "%-10.3s",
      "%*d",
      "%08llx",
      "%r",
      "%lu",
      "%%",
      "%p",
      "%c",
      "%5",
      "%.",
      "%1000000000d",
      "#",
      "+",
      " ",
    ],
    seeds: () => texts("%d %s %-5d|%08llx %r %c %p%%\n", "no conversion"),
    refuses: (error) => error instanceof PrintfError,
    run: (input) => void parsePrintf(input.toString("utf8")),
  },
  {
    name: "strftime",
    words: ["%", "%H:%M:%S", "%f", "%Y", "%E", "%O", "%-d", "%5", "%%", "%z", "%s"],
    seeds: () => texts("%Y-%m-%d %H:%M:%S.%f", "%a %b %e"),
    refuses: () => false,
    run: (input) => void strftime(input.toString("utf8"), 1_700_000_000_000, 123_456),
  },
  {
    name: "wildcard",
    words: ["*", "?", "[", "]", "[a-z]", "[!a]", "\\", "a", "(", ")", "+", "."],
    seeds: () => texts("vfs_*", "sys_enter_[rw]*", "*a*b*c*"),
    refuses: () => false,
    run: (input) => void matcher(input.toString("utf8"))("a".repeat(60) + "vfs_read_" + "ab".repeat(40)),
  },
  {
    name: "options",
    words: [
      "-e",
      "-p",
      "1",
      "-c",
      "-f",
      "json",
      "--",
      "--pid=",
      "-o",
      "/tmp/x",
      "-d",
      "all",
      "--max-overhead",
      "2%",
      "-k",
      "-kk",
      "-l",
      "-v",
      "-I",
      "--include",
      "--unsafe=False",
      "\0",
      "-",
      "",
      "=",
      "--mode",
      "bench",
    ],
    seeds: () => texts("-e\0begin { }\0--\0--name=value", "-p\u0000123\0-f\0json\0script.bt\0one", "-l\0kprobe:*\0-v"),
    refuses: (error) => error instanceof UsageError,
    run: (input) => void readOptions(input.toString("utf8").split("\0")),
  },
];

function isDiagnostic(error: unknown): boolean {
  return error instanceof ScriptError && !(error instanceof InternalError);
}

// ── handlers ──

const identity = {};
const known: Record<string, Binding> = {
  m: { kind: "map", map: { identity } },
  limit: { kind: "constant", value: 100 },
  name: { kind: "constant", value: "cat" },
  half: { kind: "constant", value: 0.5 },
  list: { kind: "unusable", what: "an array" },
  opened: { kind: "event", event: { identity: { of: "event" } } },
};

function handler(text: string): FunctionSource {
  return { identity: { text }, name: "", text, resolve: bindingOf, complete: false };
}

const typescript = builtinsFor(typescriptRules);

function bindingOf(name: string): Binding | undefined {
  if (Object.hasOwn(known, name)) return known[name];
  if ((specialNames as readonly string[]).includes(name) || Object.hasOwn(casts, name))
    return { kind: "special", name: name as keyof typeof casts };
  return typescript.isValue(name) || typescript.isFunction(name)
    ? { kind: "builtin", name: typescript.canonical(name) }
    : undefined;
}

function runHandler(input: Buffer): void {
  const source = {
    provider: "tracepoint",
    parts: ["a", "b"],
    constructorName: "tracepoint",
    words: ["a:b"],
    parameters: ["args" as const],
    handler: handler(input.toString("utf8")),
  };
  const { program, diagnostics } = parseProbes([source]);
  if (!diagnostics.some(({ severity }) => severity === "error")) compile(program, madeUpSystem, resolved);
}
