// Recordings in small: each has a frame of every type, a record of every kind, a section of every sort.
import { deflateRawSync, deflateSync } from "node:zlib";
import { writeBlock } from "../../src/recordings/write-block.ts";
import { ByteBuffer } from "../../src/recordings/byte-buffer.ts";
import { codecs } from "../../src/recordings/compression.ts";
import type { RecordedLayout } from "../../src/recordings/contents.ts";
import { fileHeader, frameHeader, headerBytes, type FrameType } from "../../src/recordings/frames.ts";
import type { EventBlock } from "../../src/recordings/layout.ts";
import { writeTraceDat } from "../../src/recordings/trace-dat-writer.ts";
import { traceMagic } from "../../src/recordings/tracing-data.ts";
import type { Seed } from "./target.ts";

/** Bytes that something writes. */
function made(write: (out: ByteBuffer) => void): Buffer {
  const out = new ByteBuffer();
  write(out);
  return Buffer.from(out.bytes);
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

// ── strobe's own ──

const view = {
  provider: "tracepoint",
  programType: "tracepoint",
  space: "kernel",
  args: [
    { name: "fd", type: { kind: "integer", bits: 32, signed: true }, offset: 8, at: "value" },
    {
      name: "name",
      type: { kind: "array", element: { kind: "integer", bits: 8, character: true }, length: 16 },
      offset: 16,
      at: "bytes",
    },
  ],
  row: {
    words: { time: { offset: 0, size: 8 }, cpu: { offset: 12, size: 4 } },
    comm: 16,
    kernelStack: 32,
    texts: [{ pointer: 40, space: "user", offset: 16, size: 16 }],
    absent: ["curtask"],
  },
};
const layout: RecordedLayout = {
  size: 48,
  time: 0,
  data: JSON.stringify(view),
  fields: [
    { kind: "integer", offset: 0, size: 8 },
    { kind: "integer", offset: 8, size: 4, role: "thread" },
    { kind: "integer", offset: 12, size: 4, role: "cpu" },
    { kind: "text", offset: 16, size: 16 },
    { kind: "stack", offset: 32 },
    { kind: "integer", offset: 40, size: 8, role: "site" },
  ],
};
const rows = 60;

function block(): EventBlock {
  const bytes = Buffer.alloc(rows * layout.size);
  for (let i = 0; i < rows; i++) {
    const at = i * layout.size;
    bytes.writeBigUInt64LE(BigInt(1000 + i * 70), at);
    bytes.writeUInt32LE(i % 5, at + 8);
    bytes.writeUInt32LE(i % 2, at + 12);
    bytes.write(["cat", "a longer name", ""][i % 3], at + 16);
    bytes.writeBigInt64LE(BigInt(i % 3) - 1n, at + 32);
  }
  return {
    count: rows,
    order: new Uint8Array(rows),
    rows: [{ layout: 0, count: rows, bytes }],
    stacks: [BigUint64Array.of(0xffff_ffff_8100_0000n, 0xffff_ffff_8100_0040n), BigUint64Array.of(0x1140n)],
  };
}

export function recordingSeeds(): Seed[] {
  return [codecs.none, codecs.deflate].map((codec) => {
    const pack = (bytes: Uint8Array): Uint8Array => (codec === codecs.none ? bytes : deflateRawSync(bytes));
    const frames: [FrameType, Buffer][] = [
      [
        "META",
        json({
          strobe: "0.1.0",
          host: "here",
          kernel: "6.18.0",
          machine: "x86_64",
          cpus: 2,
          command: ["record"],
          clock: { boot: "1000", monotonic: "900", wall: "5000" },
          childPid: 7,
        }),
      ],
      ["SITE", json({ layouts: [layout], sites: [{ name: "tracepoint:t:a", layout: 0, data: "" }] })],
      [
        "EVTB",
        made((out) => {
          const raw = writeBlock(block(), [layout]);
          const about = json({ sites: [0], lost: [{ cause: "ring", probe: "tracepoint:t:a", count: 3 }] });
          out.u32(codec);
          out.u32(rows);
          out.u64(1000n);
          out.u64(1000n + BigInt(rows * 70));
          out.u32(raw.length);
          out.u32(about.length);
          out.put(about);
          out.put(pack(raw));
        }),
      ],
      [
        "SYMS",
        made((out) => {
          const names = json({
            kernel: [["18446744071578845184", ["18446744071578845184", "start", 0, null]]],
            user: [["user", 7, "4416", ["4416", "main", 3, "/bin/a"]]],
            users: [[0, "root"]],
            cgroups: [["1", "/"]],
            mappings: [[7, "4096", "8192", "0", "/bin/a", null]],
            lines: [["/bin/a", null, "320", [[null, "a.c", 3]]]],
          });
          out.u32(codec);
          out.u32(names.length);
          out.put(pack(names));
        }),
      ],
      ["TIME", json({ boot: "2000", monotonic: "1900", wall: "6000" })],
      ["STAT", json({ clock: { boot: "3000", monotonic: "2900", wall: "7000" }, events: rows, lost: [], costs: [] })],
    ];
    const ranges: [number, number][] = [];
    const bytes = made((out) => {
      out.put(fileHeader());
      for (const [type, contents] of frames) {
        out.put(frameHeader(type, contents));
        ranges.push([out.length, out.length + contents.length]);
        out.put(contents);
      }
    });
    return { bytes, ranges };
  });
}

/** The same with each frame's checksum as its bytes now want it: who damages a file on purpose writes these as well. */
export function withChecksums(input: Buffer): Buffer {
  const bytes = Buffer.from(input);
  const head = frameHeader("META", Buffer.alloc(0)).length;
  for (let at = headerBytes; at + head <= bytes.length;) {
    const size = bytes.readUInt32LE(at + 4);
    const contents = bytes.subarray(at + head, at + head + size);
    if (contents.length < size) break;
    const type = bytes.toString("latin1", at, at + 4);
    bytes.set(frameHeader(type as FrameType, contents).subarray(8), at + 8);
    at += head + size;
  }
  return bytes;
}

// ── trace.dat, and what perf.data has of it ──

const format = `name: sample
ID: 372
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;

print fmt: "%s", REC->comm
`;
const stackFormat = `name: kernel_stack
ID: 4
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;
\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;
`;

function sample(id: number, tid: number): Buffer {
  const record = Buffer.alloc(40);
  record.writeUInt16LE(id, 0);
  record.writeInt32LE(tid, 4);
  record.write("cat", 8);
  record.writeUInt32LE((4 << 16) | 28, 24);
  record.write("abc", 28);
  return record;
}

function stack(tid: number): Buffer {
  const record = Buffer.alloc(16 + 24);
  record.writeUInt16LE(4, 0);
  record.writeInt32LE(tid, 4);
  record.writeUInt32LE(2, 8);
  record.writeBigUInt64LE(0xffff_ffff_8100_0000n, 16);
  record.writeBigUInt64LE(0xffff_ffff_8100_0040n, 24);
  return record;
}

const sized = (out: ByteBuffer, text: string): void => {
  out.u64(BigInt(text.length));
  out.put(Buffer.from(text));
};
const word = (out: ByteBuffer, text: string): void => out.put(Buffer.from(`${text}\0`));

function systems(out: ByteBuffer): void {
  out.u32(1);
  word(out, "t");
  out.u32(1);
  sized(out, format);
}

export function traceDatSeeds(): Seed[] {
  return [version6(), version7(false), version7(true)];
}

function version6(): Seed {
  const bytes = Buffer.alloc(1 << 16);
  let end = 0;
  writeTraceDat(
    {
      cpus: 2,
      formats: [
        { category: "ftrace", text: stackFormat },
        { category: "t", text: format },
      ],
      comms: new Map([[7, "cat"]]),
      host: "here",
      kernel: "6.18.0",
      machine: "x86_64",
      clock: "boot",
    },
    function* () {
      for (let i = 0; i < 40; i++) yield { cpu: i % 2, time: 1000n + BigInt(i) * 100_000_000n, record: sample(372, 7) };
    },
    (piece, at) => {
      bytes.set(piece, at);
      end = Math.max(end, at + piece.length);
    },
  );
  return {
    bytes: bytes.subarray(0, end),
    ranges: [
      [0, 1200],
      [end - 8192, end - 8192 + 400],
      [end - 4096, end - 3700],
    ],
  };
}

/** Sections behind one another, options last; a page of one CPU. */
function version7(packed: boolean): Seed {
  const chunk = (contents: Buffer): Buffer => {
    if (!packed) return contents;
    const bytes = deflateSync(contents);
    return made((out) => {
      out.u32(bytes.length);
      out.u32(contents.length);
      out.put(bytes);
    });
  };
  const page = Buffer.alloc(4096);
  page.writeBigUInt64LE(5000n, 0);
  let used = 16;
  for (const record of [sample(372, 7), stack(7), sample(372, 8)]) {
    page.writeUInt32LE((record.length / 4) | (50 << 5), used);
    page.set(record, used + 4);
    used += 4 + record.length;
  }
  page.writeBigUInt64LE(BigInt(used - 16), 8);
  const ranges: [number, number][] = [];
  const bytes = made((out) => {
    const section = (id: number, contents: Buffer): number => {
      const at = out.length;
      out.u16(id);
      out.u16(packed ? 1 : 0);
      out.u32(0);
      const inside = chunk(contents);
      out.u64(BigInt(inside.length));
      out.put(inside);
      ranges.push([at, out.length]);
      return at;
    };
    out.put(traceMagic);
    word(out, "7");
    out.put(Buffer.from([0, 8]));
    out.u32(4096);
    word(out, packed ? "zlib" : "none");
    word(out, "1");
    const first = out.length;
    out.u64(0n);
    const places: [number, number][] = [
      [
        17,
        section(
          17,
          made((some) => {
            some.u32(1);
            sized(some, stackFormat);
          }),
        ),
      ],
      [18, section(18, made(systems))],
      [
        19,
        section(
          19,
          made((some) => {
            const text = "ffffffff81000000 T start\nffffffff81000040 t next\t[m]\n";
            some.u32(text.length);
            some.put(Buffer.from(text));
          }),
        ),
      ],
      [
        21,
        section(
          21,
          made((some) => sized(some, "7 cat\n8 dog\n")),
        ),
      ],
    ];
    // Its CPU's pages: a number of chunks in front where they are compressed.
    const data = packed
      ? made((some) => {
          some.u32(1);
          some.put(chunk(page));
        })
      : page;
    const buffer = out.length;
    out.u16(3);
    out.u16(packed ? 1 : 0);
    out.u32(0);
    out.u64(BigInt(data.length));
    const dataAt = out.length;
    out.put(data);
    ranges.push([buffer, dataAt + 200]);
    const options = section(
      15,
      made((some) => {
        const option = (id: number, contents: Buffer): void => {
          some.u16(id);
          some.u32(contents.length);
          some.put(contents);
        };
        for (const [id, at] of places)
          option(
            id,
            made((one) => one.u64(BigInt(at))),
          );
        option(5, Buffer.from("Linux here 6.18.0 x86_64"));
        option(8, Buffer.from([2, 0, 0, 0]));
        option(
          3,
          made((one) => {
            one.u64(BigInt(buffer));
            word(one, "");
            word(one, "boot");
            one.u32(4096);
            one.u32(1);
            one.u32(0);
            one.u64(BigInt(dataAt));
            one.u64(BigInt(data.length));
          }),
        );
        option(0, Buffer.alloc(8));
      }),
    );
    out.bytes.writeBigUInt64LE(BigInt(options), first);
  });
  return { bytes, ranges };
}

// ── perf.data ──

const record = (type: number, body: Buffer): Buffer =>
  made((out) => {
    out.u32(type);
    out.u16(0);
    out.u16(8 + body.length);
    out.put(body);
  });

/** IP, TID, TIME, CALLCHAIN, ID, CPU, RAW, IDENTIFIER */
const sampleType = 1 | 2 | 4 | 32 | 64 | 128 | 1024 | (1 << 16);

/** struct perf_event_attr of 128 bytes (include/uapi/linux/perf_event.h). */
function attribute(type: number, config: number, hertz: number): Buffer {
  const bytes = Buffer.alloc(128);
  bytes.writeUInt32LE(type, 0);
  bytes.writeUInt32LE(bytes.length, 4);
  bytes.writeBigUInt64LE(BigInt(config), 8);
  bytes.writeBigUInt64LE(BigInt(hertz), 16);
  bytes.writeBigUInt64LE(BigInt(sampleType), 24);
  bytes.writeBigUInt64LE(4n, 32);
  bytes.writeBigUInt64LE((hertz > 1 ? 1n << 10n : 0n) | (1n << 18n), 40);
  return bytes;
}

const attributes = [attribute(2, 372, 1), attribute(1, 0, 99)];
const tracing = made((out) => {
  out.put(traceMagic);
  word(out, "0.6");
  out.put(Buffer.from([0, 8]));
  out.u32(4096);
  for (const name of ["header_page", "header_event"]) {
    word(out, name);
    sized(out, "none\n");
  }
  out.u32(0);
  systems(out);
});

function records(): Buffer {
  /** sample_id of records that are no samples: TID, TIME, ID, CPU, IDENTIFIER. */
  const of = (time: number): Buffer =>
    made((out) => {
      out.u32(7);
      out.u32(7);
      out.u64(BigInt(time));
      out.u64(1n);
      out.u64(0n);
      out.u64(1n);
    });
  const sampled = (id: number, time: number, raw: Buffer): Buffer =>
    made((out) => {
      out.u64(BigInt(id));
      out.u64(0xffff_ffff_8100_0000n);
      out.u32(7);
      out.u32(7);
      out.u64(BigInt(time));
      out.u64(BigInt(id));
      out.u64(1n);
      const chain = [(1n << 64n) - 128n, 0xffff_ffff_8100_0000n, (1n << 64n) - 512n, 0x1140n];
      out.u64(BigInt(chain.length));
      for (const address of chain) out.u64(address);
      out.u32(raw.length);
      out.put(raw);
      out.u32(0);
    });
  return Buffer.concat([
    record(3, Buffer.concat([Buffer.from([7, 0, 0, 0, 7, 0, 0, 0]), Buffer.from("cat\0\0\0\0\0"), of(900)])),
    record(7, Buffer.concat([Buffer.from(new Uint32Array([8, 7, 8, 7, 0, 0]).buffer), of(950)])),
    record(9, sampled(1, 1000, sample(372, 7))),
    record(9, sampled(2, 1100, Buffer.alloc(0))),
    record(2, Buffer.concat([Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]), of(1150)])),
    record(68, Buffer.alloc(0)),
    record(9, sampled(1, 1200, sample(372, 8))),
    record(13, Buffer.concat([Buffer.from([2, 0, 0, 0, 0, 0, 0, 0]), of(1250)])),
  ]);
}

