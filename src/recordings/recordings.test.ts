import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { DamageError } from "../debuginfo/damage.ts";
import { readBlock } from "./blocks.ts";
import { ByteBuffer, ByteReader } from "./byte-buffer.ts";
import { readColumn, writeColumn } from "./columns.ts";
import type { RecordedLayout, RecordingOrigin } from "./contents.ts";
import type { RecordingBytes } from "./frames.ts";
import { fieldBytes, type EventBlock, type RowField } from "./layout.ts";
import { Recording } from "./reader.ts";
import { writeBlock } from "./write-block.ts";
import { RecordingWriter } from "./writer.ts";

const origin: RecordingOrigin = {
  strobe: "0.1.0",
  host: "here",
  kernel: "6.18.0",
  machine: "x86_64",
  cpus: 2,
  command: ["record", "t"],
  clock: { boot: "1000", monotonic: "900", wall: "5000" },
  childPid: 0,
};
const layouts: readonly RecordedLayout[] = [
  {
    size: 48,
    time: 8,
    data: "first",
    fields: [
      { kind: "integer", offset: 0, size: 1 },
      { kind: "integer", offset: 2, size: 2 },
      { kind: "integer", offset: 4, size: 4 },
      { kind: "integer", offset: 8, size: 8 },
      { kind: "text", offset: 16, size: 16 },
      { kind: "integer", offset: 32, size: 8 },
      { kind: "stack", offset: 40 },
    ],
  },
  {
    size: 16,
    time: 0,
    data: "second",
    fields: [
      { kind: "integer", offset: 0, size: 8 },
      { kind: "bytes", offset: 8, size: 8 },
    ],
  },
  {
    size: 64,
    time: 0,
    data: "third",
    fields: [
      { kind: "integer", offset: 0, size: 8 },
      { kind: "integer", offset: 8, size: 8, role: "site" },
      { kind: "integer", offset: 16, size: 8, role: "cpu" },
      { kind: "integer", offset: 24, size: 4, role: "thread" },
      { kind: "text", offset: 28, size: 16, role: "thread" },
      { kind: "integer", offset: 48, size: 8 },
      { kind: "integer", offset: 56, size: 8 },
    ],
  },
  {
    size: 56,
    time: 48,
    data: "fourth",
    fields: [
      { kind: "integer", offset: 24, size: 4, role: "thread" },
      { kind: "text", offset: 28, size: 16, role: "thread" },
      { kind: "integer", offset: 8, size: 8, role: "site" },
      { kind: "integer", offset: 16, size: 8, role: "cpu" },
      { kind: "integer", offset: 48, size: 8 },
    ],
  },
];

function bytesOf(bytes: Uint8Array): RecordingBytes {
  return { size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length) };
}

/** Events of so many kinds, as numbers say. */
function blockOf(seed: readonly number[], start: bigint, kinds = 4): EventBlock {
  const order = Uint8Array.from(seed, (n) => n % kinds);
  const stacks = [BigUint64Array.of(1n, 0xffff_ffff_8100_0000n), BigUint64Array.of()];
  let time = start;
  const rows = layouts.slice(0, kinds).map((_, layout) => {
    const count = order.filter((which) => which === layout).length;
    return { layout, count, bytes: new Uint8Array(count * layouts[layout].size) };
  });
  const at = rows.map(() => 0);
  for (const [i, n] of seed.entries()) {
    const which = n % kinds;
    time += BigInt((n % 7) * 100 - 50);
    const { bytes } = rows[which];
    const view = new DataView(bytes.buffer, at[which]);
    at[which] += layouts[which].size;
    if (which === 0) {
      view.setUint8(0, n);
      view.setUint16(2, n, true);
      view.setUint32(4, n * 2_654_435_761, true);
      view.setBigUint64(8, time, true);
      bytes.set(Buffer.from(["", "cat", "sixteen characte", "a"][i % 4]), view.byteOffset + 16);
      view.setBigUint64(32, BigInt(n) * 0x9e37_79b9_7f4a_7c15n, true);
      view.setBigInt64(40, BigInt((n >>> 3) % 3) - 1n, true);
    } else if (which === 1) {
      view.setBigUint64(0, time, true);
      view.setUint32(8, n, true);
    } else {
      view.setBigUint64(which === 2 ? 0 : 48, time, true);
      view.setBigUint64(8, BigInt(n % 3), true);
      view.setBigUint64(16, BigInt(n & 2), true);
      view.setUint32(24, n % 5, true);
      bytes.set(Buffer.from(["", "cat", "sixteen characte"][(n % 5) % 3]), view.byteOffset + 28);
      if (which === 3) continue;
      view.setBigUint64(48, BigInt(n) << 20n, true);
      // Mostly the same as the field before.
      view.setBigUint64(56, BigInt(n % 251 === 0 ? 1 : n) << 20n, true);
    }
  }
  return { count: seed.length, order, rows, stacks };
}

