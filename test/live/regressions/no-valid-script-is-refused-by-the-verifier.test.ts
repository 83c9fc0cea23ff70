// Scripts that random programs were made smaller to: the verifier refused each, and strobe called it a bug of its own.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { KernelProgram } from "../../../src/compiler/bpf/bpf-plan.ts";
import { loadProgram } from "../../../src/linux/bpf/bpf.ts";
import { E2BIG, LinuxError } from "../../../src/linux/error.ts";
import { bareSystem } from "../../support/bare-system.ts";
import { compileScript, loadScript, places } from "../../support/loading.ts";
import { randomScript } from "../../support/random-scripts.ts";

/** Of each the verifier would remember which arm it came by. */
const chains = [0, 1, 2, 3]
  .map((n) => Array.from({ length: 24 }, (_, i) => `if (arg${n} == ${i}) { @n[arg${n}, ${i}]++; }`).join(" else "))
  .join(" ");

/**
 * Each way has working memory of its own, of which nothing is wanted once it is through: were it kept, four times what
 * there is.
 */
const tuples = Array.from(
  { length: 60 },
  (_, i) =>
    `if (arg0 == ${i}) { $t${i} = (str(arg1), arg${i % 4}, (str(arg2), ${i})); @tuples[arg1] = $t${i}; print($t${i}); }`,
).join(" else ");

const scripts: Readonly<Record<string, string>> = {
  "a text's length in loops whose rounds are not counted": `
    let $text : string[9] = "hello"; $n = 1; $i = 0;
    while ($i++ < (arg1 & 7)) {
      $j = 0;
      while ($j++ < 2) { $k = 0; while ($k++ < 2) { $n += strlen($text); $n = $n << @by_text["b"]--; } }
    }
    @by_number[$n & 3] = $text;`,
  "a loop over a map that no way leads to": `
    if (!@flag) { if (@flag) { for ($entry : @names) { } } }
    @flag = arg0 > 3;
    @names[arg0 & 3] = "the";`,
  "a text in another, in a loop over a map": `
    for ($entry : @sums) { if (strcontains(str_concat("the quick brown fox jumps", ""), str("", $entry.0 & 7))) { @n++; } }
    @sums[arg0 & 3]++;`,
  "a loop over a map whose keys are looked up by longer texts before their own are known": `
    @m[@n & 3, str(arg0, 10)] = 1; @x = @m[1, str(arg1)];
    for ($entry : @m) { if (strcontains($entry.0.1, $entry.0.1)) { @n = 33; } }`,
  "texts of the usual length from outside of a loop over a map": `
    $text = str(arg0); $both = (str(arg1), arg2); @m[$text]++;
    for ($entry : @m) { if ($entry.0 == $text) { @n += $both.1; } else { $text = $both.0; } }
    print($text);`,
  "long chains of else if, one after the other": `
    ${chains}
    if (arg0 == 3 && arg1 == 4) { @x = arg0; }
    if (arg2 == 5 || arg3 == 7) { @y = arg1; }
    @m[arg0, arg1, arg2, arg3] = 1;`,
  "many tuples, each on a way of its own": tuples,
  "an array that begins at an odd byte of a tuple": `
    $tuple = (63, "ab", (uint8[8])(uint64)arg3, "0", (uint16[4])(uint64)arg2);
    @number = $tuple.2[3] + (uint64)$tuple.2 + (int64)$tuple.4;
    @tuple[arg0 & 1] = $tuple;`,
};

for (const [name, body] of Object.entries(scripts)) {
  test(name, { skip: process.geteuid?.() !== 0 && "needs root" }, () => {
    for (const place of places) {
      const { outcome, detail } = loadScript(`rawtracepoint:f { ${body} }`, place);
      assert.ok(outcome === "loaded" || outcome === "recompiled", `${place}: ${outcome}\n${detail}`);
    }
  });
}

