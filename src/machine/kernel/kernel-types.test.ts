import assert from "node:assert/strict";
import { test } from "node:test";
import { BtfWriter } from "../../../test/support/btf-writer.ts";
import { Btf } from "../../debuginfo/btf.ts";
import { boolType, i16, i32, i64, i8, u32, u64, u8, type StructType, type Type } from "../../language/types.ts";
import { KernelTypes, plainTypes } from "./kernel-types.ts";

const struct = (type: Type | undefined): StructType => {
  assert.equal(type?.kind, "struct");
  return type;
};

test("structs: members, bit-fields, anonymous members, arrays, pointers to themselves", () => {
  const w = new BtfWriter();
  const int = w.int("int", 4, { signed: true });
  const char = w.int("char", 1);
  const bool = w.int("_Bool", 1, { bool: true });
  const inner = w.struct(
    "",
    8,
    [
      ["x", int, 0],
      ["y", int, 32],
    ],
    true,
  );
  const list = 7;
  const name = w.array(char, 16);
  const next = w.pointer(list);
  w.struct("node", 48, [
    ["next", next, 0],
    ["name", name, 64],
    ["", inner, 192],
    ["low", int, 256, 3],
    ["high", int, 259, 29],
    ["on", bool, 288, 1],
  ]);
  const types = new KernelTypes(new Btf(w.bytes()));
  const node = struct(types.find("node", "struct"));
  assert.equal(node.size, 48);
  assert.deepEqual(
    node.members.map(({ name: own, offset, bitOffset, bitWidth }) => [own, offset, bitOffset, bitWidth]),
    [
      ["next", 0, undefined, undefined],
      ["name", 8, undefined, undefined],
      ["", 24, undefined, undefined],
      ["low", 32, 0, 3],
      ["high", 32, 3, 29],
      ["on", 36, 0, 1],
    ],
  );
  const [first, text, anonymous, low, , on] = node.members;
  assert.ok(first?.type.kind === "pointer");
  assert.equal(first.type.target, node, "one object for one type");
  assert.deepEqual(text?.type, { kind: "array", element: { ...i8, character: true }, length: 16 });
  assert.equal(struct(anonymous?.type).union, true);
  assert.equal(low?.type, node.members[4]?.type);
  assert.deepEqual(low?.type, i32);
  assert.deepEqual(on?.type, boolType);
  assert.equal(types.find("node", "union"), undefined);
  assert.equal(types.find("node"), node);
});

test("anonymous structs and enums go by their typedef's name; forwards find the whole", () => {
  const w = new BtfWriter();
  const int = w.int("int", 4, { signed: true });
  const anonymous = w.struct("", 4, [["counter", int, 0]]);
  const atomic = w.typedef("atomic_t", anonymous);
  w.typedef("alias_t", atomic);
  w.typedef(
    "states_t",
    w.enum("", [
      ["A", 0],
      ["ALSO_A", 0],
      ["B", 1],
    ]),
  );
  w.typedef("later_t", w.forward("later"));
  w.struct("later", 12, []);
  w.forward("never");
  const types = new KernelTypes(new Btf(w.bytes()));
  assert.equal(struct(types.find("atomic_t")).name, "atomic_t");
  assert.equal(types.find("alias_t"), types.find("atomic_t"));
  const states = types.find("states_t");
  assert.ok(states?.kind === "enum");
  assert.equal(states.name, "states_t");
  assert.deepEqual(
    [...states.names].toSorted((a, b) => Number(a[0] - b[0])),
    [
      [0n, "A"],
      [1n, "B"],
    ],
  );
  assert.equal(struct(types.find("later_t")).size, 12);
  assert.equal(struct(types.find("never", "struct")).size, 0);
});

test("pointers: user space by type tag, functions as void, typed in signatures only to kernel structs", () => {
  const w = new BtfWriter();
  const int = w.int("int", 4, { signed: true });
  const task = w.struct("task_struct", 8, [["pid", int, 0]]);
  const taskPointer = w.pointer(w.const(task));
  const user = w.pointer(w.typeTag("user", task));
  const callback = w.pointer(w.prototype(0, []));
  w.function(
    "f",
    w.prototype(taskPointer, [
      ["task", taskPointer],
      ["u", user],
      ["fn", callback],
      ["n", int],
      ["", 0],
    ]),
  );
  const typedef = w.typedef(
    "btf_trace_switch",
    w.pointer(
      w.prototype(0, [
        ["", w.pointer(0)],
        ["", taskPointer],
        ["", int],
      ]),
    ),
  );
  w.function(
    "__traceiter_switch",
    w.prototype(int, [
      ["__data", w.pointer(0)],
      ["prev", taskPointer],
      ["state", int],
    ]),
  );
  w.struct("bpf_iter__task", 8, []);
  w.struct("bpf_iter__task__safe_trusted", 8, []);
  const types = new KernelTypes(new Btf(w.bytes()));

  const f = types.function("f");
  assert.deepEqual(
    f?.parameters.map(({ name, type }) => [
      name,
      type.kind,
      type.kind === "pointer" && [type.target.kind, type.space, type.typed],
    ]),
    [
      ["task", "pointer", ["struct", "kernel", true]],
      ["u", "pointer", ["struct", "user", undefined]],
      ["fn", "pointer", ["void", "kernel", undefined]],
      ["n", "integer", false],
    ],
  );
  assert.ok(f?.result.kind === "pointer" && f.result.typed === true);
  const raw = types.rawTracepoint("switch");
  assert.equal(raw?.id, typedef);
  assert.deepEqual(
    raw?.parameters.map((p) => [p.name, p.type.kind]),
    [
      ["prev", "pointer"],
      ["state", "integer"],
    ],
  );
  assert.equal(types.rawTracepoint("other"), undefined);
  assert.deepEqual(types.rawTracepointNames(), ["switch"]);
  assert.deepEqual(types.iteratorNames(), ["task"]);
  assert.deepEqual([...types.functionNames()].sort(), ["__traceiter_switch", "f"]);
  assert.deepEqual(types.similar("task_strct", "struct"), ["task_struct"]);
});

test("C's base types, in any order of words, with and without BTF", () => {
  for (const scope of [plainTypes, new KernelTypes(new Btf(new BtfWriter().bytes()))]) {
    const expected: [string, Type | undefined][] = [
      ["unsigned long", u64],
      ["long unsigned int", u64],
      ["unsigned", u32],
      ["int", i32],
      ["short int", i16],
      ["char", i8],
      ["unsigned char", u8],
      ["long long", i64],
      ["u32", u32],
      ["__u64", u64],
      ["uint8_t", u8],
      ["size_t", u64],
      ["pid_t", i32],
      ["bool", boolType],
      ["long char", undefined],
      ["unsigned unsigned", undefined],
      ["", undefined],
      ["constructor", undefined],
    ];
    for (const [name, type] of expected) assert.deepEqual(scope.find(name), type, name);
    assert.equal(scope.find("int", "struct"), undefined);
  }
});
