import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePerfRecord } from "./perf-records.ts";
import { PerfRing } from "./perf-ring.ts";

/** A record of fields: numbers are u32, bigints u64, text is padded to 8 bytes; the time comes last. */
function record(
  type: number,
  misc: number,
  fields: readonly (number | bigint | string | Uint8Array)[],
  time = 77n,
): Uint8Array {
  const parts = [...fields, time].map((field) => {
    if (typeof field === "string")
      return Buffer.from(field.padEnd(Math.ceil((field.length + 1) / 8) * 8, "\0"), "latin1");
    if (field instanceof Uint8Array) return Buffer.from(field);
    const bytes = Buffer.alloc(typeof field === "bigint" ? 8 : 4);
    if (typeof field === "bigint") bytes.writeBigUInt64LE(field);
    else bytes.writeUInt32LE(field);
    return bytes;
  });
  const header = Buffer.alloc(8);
  header.writeUInt32LE(type, 0);
  header.writeUInt16LE(misc, 4);
  const whole = Buffer.concat([header, ...parts]);
  whole.writeUInt16LE(whole.length, 6);
  return whole;
}

const code = 5; // PROT_READ | PROT_EXEC

test("a mapping of code, its file by device and inode or by build id", () => {
  const place = [42, 43, 0x7f0000001000n, 0x3000n, 0x2000n];
  const mapping = { kind: "mmap", time: 77n, pid: 42, start: 0x7f0000001000n, end: 0x7f0000004000n, offset: 0x2000n };
  assert.deepEqual(parsePerfRecord(record(10, 2, [...place, 8, 0x1f, 1234n, 1n, code, 2, "/usr/bin/x"])), {
    ...mapping,
    file: { device: "08:1f", inode: 1234n },
    path: "/usr/bin/x",
  });
  const id = Uint8Array.from({ length: 24 }, (_, i) => (i === 0 ? 20 : i < 4 ? 0 : i));
  assert.deepEqual(parsePerfRecord(record(10, 2 | (1 << 14), [...place, id, code, 2, "/lib/eightchr"])), {
    ...mapping,
    file: { buildId: "0405060708090a0b0c0d0e0f1011121314151617" },
    path: "/lib/eightchr",
  });
  const short = Uint8Array.from({ length: 24 }, (_, i) => (i === 0 ? 8 : 1));
  assert.deepEqual(parsePerfRecord(record(10, 1 << 14, [...place, short, code, 2, "//anon"])), {
    ...mapping,
    file: { buildId: "0101010101010101" },
    path: "",
  });
  assert.equal(parsePerfRecord(record(10, 2, [...place, 8, 1, 1234n, 1n, 1, 2, "/data"])), undefined);
});

test("exec, fork, exit and loss; threads and new names are of no interest", () => {
  assert.deepEqual(parsePerfRecord(record(3, 1 << 13, [42, 42, "name"])), { kind: "exec", time: 77n, pid: 42 });
  assert.equal(parsePerfRecord(record(3, 0, [42, 42, "name"])), undefined);
  assert.deepEqual(parsePerfRecord(record(7, 0, [43, 42, 43, 42, 5n])), {
    kind: "fork",
    time: 77n,
    pid: 43,
    parent: 42,
  });
  assert.equal(parsePerfRecord(record(7, 0, [42, 42, 44, 42, 5n])), undefined);
  assert.deepEqual(parsePerfRecord(record(4, 0, [43, 42, 43, 43, 5n])), { kind: "exit", time: 77n, pid: 43 });
  assert.deepEqual(parsePerfRecord(record(2, 0, [9n, 3n])), { kind: "lost", time: 77n, count: 3 });
  assert.equal(parsePerfRecord(record(14, 0, [0n])), undefined);
});

test("what is too short is no record", () => {
  for (const [type, fields] of [
    [10, [1, 1, 2n, 3n, 4n, 5n]],
    [7, [1, 1, 1, 1]],
    [2, [1n]],
  ] as const) {
    assert.equal(parsePerfRecord(record(type, 0, fields)), undefined);
  }
  for (let length = 0; length < 24; length++)
    assert.equal(parsePerfRecord(record(3, 1 << 13, [42, 42, "name"]).subarray(0, length)), undefined);
});

/** A ring of one page of control and 64 bytes of data, that a kernel writes to. */
function ring() {
  const page = 4096;
  const memory = new ArrayBuffer(page + 64);
  const positions = new BigUint64Array(memory, 1024, 2);
  const data = new Uint8Array(memory, page);
  return {
    reader: new PerfRing(memory, page),
    tail: () => positions[1],
    write: (bytes: Uint8Array) => {
      bytes.forEach((byte, i) => {
        data[(Number(positions[0]) + i) % 64] = byte;
      });
      positions[0] += BigInt(bytes.length);
    },
  };
}

test("records are read in order, also over the end of the ring, and their space is returned", () => {
  const { reader, tail, write } = ring();
  const read = (): string[] => {
    const seen: string[] = [];
    reader.drain((bytes) => seen.push(Buffer.from(bytes).toString("hex")));
    return seen;
  };
  const a = record(3, 0, [1, 1]);
  const b = record(4, 0, [2, 2, 2n]);
  assert.equal(reader.pending, false);
  for (let round = 1; round <= 9; round++) {
    write(a);
    write(b);
    assert.equal(reader.pending, true);
    assert.deepEqual(
      read(),
      [a, b].map((bytes) => Buffer.from(bytes).toString("hex")),
    );
    assert.equal(tail(), BigInt(round * (a.length + b.length)));
  }
  assert.deepEqual(read(), []);
});

test("a damaged ring is skipped over", () => {
  const { reader, tail, write } = ring();
  write(new Uint8Array(24));
  reader.drain(() => assert.fail("there is no record"));
  assert.equal(tail(), 24n);
  const long = record(3, 0, [1, 1]);
  new DataView(long.buffer, long.byteOffset).setUint16(6, 4000, true);
  write(long);
  reader.drain(() => assert.fail("there is no record"));
  assert.equal(tail(), 48n);
});
