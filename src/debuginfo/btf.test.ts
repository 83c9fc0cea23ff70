import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { BtfWriter } from "../../test/support/btf-writer.ts";
import { Btf, BtfError } from "./btf.ts";

test("every kind of record, decoded", () => {
  const w = new BtfWriter();
  const int = w.int("int", 4, { signed: true });
  const bool = w.int("_Bool", 1, { bool: true });
  const pointer = w.pointer(int);
  const array = w.array(int, 16);
  const struct = w.struct("s", 16, [
    ["a", int, 0],
    ["flag", bool, 33, 1],
    ["p", pointer, 64],
  ]);
  const union = w.struct(
    "u",
    4,
    [
      ["a", int, 0],
      ["b", bool, 0],
    ],
    true,
  );
  const enumeration = w.enum(
    "e",
    [
      ["MINUS", -1],
      ["TWO", 2],
    ],
    true,
  );
  const wide = w.enum64("w", [["HUGE", 0xffff_ffff_ffff_fffen]]);
  const forward = w.forward("later");
  const alias = w.typedef("int_t", int);
  const chain = w.const(w.volatile(w.restrict(w.typeTag("user", alias))));
  const prototype = w.prototype(int, [
    ["x", int],
    ["", 0],
  ]);
  const fn = w.function("f", prototype);
  const variable = w.variable("v", int);
  const section = w.dataSection(".data", 4, [[variable, 0, 4]]);
  const float = w.float("double", 8);
  const tag = w.declarationTag("bpf_kfunc", fn, -1);
  const btf = new Btf(w.bytes());
  const plain = (id: number): unknown =>
    JSON.parse(JSON.stringify(btf.type(id), (_, v: unknown) => (typeof v === "bigint" ? `${v}n` : v)));

  assert.deepEqual(plain(int), {
    kind: "int",
    name: "int",
    size: 4,
    signed: true,
    boolean: false,
    bits: 32,
    bitOffset: 0,
  });
  assert.deepEqual(plain(bool), {
    kind: "int",
    name: "_Bool",
    size: 1,
    signed: false,
    boolean: true,
    bits: 8,
    bitOffset: 0,
  });
  assert.deepEqual(plain(pointer), { kind: "pointer", type: int });
  assert.deepEqual(plain(array), { kind: "array", element: int, length: 16 });
  assert.deepEqual(plain(struct), {
    kind: "struct",
    name: "s",
    size: 16,
    members: [
      { name: "a", type: int, bitOffset: 0, bitWidth: 0 },
      { name: "flag", type: bool, bitOffset: 33, bitWidth: 1 },
      { name: "p", type: pointer, bitOffset: 64, bitWidth: 0 },
    ],
  });
  assert.deepEqual(plain(union), {
    kind: "union",
    name: "u",
    size: 4,
    members: [
      { name: "a", type: int, bitOffset: 0, bitWidth: 0 },
      { name: "b", type: bool, bitOffset: 0, bitWidth: 0 },
    ],
  });
  assert.deepEqual(plain(enumeration), {
    kind: "enum",
    name: "e",
    size: 4,
    signed: true,
    constants: [
      { name: "MINUS", value: "-1n" },
      { name: "TWO", value: "2n" },
    ],
  });
  assert.deepEqual(plain(wide), {
    kind: "enum64",
    name: "w",
    size: 8,
    signed: false,
    constants: [{ name: "HUGE", value: "18446744073709551614n" }],
  });
  assert.deepEqual(plain(forward), { kind: "forward", name: "later", union: false });
  assert.deepEqual(plain(prototype), {
    kind: "function-prototype",
    result: int,
    parameters: [
      { name: "x", type: int },
      { name: "", type: 0 },
    ],
  });
  assert.deepEqual(plain(fn), { kind: "function", name: "f", type: prototype, linkage: 0 });
  assert.deepEqual(plain(variable), { kind: "variable", name: "v", type: int, linkage: 1 });
  assert.deepEqual(plain(section), {
    kind: "data-section",
    name: ".data",
    size: 4,
    variables: [{ type: variable, offset: 0, size: 4 }],
  });
  assert.deepEqual(plain(float), { kind: "float", name: "double", size: 8 });
  assert.deepEqual(plain(tag), { kind: "declaration-tag", name: "bpf_kfunc", type: fn, component: -1 });
  assert.equal(btf.strip(chain), int);
  assert.equal(btf.strip(chain, "modifiers"), alias);
  assert.equal(btf.find("s", "struct"), struct);
  assert.equal(btf.find("s", "union"), undefined);
  assert.equal(btf.find("nt_t", "typedef"), undefined, "the tail of a name is not a name");
  assert.equal(btf.enumConstant("MINUS")?.value, -1n);
  assert.equal(btf.enumConstant("HUGE")?.value, 0xffff_ffff_ffff_fffen);
  assert.equal(btf.enumConstant("a"), undefined, "a member is not a constant");
  assert.deepEqual([...btf.ids("typedef", { prefix: "int_" })], [alias]);
  assert.equal(btf.end, tag + 1);
});

test("a module's BTF goes on where the kernel's ends", () => {
  const kernel = new BtfWriter();
  const int = kernel.int("int", 4, { signed: true });
  const s = kernel.struct("shared", 4, [["a", int, 0]]);
  const base = new Btf(kernel.bytes());
  const module = new BtfWriter(kernel);
  const own = module.struct("own", 8, [
    ["first", s, 0],
    ["second", int, 32],
  ]);
  module.enum("states", [["BUSY", 7]]);
  const reused = module.struct("shared", 16, []);
  const split = new Btf(module.bytes(), base);

  assert.equal(own, 3);
  assert.equal(split.find("own", "struct"), own);
  assert.deepEqual(split.findAll("shared"), [s, reused]);
  assert.equal(base.find("own", "struct"), undefined);
  assert.equal(split.name(own), "own");
  assert.equal(split.enumConstant("BUSY")?.value, 7n);
  const type = split.type(own);
  assert.ok(type.kind === "struct");
  assert.deepEqual(
    type.members.map((m) => [m.name, split.name(m.type)]),
    [
      ["first", "shared"],
      ["second", "int"],
    ],
  );
});

