import assert from "node:assert/strict";
import { test } from "node:test";
import { clockShift } from "./clock-shift.ts";
import type { ClockReading, RecordedLayout, RecordedLoss, RecordingOrigin } from "./contents.ts";
import type { EventBlock } from "./layout.ts";
import { mergeRecordings } from "./merge.ts";
import { Recording } from "./reader.ts";
import { RecordingWriter } from "./writer.ts";

/** A row: its time, its probe's number, a stack. */
const layout: RecordedLayout = {
  size: 24,
  time: 0,
  data: "one",
  fields: [
    { kind: "integer", offset: 0, size: 8 },
    { kind: "integer", offset: 8, size: 8, role: "site" },
    { kind: "stack", offset: 16 },
  ],
};

interface Told {
  readonly host: string;
  readonly boot: string;
  readonly clock: ClockReading;
  /** Time, probe, address of the only frame or none. */
  readonly events: readonly (readonly [time: number, site: number, address: number | undefined])[];
  readonly lost?: readonly RecordedLoss[];
}

function bytesOf(bytes: Uint8Array): { size: number; read(offset: number, length: number): Uint8Array } {
  return { size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length) };
}

async function written(write: (writer: RecordingWriter) => Promise<unknown>): Promise<Recording> {
  const parts: Uint8Array[] = [];
  await write(new RecordingWriter((bytes) => void parts.push(bytes.slice())));
  return new Recording(bytesOf(Buffer.concat(parts)));
}

function made({ host, boot, clock, events, lost = [] }: Told): Promise<Recording> {
  const origin: RecordingOrigin = {
    strobe: "0.1.0",
    host,
    kernel: "6.18.0",
    machine: "x86_64",
    cpus: 2,
    command: ["strobe", "record", host],
    clock,
    childPid: 7,
    boot,
  };
  return written(async (writer) => {
    writer.begin(origin);
    writer.describe(
      [layout],
      [`t:${host}:a`, `t:${host}:b`].map((name) => ({ name, layout: 0, data: "" })),
    );
    const stacks = events.flatMap(([, , address]) =>
      address === undefined ? [] : [BigUint64Array.of(BigInt(address))],
    );
    const bytes = new Uint8Array(events.length * 24);
    const view = new DataView(bytes.buffer);
    let number = 0;
    for (const [i, [time, site, address]] of events.entries()) {
      view.setBigUint64(i * 24, BigInt(time), true);
      view.setBigUint64(i * 24 + 8, BigInt(site), true);
      view.setBigInt64(i * 24 + 16, address === undefined ? -1n : BigInt(number++), true);
    }
    const block: EventBlock = {
      count: events.length,
      order: new Uint8Array(events.length),
      rows: [{ layout: 0, count: events.length, bytes }],
      stacks,
    };
    const times = events.map(([time]) => BigInt(time));
    writer.block(block, { first: times[0], last: times.at(-1)!, sites: [0, 1], lost });
    writer.symbols(JSON.stringify({ kernel: [["4096", ["4096", host, 0, null]]] }));
    await writer.end({ clock, events: events.length, lost });
  });
}

function merged(recordings: readonly Recording[]): Promise<Recording> {
  const inputs = recordings.map((recording) => ({ recording, sites: recording.layouts.map(() => 8) }));
  return written((writer) => mergeRecordings(inputs, writer, ["strobe", "merge"]));
}

/** Time, host and probe, address. */
function plain(recording: Recording): string[] {
  return [...recording.blocks()].flatMap(({ block: { count, order, rows, stacks } }) => {
    const next = rows.map(() => 0);
    return Array.from({ length: count }, (_, i) => {
      const { bytes, layout: number } = rows[order[i]];
      const view = new DataView(bytes.buffer, bytes.byteOffset);
      const at = next[order[i]];
      next[order[i]] += 24;
      const { part } = recording.layouts[number];
      const stack = view.getInt32(at + 16, true);
      const probe = recording.sites[view.getUint32(at + 8, true)].name;
      return `${view.getBigUint64(at, true)} ${recording.origin.parts![part!].name} ${probe} ${stack < 0 ? "-" : String(stacks[stack][0])}`;
    });
  });
}

