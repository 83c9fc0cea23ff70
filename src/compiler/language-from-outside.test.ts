// A language from outside: an object is all that strobe needs of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { tally, tallyBy } from "../../test/support/tally.ts";
import { compileScript } from "../api/compile.ts";
import type { Language } from "../language/language.ts";
import type { Program } from "../language/program.ts";
import { aggregateLayout } from "../language/aggregations/table.ts";
import { resolveSpec } from "../providers/registry.ts";
import { bareSystem } from "../../test/support/bare-system.ts";
import { compile, type Compiled } from "./compile.ts";
import { printModule } from "./ir/print-ir.ts";
import { MemoryRuntime } from "../../test/support/memory-runtime.ts";
import { evaluate } from "./javascript/evaluate.ts";
import { madeUpSystem, resolveMadeUp } from "../../test/support/made-up-system.ts";

function program(text: string, language: Language = tally): Program {
  const { program: read, diagnostics } = language.parse!({ name: "script.tally", text }, { positional: [] });
  assert.deepEqual(diagnostics, []);
  return read;
}

function compiled(text: string, language = tally): Compiled {
  return compile(program(text, language), madeUpSystem, { resolve: resolveMadeUp });
}

/** What is wrong with a script. */
function told(text: string): string[] {
  return compiled(text).diagnostics.map(({ message, help }) => (help === undefined ? message : `${message}: ${help}`));
}

/** What the first handler, on the host, leaves in the maps, and how many events it sent. */
function ran(
  text: string,
  language = tally,
): { readonly maps: Readonly<Record<string, string>>; readonly events: readonly string[] } {
  const { plan, diagnostics } = compiled(`probe begin\n${text}`, language);
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity === "error"),
    [],
  );
  assert.ok(plan);
  const runtime = new MemoryRuntime({ maps: plan.maps, builtins: { "pid-and-tid": (7n << 32n) | 7n } });
  evaluate(plan.hosts[0].source)(runtime);
  const number = (bytes: Uint8Array): bigint =>
    bytes.length === 8 ? new DataView(bytes.buffer, bytes.byteOffset).getBigInt64(0, true) : -1n;
  const maps = plan.maps.map(({ name }, i) => [
    name,
    [...runtime.mapEntries(i)].map(([key, value]) => `${number(key)}: ${number(value)}`).join(", "),
  ]);
  return {
    maps: Object.fromEntries(maps) as Readonly<Record<string, string>>,
    events: runtime.records.map(({ schema }) => plan.schemas[schema].action.kind),
  };
}

test("a quotient is rounded down, and what is left has the divisor's sign", () => {
  const { maps } = ran(`a is 0 - 7; b is 7; c is 0 - 2; $q{1} is a / 2; $q{2} is b / c; $q{3} is b / 2; $q{4} is a / c
    $r{1} is a % 2; $r{2} is b % c; $r{3} is b % 2; $r{4} is a % c; $r{5} is -7 / 2; $r{6} is -7 % 2`);
  assert.equal(maps["q"], "1: -4, 2: -4, 3: 3, 4: 3");
  assert.equal(maps["r"], "1: 1, 2: -1, 3: 1, 4: -1, 5: -4, 6: 1");
});

test("numbers are signed, also those that builtins have without a sign", () => {
  assert.equal(ran("if PID > -1 $m{1} is 1").maps["m"], "1: 1");
  assert.equal(ran("$m{1} is PID / -2").maps["m"], "1: -4");
});

test("storing 0 takes an entry away", () => {
  assert.equal(ran("$m{1} is 1; $m{2} is 2; $m{1} is 0").maps["m"], "2: 2");
  assert.equal(ran("$m{1} is 5; $m{1} more -5; $m{2} more 1").maps["m"], "2: 1");
  assert.equal(ran("x is PID - 7; $m{1} is x").maps["m"], "");
});

test("a variable lives in the whole handler, and is 0 before", () => {
  assert.equal(ran("if PID > 5 x is 3; $m{1} is x").maps["m"], "1: 3");
  assert.equal(ran("if PID > 9 x is 3; $m{1} is x + 1").maps["m"], "1: 1");
});