async function recorded(blocks: readonly EventBlock[], ended: boolean): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const writer = new RecordingWriter((bytes) => void parts.push(bytes.slice()));
  writer.begin(origin);
  writer.describe(layouts, [
    { name: "t:a", layout: 0, data: "" },
    { name: "t:b", layout: 1, data: "x" },
  ]);
  for (const [i, block] of blocks.entries())
    writer.block(block, { first: BigInt(i), last: BigInt(i + 1), sites: [0, 1], lost: [] });
  writer.symbols("names");
  if (ended) await writer.end({ clock: origin.clock, events: 0, lost: [] });
  else await writer.settled();
  return Buffer.concat(parts);
}

/** Events one by one, whichever rows lie together. */
function plain({ count, order, rows, stacks }: EventBlock): unknown {
  const next = rows.map(() => 0);
  const events = Array.from({ length: count }, (_, i) => {
    const { layout, bytes } = rows[order[i]];
    const at = next[order[i]];
    next[order[i]] += layouts[layout].size;
    return `${layout} ${Buffer.from(bytes.subarray(at, next[order[i]])).toString("hex")}`;
  });
  assert.deepEqual(
    next,
    rows.map(({ layout, count: some }) => some * layouts[layout].size),
  );
  return { events, stacks: stacks.map((stack) => [...stack]) };
}

test("columns come back as they were, whatever is in them", () => {
  const few = fc.array(fc.constantFrom(0, 1, 0xffff_ffff, 0x8000_0000, 77_777_777), { maxLength: 4000, size: "max" });
  const rising = fc
    .tuple(fc.integer({ min: 0 }), fc.array(fc.integer({ min: -300, max: 300 })))
    .map(([start, steps]) => steps.map((step, i) => (start + step + i * 50) >>> 0));
  const any = fc.array(fc.integer({ min: 0, max: 0xffff_ffff }));
  fc.assert(
    fc.property(fc.oneof(few, rising, any), (values) => {
      const out = new ByteBuffer(1);
      writeColumn(out, Uint32Array.from(values));
      const from = new ByteReader(out.bytes);
      assert.deepEqual([...readColumn(from, values.length)], values);
      assert.equal(from.left, 0);
    }),
  );
});

test("events come back as they were", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.nat(0xffff), { maxLength: 200 }), { maxLength: 3 }),
      fc.bigInt(1000n, (1n << 63n) - 1n),
      fc.boolean(),
      async (seeds, start, ended) => {
        const blocks = seeds.map((seed) => blockOf(seed, start));
        const recording = new Recording(bytesOf(await recorded(blocks, ended)));
        assert.deepEqual(
          [...recording.blocks()].map(({ block }) => plain(block)),
          blocks.map(plain),
        );
        assert.deepEqual([...recording.symbols()], ["names"]);
        assert.deepEqual(recording.origin, origin);
        assert.equal(recording.sites[1].data, "x");
        assert.equal(recording.end !== undefined, ended);
        assert.equal(recording.cut, 0);
      },
    ),
    { numRuns: 50 },
  );
});

test("only fields that are asked for are read; those that others are the same as, too", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(0xffff), { maxLength: 300 }), fc.nat((1 << 16) - 1), (seed, chosen) => {
      const whole = writeBlock(blockOf(seed, 5000n), layouts);
      const wanted = (layout: number, field: RowField): boolean =>
        field.role === "site" ||
        field.offset === layouts[layout].time ||
        (chosen & (1 << ((layout * 5 + layouts[layout].fields.indexOf(field)) % 16))) !== 0;
      const [all, some] = [readBlock(whole, layouts), readBlock(whole, layouts, wanted)];
      for (const { layout, bytes, count } of all.rows)
        for (const field of layouts[layout].fields)
          if (!wanted(layout, field))
            for (let i = 0; i < count; i++) {
              const at = i * layouts[layout].size + field.offset;
              bytes.fill(0, at, at + fieldBytes(field));
            }
      assert.deepEqual(plain(some), plain(all));
    }),
    { numRuns: 300 },
  );
});

