import assert from "node:assert/strict";
import { test } from "node:test";
import type { DebugMember, DebugType, Location, Variable } from "../../debuginfo/dwarf/facts.ts";
import { i32, integer, u8 } from "../../language/types.ts";
import { classify, parametersAtEntry, resultOf } from "./call-arguments.ts";
import { DebugTypes } from "../values/debug-types.ts";
import type { Seen } from "../values/locations.ts";
import { fetchRegister, registersOf } from "../contexts/registers.ts";
import { Failure } from "../../base/failure.ts";
import { reason } from "../../messages/message.ts";

const base = (name: string, bytes: number, encoding: "signed" | "float" | "unsigned-char"): DebugType => ({
  kind: "base",
  name,
  bytes,
  encoding,
});
const int = base("int", 4, "signed");
const long = base("long", 8, "signed");
const double = base("double", 8, "float");
const single = base("float", 4, "float");
const byte = base("unsigned char", 1, "unsigned-char");
const pointer: DebugType = { kind: "pointer", flavour: "pointer", bytes: 8, target: () => int };
const reference: DebugType = { kind: "pointer", flavour: "reference", bytes: 8, target: () => int };

function struct(bytes: number, ...members: readonly (readonly [number, DebugType])[]): DebugType {
  return {
    kind: "struct",
    tag: "struct",
    name: `s${bytes}`,
    bytes,
    declaration: false,
    members: () => members.map(([offset, type], i): DebugMember => ({ name: `m${i}`, offset, type: () => type })),
  };
}

const file = registersOf("x86-64");
const seen: Seen = {
  address: 0x1000n,
  registers: file,
  space: "user",
  types: new DebugTypes({ typeNamed: () => undefined }, "user"),
  loaded: (address) => ({ kind: "constant", value: address }),
  threadLocal: () => new Failure(reason("nowhere")),
};
/** A home in a frame that is not there yet: 16 bytes and more below the return address. */
const home: Location = {
  kind: "memory",
  address: {
    kind: "binary",
    operator: "+",
    left: { kind: "register", register: 7 },
    right: { kind: "constant", value: -20n },
  },
};
const parameter = (name: string, type: DebugType, location: Location = home): Variable => ({
  name,
  kind: "parameter",
  type,
  declared: { file: "f.c", line: 1, column: 0 },
  location: () => location,
});
const gnu = "GNU C17 12.2.0";
const noCode = (): [] => [];
const none = (): undefined => undefined;
const atEntry = (types: readonly DebugType[], result?: DebugType) =>
  parametersAtEntry(
    { language: "c", producer: gnu, ...(result === undefined ? {} : { result }) },
    types.map((type, i) => parameter(`p${i}`, type)),
    seen,
    none,
  ).map(({ value }) => value);
const reg = (name: string) => fetchRegister(file, name);

test("classes of eightbytes", () => {
  assert.deepEqual(classify(int), ["integer"]);
  assert.deepEqual(classify(struct(16, [0, long], [8, double])), ["integer", "vector"]);
  assert.deepEqual(classify(struct(8, [0, single], [4, int])), ["integer"]);
  assert.deepEqual(classify(struct(8, [0, single], [4, single])), ["vector"]);
  assert.deepEqual(classify(struct(24, [0, long], [8, long], [16, long])), ["memory"]);
  assert.deepEqual(classify(struct(9, [0, byte], [1, long])), ["memory"], "unaligned members");
  assert.deepEqual(classify(base("long double", 16, "float")), ["memory"]);
  assert.deepEqual(classify({ kind: "array", lengths: [3], element: () => int }), ["integer", "integer"]);
});

test("numbers and pointers take the registers in order, then the stack", () => {
  const values = atEntry([int, pointer, long, int, int, int, int, int]);
  assert.deepEqual(
    values.slice(0, 6).map(({ fetch }) => fetch),
    ["di", "si", "dx", "cx", "r8", "r9"].map(reg),
  );
  assert.deepEqual(values[0].type, i32);
  assert.deepEqual(values[6].fetch, {
    kind: "pointed",
    base: reg("sp"),
    offset: 8,
    size: 4,
    signed: true,
    space: "user",
  });
  assert.deepEqual(values[7].fetch, {
    kind: "pointed",
    base: reg("sp"),
    offset: 16,
    size: 4,
    signed: true,
    space: "user",
  });
});

