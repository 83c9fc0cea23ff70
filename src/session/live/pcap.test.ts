import assert from "node:assert/strict";
import { test } from "node:test";
import { fileHead, packetRecord } from "./pcap.ts";

/** Words of 4 bytes. */
const hex = (bytes: Uint8Array): string =>
  Buffer.from(bytes)
    .toString("hex")
    .replaceAll(/.{8}(?!$)/g, "$& ");

test("a capture file begins with its head: nanoseconds, version 2.4, raw IP", () => {
  assert.equal(hex(fileHead(65_400)), "4d3cb2a1 02000400 00000000 00000000 78ff0000 65000000");
});

test("a packet is its time, how much there is of it and how much there was, and its bytes", () => {
  const time = 1_700_000_000_000_000_123n;
  assert.equal(hex(packetRecord(time, Uint8Array.of(0x45, 0, 1), 40)), "00f15365 7b000000 03000000 28000000 450001");
  // What was there is never less than what is.
  assert.equal(hex(packetRecord(5n, Uint8Array.of(1, 2), 0)), "00000000 05000000 02000000 02000000 0102");
});