export function perfDataSeeds(): Seed[] {
  return [ofFile(), ofPipe()];
}

function ofFile(): Seed {
  const all = records();
  const ids = 104;
  const attrs = ids + 16;
  const data = attrs + attributes.length * 144;
  const behind = data + all.length;
  const text = (words: string): Buffer =>
    made((out) => {
      out.u32(words.length + 1);
      word(out, words);
    });
  const features: [number, Buffer][] = [
    [1, tracing],
    [3, text("here")],
    [4, text("6.18.0")],
    [6, text("x86_64")],
    [7, Buffer.from([2, 0, 0, 0, 2, 0, 0, 0])],
    [
      11,
      made((out) => {
        out.u32(2);
        out.put(text("perf"));
        out.put(text("record"));
      }),
    ],
  ];
  const bytes = made((out) => {
    out.put(Buffer.from("PERFILE2"));
    for (const [offset, size] of [
      [attrs, attributes.length * 144],
      [data, all.length],
      [0, 0],
    ] as const) {
      if (out.length === 8) for (const n of [104, 144]) out.u64(BigInt(n));
      out.u64(BigInt(offset));
      out.u64(BigInt(size));
    }
    let bits = 0n;
    for (const [bit] of features) bits |= 1n << BigInt(bit);
    out.u64(bits);
    for (let i = 0; i < 3; i++) out.u64(0n);
    for (const id of [1n, 2n]) out.u64(id);
    for (const [i, one] of attributes.entries()) {
      out.put(one);
      out.u64(BigInt(ids + i * 8));
      out.u64(8n);
    }
    out.put(all);
    let at = behind + features.length * 16;
    for (const [, contents] of features) {
      out.u64(BigInt(at));
      out.u64(BigInt(contents.length));
      at += contents.length;
    }
    for (const [, contents] of features) out.put(contents);
  });
  return {
    bytes,
    ranges: [
      [0, data],
      [data, behind],
      [behind, bytes.length],
    ],
  };
}

function ofPipe(): Seed {
  const head = made((out) => {
    out.put(Buffer.from("PERFILE2"));
    out.u64(16n);
  });
  const described = attributes.map((one, i) =>
    record(
      64,
      made((out) => {
        out.put(one);
        out.u64(BigInt(i + 1));
      }),
    ),
  );
  const padded = Buffer.concat([tracing, Buffer.alloc((8 - (tracing.length % 8)) % 8)]);
  const bytes = Buffer.concat([
    head,
    ...described,
    record(
      66,
      made((out) => out.u32(tracing.length)),
    ),
    padded,
    record(80, Buffer.concat([Buffer.from([3, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0]), Buffer.from("here\0\0\0\0")])),
    records(),
  ]);
  return {
    bytes,
    ranges: [
      [0, 400],
      [bytes.length - records().length, bytes.length],
    ],
  };
}
