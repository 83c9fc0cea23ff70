// The events of printf: lines are made in lots, and come out one by one, in order, whole.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePrintf } from "../language/printf.ts";
import { u64, type Type } from "../language/types.ts";
import { recordMemory, schemaOf, servicesOf } from "../../test/support/output-fixtures.ts";
import { EventQueue } from "./queue.ts";
import { QueueConsumer, type TraceEvent } from "./trace.ts";

const string: Type = { kind: "string", capacity: 16 };

/** Prints texts and numbers through a queue of so many events; gives what a reader gets. */
function printing(limit: number) {
  const queue = new EventQueue<TraceEvent>(limit);
  const consumer = new QueueConsumer(queue);
  const memory = recordMemory();
  const schema = schemaOf({ kind: "printf", format: parsePrintf("%s %d\n"), to: "output" }, [string, u64]);
  const error = schemaOf({ kind: "printf", format: parsePrintf("%d"), to: "error" }, [u64]);
  const handler = consumer.handler(schema, memory, servicesOf());
  const errorHandler = consumer.handler(error, memory, servicesOf());
  const [text, number] = schema.fields;
  return {
    queue,
    consumer,
    print: (line: string, n: number): void => {
      memory.bytes.fill(0, text.offset, text.offset + 16).set(new TextEncoder().encode(line), text.offset);
      memory.view.setBigUint64(number.offset, BigInt(n), true);
      handler(0);
    },
    fail: (n: number): void => {
      memory.view.setBigUint64(error.fields[0].offset, BigInt(n), true);
      errorHandler(0);
    },
    taken: (): Promise<TraceEvent[] | undefined> => {
      consumer.flush();
      return queue.take();
    },
  };
}

test("thousands of lines come out whole and in order", async () => {
  const { print, taken } = printing(100_000);
  for (let n = 0; n < 5000; n++) print("line", n);
  assert.deepEqual(
    await taken(),
    Array.from({ length: 5000 }, (_, n) => ({ type: "printf", text: `line ${n}\n` })),
  );
});

test("so do those that are not ASCII, and bytes that are no text", async () => {
  const { print, fail, taken } = printing(100);
  print("plain", 1);
  print("größer", 2);
  fail(7);
  print("漢字", 3);
  assert.deepEqual(
    (await taken())?.map(({ type, text }: TraceEvent & { text?: string }) => [type, text]),
    [
      ["printf", "plain 1\n"],
      ["printf", "größer 2\n"],
      ["errorf", "7"],
      ["printf", "漢字 3\n"],
    ],
  );
});

test("other events keep their place among the lines", async () => {
  const { print, consumer, taken } = printing(100);
  print("a", 1);
  consumer.text(new TextEncoder().encode("between\n"));
  print("b", 2);
  assert.deepEqual(await taken(), [
    { type: "printf", text: "a 1\n" },
    { type: "output", text: "between\n" },
    { type: "printf", text: "b 2\n" },
  ]);
});

test("what the queue has no room for is dropped and counted, line by line", async () => {
  const { print, queue, taken } = printing(3);
  for (let n = 0; n < 5; n++) print("line", n);
  assert.equal(queue.dropped, 2);
  assert.equal((await taken())?.length, 3);
  print("line", 9);
  assert.deepEqual([queue.dropped, await taken()], [2, [{ type: "printf", text: "line 9\n" }]]);
});

test("several readers share what comes, and all see the end", async () => {
  const queue = new EventQueue<number>(100);
  const taken: number[] = [];
  const read = async (): Promise<void> => {
    for (let batch = await queue.take(); batch; batch = await queue.take()) taken.push(...batch);
  };
  const readers = [read(), read(), read()];
  for (let n = 0; n < 5; n++) {
    queue.push(n);
    queue.wake();
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  queue.close();
  await Promise.all(readers);
  assert.deepEqual(taken, [0, 1, 2, 3, 4]);
});
