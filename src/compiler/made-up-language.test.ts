// What trees of other languages have, compiled: what runs on the host, in which order, and what need not be there.
import assert from "node:assert/strict";
import { test } from "node:test";
import { withMadeUpStatements } from "../../test/support/made-up-statements.ts";
import { parse } from "../language/bpftrace/parse.ts";
import { printTree } from "../language/print-tree.ts";
import type { ProbeSpec } from "../language/probe-spec.ts";
import type { Probe, Program } from "../language/program.ts";
import { compile, type Compiled } from "./compile.ts";
import { printModule } from "./ir/print-ir.ts";
import { generate } from "./javascript/generate.ts";
import { MemoryRuntime } from "../../test/support/memory-runtime.ts";
import { evaluate } from "./javascript/evaluate.ts";
import { madeUpSystem, resolveMadeUp } from "../../test/support/made-up-system.ts";

function parsed(text: string): Program {
  const { program, diagnostics } = parse({ name: "script", text }, { positional: [] });
  assert.deepEqual(diagnostics, []);
  return withMadeUpStatements(program);
}

const compiled = (program: Program): Compiled => compile(program, madeUpSystem, { resolve: resolveMadeUp });

/** What a script that runs on the host alone prints: its numbers. */
function printed(text: string): bigint[] {
  const { stages, plan, diagnostics } = compiled(parsed(text));
  assert.deepEqual(diagnostics, []);
  assert.ok(plan !== undefined && stages.module !== undefined);
  const { functions, maps } = stages.module;
  const runtime = new MemoryRuntime({ maps });
  for (const fn of functions.filter(({ kind }) => kind === "handler"))
    evaluate(generate(fn, { functions, maps, schemas: plan.schemas }))(runtime);
  return runtime.records.map(({ record }) => new DataView(record.buffer).getBigInt64(8, true));
}

test("entries come in the order of a key, of the keys, or of the value", () => {
  const fill = "begin { @m[1, 30] = 7; @m[2, 10] = 9; @m[3, 20] = 8; @h[5] = hist(1); @h[4] = hist(2); ";
  const order = (how: string): bigint[] =>
    printed(`${fill} for ($kv : @m) { loop(keys($a, $b), ${how}); print($a); } }`);
  assert.deepEqual(order("by(1)"), [1n, 2n, 3n]);
  assert.deepEqual(order("by(-1)"), [3n, 2n, 1n]);
  assert.deepEqual(order("by(2)"), [2n, 3n, 1n]);
  assert.deepEqual(order("by(-2), most(2)"), [1n, 3n]);
  assert.deepEqual(order("by(9)"), [1n, 3n, 2n]);
  assert.deepEqual(order("by(-9), most(1)"), [2n]);
  assert.deepEqual(order("by(-1), only(any, 10)"), [2n]);
  assert.deepEqual(order("by(1), only(2, any), most(5)"), [2n]);
  assert.deepEqual(printed(`${fill} for ($kv : @h) { loop(keys($k), by(1)); print($k); } }`), [4n, 5n]);
});

test("an order needs the host, and a limit does not", () => {
  const of = (how: string): Compiled =>
    compiled(parsed(`kprobe:f { @m[1] = 7; for ($kv : @m) { loop(keys($a), ${how}); print($a); } }`));
  const said = (how: string): string[] => of(how).diagnostics.map(({ message }) => message);
  const placed = (how: string): readonly string[] => of(how).plan!.placements;
  assert.deepEqual(placed("most(3)"), ["kprobe:f: in the kernel"]);
  assert.deepEqual(placed("by(1)"), [
    "kprobe:f: captured, since a loop in an order needs the host (line 1)",
    "@m: on the host, since line 1 asks for it there",
  ]);
  assert.deepEqual(said("by(2)").slice(0, 1), ["@m has 1 keys, and no key 2 to be ordered by"]);
});

test("a list, a histogram's value and what cannot be compared", () => {
  const said = (body: string): string[] =>
    compiled(parsed(`begin { @h[5] = hist(1); ${body} }`)).diagnostics.map(({ message }) => message);
  assert.deepEqual(said("for ($kv : @h) { loop(keys($k), value($v)); print($v); }"), [
    "the values of @h are hist(), which have no single value",
  ]);
  assert.deepEqual(said('if (choose($s, 5)) { if (of("text")) { print(1); } }'), [
    "type mismatch for '==': comparing int64 with string[5]",
  ]);
  assert.deepEqual(said("throw(5);"), ["expected a text or a caught error, got int64"]);
  assert.deepEqual(said("if (attempt($e)) { } else { print($e.nothing); }").length, 1);
});

