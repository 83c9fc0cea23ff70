import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { ByteWriter, isPlainJson } from "./bytes.ts";
import * as write from "./write-bytes.ts";

/**
 * What a function writes behind one byte of something else, so that no place is even; and that it writes nothing beyond
 * its room.
 */
function written(most: number, run: (out: DataView, at: number) => number): string {
  const bytes = Buffer.alloc(most + 2, "#");
  const end = run(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 1);
  assert.equal(
    bytes.toString("latin1", end > most ? most + 1 : end),
    "#".repeat(bytes.length - Math.min(end, most + 1)),
  );
  return bytes.toString("latin1", 1, end);
}

const words = (value: bigint): Uint32Array => new Uint32Array(BigUint64Array.of(BigInt.asUintN(64, value)).buffer);
/** As many digits as there can be, each as likely as the others. */
const ofAnyLength = fc
  .tuple(fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }), fc.integer({ min: 0, max: 63 }))
  .map(([value, shift]) => value >> BigInt(shift));

test("numbers are what JavaScript makes of them", () => {
  fc.assert(
    fc.property(ofAnyLength, (value) => {
      const signed = BigInt.asIntN(64, value);
      const low = Number(BigInt.asUintN(32, value));
      assert.equal(
        written(20, (out, at) => write.unsigned64(out, at, words(value), 0)),
        value.toString(),
      );
      assert.equal(
        written(20, (out, at) => write.signed64(out, at, words(value), 0)),
        signed.toString(),
      );
      assert.equal(
        written(16, (out, at) => write.hex64(out, at, words(value), 0)),
        value.toString(16),
      );
      assert.equal(
        written(10, (out, at) => write.decimal(out, at, low)),
        String(low),
      );
      assert.equal(
        written(11, (out, at) => write.decimalSigned(out, at, low | 0)),
        String(low | 0),
      );
      assert.equal(
        written(8, (out, at) => write.hex32(out, at, low | 0)),
        low.toString(16),
      );
    }),
    { numRuns: 3000 },
  );
});

test("strings end at a NUL or at their capacity, wherever they lie", () => {
  const places = fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 20 }));
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20 }), places, (text, [offset, nul]) => {
      const memory = new Uint8Array(24).fill(1);
      memory.set(text, offset);
      if (nul < text.length) memory[offset + nul] = 0;
      const shown = memory.subarray(offset, offset + text.length);
      const end = shown.indexOf(0);
      assert.equal(
        written(text.length, (out, at) => write.cString(out, at, new DataView(memory.buffer), offset, text.length)),
        Buffer.from(end < 0 ? shown : shown.subarray(0, end)).toString("latin1"),
      );
    }),
    { numRuns: 3000 },
  );
});

test("what needs no escape in JSON is known at every place", () => {
  for (let byte = 0; byte < 128; byte++) {
    for (let place = 0; place < 9; place++) {
      const text = `${"a".repeat(place)}${String.fromCharCode(byte)}${"z".repeat(8 - place)}`;
      const out = new ByteWriter();
      out.text(`"${text}"`);
      assert.equal(isPlainJson(out.data, 1, 10), JSON.stringify(text) === `"${text}"`, `${byte} at ${place}`);
    }
  }
  const out = new ByteWriter();
  out.text("aaaaä");
  assert.equal(isPlainJson(out.data, 0, out.length), false);
});
