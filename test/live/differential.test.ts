// Random programs through both executors, with equal results. STROBE_SEED runs other programs than the usual ones (or
// one alone, with STROBE_PROGRAMS=1).
import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { createMap } from "../../src/linux/bpf/bpf.ts";
import { Features } from "../../src/linux/kernel/features.ts";
import { closeFd } from "../../src/linux/ffi.ts";
import { Differential, randomInputs, type Failure } from "../support/differential.ts";
import { partOf } from "../support/part-of.ts";
import { tally } from "../support/tally.ts";
import { madeUpProgram, randomProgram, type RandomProgram } from "../support/random-programs.ts";
import { render, smaller, type Piece } from "../support/random-pieces.ts";

const first = Number(process.env["STROBE_SEED"] ?? 1);
const programs = Number(process.env["STROBE_PROGRAMS"] ?? partOf("executors", Array.from({ length: 800 })).length);
const runs = 3;
const mostShrinking = 600;
const longestShrinking = 20_000;
/** Failures that are looked at before giving up. */
const mostFailures = Number(process.env["STROBE_FAILURES"] ?? 3);

const noBpf = ((): string | false => {
  try {
    closeFd(createMap({ name: "probe", type: 2, keySize: 4, valueSize: 8, entries: 1 }));
    return false;
  } catch (error) {
    return `needs bpf(): ${String(error)}`;
  }
})();

const withRounds = new Features().capabilities().mayGoto;

/** The smallest program found that fails in the same way. */
function shrink(
  differential: Differential,
  program: RandomProgram,
  seed: number,
  failure: Failure,
): { pieces: readonly Piece[]; failure: Failure } {
  let smallest = { pieces: program.pieces, failure };
  const inputs = randomInputs(seed, runs);
  let tries = 0;
  const end = Date.now() + longestShrinking;
  for (let progress = true; progress && tries < mostShrinking;) {
    progress = false;
    for (const pieces of smaller(smallest.pieces)) {
      if (++tries > mostShrinking || Date.now() > end) break;
      const again = differential.run(render(pieces), inputs, program.unordered).failure;
      if (again?.kind !== failure.kind || again.cause !== failure.cause) continue;
      smallest = { pieces, failure: again };
      progress = true;
      break;
    }
  }
  return smallest;
}

/** What random programs found wrong once, as short as it was. */
const found: Readonly<Record<string, string>> = {
  "a loop over a map that counts its rounds": `
    let $rounds = 0;
    for ($kv : @by_int) { $rounds++; if ($rounds > 3) { return; } @seen++; }
    @by_int[arg0 & 7] = 1;
    print($rounds);`,
  "a loop over a map that stops after some rounds": `
    @by_int[1] = 1; @by_int[2] = 1; @by_int[3] = 1;
    let $rounds = 0;
    for ($kv : @by_int) { if ($rounds++ == 1) { break; } }
    @rounds = $rounds;`,
  "texts and tuples that were not found": `
    if (arg0 == 24301) { @names[1] = "abcdefgh"; @pairs[1] = (1, "ab"); }
    if (find(@names, 2, $name)) { @n++; }
    if (arg1 > 3 && find(@pairs, 2, $pair)) { @n++; }
    print($name);
    print($pair);`,
  "a key with a side effect, looked for": `
    $i = 0;
    @by_int[0] = 5; @by_int[1] = 6;
    if (find(@by_int, $i++, $value)) { @found[$i] = $value; }`,
  "loops with many branches, counted and not": `
    let $x = 0; $i = 0;
    while ($i++ < (arg0 & 7)) {
      if (arg1 > $i) { @a[arg1 & 7] = 1; }
      $x = arg2 > $i ? 3 : 5;
      if (@a[1]) { @b["x", arg2 & 3] += $x; }
      if (@b["x", 3]) { @c[arg3 & 3] = count(); }
      if (@c[1] > 2) { @a[2] = $i; }
    }
    for ($j : 0..5) { @sum += $j; }
    for ($j : 0..20) { if ($j & 1) { @a[$j] += 2; } else if (arg1 & 1) { @b["y", $j] = $x; } else { @c[$j] = count(); } }
    print(($i, $x));`,
  "truth values in parentheses before a sign": "@n = (true) - arg0; @m = (false) + (true) * arg1;",
  "a negative operand of a declared unsigned variable": `
    let $x : uint32 = (uint32)arg0;
    $x |= (int8)-128;
    @n = $x;`,
};

