import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "../bpftrace/parse.ts";
import type { Context } from "../context.ts";
import type { Expression, Statement } from "../program.ts";
import type { EnumType, PointerType, StructType, Type } from "../types.ts";
import { i32, i64, i8, u32, u64 } from "../types.ts";
import { check } from "./check.ts";
import type { CheckOptions } from "./check.ts";
import type { Capabilities } from "../../linux/kernel/capabilities.ts";
import type { CheckedProgram } from "../checked-program.ts";
import type { ResolvedProbe } from "../resolved-probe.ts";
import type { TypeScope } from "../type-scope.ts";
import { describe as typeText } from "./unify.ts";

// ── a small made-up kernel ───────────────────────────────────────────────────────────────────────────────────────────

const mm: StructType = {
  kind: "struct",
  union: false,
  name: "mm_struct",
  size: 8,
  members: [{ name: "pgd", type: u64, offset: 0 }],
};
const task: StructType = {
  kind: "struct",
  union: false,
  name: "task_struct",
  size: 64,
  get members() {
    const pointer: PointerType = { kind: "pointer", target: task, space: "kernel" };
    return [
      { name: "pid", type: i32, offset: 0 },
      { name: "comm", type: { kind: "array", element: i8, length: 16 } as Type, offset: 4 },
      { name: "real_parent", type: pointer, offset: 24 },
      { name: "mm", type: { kind: "pointer", target: mm, space: "kernel" } as Type, offset: 32 },
      {
        name: "",
        offset: 40,
        type: {
          kind: "struct",
          union: true,
          name: "",
          size: 4,
          members: [
            { name: "flags", type: u32, offset: 0 },
            { name: "low", type: u32, offset: 0, bitOffset: 3, bitWidth: 5 },
          ],
        } as Type,
      },
    ];
  },
};
const reason: EnumType = { kind: "enum", name: "reason", bits: 32, signed: false, names: new Map([[2n, "SOCKET"]]) };
const scope: TypeScope = {
  find: (name, tag) =>
    tag === "enum"
      ? name === "reason"
        ? reason
        : undefined
      : name === "task_struct"
        ? task
        : name === "mm_struct"
          ? mm
          : undefined,
  enumConstant: (name) => (name === "KERNEL_CONSTANT" ? { value: 7n } : undefined),
  similar: (name) => (name.startsWith("task") ? ["task_struct"] : []),
};
const capabilities: Capabilities = {
  kernel: [6, 18],
  btf: true,
  mayGoto: true,
  ringBuffer: true,
  cpuV4: true,
  cpus: 2,
  taskBtf: true,
};
const word = { kind: "context", offset: 0, size: 8, signed: false } as const;
const contexts: Record<string, Context | "host"> = {
  begin: "host",
  end: "host",
  interval: {
    provider: "interval",
    program: { type: "perf_event", cookie: true },
    runsInStrobe: "when-due",
    defaultSpace: "kernel",
    stacks: true,
  },
  tracepoint: {
    provider: "tracepoint",
    program: { type: "tracepoint", cookie: true },
    defaultSpace: "user",
    stacks: true,
    args: [
      { name: "filename", type: { kind: "pointer", target: i8, space: "user" }, fetch: word },
      { name: "ret", type: i64, fetch: word },
      { name: "comm", type: { kind: "array", element: i8, length: 16 }, fetch: word, place: "context" },
    ],
  },
  kprobe: {
    provider: "kprobe",
    program: { type: "kprobe", cookie: true },
    overridable: true,
    defaultSpace: "kernel",
    stacks: true,
    func: "kernel",
    numbered: [word, word, word],
    registers: new Map([
      ["ip", word],
      ["sp", word],
    ]),
  },
  fentry: {
    provider: "fentry",
    program: { type: "tracing", cookie: false },
    kernelTypes: true,
    defaultSpace: "kernel",
    stacks: true,
    numbered: [word],
    args: [{ name: "at", type: { kind: "pointer", target: task, space: "kernel", typed: true }, fetch: word }],
  },
};

function run(text: string, options: Partial<CheckOptions> = {}): { checked?: CheckedProgram; said: string[] } {
  const { program, diagnostics } = parse({ name: "-e", text }, { positional: [] });
  assert.deepEqual(diagnostics, []);
  const probes = program.probes.map((probe): ResolvedProbe => ({
    probe,
    variants: probe.specs.map((spec) => ({
      context: contexts[spec.provider],
      provider: spec.provider,
      sites: [{ name: spec.text, data: null }],
    })),
  }));
  const result = check(program, probes, scope, { capabilities, unsafe: false, env: {}, ...options });
  return {
    ...(result.checked === undefined ? {} : { checked: result.checked }),
    said: result.diagnostics.map((d) => `${d.code}: ${d.message}`),
  };
}

