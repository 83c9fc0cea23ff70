import assert from "node:assert/strict";
import { test } from "node:test";
import { fn, probe, resolve } from "../../../test/support/handlers.ts";
import { parse } from "../bpftrace/parse.ts";
import { printTree } from "../print-tree.ts";
import type { Binding, FunctionSource, ProbeSource } from "./binding.ts";
import { parseProbes } from "./parse.ts";
import { refusedGlobals, refusedSyntax, type RefusedSyntax } from "../../messages/typescript-refused.ts";

/** The tree of a handler, after asserting that nothing was wrong with it. */
function tree(text: string, filter?: string): string {
  const { program, diagnostics } = parseProbes([probe(text, filter)]);
  assert.deepEqual(diagnostics, []);
  return printTree(program);
}

function bpftrace(text: string): string {
  const { program, diagnostics } = parse({ name: "x", text }, { positional: [] });
  assert.deepEqual(
    diagnostics.filter((d) => d.severity === "error"),
    [],
  );
  return printTree(program);
}

/** A handler's body, and the same in bpftrace's language. */
const pairs: readonly (readonly [what: string, typescript: string, bpftrace: string])[] = [
  ["count", "m.at(comm).count()", "@m[comm] = count();"],
  ["an aggregation with several keys", "m.at(pid, comm).hist(args.ret, 2)", "@m[pid, comm] = hist(args.ret, 2);"],
  ["lhist", "m.lhist(args.ret, 0, 100, 10)", "@m = lhist(args.ret, 0, 100, 10);"],
  ["a map without keys", "m.sum(args.ret)", "@m = sum(args.ret);"],
  [
    "set and get",
    "m.set(tid, nsecs); n.at(comm).max(nsecs - m.get(tid))",
    "@m[tid] = nsecs; @n[comm] = max(nsecs - @m[tid]);",
  ],
  ["value", "m.at(pid).value += 2; m.at(pid).value++; --m.value", "@m[pid] += 2; @m[pid]++; --@m;"],
  [
    "delete, has, clear",
    "m.delete(tid); if (m.has(tid)) n.clear();",
    "delete(@m, tid); if (has_key(@m, tid)) { clear(@n); }",
  ],
  [
    "thread-local",
    "start.set(nsecs); m.hist(nsecs - start.get()); start.delete()",
    "@start[tid] = nsecs; @m = hist(nsecs - @start[tid]); delete(@start, tid);",
  ],
  [
    "let, compound assignment",
    "let x = 1; x += args.a * 2; x = x << 3;",
    "let $x = 1; $x += args.a * 2; $x = $x << 3;",
  ],
  [
    "comparison",
    "if (args.a === 1 && args.b !== 2 || !(args.c >= 3)) m.count(); else n.count();",
    "if (args.a == 1 && args.b != 2 || !(args.c >= 3)) { @m = count(); } else { @n = count(); }",
  ],
  ["the conditional operator", "m.sum(args.a > 0 ? args.a : -args.a)", "@m = sum(args.a > 0 ? args.a : -args.a);"],
  ["a short circuit as a statement", "args.ret > 0 && m.count()", "if (args.ret > 0) { @m = count(); }"],
  ["a range", "for (let i = 0; i < 5; i++) { m.at(i).count(); }", "for ($i : 0..5) { @m[$i] = count(); }"],
  ["a range with its end", "for (let i = 1; i <= 5; i += 1) m.at(i).count();", "for ($i : 1..6) { @m[$i] = count(); }"],
  ["range()", "for (const i of range(3)) m.at(i).count();", "for ($i : 0..3) { @m[$i] = count(); }"],
  [
    "while",
    "let i = 0; while (i < 5) { i++; if (i == 2) continue; if (i == 4) break; }",
    "let $i = 0; while ($i < 5) { $i++; if ($i == 2) { continue; } if ($i == 4) { break; } }",
  ],
  ["a map's entry", "for (const kv of m) { print(kv[0]); }", "for ($kv : @m) { print($kv[0]); }"],
  ["printf", 'printf("%d %s\\n", pid, str(args.filename))', 'printf("%d %s\\n", pid, str(args.filename));'],
  ["print", "print(m, 5); print(comm); print(m.at(pid))", "print(@m, 5); print(comm); print(@m[pid]);"],
  [
    "an early return with an effect",
    "if (args.a < 0) return n.count(); m.count();",
    "if (args.a < 0) { @n = count(); return; } @m = count();",
  ],
  [
    "undefined, as bundlers write it",
    "if (m.get(tid) === void 0) n.count()",
    "if (!has_key(@m, tid)) { @n = count(); }",
  ],
  ["early return", "if (args.a < 0) return; m.count();", "if (args.a < 0) { return; } @m = count();"],
  ["members", "m.at(args.file.f_path.dentry.d_name.len).count()", "@m[args.file.f_path.dentry.d_name.len] = count();"],
  ["optional chaining", "m.sum(args.sk?.sk_family)", "@m = sum(args.sk.sk_family);"],
  ["an entry with something for nothing", "n.sum(m.get(tid) ?? 7)", "@n = sum(has_key(@m, tid) ? @m[tid] : 7);"],
  ["an entry that is not there", "if (m.get(tid) === undefined) n.count()", "if (!has_key(@m, tid)) { @n = count(); }"],
  ["numbered arguments", "m.sum(args[1])", "@m = sum(arg1);"],
  [
    "casts",
    "m.sum(i32(args.ret)); n.sum(u64(args.a) >> 2)",
    "@m = sum((int32)args.ret); @n = sum((uint64)args.a >> 2);",
  ],
  [
    "a cast to a struct",
    'm.sum(cast(args.p, "struct sock").__sk_common.skc_family)',
    "@m = sum(((struct sock *)args.p)->__sk_common.skc_family);",
  ],
  [
    "sizeof, offsetof",
    'm.sum(sizeof("struct sock")); n.sum(offsetof("struct sock", "sk_state"))',
    "@m = sum(sizeof(struct sock)); @n = sum(offsetof(struct sock, sk_state));",
  ],
  ["deref", "m.sum(deref(args.p))", "@m = sum(*args.p);"],
  ["constants", "m.sum(limit); if (comm == name) return;", '@m = sum(100); if (comm == "cat") { return; }'],
  ["enums", "if (args.family == enums.AF_INET) m.count()", "if (args.family == AF_INET) { @m = count(); }"],
  [
    "words",
    'm.at(kstack(5), ustack("perf", 3)).sum(nsecs("monotonic"))',
    "@m[kstack(5), ustack(perf, 3)] = sum(nsecs(monotonic));",
  ],
  ["unsigned shift", "m.sum(args.a >>> 3)", "@m = sum((uint64)args.a >> 3);"],
  ["bigints", "m.sum(0xffff_ffff_ffff_ffffn)", "@m = sum(0xffffffffffffffff);"],
  ["great numbers", "m.sum(18446744073709551615)", "@m = sum(18446744073709551615);"],
  ["tuples", "m.set(pid, [1, comm])", "@m[pid] = (1, comm);"],
  [
    "text",
    'if (comm.startsWith("ba") || comm.includes("x")) m.count()',
    'if (strncmp(comm, "ba", 2) == 0 || strcontains(comm, "x")) { @m = count(); }',
  ],
  [
    "calls of statements",
    'exit(3); time("%H"); system("ls"); signal("KILL")',
    'exit(3); time("%H"); system("ls"); signal("KILL");',
  ],
  [
    "camel case",
    "m.at(leaderComm, ppid).count(); print(isErr(args.p))",
    "@m[leader_comm, ppid] = count(); print(is_err(args.p));",
  ],
  ["a task's member", "m.at(curtask.mm.pgd).count()", "@m[curtask.mm.pgd] = count();"],
];