test("of blocks that are not asked for the heads alone are read", async () => {
  // What does not compress; the second's head is longer than what is read of each at first.
  const values = (seed: number): number[] =>
    Array.from({ length: 9000 }, (_, i) => Math.imul(i + seed, 0x9e37_79b1) & 0xffff);
  const blocks = [1, 2, 3].map((seed) => blockOf(values(seed), 1000n));
  const sites = [[0], Array.from({ length: 3000 }, (_, i) => i), [1]];
  const parts: Uint8Array[] = [];
  const writer = new RecordingWriter((bytes) => void parts.push(bytes.slice()));
  writer.begin(origin);
  writer.describe(layouts, [{ name: "t:a", layout: 0, data: "" }]);
  for (const [i, block] of blocks.entries())
    writer.block(block, { first: BigInt(i), last: BigInt(i + 1), sites: sites[i], lost: [] });
  await writer.end({ clock: origin.clock, events: 0, lost: [] });
  const file = Buffer.concat(parts);
  const sizes = writer.places.filter(({ type }) => type === "EVTB").map(({ size }) => size);
  let read = 0;
  const recording = new Recording({
    size: file.length,
    read(offset, length) {
      read += length;
      return file.subarray(offset, offset + length);
    },
  });
  assert.deepEqual(
    [...recording.heads()].map((head) => head.sites),
    sites,
  );
  read = 0;
  const found = [...recording.blocks((head) => head.sites.length === 1 && head.sites[0] === 1)];
  assert.deepEqual(
    found.map(({ block }) => plain(block)),
    [plain(blocks[2])],
  );
  assert.ok(Math.min(...sizes) > 20_000, sizes.join());
  assert.ok(read < sizes[2] + 30_000, `${read} bytes of ${sizes.join()}`);
});

test("recordings of the first version of the format are read", () => {
  const file = Buffer.from(first, "base64");
  const recording = new Recording(bytesOf(file));
  assert.equal(recording.version, 1);
  const block = blockOf(
    Array.from({ length: 12 }, (_, i) => (i * 7919) & 0xffff),
    1n << 40n,
    2,
  );
  assert.deepEqual(
    [...recording.blocks()].map((one) => plain(one.block)),
    [plain(block)],
  );
  file.writeUInt32LE(4, 8);
  assert.throws(() => new Recording(bytesOf(file)), /it is of version 4, and this strobe reads versions 1 to 3/);
});

test("cut at any byte, what is whole before it is read", async () => {
  const blocks = [1, 2, 3].map((n) =>
    blockOf(
      Array.from({ length: 60 }, (_, i) => i * n * 37),
      1000n,
    ),
  );
  const whole = await recorded(blocks, true);
  const places: number[] = [];
  for (let at = whole.indexOf("EVTB"); at >= 0; at = whole.indexOf("EVTB", at + 1)) places.push(at);
  assert.equal(places.length - 3, 3, "three blocks, and the index that names them");
  const ends = places.slice(0, 3).map((at) => at + 12 + whole.readUInt32LE(at + 4));
  const first = whole.indexOf("META") + 12 + whole.readUInt32LE(whole.indexOf("META") + 4);
  for (let length = 0; length < whole.length; length += 10) {
    const read = (): Recording => new Recording(bytesOf(whole.subarray(0, length)));
    if (length < first) {
      assert.throws(read, DamageError);
      continue;
    }
    const there = ends.filter((end) => end <= length).length;
    assert.deepEqual(
      [...read().blocks()].map(({ block }) => plain(block)),
      blocks.slice(0, there).map(plain),
      `${length} bytes`,
    );
  }
});

test("damaged bytes are damage, or what was written", async () => {
  const block = blockOf(
    Array.from({ length: 300 }, (_, i) => (i * 7919) & 0xffff),
    1n << 40n,
  );
  const whole = await recorded([block], true);
  const look = (bytes: Uint8Array): void => {
    try {
      const recording = new Recording(bytesOf(bytes));
      for (const { block: each } of recording.blocks()) assert.equal(each.count, block.count);
      for (const text of recording.symbols()) assert.equal(typeof text, "string");
    } catch (error) {
      if (!(error instanceof DamageError)) throw error;
    }
  };
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      (changes) => {
        const bytes = Buffer.from(whole);
        for (const [at, value] of changes) bytes[at] = value;
        look(bytes);
      },
    ),
    { numRuns: 3000 },
  );
});