function accept(text: string, options: Partial<CheckOptions> = {}): CheckedProgram {
  const { checked, said } = run(text, options);
  assert.deepEqual(said, []);
  assert.ok(checked);
  return checked;
}

/** The first argument of each print() in the first handler. */
function printed(checked: CheckedProgram): Expression[] {
  const found: Expression[] = [];
  const visit = (statement: Statement): void => {
    if (
      statement.kind === "expression" &&
      statement.expression.kind === "call" &&
      statement.expression.name === "print"
    )
      found.push(statement.expression.args[0]);
    if (statement.kind === "for-map" || statement.kind === "for-range") statement.body.statements.forEach(visit);
    if (statement.kind === "block") statement.statements.forEach(visit);
  };
  checked.handlers[0].body.statements.forEach(visit);
  return found;
}

const typesOf = (text: string): string[] => printed(accept(text)).map((e) => typeText(e.type));

// ── types ────────────────────────────────────────────────────────────────────────────────────────────────────────────

const typed: readonly (readonly [script: string, ...types: string[]])[] = [
  [
    "begin { let $u : uint8 = 1; print($u + $u); print($u - $u); print($u + 1); print(-$u); print(~$u); print(!$u) }",
    "uint64",
    "int64",
    "uint64",
    "uint64",
    "uint64",
    "bool",
  ],
  [
    "begin { let $u : uint64 = 1; let $i : int64 = 1; print($u + $i); print($u / 2); print($u < $i); print(nsecs / 1000) }",
    "int64",
    "uint64",
    "bool",
    "uint64",
  ],
  ["begin { $a = 1; $a = (uint64)2; print($a); $b = -1; $b = (uint32)1; print($b) }", "uint64", "int64"],
  [
    'begin { $s = "a"; $s = "abc"; print($s); print(1 == pid ? "x" : "xyz"); print(comm); print((1, "a", (uint8)3)) }',
    "string[4]",
    "string[4]",
    "string[16]",
    "(int64,string[2],uint64)",
  ],
  [
    'begin { @x[1, "a"] = pid; @x[(300, "abc")] = 1; print(@x[5, "zz"]); for ($kv : @x) { print($kv); print($kv.0.1) } }',
    "uint64",
    "((int64,string[4]),uint64)",
    "string[4]",
  ],
  [
    "begin { @c = count(); @s = sum(-1); @a[pid] = avg(nsecs); print((int64)@c); print(@c + 1); print(@s + 0); print(@a[1]) }",
    "int64",
    "uint64",
    "int64",
    "uint64",
  ],
  ["begin { $x = @later; print($x); @later = @last; @last = (uint32)4 }", "uint64"],
  ["begin { @++; print(@); @y = 0; @y = nsecs; @z--; print(@y); print(@z) }", "int64", "uint64", "int64"],
  [
    "interval:s:1 { print(curtask); print(curtask.pid); print(curtask.comm); print(curtask.real_parent.mm); print(curtask.flags); print(pcomm) }",
    "struct task_struct *",
    "int32",
    "string[17]",
    "struct mm_struct *",
    "uint32",
    "string[17]",
  ],
  [
    'kprobe:f { print(arg0); print(*arg0); print((struct task_struct *)arg0); print(str(arg1)); print(str(arg1, 10)); print(reg("ip")); print(kstack(3)); print(func) }',
    "uint64",
    "uint64",
    "struct task_struct *",
    "string[1025]",
    "string[10]",
    "uint64",
    "kstack_t",
    "ksym_t",
  ],
  [
    "tracepoint:a:b { print(args.ret); print(args.comm); print(str(args.filename)); print(*args.filename) }",
    "int64",
    "string[17]",
    "string[1025]",
    "int8",
  ],
  [
    'begin { print((uint8[4])1 == pton("127.0.0.1")); print((uint32)pton("1.2.3.4")); print((int8[])"abc") }',
    "bool",
    "uint32",
    "int8[4]",
  ],
  [
    'begin { print((a=1, b="x").b); print((1, "ab").1); print(sizeof(uint32)); print(KERNEL_CONSTANT); print(strlen("a")); print(bswap((uint16)1)) }',
    "string[2]",
    "string[3]",
    "int64",
    "int64",
    "uint64",
    "uint16",
  ],
  [
    "enum own { ONE = 1, TWO } begin { print(TWO); @e = ONE; print((enum own)1); print(@e) }",
    "enum own",
    "enum own",
    "enum own",
  ],
  [
    "struct S { char c; int n; char name[6]; struct S *next; int low : 3; } begin { print(sizeof(struct S)); print(offsetof(struct S, next)) }",
    "int64",
    "int64",
  ],
  [
    'begin { $p = (uint32[4]*)16; print($p + 1); print(sizeof(int32*[4]*)); print((bool)comm); print(!comm); print("a" + "bc") }',
    "uint32[4] *",
    "int64",
    "bool",
    "bool",
    "string[4]",
  ],
  [
    'kprobe:f { print(strlen(probe)); print(strcontains(probe, "f")); print(str_concat(probe, "!")) }',
    "uint64",
    "bool",
    "string[10]",
  ],
  ["fn double($x : uint32) : uint64 { return $x * 2; } begin { print(double(4)) }", "uint64"],
];