test("nothing is looked at outside of a try", () => {
  const ir = (body: string): string => {
    const { stages, diagnostics } = compiled(parsed(`kprobe:f { ${body} }`));
    assert.deepEqual(diagnostics, []);
    assert.ok(stages.module !== undefined);
    return printModule(stages.module);
  };
  const body = "@n = *(uint64 *)arg0; @m[arg1] = str(arg2);";
  assert.doesNotMatch(ir(body), /failed|map-make/);
  const inTry = ir(`if (attempt()) { ${body} }`);
  assert.equal(inTry.match(/= failed fill/g)?.length, 2);
  assert.equal(inTry.match(/map-make/g)?.length, 1);
  // Behind it nothing is looked at again.
  assert.ok(ir(`if (attempt()) { @x = 1; } ${body}`).includes("read kernel"));
});

/** The probes of a script, with what is written behind them made what it means. */
function withSpecs(text: string): Program {
  const program = parsed(text);
  const suffixed = (spec: ProbeSpec): ProbeSpec => {
    const last = spec.parts.at(-1) ?? "";
    const sequence = /^s(_?)(\d+)$/.exec(last);
    if (sequence) return { ...spec, parts: [], sequence: Number(sequence[2]) * (sequence[1] === "" ? 1 : -1) };
    if (last.startsWith("maybe_")) return { ...spec, optional: true };
    return last.startsWith("enough_") ? { ...spec, optional: true } : spec;
  };
  const isEnough = ({ parts: [first = ""] }: ProbeSpec): boolean => first.startsWith("enough_");
  const inOrder = (specs: readonly ProbeSpec[]): ProbeSpec[] =>
    specs.map((spec, i) => ({ ...suffixed(spec), unless: specs.slice(0, i).filter(isEnough) }));
  return { ...program, probes: program.probes.map((probe): Probe => ({ ...probe, specs: inOrder(probe.specs) })) };
}

test("probes that need not be there, and those that are enough", () => {
  const resolve: typeof resolveMadeUp = (spec, ...rest) =>
    spec.parts[0].includes("absent")
      ? {
          variants: [],
          diagnostics: [{ severity: "error", code: "name", span: spec.span, message: `no ${spec.parts[0]}` }],
        }
      : resolveMadeUp(spec, ...rest);
  const attached = (probes: string): readonly [string[], string[]] => {
    const { diagnostics, stages } = compile(withSpecs(`${probes} { @ = 1; } kprobe:other { @ = 2; }`), madeUpSystem, {
      resolve,
    });
    const [first] = stages.probes;
    return [
      diagnostics.map(({ message }) => message),
      first.variants.flatMap(({ sites }) => sites.map(({ name }) => name)),
    ];
  };
  assert.deepEqual(attached("kprobe:absent"), [["no absent"], []]);
  assert.deepEqual(attached("kprobe:maybe_absent"), [[], []]);
  assert.deepEqual(attached("kprobe:maybe_absent, kprobe:f"), [[], ["kprobe:f"]]);
  assert.deepEqual(attached("kprobe:enough_absent, kprobe:f"), [[], ["kprobe:f"]]);
  assert.deepEqual(attached("kprobe:enough_g, kprobe:f"), [[], ["kprobe:enough_g"]]);
  assert.match(printTree(withSpecs("kprobe:maybe_f, kprobe:enough_g { }")), /kprobe:maybe_f\? kprobe:enough_g\?/);
});

test("handlers run in the order of their numbers", () => {
  const program = withSpecs(
    "begin:s5 { print(5); } begin { print(0); } begin:s_3, begin:s7 { print(37); } begin { print(1); }",
  );
  const { stages } = compile(program, madeUpSystem, { resolve: resolveMadeUp });
  assert.deepEqual(
    stages.probes.map(({ probe }) => probe.specs.map(({ sequence = 0 }) => sequence)),
    [[-3], [0], [0], [5], [7]],
  );
});