/** What bpftrace's text has no words for (made-up-statements.ts). */
const madeUp: Readonly<Record<string, string>> = {
  "divisions that fail": `
    @before = 1;
    if (attempt($e)) { @n = 100 / (arg0 & 1); @after = 1; } else { @kind[$e.kind] = 1; @message[$e.message] = $e.line; @at = $e.column; }
    @behind = 100 / (arg0 & 1);`,
  "reads that fail": `
    if (attempt($e)) { @n = *(uint64 *)(arg0 & 4088); } else { @address = $e.address; @kind[$e.kind] = 1; print($e.message); }
    if (attempt($f)) { printf("%s %d", str(arg1 & 4088), 1); } else { print($f); }
    if (attempt($g)) { @text[1] = str(uptr(arg1 & 4088)); } else { print($g); }
    if (attempt($h)) { @by[str(arg2 & 4088)] = count(); } else { print($h); }
    if (attempt()) { @length = strlen(str(arg2 & 4088)); } else { @nothing++; }`,
  "a map that is full": `
    let @few = hash(3);
    $i = 0;
    while ($i < 6) {
      if (attempt($e)) { @few[$i + (arg0 & 3)] = $i; @done++; } else { @why[$e.message] = $i; }
      if (attempt($e)) { @added[$i] = @few[$i]++; } else { @refused++; }
      $i++;
    }`,
  "an aggregation that is full": `
    if (attempt($e)) { for ($i : 0..400) { @h[$i] = hist(arg0); @last = $i; } } else { @why = $e.message; }`,
  "errors of the script's own, and errors again": `
    if (attempt($outer)) {
      if (attempt($inner)) { if (arg0 & 1) { throw("a text that is rather longer than the messages of what the tracer itself finds wrong"); } @n = 1 / (arg0 & 2); }
      else { @inner[$inner.kind] = $inner.message; throw($inner); }
    } else { print($outer); }
    if (arg1 & 1) { throw("nobody sees it"); }
    @goes_on = 1;`,
  "kinds, and a try around that sees the others": `
    if (attempt($outer)) {
      if (attempt($inner, "division")) { @n = *(uint64 *)(arg0 & 4088); @m = 1 / (arg5 & 1); } else { @inner = 1; }
    } else { @outer[$outer.kind] = 1; }
    if (attempt($e, "division")) { @x = *(uint64 *)(arg0 & 4088); @y = 1 / (arg1 & 1); } else { print($e); }
    if (attempt($k, "key")) { @known[1] = 2; @got = @known[1] + @known[arg0 & 1]; } else { print($k); }`,
  "out of a loop over a map": `
    @m[1] = 2; @m[2] = 4; @m[3] = arg0 & 1;
    $sum = 0;
    if (attempt($e)) {
      for ($kv : @m) {
        if (attempt($f)) { $sum += 8 / $kv.1; } else { @zero[$kv.0] = $f.line; throw($f); }
        for ($lw : @m) { if ($lw.0 == $kv.0 && $kv.0 == 3) { $sum += 1000 % $lw.1; } }
      }
      @sum = $sum;
    } else { @failed[$e.message] = 1; }`,
  "functions that fail": `
    if (attempt($e)) { @n = share(arg0 & 3); @m = share(0); } else { print($e); }`,
  "C's loops": `
    $i = 0; $sum = 0;
    while (step($i < (arg0 & 15), $i++, @steps++)) {
      if ($i % 3 == 1) { continue; }
      if ($i > 11) { break; }
      while (again($sum % 5 != 0)) { $sum++; if ($sum % 7 == 6) { break; } if ($sum & 1) { continue; } @rounds++; }
      $sum += $i;
    }
    print(($i, $sum));`,
  choices: `
    for ($i : 0..8) {
      if (choose($of, $i ^ (arg0 & 3))) {
        if (of(0)) { @zero++; break; }
        if (of(1, 2)) { @some += $i; }
        if (of(3)) { @three++; if ($i & 1) { continue; } @past++; }
        if (otherwise()) { @other++; }
        if (of(5)) { @five++; }
      }
      @behind++;
    }
    if (choose($text, arg0 & 1 ? "one" : "none")) { if (of("none")) { @none++; break; } if (of("one")) { @one++; } }
    if (choose($empty, arg0)) { if (of(1)) { } }`,
  "assignments as values": `
    $x = 5; $y = 0; $t = "abc";
    @n = assigned($x, arg0 & 7) + assigned($y, 3, "+") + assigned(@m[1], (int8)arg1) + assigned(@m[2], 2, "+") + assigned(@m[1], 3, "*");
    @text[1] = assigned($t, "xy");
    if (assigned(@last, arg1 & 1)) { print(($x, $y, $t)); }
    @copy[2] = assigned(@from[3], "abcdef");
    while (assigned($x, $x - 1) > 0) { @rounds++; }`,
  "loops over maps that bind, choose and count": `
    for ($i : 0..12) { @m[$i % 3, $i / 3] = $i; @h[$i % 5] = hist($i); @one[$i] = "t"; }
    for ($kv : @m) { loop(keys($a, $b), value($v)); @copy[$b, $a] = $v; }
    for ($kv : @m) { loop(keys($a), only(any, arg0 & 3)); @part[$a]++; if ($a == 7) { break; } }
    for ($kv : @m) { loop(only(2, any), value($v)); @third += $v; }
    for ($kv : @h) { loop(keys($k)); @seen[$k] = 1; }
    for ($kv : @one) { loop(most(arg1 & 7)); @rounds++; }
    for ($kv : @m) { loop(only(1, any), most(2)); if (arg2 & 1) { continue; } @two++; }
    $sum = 0;
    if (attempt($e)) { for ($kv : @m) { loop(keys($a, $b), value($v), most(5)); $sum++; if ($sum > 9) { throw("never"); } } } else { @no = 1; }
    print($sum);`,
  "variables of a thread": `
    $self_x = (arg0 & 7) + 1;
    $self_x += 2;
    $self_x++;
    @x = $self_x;
    @was = $self_text == "";
    $self_text = "abc";
    @y = assigned($self_x, 5, "*") + $self_x--;
    @text[1] = $self_text;`,
  "what ends the handler": `
    for ($i : 0..3) { @m[$i] = $i; }
    if (arg0 & 1) { next(); }
    @last = leaves(arg1 & 1);
    for ($kv : @m) { if ($kv.0 == 2) { next(); } }
    @never = 1;`,
};