// Newer verifiers say ENOMEM of it, others EFAULT: it is no want of memory, and the easier code is tried.
test(
  "more branches on a way than the verifier keeps are too much for it",
  {
    skip: process.geteuid?.() !== 0 && "needs root",
  },
  () => {
    const branches = 9000;
    const words = new DataView(new ArrayBuffer((branches + 3) * 8));
    const instruction = (at: number, code: number, registers: number, offset: number, value: number): void => {
      words.setUint8(at * 8, code);
      words.setUint8(at * 8 + 1, registers);
      words.setInt16(at * 8 + 2, offset, true);
      words.setInt32(at * 8 + 4, value, true);
    };
    const [prandom, call, ifBitSet, set, exit] = [7, 0x85, 0x45, 0xb7, 0x95];
    instruction(0, call, 0, 0, prandom);
    for (let i = 1; i <= branches; i++) instruction(i, ifBitSet, 0, 0, 1 << (i % 31));
    instruction(branches + 1, set, 0, 0, 0);
    instruction(branches + 2, exit, 0, 0, 0);
    assert.throws(
      () => loadProgram({ name: "branches", type: 17, code: new Uint8Array(words.buffer), license: "Dual MIT/GPL" }),
      (error) => error instanceof LinuxError && error.code === E2BIG,
    );
  },
);

// As for Linux 6.1, where rounds of loops are calls: one of them counted a map's entries, by a call of its own.
test("what a round calls has its part of the stack", () => {
  const { place, text } = randomScript(30466);
  const linux61 = { ...bareSystem.capabilities, kernel: [6, 1] as const, mayGoto: false, cpuV4: false };
  const compiled = compileScript(text, place, linux61, true);
  assert.ok("plan" in compiled);
  const [program] = compiled.plan.bpf.programs;
  assert.ok(program);
  const depths = stackDepths(program);
  const [main, round, count] = ["differential", "round_4", "count_entry"].map((name) => depths.get(name));
  assert.ok(main !== undefined && round !== undefined && count !== undefined, [...depths.keys()].join(", "));
  assert.ok(main + round + count <= 512, `${main} + ${round} + ${count}`);
});

// Where the kernel counts rounds, and its verifier walks through too many of them even so (Linux 6.12).
test("rounds are calls where nothing else is taken", () => {
  const script = `rawtracepoint:f { @n = arg1; $i = arg0; while ($i > 3) { $i = $i >> @n; @m[$i]++; } }`;
  const capabilities = { ...bareSystem.capabilities, kernel: [6, 12] as const, mayGoto: true };
  const [MAY_GOTO, CALL, LOOP] = [0xe5, 0x85, 181];
  const uses = (easyToVerify: true | "calls"): readonly boolean[] => {
    const compiled = compileScript(script, "rawtracepoint", capabilities, easyToVerify);
    assert.ok("plan" in compiled);
    const [{ code }] = compiled.plan.bpf.programs as readonly [KernelProgram];
    const view = new DataView(code.buffer, code.byteOffset, code.length);
    const at = Array.from({ length: code.length / 8 }, (_, i) => i * 8);
    return [
      at.some((i) => view.getUint8(i) === MAY_GOTO),
      at.some((i) => view.getUint8(i) === CALL && view.getUint8(i + 1) === 0 && view.getInt32(i + 4, true) === LOOP),
    ];
  };
  assert.deepEqual(uses(true), [true, false]);
  assert.deepEqual(uses("calls"), [false, true]);
});

/** Of each function, how deep its code reaches below r10, as the verifier rounds it. */
function stackDepths({ code, subprograms }: KernelProgram): ReadonlyMap<string, number> {
  const view = new DataView(code.buffer, code.byteOffset, code.length);
  const [load, storeNumber, store, wideNumber, move, add] = [1, 2, 3, 0x18, 0xbf, 0x07];
  const ends = [...subprograms.map(({ start }) => start), code.length / 8].sort((a, b) => a - b);
  return new Map(
    subprograms.map(({ name, start }) => {
      let depth = 1;
      for (let at = start; at < (ends.find((end) => end > start) ?? 0); at++) {
        const [operation, registers] = [view.getUint8(at * 8), view.getUint8(at * 8 + 1)];
        const kind = operation & 7;
        const base = kind === load ? registers >> 4 : kind === storeNumber || kind === store ? registers & 15 : -1;
        if (base === 10) depth = Math.max(depth, -view.getInt16(at * 8 + 2, true));
        if (operation === move && registers >> 4 === 10 && view.getUint8(at * 8 + 8) === add)
          depth = Math.max(depth, -view.getInt32(at * 8 + 12, true));
        if (operation === wideNumber) at++;
      }
      return [name, Math.ceil(depth / 32) * 32];
    }),
  );
}
