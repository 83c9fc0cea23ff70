import assert from "node:assert/strict";
import { test } from "node:test";
import { pipedBytes } from "./piped-bytes.ts";
import { UsageError } from "./usage-error.ts";

/** Bytes 0, 1, 2 … of 256, as a pipe gives them: some at a time. */
function pipe(size: number, most: number): (room: Buffer) => number {
  let at = 0;
  return (room) => {
    const got = Math.min(room.length, most, size - at);
    for (let i = 0; i < got; i++) room[i] = at++;
    return got;
  };
}

test("what came through a pipe is read wherever one asks", () => {
  const size = (2 << 20) + 7;
  const bytes = pipedBytes(pipe(size, 65_521), "here");
  assert.equal(bytes.size, size);
  for (const [offset, length] of [
    [0, 3],
    [(1 << 20) - 2, 5],
    [(1 << 20) - 2, (1 << 20) + 6],
    [size - 1, 9],
    [size, 9],
  ]) {
    const read = bytes.read(offset, length);
    assert.deepEqual(
      [...read],
      Array.from({ length: Math.min(length, size - offset) }, (_, i) => (offset + i) & 255),
    );
  }
});

test("nothing comes through", () => {
  const bytes = pipedBytes(() => 0, "here");
  assert.deepEqual([bytes.size, bytes.read(0, 16).length], [0, 0]);
});

test("what has no end is refused", () => {
  assert.throws(
    () => pipedBytes((room) => room.length, "here", 3 << 20),
    (error: UsageError) => {
      assert.ok(error instanceof UsageError);
      assert.equal(error.message, "here has more than 1 GB, which are held in memory: keep it in a file");
      return true;
    },
  );
});