test("a damaged block behind a right checksum is damage, or some block", () => {
  const whole = writeBlock(
    blockOf(
      Array.from({ length: 100 }, (_, i) => (i * 7919) & 0xffff),
      1n << 40n,
    ),
    layouts,
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 3 }),
      (changes) => {
        const bytes = Buffer.from(whole);
        for (const [at, value] of changes) bytes[at] = value;
        try {
          readBlock(bytes, layouts);
        } catch (error) {
          if (!(error instanceof DamageError)) throw error;
        }
      },
    ),
    { numRuns: 5000 },
  );
});

/** As the first version wrote it. */
const first = `
iVNUUk9CRQoBAAAAAAAAAE1FVEGsAAAAxtDpyXsic3Ryb2JlIjoiMC4xLjAiLCJob3N0IjoiaGVyZSIsImtlcm5lbCI6IjYuMTguMCIsIm1hY2
hpbmUiOiJ4ODZfNjQiLCJjcHVzIjoyLCJjb21tYW5kIjpbInJlY29yZCIsInQiXSwiY2xvY2siOnsiYm9vdCI6IjEwMDAiLCJtb25vdG9uaWMi
OiI5MDAiLCJ3YWxsIjoiNTAwMCJ9LCJjaGlsZFBpZCI6MH1TSVRFEgIAAJfzdjJ7ImxheW91dHMiOlt7InNpemUiOjQ4LCJ0aW1lIjo4LCJkYX
RhIjoiZmlyc3QiLCJmaWVsZHMiOlt7ImtpbmQiOiJpbnRlZ2VyIiwib2Zmc2V0IjowLCJzaXplIjoxfSx7ImtpbmQiOiJpbnRlZ2VyIiwib2Zm
c2V0IjoyLCJzaXplIjoyfSx7ImtpbmQiOiJpbnRlZ2VyIiwib2Zmc2V0Ijo0LCJzaXplIjo0fSx7ImtpbmQiOiJpbnRlZ2VyIiwib2Zmc2V0Ij
o4LCJzaXplIjo4fSx7ImtpbmQiOiJ0ZXh0Iiwib2Zmc2V0IjoxNiwic2l6ZSI6MTZ9LHsia2luZCI6ImludGVnZXIiLCJvZmZzZXQiOjMyLCJz
aXplIjo4fSx7ImtpbmQiOiJzdGFjayIsIm9mZnNldCI6NDB9XX0seyJzaXplIjoxNiwidGltZSI6MCwiZGF0YSI6InNlY29uZCIsImZpZWxkcy
I6W3sia2luZCI6ImludGVnZXIiLCJvZmZzZXQiOjAsInNpemUiOjh9LHsia2luZCI6ImJ5dGVzIiwib2Zmc2V0Ijo4LCJzaXplIjo4fV19XSwi
c2l0ZXMiOlt7Im5hbWUiOiJ0OmEiLCJsYXlvdXQiOjAsImRhdGEiOiIifSx7Im5hbWUiOiJ0OmIiLCJsYXlvdXQiOjEsImRhdGEiOiJ4In1dfU
VWVFMeAQAAPCny2gEAAAAMAAAAAAAAAAAAAAABAAAAAAAAAGABAAAZAAAAeyJzaXRlcyI6WzAsMV0sImxvc3QiOltdfeNhYGBgYmBiYGBgZAAT
SPDc/////4MEk0GKTka+ZJyoyHDyZORLBiZmBkZmkCCIgGllYmAEmcHC8B8MG0CGgo1jYEMYf2/PrIowsFVMDGA2g231zu+mYBEWhro/VT/KGL
ZkyF5sY5AyDci6wpBzw2XDIiTnCRRnVpSkpuYpJGckFiUml6QiOxtqilnOoht8DLPNLuZwMGgEVi7axqDkktahB5U1TJp8ZDXDoRY3Dm8GGcuw
4msQO6DmMIEAI9jFIMzAwcDA8F4O7EuGszEQevUsCN15A0Kni0Fo1xAIDXMSEzMLKwBTWU1TDQAAAL8rLsAAAAAABQAAAG5hbWVzU1RBVE4AAA
DZfuNueyJjbG9jayI6eyJib290IjoiMTAwMCIsIm1vbm90b25pYyI6IjkwMCIsIndhbGwiOiI1MDAwIn0sImV2ZW50cyI6MCwibG9zdCI6W119
SU5EWGAAAADXqRPvW1siTUVUQSIsMjgsMTcyXSxbIlNJVEUiLDIxMiw1MzBdLFsiRVZUUyIsNzU0LDI4NiwiMCIsIjEiLDEyXSxbIlNZTVMiLD
EwNTIsMTNdLFsiU1RBVCIsMTA3Nyw3OF1dVEFJTAgAAAAWn/xkgwQAAAAAAAA=
`;
