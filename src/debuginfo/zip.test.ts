// Archives as their format says; damaged ones give an error of their own and nothing else.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOf } from "./elf.ts";
import { zipEntries, zipEntryOffset, ZipError } from "./zip.ts";

/** One file `a` of three bytes, as it is, and a comment that looks like the end of an archive. */
const archive = Buffer.concat([
  Buffer.from("504b030414000000000000000000000000000300000003000000010002006100006162", "hex"),
  Buffer.from("63", "hex"),
  Buffer.from("504b010214001400000000000000000000000000030000000300000001000000000000000000000000000000000061", "hex"),
  Buffer.from("504b05060000000001000100", "hex"),
  Buffer.from("2f00000024000000", "hex"),
  Buffer.from("1600", "hex"),
  Buffer.from("504b0506", "hex"),
  Buffer.alloc(18, 1),
]);

test("a file that is stored as it is", () => {
  const bytes = bytesOf(archive);
  const entries = zipEntries(bytes);
  assert.deepEqual(entries, [{ name: "a", stored: "as it is", header: 0, size: 3 }]);
  const offset = zipEntryOffset(bytes, entries[0]);
  assert.equal(archive.toString("latin1", offset, offset + 3), "abc");
});

test("no byte that is another, and none that is missing, gives more than an error", () => {
  const read = (bytes: Buffer): void => {
    const whole = bytesOf(bytes, "x.zip");
    for (const entry of zipEntries(whole)) zipEntryOffset(whole, entry);
  };
  for (let at = 0; at < archive.length; at++) {
    const changed = [0, 1, 0x7f, 0xff].map((value) =>
      Buffer.concat([archive.subarray(0, at), Buffer.of(value), archive.subarray(at + 1)]),
    );
    for (const bytes of [archive.subarray(0, at), archive.subarray(at), ...changed]) {
      try {
        read(Buffer.from(bytes));
      } catch (error) {
        assert.ok(error instanceof ZipError, String(error));
      }
    }
  }
});
