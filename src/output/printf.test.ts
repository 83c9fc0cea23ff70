import assert from "node:assert/strict";
import { test } from "node:test";
import type { PrintfConversion, PrintfFormat } from "../language/printf.ts";
import { boolType, i16, i32, i64, i8, u32, u64, u8, type Type } from "../language/types.ts";
import { ByteWriter } from "./bytes.ts";
import { recordMemory, schemaOf, servicesOf } from "../../test/support/output-fixtures.ts";
import { printfWriter } from "./printf.ts";

/** Formats one value by one conversion written `%-5d`. */
function one(
  conversion: string,
  type: Type,
  write: (view: DataView, offset: number, bytes: Uint8Array) => void,
): string {
  const [, flags, width, precision, letter] =
    /^%([-+ 0#']*)(\d*)(?:\.(\d+))?(?:ll|l|hh|h)?([a-zA-Z]+)$/.exec(conversion) ?? [];
  const piece: PrintfConversion = {
    letter,
    flags,
    width: Number(width || 0),
    precision: precision === undefined ? -1 : Number(precision),
  };
  const format: PrintfFormat = { text: conversion, pieces: ["<", piece, ">"] };
  const memory = recordMemory();
  const schema = schemaOf({ kind: "printf", format, to: "output" }, [type]);
  write(memory.view, schema.fields[0].offset, memory.bytes);
  const out = new ByteWriter();
  printfWriter(format, schema.fields, memory, out, servicesOf())(0);
  const text = new TextDecoder().decode(out.view());
  assert.ok(text.startsWith("<") && text.endsWith(">"));
  return text.slice(1, -1);
}

const int64 = (value: bigint) => (view: DataView, offset: number) => view.setBigInt64(offset, value, true);
const int32 = (value: number) => (view: DataView, offset: number) => view.setInt32(offset, value, true);
const string = (text: string) => (_view: DataView, offset: number, bytes: Uint8Array) =>
  bytes.set(new TextEncoder().encode(text), offset);

test("64-bit integers at the edges of every width", () => {
  for (const value of [
    0n,
    7n,
    10n,
    99999n,
    100000n,
    999999999n,
    1000000000n,
    4294967295n,
    4294967296n,
    9007199254740991n,
    9007199254740992n,
    9223372036854775807n,
  ]) {
    assert.equal(one("%d", i64, int64(value)), String(value));
    assert.equal(one("%d", i64, int64(-value)), String(-value));
    assert.equal(one("%u", u64, int64(value)), String(value));
  }
  assert.equal(one("%d", i64, int64(-9223372036854775808n)), "-9223372036854775808");
  assert.equal(one("%u", u64, int64(-1n)), "18446744073709551615");
});

test("narrow integers keep their sign, and %u shows a C int's pattern", () => {
  assert.equal(one("%d", i32, int32(-5)), "-5");
  assert.equal(one("%u", i32, int32(-1)), "4294967295");
  assert.equal(one("%d", u32, int32(-1)), "-1");
  assert.equal(one("%u", u32, int32(-1)), "4294967295");
  assert.equal(
    one("%d", i16, (view, at) => view.setInt16(at, -300, true)),
    "-300",
  );
  assert.equal(
    one("%d", i8, (view, at) => view.setInt8(at, -1)),
    "-1",
  );
  assert.equal(
    one("%x", i8, (view, at) => view.setInt8(at, -1)),
    "ffffffff",
  );
  assert.equal(
    one("%d", u8, (view, at) => view.setInt8(at, -1)),
    "255",
  );
});

test("flags, width and precision are C's", () => {
  assert.equal(one("%5d", i64, int64(42n)), "   42");
  assert.equal(one("%-5d", i64, int64(42n)), "42   ");
  assert.equal(one("%05d", i64, int64(-42n)), "-0042");
  assert.equal(one("%+d", i64, int64(42n)), "+42");
  assert.equal(one("%#x", i64, int64(255n)), "0xff");
  assert.equal(one("%08x", i64, int64(10n)), "0000000a");
  assert.equal(one("%X", i64, int64(171n)), "AB");
  assert.equal(one("%o", i64, int64(8n)), "10");
  assert.equal(one("%'d", i64, int64(1234567n)), "1,234,567");
  assert.equal(one("%p", u64, int64(1234n)), "0x4d2");
  assert.equal(one("%c", i64, int64(65n)), "A");
  assert.equal(one("%.5d", i64, int64(42n)), "00042");
});

test("padded numbers and hexadecimal are the same on their way without a string", () => {
  for (const value of [
    0n,
    9n,
    10n,
    255n,
    4096n,
    123456789n,
    4294967295n,
    4294967296n,
    1n << 62n,
    -1n,
    -255n,
    -0x8000_0000n,
    -0x8000_0001n,
  ]) {
    // What fits an int is one, the bits it is extended by left out.
    const bits = BigInt.asIntN(32, value) === value ? 32 : 64;
    const digits = BigInt.asUintN(bits, value).toString(16);
    assert.equal(one("%x", i64, int64(value)), digits);
    assert.equal(one("%u", i64, int64(value)), BigInt.asUintN(bits, value).toString());
    assert.equal(one("%x", u64, int64(value)), BigInt.asUintN(64, value).toString(16));
    assert.equal(one("%8d", i64, int64(value)), String(value).padStart(8));
    assert.equal(one("%-8d", i64, int64(value)), String(value).padEnd(8));
    assert.equal(one("%6x", i64, int64(value)), digits.padStart(6));
  }
  assert.equal(one("%x", i32, int32(-2)), "fffffffe");
  assert.equal(one("%-4x", u32, int32(0xa0)), "a0  ");
});

test("any bytes are the inside of a JSON string", () => {
  const texts = ["", "plain", 'say "hi"\n', "a\tb\\c\u0001\u001f\u007f", "\n\n\n", "grüße 🐝", '"'];
  for (const text of texts) {
    const out = new ByteWriter();
    out.text(`before "${text}`);
    out.escapeJson('before "'.length);
    assert.equal(new TextDecoder().decode(out.view()), `before "${JSON.stringify(text).slice(1, -1)}`);
  }
  const out = new ByteWriter();
  out.constant(Uint8Array.of(97, 255, 10));
  out.escapeJson(0);
  assert.equal(new TextDecoder().decode(out.view()), "a\\\\xff\\n");
});

test("strings are cut and padded", () => {
  const text = { kind: "string", capacity: 16 } as const;
  assert.equal(one("%s", text, string("hello")), "hello");
  assert.equal(one("%10s", text, string("hello")), "     hello");
  assert.equal(one("%-10s", text, string("hello")), "hello     ");
  assert.equal(one("%10.3s", text, string("hello")), "       hel");
  assert.equal(one("%s", text, string("0123456789abcdef")), "0123456789abcdef");
  assert.equal(
    one("%s", boolType, (view, at) => view.setUint8(at, 1)),
    "true",
  );
});

test("buffers have three spellings", () => {
  const buffer = { kind: "buffer", capacity: 8 } as const;
  const bytes = (view: DataView, at: number, memory: Uint8Array) => {
    view.setUint32(at, 3, true);
    memory.set([97, 1, 255], at + 4);
  };
  assert.equal(one("%r", buffer, bytes), "a\\x01\\xff");
  assert.equal(one("%rx", buffer, bytes), "\\x61\\x01\\xff");
  assert.equal(one("%rh", buffer, bytes), "61 01 ff");
  const array = { kind: "array", element: { kind: "integer", bits: 8, signed: false }, length: 3 } as const;
  assert.equal(
    one("%rx", array, (_view, at, memory) => memory.set([1, 2, 3, 4, 5, 6, 7, 8], at)),
    "\\x01\\x02\\x03",
  );
  assert.equal(one("%r", { kind: "string", capacity: 16 }, string("a\nb")), "a\\x0ab");
});

test("a line as the inside of a JSON string", () => {
  const format: PrintfFormat = {
    text: "",
    pieces: [
      'say "',
      { letter: "s", flags: "", width: 6, precision: -1 },
      '"\n\t',
      { letter: "d", flags: "-", width: 4, precision: -1 },
      "é|",
      { letter: "p", flags: "", width: 0, precision: -1 },
    ],
  };
  const memory = recordMemory();
  const schema = schemaOf({ kind: "printf", format, to: "output" }, [{ kind: "string", capacity: 16 }, i64, u64]);
  const [name, number, pointer] = schema.fields;
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
  const out = new ByteWriter(1);
  const write = printfWriter(format, schema.fields, memory, out, servicesOf(), {
    before: encode('{"data": "'),
    behind: encode('"}\n'),
  });
  memory.view.setBigInt64(number.offset, -7n, true);
  memory.view.setBigInt64(pointer.offset, 0xffn, true);
  for (const text of ["plain", 'a\u0001"', "ü\\", ""]) {
    memory.bytes.fill(0, name.offset, name.offset + 16).set(encode(text), name.offset);
    out.clear();
    write(0);
    const padding = " ".repeat(Math.max(0, 6 - encode(text).length));
    assert.deepEqual(JSON.parse(out.string()), { data: `say "${padding}${text}"\n\t-7  é|0xff` });
  }
});

test("%f, %e and %g are C's", () => {
  const double = (value: number) => (view: DataView, offset: number) => view.setFloat64(offset, value, true);
  // As glibc's printf has them.
  const cases: readonly (readonly [conversion: string, value: number, text: string])[] = [
    ["%f", 0.1, "0.100000"],
    ["%f", -2.5, "-2.500000"],
    ["%.0f", 2.5, "2"],
    ["%.0f", 3.5, "4"],
    ["%.1f", 0.25, "0.2"],
    ["%.1f", 0.35, "0.3"],
    ["%#.0f", 3, "3."],
    ["%.20f", 0.1, "0.10000000000000000555"],
    ["%f", 1e22, "10000000000000000000000.000000"],
    ["%f", -0, "-0.000000"],
    ["%.3f", 1e-10, "0.000"],
    ["%e", 12345.678, "1.234568e+04"],
    ["%.0e", 9.5, "1e+01"],
    ["%.0e", 8.5, "8e+00"],
    ["%.17e", 1e-320, "9.99988867182683005e-321"],
    ["%E", 5e-324, "4.940656E-324"],
    ["%e", 0, "0.000000e+00"],
    ["%g", 0.0001, "0.0001"],
    ["%g", 0.00001, "1e-05"],
    ["%g", 100000, "100000"],
    ["%g", 1000000, "1e+06"],
    ["%g", 999999.5, "1e+06"],
    ["%#g", 1, "1.00000"],
    ["%.3g", 1234, "1.23e+03"],
    ["%.17g", 0.1, "0.10000000000000001"],
    ["%G", 1e-10, "1E-10"],
    ["%+.2f", 3, "+3.00"],
    ["% .1f", 3, " 3.0"],
    ["%08.2f", -2.71, "-0002.71"],
    ["%-8.1f", 2, "2.0     "],
    ["%8.1f", 2, "     2.0"],
    ["%'.1f", 1234567.25, "1,234,567.2"],
    ["%f", Infinity, "inf"],
    ["%F", -Infinity, "-INF"],
    ["%06f", NaN, "   nan"],
    ["%g", Infinity, "inf"],
  ];
  for (const [conversion, value, text] of cases)
    assert.equal(one(conversion, { kind: "named", of: "float64" }, double(value)), text, `${conversion} of ${value}`);
  assert.equal(
    one("%.9g", { kind: "named", of: "float32" }, (view, offset) => view.setFloat32(offset, 0.1, true)),
    "0.100000001",
  );
});
