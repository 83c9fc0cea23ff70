import assert from "node:assert/strict";
import { release } from "node:os";
import { test } from "node:test";
import { version } from "../../package.json";
import { asInternal, InternalError, isUnexpected } from "./internal-error.ts";

const report =
  `This is a fault of strobe's; please report it with the script and the lines of -d, strobe v${version}, ` +
  `Linux ${release()} ${process.arch}, Node.js ${process.version}`;

test("an internal error says whose fault it is, and what to report", () => {
  const error = new InternalError("no register for a reload", { during: "compiling `kprobe:f`" });
  assert.equal(error.message, `internal error: no register for a reload, while compiling \`kprobe:f\`. ${report}`);
  assert.equal(error.fault, "no register for a reload, while compiling `kprobe:f`");
  assert.deepEqual(Object.keys(error), ["name"]);
});

test("JavaScript's own errors are faults, and keep the place where they came up", () => {
  const cause = new TypeError("x is undefined");
  const error = asInternal(cause);
  assert.equal(error.message, `internal error: TypeError: x is undefined. ${report}`);
  assert.equal(error.stack, cause.stack);
  assert.equal(asInternal(error), error);
  assert.deepEqual([cause, new RangeError(), "text", undefined, new Error("no such process")].map(isUnexpected), [
    true,
    true,
    true,
    true,
    false,
  ]);
});
