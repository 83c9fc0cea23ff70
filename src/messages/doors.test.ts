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

test("a reason is no text that was written where it is given", () => {
  assert.deepEqual(
    files.filter(({ text }) => /\bas Reason\b/.test(text)).map(({ file }) => file),
    ["base/failure.ts", "base/kernel-features.ts"],
  );
});