for (const [what, typescript, script] of pairs) {
  test(`${what}: the same tree as in bpftrace's language`, () => {
    assert.equal(tree(`(args) => { ${typescript} }`), bpftrace(`tracepoint:a:b { ${script} }`));
  });
}

test("types of the program's own", () => {
  const { program } = parseProbes([
    probe("(args) => { m.sum(sizeof(header)); if (args.c === color.BLUE) n.count(); }"),
  ]);
  assert.deepEqual(
    program.structs.map(({ name, union, members }) => [name, union, members.map((one) => one.name)]),
    [
      ["header", false, ["kind", "low", "color", "name", "next", ""]],
      ["header_#2", true, ["a", "b"]],
    ],
  );
  assert.deepEqual(
    program.enums.map(({ name, constants }) => [name, constants]),
    [
      [
        "color",
        [
          { name: "RED", value: 1n },
          { name: "BLUE", value: 5n },
        ],
      ],
    ],
  );
  const types: Readonly<Record<string, string>> = {
    'cast(args.p, "u32")': "(uint32)args.p".replace("uint32", "u32"),
    "cast(args.p, u32)": "(uint32)args.p",
    "cast(args.p, word)": "(u16 *)args.p",
    "cast(args.p, pointerTo(word))": "(u16 **)args.p",
    "cast(args.p, arrayOf(u8, 8))": "(uint8[8])args.p",
    "cast(args.p, header)": "(struct header *)args.p",
    "cast(args.p, pointerTo(header))": "(struct header *)args.p",
    "cast(args.p, typeof args.q)": "(typeof(args.q))args.p",
    "sizeof(arrayOf(header, 2))": "sizeof(struct header[2])",
    "sizeof(header)": "sizeof(struct header)",
    'sizeof("u16")': "sizeof(u16)",
    "sizeof(typeof args.p)": "sizeof(args.p)",
    'sizeof(typeof "abcd")': 'sizeof("abcd")',
    "sizeof(u16(1))": "sizeof((uint16)1)",
    'offsetof(header, "next.kind")': "offsetof(struct header, next.kind)",
    'containerOf(args.p, header, "next")': "container_of(args.p, struct header, next)",
    'offsetof(typeof deref(args.p), "x")': "offsetof(*args.p, x)",
    "cast(args.p, color)": "(enum color)args.p",
    "color.RED": "(enum color)1",
  };
  for (const [typescript, script] of Object.entries(types)) {
    assert.equal(
      tree(`(args) => m.sum(${typescript})`).match(/\(probe[^]*/)?.[0],
      bpftrace(`tracepoint:a:b { @m = sum(${script}); }`),
      typescript,
    );
  }
});

test("forms of handlers", () => {
  const script = bpftrace("tracepoint:a:b { @m[args.ret] = count(); }");
  for (const text of [
    "({ ret }) => m.at(ret).count()",
    "({ ret: r }) => { m.at(r).count(); }",
    "function (a) { m.at(a.ret).count(); }",
    "handler(args) { m.at(args.ret).count(); }",
  ])
    assert.equal(tree(text), script, text);
  assert.equal(tree("([fd, , size]) => m.at(fd).sum(size)"), bpftrace("tracepoint:a:b { @m[arg0] = sum(arg2); }"));
});

test("an entry can have a name, and its keys are read once", () => {
  assert.equal(
    tree("(args) => { const e = m.at(args.ret); e.count(); }"),
    bpftrace("tracepoint:a:b { let $key = args.ret; @m[$key] = count(); }").replaceAll("$key", "$key#1"),
  );
});

test("several probes have one handler", () => {
  const source = { ...probe("(args) => m.count()"), also: [{ provider: "kprobe", parts: ["f"] }] };
  assert.equal(printTree(parseProbes([source]).program), bpftrace("tracepoint:a:b, kprobe:f { @m = count(); }"));
});

test("filters are predicates", () => {
  assert.equal(
    tree("(args) => m.count()", "(args) => args.ret > 0 && pid === 3"),
    bpftrace("tracepoint:a:b /args.ret > 0 && pid == 3/ { @m = count(); }"),
  );
  assert.equal(
    tree("(args) => m.count()", "({ ret }) => { return ret > 0; }"),
    bpftrace("tracepoint:a:b /args.ret > 0/ { @m = count(); }"),
  );
});

test("templates are formats by type", () => {
  assert.match(
    tree("(args) => print(`100% ${pid} ${comm}: ${args.flags.toString(16)}`)"),
    /\(printf "100%% %v %v: %x\\n" pid comm \(\. args flags\)\)/,
  );
  assert.match(tree('(args) => console.log("a", pid, `b${tid}`)'), /\(printf "a %v b%v\\n" pid tid\)/);
  assert.match(
    tree(
      "(args) => print(`${pid.toString(16).padStart(8, '0')}|${comm.padEnd(16)}|${pid.padStart(6, '0')}|${String(pid).padStart(4)}|${'ab'.padEnd(3)}`)",
    ),
    /\(printf "%08x\|%-16v\|%06d\|%4v\|%-3v\\n" pid comm pid pid "ab"\)/,
  );
  assert.match(tree("(args) => system(`kill ${pid}`)"), /\(system "kill %v" pid\)/);
});

test("texts", () => {
  const same = (typescript: string, script: string): void =>
    assert.equal(
      tree(`(args) => m.sum(${typescript})`),
      bpftrace(`tracepoint:a:b { @m = sum(${script}); }`),
      typescript,
    );
  same("strlen(`${comm}:${args.name}x`)", 'strlen(str_concat(str_concat(str_concat(comm, ":"), args.name), "x"))');
  same("strlen(`${comm}`)", 'strlen(str_concat(comm, ""))');
  same('strlen(comm.concat("a", "b"))', 'strlen(str_concat(str_concat(comm, "a"), "b"))');
  same("comm.charCodeAt(2)", "((uint8[])comm)[2]");
  same("strlen(comm.slice(0, 3))", "strlen(str(str(comm), 4))");
  same("strlen(comm.slice(0, args.n))", "strlen(str(str(comm), args.n + 1))");
  same("ports.includes(args.port)", "args.port == 80 || args.port == 443");
  assert.match(
    tree("(args) => m.sum(ports.includes(double(1)))"),
    /\(do \(let \$kept#1 \(double 1\)\) \(value \(\|\| \(== \$kept#1 80\) \(== \$kept#1 443\)\)\)\)/,
  );
  same("ports[1] + limits.deep.low", "443 + 3");
  same("ports[args.n]", "args.n == 0 ? 80 : args.n == 1 ? 443 : 0");
  same("Math.min(args.a, args.b)", "args.b < args.a ? args.b : args.a");
  same("Math.ceil(args.a / 1000)", "args.a % 1000 > 0 ? args.a / 1000 + 1 : args.a / 1000");
  assert.match(tree("(args) => m.sum(Math.trunc(args.a / 1000))"), /\(trunc \(\/ \(\. args a\) 1000\)\)/);
  assert.equal(
    tree("(args) => { m.set(tid, m.get(tid)! + args.a); }".replace("!", "")),
    bpftrace("tracepoint:a:b { @m[tid] += args.a; }"),
  );
  const printed = (typescript: string, script: string): void =>
    assert.equal(tree(`(args) => ${typescript}`), bpftrace(`tracepoint:a:b { ${script} }`), typescript);
  printed('print("pid " + pid + " of " + comm)', 'printf("pid %v of %v\\n", pid, comm);');
  printed("print(args.a.toString(16))", 'printf("%x\\n", args.a);');
  printed('print(args.a + args.b + " in all")', 'printf("%v in all\\n", args.a + args.b);');
});

test("names that hide others have their own variable", () => {
  assert.equal(
    tree("(args) => { let x = 1; { let x = 2; m.sum(x); } m.sum(x); }"),
    bpftrace("tracepoint:a:b { let $x = 1; { let $x_2 = 2; @m = sum($x_2); } @m = sum($x); }"),
  );
});

test("what is taken apart", () => {
  assert.equal(
    tree("(args) => { const { a, b: { c } } = args; m.at(a).sum(c); }"),
    bpftrace("tracepoint:a:b { let $a = args.a; let $c = args.b.c; @m[$a] = sum($c); }"),
  );
  assert.match(
    tree("(args) => { for (const [[a, b], v] of m) print([b, v]); }"),
    /\(for \$entry#1 @m \(do \(print \(tuple \(\. \(\. \$entry#1 0\) 1\) \(\. \$entry#1 1\)\)\)\)\)/,
  );
  assert.match(tree("(args) => { for (const k of m.keys()) print(k); }"), /\(print \(\. \$k 0\)\)/);
});

test("functions become functions, once, with types from their calls", () => {
  const got = tree("(args) => { note(pid, double(args.ret)); note(tid, 1); }");
  assert.equal(
    got,
    `(fn double ($x) (return (* $x 2)))
(fn note ($key $value) (if (> $value 9) (do (return))) (aggregate sum (@m $key) $value))
(probe tracepoint:a:b
  (note pid (double (. args ret)))
  (note tid 1))
`,
  );
});

test("parameters may have defaults", () => {
  assert.equal(
    tree("(args) => { m.sum(shift(args.ret)); m.sum(shift(args.ret, 5)); m.sum(shift(args.ret, 5, 6)); }"),
    `(fn shift ($x) (let $by 3) (let $more (+ $by 100)) (return (+ (<< $x $by) $more)))
(fn shift_2 ($x $by) (let $more (+ $by 100)) (return (+ (<< $x $by) $more)))
(fn shift_3 ($x $by $more) (return (+ (<< $x $by) $more)))
(probe tracepoint:a:b
  (aggregate sum @m (shift (. args ret)))
  (aggregate sum @m (shift_2 (. args ret) 5))
  (aggregate sum @m (shift_3 (. args ret) 5 6)))
`,
  );
});

test("jumps", () => {
  const same = (typescript: string, script: string): void => {
    const named = (text: string): string => text.replaceAll(/\$(leaves|case|from)#?\d*/g, "$$$1");
    assert.equal(
      named(tree(`(args) => { ${typescript} }`)),
      named(bpftrace(`tracepoint:a:b { ${script} }`)),
      typescript,
    );
  };
  same(
    "out: for (const i of range(3)) { for (const j of range(3)) { if (j == 1) continue out; if (i == 2) break out; m.count(); } }",
    `let $leaves = 0; for ($i : 0..3) { for ($j : 0..3) { if ($j == 1) { $leaves = 2; break; } if ($i == 2) { $leaves = 1; break; } @m = count(); }
       if ($leaves == 2) { $leaves = 0; continue; } if ($leaves == 1) { break; } }`,
  );
  same(
    "a: for (const i of range(2)) for (const j of range(2)) for (const k of range(2)) break a;",
    `let $leaves = 0; for ($i : 0..2) { for ($j : 0..2) { for ($k : 0..2) { $leaves = 1; break; } if ($leaves != 0) { break; } } if ($leaves == 1) { break; } }`,
  );
  same("done: { if (args.a) break done; m.count(); }", "unroll(1) { if (args.a) { break; } @m = count(); }");
});

test("C's loops, and switches, are the tree's own", () => {
  const body = (typescript: string): string => tree(`(args) => { ${typescript} }`).replaceAll(/\s+/g, " ");
  const probe = (inside: string): string => `(probe tracepoint:a:b ${inside}) `;
  assert.equal(
    body("for (let i = 0; i < args.n; i += 2) { if (i == 4) continue; m.count(); }"),
    probe(
      "(do (let $i 0) (for () (< $i (. args n)) ((+= $i 2)) (do (if (== $i 4) (do (continue))) (aggregate count @m))))",
    ),
  );
  assert.equal(
    body("for (let i = 0; i < args.n; i++) { let i = 7; if (i == 3) continue; }"),
    probe("(do (let $i 0) (for () (< $i (. args n)) ((_++ $i)) (do (let $i_2 7) (if (== $i_2 3) (do (continue))))))"),
  );
  assert.equal(
    body("let i = 0; do { i++; if (i == 4) continue; m.count(); } while (i < 9);"),
    probe("(let $i 0) (do-while (do (_++ $i) (if (== $i 4) (do (continue))) (aggregate count @m)) (< $i 9))"),
  );
  assert.equal(
    body("for (;;) { switch (args.a) { case 0: if (args.b) break; continue; case 1: m.count(); case 2: n.count(); } }"),
    probe(
      "(for () always () (do (switch ($case#1 (. args a)) (case 0 (do (if (. args b) (do (break))) (continue))) (case 1 (do (aggregate count @m))) (case 2 (do (aggregate count @n))))))",
    ),
  );
  assert.equal(
    body("switch (args.a) { case 1: case 2: m.count(); break; case 3: return; default: n.count(); }"),
    probe(
      "(switch ($case#1 (. args a)) (case 1 2 (do (aggregate count @m) (break))) (case 3 (do (return))) (case default (do (aggregate count @n))))",
    ),
  );
});

test("what fails", () => {
  const body = (typescript: string): string => tree(`(args) => { ${typescript} }`).replaceAll(/\s+/g, " ");
  assert.equal(
    body('try { m.sum(8 / args.a); throw new Error("text"); } catch (e) { print(e.message); throw e; }'),
    '(probe tracepoint:a:b (try (do (aggregate sum @m (/ 8 (. args a))) (throw "text")) (catch $e (do (print (. $e message)) (throw $e))))) ',
  );
  assert.equal(
    body("try { m.count(); } catch { }"),
    "(probe tracepoint:a:b (try (do (aggregate count @m)) (catch (do)))) ",
  );
  assert.equal(
    body("try { for (const i of range(3)) { if (i > args.a) break; } } finally { m.count(); }").replace(
      /.* \(try/,
      "(try",
    ),
    "(try (do (for $i (.. 0 3) (do (if (> $i (. args a)) (do (break)))))) (catch $failed#1 (do (do (aggregate count @m)) (throw $failed#1)))) (do (aggregate count @m))) ",
  );
  assert.match(
    body("try { m.count(); } catch { n.count(); } finally { m.clear(); }"),
    /\(try \(do \(try \(do \(aggregate count @m\)\) \(catch \(do \(aggregate count @n\)\)\)\)\) \(catch \$failed#\d/,
  );
  for (const [text, message] of [
    [
      "try { if (args.a) return; m.count(); } finally { m.clear(); }",
      "a try with a `finally` cannot be left by a jump or a return",
    ],
    [
      "while (args.a) { try { break; } finally { m.clear(); } }",
      "a try with a `finally` cannot be left by a jump or a return",
    ],
    ["try { m.count(); } catch ({ message }) { }", "an error is caught under a name"],
    ["throw new Error();", "an error has a message, and nothing else"],
  ] as const)
    assert.deepEqual(
      parseProbes([probe(`(args) => { ${text} }`)]).diagnostics.map((one) => one.message),
      [message],
    );
});

test("assignments and commas have values", () => {
  const same = (typescript: string, script: string): void =>
    assert.equal(tree(`(args) => { ${typescript} }`), bpftrace(`tracepoint:a:b { ${script} }`), typescript);
  same(
    "let x = 0; let y = x = 5; while ((x = args.n - y) > 0) y++;",
    "let $x = 0; let $y = { $x = 5; $x }; while ({ $x = args.n - $y; $x } > 0) { $y++; }",
  );
  same("let x = 1; m.sum((x++, x * 2));", "let $x = 1; @m = sum({ $x++; $x * 2 });");
  same(
    "let x = -1; x >>>= 3; while (x > 0) x |= 1, x %= 3;",
    "let $x = -1; $x = (uint64)$x >> 3; while ($x > 0) { $x |= 1; $x %= 3; }",
  );
  same(
    "m.sum((() => { const twice = args.a * 2; return twice + 1; })());",
    "@m = sum({ let $twice = args.a * 2; $twice + 1 });",
  );
});

test("a function that is given maps and events is one for each", () => {
  const got = tree("(args) => { tally(m, pid, opened); tally(n, tid, opened); tally(m, 1, opened); }");
  assert.equal(
    got,
    `(fn tally ($key) (aggregate count (@m $key)) (emit "opened" (record (key $key))))
(fn tally_2 ($key) (aggregate count (@n $key)) (emit "opened" (record (key $key))))
(probe tracepoint:a:b
  (tally pid)
  (tally_2 tid)
  (tally 1))
`,
  );
  const { diagnostics } = parseProbes([probe("(args) => print(apart(m))")]);
  assert.deepEqual(
    diagnostics.map(({ message }) => message),
    ["a map cannot be destructured"],
  );
});

test("events", () => {
  const { program, diagnostics, names } = parseProbes([
    probe("(args) => opened.emit({ pid, path: str(args.filename), at: BigInt(nsecs) })"),
  ]);
  assert.deepEqual(diagnostics, []);
  assert.match(
    printTree(program),
    /\(emit "opened" \(record \(pid pid\) \(path \(str \(\. args filename\)\)\) \(at \(\+ nsecs\)\)\)\)/,
  );
  assert.deepEqual([...names.exact], [["opened", new Set(["at"])]]);
});

test("a constant read from an entry knows whether there was one, when it is asked", () => {
  assert.equal(
    tree("(args) => { const t = m.get(tid); if (t === undefined) return; n.sum(t); }"),
    bpftrace(
      "tracepoint:a:b { let $there = has_key(@m, tid); let $t = @m[tid]; if (!$there) { return; } @n = sum($t); }",
    ).replaceAll("$there", "$there#1"),
  );
  assert.equal(
    tree("(args) => { let t = m.get(tid); t ??= 4; n.sum(t); }"),
    bpftrace(
      "tracepoint:a:b { let $there = has_key(@m, tid); let $t = @m[tid]; if (!$there) { $t = 4; $there = true; } @n = sum($t); }",
    ).replaceAll("$there", "$there#1"),
  );
  assert.equal(
    tree("(args) => { let t; if (args.a) t = m.get(1); if (t === undefined) return; n.sum(t); }"),
    bpftrace(
      "tracepoint:a:b { let $there = false; let $t; if (args.a) { $there = has_key(@m, 1); $t = @m[1]; } if (!$there) { return; } @n = sum($t); }",
    ).replaceAll("$there", "$there#1"),
  );
  assert.equal(
    tree("(args) => { const t = m.get(tid); n.sum(t); }"),
    bpftrace("tracepoint:a:b { let $t = @m[tid]; @n = sum($t); }"),
  );
});

test("what a chain leads to is there when its last address is", () => {
  assert.match(
    tree("(args) => m.sum(args.sk?.sk_family ?? 7)"),
    /\(aggregate sum @m \(\? \(null \(\. args sk\)\) \(\. \(\. args sk\) sk_family\) 7\)\)/,
  );
  assert.match(
    tree("(args) => n.sum(m.get(tid)?.x ?? 7)"),
    /\(aggregate sum @n \(\? \(&& \(has_key @m tid\) \(null \(@m tid\)\)\) \(\. \(@m tid\) x\) 7\)\)/,
  );
});

test("an object is true when it is there", () => {
  assert.match(
    tree("(args) => { const r = m.get(tid); if (!r) return; n.sum(r.x); }"),
    /\(let \$there#1 \(has_key @m tid\)\)\s+\(let \$r \(@m tid\)\)\s+\(if \(! \(truth \$r \$there#1\)\) \(do \(return\)\)\)/,
  );
});

test("logical operators as values give one of the two", () => {
  assert.match(tree("(args) => m.sum(args.a || 5)"), /\(aggregate sum @m \(\? \(\. args a\) \(\. args a\) 5\)\)/);
  assert.match(
    tree("(args) => m.sum(double(1) && 5)"),
    /\(do \(let \$left#1 \(double 1\)\) \(value \(\? \$left#1 5 \$left#1\)\)\)/,
  );
  assert.match(tree("(args) => { let yes = args.a > 1 && args.b < 2; }"), /\(let \$yes \(&& /);
});

// ── refusals ──

const invalid: Readonly<Record<RefusedSyntax, readonly [text: string, at: string]>> = {
  ArrowFunctionExpression: ["(args) => print(() => 1)", "() => 1"],
  FunctionExpression: ["(args) => m.set(1, function () {})", "function () {}"],
  ClassDeclaration: ["(args) => { class A {} }", "class A {}"],
  ClassExpression: ["(args) => { const a = class {}; }", "class {}"],
  NewExpression: ["(args) => { const a = new Map(); }", "new Map()"],
  ThisExpression: ["(args) => m.sum(this.x)", "this"],
  Super: ["handler(args) { m.sum(super.x); }", "super"],
  MetaProperty: ["(args) => print(import.meta)", "import.meta"],
  // These three cannot be in a function that is not refused already, or does not parse.
  AwaitExpression: ["", ""],
  YieldExpression: ["", ""],
  WithStatement: ["", ""],
  ImportExpression: ['(args) => print(import("x"))', 'import("x")'],
  LabeledStatement: ["(args) => { a: m.count(); }", "a: m.count();"],
  DebuggerStatement: ["(args) => { debugger; }", "debugger;"],
  ForInStatement: ["(args) => { for (const k in args) { } }", "for (const k in args) { }"],
  TaggedTemplateExpression: ["(args) => print(tag`x`)", "tag`x`"],
  SpreadElement: ["(args) => print(...m)", "...m"],
  RestElement: ["({ a, ...rest }) => print(a)", "...rest"],
  RegExpLiteral: ["(args) => print(/x/)", "/x/"],
  async: ["async (args) => { }", "a"],
  generator: ["function* (args) { }", "f"],
  typeof: ["(args) => print(typeof pid)", "typeof pid"],
  void: ["(args) => print(void 0)", "void 0"],
  delete: ["(args) => { delete args.x; }", "delete args.x"],
  in: ['(args) => print("a" in args)', '"a" in args'],
  instanceof: ["(args) => print(args instanceof Object)", "args instanceof Object"],
  power: ["(args) => m.sum(args.a ** 2)", "args.a ** 2"],
  inexact: ["(args) => m.sum(1e30)", "1e30"],
  null: ["(args) => m.set(1, null)", "null"],
  undefined: ["(args) => m.set(1, undefined)", "undefined"],
};

for (const [kind, [text, at]] of Object.entries(invalid)) {
  if (at === "") continue;
  test(`refused: ${kind}`, () => {
    const { diagnostics, pieces } = parseProbes([probe(text)]);
    assert.equal(diagnostics.length, 1, JSON.stringify(diagnostics));
    const [{ message, help, span }] = diagnostics;
    const { message: wanted, help: wantedHelp } = refusedSyntax[kind as RefusedSyntax]();
    assert.deepEqual([message, help, pieces.text.slice(span.start, span.end)], [wanted, wantedHelp, at]);
  });
}

for (const [name, said] of Object.entries(refusedGlobals)) {
  test(`refused: ${name}`, () => {
    const { message, help } = said();
    const { diagnostics, pieces } = parseProbes([probe(`(args) => { print(${name}.x); }`)]);
    const [first, ...rest] = diagnostics;
    assert.deepEqual(rest, []);
    assert.deepEqual(
      [first.message, first.help, pieces.text.slice(first.span.start, first.span.end)],
      [message, help, name],
    );
  });
}

const mistakes: readonly (readonly [text: string, at: string, message: RegExp])[] = [
  ["(args) => print(nothing)", "nothing", /`nothing` cannot be resolved from the handler's source/],
  ["(args) => print(list)", "list", /`list` is an array, which a handler cannot use/],
  ["(args) => { limit = 3; }", "limit", /`limit` is captured as a constant/],
  ["(args) => { limit++; }", "limit", /`limit` is captured as a constant/],
  ["(args) => { const x = 1; x++; }", "x", /`x` is a const/],
  ["(args) => { args.x = 1; }", "args.x", /traced memory is read-only/],
  ["(args) => m.push(1)", "push", /there is no push\(\) of a map/],
  ["(args) => print(m.first)", "first", /a map has no `first`/],
  ["(args) => m.sum(args.a ?? 1)", "args.a ?? 1", /`??` expects a value that may be missing/],
  ["(args, more) => m.count()", "more", /the handler of this probe has one parameter/],
  ["(args) => { let x = 1; x **= 2; }", "x **= 2", /no power operator/],
  ["(args) => m.sum((() => { if (args.a) return 1; return 2; })())", "return 1;", /returns at its end only/],
  ["(args) => { const f = (x) => f(x - 1); m.sum(f(3)); }", "f(x - 1)", /cannot call itself/],
  [
    "(args) => { const f = (x) => { if (x) return 1; return 2; }; m.sum(f(3)); }",
    "return 1;",
    /returns at its end only/,
  ],
  ["(args) => { const f = (x) => x; m.sum(f()); }", "x", /`x` is not given/],
  ["(args) => { const f = () => 1; m.sum(f(1)); }", "f(1)", /takes 0 arguments/],
  ["(args) => { const f = () => 1; m.sum(f); }", "f", /this is a function/],
  ["(args) => { const f = async () => 1; }", "async () => 1", /a handler cannot wait/],
  ["(args) => m.sum(((x) => x)(1))", "(x) => x", /takes no parameters/],
  ["(args) => { const n = args.n; for (const x of n) { } }", "n", /expects a map, a range, or a list/],
  ["(args) => m.sum(2n ** 65n)", "2n ** 65n", /no power operator/],
  ["(args) => m.sum(99999999999999999999n)", "99999999999999999999n", /does not fit 64 bits/],
  ["(args) => m.sum(m.count())", "m.count()", /this has no value/],
  ["(args) => print(Math.PI)", "Math", /there is no Math in the kernel/],
  ["(args) => print(Math.sqrt(2))", "Math.sqrt(2)", /there is no Math.sqrt\(\) in the kernel/],
  ["(args) => print(Math.round(args.a / 2))", "Math.round(args.a / 2)", /there is no Math.round\(\) in the kernel/],
  ["(args) => print(ports.map((port) => port))", "map", /there is no map\(\) of an array/],
  ["(args) => m.forEach((value) => print(value))", "forEach", /there is no forEach\(\) of a map/],
  ["(args) => print(limits[args.n])", "limits[args.n]", /an object cannot be searched/],
  ["(args) => { for (const [a, b] of ports) print(a); }", "[a, b]", /expected numbers or strings in the list/],
  ["(args) => print(header)", "header", /a type is not a value/],
  ["(args) => { const { a, b: [c] } = new Map(); print(a, c); }", "new Map()", /no objects to make/],
  ["(args) => print(`${pid.padStart(args.n)}`)", "pid.padStart(args.n)", /a literal width/],
  ["(args) => { let a = 1; [a] = [1, 2]; }", "[a]", /as many targets/],
  ["(args) => print(ports)", "ports", /`ports` is an array, which a handler cannot use/],
  ["(args) => print(limits.high)", "high", /there is no `high` in it/],
  ["(args) => m.set(1, pid.toString())", "pid.toString()", /numbers become text where they are printed/],
  ["(args) => print(comm.substring(-1))", "comm.substring(-1)", /substring\(\) takes no negative positions/],
  ["(args) => print(comm.normalize())", "normalize", /there is no normalize\(\) in a handler/],
  ["(args) => print(color.GREEN)", "GREEN", /color has no `GREEN`/],
  ["(args) => print(cast(args.p, m))", "m", /expected a type/],
  ['(args) => print(cast(args.p, "u8["))', '"u8["', /expected a type/],
  ["(args) => print(header(args.p))", "header(args.p)", /a type cannot be called/],
];
for (const [text, at, message] of mistakes) {
  test(`refused: ${text}`, () => {
    const { diagnostics, pieces } = parseProbes([probe(text)]);
    assert.equal(diagnostics.length, 1, JSON.stringify(diagnostics));
    assert.match(diagnostics[0].message, message);
    assert.equal(pieces.text.slice(diagnostics[0].span.start, diagnostics[0].span.end), at);
  });
}

test("what does not parse is told where it does not", () => {
  const { diagnostics } = parseProbes([probe("(args) => { let = = 3 }")]);
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    ["syntax"],
  );
  const native = parseProbes([probe("function () { [native code] }")]);
  assert.deepEqual(
    native.diagnostics.map(({ message }) => message),
    ["the function's source is not available"],
  );
});

test("what is undefined around the handler is asked for when it is compiled", () => {
  const nothing: Binding = { kind: "nothing", what: "undefined" };
  const same = (typescript: string, script: string): void => {
    const handler: FunctionSource = {
      ...fn(typescript),
      resolve: (name) => (name === "none" ? nothing : resolve(name)),
    };
    const { program, diagnostics } = parseProbes([{ ...probe(typescript), handler }]);
    assert.deepEqual(diagnostics, []);
    assert.equal(printTree(program), bpftrace(`tracepoint:a:b { ${script} }`), typescript);
  };
  same("(args) => { if (none !== undefined && pid !== none) return; m.count(); }", "@m = count();");
  same("(args) => { if (none === undefined || pid === none) m.count(); }", "{ @m = count(); }");
  same("(args) => { if (none && args.a > none) return; else m.sum(none ?? 3); }", "{ @m = sum(3); }");
  same(
    "(args) => { if (args.a > 1 && none === null) m.sum(none ? none : 2); }",
    "if (args.a > 1 && true) { @m = sum(2); }",
  );
  same("(args) => m.sum(limit ?? none)", "@m = sum(100);");
  same("(args) => { if (limit === undefined) m.count(); else n.sum(none || limit); }", "{ @n = sum(100); }");
});

test("what is nested without end is refused", () => {
  for (const text of [
    `(args) => m.sum(${"-(".repeat(500)}1${")".repeat(500)})`,
    `(args) => { ${"if (1) {".repeat(500)} ${"}".repeat(500)} }`,
    `(args) => m.sum(args${".a".repeat(5000)})`,
    `(args) => m.sum(${"1 + ".repeat(5000)}1)`,
    `(args) => { if (${"pid && ".repeat(5000)}1) m.count(); }`,
    `(args) => m.sum(${"(".repeat(100_000)}1${")".repeat(100_000)})`,
  ]) {
    const { diagnostics } = parseProbes([probe(text)]);
    assert.ok(["limit", "syntax"].includes(diagnostics[0]?.code ?? ""), text.slice(0, 40));
  }
});

test("one mistake does not hide the next", () => {
  const { diagnostics } = parseProbes([probe("(args) => { print(one); print(two); if (args.x) { print(three); } }")]);
  assert.equal(diagnostics.length, 3);
});

test("places lead back to the file", () => {
  const file = 'import { tracepoint } from "strobe";\ntracepoint("a:b", (args: Args) => print(nothing));\n';
  const offset = file.indexOf("(args");
  const text = "(args      ) => print(nothing)";
  const source = probe(text);
  const { diagnostics, pieces, program } = parseProbes([
    { ...source, handler: { ...source.handler, place: { file: "x.ts", text: file, offset } } },
  ]);
  const { source: where, diagnostic } = pieces.local(diagnostics[0]);
  assert.equal(where.name, "x.ts");
  assert.equal(file.slice(diagnostic.span.start, diagnostic.span.end), "nothing");
  const { span } = program.probes[0].specs[0];
  assert.equal(file.slice(span.start, span.end), "b");
});

test("places of one file are one source, whichever lines they know", () => {
  const lines = ["// first", 'tracepoint("a:b", () => print(one));', "", '  tracepoint("a:b", () => print(two));'];
  const at = (line: number): ProbeSource => {
    const text = "\n".repeat(line) + lines[line];
    const source = probe(lines[line].slice(lines[line].indexOf("()"), -2));
    return { ...source, handler: { ...source.handler, place: { file: "x.ts", text, offset: text.indexOf("()") } } };
  };
  const { diagnostics, pieces } = parseProbes([at(3), at(1)]);
  const found = diagnostics.map((each) => pieces.local(each));
  assert.deepEqual(
    found.map(({ source }) => source.text),
    Array.from({ length: 2 }, () => ["", ...lines.slice(1)].join("\n")),
  );
  assert.deepEqual(
    found.map(({ source, diagnostic: { span } }) => source.text.slice(span.start, span.end)),
    ["two", "one"],
  );
});

test("a trace has a probe", () => {
  const { diagnostics } = parseProbes([]);
  assert.deepEqual(
    diagnostics.map(({ code, message }) => [code, message]),
    [["syntax", "no probe to trace"]],
  );
});
