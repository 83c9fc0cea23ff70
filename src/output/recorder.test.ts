import assert from "node:assert/strict";
import { test } from "node:test";
import { headerOffset } from "../compiler/layouts/record-header.ts";
import type { ConsumerAction, EventSchema, Plan } from "../compiler/plan.ts";
import type { RecordedLayout, RecordingOrigin } from "../recordings/contents.ts";
import { Recording } from "../recordings/reader.ts";
import { RecordingWriter } from "../recordings/writer.ts";
import type { ConsumerServices } from "../session/events.ts";
import { Recorder } from "./recorder.ts";

const clock = { boot: "1000", monotonic: "900", wall: "5000" };
const origin: RecordingOrigin = {
  strobe: "0.1.0",
  host: "here",
  kernel: "6.18.0",
  machine: "x86_64",
  cpus: 2,
  command: ["strobe", "record", "t:a"],
  clock,
  childPid: 0,
};
const siteAt = headerOffset(1);
const stackAt = headerOffset(2);
const size = stackAt + 16;
const layout: RecordedLayout = {
  size,
  time: headerOffset(0),
  data: "",
  fields: [
    { kind: "integer", offset: headerOffset(0), size: 8 },
    { kind: "integer", offset: siteAt, size: 8, role: "site" },
    { kind: "stack", offset: stackAt },
    { kind: "integer", offset: stackAt + 8, size: 4 },
    { kind: "integer", offset: stackAt + 12, size: 4 },
  ],
};
const schema: EventSchema<ConsumerAction> = {
  size,
  header: ["time", "probe"],
  action: { kind: "data", name: "0" },
  fields: [
    {
      name: "kstack",
      type: { kind: "stack", user: false, limit: 127, mode: "strobe", unwinding: "fp" },
      offset: stackAt,
    },
  ],
} as unknown as EventSchema<ConsumerAction>;

/** What is recorded of events: for each its site and the number of its stack. */
async function recorded(
  blocks: readonly (readonly (readonly [site: number, stack: bigint])[])[],
  mostWaiting?: number,
): Promise<{ recording: Recording; recorder: Recorder; told: string }> {
  const parts: Uint8Array[] = [];
  let told = "";
  const writer = new RecordingWriter((bytes) => void parts.push(bytes.slice()));
  writer.begin(origin);
  writer.describe(
    [layout],
    [
      { name: "t:a", layout: 0, data: "" },
      { name: "t:b", layout: 0, data: "" },
    ],
  );
  const recorder = new Recorder({
    writer,
    clock: () => clock,
    tell: (text) => void (told += text),
    mostWaiting,
  });
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  const services = {
    plan: { probeNames: ["t:a", "t:b"], maps: [], config: { showDebugInfo: false } } as unknown as Plan,
    symbols: {
      systemCallName: () => "Unknown syscall",
      user: (address: bigint) => ({ address }),
      signalReturn: () => undefined,
      code: () => undefined,
      stack: (id: bigint) => (id === 7n ? [0x10n, 0x20n] : undefined),
    },
    bootToWall: 0n,
  } as unknown as ConsumerServices;
  const handle = recorder.handler(schema, { bytes, view, words: new Uint32Array(bytes.buffer) }, services);
  let time = 1000n;
  for (const events of blocks) {
    for (const [site, stack] of events) {
      view.setBigUint64(headerOffset(0), time++, true);
      view.setBigUint64(siteAt, BigInt(site), true);
      view.setBigInt64(stackAt, stack, true);
      handle(0);
    }
    recorder.finish();
  }
  const lost = recorder.finish();
  await writer.end({ clock, events: recorder.events, lost });
  const whole = Buffer.concat(parts);
  const file = { size: whole.length, read: (at: number, length: number) => whole.subarray(at, at + length) };
  return { recording: new Recording(file), recorder, told };
}

test("stacks that are lost are counted by probe; where there was none, nothing was lost", async () => {
  const [none, taken, noMemory] = [-14n, -17n, -12n];
  const { recording, recorder } = await recorded([
    [
      [0, 7n],
      [0, taken],
      [1, none],
      [1, noMemory],
      // Its number is known, and the map does not have it any more.
      [1, 9n],
    ],
  ]);
  const [head] = recording.heads();
  assert.equal(head.count, 5);
  const lost = [
    { cause: "stack", probe: "t:a", count: 1 },
    { cause: "stack", probe: "t:b", count: 2 },
  ];
  assert.deepEqual(head.lost, lost);
  assert.deepEqual(recording.end?.lost, lost);
  assert.deepEqual([recorder.lost, recorder.lostStacks], [0, 3]);
});

test("events that come while too much waits to be written are lost, and counted by probe", async () => {
  const event = [0, 7n] as const;
  // Nothing is written before this thread rests: the first block waits.
  const { recording, recorder, told } = await recorded([[event, event], [event, [1, 7n], [1, 7n]], [event]], 1);
  const heads = [...recording.heads()];
  assert.equal(recording.span?.events, 2);
  assert.equal(recording.span.first, 1000n);
  assert.deepEqual(
    heads.flatMap(({ lost }) => lost),
    [
      { cause: "writer", probe: "t:a", count: 1 },
      { cause: "writer", probe: "t:b", count: 2 },
      { cause: "writer", probe: "t:a", count: 1 },
    ],
  );
  assert.deepEqual([recorder.events, recorder.lost], [2, 4]);
  assert.equal(told.match(/more slowly/g)?.length, 1);
});
