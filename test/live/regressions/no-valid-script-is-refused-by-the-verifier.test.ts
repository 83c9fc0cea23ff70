// Scripts that random programs were made smaller to: the verifier refused each, and strobe called it a bug of its own.
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadProgram } from "../../../src/linux/bpf/bpf.ts";
import { E2BIG, LinuxError } from "../../../src/linux/error.ts";
import { loadScript, places } from "../../support/loading.ts";

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
      assert.ok(outcome === "loaded" || outcome === "sparing", `${place}: ${outcome}\n${detail}`);
    }
  });
}

// Newer verifiers say ENOMEM of it, others EFAULT: it is no want of memory, and the sparing way is tried.
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
