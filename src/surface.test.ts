// The library's surface, as reviewed: what is added or goes shows up in surface.txt. STROBE_UPDATE=1 rewrites it.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import * as library from "./index.ts";

const snapshot = "src/surface.txt";

/** Names of the types that a source file exports by name, and of those it declares. */
function typesOf(path: string): string[] {
  const text = readFileSync(path, "utf8");
  const declared = [...text.matchAll(/^export (?:declare )?(?:interface|type) (\w+)/gm)].map(([, name]) => name);
  const listed = [...text.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, all, names]) =>
    names.split(",").flatMap((part) => {
      const name = part.trim();
      if (name === "") return [];
      return all !== undefined ? [name] : name.startsWith("type ") ? [name.slice(5)] : [];
    }),
  );
  return [...declared, ...listed];
}

test("the surface is the reviewed one", () => {
  const values = Object.entries(library).map(
    ([name, value]) => `${/^\s*class\b/.test(Function.prototype.toString.call(value)) ? "class" : "value"} ${name}`,
  );
  const types = [
    ...typesOf("src/index.ts"),
    ...typesOf("src/api/declarations.ts"),
    ...typesOf("src/api/builtins.ts"),
  ].map((name) => `type ${name}`);
  const text = `${[...new Set([...values, ...types])].sort().join("\n")}\n`;
  if (process.env["STROBE_UPDATE"]) writeFileSync(snapshot, text);
  assert.equal(text, readFileSync(snapshot, "utf8"));
});