test("a text is empty before, and what a loop assigns is there behind it", () => {
  const { maps } = ran(`if PID > 9 t is "some"; $t{1} is t; $s{4} is 1; each k in $s if k > PID u is k; $r{1} is u + 1
    each k in $s if k = 4 v is "last"; if v = "last" $r{2} is 1; if w = "" $r{3} is 1; if PID > 9 w is "some"`);
  assert.equal(maps["t"], "1: -1"); // five zeros
  assert.equal(maps["r"], "1: 1, 2: 1, 3: 1");
});

test("a division by 0, and an entry that is not there, end the handler with a message", () => {
  assert.deepEqual(ran("$m{1} is 1; x is PID - 7; $m{2} is 1 / x; $m{3} is 3"), {
    maps: { m: "1: 1" },
    events: ["printf"],
  });
  assert.deepEqual(ran("$m{1} is 1; $m{2} is $m{9}; $m{3} is 3"), { maps: { m: "1: 1" }, events: ["printf"] });
  assert.deepEqual(ran("$m{1} is 1; $m{2} is $m{1}").maps, { m: "1: 1, 2: 1" });
});

test("texts are joined by +", () => {
  const { plan } = compiled('probe begin\nPRINTF "%s" "a" + "b"');
  assert.equal(plan, undefined);
  assert.deepEqual(told('probe kprobe f\n$t{1} is COMM + "!"'), []);
});

test("texts have an order where rules say so", () => {
  const { maps } = ran(`t is "b"; if t < "ba" $m{1} is 1; if "b" < t $m{2} is 1; if t > "azzzzzzzz" $m{3} is 1
    if COMM < COMM $m{4} is 1; if "" < t $m{5} is 1`);
  assert.equal(maps["m"], "1: 1, 3: 1, 5: 1");
});

test("a handler without statements does what its language says", () => {
  assert.deepEqual(ran("").events, ["printf"]);
});

test("names in messages are as the author spells them", () => {
  assert.deepEqual(told("probe begin\n$m{1} is nobody + 1"), ["undefined or undeclared variable: the variable nobody"]);
  assert.deepEqual(told("probe begin\nx is $m{1}"), ["undefined map: $m"]);
  assert.deepEqual(told('probe begin\n$m{1} is 1; $m{1} is "a"'), [
    "type mismatch for $m: trying to assign value of type 'string[2]' when map already has a type 'int64'",
  ]);
  assert.deepEqual(told("probe begin\nPRINTF 1"), ["expected a string literal as the format"]);
  assert.deepEqual(told("probe begin\nSTRNCMP 1"), [
    "STRNCMP() requires 3 arguments (1 provided): usage: STRNCMP(a, b, length)",
  ]);
  assert.deepEqual(
    told(`probe begin\n$m{1} is "a" + PID`).at(0)?.split(": ").at(-1),
    "tally writes no numbers as texts",
  );
});

test("options of probes are the kind's, and places are named as the language names them", () => {
  const read = program("probe kretprobe f +maxactive=9\n$m{1} is 1");
  assert.deepEqual(read.probes[0].specs, [
    {
      provider: "kretprobe",
      parts: ["f"],
      options: { maxactive: "9" },
      text: "kretprobe f +maxactive=9",
      span: { start: 0, end: 30 },
    },
  ]);
  const { diagnostics } = resolveSpec({ ...read.probes[0].specs[0], provider: "kprobe" }, bareSystem, {
    missing: "error",
    uses: new Set(),
  });
  assert.deepEqual(
    diagnostics.map(({ message }) => message),
    ["kprobe takes no option `maxactive`"],
  );
  const { plan } = compiled("probe kprobe f\n$t{1} is PROBE");
  assert.deepEqual(
    plan?.bpf.programs[0].sites.map(({ name, func }) => [name, func]),
    [["kprobe f", "f"]],
  );
});

