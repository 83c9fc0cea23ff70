// Where a message says what bpftrace says as well, it begins with bpftrace's words, since people search for them. The
// words are those of bpftrace 0.27.1 for the same script.
import assert from "node:assert/strict";
import { test } from "node:test";
import { strobe } from "../../support/strobe.ts";

const scripts: readonly (readonly [script: string, words: string])[] = [
  ["kprobe { exit(); }", "kprobe probe type requires "],
  ["tracepoint:sched { exit(); }", "tracepoint probe type requires 2 arguments, found 1"],
  ["tracepoint:a:b:c { exit(); }", "tracepoint probe type requires 2 arguments, found 3"],
  ["software:a:b:c { exit(); }", "software probe type requires 1 or 2 arguments, found 3"],
  ["hardware { exit(); }", "hardware probe type requires 1 or 2 arguments, found 0"],
  ["begin:a { exit(); }", "begin probe type requires 0 arguments, found 1"],
  ["interval:s { exit(); }", "invalid rate of interval probe: invalid integer: s"],
  ["interval:s:a { exit(); }", "invalid rate of interval probe: invalid integer: a"],
  ["interval:s:0 { exit(); }", "interval frequency should be a positive integer"],
  ["interval:xx:1 { exit(); }", "xx is not an accepted unit of time"],
  ["profile:hz:0 { exit(); }", "profile frequency should be a positive integer"],
  ["profile:hz:-1 { exit(); }", "profile frequency should be a positive integer"],
  ["software:nope:1 { exit(); }", "nope is not a software probe"],
  ["hardware:nope:1 { exit(); }", "nope is not a hardware probe"],
  ["hardware:cache-misses:a { exit(); }", "invalid count for hardware probe: invalid integer: a"],
  ["iter:nope { exit(); }", "iter nope not available for your kernel version"],
  ['begin { kaddr("nope_xx"); }', "failed to resolve kernel symbol: nope_xx"],
  ["begin { kaddr(1); }", "kaddr() expects a string literal (int"],
  ['begin { reg("zz"); }', 'reg can not be used with "begin" probes'],
  ["begin { printf(); }", "printf() requires at least one argument (0 provided)"],
  ["begin { @ = hist(); }", "hist() requires at least one argument (0 provided)"],
  ["begin { @ = hist(1,2,3); }", "hist() takes up to 2 arguments (3 provided)"],
  ["begin { @ = lhist(1); }", "lhist() requires 4 arguments (1 provided)"],
  ["begin { @ = count(1); }", "count() requires no arguments (1 provided)"],
  ["begin { @ = sum(); }", "sum() requires one argument (0 provided)"],
  ['begin { @ = avg("a"); }', "avg() only supports integer arguments (string[2] provided)"],
  ["begin { strftime(1); }", "strftime() requires at least 2 arguments (1 provided)"],
  ["begin { time(1); }", "time() expects a string literal (int"],
  ["begin { len(1); }", "call to len() expects a map, ustack, or kstack"],
  ['begin { kstack("x"); }', "kstack: invalid limit value"],
  ["begin { kstack(nope); }", "error parsing stack mode: kstack: invalid value for stack_mode: "],
  ["begin { $x = (1,2); $x.5; }", "invalid tuple index: 5"],
  [
    "begin { $x = 1; $x[0]; }",
    "the array index operator [] can only be used on arrays, pointers, and tuples, found int",
  ],
  ['begin { -"a"; }', "the - operator can not be used on expressions of type 'string[2]'"],
  [
    "begin { @x = count(); for ($i : @x) { } }",
    "@x has no explicit keys (scalar map), and cannot be used for iteration",
  ],
  ["begin { break; }", "'break' statement is not allowed in a probe"],
  ['import "nope.bt"; begin { exit(); }', "unable to find suitable path for import"],
  ["macro f($x) { $x } begin { f(1,2); }", "call to f() has arguments that do not match any definition"],
  ["macro f($x) { $x } macro f($y) { $y } begin { f(1); }", "redefinition of macro: f"],
  ["uprobe:/bin/ls:nope_nope { exit(); }", "no matches for uprobe /bin/ls:nope_nope"],
];

for (const [script, words] of scripts) {
  test(script, async () => {
    const { stderr, code } = await strobe(["-e", script]);
    const [said] = stderr.split("\n").flatMap((line) => /^-e:\d+:\d+: error: (.*)$/.exec(line)?.[1] ?? []);
    assert.ok(said?.startsWith(words), stderr);
    assert.equal(code, 1);
  });
}

const options: readonly (readonly [args: readonly string[], words: string])[] = [
  [["-B", "zz"], "-B must be either 'line', 'full', or 'none'"],
  [["-d", "zz"], "invalid option for -d: zz"],
  [["-f", "zz"], 'invalid output format "zz"'],
];

for (const [args, words] of options) {
  test(args.join(" "), async () => {
    const { stderr, code } = await strobe([...args, "-e", "begin { exit(); }"]);
    assert.ok(stderr.startsWith(`strobe: ${words}`), stderr);
    assert.equal(code, 1);
  });
}