/** Functions that those call. */
const madeUpFunctions = `
  fn share($of : int64) : int64 { return 12 / $of; }
  fn leaves($how : int64) : int64 { if ($how) { next(); } return 1; }`;

/** What a loop can have, where its rounds are a function (Linux 5.17 to 6.8, when the verifier gave up on it). */
const called: Readonly<Record<string, string>> = {
  "a loop of many rounds": `
    $i = 0; $s = 0;
    while ($i < 2000) {
      if ($i % 3 == 0) { @a[$i % 7] = $i; $s += 3; }
      if (@a[$i % 7] > 500) { $s += arg0 & 1; @c[$i % 2, "x"] = $s; }
      if ($s % 2 == 0) { @even++; } else { @odd++; }
      $i++;
    }
    print(($i, $s));`,
  "what breaks, goes on and returns": `
    $i = 0; $s = 0; $last = 0;
    while ($i < 3000) {
      $i++;
      if ($i % 4 == 1) { $s++; continue; }
      if ($i % 6 == 2) { @a[$i % 9] += $s; $last = $i; }
      if (($s > 500) && (arg0 & 1)) { @why = $s; break; }
      if ($i == 2500) { print(("returned", $s)); return; }
      if ($last % 10 == 4) { print($i); $last++; }
    }
    print(($i, $s, $last));`,
  "loops in a loop": `
    $n = 0;
    for ($i : 0..(arg0 & 15) + 2) {
      $j = 0;
      while ($j < 12) {
        for ($k : 0..(arg1 & 7) + $j) {
          if (($i + $j + $k) % 3 == 0) { @m[$i % 3, $j % 3, $k % 3]++; $n++; }
          if ($n % 17 == 3) { @n[$k] = $n; }
          if ($k == $j && $i == 3) { break; }
        }
        if ($n % 4 == 1) { @o[$j] += $n; }
        $j++;
      }
      if ($n > 400) { break; }
    }
    print($n);`,
  "loops in a loop over a map": `
    @m[1] = 300; @m[2] = 40; @m[3] = arg0 & 255;
    $sum = 0;
    for ($kv : @m) {
      $i = 0; $n = $kv.1;
      while ($i < $n) {
        if ($i % 3 == 0) { @a[$kv.0, $i % 7] += $kv.0; $sum += 3; }
        if (@a[$kv.0, $i % 7] > 15) { $sum++; @a[$kv.0, $i % 7] = 0; }
        if ($i == 250) { break; }
        $i++;
      }
      @n[$kv.0] = $i;
    }
    print($sum);`,
  "states, texts and tuples": `
    $state = 0; $i = 0; $text = "none"; $pair = (1, "ab");
    while (1) {
      if ($state == 0) { if ($i > 3) { $state = 1; $text = "one"; } }
      else if ($state == 1) { @s[$text, $i % 4]++; if ($i > 20) { $state = 2; $pair = ($i, "cd"); } }
      else { @t[$pair] += $i; if ($i > 1500) { $text = "end"; break; } }
      $i++;
    }
    print(($i, $text, $pair));`,
};