test("it compiles for this machine by its object, and lays its scripts out", () => {
  const {
    diagnostics,
    plan,
    program: read,
  } = compileScript({ name: "x", text: "probe begin\n$m{1} is 1" }, { language: tally, env: {} });
  assert.deepEqual(diagnostics, []);
  assert.equal(read.rules, tally.rules);
  assert.equal(plan?.config.printMapsOnExit, false);
  assert.equal(
    tally.format!({ name: "x", text: "  probe begin\n$m{1} is 1" }, () => undefined).text,
    "probe begin\n  $m{1} is 1",
  );
});

test("a statistic has the results that are asked for, and keeps no more", () => {
  const parts = (text: string): string | undefined => {
    const { stages, diagnostics } = compiled(`probe kprobe f\n${text}`);
    assert.deepEqual(diagnostics, []);
    return stages.module === undefined ? undefined : /statistic\([^)]*\)/.exec(printModule(stages.module))?.[0];
  };
  assert.equal(parts("$s takes 5; $x{1} is count:$s"), "statistic(count)");
  // An average's total and count, and no more for the total and the count.
  assert.equal(
    parts("$s takes 5; $x{1} is sum:$s + avg:$s; $x{2} is count:$s; PRINT lhist(0 10 5):$s"),
    "statistic(sum, avg, count, lhist 0 10 5)",
  );
  const type = { kind: "aggregate", aggregate: "statistic", signed: true } as const;
  const asked = ["sum", "avg", "count", "variance"].map((aggregate) => ({ aggregate }));
  assert.deepEqual(
    aggregateLayout({ ...type, asked }).parts.map(({ part, at }) => [part.kind, at]),
    [
      ["sum", 0],
      ["count", 1],
      ["digits", 2],
      ["digits", 5],
    ],
  );
  const { maps } = ran(`$s{1} takes 5; $s{1} takes -2; $s{1} takes 4; $s{2} takes 9
    $r{1} is count:$s{1}; $r{2} is sum:$s{1}; $r{3} is min:$s{1}; $r{4} is max:$s{1}; $r{5} is avg:$s{1}; $r{6} is avg:$s{2}`);
  assert.equal(maps["r"], "1: 3, 2: 7, 3: -2, 4: 5, 5: 2, 6: 9");
});

test("what has no values has no results but their number, which is 0", () => {
  assert.deepEqual(ran("$s{1} takes 5; $c{1} is count:$s{2} + 1; $m{1} is max:$s{2}; $m{2} is 1"), {
    maps: { s: "1: -1", c: "1: 1", m: "" },
    events: ["printf"],
  });
});

test("a loop goes in the order of a result", () => {
  const fill = "$s{1} takes 5; $s{2} takes 1; $s{2} takes 1; $s{3} takes 4; $s{3} takes 3; $s{3} takes 3";
  const order = (how: string): string | undefined =>
    ran(`${fill}; each k in $s ${how} r is r * 10 + k; $r{1} is r`).maps["r"];
  assert.equal(order("by sum"), "1: 213");
  assert.equal(order("by -count"), "1: 321");
  assert.equal(order("by -count most 2"), "1: 32");
  assert.equal(order("by max"), "1: 231");
  assert.equal(order("by -avg"), "1: 132");
  assert.equal(order("by -variance most 1"), "1: 3");
  // A statistic's value is how many values it has.
  assert.equal(order("by value"), "1: 123");
});

test("what a statistic does not give", () => {
  assert.deepEqual(told("probe begin\n$m{1} is 1; $x{1} is sum:$m{1}"), [
    "only a statistic has several results, and $m holds int64",
  ]);
  assert.deepEqual(told("probe begin\n$s takes 1; $x{1} is hist:$s"), [
    "hist() of a statistic has no single value: print it",
  ]);
  assert.deepEqual(told("probe begin\n$s takes 1; PRINT lhist(5 1 1):$s"), [
    "lhist() min must be less than max, 5 is not less than 1",
  ]);
  assert.deepEqual(told("probe begin\n$s takes 1; $x{1} is $s"), [
    "$s holds a statistic(), which has no single value: print it whole",
  ]);
  assert.deepEqual(told("probe begin\n$x{1} is sum:$s"), ["undefined map: $s: did you mean `$x`?"]);
});