for (const [script, ...types] of typed) {
  test(`types of ${script}`, () => assert.deepEqual(typesOf(script), types));
}

test("struct layout follows C", () => {
  const values = printed(
    accept(
      "struct S { char c; int n; char name[6]; struct S *next; int low : 3; } begin { print(sizeof(struct S)); print(offsetof(struct S, next)) }",
    ),
  );
  assert.deepEqual(
    values.map((v) => (v.kind === "sizeof" || v.kind === "offsetof" ? v.constant : undefined)),
    [32n, 16n],
  );
});

test("pointers reached through typed pointers stay typed, and user memory holds user pointers", () => {
  const [parent, cast, user] = printed(
    accept(
      "kprobe:f { print(curtask.real_parent); print(((struct task_struct *)arg0).real_parent); print(((struct task_struct *)uptr(arg0)).real_parent) }",
    ),
  );
  assert.deepEqual(
    [parent, cast, user].map((e) => (e.type.kind === "pointer" ? [e.type.space, e.type.typed ?? false] : [])),
    [
      ["kernel", true],
      ["kernel", false],
      ["user", false],
    ],
  );
});

test("members carry their path, through anonymous unions and bit-fields, and args their index", () => {
  const [flags, low] = printed(accept("kprobe:f { print(curtask.flags); print(curtask.low) }"));
  assert.equal(flags?.kind === "member" && flags.path?.offset, 40);
  assert.deepEqual(low?.kind === "member" && { ...low.path, container: undefined }, {
    container: undefined,
    offset: 40,
    bitOffset: 3,
    bitWidth: 5,
  });
  const [ret] = printed(accept("tracepoint:a:b { print(args.ret) }"));
  assert.deepEqual(ret?.kind === "member" && ret.path, { container: "args", offset: 0, argument: 1 });
});

test("map calls are normalized to an access with its keys", () => {
  const checked = accept(
    "begin { @m[1, 2] = 3; if (has_key(@m, (1, 2))) { delete(@m[1, 2]); delete(@m, (1, 2)); } print(@m, 5, 2); clear(@m); print(len(@m)) }",
  );
  assert.deepEqual(checked.maps, [{ name: "m", keys: [i64, i64], value: i64 }]);
  const condition = checked.handlers[0].body.statements[1];
  assert.ok(condition.kind === "if" && condition.condition.kind === "call");
  const [access] = condition.condition.args;
  assert.equal(access?.kind === "map" && access.keys.length, 2);
});

test("look-ups make no text of a map's keys longer", () => {
  const keys = (text: string): unknown => accept(text).maps.map((map) => map.keys);
  const text = (capacity: number): unknown => ({ kind: "string", capacity });
  assert.deepEqual(keys('begin { @m["abc"] = 1; print(@m[comm] + 1); _ = has_key(@m, comm); delete(@m[comm]); }'), [
    [text(4)],
  ]);
  assert.deepEqual(keys('begin { delete(@m[1, comm]); @m[1, "a"] = 1; print(@m[1, comm] + 1); }'), [[i64, text(2)]]);
  assert.deepEqual(keys('begin { @m["a"] = 1; print(@m[comm]); }'), [[text(16)]]);
  assert.deepEqual(
    keys(`begin {
      for ($kv : @a) { @b[str_concat($kv.0, $kv.0)] = 1; }
      for ($kv : @b) { delete(@a[$kv.0]); }
      @a["abc"] = 1;
    }`),
    [[text(4)], [text(7)]],
  );
});