test("floating-point numbers take none of them, and are not seen", () => {
  const [first, second] = atEntry([double, int]);
  assert.equal(first.absent, "in a vector register, which a probe cannot read");
  assert.deepEqual(second.fetch, reg("di"));
});

test("a small struct is in two registers, or whole on the stack", () => {
  const pair = struct(12, [0, long], [8, int]);
  const [first] = atEntry([pair]);
  assert.deepEqual(first.pieces, [
    { kind: "value", offset: 0, size: 8, fetch: reg("di") },
    { kind: "value", offset: 8, size: 4, fetch: reg("si") },
  ]);
  const values = atEntry([int, int, int, int, int, pair, int]);
  assert.deepEqual(values[5], {
    type: values[5].type,
    fetch: { kind: "address", base: reg("sp"), offset: 8 },
    place: "user",
  });
  assert.deepEqual(values[6].fetch, reg("r9"), "a register that the struct did not fit is for what follows");
});

test("a large result takes the first register for its address", () => {
  const large = struct(32, [0, long], [8, long], [16, long], [24, long]);
  assert.deepEqual(atEntry([int], large)[0].fetch, reg("si"));
  assert.deepEqual(resultOf({ language: "c", producer: gnu, result: large }, seen, noCode), {
    type: seen.types.typeOf(large),
    fetch: reg("ax"),
    place: "user",
  });
  assert.deepEqual(
    resultOf({ language: "c", result: struct(16, [0, long], [8, long]) }, seen, noCode)?.pieces?.map(
      (piece) => piece.kind === "value" && piece.fetch,
    ),
    [reg("ax"), reg("dx")],
  );
  assert.equal(
    resultOf({ language: "c", result: double }, seen, noCode)?.absent,
    "in a vector register, which a probe cannot read",
  );
  assert.equal(resultOf({ language: "c" }, seen, noCode), undefined);
});

test("a reference is what it refers to", () => {
  const [value] = atEntry([reference]);
  assert.deepEqual(value, {
    type: i32,
    fetch: { kind: "pointed", base: reg("di"), offset: 0, size: 4, signed: true, space: "user" },
    place: "user",
  });
});

test("debug information is believed where it names a register or says there is none", () => {
  const given = parametersAtEntry(
    { language: "c", producer: gnu },
    [
      parameter("a", int, { kind: "register", register: 3 }),
      parameter("b", int, { kind: "absent", reason: reason("optimised out here") }),
      parameter("c", long, { kind: "constant", bytes: Uint8Array.of(1, 2, 0, 0, 0, 0, 0, 0) }),
    ],
    seen,
    none,
  ).map(({ value }) => value);
  assert.deepEqual(given[0].fetch, reg("bx"));
  assert.equal(given[1].absent, "optimised out here");
  assert.deepEqual(given[2].fetch, { kind: "constant", value: 513n });
  const unused = parameter("b", int, { kind: "absent", reason: reason("optimised out here") });
  const of = (producer: string) =>
    parametersAtEntry({ language: "c", external: true, producer }, [unused], seen, none)[0].value;
  assert.deepEqual(of(gnu).fetch, reg("di"), "callers in other units put it there");
  assert.equal(
    of("clang version 14.0.6").absent,
    "optimised out here",
    "callers in its own unit leave out what it does not use",
  );
});

test("types keep their shape", () => {
  const { types } = seen;
  assert.deepEqual(types.typeOf({ kind: "array", lengths: [2, 3], element: () => byte }), {
    kind: "array",
    element: { kind: "array", element: u8, length: 3 },
    length: 2,
  });
  const list: DebugType = {
    kind: "struct",
    tag: "struct",
    name: "list",
    bytes: 8,
    declaration: false,
    members: () => [
      { name: "next", offset: 0, type: () => ({ kind: "pointer", flavour: "pointer", bytes: 8, target: () => list }) },
    ],
  };
  const made = types.typeOf(list);
  assert.ok(made.kind === "struct" && made.members[0].type.kind === "pointer");
  assert.equal(made.members[0].type.target, made, "a list points to itself");
  const bits: DebugType = {
    kind: "struct",
    tag: "struct",
    name: "bits",
    bytes: 4,
    declaration: false,
    members: () => [{ name: "b", offset: 1, bitOffset: 3, bitWidth: 5, type: () => int }],
  };
  const fields = types.typeOf(bits);
  assert.deepEqual(fields.kind === "struct" && [{ ...fields.members[0] }], [
    { name: "b", offset: 0, bitOffset: 11, bitWidth: 5, type: integer(32, true) },
  ]);
});