test("many look-ups find what one finds", () => {
  const w = new BtfWriter();
  const int = w.int("int", 4, { signed: true });
  const ids = new Map<string, number[]>();
  for (let i = 0; i < 500; i++) {
    const name = `name${i % 300}`;
    ids.set(name, [...(ids.get(name) ?? []), w.typedef(name, int)]);
  }
  const kernel = new Btf(w.bytes());
  const module = new BtfWriter(w);
  for (let i = 290; i < 400; i++)
    ids.set(`name${i}`, [...(ids.get(`name${i}`) ?? []), module.typedef(`name${i}`, int)]);
  const split = new Btf(module.bytes(), kernel);
  assert.equal(ids.size, 400);
  for (const [name, expected] of ids) {
    assert.deepEqual(split.findAll(name), expected, name);
    assert.equal(split.find(`${name}x`, "typedef"), undefined);
    assert.equal(split.find(name.slice(1), "typedef"), undefined);
  }
  assert.deepEqual(split.findAll("int"), [int]);
});

test("a chain that refers to itself is an error, not a hang", () => {
  const w = new BtfWriter();
  w.const(2);
  w.volatile(1);
  assert.throws(() => new Btf(w.bytes()).strip(1), BtfError);
});

test("damaged bytes give a BtfError or types, never a crash or a hang", () => {
  const w = new BtfWriter();
  const int = w.int("int", 4, { signed: true });
  const s = w.struct("s", 16, [
    ["a", int, 0],
    ["b", w.pointer(3), 64],
  ]);
  w.enum("e", [["ONE", 1]]);
  w.function("f", w.prototype(int, [["x", s]]));
  const whole = w.bytes();
  const edit = fc.tuple(fc.nat(whole.length - 1), fc.nat(255));
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 8 }), fc.nat(whole.length), (edits, cut) => {
      const bytes = whole.slice(0, cut < whole.length / 4 ? cut : undefined);
      for (const [at, value] of edits) bytes[at] = value;
      try {
        const btf = new Btf(bytes);
        for (let id = 0; id < btf.end; id++) {
          const type = btf.type(id);
          if (type.kind === "struct" || type.kind === "union") type.members.map((m) => btf.strip(m.type));
          if (type.kind === "enum") assert.ok(type.constants.length <= 0xffff);
          btf.strip(id);
          btf.findAll(btf.name(id));
        }
        for (let i = 0; i < 30; i++) btf.findAll(`missing${i}`);
        assert.ok(btf.findAll("s").every((id) => btf.name(id) === "s"));
        btf.enumConstant("ONE");
      } catch (error) {
        if (!(error instanceof BtfError)) throw error;
      }
    }),
    { numRuns: 1000 },
  );
});

test("BTF that is opened with its index answers the same", () => {
  const w = new BtfWriter();
  const int = w.int("int", 4, { signed: true });
  const names = Array.from({ length: 40 }, (_, i) => `type_${i % 30}`);
  for (const name of names) w.typedef(name, int);
  const plain = new Btf(w.bytes());
  const known = new Btf(w.bytes(), undefined, plain.index());
  for (const name of ["int", "absent", "", ...names])
    assert.deepEqual(known.findAll(name), new Btf(w.bytes()).findAll(name), name);
  assert.equal(known.end, plain.end);
  assert.deepEqual(known.findAll("type_3"), [int + 4, int + 34]);

  w.typedef("one_more", int);
  const other = new Btf(w.bytes(), undefined, plain.index());
  assert.deepEqual(other.findAll("one_more"), [int + 41], "the index of other bytes is left alone");
});

test("a member by name is the one that the struct's list has, where names have an index", () => {
  const kernel = new BtfWriter();
  const int = kernel.int("int", 4, { signed: true });
  const inner = kernel.struct("", 4, [["inside", int, 0]], true);
  const struct = kernel.struct("s", 16, [
    ["a", int, 0],
    ["flag", int, 33, 1],
    ["", inner, 64],
    ["inside", int, 96],
  ]);
  const module = new BtfWriter(kernel);
  const own = module.struct("own", 8, [
    ["a", int, 0],
    ["b", int, 32],
  ]);
  const plain = new Btf(kernel.bytes());
  assert.equal(plain.member(struct, "a"), undefined, "without one, it cannot tell");
  const base = new Btf(kernel.bytes(), undefined, plain.index());
  const type = base.type(struct);
  assert.ok(type.kind === "struct");
  for (const member of type.members)
    assert.deepEqual(base.member(struct, member.name), member.name === "" ? undefined : member);
  assert.equal(base.member(struct, "b"), undefined);
  assert.equal(base.member(struct, "s"), undefined, "a name that is something else's");
  assert.equal(base.member(int, "a"), undefined);
  const split = new Btf(module.bytes(), base);
  assert.deepEqual(split.member(struct, "a"), type.members[0]);
  assert.equal(split.member(own, "a"), undefined);
  split.index();
  assert.deepEqual(
    ["a", "b", "inside"].map((name) => split.member(own, name)?.bitOffset),
    [0, 32, undefined],
  );
});
