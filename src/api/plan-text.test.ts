import assert from "node:assert/strict";
import { test } from "node:test";
import { fromText, toText } from "./plan-text.ts";

test("plain data comes back as it was", () => {
  const data = {
    number: 1.5,
    text: "ä\n\0\u2028",
    none: null,
    yes: true,
    big: -(1n << 63n),
    bytes: Uint8Array.of(0, 1, 255),
    empty: new Uint8Array(0),
    list: [1n, [undefined, 2], "n"],
    map: new Map<unknown, unknown>([
      ["a", 1n],
      [2n, new Map([["b", Uint8Array.of(7)]])],
    ]),
    nested: { deeper: { big: 1n } },
  };
  const back = fromText(toText(data)) as typeof data;
  assert.deepEqual(back, data);
  assert.equal(back.bytes.byteOffset, 0);
  assert.equal(back.bytes.constructor, Uint8Array);
});

test("properties that are undefined are left out, what is shared becomes several", () => {
  const shared = { n: 1n };
  const back = fromText(toText({ absent: undefined, a: shared, b: shared })) as { a: object; b: object };
  assert.deepEqual(back, { a: { n: 1n }, b: { n: 1n } });
  assert.notEqual(back.a, back.b);
});

test("what is no data is refused, with its place", () => {
  assert.throws(() => toText({ a: [{ f: () => 1 }] }), { name: "NotPlain", message: "data.a.0.f" });
  assert.throws(() => toText({ at: new Date() }), /^NotPlain: data\.at$/);
  assert.throws(() => toText(NaN), /^NotPlain: data$/);
  assert.throws(
    () =>
      toText({
        get later(): object {
          return this;
        },
      }),
    /^NotPlain: data$/,
  );
  const itself: { next?: object } = {};
  itself.next = itself;
  assert.throws(() => toText(itself), /^NotPlain: data\.next\..*$/);
});

test("other text is a syntax error", () => {
  assert.throws(() => fromText("{"), SyntaxError);
});
