import assert from "node:assert/strict";
import { test } from "node:test";
import { i64, type Type } from "../language/types.ts";
import { decoder } from "./decode.ts";
import { encode, encodeKey, EncodeError } from "./encode.ts";

const integer = (bits: 8 | 16 | 32 | 64, signed: boolean): Type => ({ ...i64, bits, signed });
const text = (capacity: number): Type => ({ kind: "string", capacity });

function roundTrip(type: Type, value: unknown): unknown {
  const bytes = encode(type, value);
  return decoder(type)(new DataView(bytes.buffer), bytes, 0);
}

test("what is encoded decodes to itself", () => {
  const rows: readonly (readonly [Type, unknown])[] = [
    [{ kind: "boolean" }, true],
    [integer(8, false), 255],
    [integer(8, true), -128],
    [integer(16, true), -2],
    [integer(32, false), 0xffff_ffff],
    [integer(32, true), -1],
    [integer(64, true), -5],
    [integer(64, false), 2n ** 64n - 1n],
    [text(16), "bash"],
    [text(16), ""],
    [text(16), "größe"],
    [{ kind: "buffer", capacity: 8 }, new Uint8Array([1, 2, 3])],
    [{ kind: "tuple", elements: [integer(8, false), integer(64, false), text(4)] }, [7, 9, "abc"]],
    [
      {
        kind: "record",
        fields: [
          { name: "a", type: integer(32, false) },
          { name: "b", type: text(8) },
        ],
      },
      { a: 1, b: "x" },
    ],
    [{ kind: "array", element: integer(16, false), length: 3 }, [1, 2, 3]],
  ];
  for (const [type, value] of rows) assert.deepEqual(roundTrip(type, value), value);
});

test("what does not fit is cut as the kernel cuts it", () => {
  assert.equal(roundTrip(text(4), "abcdef"), "abc");
  assert.equal(roundTrip(integer(8, false), 257), 1);
  assert.equal(roundTrip(integer(64, false), true), 1);
});

test("keys are alone, several, or none", () => {
  assert.equal(encodeKey([], []), null);
  assert.deepEqual(encodeKey([integer(32, false)], [5]), new Uint8Array([5, 0, 0, 0]));
  assert.deepEqual(encodeKey([integer(32, false), text(4)], [5, "ab"]), new Uint8Array([5, 0, 0, 0, 97, 98, 0, 0]));
});

test("values of another type are refused", () => {
  const refused = (type: Type, value: unknown, message: RegExp): void =>
    assert.throws(
      () => encode(type, value),
      (error) => error instanceof EncodeError && message.test(error.message),
    );
  refused(integer(32, false), "5", /expected an integer, got "5"/);
  refused(integer(32, false), 1.5, /expected an integer, got 1\.5/);
  refused(text(4), 5, /expected a string, got 5/);
  refused({ kind: "tuple", elements: [text(4), text(4)] }, ["a"], /expected an array of 2, got an array of 1/);
  refused({ kind: "record", fields: [{ name: "a", type: text(4) }] }, { b: 1 }, /expected a string, got undefined/);
  refused({ kind: "aggregate", aggregate: "count" } as Type, 1, /a count is counted by handlers, not set/);
  assert.throws(() => encodeKey([text(4)], []), /the key has 1 parts, not 0/);
});