const first = (): Promise<Recording> =>
  made({
    host: "one",
    boot: "a",
    clock: { boot: "1000", monotonic: "900", wall: "500000" },
    events: [
      [1010, 0, 4096],
      [1030, 1, undefined],
      [1050, 0, 4097],
    ],
    lost: [{ cause: "ring", probe: "t:one:a", count: 3 }],
  });
/** Its clock began 7000 before the other's. */
const second = (): Promise<Recording> =>
  made({
    host: "two",
    boot: "b",
    clock: { boot: "8000", monotonic: "8000", wall: "500000" },
    events: [
      [8020, 1, 4096],
      [8040, 0, 4098],
    ],
    lost: [{ cause: "stack", probe: "t:two:b", count: 2 }],
  });

test("events of two hosts come in the order of the wall clock, each with its host, probe and stack", async () => {
  const both = await merged([await first(), await second()]);
  assert.equal(both.version, 3);
  assert.deepEqual(plain(both), [
    "1010 one t:one:a 4096",
    "1020 two t:two:b 4096",
    "1030 one t:one:b -",
    "1040 two t:two:a 4098",
    "1050 one t:one:a 4097",
  ]);
  assert.deepEqual(
    [...both.heads()].flatMap(({ lost }) => lost),
    [
      { cause: "ring", probe: "t:one:a", count: 3, host: "one" },
      { cause: "stack", probe: "t:two:b", count: 2, host: "two" },
    ],
  );
  assert.deepEqual(
    [...both.symbols()].map((text) => (JSON.parse(text) as { part: number }).part),
    [0, 1],
  );
  assert.deepEqual(
    both.origin.parts?.map(({ name, events, shift }) => [name, events, shift]),
    [
      ["one", 3, "0"],
      ["two", 2, "-7000"],
    ],
  );
  assert.equal(both.origin.childPid, 0);
});

test("what was merged is merged once more; hosts of one name are told apart, and one host stays one", async () => {
  const other = await made({
    host: "one",
    boot: "c",
    clock: { boot: "0", monotonic: "0", wall: "500025" },
    events: [[0, 1, 4096]],
  });
  const three = await merged([await merged([await first(), await second()]), other, await first()]);
  assert.deepEqual(
    three.origin.parts?.map(({ name }) => name),
    ["one", "two", "one.2", "one"],
  );
  assert.deepEqual(plain(three), [
    "1010 one t:one:a 4096",
    "1010 one t:one:a 4096",
    "1020 two t:two:b 4096",
    "1025 one.2 t:one:b 4096",
    "1030 one t:one:b -",
    "1030 one t:one:b -",
    "1040 two t:two:a 4098",
    "1050 one t:one:a 4097",
    "1050 one t:one:a 4097",
  ]);
});

test("clocks are set against each other between their readings, and a clock that was set counts as it was at the end", () => {
  const reading = (boot: bigint, wall: bigint): ClockReading => ({
    boot: String(boot),
    monotonic: "0",
    wall: String(wall),
  });
  const second = 1_000_000_000n;
  const one = { origin: { boot: "a", clock: reading(0n, 100n * second) }, clocks: [], end: undefined };
  const two = (...walls: readonly bigint[]): Parameters<typeof clockShift>[0] => {
    const readings = walls.map((wall, i) => reading(BigInt(i) * 10n * second, wall));
    return { origin: { boot: "b", clock: readings[0] }, clocks: readings.slice(1), end: undefined };
  };
  // Slewed: 1 ms later after 10 s, and as much again.
  const slewed = clockShift(two(200n * second, 210n * second + 1_000_000n, 220n * second + 2_000_000n), one);
  assert.equal(slewed.set, undefined);
  assert.deepEqual(
    [0n, 5n, 10n, 15n, 25n].map((time) => slewed.moved(time * second) - 100n * second - time * second),
    [0n, 500_000n, 1_000_000n, 1_500_000n, 2_000_000n],
  );
  const set = clockShift(two(200n * second, 210n * second, 320n * second), one);
  assert.equal(set.set, 100e9);
  assert.equal(set.moved(second), 201n * second);
  // Of one start of a machine: its own clock.
  const same = clockShift({ ...two(0n), origin: { ...two(0n).origin, boot: "a" } }, one);
  assert.equal(same.moved(5n), 5n);
});