test("begin, end and intervals run on the host unless they need the kernel", () => {
  const places = (text: string): string[] => accept(text).handlers.map((h) => h.placement);
  assert.deepEqual(
    places(
      'begin { printf("%d", pid) } interval:s:1 { print(nsecs) } interval:s:1 { @[kstack] = count() } kprobe:f { @x = 1 }',
    ),
    ["host", "host", "kernel", "kernel"],
  );
});

test("the environment wins over the script's settings", () => {
  const { config } = accept("config = { max_strlen = 64; stack_mode = perf } begin { }", {
    env: { BPFTRACE_MAX_STRLEN: "32" },
  });
  assert.equal(config.maxStringLength, 32);
  assert.equal(config.stackMode, "perf");
});

test("as many probes and programs as the settings allow are taken", () => {
  assert.equal(accept("config = { max_probes = 2; max_bpf_progs = 1 } begin { } kprobe:f { }").handlers.length, 2);
});

// ── diagnostics ──────────────────────────────────────────────────────────────────────────────────────────────────────

const refused: readonly (readonly [script: string, ...said: string[]])[] = [
  ["begin { print($x) }", "name: undefined or undeclared variable: $x"],
  ["begin { print(@x + 1) }", "name: undefined map: @x"],
  [
    'begin { @x = 1; @x = "a" }',
    "type: type mismatch for @x: trying to assign value of type 'string[2]' when map already has a type 'int64'",
  ],
  [
    'begin { @x[1] = 1; @x["a"] = 1 }',
    "type: argument mismatch for @x: trying to access with arguments: 'string[2]' when map expects arguments: 'int64'",
  ],
  [
    "begin { @x = count(); @x = sum(1) }",
    "type: type mismatch for @x: trying to assign value of type 'sum_t' when map already has a type 'count_t'",
  ],
  [
    "begin { @x = count(); @x = 1 }",
    "type: type mismatch for @x: trying to assign value of type 'int64' when map already has a type 'count_t'",
  ],
  ["begin { @x = hist(1); print(@x + 1) }", "type: @x holds a hist(), which has no single value"],
  ["begin { @x = lhist(1, 0, 10, 0) }", "limit: lhist() needs a step of 1 or more"],
  [
    'begin { $a = 1; $a = "x" }',
    "type: type mismatch for $a: trying to assign value of type 'string[2]' when variable already has a type 'int64'",
  ],
  ["begin { let $a : uint16 = -1; }", "type: -1 does not fit uint16"],
  ["begin { break; }", "placement: 'break' statement is not allowed in a probe"],
  ['begin { printf("%d %d", 1) }', "arguments: not enough arguments for format string (1 supplied, 2 expected)"],
  [
    'begin { printf("%d", "a"); printf("%s", curtask) }',
    "type: unsupported format specifier for type 'string[2]': %d",
    "type: unsupported format specifier for type 'struct task_struct *': %s",
  ],
  ['begin { system("ls") }', "unsafe: system() is an unsafe function being used in safe mode"],
  ["begin { print(str()) }", "arguments: str() requires at least one argument (0 provided)"],
  ["begin { $x = exit(); }", "placement: exit() has no value"],
  ["kprobe:f { print(retval) }", "placement: retval is not available in kprobe probes"],
  ["kprobe:f { print(arg7) }", "placement: arg7 is not available here"],
  ["tracepoint:a:b { print(args.filenam) }", "name: tracepoint:a:b has no argument `filenam`"],
  ["begin { print(kstack) }", "placement: kstack needs the kernel, and begin probes run in strobe itself"],
  ["kprobe:f { print(((struct task_strut *)arg0).pid) }", 'name: cannot resolve unknown type "struct task_strut"'],
  [
    "kprobe:f { print(((struct task_struct *)arg0).pidd) }",
    "name: struct/union of type 'struct task_struct' does not contain a field named 'pidd'",
  ],
  ["kprobe:f { print(arg0.x) }", "type: can not access field 'x' on expression of type 'uint64'"],
  ['kprobe:f { print(reg("xx")) }', "name: unknown register `xx`"],
  ["begin { @[1] = tseries(1, 1s, 1366) }", "limit: tseries() keeps at most 1365 intervals under a key"],
  ["begin { @ = tseries(1, 1s, 100001) }", "limit: tseries() keeps at most 100000 intervals"],
  ["begin { $a = 5; if comptime ($a == 5) { } }", "arguments: the value is not known before the script runs"],
  ["begin { print(&pid) }", "type: `&` takes a variable or a map"],
  ["begin { @m[1] = 1; print(&@m[1]) }", "type: an entry of @m has no address"],
  ["begin { @c = count(); print(&@c) }", "type: @c has no address: each CPU has its own count_t"],
  ['kprobe:f { skboutput("x", arg0, 1, 0) }', 'placement: skboutput can not be used with "kprobe" probes'],
  [
    'fentry:f { skboutput("x", args.at, 1, 0) }',
    "type: skboutput() expects a struct sk_buff *, got a struct task_struct *",
  ],
  [
    'struct sk_buff { int len; }; fentry:f { skboutput("x", (struct sk_buff *)arg0, 1, 0) }',
    "type: skboutput() expects a pointer that the kernel knows: the probe's own argument",
  ],
  ['begin { print(assert(1, "no")) }', "placement: assert() has no value"],
  ["begin { print(bswap(true)) }", "type: bswap() only supports int arguments (bool provided)"],
  ['kprobe:f { join(pton("1.2.3.4")) }', "type: join() expects an array of strings, got a uint8[4]"],
  ['begin { $a = "a"; print($a + 1) }', "type: type mismatch for '+': it cannot be used on string[2] and int64"],
  [
    "begin { print(10 << 63); print(-9223372036854775807 - 5); print(18446744073709551615 + 1) }",
    "limit: the number does not fit in 64 bits",
    "limit: the number does not fit in 64 bits",
    "limit: the number does not fit in 64 bits",
  ],
  [
    "begin { print(1 << -1); print(1 >> 64) }",
    "limit: a shift by -1 is outside of 64 bits",
    "limit: a shift by 64 is outside of 64 bits",
  ],
  [
    "enum e { A, B = 5 }; begin { print((enum e)5); print((enum e)7) }",
    "limit: enum e doesn't contain a variant value of 7",
  ],
  [
    'begin { $a = "a"; print("a" < "b"); print($a < "b") }',
    "type: type mismatch for '<': comparing string[2] with string[2]",
  ],
  [
    "begin { @x = lhist(1, 0, 10, 11); @x = lhist(1, 5, 5, 1) }",
    "limit: lhist() step is too large: 11 for a range of 10",
    "limit: lhist() min must be less than max, 5 is not less than 5",
  ],
  ["let @a = lruhash(5); let @b = lruhash(5); begin { @b[1] = 1 }", "unused: unused map: @a"],
  ['begin { return "a"; }', "type: a probe returns an integer, got a string[2]"],
  ["begin { print(1 .5) }", "type: an int64 is not a tuple"],
  ["macro own() { $x++; } begin { $x = 1; own(); }", "name: undefined or undeclared variable: $x"],
  ['begin { if ("a" == 1) { } }', "type: type mismatch for '==': comparing string[2] with int64"],
  ["begin { $t = (1, 2); print($t.5) }", "limit: invalid tuple index: 5, found 2 elements in tuple"],
  [
    "begin { @s = 1; for ($kv : @s) { } }",
    "type: @s has no explicit keys (scalar map), and cannot be used for iteration",
  ],
  ["begin { 1; }", "unused: return value discarded"],
  [
    "begin { strlen(comm); @m[1] = 2; has_key(@m, 1); delete(@m, 1); _ = has_key(@m, 1); }",
    "unused: return value discarded",
    "unused: return value discarded",
  ],
  [
    "begin { let $a; let $b: int32; if (find(@m, 1, $b)) { return; print(1); } @m[1] = (int32)2; }",
    "unused: variable $a was never assigned to",
    "unused: unreachable statement",
  ],
  ["begin { if (1) { exit(); print(1); } if (pid) { exit(); return; } }", "unused: unreachable statement"],
  ["begin { if (pid) { exit(); } else { return; } print(1); }", "unused: unreachable statement"],
  [
    "begin { @m = -1; let $a: uint16 = @m; let $b: uint64 = cpu; let $c: uint8 = $a + 1; }",
    "type: not every int64 fits uint16",
  ],
  [
    'begin { print(comm + "x"); print(str(comm, -1)) }',
    "type: type mismatch for '+': it cannot be used on string[16] and string[2]",
    "limit: str() expects a length of 0 or more",
  ],
  [
    'begin { @a["x"] = 1; for ($kv : @a) { @a[str_concat($kv.0, $kv.0)] = 1; } }',
    "limit: @a has no fixed size: it is assigned text that grows from its own value",
  ],
  [
    'begin { $x = "a"; $x = str_concat($x, $x); }',
    "limit: $x has no fixed size: it is assigned text that grows from its own value",
  ],
  ["kprobe:f { while (1) { @++; for ($i : 0..3) { break; } } }", "limit: infinite loop"],
  [
    "struct s { int a; struct s b; }; begin { print(sizeof(struct s)) }",
    "type: `b` would hold the struct that it is in; a pointer to it can be a member",
  ],
  [
    "struct s { struct t t[2]; }; struct t { struct s s; }; begin { print(sizeof(struct s)) }",
    "type: `s` would hold the struct that it is in; a pointer to it can be a member",
  ],
  [
    "struct s { int a : 33; char *b : 3; int c : 0; }; begin { print(sizeof(struct s)) }",
    "type: the bit-field `a` has at most the 32 bits of its type",
    "type: the bit-field `b` is no integer",
    "type: a bit-field of no bits has no name: `c`",
  ],
  [
    "struct s { char a[2000000000]; char b[2000000000]; }; begin { print(sizeof(struct s)) }",
    "type: `b` makes its struct larger than 2147483647 bytes",
  ],
  [
    "struct s { int a; }; struct s { int b; }; struct t { none_t a; int b; }; begin { print(sizeof(struct t)) }",
    "name: struct s is already declared",
    'name: cannot resolve unknown type "none_t"',
  ],
  ['begin { static_assert(1 == 2, "no") }', "type: no"],
  [
    "config = { max_probes = 2 } begin { } kprobe:f { } kprobe:g { }",
    "limit: can't attach to 3 probes: it exceeds the current limit of 2",
  ],
  [
    "config = { max_bpf_progs = 1 } begin { } kprobe:f { } kprobe:g { }",
    "limit: can't attach to 2 programs: it exceeds the current limit of 1",
  ],
  [
    "kprobe:f { print(kstack(1024)); print(kstack(perf, 2000)) }",
    "limit: kstack() keeps 127 frames at most, 1024 asked for",
    "limit: kstack()'s limit shouldn't exceed 1024, 2000 given",
  ],
  [
    'begin { print(strftime("%Y", nsecs(monotonic))); print(strftime("%Y", nsecs(boot))) }',
    "arguments: strftime() can not take a monotonic timestamp",
  ],
  [
    'begin { print(cgroup_path(1, 2)); print(cgroup_path(1, "unified")) }',
    "arguments: cgroup_path() expects a string literal (int64 provided)",
  ],
  ["begin { print(strcap(5)) }", "type: strcap() expects text: a string, an array or a pointer, got an int64"],
  [
    'kprobe:f { print(buf(arg0)); print(buf("abc")); print(buf(curtask.comm)) }',
    "arguments: buf() expects a length argument for a uint64",
  ],
  ["config = { max_strln = 5 } begin { }", "name: max_strln: not a known configuration option"],
  ["begin { $a = $nope + 1; print($a + 5); @m = $a; print(@m) }", "name: undefined or undeclared variable: $nope"],
];

