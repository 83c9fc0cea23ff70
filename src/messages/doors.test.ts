// What strobe says is said by the tables of this room: nowhere else are their entries made.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const files = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !file.startsWith("messages/"))
  .map((file) => ({ file, text: readFileSync(`src/${file}`, "utf8") }));

/** What makes an entry: the functions of message.ts. */
const makers =
  /import \{[^}]*\b(?:says|usage|sessionSays|librarySays|reason|lacks)\b[^}]*\} from "[./]*messages\/message\.ts"/;

test("only the tables of messages make messages", () => {
  assert.deepEqual(
    files.filter(({ text }) => makers.test(text)).map(({ file }) => file),
    [],
  );
});

/** An error that is thrown with words of its own; those of InternalError are for whoever mends strobe. */
const thrown = /\bnew (?!InternalError)\w*(?:Error|Untrusted|TooLarge|Failure)\(\s*["`']/;

test("what is thrown says what a table has", () => {
  assert.deepEqual(
    // As Node words what a system call says, and what code that is made throws at itself.
    files.filter(({ text }) => thrown.test(text.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, ""))).map(({ file }) => file),
    ["linux/others-files.ts", "compiler/javascript/support.ts"],
  );
});

test("a diagnostic says what a table has", () => {
  assert.deepEqual(
    files
      .filter(({ text }) => /\bcode: "(?:syntax|name|type|arguments|placement|limit|feature|unsafe)"/.test(text))
      .map(({ file }) => file),
    // Asks only where a place is.
    ["api/compile-probes.ts"],
  );
});

test("a reason is no text that was written where it is given", () => {
  assert.deepEqual(
    files.filter(({ text }) => /\bas Reason\b/.test(text)).map(({ file }) => file),
    ["base/failure.ts", "base/kernel-features.ts"],
  );
});
