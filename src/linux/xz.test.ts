import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { decompressXz } from "./xz.ts";

const xz = (input: Buffer): Buffer => spawnSync("xz", ["-c"], { input, maxBuffer: 1 << 28 }).stdout;
const works = spawnSync("xz", ["--version"]).status === 0 && decompressXz(xz(Buffer.from("x"))) !== undefined;

test("xz data is what it was, however well it shrank", { skip: !works && "there is no xz or no liblzma" }, () => {
  for (const original of [
    Buffer.from("a"),
    Buffer.alloc(1 << 20, "abc"),
    Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * i * 31) >> 3)),
  ]) {
    assert.deepEqual(decompressXz(xz(original)), original);
  }
});

test("what is damaged or no xz data gives nothing", () => {
  assert.equal(decompressXz(Buffer.alloc(0)), undefined);
  assert.equal(decompressXz(Buffer.from("this is text")), undefined);
});

test("data that ends early gives nothing", { skip: !works && "there is no xz or no liblzma" }, () => {
  const packed = xz(Buffer.from("a text of some length"));
  assert.equal(decompressXz(packed.subarray(0, packed.length - 9)), undefined);
});