for (const [script, ...said] of refused) {
  test(`refuses ${script}`, () => assert.deepEqual(run(script).said, said));
}

test("cpid without a command is said, where there is a command line", () => {
  const script = "begin { print(cpid) }";
  assert.deepEqual(run(script).said, []);
  assert.deepEqual(run(script, { parameters: new Map() }).said, ["placement: cpid is 0: no command was given"]);
  assert.deepEqual(run("begin { if (has_cpid) { print(cpid); } }", { parameters: new Map() }).said, []);
  assert.deepEqual(run(script, { parameters: new Map(), command: "true" }).said, []);
});

test("what is written to a process is at an address, and comes from one", () => {
  const { said } = run('kprobe:f { write_user("a", (1, 2), 4) }', { unsafe: true });
  assert.deepEqual(said, [
    "type: write_user() expects a pointer, got a string[2]",
    "type: write_user() expects a pointer, got a (int64,int64)",
  ]);
});

test("override() is refused where the kernel was built without it", () => {
  const facts = (known: boolean): NonNullable<CheckOptions["facts"]> => ({
    kernelAddress: () => undefined,
    cgroupId: () => undefined,
    kernelFunctionExists: () => known,
  });
  const said = (known: boolean): readonly string[] =>
    run("kprobe:f { override(-1); }", { unsafe: true, facts: facts(known) }).said;
  assert.deepEqual(
    said(true).filter((one) => one.includes("override")),
    [],
  );
  assert.ok(
    said(false).some((one) => one.includes("cannot override a function's result")),
    said(false).join("; "),
  );
});