test("clauses of one event run as one handler, and share what they leave in variables", () => {
  const language = tallyBy({ variables: { scope: "event" }, maps: { ...tally.rules.maps, missing: "zero" } });
  const joined = (text: string): Compiled => compiled(text, language);
  const { plan, diagnostics } = joined(`probe begin
    a is 5; t is "left"; if a = 5 $m{1} is 1 / b; $m{2} is 2
    probe begin when a = 5
    $m{3} is a; b is a; $m{4} is 4
    probe begin when a = 6
    $m{5} is 5
    probe begin
    probe begin
    $m{6} is b; if t = "left" $m{7} is 7`);
  assert.deepEqual(diagnostics, []);
  assert.equal(plan?.hosts.length, 1);
  const runtime = new MemoryRuntime({ maps: plan.maps });
  evaluate(plan.hosts[0].source)(runtime);
  const keys = [...runtime.mapEntries(0)].map(([key]) => key[0]);
  // A fault ends its clause alone, and a clause without statements does what clauses do then.
  assert.deepEqual(keys, [3, 4, 6, 7]);
  assert.deepEqual(
    runtime.records.map(({ schema }) => plan.schemas[schema].action.kind),
    ["printf", "printf"],
  );

  const apart = joined(`probe kprobe f
    a is 1; $m{1} is a
    probe kprobe g
    a is 2; $m{2} is a
    probe kprobe f when a = 1
    $m{3} is a
    probe kprobe absent
    $n{1} is a`);
  assert.deepEqual(apart.diagnostics, []);
  assert.deepEqual(
    apart.stages.checked?.handlers.map(({ sites, body }) => [
      sites.map(({ name }) => name),
      body.statements.map(({ kind }) => kind),
    ]),
    [
      [["kprobe f"], ["clause", "clause"]],
      [["kprobe g"], ["assign", "assign"]],
      [["kprobe absent"], ["assign"]],
    ],
  );
  // A name has one type in all clauses, also in those of other events.
  assert.deepEqual(
    joined('probe kprobe f\na is 1\nprobe kprobe g\na is "text"').diagnostics.map(({ message }) => message),
    [
      "type mismatch for the variable a: trying to assign value of type 'string[5]' when variable already has a type 'int64'",
    ],
  );
  assert.deepEqual(
    joined("probe kprobe f\n$m{1} is a").diagnostics.map(({ message }) => message),
    ["undefined or undeclared variable: the variable a"],
  );
});

test("integers are as wide as in C, where a language has it so", () => {
  const integers = {
    widths: "C",
    signed: "unless unsigned",
    division: "truncates",
    byZero: "one",
    literals: "refused",
  } as const;
  const language = tallyBy({ integers, maps: { ...tally.rules.maps, storingZero: "keeps" } });
  const value = (of: string): string => ran(`$m{1} is ${of}`, language).maps["m"].slice(3);
  // PID is an unsigned number of 32 bits, 7.
  for (const [of, is] of [
    ["2147483647 + 1", -2147483648n],
    ["65536 * 65536", 0n],
    ["1 << 31", -2147483648n],
    ["4294967296 + 1", 4294967297n],
    ["PID - 8", 4294967295n],
    ["PID - 4294967296", 7n - 4294967296n],
    ["PID * 1000000000", 7000000000n % (1n << 32n)],
    ["- 1 / PID", 4294967295n / 7n],
    ["- 1 < PID + 0", 0n],
    ["- 1 < 1 + 0", 1n],
    ["- PID", (1n << 32n) - 7n],
  ] as const)
    assert.equal(value(of), String(is), of);
  // A variable without a declared type is as wide as all that it becomes.
  assert.equal(ran("x is PID; x more 4294967295; $m{1} is x", language).maps["m"], "1: 4294967302");
});