describe("both executors", { skip: noBpf }, () => {
  for (const [name, body] of Object.entries(found)) {
    it(`agree on ${name}`, () => {
      using differential = new Differential();
      const { failure, events, entries } = differential.run(
        `rawtracepoint:differential { ${body} }`,
        randomInputs(1, runs),
        false,
      );
      assert.equal(failure, undefined, failure?.detail);
      assert.ok(events + entries > 0);
    });
  }

  it("agree on a language from outside", () => {
    using differential = new Differential();
    const text = `probe rawtracepoint differential
      a is arg0; b is arg1; $n{1} more 1; $q{a} is b / 3; $q{b} is b % -7; $d{a} is a / 2; if a > b $d{b} is 0
      c is arg2 % 3; PRINTF "%d" b; $q{0} is 10 / c; PRINTF "%d" c; $e{1} is $q{a}; $e{2} is $d{c}; $e{3} more c`;
    const { failure } = differential.run(text, randomInputs(3, runs), false, tally);
    assert.equal(failure, undefined, `${failure?.kind} ${failure?.detail}\n${failure?.ir}`);
    const known = [1n, -7n, 0n, 0n, 0n, 0n];
    const one = differential.run(
      `probe rawtracepoint differential
      $q{1} is arg1 / 2; $q{2} is arg1 % 2; $q{3} is arg0; $q{3} is 0; $q{4} is arg1 / arg2; $q{5} is 1`,
      [new Uint8Array(BigInt64Array.from(known).buffer)],
      false,
      tally,
    );
    assert.equal(one.failure, undefined, one.failure?.detail);
    assert.deepEqual(one.left, [
      // The message of the division by 0.
      "run 0: event 0 printf: ",
      "@q[0100000000000000] = fcffffffffffffff",
      "@q[0200000000000000] = 0100000000000000",
    ]);
  });

  it("agree on statistics, and on variables of a whole handler", () => {
    using differential = new Differential();
    const bodies = [
      `$s takes arg0; $s takes arg1; $k{arg2 % 3} takes arg0; $k{arg2 % 3} takes arg1
      $r{1} is count:$s; $r{2} is sum:$s + sum:$k{arg2 % 3}; $r{3} is min:$s; $r{4} is max:$k{arg2 % 3}; $r{5} is avg:$s
      $r{6} is avg:$k{arg2 % 3} - min:$k{arg2 % 3}; $r{7} is count:$k{7} + 1; PRINT hist:$s; PRINT lhist(0 9 3):$k{arg2 % 3}
      $r{8} is max:$k{5}; $r{9} is 1`,
      `$s takes arg0; PRINT variance:$s; PRINT avg:$s; $x{2} is 3`,
      `if arg0 > arg1 t is "greater"; $t{1} is t; if arg1 > 7 n is 4; $n{1} is n; $s{arg0 % 5} is 1; $s{arg1 % 5} is 2
      each k in $s r more k; each k in $s if k > 2 u is "some"; $n{2} is r; $t{2} is u`,
    ];
    for (const body of bodies)
      for (let seed = 1; seed < 4; seed++) {
        const { failure } = differential.run(
          `probe rawtracepoint differential\n${body}`,
          randomInputs(seed, runs),
          body.includes("each"),
          tally,
        );
        assert.equal(failure, undefined, `${failure?.kind} ${failure?.detail}\n${failure?.ir}`);
      }
  });

  for (const [name, body] of Object.entries(madeUp)) {
    it(`agree on ${name}`, () => {
      using differential = new Differential();
      for (const easyToVerify of [false, true]) {
        differential.easyToVerify = easyToVerify;
        for (let seed = 1; seed < 6; seed++) {
          const declared = /let @\w+ = .*;/.exec(body)?.[0] ?? "";
          const { failure, events, entries } = differential.run(
            `config = { max_map_keys=256 } ${declared} ${madeUpFunctions} rawtracepoint:differential { ${body.replace(declared, "")} }`,
            randomInputs(seed, runs),
            false,
          );
          assert.equal(failure, undefined, `${failure?.kind} ${failure?.detail}\n${failure?.ir}`);
          assert.ok(events + entries > 0);
        }
      }
    });
  }

  for (const [name, body] of Object.entries(called)) {
    it(`agree on ${name}, its rounds called`, () => {
      using differential = new Differential();
      differential.easyToVerify = true;
      differential.mayGoto = false;
      const { failure, events } = differential.run(
        `rawtracepoint:differential { ${body} }`,
        randomInputs(1, runs),
        false,
      );
      assert.equal(failure, undefined, failure?.detail);
      assert.ok(events > 0);
    });
  }

  const randomly = (t: TestContext, count: number, written: (seed: number) => RandomProgram): void => {
    using differential = new Differential();
    const failures: string[] = [];
    const totals = { instructions: 0, events: 0, entries: 0 };
    for (let seed = first; seed < first + count && failures.length < mostFailures; seed++) {
      const program = written(seed);
      differential.easyToVerify = seed % 4 === 0;
      differential.mayGoto = withRounds && seed % 8 !== 0;
      const verdict = differential.run(render(program.pieces), randomInputs(seed, runs), program.unordered);
      totals.instructions += verdict.instructions;
      totals.events += verdict.events;
      totals.entries += verdict.entries;
      if (verdict.failure === undefined) continue;
      const { pieces, failure } = shrink(differential, program, seed, verdict.failure);
      failures.push(`seed ${seed}: ${failure.kind}\n${failure.detail}\n\n${render(pieces)}\n\n${failure.ir ?? ""}`);
    }
    t.diagnostic(`${totals.instructions} instructions, ${totals.events} events, ${totals.entries} entries`);
    assert.equal(failures.length, 0, failures.join("\n\n────────\n\n"));
    // Programs that do nothing would agree too.
    if (count >= 400) assert.ok(totals.events > count && totals.entries > count, "the programs do too little");
  };

  for (const [name, body] of Object.entries({
    "a division": "@before = 1; @n = 8 / (arg0 & 1); @after = 1;",
    "a read": "@before = 1; if (arg0 & 1) { @n = *(uint64 *)(arg1 & 4088); } @after = 1;",
    "an entry that is missing": "@m[1] = 2; @n = @m[arg0 & 1]; @m[3]++; @after = 1;",
    "in a loop over a map, and not in a try":
      "@m[1] = 2; for ($kv : @m) { if (attempt()) { @n = 8 / (arg5 & 1); } else { @seen = 1; } @k = 8 / (arg0 & 1); } @after = 1;",
  })) {
    it(`agree on what ends a handler where rules say so: ${name}`, () => {
      using differential = new Differential();
      for (let seed = 1; seed < 6; seed++) {
        const script = `// ends on faults\nconfig = { max_map_keys=256 } rawtracepoint:differential { ${body} }`;
        const { failure, events, entries } = differential.run(script, randomInputs(seed, runs), false);
        assert.equal(failure, undefined, `${failure?.kind} ${failure?.detail}\n${failure?.ir}`);
        assert.ok(events + entries > 0);
      }
    });
  }

  it(`agree on ${programs} random programs`, (t) => randomly(t, programs, (seed) => randomProgram(seed)));

  it(`agree on ${programs / 2} random programs that fail, and see it`, (t) => randomly(t, programs / 2, madeUpProgram));
});
